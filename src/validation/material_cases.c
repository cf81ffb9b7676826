/* Validation of laws in motion: liquids, sand and snow against theory, experiments and what they must
 * look like. All in 2D, at draft resolution. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "validation/world.h"

static firn_material_def preset(const char *name)
{
    return firn_material_def_preset(firn_preset_find(name));
}

/* ---- liquids ---- */

/* A box that liquid slides along: floor at y = 0, walls at x = 0 and `width`. */
static firn_collider_def tank(double width)
{
    firn_collider_def c = firn_collider_def_default();
    c.shape = FIRN_INSIDE;
    c.size[0] = width / 2;
    c.size[1] = 5;
    c.position[0] = width / 2;
    c.position[1] = 5;
    c.boundary = FIRN_SEPARATE;
    c.friction = 0;
    return c;
}

static firn_world fill_tank(firn_case_run *run, double h, double width, double bulk)
{
    firn_world w = firn_world_make(run, 2, h, preset("water"));
    w.material[0].bulk = bulk;
    w.collider[0] = tank(width);
    w.def.collider_count = 1;
    w.def.gravity[1] = -9.81;
    return w;
}

/* Pressure falls with height as density x g. The lowest and the highest cells are left out: kernels
 * reach beyond the liquid there. */
void firn_case_run_hydrostatic(firn_case_run *run)
{
    const double h = 1.0 / (run->quick ? 16 : 32), K = 1e6, slope = 1000 * 9.81;
    firn_world w = fill_tank(run, h, 16 * h, K);
    w.def.damping = 20;
    firn_world_open(&w);
    firn_world_add(&w, &(firn_world_body){.high = {16 * h, 1}});
    firn_world_advance(&w, 0.5);
    firn_world_look(&w);
    double *p = malloc(((size_t)w.count + 1) * sizeof *p), n = 0, sy = 0, sp = 0, syy = 0, syp = 0;
    firn_error error = {0};
    if (!p || firn_world_failed(&w) || firn_sim_read_pressure(w.sim, p, &error) != FIRN_OK) {
        w.count = 0;
    }
    for (int64_t i = 0; i < w.count; i++) {
        const double y = w.x[2 * i + 1];
        if (y < 2 * h || y > 1 - 2 * h) continue;
        n++, sy += y, sp += p[i], syy += y * y, syp += y * p[i];
    }
    const double fit = (n * syp - sy * sp) / (n * syy - sy * sy), level = (sp - fit * sy) / n;
    double noise = 0;
    for (int64_t i = 0; i < w.count; i++) {
        const double y = w.x[2 * i + 1], away = p[i] - level - fit * y;
        if (y >= 2 * h && y <= 1 - 2 * h) noise += away * away / n;
    }
    firn_check_near(run, fit, -slope, 0.05 * slope, "pressure per height, Pa/m");
    firn_check_at_most(run, sqrt(noise) / slope, 0.02,
                       "scatter of particles over the pressure below");
    free(p);
    firn_world_close(&w);
}

/* Mean height of the particles that were filled in highest. */
static double surface(const firn_world *w)
{
    double top = 0, sum = 0, n = 0;
    for (int64_t i = 0; i < w->count; i++) top = fmax(top, w->x0[2 * i + 1]);
    for (int64_t i = 0; i < w->count; i++) {
        if (w->x0[2 * i + 1] > top - 0.25 * w->def.cell_size) sum += w->x[2 * i + 1], n++;
    }
    return sum / n;
}

/* Volume of the particles over that at rest. */
static double volume(firn_world *w)
{
    double *state = malloc(((size_t)w->count + 1) * sizeof *state), sum = 0;
    firn_error error = {0};
    if (!state || firn_world_failed(w) ||
        firn_sim_read(w->sim, FIRN_STATE, 0, w->count, state, &error) != FIRN_OK) {
        sum = NAN;
    }
    for (int64_t i = 0; i < w->count && sum >= 0; i++) sum += exp(state[i]) / (double)w->count;
    free(state);
    return sum;
}

