/* The simulation: create a world, add particles, advance it, look at it. firn/host.h changes a world
 * between advances.
 *
 * A sim belongs to one thread at a time; different sims are independent. All quantities are SI.
 * In 2D the third of three fixed components ([3]) is ignored on input and zero on output; arrays over
 * particles have two numbers for a vector and four for a matrix. Particles then stand for one metre
 * of depth (mass in kg, volume in m2 x 1 m). A cell holds about 8 particles in 3D and 4 in 2D. */
#ifndef FIRN_SIM_H
#define FIRN_SIM_H

#include <firn/base.h>
#include <firn/collider.h>
#include <firn/material.h>
#include <firn/param.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How velocities go between particles and grid: X(NAME, name, affine, flip, separates, help).
 *   affine     particles carry their velocity gradient C to the grid
 *   flip       particles keep part of the velocity that the grid does not see, by flip_ratio
 *   separates  that part moves them, too */
#define FIRN_TRANSFERS(X)                                                                          \
    X(PIC, pic, 0, 0, 0, "velocities of the grid alone: stable, damps most")                       \
    X(FLIP, flip, 0, 1, 0, "PIC/FLIP blend: flip_ratio of the difference kept per flip_interval")  \
    X(APIC, apic, 1, 0, 0, "affine: keeps angular momentum (Jiang et al. 2015)")                   \
    X(AFLIP, aflip, 1, 1, 0, "APIC with the FLIP blend (Fei et al. 2021)")                         \
    X(ASFLIP, asflip, 1, 1, 1, "AFLIP that also separates positions (Fei et al. 2021)")            \
    X(TRANSFER_AUTO, auto, 0, 0, 0, "asflip if a material obeys the law snow, else apic")
typedef enum firn_transfer { FIRN_TRANSFERS(FIRN_LIST_ENUM) FIRN_TRANSFER_COUNT } firn_transfer;

typedef struct firn_transfer_info {
    const char *name; /* NULL when there is no such transfer */
    const char *help; /* one line */
    int32_t affine, flip, separates;
} firn_transfer_info;
FIRN_API firn_transfer_info firn_transfer_get_info(firn_transfer transfer);

/* "asflip", or NULL when there is no such transfer. */
FIRN_API const char *firn_transfer_name(firn_transfer transfer);

#define FIRN_SPLINES(X)                                                                            \
    X(QUADRATIC, quadratic, "3 nodes along an axis")                                               \
    X(CUBIC, cubic, "4 nodes along an axis")
typedef enum firn_spline { FIRN_SPLINES(FIRN_LIST_ENUM) FIRN_SPLINE_COUNT } firn_spline;

#define FIRN_FORCE_FORMS(X)                                                                        \
    X(MLS, mls, "moving least squares (Hu et al. 2018)")                                           \
    X(GRADIENT, gradient, "weight gradients (Stomakhin et al. 2013)")
typedef enum firn_force_form {
    FIRN_FORCE_FORMS(FIRN_LIST_ENUM) FIRN_FORCE_FORM_COUNT
} firn_force_form;

/* AUTO takes the fused path where it serves: every transfer with quadratic splines, MLS forces and no
 * force hook, in single precision. Elsewhere it takes the plain one. */
#define FIRN_PATHS(X)                                                                              \
    X(PATH_AUTO, auto, "fused where it serves, else plain")                                        \
    X(PATH_PLAIN, plain, "serves everything")                                                      \
    X(PATH_FUSED, fused, "gathers and scatters in one pass")
typedef enum firn_path { FIRN_PATHS(FIRN_LIST_ENUM) FIRN_PATH_COUNT } firn_path;

/* How a step takes forces into account. Implicit steps solve for the velocities at their end, so
 * that stiffness does not limit them; each costs as much as ten to thirty explicit ones. AUTO takes
 * whichever looks cheaper at the start of each advance; the report says which. */
#define FIRN_INTEGRATORS(X)                                                                        \
    X(EXPLICIT, explicit, "short steps, each cheap")                                               \
    X(IMPLICIT, implicit, "long steps through stiff material")                                     \
    X(INTEGRATOR_AUTO, auto, "whichever looks cheaper")
