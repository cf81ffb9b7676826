/* Liquids by pressure projection: they rest where they should, keep their volume, follow moving walls,
 * and leave the same bytes at any thread count. */
#include "memory_state.h"
#include "worlds.h"

#define CELL 0.02
#define G 9.81

/* A tank of slip walls, `wide` cells along x and z, from the origin up; liquid by projection. */
static world tank_world(int dimension, int wide)
{
    world w = world_default(dimension, CELL);
    w.def.gravity[1] = -G;
    w.def.pressure = FIRN_PRESSURE_PROJECTION;
    w.material[0] = firn_material_def_preset(firn_preset_find("water"));
    w.def.collider_count = 1;
    firn_collider_def *c = &w.collider[0];
    c->shape = FIRN_INSIDE;
    c->boundary = FIRN_SLIP;
    for (int a = 0; a < 3; a++) c->size[a] = c->position[a] = 0.5 * wide * CELL;
    c->size[1] = c->position[1] = 50 * CELL;
    return w;
}

static brick pool(int wide, int deep, double jitter)
{
    return (brick){.cells = {wide, deep, wide}, .per_axis = 2, .jitter = jitter};
}

/* Mean height over that of a body `deep` high, the root mean square speed, and the largest. */
typedef struct rest {
    double height, speed, most;
} rest;

static rest look(firn_sim *sim, int dimension, double deep)
{
    const int64_t n = firn_sim_count(sim);
    double *x = malloc((size_t)(n * dimension) * sizeof *x),
           *v = malloc((size_t)(n * dimension) * sizeof *v);
    assert_true(x && v);
    assert_ok(firn_sim_read(sim, FIRN_POSITION, 0, n, x, &error));
    assert_ok(firn_sim_read(sim, FIRN_VELOCITY, 0, n, v, &error));
    rest r = {0};
    for (int64_t i = 0; i < n; i++) {
        double v2 = 0;
        for (int a = 0; a < dimension; a++) v2 += v[i * dimension + a] * v[i * dimension + a];
        r.height += 2 * x[i * dimension + 1] / deep / (double)n;
        r.speed += v2 / (double)n;
        r.most = fmax(r.most, sqrt(v2));
    }
    r.speed = sqrt(r.speed);
    free(x);
    free(v);
    return r;
}

/* To the tolerance of the solver; in a full box, which has no surface, but for a constant. */
static void a_column_at_rest_stays_and_has_the_weight_above_it_as_pressure(void **state)
{
    (void)state;
    enum { DEEP = 12, WIDE = 8 };
    for (int run = 0; run < 4; run++) {
        const int d = 2 + run / 2;
        const bool full = run % 2;
        world w = tank_world(d, WIDE);
        if (full) w.collider[0].size[1] = w.collider[0].position[1] = 0.5 * DEEP * CELL;
        firn_sim *sim = world_create(&w);
        const brick b = pool(WIDE, DEEP, 0);
        brick_add(sim, &w, &b);
        const int64_t n = firn_sim_count(sim);
        double *x = malloc((size_t)(n * d) * sizeof *x), *p = malloc((size_t)n * sizeof *p);
        assert_true(x && p);
        assert_ok(firn_sim_read(sim, FIRN_POSITION, 0, n, x, &error)); /* where pressure is found */
        firn_report report;
        assert_ok(firn_sim_step(sim, &report, &error));
        assert_at_most(report.residual, 1e-6);
        assert_at_most(look(sim, d, DEEP * CELL).most, 1e-5 * G * report.dt);
        assert_ok(firn_sim_read_pressure(sim, p, &error));
        const double top = full ? 0.5 * DEEP * CELL : DEEP * CELL, unit = 1000 * G * DEEP * CELL;
        int64_t inside = 0;
        for (int64_t i = 0; i < n; i++) {
            const double y = x[i * d + 1];
            if (y < 1.5 * CELL || y > (DEEP - 1.5) * CELL) continue; /* where splines are cut */
            assert_close(p[i] / unit, (top - y) / (DEEP * CELL), 1e-5);
            inside++;
        }
        assert_true(inside > n / 2);
        free(x);
        free(p);
        firn_sim_destroy(sim);
    }
}

