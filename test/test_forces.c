/* What acts on every body: the force hook, keyframed accelerations, damping. */
#include "worlds.h"

/* What the hook saw, and the acceleration it gives. One thread, so that it may write. */
typedef struct hook_log {
    double acceleration[3];
    double mass, moment[3], momentum[3]; /* of the last step */
    double time;
    int64_t calls;
    double cell_size;
    int dimension;
} hook_log;

static void push_uniformly(void *user_data, const firn_nodes *nodes, double (*force)[3])
{
    hook_log *log = user_data;
    if (nodes->time != log->time || log->calls == 0) {
        log->mass = 0;
        for (int a = 0; a < 3; a++) log->moment[a] = log->momentum[a] = 0;
    }
    log->time = nodes->time;
    log->calls++;
    for (int32_t i = 0; i < nodes->count; i++) {
        log->mass += nodes->mass[i];
        for (int a = 0; a < 3; a++) {
            assert_true(force[i][a] == 0);
            const double index = nodes->position[i][a] / log->cell_size;
            assert_close(index, rint(index), 1e-9);
            log->moment[a] += nodes->mass[i] * nodes->position[i][a];
            log->momentum[a] += nodes->mass[i] * nodes->velocity[i][a];
            force[i][a] = nodes->mass[i] > 0 ? nodes->mass[i] * log->acceleration[a]
                                             : 1e6; /* on none: ignored */
        }
    }
}

static void a_hook_adds_its_force(void **state)
{
    (void)state;
    for (int d = 2; d <= 3; d++) {
        hook_log log = {.acceleration = {3, -2, 5}, .cell_size = 0.03, .dimension = d};
        world w = world_default(d, 0.03);
        w.def.gravity[1] = -4;
        w.def.threads = 1;
        w.def.force_hook = push_uniformly;
        w.def.force_user_data = &log;
        firn_sim *sim = world_create(&w);
        assert_int_equal(firn_sim_get_info(sim).path, FIRN_PATH_PLAIN);
        random_state = 91;
        const brick b = {.low = {-3, 0, 2},
                         .cells = {4, 5, 3},
                         .per_axis = 2,
                         .jitter = 0.5,
                         .velocity = {1, 2, 3}};
        brick_add(sim, &w, &b);
        const firn_totals before = totals_of(sim);
        double moment[3] = {0};
        double *x = read_all(sim, d, FIRN_POSITION), *m = read_all(sim, d, FIRN_MASS);
        for (int64_t i = 0; i < firn_sim_count(sim); i++) {
            for (int a = 0; a < d; a++) moment[a] += m[i] * x[i * d + a];
        }
        free(x);
        free(m);
        assert_ok(firn_sim_step(sim, NULL, &error));
        /* Weights reproduce mass, centre of mass and momentum. */
        assert_close(log.mass, before.mass, 1e-6 * before.mass);
        assert_close(log.time, 0, 0);
        for (int a = 0; a < 3; a++) {
            assert_close(log.moment[a], moment[a], 1e-6 * before.mass);
            assert_close(log.momentum[a], before.momentum[a], 1e-5 * before.mass);
        }
        const double then = firn_sim_time(sim);
        assert_ok(firn_sim_advance(sim, 0.2, NULL, &error));
        assert_true(log.time > then);
        const firn_totals after = totals_of(sim);
        const double t = firn_sim_time(sim);
        for (int a = 0; a < d; a++) {
            const double gain = before.mass * (log.acceleration[a] + w.def.gravity[a]) * t;
            assert_close(after.momentum[a] - before.momentum[a], gain, 1e-5 * before.mass);
        }
        firn_sim_destroy(sim);
    }
}

/* The integral from 0 to t of keyframes that are linear between and constant beyond. */
static double integrate_keys(const firn_acceleration_key *key, int count, int axis, double t)
{
    double sum = key[0].acceleration[axis] * fmin(t, key[0].time);
    for (int i = 1; i < count && t > key[i - 1].time; i++) {
        const double span = key[i].time - key[i - 1].time,
                     s = fmin(t - key[i - 1].time, span) / span;
        const double a = key[i - 1].acceleration[axis], b = key[i].acceleration[axis];
        sum += span * (s * a + 0.5 * s * s * (b - a));
    }
    if (t > key[count - 1].time)
        sum += (t - key[count - 1].time) * key[count - 1].acceleration[axis];
    return sum;
}

static void keyframed_forces_interpolate(void **state)
{
    (void)state;
    for (int d = 2; d <= 3; d++)
        for (size_t p = 0; p < PATHS; p++) {
            world w = world_default(d, 0.05);
            w.def.path = both_paths[p];
            w.def.gravity[0] = 1;
            w.def.dt = 1e-3;
            w.def.force_count = 4;
            w.force[0] = (firn_acceleration_key){0.05, {2, -1, 0}};
            w.force[1] = (firn_acceleration_key){0.10, {6, -1, 3}};
            w.force[2] = (firn_acceleration_key){0.1505, {-8, 4, 3}}; /* not on a step */
            w.force[3] = (firn_acceleration_key){0.20, {1, 0, -2}};
            firn_sim *sim = world_create(&w);
            random_state = 92;
            const brick b = {.low = {0, 0, 0}, .cells = {3, 3, 3}, .per_axis = 2, .jitter = 0.5};
            brick_add(sim, &w, &b);
            for (int i = 1; i <= 10; i++) {
                assert_ok(firn_sim_advance(sim, 0.03, NULL, &error));
                const double t = firn_sim_time(sim);
                const firn_totals now = totals_of(sim);
                for (int a = 0; a < d; a++) {
                    /* A step takes the force of its start: off by at most dt/2 times what the
                     * force varies. */
                    double varies = 0;
                    for (int k = 1; k < 4; k++) {
                        varies += fabs(w.force[k].acceleration[a] - w.force[k - 1].acceleration[a]);
                    }
                    const double want = integrate_keys(w.force, 4, a, t) + w.def.gravity[a] * t;
                    assert_close(now.momentum[a] / now.mass, want, 0.51 * w.def.dt * varies + 1e-5);
                }
            }
            firn_sim_destroy(sim);
        }
}

