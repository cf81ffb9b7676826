/* firn bench fill: how long it takes to fill a mesh of many triangles with many particles. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <firn/geometry.h>

#include "app.h"
#include "bench.h"
#include "options.h"

static const char command_name[] = "firn bench fill";

/* A ball with bumps as the text of an OBJ file: rings of `around` vertices between two poles. To be
 * freed. */
static char *make_mesh(int64_t triangles, size_t *size)
{
    const double pi = 3.14159265358979323846;
    const long around = (long)sqrt((double)triangles), rings = (long)(triangles / (2 * around));
    char *text = NULL;
    FILE *file = open_memstream(&text, size);
    if (!file) return NULL;
    for (long r = 1; r <= rings; r++) {
        for (long a = 0; a < around; a++) {
            const double u = pi * (double)r / (double)(rings + 1),
                         v = 2 * pi * (double)a / (double)around;
            const double radius = 0.5 + 0.05 * sin(5 * u) * cos(7 * v);
            fprintf(file, "v %.9g %.9g %.9g\n", radius * sin(u) * cos(v), radius * cos(u),
                    radius * sin(u) * sin(v));
        }
    }
    fprintf(file, "v 0 0.5 0\nv 0 -0.5 0\n");
    const long top = rings * around + 1, bottom = top + 1;
    for (long a = 0; a < around; a++) {
        const long b = (a + 1) % around;
        fprintf(file, "f %ld %ld %ld\n", top, b + 1, a + 1);
        fprintf(file, "f %ld %ld %ld\n", bottom, top - around + a, top - around + b);
        for (long r = 0; r + 1 < rings; r++) {
            const long c[4] = {r * around + a + 1, r * around + b + 1, (r + 1) * around + b + 1,
                               (r + 1) * around + a + 1};
            fprintf(file, "f %ld %ld %ld\nf %ld %ld %ld\n", c[0], c[1], c[2], c[0], c[2], c[3]);
        }
    }
    if (fclose(file) == 0) return text;
    free(text);
    return NULL;
}

static firn_status fill_all(const firn_region *region, int64_t particles, int32_t threads,
                            const firn_bench_csv *csv, int32_t triangles, firn_error *error)
{
    for (firn_pattern p = 0; firn_pattern_name(p); p++) {
        firn_fill_def def = firn_fill_def_default();
        def.pattern = p;
        def.separation = cbrt(firn_region_get_info(region).volume / (double)particles);
        def.threads = threads;
        firn_filling f;
        const double begin = firn_clock(), cpu = firn_bench_cpu();
        const firn_status st = firn_fill(region, &def, &f, error);
        const double seconds = firn_clock() - begin, work = firn_bench_cpu() - cpu;
        if (st != FIRN_OK) return st;
        printf("%-12s %9lld particles %8.2f s, processor %.2f s\n", firn_pattern_name(p),
               (long long)f.count, seconds, work);
        fflush(stdout);
        firn_bench_csv_row(csv, "%s,%d,%lld,%d,%.4f,%.4f", firn_pattern_name(p), triangles,
                           (long long)f.count, threads, seconds, work);
        firn_filling_free(&f);
    }
    return FIRN_OK;
}

static struct {
    int64_t threads, triangles, particles;
    const char *csv;
} chosen = {.triangles = 1000000, .particles = 1000000};

static const firn_option options[] = {
    {"--triangles", FIRN_OPTION_COUNT, &chosen.triangles, "N", "of the mesh (1000000)", .min = 100,
     .max = 10000000},
    {"--particles", FIRN_OPTION_COUNT, &chosen.particles, "N", "about this many (1000000)",
     .min = 1, .max = 100000000},
    FIRN_THREADS_OPTION(chosen.threads),
    FIRN_CSV_OPTION(chosen.csv),
};

static int run(void)
{
    int exit_code = 0;
    firn_bench_csv csv;
    if (!firn_bench_csv_open(&csv, command_name, chosen.csv,
                             "pattern,triangles,particles,threads,seconds,cpu_seconds")) {
        return FIRN_EXIT_OUTPUT;
    }
    const int32_t threads =
        chosen.threads > 0 ? (int32_t)chosen.threads : (int32_t)sysconf(_SC_NPROCESSORS_ONLN);
    firn_error error = {0};
    firn_region *region = NULL;
    firn_bytes text = {0};
    text.data = (uint8_t *)make_mesh(chosen.triangles, &text.size);
    const firn_placement placement = firn_placement_default();
    const double begin = firn_clock(), cpu = firn_bench_cpu();
    firn_status st =
        text.data ? firn_region_parse_mesh("ball.obj", &text, threads, &placement, &region, &error)
                  : FIRN_NO_MEMORY;
    firn_bytes_free(&text);
    if (st == FIRN_OK) {
        const double seconds = firn_clock() - begin, work = firn_bench_cpu() - cpu;
        const int32_t triangles = firn_region_get_info(region).triangles;
        printf("%-12s %9d triangles %8.2f s, processor %.2f s; %d threads\n", "reading", triangles,
               seconds, work, threads);
        firn_bench_csv_row(&csv, "reading,%d,0,%d,%.4f,%.4f", triangles, threads, seconds, work);
        st = fill_all(region, chosen.particles, threads, &csv, triangles, &error);
    }
    firn_region_destroy(region);
    if (st != FIRN_OK) exit_code = firn_options_failure(command_name, st, &error);
    if (!firn_bench_csv_close(&csv, command_name) && exit_code == 0) exit_code = FIRN_EXIT_OUTPUT;
    return exit_code;
}

const firn_command firn_bench_fill_command = {
    .name = command_name,
    .line = "filling a large mesh with particles",
    .summary = "Reads a bumpy ball as an OBJ mesh and fills it in every pattern: seconds.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run};
