/* Cases of surface tension in steps with pressure projection: doc/liquids.md. Drops of water 16 cells across,
 * without gravity. */
#include <math.h>
#include <stdlib.h>

#include "validation/world.h"

#define DENSITY 1000.0 /* kg/m3 */
#define SIGMA 0.072    /* N/m */
#define RADIUS 0.01    /* m */

static firn_world world_of_drops(firn_case_run *run, int32_t dimension, int across)
{
    firn_world w =
        firn_world_make(run, dimension, 2 * RADIUS / across, firn_material_def_default());
    w.material[0] = firn_material_def_preset(firn_preset_find("water"));
    w.material[0].density = DENSITY;
    w.material[0].surface_tension = SIGMA;
    w.def.pressure = FIRN_PRESSURE_PROJECTION;
    return w;
}

/* A drop on no grid line; returns the radius that its volume is of. */
static double add_drop(firn_world *w, firn_motion *motion, const void *context)
{
    const double h = w->def.cell_size;
    firn_world_body body = {.radius = RADIUS, .motion = motion, .context = context};
    for (int a = 0; a < 3; a++) {
        body.low[a] = (0.13 + 0.07 * a) * h - RADIUS;
        body.high[a] = body.low[a] + 2 * RADIUS;
    }
    firn_world_add(w, &body);
    const int dim = w->def.dimension;
    const double volume = (double)w->count * pow(h / 2, dim);
    return dim == 2 ? sqrt(volume / FIRN_PI) : cbrt(volume * 3 / (4 * FIRN_PI));
}

/* ---- rest ---- */

/* The mean pressure within half the radius. */
static double pressure_inside(firn_world *w, double radius)
{
    const int dim = w->def.dimension;
    firn_error error = {0};
    double *p = malloc(((size_t)w->count + 1) * sizeof *p), sum = 0;
    int64_t inside = 0;
    if (!p || firn_world_failed(w) || firn_sim_read_pressure(w->sim, p, &error) != FIRN_OK) {
        free(p);
        return NAN;
    }
    for (int64_t i = 0; i < w->count; i++) {
        double r2 = 0;
        for (int a = 0; a < dim; a++) {
            const double way = w->x[i * dim + a] - firn_world_mean(w, w->x, NULL, a, 0, w->count);
            r2 += way * way;
        }
        if (r2 > 0.25 * radius * radius) continue;
        sum += p[i];
        inside++;
    }
    free(p);
    return sum / (double)inside;
}

static double rms_speed(const firn_world *w)
{
    double sum = 0;
    for (int64_t i = 0; i < w->count * w->def.dimension; i++) sum += w->v[i] * w->v[i];
    return sqrt(sum / (double)w->count);
}

static void rest_as_drop(firn_case_run *run, int32_t dimension, int across, double seconds)
{
    enum { LOOKS = 10 };
    firn_world w = world_of_drops(run, dimension, across);
    firn_world_open(&w);
    const double radius = add_drop(&w, NULL, NULL), unit = sqrt(SIGMA / (2 * DENSITY * radius));
    double jump = 0, speed = 0;
    firn_world_advance(&w, seconds / 2);
    for (int i = 0; i < LOOKS; i++) { /* the mean of the second half */
        firn_world_advance(&w, seconds / 2 / LOOKS);
        firn_world_look(&w);
        jump += pressure_inside(&w, radius) / LOOKS;
        speed += rms_speed(&w) / LOOKS;
    }
    firn_check_near(run, jump * radius / ((dimension - 1) * SIGMA), 1, 0.05,
                    "%dD, %d cells: pressure of a drop over theory", dimension, across);
    firn_check_at_most(run, speed / unit, 0.05, "rms speed over sqrt(sigma / (2 rho r))");
    double drift = 0;
    for (int a = 0; a < dimension; a++) {
        drift = hypot(drift, firn_world_mean(&w, w.v, NULL, a, 0, w.count));
    }
    firn_check_at_most(run, drift / unit, 0.05, "speed of the whole, after %g s", seconds);
    firn_world_close(&w);
}

/* ---- swinging ---- */

typedef struct stretch {
    double rate; /* 1/s, along x */
    int dimension;
} stretch;

static void stretching(const void *context, const double x[3], double v[3], double C[3][3])
{
    const stretch *s = context;
    for (int a = 0; a < s->dimension; a++) {
        C[a][a] = a == 0 ? s->rate : -s->rate / (s->dimension - 1);
        v[a] = C[a][a] * x[a];
    }
}

