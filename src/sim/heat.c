/* Heat: conduction on the grid, phase change in the particles.
 *
 * Particles carry enthalpy, which says how warm and how far melted they are. A heat step takes
 * temperatures to the grid, solves one backward Euler step of conduction there and brings back not
 * temperatures but the heat that flowed:
 *   C_i = sum w m c,   T_i = sum w m c (T_p + G_p . (x_i - x_p)) / C_i
 *   (C + dt K) dT = -dt K T + what walls, air and sky give
 *   E_i = -dt K (T + dT) + what they give
 *   e_p += c sum w (E_i / C_i + b_i (T_i - T_p - G_p . (x_i - x_p)))
 * E_i, and not C dT: fluxes through faces cancel whatever the solver's tolerance, so heat is kept. A
 * particle on the melting plateau takes its part as latent heat and stays at its temperature. The
 * last term takes away noise that the grid does not see, b = dt K_ii / (C + dt K)_ii: as much of a
 * particle is replaced by what is around it as of its node, and it gets no colder than the coldest of
 * that. With the gradients G_p linear temperatures are left alone, and as b is the node's it conserves
 * heat too.
 *
 * Faces conduct with the harmonic mean of their nodes' conductivities times the mean of how full the
 * nodes are, as far as no wall takes the room: see survey_node. Walls and air act on nodes by the area of
 * surface that is theirs: see open_node. Different bodies have different nodes at the same
 * place, which exchange heat directly.
 *
 * A dye spreads by the same equations, with mass for capacity and no walls. See doc/melting.md. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/param.h"
#include "base/parallel.h"
#include "sim/sim.h"
#include "solve/krylov.h"

enum { NODES = FIRN_MAX_CELLS, PARTICLES = 1 << 12, ITERATIONS = 500 };

#define STEFAN_BOLTZMANN 5.670374419e-8 /* W/(m2 K4) */

/* Longer steps are cut, and shorter ones where something melts: nodes do not know of latent heat while
 * they are solved for, and a front between warm and cold lags (by 0.8 % in steps of 0.1, by 2.6 % in
 * steps of 1). */
#define STEP_MOST 1.0      /* h^2 / alpha */
#define MELTING_MOST 0.199 /* h^2 / alpha */
#define PARTS_MOST 50

/* Cells from a wall of given temperature to where its node's temperature holds. A node at a wall
 * conducts to particles up to 1.5 cells away at once, which is that much too far: this makes up for
 * it (measured on Stefan's problem). */
#define WALL_WAY 0.02

/* Bodies in contact exchange heat over so much of a cell. */
#define CONTACT_WAY 0.25

/* Melt that is this much denser than its J says, by what lies around nodes, is told so: J misses some of
 * what happens where loose matter collapses, and snow would melt to too little water. */
#define CROWD 0.05
#define CROWD_MOST 0.02 /* told at a time */

/* What a node of a block is in the step under way. */
typedef struct heat_node {
    real capacity;     /* J/K; 0: there is nothing here */
    real value;        /* temperature above the ambient's, or concentration, before */
    real conductivity; /* W/(m K), of what is there */
    real full;         /* 0 to 1, how full of it */
} heat_node;

/* What is around a block's nodes; conductances are times the length of the step, J/K. */
typedef struct heat_links {
    int32_t before[3], after[3]; /* neighbouring blocks, -1: none */
    bool near;                   /* some collider is */
    real room[NODES];            /* volume of the kernel that colliders leave free, m3 */
    real along[3][NODES];        /* part of the node's cross-section that conducts along an axis */
    real face[3][NODES];         /* to the next node along an axis */
    real out[NODES];             /* to walls, air and sky... */
    real gain[NODES];            /* ... and what those give at value 0, J */
    real sum[NODES];             /* of all conductances of a node */
} heat_links;

typedef enum scalar_kind { HEAT, DYE } scalar_kind;

typedef struct heat_job {
    firn_sim *sim;
    scalar_kind kind;
    firn_heat_def heat; /* as it is at the time */
    double dt;          /* s of heat: that of motion times heat.speed */
    double dt_motion;   /* s */
    double time;        /* s, at the end */
    int nodes;          /* per block */
    int dim;
    double h, face; /* m; h^(dim - 2), m: area of a face over its length */
    heat_node *node;
    heat_links *link;
    real *value; /* after the step */
    const real *in;
    real *out;
    bool whole; /* whether a product includes the capacities */
    double *partial;
} heat_job;

static void over_blocks(heat_job *job, firn_task *task)
{
    firn_workers_run(&job->sim->workers, job->sim->at->count, 4, task, job);
}

static double sum_over_blocks(heat_job *job, firn_task *task)
{
    double sum = 0;
    over_blocks(job, task);
    for (int32_t b = 0; b < job->sim->at->count; b++) sum += job->partial[b];
    return sum;
}

static void over_particles(heat_job *job, firn_task *task)
{
    const int64_t chunks = (job->sim->store.count + PARTICLES - 1) / PARTICLES;
    firn_workers_run(&job->sim->workers, chunks, 1, task, job);
}

