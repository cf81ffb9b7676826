/* firn bench files: what writing a frame costs, by itself and beside the simulation.
 *
 * A jelly cube that turns and falls is advanced by a frame, so that its numbers are those of a run.
 * Then every format writes and reads it. Last the scene runs with files every fourth frame: what
 * those frames take more than the others, per step, is what the files cost. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app.h"
#include "bench.h"
#include "options.h"
#include <firn/scene.h>

static const char command_name[] = "firn bench files";

enum { EVERY = 4, RUN_FRAMES = 13 };

static firn_status read_scene(int64_t particles, const char *more, firn_scene **scene,
                              firn_error *error)
{
    char text[1500];
    snprintf(text, sizeof text,
             "{firn: 1, name: bench, resolution: %.17g, frames: {end: %d}, materials: {jelly: "
             "{preset: jelly_hard}}, objects: [{shape: {box: {center: [0, 0.8, 0]}}, velocity: "
             "[0.5, -2, 0], spin: [0, 90, 30]}], colliders: [{shape: {plane: {}}}]%s}",
             1 / cbrt((double)particles), RUN_FRAMES, more);
    const firn_scene_def def = {.path = "bench", .text = text, .text_size = strlen(text)};
    return firn_scene_create(&def, scene, error);
}

/* ---- formats by themselves ---- */

/* Whether all columns came back with the same values. */
static bool same_points(const firn_points *a, const firn_points *b)
{
    bool same = a->count == b->count;
    for (int32_t c = 0; c < a->column_count && same; c++) {
        const firn_column *mine = &a->column[c], *other = firn_points_find(b, mine->name);
        same = other && other->components == mine->components;
        for (int64_t i = 0; i < a->count * mine->components && same; i++) {
            same = firn_type_get(mine->type, mine->data, i) ==
                   firn_type_get(other->type, other->data, i);
        }
    }
    return same;
}

static firn_status time_format(const char *folder, const char *end, const firn_points *points,
                               int32_t threads, const firn_bench_csv *csv, firn_error *error)
{
    char path[600];
    snprintf(path, sizeof path, "%s/a%s", folder, end);
    const firn_write_options options = {.frame = NAN, .threads = threads};
    const double begin = firn_clock(), cpu_begin = firn_bench_cpu();
    firn_status st = firn_points_write(path, points, &options, error);
    const double written = firn_clock(), cpu_written = firn_bench_cpu();
    firn_bytes bytes = {0};
    firn_points back = {0};
    if (st == FIRN_OK) st = firn_bytes_read(path, &bytes, error);
    const double loaded = firn_clock(), cpu_loaded = firn_bench_cpu();
    if (st == FIRN_OK) st = firn_points_parse(path, &bytes, &back, NULL, error);
    const double parsed = firn_clock(), cpu_parsed = firn_bench_cpu();
    unlink(path);
    if (st == FIRN_OK) {
        const bool same = same_points(points, &back);
        printf("%-9s %7d %9.1f %9.2f %9.2f %9.2f %9.2f   %s\n", end, threads,
               1e-6 * (double)bytes.size, written - begin, cpu_written - cpu_begin, parsed - loaded,
               cpu_parsed - cpu_loaded, same ? "exact" : "NOT EXACT");
        fflush(stdout);
        firn_bench_csv_row(csv, "%s,%d,%zu,%.4f,%.4f,%.4f,%.4f,%s", end, threads, bytes.size,
                           written - begin, cpu_written - cpu_begin, parsed - loaded,
                           cpu_parsed - cpu_loaded, same ? "exact" : "differs");
    }
    firn_points_free(&back);
    firn_bytes_free(&bytes);
    return st;
}

