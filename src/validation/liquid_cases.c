/* Cases of incompressible liquids, by pressure projection: doc/liquids.md. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "validation/world.h"

#define G 9.81
#define DENSITY 1000.0

/* A tank of slip walls with its lower corner in the origin; `height` 0: without a lid. */
static firn_world tank_of_water(firn_case_run *run, int32_t dimension, double h, double width,
                                double height)
{
    firn_world w = firn_world_make(run, dimension, h, firn_material_def_default());
    w.material[0] = firn_material_def_preset(firn_preset_find("water"));
    w.material[0].density = DENSITY;
    w.def.gravity[1] = -G;
    w.def.pressure = FIRN_PRESSURE_PROJECTION;
    w.def.collider_count = 1;
    firn_collider_def *c = &w.collider[0];
    *c = firn_collider_def_default();
    c->shape = FIRN_INSIDE;
    c->boundary = FIRN_SLIP;
    for (int a = 0; a < 3; a++) c->size[a] = c->position[a] = width / 2;
    c->size[1] = c->position[1] = height > 0 ? height / 2 : 10;
    return w;
}

static double rms_speed(firn_world *w, const double frame[2])
{
    const int dim = w->def.dimension;
    double sum = 0;
    for (int64_t i = 0; i < w->count; i++) {
        for (int a = 0; a < dim; a++) {
            const double v = w->v[i * dim + a] - (a < 2 ? frame[a] : 0);
            sum += v * v / (double)w->count;
        }
    }
    return sqrt(sum);
}

static const double at_rest[2] = {0};

/* ---- rest ---- */

/* One step of a column, open or closed: pressures, against those at its particles' places before. */
static void press(firn_case_run *run, int32_t dimension, bool closed)
{
    const double h = 0.02, width = 8 * h, depth = 12 * h;
    firn_world w = tank_of_water(run, dimension, h, width, closed ? depth : 0);
    firn_world_open(&w);
    firn_world_add(&w, &(firn_world_body){.high = {width, depth, width}});
    firn_error error = {0};
    firn_report report = {0};
    double *p = malloc(((size_t)w.count + 1) * sizeof *p), off = 0;
    const double top = closed ? depth / 2 : depth; /* without a surface the mean is 0 */
    if (!p || firn_world_failed(&w) || firn_sim_step(w.sim, &report, &error) != FIRN_OK ||
        firn_sim_read_pressure(w.sim, p, &error) != FIRN_OK) {
        off = NAN;
    }
    for (int64_t i = 0; i < w.count && off >= 0; i++) {
        const double y = w.x0[i * dimension + 1];
        if (y < 1.5 * h || y > depth - 1.5 * h) continue; /* where splines are cut */
        off = fmax(off, fabs(p[i] / (DENSITY * G) - (top - y)) / depth);
    }
    firn_world_look(&w);
    const char *kind = closed ? "full" : "open";
    firn_check_at_most(run, off, 1e-5, "%dD, %s: error of pressure over the floor's", dimension,
                       kind);
    firn_check_at_most(run, rms_speed(&w, at_rest) / (G * report.dt), 1e-5, "speed over g dt");
    firn_check_at_most(run, report.divergence, 1e-6, "divergence times dt");
    free(p);
    firn_world_close(&w);
}

void firn_case_run_projected_column(firn_case_run *run)
{
    for (int32_t d = 2; d <= 3; d++) {
        press(run, d, false);
        press(run, d, true);
    }
}

/* The volume of liquid in a tank `cells` wide, of which a particle has `part` of a cell. */
static double volume(const firn_world *w, int cells, double part)
{
    return firn_world_volume(w, (int[3]){0}, (int[3]){cells, 512, cells}, part);
}

static void rest_in_pool(firn_case_run *run, int32_t dimension, int deep, double seconds)
{
    const double h = 0.02, depth = deep * h;
    const int cells = dimension == 2 ? 40 : 12;
    firn_world w = tank_of_water(run, dimension, h, cells * h, 0);
    firn_world_open(&w);
    firn_world_add(&w, &(firn_world_body){.high = {cells * h, depth, cells * h}});
    firn_world_advance(&w, seconds);
    firn_world_look(&w);
    firn_check_near(run, 2 * firn_world_mean(&w, w.x, NULL, 1, 0, w.count) / depth, 1, 0.015,
                    "%dD, %d cells deep: height after %g s", dimension, deep, seconds);
    firn_check_at_most(run, rms_speed(&w, at_rest), 0.005, "root mean square speed, m/s");
    firn_world_close(&w);
}

