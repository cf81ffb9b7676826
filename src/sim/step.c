/* The step: the method's outline.
 *
 * One step is: directory of touched blocks - scatter - forces, colliders - gather - bins. The plain
 * path runs exactly that, once per step (plain_step). The fused path opens an advance with a
 * scatter and closes it with a gather, and in between gathers and scatters each particle in one
 * pass (fused_advance). Either way the state between calls is the particles, their order, the last
 * free dt, what AUTO remembers of it and how dense bodies have been; the grid lives only
 * inside a step.
 *
 * Broken limits. Whatever can be known before particles are touched is checked there: the plain
 * path rescales velocities and dt after forces, the opening scatters again with a smaller dt. A
 * fused pass has to commit to the next dt before it knows the next state; when that turns out too
 * long it goes back to a snapshot. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/parallel.h"
#include "sim/sim.h"

enum {
    REORDER_EVERY = 25, /* steps between reorderings; in a fused advance each is a snapshot */
    OPENING_TRIES = 60, /* each at least halves dt */
};

/* A fused step is taken back when its dt turns out this much above the automatic limit... */
#define LIMIT_SLACK 1.25
/* ... or its fastest node crosses this part of a cell, whatever the limits asked for. */
#define CELL_LIMIT 0.9
/* Projected steps may turn out this much longer than def.crossing, and particles move by this part of a
 * cell at a time: bins reach no further than a cell. */
#define CROSSING_SLACK 1.15
#define MOVE_LIMIT 0.97
/* Time left below this part of what was asked for is rounding. */
#define TIME_LEFT 1e-12
/* A step may be this much longer than the one before; after impacts, which shorten implicit ones,
 * a block of 1e8 Pa bounces too low with 1.5. */
#define GROWTH 1.1
#define GROWTH_IMPLICIT 1.25
#define GROWTH_PROJECTED 2

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Books the time since *mark under a phase and moves the mark. */
static void book(firn_sim *sim, int phase, double *mark)
{
    double now = seconds_now();
    sim->report.phase_seconds[phase] += now - *mark;
    *mark = now;
}

bool firn_sim_is_idle(const firn_sim *sim, firn_error *error)
{
    if (sim && !sim->advancing) return true;
    firn_fail(error, FIRN_INVALID,
              sim ? "the sim is advancing: hooks cannot use it; do so when the advance returns"
                  : "sim is NULL; create one first");
    return false;
}

/* ---- passes ---- */

firn_pass firn_sim_pass(const firn_sim *sim)
{
    const firn_sim_def *def = &sim->def;
    const firn_store *s = &sim->store;
    return (firn_pass){
        .from = sim->from,
        .at = sim->at,
        .order = s->order[s->current],
        .order_out = s->order[s->current ^ 1],
        .store = s,
        .velocity = sim->grid.velocity.data,
        .velocity_old = sim->grid.velocity_old.data,
        .arena = sim->grid.arena.data,
        .touched = sim->grid.touched.data,
        .arena_channels = FIRN_NODE * sim->planes,
        .staggered = sim->project.staggered.data,
        .implicit_shear = sim->shear_pool.data,
        .solids = sim->project.solids,
        .transfer = def->transfer,
        .spline = def->spline,
        .force_form = def->force_form,
        .cell_size = def->cell_size,
        .materials = sim->constant_pool.data,
        .laws = sim->law_pool.data,
        .material_count = def->material_count,
        .rest_density = sim->rest_density,
        .colliders = sim->posed_pool.data,
        .collider_count = def->collider_count,
        .extremes = sim->extremes_pool.data,
        .tangents = sim->implicit.tangents.data,
        .group = sim->implicit.group.data,
        .cell = sim->implicit.cell.data,
        .differential_law = sim->implicit.differential_law,
    };
}

typedef struct pass_job {
    const firn_pass *pass;
    firn_pass_function *kernel;
    firn_scratch *scratch;
} pass_job;

static void pass_superblock(void *context, int64_t superblock, int32_t thread)
{
    const pass_job *job = context;
    job->kernel(job->pass, job->pass->at->super_order[superblock], &job->scratch[thread]);
}

void firn_sim_run_pass(firn_sim *sim, const firn_pass *pass, firn_pass_function *kernel)
{
    pass_job job = {pass, kernel, sim->scratch};
    firn_workers_run(&sim->workers, sim->at->super_count, 1, pass_superblock, &job);
}

/* The step that a gather finishes. */
static void set_gather_step(const firn_sim *sim, firn_pass *pass, double dt)
{
    pass->dt = dt;
    pass->impulse = sim->grid.impulse.data;
    pass->impulse_first = sim->grid.impulse_first.data;
    pass->flip = (real)pow(sim->def.flip_ratio, dt / sim->def.flip_interval);
}

/* The extremes over all superblocks of the pass just run. */
static firn_extremes merged_extremes(const firn_sim *sim)
{
    const firn_extremes *part = sim->extremes_pool.data;
    firn_extremes e = {0};
    for (int32_t i = 0; i < sim->at->super_count; i++) {
        if (part[i].speed2 > e.speed2) e.speed2 = part[i].speed2;
        if (part[i].gradient > e.gradient) e.gradient = part[i].gradient;
        if (part[i].wave2 > e.wave2) e.wave2 = part[i].wave2;
        if (part[i].lone2 > e.lone2) e.lone2 = part[i].lone2;
        if (part[i].diffusion > e.diffusion) e.diffusion = part[i].diffusion;
        if (part[i].shear2 > e.shear2) e.shear2 = part[i].shear2;
    }
    return e;
}

/* Buffers of one thread for blocks of up to `largest` particles; vectors overrun, per row of cells
 * and by what they look ahead. */
