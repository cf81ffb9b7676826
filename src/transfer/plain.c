/* The plain path: scatter and gather for every transfer, spline and force form, one particle at a
 * time.
 *
 * It supports everything the fast path does not, and tests compare the fast path with it; the double
 * build has no other. Laws still run on lanes. Formulas: Jiang et al. 2016 (course notes), Hu et al.
 * 2018 (MLS), Fei et al. 2021 (ASFLIP). Offsets are (x_i - x_p) / h, from particle to node. */
#include "transfer/block.h"

enum {
    STENCIL = FIRN_STENCIL,
    LOCAL = FIRN_BLOCK + STENCIL - 1
}; /* nodes per axis a block's particles reach */
enum { LOCAL_NODES = D == 3 ? LOCAL * LOCAL * LOCAL : LOCAL * LOCAL };

/* Weights and their derivatives (per cell) of the stencil nodes along one axis; offset[k] = (x_k -
 * x_p) / h. */
typedef struct axis_weights {
    real w[STENCIL], dw[STENCIL], offset[STENCIL];
} axis_weights;

static axis_weights quadratic(real x)
{
    axis_weights a = {{0}, {0}, {0}};
    const real f = x - (real)(int)x + (real)0.5; /* from the lowest node, in [0.5, 1.5) */
    for (int k = 0; k < 3; k++) a.offset[k] = (real)k - f;
    a.w[0] = (real)0.5 * ((real)1.5 - f) * ((real)1.5 - f);
    a.w[1] = (real)0.75 - (f - 1) * (f - 1);
    a.w[2] = (real)0.5 * (f - (real)0.5) * (f - (real)0.5);
    a.dw[0] = f - (real)1.5;
    a.dw[1] = -2 * (f - 1);
    a.dw[2] = f - (real)0.5;
    return a;
}

static axis_weights cubic(real x)
{
    axis_weights a;
    const real f = x - (real)(int)x; /* from the second node, in [0, 1) */
    const real g = 1 - f;
    for (int k = 0; k < 4; k++) a.offset[k] = (real)(k - 1) - f;
    a.w[0] = g * g * g / 6;
    a.w[2] = g * g * g / 2 - g * g + (real)(2.0 / 3.0);
    a.w[3] = f * f * f / 6;
    a.w[1] = 1 - (a.w[0] + a.w[2] + a.w[3]); /* f^3/2 - f^2 + 2/3, such that the sum is 1 */
    a.dw[0] = -g * g / 2;
    a.dw[1] = (real)1.5 * f * f - 2 * f;
    a.dw[3] = f * f / 2;
    a.dw[2] = -(a.dw[0] + a.dw[1] + a.dw[3]); /* 2g - 1.5 g^2, such that the sum is 0 */
    return a;
}

static axis_weights weigh(firn_spline spline, real x)
{
    return spline == FIRN_QUADRATIC ? quadratic(x) : cubic(x);
}

/* What a node holds: three components and a mass. Sums run over all four at once. */
typedef real node_reals __attribute__((vector_size(FIRN_NODE * sizeof(real))));