/* A disc of six cells falls into it from above at 1 m/s. */
static void splash_into_pool(firn_case_run *run, int deep, double seconds)
{
    const double h = 0.02, depth = deep * h, radius = 3 * h;
    enum { CELLS = 40 };
    const firn_rigid_motion falling = {.velocity = {0, -1}};
    firn_world w = tank_of_water(run, 2, h, CELLS * h, 0);
    firn_world_open(&w);
    firn_world_add(&w, &(firn_world_body){.high = {CELLS * h, depth}});
    const double x = 0.4 * CELLS * h, y = depth + 2 * h;
    firn_world_add(&w, &(firn_world_body){.low = {x, y},
                                          .high = {x + 2 * radius, y + 2 * radius},
                                          .radius = radius,
                                          .motion = firn_move_rigidly,
                                          .context = &falling});
    firn_world_advance(&w, seconds);
    firn_world_look(&w);
    firn_check_near(run, volume(&w, CELLS, 0.25), 1, 0.015,
                    "%d cells deep, splash: volume after %g s", deep, seconds);
    firn_world_close(&w);
}

void firn_case_run_projected_pools(firn_case_run *run)
{
    for (int deep = 2; deep <= 4; deep += 2) {
        rest_in_pool(run, 2, deep, run->quick ? 2 : 10);
        if (!run->quick) rest_in_pool(run, 3, deep, 4);
        splash_into_pool(run, deep, run->quick ? 3 : 10);
    }
}

/* A block of snow in a warm tank ends as water: `deep` cells of it. */
static void melt_snow(firn_case_run *run, int32_t dimension, int deep, double seconds)
{
    const double h = 0.005, part = pow(0.5, dimension);
    const int cells = dimension == 2 ? 40 : 12;
    firn_world w = tank_of_water(run, dimension, h, cells * h, 0);
    w.material[0] = firn_material_def_preset(firn_preset_find("snow_melting"));
    w.collider[0].temperature = 333;
    w.def.heat.enabled = 1;
    w.def.heat.ambient = 271;
    w.def.heat.speed = 3500;
    const double shrinks = w.material[0].density / w.material[0].liquid_density,
                 high = deep * h / shrinks;
    firn_world_open(&w);
    firn_world_add(&w, &(firn_world_body){.high = {cells * h, high, cells * h}});
    firn_world_advance(&w, seconds);
    firn_world_look(&w);
    const firn_totals t = firn_world_measure(&w);
    firn_check_near(run, t.liquid / t.mass, 1, 1e-6,
                    "%dD, snow to water %d cells deep: part that is liquid", dimension, deep);
    firn_check_near(run, volume(&w, cells, part * shrinks), 1, 0.02, "volume after %g s", seconds);
    firn_world_close(&w);
}

void firn_case_run_projected_snow(firn_case_run *run)
{
    for (int deep = 2; deep <= 4; deep += 2) {
        melt_snow(run, 2, deep, run->quick ? 4 : 8);
        if (!run->quick) melt_snow(run, 3, deep, 8);
    }
}

/* The part of a block of 0.1 m that is melted: it stands on a hot plate, squeezes its melt out and sinks. The
 * material of the scene chocolate_2d. */
static double melt_on_plate(firn_case_run *run, double h, double gravity, double dt_most,
                            double seconds)
{
    const double side = 0.1, width = 0.3;
    firn_world w = tank_of_water(run, 2, h, width, 0);
    firn_material_def m = firn_elastic(FIRN_MELTING, 1300, 1e5, 0.3);
    m.yield = 5000;
    m.heat_capacity = m.liquid_heat_capacity = 1700;
    m.conductivity = m.liquid_conductivity = 0.2;
    m.melting_point = 307.15;
    m.latent_heat = 4.5e4;
    m.liquid_yield = 10;
    m.viscosity = 3;
    w.material[0] = m;
    w.collider[0].boundary = FIRN_STICKY;
    w.collider[1] = firn_roller(0, true);
    w.collider[1].boundary = FIRN_STICKY;
    w.collider[1].temperature = 353.15;
    w.def.collider_count = 2;
    w.def.gravity[1] = -gravity;
    w.def.heat.enabled = 1;
    w.def.heat.ambient = 293.15;
    w.def.heat.speed = 5000;
    w.def.dt_max = dt_most;
    firn_world_open(&w);
    firn_world_add(
        &w, &(firn_world_body){.low = {(width - side) / 2}, .high = {(width + side) / 2, side}});
    firn_world_advance(&w, seconds);
    const firn_totals t = firn_world_measure(&w);
    firn_world_close(&w);
    return t.liquid / t.mass;
}