typedef enum firn_integrator {
    FIRN_INTEGRATORS(FIRN_LIST_ENUM) FIRN_INTEGRATOR_COUNT
} firn_integrator;

/* How materials resist compression. PROJECTION makes liquids incompressible, and solids as compressible
 * as they are: a step solves for the pressure, so that sound does not limit it. */
#define FIRN_PRESSURES(X)                                                                          \
    X(PRESSURE_NONE, none, "the law of the material alone: sound limits the step")                 \
    X(PRESSURE_PROJECTION, projection, "solved for on a staggered grid: incompressible liquids")   \
    X(PRESSURE_AUTO, auto, "projection where all is liquid or melts, and nothing else forbids it")
typedef enum firn_pressure { FIRN_PRESSURES(FIRN_LIST_ENUM) FIRN_PRESSURE_COUNT } firn_pressure;

/* How steps with pressure projection take shear into account. Implicitly, neither viscosity nor stiffness
 * limits them, but nothing bounces. */
#define FIRN_SHEARS(X)                                                                             \
    X(SHEAR_AUTO, auto, "implicit for what melts and for thick liquids, explicit for the rest")    \
    X(SHEAR_EXPLICIT, explicit, "short steps through thick or stiff material, which bounces")      \
    X(SHEAR_IMPLICIT, implicit, "long steps, in which nothing bounces")
typedef enum firn_shear { FIRN_SHEARS(FIRN_LIST_ENUM) FIRN_SHEAR_COUNT } firn_shear;

/* "implicit", or NULL when there is no such integrator. */
FIRN_API const char *firn_integrator_name(firn_integrator integrator);

/* Uniform acceleration at a time; linear between keys, constant outside of them. */
typedef struct firn_acceleration_key {
    double time;            /* s */
    double acceleration[3]; /* m/s2 */
} firn_acceleration_key;

/* The nodes of one grid block, given to a force hook. Arrays have `count` entries. */
typedef struct firn_nodes {
    int32_t count;
    double time;                 /* s, at the start of the step */
    const double (*position)[3]; /* m */
    const double *mass;          /* kg; nodes without mass have 0 */
    const double (*velocity)[3]; /* m/s, before forces */
} firn_nodes;

/* Writes the force (N) on every node; `force` comes in zeroed. Called from worker threads, one
 * block per call, blocks in no particular order: it must not depend on the order. */
typedef void firn_force_hook(void *user_data, const firn_nodes *nodes, double (*force)[3]);

/* Called after every step, from the thread that called the advance, with a report of the advance so
 * far. Returning anything but 0 ends the advance there, with FIRN_STOPPED. A hook cannot use the sim,
 * which is between two states: calls return FIRN_INVALID. */
struct firn_report;
typedef int firn_step_hook(void *user_data, const struct firn_report *report);

/* Friction between two bodies, in place of the def's contact_friction. The first that
 * names a pair counts. */
typedef struct firn_contact {
    uint16_t body[2];
    double friction; /* Coulomb's coefficient, from 0 to 1e6 */
} firn_contact;

/* Heat put into the material within a shape: W per m3, from `begin` to `end`. Negative cools. */
typedef struct firn_heat_source {
    firn_collider_def shape; /* its keys move it; what it says of contact is not used */
    double power;            /* W/m3 */
    double begin, end;       /* s */
    firn_track power_keys;   /* in place of power, unless empty */
} firn_heat_source;

/* The parameters of heat, as <firn/param.h> explains them. */
#define FIRN_HEAT_PARAMS(X)                                                                        \
    X(REAL, speed, "", 1, 1e-12, 1e9,                                                              \
      "multiplies every flow of heat and every source, but not motion; 1 is real time, 100 melts " \
      "a hundred times as fast",                                                                   \
      "1 is real time", NULL)                                                                      \
    X(REAL, step, "s", 0, 0, FIRN_FINITE,                                                          \
      "time of motion between heat steps, at least a step of motion; 0: every 25 steps of motion " \
      "or 8 ms",                                                                                   \
      "0 chooses automatically", NULL)                                                             \
    X(KEYED_TEMPERATURE, ambient, "K", 293.15, 1, 1e5,                                             \
      "temperature of the air, and of objects that give none", "in kelvin: 0 C is 273.15", NULL)   \
    X(KEYED_REAL, transfer, "W/(m2 K)", 0, 0, 1e9,                                                 \
      "from the air to free surfaces: 5 to 10 in still air, 100 in wind; 0: none",                 \
      "still air has 5 to 10 W/(m2 K), wind 100", NULL)                                            \
    X(KEYED_REAL, emissivity, "", 0, 0, 1,                                                         \
      "how well free surfaces radiate to the sky: ice and rock 0.95; 0: none",                     \
      "0 is none, ice has 0.97", NULL)                                                             \
    X(KEYED_TEMPERATURE, sky, "K", 293.15, 1, 1e5, "temperature of the sky",                       \
      "in kelvin: 0 C is 273.15", NULL)                                                            \
    X(REAL, tolerance, "", 1e-4, 1e-12, 0.1,                                                       \
      "residual at which the solver stops, relative to the start", "the default is 1e-4", NULL)

