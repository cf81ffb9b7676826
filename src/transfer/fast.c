/* The fast path: every transfer with MLS forces on quadratic splines, W particles at a time.
 *
 * Sweeps from one source: scatter (opens an advance), gather (closes it; of implicit steps too), and
 * fused, which gathers from the finished grid, deforms, moves, and scatters to the next grid while the
 * particle is in registers (Wang et al. 2020 call it G2P2G). The product of implicit steps is built of
 * the same parts. A block goes through four jobs:
 *
 *   gather   lanes are particles of one run of cells, so that the velocities of a row of nodes
 *            are one or two registers and every lane picks its own by a permute
 *   law      over a chunk of groups, in a buffer that fits the first cache
 *   move     new position and cell; the record is written back, and what the scatter needs is laid
 *            out per particle
 *   scatter  sorted by cell; lanes are nodes: the cell's columns of nodes stay in registers while
 *            its particles go by, and are added to the arena once
 *
 * With u = node - particle in cells, f = particle - lowest node: APIC momentum and MLS force of a
 * particle at a node are w (m v + A u), A = h m C - (4 dt V0 / h) tau (Hu et al. 2018, eq. 16 for
 * quadratic splines). PIC and FLIP leave out C. FLIP-type transfers also need the velocities before
 * forces: momentum and impulse then go to two planes of the arena, and the gather reads two grids.
 * Both forms come from this source, told apart by the constant `flip`. */
#ifndef FIRN_DOUBLE

#include "transfer/block.h"

/* The axes: i first, j middle (3D only), k last. NJ layers along j. */
enum { AXIS_I = 0, AXIS_J = D == 3 ? 1 : 0, AXIS_K = D - 1, NJ = D == 3 ? 3 : 1 };
enum { LOCAL = FIRN_BLOCK + 2 }; /* nodes per axis a block's particles reach */
enum { LOCAL_ROWS = D == 3 ? LOCAL * LOCAL : LOCAL };

/* A run is what one register file of node velocities serves: a row of 4 cells, or with 16 lanes a
 * slab of 4 rows. */
enum { RUN_ROWS = W == 16 && D == 3 ? 4 : 1, RUNS = ROWS / RUN_ROWS };

typedef uint16_t vh __attribute__((vector_size(W * 2)));
static const uint32_t IN_TURN[16]
    __attribute__((aligned(64))) = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

/* Weights of the three nodes at 0, 1, 2 of a particle at f. */
LANE_INLINE void weights(vr w[3], vr f)
{
    vr a = 1.5f - f, b = f - 1.0f, c = f - 0.5f;
    w[0] = 0.5f * a * a;
    w[1] = 0.75f - b * b;
    w[2] = 0.5f * c * c;
}

typedef float four __attribute__((vector_size(16)));
LANE_INLINE four load_four(const float *p)
{
    four a;
    memcpy(&a, p, sizeof a);
    return a;
}

/* ---- gather ---- */

#if W >= 8
/* Velocities by component, row of nodes, and node padded to 8; lanes look theirs up. */
typedef struct local_nodes {
    float v[D][LOCAL_ROWS * 8 + 16];
} local_nodes;

static void load_local(const firn_pass *s, const real *velocity, int32_t block, local_nodes *local)
{
    int32_t corner[CORNERS];
    find_corners(s->at, block, corner);
    for (int r = 0; r < LOCAL_ROWS; r++) {
        const int i = D == 3 ? r / LOCAL : r, j = D == 3 ? r % LOCAL : 0;
        const int inside = (D == 3 ? i % 4 * 4 + j % 4 : i % 4) * 4;
        for (int half = 0; half < 2; half++) {
            const int32_t from =
                corner[D == 3 ? (i / 4) * 4 + (j / 4) * 2 + half : (i / 4) * 2 + half];
            float *to = local->v[0] + r * 8 + half * 4;
            const size_t next = sizeof local->v[0] / sizeof(float);
            if (from < 0) { /* no particle reaches that far */
                for (int c = 0; c < D; c++) memset(to + c * next, 0, 4 * sizeof(float));
                continue;
            }
            const float *node = velocity + (size_t)from * BLOCK_REALS + inside * FIRN_NODE;
            const four n0 = load_four(node), n1 = load_four(node + 4), n2 = load_four(node + 8),
                       n3 = load_four(node + 12);
            const four a = __builtin_shufflevector(n0, n1, 0, 4, 1, 5),
                       b = __builtin_shufflevector(n2, n3, 0, 4, 1, 5);
            const four x = __builtin_shufflevector(a, b, 0, 1, 4, 5),
                       y = __builtin_shufflevector(a, b, 2, 3, 6, 7);
            memcpy(to, &x, sizeof x);
            memcpy(to + next, &y, sizeof y);
            if (D == 3) {
                const four c = __builtin_shufflevector(n0, n1, 2, 6, 3, 7),
                           d = __builtin_shufflevector(n2, n3, 2, 6, 3, 7);
                const four z = __builtin_shufflevector(c, d, 0, 1, 4, 5);
                memcpy(to + 2 * next, &z, sizeof z);
            }
        }
    }
}

/* row[at + k] per lane; for a slab, at counts through four rows. With 8 lanes, at is below 4: the
 * four nodes from k on, loaded into both halves, need a permute within halves only, which is half
 * the work of one across. */
