/* Alembic files in the Ogawa container: animated meshes and points in, points and meshes out.
 *
 * Lengths are taken for metres, axes and times (s) are the file's own: Y is up by convention, and frame f
 * is at f / fps. Faces come and go counter-clockwise seen from outside, as everywhere in Firn; the file
 * has them clockwise. Files are read in parts, never whole. Part of the library firn_scene. */
#ifndef FIRN_ALEMBIC_H
#define FIRN_ALEMBIC_H

#include <firn/mesh.h>
#include <firn/points.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- reading ---- */

/* An open file. Constant once opened, so threads may share it. */
typedef struct firn_alembic firn_alembic;

/* What is read; a file beyond these is refused. */
enum {
    FIRN_ALEMBIC_DEPTH = 128,       /* objects within objects, and properties within properties */
    FIRN_ALEMBIC_OBJECTS = 1 << 20, /* instances counted with all they stand for */
    FIRN_ALEMBIC_PROPERTIES = 1 << 22, /* of all objects */
    FIRN_ALEMBIC_SAMPLES = 1 << 24,    /* of a property */
    FIRN_ALEMBIC_PATH = 4096           /* bytes of an object's path */
};

/* Opens a file and reads its objects and the headers of their properties; samples stay on disk. On failure
 * *alembic is NULL. A file that its writer did not finish is refused. */
FIRN_API FIRN_MUST_CHECK firn_status firn_alembic_open(const char *path, firn_alembic **alembic,
                                                       firn_error *error);
FIRN_API void firn_alembic_close(firn_alembic *alembic); /* NULL is fine */

/* Strings live as long as the file is open. */
typedef struct firn_alembic_file {
    int32_t object_count;
    int32_t version;         /* of the library that wrote it: 10812 for 1.8.12 */
    const char *application; /* that wrote it, or "" */
    double fps;              /* 1/s, as the file says or as most samples are spaced; 0: unknown */
    double first_time, last_time; /* s, of all animated properties; 0 and 0: nothing moves */
} firn_alembic_file;
FIRN_API firn_alembic_file firn_alembic_get_file(const firn_alembic *alembic);

/* Kinds of objects: X(NAME, name, begin of the schema's name). An object without a schema is a group; an
 * instance is one whose source is missing, others are what they stand for. */
#define FIRN_ALEMBIC_KINDS(X)                                                                      \
    X(ALEMBIC_GROUP, group, NULL)                                                                  \
    X(ALEMBIC_XFORM, xform, "AbcGeom_Xform_")                                                      \
    X(ALEMBIC_MESH, mesh, "AbcGeom_PolyMesh_")                                                     \
    X(ALEMBIC_SUBD, subd, "AbcGeom_SubD_")                                                         \
    X(ALEMBIC_POINTS, points, "AbcGeom_Points_")                                                   \
    X(ALEMBIC_CURVES, curves, "AbcGeom_Curve_")                                                    \
    X(ALEMBIC_PATCH, patch, "AbcGeom_NuPatch_")                                                    \
    X(ALEMBIC_CAMERA, camera, "AbcGeom_Camera_")                                                   \
    X(ALEMBIC_LIGHT, light, "AbcGeom_Light_")                                                      \
    X(ALEMBIC_FACESET, faceset, "AbcGeom_FaceSet_")                                                \
    X(ALEMBIC_INSTANCE, instance, NULL)                                                            \
    X(ALEMBIC_OTHER, other, NULL)

typedef enum firn_alembic_kind {
    FIRN_ALEMBIC_KINDS(FIRN_LIST_ENUM) FIRN_ALEMBIC_KIND_COUNT
} firn_alembic_kind;
FIRN_API const char *firn_alembic_kind_name(firn_alembic_kind kind); /* "mesh"; NULL past the end */

/* Strings live as long as the file is open. */
typedef struct firn_alembic_object {
    const char *path, *name; /* "/top/ball/ballShape", "ballShape" */
    firn_alembic_kind kind;
    int32_t parent;               /* by number, below its own; -1: none */
    int32_t instance_of;          /* the object that it stands for; -1: it is no instance */
    int64_t sample_count;         /* of its positions or transforms; 0: it has none */
    double first_time, last_time; /* s, of those samples */
    bool moves;             /* its positions or transform change; its parents' are not looked at */
    bool constant_topology; /* of a mesh: all samples have the same faces */
    bool visible;           /* by its own first sample; parents can hide it all the same */
    bool visible_changes;
    int64_t vertex_count; /* of a mesh or of points, in the first sample */
    int64_t face_count;   /* of a mesh, there */
    int32_t attribute_count;
} firn_alembic_object;