/* Heat: conduction on the grid, phase change in the particles' enthalpy. Switched on, particles have
 * temperatures, and materials whose law melts (firn_law_info) melt and freeze. A dye, the
 * concentration, spreads by the same solver where a material's diffusivity is above 0. */
typedef struct firn_heat_def {
    int32_t enabled;
    FIRN_HEAT_PARAMS(FIRN_MEMBER)
    const firn_heat_source *sources;
    int32_t source_count;
} firn_heat_def;
FIRN_API const firn_param *firn_heat_param(int32_t index);

/* The parameters of a simulation, as <firn/param.h> explains them. */
#define FIRN_SIM_PARAMS(X)                                                                         \
    X(REAL, cell_size, "m", 0.01, 1e-9, 1e9, "grid cell", "give the grid spacing in metres",       \
      "grid_scale")                                                                                \
    X(KEYED_VECTOR, gravity, "m/s2", (0, -9.81, 0), 0, 0,                                          \
      "acceleration of everything; along z where z is up", "the Earth has 9.81", NULL)             \
    X(REAL, damping, "1/s", 0, 0, FIRN_FINITE, "velocities decay as exp(-damping t)", "0 is none", \
      NULL)                                                                                        \
    X(KEYED_REAL, contact_friction, "", 0.3, 0, 1e6, "between objects that separate", "0 is none", \
      NULL)                                                                                        \
    X(CHOICE(firn_transfer), transfer, "", FIRN_APIC, 0, 0, "between particles and grid",          \
      "use a firn_transfer", NULL)                                                                 \
    X(CHOICE(firn_spline), spline, "", FIRN_QUADRATIC, 0, 0, "kernel", "use a firn_spline", NULL)  \
    X(CHOICE(firn_force_form), force_form, "", FIRN_MLS, 0, 0, "how stress becomes force",         \
      "use a firn_force_form", NULL)                                                               \
    X(CHOICE(firn_path), path, "", FIRN_PATH_AUTO, 0, 0,                                           \
      "fused is fast, plain supports everything", "use a firn_path", NULL)                         \
    X(REAL, flip_ratio, "", 0.95, 0, 1, "part of the FLIP difference kept per interval",           \
      "0 is PIC, 1 keeps everything", "flip")                                                      \
    X(REAL, flip_interval, "s", 1e-3, FIRN_ABOVE_0, FIRN_FINITE, "interval of flip_ratio",         \
      "the default is 0.001 s", NULL)                                                              \
    X(REAL, dt, "s", 0, 0, FIRN_FINITE,                                                            \
      "fixed step, less only at a frame's end or where a particle would cross a cell; 0: "         \
      "automatic",                                                                                 \
      "0 chooses automatically", "time_step")                                                      \
    X(REAL, dt_max, "s", 1e-2, FIRN_ABOVE_0, FIRN_FINITE, "largest automatic step",                \
      "the default is 0.01 s", NULL)                                                               \
    X(REAL, dt_min, "s", 1e-9, FIRN_ABOVE_0, FIRN_FINITE, "a step below this is given up",         \
      "the default is 1e-9 s", NULL)                                                               \
    X(REAL, courant, "", 0.5, 1e-6, 0.9, "part of a cell a particle may cross in a step",          \
      "the default is 0.5", NULL)                                                                  \
    X(REAL, wave_factor, "", 0.6, 1e-6, 1, "part of a cell sound may cross in a step",             \
      "the default is 0.6", NULL)                                                                  \
    X(CHOICE(firn_integrator), integrator, "", FIRN_EXPLICIT, 0, 0,                                \
      "implicit takes long steps, which pays for stiff material whose explicit steps are below "   \
      "2e-4 s; auto takes the cheaper",                                                            \
      "use a firn_integrator", NULL)                                                               \
    X(CHOICE(firn_pressure), pressure, "", FIRN_PRESSURE_NONE, 0, 0,                               \
      "projection takes long steps through incompressible liquids and what melts to them",         \
      "use a firn_pressure", NULL)                                                                 \
    X(CHOICE(firn_shear), shear, "", FIRN_SHEAR_AUTO, 0, 0,                                        \
      "with pressure projection: implicit lets neither viscosity nor stiffness limit the step",    \
      "use a firn_shear", NULL)                                                                    \
    X(REAL, crossing, "", 2, 1e-6, 4,                                                              \
      "cells a particle may cross in a step with pressure projection, in place of courant",        \
      "the default is 2", NULL)                                                                    \
    X(REAL, dt_implicit, "s", 4e-3, FIRN_ABOVE_0, FIRN_FINITE, "largest automatic implicit step",  \
      "the default is 0.004 s", NULL)                                                              \
    X(REAL, theta, "", 0.55, 0.5, 1,                                                               \
      "time within an implicit step at which forces act: 0.5 conserves energy and may ring, 1 "    \
      "damps most",                                                                                \
      "the default is 0.55", NULL)                                                                 \
    X(REAL, beta, "", 0, 0, 1,                                                                     \
      "above 0: implicit steps as in Stomakhin et al. 2013, which damp more, instead of theta; 1 " \
      "is backward Euler",                                                                         \
      "0 is the theta step, 1 backward Euler", NULL)                                               \
    X(REAL, solver_tolerance, "", 5e-3, 1e-12, 0.1,                                                \
      "residual of an implicit step, relative to its forces", "the default is 5e-3", NULL)         \
    X(WHOLE, solver_iterations, "", 200, 1, 1e9,                                                   \
      "a step whose solver needs more is repeated at half its length", "the default is 200", NULL)

