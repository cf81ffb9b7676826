/* Bodies separate, push and rub where they touch; objects of one body stick together. */
#include "sim/sim.h"
#include "worlds.h"

/* Objects 0, 1, 2 are a body each, unless `together`. */
static const uint16_t own_body[3] = {1, 2, 3};

static world bodies_world(int dimension, firn_path path, bool together)
{
    world w = world_default(dimension, 0.02);
    w.def.path = path;
    w.material[0].young = 1e5;
    w.material[0].poisson = 0.3;
    w.def.object_bodies = own_body;
    w.def.object_count = together ? 0 : 3;
    return w;
}

/* A cube of `cells` cells at `low`, moving. */
static void add_body(firn_sim *sim, const world *w, int object, const int low[3],
                     const int cells[3], const double velocity[3])
{
    brick b = {.per_axis = 2, .object = (uint16_t)object};
    memcpy(b.low, low, sizeof b.low);
    memcpy(b.cells, cells, sizeof b.cells);
    memcpy(b.velocity, velocity, sizeof b.velocity);
    brick_add(sim, w, &b);
}

/* Mean position and velocity of an object, and the range of its positions along y. */
typedef struct body_state {
    double x[3], v[3], low, high;
} body_state;

static body_state look_at(const firn_sim *sim, int d, int object)
{
    double *x = read_all(sim, d, FIRN_POSITION), *v = read_all(sim, d, FIRN_VELOCITY),
           *o = read_all(sim, d, FIRN_OBJECT);
    body_state s = {.low = INFINITY, .high = -INFINITY};
    int64_t n = 0;
    for (int64_t i = 0; i < firn_sim_count(sim); i++) {
        if (o[i] != object) continue;
        for (int a = 0; a < d; a++) {
            s.x[a] += x[i * d + a];
            s.v[a] += v[i * d + a];
        }
        s.low = fmin(s.low, x[i * d + 1]);
        s.high = fmax(s.high, x[i * d + 1]);
        n++;
    }
    for (int a = 0; a < d; a++) {
        s.x[a] /= (double)n;
        s.v[a] /= (double)n;
    }
    free(x);
    free(v);
    free(o);
    return s;
}

static void bodies_seeded_touching_part_without_loss(void **state)
{
    (void)state;
    for (int d = 2; d <= 3; d++)
        for (size_t p = 0; p < PATHS; p++)
            for (int i = 0; i < 1 + FIRN_TRANSFER_COUNT; i++) {
                const bool together = i == FIRN_TRANSFER_COUNT;
                world w = bodies_world(d, both_paths[p], together);
                if (!together) w.def.transfer = (firn_transfer)i;
                firn_sim *sim = world_create(&w);
                add_body(sim, &w, 0, (int[]){-6, 0, 0}, (int[]){6, 6, 6}, (double[]){-1, 0, 0});
                add_body(sim, &w, 1, (int[]){0, 0, 0}, (int[]){6, 6, 6}, (double[]){1, 0, 0});
                assert_ok(firn_sim_advance(sim, 0.2, NULL, &error));
                const body_state left = look_at(sim, d, 0), right = look_at(sim, d, 1);
                if (together) { /* what fields are for */
                    assert_true(right.v[0] < 0.9);
                } else {
                    assert_close(right.v[0], 1, 1e-3);
                    assert_close(left.v[0], -1, 1e-3);
                    assert_close(right.x[0] - left.x[0], 0.12 + 0.4, 1e-3);
                    assert_at_most(totals_of(sim).elastic, 1e-6 * totals_of(sim).kinetic);
                }
                firn_sim_destroy(sim);
            }
}

