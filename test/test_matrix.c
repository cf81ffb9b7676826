/* base/matrix.h against a plain one-sided Jacobi, on a million matrices of every kind, for every
 * instruction set this build has and this machine can run. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/real.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

/* What we promise. The reference has twice the digits, more or less. */
#ifdef FIRN_DOUBLE
typedef long double ref;
#define REAL_MIN DBL_MIN
#define REAL_TRUE_MIN DBL_TRUE_MIN
#define DECADES 300 /* sizes from 1e-300 to 1e300 */
#define ORTHOGONALITY 4e-15
#define ACCURACY 8e-15
#define GRADING 16 /* singular values from 1 to 1e-16 */
#else
typedef double ref;
#define REAL_MIN FLT_MIN
#define REAL_TRUE_MIN FLT_TRUE_MIN
#define DECADES 30
#define ORTHOGONALITY 2e-6
#define ACCURACY 4e-6
#define GRADING 7
#endif

/* --- the kernels under test --- */

typedef struct kernel {
    const char *isa;
    int dim;
    void (*svd)(const real *A, real *U, real *s, real *V, int n);
    void (*polar)(const real *A, real *R, int n);
    void (*products)(const real *A, const real *B, real *out, int n);
    const char *(*lanes)(const real number[64], const uint32_t index[16]);
} kernel;

#define DECLARE_DIM(isa, dim)                                                                      \
    void test_svd_##isa##_##dim##d(const real *A, real *U, real *s, real *V, int n);               \
    void test_polar_##isa##_##dim##d(const real *A, real *R, int n);                               \
    void test_products_##isa##_##dim##d(const real *A, const real *B, real *out, int n);           \
    const char *test_lanes_##isa##_##dim##d(const real number[64], const uint32_t index[16]);
