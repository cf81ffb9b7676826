/* Pressure projection: the grid of a step through incompressible liquids.
 *
 * The scatter leaves momentum, mass and volume of faces and the volume of cells. A cell that is more than
 * half full is liquid and gets a pressure; particles elsewhere fly free. With u* the velocity after forces,
 * and over the faces f of each liquid cell, of which colliders leave the part A open,
 *   sum A / (rho theta) (P - P_n) = -sum +-(A u* + (1 - A) u_wall),     P = p dt / (rho_0 h)
 *   u = u* - (P - P_n) / (rho theta),      rho = m / V of the face, over rho_0
 * and in air P_n is that of surface tension, or 0, at the surface, which is the part theta of a cell away
 * (Gibou et al. 2002). How full cells are says where the surface is. A second solve with the same matrix
 * finds a motion that makes crowded cells looser and loose ones fuller: it moves particles and leaves their
 * velocities alone.
 *
 * Blocks depend on their neighbours' last stage alone, so nothing depends on the thread count. Theory and
 * measurements: doc/liquids.md. */
#include "sim/project.h"

#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "solve/multigrid.h"

enum { GRAIN = 4 };

#define TOLERANCE 1e-6      /* of the pressure */
#define TOLERANCE_MOVE 1e-3 /* of the motion that keeps the volume */
#define LIQUID 0.5          /* part of a cell that is full */
#define THETA_LEAST 0.1     /* cells from a liquid cell to the surface */
#define RELAX 0.25          /* part of a cell's error in volume that a step takes away... */
#define RELAX_MOST 0.3      /* ... and the largest that it sees */
#define ROUNDS 4            /* at most, of freeing and taking back what leaves walls */
#define EMPTY 1e-12         /* of a full face's volume */
#define TRUE_LEAST 0.1      /* part of a full face that a solid's is heavy for at least */
#define STRAIN_MOST 0.1     /* of a cell's volume: what a step gives back of it */

typedef struct project_job {
    firn_sim *sim;
    int dim, cells;
    double dt, h, density; /* s, m, kg/m3 of reference */
    double body[3], keep;  /* acceleration, and what damping leaves */
    double jump; /* P per surface tension and curvature; 0 while displacements are solved for */
    int first;   /* of the channels under way */
    bool moving; /* they are velocities, not displacements */
    double *x, *b;
    double *partial;
} project_job;

static void run(project_job *job, firn_task *task)
{
    firn_workers_run(&job->sim->workers, job->sim->at->count, GRAIN, task, job);
}

static double run_most(project_job *job, firn_task *task)
{
    double most = 0;
    run(job, task);
    for (int32_t b = 0; b < job->sim->at->count; b++) most = fmax(most, job->partial[b]);
    return most;
}

/* ---- from particles ---- */

static void open_task(void *context, int64_t b, int32_t thread)
{
    (void)thread;
    const project_job *job = context;
    const firn_sim *sim = job->sim;
    firn_liquid_block *v = firn_liquid_of(sim, b);
    firn_directory_neighbours(sim->at, (int32_t)b, v->near);
    real plane[5][FIRN_CELLS][FIRN_NODE];
    firn_grid_sum_arenas(sim, sim->at, FIRN_STAGGERED_PLANES(job->dim, sim->project.solids), b,
                         plane);
    const double cell = pow(job->h, job->dim);
    for (int a = 0; a < job->dim; a++) {
        v->massive[a] = v->rigid[a] = v->freed[a] = 0;
        for (int c = 0; c < job->cells; c++) {
            const double momentum = (double)plane[a][c][0], mass = (double)plane[a][c][1],
                         volume = (double)plane[a][c][2];
            const bool some = volume > EMPTY * cell && mass > 0;
            if (some) v->massive[a] |= (uint64_t)1 << c;
            v->start[a][c] = some ? (real)(momentum / mass) : 0;
            v->push[a][c] = some ? (real)((double)plane[a][c][3] / mass) : 0;
            v->lightness[a][c] = some ? (real)(job->density * volume / mass) : 1;
            v->mass[a][c] = (real)(mass / (job->density * cell));
            v->share[a][c] = (real)(volume / cell);
        }
    }
    for (int c = 0; c < job->cells; c++) {
        const real *sum = plane[job->dim][c];
        const double volume = (double)sum[0], per = volume > 0 ? 1 / volume : 0;
        v->volume[c] = (real)(volume / cell);
        v->thick[c] = (real)((double)sum[1] / cell);
        v->compliance[c] = (real)((double)sum[2] * per);
        v->strain[c] = (real)((double)sum[3] * per);
        const real *more = plane[job->dim + 1][c];
        v->solid[c] = sim->project.solids ? (real)((double)more[0] * per) : 0;
        v->tension[c] = sim->project.solids ? (real)((double)more[1] * per)
                                            : (real)sim->def.materials[0].surface_tension;
    }
}

