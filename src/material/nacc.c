/* Solids that crush, tear and crumble (Wolper et al. 2019, "CD-MPM": non-associated Cam Clay): rubber's
 * elasticity inside an ellipse of pressure and shear that grows as it is packed and shrinks as it opens.
 *
 *   Psi = mu/2 (J^(-2/D) tr b - D) + k/2 ((J^2 - 1)/2 - log J),   k = lambda + 2 mu / D
 *   tau = mu J^(-2/D) dev b + k/2 (J^2 - 1) I,   p = -k/2 (J^2 - 1),   s = dev tau
 *   (1 + 2 B) (6 - D)/2 |s|^2 + M^2 (p + B p0) (p - p0) <= 0
 *   p0 = k (1e-5 + sinh(hardening max(-a, 0))),   a = state - compaction
 * B is tensile_ratio, M the slope of Mohr and Coulomb's friction angle: 6 sin/(3 - sin) in 3D for
 * compression along one axis, 2 sin in 2D. Beyond either end of the ellipse F becomes a rotation times
 * the stretch of that end, and a remembers the change of volume. Elsewhere the shear is scaled to the
 * ellipse at the same pressure, and a changes as if the return had gone straight to the middle: packed
 * material dilates and weakens, which is how cracks begin. The ellipse moves after the return, so a
 * step ends on that of its beginning.
 *
 * Below J_LEAST J^(-2/D) and log J go on by their tangents, and all ends at J_MOST, so that every F has
 * an energy and a stress. */
#include "material/plastic.h"

#define J_LEAST ((real)0.05)
#define LOG_J_LEAST ((real)-2.995732273553991)
/* Of p0/k. A half would be crushed to nothing. */
#define P0_LEAST ((real)1e-5)
#define P0_MOST ((real)0.45)
/* Dust is looser than this, but its distances are no memory of a packing. */
#define STATE_MOST ((real)1)
#define STATE_LEAST ((real)-3)
#define TWO_OVER_D ((real)2 / D)
#define Q2_OVER_S2 ((6 - (real)D) / 2) /* q is s as triaxial tests measure it */
#define TINY ((real)1e-30)
#ifdef FIRN_DOUBLE
enum { NEWTON_STEPS = 8 };
#else
enum { NEWTON_STEPS = 5 };
#endif

/* phi(J) = J^(-2/D) from log J, or that of J_LEAST and how far J is below. */
LANE_INLINE vr shear_factor(vr log_J, vr below)
{
    return v_exp(-TWO_OVER_D * log_J) * (1 - below * (TWO_OVER_D / J_LEAST));
}
LANE_INLINE vr below_least(vr J) { return v_min(e_within_limit(J) - J_LEAST, v_set(0)); }

LANE_INLINE vr bulk_of(const firn_lane_constants *k) { return k->lambda + TWO_OVER_D * k->mu; }

/* Writes what stress writes, from the singular values S of p->F. */
LANE_INLINE void respond(const firn_lane_constants *k, firn_lanes *p, const vr U[DD], const vr S[D])
{
    const vr mu = k->mu, bulk = bulk_of(k), zero = v_set(0);
    vr grown[D], tau[D]; /* grown: S^2 - 1 */
    for (int i = 0; i < D; i++) grown[i] = (S[i] - 1) * (S[i] + 1);
    vr mean = grown[0];
    for (int i = 1; i < D; i++) mean += grown[i];
    mean *= (real)1 / D;
    vr J = m_det(p->F), limited = e_within_limit(J), least = v_max(J, v_set(J_LEAST));
    vr below = below_least(J), phi = shear_factor(v_log(least), below);
    vr pull = bulk * (real)0.5 * ((limited - 1) * J + (J - 1) + (1 - J / least));
    if (v_any(below < 0)) { /* elsewhere J phi' is -2/D phi, which dev has */
        vr slope = shear_factor(v_set(LOG_J_LEAST), zero) * (-TWO_OVER_D / J_LEAST);
        vr more = v_select(J > -J_MOST, slope * J, zero) + TWO_OVER_D * phi;
        pull += v_select(below < 0, mu * (real)(D * 0.5) * (mean + 1) * more, zero);
    }
    for (int i = 0; i < D; i++) tau[i] = mu * phi * (grown[i] - mean) + pull;
    e_turn(U, tau, p->tau);
    p->J = J;
    p->modulus = 2 * mu + D * k->lambda;
    /* A plane wave dF = c n^T F gives mu phi (A tr b (c.n)^2 - 4/D (c.n)(c.b n) + n.b n) and k/2 (J^2
     * + 1) (c.n)^2, A = (2/D + 1)/D; the middle term is n.b n along n, and less than the spread of b
     * over D across. */
    const real A = (TWO_OVER_D + 1) / D;
    vr most = S[0] * S[0], low = S[D - 1] * S[D - 1];
    vr along = A * D * (mean + 1) - (2 * TWO_OVER_D - 1) * low;
    p->stiffness = mu * phi * (v_max(along, most) + (most - low) * ((real)1 / D)) +
                   bulk * (real)0.5 * (limited * limited + 1);
}

LANE_INLINE void finish(const firn_lane_constants *k, firn_lanes *p, const m_singular *F, real dt)
{
    (void)dt;
    respond(k, p, F->U, F->s);
}

static void stress(const firn_lane_constants *k, firn_lanes *group, int n)
{
    p_with_singular_values(k, group, n, 0, finish);
}

/* The m for which the product of m + d_i is J^2, of a deviator d. Newton's steps fall onto it from
 * above: all factors are positive there. */
