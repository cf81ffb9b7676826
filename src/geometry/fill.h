/* Filling a region with particles.
 *
 * Every particle gets a volume, and the volumes add up to the region's, whatever the pattern: mass is
 * density times volume. Results depend on the def alone, not on threads. */
#ifndef FIRN_SCENE_FILL_H
#define FIRN_SCENE_FILL_H

#include "geometry/region.h"

/* separation is the edge of the cube (2D: square) that a particle stands for. */
typedef enum firn_pattern {
    FIRN_FILL_REGULAR,   /* on a lattice along the axes, centred on the region's bounds */
    FIRN_FILL_JITTERED,  /* one in each cell of that lattice, anywhere in its middle part */
    FIRN_FILL_RANDOM,    /* anywhere, independent of each other */
    FIRN_FILL_BLUE_NOISE /* anywhere, but no two nearer than firn_fill_blue_distance */
} firn_pattern;
const char *firn_pattern_name(firn_pattern pattern); /* "blue_noise"; NULL past the end */

typedef struct firn_fill_def {
    firn_pattern pattern;
    /* One of these three is above 0. */
    double separation; /* m; as many particles as that gives, about volume / separation^dimension */
    int64_t count;     /* exactly so many */
    int64_t per_voxel; /* so many in each voxel of a voxel file; not with blue noise */

    double jitter; /* of the jittered pattern: width of the middle part, 0 to 1 cells */
    uint64_t seed;
    /* Denser near the surface: each of so many levels halves the separation. Level 1 reaches
     * refine_distance deep, each further one half as deep as the one before. */
    int32_t refine_levels;  /* 0 to FIRN_FILL_LEVELS; not with per_voxel */
    double refine_distance; /* m */

    /* Places that are taken: particles inside any of these are dropped, with their volume. */
    const firn_region *const *taken;
    int32_t taken_count;

    int64_t most; /* particles; more are refused before work begins */
    int32_t threads;
} firn_fill_def;

enum { FIRN_FILL_LEVELS = 6 };

firn_fill_def firn_fill_def_default(void); /* jittered, nothing given */

/* Owned; freed by firn_filling_free. */
typedef struct firn_filling {
    int64_t count;
    double *position;  /* count x 3, m; z is 0 in 2D */
    double *volume;    /* m^3; in 2D m^2 */
    int64_t dropped;   /* particles in places that were taken */
    double separation; /* m, that was used */
} firn_filling;

firn_status firn_fill(const firn_region *region, const firn_fill_def *def, firn_filling *out,
                      firn_error *error);
void firn_filling_free(firn_filling *filling);

/* Blue noise: the least distance of two particles, m. Where the separation differs, that of the
 * smaller. And no place in the region, other than within this distance of its surface, is farther than
 * 1.25 times this from a particle. */
double firn_fill_blue_distance(int32_t dimension, double separation);

#endif
