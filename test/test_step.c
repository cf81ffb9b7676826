/* Time and the steps through it: advances end where asked, the limit of dt is named, and a limit
 * that breaks is rolled back and got past, or given up with its name. */
#include <sys/wait.h>
#include <unistd.h>

#include "worlds.h"

/* ---- time ---- */

static void advance_lands_exactly_on_the_time_asked_for(void **state)
{
    (void)state;
    static const double seconds[] = {1.0 / 24, 1.0 / 60, 1e-3, 0.1,     1e-12, 1.0 / 3,
                                     1e-9,     7e-5,     0.02, 1.0 / 7, 5e-4,  0.003};
    for (size_t p = 0; p < PATHS; p++)
        for (int fixed = 0; fixed < 2; fixed++)
            for (int filled = 0; filled < 2; filled++) {
                world w = two_law_world(2, both_paths[p], NULL);
                w.def.dt = fixed ? 5e-4 : 0;
                firn_sim *sim = world_create(&w);
                assert_close(firn_sim_time(sim), 0, 0);
                if (filled) add_two_laws(sim, &w);
                for (size_t i = 0; i < sizeof seconds / sizeof *seconds; i++) {
                    const double want = firn_sim_time(sim) + seconds[i];
                    firn_report report = {0};
                    assert_ok(firn_sim_advance(sim, seconds[i], &report, &error));
                    assert_close(firn_sim_time(sim), want, 0);
                    assert_close(report.time, want, 0);
                    if (!filled) continue;
                    assert_true(report.steps >= 1);
                    /* The last step, and the smallest, are no longer than the whole. */
                    assert_at_most(report.dt, seconds[i] + want * 0x1p-52);
                    assert_at_most(report.dt_least, report.dt);
                    assert_true(report.dt_least > 0);
                }
                /* A step on its own adds its dt. */
                const double before = firn_sim_time(sim);
                firn_report report = {0};
                assert_ok(firn_sim_step(sim, &report, &error));
                assert_int_equal(report.steps, filled);
                assert_close(firn_sim_time(sim), before + report.dt, 0);
                firn_sim_destroy(sim);
            }
}

static void a_fixed_step_is_kept_but_for_the_end_of_the_frame(void **state)
{
    (void)state;
    static const struct {
        double seconds;
        int64_t steps;
        firn_limit last;
    } cases[] = {/* the last step counts as the frame's only where it is the only one */
                 {1e-2, 20, FIRN_LIMIT_FIXED},    {5e-4, 1, FIRN_LIMIT_FIXED},
                 {0.03, 60, FIRN_LIMIT_FIXED},    {1.25e-3, 3, FIRN_LIMIT_FIXED},
                 {2e-4, 1, FIRN_LIMIT_FRAME},     {0.1, 200, FIRN_LIMIT_FIXED},
                 {1.0 / 24, 84, FIRN_LIMIT_FIXED}};
    for (size_t p = 0; p < PATHS; p++) {
        world w = two_law_world(2, both_paths[p], NULL);
        w.def.collider_count = 0;
        firn_sim *sim = world_create(&w);
        const brick b = {.low = {0, 0, 0}, .cells = {3, 3, 3}, .per_axis = 2};
        brick_add(sim, &w, &b);
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            firn_report report = {0};
            assert_ok(firn_sim_advance(sim, cases[i].seconds, &report, &error));
            assert_int_equal(report.steps, cases[i].steps);
            assert_string_equal(firn_limit_name(report.limit), firn_limit_name(cases[i].last));
            assert_int_equal(report.retries, 0);
        }
        firn_sim_destroy(sim);
    }
}

/* Takes single steps, then several in one advance, where the fused path really fuses; complains
 * unless all were limited by `want`. */
static void expect_limit(world *w, const brick *b, int steps, firn_limit want, const char *what)
{
    firn_sim *sim = world_create(w);
    random_state = 51;
    brick_add(sim, w, b);
    firn_report report = {0};
    for (int i = 0; i < steps; i++) {
        if (i < 5)
            assert_ok(firn_sim_step(sim, &report, &error));
        else
            assert_ok(firn_sim_advance(sim, 10.5 * report.dt_next, &report, &error));
        if (report.limit == want || (i >= 5 && report.limit == FIRN_LIMIT_FRAME)) continue;
        complain("%s, %s path: step %d, of %g s, was limited by \"%s\", not \"%s\"\n", what,
                 path_name(firn_sim_get_info(sim).path), i + 1, report.dt,
                 firn_limit_name(report.limit), firn_limit_name(want));
    }
    firn_sim_destroy(sim);
}

