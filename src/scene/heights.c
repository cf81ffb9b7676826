/* Heightfields: a grid of heights from an expression or a picture becomes a closed mesh, or in 2D a polygon. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "io/png.h"
#include "scene/expression.h"
#include "scene/read.h"

enum { CELLS = 64, MOST_CELLS = 1024 };

/* Heights at the corners of cells, x first, from the lowest corner on. */
typedef struct grid {
    int32_t nx, nz; /* cells; in 2D nz is 0 */
    double *height; /* m */
    double size[3]; /* m */
} grid;

static double *height_at(const grid *g, int32_t i, int32_t j)
{
    return &g->height[(ptrdiff_t)j * (g->nx + 1) + i];
}

static double place_of(const grid *g, int axis, int32_t i)
{
    const int32_t cells = axis == 0 ? g->nx : g->nz;
    return cells ? g->size[axis] * ((double)i / cells - 0.5) : 0;
}

/* As many cells as asked for along the longer side, about as long as wide. */
static firn_status make_grid(grid *g, int64_t cells, int dimension, firn_error *error)
{
    const double longer = dimension == 3 ? fmax(g->size[0], g->size[2]) : g->size[0];
    g->nx = (int32_t)fmax(1, round((double)cells * g->size[0] / longer));
    g->nz = dimension == 3 ? (int32_t)fmax(1, round((double)cells * g->size[2] / longer)) : 0;
    g->height = calloc((size_t)(g->nx + 1) * (size_t)(g->nz + 1), sizeof *g->height);
    return g->height ? FIRN_OK : firn_fail(error, FIRN_NO_MEMORY, "out of memory");
}

/* ---- where heights come from ---- */

/* The expression's variables are its own $x and $z, then those of the scene. */
static firn_status from_expression(const firn_value *height, const grid *g, firn_error *error)
{
    char x_name[] = "x", z_name[] = "z", x_text[40], z_text[40];
    firn_value z = {.kind = FIRN_SCALAR, .key = z_name, .text = z_text};
    firn_value x = {.kind = FIRN_SCALAR, .key = x_name, .text = x_text, .next = &z};
    const firn_value map = {.kind = FIRN_MAP, .child = &x};
    firn_value v = *height;
    firn_context own = v.context ? *v.context : (firn_context){0};
    z.next = own.variables ? own.variables->child : NULL;
    own.variables = &map;
    own.can_vary = false;
    v.context = &own;
    for (int32_t j = 0; j <= g->nz; j++) {
        for (int32_t i = 0; i <= g->nx; i++) {
            snprintf(x_text, sizeof x_text, "%.17g", place_of(g, 0, i));
            snprintf(z_text, sizeof z_text, "%.17g", place_of(g, 2, j));
            const firn_status st = firn_read_real(&v, "height", "m", height_at(g, i, j), error);
            if (st != FIRN_OK) return st;
        }
    }
    return FIRN_OK;
}

/* A picture seen from above: its right is +x, its lower edge +z. Between pixels' middles it is linear. */
static double brightness(const firn_png *p, double x, double y)
{
    double sum = 0;
    x = fmin(fmax(x * p->width - 0.5, 0), p->width - 1);
    y = fmin(fmax(y * p->height - 0.5, 0), p->height - 1);
    const int32_t i = (int32_t)x, j = (int32_t)y;
    for (int k = 0; k < 4; k++) {
        const int32_t a = i + (k & 1) < p->width ? i + (k & 1) : i;
        const int32_t b = j + (k >> 1) < p->height ? j + (k >> 1) : j;
        const double u = x - i, v = y - j;
        sum += (k & 1 ? u : 1 - u) * (k >> 1 ? v : 1 - v) * firn_png_grey(p, a, b);
    }
    return sum;
}

static void from_picture(const firn_png *p, const grid *g)
{
    for (int32_t j = 0; j <= g->nz; j++) {
        for (int32_t i = 0; i <= g->nx; i++) {
            *height_at(g, i, j) = g->size[1] * brightness(p, (double)i / g->nx, (double)j / g->nz);
        }
    }
}

