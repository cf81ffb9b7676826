/* A live session inside the library.
 *
 * Two scenes: `scene` is what the job simulates, with all changes that could act at once; `newest` is the
 * text last read, which `restart` begins with. They are the same object unless a text has been read since
 * the job was made. */
#ifndef FIRN_LIVE_INTERNAL_H
#define FIRN_LIVE_INTERNAL_H

#include <firn/player.h>

#include "io/json.h"
#include "live/command.h"
#include "run/job.h"

/* ---- event.c: JSON to send ---- */

typedef struct firn_live_text {
    char *data;
    size_t used, room;
    bool failed; /* no memory: nothing is sent */
} firn_live_text;

typedef struct firn_live_event {
    firn_live_text text;
    firn_sink sink;
    firn_json_writer json;
} firn_live_event;

/* Opens a map; with the entry `event` unless `name` is NULL. It must not be copied. */
void firn_event_begin(firn_live_event *e, const char *name);
/* Closes the map; the text, or NULL. Free it by firn_event_free. */
const char *firn_event_end(firn_live_event *e);
void firn_event_free(firn_live_event *e);

/* Entries of the open map; with NULL as key, values of the open list. Text that is not UTF-8 is mended;
 * numbers that JSON has no word for become 1e300, -1e300 or 0. */
void firn_event_open(firn_live_event *e, const char *key, char bracket);
void firn_event_close(firn_live_event *e, char bracket);
void firn_event_text(firn_live_event *e, const char *key, const char *text);
void firn_event_number(firn_live_event *e, const char *key, double value);
void firn_event_whole(firn_live_event *e, const char *key, int64_t value);
void firn_event_flag(firn_live_event *e, const char *key, bool value);
void firn_event_list(firn_live_event *e, const char *key, const double *values, int count);
/* The entries of another event, written without a name. */
void firn_event_merge(firn_live_event *e, const char *map);

/* ---- kept.c: states to go back to ---- */

typedef struct firn_kept_frame {
    firn_bytes state;        /* of the sim; no data: not kept */
    firn_emission *emission; /* of each object */
    int32_t parts;           /* advances that led from here to the next frame; 0: unknown */
} firn_kept_frame;

typedef struct firn_kept {
    firn_kept_frame *frame; /* those computed, from the scene's first */
    int64_t count, room;
    int64_t stride; /* of frames that are kept */
    size_t bytes;
} firn_kept;

/* ---- diff.c: what two scenes differ in ---- */

typedef struct firn_scene_line {
    char *path, *value;
} firn_scene_line;

/* What a scene says, sorted by path. */
typedef struct firn_scene_says {
    firn_scene_line *line;
    int64_t count, room;
} firn_scene_says;

firn_status firn_says_read(firn_scene_says *out, const firn_scene *scene, firn_error *error);
void firn_says_free(firn_scene_says *says);
/* The next difference after places *i and *k, which begin at 0: lines of each, or NULL where it has none.
 * False: no more. */
bool firn_says_differ(const firn_scene_says *a, const firn_scene_says *b, int64_t *i, int64_t *k,
                      firn_scene_line **old, firn_scene_line **new);

/* ---- the session ---- */

/* What a grab holds. */
typedef struct firn_live_hold {
    uint64_t *id;        /* rising */
    double (*offset)[3]; /* m, from the pointer */
    int64_t count;
} firn_live_hold;

typedef enum firn_live_goal { FIRN_GOAL_NONE, FIRN_GOAL_FRAME, FIRN_GOAL_SEEK } firn_live_goal;

struct firn_live {
    firn_live_options options;
    char *text; /* the last that came, right or wrong; NULL: none */
    firn_scene *scene, *newest;
    firn_job *job;
    firn_scene_says says;   /* what `scene` says by now */
    bool gravity_changed;   /* since the job's scene was read */
    bool *collider_changed; /* of each of its colliders */

    /* time */
    bool playing;
    double speed;
    double anchor_clock, anchor_time; /* s: since when play keeps to the clock */
    firn_live_goal goal;
    int64_t goal_frame;
    firn_kept kept;
    bool altered; /* tools or changes since the state of this frame was kept */

    /* within an advance */
    bool advancing, patient; /* patient: not to be interrupted by time */
    bool interrupt;
    double advance_begin, polled;
    firn_live_command *queue, *queue_end; /* for after it */

    /* since the last picture */
    firn_report report;
    int64_t steps;
    double seconds, simulated;

    /* pictures */
    uint32_t sent, shown;
    bool owed;
    int64_t tags_count; /* of the tags last sent; -1: none */
    uint64_t tags_last;
    double meshes_time; /* s, of the meshes last sent; below 0: none */
    firn_live_want want;
    bool probing;
    uint64_t probe;
    firn_live_tool tool; /* held */
    firn_live_hold hold; /* by a grab */

    /* the state last sent */
    struct {
        bool any, playing, done;
        double speed;
        int64_t frame, kept;
    } told;
};

double firn_live_clock(void); /* s */

/* Sends and frees. */
void firn_live_send(firn_live *live, firn_live_event *event);
void firn_live_send_bytes(firn_live *live, firn_bytes *bytes);
/* The event `error`; returns error's status. `from` is "scene", "step" or "command". */
firn_status firn_live_complain(firn_live *live, const char *from, const firn_error *error);

