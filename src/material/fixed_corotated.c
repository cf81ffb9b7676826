/* Fixed corotated elasticity (Stomakhin et al. 2012, "Energetically consistent invertible
 * elasticity"): the corotated shear part with a volumetric part in J = det F that also resists
 * inversion.
 *
 *   Psi = mu |F - R|^2 + lambda f(J),  P = 2 mu (F - R) + lambda f'(J) cof F
 *   tau = 2 mu (F - R) F^T + lambda f'(J) J I
 *   f = (J - 1)^2 / 2 for |J| <= J_MOST, continued by its tangents
 * R is the proper rotation also of an inverted F: see
 * corotated.c.
 *
 * J_MOST is beyond the largest J the engine lets a particle have (stretches up to 20, 20^3 = 8000).
 * It exists because (J - 1) J of a wild F would overflow single precision.
 *
 * Stiffness: s^2 Psi_ii = 2 mu s^2 + lambda J^2. Under a negative lambda (auxetic) shear waves may
 * be faster than that sum says, so it counts as zero, at most 1.5 times too much at rest. (With
 * such a lambda Psi falls without end as J grows: neo_hookean.c bears auxetic material better.) */
#include "material/elastic.h"
#include "material/law.h"

#define J_MOST ((real)1e4)

LANE_INLINE vr within_limit(vr J) { return v_min(v_set(J_MOST), v_max(v_set(-J_MOST), J)); }

static void stress(const firn_lane_constants *k, firn_lanes *group, int n)
{
    vr mu = k->mu, lambda = k->lambda;
    vr stiff_lambda = v_max(k->lambda, v_set(0));
    for (int g = 0; g < n; g++) {
        firn_lanes *p = &group[g];
        vr R[DD], P[DD], G[DD];
        vr J = m_det(p->F), Jc = within_limit(J);
        m_polar(p->F, R);
        for (int i = 0; i < DD; i++) P[i] = 2 * mu * (p->F[i] - R[i]);
        e_strain(p->F, G);
        p->J = J;
        p->stiffness = 2 * mu * e_largest(G) + stiff_lambda * (Jc * Jc);
        e_kirchhoff(P, p->F, p->tau);
        e_add_diagonal(p->tau, lambda * (Jc - 1) * J);
    }
}

static void energy(const firn_lane_constants *k, const firn_lanes *group, int n, vr *psi)
{
    vr mu = k->mu, lambda = k->lambda;
    for (int g = 0; g < n; g++) {
        vr R[DD], E[DD];
        m_polar(group[g].F, R);
        for (int i = 0; i < DD; i++) E[i] = group[g].F[i] - R[i];
        vr J = m_det(group[g].F), Jc = within_limit(J);
        vr f = (Jc - 1) * ((Jc - 1) * (real)0.5 + (J - Jc));
        psi[g] = mu * e_inner(E, E) + lambda * f;
    }
}

const firn_law FIRN_KERNEL(firn_law_fixed_corotated) = {
    .name = "fixed_corotated", .stress = stress, .energy = energy};
