/* Coulomb friction of solids on walls with pressure projection.
 *
 * A cell that a wall cuts or bounds is a contact. Of the velocity in it the wall takes the part along it, relative
 * to the wall, by an impulse of at most friction times the one it presses with: a weight in the minimum that implicit
 * shear looks for (project_shear.c),
 *   hold |T (u - u_wall)|^2 / 2,     hold = min(HOLD_MOST, most / |T (u - u_wall)|),     T = I - n n^T
 * with the slip of the solution before it. Each solution lowers the energy of Coulomb's law for a given pressure,
 * so no contact reverses its slip or adds energy.
 *
 * What presses is the pressure of the cell, and the momentum of particles on faces behind the wall: that is
 * where the rest of the way to the wall, and the deviator of their stress, end. The part of this momentum
 * along the wall belongs to what slides, and joins it. Liquids slip: all is times the solid share of a cell.
 *
 * The pressure is first that of the last step, -strain / compliance, and then the one solved for. */
#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "sim/project.h"

#define HOLD_MOST 1e3 /* of a cell's mass: what holds without slip */
#define POWER_MOST 8  /* of a change of it, where it goes on */
#define PRESSED 0.05  /* of what presses contacts: more is solved for again */

typedef struct friction_job {
    firn_sim *sim;
    int dim, cells;
    double dt, h, keep; /* s, m, what damping leaves */
    double density;     /* kg/m3 of reference */
    double body[3];     /* m/s2 */
    const double *pressure;
    const real *x; /* velocities of faces, by block, axis and cell */
    double *partial;
} friction_job;

static firn_rub_block *rub_of(const firn_sim *sim, int64_t i)
{
    return (firn_rub_block *)sim->project.rub.data + i;
}

static const firn_posed_collider *colliders(const firn_sim *sim) { return sim->posed_pool.data; }

static friction_job make_job(firn_sim *sim, double dt)
{
    friction_job job = {.sim = sim,
                        .dim = sim->store.dim,
                        .cells = firn_pow(FIRN_BLOCK, sim->store.dim),
                        .dt = dt,
                        .h = sim->def.cell_size,
                        .keep = exp(-sim->def.damping * dt),
                        .density = sim->def.materials[0].density,
                        .partial = sim->project.partial.data};
    firn_grid_body_acceleration(sim, dt, job.body);
    return job;
}

static void run(friction_job *job, firn_task *task)
{
    firn_workers_run(&job->sim->workers, job->sim->project.wall_count, 4, task, job);
}

static double run_sum(friction_job *job, firn_task *task)
{
    double sum = 0;
    run(job, task);
    for (int32_t i = 0; i < job->sim->project.wall_count; i++) sum += job->partial[i];
    return sum;
}

/* ---- what is behind the wall ---- */

/* The face of the cell `at`, below or above it along axis a: its block, or -1. */
static int32_t face_at(const friction_job *job, const firn_liquid_block *v, const int at[3], int a,
                       bool upper, int *cell)
{
    int place[3] = {at[0], at[1], at[2]};
    place[a] += upper;
    return firn_find_cell(v, job->dim, place, cell);
}

/* Whether there is room, and some material, in the cell `at`. */
static bool is_roomy(const friction_job *job, const firn_liquid_block *v, const int at[3])
{
    int cell;
    const int32_t block = firn_find_cell(v, job->dim, at, &cell);
    if (block < 0) return false;
    const firn_liquid_block *o = firn_liquid_of(job->sim, block);
    return firn_bit(o->room, cell) && o->volume[cell] > 0;
}

/* Neighbour i of 3^dim of the cell `at`; how many axes it is off along. */
static int around(int dim, const int at[3], int i, int out[3])
{
    int axes = 0;
    out[2] = 0;
    for (int a = dim - 1; a >= 0; a--, i /= 3) {
        out[a] = at[a] + i % 3 - 1;
        axes += i % 3 != 1;
    }
    return axes;
}

/* The part that a cell which is off along `axes` has in the closed cell `at`: the nearest share it. */
static double part_of(const friction_job *job, const firn_liquid_block *v, const int at[3],
                      int axes)
{
    int sharers = 0;
    for (int i = 0; i < firn_pow(3, job->dim); i++) {
        int near[3];
        const int off = around(job->dim, at, i, near);
        if (off == 0 || off > axes || !is_roomy(job, v, near)) continue;
        if (off < axes) return 0;
        sharers++;
    }
    return 1.0 / sharers;
}

