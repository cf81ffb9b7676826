/* Building, running and looking at the worlds of validation cases. */
#include "validation/world.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- checks ---- */

void firn_check_add(firn_case_run *run, firn_bound bound, double measured, double reference,
                    double tolerance, const char *quantity, ...)
{
    assert(run->count < FIRN_CASE_CHECKS);
    firn_check *c = &run->check[run->count++];
    *c = (firn_check){
        .bound = bound, .measured = measured, .reference = reference, .tolerance = tolerance};
    va_list arguments;
    va_start(arguments, quantity);
    vsnprintf(c->quantity, sizeof c->quantity, quantity, arguments);
    va_end(arguments);
    switch (bound) {
    case FIRN_NEAR: c->passed = fabs(measured - reference) <= tolerance; break;
    case FIRN_AT_MOST: c->passed = measured <= reference; break;
    case FIRN_AT_LEAST: c->passed = measured >= reference; break;
    case FIRN_NOTE: c->passed = true; break;
    }
}

double firn_by_precision(const firn_case_run *run, double in_double, double in_float)
{
    return run->real_bytes == 8 ? in_double : in_float;
}

/* ---- worlds ---- */

firn_world firn_world_make(firn_case_run *run, int32_t dimension, double cell_size,
                           firn_material_def material)
{
    firn_world w = {.run = run, .def = firn_sim_def_default(), .material = {material}};
    w.def.dimension = dimension;
    w.def.cell_size = cell_size;
    w.def.path = run->path;
    w.def.material_count = 1;
    w.def.threads = 1;
    for (int a = 0; a < 3; a++) w.def.gravity[a] = 0;
    return w;
}

firn_material_def firn_elastic(firn_law_kind law, double density, double young, double poisson)
{
    firn_material_def m = firn_material_def_default();
    m.law = law;
    m.density = density;
    m.young = young;
    m.poisson = poisson;
    return m;
}

void firn_world_fix_step(firn_world *w, double part)
{
    const firn_material_def *m = &w->material[0];
    const double lateral = (1 - m->poisson) / ((1 + m->poisson) * (1 - 2 * m->poisson));
    w->def.dt = part * w->def.cell_size / sqrt(m->young * lateral / m->density);
}

bool firn_world_failed(const firn_world *w) { return w->run->failure[0] != '\0'; }

static bool succeed(firn_world *w, firn_status status, const firn_error *error)
{
    if (status == FIRN_OK) return true;
    snprintf(w->run->failure, sizeof w->run->failure, "%s: %s", firn_status_name(status),
             error->message);
    w->count = 0;
    return false;
}

void firn_world_open(firn_world *w)
{
    if (firn_world_failed(w)) return;
    w->def.materials = w->material;
    w->def.colliders = w->collider;
    firn_error error = {0};
    succeed(w, firn_sim_create(&w->def, &w->sim, &error), &error);
}

void firn_world_close(firn_world *w)
{
    firn_sim_destroy(w->sim);
    free(w->x0);
    free(w->x);
    free(w->v);
    w->sim = NULL;
    w->x0 = w->x = w->v = NULL;
}

void firn_world_advance(firn_world *w, double seconds)
{
    if (firn_world_failed(w)) return;
    firn_error error = {0};
    firn_report report = {0};
    succeed(w, firn_sim_advance(w->sim, seconds, &report, &error), &error);
    w->steps += report.steps;
}

/* Room for x0, x and v of `count` particles. */
static bool reserve_arrays(firn_world *w, int64_t count)
{
    double **arrays[] = {&w->x0, &w->x, &w->v};
    for (int i = 0; i < 3; i++) {
        free(*arrays[i]);
        *arrays[i] = malloc((size_t)count * (size_t)w->def.dimension * sizeof **arrays[i]);
        if (*arrays[i]) continue;
        return succeed(w, FIRN_NO_MEMORY, &(firn_error){.message = "no room to read particles"});
    }
    return true;
}