static firn_status reserve_scratch(firn_sim *sim, firn_scratch *s, uint32_t largest,
                                   firn_error *error)
{
    const size_t rows = 16, lanes = (size_t)sim->kernels->lanes;
    const size_t n = ((size_t)largest + (rows + 4) * lanes + 15) / 16 * 16;
    if (n <= s->room) return FIRN_OK; /* never smaller: a snapshot may bring fuller blocks back */
    const size_t scatter = FIRN_SCATTER_REALS * sizeof(real);
    const size_t size =
        n * (sizeof(uint32_t) + 2 * sizeof(firn_scatter_index) + sizeof(uint16_t) + scatter) +
        5 * (size_t)FIRN_ALIGN;
    firn_status st = firn_pool_reserve_slack(sim->allocator, &s->pool, size, error);
    if (st != FIRN_OK) return st;
    char *p = s->pool.data;
#define CUT(member, bytes)                                                                         \
    s->member = (void *)p;                                                                         \
    p += ((bytes) + FIRN_ALIGN - 1) / FIRN_ALIGN * FIRN_ALIGN
    CUT(scatter, n * scatter);
    CUT(index, n * sizeof(uint32_t));
    CUT(where, n * sizeof(firn_scatter_index));
    CUT(slot, n * sizeof(firn_scatter_index));
    CUT(cell, n * sizeof(uint16_t));
#undef CUT
    s->room = n;
    return FIRN_OK;
}

firn_status firn_sim_prepare(firn_sim *sim, int32_t planes, firn_error *error)
{
    enum { MOST_IN_BLOCK = 1 << 26 }; /* 32-bit offsets reach 44 numbers of each */
    firn_status st = firn_directory_build(sim->at, sim->from, sim->block_peak, &sim->workers,
                                          sim->allocator, &sim->key_scratch, error);
    if (st == FIRN_OK && sim->at->largest > MOST_IN_BLOCK) {
        return firn_fail(error, FIRN_NO_MEMORY, "%u particles in one grid block; use smaller cells",
                         sim->at->largest);
    }
    if (sim->at->count > sim->block_peak) sim->block_peak = sim->at->count;
    if (st == FIRN_OK) st = firn_grid_reserve(sim, planes, error);
    if (st == FIRN_OK) {
        st = firn_pool_reserve_slack(sim->allocator, &sim->extremes_pool,
                                     (size_t)sim->at->super_count * sizeof(firn_extremes), error);
    }
    for (int32_t t = 0; t < sim->workers.count && st == FIRN_OK; t++) {
        st = reserve_scratch(sim, &sim->scratch[t], sim->at->largest, error);
    }
    return st;
}

firn_status firn_sim_scatter_forces(firn_sim *sim, firn_pass *pass, firn_error *error)
{
    enum { PLANES = 2 };
    double mark = seconds_now();
    firn_status st = firn_sim_prepare(sim, PLANES, error);
    if (st == FIRN_OK) st = firn_grid_reserve_arenas(sim, PLANES, error);
    book(sim, FIRN_PHASE_DIRECTORY, &mark);
    if (st != FIRN_OK) return st;
    *pass = firn_sim_pass(sim);
    pass->arena_channels = PLANES * FIRN_NODE;
    pass->dt_scatter = 1; /* impulses per second: forces */
    firn_sim_run_pass(sim, pass,
                      sim->path == FIRN_PATH_FUSED ? sim->kernels->fast_scatter[1]
                                                   : sim->kernels->plain_scatter);
    book(sim, FIRN_PHASE_PARTICLES, &mark);
    return FIRN_OK;
}

/* Scatters to the staggered grid for a step of dt. */
static void scatter_again(firn_sim *sim, double dt)
{
    double mark = seconds_now();
    firn_pass pass = firn_sim_pass(sim);
    pass.arena_channels = FIRN_STAGGERED_PLANES(sim->store.dim, sim->project.solids) * FIRN_NODE;
    pass.dt_scatter = dt;
    firn_sim_run_pass(sim, &pass, sim->kernels->staggered_scatter);
    book(sim, FIRN_PHASE_PARTICLES, &mark);
}

firn_status firn_sim_scatter_staggered(firn_sim *sim, double dt, firn_error *error)
{
    const int32_t planes = FIRN_STAGGERED_PLANES(sim->store.dim, sim->project.solids);
    double mark = seconds_now();
    firn_status st = firn_sim_prepare(sim, 1, error);
    if (st == FIRN_OK) st = firn_grid_reserve_arenas(sim, planes, error);
    book(sim, FIRN_PHASE_DIRECTORY, &mark);
    if (st == FIRN_OK) scatter_again(sim, dt);
    return st;
}

/* A gathering pass has written at's bins and the other order list: they are where particles are
 * now. */
static void turn_page(firn_sim *sim)
{
    firn_reaction_commit(sim);
    sim->from = sim->at;
    sim->at = sim->directory;
    while (sim->at == sim->from || sim->at == sim->snapshot.from || sim->at == sim->snapshot.at) {
        sim->at++;
    }
    sim->store.current ^= 1;
}

/* ---- bookkeeping of steps ---- */

static void begin_report(firn_sim *sim)
{
    sim->report = (firn_report){.dt_least = INFINITY};
    sim->retry_cap = sim->retry_until = 0;
    sim->snapshot.cap = sim->snapshot.until = 0;
    firn_reaction_reset(sim);
    sim->generation++;
}

static void count_step(firn_sim *sim, firn_dt step)
{
    sim->time += step.dt;
    sim->layers.moved += step.dt * sim->grid.max_speed / sim->def.cell_size;
    sim->report.steps++;
    sim->report.dt = step.dt;
    sim->report.limit = step.limit;
    if (step.dt < sim->report.dt_least) sim->report.dt_least = step.dt;
    if (sim->time >= sim->retry_until) sim->retry_cap = 0;
}

static void end_report(firn_sim *sim, firn_report *report)
{
    sim->report.time = sim->time;
    sim->report.dt_next = sim->dt_next;
    sim->report.max_speed = sim->grid.max_speed;
    sim->report.blocks = sim->from->count;
    if (sim->report.steps == 0) sim->report.dt_least = 0;
    if (report) *report = sim->report;
}

