/* For the authors of cases: small worlds to build, run and look at, and checks to make.
 *
 * A world is a sim with what a case wants to know of it. After a failure, which its run keeps, every
 * call does nothing and there are no particles, so a case needs no error handling of its own: what
 * it computes from nothing is not a number, and such checks do not hold. */
#ifndef FIRN_WORLD_H
#define FIRN_WORLD_H

#include "validation/cases.h"

#define FIRN_PI 3.14159265358979323846

/* ---- checks ---- */

__attribute__((format(printf, 6, 7))) void firn_check_add(firn_case_run *run, firn_bound bound,
                                                          double measured, double reference,
                                                          double tolerance, const char *quantity,
                                                          ...);
#define firn_check_near(run, measured, reference, tolerance, ...)                                  \
    firn_check_add(run, FIRN_NEAR, measured, reference, tolerance, __VA_ARGS__)
#define firn_check_at_most(run, measured, limit, ...)                                              \
    firn_check_add(run, FIRN_AT_MOST, measured, limit, 0, __VA_ARGS__)
#define firn_check_at_least(run, measured, limit, ...)                                             \
    firn_check_add(run, FIRN_AT_LEAST, measured, limit, 0, __VA_ARGS__)
/* Not judged; `why` is told. */
#define firn_check_note(run, measured, reference, not_judged, ...)                                 \
    (firn_check_add(run, FIRN_NOTE, measured, reference, 0, __VA_ARGS__),                          \
     (void)((run)->check[(run)->count - 1].why = (not_judged)))

double firn_by_precision(const firn_case_run *run, double in_double, double in_float);

/* ---- worlds ---- */

typedef struct firn_world {
    firn_case_run *run;
    firn_sim_def def;
    firn_material_def material[2];
    firn_collider_def collider[3];
    firn_sim *sim;
    int64_t count; /* particles */
    int64_t steps; /* taken */
    double *x0;    /* m, count x dimension: where particles began */
    double *x, *v; /* m, m/s: their state at the last look */
} firn_world;

/* One elastic material, no gravity, no walls, the run's path, one thread (over the few particles of
 * most cases threads mostly wait for one another). Change the def before opening. */
firn_world firn_world_make(firn_case_run *run, int32_t dimension, double cell_size,
                           firn_material_def material);
firn_material_def firn_elastic(firn_law_kind law, double density, double young, double poisson);

/* Fixes the time step: a pressure wave of the first material crosses this part of a cell in it. */
void firn_world_fix_step(firn_world *w, double part);

/* The world must stay where it is from open to close. */
void firn_world_open(firn_world *w);
void firn_world_close(firn_world *w);
bool firn_world_failed(const firn_world *w);

/* Velocity and its gradient at a place; both come in zeroed. */
typedef void firn_motion(const void *context, const double x[3], double v[3], double C[3][3]);

/* Turning about a centre while moving on: the context of firn_move_rigidly. */
typedef struct firn_rigid_motion {
    double velocity[3], center[3], spin[3];
} firn_rigid_motion;
firn_motion firn_move_rigidly;

/* The first mode of a free bar from 0 to 1 along x, at 1 cm/s. */
firn_motion firn_move_in_mode;

/* A plane through height y that lets nothing through from one side, on rollers. */
firn_collider_def firn_roller(double y, bool facing_up);

/* Particles two per cell and axis, filling a box or, given a radius, the ball in its middle. */
typedef struct firn_world_body {
    double low[3], high[3]; /* m; for a box, whole half cells apart */
    double radius;          /* m */
    double tilt;            /* rad: turned about the z axis through the origin when filled */
    firn_motion *motion;    /* NULL: at rest */
    const void *context;
    uint16_t material;
} firn_world_body;

/* Adds the particles, in order along the last axis first, and looks. */
void firn_world_add(firn_world *w, const firn_world_body *body);

void firn_world_advance(firn_world *w, double seconds);

/* Reads x and v; the first look after adding also sets x0. */
void firn_world_look(firn_world *w);

firn_totals firn_world_measure(firn_world *w);

/* Mean over the particles first <= i < end of a component of now - before (NULL: 0). */
double firn_world_mean(const firn_world *w, const double *now, const double *before, int axis,
                       int64_t first, int64_t end);

/* The volume of liquid in a box of cells, from `low` on and `side` along each axis, over that of all
 * particles, each of which has `part` of a cell: by how full cells are. Particles near the box's faces have
 * images beyond. */
double firn_world_volume(const firn_world *w, const int low[3], const int side[3], double part);

#endif
