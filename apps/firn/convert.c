/* firn convert: reads particles in one format and writes them in another. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "app.h"
#include "progress.h"
#include <firn/alembic.h>

static const char command_name[] = "firn convert";

static int failure(const firn_error *error, int exit_code)
{
    fprintf(stderr, "%s: %s\n", command_name, error->message);
    return error->status == FIRN_NO_MEMORY ? FIRN_EXIT_MEMORY : exit_code;
}

/* By any name, links included. */
static bool same_file(const char *a, const char *b)
{
    struct stat of_a, of_b;
    if (strcmp(a, b) == 0) return true;
    return stat(a, &of_a) == 0 && stat(b, &of_b) == 0 && of_a.st_dev == of_b.st_dev &&
           of_a.st_ino == of_b.st_ino;
}

static int unknown_attribute(const firn_points *points, const char *name)
{
    const char *names[FIRN_MAX_COLUMNS + 1] = {0};
    for (int32_t k = 0; k < points->column_count; k++) names[k] = points->column[k].name;
    char near[400];
    fprintf(stderr, "%s: there is no attribute \"%s\"%s\n", command_name, name,
            firn_nearest(name, names, near, sizeof near));
    return FIRN_EXIT_USAGE;
}

/* Adds the column of that name to those chosen, once. False when there is none. */
static bool choose(const firn_points *points, const char *name, firn_points *chosen)
{
    const firn_column *column = firn_points_find(points, name);
    if (!column) return false;
    if (!firn_points_find(chosen, name)) chosen->column[chosen->column_count++] = *column;
    return true;
}

/* P, what the format needs and the attributes listed, in that order; data stays the points'. */
static int choose_listed(const firn_points *points, const char *list, const char *const *needs,
                         firn_points *chosen)
{
    chosen->count = points->count;
    choose(points, "P", chosen);
    for (; needs && *needs; needs++) choose(points, *needs, chosen);
    while (*list) {
        const size_t length = strcspn(list, ",");
        char name[FIRN_NAME_SIZE];
        snprintf(name, sizeof name, "%.*s", (int)length, list);
        if (length > 0 && !choose(points, name, chosen)) return unknown_attribute(points, name);
        list += length;
        list += *list == ',';
    }
    return 0;
}

/* Where to find what: a file and a time in it (s; NAN: the first), a file to write and how. */
typedef struct task {
    const char *in;
    double time;
    const char *to, *attributes;
    firn_write_options how;
} task;

static int convert(const task *t)
{
    const char *const *needs = firn_format_find(t->to, NULL).needs;
    firn_error error = {0};
    firn_points points;
    if (same_file(t->in, t->to)) {
        fprintf(stderr, "%s: %s and %s are the same file; write to another\n", command_name, t->in,
                t->to);
        return FIRN_EXIT_USAGE;
    }
    if (firn_points_read_at(t->in, t->time, &points, &error) != FIRN_OK) {
        return failure(&error, FIRN_EXIT_INPUT);
    }
    firn_column columns[FIRN_MAX_COLUMNS];
    firn_points chosen = {.column = columns};
    int exit_code = t->attributes ? choose_listed(&points, t->attributes, needs, &chosen) : 0;
    if (!t->attributes) chosen = points;
    if (exit_code == 0 && firn_points_write(t->to, &chosen, &t->how, &error) != FIRN_OK) {
        exit_code = failure(&error, FIRN_EXIT_OUTPUT);
    }
    firn_points_free(&points);
    return exit_code;
}

static struct {
    firn_words files;
    bool half, classic;
    int64_t level;
    const char *attributes, *voxel, *frames, *fps;
} chosen;

static const firn_option options[] = {
    {"IN OUT", FIRN_OPTION_WORDS, &chosen.files, NULL, "formats follow from content and extension",
     2, 2, .files = FIRN_FILES_PARTICLES},
    {"--attributes", FIRN_OPTION_TEXT, &chosen.attributes, "A,B",
     .help = "write only P and these (all)"},
    {"--frames", FIRN_OPTION_TEXT, &chosen.frames, "A:B",
     .help = "of an Alembic file: N, or A:B with $F4 in OUT (all with $F4, else the first)"},
    {"--fps", FIRN_OPTION_TEXT, &chosen.fps, "X", .help = "frames per second (the file's)"},
    {"--half", FIRN_OPTION_FLAG, &chosen.half,
     .help = "16-bit floats where the format allows; never P"},
    {"--level", FIRN_OPTION_COUNT, &chosen.level, "N", "compression level (the format's own)",
     .min = 1, .max = 9},
    {"--classic", FIRN_OPTION_FLAG, &chosen.classic, .help = "geo and bgeo as before Houdini 12"},
    {"--voxel", FIRN_OPTION_TEXT, &chosen.voxel, "M", "edge of a volume's voxels, m"},
};

