/* The method of manufactured solutions: a motion chosen in advance, and the body force that makes it
 * one.
 *
 *   x = X + V t + u,   u_a = A_a sin(w t) s(X),   s = product of f(X_b) over b < axes
 *   b = u_tt - Div P(F) / rho,   F = I + grad u,   P of neo-Hookean
 *
 * The classic is a bar, f = sin(pi X). Fields and domains here are such that the boundary is free of
 * traction, so the body needs no wall. That matters: walls hold the nodes on and behind them, with
 * which splines no longer reproduce linear fields, and the same bar between walls at X = 0 and 1
 * converges with order 1.03 (measured, 16 to 128 cells). It also frees the body to travel (V), so
 * that particles cross cells all the time.
 *
 * The force hook knows nodes by where they are now: it takes them back to X first. It acts at the
 * start of a step, as the stress does. */
#include <math.h>
#include <string.h>

#include "validation/world.h"

typedef struct manufactured {
    int dim, axes;
    bool squared;        /* f = sin^2(pi X) on [0, 1]; else f = sin(pi X) on [-1/2, 1/2] */
    double amplitude[3]; /* m */
    double rate;         /* rad/s */
    double velocity[3];  /* m/s */
    double density, mu, lambda;
} manufactured;

/* f and its first two derivatives. */
static void profile(const manufactured *m, double X, double f[3])
{
    if (m->squared) {
        f[0] = sin(FIRN_PI * X) * sin(FIRN_PI * X);
        f[1] = FIRN_PI * sin(2 * FIRN_PI * X);
        f[2] = 2 * FIRN_PI * FIRN_PI * cos(2 * FIRN_PI * X);
    } else {
        f[0] = sin(FIRN_PI * X);
        f[1] = FIRN_PI * cos(FIRN_PI * X);
        f[2] = -FIRN_PI * FIRN_PI * sin(FIRN_PI * X);
    }
}

/* s, its gradient and its second derivatives; beyond `axes` nothing varies. */
static double shape_at(const manufactured *m, const double X[3], double gradient[3],
                       double second[3][3])
{
    double f[3][3] = {{1, 0, 0}, {1, 0, 0}, {1, 0, 0}};
    for (int a = 0; a < m->axes; a++) profile(m, X[a], f[a]);
    for (int a = 0; a < 3; a++) {
        gradient[a] = 1;
        for (int b = 0; b < 3; b++) {
            second[a][b] = 1;
            for (int c = 0; c < 3; c++) second[a][b] *= f[c][(c == a) + (c == b)];
        }
        for (int c = 0; c < 3; c++) gradient[a] *= f[c][c == a];
    }
    return f[0][0] * f[1][0] * f[2][0];
}

static double amplitude_at(const manufactured *m, int a, double t)
{
    return a < m->axes ? m->amplitude[a] * sin(m->rate * t) : 0;
}

static void place_at(const manufactured *m, const double X[3], double t, double x[3])
{
    double gradient[3], second[3][3];
    const double s = shape_at(m, X, gradient, second);
    for (int a = 0; a < 3; a++) x[a] = X[a] + m->velocity[a] * t + amplitude_at(m, a, t) * s;
}

/* The X that is at x at time t: a contraction, since |grad u| is small. */
static void origin_of(const manufactured *m, const double x[3], double t, double X[3])
{
    memcpy(X, x, 3 * sizeof *X);
    for (double change = 1; change > 1e-24;) {
        double there[3];
        place_at(m, X, t, there);
        change = 0;
        for (int a = 0; a < 3; a++) {
            X[a] += x[a] - there[a];
            change += (x[a] - there[a]) * (x[a] - there[a]);
        }
    }
}

/* H = F^-T by cofactors; returns det F. */
static double inverse_transpose(const double F[3][3], double H[3][3])
{
    double J = 0;
    for (int i = 0; i < 3; i++) {
        const int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
        for (int j = 0; j < 3; j++) {
            const int j1 = (j + 1) % 3, j2 = (j + 2) % 3;
            H[i][j] = F[i1][j1] * F[i2][j2] - F[i1][j2] * F[i2][j1];
        }
        if (i == 0) J = F[0][0] * H[0][0] + F[0][1] * H[0][1] + F[0][2] * H[0][2];
    }
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) H[i][j] /= J;
    }
    return J;
}

/* b = u_tt - Div P / rho at X, with dP = mu (dF + H dF^T H) + lambda ((H:dF) H - log J H dF^T H). In 2D
 * the third direction stays at F_33 = 1, which is plane strain. */
static void body_force(const manufactured *m, const double X[3], double t, double b[3])
{
    double gradient[3], second[3][3], F[3][3], H[3][3];
    const double s = shape_at(m, X, gradient, second);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) F[i][j] = (i == j) + amplitude_at(m, i, t) * gradient[j];
    }
    const double log_J = log(inverse_transpose(F, H));
    for (int i = 0; i < 3; i++) b[i] = -m->rate * m->rate * amplitude_at(m, i, t) * s;
    for (int k = 0; k < m->dim; k++) { /* the part of Div P that differentiates by X_k */
        double dF[3][3], trace = 0;
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++) {
                dF[i][j] = amplitude_at(m, i, t) * second[j][k];
                trace += H[i][j] * dF[i][j];
            }
        }
        for (int i = 0; i < m->dim; i++) {
            double HdFH = 0;
            for (int p = 0; p < 3; p++) {
                for (int q = 0; q < 3; q++) HdFH += H[i][p] * dF[q][p] * H[q][k];
            }
            const double dP =
                m->mu * (dF[i][k] + HdFH) + m->lambda * (trace * H[i][k] - log_J * HdFH);
            b[i] -= dP / m->density;
        }
    }
}