/* How much longer a drop is along x than along y. */
static double longer(const firn_world *w)
{
    const int dim = w->def.dimension;
    double second[2] = {0};
    for (int a = 0; a < 2; a++) {
        const double middle = firn_world_mean(w, w->x, NULL, a, 0, w->count);
        for (int64_t i = 0; i < w->count; i++) {
            second[a] += pow(w->x[i * dim + a] - middle, 2);
        }
    }
    return (second[0] - second[1]) / (second[0] + second[1]);
}

/* A drop that is round and stretches swings in its second mode (Rayleigh 1879): omega^2 r^3 rho / sigma is 6
 * in 2D and 8 in 3D. Timed by when it is round again; amplitude is that of its radius. */
static void swing(firn_case_run *run, int32_t dimension, int across, double amplitude, int halves)
{
    enum { LOOKS = 50 };
    firn_world w = world_of_drops(run, dimension, across);
    firn_world_open(&w);
    const double guess = sqrt((dimension == 2 ? 6 : 8) * SIGMA / (DENSITY * pow(RADIUS, 3)));
    const stretch s = {.rate = amplitude * guess, .dimension = dimension};
    const double radius = add_drop(&w, stretching, &s),
                 omega = sqrt((dimension == 2 ? 6 : 8) * SIGMA / (DENSITY * pow(radius, 3)));
    const double step = FIRN_PI / omega / LOOKS;
    double last = 0, first_round = 0, last_round = NAN, late = 0;
    int rounds = 0;
    for (int i = 1; i <= LOOKS * (halves + 1) && rounds <= halves; i++) {
        firn_world_advance(&w, step);
        firn_world_look(&w);
        if (firn_world_failed(&w)) break;
        const double now = longer(&w);
        if (i > LOOKS / 4 && now * last < 0) { /* not the start, where it is round, too */
            last_round = step * (i - now / (now - last));
            if (rounds++ == 0) first_round = last_round;
        }
        if (i > LOOKS * (halves - 1)) late = fmax(late, fabs(now));
        last = now;
    }
    const double measured = FIRN_PI * (rounds - 1) / (last_round - first_round);
    firn_check_near(run, measured / omega, 1, 0.05, "%dD, %d cells: frequency at amplitude %g",
                    dimension, across, amplitude);
    firn_check_note(run, late / (dimension == 2 ? 2 : 1.5) / amplitude, 1,
                    "damped by transfers and viscosity", "amplitude of half swing %d", halves);
    firn_world_close(&w);
}

void firn_case_run_projected_drop(firn_case_run *run)
{
    rest_as_drop(run, 2, 16, run->quick ? 0.5 : 2);
    rest_as_drop(run, 3, 8, 2);
    swing(run, 2, 16, 0.05, run->quick ? 2 : 4);
    if (run->quick) return;
    rest_as_drop(run, 3, 16, 0.5);
    swing(run, 2, 16, 0.03, 4);
    swing(run, 2, 16, 0.1, 4);
    swing(run, 2, 32, 0.1, 4);
    swing(run, 3, 16, 0.05, 2);
}

/* ---- turning ---- */

/* The volume of a drop, by how full the cells around its middle are. */
static double drop_volume(const firn_world *w)
{
    const int dim = w->def.dimension, reach = (int)(2 * RADIUS / w->def.cell_size);
    int low[3] = {0}, side[3] = {0};
    if (firn_world_failed(w)) return NAN;
    for (int a = 0; a < dim; a++) {
        low[a] =
            (int)floor(firn_world_mean(w, w->x, NULL, a, 0, w->count) / w->def.cell_size) - reach;
        side[a] = 2 * reach;
    }
    return firn_world_volume(w, low, side, pow(0.5, dim));
}

/* About a drop's own middle. */
static double own_angular_momentum(firn_world *w)
{
    const firn_totals t = firn_world_measure(w);
    double sum = 0;
    for (int c = 0; c < 3; c++) {
        const int a = (c + 1) % 3, b = (c + 2) % 3, dim = w->def.dimension;
        double own = t.angular_momentum[c];
        if (a < dim && b < dim) {
            own -= firn_world_mean(w, w->x, NULL, a, 0, w->count) * t.momentum[b] -
                   firn_world_mean(w, w->x, NULL, b, 0, w->count) * t.momentum[a];
        }
        sum += own * own;
    }
    return sqrt(sum);
}