static void shallow_pools_stand_right(void **state)
{
    (void)state;
    for (int d = 2; d <= 3; d++) {
        for (int deep = 2; deep <= 4; deep += 2) {
            const int wide = d == 2 ? 32 : 12;
            world w = tank_world(d, wide);
            firn_sim *sim = world_create(&w);
            const brick b = pool(wide, deep, 0.25);
            brick_add(sim, &w, &b);
            firn_report report;
            assert_ok(firn_sim_advance(sim, 2, &report, &error));
            const rest r = look(sim, d, deep * CELL);
            print_message("%dD, %d deep: height %+.2f %%, %.1e m/s, %lld steps\n", d, deep,
                          100 * (r.height - 1), r.speed, (long long)report.steps);
            assert_close(r.height, 1, 0.015);
            assert_at_most(r.speed, 0.01);
            assert_true(report.steps <= 210);
            assert_at_most(report.divergence, 1e-5);
            firn_sim_destroy(sim);
        }
    }
}

/* The tank and gravity turned together: the floor cuts cells at an angle. */
static void pools_in_slanted_tanks_rest(void **state)
{
    (void)state;
    enum { WIDE = 24, DEEP = 6 };
    const double turn = atan(0.3);
    world w = tank_world(2, WIDE);
    firn_collider_def *c = &w.collider[0];
    c->rotation[0] = cos(turn / 2);
    c->rotation[3] = sin(turn / 2);
    c->position[0] = c->size[0] * cos(turn) - c->size[1] * sin(turn);
    c->position[1] = c->size[0] * sin(turn) + c->size[1] * cos(turn);
    w.def.gravity[0] = G * sin(turn);
    w.def.gravity[1] = -G * cos(turn);
    firn_sim *sim = world_create(&w);
    enum { COUNT = 4 * WIDE * DEEP };
    double x[COUNT][2];
    random_state = 3;
    for (int i = 0; i < COUNT; i++) {
        const double u = (i % (2 * WIDE) + uniform(0.3, 0.7)) * CELL / 2,
                     v = (i / (2 * WIDE) + uniform(0.3, 0.7)) * CELL / 2;
        x[i][0] = u * cos(turn) - v * sin(turn);
        x[i][1] = u * sin(turn) + v * cos(turn);
    }
    firn_particles p = firn_particles_default();
    p.count = COUNT;
    p.position = x[0];
    p.each_volume = CELL * CELL / 4;
    assert_ok(firn_sim_add(sim, &p, NULL, &error));
    assert_ok(firn_sim_advance(sim, 2, NULL, &error));
    const double speed = look(sim, 2, 1).speed;
    double height = 0;
    assert_ok(firn_sim_read(sim, FIRN_POSITION, 0, COUNT, x[0], &error));
    for (int i = 0; i < COUNT; i++) {
        height += (x[i][1] * cos(turn) - x[i][0] * sin(turn)) * 2 / (DEEP * CELL) / COUNT;
    }
    print_message("slanted: height %+.2f %%, %.1e m/s\n", 100 * (height - 1), speed);
    assert_close(height, 1, 0.015);
    assert_at_most(speed, 0.01);
    firn_sim_destroy(sim);
}

/* A full box that moves with constant velocity, across cells, and one with air in it. */
static void liquid_in_a_moving_box_is_still_in_it(void **state)
{
    (void)state;
    for (int full = 0; full < 2; full++) {
        enum { WIDE = 10 };
        world w = tank_world(2, WIDE);
        firn_collider_def *c = &w.collider[0];
        if (full) c->size[1] = c->position[1] = 0.5 * WIDE * CELL;
        const double speed[2] = {0.4, -0.3};
        c->key_count = 2;
        for (int k = 0; k < 2; k++) {
            w.key[0][k] = (firn_pose_key){.time = 10.0 * k, .rotation = {1, 0, 0, 0}};
            for (int a = 0; a < 3; a++) {
                w.key[0][k].position[a] = c->position[a] + (a < 2 ? 10.0 * k * speed[a] : 0);
            }
        }
        firn_sim *sim = world_create(&w);
        brick b = pool(WIDE, full ? WIDE : 5, 0.25);
        memcpy(b.velocity, speed, sizeof speed);
        brick_add(sim, &w, &b);
        assert_ok(firn_sim_advance(sim, 1, NULL, &error));
        const int64_t n = firn_sim_count(sim);
        double v[4 * WIDE * WIDE][2], off = 0;
        assert_ok(firn_sim_read(sim, FIRN_VELOCITY, 0, n, v[0], &error));
        for (int64_t i = 0; i < n; i++) {
            off += (pow(v[i][0] - speed[0], 2) + pow(v[i][1] - speed[1], 2)) / (double)n;
        }
        print_message("moving box, %s: %.1e m/s\n", full ? "full" : "half full", sqrt(off));
        assert_at_most(sqrt(off), 0.015);
        firn_sim_destroy(sim);
    }
}