void firn_world_look(firn_world *w)
{
    if (firn_world_failed(w)) return;
    const int64_t count = firn_sim_count(w->sim);
    const bool more = count != w->count;
    if (more && !reserve_arrays(w, count)) return;
    w->count = count;
    firn_error error = {0};
    firn_status st = firn_sim_read(w->sim, FIRN_POSITION, 0, count, w->x, &error);
    if (st == FIRN_OK) st = firn_sim_read(w->sim, FIRN_VELOCITY, 0, count, w->v, &error);
    if (!succeed(w, st, &error) || !more) return;
    memcpy(w->x0, w->x, (size_t)count * (size_t)w->def.dimension * sizeof *w->x);
}

firn_totals firn_world_measure(firn_world *w)
{
    firn_totals t = {0};
    firn_error error = {0};
    if (!firn_world_failed(w)) succeed(w, firn_sim_measure(w->sim, &t, &error), &error);
    return t;
}

double firn_world_mean(const firn_world *w, const double *now, const double *before, int axis,
                       int64_t first, int64_t end)
{
    if (first < 0 || end > w->count) return NAN;
    const int dim = w->def.dimension;
    double sum = 0;
    for (int64_t i = first; i < end; i++) {
        sum += now[i * dim + axis] - (before ? before[i * dim + axis] : 0);
    }
    return sum / (double)(end - first);
}

/* ---- volume ---- */

/* How deep below a flat surface the middle of a cell is that is this full: a step smoothed by the quadratic
 * spline, found by halving. */
static double depth_at(double cover)
{
    double low = -1.5, high = 1.5;
    for (int i = 0; i < 40; i++) {
        const double d = (low + high) / 2, a = fabs(d);
        const double part = a < 0.5 ? 0.75 * a - a * a * a / 3 : 0.5 - pow(1.5 - a, 3) / 6;
        *(0.5 + (d < 0 ? -part : part) < cover ? &low : &high) = d;
    }
    return (low + high) / 2;
}

/* Adds a particle to the cells around it; y is its place in cells from the first corner. */
static void spread_cover(double *cover, int dim, const double y[3], const int side[3], double part)
{
    int first[3] = {0};
    double weight[3][3];
    for (int a = 0; a < dim; a++) {
        if (!(y[a] >= 0 && y[a] < side[a])) return;
        first[a] = (int)floor(y[a]) - 1;
        const double f = y[a] - 0.5 - first[a];
        weight[a][0] = 0.5 * (1.5 - f) * (1.5 - f);
        weight[a][1] = 0.75 - (f - 1) * (f - 1);
        weight[a][2] = 0.5 * (f - 0.5) * (f - 0.5);
    }
    for (int k = 0; k < (dim == 3 ? 27 : 9); k++) {
        double w = part;
        size_t place = 0;
        for (int a = 0, rest = k; a < dim; a++, rest /= 3) {
            const int at = first[a] + rest % 3;
            place = place * (size_t)side[a] + (size_t)(at < 0          ? -1 - at
                                                       : at >= side[a] ? 2 * side[a] - 1 - at
                                                                       : at);
            w *= weight[a][rest % 3];
        }
        cover[place] += w;
    }
}

double firn_world_volume(const firn_world *w, const int low[3], const int side[3], double part)
{
    const int dim = w->def.dimension;
    size_t cells = 1;
    for (int a = 0; a < dim; a++) cells *= (size_t)side[a];
    double *cover = calloc(cells, sizeof *cover), sum = 0;
    if (!cover || firn_world_failed(w)) {
        free(cover);
        return NAN;
    }
    for (int64_t i = 0; i < w->count; i++) {
        double y[3] = {0};
        for (int a = 0; a < dim; a++) y[a] = w->x[i * dim + a] / w->def.cell_size - low[a];
        spread_cover(cover, dim, y, side, part);
    }
    for (size_t c = 0; c < cells; c++) {
        if (cover[c] > 0) sum += fmin(fmax(0.5 + depth_at(cover[c]), 0), 1);
    }
    free(cover);
    return sum / ((double)w->count * part);
}

/* ---- bodies ---- */

void firn_move_rigidly(const void *context, const double x[3], double v[3], double C[3][3])
{
    const firn_rigid_motion *m = context;
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        v[a] = m->velocity[a] + m->spin[b] * (x[c] - m->center[c]) -
               m->spin[c] * (x[b] - m->center[b]);
        C[a][c] = m->spin[b];
        C[a][b] = -m->spin[c];
    }
}

