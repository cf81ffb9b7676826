/* A cylinder along y about the origin: a rectangle in its meridian plane (r, y).
 *
 * Equally near surfaces: the side before a cap, the upper cap before the lower; on the axis the
 * side lies towards +x. */
#include <math.h>

#include "collider/collider.h"

static double distance(const double size[3], const double point[3], double normal[3])
{
    firn_meridian m = firn_meridian_of(point);
    double side = m.r - size[0];
    double cap = fabs(point[1]) - size[1];
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

const firn_shape firn_shape_cylinder = {
    .name = "cylinder",
    .size_count = 2,
    .size_name = {"radius", "half height"},
    .distance = distance,
};