static firn_status time_formats(const firn_scene *scene, const char *folder, int32_t threads,
                                const char *isa, const firn_bench_csv *csv, firn_error *error)
{
    static const char *const ends[] = {".prt", ".bgeo.sc", ".bgeo", ".bgeo.gz",
                                       ".ply", ".csv",     ".geo"};
    firn_job *job = NULL;
    firn_points points = {0};
    const firn_job_options options = {.threads = threads, .isa = isa};
    firn_status st = firn_job_create(scene, &options, &job, error);
    if (st == FIRN_OK) st = firn_job_fill(job, error);
    if (st == FIRN_OK) st = firn_job_advance(job, 1 / firn_scene_get_info(scene).fps, NULL, error);
    const double begin = firn_clock(), cpu = firn_bench_cpu();
    if (st == FIRN_OK) st = firn_job_points(job, NULL, INT64_MAX, &points, error);
    if (st == FIRN_OK) {
        printf("%lld particles, all attributes; from the sim %.2f s, processor %.2f s\n",
               (long long)points.count, firn_clock() - begin, firn_bench_cpu() - cpu);
        printf("%-9s %7s %9s %9s %9s %9s %9s\n", "format", "threads", "MB", "write s", "cpu s",
               "read s", "cpu s");
    }
    const int32_t most = job ? firn_sim_get_info(firn_job_sim(job)).threads : 1;
    for (size_t i = 0; i < sizeof ends / sizeof *ends && st == FIRN_OK; i++) {
        st = time_format(folder, ends[i], &points, 1, csv, error);
        if (st == FIRN_OK && i < 2 && most > 1) { /* those that compress in parallel */
            st = time_format(folder, ends[i], &points, most, csv, error);
        }
    }
    firn_points_free(&points);
    firn_job_destroy(job);
    return st;
}

/* ---- beside the simulation ---- */

/* Wall clock, and processor time. */
typedef struct watch {
    double last[2];           /* when the frame before was done */
    double busy[2], quiet[2]; /* s */
    int64_t busy_steps, quiet_steps, files, quiet_frames;
} watch;

/* Files of frame f are taken from the sim before f is reported, and written during f + 1. */
static void see_frame(void *user_data, const firn_run_frame *f)
{
    watch *w = user_data;
    const double now[2] = {firn_clock(), firn_bench_cpu()};
    const double seconds[2] = {now[0] - w->last[0], now[1] - w->last[1]};
    const int64_t past = (f->frame - f->first) % EVERY;
    memcpy(w->last, now, sizeof now);
    if (f->frame - f->first < EVERY) return; /* pools still grow */
    double *sum = past <= 1 ? w->busy : w->quiet;
    for (int c = 0; c < 2; c++) sum[c] += seconds[c];
    if (past <= 1) {
        w->busy_steps += f->report.steps;
        w->files += past == 0;
    } else {
        w->quiet_steps += f->report.steps;
        w->quiet_frames++;
    }
}

static firn_status time_run(int64_t particles, const char *what, const char *more, int32_t threads,
                            const char *isa, const firn_bench_csv *csv, firn_error *error)
{
    firn_scene *scene = NULL;
    firn_status st = read_scene(particles, more, &scene, error);
    if (st != FIRN_OK) return st;
    firn_run_options options = firn_run_options_default(scene);
    options.threads = threads;
    options.isa = isa;
    watch w = {.last = {firn_clock(), firn_bench_cpu()}};
    const firn_run_hooks hooks = {.user_data = &w, .frame = see_frame};
    st = firn_run(scene, &options, &hooks, error);
    firn_scene_destroy(scene);
    if (st != FIRN_OK) return st;
    double frame[2], extra[2];
    for (int c = 0; c < 2; c++) {
        const double step = w.quiet[c] / (double)w.quiet_steps;
        extra[c] = (w.busy[c] - step * (double)w.busy_steps) / (double)w.files;
        frame[c] = w.quiet[c] / (double)w.quiet_frames;
    }
    printf("%-22s %9.2f %9.2f %7.1f %% %9.2f %9.2f %7.1f %%\n", what, frame[0], extra[0],
           100 * extra[0] / frame[0], frame[1], extra[1], 100 * extra[1] / frame[1]);
    fflush(stdout);
    firn_bench_csv_row(csv, "run %s,%d,0,%.4f,%.4f,%.4f,%.4f,", what, threads, frame[0], frame[1],
                       extra[0], extra[1]);
    return FIRN_OK;
}