static inline node_reals load_node(const real *p)
{
    node_reals v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline void add_to_node(real *p, node_reals v)
{
    v += load_node(p);
    memcpy(p, &v, sizeof v);
}

/* Column b of a matrix, as a node's components. */
static inline node_reals column(const real A[DD], int b)
{
    node_reals c = {0};
    for (int a = 0; a < D; a++) c[a] = A[a * D + b];
    return c;
}

/* One node of a particle's stencil. */
typedef struct stencil_node {
    int node; /* in an array with `side` nodes per axis */
    real w;
    real offset[D];   /* node - particle, cells */
    real gradient[D]; /* what stands for the gradient of w, 1/m: MLS or the real one */
} stencil_node;

/* h D^-1, 1/m: D is the second moment of the weights. */
static real inverse_moment(const firn_pass *s)
{
    return (real)((s->spline == FIRN_QUADRATIC ? 4 : 3) / s->cell_size);
}

/* Lists the stencil nodes of a particle, node `first` being the lowest. Returns how many. Inlined for
 * each n and mls, so that the loops unroll. */
LANE_INLINE int list_nodes(const axis_weights a[D], const int n, const bool mls, real scale,
                           int first, int side, stencil_node *node)
{
    stencil_node *t = node;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < (D == 3 ? n : 1); j++) {
            const real wj = D == 3 ? a[1].w[j] : 1, wij = a[0].w[i] * wj;
            for (int k = 0; k < n; k++, t++) {
                const real wk = a[D - 1].w[k], w = wij * wk;
                t->node = first + (D == 3 ? (i * side + j) * side + k : i * side + k);
                t->w = w;
                t->offset[0] = a[0].offset[i];
                if (D == 3) t->offset[1] = a[1].offset[j];
                t->offset[D - 1] = a[D - 1].offset[k];
                if (mls) {
                    for (int d = 0; d < D; d++) t->gradient[d] = scale * w * t->offset[d];
                    continue;
                }
                t->gradient[0] = scale * (a[0].dw[i] * wj * wk);
                if (D == 3) t->gradient[1] = scale * (a[0].w[i] * a[1].dw[j] * wk);
                t->gradient[D - 1] = scale * (wij * a[D - 1].dw[k]);
            }
        }
    }
    return (int)(t - node);
}

static int list_stencil(const firn_pass *s, const real x[D], int first, int side,
                        stencil_node node[STENCIL * STENCIL * STENCIL])
{
    axis_weights a[D];
    for (int d = 0; d < D; d++) a[d] = weigh(s->spline, x[d]);
    const bool mls = s->force_form == FIRN_MLS;
    const real scale = mls ? inverse_moment(s) : (real)(1 / s->cell_size);
    if (s->spline == FIRN_QUADRATIC) {
        return mls ? list_nodes(a, 3, true, scale, first, side, node)
                   : list_nodes(a, 3, false, scale, first, side, node);
    }
    return mls ? list_nodes(a, 4, true, scale, first, side, node)
               : list_nodes(a, 4, false, scale, first, side, node);
}

static int first_node(const real x[D], int side, const int origin[D])
{
    int node = 0;
    for (int d = 0; d < D; d++) node = node * side + (int)x[d] + origin[d];
    return node;
}

/* The stencil nodes of a particle in an arena, ready to be added to. */
static int open_stencil(const firn_pass *s, const real x[D], const int origin[D], open_arena *arena,
                        stencil_node node[STENCIL * STENCIL * STENCIL])
{
    const int more = s->spline == FIRN_QUADRATIC ? 2 : 3;
    uint64_t pieces = UINT64_MAX;
    for (int d = 0; d < D; d++) {
        const int first = (int)x[d] + origin[d];
        pieces &= pieces_along(d, first, first + more);
    }
    touch(arena, pieces);
    return list_stencil(s, x, first_node(x, FIRN_ARENA, origin), FIRN_ARENA, node);
}

/* ---- particles to grid ---- */

/* Momentum and force of one lane's particle. */
static void scatter_particle(const firn_pass *s, const firn_lanes *g, int l, const int origin[D],
                             open_arena *arena)
{
    const real h = (real)s->cell_size, mass = g->mass[l], volume = g->volume[l];
    real x[D], affine[DD], stress_volume[DD];
    node_reals momentum = {0}, A[D], S[D];
    for (int a = 0; a < D; a++) {
        x[a] = g->x[a][l];
        momentum[a] = mass * g->v[a][l];
    }
    momentum[3] = mass;
    for (int c = 0; c < DD; c++) {
        affine[c] = firn_transfer_is_affine(s->transfer) ? h * mass * g->C[c][l] : 0;
        stress_volume[c] = volume * g->tau[c][l];
    }
    for (int b = 0; b < D; b++) {
        A[b] = column(affine, b);
        S[b] = column(stress_volume, b);
    }
    stencil_node node[STENCIL * STENCIL * STENCIL];
    const int count = open_stencil(s, x, origin, arena, node);
    for (int k = 0; k < count; k++) {
        const stencil_node *t = &node[k];
        real *out = arena->node + t->node * FIRN_NODE;
        node_reals p = momentum, f = {0};
        for (int b = 0; b < D; b++) {
            p += A[b] * t->offset[b];
            f -= S[b] * t->gradient[b];
        }
        add_to_node(out, t->w * p);
        add_to_node(out + ARENA_NODES * FIRN_NODE, f);
    }
}