LANE_INLINE vr mean_for(vr J, const vr d[D])
{
#if D == 2
    return v_sqrt(J * J + d[0] * d[0]);
#else
    vr minors = d[0] * d[1] + d[1] * d[2] + d[2] * d[0], det = d[0] * d[1] * d[2] - J * J;
    vr m = v_exp(TWO_OVER_D * v_log(J)) - d[2];
    for (int step = 0; step < NEWTON_STEPS; step++) {
        m -= (m * (m * m + minors) + det) / v_max(3 * m * m + minors, v_set(TINY));
    }
    return m;
#endif
}

LANE_INLINE void yield(const firn_lane_constants *k, firn_lanes *p, const m_singular *F, real dt)
{
    (void)dt;
    const vr sine = k->friction_sine, B = k->tensile_ratio, zero = v_set(0), tiny = v_set(TINY);
    const vr M = D == 3 ? 6 * sine / (3 - sine) : 2 * sine;
    /* Pressures as parts of the bulk modulus. */
    vr J = p_product(F->s), held = v_min(v_max(J, v_set((real)0.01)), v_set(J_MOST));
    vr packed = v_min(v_max(k->compaction - p->state, zero) * k->hardening, v_set(1));
    vr p0 = (v_exp(packed) - v_exp(-packed)) * (real)0.5 + P0_LEAST;
    p0 = v_min(p0, v_set(P0_MOST));
    vr pressure = (real)-0.5 * (held - 1) * (held + 1);
    vi crushed = pressure > p0, torn = pressure < -B * p0;
    vr end = v_sqrt(1 + 2 * v_select(crushed, -p0, B * p0));

    vr d[D], square = v_set(0), mean = F->s[0] * F->s[0];
    for (int i = 1; i < D; i++) mean += F->s[i] * F->s[i];
    mean *= (real)1 / D;
    for (int i = 0; i < D; i++) {
        d[i] = F->s[i] * F->s[i] - mean;
        square += d[i] * d[i];
    }
    /* q = shear |d|, and the largest there may be. */
    vr norm = v_sqrt(square), root_q = v_sqrt(1 + 2 * B);
    vr shear =
        v_set(R_SQRT(Q2_OVER_S2)) * k->mu / bulk_of(k) * v_exp(-TWO_OVER_D * v_log(held)) * root_q;
    vr most = M * v_sqrt(v_max((pressure + B * p0) * (p0 - pressure), zero));
    vi sheared = ~crushed & ~torn & (shear * norm > most);

    vr S[D], ends = v_exp((TWO_OVER_D / 2) * v_log(end));
    for (int i = 0; i < D; i++) S[i] = v_select(crushed | torn, ends, F->s[i]);
    vr left = end; /* J to which the volume goes, as a counts it */
    if (v_any(sheared)) {
        vr to[D], scale = most / v_max(shear * norm, tiny);
        for (int i = 0; i < D; i++) to[i] = d[i] * scale;
        vr about = mean_for(held, to);
        for (int i = 0; i < D; i++) {
            S[i] = v_select(sheared, v_sqrt(v_max(about + to[i], tiny)), S[i]);
        }
        /* From the middle of the ellipse towards the trial, to where they meet. */
        vr middle = (1 - B) * p0 * (real)0.5, half = (1 + B) * p0 * (real)0.5;
        vr way = pressure - middle, q = shear * norm;
        vr met = middle + way * (M * half / v_max(v_sqrt(q * q + M * M * way * way), tiny));
        left = v_select(sheared, v_sqrt(1 - 2 * met), left);
    }
    vi yields = crushed | torn | sheared;
    vr change = v_log(v_select(yields, held / left, v_set(1)));
    p->state = v_min(v_max(p->state + change, v_set(STATE_LEAST)), v_set(STATE_MOST));
    p_set_stretches(p, F, S);
    respond(k, p, F->U, S);
}

static void flow(const firn_lane_constants *k, firn_lanes *group, int n, real dt)
{
    p_with_singular_values(k, group, n, dt, yield);
}

static void energy(const firn_lane_constants *k, const firn_lanes *group, int n, vr *psi)
{
    for (int g = 0; g < n; g++) {
        vr H[DD];
        for (int i = 0; i < DD; i++) H[i] = group[g].F[i];
        e_add_diagonal(H, v_set(-1));
        vr J = m_det(group[g].F), limited = e_within_limit(J), below = below_least(J);
        vi low = J < J_LEAST, near = (v_abs(J - 1) < (real)0.1) & (e_inner(H, H) < (real)0.5);
        vr log_J = v_select(near, e_log_det(H), v_log(v_max(J, v_set(J_LEAST))));
        /* phi tr b - D, in small numbers near rest */
        vr strain = 2 * e_trace(H) + e_inner(H, H), phi = shear_factor(log_J, below);
        vr shrink = v_select(low, phi - 1, v_expm1(-TWO_OVER_D * log_J));
        vr shear = D * shrink + phi * strain;
        /* (J - 1)^2/2 and J - 1 - log J */
        vr bent = (limited - 1) * ((limited - 1) * (real)0.5 + (J - limited));
        vr under = v_min(J - J_LEAST, v_set(0)) * (1 / J_LEAST);
        vr excess = v_select(near, e_excess_over_log(v_select(near, J - 1, v_set(0))),
                             J - 1 - log_J - under);
        psi[g] = (real)0.5 * (k->mu * shear + bulk_of(k) * (bent + excess));
    }
}

const firn_law FIRN_KERNEL(firn_law_nacc) = {.stress = stress, .flow = flow, .energy = energy};
