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

const firn_law FIRN_KERNEL(firn_law_st_venant_kirchhoff) = {
    .name = "st_venant_kirchhoff", .stress = stress, .energy = energy};
