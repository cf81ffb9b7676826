/* Validation of heat: strips warmed or cooled from one end, where theory is exact. Nothing moves: heat
 * runs a million times as fast as motion. */
#include <math.h>
#include <stdlib.h>

#include "validation/world.h"

#define SPEED 1e6
#define MELTING_POINT 300.0 /* K */

/* Water-like numbers that make alpha 1e-4 m2/s and the latent heat over the heat capacity 100 K. */
static firn_material_def melting_material(void)
{
    firn_material_def m = firn_elastic(FIRN_MELTING, 1000, 1e4, 0.2);
    m.heat_capacity = m.liquid_heat_capacity = 1000;
    m.conductivity = m.liquid_conductivity = 100;
    m.latent_heat = 1e5;
    m.melting_point = MELTING_POINT;
    m.viscosity = 1;
    return m;
}

static const double alpha = 1e-4; /* m2/s */

/* A strip along y on a wall of given temperature, at another temperature itself. */
typedef struct strip {
    int cells;         /* per metre */
    double length;     /* m */
    double offset;     /* of its end from a node, cells */
    double wall, rest; /* K */
    double step;       /* of heat, h^2 / alpha */
    double time;       /* s of heat */
    bool liquid;       /* at first, where it is at the melting point */
    int between;  /* cells: insulated walls on either side, so far apart; 0: none, and two cells */
    double aside; /* of those from a node, cells */
} strip;

/* Runs it, and calls `look` with each particle's depth (m), temperature (K) and liquid part. */
typedef void look_function(void *context, double depth, double temperature, double liquid);

static void run_strip(firn_case_run *run, const strip *s, look_function *look, void *context)
{
    const double h = 1.0 / s->cells, low = s->offset * h;
    firn_world w = firn_world_make(run, 2, h, melting_material());
    const int64_t steps = (int64_t)ceil(s->time * alpha / (s->step * h * h));
    const double dt = s->time / (double)steps / SPEED;
    w.def.heat.enabled = 1;
    w.def.heat.speed = SPEED;
    w.def.heat.step = w.def.dt = dt;
    w.def.heat.ambient = s->rest + (s->liquid ? 1e-9 : 0);
    w.def.heat.tolerance = 1e-6;
    w.collider[0] = firn_roller(low, true);
    w.collider[0].temperature = s->wall;
    w.def.collider_count = s->between ? 2 : 1;
    const double left = s->aside * h, right = left + (s->between ? s->between : 2) * h;
    w.collider[1] = firn_collider_def_default();
    w.collider[1].shape = FIRN_INSIDE;
    w.collider[1].boundary = FIRN_SLIP;
    w.collider[1].position[0] = 0.5 * (left + right);
    w.collider[1].size[0] = 0.5 * (right - left);
    w.collider[1].size[1] = 100 * s->length;
    firn_world_open(&w);
    firn_world_add(&w, &(firn_world_body){.low = {left, low}, .high = {right, low + s->length}});
    for (int64_t i = 0; i < steps; i++) firn_world_advance(&w, dt);
    firn_world_look(&w);
    double *temperature = malloc((size_t)(w.count + 1) * sizeof *temperature),
           *liquid = malloc((size_t)(w.count + 1) * sizeof *liquid);
    if (!firn_world_failed(&w) && temperature && liquid &&
        firn_sim_read_heat(w.sim, temperature, liquid, NULL) == FIRN_OK) {
        for (int64_t i = 0; i < w.count; i++)
            look(context, w.x[2 * i + 1] - low, temperature[i], liquid[i]);
    }
    free(temperature);
    free(liquid);
    firn_world_close(&w);
}

/* ---- conduction ---- */

typedef struct deviation {
    const strip *strip;
    double worst; /* of the temperature, over the difference at the start */
} deviation;

static void compare(void *context, double depth, double temperature, double liquid)
{
    (void)liquid;
    deviation *p = context;
    const strip *s = p->strip;
    const double exact = s->wall + (s->rest - s->wall) * erf(depth / (2 * sqrt(alpha * s->time)));
    p->worst = fmax(p->worst, fabs((temperature - exact) / (s->rest - s->wall)));
}

