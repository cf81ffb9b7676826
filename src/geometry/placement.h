/* Placements as matrices. */
#ifndef FIRN_PLACEMENT_H
#define FIRN_PLACEMENT_H

#include <firn/geometry.h>

/* world = matrix * local + offset. */
typedef struct firn_affine {
    double matrix[3][3], inverse[3][3], offset[3];
    double volume;    /* of the image of a unit cube; in 2D, of a unit square */
    double shrink;    /* no direction is made shorter than by this factor */
    int32_t conforms; /* whether all directions scale alike, so that distances stay distances */
} firn_affine;

/* In dimension 2 only rotations about z are allowed, and z of translate and scale is ignored. */
firn_status firn_placement_resolve(const firn_placement *placement, int dimension, firn_affine *out,
                                   firn_error *error);

/* Sets axis and angle to those of a unit quaternion w, x, y, z. */
void firn_placement_turn(firn_placement *placement, const double turn[4]);

void firn_affine_to_world(const firn_affine *affine, const double local[3], double world[3]);
void firn_affine_to_local(const firn_affine *affine, const double world[3], double local[3]);

/* Bounds of the image of a box. */
void firn_affine_bounds(const firn_affine *affine, const double low[3], const double high[3],
                        double world_low[3], double world_high[3]);

#endif
