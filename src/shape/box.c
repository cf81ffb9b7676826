/* A box about the origin, given by its half extents.
 *
 * Equally near faces: the first axis of x, y, z, and its positive side on the middle plane. An
 * infinite half extent is allowed here (2D asks for it in z). */
#include <math.h>

#include "shape/shape.h"

static double distance(const firn_shape_values *v, const double point[3], double normal[3])
{
    double q[3], beyond[3]; /* signed distance to each pair of faces; its part outside */
    int nearest = 0;
    for (int a = 0; a < 3; a++) {
        q[a] = fabs(point[a]) - v->size[a];
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

static int sides(const firn_shape_values *v, const double point[3], firn_face face[FIRN_MAX_FACES])
{
    for (int a = 0; a < 3; a++) {
        face[a] = (firn_face){.depth = v->size[a] - fabs(point[a])};
        face[a].normal[a] = point[a] < 0 ? -1 : 1;
    }
    return v->dimension;
}

static double shrink(double size[3], double by)
{
    for (int a = 0; a < 3; a++) size[a] -= by;
    return 0;
}

static void bounds(const firn_shape_values *v, double low[3], double high[3])
{
    firn_shape_box_around(v->size[0], v->size[1], v->size[2], low, high);
}

static double volume(const firn_shape_values *v, int dimension)
{
    const double area = 2 * v->size[0] * (2 * v->size[1]);
    return dimension == 2 ? area : area * (2 * v->size[2]);
}

const firn_shape firn_shape_box = {
    .name = "box",
    .word = {"rectangle", "box"},
    .help = "with edges along the axes",
    .key = {FIRN_KEY_CENTER, FIRN_KEY_SIZE},
    .size_count = 3,
    .size_name = {"half extent x", "half extent y", "half extent z"},
    .bounded = FIRN_2D | FIRN_3D,
    .convex = true,
    .deep = true,
    .distance = distance,
    .sides = sides,
    .shrink = shrink,
    .bounds = bounds,
    .volume = volume,
};
