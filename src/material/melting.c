/* What melts and freezes: one law for solid, slush and liquid, told apart by the enthalpy.
 *
 * With f the liquid part and e the logarithmic strain of F,
 *   tau = 2 mu dev e + p I,   p = min(K h log(J / J_r), tension)
 *   J_r = (1 - f) J_P + f V_l       the volume at rest: packed solid to melt
 *   tension = (1 - f) 5 yield       a liquid does not pull, and a solid tears
 *   yield = (1 - f) yield_s + f yield_l
 * Shear stress beyond yield relaxes as Bingham's paste (see herschel_bulkley.c), backward in time.
 * mu does not fade with f: a melt whose elastic part is gone has lost it to the flow, viscosity comes
 * through the map and limits no step, and what freezes is stiff and free of shear stress at once
 * (fading mu springs back five times as far).
 *
 * J is all in F. The state is log J_P: porous solids, snow among them, pack for good where p exceeds the
 * crush pressure, which then rises as exp(hardening (1 - J_P)) by way of h; at most to the density
 * of their melt, which is also what they freeze to. */
#include "material/hencky.h"

#define TENSION ((real)5) /* over yield */
/* log: yield and viscosity change with temperature by a factor of at most 100 */
#define FACTOR_MOST ((real)4.6)
#define TINY ((real)1e-30)
#define LOG_MOST ((real)3) /* of J: beyond is dust */
/* log J of what is torn or pulled apart goes no further than this beyond what it bears: the looser
 * it is taken to be, the later it feels that it is together again, and the shorter its steps. */
#define REACH ((real)0.1)

/* What the enthalpy and the state make of the material. */
typedef struct condition {
    vr yield, relaxation; /* Pa; 1 / viscosity, 1/(Pa s) */
    vr bulk, tension;     /* Pa */
    vr log_rest;          /* log J_r */
} condition;

LANE_INLINE vr liquid_part(vr melt_rate, const firn_lanes *p)
{
    return v_min(v_max(p->enthalpy * melt_rate, v_set(0)), v_set(1));
}

/* J_r, where anything is liquid. */
LANE_INLINE vr mixed_rest(vr f, vr liquid_log_J, const firn_lanes *p)
{
    return (1 - f) * v_exp(p->state) + f * v_exp(liquid_log_J);
}

LANE_INLINE condition condition_of(const firn_lane_constants *k, const firn_lanes *p)
{
    const vr zero = v_set(0), most = v_set(FACTOR_MOST);
    const vr f = liquid_part(k->melt_rate, p), solid = 1 - f;
    const vr cold = v_min(-k->solid_softening * v_min(p->enthalpy, zero), most);
    const vr melt = 1 / v_max(k->melt_rate, v_set(TINY));
    const vr hot = v_min(k->liquid_thinning * v_max(p->enthalpy - melt, zero), most);
    const vr yield = k->yield * v_exp(cold);
    const vr packed = v_min(v_exp(-k->hardening * v_expm1(p->state)), k->hardening_cap);
    const vr bulk = k->lambda + k->mu * (2 / (real)D);
    const vr mixed = v_log(mixed_rest(f, k->liquid_log_J, p));
    return (condition){.yield = solid * yield + f * k->liquid_yield,
                       .relaxation = v_exp(k->log_fluidity + hot),
                       .bulk = bulk * (solid * packed + f),
                       .tension = solid * TENSION * yield,
                       .log_rest = v_select(f > 0, mixed, p->state)};
}

LANE_INLINE vr pressure(const condition *c, vr log_J)
{
    return v_min(c->bulk * (log_J - c->log_rest), c->tension);
}

/* Writes what stress writes. */
LANE_INLINE void respond(const firn_lane_constants *k, const condition *c, const vr U[DD],
                         const vr S[D], const vr e[D], firn_lanes *p)
{
    const vr sum = h_sum(e), shear = k->mu * (2 / (real)D);
    h_answer(k->mu, c->bulk - shear, pressure(c, sum) - shear * sum, U, S, e, p);
}

LANE_INLINE void finish(const firn_lane_constants *k, firn_lanes *p, const m_singular *F, real dt)
{
    (void)dt;
    vr e[D];
    h_strain(F->s, e);
    const condition c = condition_of(k, p);
    respond(k, &c, F->U, F->s, e, p);
}

static void stress(const firn_lane_constants *k, firn_lanes *group, int n)
{
    p_with_singular_values(k, group, n, 0, finish);
}

