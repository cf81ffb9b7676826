/* Lanes: W numbers side by side, by the compiler's vector types.
 *
 * A kernel file is compiled once per instruction set and dimension (see CMakeLists.txt), each time
 * with FIRN_ISA (a word for names), FIRN_DIM (2 or 3) and, in the double build, FIRN_DOUBLE. The
 * width W follows from the target: 16 (AVX-512), 8 (AVX2), 4 (SSE2, NEON, WASM), or 1 when
 * FIRN_SCALAR is set. Facts behind the forms used (GCC 12, Clang 14): `?:` does not take vectors in
 * C, so select by masks; a lane loop for min, max and sqrt becomes one instruction; vectors wider
 * than the target are slow. No approximate reciprocals: results must not depend on the CPU
 * maker. */
#ifndef FIRN_SIMD_H
#define FIRN_SIMD_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/real.h"

#if defined(FIRN_SCALAR) || defined(FIRN_DOUBLE)
#define W 1
#elif defined(FIRN_WIDTH) /* a test build: this width whatever the target */
#define W FIRN_WIDTH
#elif defined(__AVX512F__)
#define W 16
#elif defined(__AVX2__)
#define W 8
#else
#define W 4
#endif

/* Compilers spend 0.4 s on all of Intel's intrinsics, more than on most kernel files. */
#if defined(__x86_64__) && W > 4
#include <immintrin.h>
#elif defined(__x86_64__) && W == 4
#include <emmintrin.h>
#elif defined(__wasm_simd128__) && W == 4
#include <wasm_simd128.h>
#endif

#define D FIRN_DIM
#define DD (D * D)

/* The symbol a kernel file exports: name_isa_2d or name_isa_3d. */
#define FIRN_JOIN_(a, b, c) a##_##b##_##c##d
#define FIRN_JOIN(a, b, c) FIRN_JOIN_(a, b, c)
#define FIRN_KERNEL(name) FIRN_JOIN(name, FIRN_ISA, FIRN_DIM)

#define LANE_INLINE static inline __attribute__((always_inline))

typedef real vr __attribute__((vector_size(W * sizeof(real))));
#ifdef FIRN_DOUBLE
typedef int64_t lane_int;
#else
typedef int32_t lane_int;
#endif
typedef lane_int vi __attribute__((vector_size(W * sizeof(real)))); /* also the masks: 0 or -1 */

LANE_INLINE vr v_set(real a) { return (vr){0} + a; }
LANE_INLINE vi vi_set(lane_int a) { return (vi){0} + a; }
LANE_INLINE vr v_select(vi mask, vr a, vr b) { return (vr)(((vi)a & mask) | ((vi)b & ~mask)); }
LANE_INLINE vi v_to_int(vr a) { return __builtin_convertvector(a, vi); } /* truncates */
LANE_INLINE vr v_to_real(vi a) { return __builtin_convertvector(a, vr); }
LANE_INLINE vr v_load(const real *p)
{
    vr a;
    memcpy(&a, p, sizeof a);
    return a;
}
LANE_INLINE void v_store(real *p, vr a) { memcpy(p, &a, sizeof a); }

/* x(0), x(1) and so on, one per lane, as a vector's initialiser. Lanes assigned in a loop cost more
 * at 16 lanes: GCC 12 makes a masked broadcast of each, and a move of its mask. */
#if W == 1
#define V_LANES(x) x(0)
#elif W == 4
#define V_LANES(x) x(0), x(1), x(2), x(3)
#elif W == 8
#define V_LANES(x) x(0), x(1), x(2), x(3), x(4), x(5), x(6), x(7)
#else
#define V_LANES(x)                                                                                 \
    x(0), x(1), x(2), x(3), x(4), x(5), x(6), x(7), x(8), x(9), x(10), x(11), x(12), x(13), x(14), \
        x(15)
#endif

/* p[stride index] per lane. Inserts: on the machines measured the gather instruction is slower. */
LANE_INLINE vr v_gather(const real *p, const uint32_t *index, size_t stride)
{
#define AT(l) p[stride * index[l]]
    return (vr){V_LANES(AT)};
#undef AT
}