/* Faces of solids have their true mass, down to that of a tenth of a cell of them: by m / V a surface would
 * be as heavy as the inside, and stiff solids gain energy (doc/liquids.md). */
static void blend_task(void *context, int64_t b, int32_t thread)
{
    (void)thread;
    const project_job *job = context;
    firn_liquid_block *v = firn_liquid_of(job->sim, b);
    for (int a = 0; a < job->dim; a++) {
        for (uint64_t left = v->massive[a]; left; left &= left - 1) {
            const int c = __builtin_ctzll(left);
            int cell;
            const int32_t below = firn_step_from(v, job->dim, c, a, -1, &cell);
            double volume = (double)v->volume[c], solid = volume * (double)v->solid[c];
            if (below >= 0) {
                const firn_liquid_block *o = firn_liquid_of(job->sim, below);
                volume += (double)o->volume[cell];
                solid += (double)o->volume[cell] * (double)o->solid[cell];
            }
            if (!(solid > 0)) continue;
            const double part = solid / volume, share = (double)v->share[a][c],
                         own = (double)v->mass[a][c] * fmax(1, TRUE_LEAST / share);
            v->lightness[a][c] = (real)(1 / ((1 - part) / (double)v->lightness[a][c] + part * own));
            if (part > 0.5 && share > TRUE_LEAST) v->rigid[a] |= (uint64_t)1 << c;
        }
    }
}

static project_job make_job(firn_sim *sim, double dt)
{
    project_job job = {.sim = sim,
                       .dim = sim->store.dim,
                       .cells = firn_pow(FIRN_BLOCK, sim->store.dim),
                       .dt = dt,
                       .h = sim->def.cell_size,
                       .density = sim->def.materials[0].density,
                       .keep = exp(-sim->def.damping * dt),
                       .x = sim->project.x.data,
                       .b = sim->project.b.data,
                       .partial = sim->project.partial.data};
    if (sim->project.tension > 0) job.jump = dt / (job.density * job.h * job.h);
    firn_grid_body_acceleration(sim, dt, job.body);
    return job;
}

/* ---- cells ---- */

/* How deep below a flat surface the middle of a cell is that is this full, in cells: the inverse of a step
 * smoothed by the quadratic spline. */
static double depth_at(double cover)
{
    if (cover >= 1) return 1.5;
    if (cover <= 0) return -1.5;
    if (cover < 0.5) return -depth_at(1 - cover);
    if (cover > 1 - 1.0 / 6) {
        const double d = 1.5 - cbrt(6 * (1 - cover));
        if (d >= 0.5) return d;
    }
    double d = (cover - 0.5) / 0.75;
    for (int i = 0; i < 4; i++) d -= (0.5 + 0.75 * d - d * d * d / 3 - cover) / (0.75 - d * d);
    return d;
}

/* The face of a cell along axis a, the lower or the upper one: the block that has it, or -1, and its
 * cell. */
static int32_t face_of(const project_job *job, int64_t b, int c, int a, bool upper, int *cell)
{
    if (upper) return firn_step_from(firn_liquid_of(job->sim, b), job->dim, c, a, 1, cell);
    *cell = c;
    return (int32_t)b;
}

