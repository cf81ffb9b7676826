/* The state of a stage as columns, and the names of files by frame. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "scene/stage.h"

const firn_attribute firn_attributes[] = {
    {"P", FIRN_TYPE_f32, 3, 3, "m", "position"},
    {"v", FIRN_TYPE_f32, 3, 3, "m/s", "velocity"},
    {"id", FIRN_TYPE_i64, 1, 1, "", "the same for a particle in every frame"},
    {"mass", FIRN_TYPE_f32, 1, 1, "kg", "mass"},
    {"pscale", FIRN_TYPE_f32, 1, 1, "m", "radius of a ball (2D: disc) of its volume"},
    {"material", FIRN_TYPE_i32, 1, 1, "", "place in the scene's materials, from 0"},
    {"object", FIRN_TYPE_i32, 1, 1, "", "place in the scene's objects, from 0"},
    {"F", FIRN_TYPE_f32, 9, 9, "", "elastic deformation gradient, row by row"},
    {"J", FIRN_TYPE_f32, 1, 1, "", "volume over rest volume"},
    {"density", FIRN_TYPE_f32, 1, 1, "kg/m3", "mass over present volume"},
    {0},
};

static const firn_attribute *find_attribute(const char *name)
{
    for (const firn_attribute *a = firn_attributes; a->name; a++) {
        if (strcmp(a->name, name) == 0) return a;
    }
    return NULL;
}

firn_status firn_attributes_check(const firn_value *wanted, firn_error *error)
{
    for (const firn_value *c = wanted ? wanted->child : NULL; c; c = c->next) {
        if (c->kind == FIRN_SCALAR && find_attribute(c->text)) continue;
        const char *names[32];
        int n = 0;
        for (; firn_attributes[n].name; n++) names[n] = firn_attributes[n].name;
        names[n] = NULL;
        char near[200];
        const char *name = c->kind == FIRN_SCALAR ? c->text : "";
        return firn_value_fail(c, error, "there is no attribute \"%.60s\"%s", name,
                               firn_nearest(name, names, near, sizeof near));
    }
    return FIRN_OK;
}

/* Reads a field of all particles into `buffer`, which holds enough. */
static firn_status read_field(const firn_sim *sim, firn_field field, double *buffer,
                              firn_error *error)
{
    return firn_sim_read(sim, field, 0, firn_sim_count(sim), buffer, error);
}

static double determinant(const double *F, int dim)
{
    if (dim == 2) return F[0] * F[3] - F[1] * F[2];
    return F[0] * (F[4] * F[8] - F[5] * F[7]) - F[1] * (F[3] * F[8] - F[5] * F[6]) +
           F[2] * (F[3] * F[7] - F[4] * F[6]);
}

/* One column from the fields it needs. `a` and `b` each hold 9 doubles per particle. */
static firn_status fill_column(const firn_sim *sim, int dim, firn_column *column, double *a,
                               double *b, firn_error *error)
{
    static const struct {
        const char *name;
        firn_field field;
    } plain[] = {{"P", FIRN_POSITION}, {"v", FIRN_VELOCITY},        {"id", FIRN_ID},
                 {"mass", FIRN_MASS},  {"material", FIRN_MATERIAL}, {"object", FIRN_OBJECT}};
    const int64_t n = firn_sim_count(sim);
    firn_status st = FIRN_OK;
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        if (strcmp(column->name, plain[i].name) != 0) continue;
        const int c = column->components == 1 ? 1 : dim;
        st = read_field(sim, plain[i].field, a, error);
        for (int64_t p = 0; p < n && st == FIRN_OK; p++) {
            for (int k = 0; k < c; k++) {
                firn_type_set(column->type, column->data, p * column->components + k, a[p * c + k]);
            }
        }
        return st;
    }
    const int dd = dim * dim;
    float *out = column->data;
    if (strcmp(column->name, "pscale") == 0) {
        st = read_field(sim, FIRN_VOLUME, a, error);
        for (int64_t p = 0; p < n && st == FIRN_OK; p++) {
            const double pi = 3.14159265358979323846;
            out[p] = (float)(dim == 3 ? cbrt(0.75 * a[p] / pi) : sqrt(a[p] / pi));
        }
        return st;
    }
    st = read_field(sim, FIRN_DEFORMATION_GRADIENT, a, error);
    if (st != FIRN_OK) return st;
    if (strcmp(column->name, "F") == 0) {
        for (int64_t p = 0; p < n; p++) {
            float *F = out + 9 * p;
            F[8] = 1;
            for (int i = 0; i < dim; i++) {
                for (int j = 0; j < dim; j++) F[3 * i + j] = (float)a[p * dd + i * dim + j];
            }
        }
        return FIRN_OK;
    }
    for (int64_t p = 0; p < n; p++) out[p] = (float)determinant(a + p * dd, dim);
    if (strcmp(column->name, "J") == 0) return FIRN_OK;
    st = read_field(sim, FIRN_MASS, a, error); /* density */
    if (st == FIRN_OK) st = read_field(sim, FIRN_VOLUME, b, error);
    for (int64_t p = 0; p < n && st == FIRN_OK; p++) out[p] = (float)(a[p] / (b[p] * out[p]));
    return st;
}

firn_status firn_stage_points(const firn_stage *stage, const firn_value *wanted, firn_points *out,
                              firn_error *error)
{
    const int64_t n = firn_sim_count(stage->sim);
    const int dim = (int)stage->scene->dimension;
    *out = (firn_points){.count = n};
    double *scratch = malloc(((size_t)n + 1) * 10 * sizeof *scratch);
    firn_status st =
        scratch ? FIRN_OK : firn_fail(error, FIRN_NO_MEMORY, "out of memory for a frame");
    const firn_value *next = wanted ? wanted->child : NULL;
    for (const firn_attribute *a = firn_attributes; st == FIRN_OK; a++) {
        if (wanted) {
            if (!next) break;
            a = find_attribute(next->text);
            next = next->next;
        }
        if (!a->name) break;
        firn_column *column = firn_points_add(
            out, a->name, a->type, dim == 3 ? a->components_3d : a->components_2d, error);
        st = column ? fill_column(stage->sim, dim, column, scratch, scratch + 9 * (size_t)n, error)
                    : FIRN_NO_MEMORY;
    }
    free(scratch);
    if (st != FIRN_OK) firn_points_free(out);
    return st;
}

char *firn_frame_path(const char *pattern, int64_t frame)
{
    const size_t room = 12 * strlen(pattern) + 32; /* $F becomes at most 20 digits and a sign */
    char *path = malloc(room);
    if (!path) return NULL;
    size_t used = 0;
    while (*pattern) {
        if (pattern[0] == '$' && pattern[1] == 'F') {
            pattern += 2;
            int width = 0;
            if (*pattern >= '1' && *pattern <= '9') width = *pattern++ - '0';
            used += (size_t)snprintf(path + used, room - used, "%0*lld", width, (long long)frame);
        } else {
            path[used++] = *pattern++;
        }
    }
    path[used] = 0;
    return path;
}
