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

/* Makes the folder of a path, and tries whether a file can be made there. The path is as before
 * afterwards. */
firn_status firn_try_path(char *path, firn_error *error);

#endif
