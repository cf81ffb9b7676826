/* What a run takes on disk, and whether there is room for it before the first step is spent.
 *
 * The sizes of files are measured, not guessed: the format's own writer writes some of the particles
 * into memory, once as they are at the start, which is as well as they will ever compress, and once
 * with noise in place of every number, which is as badly. A run is refused only when even the first
 * does not fit. The size of a volume follows the space that particles take, not their number: it is that
 * of all particles at the start, and may become anything. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/error.h"
#include "geometry/random.h"
#include "run/run.h"

enum { SAMPLE = 8192, MOST_LOOKS = 100000 };

const char *firn_amount(double bytes, char text[32])
{
    static const char *const unit[] = {"B", "kB", "MB", "GB", "TB"};
    int u = 0;
    while (bytes >= 999.5 && u < 4) {
        bytes /= 1000;
        u++;
    }
    snprintf(text, 32, "%.3g %s", bytes, unit[u]);
    return text;
}

static void make_noise(firn_points *points, double whole)
{
    uint64_t counter = 0;
    for (int32_t c = 0; c < points->column_count; c++) {
        const firn_column *column = &points->column[c];
        const bool fraction = column->type <= FIRN_TYPE_f64;
        for (int64_t i = 0; i < points->count * column->components; i++) {
            const double u = firn_unit(firn_mix(++counter));
            firn_type_set(column->type, column->data, i, fraction ? 2 * u - 1 : floor(u * whole));
        }
    }
}

/* Bytes of a file without particles, and of each particle in it. */
typedef struct file_size {
    double empty, least, most; /* least: as at the start; most: as noise */
} file_size;

/* So many particles that are all 0, where there are none yet to measure. */
static firn_status make_empty(firn_points *points, int64_t count, firn_error *error)
{
    firn_points made = {.count = count};
    for (int32_t c = 0; c < points->column_count; c++) {
        const firn_column *from = &points->column[c];
        if (firn_points_add(&made, from->name, from->type, from->components, error)) continue;
        firn_points_free(&made);
        return FIRN_NO_MEMORY;
    }
    firn_points_free(points);
    *points = made;
    return FIRN_OK;
}

/* Fails, at the output's place, when the format cannot hold what it is given. */
static firn_status measure(const firn_job *job, const firn_scene_output *o, file_size *out,
                           firn_error *error)
{
    const firn_write_options options = {.half = o->half,
                                        .classic = o->classic,
                                        .level = (int32_t)o->level,
                                        .frame = NAN,
                                        .voxel = o->voxel};
    const bool volume = firn_format_find(o->file, NULL).needs != NULL;
    firn_points points;
    firn_error inner = {0};
    size_t empty = 0, now = 0, noisy = 0;
    /* Nodes are about as many as particles, or fewer, and their numbers as noisy. */
    firn_status st = firn_job_points(job, o->of == 0 ? o->names : NULL, volume ? INT64_MAX : SAMPLE,
                                     &points, &inner);
    if (st == FIRN_OK && points.count == 0) st = make_empty(&points, SAMPLE, &inner);
    if (st == FIRN_OK) st = firn_points_size(o->file, &points, &options, &now, &inner);
    const double sampled = (double)points.count;
    if (st == FIRN_OK && !volume) {
        make_noise(&points, fmax((double)firn_sim_count(job->sim), sampled));
        st = firn_points_size(o->file, &points, &options, &noisy, &inner);
    }
    points.count = 0;
    if (st == FIRN_OK) st = firn_points_size(o->file, &points, &options, &empty, &inner);
    firn_points_free(&points);
    if (st == FIRN_INVALID) return firn_value_pass(o->where, &inner, error);
    if (st != FIRN_OK) return firn_fail(error, st, "%s", inner.message);
    const double least = fmax((double)now - (double)empty, 0) / sampled;
    *out = (file_size){(double)empty, volume ? 0 : least,
                       volume ? least : fmax((double)noisy - (double)empty, 0) / sampled};
    return FIRN_OK;
}

static double count_at(const firn_job *job, int64_t frame)
{
    const firn_scene_frames *f = &job->scene->frames;
    return (double)firn_job_count_at(job, (double)(frame - f->start) / f->fps);
}

double firn_frames_particles(const firn_job *job, int64_t first, int64_t last, int64_t every)
{
    if (last < first) return 0;
    const int64_t files = (last - first) / every + 1, stride = files / MOST_LOOKS + 1;
    double sum = 0, looked = 0;
    for (int64_t i = 0; i < files; i += stride, looked++) {
        sum += count_at(job, first + i * every);
    }
    return sum / looked * (double)files;
}

/* A frame of an output's from `first` on. */
static int64_t first_file(const firn_scene *scene, const firn_scene_output *o, int64_t first)
{
    const int64_t past = (first - scene->frames.start) % o->every;
    return past ? first + o->every - past : first;
}

/* The folder of a path, "." for none. Cuts the path short. */
static const char *folder_of(char *path)
{
    char *slash = strrchr(path, '/');
    if (!slash) return ".";
    slash[slash == path] = 0;
    return path;
}

static double file_bytes(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISREG(about.st_mode) ? (double)about.st_size : 0;
}

