/* Every constitutive law, in every dimension and instruction set this machine runs, against what
 * the stress of an elastic material must be. The tests walk the tables, so a new law is tested as
 * soon as it has its rows. Built twice: single precision, and double (FIRN_DOUBLE) with tight
 * tolerances. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "kernel_laws.h"

/* splitmix64 (Steele et al. 2014); seeded alike each time, so failures repeat. */
static uint64_t random_state;
static uint64_t random_bits(void)
{
    uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* ---- the kernels this machine runs ---- */

#define KERNELS(isa) extern const law_kernel law_kernel_##isa##_2d, law_kernel_##isa##_3d
#ifdef FIRN_HAVE_REFERENCE
KERNELS(reference);
#endif
#ifdef FIRN_HAVE_SCALAR
KERNELS(scalar);
#endif
#ifdef FIRN_HAVE_SSE2
KERNELS(sse2);
#endif
#ifdef FIRN_HAVE_AVX2
KERNELS(avx2);
#endif
#ifdef FIRN_HAVE_AVX512
KERNELS(avx512);
#endif
#ifdef FIRN_HAVE_NEON
KERNELS(neon);
#endif
#ifdef FIRN_HAVE_SIMD128
KERNELS(simd128);
#endif

#define PAIR(isa) &law_kernel_##isa##_2d, &law_kernel_##isa##_3d
static const law_kernel *const kernels[] = {
#ifdef FIRN_HAVE_REFERENCE
    PAIR(reference),
#endif
#ifdef FIRN_HAVE_SCALAR
    PAIR(scalar),
#endif
#ifdef FIRN_HAVE_SSE2
    PAIR(sse2),
#endif
#ifdef FIRN_HAVE_AVX2
    PAIR(avx2),
#endif
#ifdef FIRN_HAVE_AVX512
    PAIR(avx512),
#endif
#ifdef FIRN_HAVE_NEON
    PAIR(neon),
#endif
#ifdef FIRN_HAVE_SIMD128
    PAIR(simd128),
#endif
};

static bool machine_runs(const law_kernel *kernel)
{
#if defined(__x86_64__)
    if (strcmp(kernel->isa, "avx2") == 0)
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (strcmp(kernel->isa, "avx512") == 0)
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#endif
    return kernel->isa[0] != 0;
}

/* One law of one kernel with one material; `law` and `dim` are repeated for short. */
typedef struct subject {
    const law_kernel *kernel;
    int law, dim;
    firn_law_constants k;
    double p_wave; /* 2 mu + |lambda|, Pa: what stresses are measured against */
} subject;

typedef void subject_test(const subject *s);

static const struct {
    double young, poisson;
} materials[] = {{1e4, 0.2}, {1e5, 0.45}, {3e3, 0}, {1e4, -0.3}};

static void for_all(subject_test *test)
{
    int ran = 0;
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        if (!machine_runs(kernels[i])) continue;
        ran++;
        for (int law = 0; law < FIRN_LAW_COUNT; law++)
            for (size_t m = 0; m < sizeof materials / sizeof *materials; m++) {
                subject s = {.kernel = kernels[i], .law = law, .dim = kernels[i]->dim};
                firn_material_def def = firn_material_def_default();
                def.young = materials[m].young;
                def.poisson = materials[m].poisson;
                firn_material_constants(&def, &s.k);
                s.p_wave = 2 * (double)s.k.mu + fabs((double)s.k.lambda);
                random_state = 1; /* the same samples for all */
                test(&s);
            }
    }
    if (!ran) skip(); /* built for other machines only */
}

/* ---- failing with both values and where ---- */

