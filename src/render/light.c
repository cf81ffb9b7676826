/* Light on nodes.
 *
 * Cells of two voxels have an extinction. From every node rays go out in fixed directions (the same for
 * all nodes, so that nothing flickers) and find how much of them gets out, T, and what they meet there,
 * L: sky or ground. In equilibrium a node sends out what it takes in, so with e = mean T and mean
 * radiance u
 *
 *     u (e + a) = mean(T L) + sun / 4 + sum over neighbours of w (u_j - u),      w = 1 / (3 (k h)^2)
 *
 * where a is the part absorbed at each scattering, k the extinction and h the distance of nodes: the
 * rest that does not get out diffuses. Uniform surroundings and a = 0 give u = L: nothing is gained or
 * lost. A second round of rays adds what the material itself sends out, which brings light from body to
 * body. */
#include "render/light.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/parallel.h"

enum { NODES = CELLS * CELLS * CELLS, GROUND = 128, ENCLOSED = 4 };
static const float NODE = (float)BLOCK / (float)CELLS; /* voxels from one to the next */
/* How full a node is up to which it counts as empty, as outside, and from which as inside. */
static const float EMPTY = 0.03f, OUTSIDE = 0.3f, INSIDE = 0.35f;
static const float UNKNOWN = -1; /* mean of a node of which nobody knows what arrives there */
static const float FAR = 24;     /* voxels from where on blocks count as a whole */

/* ---- sky ---- */

static const float SOFT = 0.06f; /* of the change from horizon to zenith */

firn_sky firn_sky_of(const firn_light *light)
{
    const double degree = 3.14159265358979323846 / 180;
    const double a = light->azimuth * degree, e = light->elevation * degree;
    return (firn_sky){
        .sun_direction = v3((float)(sin(a) * cos(e)), (float)sin(e), (float)(cos(a) * cos(e))),
        .sun = v3_of(light->sun),
        .sun_spread = (float)tan(0.5 * light->size * degree),
        .zenith = v3_of(light->zenith),
        .horizon = v3_of(light->horizon),
        .fill = (float)light->fill,
    };
}

vec3 firn_sky_radiance(const firn_sky *sky, vec3 direction)
{
    const float y = f_max(direction.y, 0); /* flat at the horizon, where the ground fades into it */
    return v3_mix(sky->horizon, sky->zenith, y * y / (y * y + SOFT));
}

/* Mean of the sky over the upper half, weighted by height: what falls on flat ground, over pi. */
static vec3 sky_on_ground(const firn_sky *sky)
{
    return v3_mix(sky->horizon, sky->zenith, 1 - SOFT * logf((1 + SOFT) / SOFT));
}

vec3 firn_environment(const firn_sky *sky, vec3 direction)
{
    if (direction.y >= 0 || !sky->has_ground) {
        return v3_scale(firn_sky_radiance(sky, v3(0, fabsf(direction.y), 0)), sky->fill);
    }
    const vec3 on =
        v3_along(v3_scale(sky_on_ground(sky), sky->fill), sky->sun, f_max(sky->sun_direction.y, 0));
    return v3_mul(sky->ground, on);
}

vec3 firn_environment_on(const firn_sky *sky, vec3 normal)
{
    const float up = 0.5f + 0.5f * normal.y;
    return v3_mix(firn_environment(sky, v3(0, -1, 0)), v3_scale(sky_on_ground(sky), sky->fill), up);
}

/* ---- rays through cells ---- */

typedef struct passage {
    vec3 through; /* part of what comes from outside */
    vec3 sent;    /* radiance that the material on the way sends */
    float ground; /* how far away the ray meets the ground; 0: it does not */
} passage;

static int cell_of(vec3 local)
{
    const int x = (int)f_clamp(0.5f * local.x, 0, 3), y = (int)f_clamp(0.5f * local.y, 0, 3),
              z = (int)f_clamp(0.5f * local.z, 0, 3);
    return (z * CELLS + y) * CELLS + x;
}

