/* Hencky elasticity: see hencky.h. */
#include "material/hencky.h"
#include "material/tangent.h"

LANE_INLINE void finish(const firn_lane_constants *k, firn_lanes *p, const m_singular *F, real dt)
{
    (void)dt;
    vr e[D];
    h_strain(F->s, e);
    h_stress(k->mu, k->lambda, F->U, F->s, e, p);
}

void FIRN_KERNEL(firn_hencky_stress)(const firn_lane_constants *k, firn_lanes *group, int n)
{
    p_with_singular_values(k, group, n, 0, finish);
}

void FIRN_KERNEL(firn_hencky_energy)(const firn_lane_constants *k, const firn_lanes *group, int n,
                                     vr *psi)
{
    for (int g = 0; g < n; g++) {
        m_singular F;
        vr e[D];
        m_svd(group[g].F, &F);
        h_strain(F.s, e);
        vr sum = h_sum(e), square = e[0] * e[0];
        for (int i = 1; i < D; i++) square += e[i] * e[i];
        psi[g] = k->mu * square + k->lambda * (real)0.5 * sum * sum;
    }
}

/* (log a - log b) / (a - b) for a >= b, also where they are equal: 2 atanh(r) = log(a / b) with r = (a -
 * b) / (a + b). */
LANE_INLINE vr log_slope(vr a, vr b, vr log_a, vr log_b)
{
    const vr way = a - b, middle = v_max((real)0.5 * (a + b), v_set(STRETCH_LEAST));
    const vr r = (real)0.5 * way / middle, z = r * r;
    const vi near = z < (real)0.003;
    const vr series = (1 + z * ((real)1 / 3 + z * ((real)1 / 5 + z * ((real)1 / 7)))) / middle;
    const vr slope = v_select(near, series, (log_a - log_b) / v_select(near, v_set(1), way));
    return v_select(a < STRETCH_LEAST, v_set(1 / STRETCH_LEAST), slope);
}

/* With t_i = 2 mu e_i + lambda sum e: g_i = t_i e'(s_i), and e' is 1/s, or constant below the limit. */
static void tangent(const firn_lane_constants *k, const firn_lanes *group, firn_tangent *tangent,
                    int n)
{
    const vr mu = k->mu, lambda = k->lambda;
    for (int g = 0; g < n; g++) {
        m_singular F;
        vr e[D], stress[D], least[D], slope[D];
        m_svd(group[g].F, &F);
        h_strain(F.s, e);
        const vr volumetric = lambda * h_sum(e);
        for (int i = 0; i < D; i++) {
            stress[i] = 2 * mu * e[i] + volumetric;
            least[i] = v_max(F.s[i], v_set(STRETCH_LEAST));
            slope[i] = 1 / least[i];
        }
        t_principal t;
        for (int i = 0; i < D; i++)
            for (int j = 0; j < D; j++) {
                const vr bend = v_select(F.s[i] >= STRETCH_LEAST, stress[i], v_set(0));
                const vr own = 2 * mu - bend;
                t.H[i * D + j] = (i == j ? lambda + own : lambda) * slope[i] * slope[j];
            }
        for (int p = 0; p < PAIRS; p++) {
            const int i = PAIR[p][0], j = PAIR[p][1];
            const vr a = F.s[i], b = F.s[j], way = a - b;
            /* (e'(a) - e'(b)) / (a - b) */
            const vr part = v_select(b >= STRETCH_LEAST, v_set(1),
                                     (least[i] - least[j]) / v_select(way > 0, way, v_set(1)));
            const vr bend = -part * slope[i] * slope[j];
            t.even[p] = mu * log_slope(a, b, e[i], e[j]) * (slope[i] + slope[j]) +
                        (real)0.5 * (stress[i] + stress[j]) * bend;
            t.odd[p] =
                (stress[i] * slope[i] + stress[j] * slope[j]) / v_max(a + b, v_set(SUM_LEAST));
        }
        t_pack(&t, &F, group[g].volume, tangent[g].q);
    }
}

const firn_law FIRN_KERNEL(firn_law_hencky) = {
    .name = "hencky",
    .stress = FIRN_KERNEL(firn_hencky_stress),
    .energy = FIRN_KERNEL(firn_hencky_energy),
    .tangent = tangent,
    .differential = FIRN_KERNEL(firn_isotropic_differential)};
