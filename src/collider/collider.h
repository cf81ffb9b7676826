/* Colliders inside the engine: a checked copy of the defs, posed at a time, asked for distances.
 *
 * Positions are double throughout: a collider may sit kilometres away from a 1 cm grid. */
#ifndef FIRN_COLLIDER_INTERNAL_H
#define FIRN_COLLIDER_INTERNAL_H

#include "mesh/morph.h"
#include "shape/shape.h"

/* A collider at one instant. */
typedef struct firn_posed_collider {
    const firn_shape *shape;
    firn_shape_values values;
    firn_morph morph; /* of a mesh in a sim: what it collides by */
    double position[3];
    double rotation[3][3];               /* local to world */
    double turn[4];                      /* the same as a unit quaternion */
    double velocity[3];                  /* m/s, of the frame's origin */
    double spin[3];                      /* rad/s, world */
    bool runs;                           /* the surface along itself, by: */
    double run_velocity[3], run_spin[3]; /* m/s, rad/s, world */
    firn_boundary boundary;
    double friction;
    double contact_angle;         /* degrees */
    double temperature, transfer; /* K, or 0; W/(m2 K) */
} firn_posed_collider;

/* Whether material at it has all of its surface's velocity. */
static inline bool firn_boundary_holds(firn_boundary boundary)
{
    return boundary == FIRN_STICKY || boundary == FIRN_HOLD;
}

/* FIRN_OK or what is wrong with a def, by field name; `where` leads to it, as "colliders[2]". */
firn_status firn_collider_check(const firn_collider_def *def, int dimension, const char *where,
                                firn_error *error);

/* Keys, tracks, points and parents of a checked def: how many bytes they are, and the def moved onto a copy of them.
 * Returns where the copy ends. `memory` is aligned as double. */
size_t firn_collider_extra(const firn_collider_def *def);
void *firn_collider_move(firn_collider_def *def, void *memory);
/* Points the def at keys, tracks, points and parents that are in such memory already. */
void *firn_collider_attach(firn_collider_def *def, void *memory);

/* The last key at or before a time, of a def that has some; or -1. */
int32_t firn_collider_key_before(const firn_collider_def *def, double time);

/* Whether it has tracks, which need not be its pose's keys. */
bool firn_collider_is_keyed(const firn_collider_def *def);

/* Where the collider is at a checked def's time, and how fast it moves there. At a key's time the
 * velocity is that of the segment that begins there. Keys say how turns go: firn_pose_key.
 *
 * dimension 2 drops z of position and velocity and keeps of each rotation its angle about z; one
 * that turns the x-y plane's back to the viewer (a half turn about x, say) is taken as the angle
 * that brings local y to the same place, which by the shapes' symmetry is the same section (polygons
 * and compounds keep their left and right). */
FIRN_API void firn_collider_pose(const firn_collider_def *def, int dimension, double time,
                                 firn_posed_collider *posed);

/* The same for one that moves with constant velocity and spin, `elapsed` seconds on its way; one that
 * has arrived stands still. */
void firn_collider_pose_moving(const firn_collider_def *def, const firn_collider_motion *motion,
                               int dimension, double time, double elapsed, bool moving,
                               firn_posed_collider *posed);

/* One that is nowhere: at infinite distance of everything. */
void firn_collider_pose_nowhere(firn_posed_collider *posed);

/* The motion that takes a collider from where it is to a pose, in so many seconds; turns take the
 * shorter way. */
firn_collider_motion firn_motion_to(const firn_posed_collider *from, int dimension,
                                    const double position[3], const double rotation[4],
                                    double seconds);

/* Signed distance (m, negative inside) and outward unit normal at a world point. dimension 2 takes
 * a collider posed in 2D, ignores the point's z and measures to the section at z = 0. */
FIRN_API double firn_collider_distance(const firn_posed_collider *c, int dimension,
                                       const double point[3], double normal[3]);

/* The surfaces that a world point is below, or less than `slack` metres above; returns how many. A
 * negative slack asks for those that it is well below. */
int firn_collider_faces(const firn_posed_collider *c, int dimension, const double point[3],
                        double slack, firn_face face[FIRN_MAX_FACES]);

/* Velocity of the solid at a world point. */
FIRN_API void firn_collider_surface_velocity(const firn_posed_collider *c, const double point[3],
                                             double velocity[3]);

/* The velocity that the surface there has for material in contact, running along itself included. */
void firn_collider_contact_velocity(const firn_posed_collider *c, const double point[3],
                                    const double normal[3], double velocity[3]);

/* Momentum that a collider, by its index, takes from material; angular about its origin. */
typedef struct firn_impulse {
    int32_t collider;
    double linear[3];  /* N s */
    double angular[3]; /* N m s */
} firn_impulse;

/* Those that some material can meet, by rising index. */
typedef struct firn_impulses {
    firn_impulse *first;
    int32_t count;
} firn_impulses;

/* The place among all colliders of the i-th that material can meet. */
static inline int32_t firn_impulse_collider(const firn_impulses *near, int32_t i)
{
    return near ? near->first[i].collider : i;
}

/* Books momentum that collider i took from material at a world point. */
void firn_impulse_add(const firn_impulses *to, const firn_posed_collider *colliders, int32_t i,
                      const double position[3], const double momentum[3]);

/* The boundary condition: changes `velocity` of material at a point with the
 * given outward normal; the caller has found the point inside. Returns whether it changed. */
bool firn_collider_respond(const firn_posed_collider *c, const double point[3],
                           const double normal[3], double velocity[3]);

/* An upper bound of the surface speed within `reach` metres of `center`: for the time step. */
double firn_collider_speed_bound(const firn_posed_collider *c, const double center[3],
                                 double reach);

/* Applies every surface a point is below, or within `slack` metres of, in order; where there are
 * several the first may have been undone, so once more. Returns whether there was one. Only colliders
 * in `taken` count, and what `mass` loses of its momentum goes there; NULL: all count. */
bool firn_collider_respond_all(const firn_posed_collider *colliders, int32_t count, int32_t dim,
                               double slack, const double position[3], double velocity[3],
                               double mass, const firn_impulses *taken);

/* The same for a particle that is inside, or was `dt` seconds ago on another side of something thin;
 * it is also pushed out, to `slack` metres off the surface so that rounding does not leave it
 * inside. One that a collider holds is carried along instead. */
bool firn_collide_particle(const firn_posed_collider *colliders, int32_t count, int32_t dim,
                           double slack, const double before[3], double dt, double position[3],
                           double velocity[3], double mass, const firn_impulses *taken);

#endif
