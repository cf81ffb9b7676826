/* firn info: what particle files hold, for people or as JSON. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app.h"
#include <firn/points.h>

static const char command_name[] = "firn info";

/* A file, read. */
typedef struct subject {
    const char *path;
    const char *format;
    size_t size; /* bytes */
    firn_points points;
} subject;

typedef struct range {
    double min, max; /* of the finite values; min above max when there are none */
    int64_t odd;     /* values that are not finite */
} range;

static void find_ranges(const firn_column *column, int64_t count, range r[FIRN_MAX_COMPONENTS])
{
    for (int32_t a = 0; a < column->components; a++) r[a] = (range){INFINITY, -INFINITY, 0};
    for (int64_t i = 0; i < count * column->components; i++) {
        const double x = firn_type_get(column->type, column->data, i);
        range *mine = &r[i % column->components];
        if (isfinite(x)) {
            mine->min = fmin(mine->min, x);
            mine->max = fmax(mine->max, x);
        } else {
            mine->odd++;
        }
    }
}

static bool is_float(firn_type type)
{
    return type == FIRN_TYPE_f16 || type == FIRN_TYPE_f32 || type == FIRN_TYPE_f64;
}

/* ---- for people ---- */

static void print_bounds(const firn_column *P, int64_t count)
{
    range r[FIRN_MAX_COMPONENTS];
    find_ranges(P, count, r);
    for (int32_t a = 0; a < P->components; a++) {
        if (r[a].min > r[a].max) return;
    }
    printf("  bounds");
    for (int32_t a = 0; a < P->components; a++) printf(" %.6g", r[a].min);
    printf(" to");
    for (int32_t a = 0; a < P->components; a++) printf(" %.6g", r[a].max);
    for (int32_t a = 0; a < P->components; a++) {
        printf("%s%.6g", a ? " x " : " (", r[a].max - r[a].min);
    }
    printf(" m)\n");
}

static void print_range(const range *r, bool fraction)
{
    if (r->min > r->max) {
        printf("  -");
    } else if (r->min == r->max) {
        printf(fraction ? "  %.6g" : "  %.0f", r->min);
    } else {
        printf(fraction ? "  %.6g..%.6g" : "  %.0f..%.0f", r->min, r->max);
    }
    if (r->odd) printf(" (%lld not finite)", (long long)r->odd);
}

static void print_text(const subject *s)
{
    printf("%s: %s, %zu bytes, %lld particles\n", s->path, s->format, s->size,
           (long long)s->points.count);
    const firn_column *P = firn_points_find(&s->points, "P");
    if (P) print_bounds(P, s->points.count);
    for (int32_t k = 0; k < s->points.column_count; k++) {
        const firn_column *column = &s->points.column[k];
        char type[32];
        snprintf(type, sizeof type, "%s[%d]", firn_type_name(column->type), column->components);
        printf("  %-14s %-7s", column->name, type);
        range r[FIRN_MAX_COMPONENTS];
        find_ranges(column, s->points.count, r);
        for (int32_t a = 0; a < column->components; a++) print_range(&r[a], is_float(column->type));
        printf("\n");
    }
}

/* ---- as JSON ---- */

static void json_text(const char *text)
{
    putchar('"');
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c == '"' || *c == '\\') {
            printf("\\%c", *c);
        } else if (*c < 0x20) {
            printf("\\u%04x", *c);
        } else {
            putchar(*c);
        }
    }
    putchar('"');
}

/* "min": [...], "max": [...]; null where nothing is finite. */
static void json_ranges(const firn_column *column, int64_t count)
{
    range r[FIRN_MAX_COMPONENTS];
    find_ranges(column, count, r);
    const char *digits = !is_float(column->type)         ? "%.0f"
                         : column->type == FIRN_TYPE_f64 ? "%.17g"
                                                         : "%.9g";
    for (int side = 0; side < 2; side++) {
        printf("%s", side ? "], \"max\": [" : "\"min\": [");
        for (int32_t a = 0; a < column->components; a++) {
            if (a) printf(", ");
            if (r[a].min > r[a].max) {
                printf("null");
            } else {
                printf(digits, side ? r[a].max : r[a].min);
            }
        }
    }
    printf("]");
}

static void print_json(const subject *s)
{
    printf("{\"file\": ");
    json_text(s->path);
    printf(", \"format\": \"%s\", \"bytes\": %zu, \"count\": %lld", s->format, s->size,
           (long long)s->points.count);
    const firn_column *P = firn_points_find(&s->points, "P");
    if (P) {
        printf(",\n  \"bounds\": {");
        json_ranges(P, s->points.count);
        printf("}");
    }
    printf(",\n  \"attributes\": [");
    for (int32_t k = 0; k < s->points.column_count; k++) {
        const firn_column *column = &s->points.column[k];
        printf("%s\n    {\"name\": ", k ? "," : "");
        json_text(column->name);
        printf(", \"type\": \"%s\", \"components\": %d, ", firn_type_name(column->type),
               column->components);
        json_ranges(column, s->points.count);
        printf("}");
    }
    printf("]}");
}

/* ---- files ---- */

static bool examine(const char *path, subject *s, firn_error *error)
{
    firn_bytes in;
    if (firn_bytes_read(path, &in, error) != FIRN_OK) return false;
    *s = (subject){.path = path, .size = in.size};
    const firn_status st = firn_points_parse(path, &in, &s->points, &s->format, error);
    firn_bytes_free(&in);
    return st == FIRN_OK;
}

static struct {
    firn_words files;
    bool json;
} chosen;

static const firn_option options[] = {
    {"FILE...", FIRN_OPTION_WORDS, &chosen.files, NULL, "particle files of any format", 1,
     INT32_MAX, .files = FIRN_FILES_PARTICLES},
    {"--json", FIRN_OPTION_FLAG, &chosen.json, .help = "a JSON array, an object per file"},
};

static int run(void)
{
    int exit_code = 0;
    int64_t shown = 0;
    if (chosen.json) printf("[");
    for (int64_t i = 0; i < chosen.files.count; i++) {
        firn_error error = {0};
        subject s = {0};
        if (!examine(chosen.files.word[i], &s, &error)) {
            exit_code = firn_options_failure(command_name, error.status, &error);
            continue;
        }
        if (chosen.json && shown > 0) printf(",\n");
        (chosen.json ? print_json : print_text)(&s);
        firn_points_free(&s.points);
        shown++;
    }
    if (chosen.json) printf("]\n");
    return exit_code;
}

const firn_command firn_info_command = {
    .name = command_name,
    .line = "print the contents of particle files",
    .summary =
        "Prints the contents of particle files: format, number of particles, bounds, and for "
        "every attribute its type and the range of each component.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run};