static void bodies_that_collide_push_and_keep_momentum(void **state)
{
    (void)state;
    for (int d = 2; d <= 3; d++)
        for (size_t p = 0; p < PATHS; p++) {
            world w = bodies_world(d, both_paths[p], false);
            firn_sim *sim = world_create(&w);
            add_body(sim, &w, 0, (int[]){-9, 0, 0}, (int[]){6, 6, 6}, (double[]){1, 0.2, 0});
            add_body(sim, &w, 1, (int[]){0, 1, 1}, (int[]){6, 6, 5}, (double[]){-0.5, 0, 0.1});
            const firn_totals before = totals_of(sim);
            assert_ok(firn_sim_advance(sim, 0.3, NULL, &error));
            const firn_totals after = totals_of(sim);
            const double scale = before.mass;
            for (int a = 0; a < d; a++) {
                assert_close(after.momentum[a], before.momentum[a], 1e-5 * scale);
            }
            const body_state left = look_at(sim, d, 0), right = look_at(sim, d, 1);
            assert_true(left.v[0] < 0.1 && right.v[0] > 0.1); /* they bounced */
            assert_true(right.x[0] - left.x[0] > 0.1);        /* and are side by side */
            assert_at_most(after.kinetic + after.elastic, before.kinetic * 1.001);
            firn_sim_destroy(sim);
        }
}

static void a_block_lifted_off_a_slab_parts(void **state)
{
    (void)state;
    for (size_t p = 0; p < PATHS; p++) {
        world w = bodies_world(2, both_paths[p], false);
        w.def.collider_count = 1;
        w.collider[0].boundary = FIRN_STICKY;
        w.collider[0].position[1] = 0.005;
        firn_sim *sim = world_create(&w);
        add_body(sim, &w, 0, (int[]){-10, 0, 0}, (int[]){20, 4, 1}, (double[]){0, 0, 0});
        add_body(sim, &w, 1, (int[]){-3, 4, 0}, (int[]){6, 6, 1}, (double[]){0, 1, 0});
        assert_ok(firn_sim_advance(sim, 0.1, NULL, &error));
        assert_close(look_at(sim, 2, 1).v[1], 1, 1e-3);
        assert_close(look_at(sim, 2, 0).v[1], 0, 1e-3);
        firn_sim_destroy(sim);
    }
}

/* Three cubes on each other settle and then stay, and do not sink into each other. */
static void a_stack_of_three_at_rest_stays(void **state)
{
    (void)state;
    for (size_t p = 0; p < PATHS; p++) {
        world w = bodies_world(2, both_paths[p], false);
        w.def.gravity[1] = -9.81;
        w.def.collider_count = 1;
        w.def.damping = 2;
        firn_sim *sim = world_create(&w);
        for (int i = 0; i < 3; i++) {
            add_body(sim, &w, i, (int[]){-4, 8 * i, 0}, (int[]){8, 8, 1}, (double[]){0, 0, 0});
        }
        assert_ok(firn_sim_advance(sim, 3, NULL, &error));
        body_state before[3];
        for (int i = 0; i < 3; i++) before[i] = look_at(sim, 2, i);
        assert_ok(firn_sim_advance(sim, 1, NULL, &error));
        for (int i = 0; i < 3; i++) {
            const body_state now = look_at(sim, 2, i);
            assert_close(now.x[0], before[i].x[0], 0.05 * w.def.cell_size);
            assert_close(now.x[1], before[i].x[1], 0.05 * w.def.cell_size);
            assert_close(now.x[1], (8 * i + 4) * w.def.cell_size, 1.0 * w.def.cell_size);
            if (i) assert_true(now.low > before[i - 1].high - 0.5 * w.def.cell_size);
        }
        firn_sim_destroy(sim);
    }
}

/* A block thrown along a slab: once it lies on it, mu g of friction slows it. */
static void check_rubbing(int d, firn_path path, int i)
{
    const double coefficient[] = {0, 0.1, 0.4}, g = 9.81;
    world w = bodies_world(d, path, false);
    const firn_contact rough = {{2, 1}, 0.4};
    w.def.contact_friction = i == 2 ? 9 : coefficient[i];
    w.def.contacts = &rough;
    w.def.contact_count = i == 2;
    w.def.gravity[1] = -g;
    w.def.collider_count = 1;
    w.collider[0].boundary = FIRN_STICKY;
    w.material[0].young = d == 2 ? 1e7 : 1e6;
    firn_sim *sim = world_create(&w);
    add_body(sim, &w, 0, (int[]){-10, 0, -5}, (int[]){60, 4, 10}, (double[]){0, 0, 0});
    add_body(sim, &w, 1, (int[]){-4, 4, -3}, (int[]){8, 6, 6}, (double[]){2, 0, 0});
    assert_ok(firn_sim_advance(sim, 0.1, NULL, &error));
    const double start = look_at(sim, d, 1).v[0];
    assert_ok(firn_sim_advance(sim, 0.2, NULL, &error));
    const double end = look_at(sim, d, 1).v[0];
    assert_close((start - end) / 0.2, coefficient[i] * g, (0.03 + 0.2 * coefficient[i]) * g);
    firn_sim_destroy(sim);
}