void FIRN_KERNEL(firn_plain_scatter)(const firn_pass *s, int32_t superblock, firn_scratch *scratch);
void FIRN_KERNEL(firn_plain_scatter)(const firn_pass *s, int32_t superblock, firn_scratch *scratch)
{
    scatter_superblock(s, superblock, scratch, NULL, scatter_particle);
}

/* ---- grid to particles ---- */

/* The nodes a block's particles reach, side by side. */
static void load_local(const int32_t corner[CORNERS], const real *channel,
                       real local[LOCAL_NODES][FIRN_NODE])
{
    for (int n = 0; n < LOCAL_NODES; n++) {
        int at[3] = {0}, which = 0, inside = 0;
        for (int a = D - 1, rest = n; a >= 0; a--, rest /= LOCAL) at[a] = rest % LOCAL;
        for (int a = 0; a < D; a++) {
            which = 2 * which + (at[a] >= FIRN_BLOCK);
            inside = inside * FIRN_BLOCK + at[a] % FIRN_BLOCK;
        }
        if (corner[which] < 0) {
            memset(local[n], 0, sizeof local[n]);
        } else {
            memcpy(local[n], channel + (size_t)corner[which] * BLOCK_REALS + inside * FIRN_NODE,
                   sizeof local[n]);
        }
    }
}

/* What a particle finds on the grid. In implicit steps v and C are those of the step's end, moved and L
 * those it moves by; else they are the same. */
typedef struct gathered {
    real v[D], old[D]; /* velocity now, and before forces */
    real moved[D];
    real C[DD], L[DD]; /* affine matrix, velocity gradient; 1/s */
} gathered;

static gathered gather_particle(const firn_pass *s, const real x[D], const real (*now)[FIRN_NODE],
                                const real (*moved)[FIRN_NODE], const real (*old)[FIRN_NODE])
{
    static const int origin[D] = {0};
    const real inverse_D = inverse_moment(s);
    stencil_node node[STENCIL * STENCIL * STENCIL];
    const int count = list_stencil(s, x, first_node(x, LOCAL, origin), LOCAL, node);
    node_reals sum = {0}, sum_moved = {0}, sum_old = {0}, C[D] = {{0}}, L[D] = {{0}};
    for (int k = 0; k < count; k++) {
        const stencil_node *t = &node[k];
        const node_reals v = load_node(moved[t->node]), wv = t->w * load_node(now[t->node]);
        sum += wv;
        sum_moved += t->w * v;
        if (old) sum_old += t->w * load_node(old[t->node]);
        for (int b = 0; b < D; b++) {
            C[b] += wv * t->offset[b];
            L[b] += v * t->gradient[b];
        }
    }
    gathered r;
    for (int a = 0; a < D; a++) {
        r.v[a] = sum[a];
        r.moved[a] = sum_moved[a];
        r.old[a] = sum_old[a];
        for (int b = 0; b < D; b++) {
            r.C[a * D + b] = inverse_D * C[b][a];
            r.L[a * D + b] = L[b][a];
        }
    }
    return r;
}