LANE_INLINE vr look_up(const float *row, int k, vi at)
{
#if W == 8 && defined(__AVX2__)
    return (vr)_mm256_permutevar_ps(_mm256_broadcast_ps((const __m128 *)(row + k)), (__m256i)at);
#elif W == 16 && defined(__AVX512F__)
    const __m512 low = _mm512_loadu_ps(row);
    if (RUN_ROWS == 1) return (vr)_mm512_permutexvar_ps((__m512i)(at + k), low);
    return (vr)_mm512_permutex2var_ps(low, (__m512i)(at + k), _mm512_loadu_ps(row + 16));
#else
    vr r = v_set(0);
    for (int l = 0; l < W; l++) r[l] = row[at[l] + k];
    return r;
#endif
}

/* The weighted sum of three nodes, and in *moment the same of node number x value. Three products
 * and three sums: processors that add on units of their own take five steps for both. */
LANE_INLINE vr contract(const vr w[3], vr v0, vr v1, vr v2, vr *moment)
{
    vr p2 = w[2] * v2;
    V_ROUND(p2);
    const vr q = w[1] * v1 + p2;
    *moment = q + p2;
    return w[0] * v0 + q;
}

/* Velocity and C of a group in run `run`, at f from the lowest stencil node `cell`. */
LANE_INLINE void gather(const local_nodes *local, int run, const vi cell[D], const vr f[D],
                        const vr w[D][3], real scale, vr v[D], vr C[DD])
{
    const vi at = cell[AXIS_K] + (RUN_ROWS > 1 ? cell[AXIS_J] * 8 : vi_set(0));
    const int ci = D == 3 && RUN_ROWS == 1 ? run / 4 : run;
    const int cj = D == 3 && RUN_ROWS == 1 ? run % 4 : 0;
    const vr *wk = w[AXIS_K], *wj = w[AXIS_J], *wi = w[AXIS_I];
    for (int c = 0; c < D; c++) {
        vr a[3], a_j[3], a_k[3]; /* contracted along k, then j: the sum, and the moments */
        for (int i = 0; i < 3; i++) {
            vr b[NJ], b_k[NJ];
            for (int j = 0; j < NJ; j++) {
                const float *row = local->v[c] + (D == 3 ? (ci + i) * LOCAL + cj + j : ci + i) * 8;
                b[j] = contract(wk, look_up(row, 0, at), look_up(row, 1, at), look_up(row, 2, at),
                                &b_k[j]);
            }
            a[i] = b[0];
            a_k[i] = b_k[0];
            if (D == 3) {
                a[i] = contract(wj, b[0], b[1], b[2], &a_j[i]);
                a_k[i] = wj[0] * b_k[0] + (wj[1] * b_k[1] + wj[2] * b_k[2]);
            }
        }
        vr sum_i, sum_j, sum_k;
        const vr sum = contract(wi, a[0], a[1], a[2], &sum_i);
        if (D == 3) sum_j = wi[0] * a_j[0] + (wi[1] * a_j[1] + wi[2] * a_j[2]);
        sum_k = wi[0] * a_k[0] + (wi[1] * a_k[1] + wi[2] * a_k[2]);
        v[c] = sum;
        C[c * D + AXIS_I] = scale * (sum_i - f[AXIS_I] * sum);
        if (D == 3) C[c * D + AXIS_J] = scale * (sum_j - f[AXIS_J] * sum);
        C[c * D + AXIS_K] = scale * (sum_k - f[AXIS_K] * sum);
    }
}

/* The velocity alone. */
LANE_INLINE void gather_velocity(const local_nodes *local, int run, const vi cell[D],
                                 const vr w[D][3], vr v[D])
{
    const vi at = cell[AXIS_K] + (RUN_ROWS > 1 ? cell[AXIS_J] * 8 : vi_set(0));
    const int ci = D == 3 && RUN_ROWS == 1 ? run / 4 : run;
    const int cj = D == 3 && RUN_ROWS == 1 ? run % 4 : 0;
    for (int c = 0; c < D; c++) {
        v[c] = v_set(0);
        for (int i = 0; i < 3; i++) {
            vr a = v_set(0);
            for (int j = 0; j < NJ; j++) {
                const float *row = local->v[c] + (D == 3 ? (ci + i) * LOCAL + cj + j : ci + i) * 8;
                vr b = w[AXIS_K][0] * look_up(row, 0, at);
                for (int k = 1; k < 3; k++) b += w[AXIS_K][k] * look_up(row, k, at);
                a = D == 3 ? a + w[AXIS_J][j] * b : b;
            }
            v[c] += w[AXIS_I][i] * a;
        }
    }
}

#else /* four lanes or one have no permute to gain from: lanes are a node's components */

typedef struct local_nodes {
    four v[LOCAL_ROWS * LOCAL];
} local_nodes;

