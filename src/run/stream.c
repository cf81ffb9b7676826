/* Streams.
 *
 * Jitter across the column keeps each particle in its own cell, as fillings do. Along it, cells are out of step by
 * parts of a layer that a golden ratio spreads evenly (in a plane, its generalisation, the root of x^3 = x + 1), so
 * that no layer hits the ground as one; jitter adds half a layer to that. What remains of it is the order: equal
 * intervals give the flow to the particle. */
#include "run/stream.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "geometry/random.h"

enum { PARTS = 8, TRIES = 16, MOST_CELLS = 1 << 24 };

static double unit_of(const firn_stream *s, int64_t layer, int64_t index, uint64_t draw)
{
    return firn_unit(firn_random_bits(s->def.seed, layer, index, 0, draw));
}

double firn_stream_draw(const firn_stream *s, int64_t layer, int32_t index, uint64_t draw)
{
    return unit_of(s, layer, index, draw);
}

/* ---- the outline ---- */

/* Where the line through a place of the outline enters the region; false: it misses it. */
static bool enter(const firn_stream *s, const double place[2], double out[3])
{
    const double least = 0.05 * s->def.separation; /* m, of steps */
    double from[3], x[3], before = 0, at = 0;
    for (int a = 0; a < 3; a++) {
        from[a] = s->corner[a] + place[0] * s->across[0][a] + place[1] * s->across[1][a];
    }
    while (at <= s->extent + least) {
        for (int a = 0; a < 3; a++) x[a] = from[a] + at * s->along[a];
        const double distance = firn_region_distance(s->region, x, s->extent);
        if (distance < 0) break;
        before = at;
        at += fmax(distance, least);
    }
    if (at > s->extent + least) return false;
    for (int i = 0; i < 8 && before < at; i++) {
        const double middle = 0.5 * (before + at);
        for (int a = 0; a < 3; a++) x[a] = from[a] + middle * s->along[a];
        if (firn_region_distance(s->region, x, s->extent) < 0) {
            at = middle;
        } else {
            before = middle;
        }
    }
    for (int a = 0; a < 3; a++) out[a] = from[a] + at * s->along[a];
    return true;
}

static void place_in(const firn_stream *s, const firn_stream_cell *c, double u, double v,
                     double out[2])
{
    out[0] = (c->index[0] + u) * s->spacing[0];
    out[1] = (c->index[1] + v) * s->spacing[1];
}

/* How much of a cell the outline covers, 0 to 1; asked in the middle and near the corners first. */
static double cover(const firn_stream *s, firn_stream_cell *c)
{
    const int deep = s->region->dimension == 3 ? PARTS : 1;
    double x[3], place[2];
    int hits = 0;
    for (int i = 0; i < 5; i++) {
        const double u = i < 4 ? 0.05 + 0.9 * (i & 1) : 0.5,
                     v = i < 4 ? 0.05 + 0.45 * (i & 2) : 0.5;
        place_in(s, c, u, v, place);
        if (!enter(s, place, x)) continue;
        memcpy(c->inside, place, sizeof place);
        hits++;
    }
    if (hits == 0 || hits == 5) return hits / 5;
    const int across = PARTS * PARTS / deep;
    int within = 0;
    for (int i = 0; i < across * deep; i++) {
        place_in(s, c, (i % across + 0.5) / across, (i / across + 0.5) / deep, place);
        within += enter(s, place, x);
    }
    return fmax(within, 1) / (across * deep);
}

/* Axes across the motion, the first as near to one of the world's as can be, and bounds along all. */
static void find_frame(firn_stream *s, double size[2])
{
    const firn_region *r = s->region;
    const int dim = r->dimension;
    double speed = 0, low[3], high[3];
    for (int a = 0; a < 3; a++) speed = hypot(speed, s->def.velocity[a]);
    for (int a = 0; a < 3; a++) s->along[a] = s->def.velocity[a] / speed;
    const double *d = s->along;
    if (dim == 2) {
        memcpy(s->across[0], (double[3]){-d[1], d[0], 0}, sizeof s->across[0]);
    } else {
        int least = 0;
        double length = 0;
        for (int a = 1; a < 3; a++) {
            if (fabs(d[a]) < fabs(d[least])) least = a;
        }
        double *e = s->across[0], *f = s->across[1];
        for (int a = 0; a < 3; a++) e[a] = (a == least) - d[least] * d[a];
        for (int a = 0; a < 3; a++) length = hypot(length, e[a]);
        for (int a = 0; a < 3; a++) e[a] /= length;
        for (int a = 0; a < 3; a++) {
            const int b = (a + 1) % 3, c = (a + 2) % 3;
            f[a] = d[b] * e[c] - d[c] * e[b];
        }
    }
    const double *axis[3] = {s->across[0], s->across[1], s->along};
    for (int k = 0; k < 3; k++) {
        low[k] = high[k] = 0;
        for (int a = 0; a < dim; a++) {
            const double one = axis[k][a] * r->low[a], other = axis[k][a] * r->high[a];
            low[k] += fmin(one, other);
            high[k] += fmax(one, other);
        }
    }
    for (int a = 0; a < 3; a++) {
        s->corner[a] = low[0] * axis[0][a] + low[1] * axis[1][a] + low[2] * axis[2][a];
    }
    s->extent = high[2] - low[2];
    for (int k = 0; k < 2; k++) size[k] = high[k] - low[k];
}