LANE_INLINE void yield(const firn_lane_constants *k, firn_lanes *p, const m_singular *F, real dt)
{
    const vr zero = v_set(0), one = v_set(1);
    vr e[D], deviator[D], S[D], e_new[D];
    h_strain(F->s, e);
    const vr mean = h_split(e, deviator);

    /* Packing, where the pressure exceeds what it takes: J_P becomes what makes J_r bear it. */
    const vr f = liquid_part(k->melt_rate, p);
    const vi porous = k->crush_pressure < (real)1e29, melts = f >= 1;
    const vr bulk = k->lambda + k->mu * (2 / (real)D), melt = v_exp(k->liquid_log_J);
    const vr borne = v_exp(v_min(D * mean + k->crush_pressure / bulk, v_set(LOG_MOST)));
    const vr packed = v_max((borne - f * melt) / v_max(1 - f, v_set((real)1e-3)), melt);
    p->state = v_select(porous, v_min(p->state, v_log(packed)), p->state);
    p->state = v_select(melts, v_select(porous, k->liquid_log_J, zero), p->state);

    const condition c = condition_of(k, p);
    const vr shear = ROOT_2 * k->mu * h_norm(deviator);
    const vi yields = shear > c.yield;
    const vr r = k->mu * dt * c.relaxation;
    const vr left = c.yield + (shear - c.yield) / (1 + r);
    const vr scale = v_select(yields, left / v_max(shear, v_set(TINY)), one);
    /* What is pulled apart does not remember how far; but snow does what it still has to shrink. */
    const vr loose = (v_max(c.log_rest + c.tension / c.bulk, zero) + REACH) * ((real)1 / D);
    const vr closed = v_min(mean, loose);
    h_set_strain(p, F, e, yields | (closed < mean), closed, scale, deviator, S, e_new);
    respond(k, &c, F->U, S, e_new, p);
}

static void flow(const firn_lane_constants *k, firn_lanes *group, int n, real dt)
{
    p_with_singular_values(k, group, n, dt, yield);
}

static void energy(const firn_lane_constants *k, const firn_lanes *group, int n, vr *psi)
{
    for (int g = 0; g < n; g++) {
        m_singular F;
        vr e[D], deviator[D];
        m_svd(group[g].F, &F);
        h_strain(F.s, e);
        const vr sum = D * h_split(e, deviator), shear = h_norm(deviator);
        const condition c = condition_of(k, &group[g]);
        const vr way = sum - c.log_rest, push = pressure(&c, sum);
        const vr whole = (real)0.5 * c.bulk * way * way,
                 torn = push * (way - (real)0.5 * push / c.bulk);
        psi[g] = k->mu * shear * shear + v_select(push < c.tension, whole, torn);
    }
}

/* What flows has the stiffness that the return map leaves it. What is torn is as stiff as ever: it
 * may close within the step. */
static void tangent(const firn_lane_constants *k, const firn_lanes *group, firn_tangent *tangent,
                    int n, real dt)
{
    for (int g = 0; g < n; g++) {
        m_singular F;
        vr e[D], deviator[D], stress[D];
        m_svd(group[g].F, &F);
        h_strain(F.s, e);
        const condition c = condition_of(k, &group[g]);
        const vr sum = D * h_split(e, deviator), push = pressure(&c, sum);
        const vi flows = ROOT_2 * k->mu * h_norm(deviator) >= (real)0.999 * c.yield;
        const vr mu = v_select(flows, k->mu / (1 + k->mu * dt * c.relaxation), k->mu);
        for (int i = 0; i < D; i++) stress[i] = 2 * k->mu * deviator[i] + push;
        h_tangent(mu, c.bulk - mu * (2 / (real)D), &F, e, stress, group[g].volume, tangent[g].q);
    }
}

static vr rest_density(const firn_law_constants *k, const firn_lanes *group)
{
    const vr f = liquid_part(v_set(k->melt_rate), group);
    return 1 / mixed_rest(f, v_set(k->liquid_log_J), group);
}

/* As the tangent has it: what yields is relaxed by the step, and softer by as much. */
static vr resistance(const firn_lane_constants *k, const firn_lanes *group, real dt, vr *kept)
{
    const condition c = condition_of(k, group);
    vr mean = v_set(0), norm2 = v_set(0);
    for (int i = 0; i < D; i++) mean += group->tau[i * D + i] * ((real)1 / D);
    for (int i = 0; i < DD; i++) {
        const vr part = group->tau[i] - (i % (D + 1) ? v_set(0) : mean);
        norm2 += part * part;
    }
    const vr shear = v_sqrt((real)0.5 * norm2), r = k->mu * dt * c.relaxation;
    const vi yields = shear >= (real)0.999 * c.yield;
    const vr left = (shear + r * c.yield) / ((1 + r) * v_max(shear, v_set(TINY)));
    *kept = v_select(yields, v_min(left, v_set(1)), v_set(1));
    return k->mu * dt * v_select(yields, 1 / (1 + r), v_set(1));
}

static vr liquid(const firn_lane_constants *k, const firn_lanes *group)
{
    return liquid_part(k->melt_rate, group);
}

const firn_law FIRN_KERNEL(firn_law_melting) = {
    .stress = stress,
    .flow = flow,
    .energy = energy,
    .tangent = tangent,
    .differential = FIRN_KERNEL(firn_isotropic_differential),
    .rest_density = rest_density,
    .resistance = resistance,
    .liquid = liquid};
