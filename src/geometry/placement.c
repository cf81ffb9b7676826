/* Scaling, rotation and translation as one affine map and its inverse. Quarter turns are exact, so
 * a turned box stays aligned with the axes. */
#include "geometry/placement.h"

#include <math.h>
#include <string.h>

#include "base/error.h"

static const double degree = 3.14159265358979323846 / 180;

firn_placement firn_placement_default(void)
{
    return (firn_placement){.axis = {0, 1, 0}, .scale = {1, 1, 1}};
}

/* Sine and cosine of an angle in degrees; quarter turns are exact, so that a turned box stays
 * aligned. */
static void turn(double angle_deg, double *s, double *c)
{
    const double rest = fmod(angle_deg, 360);
    const double quarters = rest / 90;
    if (quarters == rint(quarters)) {
        static const double sines[4] = {0, 1, 0, -1};
        const int q = ((int)quarters + 4) % 4;
        *s = sines[q];
        *c = sines[(q + 1) % 4];
    } else {
        *s = sin(rest * degree);
        *c = cos(rest * degree);
    }
}

/* Rotation about a unit axis: Rodrigues' formula. */
static void about_axis(const double n[3], double angle_deg, double out[3][3])
{
    double s, c;
    turn(angle_deg, &s, &c);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) out[i][j] = (1 - c) * n[i] * n[j] + (i == j ? c : 0);
    }
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        out[j][k] -= s * n[i];
        out[k][j] += s * n[i];
    }
}

/* m = r m */
static void turn_more(double m[3][3], const double axis[3], double angle_deg)
{
    double r[3][3], product[3][3] = {{0}};
    about_axis(axis, angle_deg, r);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            for (int k = 0; k < 3; k++) product[i][j] += r[i][k] * m[k][j];
        }
    }
    memcpy(m, product, sizeof product);
}

void firn_placement_turn(firn_placement *p, const double q[4])
{
    const double sine = sqrt(q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    p->angle_deg = 2 * atan2(sine, q[0]) / degree;
    for (int a = 0; a < 3 && sine > 0; a++) p->axis[a] = q[a + 1] / sine;
}

static firn_status check(const firn_placement *p, int dimension, firn_error *error)
{
    for (int a = 0; a < dimension; a++) {
        if (!isfinite(p->translate[a])) {
            return firn_fail(error, FIRN_INVALID, "translate[%d] %g must be finite (m)", a,
                             p->translate[a]);
        }
        if (!isfinite(p->scale[a]) ||
            !(fabs(p->scale[a]) >= 1e-100 && fabs(p->scale[a]) <= 1e100)) {
            return firn_fail(error, FIRN_INVALID,
                             "scale[%d] %g must be finite and not 0; 1 leaves the size", a,
                             p->scale[a]);
        }
    }
    for (int a = 0; a < 3; a++) {
        if (!isfinite(p->rotate_deg[a])) {
            return firn_fail(error, FIRN_INVALID, "rotate[%d] %g must be finite (degrees)", a,
                             p->rotate_deg[a]);
        }
    }
    if (dimension == 2 && (p->rotate_deg[0] != 0 || p->rotate_deg[1] != 0)) {
        return firn_fail(error, FIRN_INVALID,
                         "rotate %g %g %g leaves the plane of a 2D scene; use [0, 0, angle]",
                         p->rotate_deg[0], p->rotate_deg[1], p->rotate_deg[2]);
    }
    if (!isfinite(p->angle_deg)) {
        return firn_fail(error, FIRN_INVALID, "angle %g must be finite (degrees)", p->angle_deg);
    }
    if (p->angle_deg == 0) return FIRN_OK;
    const double length = hypot(hypot(p->axis[0], p->axis[1]), p->axis[2]);
    if (!(length > 0 && isfinite(length))) {
        return firn_fail(error, FIRN_INVALID,
                         "axis %g %g %g must be finite and not zero; use [0, 1, 0] for upright",
                         p->axis[0], p->axis[1], p->axis[2]);
    }
    if (dimension == 2 && (p->axis[0] != 0 || p->axis[1] != 0)) {
        return firn_fail(error, FIRN_INVALID,
                         "axis %g %g %g leaves the plane of a 2D scene; use [0, 0, 1]", p->axis[0],
                         p->axis[1], p->axis[2]);
    }
    return FIRN_OK;
}

firn_status firn_placement_resolve(const firn_placement *placement, int dimension, firn_affine *out,
                                   firn_error *error)
{
    const firn_status st = check(placement, dimension, error);
    if (st != FIRN_OK) return st;
    double rotation[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (int a = 0; a < 3; a++) {
        if (placement->rotate_deg[a] == 0) continue;
        double axis[3] = {0};
        axis[a] = 1;
        turn_more(rotation, axis, placement->rotate_deg[a]);
    }
    if (placement->angle_deg != 0) {
        const double *n = placement->axis;
        const double length = hypot(hypot(n[0], n[1]), n[2]);
        const double unit[3] = {n[0] / length, n[1] / length, n[2] / length};
        turn_more(rotation, unit, placement->angle_deg);
    }
    *out = (firn_affine){.volume = 1, .shrink = INFINITY, .conforms = 1};
    for (int a = 0; a < 3; a++) {
        const double scale = a < dimension ? placement->scale[a] : 1;
        for (int i = 0; i < 3; i++) {
            out->matrix[i][a] = rotation[i][a] * scale;
            out->inverse[a][i] = rotation[i][a] / scale;
        }
        if (a >= dimension) continue;
        out->offset[a] = placement->translate[a];
        out->volume *= fabs(scale);
        out->shrink = fmin(out->shrink, fabs(scale));
        if (fabs(scale) != fabs(placement->scale[0])) out->conforms = 0;
    }
    return FIRN_OK;
}

void firn_affine_to_world(const firn_affine *affine, const double local[3], double world[3])
{
    for (int i = 0; i < 3; i++) {
        const double *m = affine->matrix[i];
        world[i] = m[0] * local[0] + m[1] * local[1] + m[2] * local[2] + affine->offset[i];
    }
}

void firn_affine_to_local(const firn_affine *affine, const double world[3], double local[3])
{
    double d[3];
    for (int i = 0; i < 3; i++) d[i] = world[i] - affine->offset[i];
    for (int i = 0; i < 3; i++) {
        const double *m = affine->inverse[i];
        local[i] = m[0] * d[0] + m[1] * d[1] + m[2] * d[2];
    }
}

void firn_affine_bounds(const firn_affine *affine, const double low[3], const double high[3],
                        double world_low[3], double world_high[3])
{
    for (int i = 0; i < 3; i++) {
        world_low[i] = world_high[i] = affine->offset[i];
        for (int j = 0; j < 3; j++) {
            const double a = affine->matrix[i][j] * low[j], b = affine->matrix[i][j] * high[j];
            world_low[i] += fmin(a, b);
            world_high[i] += fmax(a, b);
        }
    }
}