/* `glow` asks for what the material sends; without it `sent` is 0. */
static passage pass(const firn_light_map *map, firn_ray ray, float from, bool glow)
{
    const firn_volume *volume = map->volume;
    passage p = {.through = v3_all(1)};
    float to = 1e6f;
    if (map->sky->has_ground && ray.direction.y < -1e-4f) {
        to = f_max((map->sky->ground_y - ray.origin.y) / ray.direction.y, 1e-3f);
        p.ground = to;
    }
    vec3 depth = v3_all(0);
    firn_ray_walk w = firn_ray_walk_begin(volume, ray, from, to);
    while (firn_ray_walk_next(&w)) {
        const int32_t lit = volume->block[w.block].lit;
        if (lit < 0) continue;
        const int32_t *at = volume->block[w.block].at;
        const vec3 o = v3_sub(
            ray.origin, v3((float)(BLOCK * at[0]), (float)(BLOCK * at[1]), (float)(BLOCK * at[2])));
        const vec3 mean = map->block_extinction[lit];
        if (mean.x + mean.y + mean.z <= 0) continue;
        const float length = w.leave - w.enter;
        if (w.enter - from > FAR) { /* one step will do */
            const vec3 before = p.through;
            depth = v3_along(depth, mean, length);
            p.through = v3_exp(v3_scale(depth, -1));
            if (glow) {
                p.sent = v3_add(p.sent, v3_mul(v3_sub(before, p.through), map->block_glow[lit]));
            }
            if (v3_min(depth) > 4) break;
            continue;
        }
        const int steps = (int)ceilf(length / NODE);
        const float step = length / (float)steps;
        for (int s = 0; s < steps; s++) {
            const vec3 q = v3_along(o, ray.direction, w.enter + ((float)s + 0.5f) * step);
            const int cell = cell_of(q);
            const vec3 k = map->extinction[lit * NODES + cell];
            if (k.x + k.y + k.z <= 0) continue;
            depth = v3_along(depth, k, step);
            if (glow) {
                const vec3 after = v3_exp(v3_scale(depth, -1));
                p.sent = v3_add(
                    p.sent, v3_mul(v3_sub(p.through, after), map->node[lit * NODES + cell].inside));
                p.through = after;
            }
        }
        if (v3_min(depth) > 4) break;
    }
    p.through = v3_exp(v3_scale(depth, -1));
    return p;
}

/* Texels are finest at the centre: their places grow as sinh. */
static float ground_place(float u) { return sinhf(4 * u) / 4; }
static float ground_texel(float x) { return asinhf(4 * x) / 4; }

static vec3 ground_lookup(const firn_light_map *map, const vec3 *texel, vec3 point)
{
    const float u = ground_texel((point.x - map->ground_center[0]) / map->ground_scale),
                v = ground_texel((point.z - map->ground_center[1]) / map->ground_scale);
    const float x = f_clamp(0.5f * (u + 1) * GROUND - 0.5f, 0, GROUND - 1.001f),
                y = f_clamp(0.5f * (v + 1) * GROUND - 0.5f, 0, GROUND - 1.001f);
    const int i = (int)x, j = (int)y;
    const vec3 *q = texel + j * GROUND + i;
    return v3_mix(v3_mix(q[0], q[1], x - (float)i), v3_mix(q[GROUND], q[GROUND + 1], x - (float)i),
                  y - (float)j);
}

/* What a ray that has passed the material comes from: sky, or ground with shadows on it. */
static vec3 beyond(const firn_light_map *map, firn_ray ray, const passage *p)
{
    if (p->ground <= 0) return firn_environment(map->sky, ray.direction);
    const vec3 ground =
        ground_lookup(map, map->ground_radiance, v3_along(ray.origin, ray.direction, p->ground));
    /* Far away it fades into the sky, as it does in pictures. */
    const vec3 horizon = firn_environment(map->sky, v3(ray.direction.x, 0, ray.direction.z));
    return v3_mix(horizon, ground, f_exp(-p->ground / (20 * map->ground_scale)));
}

vec3 firn_light_along(const firn_light_map *map, firn_ray ray)
{
    const passage p = pass(map, ray, 0, true);
    return v3_add(p.sent, v3_mul(p.through, beyond(map, ray, &p)));
}

