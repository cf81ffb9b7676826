/* What pictures are made from: frames of particles on disk, with the scene that made them where there
 * is one. */
#ifndef FIRN_SEQUENCE_H
#define FIRN_SEQUENCE_H

#include "run/job.h"

typedef struct firn_sequence_frame {
    int64_t number;
    char *path; /* may not exist: a gap */
    char *grid; /* nodes of the same frame, or NULL */
} firn_sequence_frame;

typedef struct firn_sequence {
    char *label; /* the scene's name, or the file's */
    bool has_scene;
    firn_scene scene;
    firn_sequence_frame *frame; /* in order of number */
    int64_t count;
} firn_sequence;

/* One sequence from what a user names:
 *   scene.yaml             the frames that its first output of particles names; `set` (path=value)
 *                          changes it first, as in a run
 *   name.$F4.prt           the files of that name, from the first number there is to the last
 *   folder                 a variant of a sweep: its scene.yaml; else the particle files in it, of
 *                          several sequences the one whose name comes first
 *   several files          those, by the last number in their names, or counted from 1 */
firn_status firn_sequence_open(const char *const *name, int64_t name_count, const char *const *set,
                               int64_t set_count, firn_sequence *out, firn_error *error);
void firn_sequence_free(firn_sequence *sequence);

/* Whether a name stands for a sequence of its own, not for one frame of one. */
bool firn_sequence_is_whole(const char *name);

/* Gives sequences whose labels are the same the part of their names that differs. */
firn_status firn_sequences_tell_apart(firn_sequence *sequence, const char *const *name,
                                      int64_t count, firn_error *error);

/* The variants of a sweep in the order of its table. */
typedef struct firn_sweep_folders {
    char **folder, **label; /* sweep/young_1e5, "young 1e5" */
    int64_t count;          /* 0: the folder is not that of a sweep */
} firn_sweep_folders;
firn_status firn_sweep_folders_read(const char *folder, firn_sweep_folders *out, firn_error *error);
void firn_sweep_folders_free(firn_sweep_folders *variants);

/* The frame of that number, or NULL. */
const firn_sequence_frame *firn_sequence_find(const firn_sequence *sequence, int64_t number);

#endif