static void sliding_bodies_rub_by_coulombs_law(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) check_rubbing(2, FIRN_PATH_PLAIN, i);
    for (int i = 0; i < 3; i++) check_rubbing(2, both_paths[PATHS - 1], i);
    check_rubbing(3, both_paths[PATHS - 1], 2);
}

static int keep_others(void *user_data, uint64_t id, const double position[3], uint16_t material,
                       uint16_t object)
{
    (void)id, (void)position, (void)material;
    return object != *(const uint16_t *)user_data;
}

/* What one body pressed on is free when that is removed; a body added beside it does not stick. */
static void bodies_come_and_go(void **state)
{
    (void)state;
    for (int d = 2; d <= 3; d++)
        for (size_t p = 0; p < PATHS; p++) {
            world w = bodies_world(d, both_paths[p], false);
            firn_sim *sim = world_create(&w);
            add_body(sim, &w, 0, (int[]){-6, 0, 0}, (int[]){6, 6, 6}, (double[]){-1, 0, 0});
            add_body(sim, &w, 1, (int[]){0, 0, 0}, (int[]){6, 6, 6}, (double[]){0, 0, 0});
            assert_ok(firn_sim_advance(sim, 0.01, NULL, &error));
            uint16_t gone = 0;
            int64_t removed = 0;
            assert_ok(firn_sim_remove(sim, keep_others, &gone, &removed, &error));
            assert_int_equal(removed, firn_sim_count(sim));
            add_body(sim, &w, 2, (int[]){0, 6, 0}, (int[]){6, 6, 6}, (double[]){0, 1, 0});
            assert_ok(firn_sim_advance(sim, 0.05, NULL, &error));
            assert_close(look_at(sim, d, 1).v[1], 0, 1e-3);
            assert_close(look_at(sim, d, 2).v[1], 1, 1e-3);
            firn_sim_destroy(sim);
        }
}

/* Bodies that meet fast: steps are taken back on the way, and no momentum is lost. */
static void steps_taken_back_keep_momentum(void **state)
{
    (void)state;
    for (int d = 2; d <= 3; d++)
        for (size_t p = 0; p < PATHS; p++) {
            world w = bodies_world(d, both_paths[p], false);
            w.material[0].young = 1e4;
            firn_sim *sim = world_create(&w);
            add_body(sim, &w, 0, (int[]){-7, 0, 0}, (int[]){6, 6, 6}, (double[]){15, 0, 0});
            add_body(sim, &w, 1, (int[]){0, 1, 0}, (int[]){6, 6, 6}, (double[]){-15, 1, 0});
            const firn_totals before = totals_of(sim);
            firn_report report;
            assert_ok(firn_sim_advance(sim, 0.02, &report, &error));
            if (both_paths[p] == FIRN_PATH_FUSED) assert_true(report.retries > 0);
            const firn_totals after = totals_of(sim);
            for (int a = 0; a < d; a++) {
                assert_close(after.momentum[a], before.momentum[a], 15e-5 * before.mass);
            }
            firn_sim_destroy(sim);
        }
}

/* All fields of one object's particles, as bytes, of two bodies that slide along the ground: both are there,
 * or that one alone. */
