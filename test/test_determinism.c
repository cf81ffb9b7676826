/* Same binary, same instruction set, same scene: same bytes, whatever the thread count.
 *
 * Runs under ThreadSanitizer too, so the worlds are as small as they can be and still have several
 * superblocks, contact, two materials in one block, and retried steps. */
#include <pthread.h>

#include "hosts.h"
#include "worlds.h"

static const int32_t thread_counts[] = {1, 2, 3, 7};
enum { THREAD_COUNTS = sizeof thread_counts / sizeof *thread_counts };
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define THREAD_SANITIZER
#endif
#endif
#if defined(__SANITIZE_THREAD__) || defined(THREAD_SANITIZER)
enum { STEPS = 100 }; /* fifteen times slower, and races show in the first steps */
#else
enum { STEPS = 500 };
#endif

/* Two bodies of two laws thrown at the ground and at a moving ball; they meet each other in the
 * air. */
static world contact_world(int dimension, firn_path path)
{
    world w = world_default(dimension, 0.02);
    w.def.path = path;
    w.def.gravity[1] = -9.81;
    w.def.material_count = 2;
    w.material[0].young = 5e4;
    w.material[1].law = FIRN_FIXED_COROTATED;
    w.material[1].young = 2e4;
    w.material[1].density = 700;
    w.def.collider_count = 2;
    w.collider[0].position[1] = -0.1107;
    w.collider[1].shape = FIRN_SPHERE;
    w.collider[1].size[0] = 0.06;
    w.collider[1].key_count = 2;
    w.collider[1].boundary = FIRN_STICKY;
    w.key[1][0] = (firn_pose_key){0, {0.3, -0.1, 0}, {1, 0, 0, 0}};
    w.key[1][1] = (firn_pose_key){1, {-0.9, -0.1, 0}, {0, 0, 0, 1}};
    return w;
}

static void add_bodies(firn_sim *sim, const world *w)
{
    const int d = w->def.dimension;
    random_state = 41;
    const brick left = {.low = {-9, -3, -3},
                        .cells = {8, d == 2 ? 10 : 5, 5},
                        .per_axis = d == 2 ? 2 : 1,
                        .jitter = 0.8,
                        .velocity = {1.5, -1.5, 0.4}};
    const brick right = {.low = {0, -3, -2},
                         .cells = {8, d == 2 ? 10 : 5, 4},
                         .per_axis = d == 2 ? 2 : 1,
                         .jitter = 0.8,
                         .velocity = {-1, -1, 0},
                         .material = 1};
    brick_add(sim, w, &left);
    brick_add(sim, w, &right);
}

static void advance_part(firn_sim *sim, double seconds)
{
    assert_ok(firn_sim_advance(sim, seconds, NULL, &error));
}

/* STEPS steps in ten advances, or as many automatic ones as that time takes. */
static void check_thread_counts(int dimension, firn_path path, firn_transfer transfer,
                                bool automatic)
{
    firn_hash first[10] = {{{0}}};
    for (int t = 0; t < THREAD_COUNTS; t += automatic ? 2 : 1) {
        world w = contact_world(dimension, path);
        w.def.transfer = transfer;
        w.def.threads = thread_counts[t];
        w.def.dt = automatic ? 0 : 4e-4;
        firn_sim *sim = world_create(&w);
        assert_int_equal(firn_sim_get_info(sim).path, path);
        assert_int_equal(firn_sim_get_info(sim).threads, thread_counts[t]);
        add_bodies(sim, &w);
        const firn_hash start = hash_of(sim);
        double least_J = 1;
        for (int part = 0; part < 10; part++) {
            advance_part(sim, 0.1 * STEPS * 4e-4);
            const firn_hash now = hash_of(sim);
            assert_memory_not_equal(&now, &start, sizeof now);
            if (t == 0) first[part] = now;
            if (memcmp(&now, &first[part], sizeof now) != 0) {
                print_error("%dD, path %d, %s dt: %d threads part from 1 thread by %g s\n",
                            dimension, (int)path, automatic ? "automatic" : "fixed",
                            (int)thread_counts[t], firn_sim_time(sim));
                fail();
            }
            least_J = fmin(least_J, totals_of(sim).min_J);
        }
        if (STEPS == 500) assert_true(least_J < 0.99); /* there was contact */
        firn_sim_destroy(sim);
    }
}

static void same_bytes_with_1_2_3_and_7_threads_fused_2d(void **state)
{
    (void)state;
    check_thread_counts(2, FIRN_PATH_FUSED, FIRN_APIC, false);
    check_thread_counts(2, FIRN_PATH_FUSED, FIRN_APIC, true);
    check_thread_counts(2, FIRN_PATH_FUSED, FIRN_ASFLIP, true);
}

static void same_bytes_with_1_2_3_and_7_threads_fused_3d(void **state)
{
    (void)state;
    check_thread_counts(3, FIRN_PATH_FUSED, FIRN_APIC, false);
    check_thread_counts(3, FIRN_PATH_FUSED, FIRN_APIC, true);
    check_thread_counts(3, FIRN_PATH_FUSED, FIRN_ASFLIP, true);
}