/* Asks the caller's hook whether to go on. */
static firn_status ask_hook(firn_sim *sim, firn_error *error)
{
    if (!sim->def.step_hook) return FIRN_OK;
    firn_report report = sim->report;
    report.time = sim->time;
    report.max_speed = sim->grid.max_speed;
    report.blocks = sim->from->count;
    if (sim->def.step_hook(sim->def.step_user_data, &report) == 0) return FIRN_OK;
    return firn_fail(error, FIRN_STOPPED, "stopped by the step hook at %g s", sim->time);
}

/* What would let steps be longer. */
static const char *remedy(const firn_sim *sim, firn_limit limit)
{
    switch (limit) {
    case FIRN_LIMIT_WAVE:
    case FIRN_LIMIT_PARTICLE:
        return "soften the material, make it denser, use larger cells or lower dt_min";
    case FIRN_LIMIT_VISCOSITY:
        return "make the material less viscous or denser, use larger cells or lower dt_min";
    case FIRN_LIMIT_SURFACE:
        return "lower surface_tension, make the liquid denser, use larger cells or lower dt_min";
    case FIRN_LIMIT_COLLIDER: return "move the collider slower, use larger cells or lower dt_min";
    case FIRN_LIMIT_IMPACT:
    case FIRN_LIMIT_STRAIN: return "slow it down or lower dt_min";
    case FIRN_LIMIT_FINITE: return "look for infinite or undefined forces";
    case FIRN_LIMIT_SOLVER:
        return sim->def.pressure == FIRN_PRESSURE_PROJECTION
                   ? "allow more solver_iterations, or use pressure none"
                   : "allow more solver_iterations, or use integrator explicit";
    default: return "slow it down, use larger cells or lower dt_min";
    }
}

static firn_status give_up(const firn_sim *sim, firn_limit limit, double dt, firn_error *error)
{
    char who[160];
    firn_dt_blame(sim, limit, who, sizeof who);
    return firn_fail(
        error, FIRN_DIVERGED,
        "no time step down to %g s holds the %s limit at time %g s (last tried %g s)%s%s; %s",
        sim->def.dt_min, firn_limit_name(limit), sim->time, dt, who[0] ? ": " : "", who,
        remedy(sim, limit));
}

static void tell_retry(firn_sim *sim, firn_limit broken, double dt, double next)
{
    sim->report.retries++;
    if (!sim->def.log.write) return;
    char text[160];
    snprintf(text, sizeof text, "at %g s a step of %g s broke the %s limit; again with %g s",
             sim->time, dt, firn_limit_name(broken), next);
    sim->def.log.write(sim->def.log.user_data, FIRN_LOG_WARNING, "step", text);
}

/* Whether a step is shorter than the def allows, other than by the end of the time asked for. */
static bool below_floor(const firn_sim *sim, const firn_dt *step, double remaining)
{
    return sim->dt_free < sim->def.dt_min && step->dt < remaining;
}

/* ---- the plain path ---- */

/* What plain and implicit steps open with. */
static firn_status open_step(firn_sim *sim, firn_pass *pass, firn_error *error)
{
    const firn_status st = firn_sim_scatter_forces(sim, pass, error);
    if (st != FIRN_OK) return st;
    sim->extremes = merged_extremes(sim);
    firn_sim_pose_colliders(sim, sim->time);
    return FIRN_OK;
}

/* Between scatter and gather the velocity gradients are spent and not yet made anew: the spare buffer
 * is free. */
static void reorder_in_turn(firn_sim *sim, double *mark)
{
    if (++sim->plain_steps % REORDER_EVERY != 0) return;
    firn_store_reorder(&sim->store, &sim->workers);
    book(sim, FIRN_PHASE_REORDER, mark);
}

/* One step of at most `remaining` seconds. */
static firn_status plain_step(firn_sim *sim, double remaining, firn_error *error)
{
    const double h = sim->def.cell_size;
    firn_pass pass;
    firn_status st = open_step(sim, &pass, error);
    if (st != FIRN_OK) return st;
    double mark = seconds_now();
    firn_dt step = firn_dt_choose(sim, firn_dt_limit(sim, &sim->extremes, 0), remaining);
    firn_grid_sum(sim, sim->def.force_hook != NULL);
    firn_grid_probe(sim, step.dt);
    if (!sim->grid.finite) return give_up(sim, FIRN_LIMIT_FINITE, step.dt, error);
    const double part = sim->def.dt > 0 ? CELL_LIMIT : sim->def.courant;
    if (sim->grid.max_speed * step.dt >
        part * h * 1.01) { /* rescale dt, and with it what forces do */
        step = (firn_dt){part * h / sim->grid.max_speed, FIRN_LIMIT_FORCE};
        sim->dt_free = step.dt;
    }
    if (below_floor(sim, &step, remaining)) return give_up(sim, step.limit, step.dt, error);
    firn_sim_pose_colliders(sim, sim->time + step.dt);
    st = firn_grid_apply(sim, step.dt, error);
    book(sim, FIRN_PHASE_GRID, &mark);
    if (st != FIRN_OK) return st;

    reorder_in_turn(sim, &mark);
    set_gather_step(sim, &pass, step.dt);
    firn_sim_run_pass(sim, &pass, sim->kernels->plain_gather);
    turn_page(sim);
    book(sim, FIRN_PHASE_PARTICLES, &mark);

    sim->dt_next = GROWTH * sim->dt_free;
    count_step(sim, step);
    return FIRN_OK;
}

/* Steps of the plain, the implicit or the projected kind, one after the other. */
typedef firn_status step_function(firn_sim *sim, double remaining, firn_error *error);

static firn_status advance_by(step_function *step, firn_sim *sim, double seconds, bool single,
                              firn_error *error)
{
    const double end = sim->time + seconds;
    sim->lightest = INFINITY;
    for (int64_t i = 0; i < sim->store.count; i++) {
        sim->lightest = fmin(sim->lightest, (double)sim->store.mass[i]);
    }
    do {
        firn_status st = firn_layers_update(sim, error);
        if (st == FIRN_OK) st = step(sim, end - sim->time, error);
        if (st == FIRN_OK) st = ask_hook(sim, error);
        if (st != FIRN_OK) return st;
    } while (!single && end - sim->time > TIME_LEFT * seconds);
    if (!single) sim->time = end;
    return FIRN_OK;
}

