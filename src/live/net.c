/* The surface of a shape as a mesh, for pages that have no form of their own for it: a net of one corner in each cell
 * of a grid that the surface goes through (Gibson 1998), drawn onto the surface along its normal. */
#include "live/net.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"

enum { BLOCK = 6 }; /* cells along a block of those that are looked at together */

typedef struct net {
    const firn_collider_def *def;
    double low[3], cell; /* m */
    int32_t count[3];    /* of nodes */
    float *distance;     /* at nodes; of those far from the surface only the sign */
    int32_t *corner;     /* of cells, -1: none */
    firn_polygons *out;
    int64_t corner_room, face_room;
} net;

static size_t node_of(const net *n, int32_t x, int32_t y, int32_t z)
{
    return ((size_t)z * (size_t)n->count[1] + (size_t)y) * (size_t)n->count[0] + (size_t)x;
}

static double distance_at(const net *n, double x, double y, double z)
{
    const double point[3] = {n->low[0] + x * n->cell, n->low[1] + y * n->cell,
                             n->low[2] + z * n->cell};
    double normal[3];
    return firn_shape_distance(n->def, 3, point, normal);
}

/* Distances are never longer than the true ones, so that a block whose middle is far from the surface is on one side. */
static void measure_block(net *n, const int32_t from[3], const int32_t to[3])
{
    double middle[3], half = 0;
    for (int a = 0; a < 3; a++) {
        middle[a] = 0.5 * (from[a] + to[a] - 1);
        half += (to[a] - 1 - middle[a]) * (to[a] - 1 - middle[a]);
    }
    const double far = distance_at(n, middle[0], middle[1], middle[2]);
    const bool near = fabs(far) <= sqrt(half) * n->cell;
    for (int32_t z = from[2]; z < to[2]; z++) {
        for (int32_t y = from[1]; y < to[1]; y++) {
            for (int32_t x = from[0]; x < to[0]; x++) {
                n->distance[node_of(n, x, y, z)] = (float)(near ? distance_at(n, x, y, z) : far);
            }
        }
    }
}

static void measure(net *n)
{
    int32_t from[3];
    for (from[2] = 0; from[2] < n->count[2]; from[2] += BLOCK) {
        for (from[1] = 0; from[1] < n->count[1]; from[1] += BLOCK) {
            for (from[0] = 0; from[0] < n->count[0]; from[0] += BLOCK) {
                int32_t to[3];
                for (int a = 0; a < 3; a++) {
                    to[a] = from[a] + BLOCK < n->count[a] ? from[a] + BLOCK : n->count[a];
                }
                measure_block(n, from, to);
            }
        }
    }
}

static bool grow(void **array, int64_t used, int64_t *room, size_t size)
{
    if (used < *room) return true;
    const int64_t more = 2 * *room + 1024;
    void *grown = realloc(*array, (size_t)more * size);
    if (!grown) return false;
    *array = grown;
    *room = more;
    return true;
}

/* Where the surface goes through a cell: the mean of where it crosses edges, then onto it. */
static bool place_corner(net *n, const int32_t c[3])
{
    double sum[3] = {0};
    int crossings = 0;
    for (int a = 0; a < 3; a++) {
        for (int k = 0; k < 4; k++) {
            int32_t at[3] = {c[0], c[1], c[2]};
            at[(a + 1) % 3] += k & 1;
            at[(a + 2) % 3] += k >> 1;
            const float from = n->distance[node_of(n, at[0], at[1], at[2])];
            at[a]++;
            const float to = n->distance[node_of(n, at[0], at[1], at[2])];
            if ((from < 0) == (to < 0)) continue;
            at[a]--;
            for (int b = 0; b < 3; b++) sum[b] += at[b];
            sum[a] += from / (from - to);
            crossings++;
        }
    }
    n->corner[node_of(n, c[0], c[1], c[2])] = -1;
    if (crossings == 0) return true;
    firn_polygons *out = n->out;
    if (!grow((void **)&out->vertex, out->vertex_count, &n->corner_room, 3 * sizeof *out->vertex)) {
        return false;
    }
    double *p = &out->vertex[3 * out->vertex_count], normal[3];
    for (int a = 0; a < 3; a++) p[a] = n->low[a] + n->cell * sum[a] / crossings;
    for (int i = 0; i < 3; i++) {
        const double d = firn_shape_distance(n->def, 3, p, normal);
        if (fabs(d) > n->cell) break;
        for (int a = 0; a < 3; a++) p[a] -= d * normal[a];
    }
    n->corner[node_of(n, c[0], c[1], c[2])] = (int32_t)out->vertex_count++;
    return true;
}

