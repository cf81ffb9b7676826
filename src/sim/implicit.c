/* The grid update of an implicit step: velocities that solve a linear system.
 *
 * With forces linear in the motion of the step, f - K (dx), the theta step moves positions and F by
 *   (M + (theta dt)^2 K) v = M v_old + theta dt (f + M g)
 * and leaves v_old + (v - v_old) / theta as the velocity: theta 1/2 is the trapezoidal rule, which
 * neither damps nor excites, 1 backward Euler; 0.55 takes the edge off waves that the step does not
 * resolve. The form of Stomakhin et al. 2013 instead moves by the velocity it leaves,
 *   (M + beta dt^2 K) v = M v_old + dt (f + M g)
 * which damps a mode of frequency w by 1 / sqrt(1 + beta (w dt)^2) in each step.
 *
 * K is never formed. A product is a pass over particles (see firn_kernels.product) with tangents that
 * were clamped per particle, so that the system is positive definite and conjugate gradients serve.
 * The preconditioner is the mass: it keeps momentum to rounding whatever the tolerance, and a
 * diagonal that knows K gains nothing much for material of even stiffness (measured: 15 % with
 * hardened snow). Coarse grids are added to it where steps and bodies are long. The first guess is free
 * flight, v_old + theta dt g: with v_old a loose tolerance lets bodies hover.
 *
 * Walls hold the nodes that would enter them: see walls.c. When the solution pulls at a wall that
 * cannot pull, or enters one that does not hold, that is changed and solved again. Friction is a
 * drag: the force that it would have, at the pressure that the stress at the step's start puts on
 * the wall, over the speed at which the node slides then. Deciding per node whether it sticks locks
 * stiff bodies: their nodes' predicted velocities are mostly waves. */
#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "sim/sim.h"
#include "solve/krylov.h"

enum { NODES = FIRN_MAX_CELLS, RESOLVES = 2 };

/* Sliding below this counts as sticking, with a drag that lets it creep at most so fast. */
#define CREEP ((real)1e-3) /* m/s */

/* Neighbouring nodes close in on each other by at most this part of a cell in a step, which binds where
 * bodies meet walls or each other. Walls and contacts take the velocity of what runs into them: in
 * longer steps, which let it run in further, bodies lose their bounce, and those that meet each other
 * are thrown apart. See doc/implicit.md. */
#define IMPACT 0.05

/* Forces that move nodes by less than this part of a cell per step count as that much. */
#define STILL 1e-6

/* From which largest eigenvalue, length of a body in blocks, and in 3D its ratio to the next largest
 * extent, coarse grids take part. See doc/implicit.md for what that is worth, and where not. */
#define COARSE_FROM 2000
#define COARSE_BLOCKS 10
#define SLENDER 3

/* With coarse grids: the mass's part of the preconditioner, times the largest eigenvalue. From 1.5 to
 * 20 it matters by less than a fifth of the iterations. */
#define SHARE 3

/* ---- room ---- */

firn_status firn_implicit_reserve(firn_sim *sim, firn_error *error)
{
    const firn_directory *d = sim->at;
    const size_t blocks = (size_t)d->count;
    const size_t channel = firn_grid_channel_size(sim);
    firn_implicit *m = &sim->implicit;
    firn_grid *g = &sim->grid;
    /* A block's groups end with each row of cells. */
    const uint32_t lanes = (uint32_t)sim->kernels->lanes,
                   rows = (uint32_t)firn_pow(FIRN_BLOCK, sim->store.dim) / FIRN_BLOCK;
    uint32_t groups = 0;
    firn_status st = FIRN_OK;
#define RESERVE(pool, size)                                                                        \
    if (st == FIRN_OK) st = firn_pool_renew(sim->allocator, &(pool), size, error)
    RESERVE(m->group, blocks * sizeof(uint32_t));
    if (st != FIRN_OK) return st;
    for (size_t b = 0; b < blocks; b++) {
        const uint32_t n = d->population[b], most = n / lanes + rows;
        ((uint32_t *)m->group.data)[b] = groups;
        groups += n < most ? n : most;
    }
    RESERVE(m->tangents, groups * sim->kernels->tangent_bytes);
    RESERVE(m->cell, blocks * sizeof(uint32_t[NODES + 1]));
    RESERVE(m->wall_first, (blocks + 1) * sizeof(int32_t));
    RESERVE(m->partial, blocks * sizeof(double));
    RESERVE(m->inverse_mass, channel / FIRN_NODE);
    RESERVE(g->velocity_moved, channel);
    RESERVE(g->residual, channel);
    RESERVE(g->direction, channel);
    RESERVE(g->image, channel);
#undef RESERVE
    return st;
}

