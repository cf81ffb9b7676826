/* Small matrices on lanes: products, determinant, cofactors, singular values, polar rotation.
 *
 * A matrix is vr[DD], row-major, D = 2 or 3; each lane holds a matrix of its own and never depends
 * on its neighbours. Outputs must not overlap inputs.
 *
 * The singular values take neither iteration nor sorting. In 2D they are a closed form, in 3D:
 *   1. scale by a power of two, so that nothing over- or underflows;
 *   2. of the three eigenvalues of A^T A take the one that stands apart: the largest or the
 *      smallest, whichever is farther from the middle one. Its eigenvector v is always well
 *      conditioned (the idea of Eberly 2014, "A Robust Eigensolver for 3x3 Symmetric Matrices");
 *   3. u = A v, or cof(A) v for the smallest, normalised. What is left of A is a 2x2 matrix between
 *      the planes across v and across u: the closed form.
 * A^T A squares the condition number, so methods that take all of V from it lose the small singular
 * values in float. Here it yields v alone: an error d in v leaves off-diagonal terms of d * s_max,
 * and the rest is read from A. Hence all errors are a few ulp of s_max, for every finite A.
 *
 * Measured (Zen 3, gcc 12 and clang 14, float 3D, ns per matrix, AVX2 / SSE2):
 *   m_svd                                   16 / 35
 *   m_polar at strains of 4 %                5 / 12
 *   m_polar at strains of 35 %               9 / 19
 *   m_polar_direct                          13 / 30
 *   rejected: Jacobi on A^T A, 3 passes     30 / 65, and U off by 5e-5 for uniform random entries
 *             one-sided Jacobi, 4 passes    40 / 85, before sorting and care for low rank
 * In 2D (AVX2) m_svd takes 1.3, m_polar 0.5. m_svd waits on its own chain of divisions: laws walk their
 * groups through its jobs in short loops (plastic.h), at 10-12. Largest errors over a million matrices of all
 * kinds: orthogonality 9e-7, reconstruction and values 7e-7 s_max; in double 2e-15. */
#ifndef FIRN_MATRIX_H
#define FIRN_MATRIX_H

#include "base/simd.h"

#ifdef FIRN_DOUBLE
#define M_EXPONENT_SHIFT 52
#define M_EXPONENT_MAX INT64_C(2047) /* the one of infinity */
#define M_LIFT 0x1p60                /* takes any denormal well into the normal range */
#define M_SMALL 0x1p-960
#define M_TINY 1e-35
#define M_NEWTON_STEPS 2
#define M_POLAR_STEPS 6
#define M_POLAR_CHANGE 1e-16
#else
#define M_EXPONENT_SHIFT 23
#define M_EXPONENT_MAX 255
#define M_LIFT 0x1p30f
#define M_SMALL 0x1p-90f
#define M_TINY 1e-9f /* below an ulp of matrices scaled to about 1; its fourth power is normal */
#define M_NEWTON_STEPS 0
#define M_POLAR_STEPS 5
#define M_POLAR_CHANGE 1e-7f /* of the squared last step: half of it remains as error, 5e-8 */
#endif

LANE_INLINE void m_identity(vr out[DD])
{
    for (int i = 0; i < DD; i++) out[i] = v_set(i % (D + 1) == 0);
}

/* out = A B */
LANE_INLINE void m_mul(const vr A[DD], const vr B[DD], vr out[DD])
{
    for (int i = 0; i < D; i++)
        for (int j = 0; j < D; j++) {
            vr sum = A[D * i] * B[j];
            for (int k = 1; k < D; k++) sum += A[D * i + k] * B[D * k + j];
            out[D * i + j] = sum;
        }
}

/* out = A B^T */
LANE_INLINE void m_mul_bt(const vr A[DD], const vr B[DD], vr out[DD])
{
    for (int i = 0; i < D; i++)
        for (int j = 0; j < D; j++) {
            vr sum = A[D * i] * B[D * j];
            for (int k = 1; k < D; k++) sum += A[D * i + k] * B[D * j + k];
            out[D * i + j] = sum;
        }
}

/* out = A^T B */
LANE_INLINE void m_mul_at(const vr A[DD], const vr B[DD], vr out[DD])
{
    for (int i = 0; i < D; i++)
        for (int j = 0; j < D; j++) {
            vr sum = A[i] * B[j];
            for (int k = 1; k < D; k++) sum += A[D * k + i] * B[D * k + j];
            out[D * i + j] = sum;
        }
}

