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

enum { PARTS = 8, TRIES = 16 };
static const double pi = 3.14159265358979323846;
static const double rounding =
    1e-6; /* a part: which of two that are alike must not depend on how they are turned */
enum { DRAW_FIRST, DRAW_DEPTH, DRAW_PLACE = 8, DRAW_SPEED = 64 }; /* numbers by chance */

static double unit_of(const firn_stream *s, int64_t layer, int64_t index, uint64_t draw)
{
    return firn_unit(firn_random_bits(s->def.seed, layer, index, 0, draw));
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

/* Axes across a direction, the first as near to one of the shape's own as can be: they turn with the shape, so all
 * copies have the same outline. */
static void find_across(const firn_affine *shape, const double d[3], int dim, double across[2][3])
{
    if (dim == 2) {
        memcpy(across[0], (double[3]){-d[1], d[0], 0}, sizeof across[0]);
        return;
    }
    double own[3] = {0}, least = INFINITY, part = 0, length = 0;
    for (int k = 0; k < 3; k++) {
        double axis[3], along = 0, norm = 0;
        for (int a = 0; a < 3; a++) axis[a] = shape->matrix[a][k];
        for (int a = 0; a < 3; a++) norm = hypot(norm, axis[a]);
        for (int a = 0; a < 3; a++) along += d[a] * axis[a] / norm;
        if (fabs(along) > least - rounding) continue; /* a tie goes to the first */
        least = fabs(along);
        part = along;
        for (int a = 0; a < 3; a++) own[a] = axis[a] / norm;
    }
    double *e = across[0], *f = across[1];
    for (int a = 0; a < 3; a++) e[a] = own[a] - part * d[a];
    for (int a = 0; a < 3; a++) length = hypot(length, e[a]);
    for (int a = 0; a < 3; a++) e[a] /= length;
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        f[a] = d[b] * e[c] - d[c] * e[b];
    }
}

/* The frame of a column, and its bounds. */
static void find_frame(firn_stream *s)
{
    const firn_region *r = s->region;
    firn_affine seen = r->affine; /* from the shape's own axes to those of the frame */
    double low[3], high[3];
    find_across(&r->affine, s->along, r->dimension, s->across);
    const double *axis[3] = {s->across[0], s->across[1], s->along};
    for (int k = 0; k < 3; k++) {
        seen.offset[k] = 0;
        for (int a = 0; a < 3; a++) seen.offset[k] += axis[k][a] * r->affine.offset[a];
        for (int c = 0; c < 3; c++) {
            seen.matrix[k][c] = 0;
            for (int a = 0; a < 3; a++) seen.matrix[k][c] += axis[k][a] * r->affine.matrix[a][c];
        }
    }
    firn_affine_bounds(&seen, r->own_low, r->own_high, low, high);
    for (int a = 0; a < 3; a++) {
        s->corner[a] = low[0] * axis[0][a] + low[1] * axis[1][a] + low[2] * axis[2][a];
    }
    s->extent = high[2] - low[2];
    for (int k = 0; k < 2; k++) s->size[k] = high[k] - low[k];
}

/* How far from the middle the outline reaches, as from_middle has it: looked for along rays, from outside. */
static double find_reach(const firn_stream *s)
{
    enum { RAYS = 64, STEPS = 64, HALVES = 24 };
    const int rays = s->region->dimension == 3 ? RAYS : 2;
    double reach = 0, x[3];
    for (int ray = 0; ray < rays; ray++) {
        const double c = cos(2 * pi * ray / rays), d = sin(2 * pi * ray / rays);
        double out = 1.5, in = 0;
        for (int i = STEPS; i > 0 && in == 0; i--) {
            const double at = 1.5 * i / STEPS, place[2] = {0.5 * s->size[0] * (1 + at * c),
                                                           0.5 * s->size[1] * (1 + at * d)};
            *(enter(s, place, x) ? &in : &out) = at;
        }
        for (int i = 0; i < HALVES && in > 0; i++) {
            const double at = 0.5 * (in + out), place[2] = {0.5 * s->size[0] * (1 + at * c),
                                                            0.5 * s->size[1] * (1 + at * d)};
            *(enter(s, place, x) ? &in : &out) = at;
        }
        reach = fmax(reach, in);
    }
    return reach > 0 ? reach : 1;
}