/* Make one with firn_sim_def_default. Everything pointed to is copied by firn_sim_create. */
typedef struct firn_sim_def {
    int32_t dimension; /* 2 or 3 */
    FIRN_SIM_PARAMS(FIRN_MEMBER)
    firn_heat_def heat;

    const firn_material_def *materials; /* particles name them by index */
    const firn_collider_def *colliders;
    int32_t material_count, collider_count;

    const firn_acceleration_key *forces; /* added to gravity */
    int32_t force_count;
    firn_force_hook *force_hook; /* may be NULL */
    void *force_user_data;
    firn_step_hook *step_hook; /* may be NULL */
    void *step_user_data;

    /* Particles of one body share a velocity field: they stick together where they touch. Different
     * bodies push and rub, and part again. In 3D, bodies take reach: 2^20 cells are left. At most 127 bodies
     * other than 0 can be near each other; any beyond that stick to some. */
    const uint16_t *object_bodies; /* of objects 0, 1, ...: a body; of others: 0 */
    const firn_contact *contacts;  /* pairs that contact_friction is not for */
    int32_t object_count, contact_count;

    int32_t threads;      /* 0: all that the machine offers; with tasks: workers per loop */
    firn_task_hook tasks; /* zero: the engine's own threads */
    const char *isa;      /* NULL: the best this machine runs; else "scalar", "sse2", "avx2", ... */

    firn_log log;             /* zero: silent */
    firn_allocator allocator; /* zero: firn_allocator_default */
    uint32_t stamp;           /* set by the default function */
} firn_sim_def;
FIRN_API const firn_param *firn_sim_param(int32_t index);

/* 3D, no material, no heat, one body, all threads; parameters have the defaults of the lists. */
FIRN_API firn_sim_def firn_sim_def_default(void);

typedef struct firn_sim firn_sim;

/* Checks the whole def, then creates an empty world at time 0. On failure *sim is NULL. */
FIRN_API FIRN_MUST_CHECK firn_status firn_sim_create(const firn_sim_def *def, firn_sim **sim,
                                                     firn_error *error);
