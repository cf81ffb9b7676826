#include "geometry/shape.h"

#include <math.h>
#include <string.h>

#include "base/error.h"

static const double pi = 3.14159265358979323846;

typedef firn_solid_values values;

static void set(double out[3], double x, double y, double z)
{
    out[0] = x;
    out[1] = y;
    out[2] = z;
}

static void set_bounds(double low[3], double high[3], double x, double y, double z)
{
    set(low, -x, -y, -z);
    set(high, x, y, z);
}

static double from_axis(const double p[3]) { return hypot(p[0], p[2]); }

/* Distance to |x| <= a, |y| <= b in a plane, and to its like in space. */
static double flat_box(double x, double y, double a, double b)
{
    const double qx = fabs(x) - a, qy = fabs(y) - b;
    if (qx > 0 && qy > 0) return hypot(qx, qy);
    return fmax(qx, qy);
}

/* ---- sphere, disc ---- */

static double sphere_distance(const values *v, const double p[3])
{
    return sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]) - v->value[0];
}

static void sphere_bounds(const values *v, double low[3], double high[3])
{
    const double r = v->value[0];
    set_bounds(low, high, r, r, r);
}

static double sphere_volume(const values *v) { return 4 * pi / 3 * pow(v->value[0], 3); }

static const firn_solid sphere = {
    .name = "sphere",
    .help = "all points within radius of the centre",
    .dimension = 3,
    .value_count = 1,
    .value_name = {"radius"},
    .exact = true,
    .distance = sphere_distance,
    .bounds = sphere_bounds,
    .volume = sphere_volume,
};

static void disc_bounds(const values *v, double low[3], double high[3])
{
    set_bounds(low, high, v->value[0], v->value[0], 0);
}

static double disc_volume(const values *v) { return pi * v->value[0] * v->value[0]; }

static const firn_solid disc = {
    .name = "disc",
    .help = "all points of the plane within radius of the centre",
    .dimension = 2,
    .value_count = 1,
    .value_name = {"radius"},
    .exact = true,
    .distance = sphere_distance,
    .bounds = disc_bounds,
    .volume = disc_volume,
};

/* ---- box, rectangle ---- */

static double box_distance(const values *v, const double p[3])
{
    double outside = 0, inside = -INFINITY;
    for (int a = 0; a < 3; a++) {
        const double q = fabs(p[a]) - 0.5 * v->value[a];
        if (q > 0) outside += q * q;
        inside = fmax(inside, q);
    }
    return inside > 0 ? sqrt(outside) : inside;
}

static void box_bounds(const values *v, double low[3], double high[3])
{
    set_bounds(low, high, 0.5 * v->value[0], 0.5 * v->value[1], 0.5 * v->value[2]);
}

static double box_volume(const values *v) { return v->value[0] * v->value[1] * v->value[2]; }

static const firn_solid box = {
    .name = "box",
    .help = "edges along the axes",
    .dimension = 3,
    .value_count = 3,
    .value_name = {"size x", "size y", "size z"},
    .exact = true,
    .distance = box_distance,
    .bounds = box_bounds,
    .volume = box_volume,
};

static double rectangle_distance(const values *v, const double p[3])
{
    return flat_box(p[0], p[1], 0.5 * v->value[0], 0.5 * v->value[1]);
}

static void rectangle_bounds(const values *v, double low[3], double high[3])
{
    set_bounds(low, high, 0.5 * v->value[0], 0.5 * v->value[1], 0);
}

static double rectangle_volume(const values *v) { return v->value[0] * v->value[1]; }

static const firn_solid rectangle = {
    .name = "rectangle",
    .help = "edges along x and y",
    .dimension = 2,
    .value_count = 2,
    .value_name = {"size x", "size y"},
    .exact = true,
    .distance = rectangle_distance,
    .bounds = rectangle_bounds,
    .volume = rectangle_volume,
};

/* ---- capsule ---- */