static firn_sim *dam(world *w, int dimension, int32_t threads)
{
    *w = tank_world(dimension, dimension == 2 ? 40 : 16);
    w->def.threads = threads;
    w->def.courant = 0.9;
    firn_sim *sim = world_create(w);
    const brick b = {.cells = {8, 16, 16}, .per_axis = 2, .jitter = 0.25};
    random_state = 11;
    brick_add(sim, w, &b);
    return sim;
}

static void bytes_are_the_same_at_any_thread_count_and_after_a_resume(void **state)
{
    (void)state;
    for (int d = 2; d <= 3; d++) {
        firn_hash hash[4];
        for (int run = 0; run < 4; run++) { /* the last one saves and goes on */
            world w;
            firn_sim *sim = dam(&w, d, run < 3 ? run + 1 : 2);
            for (int frame = 0; frame < 4; frame++) {
                if (run == 3 && frame == 2) {
                    bytes saved = {0};
                    assert_ok(firn_sim_save(sim, put, &saved, &error));
                    firn_sim_destroy(sim);
                    sim = world_create(&w);
                    assert_ok(firn_sim_load(sim, take, &saved, &error));
                    free(saved.data);
                }
                assert_ok(firn_sim_advance(sim, 1.0 / 24, NULL, &error));
            }
            assert_ok(firn_sim_hash(sim, &hash[run], &error));
            firn_sim_destroy(sim);
            assert_memory_equal(&hash[run], &hash[0], sizeof hash[0]);
        }
    }
}

static void a_dam_that_breaks_keeps_mass_and_momentum_and_stays_in_its_tank(void **state)
{
    (void)state;
    for (int d = 2; d <= 3; d++) {
        world w;
        firn_sim *sim = dam(&w, d, 2);
        firn_totals before, after;
        assert_ok(firn_sim_measure(sim, &before, &error));
        assert_ok(firn_sim_advance(sim, 0.5, NULL, &error));
        assert_ok(firn_sim_measure(sim, &after, &error));
        assert_close(after.mass, before.mass, 0);
        assert_int_equal(after.outside, 0);
        assert_true(after.kinetic + after.gravitational < before.gravitational);
        firn_sim_destroy(sim);
    }
}

static void what_projection_does_not_serve_is_refused(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        world w = tank_world(2, 8);
        static const char *const word[] = {"law", "transfer", "integrator", "object_bodies"};
        static const uint8_t bodies[] = {0, 1};
        if (i == 0) w.material[0] = firn_material_def_default();
        if (i == 1) w.def.transfer = FIRN_ASFLIP;
        if (i == 2) w.def.integrator = FIRN_IMPLICIT;
        if (i == 3) {
            w.def.object_bodies = bodies;
            w.def.object_count = 2;
        }
        world_point(&w);
        firn_sim *sim;
        firn_error error = {0};
        assert_int_equal(firn_sim_create(&w.def, &sim, &error), FIRN_UNSUPPORTED);
        assert_non_null(strstr(error.message, word[i]));
        assert_non_null(strstr(error.message, "projection"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_column_at_rest_stays_and_has_the_weight_above_it_as_pressure),
        cmocka_unit_test(shallow_pools_stand_right),
        cmocka_unit_test(pools_in_slanted_tanks_rest),
        cmocka_unit_test(liquid_in_a_moving_box_is_still_in_it),
        cmocka_unit_test(bytes_are_the_same_at_any_thread_count_and_after_a_resume),
        cmocka_unit_test(a_dam_that_breaks_keeps_mass_and_momentum_and_stays_in_its_tank),
        cmocka_unit_test(what_projection_does_not_serve_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
