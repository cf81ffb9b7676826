/* Colliders: shapes and meshes that particles collide with, static or moved by keyframes. */
#ifndef FIRN_COLLIDER_H
#define FIRN_COLLIDER_H

#include <firn/mesh.h>
#include <firn/param.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Shapes in their own frame: a row names each, its file, and what `size` means, in metres. In 2D
 * they are their sections at z = 0. Rows are only ever added at the end. */
#define FIRN_SHAPES(X)                                                                             \
    X(PLANE, plane)             /* nothing; solid where y < 0 */                                   \
    X(BOX, box)                 /* half extents x, y, z */                                         \
    X(SPHERE, sphere)           /* radius */                                                       \
    X(CAPSULE, capsule)         /* radius, half length of the axis segment (along y) */            \
    X(CYLINDER, cylinder)       /* radius, half height (along y) */                                \
    X(CONE, cone)               /* base radius, height (base at y = 0, tip at y = height) */       \
    X(TORUS, torus)             /* ring radius, tube radius (ring in the x-z plane) */             \
    X(INSIDE, inside)           /* half extents of the free room; solid outside of it */           \
    X(ELLIPSOID, ellipsoid)     /* radii along x, y, z */                                          \
    X(RING, ring)               /* radius, radius of the hole, below it; in 3D endless along z */  \
    X(POLYGON, polygon)         /* nothing: it has `points`; in 3D endless along z */              \
    X(MESH, mesh)               /* nothing: it has `mesh`; 3D only */                              \
    X(TUBE, tube)               /* radius, radius of the bore, half height (along y) */            \
    X(FRUSTUM, frustum)         /* base radius, height (base at y = 0), top radius */              \
    X(ROUNDED_BOX, rounded_box) /* half extents x, y, z; it has `round` */                         \
    X(COMPOUND, compound)       /* nothing: it has `compound` */

#define FIRN_SHAPE_CONSTANT(NAME, name) FIRN_##NAME,
typedef enum firn_shape_kind { FIRN_SHAPES(FIRN_SHAPE_CONSTANT) FIRN_SHAPE_COUNT } firn_shape_kind;
#undef FIRN_SHAPE_CONSTANT

#define FIRN_BOUNDARIES(X)                                                                         \
    X(STICKY, sticky, "material takes the surface's velocity")                                     \
    X(SLIP, slip, "no velocity through the surface either way, free along it")                     \
    X(SEPARATE, separate, "may leave; pressed against it, Coulomb friction")                       \
    X(HOLD, hold, "what is inside stays there and moves with it, as if pinned")
typedef enum firn_boundary { FIRN_BOUNDARIES(FIRN_LIST_ENUM) FIRN_BOUNDARY_COUNT } firn_boundary;

/* The position and rotation of the shape's frame at a time. On top of the rotation comes a turn about the
 * collider's pivot, by `angle` about x, then y, then z. Angles are interpolated as they are written: from 0 to 4 pi
 * is two turns. The rotation goes the shorter way round: less than half a turn from key to key.
 * Before the first and after the last key the collider stands still, but for its spin. */
typedef struct firn_pose_key {
    double time;        /* s */
    double position[3]; /* m, of the frame before it turns by `angle` */
    double rotation[4]; /* quaternion w, x, y, z; need not be normalised, must not be zero */
    double angle[3];    /* rad, about axes of the world; in 2D only z */
} firn_pose_key;

/* A motion that a program sets while the sim runs: from a pose with constant velocity and spin, for
 * some seconds; then the collider stands still. */
typedef struct firn_collider_motion {
    double position[3]; /* m */
    double rotation[4]; /* quaternion w, x, y, z; need not be normalised, must not be zero */
    double velocity[3]; /* m/s, of the frame's origin */
    double spin[3];     /* rad/s, about axes of the world; in 2D only z */
    double seconds;     /* >= 0; INFINITY: until it is told otherwise */
} firn_collider_motion;

/* The parameters of a collider, as <firn/param.h> explains them. surface_velocity and surface_spin move
 * the surface along itself while the shape stays where it is; the part through the surface has no
 * effect. Heat, where the sim has it, flows at transfer x (temperature - that of the material); INFINITY
 * keeps the surface at its temperature. */
#define FIRN_COLLIDER_PARAMS(X)                                                                    \
    X(CHOICE(firn_boundary), boundary, "", FIRN_SEPARATE, 0, 0,                                    \
      "what happens to material that touches it", "use a firn_boundary", NULL)                     \
    X(KEYED_REAL, friction, "", 0.3, 0, 1e6, "Coulomb coefficient of separate",                    \
      "use a sticky boundary to hold everything", NULL)                                            \
    X(KEYED_REAL, contact_angle, "degrees", 90, 0, 180,                                            \
      "angle at which a liquid's surface meets it; only pressure: projection reads it",            \
      "0 wets, 180 repels; below 20 and above 160 are taken as those", NULL)                       \
    X(KEYED_VECTOR, surface_velocity, "m/s", (0, 0, 0), 0, 0,                                      \
      "velocity of its surface along itself, as a belt's; turns with the shape", "0 stands still", \
      NULL)                                                                                        \
    X(KEYED_VECTOR, surface_spin, "rad/s", (0, 0, 0), 0, 0,                                        \
      "spin of its surface about its origin, as a drum's; turns with the shape", "0 stands still", \
      NULL)                                                                                        \
    X(KEYED_TEMPERATURE, temperature, "K", 0, 1, 1e5,                                              \
      "of its surface; by default it is insulated", "0 C is 273.15 K; 0 is none", NULL)            \
    X(KEYED_REAL, transfer, "W/(m2 K)", INFINITY, 0, 1e12,                                         \
      "heat transfer to it; by default material that touches it has its temperature",              \
      "INFINITY keeps the surface at its temperature", NULL)                                       \
    X(REAL, voxel, "m", 0, 1e-9, 1e9,                                                              \
      "of a mesh: spacing of the distances it collides by; by default the cell size",              \
      "0 is the cell size", NULL)                                                                  \
    X(REAL, until, "s", INFINITY, 0, 1e12, "when it vanishes: a gate opens, a pin lets go",        \
      "INFINITY is never", NULL)

