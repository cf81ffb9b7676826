/* A cylinder along y with a bore along its axis: a rectangle in its meridian plane (r, y).
 *
 * Equally near surfaces: a side before a cap, the outer one before the bore, the upper cap before the lower; on
 * the axis the near part of the bore is towards +x. */
#include "base/error.h"
#include "shape/shape.h"

static double distance(const firn_shape_values *v, const double point[3], double normal[3])
{
    const firn_meridian m = firn_meridian_of(point);
    const double away = m.r >= 0.5 * (v->size[0] + v->size[1]) ? 1 : -1;
    const double side = away > 0 ? m.r - v->size[0] : v->size[1] - m.r;
    const double cap = fabs(point[1]) - v->size[2], up = point[1] < 0 ? -1 : 1;
    if (side > 0 && cap > 0) {
        const double length = sqrt(side * side + cap * cap);
        if (length > FIRN_TINY) {
            firn_meridian_normal(&m, away * side / length, up * cap / length, normal);
            return length;
        }
    }
    firn_meridian_normal(&m, side >= cap ? away : 0, side >= cap ? 0 : up, normal);
    return fmax(side, cap);
}

static int sides(const firn_shape_values *v, const double point[3], firn_face face[FIRN_MAX_FACES])
{
    const firn_meridian m = firn_meridian_of(point);
    face[0].depth = v->size[0] - m.r;
    firn_meridian_normal(&m, 1, 0, face[0].normal);
    face[1].depth = m.r - v->size[1];
    firn_meridian_normal(&m, -1, 0, face[1].normal);
    face[2].depth = v->size[2] - fabs(point[1]);
    firn_meridian_normal(&m, 0, point[1] < 0 ? -1 : 1, face[2].normal);
    return 3;
}

static double shrink(double size[3], double by)
{
    size[0] -= by;
    size[1] += by;
    size[2] -= by;
    return 0;
}

static void bounds(const firn_shape_values *v, double low[3], double high[3])
{
    firn_shape_box_around(v->size[0], v->size[2], v->size[0], low, high);
}

static double volume(const firn_shape_values *v, int dimension)
{
    const double wall = v->size[0] - v->size[1], h = 2 * v->size[2];
    return dimension == 2 ? 2 * wall * h : firn_pi * wall * (v->size[0] + v->size[1]) * h;
}

static firn_status check(const firn_shape_values *v, firn_error *error)
{
    if (v->size[1] < v->size[0]) return FIRN_OK;
    return firn_fail(error, FIRN_INVALID, "inner %g m must be below radius %g m", v->size[1],
                     v->size[0]);
}

const firn_shape firn_shape_tube = {
    .name = "tube",
    .word = {NULL, "tube"},
    .help = "a hollow cylinder along y, open at both ends",
    .key = {FIRN_KEY_CENTER,
            FIRN_KEY_RADIUS,
            {"inner", "0.4", "radius of its bore", FIRN_KEY_LENGTH, 1, 1},
            {"height", "1", "along y", FIRN_KEY_LENGTH, 2, 0.5}},
    .size_count = 3,
    .size_name = {"radius", "radius of the bore", "half height"},
    .bounded = FIRN_2D | FIRN_3D,
    .check = check,
    .distance = distance,
    .sides = sides,
    .shrink = shrink,
    .bounds = bounds,
    .volume = volume,
};
