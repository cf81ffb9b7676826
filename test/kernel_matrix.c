/* The lane half of test_matrix.c: base/matrix.h over plain arrays of matrices, in the kernel's
 * instruction set and dimension. The last group repeats the last matrix to fill its lanes. And the
 * functions of base/simd.h that move lanes, against plain loops. */
#include "base/matrix.h"

void FIRN_KERNEL(test_svd)(const real *A, real *U, real *s, real *V, int n);
void FIRN_KERNEL(test_polar)(const real *A, real *R, int n);
void FIRN_KERNEL(test_products)(const real *A, const real *B, real *out, int n);
const char *FIRN_KERNEL(test_lanes)(const real number[64], const uint32_t index[16]);

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

/* The function that differs from its plain loop, or NULL; index < 16. */
const char *FIRN_KERNEL(test_lanes)(const real number[64], const uint32_t index[16])
{
    for (uint32_t stride = 1; stride <= 4; stride++) {
        const vr v = v_gather(number, index, stride);
        for (int l = 0; l < W; l++) {
            if (v[l] != number[stride * index[l]]) return "v_gather";
        }
    }
    const vr a = v_load(number), b = v_load(number + 16), least = v_min(a, b), most = v_max(a, b);
    real largest = number[0];
    for (int l = 0; l < W; l++) {
        const real x = number[l], y = number[16 + l];
        if (least[l] != (x < y ? x : y)) return "v_min";
        if (most[l] != (x < y ? y : x)) return "v_max";
        if (x > largest) largest = x;
        if (!v_any(a == x) || v_any((a == x) & (a != x))) return "v_any";
    }
    if (v_reduce_max(a) != largest) return "v_reduce_max";
#if W == 16
    for (int first = 0; first < 48; first++) {
        const real *p = number + first;
        const vr repeated = v_repeat(p), spread = v_spread(p[0], p[1], p[2], p[3]);
        for (int l = 0; l < W; l++) {
            if (repeated[l] != p[l % 4]) return "v_repeat";
            if (spread[l] != p[l / 4]) return "v_spread";
        }
    }
#endif
    return NULL;
}
