/* Hencky elasticity: see hencky.h. */
#include "material/hencky.h"

LANE_INLINE void finish(const firn_lane_constants *k, firn_lanes *p, const m_singular *F, real dt)
{
    (void)dt;
    vr e[D];
    h_strain(F->s, e);
    h_stress(k->mu, k->lambda, F->U, F->s, e, p);
}

void FIRN_KERNEL(firn_hencky_stress)(const firn_lane_constants *k, firn_lanes *group, int n)
{
    p_with_singular_values(k, group, n, 0, finish);
}

void FIRN_KERNEL(firn_hencky_energy)(const firn_lane_constants *k, const firn_lanes *group, int n,
                                     vr *psi)
{
    for (int g = 0; g < n; g++) {
        m_singular F;
        vr e[D];
        m_svd(group[g].F, &F);
        h_strain(F.s, e);
        vr sum = h_sum(e), square = e[0] * e[0];
        for (int i = 1; i < D; i++) square += e[i] * e[i];
        psi[g] = k->mu * square + k->lambda * (real)0.5 * sum * sum;
    }
}

static void tangent(const firn_lane_constants *k, const firn_lanes *group, firn_tangent *tangent,
                    int n, real dt)
{
    (void)dt;
    for (int g = 0; g < n; g++) {
        m_singular F;
        vr e[D], stress[D];
        m_svd(group[g].F, &F);
        h_strain(F.s, e);
        for (int i = 0; i < D; i++) stress[i] = 2 * k->mu * e[i] + k->lambda * h_sum(e);
        h_tangent(k->mu, k->lambda, &F, e, stress, group[g].volume, tangent[g].q);
    }
}

const firn_law FIRN_KERNEL(firn_law_hencky) = {
    .stress = FIRN_KERNEL(firn_hencky_stress),
    .energy = FIRN_KERNEL(firn_hencky_energy),
    .tangent = tangent,
    .differential = FIRN_KERNEL(firn_isotropic_differential)};