/* ---- nodes ---- */

typedef struct solver {
    firn_light_map *map;
    int32_t directions, coarse_directions; /* of what arrives outside, of what gets in */
    const vec3 *direction, *coarse_direction;
    vec3 *gain, *loss, *absorbed, *coupling; /* of every node */
    float *full;                             /* 0 outside to 1 inside; below 0: nothing is near */
    vec3 *other;                             /* the next values of `inside` */
} solver;

static vec3 node_point(const firn_light_map *map, int64_t lit, int n)
{
    const int32_t *at = map->volume->block[map->block[lit]].at;
    const int x = n % CELLS, y = n / CELLS % CELLS, z = n / (CELLS * CELLS);
    return v3((float)(BLOCK * at[0]) + NODE * (float)x, (float)(BLOCK * at[1]) + NODE * (float)y,
              (float)(BLOCK * at[2]) + NODE * (float)z);
}

/* Node or cell at an offset from one of a block; -1 where no light is. */
static int64_t beside(const firn_light_map *map, int64_t lit, int x, int y, int z)
{
    const int side = ((x >> 2) + 1) + 3 * ((y >> 2) + 1) + 9 * ((z >> 2) + 1);
    const int32_t n = map->neighbour[lit * NEIGHBOURS + side];
    return n < 0 ? -1 : (int64_t)n * NODES + ((z & 3) * CELLS + (y & 3)) * CELLS + (x & 3);
}

/* Mean over a cell of how full it is, for each layer, makes its extinction. */
static void fill_cells(void *context, int64_t lit, int32_t thread)
{
    (void)thread;
    const solver *s = context;
    const firn_volume *v = s->map->volume;
    const firn_volume_block *b = &v->block[s->map->block[lit]];
    vec3 *extinction = s->map->extinction + lit * NODES;
    for (int c = 0; c < NODES; c++) extinction[c] = v3_all(0);
    for (int32_t i = b->brick; i < b->brick + b->brick_count; i++) {
        const firn_cloud_layer *layer = &v->cloud->layer[v->brick[i].layer];
        const vec3 k = v3_add(layer->absorb, v3_all(layer->scatter));
        const float *density = v->density + (size_t)i * EDGE * EDGE * EDGE;
        for (int c = 0; c < NODES; c++) {
            const int x = 2 * (c % CELLS), y = 2 * (c / CELLS % CELLS),
                      z = 2 * (c / (CELLS * CELLS));
            float full = 0;
            for (int q = 0; q < 8; q++) {
                const float rho =
                    density[((z + (q >> 2)) * EDGE + y + (q >> 1 & 1)) * EDGE + x + (q & 1)];
                full += f_clamp((rho - FAINTEST) / (1.2f * ISO), 0, 1);
            }
            extinction[c] = v3_along(extinction[c], k, full / 8);
        }
    }
    vec3 sum = v3_all(0);
    for (int c = 0; c < NODES; c++) sum = v3_add(sum, extinction[c]);
    s->map->block_extinction[lit] = v3_scale(sum, 1.f / NODES);
}

/* Whether there is material in a cell that a node is a corner of: only those are ever looked up. */
static bool is_near(const firn_light_map *map, int64_t lit, int n)
{
    for (int q = 0; q < 8; q++) {
        const int64_t cell = beside(map, lit, n % CELLS - (q & 1), n / CELLS % CELLS - (q >> 1 & 1),
                                    n / (CELLS * CELLS) - (q >> 2));
        if (cell >= 0 && map->extinction[cell].x > 0) return true;
    }
    return false;
}

