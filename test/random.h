/* Random numbers of tests. Everything random comes from `random_state`, so that a seed names a test. */
#ifndef FIRN_TEST_RANDOM_H
#define FIRN_TEST_RANDOM_H

#include <stdint.h>

static uint64_t random_state;

static inline uint64_t random_bits(void) /* splitmix64 (Steele et al. 2014) */
{
    uint64_t z = random_state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}
static inline double uniform(double low, double high)
{
    return low + (high - low) * (double)(random_bits() >> 11) * 0x1p-53;
}
static inline int random_below(int n) { return (int)(random_bits() % (uint64_t)n); }

#endif
