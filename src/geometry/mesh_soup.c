/* Polygons as files have them, and how they are cut into triangles. */
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "geometry/mesh_parts.h"

/* Room for one more element of `size` bytes in *data. */
static bool make_room(void **data, int64_t count, int64_t *room, size_t size)
{
    if (count < *room) return true;
    const int64_t more = *room ? 2 * *room : 1024;
    void *grown = realloc(*data, (size_t)more * size);
    if (!grown) return false;
    *data = grown;
    *room = more;
    return true;
}

static firn_status no_memory(const firn_soup *soup, firn_error *error)
{
    return firn_fail(error, FIRN_NO_MEMORY, "%s: out of memory after %lld faces", soup->name,
                     (long long)soup->face_count);
}

firn_status firn_soup_vertex(firn_soup *soup, const double position[3], firn_error *error)
{
    if (soup->vertex_count == INT32_MAX) {
        return firn_fail(error, FIRN_INVALID,
                         "%s: more than %d vertices; reduce the mesh in a modelling package",
                         soup->name, INT32_MAX);
    }
    if (!make_room((void **)&soup->vertex, soup->vertex_count, &soup->vertex_room,
                   3 * sizeof *soup->vertex)) {
        return no_memory(soup, error);
    }
    for (int a = 0; a < 3; a++) soup->vertex[3 * soup->vertex_count + a] = position[a];
    soup->vertex_count++;
    return FIRN_OK;
}

static int64_t face_begin(const firn_soup *soup)
{
    return soup->face_count ? soup->face_end[soup->face_count - 1] : 0;
}

firn_status firn_soup_corner(firn_soup *soup, int64_t vertex, firn_error *error)
{
    if (soup->corner_count - face_begin(soup) == FIRN_FACE_CORNERS) {
        return firn_fail(error, FIRN_INVALID,
                         "%s: face %lld has more than %d corners; cut it into smaller ones",
                         soup->name, (long long)soup->face_count + 1, FIRN_FACE_CORNERS);
    }
    if (!make_room((void **)&soup->corner, soup->corner_count, &soup->corner_room,
                   sizeof *soup->corner)) {
        return no_memory(soup, error);
    }
    /* Whether there is such a vertex is known only at the end; what no int32 holds never is one. */
    soup->corner[soup->corner_count++] =
        vertex < 0 || vertex >= INT32_MAX ? INT32_MAX : (int32_t)vertex;
    return FIRN_OK;
}

firn_status firn_soup_face(firn_soup *soup, int64_t at, firn_error *error)
{
    const int64_t begin = face_begin(soup);
    if (soup->corner_count - begin < 3) {
        soup->corner_count = begin;
        return FIRN_OK;
    }
    int64_t room = soup->face_room;
    if (!make_room((void **)&soup->face_end, soup->face_count, &room, sizeof *soup->face_end) ||
        !make_room((void **)&soup->face_at, soup->face_count, &soup->face_room,
                   sizeof *soup->face_at)) {
        return no_memory(soup, error);
    }
    soup->face_end[soup->face_count] = soup->corner_count;
    soup->face_at[soup->face_count] = at;
    soup->face_count++;
    return FIRN_OK;
}

void firn_soup_free(firn_soup *soup)
{
    free(soup->vertex);
    free(soup->corner);
    free(soup->face_end);
    free(soup->face_at);
    *soup = (firn_soup){0};
}

/* ---- cutting ---- */

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
