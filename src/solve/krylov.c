/* Preconditioned conjugate gradients and conjugate residuals (Saad 2003, "Iterative methods
 * for sparse linear systems", chapters 6 and 9).
 *
 * Each iteration is one product and a few loops over blocks; a loop updates vectors and measures them
 * at once. */
#include "solve/krylov.h"

#include <math.h>

#include "base/parallel.h"

enum { GRAIN = 16, MOST_REALS = 256 };

/* One loop over blocks: which vectors, and the numbers it needs. */
typedef struct pass {
    const firn_system *system;
    real *x, *r, *p, *q, *z, *w;
    double alpha, beta;
} pass;

static void run(pass *job, firn_task *task)
{
    firn_workers_run(job->system->workers, job->system->blocks, GRAIN, task, job);
}

/* Runs a task that leaves a number per block, and sums them in order. */
static double run_sum(pass *job, firn_task *task)
{
    const firn_system *s = job->system;
    double sum = 0;
    run(job, task);
    for (int64_t b = 0; b < s->blocks; b++) sum += s->partial[b];
    return sum;
}

/* M^-1 of a block of `in`; returns in . out. */
static double precondition(const firn_system *s, int64_t block, const real *in, real *out)
{
    s->precondition(s->context, block, in, out);
    return firn_dot(in, out, s->block_reals);
}

/* p = M^-1 r + beta p; r . M^-1 r */
static void turn(void *context, int64_t block, int32_t thread)
{
    (void)thread;
    const pass *job = context;
    const firn_system *s = job->system;
    const int64_t at = block * s->block_reals;
    const real beta = (real)job->beta;
    real *p = job->p + at, z[MOST_REALS];
    s->partial[block] = precondition(s, block, job->r + at, z);
    if (beta == 0) {
        for (int i = 0; i < s->block_reals; i++) p[i] = z[i];
    } else {
        for (int i = 0; i < s->block_reals; i++) p[i] = z[i] + beta * p[i];
    }
}

/* x += alpha p, r -= alpha q; r . M^-1 r */
static void advance(void *context, int64_t block, int32_t thread)
{
    (void)thread;
    const pass *job = context;
    const firn_system *s = job->system;
    const int64_t at = block * s->block_reals;
    const real alpha = (real)job->alpha;
    real *x = job->x + at, *r = job->r + at, z[MOST_REALS];
    const real *p = job->p + at, *q = job->q + at;
    for (int i = 0; i < s->block_reals; i++) {
        x[i] += alpha * p[i];
        r[i] -= alpha * q[i];
    }
    s->partial[block] = precondition(s, block, r, z);
}

/* z = share M^-1 r + B r, which z holds; r . z */
static void add_share(void *context, int64_t block, int32_t thread)
{
    (void)thread;
    const pass *job = context;
    const firn_system *s = job->system;
    const int64_t at = block * s->block_reals;
    real *z = job->z + at, near[MOST_REALS];
    s->precondition(s->context, block, job->r + at, near);
    for (int i = 0; i < s->block_reals; i++) z[i] += s->share * near[i];
    s->partial[block] = firn_dot(job->r + at, z, s->block_reals);
}

/* p = z + beta p */
static void turn_corrected(void *context, int64_t block, int32_t thread)
{
    (void)thread;
    const pass *job = context;
    const int64_t from = block * job->system->block_reals, to = from + job->system->block_reals;
    const real beta = (real)job->beta;
    for (int64_t i = from; i < to; i++) job->p[i] = job->z[i] + (beta == 0 ? 0 : beta * job->p[i]);
}

/* The next direction; returns r . z, which was rz before. r . M^-1 r is `size`. */
static double choose(pass *job, double rz, double size)
{
    const firn_system *s = job->system;
    if (!s->correct) {
        run(job, turn);
        return size;
    }
    s->correct(s->context, job->r, job->z);
    const double next = run_sum(job, add_share);
    job->beta = rz > 0 ? next / rz : 0;
    run(job, turn_corrected);
    return next;
}

/* r . M^-1 r */
static void measure(void *context, int64_t block, int32_t thread)
{
    (void)thread;
    const pass *job = context;
    const firn_system *s = job->system;
    real z[MOST_REALS];
    s->partial[block] = precondition(s, block, job->r + block * s->block_reals, z);
}

firn_solution firn_solve_cg(const firn_system *system, real *x, real *r, real *const work[2],
                            double goal, int32_t most)
{
    pass job = {.system = system, .x = x, .r = r, .p = work[0], .q = work[1], .z = system->room};
    double size = run_sum(&job, measure), rz = 0;
    firn_solution s = {0};
    while (!(s.converged = size <= goal * goal) && s.iterations < most && isfinite(size)) {
        rz = choose(&job, rz, size);
        const double curvature = system->apply(system->context, job.p, job.q);
        if (!(curvature > 0)) break;
        job.alpha = rz / curvature;
        const double next = run_sum(&job, advance);
        s.iterations++;
        job.beta = next / size;
        size = next;
    }
    s.residual = sqrt(size);
    return s;
}

/* q . M^-1 q */
static void measure_image(void *context, int64_t block, int32_t thread)
{
    (void)thread;
    const pass *job = context;
    const firn_system *s = job->system;
    real z[MOST_REALS];
    s->partial[block] = precondition(s, block, job->q + block * s->block_reals, z);
}

/* p = z + beta p, q = w + beta q */
static void turn_both(void *context, int64_t block, int32_t thread)
{
    (void)thread;
    const pass *job = context;
    const int64_t from = block * job->system->block_reals, to = from + job->system->block_reals;
    const real beta = (real)job->beta;
    for (int64_t i = from; i < to; i++) {
        job->p[i] = job->z[i] + (beta == 0 ? 0 : beta * job->p[i]);
        job->q[i] = job->w[i] + (beta == 0 ? 0 : beta * job->q[i]);
    }
}

firn_solution firn_solve_cr(const firn_system *system, real *x, real *r, real *const work[4],
                            double goal, int32_t most)
{
    pass job = {
        .system = system, .x = x, .r = r, .p = work[0], .q = work[1], .z = work[2], .w = work[3]};
    pass fresh = {.system = system, .r = r, .p = work[2]}; /* z = M^-1 r */
    double rz = run_sum(&fresh, turn), rho = 0;
    firn_solution s = {0};
    while (!(s.converged = rz <= goal * goal) && s.iterations < most) {
        const double rho_next = system->apply(system->context, job.z, job.w);
        job.beta = s.iterations ? rho_next / rho : 0;
        rho = rho_next;
        run(&job, turn_both);
        const double size = run_sum(&job, measure_image);
        if (!(size > 0) || rho == 0) break;
        job.alpha = rho / size;
        run(&job, advance);
        s.iterations++;
        rz = run_sum(&fresh, turn);
        if (!isfinite(rz)) break;
    }
    s.residual = sqrt(rz);
    return s;
}
