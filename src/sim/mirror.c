/* What colliders do to the nodes, and why those inside a wall mirror those outside.
 *
 * The kernels of the first free nodes reach into the wall, where there is no material. With nodes
 * in the wall merely stopped, a part of the push on the free ones is missing, and particles near the
 * wall are carried into it by theirs: liquids at rest stir and sink. So a node inside that is
 * pressed deeper is the image of the nodes around the point as far outside:
 *   - its momentum, with the normal part turned round, joins theirs (fold), and friction of that
 *     turning rubs them;
 *   - its velocity is then theirs mirrored, the normal part scaled by depth over height, so that
 *     velocities that vanish at the wall and grow away from it are met exactly (reflect).
 * Nodes that leave a wall, are in one that holds them, in several or in a corner respond by themselves.
 *
 * Sources of a fold are inside a collider and what it changes is not. So blocks list their mirrors,
 * then each takes its share from its neighbours' lists in a fixed order: results do not depend on
 * the thread count. */
#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "sim/sim.h"

enum { NODES = FIRN_MAX_CELLS, AROUND = 8 };

/* Deeper ones are left alone: at this depth they are seen by particles that touch the wall with
 * next to no weight, and what is around their mirror point lies no further than the next block. */
#define DEEPEST 1.5 /* cells */

/* A node pressed into a wall. */
typedef struct mirror {
    int32_t node; /* of its block */
    int32_t collider;
    int32_t count; /* nodes around the mirror point; may be none */
    uint8_t to_block[AROUND],
        to_node[AROUND];        /* block as in firn_directory_neighbours; node in it */
    real weight[AROUND];        /* add up to 1 */
    real normal[3], surface[3]; /* of the wall; its velocity, m/s */
    real depth;                 /* m */
    real scale;                 /* depth over mean height of the nodes around */
    real mass, velocity[3];     /* kg, m/s: mirrored */
    real drag;                  /* kg m/s: the most that friction takes */
} mirror;
_Static_assert(sizeof(mirror) <= FIRN_MIRROR, "firn_sim_reserve counts on it");

/* A block's mirrors; *count receives how many. */
static mirror *mirrors_of(const firn_sim *sim, int64_t block, int32_t *count)
{
    const firn_mirror_range *range = (const firn_mirror_range *)sim->grid.mirror_range.data + block;
    *count = __builtin_popcountll(range->pressed);
    return *count ? (mirror *)sim->grid.mirror.data + range->first : NULL;
}

static bool is_nearby(const firn_sim *sim, int64_t block)
{
    return ((const firn_mirror_range *)sim->grid.mirror_range.data)[block].nearby;
}

/* ---- finding them ---- */

static double inner_slack(const firn_sim *sim) { return -1e-6 * sim->def.cell_size; }

/* Whether a node, given with its velocity and mass, is pressed into one wall and no other: then
 * notes that wall. */
static bool is_pressed(const firn_sim *sim, int64_t block, int n, const real *node, mirror *to)
{
    const firn_posed_collider *collider = sim->posed_pool.data, *in = NULL;
    const int32_t dim = sim->store.dim;
    const firn_impulses near = firn_reaction_of(sim, block);
    firn_face face[FIRN_MAX_FACES], wall = {0};
    double position[3], surface[3], speed = 0;
    firn_grid_node_position(sim, sim->at->coord[block], n, position);
    for (int32_t k = 0; k < near.count; k++) {
        const int32_t i = near.first[k].collider;
        const int faces = firn_collider_faces(&collider[i], dim, position, inner_slack(sim), face);
        if (faces == 0) continue;
        if (faces > 1 || in || firn_boundary_holds(collider[i].boundary)) return false;
        in = &collider[i];
        wall = face[0];
    }
    if (!in || wall.depth > DEEPEST * sim->def.cell_size) return false;
    firn_collider_contact_velocity(in, position, wall.normal, surface);
    for (int a = 0; a < dim; a++) speed += ((double)node[a] - surface[a]) * wall.normal[a];
    if (in->boundary == FIRN_SEPARATE && !(speed < 0)) return false;
    *to = (mirror){.node = n,
                   .collider = (int32_t)(in - collider),
                   .depth = (real)wall.depth,
                   .mass = node[3]};
    for (int a = 0; a < 3; a++) {
        to->normal[a] = (real)wall.normal[a];
        to->surface[a] = (real)surface[a];
    }
    if (in->boundary == FIRN_SEPARATE) to->drag = (real)(in->friction * -speed) * node[3];
    return true;
}

