/* Blue noise: Poisson disk sampling until nothing more fits.
 *
 * A grid of cells so small that each holds at most one particle. In rounds, every cell that may still
 * take one proposes a place that keeps its distance from the particles so far; of proposals too near
 * to each other the one with the highest random rank stays, as if darts had been thrown in that order.
 * No cell's answer depends on when the others give theirs, so threads do not matter. Later rounds look
 * for the gaps: a cell is halved until a piece of it is within the distance of one particle, or a dart
 * into it lands well (the idea of Ebeida and others 2012, A simple algorithm for maximal Poisson-disk
 * sampling in high dimensions). A cell with no such piece is done.
 *
 * Refinement: the levels are filled one after the other, the finest first, each in its band of depths;
 * a particle keeps the finer distance from particles of finer levels. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/parallel.h"
#include "scene/fill_parts.h"
#include "scene/random.h"

/* Distance over separation where this fills as densely as a lattice would: measured on large boxes. */
static const double relative_distance[] = {[2] = 0.835, [3] = 0.902};

double firn_fill_blue_distance(int32_t dimension, double separation)
{
    return relative_distance[dimension] * separation;
}

/* A cell's state: a tag, whether it is cut by the surface, and a place within it. */
enum { BITS = 20, PAD = 2, DART_ROUNDS = 4, HALVINGS = 3, MOST_OFFSETS = 125 };
#define TAG_SHIFT 62
#define CUT ((uint64_t)1 << 61)
typedef enum tag { DONE, OPEN, PROPOSED, TAKEN } tag;

static tag tag_of(uint64_t state) { return (tag)(state >> TAG_SHIFT); }
static uint64_t with_tag(uint64_t state, tag t)
{
    return (state & ~((uint64_t)3 << TAG_SHIFT)) | (uint64_t)t << TAG_SHIFT;
}

typedef struct grid {
    const firn_region *region;
    const firn_fill_def *def;
    const struct grid *finer; /* of the next level, or NULL */
    int32_t level;
    double band[2];   /* of depths */
    double origin[3]; /* of the first cell, padding included */
    double side, distance;
    int64_t size[3]; /* cells along each axis, padding included */
    uint64_t *state;
    int32_t offset_count;
    int64_t offset[MOST_OFFSETS]; /* to cells that may hold a particle too near */
    /* Of this round: open cells, what they propose, whether that stays. */
    int64_t open_count, round;
    int64_t *open;
    uint64_t *proposal;
    bool *stays;
} grid;

static void cell_index(const grid *g, int64_t cell, int64_t index[3])
{
    index[0] = cell % g->size[0];
    index[1] = cell / g->size[0] % g->size[1];
    index[2] = cell / g->size[0] / g->size[1];
}

static void place_of(const grid *g, int64_t cell, uint64_t state, double p[3])
{
    int64_t index[3];
    cell_index(g, cell, index);
    p[2] = 0;
    for (int a = 0; a < g->region->dimension; a++) {
        const uint64_t bits = state >> (BITS * a) & (((uint64_t)1 << BITS) - 1);
        const double in = ((double)bits + 0.5) * (1.0 / (1 << BITS));
        p[a] = g->origin[a] + ((double)index[a] + in) * g->side;
    }
}

static double square_between(const double p[3], const double q[3])
{
    double sum = 0;
    for (int a = 0; a < 3; a++) sum += (p[a] - q[a]) * (p[a] - q[a]);
    return sum;
}

/* ---- whether a place will do ---- */

static bool clear_of_finer(const grid *g, const double p[3])
{
    for (const grid *f = g->finer; f; f = f->finer) {
        int64_t cell = 0;
        for (int a = g->region->dimension - 1; a >= 0; a--) {
            const double at = floor((p[a] - f->origin[a]) / f->side);
            const double last = (double)(f->size[a] - 1 - PAD);
            cell = cell * f->size[a] + (int64_t)fmin(fmax(at, PAD), last);
        }
        for (int32_t o = 0; o < f->offset_count; o++) {
            const int64_t other = cell + f->offset[o];
            if (tag_of(f->state[other]) != TAKEN) continue;
            double q[3];
            place_of(f, other, f->state[other], q);
            if (square_between(p, q) < f->distance * f->distance) return false;
        }
    }
    return true;
}

