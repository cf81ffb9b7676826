/* Multigrid for one number per cell on sparse blocks: conjugate gradients preconditioned by a V-cycle.
 *
 * The system is, for every active cell,
 *   sum over faces of c (x - x_n) + (anchor + mass) x = b
 * with a coefficient c >= 0 per face between two cells. `anchor` comes from neighbours of given value,
 * as c of that face; `mass` is a term without differences, as a heat capacity. A cell in whose row all
 * of them are 0 is not active: its x is 0, whatever its b.
 *
 * Blocks have 4 cells per axis; the last axis varies fastest. Coarse cells are 2^d fine ones that share
 * a value, coarse coefficients half the sum of the fine (masses: the sum), and coarse levels are blocks
 * again. Smoothing is red-black Gauss-Seidel. Vectors of the solver are double, those of the V-cycle
 * real. Cells of a colour depend on the other colour alone, and sums are taken per block and then over
 * blocks in order, so no bit depends on the thread count.
 *
 * A connected part without anchor and mass is afloat: it has a solution only if its b sum to 0, and any
 * constant may be added to that. The solver takes the means of such parts off b, and off x. */
#ifndef FIRN_MULTIGRID_H
#define FIRN_MULTIGRID_H

#include "base/memory.h"
#include "data/blocks.h"
#include "solve/krylov.h"

enum { FIRN_LEVELS = 24 };

/* All arrays have a block after the last that stays 0 and stands for those that are missing. */
typedef struct firn_level {
    int32_t count; /* blocks */
    int32_t (
        *link)[6];   /* the blocks before and after along each axis; `count` where there is none */
    int32_t *parent; /* the block of the next level... */
    uint8_t *part;   /* ... and which part of it: bit dim - 1 - a is the half along axis a */
    real *face[3];   /* coefficient to the next cell along an axis */
    real *anchor, *mass;
    real *diagonal, *inverse; /* 0: not active */
    real *x, *b;
} firn_level;

/* A part of a block whose cells are connected within the block. */
typedef struct firn_patch {
    uint64_t cells;
    int32_t root; /* the first patch of those connected with it */
    bool floating;
} firn_patch;

typedef struct firn_multigrid {
    int32_t dim, cells; /* cells per block */
    int32_t levels;
    firn_level level[FIRN_LEVELS]; /* from the finest */
    const firn_workers *workers;
    double *r, *p, *q, *partial;
    int32_t *patch_first; /* per block of the finest level, and one more */
    firn_patch *patch;
    double *patch_sum, *patch_size; /* by root */
    bool floats;                    /* whether some part is afloat */
    firn_pool pool, patch_pool;
} firn_multigrid;

/* Room for a system on `count` blocks, in Morton order of their coordinates, with the links of a level.
 * The caller then fills face, anchor and mass of the finest level, which are 0, and calls setup. */
firn_status firn_multigrid_reserve(firn_multigrid *m, int32_t dim, int32_t count,
                                   const int32_t (*coord)[3], const int32_t (*link)[6],
                                   const firn_workers *workers, const firn_allocator *allocator,
                                   firn_error *error);

/* Makes the coarse levels, and finds the parts that are afloat. */
firn_status firn_multigrid_setup(firn_multigrid *m, const firn_allocator *allocator,
                                 firn_error *error);

/* Solves for x, from 0, until |r| <= tolerance |b| or `most` iterations are done. The solution's
 * residual is |r| / |b|. b leaves without the means of floating parts; where only the rounding of those
 * is left of it, x = 0 is the solution. */
firn_solution firn_multigrid_solve(firn_multigrid *m, double *b, double *x, double tolerance,
                                   int32_t most);

/* The same by conjugate gradients with the diagonal as preconditioner: what to compare with. They run in
 * real, and start again from the residual in double until that is small enough. */
firn_solution firn_multigrid_solve_jacobi(firn_multigrid *m, double *b, double *x, double tolerance,
                                          int32_t most);

/* |b - A x| / |b| over active cells. */
double firn_multigrid_residual(firn_multigrid *m, const double *b, const double *x);

/* x = M^-1 b on the finest level: one V-cycle. */
void firn_multigrid_cycle(firn_multigrid *m);

/* q = A p; returns p . q. */
double firn_multigrid_apply(firn_multigrid *m, const double *p, double *q);

void firn_multigrid_free(firn_multigrid *m, const firn_allocator *allocator);

#endif