/* What a node takes in and lets out. */
static void expose_nodes(void *context, int64_t lit, int32_t thread)
{
    (void)thread;
    const solver *s = context;
    firn_light_map *map = s->map;
    const firn_volume *v = map->volume;
    const firn_volume_block *b = &v->block[map->block[lit]];
    for (int n = 0; n < NODES; n++) {
        const int64_t at = lit * NODES + n;
        firn_light_node *node = &map->node[at];
        *node = (firn_light_node){0};
        s->gain[at] = s->loss[at] = s->coupling[at] = v3_all(0);
        s->full[at] = -1;
        if (!is_near(map, lit, n)) continue;
        const vec3 point = node_point(map, lit, n);
        const int x = 2 * (n % CELLS), y = 2 * (n / CELLS % CELLS), z = 2 * (n / (CELLS * CELLS));
        /* The layer that is strongest here says how light is lost and spreads. */
        float most = 0;
        vec3 absorbed = v3_all(0), spread = v3_all(0);
        for (int32_t i = b->brick; i < b->brick + b->brick_count; i++) {
            const float rho =
                v->density[(size_t)i * EDGE * EDGE * EDGE + (size_t)((z * EDGE + y) * EDGE + x)];
            if (rho <= most) continue;
            const firn_cloud_layer *layer = &v->cloud->layer[v->brick[i].layer];
            const vec3 k = v3_add(layer->absorb, v3_all(layer->scatter));
            most = rho;
            absorbed = v3(layer->absorb.x / k.x, layer->absorb.y / k.y, layer->absorb.z / k.z);
            const vec3 kh = v3_scale(k, NODE);
            spread = v3(f_min(1 / (3 * kh.x * kh.x), 1), f_min(1 / (3 * kh.y * kh.y), 1),
                        f_min(1 / (3 * kh.z * kh.z), 1));
        }
        s->full[at] = f_clamp(most / (2 * ISO), 0, 1);
        if (s->full[at] < EMPTY) continue;
        s->coupling[at] = v3_scale(spread, s->full[at]);
        s->absorbed[at] = absorbed;
        vec3 in = v3_all(0), out = v3_all(0);
        for (int d = 0; d < s->coarse_directions; d++) {
            const firn_ray ray = {point, s->coarse_direction[d]};
            const passage p = pass(map, ray, 0, false);
            in = v3_add(in, v3_mul(p.through, beyond(map, ray, &p)));
            out = v3_add(out, p.through);
            if (d == ENCLOSED && v3_max(out) < 1e-3f)
                break; /* deep inside: light comes by diffusion */
        }
        const passage sun = pass(map, (firn_ray){point, map->sky->sun_direction}, 0, false);
        const float share = 1 / (float)s->coarse_directions;
        s->gain[at] = v3_scale(in, share);
        s->gain[at] = v3_along(s->gain[at], v3_mul(sun.through, map->sky->sun), 0.25f);
        s->loss[at] = v3_add(v3_scale(out, share), absorbed);
        node->inside =
            v3(s->gain[at].x / (s->loss[at].x + 1e-3f), s->gain[at].y / (s->loss[at].y + 1e-3f),
               s->gain[at].z / (s->loss[at].z + 1e-3f));
    }
}

static const int face[6][3] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};

/* One round of the equilibrium. */
static void relax_nodes(void *context, int64_t lit, int32_t thread)
{
    (void)thread;
    const solver *s = context;
    const firn_light_map *map = s->map;
    for (int n = 0; n < NODES; n++) {
        const int64_t at = lit * NODES + n;
        s->other[at] = v3_all(0);
        if (s->full[at] < EMPTY) continue;
        vec3 in = s->gain[at], out = v3_add(s->loss[at], v3_all(1e-4f));
        for (int f = 0; f < 6; f++) {
            const int64_t next =
                beside(map, lit, n % CELLS + face[f][0], n / CELLS % CELLS + face[f][1],
                       n / (CELLS * CELLS) + face[f][2]);
            if (next < 0) continue;
            const vec3 a = s->coupling[at], b = s->coupling[next];
            const vec3 w = v3(f_min(a.x, b.x), f_min(a.y, b.y), f_min(a.z, b.z));
            in = v3_add(in, v3_mul(w, map->node[next].inside));
            out = v3_add(out, w);
        }
        s->other[at] = v3(in.x / out.x, in.y / out.y, in.z / out.z);
    }
}

static void keep_nodes(void *context, int64_t lit, int32_t thread)
{
    (void)thread;
    const solver *s = context;
    for (int n = 0; n < NODES; n++) {
        s->map->node[lit * NODES + n].inside = s->other[lit * NODES + n];
    }
}