/* Resolutions of the scene, in short steps. In long ones pressure moves melt along the plate unresisted, and in
 * small cells the block shakes: see doc/liquids.md. */
void firn_case_run_projected_contact(firn_case_run *run)
{
    const double h = 0.005, seconds = run->quick ? 0.5 : 1, dt = run->quick ? 0.002 : 0.001;
    double part[3];
    for (int k = 0; k < (run->quick ? 2 : 3); k++) {
        part[k] = melt_on_plate(run, h / (1 << k), G, dt, seconds);
        firn_check_note(run, part[k], 0, "for comparison", "cells of %g mm: melted after %g s",
                        1000 * h / (1 << k), seconds);
        if (k == 0) continue;
        firn_check_near(run, part[k] / part[k - 1], 1, run->quick ? 0.06 : 0.09,
                        "the same, over that in cells twice as large");
    }
    firn_check_near(run, melt_on_plate(run, h, G, 0.01, seconds) / part[0], 1, 0.18,
                    "in cells of %g mm, long steps over short ones", 1000 * h);
    firn_check_near(
        run, melt_on_plate(run, h / 2, 0, 0.01, seconds) / melt_on_plate(run, h, 0, 0.01, seconds),
        1, 0.03, "without gravity, over that in cells twice as large");
}

/* ---- walls ---- */

/* Tank and gravity turned together: the floor cuts cells at all heights. Where the surface is slanted, how
 * full its cells are depends on where particles are in them: that accelerates it by some percent of g, to
 * and fro, so that speeds go with the step. */
static void rest_on_slope(firn_case_run *run, double dt, double seconds)
{
    const double h = 0.02, width = 24 * h, depth = 6 * h, turn = atan(0.3);
    firn_world w = tank_of_water(run, 2, h, width, 0);
    w.def.dt_max = dt;
    firn_collider_def *c = &w.collider[0];
    const double size[2] = {c->size[0], c->size[1]};
    c->rotation[0] = cos(turn / 2);
    c->rotation[3] = sin(turn / 2);
    c->position[0] = size[0] * cos(turn) - size[1] * sin(turn);
    c->position[1] = size[0] * sin(turn) + size[1] * cos(turn);
    w.def.gravity[0] = G * sin(turn);
    w.def.gravity[1] = -G * cos(turn);
    firn_world_open(&w);
    firn_world_add(&w, &(firn_world_body){.high = {width, depth}, .tilt = turn});
    firn_world_advance(&w, seconds);
    firn_world_look(&w);
    const double height = firn_world_mean(&w, w.x, NULL, 1, 0, w.count) * cos(turn) -
                          firn_world_mean(&w, w.x, NULL, 0, 0, w.count) * sin(turn);
    firn_check_near(run, 2 * height / depth, 1, 0.015, "slanted tank, %g s: height", dt);
    firn_check_at_most(run, rms_speed(&w, at_rest), 0.4 * G * dt,
                       "root mean square speed after %g s, m/s", seconds);
    firn_world_close(&w);
}

