/* Runs the laws of one instruction set and dimension on plain arrays: packs particles into lanes, the
 * last group filled up with particles at rest, and takes the results out again. */
#include "kernel_laws.h"
#include "material/law.h"

#define TEXT_(word) #word
#define TEXT(word) TEXT_(word)

enum { GROUPS = 8 };

extern const law_kernel FIRN_KERNEL(law_kernel);

static real enthalpy; /* of all particles */

static int pack(firn_lanes group[GROUPS], int n, const real *F, const real *state, const real *C)
{
    int groups = (n + W - 1) / W;
    if (groups > GROUPS) groups = GROUPS;
    for (int p = 0; p < groups * W; p++) {
        firn_lanes *g = &group[p / W];
        const int lane = p % W;
        for (int i = 0; i < DD; i++) {
            const real identity = (real)(i % (D + 1) == 0);
            g->F[i][lane] = p < n ? F[(long)p * DD + i] : identity;
            g->H[i][lane] = g->F[i][lane] - identity;
            g->C[i][lane] = p < n && C ? C[(long)p * DD + i] : 0;
        }
        g->state[lane] = p < n && state ? state[p] : 0;
        g->enthalpy[lane] = enthalpy;
    }
    return groups;
}

static firn_lane_constants widen(const firn_law_constants *k)
{
    firn_lane_constants wide;
#define WIDEN(name, value) wide.name = v_set(k->name);
    FIRN_LAW_CONSTANTS(WIDEN)
#undef WIDEN
    return wide;
}

static bool flows(int law) { return FIRN_KERNEL(firn_laws)[law]->flow; }

static void take(const firn_lanes *g, int lane, int p, law_results *out)
{
    for (int i = 0; i < DD; i++) out->tau[(long)p * DD + i] = g->tau[i][lane];
    out->J[p] = g->J[lane];
    out->stiffness[p] = g->stiffness[lane];
    out->modulus[p] = g->modulus[lane];
}

static void stress(int law, const firn_law_constants *k, int n, const real *F, const real *state,
                   const real *C, law_results *out)
{
    static firn_lanes group[GROUPS];
    const firn_lane_constants wide = widen(k);
    for (int first = 0; first < n; first += GROUPS * W) {
        int groups = pack(group, n - first, F + (long)first * DD, state ? state + first : NULL,
                          C ? C + (long)first * DD : NULL);
        FIRN_KERNEL(firn_laws)[law]->stress(&wide, group, groups);
        for (int p = first; p < n && p < first + groups * W; p++)
            take(&group[(p - first) / W], (p - first) % W, p, out);
    }
}

static void flow(int law, const firn_law_constants *k, int n, real dt, real *F, real *state,
                 const real *C, law_results *out)
{
    static firn_lanes group[GROUPS];
    const firn_lane_constants wide = widen(k);
    for (int first = 0; first < n; first += GROUPS * W) {
        int groups = pack(group, n - first, F + (long)first * DD, state + first,
                          C ? C + (long)first * DD : NULL);
        FIRN_KERNEL(firn_laws)[law]->flow(&wide, group, groups, dt);
        for (int p = first; p < n && p < first + groups * W; p++) {
            const firn_lanes *g = &group[(p - first) / W];
            const int lane = (p - first) % W;
            for (int i = 0; i < DD; i++) F[(long)p * DD + i] = g->F[i][lane];
            state[p] = g->state[lane];
            take(g, lane, p, out);
        }
    }
}

static void energy(int law, const firn_law_constants *k, int n, const real *F, const real *state,
                   real *psi)
{
    static firn_lanes group[GROUPS];
    const firn_lane_constants wide = widen(k);
    vr out[GROUPS];
    for (int first = 0; first < n; first += GROUPS * W) {
        int groups =
            pack(group, n - first, F + (long)first * DD, state ? state + first : NULL, NULL);
        FIRN_KERNEL(firn_laws)[law]->energy(&wide, group, groups, out);
        for (int p = first; p < n && p < first + groups * W; p++)
            psi[p] = out[(p - first) / W][(p - first) % W];
    }
}

static bool differential(int law, const firn_law_constants *k, int n, const real *F,
                         const real *state, const real *C, real *T)
{
    static firn_lanes group[GROUPS];
    static firn_tangent tangent[GROUPS];
    static vr in[GROUPS][DD], out[GROUPS][DD];
    const firn_law *row = FIRN_KERNEL(firn_laws)[law];
    if (!row->tangent) return false;
    const firn_lane_constants wide = widen(k);
    for (int first = 0; first < n; first += GROUPS * W) {
        int groups = pack(group, n - first, F + (long)first * DD, state + first, NULL);
        for (int p = 0; p < groups * W; p++) {
            group[p / W].volume[p % W] = 1;
            for (int i = 0; i < DD; i++)
                in[p / W][i][p % W] = first + p < n ? C[(long)(first + p) * DD + i] : 0;
        }
        row->tangent(&wide, group, tangent, groups, 0);
        row->differential(tangent, (const vr(*)[DD])in, out, groups);
        for (int p = first; p < n && p < first + groups * W; p++)
            for (int i = 0; i < DD; i++)
                T[(long)p * DD + i] = out[(p - first) / W][i][(p - first) % W];
    }
    return true;
}

const law_kernel FIRN_KERNEL(law_kernel) = {.isa = TEXT(FIRN_ISA),
                                            .dim = D,
                                            .lanes = W,
                                            .flows = flows,
                                            .enthalpy = &enthalpy,
                                            .stress = stress,
                                            .flow = flow,
                                            .energy = energy,
                                            .differential = differential};
