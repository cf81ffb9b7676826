/* A cylinder along y about the origin: a rectangle in its meridian plane (r, y).
 *
 * Equally near surfaces: the side before a cap, the upper cap before the lower; on the axis the
 * side lies towards +x. */
#include <math.h>

#include "shape/shape.h"

static double distance(const firn_shape_values *v, const double point[3], double normal[3])
{
    firn_meridian m = firn_meridian_of(point);
    double side = m.r - v->size[0];
    double cap = fabs(point[1]) - v->size[1];
    double up = point[1] < 0 ? -1 : 1;
    if (side > 0 && cap > 0) {
        double length = sqrt(side * side + cap * cap);
        if (length > FIRN_TINY) {
            firn_meridian_normal(&m, side / length, up * cap / length, normal);
            return length;
        }
    }
    if (side >= cap) {
        firn_meridian_normal(&m, 1, 0, normal);
        return side;
    }
    firn_meridian_normal(&m, 0, up, normal);
    return cap;
}

static int sides(const firn_shape_values *v, const double point[3], firn_face face[FIRN_MAX_FACES])
{
    const firn_meridian m = firn_meridian_of(point);
    face[0].depth = v->size[0] - m.r;
    firn_meridian_normal(&m, 1, 0, face[0].normal);
    face[1].depth = v->size[1] - fabs(point[1]);
    firn_meridian_normal(&m, 0, point[1] < 0 ? -1 : 1, face[1].normal);
    return 2;
}

static double shrink(double size[3], double by)
{
    size[0] -= by;
    size[1] -= by;
    return 0;
}

static void bounds(const firn_shape_values *v, double low[3], double high[3])
{
    firn_shape_box_around(v->size[0], v->size[1], v->size[0], low, high);
}

static double volume(const firn_shape_values *v, int dimension)
{
    const double r = v->size[0], h = 2 * v->size[1];
    return dimension == 2 ? 2 * r * h : firn_pi * r * r * h;
}

const firn_shape firn_shape_cylinder = {
    .name = "cylinder",
    .word = {NULL, "cylinder"},
    .help = "along y",
    .key = {FIRN_KEY_CENTER, FIRN_KEY_RADIUS, {"height", "1", "along y", FIRN_KEY_LENGTH, 1, 0.5}},
    .size_count = 2,
    .size_name = {"radius", "half height"},
    .bounded = FIRN_2D | FIRN_3D,
    .convex = true,
    .distance = distance,
    .sides = sides,
    .shrink = shrink,
    .bounds = bounds,
    .volume = volume,
};
