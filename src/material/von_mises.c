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

/* What yields resists further strain only as far as its yield stress rises. */
static vr resistance(const firn_lane_constants *k, const firn_lanes *group, real dt, vr *kept)
{
    vr mean = v_set(0), norm2 = v_set(0);
    for (int i = 0; i < D; i++) mean += group->tau[i * D + i] * ((real)1 / D);
    for (int i = 0; i < DD; i++) {
        const vr part = group->tau[i] - (i % (D + 1) ? v_set(0) : mean);
        norm2 += part * part;
    }
    const vr shear = v_sqrt((real)0.5 * norm2);
    const vi yields = shear >= (real)0.999 * (k->yield + k->yield_rise * group->state);
    *kept = v_set(1);
    return k->mu * dt * v_select(yields, k->yield_rise / (k->mu + k->yield_rise), v_set(1));
}

const firn_law FIRN_KERNEL(firn_law_von_mises) = {.stress = FIRN_KERNEL(firn_hencky_stress),
                                                  .flow = flow,
                                                  .energy = FIRN_KERNEL(firn_hencky_energy),
                                                  .resistance = resistance};