/* How far below height 0 the base is, and how thick it leaves the solid where it is thinnest. */
static firn_status find_base(const firn_scene *scene, const grid *g, firn_scene_shape *s,
                             double *base, firn_error *error)
{
    const bool given = firn_value_get(s->where, "base") != NULL;
    double lowest = INFINITY;
    for (int64_t i = 0; i < (int64_t)(g->nx + 1) * (g->nz + 1); i++) {
        lowest = fmin(lowest, g->height[i]);
    }
    *base = given ? s->heights.base
                  : fmax(0.1 * fmax(g->size[0], g->nz ? g->size[2] : 0),
                         4 * firn_find_cell_size(scene)) -
                        lowest;
    s->heights.thinnest = lowest + *base;
    if (s->heights.thinnest > 0) return FIRN_OK;
    return firn_value_fail(s->where, error,
                           "its height falls to %g m, below its base at %g m; give a larger base",
                           lowest, -*base);
}

/* ---- what becomes of them ---- */

/* The surface, then the same number of corners below it; both kept in one list of vertices. */
static firn_status make_mesh(const grid *g, double base, firn_mesh **out, firn_error *error)
{
    const int32_t wide = g->nx + 1, deep = g->nz + 1, rim = 2 * (g->nx + g->nz);
    const int64_t points = (int64_t)wide * deep;
    const int64_t triangles = 2 * (int64_t)g->nx * g->nz;
    /* Below there is one face around the rim; sides go from corner to corner of it. */
    const int64_t faces = triangles + rim + 1, corners = 3 * triangles + 4 * (int64_t)rim + rim;
    double *vertex = calloc(3 * (size_t)(points + rim), sizeof *vertex);
    int32_t *corner = malloc((size_t)corners * sizeof *corner);
    int32_t *face = malloc((size_t)faces * sizeof *face);
    firn_status st =
        vertex && corner && face ? FIRN_OK : firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    int64_t c = 0, f = 0;
    for (int32_t j = 0; j < deep && st == FIRN_OK; j++) {
        for (int32_t i = 0; i < wide; i++) {
            const int32_t at = j * wide + i;
            vertex[3 * at] = place_of(g, 0, i);
            vertex[3 * at + 1] = *height_at(g, i, j);
            vertex[3 * at + 2] = place_of(g, 2, j);
            if (i == g->nx || j == g->nz) continue;
            const int32_t cell[6] = {at, at + wide, at + 1, at + 1, at + wide, at + wide + 1};
            memcpy(corner + c, cell, sizeof cell);
            c += 6;
            face[f++] = 3;
            face[f++] = 3;
        }
    }
    /* Around the rim as seen from above, against the clock: +z is towards the viewer. */
    for (int32_t k = 0; k < rim && st == FIRN_OK; k++) {
        int32_t at[2];
        for (int e = 0; e < 2; e++) {
            int32_t s = (k + e) % rim;
            if (s < g->nx)
                at[e] = g->nz * wide + s;
            else if ((s -= g->nx) < g->nz)
                at[e] = (g->nz - s) * wide + g->nx;
            else if ((s -= g->nz) < g->nx)
                at[e] = g->nx - s;
            else
                at[e] = (s - g->nx) * wide;
        }
        double *below = vertex + 3 * (points + k);
        memcpy(below, vertex + 3 * (ptrdiff_t)at[0], 3 * sizeof *below);
        below[1] = -base;
        const int32_t side[4] = {at[0], (int32_t)points + k, (int32_t)points + (k + 1) % rim,
                                 at[1]};
        memcpy(corner + c, side, sizeof side);
        c += 4;
        face[f++] = 4;
    }
    for (int32_t k = 0; k < rim && st == FIRN_OK; k++) {
        corner[c++] = (int32_t)points + rim - 1 - k;
    }
    if (st == FIRN_OK) {
        face[f] = rim;
        firn_mesh_def def = firn_mesh_def_default();
        def.vertices = vertex;
        def.vertex_count = points + rim;
        def.corners = corner;
        def.corner_count = corners;
        def.face_counts = face;
        def.face_count = faces;
        def.name = "heightfield";
        st = firn_mesh_create(&def, out, error);
    }
    free(vertex);
    free(corner);
    free(face);
    return st;
}

