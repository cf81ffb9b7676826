/* Colliders inside the engine: a checked copy of the defs, posed at a time, asked for distances.
 *
 * Positions are double throughout: a collider may sit kilometres away from a 1 cm grid. */
#ifndef FIRN_COLLIDER_INTERNAL_H
#define FIRN_COLLIDER_INTERNAL_H

#include <math.h>
#include <stdbool.h>

#include <firn/collider.h>

/* A surface that a point is at: how deep below it, m, and its outward unit normal. */
typedef struct firn_face {
    double depth, normal[3];
} firn_face;
enum { FIRN_MAX_FACES = 3 };

/* One row per shape: a file defines it, table.c lists it.
 *
 * `distance` is exact, inside and out, and writes the outward unit normal, the gradient of the
 * distance. Where several surface points are equally near (centres, axes, edges from within) it
 * takes the one the shape's file names, so the normal is finite and of unit length everywhere.
 * `faces` is for solids with inner corners, where several surfaces stop the same material: it lists
 * those that the point is below, or less than `slack` above. NULL: there is one, which `distance` tells.
 * Every shape mirrors onto itself under x -> -x and under z -> -z: posing in 2D counts on it. */
typedef struct firn_shape {
    const char *name;
    int size_count;           /* how many of size[3] it reads; all must be > 0 */
    const char *size_name[3]; /* what those mean, for messages: "radius" */
    double (*distance)(const double size[3], const double point[3], double normal[3]);
    int (*faces)(const double size[3], const double point[3], double slack,
                 firn_face face[FIRN_MAX_FACES]);
} firn_shape;
const firn_shape *firn_shape_get(firn_shape_kind kind); /* NULL past the end */

extern const firn_shape firn_shape_plane, firn_shape_box, firn_shape_sphere, firn_shape_capsule,
    firn_shape_cylinder, firn_shape_cone, firn_shape_torus, firn_shape_inside;

/* Shorter offsets have no direction of their own: their squares leave the range of double. */
#define FIRN_TINY 1e-150

/* Solids of revolution about y are flat figures in the meridian plane through the point: r >= 0
 * from the axis, towards (x, z); on the axis towards +x. The same holds in 2D, where z is 0. */
typedef struct firn_meridian {
    double r, x, z;
} firn_meridian;

static inline firn_meridian firn_meridian_of(const double point[3])
{
    double r = sqrt(point[0] * point[0] + point[2] * point[2]);
    if (!(r > FIRN_TINY)) return (firn_meridian){0, 1, 0};
    return (firn_meridian){r, point[0] / r, point[2] / r};
}

static inline void firn_meridian_normal(const firn_meridian *m, double r, double y,
                                        double normal[3])
{
    normal[0] = r * m->x;
    normal[1] = y;
    normal[2] = r * m->z;
}

/* A collider at one instant. */
typedef struct firn_posed_collider {
    const firn_shape *shape;
    double size[3];
    double position[3];
    double rotation[3][3]; /* local to world */
    double velocity[3];    /* m/s, of the frame's origin */
    double spin[3];        /* rad/s, world */
    firn_boundary boundary;
    double friction;
} firn_posed_collider;

/* FIRN_OK or what is wrong with the index-th def, by field name. */
firn_status firn_collider_check(const firn_collider_def *def, int index, firn_error *error);

/* Where the collider is at a checked def's time, and how fast it moves there. At a key's time the
 * velocity is that of the segment that begins there. Turns take the shorter way round, so a spin
 * needs keys less than half a turn apart.
 *
 * dimension 2 drops z of position and velocity and keeps of each rotation its angle about z; one
 * that turns the x-y plane's back to the viewer (a half turn about x, say) is taken as the angle
 * that brings local y to the same place, which by the shapes' symmetry is the same section. */
void firn_collider_pose(const firn_collider_def *def, int dimension, double time,
                        firn_posed_collider *posed);

/* Signed distance (m, negative inside) and outward unit normal at a world point. dimension 2 takes
 * a collider posed in 2D, ignores the point's z and measures to the section at z = 0. */
double firn_collider_distance(const firn_posed_collider *c, int dimension, const double point[3],
                              double normal[3]);

/* The surfaces that a world point is below, or less than `slack` metres above; returns how many. A
 * negative slack asks for those that it is well below. */
int firn_collider_faces(const firn_posed_collider *c, int dimension, const double point[3],
                        double slack, firn_face face[FIRN_MAX_FACES]);

/* Velocity of the surface at a world point. */
void firn_collider_surface_velocity(const firn_posed_collider *c, const double point[3],
                                    double velocity[3]);

/* The boundary condition: changes `velocity` of material at a point with the
 * given outward normal; the caller has found the point inside. Returns whether it changed. */
bool firn_collider_respond(const firn_posed_collider *c, const double point[3],
                           const double normal[3], double velocity[3]);

/* An upper bound of the surface speed within `reach` metres of `center`: for the time step. */
double firn_collider_speed_bound(const firn_posed_collider *c, const double center[3],
                                 double reach);

/* Applies every surface a point is below, or within `slack` metres of, in order; where there are
 * several the first may have been undone, so once more. Returns whether there was one. */
bool firn_collider_respond_all(const firn_posed_collider *colliders, int32_t count, int32_t dim,
                               double slack, const double position[3], double velocity[3]);

/* The same for a particle that is inside, which is also pushed out, to `slack` metres off the surface
 * so that rounding does not leave it inside. */
bool firn_collide_particle(const firn_posed_collider *colliders, int32_t count, int32_t dim,
                           double slack, double position[3], double velocity[3]);

#endif
