/* firn demo: a ball of hard jelly dropped on a block of soft jelly, told frame by frame. */
#include <math.h>
#include <stdio.h>

#include "app.h"
#include "progress.h"
#include "shapes.h"

static const char command_name[] = "firn demo";

#define CELL 0.01        /* m */
#define FRAME (1.0 / 24) /* s */
#define BALL_GAP 0.2     /* m above the block */
#define BALL_PARTICLES 16000
static const int32_t block_size[3] = {60, 26, 60}; /* particles */

enum { BLOCK, BALL };

static bool seed(firn_seeds *seeds)
{
    const double spacing = CELL / 2, height = block_size[1] * spacing;
    firn_body body = {.spacing = spacing, .center = {0, height / 2, 0}, .material = BLOCK};
    const int64_t count = (int64_t)block_size[0] * block_size[1] * block_size[2];
    if (!firn_seeds_block(seeds, &body, block_size, count, 0)) return false;
    /* Off the middle, so that the block rocks. */
    body = (firn_body){.spacing = spacing, .center = {0.04, 0, 0.02}, .material = BALL};
    body.center[1] =
        height + BALL_GAP + firn_figure_depth(FIRN_FIGURE_BALL, BALL_PARTICLES, spacing);
    return firn_seeds_figure(seeds, &body, FIRN_FIGURE_BALL, BALL_PARTICLES);
}

static firn_status create(int64_t threads, const char *isa, firn_sim **sim, firn_error *error)
{
    firn_material_def materials[2] = {firn_material_def_default(), firn_material_def_default()};
    materials[BALL].young = 1e5;
    materials[BALL].poisson = 0.3;
    const firn_collider_def ground = firn_collider_def_default();
    firn_sim_def def = firn_sim_def_default();
    def.cell_size = CELL;
    def.materials = materials;
    def.material_count = 2;
    def.colliders = &ground;
    def.collider_count = 1;
    def.threads = (int32_t)threads;
    def.isa = isa;
    firn_status st = firn_sim_create(&def, sim, error);
    if (st != FIRN_OK) return st;
    firn_seeds seeds = {0};
    if (seed(&seeds)) {
        st = firn_seeds_add(&seeds, CELL / 2, *sim, error);
    } else {
        st = FIRN_NO_MEMORY;
        snprintf(error->message, sizeof error->message, "no memory for the particles");
    }
    firn_seeds_free(&seeds);
    return st;
}

/* What the whole run came to. */
typedef struct tally {
    int64_t steps, retries;
    double seconds, dt_least, min_J, max_J, max_speed;
} tally;

static void add_up(tally *all, const firn_report *report, const firn_totals *t, double seconds)
{
    all->steps += report->steps;
    all->retries += report->retries;
    all->seconds += seconds;
    all->dt_least = fmin(all->dt_least, report->dt_least);
    all->min_J = fmin(all->min_J, t->min_J);
    all->max_J = fmax(all->max_J, t->max_J);
    all->max_speed = fmax(all->max_speed, t->max_speed);
}

static firn_status play(firn_sim *sim, int64_t frames, firn_error *error)
{
    const firn_sim_info info = firn_sim_get_info(sim);
    const double count = (double)firn_sim_count(sim);
    printf("a ball of hard jelly falls on a block of soft jelly\n%.0f particles, cells of %g m, "
           "%s path, %s, %d threads\n\n",
           count, CELL, info.path == FIRN_PATH_FUSED ? "fused" : "plain", info.isa, info.threads);
    printf("%5s %7s %8s %8s %-8s %9s %9s %9s %5s\n", "frame", "time s", "substeps", "dt s", "limit",
           "kinetic J", "elastic J", "gravity J", "M/s");
    tally all = {.dt_least = INFINITY, .min_J = INFINITY};
    firn_totals t;
    firn_status st = firn_sim_measure(sim, &t, error);
    const double energy_before = t.kinetic + t.elastic + t.gravitational;
    for (int64_t frame = 1; frame <= frames && st == FIRN_OK; frame++) {
        firn_report report;
        const double mark = firn_clock();
        st = firn_sim_advance(sim, FRAME, &report, error);
        const double seconds = firn_clock() - mark;
        if (st == FIRN_OK) st = firn_sim_measure(sim, &t, error);
        if (st != FIRN_OK) break;
        add_up(&all, &report, &t, seconds);
        printf("%5lld %7.3f %8lld %8.2e %-8s %9.3f %9.3f %9.3f %5.1f\n", (long long)frame,
               report.time, (long long)report.steps, FRAME / (double)report.steps,
               firn_limit_name(report.limit), t.kinetic, t.elastic, t.gravitational,
               count * (double)report.steps / seconds * 1e-6);
        fflush(stdout);
    }
    if (st != FIRN_OK) return st;
    printf("\n%lld substeps, %lld taken back, smallest dt %.2e s; %.2f s simulated in %.1f s\n",
           (long long)all.steps, (long long)all.retries, all.dt_least, firn_sim_time(sim),
           all.seconds);
    printf("%.1f million particle-steps per second, %.1f ns each\n",
           count * (double)all.steps / all.seconds * 1e-6,
           all.seconds / (count * (double)all.steps) * 1e9);
    printf("fastest particle %.2f m/s; volumes between %.3f and %.3f of rest\n"
           "%lld particles inside the ground\n",
           all.max_speed, all.min_J, all.max_J, (long long)t.outside);
    printf("energy %.3f J at the start, %.3f J at the end\n", energy_before,
           t.kinetic + t.elastic + t.gravitational);
    return FIRN_OK;
}

static struct {
    int64_t threads, frames;
    const char *isa;
} chosen = {.frames = 72};

static const firn_option options[] = {
    {"--frames", FIRN_OPTION_COUNT, &chosen.frames, "N", "frames of 1/24 s to run (72)", .min = 1,
     .max = 100000},
    FIRN_THREADS_OPTION(chosen.threads),
    FIRN_ISA_OPTION(chosen.isa),
};

static int run(void)
{
    firn_sim *sim = NULL;
    firn_error error = {0};
    firn_status st = create(chosen.threads, chosen.isa, &sim, &error);
    if (st == FIRN_OK) st = play(sim, chosen.frames, &error);
    firn_sim_destroy(sim);
    return st == FIRN_OK ? 0 : firn_options_failure(command_name, st, &error);
}

const firn_command firn_demo_command = {
    .name = command_name,
    .line = "drop a jelly ball on a jelly block, and report",
    .summary = "Drops a ball of hard jelly on a block of soft jelly, 109,600 particles in all, and "
               "prints a line per frame: substeps, their mean dt and what limits it, energies, "
               "and millions of particle-steps per second.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run};