/* ---- implicit steps ---- */

/* One step of at most `remaining` seconds. Particles are untouched until its velocities are found, so
 * a step that does not hold is simply solved again with less. */
static firn_status implicit_step(firn_sim *sim, double remaining, firn_error *error)
{
    const bool fast = sim->path == FIRN_PATH_FUSED, flip = firn_transfer_is_flip(sim->def.transfer);
    const firn_kernels *kernels = sim->kernels;
    firn_pass pass;
    firn_status st = open_step(sim, &pass, error);
    if (st == FIRN_OK) st = firn_implicit_reserve(sim, error);
    if (st != FIRN_OK) return st;
    double mark = seconds_now();
    pass.tangents = sim->implicit.tangents.data;
    pass.group = sim->implicit.group.data;
    pass.cell = sim->implicit.cell.data;
    firn_dt step = firn_dt_choose(sim, firn_dt_limit_implicit(sim, &sim->extremes), remaining);
    pass.dt = step.dt; /* what flows is the softer the longer the step; close enough if it is cut */
    firn_sim_run_pass(sim, &pass, kernels->tangent[fast]);
    book(sim, FIRN_PHASE_PARTICLES, &mark);

    firn_grid_sum(sim, sim->def.force_hook != NULL);
    firn_grid_probe(sim, step.dt);
    if (!sim->grid.finite) return give_up(sim, FIRN_LIMIT_FINITE, step.dt, error);
    book(sim, FIRN_PHASE_GRID, &mark);
    double dt_fit;
    for (;;) {
        firn_limit broken;
        if (below_floor(sim, &step, remaining)) return give_up(sim, step.limit, step.dt, error);
        firn_sim_pose_colliders(sim, sim->time + step.dt);
        st = firn_implicit_solve(sim, step.dt, CELL_LIMIT, &broken, &dt_fit, error);
        if (st != FIRN_OK) return st;
        if (broken == FIRN_LIMIT_NONE) break;
        if (broken != FIRN_LIMIT_IMPACT) tell_retry(sim, broken, step.dt, dt_fit);
        sim->dt_free = dt_fit;
        /* In halves rather than with a sliver left over. */
        const bool sliver = dt_fit < remaining && remaining < 2 * dt_fit;
        step = (firn_dt){sliver ? remaining / 2 : dt_fit, broken};
    }
    book(sim, FIRN_PHASE_SOLVE, &mark);

    reorder_in_turn(sim, &mark);
    set_gather_step(sim, &pass, step.dt);
    pass.velocity_moved = sim->grid.velocity_moved.data;
    firn_sim_run_pass(sim, &pass, fast ? kernels->moved_gather[flip] : kernels->plain_gather);
    turn_page(sim);
    book(sim, FIRN_PHASE_PARTICLES, &mark);

    /* A step cut short by the end of the time asked for says little of how long others may be. */
    sim->dt_next = GROWTH_IMPLICIT * sim->dt_free;
    if (step.dt >= sim->dt_free) sim->dt_next = fmin(sim->dt_next, dt_fit);
    sim->report.integrator = FIRN_IMPLICIT;
    count_step(sim, step);
    return FIRN_OK;
}

/* ---- projection ---- */

/* The largest surface tension for a step from now, but for those that matter less than 1 % of a cell's
 * weight. */
static double notable_tension(const firn_sim *sim)
{
    const double h = sim->def.cell_size;
    double a[3], g2 = 0, most = 0;
    firn_grid_body_acceleration(sim, sim->def.dt_max, a);
    for (int i = 0; i < sim->def.dimension; i++) g2 += a[i] * a[i];
    for (int32_t i = 0; i < sim->def.material_count; i++) {
        const firn_material_def *m = &sim->materials[i];
        const double least = 0.01 * m->density * sqrt(g2) * h * h;
        if (m->surface_tension > least) most = fmax(most, m->surface_tension);
    }
    return most;
}

/* Moves particles by part i of n of a step; the first gathers their velocities. */
static firn_status move_projected(firn_sim *sim, const firn_dt *step, int i, int n,
                                  firn_error *error)
{
    firn_status st = i > 0 ? firn_sim_prepare(sim, 1, error) : FIRN_OK;
    firn_sim_pose_colliders(sim, sim->time + step->dt * (i + 1) / n);
    if (st == FIRN_OK && sim->def.collider_count) st = firn_reaction_list(sim, error);
    if (st != FIRN_OK) return st;
    if (i == 0 && sim->def.collider_count) firn_project_book(sim, step->dt);
    firn_pass pass = firn_sim_pass(sim);
    set_gather_step(sim, &pass, step->dt);
    pass.dt = step->dt / n;
    pass.dt_step = step->dt;
    pass.dt_past = step->dt * i / n;
    memcpy(pass.frame, sim->project.frame, sizeof pass.frame);
    firn_sim_run_pass(sim, &pass,
                      i > 0 ? sim->kernels->staggered_drift : sim->kernels->staggered_gather);
    turn_page(sim);
    return FIRN_OK;
}

/* One step of at most `remaining` seconds. As with implicit steps, particles wait until it holds. How soft
 * their shear is depends on its length: a wrong guess is scattered again. */
