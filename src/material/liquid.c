/* A weakly compressible liquid: a pressure from the volume, and viscosity.
 *
 *   tau = J f'(J) I + 2 viscosity J dev(sym C),     J = det F exp(state)
 *   f' = K/gamma (1 - J^-gamma)       Tait's equation: it stiffens when compressed (7 for water)
 *   f' = K log J                      for gamma = 0, its limit
 * with K the bulk modulus; f is the energy, continued by its tangent below J_LEAST.
 *
 * A liquid remembers no shape: each step moves the change of volume from F to the state, log J, and
 * sets F to I. det(I + dt L) and not exp(dt tr L), for the reason given at deform in block.h: it is
 * what positions do. Under tension the liquid cavitates: log J ends where the pull would exceed
 * `tension`. */
#include "material/elastic.h"

#define J_LEAST ((real)0.05)
#define LOG_J_LEAST ((real)-2.995732273553991)
/* A liquid squeezed to half of its volume has nowhere to go; harder would only shorten steps. */
#define LOG_J_PACKED ((real)-0.69)
#define J_MOST_SHEARED ((real)20) /* spray, whose viscosity means nothing */

LANE_INLINE vr log_J_of(const firn_lanes *p, vr det)
{
    return v_max(p->state + v_log(v_max(det, v_set((real)1e-30))), v_set(LOG_J_LEAST));
}

/* f'(J) */
LANE_INLINE vr slope(const firn_lane_constants *k, vr log_J)
{
    vr gamma = v_max(k->tait_exponent, v_set((real)1e-6));
    vr tait = -v_expm1(-gamma * log_J) / gamma;
    return k->lambda * v_select(k->tait_exponent == 0, log_J, tait);
}

static void respond(const firn_lane_constants *k, firn_lanes *p, vr det)
{
    vr log_J = log_J_of(p, det), J = det * v_exp(p->state);
    /* J^2 f'': K J^(1 - gamma) */
    vr stiffness = k->lambda * v_exp((1 - k->tait_exponent) * log_J);
    vr rate = k->viscosity * v_min(v_max(J, v_set(0)), v_set(J_MOST_SHEARED));
    vr spread = e_trace(p->C) * (2 / (real)D) * rate;
    for (int i = 0; i < D; i++)
        for (int j = i; j < D; j++)
            p->tau[i * D + j] = p->tau[j * D + i] = rate * (p->C[i * D + j] + p->C[j * D + i]);
    e_add_diagonal(p->tau, J * slope(k, log_J) - spread);
    p->J = J;
    p->stiffness = stiffness;
    p->modulus = D * stiffness;
}

static void stress(const firn_lane_constants *k, firn_lanes *group, int n)
{
    for (int g = 0; g < n; g++) respond(k, &group[g], m_det(group[g].F));
}

static void flow(const firn_lane_constants *k, firn_lanes *group, int n, real dt)
{
    (void)dt;
    for (int g = 0; g < n; g++) {
        firn_lanes *p = &group[g];
        vr log_J = p->state + e_log_det(p->H);
        p->state = v_max(v_min(log_J, k->log_J_most), v_set(LOG_J_PACKED));
        for (int i = 0; i < DD; i++) p->H[i] = v_set(0);
        m_identity(p->F);
        respond(k, p, v_set(1));
    }
}

/* f(J) for J >= J_LEAST. Tait: K/gamma (J - 1 + (J^(1 - gamma) - 1)/(gamma - 1)). */
static void energy(const firn_lane_constants *k, const firn_lanes *group, int n, vr *psi)
{
    vr gamma = k->tait_exponent, power = 1 - gamma;
    vi flat = v_abs(power) < (real)1e-4;
    for (int g = 0; g < n; g++) {
        vr det = m_det(group[g].F), log_J = log_J_of(&group[g], det), grown = v_expm1(log_J);
        vr J = det * v_exp(group[g].state), below = v_min(J - J_LEAST, v_set(0));
        vr other =
            v_select(flat, -log_J, -v_expm1(power * log_J) / v_select(flat, v_set(1), power));
        vr tait = (grown + other) / v_max(gamma, v_set((real)1e-6));
        vr plain = (grown + 1) * log_J - grown;
        psi[g] = k->lambda * v_select(gamma == 0, plain, tait) + slope(k, log_J) * below;
    }
}

static vr rest_density(const firn_law_constants *k, const firn_lanes *group)
{
    (void)k;
    return v_exp(group->state);
}

static vr resistance(const firn_lane_constants *k, const firn_lanes *group, real dt, vr *kept)
{
    (void)group;
    (void)dt;
    *kept = v_set(0);
    return k->viscosity;
}

static vr liquid(const firn_lane_constants *k, const firn_lanes *group)
{
    (void)k;
    (void)group;
    return v_set(1);
}

const firn_law FIRN_KERNEL(firn_law_liquid) = {.stress = stress,
                                               .flow = flow,
                                               .energy = energy,
                                               .rest_density = rest_density,
                                               .resistance = resistance,
                                               .liquid = liquid};
