/* Every constitutive law, in every dimension and instruction set this machine runs, against what
 * the stress of an elastic material must be, and what a step may do to a plastic one. The tests walk
 * FIRN_LAWS, so a new law is tested as soon as it has its row. Built twice: single precision, and double (FIRN_DOUBLE) with tight
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
    firn_material_def def;
    firn_law_constants k;
    double p_wave; /* 2 mu + |lambda|, Pa: what stresses are measured against */
    double state;  /* of the particles asked about */
} subject;

typedef void subject_test(const subject *s);

static const struct {
    double young, poisson;
} materials[] = {{1e4, 0.2}, {1e5, 0.45}, {3e3, 0}, {1e4, -0.3}};

static subject make_subject(const law_kernel *kernel, int law, double young, double poisson)
{
    subject s = {.kernel = kernel, .law = law, .dim = kernel->dim};
    s.def = firn_material_def_default();
    s.def.law = (firn_law_kind)law;
    s.def.young = young;
    s.def.poisson = poisson;
    s.def.tension = s.def.yield = 1e9; /* bears all: what less does has a test of its own */
    firn_material_constants(&s.def, &s.k);
    s.p_wave = 2 * (double)s.k.mu + fabs((double)s.k.lambda);
    return s;
}

static void for_all(subject_test *test)
{
    int ran = 0;
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        if (!machine_runs(kernels[i])) continue;
        ran++;
        for (int law = 0; law < FIRN_LAW_COUNT; law++)
            for (size_t m = 0; m < sizeof materials / sizeof *materials; m++) {
                subject s = make_subject(kernels[i], law, materials[m].young, materials[m].poisson);
                random_state = 1; /* the same samples for all */
                test(&s);
                if (!firn_law_get_info(s.def.law).melts) continue;
                *kernels[i]->enthalpy = (real)(0.5 * s.def.latent_heat); /* half molten */
                random_state = 1;
                test(&s);
                *kernels[i]->enthalpy = 0;
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

static double determinant(int d, const double *A)
{
    if (d == 2) return A[0] * A[3] - A[1] * A[2];
    return A[0] * (A[4] * A[8] - A[5] * A[7]) + A[1] * (A[5] * A[6] - A[3] * A[8]) +
           A[2] * (A[3] * A[7] - A[4] * A[6]);
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
    real in[BATCH * 9], state[BATCH], out[BATCH];
    for (int i = 0; i < n * s->dim * s->dim; i++) in[i] = (real)F[i];
    for (int i = 0; i < n; i++) state[i] = (real)s->state;
    s->kernel->energy(s->law, &s->k, n, in, state, out);
    for (int i = 0; i < n; i++) psi[i] = (double)out[i];
}

typedef struct answer {
    double tau[9], J, stiffness, modulus;
    double F[9], state; /* after a step */
} answer;

/* The stress where they are, or with a dt what a step of it leaves. */
static answer ask(const subject *s, const double *F, const double *C, bool flow, double dt)
{
    real in[9] = {0}, gradient[9] = {0}, tau[9], J, stiffness, modulus, state = (real)s->state;
    int dd = s->dim * s->dim;
    for (int i = 0; i < dd; i++) in[i] = (real)F[i], gradient[i] = C ? (real)C[i] : 0;
    law_results out = {tau, &J, &stiffness, &modulus};
    if (flow)
        s->kernel->flow(s->law, &s->k, 1, (real)dt, in, &state, gradient, &out);
    else
        s->kernel->stress(s->law, &s->k, 1, in, &state, gradient, &out);
    answer a = {.J = (double)J,
                .stiffness = (double)stiffness,
                .modulus = (double)modulus,
                .state = (double)state};
    for (int i = 0; i < dd; i++) a.tau[i] = (double)tau[i], a.F[i] = (double)in[i];
    return a;
}

static answer stress_of(const subject *s, const double *F) { return ask(s, F, NULL, false, 0); }
static answer flow_of(const subject *s, const double *F) { return ask(s, F, NULL, true, 1e-3); }

/* To multiples of `grain`. */
static void snap_to(double grain, int d, double *F)
{
    for (int i = 0; i < d * d; i++) F[i] = round(F[i] / grain) * grain;
}
/* With the steps of the differences below, exact in single precision up to stretches of 100 or so. */
static void snap(int d, double *F) { snap_to(0x1p-14, d, F); }

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
    double scale = tolerance * (fmax(s->p_wave, a.modulus) * (1 + size) + largest_entry(d, a.tau));
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
        subject other = *s;
        if (n % 2) other.state = random_in(-0.1, 0.05);
        check_gradient(&other, F, precise ? 1e-8 : 2e-4);
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

static void expect_finite(const subject *s, const law_results *out, const real *more, int count,
                          const real *F)
{
    const int dd = s->dim * s->dim;
    for (int n = 0; n < count; n++) {
        bool fine = isfinite(out->J[n]) && isfinite(more[n]) && isfinite(out->modulus[n]) &&
                    isfinite(out->stiffness[n]) && out->stiffness[n] >= 0;
        double sum = 0, at[9]; /* of magnitudes: not finite if one is not */
        for (int c = 0; c < dd; c++)
            sum += fabs((double)out->tau[n * dd + c]), at[c] = (double)F[n * dd + c];
        if (fine && isfinite(sum)) continue;
        print_error("tau %g, J %g, stiffness %g, energy or state %g\n", sum, (double)out->J[n],
                    (double)out->stiffness[n], (double)more[n]);
        fail_at(__LINE__, s, at, "a result is not finite", sum, 0);
    }
}

/* A million matrices for each kernel and law; the same ones for all. */
static void any_finite_F_gives_finite_stress(void **state)
{
    (void)state;
    enum { ROUNDS = 250, COUNT = 4000 };
    static real F[COUNT * 9], after[COUNT * 9], tau[COUNT * 9], J[COUNT], stiffness[COUNT],
        modulus[COUNT], psi[COUNT], memory[COUNT];
    law_results out = {tau, J, stiffness, modulus};
    for (int d = 2; d <= 3; d++)
        for (int round = 0; round < ROUNDS; round++) {
            int dd = d * d;
            for (int n = 0; n < COUNT; n++) wild_matrix(d, F + n * dd);
            for (int i = 0; i < 3 * dd; i++) /* zero, minus I, the largest */
                F[i] = i < dd ? 0 : i < 2 * dd ? -(real)(i % dd % (d + 1) == 0) : (real)1e6;
            for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
                const law_kernel *kernel = kernels[i];
                if (kernel->dim != d || !machine_runs(kernel)) continue;
                for (int law = 0; law < FIRN_LAW_COUNT; law++) {
                    const subject s = make_subject(kernel, law, 1e11, round % 2 ? 0.45 : -0.5);
                    kernel->stress(law, &s.k, COUNT, F, NULL, NULL, &out);
                    kernel->energy(law, &s.k, COUNT, F, NULL, psi);
                    expect_finite(&s, &out, psi, COUNT, F);
                    if (!kernel->flows(law)) continue;
                    for (int n = 0; n < COUNT; n++) memory[n] = (real)(n % 3 - 1);
                    memcpy(after, F, sizeof after);
                    kernel->flow(law, &s.k, COUNT, (real)1e-3, after, memory, NULL, &out);
                    expect_finite(&s, &out, memory, COUNT, F);
                    for (int c = 0; c < COUNT * dd; c++) assert_true(isfinite(after[c]));
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

/* ---- plastic laws ---- */

/* Eigenvalues of a symmetric matrix by Jacobi rotations, in falling order. */
static void eigenvalues(int d, const double *symmetric, double *out)
{
    double A[9];
    memcpy(A, symmetric, sizeof A);
    for (int pass = 0; pass < 12; pass++)
        for (int p = 0; p < d; p++)
            for (int q = p + 1; q < d; q++) {
                double t = 0.5 * atan2(2 * A[p * d + q], A[p * d + p] - A[q * d + q]);
                double c = cos(t), s = sin(t);
                for (int k = 0; k < d; k++) {
                    double x = A[p * d + k], y = A[q * d + k];
                    A[p * d + k] = c * x + s * y, A[q * d + k] = c * y - s * x;
                }
                for (int k = 0; k < d; k++) {
                    double x = A[k * d + p], y = A[k * d + q];
                    A[k * d + p] = c * x + s * y, A[k * d + q] = c * y - s * x;
                }
            }
    for (int i = 0; i < d; i++) out[i] = A[i * (d + 1)];
    for (int i = 0; i < d; i++)
        for (int j = i + 1; j < d; j++)
            if (out[j] > out[i]) {
                double x = out[i];
                out[i] = out[j], out[j] = x;
            }
}

static void singular_values(int d, const double *F, double *out)
{
    double Ft[9], b[9];
    transpose(d, F, Ft);
    multiply(d, F, Ft, b);
    eigenvalues(d, b, out);
    for (int i = 0; i < d; i++) out[i] = sqrt(fmax(out[i], 0));
}

/* What the def's law is. */
static firn_law_info info_of(const subject *s) { return firn_law_get_info(s->def.law); }

/* How far beyond yielding, in strains: below 0 inside, 0 on the surface. From the papers' formulas,
 * by other ways than the laws take. */
static double beyond_snow(const subject *s, const double *F)
{
    double S[3];
    singular_values(s->dim, F, S);
    return fmax(S[0] - 1 - s->def.critical_stretch,
                1 - s->def.critical_compression - S[s->dim - 1]);
}

/* |dev tau|, and the trace in *trace. */
static double shear_norm(const subject *s, const double *F, double *trace)
{
    const answer a = stress_of(s, F);
    double square = 0;
    *trace = 0;
    for (int i = 0; i < s->dim; i++) *trace += a.tau[i * (s->dim + 1)];
    for (int i = 0; i < s->dim * s->dim; i++) {
        const double t = a.tau[i] - (i % (s->dim + 1) == 0) * *trace / s->dim;
        square += t * t;
    }
    return sqrt(square);
}

/* Mohr-Coulomb in 2D, where the cone is exact: (t1 - t2)/2 = c cos - sin (t1 + t2)/2; in 3D the cone
 * through q = M (p + c cot), M = 6 sin/(3 - sin). */
static double beyond_grains(const subject *s, const double *F)
{
    const double angle = s->def.friction_angle * 3.14159265358979323846 / 180, sine = sin(angle);
    double trace, size = shear_norm(s, F, &trace);
    const double pull = s->def.cohesion / tan(angle), p = -trace / s->dim + pull;
    const double radius =
        s->dim == 2 ? size / sqrt(2) - sine * p : sqrt(1.5) * size - 6 * sine / (3 - sine) * p;
    return radius / (2 * (double)s->k.mu);
}

static double beyond_clay(const subject *s, const double *F)
{
    double trace, most = s->def.yield + s->def.hardening_modulus * s->state;
    return (shear_norm(s, F, &trace) / sqrt(2) - most) / (2 * (double)s->k.mu);
}

/* log J at which what melts is as loose as it gets. */
static double loosest(const subject *s)
{
    return 5 * s->def.yield / ((double)s->k.lambda + 2 * (double)s->k.mu / s->dim) + 0.1;
}

static double beyond_melting(const subject *s, const double *F)
{
    return fmax(beyond_clay(s, F), log(determinant(s->dim, F)) - loosest(s));
}

/* The ellipse, from Cauchy-like invariants of the stress; its own size makes a strain of it. */
static double beyond_brittle(const subject *s, const double *F)
{
    const firn_material_def *m = &s->def;
    const double mu = (double)s->k.mu, bulk = (double)s->k.lambda + 2 * mu / s->dim;
    const double sine = sin(m->friction_angle * 3.14159265358979323846 / 180);
    const double M = s->dim == 2 ? 2 * sine : 6 * sine / (3 - sine), B = m->tensile_ratio;
    const double p0 =
        bulk * fmin(0.45, 1e-5 + sinh(m->hardening * fmax(m->compaction - s->state, 0)));
    double trace, size = shear_norm(s, F, &trace);
    const double p = -trace / s->dim, q2 = (6 - s->dim) / 2.0 * size * size;
    if (p > p0 || p < -B * p0) return fmax(p - p0, -B * p0 - p) / (2 * mu);
    return ((1 + 2 * B) * q2 / (M * M) + (p + B * p0) * (p - p0)) / ((1 + B) * p0 * 2 * mu);
}

/* What a step ends on, where it is known; a law without a row here keeps the other claims. */
typedef double beyond_yield(const subject *s, const double *F);
static const struct {
    beyond_yield *beyond;
    bool by_rate; /* a step leaves it beyond, by how fast it went */
    bool moves;   /* the surface, after the return, and its ends change the volume */
} surfaces[FIRN_LAW_COUNT] = {
    [FIRN_SNOW] = {.beyond = beyond_snow},
    [FIRN_DRUCKER_PRAGER] = {.beyond = beyond_grains},
    [FIRN_VON_MISES] = {.beyond = beyond_clay},
    [FIRN_HERSCHEL_BULKLEY] = {.beyond = beyond_clay, .by_rate = true},
    [FIRN_MELTING] = {.beyond = beyond_melting, .by_rate = true},
    [FIRN_NACC] = {.beyond = beyond_brittle, .moves = true},
};

static void for_plastic(subject_test *test)
{
    int ran = 0;
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        if (!machine_runs(kernels[i])) continue;
        ran++;
        for (int law = 0; law < FIRN_LAW_COUNT; law++) {
            if (!kernels[i]->flows(law)) continue;
            for (int variant = 0; variant < 2; variant++) { /* with the law's options off and on */
                subject s = make_subject(kernels[i], law, 1e5, 0.3);
                s.def.yield = firn_material_def_default().yield;
                firn_material_constants(&s.def, &s.k);
                if (variant) {
                    s.def.cohesion = 300;
                    s.def.hardening_modulus = 2e4;
                    s.def.viscosity = 20;
                    s.def.exponent = 0.6;
                    s.def.tait_exponent = 0;
                    firn_material_constants(&s.def, &s.k);
                }
                random_state = 1;
                test(&s);
            }
        }
    }
    if (!ran) skip();
}

/* A strain of a random size, upright. */
static void random_strain(const subject *s, double *F)
{
    double stretch[3], U[9], size = pow(10, random_in(-4, -0.6));
    for (int i = 0; i < 3; i++) stretch[i] = exp(size * random_in(-1, 1));
    compose(s->dim, stretch, U, F);
    snap_to(0x1p-21, s->dim, F); /* so that F - I is exact, and I more than that */
}

static void lands_on_surface(const subject *s)
{
    beyond_yield *beyond = surfaces[s->law].beyond;
    if (!beyond) return;
    const double near = precise ? 1e-9 : 2e-6;
    int inside = 0, outside = 0;
    for (int n = 0; n < 400; n++) {
        double F[9];
        random_strain(s, F);
        const double before = beyond(s, F);
        const answer a = flow_of(s, F);
        subject then = *s;
        if (!surfaces[s->law].moves) then.state = a.state;
        const double after = beyond(&then, a.F);
        if (before < -near) {
            inside++;
            for (int i = 0; i < s->dim * s->dim; i++)
                EXPECT_NEAR(s, F, "F that does not yield, to the bit", a.F[i], F[i], 0);
            EXPECT_NEAR(s, F, "state that does not yield, to the bit", a.state, 0, 0);
        } else if (before > near) {
            outside++;
            if (surfaces[s->law].by_rate)
                EXPECT_AT_MOST(s, F, "distance from the surface", after, before);
            else
                EXPECT_NEAR(s, F, "distance from the surface", after, 0, near);
        }
    }
    assert_true(inside > 20 && outside > 20);
}
static void a_step_ends_on_the_yield_surface_or_changes_nothing(void **state)
{
    (void)state;
    for_plastic(lands_on_surface);
}

/* Whether a longer step flows further. */
static bool flows_by_rate(const subject *s)
{
    const uint64_t kept = random_state;
    bool differs = surfaces[s->law].by_rate;
    for (int n = 0; n < 20 && !differs; n++) {
        double F[9];
        random_strain(s, F);
        const answer quick = ask(s, F, NULL, true, 1e-5), slow = ask(s, F, NULL, true, 1e-2);
        differs = memcmp(quick.F, slow.F, (size_t)(s->dim * s->dim) * sizeof *quick.F) != 0;
    }
    random_state = kept;
    return differs;
}

static void is_idempotent(const subject *s)
{
    if (flows_by_rate(s)) return;
    const double near = precise ? 1e-12 : 2e-6;
    for (int n = 0; n < 200; n++) {
        double F[9];
        random_strain(s, F);
        const answer once = flow_of(s, F);
        subject then = *s;
        if (!surfaces[s->law].moves) then.state = once.state;
        const answer twice = flow_of(&then, once.F);
        for (int i = 0; i < s->dim * s->dim; i++)
            EXPECT_NEAR(s, F, "F returned twice", twice.F[i], once.F[i], near);
        EXPECT_NEAR(s, F, "state returned twice", twice.state, then.state, near);
    }
}
static void returning_twice_is_returning_once(void **state)
{
    (void)state;
    for_plastic(is_idempotent);
}

/* What flow writes beside F and state is what stress says of them. */
static void agrees_with_stress(const subject *s)
{
    for (int n = 0; n < 200; n++) {
        double F[9];
        random_strain(s, F);
        subject then = *s;
        then.state = random_in(-0.2, 0.1);
        const answer a = flow_of(&then, F);
        then.state = a.state;
        const answer b = stress_of(&then, a.F);
        const double scale = (precise ? 1e-12 : 3e-6) * fmax(s->p_wave, b.modulus);
        for (int i = 0; i < s->dim * s->dim; i++)
            EXPECT_NEAR(s, F, "tau of a step, against stress", a.tau[i], b.tau[i], scale);
        EXPECT_NEAR(s, F, "J of a step", a.J, b.J, precise ? 1e-12 : 1e-6);
        EXPECT_NEAR(s, F, "modulus of a step", a.modulus, b.modulus, scale);
        EXPECT_AT_MOST(s, F, "stiffness of a step", a.stiffness, b.stiffness + scale);
    }
}
static void a_step_leaves_the_stress_of_what_it_leaves(void **state)
{
    (void)state;
    for_plastic(agrees_with_stress);
}

static void step_turns(const subject *s)
{
    const int d = s->dim;
    for (int n = 0; n < 100; n++) {
        double F[9], Q[9], QF[9], want[9];
        random_strain(s, F);
        random_rotation(d, Q);
        multiply(d, Q, F, QF);
        const answer a = flow_of(s, F), b = flow_of(s, QF);
        multiply(d, Q, a.F, want);
        if (info_of(s).liquid) memcpy(want, a.F, sizeof want); /* a step sets F to I */
        for (int i = 0; i < d * d; i++)
            EXPECT_NEAR(s, F, "F after Q F", b.F[i], want[i], precise ? 1e-12 : 3e-6);
        EXPECT_NEAR(s, F, "state after Q F", b.state, a.state, precise ? 1e-12 : 5e-6);
    }
}
static void rotating_the_input_rotates_what_a_step_leaves(void **state)
{
    (void)state;
    for_plastic(step_turns);
}

/* Whether F changes volume only: F F^T is a multiple of I. */
static bool is_isotropic(int dim, const double F[9])
{
    double B[9], mean = 0, off = 0;
    for (int i = 0; i < dim; i++)
        for (int j = 0; j < dim; j++) {
            B[i * dim + j] = 0;
            for (int k = 0; k < dim; k++) B[i * dim + j] += F[i * dim + k] * F[j * dim + k];
            if (i == j) mean += B[i * dim + j] / dim;
        }
    for (int i = 0; i < dim * dim; i++) {
        off = fmax(off, fabs(B[i] - (i % (dim + 1) ? 0 : mean)));
    }
    return off < (precise ? 1e-9 : 1e-4) * mean;
}

/* det F exp(state) is the volume, which yielding does not change; other plasticity keeps det F. Brittle
 * solids do the latter, but for what comes back to an end of the ellipse, where only pressure is left:
 * that goes into the state. What melts forgets how far it was pulled apart. */
static void keeps_volume(const subject *s)
{
    const bool held = firn_law_state((firn_law_kind)s->law) == FIRN_STATE_LOG_VOLUME;
    for (int n = 0; n < 200; n++) {
        double F[9];
        random_strain(s, F);
        subject then = *s;
        if (n % 2 && held) then.state = random_in(0, 0.1);
        const answer a = flow_of(&then, F);
        double before = log(determinant(s->dim, F)) + (held ? then.state : 0);
        if (info_of(s).melts) before = fmin(before, loosest(s));
        const double after = log(determinant(s->dim, a.F)) + (held ? a.state : 0);
        const double near = precise ? 1e-12 : 4e-6;
        const bool end = surfaces[s->law].moves && is_isotropic(s->dim, a.F);
        EXPECT_NEAR(s, F, "log of the volume", after + (end ? a.state : 0),
                    before + (end ? then.state : 0), near);
    }
}
static void yielding_keeps_the_volume(void **state)
{
    (void)state;
    for_plastic(keeps_volume);
}

/* Yielding turns stored energy into heat; there is none to be had from it. */
static void loses_energy(const subject *s)
{
    if (info_of(s).packs || info_of(s).liquid) return; /* packing hardens; nothing yields */
    for (int n = 0; n < 200; n++) {
        double F[9], before, after;
        random_strain(s, F);
        const answer a = flow_of(s, F);
        energies(s, 1, F, &before);
        energies(s, 1, a.F, &after);
        EXPECT_AT_MOST(s, F, "energy after yielding", after,
                       before + (precise ? 1e-14 : 1e-8) * s->p_wave);
    }
}
static void yielding_loses_energy(void **state)
{
    (void)state;
    for_plastic(loses_energy);
}

/* The stress a step of Herschel and Bulkley's leaves, by bisection of its equation. */
static double relaxed(double shear, double mu_dt, const firn_material_def *m)
{
    double low = m->yield, high = shear;
    for (int i = 0; i < 200; i++) {
        const double s = (low + high) / 2;
        const double sum = s + mu_dt * pow((s - m->yield) / m->viscosity, 1 / m->exponent);
        if (sum > shear)
            high = s;
        else
            low = s;
    }
    return low;
}

static void paste_relaxes_as_herschel_and_bulkley_say(void **state)
{
    (void)state;
    static const double exponents[] = {0.2, 0.5, 1, 1.7, 4}, viscosities[] = {0.01, 5, 3000};
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        if (!machine_runs(kernels[i])) continue;
        for (int n = 0; n < 300; n++) {
            subject s = make_subject(kernels[i], FIRN_HERSCHEL_BULKLEY, 1e5, 0.3);
            s.def.exponent = exponents[n % 5];
            s.def.viscosity = viscosities[n % 3];
            s.def.yield = n % 7 ? 150 : 0;
            firn_material_constants(&s.def, &s.k);
            double F[9], trace;
            const double dt = pow(10, random_in(-6, -2));
            random_strain(&s, F);
            const double trial = shear_norm(&s, F, &trace) / sqrt(2);
            const double want =
                trial > s.def.yield ? relaxed(trial, (double)s.k.mu * dt, &s.def) : trial;
            const answer a = ask(&s, F, NULL, true, dt);
            EXPECT_NEAR(&s, F, "shear stress after a step", shear_norm(&s, a.F, &trace) / sqrt(2),
                        want, (precise ? 1e-9 : 4e-6) * (s.p_wave + trial));
        }
    }
}

/* Sheared at a steady rate, a paste bears yield + viscosity rate^exponent, and a liquid its viscosity
 * times the rate. */
static void steady_shear_gives_the_flow_curve(void **state)
{
    (void)state;
    static const double rates[] = {0.5, 20};
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        if (!machine_runs(kernels[i])) continue;
        for (int n = 0; n < 6; n++) {
            const bool liquid = n % 3 == 2;
            subject s =
                make_subject(kernels[i], liquid ? FIRN_LIQUID : FIRN_HERSCHEL_BULKLEY, 1e5, 0.3);
            const int d = s.dim;
            s.def.exponent = n % 3 ? 0.6 : 1;
            s.def.viscosity = 30;
            s.def.yield = 100;
            firn_material_constants(&s.def, &s.k);
            const double rate = rates[n / 3], dt = 1e-4;
            double F[9] = {0}, C[9] = {0}, step[9] = {0};
            C[1] = rate;
            for (int c = 0; c < d * d; c++) {
                F[c] = c % (d + 1) == 0;
                step[c] = F[c] + dt * C[c];
            }
            answer a = {{0}, 0, 0, 0, {0}, 0};
            for (int k = 0; k < 4000; k++) {
                double moved[9];
                multiply(d, step, F, moved);
                a = ask(&s, moved, C, true, dt);
                memcpy(F, a.F, sizeof F);
                s.state = a.state;
            }
            const double want = liquid ? 30 * rate : 100 + 30 * pow(rate, s.def.exponent);
            EXPECT_NEAR(&s, F, "shear stress", a.tau[1], want, 0.005 * want);
            EXPECT_NEAR(&s, F, "J after shear", a.J, 1, precise ? 1e-6 : 5e-4);
        }
    }
}

/* Pulled beyond its tension a liquid cavitates: J ends there, and pressing it back meets pressure at
 * once. By default it bears none. */
static void a_liquid_bears_its_tension_and_no_more(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        if (!machine_runs(kernels[i])) continue;
        for (int n = 0; n < 4; n++) {
            subject s = make_subject(kernels[i], FIRN_LIQUID, 1, 0);
            s.def.tension = n % 2 ? 2e4 : 0;
            s.def.tait_exponent = n / 2 ? 7 : 0;
            firn_material_constants(&s.def, &s.k);
            double F[9] = {0};
            for (int a = 0; a < s.dim; a++) F[a * (s.dim + 1)] = 1.01;
            answer a = {{0}, 0, 0, 0, {0}, 0};
            for (int k = 0; k < 50; k++) a = flow_of(&s, F), s.state = a.state;
            EXPECT_NEAR(&s, F, "pull per volume", a.tau[0] / a.J, s.def.tension,
                        precise ? 1e-6 : 5);
            for (int c = 0; c < s.dim; c++) F[c * (s.dim + 1)] = 0.99;
            a = flow_of(&s, F);
            EXPECT_AT_MOST(&s, F, "stress when pressed again", a.tau[0], s.def.tension - 1e4);
        }
    }
}

/* Cauchy stress along x of snow strained along x alone, from a state and elastic stretch. */
static double snow_sigma(subject *s, double *stretch)
{
    double F[9] = {0};
    for (int i = 0; i < s->dim; i++) F[i * (s->dim + 1)] = i ? 1 : *stretch;
    const answer a = flow_of(s, F);
    s->state = a.state;
    *stretch = a.F[0];
    return a.tau[0] / (a.J * exp(a.state));
}

/* Closed form: -(2 mu + lambda) h c s / f, with the elastic stretch s = max(f, 0.975) = 1 - c and the
 * hardening h = exp(10 (1 - f / s)). */
static void compressed_snow_is_as_hard_as_the_table_says(void **state)
{
    (void)state;
    static const struct {
        double f, sigma, hardening;
    } table[] = {{0.99, -1555.6, 1},
                 {0.975, -3888.9, 1},
                 {0.95, -5157.8, 1.2923},
                 {0.9, -9092.0, 2.1581},
                 {0.8, -28526, 6.0187}};
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        if (!machine_runs(kernels[i])) continue;
        for (size_t t = 0; t < sizeof table / sizeof *table; t++) {
            subject s = make_subject(kernels[i], FIRN_SNOW, 1.4e5, 0.2);
            double elastic = table[t].f;
            const double kept = fmax(table[t].f, 0.975),
                         hardening = exp(10 * (1 - table[t].f / kept));
            const double p_wave = 1.4e5 / 0.9; /* at poisson 0.2 */
            const double want = -p_wave * hardening * (1 - kept) * kept / table[t].f;
            const double got = snow_sigma(&s, &elastic);
            EXPECT_NEAR(&s, NULL, "sigma, against the printed table", got, table[t].sigma,
                        1e-4 * fabs(want));
            EXPECT_NEAR(&s, NULL, "hardening", hardening, table[t].hardening, 1e-4);
            EXPECT_NEAR(&s, NULL, "sigma", got, want, (precise ? 1e-12 : 1e-4) * fabs(want));
        }
        /* In steps down to 0.8 and back: the same at the end, and tension long before f = 1. */
        subject s = make_subject(kernels[i], FIRN_SNOW, 1.4e5, 0.2);
        const int steps = 200;
        const double ratio = pow(0.8, 1.0 / steps);
        double elastic = 1, sigma = 0, f = 1;
        for (int n = 0; n < steps; n++) elastic *= ratio, sigma = snow_sigma(&s, &elastic);
        EXPECT_NEAR(&s, NULL, "sigma after many steps", sigma, table[4].sigma,
                    (precise ? 1e-4 : 2e-3) * 28526);
        for (f = 0.8; f < 1 && sigma <= 0; f /= ratio)
            elastic /= ratio, sigma = snow_sigma(&s, &elastic);
        EXPECT_NEAR(&s, NULL, "where unloading meets tension", f, 0.8 / 0.975, 0.002);
    }
}

