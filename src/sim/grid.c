/* The grid between scatter and gather: arenas summed in a fixed order, forces, colliders.
 *
 * Everything here runs over blocks in parallel; a block depends on arenas and on itself only, and
 * what is reduced over blocks (the largest speed) is a maximum, so results do not depend on the
 * thread count. */
#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "base/track.h"
#include "sim/sim.h"

enum { NODES = FIRN_MAX_CELLS };

/* One block's part of the grid's extremes. */
typedef struct block_partial {
    double speed2;
    bool finite;
} block_partial;
_Static_assert(sizeof(block_partial) == FIRN_BLOCK_PARTIAL, "firn_sim_reserve counts on it");

typedef struct grid_job {
    firn_sim *sim;
    const firn_directory *source; /* whose superblocks the arenas belong to */
    int32_t planes; /* FIRN_NODE reals per node each: momentum and mass [, force or impulse] */
    double dt;
    double acceleration[3];
    double keep; /* damping factor of this step */
    bool hook;   /* whether to ask for the caller's forces */
} grid_job;

static block_partial *partials(const firn_sim *sim) { return sim->partial_pool.data; }

real *firn_grid_channel(const firn_sim *sim, const firn_pool *pool, int64_t block)
{
    return (real *)pool->data + block * firn_pow(FIRN_BLOCK, sim->store.dim) * FIRN_NODE;
}

size_t firn_grid_channel_size(const firn_sim *sim)
{
    return (size_t)sim->at->count * (size_t)firn_pow(FIRN_BLOCK, sim->store.dim) * FIRN_NODE *
           sizeof(real);
}

firn_status firn_grid_reserve(firn_sim *sim, int32_t planes, firn_error *error)
{
    const size_t size = firn_grid_channel_size(sim);
    firn_status st = firn_pool_reserve_slack(sim->allocator, &sim->grid.velocity, size, error);
    if (st == FIRN_OK && planes > 1) {
        st = firn_pool_reserve_slack(sim->allocator, &sim->grid.velocity_old, size, error);
    }
    if (st == FIRN_OK) {
        st = firn_pool_reserve_slack(sim->allocator, &sim->partial_pool,
                                     (size_t)sim->at->count * sizeof(block_partial), error);
    }
    if (st == FIRN_OK) {
        st = firn_pool_reserve_slack(sim->allocator, &sim->grid.mirror_range,
                                     (size_t)sim->at->count * sizeof(firn_mirror_range), error);
    }
    if (st == FIRN_OK) {
        st = firn_pool_reserve_slack(sim->allocator, &sim->grid.impulse_first,
                                     (size_t)(sim->at->count + 1) * sizeof(int32_t), error);
    }
    return st;
}

firn_status firn_grid_reserve_arenas(firn_sim *sim, int32_t planes, firn_error *error)
{
    const size_t arena = FIRN_ARENA_REALS(sim->store.dim, planes * FIRN_NODE) * sizeof(real);
    const size_t count = (size_t)sim->at->super_count;
    const firn_status st = firn_pool_renew(sim->allocator, &sim->grid.arena, count * arena, error);
    return st == FIRN_OK ? firn_pool_renew(sim->allocator, &sim->grid.touched,
                                           count * sizeof(uint64_t), error)
                         : st;
}

/* ---- summing arenas ---- */

/* Along one axis a block's nodes lie in its own superblock's arena and in one neighbour's: which, and
 * as which piece. */
typedef struct overlap {
    int32_t super, piece;
} overlap;

static void find_overlaps(int32_t coord, overlap o[2])
{
    const int32_t upper = coord & 1, super = (coord - upper) / 2;
    o[0] = (overlap){super, 1 + upper};
    o[1] = upper ? (overlap){super + 1, 0} : (overlap){super - 1, FIRN_PIECES - 1};
}

/* The nodes of a block that one arena holds: extent, the first one in the arena and in the block, and
 * the piece they are. In 2D there is one layer. */
typedef struct box {
    int ni, nj, nk, from, to, piece;
} box;

