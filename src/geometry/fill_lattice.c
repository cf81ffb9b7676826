/* Patterns that take the cells of a lattice one by one: regular, jittered, random. */
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/error.h"
#include "geometry/fill_parts.h"
#include "geometry/random.h"

typedef struct lattice {
    const firn_region *region;
    const firn_fill_def *def;
    firn_seeding *part; /* of each block */
    atomic_int_least64_t count;
} lattice;

/* How many independent random points fall into a cell that holds one on average: Poisson's
 * distribution. */
static int poisson(double u)
{
    double share = exp(-1.0), sum = share;
    int n = 0;
    while (u >= sum && n < 20) {
        n++;
        share /= n;
        sum += share;
    }
    return n;
}

static bool visit(void *context, const firn_fill_cell *cell, int64_t block)
{
    lattice *l = context;
    const firn_fill_def *def = l->def;
    /* Refinement can ask for far more than the volume tells: no use in going on then. */
    if (atomic_load_explicit(&l->count, memory_order_relaxed) > def->most) return false;
    const int64_t *i = cell->index;
    const uint64_t seed = def->seed + (uint64_t)cell->level;
    const int dim = l->region->dimension;
    int points = 1;
    double width = 0;
    if (def->pattern == FIRN_FILL_JITTERED) width = def->jitter;
    if (def->pattern == FIRN_FILL_RANDOM) {
        width = 1;
        points = poisson(firn_unit(firn_random_bits(seed, i[0], i[1], i[2], 0)));
    }
    for (int n = 0; n < points; n++) {
        double p[3] = {0};
        for (int a = 0; a < dim; a++) {
            const double u =
                firn_unit(firn_random_bits(seed, i[0], i[1], i[2], (uint64_t)(3 * n + a + 1)));
            p[a] = cell->low[a] + (0.5 + width * (u - 0.5)) * cell->size;
        }
        if (cell->all_in || firn_region_inside(l->region, p)) {
            firn_seeding_add(&l->part[block], p, cell->level);
            atomic_fetch_add_explicit(&l->count, 1, memory_order_relaxed);
        }
    }
    return true;
}

firn_status firn_fill_lattice(const firn_region *region, const firn_fill_def *def,
                              double separation, firn_seeding *out, firn_error *error)
{
    firn_fill_walk walk;
    firn_status st = firn_fill_walk_plan(region, separation, &walk, error);
    if (st != FIRN_OK) return st;
    lattice l = {.region = region, .def = def};
    l.part = calloc((size_t)walk.block_count, sizeof *l.part);
    if (!l.part) return firn_fail(error, FIRN_NO_MEMORY, "out of memory while filling");
    walk.refine_levels = def->refine_levels;
    walk.refine_distance = def->refine_distance;
    walk.few_points = def->refine_levels == 0;
    walk.visit = visit;
    walk.context = &l;
    firn_fill_walk_run(&walk, def->threads);
    st = firn_seeding_join(l.part, walk.block_count, out, error);
    free(l.part);
    if (st == FIRN_OK && atomic_load(&l.count) > def->most) {
        st = firn_fail(error, FIRN_INVALID,
                       "more than %lld particles; use a larger separation or fewer refine_levels",
                       (long long)def->most);
    }
    return st;
}
