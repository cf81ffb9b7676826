/* Streams that leave a surface along its normals.
 *
 * Places are even over a thin band on both sides of the surface and then go to the nearest point of it. On flat parts
 * that is even; where the surface curves with radius R, what the band has too much outside it lacks inside, but for
 * (band / R)^2 / 3. Only distances are asked for, so that every shape, mesh and set of voxels will do. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "run/stream.h"

enum { PARTS = 4, STEPS = 4 };      /* PARTS samples along each edge of a cell */
static const double band = 0.25;    /* of the separation, on either side */
static const double offset = 0.381; /* of a sample in its part: no face of a box is ever on one */

static double depth_at(const firn_stream *s, const double x[3])
{
    return firn_region_depth(s->region, x, 2 * s->def.separation);
}

/* The way out at a place, a unit vector; false where there is none. */
static bool find_normal(const firn_stream *s, const double x[3], double normal[3])
{
    const double step = 1e-3 * s->def.separation;
    double length = 0;
    memset(normal, 0, 3 * sizeof *normal);
    for (int a = 0; a < s->region->dimension; a++) {
        double near[3], far[3];
        memcpy(near, x, sizeof near);
        memcpy(far, x, sizeof far);
        near[a] -= step;
        far[a] += step;
        normal[a] = depth_at(s, near) - depth_at(s, far);
        length = hypot(length, normal[a]);
    }
    for (int a = 0; a < 3 && length > 0; a++) normal[a] /= length;
    return length > step;
}

static void place_in(const firn_stream *s, const firn_stream_cell *c, const double part[3],
                     double x[3])
{
    for (int a = 0; a < 3; a++) x[a] = s->corner[a] + (c->index[a] + part[a]) * s->spacing[a];
}

bool firn_skin_enter(const firn_stream *s, const firn_stream_cell *c, const double part[3],
                     double position[3], double normal[3])
{
    place_in(s, c, part, position);
    double depth = depth_at(s, position);
    if (!(fabs(depth) < band * s->def.separation)) return false;
    for (int i = 0; i < STEPS; i++) {
        if (!find_normal(s, position, normal)) return false;
        if (fabs(depth) < 1e-6 * s->def.separation) return true;
        for (int a = 0; a < 3; a++) position[a] += depth * normal[a];
        depth = depth_at(s, position);
    }
    return fabs(depth) < 0.01 * s->def.separation;
}

/* How much of the surface, in squares as wide as particles are apart, is in a cell. */
static double cover(const firn_stream *s, firn_stream_cell *c)
{
    const int dim = s->region->dimension, deep = dim == 3 ? PARTS : 1, count = PARTS * PARTS * deep;
    const double reach = (0.5 * sqrt(dim) + band) * s->def.separation;
    double x[3], normal[3];
    int within = 0;
    place_in(s, c, (double[3]){0.5, 0.5, dim == 3 ? 0.5 : 0}, x);
    if (fabs(firn_region_distance(s->region, x, 2 * reach)) > reach) return 0;
    for (int i = 0; i < count; i++) {
        const int at[3] = {i % PARTS, i / PARTS % PARTS, i / (PARTS * PARTS)};
        double part[3] = {0};
        for (int a = 0; a < dim; a++) part[a] = (at[a] + offset) / PARTS;
        if (!firn_skin_enter(s, c, part, x, normal)) continue;
        memcpy(c->inside, part, sizeof part);
        within++;
    }
    return within / (2 * band * count);
}

firn_status firn_skin_find(firn_stream *s, firn_error *error)
{
    const firn_region *r = s->region;
    const int dim = r->dimension;
    const double separation = s->def.separation;
    int64_t cells[3] = {1, 1, 1};
    double all = 1, sum = 0;
    size_t room = 0;
    for (int a = 0; a < dim; a++) {
        const double size = r->high[a] - r->low[a] + 2 * separation;
        s->spacing[a] = separation;
        s->corner[a] = r->low[a] - separation;
        all *= ceil(size / separation);
        if (all > FIRN_STREAM_CELLS) {
            return firn_fail(error, FIRN_INVALID,
                             "a shape of %.3g cells as wide as particles are apart is too large to "
                             "flow from its surface, %d at most; use a larger separation",
                             all, FIRN_STREAM_CELLS);
        }
        cells[a] = (int64_t)ceil(size / separation);
    }
    for (int64_t i = 0; i < cells[0] * cells[1] * cells[2]; i++) {
        firn_stream_cell c = {.index = {(int32_t)(i % cells[0]), (int32_t)(i / cells[0] % cells[1]),
                                        (int32_t)(i / (cells[0] * cells[1]))}};
        const double share = cover(s, &c);
        if (share == 0) continue;
        if ((size_t)s->cell_count == room) {
            room = room ? 2 * room : 256;
            firn_stream_cell *grown = realloc(s->cell, room * sizeof *grown);
            if (!grown) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
            s->cell = grown;
        }
        c.upto = sum += share;
        s->cell[s->cell_count++] = c;
    }
    s->count = (int32_t)fmax(rint(sum), 1);
    s->area = sum * pow(separation, dim - 1);
    s->volume = s->area * separation / s->count;
    return FIRN_OK;
}