static void fail_at(int line, const subject *s, const double *F, const char *what, double got,
                    double want)
{
    print_error("%s:%d: %s: %s %s %dD, mu %g lambda %g: got %.9g, want %.9g\n", __FILE__, line,
                what, firn_law_name((firn_law_kind)s->law), s->kernel->isa, s->dim, (double)s->k.mu,
                (double)s->k.lambda, got, want);
    for (int i = 0; F && i < s->dim * s->dim; i++)
        print_error("%s%.9g", i == 0 ? "F = " : i % s->dim == 0 ? "; " : " ", F[i]);
    print_error("\n");
    fail();
}

/* Written so that a NaN fails. */
#define EXPECT_NEAR(s, F, what, got, want, tolerance)                                              \
    do {                                                                                           \
        double got_ = (got), want_ = (want);                                                       \
        if (!(fabs(got_ - want_) <= (tolerance))) fail_at(__LINE__, s, F, what, got_, want_);      \
    } while (0)
#define EXPECT_AT_MOST(s, F, what, got, bound)                                                     \
    do {                                                                                           \
        double got_ = (got), bound_ = (bound);                                                     \
        if (!(got_ <= bound_)) fail_at(__LINE__, s, F, what, got_, bound_);                        \
    } while (0)

#ifdef FIRN_DOUBLE
static const bool precise = true;
#else
static const bool precise = false;
#endif

/* ---- small matrices in double, up to 3x3, row-major ---- */

static void multiply(int d, const double *A, const double *B, double *out)
{
    for (int i = 0; i < d; i++)
        for (int j = 0; j < d; j++) {
            out[i * d + j] = 0;
            for (int k = 0; k < d; k++) out[i * d + j] += A[i * d + k] * B[k * d + j];
        }
}

static void transpose(int d, const double *A, double *out)
{
    for (int i = 0; i < d; i++)
        for (int j = 0; j < d; j++) out[j * d + i] = A[i * d + j];
}

static double largest_entry(int d, const double *A)
{
    double most = 0;
    for (int i = 0; i < d * d; i++) most = fmax(most, fabs(A[i]));
    return most;
}

static double random_in(double low, double high)
{
    return low + (high - low) * (double)(random_bits() >> 11) * 0x1p-53;
}

static void random_unit(int d, double *a)
{
    double size;
    do {
        size = 0;
        for (int i = 0; i < d; i++) a[i] = random_in(-1, 1), size += a[i] * a[i];
    } while (size > 1 || size < 0.01);
    for (int i = 0; i < d; i++) a[i] /= sqrt(size);
}

static void random_rotation(int d, double *R)
{
    if (d == 2) {
        double t = random_in(0, 6.283185307179586), c = cos(t), s = sin(t);
        memcpy(R, (double[]){c, -s, s, c}, 4 * sizeof *R);
        return;
    }
    double q[4]; /* a unit quaternion */
    random_unit(4, q);
    double w = q[0], x = q[1], y = q[2], z = q[3];
    memcpy(R,
           (double[]){1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),
                      2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                      2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)},
           9 * sizeof *R);
}

/* F = U diag(s) V^T with random rotations; U comes back for its columns. */
static void compose(int d, const double *s, double *U, double *F)
{
    double V[9], T[9], left[9];
    random_rotation(d, U);
    random_rotation(d, V);
    for (int i = 0; i < d * d; i++) left[i] = U[i] * s[i % d];
    transpose(d, V, T);
    multiply(d, left, T, F);
}

/* ---- calling a law ---- */

enum { BATCH = 64 };

/* n <= BATCH matrices of doubles; results as doubles. */
static void energies(const subject *s, int n, const double *F, double *psi)
{
    real in[BATCH * 9], out[BATCH];
    for (int i = 0; i < n * s->dim * s->dim; i++) in[i] = (real)F[i];
    s->kernel->energy(s->law, &s->k, n, in, out);
    for (int i = 0; i < n; i++) psi[i] = (double)out[i];
}

typedef struct answer {
    double tau[9], J, stiffness;
} answer;

