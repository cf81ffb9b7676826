/* Sand (Klar et al. 2016, "Drucker-Prager elastoplasticity for sand animation"): Hencky elasticity
 * inside a cone. Grains rub: the shear stress they bear grows with the pressure. Pulled apart they
 * bear none, and the volume this opens is kept (Tampubolon et al. 2017) and closed before pressure
 * builds up again: without it sand that flies and lands would gain volume.
 *
 * With e = log S + state/D, its deviator d and its trace t, a = (2 mu + D lambda) / (2 mu):
 *   t >= tip          to the tip: e = tip/D
 *   |d| > a alpha (tip - t)   to the cone, at the same trace: d scaled to that
 *   state = max(t - tip, 0), the logarithm of the opened volume
 *
 * alpha fits the cone to Mohr and Coulomb's friction angle: in 3D for compression along one axis, in 2D
 * (plane strain) exactly. Cohesion moves the tip to the tension c cot(angle): wet sand. */
#include "material/hencky.h"

/* Beyond this grains fly apart and their distances are no memory of a packing. */
#define OPENED_MOST ((real)1)
#define TINY ((real)1e-12)

LANE_INLINE void yield(const firn_lane_constants *k, firn_lanes *p, const m_singular *F, real dt)
{
    (void)dt;
    const vr sine = k->friction_sine, bulk = 2 * k->mu + D * k->lambda;
    const vr alpha =
        D == 3 ? (real)1.632993161855452 * sine / (3 - sine) : (real)0.7071067811865476 * sine;
    const vr slope = alpha * bulk / (2 * k->mu), tip = D * k->tip_tension / bulk;
    vr e[D], deviator[D];
    h_strain(F->s, e);
    vr trace = h_split(e, deviator) * D + p->state;
    vr norm = h_norm(deviator), most = v_max(slope * (tip - trace), v_set(0));
    vi yields = norm > most;
    vi changed = yields | (p->state != 0) | (trace > tip);
    vr scale = v_select(yields, most / v_max(norm, v_set(TINY)), v_set(1));
    p->state = v_min(v_max(trace - tip, v_set(0)), v_set(OPENED_MOST));
    h_return(k, p, F, e, changed, v_min(trace, tip) * ((real)1 / D), scale, deviator);
}

static void flow(const firn_lane_constants *k, firn_lanes *group, int n, real dt)
{
    p_with_singular_values(k, group, n, dt, yield);
}

const firn_law FIRN_KERNEL(firn_law_drucker_prager) = {.stress = FIRN_KERNEL(firn_hencky_stress),
                                                       .flow = flow,
                                                       .energy = FIRN_KERNEL(firn_hencky_energy)};
