/* Implicit shear: viscosity, and elastic stress over the step, on the staggered grid.
 *
 * Velocities after shear minimise (Batty & Bridson 2008)
 *   sum m (u - u*)^2 / 2 + dt / h^2 (sum over cells eta f (du_a)^2 + sum over edges eta f (du_a + du_b)^2 / 2)
 * with f the part of a cell, or of the cell-sized volume around an edge, that is full, and du differences
 * between neighbouring faces. An edge (a, b) is where faces across the axes a and b meet. eta is a liquid's
 * viscosity, mu dt of what is elastic, and in between of what yields (doc/liquids.md).
 *
 * Walls: faces within them keep the wall's velocity. At one that slips no edge has a weight; at one that
 * holds, an edge counts by the distance d of its open faces from the wall, in cells: its volume is d and its
 * rate 1/d as large.
 *
 * Solved by conjugate gradients with the diagonal. Each stage of a product depends on its neighbours' last
 * stage alone, so nothing depends on the thread count. */
#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "sim/project.h"

enum { GRAIN = 4, EDGES = 3, VECTORS = 4 };

#define TOLERANCE 1e-5   /* of the momentum */
#define CHEAPER 5        /* times solver_iterations, which count multigrid cycles */
#define MASS_LEAST 1e-5  /* of a cell: faces that no particle reaches follow the others */
#define NEAREST 0.1      /* cells: no closer to the wall */
#define ALIGNED 0.999999 /* component of a wall's normal across a face */
#define PASSES 10        /* at most, of finding what friction holds... */
#define HELD 0.02        /* ...to this part of its impulses */

/* A block's weights, by cell: of the cell, of the edge at its lowest corner, and of faces. */
typedef struct firn_shear_block {
    real cell[3][FIRN_CELLS];     /* for the stretch along each axis */
    real edge[EDGES][FIRN_CELLS]; /* by pair_of */
    real mass[3][FIRN_CELLS];     /* over that of a cell of reference density */
    real inverse[3][FIRN_CELLS];  /* of the diagonal; 0: the face is given */
    real stretch[3][FIRN_CELLS], shear[EDGES][FIRN_CELLS]; /* stress under way */
} firn_shear_block;

typedef struct shear_job {
    firn_sim *sim;
    int dim, cells;
    double dt;
    double scale; /* dt / (density h^2): times a viscosity, parts of a cell's mass */
    bool goes_on; /* from a solution for other weights of friction, or another pressure */
    const real *in;
    real *out;
    double *partial;
} shear_job;

/* The pairs of axes: 01, 02, 12. */
static int pair_of(int a, int b) { return a + b - 1; }

static firn_shear_block *shear_of(const shear_job *job, int64_t block)
{
    return (firn_shear_block *)job->sim->project.shear.data + block;
}

static void run(shear_job *job, firn_task *task)
{
    firn_workers_run(&job->sim->workers, job->sim->at->count, GRAIN, task, job);
}

static double run_sum(shear_job *job, firn_task *task)
{
    double sum = 0;
    run(job, task);
    for (int32_t b = 0; b < job->sim->at->count; b++) sum += job->partial[b];
    return sum;
}

/* The vectors: real per face, by block, axis and cell. */
static real *vector(const firn_sim *sim, int n)
{
    return (real *)sim->project.shear_vector.data +
           (size_t)n * (size_t)sim->at->count *
               (size_t)(sim->store.dim * firn_pow(FIRN_BLOCK, sim->store.dim));
}

static real *faces_of(const shear_job *job, real *v, int64_t block, int a)
{
    return v + (block * job->dim + a) * job->cells;
}

/* The numbers of the cells one further along axis a (way 1) or before (-1), where `other` is the array of the block
 * there, or NULL. */
static void shift(const shear_job *job, const real *own, const real *other, int a, int way,
                  real out[FIRN_CELLS])
{
    int inner = 1;
    for (int i = a + 1; i < job->dim; i++) inner *= FIRN_BLOCK;
    const int outer = job->cells / inner / FIRN_BLOCK;
    const int keep = (FIRN_BLOCK - 1) * inner;
    for (int o = 0; o < outer; o++) {
        const int begin = o * FIRN_BLOCK * inner;
        const int to = way > 0 ? begin : begin + inner, from = way > 0 ? begin + inner : begin;
        const int edge_to = way > 0 ? begin + keep : begin,
                  edge_from = way > 0 ? begin : begin + keep;
        memcpy(out + to, own + from, (size_t)keep * sizeof *out);
        if (other) {
            memcpy(out + edge_to, other + edge_from, (size_t)inner * sizeof *out);
        } else {
            memset(out + edge_to, 0, (size_t)inner * sizeof *out);
        }
    }
}

