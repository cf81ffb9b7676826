/* Validation of implicit steps: the same worlds as elsewhere with steps far beyond what explicit ones
 * may take, and what theory says those steps do to them. */
#include <math.h>
#include <string.h>

#include "validation/world.h"

static void use_implicit(firn_world *w, double dt)
{
    w->def.integrator = FIRN_IMPLICIT;
    w->def.dt = dt;
}

/* ---- a bar ---- */

typedef struct ringing {
    double period; /* s */
    double decay;  /* of the energy, per step: -d log / d step */
} ringing;

/* A free bar of length 1 between rollers, in its first mode, over three periods. */
static ringing listen_to(firn_case_run *run, double theta, double beta, double dt)
{
    const double h = 1.0 / 32, exact = 2 / sqrt(10);
    firn_world w = firn_world_make(run, 2, h, firn_elastic(FIRN_FIXED_COROTATED, 1000, 1e4, 0));
    use_implicit(&w, dt);
    w.def.theta = theta;
    w.def.beta = beta;
    w.def.solver_tolerance = 1e-5;
    w.collider[0] = firn_roller(0, true);
    w.collider[1] = firn_roller(4 * h, false);
    w.def.collider_count = 2;
    firn_world_open(&w);
    firn_world_add(&w, &(firn_world_body){.high = {1, 4 * h}, .motion = firn_move_in_mode});
    double before = 0, first = 0, last = 0, energy = 0;
    const firn_totals begin = firn_world_measure(&w);
    int zeros = 0, steps = 0;
    for (; steps * dt < 3 * exact && !firn_world_failed(&w); steps++) {
        firn_world_advance(&w, dt);
        firn_world_look(&w);
        double amplitude = 0;
        for (int64_t i = 0; i < w.count; i++) amplitude += w.v[2 * i] * cos(FIRN_PI * w.x0[2 * i]);
        if (amplitude * before < 0) {
            last = (steps + before / (before - amplitude)) * dt;
            if (zeros++ == 0) first = last;
        }
        before = amplitude;
    }
    const firn_totals end = firn_world_measure(&w);
    energy = (end.kinetic + end.elastic) / (begin.kinetic + begin.elastic);
    firn_world_close(&w);
    return (ringing){2 * (last - first) / (zeros - 1), -log(energy) / steps};
}

/* With x = omega dt / 2: the trapezoidal rule turns by 2 atan x per step instead of 2 x, and keeps the
 * energy; theta damps amplitudes by (1 + 4 (1 - theta)^2 x^2) / (1 + 4 theta^2 x^2), squared; the
 * form of Stomakhin et al. 2013 by 1 / (1 + 4 beta x^2), squared. The steps are two and four times
 * what a sound wave takes through a cell. */
void firn_case_run_implicit_bar(firn_case_run *run)
{
    const double omega = FIRN_PI * sqrt(10);
    for (int i = 0; i < (run->quick ? 1 : 2); i++) {
        const double dt = 0.02 * (1 + i), x = omega * dt / 2;
        const ringing half = listen_to(run, 0.5, 0, dt);
        const double exact = 2 / sqrt(10) * x / atan(x);
        firn_check_near(run, half.period, exact, 2e-3 * exact, "dt %g s, theta 0.5: period, s", dt);
        firn_check_near(run, half.decay, 0, 1e-4, "theta 0.5: energy lost per step");
        const double theta = 0.55;
        firn_check_near(
            run, listen_to(run, theta, 0, dt).decay,
            log((1 + 4 * theta * theta * x * x) / (1 + 4 * (1 - theta) * (1 - theta) * x * x)),
            2e-3, "theta 0.55: energy lost per step");
        for (int k = 1; k <= 2; k++) {
            const double beta = 0.5 * k, damped = log(1 + 4 * beta * x * x);
            firn_check_near(run, listen_to(run, 1, beta, dt).decay, damped, 0.01 * damped,
                            "beta %g: energy lost per step", beta);
        }
    }
}

/* ---- a beam ---- */

