/* Copies and groups: where the entries of a scene's lists come to stand. */
#ifndef FIRN_COPIES_H
#define FIRN_COPIES_H

#include "scene/read.h"

enum { FIRN_MOST_COPIES = 65536 }; /* of everything that has them, together */

/* ---- copies.c ---- */

/* Scaled, then turned about the origin, then moved. */
typedef struct firn_copy {
    double translate[3], turn[4], scale; /* m, quaternion, 1 */
    double velocity[3], more[3]; /* m/s: instead of the entry's, if `velocity_where`; added */
    const char *material;        /* NULL: the entry's */
    int64_t seed;
    const firn_value *velocity_where, *material_where, *seed_where; /* NULL: the entry's */
} firn_copy;

typedef struct firn_copies {
    firn_copy *copy;
    int32_t count;
} firn_copies;

/* What `instances` say; of NULL, one copy that is where the entry is. `objects`: whether copies may have what only
 * objects have. */
firn_status firn_copies_read(const firn_scene *scene, const firn_value *instances, bool objects,
                             firn_copies *out, firn_error *error);
void firn_copies_free(firn_copies *copies);

/* ---- groups.c ---- */

/* One of the things that an entry of a list stands for. */
typedef struct firn_member {
    const firn_value *where;       /* the entry */
    const firn_scene_frame *frame; /* that it is in; NULL: the world */
    const firn_copy *copy;
    int32_t
        number; /* among all that the entry stands for; -1: it stands for one, under its own name */
    int32_t of_group; /* the number of its group's copy; -1: the group has no copies */
} firn_member;

/* What lists of copies are of: places alone, with instances, with what only objects have. */
typedef enum firn_copied { FIRN_COPIED_BY_GROUPS, FIRN_COPIED, FIRN_COPIED_OBJECTS } firn_copied;

/* Reads a list: calls `read` for every copy of every entry in every copy of its group, in this order. `count` is how
 * many there are so far. */
typedef firn_status firn_member_read(firn_scene *scene, const firn_member *member,
                                     firn_error *error);
firn_status firn_read_members(firn_scene *scene, const firn_value *list, const char *what,
                              firn_copied copied, firn_member_read *read, firn_error *error);

/* Room for one more in an array of `count`, which moves; all zero. NULL: no memory. */
void *firn_one_more(void **array, int32_t *count, size_t size);

/* name, or name[3]; kept by the scene. *name stays NULL where it is. */
firn_status firn_name_copy(firn_scene *scene, int32_t number, const char **name, firn_error *error);

/* Takes a place in a frame (NULL: the world), at a time, into the world: a position and a turn. */
void firn_frame_place(const firn_scene *scene, const firn_scene_frame *frame, double time,
                      double position[3], double turn[4]);
/* Whether it ever moves. */
bool firn_frame_moves(const firn_scene_frame *frame);

/* Scales, turns and moves a collider that stands as its entry says to where a member is. */
firn_status firn_place_collider(firn_scene *scene, const firn_member *member,
                                firn_scene_collider *collider, firn_error *error);

/* ---- emit.c ---- */

/* What an object emits, if it does, and whether it can; the object is in its place. */
firn_status firn_read_emit(const firn_scene *scene, const firn_member *member,
                           firn_scene_object *object, firn_error *error);

#endif
