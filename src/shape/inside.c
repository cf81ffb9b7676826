/* A room: the complement of a box, solid where the box is not.
 *
 * A set and its complement share their surface, so the distance is the box's with the sign
 * turned, exact on both sides; equally near walls are chosen as the box chooses faces. In its
 * edges and corners each wall stops material. */
#include <math.h>

#include "shape/shape.h"

static double distance(const firn_shape_values *v, const double point[3], double normal[3])
{
    double d = firn_shape_box.distance(v, point, normal);
    for (int a = 0; a < 3; a++) normal[a] = -normal[a];
    return -d;
}

static int faces(const firn_shape_values *v, const double point[3], double slack,
                 firn_face face[FIRN_MAX_FACES])
{
    int count = 0;
    for (int a = 0; a < 3; a++) {
        const double depth = fabs(point[a]) - v->size[a];
        if (depth < -slack) continue;
        face[count] = (firn_face){.depth = depth};
        face[count++].normal[a] = point[a] < 0 ? 1 : -1;
    }
    return count;
}

const firn_shape firn_shape_inside = {
    .name = "inside",
    .word = {"inside", "inside"},
    .help = "the inside of a box: everything outside is solid",
    .key = {FIRN_KEY_CENTER, FIRN_KEY_SIZE},
    .size_count = 3,
    .size_name = {"half extent x", "half extent y", "half extent z"},
    .deep = true,
    .thick = true,
    .distance = distance,
    .faces = faces,
};