static void the_limit_of_dt_is_named(void **state)
{
    (void)state;
    const brick still = {.low = {0, 0, 0}, .cells = {4, 4, 4}, .per_axis = 2};
    for (size_t p = 0; p < PATHS; p++) {
        const firn_path path = both_paths[p];
        world base = world_default(3, 0.01), w;
        base.def.path = path;

        w = base;
        w.material[0].young = 1e8;
        w.material[0].poisson = 0.3;
        expect_limit(&w, &still, 6, FIRN_LIMIT_WAVE, "stiff");

        w.material[0].poisson = 0.47; /* beyond about 0.4 the particle bound is the tighter one */
        expect_limit(&w, &still, 6, FIRN_LIMIT_PARTICLE, "stiff and nearly incompressible");

        w = base;
        w.material[0].young = 1e3;
        brick fast = still;
        fast.velocity[0] = 40;
        expect_limit(&w, &fast, 6, FIRN_LIMIT_VELOCITY, "fast");

        static const double shear[9] = {0, 3000, 0};
        brick sheared = still;
        sheared.cells[0] = sheared.cells[1] = sheared.cells[2] = 1;
        sheared.gradient = shear;
        expect_limit(&w, &sheared, 1, FIRN_LIMIT_STRAIN, "sheared");

        w = base;
        w.def.dt = 1e-5;
        expect_limit(&w, &still, 6, FIRN_LIMIT_FIXED, "fixed");

        w = base;
        w.def.dt_max = 1e-5;
        expect_limit(&w, &still, 6, FIRN_LIMIT_MAXIMUM, "nothing else");

        w = base; /* a saw beside the body, whose teeth would cross it if they touched it */
        w.def.collider_count = 1;
        w.collider[0].shape = FIRN_BOX;
        w.collider[0].size[0] = w.collider[0].size[1] = w.collider[0].size[2] = 0.005;
        w.collider[0].key_count = 2;
        w.key[0][0] = (firn_pose_key){0, {-0.03, 0.1, 0}, {1, 0, 0, 0}};
        w.key[0][1] = (firn_pose_key){0.1, {9.97, 0.1, 0}, {1, 0, 0, 0}};
        expect_limit(&w, &still, 6, FIRN_LIMIT_COLLIDER, "beside a fast collider");
    }
    assert_no_complaints();
}

/* Particles strewn over 4 m and a paddle that turns among them: its speed counts where it is, not
 * where the furthest of them would be on it. Still, none that it meets is left inside. */
static void a_collider_limits_dt_only_where_it_is(void **state)
{
    (void)state;
    enum { COUNT = 400 };
    for (size_t p = 0; p < PATHS; p++) {
        world w = world_default(2, 0.01);
        w.def.path = both_paths[p];
        w.material[0].young = 1e3;
        w.def.collider_count = 1;
        w.collider[0].shape = FIRN_BOX;
        w.collider[0].size[0] = 0.1;
        w.collider[0].size[1] = w.collider[0].size[2] = 0.02;
        w.collider[0].key_count = 2;
        w.key[0][0] = (firn_pose_key){0, {0}, {1, 0, 0, 0}};
        w.key[0][1] = (firn_pose_key){0.04, {0}, {cos(0.8), 0, 0, sin(0.8)}}; /* 40 rad/s */
        double x[COUNT][2];
        random_state = 5;
        for (int i = 0; i < COUNT; i++) {
            do {
                for (int a = 0; a < 2; a++) x[i][a] = uniform(-2, 2) * (i % 4 ? 1 : 0.06);
            } while (fabs(x[i][0]) < 0.11 && fabs(x[i][1]) < 0.03);
        }
        firn_particles many = firn_particles_default();
        many.count = COUNT;
        many.position = x[0];
        many.each_volume = 2.5e-5;
        firn_sim *sim = world_create(&w);
        assert_ok(firn_sim_add(sim, &many, NULL, &error));
        firn_report report;
        firn_totals totals;
        assert_ok(firn_sim_advance(sim, 0.04, &report, &error));
        assert_ok(firn_sim_measure(sim, &totals, &error));
        assert_int_equal(totals.outside, 0);
        assert_at_most(report.retries, 3);
        /* The tip needs 4 m/s x 40 ms / half a cell = 33; the furthest particle, 22 times as many. */
        assert_at_most(report.steps, 100);
        firn_sim_destroy(sim);
    }
}

