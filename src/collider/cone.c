/* A cone with its base on y = 0 and its tip above: a triangle in its meridian plane (r, y), with
 * the rim at (radius, 0) and the tip at (0, height).
 *
 * Equally near surfaces: the slant before the base; on the axis the slant lies towards +x. At the
 * tip itself the normal may be +y or the slant's, at the rim itself radial or either face's. */
#include <math.h>

#include "collider/collider.h"

/* Distance to a corner of the triangle from outside of it, q = point - corner. */
static double corner(const firn_meridian *m, double qr, double qy, double at_r, double at_y,
                     double normal[3])
{
    double length = sqrt(qr * qr + qy * qy);
    if (length > FIRN_TINY)
        firn_meridian_normal(m, qr / length, qy / length, normal);
    else
        firn_meridian_normal(m, at_r, at_y, normal);
    return length;
}

static double distance(const double size[3], const double point[3], double normal[3])
{
    double radius = size[0], height = size[1], y = point[1];
    firn_meridian m = firn_meridian_of(point);
    double slope = sqrt(radius * radius + height * height);
    double nr = height / slope, ny = radius / slope; /* the slant's normal */
    double slant = nr * (m.r - radius) + ny * y;     /* signed distance to its line */
    double along = nr * y - ny * (m.r - radius);     /* from the rim towards the tip, m */

    bool faced = y >= 0 ? slant <= 0 : m.r <= radius; /* within, or right below the base */
    if (faced && -y > slant) {
        firn_meridian_normal(&m, 0, -1, normal);
        return -y;
    }
    if (!faced && along <= 0) return corner(&m, m.r - radius, y, 1, 0, normal);
    if (!faced && along >= slope) return corner(&m, m.r, y - height, 0, 1, normal);
    firn_meridian_normal(&m, nr, ny, normal);
    return slant;
}

const firn_shape firn_shape_cone = {
    .name = "cone",
    .size_count = 2,
    .size_name = {"base radius", "height"},
    .distance = distance,
};