/* Whether any neighbour of the cell `at` is roomy. */
static bool is_near_room(const friction_job *job, const firn_liquid_block *v, const int at[3])
{
    bool found = false;
    for (int i = 0; i < firn_pow(3, job->dim) && !found; i++) {
        int near[3];
        found = around(job->dim, at, i, near) > 0 && is_roomy(job, v, near);
    }
    return found;
}

/* Adds `part` of the mass and momentum of the closed faces of the cell `at` to those behind a contact; `own`: it is
 * the contact's. */
static void add_faces(const friction_job *job, const firn_liquid_block *v, const int at[3],
                      bool own, double part, firn_contact_cell *to, double mass[3])
{
    for (int i = 0; i < 2 * job->dim; i++) {
        const int a = i / 2;
        int cell, other[3] = {at[0], at[1], at[2]};
        const int32_t block = face_at(job, v, at, a, i % 2, &cell);
        if (block < 0) continue;
        const firn_liquid_block *o = firn_liquid_of(job->sim, block);
        if (firn_open_part(o, a, cell) > 0 || !firn_bit(o->massive[a], cell)) continue;
        other[a] += i % 2 ? 1 : -1;
        const bool roomy = is_roomy(job, v, other);
        if (roomy && !own) continue; /* that of the cell beyond it */
        const bool shared = own ? roomy : is_near_room(job, v, other);
        const double share = part * (shared ? 0.5 : 1) * (double)o->mass[a][cell],
                     u = job->keep * ((double)o->start[a][cell] +
                                      job->dt * (job->body[a] + (double)o->push[a][cell]));
        mass[a] += share;
        to->lost[a] += share * (u - to->wall[a]);
    }
}

/* Mass and momentum behind the wall of a contact; the mass as the momentum along the wall has it. */
static void look_behind(const friction_job *job, const firn_liquid_block *v, firn_contact_cell *to)
{
    int at[3];
    double mass[3] = {0};
    firn_cell_at(job->dim, to->cell, at);
    for (int i = 0; i < firn_pow(3, job->dim); i++) {
        int near[3];
        const int axes = around(job->dim, at, i, near);
        if (axes > 0 && is_roomy(job, v, near)) continue;
        const double part = axes > 0 ? part_of(job, v, near, axes) : 1;
        if (part > 0) add_faces(job, v, near, axes == 0, part, to, mass);
    }
    for (int a = 0; a < job->dim; a++) to->pressing += to->lost[a] * to->normal[a];
    double size = 0;
    for (int a = 0; a < job->dim; a++) {
        to->lost[a] -= to->pressing * to->normal[a];
        size += to->lost[a] * to->lost[a];
    }
    for (int a = 0; a < job->dim && size > 0; a++)
        to->behind += mass[a] * to->lost[a] * to->lost[a] / size;
}

/* ---- contacts ---- */

/* What a contact is pressed against the wall with times friction, in parts of a cell's mass times m/s. */
static double most_of(const firn_contact_cell *k)
{
    return k->solid * k->friction * fmax(k->pressure * k->area + k->pressing + k->stress, 0);
}

/* Which faces of a cell can move, the area of its wall and the normal into that; false: it has none. Where the
 * material leaves the wall there is no friction, but what is behind it still moves with what is in front. */
static bool find_faces(const friction_job *job, const firn_liquid_block *v, firn_contact_cell *k)
{
    double size = 0;
    bool moves = false;
    for (int a = 0; a < job->dim; a++) {
        k->upper[a] = firn_step_from(v, job->dim, k->cell, a, 1, &k->upper_cell[a]);
        if (k->upper[a] < 0) return false;
        const firn_liquid_block *o = firn_liquid_of(job->sim, k->upper[a]);
        const int above = k->upper_cell[a];
        k->open[a][0] = firn_open_part(v, a, k->cell) > 0 && firn_bit(v->massive[a], k->cell);
        k->open[a][1] = firn_open_part(o, a, above) > 0 && firn_bit(o->massive[a], above);
        k->normal[a] = (double)v->open[a][k->cell] - (double)o->open[a][above];
        size += k->normal[a] * k->normal[a];
        moves |= k->open[a][0] || k->open[a][1];
        k->leaves |= firn_bit(v->freed[a], k->cell) || firn_bit(o->freed[a], above);
        for (int i = 0; i < 2; i++) {
            const firn_liquid_block *face = i ? o : v;
            const int at = i ? above : k->cell;
            if (!k->open[a][i]) continue;
            k->density = fmax(k->density, (double)face->mass[a][at] / (double)face->share[a][at]);
        }
    }
    if (size == 0 || !moves) return false;
    k->area = sqrt(size);
    for (int a = 0; a < job->dim; a++) k->normal[a] /= k->area;
    return true;
}

