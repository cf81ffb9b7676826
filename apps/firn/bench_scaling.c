/* firn bench scaling: does a particle cost the same in a small world and in a large one? */
#include "bench.h"

static const char command_name[] = "firn bench scaling";

/* What a run may take per particle at most: the engine's target of 200 B and the seeds' doubles,
 * with some to spare. */
#define BYTES_NEEDED 300.0

static const int64_t sizes[] = {100000, 300000, 1000000, 3000000, 10000000};
enum { SIZES = sizeof sizes / sizeof *sizes };

static double nanoseconds(const firn_cube_run *run)
{
    return run->seconds_per_step * 1e9 / (double)run->particles;
}

/* Small worlds are over so soon that a moment's disturbance would decide: they are timed more often. */
static firn_cube_run plan(int64_t particles, const char *material, int64_t threads, const char *isa)
{
    return (firn_cube_run){.particles = particles,
                           .name = material,
                           .material = firn_bench_material(material),
                           .transfer = FIRN_APIC,
                           .threads = threads,
                           .isa = isa,
                           .warmup = 20,
                           .advance = 50,
                           .least = 3,
                           .most = 9,
                           .time_allowed = 6};
}

static struct {
    int64_t threads;
    const char *material, *isa, *csv;
    bool json;
} chosen = {.material = "neo_hookean"};

static const firn_option options[] = {
    {"--material", FIRN_OPTION_TEXT, &chosen.material, "NAME", "preset or law (neo_hookean)",
     .word = firn_bench_material_name},
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
                             "particles,isa,threads,material,steps,ns_per_particle_step,"
                             "bytes_per_particle,fma_peak_gflops")) {
        return FIRN_EXIT_OUTPUT;
    }

    if (chosen.json) {
        printf("{\"sizes\": [");
    } else {
        printf("%10s %8s %22s %20s %12s\n", "particles", "steps", "ns per particle-step",
               "bytes per particle", "peak GFLOP/s");
    }
    double least = 0, most = 0;
    const char *separator = "";
    for (int i = 0; i < SIZES && exit_code == 0; i++) {
        const double needed = BYTES_NEEDED * (double)sizes[i];
        const double available = (double)firn_bench_memory_available();
        if (needed > available) {
            if (chosen.json) {
                printf("%s\n  {\"particles\": %lld, \"skipped\": \"memory\"}", separator,
                       (long long)sizes[i]);
                separator = ",";
            } else {
                printf("%10lld skipped: needs about %.1f GB, %.1f GB are free\n",
                       (long long)sizes[i], needed * 1e-9, available * 1e-9);
            }
            continue;
        }
        firn_cube_run cube = plan(sizes[i], chosen.material, chosen.threads, chosen.isa);
        firn_error error = {0};
        const firn_status st = firn_bench_cube(&cube, &error);
        if (st != FIRN_OK) {
            exit_code = firn_options_failure(command_name, st, &error);
            break;
        }
        const double ns = nanoseconds(&cube);
        if (least == 0 || ns < least) least = ns;
        if (ns > most) most = ns;
        if (chosen.json) {
            printf("%s\n  {\"particles\": %lld, \"isa\": \"%s\", \"threads\": %d, \"steps\": %lld, "
                   "\"ns_per_particle_step\": %.4f, \"bytes_per_particle\": %.2f}",
                   separator, (long long)cube.particles, cube.info.isa, cube.info.threads,
                   (long long)cube.steps, ns, cube.bytes_per_particle);
            separator = ",";
        } else {
            printf("%10lld %8lld %22.2f %20.1f %12.1f\n", (long long)cube.particles,
                   (long long)cube.steps, ns, cube.bytes_per_particle, cube.peak_gflops);
        }
        fflush(stdout);
        firn_bench_csv_row(&csv, "%lld,%s,%d,%s,%lld,%.2f,%.1f,%.1f", (long long)cube.particles,
                           cube.info.isa, cube.info.threads, chosen.material, (long long)cube.steps,
                           ns, cube.bytes_per_particle, cube.peak_gflops);
    }
    if (chosen.json) {
        printf("],\n \"flatness\": %.4f}\n", least > 0 ? most / least : 0);
    } else if (least > 0) {
        printf("flatness %.3f (largest over smallest cost)\n", most / least);
    }
    if (!firn_bench_csv_close(&csv, command_name) && exit_code == 0) exit_code = FIRN_EXIT_OUTPUT;
    return exit_code;
}

const firn_command firn_bench_scaling_command = {
    .name = command_name,
    .line = "cost per particle and memory from 100 k to 10 M particles",
    .summary = "The cube of `firn bench step` with 100 thousand to 10 million particles: cost per "
               "particle-step, memory per particle, and flatness, the largest cost over the "
               "smallest.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run};