/* The block next to one along axis a, or -1. */
static int32_t next_block(const shear_job *job, int64_t b, int a, int way)
{
    const int32_t other = ((const int32_t *)job->sim->project.link.data)[6 * b + 2 * a + (way > 0)];
    return other < job->sim->at->count ? other : -1;
}

/* ---- weights ---- */

/* A cell near another, by steps along two axes: its block, or -1, and *cell. */
static int32_t near_cell(const shear_job *job, const firn_liquid_block *v, int c, int a, int da,
                         int b, int db, int *cell)
{
    int at[3];
    firn_cell_at(job->dim, c, at);
    at[a] += da;
    at[b] += db;
    return firn_find_cell(v, job->dim, at, cell);
}

/* How full a cell is, as particles' splines see it: where their stress acts, so does its resistance. */
static double full_part(const firn_liquid_block *v, int c) { return fmin((double)v->cover[c], 1); }

static real cell_weight(const shear_job *job, const firn_liquid_block *v, int c)
{
    if (!(v->thick[c] > 0) || !firn_bit(v->room, c)) return 0;
    for (int a = 0; a < job->dim; a++) {
        int cell;
        if (near_cell(job, v, c, a, 1, a, 0, &cell) < 0) return 0;
    }
    return (real)(2 * job->scale * (double)v->thick[c] / (double)v->volume[c] * full_part(v, c));
}

/* Cells from the edge at the lowest corner of a cell to the nearest collider. */
static double edge_distance(const shear_job *job, const firn_liquid_block *v, int c, int a, int b)
{
    if (job->dim == 2) return (double)v->corner[c];
    int cell;
    const int32_t next = near_cell(job, v, c, 3 - a - b, 1, a, 0, &cell);
    const double here = (double)v->corner[c];
    return next < 0 ? here : (here + (double)firn_liquid_of(job->sim, next)->corner[cell]) / 2;
}

/* Whether the wall that a closed face is in holds what touches it. */
static bool holds(const shear_job *job, const firn_liquid_block *v, int a, int cell)
{
    return v->wall >= 0 &&
           ((const firn_wall_block *)job->sim->project.wall.data)[v->wall].face[a][cell].sticky;
}

static real edge_weight(const shear_job *job, const firn_liquid_block *v, int c, int a, int b)
{
    double thick = 0, volume = 0, full = 0;
    int roomy = 0;
    for (int i = 0; i < 4; i++) {
        int cell;
        const int32_t at = near_cell(job, v, c, a, -(i & 1), b, -(i >> 1), &cell);
        if (at < 0) return 0;
        const firn_liquid_block *o = firn_liquid_of(job->sim, at);
        thick += (double)o->thick[cell];
        volume += (double)o->volume[cell];
        if (!firn_bit(o->room, cell)) continue;
        roomy++;
        full += full_part(o, cell);
    }
    if (!(thick > 0) || !roomy) return 0;
    bool walled = false, held = false;
    for (int i = 0; i < 4;
         i++) { /* faces across a, here and before along b; then the other way round */
        const int across = i < 2 ? a : b, along = i < 2 ? b : a;
        int cell;
        const int32_t at = near_cell(job, v, c, along, -(i & 1), across, 0, &cell);
        const firn_liquid_block *o = firn_liquid_of(job->sim, at);
        if (firn_open_part(o, across, cell) > 0) continue;
        walled = true;
        held |= holds(job, o, across, cell);
    }
    if (walled && !held) return 0;
    const double away = fmin(fmax(0.5 + edge_distance(job, v, c, a, b), NEAREST), 1);
    return (real)(job->scale * thick / volume * full / roomy / (walled ? away : 1));
}

/* Whether a cell's stretch along axis a counts. A closed face has the wall's velocity: where that is at an angle to the
 * axis, what slides along the wall would be held by it. */
