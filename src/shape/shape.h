/* Shapes: one row of FIRN_SHAPES (firn/collider.h) and one file each. The file's firn_shape holds
 * all that colliders, filling, scenes, pictures and the reference need to know of it. */
#ifndef FIRN_SHAPE_H
#define FIRN_SHAPE_H

#include <math.h>
#include <stdbool.h>

#include <firn/collider.h>

/* The numbers of one shape. In 2D a shape that is `deep` has an infinite size[2]: without ends in z a box is a
 * rectangle. */
typedef struct firn_shape_values {
    double size[3]; /* m */
    double round;   /* m */
    int dimension;
    const double *points; /* x y of each corner, m; not owned */
    int32_t point_count;
    const firn_mesh *mesh;         /* not owned */
    const firn_compound *compound; /* not owned */
} firn_shape_values;

/* A surface that a point is at: how deep below it, m, and its outward unit normal. */
typedef struct firn_face {
    double depth, normal[3];
} firn_face;
enum { FIRN_MAX_FACES = 3 };

/* What a number of a scene means for the shape. */
typedef enum firn_key_role {
    FIRN_KEY_NONE,     /* ends the keys */
    FIRN_KEY_POSITION, /* of the shape's origin */
    FIRN_KEY_UP,       /* a direction: where its y points; the scene's own up unless given */
    FIRN_KEY_FROM,     /* ends of its axis: the origin is their middle, y points to the second, */
    FIRN_KEY_TO,       /* and size[at] is half the way */
    FIRN_KEY_LENGTH,   /* one number: size[at] is it times `times` */
    FIRN_KEY_LENGTHS,  /* one per axis: all of size, times `times` */
    FIRN_KEY_POINTS,   /* a list of [x, y] */
    FIRN_KEY_ROUND,    /* one number: the radius of its edges */
} firn_key_role;

typedef struct firn_shape_key {
    const char *name, *fallback, *help;
    firn_key_role role;
    int32_t at;
    double times;
} firn_shape_key;
enum { FIRN_SHAPE_KEYS = 4 };

/* Keys that many shapes have. */
#define FIRN_KEY_CENTER                                                                            \
    {                                                                                              \
        "center", "[0, 0, 0]", "middle", FIRN_KEY_POSITION, 0, 0                                   \
    }
#define FIRN_KEY_RADIUS                                                                            \
    {                                                                                              \
        "radius", "0.5", "", FIRN_KEY_LENGTH, 0, 1                                                 \
    }
#define FIRN_KEY_SIZE                                                                              \
    {                                                                                              \
        "size", "[1, 1, 1]", "edge lengths", FIRN_KEY_LENGTHS, 0, 0.5                              \
    }

enum { FIRN_2D = 1, FIRN_3D = 2 };

/* `distance` is exact, inside and out (but of a compound: see firn_compound_def), and writes the outward unit normal, the gradient of the
 * distance. Where several surface points are equally near (centres, axes, edges from within) it
 * takes the one the shape's file names, so the normal is finite and of unit length everywhere.
 * `faces` is for solids with inner corners, where several surfaces stop the same material: it lists
 * those that the point is below, or less than `slack` above. NULL: there is one, which `distance` tells.
 * `sides` is for solids that are cut to shape by several surfaces: it lists all that are near, as deep as the
 * point is below each. Where such a solid is taken out of another, each of them stops material. NULL: there is
 * one.
 * Shapes that 2D has mirror onto themselves under z -> -z, and all but polygons and compounds under x -> -x:
 * posing in 2D counts on it. */
typedef struct firn_shape {
    const char *name;
    const char *word[2]; /* what 2D and 3D scenes call it; NULL: they do not have it */
    const char *help;    /* one line */
    firn_shape_key key[FIRN_SHAPE_KEYS + 1]; /* what scenes say of it */
    int size_count;                          /* how many of size[3] it reads; all must be > 0 */
    const char *size_name[3];                /* what those mean, for messages: "radius" */
    unsigned bounded; /* FIRN_2D | FIRN_3D: where it has an end, so that it can be filled */
    bool convex;
    bool from_file;  /* what it is made of: scenes name the file, see firn_section_mesh */
    bool half_space; /* all that is below its x-z plane */
    bool solid;      /* has no section: 3D only */
    bool deep;       /* size[2] is along z, which 2D does not have */
    bool thick;      /* goes on behind its surface: nothing comes out on another side */
    /* What the values must satisfy beyond sizes above 0. NULL: nothing. */
    firn_status (*check)(const firn_shape_values *v, firn_error *error);
    double (*distance)(const firn_shape_values *v, const double point[3], double normal[3]);
    int (*faces)(const firn_shape_values *v, const double point[3], double slack,
                 firn_face face[FIRN_MAX_FACES]);
    int (*sides)(const firn_shape_values *v, const double point[3], firn_face face[FIRN_MAX_FACES]);
    /* Moves its surface inwards; returns how far its origin then lies above the old one, along y. NULL: it has
     * no edges to round, or cannot. */
    double (*shrink)(double size[3], double by);
    /* Whether this one of a bounded shape has an end. NULL: all have. */
    bool (*ends)(const firn_shape_values *v);
    /* The smallest box around it and its volume, where it is bounded: m3, in 2D the area, m2. In 2D
     * z of the box is not read. */
    void (*bounds)(const firn_shape_values *v, double low[3], double high[3]);
    double (*volume)(const firn_shape_values *v, int dimension);
} firn_shape;

#define FIRN_SHAPE_EXTERN(NAME, name) extern const firn_shape firn_shape_##name;
FIRN_SHAPES(FIRN_SHAPE_EXTERN)
#undef FIRN_SHAPE_EXTERN

FIRN_API const firn_shape *firn_shape_get(firn_shape_kind kind); /* NULL past the end */

/* The values as a dimension needs them. */
firn_shape_values firn_shape_values_of(const firn_collider_def *def, int dimension);

/* Whether it has an end in the dimension of the values. */
FIRN_API bool firn_shape_ends(const firn_shape *shape, const firn_shape_values *v);

/* What of a shape that firn_shape_check takes has no meaning in a dimension: compounds of parts that are turned out
 * of the plane, or of which nothing is left. */
FIRN_API firn_status firn_shape_check_in(const firn_collider_def *def, int dimension,
                                         firn_error *error);

/* ---- compound.c ---- */

/* A copy with all lengths times a factor. */
FIRN_API firn_status firn_compound_scale(const firn_compound *compound, double factor,
                                         firn_compound **out, firn_error *error);
firn_status firn_compound_check(const firn_compound *compound, int dimension, firn_error *error);

static const double firn_pi = 3.14159265358979323846;

/* Shorter offsets have no direction of their own: their squares leave the range of double. */
#define FIRN_TINY 1e-150

static inline void firn_shape_box_around(double x, double y, double z, double low[3],
                                         double high[3])
{
    const double half[3] = {x, y, z};
    for (int a = 0; a < 3; a++) low[a] = -half[a], high[a] = half[a];
}

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

#endif