static void push_nodes(void *context, const firn_nodes *nodes, double (*force)[3])
{
    const manufactured *m = context;
    for (int32_t n = 0; n < nodes->count; n++) {
        if (!(nodes->mass[n] > 0)) continue;
        double X[3], b[3];
        origin_of(m, nodes->position[n], nodes->time, X);
        body_force(m, X, nodes->time, b);
        for (int a = 0; a < m->dim; a++) force[n][a] = nodes->mass[n] * b[a];
    }
}

typedef struct manufactured_start {
    const manufactured *field;
    double dt;
} manufactured_start;

/* At time 0 all is at rest shape. Velocities are those of half a step before, as leapfrog has them. */
static void move_as_manufactured(const void *context, const double x[3], double v[3],
                                 double C[3][3])
{
    const manufactured_start *start = context;
    const manufactured *m = start->field;
    double gradient[3], second[3][3];
    const double s = shape_at(m, x, gradient, second);
    for (int a = 0; a < 3; a++) {
        const double slope = (amplitude_at(m, a, 0) - amplitude_at(m, a, -start->dt)) / start->dt;
        v[a] = m->velocity[a] + slope * s;
        for (int b = 0; b < 3; b++) C[a][b] = slope * gradient[b];
    }
}

/* L2 error of positions, over particles and looks, over the largest amplitude. */
static double follow(firn_case_run *run, manufactured *m, int cells)
{
    const double h = 1.0 / cells;
    const double poisson = m->lambda / (2 * (m->lambda + m->mu));
    const firn_material_def material =
        firn_elastic(FIRN_NEO_HOOKEAN, m->density, 2 * m->mu * (1 + poisson), poisson);
    firn_world w = firn_world_make(run, m->dim, h, material);
    w.def.threads = m->dim == 3 ? 0 : 1;
    w.def.force_hook = push_nodes;
    w.def.force_user_data = m;
    firn_world_fix_step(&w, 0.3);
    manufactured_start start = {m, w.def.dt};
    firn_world_open(&w);
    firn_world_body b = {.motion = move_as_manufactured, .context = &start};
    for (int a = 0; a < m->dim; a++) {
        b.low[a] = m->squared ? 0 : a < m->axes ? -0.5 : 0;
        b.high[a] = m->squared ? 1 : a < m->axes ? 0.5 : 4 * h;
    }
    firn_world_add(&w, &b);
    double sum = 0;
    const int looks = 16, steps = (int)ceil(2 * FIRN_PI / m->rate / w.def.dt / looks);
    for (int k = 1; k <= looks && !firn_world_failed(&w); k++) {
        firn_world_advance(&w, steps * w.def.dt);
        firn_world_look(&w);
        for (int64_t i = 0; i < w.count; i++) {
            double X[3] = {0}, x[3];
            for (int a = 0; a < m->dim; a++) X[a] = w.x0[i * m->dim + a];
            place_at(m, X, k * steps * w.def.dt, x);
            for (int a = 0; a < m->dim; a++) {
                const double e = w.x[i * m->dim + a] - x[a];
                sum += e * e;
            }
        }
    }
    const double error = sqrt(sum / ((double)w.count * looks)) / m->amplitude[0];
    firn_world_close(&w);
    return error;
}

static void check_order(firn_case_run *run, manufactured *m, int coarsest, int grids,
                        const char *name)
{
    double error[3] = {0};
    for (int i = 0; i < grids; i++) {
        error[i] = follow(run, m, coarsest << i);
        firn_check_note(run, error[i], 0, "judged below, by the order at which it falls",
                        "%s: L2 error at %d cells", name, coarsest << i);
    }
    firn_check_at_least(run, log2(error[0] / error[grids - 1]) / (grids - 1), 1.7,
                        "%s: order of convergence", name);
}

void firn_case_run_mms(firn_case_run *run)
{
    /* The bar of the literature, u = A sin(pi X) sin(c pi t), travelling. */
    manufactured bar = {.dim = 2, .axes = 1, .amplitude = {0.02}, .density = 1000, .mu = 5000};
    const double c = sqrt(10);
    bar.rate = c * FIRN_PI;
    bar.velocity[0] = 0.1 * c;
    bar.velocity[1] = 0.07 * c;
    check_order(run, &bar, 16, run->quick ? 2 : 3, "bar");

    /* Shear and both Lame constants, in 2D and 3D. */
    manufactured field = bar;
    field.squared = true;
    field.lambda = 5000;
    field.amplitude[1] = -0.015;
    field.amplitude[2] = 0.01;
    field.velocity[2] = -0.05 * c;
    field.axes = field.dim = 2;
    check_order(run, &field, 16, run->quick ? 2 : 3, "square");
    field.axes = field.dim = 3;
    if (!run->quick) check_order(run, &field, 8, 3, "cube");
}
