/* The cube of `bench step` and `bench scaling`: a jittered cube turns and falls onto a
 * plane, so that particles cross cells all the time.
 *
 * It times whole advances and takes the median. Between them it measures the machine's peak of
 * multiply-adds, because a shared machine is fast at one moment and slow at the next. */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CELL 0.01      /* m */
#define RIM_SPEED 1.0  /* m/s, of the middle of a face, whatever the size */
#define FALL_SPEED 1.0 /* m/s */
#define GAP 0.5        /* cells above the plane: it meets the ground while warming up */

static firn_status fill(firn_sim *sim, int64_t particles, firn_error *error)
{
    int32_t side = (int32_t)ceil(cbrt((double)particles) - 1e-9);
    if ((int64_t)side * side * side < particles) side++;
    const double spacing = CELL / 2, half = side * spacing / 2;
    firn_body body = {.spacing = spacing, .velocity = {0, -FALL_SPEED, 0}};
    body.center[1] = half + GAP * CELL;
    /* An axis of no special direction. */
    const double spin = RIM_SPEED / half;
    const double omega[3] = {0.3 * spin, 0.5 * spin, 0.8 * spin};

    firn_seeds seeds = {0};
    firn_status st = FIRN_NO_MEMORY;
    if (firn_seeds_block(&seeds, &body, (int32_t[3]){side, side, side}, particles, 0.8)) {
        firn_seeds_spin(&seeds, body.center, omega);
        st = firn_seeds_add(&seeds, spacing, sim, error);
    } else {
        snprintf(error->message, sizeof error->message, "no memory for %lld particles; use fewer",
                 (long long)particles);
    }
    firn_seeds_free(&seeds);
    return st;
}

typedef struct sample {
    double seconds_per_step;
    double peak_gflops; /* the better of just before and just after */
    double phase_seconds[FIRN_PHASES];
} sample;

static int by_time(const void *left, const void *right)
{
    const double a = ((const sample *)left)->seconds_per_step;
    const double b = ((const sample *)right)->seconds_per_step;
    return a < b ? -1 : a > b;
}

/* Interleaved with the steps, because a shared machine is fast at one moment and slow at the next. */
static double take_peak(firn_cube_run *run)
{
    const double gflops = firn_bench_peak_gflops(run->info.isa, run->info.threads);
    run->peak_most = fmax(run->peak_most, gflops);
    if (run->peak_least == 0 || gflops < run->peak_least) run->peak_least = gflops;
    return gflops;
}

static firn_status measure(firn_cube_run *run, firn_sim *sim, firn_error *error)
{
    enum { MOST = 64 };
    sample samples[MOST];
    const double begin = firn_clock();
    firn_report report;
    /* The first step finds dt; the rest of the warm-up is one advance. */
    firn_status st = firn_sim_step(sim, &report, error);
    if (st == FIRN_OK && run->warmup > 1) {
        st = firn_sim_advance(sim, (run->warmup - 1) * report.dt_next, &report, error);
    }
    double peak = take_peak(run);
    while (st == FIRN_OK && run->advances < run->most && run->advances < MOST) {
        const double spent = firn_clock() - begin;
        if (run->advances >= run->least && spent > run->time_allowed) break;
        const double seconds = run->advance * report.dt_next;
        const double mark = firn_clock();
        st = firn_sim_advance(sim, seconds, &report, error);
        const double steps = (double)report.steps;
        sample *s = &samples[run->advances++];
        s->seconds_per_step = (firn_clock() - mark) / steps;
        for (int p = 0; p < FIRN_PHASES; p++) s->phase_seconds[p] = report.phase_seconds[p] / steps;
        run->steps += report.steps;
        run->retries += report.retries;
        const double after = take_peak(run);
        s->peak_gflops = fmax(peak, after);
        peak = after;
    }
    if (st != FIRN_OK) return st;
    /* The last step of an advance is cut to fit; a single one is not. */
    st = firn_sim_step(sim, &report, error);
    if (st != FIRN_OK) return st;
    run->dt = report.dt;
    run->limit = report.limit;
    qsort(samples, (size_t)run->advances, sizeof *samples, by_time);
    const sample *median = &samples[run->advances / 2];
    run->seconds_per_step = median->seconds_per_step;
    run->peak_gflops = median->peak_gflops;
    memcpy(run->phase_seconds, median->phase_seconds, sizeof run->phase_seconds);
    return FIRN_OK;
}

firn_status firn_bench_cube(firn_cube_run *run, firn_error *error)
{
    firn_bench_memory memory = {0};
    firn_collider_def ground = firn_collider_def_default();
    firn_sim_def def = firn_sim_def_default();
    def.cell_size = CELL;
    def.materials = &run->material;
    def.material_count = 1;
    def.colliders = &ground;
    def.collider_count = 1;
    def.threads = (int32_t)run->threads;
    def.isa = run->isa;
    def.path = run->path;
    def.transfer = run->transfer;
    def.allocator = firn_bench_allocator(&memory);

    firn_sim *sim = NULL;
    firn_status st = firn_sim_create(&def, &sim, error);
    if (st != FIRN_OK) return st;
    run->info = firn_sim_get_info(sim);
    st = fill(sim, run->particles, error);
    if (st == FIRN_OK) st = measure(run, sim, error);
    run->bytes_per_particle = (double)memory.peak / (double)run->particles;
    firn_sim_destroy(sim);
    return st;
}
