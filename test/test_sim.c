/* The sim as a whole: every scheme, worlds at random, and worlds far from the origin. */
#include <signal.h>
#include <unistd.h>

#include "worlds.h"

/* ---- transfers ---- */

static void every_transfer_spline_and_force_form_runs(void **state)
{
    (void)state;
    for (int d = 2; d <= 3; d++)
        for (int transfer = 0; transfer < FIRN_TRANSFER_COUNT; transfer++)
            for (int spline = 0; spline < FIRN_SPLINE_COUNT; spline++)
                for (int form = 0; form < FIRN_FORCE_FORM_COUNT; form++) {
                    world w = world_default(d, 0.05);
                    w.def.gravity[1] = -9.81;
                    w.def.transfer = (firn_transfer)transfer;
                    w.def.spline = (firn_spline)spline;
                    w.def.force_form = (firn_force_form)form;
                    firn_sim *sim = world_create(&w);
                    random_state = 11;
                    const brick b = {.low = {-3, -2, 1},
                                     .cells = {6, 5, 4},
                                     .per_axis = 2,
                                     .jitter = 0.5,
                                     .velocity = {3, 1, -2},
                                     .gradient = d == 2 ? spin_2d : spin_3d};
                    brick_add(sim, &w, &b);
                    const int64_t count = firn_sim_count(sim);
                    const firn_totals before = totals_of(sim);
                    assert_ok(firn_sim_advance(sim, 0.12, NULL, &error));
                    const firn_totals after = totals_of(sim);
                    char what[80];
                    snprintf(what, sizeof what, "%dD transfer %d spline %d force form %d", d,
                             transfer, spline, form);
                    const char *broken = nonfinite_field(sim, d);
                    if (broken) complain("%s: %s is not finite\n", what, broken);
                    assert_int_equal(firn_sim_count(sim), count);
                    assert_close(after.mass, before.mass, 0);
                    const double found = grid_mass(sim);
                    if (!(fabs(found - before.mass) <= 1e-5 * before.mass)) {
                        complain("%s: %g kg of %g on the grid\n", what, found, before.mass);
                    }
                    for (int a = 0; a < d; a++) { /* particles move at 3 to 5 m/s: a hundred ulp */
                        const double want =
                            before.momentum[a] + before.mass * w.def.gravity[a] * 0.12;
                        const double drift = (after.momentum[a] - want) / before.mass;
                        if (fabs(drift) <= 1e-5) continue;
                        complain("%s: momentum[%d] is off by %g m/s times the mass\n", what, a,
                                 drift);
                    }
                    firn_sim_destroy(sim);
                }
    assert_no_complaints();
}

/* ---- random worlds ---- */

