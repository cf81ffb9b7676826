/* Snow (Stomakhin et al. 2013, "A material point method for snow simulation"): fixed corotated
 * elasticity up to a critical compression and stretch along each principal axis of the elastic F;
 * what is beyond becomes plastic, and packing stiffens.
 *
 *   S <- clamp(S, 1 - critical_compression, 1 + critical_stretch)        of F = U S V^T
 *   J_P <- J_P det(before) / det(after)
 *   mu, lambda times min(exp(hardening (1 - J_P)), hardening_cap)
 * The clamp acts on the elastic F as the step has left it, not on the total deformation: clamping
 * the total would let snow remember its first shape and spring back. The state is log J_P. */
#include "material/plastic.h"
#include "material/tangent.h"

/* J_P stays within a factor of 20: beyond, it is dust or ice. */
#define LOG_JP_MOST ((real)3)
/* An F this flat or inverted does not come from the engine, which stops at 0.05. */
#define STRETCH_FLOOR ((real)0.01)

LANE_INLINE vr stiffening(const firn_lane_constants *k, vr state)
{
    return v_min(v_exp(-k->hardening * v_expm1(state)), k->hardening_cap);
}

static void stress(const firn_lane_constants *k, firn_lanes *group, int n)
{
    for (int g = 0; g < n; g++) {
        vr factor = stiffening(k, group[g].state);
        e_fixed_corotated_stress(k->mu * factor, k->lambda * factor, &group[g]);
    }
}

LANE_INLINE void yield(const firn_lane_constants *k, firn_lanes *p, const m_singular *F, real dt)
{
    (void)dt;
    vr S[D], tried[D], tau[D];
    for (int i = 0; i < D; i++) {
        S[i] = v_min(v_max(F->s[i], k->stretch_least), k->stretch_most);
        tried[i] = v_max(F->s[i], v_set(STRETCH_FLOOR));
    }
    p_set_stretches(p, F, S);
    /* Where nothing was clamped the quotient is 1 and its logarithm 0, exactly. */
    vr J = p_product(S);
    vr log_JP = p->state + v_log(p_product(tried) / J);
    p->state = v_min(v_max(log_JP, v_set(-LOG_JP_MOST)), v_set(LOG_JP_MOST));

    vr factor = stiffening(k, p->state), mu = k->mu * factor, lambda = k->lambda * factor;
    for (int i = 0; i < D; i++) tau[i] = 2 * mu * (S[i] - 1) * S[i] + lambda * (J - 1) * J;
    e_turn(F->U, tau, p->tau);
    p->J = J;
    p->modulus = 2 * mu + D * lambda;
    p->stiffness = 2 * mu * S[0] * S[0] + lambda * J * J;
}

static void flow(const firn_lane_constants *k, firn_lanes *group, int n, real dt)
{
    p_with_singular_values(k, group, n, dt, yield);
}

static void energy(const firn_lane_constants *k, const firn_lanes *group, int n, vr *psi)
{
    for (int g = 0; g < n; g++) {
        vr factor = stiffening(k, group[g].state);
        psi[g] = e_fixed_corotated_energy(k->mu * factor, k->lambda * factor, group[g].F);
    }
}

static void tangent(const firn_lane_constants *k, const firn_lanes *group, firn_tangent *tangent,
                    int n, real dt)
{
    (void)dt;
    for (int g = 0; g < n; g++) {
        vr factor = stiffening(k, group[g].state);
        t_fixed_corotated(k->mu * factor, k->lambda * factor, &group[g], &tangent[g]);
    }
}

const firn_law FIRN_KERNEL(firn_law_snow) = {
    .stress = stress,
    .flow = flow,
    .energy = energy,
    .tangent = tangent,
    .differential = FIRN_KERNEL(firn_isotropic_differential)};