static void classify_task(void *context, int64_t b, int32_t thread)
{
    (void)thread;
    const project_job *job = context;
    firn_liquid_block *v = firn_liquid_of(job->sim, b);
    v->liquid = 0;
    for (int c = 0; c < job->cells; c++) {
        v->depth[c] = (real)depth_at((double)v->cover[c]);
        if (firn_bit(v->room, c) && (double)v->cover[c] > LIQUID) v->liquid |= (uint64_t)1 << c;
    }
}

static void predict_task(void *context, int64_t b, int32_t thread)
{
    (void)thread;
    const project_job *job = context;
    const firn_liquid_block *v = firn_liquid_of(job->sim, b);
    for (int a = 0; a < job->dim; a++) {
        real *u = firn_staggered_of(job->sim, b, a);
        for (int c = 0; c < job->cells; c++) {
            const double pushed =
                (double)v->start[a][c] + job->dt * (job->body[a] + (double)v->push[a][c]);
            u[c] = firn_open_part(v, a, c) == 0 ? v->wall_speed[a][c]
                   : firn_bit(v->massive[a], c) ? (real)(job->keep * pushed)
                                                : 0;
        }
    }
}

/* ---- the system ---- */

/* What is beyond a face of a liquid cell. */
typedef struct beyond {
    int32_t block; /* that has the face, or -1: it is closed */
    int cell;      /* the face's */
    double open;
    double coefficient; /* 1 / (rho theta) */
    double jump;        /* P_n: of surface tension, in air */
    bool liquid;        /* there is */
    int32_t other;      /* the cell's block and number, where there is liquid */
    int other_cell;
} beyond;

static beyond look_beyond(const project_job *job, int64_t b, int c, int a, bool upper)
{
    const firn_sim *sim = job->sim;
    const firn_liquid_block *v = firn_liquid_of(sim, b);
    beyond out = {0};
    out.block = face_of(job, b, c, a, upper, &out.cell);
    if (out.block < 0) return out;
    const firn_liquid_block *f = firn_liquid_of(sim, out.block);
    out.open = firn_open_part(f, a, out.cell);
    out.coefficient = (double)f->lightness[a][out.cell];
    out.other = firn_step_from(v, job->dim, c, a, upper ? 1 : -1, &out.other_cell);
    const double bent = job->jump > 0 ? (double)v->curvature[c] : 0;
    double there = -1.5, bent_there = bent;
    if (out.other >= 0) {
        const firn_liquid_block *o = firn_liquid_of(sim, out.other);
        if (job->jump > 0) bent_there = (double)o->curvature[out.other_cell];
        out.liquid = firn_bit(o->liquid, out.other_cell);
        there = (double)o->depth[out.other_cell];
    }
    if (out.liquid) return out;
    if ((double)v->solid[c] > 0.5 || firn_bit(f->freed[a], out.cell)) return out;
    const double here = (double)v->depth[c];
    const double theta = there >= 0 ? 1 : fmin(fmax(here / (here - there), THETA_LEAST), 1);
    out.coefficient /= theta;
    out.jump = job->jump * (double)v->tension[c] * ((1 - theta) * bent + theta * bent_there);
    return out;
}

static void system_task(void *context, int64_t b, int32_t thread)
{
    (void)thread;
    const project_job *job = context;
    firn_sim *sim = job->sim;
    const firn_liquid_block *v = firn_liquid_of(sim, b);
    firn_level *l = sim->project.solver.level;
    for (int c = 0; c < job->cells; c++) {
        const size_t place = (size_t)b * (size_t)job->cells + (size_t)c;
        job->b[place] = 0;
        if (!firn_bit(v->liquid, c)) continue;
        double flow = 0;
        for (int i = 0; i < 2 * job->dim; i++) {
            const int a = i / 2;
            const beyond f = look_beyond(job, b, c, a, i % 2);
            if (f.block < 0) continue;
            const firn_liquid_block *o = firn_liquid_of(sim, f.block);
            const double k = f.open * f.coefficient;
            flow +=
                (i % 2 ? 1 : -1) * (f.open * (double)firn_staggered_of(sim, f.block, a)[f.cell] +
                                    (1 - f.open) * (double)o->wall_speed[a][f.cell]);
            if (f.liquid && i % 2) l->face[a][place] = (real)k;
            if (f.liquid) continue;
            l->anchor[place] += (real)k;
            flow -= k * f.jump;
        }
        const double strain = fmin(fmax((double)v->strain[c], -STRAIN_MOST), STRAIN_MOST);
        job->b[place] = -flow - job->h / job->dt * strain;
        l->mass[place] =
            (real)((double)v->compliance[c] * job->density * job->h * job->h / (job->dt * job->dt));
    }
}

