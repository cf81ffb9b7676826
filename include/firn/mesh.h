/* Triangle meshes: closed solids, and sheets with a thickness. They collide, can be filled, and hold
 * sinks and heat sources, as the shape `mesh` of <firn/collider.h>.
 *
 * A point is inside a solid where the winding number is not zero. Overlapping shells add up to one body;
 * a shell inside another makes a cavity if its faces are turned the other way round, as modelling
 * packages write it, and is merged with it otherwise. Faces of one shell that disagree are turned to agree
 * with the majority; a shell that is inside out as a whole is turned too, unless it is a cavity.
 *
 * Vertices at exactly the same position are one vertex: files split vertices at seams. */
#ifndef FIRN_MESH_H
#define FIRN_MESH_H

#include <stdbool.h>

#include <firn/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Polygons as files have them; owned by the caller, freed by firn_polygons_free. */
typedef struct firn_polygons {
    int64_t vertex_count;
    double *vertex;   /* vertex_count x 3, m */
    double *velocity; /* vertex_count x 3, m/s; NULL: unknown */
    int64_t face_count, corner_count;
    int32_t *face;   /* how many corners each face has */
    int32_t *corner; /* their vertices, face by face, counter-clockwise seen from outside */
} firn_polygons;
FIRN_API void firn_polygons_free(firn_polygons *polygons);

/* Whether two have the same faces, of as many vertices. */
FIRN_API bool firn_polygons_alike(const firn_polygons *a, const firn_polygons *b);

/* Constant once created, so threads and sims may share it. Its memory is from malloc. */
typedef struct firn_mesh firn_mesh;

/* Make one with firn_mesh_def_default. Nothing of it is read after firn_mesh_create. */
typedef struct firn_mesh_def {
    const double *vertices; /* vertex_count x 3, m */
    int64_t vertex_count;
    const int32_t *corners; /* the vertices of all faces, one face after the other */
    int64_t corner_count;
    const int32_t *face_counts; /* corners of each face; NULL: three, and face_count is not read */
    int64_t face_count;
    /* m; 0: a closed solid. Above 0: a sheet, which may be open: all within half of it from a face. */
    double thickness;
    const char *name;          /* begins messages; NULL is "mesh" */
    const int64_t *face_lines; /* of a file, for messages; NULL: faces are counted */
    int32_t threads;           /* 1 by default; the result does not depend on it */
    firn_task_hook tasks;      /* the host's threads, if it has a hook */
    uint32_t stamp;            /* set by the default function */
} firn_mesh_def;
FIRN_API firn_mesh_def firn_mesh_def_default(void);
/* The default with the vertices and faces of polygons, which stay the caller's. */
FIRN_API firn_mesh_def firn_mesh_def_of_polygons(const firn_polygons *polygons);

/* Cuts faces into triangles, checks and orients them, and indexes them in space. Faces of fewer than
 * three corners are left out. */
FIRN_API FIRN_MUST_CHECK firn_status firn_mesh_create(const firn_mesh_def *def, firn_mesh **mesh,
                                                      firn_error *error);
FIRN_API void firn_mesh_destroy(firn_mesh *mesh); /* NULL is fine */

/* The full cells of a grid as a solid: its surface is that of the cells, two triangles for each of their
 * outer sides. Make one with firn_mask_def_default. */
typedef struct firn_mask_def {
    const uint8_t *full; /* size[0] x size[1] x size[2], the last axis fastest; not 0 is full */
    int32_t size[3];
    double low[3];        /* m, corner of the first cell */
    double edge;          /* m, of a cell */
    const char *name;     /* begins messages; NULL is "mask" */
    int32_t threads;      /* 1 by default */
    firn_task_hook tasks; /* the host's threads, if it has a hook */
    uint32_t stamp;       /* set by the default function */
} firn_mask_def;
FIRN_API firn_mask_def firn_mask_def_default(void);
FIRN_API FIRN_MUST_CHECK firn_status firn_mesh_create_mask(const firn_mask_def *def,
                                                           firn_mesh **mesh, firn_error *error);

typedef struct firn_mesh_info {
    int64_t vertex_count;   /* as given */
    int32_t triangle_count; /* as kept */
    int32_t shell_count;    /* parts that share no edge */
    int32_t turned;         /* triangles that disagreed with the rest of their shell */
    bool closed;            /* every edge has two sides */
    double thickness;       /* m */
    double low[3], high[3]; /* m, around all that is solid */
    /* m3. Where shells overlap or one passes through itself, what would count more than once is taken
     * off by integrating along 256 x 256 lines. Of a sheet: area times thickness. */
    double volume;
} firn_mesh_info;
FIRN_API firn_mesh_info firn_mesh_get_info(const firn_mesh *mesh);

#ifdef __cplusplus
}
#endif
#endif
