/* firn bench step: how fast the engine steps, next to what the machine could do. */
#include "bench.h"

#include <string.h>

static const char command_name[] = "firn bench step";

static double speed(const firn_cube_run *run)
{
    return (double)run->particles / run->seconds_per_step;
}

/* Only where there is a peak for the instruction set. */
static double efficiency(const firn_cube_run *run)
{
    return speed(run) * FIRN_BENCH_FLOP / (run->peak_gflops * 1e9);
}

static const char *path_name(const firn_cube_run *run)
{
    return run->info.path == FIRN_PATH_FUSED ? "fused" : "plain";
}

static double phase_ns(const firn_cube_run *run, int phase)
{
    return run->phase_seconds[phase] * 1e9 / (double)run->particles;
}

/* `plain` is the reference, or NULL. */
static void print_text(const firn_cube_run *run, const firn_cube_run *plain)
{
    printf("cube of %lld %s particles, 8 per cell: %s path, %s (%d lanes), %d threads\n",
           (long long)run->particles, run->name, path_name(run), run->info.isa, run->info.lanes,
           run->info.threads);
    printf("median of %d advances, %lld steps in all, %lld retried; dt %.3g s by %s\n\n",
           run->advances, (long long)run->steps, (long long)run->retries, run->dt,
           firn_limit_name(run->limit));
    printf("particle_steps_per_second  %.4g\n", speed(run));
    printf("ns per particle-step       %.2f\n", 1e9 / speed(run));
    for (int p = 0; p < FIRN_PHASES; p++) {
        printf("    %-22s %.2f\n", firn_phase_name(p), phase_ns(run, p));
    }
    printf("bytes_per_particle         %.1f\n", run->bytes_per_particle);
    if (run->peak_gflops > 0) {
        printf("fma_peak_gflops            %.1f\n", run->peak_gflops);
        printf("efficiency                 %.4f (at %.0f FLOP per particle-step)\n",
               efficiency(run), FIRN_BENCH_FLOP);
    } else {
        printf("fma_peak_gflops            not measured for %s\n", run->info.isa);
    }
    if (run->peak_least < 0.9 * run->peak_most) {
        printf("note: the peak was %.1f to %.1f at times: something else was running\n",
               run->peak_least, run->peak_most);
    }
    if (plain) {
        printf("reference (plain, scalar)  %.4g particle-steps per second: %.1f times slower\n",
               speed(plain), speed(run) / speed(plain));
    }
}

static void print_json(const firn_cube_run *run, const firn_cube_run *plain)
{
    printf("{\"particles\": %lld, \"material\": \"%s\", \"transfer\": \"%s\", \"threads\": %d, "
           "\"isa\": \"%s\", "
           "\"path\": \"%s\",\n \"advances\": %d, \"steps\": %lld, \"retries\": %lld, "
           "\"dt\": %.6g, \"limit\": \"%s\",\n",
           (long long)run->particles, run->name, firn_transfer_name(run->transfer),
           run->info.threads, run->info.isa, path_name(run), run->advances, (long long)run->steps,
           (long long)run->retries, run->dt, firn_limit_name(run->limit));
    printf(" \"particle_steps_per_second\": %.6g, \"ns_per_particle_step\": %.4f,\n"
           " \"phase_ns\": {",
           speed(run), 1e9 / speed(run));
    for (int p = 0; p < FIRN_PHASES; p++) {
        printf("%s\"%s\": %.4f", p ? ", " : "", firn_phase_name(p), phase_ns(run, p));
    }
    printf("},\n \"bytes_per_particle\": %.2f, ", run->bytes_per_particle);
    if (run->peak_gflops > 0) {
        printf("\"fma_peak_gflops\": %.2f, \"efficiency\": %.5f", run->peak_gflops,
               efficiency(run));
    } else {
        printf("\"fma_peak_gflops\": null, \"efficiency\": null");
    }
    if (plain) {
        printf(",\n \"reference\": {\"particle_steps_per_second\": %.6g, \"ratio\": %.3f}",
               speed(plain), speed(run) / speed(plain));
    }
    printf("}\n");
}

static const char columns[] =
    "isa,threads,material,transfer,particles,path,steps,particle_steps_per_second,ns_per_particle_"
    "step,"
    "directory_ns,particles_ns,grid_ns,reorder_ns,bytes_per_particle,fma_peak_gflops,efficiency";

