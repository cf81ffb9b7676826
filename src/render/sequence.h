/* Sequences inside the library: frames of particles on disk, with the scene that made them. */
#ifndef FIRN_SEQUENCE_INTERNAL_H
#define FIRN_SEQUENCE_INTERNAL_H

#include <firn/render.h>

typedef struct firn_sequence_frame {
    int64_t number;
    char *path; /* may not exist: a gap */
    char *grid; /* nodes of the same frame, or NULL */
} firn_sequence_frame;

struct firn_sequence {
    char *label;                /* the scene's name, or the file's */
    firn_scene *scene;          /* NULL: there is none */
    firn_sequence_frame *frame; /* in order of number */
    int64_t count;
};

#endif
