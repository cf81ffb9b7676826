/* Surface nets: polygons around the voxels of a solid (Gibson 1998, "Constrained elastic surface nets").
 *
 * Each place where the surface passes between two neighbouring voxels makes one quad; its corners belong to
 * the four cells around that edge, where a cell is the cube between eight voxels. A cell has one vertex: the
 * mean of the crossings on its edges. The surface is closed, for the crossings around each side of a
 * cell are even in number, and a plane is met exactly.
 *
 * Voxels that are only full or empty put all crossings halfway, and the surface of a slope into steps.
 * Vertices then move towards the mean of their neighbours, but stay in their cells: steps are smoothed, and
 * thin parts keep their thickness. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "geometry/mesh_parts.h"

enum {
    FIRST_ROOM = 1 << 12,
    MOST = 1 << 24,     /* vertices */
    VERTEX_BYTES = 128, /* at most, with its face and while arrays grow */
    ROUNDS = 6          /* of smoothing: fewer leave steps, more move the surface inwards */
};

static firn_status no_memory(const firn_net *net, firn_error *error)
{
    return firn_fail(error, FIRN_NO_MEMORY, "%s: out of memory after %lld faces", net->soup->name,
                     (long long)net->soup->face_count);
}

/* The slot of a cell, or the free one where it belongs. */
static int64_t find_slot(const firn_net *net, const int32_t cell[3])
{
    uint64_t hash = 0;
    for (int a = 0; a < 3; a++) hash = (hash ^ (uint32_t)cell[a]) * 0x9e3779b97f4a7c15u;
    int64_t s = (int64_t)(hash >> 20) & (net->room - 1);
    while (net->slot[s] >= 0 && memcmp(net->cell[net->slot[s]], cell, sizeof *net->cell) != 0) {
        s = (s + 1) & (net->room - 1);
    }
    return s;
}

static firn_status grow(firn_net *net, firn_error *error)
{
    const int64_t room = net->room ? 2 * net->room : FIRST_ROOM;
    if (room / 2 > MOST) {
        return firn_fail(error, FIRN_INVALID,
                         "%s: the surface has more than %d vertices; resample it to larger voxels",
                         net->soup->name, MOST);
    }
    const double bytes = (double)(room / 2) * VERTEX_BYTES;
    const firn_status st = firn_memory_check(bytes, net->soup->name, error);
    if (st != FIRN_OK) return st;
    void *cell = realloc(net->cell, (size_t)(room / 2) * sizeof *net->cell);
    if (cell) net->cell = cell;
    void *crossings = realloc(net->crossings, (size_t)(room / 2) * sizeof *net->crossings);
    if (crossings) net->crossings = crossings;
    int32_t *slot = malloc((size_t)room * sizeof *slot);
    if (!cell || !crossings || !slot) {
        free(slot);
        return no_memory(net, error);
    }
    free(net->slot);
    net->slot = slot;
    net->room = room;
    memset(slot, -1, (size_t)room * sizeof *slot);
    for (int64_t v = 0; v < net->soup->vertex_count; v++) {
        slot[find_slot(net, net->cell[v])] = (int32_t)v;
    }
    return FIRN_OK;
}

/* Adds a crossing to the vertex of a cell, which may be new. */
static firn_status add_crossing(firn_net *net, const int32_t cell[3], const double at[3],
                                int32_t *vertex, firn_error *error)
{
    firn_status st = FIRN_OK;
    if (2 * net->soup->vertex_count >= net->room) st = grow(net, error);
    if (st != FIRN_OK) return st;
    const int64_t s = find_slot(net, cell);
    if (net->slot[s] < 0) {
        const int64_t v = net->soup->vertex_count;
        st = firn_soup_vertex(net->soup, (const double[3]){0}, error);
        if (st != FIRN_OK) return st;
        memcpy(net->cell[v], cell, sizeof *net->cell);
        net->crossings[v] = 0;
        net->slot[s] = (int32_t)v;
    }
    *vertex = net->slot[s];
    net->crossings[*vertex]++;
    for (int a = 0; a < 3; a++) net->soup->vertex[3 * (ptrdiff_t)*vertex + a] += at[a];
    return FIRN_OK;
}

firn_status firn_net_cross(firn_net *net, const int32_t voxel[3], int axis, double part,
                           bool leaves, firn_error *error)
{
    const int b = (axis + 1) % 3, c = (axis + 2) % 3;
    double at[3] = {voxel[0], voxel[1], voxel[2]};
    at[axis] += part;
    firn_status st = FIRN_OK;
    for (int k = 0; k < 4 && st == FIRN_OK; k++) {
        const int q = leaves ? k : 3 - k; /* counter-clockwise from outside */
        int32_t cell[3] = {voxel[0], voxel[1], voxel[2]}, vertex = 0;
        cell[b] -= q == 0 || q == 3;
        cell[c] -= q == 0 || q == 1;
        st = add_crossing(net, cell, at, &vertex, error);
        if (st == FIRN_OK) st = firn_soup_corner(net->soup, vertex, error);
    }
    return st == FIRN_OK ? firn_soup_face(net->soup, net->soup->face_count + 1, error) : st;
}

/* Moves all vertices half of the way to the mean of their neighbours, no further than their cells reach. */
static void smooth(firn_net *net, double *sum)
{
    const firn_soup *s = net->soup;
    const int64_t vertices = s->vertex_count;
    memset(sum, 0, (size_t)vertices * 3 * sizeof *sum);
    memset(net->crossings, 0, (size_t)vertices * sizeof *net->crossings);
    for (int64_t i = 0; i < s->corner_count; i++) {
        const int32_t from = s->corner[i], to = s->corner[(i & ~3) | ((i + 1) & 3)];
        for (int a = 0; a < 3; a++) {
            sum[3 * (ptrdiff_t)from + a] += s->vertex[3 * (ptrdiff_t)to + a];
            sum[3 * (ptrdiff_t)to + a] += s->vertex[3 * (ptrdiff_t)from + a];
        }
        net->crossings[from]++;
        net->crossings[to]++;
    }
    for (int64_t v = 0; v < vertices; v++) {
        for (int a = 0; a < 3; a++) {
            double *x = &s->vertex[3 * v + a];
            const double low = net->cell[v][a], mean = sum[3 * v + a] / net->crossings[v];
            *x = fmin(fmax(0.5 * (*x + mean), low), low + 1);
        }
    }
}

firn_status firn_net_finish(firn_net *net, bool stepped, firn_error *error)
{
    const int64_t vertices = net->soup->vertex_count;
    for (int64_t v = 0; v < vertices; v++) {
        for (int a = 0; a < 3; a++) net->soup->vertex[3 * v + a] /= net->crossings[v];
    }
    if (!stepped) return FIRN_OK;
    double *sum = malloc(((size_t)vertices * 3 + 1) * sizeof *sum);
    if (!sum) return no_memory(net, error);
    for (int round = 0; round < ROUNDS; round++) smooth(net, sum);
    free(sum);
    return FIRN_OK;
}

void firn_net_free(firn_net *net)
{
    free(net->cell);
    free(net->crossings);
    free(net->slot);
    *net = (firn_net){0};
}