/* A world of its own for every seed. Bodies start outside of colliders. */
static world random_world(uint64_t seed, brick *b, double *speed)
{
    random_state = seed * 7919;
    const int d = 2 + random_below(2);
    const double h = pow(10, uniform(-3, 0));
    world w = world_default(d, h);
    w.def.path = random_below(3) ? FIRN_PATH_AUTO : FIRN_PATH_PLAIN;
    if (random_below(2)) {
        w.def.transfer = (firn_transfer)random_below(FIRN_TRANSFER_COUNT);
        w.def.spline = (firn_spline)random_below(FIRN_SPLINE_COUNT);
        w.def.force_form = (firn_force_form)random_below(FIRN_FORCE_FORM_COUNT);
    }
    w.def.gravity[1] = random_below(2) ? -9.81 : 0;
    w.def.material_count = 1 + random_below(2);
    for (int m = 0; m < w.def.material_count; m++) {
        w.material[m].law = (firn_law_kind)random_below(FIRN_LAW_COUNT);
        w.material[m].young = pow(10, uniform(3, 8));
        const bool upright = firn_law_get_info(w.material[m].law).poisson_from_0;
        w.material[m].poisson = uniform(upright ? 0 : -0.5, 0.49);
        w.material[m].density = pow(10, uniform(2, 3.7));
    }
    *speed = random_below(3) ? uniform(0, 50) : uniform(0, 3);
    w.def.collider_count = random_below(3);
    for (int i = 0; i < w.def.collider_count; i++) {
        firn_collider_def *c = &w.collider[i];
        c->boundary = (firn_boundary)random_below(FIRN_BOUNDARY_COUNT);
        if (i == 0) { /* a floor or a room */
            c->shape = random_below(2) ? FIRN_PLANE : FIRN_INSIDE;
            for (int a = 0; a < 3; a++) c->size[a] = 8.3 * h;
            c->position[1] = c->shape == FIRN_PLANE ? -3.7 * h : 0;
        } else { /* something that comes from the right */
            double low[3], high[3];
            do set_shape(c, random_below(FIRN_SHAPE_COUNT));
            while (!firn_shape_bounds(c, w.def.dimension, low, high));
            for (int a = 0; a < 3; a++) c->size[a] *= h / 0.04;
            c->round *= h / 0.04;
            c->key_count = 2;
            const double v = uniform(0, 30);
            w.key[i][0] = (firn_pose_key){0, {13 * h, 0, 0}, {1, 0, 0, 0}};
            w.key[i][1] = (firn_pose_key){
                20 * h / fmax(v, 0.1), {-7 * h, 0, 0}, {1, uniform(-1, 1), 0, uniform(-1, 1)}};
        }
    }
    *b = (brick){.low = {-3, -3, -3},
                 .cells = {3 + random_below(4), 3 + random_below(4), 2 + random_below(3)},
                 .per_axis = 1 + random_below(d == 2 ? 3 : 2),
                 .jitter = uniform(0, 1)};
    for (int a = 0; a < d; a++) b->velocity[a] = uniform(-1, 1) * *speed / sqrt(d);
    return w;
}

/* Names the world under way when a dt that collapses would make the test run on for ever. */
static char under_way[400];
static void out_of_time(int signal)
{
    (void)signal;
    static const char text[] = "\nstill running after 30 s: ";
    if (write(STDERR_FILENO, text, sizeof text - 1) > 0 &&
        write(STDERR_FILENO, under_way, strlen(under_way)) > 0) {
        _exit(1);
    }
    _exit(2);
}

static void run_random_world(uint64_t seed)
{
    brick b;
    double speed = 0;
    world w = random_world(seed, &b, &speed);
    const int d = w.def.dimension;
    firn_sim *sim = world_create(&w);
    snprintf(under_way, sizeof under_way,
             "seed %llu (%dD, h %g, %s path, transfer %d, spline %d, force form %d, %s E %g nu %g, "
             "%s E %g nu %g, "
             "%g m/s, %d colliders)\n",
             (unsigned long long)seed, d, w.def.cell_size, path_name(firn_sim_get_info(sim).path),
             (int)w.def.transfer, (int)w.def.spline, (int)w.def.force_form,
             firn_law_name(w.material[0].law), w.material[0].young, w.material[0].poisson,
             firn_law_name(w.material[1].law), w.material[1].young, w.material[1].poisson, speed,
             w.def.collider_count);
    alarm(30);
    brick_add(sim, &w, &b);
    b.low[0] += b.cells[0]; /* a second body beside it, coming towards it or leaving it */
    b.velocity[0] = -b.velocity[0];
    b.material = (uint16_t)(w.def.material_count - 1);
    brick_add(sim, &w, &b);
    const int64_t count = firn_sim_count(sim);
    const firn_totals before = totals_of(sim);
    firn_error error = {0};
    firn_report report = {0};
    firn_status st = firn_sim_step(sim, &report, &error);
    for (int64_t steps = 1; steps < 200 && st == FIRN_OK; steps += report.steps) {
        st = random_below(4)
                 ? firn_sim_advance(sim, report.dt_next * uniform(1, 40), &report, &error)
                 : firn_sim_step(sim, &report, &error);
    }
    alarm(0);
    const char *broken = nonfinite_field(sim, d);
    const double found = grid_mass(sim);
    const firn_totals after = totals_of(sim);
    /* Without a moving collider nothing adds energy; FLIP's noise and what C cannot hold at
     * first are allowed. */
    const double energy =
        after.kinetic + after.elastic + after.gravitational - before.gravitational;
    const bool bounded =
        w.def.collider_count == 2 || energy <= 2 * (before.kinetic + before.elastic);
    if (st != FIRN_OK || broken || firn_sim_count(sim) != count ||
        !(fabs(found - before.mass) <= 1e-4 * before.mass) || !bounded) {
        complain("%s  at %g s: %s: %s; not finite: %s; %lld of %lld particles, %g of %g kg on the "
                 "grid, %g of %g J\n",
                 under_way, firn_sim_time(sim), firn_status_name(st), error.message,
                 broken ? broken : "none", (long long)firn_sim_count(sim), (long long)count, found,
                 before.mass, energy, before.kinetic + before.elastic);
    }
    firn_sim_destroy(sim);
}