static firn_status projected_step(firn_sim *sim, double remaining, firn_error *error)
{
    const bool depends = sim->project.shears && sim->project.solids;
    sim->project.tension = notable_tension(sim);
    double scattered =
        firn_dt_choose(sim, firn_dt_limit_project(sim, &sim->extremes), remaining).dt;
    firn_status st = firn_sim_scatter_staggered(sim, scattered, error);
    if (st != FIRN_OK) return st;
    double mark = seconds_now();
    sim->extremes = merged_extremes(sim);
    firn_sim_pose_colliders(sim, sim->time); /* where they belong to the particles as they are */
    firn_dt step = firn_dt_choose(sim, firn_dt_limit_project(sim, &sim->extremes), remaining);
    bool open = false;
    for (;;) {
        firn_limit broken = FIRN_LIMIT_NONE;
        double dt_fit;
        if (below_floor(sim, &step, remaining)) return give_up(sim, step.limit, step.dt, error);
        if (depends && scattered != step.dt) {
            scatter_again(sim, scattered = step.dt);
            mark = seconds_now();
            open = false;
        }
        if (!open) st = firn_project_open(sim, error);
        open = true;
        book(sim, FIRN_PHASE_GRID, &mark);
        if (st == FIRN_OK) {
            st = firn_project_solve(sim, step.dt, CROSSING_SLACK * sim->def.crossing, &broken,
                                    &dt_fit, error);
        }
        if (st != FIRN_OK) return st;
        if (broken == FIRN_LIMIT_NONE) break;
        tell_retry(sim, broken, step.dt, dt_fit);
        sim->dt_free = sim->retry_cap = dt_fit;
        sim->retry_until = INFINITY;
        step = (firn_dt){dt_fit, sim->grid.finite ? broken : FIRN_LIMIT_FINITE};
    }
    book(sim, FIRN_PHASE_SOLVE, &mark);

    reorder_in_turn(sim, &mark);
    const int moves = (int)fmax(ceil(sim->project.way / MOVE_LIMIT), 1);
    for (int i = 0; i < moves && st == FIRN_OK; i++)
        st = move_projected(sim, &step, i, moves, error);
    book(sim, FIRN_PHASE_PARTICLES, &mark);
    if (st != FIRN_OK) return st; /* particles keep what they have come to */

    sim->dt_next = GROWTH_PROJECTED * sim->dt_free;
    sim->retry_cap *= GROWTH; /* what broke a step mostly lasts: doubled, every other would break */
    count_step(sim, step);
    return st;
}

/* Which integrator is cheaper for the state as it is. An implicit step costs as much as BASE explicit
 * ones and PRODUCT for each product of its solver, which takes the more the more explicit steps it
 * replaces; and impacts make steps SHORTER than they could be (measured: doc/implicit.md), or by more
 * where some hold the advance up. Those come in bouts: it is then explicit for PATIENCE more. */
static firn_status cheaper_integrator(firn_sim *sim, firn_integrator *out, firn_error *error)
{
    const double BASE = 3.5, PRODUCT = 0.6, ITERATIONS = 3.3, EXPONENT = 0.53, SHORTER = 1.5;
    enum { PATIENCE = 8 };
    firn_pass pass;
    firn_status st = open_step(sim, &pass, error);
    if (st != FIRN_OK) return st;
    const firn_dt limit = firn_dt_limit(sim, &sim->extremes, 0);
    const double longest = firn_dt_limit_implicit(sim, &sim->extremes).dt;
    const bool after_implicit = sim->explicit_left < 0;
    const bool held_up = after_implicit && sim->dt_next > 0 && sim->dt_next < longest / SHORTER;
    const double replaced = (held_up ? sim->dt_next : longest) / limit.dt;
    const double cost =
        (held_up ? 1 : SHORTER) * (BASE + PRODUCT * (1 + ITERATIONS * pow(replaced, EXPONENT)));
    const bool pays = sim->def.dt == 0 && sim->explicit_left <= 0 && replaced > cost;
    *out = pays ? FIRN_IMPLICIT : FIRN_EXPLICIT;
    const int32_t left = sim->explicit_left > 0 ? sim->explicit_left - 1 : 0;
    sim->explicit_left = pays ? -1 : held_up ? PATIENCE : left;
    /* What the other kind's steps were like must not hold this one up. */
    if (pays && !after_implicit) sim->dt_next = 0;
    if (!pays && (after_implicit || sim->dt_next > limit.dt)) {
        sim->dt_next = limit.dt;
        sim->limit_next = limit.limit;
    }
    if (sim->def.log.write && sim->told != 1 + (int32_t)*out) {
        sim->told = 1 + (int32_t)*out;
        char text[160];
        snprintf(text, sizeof text,
                 "from %g s on %s: a long step replaces %.3g short ones and costs as much as %.3g",
                 sim->time, firn_integrator_name(*out), replaced, cost);
        sim->def.log.write(sim->def.log.user_data, FIRN_LOG_INFO, "integrator", text);
    }
    return FIRN_OK;
}

/* ---- the fused path ---- */

/* What is wrong with a step that has been scattered with dt, if anything: FIRN_LIMIT_NONE, or the
 * limit that broke; *dt_fit is a step that should do. */
static firn_limit broken_limit(const firn_sim *sim, double dt, double *dt_fit)
{
    const double h = sim->def.cell_size;
    if (!sim->grid.finite) {
        *dt_fit = dt / 2;
        return FIRN_LIMIT_FINITE;
    }
    if (sim->grid.max_speed * dt > CELL_LIMIT * h) {
        *dt_fit = sim->def.courant * h / sim->grid.max_speed;
        return FIRN_LIMIT_FORCE;
    }
    if (sim->def.dt > 0) return FIRN_LIMIT_NONE;
    /* Colliders were asked where they were at its start; they may have come near since. */
    firn_dt limit = firn_dt_limit_material(sim, &sim->extremes, 0);
    if (dt > LIMIT_SLACK * limit.dt) {
        *dt_fit = limit.dt;
        return limit.limit;
    }
    return FIRN_LIMIT_NONE;
}

/* Caps steps below what broke at this dt, until the end of that step. False when the floor is
 * reached. */