static answer stress_of(const subject *s, const double *F)
{
    real in[9] = {0}, tau[9], J, stiffness;
    int dd = s->dim * s->dim;
    for (int i = 0; i < dd; i++) in[i] = (real)F[i];
    s->kernel->stress(s->law, &s->k, 1, in, tau, &J, &stiffness);
    answer a = {.J = (double)J, .stiffness = (double)stiffness};
    for (int i = 0; i < dd; i++) a.tau[i] = (double)tau[i];
    return a;
}

/* To multiples of 2^-14: with the steps of the differences below, exact in single precision up to
 * stretches of 100 or so. */
static void snap(int d, double *F)
{
    for (int i = 0; i < d * d; i++) F[i] = round(F[i] * 0x1p14) * 0x1p-14;
}

/* First and second derivative of the energy at F along dF, by differences of fourth order. */
static double energy_slope(const subject *s, const double *F, const double *dF, double h,
                           double *second)
{
    double at[5 * 9], psi[5];
    int dd = s->dim * s->dim;
    for (int t = 0; t < 5; t++)
        for (int i = 0; i < dd; i++) at[t * dd + i] = F[i] + (t - 2) * h * dF[i];
    energies(s, 5, at, psi);
    if (second)
        *second = (-psi[0] + 16 * psi[1] - 30 * psi[2] + 16 * psi[3] - psi[4]) / (12 * h * h);
    return (psi[0] - 8 * psi[1] + 8 * psi[3] - psi[4]) / (12 * h);
}

/* ---- the claims ---- */

/* (dPsi/dF) F^T = P F^T = tau; in this form F need not have an inverse. The error of the
 * differences is roundoff x Psi / h plus a fifth derivative x h^4. */
static void check_gradient(const subject *s, const double *F, double tolerance)
{
    int d = s->dim, dd = d * d;
    double h = precise ? 0x1p-12 : 0x1p-6;
    double P[9] = {0}, Ft[9] = {0}, tau[9];
    for (int i = 0; i < dd; i++) {
        double dF[9] = {0};
        dF[i] = 1;
        P[i] = energy_slope(s, F, dF, h, NULL);
    }
    transpose(d, F, Ft);
    multiply(d, P, Ft, tau);
    answer a = stress_of(s, F);
    double size = largest_entry(d, F);
    double scale = tolerance * (s->p_wave * (1 + size) + largest_entry(d, a.tau));
    for (int i = 0; i < dd; i++)
        EXPECT_NEAR(s, F, "tau, against differences of the energy", a.tau[i], tau[i], scale);
}

static void gradient_holds(const subject *s)
{
    /* The last one, in double only, is beyond every limit on J. */
    static const double ranges[][2] = {{0.9, 1.1}, {0.5, 2}, {0.3, 4}, {120, 200}};
    for (int n = 0; n < 40; n++) {
        double stretch[3], U[9], F[9];
        const double *range = ranges[n % (precise ? 4 : 3)];
        for (int i = 0; i < 3; i++) stretch[i] = random_in(range[0], range[1]);
        compose(s->dim, stretch, U, F);
        snap(s->dim, F);
        check_gradient(s, F, precise ? 1e-8 : 2e-4);
    }
}
static void stress_is_the_energy_gradient(void **state)
{
    (void)state;
    for_all(gradient_holds);
}

/* Around J = 0 and below, where laws may continue their energy in another form. The least stretch
 * is kept apart from the others' negatives, where rotations jump. */
static void gradient_holds_inverted(const subject *s)
{
    double high = precise ? 0.005 : -0.2; /* the wide steps of single precision stay inverted */
    for (int n = 0; n < 30; n++) {
        double stretch[3], U[9], F[9];
        for (int i = 0; i < s->dim; i++) stretch[i] = random_in(0.7, 2);
        stretch[s->dim - 1] = random_in(-0.4, high);
        compose(s->dim, stretch, U, F);
        snap(s->dim, F);
        check_gradient(s, F, precise ? 1e-8 : 5e-4);
    }
}
static void stress_is_the_energy_gradient_when_inverted(void **state)
{
    (void)state;
    for_all(gradient_holds_inverted);
}