static void write_row(const firn_bench_csv *csv, const firn_cube_run *run)
{
    char peak[64] = ",";
    if (run->peak_gflops > 0) {
        snprintf(peak, sizeof peak, "%.1f,%.4f", run->peak_gflops, efficiency(run));
    }
    firn_bench_csv_row(
        csv, "%s,%d,%s,%s,%lld,%s,%lld,%.4g,%.2f,%.2f,%.2f,%.2f,%.2f,%.1f,%s", run->info.isa,
        run->info.threads, run->name, firn_transfer_name(run->transfer), (long long)run->particles,
        path_name(run), (long long)run->steps, speed(run), 1e9 / speed(run), phase_ns(run, 0),
        phase_ns(run, 1), phase_ns(run, 2), phase_ns(run, 3), run->bytes_per_particle, peak);
}

static const char *transfer_word(int32_t index)
{
    return index < FIRN_TRANSFER_COUNT ? firn_transfer_name((firn_transfer)index) : NULL;
}

static firn_transfer find_transfer(const char *name)
{
    int32_t i = 0;
    while (strcmp(transfer_word(i), name) != 0) i++; /* the options know it */
    return (firn_transfer)i;
}

static struct {
    int64_t particles, threads;
    const char *material, *transfer, *isa, *csv;
    bool json, reference;
} chosen = {.particles = 1000000, .material = "neo_hookean", .transfer = "apic"};

static const firn_option options[] = {
    {"--particles", FIRN_OPTION_COUNT, &chosen.particles, "N", "number of particles (1000000)",
     .min = 1000, .max = 200000000},
    {"--material", FIRN_OPTION_TEXT, &chosen.material, "NAME", "preset or law (neo_hookean)",
     .word = firn_bench_material_name},
    {"--transfer", FIRN_OPTION_TEXT, &chosen.transfer, "NAME", "between particles and grid (apic)",
     .word = transfer_word},
    FIRN_THREADS_OPTION(chosen.threads),
    FIRN_ISA_OPTION(chosen.isa),
    {"--reference", FIRN_OPTION_FLAG, &chosen.reference, .help = "also time the plain scalar path"},
    FIRN_JSON_OPTION(chosen.json),
    FIRN_CSV_OPTION(chosen.csv),
};

static int run(void)
{
    int exit_code = 0;
    firn_bench_csv csv;
    if (!firn_bench_csv_open(&csv, command_name, chosen.csv, columns)) return FIRN_EXIT_OUTPUT;
    firn_cube_run fast = {.particles = chosen.particles,
                          .name = chosen.material,
                          .material = firn_bench_material(chosen.material),
                          .transfer = find_transfer(chosen.transfer),
                          .threads = chosen.threads,
                          .isa = chosen.isa,
                          .warmup = 20,
                          .advance = 50,
                          .least = 3,
                          .most = 5,
                          .time_allowed = 8};
    /* Its steps all cost the same, and a lot: a few will do. */
    firn_cube_run plain = {.particles = chosen.particles,
                           .name = chosen.material,
                           .material = firn_bench_material(chosen.material),
                           .transfer = find_transfer(chosen.transfer),
                           .threads = chosen.threads,
                           .isa = "scalar",
                           .path = FIRN_PATH_PLAIN,
                           .warmup = 2,
                           .advance = 2,
                           .least = 1,
                           .most = 5,
                           .time_allowed = 3};
    firn_error error = {0};
    firn_status st = firn_bench_cube(&fast, &error);
    if (st == FIRN_OK && chosen.reference) st = firn_bench_cube(&plain, &error);
    if (st == FIRN_OK) {
        if (chosen.json) {
            print_json(&fast, chosen.reference ? &plain : NULL);
        } else {
            print_text(&fast, chosen.reference ? &plain : NULL);
        }
        write_row(&csv, &fast);
        if (chosen.reference) write_row(&csv, &plain);
    } else {
        exit_code = firn_options_failure(command_name, st, &error);
    }
    if (!firn_bench_csv_close(&csv, command_name) && exit_code == 0) exit_code = FIRN_EXIT_OUTPUT;
    return exit_code;
}

const firn_command firn_bench_step_command = {
    .name = command_name,
    .line = "speed of one scene next to the machine's peak",
    .summary = "Steps a jittered cube, 8 particles per cell, that turns and falls onto a plane, "
               "with automatic dt. After 20 steps it times advances of about 50 steps each, as a "
               "video frame would be, and gives the median; the machine's multiply-add peak is "
               "taken in between, on as many threads.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run};
