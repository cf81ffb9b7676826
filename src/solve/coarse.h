/* Coarse grids for an implicit elastic step: a correction that reaches far, for conjugate gradients
 * whose own preconditioner, the mass, reaches one node.
 *
 * The system is (M + c K) v = b on the nodes of sparse blocks, with K the stiffness of particles. Nodes
 * of level k are 2^k cells apart, in blocks of 4 per axis again, and velocities between them are
 * multilinear. Their masses are the restricted masses; their stiffness is that of multilinear elements
 * with the Lame coefficients, times volume, of the particles within. Nodes that walls hold, and those
 * that friction drags, keep a diagonal that says so. The correction is one V-cycle with a sweep of
 * Gauss-Seidel before and after, node by node, in 2^dim colours: what a colour reads belongs to the
 * others, so no bit depends on the thread count. */
#ifndef FIRN_COARSE_H
#define FIRN_COARSE_H

#include "base/memory.h"
#include "base/parallel.h"
#include "base/real.h"
#include "data/blocks.h"

enum {
    FIRN_COARSE_LEVELS = 12,
    FIRN_COARSE_AROUND = 27, /* nodes, or blocks, around one in 3D, itself in the middle */
    FIRN_COARSE_NODE = 4,    /* reals per node of a vector: three and a filler */
};

/* All arrays have a block after the last that stays 0 and stands for those that are missing. Level 0
 * is the finest, of the caller's nodes; it has no matrix. */
typedef struct firn_coarse_level {
    int32_t count;                         /* blocks */
    int32_t (*place)[4];                   /* block coordinates, and the body */
    int32_t (*around)[FIRN_COARSE_AROUND]; /* blocks of the level */
    int32_t (*finer)[FIRN_COARSE_AROUND];  /* around twice its coordinates, of the level before */
    int32_t (*coarser)[8]; /* from half its coordinates upwards, of the level after */
    real *lame;         /* two per node: of the element above it, lambda and mu times volume, J */
    real *mass, *shear; /* vectors: mass and the diagonal of what holds; its xy, xz, yz */
    real *stencil;      /* per node and node around it three columns of FIRN_COARSE_NODE */
    real *inverse;      /* per node three columns: of the stencil's middle; 0 where no mass is */
    real *x, *b, *r;
} firn_coarse_level;

typedef struct firn_coarse {
    int32_t dim, nodes; /* per block */
    int32_t levels;     /* with the finest */
    firn_coarse_level level[FIRN_COARSE_LEVELS];
    const firn_workers *workers;
    /* Where a node's neighbours are, as the block around x nodes + the node in it, and the finer nodes
     * around it. */
    uint16_t next[FIRN_MAX_CELLS][FIRN_COARSE_AROUND], below[FIRN_MAX_CELLS][FIRN_COARSE_AROUND];
    firn_pool pool, table_pool;
} firn_coarse;

/* Grids over the blocks of a directory, as many as it takes for a system whose largest eigenvalue over
 * the mass is `most`. Arrays of the finest level are 0, for the caller to fill: lame, by a particle's
 * lowest node for particles with splines three nodes wide, mass and shear. */
firn_status firn_coarse_reserve(firn_coarse *m, const firn_directory *d, double most,
                                const firn_workers *workers, const firn_allocator *allocator,
                                firn_error *error);

/* Makes the coarse levels' matrices. cell_size in m, `factor` is c, s2. */
void firn_coarse_setup(firn_coarse *m, double cell_size, double factor);

/* From the right-hand side in the finest level's b, the correction in its x. */
void firn_coarse_cycle(firn_coarse *m);

void firn_coarse_free(firn_coarse *m, const firn_allocator *allocator);

#endif