/* out = J F^-T, also where F has no inverse. */
LANE_INLINE void m_cofactor(const vr F[DD], vr out[DD])
{
#if D == 2
    out[0] = F[3], out[1] = -F[2];
    out[2] = -F[1], out[3] = F[0];
#else
    out[0] = F[4] * F[8] - F[5] * F[7];
    out[1] = F[5] * F[6] - F[3] * F[8];
    out[2] = F[3] * F[7] - F[4] * F[6];
    out[3] = F[2] * F[7] - F[1] * F[8];
    out[4] = F[0] * F[8] - F[2] * F[6];
    out[5] = F[1] * F[6] - F[0] * F[7];
    out[6] = F[1] * F[5] - F[2] * F[4];
    out[7] = F[2] * F[3] - F[0] * F[5];
    out[8] = F[0] * F[4] - F[1] * F[3];
#endif
}

LANE_INLINE vr m_det(const vr A[DD])
{
#if D == 2
    return A[0] * A[3] - A[1] * A[2];
#else
    return A[0] * (A[4] * A[8] - A[5] * A[7]) + A[1] * (A[5] * A[6] - A[3] * A[8]) +
           A[2] * (A[3] * A[7] - A[4] * A[6]);
#endif
}

/* B = A / size, with size a power of two such that the largest entry of B lies in [1/DD, 4). A zero
 * matrix gives B = I and size 0, so that its rotations come out as I. Where the processor flushes
 * denormals to zero, matrices with all entries that small count as zero. */
LANE_INLINE vr m_normalise(const vr A[DD], vr B[DD])
{
    vr rows[D], lowered = v_set(1);
    for (int i = 0; i < D; i++) {
        rows[i] = v_abs(A[D * i]);
        for (int j = 1; j < D; j++) rows[i] += v_abs(A[D * i + j]);
    }
    vr sum = rows[0]; /* as good a measure as the maximum, and cheaper */
    for (int i = 1; i < D; i++) sum += rows[i];
    for (int i = 0; i < DD; i++) B[i] = A[i];
    vi small = sum < v_set(M_SMALL);
    if (v_any(small)) { /* so that the exponent below is that of a normal number */
        vr lift = v_select(small, v_set(M_LIFT), v_set(1));
        for (int i = 0; i < DD; i++) B[i] *= lift;
        sum *= lift;
        lowered = v_select(small, v_set(1 / M_LIFT), v_set(1));
    }
    const lane_int one = 1, top = (M_EXPONENT_MAX - 2) << M_EXPONENT_SHIFT;
    vi exponent = (vi)sum & (M_EXPONENT_MAX << M_EXPONENT_SHIFT);
    vi capped = exponent > top; /* the sum may be infinite where the entries are not */
    exponent = (exponent & ~capped) | (top & capped);
    vr inverse = (vr)(top + (one << M_EXPONENT_SHIFT) - exponent);
    vr zero = (vr)((exponent == 0) & (vi)v_set(1));
    for (int i = 0; i < DD; i++) B[i] *= inverse;
    for (int i = 0; i < D; i++) B[(D + 1) * i] += zero;
    return (vr)exponent * lowered;
}

/* A 2x2 matrix as a rotation by the angle a - b, times Q, plus a reflection at the angle a + b,
 * times R: then U is the rotation by a, V the one by b, the singular values are Q + R and Q - R. */
typedef struct m_plane {
    vr E, H, Q; /* Q (cos, sin)(a - b) = (E, H) */
    vr F, G, R; /* R (cos, sin)(a + b) = (F, G) */
} m_plane;

LANE_INLINE m_plane m_plane_of(vr m00, vr m01, vr m10, vr m11)
{
    m_plane m;
    m.E = (real)0.5 * (m00 + m11), m.H = (real)0.5 * (m10 - m01);
    m.F = (real)0.5 * (m00 - m11), m.G = (real)0.5 * (m10 + m01);
    m.E += v_copysign(v_set(M_TINY), m.E); /* where a - b has no direction, any will do */
    m.Q = v_sqrt(m.E * m.E + m.H * m.H);
    m.R = v_sqrt(m.F * m.F + m.G * m.G);
    return m;
}