/* The right-hand side of the motion that keeps volume: h times its divergence. */
static void crowd_task(void *context, int64_t b, int32_t thread)
{
    (void)thread;
    const project_job *job = context;
    const firn_liquid_block *v = firn_liquid_of(job->sim, b);
    const firn_level *l = job->sim->project.solver.level;
    for (int c = 0; c < job->cells; c++) {
        const size_t place = (size_t)b * (size_t)job->cells + (size_t)c;
        const bool flows = firn_bit(v->liquid, c) && (double)v->solid[c] <= 0.5;
        double excess = flows ? (double)v->cover[c] - 1 : 0;
        if (excess < 0 && l->anchor[place] > 0)
            excess = 0; /* at the surface cells may be part full */
        job->b[place] = RELAX * fmin(fmax(excess, -RELAX_MOST), RELAX_MOST) * job->h / job->dt;
    }
}

/* Subtracts gradients of the solution from the channels under way; notes which faces they reach. */
static void accelerate_task(void *context, int64_t b, int32_t thread)
{
    (void)thread;
    const project_job *job = context;
    firn_sim *sim = job->sim;
    firn_liquid_block *v = firn_liquid_of(sim, b);
    for (int a = 0; a < job->dim; a++) {
        real *u = firn_staggered_of(sim, b, job->first + a);
        v->known[a] = 0;
        for (int c = 0; c < job->cells; c++) {
            if (!job->moving) u[c] = 0;
            int cell;
            const int32_t below = firn_step_from(v, job->dim, c, a, -1, &cell);
            const bool upper = firn_bit(v->liquid, c),
                       lower = below >= 0 && firn_bit(firn_liquid_of(sim, below)->liquid, cell);
            if (firn_open_part(v, a, c) == 0 || !(upper || lower)) continue;
            const beyond f =
                upper ? look_beyond(job, b, c, a, false) : look_beyond(job, below, cell, a, true);
            const double high = upper ? job->x[(size_t)b * (size_t)job->cells + (size_t)c] : f.jump,
                         low = lower ? job->x[(size_t)below * (size_t)job->cells + (size_t)cell]
                                     : f.jump;
            u[c] = (real)((double)u[c] - f.coefficient * (high - low));
            v->known[a] |= (uint64_t)1 << c;
        }
    }
}

/* The largest divergence times dt that a cell has beyond what it asked for; its pressure and growth go to
 * their channels. */
static void finish_task(void *context, int64_t b, int32_t thread)
{
    (void)thread;
    const project_job *job = context;
    firn_sim *sim = job->sim;
    const firn_liquid_block *v = firn_liquid_of(sim, b);
    const firn_level *l = sim->project.solver.level;
    real *pressure = firn_staggered_of(sim, b, 2 * job->dim),
         *growth = firn_staggered_of(sim, b, 2 * job->dim + 1),
         *liquid = firn_staggered_of(sim, b, 2 * job->dim + 2);
    double most = 0;
    for (int c = 0; c < job->cells; c++) {
        const size_t place = (size_t)b * (size_t)job->cells + (size_t)c;
        const bool wet = firn_bit(v->liquid, c) && l->inverse[place] > 0;
        pressure[c] = wet ? (real)(job->x[place] * job->density * job->h / job->dt) : 0;
        liquid[c] = wet;
        growth[c] = 0;
        if (!wet) continue;
        double flow = 0;
        for (int i = 0; i < 2 * job->dim; i++) {
            int cell;
            const int32_t other = face_of(job, b, c, i / 2, i % 2, &cell);
            if (other < 0) continue;
            const firn_liquid_block *o = firn_liquid_of(sim, other);
            const double open = firn_open_part(o, i / 2, cell);
            flow += (i % 2 ? 1 : -1) * (open * (double)firn_staggered_of(sim, other, i / 2)[cell] +
                                        (1 - open) * (double)o->wall_speed[i / 2][cell]);
        }
        const double strain = fmin(fmax((double)v->strain[c], -STRAIN_MOST), STRAIN_MOST),
                     grown = flow * job->dt / job->h;
        growth[c] = (real)grown;
        most = fmax(
            most, fabs(grown + strain + job->x[place] * (double)l->mass[place] * job->dt / job->h));
    }
    job->partial[b] = most;
}