static void load_local(const firn_pass *s, const real *velocity, int32_t block, local_nodes *local)
{
    int32_t corner[CORNERS];
    find_corners(s->at, block, corner);
    for (int n = 0; n < LOCAL_ROWS * LOCAL; n++) {
        int which = 0, inside = 0, rest = n;
        for (int a = D - 1, bit = 1, step = 1; a >= 0; a--, bit *= 2, step *= 4, rest /= LOCAL) {
            which += rest % LOCAL / 4 * bit;
            inside += rest % LOCAL % 4 * step;
        }
        local->v[n] = (four){0};
        if (corner[which] >= 0) {
            memcpy(&local->v[n],
                   velocity + (size_t)corner[which] * BLOCK_REALS + inside * FIRN_NODE,
                   sizeof(four));
        }
    }
}

/* The lanes' particles, components side by side, to vectors by component; in registers, as a load
 * of four lanes waits for stores of one. */
LANE_INLINE void by_component(four particle[W], vr out[D])
{
#if W == 4
    transpose4(particle);
    for (int c = 0; c < D; c++) out[c] = particle[c];
#else
    for (int c = 0; c < D; c++) out[c] = v_set(particle[0][c]);
#endif
}

LANE_INLINE void gather(const local_nodes *local, int run, const vi cell[D], const vr f[D],
                        const vr w[D][3], real scale, vr v[D], vr C[DD])
{
    (void)run;
    four sum[W], moment[D][W]; /* by axis */
    for (int l = 0; l < W; l++) {
        int first = 0;
        for (int a = 0; a < D; a++) first = first * LOCAL + (int)cell[a][l];
        four sum_0 = {0}, sum_i = {0}, sum_j = {0}, sum_k = {0};
        for (int i = 0; i < 3; i++) {
            four a = {0}, a_j = {0}, a_k = {0};
            for (int j = 0; j < NJ; j++) {
                const four *n = local->v + first + (D == 3 ? (i * LOCAL + j) * LOCAL : i * LOCAL);
                const four p1 = w[AXIS_K][1][l] * n[1], p2 = w[AXIS_K][2][l] * n[2];
                const float wj = D == 3 ? w[AXIS_J][j][l] : 1;
                const four along = wj * (w[AXIS_K][0][l] * n[0] + (p1 + p2));
                a += along;
                a_k += wj * (p1 + 2 * p2);
                a_j += (float)j * along;
            }
            const float wi = w[AXIS_I][i][l];
            sum_0 += wi * a;
            sum_k += wi * a_k;
            sum_j += wi * a_j;
            sum_i += (float)i * wi * a;
        }
        sum[l] = sum_0;
        moment[AXIS_I][l] = sum_i;
        if (D == 3) moment[AXIS_J][l] = sum_j;
        moment[AXIS_K][l] = sum_k;
    }
    by_component(sum, v);
    for (int a = 0; a < D; a++) {
        vr along[D];
        by_component(moment[a], along);
        for (int c = 0; c < D; c++) C[c * D + a] = scale * (along[c] - f[a] * v[c]);
    }
}

LANE_INLINE void gather_velocity(const local_nodes *local, int run, const vi cell[D],
                                 const vr w[D][3], vr v[D])
{
    (void)run;
    four sum[W];
    for (int l = 0; l < W; l++) {
        int first = 0;
        for (int a = 0; a < D; a++) first = first * LOCAL + (int)cell[a][l];
        sum[l] = (four){0};
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < NJ; j++) {
                const four *n = local->v + first + (D == 3 ? (i * LOCAL + j) * LOCAL : i * LOCAL);
                const float wij = w[AXIS_I][i][l] * (D == 3 ? w[AXIS_J][j][l] : 1);
                sum[l] += wij * (w[AXIS_K][0][l] * n[0] +
                                 (w[AXIS_K][1][l] * n[1] + w[AXIS_K][2][l] * n[2]));
            }
        }
    }
    by_component(sum, v);
}
#endif

/* ---- scatter ---- */

/* What the scatter needs of W particles: per plane of the arena 16 floats each side by side (what the
 * lowest node gets of momentum and mass, then A's columns along i, j, k, fourth components zero),
 * then by lane the products of the weights along i and j and the weights along k. */
enum { ENTRY = 16, ENTRY_WEIGHTS = 12 };
_Static_assert(2 * ENTRY + ENTRY_WEIGHTS == FIRN_SCATTER_REALS, "as reserve_scratch has it");
#define PLANES (flip ? 2 : 1)
#define GROUP ((uint32_t)((PLANES * ENTRY + ENTRY_WEIGHTS) * W))

/* One plane: at a node u cells from the particle, base + A u, where u of the lowest node is -f. */
LANE_INLINE void write_plane(float *out, const vr base[D], const vr A[DD], vr mass, const vr f[D])
{
    vr q[ENTRY];
    for (int c = 0; c < ENTRY; c++) q[c] = v_set(0);
    for (int c = 0; c < D; c++) {
        q[c] = base[c];
        for (int a = 0; a < D; a++) q[c] -= A[c * D + a] * f[a];
        q[4 + c] = A[c * D + AXIS_I];
        if (D == 3) q[8 + c] = A[c * D + AXIS_J];
        q[12 + c] = A[c * D + AXIS_K];
    }
    q[3] = mass;
    store_records(out, IN_TURN, q);
}

LANE_INLINE void write_weights(float *out, const vr w[D][3])
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < NJ; j++) {
            v_store(out + (i * NJ + j) * W, D == 3 ? w[AXIS_I][i] * w[AXIS_J][j] : w[AXIS_I][i]);
        }
        v_store(out + (9 + i) * W, w[AXIS_K][i]);
    }
}