/* Cosine and sine of a and of b. */
LANE_INLINE void m_plane_angles(const m_plane *m, vr *cos_a, vr *sin_a, vr *cos_b, vr *sin_b)
{
    /* (x, y) = Q R (cos, sin)(2 b), halved as the direction of (|cos| + 1, sin): no cancellation.
     * Times 2^30, lest y * y be flushed to zero beside a small h * h. */
    const real up = (real)0x1p30;
    vr E = m->E * up, H = m->H * up;
    vr x = E * m->F + H * m->G, y = E * m->G - H * m->F;
    vr h = m->Q * up * m->R + v_abs(x) + (real)(M_TINY * M_TINY * up);
    vr turn = 1 / m->Q, scale = 1 / v_sqrt(h * h + y * y);
    vi acute = x >= 0;
    *cos_b = v_select(acute, h, v_abs(y)) * scale;
    *sin_b = v_select(acute, y, v_copysign(h, y)) * scale;
    *cos_a = (m->E * *cos_b - m->H * *sin_b) * turn;
    *sin_a = (m->H * *cos_b + m->E * *sin_b) * turn;
}

#if D == 3

LANE_INLINE vr m_dot(const vr a[3], const vr b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Makes n a unit vector, and p and q such that (n, p, q) are right-handed and orthonormal (Duff et
 * al. 2017, "Building an Orthonormal Basis, Revisited", with one division for both). */
LANE_INLINE void m_frame(vr n[3], vr p[3], vr q[3])
{
    vr length = v_sqrt(m_dot(n, n));
    vr sum = length + v_abs(n[2]);
    vr b = 1 / (length * sum), scale = sum * b;
    vr sign = v_copysign(v_set(1), n[2]);
    vr x = n[0] * b, y = n[1] * b;
    p[0] = 1 - x * n[0], p[1] = -x * n[1];
    q[0] = p[1] * sign, q[1] = sign - sign * y * n[1];
    for (int i = 0; i < 3; i++) n[i] *= scale;
    p[2] = -sign * n[0];
    q[2] = -n[1];
}

/* An eigenvector v, of some length, of S = A^T A: the one whose eigenvalue is farthest from the
 * other two. The mask tells whether that is the largest, else it is the smallest. Where all three
 * coincide any v will do. */
LANE_INLINE vi m_isolated_eigenvector(const vr A[9], vr v[3])
{
    vr s00 = A[0] * A[0] + A[3] * A[3] + A[6] * A[6];
    vr s11 = A[1] * A[1] + A[4] * A[4] + A[7] * A[7];
    vr s22 = A[2] * A[2] + A[5] * A[5] + A[8] * A[8];
    vr s01 = A[0] * A[1] + A[3] * A[4] + A[6] * A[7];
    vr s02 = A[0] * A[2] + A[3] * A[5] + A[6] * A[8];
    vr s12 = A[1] * A[2] + A[4] * A[5] + A[7] * A[8];

    /* S = mean + size T: T has the eigenvalues 2 cos(t), 2 cos(t +- 2 pi / 3), where 2 cos(3 t) =
     * det T. The adjugate and determinant are taken before scaling, to run beside the division. */
    vr mean = (s00 + s11 + s22) * (real)(1.0 / 3);
    s00 -= mean, s11 -= mean, s22 -= mean;
    vr square = (s00 * s00 + s11 * s11 + s22 * s22) + 2 * (s01 * s01 + s02 * s02 + s12 * s12);
    vr scale = 1 / (v_sqrt(square * (real)(1.0 / 6)) + M_TINY), scale2 = scale * scale;
    vr a00 = s11 * s22 - s12 * s12, a11 = s00 * s22 - s02 * s02, a22 = s00 * s11 - s01 * s01;
    vr a01 = s02 * s12 - s01 * s22, a02 = s01 * s12 - s02 * s11, a12 = s01 * s02 - s12 * s00;
    vr r = (real)0.5 * (s00 * a00 + s01 * a01 + s02 * a02) * scale * scale2;

    /* The isolated eigenvalue of T is +- 2 c with c = cos(acos |r| / 3), between sqrt(3)/2 and 1, a
     * smooth function there: minimax polynomial, to 7e-8. */
    vr z = v_min(v_abs(r), v_set(1)), z2 = z * z;
    vr c01 = (real)1.6665926347813e-1 * z + (real)8.6602547271901e-1;
    vr c23 = (real)2.380455382428e-2 * z - (real)4.798177984107e-2;
    vr c45 = (real)5.11345921186e-3 * z - (real)1.257719330927e-2;
    vr c = ((c45 - (real)1.04384501749e-3 * z2) * z2 + c23) * z2 + c01;
    for (int k = 0; k < M_NEWTON_STEPS; k++) /* 4 c^3 - 3 c = cos(3 t) */
        c -= ((4 * c * c - 3) * c - z) / (12 * c * c - 3);
    vr e = v_copysign(2 * c, r);

    /* adj(T - e) = adj T + e T + e^2 = v v^T times 6 to 9: take its largest column. */
    vr es = e * scale, ee = e * e;
    a00 = a00 * scale2 + (s00 * es + ee);
    a11 = a11 * scale2 + (s11 * es + ee);
    a22 = a22 * scale2 + (s22 * es + ee);
    a01 = a01 * scale2 + s01 * es;
    a02 = a02 * scale2 + s02 * es;
    a12 = a12 * scale2 + s12 * es;
    vi swap = a11 > a00;
    vr largest = v_max(a11, a00);
    v[0] = v_select(swap, a01, a00);
    v[1] = v_select(swap, a11, a01);
    v[2] = v_select(swap, a12, a02);
    swap = a22 > largest;
    v[0] = v_select(swap, a02, v[0]);
    v[1] = v_select(swap, a12, v[1]);
    v[2] = v_select(swap, a22, v[2]);
    return e > 0; /* not r >= 0, which holds for -0 too */
}

/* A = s u v^T + (r t) M (p q)^T with right-handed frames (u, r, t) and (v, p, q); s is the largest
 * singular value or, outside the mask, the smallest, then with the sign of det A. */
typedef struct m_deflated {
    vr u[3], r[3], t[3];
    vr v[3], p[3], q[3];
    vr s;
    m_plane m;
    vi largest;
} m_deflated;

LANE_INLINE void m_deflate_right(const vr A[9], m_deflated *d)
{
    d->largest = m_isolated_eigenvector(A, d->v);
    m_frame(d->v, d->p, d->q);
}

LANE_INLINE void m_deflate_left(const vr A[9], m_deflated *d)
{
    vr Av[3], Ap[3], Aq[3];
    for (int i = 0; i < 3; i++) {
        Av[i] = m_dot(A + 3 * i, d->v);
        Ap[i] = m_dot(A + 3 * i, d->p);
        Aq[i] = m_dot(A + 3 * i, d->q);
    }
    /* cof(A) v = cof(A) (p x q) = Ap x Aq */
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        d->u[i] = v_select(d->largest, Av[i], Ap[j] * Aq[k] - Ap[k] * Aq[j]);
    }
    m_frame(d->u, d->r, d->t);
    d->s = m_dot(d->u, Av);
    d->m = m_plane_of(m_dot(d->r, Ap), m_dot(d->r, Aq), m_dot(d->t, Ap), m_dot(d->t, Aq));
}