enum { FIRN_MOST_PARENTS = 64 };

/* How the parts of a compound make one body. */
#define FIRN_JOINS(X)                                                                              \
    X(UNION, union, "all that is in any of them")                                                  \
    X(DIFFERENCE, difference, "the first without the others")                                      \
    X(INTERSECTION, intersection, "what is in all of them")
typedef enum firn_join { FIRN_JOINS(FIRN_LIST_ENUM) FIRN_JOIN_COUNT } firn_join;

/* A shape made of others. Constant once created, so threads and sims may share it. Its memory is from
 * malloc. */
typedef struct firn_compound firn_compound;

/* Make one with firn_collider_def_default. Keys, points and parents are copied when a sim is created; a mesh and
 * a compound are not, and must outlive the sim, or their place in it. A sim makes a level set of a mesh: distances on nodes
 * `voxel` apart near the surface. Edges are as sharp as that; a part of a solid thinner than a voxel may be
 * missed, and a sheet counts as at least a voxel thick. */
typedef struct firn_collider_def {
    firn_shape_kind shape;
    double size[3]; /* m, see FIRN_SHAPES */
    /* Of a polygon: x y of each corner, m, in order around it either way; edges must not cross. */
    const double *points;
    int32_t point_count;
    const firn_mesh *mesh;         /* of a mesh */
    const firn_compound *compound; /* of a compound */
    double round; /* m, radius of the edges of a rounded box, or of a compound's part; else 0 */
    double position[3]; /* m, used when key_count is 0 */
    double rotation[4]; /* quaternion w, x, y, z, used when key_count is 0 */
    const firn_pose_key *keys;
    int32_t key_count;
    firn_interpolation interpolation; /* of keys */
    double
        pivot[3]; /* m, in the shape's frame: the point that angles of keys and spin turn about */
    double
        spin[3]; /* rad/s, from time 0 on, about axes of the world, before angles of keys turn it */
    /* The def whose frame this one's pose, keys and spin are in; NULL: the world. Only its own pose, keys, spin
     * and parent are read; up to FIRN_MOST_PARENTS of them in a row. */
    const struct firn_collider_def *parent;
    FIRN_COLLIDER_PARAMS(FIRN_MEMBER)
    uint32_t stamp; /* set by the default function */
} firn_collider_def;
FIRN_API const firn_param *firn_collider_param(int32_t index);

/* The ground: a plane through the origin, facing +y; sizes are 1 m. */
FIRN_API firn_collider_def firn_collider_def_default(void);

/* The shape's snake_case name ("plane"), or NULL when there is no such shape. */
FIRN_API const char *firn_shape_name(firn_shape_kind shape);

/* FIRN_OK, or what is wrong with shape, size or points. */
FIRN_API FIRN_MUST_CHECK firn_status firn_shape_check(const firn_collider_def *def,
                                                      firn_error *error);

/* The shape of a def that firn_shape_check takes, in the shape's own frame: pose and keys are not
 * read. `dimension` is 2 or 3; 2 ignores the point's z.
 * distance: signed, m, negative inside, with the outward unit normal.
 * volume: m3, in 2D the area, m2; INFINITY where it has no end. Of a compound by integration, to about 0.1 %.
 * bounds: the smallest box around it, of a compound one around it, or 0 where it has no end. */
FIRN_API double firn_shape_distance(const firn_collider_def *def, int32_t dimension,
                                    const double point[3], double normal[3]);
FIRN_API double firn_shape_volume(const firn_collider_def *def, int32_t dimension);
FIRN_API int32_t firn_shape_bounds(const firn_collider_def *def, int32_t dimension, double low[3],
                                   double high[3]);

/* ---- compounds ---- */

enum {
    FIRN_MOST_PARTS = 256,
    FIRN_MOST_NESTED = 8
}; /* parts in all, and compounds within each other */

/* Make one with firn_compound_def_default. Of each part its shape and what makes it are read, with its position
 * and rotation; `round` shrinks it by that much first and lets it grow back, which rounds its outer edges: of
 * boxes, cylinders, tubes, frustums, cones and rings. Compounds among the parts and points are copied, meshes are
 * not, and must outlive it. In 2D parts turn about z only.
 * Distances of a compound have the right sign, are exact near its faces and outside of unions, and nowhere
 * longer than the true ones: beside an edge where something was cut, and deep in a union, they fall short. So let
 * parts of a union overlap: below a seam where they only touch, the seam counts as a surface. */
typedef struct firn_compound_def {
    firn_join join;
    const firn_collider_def *parts;
    int32_t part_count;
    double offset;  /* m, by how much its surface moves outwards; inwards below 0 */
    double shell;   /* m, above 0: hollow, with a wall of that thickness below the surface */
    uint32_t stamp; /* set by the default function */
} firn_compound_def;
FIRN_API firn_compound_def firn_compound_def_default(void);
FIRN_API FIRN_MUST_CHECK firn_status firn_compound_create(const firn_compound_def *def,
                                                          firn_compound **compound,
                                                          firn_error *error);
FIRN_API void firn_compound_destroy(firn_compound *compound); /* NULL is fine */

#ifdef __cplusplus
}
#endif
#endif