/* From what is there to what is sent on: without what is absorbed. */
static void emit_nodes(void *context, int64_t lit, int32_t thread)
{
    (void)thread;
    const solver *s = context;
    vec3 glow = v3_all(0), all = v3_all(0);
    for (int64_t at = lit * NODES; at < (lit + 1) * NODES; at++) {
        vec3 *inside = &s->map->node[at].inside;
        *inside = v3_mul(*inside, v3_sub(v3_all(1), s->absorbed[at]));
        const vec3 k = s->map->extinction[at];
        glow = v3_add(glow, v3_mul(k, *inside));
        all = v3_add(all, k);
    }
    s->map->block_glow[lit] = v3(glow.x / f_max(all.x, 1e-9f), glow.y / f_max(all.y, 1e-9f),
                                 glow.z / f_max(all.z, 1e-9f));
}

/* What arrives from around, with what other material sends. */
static void gather_nodes(void *context, int64_t lit, int32_t thread)
{
    (void)thread;
    const solver *s = context;
    firn_light_map *map = s->map;
    for (int n = 0; n < NODES; n++) {
        const int64_t at = lit * NODES + n;
        firn_light_node *node = &map->node[at];
        if (s->full[at] < 0 || s->full[at] > OUTSIDE) continue;
        const vec3 point = node_point(map, lit, n);
        const float share = 1 / (float)s->directions;
        for (int d = 0; d < s->directions; d++) {
            const vec3 to = s->direction[d];
            const vec3 from = v3_scale(firn_light_along(map, (firn_ray){point, to}), share);
            node->mean = v3_add(node->mean, from);
            node->turn[0] = v3_along(node->turn[0], from, to.x);
            node->turn[1] = v3_along(node->turn[1], from, to.y);
            node->turn[2] = v3_along(node->turn[2], from, to.z);
        }
    }
}

/* Lookups at a surface mix nodes of both sides; so what arrives outside is carried on to nodes inside,
 * and what is inside to those outside. `round` tells which nodes know already. */
typedef struct spread_task {
    const solver *solver;
    const firn_light_node *from;
    firn_light_node *to;
    const uint8_t *known; /* bit 0: outside, bit 1: inside */
    uint8_t *learned;
} spread_task;

static void node_add(firn_light_node *sum, const firn_light_node *n)
{
    sum->mean = v3_add(sum->mean, n->mean);
    for (int a = 0; a < 3; a++) sum->turn[a] = v3_add(sum->turn[a], n->turn[a]);
}

static void spread_nodes(void *context, int64_t lit, int32_t thread)
{
    (void)thread;
    const spread_task *t = context;
    const firn_light_map *map = t->solver->map;
    for (int n = 0; n < NODES; n++) {
        const int64_t at = lit * NODES + n;
        t->to[at] = t->from[at];
        t->learned[at] = t->known[at];
        if (t->known[at] == 3) continue;
        firn_light_node outside = {0};
        vec3 inside = v3_all(0);
        float outsides = 0, insides = 0;
        for (int q = 0; q < NEIGHBOURS; q++) {
            const int64_t next =
                beside(map, lit, n % CELLS + q % 3 - 1, n / CELLS % CELLS + q / 3 % 3 - 1,
                       n / (CELLS * CELLS) + q / 9 - 1);
            if (next < 0) continue;
            if (t->known[next] & 1) {
                node_add(&outside, &t->from[next]);
                outsides++;
            }
            if (t->known[next] & 2) {
                inside = v3_add(inside, t->from[next].inside);
                insides++;
            }
        }
        if (!(t->known[at] & 1) && outsides > 0) {
            const float r = 1 / outsides;
            t->to[at].mean = v3_scale(outside.mean, r);
            for (int a = 0; a < 3; a++) t->to[at].turn[a] = v3_scale(outside.turn[a], r);
            t->learned[at] |= 1;
        }
        if (!(t->known[at] & 2) && insides > 0) {
            t->to[at].inside = v3_scale(inside, 1 / insides);
            t->learned[at] |= 2;
        }
    }
}

