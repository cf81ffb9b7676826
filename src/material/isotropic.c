/* What all isotropic laws share of an implicit step: see tangent.h. */
#include "material/tangent.h"

void FIRN_KERNEL(firn_isotropic_differential)(const firn_tangent *tangent, const vr (*C)[DD],
                                              vr (*T)[DD], int n)
{
    for (int g = 0; g < n; g++) {
        const vr *U = tangent[g].q, *H = U + DD, *pair = H + D * (D + 1) / 2;
        vr CU[DD], A[DD], E[DD], UE[DD];
        m_mul(C[g], U, CU);
        m_mul_at(U, CU, A);
        for (int i = 0; i < D; i++) E[i * D + i] = v_set(0);
        for (int i = 0; i < D; i++)
            for (int j = i; j < D; j++, H++) {
                E[i * D + i] += *H * A[j * D + j];
                if (j > i) E[j * D + j] += *H * A[i * D + i];
            }
        for (int p = 0; p < PAIRS; p++, pair += 3) {
            const int ij = PAIR[p][0] * D + PAIR[p][1], ji = PAIR[p][1] * D + PAIR[p][0];
            E[ij] = pair[0] * A[ij] + pair[1] * A[ji];
            E[ji] = pair[1] * A[ij] + pair[2] * A[ji];
        }
        m_mul(U, E, UE);
        m_mul_bt(UE, U, T[g]);
    }
}