static void rests(const subject *s)
{
    double I[9] = {0}, psi;
    for (int i = 0; i < s->dim; i++) I[i * (s->dim + 1)] = 1;
    answer a = stress_of(s, I);
    energies(s, 1, I, &psi);
    double tolerance = (precise ? 1e-14 : 1e-6) * s->p_wave;
    for (int i = 0; i < s->dim * s->dim; i++)
        EXPECT_NEAR(s, I, "tau at rest", a.tau[i], 0, tolerance);
    EXPECT_NEAR(s, I, "energy at rest", psi, 0, tolerance * (precise ? 1e-14 : 1e-6));
    EXPECT_NEAR(s, I, "J at rest", a.J, 1, 0);
}
static void stress_is_zero_at_rest(void **state)
{
    (void)state;
    for_all(rests);
}

/* F -> Q F takes tau to Q tau Q^T and leaves energy, J and wave speed alone (the bound of the
 * speed may turn with Q, within its slack of a factor D). */
static void turns(const subject *s)
{
    if (s->law == FIRN_LINEAR) return; /* knows no rotations, by design */
    int d = s->dim;
    for (int n = 0; n < 40; n++) {
        double stretch[3], U[9], F[9], Q[9], Qt[9], QF[9], half[9], want[9], psi[2];
        for (int i = 0; i < d; i++) stretch[i] = random_in(0.4, 2.5);
        if (n % 4 == 3) stretch[d - 1] = random_in(-0.3, -0.01);
        compose(d, stretch, U, F);
        random_rotation(d, Q);
        multiply(d, Q, F, QF);
        answer a = stress_of(s, F), b = stress_of(s, QF);
        transpose(d, Q, Qt);
        multiply(d, Q, a.tau, half);
        multiply(d, half, Qt, want);
        energies(s, 1, F, &psi[0]);
        energies(s, 1, QF, &psi[1]);
        double ulps = precise ? 1e-13 : 1e-5;
        double scale = ulps * (s->p_wave + largest_entry(d, a.tau));
        for (int i = 0; i < d * d; i++) EXPECT_NEAR(s, F, "tau of Q F", b.tau[i], want[i], scale);
        for (int i = 0; i < d; i++)
            for (int j = 0; j < i; j++)
                EXPECT_NEAR(s, F, "tau's symmetry", a.tau[i * d + j], a.tau[j * d + i], 0);
        EXPECT_NEAR(s, F, "energy of Q F", psi[1], psi[0],
                    ulps * (s->p_wave * (1 + a.J * a.J) + fabs(psi[0])));
        EXPECT_NEAR(s, F, "J of Q F", b.J, a.J, ulps * (1 + fabs(a.J)));
    }
}
static void rotating_the_input_rotates_the_stress(void **state)
{
    (void)state;
    for_all(turns);
}

/* s_i^2 Psi_ii: the second derivative along dF = u_i u_i^T F, u_i a left singular vector. */
static void stiffness_holds(const subject *s)
{
    int d = s->dim, dd = d * d;
    for (int n = 0; n < 40; n++) {
        double stretch[3], U[9], F[9];
        double low = n % 2 ? 0.4 : 0.6, high = n % 2 ? 3 : 1.5; /* J above neo-Hookean's limit */
        for (int i = 0; i < d; i++) stretch[i] = random_in(low, high);
        compose(d, stretch, U, F);
        answer a = stress_of(s, F);
        double most = 0;
        for (int i = 0; i < d; i++) {
            double dF[9], second, u[3], uF[3] = {0};
            for (int j = 0; j < d; j++) u[j] = U[j * d + i];
            for (int j = 0; j < dd; j++) uF[j % d] += u[j / d] * F[j];
            for (int j = 0; j < dd; j++) dF[j] = u[j / d] * uF[j % d];
            energy_slope(s, F, dF, precise ? 0x1p-9 : 0x1p-4, &second);
            double slack = (precise ? 1e-6 : 1e-2) * (a.stiffness + s->p_wave);
            EXPECT_AT_MOST(s, F, "tangent along a principal stretch", second, a.stiffness + slack);
            most = fmax(most, second);
        }
        EXPECT_AT_MOST(s, F, "stiffness is not negative", 0, a.stiffness);
        /* And it is no wild guess: Gershgorin's bound is at most D times too large, and no law
         * depends on it by more than its square. */
        if (s->k.lambda >= 0 && s->law != FIRN_LINEAR) /* which is softer along some stretches */
            EXPECT_AT_MOST(s, F, "stiffness, against the largest tangent", a.stiffness,
                           d * d * most + s->p_wave);
    }
}
static void stiffness_bounds_the_tangent(void **state)
{
    (void)state;
    for_all(stiffness_holds);
}