static bool stretches(const shear_job *job, const firn_liquid_block *v, int c, int a)
{
    for (int i = 0; i < 2; i++) {
        int cell;
        const int32_t at = near_cell(job, v, c, a, i, a, 0, &cell);
        const firn_liquid_block *o = firn_liquid_of(job->sim, at);
        if (firn_open_part(o, a, cell) > 0 || holds(job, o, a, cell)) continue;
        const firn_wall_block *w = job->sim->project.wall.data;
        if (fabs((double)w[o->wall].face[a][cell].normal[a]) < ALIGNED) return false;
    }
    return true;
}

static void weigh_task(void *context, int64_t b, int32_t thread)
{
    (void)thread;
    const shear_job *job = context;
    const firn_liquid_block *v = firn_liquid_of(job->sim, b);
    firn_shear_block *w = shear_of(job, b);
    for (int c = 0; c < job->cells; c++) {
        const real weight = cell_weight(job, v, c);
        for (int a = 0; a < job->dim; a++)
            w->cell[a][c] = weight > 0 && stretches(job, v, c, a) ? weight : 0;
        for (int i = 0; i < job->dim; i++) {
            for (int j = i + 1; j < job->dim; j++) {
                w->edge[pair_of(i, j)][c] = edge_weight(job, v, c, i, j);
            }
        }
    }
}

static firn_rub_block *rub_of(const shear_job *job, int64_t b)
{
    const int32_t wall = b < 0 || !job->sim->project.rubs ? -1 : firn_liquid_of(job->sim, b)->wall;
    return wall < 0 ? NULL : (firn_rub_block *)job->sim->project.rub.data + wall;
}

/* Adds what friction has in `drag` for the faces of a block across axis a. */
static void add_drag(const shear_job *job, int64_t b, int a, real to[FIRN_CELLS])
{
    if (!job->sim->project.rubs) return;
    const firn_rub_block *own = rub_of(job, b), *before = rub_of(job, next_block(job, b, a, -1));
    static const real none[FIRN_CELLS] = {0};
    if (!own && !before) return;
    real near[FIRN_CELLS];
    shift(job, own ? own->drag[1][a] : none, before ? before->drag[1][a] : NULL, a, -1, near);
    for (int c = 0; c < job->cells; c++) to[c] += near[c] + (own ? own->drag[0][a][c] : 0);
}

/* Diagonals, the start of the solution and the momentum's square. Explicit stress is mostly balanced by what it
 * resists with: the solution is closer to what velocities are without it. */
static void start_task(void *context, int64_t b, int32_t thread)
{
    (void)thread;
    const shear_job *job = context;
    const firn_liquid_block *v = firn_liquid_of(job->sim, b);
    firn_shear_block *w = shear_of(job, b);
    double momentum = 0;
    for (int a = 0; a < job->dim; a++) {
        real sum[FIRN_CELLS], near[FIRN_CELLS];
        const int32_t before = next_block(job, b, a, -1);
        shift(job, w->cell[a], before < 0 ? NULL : shear_of(job, before)->cell[a], a, -1, near);
        for (int c = 0; c < job->cells; c++) sum[c] = w->cell[a][c] + near[c];
        for (int i = 0; i < job->dim; i++) {
            if (i == a) continue;
            const int32_t after = next_block(job, b, i, 1);
            const int pair = pair_of(a, i);
            shift(job, w->edge[pair], after < 0 ? NULL : shear_of(job, after)->edge[pair], i, 1,
                  near);
            for (int c = 0; c < job->cells; c++) sum[c] += w->edge[pair][c] + near[c];
        }
        add_drag(job, b, a, sum);
        const real *u = firn_staggered_of(job->sim, b, a);
        real *x = faces_of(job, job->out, b, a);
        for (int c = 0; c < job->cells; c++) {
            const real mass = v->mass[a][c];
            const bool free = firn_open_part(v, a, c) > 0 && (mass > 0 || sum[c] > 0);
            w->mass[a][c] = mass < (real)MASS_LEAST && sum[c] > mass ? (real)MASS_LEAST : mass;
            w->inverse[a][c] = free ? 1 / (w->mass[a][c] + sum[c]) : 0;
            if (!free) {
                x[c] = u[c];
            } else if (!job->goes_on) {
                x[c] = job->sim->project.shears ? u[c] - (real)job->dt * v->push[a][c] : u[c];
            }
            momentum += (double)w->mass[a][c] * (double)u[c] * (double)u[c];
        }
    }
    job->partial[b] = momentum;
}