/* Into a half space of which the strip's end is still cold: 2 sqrt(alpha t) is a quarter of it. */
void firn_case_run_conduction(firn_case_run *run)
{
    static const double offsets[] = {0, 0.5, 0.25};
    for (int i = 0; i < (run->quick ? 1 : 3); i++) {
        const strip s = {.cells = i ? 64 : 32,
                         .length = 1,
                         .offset = offsets[i],
                         .wall = 290,
                         .rest = 250,
                         .step = 0.2,
                         .time = 0.125 * 0.125 / alpha};
        deviation p = {&s, 0};
        run_strip(run, &s, compare, &p);
        firn_check_near(run, p.worst, 0, 0.01, "wall %g cells off a node: worst, of the step",
                        s.offset);
    }
}

/* ---- Stefan's problem ---- */

/* lambda with which the front is at 2 lambda sqrt(alpha t), for equal properties:
 *   St_l exp(-l^2) / erf(l) - St_s exp(-l^2) / erfc(l) = sqrt(pi) l */
static double front_constant(double liquid, double solid)
{
    double low = 1e-6, high = 3;
    for (int i = 0; i < 200; i++) {
        const double l = 0.5 * (low + high);
        const double f = exp(-l * l) * (liquid / erf(l) - solid / erfc(l)) - sqrt(FIRN_PI) * l;
        *(f > 0 ? &low : &high) = l;
    }
    return low;
}

typedef struct molten {
    double sum;
    int64_t count;
} molten;

static void add_molten(void *context, double depth, double temperature, double liquid)
{
    (void)depth;
    (void)temperature;
    molten *m = context;
    m->sum += liquid;
    m->count++;
}

typedef struct front {
    int cells;   /* it should pass: half a metre */
    double step; /* of heat, h^2 / alpha */
    double offset;
    double stefan, other; /* of what is behind it, and before it */
    bool freezing;
    int between;
    double aside;
} front;

/* How deep the front is, over theory. */
static double front_over_theory(firn_case_run *run, const front *f)
{
    const double l = front_constant(f->stefan, f->other), sign = f->freezing ? -1 : 1,
                 kelvin = 100; /* latent heat over heat capacity */
    /* Far enough that the end stays as it was. */
    const strip s = {.cells = 2 * f->cells,
                     .length = f->other > 0 ? 3 : 1,
                     .offset = f->offset,
                     .wall = MELTING_POINT + sign * kelvin * f->stefan,
                     .rest = MELTING_POINT - sign * kelvin * f->other,
                     .step = f->step,
                     .time = 0.5 * 0.5 / (4 * l * l * alpha),
                     .liquid = f->freezing,
                     .between = f->between,
                     .aside = f->aside};
    molten m = {0, 0};
    run_strip(run, &s, add_molten, &m);
    const double part = m.sum / (double)m.count;
    return (f->freezing ? 1 - part : part) * s.length / 0.5;
}

/* One front of each kind, with free sides. */
static void check_fronts(firn_case_run *run, double step, double tolerance)
{
    for (int cells = 16; cells <= (run->quick ? 16 : 64); cells *= 2) {
        const front f = {.cells = cells, .step = step, .stefan = 0.5};
        firn_check_near(run, front_over_theory(run, &f), 1, tolerance,
                        "St 0.5, %d cells, steps of %g: front", cells, step);
    }
    static const struct {
        const char *name;
        front f;
        bool quick;
    } more[] = {{"St 1 and 0.5", {.stefan = 1, .other = 0.5}, true},
                {"freezing", {.stefan = 0.5, .freezing = true}, true},
                {"St 0.1", {.stefan = 0.1}, false},
                {"wall half a cell off", {.stefan = 0.5, .offset = 0.5}, false}};
    for (size_t k = 0; k < sizeof more / sizeof *more; k++) {
        if (run->quick && !more[k].quick) continue;
        front f = more[k].f;
        f.cells = 16;
        f.step = step;
        firn_check_near(run, front_over_theory(run, &f), 1, tolerance, "%s, steps of %g: front",
                        more[k].name, step);
    }
}

void firn_case_run_stefan(firn_case_run *run)
{
    check_fronts(run, 0.2, 0.01);
    check_fronts(run, 5, 0.04);
    for (int between = 4; between <= (run->quick ? 4 : 8); between *= 2) {
        for (int k = 0; k < (run->quick ? 2 : 3); k++) {
            static const double aside[] = {0, 0.25, 0.5};
            const front f = {
                .cells = 16, .step = 0.2, .stefan = 0.5, .between = between, .aside = aside[k]};
            firn_check_near(run, front_over_theory(run, &f), 1, 0.01,
                            "between insulated walls %d cells apart, %g off a node: front", between,
                            aside[k]);
        }
    }
}
