/* The half space y < 0. */
#include "shape/shape.h"

static double distance(const firn_shape_values *v, const double point[3], double normal[3])
{
    (void)v;
    normal[0] = 0;
    normal[1] = 1;
    normal[2] = 0;
    return point[1];
}

const firn_shape firn_shape_plane = {
    .name = "plane",
    .word = {"plane", "plane"},
    .help = "solid below",
    .key = {{"point", "[0, 0, 0]", "on it", FIRN_KEY_POSITION, 0, 0},
            {"normal", "[0, 1, 0]", "points to the free side", FIRN_KEY_UP, 0, 0}},
    .convex = true,
    .half_space = true,
    .thick = true,
    .distance = distance,
};