static int64_t chunk_end(const heat_job *job, int64_t chunk)
{
    const int64_t end = (chunk + 1) * PARTICLES, count = job->sim->store.count;
    return end < count ? end : count;
}

/* ---- particles ---- */

/* A particle as heat sees it. */
typedef struct warm {
    double liquid;       /* 0 to 1 */
    double temperature;  /* K */
    double capacity;     /* J/(kg K) */
    double conductivity; /* W/(m K) */
    double volume;       /* m3, unstrained */
} warm;

static double rest_ratio(const firn_sim *sim, int64_t i, double liquid)
{
    const firn_store *s = &sim->store;
    return firn_material_rest_ratio(&sim->materials[s->material[i]],
                                    (double)s->record[i * FIRN_RECORD + firn_offset_state(s->dim)],
                                    liquid);
}

static warm look_at(const firn_sim *sim, int64_t i)
{
    const firn_store *s = &sim->store;
    const firn_material_def *m = &sim->materials[s->material[i]];
    const firn_heat_curve *c = firn_heat_curve_of(sim, i);
    const double e = (double)s->heat[i * FIRN_HEAT_RECORD + FIRN_HEAT_ENTHALPY];
    warm w = {.liquid = firn_heat_liquid(c, e),
              .temperature = firn_heat_temperature(c, e),
              .volume = (double)s->volume[i],
              .capacity = c->solid,
              .conductivity = m->conductivity};
    if (isinf(c->melt)) return w;
    w.volume *= rest_ratio(sim, i, w.liquid);
    w.capacity = w.liquid < 0.5 ? c->solid : c->liquid;
    w.conductivity += w.liquid * (m->liquid_conductivity - m->conductivity);
    return w;
}

/* What a particle takes to the grid. */
static void load_chunk(void *context, int64_t chunk, int32_t thread)
{
    (void)thread;
    const heat_job *job = context;
    const firn_sim *sim = job->sim;
    const firn_store *s = &sim->store;
    firn_scalar *out = sim->heat.particle.data;
    for (int64_t i = chunk * PARTICLES; i < chunk_end(job, chunk); i++) {
        const real *record = s->heat + i * FIRN_HEAT_RECORD;
        const warm w = look_at(sim, i);
        const double mass = (double)s->mass[i];
        const real *gradient = record + FIRN_HEAT_ENTHALPY + 1;
        double weight = mass * w.capacity, value = w.temperature - job->heat.ambient;
        double conductivity = w.conductivity;
        if (job->kind == DYE) {
            weight = mass;
            value = (double)record[FIRN_HEAT_CONCENTRATION];
            gradient = record + FIRN_HEAT_CONCENTRATION + 1;
            conductivity = sim->materials[s->material[i]].diffusivity * mass / w.volume;
        }
        out[i] = (firn_scalar){.weight = (real)weight,
                               .value = (real)value,
                               .more = {(real)(conductivity * w.volume), (real)w.volume},
                               .gradient = {gradient[0], gradient[1], gradient[2]}};
    }
}

/* What freezes keeps the volume it has. Porous solids keep what is between their grains; of others the
 * part of the strain that belongs to what has become solid goes to the rest volume. */
static void freeze(const firn_sim *sim, int64_t i, double before, double after)
{
    const firn_store *s = &sim->store;
    const firn_material_def *m = &sim->materials[s->material[i]];
    real *state = s->record + i * FIRN_RECORD + firn_offset_state(s->dim);
    const double rest = rest_ratio(sim, i, before), most = 0.1;
    if (m->crush_pressure > 0) {
        const double melt = m->density / m->liquid_density;
        *state = (real)log(fmax((rest - after * melt) / (1 - after), melt));
        return;
    }
    const double strain = log(fmax(firn_sim_det(sim, i), 1e-3) / rest),
                 moved = (double)*state + strain * (before - after) / before;
    *state = (real)fmin(fmax(moved, -most), most);
}

/* Rounds to one of the two nearest numbers, by chance, the nearer being likelier: small gains would
 * otherwise be lost. The same particle at the same time gets the same chance. */
static real round_by_chance(double x, uint64_t id, double time)
{
    uint64_t bits;
    memcpy(&bits, &time, sizeof bits);
    bits = (bits ^ id * 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ bits >> 31) * 0x94d049bb133111ebu;
    const double chance = (double)(bits >> 11) * 0x1p-53;
    const real near = (real)x;
    if ((double)near == x) return near;
    const real far = (real)nextafterf((float)near, x > (double)near ? INFINITY : -INFINITY);
    return chance < (x - (double)near) / ((double)far - (double)near) ? far : near;
}

/* Gives a particle heat, J/kg; down to absolute zero. */
static void warm_particle(const heat_job *job, int64_t i, double heat)
{
    const firn_sim *sim = job->sim;
    const firn_store *s = &sim->store;
    const firn_heat_curve *c = firn_heat_curve_of(sim, i);
    real *e = s->heat + i * FIRN_HEAT_RECORD + FIRN_HEAT_ENTHALPY;
    const double before = (double)*e, after = fmax(before + heat, firn_heat_enthalpy(c, 0));
    *e = round_by_chance(after, s->id[i], job->time);
    const double was = firn_heat_liquid(c, before), is = firn_heat_liquid(c, (double)*e);
    if (is < was) freeze(sim, i, was, is);
}