static void a_keyframed_pulse_shorter_than_a_step_is_not_missed(void **state)
{
    (void)state;
    for (size_t p = 0; p < PATHS; p++)
        for (int i = 0; i < 5; i++) {
            /* 3 m/s within 0.4 ms, on a body at rest that allows steps of several ms. */
            const double start = 0.01 + 0.0011 * i;
            world w = world_default(2, 0.02);
            w.def.path = both_paths[p];
            w.material[0].young = 1e3;
            w.def.force_count = 4;
            w.force[0] = (firn_acceleration_key){start, {0}};
            w.force[1] = (firn_acceleration_key){start + 1e-4, {1e4}};
            w.force[2] = (firn_acceleration_key){start + 3e-4, {1e4}};
            w.force[3] = (firn_acceleration_key){start + 4e-4, {0}};
            firn_sim *sim = world_create(&w);
            random_state = 95;
            const brick b = {.low = {0, 0, 0}, .cells = {3, 3, 1}, .per_axis = 2, .jitter = 0.5};
            brick_add(sim, &w, &b);
            assert_ok(firn_sim_advance(sim, 0.04, NULL, &error));
            const firn_totals t = totals_of(sim);
            const double speed = t.momentum[0] / t.mass;
            if (!(fabs(speed - 3) <= 0.3)) {
                complain("%s path: a pulse at %g s gave %g m/s, not 3\n", path_name(both_paths[p]),
                         start, speed);
            }
            firn_sim_destroy(sim);
        }
    assert_no_complaints();
}

static void damping_decays_exponentially(void **state)
{
    (void)state;
    static const double dts[] = {0, 1e-3, 7e-3};
    for (int d = 2; d <= 3; d++)
        for (size_t p = 0; p < PATHS; p++)
            for (size_t i = 0; i < 3; i++) {
                world w = world_default(d, 0.05);
                w.def.path = both_paths[p];
                w.def.damping = 4;
                w.def.dt = dts[i];
                firn_sim *sim = world_create(&w);
                random_state = 93;
                const brick b = {.low = {-1, -1, -1},
                                 .cells = {3, 3, 3},
                                 .per_axis = 2,
                                 .jitter = 0.5,
                                 .velocity = {2, -1, 3}};
                brick_add(sim, &w, &b);
                for (int k = 0; k < 5; k++) {
                    assert_ok(firn_sim_advance(sim, 0.1, NULL, &error));
                    const double keep = exp(-4 * firn_sim_time(sim));
                    double *v = read_all(sim, d, FIRN_VELOCITY);
                    for (int64_t n = 0; n < firn_sim_count(sim) * d; n++) {
                        assert_close(v[n], b.velocity[n % d] * keep, 2e-5);
                    }
                    free(v);
                }
                firn_sim_destroy(sim);
            }
}

/* A step hook that uses the sim it is called from. */
typedef struct meddler {
    firn_sim *sim;
    int64_t calls;
} meddler;

static int meddle(void *user_data, const firn_report *report)
{
    meddler *m = user_data;
    (void)report;
    double x[3];
    firn_hash hash;
    firn_error error = {0};
    assert_int_equal(firn_sim_read(m->sim, FIRN_POSITION, 0, 1, x, &error), FIRN_INVALID);
    assert_int_equal(firn_sim_hash(m->sim, &hash, &error), FIRN_INVALID);
    assert_int_equal(firn_sim_step(m->sim, NULL, &error), FIRN_INVALID);
    assert_non_null(strstr(error.message, "advancing"));
    m->calls++;
    return 0;
}

static void a_step_hook_cannot_use_the_sim(void **state)
{
    (void)state;
    for (size_t p = 0; p < PATHS; p++) {
        firn_hash hash[2];
        for (int hooked = 0; hooked < 2; hooked++) {
            meddler m = {0};
            world w = world_default(2, 0.03);
            w.def.path = both_paths[p];
            w.def.step_hook = hooked ? meddle : NULL;
            w.def.step_user_data = &m;
            m.sim = world_create(&w);
            const brick b = {.cells = {4, 5, 3}, .per_axis = 2, .velocity = {1, 2, 3}};
            brick_add(m.sim, &w, &b);
            assert_ok(firn_sim_advance(m.sim, 0.05, NULL, &error));
            assert_true(!hooked || m.calls > 1);
            hash[hooked] = hash_of(m.sim);
            firn_sim_destroy(m.sim);
        }
        assert_same_hash(hash[0], hash[1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hook_adds_its_force),
        cmocka_unit_test(keyframed_forces_interpolate),
        cmocka_unit_test(a_keyframed_pulse_shorter_than_a_step_is_not_missed),
        cmocka_unit_test(damping_decays_exponentially),
        cmocka_unit_test(a_step_hook_cannot_use_the_sim),
    };
    return cmocka_run_group_tests_name("forces", tests, NULL, NULL);
}