static void gather_block(const firn_pass *s, int32_t block, firn_scratch *scratch)
{
    const real h = (real)s->cell_size, dt = (real)s->dt;
    const bool flip = firn_transfer_is_flip(s->transfer), near = s->at->near_collider[block];
    int row[ROWS + 1];
    const int n = collect(s, block, scratch->index, row);
    int32_t corner[CORNERS];
    find_corners(s->at, block, corner);
    real now[LOCAL_NODES][FIRN_NODE], other[LOCAL_NODES][FIRN_NODE], old[LOCAL_NODES][FIRN_NODE];
    load_local(corner, s->velocity, now);
    if (s->velocity_moved) load_local(corner, s->velocity_moved, other);
    const real(*moved)[FIRN_NODE] = (const real(*)[FIRN_NODE])(s->velocity_moved ? other : now);
    if (flip) load_local(corner, s->velocity_old, old);

    for (int i = 0; i < n; i += W) {
        uint32_t padded[W];
        const uint32_t *index = pad_group(scratch->index + i, n - i, padded);
        const int lanes = n - i < W ? n - i : W;
        firn_lanes g;
        load_lanes(&g, s->store, index);
        /* y: velocity of the motion at first; kept: FLIP's part of the velocity */
        vr L[DD], y[D], kept[D];
        for (int l = 0; l < W; l++) {
            real x[D];
            for (int d = 0; d < D; d++) x[d] = g.x[d][l];
            const gathered r = gather_particle(s, x, (const real(*)[FIRN_NODE])now, moved,
                                               flip ? (const real(*)[FIRN_NODE])old : NULL);
            for (int a = 0; a < D; a++) {
                y[a][l] = r.moved[a];
                kept[a][l] = flip ? s->flip * (g.v[a][l] - r.old[a]) : 0;
                g.v[a][l] = r.v[a];
            }
            for (int c = 0; c < DD; c++) {
                g.C[c][l] = r.C[c];
                L[c][l] = r.L[c];
            }
        }
        for (int a = 0; a < D; a++) g.v[a] += kept[a];
        if (firn_transfer_separates(s->transfer)) {
            const vi apart = moves_apart(s, block, &g, index, L, near);
            for (int a = 0; a < D; a++) y[a] += v_select(apart, kept[a], v_set(0));
        }
        if (!firn_transfer_is_affine(s->transfer))
            memcpy(g.C, L, sizeof L); /* for dt's limits and viewers only */
        deform(&g, L, dt);
        lane_extremes unused = {0}; /* the next scatter measures */
        respond(s, FLOW, &g, 1, index, lanes, &unused);
        for (int a = 0; a < D; a++) y[a] = g.x[a] + dt / h * y[a];
        if (near) collide_lanes(s, block, g.x, y, g.v, g.mass, lanes);
        vi cell = move(&g, y);
        for (int l = 0; l < lanes; l++) scratch->cell[i + l] = (uint16_t)cell[l];
        store_lanes(&g, s->store, index);
        store_gradient(&g, s->store, index);
    }
    bin_block(s, block, scratch->index, scratch->cell, n, NULL, NULL);
}

void FIRN_KERNEL(firn_plain_gather)(const firn_pass *s, int32_t superblock, firn_scratch *scratch);
void FIRN_KERNEL(firn_plain_gather)(const firn_pass *s, int32_t superblock, firn_scratch *scratch)
{
    for (int32_t b = s->at->super_first[superblock]; b < s->at->super_first[superblock + 1]; b++) {
        if (s->at->population[b]) gather_block(s, b, scratch);
    }
}

/* ---- implicit steps ---- */

static firn_tangent *block_tangents(const firn_pass *s, int32_t block)
{
    return (firn_tangent *)s->tangents + s->group[block];
}

void FIRN_KERNEL(firn_plain_tangent)(const firn_pass *s, int32_t superblock, firn_scratch *scratch);
void FIRN_KERNEL(firn_plain_tangent)(const firn_pass *s, int32_t superblock, firn_scratch *scratch)
{
    for (int32_t b = s->at->super_first[superblock]; b < s->at->super_first[superblock + 1]; b++) {
        int row[ROWS + 1];
        const int n = s->at->population[b] ? collect(s, b, scratch->index, row) : 0;
        for (int i = 0; i < n; i += W) {
            uint32_t padded[W];
            const uint32_t *index = pad_group(scratch->index + i, n - i, padded);
            firn_lanes g;
            load_lanes(&g, s->store, index);
            identity_plus(g.H, g.F);
            make_tangent(s, &g, index, block_tangents(s, b) + i / W);
        }
    }
}

/* Adds the force that T is to the nodes around a particle. */
static void scatter_force(const firn_pass *s, const real x[D], const real T[DD],
                          const int origin[D], open_arena *arena)
{
    stencil_node node[STENCIL * STENCIL * STENCIL];
    const int count = open_stencil(s, x, origin, arena, node);
    for (int k = 0; k < count; k++) {
        node_reals f = {0};
        for (int b = 0; b < D; b++) f += column(T, b) * node[k].gradient[b];
        add_to_node(arena->node + node[k].node * FIRN_NODE, f);
    }
}