/* The cantilever of the explicit case, let go from rest, through two and a half swings: the tip swings
 * about the sag with T1 = 2 pi / omega. The beam is 2.4 % too soft, see there, and higher modes join
 * in; the steps alone make the period 0.02 % longer. */
void firn_case_run_implicit_beam(firn_case_run *run)
{
    const double H = 0.1, E = 1e7, nu = 0.3, rho = 1000, g = 0.5;
    const double bending = E / (1 - nu * nu) * H * H * H / 12;
    const double shear = 5.0 / 6 * E / (2 * (1 + nu)) * H;
    const double sag = rho * H * g * (1 / (8 * bending) + 1 / (2 * shear));
    const double period = 2 * FIRN_PI / (3.516 * sqrt(bending / (rho * H)));
    firn_world w = firn_world_make(run, 2, H / 4, firn_elastic(FIRN_FIXED_COROTATED, rho, E, nu));
    use_implicit(&w, 5e-3);
    w.def.solver_tolerance = 1e-3; /* the default makes a beam as slender as this 4 % too soft */
    w.def.gravity[1] = -g;
    w.collider[0] = firn_collider_def_default();
    w.collider[0].shape = FIRN_BOX;
    w.collider[0].position[0] = -1;
    w.collider[0].boundary = FIRN_STICKY;
    w.def.collider_count = 1;
    firn_world_open(&w);
    firn_world_add(&w, &(firn_world_body){.high = {1, H}});
    double sum = 0, lowest = 0, first = 0, last = 0, before = 0;
    int looks = 0, zeros = 0;
    for (; looks < (int)(2.5 * period / w.def.dt) && !firn_world_failed(&w); looks++) {
        firn_world_advance(&w, w.def.dt);
        firn_world_look(&w);
        const double tip = firn_world_mean(&w, w.x0, w.x, 1, w.count - 8, w.count) - sag;
        if (tip * before < 0) {
            last = (looks + before / (before - tip)) * w.def.dt;
            if (zeros++ == 0) first = last;
        }
        lowest = fmax(lowest, tip + sag);
        sum += tip + sag;
        before = tip;
    }
    firn_world_close(&w);
    firn_check_near(run, 2 * (last - first) / (zeros - 1), period, 0.05 * period, "period, s");
    firn_check_near(run, lowest / sag, 2, 0.15, "lowest point over the sag");
    firn_check_near(run, sum / looks / sag, 1, 0.1, "mean over the sag");
}

/* ---- rest ---- */

/* A column on a floor between rollers, left alone and damped: its top sinks by rho g H^2 / (2 M), with
 * M the modulus of a pressure wave. */
void firn_case_run_implicit_rest(firn_case_run *run)
{
    const double H = 1, E = 1e7, nu = 0.3, rho = 1000, g = 9.81, h = 1.0 / 32;
    const double M = E * (1 - nu) / ((1 + nu) * (1 - 2 * nu)), sink = rho * g * H * H / (2 * M);
    firn_world w = firn_world_make(run, 2, h, firn_elastic(FIRN_NEO_HOOKEAN, rho, E, nu));
    use_implicit(&w, 2e-3);
    w.def.gravity[1] = -g;
    w.def.damping = 100;
    w.collider[0] = firn_collider_def_default();
    w.collider[1] = firn_collider_def_default();
    w.collider[1].shape = FIRN_INSIDE;
    w.collider[1].boundary = FIRN_SLIP;
    w.collider[1].size[0] = 4 * h; /* half */
    w.collider[1].size[1] = w.collider[1].size[2] = 10;
    w.def.collider_count = 2;
    firn_world_open(&w);
    firn_world_add(&w, &(firn_world_body){.low = {-4 * h, 0}, .high = {4 * h, H}});
    firn_world_advance(&w, 0.5);
    firn_world_look(&w);
    double top = 0, count = 0;
    for (int64_t i = 0; i < w.count; i++) {
        if (w.x0[2 * i + 1] < H - 0.5 * h) continue;
        top += w.x0[2 * i + 1] - w.x[2 * i + 1];
        count++;
    }
    firn_check_near(run, top / count, sink, 0.05 * sink, "sinking of the top, m");
    firn_check_at_most(run, firn_world_measure(&w).max_speed, 1e-3, "speed that is left, m/s");
    firn_world_close(&w);
}