/* A box that moves across cells at half a metre per second, with air in it or without. */
static void rest_in_moving_box(firn_case_run *run, bool full)
{
    const double h = 0.02, width = 10 * h, depth = (full ? 10 : 5) * h;
    static const double speed[2] = {0.4, -0.3};
    const firn_rigid_motion moving = {.velocity = {speed[0], speed[1]}};
    firn_world w = tank_of_water(run, 2, h, width, full ? depth : 0);
    firn_collider_def *c = &w.collider[0];
    firn_pose_key key[2] = {{.rotation = {1}}, {.time = 10, .rotation = {1}}};
    for (int k = 0; k < 2; k++) {
        for (int a = 0; a < 3; a++) {
            key[k].position[a] = c->position[a] + (a < 2 ? 10 * k * speed[a] : 0);
        }
    }
    c->keys = key;
    c->key_count = 2;
    firn_world_open(&w);
    firn_world_add(&w, &(firn_world_body){.high = {width, depth},
                                          .motion = firn_move_rigidly,
                                          .context = &moving});
    firn_world_advance(&w, 1);
    firn_world_look(&w);
    firn_check_at_most(run, rms_speed(&w, speed), full ? 1e-4 : 0.005,
                       "moving box, %s: speed in it, m/s", full ? "full" : "half full");
    firn_check_near(run, 2 * (firn_world_mean(&w, w.x, NULL, 1, 0, w.count) - speed[1]) / depth, 1,
                    0.015, "height in it");
    firn_world_close(&w);
}

void firn_case_run_projected_walls(firn_case_run *run)
{
    rest_on_slope(run, 0.01, run->quick ? 2 : 10);
    rest_on_slope(run, 0.0025, run->quick ? 1 : 10);
    rest_in_moving_box(run, false);
    rest_in_moving_box(run, true);
}

/* ---- the dam ---- */

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Where the front is at T = t sqrt(2 g / a) = 2, 3, 4, over the column's width a: 0.5 % are ahead of it. */
static void find_fronts(firn_case_run *run, int cells, double front[3])
{
    const double a = 0.05715, unit = sqrt(a / (2 * G));
    firn_world w = tank_of_water(run, 2, a / cells, 20 * a, 0);
    firn_world_open(&w);
    firn_world_add(&w, &(firn_world_body){.high = {a, 2 * a}});
    double *x = malloc(((size_t)w.count + 1) * sizeof *x);
    firn_world_advance(&w, unit);
    for (int k = 0; k < 3; k++) {
        firn_world_advance(&w, unit);
        firn_world_look(&w);
        front[k] = NAN;
        if (!x || firn_world_failed(&w)) continue;
        for (int64_t i = 0; i < w.count; i++) x[i] = w.x[2 * i];
        qsort(x, (size_t)w.count, sizeof *x, ascending);
        front[k] = x[(int64_t)(0.995 * (double)(w.count - 1))] / a;
    }
    free(x);
    firn_world_close(&w);
}

/* A dam in a closed tank, in steps of so many cells where the water is fast. */
static void keep_volume(firn_case_run *run, double crossing, double dt_most, double seconds)
{
    const double h = 0.02;
    enum { CELLS = 64 };
    firn_world w = tank_of_water(run, 2, h, CELLS * h, 0);
    w.def.crossing = crossing;
    w.def.dt_max = dt_most;
    firn_world_open(&w);
    firn_world_add(&w, &(firn_world_body){.high = {16 * h, 32 * h}});
    firn_world_advance(&w, seconds);
    firn_world_look(&w);
    firn_check_near(run, volume(&w, CELLS, 0.25), 1, 0.02, "%g cells a step: volume after %g s",
                    crossing, seconds);
    firn_check_note(run, (double)w.steps, 0, "for comparison", "steps");
    firn_world_close(&w);
}

/* Martin & Moyce 1952, n^2 = 2, as in the case dam_break; walls slip. Then one in a closed tank, for its
 * volume. */
void firn_case_run_projected_dam(firn_case_run *run)
{
    static const double measured[3] = {2.29, 3.65, 4.90};
    double front[3], finer[3];
    find_fronts(run, run->quick ? 12 : 16, front);
    for (int k = 0; k < 3; k++) {
        firn_check_near(run, front[k], measured[k], 0.2 * measured[k], "front over width at T = %d",
                        k + 2);
    }
    if (!run->quick) {
        find_fronts(run, 32, finer);
        firn_check_near(run, finer[2] / front[2], 1, 0.03, "front at half the cell size");
    }
    keep_volume(run, 2, 0.05, run->quick ? 3 : 10);
    if (!run->quick) keep_volume(run, 4, 0.02, 10); /* which keeps splashing for longer */
}

