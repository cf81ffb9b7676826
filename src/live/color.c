/* What pictures can be coloured by: a number for each particle. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "live/live.h"

static const firn_attribute own[] = {
    {"speed", FIRN_TYPE_f32, 1, 1, "m/s", "speed", false},
    {"shear", FIRN_TYPE_f32, 1, 1, "Pa", "shear stress: how close it is to yielding", false},
};
enum { OWN = sizeof own / sizeof *own };

/* Of the attributes that files have, those that vary within a material. */
static const char *const others[] = {"pressure",    "density", "J",        "Jp",
                                     "temperature", "liquid",  "enthalpy", "concentration"};
enum { OTHERS = sizeof others / sizeof *others };

firn_attribute firn_live_color(int32_t index)
{
    if (index >= 0 && index < OWN) return own[index];
    if (index < 0 || index >= OWN + OTHERS) return (firn_attribute){0};
    return *firn_attribute_find(NULL, others[index - OWN]);
}

static firn_status read_speed(const firn_sim *sim, int dim, int64_t count, float *out,
                              firn_error *error)
{
    float *v = malloc(((size_t)count * (size_t)dim + 1) * sizeof *v);
    if (!v) return firn_fail(error, FIRN_NO_MEMORY, "out of memory for colours");
    const firn_status st =
        firn_sim_read_float(sim, FIRN_VELOCITY, FIRN_ORDER_ID, 0, count, v, error);
    for (int64_t i = 0; i < count && st == FIRN_OK; i++) {
        double square = 0;
        for (int a = 0; a < dim; a++) square += (double)v[i * dim + a] * (double)v[i * dim + a];
        out[i] = (float)sqrt(square);
    }
    free(v);
    return st;
}

/* The norm of the deviator over the root of 2: what von Mises' law compares with its yield. */
static firn_status read_shear(const firn_sim *sim, int dim, int64_t count, float *out,
                              firn_error *error)
{
    const int n = dim * dim;
    double *stress = malloc(((size_t)count * (size_t)n + 1) * sizeof *stress);
    if (!stress) return firn_fail(error, FIRN_NO_MEMORY, "out of memory for colours");
    const firn_status st = firn_sim_read_stress(sim, 0, count, stress, error);
    for (int64_t i = 0; i < count && st == FIRN_OK; i++) {
        const double *s = stress + i * n;
        double trace = 0, square = 0;
        for (int a = 0; a < dim; a++) trace += s[a * dim + a];
        for (int a = 0; a < n; a++) {
            const double d = s[a] - (a % (dim + 1) == 0 ? trace / dim : 0);
            square += d * d;
        }
        out[i] = (float)sqrt(0.5 * square);
    }
    free(stress);
    return st;
}

static firn_status read_other(const firn_job *job, const char *name, int64_t count, float *out,
                              firn_error *error)
{
    const char *const names[] = {name, NULL};
    firn_points points = {0};
    const firn_status st = firn_job_points(job, names, count, &points, error);
    if (st != FIRN_OK) return st;
    memcpy(out, points.column[0].data, (size_t)count * sizeof *out);
    firn_points_free(&points);
    return FIRN_OK;
}

firn_status firn_live_read_color(const firn_job *job, const char *name, float **values,
                                 float *least, float *most, firn_error *error)
{
    const int64_t count = firn_sim_count(job->sim);
    const int dim = (int)job->scene->dimension;
    *least = *most = 0;
    *values = NULL;
    float *out = calloc((size_t)count + 1, sizeof *out);
    if (!out) return firn_fail(error, FIRN_NO_MEMORY, "out of memory for colours");
    const bool speed = strcmp(name, "speed") == 0, shear = strcmp(name, "shear") == 0;
    firn_status st = FIRN_OK;
    if (speed) {
        st = read_speed(job->sim, dim, count, out, error);
    } else if (shear) {
        st = read_shear(job->sim, dim, count, out, error);
    } else if (firn_attribute_find(job->scene, name)) {
        st = read_other(job, name, count, out, error);
    } /* else: of heat, which the scene does not have */
    if (strcmp(name, "liquid") == 0) *most = 1;
    if (st == FIRN_OK) {
        *values = out;
    } else {
        free(out);
    }
    return st;
}
