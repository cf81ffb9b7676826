/* Bodies that meet: what the nodes of different bodies at the same place do to each other.
 *
 * Where two bodies have mass on a node and approach each other along the normal, they exchange just
 * the momentum that stops that, and Coulomb friction of it (Bardenhagen et al. 2001); bodies that
 * move apart do not feel each other. The normal is where one's mass falls off and the other's grows.
 * Several bodies at a node meet in pairs. Every exchange keeps momentum, and each ring of blocks is
 * one call that writes its own nodes only, so results do not depend on the thread count. */
#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "sim/sim.h"

/* A block of a ring. */
typedef struct member {
    int32_t block;
    int32_t beside[6]; /* below and above along each axis, -1: none */
    bool asked;        /* whether these are known */
    uint64_t mass;     /* nodes that have some, a bit each */
    real full;         /* kg on a node within its bodies */
} member;

typedef struct ring {
    member member[FIRN_MAX_LAYERS];
    int32_t count;
    uint64_t shared; /* nodes where several of them have mass */
} ring;

static void open_ring(const firn_sim *sim, int64_t number, ring *r)
{
    const firn_directory *d = sim->at;
    const int32_t nodes = firn_pow(FIRN_BLOCK, d->dim), first = d->meeting[number];
    uint64_t any = 0;
    r->count = 0;
    r->shared = 0;
    int32_t block = first;
    do {
        member *m = &r->member[r->count++];
        m->block = block;
        m->asked = false;
        m->mass = 0;
        const real *node = firn_grid_channel(sim, &sim->grid.velocity, block);
        for (int n = 0; n < nodes; n++) {
            m->mass |= (uint64_t)(node[n * FIRN_NODE + 3] > 0) << n;
        }
        r->shared |= any & m->mass;
        any |= m->mass;
        block = d->peer[block];
    } while (block != first);
}

static void find_beside(const firn_sim *sim, member *m)
{
    const firn_directory *d = sim->at;
    const int32_t layer = firn_directory_layer(d, m->block);
    for (int f = 0; f < 2 * d->dim; f++) {
        int32_t coord[3];
        memcpy(coord, d->coord[m->block], sizeof coord);
        coord[f / 2] += f % 2 ? 1 : -1;
        m->beside[f] = firn_directory_find(d, firn_block_key(d, layer, coord));
    }
    m->full = sim->layers.density[layer] * (real)pow(sim->def.cell_size, d->dim);
    m->asked = true;
}

/* How fast mass grows at a node, by central differences, as a part of that of a full cell, squared:
 * the steeper of two sides that meet is the truer one. */
static void find_growth(const firn_sim *sim, member *m, int n, real grows[3])
{
    const int32_t dim = sim->store.dim;
    real length2 = 0;
    if (!m->asked) find_beside(sim, m);
    for (int a = dim - 1, unit = 1; a >= 0; a--, unit *= FIRN_BLOCK) {
        real mass[2];
        for (int side = 0; side < 2; side++) {
            const int to = n / unit % FIRN_BLOCK + (side ? 1 : -1);
            const bool within = to >= 0 && to < FIRN_BLOCK;
            const int32_t block = within ? m->block : m->beside[2 * a + side];
            const int at = n + unit * (side ? 1 : -1) * (within ? 1 : 1 - FIRN_BLOCK);
            mass[side] =
                block < 0 ? 0
                          : firn_grid_channel(sim, &sim->grid.velocity, block)[at * FIRN_NODE + 3];
        }
        grows[a] = (mass[1] - mass[0]) / m->full;
    }
    for (int a = 0; a < dim; a++) length2 += grows[a] * grows[a];
    for (int a = 0; a < dim; a++) grows[a] *= R_SQRT(length2);
}

/* Who has mass on a node, and how it grows there; returns how many. */
static int32_t gather_node(const firn_sim *sim, ring *r, int n, member *who[FIRN_MAX_LAYERS],
                           real grows[FIRN_MAX_LAYERS][3])
{
    int32_t count = 0;
    for (int32_t i = 0; i < r->count; i++) {
        if (!(r->member[i].mass >> n & 1)) continue;
        who[count] = &r->member[i];
        find_growth(sim, who[count], n, grows[count]);
        count++;
    }
    return count;
}

static real *node_of(const firn_sim *sim, const firn_pool *channel, const member *m, int n)
{
    return firn_grid_channel(sim, channel, m->block) + n * FIRN_NODE;
}

static double pair_friction(const firn_sim *sim, int32_t layer_a, int32_t layer_b)
{
    const real own = sim->def.contact_count ? sim->layers.friction[layer_a][layer_b] : -1;
    return own >= 0 ? (double)own : sim->def.contact_friction;
}