/* By number, from 0 to object_count - 1: parents come before their children. */
FIRN_API FIRN_MUST_CHECK firn_status firn_alembic_get_object(const firn_alembic *alembic,
                                                             int32_t object,
                                                             firn_alembic_object *out,
                                                             firn_error *error);

/* The first object after `after` (-1: from the start) whose path matches, or -1. In a pattern * stands for
 * any letters within a name and ** for any letters, slashes included; all else stands for itself. A
 * pattern without a slash in front matches from any name on: "ball*" finds "/top/ball1". */
FIRN_API int32_t firn_alembic_find(const firn_alembic *alembic, const char *pattern, int32_t after);

/* An attribute of a mesh or of points that the schema does not name itself. */
typedef struct firn_alembic_attribute {
    const char *name;
    const char *type;           /* as "float32_t" or "string" */
    const char *scope;          /* "con" one value, "uni" per face, "var" or "vtx" per point,
                                   "fvr" per corner; "": unknown */
    const char *interpretation; /* "rgb", "vector", "matrix", ...; "": none */
    int32_t components;
    bool indexed, changes;
} firn_alembic_attribute;
/* By number from 0; false past the end. */
FIRN_API bool firn_alembic_get_attribute(const firn_alembic *alembic, int32_t object, int32_t index,
                                         firn_alembic_attribute *out);

/* Whether neither the object nor one that it is in is hidden at a time (s). */
FIRN_API FIRN_MUST_CHECK firn_status firn_alembic_visible(const firn_alembic *alembic,
                                                          int32_t object, double time,
                                                          bool *visible, firn_error *error);

/* The matrix that takes an object's coordinates to the world's at a time (s): row by row, points as rows,
 * translation in the last row. Between samples angles and lengths of transforms are interpolated as they
 * are, matrices as rotation, stretch and translation. */
FIRN_API FIRN_MUST_CHECK firn_status firn_alembic_matrix(const firn_alembic *alembic,
                                                         int32_t object, double time,
                                                         double matrix[16], firn_error *error);

/* A box in the world that holds a mesh or points at a time (s), by the bounds that the file states; low is
 * above high if it is empty or the file states none. */
FIRN_API FIRN_MUST_CHECK firn_status firn_alembic_bounds(const firn_alembic *alembic,
                                                         int32_t object, double time, double low[3],
                                                         double high[3], firn_error *error);

/* The times (s), rising, between which an object's world positions and visibility are all that changes by
 * interpolation: the samples of every property that changes, of the object and of those it is in.
 * *count is 0 if nothing does. Free *times with free. */
FIRN_API FIRN_MUST_CHECK firn_status firn_alembic_times(const firn_alembic *alembic, int32_t object,
                                                        double **times, int64_t *count,
                                                        firn_error *error);

/* The polygons of a mesh or of the cage of a subdivision surface at a time (s), in world space. Velocities are
 * those of the file, turned and scaled; the motion of the transform is not in them. Between samples with the same faces positions
 * and velocities are interpolated, else the sample before holds; before the first sample and after the last,
 * those hold. */
FIRN_API FIRN_MUST_CHECK firn_status firn_alembic_read_mesh(const firn_alembic *alembic,
                                                            int32_t object, double time,
                                                            firn_polygons *out, firn_error *error);
/* A stored sample of it, from 0, with transforms as at its time. */
FIRN_API FIRN_MUST_CHECK firn_status firn_alembic_read_mesh_sample(const firn_alembic *alembic,
                                                                   int32_t object, int64_t sample,
                                                                   firn_polygons *out,
                                                                   firn_error *error);

/* Points of the last sample at or before a time (s), or of a stored sample: P and v in world space, id,
 * pscale (half the width), and all other attributes by name as the file has them. Attributes that have
 * neither a value per point nor one for all are left out, as are those whose name or number of components
 * columns cannot hold. */