static memo slide(int d, firn_path path, int objects, int distance, int *count)
{
    world w = bodies_world(d, path, false);
    w.def.gravity[1] = -9.81;
    w.def.dt = 2e-4;
    w.def.collider_count = 1;
    w.collider[0].position[1] = 0.005;
    firn_sim *sim = world_create(&w);
    for (int i = 0; i < 2; i++) {
        if (!(objects >> i & 1)) continue;
        add_body(sim, &w, i, (int[]){i ? 2 + distance : 2, 0, 0}, (int[]){2, 3, 3},
                 (double[]){i ? 0.4 : -0.2, -0.5, 0});
    }
    assert_int_equal(sim->layers.shared, objects == 3 && distance > 10);
    *count = (int)firn_sim_count(sim);
    assert_ok(firn_sim_advance(sim, 0.05, NULL, &error));
    memo m = remember(sim, d);
    firn_sim_destroy(sim);
    return m;
}

/* At `distance` cells: 5, where blocks overlap and nodes do not, or so far that they share a layer. */
static void compare_with_each_alone(int d, firn_path path, int distance)
{
    int n[3];
    memo m[3]; /* the one, the other, both */
    for (int i = 0; i < 3; i++) m[i] = slide(d, path, i + 1, distance, &n[i]);
    for (int field = 0; field < FIRN_FIELD_COUNT; field++) {
        if (field == FIRN_ID || !m[2].field[field]) continue;
        const firn_field_info info = firn_field_get_info((firn_field)field);
        const int width = d == 2 ? info.components_2d : info.components_3d;
        for (int i = 0; i < n[2] * width; i++) {
            const bool second = i >= n[0] * width;
            assert_true(m[2].field[field][i] ==
                        m[second].field[field][i - (second ? n[0] * width : 0)]);
        }
    }
    for (int i = 0; i < 3; i++) forget(&m[i]);
}

static void bodies_that_share_no_node_do_not_feel_each_other(void **state)
{
    (void)state;
    for (int d = 2; d <= 3; d++)
        for (size_t p = 0; p < PATHS; p++) {
            compare_with_each_alone(d, both_paths[p], 5);
            compare_with_each_alone(d, both_paths[p], 17);
        }
}

typedef struct saved {
    char bytes[1 << 20];
    size_t size, at;
} saved;

static int put(void *user_data, const void *data, size_t size)
{
    saved *s = user_data;
    if (size > sizeof s->bytes - s->size) return 1;
    memcpy(s->bytes + s->size, data, size);
    s->size += size;
    return 0;
}

static int take(void *user_data, void *data, size_t size)
{
    saved *s = user_data;
    if (size > s->size - s->at) return 1;
    memcpy(data, s->bytes + s->at, size);
    s->at += size;
    return 0;
}

static void a_saved_state_keeps_its_fields(void **state)
{
    (void)state;
    static saved s;
    for (int d = 2; d <= 3; d++) {
        s = (saved){.size = 0};
        world w = bodies_world(d, FIRN_PATH_AUTO, false);
        firn_sim *sim = world_create(&w), *same = world_create(&w), *other = NULL;
        add_body(sim, &w, 0, (int[]){-5, 0, 0}, (int[]){4, 4, 4}, (double[]){1, 0, 0});
        add_body(sim, &w, 1, (int[]){0, 0, 0}, (int[]){4, 4, 4}, (double[]){-1, 0, 0});
        assert_ok(firn_sim_advance(sim, 0.02, NULL, &error));
        assert_ok(firn_sim_save(sim, put, &s, &error));
        assert_ok(firn_sim_load(same, take, &s, &error));
        assert_ok(firn_sim_advance(sim, 0.03, NULL, &error));
        assert_ok(firn_sim_advance(same, 0.03, NULL, &error));
        assert_same_hash(hash_of(sim), hash_of(same));
        /* Objects that are not the same bodies any more are refused, and nothing is loaded. */
        for (int i = 0; i < 2; i++) {
            w = bodies_world(d, FIRN_PATH_AUTO, i == 0);
            static const uint16_t swapped[3] = {2, 1, 3};
            if (i == 1) w.def.object_bodies = swapped;
            other = world_create(&w);
            s.at = 0;
            firn_error error = {0};
            assert_int_equal(firn_sim_load(other, take, &s, &error), FIRN_INVALID);
            assert_non_null(strstr(error.message, "separate"));
            assert_int_equal(firn_sim_count(other), 0);
            firn_sim_destroy(other);
        }
        firn_sim_destroy(sim);
        firn_sim_destroy(same);
    }
}