static double capsule_distance(const values *v, const double p[3])
{
    const double along = fmax(fabs(p[1]) - 0.5 * v->value[1], 0);
    return sqrt(p[0] * p[0] + along * along + p[2] * p[2]) - v->value[0];
}

static void capsule_bounds(const values *v, double low[3], double high[3])
{
    const double r = v->value[0];
    set_bounds(low, high, r, 0.5 * v->value[1] + r, r);
}

static double capsule_volume(const values *v)
{
    const double r = v->value[0], h = v->value[1];
    return pi * r * r * (h + 4 * r / 3);
}

static const firn_solid capsule = {
    .name = "capsule",
    .help = "all points within radius of a segment along y; height is the segment's",
    .dimension = 3,
    .value_count = 2,
    .value_name = {"radius", "height"},
    .exact = true,
    .distance = capsule_distance,
    .bounds = capsule_bounds,
    .volume = capsule_volume,
};

static double stadium_distance(const values *v, const double p[3])
{
    return hypot(p[0], fmax(fabs(p[1]) - 0.5 * v->value[1], 0)) - v->value[0];
}

static void stadium_bounds(const values *v, double low[3], double high[3])
{
    set_bounds(low, high, v->value[0], 0.5 * v->value[1] + v->value[0], 0);
}

static double stadium_volume(const values *v)
{
    const double r = v->value[0], h = v->value[1];
    return r * (pi * r + 2 * h);
}

static const firn_solid stadium = {
    .name = "stadium",
    .help = "a capsule in 2D",
    .dimension = 2,
    .value_count = 2,
    .value_name = {"radius", "height"},
    .exact = true,
    .distance = stadium_distance,
    .bounds = stadium_bounds,
    .volume = stadium_volume,
};

/* ---- cylinder ---- */

static double cylinder_distance(const values *v, const double p[3])
{
    return flat_box(from_axis(p), p[1], v->value[0], 0.5 * v->value[1]);
}

static void cylinder_bounds(const values *v, double low[3], double high[3])
{
    set_bounds(low, high, v->value[0], 0.5 * v->value[1], v->value[0]);
}

static double cylinder_volume(const values *v)
{
    return pi * v->value[0] * v->value[0] * v->value[1];
}

static const firn_solid cylinder = {
    .name = "cylinder",
    .help = "axis along y",
    .dimension = 3,
    .value_count = 2,
    .value_name = {"radius", "height"},
    .exact = true,
    .distance = cylinder_distance,
    .bounds = cylinder_bounds,
    .volume = cylinder_volume,
};

/* ---- torus ---- */

/* Where a tube wider than the ring closes the hole, the far side's surface is not seen from within:
 * the distance there is a bound. */
static double torus_distance(const values *v, const double p[3])
{
    return hypot(from_axis(p) - v->value[0], p[1]) - v->value[1];
}

static void torus_bounds(const values *v, double low[3], double high[3])
{
    const double reach = v->value[0] + v->value[1];
    set_bounds(low, high, reach, v->value[1], reach);
}

/* The integral of 2 pi r times the chord of the tube's circle, over the part of the circle at r >=
 * 0: with u = r - ring, 4 pi (u + ring) sqrt(tube^2 - u^2) from -m to tube. Pappus' 2 pi^2 ring
 * tube^2 while the hole is open. */
static double torus_volume(const values *v)
{
    const double ring = v->value[0], tube = v->value[1], m = fmin(ring, tube);
    const double chord = sqrt(fmax((tube - m) * (tube + m), 0));
    return 4 * pi *
           (chord * chord * chord / 3 +
            0.5 * ring * (tube * tube * (0.5 * pi + asin(m / tube)) + m * chord));
}

static const firn_solid torus = {
    .name = "torus",
    .help = "all points within tube of a ring of that radius in the x-z plane",
    .dimension = 3,
    .value_count = 2,
    .value_name = {"radius", "tube"},
    .exact = false,
    .distance = torus_distance,
    .bounds = torus_bounds,
    .volume = torus_volume,
};

