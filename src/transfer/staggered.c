/* Transfers between particles and staggered velocities, for steps with pressure projection.
 *
 * Cell i spans the nodes i and i + 1. Component a of the velocity is known at the middles of the faces
 * across axis a, at whole multiples of the cell size along a and half-way along the others; pressure and
 * volume at the middles of cells. Each of these lattices has the quadratic spline, and particles carry a
 * row of C per component (APIC, Jiang et al. 2015). Particles are kept as for cubic splines: all lattices'
 * stencils then lie upwards of their cell.
 *
 * Planes of an arena: one per component with momentum, mass, volume and force of its faces; one for cells with
 * volume and its products with viscosity, compliance and strain; and where materials differ, one with
 * the volume of solids and the products with surface tension. */
#include <math.h>

#include "transfer/block.h"

enum {
    SUPPORT = 3,
    LOCAL = FIRN_BLOCK + SUPPORT, /* lattice points per axis that a block's particles reach */
    LOCAL_POINTS = D == 3 ? LOCAL * LOCAL * LOCAL : LOCAL * LOCAL,
    CHANNELS = FIRN_STAGGERED(D),
    OLD = FIRN_STAGGERED_OLD(D),
};

typedef real quad __attribute__((vector_size(FIRN_NODE * sizeof(real))));

/* Weights along one axis of a lattice: its first point, counted from the block's, and the ways to all. */
typedef struct axis_weights {
    int first;
    real w[SUPPORT], offset[SUPPORT];
} axis_weights;

/* `half` is 0 along the axis that a face is across, where points are whole, and 0.5 elsewhere. */
static inline axis_weights weigh(real x, real half)
{
    axis_weights a;
    const real y = x + 1 - half; /* from the block's first point */
    a.first = (int)(y - (real)0.5);
    const real f = y - (real)a.first; /* 0.5 to 1.5 */
    for (int k = 0; k < SUPPORT; k++) a.offset[k] = (real)k - f;
    a.w[0] = (real)0.5 * ((real)1.5 - f) * ((real)1.5 - f);
    a.w[1] = (real)0.75 - (f - 1) * (f - 1);
    a.w[2] = (real)0.5 * (f - (real)0.5) * (f - (real)0.5);
    return a;
}

/* Both kinds of weights along all axes. */
typedef struct particle_weights {
    axis_weights whole[D], half[D];
} particle_weights;

static inline particle_weights weigh_particle(const real x[D])
{
    particle_weights p;
    for (int a = 0; a < D; a++) {
        p.whole[a] = weigh(x[a], 0);
        p.half[a] = weigh(x[a], (real)0.5);
    }
    return p;
}

/* The weights of lattice n along axis a: lattice D is that of the cells. */
static inline const axis_weights *along(const particle_weights *p, int n, int a)
{
    return n == a ? &p->whole[a] : &p->half[a];
}

/* Where row (i, j) of a stencil begins in an array with `side` points per axis; in 2D a row has no j.
 * `origin` is where the block begins in it. */
LANE_INLINE int row_begin(const axis_weights *const axis[D], int i, int j, int side,
                          const int origin[D])
{
    int row = axis[0]->first + i + origin[0];
    if (D == 3) row = row * side + axis[1]->first + j + origin[1];
    return row * side + axis[D - 1]->first + origin[D - 1];
}
enum { MIDDLE = D == 3 ? SUPPORT : 1 }; /* rows along the middle axis */

/* ---- particles to grid ---- */

/* Adds base + slope x way to the points of lattice n around a particle, weighed. */
LANE_INLINE void scatter_faces(const particle_weights *p, const int n, quad base,
                               const quad slope[D], const int origin[D], real *plane)
{
    const axis_weights *axis[D];
    for (int a = 0; a < D; a++) axis[a] = along(p, n, a);
    const axis_weights *last = axis[D - 1];
    for (int i = 0; i < SUPPORT; i++) {
        for (int j = 0; j < MIDDLE; j++) {
            const real w = D == 3 ? axis[0]->w[i] * axis[1]->w[j] : axis[0]->w[i];
            quad row = base + slope[0] * axis[0]->offset[i];
            if (D == 3) row += slope[1] * axis[1]->offset[j];
            row *= w;
            const quad rise = slope[D - 1] * w;
            real *to = plane + row_begin(axis, i, j, FIRN_ARENA, origin) * FIRN_NODE;
            for (int k = 0; k < SUPPORT; k++, to += FIRN_NODE) {
                quad node;
                memcpy(&node, to, sizeof node);
                node += last->w[k] * (row + rise * last->offset[k]);
                memcpy(to, &node, sizeof node);
            }
        }
    }
}

