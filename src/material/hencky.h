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
#include "material/tangent.h"

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

#define ROOT_2 ((real)1.414213562373095)

/* Writes what stress writes, from the left singular vectors of p->F and its singular values, for a
 * stress of 2 mu e + volumetric, which changes by lambda with the sum of e. */
LANE_INLINE void h_answer(vr mu, vr lambda, vr volumetric, const vr U[DD], const vr S[D],
                          const vr e[D], firn_lanes *p)
{
    vr tau[D];
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

LANE_INLINE void h_stress(vr mu, vr lambda, const vr U[DD], const vr S[D], const vr e[D],
                          firn_lanes *p)
{
    h_answer(mu, lambda, lambda * h_sum(e), U, S, e, p);
}

/* Lanes in `changed` get the strain mean + scale x deviator in place of e. The deviator's order, and
 * with it that of the stretches, stays. */
LANE_INLINE void h_set_strain(firn_lanes *p, const m_singular *F, const vr e[D], vi changed,
                              vr mean, vr scale, const vr deviator[D], vr S[D], vr e_new[D])
{
    for (int i = 0; i < D; i++) {
        vr to = mean + scale * deviator[i];
        S[i] = v_select(changed, h_exp(to), F->s[i]);
        e_new[i] = v_select(changed, to, e[i]);
    }
    p_set_stretches(p, F, S);
}

/* The same, then p's stress. */
LANE_INLINE void h_return(const firn_lane_constants *k, firn_lanes *p, const m_singular *F,
                          const vr e[D], vi changed, vr mean, vr scale, const vr deviator[D])
{
    vr S[D], e_new[D];
    h_set_strain(p, F, e, changed, mean, scale, deviator, S, e_new);
    h_stress(k->mu, k->lambda, F->U, S, e_new, p);
}

/* Splits a strain; returns the mean. */
LANE_INLINE vr h_split(const vr e[D], vr deviator[D])
{
    vr mean = h_sum(e) * ((real)1 / D);
    for (int i = 0; i < D; i++) deviator[i] = e[i] - mean;
    return mean;
}

/* (log a - log b) / (a - b) for a >= b, also where they are equal: 2 atanh(r) = log(a / b) with r = (a -
 * b) / (a + b). */
LANE_INLINE vr h_log_slope(vr a, vr b, vr log_a, vr log_b)
{
    const vr way = a - b, middle = v_max((real)0.5 * (a + b), v_set(STRETCH_LEAST));
    const vr r = (real)0.5 * way / middle, z = r * r;
    const vi near = z < (real)0.003;
    const vr series = (1 + z * ((real)1 / 3 + z * ((real)1 / 5 + z * ((real)1 / 7)))) / middle;
    const vr slope = v_select(near, series, (log_a - log_b) / v_select(near, v_set(1), way));
    return v_select(a < STRETCH_LEAST, v_set(1 / STRETCH_LEAST), slope);
}

/* The tangent at a stress: g_i = stress_i e'(s_i), and e' is 1/s, or constant below the limit. Strains change
 * the stress by 2 mu of themselves and by lambda of their sum. */
LANE_INLINE void h_tangent(vr mu, vr lambda, const m_singular *F, const vr e[D], const vr stress[D],
                           vr volume, vr *q)
{
    vr least[D], slope[D];
    for (int i = 0; i < D; i++) {
        least[i] = v_max(F->s[i], v_set(STRETCH_LEAST));
        slope[i] = 1 / least[i];
    }
    t_principal t;
    for (int i = 0; i < D; i++)
        for (int j = 0; j < D; j++) {
            const vr bend = v_select(F->s[i] >= STRETCH_LEAST, stress[i], v_set(0));
            const vr own = 2 * mu - bend;
            t.H[i * D + j] = (i == j ? lambda + own : lambda) * slope[i] * slope[j];
        }
    for (int p = 0; p < PAIRS; p++) {
        const int i = PAIR[p][0], j = PAIR[p][1];
        const vr a = F->s[i], b = F->s[j], way = a - b;
        /* (e'(a) - e'(b)) / (a - b) */
        const vr part = v_select(b >= STRETCH_LEAST, v_set(1),
                                 (least[i] - least[j]) / v_select(way > 0, way, v_set(1)));
        const vr bend = -part * slope[i] * slope[j];
        t.even[p] = mu * h_log_slope(a, b, e[i], e[j]) * (slope[i] + slope[j]) +
                    (real)0.5 * (stress[i] + stress[j]) * bend;
        t.odd[p] = (stress[i] * slope[i] + stress[j] * slope[j]) / v_max(a + b, v_set(SUM_LEAST));
    }
    t_pack(&t, F, volume, q);
}

#endif