/* A velocity with its part through the wall turned round and scaled. */
static void reflect(const mirror *m, int32_t dim, const real v[3], real out[3])
{
    real through = 0;
    for (int a = 0; a < dim; a++) through += (v[a] - m->surface[a]) * m->normal[a];
    for (int a = 0; a < dim; a++) out[a] = v[a] - (1 + m->scale) * through * m->normal[a];
}

/* Lists the free nodes around the mirror point, those of its cell, and what they are told. */
static void aim(const firn_sim *sim, int64_t block, const int32_t neighbour[], mirror *m)
{
    const int32_t dim = sim->store.dim;
    const firn_mirror_range *range = sim->grid.mirror_range.data;
    const double h = sim->def.cell_size, depth = (double)m->depth, inside = inner_slack(sim) / h;
    const real *node = firn_grid_channel(sim, &sim->grid.velocity, block) + m->node * FIRN_NODE;
    int32_t at[3] = {0}, cell[3] = {0}; /* nodes from the block's first */
    double part[3] = {0}, sum = 0, height = 0;
    for (int a = dim - 1, rest = m->node; a >= 0; a--, rest /= FIRN_BLOCK) {
        at[a] = rest % FIRN_BLOCK;
        const double x = at[a] + 2 * depth / h * (double)m->normal[a];
        cell[a] = (int32_t)floor(x + 1e-6);
        part[a] = x - cell[a];
    }
    for (int k = 0; k < 1 << dim; k++) {
        double weight = 1, above = -depth, position[3] = {0};
        int32_t index = 0, to = 0;
        bool reached = true;
        for (int a = 0; a < dim; a++) {
            const int up = k >> a & 1, x = cell[a] + up, b = (x + FIRN_BLOCK) / FIRN_BLOCK;
            weight *= up ? part[a] : 1 - part[a];
            above += (x - at[a]) * h * (double)m->normal[a];
            position[a] = (FIRN_BLOCK * sim->at->coord[block][a] + x) * h;
            reached = reached && x >= -FIRN_BLOCK && b < 3;
            index = 3 * index + b;
            to = FIRN_BLOCK * to + (x + FIRN_BLOCK) % FIRN_BLOCK;
        }
        if (!reached || weight < 1e-5 || above < -inner_slack(sim)) continue;
        if (neighbour[index] < 0) continue;
        if (range[neighbour[index]].pressed >> to & 1) continue; /* is a mirror itself */
        if (!(firn_grid_channel(sim, &sim->grid.velocity, neighbour[index])[to * FIRN_NODE + 3] >
              0))
            continue;
        if (firn_grid_is_near_collider(sim, block, position, inside)) continue;
        m->to_block[m->count] = (uint8_t)index;
        m->to_node[m->count] = (uint8_t)to;
        m->weight[m->count++] = (real)weight;
        sum += weight;
        height += weight * above;
    }
    for (int k = 0; k < m->count; k++) m->weight[k] /= (real)sum;
    /* Below 1 where nodes were left out in the wall. Above it where there is little material: a large
     * one would fling it. */
    m->scale = m->count ? (real)fmin(depth * sum / height, 1) : 0;
    m->drag *= 1 + m->scale;
    reflect(m, dim, node, m->velocity);
}