static void product_block(const firn_pass *s, int32_t block, open_arena *arena)
{
    int origin[D];
    for (int d = 0; d < D; d++) origin[d] = 1 + FIRN_BLOCK * (s->at->coord[block][d] & 1);
    int32_t corner[CORNERS];
    find_corners(s->at, block, corner);
    real local[LOCAL_NODES][FIRN_NODE];
    load_local(corner, s->velocity, local);
    const real(*velocity)[FIRN_NODE] = (const real(*)[FIRN_NODE])local;
    const int n = (int)s->at->population[block];
    const firn_tangent *t = block_tangents(s, block);
    for (int i = 0; i < n; i += W, t++) {
        vr C[1][DD], T[1][DD];
        real x[W][D];
        for (int l = 0; l < W; l++) {
            for (int d = 0; d < D; d++) x[l][d] = t->x[d][l];
            const gathered r = gather_particle(s, x[l], velocity, velocity, NULL);
            for (int c = 0; c < DD; c++) C[0][c][l] = r.L[c];
        }
        differentiate(s, t, (const vr(*)[DD])C, T, 1);
        for (int l = 0; l < W && i + l < n; l++) {
            real lane[DD];
            for (int c = 0; c < DD; c++) lane[c] = T[0][c][l];
            scatter_force(s, x[l], lane, origin, arena);
        }
    }
}

void FIRN_KERNEL(firn_plain_product)(const firn_pass *s, int32_t superblock, firn_scratch *scratch);
void FIRN_KERNEL(firn_plain_product)(const firn_pass *s, int32_t superblock, firn_scratch *scratch)
{
    (void)scratch;
    open_arena arena = open_superblock(s, superblock);
    for (int32_t b = s->at->super_first[superblock]; b < s->at->super_first[superblock + 1]; b++) {
        if (s->at->population[b]) product_block(s, b, &arena);
    }
    s->touched[superblock] = arena.touched;
}

void FIRN_KERNEL(firn_plain_lame)(const firn_pass *s, int32_t superblock, firn_scratch *scratch);
void FIRN_KERNEL(firn_plain_lame)(const firn_pass *s, int32_t superblock, firn_scratch *scratch)
{
    (void)scratch;
    for (int32_t b = s->at->super_first[superblock]; b < s->at->super_first[superblock + 1]; b++) {
        const int n = (int)s->at->population[b];
        const firn_tangent *t = block_tangents(s, b);
        for (int i = 0; i < n; i += W, t++) {
            add_lame(s, t, n - i < W ? n - i : W, s->lame + (size_t)b * CELLS);
        }
    }
}

/* ---- rest volumes ---- */

/* One particle in every lane, and what its material is. */
static firn_lane_constants load_one(const firn_pass *s, int64_t index, firn_lanes *g)
{
    uint32_t same[W];
    for (int l = 0; l < W; l++) same[l] = (uint32_t)index;
    load_lanes(g, s->store, same);
    load_gradient(g, s->store, same);
    identity_plus(g->H, g->F);
    return same_constants(s, s->store->material[index]);
}

/* The volume that a particle's mass has at the density of the grid around it, whose masses are in
 * velocity_old. */
static void weigh_block(const firn_pass *s, int32_t block, firn_scratch *scratch)
{
    static const int origin[D] = {0};
    int row[ROWS + 1];
    const int n = collect(s, block, scratch->index, row);
    int32_t corner[CORNERS];
    find_corners(s->at, block, corner);
    real grid[LOCAL_NODES][FIRN_NODE];
    load_local(corner, s->velocity_old, grid);
    const real cell = (real)pow(s->cell_size, D);
    for (int i = 0; i < n; i++) {
        const uint32_t p = scratch->index[i];
        const real *x = s->store->record + 16 * (size_t)p;
        stencil_node node[STENCIL * STENCIL * STENCIL];
        const int count = list_stencil(s, x, first_node(x, LOCAL, origin), LOCAL, node);
        real mass = 0;
        for (int k = 0; k < count; k++) mass += node[k].w * grid[node[k].node][3];
        firn_lanes g;
        load_one(s, p, &g);
        s->store->volume[p] = s->store->mass[p] / mass * cell / m_det(g.F)[0]; /* at rest */
    }
}

