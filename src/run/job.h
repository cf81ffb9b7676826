/* Jobs inside the library: a scene with its sim, filled; emitters, sinks and the domain at work; the
 * columns that files take from it; checkpoints. */
#ifndef FIRN_JOB_INTERNAL_H
#define FIRN_JOB_INTERNAL_H

#include "io/io.h"
#include "run/prop.h"
#include "run/source.h"
#include "run/stream.h"
#include "run/variant.h"
#include "scene/scene.h"

/* How far an emitter is. */
typedef struct firn_emission {
    int64_t emitted; /* particles */
    int64_t layer;   /* of its stream, under way; 0: `begin` is the scene's start */
    int64_t within;  /* particles of that which have entered */
    double begin;    /* s, when the layer began */
    double given;    /* m3, by the layers before */
} firn_emission;

/* What filling did with one object. */
typedef struct firn_job_object {
    int64_t particles, dropped; /* dropped: where an earlier object is */
    int64_t inside, outside; /* inside: of the collider that holds most; outside: of the domain */
    int32_t collider;        /* that one */
    bool put_out;            /* it moves, so what is inside starts outside */
    bool coarse;             /* some of its particles are larger than a cell */
    bool turning;            /* its particles came with velocities that differ, and no gradients */
    firn_emission emission, before; /* before what is being added */
    firn_stream stream;             /* of an emitter; without particles while its mesh is hidden */
    double opened;                  /* s, the time that the stream's mesh is of */
    /* What a particle file brought beyond the engine's attributes. The row of a particle is its id
     * less first_id: particle files are added once, in one piece. */
    firn_points carried;
    uint64_t first_id;
} firn_job_object;

struct firn_job {
    const firn_scene *scene;
    firn_sim *sim;
    firn_log log;
    firn_variants variants; /* the sim's materials */
    firn_props props;       /* meshes of its colliders */
    firn_job_object *object;
    bool filled;
    firn_sources sources; /* open from when they are needed first until the last time */
    double expected;      /* particles of all objects, once sources were opened */
};

/* firn_job_create and firn_job_destroy in memory of the caller's. */
firn_status firn_job_init(firn_job *job, const firn_scene *scene, const firn_job_options *options,
                          firn_error *error);
void firn_job_deinit(firn_job *job);
/* Whether what is expected fits into memory; if not, it is not filled. */
bool firn_job_fits(const firn_job *job);
/* One step of the sim, up to the target at most, or to what the scene does next, if that is nearer. */
firn_status firn_job_step(firn_job *job, double target, firn_report *report, firn_error *error);
/* Fills the shapes of emitters, to have something to measure. */
firn_status firn_job_try_emitters(firn_job *job, firn_error *error);

/* Particles of objects that are added together: each call of the sim sorts all that it has, which thousands
 * of small objects would have it do as often. Zero: empty. */
typedef struct firn_filled firn_filled;
typedef struct firn_queue {
    firn_filled *filled;
    int64_t count, room, particles;
} firn_queue;

/* Puts particles of an object, which have velocities, into the queue. Once there, they are the queue's. */
firn_status firn_queue_put(firn_job *job, firn_queue *queue, int32_t index, firn_batch *b,
                           firn_error *error);
/* Adds all of them, or none; the queue is empty then. */
firn_status firn_queue_add(firn_job *job, firn_queue *queue, firn_error *error);
void firn_queue_free(firn_queue *queue);

/* Adds to the velocities of particles that of the object, which turns about a point. */
firn_status firn_job_velocities(const firn_scene_object *o, int dim, const double center[3],
                                firn_batch *b, firn_error *error);

/* Whether particles have a material's parameter in their masses or enthalpies, which a change of the scene
 * leaves as they are. */
bool firn_job_is_in_particles(const firn_param *parameter);

/* A collider as the sim takes it, but for a mesh; its keys are the scene's. */
firn_collider_def firn_job_collider(const firn_scene_collider *collider);

/* ---- emit.c ---- */

/* Opens their streams, as far as their emissions are. */
firn_status firn_emitters_open(firn_job *job, firn_error *error);
/* When the job has to stop for an emitter; INFINITY: never again. */
double firn_emitters_next(const firn_job *job, int32_t index);
/* Adds what has entered by a time: of emitters for which the job has stopped, or of all. */
firn_status firn_emitters_emit(firn_job *job, double time, bool all, firn_error *error);

/* ---- attributes.c ---- */

/* That of a scene, or of any where it is NULL; NULL: none. */
const firn_attribute *firn_attribute_find(const firn_scene *scene, const char *name);

double firn_determinant(const double *F, int dim); /* row-major */

/* Whether all names of an output's list are attributes of this job, or of its grid: those above, and,
 * once it is filled, what particle files brought along. */
firn_status firn_attributes_check(const firn_job *job, const firn_scene_output *output,
                                  firn_error *error);
/* ---- checkpoint.c ---- */

/* The state as the bytes of a file, all but the sum at its end. */
firn_status firn_checkpoint_make(const firn_job *job, int64_t frame, firn_bytes *out,
                                 firn_error *error);
/* Writes them as FOLDER/NAME.000012.ckpt of that frame, with their sum; deletes older ones beyond
 * `keep`, and those of later frames. */
firn_status firn_checkpoint_store(const firn_scene *scene, const char *folder, int64_t frame,
                                  const firn_bytes *bytes, firn_error *error);

/* A state on disk, checked: whole, of this version, undamaged. */
typedef struct firn_checkpoint {
    firn_bytes bytes;
    size_t state; /* where the sim's state begins */
    int64_t frame;
    char isa[16];
    uint64_t variants;       /* firn_variants_sum */
    const char *scene;       /* the scene it was made with, as lines of path: value */
    firn_job_object *object; /* emission, carried and first_id alone */
    int32_t object_count;
} firn_checkpoint;

/* The newest good one in the folder up to frame `last`; frame is INT64_MIN in *out when there is
 * none. Damaged ones are passed over and named in `notes`. */
firn_status firn_checkpoint_find(const char *folder, const char *name, int64_t last,
                                 firn_checkpoint *out, char *notes, size_t notes_size,
                                 firn_error *error);
firn_status firn_checkpoint_read(const char *path, firn_checkpoint *out, firn_error *error);
/* From bytes, which it takes over, whatever happens; `name` is what messages call them. */
firn_status firn_checkpoint_parse(const char *name, firn_bytes *bytes, firn_checkpoint *out,
                                  firn_error *error);
/* Into a job that was just created, which takes over what is carried. */
firn_status firn_checkpoint_load(firn_checkpoint *checkpoint, firn_job *job, firn_error *error);
void firn_checkpoint_free(firn_checkpoint *checkpoint);
/* Bytes that a checkpoint of this job takes once it has so many particles. */
firn_status firn_checkpoint_size(const firn_job *job, int64_t particles, double *bytes,
                                 firn_error *error);
/* Bytes of those there are under that name. */
double firn_checkpoint_bytes(const char *folder, const char *name);
/* What the last 8 bytes of a checkpoint must be. */
uint64_t firn_checkpoint_sum(const void *data, size_t size);

#endif