/* A drop that turns and flies. Its volume is that of the start, in the mean of `looks` in every round. */
static void turn(firn_case_run *run, firn_world *w, double rim, double flight, double seconds,
                 int rounds, int looks)
{
    const int dim = w->def.dimension;
    firn_rigid_motion motion = {.velocity = {0.6 * flight, 0.8 * flight}};
    if (dim == 2) {
        motion.spin[2] = rim / RADIUS;
    } else {
        for (int a = 0; a < 3; a++) motion.spin[a] = rim / RADIUS * (a == 0 ? 1 : 2) / 3;
    }
    firn_world_open(w);
    add_drop(w, firn_move_rigidly, &motion);
    const double first = drop_volume(w), spin = own_angular_momentum(w);
    double off = 0;
    for (int i = 0; i < rounds; i++) {
        double mean = 0;
        for (int k = 0; k < looks; k++) {
            firn_world_advance(w, seconds / (rounds * looks));
            firn_world_look(w);
            mean += drop_volume(w) / first / looks;
        }
        if (!(fabs(mean - 1) <= fabs(off))) off = mean - 1; /* not a number stays */
    }
    const double cells = (flight + rim) * seconds / (double)w->steps / w->def.cell_size;
    firn_check_near(run, off, 0, 0.005, "%dD, %.2f cells a step: change of volume in %g s", dim,
                    cells, seconds);
    firn_check_note(run, own_angular_momentum(w) / spin, 1, "long steps and the surface take it",
                    "angular momentum left");
    firn_world_close(w);
}

/* A drop of water turns at 10 rad/s and flies, so that it crosses as many cells in each step. */
static void turn_in_flight(firn_case_run *run, int32_t dimension, int across, double crossing,
                           double seconds)
{
    const double rim = 0.1;
    firn_world w = world_of_drops(run, dimension, across);
    const double h = w.def.cell_size,
                 dt = sqrt(DENSITY * h * h * h / (2 * FIRN_PI * SIGMA)); /* the limit `surface` */
    turn(run, &w, rim, 0.95 * crossing * h / dt - rim, seconds, (int)fmax(seconds, 1), 5);
}

/* Nothing holds a liquid together that turns without surface tension: waves on it grow as fast as it turns.
 * So this lasts a radian. */
static void turn_freely(firn_case_run *run, int32_t dimension, int across, double crossing)
{
    firn_world w = world_of_drops(run, dimension, across);
    w.material[0].surface_tension = 0;
    w.def.crossing = crossing;
    turn(run, &w, 1, 0, RADIUS, 1, 1);
}

void firn_case_run_projected_rotation(firn_case_run *run)
{
    for (int crossing = 1; crossing <= 2; crossing++) {
        turn_in_flight(run, 2, 16, crossing, run->quick ? 2 : 10);
        turn_in_flight(run, 3, 10, crossing, run->quick ? 0.5 : 10);
        for (int d = 2; d <= 3; d++) turn_freely(run, d, 16, crossing);
    }
}

/* ---- on a plate ---- */

/* A slab of liquid becomes a cap that meets the plate at its contact angle. The mean height says how steep it
 * is: with r^2 (angle - sin cos) its area, that of a segment of a circle. */
static void rest_on_plate(firn_case_run *run, double angle_deg, double floor, double seconds)
{
    firn_world w = world_of_drops(run, 2, 16);
    const double h = w.def.cell_size, angle = angle_deg * FIRN_PI / 180;
    w.def.damping = 5;
    w.def.collider_count = 1;
    w.collider[0] = firn_roller(floor * h, true);
    w.collider[0].contact_angle = angle_deg;
    firn_world_open(&w);
    firn_world_add(
        &w, &(firn_world_body){.low = {-10 * h, floor * h}, .high = {10 * h, (floor + 8) * h}});
    firn_world_advance(&w, seconds);
    firn_world_look(&w);
    const double segment = angle - sin(angle) * cos(angle),
                 radius = sqrt((double)w.count * h * h / 4 / segment),
                 mean = radius * (2 * pow(sin(angle), 3) / (3 * segment) - cos(angle));
    firn_check_near(run, (firn_world_mean(&w, w.x, NULL, 1, 0, w.count) - floor * h) / mean, 1,
                    0.08, "cap at %g degrees, floor at %g: height", angle_deg, floor);
    firn_check_at_most(run, rms_speed(&w) / sqrt(SIGMA / (2 * DENSITY * radius)), 0.05,
                       "rms speed over sqrt(sigma / (2 rho r))");
    firn_world_close(&w);
}

void firn_case_run_projected_cap(firn_case_run *run)
{
    const double seconds = run->quick ? 1 : 3;
    rest_on_plate(run, 60, 0, seconds);
    rest_on_plate(run, 90, 0, seconds);
    rest_on_plate(run, 120, 0, seconds);
    if (run->quick) return;
    rest_on_plate(run, 60, 0.3, seconds);
    rest_on_plate(run, 120, 0.3, seconds);
}
