/* Tangents of isotropic laws: second derivatives of the energy, for implicit steps.
 *
 * With F = U diag(s) V^T and Psi a symmetric function of s, g_i = dPsi/ds_i, the change of P under
 * dF is U E V^T, where in terms of B = U^T dF V
 *   E_ii = sum_j H_ij B_jj,  H_ij = d2Psi / ds_i ds_j
 *   (E_ij, E_ji) has the eigenvectors (1, 1), with value `even` = (g_i - g_j) / (s_i - s_j),
 *   and (1, -1), with value `odd` = (g_i + g_j) / (s_i + s_j)
 * (Stomakhin et al. 2012; Smith et al. 2019 list more laws). Clamping H's eigenvalues and the pairs'
 * at zero makes the whole positive semi-definite. Motion gives dF = C F, so B = A diag(s) with A =
 * U^T C U, and dP F^T = U (E diag(s)) U^T: V is not needed, and the stretches go into the numbers
 * that are kept. */
#ifndef FIRN_TANGENT_H
#define FIRN_TANGENT_H

#include "base/matrix.h"
#include "material/elastic.h"
#include "material/law.h"

enum { PAIRS = D * (D - 1) / 2 };
static const int PAIR[3][2] = {{0, 1}, {0, 2}, {1, 2}};

typedef struct t_principal {
    vr H[DD];                   /* symmetric */
    vr even[PAIRS], odd[PAIRS]; /* by pair i < j */
} t_principal;

/* Sums of two stretches are not negative, but may vanish; what they divide is then clamped away. */
#define SUM_LEAST ((real)1e-3)

LANE_INLINE vr t_product(const vr s[D])
{
    vr product = s[0];
    for (int i = 1; i < D; i++) product *= s[i];
    return product;
}

/* The product of the stretches but i's, and (3D) but the two of a pair. */
LANE_INLINE vr t_without(const vr s[D], int i)
{
    vr product = s[(i + 1) % D];
    return D == 3 ? product * s[(i + 2) % D] : product;
}
LANE_INLINE vr t_third(const vr s[D], int pair) { return D == 3 ? s[D - 1 - pair] : v_set(1); }

/* Adds what an energy f(J) contributes, from its derivatives: as dJ/ds_i = J / s_i, each is a
 * product that needs no division. */
LANE_INLINE void t_add_volumetric(t_principal *t, const vr s[D], vr f1, vr f2)
{
    for (int i = 0; i < D; i++) t->H[i * D + i] += f2 * t_without(s, i) * t_without(s, i);
    for (int p = 0; p < PAIRS; p++) {
        const int i = PAIR[p][0], j = PAIR[p][1];
        const vr bend = f1 * t_third(s, p), H = f2 * t_without(s, i) * t_without(s, j) + bend;
        t->H[i * D + j] += H;
        t->H[j * D + i] += H;
        t->even[p] -= bend;
        t->odd[p] += bend;
    }
}

/* H without its negative eigenvalues, where it has any: (H + |H|) / 2, and |H| = V |s| V^T. */
LANE_INLINE void t_clamp(vr H[DD])
{
    const vr minor = H[0] * H[D + 1] - H[1] * H[D];
    vi fine = (H[0] > 0) & (minor > 0);
    if (D == 3) fine &= m_det(H) > 0;
    if (!v_any(~fine)) return;
    m_singular h;
    vr Vs[DD], size[DD];
    m_svd(H, &h);
    for (int i = 0; i < DD; i++) Vs[i] = h.V[i] * v_abs(h.s[i % D]);
    m_mul_bt(Vs, h.V, size);
    for (int i = 0; i < DD; i++) H[i] = v_select(fine, H[i], (real)0.5 * (H[i] + size[i]));
}

/* Clamps, and lays out what firn_isotropic_differential reads. */
LANE_INLINE void t_pack(t_principal *t, const m_singular *F, vr volume, vr *q)
{
    const vr zero = v_set(0), *s = F->s;
    t_clamp(t->H);
    for (int i = 0; i < DD; i++) *q++ = F->U[i];
    for (int i = 0; i < D; i++)
        for (int j = i; j < D; j++) *q++ = volume * s[i] * s[j] * t->H[i * D + j];
    for (int p = 0; p < PAIRS; p++) {
        const vr si = s[PAIR[p][0]], sj = s[PAIR[p][1]], half = (real)0.5 * volume;
        const vr even = v_max(t->even[p], zero), odd = v_max(t->odd[p], zero);
        *q++ = half * (even + odd) * sj * sj;
        *q++ = half * (even - odd) * si * sj;
        *q++ = half * (even + odd) * si * si;
    }
}

/* Fixed corotated elasticity, whose moduli may differ from the material's (snow hardens). */
LANE_INLINE void t_fixed_corotated(vr mu, vr lambda, const firn_lanes *p, firn_tangent *tangent)
{
    m_singular F;
    m_svd(p->F, &F);
    const vr J = t_product(F.s), Jc = e_within_limit(J);
    t_principal t = {{{0}}, {{0}}, {{0}}};
    for (int i = 0; i < D; i++) t.H[i * D + i] = 2 * mu;
    for (int i = 0; i < PAIRS; i++) {
        const vr sum = F.s[PAIR[i][0]] + F.s[PAIR[i][1]];
        t.even[i] = 2 * mu;
        t.odd[i] = 2 * mu - 4 * mu / v_max(sum, v_set(SUM_LEAST));
    }
    t_add_volumetric(&t, F.s, lambda * (Jc - 1), v_select(J == Jc, lambda, v_set(0)));
    t_pack(&t, &F, p->volume, tangent->q);
}

#endif
