/* Meshes inside the engine: what a firn_mesh is, and the questions that are asked of it. */
#ifndef FIRN_MESH_INTERNAL_H
#define FIRN_MESH_INTERNAL_H

#include <stdbool.h>

#include <firn/mesh.h>

#include "base/parallel.h"

typedef struct firn_mesh_box {
    double low[3], high[3];
} firn_mesh_box;

/* A flat cylinder: around triangles that lie side by side it is far tighter than a box, so that the nearest of
 * many small ones is found without asking all of those about as near. */
typedef struct firn_mesh_disc {
    double center[3], normal[3], radius, half; /* half: of its height */
} firn_mesh_disc;

enum { FIRN_MESH_LEVELS = 20, FIRN_MESH_DISC_LEVELS = 3 };

struct firn_mesh {
    int32_t vertex_count, triangle_count;
    double *vertex;    /* count x 3, m */
    int32_t *source;   /* of each vertex, the first at its position as given */
    int32_t *triangle; /* count x 3, neighbours in space near each other */
    int32_t *shell;    /* of each triangle */
    int32_t shell_count;
    int32_t turned; /* triangles whose faces disagreed with the rest of their shell */
    int32_t open;   /* edges with an odd number of sides */
    int64_t given;  /* vertices of the def */
    double thickness, volume;
    double low[3], high[3]; /* of the vertices */
    /* Boxes around each four triangles; around each four of those; and so on to one. */
    firn_mesh_box *box;
    firn_mesh_disc *disc; /* around the same, of the lowest levels */
    int32_t level_count;
    int32_t level_start[FIRN_MESH_LEVELS + 1];
};

/* The most corners a face may have: cutting one into triangles takes up to their number squared. */
enum { FIRN_FACE_CORNERS = 65536 };

/* Cuts a polygon of n corners, concave or not, into n - 2 triangles: writes 3 (n - 2) vertices. Uses
 * 3 n doubles of scratch. (polygon.c) */
void firn_polygon_cut(const double *vertex, const int32_t *corner, int32_t n, double *scratch,
                      int32_t *out);

/* ---- tree.c ---- */

/* Orders triangles in space and builds the boxes. */
firn_status firn_mesh_index(firn_mesh *mesh, firn_error *error);

/* The same mesh with its vertices elsewhere, count x 3. `memory`, aligned for doubles, of that many bytes, holds
 * what is of these vertices: both are the caller's, and the result needs no freeing. */
size_t firn_mesh_bend_size(const firn_mesh *mesh);
firn_mesh firn_mesh_bend(const firn_mesh *mesh, double *vertex, void *memory);

/* A copy with all lengths times a factor; firn_mesh_destroy frees it. */
FIRN_API firn_status firn_mesh_scale(const firn_mesh *mesh, double factor, firn_mesh **out,
                                     firn_error *error);

/* How many times the surface goes round the point; 0 is outside. On the surface, as for a point
 * nearby: always the same one, so that solids side by side share no point. */
FIRN_API int32_t firn_mesh_winding(const firn_mesh *mesh, const double point[3]);

/* The same as if one shell, unless -1, were not there. */
int32_t firn_mesh_winding_without(const firn_mesh *mesh, const double point[3], int32_t shell);

/* Integral over space of (winding number - 1 inside, 0 outside), m^3. */
firn_status firn_mesh_excess(const firn_mesh *mesh, const firn_workers *workers, double *out,
                             firn_error *error);

/* A point of the surface. */
typedef struct firn_mesh_hit {
    int32_t triangle; /* -1: none within the limit */
    double weight[3]; /* of its corners: they add up to 1 */
    double square;    /* of the distance, m2 */
} firn_mesh_hit;

/* The point nearest to another within `limit` metres, or one that is further by no more than the part
 * `slack` of the way. `guess`, unless -1, is a triangle that may be near: a good one saves most of the search
 * and changes at most which of equally near points is found. */
FIRN_API firn_mesh_hit firn_mesh_nearest(const firn_mesh *mesh, const double point[3], double limit,
                                         int32_t guess, double slack);

/* Whether a point is in the solid, or in the sheet. */
FIRN_API bool firn_mesh_inside(const firn_mesh *mesh, const double point[3]);

/* Distance to the surface of the solid or sheet, m, cut off at +-limit (INFINITY: not at all);
 * negative inside. */
FIRN_API double firn_mesh_distance(const firn_mesh *mesh, const double point[3], double limit);

/* The same without a limit, and the outward unit normal. */
FIRN_API double firn_mesh_normal(const firn_mesh *mesh, const double point[3], double normal[3]);

/* Where a ray first meets the surface, not counting a sheet's thickness: how many `direction`s from
 * `origin`, below `most`. Returns the triangle, or -1. */
FIRN_API int32_t firn_mesh_ray(const firn_mesh *mesh, const double origin[3],
                               const double direction[3], double most, double *at);

#endif