/* What comes back to the particles. */
static void store_chunk(void *context, int64_t chunk, int32_t thread)
{
    (void)thread;
    const heat_job *job = context;
    const firn_sim *sim = job->sim;
    const firn_store *s = &sim->store;
    const firn_scalar *in = sim->heat.particle.data;
    const firn_scalar_mean *back = sim->heat.result.data;
    for (int64_t i = chunk * PARTICLES; i < chunk_end(job, chunk); i++) {
        const double mass = (double)s->mass[i];
        const double capacity = (double)in[i].weight / mass;
        double gain = (double)back[i].mean[0] - (double)in[i].value * (double)back[i].mean[1];
        for (int a = 0; a < job->dim; a++)
            gain -= (double)in[i].gradient[a] * (double)back[i].moment[a];
        real *record = s->heat + i * FIRN_HEAT_RECORD +
                       (job->kind == HEAT ? FIRN_HEAT_ENTHALPY : FIRN_HEAT_CONCENTRATION);
        for (int a = 0; a < job->dim; a++) record[1 + a] = back[i].gradient[a];
        if (job->kind == HEAT) {
            warm_particle(job, i, capacity * gain);
        } else {
            record[0] = round_by_chance((double)record[0] + gain, s->id[i], job->time);
        }
    }
}

/* ---- the grid ---- */

/* Numbers of a node along the axes, and back; a block's last axis varies fastest. */
static void node_at(const heat_job *job, int n, int at[3])
{
    for (int a = job->dim - 1; a >= 0; a--, n /= FIRN_BLOCK) at[a] = n % FIRN_BLOCK;
}

static int stride(const heat_job *job, int axis)
{
    return axis == job->dim - 1 ? 1 : axis == job->dim - 2 ? FIRN_BLOCK : FIRN_BLOCK * FIRN_BLOCK;
}

/* How much of a node's kernel is above a plane that is `cells` below it: the quadratic spline's, and
 * near enough for the cubic. */
static double kernel_above(double cells)
{
    const double x = fabs(cells);
    const double tail = x >= 1.5  ? 0
                        : x > 0.5 ? (1.5 - x) * (1.5 - x) * (1.5 - x) / 6
                                  : 0.5 - 0.75 * x + x * x * x / 3;
    return cells > 0 ? 1 - tail : tail;
}

/* Cells from a collider's surface to a node, negative within it. */
static double cells_from(const heat_job *job, int64_t block, int n, int32_t collider,
                         double normal[3])
{
    double x[3] = {0};
    const firn_posed_collider *posed = job->sim->posed_pool.data;
    firn_grid_node_position(job->sim, job->sim->at->coord[block], n, x);
    return firn_collider_distance(posed + collider, job->dim, x, normal) / job->h;
}

/* The part of a node's cross-section that colliders leave to what flows in a direction: a wall takes its part
 * of the kernel from what flows along it, and nothing from what flows through it. `but` is a collider that does
 * not count, or -1. Where nodes within walls are left out (`outside`), the strip between a wall and the first
 * node is that node's. */
static double free_part(const heat_job *job, int64_t block, int n, const double direction[3],
                        int32_t but, bool outside)
{
    double part = 1;
    int32_t count;
    const int32_t *near = firn_nearby_of(job->sim, block, &count);
    for (int32_t i = 0; i < count; i++) {
        double normal[3], through = 0;
        if (near[i] == but || job->sim->colliders[near[i]].boundary == FIRN_HOLD) continue;
        const double away = cells_from(job, block, n, near[i], normal);
        const double free = !outside ? kernel_above(away) : away < 1 ? fmax(away, 0) + 0.5 : 1;
        for (int a = 0; a < job->dim; a++) through += direction[a] * normal[a];
        part *= 1 - (1 - through * through) * (1 - free);
    }
    return part;
}

/* What colliders leave of a node's kernel, and of its cross-section to what flows along the axes: as
 * free_part has it, in one look at each of them. */
static void survey_node(const heat_job *job, int64_t block, int n, heat_links *link)
{
    double room = 1, along[3] = {1, 1, 1};
    int32_t count = 0;
    const int32_t *near = link->near ? firn_nearby_of(job->sim, block, &count) : NULL;
    for (int32_t i = 0; i < count; i++) {
        double normal[3];
        if (job->sim->colliders[near[i]].boundary == FIRN_HOLD) continue; /* takes no room */
        const double taken = 1 - kernel_above(cells_from(job, block, n, near[i], normal));
        room *= 1 - taken;
        for (int a = 0; a < job->dim; a++) along[a] *= 1 - (1 - normal[a] * normal[a]) * taken;
    }
    link->room[n] = (real)(pow(job->h, job->dim) * room);
    for (int a = 0; a < job->dim; a++) link->along[a][n] = (real)along[a];
}

