/* firn bench implicit: a block thrown onto the ground, in explicit and in implicit steps, for materials
 * that get stiffer from row to row: what each takes, and how alike the two are. */
#include <math.h>
#include <stdlib.h>

#include "bench.h"

static const char command_name[] = "firn bench implicit";

#define CELL (1.0 / 72)                      /* m */
#define GRAVITY 9.81                         /* m/s2 */
#define SPEED 2.0                            /* m/s: as if from 20 cm, without the wait */
#define FRAME (1.0 / 48)                     /* s */
enum { SIDE = 36, FRAMES = 18, LANDED = 4 }; /* SIDE: in spacings of half a cell */

static const struct {
    const char *name;
    double young; /* Pa */
} bodies[] = {{"fixed_corotated", 1e5}, {"fixed_corotated", 1e6}, {"fixed_corotated", 1e7},
              {"fixed_corotated", 1e8}, {"neo_hookean", 1e7},     {"snow", 1.4e6},
              {"snow", 1.4e7}};
enum { BODIES = sizeof bodies / sizeof *bodies };

typedef struct result {
    int64_t steps, iterations;
    int implicit_frames;
    double seconds;
    double middle[FRAMES]; /* height of the centre of mass after each frame, m */
    double rebound;        /* its highest after landing, over where it would lie, m */
    firn_sim_info info;
} result;

static struct {
    int64_t threads;
    const char *isa, *csv;
    bool json;
} chosen;

static const firn_option options[] = {
    FIRN_THREADS_OPTION(chosen.threads),
    FIRN_ISA_OPTION(chosen.isa),
    FIRN_JSON_OPTION(chosen.json),
    FIRN_CSV_OPTION(chosen.csv),
};

static firn_status fill(firn_sim *sim, firn_error *error)
{
    const int32_t size[3] = {SIDE, SIDE, SIDE};
    const firn_body body = {.spacing = CELL / 2,
                            .center = {0, (0.25 * SIDE + 2) * CELL, 0},
                            .velocity = {0, -SPEED, 0}};
    firn_seeds seeds = {0};
    if (!firn_seeds_block(&seeds, &body, size, (int64_t)SIDE * SIDE * SIDE, 0)) {
        snprintf(error->message, sizeof error->message, "no memory for the particles");
        return FIRN_NO_MEMORY;
    }
    const firn_status st = firn_seeds_add(&seeds, body.spacing, sim, error);
    firn_seeds_free(&seeds);
    return st;
}

static firn_status play(firn_sim *sim, result *out, firn_error *error)
{
    firn_status st = fill(sim, error);
    for (int frame = 0; frame < FRAMES && st == FIRN_OK; frame++) {
        firn_report report;
        const double mark = firn_clock();
        st = firn_sim_advance(sim, FRAME, &report, error);
        out->seconds += firn_clock() - mark;
        out->steps += report.steps;
        out->iterations += report.iterations;
        out->implicit_frames += report.integrator == FIRN_IMPLICIT;
        firn_totals totals;
        if (st == FIRN_OK) st = firn_sim_measure(sim, &totals, error);
        if (st != FIRN_OK) break;
        const double height = totals.gravitational / (totals.mass * GRAVITY);
        out->middle[frame] = height;
        if (frame >= LANDED) out->rebound = fmax(out->rebound, height - SIDE * CELL / 4);
    }
    return st;
}

static firn_status run_one(int body, firn_integrator integrator, result *out, firn_error *error)
{
    firn_material_def material = firn_bench_material(bodies[body].name);
    material.young = bodies[body].young;
    const firn_collider_def ground = firn_collider_def_default();
    firn_sim_def def = firn_sim_def_default();
    def.cell_size = CELL;
    def.materials = &material;
    def.material_count = 1;
    def.colliders = &ground;
    def.collider_count = 1;
    def.threads = (int32_t)chosen.threads;
    def.isa = chosen.isa;
    def.gravity[1] = -GRAVITY;
    def.integrator = integrator;
    firn_sim *sim = NULL;
    firn_status st = firn_sim_create(&def, &sim, error);
    if (st != FIRN_OK) return st;
    *out = (result){.info = firn_sim_get_info(sim)};
    st = play(sim, out, error);
    firn_sim_destroy(sim);
    return st;
}

/* How far apart the two were at most, in cells. */
static double distance(const result *a, const result *b)
{
    double most = 0;
    for (int f = 0; f < FRAMES; f++) most = fmax(most, fabs(a->middle[f] - b->middle[f]));
    return most / CELL;
}

