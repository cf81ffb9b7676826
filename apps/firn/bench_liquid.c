/* firn bench liquid: a dam that breaks, weakly compressible and with pressure projection, frame by frame in
 * turns: what each takes, and how alike they are. */
#include <math.h>
#include <stdlib.h>

#include "bench.h"

static const char command_name[] = "firn bench liquid";

#define GRAVITY 9.81     /* m/s2 */
#define FRAME (1.0 / 24) /* s */

/* The scene dam_obstacle: a dam at one end of a tank, and a post in its way; m. */
static const double dam_size[3] = {0.4, 0.5, 0.64}, tank_size[3] = {1.2, 1, 0.64},
                    post_size[3] = {0.12, 0.4, 0.16}, post_middle[3] = {0.8, 0.2, 0.32};

static struct {
    int64_t threads, particles, frames;
    const char *isa, *csv;
    bool json;
} chosen = {.particles = 16000, .frames = 48};

static const firn_option options[] = {
    {"--particles", FIRN_OPTION_COUNT, &chosen.particles, "N", "particles, about", .min = 1000,
     .max = 100000000},
    {"--frames", FIRN_OPTION_COUNT, &chosen.frames, "N", "frames of 1/24 s", .min = 1, .max = 1000},
    FIRN_THREADS_OPTION(chosen.threads),
    FIRN_ISA_OPTION(chosen.isa),
    FIRN_JSON_OPTION(chosen.json),
    FIRN_CSV_OPTION(chosen.csv),
};

typedef struct dam {
    firn_sim *sim;
    double cell; /* m */
    int64_t particles, steps, iterations;
    double seconds;   /* of processor time */
    double middle[3]; /* m */
} dam;

static firn_collider_def wall(firn_shape_kind shape, const double size[3], const double middle[3])
{
    firn_collider_def c = firn_collider_def_default();
    c.shape = shape;
    c.boundary = FIRN_SLIP;
    for (int a = 0; a < 3; a++) {
        c.size[a] = size[a] / 2;
        c.position[a] = middle[a];
    }
    return c;
}

static firn_status fill(dam *d, double spacing, firn_error *error)
{
    const firn_body body = {.spacing = spacing,
                            .center = {dam_size[0] / 2, dam_size[1] / 2, dam_size[2] / 2}};
    int32_t count[3];
    for (int a = 0; a < 3; a++) count[a] = (int32_t)lround(dam_size[a] / spacing);
    d->particles = (int64_t)count[0] * count[1] * count[2];
    firn_seeds seeds = {0};
    firn_status st = FIRN_NO_MEMORY;
    if (firn_seeds_block(&seeds, &body, count, d->particles, 0)) {
        st = firn_seeds_add(&seeds, spacing, d->sim, error);
    } else {
        snprintf(error->message, sizeof error->message, "no memory for %lld particles; use fewer",
                 (long long)d->particles);
    }
    firn_seeds_free(&seeds);
    return st;
}

static firn_status open_dam(dam *d, firn_pressure pressure, firn_error *error)
{
    const double volume = dam_size[0] * dam_size[1] * dam_size[2],
                 spacing = cbrt(volume / (double)chosen.particles),
                 tank_middle[3] = {tank_size[0] / 2, tank_size[1] / 2, tank_size[2] / 2};
    const firn_material_def water = firn_material_def_preset(firn_preset_find("water"));
    const firn_collider_def walls[2] = {wall(FIRN_INSIDE, tank_size, tank_middle),
                                        wall(FIRN_BOX, post_size, post_middle)};
    firn_sim_def def = firn_sim_def_default();
    def.cell_size = d->cell = 2 * spacing;
    def.materials = &water;
    def.material_count = 1;
    def.colliders = walls;
    def.collider_count = 2;
    def.threads = (int32_t)chosen.threads;
    def.isa = chosen.isa;
    def.gravity[1] = -GRAVITY;
    def.pressure = pressure;
    def.dt_max = FRAME / 2;
    const firn_status st = firn_sim_create(&def, &d->sim, error);
    return st == FIRN_OK ? fill(d, spacing, error) : st;
}

static firn_status advance(dam *d, firn_error *error)
{
    firn_report report;
    const double mark = firn_bench_cpu();
    firn_status st = firn_sim_advance(d->sim, FRAME, &report, error);
    d->seconds += firn_bench_cpu() - mark;
    if (st != FIRN_OK) return st;
    d->steps += report.steps;
    d->iterations += report.iterations;
    double *x = malloc((size_t)d->particles * 3 * sizeof *x);
    st = x ? firn_sim_read(d->sim, FIRN_POSITION, 0, d->particles, x, error) : FIRN_NO_MEMORY;
    for (int a = 0; a < 3 && st == FIRN_OK; a++) {
        d->middle[a] = 0;
        for (int64_t i = 0; i < d->particles; i++) {
            d->middle[a] += x[3 * i + a] / (double)d->particles;
        }
    }
    free(x);
    return st;
}