static box overlap_box(int32_t dim, const overlap o[3][2], int q)
{
    box b = {.nj = 1};
    for (int a = 0; a < dim; a++) {
        const int piece = o[a][q >> (dim - 1 - a) & 1].piece, first = firn_piece_begin[piece],
                  count = firn_piece_begin[piece + 1] - first;
        b.from = b.from * FIRN_ARENA + first;
        b.to = b.to * FIRN_BLOCK + (piece == 0 ? FIRN_BLOCK - 1 : 0);
        b.piece = b.piece * FIRN_PIECES + piece;
        *(a == 0 ? &b.ni : a == dim - 1 ? &b.nk : &b.nj) = count;
    }
    return b;
}

/* Adds a box of ni x nj x nk nodes of an arena to a block's. In 2D the box has one layer, and its
 * rows lie where those of 3D have their layers. */
static inline __attribute__((always_inline)) void
add_box(int32_t dim, real *restrict to, const real *restrict from, int ni, int nj, const int nk)
{
    const int to_j = FIRN_BLOCK * FIRN_NODE, to_i = dim == 3 ? FIRN_BLOCK * to_j : to_j;
    const int from_j = FIRN_ARENA * FIRN_NODE, from_i = dim == 3 ? FIRN_ARENA * from_j : from_j;
    for (int i = 0; i < ni; i++) {
        for (int j = 0; j < nj; j++) {
            real *t = to + i * to_i + j * to_j;
            const real *f = from + i * from_i + j * from_j;
            for (int c = 0; c < nk * FIRN_NODE; c++) t[c] += f[c];
        }
    }
}

/* Adds up what the arenas hold of a block, plane by plane. */
void firn_grid_sum_arenas(const firn_sim *sim, const firn_directory *source, int32_t planes,
                          int64_t block, real (*sum)[NODES][FIRN_NODE])
{
    const firn_directory *at = sim->at;
    const int32_t dim = at->dim;
    const size_t plane = (size_t)firn_pow(FIRN_ARENA, dim) * FIRN_NODE;
    const size_t stride = FIRN_ARENA_REALS(dim, planes * FIRN_NODE);
    overlap o[3][2] = {{{0}}};
    int32_t near[3] = {0}, far[3] = {0};
    for (int a = 0; a < dim; a++) {
        find_overlaps(at->coord[block][a], o[a]);
        near[a] = 2 * o[a][0].super;
        far[a] = 2 * o[a][1].super;
    }
    uint64_t key[8];
    firn_corner_keys(at, firn_directory_layer(at, (int32_t)block), near, far, key);
    /* The rows are scattered over eight arenas: they are all asked for before the first is used. */
    const real *arena[8];
    const uint64_t *touched = sim->grid.touched.data;
    for (int q = 0; q < firn_pow(2, dim); q++) {
        const int32_t super = firn_directory_find_super(source, key[q] >> dim);
        arena[q] = NULL;
        const box b = overlap_box(dim, o, q);
        if (super < 0 || !(touched[super] >> b.piece & 1)) continue;
        arena[q] = (const real *)sim->grid.arena.data + (size_t)super * stride;
        for (int p = 0; p < planes; p++) {
            for (int i = 0; i < b.ni; i++) {
                for (int j = 0; j < b.nj; j++) {
                    const real *row =
                        arena[q] + p * plane +
                        (b.from + (dim == 3 ? i * FIRN_ARENA + j : i) * FIRN_ARENA) * FIRN_NODE;
                    __builtin_prefetch(row); /* a row may lie in two lines */
                    __builtin_prefetch(row + b.nk * FIRN_NODE - 1);
                }
            }
        }
    }
    memset(sum, 0, (size_t)planes * sizeof *sum);
    for (int q = 0; q < firn_pow(2, dim); q++) {
        if (!arena[q]) continue;
        const box b = overlap_box(dim, o, q);
        for (int p = 0; p < planes; p++) {
            real *to = sum[p][b.to];
            const real *from = arena[q] + p * plane + b.from * FIRN_NODE;
            switch (b.nk) { /* lengths the compiler knows */
            case FIRN_BLOCK: add_box(dim, to, from, b.ni, b.nj, FIRN_BLOCK); break;
            case 3: add_box(dim, to, from, b.ni, b.nj, 3); break;
            default: add_box(dim, to, from, b.ni, b.nj, 1); break;
            }
        }
    }
}

