/* Elasticity in the logarithmic strain, which is what plastic laws like to add and subtract: the law
 * hencky.c, and the elastic part of sand, clay and paste.
 *
 *   F = U S V^T,  e_i = log S_i,  Psi = mu sum e_i^2 + lambda/2 (sum e_i)^2
 *   tau = U diag(2 mu e_i + lambda sum e) U^T
 * Below STRETCH_LEAST the logarithm goes on by its tangent, through zero, so that an inverted F has an
 * energy and a stress; then tau_i has the factor S_i e'(S_i) = S_i / STRETCH_LEAST.
 *
 * Stiffness: s_i^2 Psi_ii = 2 mu + lambda - tau_i, or mu in shear where that is more. Shear waves across
 * unequal stretches may be faster, 2 mu log(r) / (r^2 - 1) with the ratio r of two of them, which the
 * last term covers. */
#ifndef FIRN_HENCKY_H
#define FIRN_HENCKY_H

#include "material/plastic.h"

/* The functions of hencky.c, for laws that are elastic in the same way. */
void FIRN_KERNEL(firn_hencky_stress)(const firn_lane_constants *k, firn_lanes *group, int n);
void FIRN_KERNEL(firn_hencky_energy)(const firn_lane_constants *k, const firn_lanes *group, int n,
                                     vr *psi);

#define STRETCH_LEAST ((real)0.05) /* where the engine stops, too */
#define LOG_LEAST ((real)-2.995732273553991)

LANE_INLINE vr h_log(vr s)
{
    vr below = v_min(s * (1 / STRETCH_LEAST) - 1, v_set(0));
    return v_log(v_max(s, v_set(STRETCH_LEAST))) + below;
}

/* The inverse of h_log. */
LANE_INLINE vr h_exp(vr e)
{
    vr below = v_min(e - LOG_LEAST, v_set(0));
    return v_exp(v_max(e, v_set(LOG_LEAST))) + below * STRETCH_LEAST;
}

/* e of singular values, in the same order: falling. */
LANE_INLINE void h_strain(const vr S[D], vr e[D])
{
    for (int i = 0; i < D; i++) e[i] = h_log(S[i]);
}

LANE_INLINE vr h_sum(const vr e[D])
{
    vr sum = e[0];
    for (int i = 1; i < D; i++) sum += e[i];
    return sum;
}

LANE_INLINE vr h_norm(const vr e[D])
{
    vr sum = e[0] * e[0];
    for (int i = 1; i < D; i++) sum += e[i] * e[i];
    return v_sqrt(sum);
}

/* Writes what stress writes, from the left singular vectors of p->F and its singular values. */
LANE_INLINE void h_stress(vr mu, vr lambda, const vr U[DD], const vr S[D], const vr e[D],
                          firn_lanes *p)
{
    vr tau[D], volumetric = lambda * h_sum(e);
    for (int i = 0; i < D; i++) {
        vr part = v_min(S[i] * (1 / STRETCH_LEAST), v_set(1));
        tau[i] = (2 * mu * e[i] + volumetric) * part;
    }
    e_turn(U, tau, p->tau);
    vr least = tau[0];
    for (int i = 1; i < D; i++) least = v_min(least, tau[i]);
    p->J = m_det(p->F);
    p->modulus = 2 * mu + D * lambda;
    p->stiffness = v_max(2 * mu + v_max(lambda, v_set(0)) - least, mu) +
                   2 * mu * v_max(e[0] - e[D - 1], v_set(0));
}

/* Lanes in `changed` get the strain mean + scale x deviator in place of e; then p's stress. The
 * deviator's order, and with it that of the stretches, stays. */
LANE_INLINE void h_return(const firn_lane_constants *k, firn_lanes *p, const m_singular *F,
                          const vr e[D], vi changed, vr mean, vr scale, const vr deviator[D])
{
    vr S[D], e_new[D];
    for (int i = 0; i < D; i++) {
        vr to = mean + scale * deviator[i];
        S[i] = v_select(changed, h_exp(to), F->s[i]);
        e_new[i] = v_select(changed, to, e[i]);
    }
    p_set_stretches(p, F, S);
    h_stress(k->mu, k->lambda, F->U, S, e_new, p);
}

/* Splits a strain; returns the mean. */
LANE_INLINE vr h_split(const vr e[D], vr deviator[D])
{
    vr mean = h_sum(e) * ((real)1 / D);
    for (int i = 0; i < D; i++) deviator[i] = e[i] - mean;
    return mean;
}

#endif