void FIRN_KERNEL(firn_plain_weigh)(const firn_pass *s, int32_t superblock, firn_scratch *scratch);
void FIRN_KERNEL(firn_plain_weigh)(const firn_pass *s, int32_t superblock, firn_scratch *scratch)
{
    for (int32_t b = s->at->super_first[superblock]; b < s->at->super_first[superblock + 1]; b++) {
        if (s->at->population[b]) weigh_block(s, b, scratch);
    }
}

/* ---- velocity gradients ---- */

/* Gives particles the affine matrix of the grid's velocities, which are in velocity_old, and leaves all
 * else of them. */
static void turn_block(const firn_pass *s, int32_t block, firn_scratch *scratch)
{
    int row[ROWS + 1];
    const int n = collect(s, block, scratch->index, row);
    int32_t corner[CORNERS];
    find_corners(s->at, block, corner);
    real local[LOCAL_NODES][FIRN_NODE];
    load_local(corner, s->velocity_old, local);
    const real(*velocity)[FIRN_NODE] = (const real(*)[FIRN_NODE])local;
    for (int i = 0; i < n; i++) {
        const uint32_t p = scratch->index[i];
        if (s->store->id[p] - s->first_id >= s->id_count) continue; /* unsigned: or before */
        const gathered r = gather_particle(s, s->store->record + FIRN_RECORD * (size_t)p, velocity,
                                           velocity, NULL);
        memcpy(firn_store_gradient(s->store, p), r.C, sizeof r.C);
    }
}

void FIRN_KERNEL(firn_plain_turn)(const firn_pass *s, int32_t superblock, firn_scratch *scratch);
void FIRN_KERNEL(firn_plain_turn)(const firn_pass *s, int32_t superblock, firn_scratch *scratch)
{
    for (int32_t b = s->at->super_first[superblock]; b < s->at->super_first[superblock + 1]; b++) {
        if (s->at->population[b]) turn_block(s, b, scratch);
    }
}

/* ---- scalars ---- */

static void scatter_scalars(const firn_pass *s, int32_t block, open_arena *arena,
                            firn_scratch *scratch)
{
    const real h = (real)s->cell_size;
    int row[ROWS + 1], origin[D];
    const int n = collect(s, block, scratch->index, row);
    for (int d = 0; d < D; d++) origin[d] = 1 + FIRN_BLOCK * (s->at->coord[block][d] & 1);
    for (int i = 0; i < n; i++) {
        const uint32_t p = scratch->index[i];
        const firn_scalar *q = &s->scalar[p];
        const node_reals own = {q->weight, q->weight * q->value, q->more[0], q->more[1]};
        stencil_node node[STENCIL * STENCIL * STENCIL];
        const int count =
            open_stencil(s, s->store->record + FIRN_RECORD * (size_t)p, origin, arena, node);
        for (int k = 0; k < count; k++) {
            node_reals sum = own;
            for (int b = 0; b < D; b++) {
                sum[1] += q->weight * h * q->gradient[b] * node[k].offset[b];
            }
            add_to_node(arena->node + node[k].node * FIRN_NODE, node[k].w * sum);
        }
    }
}

firn_pass_function FIRN_KERNEL(firn_scalar_scatter);
void FIRN_KERNEL(firn_scalar_scatter)(const firn_pass *s, int32_t superblock, firn_scratch *scratch)
{
    open_arena arena = open_superblock(s, superblock);
    for (int32_t b = s->at->super_first[superblock]; b < s->at->super_first[superblock + 1]; b++) {
        if (s->at->population[b]) scatter_scalars(s, b, &arena, scratch);
    }
    s->touched[superblock] = arena.touched;
}

