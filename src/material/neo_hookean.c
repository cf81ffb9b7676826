/* Compressible neo-Hookean elasticity, continued through inversion.
 *
 *   Psi = mu/2 (|F|^2 - D) + f(J),  P = mu F + f'(J) cof F,  tau = mu b + f'(J) J I
 *   f = -mu log J + lambda/2 (log J)^2 for J >= J_LEAST, continued by its tangent below
 * (Bonet and Wood 2008, chapter 6, for the part above the limit). There tau =
 * mu (b - I) + lambda log(J) I. Below the limit f' stays f'(J_LEAST), a constant Cauchy pressure of
 * (mu - lambda log J_LEAST)/J_LEAST that pushes J up again, from negative values and through 0: so
 * every F has a finite stress, and it is the gradient of the energy everywhere.
 *
 * Stiffness: a plane wave dF = a n^T F gives mu |F^T n|^2 + (mu + lambda (1 - log J)) (a.n)^2;
 * below the limit, where the second term vanishes, that of J_LEAST bounds it. */
#include "material/elastic.h"
#include "material/law.h"
#include "material/tangent.h"

#define J_LEAST                                                                                    \
    ((real)0.05) /* a twentieth of the volume: far below what a resolved motion reaches */

static void stress(const firn_lane_constants *k, firn_lanes *group, int n)
{
    vr mu = k->mu, lambda = k->lambda, zero = v_set(0), one = v_set(1);
    for (int g = 0; g < n; g++) {
        firn_lanes *p = &group[g];
        vr G[DD];
        e_strain(p->F, G);
        vr J = m_det(p->F);
        vr lambda_log = lambda * v_log(v_max(v_set(J_LEAST), J));
        vr part = v_min(one, J * (1 / J_LEAST)); /* J f'(J) = part (lambda_log - mu) */
        vr diagonal = lambda_log * part + (mu - mu * part);
        p->J = J;
        p->modulus = 2 * mu + D * lambda;
        p->stiffness = mu * e_largest(G) + v_max(zero, mu + lambda - lambda_log);
        for (int i = 0; i < DD; i++) p->tau[i] = i % (D + 1) ? mu * G[i] : mu * G[i] + diagonal;
    }
}

/* (|F|^2 - D)/2 - (J - 1), without its terms of first order in H = F - I, which cancel:
 * |H|^2/2 - (sum of the principal minors of order 2) - (3D) det H. */
LANE_INLINE vr second_order(const vr F[DD])
{
    vr H[DD];
    for (int i = 0; i < DD; i++) H[i] = F[i];
    e_add_diagonal(H, v_set(-1));
    vr sum = e_inner(H, H) * (real)0.5 - e_minors(H);
    return D == 3 ? sum - m_det(H) : sum;
}

static void energy(const firn_lane_constants *k, const firn_lanes *group, int n, vr *psi)
{
    vr mu = k->mu, half_lambda = k->lambda / 2, zero = v_set(0);
    for (int g = 0; g < n; g++) {
        const vr *F = group[g].F;
        vr G[DD];
        e_strain(F, G);
        vr J = m_det(F), log_J = v_log(v_max(v_set(J_LEAST), J));
        vr below = v_min(zero, J * (1 / J_LEAST) - 1); /* (J - J_LEAST)/J_LEAST, or 0 above */
        /* The mu part is a small difference of large terms near rest, where it has its own form:
         * at 0.1 % strain in single precision, rms errors of 4e-5 instead of 3 %. */
        vr trace = e_trace(G);
        vi near_rest = (v_abs(J - 1) < (real)0.1) & (trace < 1);
        vr shear = v_select(near_rest, second_order(F) + e_excess_over_log(J - 1),
                            trace * (real)0.5 - log_J - below);
        psi[g] = mu * shear + half_lambda * log_J * (log_J + 2 * below);
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
        const vr J = t_product(s);
        /* f'' vanishes below the limit, where f is a line. */
        const vr Jc = v_max(v_set(J_LEAST), J), lambda_log = lambda * v_log(Jc), inverse = 1 / Jc;
        const vr f2 = v_select(J == Jc, (mu + lambda - lambda_log) * inverse * inverse, v_set(0));
        t_principal t = {{{0}}, {{0}}, {{0}}};
        for (int i = 0; i < D; i++) t.H[i * D + i] = mu;
        for (int p = 0; p < PAIRS; p++) t.even[p] = t.odd[p] = mu;
        t_add_volumetric(&t, s, (lambda_log - mu) * inverse, f2);
        t_pack(&t, &F, group[g].volume, tangent[g].q);
    }
}

const firn_law FIRN_KERNEL(firn_law_neo_hookean) = {
    .stress = stress,
    .energy = energy,
    .tangent = tangent,
    .differential = FIRN_KERNEL(firn_isotropic_differential)};