FIRN_API void firn_sim_destroy(firn_sim *sim); /* NULL is fine */

/* ---- particles ---- */

/* The particle fields: name, components in 3D, unit. src/data/field.h says how each is stored. */
typedef enum firn_field {
    FIRN_POSITION,             /* 3, m */
    FIRN_VELOCITY,             /* 3, m/s */
    FIRN_DEFORMATION_GRADIENT, /* 9, row-major; 4 in 2D */
    FIRN_VELOCITY_GRADIENT,    /* 9, 1/s, row-major: APIC's C; 4 in 2D */
    FIRN_MASS,                 /* 1, kg */
    FIRN_VOLUME,               /* 1, m3 at rest */
    FIRN_STATE,                /* 1, a scalar of the law's own */
    FIRN_MATERIAL,             /* 1, index into the def's materials */
    FIRN_OBJECT,               /* 1, the caller's tag, 0..65535 */
    FIRN_ID,                   /* 1, unique, given by the sim in order of adding, never reused */
    /* Only where the sim has heat: */
    FIRN_ENTHALPY,               /* 1, J/kg, 0 in solid at its melting point */
    FIRN_TEMPERATURE_GRADIENT,   /* 3, K/m */
    FIRN_CONCENTRATION,          /* 1, of the dye */
    FIRN_CONCENTRATION_GRADIENT, /* 3, 1/m */
    FIRN_FIELD_COUNT
} firn_field;

typedef struct firn_field_info {
    const char *name; /* snake_case */
    const char *unit;
    int32_t components_2d, components_3d;
    int32_t heat;     /* not 0: only where the sim has heat */
    int32_t writable; /* not 0: firn_sim_write takes it */
} firn_field_info;

FIRN_API firn_field_info firn_field_get_info(firn_field field);

/* Particles to add. position is required; a NULL array means the value in brackets for all. */
typedef struct firn_particles {
    int64_t count;
    const double *position; /* count x dimension, m */
    const double *velocity; /* count x dimension [0], m/s */
    const double
        *deformation_gradient; /* count x dimension^2 [identity; what melts: without stress] */
    const double *velocity_gradient; /* count x dimension^2 [0], 1/s */
    const double *volume;      /* count, m3; NULL: `each_volume`. At rest; of what melts, where no
                             deformation_gradient is given, as it is now */
    const double *state;       /* count [0]: the law's scalar, see firn_law_state */
    const double *temperature; /* count, K, above 0 [the def's heat.ambient]; of this... */
    const double *enthalpy;    /* count, J/kg: ... and this only one; only where the sim has heat */
    const double *concentration; /* count [0] */
    const double *mass;       /* count, kg; NULL: density x volume, of what has melted the melt's */
    const uint16_t *material; /* count; NULL: `each_material` */
    const uint16_t *object;   /* count; NULL: `each_object` */
    double each_volume;       /* m3, > 0 */
    uint16_t each_material, each_object;
    uint32_t stamp; /* set by the default function */
} firn_particles;

/* No particles; volume unset, so that forgetting it is an error. */
FIRN_API firn_particles firn_particles_default(void);

/* Adds all or none. *first_id, when not NULL, receives the id of the first; the rest follow on. */
FIRN_API FIRN_MUST_CHECK firn_status firn_sim_add(firn_sim *sim, const firn_particles *particles,
                                                  uint64_t *first_id, firn_error *error);

/* The same for many batches, all or none, in the time of one: each call sorts all particles of the sim, so
 * add a thousand bodies by one call. first_id, when not NULL, receives an id for each batch; *refused, when not
 * NULL, the number of the batch that is at fault, or -1. */
FIRN_API FIRN_MUST_CHECK firn_status firn_sim_add_batches(firn_sim *sim,
                                                          const firn_particles *batch,
                                                          int64_t batches, uint64_t *first_id,
                                                          int64_t *refused, firn_error *error);

/* Removes the particles for which `keep` returns 0; *removed may be NULL. */
typedef int firn_keep_function(void *user_data, uint64_t id, const double position[3],
                               uint16_t material, uint16_t object);
FIRN_API FIRN_MUST_CHECK firn_status firn_sim_remove(firn_sim *sim, firn_keep_function *keep,
                                                     void *user_data, int64_t *removed,
                                                     firn_error *error);