/* ---- forces and colliders ---- */

/* The keyed acceleration's integral from -infinity side of the first key to a time, less that of
 * constant parts: differences of it are what a step receives, however short a pulse is. */
static double keyed_impulse(const firn_acceleration_key *key, int32_t n, int axis, double time)
{
    double sum = (fmin(time, key[0].time) - key[0].time) * key[0].acceleration[axis];
    for (int32_t i = 1; i < n && key[i - 1].time < time; i++) {
        const double length = key[i].time - key[i - 1].time;
        const double part = fmin(1, (time - key[i - 1].time) / length);
        const double a = key[i - 1].acceleration[axis], b = key[i].acceleration[axis];
        sum += length * part * (a + 0.5 * part * (b - a));
    }
    return sum + fmax(0, time - key[n - 1].time) * key[n - 1].acceleration[axis];
}

/* Gravity and keyed forces, averaged over the step. */
void firn_grid_body_acceleration(const firn_sim *sim, double dt, double a[3])
{
    const int32_t n = sim->def.force_count;
    firn_sim_gravity(sim, sim->time, sim->time + dt, a);
    for (int c = 0; c < 3 && n > 0 && dt > 0; c++) {
        a[c] += (keyed_impulse(sim->forces, n, c, sim->time + dt) -
                 keyed_impulse(sim->forces, n, c, sim->time)) /
                dt;
    }
}

static grid_job make_job(firn_sim *sim, const firn_directory *source, int32_t planes, double dt)
{
    grid_job job = {.sim = sim, .source = source, .planes = planes, .dt = dt};
    firn_grid_body_acceleration(sim, dt, job.acceleration);
    job.keep = exp(-sim->def.damping * dt);
    return job;
}

void firn_grid_node_position(const firn_sim *sim, const int32_t coord[3], int n, double position[3])
{
    const int32_t dim = sim->store.dim;
    position[2] = 0;
    for (int a = dim - 1; a >= 0; a--, n /= FIRN_BLOCK) {
        position[a] = (FIRN_BLOCK * coord[a] + n % FIRN_BLOCK) * sim->def.cell_size;
    }
}

bool firn_grid_is_near_collider(const firn_sim *sim, int64_t block, const double position[3],
                                double cells)
{
    const firn_posed_collider *c = sim->posed_pool.data;
    int32_t count;
    const int32_t *near = firn_nearby_of(sim, block, &count);
    double normal[3];
    for (int32_t i = 0; i < count; i++) {
        if (firn_collider_distance(&c[near[i]], sim->store.dim, position, normal) <
            cells * sim->def.cell_size) {
            return true;
        }
    }
    return false;
}

void firn_grid_block_center(const firn_sim *sim, const int32_t coord[3], double center[3])
{
    const double middle = 0.5 * FIRN_BLOCK + firn_spline_shift(sim->def.spline);
    center[2] = 0;
    for (int a = 0; a < sim->store.dim; a++) {
        center[a] = (FIRN_BLOCK * coord[a] + middle) * sim->def.cell_size;
    }
}

int32_t firn_grid_note_colliders(firn_sim *sim, int64_t block, double cells)
{
    const firn_posed_collider *c = sim->posed_pool.data;
    const double h = sim->def.cell_size;
    double center[3], normal[3];
    int32_t count = 0, candidates;
    const int32_t *nearby = firn_nearby_of(sim, block, &candidates);
    bool near = false;
    firn_grid_block_center(sim, sim->at->coord[block], center);
    for (int32_t i = 0; i < candidates; i++) {
        const double d = firn_collider_distance(&c[nearby[i]], sim->store.dim, center, normal);
        near |= d < FIRN_NEAR_COLLIDER * h;
        count += d < cells * h;
    }
    sim->at->near_collider[block] = near;
    return count;
}

