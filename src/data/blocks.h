/* The sparse grid's directory: which blocks exist, in Morton order, and which particles are where.
 *
 * A block is 4 nodes (and cells) per axis, a superblock 2 blocks per axis. A particle's cell is its
 * lowest stencil node, so a particle of block b reaches nodes of b and of its upper neighbours
 * only. Blocks hold particles, nodes, or both; the directory lists the union, sorted by key, so
 * that the blocks of a superblock are neighbours in memory and every pass has one fixed order.
 * Nothing has a fixed extent but the key: 21 bits of block number per axis, 2^22 cells either way.
 *
 * Layers. Bodies that can separate have velocities of their own where they touch, and are then in
 * different layers of the grid (see sim/layers.c): blocks of different layers are different blocks,
 * wherever they are. The layer is in the key's upper bits, so that the blocks of a layer are
 * neighbours in memory and passes treat all layers alike; in 3D with layers, 19 bits are left per
 * axis. Blocks at the same place are linked (see peer).
 *
 * Bins. A pass moves particles by less than a cell, so those of a block end in one of the 6^DIM
 * cells that are its own or border it. The pass leaves them sorted by that cell (a "shifted" cell:
 * own cell + 1 per axis) and does not hand them over: the next pass's block collects from its
 * neighbours' bins. */
#ifndef FIRN_BLOCKS_H
#define FIRN_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/memory.h"
#include "base/parallel.h"

enum {
    FIRN_BLOCK = 4,         /* cells per axis of a block */
    FIRN_SHIFTED = 6,       /* shifted cells per axis */
    FIRN_MAX_CELLS = 64,    /* cells of a block in 3D */
    FIRN_MAX_SHIFTED = 216, /* shifted cells in 3D */
    FIRN_MAX_NEIGHBOURS = 27,
    FIRN_AXIS_BITS = 21,       /* of a block number in the key */
    FIRN_LAYER_AXIS_BITS = 19, /* the same in 3D where there are layers */
    FIRN_MAX_LAYERS = 128,
    FIRN_ARENA = 12,  /* nodes per axis of a superblock's private arena: cells -1..8, plus 2 */
    FIRN_STENCIL = 4, /* nodes per axis that a particle reaches, at most */
};

/* Neighbours are looked up in 32 bits; where sizes have 32 bits, too, no array's size may pass them. */
#if SIZE_MAX > UINT32_MAX
#define FIRN_MOST_BLOCKS (INT32_MAX / 4)
#else
#define FIRN_MOST_BLOCKS (1 << 20)
#endif

/* The particles one pass processed in one block: order[start .. start + count). */
typedef struct firn_bin {
    uint32_t start, count;
    uint32_t cell[FIRN_MAX_SHIFTED + 1]; /* offsets from start, by shifted cell */
} firn_bin;

typedef struct firn_directory {
    int32_t dim;
    int32_t axis_bits;   /* 0 becomes FIRN_AXIS_BITS */
    int32_t stencil;     /* nodes per axis that a particle reaches; 0 becomes FIRN_STENCIL */
    int32_t count;       /* blocks */
    int32_t super_count; /* superblocks that hold particles */
    uint32_t largest;    /* most particles in a block */
    /* Per block, in key order. */
    uint64_t *key;
    int32_t (*coord)[3];  /* block coordinates */
    uint32_t *start;      /* where its particles go in the order list */
    uint32_t *population; /* how many it holds */
    int32_t (
        *source)[FIRN_MAX_NEIGHBOURS]; /* its neighbours in the directory the bins are in, or -1 */
    firn_bin *bin;                     /* written by a pass over this directory */
    uint32_t (*leaving)[FIRN_MAX_NEIGHBOURS]; /* how many of the bin are now in each neighbour
                                                 (the middle one: stayed) */
    uint8_t *reach; /* of the bin: bit dim - 1 - a where some that are still within the block along
                       axis a reach nodes of the next block */
    uint8_t *near_collider; /* set by the grid update */
    int32_t *peer; /* the next block of another layer at the same place, around a ring; -1: none */
    /* Rings of such blocks, by their first; none where there is one layer. */
    int32_t *meeting;
    int32_t meeting_count;
    /* Superblocks, in key order. */
    int32_t *super_first; /* super_count + 1: block range */
    int32_t *super_order; /* the same superblocks, the fuller ones first: threads end together */
    uint64_t *super_key;
    /* Key to block and to superblock: open addressing, -1 is free. */
    int32_t *hash, *super_hash;
    uint32_t hash_mask;
    firn_pool pool, bin_pool;
} firn_directory;

uint64_t firn_block_key(const firn_directory *d, int32_t layer, const int32_t coord[3]);
/* That of the same place in another layer. */
uint64_t firn_key_in_layer(const firn_directory *d, uint64_t key, int32_t layer);

/* The layer of a block. */
int32_t firn_directory_layer(const firn_directory *d, int32_t block);

/* Cells from the origin, per axis, within which particles can be. */
static inline int32_t firn_directory_reach(const firn_directory *d) { return 2 << d->axis_bits; }

/* The keys of the 2^dim blocks of a layer at near[a] or far[a] along each axis a: far where bit
 * dim - 1 - a of the index is set. */
void firn_corner_keys(const firn_directory *d, int32_t layer, const int32_t near[3],
                      const int32_t far[3], uint64_t *key);

/* The block of that key, or -1. */
int32_t firn_directory_find(const firn_directory *d, uint64_t key);
int32_t firn_directory_find_super(const firn_directory *d, uint64_t super_key);

/* The blocks of its layer around one, itself in the middle, -1 where there is none: the offset along
 * axis 0 changes slowest. Returns how many, 3^dim. */
int firn_directory_neighbours(const firn_directory *d, int32_t block,
                              int32_t out[FIRN_MAX_NEIGHBOURS]);

/* Makes `d` the directory of the particles that the bins of `from` describe: their blocks, and the
 * blocks of every node they reach, with room for at least `room` blocks. d != from. Failure leaves
 * `from` alone and `d` empty. */
firn_status firn_directory_build(firn_directory *d, const firn_directory *from, int32_t room,
                                 const firn_workers *workers, const firn_allocator *allocator,
                                 firn_pool *scratch, firn_error *error);

/* The most bytes of scratch that building takes from a directory of so many blocks with particles. */
size_t firn_directory_scratch(int32_t dim, int32_t blocks);

/* Room for `count` blocks; empties the directory. */
firn_status firn_directory_reserve(firn_directory *d, int32_t count,
                                   const firn_allocator *allocator, firn_error *error);

/* Makes `d` a directory of exactly the given block keys (sorted, unique), with empty bins. */
firn_status firn_directory_init(firn_directory *d, int32_t dim, const uint64_t *key, int32_t count,
                                const firn_allocator *allocator, firn_error *error);

/* Counts a block's particles per neighbour, and notes their reach, from the cell offsets of its bin. */
void firn_directory_count_leaving(firn_directory *d, int32_t block);

/* The block that a shifted cell of a block's bin belongs to. */
void firn_bin_cell_block(const firn_directory *d, int32_t block, int cell, int32_t coord[3]);

/* Sorts keys; `scratch` holds as many. */
void firn_sort_keys(uint64_t *key, uint64_t *scratch, int32_t count);

void firn_directory_free(firn_directory *d, const firn_allocator *allocator);

static inline int32_t firn_pow(int32_t base, int32_t dim)
{
    return dim == 2 ? base * base : base * base * base;
}

#endif