/* What stays while nothing moves. */
static void survey_block(void *context, int64_t block, int32_t thread)
{
    (void)thread;
    const heat_job *job = context;
    heat_links *link = job->link + block;
    int32_t around[FIRN_MAX_NEIGHBOURS], step = 1;
    firn_directory_neighbours(job->sim->at, (int32_t)block, around);
    const int middle = job->dim == 3 ? 13 : 4;
    for (int a = job->dim - 1; a >= 0; a--, step *= 3) {
        link->before[a] = around[middle - step];
        link->after[a] = around[middle + step];
    }
    link->near = job->sim->def.collider_count > 0 &&
                 firn_grid_note_colliders(job->sim, block, FIRN_NEAR_COLLIDER);
    for (int n = 0; n < job->nodes; n++) survey_node(job, block, n, link);
}

static void sum_block(void *context, int64_t block, int32_t thread)
{
    (void)thread;
    heat_job *job = context;
    const real *room = job->link[block].room, least = (real)(1e-6 * pow(job->h, job->dim));
    real sum[1][FIRN_MAX_CELLS][FIRN_NODE];
    firn_grid_sum_arenas(job->sim, job->sim->at, 1, block, sum);
    heat_node *node = job->node + block * job->nodes;
    for (int n = 0; n < job->nodes; n++) {
        const real *q = sum[0][n];
        node[n] = (heat_node){0};
        if (!(q[0] > 0 && q[3] > 0)) continue; /* weights of what lies on a node underflow */
        node[n].capacity = q[0];
        node[n].value = q[1] / q[0];
        node[n].conductivity = q[2] / q[3];
        node[n].full = (real)fmin((double)(q[3] / (room[n] > least ? room[n] : least)), 1);
    }
}

/* The node before (-1) or after (1) another along an axis, NULL where there is none. */
static const heat_node *next_node(const heat_job *job, int64_t block, int n, int axis, int way)
{
    const heat_links *link = job->link + block;
    int at[3];
    node_at(job, n, at);
    const int to = at[axis] + way, step = stride(job, axis);
    if (to >= 0 && to < FIRN_BLOCK) return job->node + block * job->nodes + n + way * step;
    const int32_t other = way < 0 ? link->before[axis] : link->after[axis];
    return other < 0 ? NULL
                     : job->node + (int64_t)other * job->nodes + n - way * (FIRN_BLOCK - 1) * step;
}

/* The blocks of other bodies at a block's place, one after the other; -1: that was the last. */
static int32_t next_peer(const heat_job *job, int64_t block, int32_t after)
{
    const firn_directory *d = job->sim->at;
    if (d->meeting_count == 0 || d->peer[after] == block) return -1;
    return d->peer[after];
}

static double harmonic(double a, double b) { return a + b > 0 ? 2 * a * b / (a + b) : 0; }

/* Adds to a node a surface of `area` m2 beyond which it is so warm. */
static void add_surface(const heat_job *job, heat_links *link, int n, double area, double transfer,
                        double temperature)
{
    const double G = job->dt * area * transfer;
    link->out[n] += (real)G;
    link->gain[n] += (real)(G * (temperature - job->heat.ambient));
}

/* By how much values grow along a direction, per cell, as they were. */
static double difference_along(const heat_job *job, int64_t block, int n, const double normal[3])
{
    const double own = (double)job->node[block * job->nodes + n].value;
    double sum = 0;
    for (int a = 0; a < job->dim; a++) {
        double step = 0;
        int count = 0;
        for (int way = -1; way <= 1; way += 2) {
            const heat_node *other = next_node(job, block, n, a, way);
            if (!other || !(other->capacity > 0)) continue;
            step += way * ((double)other->value - own);
            count++;
        }
        if (count > 0) sum += normal[a] * step / count;
    }
    return sum;
}

/* What a node exchanges with walls, and with air and sky. A wall's surface is spread over the nodes
 * within a cell of it, a free one follows from how full neighbours are. */