static firn_status make_polygon(const grid *g, double base, firn_scene_shape *s, firn_error *error)
{
    double *point = malloc(2 * (size_t)(g->nx + 3) * sizeof *point);
    if (!point) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    s->def.shape = FIRN_POLYGON;
    s->def.points = point;
    s->def.point_count = g->nx + 3;
    for (int32_t i = 0; i <= g->nx; i++) {
        *point++ = place_of(g, 0, g->nx - i);
        *point++ = *height_at(g, g->nx - i, 0);
    }
    const double below[4] = {-0.5 * g->size[0], -base, 0.5 * g->size[0], -base};
    memcpy(point, below, sizeof below);
    return FIRN_OK;
}

static firn_status check_given(const firn_scene *scene, const firn_scene_shape *s,
                               firn_error *error)
{
    const firn_scene_heights *h = &s->heights;
    if ((h->height != NULL) == (h->file != NULL)) {
        return firn_value_fail(s->where, error,
                               "a heightfield takes either a height, as 0.05 * sin(6 * $x), or a "
                               "file");
    }
    if (h->height && h->height->kind != FIRN_SCALAR) {
        return firn_value_fail(h->height, error,
                               "height must be an expression, as 0.05 * sin(6 * $x)");
    }
    if (h->file && scene->dimension == 2) {
        return firn_value_fail(firn_value_get(s->where, "file"), error,
                               "a picture is for scenes in 3D; in 2D give a height, as 0.05 * "
                               "sin(6 * $x)");
    }
    return FIRN_OK;
}

firn_status firn_read_heights(const firn_scene *scene, firn_scene_shape *s, firn_error *error)
{
    const firn_scene_heights *h = &s->heights;
    const int dim = (int)scene->dimension;
    firn_png picture = {0};
    grid g = {.size = {h->size[0], h->size[1], h->size[2]}};
    firn_status st = check_given(scene, s, error);
    if (st != FIRN_OK) return st;
    const firn_built *there = firn_find_built(scene, s->where);
    if (there) {
        s->def.mesh = there->mesh;
        s->heights.thinnest = there->thinnest;
        return FIRN_OK;
    }
    int64_t cells = h->cells > 0 ? h->cells : CELLS;
    firn_error inner = {0};
    if (h->file) {
        char *path = firn_beside(s->where->file, h->file);
        if (!path) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
        st = firn_png_read(path, &picture, &inner);
        free(path);
        if (st != FIRN_OK) return firn_value_pass(firn_value_get(s->where, "file"), &inner, error);
        const int32_t longer = picture.width > picture.height ? picture.width : picture.height;
        if (h->cells == 0) cells = longer < MOST_CELLS ? longer : MOST_CELLS;
    }
    st = make_grid(&g, cells, dim, error);
    if (st == FIRN_OK && h->file) from_picture(&picture, &g);
    if (st == FIRN_OK && h->height) st = from_expression(h->height, &g, error);
    double base = 0;
    if (st == FIRN_OK) st = find_base(scene, &g, s, &base, error);
    if (st == FIRN_OK && dim == 3) {
        firn_built b = {.where = s->where, .thinnest = h->thinnest};
        st = make_mesh(&g, base, &b.mesh, &inner);
        st = st == FIRN_OK ? firn_keep_built(scene, b, error)
                           : firn_value_pass(s->where, &inner, error);
        if (st == FIRN_OK) s->def.mesh = b.mesh;
    } else if (st == FIRN_OK) {
        st = make_polygon(&g, base, s, error);
    }
    free(g.height);
    firn_png_free(&picture);
    return st;
}
