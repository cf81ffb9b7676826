/* Compounds: shapes joined, cut out of each other, grown and hollowed.
 *
 * A tree in one array, in the order of a walk through it: each node is followed by its parts, and `next` leads
 * past them. The distance of a union is the least of its parts', that of an intersection the greatest; what a
 * difference takes away counts with its sign turned. Signs and zeros are right, and no value is longer than the
 * way to the surface: all parts' are, and least, greatest and turned signs keep that. To move the surface by a
 * distance, that distance is subtracted; a shell is what is below the surface and above the same moved inwards.
 *
 * Inner corners, where several surfaces stop the same material, come from unions and from edges of what is taken
 * away. `collect` finds them: of a union each part's, of an intersection those of the part whose surface is
 * nearest, and of those all that the other parts do not hide. A solid is then {sign x distance < shift}, so that
 * turning, growing and hollowing only change sign and shift on the way down to the shapes.
 *
 * Equally near surfaces: the part that comes first. */
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/quaternion.h"
#include "shape/shape.h"

typedef struct node {
    const firn_shape *shape; /* NULL: joins its parts */
    firn_join join;
    bool cut;     /* a part that is taken away */
    bool ends[2]; /* in 2D, in 3D */
    int32_t next;
    double offset, shell;        /* m */
    firn_shape_values values[2]; /* of a shape, in 2D and 3D */
    double scale;                /* of a mesh: 1 m of it is that long */
    double position[3], rotation[3][3];
    double low[2][3], high[2][3]; /* around it, in the frame that it stands in */
} node;

struct firn_compound {
    int32_t count;
    int64_t point_count;
    double *points;            /* of all polygons */
    bool flat;                 /* its parts turn about z only, and have sections */
    _Atomic double volumes[2]; /* m2, m3; below 0: not asked for yet */
    double tiny[2];            /* m: what is less apart is together */
    node *node;
};

/* ---- distances ---- */

/* The square of how far a point is outside of the box around a node; 0 within. */
static double outside(const node *o, int d, const double p[3])
{
    double square = 0;
    for (int a = 0; a < 2 + d; a++) {
        const double below = o->low[d][a] - p[a], above = p[a] - o->high[d][a];
        const double away = below > above ? below : above;
        if (away > 0) square += away * away;
    }
    return square;
}

static void enter(const node *k, const double p[3], double q[3])
{
    const double(*R)[3] = k->rotation;
    const double x = p[0] - k->position[0], y = p[1] - k->position[1], z = p[2] - k->position[2];
    for (int a = 0; a < 3; a++) q[a] = R[0][a] * x + R[1][a] * y + R[2][a] * z;
}

static void leave(const node *k, const double m[3], double n[3])
{
    const double(*R)[3] = k->rotation;
    for (int a = 0; a < 3; a++) n[a] = R[a][0] * m[0] + R[a][1] * m[1] + R[a][2] * m[2];
}

static double ask_shape(const node *k, int d, const double q[3], double normal[3])
{
    const double at[3] = {q[0] / k->scale, q[1] / k->scale, q[2] / k->scale};
    return k->scale * k->shape->distance(&k->values[d], at, normal);
}

/* The distance of node i and what belongs to it, at a point of the frame that it stands in; d: 0 in 2D, 1 in 3D.
 * `shells`: whether its own shell counts. */
static double ask(const firn_compound *c, int32_t i, int d, bool shells, const double p[3],
                  double normal[3])
{
    const node *k = &c->node[i];
    double q[3], n[3], m[3], least = INFINITY;
    enter(k, p, q);
    if (k->shape) least = ask_shape(k, d, q, n);
    for (int32_t part = i + 1; part < k->next; part = c->node[part].next) {
        const node *o = &c->node[part];
        const bool first = part == i + 1;
        /* Those that are too far off to matter are not asked. */
        const double away = first ? 0 : outside(o, d, q), square = least * least;
        if (away > 0 && k->join == FIRN_UNION && (least <= 0 || away >= square)) continue;
        if (away > 0 && o->cut && (least >= 0 || away >= square)) continue;
        const double sign = o->cut ? -1 : 1, e = sign * ask(c, part, d, true, q, m);
        if (!first && (k->join == FIRN_UNION ? e >= least : e <= least)) continue;
        least = e;
        for (int a = 0; a < 3; a++) n[a] = sign * m[a];
    }
    least -= k->offset;
    if (shells && k->shell > 0 && -least - k->shell > least) {
        least = -least - k->shell;
        for (int a = 0; a < 3; a++) n[a] = -n[a];
    }
    leave(k, n, normal);
    return least;
}

