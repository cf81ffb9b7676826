/* Live sessions: a scene that a page plays, changes and looks at while it runs.
 *
 * A session takes commands and gives events, both JSON, and binary messages; apps/studio/src/protocol.ts
 * lists them all. It has no threads of its own beyond the engine's, writes no file and never waits: a host
 * hands it commands and calls firn_live_turn. A session belongs to one thread at a time. Part of the
 * library firn_live, on top of firn_scene; it compiles to WebAssembly. */
#ifndef FIRN_LIVE_H
#define FIRN_LIVE_H

#include <firn/scene.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- sessions ---- */

typedef struct firn_live firn_live;

/* Make one with firn_live_options_default. Strings are copied. */
typedef struct firn_live_options {
    int32_t threads;    /* of the engine; 0: all */
    const char *isa;    /* NULL: the best */
    const char *engine; /* for the event `hello`: "native" or "wasm" */
    /* What messages call the scene. Files that it reads are found relative to this one; by default, "scene",
     * that is the working directory. What a scene would write is never written. */
    const char *path;
    size_t state_bytes;     /* for states that `seek` goes back to; 256 MiB by default */
    int64_t most_particles; /* that the tool `emit` stops at; 4 million by default */
    /* s: play is interrupted after so long within a tick, so that commands get through; 0.5 by default. What
     * has been interrupted goes on with other bits than what has not. A step of a frame never is. */
    double patience;

    void *user_data; /* of the functions below */
    /* Take a message to the page; the bytes are only valid during the call. */
    void (*send)(void *user_data, const char *text, size_t size);
    void (*send_bytes)(void *user_data, const void *data, size_t size);
    /* Makes a scene of text; NULL: reads YAML, as firn_scene_create does. */
    firn_status (*read_scene)(void *user_data, const char *text, size_t size, firn_scene **scene,
                              firn_error *error);
    /* Called about every 10 ms from within long advances, in place of `patience`; may call
     * firn_live_receive. Commands that need the simulation end the advance early. NULL: none. */
    void (*poll)(void *user_data);
} firn_live_options;
FIRN_API firn_live_options firn_live_options_default(void);

FIRN_API FIRN_MUST_CHECK firn_status firn_live_create(const firn_live_options *options,
                                                      firn_live **live, firn_error *error);
FIRN_API void firn_live_destroy(firn_live *live); /* NULL is fine */

/* Greets a page that has connected: sends `hello` and, if a scene is open, everything a new page needs. `text` and
 * `file` are the scene that the host was started with; either may be NULL. The last text received goes along as
 * `newest`. When called from `poll`, the picture follows the advance. */
FIRN_API void firn_live_hello(firn_live *live, const char *text, const char *file);

/* One command. What is wrong with it is returned, and also sent as the event `error`; the session goes on
 * as it was. */
FIRN_API firn_status firn_live_receive(firn_live *live, const char *json, size_t size,
                                       firn_error *error);

/* Works for about `seconds`: simulates and sends what is due. Returns in how many seconds it wants to be
 * called again: 0 is at once, INFINITY not before the next command. */
FIRN_API double firn_live_turn(firn_live *live, double seconds);

/* The job of the open scene, or NULL: for tests and hosts that look at it. Changes with `open`, `edit`,
 * `restart` and `seek`. */
FIRN_API firn_job *firn_live_job(const firn_live *live);

/* ---- messages for pages that watch something else, such as a finished run ---- */

/* The event `scene` of a job that a run has filled. Free it with free; NULL: no memory. */
FIRN_API char *firn_live_scene_text(const firn_job *job);

/* Particles to show. */
typedef struct firn_live_cloud {
    int64_t count;
    int32_t dimension;
    double time;           /* s */
    const float *position; /* count x 3, m; z is 0 in 2D */
    const float *color;    /* count; NULL: none */
    float least, most;     /* ends of the colours' range; both 0: as they are */
    const float *velocity; /* count x 3, m/s; NULL: none */
} firn_live_cloud;

/* The message `picture`. Numbers that are not finite become 0. Free `out` with firn_bytes_free. */
FIRN_API FIRN_MUST_CHECK firn_status firn_live_pack_picture(const firn_live_cloud *cloud,
                                                            uint32_t number, firn_bytes *out,
                                                            firn_error *error);
/* The message `tags`. Any array may be NULL: all 0, and ids that count up. */
FIRN_API FIRN_MUST_CHECK firn_status firn_live_pack_tags(int64_t count, const double *object,
                                                         const double *material, const double *id,
                                                         uint32_t number, firn_bytes *out,
                                                         firn_error *error);
/* The message `grid` of a job. */
FIRN_API FIRN_MUST_CHECK firn_status firn_live_pack_grid(const firn_job *job, uint32_t number,
                                                         firn_bytes *out, firn_error *error);
/* The messages `mesh` of a job's colliders: of those whose mesh changes, and, if `still` is set, of the others.
 * Returns how many; those that cannot be read are left out. Free each with firn_bytes_free, the list with free. */
FIRN_API int32_t firn_live_pack_meshes(const firn_job *job, bool still, firn_bytes **out);
/* The message `points`, of all columns. */
FIRN_API FIRN_MUST_CHECK firn_status firn_live_pack_points(const firn_points *points,
                                                           uint32_t token, firn_bytes *out,
                                                           firn_error *error);

#ifdef __cplusplus
}
#endif
#endif