/* ---- the product ---- */

static void stress_task(void *context, int64_t b, int32_t thread)
{
    (void)thread;
    const shear_job *job = context;
    firn_shear_block *w = shear_of(job, b);
    real *in = (real *)job->in, near[FIRN_CELLS], other[FIRN_CELLS];
    firn_rub_block *r = rub_of(job, b);
    if (r && r->count) firn_friction_product(job->sim, firn_liquid_of(job->sim, b)->wall, in);
    for (int a = 0; a < job->dim; a++) {
        const real *x = faces_of(job, in, b, a);
        const int32_t after = next_block(job, b, a, 1);
        shift(job, x, after < 0 ? NULL : faces_of(job, in, after, a), a, 1, near);
        for (int c = 0; c < job->cells; c++) w->stretch[a][c] = w->cell[a][c] * (near[c] - x[c]);
        for (int i = a + 1; i < job->dim; i++) {
            const real *y = faces_of(job, in, b, i);
            const int32_t below = next_block(job, b, i, -1), before = next_block(job, b, a, -1);
            shift(job, x, below < 0 ? NULL : faces_of(job, in, below, a), i, -1, near);
            shift(job, y, before < 0 ? NULL : faces_of(job, in, before, i), a, -1, other);
            const int pair = pair_of(a, i);
            for (int c = 0; c < job->cells; c++) {
                w->shear[pair][c] = w->edge[pair][c] * ((x[c] - near[c]) + (y[c] - other[c]));
            }
        }
    }
}

static void force_task(void *context, int64_t b, int32_t thread)
{
    (void)thread;
    const shear_job *job = context;
    const firn_shear_block *w = shear_of(job, b);
    real near[FIRN_CELLS];
    double product = 0;
    for (int a = 0; a < job->dim; a++) {
        const real *x = faces_of(job, (real *)job->in, b, a);
        real *y = faces_of(job, job->out, b, a);
        const int32_t before = next_block(job, b, a, -1);
        shift(job, w->stretch[a], before < 0 ? NULL : shear_of(job, before)->stretch[a], a, -1,
              near);
        for (int c = 0; c < job->cells; c++) {
            y[c] = w->mass[a][c] * x[c] + near[c] - w->stretch[a][c];
        }
        for (int i = 0; i < job->dim; i++) {
            if (i == a) continue;
            const int pair = pair_of(a, i);
            const int32_t after = next_block(job, b, i, 1);
            shift(job, w->shear[pair], after < 0 ? NULL : shear_of(job, after)->shear[pair], i, 1,
                  near);
            for (int c = 0; c < job->cells; c++) y[c] += w->shear[pair][c] - near[c];
        }
        add_drag(job, b, a, y);
        product += firn_dot(x, y, job->cells);
    }
    job->partial[b] = product;
}

static double apply(void *context, const real *in, real *out)
{
    shear_job *job = context;
    job->in = in;
    job->out = out;
    run(job, stress_task);
    return run_sum(job, force_task);
}

static void precondition(void *context, int64_t block, const real *r, real *z)
{
    const shear_job *job = context;
    const real *inverse = shear_of(job, block)->inverse[0];
    for (int a = 0; a < job->dim; a++, inverse += FIRN_CELLS) {
        for (int c = 0; c < job->cells; c++)
            z[a * job->cells + c] = inverse[c] * r[a * job->cells + c];
    }
}

/* r = m u* - A x, of the product that is in it. */
static void residual_task(void *context, int64_t b, int32_t thread)
{
    (void)thread;
    const shear_job *job = context;
    const firn_shear_block *w = shear_of(job, b);
    for (int a = 0; a < job->dim; a++) {
        const real *u = firn_staggered_of(job->sim, b, a);
        real *r = faces_of(job, job->out, b, a);
        for (int c = 0; c < job->cells; c++) r[c] = w->mass[a][c] * u[c] - r[c];
        add_drag(job, b, a, r);
    }
}

