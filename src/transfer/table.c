/* Which kernels this binary holds, best first, and which of them this machine runs. */
#include <string.h>

#include "transfer/pass.h"

/* Baselines: a binary holds at least one of them. */
static inline bool always(void) { return true; }

#define ROW(isa, runs)                                                                             \
    {                                                                                              \
#isa, runs, { &firn_kernels_##isa##_2d, &firn_kernels_##isa##_3d }                         \
    }
#define DECLARE(isa) extern const firn_kernels firn_kernels_##isa##_2d, firn_kernels_##isa##_3d

#if defined(FIRN_HAVE_AVX512)
DECLARE(avx512);
static bool runs_avx512(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
#endif
#if defined(FIRN_HAVE_AVX2)
DECLARE(avx2);
static bool runs_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#endif
#if defined(FIRN_HAVE_LANES16)
DECLARE(lanes16);
static bool runs_lanes16(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#endif
#if defined(FIRN_HAVE_SSE2)
DECLARE(sse2);
#endif
#if defined(FIRN_HAVE_NEON)
DECLARE(neon);
#endif
#if defined(FIRN_HAVE_SIMD128)
DECLARE(simd128);
#endif
#if defined(FIRN_HAVE_SCALAR)
DECLARE(scalar);
#endif
#if defined(FIRN_HAVE_REFERENCE)
DECLARE(reference);
#endif

/* Best first, by a fixed order: a choice by the clock could differ from run to run, and results with
 * it. Million particle-steps per second on one thread, 1M particles, of avx512 and avx2 on Zen 4:
 * neo-Hookean 21.7 and 19.5, snow 18.7 and 14.7. Processors that lower their clock for 512-bit
 * vectors (Intel's of 2017 to 2020) are not measured; `isa` in the def overrides the order. */
static const struct {
    const char *isa;
    bool (*runs)(void);
    const firn_kernels *kernels[2]; /* 2D, 3D */
} table[] = {
#if defined(FIRN_HAVE_AVX512)
    ROW(avx512, runs_avx512),
#endif
#if defined(FIRN_HAVE_AVX2)
    ROW(avx2, runs_avx2),
#endif
#if defined(FIRN_HAVE_LANES16)
    ROW(lanes16, runs_lanes16),
#endif
#if defined(FIRN_HAVE_SSE2)
    ROW(sse2, always),
#endif
#if defined(FIRN_HAVE_NEON)
    ROW(neon, always),
#endif
#if defined(FIRN_HAVE_SIMD128)
    ROW(simd128, always),
#endif
#if defined(FIRN_HAVE_SCALAR)
    ROW(scalar, always),
#endif
#if defined(FIRN_HAVE_REFERENCE)
    ROW(reference, always),
#endif
};

const char *firn_isa_name(int32_t index)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (table[i].runs() && index-- == 0) return table[i].isa;
    }
    return NULL;
}

const firn_kernels *firn_kernels_find(const char *isa, int32_t dim)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (isa && strcmp(isa, table[i].isa) != 0) continue;
        if (table[i].runs()) return table[i].kernels[dim - 2];
    }
    return NULL;
}
