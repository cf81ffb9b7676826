/* Friction of solids on walls with pressure projection: doc/liquids.md. */
#include <math.h>

#include "validation/world.h"

#define G 9.81
#define DENSITY 1000.0

/* A block on a plane: of jelly, whose shear is explicit, or of what could melt and is cold. */
typedef struct slope {
    int32_t dimension;
    double h;               /* m */
    bool melting;           /* or jelly */
    bool leaning;           /* the plane leans, across the grid; or gravity does */
    double angle, friction; /* rad */
    double start, belt;     /* m/s, of the block at first, and of the plane's surface */
    double seconds;         /* s */
} slope;

typedef struct slide {
    double way, speed;      /* m, m/s: down the slope, mean of the particles */
    double along, pressing; /* m/s2: forces on the plane over the mass, mean of the second half */
    double gain;            /* of energy, J/kg: the most that it rose */
} slide;

static firn_material_def block_of(bool melting)
{
    if (!melting) return firn_elastic(FIRN_HENCKY, DENSITY, 1e5, 0.45);
    firn_material_def m = firn_elastic(FIRN_MELTING, DENSITY, 1e6, 0.45);
    m.yield = 1e5;
    m.viscosity = 10;
    m.melting_point = 300;
    m.latent_heat = 1e5;
    m.heat_capacity = m.liquid_heat_capacity = 1000;
    m.conductivity = m.liquid_conductivity = 0.1;
    return m;
}

/* 20 cm wide, 10 cm high and, in 3D, 12 cm deep. */
static slide slip(firn_case_run *run, const slope *s)
{
    enum { PARTS = 20 };
    const double turn = s->leaning ? -s->angle : 0, down[2] = {cos(turn), sin(turn)};
    const firn_rigid_motion moving = {.velocity = {s->start * down[0], s->start * down[1]}};
    firn_world w = firn_world_make(run, s->dimension, s->h, block_of(s->melting));
    w.def.pressure = FIRN_PRESSURE_PROJECTION;
    w.def.heat.enabled = s->melting;
    w.def.heat.ambient = 280;
    w.def.gravity[0] = s->leaning ? 0 : G * sin(s->angle);
    w.def.gravity[1] = s->leaning ? -G : -G * cos(s->angle);
    w.def.collider_count = 1;
    w.collider[0] = firn_collider_def_default();
    w.collider[0].friction = s->friction;
    w.collider[0].surface_velocity[0] = s->belt;
    w.collider[0].rotation[0] = cos(turn / 2);
    w.collider[0].rotation[3] = sin(turn / 2);
    firn_world_open(&w);
    firn_world_add(&w, &(firn_world_body){.high = {0.2, 0.1, 0.12},
                                          .tilt = turn,
                                          .motion = firn_move_rigidly,
                                          .context = &moving});
    slide out = {0};
    double least = INFINITY;
    for (int i = 0; i < PARTS && !firn_world_failed(&w); i++) {
        const firn_totals t = firn_world_measure(&w);
        const double energy = (t.kinetic + t.elastic + t.gravitational) / t.mass;
        least = fmin(least, energy);
        out.gain = fmax(out.gain, energy - least);
        firn_world_advance(&w, s->seconds / PARTS);
        firn_reaction r = {{0}, {0}};
        firn_error error = {0};
        if (i < PARTS / 2) continue;
        if (firn_sim_read_reaction(w.sim, 0, &r, &error) != FIRN_OK) r.force[0] = NAN;
        const double part = 1 / (t.mass * (PARTS - PARTS / 2));
        out.along += part * (r.force[0] * down[0] + r.force[1] * down[1]);
        out.pressing += part * (r.force[0] * down[1] - r.force[1] * down[0]);
    }
    firn_world_look(&w);
    for (int a = 0; a < 2; a++) {
        out.way += down[a] * firn_world_mean(&w, w.x, w.x0, a, 0, w.count);
        out.speed += down[a] * firn_world_mean(&w, w.v, NULL, a, 0, w.count);
    }
    firn_world_close(&w);
    return out;
}

static void check_acceleration(firn_case_run *run, const slope *s, double part, const char *what)
{
    const slide o = slip(run, s);
    const double a = G * (sin(s->angle) - s->friction * cos(s->angle)), cells = 0.1 / s->h;
    firn_check_near(run, (o.speed - s->start) / s->seconds, a, part * fabs(a),
                    "%s, %g cells high: m/s2", what, cells);
    firn_check_near(run, o.along / (s->friction * G * cos(s->angle)), 1, 0.08,
                    "drag on the plane over theory");
    firn_check_near(run, o.pressing / (G * cos(s->angle)), 1, 0.05, "force into it over theory");
    if (s->start > 0) firn_check_at_most(run, o.gain, 0.02 * G * 0.1, "rise of energy, J/kg");
}

static void check_rest(firn_case_run *run, const slope *s, double most, const char *what)
{
    firn_check_at_most(run, fabs(slip(run, s).way), most, "%s, %g cells high: creep, m", what,
                       0.1 / s->h);
}

void firn_case_run_projected_friction(firn_case_run *run)
{
    const double thirty = FIRN_PI / 6, fifteen = FIRN_PI / 12;
    for (int fine = 0; fine < (run->quick ? 1 : 2); fine++) {
        slope s = {
            .dimension = 2, .h = fine ? 0.01 : 0.02, .friction = 0.3, .seconds = 0.4, .start = 1.5};
        check_acceleration(run, &s, 0.05, "jelly slows down");
        s.melting = true;
        check_acceleration(run, &s, 0.05, "what melts, cold, slows down");
        s.start = 0;
        s.leaning = true;
        s.angle = thirty;
        check_acceleration(run, &s, 0.05, "it slides down 30 degrees");
        s.friction = 0.7;
        check_rest(run, &s, 0.001, "it holds at friction 0.7");
        s.melting = s.leaning = false;
        s.angle = fifteen;
        check_rest(run, &s, 0.003, "jelly holds at 15 degrees");
    }
    slope belt = {
        .dimension = 2, .h = 0.02, .melting = true, .friction = 0.3, .belt = 0.5, .seconds = 0.1};
    firn_check_near(run, slip(run, &belt).speed, 0.3 * G * 0.1, 0.05 * 0.3 * G * 0.1,
                    "on a belt of 0.5 m/s: speed after 0.1 s, m/s");
    belt.seconds = 0.4;
    firn_check_near(run, slip(run, &belt).speed, 0.5, 0.005, "after 0.4 s");
    if (run->quick) return;
    slope s = {.dimension = 3,
               .h = 0.02,
               .melting = true,
               .leaning = true,
               .friction = 0.3,
               .angle = thirty,
               .seconds = 0.4};
    check_acceleration(run, &s, 0.08, "3D, it slides down 30 degrees");
}