/* What the time step needs: dF = a n^T F for any directions of motion and travel. */
static void stiffness_holds_for_waves(const subject *s)
{
    int d = s->dim, dd = d * d;
    for (int n = 0; n < 60; n++) {
        double stretch[3], U[9], F[9], dF[9], a[3], normal[3], nF[3] = {0}, second;
        for (int i = 0; i < d; i++) stretch[i] = random_in(0.5, 2);
        compose(d, stretch, U, F);
        random_unit(d, a);
        random_unit(d, normal);
        if (n % 3 == 0) memcpy(a, normal, sizeof a);
        for (int j = 0; j < dd; j++) nF[j % d] += normal[j / d] * F[j];
        for (int j = 0; j < dd; j++) dF[j] = a[j / d] * nF[j % d];
        energy_slope(s, F, dF, precise ? 0x1p-9 : 0x1p-4, &second);
        answer at = stress_of(s, F);
        double slack = (precise ? 1e-6 : 1e-2) * (at.stiffness + s->p_wave);
        EXPECT_AT_MOST(s, F, "tangent along a plane wave", second, at.stiffness + slack);
    }
}
static void stiffness_bounds_every_plane_wave(void **state)
{
    (void)state;
    for_all(stiffness_holds_for_waves);
}

static void p_wave_at_rest(const subject *s)
{
    double I[9] = {0}, mu = (double)s->k.mu, lambda = (double)s->k.lambda;
    for (int i = 0; i < s->dim; i++) I[i * (s->dim + 1)] = 1;
    answer a = stress_of(s, I);
    double tolerance = (precise ? 1e-12 : 1e-5) * s->p_wave;
    EXPECT_AT_MOST(s, I, "2 mu + lambda", 2 * mu + lambda, a.stiffness + tolerance);
    EXPECT_AT_MOST(s, I, "stiffness at rest", a.stiffness, 2 * mu + fmax(lambda, 0) + tolerance);
}
static void stiffness_at_rest_is_the_p_wave_modulus(void **state)
{
    (void)state;
    for_all(p_wave_at_rest);
}