/* ---- play.c ---- */

double firn_live_frame_time(const firn_live *live, int64_t frame);
/* The frame that the sim is at or behind, and how far: from 0 to below 1. */
int64_t firn_live_frame(const firn_live *live, double *part);
bool firn_live_at_frame(const firn_live *live);
bool firn_live_done(const firn_live *live);
firn_step_hook firn_live_step_hook;
/* One tick of play, or some of the way to the goal. FIRN_STOPPED: some of it is left. */
firn_status firn_live_tick(firn_live *live, firn_error *error);
firn_status firn_live_substep(firn_live *live, firn_error *error);
/* Advances to a frame in so many parts. */
firn_status firn_live_advance_frame(firn_live *live, int64_t frame, int32_t parts,
                                    firn_error *error);
/* Seconds of the clock until the next tick is due; 0: now. */
double firn_live_until_due(firn_live *live);
void firn_live_anchor(firn_live *live);

/* ---- kept.c ---- */

/* Keeps the state of the frame that the sim is at, if it is at one and has not been kept as it is. */
void firn_live_keep(firn_live *live);
/* Forgets the frames behind the present one: others will come. */
void firn_live_forget_later(firn_live *live);
/* The state is no longer what led to the frames after it: they are forgotten. */
void firn_live_alter(firn_live *live);
void firn_live_forget_all(firn_live *live);
int64_t firn_live_last_kept(const firn_live *live); /* the last frame that was computed */
/* Puts the newest state up to a frame into a new job, unless the present one is nearer. */
firn_status firn_live_rewind(firn_live *live, int64_t frame, firn_error *error);

/* ---- open.c ---- */

firn_status firn_live_open(firn_live *live, const char *text, size_t size, firn_error *error);
firn_status firn_live_restart(firn_live *live, firn_error *error);
firn_status firn_live_read(firn_live *live, const char *text, size_t size, firn_scene **scene,
                           firn_error *error);
/* Builds a job of a scene, which is then the session's, and drops what was; failure changes nothing. */
firn_status firn_live_build(firn_live *live, firn_scene *scene, firn_error *error);
firn_job_options firn_live_job_options(firn_live *live);
void firn_live_close(firn_live *live);

/* ---- edit.c ---- */

firn_status firn_live_edit(firn_live *live, const char *text, size_t size, firn_error *error);
/* Puts what was changed since into a sim whose state was loaded. */
firn_status firn_live_reapply(firn_live *live, firn_job *job, firn_error *error);

/* ---- hello.c ---- */

/* The event `hello`. `mode` is "scene", "cache" or "run", `threads` (0: all) and `isa` are those in use; text
 * and file may be NULL. */
void firn_event_begin_hello(firn_live_event *e, const char *engine, const char *mode,
                            int32_t threads, const char *isa, const char *text, const char *file);
/* The entry `values`: the parameters that the law reads. */
void firn_live_put_values(firn_live_event *e, const firn_material_def *def);

/* ---- about.c ---- */

/* The entry `materials` of a scene, with the looks that a newer text gives them. */
void firn_event_put_materials(firn_live_event *e, const firn_scene *scene,
                              const firn_scene *newest);
/* The event `scene`. `at_once` are the paths that have just changed, up to NULL; NULL:
 * none. Those that wait are found. */
void firn_live_send_scene(firn_live *live, char *const *at_once);
/* The event `state`, if it has changed or is asked for. */
void firn_live_send_state(firn_live *live, bool always);

/* ---- show.c ---- */

/* The event `frame`, all but poses and probe. */
void firn_event_begin_frame(firn_live_event *e, uint32_t picture, int64_t particles, double part,
                            const firn_player_frame *frame);
/* The entry `poses`. */
void firn_live_put_poses(firn_live_event *e, const firn_job *job);
/* A picture as soon as the page can take it. */
void firn_live_show(firn_live *live);
void firn_live_send_owed(firn_live *live);
firn_status firn_live_send_points(firn_live *live, const firn_live_command *c, firn_error *error);
firn_status firn_live_send_hash(firn_live *live, uint32_t token, firn_error *error);
/* Whether a collider is shown by a mesh that is made of its distances. */
bool firn_live_nets(const firn_job *job, int32_t collider);
/* Meshes of colliders: all, or those that have moved since. */
void firn_live_send_meshes(firn_live *live, bool all);

/* ---- color.c ---- */

/* What pictures can be coloured by: by number from 0; name NULL past the end. */
firn_attribute firn_live_color(int32_t index);
/* Values of all particles in id order; free them. The range is 0 to 0 if it follows from the values. */
firn_status firn_live_read_color(const firn_job *job, const char *name, float **values,
                                 float *least, float *most, firn_error *error);

/* ---- probe.c ---- */

/* The entry `probe`, if the particle is still there. */
void firn_live_put_probe(firn_live *live, firn_live_event *e);

/* ---- tool.c ---- */

/* Lets the held tool act for so many seconds of simulated time. */
firn_status firn_live_apply_tool(firn_live *live, double seconds, firn_error *error);
/* Forgets what is grabbed. */
void firn_live_let_go(firn_live *live);
firn_status firn_live_check_tool(const firn_live *live, const firn_live_tool *tool,
                                 firn_error *error);

#endif
