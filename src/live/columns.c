/* Columns of particles as pages get them. */
#include "live/columns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum { SAMPLES = 33 }; /* particles whose neighbours tell the separation */

static double value_at(const firn_column *c, int64_t particle, int32_t component)
{
    return component < c->components
               ? firn_type_get(c->type, c->data, particle * c->components + component)
               : 0;
}

/* ---- order ---- */

typedef struct place {
    double id;
    int64_t at;
} place;

static int by_id(const void *a, const void *b)
{
    const place *x = a, *y = b;
    if (x->id != y->id) return x->id < y->id ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

/* The particles in the order of their ids; without ids as they come. NULL: no memory. */
static place *order_of(const firn_points *points)
{
    const firn_column *ids = firn_points_find(points, "id");
    place *order = malloc(((size_t)points->count + 1) * sizeof *order);
    bool rising = true;
    for (int64_t i = 0; order && i < points->count; i++) {
        double id = ids ? value_at(ids, i, 0) : (double)i;
        if (!isfinite(id)) id = 0;
        order[i] = (place){id, i};
        rising = rising && (i == 0 || id >= order[i - 1].id);
    }
    if (order && !rising) qsort(order, (size_t)points->count, sizeof *order, by_id);
    return order;
}

/* ---- columns ---- */

static void fill_vectors(const firn_column *c, const place *order, int64_t count, float *out)
{
    for (int64_t i = 0; i < count; i++) {
        for (int32_t a = 0; a < 3; a++) out[3 * i + a] = (float)value_at(c, order[i].at, a);
    }
}

/* Values of one component as they are, of several their length. */
static void fill_values(const firn_column *c, const place *order, int64_t count, float *out)
{
    for (int64_t i = 0; i < count; i++) {
        double sum = value_at(c, order[i].at, 0);
        if (c->components > 1) {
            sum *= sum;
            for (int32_t a = 1; a < c->components; a++) {
                const double x = value_at(c, order[i].at, a);
                sum += x * x;
            }
            sum = sqrt(sum);
        }
        out[i] = (float)sum;
    }
}

static void fill_numbers(const firn_column *c, const place *order, int64_t count, double *out)
{
    for (int64_t i = 0; i < count; i++) {
        const double x = value_at(c, order[i].at, 0);
        out[i] = isfinite(x) && x > 0 ? x : 0;
    }
}

static uint64_t hash_numbers(uint64_t hash, const double *numbers, int64_t count)
{
    for (int64_t i = 0; numbers && i < count; i++) {
        uint64_t bits;
        memcpy(&bits, &numbers[i], sizeof bits);
        hash = (hash ^ bits) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    return hash;
}

/* Arrays for the columns that there are; false: no memory. */
static bool make_room(const firn_points *points, const firn_column *color, bool velocity,
                      firn_live_columns *out)
{
    const size_t n = (size_t)points->count + 1;
    out->position = malloc(3 * n * sizeof *out->position);
    out->color = color ? malloc(n * sizeof *out->color) : NULL;
    out->velocity = velocity ? malloc(3 * n * sizeof *out->velocity) : NULL;
    const bool objects = firn_points_find(points, "object") != NULL;
    const bool materials = firn_points_find(points, "material") != NULL;
    out->object = objects ? malloc(n * sizeof *out->object) : NULL;
    out->material = materials ? malloc(n * sizeof *out->material) : NULL;
    out->id = malloc(n * sizeof *out->id);
    return out->position && (!color || out->color) && (!velocity || out->velocity) &&
           (!objects || out->object) && (!materials || out->material) && out->id;
}

firn_status firn_columns_make(const firn_points *points, int32_t dimension,
                              const firn_live_want *want, firn_live_columns *out, firn_error *error)
{
    *out = (firn_live_columns){0};
    const firn_column *P = firn_points_find(points, "P"), *v = firn_points_find(points, "v");
    if (!P) return firn_fail(error, FIRN_INVALID, "there are no positions (P)");
    const firn_column *color = NULL;
    if (want->color[0]) {
        color = strcmp(want->color, "speed") == 0 ? v : firn_points_find(points, want->color);
    }
    const int64_t n = points->count;
    place *order = order_of(points);
    if (!order || !make_room(points, color, want->velocity && v, out)) {
        free(order);
        firn_columns_free(out);
        return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    }
    fill_vectors(P, order, n, out->position);
    if (out->color) fill_values(color, order, n, out->color);
    if (out->velocity) fill_vectors(v, order, n, out->velocity);
    if (out->object) fill_numbers(firn_points_find(points, "object"), order, n, out->object);
    if (out->material) fill_numbers(firn_points_find(points, "material"), order, n, out->material);
    for (int64_t i = 0; i < n; i++) out->id[i] = order[i].id > 0 ? order[i].id : 0;
    free(order);
    out->hash = hash_numbers(hash_numbers(1, out->object, n), out->material, n);
    out->hash = hash_numbers(out->hash, out->id, n);
    out->shown = (firn_live_cloud){.count = n,
                                   .dimension = dimension,
                                   .position = out->position,
                                   .color = out->color,
                                   .velocity = out->velocity};
    return FIRN_OK;
}

void firn_columns_free(firn_live_columns *columns)
{
    free(columns->position);
    free(columns->color);
    free(columns->velocity);
    free(columns->object);
    free(columns->material);
    free(columns->id);
    *columns = (firn_live_columns){0};
}

/* ---- guesses ---- */

int32_t firn_columns_dimension(const firn_points *points)
{
    const firn_column *P = firn_points_find(points, "P");
    for (int64_t i = 0; P && i < points->count; i++) {
        if (value_at(P, i, 2) != 0) return 3;
    }
    return points->count > 0 ? 2 : 3;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double nearest_to(const firn_column *P, int64_t count, int64_t particle)
{
    double least = INFINITY, at[3];
    for (int32_t a = 0; a < 3; a++) at[a] = value_at(P, particle, a);
    for (int64_t i = 0; i < count; i++) {
        double sum = 0;
        for (int32_t a = 0; a < 3; a++) {
            const double d = value_at(P, i, a) - at[a];
            sum += d * d;
        }
        if (i != particle && sum > 0) least = fmin(least, sum);
    }
    return sqrt(least);
}

double firn_columns_separation(const firn_points *points, int32_t dimension)
{
    const firn_column *P = firn_points_find(points, "P");
    const firn_column *radius = firn_points_find(points, "pscale");
    const double fallback = 0.01, pi = 3.14159265358979;
    if (points->count < 2 || !P) return fallback;
    double sample[SAMPLES];
    int n = 0;
    for (int k = 0; k < SAMPLES; k++) {
        const int64_t i = points->count * k / SAMPLES;
        double s = radius ? value_at(radius, i, 0) : nearest_to(P, points->count, i);
        /* A ball, or a disc, of the volume of a cube or square of that edge. */
        if (radius) s *= dimension == 2 ? sqrt(pi) : cbrt(4 * pi / 3);
        if (isfinite(s) && s > 0) sample[n++] = s;
    }
    if (n == 0) return fallback;
    qsort(sample, (size_t)n, sizeof *sample, by_value);
    return sample[n / 2];
}