LANE_INLINE void write_entries(float *out, const firn_lanes *g, const vr f[D], const vr w[D][3],
                               real affine, real force, const bool flip)
{
    const vr mass_h = affine * g->mass, stress = force * g->volume;
    vr momentum[D], A[DD];
    for (int c = 0; c < D; c++) momentum[c] = g->mass * g->v[c];
    if (flip) {
        const vr none[D] = {{0}};
        for (int i = 0; i < DD; i++) A[i] = mass_h * g->C[i];
        write_plane(out, momentum, A, g->mass, f);
        for (int i = 0; i < DD; i++) A[i] = -stress * g->tau[i];
        write_plane(out + ENTRY * W, none, A, v_set(0), f);
    } else {
        for (int i = 0; i < DD; i++) A[i] = mass_h * g->C[i] - stress * g->tau[i];
        write_plane(out, momentum, A, g->mass, f);
    }
    write_weights(out + PLANES * ENTRY * W, w);
}

/* Where the scatter finds the particles of the group written at offset `to`. */
LANE_INLINE void write_places(firn_scatter_index *out, uint32_t to, const bool flip)
{
    typedef uint32_t pairs __attribute__((vector_size(2 * W * sizeof(uint32_t))));
    pairs p;
    for (int l = 0; l < W; l++) {
        p[2 * l] = (uint32_t)(l * ENTRY);
        p[2 * l + 1] = (uint32_t)(PLANES * ENTRY * W + l);
    }
    p += to;
    memcpy(out, &p, sizeof p);
}

/* Adds the particles slot[0 .. n) of one cell to its columns of nodes, NZ nodes along k from node
 * KZ on. */
#define SCATTER_CELL(NAME, NZ, KZ, WEIGHT, STEP, REPEAT)                                           \
    typedef float NAME##_v __attribute__((vector_size(16 * (NZ))));                                \
    LANE_INLINE void NAME(float *node, const float *entries, const float *weights,                 \
                          const firn_scatter_index *slot, int n)                                   \
    {                                                                                              \
        typedef NAME##_v vec;                                                                      \
        vec sum[3 * NJ];                                                                           \
        for (int c = 0; c < 3 * NJ; c++) sum[c] = (vec){0};                                        \
        const vec step = STEP;                                                                     \
        for (int p = 0; p < n; p++) {                                                              \
            const float *e = entries + slot[p].entry, *weight = weights + slot[p].weight;          \
            const vec wk = WEIGHT(weight + 9 * W);                                                 \
            vec t = wk * (REPEAT(e) + step * REPEAT(e + 12));                                      \
            vec ti = wk * REPEAT(e + 4);                                                           \
            V_ROUND(ti);                                                                           \
            if (D == 3) {                                                                          \
                vec tj = wk * REPEAT(e + 8);                                                       \
                V_ROUND(tj);                                                                       \
                vec t1 = t + ti, t2 = t1 + ti;                                                     \
                for (int j = 0; j < NJ; j++) {                                                     \
                    sum[j] += weight[j * W] * t;                                                   \
                    sum[NJ + j] += weight[(NJ + j) * W] * t1;                                      \
                    sum[2 * NJ + j] += weight[(2 * NJ + j) * W] * t2;                              \
                    t += tj;                                                                       \
                    t1 += tj;                                                                      \
                    t2 += tj;                                                                      \
                }                                                                                  \
            } else {                                                                               \
                for (int i = 0; i < 3; i++, t += ti) sum[i] += weight[i * W] * t;                  \
            }                                                                                      \
        }                                                                                          \
        for (int c = 0; c < 3 * NJ; c++) {                                                         \
            float *to = node + ((D == 3 ? c / 3 * FIRN_ARENA + c % 3 : c) * FIRN_ARENA + (KZ)) *   \
                                   FIRN_NODE;                                                      \
            vec old;                                                                               \
            memcpy(&old, to, sizeof old);                                                          \
            old += sum[c];                                                                         \
            memcpy(to, &old, sizeof old);                                                          \
        }                                                                                          \
    }

/* Four floats, once, twice, or four times over; and the weights along k of the nodes a register
 * covers. */
#if W == 16
LANE_INLINE vr four_weights(const float *w) { return v_spread(w[0], w[W], w[2 * W], 0); }
#define STEP_ALL                                                                                   \
    {                                                                                              \
        0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3                                             \
    }
SCATTER_CELL(scatter_all, 4, 0, four_weights, STEP_ALL, v_repeat)
#elif W == 8
LANE_INLINE vr repeat_two(const float *p) { return (vr)_mm256_broadcast_ps((const __m128 *)p); }
LANE_INLINE vr two_weights(const float *w)
{
    return (vr)_mm256_insertf128_ps(_mm256_broadcast_ss(w), _mm_broadcast_ss(w + W), 1);
}
LANE_INLINE four last_weight(const float *w) { return (four)_mm_broadcast_ss(w + 2 * W); }
#define STEP_TWO                                                                                   \
    {                                                                                              \
        0, 0, 0, 0, 1, 1, 1, 1                                                                     \
    }
