/* Props: meshes of a scene that come from files and may move by themselves. At a time of the scene a prop
 * is what its file is at the time that goes with it: `start` seconds at the first frame, then `speed`
 * times as fast as the scene, and again from the beginning if it is to loop. */
#ifndef FIRN_PROP_H
#define FIRN_PROP_H

#include <firn/geometry.h>

#include "scene/scene.h"

typedef struct firn_prop {
    const firn_scene_shape *shape; /* NULL: there is no prop */
    firn_animation *animation;
    double first; /* s, of the file, at the scene's time 0 */
} firn_prop;

/* Opens the file of a shape; of one that is not a mesh there is no prop. */
firn_status firn_prop_open(firn_prop *prop, const firn_scene *scene, const firn_scene_shape *shape,
                           firn_error *error);
void firn_prop_close(firn_prop *prop);
bool firn_prop_moves(const firn_prop *prop);

/* The part of its motion around a time of the scene: from one sample of the file to the next. The same
 * numbers for every time within. */
typedef struct firn_prop_part {
    double begin, end;           /* s, of the scene; -INFINITY, INFINITY: none */
    double file_begin, file_end; /* s, of the file; the same where it stands still */
} firn_prop_part;
firn_prop_part firn_prop_part_at(const firn_prop *prop, double time);

/* Its polygons at a time of the file, which is the scene's or one of a part; its mesh of them. */
double firn_prop_file_time(const firn_prop *prop, double time);
firn_status firn_prop_read(const firn_prop *prop, double file_time, firn_polygons *out,
                           firn_error *error);
firn_status firn_prop_mesh(const firn_prop *prop, const firn_polygons *polygons, int32_t threads,
                           firn_mesh **mesh, firn_error *error);

/* Where the vertices of `at` are at the end of a part: as in the next sample, or by the velocities of the
 * file; those of `at` where neither says. Owned by the caller. */
firn_status firn_prop_next(const firn_prop *prop, const firn_prop_part *part,
                           const firn_polygons *at, double **vertices, firn_error *error);

/* ---- doubt.c ---- */

/* Tells a log what of a prop has no effect, or hardly the one that was meant: numbers without a file, a
 * time at which the file has nothing, keys for files of another kind. */
void firn_prop_doubt(const firn_prop *prop, const firn_scene *scene, const firn_log *log);
/* Warns of emitters that start after the last frame. */
void firn_doubt_emitters(const firn_scene *scene, const firn_log *log);
/* Warns of values that nothing reads with that pressure, which is as the sim has chosen it. */
void firn_doubt_thin(const firn_scene *scene, const firn_log *log);
void firn_doubt_ignored(const firn_scene *scene, firn_pressure pressure, const firn_log *log);
/* The same of an object's share of the motion. */
void firn_prop_doubt_inherit(const firn_prop *prop, const firn_scene_object *object,
                             const firn_log *log);

/* ---- the colliders of a scene ---- */

typedef struct firn_prop_slot {
    firn_prop prop;
    firn_mesh *mesh;        /* NULL: no prop */
    firn_polygons polygons; /* that it was made of */
    bool hidden;            /* nothing of it was visible when it was opened */
    double end; /* s: until when its part of the motion lasts; -INFINITY: none has begun */
} firn_prop_slot;

typedef struct firn_props {
    const firn_scene *scene;
    int32_t threads;
    firn_prop_slot *collider, *source; /* of colliders and of sources of heat */
} firn_props;

/* Opens all, with the meshes that they have at a time of the scene. */
firn_status firn_props_open(firn_props *props, const firn_scene *scene, double time,
                            int32_t threads, firn_error *error);
void firn_props_close(firn_props *props);

/* A collider or source of heat as the sim takes it. */
firn_collider_def firn_props_collider(const firn_props *props, int32_t index);
firn_collider_def firn_props_source(const firn_props *props, int32_t index);

/* For a sim: when the next part of some motion begins; and, at such a time, begins it. */
double firn_props_next(const firn_props *props);
firn_status firn_props_move(firn_props *props, firn_sim *sim, firn_error *error);
/* Moves all to where they are at the sim's time, which was loaded. */
firn_status firn_props_resume(firn_props *props, firn_sim *sim, firn_error *error);

#endif
