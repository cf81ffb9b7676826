/* Closed triangle meshes: read, checked, asked whether a point is inside.
 *
 * Rule of the inside test: a point is inside where the winding number is not zero. Overlapping shells
 * add up to one body; a shell inside another makes a cavity when its faces are turned the other way
 * round, as modelling packages write it, and is merged with it otherwise. Faces of one shell that
 * disagree are turned to agree with the majority; a shell that is inside out as a whole is turned
 * too, unless it is a cavity.
 *
 * Vertices at exactly the same position are one vertex, in every format: STL has no other kind, and
 * the others split vertices at seams. */
#ifndef FIRN_SCENE_MESH_H
#define FIRN_SCENE_MESH_H

#include <firn/base.h>

#include "io/io.h"

typedef struct firn_mesh_box {
    double low[3], high[3];
} firn_mesh_box;

enum { FIRN_MESH_LEVELS = 20 };

/* Owned; freed by firn_mesh_free. Constant once made, so threads may share it. */
typedef struct firn_mesh {
    int32_t vertex_count, triangle_count;
    double *vertex;    /* count x 3, m */
    int32_t *triangle; /* count x 3, neighbours in space near each other */
    int32_t *shell;    /* of each triangle */
    int32_t shell_count;
    int32_t turned; /* triangles whose faces disagreed with the rest of their shell */
    /* Volume inside, m^3: by the divergence theorem, exact. Where shells overlap or one passes through
     * itself, what that counts more than once is taken off by integrating along 256 x 256 lines. */
    double volume;
    double low[3], high[3];
    /* Boxes around each four triangles; around each four of those; and so on to one. */
    firn_mesh_box *box;
    int32_t level_count;
    int32_t level_start[FIRN_MESH_LEVELS + 1];
} firn_mesh;

typedef enum firn_mesh_format { FIRN_MESH_OBJ, FIRN_MESH_PLY, FIRN_MESH_STL } firn_mesh_format;

/* The format that the end of a name tells. */
firn_status firn_mesh_format_of(const char *name, firn_mesh_format *format, firn_error *error);

/* Reads, checks and prepares. The format follows from the name's end. Errors name the file. */
firn_status firn_mesh_read(const char *path, int32_t threads, firn_mesh *out, firn_error *error);

/* The same from memory; `name` is for messages. */
firn_status firn_mesh_parse(firn_mesh_format format, const char *name, const firn_bytes *in,
                            int32_t threads, firn_mesh *out, firn_error *error);

void firn_mesh_free(firn_mesh *mesh);

/* How many times the surface goes round the point; 0 is outside. On the surface, as for a point
 * nearby: always the same one, so that solids side by side share no point. */
int32_t firn_mesh_winding(const firn_mesh *mesh, const double point[3]);

/* Distance to the surface, m, at most `limit`; negative inside. */
double firn_mesh_distance(const firn_mesh *mesh, const double point[3], double limit);

#endif
