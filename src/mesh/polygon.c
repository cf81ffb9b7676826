/* Polygons as files have them, and cutting them into triangles: ears, one after the other. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mesh/mesh.h"

/* A polygon laid flat, counter-clockwise, as a ring of corners that shrinks. */
typedef struct flat {
    const double *x, *y;
    int32_t *next, *before;
    int32_t n;
} flat;

static double turning(const flat *f, int32_t a, int32_t b, int32_t c)
{
    return (f->x[b] - f->x[a]) * (f->y[c] - f->y[a]) - (f->y[b] - f->y[a]) * (f->x[c] - f->x[a]);
}

static bool same_place(const flat *f, int32_t a, int32_t b)
{
    return f->x[a] == f->x[b] && f->y[a] == f->y[b];
}

/* Whether the triangle of a corner and its neighbours lies within the polygon: the corner is convex
 * and no other corner is in the triangle. Only corners that are not convex need a look. A hole joined
 * to the rim by a bridge puts corners on top of each other: those do not count. */
static bool is_ear(const flat *f, int32_t i)
{
    const int32_t a = f->before[i], c = f->next[i];
    if (!(turning(f, a, i, c) > 0)) return false;
    for (int32_t j = f->next[c]; j != a; j = f->next[j]) {
        if (turning(f, f->before[j], j, f->next[j]) > 0) continue;
        if (same_place(f, j, a) || same_place(f, j, i) || same_place(f, j, c)) continue;
        if (turning(f, a, i, j) >= 0 && turning(f, i, c, j) >= 0 && turning(f, c, a, j) >= 0) {
            return false;
        }
    }
    return true;
}

/* Newell's normal: its largest component is the axis to look along. */
static void lay_flat(const double *vertex, const int32_t *corner, int32_t n, double *x, double *y)
{
    double normal[3] = {0};
    for (int32_t i = 0; i < n; i++) {
        const double *p = vertex + 3 * (ptrdiff_t)corner[i];
        const double *q = vertex + 3 * (ptrdiff_t)corner[(i + 1) % n];
        for (int a = 0; a < 3; a++) {
            const int b = (a + 1) % 3, c = (a + 2) % 3;
            normal[a] += (p[b] - q[b]) * (p[c] + q[c]);
        }
    }
    int axis = 0;
    for (int a = 1; a < 3; a++) {
        if (fabs(normal[a]) > fabs(normal[axis])) axis = a;
    }
    int right = (axis + 1) % 3, up = (axis + 2) % 3;
    if (normal[axis] < 0) {
        const int other = right;
        right = up;
        up = other;
    }
    for (int32_t i = 0; i < n; i++) {
        x[i] = vertex[3 * (ptrdiff_t)corner[i] + right];
        y[i] = vertex[3 * (ptrdiff_t)corner[i] + up];
    }
}

void firn_polygon_cut(const double *vertex, const int32_t *corner, int32_t n, double *scratch,
                      int32_t *out)
{
    if (n == 3) {
        for (int a = 0; a < 3; a++) out[a] = corner[a];
        return;
    }
    double *x = scratch, *y = x + n;
    int32_t *next = (int32_t *)(void *)(y + n), *before = next + n;
    const flat f = {.x = x, .y = y, .next = next, .before = before, .n = n};
    lay_flat(vertex, corner, n, x, y);
    for (int32_t i = 0; i < n; i++) {
        next[i] = (i + 1) % n;
        before[i] = (i + n - 1) % n;
    }
    int32_t left = n, tried = 0, i = 0;
    while (left > 3) {
        /* Every polygon without crossings has an ear (Meisters 1975). One with crossings, or of corners
         * on one line, may run out of them: its rest is cut as a fan, which is closed all the same. */
        if (tried < left && !is_ear(&f, i)) {
            i = next[i];
            tried++;
            continue;
        }
        const int32_t a = before[i], c = next[i];
        *out++ = corner[a];
        *out++ = corner[i];
        *out++ = corner[c];
        next[a] = c;
        before[c] = a;
        left--;
        if (tried < left + 1) {
            tried = 0;
            i = next[c]; /* leaving one out in between makes better triangles */
        } else {
            tried = n; /* out of ears: no more looking */
            i = c;
        }
    }
    *out++ = corner[before[i]];
    *out++ = corner[i];
    *out = corner[next[i]];
}

firn_mesh_def firn_mesh_def_of_polygons(const firn_polygons *polygons)
{
    firn_mesh_def def = firn_mesh_def_default();
    def.vertices = polygons->vertex;
    def.vertex_count = polygons->vertex_count;
    def.corners = polygons->corner;
    def.corner_count = polygons->corner_count;
    def.face_counts = polygons->face;
    def.face_count = polygons->face_count;
    return def;
}

void firn_polygons_free(firn_polygons *polygons)
{
    free(polygons->vertex);
    free(polygons->velocity);
    free(polygons->face);
    free(polygons->corner);
    *polygons = (firn_polygons){0};
}

bool firn_polygons_alike(const firn_polygons *a, const firn_polygons *b)
{
    return a->vertex_count == b->vertex_count && a->face_count == b->face_count &&
           a->corner_count == b->corner_count &&
           (a->face_count == 0 ||
            memcmp(a->face, b->face, (size_t)a->face_count * sizeof *a->face) == 0) &&
           (a->corner_count == 0 ||
            memcmp(a->corner, b->corner, (size_t)a->corner_count * sizeof *a->corner) == 0);
}