/* ---- faces around the liquid ---- */

enum { HALO = FIRN_BLOCK + 2 };

/* The faces across axis a of a block and of those around it, -1 to 4: which are known, and their values; 0
 * elsewhere. */
static void load_halo(const project_job *job, const firn_liquid_block *v, int a,
                      real value[HALO * HALO * HALO], bool known[HALO * HALO * HALO])
{
    const firn_sim *sim = job->sim;
    const int rows = job->dim == 3 ? HALO * HALO : HALO;
    for (int r = 0; r < rows; r++) {
        for (int part = 0; part < 3;
             part++) { /* the block before along the row, this one, the next */
            int at[3] = {r / HALO - 1, r % HALO - 1, 4 * part - 4}, cell;
            if (job->dim == 2) {
                at[0] = r - 1;
                at[1] = 4 * part - 4;
            }
            const int first = part == 0 ? FIRN_BLOCK - 1 : 0, count = part == 1 ? FIRN_BLOCK : 1,
                      to = r * HALO + (part == 0   ? 0
                                       : part == 1 ? 1
                                                   : HALO - 1);
            const int32_t other = firn_find_cell(v, job->dim, at, &cell);
            const uint64_t mask = other < 0 ? 0 : firn_liquid_of(sim, other)->known[a];
            const real *u = other < 0 ? NULL : firn_staggered_of(sim, other, job->first + a);
            for (int k = 0; k < count; k++) {
                known[to + k] = firn_bit(mask, cell + first + k);
                value[to + k] = known[to + k] ? u[cell + first + k] : 0;
            }
        }
    }
}

/* Gives faces next to known ones their mean, if particles ask for them: pressure has not seen those of
 * particles in the air. */
static void extrapolate_task(void *context, int64_t b, int32_t thread)
{
    (void)thread;
    const project_job *job = context;
    firn_sim *sim = job->sim;
    firn_liquid_block *v = firn_liquid_of(sim, b);
    const int around = firn_pow(3, job->dim);
    for (int a = 0; a < job->dim; a++) {
        const uint64_t asked = v->massive[a] & ~v->known[a] & ~v->rigid[a];
        v->next[a] = v->known[a];
        uint64_t near = 0;
        for (int i = 0; i < around; i++) {
            if (v->near[i] >= 0) near |= firn_liquid_of(sim, v->near[i])->known[a];
        }
        if (!near || !asked) continue;
        real value[HALO * HALO * HALO];
        bool known[HALO * HALO * HALO];
        load_halo(job, v, a, value, known);
        real *u = firn_staggered_of(sim, b, job->first + a);
        for (uint64_t left = asked; left; left &= left - 1) {
            const int c = __builtin_ctzll(left);
            int at[3], count = 0, from = 0;
            firn_cell_at(job->dim, c, at);
            for (int k = 0; k < job->dim; k++) from = from * HALO + at[k];
            real sum = 0;
            for (int i = 0; i < (job->dim == 3 ? 3 : 1); i++) {
                for (int j = 0; j < 3; j++) {
                    for (int k = 0; k < 3; k++) {
                        const int n = from + (i * HALO + j) * HALO + k;
                        sum += value[n];
                        count += known[n];
                    }
                }
            }
            if (!count) continue;
            u[c] = sum / (real)count;
            v->next[a] |= (uint64_t)1 << c;
        }
    }
}

