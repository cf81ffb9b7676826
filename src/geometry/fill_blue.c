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
#include "base/memory.h"
#include "base/parallel.h"
#include "geometry/fill_parts.h"
#include "geometry/random.h"

/* Distance over separation where this fills as densely as a lattice would: measured on large boxes. */
static const double relative_distance[] = {[2] = 0.807, [3] = 0.88};

double firn_fill_blue_distance(int32_t dimension, double separation)
{
    return relative_distance[dimension] * separation;
}

/* A cell's state: a tag, whether it is cut by the surface, and a place within it. */
enum { BITS = 20, PAD = 2, DART_ROUNDS = 2, HALVINGS = 2, MOST_OFFSETS = 125 };
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
    int32_t level, offset_count;
    double band[2];   /* of depths */
    double origin[3]; /* of the first cell, padding included */
    double side, distance;
    int64_t size[3]; /* cells along each axis, padding included */
    uint64_t *state;
    /* offset_count of them: to cells that may hold a particle too near: along the axes, and in the array. */
    int8_t step[MOST_OFFSETS][3];
    int64_t offset[MOST_OFFSETS];
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

/* Within the cell, in cells. In 2D z is the middle. */
static void place_within(uint64_t state, double in[3])
{
    for (int a = 0; a < 3; a++) {
        const uint64_t bits = state >> (BITS * a) & (((uint64_t)1 << BITS) - 1);
        in[a] = ((double)bits + 0.5) * (1.0 / (1 << BITS));
    }
}

/* In the world. */
static void place_of(const grid *g, int64_t cell, uint64_t state, double p[3])
{
    int64_t index[3];
    cell_index(g, cell, index);
    place_within(state, p);
    for (int a = 0; a < g->region->dimension; a++) {
        p[a] = g->origin[a] + ((double)index[a] + p[a]) * g->side;
    }
    if (g->region->dimension == 2) p[2] = 0;
}

/* A cell's diagonal is the distance: squared and in cells, the dimension; a little more, since places
 * are rounded on their way to the world. */
static double least_square(const grid *g) { return g->region->dimension * (1 + 1e-9); }

/* ---- whether a place will do ---- */