static void same_bytes_with_1_2_3_and_7_threads_plain_2d(void **state)
{
    (void)state;
    check_thread_counts(2, FIRN_PATH_PLAIN, FIRN_APIC, false);
    check_thread_counts(2, FIRN_PATH_PLAIN, FIRN_APIC, true);
}

static void same_bytes_with_1_2_3_and_7_threads_plain_3d(void **state)
{
    (void)state;
    check_thread_counts(3, FIRN_PATH_PLAIN, FIRN_APIC, false);
    check_thread_counts(3, FIRN_PATH_PLAIN, FIRN_APIC, true);
}

/* ---- on the host's threads ---- */

static void same_bytes_on_the_hosts_threads(void **state)
{
    (void)state;
    for (int path = FIRN_PATH_PLAIN; path <= FIRN_PATH_FUSED; path++) {
        firn_hash own = {{0}};
        for (int host = -1; host < HOSTS; host++) { /* -1: none */
            int loops = 0;
            world w = contact_world(3, (firn_path)path);
            w.def.threads = 3;
            if (host >= 0) w.def.tasks = (firn_task_hook){host_runs[host], &loops};
            firn_sim *sim = world_create(&w);
            add_bodies(sim, &w);
            advance_part(sim, 0.02);
            if (host < 0) own = hash_of(sim);
            assert_same_hash(hash_of(sim), own);
            assert_true(host < 0 || loops > 10);
            firn_sim_destroy(sim);
        }
    }
}

/* ---- sims at the same time ---- */

static void *advance_sim(void *sim)
{
    return firn_sim_advance(sim, 0.02, NULL, NULL) == FIRN_OK ? sim : NULL;
}

static void sims_on_several_host_threads_do_not_disturb_each_other(void **state)
{
    (void)state;
    enum { SIMS = 4 };
    pthread_t thread[SIMS];
    firn_sim *sim[SIMS + 1];
    for (int i = 0; i <= SIMS; i++) {
        world w = contact_world(2 + i % 2, FIRN_PATH_AUTO);
        w.def.threads = 3;
        sim[i] = world_create(&w);
        add_bodies(sim[i], &w);
    }
    for (int i = 0; i < SIMS; i++) {
        assert_int_equal(pthread_create(&thread[i], NULL, advance_sim, sim[i]), 0);
    }
    for (int i = 0; i < SIMS; i++) {
        void *result = NULL;
        assert_int_equal(pthread_join(thread[i], &result), 0);
        assert_ptr_equal(result, sim[i]);
    }
    for (int i = 2; i < SIMS; i++) assert_same_hash(hash_of(sim[i]), hash_of(sim[i % 2]));
    assert_non_null(advance_sim(sim[SIMS])); /* alone */
    assert_same_hash(hash_of(sim[SIMS]), hash_of(sim[0]));
    for (int i = 0; i <= SIMS; i++) firn_sim_destroy(sim[i]);
}

/* ---- adding and removing ---- */

static int keep_most(void *user_data, uint64_t id, const double position[3], uint16_t material,
                     uint16_t object)
{
    (void)position, (void)material, (void)object;
    return (id + *(const uint64_t *)user_data) % 5 != 0;
}

/* Adds and removes between advances; returns the hash after each advance. */
static void run_editing(int dimension, firn_path path, int32_t threads, firn_hash hash[8])
{
    world w = contact_world(dimension, path);
    w.def.threads = threads;
    firn_sim *sim = world_create(&w);
    add_bodies(sim, &w);
    for (int part = 0; part < 8; part++) {
        advance_part(sim, 0.006);
        if (part % 2 == 0) {
            uint64_t salt = (uint64_t)part;
            int64_t removed = 0;
            assert_ok(firn_sim_remove(sim, keep_most, &salt, &removed, &error));
            assert_true(removed > 0);
        } else {
            const brick more = {.low = {-2 * part, 6 + 3 * part, -1},
                                .cells = {4, 2, 2},
                                .per_axis = 2,
                                .jitter = 1,
                                .velocity = {0, -3, 0},
                                .material = (uint16_t)(part / 2 % 2)};
            brick_add(sim, &w, &more);
        }
        hash[part] = hash_of(sim);
    }
    firn_sim_destroy(sim);
}

static void the_same_after_adding_and_removing(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++) {
        for (int path = FIRN_PATH_PLAIN; path <= FIRN_PATH_FUSED; path++) {
            firn_hash first[8];
            run_editing(dimension, (firn_path)path, 1, first);
            for (int t = 1; t < THREAD_COUNTS; t++) {
                firn_hash again[8];
                run_editing(dimension, (firn_path)path, thread_counts[t], again);
                for (int part = 0; part < 8; part++) assert_same_hash(again[part], first[part]);
            }
        }
    }
}

/* ---- repeating ---- */