/* Gives every particle the rest volume that its mass has at the density of the grid around it
 * (Stomakhin et al. 2013, step 2), in place of the one it was added with: for particles whose volumes
 * are not known. Within a cell of a surface the grid also contains empty space, and volumes come out
 * too large. */
FIRN_API FIRN_MUST_CHECK firn_status firn_sim_estimate_volumes(firn_sim *sim, firn_error *error);

/* Gives `count` particles, with ids from first_id on, the velocity gradient that the velocities around them have:
 * for particles that were added with velocities and without gradients. Affine transfers keep part of a
 * motion in the gradients, and a turning body that starts without them loses speed in its first step.
 * Other transfers have no use for it, and nothing happens. */
FIRN_API FIRN_MUST_CHECK firn_status firn_sim_estimate_gradients(firn_sim *sim, uint64_t first_id,
                                                                 int64_t count, firn_error *error);

FIRN_API int64_t firn_sim_count(const firn_sim *sim);

/* Copies `count` particles of a field in id order, from the first-th on, as doubles (ids and tags
 * too: exact up to 2^53). `out` holds count x components. */
FIRN_API FIRN_MUST_CHECK firn_status firn_sim_read(const firn_sim *sim, firn_field field,
                                                   int64_t first, int64_t count, double *out,
                                                   firn_error *error);

/* The same as floats, in id order or as they lie in memory (the order of firn_sim_view and
 * firn_sim_positions). */
typedef enum firn_order { FIRN_ORDER_ID, FIRN_ORDER_STORAGE, FIRN_ORDER_COUNT } firn_order;
FIRN_API FIRN_MUST_CHECK firn_status firn_sim_read_float(const firn_sim *sim, firn_field field,
                                                         firn_order order, int64_t first,
                                                         int64_t count, float *out,
                                                         firn_error *error);

/* Cauchy stress of `count` particles in id order, from the first-th on, Pa, computed when asked:
 * count x dimension^2, row-major; tension is positive. */
FIRN_API FIRN_MUST_CHECK firn_status firn_sim_read_stress(const firn_sim *sim, int64_t first,
                                                          int64_t count, double *out,
                                                          firn_error *error);

/* Pressure of every particle in id order, Pa: minus the mean normal Cauchy stress, computed when
 * asked. With pressure projection it is 0 in what has melted. `out` holds as many doubles as there are
 * particles. */
FIRN_API FIRN_MUST_CHECK firn_status firn_sim_read_pressure(const firn_sim *sim, double *out,
                                                            firn_error *error);

/* Temperature (K) and liquid part (0 to 1) of every particle in id order, where the sim has heat; either
 * may be NULL. */
FIRN_API FIRN_MUST_CHECK firn_status firn_sim_read_heat(const firn_sim *sim, double *temperature,
                                                        double *liquid, firn_error *error);

/* A field as it lies in memory, in storage order, which is not id order: for code that cannot
 * afford a copy. Const, and valid until the next call that changes the sim; `generation` changes
 * then. Positions and deformation gradients are stored in other forms and have no raw view: use
 * firn_sim_read, or firn_sim_positions. */
typedef struct firn_view {
    const void *data; /* NULL when the field has no raw view */
    size_t stride;    /* bytes between particles */
    int64_t count;
    int32_t components;
    int32_t bytes;       /* per component; material, object and id are unsigned integers, the others
                            are floating point */
    uint64_t generation; /* of the sim's state */
} firn_view;
FIRN_API firn_view firn_sim_view(const firn_sim *sim, firn_field field);

/* Positions in storage order (that of the views), count x 3 doubles, z = 0 in 2D. */
FIRN_API void firn_sim_positions(const firn_sim *sim, double (*out)[3]);

/* ---- time ---- */