static void open_node(const heat_job *job, int64_t block, int n)
{
    const firn_sim *sim = job->sim;
    const firn_heat_def *heat = &job->heat;
    const heat_node *node = job->node + block * job->nodes + n;
    heat_links *link = job->link + block;
    const double side = job->face * job->h; /* h^(dim - 1) */
    bool inside = false;
    int32_t count;
    const int32_t *near = firn_nearby_of(sim, block, &count);
    for (int32_t i = 0; link->near && i < count; i++) {
        const int32_t k = near[i];
        const firn_posed_collider *c = (const firn_posed_collider *)sim->posed_pool.data + k;
        double normal[3];
        const double away = cells_from(job, block, n, k, normal);
        inside |= away < 0 && c->boundary != FIRN_HOLD;
        if (fabs(away) >= 1 || c->temperature == 0 || c->transfer == 0) continue;
        const double way = WALL_WAY * job->h / fmax((double)node->conductivity, 1e-30);
        const double part = (1 - fabs(away)) * free_part(job, block, n, normal, k, false);
        add_surface(job, link, n, side * part * (double)node->full, 1 / (1 / c->transfer + way),
                    c->temperature + away * difference_along(job, block, n, normal));
    }
    if (inside || (heat->transfer == 0 && heat->emissivity == 0)) return;
    double slope[3] = {0}, length = 0;
    for (int a = 0; a < job->dim; a++) {
        const heat_node *low = next_node(job, block, n, a, -1),
                        *high = next_node(job, block, n, a, 1);
        slope[a] = 0.5 * ((high ? (double)high->full : 0) - (low ? (double)low->full : 0));
        length = hypot(length, slope[a]);
    }
    if (!(length > 0)) return;
    for (int a = 0; a < job->dim; a++) slope[a] /= length;
    if (link->near) length *= free_part(job, block, n, slope, -1, true);
    double covered = 0; /* by other bodies */
    for (int32_t p = next_peer(job, block, (int32_t)block); p >= 0; p = next_peer(job, block, p))
        covered += (double)job->node[(int64_t)p * job->nodes + n].full;
    const double area = side * length * fmax(1 - covered, 0);
    if (heat->transfer > 0) add_surface(job, link, n, area, heat->transfer, heat->ambient);
    if (heat->emissivity > 0) { /* T^4 - S^4 = (T^2 + S^2) (T + S) (T - S) */
        const double T = fmax((double)node->value + heat->ambient, 0), S = heat->sky;
        const double rate = heat->emissivity * STEFAN_BOLTZMANN * (T * T + S * S) * (T + S);
        add_surface(job, link, n, area, rate, S);
    }
}

/* Between a node and the one of another body at the same place, which have the same room. Dye stays in its
 * body. */
static double contact(const heat_job *job, const heat_node *a, const heat_node *b, real room)
{
    if (job->kind == DYE) return 0;
    return job->dt / (job->h * job->h) / CONTACT_WAY * (double)room *
           harmonic((double)a->conductivity, (double)b->conductivity) *
           fmin((double)a->full, (double)b->full);
}

static void link_block(void *context, int64_t block, int32_t thread)
{
    (void)thread;
    const heat_job *job = context;
    heat_links *link = job->link + block;
    for (int n = 0; n < job->nodes; n++) {
        const heat_node *node = job->node + block * job->nodes + n;
        link->out[n] = link->gain[n] = 0;
        for (int a = 0; a < job->dim; a++) {
            const heat_node *other = next_node(job, block, n, a, 1);
            link->face[a][n] = 0;
            if (!(node->capacity > 0) || !other || !(other->capacity > 0)) continue;
            const int64_t at = other - job->node;
            const double part =
                (double)(node->full * link->along[a][n] +
                         other->full * job->link[at / job->nodes].along[a][at % job->nodes]);
            link->face[a][n] =
                (real)(job->dt * job->face * 0.5 * part *
                       harmonic((double)node->conductivity, (double)other->conductivity));
        }
        if (job->kind == HEAT && node->capacity > 0) open_node(job, block, n);
    }
}

/* Faces towards lower nodes belong to those. */
static real face_before(const heat_job *job, int64_t block, int n, int axis)
{
    int at[3];
    node_at(job, n, at);
    const int step = stride(job, axis);
    if (at[axis] > 0) return job->link[block].face[axis][n - step];
    const int32_t other = job->link[block].before[axis];
    return other < 0 ? 0 : job->link[other].face[axis][n + (FIRN_BLOCK - 1) * step];
}

static void sum_links(void *context, int64_t block, int32_t thread)
{
    (void)thread;
    const heat_job *job = context;
    heat_links *link = job->link + block;
    for (int n = 0; n < job->nodes; n++) {
        const heat_node *node = job->node + block * job->nodes + n;
        real sum = link->out[n];
        for (int a = 0; a < job->dim; a++) sum += link->face[a][n] + face_before(job, block, n, a);
        for (int32_t p = next_peer(job, block, (int32_t)block); p >= 0;
             p = next_peer(job, block, p))
            sum += (real)contact(job, node, job->node + (int64_t)p * job->nodes + n, link->room[n]);
        link->sum[n] = sum;
    }
}

/* out = (C + dt K) in, or without C, of a block; in . out. */
static void multiply_block(void *context, int64_t block, int32_t thread)
{
    (void)thread;
    const heat_job *job = context;
    const heat_links *link = job->link + block;
    const heat_node *node = job->node + block * job->nodes;
    const real *in = job->in + block * job->nodes;
    real sum[NODES];
    for (int n = 0; n < job->nodes; n++) {
        sum[n] = (link->out[n] + (job->whole ? node[n].capacity : 0)) * in[n];
    }
    for (int a = 0; a < job->dim; a++) {
        const int step = stride(job, a), last = (FIRN_BLOCK - 1) * step;
        const int32_t before = link->before[a], after = link->after[a];
        const real *low = before < 0 ? NULL : job->in + (int64_t)before * job->nodes,
                   *high = after < 0 ? NULL : job->in + (int64_t)after * job->nodes;
        const real *face = link->face[a], *face_low = before < 0 ? NULL : job->link[before].face[a];
        for (int n = 0; n < job->nodes; n++) {
            const int at = n / step % FIRN_BLOCK;
            if (at < FIRN_BLOCK - 1) {
                const real flux = face[n] * (in[n] - in[n + step]);
                sum[n] += flux;
                sum[n + step] -= flux;
            } else if (high) {
                sum[n] += face[n] * (in[n] - high[n - last]);
            }
            if (at == 0 && low) sum[n] += face_low[n + last] * (in[n] - low[n + last]);
        }
    }
    for (int32_t p = next_peer(job, block, (int32_t)block); p >= 0; p = next_peer(job, block, p)) {
        const heat_node *other = job->node + (int64_t)p * job->nodes;
        for (int n = 0; n < job->nodes; n++) {
            sum[n] += (real)contact(job, &node[n], &other[n], link->room[n]) *
                      (in[n] - job->in[(int64_t)p * job->nodes + n]);
        }
    }
    memcpy(job->out + block * job->nodes, sum, (size_t)job->nodes * sizeof *sum);
    job->partial[block] = firn_dot(in, sum, job->nodes);
}

