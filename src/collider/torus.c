/* All points within the tube radius of a ring in the x-z plane: discs in the meridian plane.
 *
 * On the ring the normal points away from the axis; on the axis the near part of the ring is the
 * one towards +x. A tube wider than the ring closes the hole: the surface then has a dimple with a
 * cusp on the axis above and below, and points within may be nearest to that cusp. */
#include <math.h>

#include "collider/collider.h"

static double distance(const double size[3], const double point[3], double normal[3])
{
    double ring = size[0], tube = size[1];
    firn_meridian m = firn_meridian_of(point);
    double qr = m.r - ring, qy = point[1];
    double length = sqrt(qr * qr + qy * qy);
    if (!(length > FIRN_TINY)) {
        firn_meridian_normal(&m, 1, 0, normal);
        return length - tube;
    }
    /* Walking out from the ring through the point meets the tube's circle at r = ring + tube qr /
     * length. Past the axis that is no surface any more: the other side's disc covers it. */
    if (tube > ring && length < tube && ring * length + tube * qr < 0) {
        double cusp = sqrt((tube - ring) * (tube + ring));
        double cr = m.r, cy = fabs(point[1]) - cusp; /* from the cusp to the point */
        double gap = sqrt(cr * cr + cy * cy);
        double up = point[1] < 0 ? -1 : 1;
        if (gap > FIRN_TINY)
            firn_meridian_normal(&m, -cr / gap, -up * cy / gap, normal);
        else
            firn_meridian_normal(&m, 0, up, normal);
        return -gap;
    }
    firn_meridian_normal(&m, qr / length, qy / length, normal);
    return length - tube;
}

const firn_shape firn_shape_torus = {
    .name = "torus",
    .size_count = 2,
    .size_name = {"ring radius", "tube radius"},
    .distance = distance,
};