static bool shorten(firn_sim *sim, firn_limit broken, double dt, double dt_fit, double until)
{
    /* A replay comes by where earlier ones broke: the smallest cap holds until all are behind. */
    firn_snapshot *s = &sim->snapshot;
    const double cap = fmin(dt_fit, dt / 2);
    s->cap = s->cap > 0 ? fmin(s->cap, cap) : cap;
    s->until = fmax(s->until, until);
    sim->retry_cap = s->cap;
    sim->retry_until = s->until;
    tell_retry(sim, broken, dt, s->cap);
    return sim->retry_cap >= sim->def.dt_min;
}

/* Scatters with a dt that holds and updates the grid: *step is pending when it returns. Particles
 * are untouched, so a step that does not hold is simply scattered anew. */
static firn_status open_fused(firn_sim *sim, double remaining, firn_dt *step, firn_error *error)
{
    double mark = seconds_now();
    firn_status st = firn_sim_prepare(sim, sim->planes, error);
    if (st == FIRN_OK) st = firn_grid_reserve_arenas(sim, sim->planes, error);
    book(sim, FIRN_PHASE_DIRECTORY, &mark);
    if (st != FIRN_OK) return st;
    firn_pass pass = firn_sim_pass(sim);
    const bool first = sim->dt_next == 0;
    firn_limit broken = FIRN_LIMIT_NONE;
    firn_dt limit = {first ? sim->def.dt_max : sim->dt_next, sim->limit_next};
    for (int i = 0; i < OPENING_TRIES; i++) {
        firn_sim_pose_colliders(sim, sim->time);
        *step = firn_dt_choose(sim, firn_dt_limit_colliders(sim, limit), remaining);
        pass.dt_scatter = step->dt;
        firn_sim_run_pass(sim, &pass, sim->kernels->fast_scatter[sim->planes - 1]);
        sim->extremes = merged_extremes(sim);
        limit = firn_dt_limit(sim, &sim->extremes, 0);
        book(sim, FIRN_PHASE_PARTICLES, &mark);
        firn_sim_pose_colliders(sim, sim->time + step->dt);
        st = firn_grid_update_fused(sim, sim->at, step->dt, error);
        book(sim, FIRN_PHASE_GRID, &mark);
        if (st != FIRN_OK) return st;
        double dt_fit = 0;
        broken = broken_limit(sim, step->dt, &dt_fit);
        if (broken == FIRN_LIMIT_NONE) {
            if (below_floor(sim, step, remaining)) break;
            sim->dt_next = GROWTH * sim->dt_free;
            return FIRN_OK;
        }
        if (first && i == 0 && broken != FIRN_LIMIT_FINITE) continue; /* that one was to measure */
        if (!shorten(sim, broken, step->dt, dt_fit, sim->time + step->dt)) break;
    }
    return give_up(sim, broken == FIRN_LIMIT_NONE ? step->limit : broken, step->dt, error);
}

/* Keeps the state at the entry of a fused pass, and puts the records into list order on the
 * way. */
static firn_status take_snapshot(firn_sim *sim, const firn_dt *step, firn_error *error)
{
    firn_snapshot *s = &sim->snapshot;
    const size_t size = firn_grid_channel_size(sim);
    firn_status st =
        firn_pool_renew(sim->allocator, &s->velocity, (size_t)sim->planes * size, error);
    if (st != FIRN_OK) return st;
    memcpy(s->velocity.data, sim->grid.velocity.data, size);
    if (sim->planes == 2) {
        memcpy((char *)s->velocity.data + size, sim->grid.velocity_old.data, size);
    }
    s->size = size;
    s->from = sim->from;
    s->at = sim->at;
    firn_store_reorder(&sim->store, &sim->workers);
    firn_reaction_keep(sim);
    s->cap = sim->retry_cap;
    s->until = sim->retry_until;
    s->step = *step;
    s->extremes = sim->extremes;
    s->time = sim->time;
    s->max_speed = sim->grid.max_speed;
    s->dt_next = sim->dt_next;
    s->steps = sim->report.steps;
    return FIRN_OK;
}

/* Back to the snapshot; needs no memory, so it cannot fail. */
static void restore_snapshot(firn_sim *sim, firn_dt *step)
{
    firn_snapshot *s = &sim->snapshot;
    firn_store_restore(&sim->store, &sim->workers);
    sim->from = s->from;
    sim->at = s->at;
    memcpy(sim->grid.velocity.data, s->velocity.data, s->size);
    if (sim->planes == 2) {
        memcpy(sim->grid.velocity_old.data, (const char *)s->velocity.data + s->size, s->size);
    }
    *step = s->step;
    sim->extremes = s->extremes;
    sim->time = s->time;
    sim->grid.max_speed = s->max_speed;
    sim->grid.finite = true;
    sim->dt_next = s->dt_next;
    sim->report.steps = s->steps;
    firn_layers_doubt(sim);
    firn_sim_pose_colliders(sim, sim->time + step->dt);
    firn_reaction_restore(sim);
}

/* Finishes the pending step with a gather: the state is whole again. */
static void close_fused(firn_sim *sim, const firn_dt *step)
{
    double mark = seconds_now();
    firn_pass pass = firn_sim_pass(sim);
    set_gather_step(sim, &pass, step->dt);
    firn_sim_run_pass(sim, &pass, sim->kernels->fast_gather[sim->planes - 1]);
    turn_page(sim);
    count_step(sim, *step);
    const firn_dt limit = firn_dt_limit(sim, &sim->extremes, sim->grid.max_speed);
    sim->limit_next = FIRN_LIMIT_GROWTH;
    if (limit.dt < sim->dt_next) {
        sim->dt_next = limit.dt;
        sim->limit_next = limit.limit;
    }
    book(sim, FIRN_PHASE_PARTICLES, &mark);
}

