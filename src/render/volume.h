/* The density of every layer on a sparse grid of bricks, under a tree that knows where nothing is.
 *
 * A block is a cube of 8 voxels that holds something: bricks, one for every layer with material in or
 * near it, and spheres, which are particles too lonely to make a surface. Voxels without a brick have
 * density 0; inside a body it is about 1, and the surface is at ISO. */
#ifndef FIRN_RENDER_VOLUME_H
#define FIRN_RENDER_VOLUME_H

#include "render/cloud.h"

static const float ISO = 0.42f;
static const float FAINTEST =
    0.084f; /* a fifth of that: what is thinner is not there for light either */

enum { EDGE = BLOCK + 1, TREE_DEPTH = 8, NEIGHBOURS = 27, MIDDLE = 13 };

/* 4x4x4 children; those present follow each other in the next level, from `first`. */
typedef struct firn_tree_node {
    uint64_t mask;
    uint64_t solid; /* level 0: blocks in which a ray can meet anything */
    uint32_t first;
    uint8_t rank[64]; /* how many of them are before each: counting bits is slow without hardware */
} firn_tree_node;

typedef struct firn_volume_tree {
    firn_tree_node *level[TREE_DEPTH]; /* level 0 has blocks as children */
    int32_t levels;
    int32_t leaf_count;      /* nodes of level 0 */
    int32_t low[3], high[3]; /* blocks: first, and one past the last */
} firn_volume_tree;

typedef struct firn_volume_block {
    int32_t at[3];              /* in blocks */
    int32_t brick, brick_count; /* sorted by layer */
    int32_t sphere, sphere_count;
    float most;  /* density in any of its bricks */
    int32_t lit; /* place among the blocks with light, or -1 */
} firn_volume_block;

typedef struct firn_brick {
    int32_t block, layer;
    int32_t neighbour[NEIGHBOURS]; /* of the same layer, x fastest; -1: none */
    int64_t first, count;          /* its own particles */
    float least, most;             /* density */
} firn_brick;

typedef struct firn_volume {
    const firn_cloud *cloud;
    firn_volume_tree tree;
    firn_volume_block *block;
    firn_brick *brick;
    int32_t block_count, brick_count;
    float *density;    /* EDGE^3 a brick: its voxels and the first of the next */
    uint32_t *nearest; /* BLOCK^3 a brick: particle next to the voxel, UINT32_MAX: none in reach */
    /* Spheres by block, each in all blocks that it touches. */
    float *sphere_x, *sphere_y, *sphere_z, *sphere_radius;
    uint32_t *sphere_particle;
    int64_t sphere_count;
} firn_volume;

firn_status firn_volume_create(const firn_cloud *cloud, firn_render_mode mode, int32_t threads,
                               firn_volume *out, firn_error *error);
void firn_volume_free(firn_volume *f);

static inline uint32_t firn_tree_child(const firn_tree_node *node, int child)
{
    return node->first + node->rank[child];
}

/* The node over the 4x4x4 blocks that these coordinates, which lie within the tree, are in; or NULL and
 * the level at which nothing is: an empty cube of 4^level blocks. */
static inline const firn_tree_node *firn_tree_leaf(const firn_volume_tree *tree, int32_t x,
                                                   int32_t y, int32_t z, int *empty)
{
    const firn_tree_node *node = tree->level[tree->levels - 1];
    for (int l = tree->levels - 1; l > 0; l--) {
        const int child = (x >> 2 * l & 3) | (y >> 2 * l & 3) << 2 | (z >> 2 * l & 3) << 4;
        if (!(node->mask >> child & 1)) {
            *empty = l;
            return NULL;
        }
        node = &tree->level[l - 1][firn_tree_child(node, child)];
    }
    return node;
}

/* The block in a leaf, or -1. */
static inline int32_t firn_leaf_block(const firn_tree_node *leaf, int32_t x, int32_t y, int32_t z)
{
    const int child = (x & 3) | (y & 3) << 2 | (z & 3) << 4;
    return leaf->mask >> child & 1 ? (int32_t)firn_tree_child(leaf, child) : -1;
}

/* A block anywhere, or -1. */
static inline int32_t firn_volume_block_at(const firn_volume *volume, int32_t x, int32_t y,
                                           int32_t z)
{
    const firn_volume_tree *tree = &volume->tree;
    int empty;
    if (x < tree->low[0] || y < tree->low[1] || z < tree->low[2] || x >= tree->high[0] ||
        y >= tree->high[1] || z >= tree->high[2]) {
        return -1;
    }
    const firn_tree_node *leaf = firn_tree_leaf(tree, x, y, z, &empty);
    return leaf ? firn_leaf_block(leaf, x, y, z) : -1;
}

/* Density in a brick at a point given from its corner, 0 to 8. */
static inline float firn_brick_sample(const float *density, float x, float y, float z)
{
    const int i = x < BLOCK - 1 ? (int)x : BLOCK - 1, j = y < BLOCK - 1 ? (int)y : BLOCK - 1,
              k = z < BLOCK - 1 ? (int)z : BLOCK - 1;
    const float u = x - (float)i, v = y - (float)j, w = z - (float)k;
    const float *q = density + (k * EDGE + j) * EDGE + i;
    const float a = q[0] + u * (q[1] - q[0]);
    const float b = q[EDGE] + u * (q[EDGE + 1] - q[EDGE]);
    const float *r = q + EDGE * EDGE;
    const float c = r[0] + u * (r[1] - r[0]);
    const float d = r[EDGE] + u * (r[EDGE + 1] - r[EDGE]);
    const float e = a + v * (b - a), f = c + v * (d - c);
    return e + w * (f - e);
}

/* Density of a layer anywhere. */
float firn_volume_density(const firn_volume *volume, vec3 point, int32_t layer);

/* The brick of a layer in a block, or -1. */
static inline int32_t firn_block_brick(const firn_volume *volume, const firn_volume_block *block,
                                       int32_t layer)
{
    for (int32_t b = block->brick; b < block->brick + block->brick_count; b++) {
        if (volume->brick[b].layer == layer) return b;
    }
    return -1;
}

/* One voxel, which may lie up to a block outside of the brick. */
static inline float firn_brick_voxel(const firn_volume *volume, const firn_brick *brick, int x,
                                     int y, int z)
{
    const int side = ((x >> 3) + 1) + 3 * ((y >> 3) + 1) + 9 * ((z >> 3) + 1);
    const int32_t n = brick->neighbour[side];
    if (n < 0) return 0;
    return volume->density[(size_t)n * EDGE * EDGE * EDGE +
                           (size_t)(((z & 7) * EDGE + (y & 7)) * EDGE + (x & 7))];
}

#endif