static bool in_band(const grid *g, const double p[3])
{
    if (!firn_region_inside(g->region, p)) return false;
    if (g->band[0] <= 0 && g->band[1] == INFINITY) return true;
    double limit = 0;
    for (int b = 0; b < 2; b++) {
        if (isfinite(g->band[b])) limit = fmax(limit, 2 * g->band[b]);
    }
    const double depth = firn_region_depth(g->region, p, limit);
    return depth >= g->band[0] && depth < g->band[1];
}

/* Particles that may be too near to places in a cell. */
typedef struct crowd {
    int32_t count;
    double at[MOST_OFFSETS][3];
} crowd;

static void gather(const grid *g, int64_t cell, crowd *out)
{
    out->count = 0;
    for (int32_t o = 0; o < g->offset_count; o++) {
        const int64_t other = cell + g->offset[o];
        if (tag_of(g->state[other]) != TAKEN) continue;
        place_of(g, other, g->state[other], out->at[out->count++]);
    }
}

/* A random place in the part of a cell with this corner and size, both in cells. On success, the
 * cell's state with that place. */
static bool throw_dart(const grid *g, int64_t cell, const crowd *near, const double corner[3],
                       double size, uint64_t draw, uint64_t *out)
{
    const int dim = g->region->dimension;
    int64_t index[3];
    cell_index(g, cell, index);
    uint64_t state = g->state[cell] & CUT;
    for (int a = 0; a < dim; a++) {
        const uint64_t hash = firn_hash(g->def->seed + (uint64_t)g->level, index[0], index[1],
                                        index[2], draw * 4 + (uint64_t)a);
        const double in = corner[a] + size * firn_unit(hash);
        state |= (uint64_t)(in * (1 << BITS)) << (BITS * a);
    }
    double p[3];
    place_of(g, cell, state, p);
    for (int32_t i = 0; i < near->count; i++) {
        if (square_between(p, near->at[i]) < g->distance * g->distance) return false;
    }
    if ((state & CUT) && !in_band(g, p)) return false;
    if (!clear_of_finer(g, p)) return false;
    *out = with_tag(state, PROPOSED);
    return true;
}

/* Whether one particle is near enough to all of a part of a cell to keep others out of it. */
static bool covered(const grid *g, int64_t cell, const crowd *near, const double corner[3],
                    double size)
{
    const int dim = g->region->dimension;
    int64_t index[3];
    cell_index(g, cell, index);
    double low[3] = {0}, high[3] = {0};
    for (int a = 0; a < dim; a++) {
        low[a] = g->origin[a] + ((double)index[a] + corner[a]) * g->side;
        high[a] = low[a] + size * g->side;
    }
    for (int32_t i = 0; i < near->count; i++) {
        double far = 0;
        for (int a = 0; a < dim; a++) {
            const double d = fmax(near->at[i][a] - low[a], high[a] - near->at[i][a]);
            far += d * d;
        }
        if (far < g->distance * g->distance) return true;
    }
    return false;
}

/* Halves the cell until a dart lands well or nothing is left. */
static bool search(const grid *g, int64_t cell, const crowd *near, uint64_t *out)
{
    const int dim = g->region->dimension;
    struct part {
        double corner[3];
        double size;
        int depth;
    } stack[8 * HALVINGS + 1] = {{{0}, 1, 0}};
    int count = 1;
    uint64_t draw = (uint64_t)g->round << 16;
    while (count > 0) {
        const struct part part = stack[--count];
        if (covered(g, cell, near, part.corner, part.size)) continue;
        draw++;
        if (throw_dart(g, cell, near, part.corner, part.size, draw, out)) return true;
        if (part.depth == HALVINGS) continue;
        /* In a random order, or gaps would fill from one side. */
        const uint64_t order = firn_mix(draw ^ (uint64_t)cell << 20);
        for (int child = 0; child < 1 << dim; child++) {
            const int turned = child ^ (int)(order & ((1u << dim) - 1));
            struct part *next = &stack[count++];
            *next = (struct part){.size = 0.5 * part.size, .depth = part.depth + 1};
            for (int a = 0; a < dim; a++) {
                next->corner[a] = part.corner[a] + (turned >> a & 1) * next->size;
            }
        }
    }
    return false;
}