uint64_t firn_grid_nodes_near_colliders(const firn_sim *sim, int64_t block)
{
    const int32_t dim = sim->store.dim, nodes = firn_pow(FIRN_BLOCK, dim);
    const real *node = firn_grid_channel(sim, &sim->grid.velocity, block);
    uint64_t near = 0;
    for (int n = 0; n < nodes; n += FIRN_BLOCK) { /* a row of four, by its middle */
        double position[3];
        firn_grid_node_position(sim, sim->at->coord[block], n, position);
        position[dim - 1] += 0.5 * (FIRN_BLOCK - 1) * sim->def.cell_size;
        if (!firn_grid_is_near_collider(sim, block, position, 0.5 * FIRN_BLOCK)) continue;
        for (int i = n; i < n + FIRN_BLOCK; i++) {
            near |= (uint64_t)(node[i * FIRN_NODE + 3] > 0) << i;
        }
    }
    return near;
}

void firn_grid_collide_nodes(firn_sim *sim, int64_t block)
{
    const int32_t dim = sim->store.dim;
    /* A wall through a row of nodes holds them all, whichever way its distance rounds. */
    const double slack = 1e-6 * sim->def.cell_size;
    const firn_impulses taken = firn_reaction_of(sim, block);
    for (uint64_t left = firn_grid_nodes_near_colliders(sim, block); left; left &= left - 1) {
        const int n = __builtin_ctzll(left);
        real *node = firn_grid_channel(sim, &sim->grid.velocity, block) + n * FIRN_NODE;
        double position[3], velocity[3] = {0};
        firn_grid_node_position(sim, sim->at->coord[block], n, position);
        for (int a = 0; a < dim; a++) velocity[a] = (double)node[a];
        if (!firn_collider_respond_all(sim->posed_pool.data, sim->def.collider_count, dim, slack,
                                       position, velocity, (double)node[3],
                                       sim->grid.books ? &taken : NULL)) {
            continue;
        }
        for (int a = 0; a < dim; a++) node[a] = (real)velocity[a];
    }
}

void firn_grid_collide_block(firn_sim *sim, int64_t block)
{
    firn_grid_note_colliders(sim, block, 0);
    if (sim->at->near_collider[block]) firn_grid_collide_nodes(sim, block);
}

/* The caller's force on a block's nodes, added to the acceleration. */
static void call_hook(const firn_sim *sim, int64_t block, const real (*before)[FIRN_NODE],
                      real (*acceleration)[FIRN_NODE])
{
    const int32_t dim = sim->store.dim, nodes = firn_pow(FIRN_BLOCK, dim);
    double position[NODES][3], velocity[NODES][3] = {{0}}, mass[NODES], force[NODES][3] = {{0}};
    for (int n = 0; n < nodes; n++) {
        firn_grid_node_position(sim, sim->at->coord[block], n, position[n]);
        for (int a = 0; a < dim; a++) velocity[n][a] = (double)before[n][a];
        mass[n] = (double)before[n][3];
    }
    const firn_nodes view = {.count = nodes,
                             .time = sim->time,
                             .position = (const double(*)[3])position,
                             .mass = mass,
                             .velocity = (const double(*)[3])velocity};
    sim->def.force_hook(sim->def.force_user_data, &view, force);
    for (int n = 0; n < nodes; n++) {
        for (int a = 0; a < dim && mass[n] > 0; a++) {
            acceleration[n][a] += (real)(force[n][a] / mass[n]);
        }
    }
}

static double speed2(const real *v, int32_t dim)
{
    double s = 0;
    for (int a = 0; a < dim; a++) s += (double)v[a] * (double)v[a];
    return s;
}

/* ---- the parallel loops ---- */

