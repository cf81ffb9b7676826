/* Fixed corotated elasticity (Stomakhin et al. 2012, "Energetically consistent invertible
 * elasticity"): the corotated shear part with a volumetric part in J = det F that also resists
 * inversion. The formulas are in elastic.h; snow.c uses them too. */
#include "material/elastic.h"
#include "material/law.h"
#include "material/tangent.h"

static void stress(const firn_lane_constants *k, firn_lanes *group, int n)
{
    for (int g = 0; g < n; g++) e_fixed_corotated_stress(k->mu, k->lambda, &group[g]);
}

static void energy(const firn_lane_constants *k, const firn_lanes *group, int n, vr *psi)
{
    for (int g = 0; g < n; g++) psi[g] = e_fixed_corotated_energy(k->mu, k->lambda, group[g].F);
}

static void tangent(const firn_lane_constants *k, const firn_lanes *group, firn_tangent *tangent,
                    int n, real dt)
{
    (void)dt;
    for (int g = 0; g < n; g++) t_fixed_corotated(k->mu, k->lambda, &group[g], &tangent[g]);
}

const firn_law FIRN_KERNEL(firn_law_fixed_corotated) = {
    .stress = stress,
    .energy = energy,
    .tangent = tangent,
    .differential = FIRN_KERNEL(firn_isotropic_differential)};
