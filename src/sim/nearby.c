/* Which colliders can matter to a block: all that come within FIRN_NEARBY cells of its centre, and a few more.
 *
 * The blocks, whose order keeps neighbours together, are halved again and again; each half keeps those
 * colliders of the whole that come near it. Colliders that are far from everything cost one look a step. */
#include <math.h>

#include "sim/sim.h"

enum {
    LEAF = 8,
    DEPTH = 34
}; /* blocks that share a list; levels of halving, with room for all of them */

#define SPARE 1.05 /* distances from meshes err by a part of a voxel */

typedef struct finder {
    firn_sim *sim;
    firn_nearby_range *range;
    int32_t *kept;  /* what each level keeps, one behind the other */
    int32_t listed; /* in the pool */
    firn_error *error;
} finder;

/* The ball around the blocks from `first` up to `last`: its centre, m, and its radius, cells. */
static double ball_of(const firn_sim *sim, int32_t first, int32_t last, double center[3])
{
    const int dim = sim->store.dim;
    int32_t low[3], high[3];
    double lower[3], upper[3], square = 0;
    for (int a = 0; a < 3; a++) low[a] = high[a] = sim->at->coord[first][a];
    for (int32_t b = first + 1; b < last; b++) {
        for (int a = 0; a < dim; a++) {
            const int32_t c = sim->at->coord[b][a];
            low[a] = c < low[a] ? c : low[a];
            high[a] = c > high[a] ? c : high[a];
        }
    }
    firn_grid_block_center(sim, low, lower);
    firn_grid_block_center(sim, high, upper);
    for (int a = 0; a < 3; a++) {
        center[a] = 0.5 * (lower[a] + upper[a]);
        square += (center[a] - lower[a]) * (center[a] - lower[a]);
    }
    return sqrt(square) / sim->def.cell_size;
}

/* Gives a range of blocks those of `count` colliders that come near; `from` NULL: of all. */
static firn_status find(finder *f, int32_t first, int32_t last, const int32_t *from, int32_t count)
{
    firn_sim *sim = f->sim;
    const firn_posed_collider *c = sim->posed_pool.data;
    int32_t *kept = f->kept, n = 0;
    double center[3], normal[3];
    const double reach =
        SPARE * (ball_of(sim, first, last, center) + FIRN_NEARBY) * sim->def.cell_size;
    for (int32_t i = 0; i < count; i++) {
        const int32_t k = from ? from[i] : i;
        if (firn_collider_distance(&c[k], sim->store.dim, center, normal) < reach) kept[n++] = k;
    }
    if (n > 0 && last - first > LEAF) {
        const int32_t middle = first + (last - first) / 2;
        f->kept += n;
        firn_status st = find(f, first, middle, kept, n);
        if (st == FIRN_OK) st = find(f, middle, last, kept, n);
        f->kept = kept;
        return st;
    }
    if (f->listed > INT32_MAX - n) {
        return firn_fail(f->error, FIRN_NO_MEMORY, "too many colliders near the material");
    }
    const firn_status st = firn_pool_reserve_slack(
        sim->allocator, &sim->nearby.list, (size_t)(f->listed + n) * sizeof(int32_t), f->error);
    if (st != FIRN_OK) return st;
    for (int32_t i = 0; i < n; i++) ((int32_t *)sim->nearby.list.data)[f->listed + i] = kept[i];
    for (int32_t b = first; b < last; b++) f->range[b] = (firn_nearby_range){f->listed, n};
    f->listed += n;
    return FIRN_OK;
}

firn_status firn_nearby_find(firn_sim *sim, firn_error *error)
{
    const int32_t count = sim->def.collider_count, blocks = sim->at->count;
    firn_status st =
        firn_pool_reserve_slack(sim->allocator, &sim->nearby.range,
                                (size_t)(blocks + 1) * sizeof(firn_nearby_range), error);
    if (st == FIRN_OK) {
        st = firn_pool_reserve(sim->allocator, &sim->nearby.kept,
                               FIRN_NEARBY_KEPT(count), error);
    }
    if (st != FIRN_OK || blocks == 0) return st;
    finder f = {
        .sim = sim, .range = sim->nearby.range.data, .kept = sim->nearby.kept.data, .error = error};
    return find(&f, 0, blocks, NULL, count);
}

const int32_t *firn_nearby_of(const firn_sim *sim, int64_t block, int32_t *count)
{
    *count = 0;
    if (sim->def.collider_count == 0) return NULL; /* nothing was looked for */
    const firn_nearby_range *range = (const firn_nearby_range *)sim->nearby.range.data + block;
    *count = range->count;
    return (const int32_t *)sim->nearby.list.data + range->first;
}

void firn_nearby_free(firn_nearby *n, const firn_allocator *allocator)
{
    firn_pool_free(allocator, &n->range);
    firn_pool_free(allocator, &n->list);
    firn_pool_free(allocator, &n->kept);
}