#define STEP_LAST                                                                                  \
    {                                                                                              \
        2, 2, 2, 2                                                                                 \
    }
SCATTER_CELL(scatter_two, 2, 0, two_weights, STEP_TWO, repeat_two)
SCATTER_CELL(scatter_last, 1, 2, last_weight, STEP_LAST, load_four)
#else
LANE_INLINE four weight_0(const float *w) { return (four){0} + w[0]; }
LANE_INLINE four weight_1(const float *w) { return (four){0} + w[W]; }
LANE_INLINE four weight_2(const float *w) { return (four){0} + w[2 * W]; }
#define STEP_0                                                                                     \
    {                                                                                              \
        0, 0, 0, 0                                                                                 \
    }
#define STEP_1                                                                                     \
    {                                                                                              \
        1, 1, 1, 1                                                                                 \
    }
#define STEP_2                                                                                     \
    {                                                                                              \
        2, 2, 2, 2                                                                                 \
    }
SCATTER_CELL(scatter_0, 1, 0, weight_0, STEP_0, load_four)
SCATTER_CELL(scatter_1, 1, 1, weight_1, STEP_1, load_four)
SCATTER_CELL(scatter_2, 1, 2, weight_2, STEP_2, load_four)
#endif

/* Adds one plane of a cell's particles to the arena. */
LANE_INLINE void scatter_cell(float *to, const float *entries, const float *weights,
                              const firn_scatter_index *slot, int n)
{
#if W == 16
    scatter_all(to, entries, weights, slot, n);
#elif W == 8
    scatter_two(to, entries, weights, slot, n);
    scatter_last(to, entries, weights, slot, n);
#else
    scatter_0(to, entries, weights, slot, n);
    scatter_1(to, entries, weights, slot, n);
    scatter_2(to, entries, weights, slot, n);
#endif
}

/* Adds a block's particles to the arena, cell by cell; cell[c] .. cell[c + 1] are the slots of cell
 * c, of the block's own (side FIRN_BLOCK) or of its shifted ones (FIRN_SHIFTED). */
LANE_INLINE void scatter_cells(const firn_pass *s, int32_t block, open_arena *arena, const int side,
                               const uint32_t *cell, const float *entries,
                               const firn_scatter_index *slot, const bool flip)
{
    const int32_t *coord = s->at->coord[block];
    const int lowest = side == FIRN_BLOCK; /* the arena begins a cell below the block */
    const int origin[3] = {lowest + 4 * (coord[AXIS_I] & 1), lowest + 4 * (coord[AXIS_J] & 1),
                           lowest + 4 * (coord[AXIS_K] & 1)};
    uint64_t along_k[FIRN_SHIFTED];
    for (int k = 0; k < side; k++) {
        along_k[k] = pieces_along(AXIS_K, origin[2] + k, origin[2] + k + 2);
    }
    for (int row = 0; row < (D == 3 ? side * side : side); row++) {
        const uint32_t *first = cell + row * side;
        if (first[0] == first[side]) continue;
        const int i = origin[0] + (D == 3 ? row / side : row), j = origin[1] + row % side;
        const uint64_t pieces =
            pieces_along(AXIS_I, i, i + 2) & (D == 3 ? pieces_along(AXIS_J, j, j + 2) : UINT64_MAX);
        for (int k = 0; k < side; k++) {
            const uint32_t *range = first + k;
            const int n = (int)(range[1] - range[0]);
            if (n == 0) continue;
            touch(arena, pieces & along_k[k]);
            const int node = (D == 3 ? i * FIRN_ARENA + j : i) * FIRN_ARENA + origin[2] + k;
            float *to = arena->node + node * FIRN_NODE;
            const firn_scatter_index *mine = slot + range[0];
            scatter_cell(to, entries, entries, mine, n);
            if (flip) {
                scatter_cell(to + ARENA_NODES * FIRN_NODE, entries + ENTRY * W, entries, mine, n);
            }
        }
    }
}

/* ---- a block ---- */

enum {
    AHEAD = 2 * W, /* records fetched before they are needed */
    CHUNK = 8, /* groups that go from gather to law to scatter together: the first cache's worth */
};

_Static_assert(RUNS <= 16 && AHEAD + W <= 4 * W, "what reserve_scratch leaves for overruns");

typedef enum pass_kind {
    SCATTER,
    GATHER,
    MOVED_GATHER, /* what particles move by is not the velocity they get */
    FUSED
} pass_kind;

LANE_INLINE void prefetch(const firn_store *s, const uint32_t *index)
{
    for (int l = 0; l < W; l++) __builtin_prefetch(s->record + 16 * (size_t)index[l]);
    __builtin_prefetch(s->mass + index[0]);
    __builtin_prefetch(s->volume + index[0]);
}

/* FLIP: what the old grid does not see of the particles' own velocity, in part, joins the new one;
 * `step` is the velocity they move by, L its gradient. */
