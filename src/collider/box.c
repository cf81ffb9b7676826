/* A box about the origin, given by its half extents.
 *
 * Equally near faces: the first axis of x, y, z, and its positive side on the middle plane. An
 * infinite half extent is allowed here (2D asks for it in z). */
#include <math.h>

#include "collider/collider.h"

static double distance(const double size[3], const double point[3], double normal[3])
{
    double q[3], beyond[3]; /* signed distance to each pair of faces; its part outside */
    int nearest = 0;
    for (int a = 0; a < 3; a++) {
        q[a] = fabs(point[a]) - size[a];
        beyond[a] = q[a] > 0 ? q[a] : 0;
        normal[a] = 0;
        if (q[a] > q[nearest]) nearest = a;
    }
    double length = sqrt(beyond[0] * beyond[0] + beyond[1] * beyond[1] + beyond[2] * beyond[2]);
    if (!(length > FIRN_TINY)) { /* within, or on the surface: the nearest face */
        normal[nearest] = point[nearest] < 0 ? -1 : 1;
        return q[nearest];
    }
    for (int a = 0; a < 3; a++) normal[a] = (point[a] < 0 ? -beyond[a] : beyond[a]) / length;
    return length;
}

const firn_shape firn_shape_box = {
    .name = "box",
    .size_count = 3,
    .size_name = {"half extent x", "half extent y", "half extent z"},
    .distance = distance,
};