/* A deformation gradient of one of many kinds, entries up to 1e6. */
static void wild_matrix(int d, real *F)
{
    int dd = d * d;
    unsigned kind = (unsigned)(random_bits() % 8);
    double size = pow(10, random_in(-8, 6));
    for (int i = 0; i < dd; i++) F[i] = (real)(size * random_in(-1, 1));
    if (kind == 1) { /* rank one */
        double a[3], b[3];
        random_unit(d, a);
        random_unit(d, b);
        for (int i = 0; i < dd; i++) F[i] = (real)(size * a[i / d] * b[i % d]);
    } else if (kind == 2) { /* small whole numbers: exactly singular, repeated, mirrored */
        for (int i = 0; i < dd; i++) F[i] = (real)((int)(random_bits() % 5) - 2);
    } else if (kind == 3) { /* diagonal, signs and zeros */
        for (int i = 0; i < dd; i++)
            F[i] = i % (d + 1) ? 0
                               : (real)(pow(10, random_in(-6, 6)) * ((int)(random_bits() % 3) - 1));
    } else if (kind == 4) { /* around the identity */
        for (int i = 0; i < dd; i++)
            F[i] = (real)(1e-6 * random_in(-1, 1)) + (real)(i % (d + 1) == 0);
    } else if (kind == 5) { /* one large entry */
        F[random_bits() % (unsigned)dd] = (real)1e6;
    } else if (kind == 6) { /* all the same size, random signs */
        for (int i = 0; i < dd; i++) F[i] = (real)(random_bits() % 2 ? size : -size);
    } else if (kind == 7) { /* crushed along one axis, to nothing or a little through */
        double s[3], U[9], A[9];
        for (int i = 0; i < d; i++) s[i] = random_in(0.5, 2);
        s[0] = random_in(-1, 1) * pow(10, random_in(-40, -1));
        compose(d, s, U, A);
        for (int i = 0; i < dd; i++) F[i] = (real)A[i];
    }
}

/* A million matrices for each kernel and law; the same ones for all. */
static void any_finite_F_gives_finite_stress(void **state)
{
    (void)state;
    enum { ROUNDS = 250, COUNT = 4000 };
    static real F[COUNT * 9], tau[COUNT * 9], J[COUNT], stiffness[COUNT], psi[COUNT];
    for (int d = 2; d <= 3; d++)
        for (int round = 0; round < ROUNDS; round++) {
            int dd = d * d;
            for (int n = 0; n < COUNT; n++) wild_matrix(d, F + n * dd);
            for (int i = 0; i < 3 * dd; i++) /* zero, minus I, the largest */
                F[i] = i < dd ? 0 : i < 2 * dd ? -(real)(i % dd % (d + 1) == 0) : (real)1e6;
            for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
                if (kernels[i]->dim != d || !machine_runs(kernels[i])) continue;
                for (int law = 0; law < FIRN_LAW_COUNT; law++) {
                    subject s = {.kernel = kernels[i], .law = law, .dim = d};
                    firn_material_def def = firn_material_def_default();
                    def.young = 1e11;
                    def.poisson = round % 2 ? 0.45 : -0.5;
                    firn_material_constants(&def, &s.k);
                    kernels[i]->stress(law, &s.k, COUNT, F, tau, J, stiffness);
                    kernels[i]->energy(law, &s.k, COUNT, F, psi);
                    for (int n = 0; n < COUNT; n++) {
                        bool fine = isfinite(J[n]) && isfinite(psi[n]) && isfinite(stiffness[n]) &&
                                    stiffness[n] >= 0;
                        double sum = 0, at[9]; /* of magnitudes: not finite if one is not */
                        for (int c = 0; c < dd; c++)
                            sum += fabs((double)tau[n * dd + c]), at[c] = (double)F[n * dd + c];
                        if (fine && isfinite(sum)) continue;
                        print_error("tau %g, J %g, stiffness %g, energy %g\n", sum, (double)J[n],
                                    (double)stiffness[n], (double)psi[n]);
                        fail_at(__LINE__, &s, at, "a result is not finite", sum, 0);
                    }
                }
            }
        }
}

/* tau = 2 mu eps + lambda tr(eps) I and Psi = mu eps:eps + lambda/2 tr(eps)^2, but for terms of
 * the next order in the strain. */