static void laws_are_found_by_name(void **state)
{
    (void)state;
    for (int law = 0; law < FIRN_LAW_COUNT; law++) {
        const char *name = firn_law_name((firn_law_kind)law);
        assert_non_null(name);
        assert_int_equal(firn_law_find(name), law);
    }
    assert_int_equal(firn_law_find("jelly"), FIRN_LAW_COUNT);
    assert_int_equal(firn_law_find(""), FIRN_LAW_COUNT);
    assert_int_equal(firn_law_find(NULL), FIRN_LAW_COUNT);
    assert_null(firn_law_name(FIRN_LAW_COUNT));
    assert_null(firn_law_name((firn_law_kind)-1));
    assert_null(firn_law_params(FIRN_LAW_COUNT));
}

static bool reads(const firn_law_info *law, const char *name)
{
    for (int i = 0; law->params[i]; i++) {
        if (strcmp(law->params[i]->name, name) == 0) return true;
    }
    return false;
}

static void rows_agree_with_functions_and_parameters(void **state)
{
    (void)state;
    for (int law = 0; law < FIRN_LAW_COUNT; law++) {
        const firn_law_info info = firn_law_get_info((firn_law_kind)law);
        if (!info.help || !info.help[0]) fail_msg("%s has no help", info.name);
        for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
            if (machine_runs(kernels[i]) && !kernels[i]->flows(law) != info.elastic)
                fail_msg("%s: elastic is %d", info.name, info.elastic);
        if (info.elastic) assert_int_equal(info.state, FIRN_STATE_NONE);
        assert_int_equal(info.liquid, reads(&info, "bulk"));
        assert_int_equal(info.liquid, !reads(&info, "young"));
        assert_int_equal(info.melts, reads(&info, "melting_point"));
        assert_true(!info.packs || (reads(&info, "hardening") && reads(&info, "hardening_cap")));
    }
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
        const firn_param *const *params = firn_law_params((firn_law_kind)law);
        assert_non_null(params[0]);
        for (int i = 0; params[i]; i++) {
            const firn_param *p = params[i];
            assert_true(p->name && p->unit && p->help && p->cure);
            assert_true(p->least <= p->value[0] && p->value[0] <= p->most);
            const double bad[] = {nextafter(p->least, -INFINITY),
                                  nextafter(p->most, INFINITY),
                                  p->most * 2,
                                  NAN,
                                  INFINITY,
                                  -INFINITY};
            firn_material_def def = firn_material_def_default();
            def.law = (firn_law_kind)law;
            for (size_t b = 0; b < sizeof bad / sizeof *bad; b++) {
                memcpy((char *)&def + p->offset, &bad[b], sizeof bad[b]);
                char where[64];
                snprintf(where, sizeof where, "materials[%d].%s ", 7 + i, p->name);
                expect_refused(&def, 7 + i, where);
                expect_refused(&def, 7 + i, p->cure);
            }
            const double good[] = {p->value[0], p->least, p->most};
            for (size_t g = 0; g < sizeof good / sizeof *good; g++) {
                memcpy((char *)&def + p->offset, &good[g], sizeof good[g]);
                if (strcmp(p->name, "poisson") == 0 && good[g] < 0 &&
                    firn_law_get_info(def.law).poisson_from_0) {
                    expect_refused(&def, 0, "use neo_hookean");
                } else if (strcmp(p->name, "liquid_density") == 0 && good[g] == p->most) {
                    expect_refused(&def, 0, "within 20 times density");
                } else if (strcmp(p->name, "crush_pressure") == 0 && good[g] == p->most) {
                    expect_refused(&def, 0, "must be above density");
                } else if (firn_material_check(&def, 0, &error) != FIRN_OK) {
                    fail_msg("%s", error.message);
                }
            }
        }
    }

    firn_material_def def = firn_material_def_default();
    def.poisson = 0.5;
    expect_refused(&def, 2,
                   "materials[2].poisson 0.5 must be from -0.999 to 0.4999; 0.45 is nearly "
                   "incompressible; nearer to 0.5 steps get very short");
    def = firn_material_def_default();
    def.law = FIRN_LAW_COUNT;
    expect_refused(&def, 3, "materials[3].law");
    def.law = (firn_law_kind)-1;
    expect_refused(&def, 3, "materials[3].law");
    expect_refused(&(firn_material_def){.density = 1000, .young = 1e4}, 0,
                   "firn_material_def_default()");
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

