/* What the elastic laws share. Symbols: b = F F^T, H = F - I, s_i the signed singular values of F.
 *
 * Strains are formed as small numbers wherever that is free, not as a late difference of two that
 * are near 1: single precision has digits to lose near rest. */
#ifndef FIRN_ELASTIC_H
#define FIRN_ELASTIC_H

#include "base/matrix.h"
#include "base/simd.h"

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

#endif