/* The four cells around an edge that the surface crosses. */
static bool place_face(net *n, const int32_t at[3], int a)
{
    const int b = (a + 1) % 3, c = (a + 2) % 3;
    if (at[a] + 1 >= n->count[a] || at[b] == 0 || at[c] == 0) return true;
    int32_t next[3] = {at[0], at[1], at[2]};
    next[a]++;
    const bool inside = n->distance[node_of(n, at[0], at[1], at[2])] < 0;
    if (inside == (n->distance[node_of(n, next[0], next[1], next[2])] < 0)) return true;
    firn_polygons *out = n->out;
    if (!grow((void **)&out->corner, out->face_count, &n->face_room, 4 * sizeof *out->corner)) {
        return false;
    }
    int32_t *to = &out->corner[4 * out->face_count++];
    static const int32_t around[4][2] = {{-1, -1}, {0, -1}, {0, 0}, {-1, 0}};
    for (int k = 0; k < 4; k++) { /* counterclockwise as seen from outside */
        const int32_t *shift = around[inside ? k : 3 - k];
        int32_t cell[3] = {at[0], at[1], at[2]};
        cell[b] += shift[0];
        cell[c] += shift[1];
        to[k] = n->corner[node_of(n, cell[0], cell[1], cell[2])];
    }
    return true;
}

static bool connect(net *n)
{
    bool fine = true;
    int32_t c[3];
    for (c[2] = 0; c[2] < n->count[2] && fine; c[2]++) {
        for (c[1] = 0; c[1] < n->count[1] && fine; c[1]++) {
            for (c[0] = 0; c[0] < n->count[0] && fine; c[0]++) {
                const bool last =
                    c[0] + 1 == n->count[0] || c[1] + 1 == n->count[1] || c[2] + 1 == n->count[2];
                if (!last) fine = place_corner(n, c);
            }
        }
    }
    for (c[2] = 0; c[2] < n->count[2] && fine; c[2]++) {
        for (c[1] = 0; c[1] < n->count[1] && fine; c[1]++) {
            for (c[0] = 0; c[0] < n->count[0] && fine; c[0]++) {
                for (int a = 0; a < 3 && fine; a++) fine = place_face(n, c, a);
            }
        }
    }
    return fine;
}

firn_status firn_live_net(const firn_collider_def *def, int32_t cells, firn_polygons *out,
                          firn_error *error)
{
    net n = {.def = def, .out = out};
    double high[3], longest = 0;
    *out = (firn_polygons){0};
    if (!firn_shape_bounds(def, 3, n.low, high)) return FIRN_OK;
    for (int a = 0; a < 3; a++) longest = fmax(longest, high[a] - n.low[a]);
    if (!(longest > 0)) return FIRN_OK;
    n.cell = longest / cells;
    size_t nodes = 1;
    for (int a = 0; a < 3; a++) { /* off the faces of boxes, which would lie on nodes */
        n.count[a] = (int32_t)ceil((high[a] - n.low[a]) / n.cell) + 4;
        n.low[a] -= 1.37 * n.cell;
        nodes *= (size_t)n.count[a];
    }
    n.distance = malloc(nodes * sizeof *n.distance);
    n.corner = malloc(nodes * sizeof *n.corner);
    bool fine = n.distance && n.corner;
    if (fine) measure(&n);
    if (fine) fine = connect(&n);
    out->face = fine ? malloc(((size_t)out->face_count + 1) * sizeof *out->face) : NULL;
    fine = fine && out->face;
    for (int64_t f = 0; fine && f < out->face_count; f++) out->face[f] = 4;
    out->corner_count = 4 * out->face_count;
    free(n.distance);
    free(n.corner);
    if (fine) return FIRN_OK;
    firn_polygons_free(out);
    return firn_fail(error, FIRN_NO_MEMORY, "out of memory for the mesh of a shape");
}