/* Adds numbers to the cells around a particle, weighed. */
LANE_INLINE void scatter_cells(const particle_weights *p, quad value, const int origin[D],
                               real *plane)
{
    const axis_weights *axis[D];
    for (int a = 0; a < D; a++) axis[a] = along(p, D, a);
    for (int i = 0; i < SUPPORT; i++) {
        for (int j = 0; j < MIDDLE; j++) {
            const quad row = value * (D == 3 ? axis[0]->w[i] * axis[1]->w[j] : axis[0]->w[i]);
            real *to = plane + row_begin(axis, i, j, FIRN_ARENA, origin) * FIRN_NODE;
            for (int k = 0; k < SUPPORT; k++, to += FIRN_NODE) {
                quad cell;
                memcpy(&cell, to, sizeof cell);
                cell += row * axis[D - 1]->w[k];
                memcpy(to, &cell, sizeof cell);
            }
        }
    }
}

/* The part of each lane that is liquid. */
static vr liquid_lanes(const firn_pass *s, const firn_lanes *g, const uint32_t index[W])
{
    const vi material = materials_of(s, index);
    vr melt = v_set(0);
    for (int l = 0; l < W; l++) {
        if (!is_first_of_kind(material, l)) continue;
        const firn_law *law = FIRN_KERNEL(firn_laws)[s->laws[material[l]]];
        if (!law->liquid) continue;
        const firn_lane_constants k = same_constants(s, (uint32_t)material[l]);
        melt = v_select(material == material[l], law->liquid(&k, g), melt);
    }
    return melt;
}

/* How the material m of some lanes shears: implicitly, with a viscosity and the part of its explicit stress that is
 * left beside it, or explicitly, with a wave that limits the step. */
typedef struct shearing {
    vr viscosity, left;
} shearing;

static void look_at_shear(const firn_pass *s, const firn_lanes *g, uint32_t m, vi mine,
                          shearing *to, lane_extremes *e)
{
    const firn_lane_constants k = same_constants(s, m);
    if (s->implicit_shear[m]) {
        const firn_law *law = FIRN_KERNEL(firn_laws)[s->laws[m]];
        const real dt = (real)s->dt_scatter;
        vr left = v_set(1), resistance = k.mu * dt;
        if (law->resistance) resistance = law->resistance(&k, g, dt, &left);
        to->viscosity = v_select(mine, resistance, to->viscosity);
        to->left = v_select(mine, left, to->left);
    } else if (s->laws[m] != FIRN_LIQUID) {
        const vr lambda = v_max((g->modulus - 2 * k.mu) * ((real)1 / D), v_set(0));
        const vr shear2 = (g->stiffness - lambda) * g->volume / g->mass;
        e->shear2 = v_max(v_select(mine, shear2, v_set(0)), e->shear2);
    }
}

/* What is scattered of a group, in place of what it was made from: viscosity of implicit shear in
 * stiffness, compliance 1 / K in modulus, log of the volume over that at rest in state, the liquid part in
 * enthalpy, the volume over the one at the start in J, the deviator of the explicit stress in tau, and
 * surface tension in H[0]. */
static void prepare(const firn_pass *s, firn_lanes *g, const uint32_t index[W], lane_extremes *e)
{
    const vr zero = v_set(0), one = v_set(1);
    const vi material = materials_of(s, index);
    const vr melt = liquid_lanes(s, g, index);
    shearing shear = {zero, one};
    vr J = g->J, mean = zero, tension = zero;
    for (int l = 0; l < W; l++) {
        if (!is_first_of_kind(material, l)) continue;
        const uint32_t m = (uint32_t)material[l];
        const vi mine = material == material[l];
        tension = v_select(mine, same_constants(s, m).surface_tension, tension);
        if (s->laws[m] == FIRN_LIQUID) J = v_select(mine, one, J);
        look_at_shear(s, g, m, mine, &shear, e);
    }
    for (int a = 0; a < D; a++) mean += g->tau[a * D + a] * ((real)1 / D);
    for (int i = 0; i < DD; i++) {
        g->tau[i] = shear.left * (i % (D + 1) ? g->tau[i] : g->tau[i] - mean);
    }
    const vi solid = melt < 1;
    g->modulus = v_select(solid, D / g->modulus, zero);
    g->state = g->modulus * mean;
    g->stiffness = shear.viscosity;
    g->H[0] = tension;
    g->enthalpy = melt;
    g->J = J;
}