/* Steps of a dam that breaks, and where its middle is along the tank after each eighth of the time. */
static int64_t splash(firn_case_run *run, int32_t dimension, firn_pressure pressure, double seconds,
                      double middle[8])
{
    const double h = 0.02;
    const int wide = dimension == 2 ? 16 : 8;
    firn_world w = tank_of_water(run, dimension, h, 3 * wide * h, 0);
    w.def.pressure = pressure;
    w.def.dt_max = 0.02;
    firn_world_open(&w);
    firn_world_add(&w, &(firn_world_body){.high = {wide * h, 2 * wide * h, 3 * wide * h}});
    for (int i = 0; i < 8; i++) {
        firn_world_advance(&w, seconds / 8);
        firn_world_look(&w);
        middle[i] = firn_world_mean(&w, w.x, NULL, 0, 0, w.count) / h;
    }
    const int64_t steps = w.steps;
    firn_world_close(&w);
    return steps;
}

/* The same splash in far fewer steps. What they cost: `firn bench liquid`. */
void firn_case_run_projected_splash(firn_case_run *run)
{
    for (int32_t d = 2; d <= (run->quick ? 2 : 3); d++) {
        double without[8], with[8], apart = 0;
        const int64_t more = splash(run, d, FIRN_PRESSURE_NONE, 0.6, without),
                      fewer = splash(run, d, FIRN_PRESSURE_PROJECTION, 0.6, with);
        for (int i = 0; i < 8; i++) apart = fmax(apart, fabs(with[i] - without[i]));
        firn_check_at_least(run, (double)more / (double)fewer, 20,
                            "%dD: steps weakly compressible over projected", d);
        firn_check_at_most(run, apart, 1, "middles apart, cells");
    }
}

/* ---- a vortex ---- */

/* Steady in a box from 0 to 1 without friction (Taylor & Green 1937); at most 1 m/s. */
static void turn_in_box(const void *context, const double x[3], double v[3], double C[3][3])
{
    (void)context;
    const double sx = sin(FIRN_PI * x[0]), cx = cos(FIRN_PI * x[0]), sy = sin(FIRN_PI * x[1]),
                 cy = cos(FIRN_PI * x[1]);
    v[0] = sx * cy;
    v[1] = -cx * sy;
    C[0][0] = FIRN_PI * cx * cy;
    C[0][1] = -FIRN_PI * sx * sy;
    C[1][0] = FIRN_PI * sx * sy;
    C[1][1] = -FIRN_PI * cx * cy;
}

/* The energy left after 1 s and at the end, over that at first; a cell a step. */
static void let_turn(firn_case_run *run, firn_transfer transfer, double seconds, double left[2])
{
    enum { CELLS = 32 };
    const double h = 1.0 / CELLS;
    firn_world w = tank_of_water(run, 2, h, 1, 1);
    w.def.gravity[1] = 0;
    w.def.transfer = transfer;
    w.def.crossing = 1;
    w.def.dt_max = 0.1;
    w.def.flip_ratio = 0.95;
    w.def.flip_interval = h; /* a step at 1 m/s */
    firn_world_open(&w);
    firn_world_add(&w, &(firn_world_body){.high = {1, 1}, .motion = turn_in_box});
    firn_world_look(&w);
    const double first = rms_speed(&w, at_rest);
    for (int k = 0; k < 2; k++) {
        firn_world_advance(&w, k ? seconds - 1 : 1);
        firn_world_look(&w);
        left[k] = pow(rms_speed(&w, at_rest) / first, 2);
    }
    firn_world_close(&w);
}

void firn_case_run_projected_vortex(firn_case_run *run)
{
    const double seconds = run->quick ? 3 : 10;
    double apic[2], pic[2], flip[2];
    let_turn(run, FIRN_APIC, seconds, apic);
    let_turn(run, FIRN_PIC, seconds, pic);
    let_turn(run, FIRN_FLIP, seconds, flip);
    for (int k = 0; k < 2; k++) {
        const double t = k ? seconds : 1;
        firn_check_at_most(run, apic[k], 1, "apic: energy left after %g s", t);
        firn_check_at_least(run, apic[k], 1.2 * pic[k], "the same, over 1.2 of that with pic");
        firn_check_at_most(run, flip[k], 1, "flip 0.95: energy left after %g s", t);
        firn_check_at_least(run, flip[k], 1.2 * pic[k], "the same, over 1.2 of that with pic");
    }
}