static void growth_and_frame_are_named_too(void **state)
{
    (void)state;
    for (size_t p = 0; p < PATHS; p++) {
        /* Braked hard: the velocity limit goes and dt may follow by a tenth per step. */
        world w = world_default(3, 0.01);
        w.def.path = both_paths[p];
        w.def.damping = 1e5;
        w.material[0].young = 1e3;
        firn_sim *sim = world_create(&w);
        const brick b = {
            .low = {0, 0, 0}, .cells = {3, 3, 3}, .per_axis = 2, .velocity = {300, 0, 0}};
        brick_add(sim, &w, &b);
        firn_report report = {0};
        assert_ok(firn_sim_step(sim, &report, &error));
        assert_ok(firn_sim_step(sim, &report, &error));
        double before = report.dt;
        for (int i = 0; i < 5; i++) {
            assert_ok(firn_sim_step(sim, &report, &error));
            assert_string_equal(firn_limit_name(report.limit), "growth");
            assert_close(report.dt / before, 1.1, 1e-6);
            before = report.dt;
        }
        /* A frame's end does not count as a small step: what follows is as long as before. */
        assert_ok(firn_sim_advance(sim, before / 100, &report, &error));
        assert_string_equal(firn_limit_name(report.limit), "frame");
        assert_int_equal(report.steps, 1);
        assert_ok(firn_sim_step(sim, &report, &error));
        assert_true(report.dt >= before);
        firn_sim_destroy(sim);
    }
}

/* ---- broken limits ---- */

static void a_broken_limit_rolls_back(void **state)
{
    (void)state;
    for (int i = 0; i < 2 * FIRN_TRANSFER_COUNT; i++)
        for (size_t p = 0; p < PATHS; p++) {
            /* At rest for 10 ms, with steps of 8 ms; then 2000 m/s2, which would be 6 cells in
             * such a step. */
            const int d = 2 + i / FIRN_TRANSFER_COUNT;
            world w = world_default(d, 0.02);
            w.def.path = both_paths[p];
            w.def.transfer = (firn_transfer)(i % FIRN_TRANSFER_COUNT);
            w.material[0].young = 1e3;
            w.def.force_count = 2;
            w.force[0] = (firn_acceleration_key){0.0100, {0, 0, 0}};
            w.force[1] = (firn_acceleration_key){0.0101, {2e3, 0, 0}};
            firn_sim *sim = world_create(&w);
            random_state = 71;
            const brick b = {.low = {-2, 0, -2}, .cells = {5, 4, 3}, .per_axis = 2, .jitter = 0.3};
            brick_add(sim, &w, &b);
            firn_report report = {0};
            assert_ok(firn_sim_advance(sim, 0.04, &report, &error));
            assert_close(firn_sim_time(sim), 0.04, 0);
            if (both_paths[p] == FIRN_PATH_FUSED) assert_true(report.retries > 0);
            assert_at_most(report.retries, 20);
            assert_null(nonfinite_field(sim, d));
            /* The force is uniform, so the body only moves, no faster than the impulse says, and is
             * not deformed. */
            const firn_totals t = totals_of(sim);
            const double speed = t.momentum[0] / t.mass;
            assert_at_most(speed, 1.01 * 2e3 * (0.04 - 0.01005));
            assert_true(speed > 20);
            assert_close(t.kinetic, 0.5 * t.mass * speed * speed, 1e-3 * t.kinetic);
            assert_at_most(t.elastic, 1e-6 * t.kinetic);
            firn_sim_destroy(sim);
        }
}

/* A clump in one block has long flown apart when a pulse breaks the step: the state that comes back
 * has far more particles in a block than the passes before had. */
