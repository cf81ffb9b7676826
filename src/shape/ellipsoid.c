/* An ellipsoid about the origin, given by its radii a along the axes.
 *
 * The nearest surface point x to p satisfies p - x = t x / a^2 for some t, per axis, so x / a^2 =
 * p / (t + a^2) and t solves F(t) = sum (a p / (t + a^2))^2 = 1: below 0 inside. The gradient there
 * is along x / a^2, and the distance is t |x / a^2|. With m the shortest axis, s = t + a_m^2 >= 0
 * avoids the cancellation next to the pole. F^(-1/2) is concave and nearly linear in s (More and
 * Sorensen 1983 use that for trust regions), so Newton's method on it, from a place where F >= 1, climbs
 * to the root without passing it, in a few steps.
 *
 * Within, on the plane across the shortest axis, x may lie to either side: the positive one is
 * taken, and the first of equally short axes. A radius may be infinite (2D asks for it in z). */
#include "shape/shape.h"

static double distance(const firn_shape_values *v, const double point[3], double normal[3])
{
    const double *a = v->size;
    double p[3], apart[3], square = 0; /* apart: a^2 - a_m^2 */
    int m = 0;
    for (int i = 0; i < 3; i++) {
        p[i] = fabs(point[i]) > FIRN_TINY ? fabs(point[i]) : 0;
        if (a[i] < a[m] || (a[i] == a[m] && p[i] > p[m])) m = i;
    }
    double s = 0;
    for (int i = 0; i < 3; i++) {
        apart[i] = (a[i] - a[m]) * (a[i] + a[m]);
        if (p[i] > 0) s = fmax(s, a[i] * p[i] - apart[i]);
        if (i != m && p[i] > 0) square += pow(a[i] * p[i] / apart[i], 2);
        normal[i] = 0;
    }
    if (p[m] == 0 && square < 1) { /* s = 0: the pole is the nearest point's own */
        for (int i = 0; i < 3; i++) normal[i] = p[i] > 0 ? p[i] / apart[i] : 0;
        normal[m] = sqrt(1 - square) / a[m];
        s = 0;
    } else {
        for (int step = 0; step < 100; step++) {
            double F = 0, G = 0; /* G: -dF/ds / 2 */
            for (int i = 0; i < 3; i++) {
                if (p[i] == 0) continue;
                const double w = a[i] * p[i] / (s + apart[i]);
                F += w * w;
                G += w * w / (s + apart[i]);
            }
            const double rise = F * (sqrt(F) - 1) / G;
            if (!(rise > 1e-16 * s)) break;
            s += rise;
        }
        for (int i = 0; i < 3; i++) normal[i] = p[i] > 0 ? p[i] / (s + apart[i]) : 0;
    }
    const double length =
        sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);
    for (int i = 0; i < 3; i++) normal[i] = (point[i] < 0 ? -normal[i] : normal[i]) / length;
    return (s - a[m] * a[m]) * length;
}

static void bounds(const firn_shape_values *v, double low[3], double high[3])
{
    firn_shape_box_around(v->size[0], v->size[1], v->size[2], low, high);
}

static double volume(const firn_shape_values *v, int dimension)
{
    const double *a = v->size;
    return dimension == 2 ? firn_pi * a[0] * a[1] : 4 * firn_pi / 3 * a[0] * a[1] * a[2];
}

const firn_shape firn_shape_ellipsoid = {
    .name = "ellipsoid",
    .word = {NULL, "ellipsoid"},
    .help = "a stretched ball",
    .key = {FIRN_KEY_CENTER, {"radii", "[0.5, 0.5, 0.5]", "along x, y, z", FIRN_KEY_LENGTHS, 0, 1}},
    .size_count = 3,
    .size_name = {"radius x", "radius y", "radius z"},
    .bounded = FIRN_2D | FIRN_3D,
    .convex = true,
    .deep = true,
    .distance = distance,
    .bounds = bounds,
    .volume = volume,
};
