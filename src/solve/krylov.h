/* Krylov solvers for symmetric systems A x = b on the block grid, matrix-free.
 *
 * Vectors are grid channels: `block_reals` numbers per block, a multiple of four, blocks in key
 * order. Sums are taken per block and then, in double, over blocks in order, so no result depends on
 * the thread count.
 *
 * The preconditioner M^-1 also carries the constraints: where it leaves out a direction, x keeps the
 * value it came with there, and the residual ends up as what it takes to hold it. */
#ifndef FIRN_KRYLOV_H
#define FIRN_KRYLOV_H

#include <stdbool.h>
#include <stdint.h>

#include "base/parallel.h"
#include "base/real.h"

typedef struct firn_system {
    const firn_workers *workers;
    int64_t blocks;
    int32_t block_reals;
    /* out = A in; returns in . out. */
    double (*apply)(void *context, const real *in, real *out);
    /* z = M^-1 r on one block, positive semi-definite. Called from worker threads. */
    void (*precondition)(void *context, int64_t block, const real *r, real *z);
    /* NULL, or what reaches farther: the preconditioner of conjugate gradients is then
     * share M^-1 + B, with z = B r, positive semi-definite. `room` is a vector. */
    void (*correct)(void *context, const real *r, real *z);
    real share, *room;
    void *context;
    double *partial; /* room for one per block */
} firn_system;

typedef struct firn_solution {
    int32_t iterations;
    double residual; /* sqrt(r . M^-1 r) */
    bool converged;
} firn_solution;

/* a . b of a block. Four sums: one alone would wait for its own last addition. */
static inline double firn_dot(const real *a, const real *b, int32_t n)
{
    real sum[4] = {0};
    for (int32_t i = 0; i < n; i += 4)
        for (int l = 0; l < 4; l++) sum[l] += a[i + l] * b[i + l];
    return ((double)sum[0] + (double)sum[1]) + ((double)sum[2] + (double)sum[3]);
}

/* Conjugate gradients (Hestenes & Stiefel 1952), for positive definite A. x comes in as the guess
 * and r as its residual b - A x; both leave as they are when sqrt(r . M^-1 r) <= goal, or after
 * `most` iterations, or where A turns out not to be positive. work: two vectors. The norm is that of
 * M^-1 alone, whatever else preconditions. */
firn_solution firn_solve_cg(const firn_system *system, real *x, real *r, real *const work[2],
                            double goal, int32_t most);

/* Conjugate residuals (Stiefel 1955), for A that need not be positive. work: four vectors. */
firn_solution firn_solve_cr(const firn_system *system, real *x, real *r, real *const work[4],
                            double goal, int32_t most);

#endif