static double multiply(void *context, const real *in, real *out)
{
    heat_job *job = context;
    job->in = in;
    job->out = out;
    return sum_over_blocks(job, multiply_block);
}

static void precondition(void *context, int64_t block, const real *r, real *z)
{
    const heat_job *job = context;
    const heat_node *node = job->node + block * job->nodes;
    for (int n = 0; n < job->nodes; n++) {
        const real diagonal = node[n].capacity + job->link[block].sum[n];
        z[n] = diagonal > 0 ? r[n] / diagonal : 0;
    }
}

/* Values before the step into `value`, 0 into `change`. */
static void begin_block(void *context, int64_t block, int32_t thread)
{
    (void)thread;
    heat_job *job = context;
    real *change = job->sim->heat.change.data;
    for (int n = 0; n < job->nodes; n++) {
        job->value[block * job->nodes + n] = job->node[block * job->nodes + n].value;
        change[block * job->nodes + n] = 0;
    }
}

/* Residual of no change: gain - K T, from K T in `residual`; r . M^-1 r. */
static void start_block(void *context, int64_t block, int32_t thread)
{
    (void)thread;
    const heat_job *job = context;
    real *r = (real *)job->sim->heat.residual.data + block * job->nodes, z[NODES];
    for (int n = 0; n < job->nodes; n++) r[n] = job->link[block].gain[n] - r[n];
    precondition(context, block, r, z);
    job->partial[block] = firn_dot(r, z, job->nodes);
}

static void change_block(void *context, int64_t block, int32_t thread)
{
    (void)thread;
    heat_job *job = context;
    const real *change = job->sim->heat.change.data;
    for (int64_t n = block * job->nodes; n < (block + 1) * job->nodes; n++)
        job->value[n] += change[n];
}

/* What goes back: heat per capacity with what the filter takes the value to, the filter, and the value
 * after; from K T in `image`. */
static void finish_block(void *context, int64_t block, int32_t thread)
{
    (void)thread;
    const heat_job *job = context;
    const heat_links *link = job->link + block;
    real(*out)[FIRN_NODE] =
        (real(*)[FIRN_NODE])firn_grid_channel(job->sim, &job->sim->grid.velocity, block);
    const real *lost = (const real *)job->sim->heat.image.data + block * job->nodes;
    for (int n = 0; n < job->nodes; n++) {
        const heat_node *node = job->node + block * job->nodes + n;
        memset(out[n], 0, sizeof out[n]);
        if (!(node->capacity > 0)) continue;
        const real filter = link->sum[n] / (node->capacity + link->sum[n]);
        out[n][0] = (link->gain[n] - lost[n]) / node->capacity + filter * node->value;
        out[n][1] = filter;
        out[n][2] = job->value[block * job->nodes + n];
    }
}

/* One step of conduction of a scalar. */
static firn_status conduct(heat_job *job, const firn_pass *pass, firn_error *error)
{
    firn_sim *sim = job->sim;
    firn_heat *m = &sim->heat;
    over_particles(job, load_chunk);
    firn_sim_run_pass(sim, pass, sim->kernels->scalar_scatter);
    over_blocks(job, sum_block);
    over_blocks(job, link_block);
    over_blocks(job, sum_links);
    over_blocks(job, begin_block);
    job->whole = false;
    multiply(job, job->value, m->residual.data);
    const double start = sqrt(sum_over_blocks(job, start_block));
    const firn_system system = {.workers = &sim->workers,
                                .blocks = sim->at->count,
                                .block_reals = job->nodes,
                                .apply = multiply,
                                .precondition = precondition,
                                .context = job,
                                .partial = job->partial};
    real *const work[2] = {m->direction.data, m->image.data};
    job->whole = true;
    const firn_solution s = firn_solve_cg(&system, m->change.data, m->residual.data, work,
                                          sim->def.heat.tolerance * start, ITERATIONS);
    sim->report.heat_iterations += s.iterations;
    sim->report.heat_steps++;
    if (!(s.residual <= start)) {
        const bool dye = job->kind == DYE;
        return firn_fail(error, FIRN_DIVERGED,
                         "at %g s conduction cannot be solved: %s travels too many cells of %g m "
                         "in a step; lower heat.speed %g, or the materials' %s",
                         sim->time, dye ? "dye" : "heat", job->h, sim->def.heat.speed,
                         dye ? "diffusivity" : "conductivity");
    }
    if (!s.converged && sim->def.log.write) {
        char text[160];
        snprintf(text, sizeof text, "at %g s conduction was solved to %.2g only, in %d iterations",
                 sim->time, s.residual / start, ITERATIONS);
        sim->def.log.write(sim->def.log.user_data, FIRN_LOG_WARNING, "heat", text);
    }
    over_blocks(job, change_block);
    job->whole = false;
    multiply(job, job->value, m->image.data);
    over_blocks(job, finish_block);
    firn_sim_run_pass(sim, pass, sim->kernels->scalar_gather);
    over_particles(job, store_chunk);
    return FIRN_OK;
}