static bool spread_all(const solver *s, int32_t threads)
{
    firn_light_map *map = s->map;
    const size_t n = (size_t)map->count * NODES;
    firn_light_node *other = malloc(n * sizeof *other);
    uint8_t *known = malloc(n), *learned = malloc(n);
    const bool room = other && known && learned;
    for (size_t i = 0; i < n && room; i++) {
        known[i] =
            (uint8_t)((s->full[i] >= 0 && s->full[i] <= OUTSIDE) | (s->full[i] > INSIDE) << 1);
    }
    for (int round = 0; round < 3 && room; round++) {
        spread_task task = {s, map->node, other, known, learned};
        firn_parallel_for(threads, map->count, 8, spread_nodes, &task);
        firn_light_node *const nodes = map->node;
        uint8_t *const flags = known;
        map->node = other;
        other = nodes;
        known = learned;
        learned = flags;
    }
    for (size_t i = 0; i < n && room; i++) {
        if (!(known[i] & 1)) map->node[i].mean.x = UNKNOWN;
    }
    free(other);
    free(known);
    free(learned);
    return room;
}

/* ---- the ground ---- */

typedef struct ground_task {
    firn_light_map *map;
    const vec3 *direction; /* upper half, denser towards the zenith as the cosine asks */
    int32_t directions;
} ground_task;

static vec3 ground_point(const firn_light_map *map, int64_t column, int64_t row)
{
    const float u = 2 * ((float)column + 0.5f) / GROUND - 1,
                v = 2 * ((float)row + 0.5f) / GROUND - 1;
    return v3(map->ground_center[0] + map->ground_scale * ground_place(u),
              map->sky->ground_y + 0.3f,
              map->ground_center[1] + map->ground_scale * ground_place(v));
}

/* What the ground sends up, for light from below: sun where it gets there, sky as if open. */
static void shine_ground_row(void *context, int64_t row, int32_t thread)
{
    (void)thread;
    firn_light_map *map = ((const ground_task *)context)->map;
    const firn_sky *sky = map->sky;
    for (int i = 0; i < GROUND; i++) {
        const passage sun =
            pass(map, (firn_ray){ground_point(map, i, row), sky->sun_direction}, 0, false);
        const vec3 on = v3_along(v3_scale(sky_on_ground(sky), sky->fill),
                                 v3_mul(sun.through, sky->sun), f_max(sky->sun_direction.y, 0));
        map->ground_radiance[row * GROUND + i] = v3_mul(sky->ground, on);
    }
}

static void light_ground_row(void *context, int64_t row, int32_t thread)
{
    (void)thread;
    const ground_task *t = context;
    firn_light_map *map = t->map;
    for (int i = 0; i < GROUND; i++) {
        const vec3 point = ground_point(map, i, row);
        vec3 sum = v3_all(0);
        for (int d = 0; d < t->directions; d++) {
            sum = v3_add(sum, firn_light_along(map, (firn_ray){point, t->direction[d]}));
        }
        map->ground[row * GROUND + i] = v3_scale(sum, 1 / (float)t->directions);
    }
}

vec3 firn_light_on_ground(const firn_light_map *map, vec3 point)
{
    return ground_lookup(map, map->ground, point);
}

/* ---- all of it ---- */

/* n is not a multiple of 7, so that steps of 7 visit all and the first few point everywhere. */
static void even_directions(int32_t n, bool upper, vec3 *out)
{
    for (int32_t k = 0; k < n; k++) {
        const int32_t i = 7 * k % n;
        const float part = ((float)i + 0.5f) / (float)n;
        const float y = upper ? sqrtf(1 - part) : 1 - 2 * part; /* cosine, or the same everywhere */
        const float r = sqrtf(f_max(1 - y * y, 0)), a = 2.39996323f * (float)i + 0.3f;
        out[k] = v3(r * cosf(a), y, r * sinf(a));
    }
}

static void list_lit(firn_volume *volume, firn_light_map *map)
{
    for (int32_t b = 0; b < volume->block_count; b++) {
        if (volume->block[b].brick_count == 0) continue;
        volume->block[b].lit = map->count;
        map->block[map->count++] = b;
    }
}