static void a_rollback_to_fuller_blocks_loses_nothing(void **state)
{
    (void)state;
    enum { COUNT = 5000 };
    const double h = 0.01, rate = 10, speed = 40 * rate * 2 * h * sqrt(3);
    for (size_t i = 0; i < PATHS * FIRN_TRANSFER_COUNT; i++) {
        const firn_path path = both_paths[i % PATHS];
        world w = world_default(3, h);
        w.def.path = path;
        w.def.transfer = (firn_transfer)(i / PATHS);
        w.def.gravity[1] = 0;
        w.material[0].young = 1;
        const double start = 0.13, length = 1e-4;
        w.def.force_count = 3;
        w.force[0] = (firn_acceleration_key){start, {0, 0, 0}};
        w.force[1] = (firn_acceleration_key){start + length, {speed / length, 0, 0}};
        w.force[2] = (firn_acceleration_key){start + 2 * length, {0, 0, 0}};
        firn_sim *sim = world_create(&w);
        random_state = 5;
        double(*x)[3] = malloc(2 * COUNT * sizeof *x), (*v)[3] = x + COUNT;
        assert_non_null(x);
        for (int k = 0; k < COUNT; k++) {
            for (int a = 0; a < 3; a++) {
                const double cells = uniform(0.05, 3.95);
                x[k][a] = (cells + 0.5) * h;
                v[k][a] = rate * (cells - 2) * h;
            }
        }
        firn_particles q = firn_particles_default();
        q.count = COUNT;
        q.position = x[0];
        q.velocity = v[0];
        q.each_volume = 64 * h * h * h / COUNT;
        assert_ok(firn_sim_add(sim, &q, NULL, &error));
        free(x);
        const firn_totals before = totals_of(sim);
        firn_report report = {0};
        assert_ok(firn_sim_advance(sim, 0.2, &report, &error));
        if (path == FIRN_PATH_FUSED) assert_true(report.retries > 0);
        const firn_totals after = totals_of(sim);
        const double given = after.mass * speed;
        assert_close(after.momentum[0] - before.momentum[0], given, 1e-4 * given);
        firn_sim_destroy(sim);
    }
}

static void a_stiff_inclusion_does_not_blow_up(void **state)
{
    (void)state;
    for (int d = 2; d <= 3; d++)
        for (size_t p = 0; p < PATHS; p++) {
            /* A million times stiffer, added while the soft body is under way with a long dt. */
            world w = world_default(d, 0.02);
            w.def.path = both_paths[p];
            w.def.material_count = 2;
            w.material[0].young = 1e3;
            w.material[1].young = 1e9;
            w.def.collider_count = 1;
            w.collider[0].position[1] = -0.003;
            firn_sim *sim = world_create(&w);
            random_state = 72;
            brick b = {
                .low = {-2, 0, -2}, .cells = {5, 4, 3}, .per_axis = 2, .velocity = {0, -1, 0}};
            brick_add(sim, &w, &b);
            assert_ok(firn_sim_advance(sim, 0.005, NULL, &error));
            b = (brick){.low = {-1, 4, -1},
                        .cells = {2, 2, 2},
                        .per_axis = 2,
                        .velocity = {0, -3, 0},
                        .material = 1};
            brick_add(sim, &w, &b);
            const firn_totals before = totals_of(sim);
            firn_report report = {0};
            assert_ok(firn_sim_advance(sim, 0.001, &report, &error));
            assert_null(nonfinite_field(sim, d));
            const firn_totals t = totals_of(sim);
            assert_at_most(t.kinetic + t.elastic, 1.01 * (before.kinetic + before.elastic));
            firn_sim_destroy(sim);
        }
}

/* Two limits that break within what one snapshot spans: colliders beside the body move at 40 m/s
 * from 5 to 7 ms and at 20 m/s from 18 to 20 ms. The second rollback must not forget what the
 * first one learnt. In a process of its own, because it may never end. */