/* ---- the melt's volume ---- */

/* Only what is all melt where the densities differ: a half-molten particle's volume is not the liquid's. */
static bool has_liquid_volume(const firn_sim *sim, int64_t i)
{
    const firn_material_def *m = &sim->materials[sim->store.material[i]];
    const double e = (double)sim->store.heat[i * FIRN_HEAT_RECORD + FIRN_HEAT_ENTHALPY];
    const double f = firn_heat_liquid(firn_heat_curve_of(sim, i), e);
    return m->liquid_density > 0 && m->liquid_density != m->density ? f >= 1 : f > 0;
}

static void load_volumes(void *context, int64_t chunk, int32_t thread)
{
    (void)thread;
    const heat_job *job = context;
    const firn_store *s = &job->sim->store;
    firn_scalar *out = job->sim->heat.particle.data;
    for (int64_t i = chunk * PARTICLES; i < chunk_end(job, chunk); i++) {
        out[i] = (firn_scalar){0};
        if (!has_liquid_volume(job->sim, i)) continue;
        const double rest = look_at(job->sim, i).volume;
        out[i].weight = (real)rest;
        out[i].value = (real)(firn_sim_det(job->sim, i) * (double)s->volume[i] / rest - 1);
    }
}

static void mean_volumes(void *context, int64_t block, int32_t thread)
{
    (void)thread;
    const heat_job *job = context;
    const real *room = job->link[block].room, least = (real)(0.1 * pow(job->h, job->dim));
    real sum[1][FIRN_MAX_CELLS][FIRN_NODE];
    real(*out)[FIRN_NODE] =
        (real(*)[FIRN_NODE])firn_grid_channel(job->sim, &job->sim->grid.velocity, block);
    firn_grid_sum_arenas(job->sim, job->sim->at, 1, block, sum);
    for (int n = 0; n < job->nodes; n++) {
        memset(out[n], 0, sizeof out[n]);
        if (!(sum[0][n][0] > 0)) continue;
        const double fill = (double)(sum[0][n][0] / (room[n] > least ? room[n] : least)),
                     over = fmin(fmax(fill - 1 - CROWD, 0), CROWD_MOST);
        out[n][0] = sum[0][n][1] / sum[0][n][0] - (real)over;
    }
}

static void store_volumes(void *context, int64_t chunk, int32_t thread)
{
    (void)thread;
    const heat_job *job = context;
    const firn_sim *sim = job->sim;
    const firn_store *s = &sim->store;
    const firn_scalar *in = sim->heat.particle.data;
    const firn_scalar_mean *back = sim->heat.result.data;
    const double pace = 0.1; /* of sound, cells */
    for (int64_t i = chunk * PARTICLES; i < chunk_end(job, chunk); i++) {
        if (!(in[i].weight > 0)) continue;
        const firn_law_constants *k =
            (const firn_law_constants *)sim->constant_pool.data + s->material[i];
        const double stiff = 2 * (double)k->mu + (double)k->lambda,
                     sound = sqrt(stiff * (double)(s->volume[i] / s->mass[i]));
        const double part = -expm1(-pace * sound * job->dt_motion / job->h);
        const double J = 1 + (double)in[i].value, to = J + part * ((double)back[i].mean[0] + 1 - J);
        if (!(J > 0 && to > 0)) continue;
        real *H = s->record + i * FIRN_RECORD + firn_offset_F(s->dim);
        const double scale = pow(to / J, 1.0 / s->dim);
        for (int c = 0; c < s->dim * s->dim; c++) {
            const double one = c % (s->dim + 1) == 0;
            H[c] = (real)(scale * ((double)H[c] + one) - one);
        }
    }
}

/* A melt forgets how far each of its particles is squeezed, and pressure alone would leave neighbours
 * apart for ever: their J / J_r goes towards the mean around them, which leaves the sum alone in a melt of one
 * kind, and below it where they crowd. */
static void even_volumes(heat_job *job, const firn_pass *pass)
{
    firn_sim *sim = job->sim;
    over_particles(job, load_volumes);
    firn_sim_run_pass(sim, pass, sim->kernels->scalar_scatter);
    over_blocks(job, mean_volumes);
    firn_sim_run_pass(sim, pass, sim->kernels->scalar_gather);
    over_particles(job, store_volumes);
}

/* ---- the step ---- */

