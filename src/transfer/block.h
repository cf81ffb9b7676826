/* What every pass does with the particles of a block: collect, load into lanes, deform, stress,
 * move, store, and sort by the cell they ended in. Included by the kernel files; all inline or
 * static. */
#ifndef FIRN_TRANSFER_BLOCK_H
#define FIRN_TRANSFER_BLOCK_H

#include "base/matrix.h"
#include "material/law.h"
#include "transfer/pass.h"

/* A block is walked in rows of cells along the last axis. */
enum {
    CELLS = D == 3 ? 64 : 16,
    ROWS = CELLS / FIRN_BLOCK,
    SHIFTED_CELLS = D == 3 ? 216 : 36,
    OFFSET_F = D,
    OFFSET_V = D + DD,
    OFFSET_STATE = 2 * D + DD,
};

/* ---- collecting ---- */

/* Neighbours that cells 0, 1, 2, 3 of an axis can have received particles from, by how far they
 * move. */
static const int8_t SOURCES[FIRN_BLOCK][2] = {{0, -1}, {0, 9}, {0, 9}, {0, 1}};

/* Writes the record indices of the block's particles to index, row by row; row[r] is where row r
 * starts. Within a row the order is: per source neighbour, by cell, then as the previous pass left
 * them. */
static int collect(const firn_pass *s, int32_t block, uint32_t *index, int row[ROWS + 1])
{
    const int32_t *source = s->at->source[block];
    int n = 0;
    for (int r = 0; r < ROWS; r++) {
        row[r] = n;
        const int c0 = D == 3 ? r / FIRN_BLOCK : r, c1 = r % FIRN_BLOCK;
        for (int a = 0; a < 2 && SOURCES[c0][a] != 9; a++) {
            for (int b = 0; b < (D == 3 ? 2 : 1) && SOURCES[c1][b] != 9; b++) {
                const int d0 = SOURCES[c0][a], d1 = D == 3 ? SOURCES[c1][b] : 0;
                const int first = (D == 3 ? (c0 + 1 - 4 * d0) * FIRN_SHIFTED + c1 + 1 - 4 * d1
                                          : c0 + 1 - 4 * d0) *
                                  FIRN_SHIFTED;
                const int32_t *near =
                    source + (D == 3 ? (d0 + 1) * 9 + (d1 + 1) * 3 : (d0 + 1) * 3);
                /* Its own row; then what came up from the block below and down from the one
                 * above. */
                static const int8_t from[3] = {1, 0, 2}, low[3] = {1, 5, 0}, high[3] = {5, 6, 1};
                for (int z = 0; z < 3; z++) {
                    if (near[from[z]] < 0) continue;
                    const firn_bin *bin = &s->from->bin[near[from[z]]];
                    const uint32_t begin = bin->cell[first + low[z]],
                                   end = bin->cell[first + high[z]];
                    memcpy(index + n, s->order + bin->start + begin, (end - begin) * sizeof *index);
                    n += (int)(end - begin);
                }
            }
        }
    }
    row[ROWS] = n;
    return n;
}

/* The next W of `left` indices; lanes past the last repeat it, so that they are real particles of
 * the same run and change no maximum. */
LANE_INLINE const uint32_t *pad_group(const uint32_t *index, int left, uint32_t padded[W])
{
    if (left >= W) return index;
    for (int l = 0; l < W; l++) padded[l] = index[l < left ? l : left - 1];
    return padded;
}

/* ---- loading and storing W records ---- */

/* W records of 16 reals to 16 vectors and back: a transpose in registers. */
#if W == 8 && defined(__AVX2__)
/* Four components of eight particles: particles 0-3 in the low halves, 4-7 in the high ones, so
 * that no shuffle crosses halves. */