static void print_row(int body, const result *plain, const result *solved, const result *chose)
{
    const double faster = plain->seconds / solved->seconds,
                 iterations = (double)solved->iterations / (double)solved->steps,
                 rebound = solved->rebound / plain->rebound, apart = distance(plain, solved);
    if (chosen.json) {
        printf("%s\n  {\"material\": \"%s\", \"young\": %g, \"explicit_seconds\": %.3f, "
               "\"explicit_steps\": %lld, \"implicit_seconds\": %.3f, \"implicit_steps\": %lld, "
               "\"iterations_per_step\": %.2f, \"faster\": %.3f, \"rebound\": %.3f, "
               "\"apart_cells\": %.3f, \"auto_seconds\": %.3f, \"auto_implicit_frames\": %d}",
               body ? "," : "", bodies[body].name, bodies[body].young, plain->seconds,
               (long long)plain->steps, solved->seconds, (long long)solved->steps, iterations,
               faster, rebound, apart, chose->seconds, chose->implicit_frames);
    } else {
        printf("%-16s %8g %7lld %7.1f %7lld %7.1f %7.1f %7.2f %8.2f %7.2f %7.1f %3d/%d\n",
               bodies[body].name, bodies[body].young, (long long)plain->steps, plain->seconds,
               (long long)solved->steps, iterations, solved->seconds, faster, rebound, apart,
               chose->seconds, chose->implicit_frames, FRAMES);
    }
    fflush(stdout);
}

static int run(void)
{
    int exit_code = 0;
    firn_bench_csv csv;
    if (!firn_bench_csv_open(&csv, command_name, chosen.csv,
                             "material,young,isa,threads,explicit_steps,explicit_seconds,"
                             "implicit_steps,iterations,implicit_seconds,rebound,apart_cells,"
                             "auto_seconds,auto_implicit_frames")) {
        return FIRN_EXIT_OUTPUT;
    }
    if (chosen.json) {
        printf("{\"bodies\": [");
    } else {
        printf("a block of %d particles thrown onto the ground at %g m/s, %d frames of 1/48 s\n\n"
               "%-16s %8s %7s %7s %7s %7s %7s %7s %8s %7s %7s %6s\n",
               SIDE * SIDE * SIDE, SPEED, FRAMES, "", "", "explic.", "", "implic.", "iter./", "",
               "times", "rebound", "apart,", "auto", "impl.");
        printf("%-16s %8s %7s %7s %7s %7s %7s %7s %8s %7s %7s %6s\n", "material", "E, Pa", "steps",
               "s", "steps", "step", "s", "faster", "of expl.", "cells", "s", "frames");
    }
    for (int body = 0; body < BODIES; body++) {
        result plain, solved, chose;
        firn_error error = {0};
        firn_status st = run_one(body, FIRN_EXPLICIT, &plain, &error);
        if (st == FIRN_OK) st = run_one(body, FIRN_IMPLICIT, &solved, &error);
        if (st == FIRN_OK) st = run_one(body, FIRN_INTEGRATOR_AUTO, &chose, &error);
        if (st != FIRN_OK) {
            exit_code = firn_options_failure(command_name, st, &error);
            break;
        }
        print_row(body, &plain, &solved, &chose);
        firn_bench_csv_row(&csv, "%s,%g,%s,%d,%lld,%.3f,%lld,%lld,%.3f,%.4f,%.4f,%.3f,%d",
                           bodies[body].name, bodies[body].young, plain.info.isa,
                           plain.info.threads, (long long)plain.steps, plain.seconds,
                           (long long)solved.steps, (long long)solved.iterations, solved.seconds,
                           solved.rebound / plain.rebound, distance(&plain, &solved), chose.seconds,
                           chose.implicit_frames);
    }
    if (chosen.json) printf("]}\n");
    if (!firn_bench_csv_close(&csv, command_name) && exit_code == 0) exit_code = FIRN_EXIT_OUTPUT;
    return exit_code;
}

const firn_command firn_bench_implicit_command = {
    .name = command_name,
    .line = "explicit against implicit steps, by stiffness",
    .summary = "Throws a block onto the ground in explicit and in implicit steps, jelly of 1e5 to "
               "1e8 Pa and snow: the time of each, how alike they are, and which one `auto` "
               "takes. Takes minutes.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run};