static firn_status find_cells(firn_stream *s, const double size[2], firn_error *error)
{
    int64_t cells[2] = {1, 1};
    const int wide = s->region->dimension - 1;
    s->spacing[1] = 0;
    for (int k = 0; k < wide; k++) { /* as many as fit best */
        const double fit = fmin(fmax(rint(size[k] / s->def.separation), 1), MOST_CELLS);
        cells[k] = (int64_t)fit;
        s->spacing[k] = size[k] / fit;
    }
    if (cells[0] * cells[1] > MOST_CELLS) {
        return firn_fail(
            error, FIRN_INVALID,
            "a layer of the stream would have %.3g particles, %d at most; use a larger "
            "separation",
            (double)(cells[0] * cells[1]), MOST_CELLS);
    }
    s->cell = malloc((size_t)(cells[0] * cells[1]) * sizeof *s->cell);
    if (!s->cell) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    double sum = 0, cell = 1, length = 1;
    for (int64_t i = 0; i < cells[0] * cells[1]; i++) {
        firn_stream_cell *c = &s->cell[s->cell_count];
        *c = (firn_stream_cell){.index = {(int32_t)(i % cells[0]), (int32_t)(i / cells[0])}};
        const double share = cover(s, c);
        if (share == 0) continue;
        c->upto = sum += share;
        s->cell_count++;
    }
    if (s->cell_count == 0) {
        return firn_fail(error, FIRN_INVALID,
                         "the stream would have no particle: make the shape larger or resolution "
                         "finer");
    }
    for (int k = 0; k < wide; k++) cell *= s->spacing[k];
    for (int k = 0; k < wide; k++) length = wide == 1 ? s->spacing[0] : sqrt(cell);
    s->count = (int32_t)fmax(rint(sum), 1);
    s->area = sum * cell;
    /* What is as thick everywhere is exactly so wide. */
    const double even = s->region->volume / s->extent;
    if (fabs(s->area - even) < 0.02 * even) s->area = even;
    s->volume = s->area * length / s->count;
    return FIRN_OK;
}

firn_status firn_stream_open(firn_stream *s, const firn_region *region, const firn_stream_def *def,
                             firn_error *error)
{
    *s = (firn_stream){.def = *def, .region = region, .made = -1};
    double size[2], speed = 0;
    find_frame(s, size);
    const firn_status st = find_cells(s, size, error);
    if (st != FIRN_OK) return st;
    s->slot = malloc((size_t)s->count * sizeof *s->slot);
    if (!s->slot) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    for (int a = 0; a < 3; a++) speed = hypot(speed, def->velocity[a]);
    s->seconds = s->count * s->volume / (s->area * speed);
    if (s->seconds >= 1e-9) return FIRN_OK;
    return firn_fail(error, FIRN_INVALID,
                     "a layer of particles would enter every %.3g s; 1e-9 s is the least: use a "
                     "lower velocity",
                     s->seconds);
}

void firn_stream_close(firn_stream *s)
{
    free(s->cell);
    free(s->slot);
    *s = (firn_stream){0};
}

/* ---- layers ---- */

static int by_depth(const void *a, const void *b)
{
    const firn_stream_slot *p = a, *q = b;
    if (p->depth != q->depth) return p->depth < q->depth ? -1 : 1;
    return (p->cell > q->cell) - (p->cell < q->cell);
}

/* Each cell has as many particles as its share says, on average; one that is wholly covered has one. */
static void make_layer(firn_stream *s, int64_t layer)
{
    static const double step[2][2] = {{0.6180339887498949, 0},
                                      {0.7548776662466927, 0.5698402909980532}};
    const double *phase = step[s->region->dimension == 3];
    const bool random = s->def.pattern == FIRN_FILL_RANDOM,
               jittered = s->def.pattern == FIRN_FILL_JITTERED;
    const double each = s->cell[s->cell_count - 1].upto / s->count,
                 first = random || jittered ? unit_of(s, layer, -1, 0) : 0.5;
    int32_t cell = 0;
    for (int32_t i = 0; i < s->count; i++) {
        const double place = random ? unit_of(s, layer, i, 0) * s->count : i + first;
        if (random) cell = 0;
        while (cell < s->cell_count - 1 && s->cell[cell].upto <= place * each) cell++;
        const firn_stream_cell *c = &s->cell[cell];
        const double own = c->index[0] * phase[0] + c->index[1] * phase[1],
                     u = unit_of(s, layer, i, 1);
        s->slot[i].cell = cell;
        s->slot[i].depth = random ? u : own - floor(own) + (jittered ? 0.5 * u : 0);
    }
    qsort(s->slot, (size_t)s->count, sizeof *s->slot, by_depth);
    s->made = layer;
}

void firn_stream_enter(firn_stream *s, int64_t layer, int32_t index, double position[3])
{
    if (s->made != layer) make_layer(s, layer);
    const firn_stream_cell *c = &s->cell[s->slot[index].cell];
    const double width = s->def.pattern == FIRN_FILL_REGULAR ? 0 : 1;
    double place[2];
    for (uint64_t i = 0; i < TRIES; i++) {
        const double u = unit_of(s, layer, index, 8 + 2 * i),
                     v = unit_of(s, layer, index, 9 + 2 * i);
        place_in(s, c, 0.5 + width * (u - 0.5), 0.5 + width * (v - 0.5), place);
        if (enter(s, place, position)) return;
    }
    if (!enter(s, c->inside, position)) memcpy(position, s->corner, sizeof s->corner); /* never */
}