LANE_INLINE void keep_own(const firn_pass *s, int32_t block, const local_nodes *old, int run,
                          const vi cell[D], const vr w[D][3], bool near, const uint32_t index[W],
                          const vr own[D], const vr L[DD], firn_lanes *g, vr step[D])
{
    vr seen[D];
    gather_velocity(old, run, cell, w, seen);
    const bool separable = firn_transfer_separates(s->transfer);
    const vi apart = separable ? moves_apart(s, block, g, index, L, near) : vi_set(0);
    for (int a = 0; a < D; a++) {
        const vr kept = s->flip * (own[a] - seen[a]);
        step[a] += v_select(apart, kept, v_set(0));
        g->v[a] += kept;
    }
}

/* Particles begin .. end of a block, all in one run, at most CHUNK groups: everything up to the
 * sorting. Their entries are groups `group` on; a last one need not be full. */
LANE_INLINE void pass_chunk(const firn_pass *s, int32_t block, const local_nodes local[3], int run,
                            int begin, int end, int group, firn_scratch *scratch,
                            lane_extremes *extremes, const pass_kind kind, const bool flip)
{
    const real h = (real)s->cell_size, dt = (real)s->dt, dt_scatter = (real)s->dt_scatter;
    const real affine = firn_transfer_is_affine(s->transfer) ? h : 0;
    const bool near = kind != SCATTER && s->at->near_collider[block];
    const bool apart = flip || kind == MOVED_GATHER, scatters = kind == SCATTER || kind == FUSED;
    const int groups = (end - begin + W - 1) / W;
    firn_lanes lanes[CHUNK];
    vr gradient[CHUNK]; /* largest entry of C */
    vr step[CHUNK][D];  /* velocity of the motion, where it is not that of the particle */
    uint32_t padded[W];
    const uint32_t *index = scratch->index + begin;
    const uint32_t *last =
        pad_group(index + (groups - 1) * W, end - begin - (groups - 1) * W, padded);

    for (int i = 0; i < groups; i++) {
        firn_lanes *g = &lanes[i];
        const uint32_t *mine = i < groups - 1 ? index + i * W : last;
        prefetch(s->store, index + i * W + AHEAD);
        load_lanes(g, s->store, mine);
        if (kind == SCATTER) {
            load_gradient(g, s->store, mine);
            identity_plus(g->H, g->F);
            gradient[i] = largest_entry(g->C);
            continue;
        }
        vi cell[D];
        vr f[D], w[D][3];
        for (int a = 0; a < D; a++) {
            cell[a] = cell_of(g->x[a]);
            f[a] = g->x[a] - v_to_real(cell[a]) + 0.5f;
            weights(w[a], f[a]);
        }
        vr own[D], C[DD];
        const vr *L = g->C;
        for (int a = 0; a < D; a++) own[a] = g->v[a];
        gather(&local[0], run, cell, f, (const vr(*)[3])w, 4 / h, g->v, g->C);
        if (kind == MOVED_GATHER) {
            gather(&local[2], run, cell, f, (const vr(*)[3])w, 4 / h, step[i], C);
            L = C;
        } else if (flip) {
            for (int a = 0; a < D; a++) step[i][a] = g->v[a];
        }
        if (flip)
            keep_own(s, block, &local[1], run, cell, (const vr(*)[3])w, near, mine, own, L, g,
                     step[i]);
        gradient[i] = deform(g, L, dt);
    }
    const law_call call = kind == SCATTER ? STRESS : scatters ? FLOW_AND_STRESS : FLOW;
    respond(s, call, lanes, groups, index, end - begin, extremes);
    for (int i = 0; i < groups; i++) {
        firn_lanes *g = &lanes[i];
        const uint32_t *mine = i < groups - 1 ? index + i * W : last;
        vr y[D];
        vi cell;
        if (kind == SCATTER) {
            cell = vi_set(0);
            for (int a = 0; a < D; a++) {
                y[a] = g->x[a];
                cell = cell * FIRN_SHIFTED + cell_of(y[a]) + 1;
            }
        } else {
            for (int a = 0; a < D; a++) y[a] = g->x[a] + dt / h * (apart ? step[i][a] : g->v[a]);
            if (near)
                collide_lanes(s, block, g->x, y, g->v, g->mass,
                              i < groups - 1 ? W : end - begin - i * W);
            cell = move(g, y);
            store_lanes(g, s->store, mine);
            if (!scatters) store_gradient(g, s->store, mine);
        }
        if (scatters) {
            note_motion(extremes, g, gradient[i]);
            vr f[D], w[D][3];
            for (int a = 0; a < D; a++) {
                f[a] = y[a] - v_to_real(cell_of(y[a])) + 0.5f;
                weights(w[a], f[a]);
            }
            const size_t to = (size_t)(group + i) * GROUP;
            write_entries(scratch->scatter + to, g, f, (const vr(*)[3])w, affine,
                          4 * dt_scatter / h, flip);
            write_places(scratch->where + begin + i * W, (uint32_t)to, flip);
        }
        const vh cells = __builtin_convertvector(cell, vh);
        memcpy(scratch->cell + begin + i * W, &cells, sizeof cells);
    }
}

