/* The run loop: frames one after the other, files, statistics and checkpoints on the way. */
#ifndef FIRN_RUN_H
#define FIRN_RUN_H

#include "run/job.h"

/* What a frame has cost and what it looks like. */
typedef struct firn_run_frame {
    int64_t frame, first, last;
    int64_t particles;
    firn_report report;  /* of the frame; all zero for the first */
    double dt;           /* s, of its steps, the mean: the last is what was left of the frame */
    double seconds;      /* wall clock, of the frame */
    double heat_seconds; /* of those, spent on heat */
    bool has_hash;
    firn_hash hash;
    int64_t files; /* handed to the writer */
} firn_run_frame;

/* How the loop talks to whoever started it; all may be NULL. Called from the calling thread. */
typedef struct firn_run_hooks {
    void *user_data;
    void (*note)(void *user_data, const char *text);
    void (*frame)(void *user_data, const firn_run_frame *frame);
    void (*step)(void *user_data, int64_t frame, const firn_report *report);
    /* Whether to stop: asked between steps. */
    bool (*stop)(void *user_data);
    /* Looks at every frame that is written; a failure ends the run. */
    firn_status (*look)(void *look_data, const firn_job *job, int64_t frame, firn_error *error);
    void *look_data;
} firn_run_hooks;

typedef struct firn_run_options {
    int32_t threads;
    const char *isa;
    int64_t first, last; /* frames to write; the run starts at the scene's start all the same */
    bool resume, hash;
} firn_run_options;

/* Frames of the scene, all written. */
firn_run_options firn_run_options_default(const firn_scene *scene);

/* What the scene says about outputs, checked as a run does before anything is made. */
firn_status firn_run_check(const firn_scene *scene, firn_error *error);

/* The head of a scene's statistics file: names with commas between. */
extern const char firn_statistics_columns[];

/* Checks all outputs before the first step. FIRN_STOPPED after a stop: what --resume needs is on
 * disk. */
firn_status firn_run(const firn_scene *scene, const firn_run_options *options,
                     const firn_run_hooks *hooks, firn_error *error);

/* What a run would take, from filling alone. */
typedef struct firn_plan {
    int64_t particles, frames, cells;
    int64_t particles_end;        /* with what is emitted, without what sinks take */
    double memory;                /* bytes */
    double disk_least, disk_most; /* bytes, see firn_needs */
    double dt;                    /* s, of a first step */
    double steps;                 /* over all frames, if dt stayed */
    double stiffening;            /* how many times that, if all snow packed as far as it can */
    double seconds;               /* at the speed of the steps tried */
} firn_plan;
firn_status firn_run_plan(const firn_scene *scene, const firn_run_options *options,
                          const firn_run_hooks *hooks, firn_plan *plan, firn_error *error);

/* ---- room.c ---- */

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

const char *firn_amount(double bytes, char text[32]); /* "12.3 MB" */
/* Makes the folder of a path, and tries whether a file can be made there. The path is as before
 * afterwards. */
firn_status firn_try_path(char *path, firn_error *error);

#endif