static void scatter_particle(const firn_pass *s, const firn_lanes *g, int l, const int origin[D],
                             open_arena *arena)
{
    const real h = (real)s->cell_size, mass = g->mass[l], volume = g->volume[l] * g->J[l];
    const bool affine = firn_transfer_is_affine(s->transfer);
    real x[D];
    uint64_t pieces = UINT64_MAX;
    for (int a = 0; a < D; a++) {
        x[a] = g->x[a][l];
        const int first = (int)x[a] + origin[a];
        pieces &= pieces_along(a, first, first + SUPPORT);
    }
    touch(arena, pieces);
    const particle_weights p = weigh_particle(x);
    real *plane = arena->node;
    for (int n = 0; n < D; n++, plane += ARENA_NODES * FIRN_NODE) {
        const quad base = {mass * g->v[n][l], mass, volume, 0};
        quad slope[D];
        for (int a = 0; a < D; a++) {
            slope[a] = (quad){affine ? h * mass * g->C[n * D + a][l] : 0, 0, 0,
                              -4 / h * g->volume[l] * g->tau[n * D + a][l]};
        }
        /* The lattice is known to each call, so that its weights are. */
        if (n == 0) scatter_faces(&p, 0, base, slope, origin, plane);
        if (n == 1) scatter_faces(&p, 1, base, slope, origin, plane);
        if (n == 2) scatter_faces(&p, 2, base, slope, origin, plane);
    }
    const quad own = {1, g->stiffness[l], g->modulus[l], g->state[l]},
               more = {1 - g->enthalpy[l], g->H[0][l]};
    scatter_cells(&p, volume * own, origin, plane);
    plane += ARENA_NODES * FIRN_NODE;
    if (s->solids) scatter_cells(&p, volume * more, origin, plane);
}

firn_pass_function FIRN_KERNEL(firn_staggered_scatter);
void FIRN_KERNEL(firn_staggered_scatter)(const firn_pass *s, int32_t superblock,
                                         firn_scratch *scratch)
{
    scatter_superblock(s, superblock, scratch, prepare, scatter_particle);
}

/* ---- grid to particles ---- */

/* The lattice points that a block's particles reach, of the first `channels`. */
static void load_local(const firn_pass *s, int32_t block, int channels,
                       real local[CHANNELS][LOCAL_POINTS + 1])
{
    int32_t corner[CORNERS];
    find_corners(s->at, block, corner);
    for (int c = 0; c < channels; c++) {
        real *to = local[c];
        for (int row = 0; row < LOCAL_POINTS / LOCAL; row++, to += LOCAL) {
            const int i = D == 3 ? row / LOCAL : row, j = D == 3 ? row % LOCAL : 0;
            const int which = (i >= FIRN_BLOCK ? CORNERS / 2 : 0) + (j >= FIRN_BLOCK ? 2 : 0);
            const int inside =
                D == 3 ? i % FIRN_BLOCK * FIRN_BLOCK + j % FIRN_BLOCK : i % FIRN_BLOCK;
            for (int k = 0; k < 2; k++) {
                const int32_t from = corner[which + k];
                const size_t size = (size_t)(k ? LOCAL - FIRN_BLOCK : FIRN_BLOCK) * sizeof(real);
                if (from < 0) {
                    memset(to + k * FIRN_BLOCK, 0, size);
                } else {
                    memcpy(to + k * FIRN_BLOCK,
                           s->staggered + ((size_t)from * CHANNELS + (size_t)c) * CELLS +
                               (size_t)(inside * FIRN_BLOCK),
                           size);
                }
            }
        }
        local[c][LOCAL_POINTS] = 0;
    }
}

#ifdef FIRN_DOUBLE
#define LOG1P log1p
#else
#define LOG1P log1pf
#endif

/* log J at which the liquid's law has a pressure; see material/liquid.c. */
static real log_J_at(const firn_law_constants *k, real pressure)
{
    const real part = pressure / k->lambda, gamma = k->tait_exponent;
    if (gamma == 0) return -part;
    const real most = (real)0.5;
    return -LOG1P(gamma * part > -most ? gamma * part : -most) / gamma;
}

/* The sum of a row's numbers, each times its weight; the fourth is none of the stencil's. */
LANE_INLINE real weigh_row(quad row, const axis_weights *last, bool moment)
{
    real sum = 0;
    for (int k = 0; k < SUPPORT; k++) {
        sum += row[k] * last->w[k] * (moment ? last->offset[k] : 1);
    }
    return sum;
}