static void same_bytes_at_any_thread_count(void **state)
{
    (void)state;
    firn_hash first = {{0}};
    for (int threads = 1; threads <= 3; threads++) {
        world w = bodies_world(3, FIRN_PATH_AUTO, false);
        w.def.threads = threads;
        w.def.gravity[1] = -9.81;
        w.def.collider_count = 1;
        firn_sim *sim = world_create(&w);
        add_body(sim, &w, 0, (int[]){-4, 0, 0}, (int[]){8, 4, 6}, (double[]){0, 0, 0});
        add_body(sim, &w, 1, (int[]){-3, 5, 1}, (int[]){5, 4, 5}, (double[]){0.3, -1, 0});
        add_body(sim, &w, 2, (int[]){2, 5, 1}, (int[]){4, 4, 5}, (double[]){-0.5, -1, 0});
        assert_ok(firn_sim_advance(sim, 0.1, NULL, &error));
        const firn_hash hash = hash_of(sim);
        if (threads == 1) first = hash;
        assert_same_hash(hash, first);
        firn_sim_destroy(sim);
    }
}

/* A heap of bodies that fall onto each other, from far apart. */
enum { HEAP = 45 };

static firn_sim *heap(int d, firn_path path, bool alone, int32_t threads)
{
    static uint16_t body[HEAP];
    static firn_contact contact[HEAP / 2];
    random_state = 11;
    for (int i = 0; i < HEAP; i++) body[i] = (uint16_t)(i + 1);
    for (int i = 0; i < HEAP / 2; i++) {
        contact[i] = (firn_contact){{(uint16_t)(2 * i + 1), (uint16_t)(2 * i + 2)}, 0.3};
    }
    world w = bodies_world(d, path, false);
    w.def.object_bodies = body;
    w.def.object_count = HEAP;
    w.def.contact_friction = 0.3;
    w.def.contacts = contact;
    w.def.contact_count = alone ? HEAP / 2 : 0; /* which changes no friction */
    w.def.gravity[1] = -9.81;
    w.def.dt = 4e-4;
    w.def.threads = threads;
    w.def.collider_count = 1;
    firn_sim *sim = world_create(&w);
    for (int i = 0; i < HEAP; i++) {
        const int wide = d == 2 ? 6 : 3,
                  at[3] = {i % wide, i / wide / (d == 2 ? 1 : wide), d == 2 ? 0 : i / wide % wide};
        const double aside = uniform(-0.5, 0.5);
        add_body(sim, &w, i, (int[]){20 * at[0], 2 + 20 * at[1], 20 * at[2]},
                 (int[]){d == 2 ? 5 : 3, d == 2 ? 5 : 3, 3},
                 (double[]){3 * (0.5 * (wide - 1) - at[0]) + aside, -at[1],
                            d == 2 ? 0 : 3 * (0.5 * (wide - 1) - at[2])});
    }
    return sim;
}

static int32_t layers_of(const firn_sim *sim)
{
    int32_t most = 0;
    for (uint16_t i = 0; i < HEAP; i++) {
        const int32_t layer = firn_sim_layer(sim, i);
        most = layer > most ? layer : most;
    }
    return most;
}

