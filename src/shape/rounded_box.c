/* A box about the origin with round edges: all within `round` of a smaller box. Its half extents include that. */
#include "base/error.h"
#include "shape/shape.h"

static double distance(const firn_shape_values *v, const double point[3], double normal[3])
{
    const firn_shape_values core = {
        .size = {v->size[0] - v->round, v->size[1] - v->round, v->size[2] - v->round}};
    return firn_shape_box.distance(&core, point, normal) - v->round;
}

/* A box, less its eight corners, twelve edges and six sides, plus those round: a ball, cylinders and slabs. */
static double volume(const firn_shape_values *v, int dimension)
{
    const double r = v->round, x = 2 * (v->size[0] - r), y = 2 * (v->size[1] - r);
    if (dimension == 2) return x * y + 2 * r * (x + y) + firn_pi * r * r;
    const double z = 2 * (v->size[2] - r);
    return x * y * z + 2 * r * (x * y + y * z + z * x) + firn_pi * r * r * (x + y + z) +
           4 * firn_pi / 3 * r * r * r;
}

static firn_status check(const firn_shape_values *v, firn_error *error)
{
    const double least = fmin(v->size[0], fmin(v->size[1], v->size[2]));
    if (v->round > 0 && v->round < least) return FIRN_OK;
    return firn_fail(error, FIRN_INVALID,
                     "round %g m must be above 0 and below half of the shortest edge, %g m",
                     v->round, least);
}

static void bounds(const firn_shape_values *v, double low[3], double high[3])
{
    firn_shape_box_around(v->size[0], v->size[1], v->size[2], low, high);
}

const firn_shape firn_shape_rounded_box = {
    .name = "rounded_box",
    .word = {"rounded_rectangle", "rounded_box"},
    .help = "with edges along the axes, rounded",
    .key = {FIRN_KEY_CENTER,
            FIRN_KEY_SIZE,
            {"radius", "0.1", "of its edges", FIRN_KEY_ROUND, 0, 0}},
    .size_count = 3,
    .size_name = {"half extent x", "half extent y", "half extent z"},
    .bounded = FIRN_2D | FIRN_3D,
    .convex = true,
    .deep = true,
    .check = check,
    .distance = distance,
    .bounds = bounds,
    .volume = volume,
};