LANE_INLINE void transpose_quad(__m256 r[4])
{
    const __m256d a = (__m256d)_mm256_unpacklo_ps(r[0], r[1]),
                  b = (__m256d)_mm256_unpackhi_ps(r[0], r[1]),
                  c = (__m256d)_mm256_unpacklo_ps(r[2], r[3]),
                  d = (__m256d)_mm256_unpackhi_ps(r[2], r[3]);
    r[0] = (__m256)_mm256_unpacklo_pd(a, c);
    r[1] = (__m256)_mm256_unpackhi_pd(a, c);
    r[2] = (__m256)_mm256_unpacklo_pd(b, d);
    r[3] = (__m256)_mm256_unpackhi_pd(b, d);
}
LANE_INLINE void load_records(vr out[16], const real *base, const uint32_t *index)
{
    const real *at[8];
    for (int l = 0; l < 8; l++) at[l] = base + 16 * (size_t)index[l];
    for (int q = 0; q < 16; q += 4) {
        __m256 r[4];
        for (int l = 0; l < 4; l++) {
            r[l] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(at[l] + q)),
                                        _mm_loadu_ps(at[l + 4] + q), 1);
        }
        transpose_quad(r);
        for (int c = 0; c < 4; c++) out[q + c] = (vr)r[c];
    }
}
LANE_INLINE void store_records(real *base, const uint32_t *index, const vr in[16])
{
    real *at[8];
    for (int l = 0; l < 8; l++) at[l] = base + 16 * (size_t)index[l];
    for (int q = 0; q < 16; q += 4) {
        __m256 r[4];
        for (int c = 0; c < 4; c++) r[c] = (__m256)in[q + c];
        transpose_quad(r);
        for (int l = 0; l < 4; l++) {
            _mm_storeu_ps(at[l] + q, _mm256_castps256_ps128(r[l]));
            _mm_storeu_ps(at[l + 4] + q, _mm256_extractf128_ps(r[l], 1));
        }
    }
}
#elif W == 16 && defined(__AVX512F__)
LANE_INLINE void transpose16(__m512 r[16])
{
    __m512 t[16];
    for (int i = 0; i < 8; i++) {
        t[2 * i] = _mm512_unpacklo_ps(r[2 * i], r[2 * i + 1]);
        t[2 * i + 1] = _mm512_unpackhi_ps(r[2 * i], r[2 * i + 1]);
    }
    for (int i = 0; i < 4; i++) {
        __m512d a = (__m512d)t[4 * i], b = (__m512d)t[4 * i + 1], c = (__m512d)t[4 * i + 2],
                d = (__m512d)t[4 * i + 3];
        r[4 * i] = (__m512)_mm512_unpacklo_pd(a, c);
        r[4 * i + 1] = (__m512)_mm512_unpackhi_pd(a, c);
        r[4 * i + 2] = (__m512)_mm512_unpacklo_pd(b, d);
        r[4 * i + 3] = (__m512)_mm512_unpackhi_pd(b, d);
    }
    for (int j = 0; j < 4; j++) {
        t[j] = _mm512_shuffle_f32x4(r[j], r[4 + j], 0x88);
        t[4 + j] = _mm512_shuffle_f32x4(r[j], r[4 + j], 0xdd);
        t[8 + j] = _mm512_shuffle_f32x4(r[8 + j], r[12 + j], 0x88);
        t[12 + j] = _mm512_shuffle_f32x4(r[8 + j], r[12 + j], 0xdd);
    }
    for (int j = 0; j < 4; j++) {
        r[j] = _mm512_shuffle_f32x4(t[j], t[8 + j], 0x88);
        r[8 + j] = _mm512_shuffle_f32x4(t[j], t[8 + j], 0xdd);
        r[4 + j] = _mm512_shuffle_f32x4(t[4 + j], t[12 + j], 0x88);
        r[12 + j] = _mm512_shuffle_f32x4(t[4 + j], t[12 + j], 0xdd);
    }
}
LANE_INLINE void load_records(vr out[16], const real *base, const uint32_t *index)
{
    __m512 r[16];
    for (int l = 0; l < 16; l++) r[l] = _mm512_loadu_ps(base + 16 * (size_t)index[l]);
    transpose16(r);
    for (int c = 0; c < 16; c++) out[c] = (vr)r[c];
}
LANE_INLINE void store_records(real *base, const uint32_t *index, const vr in[16])
{
    __m512 r[16];
    for (int c = 0; c < 16; c++) r[c] = (__m512)in[c];
    transpose16(r);
    for (int l = 0; l < 16; l++) _mm512_storeu_ps(base + 16 * (size_t)index[l], r[l]);
}
#elif W == 4
LANE_INLINE void transpose4(vr r[4])
{
    const vr a = __builtin_shufflevector(r[0], r[1], 0, 4, 1, 5),
             b = __builtin_shufflevector(r[0], r[1], 2, 6, 3, 7),
             c = __builtin_shufflevector(r[2], r[3], 0, 4, 1, 5),
             d = __builtin_shufflevector(r[2], r[3], 2, 6, 3, 7);
    r[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
    r[1] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
    r[2] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
    r[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
}
LANE_INLINE void load_records(vr out[16], const real *base, const uint32_t *index)
{
    for (int q = 0; q < 16; q += 4) {
        for (int l = 0; l < 4; l++) out[q + l] = v_load(base + 16 * (size_t)index[l] + q);
        transpose4(out + q);
    }
}
LANE_INLINE void store_records(real *base, const uint32_t *index, const vr in[16])
{
    for (int q = 0; q < 16; q += 4) {
        vr r[4] = {in[q], in[q + 1], in[q + 2], in[q + 3]};
        transpose4(r);
        for (int l = 0; l < 4; l++) v_store(base + 16 * (size_t)index[l] + q, r[l]);
    }
}
#else
LANE_INLINE void load_records(vr out[16], const real *base, const uint32_t *index)
{
    for (int c = 0; c < 16; c++) {
        out[c] = v_set(0);
        for (int l = 0; l < W; l++) out[c][l] = base[16 * (size_t)index[l] + (size_t)c];
    }
}
LANE_INLINE void store_records(real *base, const uint32_t *index, const vr in[16])
{
    for (int l = 0; l < W; l++) {
        for (int c = 0; c < 16; c++) base[16 * (size_t)index[l] + (size_t)c] = in[c][l];
    }
}
#endif

LANE_INLINE void identity_plus(const vr H[DD], vr F[DD])
{
    for (int i = 0; i < DD; i++) F[i] = i % (D + 1) ? H[i] : H[i] + 1;
}

/* All but F and C. */
LANE_INLINE void load_lanes(firn_lanes *g, const firn_store *s, const uint32_t *index)
{
    vr r[16];
    load_records(r, s->record, index);
    for (int a = 0; a < D; a++) g->x[a] = r[a];
    for (int i = 0; i < DD; i++) g->H[i] = r[OFFSET_F + i];
    for (int a = 0; a < D; a++) g->v[a] = r[OFFSET_V + a];
    g->state = r[OFFSET_STATE];
    g->enthalpy = v_set(0);
    if (s->heat) g->enthalpy = v_gather(s->heat + FIRN_HEAT_ENTHALPY, index, FIRN_HEAT_RECORD);
    g->mass = v_gather(s->mass, index, 1);
    g->volume = v_gather(s->volume, index, 1);
}

/* Lanes past the last particle repeat it: they write the same numbers to the same place. */
LANE_INLINE void store_lanes(const firn_lanes *g, const firn_store *s, const uint32_t *index)
{
    vr r[16];
    for (int a = 0; a < D; a++) r[a] = g->x[a];
    for (int i = 0; i < DD; i++) r[OFFSET_F + i] = g->H[i];
    for (int a = 0; a < D; a++) r[OFFSET_V + a] = g->v[a];
    r[OFFSET_STATE] = g->state;
    for (int c = OFFSET_STATE + 1; c < 16; c++) r[c] = v_set(0);
    store_records(s->record, index, r);
}

LANE_INLINE void load_gradient(firn_lanes *g, const firn_store *s, const uint32_t *index)
{
    for (int i = 0; i < DD; i++) g->C[i] = v_gather(s->spare + i, index, DD);
}

LANE_INLINE void store_gradient(const firn_lanes *g, const firn_store *s, const uint32_t *index)
{
    for (int l = 0; l < W; l++) {
        for (int i = 0; i < DD; i++) s->spare[(size_t)index[l] * DD + (size_t)i] = g->C[i][l];
    }
}

/* ---- deformation and stress ---- */

/* Singular values are kept within these: a particle beyond them is dust, not a solid. */
#define STRETCH_MIN ((real)0.05)
#define STRETCH_MAX ((real)20)

static __attribute__((noinline)) void clamp_stretch(firn_lanes *g)
{
    m_singular A;
    vr US[DD], F[DD];
    m_svd(g->F, &A);
    for (int i = 0; i < D; i++) {
        vr s = v_min(v_max(A.s[i], v_set(STRETCH_MIN)), v_set(STRETCH_MAX));
        for (int a = 0; a < D; a++) US[a * D + i] = A.U[a * D + i] * s;
    }
    m_mul_bt(US, A.V, F);
    /* Lanes within the bounds keep their bits. */
    const vi in = (A.s[0] <= STRETCH_MAX) & (A.s[D - 1] >= STRETCH_MIN);
    for (int i = 0; i < DD; i++) {
        g->H[i] = v_select(in, g->H[i], F[i] - (real)(i % (D + 1) == 0));
    }
    identity_plus(g->H, g->F);
}

LANE_INLINE vr largest_entry(const vr A[DD])
{
    vr most = v_abs(A[0]);
    for (int i = 1; i < DD; i++) most = v_max(v_abs(A[i]), most);
    return most;
}

/* The second-order term of the update, for lanes whose velocity gradient is too large for the first
 * alone; G is L F. The other lanes keep their bits. */
static __attribute__((noinline)) void deform_more(firn_lanes *g, const vr L[DD], const vr G[DD],
                                                  real dt, vi large)
{
    vr B[DD];
    m_mul(L, G, B);
    const real half = (real)0.5 * dt * dt;
    for (int i = 0; i < DD; i++) g->H[i] += v_select(large, half * B[i], v_set(0));
}

/* F <- (I + A) F with A = dt L, which is how positions move: with more terms F would not know of
 * the outward drift of x + dt v in a rotation, and a disc at 5 rad/s loses 1 % of its energy per
 * second to growing (measured; 0.01 % as it is). Beyond |A| = 0.2, where I + A may invert an
 * element, A^2/2 joins: det(I + A + A^2/2) cannot be negative.
 *
 * The sum is kept as H = F - I. A stiff body's strain grows by less than 1e-7 per step, which F
 * itself, near 1, would not notice: a clamped beam then sags 6 % too far (measured; 2.4 % with H,
 * as in double). Leaves the new F too; returns max |L_ab|. */
LANE_INLINE vr deform(firn_lanes *g, const vr L[DD], real dt)
{
    const vr most = largest_entry(L);
    const vi large = dt * most > (real)0.2;
    vr F[DD], G[DD];
    identity_plus(g->H, F);
    m_mul(L, F, G);
    for (int i = 0; i < DD; i++) g->H[i] += dt * G[i];
    if (v_any(large)) deform_more(g, L, G, dt, large);
    identity_plus(g->H, g->F);
    /* Cheap sufficient test for stretches within bounds: s_min >= J / (product of the others). */
    vr norm2 = v_set(0), J = m_det(g->F);
    for (int i = 0; i < DD; i++) norm2 += g->F[i] * g->F[i];
    const vr others = D == 3 ? (real)0.5 * norm2 : v_sqrt(norm2);
    const vi fine = (norm2 < STRETCH_MAX * STRETCH_MAX) & (J > STRETCH_MIN * others);
    if (v_any(~fine)) clamp_stretch(g);
    return most;
}

/* Growth of the single-particle modulus away from J = 1 (Sun et al. 2020, rounded up for J > 1). */
LANE_INLINE vr lone_factor(vr J) { return v_select(J > 1, J * J * J, (2 - J) * (2 - J)); }

/* Running maxima over lanes, as in firn_extremes. */
typedef struct lane_extremes {
    vr speed2, gradient, wave2, lone2, diffusion, shear2;
} lane_extremes;

LANE_INLINE void note_stiffness(lane_extremes *e, const firn_lane_constants *k, const firn_lanes *g,
                                vi mine)
{
    vr specific = g->volume / g->mass;
    vr wave2 = g->stiffness * specific;
    vr lone2 = g->modulus * lone_factor(g->J) * specific;
    e->wave2 = v_max(v_select(mine, wave2, v_set(0)), e->wave2);
    e->lone2 = v_max(v_select(mine, lone2, v_set(0)), e->lone2);
    e->diffusion = v_max(v_select(mine, k->viscosity * g->J * specific, v_set(0)), e->diffusion);
}

/* The constants of W particles of one material, and of W that may all differ. */
LANE_INLINE firn_lane_constants same_constants(const firn_pass *s, uint32_t material)
{
    firn_lane_constants k;
#define SET(name, value) k.name = v_set(s->materials[material].name);
    FIRN_LAW_CONSTANTS(SET)
#undef SET
    return k;
}
LANE_INLINE firn_lane_constants load_constants(const firn_pass *s, const uint32_t material[W])
{
    firn_lane_constants k;
#define LOAD(name, value)                                                                          \
    k.name = v_gather(&s->materials->name, material, sizeof *s->materials / sizeof(real));
    FIRN_LAW_CONSTANTS(LOAD)
#undef LOAD
    return k;
}

/* What is asked of laws: the stress of particles as they are; what a step has done to them, and then
 * the stress; or the former alone. */
typedef enum law_call { STRESS, FLOW_AND_STRESS, FLOW } law_call;

/* False when there was nothing to do. */
LANE_INLINE bool call_law(int law, law_call call, const firn_lane_constants *k, firn_lanes *g,
                          int n, real dt)
{
    const firn_law *row = FIRN_KERNEL(firn_laws)[law];
    if (call != STRESS && row->flow) {
        row->flow(k, g, n, dt);
        return true;
    }
    if (call != FLOW) row->stress(k, g, n);
    return call != FLOW;
}

/* The laws of W particles, and whether no lane before this one is of its kind. */
LANE_INLINE vi laws_of(const firn_pass *s, const uint32_t material[W])
{
#define AT(l) (lane_int) s->laws[material[l]]
    return (vi){V_LANES(AT)};
#undef AT
}
LANE_INLINE bool is_first_of_kind(vi kind, int lane)
{
    for (int l = 0; l < lane; l++) {
        if (kind[l] == kind[lane]) return false;
    }
    return true;
}

/* One group whose lanes differ in material: each law that is present runs over all lanes, and its
 * own are taken. */
static void respond_mixed(const firn_pass *s, law_call call, firn_lanes *g,
                          const uint32_t material[W], lane_extremes *e)
{
    const firn_lane_constants k = load_constants(s, material);
    const vi law = laws_of(s, material);
    if (!v_any(law != law[0])) { /* which only differ in parameters */
        if (call_law((int)law[0], call, &k, g, 1, (real)s->dt)) {
            note_stiffness(e, &k, g, vi_set(-1));
        }
        return;
    }
    for (int l = 0; l < W; l++) {
        if (!is_first_of_kind(law, l)) continue;
        const vi mine = law == law[l];
        firn_lanes t = *g;
        if (!call_law((int)law[l], call, &k, &t, 1, (real)s->dt)) continue;
        for (int c = 0; c < DD; c++) {
            g->H[c] = v_select(mine, t.H[c], g->H[c]);
            g->F[c] = v_select(mine, t.F[c], g->F[c]);
            g->tau[c] = v_select(mine, t.tau[c], g->tau[c]);
        }
        g->state = v_select(mine, t.state, g->state);
        g->J = v_select(mine, t.J, g->J);
        g->stiffness = v_select(mine, t.stiffness, g->stiffness);
        g->modulus = v_select(mine, t.modulus, g->modulus);
        note_stiffness(e, &k, &t, mine);
    }
}

/* Calls the laws of the n groups whose particles' records are index[0 .. count). A block mostly
 * holds one material. */
static void respond(const firn_pass *s, law_call call, firn_lanes *g, int n, const uint32_t *index,
                    int count, lane_extremes *e)
{
    const uint16_t *of = s->store->material;
    int differ = 0;
    if (s->material_count > 1) {
        for (int i = 1; i < count; i++) differ |= of[index[i]] ^ of[index[0]];
    }
    if (!differ) {
        const firn_lane_constants k = same_constants(s, of[index[0]]);
        if (!call_law(s->laws[of[index[0]]], call, &k, g, n, (real)s->dt)) return;
        for (int i = 0; i < n; i++) note_stiffness(e, &k, &g[i], vi_set(-1));
        return;
    }
    for (int i = 0; i < n; i++) {
        uint32_t material[W];
        for (int l = 0; l < W; l++) {
            material[l] = of[index[i * W + l < count ? i * W + l : count - 1]];
        }
        respond_mixed(s, call, &g[i], material, e);
    }
}

/* The tangent of one group, whose particles may differ in material. */
static inline void make_tangent(const firn_pass *s, const firn_lanes *g, const uint32_t index[W],
                                firn_tangent *t)
{
    uint32_t material[W];
    for (int l = 0; l < W; l++) material[l] = s->store->material[index[l]];
    bool same = true;
    for (int l = 1; l < W; l++) same &= material[l] == material[0];
    const firn_lane_constants k =
        same ? same_constants(s, material[0]) : load_constants(s, material);
    t->law = laws_of(s, material);
    for (int a = 0; a < D; a++) t->x[a] = g->x[a];
    for (int l = 0; l < W; l++) {
        if (!is_first_of_kind(t->law, l)) continue;
        const int law = (int)t->law[l];
        const vi mine = t->law == law;
        firn_tangent part;
        memset(&part, 0, sizeof part);
        FIRN_KERNEL(firn_laws)[law]->tangent(&k, g, &part, 1, (real)s->dt);
        for (int c = 0; c < FIRN_TANGENT; c++) t->q[c] = v_select(mine, part.q[c], t->q[c]);
    }
}

/* T of n groups. */
LANE_INLINE void differentiate(const firn_pass *s, const firn_tangent *t, const vr (*C)[DD],
                               vr (*T)[DD], int n)
{
    if (s->differential_law >= 0) {
        FIRN_KERNEL(firn_laws)[s->differential_law]->differential(t, C, T, n);
        return;
    }
    for (int i = 0; i < n; i++) {
        for (int l = 0; l < W; l++) {
            if (!is_first_of_kind(t[i].law, l)) continue;
            const vi mine = t[i].law == t[i].law[l];
            vr part[1][DD];
            FIRN_KERNEL(firn_laws)[t[i].law[l]]->differential(&t[i], &C[i], part, 1);
            for (int c = 0; c < DD; c++)
                T[i][c] = l ? v_select(mine, part[0][c], T[i][c]) : part[0][c];
        }
    }
}

/* Adds what the tangents of a group's first particles are like to their cells: the Lame coefficients,
 * times volume, of an isotropic material that answers alike to growth and to one shear. */
static inline void add_lame(const firn_pass *s, const firn_tangent *t, int lanes, real (*to)[2])
{
    vr C[1][DD], T[1][DD];
    for (int c = 0; c < DD; c++) C[0][c] = v_set(c % (D + 1) == 0);
    differentiate(s, t, (const vr(*)[DD])C, T, 1);
    vr growth = v_set(0), shear = v_set(0);
    for (int a = 0; a < D; a++) growth += T[0][a * (D + 1)] / (real)D; /* D lambda + 2 mu */
    /* Off the diagonal 1, on it 1 and -1: of size 2 + D (D - 1), without a trace. */
    for (int c = 0; c < DD; c++) C[0][c] = v_set(c == 0 ? 1 : c == D + 1 ? -1 : c % (D + 1) != 0);
    differentiate(s, t, (const vr(*)[DD])C, T, 1);
    for (int c = 0; c < DD; c++) shear += T[0][c] * C[0][c] / (real)(2 + D * (D - 1)); /* 2 mu */
    for (int l = 0; l < lanes; l++) {
        int cell = 0;
        for (int a = 0; a < D; a++) cell = FIRN_BLOCK * cell + (int)(t->x[a][l] + 1) - 1;
        const real lambda = (growth[l] - shear[l]) / (real)D;
        to[cell][0] += lambda > 0 ? lambda : 0;
        to[cell][1] += (real)0.5 * shear[l];
    }
}

LANE_INLINE void note_motion(lane_extremes *e, const firn_lanes *g, vr gradient)
{
    vr speed2 = g->v[0] * g->v[0];
    for (int a = 1; a < D; a++) speed2 += g->v[a] * g->v[a];
    e->speed2 = v_max(speed2, e->speed2);
    e->gradient = v_max(gradient, e->gradient);
}

LANE_INLINE void merge_extremes(firn_extremes *out, const lane_extremes *e)
{
    const vr *in[] = {&e->speed2, &e->gradient, &e->wave2, &e->lone2, &e->diffusion, &e->shear2};
    real *to[] = {&out->speed2, &out->gradient,  &out->wave2,
                  &out->lone2,  &out->diffusion, &out->shear2};
    for (size_t i = 0; i < sizeof to / sizeof *to; i++) {
        real most = v_reduce_max(*in[i]);
        if (most > *to[i]) *to[i] = most;
    }
}

/* ---- moving ---- */

/* Displacements end within this many cells: the bins reach one cell around a block. The limits on
 * dt keep them far below; what remains is push-out and the FLIP part of ASFLIP. */
#define MOVE_MAX ((real)0.98)

/* A position's cell is the whole part of x + 1, less 1, here and in store.c: binning and look-ups
 * must round alike. So stored positions are kept in [0, BLOCK_END], the largest number for which
 * that is 3. */
#ifdef FIRN_DOUBLE
#define BLOCK_END 0x1.ffffffffffffep+1
#else
#define BLOCK_END 0x1.fffffcp+1f
#endif
LANE_INLINE vi cell_of(vr x) { return v_to_int(x + 1) - 1; }

LANE_INLINE void lane_position(const firn_pass *s, int32_t block, const vr y[D], int l,
                               double position[3])
{
    position[2] = 0;
    for (int a = 0; a < D; a++) {
        position[a] =
            (FIRN_BLOCK * s->at->coord[block][a] + (double)y[a][l] + firn_spline_shift(s->spline)) *
            s->cell_size;
    }
}

/* The colliders that a block's particles can meet. */
LANE_INLINE firn_impulses near_colliders(const firn_pass *s, int32_t block)
{
    const int32_t first = s->impulse_first[block];
    return (firn_impulses){s->impulse + first, s->impulse_first[block + 1] - first};
}

/* Whether no collider reaches the lanes' particles on their way from x to y: a distance changes by no
 * more than the way from lane 0, so one look serves them all. */
static bool lanes_are_clear(const firn_pass *s, const firn_impulses *near, int32_t block,
                            const vr x[D], const vr y[D])
{
    vr apart2 = v_set(0), way2 = v_set(0);
    for (int a = 0; a < D; a++) {
        const vr apart = y[a] - y[a][0], way = y[a] - x[a];
        apart2 += apart * apart;
        way2 += way * way;
    }
    const double reach =
        1.001 * s->cell_size *
            (sqrt((double)v_reduce_max(apart2)) + sqrt((double)v_reduce_max(way2))) +
        1e-3 * s->cell_size; /* far more than rounding */
    double position[3], normal[3];
    lane_position(s, block, y, 0, position);
    for (int32_t c = 0; c < near->count; c++) {
        const firn_posed_collider *collider = &s->colliders[near->first[c].collider];
        const double moved = s->dt * firn_collider_speed_bound(collider, position, reach);
        if (!(firn_collider_distance(collider, D, position, normal) > reach + moved)) return false;
    }
    return true;
}

/* Pushes the lanes' particles out of colliders; x is where they were and y where they have come to, in
 * cells from the block. */
static __attribute__((noinline)) void collide_lanes(const firn_pass *s, int32_t block,
                                                    const vr x[D], vr y[D], vr v[D], vr mass, int n)
{
    const firn_impulses near = near_colliders(s, block);
    if (lanes_are_clear(s, &near, block, x, y)) return;
    const double h = s->cell_size, shift = firn_spline_shift(s->spline);
    const int32_t *coord = s->at->coord[block];
    for (int l = 0; l < W; l++) {
        if (l >= n) { /* repeats the last */
            for (int a = 0; a < D; a++) {
                y[a][l] = y[a][n - 1];
                v[a][l] = v[a][n - 1];
            }
            continue;
        }
        double before[3], position[3], velocity[3] = {0};
        lane_position(s, block, x, l, before);
        lane_position(s, block, y, l, position);
        for (int a = 0; a < D; a++) velocity[a] = (double)v[a][l];
        if (!firn_collide_particle(s->colliders, s->collider_count, D, 1e-6 * h, before, s->dt,
                                   position, velocity, (double)mass[l], &near))
            continue;
        for (int a = 0; a < D; a++) {
            y[a][l] = (real)(position[a] / h - shift - FIRN_BLOCK * coord[a]);
            v[a][l] = (real)velocity[a];
        }
    }
}

/* Which lanes' particles are inside a collider. */
static __attribute__((noinline)) vi in_collider(const firn_pass *s, int32_t block, const vr y[D])
{
    vi inside = vi_set(0);
    const firn_impulses near = near_colliders(s, block);
    if (lanes_are_clear(s, &near, block, y, y)) return inside;
    for (int l = 0; l < W; l++) {
        double position[3], normal[3];
        lane_position(s, block, y, l, position);
        for (int32_t c = 0; c < near.count && !inside[l]; c++) {
            const firn_posed_collider *collider = &s->colliders[near.first[c].collider];
            if (firn_collider_distance(collider, D, position, normal) < 0) inside[l] = -1;
        }
    }
    return inside;
}

/* The material of each lane. */
LANE_INLINE vi materials_of(const firn_pass *s, const uint32_t index[W])
{
#define AT(l) (lane_int) s->store->material[index[l]]
    return (vi){V_LANES(AT)};
#undef AT
}

/* 1 / det F at rest of the lanes' particles. */
static __attribute__((noinline)) vr rest_density(const firn_pass *s, const firn_lanes *g,
                                                 const uint32_t index[W])
{
    const vi material = materials_of(s, index);
    vr density = v_set(1);
    for (int l = 0; l < W; l++) {
        if (!is_first_of_kind(material, l)) continue;
        const firn_law *law = FIRN_KERNEL(firn_laws)[s->laws[material[l]]];
        if (!law->rest_density) continue;
        density = v_select(material == material[l],
                           law->rest_density(&s->materials[material[l]], g), density);
    }
    return density;
}

/* J of the lanes' particles over J at rest. */
LANE_INLINE vr elastic_volume(const firn_pass *s, const firn_lanes *g, const uint32_t index[W])
{
    vr F[DD];
    identity_plus(g->H, F);
    const vr det = m_det(F);
    return s->rest_density ? det * rest_density(s, g, index) : det;
}

/* Whether ASFLIP moves particles by their own velocity, too: not those that are compressed or in a
 * collider. J is of the step's start; log J + dt tr L >= -0.001, with the exponential to third order
 * in place of the logarithm. */
LANE_INLINE vi moves_apart(const firn_pass *s, int32_t block, const firn_lanes *g,
                           const uint32_t index[W], const vr L[DD], bool near)
{
    vr growth = L[0];
    for (int a = 1; a < D; a++) growth += L[a * D + a];
    growth = v_max((real)s->dt * growth, v_set(-1));
    const vr factor = 1 + growth * (1 + growth * ((real)0.5 + growth * (real)(1.0 / 6)));
    vi apart = elastic_volume(s, g, index) * factor >= (real)0.9990005;
    if (near) apart &= ~in_collider(s, block, g->x);
    return apart;
}

/* Moves to y. Returns the shifted cell number; leaves in y the position after the move as seen from
 * this block and in g->x as seen from the block that now has the particle. */
LANE_INLINE vi move(firn_lanes *g, vr y[D])
{
    vi cell = vi_set(0);
    for (int a = 0; a < D; a++) {
        y[a] = v_min(v_max(y[a], g->x[a] - MOVE_MAX), g->x[a] + MOVE_MAX);
        vi c = v_to_int(y[a] + 1);
        cell = cell * FIRN_SHIFTED + c;
        const vi four = (vi)v_set(FIRN_BLOCK);
        vr rebase = (vr)((c == 0) & four) - (vr)((c == FIRN_SHIFTED - 1) & four);
        g->x[a] = v_max(v_min(y[a] + rebase, v_set(BLOCK_END)), v_set(0));
    }
    return cell;
}

/* Sorts the block's n particles by shifted cell into its bin; with slot, their places are sorted
 * along. Neighbours in the list mostly share a cell, so four counters take turns: one alone would
 * wait for its own last increment. */
static void bin_block(const firn_pass *s, int32_t block, const uint32_t *index,
                      const uint16_t *cell, int n, const firn_scatter_index *where,
                      firn_scatter_index *slot)
{
    enum { TURNS = 4 };
    firn_bin *bin = &s->at->bin[block];
    uint32_t at[SHIFTED_CELLS][TURNS] = {{0}};
    int i = 0;
    for (; i + TURNS <= n; i += TURNS) {
        at[cell[i]][0]++;
        at[cell[i + 1]][1]++;
        at[cell[i + 2]][2]++;
        at[cell[i + 3]][3]++;
    }
    for (; i < n; i++) at[cell[i]][0]++;
    /* Counts to offsets, the four of a cell at once: sums over lanes by shifting twice. */
    typedef uint32_t quad __attribute__((vector_size(TURNS * sizeof(uint32_t))));
    quad offset = {0};
    for (int c = 0; c < SHIFTED_CELLS; c++) {
        bin->cell[c] = offset[0];
        quad count, sum;
        memcpy(&count, at[c], sizeof count);
        sum = count + __builtin_shufflevector(count, (quad){0}, 4, 0, 1, 2);
        sum += __builtin_shufflevector(sum, (quad){0}, 4, 4, 0, 1);
        const quad first = offset + sum - count;
        memcpy(at[c], &first, sizeof first);
        offset += __builtin_shufflevector(sum, sum, 3, 3, 3, 3);
    }
    bin->cell[SHIFTED_CELLS] = offset[0];
    bin->start = s->at->start[block];
    bin->count = (uint32_t)n;
    uint32_t *order = s->order_out + bin->start;
#define PUT(i, turn)                                                                               \
    do {                                                                                           \
        const uint32_t to = at[cell[i]][turn]++;                                                   \
        order[to] = index[i];                                                                      \
        if (slot) slot[to] = where[i];                                                             \
    } while (0)
    for (i = 0; i + TURNS <= n; i += TURNS) {
        PUT(i, 0);
        PUT(i + 1, 1);
        PUT(i + 2, 2);
        PUT(i + 3, 3);
    }
    for (; i < n; i++) PUT(i, 0);
#undef PUT
    firn_directory_count_leaving(s->at, block);
}

/* ---- nodes ---- */

enum {
    CORNERS = D == 3 ? 8 : 4,
    ARENA_NODES = D == 3 ? FIRN_ARENA * FIRN_ARENA * FIRN_ARENA : FIRN_ARENA * FIRN_ARENA,
    BLOCK_REALS = CELLS * FIRN_NODE, /* of a velocity channel */
};

/* A superblock's arena, while its particles are scattered. */
typedef struct open_arena {
    real *node;
    int planes;
    uint64_t touched;
} open_arena;

LANE_INLINE open_arena open_superblock(const firn_pass *s, int32_t superblock)
{
    return (open_arena){.node =
                            s->arena + (size_t)superblock * FIRN_ARENA_REALS(D, s->arena_channels),
                        .planes = s->arena_channels / FIRN_NODE};
}

/* Clears pieces. */
static __attribute__((noinline)) void clear_pieces(open_arena *arena, uint64_t pieces)
{
    arena->touched |= pieces;
    for (; pieces; pieces &= pieces - 1) {
        const int piece = __builtin_ctzll(pieces);
        const int8_t *i = firn_piece_begin + (D == 3 ? piece >> 4 : piece >> 2),
                     *j = firn_piece_begin + (piece >> 2 & 3), *k = firn_piece_begin + (piece & 3);
        const size_t size = (size_t)(k[1] - k[0]) * FIRN_NODE * sizeof(real);
        for (int p = 0; p < arena->planes; p++) {
            for (int a = i[0]; a < i[1]; a++) {
                for (int b = D == 3 ? j[0] : 0; b < (D == 3 ? j[1] : 1); b++) {
                    const int row =
                        D == 3 ? (p * FIRN_ARENA + a) * FIRN_ARENA + b : p * FIRN_ARENA + a;
                    memset(arena->node + (row * FIRN_ARENA + k[0]) * FIRN_NODE, 0, size);
                }
            }
        }
    }
}

/* The pieces that nodes first .. last along an axis are in. */
LANE_INLINE uint64_t pieces_along(int axis, int first, int last)
{
    static const int8_t piece[FIRN_ARENA] = {0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3};
    static const uint64_t lowest[3] = {D == 3 ? 0x1111111111111111 : 0x1111,
                                       D == 3 ? 0x000f000f000f000f : 0x000f, 0xffff};
    const int after = D - 1 - axis, step = 1 << (2 * after);
    return lowest[after] << (step * piece[first]) | lowest[after] << (step * piece[last]);
}

/* Before anything is added to nodes that lie in these pieces. */
LANE_INLINE void touch(open_arena *arena, uint64_t pieces)
{
    if (pieces & ~arena->touched) clear_pieces(arena, pieces & ~arena->touched);
}

/* The blocks whose nodes this block's particles reach: index bits are +1 along axis 0, 1(, 2). */
LANE_INLINE void find_corners(const firn_directory *d, int32_t block, int32_t corner[CORNERS])
{
    const int32_t *near = d->coord[block];
    const int32_t far[3] = {near[0] + 1, near[1] + 1, near[2] + 1};
    uint64_t key[CORNERS];
    firn_corner_keys(d, firn_directory_layer(d, block), near, far, key);
    corner[0] = block;
    for (int n = 1; n < CORNERS; n++) corner[n] = firn_directory_find(d, key[n]);
}

/* ---- scattering one particle at a time ---- */

/* What a pass does to a group whose stress is known, and then to each of its particles. */
typedef void prepare_function(const firn_pass *s, firn_lanes *g, const uint32_t index[W],
                              lane_extremes *e);
typedef void scatter_function(const firn_pass *s, const firn_lanes *g, int lane,
                              const int origin[D], open_arena *arena);

LANE_INLINE void scatter_block(const firn_pass *s, int32_t block, open_arena *arena,
                               firn_scratch *scratch, lane_extremes *e, prepare_function *prepare,
                               scatter_function *scatter)
{
    int row[ROWS + 1], origin[D];
    const int n = collect(s, block, scratch->index, row);
    for (int d = 0; d < D; d++) origin[d] = 1 + FIRN_BLOCK * (s->at->coord[block][d] & 1);
    for (int i = 0; i < n; i += W) {
        uint32_t padded[W];
        const uint32_t *index = pad_group(scratch->index + i, n - i, padded);
        const int lanes = n - i < W ? n - i : W;
        firn_lanes g;
        load_lanes(&g, s->store, index);
        load_gradient(&g, s->store, index);
        identity_plus(g.H, g.F);
        respond(s, STRESS, &g, 1, index, lanes, e);
        note_motion(e, &g, largest_entry(g.C));
        if (prepare) prepare(s, &g, index, e);
        for (int l = 0; l < lanes; l++) scatter(s, &g, l, origin, arena);
    }
}

/* A pass that scatters each particle of a superblock by functions; the first may be NULL. */
LANE_INLINE void scatter_superblock(const firn_pass *s, int32_t superblock, firn_scratch *scratch,
                                    prepare_function *prepare, scatter_function *scatter)
{
    open_arena arena = open_superblock(s, superblock);
    lane_extremes e = {0};
    for (int32_t b = s->at->super_first[superblock]; b < s->at->super_first[superblock + 1]; b++) {
        if (s->at->population[b]) scatter_block(s, b, &arena, scratch, &e, prepare, scatter);
    }
    s->touched[superblock] = arena.touched;
    s->extremes[superblock] = (firn_extremes){0};
    merge_extremes(&s->extremes[superblock], &e);
}

#endif
