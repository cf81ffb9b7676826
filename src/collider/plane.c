/* The half space y < 0. */
#include "collider/collider.h"

static double distance(const double size[3], const double point[3], double normal[3])
{
    (void)size;
    normal[0] = 0;
    normal[1] = 1;
    normal[2] = 0;
    return point[1];
}

const firn_shape firn_shape_plane = {
    .name = "plane",
    .distance = distance,
};