#endif

typedef struct m_singular {
    vr U[DD], s[D], V[DD];
} m_singular;

#if D == 3
LANE_INLINE void m_assemble(const m_deflated *d, vr size, m_singular *out)
{
    vr cos_a, sin_a, cos_b, sin_b;
    m_plane_angles(&d->m, &cos_a, &sin_a, &cos_b, &sin_b);
    for (int i = 0; i < 3; i++) {
        vr u1 = d->r[i] * cos_a + d->t[i] * sin_a, u2 = d->t[i] * cos_a - d->r[i] * sin_a;
        out->U[3 * i + 0] = v_select(d->largest, d->u[i], u1);
        out->U[3 * i + 1] = v_select(d->largest, u1, u2);
        out->U[3 * i + 2] = v_select(d->largest, u2, d->u[i]);
        vr v1 = d->p[i] * cos_b + d->q[i] * sin_b, v2 = d->q[i] * cos_b - d->p[i] * sin_b;
        out->V[3 * i + 0] = v_select(d->largest, d->v[i], v1);
        out->V[3 * i + 1] = v_select(d->largest, v1, v2);
        out->V[3 * i + 2] = v_select(d->largest, v2, d->v[i]);
    }
    vr high = d->m.Q + d->m.R, low = d->m.Q - d->m.R;
    vr s0 = v_select(d->largest, d->s, high);
    vr s1 = v_select(d->largest, high, low);
    vr s2 = v_select(d->largest, low, d->s);
    /* Values that coincide may come out of order by rounding. Exchanging or clamping them without
     * their vectors is then an error of the same few ulp. */
    vr middle = v_min(s0, s1);
    out->s[0] = v_max(s0, s1) * size;
    out->s[1] = middle * size;
    out->s[2] = v_copysign(v_min(v_abs(s2), middle), s2) * size;
}
#endif

/* A = U diag(s) V^T, U and V rotations (det +1), |s| descending, all s but the last >= 0, the last
 * with the sign of det A. Any finite A. Where singular values coincide or vanish, U and V are one
 * of the valid choices; A = 0 gives U = V = I. A value beyond the range of real comes out as
 * infinity.
 */