LANE_INLINE quad load_row(const real *p)
{
    quad row;
    memcpy(&row, p, sizeof row);
    return row;
}

/* Means of two fields on lattice n around a particle; and of the first times the ways to the points, in
 * cells, where `moment` is given. */
LANE_INLINE void means_of(const particle_weights *p, int n, const real *one, const real *other,
                          real mean[2], real *moment)
{
    static const int origin[D] = {0};
    const axis_weights *axis[D];
    for (int a = 0; a < D; a++) axis[a] = along(p, n, a);
    quad sum = {0}, sum_other = {0}, first = {0}, middle = {0};
    for (int i = 0; i < SUPPORT; i++) {
        for (int j = 0; j < MIDDLE; j++) {
            const real w = D == 3 ? axis[0]->w[i] * axis[1]->w[j] : axis[0]->w[i];
            const int at = row_begin(axis, i, j, LOCAL, origin);
            const quad row = w * load_row(one + at);
            sum += row;
            sum_other += w * load_row(other + at);
            if (!moment) continue;
            first += axis[0]->offset[i] * row;
            if (D == 3) middle += axis[1]->offset[j] * row;
        }
    }
    const axis_weights *last = axis[D - 1];
    mean[0] = weigh_row(sum, last, false);
    mean[1] = weigh_row(sum_other, last, false);
    if (!moment) return;
    moment[0] = weigh_row(first, last, false);
    if (D == 3) moment[1] = weigh_row(middle, last, false);
    moment[D - 1] = weigh_row(sum, last, true);
}

#define ALONE ((real)0.1) /* part of the kernel in cells that have a pressure */
#define GROWTH_LEAST ((real)0.1)
#define ON_WALL 0.05 /* cells */

/* Deforms a group by L in the whole step and lets its materials flow. The volume changes as that of the cells
 * around does, by the factor 1 + growth: det(I + dt L) drifts. A melt has its own. Crumbs that are alone
 * lose their shear, which would shake them by their own kernel. */
static void deform_solids(const firn_pass *s, firn_lanes *g, const vr L[DD], vr growth, vr melt,
                          vi alone, const uint32_t index[W], int lanes)
{
    uint32_t material[W];
    for (int l = 0; l < W; l++) material[l] = s->store->material[index[l]];
    const vi fluid = laws_of(s, material) == FIRN_LIQUID;
    vr F[DD];
    identity_plus(g->H, F);
    const vr before = m_det(F);
    deform(g, L, (real)s->dt_step);
    const vr rest = 1 / rest_density(s, g, index);
    const vr kept = v_select(melt < 1, v_max(before, v_set(GROWTH_LEAST)), rest);
    const vr target = v_select(melt < 1, kept * v_max(1 + growth, v_set(GROWTH_LEAST)), rest);
    const vr side = v_exp(v_log(kept) * ((real)1 / D));
    const vr scale = v_expm1(v_log(target / m_det(g->F)) * ((real)1 / D));
    for (int i = 0; i < DD; i++) {
        g->H[i] = v_select(fluid, v_set(0), g->H[i] + scale * g->F[i]);
        g->H[i] = v_select(alone, i % (D + 1) ? v_set(0) : side - 1, g->H[i]);
    }
    identity_plus(g->H, g->F);
    firn_pass whole = *s;
    whole.dt = s->dt_step;
    lane_extremes unused = {0}; /* the next scatter measures */
    respond(&whole, FLOW, g, 1, index, lanes, &unused);
}

/* Whether no more of the step's move is left after this pass. Until then FLIP's particles have the grid's
 * velocity, which moves them, and what they keep of their own beyond it is in the first column of C. */
static bool is_last(const firn_pass *s) { return s->dt_past + 1.5 * s->dt > s->dt_step; }

/* Takes C from particles that are alone on a wall: it mirrors their fall, and where no pressure ends that,
 * C would grow by g dt / h in every step. */
static __attribute__((noinline)) void calm_lone(const firn_pass *s, int32_t block, firn_lanes *g,
                                                vi alone)
{
    const firn_impulses near = near_colliders(s, block);
    for (int l = 0; l < W; l++) {
        double position[3], normal[3], least = INFINITY;
        if (!alone[l]) continue;
        lane_position(s, block, g->x, l, position);
        for (int32_t c = 0; c < near.count; c++) {
            const firn_posed_collider *collider = &s->colliders[near.first[c].collider];
            least = fmin(least, firn_collider_distance(collider, D, position, normal));
        }
        for (int i = 0; i < DD && least < ON_WALL * s->cell_size; i++) g->C[i][l] = 0;
    }
}

