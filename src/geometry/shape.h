/* Shapes that can be filled: one row each, parameters as plain doubles, in the shape's own frame.
 *
 * Distances are signed, negative inside, never longer than the true distance, and exact unless the
 * row says otherwise. The sign is the inside test. Axes are those of the colliders: capsule,
 * cylinder, cone and torus turn about y. All are centred on the origin but the cone, whose base is
 * at y = 0, and the polygon, which is where its points are. */
#ifndef FIRN_SCENE_SHAPE_H
#define FIRN_SCENE_SHAPE_H

#include <stdbool.h>

#include <firn/base.h>

enum { FIRN_SOLID_VALUES = 3 };

/* Numbers of one shape. */
typedef struct firn_solid_values {
    double value[FIRN_SOLID_VALUES]; /* m, in the order of the row's parameters */
    const double *points;            /* of a polygon: x y of each corner, m; not owned */
    int32_t point_count;
} firn_solid_values;

typedef struct firn_solid {
    const char *name;
    const char *help;
    int dimension;
    int value_count;
    const char *value_name[FIRN_SOLID_VALUES];
    bool exact; /* whether `distance` is the distance, not only a bound of it */
    /* What values must satisfy beyond being above 0. NULL: nothing. */
    firn_status (*check)(const firn_solid_values *values, firn_error *error);
    double (*distance)(const firn_solid_values *values, const double point[3]);
    void (*bounds)(const firn_solid_values *values, double low[3], double high[3]);
    double (*volume)(const firn_solid_values *values); /* m^3; in 2D the area, m^2 */
} firn_solid;

extern const firn_solid *const firn_solids[]; /* all, then NULL */

/* The row of that name, or NULL. */
const firn_solid *firn_solid_find(const char *name);

/* FIRN_OK, or which value is wrong. */
firn_status firn_solid_check(const firn_solid *solid, const firn_solid_values *values,
                             firn_error *error);

#endif
