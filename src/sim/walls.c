/* Nodes in walls, as an implicit step sees them: directions along which their velocity is given, and
 * drag along the walls.
 *
 * A wall that only keeps material out holds a node or lets go of it; the solver decides that (see
 * implicit.c), here it is a flag. */
#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "sim/sim.h"

firn_wall_node *firn_walls_of(const firn_sim *sim, int64_t block, int32_t *count)
{
    const int32_t *first = sim->implicit.wall_first.data;
    *count = first[block + 1] - first[block];
    return *count ? (firn_wall_node *)sim->implicit.wall.data + first[block] : NULL;
}

/* The walls that a node is in, the first few. */
static int32_t list_walls(const firn_sim *sim, int64_t block, int n, firn_wall_node *c)
{
    const firn_posed_collider *collider = sim->posed_pool.data;
    const double slack = 1e-6 * sim->def.cell_size;
    double position[3], surface[3];
    firn_grid_node_position(sim, sim->at->coord[block], n, position);
    *c = (firn_wall_node){.node = n};
    int32_t count;
    const int32_t *near = firn_nearby_of(sim, block, &count);
    for (int32_t k = 0; k < count; k++) {
        const int32_t i = near[k];
        firn_face face[FIRN_MAX_FACES];
        const int faces = firn_collider_faces(&collider[i], sim->store.dim, position, slack, face);
        for (int f = 0; f < faces && c->count < FIRN_WALLS; f++) {
            firn_wall *to = &c->wall[c->count++];
            firn_collider_contact_velocity(&collider[i], position, face[f].normal, surface);
            for (int a = 0; a < 3; a++) {
                to->normal[a] = (real)face[f].normal[a];
                to->surface[a] = (real)surface[a];
            }
            to->friction = (real)collider[i].friction;
            to->collider = i;
            to->boundary = collider[i].boundary;
            to->holds = collider[i].boundary != FIRN_SEPARATE;
        }
    }
    return c->count;
}

/* Writes the block's list behind its first place, or only counts; returns how many. */
static int32_t list_block(const firn_sim *sim, int64_t block, firn_wall_node *to)
{
    const int32_t dim = sim->store.dim, nodes = firn_pow(FIRN_BLOCK, dim);
    const real *mass = firn_grid_channel(sim, &sim->grid.velocity_old, block) + FIRN_NODE - 1;
    double center[3] = {0};
    for (int a = 0; a < dim; a++) {
        center[a] =
            (FIRN_BLOCK * sim->at->coord[block][a] + 0.5 * (FIRN_BLOCK - 1)) * sim->def.cell_size;
    }
    if (!firn_grid_is_near_collider(sim, block, center, FIRN_BLOCK)) return 0;
    int32_t count = 0;
    for (int n = 0; n < nodes; n++) {
        firn_wall_node c;
        if (!(mass[n * FIRN_NODE] > 0) || list_walls(sim, block, n, &c) == 0) continue;
        if (to) to[count] = c;
        count++;
    }
    return count;
}

static void count_task(void *context, int64_t block, int32_t thread)
{
    (void)thread;
    const firn_sim *sim = context;
    ((int32_t *)sim->implicit.wall_first.data)[block] = list_block(sim, block, NULL);
}

static void list_task(void *context, int64_t block, int32_t thread)
{
    (void)thread;
    const firn_sim *sim = context;
    int32_t count;
    firn_wall_node *to = firn_walls_of(sim, block, &count);
    if (count) list_block(sim, block, to);
}

firn_status firn_walls_find(firn_sim *sim, firn_error *error)
{
    const int32_t blocks = sim->at->count;
    int32_t *first = sim->implicit.wall_first.data, sum = 0;
    memset(first, 0, (size_t)(blocks + 1) * sizeof *first);
    if (!sim->def.collider_count) return FIRN_OK;
    firn_status st = firn_nearby_find(sim, error);
    if (st != FIRN_OK) return st;
    firn_workers_run(&sim->workers, blocks, 16, count_task, sim);
    for (int32_t b = 0; b <= blocks; b++) {
        const int32_t count = first[b];
        first[b] = sum;
        sum += count;
    }
    st = firn_pool_renew(sim->allocator, &sim->implicit.wall, (size_t)sum * sizeof(firn_wall_node),
                         error);
    if (st == FIRN_OK) firn_workers_run(&sim->workers, blocks, 16, list_task, sim);
    return st;
}

static real dot(const real a[3], const real b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

void firn_wall_settle(firn_wall_node *c, int32_t dim)
{
    c->held = 0;
    for (int i = 0; i < c->count; i++) {
        const firn_wall *t = &c->wall[i];
        if (!t->holds || !firn_boundary_holds(t->boundary)) continue;
        memset(c->direction, 0, sizeof c->direction);
        for (c->held = 0; c->held < dim; c->held++) {
            c->direction[c->held][c->held] = 1;
            c->speed[c->held] = t->surface[c->held];
            c->cause[c->held] = i;
        }
        return;
    }
    for (int i = 0; i < c->count && c->held < dim; i++) {
        const firn_wall *t = &c->wall[i];
        if (!t->holds) continue;
        real rest[3], speed = dot(t->normal, t->surface); /* Gram and Schmidt */
        memcpy(rest, t->normal, sizeof rest);
        for (int k = 0; k < c->held; k++) {
            const real along = dot(t->normal, c->direction[k]);
            for (int a = 0; a < 3; a++) rest[a] -= along * c->direction[k][a];
            speed -= along * c->speed[k];
        }
        const real size = R_SQRT(dot(rest, rest));
        if (size < (real)0.05) continue; /* held already */
        for (int a = 0; a < 3; a++) c->direction[c->held][a] = rest[a] / size;
        c->speed[c->held] = speed / size;
        c->cause[c->held++] = i;
    }
}

void firn_wall_project(const firn_wall_node *c, real v[3])
{
    for (int k = 0; k < c->held; k++) {
        const real along = dot(v, c->direction[k]);
        for (int a = 0; a < 3; a++) v[a] -= along * c->direction[k][a];
    }
}