/* What the machine could do meanwhile. */
typedef struct peak {
    double least, most;
} peak;

static void take_peak(peak *p, const firn_sim *sim)
{
    const firn_sim_info info = firn_sim_get_info(sim);
    const double gflops = firn_bench_peak_gflops(info.isa, info.threads);
    p->most = fmax(p->most, gflops);
    if (p->least == 0 || gflops < p->least) p->least = gflops;
}

static void print_result(const dam d[2], const firn_sim_info *info, const peak *p, double apart)
{
    const double less = d[0].seconds / d[1].seconds,
                 fewer = (double)d[0].steps / (double)d[1].steps;
    if (chosen.json) {
        printf("{\"particles\": %lld, \"frames\": %lld, \"isa\": \"%s\", \"threads\": %d, "
               "\"compressible_steps\": %lld, \"compressible_cpu_seconds\": %.3f, "
               "\"projection_steps\": %lld, \"projection_iterations\": %lld, "
               "\"projection_cpu_seconds\": %.3f, \"cheaper\": %.3f, \"apart_cells\": %.3f, "
               "\"peak_gflops_least\": %.2f, \"peak_gflops_most\": %.2f}\n",
               (long long)d[0].particles, (long long)chosen.frames, info->isa, info->threads,
               (long long)d[0].steps, d[0].seconds, (long long)d[1].steps,
               (long long)d[1].iterations, d[1].seconds, less, apart, p->least, p->most);
        return;
    }
    printf("a dam of %lld particles before a post, %lld frames of 1/24 s, %s, %d thread%s\n"
           "multiply-add peak meanwhile: %.1f to %.1f GFLOP/s\n\n"
           "                       steps   iterations   processor time, s\n"
           "weakly compressible  %7lld   %10s   %17.2f\n"
           "projection           %7lld   %10lld   %17.2f\n\n"
           "projection takes %.1f times fewer steps and %.2f times less processor time;\n"
           "centres of mass are at most %.2f cells apart\n",
           (long long)d[0].particles, (long long)chosen.frames, info->isa, info->threads,
           info->threads == 1 ? "" : "s", p->least, p->most, (long long)d[0].steps, "",
           d[0].seconds, (long long)d[1].steps, (long long)d[1].iterations, d[1].seconds, fewer,
           less, apart);
}

static int run(void)
{
    firn_bench_csv csv;
    if (!firn_bench_csv_open(&csv, command_name, chosen.csv,
                             "particles,frames,isa,threads,compressible_steps,"
                             "compressible_cpu_seconds,projection_steps,projection_iterations,"
                             "projection_cpu_seconds,apart_cells,peak_gflops_least,"
                             "peak_gflops_most")) {
        return FIRN_EXIT_OUTPUT;
    }
    static const firn_pressure pressure[2] = {FIRN_PRESSURE_NONE, FIRN_PRESSURE_PROJECTION};
    dam d[2] = {{0}};
    firn_error error = {0};
    firn_status st = FIRN_OK;
    for (int i = 0; i < 2 && st == FIRN_OK; i++) st = open_dam(&d[i], pressure[i], &error);
    peak p = {0};
    double apart = 0;
    for (int64_t frame = 0; frame < chosen.frames && st == FIRN_OK; frame++) {
        take_peak(&p, d[0].sim);
        for (int i = 0; i < 2 && st == FIRN_OK; i++) st = advance(&d[i], &error);
        const double way =
            hypot(hypot(d[0].middle[0] - d[1].middle[0], d[0].middle[1] - d[1].middle[1]),
                  d[0].middle[2] - d[1].middle[2]);
        apart = fmax(apart, way / d[0].cell);
    }
    int exit_code = st == FIRN_OK ? 0 : firn_options_failure(command_name, st, &error);
    if (st == FIRN_OK) {
        const firn_sim_info info = firn_sim_get_info(d[0].sim);
        print_result(d, &info, &p, apart);
        firn_bench_csv_row(&csv, "%lld,%lld,%s,%d,%lld,%.3f,%lld,%lld,%.3f,%.4f,%.2f,%.2f",
                           (long long)d[0].particles, (long long)chosen.frames, info.isa,
                           info.threads, (long long)d[0].steps, d[0].seconds, (long long)d[1].steps,
                           (long long)d[1].iterations, d[1].seconds, apart, p.least, p.most);
    }
    for (int i = 0; i < 2; i++) firn_sim_destroy(d[i].sim);
    if (!firn_bench_csv_close(&csv, command_name) && exit_code == 0) exit_code = FIRN_EXIT_OUTPUT;
    return exit_code;
}

const firn_command firn_bench_liquid_command = {
    .name = command_name,
    .line = "a splash with pressure projection and without",
    .summary = "Lets the dam of scenes/dam_obstacle.yaml break, weakly compressible and with "
               "pressure projection, frame by frame "
               "in turns: steps and processor time of each, and how far their centres of mass "
               "part.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run};
