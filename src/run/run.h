/* Runs inside the library: what a run takes on disk. <firn/scene.h> has the rest. */
#ifndef FIRN_RUN_INTERNAL_H
#define FIRN_RUN_INTERNAL_H

#include "run/job.h"

/* ---- disk.c ---- */

/* Room that files of one kind take. */
typedef struct firn_need {
    char *folder;
    double least, most; /* bytes: compressed as well as at the start, or as badly as noise */
    double replaced;    /* bytes of files that are there already and make room */
} firn_need;
typedef struct firn_needs {
    firn_need *need;
    int32_t count;
    double least, most; /* bytes, of all */
} firn_needs;

/* Particles in all files together: a file every so many frames, from first to last. */
double firn_frames_particles(const firn_job *job, int64_t first, int64_t last, int64_t every);
/* Of frames first to last. Fails where an output's format cannot hold its attributes. */
firn_status firn_needs_find(const firn_job *job, const char *checkpoints, int64_t first,
                            int64_t last, firn_needs *out, firn_error *error);
/* Fails with FIRN_OUTPUT when a file system surely has no room; `doubt` says when it may not have, and
 * is "" otherwise. File systems that do not say how much is free have room. */
firn_status firn_needs_check(const firn_needs *needs, char *doubt, size_t size, firn_error *error);
void firn_needs_free(firn_needs *needs);

/* ---- target.c ---- */

/* Files of one kind that a run writes. */
typedef struct firn_target {
    const char *pattern; /* with $F for the frame */
    char *whole;         /* the same from the root on */
    const firn_value *where;
    int64_t every; /* frames; 0: one file */
    char *lock_path;
    int lock;            /* a descriptor, or -1 */
    const char *cleaned; /* a file whose folder has been */
} firn_target;

/* A file that a run writes. */
typedef struct firn_target_name {
    char *path;     /* absolute */
    int32_t target; /* by number */
} firn_target_name;

typedef struct firn_targets {
    firn_target *target;
    int32_t count;
    char *folder, *states;  /* of checkpoints, and the pattern of their files */
    firn_target_name *name; /* sorted by path */
    int32_t name_count;
} firn_targets;

/* Lists what a run of the scene writes, and refuses files that are written twice or read. To be freed
 * also on failure. */
firn_status firn_targets_init(firn_targets *targets, const firn_scene *scene, firn_error *error);
/* Makes their folders, and tries whether files can be made there. */
firn_status firn_targets_try(const firn_targets *targets, const firn_scene *scene,
                             firn_error *error);
/* Locks them, and removes what a killed run has left unfinished. `note` receives whose locks were taken
 * over, or "". */
firn_status firn_targets_lock(firn_targets *targets, const firn_scene *scene, char *note,
                              size_t size, firn_error *error);
void firn_targets_free(firn_targets *targets); /* unlocks, too */

/* Makes the folder of a path, and tries whether a file can be made there. The path is as before
 * afterwards. */
firn_status firn_try_path(char *path, firn_error *error);
/* Makes the folder of a frame's file where frames have folders of their own. */
firn_status firn_frame_folder(const char *pattern, char *path, firn_error *error);

#endif
