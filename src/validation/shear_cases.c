/* Cases of shear and of solids with pressure projection: doc/liquids.md. */
#include <math.h>
#include <stdlib.h>

#include "validation/world.h"

#define G 9.81

/* A world with a floor at y = 0 that holds, or slips, and a wall at x = 0 that slips. */
static firn_world corner_world(firn_case_run *run, int32_t dimension, double h,
                               firn_material_def material, bool holds)
{
    firn_world w = firn_world_make(run, dimension, h, material);
    w.def.gravity[1] = -G;
    w.def.pressure = FIRN_PRESSURE_PROJECTION;
    w.def.collider_count = 2;
    w.collider[0] = w.collider[1] = firn_roller(0, true);
    w.collider[1].rotation[0] = cos(FIRN_PI / 4); /* y to x */
    w.collider[1].rotation[3] = -sin(FIRN_PI / 4);
    if (holds) w.collider[0].boundary = FIRN_STICKY;
    return w;
}

/* ---- honey ---- */

/* How far a 2D heap reaches from the wall, cells: as far as columns hold half a cell. */
static double reach(const firn_world *w)
{
    enum { COLUMNS = 400 };
    int count[COLUMNS] = {0}, last = 0;
    if (firn_world_failed(w)) return NAN;
    for (int64_t i = 0; i < w->count; i++) {
        const int x = (int)(w->x[2 * i] / w->def.cell_size);
        if (x >= 0 && x < COLUMNS) count[x]++;
    }
    for (int x = 0; x < COLUMNS; x++) {
        if (count[x] >= 2) last = x;
    }
    return last ? last + fmin((double)count[last] / count[last - 1], 1) : NAN;
}

/* A square of 8 cm on a floor that holds it, against the similarity solution of a current that is thin
 * and slow (Huppert 1982, in a plane, constant volume): x = 1.411 (g q^3 / (3 nu))^(1/5) t^(1/5). */
void firn_case_run_projected_honey(firn_case_run *run)
{
    static const double viscosity[] = {1, 10, 100};
    const double h = 0.005, side = 16 * h, seconds = 2, density = 1000;
    for (int i = 0; i < 3; i++) {
        firn_material_def honey = firn_material_def_preset(firn_preset_find("honey"));
        honey.density = density;
        honey.viscosity = viscosity[i];
        firn_world w = corner_world(run, 2, h, honey, true);
        w.def.crossing = 1;
        firn_world_open(&w);
        firn_world_add(&w, &(firn_world_body){.high = {side, side}});
        firn_world_advance(&w, seconds);
        firn_world_look(&w);
        const double q = side * side, nu = viscosity[i] / density,
                     theory = 1.411 * pow(G * q * q * q / (3 * nu) * seconds, 0.2) / h;
        firn_check_near(run, reach(&w) / theory, 1, 0.08, "%g Pa s: front over theory after %g s",
                        viscosity[i], seconds);
        firn_check_note(run, (double)w.steps, 0, "for comparison", "steps");
        firn_world_close(&w);
    }
}

/* ---- floating ---- */

/* A body of half the water's density, twice as wide as high, in a tank of 32 x 10 of its heights: how deep its
 * bottom is below the level, in heights; 0.5 in theory. It starts by `above` of its height too high. */
static double draught(firn_case_run *run, int across, double above, firn_shear shear,
                      double seconds)
{
    const double h = 0.02, high = across / 2 * h, width = 4 * across * h, depth = 2 * across * h;
    firn_world w = firn_world_make(run, 2, h, firn_material_def_preset(firn_preset_find("water")));
    w.material[0].density = 1000;
    w.material[1] = firn_elastic(FIRN_NEO_HOOKEAN, 500, 2e4, 0.3);
    w.def.material_count = 2;
    w.def.gravity[1] = -G;
    w.def.pressure = FIRN_PRESSURE_PROJECTION;
    w.def.shear = shear;
    w.def.damping = 2; /* it would bob for long */
    w.def.collider_count = 1;
    w.collider[0] = firn_collider_def_default();
    w.collider[0].shape = FIRN_INSIDE;
    w.collider[0].boundary = FIRN_SLIP;
    w.collider[0].size[0] = w.collider[0].position[0] = width / 2;
    w.collider[0].size[1] = w.collider[0].position[1] = width;
    firn_world_open(&w);
    const double left = 1.5 * across * h, right = 2.5 * across * h,
                 bottom = depth + (above - 0.5) * high;
    firn_world_add(&w, &(firn_world_body){.high = {width, bottom}});
    firn_world_add(&w, &(firn_world_body){.low = {0, bottom}, .high = {left, depth}});
    firn_world_add(&w, &(firn_world_body){.low = {right, bottom}, .high = {width, depth}});
    const int64_t first = w.count;
    firn_world_add(&w, &(firn_world_body){
                           .low = {left, bottom}, .high = {right, bottom + high}, .material = 1});
    const double level = ((double)first * h * h / 4 + 0.5 * across * h * high) / width;
    firn_world_advance(&w, seconds);
    firn_world_look(&w);
    const double middle = firn_world_mean(&w, w.x, NULL, 1, first, w.count);
    firn_world_close(&w);
    return (level - (middle - high / 2)) / high;
}

