/* Choosing the time step. Every limit but the colliders' is one line of firn_dt_limit_material. */
#include <math.h>
#include <stdio.h>

#include "sim/sim.h"

/* The single-particle bound dt < h sqrt(s rho / (K M)): a lone particle pushes on its own kernel. K
 * belongs to spline and force form, s to the transfer (2 PIC, 4 APIC with MLS, 3 APIC with
 * gradients). */
static double lone_bound(const firn_sim_def *def)
{
    const bool mls = def->force_form == FIRN_MLS;
    const bool affine = firn_transfer_is_affine(def->transfer);
    const double K = def->spline == FIRN_QUADRATIC ? (mls ? 4 : 6) : (mls ? 3 : 3.14);
    const double s = affine ? (mls ? 4 : 3) : 2;
    return 0.9 * sqrt(s / K);
}

static firn_dt least_of(const firn_dt *limits, size_t count, double most)
{
    firn_dt least = {most, FIRN_LIMIT_MAXIMUM};
    for (size_t i = 0; i < count; i++) {
        if (limits[i].dt < least.dt) least = limits[i];
    }
    return least;
}
#define COUNT(array) (sizeof(array) / sizeof *(array))

firn_dt firn_dt_limit_material(const firn_sim *sim, const firn_extremes *e, double max_speed)
{
    const firn_sim_def *def = &sim->def;
    const double h = def->cell_size;
    const double speed = sqrt((double)e->speed2) + h * (double)e->gradient;
    const firn_dt limits[] = {
        {def->courant * h / fmax(speed, max_speed), FIRN_LIMIT_VELOCITY},
        {0.2 / (double)e->gradient, FIRN_LIMIT_STRAIN},
        {def->wave_factor * h / sqrt((double)e->wave2), FIRN_LIMIT_WAVE},
        {lone_bound(def) * h / sqrt((double)e->lone2), FIRN_LIMIT_PARTICLE},
        {h * h / (4 * def->dimension * (double)e->diffusion), FIRN_LIMIT_VISCOSITY},
    };
    return least_of(limits, COUNT(limits), def->dt_max);
}

firn_dt firn_dt_limit_colliders(const firn_sim *sim, firn_dt limit)
{
    return sim->collider_dt < limit.dt ? (firn_dt){sim->collider_dt, FIRN_LIMIT_COLLIDER} : limit;
}

firn_dt firn_dt_limit(const firn_sim *sim, const firn_extremes *e, double max_speed)
{
    return firn_dt_limit_colliders(sim, firn_dt_limit_material(sim, e, max_speed));
}

/* Stiffness sets no limit of its own. The forces are linear in the motion of the step, which |dt L| keeps
 * small. Positions move along straight lines, so what turns by an angle also grows by half its square,
 * and stiff material makes energy of that: the second limit of strain keeps it below 1 % (measured; a
 * spinning ring gained 7 % in a step without). */
firn_dt firn_dt_limit_implicit(const firn_sim *sim, const firn_extremes *e)
{
    const firn_sim_def *def = &sim->def;
    const double h = def->cell_size;
    const firn_dt limits[] = {
        {def->courant * h / sqrt((double)e->speed2), FIRN_LIMIT_VELOCITY},
        {0.5 / (double)e->gradient, FIRN_LIMIT_STRAIN},
        {sqrt(0.3 * h / (sqrt((double)e->wave2) * (double)e->gradient)), FIRN_LIMIT_STRAIN},
        {def->dt_implicit, FIRN_LIMIT_IMPLICIT},
    };
    return firn_dt_limit_colliders(sim, least_of(limits, COUNT(limits), def->dt_max));
}

/* The longest step through liquids whose viscosity is explicit. */
static double viscous_limit(const firn_sim *sim)
{
    const firn_sim_def *def = &sim->def;
    const uint8_t *implicit = sim->shear_pool.data;
    double least = INFINITY;
    for (int32_t i = 0; i < def->material_count; i++) {
        const firn_material_def *m = &sim->materials[i];
        if (m->law != FIRN_LIQUID || implicit[i]) continue;
        least = fmin(least, m->density / (4 * def->dimension * m->viscosity));
    }
    return least * def->cell_size * def->cell_size;
}

/* The shortest waves of surface tension must not outrun the grid (Brackbill et al. 1992); stable to twice
 * that. Infinite for materials without. */
static double surface_limit(const firn_sim *sim, int32_t material)
{
    const firn_material_def *m = &sim->materials[material];
    const bool other = firn_law_get_info(m->law).melts && m->liquid_density > 0;
    const double density = other ? fmin(m->density, m->liquid_density) : m->density;
    const double two_pi = 6.283185307179586, h = sim->def.cell_size;
    return sqrt(density / m->surface_tension * h * h * h / two_pi);
}

static double surface_bound(const firn_sim *sim)
{
    double least = INFINITY;
    if (sim->project.tension == 0) return least;
    for (int32_t i = 0; i < sim->def.material_count; i++)
        least = fmin(least, surface_limit(sim, i));
    return least;
}