static void link_lit(void *context, int64_t lit, int32_t thread)
{
    (void)thread;
    const solver *s = context;
    firn_light_map *map = s->map;
    const firn_volume_block *b = &map->volume->block[map->block[lit]];
    for (int n = 0; n < NEIGHBOURS; n++) {
        const int32_t block = firn_volume_block_at(map->volume, b->at[0] + n % 3 - 1,
                                                   b->at[1] + n / 3 % 3 - 1, b->at[2] + n / 9 - 1);
        map->neighbour[lit * NEIGHBOURS + n] = block < 0 ? -1 : map->volume->block[block].lit;
    }
}

static bool solve(solver *s, firn_quality quality, ground_task *ground, int32_t threads)
{
    firn_light_map *map = s->map;
    const size_t n = (size_t)map->count * NODES + 1;
    s->gain = malloc(n * sizeof *s->gain);
    s->loss = malloc(n * sizeof *s->loss);
    s->absorbed = calloc(n, sizeof *s->absorbed);
    s->coupling = malloc(n * sizeof *s->coupling);
    s->other = malloc(n * sizeof *s->other);
    s->full = malloc(n * sizeof *s->full);
    bool room = s->gain && s->loss && s->absorbed && s->coupling && s->other && s->full;
    if (room) {
        firn_parallel_for(threads, map->count, 8, link_lit, s);
        firn_parallel_for(threads, map->count, 8, fill_cells, s);
        if (map->sky->has_ground) firn_parallel_for(threads, GROUND, 4, shine_ground_row, ground);
        firn_parallel_for(threads, map->count, 4, expose_nodes, s);
        const int rounds = quality == FIRN_FINAL ? 32 : 12;
        for (int r = 0; r < rounds; r++) {
            firn_parallel_for(threads, map->count, 16, relax_nodes, s);
            firn_parallel_for(threads, map->count, 64, keep_nodes, s);
        }
        firn_parallel_for(threads, map->count, 64, emit_nodes, s);
        firn_parallel_for(threads, map->count, 4, gather_nodes, s);
        room = spread_all(s, threads);
    }
    free(s->gain);
    free(s->loss);
    free(s->absorbed);
    free(s->coupling);
    free(s->other);
    free(s->full);
    return room;
}

void firn_light_map_free(firn_light_map *map)
{
    free(map->block);
    free(map->neighbour);
    free(map->extinction);
    free(map->block_extinction);
    free(map->block_glow);
    free(map->node);
    free(map->ground);
    free(map->ground_radiance);
    *map = (firn_light_map){0};
}

firn_status firn_light_map_create(firn_volume *volume, const firn_sky *sky, firn_quality quality,
                                  vec3 center, float extent, int32_t threads, firn_light_map *out,
                                  firn_error *error)
{
    *out = (firn_light_map){.volume = volume, .sky = sky};
    out->ground_center[0] = center.x;
    out->ground_center[1] = center.z;
    out->ground_scale = 0.5f * extent;
    size_t lit = 0;
    for (int32_t b = 0; b < volume->block_count; b++) lit += volume->block[b].brick_count > 0;
    out->block = malloc((lit + 1) * sizeof *out->block);
    out->neighbour = malloc((lit + 1) * NEIGHBOURS * sizeof *out->neighbour);
    out->extinction = malloc((lit + 1) * NODES * sizeof *out->extinction);
    out->block_extinction = malloc((lit + 1) * sizeof *out->block_extinction);
    out->block_glow = malloc((lit + 1) * sizeof *out->block_glow);
    out->node = malloc((lit + 1) * NODES * sizeof *out->node);
    out->ground = malloc((size_t)GROUND * GROUND * sizeof *out->ground);
    out->ground_radiance = malloc((size_t)GROUND * GROUND * sizeof *out->ground_radiance);
    bool room = out->block && out->neighbour && out->extinction && out->block_extinction &&
                out->block_glow && out->node && out->ground && out->ground_radiance;
    if (room) {
        enum { MOST = 64 };
        vec3 direction[MOST], coarse[MOST], upper[MOST];
        const int32_t many = quality == FIRN_FINAL ? 24 : 8;
        solver s = {.map = out,
                    .directions = many,
                    .coarse_directions = many / 2,
                    .direction = direction,
                    .coarse_direction = coarse};
        even_directions(many, false, direction);
        even_directions(many / 2, false, coarse);
        list_lit(volume, out);
        ground_task ground = {out, upper, many};
        even_directions(many, true, upper);
        room = solve(&s, quality, &ground, threads);
        if (room && sky->has_ground) {
            firn_parallel_for(threads, GROUND, 1, light_ground_row, &ground);
        }
    }
    if (room) return FIRN_OK;
    firn_light_map_free(out);
    return firn_fail(error, FIRN_NO_MEMORY, "out of memory for the light of a picture");
}