void firn_case_run_projected_float(firn_case_run *run)
{
    for (int across = 8; across <= (run->quick ? 8 : 16); across *= 2) {
        for (int i = 0; i < 4; i++) {
            const bool implicit = i >= 2, below = i % 2;
            const double deep = draught(run, across, below ? -0.25 : 0.25,
                                        implicit ? FIRN_SHEAR_IMPLICIT : FIRN_SHEAR_AUTO, 4);
            firn_check_near(run, (deep - 0.5) * across / 2, 0, 0.4,
                            "%d cells across, from %s%s: draught too deep, cells", across,
                            below ? "below" : "above", implicit ? ", implicit shear" : "");
        }
    }
}

/* ---- stiff and nearly incompressible ---- */

#define MU 1e6

static double poisson_of(double lambda) { return lambda / (2 * (lambda + MU)); }

/* A cube of a metre, 8 cells across, falls by half of it: how high it comes back, and the solver's
 * iterations. */
static void bounce(firn_case_run *run, double lambda, double *rise, double *stretch,
                   int64_t *iterations)
{
    const double h = 0.125, nu = poisson_of(lambda);
    firn_world w =
        corner_world(run, 3, h, firn_elastic(FIRN_HENCKY, 1000, 2 * MU * (1 + nu), nu), false);
    w.def.collider_count = 1;
    w.collider[0].boundary = FIRN_SEPARATE;
    w.collider[0].friction = 0;
    firn_world_open(&w);
    firn_world_add(&w, &(firn_world_body){.low = {0, 0.5, 0}, .high = {1, 1.5, 1}});
    double low = 1;
    *rise = *stretch = 0;
    *iterations = 0;
    for (int i = 0; i < 32 && !firn_world_failed(&w); i++) {
        firn_report report = {0};
        firn_error error = {0};
        if (firn_sim_advance(w.sim, 0.025, &report, &error) != FIRN_OK) break;
        *iterations += report.iterations;
        firn_world_look(&w);
        const double y = firn_world_mean(&w, w.x, NULL, 1, 0, w.count);
        low = fmin(low, y);
        *rise = fmax(*rise, y - low);
        const firn_totals t = firn_world_measure(&w);
        *stretch = fmax(*stretch, fmax(t.max_J - 1, 1 - t.min_J));
    }
    if (firn_world_failed(&w)) *rise = *stretch = NAN;
    firn_world_close(&w);
}

/* A column of what melts, 4 x 8 x 4 cells on a floor that holds it, warmer or colder than its melting point: how
 * high its middle is after 1 s, over the start. */
static double slump(firn_case_run *run, double lambda, double warmer)
{
    const double h = 0.02, nu = poisson_of(lambda);
    firn_material_def m = firn_elastic(FIRN_MELTING, 1000, 2 * MU * (1 + nu), nu);
    m.yield = 1e5;
    m.viscosity = 10;
    m.melting_point = 300;
    m.latent_heat = 1e5;
    m.heat_capacity = m.liquid_heat_capacity = 1000;
    m.conductivity = m.liquid_conductivity = 0.1;
    firn_world w = corner_world(run, 3, h, m, true);
    w.def.collider_count = 1;
    w.def.heat.enabled = 1;
    w.def.heat.ambient = 300 + warmer;
    firn_world_open(&w);
    firn_world_add(&w, &(firn_world_body){.high = {4 * h, 8 * h, 4 * h}});
    firn_world_advance(&w, 1);
    firn_world_look(&w);
    const double high = firn_world_mean(&w, w.x, NULL, 1, 0, w.count) / (4 * h);
    firn_world_close(&w);
    return high;
}

/* What a solver of melting solids was asked for and could not (mu 1e6, lambda 1e9). */
void firn_case_run_projected_stiff(firn_case_run *run)
{
    static const double lambda[] = {1e7, 1e9};
    int64_t iterations[2];
    for (int i = run->quick; i < 2; i++) {
        double rise, stretch;
        bounce(run, lambda[i], &rise, &stretch, &iterations[i]);
        firn_check_at_least(run, rise, 0.1, "lambda %g: the cube bounces, m", lambda[i]);
        firn_check_at_most(run, stretch * lambda[i] / MU, 1, "change of J times lambda / mu");
        firn_check_near(run, slump(run, lambda[i], -20), 1, 0.02, "a cold column stands: height");
        firn_check_at_most(run, slump(run, lambda[i], 20), 0.4, "a melted one spreads: height");
    }
    if (run->quick) return;
    firn_check_at_most(run, (double)iterations[1] / (double)iterations[0], 1.5,
                       "iterations of the solver, over those with lambda 1e7");
}