static void sum_block(void *context, int64_t block, int32_t thread)
{
    (void)thread;
    const grid_job *job = context;
    firn_sim *sim = job->sim;
    const int32_t dim = sim->store.dim, nodes = firn_pow(FIRN_BLOCK, dim);
    real sum[2][NODES][FIRN_NODE];
    firn_grid_sum_arenas(sim, job->source, job->planes, block, sum);
    real(*before)[FIRN_NODE] =
        (real(*)[FIRN_NODE])firn_grid_channel(sim, &sim->grid.velocity_old, block);
    real(*acceleration)[FIRN_NODE] =
        (real(*)[FIRN_NODE])firn_grid_channel(sim, &sim->grid.velocity, block);
    for (int n = 0; n < nodes; n++) {
        const real mass = sum[0][n][3], inverse = mass > 0 ? 1 / mass : 0;
        for (int a = 0; a < 3; a++) {
            before[n][a] = sum[0][n][a] * inverse;
            acceleration[n][a] = sum[1][n][a] * inverse;
        }
        before[n][3] = acceleration[n][3] = mass;
    }
    if (job->hook) call_hook(sim, block, (const real(*)[FIRN_NODE])before, acceleration);
}

void firn_grid_sum(firn_sim *sim, bool hook)
{
    grid_job job = {.sim = sim, .source = sim->at, .planes = 2, .hook = hook};
    firn_workers_run(&sim->workers, sim->at->count, 4, sum_block, &job);
}

/* So many light nodes of a particle together may count as one. */
#define RIM_NODES 8

static void probe_block(void *context, int64_t block, int32_t thread)
{
    (void)thread;
    const grid_job *job = context;
    firn_sim *sim = job->sim;
    const int32_t dim = sim->store.dim, nodes = firn_pow(FIRN_BLOCK, dim);
    const real *before = firn_grid_channel(sim, &sim->grid.velocity_old, block);
    const real *acceleration = firn_grid_channel(sim, &sim->grid.velocity, block);
    block_partial p = {0, true};
    for (int n = 0; n < nodes; n++, before += FIRN_NODE, acceleration += FIRN_NODE) {
        if (!(before[3] > 0)) {
            p.finite &= before[3] == 0; /* a NaN is neither */
            continue;
        }
        real after[3];
        for (int a = 0; a < dim; a++) {
            after[a] = before[a] + (real)job->dt * (acceleration[a] + (real)job->acceleration[a]);
        }
        const double s = speed2(before, dim), t = speed2(after, dim);
        /* A particle's weight there is at most the node's mass over its own. Forces by weight gradients
         * fall off slower than that, so nodes at the rim fly while particles hardly notice. */
        const double felt = fmin(1, RIM_NODES * (double)before[3] / sim->lightest);
        p.speed2 = fmax(p.speed2, felt * felt * fmax(s, t));
        p.finite &= isfinite(s) && isfinite(t); /* fmax drops NaNs */
    }
    partials(sim)[block] = p;
}

static void merge_partials(firn_sim *sim)
{
    double most = 0;
    sim->grid.finite = true;
    for (int32_t b = 0; b < sim->at->count; b++) {
        const block_partial *p = &partials(sim)[b];
        if (p->speed2 > most) most = p->speed2;
        sim->grid.finite &= p->finite;
    }
    sim->grid.max_speed = sqrt(most);
}

void firn_grid_probe(firn_sim *sim, double dt)
{
    grid_job job = make_job(sim, sim->at, 2, dt);
    firn_workers_run(&sim->workers, sim->at->count, 16, probe_block, &job);
    merge_partials(sim);
}

static void apply_block(void *context, int64_t block, int32_t thread)
{
    (void)thread;
    const grid_job *job = context;
    firn_sim *sim = job->sim;
    const int32_t dim = sim->store.dim, nodes = firn_pow(FIRN_BLOCK, dim);
    const real *before = firn_grid_channel(sim, &sim->grid.velocity_old, block);
    real *node = firn_grid_channel(sim, &sim->grid.velocity, block);
    for (int n = 0; n < nodes; n++) {
        for (int a = 0; a < dim; a++) {
            real *v = &node[n * FIRN_NODE + a];
            const real body = before[n * FIRN_NODE + 3] > 0 ? (real)job->acceleration[a] : 0;
            *v = (real)job->keep * (before[n * FIRN_NODE + a] + (real)job->dt * (*v + body));
        }
    }
}

firn_status firn_grid_apply(firn_sim *sim, double dt, firn_error *error)
{
    grid_job job = make_job(sim, sim->at, 2, dt);
    firn_workers_run(&sim->workers, sim->at->count, 4, apply_block, &job);
    return firn_grid_collide(sim, error);
}

