/* St. Venant-Kirchhoff: linear in the Green strain E = (F^T F - I)/2.
 *
 *   Psi = mu E:E + lambda/2 tr(E)^2,  P = F (2 mu E + lambda tr(E) I)
 * With G = F F^T - I, which has the invariants of 2E and commutes with b,
 *   tau = b (mu G + lambda/2 tr(G) I),  Psi = mu/4 G:G + lambda/8 tr(G)^2.
 * It softens when compressed to less than 58 % (1/sqrt 3) of the length and does not resist
 * inversion: the stress vanishes as a stretch does.
 *
 * Stiffness: s^2 Psi_ii = s^2 (mu (3 s^2 - 1) + lambda (tr(G)/2 + s^2)), where the bracket rises
 * with s^2 as 3 mu + lambda > 0: its value at the bound of s^2, if positive, bounds all. */
#include "material/elastic.h"
#include "material/law.h"
#include "material/tangent.h"

static void stress(const firn_lane_constants *k, firn_lanes *group, int n)
{
    vr mu = k->mu, lambda = k->lambda, zero = v_set(0);
    for (int g = 0; g < n; g++) {
        firn_lanes *p = &group[g];
        vr G[DD], T[DD];
        e_strain(p->F, G);
        p->J = m_det(p->F);
        vr volumetric = lambda * (e_trace(G) * (real)0.5), s2 = e_largest(G);
        p->modulus = 2 * mu + D * lambda;
        p->stiffness = s2 * v_max(zero, mu * (3 * s2 - 1) + volumetric + lambda * s2);
        for (int i = 0; i < DD; i++) T[i] = mu * G[i];
        e_add_diagonal(T, volumetric);
        e_add_diagonal(G, v_set(1));
        e_kirchhoff(T, G, p->tau);
    }
}

static void energy(const firn_lane_constants *k, const firn_lanes *group, int n, vr *psi)
{
    vr mu_4 = k->mu / 4, lambda_8 = k->lambda / 8;
    for (int g = 0; g < n; g++) {
        vr G[DD];
        e_strain(group[g].F, G);
        vr trace = e_trace(G);
        psi[g] = mu_4 * e_inner(G, G) + lambda_8 * trace * trace;
    }
}

static void tangent(const firn_lane_constants *k, const firn_lanes *group, firn_tangent *tangent,
                    int n, real dt)
{
    (void)dt;
    const vr mu = k->mu, lambda = k->lambda;
    for (int g = 0; g < n; g++) {
        m_singular F;
        m_svd(group[g].F, &F);
        const vr *s = F.s;
        vr trace = s[0] * s[0] - 1;
        for (int i = 1; i < D; i++) trace += s[i] * s[i] - 1;
        const vr pull = lambda * trace * (real)0.5;
        t_principal t;
        for (int i = 0; i < D; i++)
            for (int j = 0; j < D; j++) {
                t.H[i * D + j] = lambda * s[i] * s[j];
                if (i == j) t.H[i * D + i] += mu * (3 * s[i] * s[i] - 1) + pull;
            }
        for (int p = 0; p < PAIRS; p++) {
            const vr a = s[PAIR[p][0]], b = s[PAIR[p][1]], squares = a * a + b * b - 1;
            t.even[p] = mu * (squares + a * b) + pull;
            t.odd[p] = mu * (squares - a * b) + pull;
        }
        t_pack(&t, &F, group[g].volume, tangent[g].q);
    }
}

const firn_law FIRN_KERNEL(firn_law_st_venant_kirchhoff) = {
    .stress = stress,
    .energy = energy,
    .tangent = tangent,
    .differential = FIRN_KERNEL(firn_isotropic_differential)};
