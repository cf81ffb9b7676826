/* Coherent noise: a smooth random function of position, the same on every machine. */
#ifndef FIRN_SCENE_NOISE_H
#define FIRN_SCENE_NOISE_H

#include <stdint.h>

/* In [-1, 1], 0 on average. Features are about `feature` metres across; each further octave halves
 * their size and their strength. `octaves` is 1 to 32. */
double firn_noise(const double position[3], double feature, int32_t octaves, uint64_t seed);

#endif