void firn_grid_note_speed(firn_sim *sim, int64_t block)
{
    const int32_t nodes = firn_pow(FIRN_BLOCK, sim->store.dim);
    const real *node = firn_grid_channel(sim, &sim->grid.velocity, block);
    real most = 0, check = 0;
    for (int n = 0; n < nodes; n++, node += FIRN_NODE) {
        const real s = node[0] * node[0] + node[1] * node[1] + node[2] * node[2];
        most = s > most ? s : most;
        check += s * 0; /* stays 0 while all are finite */
    }
    partials(sim)[block] = (block_partial){(double)most, check == 0};
}

/* Keeps the velocities before forces, and adds the impulses to the momentum. */
static void part_impulse(const firn_sim *sim, int64_t block, real sum[2][NODES][FIRN_NODE])
{
    const int32_t nodes = firn_pow(FIRN_BLOCK, sim->store.dim);
    real *before = firn_grid_channel(sim, &sim->grid.velocity_old, block);
    for (int n = 0; n < nodes; n++, before += FIRN_NODE) {
        const real mass = sum[0][n][3], inverse = mass > 0 ? 1 / mass : 0;
        for (int a = 0; a < FIRN_NODE; a++) before[a] = sum[0][n][a] * inverse;
        for (int a = 0; a < 3; a++) sum[0][n][a] += sum[1][n][a];
        before[3] = mass;
    }
}

static void update_block(void *context, int64_t block, int32_t thread)
{
    (void)thread;
    const grid_job *job = context;
    firn_sim *sim = job->sim;
    const int32_t dim = sim->store.dim, nodes = firn_pow(FIRN_BLOCK, dim);
    real sum[2][NODES][FIRN_NODE];
    firn_grid_sum_arenas(sim, job->source, job->planes, block, sum);
    if (job->planes == 2) part_impulse(sim, block, sum);
    real *node = firn_grid_channel(sim, &sim->grid.velocity, block);
    const real keep = (real)job->keep;
    real gain[FIRN_NODE] = {0};
    for (int a = 0; a < dim; a++) gain[a] = (real)(job->dt * job->acceleration[a]);
    for (int n = 0; n < nodes; n++) {
        const real mass = sum[0][n][3], inverse = mass > 0 ? 1 / mass : 0;
        const real moved = mass > 0 ? 1 : 0;
        for (int a = 0; a < FIRN_NODE; a++) {
            node[n * FIRN_NODE + a] = keep * (sum[0][n][a] * inverse + moved * gain[a]);
        }
        node[n * FIRN_NODE + 3] = mass;
    }
    firn_grid_note_speed(sim, block);
}

firn_status firn_grid_update_fused(firn_sim *sim, const firn_directory *source, double dt,
                                   firn_error *error)
{
    grid_job job = make_job(sim, source, sim->planes, dt);
    firn_workers_run(&sim->workers, sim->at->count, 4, update_block, &job);
    const firn_status st = firn_grid_collide(sim, error);
    merge_partials(sim);
    return st;
}

void firn_sim_pose_collider(const firn_sim *sim, int32_t i, double time, firn_posed_collider *posed)
{
    const firn_collider_slot *slot = &sim->slots[i];
    const firn_collider_motion *m = &slot->motion;
    const bool is_mesh = sim->colliders[i].shape == FIRN_MESH;
    if (slot->removed || time >= sim->colliders[i].until || (is_mesh && !sim->colliders[i].mesh)) {
        firn_collider_pose_nowhere(posed);
        return;
    }
    if (!slot->moved) {
        firn_collider_pose(&sim->colliders[i], sim->store.dim, time, posed);
    } else {
        /* A step that ends when the motion does still moves with it; the next does not. */
        const double elapsed = time - slot->begin, slack = 1e-9;
        const bool moving = time > sim->time ? elapsed <= m->seconds * (1 + slack)
                                             : elapsed < m->seconds * (1 - slack);
        firn_collider_pose_moving(&sim->colliders[i], m, sim->store.dim, time,
                                  fmax(0, fmin(elapsed, m->seconds)), moving, posed);
    }
    if (is_mesh) firn_deform_pose(&slot->deform, time, time <= sim->time, &posed->morph);
}

