/* What colliders take from the material: the momentum that nodes and particles lose to them.
 *
 * Whoever changes a velocity on a collider's behalf books mass x change under its number, in a list
 * that belongs to the block: one task writes it. Blocks are summed in order, in double, so results do
 * not depend on the thread count, and what all colliders took is what the material lost, to rounding.
 * The sums of a step under way are apart from those that stand: a step may be taken back. */
#include <string.h>

#include "base/parallel.h"
#include "sim/sim.h"

enum { ADVANCE, STEP, KEPT, SETS = 4 }; /* see firn_sim.reaction_pool */

static firn_impulse *set(const firn_sim *sim, int which)
{
    return (firn_impulse *)sim->reaction_pool.data + which * sim->def.collider_count;
}

static size_t set_size(const firn_sim *sim)
{
    return (size_t)sim->def.collider_count * sizeof(firn_impulse);
}

firn_status firn_reaction_reserve(firn_sim *sim, int32_t colliders, firn_error *error)
{
    return firn_pool_reserve(sim->allocator, &sim->reaction_pool,
                             (size_t)colliders * SETS * sizeof(firn_impulse), error);
}

void firn_reaction_reset(firn_sim *sim)
{
    sim->reaction_from = sim->time;
    if (sim->def.collider_count) memset(set(sim, ADVANCE), 0, SETS * set_size(sim));
}

void firn_reaction_reset_one(firn_sim *sim, int32_t collider)
{
    set(sim, ADVANCE)[collider] = (firn_impulse){0};
}

/* ---- blocks ---- */

static void count_task(void *context, int64_t block, int32_t thread)
{
    (void)thread;
    firn_sim *sim = context;
    ((int32_t *)sim->grid.impulse_first.data)[block] =
        firn_grid_note_colliders(sim, block, FIRN_FAR_COLLIDER);
}

static void list_task(void *context, int64_t block, int32_t thread)
{
    (void)thread;
    const firn_sim *sim = context;
    const int32_t *first = sim->grid.impulse_first.data;
    if (first[block] == first[block + 1]) return;
    firn_impulse *to = (firn_impulse *)sim->grid.impulse.data + first[block];
    const firn_posed_collider *c = sim->posed_pool.data;
    double center[3], normal[3];
    int32_t count;
    const int32_t *near = firn_nearby_of(sim, block, &count);
    firn_grid_block_center(sim, sim->at->coord[block], center);
    for (int32_t i = 0; i < count; i++) {
        if (firn_collider_distance(&c[near[i]], sim->store.dim, center, normal) <
            FIRN_FAR_COLLIDER * sim->def.cell_size) {
            *to++ = (firn_impulse){.collider = near[i]};
        }
    }
}

firn_status firn_reaction_list(firn_sim *sim, firn_error *error)
{
    const int32_t blocks = sim->at->count;
    int32_t *first = sim->grid.impulse_first.data;
    int64_t sum = 0;
    firn_status st = firn_nearby_find(sim, error);
    if (st != FIRN_OK) return st;
    firn_workers_run(&sim->workers, blocks, 16, count_task, sim);
    for (int32_t b = 0; b < blocks; b++) {
        const int32_t count = first[b];
        first[b] = (int32_t)sum;
        sum += count;
        if (sum > INT32_MAX) {
            return firn_fail(error, FIRN_NO_MEMORY, "too many colliders near the material");
        }
    }
    first[blocks] = (int32_t)sum;
    st = firn_pool_reserve_slack(sim->allocator, &sim->grid.impulse,
                                 (size_t)sum * sizeof(firn_impulse), error);
    if (st != FIRN_OK) return st;
    firn_workers_run(&sim->workers, blocks, 16, list_task, sim);
    if (sim->def.collider_count) memset(set(sim, STEP), 0, set_size(sim));
    sim->grid.books = true;
    return FIRN_OK;
}

firn_impulses firn_reaction_of(const firn_sim *sim, int64_t block)
{
    const int32_t *first = sim->grid.impulse_first.data;
    if (!sim->grid.books) return (firn_impulses){NULL, 0};
    return (firn_impulses){(firn_impulse *)sim->grid.impulse.data + first[block],
                           first[block + 1] - first[block]};
}

void firn_reaction_book_node(const firn_sim *sim, int64_t block, int n, int32_t collider,
                             const real before[3], const real after[3], real mass)
{
    const firn_impulses to = firn_reaction_of(sim, block);
    double position[3], lost[3] = {0};
    firn_grid_node_position(sim, sim->at->coord[block], n, position);
    for (int a = 0; a < sim->store.dim; a++) {
        lost[a] = (double)mass * ((double)before[a] - (double)after[a]);
    }
    firn_impulse_add(&to, sim->posed_pool.data, collider, position, lost);
}

/* ---- sums ---- */

static void add(firn_impulse *to, const firn_impulse *from)
{
    for (int a = 0; a < 3; a++) {
        to->linear[a] += from->linear[a];
        to->angular[a] += from->angular[a];
    }
}

void firn_reaction_collect(firn_sim *sim)
{
    if (sim->def.collider_count == 0) return;
    firn_impulse *step = set(sim, STEP), *block = sim->grid.impulse.data;
    const int32_t count = ((const int32_t *)sim->grid.impulse_first.data)[sim->at->count];
    for (int32_t i = 0; i < count; i++) {
        add(&step[block[i].collider], &block[i]);
        block[i] = (firn_impulse){.collider = block[i].collider};
    }
}

void firn_reaction_commit(firn_sim *sim)
{
    firn_reaction_collect(sim);
    for (int32_t i = 0; i < sim->def.collider_count; i++) {
        add(&set(sim, ADVANCE)[i], &set(sim, STEP)[i]);
        set(sim, STEP)[i] = (firn_impulse){0};
    }
}

void firn_reaction_keep(firn_sim *sim)
{
    if (sim->def.collider_count) memcpy(set(sim, KEPT), set(sim, ADVANCE), 2 * set_size(sim));
}

void firn_reaction_restore(firn_sim *sim)
{
    if (sim->def.collider_count == 0) return;
    firn_error none;
    const firn_status st = firn_reaction_list(sim, &none); /* there was room for it before */
    assert(st == FIRN_OK);
    (void)st;
    memcpy(set(sim, ADVANCE), set(sim, KEPT), 2 * set_size(sim));
}

firn_status firn_sim_read_reaction(const firn_sim *sim, int32_t collider, firn_reaction *out,
                                   firn_error *error)
{
    if (!firn_sim_is_idle(sim, error)) return FIRN_INVALID;
    firn_status st = firn_host_check_collider(sim, collider, error);
    if (st != FIRN_OK) return st;
    if (!out) return firn_fail(error, FIRN_INVALID, "out is NULL; give a place for the reaction");
    const firn_impulse *taken = &set(sim, ADVANCE)[collider];
    const double seconds = sim->time - sim->reaction_from;
    *out = (firn_reaction){{0}, {0}};
    for (int a = 0; a < 3 && seconds > 0; a++) {
        out->force[a] = taken->linear[a] / seconds;
        out->torque[a] = taken->angular[a] / seconds;
    }
    return FIRN_OK;
}