/* ---- falling ---- */

/* How high a block's middle rises after it fell onto a floor, over where it would lie. */
static double rebound(firn_case_run *run, firn_integrator integrator, double young, double dt)
{
    const double side = 0.2, height = 0.2;
    firn_world w =
        firn_world_make(run, 2, 1.0 / 64, firn_elastic(FIRN_FIXED_COROTATED, 1000, young, 0.3));
    w.def.integrator = integrator;
    w.def.dt_implicit = dt;
    w.def.gravity[1] = -9.81;
    w.collider[0] = firn_collider_def_default();
    w.def.collider_count = 1;
    firn_world_open(&w);
    firn_world_add(&w, &(firn_world_body){.low = {0, height}, .high = {side, height + side}});
    double most = 0;
    for (int k = 0; k < 90 && !firn_world_failed(&w); k++) {
        firn_world_advance(&w, 5e-3);
        firn_world_look(&w);
        const double y = firn_world_mean(&w, w.x, NULL, 1, 0, w.count) - side / 2;
        if (k * 5e-3 > 0.25) most = fmax(most, y); /* it lands at 0.2 s */
    }
    firn_world_close(&w);
    return most;
}

void firn_case_run_implicit_rebound(firn_case_run *run)
{
    const double young[] = {1e5, 1e6, 1e7};
    for (int i = run->quick; i < 3; i++) {
        const double dt = 4e-3, soft = rebound(run, FIRN_EXPLICIT, young[i], dt);
        firn_check_near(run, rebound(run, FIRN_IMPLICIT, young[i], dt) / soft, 1, 0.15,
                        "E = %g Pa, %g ms: height over the explicit one", young[i], 1e3 * dt);
    }
}

/* ---- an incline ---- */

/* As the explicit case, with a body ten times as stiff. */
static void slide_down(firn_case_run *run, double friction, double dt, double t, double *way,
                       double *speed)
{
    const double angle = FIRN_PI / 6, g = 9.81;
    firn_world w =
        firn_world_make(run, 2, 0.025, firn_elastic(FIRN_FIXED_COROTATED, 1000, 1e7, 0.3));
    w.def.integrator = FIRN_IMPLICIT;
    w.def.dt_implicit = dt;
    w.collider[0] = firn_collider_def_default();
    w.collider[0].friction = friction;
    w.def.collider_count = 1;
    w.def.gravity[0] = g * sin(angle);
    w.def.gravity[1] = -g * cos(angle);
    firn_world_open(&w);
    firn_world_add(&w, &(firn_world_body){.high = {0.2, 0.2}});
    firn_world_advance(&w, t);
    firn_world_look(&w);
    *way = firn_world_mean(&w, w.x, w.x0, 0, 0, w.count);
    *speed = firn_world_mean(&w, w.v, NULL, 0, 0, w.count);
    firn_world_close(&w);
}

void firn_case_run_implicit_incline(firn_case_run *run)
{
    const double t = run->quick ? 0.4 : 0.8, angle = FIRN_PI / 6;
    const double a = 9.81 * (sin(angle) - 0.3 * cos(angle));
    for (int ms = 1; ms <= 4; ms *= 2) {
        double way, speed;
        slide_down(run, 0.3, 1e-3 * ms, t, &way, &speed);
        firn_check_near(run, 2 * way / (t * t), a, 0.05 * a, "%d ms, friction 0.3: 2 x / t^2, m/s2",
                        ms);
        firn_check_near(run, speed / t, a, 0.03 * a, "%d ms, friction 0.3: v / t, m/s2", ms);
        slide_down(run, 0.7, 1e-3 * ms, t, &way, &speed);
        firn_check_at_most(run, fabs(way), 0.005, "%d ms, friction 0.7: creep, m", ms);
    }
}