LANE_INLINE void m_svd(const vr A[DD], m_singular *out)
{
    vr B[DD], size = m_normalise(A, B);
#if D == 2
    m_plane m = m_plane_of(B[0], B[1], B[2], B[3]);
    vr cos_a, sin_a, cos_b, sin_b;
    m_plane_angles(&m, &cos_a, &sin_a, &cos_b, &sin_b);
    vr *U = out->U, *V = out->V;
    U[0] = cos_a, U[1] = -sin_a, U[2] = sin_a, U[3] = cos_a;
    V[0] = cos_b, V[1] = -sin_b, V[2] = sin_b, V[3] = cos_b;
    out->s[0] = (m.Q + m.R) * size;
    out->s[1] = (m.Q - m.R) * size;
#else
    m_deflated d;
    m_deflate_right(B, &d);
    m_deflate_left(B, &d);
    m_assemble(&d, size, out);
#endif
}

/* m_polar by way of the singular vectors, right for every finite A. */
LANE_INLINE void m_polar_direct(const vr A[DD], vr R[DD])
{
    vr B[DD];
    m_normalise(A, B);
#if D == 2
    m_plane m = m_plane_of(B[0], B[1], B[2], B[3]);
    vr scale = 1 / m.Q;
    R[0] = R[3] = m.E * scale;
    R[2] = m.H * scale, R[1] = -R[2];
#else
    m_deflated d;
    m_deflate_right(B, &d);
    m_deflate_left(B, &d);
    vr scale = 1 / d.m.Q, cosine = d.m.E * scale, sine = d.m.H * scale;
    for (int j = 0; j < 3; j++) {
        vr along_r = cosine * d.p[j] - sine * d.q[j];
        vr along_t = sine * d.p[j] + cosine * d.q[j];
        for (int i = 0; i < 3; i++)
            R[3 * i + j] = d.u[i] * d.v[j] + d.r[i] * along_r + d.t[i] * along_t;
    }
#endif
}

#if D == 3
/* One step of Newton's iteration, next = (R + R^-T) / 2; returns the square of the change. */
LANE_INLINE vr m_polar_step(const vr R[9], vr next[9])
{
    vr C[9], change = v_set(0);
    m_cofactor(R, C);
    vr scale = (real)0.5 / (R[0] * C[0] + R[1] * C[1] + R[2] * C[2]);
    for (int i = 0; i < 9; i++) {
        next[i] = (real)0.5 * R[i] + scale * C[i];
        vr d = next[i] - R[i];
        change += d * d;
    }
    return change;
}
#endif

/* The rotation R (det +1) that maximises tr(R^T A), = U V^T of m_svd. Any finite A; where several
 * rotations do equally well, one of them.
 *
 * Newton's iteration (Higham 1986) sends each singular value s to (s + 1/s) / 2: three steps settle
 * strains up to 20 %, five up to a factor of 3. Lanes that are then not settled are inverted,
 * singular, of extreme size or of extreme strain, and go the direct way. */
LANE_INLINE void m_polar(const vr A[DD], vr R[DD])
{
#if D == 2
    m_polar_direct(A, R); /* a closed form already */
#else
    vr first[9], second[9], next[9];
    /* Newton keeps the sign of the determinant, if that is more than rounding. With this bound the
     * first step is right to 1e-4 whatever the size of A; without it some matrices of rank 1 but
     * for rounding settle on a reflection. */
    vr square = A[0] * A[0];
    for (int i = 1; i < 9; i++) square += A[i] * A[i];
    vi upright = m_det(A) > square * (real)0.003;
    m_polar_step(A, first);
    m_polar_step(first, second);
    vr change = m_polar_step(second, R);
    vi settled = upright & (change < v_set(M_POLAR_CHANGE)); /* false for NaN */
    for (int step = 4; v_any(~settled) && step <= M_POLAR_STEPS; step++) {
        change = m_polar_step(R, next);
        /* A settled lane stays as it is, so that it does not depend on its neighbours. */
        for (int i = 0; i < 9; i++) R[i] = v_select(settled, R[i], next[i]);
        settled |= upright & (change < v_set(M_POLAR_CHANGE));
    }
    if (!v_any(~settled)) return;
    m_polar_direct(A, next);
    for (int i = 0; i < 9; i++) R[i] = v_select(settled, R[i], next[i]);
#endif
}

#endif