LANE_INLINE void pass_block(const firn_pass *s, int32_t block, open_arena *arena,
                            firn_scratch *scratch, lane_extremes *extremes, const pass_kind kind,
                            const bool flip)
{
    uint32_t *index = scratch->index;
    int row[ROWS + 1];
    const int n = collect(s, block, index, row);
    for (int i = n; i < n + AHEAD + W; i++) index[i] = index[n - 1]; /* for prefetching */
    for (int i = 0; i < AHEAD; i += W) prefetch(s->store, index + i);
    local_nodes local[3];
    if (kind != SCATTER) load_local(s, s->velocity, block, &local[0]);
    if (kind != SCATTER && flip) load_local(s, s->velocity_old, block, &local[1]);
    if (kind == MOVED_GATHER) load_local(s, s->velocity_moved, block, &local[2]);

    int groups = 0;
    for (int run = 0; run < RUNS; run++) {
        const int run_end = row[(run + 1) * RUN_ROWS];
        for (int begin = row[run * RUN_ROWS]; begin < run_end; begin += CHUNK * W) {
            const int end = run_end - begin < CHUNK * W ? run_end : begin + CHUNK * W;
            pass_chunk(s, block, local, run, begin, end, groups, scratch, extremes, kind, flip);
            groups += (end - begin + W - 1) / W;
        }
    }
    if (kind == GATHER || kind == MOVED_GATHER) {
        bin_block(s, block, index, scratch->cell, n, NULL, NULL);
        return;
    }
    if (kind == FUSED) {
        bin_block(s, block, index, scratch->cell, n, scratch->where, scratch->slot);
        scatter_cells(s, block, arena, FIRN_SHIFTED, s->at->bin[block].cell, scratch->scatter,
                      scratch->slot, flip);
        return;
    }
    /* Particles have not moved: the bins stay, and so does the order the previous pass left. */
    uint32_t at[SHIFTED_CELLS + 1] = {0}, first[SHIFTED_CELLS + 1];
    for (int i = 0; i < n; i++) at[scratch->cell[i] + 1]++;
    for (int c = 0; c < SHIFTED_CELLS; c++) at[c + 1] += at[c];
    memcpy(first, at, sizeof first);
    for (int i = 0; i < n; i++) scratch->slot[at[scratch->cell[i]]++] = scratch->where[i];
    scatter_cells(s, block, arena, FIRN_SHIFTED, first, scratch->scatter, scratch->slot, flip);
}

LANE_INLINE void pass_superblock(const firn_pass *s, int32_t superblock, firn_scratch *scratch,
                                 const pass_kind kind, const bool flip)
{
    const bool scatters = kind == SCATTER || kind == FUSED;
    open_arena arena = open_superblock(s, superblock);
    lane_extremes e = {0};
    for (int32_t b = s->at->super_first[superblock]; b < s->at->super_first[superblock + 1]; b++) {
        if (s->at->population[b]) pass_block(s, b, &arena, scratch, &e, kind, flip);
    }
    if (!scatters) return;
    s->touched[superblock] = arena.touched;
    s->extremes[superblock] = (firn_extremes){0};
    merge_extremes(&s->extremes[superblock], &e);
}

#define SWEEP(NAME, KIND, FLIP)                                                                    \
    firn_pass_function FIRN_KERNEL(NAME);                                                          \
    void FIRN_KERNEL(NAME)(const firn_pass *s, int32_t superblock, firn_scratch *scratch)          \
    {                                                                                              \
        pass_superblock(s, superblock, scratch, KIND, FLIP);                                       \
    }
SWEEP(firn_fast_scatter, SCATTER, false)
SWEEP(firn_fast_gather, GATHER, false)
SWEEP(firn_fused, FUSED, false)
SWEEP(firn_fast_scatter_flip, SCATTER, true)
SWEEP(firn_fast_gather_flip, GATHER, true)
SWEEP(firn_fused_flip, FUSED, true)
SWEEP(firn_moved_gather, MOVED_GATHER, false)
SWEEP(firn_moved_gather_flip, MOVED_GATHER, true)

/* ---- implicit steps ---- */

/* Particles do not move while the solver runs. So they are laid out once, by cell within each run, with
 * all that a product needs: groups are loaded as they lie, and the scatter finds cells in order. */

LANE_INLINE firn_tangent *block_tangents(const firn_pass *s, int32_t block)
{
    return (firn_tangent *)s->tangents + s->group[block];
}

/* As cell_of has it. */
LANE_INLINE int cell_in_row(const firn_pass *s, uint32_t particle)
{
    return (int)(s->store->record[(size_t)particle * FIRN_RECORD + AXIS_K] + 1) - 1;
}

/* Sorts the block's particles by cell, into `to`; writes the cells' offsets. */
static void sort_by_cell(const firn_pass *s, const int row[ROWS + 1], const uint32_t *index,
                         uint32_t *to, uint32_t first[CELLS + 1])
{
    for (int r = 0; r < ROWS; r++) {
        uint32_t count[FIRN_BLOCK] = {0}, at[FIRN_BLOCK];
        for (int i = row[r]; i < row[r + 1]; i++) count[cell_in_row(s, index[i])]++;
        uint32_t next = (uint32_t)row[r];
        for (int c = 0; c < FIRN_BLOCK; c++) {
            first[r * FIRN_BLOCK + c] = at[c] = next;
            next += count[c];
        }
        for (int i = row[r]; i < row[r + 1]; i++) to[at[cell_in_row(s, index[i])]++] = index[i];
    }
    first[CELLS] = (uint32_t)row[ROWS];
}

