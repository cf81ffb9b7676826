/* Filling inside the library. */
#ifndef FIRN_SCENE_FILL_H
#define FIRN_SCENE_FILL_H

#include "geometry/region.h"

/* Blue noise: the least distance of two particles, m. Where the separation differs, that of the
 * smaller. And no place in the region, other than within this distance of its surface, is farther than
 * 1.25 times this from a particle. */
double firn_fill_blue_distance(int32_t dimension, double separation);

/* About how many particles a def gives, before refinement and what is taken. */
double firn_fill_expected(const firn_region *region, const firn_fill_def *def);

#endif
