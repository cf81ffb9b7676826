/* A ball about the origin. At the centre the normal is +y. */
#include <math.h>

#include "shape/shape.h"

static double distance(const firn_shape_values *v, const double point[3], double normal[3])
{
    double length = sqrt(point[0] * point[0] + point[1] * point[1] + point[2] * point[2]);
    bool centre = !(length > FIRN_TINY);
    normal[0] = centre ? 0 : point[0] / length;
    normal[1] = centre ? 1 : point[1] / length;
    normal[2] = centre ? 0 : point[2] / length;
    return length - v->size[0];
}

static void bounds(const firn_shape_values *v, double low[3], double high[3])
{
    firn_shape_box_around(v->size[0], v->size[0], v->size[0], low, high);
}

static double volume(const firn_shape_values *v, int dimension)
{
    const double r = v->size[0];
    return dimension == 2 ? firn_pi * r * r : 4 * firn_pi / 3 * pow(r, 3);
}

const firn_shape firn_shape_sphere = {
    .name = "sphere",
    .word = {"disc", "sphere"},
    .help = "all points within radius of the centre",
    .key = {FIRN_KEY_CENTER, FIRN_KEY_RADIUS},
    .size_count = 1,
    .size_name = {"radius"},
    .bounded = FIRN_2D | FIRN_3D,
    .convex = true,
    .distance = distance,
    .bounds = bounds,
    .volume = volume,
};