/* ---- the system ---- */

typedef struct implicit_job {
    firn_sim *sim;
    firn_pass pass;
    double dt;      /* s */
    double lead;    /* theta dt: time over which forces act before the velocity is taken, s */
    double squared; /* what K is multiplied with, s2 */
    double body[3]; /* m/s2 */
    double keep;    /* damping factor of this step */
    double theta;
    const real *in; /* of the product under way */
    real *out;
    double goal;  /* of the residual */
    double most;  /* about the largest eigenvalue of the system over the mass */
    int32_t axis; /* of a loop under way */
    double free_mass[FIRN_MAX_LAYERS], drift[FIRN_MAX_LAYERS]; /* by layer: kg, or 0; m/s */
    bool solved; /* velocity_moved is no longer the guess, in which light nodes are right too */
} implicit_job;

/* Nodes up to this mass may have any velocity: next to nothing of a particle feels it. */
static real light_mass(const firn_sim *sim) { return (real)(1e-3 * sim->lightest); }

static real *inverse_mass(const firn_sim *sim, int64_t block)
{
    return (real *)sim->implicit.inverse_mass.data + block * firn_pow(FIRN_BLOCK, sim->store.dim);
}

static double *partial(const firn_sim *sim) { return sim->implicit.partial.data; }

static void run(implicit_job *job, firn_task *task)
{
    firn_workers_run(&job->sim->workers, job->sim->at->count, 4, task, job);
}

/* Runs a task that leaves a number per block, and sums them in order. */
static double run_sum(implicit_job *job, firn_task *task)
{
    double sum = 0;
    run(job, task);
    for (int32_t b = 0; b < job->sim->at->count; b++) sum += partial(job->sim)[b];
    return sum;
}

/* The same, for the largest of them. */
static double run_most(implicit_job *job, firn_task *task)
{
    double most = 0;
    run(job, task);
    for (int32_t b = 0; b < job->sim->at->count; b++) most = fmax(most, partial(job->sim)[b]);
    return most;
}

/* The numbers of one block that loops over nodes start from. */
typedef struct block_view {
    int32_t nodes, dim;
    const real (*old)[FIRN_NODE];          /* velocity before forces, mass */
    const real (*acceleration)[FIRN_NODE]; /* by stress and hook */
    real (*moved)[FIRN_NODE];
    firn_wall_node *at_wall;
    int32_t at_walls;
} block_view;

static block_view view_block(const firn_sim *sim, int64_t block)
{
    const firn_grid *g = &sim->grid;
    block_view v = {.dim = sim->store.dim, .nodes = firn_pow(FIRN_BLOCK, sim->store.dim)};
    v.old = (const real(*)[FIRN_NODE])firn_grid_channel(sim, &g->velocity_old, block);
    v.acceleration = (const real(*)[FIRN_NODE])firn_grid_channel(sim, &g->velocity, block);
    v.moved = (real(*)[FIRN_NODE])firn_grid_channel(sim, &g->velocity_moved, block);
    v.at_wall = firn_walls_of(sim, block, &v.at_walls);
    return v;
}

