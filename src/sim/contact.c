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

enum { NODES = FIRN_MAX_CELLS, HALO = FIRN_BLOCK + 2, HALO_NODES = HALO * HALO * HALO };

/* The masses on a block's nodes and on those next to its faces, HALO nodes per axis. */
static void load_masses(const firn_sim *sim, int32_t block, real mass[HALO_NODES])
{
    const firn_directory *d = sim->at;
    const int32_t dim = d->dim, nodes = firn_pow(FIRN_BLOCK, dim);
    memset(mass, 0, HALO_NODES * sizeof *mass);
    for (int f = 0; f <= 2 * dim;
         f++) { /* the block itself, then below and above along each axis */
        const int axis = (f - 1) / 2, side = f == 0 ? 0 : f % 2 ? -1 : 1;
        int32_t coord[3], from = block;
        memcpy(coord, d->coord[block], sizeof coord);
        if (f > 0) {
            coord[axis] += side;
            from = firn_directory_find(d, firn_block_key(d, firn_directory_body(d, block), coord));
        }
        if (from < 0) continue;
        const real *node = firn_grid_channel(sim, &sim->grid.velocity, from);
        for (int n = 0; n < nodes; n++, node += FIRN_NODE) {
            int to = 0, rest = n, unit = 1;
            bool borders = true;
            for (int a = dim - 1; a >= 0; a--, rest /= FIRN_BLOCK, unit *= HALO) {
                const int at = rest % FIRN_BLOCK + 1 + (a == axis ? FIRN_BLOCK * side : 0);
                borders = borders && at >= 0 && at < HALO;
                to += at * unit;
            }
            if (borders) mass[to] = node[3];
        }
    }
}

/* How fast mass grows at every node, by central differences, as a part of that of a full cell, squared:
 * the steeper of two sides that meet is the truer one. */
static void find_growth(const firn_sim *sim, int32_t block, real grows[NODES][3])
{
    const int32_t dim = sim->store.dim, nodes = firn_pow(FIRN_BLOCK, dim);
    const real density = sim->body_density[firn_directory_body(sim->at, block)];
    const real full = density * (real)pow(sim->def.cell_size, dim);
    real mass[HALO_NODES];
    load_masses(sim, block, mass);
    for (int n = 0; n < nodes; n++) {
        int at = 0, step[3] = {0};
        for (int a = dim - 1, rest = n, unit = 1; a >= 0; a--, rest /= FIRN_BLOCK, unit *= HALO) {
            at += (rest % FIRN_BLOCK + 1) * unit;
            step[a] = unit;
        }
        real length2 = 0;
        for (int a = 0; a < dim; a++) {
            grows[n][a] = (mass[at + step[a]] - mass[at - step[a]]) / full;
            length2 += grows[n][a] * grows[n][a];
        }
        for (int a = 0; a < dim; a++) grows[n][a] *= R_SQRT(length2);
    }
}

static double pair_friction(const firn_sim *sim, int32_t body_a, int32_t body_b)
{
    for (int32_t i = 0; i < sim->def.contact_count; i++) {
        const firn_contact *c = &sim->def.contacts[i];
        if ((c->body[0] == body_a && c->body[1] == body_b) ||
            (c->body[0] == body_b && c->body[1] == body_a)) {
            return c->friction;
        }
    }
    return sim->def.contact_friction;
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

static void resolve_ring(void *context, int64_t ring, int32_t thread)
{
    (void)thread;
    firn_sim *sim = context;
    const firn_directory *d = sim->at;
    const int32_t dim = d->dim, nodes = firn_pow(FIRN_BLOCK, dim), first = d->meeting[ring];
    real grows[2][NODES][3];
    for (int32_t one = first; d->peer[one] != first; one = d->peer[one]) {
        find_growth(sim, one, grows[0]);
        for (int32_t other = d->peer[one]; other != first; other = d->peer[other]) {
            find_growth(sim, other, grows[1]);
            const real friction = (real)pair_friction(sim, firn_directory_body(d, one),
                                                      firn_directory_body(d, other));
            real *a = firn_grid_channel(sim, &sim->grid.velocity, one),
                 *b = firn_grid_channel(sim, &sim->grid.velocity, other);
            for (int n = 0; n < nodes; n++, a += FIRN_NODE, b += FIRN_NODE) {
                if (a[3] > 0 && b[3] > 0) {
                    meet(dim, friction, a, grows[0][n], b, grows[1][n]);
                }
            }
        }
    }
    int32_t one = first;
    do { /* what was pushed into a wall does not enter it */
        if (d->near_collider[one]) firn_grid_collide_nodes(sim, one);
        firn_grid_note_speed(sim, one);
        one = d->peer[one];
    } while (one != first);
}

void firn_grid_contact(firn_sim *sim)
{
    firn_workers_run(&sim->workers, sim->at->meeting_count, 1, resolve_ring, sim);
}

static void approach_ring(void *context, int64_t ring, int32_t thread)
{
    (void)thread;
    firn_sim *sim = context;
    const firn_directory *d = sim->at;
    const int32_t dim = d->dim, nodes = firn_pow(FIRN_BLOCK, dim), first = d->meeting[ring];
    real grows[2][NODES][3], most = 0;
    for (int32_t one = first; d->peer[one] != first; one = d->peer[one]) {
        find_growth(sim, one, grows[0]);
        for (int32_t other = d->peer[one]; other != first; other = d->peer[other]) {
            find_growth(sim, other, grows[1]);
            const real *a = firn_grid_channel(sim, &sim->grid.velocity_moved, one),
                       *b = firn_grid_channel(sim, &sim->grid.velocity_moved, other);
            for (int n = 0; n < nodes; n++, a += FIRN_NODE, b += FIRN_NODE) {
                real normal[3], approach = 0;
                if (!(a[3] > 0 && b[3] > 0)) continue;
                if (!find_normal(dim, grows[0][n], grows[1][n], normal)) continue;
                for (int c = 0; c < dim; c++) approach += normal[c] * (a[c] - b[c]);
                most = approach > most ? approach : most;
            }
        }
    }
    ((double *)sim->implicit.partial.data)[ring] = (double)most;
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