static void find_task(void *context, int64_t block, int32_t thread)
{
    (void)thread;
    firn_sim *sim = context;
    firn_mirror_range *range = (firn_mirror_range *)sim->grid.mirror_range.data + block;
    range->pressed = 0;
    range->nearby = firn_reaction_of(sim, block).count > 0;
    if (!sim->at->near_collider[block]) return;
    const real *node = firn_grid_channel(sim, &sim->grid.velocity, block);
    for (uint64_t left = firn_grid_nodes_near_colliders(sim, block); left; left &= left - 1) {
        mirror m;
        const int n = __builtin_ctzll(left);
        range->pressed |= (uint64_t)is_pressed(sim, block, n, node + n * FIRN_NODE, &m) << n;
    }
}

static void aim_task(void *context, int64_t block, int32_t thread)
{
    (void)thread;
    const firn_sim *sim = context;
    int32_t count, neighbour[FIRN_MAX_NEIGHBOURS];
    mirror *m = mirrors_of(sim, block, &count);
    if (!count) return;
    firn_directory_neighbours(sim->at, (int32_t)block, neighbour);
    const real *node = firn_grid_channel(sim, &sim->grid.velocity, block);
    uint64_t left = ((const firn_mirror_range *)sim->grid.mirror_range.data)[block].pressed;
    for (; left; left &= left - 1, m++) {
        const int n = __builtin_ctzll(left);
        is_pressed(sim, block, n, node + n * FIRN_NODE, m);
        aim(sim, block, neighbour, m);
    }
}

static firn_status find_mirrors(firn_sim *sim, firn_error *error)
{
    firn_mirror_range *range = sim->grid.mirror_range.data;
    int32_t sum = 0;
    firn_workers_run(&sim->workers, sim->at->count, 16, find_task, sim);
    for (int32_t b = 0; b < sim->at->count; b++) {
        range[b].first = sum;
        sum += __builtin_popcountll(range[b].pressed);
    }
    firn_status st =
        firn_pool_renew(sim->allocator, &sim->grid.mirror, (size_t)sum * sizeof(mirror), error);
    if (st == FIRN_OK && sum > 0) {
        firn_workers_run(&sim->workers, sim->at->count, 16, aim_task, sim);
    }
    return st;
}

/* ---- what they do ---- */

/* The part of a velocity along the wall that friction takes, at most `most`. */
static void rub(const mirror *m, int32_t dim, real most, real v[3])
{
    real along[3], through = 0, speed2 = 0;
    for (int a = 0; a < dim; a++) {
        along[a] = v[a] - m->surface[a];
        through += along[a] * m->normal[a];
    }
    for (int a = 0; a < dim; a++) {
        along[a] -= through * m->normal[a];
        speed2 += along[a] * along[a];
    }
    const real speed = R_SQRT(speed2), taken = speed > most ? most / speed : 1;
    for (int a = 0; a < dim; a++) v[a] -= taken * along[a];
}

/* Adds to a block's nodes what mirrors nearby tell them: first momentum, then friction, which is by the
 * whole mass. */
