/* The machine's multiply-add peak: what an instruction set delivers when nothing is in the way.
 *
 * Every kernel keeps more independent chains in registers than latency times throughput of any
 * current core, and nothing else. The empty asm stops the compiler from joining, widening or
 * folding the chains; it emits no instruction. */
#include "bench.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

/* X(i) for every chain. x86 has 16 vector registers below AVX-512, two of which hold factors. */
#if defined(__x86_64__)
#define CHAINS 12
#define REGISTER "+x"
#define EACH(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)
#elif defined(__aarch64__)
#define CHAINS 16
#define REGISTER "+w"
#define EACH(X)                                                                                    \
    X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15)
#endif

typedef void peak_kernel(int64_t rounds);

#if defined(EACH)

#define START(i) chain##i = one;
#define DECLARE(i) VECTOR chain##i;
#define STEP(i) chain##i = MULTIPLY_ADD(chain##i);
#define PIN(i) __asm__ volatile("" : REGISTER(chain##i));
/* The chain x <- x * factor + term, near its fixed point 1: no denormals, no overflow. */
#define KERNEL(name)                                                                               \
    static void name(int64_t rounds)                                                               \
    {                                                                                              \
        const VECTOR one = SET(1.0f), factor = SET(0.5f), term = SET(0.5f);                        \
        EACH(DECLARE)                                                                              \
        EACH(START)                                                                                \
        for (int64_t r = 0; r < rounds; r++) {                                                     \
            EACH(STEP)                                                                             \
            EACH(PIN)                                                                              \
        }                                                                                          \
    }

#define VECTOR float
#define SET(x) (x)
#define MULTIPLY_ADD(x) ((x)*factor + term)
KERNEL(peak_scalar)
#undef VECTOR
#undef SET
#undef MULTIPLY_ADD

#endif

#if defined(__x86_64__)

#define VECTOR __m128
#define SET(x) _mm_set1_ps(x)
#define MULTIPLY_ADD(x) _mm_add_ps(_mm_mul_ps(x, factor), term)
KERNEL(peak_sse2)
#undef VECTOR
#undef SET
#undef MULTIPLY_ADD

#define VECTOR __m256
#define SET(x) _mm256_set1_ps(x)
#define MULTIPLY_ADD(x) _mm256_fmadd_ps(x, factor, term)
__attribute__((target("avx2,fma"))) KERNEL(peak_avx2)
#undef VECTOR
#undef SET
#undef MULTIPLY_ADD

#define VECTOR __m512
#define SET(x) _mm512_set1_ps(x)
#define MULTIPLY_ADD(x) _mm512_fmadd_ps(x, factor, term)
    __attribute__((target("avx512f"))) KERNEL(peak_avx512)
#undef VECTOR
#undef SET
#undef MULTIPLY_ADD

#elif defined(__aarch64__)

#define VECTOR float32x4_t
#define SET(x) vdupq_n_f32(x)
#define MULTIPLY_ADD(x) vfmaq_f32(term, x, factor)
KERNEL(peak_neon)
#undef VECTOR
#undef SET
#undef MULTIPLY_ADD

#endif

        static const struct {
    const char *isa;
    int lanes;
    peak_kernel *kernel;
} peaks[] = {
#if defined(EACH)
    {"scalar", 1, peak_scalar},
#endif
#if defined(__x86_64__)
    {"sse2", 4, peak_sse2},
    {"avx2", 8, peak_avx2},
    {"avx512", 16, peak_avx512},
#elif defined(__aarch64__)
    {"neon", 4, peak_neon},
#endif
    {NULL, 0, NULL},
};

enum { MOST_THREADS = 256 };

/* One thread's share. All begin together, when the last is ready. */
typedef struct runner {
    peak_kernel *kernel;
    int64_t rounds;
    atomic_int *waiting;
    double begin, end;
    pthread_t handle;
} runner;

static void *run(void *argument)
{
    runner *r = argument;
    atomic_fetch_sub(r->waiting, 1);
    while (atomic_load(r->waiting) > 0) {}
    r->begin = firn_clock();
    r->kernel(r->rounds);
    r->end = firn_clock();
    return NULL;
}

/* Seconds from the first thread's begin to the last one's end; 0 when threads could not be had. */
static double time_together(peak_kernel *kernel, int64_t rounds, int32_t threads)
{
    static runner r[MOST_THREADS];
    atomic_int waiting = threads;
    int32_t started = 1;
    for (int32_t t = 0; t < threads; t++) {
        r[t] = (runner){.kernel = kernel, .rounds = rounds, .waiting = &waiting};
    }
    while (started < threads && pthread_create(&r[started].handle, NULL, run, &r[started]) == 0) {
        started++;
    }
    atomic_fetch_sub(&waiting, threads - started); /* those that did not come */
    run(&r[0]);
    double begin = r[0].begin, end = r[0].end;
    for (int32_t t = 1; t < started; t++) {
        pthread_join(r[t].handle, NULL);
        if (r[t].begin < begin) begin = r[t].begin;
        if (r[t].end > end) end = r[t].end;
    }
    return started == threads ? end - begin : 0;
}

double firn_bench_peak_gflops(const char *isa, int32_t threads)
{
    if (threads < 1 || threads > MOST_THREADS) return 0;
    for (int i = 0; peaks[i].isa; i++) {
        if (strcmp(peaks[i].isa, isa) != 0) continue;
#if defined(EACH)
        enum { REPEATS = 4 };
        const int64_t rounds = 4000000; /* 15 ms or so */
        const double flop = 2.0 * CHAINS * peaks[i].lanes * (double)rounds * threads;
        double best = 0;
        for (int n = 0; n < REPEATS; n++) {
            const double seconds = time_together(peaks[i].kernel, rounds, threads);
            if (seconds > 0 && flop / seconds > best) best = flop / seconds;
        }
        return best * 1e-9;
#endif
    }
    return 0;
}