/* ---- a round ---- */

enum { GRAIN = 256 };

static void propose(void *context, int64_t i, int32_t thread)
{
    (void)thread;
    grid *g = context;
    const int64_t cell = g->open[i];
    const double all[3] = {0};
    crowd near;
    gather(g, cell, &near);
    uint64_t state = g->state[cell];
    if (g->round < DART_ROUNDS) {
        /* Missing leaves the cell open. */
        throw_dart(g, cell, &near, all, 1, (uint64_t)g->round << 16, &state);
    } else if (!search(g, cell, &near, &state)) {
        state = with_tag(state, DONE);
    }
    g->proposal[i] = state;
}

static void publish(void *context, int64_t i, int32_t thread)
{
    (void)thread;
    grid *g = context;
    g->state[g->open[i]] = g->proposal[i];
}

static uint64_t rank(const grid *g, int64_t cell)
{
    return firn_mix(g->state[cell] ^ firn_mix((uint64_t)cell + g->def->seed));
}

static void compare(void *context, int64_t i, int32_t thread)
{
    (void)thread;
    grid *g = context;
    const int64_t cell = g->open[i];
    g->stays[i] = tag_of(g->state[cell]) == PROPOSED;
    if (!g->stays[i]) return;
    double p[3], q[3];
    place_of(g, cell, g->state[cell], p);
    const uint64_t mine = rank(g, cell);
    for (int32_t o = 0; o < g->offset_count; o++) {
        const int64_t other = cell + g->offset[o];
        if (other == cell || tag_of(g->state[other]) != PROPOSED) continue;
        place_of(g, other, g->state[other], q);
        if (square_between(p, q) >= g->distance * g->distance) continue;
        const uint64_t theirs = rank(g, other);
        if (theirs > mine || (theirs == mine && other < cell)) {
            g->stays[i] = false;
            return;
        }
    }
}

static void settle(void *context, int64_t i, int32_t thread)
{
    (void)thread;
    grid *g = context;
    uint64_t *state = &g->state[g->open[i]];
    if (tag_of(*state) == PROPOSED) *state = with_tag(*state, g->stays[i] ? TAKEN : OPEN);
}

static void run_rounds(grid *g)
{
    const int32_t threads = g->def->threads;
    for (g->round = 0; g->open_count > 0; g->round++) {
        firn_parallel_for(threads, g->open_count, GRAIN, propose, g);
        firn_parallel_for(threads, g->open_count, GRAIN, publish, g);
        firn_parallel_for(threads, g->open_count, GRAIN, compare, g);
        firn_parallel_for(threads, g->open_count, GRAIN, settle, g);
        int64_t left = 0;
        for (int64_t i = 0; i < g->open_count; i++) {
            if (tag_of(g->state[g->open[i]]) == OPEN) g->open[left++] = g->open[i];
        }
        g->open_count = left;
    }
}

/* ---- one level ---- */

static void mark_cell(void *context, const firn_walk_cell *cell, int64_t part)
{
    (void)part;
    grid *g = context;
    int64_t at = 0;
    for (int a = 2; a >= 0; a--) {
        const int64_t pad = a < g->region->dimension ? PAD : 0;
        if (cell->index[a] >= g->size[a] - 2 * pad) return; /* beyond the bounds */
        at = at * g->size[a] + cell->index[a] + pad;
    }
    g->state[at] = with_tag(cell->all_in ? 0 : CUT, OPEN);
}

/* Cells at most two away whose nearest corners are nearer than the diagonal of a cell. */
static void find_offsets(grid *g)
{
    const int dim = g->region->dimension, deep = dim == 3 ? 2 : 0;
    for (int z = -deep; z <= deep; z++) {
        for (int y = -2; y <= 2; y++) {
            for (int x = -2; x <= 2; x++) {
                const int apart = (abs(x) == 2) + (abs(y) == 2) + (abs(z) == 2);
                if (apart >= dim) continue;
                g->offset[g->offset_count++] = (z * g->size[1] + y) * g->size[0] + x;
            }
        }
    }
}

