/* A disc without a smaller disc about the same centre, endless along z: in 3D a tube.
 *
 * On its axis the near part of the hole's wall is towards +x. Midway in the wall the outer surface is
 * taken. */
#include "base/error.h"
#include "shape/shape.h"

static double distance(const firn_shape_values *v, const double point[3], double normal[3])
{
    const double r = hypot(point[0], point[1]), x = r > FIRN_TINY ? point[0] / r : 1,
                 y = r > FIRN_TINY ? point[1] / r : 0;
    const double outer = r - v->size[0], hole = v->size[1] - r;
    const double away = outer >= hole ? 1 : -1;
    normal[0] = away * x;
    normal[1] = away * y;
    normal[2] = 0;
    return fmax(outer, hole);
}

static double shrink(double size[3], double by)
{
    size[0] -= by;
    size[1] += by;
    return 0;
}

static void bounds(const firn_shape_values *v, double low[3], double high[3])
{
    firn_shape_box_around(v->size[0], v->size[0], INFINITY, low, high);
}

static double volume(const firn_shape_values *v, int dimension)
{
    (void)dimension;
    return firn_pi * (v->size[0] - v->size[1]) * (v->size[0] + v->size[1]);
}

static firn_status check(const firn_shape_values *v, firn_error *error)
{
    if (v->size[1] < v->size[0]) return FIRN_OK;
    return firn_fail(error, FIRN_INVALID, "inner %g m must be below radius %g m", v->size[1],
                     v->size[0]);
}

const firn_shape firn_shape_ring = {
    .name = "ring",
    .word = {"ring", NULL},
    .help = "a disc with a hole",
    .key = {FIRN_KEY_CENTER,
            FIRN_KEY_RADIUS,
            {"inner", "0.25", "radius of the hole", FIRN_KEY_LENGTH, 1, 1}},
    .size_count = 2,
    .size_name = {"radius", "radius of the hole"},
    .bounded = FIRN_2D,
    .check = check,
    .distance = distance,
    .shrink = shrink,
    .bounds = bounds,
    .volume = volume,
};