/* ---- tangents ---- */

/* T of a unit displacement gradient along each of the dd entries: column c of `K`, dd x dd. False
 * where the law has no tangent. */
static bool tangent_of(const subject *s, const double *F, double K[81])
{
    const int dd = s->dim * s->dim;
    real in[81] = {0}, state[9], C[81] = {0}, T[81];
    for (int c = 0; c < dd; c++) {
        state[c] = (real)s->state;
        for (int i = 0; i < dd; i++) in[c * dd + i] = (real)F[i];
        C[c * dd + c] = 1;
    }
    if (!s->kernel->differential(s->law, &s->k, dd, in, state, C, T)) return false;
    for (int c = 0; c < dd; c++)
        for (int i = 0; i < dd; i++) K[i * dd + c] = (double)T[c * dd + i];
    return true;
}

/* The same by differences of the stress, without clamping: T = dtau - tau C^T, as tau = P F^T. */
static void tangent_by_differences(const subject *s, const double *F, double h, double K[81])
{
    const int d = s->dim, dd = d * d;
    const double *tau = stress_of(s, F).tau;
    double middle[9];
    memcpy(middle, tau, sizeof middle);
    for (int c = 0; c < dd; c++) {
        double C[9] = {0}, Ct[9] = {0}, CF[9], bent[9], there[9], sum[9] = {0};
        static const double weight[4] = {1, -8, 8, -1}, at[4] = {-2, -1, 1, 2};
        C[c] = 1;
        multiply(d, C, F, CF);
        transpose(d, C, Ct);
        multiply(d, middle, Ct, bent);
        for (int t = 0; t < 4; t++) {
            for (int i = 0; i < dd; i++) there[i] = F[i] + at[t] * h * CF[i];
            const answer a = stress_of(s, there);
            for (int i = 0; i < dd; i++) sum[i] += weight[t] * a.tau[i] / (12 * h);
        }
        for (int i = 0; i < dd; i++) K[i * dd + c] = sum[i] - bent[i];
    }
}