/* Finishes the pending step and scatters the next, of length next->dt. */
static firn_status fused_step(firn_sim *sim, const firn_dt *step, const firn_dt *next,
                              firn_error *error)
{
    double mark = seconds_now();
    firn_pass pass = firn_sim_pass(sim);
    set_gather_step(sim, &pass, step->dt);
    pass.dt_scatter = next->dt;
    firn_sim_run_pass(sim, &pass, sim->kernels->fused[sim->planes - 1]);
    sim->extremes = merged_extremes(sim);
    turn_page(sim);
    count_step(sim, *step);
    book(sim, FIRN_PHASE_PARTICLES, &mark);

    firn_status st = firn_sim_prepare(sim, sim->planes, error);
    book(sim, FIRN_PHASE_DIRECTORY, &mark);
    if (st != FIRN_OK) return st;
    firn_sim_pose_colliders(sim, sim->time + next->dt);
    st = firn_grid_update_fused(sim, sim->from, next->dt, error);
    book(sim, FIRN_PHASE_GRID, &mark);
    return st;
}

/* What the advance did not use at its peak gets as much room, so that the next one asks for none. */
static void reserve_spares(firn_sim *sim)
{
    firn_error later; /* where there is no room now, the next advance asks again and says so */
    firn_status st = firn_pool_reserve(sim->allocator, &sim->snapshot.velocity,
                                       (size_t)sim->planes * sim->grid.velocity.size, &later);
    for (firn_directory *d = sim->directory; st == FIRN_OK && d < sim->directory + 4; d++) {
        if (d == sim->from) continue;
        st = firn_directory_reserve(d, sim->block_peak, sim->allocator, &later);
    }
}

/* Puts the bins into a directory with room for more blocks, as they are. */
static firn_status widen_bins(firn_sim *sim, int32_t blocks, firn_error *error)
{
    const firn_directory *from = sim->from;
    firn_directory *to = sim->at;
    firn_status st = firn_directory_reserve(to, blocks, sim->allocator, error);
    if (st == FIRN_OK) {
        st = firn_directory_init(to, sim->store.dim, from->key, from->count, sim->allocator, error);
    }
    if (st != FIRN_OK) return st;
    for (int32_t b = 0; b < from->count; b++) {
        if (!from->bin[b].count) continue;
        to->bin[b] = from->bin[b];
        firn_directory_count_leaving(to, b);
    }
    sim->at = sim->from;
    sim->from = to;
    return FIRN_OK;
}

firn_status firn_sim_reserve(firn_sim *sim, int64_t particles, int32_t blocks, firn_error *error)
{
    if (!firn_sim_is_idle(sim, error)) return FIRN_INVALID;
    if (particles < 0 || particles > FIRN_STORE_MOST || blocks < 0 || blocks > INT32_MAX / 256) {
        return firn_fail(error, FIRN_INVALID,
                         "%lld particles and %d blocks were asked for; they must be from 0 to %lld "
                         "and %d",
                         (long long)particles, blocks, (long long)FIRN_STORE_MOST, INT32_MAX / 256);
    }
    const int32_t dim = sim->store.dim, nodes = firn_pow(FIRN_BLOCK, dim);
    const size_t n = (size_t)blocks, supers = n / 2 + 64,
                 channel = n * (size_t)nodes * FIRN_NODE * sizeof(real);
    const uint32_t crowd = 16 * (uint32_t)nodes; /* twice as many in a block as is usual */
    if (particles > sim->store.capacity) sim->generation++;
    firn_status st = firn_store_reserve(&sim->store, particles, sim->allocator, error);
    if (st == FIRN_OK) st = widen_bins(sim, blocks, error);
    for (firn_directory *d = sim->directory; st == FIRN_OK && d < sim->directory + 4; d++) {
        if (d != sim->from) st = firn_directory_reserve(d, blocks, sim->allocator, error);
    }
#define RESERVE(pool, size)                                                                        \
    if (st == FIRN_OK) st = firn_pool_reserve(sim->allocator, &sim->pool, size, error)
    RESERVE(grid.velocity, channel);
    RESERVE(grid.velocity_old, channel);
    RESERVE(snapshot.velocity, (size_t)sim->planes * channel);
    RESERVE(grid.arena, supers * FIRN_ARENA_REALS(dim, sim->planes * FIRN_NODE) * sizeof(real));
    RESERVE(grid.touched, supers * sizeof(uint64_t));
    RESERVE(extremes_pool, supers * sizeof(firn_extremes));
    RESERVE(partial_pool, n * FIRN_BLOCK_PARTIAL);
    RESERVE(grid.mirror_range, n * sizeof(firn_mirror_range));
    RESERVE(grid.mirror, n / 2 * (size_t)nodes / 4 * FIRN_MIRROR);
    RESERVE(nearby.range, (n + 1) * sizeof(firn_nearby_range));
    RESERVE(nearby.list, n * sizeof(int32_t));
    RESERVE(nearby.kept, FIRN_NEARBY_KEPT(sim->def.collider_count));
    RESERVE(grid.impulse_first, (n + 1) * sizeof(int32_t));
    RESERVE(grid.impulse, n * sizeof(firn_impulse));
    RESERVE(key_scratch, firn_directory_scratch(dim, blocks));
#undef RESERVE
    for (int32_t t = 0; t < sim->workers.count && st == FIRN_OK; t++) {
        st = reserve_scratch(sim, &sim->scratch[t], crowd, error);
    }
    if (st == FIRN_OK && blocks > sim->block_peak) sim->block_peak = blocks;
    return st;
}