static void gather_scalars(const firn_pass *s, int32_t block, firn_scratch *scratch)
{
    static const int origin[D] = {0};
    const real inverse_D = inverse_moment(s);
    int row[ROWS + 1];
    const int n = collect(s, block, scratch->index, row);
    int32_t corner[CORNERS];
    find_corners(s->at, block, corner);
    real grid[LOCAL_NODES][FIRN_NODE];
    load_local(corner, s->velocity, grid);
    for (int i = 0; i < n; i++) {
        const uint32_t p = scratch->index[i];
        const real *x = s->store->record + FIRN_RECORD * (size_t)p;
        stencil_node node[STENCIL * STENCIL * STENCIL];
        const int count = list_stencil(s, x, first_node(x, LOCAL, origin), LOCAL, node);
        node_reals mean = {0};
        firn_scalar_mean *out = &s->scalar_mean[p];
        real gradient[3] = {0}, moment[3] = {0};
        for (int k = 0; k < count; k++) {
            const node_reals wq = node[k].w * load_node(grid[node[k].node]);
            mean += wq;
            for (int b = 0; b < D; b++) {
                moment[b] += wq[1] * node[k].offset[b];
                gradient[b] += wq[2] * node[k].offset[b];
            }
        }
        memcpy(out->mean, &mean, sizeof mean);
        for (int b = 0; b < 3; b++) {
            out->gradient[b] = inverse_D * gradient[b];
            out->moment[b] = (real)s->cell_size * moment[b];
        }
    }
}

firn_pass_function FIRN_KERNEL(firn_scalar_gather);
void FIRN_KERNEL(firn_scalar_gather)(const firn_pass *s, int32_t superblock, firn_scratch *scratch)
{
    for (int32_t b = s->at->super_first[superblock]; b < s->at->super_first[superblock + 1]; b++) {
        if (s->at->population[b]) gather_scalars(s, b, scratch);
    }
}

/* ---- energy, stress and demands of particles ---- */

double FIRN_KERNEL(firn_energy)(const firn_pass *s, const uint32_t *index, int64_t count);
double FIRN_KERNEL(firn_energy)(const firn_pass *s, const uint32_t *index, int64_t count)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++) {
        firn_lanes g;
        vr psi;
        const firn_lane_constants k = load_one(s, index[i], &g);
        FIRN_KERNEL(firn_laws)[s->laws[s->store->material[index[i]]]]->energy(&k, &g, 1, &psi);
        sum += (double)g.volume[0] * (double)psi[0];
    }
    return sum;
}

/* Cauchy stress is tau / J, with what the law keeps of the volume outside of F; a particle turned inside
 * out has the J of one nearly crushed. */
firn_stress_function FIRN_KERNEL(firn_stress);
void FIRN_KERNEL(firn_stress)(const firn_pass *s, const uint32_t *index, int64_t count, double *out)
{
    for (int64_t i = 0; i < count; i++) {
        firn_lanes g;
        const firn_lane_constants k = load_one(s, index[i], &g);
        const firn_law_kind law = s->laws[s->store->material[index[i]]];
        FIRN_KERNEL(firn_laws)[law]->stress(&k, &g, 1);
        double J = (double)m_det(g.F)[0];
        if (firn_law_state(law) == FIRN_STATE_LOG_VOLUME) J *= exp((double)g.state[0]);
        for (int c = 0; c < DD; c++) out[i * DD + c] = (double)g.tau[c][0] / fmax(J, 0.05);
    }
}

void FIRN_KERNEL(firn_demand)(const firn_pass *s, const uint32_t *index, int64_t count,
                              firn_extremes *out);
void FIRN_KERNEL(firn_demand)(const firn_pass *s, const uint32_t *index, int64_t count,
                              firn_extremes *out)
{
    for (int64_t i = 0; i < count; i++) {
        firn_lanes g;
        lane_extremes e = {0};
        const firn_lane_constants k = load_one(s, index[i], &g);
        FIRN_KERNEL(firn_laws)[s->laws[s->store->material[index[i]]]]->stress(&k, &g, 1);
        note_stiffness(&e, &k, &g, vi_set(-1));
        out[i] =
            (firn_extremes){.wave2 = e.wave2[0], .lone2 = e.lone2[0], .diffusion = e.diffusion[0]};
    }
}