static firn_status time_runs(const char *folder, int64_t particles, int32_t threads,
                             const char *isa, const firn_bench_csv *csv, firn_error *error)
{
    static const char *const kinds[][2] = {
        {"prt, all", "file: %s/a.$F.prt"},
        {"prt, P v id", "file: %s/a.$F.prt, attributes: [P, v, id]"},
        {"bgeo.sc, all", "file: %s/a.$F.bgeo.sc"},
        {"checkpoint", NULL},
    };
    printf("%-22s %9s %9s %9s %9s %9s %9s\n", "beside the simulation", "frame s", "file s", "",
           "frame cpu", "file cpu", "");
    firn_status st = FIRN_OK;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && st == FIRN_OK; i++) {
        char output[700], more[1000];
        snprintf(output, sizeof output, kinds[i][1] ? kinds[i][1] : "%s", folder);
        snprintf(more, sizeof more,
                 kinds[i][1] ? ", output: [{%s, every: %d}], checkpoint: {every: 0}"
                             : ", checkpoint: {folder: %s, every: %d, keep: 1}",
                 output, EVERY);
        st = time_run(particles, kinds[i][0], more, threads, isa, csv, error);
        for (int f = 1; f <= RUN_FRAMES; f++) {
            static const char *const names[] = {"a.%d.prt", "a.%d.bgeo.sc", "bench.%06d.ckpt"};
            for (int n = 0; n < 3; n++) {
                char name[64], path[700];
                snprintf(name, sizeof name, names[n], f);
                snprintf(path, sizeof path, "%s/%s", folder, name);
                unlink(path);
            }
        }
    }
    return st;
}

static struct {
    int64_t threads, particles;
    const char *isa, *csv;
} chosen = {.particles = 1000000};

static const firn_option options[] = {
    {"--particles", FIRN_OPTION_COUNT, &chosen.particles, "N", "about this many (1000000)",
     .min = 1000, .max = 100000000},
    FIRN_THREADS_OPTION(chosen.threads),
    FIRN_ISA_OPTION(chosen.isa),
    FIRN_CSV_OPTION(chosen.csv),
};

static int run(void)
{
    int exit_code = 0;
    const int32_t threads = (int32_t)chosen.threads;
    const char *temporary = getenv("TMPDIR");
    firn_bench_csv csv;
    if (!firn_bench_csv_open(
            &csv, command_name, chosen.csv,
            "what,threads,bytes,write_or_frame_s,cpu_s,read_or_file_s,cpu_s,back")) {
        return FIRN_EXIT_OUTPUT;
    }
    char folder[256];
    snprintf(folder, sizeof folder, "%.200s/firn_bench.XXXXXX", temporary ? temporary : "/tmp");
    if (!mkdtemp(folder)) {
        fprintf(stderr, "%s: no folder can be made in %s; set TMPDIR\n", command_name,
                temporary ? temporary : "/tmp");
        exit_code = FIRN_EXIT_OUTPUT;
    }
    firn_error error = {0};
    firn_scene *scene = NULL;
    firn_status st = exit_code ? FIRN_OK : read_scene(chosen.particles, "", &scene, &error);
    if (st == FIRN_OK && !exit_code) {
        st = time_formats(scene, folder, threads, chosen.isa, &csv, &error);
    }
    firn_scene_destroy(scene);
    if (st == FIRN_OK && !exit_code) {
        st = time_runs(folder, chosen.particles, threads, chosen.isa, &csv, &error);
    }
    rmdir(folder);
    if (st != FIRN_OK) exit_code = firn_options_failure(command_name, st, &error);
    if (!firn_bench_csv_close(&csv, command_name) && exit_code == 0) exit_code = FIRN_EXIT_OUTPUT;
    return exit_code;
}

const firn_command firn_bench_files_command = {
    .name = command_name,
    .line = "writing and reading frames, and their cost in a run",
    .summary =
        "Writes and reads a frame in every format, then runs a scene with files every fourth "
        "frame. Prints seconds, and the cost of a file relative to a frame. Files go to TMPDIR "
        "and are removed.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run};
