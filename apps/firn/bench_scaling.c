/* firn bench scaling: does a particle cost the same in a small world and in a large one? */
#include "bench.h"

#include "options.h"

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
static firn_cube_run plan(int64_t particles, firn_law_kind law, int64_t threads, const char *isa)
{
    return (firn_cube_run){.particles = particles,
                           .law = law,
                           .transfer = FIRN_APIC,
                           .threads = threads,
                           .isa = isa,
                           .warmup = 20,
                           .advance = 50,
                           .least = 3,
                           .most = 9,
                           .time_allowed = 6};
}

int firn_bench_scaling_main(int argc, char **argv)
{
    int64_t threads = 0;
    const char *material = "neo_hookean", *isa = NULL, *csv_path = NULL;
    bool json = false;
    const firn_option options[] = {
        {"--material", FIRN_OPTION_TEXT, &material, "LAW", "neo_hookean, fixed_corotated, ...", 0,
         0},
        {"--threads", FIRN_OPTION_COUNT, &threads, "T", "0, the default, is all there are", 0, 256},
        {"--isa", FIRN_OPTION_TEXT, &isa, "NAME", "scalar, sse2, avx2, avx512, neon (the best)", 0,
         0},
        {"--json", FIRN_OPTION_FLAG, &json, NULL, "print JSON", 0, 0},
        {"--csv", FIRN_OPTION_TEXT, &csv_path, "FILE", "append the figures to FILE", 0, 0},
    };
    const firn_command command = {
        command_name,
        "The cube of `firn bench step` with 100 thousand to 10 million particles: cost per "
        "particle-step,\n"
        "memory per particle, and flatness, the largest cost over the smallest.",
        options, sizeof options / sizeof *options};
    int exit_code = 0;
    if (!firn_options_parse(&command, argc, argv, &exit_code)) return exit_code;
    firn_law_kind law = FIRN_NEO_HOOKEAN;
    if (!firn_options_law(command_name, material, &law)) return FIRN_EXIT_USAGE;
    if (!firn_options_isa(command_name, isa)) return FIRN_EXIT_USAGE;
    firn_bench_csv csv;
    if (!firn_bench_csv_open(&csv, command_name, csv_path,
                             "particles,isa,threads,material,steps,ns_per_particle_step,"
                             "bytes_per_particle,fma_peak_gflops")) {
        return FIRN_EXIT_OUTPUT;
    }

    if (json) {
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
            if (json) {
                printf("%s\n  {\"particles\": %lld, \"skipped\": \"memory\"}", separator,
                       (long long)sizes[i]);
                separator = ",";
            } else {
                printf("%10lld skipped: needs about %.1f GB, %.1f GB are free\n",
                       (long long)sizes[i], needed * 1e-9, available * 1e-9);
            }
            continue;
        }
        firn_cube_run run = plan(sizes[i], law, threads, isa);
        firn_error error = {0};
        const firn_status st = firn_bench_cube(&run, &error);
        if (st != FIRN_OK) {
            exit_code = firn_options_failure(command_name, st, &error);
            break;
        }
        const double ns = nanoseconds(&run);
        if (least == 0 || ns < least) least = ns;
        if (ns > most) most = ns;
        if (json) {
            printf("%s\n  {\"particles\": %lld, \"isa\": \"%s\", \"threads\": %d, \"steps\": %lld, "
                   "\"ns_per_particle_step\": %.4f, \"bytes_per_particle\": %.2f}",
                   separator, (long long)run.particles, run.info.isa, run.info.threads,
                   (long long)run.steps, ns, run.bytes_per_particle);
            separator = ",";
        } else {
            printf("%10lld %8lld %22.2f %20.1f %12.1f\n", (long long)run.particles,
                   (long long)run.steps, ns, run.bytes_per_particle, run.peak_gflops);
        }
        fflush(stdout);
        firn_bench_csv_row(&csv, "%lld,%s,%d,%s,%lld,%.2f,%.1f,%.1f", (long long)run.particles,
                           run.info.isa, run.info.threads, firn_law_name(law), (long long)run.steps,
                           ns, run.bytes_per_particle, run.peak_gflops);
    }
    if (json) {
        printf("],\n \"flatness\": %.4f}\n", least > 0 ? most / least : 0);
    } else if (least > 0) {
        printf("flatness %.3f (largest over smallest cost)\n", most / least);
    }
    if (!firn_bench_csv_close(&csv, command_name) && exit_code == 0) exit_code = FIRN_EXIT_OUTPUT;
    return exit_code;
}