static void know_task(void *context, int64_t b, int32_t thread)
{
    (void)thread;
    firn_liquid_block *v = firn_liquid_of(((project_job *)context)->sim, b);
    memcpy(v->known, v->next, sizeof v->known);
}

static void extend(project_job *job)
{
    for (int layer = 0; layer < (job->moving ? 1 : 2); layer++) {
        run(job, extrapolate_task);
        run(job, know_task);
    }
    firn_project_mirror(job->sim, job->first, job->moving);
}

/* The velocities before forces, and which faces have one. */
static void recall_task(void *context, int64_t b, int32_t thread)
{
    (void)thread;
    const project_job *job = context;
    firn_liquid_block *v = firn_liquid_of(job->sim, b);
    for (int a = 0; a < job->dim; a++) {
        real *old = firn_staggered_of(job->sim, b, job->first + a);
        v->known[a] = v->massive[a];
        for (int c = 0; c < job->cells; c++)
            old[c] = v->open[a][c] == 0 ? v->wall_speed[a][c] : v->start[a][c];
    }
}

/* What FLIP compares the new velocities with: the old ones, mirrored by walls in the same way. */
static void recall(project_job *job)
{
    job->first = FIRN_STAGGERED_OLD(job->dim);
    run(job, recall_task);
    firn_project_mirror(job->sim, job->first, true);
}

/* The fastest face, those with little on them by what particles feel of them. */
static void speed_task(void *context, int64_t b, int32_t thread)
{
    (void)thread;
    const project_job *job = context;
    const firn_liquid_block *v = firn_liquid_of(job->sim, b);
    double most = 0, check = 0;
    for (int a = 0; a < job->dim; a++) {
        const real *u = firn_staggered_of(job->sim, b, a);
        for (int c = 0; c < job->cells; c++) {
            const double felt = fmin((1 << job->dim) * (double)v->share[a][c], 1);
            if (firn_bit(v->massive[a], c)) most = fmax(most, felt * fabs((double)u[c]));
            check += (double)u[c] * 0; /* stays 0 while all are finite */
        }
    }
    job->partial[b] = check == 0 ? most : INFINITY;
}

/* The fastest face of the channels under way, along its axis. */
static void fastest_task(void *context, int64_t b, int32_t thread)
{
    (void)thread;
    const project_job *job = context;
    job->partial[b] = 0;
    for (int a = 0; a < job->dim; a++) {
        const uint64_t massive = firn_liquid_of(job->sim, b)->massive[a];
        const real *u = firn_staggered_of(job->sim, b, job->first + a);
        for (uint64_t left = massive; left; left &= left - 1) {
            const int c = __builtin_ctzll(left);
            job->partial[b] = fmax(job->partial[b], fabs((double)u[c]));
        }
    }
}

/* The speed along an axis that no particle is above. What flies has its own speed, which light faces'
 * `felt` is below, and pressure makes light faces faster than what flies. */
static double particle_speed(project_job *job, double felt)
{
    double g2 = 0;
    for (int a = 0; a < job->dim; a++) g2 += job->body[a] * job->body[a];
    const double own = sqrt((double)job->sim->extremes.speed2) + sqrt(g2) * job->dt;
    return fmax(felt, fmin(own, run_most(job, fastest_task)));
}

/* Whether predicted velocities are finite: solvers only say that they failed. */
static bool prediction_is_finite(const project_job *job)
{
    double check = 0;
    for (int32_t b = 0; b < job->sim->at->count; b++) {
        const real *u = firn_staggered_of(job->sim, b, 0);
        for (int c = 0; c < job->dim * job->cells; c++) check += (double)u[c] * 0;
    }
    return check == 0;
}

