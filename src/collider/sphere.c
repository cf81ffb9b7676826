/* A ball about the origin. At the centre the normal is +y. */
#include <math.h>

#include "collider/collider.h"

static double distance(const double size[3], const double point[3], double normal[3])
{
    double length = sqrt(point[0] * point[0] + point[1] * point[1] + point[2] * point[2]);
    bool centre = !(length > FIRN_TINY);
    normal[0] = centre ? 0 : point[0] / length;
    normal[1] = centre ? 1 : point[1] / length;
    normal[2] = centre ? 0 : point[2] / length;
    return length - size[0];
}

const firn_shape firn_shape_sphere = {
    .name = "sphere",
    .size_count = 1,
    .size_name = {"radius"},
    .distance = distance,
};
