/* Colliders: analytic shapes, static or moved by keyframes, that bodies meet. */
#ifndef FIRN_COLLIDER_H
#define FIRN_COLLIDER_H

#include <firn/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Shapes in their own frame; `size` means, in metres:
 *   plane    nothing; solid where y < 0
 *   box      half extents x, y, z
 *   sphere   radius
 *   capsule  radius, half length of the axis segment (along y)
 *   cylinder radius, half height (along y)
 *   cone     base radius, height (base at y = 0, tip at y = height)
 *   torus    ring radius, tube radius (ring in the x-z plane)
 *   inside   half extents of the free room; solid outside of it
 * In 2D the shapes are their sections at z = 0. */
typedef enum firn_shape_kind {
    FIRN_PLANE,
    FIRN_BOX,
    FIRN_SPHERE,
    FIRN_CAPSULE,
    FIRN_CYLINDER,
    FIRN_CONE,
    FIRN_TORUS,
    FIRN_INSIDE,
    FIRN_SHAPE_COUNT
} firn_shape_kind;

#define FIRN_BOUNDARIES(X)                                                                         \
    X(STICKY, sticky, "material takes the surface's velocity")                                     \
    X(SLIP, slip, "no velocity through the surface either way, free along it")                     \
    X(SEPARATE, separate, "may leave; pressed against it, Coulomb friction")
typedef enum firn_boundary { FIRN_BOUNDARIES(FIRN_LIST_ENUM) FIRN_BOUNDARY_COUNT } firn_boundary;

/* Where the shape's frame is at a time. Between keys position is linear and rotation a slerp the
 * shorter way round: less than half a turn from key to key, so a longer turn takes keys in between.
 * Before the first and after the last key the collider stands still. */
typedef struct firn_pose_key {
    double time;        /* s */
    double position[3]; /* m */
    double rotation[4]; /* quaternion w, x, y, z; need not be normalised, must not be zero */
} firn_pose_key;

/* Make one with firn_collider_def_default. The keys are copied when a sim is created. */
typedef struct firn_collider_def {
    firn_shape_kind shape;
    double size[3];     /* m, see firn_shape_kind */
    double position[3]; /* m, used when key_count is 0 */
    double rotation[4]; /* quaternion w, x, y, z, used when key_count is 0 */
    const firn_pose_key *keys;
    int32_t key_count;
    firn_boundary boundary;
    double friction; /* Coulomb coefficient of FIRN_SEPARATE, >= 0 */
    /* Heat, where the sim has it: flows at transfer x (temperature - that of the material). */
    double temperature; /* K; 0, the default: insulated */
    double transfer;    /* W/(m2 K); INFINITY, the default: the surface has that temperature */
    uint32_t stamp;     /* set by the default function */
} firn_collider_def;

/* The ground: a plane through the origin, facing +y, separating, friction 0.3, insulated, 20 C; sizes are
 * 1 m. */
FIRN_API firn_collider_def firn_collider_def_default(void);

/* The shape's snake_case name ("plane"), or NULL when there is no such shape. */
FIRN_API const char *firn_shape_name(firn_shape_kind shape);

#ifdef __cplusplus
}
#endif
#endif