static firn_status make_grid(grid *g, double separation, firn_error *error)
{
    const int dim = g->region->dimension;
    g->distance = firn_fill_blue_distance(dim, separation);
    g->side = g->distance / sqrt((double)dim);
    firn_walk walk;
    firn_status st = firn_walk_plan(g->region, g->side, &walk, error);
    if (st != FIRN_OK) return st;
    double cells = 1;
    for (int a = 0; a < 3; a++) {
        const int64_t pad = a < dim ? PAD : 0;
        g->size[a] = walk.cells[a] + 2 * pad;
        g->origin[a] = walk.origin[a] - (double)pad * g->side;
        cells *= (double)g->size[a];
    }
    if (cells > 0x1p32) {
        return firn_fail(error, FIRN_INVALID,
                         "blue noise needs a grid of %.3g cells over the object's bounds, 4.3e9 at "
                         "most; use a larger separation or the jittered pattern",
                         cells);
    }
    find_offsets(g);
    const int64_t total = (int64_t)cells;
    g->state = calloc((size_t)total, sizeof *g->state);
    if (!g->state) {
        return firn_fail(error, FIRN_NO_MEMORY, "out of memory for %.3g cells of blue noise",
                         cells);
    }
    memcpy(walk.band, g->band, sizeof walk.band);
    walk.visit = mark_cell;
    walk.context = g;
    firn_walk_run(&walk, g->def->threads);
    for (int64_t c = 0; c < total; c++) g->open_count += tag_of(g->state[c]) == OPEN;
    const size_t room = (size_t)g->open_count + 1;
    g->open = malloc(room * sizeof *g->open);
    g->proposal = malloc(room * sizeof *g->proposal);
    g->stays = malloc(room * sizeof *g->stays);
    if (!g->open || !g->proposal || !g->stays) {
        return firn_fail(error, FIRN_NO_MEMORY, "out of memory for %.3g cells of blue noise",
                         cells);
    }
    int64_t count = 0;
    for (int64_t c = 0; c < total; c++) {
        if (tag_of(g->state[c]) == OPEN) g->open[count++] = c;
    }
    return FIRN_OK;
}

static void free_lists(grid *g)
{
    free(g->open);
    free(g->proposal);
    free(g->stays);
    g->open = NULL, g->proposal = NULL, g->stays = NULL;
}

firn_status firn_fill_blue(const firn_region *region, const firn_fill_def *def, double separation,
                           firn_seeding *out, firn_error *error)
{
    grid grids[FIRN_FILL_LEVELS + 1] = {{0}};
    firn_status st = FIRN_OK;
    for (int32_t level = def->refine_levels; level >= 0 && st == FIRN_OK; level--) {
        grid *g = &grids[level];
        const double reach = def->refine_distance;
        *g = (grid){
            .region = region,
            .def = def,
            .level = level,
            .finer = level < def->refine_levels ? &grids[level + 1] : NULL,
            .band = {level < def->refine_levels ? ldexp(reach, -level) : -INFINITY,
                     level > 0 ? ldexp(reach, 1 - level) : INFINITY},
        };
        st = make_grid(g, ldexp(separation, -level), error);
        if (st == FIRN_OK) run_rounds(g);
        free_lists(g);
    }
    for (int32_t level = 0; level <= def->refine_levels; level++) {
        grid *g = &grids[level];
        const int64_t total = g->state ? g->size[0] * g->size[1] * g->size[2] : 0;
        for (int64_t c = 0; c < total && st == FIRN_OK; c++) {
            if (tag_of(g->state[c]) != TAKEN) continue;
            double p[3];
            place_of(g, c, g->state[c], p);
            firn_seeding_add(out, p, level);
        }
        free(g->state);
    }
    if (st == FIRN_OK && out->failed) {
        st = firn_fail(error, FIRN_NO_MEMORY, "out of memory while filling");
    }
    return st;
}
