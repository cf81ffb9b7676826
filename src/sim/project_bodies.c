/* Bodies of liquid, and the momentum that they keep.
 *
 * Neither pressure nor the means that faces beyond the surface get keep momentum to rounding: m / V of a face
 * and the share of it that particles fill differ from those of its neighbours (doc/liquids.md). What no wall can
 * push along an axis may be moved along it as a whole, which changes neither divergence nor strain. So each
 * body, of cells that hang together, gets the mean velocity along such axes that it had after forces.
 *
 * Cells are numbered by block and then by place in it. Sums run in that order on one thread. */
#include <string.h>

#include "sim/project.h"

#define ACROSS 1e-6 /* of a wall's normal: less lets a body slide along the axis */

/* What hangs together: all sums are over its faces. */
typedef struct firn_liquid_body {
    double mass[3], gained[3]; /* momentum, beyond that of forces */
    bool held[3];              /* along an axis, by a wall */
    bool wet;                  /* has a cell with a pressure */
} firn_liquid_body;

typedef struct bodies {
    firn_sim *sim;
    int dim, cells;
    int32_t *number; /* per cell: of the body, or -1; while they are found, of a cell further up */
    firn_liquid_body *body;
    int32_t count;
} bodies;

static bodies bodies_of(firn_sim *sim)
{
    return (bodies){.sim = sim,
                    .dim = sim->store.dim,
                    .cells = firn_pow(FIRN_BLOCK, sim->store.dim),
                    .number = sim->project.body_number.data,
                    .body = sim->project.body.data,
                    .count = sim->project.bodies};
}

static int32_t first_of(int32_t *number, int32_t i)
{
    while (number[i] != i) {
        number[i] = number[number[i]];
        i = number[i];
    }
    return i;
}

/* Each cell with some liquid in it with those before it. */
static void join_cells(const bodies *s)
{
    for (int32_t b = 0; b < s->sim->at->count; b++) {
        const firn_liquid_block *v = firn_liquid_of(s->sim, b);
        for (int c = 0; c < s->cells; c++) {
            const int32_t i = b * s->cells + c;
            s->number[i] = v->volume[c] > 0 ? i : -1;
        }
    }
    for (int32_t b = 0; b < s->sim->at->count; b++) {
        const firn_liquid_block *v = firn_liquid_of(s->sim, b);
        for (int c = 0; c < s->cells; c++) {
            const int32_t i = b * s->cells + c;
            for (int a = 0; a < s->dim && s->number[i] >= 0; a++) {
                int cell;
                const int32_t below = firn_step_from(v, s->dim, c, a, -1, &cell);
                if (below < 0 || s->number[below * s->cells + cell] < 0) continue;
                const int32_t one = first_of(s->number, i),
                              other = first_of(s->number, below * s->cells + cell);
                s->number[one > other ? one : other] = one > other ? other : one;
            }
        }
    }
}

/* Numbers the bodies by their first cells; returns how many there are. */
static int32_t count_bodies(const bodies *s)
{
    const int32_t cells = s->sim->at->count * s->cells;
    int32_t count = 0;
    for (int32_t i = 0; i < cells; i++) {
        if (s->number[i] >= 0) s->number[i] = first_of(s->number, i);
    }
    for (int32_t i = 0; i < cells; i++) { /* numbers of cells before i are those of bodies */
        if (s->number[i] < 0) continue;
        s->number[i] = s->number[i] == i ? count++ : s->number[s->number[i]];
    }
    return count;
}

/* The body of a face across axis a, or NULL. */
static firn_liquid_body *body_at(const bodies *s, int32_t b, int a, int c)
{
    int32_t number = s->number[b * s->cells + c];
    if (number < 0) {
        int cell;
        const int32_t below = firn_step_from(firn_liquid_of(s->sim, b), s->dim, c, a, -1, &cell);
        if (below >= 0) number = s->number[below * s->cells + cell];
    }
    return number < 0 ? NULL : s->body + number;
}

/* Which axes walls hold bodies along. */
static void hold(const bodies *s)
{
    const firn_wall_block *wall = s->sim->project.wall.data;
    for (int32_t i = 0; i < s->sim->project.wall_count; i++) {
        const firn_liquid_block *v = firn_liquid_of(s->sim, wall[i].block);
        for (int a = 0; a < s->dim; a++) {
            for (uint64_t left = v->massive[a]; left; left &= left - 1) {
                const int c = __builtin_ctzll(left);
                const firn_liquid_wall *f = &wall[i].face[a][c];
                firn_liquid_body *body = body_at(s, wall[i].block, a, c);
                if (f->collider < 0 || !body) continue;
                for (int k = 0; k < s->dim; k++) {
                    body->held[k] |= f->sticky || fabs((double)f->normal[k]) > ACROSS;
                }
            }
        }
    }
}

firn_status firn_project_bodies(firn_sim *sim, firn_error *error)
{
    bodies s = bodies_of(sim);
    const size_t cells = (size_t)sim->at->count * (size_t)s.cells;
    firn_status st =
        firn_pool_renew(sim->allocator, &sim->project.body_number, cells * sizeof(int32_t), error);
    if (st != FIRN_OK) return st;
    s = bodies_of(sim);
    join_cells(&s);
    sim->project.bodies = count_bodies(&s);
    const size_t size = (size_t)sim->project.bodies * sizeof(firn_liquid_body);
    st = firn_pool_renew(sim->allocator, &sim->project.body, size, error);
    if (st != FIRN_OK) return st;
    s = bodies_of(sim);
    if (s.count) memset(s.body, 0, size);
    for (int32_t i = 0; i < (int32_t)cells; i++) {
        const firn_liquid_block *v = firn_liquid_of(sim, i / s.cells);
        if (s.number[i] >= 0) s.body[s.number[i]].wet |= firn_bit(v->liquid, i % s.cells);
    }
    hold(&s);
    return FIRN_OK;
}

static void sum_up(const bodies *s, double dt, double keep, const double body[3])
{
    for (int32_t b = 0; b < s->sim->at->count; b++) {
        const firn_liquid_block *v = firn_liquid_of(s->sim, b);
        for (int a = 0; a < s->dim; a++) {
            const real *u = firn_staggered_of(s->sim, b, a);
            for (uint64_t left = v->massive[a]; left; left &= left - 1) {
                const int c = __builtin_ctzll(left);
                firn_liquid_body *to = body_at(s, b, a, c);
                if (!to) continue;
                const double mass = (double)v->mass[a][c];
                to->mass[a] += mass;
                to->gained[a] +=
                    mass * ((double)u[c] - keep * ((double)v->start[a][c] +
                                                   dt * (body[a] + (double)v->push[a][c])));
            }
        }
    }
}

void firn_project_keep_momentum(firn_sim *sim, double dt, double keep, const double body[3])
{
    const bodies s = bodies_of(sim);
    for (int32_t i = 0; i < s.count; i++) {
        for (int a = 0; a < s.dim; a++) s.body[i].mass[a] = s.body[i].gained[a] = 0;
    }
    sum_up(&s, dt, keep, body);
    for (int32_t b = 0; b < sim->at->count; b++) {
        const firn_liquid_block *v = firn_liquid_of(sim, b);
        for (int a = 0; a < s.dim; a++) {
            real *u = firn_staggered_of(sim, b, a);
            for (uint64_t left = v->massive[a]; left; left &= left - 1) {
                const int c = __builtin_ctzll(left);
                const firn_liquid_body *of = body_at(&s, b, a, c);
                if (!of || !of->wet || of->held[a]) continue;
                u[c] -= (real)(of->gained[a] / of->mass[a]);
            }
        }
    }
}