static void agrees_with_hooke(const subject *s)
{
    int d = s->dim, dd = d * d;
    double mu = (double)s->k.mu, lambda = (double)s->k.lambda;
    double size = precise ? 1e-6 : 1e-3, ulp = precise ? 1e-15 : 2.5e-7;
    for (int n = 0; n < 40; n++) {
        double F[9], psi, trace = 0, square = 0, eps[9] = {0};
        for (int i = 0; i < dd; i++) F[i] = size * random_in(-1, 1) + (i % (d + 1) == 0);
        for (int i = 0; i < dd; i++) F[i] = (double)(real)F[i];
        for (int i = 0; i < d; i++)
            for (int j = 0; j < d; j++)
                eps[i * d + j] = (F[i * d + j] + F[j * d + i]) / 2 - (i == j);
        for (int i = 0; i < dd; i++) square += eps[i] * eps[i];
        for (int i = 0; i < d; i++) trace += eps[i * d + i];
        answer a = stress_of(s, F);
        double tolerance = s->p_wave * (20 * size * size + 4 * ulp);
        for (int i = 0; i < dd; i++)
            EXPECT_NEAR(s, F, "tau, against Hooke's", a.tau[i],
                        2 * mu * eps[i] + (i % (d + 1) == 0) * lambda * trace, tolerance);
        energies(s, 1, F, &psi);
        EXPECT_NEAR(s, F, "energy, against Hooke's", psi, mu * square + lambda / 2 * trace * trace,
                    s->p_wave * size * (20 * size * size + 4 * ulp));
        EXPECT_NEAR(s, F, "J", a.J, 1 + trace, 10 * size * size + 4 * ulp);
    }
}
static void small_strain_agrees_with_hooke(void **state)
{
    (void)state;
    for_all(agrees_with_hooke);
}

static void laws_are_found_by_name(void **state)
{
    (void)state;
    for (int law = 0; law < FIRN_LAW_COUNT; law++) {
        const char *name = firn_law_name((firn_law_kind)law);
        assert_non_null(name);
        assert_int_equal(firn_law_find(name), law);
        for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
            if (machine_runs(kernels[i])) assert_string_equal(kernels[i]->name(law), name);
    }
    assert_int_equal(firn_law_find("jelly"), FIRN_LAW_COUNT);
    assert_int_equal(firn_law_find(""), FIRN_LAW_COUNT);
    assert_int_equal(firn_law_find(NULL), FIRN_LAW_COUNT);
    assert_null(firn_law_name(FIRN_LAW_COUNT));
    assert_null(firn_law_name((firn_law_kind)-1));
    int count = 1;
    assert_null(firn_law_params(FIRN_LAW_COUNT, &count));
    assert_int_equal(count, 0);
}

static void expect_refused(const firn_material_def *def, int index, const char *words)
{
    firn_error error = {0};
    assert_int_equal(firn_material_check(def, index, NULL), FIRN_INVALID);
    assert_int_equal(firn_material_check(def, index, &error), FIRN_INVALID);
    assert_int_equal(error.status, FIRN_INVALID);
    if (strstr(error.message, words)) return;
    print_error("\"%s\" does not say \"%s\"\n", error.message, words);
    fail();
}

static void bad_parameters_are_refused_by_name(void **state)
{
    (void)state;
    firn_error error = {0};
    for (int law = 0; law < FIRN_LAW_COUNT; law++) {
        int count = 0;
        const firn_param *params = firn_law_params((firn_law_kind)law, &count);
        assert_true(count > 0);
        for (int i = 0; i < count; i++) {
            const firn_param *p = &params[i];
            assert_true(p->name && p->unit && p->help && p->cure);
            assert_true(p->min < p->fallback && p->fallback < p->max);
            double bad[] = {p->min,   p->max,   nextafter(p->min, -INFINITY), p->max * 2, NAN,
                            INFINITY, -INFINITY};
            for (size_t b = 0; b < sizeof bad / sizeof *bad; b++) {
                firn_material_def def = firn_material_def_default();
                def.law = (firn_law_kind)law;
                memcpy((char *)&def + p->offset, &bad[b], sizeof bad[b]);
                char where[64];
                snprintf(where, sizeof where, "materials[%d].%s ", 7 + i, p->name);
                expect_refused(&def, 7 + i, where);
                expect_refused(&def, 7 + i, p->cure);
            }
            firn_material_def def = firn_material_def_default();
            def.law = (firn_law_kind)law;
            memcpy((char *)&def + p->offset, &p->fallback, sizeof p->fallback);
            assert_int_equal(firn_material_check(&def, 0, &error), FIRN_OK);
        }
    }

    firn_material_def def = firn_material_def_default();
    def.poisson = 0.5;
    expect_refused(&def, 2,
                   "materials[2].poisson 0.5 must be above -1 and below 0.5; 0.45 is nearly "
                   "incompressible; nearer to 0.5 steps get very short");
    def = firn_material_def_default();
    def.law = FIRN_LAW_COUNT;
    expect_refused(&def, 3, "materials[3].law");
    def.law = (firn_law_kind)-1;
    expect_refused(&def, 3, "materials[3].law");
    expect_refused(&(firn_material_def){.density = 1000, .young = 1e4}, 0,
                   "firn_material_def_default()");
}