/* The longest step in which a collider, in motion from where it is, crosses no more than `courant` of a
 * cell where particles feel it. Those further away it may first approach. */
static double approach_limit(const firn_sim *sim, const firn_posed_collider *from,
                             const firn_posed_collider *motion)
{
    if (firn_collider_speed_bound(motion, motion->position, 1) == 0) return INFINITY;
    const int32_t dim = sim->store.dim;
    const double h = sim->def.cell_size;
    /* A block's particles are in FIRN_SHIFTED cells per axis, move by up to one more in the step under
     * way, and feel nodes 1.5 cells away. */
    const double reach = 0.5 * (FIRN_SHIFTED + 5) * sqrt(dim) * h;
    double limit = INFINITY;
    for (int32_t b = 0; b < sim->from->count; b++) {
        if (!sim->from->bin[b].count) continue;
        double center[3], normal[3];
        firn_grid_block_center(sim, sim->from->coord[b], center);
        const double gap = fmax(0, firn_collider_distance(from, dim, center, normal) - reach);
        const double speed = firn_collider_speed_bound(motion, center, reach + gap);
        limit = fmin(limit, (sim->def.courant * h + gap) / speed);
    }
    return limit;
}

/* Limits steps by how a collider moves, and its surface runs, at a later time. */
static void limit_at(firn_sim *sim, int32_t i, double time, const firn_posed_collider *posed)
{
    firn_posed_collider later;
    firn_collider_pose(&sim->colliders[i], sim->store.dim, time, &later);
    sim->collider_dt = fmin(sim->collider_dt, approach_limit(sim, posed, &later));
}

/* Limits steps by what starts or speeds up within one: at keys of the collider or of what it rides on, and of its
 * surface's velocity. */
static void limit_by_keys(firn_sim *sim, int32_t i, double time, const firn_posed_collider *posed)
{
    const double end = time + sim->def.dt_max;
    for (const firn_collider_def *def = &sim->colliders[i]; def; def = def->parent) {
        if (def->key_count == 0) continue;
        for (int32_t k = firn_collider_key_before(def, time) + 1;
             k < def->key_count && def->keys[k].time <= end; k++) {
            limit_at(sim, i, def->keys[k].time, posed);
        }
        limit_at(sim, i, end, posed);
    }
    const firn_collider_def *c = &sim->colliders[i];
    const firn_track *runs[] = {&c->surface_velocity_keys, &c->surface_spin_keys};
    for (int t = 0; t < 2; t++) {
        double next = time;
        while ((next = firn_track_next_key(runs[t], next, end)) <= end)
            limit_at(sim, i, next, posed);
        if (runs[t]->count > 0) limit_at(sim, i, end, posed);
    }
}

void firn_sim_pose_colliders(firn_sim *sim, double time)
{
    firn_posed_collider *posed = sim->posed_pool.data;
    const firn_track *friction = &sim->def.contact_friction_keys;
    if (friction->count) firn_track_sample(friction, time, &sim->def.contact_friction);
    sim->collider_dt = INFINITY;
    for (int32_t i = 0; i < sim->def.collider_count; i++) {
        const firn_collider_slot *slot = &sim->slots[i];
        firn_sim_pose_collider(sim, i, time, &posed[i]);
        if (slot->removed) continue;
        sim->collider_dt = fmin(sim->collider_dt, approach_limit(sim, &posed[i], &posed[i]));
        if (!slot->moved) limit_by_keys(sim, i, time, &posed[i]);
        const firn_deform *d = &slot->deform;
        if (d->moves && d->begin > time && d->begin <= time + sim->def.dt_max) {
            firn_posed_collider later = posed[i];
            firn_deform_pose(d, d->begin, true, &later.morph);
            sim->collider_dt = fmin(sim->collider_dt, approach_limit(sim, &posed[i], &later));
        }
    }
}
