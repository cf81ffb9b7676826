/* A mesh collider's level sets at one instant: where their frame is, and how far the mesh has deformed
 * from one towards the next. Coordinates and velocities are in the collider's frame.
 *
 * With y in the level sets' frame, s the part of the way and d the shift of the nearest point,
 *   distance(y) = (1 - s) from(y - s d) + s to(y + (1 - s) d)
 * Each is asked where the surface near y is in it, so that thin parts that move by more than their
 * thickness do not fade halfway. */
#ifndef FIRN_MORPH_H
#define FIRN_MORPH_H

#include "mesh/levelset.h"

typedef struct firn_morph {
    const firn_levelset *from; /* NULL: there is none */
    const firn_levelset *to;   /* NULL: it does not deform */
    double part, rate;         /* s, and how fast that grows, 1/s */
    double most;               /* m, the longest shift */
    double pivot[3];           /* m, in the level sets' frame; it is at: */
    double center[3];          /* m */
    double rotation[3][3];
    double velocity[3], spin[3]; /* m/s, of the pivot; rad/s */
} firn_morph;

/* Signed distance, m, and outward unit normal. */
double firn_morph_distance(const firn_morph *morph, const double point[3], double normal[3]);

/* Velocity of the nearest surface, m/s, carried on to the point by the frame's spin. */
void firn_morph_velocity(const firn_morph *morph, const double point[3], double velocity[3]);

/* An upper bound of that speed within `reach` metres of a point. */
double firn_morph_speed_bound(const firn_morph *morph, const double point[3], double reach);

#endif
