/* Clay and metal (von Mises; return mapping of Simo and Hughes 1998, chapter 3, in logarithmic strain):
 * Hencky elasticity up to a shear stress, beyond which it flows and keeps its volume.
 *
 *   |dev tau| <= sqrt(2) (yield + yield_rise state)
 * in simple shear, a shear stress of `yield`; a pulled bar yields at sqrt(3) times that. The state is
 * the plastic shear strain so far, with which the yield stress rises: the return solves for both. */
#include "material/hencky.h"

LANE_INLINE void yield(const firn_lane_constants *k, firn_lanes *p, const m_singular *F, real dt)
{
    (void)dt;
    const vr zero = v_set(0);
    vr e[D], deviator[D];
    h_strain(F->s, e);
    vr mean = h_split(e, deviator), norm = h_norm(deviator);
    vr beyond = 2 * k->mu * norm - ROOT_2 * (k->yield + k->yield_rise * p->state);
    vr plastic = v_max(beyond, zero) / (2 * (k->mu + k->yield_rise)); /* of norm */
    vi yields = beyond > zero;
    vr scale = v_select(yields, 1 - plastic / norm, v_set(1));
    p->state += ROOT_2 * plastic;
    h_return(k, p, F, e, yields, mean, scale, deviator);
}

static void flow(const firn_lane_constants *k, firn_lanes *group, int n, real dt)
{
    p_with_singular_values(k, group, n, dt, yield);
}

const firn_law FIRN_KERNEL(firn_law_von_mises) = {.stress = FIRN_KERNEL(firn_hencky_stress),
                                                  .flow = flow,
                                                  .energy = FIRN_KERNEL(firn_hencky_energy)};