/* Moves a group to y, or to where colliders let it, and stores all but its gradients. */
LANE_INLINE void settle(const firn_pass *s, int32_t block, firn_lanes *g, vr y[D],
                        const uint32_t index[W], int lanes, uint16_t *cell)
{
    if (s->at->near_collider[block]) collide_lanes(s, block, g->x, y, g->v, g->mass, lanes);
    const vi to = move(g, y);
    for (int l = 0; l < lanes; l++) cell[l] = (uint16_t)to[l];
    store_lanes(g, s->store, index);
}

/* What a group's particles find around them. */
typedef struct surroundings {
    vr y[D];   /* where they go, cells */
    vr L[DD];  /* 1/s */
    vr growth; /* of the volume */
    vr pressed,
        loose; /* parts: of the kernel that has a pressure, and of the particle that is liquid */
} surroundings;

typedef real local_points[LOCAL_POINTS + 1]; /* rows are read four at a time */

/* The field of lattice c, its displacement and its gradient around a particle. The lattice is known to each call, so
 * that its weights are. */
LANE_INLINE void gather_faces(const particle_weights *p, const int c, const local_points *local,
                              real mean[2], real gradient[D])
{
    if (c == 0) means_of(p, 0, local[0], local[D], mean, gradient);
    if (c == 1) means_of(p, 1, local[1], local[D + 1], mean, gradient);
    if (c == 2) means_of(p, D - 1, local[D - 1], local[2 * D - 1], mean, gradient);
}

/* The part of the second-order term of a move that counts: over the step it is half as long as the first at most.
 * The C of a few particles that fly may turn their path back on itself, and nothing then ends their fall. */
LANE_INLINE real bend_part(real bend2, real speed2, real dt)
{
    const real turned2 = dt * dt * bend2;
    return turned2 > speed2 ? R_SQRT(speed2 / turned2) : 1;
}

/* Velocity and C of particle l, the way that it goes, and what its volume or its state becomes. */
LANE_INLINE void gather_particle(const firn_pass *s, firn_lanes *g, int l, uint32_t material,
                                 const local_points *local, surroundings *to)
{
    const real h = (real)s->cell_size, dt = (real)s->dt, whole = (real)s->dt_step;
    const bool affine = firn_transfer_is_affine(s->transfer),
               flip = firn_transfer_is_flip(s->transfer), last = is_last(s);
    real x[D], v[D], C[D][D], shift[D], mean[2], old[D] = {0}; /* old: velocity before forces */
    for (int d = 0; d < D; d++) x[d] = g->x[d][l];
    const particle_weights weights = weigh_particle(x);
    for (int c = 0; c < D; c++) {
        gather_faces(&weights, c, local, mean, C[c]);
        v[c] = mean[0];
        shift[c] = mean[1];
        for (int d = 0; d < D; d++) C[c][d] *= 4 / h;
    }
    means_of(&weights, D, local[2 * D], local[2 * D + 2], mean, NULL);
    const real p = mean[0], share = mean[1];
    for (int c = 0; c < D && flip; c++) {
        means_of(&weights, c, local[OLD + c], local[OLD + c], mean, NULL);
        old[c] = mean[0];
    }
    /* Second order in time: C is the gradient of the velocity, which is steady in the frame. */
    real bend[D], bend2 = 0, speed2 = 0;
    for (int c = 0; c < D; c++) {
        bend[c] = 0;
        for (int d = 0; d < D; d++) bend[c] += C[c][d] * (v[d] - s->frame[d]);
        bend2 += bend[c] * bend[c];
        speed2 += (v[c] - s->frame[c]) * (v[c] - s->frame[c]);
    }
    const real part = bend_part(bend2, speed2, whole);
    for (int c = 0; c < D; c++) {
        to->y[c][l] =
            x[c] +
            (dt * (v[c] + (real)0.5 * dt * part * bend[c]) + whole * shift[c] * to->loose[l]) / h;
        const real kept = flip ? s->flip * (g->v[c][l] - old[c]) : 0;
        g->v[c][l] = last ? v[c] + kept : v[c];
        for (int d = 0; d < D; d++) {
            g->C[c * D + d][l] = affine ? C[c][d] : d == 0 && !last ? kept : 0;
            to->L[c * D + d][l] = C[c][d];
        }
    }
    to->pressed[l] = share;
    if (s->laws[material] == FIRN_LIQUID) {
        g->state[l] = share > 0 ? log_J_at(&s->materials[material], p / share) : 0;
    } else if (share > 0) {
        means_of(&weights, D, local[2 * D + 1], local[2 * D + 1], mean, NULL);
        to->growth[l] = mean[0] / share;
    }
}

