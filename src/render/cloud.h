/* Particles made ready for rendering: y up, in voxels, sorted by block, layer and cell.
 *
 * Voxels lie at whole multiples of their size in the world, so that a body at rest is cut the same way
 * in every frame. A block is 8 voxels wide, a cell 2. */
#ifndef FIRN_RENDER_CLOUD_H
#define FIRN_RENDER_CLOUD_H

#include "render/render.h"
#include "render/vec.h"

enum { BLOCK = 8, CELLS = 4, LAYER_BITS = 10, LAYERS_MOST = 1 << LAYER_BITS };

/* Particles that make one body: of one material and, where the look says so, of one object. */
typedef struct firn_cloud_layer {
    const firn_look *look;
    int32_t object;
    vec3 color;
    float passes; /* of smoothing */
    float slope;  /* density changes by about so much over a voxel, at most */
    /* Per voxel, where the layer is full: */
    vec3 absorb; /* what clear material takes away on the way through */
    float scatter;
} firn_cloud_layer;

typedef struct firn_cloud {
    double voxel;     /* m */
    double origin[3]; /* m, of voxel 0, y up */
    float spacing;    /* voxels between particles */
    int32_t blocks_per_side;
    int64_t count;
    uint64_t *key;  /* block, layer, cell: see cloud_key */
    vec3 *position; /* voxels */
    float *size;    /* voxels: edge of the cube of a particle's volume */
    uint32_t *hash; /* of the id */
    vec3 *color;    /* NULL: the layer's */
    vec3 *heat; /* part that is liquid, temperature (K), 0; NULL: not known, or not to be shown */
    vec3 *velocity; /* voxels/s; NULL: at rest */
    firn_cloud_layer *layer;
    int32_t layer_count;
} firn_cloud;

/* Base-4 digits of the coordinates, x lowest: blocks of a tree node of 4x4x4 are neighbours. */
uint64_t firn_cloud_block_key(int32_t x, int32_t y, int32_t z);

static inline uint64_t cloud_key_block(uint64_t key) { return key >> (LAYER_BITS + 6); }
static inline int32_t cloud_key_layer(uint64_t key)
{
    return (int32_t)(key >> 6 & (LAYERS_MOST - 1));
}

/* `height` (m) is the picture's at the target: looks are relative to it. */
firn_status firn_cloud_create(const firn_render_input *input, const firn_render_options *options,
                              double height, firn_cloud *out, firn_error *error);
void firn_cloud_free(firn_cloud *cloud);

/* How far apart particles are that do not say, m; 0 where there are too few. It is the distance to the fourth
 * nearest, which is that of neighbours in a lattice, on its faces and along its edges too, and 0.96 of it
 * where particles are at random. In thin streams that is too far: at most 1.3 times the distance to the
 * nearest, which is 0.7 of the spacing in bodies that have moved. Of some particles the middle one. */
double firn_cloud_guess_spacing(const firn_points *points);

/* Sorts n records of keys with their payload numbers by key, keeping the order of equals. `spare` holds
 * as much as both. */
void firn_cloud_sort(uint64_t *key, uint32_t *payload, int64_t n, void *spare);

#endif
