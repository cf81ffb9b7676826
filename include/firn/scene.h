/* Scenes: files that describe a simulation, jobs that carry one out, runs that write its caches.
 *
 * A scene is constant once read, and one scene may serve several jobs at once. A job belongs to one
 * thread at a time. Files a scene reads are found relative to it; those it writes are named relative
 * to the working directory. Part of the library firn_scene. */
#ifndef FIRN_SCENE_H
#define FIRN_SCENE_H

#include <firn/param.h>
#include <firn/points.h>
#include <firn/sim.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- scenes ---- */

typedef struct firn_scene firn_scene;

/* A change made to a scene before it is read, as the option --set makes it. */
typedef struct firn_setting {
    const char *assignment; /* "path=value", as "materials.ball.young=1e5"; the value in YAML */
    const char *option;     /* what messages call it: "--set" */
    bool existing; /* refuse a path whose parent the scene does not have; otherwise it is made */
} firn_setting;

/* Make one with firn_scene_def_default. */
typedef struct firn_scene_def {
    const char *path; /* the file; with `text`, what messages call that */
    const char *text; /* the scene itself, in YAML; NULL: read the file */
    size_t text_size; /* bytes; 0: up to the first zero */
    const firn_setting *settings;
    int64_t setting_count;
    /* Everything the scene writes goes below this folder, with statistics.csv and checkpoints/ if it
     * names none; NULL: as it says. */
    const char *output_folder;
} firn_scene_def;
FIRN_API firn_scene_def firn_scene_def_default(void);

/* Reads and checks a scene. Errors begin with file, line and column. On failure *scene is NULL. */
FIRN_API FIRN_MUST_CHECK firn_status firn_scene_create(const firn_scene_def *def,
                                                       firn_scene **scene, firn_error *error);
FIRN_API void firn_scene_destroy(firn_scene *scene); /* NULL is fine */

/* Strings live as long as the scene. */
typedef struct firn_scene_info {
    const char *name;
    const char *statistics;   /* file, or NULL: none */
    const char *checkpoints;  /* folder, or NULL: NAME.ckpt */
    int64_t checkpoint_every; /* frames; 0: never */
    int32_t dimension;
    int32_t object_count;
    int64_t first_frame, last_frame; /* time 0 is the first */
    double fps, playback;            /* 1/s: of the simulation, of videos */
    double resolution, cell_size;    /* m */
} firn_scene_info;
FIRN_API firn_scene_info firn_scene_get_info(const firn_scene *scene);

/* Writes the scene as one YAML file, with its includes and settings merged in. */
FIRN_API FIRN_MUST_CHECK firn_status firn_scene_write(const firn_scene *scene, const char *path,
                                                      firn_error *error);

/* The scene as lines of "path: value", in the order of the file. Free it with free; NULL: no memory. */
FIRN_API char *firn_scene_lines(const firn_scene *scene);

/* ---- what scene files may say ---- */

/* A section of scene files is a map of parameters; a shape is one too. */
typedef struct firn_section_info {
    const char *name;    /* as in the reference: "simulation", "a collider"; NULL past the end */
    const char *help;    /* one line */
    bool shape;          /* a word for a shape: */
    unsigned dimensions; /* of scenes that have the word: 1: 2D, 2: 3D, 3: both */
    unsigned filled;     /* those where objects can have it */
} firn_section_info;

/* By number from 0: sections in the order of the reference, then shapes. */
FIRN_API firn_section_info firn_section_get_info(int32_t section);

/* The index-th parameter of a section; false past the end. `fallback` receives its default as a scene
 * would have it, or "". */
FIRN_API bool firn_section_get_param(int32_t section, int32_t index, firn_param *param,
                                     char fallback[80]);

/* ---- attributes ---- */

/* What files say of particles and of grid nodes. */
typedef struct firn_attribute {
    const char *name; /* NULL: there is no such attribute */
    firn_type type;
    int32_t components_2d, components_3d;
    const char *unit, *help;
    bool heat;       /* only in scenes with heat */
    bool projection; /* only in scenes with pressure: projection */
} firn_attribute;

/* By number from 0; NULL past the end. Static storage. */
FIRN_API const firn_attribute *firn_attribute_get(int32_t index);
FIRN_API const firn_attribute *firn_grid_attribute_get(int32_t index);

/* The looks of materials in pictures, for scenes to name: by number from 0; NULL past the end. */
FIRN_API const char *firn_look_name(int32_t index);
FIRN_API const char *firn_look_help(int32_t index);

/* ---- jobs ---- */

/* A scene with its simulation: filled, with emitters, sinks and the domain at work. */
typedef struct firn_job firn_job;

/* Make one with firn_job_options_default. */
typedef struct firn_job_options {
    int32_t threads; /* 0: all */
    const char *isa; /* NULL: the best */
    firn_log log;    /* zero: silent */
    firn_step_hook *step_hook;
    void *step_user_data;
} firn_job_options;
FIRN_API firn_job_options firn_job_options_default(void);

/* Creates the simulation, without particles. The scene must outlive the job. */
FIRN_API FIRN_MUST_CHECK firn_status firn_job_create(const firn_scene *scene,
                                                     const firn_job_options *options,
                                                     firn_job **job, firn_error *error);
FIRN_API void firn_job_destroy(firn_job *job); /* NULL is fine */

/* Fills all objects with particles, except emitters that start later. Once, before the first advance. */
FIRN_API FIRN_MUST_CHECK firn_status firn_job_fill(firn_job *job, firn_error *error);

/* Advances to a later time (s), with emitters on the way and sinks at its end. `report`, which may be NULL,
 * sums up the parts. */