/* Leaves the part of a vector that is along the wall. */
static void slip_along(const friction_job *job, const firn_contact_cell *k, double u[3])
{
    double through = 0;
    for (int a = 0; a < job->dim; a++) through += u[a] * k->normal[a];
    for (int a = 0; a < job->dim; a++) u[a] -= through * k->normal[a];
}

/* The mean of a contact's open faces; axes without any have the wall's velocity. */
static double slip_of(const friction_job *job, const firn_contact_cell *k, double below[3],
                      double above[3], double slip[3])
{
    double sum = 0;
    for (int a = 0; a < job->dim; a++) {
        const int count = k->open[a][0] + k->open[a][1];
        slip[a] =
            count ? (k->open[a][0] * below[a] + k->open[a][1] * above[a]) / count - k->wall[a] : 0;
    }
    slip_along(job, k, slip);
    for (int a = 0; a < job->dim; a++) sum += slip[a] * slip[a];
    return sqrt(sum);
}

static void hold(firn_contact_cell *k, double slip)
{
    const double most = most_of(k);
    const double held = HOLD_MOST * k->density;
    k->hold = most < held * slip ? most / slip : most > 0 ? held : 0;
}

static bool find_contact(const friction_job *job, int64_t b, const firn_liquid_block *v, int c,
                         firn_contact_cell *k)
{
    const firn_sim *sim = job->sim;
    *k = (firn_contact_cell){.cell = c, .factor = 1, .power = 1};
    if (!firn_bit(v->room, c) || !(v->solid[c] > 0) || !find_faces(job, v, k)) return false;
    int at[3];
    double normal[3], d;
    firn_cell_at(job->dim, c, at);
    for (int a = 0; a < job->dim; a++) {
        k->position[a] = (FIRN_BLOCK * sim->at->coord[b][a] + at[a] + 0.5) * job->h;
    }
    k->collider = firn_project_nearest(sim, b, k->position, &d, normal);
    if (k->collider < 0) return false;
    const firn_posed_collider *collider = colliders(sim) + k->collider;
    if (collider->boundary != FIRN_SEPARATE || collider->friction == 0) return false;
    for (int a = 0; a < job->dim; a++) {
        k->position[a] -= d * job->h * normal[a];
        normal[a] = -k->normal[a];
    }
    firn_collider_contact_velocity(collider, k->position, normal, k->wall);
    k->friction = collider->friction;
    k->solid = (double)v->solid[c];
    k->leaves |= firn_bit(v->loose, c);
    look_behind(job, v, k);
    if (job->pressure) {
        k->pressure = job->pressure[b * job->cells + c];
    } else if (firn_bit(v->liquid, c)) {
        k->pressure = firn_pressure_before(sim, v, c, job->dt);
    }
    double below[3], above[3], slip[3];
    for (int a = 0; a < job->dim; a++) {
        below[a] = (double)v->start[a][c];
        above[a] = (double)firn_liquid_of(sim, k->upper[a])->start[a][k->upper_cell[a]];
    }
    hold(k, slip_of(job, k, below, above, slip));
    return true;
}

/* What contacts held in the last solution, by cell; -1 where there were none. */
static void load_holds(const firn_rub_block *r, double held[FIRN_CELLS])
{
    for (int c = 0; c < FIRN_CELLS; c++) held[c] = -1;
    for (int n = 0; n < r->count; n++) {
        const firn_contact_cell *k = &r->contact[n];
        if (k->hold > 0) held[k->cell] = k->hold;
    }
}

static void find_task(void *context, int64_t i, int32_t thread)
{
    (void)thread;
    const friction_job *job = context;
    const firn_wall_block *w = (const firn_wall_block *)job->sim->project.wall.data + i;
    firn_liquid_block *v = firn_liquid_of(job->sim, w->block);
    firn_rub_block *r = rub_of(job->sim, i);
    double held[FIRN_CELLS];
    if (!job->pressure) r->count = 0;
    load_holds(r, held);
    v->rubs = 0;
    memset(v->carried, 0, sizeof v->carried);
    memset(r->drag, 0, sizeof r->drag);
    r->count = 0;
    for (int c = 0; c < job->cells; c++) {
        firn_contact_cell *k = &r->contact[r->count];
        if (!find_contact(job, w->block, v, c, k)) continue;
        if (k->hold > 0 && held[c] > 0) k->hold = held[c];
        if (k->solid > 0.5) v->rubs |= (uint64_t)1 << c;
        r->count++;
    }
    job->partial[i] = r->count;
}