#define DECLARE(isa) DECLARE_DIM(isa, 2) DECLARE_DIM(isa, 3)
/* clang-format off */
#define ROW(isa, dim)                                                                              \
    {#isa, dim, test_svd_##isa##_##dim##d, test_polar_##isa##_##dim##d,                            \
     test_products_##isa##_##dim##d, test_lanes_##isa##_##dim##d}
/* clang-format on */
#define ROWS(isa) ROW(isa, 2), ROW(isa, 3)

#ifdef FIRN_HAVE_REFERENCE
DECLARE(reference)
#endif
#ifdef FIRN_HAVE_SCALAR
DECLARE(scalar)
#endif
#ifdef FIRN_HAVE_SSE2
DECLARE(sse2)
#endif
#ifdef FIRN_HAVE_AVX2
DECLARE(avx2)
#endif
#ifdef FIRN_HAVE_AVX512
DECLARE(avx512)
#endif
#ifdef FIRN_HAVE_LANES16
DECLARE(lanes16)
#endif
#ifdef FIRN_HAVE_NEON
DECLARE(neon)
#endif
#ifdef FIRN_HAVE_SIMD128
DECLARE(simd128)
#endif

static const kernel all_kernels[] = {
#ifdef FIRN_HAVE_REFERENCE
    ROWS(reference),
#endif
#ifdef FIRN_HAVE_SCALAR
    ROWS(scalar),
#endif
#ifdef FIRN_HAVE_SSE2
    ROWS(sse2),
#endif
#ifdef FIRN_HAVE_AVX2
    ROWS(avx2),
#endif
#ifdef FIRN_HAVE_AVX512
    ROWS(avx512),
#endif
#ifdef FIRN_HAVE_LANES16
    ROWS(lanes16),
#endif
#ifdef FIRN_HAVE_NEON
    ROWS(neon),
#endif
#ifdef FIRN_HAVE_SIMD128
    ROWS(simd128),
#endif
};

static int can_run(const char *isa)
{
#if defined(__x86_64__)
    if (strcmp(isa, "avx2") == 0 || strcmp(isa, "lanes16") == 0)
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (strcmp(isa, "avx512") == 0) return __builtin_cpu_supports("avx512f");
#endif
    (void)isa;
    return 1;
}

/* The kernels of one dimension that run here: returns how many. */
enum { MAX_KERNELS = 8 };
static int kernels_of(int dim, const kernel *list[MAX_KERNELS])
{
    int count = 0;
    for (size_t i = 0; i < sizeof all_kernels / sizeof *all_kernels; i++)
        if (all_kernels[i].dim == dim && can_run(all_kernels[i].isa))
            list[count++] = &all_kernels[i];
    assert_true(count > 0);
    return count;
}

/* --- random matrices --- */

static uint64_t random_state;

static uint64_t random_bits(void) /* splitmix64 */
{
    uint64_t z = (random_state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static double uniform(double low, double high)
{
    return low + (high - low) * (double)(random_bits() >> 11) * 0x1p-53;
}

static int pick(int count) { return (int)(random_bits() % (uint64_t)count); }
static double sign(void) { return pick(2) ? 1 : -1; }
static double power(double low, double high) { return pow(10, uniform(low, high)); }

static void random_rotation(int dim, double *R)
{
    double q[4], square = 0;
    do {
        square = 0;
        for (int i = 0; i < 4; i++) q[i] = uniform(-1, 1), square += q[i] * q[i];
    } while (square > 1 || square < 0.01);
    double x = q[0], y = q[1], z = q[2], w = q[3], k = 2 / square;
    if (dim == 2) {
        double length = hypot(x, y);
        R[0] = R[3] = x / length, R[2] = y / length, R[1] = -R[2];
    } else {
        R[0] = 1 - k * (y * y + z * z), R[1] = k * (x * y - w * z), R[2] = k * (x * z + w * y);
        R[3] = k * (x * y + w * z), R[4] = 1 - k * (x * x + z * z), R[5] = k * (y * z - w * x);
        R[6] = k * (x * z - w * y), R[7] = k * (y * z + w * x), R[8] = 1 - k * (x * x + y * y);
    }
}

/* U diag(s) V^T of random rotations */
static void compose(int dim, const double *s, double *A)
{
    double U[9], V[9];
    random_rotation(dim, U);
    random_rotation(dim, V);
    for (int i = 0; i < dim; i++)
        for (int j = 0; j < dim; j++) {
            A[dim * i + j] = 0;
            for (int k = 0; k < dim; k++) A[dim * i + j] += U[dim * i + k] * s[k] * V[dim * j + k];
        }
}

enum {
    ROTATION,
    NEAR_ROTATION,
    UNIFORM,
    SCALED,
    GRADED,
    OUTER_PRODUCTS,
    INVERTED,
    REPEATED,
    DIAGONAL,
    PERMUTATION,
    SKEW,
    SMALL_INTEGERS,
    DENORMAL,
    SCATTERED,
    HUGE_ENTRIES,
    KINDS
};

static void random_matrix(int kind, int dim, real *out)
{
    double A[9] = {0}, s[3] = {1, 1, 1}, size = 1;
    int n = dim * dim;
    switch (kind) {
    case ROTATION: random_rotation(dim, A); break;
    case NEAR_ROTATION: {
        double strain = power(-9, -0.5);
        random_rotation(dim, A);
        for (int i = 0; i < n; i++) A[i] += uniform(-strain, strain);
        break;
    }
    case UNIFORM:
    case SCALED:
        for (int i = 0; i < n; i++) A[i] = uniform(-1, 1);
        if (kind == SCALED) size = power(-DECADES, DECADES);
        break;
    case GRADED:
        for (int i = 0; i < dim; i++) s[i] = sign() * power(-GRADING, 0);
        compose(dim, s, A);
        size = power(-3, 3);
        break;
    case OUTER_PRODUCTS: { /* rank 0 to dim - 1, exactly for integers, else but for rounding */
        int rank = pick(dim), exact = pick(2);
        for (int k = 0; k < rank; k++) {
            double a[3], b[3];
            for (int i = 0; i < dim; i++) {
                a[i] = exact ? pick(9) - 4 : uniform(-1, 1);
                b[i] = exact ? pick(9) - 4 : uniform(-1, 1);
            }
            for (int i = 0; i < n; i++) A[i] += a[i / dim] * b[i % dim];
        }
        /* Near 1 rounding noise can look like a determinant to Newton's iteration. */
        if (pick(2)) size = exact ? ldexp(1, pick(200) - 100) : power(-DECADES, DECADES);
        break;
    }
    case INVERTED: /* towards the reflection, where the best rotation is not unique */
        for (int i = 0; i < dim; i++) s[i] = 1 + sign() * power(-9, 0);
        s[dim - 1] = -s[dim - 1];
        compose(dim, s, A);
        break;
    case REPEATED: {
        double values[2] = {power(-GRADING, 0), 1 + pick(2) * power(-9, 0)};
        for (int i = 0; i < dim; i++) s[i] = sign() * values[pick(2)];
        compose(dim, s, A);
        break;
    }
    case DIAGONAL:
        for (int i = 0; i < dim; i++) A[(dim + 1) * i] = pick(6) ? sign() * power(-9, 9) : 0;
        break;
    case PERMUTATION: {
        int shift = pick(dim), flip = pick(2) ? 1 : dim - 1;
        for (int i = 0; i < dim; i++) A[dim * i + (flip * i + shift) % dim] = sign();
        size = pick(2) ? 1 : power(-DECADES, DECADES);
        break;
    }
    case SKEW: /* singular values a, a, 0; plus a multiple of the identity */
        for (int i = 0; i < n; i++) A[i] = uniform(-1, 1);
        for (int i = 0; i < n; i++) A[i] = i / dim < i % dim ? -A[dim * (i % dim) + i / dim] : A[i];
        s[0] = pick(2) ? 0 : uniform(-1, 1);
        for (int i = 0; i < dim; i++) A[(dim + 1) * i] = s[0];
        break;
    case SMALL_INTEGERS:
        for (int i = 0; i < n; i++) A[i] = pick(7) - 3;
        break;
    case DENORMAL:
        for (int i = 0; i < n; i++) A[i] = floor(sign() * power(0, pick(9)));
        size = REAL_TRUE_MIN;
        break;
    case SCATTERED: /* entries of all sizes side by side */
        for (int i = 0; i < n; i++) A[i] = pick(5) ? sign() * power(-DECADES, DECADES) : 0;
        break;
    case HUGE_ENTRIES: /* the singular values may reach three times the entries */
        for (int i = 0; i < n; i++) A[i] = uniform(-1, 1);
        size = sizeof(real) == sizeof(float) ? 1.1e38 : 5.9e307;
        break;
    }
    for (int i = 0; i < n; i++) out[i] = (real)(A[i] * size);
}

/* --- the reference --- */

typedef struct answer {
    int exponent;   /* everything below is for the matrix times 2^-exponent, entries about 1 */
    ref A[9], s[3]; /* s with the sign in the last */
    ref R[9];       /* the nearest rotation; good if s[dim-2] + s[dim-1] is well above rounding */
} answer;

static ref column_dot(int dim, const ref *B, int p, int q)
{
    ref sum = 0;
    for (int i = 0; i < dim; i++) sum += B[dim * i + p] * B[dim * i + q];
    return sum;
}

static void rotate_columns(int dim, ref *B, int p, int q, ref c, ref s)
{
    for (int i = 0; i < dim; i++) {
        ref x = B[dim * i + p], y = B[dim * i + q];
        B[dim * i + p] = c * x + s * y;
        B[dim * i + q] = c * y - s * x;
    }
}

/* One-sided Jacobi (Hestenes 1958): rotate the columns of B = A V until they are orthogonal. */
static void solve(int dim, const real *matrix, answer *a)
{
    const ref epsilon = sizeof(ref) == sizeof(double) ? DBL_EPSILON : LDBL_EPSILON;
    ref B[9], V[9], largest = 0;
    int n = dim * dim;
    for (int i = 0; i < n; i++) largest = (ref)fmaxl(largest, fabsl(matrix[i]));
    a->exponent = largest > 0 ? ilogbl(largest) : 0;
    for (int i = 0; i < n; i++) {
        B[i] = a->A[i] = (ref)scalbnl(matrix[i], -a->exponent);
        V[i] = i % (dim + 1) == 0;
    }
    for (int pass = 0, rotated = 1; rotated && pass < 40; pass++) {
        rotated = 0;
        for (int p = 0; p < dim; p++)
            for (int q = p + 1; q < dim; q++) {
                ref x = column_dot(dim, B, p, p), y = column_dot(dim, B, q, q);
                ref g = column_dot(dim, B, p, q);
                /* in order, and orthogonal already */
                if (x >= y && g * g <= epsilon * epsilon * x * y) continue;
                ref angle = (ref)0.5 * (ref)atan2l(2 * g, x - y);
                ref c = (ref)cosl(angle), s = (ref)sinl(angle);
                rotate_columns(dim, B, p, q, c, s);
                rotate_columns(dim, V, p, q, c, s);
                rotated = 1;
            }
    }
    /* Unit columns make U, but for the last, which completes the frame and gives the sign. */
    ref U[9] = {0};
    for (int k = 0; k < dim; k++) {
        a->s[k] = (ref)sqrtl(column_dot(dim, B, k, k));
        for (int i = 0; i < dim && a->s[k] > 0; i++) U[dim * i + k] = B[dim * i + k] / a->s[k];
    }
    if (dim == 2) {
        U[1] = -U[2], U[3] = U[0];
    } else {
        U[2] = U[3] * U[7] - U[6] * U[4];
        U[5] = U[6] * U[1] - U[0] * U[7];
        U[8] = U[0] * U[4] - U[3] * U[1];
    }
    ref along = 0;
    for (int i = 0; i < dim; i++) along += U[dim * i + dim - 1] * B[dim * i + dim - 1];
    if (along < 0) a->s[dim - 1] = -a->s[dim - 1];
    for (int i = 0; i < n; i++) {
        a->R[i] = 0;
        for (int k = 0; k < dim; k++) a->R[i] += U[dim * (i / dim) + k] * V[dim * (i % dim) + k];
    }
}

/* --- the claims --- */

/* The largest errors met, for the curious. */
static struct {
    double orthogonality, reconstruction, value, rotation, trace;
} worst;

static int flushing; /* denormals count as zero, as in the engine */

/* Absolute error below which numbers of this size have no bits, for the scaled matrix. */
static ref granularity(const answer *a)
{
    return (ref)scalbnl(flushing ? 8 * (ref)REAL_MIN : 2 * (ref)REAL_TRUE_MIN, -a->exponent);
}

static void check(const kernel *k, const real *A, const char *claim, ref error, ref bound)
{
    if (error <= bound) return; /* a NaN goes on */
    print_error("%s %dd%s: %s: %Lg, bound %Lg, for\n", k->isa, k->dim, flushing ? " flushing" : "",
                claim, (long double)error, (long double)bound);
    for (int i = 0; i < k->dim * k->dim; i++)
        print_error("%a%s", (double)A[i], (i + 1) % k->dim ? ", " : ",\n");
    fail();
}

static void note(double *largest, ref error)
{
    if (error > *largest) *largest = (double)error;
}

static ref magnitude(ref x) { return x < 0 ? -x : x; }

static void check_rotation(const kernel *k, const real *A, const real *R)
{
    int dim = k->dim;
    ref error = 0, M[9];
    for (int i = 0; i < dim * dim; i++) M[i] = R[i];
    for (int p = 0; p < dim; p++)
        for (int q = 0; q < dim; q++) {
            ref e = magnitude(column_dot(dim, M, p, q) - (p == q));
            error = e <= error ? error : e; /* a NaN stays */
        }
    check(k, A, "columns are orthonormal", error, ORTHOGONALITY);
    ref det = dim == 2 ? M[0] * M[3] - M[1] * M[2]
                       : M[0] * (M[4] * M[8] - M[5] * M[7]) - M[1] * (M[3] * M[8] - M[5] * M[6]) +
                             M[2] * (M[3] * M[7] - M[4] * M[6]);
    check(k, A, "no reflection", magnitude(det - 1), 2 * ORTHOGONALITY);
    note(&worst.orthogonality, error);
}

static void check_svd(const kernel *k, const real *A, const answer *a, const real *U, const real *s,
                      const real *V)
{
    int dim = k->dim;
    ref scaled[3], grain = granularity(a), bound = ACCURACY * a->s[0] + grain;
    check_rotation(k, A, U);
    check_rotation(k, A, V);
    for (int i = 0; i < dim; i++) {
        scaled[i] = (ref)scalbnl(s[i], -a->exponent);
        ref error = magnitude(scaled[i] - a->s[i]);
        check(k, A, "singular values are right", error, bound);
        if (i > 0) check(k, A, "singular values descend", magnitude(scaled[i]), scaled[i - 1]);
        if (grain < 1e-20) note(&worst.value, error / a->s[0]);
    }
    for (int i = 0; i < dim * dim; i++) {
        ref sum = 0;
        for (int m = 0; m < dim; m++)
            sum += (ref)U[dim * (i / dim) + m] * scaled[m] * V[dim * (i % dim) + m];
        ref error = magnitude(sum - a->A[i]);
        check(k, A, "A = U S V^T", error, bound + 2 * grain);
        if (grain < 1e-20) note(&worst.reconstruction, error / a->s[0]);
    }
}

static void check_polar(const kernel *k, const real *A, const answer *a, const real *R)
{
    int dim = k->dim;
    ref best = 0, trace = 0, grain = granularity(a), gap = a->s[dim - 2] + a->s[dim - 1];
    check_rotation(k, A, R);
    for (int i = 0; i < dim; i++) best += a->s[i];
    for (int i = 0; i < dim * dim; i++) trace += R[i] * a->A[i];
    check(k, A, "no rotation is nearer", best - trace, ACCURACY * a->s[0] + 4 * grain);
    if (grain < 1e-20) note(&worst.trace, (best - trace) / a->s[0]);
    if (grain > 1e-20 || !(gap > (ref)1e-3 * a->s[0])) return;
    /* Near rotations the gap is 2 s[0], so that this asks for a quarter of ACCURACY. */
    for (int i = 0; i < dim * dim; i++) {
        ref error = magnitude(R[i] - a->R[i]) * gap / a->s[0];
        check(k, A, "the rotation is right", error, ACCURACY / 2);
        note(&worst.rotation, error / 2);
    }
}

/* --- the tests --- */

enum { BATCH = 500 };
enum { SVD = 1, POLAR = 2 };

static void set_flushing(int on)
{
#if defined(__x86_64__)
    unsigned bits = 0x8040; /* flush to zero, denormals are zero */
    _mm_setcsr(on ? _mm_getcsr() | bits : _mm_getcsr() & ~bits);
#else
    (void)on;
#endif
}

/* The claims `what` on n <= BATCH matrices, for each kernel of the dimension. */
static void check_batch(int dim, int what, const real *A, int n)
{
    static answer answers[BATCH];
    static real U[9 * BATCH], V[9 * BATCH], s[3 * BATCH];
    const kernel *list[MAX_KERNELS];
    int count = kernels_of(dim, list), nn = dim * dim;
    for (int i = 0; i < n; i++) solve(dim, A + nn * i, &answers[i]);
    for (int j = 0; j < count; j++) {
        if (what & SVD) {
            if (flushing) set_flushing(1);
            list[j]->svd(A, U, s, V, n);
            set_flushing(0);
            for (int i = 0; i < n; i++)
                check_svd(list[j], A + nn * i, &answers[i], U + nn * i, s + dim * i, V + nn * i);
        }
        if (what & POLAR) {
            if (flushing) set_flushing(1);
            list[j]->polar(A, U, n);
            set_flushing(0);
            for (int i = 0; i < n; i++) check_polar(list[j], A + nn * i, &answers[i], U + nn * i);
        }
    }
}

/* Kinds are mixed at random, so that the lanes of a group hold different ones. */
static void check_random(int dim, int what, int n)
{
    static real A[9 * BATCH];
    random_state = (uint64_t)(100 * dim + what + 10 * flushing);
    for (int done = 0; done < n; done += BATCH) {
        for (int i = 0; i < BATCH; i++) random_matrix(pick(KINDS), dim, A + dim * dim * i);
        check_batch(dim, what, A, BATCH);
    }
}

static void svd_is_right_for_every_finite_matrix(void **state)
{
    (void)state;
    check_random(2, SVD, 150000);
    check_random(3, SVD, 300000);
}

static void polar_is_the_nearest_rotation(void **state)
{
    (void)state;
    check_random(2, POLAR, 150000);
    check_random(3, POLAR, 300000);
}

static void both_are_right_with_denormals_flushed(void **state)
{
    (void)state;
    flushing = 1;
    check_random(2, SVD | POLAR, 25000);
    check_random(3, SVD | POLAR, 75000);
    flushing = 0;
}

static void both_are_right_for_all_matrices_of_0_and_1_and_minus_1(void **state)
{
    static real A[9 * BATCH];
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        int total = dim == 2 ? 81 : 19683, n = 0;
        for (int code = 0; code < total; code++) {
            for (int i = 0, rest = code; i < dim * dim; i++, rest /= 3)
                A[dim * dim * n + i] = (real)(rest % 3 - 1);
            if (++n < BATCH && code + 1 < total) continue;
            check_batch(dim, SVD | POLAR, A, n);
            n = 0;
        }
    }
}

/* So that a particle's fate does not hang on which particles share its group. */
static void lanes_do_not_influence_each_other(void **state)
{
    static real A[9 * BATCH], U[9 * BATCH], V[9 * BATCH], s[3 * BATCH], R[9 * BATCH];
    (void)state;
    random_state = 1;
    for (int dim = 2; dim <= 3; dim++)
        for (int round = 0; round < 20; round++) {
            const kernel *list[MAX_KERNELS];
            int count = kernels_of(dim, list), nn = dim * dim;
            for (int i = 0; i < BATCH; i++) random_matrix(pick(KINDS), dim, A + nn * i);
            for (int j = 0; j < count; j++) {
                list[j]->svd(A, U, s, V, BATCH);
                list[j]->polar(A, R, BATCH);
                for (int i = 0; i < BATCH; i++) {
                    real u[9], v[9], value[3], r[9];
                    list[j]->svd(A + nn * i, u, value, v, 1);
                    list[j]->polar(A + nn * i, r, 1);
                    assert_memory_equal(u, U + nn * i, (size_t)nn * sizeof(real));
                    assert_memory_equal(v, V + nn * i, (size_t)nn * sizeof(real));
                    assert_memory_equal(value, s + dim * i, (size_t)dim * sizeof(real));
                    assert_memory_equal(r, R + nn * i, (size_t)nn * sizeof(real));
                }
            }
        }
}

/* Small integers: no rounding, so equal to the last bit. */
static void products_cofactor_and_determinant_follow_their_definitions(void **state)
{
    static real A[9 * BATCH], B[9 * BATCH], out[47 * BATCH];
    (void)state;
    random_state = 2;
    for (int dim = 2; dim <= 3; dim++) {
        const kernel *list[MAX_KERNELS];
        int count = kernels_of(dim, list), nn = dim * dim;
        for (int i = 0; i < BATCH; i++) {
            random_matrix(SMALL_INTEGERS, dim, A + nn * i);
            random_matrix(SMALL_INTEGERS, dim, B + nn * i);
        }
        for (int j = 0; j < count; j++) {
            list[j]->products(A, B, out, BATCH);
            for (int m = 0; m < BATCH; m++) {
                const real *a = A + nn * m, *b = B + nn * m, *o = out + (5 * nn + 1) * m;
                const double det = (double)o[5 * nn];
                for (int i = 0; i < dim; i++)
                    for (int p = 0; p < dim; p++) {
                        double ab = 0, abt = 0, atb = 0, a_cof_t = 0, one = i == p;
                        for (int q = 0; q < dim; q++) {
                            ab += (double)a[dim * i + q] * (double)b[dim * q + p];
                            abt += (double)a[dim * i + q] * (double)b[dim * p + q];
                            atb += (double)a[dim * q + i] * (double)b[dim * q + p];
                            a_cof_t += (double)a[dim * i + q] * (double)o[3 * nn + dim * p + q];
                        }
                        assert_true((double)o[dim * i + p] == ab);
                        assert_true((double)o[nn + dim * i + p] == abt);
                        assert_true((double)o[2 * nn + dim * i + p] == atb);
                        assert_true(a_cof_t == det * one); /* A cof(A)^T = det(A) I */
                        assert_true((double)o[4 * nn + dim * i + p] == one);
                    }
            }
        }
    }
}

static void lanes_move_as_in_plain_loops(void **state)
{
    real number[64];
    uint32_t index[16];
    (void)state;
    for (int i = 0; i < 64; i++) number[i] = (real)(i * 29 % 64);
    for (uint32_t l = 0; l < 16; l++) index[l] = l * 7 % 16;
    for (int dim = 2; dim <= 3; dim++) {
        const kernel *list[MAX_KERNELS];
        const int count = kernels_of(dim, list);
        for (int j = 0; j < count; j++) {
            const char *wrong = list[j]->lanes(number, index);
            if (wrong) fail_msg("%s %dD: %s", list[j]->isa, dim, wrong);
        }
    }
}

static int print_worst(void **state)
{
    (void)state;
    print_message("largest errors: orthogonality %.2g, reconstruction %.2g, singular values %.2g, "
                  "rotation %.2g, trace %.2g\n",
                  worst.orthogonality, worst.reconstruction, worst.value, worst.rotation,
                  worst.trace);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes_move_as_in_plain_loops),
        cmocka_unit_test(products_cofactor_and_determinant_follow_their_definitions),
        cmocka_unit_test(svd_is_right_for_every_finite_matrix),
        cmocka_unit_test(polar_is_the_nearest_rotation),
        cmocka_unit_test(both_are_right_with_denormals_flushed),
        cmocka_unit_test(both_are_right_for_all_matrices_of_0_and_1_and_minus_1),
        cmocka_unit_test(lanes_do_not_influence_each_other),
    };
    return cmocka_run_group_tests_name("matrix", tests, NULL, print_worst);
}