static void fold_block(firn_sim *sim, int64_t block)
{
    const int32_t dim = sim->store.dim, nodes = firn_pow(FIRN_BLOCK, dim);
    real *node = firn_grid_channel(sim, &sim->grid.velocity, block);
    int32_t neighbour[FIRN_MAX_NEIGHBOURS], mirrors = 0;
    const int around = firn_directory_neighbours(sim->at, (int32_t)block, neighbour);
    for (int i = 0; i < around; i++) {
        int32_t count = 0;
        if (neighbour[i] >= 0) mirrors_of(sim, neighbour[i], &count);
        mirrors += count;
    }
    if (mirrors == 0) return;
    real gain[NODES][FIRN_NODE] = {{0}}, before[NODES][3];
    for (int rubbing = 0; rubbing < 2; rubbing++) {
        for (int i = 0; i < around; i++) {
            int32_t count = 0;
            const mirror *list = neighbour[i] < 0 ? NULL : mirrors_of(sim, neighbour[i], &count);
            for (int32_t j = 0; j < count; j++) {
                const mirror *m = &list[j];
                for (int k = 0; k < m->count; k++) {
                    if (m->to_block[k] != around - 1 - i) continue;
                    const int n = m->to_node[k];
                    real *sum = gain[n], *v = node + n * FIRN_NODE;
                    const real mass = m->weight[k] * m->mass;
                    if (rubbing) {
                        /* Its part of the change that all mirrors made, and friction. */
                        const real part = mass / (v[3] + sum[3]), all = v[3];
                        real from[3] = {0}, to[3] = {0};
                        for (int a = 0; a < dim; a++) {
                            from[a] = v[a];
                            to[a] = part * (m->velocity[a] - before[n][a]);
                        }
                        rub(m, dim, m->weight[k] * m->drag / (all + sum[3]), v);
                        for (int a = 0; a < dim; a++) to[a] += v[a];
                        firn_reaction_book_node(sim, block, n, m->collider, from, to, all);
                        continue;
                    }
                    for (int a = 0; a < dim; a++) sum[a] += mass * m->velocity[a];
                    sum[3] += mass;
                }
            }
        }
        for (int n = 0; n < nodes && !rubbing; n++) {
            real *v = node + n * FIRN_NODE;
            if (!(gain[n][3] > 0)) continue;
            memcpy(before[n], v, sizeof before[n]);
            for (int a = 0; a < dim; a++) v[a] = (v[3] * v[a] + gain[n][a]) / (v[3] + gain[n][3]);
        }
    }
}

static void fold_task(void *context, int64_t block, int32_t thread)
{
    (void)thread;
    firn_sim *sim = context;
    if (!is_nearby(sim, block)) return;
    fold_block(sim, block);
    if (sim->at->near_collider[block]) firn_grid_collide_nodes(sim, block);
}

static void reflect_task(void *context, int64_t block, int32_t thread)
{
    (void)thread;
    firn_sim *sim = context;
    if (!is_nearby(sim, block)) return;
    const int32_t dim = sim->store.dim;
    int32_t count, neighbour[FIRN_MAX_NEIGHBOURS];
    const mirror *list = mirrors_of(sim, block, &count);
    if (count) firn_directory_neighbours(sim->at, (int32_t)block, neighbour);
    for (int32_t i = 0; i < count; i++) {
        const mirror *m = &list[i];
        real sum[3] = {0};
        for (int k = 0; k < m->count; k++) {
            const real *v = firn_grid_channel(sim, &sim->grid.velocity, neighbour[m->to_block[k]]) +
                            m->to_node[k] * FIRN_NODE;
            for (int a = 0; a < dim; a++) sum[a] += m->weight[k] * v[a];
        }
        if (!m->count) continue;
        real *node = firn_grid_channel(sim, &sim->grid.velocity, block) + m->node * FIRN_NODE;
        const real before[3] = {node[0], node[1], node[2]};
        reflect(m, dim, sum, node);
        firn_reaction_book_node(sim, block, m->node, m->collider, before, node, node[3]);
    }
    firn_grid_note_speed(sim, block);
}

firn_status firn_grid_collide(firn_sim *sim, firn_error *error)
{
    const int32_t blocks = sim->at->count;
    if (sim->def.collider_count == 0) { /* none is near */
        firn_grid_contact(sim);
        return FIRN_OK;
    }
    firn_status st = firn_reaction_list(sim, error);
    if (st == FIRN_OK) st = find_mirrors(sim, error);
    if (st != FIRN_OK) return st;
    firn_workers_run(&sim->workers, blocks, 4, fold_task, sim);
    firn_grid_contact(sim);
    firn_workers_run(&sim->workers, blocks, 16, reflect_task, sim);
    firn_reaction_collect(sim);
    return FIRN_OK;
}