#if W == 16
/* Four numbers four times over, and each of four numbers four times in a row. Not by
 * __builtin_shufflevector, which GCC 12 widens through the stack: a load of 64 bytes that waits for
 * a store of 16 was half the time of a step (Zen 4). */
LANE_INLINE vr v_repeat(const float *p)
{
#if defined(__AVX512F__)
    return (vr)_mm512_broadcast_f32x4(_mm_loadu_ps(p));
#else
#define AT(l) p[(l) % 4]
    return (vr){V_LANES(AT)};
#undef AT
#endif
}
LANE_INLINE vr v_spread(float a, float b, float c, float d)
{
#if defined(__AVX512F__)
    const vi from = {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3};
    const __m512 four = _mm512_castps128_ps512(_mm_setr_ps(a, b, c, d));
    return (vr)_mm512_permutexvar_ps((__m512i)from, four);
#else
    return (vr){a, a, a, a, b, b, b, b, c, c, c, c, d, d, d, d};
#endif
}
#endif

/* A NaN in `a` gives b in both: callers order the arguments so that bad numbers do not hide. */
#if W == 16 && defined(__AVX512F__)
LANE_INLINE vr v_min(vr a, vr b) { return (vr)_mm512_min_ps((__m512)a, (__m512)b); }
LANE_INLINE vr v_max(vr a, vr b) { return (vr)_mm512_max_ps((__m512)a, (__m512)b); }
#elif W == 8 && defined(__AVX__)
LANE_INLINE vr v_min(vr a, vr b) { return (vr)_mm256_min_ps((__m256)a, (__m256)b); }
LANE_INLINE vr v_max(vr a, vr b) { return (vr)_mm256_max_ps((__m256)a, (__m256)b); }
#elif W == 4 && defined(__SSE2__)
LANE_INLINE vr v_min(vr a, vr b) { return (vr)_mm_min_ps((__m128)a, (__m128)b); }
LANE_INLINE vr v_max(vr a, vr b) { return (vr)_mm_max_ps((__m128)a, (__m128)b); }
#elif W == 4 && defined(__wasm_simd128__)
LANE_INLINE vr v_min(vr a, vr b) { return (vr)wasm_f32x4_pmin((v128_t)b, (v128_t)a); }
LANE_INLINE vr v_max(vr a, vr b) { return (vr)wasm_f32x4_pmax((v128_t)b, (v128_t)a); }
#else
LANE_INLINE vr v_min(vr a, vr b) { return v_select(a < b, a, b); }
LANE_INLINE vr v_max(vr a, vr b) { return v_select(a > b, a, b); }
#endif
#ifdef FIRN_DOUBLE
#define SIGN_BIT INT64_MIN
#else
#define SIGN_BIT INT32_MIN
#endif
LANE_INLINE vr v_abs(vr a) { return (vr)((vi)a & ~vi_set(SIGN_BIT)); }
LANE_INLINE vr v_copysign(vr size, vr sign)
{
    vi s = vi_set(SIGN_BIT);
    return (vr)(((vi)size & ~s) | ((vi)sign & s));
}

LANE_INLINE vr v_sqrt(vr a)
{
#if W == 16 && defined(__AVX512F__)
    return (vr)_mm512_sqrt_ps((__m512)a);
#elif W == 8 && defined(__AVX__)
    return (vr)_mm256_sqrt_ps((__m256)a);
#elif W == 4 && defined(__SSE2__)
    return (vr)_mm_sqrt_ps((__m128)a);
#elif W == 4 && defined(__wasm_simd128__)
    return (vr)wasm_f32x4_sqrt((v128_t)a);
#else
    vr r;
    for (int l = 0; l < W; l++) r[l] = R_SQRT(a[l]);
    return r;
#endif
}

/* Natural logarithm of positive normal numbers, to about 1 ulp (argument reduced to
 * [1/sqrt 2, sqrt 2), minimax polynomial as in Cephes' logf). */
