/* Saved states: the same bytes for the same state, and no bytes that do more than fail. */
#include "memory_state.h"
#include "worlds.h"

/* ---- worlds of every kind ---- */

typedef enum kind { PLAIN, WARM, BODIES, KINDS } kind;

/* Hands out memory full of a byte, and no more than a small sim needs. */
static void *filled(void *user_data, void *block, size_t old_size, size_t new_size,
                    size_t alignment)
{
    const firn_allocator plain = firn_allocator_default();
    if (new_size > (size_t)64 << 20) return NULL;
    char *to = plain.reallocate(plain.user_data, block, old_size, new_size, alignment);
    if (to && new_size > old_size)
        memset(to + old_size, *(const unsigned char *)user_data, new_size - old_size);
    return to;
}

static firn_sim *make(world *w, int dimension, kind k, firn_path path, unsigned char *fill)
{
    static const uint16_t bodies[2] = {0, 1};
    *w = two_law_world(dimension, path, NULL);
    w->def.heat.enabled = k == WARM;
    if (k == BODIES) {
        w->def.object_bodies = bodies;
        w->def.object_count = 2;
    }
    w->def.allocator = (firn_allocator){filled, fill};
    return world_create(w);
}

/* Some way into a run in which the host has added a collider. */
static firn_sim *live(world *w, int dimension, kind k, firn_path path, unsigned char *fill)
{
    firn_sim *sim = make(w, dimension, k, path, fill);
    random_state = 7;
    for (int m = 0; m < 2; m++) {
        const brick b = {.low = {-3 + 3 * m, 0, -1},
                         .cells = {3, 3, 2},
                         .per_axis = 2,
                         .jitter = 0.7,
                         .velocity = {0.5, -2, 0.25},
                         .material = (uint16_t)m,
                         .object = (uint16_t)(k == BODIES ? m : 0)};
        brick_add(sim, w, &b);
    }
    firn_collider_def ball = firn_collider_def_default();
    set_shape(&ball, FIRN_POLYGON);
    ball.position[0] = 0.3;
    /* The bytes between a count and the pointer that follows. */
    memset((char *)&ball + offsetof(firn_collider_def, point_count) + sizeof ball.point_count,
           *fill,
           offsetof(firn_collider_def, mesh) - offsetof(firn_collider_def, point_count) -
               sizeof ball.point_count);
    const double to[3] = {0, -0.05, 0}, upright[4] = {1, 0, 0, 0};
    assert_ok(firn_sim_add_collider(sim, &ball, NULL, &error));
    assert_ok(firn_sim_move_collider(sim, 0, to, upright, 1, &error));
    assert_ok(firn_sim_advance(sim, 0.02, NULL, &error));
    return sim;
}

/* ---- claims ---- */

static void the_same_state_is_the_same_bytes_whatever_memory_held(void **state)
{
    (void)state;
    for (int d = 2; d <= 3; d++)
        for (kind k = PLAIN; k < KINDS; k++)
            for (size_t p = 0; p < PATHS; p++) {
                bytes saved[2] = {{0}, {0}};
                for (int i = 0; i < 2; i++) {
                    world w;
                    unsigned char fill = i ? 0xff : 0x5a;
                    firn_sim *sim = live(&w, d, k, both_paths[p], &fill);
                    assert_ok(firn_sim_save(sim, put, &saved[i], &error));
                    firn_sim_destroy(sim);
                }
                assert_int_equal(saved[0].size, saved[1].size);
                size_t differ = 0;
                for (size_t i = 0; i < saved[0].size; i++)
                    differ += saved[0].data[i] != saved[1].data[i];
                if (differ) {
                    complain("%dD, kind %d, %s: %zu of %zu bytes are what memory held before\n", d,
                             (int)k, path_name(both_paths[p]), differ, saved[0].size);
                }
                free(saved[0].data);
                free(saved[1].data);
            }
    assert_no_complaints();
}

