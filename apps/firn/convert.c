/* firn convert: reads particles in one format and writes them in another. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "app.h"
#include <firn/points.h>

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

static int convert(const char *in, const char *to, const char *attributes,
                   const firn_write_options *options)
{
    const char *const *needs = firn_format_find(to, NULL).needs;
    firn_error error = {0};
    firn_points points;
    if (firn_points_read(in, &points, &error) != FIRN_OK) return failure(&error, FIRN_EXIT_INPUT);
    firn_column columns[FIRN_MAX_COLUMNS];
    firn_points chosen = {.column = columns};
    int exit_code = attributes ? choose_listed(&points, attributes, needs, &chosen) : 0;
    if (!attributes) chosen = points;
    if (exit_code == 0 && firn_points_write(to, &chosen, options, &error) != FIRN_OK) {
        exit_code = failure(&error, FIRN_EXIT_OUTPUT);
    }
    firn_points_free(&points);
    return exit_code;
}

static struct {
    firn_words files;
    bool half, classic;
    int64_t level;
    const char *attributes, *voxel;
} chosen;

static const firn_option options[] = {
    {"IN OUT", FIRN_OPTION_WORDS, &chosen.files, NULL, "formats follow from content and extension",
     2, 2, .files = FIRN_FILES_PARTICLES},
    {"--attributes", FIRN_OPTION_TEXT, &chosen.attributes, "A,B",
     .help = "write only P and these (all)"},
    {"--half", FIRN_OPTION_FLAG, &chosen.half,
     .help = "16-bit floats where the format allows; never P"},
    {"--level", FIRN_OPTION_COUNT, &chosen.level, "N", "compression level (the format's own)",
     .min = 1, .max = 9},
    {"--classic", FIRN_OPTION_FLAG, &chosen.classic, .help = "geo and bgeo as before Houdini 12"},
    {"--voxel", FIRN_OPTION_TEXT, &chosen.voxel, "M", "edge of a volume's voxels, m"},
};

static int run(void)
{
    const char *in = chosen.files.word[0], *to = chosen.files.word[1];
    firn_error error = {0};
    if (!firn_format_find(to, &error).name) return failure(&error, FIRN_EXIT_USAGE);
    if (same_file(in, to)) {
        fprintf(stderr, "%s: %s and %s are the same file; write to another\n", command_name, in,
                to);
        return FIRN_EXIT_USAGE;
    }
    char *end = NULL;
    const double voxel = chosen.voxel ? strtod(chosen.voxel, &end) : 0;
    if (chosen.voxel && (*end || !(voxel > 0) || !isfinite(voxel))) {
        fprintf(stderr, "%s: --voxel %s must be a length in metres above 0, as 0.02\n",
                command_name, chosen.voxel);
        return FIRN_EXIT_USAGE;
    }
    const firn_write_options how = {.half = chosen.half,
                                    .classic = chosen.classic,
                                    .level = (int32_t)chosen.level,
                                    .frame = NAN,
                                    .voxel = voxel};
    return convert(in, to, chosen.attributes, &how);
}

const firn_command firn_convert_command = {
    .name = command_name,
    .line = "particles from one file format to another",
    .summary = "Reads particles in one file format and writes them in another.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run};