static void bodies_share_layers_without_feeling_it(void **state)
{
    (void)state;
    for (int d = 2; d <= 3; d++)
        for (size_t p = 0; p < PATHS; p++) {
            firn_sim *one[2] = {heap(d, both_paths[p], false, 1), heap(d, both_paths[p], true, 1)};
            assert_int_equal(layers_of(one[0]), 1);
            assert_int_equal(layers_of(one[1]), HEAP);
            int32_t most = 0;
            for (int frame = 0; frame < 5; frame++) {
                for (int i = 0; i < 2; i++) {
                    assert_ok(firn_sim_advance(one[i], 0.02, NULL, &error));
                }
                most = layers_of(one[0]) > most ? layers_of(one[0]) : most;
            }
            assert_in_range(most, 3, HEAP - 1);
            double moved = 0;
            for (int i = 0; i < HEAP; i++) {
                const body_state a = look_at(one[0], d, i), b = look_at(one[1], d, i);
                for (int k = 0; k < d; k++) moved = fmax(moved, fabs(a.x[k] - b.x[k]));
            }
            /* Where several meet on a node, they do so in pairs, in the order of their layers. */
            assert_in_range((int)(1e3 * moved / 0.02), 0, d == 2 ? 1 : 100); /* cells / 1000 */
            firn_sim_destroy(one[0]);
            firn_sim_destroy(one[1]);
        }
}

static void layers_change_alike_at_any_thread_count_and_after_resume(void **state)
{
    (void)state;
    static saved s;
    for (size_t p = 0; p < PATHS; p++) {
        s = (saved){.size = 0};
        firn_hash hash[3];
        for (int i = 0; i < 2; i++) {
            firn_sim *sim = heap(2, both_paths[p], false, 1 + 2 * i);
            assert_ok(firn_sim_advance(sim, 0.07, NULL, &error));
            if (i == 0) assert_ok(firn_sim_save(sim, put, &s, &error));
            assert_ok(firn_sim_advance(sim, 0.09, NULL, &error));
            hash[i] = hash_of(sim);
            assert_in_range(layers_of(sim), 2, HEAP);
            firn_sim_destroy(sim);
        }
        firn_sim *twin = heap(2, both_paths[p], false, 2), *same = NULL;
        assert_ok(firn_sim_create(&twin->def, &same, &error));
        assert_ok(firn_sim_load(same, take, &s, &error));
        assert_ok(firn_sim_advance(same, 0.09, NULL, &error));
        hash[2] = hash_of(same);
        assert_same_hash(hash[0], hash[1]);
        assert_same_hash(hash[0], hash[2]);
        firn_sim_destroy(twin);
        firn_sim_destroy(same);
    }
}

static void bad_fields_are_refused(void **state)
{
    (void)state;
    const firn_contact self = {{1, 1}, 0.2}, negative = {{0, 1}, -1};
    for (int i = 0; i < 4; i++) {
        world w = bodies_world(3, FIRN_PATH_AUTO, false);
        static const char *const words[] = {"contacts[0] is of body 1 twice",
                                            "contacts[0].friction -1", "object_bodies is NULL",
                                            "contact_friction -0.5"};
        if (i < 2) {
            w.def.contacts = i == 0 ? &self : &negative;
            w.def.contact_count = 1;
        }
        if (i == 2) w.def.object_bodies = NULL;
        if (i == 3) w.def.contact_friction = -0.5;
        world_point(&w);
        firn_sim *sim = NULL;
        firn_error error = {0};
        assert_int_equal(firn_sim_create(&w.def, &sim, &error), FIRN_INVALID);
        assert_null(sim);
        if (!strstr(error.message, words[i])) print_error("%s\n", error.message);
        assert_non_null(strstr(error.message, words[i]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_seeded_touching_part_without_loss),
        cmocka_unit_test(bodies_that_collide_push_and_keep_momentum),
        cmocka_unit_test(a_block_lifted_off_a_slab_parts),
        cmocka_unit_test(a_stack_of_three_at_rest_stays),
        cmocka_unit_test(sliding_bodies_rub_by_coulombs_law),
        cmocka_unit_test(bodies_come_and_go),
        cmocka_unit_test(steps_taken_back_keep_momentum),
        cmocka_unit_test(bodies_that_share_no_node_do_not_feel_each_other),
        cmocka_unit_test(a_saved_state_keeps_its_fields),
        cmocka_unit_test(same_bytes_at_any_thread_count),
        cmocka_unit_test(bodies_share_layers_without_feeling_it),
        cmocka_unit_test(layers_change_alike_at_any_thread_count_and_after_resume),
        cmocka_unit_test(bad_fields_are_refused),
    };
    return cmocka_run_group_tests_name("bodies", tests, NULL, NULL);
}