/* The frame in which velocities change least: that of the whole where it flies, and of the walls near them. */
static void find_frame(const project_job *job)
{
    firn_sim *sim = job->sim;
    for (int a = 0; a < job->dim; a++) {
        double momentum = 0, mass = 0;
        for (int32_t b = 0; b < sim->at->count && sim->project.wall_count == 0; b++) {
            const real *u = firn_staggered_of(sim, b, a), *m = firn_liquid_of(sim, b)->mass[a];
            for (int c = 0; c < job->cells; c++) {
                momentum += (double)m[c] * (double)u[c];
                mass += (double)m[c];
            }
        }
        sim->project.frame[a] = mass > 0 ? (real)(momentum / mass) : 0;
    }
}

/* ---- leaving walls ---- */

/* Frees faces at walls that may be left where the pressure pulls, and takes back those that close; counts
 * both. A step that is tried again begins with those last freed. */
static void release_task(void *context, int64_t b, int32_t thread)
{
    (void)thread;
    const project_job *job = context;
    firn_sim *sim = job->sim;
    firn_liquid_block *v = firn_liquid_of(sim, b);
    job->partial[b] = 0;
    if (v->wall < 0) return;
    const firn_wall_block *w = (const firn_wall_block *)sim->project.wall.data + v->wall;
    for (int a = 0; a < job->dim; a++) {
        const real *u = firn_staggered_of(sim, b, a);
        for (uint64_t left = v->massive[a]; left; left &= left - 1) {
            const int c = __builtin_ctzll(left);
            const firn_liquid_wall *f = &w->face[a][c];
            if (f->collider < 0 || !f->separates || !(f->depth < (real)0.5)) continue;
            int cell;
            const int32_t below = firn_step_from(v, job->dim, c, a, -1, &cell);
            double pull = 0;
            bool wet = false;
            if (firn_bit(v->liquid, c)) {
                wet = true;
                pull -= job->x[(size_t)b * (size_t)job->cells + (size_t)c];
            }
            if (below >= 0 && firn_bit(firn_liquid_of(sim, below)->liquid, cell)) {
                wet = true;
                pull -= job->x[(size_t)below * (size_t)job->cells + (size_t)cell];
            }
            const bool freed = firn_bit(v->freed[a], c);
            const double away = ((double)u[c] - (double)v->wall_speed[a][c]) * (double)f->normal[a];
            const bool change = wet && (freed ? away < 0 : pull > 0);
            if (!change) continue;
            v->freed[a] ^= (uint64_t)1 << c;
            job->partial[b]++;
        }
    }
}

/* ---- the step ---- */

static void link_task(void *context, int64_t b, int32_t thread)
{
    (void)thread;
    const project_job *job = context;
    const firn_liquid_block *v = firn_liquid_of(job->sim, b);
    int32_t *link = (int32_t *)job->sim->project.link.data + 6 * b;
    const int middle = firn_pow(3, job->dim) / 2;
    for (int i = 0; i < 2 * job->dim; i++) {
        const int stride = job->dim == 3 ? (i < 2 ? 9 : i < 4 ? 3 : 1) : (i < 2 ? 3 : 1);
        const int32_t other = v->near[middle + (i % 2 ? stride : -stride)];
        link[i] = other < 0 ? job->sim->at->count : other;
    }
}

firn_status firn_project_open(firn_sim *sim, firn_error *error)
{
    const size_t blocks = (size_t)sim->at->count + 1,
                 cells = blocks * (size_t)firn_pow(FIRN_BLOCK, sim->store.dim);
    firn_status st = FIRN_OK;
#define RENEW(pool, size)                                                                          \
    if (st == FIRN_OK) st = firn_pool_renew(sim->allocator, &sim->project.pool, size, error)
    RENEW(block, blocks * sizeof(firn_liquid_block));
    RENEW(staggered, cells * (size_t)FIRN_STAGGERED(sim->store.dim) * sizeof(real));
    RENEW(x, cells * sizeof(double));
    RENEW(b, cells * sizeof(double));
    RENEW(partial, blocks * sizeof(double));
    RENEW(link, blocks * 6 * sizeof(int32_t));
    if (st == FIRN_OK && sim->project.shears) st = firn_project_shear_reserve(sim, error);
#undef RENEW
    if (st != FIRN_OK) return st;
    project_job job = make_job(sim, 0);
    run(&job, open_task);
    if (sim->project.solids) run(&job, blend_task);
    run(&job, link_task);
    st = firn_project_walls(sim, error);
    if (st != FIRN_OK) return st;
    run(&job, classify_task);
    if (sim->project.tension > 0) firn_project_surface(sim);
    return firn_project_bodies(sim, error);
}