LANE_INLINE vr v_log(vr x)
{
#ifdef FIRN_DOUBLE
    vr r;
    for (int l = 0; l < W; l++) r[l] = log(x[l]);
    return r;
#else
    vi b = (vi)x, e = (b - 0x3f3504f3) >> 23;
    vr f = (vr)(b - (e << 23)) - 1.0f, z = f * f, n = v_to_real(e);
    vr p = f * 7.0376836292e-2f - 1.1514610310e-1f;
    p = p * f + 1.1676998740e-1f;
    p = p * f - 1.2420140846e-1f;
    p = p * f + 1.4249322787e-1f;
    p = p * f - 1.6668057665e-1f;
    p = p * f + 2.0000714765e-1f;
    p = p * f - 2.4999993993e-1f;
    p = p * f + 3.3333331174e-1f;
    vr y = p * f * z + n * -2.12194440e-4f - 0.5f * z;
    return f + y + n * 0.693359375f;
#endif
}

#ifdef FIRN_DOUBLE
LANE_INLINE vr v_exp(vr x)
{
    vr r;
    for (int l = 0; l < W; l++) r[l] = exp(x[l] < 700 ? x[l] : 700);
    return r;
}
LANE_INLINE vr v_expm1(vr x)
{
    vr r;
    for (int l = 0; l < W; l++) r[l] = expm1(x[l] < 700 ? x[l] : 700);
    return r;
}
#else
/* e^x = scale (1 + result), to about 1 ulp; x is kept within what has a normal result. The argument
 * is reduced to |r| <= log(2)/2, where Taylor's series to r^7 errs by 5e-9. */
LANE_INLINE vr v_exp_parts(vr x, vr *scale)
{
    x = v_min(v_max(x, v_set(-87.0f)), v_set(88.0f));
    vi n = v_to_int(x * 1.44269504f + v_copysign(v_set(0.5f), x));
    vr whole = v_to_real(n), r = x - whole * 0.693359375f + whole * 2.12194440e-4f;
    vr p = r * (1.0f / 5040) + 1.0f / 720;
    p = p * r + 1.0f / 120;
    p = p * r + 1.0f / 24;
    p = p * r + 1.0f / 6;
    p = p * r + 0.5f;
    *scale = (vr)((n + 127) << 23);
    return p * r * r + r;
}
LANE_INLINE vr v_exp(vr x)
{
    vr scale, part = v_exp_parts(x, &scale);
    return scale * part + scale;
}
/* e^x - 1, also of small x. */
LANE_INLINE vr v_expm1(vr x)
{
    vr scale, part = v_exp_parts(x, &scale);
    return scale * part + (scale - 1);
}
#endif

/* Rounds a product before it is summed. Contracted into its sums it would make each of them a fused
 * operation on the multipliers; adders are units of their own on AMD's processors and Intel's since
 * 2021, and kernels short of multipliers gain by using both. */
#if W == 8 && defined(__AVX2__)
#define V_ROUND(a) __asm__("" : "+x"(a))
#else
#define V_ROUND(a) (void)(a)
#endif

/* True if any lane of the mask is set. */
LANE_INLINE int v_any(vi mask)
{
#if W == 16 && defined(__AVX512F__)
    return _mm512_test_epi32_mask((__m512i)mask, (__m512i)mask) != 0;
#elif W == 8 && defined(__AVX__)
    return _mm256_movemask_ps((__m256)mask) != 0;
#elif W == 4 && defined(__SSE2__)
    return _mm_movemask_ps((__m128)mask) != 0;
#elif W == 4 && defined(__wasm_simd128__)
    return wasm_v128_any_true((v128_t)mask);
#else
    lane_int any = 0;
    for (int l = 0; l < W; l++) any |= mask[l];
    return any != 0;
#endif
}

/* The largest lane. A NaN lane must not win silently: callers test for finiteness apart. */
LANE_INLINE real v_reduce_max(vr a)
{
    real m = a[0];
    for (int l = 1; l < W; l++) m = a[l] > m ? a[l] : m;
    return m;
}

#endif