/* What can limit a time step. */
#define FIRN_LIMITS(X)                                                                             \
    X(LIMIT_NONE, none, "no step was taken")                                                       \
    X(LIMIT_FIXED, fixed, "the def's dt")                                                          \
    X(LIMIT_MAXIMUM, dt_max, "the def's dt_max")                                                   \
    X(LIMIT_GROWTH, growth, "at most 1.1 times the step before; implicit: 1.25; projection: 2")    \
    X(LIMIT_FRAME, frame, "the time asked for ends here")                                          \
    X(LIMIT_VELOCITY, velocity, "courant: |v| + h |C|; implicit: |v|; projection: crossing, |v|")  \
    X(LIMIT_STRAIN, strain, "velocity gradient: 0.2 / max |L|; implicit: 0.5")                     \
    X(LIMIT_WAVE, wave, "sound: wave_factor h / c")                                                \
    X(LIMIT_PARTICLE, particle, "a lone particle on its own kernel")                               \
    X(LIMIT_VISCOSITY, viscosity, "h^2 / (4 d viscosity / density)")                               \
    X(LIMIT_COLLIDER, collider, "collider surface speed")                                          \
    X(LIMIT_FORCE, force, "velocities after forces broke the courant limit")                       \
    X(LIMIT_FINITE, finite, "a non-finite number")                                                 \
    X(LIMIT_RETRY, retry, "kept small after a rolled-back step")                                   \
    X(LIMIT_SOLVER, solver, "the solver of a step did not converge with more")                     \
    X(LIMIT_IMPACT, impact, "in an implicit step nodes close in on each other too fast")           \
    X(LIMIT_IMPLICIT, dt_implicit, "the def's dt_implicit")                                        \
    X(LIMIT_SURFACE, surface, "surface tension: sqrt(density h^3 / (2 pi surface_tension))")
typedef enum firn_limit { FIRN_LIMITS(FIRN_LIST_ENUM) FIRN_LIMIT_COUNT } firn_limit;

/* "wave", or NULL when there is no such limit. */
FIRN_API const char *firn_limit_name(firn_limit limit);

/* Where the time of an advance goes. */
#define FIRN_PHASE_LIST(X)                                                                         \
    X(PHASE_DIRECTORY, directory, "which blocks of the grid there are")                            \
    X(PHASE_PARTICLES, particles, "gathering, laws and scattering")                                \
    X(PHASE_GRID, grid, "forces and colliders on nodes")                                           \
    X(PHASE_REORDER, reorder, "sorting particles in memory")                                       \
    X(PHASE_SOLVE, solve, "the solver of implicit steps")                                          \
    X(PHASE_HEAT, heat, "conduction, of dye too")
enum { FIRN_PHASE_LIST(FIRN_LIST_ENUM) FIRN_PHASES };

/* "directory", or NULL when there is no such phase. */
FIRN_API const char *firn_phase_name(int phase);

/* A report of an advance, filled if the caller passes one. */
typedef struct firn_report {
    double time;                /* s, of the state now */
    int64_t steps;              /* taken */
    int64_t retries;            /* steps rolled back and taken again */
    double dt;                  /* s, of the last step */
    double dt_least;            /* s, the smallest of this advance */
    double dt_next;             /* s, proposed for the next step */
    firn_limit limit;           /* of the last step's dt */
    double max_speed;           /* m/s, largest nodal speed of the last step */
    int64_t blocks;             /* grid blocks alive */
    firn_integrator integrator; /* EXPLICIT or IMPLICIT: of the last step */
    int64_t iterations;         /* of the solver, in all steps */
    double residual;            /* largest at which it stopped, over the forces of the step */
    double divergence;          /* projection: largest left in a cell, times dt, of all steps */
    int64_t heat_steps;         /* solves of conduction, of dye too */
    int64_t heat_iterations;    /* of their solver, in all of them */
    double phase_seconds[FIRN_PHASES];
} firn_report;

/* Advances by exactly `seconds` (> 0) in as many steps as it takes. */
FIRN_API FIRN_MUST_CHECK firn_status firn_sim_advance(firn_sim *sim, double seconds,
                                                      firn_report *report, firn_error *error);

/* Advances by one step of the sim's own choice of dt. */
FIRN_API FIRN_MUST_CHECK firn_status firn_sim_step(firn_sim *sim, firn_report *report,
                                                   firn_error *error);
/* The same, by at most `seconds` (> 0). */
FIRN_API FIRN_MUST_CHECK firn_status firn_sim_step_within(firn_sim *sim, double seconds,
                                                          firn_report *report, firn_error *error);

FIRN_API double firn_sim_time(const firn_sim *sim);