FIRN_API FIRN_MUST_CHECK firn_status firn_job_advance(firn_job *job, double time,
                                                      firn_report *report, firn_error *error);

/* The simulation, which stays the job's: look at it and drive it as any other. Materials that you add
 * have J and Jp of 1 in points. Where emitters cut an advance into parts, forces on colliders are those
 * of the last part. */
FIRN_API firn_sim *firn_job_sim(const firn_job *job);

/* How many particles there will be at a later time: emitters counted, sinks not. */
FIRN_API int64_t firn_job_count_at(const firn_job *job, double time);

/* The particles in id order, as columns: the attributes named (a list that ends with NULL; NULL: all),
 * at most `most` particles. */
FIRN_API FIRN_MUST_CHECK firn_status firn_job_points(const firn_job *job,
                                                     const char *const *attributes, int64_t most,
                                                     firn_points *out, firn_error *error);
/* The grid of the present particles: a point for every node with mass, in key order. */
FIRN_API FIRN_MUST_CHECK firn_status firn_job_grid(const firn_job *job,
                                                   const char *const *attributes, firn_points *out,
                                                   firn_error *error);

/* Saves the state of the simulation and of its emitters as a checkpoint; loads one into a job that was
 * just created from the same scene. *frame, unless NULL, receives the number it was saved with. */
FIRN_API FIRN_MUST_CHECK firn_status firn_job_save(const firn_job *job, int64_t frame,
                                                   const char *path, firn_error *error);
FIRN_API FIRN_MUST_CHECK firn_status firn_job_load(firn_job *job, const char *path, int64_t *frame,
                                                   firn_error *error);

/* ---- runs ---- */

/* What a frame took and holds. */
typedef struct firn_run_frame {
    int64_t frame, first, last;
    int64_t particles;
    firn_report report;  /* of the frame; all zero for the first */
    double dt;           /* s, mean of its steps: the last is what was left of the frame */
    double seconds;      /* of wall clock */
    double heat_seconds; /* of those, spent on heat */
    bool has_hash;
    firn_hash hash;
    int64_t files; /* handed to the writer */
} firn_run_frame;

/* How a run reports to its caller, on the caller's thread; each may be NULL. */
typedef struct firn_run_hooks {
    void *user_data;
    void (*note)(void *user_data, const char *text);
    void (*frame)(void *user_data, const firn_run_frame *frame);
    void (*step)(void *user_data, int64_t frame, const firn_report *report);
    /* Returns whether to stop; asked between steps. */
    bool (*stop)(void *user_data);
    /* Sees every frame that is written; a failure ends the run. */
    firn_status (*look)(void *look_data, const firn_job *job, int64_t frame, firn_error *error);
    void *look_data;
} firn_run_hooks;

/* Make one with firn_run_options_default. */
typedef struct firn_run_options {
    int32_t threads; /* 0: all */
    const char *isa; /* NULL: the best */
    int64_t first,
        last;    /* frames to write, of the scene's; a run starts at the first all the same */
    bool resume; /* go on from the newest checkpoint */
    bool hash;   /* hash the state at every frame */
} firn_run_options;
FIRN_API firn_run_options firn_run_options_default(const firn_scene *scene); /* all frames */

/* Simulates a scene frame by frame and writes its outputs, statistics and checkpoints. All outputs are
 * checked before the first step. FIRN_STOPPED: a hook asked to stop, and a run can resume from there.
 * `hooks` may be NULL. */
FIRN_API FIRN_MUST_CHECK firn_status firn_run(const firn_scene *scene,
                                              const firn_run_options *options,
                                              const firn_run_hooks *hooks, firn_error *error);

/* Checks all that can be known without filling: outputs, the simulation's parameters, input files. */
FIRN_API FIRN_MUST_CHECK firn_status firn_run_check(const firn_scene *scene,
                                                    const firn_run_options *options,
                                                    firn_error *error);

/* What a run would take, from filling and a few steps. If the objects alone would not fit into memory,
 * nothing is tried: cells, disk, dt, steps and seconds are 0. */
typedef struct firn_plan {
    int64_t particles, frames, cells;
    int64_t particles_end;        /* with what is emitted, without what sinks take */
    double memory;                /* bytes */
    double memory_most;           /* bytes available */
    double disk_least, disk_most; /* bytes */
    double dt;                    /* s, of a first step */
    double steps;                 /* over all frames, if dt stayed */
    double stiffening;            /* how many times that, if all snow packed as far as it can */
    double seconds;               /* at the speed of the steps tried */
    /* What they will be between; time on a machine that has nothing else to do, to one that stays as busy as
     * it was. */
    double steps_least, steps_most, seconds_least, seconds_most;
    /* What auto has chosen, and what limits steps at the start; NULL where nothing was tried. */
    const char *transfer, *integrator, *pressure, *isa, *limit;
} firn_plan;
FIRN_API FIRN_MUST_CHECK firn_status firn_run_plan(const firn_scene *scene,
                                                   const firn_run_options *options,
                                                   const firn_run_hooks *hooks, firn_plan *plan,
                                                   firn_error *error);

/* The columns of a statistics file, separated by commas. Static storage. */
FIRN_API const char *firn_statistics_columns(void);

/* The path of a frame: $F4 in `pattern` becomes the number in four digits or more, $F the bare number.
 * Free it with free; NULL: no memory. */
FIRN_API char *firn_frame_path(const char *pattern, int64_t frame);

/* An amount of memory or disk, as "12.3 MB", in `text`, which is returned. */
FIRN_API const char *firn_amount(double bytes, char text[32]);

#ifdef __cplusplus
}
#endif
#endif
