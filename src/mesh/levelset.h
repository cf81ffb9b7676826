/* Level sets: the signed distance to a mesh on a sparse grid, for colliders, which ask millions of times
 * a step.
 *
 * Blocks of 8 cells per axis cover the mesh's box and a margin. Every block knows distance and direction
 * of its centre. Those that come within `band` of the surface also keep distances at their nodes, found by
 * exact queries of the mesh; between nodes distances are trilinear. A block has the nodes on its upper
 * sides too, so one block answers. Further inside, distances are of first order from the block's centre, so
 * that what is deep inside is pushed out the right way. Further outside they are lower bounds.
 *
 * A sheet keeps unsigned distances and the directions away from it: directions tell which nodes of a cell
 * are on the same side, so that the distance falls to 0 within a cell that the sheet passes through.
 *
 * A level set that follows also knows, at every node, the nearest point as triangle and weights, and how
 * far the mesh's motion carries that point (shift). */
#ifndef FIRN_LEVELSET_H
#define FIRN_LEVELSET_H

#include <stdbool.h>

#include <firn/mesh.h>

#include "base/memory.h"
#include "base/parallel.h"

typedef struct firn_levelset_block {
    float distance, normal[3]; /* m, at the centre */
    int32_t nodes;             /* which of the blocks with nodes it is, or -1 */
} firn_levelset_block;

typedef struct firn_levelset {
    double voxel, band;             /* m */
    double half;                    /* m, half of a sheet's thickness; 0: a solid */
    double low[3];                  /* m, the first node */
    int32_t size[3];                /* blocks per axis */
    double box_low[3], box_high[3]; /* m, around all that is solid */
    int32_t count;                  /* blocks with nodes */
    firn_levelset_block *block;
    int32_t *place;   /* of each block with nodes: its index in `block` */
    float *distance;  /* per node, m; of a sheet from its middle */
    float (*away)[3]; /* of a sheet: unit vectors */
    int32_t *triangle;
    float (*weight)[2]; /* of the triangle's first two corners */
    float (*shift)[3];  /* m */
    firn_pool blocks, nodes;
} firn_levelset;

/* What a level set is made of. */
typedef struct firn_levelset_def {
    const firn_mesh *mesh;
    double voxel, band; /* m, above 0 */
    bool follows;
    const firn_workers *workers;
    const firn_allocator *allocator;
    const char *name; /* begins messages */
} firn_levelset_def;

/* The same bytes at any thread count. On failure nothing is left to free. */
FIRN_API firn_status firn_levelset_create(const firn_levelset_def *def, firn_levelset *out,
                                          firn_error *error);
FIRN_API void firn_levelset_free(firn_levelset *set, const firn_allocator *allocator);

/* Sets the shifts of one that follows by those of the mesh's vertices: `scale` times count x 3, m. */
void firn_levelset_follow(firn_levelset *set, const firn_mesh *mesh, const double *shift,
                          double scale, const firn_workers *workers);

/* Distance at a point of its frame, m, and outward unit normal. Returns whether the point is in the band;
 * where it is, *shift (may be NULL) receives that of the nearest point, and 0 elsewhere. */
FIRN_API bool firn_levelset_ask(const firn_levelset *set, const double point[3], double *distance,
                                double normal[3], double shift[3]);

#endif