static void a_repeated_sequence_repeats_the_bytes(void **state)
{
    (void)state;
    static const double seconds[] = {1e-3, 0.0123, 1.0 / 24, 7e-5, 0.02};
    for (int dimension = 2; dimension <= 3; dimension++) {
        for (int path = FIRN_PATH_PLAIN; path <= FIRN_PATH_FUSED; path++) {
            /* Two sims side by side on different thread counts, so that they share nothing but
             * the code. */
            world w = contact_world(dimension, (firn_path)path);
            w.def.threads = 1;
            firn_sim *one = world_create(&w);
            w.def.threads = 3;
            firn_sim *other = world_create(&w);
            add_bodies(one, &w);
            add_bodies(other, &w);
            assert_same_hash(hash_of(one), hash_of(other));
            for (size_t i = 0; i < sizeof seconds / sizeof *seconds; i++) {
                advance_part(one, seconds[i]);
                advance_part(other, seconds[i]);
                assert_same_hash(hash_of(one), hash_of(other));
                assert_ok(firn_sim_step(one, NULL, &error));
                assert_ok(firn_sim_step(other, NULL, &error));
                assert_same_hash(hash_of(one), hash_of(other));
            }
            firn_sim_destroy(one);
            firn_sim_destroy(other);
        }
    }
}

static void looking_changes_nothing(void **state)
{
    (void)state;
    for (int path = FIRN_PATH_PLAIN; path <= FIRN_PATH_FUSED; path++) {
        world w = contact_world(3, (firn_path)path);
        firn_sim *watched = world_create(&w), *alone = world_create(&w);
        add_bodies(watched, &w);
        add_bodies(alone, &w);
        for (int part = 0; part < 4; part++) {
            const firn_hash before = hash_of(watched);
            totals_of(watched);
            assert_ok(firn_sim_visit_grid(watched, visit_nothing, NULL, &error));
            free(read_all(watched, 3, FIRN_POSITION));
            free(read_all(watched, 3, FIRN_VELOCITY_GRADIENT));
            assert_same_hash(hash_of(watched), before);
            advance_part(watched, 0.004);
            advance_part(alone, 0.004);
            assert_same_hash(hash_of(watched), hash_of(alone));
        }
        firn_sim_destroy(watched);
        firn_sim_destroy(alone);
    }
}

/* What is near a block is found by halving the blocks: colliders beyond reach of everything change no bit, however
 * many there are and wherever they stand in the list. */
static void far_colliders_change_nothing(void **state)
{
    (void)state;
    enum { FAR = 200 };
    static firn_collider_def all[FAR + 1];
    for (int i = 0; i < 8; i++) {
        const int dimension = 2 + i % 2;
        firn_hash own = {{0}};
        for (int many = 0; many < 2; many++) {
            world w = world_default(dimension, 0.1);
            w.def.gravity[1] = -10;
            w.def.transfer = FIRN_APIC;
            if (i / 2 == 1) w.def.integrator = FIRN_IMPLICIT;
            if (i / 2 == 2) {
                w.def.pressure = FIRN_PRESSURE_PROJECTION;
                w.material[0] = firn_material_def_preset(firn_preset_find("water"));
            }
            if (i / 2 == 3) w.def.path = FIRN_PATH_PLAIN;
            world_point(&w);
            random_state = 5;
            for (int k = 0; k <= FAR; k++) {
                all[k] = firn_collider_def_default();
                if (k == FAR / 3) continue; /* the ground */
                all[k].shape = FIRN_BOX;
                for (int a = 0; a < 3; a++) {
                    all[k].size[a] = 0.3;
                    all[k].position[a] = (a == 0 ? 20 : 0) + uniform(-5, 5);
                }
            }
            w.def.colliders = many ? all : &all[FAR / 3];
            w.def.collider_count = many ? FAR + 1 : 1;
            firn_sim *sim = NULL;
            assert_ok(firn_sim_create(&w.def, &sim, &error));
            const brick b = {
                .low = {0, 2, 0}, .cells = {12, 6, 6}, .per_axis = 2, .velocity = {1, -3, 0}};
            brick_add(sim, &w, &b);
            assert_ok(firn_sim_advance(sim, 0.15, NULL, &error));
            if (!many) own = hash_of(sim);
            assert_same_hash(hash_of(sim), own);
            firn_sim_destroy(sim);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(far_colliders_change_nothing),
        cmocka_unit_test(same_bytes_with_1_2_3_and_7_threads_fused_2d),
        cmocka_unit_test(same_bytes_with_1_2_3_and_7_threads_fused_3d),
        cmocka_unit_test(same_bytes_with_1_2_3_and_7_threads_plain_2d),
        cmocka_unit_test(same_bytes_with_1_2_3_and_7_threads_plain_3d),
        cmocka_unit_test(same_bytes_on_the_hosts_threads),
        cmocka_unit_test(sims_on_several_host_threads_do_not_disturb_each_other),
        cmocka_unit_test(the_same_after_adding_and_removing),
        cmocka_unit_test(a_repeated_sequence_repeats_the_bytes),
        cmocka_unit_test(looking_changes_nothing),
    };
    return cmocka_run_group_tests_name("determinism", tests, NULL, NULL);
}