/* ---- cone ---- */

/* In the meridian plane: nearest of the base and the slant from (radius, 0) to (0, height). */
static double cone_distance(const values *v, const double p[3])
{
    const double radius = v->value[0], height = v->value[1];
    const double r = from_axis(p), y = p[1];
    const double length = hypot(radius, height);
    const double slant = (height * (r - radius) + radius * y) / length; /* above 0: past its line */
    if (y >= 0 && slant <= 0) return -fmin(y, -slant);
    double t = (height * y - radius * (r - radius)) / (length * length);
    t = fmin(fmax(t, 0), 1);
    const double to_slant = hypot(r - radius * (1 - t), y - height * t);
    const double to_base = hypot(fmax(r - radius, 0), y);
    return fmin(to_slant, to_base);
}

static void cone_bounds(const values *v, double low[3], double high[3])
{
    set(low, -v->value[0], 0, -v->value[0]);
    set(high, v->value[0], v->value[1], v->value[0]);
}

static double cone_volume(const values *v)
{
    return pi / 3 * v->value[0] * v->value[0] * v->value[1];
}

static const firn_solid cone = {
    .name = "cone",
    .help = "base of that radius at y = 0, tip at y = height",
    .dimension = 3,
    .value_count = 2,
    .value_name = {"radius", "height"},
    .exact = true,
    .distance = cone_distance,
    .bounds = cone_bounds,
    .volume = cone_volume,
};

/* ---- ellipsoid ---- */

/* A stretched unit sphere: its distance times the least stretch is a bound. */
static double ellipsoid_distance(const values *v, const double p[3])
{
    double square = 0, least = INFINITY;
    for (int a = 0; a < 3; a++) {
        const double q = p[a] / v->value[a];
        square += q * q;
        least = fmin(least, v->value[a]);
    }
    return (sqrt(square) - 1) * least;
}

static void ellipsoid_bounds(const values *v, double low[3], double high[3])
{
    set_bounds(low, high, v->value[0], v->value[1], v->value[2]);
}

static double ellipsoid_volume(const values *v)
{
    return 4 * pi / 3 * v->value[0] * v->value[1] * v->value[2];
}

static const firn_solid ellipsoid = {
    .name = "ellipsoid",
    .help = "a sphere stretched to these radii along the axes",
    .dimension = 3,
    .value_count = 3,
    .value_name = {"radius x", "radius y", "radius z"},
    .exact = false,
    .distance = ellipsoid_distance,
    .bounds = ellipsoid_bounds,
    .volume = ellipsoid_volume,
};

/* ---- ring ---- */

static double ring_distance(const values *v, const double p[3])
{
    const double r = hypot(p[0], p[1]);
    return fmax(r - v->value[0], v->value[1] - r);
}

static double ring_volume(const values *v)
{
    return pi * (v->value[0] - v->value[1]) * (v->value[0] + v->value[1]);
}

static firn_status ring_check(const values *v, firn_error *error)
{
    if (v->value[1] < v->value[0]) return FIRN_OK;
    return firn_fail(error, FIRN_INVALID, "inner %g m of a ring must be below its radius %g m",
                     v->value[1], v->value[0]);
}

static const firn_solid ring = {
    .name = "ring",
    .help = "a disc of that radius without the disc of radius inner",
    .dimension = 2,
    .value_count = 2,
    .value_name = {"radius", "inner"},
    .exact = true,
    .check = ring_check,
    .distance = ring_distance,
    .bounds = disc_bounds,
    .volume = ring_volume,
};

/* ---- polygon ---- */

static const double *corner(const values *v, int32_t i)
{
    return v->points + (ptrdiff_t)2 * (i % v->point_count);
}

