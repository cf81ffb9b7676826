/* Paste and mud (Herschel and Bulkley; as plasticity with a rate by Yue et al. 2015, "Continuum foam"):
 * Hencky elasticity up to a shear stress, beyond which it flows as a liquid whose viscosity depends on
 * the rate. Exponent 1 is Bingham's law.
 *
 * In simple shear at the rate g the stress is s = yield + viscosity g^exponent. A step of dt relaxes
 * the trial stress s, backward in time and so at any dt:
 *   s' + mu dt ((s' - yield) / viscosity)^(1/exponent) = s
 * with s = |dev tau| / sqrt(2), which is the shear stress in simple shear. */
#include "material/hencky.h"

#define TINY ((real)1e-30)
#ifdef FIRN_DOUBLE
enum { NEWTON_STEPS = 9 };
#else
enum { NEWTON_STEPS = 5 };
#endif

/* The root y in (0, 1) of y + B y^m = 1, m = 1/n, from log B. With u = B y^m the same reads
 * u + B^-n u^n = 1: of the two forms the one with the exponent above 1 is convex, and Newton's steps
 * fall onto its root from min(1, B^(-1/m)), which is at most twice the root. */
LANE_INLINE vr remaining_part(vr log_B, vr n)
{
    vi thins = n <= 1; /* y's own form */
    vr power = v_select(thins, 1 / n, n), log_A = v_select(thins, log_B, -n * log_B);
    vr z = v_min(v_exp(-log_A / power), v_set(1));
    for (int step = 0; step < NEWTON_STEPS; step++) {
        z = v_max(z, v_set(TINY));
        vr t = v_exp(log_A + power * v_log(z));
        z -= (z + t - 1) / (1 + power * t / z);
    }
    z = v_max(z, v_set(TINY));
    return v_select(thins, z, v_exp(n * (v_log(z) - log_B)));
}

/* The part y of what is beyond yield that a step leaves: y + B y^(1/n) = 1. */
LANE_INLINE vr part_left(const firn_lane_constants *k, vr over, real dt)
{
    const vi bends = k->exponent != 1;
    const vr log_B = v_log(k->mu * dt) + k->log_fluidity + (1 / k->exponent - 1) * v_log(over);
    const vr part = 1 / (1 + v_exp(log_B));
    return v_any(bends) ? v_select(bends, remaining_part(log_B, k->exponent), part) : part;
}

LANE_INLINE void yield(const firn_lane_constants *k, firn_lanes *p, const m_singular *F, real dt)
{
    const vr tiny = v_set(TINY), one = v_set(1);
    vr e[D], deviator[D], scale = one;
    h_strain(F->s, e);
    vr mean = h_split(e, deviator);
    vr shear = ROOT_2 * k->mu * h_norm(deviator), beyond = shear - k->yield;
    vi yields = beyond > tiny;
    if (v_any(yields)) {
        vr over = v_max(beyond, tiny);
        vr part = part_left(k, over, dt);
        scale = v_select(yields, (k->yield + part * over) / shear, one);
    }
    h_return(k, p, F, e, yields, mean, scale, deviator);
}

static void flow(const firn_lane_constants *k, firn_lanes *group, int n, real dt)
{
    p_with_singular_values(k, group, n, dt, yield);
}

/* Where it yields, the line through the stress that a step without motion leaves and the one that the rate of
 * steady flow keeps: its slope is mu dt y^(1/n). */
static vr resistance(const firn_lane_constants *k, const firn_lanes *group, real dt, vr *kept)
{
    const vr tiny = v_set(TINY), one = v_set(1);
    vr mean = v_set(0), norm2 = v_set(0);
    for (int i = 0; i < D; i++) mean += group->tau[i * D + i] * ((real)1 / D);
    for (int i = 0; i < DD; i++) {
        const vr part = group->tau[i] - (i % (D + 1) ? v_set(0) : mean);
        norm2 += part * part;
    }
    const vr shear = v_sqrt((real)0.5 * norm2), over = v_max(shear - k->yield, tiny);
    const vi yields = shear >= (real)0.999 * k->yield;
    const vr part = v_max(part_left(k, over, dt), tiny);
    const vr left = (k->yield + part * over) / v_max(shear, tiny);
    *kept = v_select(yields, v_min(left, one), one);
    return k->mu * dt * v_select(yields, v_exp(v_log(part) / k->exponent), one);
}

const firn_law FIRN_KERNEL(firn_law_herschel_bulkley) = {.stress = FIRN_KERNEL(firn_hencky_stress),
                                                         .flow = flow,
                                                         .energy = FIRN_KERNEL(firn_hencky_energy),
                                                         .resistance = resistance};
