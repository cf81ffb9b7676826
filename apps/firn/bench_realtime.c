/* firn bench realtime: jelly scenes of the size a game could afford, in frames of 1/60 s.
 *
 * The scenes are those of a published CPU study of real-time MPM (128^3 grid, half a cell between
 * particles), which needed 8.7 ms per step for the 52,730 neo-Hookean particles of a creature. */
#include "bench.h"

static const char command_name[] = "firn bench realtime";

#define FRAME (1.0 / 60) /* s */
enum { FRAMES = 30 };
#define TIME_ALLOWED 3.5 /* s for each scene: all ten stay below 45 s however slow the machine */

static const struct {
    const char *name;
    firn_jelly_kind kind;
    int64_t particles;
    firn_jelly jelly, under;
} scenes[] = {
    {"spheres_hard_hard", FIRN_JELLY_PAIR, 32096, FIRN_JELLY_HARD, FIRN_JELLY_HARD},
    {"spheres_hard_soft", FIRN_JELLY_PAIR, 32096, FIRN_JELLY_SOFT, FIRN_JELLY_HARD},
    {"spheres_soft_soft", FIRN_JELLY_PAIR, 32096, FIRN_JELLY_SOFT, FIRN_JELLY_SOFT},
    {"creature_hard", FIRN_JELLY_CREATURE, 52730, FIRN_JELLY_HARD, FIRN_JELLY_HARD},
    {"creature_soft", FIRN_JELLY_CREATURE, 52730, FIRN_JELLY_SOFT, FIRN_JELLY_SOFT},
};
enum { SCENES = sizeof scenes / sizeof *scenes };
static const firn_law_kind laws[] = {FIRN_NEO_HOOKEAN, FIRN_FIXED_COROTATED};

typedef struct result {
    int64_t particles, steps, retries;
    double ms_per_step, run_over_simulated, dt; /* dt: the mean */
    firn_sim_info info;
} result;

/* Runs a scene through fall, impact and rebound. */
static firn_status play(const firn_jelly_scene *scene, int64_t threads, const char *isa,
                        result *out, firn_error *error)
{
    firn_sim *sim = NULL;
    firn_status st = firn_jelly_create(scene, 0, threads, isa, &sim, error);
    if (st != FIRN_OK) return st;
    double seconds = 0, simulated = 0;
    *out = (result){.particles = firn_sim_count(sim), .info = firn_sim_get_info(sim)};
    for (int frame = 0; frame < FRAMES && seconds < TIME_ALLOWED && st == FIRN_OK; frame++) {
        firn_report report;
        const double mark = firn_clock();
        st = firn_sim_advance(sim, FRAME, &report, error);
        seconds += firn_clock() - mark;
        simulated += FRAME;
        out->steps += report.steps;
        out->retries += report.retries;
    }
    out->ms_per_step = 1e3 * seconds / (double)out->steps;
    out->run_over_simulated = seconds / simulated;
    out->dt = simulated / (double)out->steps;
    firn_sim_destroy(sim);
    return st;
}

static void print_row(bool json, bool first, const char *name, firn_law_kind law, const result *r)
{
    if (json) {
        printf("%s\n  {\"name\": \"%s\", \"material\": \"%s\", \"particles\": %lld, "
               "\"ms_per_step\": %.4f, \"run_over_simulated\": %.4f, \"steps\": %lld, "
               "\"retries\": %lld, \"mean_dt\": %.4g}",
               first ? "" : ",", name, firn_law_name(law), (long long)r->particles, r->ms_per_step,
               r->run_over_simulated, (long long)r->steps, (long long)r->retries, r->dt);
    } else {
        if (first) {
            printf("%s, %d threads; automatic dt, up to %d frames of 1/60 s\n", r->info.isa,
                   r->info.threads, FRAMES);
            printf("%-18s %-16s %9s %12s %14s %10s %7s\n", "scene", "material", "particles",
                   "ms per step", "run/simulated", "mean dt s", "retries");
        }
        printf("%-18s %-16s %9lld %12.3f %14.3f %10.2e %7lld\n", name, firn_law_name(law),
               (long long)r->particles, r->ms_per_step, r->run_over_simulated, r->dt,
               (long long)r->retries);
    }
    fflush(stdout);
}

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

static int run(void)
{
    int exit_code = 0;
    firn_bench_csv csv;
    if (!firn_bench_csv_open(&csv, command_name, chosen.csv,
                             "scene,material,isa,threads,particles,ms_per_step,run_over_simulated,"
                             "steps,retries,mean_dt")) {
        return FIRN_EXIT_OUTPUT;
    }

    if (chosen.json) printf("{\"scenes\": [");
    for (int i = 0; i < SCENES * 2 && exit_code == 0; i++) {
        const int s = i / 2;
        const firn_law_kind law = laws[i % 2];
        const firn_jelly_scene scene = {.kind = scenes[s].kind,
                                        .particles = scenes[s].particles,
                                        .spacing = 0.5,
                                        .law = law,
                                        .jelly = scenes[s].jelly,
                                        .under = scenes[s].under};
        result r;
        firn_error error = {0};
        const firn_status st = play(&scene, chosen.threads, chosen.isa, &r, &error);
        if (st != FIRN_OK) {
            exit_code = firn_options_failure(command_name, st, &error);
            break;
        }
        print_row(chosen.json, i == 0, scenes[s].name, law, &r);
        firn_bench_csv_row(&csv, "%s,%s,%s,%d,%lld,%.4f,%.4f,%lld,%lld,%.4g", scenes[s].name,
                           firn_law_name(law), r.info.isa, r.info.threads, (long long)r.particles,
                           r.ms_per_step, r.run_over_simulated, (long long)r.steps,
                           (long long)r.retries, r.dt);
    }
    if (chosen.json) printf("]}\n");
    if (!firn_bench_csv_close(&csv, command_name) && exit_code == 0) exit_code = FIRN_EXIT_OUTPUT;
    return exit_code;
}

const firn_command firn_bench_realtime_command = {
    .name = command_name,
    .line = "jelly scenes of 32,096 and 52,730 particles",
    .summary = "A jelly ball falling on another (32,096 particles) and a falling creature "
               "(52,730), hard and soft, both laws, for half a second: milliseconds per step and "
               "run time over simulated time.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run};