/* Steps up to `end`, or until bodies need other layers. */
static firn_status fused_steps(firn_sim *sim, double end, bool single, firn_error *error)
{
    const double seconds = end - sim->time;
    firn_dt step;
    firn_status st = open_fused(sim, seconds, &step, error);
    if (st != FIRN_OK) return st;
    for (int passes = 0; !single && end - sim->time - step.dt > TIME_LEFT * seconds; passes++) {
        if (firn_layers_are_crowded(sim)) break;
        if (passes % REORDER_EVERY == 0) {
            double mark = seconds_now();
            st = take_snapshot(sim, &step, error);
            book(sim, FIRN_PHASE_REORDER, &mark);
        }
        if (st == FIRN_OK) st = firn_grid_reserve_arenas(sim, sim->planes, error);
        if (st != FIRN_OK) break; /* nothing is lost yet: the pending step closes */
        const firn_dt limit = firn_dt_limit(sim, &sim->extremes, sim->grid.max_speed);
        const double remaining = end - sim->time - step.dt;
        const firn_dt next = firn_dt_choose(sim, limit, remaining);
        if (below_floor(sim, &next, remaining)) {
            st = give_up(sim, next.limit, next.dt, error);
            break;
        }
        st = fused_step(sim, &step, &next, error);
        double dt_fit = 0;
        const firn_limit broken =
            st == FIRN_OK ? broken_limit(sim, next.dt, &dt_fit) : FIRN_LIMIT_NONE;
        if (st == FIRN_OK && broken == FIRN_LIMIT_NONE) {
            step = next;
            sim->dt_next = GROWTH * sim->dt_free;
            st = ask_hook(sim, error);
            if (st != FIRN_OK) break; /* the pending step closes */
            continue;
        }
        const bool again =
            st == FIRN_OK && shorten(sim, broken, next.dt, dt_fit, sim->time + next.dt);
        if (st == FIRN_OK && !again) st = give_up(sim, broken, next.dt, error);
        restore_snapshot(sim, &step);
        if (!again) break;
        passes = 0; /* the snapshot just restored still stands */
    }
    sim->snapshot.from = sim->snapshot.at = NULL;
    close_fused(sim, &step);
    return st;
}

static firn_status fused_advance(firn_sim *sim, double seconds, bool single, firn_error *error)
{
    const double end = sim->time + seconds;
    do {
        firn_status st = firn_layers_update(sim, error);
        if (st == FIRN_OK) st = fused_steps(sim, end, single, error);
        if (st != FIRN_OK) return st;
    } while (!single && end - sim->time > TIME_LEFT * seconds);
    if (!single) sim->time = end;
    reserve_spares(sim);
    return FIRN_OK;
}

/* ---- the calls ---- */

static firn_status advance_particles(firn_sim *sim, double seconds, bool single, firn_error *error)
{
    if (sim->def.pressure == FIRN_PRESSURE_PROJECTION) {
        return advance_by(projected_step, sim, seconds, single, error);
    }
    firn_integrator integrator = sim->integrator;
    if (integrator == FIRN_INTEGRATOR_AUTO) {
        firn_status st = cheaper_integrator(sim, &integrator, error);
        if (st != FIRN_OK) return st;
    } else {
        sim->explicit_left = integrator == FIRN_IMPLICIT ? -1 : 0;
    }
    if (integrator == FIRN_IMPLICIT) return advance_by(implicit_step, sim, seconds, single, error);
    if (sim->path == FIRN_PATH_FUSED) return fused_advance(sim, seconds, single, error);
    return advance_by(plain_step, sim, seconds, single, error);
}

/* Motion and heat in turns: heat takes as long a step as motion has just taken, or several. */
static firn_status advance_with_heat(firn_sim *sim, double seconds, bool single, firn_error *error)
{
    enum { MOTION_STEPS = REORDER_EVERY }; /* an advance begins with a reordering */
    const double longest = 8e-3;           /* s: what melts must not wait too long to flow */
    const double end = sim->time + seconds;
    firn_status st = FIRN_OK;
    do {
        const double from = sim->time, left = end - from;
        const double most = sim->def.heat.step > 0 ? fmax(sim->def.heat.step, sim->dt_next)
                            : sim->dt_next > 0     ? fmin(MOTION_STEPS * sim->dt_next, longest)
                                                   : fmin(left / MOTION_STEPS, longest);
        st = advance_particles(
            sim, single ? seconds : left / fmax(ceil(left / most - TIME_LEFT), 1), single, error);
        double mark = seconds_now();
        sim->heat.owed += sim->time - from;
        if (sim->heat.owed > 0) {
            firn_error later; /* of the two the first counts */
            const firn_status heat =
                firn_heat_step(sim, sim->heat.owed, st == FIRN_OK ? error : &later);
            if (heat != FIRN_NO_MEMORY) sim->heat.owed = 0;
            if (st == FIRN_OK) st = heat;
        }
        book(sim, FIRN_PHASE_HEAT, &mark);
    } while (st == FIRN_OK && !single && end - sim->time > TIME_LEFT * seconds);
    if (st == FIRN_OK && !single) sim->time = end;
    return st;
}

static firn_status advance(firn_sim *sim, double seconds, bool single, firn_report *report,
                           firn_error *error)
{
    begin_report(sim);
    firn_status st = FIRN_OK;
    sim->advancing = true;
    if (sim->store.count == 0) { /* a step through nothing is as long as steps may be */
        const double step = sim->def.dt > 0 ? sim->def.dt : sim->def.dt_max;
        sim->report.dt = single ? fmin(step, seconds) : seconds;
        sim->time += sim->report.dt;
        sim->grid.max_speed = 0;
    } else {
        st = sim->store.has_heat ? advance_with_heat(sim, seconds, single, error)
                                 : advance_particles(sim, seconds, single, error);
    }
    sim->advancing = false;
    end_report(sim, report);
    return st;
}

firn_status firn_sim_advance(firn_sim *sim, double seconds, firn_report *report, firn_error *error)
{
    if (!firn_sim_is_idle(sim, error)) return FIRN_INVALID;
    if (!(seconds > 0) || !isfinite(seconds)) {
        return firn_fail(error, FIRN_INVALID, "seconds %g must be above 0 and finite", seconds);
    }
    return advance(sim, seconds, false, report, error);
}

firn_status firn_sim_step_within(firn_sim *sim, double seconds, firn_report *report,
                                 firn_error *error)
{
    if (!firn_sim_is_idle(sim, error)) return FIRN_INVALID;
    if (!(seconds > 0))
        return firn_fail(error, FIRN_INVALID, "seconds %g must be above 0", seconds);
    return advance(sim, seconds, true, report, error);
}

firn_status firn_sim_step(firn_sim *sim, firn_report *report, firn_error *error)
{
    return firn_sim_step_within(sim, 1e30, report, error);
}
