/* What laws share. Symbols: b = F F^T, H = F - I, s_i the signed singular values of F.
 *
 * Strains are formed as small numbers wherever that is free, not as a late difference of two that
 * are near 1: single precision has digits to lose near rest. */
#ifndef FIRN_ELASTIC_H
#define FIRN_ELASTIC_H

#include "base/matrix.h"
#include "base/simd.h"
#include "material/law.h"

/* G = F F^T - I, symmetric, with the invariants of twice the Green strain. The -1 meets the square
 * that is near 1 first, inside one fused operation where there is one. */
LANE_INLINE void e_strain(const vr F[DD], vr G[DD])
{
    for (int i = 0; i < D; i++)
        for (int j = i; j < D; j++) {
            vr g = F[i * D + i] * F[j * D + i];
            if (j == i) g -= 1;
            for (int k = 1; k < D; k++) g += F[i * D + (i + k) % D] * F[j * D + (i + k) % D];
            G[i * D + j] = G[j * D + i] = g;
        }
}

/* An upper bound of max_i s_i^2 from G (Gershgorin's row sums of b): exact where b is diagonal, at
 * most D times too large. The exact value would cost an eigenvalue problem to gain a longer
 * time step under large shear only. */
LANE_INLINE vr e_largest(const vr G[DD])
{
    vr most = v_set(0);
    for (int i = 0; i < D; i++) {
        vr row = G[i * D + i] + 1;
        for (int k = 1; k < D; k++) row += v_abs(G[i * D + (i + k) % D]);
        most = v_max(most, row);
    }
    return most;
}

/* tau = P F^T of an isotropic law, which is symmetric but for rounding: one triangle is computed
 * and mirrored, so that rounding makes no torque. */
LANE_INLINE void e_kirchhoff(const vr P[DD], const vr F[DD], vr tau[DD])
{
    for (int i = 0; i < D; i++)
        for (int j = i; j < D; j++) {
            vr t = P[i * D] * F[j * D];
            for (int k = 1; k < D; k++) t += P[i * D + k] * F[j * D + k];
            tau[i * D + j] = tau[j * D + i] = t;
        }
}

LANE_INLINE vr e_trace(const vr A[DD])
{
    vr t = A[0];
    for (int i = 1; i < D; i++) t += A[i * D + i];
    return t;
}

/* A:B */
LANE_INLINE vr e_inner(const vr A[DD], const vr B[DD])
{
    vr t = A[0] * B[0];
    for (int i = 1; i < DD; i++) t += A[i] * B[i];
    return t;
}

LANE_INLINE void e_add_diagonal(vr A[DD], vr a)
{
    for (int i = 0; i < D; i++) A[i * D + i] += a;
}

/* j - log(1 + j) for |j| <= 0.1, from log(1 + j) = 2 atanh(r), r = j/(2 + j), j - 2r = j r. */
LANE_INLINE vr e_excess_over_log(vr j)
{
    vr r = j / (2 + j), z = r * r, sum = v_set((real)1 / 15);
    for (int m = 13; m >= 3; m -= 2) sum = sum * z + (real)1 / (real)m;
    return r * (j - 2 * z * sum);
}

/* Sum of the principal minors of order 2. */
LANE_INLINE vr e_minors(const vr H[DD])
{
    vr sum = v_set(0);
    for (int i = 0; i < D; i++)
        for (int j = i + 1; j < D; j++)
            sum += H[i * D + i] * H[j * D + j] - H[i * D + j] * H[j * D + i];
    return sum;
}

/* log det(I + H), to all digits of a small H; of a determinant below 1e-30, as if it were that. */
LANE_INLINE vr e_log_det(const vr H[DD])
{
    vr change = e_trace(H) + e_minors(H);
    if (D == 3) change += m_det(H);
    vi small = v_abs(change) < (real)0.1;
    vr in_range = v_select(small, change, v_set(0));
    return v_select(small, in_range - e_excess_over_log(in_range),
                    v_log(v_max(1 + change, v_set((real)1e-30))));
}

/* U diag(t) U^T, with both triangles alike */
LANE_INLINE void e_turn(const vr U[DD], const vr t[D], vr out[DD])
{
    vr Ut[DD];
    for (int i = 0; i < DD; i++) Ut[i] = U[i] * t[i % D];
    e_kirchhoff(Ut, U, out);
}

/* Fixed corotated:
 *   Psi = mu |F - R|^2 + lambda f(J),  P = 2 mu (F - R) + lambda f'(J) cof F
 *   tau = 2 mu (F - R) F^T + lambda f'(J) J I
 *   f = (J - 1)^2 / 2 for |J| <= J_MOST, continued by its tangents
 * R is the proper rotation also of an inverted F: see corotated.c.
 *
 * J_MOST is beyond the largest J the engine lets a particle have (stretches up to 20, 20^3 = 8000).
 * It exists because (J - 1) J of a wild F would overflow single precision.
 *
 * Stiffness: s^2 Psi_ii = 2 mu s^2 + lambda J^2. Under a negative lambda (auxetic) shear waves may
 * be faster than that sum says, so it counts as zero, at most 1.5 times too much at rest. (With
 * such a lambda Psi falls without end as J grows: neo_hookean.c bears auxetic material better.) */
#define J_MOST ((real)1e4)
LANE_INLINE vr e_within_limit(vr J) { return v_min(v_set(J_MOST), v_max(v_set(-J_MOST), J)); }

LANE_INLINE void e_fixed_corotated_stress(vr mu, vr lambda, firn_lanes *p)
{
    vr R[DD], P[DD], G[DD];
    vr J = m_det(p->F), Jc = e_within_limit(J);
    m_polar(p->F, R);
    for (int i = 0; i < DD; i++) P[i] = 2 * mu * (p->F[i] - R[i]);
    e_strain(p->F, G);
    p->J = J;
    p->modulus = 2 * mu + D * lambda;
    p->stiffness = 2 * mu * e_largest(G) + v_max(lambda, v_set(0)) * (Jc * Jc);
    e_kirchhoff(P, p->F, p->tau);
    e_add_diagonal(p->tau, lambda * (Jc - 1) * J);
}

LANE_INLINE vr e_fixed_corotated_energy(vr mu, vr lambda, const vr F[DD])
{
    vr R[DD], E[DD];
    m_polar(F, R);
    for (int i = 0; i < DD; i++) E[i] = F[i] - R[i];
    vr J = m_det(F), Jc = e_within_limit(J);
    vr f = (Jc - 1) * ((Jc - 1) * (real)0.5 + (J - Jc));
    return mu * e_inner(E, E) + lambda * f;
}

#endif