/* Whether a symmetric matrix less a shift of its diagonal is positive definite (Cholesky). */
static bool is_positive(int n, const double *K, double shift)
{
    double L[81];
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double sum = (K[i * n + j] + K[j * n + i]) / 2 - (i == j ? shift : 0);
            for (int k = 0; k < j; k++) sum -= L[i * n + k] * L[j * n + k];
            if (i == j && !(sum > 0)) return false;
            L[i * n + j] = i == j ? sqrt(sum) : sum / L[j * n + j];
        }
    return true;
}

static void tangent_holds(const subject *s)
{
    static const double ranges[][2] = {{0.95, 1.05}, {0.5, 2}, {0.2, 4}};
    const int dd = s->dim * s->dim;
    int compared = 0;
    for (int n = 0; n < 60; n++) {
        double stretch[3], U[9], F[9], K[81], exact[81];
        for (int i = 0; i < 3; i++) stretch[i] = random_in(ranges[n % 3][0], ranges[n % 3][1]);
        if (n % 3 == 2 && n % 2) stretch[s->dim - 1] *= -1; /* inverted */
        if (n == 0) stretch[0] = stretch[1] = stretch[2] = 1;
        compose(s->dim, stretch, U, F);
        if (!tangent_of(s, F, K)) return;
        const double size = largest_entry(dd, K) + s->p_wave;
        for (int i = 0; i < dd; i++)
            for (int j = 0; j < i; j++)
                EXPECT_NEAR(s, F, "symmetry of the tangent", K[i * dd + j], K[j * dd + i],
                            (precise ? 1e-12 : 3e-6) * size);
        if (!is_positive(dd, K, -(precise ? 1e-10 : 1e-5) * size))
            fail_at(__LINE__, s, F, "negative curvature of the tangent", -1, 0);
        if (!precise) continue;
        tangent_by_differences(s, F, 1e-4, exact);
        if (!is_positive(dd, exact, -1e-8 * size)) continue; /* there it is clamped */
        compared++;
        for (int i = 0; i < dd * dd; i++)
            EXPECT_NEAR(s, F, "tangent, against differences of the stress", K[i], exact[i],
                        1e-7 * size);
    }
    if (precise && compared < 2) fail_at(__LINE__, s, NULL, "samples compared", compared, 2);
}
static void tangent_is_the_stress_gradient_and_never_negative(void **state)
{
    (void)state;
    for_all(tangent_holds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stress_is_the_energy_gradient),
        cmocka_unit_test(tangent_is_the_stress_gradient_and_never_negative),
        cmocka_unit_test(stress_is_the_energy_gradient_when_inverted),
        cmocka_unit_test(stress_is_zero_at_rest),
        cmocka_unit_test(rotating_the_input_rotates_the_stress),
        cmocka_unit_test(stiffness_bounds_the_tangent),
        cmocka_unit_test(stiffness_bounds_every_plane_wave),
        cmocka_unit_test(stiffness_at_rest_is_the_p_wave_modulus),
        cmocka_unit_test(any_finite_F_gives_finite_stress),
        cmocka_unit_test(small_strain_agrees_with_hooke),
        cmocka_unit_test(a_step_ends_on_the_yield_surface_or_changes_nothing),
        cmocka_unit_test(returning_twice_is_returning_once),
        cmocka_unit_test(a_step_leaves_the_stress_of_what_it_leaves),
        cmocka_unit_test(rotating_the_input_rotates_what_a_step_leaves),
        cmocka_unit_test(yielding_keeps_the_volume),
        cmocka_unit_test(yielding_loses_energy),
        cmocka_unit_test(paste_relaxes_as_herschel_and_bulkley_say),
        cmocka_unit_test(steady_shear_gives_the_flow_curve),
        cmocka_unit_test(a_liquid_bears_its_tension_and_no_more),
        cmocka_unit_test(compressed_snow_is_as_hard_as_the_table_says),
        cmocka_unit_test(laws_are_found_by_name),
        cmocka_unit_test(rows_agree_with_functions_and_parameters),
        cmocka_unit_test(bad_parameters_are_refused_by_name),
        cmocka_unit_test(the_default_is_soft_jelly),
    };
    return cmocka_run_group_tests_name("laws", tests, NULL, NULL);
}