static void gather_block(const firn_pass *s, int32_t block, firn_scratch *scratch)
{
    int row[ROWS + 1];
    const int n = collect(s, block, scratch->index, row);
    local_points local[CHANNELS];
    load_local(s, block, firn_transfer_is_flip(s->transfer) ? CHANNELS : OLD, local);
    for (int i = 0; i < n; i += W) {
        uint32_t padded[W];
        const uint32_t *index = pad_group(scratch->index + i, n - i, padded);
        const int lanes = n - i < W ? n - i : W;
        firn_lanes g;
        load_lanes(&g, s->store, index);
        surroundings to = {.growth = v_set(0), .pressed = v_set(0)};
        to.loose = s->solids ? liquid_lanes(s, &g, index) : v_set(1);
        for (int l = 0; l < W; l++) {
            gather_particle(s, &g, l, s->store->material[index[l]], local, &to);
        }
        const vi alone = to.pressed < ALONE;
        if (s->solids) {
            deform_solids(s, &g, to.L, to.growth, to.loose, alone, index, lanes);
        }
        if (v_any(alone) && s->at->near_collider[block]) calm_lone(s, block, &g, alone);
        settle(s, block, &g, to.y, index, lanes, scratch->cell + i);
        store_gradient(&g, s->store, index);
    }
    bin_block(s, block, scratch->index, scratch->cell, n, NULL, NULL);
}

firn_pass_function FIRN_KERNEL(firn_staggered_gather);
void FIRN_KERNEL(firn_staggered_gather)(const firn_pass *s, int32_t superblock,
                                        firn_scratch *scratch)
{
    for (int32_t b = s->at->super_first[superblock]; b < s->at->super_first[superblock + 1]; b++) {
        if (s->at->population[b]) gather_block(s, b, scratch);
    }
}

/* ---- the rest of a move that is longer than a cell ---- */

/* Along the way that the gather began: v and C say all of it. */
static void drift_block(const firn_pass *s, int32_t block, firn_scratch *scratch)
{
    const real h = (real)s->cell_size, dt = (real)s->dt,
               bend_time = (real)(0.5 * s->dt * (2 * s->dt_past + s->dt));
    const bool flip = firn_transfer_is_flip(s->transfer), last = is_last(s);
    int row[ROWS + 1];
    const int n = collect(s, block, scratch->index, row);
    for (int i = 0; i < n; i += W) {
        uint32_t padded[W];
        const uint32_t *index = pad_group(scratch->index + i, n - i, padded);
        const int lanes = n - i < W ? n - i : W;
        firn_lanes g;
        load_lanes(&g, s->store, index);
        load_gradient(&g, s->store, index);
        vr y[D], bend[D], bend2 = v_set(0), speed2 = v_set(0), part;
        for (int c = 0; c < D; c++) {
            bend[c] = v_set(0);
            for (int d = 0; d < D && !flip; d++) {
                bend[c] += g.C[c * D + d] * (g.v[d] - s->frame[d]);
            }
            bend2 += bend[c] * bend[c];
            speed2 += (g.v[c] - s->frame[c]) * (g.v[c] - s->frame[c]);
        }
        for (int l = 0; l < W; l++) part[l] = bend_part(bend2[l], speed2[l], (real)s->dt_step);
        for (int c = 0; c < D; c++) {
            y[c] = g.x[c] + (dt * g.v[c] + bend_time * part * bend[c]) / h;
        }
        for (int c = 0; c < D && flip && last; c++) {
            g.v[c] += g.C[c * D];
            g.C[c * D] = v_set(0);
        }
        settle(s, block, &g, y, index, lanes, scratch->cell + i);
        if (flip && last) store_gradient(&g, s->store, index);
    }
    bin_block(s, block, scratch->index, scratch->cell, n, NULL, NULL);
}

firn_pass_function FIRN_KERNEL(firn_staggered_drift);
void FIRN_KERNEL(firn_staggered_drift)(const firn_pass *s, int32_t superblock,
                                       firn_scratch *scratch)
{
    for (int32_t b = s->at->super_first[superblock]; b < s->at->super_first[superblock + 1]; b++) {
        if (s->at->population[b]) drift_block(s, b, scratch);
    }
}