/* Twice the area of the triangle a b c; above 0 when it turns left. */
static double turning(const double a[2], const double b[2], const double c[2])
{
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

static double polygon_distance(const values *v, const double p[3])
{
    bool inside = false;
    double nearest = INFINITY;
    for (int32_t i = 0; i < v->point_count; i++) {
        const double *a = corner(v, i), *b = corner(v, i + 1);
        const double *lower = a[1] <= b[1] ? a : b, *upper = a[1] <= b[1] ? b : a;
        if (lower[1] <= p[1] && p[1] < upper[1] && turning(lower, upper, p) > 0) inside = !inside;
        const double dx = b[0] - a[0], dy = b[1] - a[1];
        double t = ((p[0] - a[0]) * dx + (p[1] - a[1]) * dy) / (dx * dx + dy * dy);
        t = fmin(fmax(t, 0), 1);
        nearest = fmin(nearest, hypot(p[0] - a[0] - t * dx, p[1] - a[1] - t * dy));
    }
    return inside ? -nearest : nearest;
}

static void polygon_bounds(const values *v, double low[3], double high[3])
{
    set(low, INFINITY, INFINITY, 0);
    set(high, -INFINITY, -INFINITY, 0);
    for (int32_t i = 0; i < v->point_count; i++) {
        for (int a = 0; a < 2; a++) {
            low[a] = fmin(low[a], corner(v, i)[a]);
            high[a] = fmax(high[a], corner(v, i)[a]);
        }
    }
}

/* Relative to the first corner, so that a small polygon far away keeps its digits. */
static double polygon_volume(const values *v)
{
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

static firn_status polygon_check(const values *v, firn_error *error)
{
    enum { MOST = 10000 }; /* every pair of edges is looked at */
    if (v->point_count < 3 || v->point_count > MOST) {
        return firn_fail(error, FIRN_INVALID, "a polygon has %d points; it takes 3 to %d",
                         (int)v->point_count, MOST);
    }
    for (int32_t i = 0; i < v->point_count; i++) {
        const double *a = corner(v, i), *b = corner(v, i + 1);
        if (!isfinite(a[0]) || !isfinite(a[1])) {
            return firn_fail(error, FIRN_INVALID, "point %d of a polygon, %g %g, must be finite",
                             (int)i + 1, a[0], a[1]);
        }
        if (a[0] == b[0] && a[1] == b[1]) {
            return firn_fail(error, FIRN_INVALID,
                             "points %d and %d of a polygon are the same, %g %g; leave one out",
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
                             "edges %d and %d of a polygon meet; list the points in order around "
                             "it, without crossings",
                             (int)i + 1, (int)j + 1);
        }
    }
    if (polygon_volume(v) > 0) return FIRN_OK;
    return firn_fail(error, FIRN_INVALID, "a polygon has no area; its points are on one line");
}

static const firn_solid polygon = {
    .name = "polygon",
    .help = "corners in order, either way round; edges must not cross",
    .dimension = 2,
    .exact = true,
    .check = polygon_check,
    .distance = polygon_distance,
    .bounds = polygon_bounds,
    .volume = polygon_volume,
};

/* ---- the table ---- */

const firn_solid *const firn_solids[] = {&sphere,    &box,       &capsule, &cylinder, &torus,
                                         &cone,      &ellipsoid, &disc,    &ring,     &stadium,
                                         &rectangle, &polygon,   NULL};

const firn_solid *firn_solid_find(const char *name)
{
    for (int i = 0; firn_solids[i]; i++) {
        if (strcmp(firn_solids[i]->name, name) == 0) return firn_solids[i];
    }
    return NULL;
}

firn_status firn_solid_check(const firn_solid *solid, const firn_solid_values *v, firn_error *error)
{
    for (int i = 0; i < solid->value_count; i++) {
        /* Far from where squares and cubes leave the range of double. */
        if (v->value[i] >= 1e-50 && v->value[i] <= 1e50) continue;
        return firn_fail(error, FIRN_INVALID, "%s %g of a %s must be above 0 and finite (m)",
                         solid->value_name[i], v->value[i], solid->name);
    }
    return solid->check ? solid->check(v, error) : FIRN_OK;
}