/* Pressure sets no limit, nor does implicit shear. Gravity may speed up within the step what is at rest. */
firn_dt firn_dt_limit_project(const firn_sim *sim, const firn_extremes *e)
{
    const firn_sim_def *def = &sim->def;
    const double h = def->cell_size, way = def->crossing * h, v = sqrt((double)e->speed2);
    double a[3], g = 0;
    firn_grid_body_acceleration(sim, def->dt_max, a);
    for (int i = 0; i < def->dimension; i++) g += a[i] * a[i];
    const firn_dt limits[] = {
        {2 * way / (v + sqrt(v * v + 4 * sqrt(g) * way)), FIRN_LIMIT_VELOCITY},
        {viscous_limit(sim), FIRN_LIMIT_VISCOSITY},
        {def->wave_factor * h / sqrt((double)e->shear2), FIRN_LIMIT_WAVE},
        {surface_bound(sim), FIRN_LIMIT_SURFACE},
    };
    return firn_dt_limit_colliders(sim, least_of(limits, COUNT(limits), def->dt_max));
}

firn_dt firn_dt_choose(firn_sim *sim, firn_dt limit, double remaining)
{
    firn_dt step = limit;
    if (sim->def.dt > 0) {
        step = (firn_dt){sim->def.dt, FIRN_LIMIT_FIXED};
    } else if (sim->dt_next > 0 && step.dt > sim->dt_next) {
        step = (firn_dt){sim->dt_next, FIRN_LIMIT_GROWTH};
    }
    if (sim->retry_cap > 0 && step.dt > sim->retry_cap) {
        step = (firn_dt){sim->retry_cap, FIRN_LIMIT_RETRY};
    }
    sim->dt_free = step.dt;
    /* The last steps of a frame share what is left, so that none is a sliver. A fixed dt is kept
     * until the end; rounding must not leave a sliver there either. The limit stays that of the
     * free step, which says more than that frames end, unless one step is all there is. */
    if (remaining <= step.dt * (1 + 1e-9)) {
        const bool cut = sim->report.steps == 0 && remaining < step.dt * (1 - 1e-9);
        step = (firn_dt){remaining, cut ? FIRN_LIMIT_FRAME : step.limit};
    } else if (remaining < 2 * step.dt && sim->def.dt == 0) {
        step.dt = remaining / 2;
    }
    return step;
}

/* How much a particle presses on a limit. Only used to name the worst one. */
static double pressure_on(const firn_sim *sim, const firn_pass *pass, firn_limit limit, int64_t i)
{
    const firn_store *s = &sim->store;
    const int dim = s->dim;
    const real *r = s->record + i * FIRN_RECORD;
    double F2 = 0, v2 = 0;
    for (int c = 0; c < dim * dim; c++) {
        const double F = (double)r[firn_offset_F(dim) + c] + (c % (dim + 1) == 0);
        F2 += F * F;
    }
    for (int a = 0; a < dim; a++) {
        v2 += (double)r[firn_offset_velocity(dim) + a] * r[firn_offset_velocity(dim) + a];
    }
    if (!isfinite(F2) || !isfinite(v2)) return INFINITY;
    const uint32_t index = (uint32_t)i;
    firn_extremes e;
    sim->kernels->demand(pass, &index, 1, &e);
    if (limit == FIRN_LIMIT_VISCOSITY) return (double)e.diffusion;
    if (limit == FIRN_LIMIT_WAVE) return (double)e.wave2;
    if (limit == FIRN_LIMIT_PARTICLE) return (double)e.lone2;
    return v2;
}

static void name_material(const firn_sim *sim, int32_t i, char *text, size_t size)
{
    const firn_material_def *m = &sim->materials[i];
    char name[sizeof m->name + 1];
    snprintf(name, sizeof name, "%d", i);
    if (m->name[0]) snprintf(name, sizeof name, "%.*s", (int)sizeof m->name, m->name);
    snprintf(text, size, "material %s (%s)", name, firn_law_name(m->law));
}

void firn_dt_blame(const firn_sim *sim, firn_limit limit, char *text, size_t size)
{
    const firn_store *s = &sim->store;
    const firn_pass pass = firn_sim_pass(sim);
    char name[160];
    int64_t worst = 0;
    double most = -1;
    text[0] = 0;
    if (limit == FIRN_LIMIT_SOLVER) return;
    if (limit == FIRN_LIMIT_SURFACE) {
        for (int32_t i = 0; i < sim->def.material_count; i++) {
            if (surface_limit(sim, i) < surface_limit(sim, (int32_t)worst)) worst = i;
        }
        name_material(sim, (int32_t)worst, text, size);
        return;
    }
    for (int64_t i = 0; i < s->count; i++) {
        double p = pressure_on(sim, &pass, limit, i);
        if (p > most || (p == most && s->id[i] < s->id[worst])) {
            most = p;
            worst = i;
        }
    }
    name_material(sim, s->material[worst], name, sizeof name);
    snprintf(text, size, "particle %llu of %s", (unsigned long long)s->id[worst], name);
}