static void random_worlds_stay_finite(void **state)
{
    (void)state;
    signal(SIGALRM, out_of_time);
    for (uint64_t seed = 1; seed <= 60; seed++) run_random_world(seed);
    signal(SIGALRM, SIG_DFL);
    assert_no_complaints();
}

/* ---- far from the origin ---- */

enum { FAR_CELLS = 125000 * 8 }; /* whole superblocks; 10 km of 1 cm cells */

/* Two spinning bodies that meet, at places that are whole multiples of 1/64 cell. */
static void add_dyadic(firn_sim *sim, const world *w, const double shift_cells[3])
{
    const int d = w->def.dimension;
    const int n = d == 2 ? 20 : 8, layers = d == 2 ? 1 : 8;
    double *x = malloc((size_t)(n * n * layers * d) * sizeof *x),
           *v = malloc((size_t)(n * n * layers * d) * sizeof *v);
    assert_true(x && v);
    random_state = 101;
    for (int body = 0; body < 2; body++) {
        int64_t count = 0;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                for (int k = 0; k < layers; k++, count++) {
                    const int at[3] = {i, j, k};
                    for (int a = 0; a < d; a++) {
                        const int low = a == 0 ? body * (n / 2 + 2) - n / 2 - 1 : -n / 4;
                        const double cells = low + (32 * at[a] + 8 + random_below(17)) / 64.0;
                        x[count * d + a] = (cells + shift_cells[a]) * w->def.cell_size;
                        v[count * d + a] =
                            a == 0 ? (body ? -2 : 2) + 0.05 * (j - 0.5 * n) : -0.05 * (i - 0.5 * n);
                    }
                }
        firn_particles p = firn_particles_default();
        p.count = count;
        p.position = x;
        p.velocity = v;
        p.each_volume = pow(w->def.cell_size / 2, d);
        p.each_material = (uint16_t)body;
        assert_ok(firn_sim_add(sim, &p, NULL, &error));
    }
    free(x);
    free(v);
}

static world far_world(int d, firn_path path)
{
    world w = world_default(d, 0.01);
    w.def.path = path;
    w.def.gravity[1] = -9.81;
    w.def.material_count = 2;
    w.material[1].law = FIRN_COROTATED;
    w.material[1].young = 4e4;
    return w;
}

