/* Particles to numbers to colours. The range takes in all but half a percent of the values at
 * either end, from a sample of each frame; a diverging map stays centred. */
#include "render/coloring.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "run/job.h"
#include "scene/value.h"

const char *const *firn_colormap_names(void)
{
    static const char *const names[] = {"sequential", "diverging", "categorical", NULL};
    return names;
}

/* What suits attributes whose numbers are more than an amount. */
static const struct {
    const char *name, *unit;
    firn_colormap_kind kind;
    double middle;
} suited[] = {
    {"speed", "m/s", FIRN_SEQUENTIAL, 0},  {"J", "", FIRN_DIVERGING, 1},
    {"Jp", "", FIRN_DIVERGING, 1},         {"pressure", "Pa", FIRN_DIVERGING, 0},
    {"material", "", FIRN_CATEGORICAL, 0}, {"object", "", FIRN_CATEGORICAL, 0},
};

firn_status firn_coloring_make(const char *attribute, int map, firn_coloring *out,
                               firn_error *error)
{
    if (strlen(attribute) >= sizeof out->attribute) {
        return firn_fail(error, FIRN_INVALID, "attribute names have at most %zu letters",
                         sizeof out->attribute - 1);
    }
    *out = (firn_coloring){.unit = "", .low = INFINITY, .high = -INFINITY};
    memcpy(out->attribute, attribute, strlen(attribute) + 1);
    const firn_attribute *a;
    for (int32_t i = 0; (a = firn_attribute_get(i)); i++) {
        if (strcmp(a->name, attribute) == 0) out->unit = a->unit;
    }
    for (size_t i = 0; i < sizeof suited / sizeof *suited; i++) {
        if (strcmp(suited[i].name, attribute) != 0) continue;
        out->unit = suited[i].unit;
        out->kind = suited[i].kind;
        out->middle = suited[i].middle;
    }
    if (map >= 0) out->kind = (firn_colormap_kind)map;
    firn_colormap_make(out->kind, &out->map);
    return FIRN_OK;
}

static firn_status no_such(const firn_points *points, const char *name, firn_error *error)
{
    char names[300] = "";
    for (int32_t i = 0; i < points->column_count; i++) {
        const size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "",
                 points->column[i].name);
    }
    const bool v = firn_points_find(points, "v") != NULL;
    const firn_attribute *known = firn_attribute_find(NULL, name);
    return firn_fail(error, FIRN_INVALID, "there is no attribute \"%s\"; there are %s%s%s", name,
                     names, v ? ", speed" : "",
                     known && known->heat ? "; only scenes with heat have it" : "");
}

static double determinant(const firn_column *F, int64_t p)
{
    double m[9];
    for (int i = 0; i < 9; i++) m[i] = firn_type_get(F->type, F->data, 9 * p + i);
    return firn_determinant(m, 3);
}

firn_status firn_coloring_values(const firn_coloring *coloring, const firn_points *points,
                                 float **out, firn_error *error)
{
    const char *name = coloring->attribute;
    const bool speed = strcmp(name, "speed") == 0;
    const firn_column *c = firn_points_find(points, speed ? "v" : name);
    const firn_column *F = firn_points_find(points, "F");
    const bool from_F = !c && strcmp(name, "J") == 0 && F && F->components == 9;
    if (!c && !from_F) return no_such(points, name, error);
    float *value = malloc(((size_t)points->count + 1) * sizeof *value);
    if (!value) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    for (int64_t p = 0; p < points->count; p++) {
        if (from_F) {
            value[p] = (float)determinant(F, p);
        } else if (c->components == 1) {
            value[p] = (float)firn_type_get(c->type, c->data, p);
        } else {
            double sum = 0;
            for (int32_t i = 0; i < c->components; i++) {
                const double x = firn_type_get(c->type, c->data, p * c->components + i);
                sum += x * x;
            }
            value[p] = (float)sqrt(sum);
        }
    }
    *out = value;
    return FIRN_OK;
}

static int by_value(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

void firn_coloring_extend(firn_coloring *coloring, const float *value, int64_t count)
{
    enum { SAMPLE = 20000 };
    float some[SAMPLE];
    const bool all = coloring->kind == FIRN_CATEGORICAL;
    const int64_t step = all ? 1 : (count + SAMPLE - 1) / SAMPLE;
    int64_t n = 0;
    for (int64_t p = 0; p < count; p += step) {
        if (!isfinite(value[p])) continue;
        if (all) {
            coloring->low = fmin(coloring->low, (double)value[p]);
            coloring->high = fmax(coloring->high, (double)value[p]);
        } else {
            some[n++] = value[p];
        }
    }
    if (n == 0) return;
    qsort(some, (size_t)n, sizeof *some, by_value);
    const int64_t few = n / 200;
    coloring->low = fmin(coloring->low, (double)some[few]);
    coloring->high = fmax(coloring->high, (double)some[n - 1 - few]);
}

void firn_coloring_settle(firn_coloring *coloring)
{
    if (coloring->low > coloring->high) coloring->low = coloring->high = coloring->middle;
    if (coloring->kind == FIRN_DIVERGING) {
        const double m = coloring->middle;
        const double reach = fmax(fabs(coloring->low - m), fabs(coloring->high - m));
        coloring->low = m - reach;
        coloring->high = m + reach;
    }
    const double least = fmax(1e-6 * fabs(coloring->low), 1e-9);
    if (coloring->high - coloring->low < least) {
        coloring->low -= least;
        coloring->high += least;
    }
}

void firn_coloring_apply(const firn_coloring *coloring, const float *value, int64_t count,
                         float *rgb)
{
    const double span = coloring->high - coloring->low;
    for (int64_t p = 0; p < count; p++) {
        if (coloring->kind == FIRN_CATEGORICAL && isfinite(value[p])) {
            const double wrapped = fmod(fabs((double)value[p]), FIRN_COLORMAP_SIZE);
            memcpy(rgb + 3 * p, coloring->map.rgb[(int)wrapped], sizeof coloring->map.rgb[0]);
        } else {
            firn_colormap_at(&coloring->map, ((double)value[p] - coloring->low) / span,
                             rgb + 3 * p);
        }
    }
}