static void two_broken_limits_in_a_row_are_got_past(void **state)
{
    (void)state;
    for (size_t p = 0; p < PATHS; p++) {
        fflush(NULL);
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            world w = world_default(2, 0.02);
            w.def.path = both_paths[p];
            w.def.threads = 1; /* threads do not survive a fork */
            w.def.dt_max = 1e-3;
            w.material[0].young = 100;
            w.def.collider_count = 2;
            for (int c = 0; c < 2; c++) {
                const double from = c ? 18e-3 : 5e-3, speed = c ? 20 : 40;
                w.collider[c].shape = FIRN_SPHERE;
                w.collider[c].size[0] = 0.1;
                w.collider[c].key_count = 2;
                const double x = c ? 0.25 : -0.25;
                w.key[c][0] = (firn_pose_key){from, {x, 0, 0}, {1, 0, 0, 0}};
                w.key[c][1] = (firn_pose_key){from + 2e-3, {x, speed * 2e-3, 0}, {1, 0, 0, 0}};
            }
            firn_sim *sim = world_create(&w);
            random_state = 73;
            const brick b = {.low = {-2, 0, 0}, .cells = {5, 4, 1}, .per_axis = 2, .jitter = 0.3};
            brick_add(sim, &w, &b);
            alarm(5);
            firn_report report = {0};
            const firn_status st = firn_sim_advance(sim, 0.03, &report, NULL);
            _exit(st == FIRN_OK && report.steps < 500 && report.retries < 50 ? 0 : 1);
        }
        int status = 0;
        assert_int_equal(waitpid(child, &status, 0), child);
        if (WIFSIGNALED(status)) {
            complain("%s path: an advance of 30 ms does not end within 5 s\n",
                     path_name(both_paths[p]));
        } else if (WEXITSTATUS(status) != 0) {
            complain("%s path: failed, or took 500 steps or 50 retries\n",
                     path_name(both_paths[p]));
        }
    }
    assert_no_complaints();
}

static void a_fixed_step_that_is_too_long_is_shortened(void **state)
{
    (void)state;
    for (int d = 2; d <= 3; d++)
        for (size_t p = 0; p < PATHS; p++) {
            world w = world_default(d, 0.01);
            w.def.path = both_paths[p];
            w.def.dt = 1e-3; /* 5 cells at 50 m/s */
            firn_sim *sim = world_create(&w);
            random_state = 74;
            const brick b = {
                .low = {-2, 0, 0}, .cells = {4, 4, 3}, .per_axis = 2, .velocity = {50, 0, 0}};
            brick_add(sim, &w, &b);
            const double *before = read_all(sim, d, FIRN_POSITION);
            firn_report report = {0};
            assert_ok(firn_sim_advance(sim, 0.01, &report, &error));
            assert_at_most(report.dt, 0.91 * 0.01 / 50);
            const double *after = read_all(sim, d, FIRN_POSITION);
            for (int64_t i = 0; i < firn_sim_count(sim) * d; i++) {
                assert_close(after[i] - before[i], i % d == 0 ? 0.5 : 0, 1e-5);
            }
            free((void *)before);
            free((void *)after);
            firn_sim_destroy(sim);
        }
}

/* ---- giving up ---- */

static void poison_force(void *user_data, const firn_nodes *nodes, double (*force)[3])
{
    for (int32_t i = 0; i < nodes->count; i++) {
        if (nodes->mass[i] > 0 && nodes->time >= 0.01) force[i][0] = *(const double *)user_data;
    }
}

