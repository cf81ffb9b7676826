/* Players: pages that look at particles which nobody simulates for them, the frames of a finished run or
 * those of a run that goes on elsewhere.
 *
 * A player takes the commands and gives the messages of apps/studio/src/protocol.ts that make sense there:
 * play, pause, step, seek, want, probe, points, shown and, of a run, stop. Others are answered by an error.
 * Like a live session it has no threads and never waits, and belongs to one thread at a time. Part of the
 * library firn_live. */
#ifndef FIRN_PLAYER_H
#define FIRN_PLAYER_H

#include <firn/live.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct firn_player firn_player;

/* What is known of a frame beside its particles; all but the number and the time may be 0. The caller owns
 * what the pointers refer to, which must stay as long as the frame is shown. */
typedef struct firn_player_frame {
    int64_t number;
    double time; /* s */
    int64_t steps, blocks;
    double dt;                      /* s */
    const char *limit, *integrator; /* NULL: unknown */
    double seconds;                 /* of the clock, that simulating took */
    double simulated;               /* s */
    const firn_totals *totals;
    const firn_bytes *grid; /* a message, see firn_live_pack_grid */
    const firn_bytes *mesh; /* messages, see firn_live_pack_meshes */
    int32_t mesh_count;
    bool still;        /* meshes that never change are among them */
    const char *scene; /* of a run: the event `scene`, see firn_live_scene_text */
    const char *poses; /* of a run: see firn_player_poses */
} firn_player_frame;

/* Where a job's colliders are, for frames. Free it with free; NULL: no memory. */
FIRN_API char *firn_player_poses(const firn_job *job);

/* Make one with firn_player_options_default. Strings and frame numbers are copied. */
typedef struct firn_player_options {
    const char *engine; /* for the event `hello` */
    const char *name;   /* of what is played */
    const char *file;   /* where it comes from; NULL: unknown */
    const char *text;   /* of the scene; NULL: unknown */
    const char *isa;    /* in use, for `hello` */
    int32_t threads;
    double fps;              /* frames per second, above 0; 24 by default */
    int32_t dimension;       /* 0: by the first particles: 2 if all z are 0 */
    double resolution;       /* m between particles; 0: by the first particles */
    int64_t first, last;     /* frames of a run */
    const int64_t *number;   /* of a finished run: its frames, rising */
    int64_t number_count;    /* 0: a run that goes on, whose frames come by firn_player_show */
    const firn_scene *scene; /* of a finished run, which must stay: how it looks; NULL: unknown */
    void *user_data;         /* of the functions below */
    void (*send)(void *user_data, const char *text, size_t size);
    void (*send_bytes)(void *user_data, const void *data, size_t size);
    /* Reads a frame of a finished run. */
    firn_status (*read)(void *user_data, int64_t number, firn_points *out, firn_error *error);
    /* The page asks a run to stop. */
    void (*stop)(void *user_data);
} firn_player_options;
FIRN_API firn_player_options firn_player_options_default(void);

FIRN_API FIRN_MUST_CHECK firn_status firn_player_create(const firn_player_options *options,
                                                        firn_player **player, firn_error *error);
FIRN_API void firn_player_destroy(firn_player *player); /* NULL is fine */

/* Greets a page that has connected, with all that it must know. */
FIRN_API void firn_player_hello(firn_player *player);
/* The page has gone; whoever comes next finds the player paused. */
FIRN_API void firn_player_pause(firn_player *player);

/* One command. What is wrong with it is answered by the event `error`. */
FIRN_API void firn_player_receive(firn_player *player, const char *json, size_t size);

/* Reads and sends what is due. Returns in how many seconds it wants to be called again; INFINITY: not
 * before the next command. */
FIRN_API double firn_player_turn(firn_player *player);

/* What the page wants of a run's next frame. */
enum {
    FIRN_PLAYER_WANTS_FRAME = 1,
    FIRN_PLAYER_WANTS_TOTALS = 2,
    FIRN_PLAYER_WANTS_GRID = 4,
    FIRN_PLAYER_WANTS_STILL = 8 /* meshes that never change */
};
/* Of a run that goes on: those flags, or 0 if the page cannot take another frame yet; and that frame, which
 * the player copies nothing of and which must stay until the next one or until the player is destroyed. */
FIRN_API int firn_player_wants(const firn_player *player);
FIRN_API void firn_player_show(firn_player *player, const firn_player_frame *frame,
                               const firn_points *points);
/* Says something to the page, as the event `log`. */
FIRN_API void firn_player_log(firn_player *player, const char *text);

#ifdef __cplusplus
}
#endif
#endif
