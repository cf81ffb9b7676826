/* All points within the tube radius of a ring in the x-z plane: discs in the meridian plane.
 *
 * On the ring the normal points away from the axis; on the axis the near part of the ring is the
 * one towards +x. A tube wider than the ring closes the hole: the surface then has a dimple with a
 * cusp on the axis above and below, and points within may be nearest to that cusp. */
#include <math.h>

#include "shape/shape.h"

static double distance(const firn_shape_values *v, const double point[3], double normal[3])
{
    double ring = v->size[0], tube = v->size[1];
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

static void bounds(const firn_shape_values *v, double low[3], double high[3])
{
    const double reach = v->size[0] + v->size[1];
    firn_shape_box_around(reach, v->size[1], reach, low, high);
}

/* The integral of 2 pi r times the chord of the tube's circle, over the part of the circle at r >=
 * 0: with u = r - ring, 4 pi (u + ring) sqrt(tube^2 - u^2) from -m to tube. Pappus' 2 pi^2 ring
 * tube^2 while the hole is open. In 2D the chord alone, on both sides. */
static double volume(const firn_shape_values *v, int dimension)
{
    const double ring = v->size[0], tube = v->size[1], m = fmin(ring, tube);
    const double chord = sqrt(fmax((tube - m) * (tube + m), 0));
    const double half = tube * tube * (0.5 * firn_pi + asin(m / tube)) + m * chord;
    if (dimension == 2) return 2 * half;
    return 4 * firn_pi * (chord * chord * chord / 3 + 0.5 * ring * half);
}

const firn_shape firn_shape_torus = {
    .name = "torus",
    .word = {NULL, "torus"},
    .help = "a ring about y",
    .key = {FIRN_KEY_CENTER,
            {"radius", "0.5", "of the ring, about y", FIRN_KEY_LENGTH, 0, 1},
            {"tube", "0.2", "radius of the tube", FIRN_KEY_LENGTH, 1, 1}},
    .size_count = 2,
    .size_name = {"ring radius", "tube radius"},
    .bounded = FIRN_2D | FIRN_3D,
    .distance = distance,
    .bounds = bounds,
    .volume = volume,
};