/* A tank half full whose walls lie this part of a cell beyond nodes. */
static void rest_in_tank(firn_case_run *run, int cells, double part, double seconds)
{
    const double depth = 0.5, h = depth / cells, low = part * h;
    firn_world w = fill_tank(run, h, 1, 1e6);
    for (int a = 0; a < 2; a++) w.collider[0].position[a] += low;
    firn_world_open(&w);
    firn_world_add(&w, &(firn_world_body){.low = {low, low}, .high = {1 + low, depth + low}});
    const double level = surface(&w), middle = firn_world_mean(&w, w.x, NULL, 1, 0, w.count) - low;
    firn_world_advance(&w, seconds);
    firn_world_look(&w);
    const double sunk = firn_world_mean(&w, w.x, NULL, 1, 0, w.count) - low;
    firn_check_near(run, (surface(&w) - level) / depth, 0, 0.01,
                    "%d cells deep, walls at %g: rise in %g s over depth", cells, part, seconds);
    firn_check_near(run, volume(&w), 1, 0.01, "volume of the particles over that filled");
    firn_check_near(run, sunk / middle, 1, 0.01, "height of the middle over that filled");
    /* Let go without pressure it falls by what that compresses it, and rings. By energy it is at most
     * so fast; rows of particles along the nodes hardly damp it, others do. */
    const double let_go = 9.81 * depth * sqrt(1000 / (3 * 1e6));
    firn_check_at_most(run, sqrt(2 * firn_world_measure(&w).kinetic / (1000 * depth)),
                       part > 0 ? 0.02 : let_go, "root mean square speed at the end, m/s");
    firn_world_close(&w);
}