/* Of a place in the world: whether no particle of a finer level is too near. */
static bool clear_of_finer(const grid *g, const double p[3])
{
    for (const grid *f = g->finer; f; f = f->finer) {
        int64_t cell = 0;
        double in[3] = {0};
        for (int a = g->region->dimension - 1; a >= 0; a--) {
            const double at = (p[a] - f->origin[a]) / f->side;
            const double last = (double)(f->size[a] - 1 - PAD);
            const double low = fmin(fmax(floor(at), PAD), last);
            cell = cell * f->size[a] + (int64_t)low;
            in[a] = at - low;
        }
        for (int32_t o = 0; o < f->offset_count; o++) {
            const uint64_t state = f->state[cell + f->offset[o]];
            if (tag_of(state) != TAKEN) continue;
            double q[3], square = 0;
            place_within(state, q);
            for (int a = 0; a < g->region->dimension; a++) {
                const double d = q[a] + f->step[o][a] - in[a];
                square += d * d;
            }
            if (square < least_square(f)) return false;
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

/* Particles that may be too near to places in a cell; from its corner, in cells. */
typedef struct crowd {
    int32_t count;
    double at[MOST_OFFSETS][3];
} crowd;

static void gather(const grid *g, int64_t cell, crowd *out)
{
    out->count = 0;
    for (int32_t o = 0; o < g->offset_count; o++) {
        const uint64_t state = g->state[cell + g->offset[o]];
        if (tag_of(state) != TAKEN) continue;
        double *at = out->at[out->count++];
        place_within(state, at);
        for (int a = 0; a < 3; a++) at[a] += g->step[o][a];
    }
}

/* Part of a cell, in cells. In 2D places are in the middle of z, and so are parts, of no size there:
 * then loops can run over three axes, which takes a third of the time that a variable number does. */
typedef struct part {
    double corner[3], size[3];
} part;

static part whole_cell(const grid *g)
{
    if (g->region->dimension == 3) return (part){.size = {1, 1, 1}};
    return (part){.corner = {0, 0, 0.5}, .size = {1, 1, 0}};
}

/* A random place in a part of a cell. If it will do, the cell's state with that place. */
static bool throw_dart(const grid *g, int64_t cell, const crowd *near, const part *in,
                       uint64_t hash, uint64_t *out)
{
    uint64_t state = g->state[cell] & CUT;
    for (int a = 0; a < 3; a++) {
        const double u = (double)(hash >> (BITS * a) & (((uint64_t)1 << BITS) - 1));
        state |= (uint64_t)(in->corner[a] * (1 << BITS) + in->size[a] * u) << (BITS * a);
    }
    double p[3];
    place_within(state, p);
    for (int32_t i = 0; i < near->count; i++) {
        double square = 0;
        for (int a = 0; a < 3; a++) {
            square += (near->at[i][a] - p[a]) * (near->at[i][a] - p[a]);
        }
        if (square < least_square(g)) return false;
    }
    if ((state & CUT) || g->finer) {
        place_of(g, cell, state, p);
        if (!clear_of_finer(g, p)) return false; /* asked first, since it costs less */
        if ((state & CUT) && !in_band(g, p)) return false;
    }
    *out = with_tag(state, PROPOSED);
    return true;
}

/* Those of a crowd that reach into a part; false when one of them keeps all of it to itself. */
static bool reaching(const grid *g, const crowd *all, const part *in, crowd *out)
{
    const int dim = g->region->dimension;
    out->count = 0;
    for (int32_t i = 0; i < all->count; i++) {
        double nearest = 0, farthest = 0;
        for (int a = 0; a < 3; a++) {
            const double below = in->corner[a] - all->at[i][a];
            const double above = all->at[i][a] - in->corner[a] - in->size[a];
            const double off = below > above ? below : above, gap = off > 0 ? off : 0;
            const double far = in->size[a] + off;
            nearest += gap * gap;
            farthest += far * far;
        }
        if (farthest < dim) return false;
        if (nearest < least_square(g)) {
            memcpy(out->at[out->count++], all->at[i], sizeof out->at[0]);
        }
    }
    return true;
}

static part child_of(const part *whole, int child)
{
    part half;
    for (int a = 0; a < 3; a++) {
        half.size[a] = 0.5 * whole->size[a];
        half.corner[a] = whole->corner[a] + (child >> a & 1) * half.size[a];
    }
    return half;
}

/* Halves a part until a dart lands well or nothing is left. */
static bool search(const grid *g, int64_t cell, const crowd *all, const part *in, int depth,
                   uint64_t *draw, uint64_t *out)
{
    crowd near;
    if (!reaching(g, all, in, &near)) return false;
    const uint64_t hash = firn_mix((*draw)++);
    if (throw_dart(g, cell, &near, in, hash, out)) return true;
    if (depth == HALVINGS) return false;
    /* In a random order, or gaps would fill from one side. */
    const int dim = g->region->dimension, turn = (int)(hash >> 61) & ((1 << dim) - 1);
    for (int child = 0; child < 1 << dim; child++) {
        const part half = child_of(in, child ^ turn);
        if (search(g, cell, &near, &half, depth + 1, draw, out)) return true;
    }
    return false;
}

/* A dart into each part of a halved cell: where the surface cuts the cell every dart asks for it, and no
 * promise is made. */
static bool search_cut(const grid *g, int64_t cell, const crowd *near, uint64_t draw, uint64_t *out)
{
    const part whole = whole_cell(g);
    for (int child = 0; child < 1 << g->region->dimension; child++) {
        const part half = child_of(&whole, child);
        if (throw_dart(g, cell, near, &half, firn_mix(draw + (uint64_t)child), out)) return true;
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
    int64_t index[3];
    cell_index(g, cell, index);
    uint64_t draw = firn_random_bits(g->def->seed + (uint64_t)g->level, index[0], index[1],
                                     index[2], (uint64_t)g->round);
    const part whole = whole_cell(g);
    crowd near;
    near.count = 0;
    if (g->round > 0) gather(g, cell, &near);
    uint64_t state = g->state[cell];
    if (g->round < DART_ROUNDS) {
        throw_dart(g, cell, &near, &whole, draw, &state); /* missing leaves the cell open */
    } else if (state & CUT ? !search_cut(g, cell, &near, draw, &state)
                           : !search(g, cell, &near, &whole, 0, &draw, &state)) {
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
    place_within(g->state[cell], p);
    const uint64_t mine = rank(g, cell);
    for (int32_t o = 0; o < g->offset_count; o++) {
        const int64_t other = cell + g->offset[o];
        if (other == cell || tag_of(g->state[other]) != PROPOSED) continue;
        place_within(g->state[other], q);
        double square = 0;
        for (int a = 0; a < 3; a++) {
            const double d = q[a] + g->step[o][a] - p[a];
            square += d * d;
        }
        if (square >= least_square(g)) continue;
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

static bool mark_cell(void *context, const firn_fill_cell *cell, int64_t block)
{
    (void)block;
    grid *g = context;
    int64_t at = 0;
    for (int a = 2; a >= 0; a--) {
        const int64_t pad = a < g->region->dimension ? PAD : 0;
        if (cell->index[a] >= g->size[a] - 2 * pad) return true; /* beyond the bounds */
        at = at * g->size[a] + cell->index[a] + pad;
    }
    g->state[at] = with_tag(cell->all_in ? 0 : CUT, OPEN);
    return true;
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
                const int8_t step[3] = {(int8_t)x, (int8_t)y, (int8_t)z};
                memcpy(g->step[g->offset_count], step, sizeof step);
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
    firn_fill_walk walk;
    firn_status st = firn_fill_walk_plan(g->region, g->side, &walk, error);
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
    st = firn_memory_check(cells * sizeof *g->state, "the grid of blue noise", error);
    if (st != FIRN_OK) return st;
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
    firn_fill_walk_run(&walk, g->def->threads);
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