/* A number above 0, or `fallback` where there is none. False: something else was given. */
static bool read_length(const char *option, const char *text, const char *remedy, double fallback,
                        double *out)
{
    char *end = NULL;
    *out = text ? strtod(text, &end) : fallback;
    if (!text || (end != text && !*end && *out > 0 && isfinite(*out))) return true;
    fprintf(stderr, "%s: %s %s must be %s\n", command_name, option, text, remedy);
    return false;
}

/* Which frames of a file to write: all that have a sample, or those of --frames. */
static int find_frames(const task *t, double *fps, int64_t *first, int64_t *last)
{
    firn_alembic *alembic = NULL;
    firn_error error = {0};
    if (firn_alembic_open(t->in, &alembic, &error) != FIRN_OK) {
        return failure(&error, FIRN_EXIT_INPUT);
    }
    const firn_alembic_file file = firn_alembic_get_file(alembic);
    firn_alembic_close(alembic);
    if (!read_length("--fps", chosen.fps, "a number above 0", file.fps > 0 ? file.fps : 24, fps)) {
        return FIRN_EXIT_USAGE;
    }
    const double most = 1e9; /* frames from 0 */
    const int64_t low = (int64_t)fmax(ceil(file.first_time * *fps - 1e-6), -most),
                  end = (int64_t)fmin(floor(file.last_time * *fps + 1e-6), most),
                  high = end < low ? low : end; /* all samples may be between two frames */
    *first = low;
    *last = high;
    if (chosen.frames && !(firn_frames_read(chosen.frames, first, last) && *first <= *last &&
                           *first >= low && *last <= high)) {
        fprintf(stderr, "%s: --frames %s must be A:B within %lld:%lld\n", command_name,
                chosen.frames, (long long)low, (long long)high);
        return FIRN_EXIT_USAGE;
    }
    if (*first < *last && !strstr(t->to, "$F")) {
        fprintf(stderr, "%s: %s: put $F4 in the name for the numbers of frames %lld to %lld\n",
                command_name, t->to, (long long)*first, (long long)*last);
        return FIRN_EXIT_USAGE;
    }
    return 0;
}

static int convert_frames(const task *t)
{
    int64_t first, last;
    double fps;
    int exit_code = find_frames(t, &fps, &first, &last);
    for (int64_t f = first; exit_code == 0 && f <= last; f++) {
        task one = *t;
        char *to = firn_frame_path(t->to, f);
        if (!to) {
            fprintf(stderr, "%s: out of memory\n", command_name);
            return FIRN_EXIT_MEMORY;
        }
        one.to = to;
        one.time = (double)f / fps;
        one.how.frame = (double)f;
        one.how.fps = fps;
        exit_code = convert(&one);
        free(to);
    }
    return exit_code;
}

static int run(void)
{
    const char *in = chosen.files.word[0], *to = chosen.files.word[1];
    firn_error error = {0};
    if (!firn_format_find(to, &error).name) return failure(&error, FIRN_EXIT_USAGE);
    double voxel;
    if (!read_length("--voxel", chosen.voxel, "a length in metres above 0, as 0.02", 0, &voxel)) {
        return FIRN_EXIT_USAGE;
    }
    const task t = {.in = in,
                    .time = NAN,
                    .to = to,
                    .attributes = chosen.attributes,
                    .how = {.half = chosen.half,
                            .classic = chosen.classic,
                            .level = (int32_t)chosen.level,
                            .frame = NAN,
                            .voxel = voxel}};
    if (!chosen.frames && !chosen.fps && !strstr(to, "$F")) return convert(&t);
    if (firn_format_find(in, NULL).sequence) return convert_frames(&t);
    fprintf(stderr, "%s: %s holds one frame: leave out --frames, --fps and $F\n", command_name, in);
    return FIRN_EXIT_USAGE;
}

const firn_command firn_convert_command = {
    .name = command_name,
    .line = "particles from one file format to another",
    .summary =
        "Reads particles in one file format and writes them in another. Of an Alembic file with "
        "many frames it writes the first, the one of --frames, or all if the name of OUT has $F4.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run};