/* Nothing should happen to a liquid at rest, wherever walls are between nodes: see mirror.c. */
void firn_case_run_liquid_at_rest(firn_case_run *run)
{
    const double seconds = run->quick ? 4 : 10;
    rest_in_tank(run, 8, 0, seconds);
    rest_in_tank(run, 8, 0.3, seconds);
    if (run->quick) return;
    rest_in_tank(run, 16, 0, seconds);
    rest_in_tank(run, 16, 0.3, seconds);
    rest_in_tank(run, 8, 0.7, seconds);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The x that this part of the particles from `first` on does not exceed. */
static double quantile(const firn_world *w, int64_t first, double part)
{
    const int64_t n = w->count - first;
    double *x = malloc(((size_t)(n > 0 ? n : 0) + 1) * sizeof *x), at = NAN;
    for (int64_t i = 0; x && i < n; i++) x[i] = w->x[2 * (first + i)];
    if (x && n > 0) {
        qsort(x, (size_t)n, sizeof *x, ascending);
        at = x[(int64_t)(part * (double)(n - 1))];
    }
    free(x);
    return at;
}

/* Where the front of a falling column is, over its width, at T = t sqrt(2 g / a) = 1, 2, 3, 4. */
static void break_dam(firn_case_run *run, int cells, double front[4])
{
    const double a = 0.05715, unit = sqrt(a / (2 * 9.81));
    firn_world w = fill_tank(run, a / cells, 20 * a, 1e6);
    firn_world_open(&w);
    firn_world_add(&w, &(firn_world_body){.high = {a, 2 * a}});
    for (int k = 0; k < 4; k++) {
        firn_world_advance(&w, unit);
        firn_world_look(&w);
        front[k] = quantile(&w, 0, 0.995) / a;
    }
    firn_world_close(&w);
}

/* Martin & Moyce 1952, n^2 = 2, between their points. Walls without friction let the front lead theirs. */
void firn_case_run_dam_break(firn_case_run *run)
{
    static const double measured[4] = {1.33, 2.29, 3.65, 4.90};
    double front[4], finer[4];
    break_dam(run, run->quick ? 12 : 16, front);
    for (int k = 1; k < 4; k++) {
        firn_check_near(run, front[k], measured[k], 0.2 * measured[k], "front over width at T = %d",
                        k + 1);
        firn_check_at_least(run, front[k], measured[k], "which leads the experiment");
    }
    if (run->quick) return;
    break_dam(run, 32, finer);
    firn_check_near(run, finer[3] / front[3], 1, 0.02, "front at half the cell size");
}

/* ---- sand ---- */

/* How far the foot of a column of half width d0 = 0.2 m and height a d0 has come, over d0. */
static double collapse(firn_case_run *run, double a, double *height)
{
    const double d0 = 0.2, h = d0 / 20;
    firn_world w = firn_world_make(run, 2, h, preset("sand"));
    w.material[0].friction_angle = 31;
    w.def.gravity[1] = -9.81;
    w.collider[0] = tank(20 * d0); /* one wall is the middle of the column */
    w.collider[1] = firn_collider_def_default();
    w.collider[1].boundary = FIRN_STICKY; /* rough floor */
    w.def.collider_count = 2;
    firn_world_open(&w);
    firn_world_add(&w, &(firn_world_body){.high = {d0, a * d0}});
    firn_world_advance(&w, 2 * 3.3 * sqrt(a * d0 / 9.81));
    firn_world_look(&w);
    *height = 0;
    for (int64_t i = 0; i < w.count; i++) *height = fmax(*height, w.x[2 * i + 1] / d0);
    const double foot = quantile(&w, 0, 0.995) / d0;
    firn_world_close(&w);
    return foot - 1;
}

/* Granular columns in a channel: Lube et al. 2005, Lajeunesse et al. 2005. */
void firn_case_run_sand_column(firn_case_run *run)
{
    double height;
    firn_check_near(run, collapse(run, 1, &height), 1.2, 0.15 * 1.2,
                    "run-out, height = half width");
    firn_check_near(run, height, 0.65, 0.35 * 0.65, "its height over half width");
    if (run->quick) return;
    firn_check_near(run, collapse(run, 0.5, &height), 0.6, 0.35 * 0.6, "run-out, half as high");
    const double tall = 1.9 * pow(3, 2.0 / 3);
    firn_check_near(run, collapse(run, 3, &height), tall, 0.35 * tall,
                    "run-out, three times as high");
}

/* ---- snow ---- */

/* Uniaxial strain f. The stress along it is -(2 mu + lambda) hardening c s / f with the elastic stretch s
 * = max(f, 0.975) = 1 - c and hardening exp(10 (1 - f / s)); those across are nu / (1 - nu) of it. */
void firn_case_run_snow_compression(firn_case_run *run)
{
    static const double f[] = {0.99, 0.975, 0.95, 0.9, 0.8};
    for (int i = 0; i < 5; i++) {
        firn_world w = firn_world_make(run, 3, 1, preset("snow"));
        w.def.dt = 1e-9;
        firn_world_open(&w);
        const double at[3] = {0}, F[9] = {f[i], 0, 0, 0, 1, 0, 0, 0, 1};
        firn_particles one = firn_particles_default();
        one.count = 1;
        one.position = at;
        one.deformation_gradient = F;
        one.each_volume = 1;
        firn_error error = {0};
        double pressure = NAN;
        firn_status st = FIRN_INVALID;
        if (!firn_world_failed(&w)) st = firn_sim_add(w.sim, &one, NULL, &error);
        firn_world_advance(&w, w.def.dt); /* in which it yields, and does nothing else */
        if (st == FIRN_OK) st = firn_sim_read_pressure(w.sim, &pressure, &error);
        const double s = fmax(f[i], 0.975), hard = exp(10 * (1 - f[i] / s));
        const double want = 1.4e5 / 0.9 * hard * (1 - s) * s / f[i];
        firn_check_near(run, st == FIRN_OK ? -2 * pressure : NAN, -want,
                        firn_by_precision(run, 1e-6, 1e-4) * want, "stress at strain %g, Pa", f[i]);
        firn_world_close(&w);
    }
}

/* A plane through the origin that rises by `angle` towards -x. */
static firn_collider_def slope(double angle, double friction)
{
    firn_collider_def c = firn_collider_def_default();
    const double turn[4] = {cos(angle / 2), 0, 0, -sin(angle / 2)};
    memcpy(c.rotation, turn, sizeof turn);
    c.boundary = FIRN_SEPARATE;
    c.friction = friction;
    return c;
}

static firn_world snow_world(firn_case_run *run, double h)
{
    firn_world w = firn_world_make(run, 2, h, preset("snow"));
    w.def.transfer = FIRN_ASFLIP; /* what scenes with snow take */
    w.def.gravity[1] = -9.81;
    return w;
}

/* Along the slope, and away from it. */
static void on_slope(const firn_world *w, int64_t i, double angle, double *along, double *away)
{
    *along = cos(angle) * w->x[2 * i] - sin(angle) * w->x[2 * i + 1];
    *away = sin(angle) * w->x[2 * i] + cos(angle) * w->x[2 * i + 1];
}

/* A slab lies on a slope of 20 degrees. Its lowest particles tell whether the grid shows: waves as long
 * as the slope takes through a cell, along either axis. */
void firn_case_run_snow_at_rest(firn_case_run *run)
{
    const double h = 0.02, angle = 20 * FIRN_PI / 180;
    firn_world w = snow_world(run, h);
    w.collider[0] = slope(angle, 0.7);
    w.def.collider_count = 1;
    firn_world_open(&w);
    firn_world_add(&w, &(firn_world_body){.low = {-0.4}, .high = {0.4, 6 * h}, .tilt = -angle});
    double *lowest = malloc(((size_t)w.count + 1) * sizeof *lowest);
    for (int64_t i = 0; lowest && i < w.count; i++) {
        double along;
        on_slope(&w, i, angle, &along, &lowest[i]);
    }
    firn_world_advance(&w, run->quick ? 0.5 : 1);
    firn_world_look(&w);
    const double settled = firn_world_mean(&w, w.x, NULL, 0, 0, w.count);
    double gap = 0, wave[2][2] = {{0}}, n = 0;
    for (int64_t i = 0; lowest && i < w.count; i++) {
        double along, away;
        on_slope(&w, i, angle, &along, &away);
        if (lowest[i] > 0.4 * h || fabs(along) > 0.3) continue; /* the first layer, but its ends */
        gap = fmax(gap, away);
        n++;
        for (int k = 0; k < 2; k++) {
            const double phase = 2 * FIRN_PI * along / h * (k ? sin(angle) : cos(angle));
            wave[k][0] += away * cos(phase);
            wave[k][1] += away * sin(phase);
        }
    }
    firn_world_advance(&w, 0.5);
    firn_world_look(&w);
    firn_check_at_most(run, gap / h, 0.5, "widest gap to the slope, cells");
    for (int k = 0; k < 2; k++) {
        firn_check_at_most(run, 2 * hypot(wave[k][0], wave[k][1]) / n / h, 0.1,
                           "ripple with the grid along %c, cells", k ? 'y' : 'x');
    }
    firn_check_near(run, firn_world_mean(&w, w.x, NULL, 0, 0, w.count) - settled, 0, 0.1 * h,
                    "way in half a second at rest, m");
    free(lowest);
    firn_world_close(&w);
}

/* A ball falls by 4 m into a block: it mixes, and does not bounce. */
void firn_case_run_snow_into_block(firn_case_run *run)
{
    const double h = 0.05, top = 1.2, radius = 0.4, drop = 4, width = 3.2;
    const firn_rigid_motion falling = {.velocity = {0, -sqrt(2 * 9.81 * drop)}};
    firn_world w = snow_world(run, h);
    w.collider[0] = tank(width);
    w.def.collider_count = 1;
    firn_world_open(&w);
    firn_world_add(&w, &(firn_world_body){.high = {width, top}});
    const int64_t block = w.count;
    const double low = top + h, side = width / 2 - radius;
    firn_world_add(&w, &(firn_world_body){.low = {side, low},
                                          .high = {side + 2 * radius, low + 2 * radius},
                                          .radius = radius,
                                          .motion = firn_move_rigidly,
                                          .context = &falling});
    double lowest = INFINITY, rebound = 0;
    for (int k = 0; k < (run->quick ? 40 : 75) && !firn_world_failed(&w); k++) {
        firn_world_advance(&w, 0.02);
        firn_world_look(&w);
        const double y = firn_world_mean(&w, w.x, NULL, 1, block, w.count);
        lowest = fmin(lowest, y);
        rebound = fmax(rebound, y - lowest);
    }
    firn_check_at_most(run, firn_world_mean(&w, w.x, NULL, 1, block, w.count), top,
                       "height of the ball's middle, m");
    firn_check_at_most(run, rebound / drop, 0.05, "rebound over drop");
    firn_world_close(&w);
}

/* How far a ball slides on a slope of 30 degrees in 0.6 s, and which part of it is left more than a
 * diameter behind. */
static double slide_ball(firn_case_run *run, double friction, double *shed)
{
    const double h = 0.0125, radius = 0.1, angle = FIRN_PI / 6;
    const firn_rigid_motion falling = {.velocity = {0, -3}};
    firn_world w = snow_world(run, h);
    w.collider[0] = slope(angle, friction);
    w.def.collider_count = 1;
    firn_world_open(&w);
    const double y = (radius + h) / cos(angle);
    firn_world_add(&w, &(firn_world_body){.low = {-radius, y - radius},
                                          .high = {radius, y + radius},
                                          .radius = radius,
                                          .motion = firn_move_rigidly,
                                          .context = &falling});
    firn_world_advance(&w, 0.6);
    firn_world_look(&w);
    double middle = 0, away, along;
    for (int64_t i = 0; i < w.count; i++) {
        on_slope(&w, i, angle, &along, &away);
        middle += along / (double)w.count;
    }
    *shed = 0;
    for (int64_t i = 0; i < w.count; i++) {
        on_slope(&w, i, angle, &along, &away);
        *shed += (along < middle - 2 * radius) / (double)w.count;
    }
    firn_world_close(&w);
    return middle;
}

/* A ball hits a slope: the rougher, the shorter it slides and the more of it stays behind. */
void firn_case_run_snow_on_slope(firn_case_run *run)
{
    double shed[3], way[3];
    static const double friction[3] = {0.05, 0.3, 1};
    for (int i = 0; i < 3; i++) way[i] = slide_ball(run, friction[i], &shed[i]);
    for (int i = 0; i < 3; i++) {
        firn_check_note(run, way[i], 0, "for comparison", "way in 0.6 s at friction %g, m",
                        friction[i]);
        firn_check_note(run, shed[i], 0, "for comparison", "part left behind");
    }
    firn_check_at_least(run, way[0] - way[1], 0.2, "way lost from 0.05 to 0.3, m");
    firn_check_at_least(run, way[1] - way[2], 0.2, "way lost from 0.3 to 1, m");
    firn_check_at_least(run, shed[1], 0.01, "part left behind at 0.3");
}