/* Solves for x, books what it took, and applies it to the channels under way. */
static bool solve(project_job *job)
{
    firn_sim *sim = job->sim;
    const firn_solution s = firn_multigrid_solve(&sim->project.solver, job->b, job->x,
                                                 job->moving ? TOLERANCE : TOLERANCE_MOVE,
                                                 (int32_t)sim->def.solver_iterations);
    sim->report.iterations += s.iterations;
    if (!s.converged) {
        sim->grid.finite = prediction_is_finite(job);
        return false;
    }
    if (job->moving) sim->report.residual = fmax(sim->report.residual, s.residual);
    run(job, accelerate_task);
    return true;
}

firn_status firn_project_solve(firn_sim *sim, double dt, double crossing, firn_limit *broken,
                               double *dt_fit, firn_error *error)
{
    firn_multigrid *solver = &sim->project.solver;
    project_job job = make_job(sim, dt);
    *broken = FIRN_LIMIT_SOLVER;
    *dt_fit = dt / 2;
    sim->grid.finite = true;
    job.moving = true;
    for (int round = 0;; round++) {
        run(&job, predict_task);
        if (sim->project.shears && !firn_project_shear(sim, dt)) {
            sim->grid.finite = prediction_is_finite(&job);
            return FIRN_OK;
        }
        firn_status st = firn_multigrid_reserve(
            solver, job.dim, sim->at->count, (const int32_t(*)[3])sim->at->coord,
            sim->project.link.data, &sim->workers, sim->allocator, error);
        if (st != FIRN_OK) return st;
        run(&job, system_task);
        st = firn_multigrid_setup(solver, sim->allocator, error);
        if (st != FIRN_OK) return st;
        if (!solve(&job)) return FIRN_OK;
        if (round == ROUNDS || run_most(&job, release_task) == 0) break;
    }
    const double divergence = run_most(&job, finish_task);
    extend(&job);
    firn_project_keep_momentum(sim, dt, job.keep, job.body);
    sim->grid.max_speed = run_most(&job, speed_task);
    sim->grid.finite = isfinite(sim->grid.max_speed);
    find_frame(&job);
    *broken = FIRN_LIMIT_FORCE;
    *dt_fit = fmin(crossing * job.h / sim->grid.max_speed, dt) * 0.9;
    if (!(sim->grid.max_speed * dt <= crossing * job.h)) return FIRN_OK;
    const double speed = particle_speed(&job, sim->grid.max_speed);

    run(&job, crowd_task);
    job.moving = false;
    job.jump = 0;
    job.first = job.dim;
    *broken = FIRN_LIMIT_SOLVER;
    *dt_fit = dt / 2;
    if (!solve(&job)) return FIRN_OK;
    extend(&job);
    sim->project.way = (speed + run_most(&job, fastest_task)) * dt / job.h;
    sim->report.divergence = fmax(sim->report.divergence, divergence);
    if (firn_transfer_is_flip(sim->def.transfer)) recall(&job);
    *broken = FIRN_LIMIT_NONE;
    return FIRN_OK;
}

void firn_project_free(firn_project *p, const firn_allocator *allocator)
{
    firn_pool *pools[] = {
        &p->block, &p->staggered, &p->wall,         &p->x,    &p->b,          &p->partial,
        &p->link,  &p->shear,     &p->shear_vector, &p->body, &p->body_number};
    for (size_t i = 0; i < sizeof pools / sizeof *pools; i++) firn_pool_free(allocator, pools[i]);
    firn_multigrid_free(&p->solver, allocator);
}
