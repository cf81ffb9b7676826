/* Runs the laws of one instruction set and dimension on plain arrays: packs particles into lanes, the
 * last group filled up with particles at rest, and takes the results out again. */
#include "kernel_laws.h"
#include "material/law.h"

#define TEXT_(word) #word
#define TEXT(word) TEXT_(word)

enum { GROUPS = 8 };

extern const law_kernel FIRN_KERNEL(law_kernel);

static int pack(firn_lanes group[GROUPS], int n, const real *F)
{
    int groups = (n + W - 1) / W;
    if (groups > GROUPS) groups = GROUPS;
    for (int p = 0; p < groups * W; p++)
        for (int i = 0; i < DD; i++)
            group[p / W].F[i][p % W] = p < n ? F[(long)p * DD + i] : (real)(i % (D + 1) == 0);
    return groups;
}

static firn_lane_constants widen(const firn_law_constants *k)
{
    firn_lane_constants wide;
#define WIDEN(name) wide.name = v_set(k->name);
    FIRN_LAW_CONSTANTS(WIDEN)
#undef WIDEN
    return wide;
}

static const char *name(int law) { return FIRN_KERNEL(firn_laws)[law]->name; }

static void stress(int law, const firn_law_constants *k, int n, const real *F, real *tau, real *J,
                   real *stiffness)
{
    static firn_lanes group[GROUPS];
    const firn_lane_constants wide = widen(k);
    for (int first = 0; first < n; first += GROUPS * W) {
        int groups = pack(group, n - first, F + (long)first * DD);
        FIRN_KERNEL(firn_laws)[law]->stress(&wide, group, groups);
        for (int p = first; p < n && p < first + groups * W; p++) {
            const firn_lanes *g = &group[(p - first) / W];
            int lane = (p - first) % W;
            for (int i = 0; i < DD; i++) tau[(long)p * DD + i] = g->tau[i][lane];
            J[p] = g->J[lane];
            stiffness[p] = g->stiffness[lane];
        }
    }
}

static void energy(int law, const firn_law_constants *k, int n, const real *F, real *psi)
{
    static firn_lanes group[GROUPS];
    const firn_lane_constants wide = widen(k);
    vr out[GROUPS];
    for (int first = 0; first < n; first += GROUPS * W) {
        int groups = pack(group, n - first, F + (long)first * DD);
        FIRN_KERNEL(firn_laws)[law]->energy(&wide, group, groups, out);
        for (int p = first; p < n && p < first + groups * W; p++)
            psi[p] = out[(p - first) / W][(p - first) % W];
    }
}

const law_kernel FIRN_KERNEL(law_kernel) = {
    .isa = TEXT(FIRN_ISA), .dim = D, .lanes = W, .name = name, .stress = stress, .energy = energy};
