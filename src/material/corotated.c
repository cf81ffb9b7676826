/* Corotated elasticity: linear elasticity in the frame of the rotation R of F = R S.
 *
 *   Psi = mu |F - R|^2 + lambda/2 tr(S - I)^2,  P = 2 mu (F - R) + lambda tr(S - I) R
 * tr(S - I) = R:(F - R), as R:R = D. R is the proper rotation also of an
 * inverted F; then S has one negative eigenvalue, that of least size. Where that choice jumps (F
 * singular in two directions, or s_D = -s_(D-1)) Psi has a kink and P is one of its sides.
 * It resists neither volume change nor inversion more than a spring would; see fixed_corotated.c.
 *
 * Stiffness: s^2 Psi_ii = (2 mu + lambda) s^2. In 3D, shear waves exceed it only where two axes are
 * stretched more than threefold and the third is nearly flat. */
#include "material/elastic.h"
#include "material/law.h"
#include "material/tangent.h"

static void stress(const firn_lane_constants *k, firn_lanes *group, int n)
{
    vr mu = k->mu, lambda = k->lambda;
    for (int g = 0; g < n; g++) {
        firn_lanes *p = &group[g];
        vr R[DD], P[DD], G[DD];
        m_polar(p->F, R);
        for (int i = 0; i < DD; i++) P[i] = p->F[i] - R[i];
        vr pull = lambda * e_inner(R, P);
        for (int i = 0; i < DD; i++) P[i] = 2 * mu * P[i] + pull * R[i];
        e_strain(p->F, G);
        p->J = m_det(p->F);
        p->modulus = 2 * mu + D * lambda;
        p->stiffness = (2 * mu + lambda) * e_largest(G);
        e_kirchhoff(P, p->F, p->tau);
    }
}

static void energy(const firn_lane_constants *k, const firn_lanes *group, int n, vr *psi)
{
    vr mu = k->mu, half_lambda = k->lambda / 2;
    for (int g = 0; g < n; g++) {
        vr R[DD], E[DD];
        m_polar(group[g].F, R);
        for (int i = 0; i < DD; i++) E[i] = group[g].F[i] - R[i];
        vr trace = e_inner(R, E);
        psi[g] = mu * e_inner(E, E) + half_lambda * trace * trace;
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
        vr trace = s[0] - 1;
        for (int i = 1; i < D; i++) trace += s[i] - 1;
        t_principal t;
        for (int i = 0; i < DD; i++) t.H[i] = i % (D + 1) ? lambda : 2 * mu + lambda;
        for (int p = 0; p < PAIRS; p++) {
            const vr sum = s[PAIR[p][0]] + s[PAIR[p][1]];
            t.even[p] = 2 * mu;
            t.odd[p] = 2 * mu + (2 * lambda * trace - 4 * mu) / v_max(sum, v_set(SUM_LEAST));
        }
        t_pack(&t, &F, group[g].volume, tangent[g].q);
    }
}

const firn_law FIRN_KERNEL(firn_law_corotated) = {
    .stress = stress,
    .energy = energy,
    .tangent = tangent,
    .differential = FIRN_KERNEL(firn_isotropic_differential)};
