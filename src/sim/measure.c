/* Looking at the whole: sums over particles, and the grid of the current state. Computed when
 * asked. */
#include <math.h>
#include <string.h>

#include "sim/project.h"

/* Adds one particle. Angular momentum about the origin: x cross m v, plus what APIC keeps in C,
 * which is m times D's diagonal times the antisymmetric part. */
static void add_particle(const firn_sim *sim, const double gravity[3], firn_totals *t, int64_t i,
                         const double x[3], double inertia)
{
    const firn_store *s = &sim->store;
    const int dim = s->dim;
    const real *r = s->record + i * FIRN_RECORD, *C = firn_store_gradient(s, i);
    const double m = (double)s->mass[i];
    double v[3] = {0}, speed2 = 0, C2 = 0;
    for (int a = 0; a < dim; a++) {
        v[a] = (double)r[firn_offset_velocity(dim) + a];
        speed2 += v[a] * v[a];
        t->momentum[a] += m * v[a];
        t->gravitational -= m * gravity[a] * x[a];
    }
    for (int c = 0; c < dim * dim; c++) C2 += (double)C[c] * (double)C[c];
    t->mass += m;
    t->kinetic += 0.5 * m * (speed2 + inertia * C2);
    t->max_speed = fmax(t->max_speed, sqrt(speed2));
    for (int a = dim == 2 ? 2 : 0; a < 3; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        const double spin = (double)C[c * dim + b] - (double)C[b * dim + c];
        t->angular_momentum[a] += m * (x[b] * v[c] - x[c] * v[b] + inertia * spin);
    }
    const bool apart = firn_law_state(sim->materials[s->material[i]].law) == FIRN_STATE_LOG_VOLUME;
    const double rest = apart ? exp((double)r[firn_offset_state(dim)]) : 1;
    const double det = firn_sim_det(sim, i);
    if (s->heat) {
        const firn_heat_curve *c = firn_heat_curve_of(sim, i);
        const double e = (double)s->heat[i * FIRN_HEAT_RECORD + FIRN_HEAT_ENTHALPY];
        const double temperature = firn_heat_temperature(c, e);
        t->heat += m * e;
        t->liquid += m * firn_heat_liquid(c, e);
        t->min_temperature = fmin(t->min_temperature, temperature);
        t->max_temperature = fmax(t->max_temperature, temperature);
    }
    t->min_J = fmin(t->min_J, det * rest);
    t->max_J = fmax(t->max_J, det * rest);
    double normal[3];
    for (int32_t k = 0; k < sim->def.collider_count; k++) {
        const firn_posed_collider *c = (const firn_posed_collider *)sim->posed_pool.data + k;
        if (c->boundary != FIRN_HOLD && firn_collider_distance(c, dim, x, normal) < 0) {
            t->outside++;
            break;
        }
    }
}

firn_status firn_sim_measure(firn_sim *sim, firn_totals *totals, firn_error *error)
{
    if (!firn_sim_is_idle(sim, error)) return FIRN_INVALID;
    if (!totals) return firn_fail(error, FIRN_INVALID, "totals is NULL");
    const firn_store *s = &sim->store;
    const double h = sim->def.cell_size;
    const bool affine = firn_transfer_is_affine(sim->def.transfer);
    const double inertia = affine ? h * h / (sim->def.spline == FIRN_QUADRATIC ? 4 : 3) : 0;
    firn_totals t = {.min_J = INFINITY, .max_J = -INFINITY};
    double gravity[3];
    firn_sim_gravity(sim, sim->time, sim->time, gravity);
    if (s->heat && s->count > 0) t.min_temperature = INFINITY;
    firn_sim_pose_colliders(sim, sim->time);
    firn_walk w = firn_store_walk(s, sim->from);
    while (firn_walk_next(&w)) {
        double x[3];
        firn_sim_position(sim, w.coord, w.particle, x);
        add_particle(sim, gravity, &t, w.particle, x, inertia);
    }
    if (s->count == 0) t.min_J = t.max_J = 1;
    const firn_pass pass = firn_sim_pass(sim);
    t.elastic = sim->kernels->energy(&pass, pass.order, s->count);
    *totals = t;
    return FIRN_OK;
}

/* The cells of a projected step from here. Blocks have the numbers that any scatter gives them. */
static firn_status classify_cells(firn_sim *sim, firn_error *error)
{
    const firn_status st = firn_sim_scatter_staggered(sim, sim->def.dt_max, error);
    if (st != FIRN_OK) return st;
    firn_sim_pose_colliders(sim, sim->time);
    return firn_project_open(sim, error);
}

static firn_cell_class class_of(const firn_sim *sim, int32_t b, int c)
{
    const firn_liquid_block *v = firn_liquid_of(sim, b);
    return v->liquid >> c & 1 ? FIRN_CELL_INTERIOR
           : v->room >> c & 1 ? FIRN_CELL_EMPTY
                              : FIRN_CELL_COLLIDER;
}

firn_status firn_sim_visit_grid(firn_sim *sim, firn_node_visitor *visit, void *user_data,
                                firn_error *error)
{
    if (!firn_sim_is_idle(sim, error)) return FIRN_INVALID;
    if (!visit) return firn_fail(error, FIRN_INVALID, "visit is NULL");
    if (sim->store.count == 0) return FIRN_OK;
    const bool projected = sim->def.pressure == FIRN_PRESSURE_PROJECTION;
    firn_pass pass;
    firn_status st = projected ? classify_cells(sim, error) : FIRN_OK;
    if (st == FIRN_OK) st = firn_sim_scatter_forces(sim, &pass, error);
    if (st != FIRN_OK) return st;
    firn_grid_sum(sim, false);
    const int32_t dim = sim->store.dim, nodes = firn_pow(FIRN_BLOCK, dim);
    const real *velocity = sim->grid.velocity_old.data, *force = sim->grid.velocity.data;
    for (int32_t b = 0; b < sim->at->count; b++) {
        for (int n = 0; n < nodes; n++, velocity += FIRN_NODE, force += FIRN_NODE) {
            if (!(velocity[3] > 0)) continue;
            firn_grid_node node = {.mass = (double)velocity[3]};
            if (projected) node.cell_class = class_of(sim, b, n);
            for (int a = dim - 1, rest = n; a >= 0; a--, rest /= FIRN_BLOCK) {
                node.index[a] = FIRN_BLOCK * sim->at->coord[b][a] + rest % FIRN_BLOCK;
            }
            for (int a = 0; a < dim; a++) {
                node.velocity[a] = (double)velocity[a];
                node.force[a] = (double)force[a] * node.mass;
            }
            visit(user_data, &node);
        }
    }
    return FIRN_OK;
}
