/* All points within a radius of a segment of the y axis. On the segment the normal is +x. */
#include <math.h>

#include "shape/shape.h"

static double distance(const firn_shape_values *v, const double point[3], double normal[3])
{
    double radius = v->size[0], half_length = v->size[1];
    double along = fabs(point[1]) - half_length; /* beyond the segment's end */
    double y = along > 0 ? copysign(along, point[1]) : 0;
    double length = sqrt(point[0] * point[0] + y * y + point[2] * point[2]);
    bool axis = !(length > FIRN_TINY);
    normal[0] = axis ? 1 : point[0] / length;
    normal[1] = axis ? 0 : y / length;
    normal[2] = axis ? 0 : point[2] / length;
    return length - radius;
}

static void bounds(const firn_shape_values *v, double low[3], double high[3])
{
    firn_shape_box_around(v->size[0], v->size[1] + v->size[0], v->size[0], low, high);
}

static double volume(const firn_shape_values *v, int dimension)
{
    const double r = v->size[0], h = 2 * v->size[1];
    return dimension == 2 ? r * (firn_pi * r + 2 * h) : firn_pi * r * r * (h + 4 * r / 3);
}

const firn_shape firn_shape_capsule = {
    .name = "capsule",
    .word = {"capsule", "capsule"},
    .help = "a cylinder with round ends",
    .key = {{"from", "[0, -0.5, 0]", "one end of its axis", FIRN_KEY_FROM, 1, 0},
            {"to", "[0, 0.5, 0]", "the other", FIRN_KEY_TO, 1, 0},
            FIRN_KEY_RADIUS},
    .size_count = 2,
    .size_name = {"radius", "half length"},
    .bounded = FIRN_2D | FIRN_3D,
    .convex = true,
    .distance = distance,
    .bounds = bounds,
    .volume = volume,
};
