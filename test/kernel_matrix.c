/* The lane half of test_matrix.c: base/matrix.h over plain arrays of matrices, in the kernel's
 * instruction set and dimension. The last group repeats the last matrix to fill its lanes. */
#include "base/matrix.h"

void FIRN_KERNEL(test_svd)(const real *A, real *U, real *s, real *V, int n);
void FIRN_KERNEL(test_polar)(const real *A, real *R, int n);
void FIRN_KERNEL(test_products)(const real *A, const real *B, real *out, int n);

static void load(const real *from, int first, int n, vr *to)
{
    for (int i = 0; i < DD; i++) {
        real lanes[W];
        for (int l = 0; l < W; l++) lanes[l] = from[DD * (first + l < n ? first + l : n - 1) + i];
        to[i] = v_load(lanes);
    }
}

/* `count` numbers per lane, to entries of `stride` numbers. */
static void store(const vr *from, int count, int first, int n, real *to, int stride)
{
    for (int l = 0; l < W && first + l < n; l++)
        for (int i = 0; i < count; i++) to[stride * (first + l) + i] = from[i][l];
}

void FIRN_KERNEL(test_svd)(const real *A, real *U, real *s, real *V, int n)
{
    for (int first = 0; first < n; first += W) {
        vr a[DD];
        m_singular f;
        load(A, first, n, a);
        m_svd(a, &f);
        store(f.U, DD, first, n, U, DD);
        store(f.s, D, first, n, s, D);
        store(f.V, DD, first, n, V, DD);
    }
}

void FIRN_KERNEL(test_polar)(const real *A, real *R, int n)
{
    for (int first = 0; first < n; first += W) {
        vr a[DD], r[DD];
        load(A, first, n, a);
        m_polar(a, r);
        store(r, DD, first, n, R, DD);
    }
}

/* Per pair: A B, A B^T, A^T B, cofactor of A, I, det A: 5 DD + 1 numbers. */
void FIRN_KERNEL(test_products)(const real *A, const real *B, real *out, int n)
{
    const int stride = 5 * DD + 1;
    for (int first = 0; first < n; first += W) {
        vr a[DD], b[DD], result[5 * DD + 1];
        load(A, first, n, a);
        load(B, first, n, b);
        m_mul(a, b, result);
        m_mul_bt(a, b, result + DD);
        m_mul_at(a, b, result + 2 * DD);
        m_cofactor(a, result + 3 * DD);
        m_identity(result + 4 * DD);
        result[5 * DD] = m_det(a);
        store(result, stride, first, n, out, stride);
    }
}