static void far_from_the_origin_gives_the_same_bytes(void **state)
{
    (void)state;
    static const double directions[][3] = {{1, 1, 1}, {-1, 1, -1}};
    for (int d = 2; d <= 3; d++)
        for (size_t p = 0; p < PATHS; p++)
            for (size_t k = 0; k < 2; k++) {
                world w = far_world(d, both_paths[p]);
                double shift[3];
                for (int a = 0; a < 3; a++) shift[a] = directions[k][a] * FAR_CELLS;
                firn_sim *near = world_create(&w), *away = world_create(&w);
                add_dyadic(near, &w, (const double[3]){0, 0, 0});
                add_dyadic(away, &w, shift);
                for (int part = 0; part < 4; part++) {
                    firn_report one, other;
                    assert_ok(firn_sim_advance(near, 0.01, &one, &error));
                    assert_ok(firn_sim_advance(away, 0.01, &other, &error));
                    assert_int_equal(one.steps, other.steps);
                    assert_close(one.dt_next, other.dt_next, 0);
                    static const firn_field fields[] = {FIRN_VELOCITY, FIRN_DEFORMATION_GRADIENT,
                                                        FIRN_VELOCITY_GRADIENT, FIRN_STATE};
                    for (size_t f = 0; f < sizeof fields / sizeof *fields; f++) {
                        /* Reads are exact images of what is stored, in id order. */
                        const firn_field_info info = firn_field_get_info(fields[f]);
                        const int width = d == 2 ? info.components_2d : info.components_3d;
                        double *a = read_all(near, d, fields[f]), *b = read_all(away, d, fields[f]);
                        if (memcmp(a, b, (size_t)(firn_sim_count(near) * width) * sizeof *a) != 0) {
                            complain("%dD %s path: %s differs 10 km away after %g s\n", d,
                                     path_name(both_paths[p]), info.name, firn_sim_time(near));
                        }
                        free(a);
                        free(b);
                    }
                    double *x = read_all(near, d, FIRN_POSITION),
                           *y = read_all(away, d, FIRN_POSITION);
                    for (int64_t i = 0; i < firn_sim_count(near) * d; i++) {
                        assert_close(y[i] - x[i], 1e4 * directions[k][i % d], 1e-11);
                    }
                    free(x);
                    free(y);
                }
                assert_at_most(totals_of(near).min_J, 0.95); /* they did meet */
                firn_sim_destroy(near);
                firn_sim_destroy(away);
            }
    assert_no_complaints();
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void with_colliders_far_away_bulk_agrees_within_a_hundredth_of_a_cell(void **state)
{
    (void)state;
    for (int d = 2; d <= 3; d++)
        for (size_t p = 0; p < PATHS; p++) {
            const double far[3] = {FAR_CELLS, FAR_CELLS, FAR_CELLS};
            firn_sim *sim[2];
            world w[2];
            for (int k = 0; k < 2; k++) {
                w[k] = far_world(d, both_paths[p]);
                w[k].def.collider_count = 2;
                w[k].collider[1].shape = FIRN_SPHERE;
                w[k].collider[1].size[0] = 0.0413;
                for (int c = 0; c < 2; c++) {
                    for (int a = 0; a < 3; a++) w[k].collider[c].position[a] = 1e4 * k;
                    w[k].collider[c].position[0] += c ? 0.0617 : 0;
                    w[k].collider[c].position[1] -= c ? 0.1037 : 0.0834; /* no node on a surface */
                }
                sim[k] = world_create(&w[k]);
                add_dyadic(sim[k], &w[k], k ? far : (const double[3]){0, 0, 0});
                assert_ok(firn_sim_advance(sim[k], 0.15, NULL, &error));
                assert_int_equal(totals_of(sim[k]).outside, 0);
            }
            const int64_t n = firn_sim_count(sim[0]);
            double *x = read_all(sim[0], d, FIRN_POSITION), *y = read_all(sim[1], d, FIRN_POSITION);
            double *away = malloc((size_t)n * sizeof *away), mean[3] = {0};
            assert_non_null(away);
            for (int64_t i = 0; i < n; i++) {
                away[i] = 0;
                for (int a = 0; a < d; a++) {
                    const double difference = y[i * d + a] - x[i * d + a] - 1e4;
                    mean[a] += difference / (double)n;
                    away[i] = fmax(away[i], fabs(difference));
                }
            }
            qsort(away, (size_t)n, sizeof *away, compare_doubles);
            for (int a = 0; a < d; a++) assert_close(mean[a] / w[0].def.cell_size, 0, 0.01);
            assert_at_most(away[n * 9 / 10] / w[0].def.cell_size, 0.01); /* nine of ten particles */
            free(x);
            free(y);
            free(away);
            for (int k = 0; k < 2; k++) firn_sim_destroy(sim[k]);
        }
}

/* A brick of jelly at 50 m/s against sheets thinner than a step's way, on nodes and between them, and
 * the same with the sheet as the one that moves. */
static void sheets_of_any_thickness_hold_fast_jelly(void **state)
{
    (void)state;
    static const double thickness[] = {0.005, 0.01, 0.1}, offset[] = {0, 0.3, 0.5};
    const double h = 0.01, speed = 50;
    for (int i = 0; i < 2 * PATHS * 9; i++) {
        const bool moves = i % 2;
        world w = world_default(2 + i / (2 * PATHS) % 2, h);
        w.def.path = both_paths[i / 2 % PATHS];
        w.material[0].young = 1e5;
        w.def.collider_count = 1;
        firn_collider_def *sheet = &w.collider[0];
        sheet->shape = FIRN_BOX;
        sheet->size[0] = sheet->size[2] = 1;
        sheet->size[1] = 0.5 * h * thickness[i / (2 * PATHS) % 3];
        sheet->position[1] = h * offset[i / (6 * PATHS)];
        sheet->key_count = moves ? 2 : 0;
        for (int k = 0; k < 2; k++) {
            w.key[0][k] = (firn_pose_key){k, {0, sheet->position[1] + k * speed, 0}, {1, 0, 0, 0}};
        }
        firn_sim *sim = world_create(&w);
        const brick b = {.low = {-3, 2, -3},
                         .cells = {6, 6, 6},
                         .per_axis = 2,
                         .jitter = 0.5,
                         .velocity = {0, moves ? 0 : -speed, 0}};
        random_state = 11;
        brick_add(sim, &w, &b);
        const double time = 3e-3; /* three lengths of the brick at its speed */
        assert_ok(firn_sim_advance(sim, time, NULL, &error));
        const int dim = w.def.dimension;
        const int64_t count = firn_sim_count(sim);
        double *x = malloc((size_t)(count * dim) * sizeof *x);
        assert_non_null(x);
        assert_ok(firn_sim_read(sim, FIRN_POSITION, 0, count, x, &error));
        const double y = sheet->position[1] + (moves ? time * speed : 0);
        int through = 0;
        for (int64_t k = 0; k < count; k++) through += x[k * dim + 1] < y;
        if (through) {
            complain("%s path, %dD: %d of %lld particles pass %s sheet of %g cells, %g off nodes\n",
                     path_name(w.def.path), dim, through, (long long)count,
                     moves ? "a moving" : "a still", thickness[i / (2 * PATHS) % 3],
                     offset[i / (6 * PATHS)]);
        }
        free(x);
        firn_sim_destroy(sim);
    }
    assert_no_complaints();
}

/* Keys have 21 bits per axis: a block past the last would be taken for the first on the other
 * side. */
static void nothing_leaves_the_reach_unseen(void **state)
{
    (void)state;
    for (int d = 2; d <= 3; d++)
        for (size_t p = 0; p < PATHS; p++)
            for (int side = -1; side <= 1; side += 2) {
                world w = world_default(d, 0.01);
                w.def.path = both_paths[p];
                firn_sim *sim = world_create(&w);
                const double x[3] = {side * (4194304 - 12.6) * 0.01, 0, 0},
                             v[3] = {side * 50, 0, 0};
                firn_particles q = firn_particles_default();
                q.count = 1;
                q.position = x;
                q.velocity = v;
                q.each_volume = d == 2 ? 1e-4 : 1e-6;
                assert_ok(firn_sim_add(sim, &q, NULL, &error));
                firn_status st = FIRN_OK;
                for (int i = 0; i < 10 && st == FIRN_OK; i++) {
                    st = firn_sim_advance(sim, 5e-4, NULL, NULL);
                    double *now = read_all(sim, d, FIRN_POSITION);
                    if (side * now[0] < 0) {
                        complain("%dD %s path: a particle went past %g m and is at %g m\n", d,
                                 path_name(both_paths[p]), side * 41943.04, now[0]);
                        st = FIRN_DIVERGED;
                    }
                    free(now);
                }
                firn_sim_destroy(sim);
            }
    assert_no_complaints();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_transfer_spline_and_force_form_runs),
        cmocka_unit_test(random_worlds_stay_finite),
        cmocka_unit_test(far_from_the_origin_gives_the_same_bytes),
        cmocka_unit_test(with_colliders_far_away_bulk_agrees_within_a_hundredth_of_a_cell),
        cmocka_unit_test(sheets_of_any_thickness_hold_fast_jelly),
        cmocka_unit_test(nothing_leaves_the_reach_unseen),
    };
    return cmocka_run_group_tests_name("sim", tests, NULL, NULL);
}
