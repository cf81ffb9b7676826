/* All points within a radius of a segment of the y axis. On the segment the normal is +x. */
#include <math.h>

#include "collider/collider.h"

static double distance(const double size[3], const double point[3], double normal[3])
{
    double radius = size[0], half_length = size[1];
    double along = fabs(point[1]) - half_length; /* beyond the segment's end */
    double y = along > 0 ? copysign(along, point[1]) : 0;
    double length = sqrt(point[0] * point[0] + y * y + point[2] * point[2]);
    bool axis = !(length > FIRN_TINY);
    normal[0] = axis ? 1 : point[0] / length;
    normal[1] = axis ? 0 : y / length;
    normal[2] = axis ? 0 : point[2] / length;
    return length - radius;
}

const firn_shape firn_shape_capsule = {
    .name = "capsule",
    .size_count = 2,
    .size_name = {"radius", "half length"},
    .distance = distance,
};