static firn_status find_column(firn_stream *s, firn_error *error)
{
    const double *size = s->size;
    find_frame(s);
    int64_t cells[2] = {1, 1};
    const int wide = s->region->dimension - 1;
    s->spacing[1] = 0;
    for (int k = 0; k < wide; k++) { /* as many as fit best */
        const double fit =
            fmin(fmax(rint(size[k] / s->def.separation * (1 - rounding)), 1), FIRN_STREAM_CELLS);
        cells[k] = (int64_t)fit;
        s->spacing[k] = size[k] / fit;
    }
    if (cells[0] * cells[1] > FIRN_STREAM_CELLS) {
        return firn_fail(
            error, FIRN_INVALID,
            "a layer of the stream would have %.3g particles, %d at most; use a larger "
            "separation",
            (double)(cells[0] * cells[1]), FIRN_STREAM_CELLS);
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
    if (s->cell_count == 0) return FIRN_OK;
    if (s->def.spread > 0) s->reach = find_reach(s);
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

/* The speed, from the flow unless it is said, and how long a layer takes. */
static firn_status find_pace(firn_stream *s, firn_error *error)
{
    const firn_stream_def *def = &s->def;
    const char *unit = s->region->dimension == 3 ? "m2" : "m";
    if (s->speed == 0) {
        s->speed = def->flow / s->area;
        for (int a = 0; a < 3; a++) s->velocity[a] = s->speed * s->along[a];
    }
    const double most = s->area * s->speed;
    s->full = def->flow > 0 ? fmin(def->flow / most, 1) : 1;
    s->seconds = s->count * s->volume / (s->full < 1 ? def->flow : most);
    if (def->flow > most * (1 + 1e-9)) {
        return firn_fail(
            error, FIRN_INVALID,
            "the flow of %.4g m3/s is more than the %.4g m3/s that pass through %.4g "
            "%s at %.4g m/s; use a higher speed, or none with a direction, or a larger "
            "shape",
            def->flow, most, s->area, unit, s->speed);
    }
    if (s->full * s->seconds >= 1e-9) return FIRN_OK;
    return firn_fail(error, FIRN_INVALID,
                     "a layer of particles would enter every %.3g s; 1e-9 s is the least: use a "
                     "lower velocity",
                     s->full * s->seconds);
}

firn_status firn_stream_open(firn_stream *s, const firn_region *region, const firn_stream_def *def,
                             firn_error *error)
{
    *s = (firn_stream){.def = *def, .region = region, .made = -1};
    const double *d = def->velocity;
    double length = 0;
    for (int a = 0; a < 3; a++) length = hypot(length, d[a]);
    s->speed = length > 0 ? length : def->speed;
    if (length == 0) d = def->direction;
    for (int a = 0; a < 3 && d == def->direction; a++) length = hypot(length, d[a]);
    s->outward = length == 0;
    for (int a = 0; a < 3 && !s->outward; a++) s->along[a] = d[a] / length;
    for (int a = 0; a < 3; a++) {
        s->velocity[a] = d == def->velocity ? d[a] : s->speed * s->along[a];
    }
    firn_status st = s->outward ? firn_skin_find(s, error) : find_column(s, error);
    if (st == FIRN_OK && s->cell_count == 0) {
        st = firn_fail(error, FIRN_INVALID,
                       "the stream would have no particle: make the shape larger or resolution "
                       "finer");
    }
    if (st != FIRN_OK) return st;
    s->slot = malloc((size_t)s->count * sizeof *s->slot);
    if (!s->slot) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    return find_pace(s, error);
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
    static const double step[3][3] = {{0.6180339887498949},
                                      {0.7548776662466927, 0.5698402909980532},
                                      {0.8191725133961645, 0.6710436067037893, 0.5497004779019703}};
    const double *phase = step[s->region->dimension - 2 + s->outward];
    const bool random = s->def.pattern == FIRN_FILL_RANDOM,
               jittered = s->def.pattern == FIRN_FILL_JITTERED;
    const double each = s->cell[s->cell_count - 1].upto / s->count,
                 first = random || jittered ? unit_of(s, layer, -1, DRAW_FIRST) : 0.5;
    int32_t cell = 0;
    for (int32_t i = 0; i < s->count; i++) {
        const double place = random ? unit_of(s, layer, i, DRAW_FIRST) * s->count : i + first;
        if (random) cell = 0;
        while (cell < s->cell_count - 1 && s->cell[cell].upto <= place * each) cell++;
        const firn_stream_cell *c = &s->cell[cell];
        const double own = c->index[0] * phase[0] + c->index[1] * phase[1] + c->index[2] * phase[2],
                     u = unit_of(s, layer, i, DRAW_DEPTH);
        s->slot[i].cell = cell;
        s->slot[i].depth = random ? u : own - floor(own) + (jittered ? 0.5 * u : 0);
    }
    qsort(s->slot, (size_t)s->count, sizeof *s->slot, by_depth);
    s->made = layer;
}

/* The place of a particle in its cell; which way the surface looks there, of one that leaves it. */
static void find_place(firn_stream *s, int64_t layer, int32_t index, double position[3],
                       double way[3])
{
    const firn_stream_cell *c = &s->cell[s->slot[index].cell];
    const double width = s->def.pattern == FIRN_FILL_REGULAR ? 0 : 1;
    const uint64_t draws = s->outward ? 3 : 2;
    double part[3] = {0}, place[2];
    for (uint64_t i = 0; i < TRIES; i++) {
        for (uint64_t k = 0; k < draws; k++) {
            const double u = unit_of(s, layer, index, DRAW_PLACE + draws * i + k);
            part[k] = 0.5 + width * (u - 0.5);
        }
        if (s->outward && firn_skin_enter(s, c, part, position, way)) return;
        place_in(s, c, part[0], part[1], place);
        if (!s->outward && enter(s, place, position)) return;
    }
    const bool found = s->outward ? firn_skin_enter(s, c, c->inside, position, way)
                                  : enter(s, c->inside, position);
    if (!found) memcpy(position, s->corner, sizeof s->corner); /* never */
}

/* Where a place is from the middle of the outline: 1 at the sides of the rectangle around it. */
static void from_middle(const firn_stream *s, const double position[3], double out[2])
{
    for (int k = 0; k < 2; k++) {
        double at = 0;
        for (int a = 0; a < 3; a++) at += (position[a] - s->corner[a]) * s->across[k][a];
        out[k] = s->size[k] > 0 ? 2 * at / s->size[k] - 1 : 0;
    }
}

/* Ways fan out from the middle: chance alone would not last, as particles in the same cells share their velocities
 * at once. They are even over the cone where places are over a disc. */
static void fan_out(const firn_stream *s, const double position[3], double way[3])
{
    const double half = s->def.spread * pi / 180;
    double at[2], part[2] = {0}, ahead;
    from_middle(s, position, at);
    if (s->region->dimension == 2) {
        const double angle = half * fmin(fmax(at[0] / s->reach, -1), 1);
        ahead = cos(angle);
        part[0] = sin(angle);
    } else {
        const double r = hypot(at[0], at[1]), out = fmin(r / s->reach, 1);
        ahead = 1 - out * out * (1 - cos(half));
        for (int k = 0; k < 2 && r > 0; k++) part[k] = sqrt(1 - ahead * ahead) * at[k] / r;
    }
    for (int a = 0; a < 3; a++) {
        way[a] = ahead * s->along[a] + part[0] * s->across[0][a] + part[1] * s->across[1][a];
    }
}

void firn_stream_enter(firn_stream *s, int64_t layer, int32_t index, double position[3],
                       double way[3], double velocity[3])
{
    if (s->made != layer) make_layer(s, layer);
    memcpy(way, s->along, sizeof s->along);
    find_place(s, layer, index, position, way);
    memcpy(velocity, s->velocity, sizeof s->velocity);
    if (!s->outward && s->def.spread == 0 && s->def.speed_spread == 0) return;
    double forth[3];
    memcpy(forth, way, sizeof forth);
    if (s->def.spread > 0) fan_out(s, position, forth);
    const double chance = 2 * unit_of(s, layer, index, DRAW_SPEED) - 1,
                 speed = s->speed * (1 + s->def.speed_spread * chance);
    for (int a = 0; a < 3; a++) velocity[a] = speed * forth[a];
}