/* Sums over all particles, computed when asked. Angular momentum includes what APIC stores in C. */
typedef struct firn_totals {
    double mass;                             /* kg */
    double momentum[3];                      /* kg m/s */
    double angular_momentum[3];              /* kg m2/s, about the origin; 2D: only z */
    double kinetic;                          /* J, C included */
    double elastic;                          /* J */
    double gravitational;                    /* J, zero at the origin's height */
    double max_speed;                        /* m/s, of a particle */
    double min_J, max_J;                     /* range of the volume over that at rest */
    double heat;                             /* J: mass x enthalpy */
    double liquid;                           /* kg: mass x liquid part */
    double min_temperature, max_temperature; /* K; 0 where there is no heat */
    int64_t outside;                         /* particles inside a collider */
} firn_totals;
FIRN_API FIRN_MUST_CHECK firn_status firn_sim_measure(firn_sim *sim, firn_totals *totals,
                                                      firn_error *error);

/* What a cell of a projected step is (pressure = FIRN_PRESSURE_PROJECTION). */
typedef enum firn_cell_class {
    FIRN_CELL_EMPTY,    /* air, or so few particles that they fly free */
    FIRN_CELL_INTERIOR, /* it has a pressure */
    FIRN_CELL_COLLIDER  /* colliders close all of its faces */
} firn_cell_class;

/* A node of the current particles' grid, which the call computes: only nodes with mass. */
typedef struct firn_grid_node {
    int32_t index[3]; /* node coordinates: position = index x cell_size */
    double mass;      /* kg */
    double velocity[3];
    double force[3]; /* N, internal */
    firn_cell_class
        cell_class; /* of the cell from this node to the next along each axis, as a step from
                                   here would have it; without projection FIRN_CELL_EMPTY */
} firn_grid_node;
/* Calls visit for every node with mass, in key order; where bodies meet, once for each. */
typedef void firn_node_visitor(void *user_data, const firn_grid_node *node);
FIRN_API FIRN_MUST_CHECK firn_status firn_sim_visit_grid(firn_sim *sim, firn_node_visitor *visit,
                                                         void *user_data, firn_error *error);

/* 128-bit hash of the state (fields in id order, time, next dt, highest density of each body): equal
 * states have equal hashes. */
typedef struct firn_hash {
    uint64_t word[2];
} firn_hash;
FIRN_API FIRN_MUST_CHECK firn_status firn_sim_hash(firn_sim *sim, firn_hash *hash,
                                                   firn_error *error);

/* The state as bytes, in pieces: particles, their order, time, next dt, how dense each
 * body has been. A sim made with the same
 * dimension, cell size and spline that loads them goes on with the same bits, at any thread count
 * and on the same instruction set; materials, colliders and forces come from its own def, but for what
 * firn/host.h says of gravity and colliders that it changed. The
 * functions return 0 when all bytes were taken or given. Not for exchange between machines. */
typedef int firn_write_function(void *user_data, const void *data, size_t size);
typedef int firn_read_function(void *user_data, void *data, size_t size);
FIRN_API FIRN_MUST_CHECK firn_status firn_sim_save(const firn_sim *sim, firn_write_function *write,
                                                   void *user_data, firn_error *error);
/* Loads into a sim that was just created. Refuses bytes that another version saved. */
FIRN_API FIRN_MUST_CHECK firn_status firn_sim_load(firn_sim *sim, firn_read_function *read,
                                                   void *user_data, firn_error *error);

/* The path, pressure, instruction set and threads that this sim uses. */
typedef struct firn_sim_info {
    const char *isa;
    int32_t lanes;
    int32_t threads;
    firn_path path;         /* FIRN_PATH_PLAIN or FIRN_PATH_FUSED */
    firn_pressure pressure; /* FIRN_PRESSURE_NONE or FIRN_PRESSURE_PROJECTION */
    int32_t real_bytes;     /* 4, or 8 in the double build */
} firn_sim_info;
FIRN_API firn_sim_info firn_sim_get_info(const firn_sim *sim);

/* The instruction sets this binary holds and this machine runs, best first; NULL past the end. */
FIRN_API const char *firn_isa_name(int32_t index);

#ifdef __cplusplus
}
#endif
#endif