/* Up to 8 nodes around a point with their shares; how many, 0 where no light is. */
static int nodes_around(const firn_light_map *map, vec3 point, int64_t node[8], float share[8])
{
    const firn_volume *v = map->volume;
    const int32_t x = (int32_t)(point.x / BLOCK), y = (int32_t)(point.y / BLOCK),
                  z = (int32_t)(point.z / BLOCK);
    const bool before = point.x < 0 || point.y < 0 || point.z < 0;
    const int32_t block = before ? -1 : firn_volume_block_at(v, x, y, z);
    const int32_t lit = block < 0 ? -1 : v->block[block].lit;
    if (lit < 0) return 0;
    const float q[3] = {point.x / NODE - (float)(CELLS * x), point.y / NODE - (float)(CELLS * y),
                        point.z / NODE - (float)(CELLS * z)};
    int at[3], n = 0;
    float u[3], all = 0;
    for (int a = 0; a < 3; a++) {
        at[a] = (int)f_clamp(q[a], 0, CELLS - 1);
        u[a] = q[a] - (float)at[a];
    }
    for (int c = 0; c < 8; c++) {
        const int64_t there =
            beside(map, lit, at[0] + (c & 1), at[1] + (c >> 1 & 1), at[2] + (c >> 2));
        const float w =
            (c & 1 ? u[0] : 1 - u[0]) * (c >> 1 & 1 ? u[1] : 1 - u[1]) * (c >> 2 ? u[2] : 1 - u[2]);
        if (there < 0 || w <= 0) continue;
        node[n] = there;
        share[n++] = w;
        all += w;
    }
    if (!(all > 1e-4f)) return 0;
    for (int i = 0; i < n; i++) share[i] /= all;
    return n;
}

bool firn_light_at(const firn_light_map *map, vec3 point, firn_light_node *out)
{
    int64_t node[8];
    float share[8], all = 0;
    const int n = nodes_around(map, point, node, share);
    *out = (firn_light_node){0};
    float *to = (float *)out;
    for (int i = 0; i < n; i++) {
        const float *from = (const float *)&map->node[node[i]];
        if (map->node[node[i]].mean.x == UNKNOWN) continue;
        for (size_t k = 0; k < sizeof *out / sizeof(float); k++) to[k] += share[i] * from[k];
        all += share[i];
    }
    if (!(all > 1e-3f)) return false;
    for (size_t k = 0; k < sizeof *out / sizeof(float); k++) to[k] /= all;
    return true;
}

bool firn_light_inside(const firn_light_map *map, vec3 point, vec3 *out)
{
    int64_t node[8];
    float share[8];
    const int n = nodes_around(map, point, node, share);
    *out = v3_all(0);
    for (int i = 0; i < n; i++) *out = v3_along(*out, map->node[node[i]].inside, share[i]);
    return n > 0;
}

vec3 firn_light_on(const firn_light_node *node, vec3 n)
{
    const vec3 lean =
        v3_along(v3_along(v3_scale(node->turn[0], n.x), node->turn[1], n.y), node->turn[2], n.z);
    const vec3 on = v3_along(node->mean, lean, 2);
    return v3(f_max(on.x, 0.1f * node->mean.x), f_max(on.y, 0.1f * node->mean.y),
              f_max(on.z, 0.1f * node->mean.z));
}