static bool in_body(const firn_world_body *b, int dim, const double x[3])
{
    if (!(b->radius > 0)) return true;
    double d2 = 0;
    for (int a = 0; a < dim; a++) {
        const double d = x[a] - (b->low[a] + b->high[a]) / 2;
        d2 += d * d;
    }
    return d2 < b->radius * b->radius;
}

/* Particles along each axis; returns how many there may be at most. */
static int64_t count_sides(const firn_world_body *b, int dim, double spacing, int64_t side[3])
{
    side[0] = side[1] = side[2] = 1;
    for (int a = 0; a < dim; a++) {
        side[a] = (int64_t)ceil((b->high[a] - b->low[a]) / spacing - 1e-9);
    }
    return side[0] * side[1] * side[2];
}

/* Writes the particles of a body; returns how many. */
static int64_t seed_body(const firn_world_body *b, int dim, double spacing, double *position,
                         double *velocity, double *gradient)
{
    int64_t side[3], count = 0;
    const int64_t most = count_sides(b, dim, spacing, side);
    for (int64_t i = 0; i < most; i++) {
        const int64_t at[3] = {i / (side[1] * side[2]), i / side[2] % side[1], i % side[2]};
        double x[3] = {0}, v[3] = {0}, C[3][3] = {{0}};
        for (int a = 0; a < dim; a++) { /* evenly about the middle */
            x[a] = (b->low[a] + b->high[a]) / 2 +
                   ((double)at[a] + 0.5 - 0.5 * (double)side[a]) * spacing;
        }
        if (!in_body(b, dim, x)) continue;
        const double along = x[0];
        x[0] = cos(b->tilt) * along - sin(b->tilt) * x[1];
        x[1] = sin(b->tilt) * along + cos(b->tilt) * x[1];
        if (b->motion) b->motion(b->context, x, v, C);
        for (int r = 0; r < dim; r++) {
            position[count * dim + r] = x[r];
            velocity[count * dim + r] = v[r];
            for (int c = 0; c < dim; c++) gradient[(count * dim + r) * dim + c] = C[r][c];
        }
        count++;
    }
    return count;
}

void firn_world_add(firn_world *w, const firn_world_body *body)
{
    if (firn_world_failed(w)) return;
    const int dim = w->def.dimension;
    const double spacing = w->def.cell_size / 2;
    const bool affine = firn_transfer_get_info(w->def.transfer).affine;
    int64_t side[3];
    const size_t most = (size_t)count_sides(body, dim, spacing, side);
    double *position = malloc(most * (size_t)(2 * dim + dim * dim) * sizeof *position);
    if (!position) {
        succeed(w, FIRN_NO_MEMORY, &(firn_error){.message = "no room to seed particles"});
        return;
    }
    double *velocity = position + most * (size_t)dim, *gradient = velocity + most * (size_t)dim;
    firn_particles p = firn_particles_default();
    p.count = seed_body(body, dim, spacing, position, velocity, gradient);
    p.position = position;
    p.velocity = velocity;
    p.velocity_gradient = affine ? gradient : NULL;
    p.each_volume = pow(spacing, dim);
    p.each_material = body->material;
    firn_error error = {0};
    succeed(w, firn_sim_add(w->sim, &p, NULL, &error), &error);
    free(position);
    firn_world_look(w);
}

firn_collider_def firn_roller(double y, bool facing_up)
{
    firn_collider_def c = firn_collider_def_default();
    c.position[1] = y;
    c.boundary = FIRN_SLIP;
    if (!facing_up) {
        const double half_turn[4] = {0, 0, 0, 1};
        memcpy(c.rotation, half_turn, sizeof half_turn);
    }
    return c;
}

void firn_move_in_mode(const void *context, const double x[3], double v[3], double C[3][3])
{
    (void)context;
    v[0] = 0.01 * cos(FIRN_PI * x[0]);
    C[0][0] = -0.01 * FIRN_PI * sin(FIRN_PI * x[0]);
}