/* The direction from a to b; false where there is none to be had. */
static bool find_normal(int32_t dim, const real grows_a[3], const real grows_b[3], real normal[3])
{
    real length2 = 0;
    for (int c = 0; c < dim; c++) {
        normal[c] = grows_b[c] - grows_a[c];
        length2 += normal[c] * normal[c];
    }
    if (!(length2 > 0)) return false;
    const real inverse = 1 / R_SQRT(length2);
    for (int c = 0; c < dim; c++) normal[c] *= inverse;
    return true;
}

/* Two nodes at the same place: velocity and mass each. Where no direction is to be had, they stick. */
static void meet(int32_t dim, real friction, real a[FIRN_NODE], const real grows_a[3],
                 real b[FIRN_NODE], const real grows_b[3])
{
    real normal[3], relative[3], approach = 0, slide2 = 0;
    for (int c = 0; c < dim; c++) relative[c] = a[c] - b[c];
    const real share_a = b[3] / (a[3] + b[3]), share_b = a[3] / (a[3] + b[3]); /* of a change */
    if (!find_normal(dim, grows_a, grows_b, normal)) {
        for (int c = 0; c < dim; c++) {
            a[c] -= share_a * relative[c];
            b[c] += share_b * relative[c];
        }
        return;
    }
    for (int c = 0; c < dim; c++) approach += normal[c] * relative[c];
    if (!(approach > 0)) return;
    for (int c = 0; c < dim; c++) {
        relative[c] -= approach * normal[c];
        slide2 += relative[c] * relative[c];
    }
    const real slide = R_SQRT(slide2), most = friction * approach;
    const real held = slide > most ? most / slide : 1; /* part of the sliding that friction stops */
    for (int c = 0; c < dim; c++) {
        const real change = approach * normal[c] + held * relative[c];
        a[c] -= share_a * change;
        b[c] += share_b * change;
    }
}

static void resolve_ring(void *context, int64_t number, int32_t thread)
{
    (void)thread;
    firn_sim *sim = context;
    const firn_directory *d = sim->at;
    ring r;
    member *who[FIRN_MAX_LAYERS];
    real grows[FIRN_MAX_LAYERS][3];
    open_ring(sim, number, &r);
    for (uint64_t left = r.shared; left; left &= left - 1) {
        const int n = __builtin_ctzll(left);
        const int32_t count = gather_node(sim, &r, n, who, grows);
        for (int32_t i = 0; i < count; i++) {
            const int32_t layer = firn_directory_layer(d, who[i]->block);
            real *a = node_of(sim, &sim->grid.velocity, who[i], n);
            for (int32_t k = i + 1; k < count; k++) {
                const int32_t other = firn_directory_layer(d, who[k]->block);
                meet(d->dim, (real)pair_friction(sim, layer, other), a, grows[i],
                     node_of(sim, &sim->grid.velocity, who[k], n), grows[k]);
            }
        }
    }
    for (int32_t i = 0; i < r.count; i++) { /* what was pushed into a wall does not enter it */
        const int32_t block = r.member[i].block;
        if (!(r.member[i].mass & r.shared)) continue;
        if (d->near_collider[block]) firn_grid_collide_nodes(sim, block);
        firn_grid_note_speed(sim, block);
    }
}

void firn_grid_contact(firn_sim *sim)
{
    firn_workers_run(&sim->workers, sim->at->meeting_count, 1, resolve_ring, sim);
}

static void approach_ring(void *context, int64_t number, int32_t thread)
{
    (void)thread;
    firn_sim *sim = context;
    const int32_t dim = sim->store.dim;
    ring r;
    member *who[FIRN_MAX_LAYERS];
    real grows[FIRN_MAX_LAYERS][3], most = 0;
    open_ring(sim, number, &r);
    for (uint64_t left = r.shared; left; left &= left - 1) {
        const int n = __builtin_ctzll(left);
        const int32_t count = gather_node(sim, &r, n, who, grows);
        for (int32_t i = 0; i < count; i++) {
            const real *a = node_of(sim, &sim->grid.velocity_moved, who[i], n);
            for (int32_t k = i + 1; k < count; k++) {
                const real *b = node_of(sim, &sim->grid.velocity_moved, who[k], n);
                real normal[3], approach = 0;
                if (!find_normal(dim, grows[i], grows[k], normal)) continue;
                for (int c = 0; c < dim; c++) approach += normal[c] * (a[c] - b[c]);
                most = approach > most ? approach : most;
            }
        }
    }
    ((double *)sim->implicit.partial.data)[number] = (double)most;
}

double firn_grid_approach(firn_sim *sim)
{
    const int32_t rings = sim->at->meeting_count;
    double most = 0;
    firn_workers_run(&sim->workers, rings, 1, approach_ring, sim);
    for (int32_t i = 0; i < rings; i++) {
        most = fmax(most, ((const double *)sim->implicit.partial.data)[i]);
    }
    return most;
}
