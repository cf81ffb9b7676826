/* All points within an outline in the x-y plane, endless along z.
 *
 * Equally near edges: the first. On a corner the normal is that of an edge that meets there. */
#include "base/error.h"
#include "shape/shape.h"

static const double *corner(const firn_shape_values *v, int32_t i)
{
    return v->points + (ptrdiff_t)2 * (i % v->point_count);
}

/* Twice the area of the triangle a b c; above 0 when it turns left. */
static double turning(const double a[2], const double b[2], const double c[2])
{
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

static double distance(const firn_shape_values *v, const double p[3], double normal[3])
{
    bool inside = false;
    double nearest = INFINITY, twice = 0; /* the area, as the corners turn */
    double edge[2] = {0}, away[2] = {0};  /* the nearest edge; from its nearest point */
    bool at_corner = false;
    for (int32_t i = 0; i < v->point_count; i++) {
        const double *a = corner(v, i), *b = corner(v, i + 1);
        const double *lower = a[1] <= b[1] ? a : b, *upper = a[1] <= b[1] ? b : a;
        if (lower[1] <= p[1] && p[1] < upper[1] && turning(lower, upper, p) > 0) inside = !inside;
        twice += turning(v->points, a, b);
        const double dx = b[0] - a[0], dy = b[1] - a[1];
        double t = ((p[0] - a[0]) * dx + (p[1] - a[1]) * dy) / (dx * dx + dy * dy);
        t = fmin(fmax(t, 0), 1);
        const double x = p[0] - a[0] - t * dx, y = p[1] - a[1] - t * dy, length = hypot(x, y);
        if (!(length < nearest)) continue;
        nearest = length;
        edge[0] = dx, edge[1] = dy;
        away[0] = x, away[1] = y;
        at_corner = t == 0 || t == 1;
    }
    const double sign = inside ? -1 : 1;
    if (at_corner && nearest > FIRN_TINY) {
        normal[0] = sign * away[0] / nearest;
        normal[1] = sign * away[1] / nearest;
    } else {
        const double out = (twice > 0 ? 1 : -1) / hypot(edge[0], edge[1]);
        normal[0] = out * edge[1];
        normal[1] = -out * edge[0];
    }
    normal[2] = 0;
    return sign * nearest;
}

/* The edges that the point is beside, nearest first. */
static int sides(const firn_shape_values *v, const double p[3], firn_face face[FIRN_MAX_FACES])
{
    int count = 0;
    double twice = 0;
    for (int32_t i = 1; i + 1 < v->point_count; i++) {
        twice += turning(corner(v, 0), corner(v, i), corner(v, i + 1));
    }
    for (int32_t i = 0; i < v->point_count; i++) {
        const double *a = corner(v, i), *b = corner(v, i + 1);
        const double dx = b[0] - a[0], dy = b[1] - a[1], length = hypot(dx, dy);
        const double out = (twice > 0 ? 1 : -1) / length;
        const double along = ((p[0] - a[0]) * dx + (p[1] - a[1]) * dy) / length;
        const firn_face f = {(a[0] - p[0]) * out * dy - (a[1] - p[1]) * out * dx,
                             {out * dy, -out * dx, 0}};
        if (along < 0 || along > length || f.depth < -length) continue;
        int at = count;
        while (at > 0 && fabs(face[at - 1].depth) > fabs(f.depth)) at--;
        if (at == FIRN_MAX_FACES) continue;
        count += count < FIRN_MAX_FACES;
        for (int k = count - 1; k > at; k--) face[k] = face[k - 1];
        face[at] = f;
    }
    return count;
}

static void bounds(const firn_shape_values *v, double low[3], double high[3])
{
    firn_shape_box_around(-INFINITY, -INFINITY, INFINITY, low, high);
    for (int32_t i = 0; i < v->point_count; i++) {
        for (int a = 0; a < 2; a++) {
            low[a] = fmin(low[a], corner(v, i)[a]);
            high[a] = fmax(high[a], corner(v, i)[a]);
        }
    }
}

/* Relative to the first corner, so that a small polygon far away keeps its digits. */
static double volume(const firn_shape_values *v, int dimension)
{
    (void)dimension;
    double twice = 0;
    for (int32_t i = 1; i + 1 < v->point_count; i++) {
        twice += turning(corner(v, 0), corner(v, i), corner(v, i + 1));
    }
    return 0.5 * fabs(twice);
}

static bool edges_cross(const double a[2], const double b[2], const double c[2], const double d[2])
{
    for (int axis = 0; axis < 2; axis++) {
        if (fmax(a[axis], b[axis]) < fmin(c[axis], d[axis])) return false;
        if (fmax(c[axis], d[axis]) < fmin(a[axis], b[axis])) return false;
    }
    const double ac = turning(a, b, c), ad = turning(a, b, d);
    const double ca = turning(c, d, a), cb = turning(c, d, b);
    return !((ac > 0 && ad > 0) || (ac < 0 && ad < 0) || (ca > 0 && cb > 0) || (ca < 0 && cb < 0));
}

static firn_status check(const firn_shape_values *v, firn_error *error)
{
    enum { MOST = 10000 }; /* every pair of edges is looked at */
    if (v->point_count < 3 || v->point_count > MOST) {
        return firn_fail(error, FIRN_INVALID, "points has %d corners; a polygon takes 3 to %d",
                         (int)v->point_count, MOST);
    }
    for (int32_t i = 0; i < v->point_count; i++) {
        const double *a = corner(v, i), *b = corner(v, i + 1);
        if (!isfinite(a[0]) || !isfinite(a[1])) {
            return firn_fail(error, FIRN_INVALID, "points: corner %d, %g %g, must be finite",
                             (int)i + 1, a[0], a[1]);
        }
        if (a[0] == b[0] && a[1] == b[1]) {
            return firn_fail(error, FIRN_INVALID,
                             "points: corners %d and %d are the same, %g %g; leave one out",
                             (int)i + 1, (int)((i + 1) % v->point_count) + 1, a[0], a[1]);
        }
    }
    for (int32_t i = 0; i < v->point_count; i++) {
        for (int32_t j = i + 2; j < v->point_count; j++) {
            if (i == 0 && j == v->point_count - 1) continue; /* neighbours */
            if (!edges_cross(corner(v, i), corner(v, i + 1), corner(v, j), corner(v, j + 1))) {
                continue;
            }
            return firn_fail(error, FIRN_INVALID,
                             "points: edges %d and %d meet; list the corners in order, without "
                             "crossings",
                             (int)i + 1, (int)j + 1);
        }
    }
    if (volume(v, 2) > 0) return FIRN_OK;
    return firn_fail(error, FIRN_INVALID, "points are on one line and have no area");
}

const firn_shape firn_shape_polygon = {
    .name = "polygon",
    .word = {"polygon", NULL},
    .help = "any outline",
    .key = {{"points", "", "list of [x, y], at least three", FIRN_KEY_POINTS, 0, 0}},
    .bounded = FIRN_2D,
    .check = check,
    .distance = distance,
    .sides = sides,
    .bounds = bounds,
    .volume = volume,
};