firn_status firn_project_friction(firn_sim *sim, double dt, const double *pressure,
                                  firn_error *error)
{
    bool rough = false;
    for (int32_t i = 0; i < sim->def.collider_count; i++) {
        rough |= colliders(sim)[i].boundary == FIRN_SEPARATE && colliders(sim)[i].friction > 0;
    }
    if (!pressure) sim->project.rubs = rough && sim->project.solids;
    if (!sim->project.rubs) return FIRN_OK;
    friction_job job = make_job(sim, dt);
    job.pressure = pressure;
    if (pressure) {
        run(&job, find_task);
        return FIRN_OK;
    }
    const firn_status st =
        firn_pool_renew(sim->allocator, &sim->project.rub,
                        (size_t)sim->project.wall_count * sizeof(firn_rub_block), error);
    if (st != FIRN_OK) return st;
    sim->project.rubs = run_sum(&job, find_task) > 0;
    return sim->project.rubs ? firn_project_shear_reserve(sim, error) : FIRN_OK;
}

/* How much the solution's pressure changes what presses contacts. */
static void compare_task(void *context, int64_t i, int32_t thread)
{
    (void)thread;
    const friction_job *job = context;
    const firn_rub_block *r = rub_of(job->sim, i);
    const int64_t b = ((const firn_wall_block *)job->sim->project.wall.data)[i].block;
    double change = 0;
    for (int n = 0; n < r->count; n++) {
        firn_contact_cell k = r->contact[n];
        const double before = most_of(&k);
        k.pressure = job->pressure[b * job->cells + k.cell];
        change += fabs(most_of(&k) - before);
    }
    job->partial[i] = change;
}

static void most_task(void *context, int64_t i, int32_t thread)
{
    (void)thread;
    const friction_job *job = context;
    const firn_rub_block *r = rub_of(job->sim, i);
    job->partial[i] = 0;
    for (int n = 0; n < r->count; n++) job->partial[i] += most_of(&r->contact[n]);
}

bool firn_project_friction_changes(firn_sim *sim, double dt, const double *pressure)
{
    if (!sim->project.rubs) return false;
    friction_job job = make_job(sim, dt);
    job.pressure = pressure;
    const double most = run_sum(&job, most_task);
    return run_sum(&job, compare_task) > PRESSED * most;
}

/* ---- in the system of shear ---- */

static const real *faces_of(const friction_job *job, int64_t b, int a)
{
    return job->x + (b * job->dim + a) * job->cells;
}

/* Velocities of a contact's faces in the vector under way. */
static void load_faces(const friction_job *job, int64_t b, const firn_contact_cell *k,
                       double below[3], double above[3])
{
    for (int a = 0; a < job->dim; a++) {
        below[a] = (double)faces_of(job, b, a)[k->cell];
        above[a] = (double)faces_of(job, k->upper[a], a)[k->upper_cell[a]];
    }
}

/* Adds a number to the drag of a contact's open faces along an axis, shared out. */
static void drag_faces(firn_rub_block *r, const firn_contact_cell *k, int a, double below,
                       double above)
{
    if (k->open[a][0]) r->drag[0][a][k->cell] = (real)below;
    if (k->open[a][1]) r->drag[1][a][k->cell] = (real)above;
}

static double faces_in(const firn_contact_cell *k, int a)
{
    return fmax(k->open[a][0] + k->open[a][1], 1);
}

void firn_friction_diagonal(firn_sim *sim, int32_t i)
{
    firn_rub_block *r = rub_of(sim, i);
    r->momentum = 0;
    for (int n = 0; n < r->count; n++) {
        const firn_contact_cell *k = &r->contact[n];
        const double weight = k->hold + k->solid * k->behind;
        for (int a = 0; a < sim->store.dim; a++) {
            const double d = weight * (1 - k->normal[a] * k->normal[a]) / faces_in(k, a);
            drag_faces(r, k, a, d, d);
            r->momentum += weight * k->wall[a] * k->wall[a];
        }
    }
}

/* The derivatives of the weights by velocities. A weight is of each face for itself, and of the means of the axes with
 * each other: what the two faces of a cell do against each other is then held, too. */