/* As firn/material.h has them: the ends are outside, what is next to them inside. */
static void the_ranges_in_the_header_are_the_ones_enforced(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t offset;
        double low, high;
    } ranges[] = {
        {"density", offsetof(firn_material_def, density), 0, 1e6},
        {"young", offsetof(firn_material_def, young), 0, 1e13},
        {"poisson", offsetof(firn_material_def, poisson), -1, 0.5},
    };
    for (int law = 0; law < FIRN_LAW_COUNT; law++)
        for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
            const bool never_negative = law == FIRN_FIXED_COROTATED && ranges[i].low < 0;
            const double low = ranges[i].low, high = ranges[i].high;
            const double out[] = {never_negative ? -1e-6 : low, high};
            const double in[] = {never_negative ? 0 : low + 1e-6, nextafter(high, low)};
            firn_material_def def = firn_material_def_default();
            def.law = (firn_law_kind)law;
            for (int end = 0; end < 2; end++) {
                firn_error error = {0};
                memcpy((char *)&def + ranges[i].offset, &out[end], sizeof out[end]);
                expect_refused(&def, 0, ranges[i].name);
                memcpy((char *)&def + ranges[i].offset, &in[end], sizeof in[end]);
                if (firn_material_check(&def, 0, &error) != FIRN_OK) fail_msg("%s", error.message);
            }
        }
}

static void the_default_is_soft_jelly(void **state)
{
    (void)state;
    firn_material_def def = firn_material_def_default();
    firn_error error = {0};
    assert_int_equal(firn_material_check(&def, 0, &error), FIRN_OK);
    assert_int_equal(def.law, FIRN_NEO_HOOKEAN);
    assert_true(def.density == 1000 && def.young == 1e4 && def.poisson == 0.2);
    firn_law_constants k;
    firn_material_constants(&def, &k);
    assert_true(fabs((double)k.mu - 1e4 / 2.4) < 1e-3);
    assert_true(fabs((double)k.lambda - 1e4 / 3.6) < 1e-3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stress_is_the_energy_gradient),
        cmocka_unit_test(stress_is_the_energy_gradient_when_inverted),
        cmocka_unit_test(stress_is_zero_at_rest),
        cmocka_unit_test(rotating_the_input_rotates_the_stress),
        cmocka_unit_test(stiffness_bounds_the_tangent),
        cmocka_unit_test(stiffness_bounds_every_plane_wave),
        cmocka_unit_test(stiffness_at_rest_is_the_p_wave_modulus),
        cmocka_unit_test(any_finite_F_gives_finite_stress),
        cmocka_unit_test(small_strain_agrees_with_hooke),
        cmocka_unit_test(laws_are_found_by_name),
        cmocka_unit_test(bad_parameters_are_refused_by_name),
        cmocka_unit_test(the_ranges_in_the_header_are_the_ones_enforced),
        cmocka_unit_test(the_default_is_soft_jelly),
    };
    return cmocka_run_group_tests_name("laws", tests, NULL, NULL);
}