/* Whether particles may go, and later files be smaller. */
static bool may_shrink(const firn_scene *scene)
{
    return scene->sink_count > 0 || (scene->domain_value && scene->domain.leaving == 1);
}

static firn_status need_of_output(const firn_job *job, const firn_scene_output *o, int64_t first,
                                  int64_t last, firn_need *out, firn_error *error)
{
    file_size size = {0};
    firn_status st = measure(job, o, &size, error);
    const int64_t begin = first_file(job->scene, o, first);
    const int64_t files = begin <= last ? (last - begin) / o->every + 1 : 0;
    for (int64_t i = 0; i < files && i < MOST_LOOKS && !o->sequence && st == FIRN_OK; i++) {
        char *path = firn_frame_path(o->file, begin + i * o->every);
        if (!path) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
        out->replaced += file_bytes(path);
        free(path);
    }
    const double particles = firn_frames_particles(job, begin, last, o->every);
    out->least = (double)files * size.empty + particles * size.least;
    out->most = (double)files * size.empty + particles * size.most;
    /* A sequence stores what stays once. The file it replaces is there until it is finished. */
    if (files > 1 && (may_shrink(job->scene) || o->sequence)) {
        out->least = size.empty + (double)firn_sim_count(job->sim) * size.least;
    }
    out->folder = st == FIRN_OK ? firn_frame_path(o->file, first) : NULL;
    if (st == FIRN_OK && !out->folder) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    if (out->folder && folder_of(out->folder) != out->folder) strcpy(out->folder, ".");
    return st;
}

firn_status firn_needs_find(const firn_job *job, const char *checkpoints, int64_t first,
                            int64_t last, firn_needs *out, firn_error *error)
{
    const firn_scene *scene = job->scene;
    *out = (firn_needs){0};
    out->need = calloc((size_t)scene->output_count + 1, sizeof *out->need);
    if (!out->need) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    firn_status st = FIRN_OK;
    for (int32_t i = 0; i < scene->output_count && st == FIRN_OK; i++) {
        st = need_of_output(job, &scene->output[i], first, last, &out->need[out->count++], error);
    }
    const int64_t every = scene->checkpoint.every;
    if (st == FIRN_OK && every > 0) {
        firn_need *n = &out->need[out->count++];
        double now = 0, then = 0;
        st = firn_checkpoint_size(job, firn_sim_count(job->sim), &now, error);
        /* The new one is there before the oldest goes. */
        const double files =
            fmin((double)scene->checkpoint.keep + 1, ceil((double)(last - first + 1) / every));
        const int64_t oldest = last - ((int64_t)files - 1) * every;
        const double particles = firn_frames_particles(job, oldest, last, every);
        if (st == FIRN_OK && files > 0) {
            st = firn_checkpoint_size(job, (int64_t)(particles / files), &then, error);
        }
        n->most = then * files;
        n->least = may_shrink(scene) ? now : fmin(now, then) * files;
        n->folder = strdup(checkpoints);
        n->replaced = firn_checkpoint_bytes(checkpoints, scene->name);
        if (st == FIRN_OK && !n->folder) st = firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    }
    for (int32_t i = 0; i < out->count; i++) {
        out->least += out->need[i].least;
        out->most += out->need[i].most;
    }
    if (st != FIRN_OK) firn_needs_free(out);
    return st;
}

void firn_needs_free(firn_needs *needs)
{
    for (int32_t i = 0; i < needs->count; i++) free(needs->need[i].folder);
    free(needs->need);
    *needs = (firn_needs){0};
}

/* Bytes free in a folder; negative where the file system does not tell. */
static double free_bytes(const char *folder)
{
    struct statvfs about;
    if (statvfs(folder, &about) != 0 || about.f_blocks == 0) return -1;
    return (double)(geteuid() == 0 ? about.f_bfree : about.f_bavail) * (double)about.f_frsize;
}

firn_status firn_needs_check(const firn_needs *needs, char *doubt, size_t size, firn_error *error)
{
    doubt[0] = 0;
    for (int32_t i = 0; i < needs->count; i++) {
        struct stat mine, other;
        const char *folder = needs->need[i].folder;
        const double available = free_bytes(folder);
        if (available < 0 || stat(folder, &mine) != 0) continue;
        double least = 0, most = 0, room = available;
        bool first = true; /* of its file system */
        for (int32_t k = 0; k < needs->count; k++) {
            const firn_need *n = &needs->need[k];
            if (stat(n->folder, &other) != 0 || other.st_dev != mine.st_dev) continue;
            first = first && k >= i;
            least += n->least;
            most += n->most;
            room += n->replaced;
        }
        char a[32], b[32];
        if (least > room) {
            return firn_fail(
                error, FIRN_OUTPUT,
                "%s: the run takes at least %s and %s are free; free some space, write to "
                "another disk, or ask for fewer attributes, frames or checkpoints",
                folder, firn_amount(least, a), firn_amount(room, b));
        }
        if (most > room && first && !doubt[0]) {
            snprintf(doubt, size, "%s: the run may take up to %s and %s are free", folder,
                     firn_amount(most, a), firn_amount(room, b));
        }
    }
    return FIRN_OK;
}
