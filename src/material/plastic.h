/* What laws with a yield surface share: singular values that are pulled back to it. */
#ifndef FIRN_PLASTIC_H
#define FIRN_PLASTIC_H

#include "material/elastic.h"

/* The singular values of p->F become S. H gets the change alone, so that lanes that do not yield keep
 * its bits and the others its digits. */
LANE_INLINE void p_set_stretches(firn_lanes *p, const m_singular *F, const vr S[D])
{
    vr change[DD], to[DD];
    for (int i = 0; i < DD; i++) change[i] = F->U[i] * (S[i % D] - F->s[i % D]);
    m_mul_bt(change, F->V, to);
    for (int i = 0; i < DD; i++) {
        p->H[i] += to[i];
        p->F[i] = i % (D + 1) ? p->H[i] : p->H[i] + 1;
    }
}

/* Calls `finish` for every group with the singular values of its F. Step by step over all groups: each
 * of them waits on its own chain of divisions, and short loops let the processor work on the next. */
typedef void p_finish(const firn_lane_constants *k, firn_lanes *p, const m_singular *F, real dt);
LANE_INLINE void p_with_singular_values(const firn_lane_constants *k, firn_lanes *group, int n,
                                        real dt, p_finish *finish)
{
#if D == 2
    for (int g = 0; g < n; g++) {
        m_singular F;
        m_svd(group[g].F, &F);
        finish(k, &group[g], &F, dt);
    }
#else
    enum { MOST = 8 };
    vr B[MOST][DD], size[MOST];
    m_deflated d[MOST];
    for (; n > 0; n -= MOST, group += MOST) {
        const int count = n < MOST ? n : MOST;
        for (int g = 0; g < count; g++) {
            size[g] = m_normalise(group[g].F, B[g]);
            m_deflate_right(B[g], &d[g]);
        }
        for (int g = 0; g < count; g++) m_deflate_left(B[g], &d[g]);
        for (int g = 0; g < count; g++) {
            m_singular F;
            m_assemble(&d[g], size[g], &F);
            finish(k, &group[g], &F, dt);
        }
    }
#endif
}

LANE_INLINE vr p_product(const vr S[D])
{
    vr product = S[0];
    for (int i = 1; i < D; i++) product *= S[i];
    return product;
}

#endif