static double distance(const firn_shape_values *v, const double point[3], double normal[3])
{
    return ask(v->compound, 0, v->dimension - 2, true, point, normal);
}

/* ---- faces ---- */

/* A solid made of a node: where sign x its distance, with its own shell or without, is below the shift. */
typedef struct solid {
    int32_t node;
    bool shells;
    double sign, shift;
} solid;

enum { MOST_FACES = 24 };
static const double OFF = 10; /* times what counts as together */
typedef struct faces {
    firn_face face[MOST_FACES];
    int count;
} faces;

static double ask_solid(const firn_compound *c, const solid *s, int d, const double p[3],
                        double normal[3])
{
    const double value = s->sign * ask(c, s->node, d, s->shells, p, normal) - s->shift;
    for (int a = 0; a < 3; a++) normal[a] *= s->sign;
    return value;
}

static void add(faces *to, double depth, const double normal[3], double sign)
{
    if (to->count == MOST_FACES) return;
    firn_face *f = &to->face[to->count++];
    f->depth = depth;
    for (int a = 0; a < 3; a++) f->normal[a] = sign * normal[a];
}

static double along(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* The faces of one shape, or of all but it. */
static void collect_shape(const firn_compound *c, const solid *s, int d, const double p[3],
                          double slack, faces *out)
{
    const node *k = &c->node[s->node];
    const double shift = s->shift + s->sign * k->offset;
    firn_face side[FIRN_MAX_FACES];
    double q[3], n[3], m[3];
    enter(k, p, q);
    const double e = ask_shape(k, d, q, n);
    int count = 0;
    if (s->sign > 0 && k->shape->faces)
        count = k->shape->faces(&k->values[d], q, slack + shift, side);
    if (s->sign < 0 && k->shape->sides) {
        double most = -INFINITY;
        count = k->shape->sides(&k->values[d], q, side);
        for (int i = 0; i < count; i++) most = fmax(most, -side[i].depth);
        if (shift < 0 && e > most + c->tiny[d]) count = 0; /* edges are round after growing */
    }
    for (int i = 0; i < count; i++) {
        const double depth = s->sign * side[i].depth + shift;
        leave(k, side[i].normal, m);
        if (depth >= -slack) add(out, depth, m, s->sign);
    }
    leave(k, n, m);
    const double depth = shift - s->sign * e;
    if (count == 0 && depth >= -slack) add(out, depth, m, s->sign);
}

static void collect(const firn_compound *c, const solid *s, int d, const double p[3], double slack,
                    faces *out);

/* Whether there is no surface at a face: of a union, where another part is in front of it; of an intersection, where
 * one is missing behind it. Both are looked at a little off, as surfaces of parts may be in the same place. */
static bool hidden(const firn_compound *c, const solid *part, int count, int self, bool joined,
                   int d, const double p[3], const firn_face *f)
{
    const double off = joined ? OFF * c->tiny[d] : -OFF * c->tiny[d];
    double at[3], n[3];
    for (int a = 0; a < 3; a++) at[a] = p[a] + (f->depth + off) * f->normal[a];
    for (int i = 0; i < count; i++) {
        if (i == self) continue;
        const double value = ask_solid(c, &part[i], d, at, n);
        if (joined ? value < -0.5 * off : value > -0.5 * off) return true;
    }
    return false;
}

/* Whether a part's face ends where the part beside it begins: its edge lies in that one's side. A step along the face,
 * away from the side, then leads off it. */
static bool ends_there(const firn_compound *c, const solid *part, int d, const double p[3],
                       const firn_face *f, const double side[3])
{
    const double off = OFF * c->tiny[d], turn = along(f->normal, side);
    double at[3], n[3], square = 0;
    for (int a = 0; a < 3; a++) {
        const double step = side[a] - turn * f->normal[a];
        at[a] = p[a] + f->depth * f->normal[a] + off * step;
        square += step * step;
    }
    return ask_solid(c, part, d, at, n) > 0.5 * off * square;
}

/* Of a union, or else an intersection, of solids. A part beside that which the point is in is seen from where
 * the point would come out of that one. */
static void collect_parts(const firn_compound *c, const solid *part, int count, bool joined, int d,
                          const double p[3], double slack, faces *out)
{
    double nearest = joined ? INFINITY : -INFINITY, way[3] = {0}, side[3] = {0}, n[3];
    int first = 0;
    for (int i = 0; i < count; i++) {
        const double value = ask_solid(c, &part[i], d, p, n);
        if (joined ? value >= nearest : value <= nearest) continue;
        nearest = value;
        first = i;
        for (int a = 0; a < 3; a++) {
            side[a] = n[a];
            way[a] = value < 0 ? -value * n[a] : 0;
        }
    }
    for (int i = 0; i < count; i++) {
        if (i != first && !joined) continue;
        faces own = {.count = 0};
        double at[3];
        for (int a = 0; a < 3; a++) at[a] = p[a] + (i == first ? 0 : way[a]);
        const double more = i == first ? 0 : fmax(-nearest, 0);
        if (i != first && ask_solid(c, &part[i], d, at, n) > slack + more) continue;
        collect(c, &part[i], d, at, slack + more, &own);
        for (int f = 0; f < own.count; f++) {
            firn_face *g = &own.face[f];
            if (hidden(c, part, count, i, joined, d, at, g)) continue;
            if (i != first && ends_there(c, &part[i], d, at, g, side)) continue;
            if (i != first) g->depth += along(way, g->normal);
            if (g->depth >= -slack) add(out, g->depth, g->normal, 1);
        }
    }
}

static void collect(const firn_compound *c, const solid *s, int d, const double p[3], double slack,
                    faces *out)
{
    const node *k = &c->node[s->node];
    if (s->shells && k->shell > 0) {
        const double in = s->sign > 0 ? s->shift + k->shell : s->shift - k->shell;
        const solid both[2] = {{s->node, false, s->sign, s->shift}, {s->node, false, -s->sign, in}};
        collect_parts(c, both, 2, s->sign < 0, d, p, slack, out);
    } else if (k->shape) {
        collect_shape(c, s, d, p, slack, out);
    } else {
        solid part[FIRN_MOST_PARTS];
        int count = 0;
        double q[3];
        enter(k, p, q);
        for (int32_t i = s->node + 1; i < k->next; i = c->node[i].next) {
            const double sign = c->node[i].cut ? -s->sign : s->sign;
            part[count++] = (solid){i, true, sign, s->shift + s->sign * k->offset};
        }
        const int before = out->count;
        collect_parts(c, part, count, (k->join == FIRN_UNION) == (s->sign > 0), d, q, slack, out);
        for (int i = before; i < out->count; i++) {
            double m[3] = {out->face[i].normal[0], out->face[i].normal[1], out->face[i].normal[2]};
            leave(k, m, out->face[i].normal);
        }
    }
}

/* Those that lie deepest, without those that are nearly another. */
static int choose(faces *all, firn_face face[FIRN_MAX_FACES])
{
    int count = 0;
    while (count < FIRN_MAX_FACES) {
        int best = -1;
        for (int i = 0; i < all->count; i++) {
            bool taken = false;
            for (int k = 0; k < count; k++) {
                taken = taken || along(face[k].normal, all->face[i].normal) > 0.9999;
            }
            if (!taken && (best < 0 || all->face[i].depth > all->face[best].depth)) best = i;
        }
        if (best < 0) break;
        face[count++] = all->face[best];
    }
    return count;
}

static int near_faces(const firn_shape_values *v, const double point[3], double slack,
                      firn_face face[FIRN_MAX_FACES])
{
    const firn_compound *c = v->compound;
    const int d = v->dimension - 2;
    double at[3] = {point[0], point[1], point[2]}, n[3], away[3], square = 0;
    double value = ask(c, 0, d, true, point, n);
    if (value > slack) return 0;
    faces all = {.count = 0};
    const solid whole = {0, true, 1, 0};
    collect(c, &whole, d, point, slack, &all);
    const int count = choose(&all, face);
    if (count > 0) return count;
    face[0] = (firn_face){-value, {n[0], n[1], n[2]}};
    if (value < 0) return 1;
    /* Beside an outer edge the surface is further than the distance says. */
    for (int step = 0; step < 8 && fabs(value) > c->tiny[d]; step++) {
        for (int a = 0; a < 3; a++) at[a] -= value * n[a];
        value = ask(c, 0, d, true, at, n);
    }
    if (fabs(value) > c->tiny[d]) return 0;
    double behind[3], m[3];
    for (int a = 0; a < 3; a++) behind[a] = at[a] - OFF * c->tiny[d] * n[a];
    if (ask(c, 0, d, true, behind, m) >= 0)
        return 0; /* two surfaces in one place, and nothing behind */
    for (int a = 0; a < 3; a++) {
        away[a] = point[a] - at[a];
        square += away[a] * away[a];
    }
    const double length = sqrt(square);
    if (length > slack) return 0;
    if (!(length > c->tiny[d])) return 1;
    face[0].depth = -length;
    for (int a = 0; a < 3; a++) face[0].normal[a] = away[a] / length;
    return 1;
}

/* ---- bounds and volume ---- */

static bool ends(const firn_shape_values *v) { return v->compound->node[0].ends[v->dimension - 2]; }

static void bounds(const firn_shape_values *v, double low[3], double high[3])
{
    const node *k = v->compound->node;
    memcpy(low, k->low[v->dimension - 2], sizeof k->low[0]);
    memcpy(high, k->high[v->dimension - 2], sizeof k->high[0]);
}

/* Finds the box around a node, in the frame that it stands in; those of its parts are known. */
static void find_bounds(firn_compound *c, int32_t i, int d)
{
    node *k = &c->node[i];
    double low[3], high[3];
    bool any = false;
    if (k->shape && firn_shape_ends(k->shape, &k->values[d])) {
        k->shape->bounds(&k->values[d], low, high);
        for (int a = 0; a < 3; a++) low[a] *= k->scale, high[a] *= k->scale;
        any = true;
    }
    bool all = true;
    for (int32_t part = i + 1; part < k->next; part = c->node[part].next) {
        const node *o = &c->node[part];
        all = all && o->ends[d];
        if (!o->ends[d] || o->cut) continue;
        for (int a = 0; a < 3; a++) {
            const bool widest = k->join == FIRN_UNION;
            low[a] = !any     ? o->low[d][a]
                     : widest ? fmin(low[a], o->low[d][a])
                              : fmax(low[a], o->low[d][a]);
            high[a] = !any     ? o->high[d][a]
                      : widest ? fmax(high[a], o->high[d][a])
                               : fmin(high[a], o->high[d][a]);
        }
        any = true;
    }
    k->ends[d] = any && (all || k->shape || k->join != FIRN_UNION);
    for (int a = 0; a < 3; a++) {
        k->low[d][a] = -INFINITY;
        k->high[d][a] = INFINITY;
    }
    for (int a = 0; a < 2 + d && k->ends[d]; a++) {
        double middle = k->position[a], half = k->offset;
        for (int b = 0; b < 2 + d; b++) {
            middle += 0.5 * k->rotation[a][b] * (low[b] + high[b]);
            half += 0.5 * fabs(k->rotation[a][b]) * fmax(high[b] - low[b], 0);
        }
        k->low[d][a] = middle - half;
        k->high[d][a] = middle + fmax(half, -half);
    }
}

/* Integrates over a cell of the box what lies deeper below the surface, without its shell, than `depth`. The cell is
 * halved `levels` times at most: as soon as its middle is further from the surface than its corners are from its
 * middle, it is full or empty; the last ones are cut by the plane at their nearest surface. */
static double fill_cell(const firn_compound *c, int d, double depth, const double middle[3],
                        const double half[3], int levels)
{
    double n[3], corner = 0, room = 1, wide = 0, sum = 0;
    for (int a = 0; a < 2 + d; a++) {
        corner += half[a] * half[a];
        room *= 2 * half[a];
    }
    const double value = ask(c, 0, d, false, middle, n) + depth;
    if (value >= sqrt(corner)) return 0;
    if (value <= -sqrt(corner)) return room;
    if (levels == 0) {
        for (int a = 0; a < 2 + d; a++) wide += 2 * fabs(n[a]) * half[a];
        return room * fmin(fmax(0.5 - value / wide, 0), 1);
    }
    for (int i = 0; i < (d ? 8 : 4); i++) {
        double at[3] = {0}, part[3] = {0};
        for (int a = 0; a < 2 + d; a++) {
            part[a] = 0.5 * half[a];
            at[a] = middle[a] + (i >> a & 1 ? part[a] : -part[a]);
        }
        sum += fill_cell(c, d, depth, at, part, levels - 1);
    }
    return sum;
}

static void middle_of(const firn_compound *c, int d, double middle[3], double half[3])
{
    for (int a = 0; a < 3; a++) {
        const bool has = a < 2 + d;
        middle[a] = has ? 0.5 * (c->node[0].low[d][a] + c->node[0].high[d][a]) : 0;
        half[a] = has ? 0.5 * (c->node[0].high[d][a] - c->node[0].low[d][a]) : 0;
    }
}

/* Ever finer, until it hardly changes any more; of a shell the outside less the hollow. */
static double integrate(const firn_compound *c, int d)
{
    enum { FIRST = 5, LAST_2D = 12, LAST_3D = 9 };
    double middle[3], half[3], before = 0, now = 0;
    const double shell = c->node[0].shell;
    middle_of(c, d, middle, half);
    for (int levels = FIRST; levels <= (d ? LAST_3D : LAST_2D); levels++) {
        now = fill_cell(c, d, 0, middle, half, levels);
        if (shell > 0) now -= fill_cell(c, d, shell, middle, half, levels);
        if (levels > FIRST && fabs(now - before) <= 2e-4 * now) break;
        before = now;
    }
    return now;
}

/* Of one shape as it is, and of shapes that are apart from each other, it is known. */
static double known_volume(const firn_compound *c, int d)
{
    const node *k = c->node;
    double sum = 0;
    if (k->offset != 0 || k->shell > 0 || (!k->shape && k->join != FIRN_UNION)) return -1;
    for (int32_t i = k->shape ? 0 : 1; i < (k->shape ? 1 : k->next); i = c->node[i].next) {
        const node *o = &c->node[i];
        if (!o->shape || o->offset != 0 || o->shell > 0) return -1;
        for (int32_t j = 1; j < i; j = c->node[j].next) {
            bool apart = false;
            for (int a = 0; a < 2 + d; a++) {
                apart = apart || o->low[d][a] >= c->node[j].high[d][a] ||
                        c->node[j].low[d][a] >= o->high[d][a];
            }
            if (!apart) return -1;
        }
        sum += o->shape->volume(&o->values[d], 2 + d) * pow(o->scale, 2 + d);
    }
    return sum;
}

/* Kept once it is known; threads that ask at the same time find the same. */
static double volume(const firn_shape_values *v, int dimension)
{
    firn_compound *c = (firn_compound *)v->compound;
    const int d = dimension - 2;
    double found = atomic_load(&c->volumes[d]);
    if (found >= 0) return found;
    found = known_volume(c, d);
    if (found < 0) found = integrate(c, d);
    atomic_store(&c->volumes[d], found);
    return found;
}

/* ---- checks ---- */

/* Whether some point in a cell is deeper below the surface of node i, in the frame that it stands in, than
 * `depth`. */
static bool deeper(const firn_compound *c, int32_t i, int d, double depth, const double middle[3],
                   const double half[3], int levels)
{
    double n[3], corner = 0;
    for (int a = 0; a < 2 + d; a++) corner += half[a] * half[a];
    const double value = ask(c, i, d, false, middle, n) + depth;
    if (value < 0) return true;
    if (value >= sqrt(corner)) return false;
    if (levels == 0) { /* walls thinner than the cell: a little beyond the surface */
        for (double beyond = sqrt(corner); beyond > 1e-4 * sqrt(corner); beyond *= 0.1) {
            double at[3], m[3];
            for (int a = 0; a < 3; a++) at[a] = middle[a] - (value + beyond) * n[a];
            if (ask(c, i, d, false, at, m) + depth < 0) return true;
        }
        return false;
    }
    for (int k = 0; k < (d ? 8 : 4); k++) {
        double at[3] = {0}, part[3] = {0};
        for (int a = 0; a < 2 + d; a++) {
            part[a] = 0.5 * half[a];
            at[a] = middle[a] + (k >> a & 1 ? part[a] : -part[a]);
        }
        if (deeper(c, i, d, depth, at, part, levels - 1)) return true;
    }
    return false;
}

firn_status firn_compound_check(const firn_compound *c, int dimension, firn_error *error)
{
    enum { LEVELS = 7 };
    const int d = dimension - 2;
    if (d == 0 && !c->flat) {
        return firn_fail(error, FIRN_INVALID,
                         "a part of it is a mesh, or turned out of the plane; in 2D use polygons, "
                         "and turn about z");
    }
    for (int32_t i = 0; i < c->count; i++) {
        const node *k = &c->node[i];
        double middle[3] = {0}, half[3] = {0};
        if (!k->ends[d] || (i > 0 && !(k->shell > 0))) continue;
        for (int a = 0; a < 2 + d; a++) {
            middle[a] = 0.5 * (k->low[d][a] + k->high[d][a]);
            half[a] = 0.5 * (k->high[d][a] - k->low[d][a]);
        }
        if (!deeper(c, i, d, 0, middle, half, LEVELS)) {
            return firn_fail(error, FIRN_INVALID, "nothing is left of it; %s",
                             k->offset < 0 ? "give an offset nearer to 0"
                             : k->join == FIRN_INTERSECTION
                                 ? "move its parts together, so that they overlap"
                                 : "what is taken away covers it all: make that smaller");
        }
        if (k->shell > 0 && !deeper(c, i, d, k->shell, middle, half, LEVELS)) {
            return firn_fail(error, FIRN_INVALID,
                             "shell %g m is too thick to leave it hollow; make it thinner or leave "
                             "it out",
                             k->shell);
        }
    }
    return FIRN_OK;
}

/* ---- making ---- */

firn_compound_def firn_compound_def_default(void)
{
    return (firn_compound_def){.join = FIRN_UNION, .stamp = FIRN_STAMP};
}

/* Of the tree below a def: nodes, points, and how deep it goes. */
typedef struct extent {
    int64_t nodes, points;
    int depth;
} extent;

static int depth_of(const firn_compound *c, int32_t i)
{
    int depth = 0;
    for (int32_t part = i + 1; part < c->node[i].next; part = c->node[part].next) {
        const int below = depth_of(c, part);
        depth = below > depth ? below : depth;
    }
    return depth + !c->node[i].shape;
}

static firn_status check_part(const firn_collider_def *part, int32_t index, extent *e,
                              firn_error *error)
{
    char where[32];
    snprintf(where, sizeof where, "parts[%d]", (int)index);
    firn_status st = firn_check_stamp(part->stamp, "firn_collider_def", where, error);
    firn_collider_def sharp = *part;
    firn_error inner = {0};
    if (st != FIRN_OK) return st;
    const firn_shape *shape = firn_shape_get(part->shape);
    const bool rounds = part->round != 0 && shape && part->shape != FIRN_ROUNDED_BOX;
    for (int a = 0; a < 3; a++) {
        if (!isfinite(part->position[a])) {
            return firn_fail(error, FIRN_INVALID, "%s.position[%d] %g must be finite (m)", where, a,
                             part->position[a]);
        }
    }
    double turn = 0;
    for (int a = 0; a < 4; a++) turn = fmax(turn, fabs(part->rotation[a]));
    for (int a = 0; a < 4; a++) turn = isfinite(part->rotation[a]) ? turn : NAN;
    if (!(turn > 0)) {
        return firn_fail(error, FIRN_INVALID,
                         "%s.rotation must be finite and not zero (quaternion w, x, y, z)", where);
    }
    if (rounds && (!(part->round > 0) || !isfinite(part->round))) {
        return firn_fail(error, FIRN_INVALID, "%s.round %g must be above 0 m", where, part->round);
    }
    if (rounds && !shape->shrink) {
        return firn_fail(error, FIRN_INVALID, "%s.round: a %s cannot be rounded; leave it out",
                         where, shape->name);
    }
    sharp.round = rounds ? 0 : part->round;
    st = firn_shape_check(&sharp, &inner);
    if (st != FIRN_OK) return firn_fail(error, st, "%s.%.400s", where, inner.message);
    if (rounds) {
        (void)shape->shrink(sharp.size, part->round);
        if (firn_shape_check(&sharp, NULL) != FIRN_OK) {
            return firn_fail(error, FIRN_INVALID,
                             "%s.round %g m leaves nothing of the %s between its edges; use less",
                             where, part->round, shape->name);
        }
    }
    if (part->shape == FIRN_COMPOUND) {
        const int depth = depth_of(part->compound, 0);
        e->nodes += part->compound->count;
        e->points += part->compound->point_count;
        e->depth = depth > e->depth ? depth : e->depth;
    } else {
        e->nodes++;
        e->points += part->shape == FIRN_POLYGON ? part->point_count : 0;
    }
    return FIRN_OK;
}

static void place(node *k, const firn_collider_def *part)
{
    double q[4], most = 0, square = 0;
    for (int a = 0; a < 4; a++) most = fmax(most, fabs(part->rotation[a]));
    for (int a = 0; a < 4; a++) q[a] = part->rotation[a] / most;
    for (int a = 0; a < 4; a++) square += q[a] * q[a];
    for (int a = 0; a < 4; a++) q[a] /= sqrt(square);
    firn_quaternion_matrix(q, k->rotation);
    memcpy(k->position, part->position, sizeof k->position);
}

static bool turns_in_plane(const node *k) { return fabs(k->rotation[2][2] - 1) < 1e-12; }

/* A node of one shape. */
static void add_shape(firn_compound *c, const firn_collider_def *part)
{
    node *k = &c->node[c->count++];
    firn_collider_def own = *part;
    k->shape = firn_shape_get(part->shape);
    if (part->round > 0 && part->shape != FIRN_ROUNDED_BOX) {
        const double rise = k->shape->shrink(own.size, part->round);
        k->offset = part->round;
        for (int a = 0; a < 3; a++) k->position[a] += rise * k->rotation[a][1];
    }
    if (part->shape == FIRN_POLYGON) {
        const size_t count = 2 * (size_t)part->point_count;
        memcpy(c->points + 2 * c->point_count, part->points, count * sizeof *c->points);
        own.points = c->points + 2 * c->point_count;
        c->point_count += part->point_count;
    }
    k->next = c->count;
    for (int d = 0; d < 2; d++) k->values[d] = firn_shape_values_of(&own, 2 + d);
    c->flat = c->flat && !k->shape->solid;
}

/* The nodes of another compound; the first stands where the part does. */
static void add_nodes(firn_compound *c, const firn_compound *from)
{
    const int32_t first = c->count;
    const double *points = c->points + 2 * c->point_count;
    memcpy(c->points + 2 * c->point_count, from->points,
           2 * (size_t)from->point_count * sizeof *c->points);
    c->point_count += from->point_count;
    for (int32_t i = 0; i < from->count; i++) {
        node *k = &c->node[c->count++];
        const node before = *k;
        *k = from->node[i];
        k->next += first;
        if (i == 0) { /* an empty compound's frame is that of its node */
            memcpy(k->position, before.position, sizeof k->position);
            memcpy(k->rotation, before.rotation, sizeof k->rotation);
            k->cut = before.cut;
        }
        for (int d = 0; d < 2 && k->values[d].points; d++) {
            k->values[d].points = points + (from->node[i].values[d].points - from->points);
        }
    }
    c->flat = c->flat && from->flat;
}

static void find_all_bounds(firn_compound *c)
{
    for (int d = 0; d < 2; d++) {
        double size = 0;
        for (int32_t i = c->count - 1; i >= 0; i--) {
            find_bounds(c, i, d);
            for (int a = 0; a < 2 + d && c->node[i].ends[d]; a++) {
                size = fmax(size, c->node[i].high[d][a] - c->node[i].low[d][a]);
            }
        }
        c->tiny[d] = 1e-7 * (size > 0 ? size : 1);
        atomic_init(&c->volumes[d], -1);
    }
}

/* Memory for so many nodes and points: one piece. */
static firn_compound *make(int64_t nodes, int64_t points)
{
    const size_t head = (sizeof(firn_compound) + 15) / 16 * 16;
    firn_compound *c =
        calloc(1, head + (size_t)nodes * sizeof(node) + 2 * (size_t)points * sizeof(double));
    if (!c) return NULL;
    c->node = (node *)((char *)c + head);
    c->points = (double *)(c->node + nodes);
    c->flat = true;
    for (int64_t i = 0; i < nodes; i++) {
        c->node[i].scale = 1;
        for (int a = 0; a < 3; a++) c->node[i].rotation[a][a] = 1;
    }
    return c;
}

firn_status firn_compound_create(const firn_compound_def *def, firn_compound **out,
                                 firn_error *error)
{
    FIRN_REQUIRE(out, error);
    *out = NULL;
    FIRN_REQUIRE(def, error);
    extent e = {.nodes = 1};
    firn_status st = firn_check_stamp(def->stamp, "firn_compound_def", "compound", error);
    if (st != FIRN_OK) return st;
    if ((uint32_t)def->join >= FIRN_JOIN_COUNT) {
        return firn_fail(error, FIRN_INVALID, "join %d: use a firn_join", (int)def->join);
    }
    if (!(def->shell >= 0) || !isfinite(def->shell) || !isfinite(def->offset)) {
        return firn_fail(error, FIRN_INVALID,
                         "offset %g m must be finite, and shell %g m 0 or above", def->offset,
                         def->shell);
    }
    if (def->part_count < 1 || def->part_count > FIRN_MOST_PARTS || !def->parts) {
        return firn_fail(error, FIRN_INVALID, "part_count %d must be 1 to %d", (int)def->part_count,
                         FIRN_MOST_PARTS);
    }
    for (int32_t i = 0; i < def->part_count && st == FIRN_OK; i++) {
        st = check_part(&def->parts[i], i, &e, error);
    }
    if (st != FIRN_OK) return st;
    if (e.nodes > FIRN_MOST_PARTS || e.depth >= FIRN_MOST_NESTED) {
        return firn_fail(error, FIRN_INVALID,
                         "a compound has up to %d parts in all, nested up to %d deep; this one has "
                         "%lld, %d deep",
                         FIRN_MOST_PARTS, FIRN_MOST_NESTED, (long long)e.nodes - 1, e.depth + 1);
    }
    firn_compound *c = make(e.nodes, e.points);
    if (!c) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    c->count = 1;
    for (int32_t i = 0; i < def->part_count; i++) {
        const firn_collider_def *part = &def->parts[i];
        node *k = &c->node[c->count];
        k->cut = def->join == FIRN_DIFFERENCE && i > 0;
        place(k, part);
        c->flat = c->flat && turns_in_plane(k);
        if (part->shape == FIRN_COMPOUND)
            add_nodes(c, part->compound);
        else
            add_shape(c, part);
    }
    c->node[0].join = def->join;
    c->node[0].offset = def->offset;
    c->node[0].shell = def->shell;
    c->node[0].next = c->count;
    find_all_bounds(c);
    *out = c;
    return FIRN_OK;
}

void firn_compound_destroy(firn_compound *compound) { free(compound); }

firn_status firn_compound_scale(const firn_compound *compound, double factor, firn_compound **out,
                                firn_error *error)
{
    firn_compound *c = *out = make(compound->count, compound->point_count);
    if (!c) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    add_nodes(c, compound);
    for (int64_t i = 0; i < 2 * c->point_count; i++) c->points[i] *= factor;
    for (int32_t i = 0; i < c->count; i++) {
        node *k = &c->node[i];
        k->offset *= factor;
        k->shell *= factor;
        if (k->shape && k->shape->from_file) k->scale *= factor;
        for (int a = 0; a < 3; a++) {
            k->position[a] *= factor;
            for (int d = 0; d < 2; d++) k->values[d].size[a] *= factor;
        }
        for (int d = 0; d < 2; d++) k->values[d].round *= factor;
    }
    find_all_bounds(c);
    for (int d = 0; d < 2; d++) {
        const double known = atomic_load(&compound->volumes[d]);
        if (known >= 0) atomic_init(&c->volumes[d], known * pow(factor, 2 + d));
    }
    return FIRN_OK;
}

static firn_status check(const firn_shape_values *v, firn_error *error)
{
    if (v->compound) return FIRN_OK;
    return firn_fail(error, FIRN_INVALID,
                     "compound NULL must be a compound; firn_compound_create makes one");
}

const firn_shape firn_shape_compound = {
    .name = "compound",
    .help = "shapes joined, cut out of each other, grown or hollowed",
    .bounded = FIRN_2D | FIRN_3D,
    .ends = ends,
    .check = check,
    .distance = distance,
    .faces = near_faces,
    .bounds = bounds,
    .volume = volume,
};