FIRN_API FIRN_MUST_CHECK firn_status firn_alembic_read_points(const firn_alembic *alembic,
                                                              int32_t object, double time,
                                                              firn_points *out, firn_error *error);
FIRN_API FIRN_MUST_CHECK firn_status firn_alembic_read_points_sample(const firn_alembic *alembic,
                                                                     int32_t object, int64_t sample,
                                                                     firn_points *out,
                                                                     firn_error *error);

/* ---- writing ---- */

/* Writes a file frame by frame as NAME.part, which becomes NAME when it is finished. Memory does not grow
 * with frames but for 8 bytes per frame and attribute, 16 for text. Arrays that stay as they were are stored
 * once. Every frame ends with a record of it, so that an unfinished file can be continued or finished
 * however its writer ended. The same frames give the same bytes, interrupted or not. A writer belongs to one
 * thread at a time. */
typedef struct firn_alembic_writer firn_alembic_writer;

/* Make one with firn_alembic_writer_def_default. */
typedef struct firn_alembic_writer_def {
    double fps; /* 1/s: frame f is at f / fps seconds; 24 by default */
} firn_alembic_writer_def;
FIRN_API firn_alembic_writer_def firn_alembic_writer_def_default(void);

/* Begins a file; an unfinished one of the name goes, a finished one stays until this one takes its place. */
FIRN_API FIRN_MUST_CHECK firn_status firn_alembic_writer_create(const char *path,
                                                                const firn_alembic_writer_def *def,
                                                                firn_alembic_writer **writer,
                                                                firn_error *error);
/* Goes on with a file that a writer began, unfinished or finished, behind its last frame that is not after
 * `last_frame`; later frames are dropped. Begins a new file if there is none with such a frame. */
FIRN_API FIRN_MUST_CHECK firn_status firn_alembic_writer_resume(const char *path,
                                                                const firn_alembic_writer_def *def,
                                                                int64_t last_frame,
                                                                firn_alembic_writer **writer,
                                                                firn_error *error);
/* Closes it. What was not finished stays as NAME.part. NULL is fine. */
FIRN_API void firn_alembic_writer_destroy(firn_alembic_writer *writer);

/* Adds FIRN_ALEMBIC_POINTS or a FIRN_ALEMBIC_MESH, before the first frame: a shape /name/nameShape below a
 * transform that moves nothing. One that a resumed file has already is found by its name. */
FIRN_API FIRN_MUST_CHECK firn_status firn_alembic_writer_add(firn_alembic_writer *writer,
                                                             firn_alembic_kind kind,
                                                             const char *name, int32_t *object,
                                                             firn_error *error);

/* Gives an object its sample of the frame under way. Column P is needed, v becomes velocities, id the ids of
 * points (their order without it), pscale half their width; all other columns become attributes of the same
 * type. P, v, pscale, colours and normals are stored as 32-bit floats. */
FIRN_API FIRN_MUST_CHECK firn_status firn_alembic_writer_points(firn_alembic_writer *writer,
                                                                int32_t object,
                                                                const firn_points *points,
                                                                firn_error *error);
/* The same for a mesh: columns are of its vertices; id and pscale are attributes like others. Of each face
 * the number of its corners, then the vertices of all corners, counter-clockwise seen from outside. */
FIRN_API FIRN_MUST_CHECK firn_status firn_alembic_writer_mesh(
    firn_alembic_writer *writer, int32_t object, const firn_points *vertices, const int32_t *face,
    int64_t face_count, const int32_t *corner, int64_t corner_count, firn_error *error);

/* Ends the frame, once every object has its sample, and hands it to the disk. Frames rise. */
FIRN_API FIRN_MUST_CHECK firn_status firn_alembic_writer_commit(firn_alembic_writer *writer,
                                                                int64_t frame, firn_error *error);

/* How many frames are committed, and the last of them. */
FIRN_API int64_t firn_alembic_writer_frames(const firn_alembic_writer *writer, int64_t *last);

/* Completes the file under its own name with all frames that were committed, also after a failure; without
 * a frame there is none. Destroy the writer afterwards. */
FIRN_API FIRN_MUST_CHECK firn_status firn_alembic_writer_finish(firn_alembic_writer *writer,
                                                                firn_error *error);

#ifdef __cplusplus
}
#endif
#endif
