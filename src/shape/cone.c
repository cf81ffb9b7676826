/* A cone with its base on y = 0 and its tip above: a triangle in its meridian plane (r, y), with
 * the rim at (radius, 0) and the tip at (0, height).
 *
 * Equally near surfaces: the slant before the base; on the axis the slant lies towards +x. At the
 * tip itself the normal may be +y or the slant's, at the rim itself radial or either face's. */
#include <math.h>

#include "shape/shape.h"

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

static double distance(const firn_shape_values *v, const double point[3], double normal[3])
{
    double radius = v->size[0], height = v->size[1], y = point[1];
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

static int sides(const firn_shape_values *v, const double point[3], firn_face face[FIRN_MAX_FACES])
{
    const double slope = hypot(v->size[0], v->size[1]);
    const double nr = v->size[1] / slope, ny = v->size[0] / slope;
    const firn_meridian m = firn_meridian_of(point);
    face[0].depth = -nr * (m.r - v->size[0]) - ny * point[1];
    firn_meridian_normal(&m, nr, ny, face[0].normal);
    face[1].depth = point[1];
    firn_meridian_normal(&m, 0, -1, face[1].normal);
    return 2;
}

/* A cone of the same slope, with its base higher by that much. */
static double shrink(double size[3], double by)
{
    const double slope = hypot(size[0], size[1]), less = by * (slope + size[0]) / size[1];
    size[1] *= 1 - less / size[0];
    size[0] -= less;
    return by;
}

static void bounds(const firn_shape_values *v, double low[3], double high[3])
{
    firn_shape_box_around(v->size[0], v->size[1], v->size[0], low, high);
    low[1] = 0;
}

static double volume(const firn_shape_values *v, int dimension)
{
    const double r = v->size[0], h = v->size[1];
    return dimension == 2 ? r * h : firn_pi / 3 * r * r * h;
}

const firn_shape firn_shape_cone = {
    .name = "cone",
    .word = {NULL, "cone"},
    .help = "tip up along y",
    .key = {{"center", "[0, 0, 0]", "middle of its base", FIRN_KEY_POSITION, 0, 0},
            FIRN_KEY_RADIUS,
            {"height", "1", "along y", FIRN_KEY_LENGTH, 1, 1}},
    .size_count = 2,
    .size_name = {"base radius", "height"},
    .bounded = FIRN_2D | FIRN_3D,
    .convex = true,
    .distance = distance,
    .sides = sides,
    .shrink = shrink,
    .bounds = bounds,
    .volume = volume,
};
