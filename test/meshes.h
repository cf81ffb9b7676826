/* Meshes for tests. */
#ifndef FIRN_TEST_MESHES_H
#define FIRN_TEST_MESHES_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <firn/mesh.h>

/* Vertices and triangles, to be changed and made meshes of. */
typedef struct facets {
    int32_t vertices, triangles;
    double *vertex;  /* x 3 */
    int32_t *corner; /* x 3 */
} facets;

static inline facets facets_new(int32_t vertices, int32_t triangles)
{
    facets s = {vertices, triangles, malloc((size_t)vertices * 3 * sizeof(double)),
                malloc((size_t)triangles * 3 * sizeof(int32_t))};
    if (!s.vertex || !s.corner) abort();
    return s;
}

static inline void facets_free(facets *s)
{
    free(s->vertex);
    free(s->corner);
}

static inline firn_mesh *facets_mesh(const facets *s, double thickness)
{
    firn_mesh_def def = firn_mesh_def_default();
    def.vertices = s->vertex;
    def.vertex_count = s->vertices;
    def.corners = s->corner;
    def.corner_count = (int64_t)3 * s->triangles;
    def.thickness = thickness;
    def.threads = 2;
    firn_mesh *mesh = NULL;
    firn_error error = {0};
    if (firn_mesh_create(&def, &mesh, &error) != FIRN_OK) {
        fprintf(stderr, "%s\n", error.message);
        abort();
    }
    return mesh;
}

/* A grid of rows x columns vertices, two triangles per cell; where `round`, the last column joins the
 * first, and where `ring` the last row the first. Places are the caller's. */
static inline facets facets_grid(int32_t rows, int32_t columns, int round, int ring)
{
    const int32_t down = rows - !ring, across = columns - !round;
    facets s = facets_new(rows * columns, 2 * down * across);
    int32_t *c = s.corner;
    for (int32_t i = 0; i < down; i++) {
        for (int32_t j = 0; j < across; j++) {
            const int32_t below = (i + 1) % rows, right = (j + 1) % columns;
            const int32_t a = i * columns + j, b = i * columns + right, d = below * columns + j,
                          e = below * columns + right;
            const int32_t both[6] = {a, b, e, a, e, d};
            memcpy(c, both, sizeof both);
            c += 6;
        }
    }
    return s;
}

/* n rows from pole to pole; at the poles vertices are at one place, and triangles there are lines. */
static inline facets sphere_surface(double radius, int n)
{
    const double turn_half = acos(-1);
    facets s = facets_grid(n + 1, 2 * n, 1, 0);
    for (int i = 0; i <= n; i++) {
        for (int j = 0; j < 2 * n; j++) {
            const double up = i == 0 ? 1 : i == n ? -1 : cos(turn_half * i / n);
            const double out = i == 0 || i == n ? 0 : sin(turn_half * i / n);
            double *p = s.vertex + 3 * (i * 2 * n + j);
            p[0] = radius * out * cos(turn_half * j / n);
            p[1] = radius * up;
            p[2] = radius * out * sin(turn_half * j / n);
        }
    }
    return s;
}

static inline facets torus_surface(double ring, double tube, int n)
{
    const double turn_half = acos(-1);
    facets s = facets_grid(2 * n, n, 1, 1);
    for (int i = 0; i < 2 * n; i++) {
        for (int j = 0; j < n; j++) {
            const double out = ring + tube * cos(2 * turn_half * j / n);
            double *p = s.vertex + 3 * (i * n + j);
            p[0] = out * cos(turn_half * i / n);
            p[1] = tube * sin(2 * turn_half * j / n);
            p[2] = out * sin(turn_half * i / n);
        }
    }
    return s;
}

static inline facets box_surface(double x, double y, double z)
{
    static const int32_t corner[12][3] = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6},
                                          {0, 1, 5}, {0, 5, 4}, {2, 6, 7}, {2, 7, 3},
                                          {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
    facets s = facets_new(8, 12);
    memcpy(s.corner, corner, sizeof corner);
    for (int v = 0; v < 8; v++) {
        s.vertex[3 * v] = v & 1 ? x : -x;
        s.vertex[3 * v + 1] = v & 2 ? y : -y;
        s.vertex[3 * v + 2] = v & 4 ? z : -z;
    }
    return s;
}

/* A flat sheet across y, n cells per axis. */
static inline facets sheet_surface(double half, int n)
{
    facets s = facets_grid(n + 1, n + 1, 0, 0);
    for (int i = 0; i <= n; i++) {
        for (int j = 0; j <= n; j++) {
            double *p = s.vertex + 3 * (i * (n + 1) + j);
            p[0] = half * (2.0 * i / n - 1);
            p[1] = 0;
            p[2] = half * (2.0 * j / n - 1);
        }
    }
    return s;
}

/* An octahedron of that radius. Made once for each radius asked for, and kept. */
static inline const firn_mesh *octahedron(double radius)
{
    static const int32_t corner[24] = {0, 2, 4, 2, 1, 4, 1, 3, 4, 3, 0, 4,
                                       2, 0, 5, 1, 2, 5, 3, 1, 5, 0, 3, 5};
    static struct {
        double radius;
        firn_mesh *mesh;
    } kept[4];
    int i = 0;
    while (kept[i].mesh && kept[i].radius != radius) i++;
    if (!kept[i].mesh) {
        facets s = facets_new(6, 8);
        memset(s.vertex, 0, 18 * sizeof *s.vertex);
        for (int v = 0; v < 6; v++) s.vertex[3 * v + v / 2] = v % 2 ? -radius : radius;
        memcpy(s.corner, corner, sizeof corner);
        kept[i].radius = radius;
        kept[i].mesh = facets_mesh(&s, 0);
        facets_free(&s);
    }
    return kept[i].mesh;
}

#endif