static real dot(const real a[3], const real b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void apply_block(void *context, int64_t block, int32_t thread)
{
    (void)thread;
    const implicit_job *job = context;
    const firn_sim *sim = job->sim;
    const block_view v = view_block(sim, block);
    const real(*in)[FIRN_NODE] = (const real(*)[FIRN_NODE])(job->in + block * v.nodes * FIRN_NODE);
    real(*out)[FIRN_NODE] = (real(*)[FIRN_NODE])(job->out + block * v.nodes * FIRN_NODE);
    real sum[1][NODES][FIRN_NODE];
    firn_grid_sum_arenas(sim, sim->at, 1, block, sum);
    const real squared = (real)job->squared;
    for (int n = 0; n < v.nodes; n++) {
        const real mass = v.old[n][3];
        for (int a = 0; a < FIRN_NODE; a++) out[n][a] = mass * in[n][a] + squared * sum[0][n][a];
    }
    for (int i = 0; i < v.at_walls; i++) {
        const firn_wall_node *c = &v.at_wall[i];
        real along[3];
        if (c->drag == 0) continue;
        memcpy(along, in[c->node], sizeof along);
        firn_wall_project(c, along);
        for (int a = 0; a < 3; a++) out[c->node][a] += c->drag * along[a];
    }
    partial(sim)[block] = firn_dot(in[0], out[0], v.nodes * FIRN_NODE);
}

/* out = (M + squared K + drag) in */
static double apply(void *context, const real *in, real *out)
{
    implicit_job *job = context;
    firn_sim *sim = job->sim;
    job->in = in;
    job->out = out;
    job->pass.velocity = in;
    firn_sim_run_pass(sim, &job->pass, sim->kernels->product[sim->path == FIRN_PATH_FUSED]);
    return run_sum(job, apply_block);
}

static void precondition(void *context, int64_t block, const real *r, real *z)
{
    const implicit_job *job = context;
    const block_view v = view_block(job->sim, block);
    const real *inverse = inverse_mass(job->sim, block);
    for (int n = 0; n < v.nodes; n++)
        for (int a = 0; a < FIRN_NODE; a++)
            z[n * FIRN_NODE + a] = inverse[n] * r[n * FIRN_NODE + a];
    for (int i = 0; i < v.at_walls; i++) {
        const firn_wall_node *c = &v.at_wall[i];
        const real mass = v.old[c->node][3];
        real *at = z + c->node * FIRN_NODE;
        for (int a = 0; a < 3; a++) at[a] *= mass / (mass + c->drag);
        firn_wall_project(c, at);
    }
}

/* ---- coarse grids: see solve/coarse.h ---- */

/* Mass, and what walls do to nodes: those that they hold are as good as fixed, by the stiffness that
 * nodes have, and friction adds to the mass. Leaves the mass of the block. */
static void weigh_block(void *context, int64_t block, int32_t thread)
{
    (void)thread;
    const implicit_job *job = context;
    const block_view v = view_block(job->sim, block);
    const firn_coarse_level *l = &job->sim->implicit.coarse.level[0];
    const int64_t at = block * v.nodes * FIRN_NODE;
    real(*mass)[FIRN_NODE] = (real(*)[FIRN_NODE])(l->mass + at);
    real(*shear)[FIRN_NODE] = (real(*)[FIRN_NODE])(l->shear + at);
    double sum = 0;
    memset(shear, 0, (size_t)v.nodes * sizeof *shear);
    for (int n = 0; n < v.nodes; n++) {
        sum += (double)v.old[n][3];
        for (int a = 0; a < FIRN_NODE; a++) mass[n][a] = v.old[n][3];
    }
    for (int i = 0; i < v.at_walls; i++) {
        const firn_wall_node *c = &v.at_wall[i];
        const real hold = v.old[c->node][3] * (real)(job->most / 4), more = c->drag - hold;
        real free[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
        for (int a = 0; a < 3; a++) firn_wall_project(c, free[a]);
        for (int a = 0; a < 3; a++) mass[c->node][a] += hold + more * free[a][a];
        shear[c->node][0] = more * free[0][1];
        shear[c->node][1] = more * free[0][2];
        shear[c->node][2] = more * free[1][2];
    }
    partial(job->sim)[block] = sum;
}

/* The masses of layers that are at no wall. */
static void weigh_layers(implicit_job *job)
{
    const firn_sim *sim = job->sim;
    memset(job->free_mass, 0, sizeof job->free_mass);
    run(job, weigh_block);
    for (int32_t b = 0; b < sim->at->count; b++) {
        job->free_mass[firn_directory_layer(sim->at, b)] += partial(sim)[b];
    }
    for (int32_t b = 0; b < sim->at->count; b++) {
        int32_t walls;
        if (firn_walls_of(sim, b, &walls)) job->free_mass[firn_directory_layer(sim->at, b)] = 0;
    }
}

/* The residual without what walls take of it. */
static void fill_right_block(void *context, int64_t block, int32_t thread)
{
    (void)thread;
    const implicit_job *job = context;
    const block_view v = view_block(job->sim, block);
    const int64_t at = block * v.nodes * FIRN_NODE;
    real *b = job->sim->implicit.coarse.level[0].b + at;
    memcpy(b, job->in + at, (size_t)(v.nodes * FIRN_NODE) * sizeof *b);
    for (int i = 0; i < v.at_walls; i++) {
        firn_wall_project(&v.at_wall[i], b + v.at_wall[i].node * FIRN_NODE);
    }
}

static void take_correction_block(void *context, int64_t block, int32_t thread)
{
    (void)thread;
    const implicit_job *job = context;
    const block_view v = view_block(job->sim, block);
    const int64_t at = block * v.nodes * FIRN_NODE;
    const real *x = job->sim->implicit.coarse.level[0].x + at;
    real *z = job->out + at;
    for (int n = 0; n < v.nodes; n++) {
        const bool there = v.old[n][3] > 0;
        for (int a = 0; a < FIRN_NODE; a++) {
            z[n * FIRN_NODE + a] = there && a < v.dim ? x[n * FIRN_NODE + a] : 0;
        }
    }
    for (int i = 0; i < v.at_walls; i++) {
        firn_wall_project(&v.at_wall[i], z + v.at_wall[i].node * FIRN_NODE);
    }
}

static void momentum_block(void *context, int64_t block, int32_t thread)
{
    (void)thread;
    const implicit_job *job = context;
    const block_view v = view_block(job->sim, block);
    const real *z = job->out + block * v.nodes * FIRN_NODE + job->axis;
    double sum = 0;
    for (int n = 0; n < v.nodes; n++) sum += (double)v.old[n][3] * (double)z[n * FIRN_NODE];
    partial(job->sim)[block] = sum;
}

static void shift_block(void *context, int64_t block, int32_t thread)
{
    (void)thread;
    const implicit_job *job = context;
    const block_view v = view_block(job->sim, block);
    const real drift = (real)job->drift[firn_directory_layer(job->sim->at, (int32_t)block)];
    real *z = job->out + block * v.nodes * FIRN_NODE + job->axis;
    for (int n = 0; n < v.nodes; n++) {
        if (v.old[n][3] > 0) z[n * FIRN_NODE] -= drift;
    }
}

/* z = B r. Coarse grids solve for the momentum of a body with an error; but the residual has none where
 * no wall is, so the correction may have none either. */
static void correct(void *context, const real *r, real *z)
{
    implicit_job *job = context;
    const firn_sim *sim = job->sim;
    job->in = r;
    job->out = z;
    run(job, fill_right_block);
    firn_coarse_cycle(&job->sim->implicit.coarse);
    run(job, take_correction_block);
    for (job->axis = 0; job->axis < sim->store.dim; job->axis++) {
        memset(job->drift, 0, sizeof job->drift);
        run(job, momentum_block);
        for (int32_t b = 0; b < sim->at->count; b++) {
            const int32_t layer = firn_directory_layer(sim->at, b);
            const double mass = job->free_mass[layer];
            if (mass > 0) job->drift[layer] += partial(sim)[b] / mass;
        }
        run(job, shift_block);
    }
}

/* Whether coarse grids pay: where steps are long, and a body is long in cells, in 3D a slender one. */
static bool wants_coarse(const implicit_job *job)
{
    const firn_directory *d = job->sim->at;
    int32_t low[3] = {0}, high[3] = {0};
    if (job->most < COARSE_FROM) return false;
    for (int32_t b = 0; b < d->count; b++) {
        const bool first = b == 0 || firn_directory_layer(d, b) != firn_directory_layer(d, b - 1);
        for (int a = 0; a < d->dim; a++) {
            if (first || d->coord[b][a] < low[a]) low[a] = d->coord[b][a];
            if (first || d->coord[b][a] > high[a]) high[a] = d->coord[b][a];
        }
        const bool last =
            b + 1 == d->count || firn_directory_layer(d, b) != firn_directory_layer(d, b + 1);
        int32_t longest = 0, second = 0;
        for (int a = 0; a < d->dim && last; a++) {
            const int32_t length = high[a] - low[a];
            if (length > longest) {
                second = longest;
                longest = length;
            } else if (length > second) {
                second = length;
            }
        }
        if (longest >= COARSE_BLOCKS && (d->dim == 2 || longest >= SLENDER * second)) return true;
    }
    return false;
}

static firn_status open_coarse(implicit_job *job, firn_system *system, firn_error *error)
{
    firn_sim *sim = job->sim;
    firn_coarse *m = &sim->implicit.coarse;
    firn_status st =
        firn_coarse_reserve(m, sim->at, job->most, &sim->workers, sim->allocator, error);
    if (st == FIRN_OK) {
        st = firn_pool_renew(sim->allocator, &sim->grid.direction_2, firn_grid_channel_size(sim),
                             error);
    }
    if (st != FIRN_OK) return st;
    system->correct = correct;
    system->share = (real)(SHARE / job->most);
    system->room = sim->grid.direction_2.data;
    job->pass.lame = (real(*)[2])m->level[0].lame;
    firn_sim_run_pass(sim, &job->pass, sim->kernels->lame[sim->path == FIRN_PATH_FUSED]);
    return FIRN_OK;
}

/* ---- walls ---- */

/* Velocity after the forces of the step's start alone. */
static void predict(const implicit_job *job, const block_view *v, int n, real out[3])
{
    out[2] = 0;
    for (int a = 0; a < v->dim; a++) {
        out[a] = (real)job->keep * v->old[n][a] +
                 (real)job->lead * (v->acceleration[n][a] + (real)job->body[a]);
    }
}

/* Drag by the force that presses the node onto walls, as far as it goes by stress and weight. */
static void set_drag(const implicit_job *job, const block_view *v, firn_wall_node *c)
{
    c->drag = 0;
    memset(c->drift, 0, sizeof c->drift);
    for (int k = 0; k < c->held; k++) { /* the same wall twice rubs once */
        const firn_wall *t = &c->wall[c->cause[k]];
        if (t->boundary != FIRN_SEPARATE || !(t->friction > 0)) continue;
        real pressing = 0, slide[3] = {0};
        for (int a = 0; a < v->dim; a++) {
            pressing -= t->normal[a] * (v->acceleration[c->node][a] + (real)job->body[a]);
            slide[a] = v->old[c->node][a] - t->surface[a];
        }
        if (!(pressing > 0)) continue;
        const real sinking = dot(slide, t->normal);
        for (int a = 0; a < 3; a++) slide[a] -= sinking * t->normal[a];
        const real speed = R_SQRT(dot(slide, slide));
        const real drag = t->friction * pressing * v->old[c->node][3] * (real)job->lead /
                          (speed > CREEP ? speed : CREEP);
        c->drag += drag;
        for (int a = 0; a < 3; a++) c->drift[a] += drag * t->surface[a];
    }
    for (int a = 0; a < 3 && c->drag > 0; a++) c->drift[a] /= c->drag;
}

/* Walls that keep material out hold where it would come in. */
static void hold_block(void *context, int64_t block, int32_t thread)
{
    (void)thread;
    const implicit_job *job = context;
    const block_view v = view_block(job->sim, block);
    for (int i = 0; i < v.at_walls; i++) {
        firn_wall_node *c = &v.at_wall[i];
        real ahead[3];
        predict(job, &v, c->node, ahead);
        for (int k = 0; k < c->count; k++) {
            firn_wall *t = &c->wall[k];
            if (t->boundary != FIRN_SEPARATE) continue;
            t->holds = dot(t->normal, ahead) < dot(t->normal, t->surface);
        }
        firn_wall_settle(c, v.dim);
        set_drag(job, &v, c);
    }
}

/* Lets go where a wall would pull, and holds where material has come in. */
static void revise_block(void *context, int64_t block, int32_t thread)
{
    (void)thread;
    const implicit_job *job = context;
    const block_view v = view_block(job->sim, block);
    const real *residual = firn_grid_channel(job->sim, &job->sim->grid.residual, block);
    double changes = 0;
    for (int i = 0; i < v.at_walls; i++) {
        firn_wall_node *c = &v.at_wall[i];
        const real mass = v.old[c->node][3];
        /* What convergence leaves open of an impulse, and of a velocity. */
        const real impulse_slack = (real)job->goal * R_SQRT(mass),
                   speed_slack = (real)(1e-4 * job->sim->def.cell_size / job->dt);
        real hold[3]; /* impulse of the walls */
        for (int a = 0; a < 3; a++) hold[a] = -residual[c->node * FIRN_NODE + a];
        bool changed = false, holding[FIRN_WALLS] = {false};
        for (int k = c->held - 1; k >= 0; k--) {
            firn_wall *t = &c->wall[c->cause[k]];
            holding[c->cause[k]] = true;
            if (firn_boundary_holds(t->boundary)) break;
            const real impulse = dot(hold, c->direction[k]) / dot(t->normal, c->direction[k]);
            for (int a = 0; a < 3; a++) hold[a] -= impulse * t->normal[a];
            if (t->boundary != FIRN_SEPARATE || impulse >= -impulse_slack) continue;
            t->holds = false;
            changed = true;
        }
        for (int k = 0; k < c->count; k++) {
            firn_wall *t = &c->wall[k];
            if (t->holds || holding[k]) continue;
            if (dot(t->normal, v.moved[c->node]) - dot(t->normal, t->surface) >= -speed_slack)
                continue;
            t->holds = true;
            changed = true;
        }
        if (!changed) continue;
        changes++;
        firn_wall_settle(c, v.dim);
        set_drag(job, &v, c);
    }
    partial(job->sim)[block] = changes;
}

/* ---- before and after ---- */

/* The first guess; the square of the impulses that forces bring in the step, over mass: what the
 * residual is held against. Measured by velocities instead, as is common, a fast body would be solved
 * more loosely than a slow one: on an incline it then feels too little friction. */
static void guess_block(void *context, int64_t block, int32_t thread)
{
    (void)thread;
    const implicit_job *job = context;
    const block_view v = view_block(job->sim, block);
    const double still = STILL * job->sim->def.cell_size / job->dt;
    real *inverse = inverse_mass(job->sim, block);
    double sum = 0;
    for (int n = 0; n < v.nodes; n++) {
        const real mass = v.old[n][3];
        double gain2 = 0;
        for (int a = 0; a < 3; a++) {
            const double body = mass > 0 && a < v.dim ? job->lead * job->body[a] : 0;
            const double stress = job->lead * (double)v.acceleration[n][a];
            gain2 += body * body + stress * stress;
            v.moved[n][a] = (real)job->keep * v.old[n][a] + (real)body;
        }
        sum += (double)mass * fmax(gain2, still * still);
        v.moved[n][3] = mass;
        inverse[n] = mass > 0 ? 1 / mass : 0;
    }
    partial(job->sim)[block] = sum;
}

/* Gives the guess the velocities that walls ask for. */
static void fit_block(void *context, int64_t block, int32_t thread)
{
    (void)thread;
    const implicit_job *job = context;
    const block_view v = view_block(job->sim, block);
    for (int i = 0; i < v.at_walls; i++) {
        const firn_wall_node *c = &v.at_wall[i];
        real *moved = v.moved[c->node];
        firn_wall_project(c, moved);
        for (int k = 0; k < c->held; k++) {
            for (int a = 0; a < 3; a++) moved[a] += c->speed[k] * c->direction[k][a];
        }
    }
}

/* The largest speed at which neighbouring nodes close in on each other: a body at a wall, or two that
 * meet on the same nodes. A few particles alone do not count: half of one per cell is the measure. */
static void closing_block(void *context, int64_t block, int32_t thread)
{
    (void)thread;
    const implicit_job *job = context;
    const firn_sim *sim = job->sim;
    const firn_directory *d = sim->at;
    const block_view v = view_block(sim, block);
    const real light = job->solved ? light_mass(sim) : 0;
    real most = 0;
    for (int a = 0, stride = v.nodes; a < v.dim; a++) {
        stride /= FIRN_BLOCK;
        int32_t above[3];
        memcpy(above, d->coord[block], sizeof above);
        above[a]++;
        const int32_t layer = firn_directory_layer(d, (int32_t)block),
                      next = firn_directory_find(d, firn_block_key(d, layer, above));
        const uint32_t crowd = d->population[block] + (next >= 0 ? d->population[next] : 0);
        if (crowd < (uint32_t)v.nodes) continue;
        for (int n = 0; n < v.nodes; n++) {
            const bool last = n / stride % FIRN_BLOCK == FIRN_BLOCK - 1;
            if (last && next < 0) continue;
            const real *up = last ? firn_grid_channel(sim, &sim->grid.velocity_moved, next) +
                                        (n - (FIRN_BLOCK - 1) * stride) * FIRN_NODE
                                  : v.moved[n + stride];
            const real closing = v.moved[n][a] - up[a];
            if (closing > most && v.moved[n][3] > light && up[3] > light) most = closing;
        }
    }
    partial(sim)[block] = (double)most;
}

/* The largest closing speed by velocity_moved, of bodies too. */
static double closing_speed(implicit_job *job)
{
    return fmax(run_most(job, closing_block), firn_grid_approach(job->sim));
}

/* residual = right-hand side - image, which is A x. */
static void residual_block(void *context, int64_t block, int32_t thread)
{
    (void)thread;
    const implicit_job *job = context;
    const firn_sim *sim = job->sim;
    const block_view v = view_block(sim, block);
    const real *image = firn_grid_channel(sim, &sim->grid.image, block);
    real *r = firn_grid_channel(sim, &sim->grid.residual, block);
    for (int n = 0; n < v.nodes; n++) {
        real ahead[3];
        predict(job, &v, n, ahead);
        for (int a = 0; a < 3; a++) {
            r[n * FIRN_NODE + a] = v.old[n][3] * ahead[a] - image[n * FIRN_NODE + a];
        }
        r[n * FIRN_NODE + 3] = 0;
    }
    for (int i = 0; i < v.at_walls; i++) {
        const firn_wall_node *c = &v.at_wall[i];
        real drift[3];
        memcpy(drift, c->drift, sizeof drift);
        firn_wall_project(c, drift);
        for (int a = 0; a < 3; a++) r[c->node * FIRN_NODE + a] += c->drag * drift[a];
    }
}

/* The largest square of a velocity that particles move by. */
static void speed_block(void *context, int64_t block, int32_t thread)
{
    (void)thread;
    const implicit_job *job = context;
    const block_view v = view_block(job->sim, block);
    const real light = light_mass(job->sim);
    real most = 0, check = 0;
    for (int n = 0; n < v.nodes; n++) {
        const real speed2 = dot(v.moved[n], v.moved[n]);
        if (v.old[n][3] > light && speed2 > most) most = speed2;
        check += speed2 * 0; /* stays 0 while all are finite */
    }
    partial(job->sim)[block] = check == 0 ? (double)most : INFINITY;
}

/* Books what walls gave a node's velocity, to those that hold it: through each what it takes to hold
 * it there, and friction to the first. */
static void book_walls(const implicit_job *job, int64_t block, const block_view *v,
                       const firn_wall_node *c, const real formula[3], const real end[3])
{
    const real *residual =
        firn_grid_channel(job->sim, &job->sim->grid.residual, block) + c->node * FIRN_NODE;
    const real mass = v->old[c->node][3], none[3] = {0};
    real hold[3] = {0}, along[3], drift[3]; /* impulses that the node gets, over theta */
    if (c->held == 0) return;
    for (int k = 0; k < c->held; k++) {
        const real part = -dot(residual, c->direction[k]);
        for (int a = 0; a < 3; a++) hold[a] += part * c->direction[k][a];
    }
    memcpy(along, v->moved[c->node], sizeof along);
    memcpy(drift, c->drift, sizeof drift);
    firn_wall_project(c, along);
    firn_wall_project(c, drift);
    const real beyond = (real)(1 / job->theta);
    real rest[3];
    for (int a = 0; a < 3; a++) {
        rest[a] = mass * (end[a] - formula[a]) + beyond * c->drag * (drift[a] - along[a]);
    }
    for (int k = c->held - 1; k >= 0; k--) {
        const firn_wall *t = &c->wall[c->cause[k]];
        if (firn_boundary_holds(t->boundary)) break;
        const real impulse = dot(hold, c->direction[k]) / dot(t->normal, c->direction[k]);
        real given[3];
        for (int a = 0; a < 3; a++) {
            given[a] = beyond * impulse * t->normal[a];
            hold[a] -= impulse * t->normal[a];
        }
        firn_reaction_book_node(job->sim, block, c->node, t->collider, none, given, 1);
    }
    for (int a = 0; a < 3; a++) rest[a] += beyond * hold[a];
    firn_reaction_book_node(job->sim, block, c->node, c->wall[c->cause[0]].collider, none, rest, 1);
}

/* Puts the velocities that the step leaves in place of the accelerations. */
static void finish_block(void *context, int64_t block, int32_t thread)
{
    (void)thread;
    const implicit_job *job = context;
    const block_view v = view_block(job->sim, block);
    real *end = firn_grid_channel(job->sim, &job->sim->grid.velocity, block);
    const real beyond = (real)(1 / job->theta);
    for (int n = 0; n < v.nodes; n++) {
        for (int a = 0; a < 3; a++) {
            const real from = (real)job->keep * v.old[n][a];
            end[n * FIRN_NODE + a] = from + beyond * (v.moved[n][a] - from);
        }
        end[n * FIRN_NODE + 3] = v.old[n][3];
    }
    /* Walls do not bounce, and friction does not turn a slide around. */
    for (int i = 0; i < v.at_walls; i++) {
        const firn_wall_node *c = &v.at_wall[i];
        real *to = end + c->node * FIRN_NODE, ahead[3], slide[3], gain[3];
        const real formula[3] = {to[0], to[1], to[2]};
        for (int a = 0; a < 3; a++) {
            gain[a] = to[a] - v.moved[c->node][a];
            slide[a] = v.moved[c->node][a] - c->drift[a];
        }
        firn_wall_project(c, gain);
        firn_wall_project(c, slide);
        for (int a = 0; a < 3; a++) ahead[a] = slide[a] + gain[a];
        const bool turns = c->drag > 0 && dot(ahead, slide) < 0;
        for (int a = 0; a < 3; a++) to[a] = v.moved[c->node][a] + (turns ? 0 : gain[a]);
        book_walls(job, block, &v, c, formula, to);
    }
}

static void collide_task(void *context, int64_t block, int32_t thread)
{
    (void)thread;
    firn_grid_collide_block(((implicit_job *)context)->sim, block);
}

static void swap_velocities(firn_grid *g)
{
    const firn_pool velocity = g->velocity;
    g->velocity = g->velocity_moved;
    g->velocity_moved = velocity;
}

/* Whatever the solver left to colliders, and bodies that meet: for the velocities that particles move
 * by and for those they get. */
static void collide(implicit_job *job)
{
    for (int i = 0; i < 2; i++) {
        swap_velocities(&job->sim->grid);
        job->sim->grid.books = job->sim->def.collider_count > 0 && i == 1; /* what particles get */
        run(job, collide_task);
        firn_grid_contact(job->sim);
    }
}

/* ---- the solve ---- */

static firn_solution solve(const firn_system *system, firn_sim *sim, double goal, firn_status *st,
                           firn_error *error)
{
    firn_grid *g = &sim->grid;
    real *x = g->velocity_moved.data, *r = g->residual.data;
    const int32_t most = (int32_t)sim->def.solver_iterations;
    real *const two[2] = {g->direction.data, g->image.data};
    firn_solution s = firn_solve_cg(system, x, r, two, goal, most);
    if (s.converged || s.iterations == most || !isfinite(s.residual)) return s;
    /* Rounding may cost the system its sign: conjugate residuals do not mind. */
    const size_t channel = firn_grid_channel_size(sim);
    *st = firn_pool_renew(sim->allocator, &g->direction_2, channel, error);
    if (*st == FIRN_OK) *st = firn_pool_renew(sim->allocator, &g->image_2, channel, error);
    if (*st != FIRN_OK) return s;
    real *const four[4] = {g->direction.data, g->image.data, g->direction_2.data, g->image_2.data};
    firn_solution t = firn_solve_cr(system, x, r, four, goal, most - s.iterations);
    t.iterations += s.iterations;
    return t;
}

firn_status firn_implicit_solve(firn_sim *sim, double dt, double crossing, firn_limit *broken,
                                double *dt_fit, firn_error *error)
{
    const firn_sim_def *def = &sim->def;
    const bool stomakhin = def->beta > 0;
    implicit_job job = {.sim = sim,
                        .pass = firn_sim_pass(sim),
                        .dt = dt,
                        .theta = stomakhin ? 1 : def->theta,
                        .keep = exp(-def->damping * dt)};
    job.pass.arena_channels = FIRN_NODE;
    job.lead = job.theta * dt;
    job.squared = stomakhin ? def->beta * dt * dt : job.lead * job.lead;
    firn_grid_body_acceleration(sim, dt, job.body);
    firn_system system = {.workers = &sim->workers,
                          .blocks = sim->at->count,
                          .block_reals = firn_pow(FIRN_BLOCK, sim->store.dim) * FIRN_NODE,
                          .apply = apply,
                          .precondition = precondition,
                          .context = &job,
                          .partial = partial(sim)};
    firn_status st = firn_walls_find(sim, error);
    if (st != FIRN_OK) return st;
    job.goal = def->solver_tolerance * sqrt(run_sum(&job, guess_block));
    run(&job, hold_block);
    job.most =
        1 + 4 * job.squared * (double)sim->extremes.wave2 / (def->cell_size * def->cell_size);
    const bool coarse = wants_coarse(&job);
    if (coarse) st = open_coarse(&job, &system, error);
    if (st != FIRN_OK) return st;
    firn_solution s = {0};
    for (int round = 0; round <= RESOLVES; round++) {
        run(&job, fit_block);
        if (round == 0 && def->dt == 0) {
            *broken = FIRN_LIMIT_IMPACT;
            *dt_fit = IMPACT * def->cell_size / closing_speed(&job);
            if (dt > 1.001 * *dt_fit) return FIRN_OK;
        }
        (void)apply(&job, sim->grid.velocity_moved.data, sim->grid.image.data);
        run(&job, residual_block);
        if (coarse) {
            weigh_layers(&job);
            firn_coarse_setup(&sim->implicit.coarse, def->cell_size, job.squared);
        }
        s = solve(&system, sim, job.goal, &st, error);
        sim->report.iterations += s.iterations;
        if (st != FIRN_OK || !s.converged || round == RESOLVES) break;
        if (run_sum(&job, revise_block) == 0) break;
    }
    if (st != FIRN_OK) return st;
    *dt_fit = dt / 2;
    *broken = FIRN_LIMIT_SOLVER;
    if (!s.converged) return FIRN_OK;
    sim->report.residual =
        fmax(sim->report.residual, s.residual / job.goal * def->solver_tolerance);
    job.solved = true;
    sim->grid.max_speed = sqrt(run_most(&job, speed_block));
    *broken = FIRN_LIMIT_FORCE;
    if (sim->grid.max_speed * dt > crossing * def->cell_size) return FIRN_OK;
    *broken = FIRN_LIMIT_NONE;
    /* In contact, what closes in does so by acceleration: by as much as the square of the step. */
    *dt_fit = sqrt(IMPACT * def->cell_size * dt / closing_speed(&job));
    if (def->collider_count) st = firn_reaction_list(sim, error);
    if (st != FIRN_OK) return st;
    run(&job, finish_block);
    collide(&job);
    firn_reaction_collect(sim);
    return FIRN_OK;
}