firn_pass_function FIRN_KERNEL(firn_fast_tangent);
void FIRN_KERNEL(firn_fast_tangent)(const firn_pass *s, int32_t superblock, firn_scratch *scratch)
{
    for (int32_t b = s->at->super_first[superblock]; b < s->at->super_first[superblock + 1]; b++) {
        if (!s->at->population[b]) continue;
        int row[ROWS + 1];
        uint32_t *index = (uint32_t *)scratch->where; /* which has room for two of each */
        collect(s, b, scratch->index, row);
        sort_by_cell(s, row, scratch->index, index, s->cell[b]);
        firn_tangent *t = block_tangents(s, b);
        for (int run = 0; run < RUNS; run++) {
            const int end = row[(run + 1) * RUN_ROWS];
            for (int i = row[run * RUN_ROWS]; i < end; i += W, t++) {
                uint32_t padded[W];
                const uint32_t *mine = pad_group(index + i, end - i, padded);
                firn_lanes g;
                load_lanes(&g, s->store, mine);
                identity_plus(g.H, g.F);
                make_tangent(s, &g, mine, t);
            }
        }
    }
}

enum { PRODUCT_AHEAD = 6 }; /* groups fetched before they are needed */

/* Groups t .. t + n of a run: gather, differentiate, and lay out for the scatter. */
LANE_INLINE void product_chunk(const firn_pass *s, const local_nodes *local, int run,
                               const firn_tangent *t, int n, float *entries, uint32_t to,
                               firn_scatter_index *slot)
{
    const bool flip = false; /* one plane */
    const real scale = 4 / (real)s->cell_size;
    vr C[CHUNK][DD], T[CHUNK][DD], f[CHUNK][D], w[CHUNK][D][3];
    for (int i = 0; i < n; i++) {
        vi cell[D];
        vr v[D];
        for (size_t at = 0; at < sizeof *t; at += 64) {
            __builtin_prefetch((const char *)(t + i + PRODUCT_AHEAD) + at);
        }
        for (int a = 0; a < D; a++) {
            cell[a] = cell_of(t[i].x[a]);
            f[i][a] = t[i].x[a] - v_to_real(cell[a]) + 0.5f;
            weights(w[i][a], f[i][a]);
        }
        gather(local, run, cell, f[i], (const vr(*)[3])w[i], scale, v, C[i]);
    }
    differentiate(s, t, (const vr(*)[DD])C, T, n);
    for (int i = 0; i < n; i++, to += GROUP, slot += W) {
        const vr none[D] = {{0}};
        for (int c = 0; c < DD; c++) T[i][c] *= scale;
        write_plane(entries + to, none, T[i], v_set(0), f[i]);
        write_weights(entries + to + ENTRY * W, (const vr(*)[3])w[i]);
        write_places(slot, to, flip);
    }
}

static void product_block(const firn_pass *s, int32_t block, open_arena *arena,
                          firn_scratch *scratch)
{
    const bool flip = false;
    const uint32_t *first = s->cell[block];
    const firn_tangent *t = block_tangents(s, block);
    local_nodes local;
    load_local(s, s->velocity, block, &local);
    uint32_t to = 0;
    for (int run = 0; run < RUNS; run++) {
        const uint32_t begin = first[run * RUN_ROWS * FIRN_BLOCK],
                       end = first[(run + 1) * RUN_ROWS * FIRN_BLOCK];
        const int groups = (int)(end - begin + W - 1) / W;
        for (int i = 0; i < groups; i += CHUNK) {
            const int n = groups - i < CHUNK ? groups - i : CHUNK;
            product_chunk(s, &local, run, t, n, scratch->scatter, to,
                          scratch->slot + begin + i * W);
            t += n;
            to += (uint32_t)n * GROUP;
        }
    }
    scatter_cells(s, block, arena, FIRN_BLOCK, first, scratch->scatter, scratch->slot, flip);
}

firn_pass_function FIRN_KERNEL(firn_fast_product);
void FIRN_KERNEL(firn_fast_product)(const firn_pass *s, int32_t superblock, firn_scratch *scratch)
{
    open_arena arena = open_superblock(s, superblock);
    for (int32_t b = s->at->super_first[superblock]; b < s->at->super_first[superblock + 1]; b++) {
        if (s->at->population[b]) product_block(s, b, &arena, scratch);
    }
    s->touched[superblock] = arena.touched;
}

firn_pass_function FIRN_KERNEL(firn_fast_lame);
void FIRN_KERNEL(firn_fast_lame)(const firn_pass *s, int32_t superblock, firn_scratch *scratch)
{
    (void)scratch;
    for (int32_t b = s->at->super_first[superblock]; b < s->at->super_first[superblock + 1]; b++) {
        if (!s->at->population[b]) continue;
        const firn_tangent *t = block_tangents(s, b);
        for (int run = 0; run < RUNS; run++) {
            const int end = (int)s->cell[b][(run + 1) * RUN_ROWS * FIRN_BLOCK];
            for (int i = (int)s->cell[b][run * RUN_ROWS * FIRN_BLOCK]; i < end; i += W, t++) {
                add_lame(s, t, end - i < W ? end - i : W, s->lame + (size_t)b * CELLS);
            }
        }
    }
}

#endif