static void keep_task(void *context, int64_t b, int32_t thread)
{
    (void)thread;
    const shear_job *job = context;
    const firn_liquid_block *v = firn_liquid_of(job->sim, b);
    const firn_shear_block *w = shear_of(job, b);
    for (int a = 0; a < job->dim; a++) {
        const real *x = faces_of(job, (real *)job->in, b, a);
        real *u = firn_staggered_of(job->sim, b, a);
        for (int c = 0; c < job->cells; c++) {
            if (w->inverse[a][c] > 0 && firn_bit(v->massive[a], c)) u[c] = x[c];
        }
    }
}

/* ---- friction ---- */

static void diagonal_task(void *context, int64_t i, int32_t thread)
{
    (void)thread;
    firn_friction_diagonal(((shear_job *)context)->sim, (int32_t)i);
}

static void aim_task(void *context, int64_t i, int32_t thread)
{
    (void)thread;
    firn_friction_aim(((shear_job *)context)->sim, (int32_t)i);
}

static void update_task(void *context, int64_t i, int32_t thread)
{
    (void)thread;
    const shear_job *job = context;
    const int32_t b = ((const firn_wall_block *)job->sim->project.wall.data)[i].block;
    firn_friction_update(job->sim, (int32_t)i, job->in, shear_of(job, b)->cell);
}

static void run_rubs(shear_job *job, firn_task *task)
{
    if (!job->sim->project.rubs) return;
    firn_workers_run(&job->sim->workers, job->sim->project.wall_count, GRAIN, task, job);
}

static double momentum_of_walls(const shear_job *job)
{
    double sum = 0;
    for (int32_t i = 0; job->sim->project.rubs && i < job->sim->project.wall_count; i++) {
        sum += ((const firn_rub_block *)job->sim->project.rub.data)[i].momentum;
    }
    return sum;
}

/* Whether what contacts hold has to change much for the solution. */
static bool rubs_again(shear_job *job)
{
    double change = 0, most = 0;
    run_rubs(job, update_task);
    for (int32_t i = 0; i < job->sim->project.wall_count; i++) {
        const firn_rub_block *r = (const firn_rub_block *)job->sim->project.rub.data + i;
        change += r->change;
        most += r->most;
    }
    return change > HELD * most;
}

/* ---- the step ---- */

firn_status firn_project_shear_reserve(firn_sim *sim, firn_error *error)
{
    const size_t blocks = (size_t)sim->at->count,
                 faces = blocks * (size_t)(sim->store.dim * firn_pow(FIRN_BLOCK, sim->store.dim));
    firn_status st = firn_pool_renew(sim->allocator, &sim->project.shear,
                                     blocks * sizeof(firn_shear_block), error);
    if (st != FIRN_OK) return st;
    return firn_pool_renew(sim->allocator, &sim->project.shear_vector,
                           VECTORS * faces * sizeof(real), error);
}

bool firn_project_shear(firn_sim *sim, double dt, bool again)
{
    const double h = sim->def.cell_size;
    shear_job job = {.sim = sim,
                     .dim = sim->store.dim,
                     .cells = firn_pow(FIRN_BLOCK, sim->store.dim),
                     .dt = dt,
                     .scale = dt / (sim->def.materials[0].density * h * h),
                     .partial = sim->project.partial.data};
    real *x = vector(sim, 0), *r = vector(sim, 1);
    real *work[2] = {vector(sim, 2), vector(sim, 3)};
    const firn_system system = {.workers = &sim->workers,
                                .blocks = sim->at->count,
                                .block_reals = job.dim * job.cells,
                                .apply = apply,
                                .precondition = precondition,
                                .context = &job,
                                .partial = job.partial};
    const double most = fmin(CHEAPER * sim->def.solver_iterations, INT32_MAX);
    run(&job, weigh_task);
    for (int pass = 0;; pass++) {
        job.goes_on = again || pass > 0;
        job.out = x;
        run_rubs(&job, diagonal_task);
        const double momentum = sqrt(run_sum(&job, start_task) + momentum_of_walls(&job));
        if (momentum == 0) return true;
        apply(&job, x, r);
        run_rubs(&job, aim_task);
        run(&job, residual_task);
        const firn_solution s =
            firn_solve_cg(&system, x, r, work, TOLERANCE * momentum, (int32_t)most);
        sim->report.iterations += s.iterations;
        job.in = x;
        if (!s.converged) return false;
        if (!sim->project.rubs || !rubs_again(&job) || pass == PASSES) break;
    }
    run(&job, keep_task);
    return true;
}
