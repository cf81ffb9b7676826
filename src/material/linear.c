/* Linear elasticity: quadratic in the displacement gradient, so it knows no rotations.
 *
 *   eps = sym(F) - I,  Psi = mu eps:eps + lambda/2 tr(eps)^2,  P = 2 mu eps + lambda tr(eps) I
 * tau = P F^T is not symmetric unless F is: a rotated body feels a torque.
 * That is the law, not an error; use another one for anything that turns by more than a degree or
 * so.
 *
 * Stiffness: for a plane wave dF = a n^T F, |a| = |n| = 1, with m = F^T n,
 *   d2Psi = mu |m|^2 + (mu + lambda) (a.m)^2 <= (2 mu + lambda) max_i s_i^2, as mu + lambda > 0. */
#include "material/elastic.h"
#include "material/law.h"

/* eps and its trace */
LANE_INLINE vr small_strain(const vr F[DD], vr eps[DD])
{
    for (int i = 0; i < D; i++)
        for (int j = i; j < D; j++)
            eps[i * D + j] = eps[j * D + i] =
                i == j ? F[i * D + i] - 1 : (F[i * D + j] + F[j * D + i]) * (real)0.5;
    return e_trace(eps);
}

static void stress(const firn_lane_constants *k, firn_lanes *group, int n)
{
    vr mu = k->mu, lambda = k->lambda;
    for (int g = 0; g < n; g++) {
        firn_lanes *p = &group[g];
        vr P[DD], G[DD];
        vr trace = small_strain(p->F, P);
        for (int i = 0; i < DD; i++) P[i] *= 2 * mu;
        e_add_diagonal(P, lambda * trace);
        e_strain(p->F, G);
        p->J = m_det(p->F);
        p->modulus = 2 * mu + D * lambda;
        p->stiffness = (2 * mu + lambda) * e_largest(G);
        m_mul_bt(P, p->F, p->tau);
    }
}

static void energy(const firn_lane_constants *k, const firn_lanes *group, int n, vr *psi)
{
    vr mu = k->mu, half_lambda = k->lambda / 2;
    for (int g = 0; g < n; g++) {
        vr eps[DD];
        vr trace = small_strain(group[g].F, eps);
        psi[g] = mu * e_inner(eps, eps) + half_lambda * trace * trace;
    }
}

/* d2Psi is the same everywhere; what is kept is F, to turn it into T. */
static void tangent(const firn_lane_constants *k, const firn_lanes *group, firn_tangent *tangent,
                    int n, real dt)
{
    (void)dt;
    for (int g = 0; g < n; g++) {
        memcpy(tangent[g].q, group[g].F, sizeof group[g].F);
        tangent[g].q[DD] = group[g].volume * k->mu;
        tangent[g].q[DD + 1] = group[g].volume * k->lambda;
    }
}

static void differential(const firn_tangent *tangent, const vr (*C)[DD], vr (*T)[DD], int n)
{
    for (int g = 0; g < n; g++) {
        const vr *F = tangent[g].q, mu = F[DD], lambda = F[DD + 1];
        vr dF[DD], dP[DD];
        m_mul(C[g], F, dF);
        for (int i = 0; i < D; i++)
            for (int j = 0; j < D; j++) dP[i * D + j] = mu * (dF[i * D + j] + dF[j * D + i]);
        e_add_diagonal(dP, lambda * e_trace(dF));
        m_mul_bt(dP, F, T[g]);
    }
}

const firn_law FIRN_KERNEL(firn_law_linear) = {
    .stress = stress, .energy = energy, .tangent = tangent, .differential = differential};