/* The advance gives up and names who and why; the sim stands at a good state, and stays there. */
static void expect_give_up(world *w, const char *limit, const char *law, const char *what)
{
    const int d = w->def.dimension;
    firn_sim *sim = world_create(w);
    const char *path = path_name(firn_sim_get_info(sim).path);
    random_state = 81;
    const brick b = {.low = {-2, 0, -2}, .cells = {5, 4, 3}, .per_axis = 2, .velocity = {2, 0, 0}};
    brick_add(sim, w, &b);
    const firn_totals before = totals_of(sim);
    firn_error error = {0};
    firn_report report = {0};
    const firn_status st = firn_sim_advance(sim, 0.03, &report, &error);
    if (st != FIRN_DIVERGED || !strstr(error.message, "particle ") || !strstr(error.message, law) ||
        !strstr(error.message, limit) || error.status != st) {
        complain("%s, %dD %s: %s: %s\n  wanted: diverged, a particle, \"%s\", \"%s\"\n", what, d,
                 path, firn_status_name(st), error.message, law, limit);
    }
    const char *broken = nonfinite_field(sim, d);
    if (broken) {
        complain("%s, %dD %s: %s is not finite after giving up at %g s\n", what, d, path, broken,
                 firn_sim_time(sim));
    }
    assert_close(report.time, firn_sim_time(sim), 0);
    assert_int_equal(firn_sim_count(sim), brick_count(d, &b));
    const firn_totals after = totals_of(sim);
    assert_close(after.mass, before.mass, 0);
    if (!(after.kinetic + after.elastic <= 1.01 * before.kinetic)) {
        complain("%s, %dD %s: %g J after giving up, %g before\n", what, d, path,
                 after.kinetic + after.elastic, before.kinetic);
    }
    const double found = grid_mass(sim);
    if (!(fabs(found - before.mass) <= 1e-5 * before.mass)) {
        complain("%s, %dD %s: %g of %g kg on the grid after giving up\n", what, d, path, found,
                 before.mass);
    }
    /* Trying again gets no further than the trouble, wherever it lies. */
    if (firn_sim_advance(sim, 0.03, NULL, NULL) != FIRN_DIVERGED) {
        complain("%s, %dD %s: trying again got through\n", what, d, path);
    }
    if (nonfinite_field(sim, d))
        complain("%s, %dD %s: not finite after trying again\n", what, d, path);
    firn_sim_destroy(sim);
}

static void giving_up_names_particle_material_and_limit(void **state)
{
    (void)state;
    for (int d = 2; d <= 3; d++) {
        for (size_t p = 0; p < PATHS; p++) {
            world w = world_default(d, 0.02);
            w.def.path = both_paths[p];
            w.def.dt_min = 1e-4;
            w.material[0].young = 1e9; /* wants steps of 1e-5 s */
            w.material[0].law = FIRN_COROTATED;
            expect_give_up(&w, "wave", "corotated", "too stiff for dt_min");

            w = world_default(d, 0.02);
            w.def.path = both_paths[p];
            w.def.dt_min = 6e-3; /* 2 m/s allow 5e-3 */
            w.def.dt_max = 1;
            w.material[0].young = 10;
            expect_give_up(&w, "velocity", "neo_hookean", "too fast for dt_min");

            w = world_default(d, 0.02);
            w.def.path = both_paths[p];
            w.material[0].law = FIRN_FIXED_COROTATED;
            w.def.force_count = 2;
            w.force[0] = (firn_acceleration_key){0.01, {0}};
            w.force[1] = (firn_acceleration_key){0.010001, {1e300}};
            expect_give_up(&w, "f", "fixed_corotated", "an endless force"); /* finite or force */
        }
        const double poison[] = {NAN, INFINITY, 1e300};
        for (size_t i = 0; i < 3; i++) {
            world w = world_default(d, 0.02);
            w.material[0].law = FIRN_LINEAR;
            w.def.force_hook = poison_force;
            w.def.force_user_data = (void *)&poison[i];
            expect_give_up(&w, "finite", "linear",
                           i == 0 ? "a hook returning NaN" : "a hook returning infinity");
        }
    }
    assert_no_complaints();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(advance_lands_exactly_on_the_time_asked_for),
        cmocka_unit_test(a_fixed_step_is_kept_but_for_the_end_of_the_frame),
        cmocka_unit_test(the_limit_of_dt_is_named),
        cmocka_unit_test(a_collider_limits_dt_only_where_it_is),
        cmocka_unit_test(growth_and_frame_are_named_too),
        cmocka_unit_test(a_broken_limit_rolls_back),
        cmocka_unit_test(a_rollback_to_fuller_blocks_loses_nothing),
        cmocka_unit_test(a_stiff_inclusion_does_not_blow_up),
        cmocka_unit_test(two_broken_limits_in_a_row_are_got_past),
        cmocka_unit_test(a_fixed_step_that_is_too_long_is_shortened),
        cmocka_unit_test(giving_up_names_particle_material_and_limit),
    };
    return cmocka_run_group_tests_name("step", tests, NULL, NULL);
}