static firn_status reserve(firn_sim *sim, int nodes, firn_error *error)
{
    firn_heat *m = &sim->heat;
    const size_t blocks = (size_t)sim->at->count, count = (size_t)sim->store.count,
                 reals = blocks * (size_t)nodes * sizeof(real);
    firn_status st = FIRN_OK;
#define RESERVE(pool, size)                                                                        \
    if (st == FIRN_OK) st = firn_pool_renew(sim->allocator, &(pool), size, error)
    RESERVE(m->particle, count * sizeof(firn_scalar));
    RESERVE(m->result, count * sizeof(firn_scalar_mean));
    RESERVE(m->node, blocks * (size_t)nodes * sizeof(heat_node));
    RESERVE(m->link, blocks * sizeof(heat_links));
    RESERVE(m->temperature, reals);
    RESERVE(m->change, reals);
    RESERVE(m->residual, reals);
    RESERVE(m->direction, reals);
    RESERVE(m->image, reals);
    RESERVE(sim->implicit.partial, blocks * sizeof(double));
#undef RESERVE
    return st;
}

/* Warms what is within the sources, for as much of the step as they are on. */
static void heat_sources(heat_job *job)
{
    const firn_sim *sim = job->sim;
    const firn_store *s = &sim->store;
    for (int32_t k = 0; k < sim->def.heat.source_count; k++) {
        const firn_heat_source *q = &sim->def.heat.sources[k];
        const double begin = fmax(q->begin, job->time - job->dt_motion),
                     end = fmin(q->end, job->time);
        if (!(end > begin)) continue;
        double power = q->power;
        if (q->power_keys.count) firn_track_mean(&q->power_keys, begin, end, &power);
        const double heat = power * (end - begin) * sim->def.heat.speed; /* J/m3 */
        firn_posed_collider posed;
        firn_collider_pose(&q->shape, job->dim, job->time, &posed);
        firn_walk w = firn_store_walk(s, sim->from);
        while (firn_walk_next(&w)) {
            double x[3], normal[3];
            firn_sim_position(sim, w.coord, w.particle, x);
            if (firn_collider_distance(&posed, job->dim, x, normal) > 0) continue;
            warm_particle(job, w.particle,
                          heat * look_at(sim, w.particle).volume / (double)s->mass[w.particle]);
        }
    }
}

firn_status firn_heat_step(firn_sim *sim, double seconds, firn_error *error)
{
    const int dim = sim->store.dim, nodes = firn_pow(FIRN_BLOCK, dim);
    firn_status st = firn_sim_prepare(sim, 1, error);
    if (st == FIRN_OK) st = firn_grid_reserve_arenas(sim, 1, error);
    if (st == FIRN_OK) st = reserve(sim, nodes, error);
    if (st != FIRN_OK) return st;
    firn_sim_pose_colliders(sim, sim->time);
    st = firn_nearby_find(sim, error);
    if (st != FIRN_OK) return st;
    firn_pass pass = firn_sim_pass(sim);
    pass.arena_channels = FIRN_NODE;
    pass.scalar = sim->heat.particle.data;
    pass.scalar_mean = sim->heat.result.data;
    heat_job job = {.sim = sim,
                    .heat = sim->def.heat,
                    .dt = seconds * sim->def.heat.speed,
                    .dt_motion = seconds,
                    .time = sim->time,
                    .nodes = nodes,
                    .dim = dim,
                    .h = sim->def.cell_size,
                    .face = dim == 3 ? sim->def.cell_size : 1,
                    .node = sim->heat.node.data,
                    .link = sim->heat.link.data,
                    .value = sim->heat.temperature.data,
                    .partial = sim->implicit.partial.data};
    firn_params_sample(firn_heat_param, &job.heat, sim->time);
    bool dyed = false, melts = false;
    double rate = 0; /* of the shortest step, 1/s */
    for (int32_t i = 0; i < sim->def.material_count; i++) {
        const firn_material_def *m = &sim->materials[i];
        double alpha = m->conductivity / (m->density * m->heat_capacity), most = STEP_MOST;
        dyed |= m->diffusivity > 0;
        if (firn_law_get_info(m->law).melts) {
            melts = true;
            most = MELTING_MOST;
            alpha = fmax(alpha, m->liquid_conductivity / (m->density * m->liquid_heat_capacity));
        }
        rate = fmax(rate, alpha / (most * job.h * job.h));
    }
    over_blocks(&job, survey_block);
    heat_sources(&job);
    /* Projection keeps volumes itself: a melt that seems smaller where it is crowded would stay so. */
    if (melts && sim->def.pressure != FIRN_PRESSURE_PROJECTION) even_volumes(&job, &pass);
    const int parts = (int)fmax(ceil(fmin(rate * job.dt, PARTS_MOST)), 1);
    job.dt /= parts;
    for (int i = 0; i < parts && st == FIRN_OK; i++) st = conduct(&job, &pass, error);
    if (dyed && st == FIRN_OK) {
        job.kind = DYE;
        job.dt = seconds * sim->def.heat.speed;
        st = conduct(&job, &pass, error);
    }
    return st;
}
