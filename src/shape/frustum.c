/* A cone without its tip, or a cup's inside: a quadrilateral in its meridian plane (r, y), with the rim of its base
 * at (base, 0) and that of its top at (top, height).
 *
 * Equally near surfaces: the slant before the top, the top before the base; on the axis the slant lies towards
 * +x. On a rim the normal is that of one of the faces that meet there. */
#include "shape/shape.h"

/* The slant's outward normal. */
static void slant_normal(const firn_shape_values *v, double n[2])
{
    const double less = v->size[0] - v->size[2], slope = hypot(less, v->size[1]);
    n[0] = v->size[1] / slope;
    n[1] = less / slope;
}

static int sides(const firn_shape_values *v, const double point[3], firn_face face[FIRN_MAX_FACES])
{
    const firn_meridian m = firn_meridian_of(point);
    double n[2];
    slant_normal(v, n);
    face[0].depth = n[0] * (v->size[0] - m.r) - n[1] * point[1];
    firn_meridian_normal(&m, n[0], n[1], face[0].normal);
    face[1].depth = v->size[1] - point[1];
    firn_meridian_normal(&m, 0, 1, face[1].normal);
    face[2].depth = point[1];
    firn_meridian_normal(&m, 0, -1, face[2].normal);
    return 3;
}

/* From a rim to a point outside of it. */
static double rim(const firn_meridian *m, double r, double y, double normal[3])
{
    const double length = sqrt(r * r + y * y);
    if (length > FIRN_TINY) firn_meridian_normal(m, r / length, y / length, normal);
    return length;
}

static double distance(const firn_shape_values *v, const double point[3], double normal[3])
{
    const firn_meridian m = firn_meridian_of(point);
    const double height = v->size[1], y = point[1];
    firn_face face[FIRN_MAX_FACES];
    double n[2];
    int least = 0;
    sides(v, point, face);
    slant_normal(v, n);
    for (int i = 1; i < 3; i++) least = face[i].depth < face[least].depth ? i : least;
    for (int a = 0; a < 3; a++) normal[a] = face[least].normal[a];
    if (face[least].depth >= 0) return -face[least].depth;

    /* Outside: straight from a disc, or from the slant between its ends, or from a rim. */
    if (y > height && m.r <= v->size[2]) {
        for (int a = 0; a < 3; a++) normal[a] = face[1].normal[a];
        return y - height;
    }
    if (y < 0 && m.r <= v->size[0]) {
        for (int a = 0; a < 3; a++) normal[a] = face[2].normal[a];
        return -y;
    }
    const double along = n[0] * y - n[1] * (m.r - v->size[0]); /* from the base's rim */
    if (along <= 0) return rim(&m, m.r - v->size[0], y, normal);
    if (along >= hypot(height, v->size[0] - v->size[2])) {
        return rim(&m, m.r - v->size[2], y - height, normal);
    }
    for (int a = 0; a < 3; a++) normal[a] = face[0].normal[a];
    return -face[0].depth;
}

static double shrink(double size[3], double by)
{
    const firn_shape_values v = {.size = {size[0], size[1], size[2]}};
    double n[2];
    slant_normal(&v, n);
    size[0] = v.size[0] - by * (1 + n[1]) / n[0];
    size[2] = v.size[2] - by * (1 - n[1]) / n[0];
    size[1] -= 2 * by;
    return by;
}

static void bounds(const firn_shape_values *v, double low[3], double high[3])
{
    const double radius = fmax(v->size[0], v->size[2]);
    firn_shape_box_around(radius, v->size[1], radius, low, high);
    low[1] = 0;
}

static double volume(const firn_shape_values *v, int dimension)
{
    const double a = v->size[0], b = v->size[2], h = v->size[1];
    return dimension == 2 ? (a + b) * h : firn_pi / 3 * h * (a * a + a * b + b * b);
}

const firn_shape firn_shape_frustum = {
    .name = "frustum",
    .word = {NULL, "frustum"},
    .help = "a truncated cone along y",
    .key = {{"center", "[0, 0, 0]", "middle of its base", FIRN_KEY_POSITION, 0, 0},
            {"radius", "0.5", "of its base", FIRN_KEY_LENGTH, 0, 1},
            {"top", "0.25", "radius of its top", FIRN_KEY_LENGTH, 2, 1},
            {"height", "1", "along y", FIRN_KEY_LENGTH, 1, 1}},
    .size_count = 3,
    .size_name = {"base radius", "height", "top radius"},
    .bounded = FIRN_2D | FIRN_3D,
    .convex = true,
    .distance = distance,
    .sides = sides,
    .shrink = shrink,
    .bounds = bounds,
    .volume = volume,
};