/* Two states of one particle differ first in its position along x, which comes before the bins. */
static void a_particle_outside_its_bins_cell_is_refused(void **state)
{
    (void)state;
    for (int d = 2; d <= 3; d++) {
        world w = world_default(d, 0.02);
        bytes saved[2] = {{0}, {0}};
        for (int i = 0; i < 2; i++) {
            firn_sim *sim = world_create(&w);
            const brick b = {.low = {1 + i, 0, 0}, .cells = {1, 1, 1}, .per_axis = 1};
            brick_add(sim, &w, &b);
            assert_ok(firn_sim_save(sim, put, &saved[i], &error));
            firn_sim_destroy(sim);
        }
        size_t at = 0;
        while (saved[0].data[at] == saved[1].data[at]) at++;
        at -= at % sizeof(float);
        memcpy(saved[0].data + at, saved[1].data + at, sizeof(float));
        firn_sim *sim = world_create(&w);
        firn_error why = {0};
        assert_int_equal(firn_sim_load(sim, take, &saved[0], &why), FIRN_INVALID);
        assert_non_null(strstr(why.message, "damaged"));
        firn_sim_destroy(sim);
        sim = world_create(&w);
        assert_ok(firn_sim_load(sim, take, &saved[1], &error));
        firn_sim_destroy(sim);
        free(saved[0].data);
        free(saved[1].data);
    }
}

/* A few bytes of a state become others, often ones that numbers end at. */
static void forge(bytes *b)
{
    static const float reals[] = {0,     -1,    3.9999998f, 4,   1e-45f,
                                  1e18f, 3e38f, -3e38f,     NAN, INFINITY};
    static const uint32_t words[] = {0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 0x7fefffff, 0xffff};
    for (int n = 1 + random_below(3); n > 0; n--) {
        const size_t range = random_below(4) ? b->size : 200; /* often the header */
        const size_t at = (size_t)random_below((int)range - 8) & ~(size_t)3;
        const uint32_t word = words[random_below(sizeof words / sizeof *words)];
        switch (random_below(4)) {
        case 0: b->data[at] = (char)random_bits(); break;
        case 1: memcpy(b->data + at, &reals[random_below(10)], sizeof(float)); break;
        case 2: memcpy(b->data + at, &word, sizeof word); break;
        default: memcpy(b->data + at, b->data + (size_t)random_below((int)b->size - 8), 8); break;
        }
    }
}

/* What may be done with a state that was taken. */
static void use(firn_sim *sim, int d)
{
    firn_hash hash;
    firn_totals totals;
    firn_error why = {0};
    double mass = 0;
    assert_ok(firn_sim_hash(sim, &hash, &error));
    for (int i = 0; i < 3; i++) {
        why.message[0] = 0;
        if (firn_sim_step(sim, NULL, &why) != FIRN_OK && !why.message[0])
            complain("a step failed without a reason\n");
    }
    (void)!firn_sim_measure(sim, &totals, &why);
    (void)!firn_sim_visit_grid(sim, add_node_mass, &mass, &why);
    free(read_all(sim, d, FIRN_POSITION));
}

static void forged_states_are_refused_or_can_be_stepped(void **state)
{
    enum { TRIALS = 250 };
    (void)state;
    unsigned char fill = 0xff;
    for (int d = 2; d <= 3; d++)
        for (kind k = PLAIN; k < KINDS; k++) {
            world w;
            bytes good = {0};
            firn_sim *sim = live(&w, d, k, FIRN_PATH_AUTO, &fill);
            assert_ok(firn_sim_save(sim, put, &good, &error));
            firn_sim_destroy(sim);
            int refused = 0;
            for (int trial = 0; trial < TRIALS; trial++) {
                random_state = (uint64_t)(1000 * (KINDS * d + (int)k) + trial);
                bytes b = {malloc(good.size), good.size, 0};
                memcpy(b.data, good.data, good.size);
                forge(&b);
                sim = make(&w, d, k, FIRN_PATH_AUTO, &fill);
                firn_error why = {0};
                if (firn_sim_load(sim, take, &b, &why) == FIRN_OK) {
                    use(sim, d);
                } else {
                    refused++;
                    if (!why.message[0]) complain("refused without a reason\n");
                    assert_int_equal(firn_sim_count(sim), 0);
                    assert_ok(firn_sim_step(sim, NULL, &error));
                }
                firn_sim_destroy(sim);
                free(b.data);
            }
            assert_in_range(refused, TRIALS / 10, TRIALS - TRIALS / 20);
            free(good.data);
        }
    assert_no_complaints();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_state_is_the_same_bytes_whatever_memory_held),
        cmocka_unit_test(a_particle_outside_its_bins_cell_is_refused),
        cmocka_unit_test(forged_states_are_refused_or_can_be_stepped),
    };
    return cmocka_run_group_tests_name("state", tests, NULL, NULL);
}
