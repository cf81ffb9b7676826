/* Random numbers without state: each is a function of a seed and of what it is for, so that neither
 * threads nor the order of work can change it. */
#ifndef FIRN_SCENE_RANDOM_H
#define FIRN_SCENE_RANDOM_H

#include <stdint.h>

/* The finaliser of SplitMix64 (Steele, Lea and Flood 2014): every bit of x moves every bit. */
static inline uint64_t firn_mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* Of a cell and a number that tells draws for the same cell apart. */
static inline uint64_t firn_random_bits(uint64_t seed, int64_t x, int64_t y, int64_t z,
                                        uint64_t draw)
{
    uint64_t h = firn_mix(seed + 0x9e3779b97f4a7c15u);
    h = firn_mix(h ^ (uint64_t)x) + 0x9e3779b97f4a7c15u;
    h = firn_mix(h ^ (uint64_t)y) + 0x9e3779b97f4a7c15u;
    h = firn_mix(h ^ (uint64_t)z) + 0x9e3779b97f4a7c15u;
    return firn_mix(h ^ draw);
}

/* In [0, 1), of the hash's upper bits. */
static inline double firn_unit(uint64_t hash) { return (double)(hash >> 11) * 0x1p-53; }

#endif