void firn_friction_product(firn_sim *sim, int32_t i, const real *x)
{
    const friction_job job = {
        .sim = sim, .dim = sim->store.dim, .cells = firn_pow(FIRN_BLOCK, sim->store.dim), .x = x};
    firn_rub_block *r = rub_of(sim, i);
    const int64_t b = ((const firn_wall_block *)sim->project.wall.data)[i].block;
    for (int n = 0; n < r->count; n++) {
        const firn_contact_cell *k = &r->contact[n];
        double below[3], above[3], mean[3], through = 0;
        load_faces(&job, b, k, below, above);
        for (int a = 0; a < job.dim; a++) {
            mean[a] = (k->open[a][0] * below[a] + k->open[a][1] * above[a]) / faces_in(k, a);
            through += mean[a] * k->normal[a];
        }
        const double weight = k->hold + k->solid * k->behind;
        for (int a = 0; a < job.dim; a++) {
            const double part = weight / faces_in(k, a), own = 1 - k->normal[a] * k->normal[a],
                         others = -k->normal[a] * (through - mean[a] * k->normal[a]);
            drag_faces(r, k, a, part * (own * below[a] + others), part * (own * above[a] + others));
        }
    }
}

/* The right-hand side: what velocities without slip would have, and the momentum from behind walls. */
void firn_friction_aim(firn_sim *sim, int32_t i)
{
    const int dim = sim->store.dim;
    firn_rub_block *r = rub_of(sim, i);
    for (int n = 0; n < r->count; n++) {
        const firn_contact_cell *k = &r->contact[n];
        const double weight = k->hold + k->solid * k->behind;
        double through = 0;
        for (int a = 0; a < dim; a++) {
            if (k->open[a][0] || k->open[a][1]) through += k->wall[a] * k->normal[a];
        }
        for (int a = 0; a < dim; a++) {
            const double goal =
                (weight * (k->wall[a] - through * k->normal[a]) + k->solid * k->lost[a]) /
                faces_in(k, a);
            drag_faces(r, k, a, goal, goal);
        }
    }
}

/* Changes a weight by more than the last slip asks for, as long as that is the same way. */
static void hurry(firn_contact_cell *k, double before)
{
    const double factor = k->hold / before;
    const bool same = (factor > 1 && k->factor > 1) || (factor < 1 && k->factor < 1);
    k->power = same ? fmin(2 * k->power, POWER_MOST) : 1;
    k->factor = factor;
    k->hold = fmin(before * pow(factor, k->power), HOLD_MOST * k->density);
}

void firn_friction_update(firn_sim *sim, int32_t i, const real *x, const real (*weight)[FIRN_CELLS])
{
    const friction_job job = {
        .sim = sim, .dim = sim->store.dim, .cells = firn_pow(FIRN_BLOCK, sim->store.dim), .x = x};
    firn_rub_block *r = rub_of(sim, i);
    const int64_t b = ((const firn_wall_block *)sim->project.wall.data)[i].block;
    r->change = r->most = 0;
    for (int n = 0; n < r->count; n++) {
        firn_contact_cell *k = &r->contact[n];
        double below[3], above[3], slip[3];
        load_faces(&job, b, k, below, above);
        k->stress = 0;
        for (int a = 0; a < job.dim; a++) {
            const double stretch = (double)weight[a][k->cell] * (above[a] - below[a]);
            if (k->open[a][0] != k->open[a][1]) {
                k->stress += (k->open[a][1] ? stretch : -stretch) * k->normal[a];
            }
        }
        firn_liquid_of(sim, b)->carried[k->cell] =
            (real)(k->solid * (k->pressing + k->stress) / k->area);
        const double size = slip_of(&job, k, below, above, slip), before = k->hold;
        for (int a = 0; a < job.dim; a++) k->taken[a] = before * slip[a];
        hold(k, size);
        r->change += fabs(k->hold - before) * size;
        r->most += most_of(k);
        if (before > 0 && k->hold > 0) hurry(k, before);
    }
}

/* ---- reactions ---- */

void firn_project_friction_book(firn_sim *sim, int32_t i, double dt)
{
    const int dim = sim->store.dim;
    const firn_rub_block *r = rub_of(sim, i);
    const int32_t b = ((const firn_wall_block *)sim->project.wall.data)[i].block;
    const double h = sim->def.cell_size, density = sim->def.materials[0].density,
                 mass = density * pow(h, dim);
    const real *pressure = firn_staggered_of(sim, b, 2 * dim);
    const firn_impulses to = firn_reaction_of(sim, b);
    for (int n = 0; n < r->count; n++) {
        const firn_contact_cell *k = &r->contact[n];
        const double P = (double)pressure[k->cell] * dt / (density * h);
        const bool books = firn_bit(firn_liquid_of(sim, b)->rubs, k->cell) && !k->leaves;
        const double pressing = books ? P * k->area + k->pressing + k->stress : 0;
        double momentum[3] = {0};
        for (int a = 0; a < dim; a++) {
            momentum[a] = mass * (pressing * k->normal[a] + k->taken[a]);
        }
        firn_impulse_add(&to, colliders(sim), k->collider, k->position, momentum);
    }
}
