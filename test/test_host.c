/* A program that drives a sim: what it sets between advances holds, what it asks is right, the same
 * calls give the same bytes, and what is refused changes nothing. */
#include "memory_state.h"
#include "worlds.h"

#include "sim/sim.h"

static const double upright[4] = {1, 0, 0, 0};

/* A block of jelly just above the ground, which is collider 0; a box is collider 1, out of the way. */
static world yard(int d, firn_path path)
{
    world w = world_default(d, 0.02);
    w.def.path = path;
    w.def.gravity[1] = -9.81;
    w.def.collider_count = 2;
    w.material[0].young = 5e4;
    set_shape(&w.collider[1], FIRN_BOX);
    w.collider[1].position[0] = 2;
    return w;
}

static const brick block = {.low = {-4, 0, -3}, .cells = {8, 6, 6}, .per_axis = 2};

static firn_sim *make_yard(world *w)
{
    firn_sim *sim = world_create(w);
    brick_add(sim, w, &block);
    return sim;
}

#define REFUSED(call, word)                                                                        \
    do {                                                                                           \
        firn_error error = {0};                                                                    \
        if ((call) == FIRN_OK || !strstr(error.message, word))                                     \
            complain("line %d: \"%s\" has no \"%s\"\n", __LINE__, error.message, word);            \
    } while (0)

/* ---- gravity and colliders ---- */

static void gravity_changes_between_advances(void **state)
{
    (void)state;
    for (int d = 2; d <= 3; d++) {
        world w = world_default(d, 0.02);
        firn_sim *sim = make_yard(&w);
        const double side[3] = {3, 0, 0};
        assert_ok(firn_sim_advance(sim, 0.1, NULL, &error));
        assert_close(totals_of(sim).momentum[0], 0, 1e-9);
        assert_ok(firn_sim_set_gravity(sim, side, &error));
        assert_ok(firn_sim_advance(sim, 0.1, NULL, &error));
        const firn_totals t = totals_of(sim);
        assert_close(t.momentum[0], 0.3 * t.mass, 1e-5 * t.mass);
        const double wrong[3] = {0, NAN, 0};
        REFUSED(firn_sim_set_gravity(sim, wrong, &error), "gravity[1]");
        REFUSED(firn_sim_set_gravity(sim, NULL, &error), "NULL");
        assert_no_complaints();
        firn_sim_destroy(sim);
    }
}

static void damping_changes_between_advances(void **state)
{
    (void)state;
    world w = world_default(3, 0.02);
    firn_sim *sim = make_yard(&w);
    const double none[3] = {0};
    assert_ok(firn_sim_set_gravity(sim, (const double[3]){3, 0, 0}, &error));
    assert_ok(firn_sim_advance(sim, 0.1, NULL, &error));
    const double before = totals_of(sim).momentum[0];
    assert_ok(firn_sim_set_gravity(sim, none, &error));
    assert_ok(firn_sim_set_damping(sim, 4, &error));
    assert_ok(firn_sim_advance(sim, 0.25, NULL, &error));
    assert_close(totals_of(sim).momentum[0], before * exp(-1), 1e-3 * before);
    assert_ok(firn_sim_set_contact_friction(sim, 0, &error));
    REFUSED(firn_sim_set_damping(sim, -1, &error), "damping");
    REFUSED(firn_sim_set_damping(sim, NAN, &error), "damping");
    REFUSED(firn_sim_set_contact_friction(sim, 1e7, &error), "friction");
    assert_no_complaints();
    firn_sim_destroy(sim);
}

static void a_moved_collider_arrives_and_stays(void **state)
{
    (void)state;
    for (int d = 2; d <= 3; d++)
        for (size_t p = 0; p < PATHS; p++) {
            world w = yard(d, both_paths[p]);
            firn_sim *sim = make_yard(&w);
            const double to[3] = {0.5, 0.3, 0}, turned[4] = {cos(0.5), 0, 0, sin(0.5)};
            firn_collider_motion m;
            firn_report report;
            assert_ok(firn_sim_move_collider(sim, 1, to, turned, 0.1, &error));
            assert_ok(firn_sim_read_motion(sim, 1, &m, &error));
            assert_close(m.velocity[0], -15, 1e-12);
            assert_close(m.spin[2], 10, 1e-12);
            assert_close(m.seconds, 0.1, 1e-15);
            assert_ok(firn_sim_step(sim, &report, &error));
            assert_ok(firn_sim_read_motion(sim, 1, &m, &error));
            assert_close(m.position[0], 2 - 15 * firn_sim_time(sim), 1e-12);
            assert_ok(firn_sim_advance(sim, 0.1 - firn_sim_time(sim), NULL, &error));
            for (int again = 0; again < 2; again++) {
                assert_ok(firn_sim_read_motion(sim, 1, &m, &error));
                for (int a = 0; a < 3; a++) {
                    assert_close(m.position[a], to[a], 1e-12);
                    assert_true(m.velocity[a] == 0 && m.spin[a] == 0);
                }
                assert_close(fabs(m.rotation[0]), cos(0.5), 1e-12);
                assert_true(m.seconds < 1e-9);
                assert_ok(firn_sim_advance(sim, 0.02, NULL, &error));
            }
            /* At once, and without end. */
            const firn_collider_motion on = {
                {1, 0, 0}, {1, 0, 0, 0}, {0, 2, 0}, {0, 0, 0}, INFINITY};
            assert_ok(firn_sim_set_motion(sim, 1, &on, &error));
            assert_ok(firn_sim_advance(sim, 0.05, NULL, &error));
            assert_ok(firn_sim_read_motion(sim, 1, &m, &error));
            assert_close(m.position[1], 0.1, 1e-12);
            assert_true(m.velocity[1] == 2 && isinf(m.seconds));
            firn_sim_destroy(sim);
        }
}

/* A wall at constant speed, by keys and frame by frame, pushes alike; a fast one limits the step. */
static void a_pushed_block_does_not_care_who_moves_the_wall(void **state)
{
    (void)state;
    for (size_t p = 0; p < PATHS; p++) {
        double x[2];
        for (int host = 0; host < 2; host++) {
            world w = yard(2, both_paths[p]);
            w.collider[1].position[0] = -0.2;
            w.collider[1].position[1] = 0.06;
            if (!host) {
                w.collider[1].key_count = 2;
                w.key[1][0] = (firn_pose_key){0, {-0.2, 0.06, 0}, {1, 0, 0, 0}};
                w.key[1][1] = (firn_pose_key){1, {0.8, 0.06, 0}, {1, 0, 0, 0}};
            }
            firn_sim *sim = make_yard(&w);
            for (int frame = 1; frame <= 8; frame++) {
                const double to[3] = {-0.2 + frame / 24.0, 0.06, 0};
                if (host) assert_ok(firn_sim_move_collider(sim, 1, to, upright, 1 / 24.0, &error));
                assert_ok(firn_sim_advance(sim, 1 / 24.0, NULL, &error));
            }
            double *all = read_all(sim, 2, FIRN_POSITION);
            x[host] = 0;
            for (int64_t i = 0; i < firn_sim_count(sim); i++) {
                x[host] += all[2 * i] / (double)firn_sim_count(sim);
            }
            free(all);
            if (host) {
                firn_report report;
                const double far[3] = {1.5, 0.06, 0};
                assert_ok(firn_sim_move_collider(sim, 1, far, upright, 0.02, &error));
                assert_ok(firn_sim_step(sim, &report, &error));
                assert_at_most(report.dt, w.def.courant * 0.02 / 68 * 1.3);
            }
            firn_sim_destroy(sim);
        }
        assert_true(x[0] > 0.1); /* it was pushed */
        assert_close(x[1], x[0], 2e-3);
    }
}

static void colliders_come_and_go_without_renumbering(void **state)
{
    (void)state;
    world w = yard(3, FIRN_PATH_AUTO);
    firn_sim *sim = make_yard(&w);
    firn_collider_def ball = firn_collider_def_default();
    set_shape(&ball, FIRN_SPHERE);
    ball.position[1] = 3;
    int32_t id = -1;
    assert_ok(firn_sim_add_collider(sim, &ball, &id, &error));
    assert_int_equal(id, 2);
    assert_ok(firn_sim_remove_collider(sim, 1, &error));
    assert_ok(firn_sim_advance(sim, 0.05, NULL, &error));
    firn_collider_motion m;
    assert_ok(firn_sim_read_motion(sim, 2, &m, &error));
    assert_true(m.position[1] == 3);
    firn_reaction r;
    REFUSED(firn_sim_read_motion(sim, 1, &m, &error), "removed");
    REFUSED(firn_sim_read_reaction(sim, 1, &r, &error), "removed");
    REFUSED(firn_sim_remove_collider(sim, 1, &error), "removed");
    REFUSED(firn_sim_set_surface(sim, 7, m.velocity, m.spin, &error), "does not exist");
    REFUSED(firn_sim_move_collider(sim, 2, m.position, m.rotation, 0, &error), "seconds");
    const double none[4] = {0};
    REFUSED(firn_sim_move_collider(sim, 2, m.position, none, 1, &error), "quaternion");
    ball.size[0] = -1;
    REFUSED(firn_sim_add_collider(sim, &ball, &id, &error), "size[0]");
    ball.size[0] = 0.1;
    const firn_pose_key keys[2] = {{0, {0, 4, 0}, {1, 0, 0, 0}}, {1, {0, 5, 0}, {1, 0, 0, 0}}};
    ball.keys = keys;
    ball.key_count = 2;
    assert_ok(firn_sim_add_collider(sim, &ball, &id, &error));
    assert_int_equal(id, 1); /* the place that is free */
    assert_ok(firn_sim_read_motion(sim, 1, &m, &error));
    assert_close(m.position[1], 4.05, 1e-12);
    /* Without the ground it falls; with it again, it lands. */
    assert_ok(firn_sim_remove_collider(sim, 0, &error));
    assert_ok(firn_sim_advance(sim, 0.1, NULL, &error));
    assert_true(totals_of(sim).momentum[1] < -0.8 * totals_of(sim).mass);
    firn_collider_def ground = firn_collider_def_default();
    ground.position[1] = -0.2;
    assert_ok(firn_sim_add_collider(sim, &ground, &id, &error));
    assert_int_equal(id, 0);
    assert_ok(firn_sim_advance(sim, 0.5, NULL, &error));
    assert_int_equal(totals_of(sim).outside, 0);
    assert_true(totals_of(sim).gravitational > -0.2 * 9.81 * totals_of(sim).mass);
    assert_no_complaints();
    firn_sim_destroy(sim);
}

/* A belt carries what lies on it and does not push with its ends. */
static void a_running_surface_carries(void **state)
{
    (void)state;
    for (int d = 2; d <= 3; d++)
        for (size_t p = 0; p < PATHS; p++)
            for (int implicit = 0; implicit < 2; implicit++) {
                world w = yard(d, both_paths[p]);
                w.def.integrator = implicit ? FIRN_IMPLICIT : FIRN_EXPLICIT;
                w.collider[0].friction = 0.5;
                w.collider[0].surface_velocity[0] = 0.5;
                w.collider[1].position[0] = 0.08 + 0.08 + 0.005; /* its side beside the block */
                w.collider[1].position[1] = 0.06;
                w.collider[1].surface_velocity[0] = -3;
                firn_sim *sim = make_yard(&w);
                assert_ok(firn_sim_remove_collider(sim, 1, &error));
                assert_ok(firn_sim_advance(sim, 0.3, NULL, &error));
                firn_totals t = totals_of(sim);
                assert_close(t.momentum[0], 0.5 * t.mass, 0.03 * t.mass);
                const double back[3] = {-0.5, 0, 0}, none[3] = {0};
                assert_ok(firn_sim_set_surface(sim, 0, back, none, &error));
                assert_ok(firn_sim_advance(sim, 0.5, NULL, &error));
                t = totals_of(sim);
                assert_close(t.momentum[0], -0.5 * t.mass, 0.03 * t.mass);
                firn_sim_destroy(sim);

                w.collider[0].surface_velocity[0] = 0;
                w.collider[1].friction = 0;
                sim = make_yard(&w);
                assert_ok(firn_sim_advance(sim, 0.1, NULL, &error));
                t = totals_of(sim);
                assert_close(t.momentum[0], 0, 0.02 * t.mass);
                firn_sim_destroy(sim);
            }
}

/* A turning drum's surface has the speed of a turning drum. */
static void a_running_drum_is_like_a_turning_one(void **state)
{
    (void)state;
    double got[2][3];
    for (int running = 0; running < 2; running++) {
        world w = yard(3, FIRN_PATH_AUTO);
        set_shape(&w.collider[1], FIRN_CYLINDER);
        w.collider[1].size[1] = 1; /* m: no ends nearby */
        w.collider[1].position[0] = 0;
        w.collider[1].position[1] = -0.07;
        w.collider[1].rotation[0] = w.collider[1].rotation[1] = sqrt(0.5); /* along z */
        w.collider[1].friction = 1;
        w.collider[0].position[1] = -5;
        if (running) w.collider[1].surface_spin[1] = -8;
        firn_sim *sim = make_yard(&w);
        const firn_collider_motion turn = {
            {0, -0.07, 0}, {sqrt(0.5), sqrt(0.5), 0, 0}, {0}, {0, 0, -8}, INFINITY};
        if (!running) assert_ok(firn_sim_set_motion(sim, 1, &turn, &error));
        assert_ok(firn_sim_advance(sim, 0.1, NULL, &error));
        const firn_totals t = totals_of(sim);
        for (int a = 0; a < 3; a++) got[running][a] = t.momentum[a] / t.mass;
        firn_sim_destroy(sim);
    }
    assert_true(got[0][0] > 0.2); /* m/s */
    for (int a = 0; a < 3; a++) assert_close(got[1][a], got[0][a], 1e-3);
}

/* ---- reactions ---- */

static firn_reaction reaction_of(const firn_sim *sim, int32_t collider)
{
    firn_reaction r = {{0}, {0}};
    assert_ok(firn_sim_read_reaction(sim, collider, &r, &error));
    return r;
}

static void a_block_at_rest_presses_with_its_weight(void **state)
{
    (void)state;
    for (int d = 2; d <= 3; d++)
        for (size_t p = 0; p < PATHS; p++)
            for (int implicit = 0; implicit < 2; implicit++) {
                world w = yard(d, both_paths[p]);
                w.def.integrator = implicit ? FIRN_IMPLICIT : FIRN_EXPLICIT;
                w.collider[0].position[0] = -1; /* torque is about here */
                firn_sim *sim = make_yard(&w);
                const firn_heat_source all = everywhere(0, 0, 0);
                const double rest[3] = {0};
                for (int i = 0; i < 40; i++) {
                    assert_ok(firn_sim_apply_velocity(sim, &all.shape, rest, 0.4, NULL, &error));
                    assert_ok(firn_sim_advance(sim, 0.01, NULL, &error));
                }
                assert_ok(firn_sim_advance(sim, 0.1, NULL, &error));
                const double weight = 9.81 * totals_of(sim).mass;
                const firn_reaction r = reaction_of(sim, 0), other = reaction_of(sim, 1);
                assert_close(r.force[1], -weight, 0.01 * weight);
                assert_close(r.force[0], 0, 0.01 * weight);
                assert_close(r.torque[2], -weight, 0.02 * weight);
                for (int a = 0; a < 3; a++) assert_true(other.force[a] == 0);
                firn_sim_destroy(sim);
            }
}

/* What material loses colliders get: on every path, for every boundary, where colliders meet. */
static void momentum_lost_is_momentum_taken(void **state)
{
    (void)state;
    for (int d = 2; d <= 3; d++)
        for (size_t p = 0; p < PATHS; p++)
            for (int boundary = 0; boundary < FIRN_BOUNDARY_COUNT; boundary++)
                for (int kind = 0; kind < 3; kind++) {
                    world w = yard(d, both_paths[p]);
                    w.def.transfer = kind == 1 ? FIRN_ASFLIP : FIRN_APIC;
                    w.def.integrator = kind == 2 ? FIRN_IMPLICIT : FIRN_EXPLICIT;
                    w.def.solver_tolerance = 1e-5; /* nobody takes what it leaves open */
                    w.def.collider_count = 3;
                    w.collider[0].boundary = w.collider[1].boundary = (firn_boundary)boundary;
                    w.collider[1].position[0] = 0.2;
                    w.collider[1].position[1] = 0.04;
                    set_shape(&w.collider[2], FIRN_INSIDE);
                    for (int a = 0; a < 3; a++) w.collider[2].size[a] = 0.5;
                    firn_sim *sim = world_create(&w);
                    brick b = block;
                    b.velocity[0] = 2;
                    b.velocity[1] = -1;
                    brick_add(sim, &w, &b);
                    for (int frame = 0; frame < 6; frame++) {
                        const double dt = 0.02, to[3] = {0.2 - 0.01 * frame, 0.04, 0};
                        const firn_totals before = totals_of(sim);
                        assert_ok(firn_sim_move_collider(sim, 1, to, upright, dt, &error));
                        assert_ok(firn_sim_advance(sim, dt, NULL, &error));
                        const firn_totals after = totals_of(sim);
                        for (int a = 0; a < d; a++) {
                            double taken = 0;
                            for (int c = 0; c < 3; c++) taken += dt * reaction_of(sim, c).force[a];
                            const double lost = before.momentum[a] - after.momentum[a] +
                                                dt * w.def.gravity[a] * before.mass;
                            const double part = kind == 2           ? 2e-4
                                                : sizeof(real) == 8 ? 1e-11
                                                                    : 2e-5; /* m/s */
                            if (fabs(taken - lost) <= part * before.mass) continue;
                            complain("%dD %s, boundary %d, kind %d, frame %d, axis %d: %g N s were "
                                     "lost and %g taken\n",
                                     d, path_name(both_paths[p]), boundary, kind, frame, a, lost,
                                     taken);
                        }
                    }
                    firn_sim_destroy(sim);
                }
    assert_no_complaints();
}

/* Two bodies run into each other and into walls so fast that steps are taken back: what those took is
 * taken back, too. */
static void steps_taken_back_take_their_reactions_back(void **state)
{
    (void)state;
    static const uint16_t bodies[2] = {0, 1};
    for (int d = 2; d <= 3; d++)
        for (size_t p = 0; p < PATHS; p++) {
            world w = yard(d, both_paths[p]);
            w.def.object_bodies = bodies;
            w.def.object_count = 2;
            w.material[0].young = 1e4;
            firn_sim *sim = world_create(&w);
            brick b = {.low = {-7, 0, -3}, .cells = {6, 6, 6}, .per_axis = 2, .velocity = {15, -5}};
            brick_add(sim, &w, &b);
            b.low[0] = 0;
            b.velocity[0] = -15;
            b.object = 1;
            brick_add(sim, &w, &b);
            const firn_totals before = totals_of(sim);
            firn_report report;
            assert_ok(firn_sim_advance(sim, 0.02, &report, &error));
            if (both_paths[p] == FIRN_PATH_FUSED) assert_true(report.retries > 0);
            const firn_totals after = totals_of(sim);
            for (int a = 0; a < d; a++) {
                const double lost =
                    before.momentum[a] - after.momentum[a] + 0.02 * w.def.gravity[a] * before.mass;
                assert_close(0.02 * reaction_of(sim, 0).force[a], lost, 15e-5 * before.mass);
            }
            firn_sim_destroy(sim);
        }
}

/* ---- determinism ---- */

/* All calls that change something, at points of a short life; `cut` saves and loads there. */
static firn_hash drive(int d, firn_path path, int threads, int cut, firn_reaction *last)
{
    world w = yard(d, path);
    const uint16_t bodies[2] = {0, 1};
    w.def.object_bodies = bodies;
    w.def.object_count = 2;
    w.def.threads = threads;
    firn_sim *sim = make_yard(&w);
    firn_collider_def region = firn_collider_def_default();
    set_shape(&region, FIRN_SPHERE);
    for (int frame = 0; frame < 6; frame++) {
        const double to[3] = {0.2 - 0.02 * frame, 0.06, 0}, g[3] = {0.5, -5, 0}, n[3] = {0};
        if (frame > 0) assert_ok(firn_sim_move_collider(sim, 1, to, upright, 0.03, &error));
        if (frame == 1) assert_ok(firn_sim_add_collider(sim, &region, NULL, &error));
        if (frame == 2) assert_ok(firn_sim_set_gravity(sim, g, &error));
        if (frame == 2) assert_ok(firn_sim_set_surface(sim, 0, g, n, &error));
        if (frame == 3) assert_ok(firn_sim_apply_impulse(sim, &region, g, NULL, &error));
        if (frame == 3) assert_ok(firn_sim_remove_collider(sim, 2, &error));
        if (frame == 4) assert_ok(firn_sim_apply_velocity(sim, &region, to, 0.5, NULL, &error));
        assert_ok(firn_sim_advance(sim, 0.02, NULL, &error));
        if (frame != cut) continue;
        bytes b = {0};
        assert_ok(firn_sim_save(sim, put, &b, &error));
        firn_sim_destroy(sim);
        sim = world_create(&w);
        assert_ok(firn_sim_load(sim, take, &b, &error));
        assert_int_equal(b.at, b.size);
        free(b.data);
    }
    *last = reaction_of(sim, 1);
    const firn_hash h = hash_of(sim);
    firn_sim_destroy(sim);
    return h;
}

static void the_same_calls_give_the_same_bytes(void **state)
{
    (void)state;
    for (int d = 2; d <= 3; d++)
        for (size_t p = 0; p < PATHS; p++) {
            firn_reaction want, got;
            const firn_hash h = drive(d, both_paths[p], 1, -1, &want);
            assert_true(want.force[0] != 0);
            assert_same_hash(drive(d, both_paths[p], 3, -1, &got), h);
            assert_memory_equal(&got, &want, sizeof got);
            for (int cut = 0; cut < 5; cut++) {
                assert_same_hash(drive(d, both_paths[p], 1, cut, &got), h);
                assert_memory_equal(&got, &want, sizeof got);
            }
        }
}

static void damaged_states_of_colliders_are_refused(void **state)
{
    (void)state;
    world w = yard(2, FIRN_PATH_AUTO);
    firn_sim *sim = make_yard(&w);
    const double to[3] = {1, 1, 0};
    firn_collider_def ball = firn_collider_def_default();
    set_shape(&ball, FIRN_SPHERE);
    bytes plain = {0}, b = {0};
    assert_ok(firn_sim_save(sim, put, &plain, &error));
    assert_ok(firn_sim_move_collider(sim, 1, to, upright, 1, &error));
    assert_ok(firn_sim_add_collider(sim, &ball, NULL, &error));
    assert_ok(firn_sim_save(sim, put, &b, &error));
    firn_sim_destroy(sim);
    random_state = 3;
    int refused = 0;
    for (int trial = 0; trial < 400; trial++) { /* the header and the bytes of colliders */
        const size_t at = trial < 200
                              ? plain.size + (size_t)random_below((int)(b.size - plain.size))
                              : (size_t)random_below(160);
        const char before = b.data[at];
        b.data[at] = (char)random_bits();
        b.at = 0;
        sim = world_create(&w);
        firn_error error = {0};
        if (firn_sim_load(sim, take, &b, &error) != FIRN_OK) {
            refused++;
            assert_int_equal(firn_sim_count(sim), 0);
            assert_int_equal(sim->def.collider_count, 2);
        }
        firn_sim_destroy(sim);
        b.data[at] = before;
    }
    assert_true(refused > 50);
    for (size_t size = plain.size; size < b.size; size++) {
        bytes part = {b.data, size, 0};
        sim = world_create(&w);
        REFUSED(firn_sim_load(sim, take, &part, &error), "cut short");
        firn_sim_destroy(sim);
    }
    free(plain.data);
    free(b.data);
    assert_no_complaints();
}

/* ---- materials and bodies ---- */

static void materials_change_and_are_added(void **state)
{
    (void)state;
    world w = yard(3, FIRN_PATH_AUTO);
    firn_sim *sim = make_yard(&w);
    firn_report soft, stiff;
    assert_ok(firn_sim_step(sim, &soft, &error));
    firn_material_def m = w.material[0];
    m.young *= 100;
    assert_ok(firn_sim_set_material(sim, 0, &m, &error));
    assert_ok(firn_sim_step(sim, &stiff, &error));
    assert_close(stiff.dt, soft.dt / 10, 0.02 * soft.dt);
    m.law = FIRN_HENCKY;
    REFUSED(firn_sim_set_material(sim, 0, &m, &error), "law hencky must stay neo_hookean");
    m.young = -1;
    REFUSED(firn_sim_add_material(sim, &m, NULL, &error), "young");
    REFUSED(firn_sim_set_material(sim, 1, &m, &error), "does not exist");
    int32_t sand = -1;
    m = firn_material_def_preset(firn_preset_find("sand"));
    assert_ok(firn_sim_add_material(sim, &m, &sand, &error));
    assert_int_equal(sand, 1);
    brick more = block;
    more.material = 1;
    more.low[1] = 7;
    brick_add(sim, &w, &more);
    assert_ok(firn_sim_advance(sim, 0.05, NULL, &error));
    assert_null(nonfinite_field(sim, 3));
    firn_sim_destroy(sim);
    w.def.integrator = FIRN_IMPLICIT;
    sim = world_create(&w);
    m = firn_material_def_preset(firn_preset_find("water"));
    firn_error error = {0};
    const firn_status st = firn_sim_add_material(sim, &m, NULL, &error);
    assert_true(st == FIRN_OK || strstr(error.message, "implicit"));
    firn_sim_destroy(sim);
    assert_no_complaints();
}

static void a_new_object_has_the_body_it_is_given(void **state)
{
    (void)state;
    for (int d = 2; d <= 3; d++) {
        world w = yard(d, FIRN_PATH_AUTO);
        const uint16_t first = 0;
        w.def.object_bodies = &first;
        w.def.object_count = 1;
        firn_sim *sim = make_yard(&w);
        assert_ok(firn_sim_set_body(sim, 9, 5, &error));
        brick more = block;
        more.object = 9;
        more.low[1] = 6;
        brick_add(sim, &w, &more);
        assert_ok(firn_sim_advance(sim, 0.05, NULL, &error));
        bool found = false;
        for (int32_t b = 0; b < sim->from->count; b++) {
            found |= sim->from->bin[b].count &&
                     firn_directory_layer(sim->from, b) == firn_sim_layer(sim, 9);
        }
        assert_true(found);
        REFUSED(firn_sim_set_body(sim, 9, 6, &error), "has particles");
        REFUSED(firn_sim_set_body(sim, 8, 65536, &error), "from 0 to 65535");
        int64_t removed = 0;
        assert_ok(firn_sim_remove_object(sim, 9, &removed, &error));
        assert_int_equal(removed, brick_count(d, &more));
        assert_int_equal(firn_sim_count(sim), brick_count(d, &block));
        assert_ok(firn_sim_set_body(sim, 9, 6, &error));
        firn_sim_destroy(sim);
    }
    world w = yard(3, FIRN_PATH_AUTO);
    firn_sim *sim = make_yard(&w);
    REFUSED(firn_sim_set_body(sim, 1, 1, &error), "object_bodies");
    firn_sim_destroy(sim);
    assert_no_complaints();
}

/* ---- particles ---- */

static void what_is_written_is_read(void **state)
{
    (void)state;
    for (int d = 2; d <= 3; d++) {
        world w = yard(d, FIRN_PATH_AUTO);
        w.def.heat.enabled = 1;
        w.def.material_count = 2;
        w.material[1].law = FIRN_FIXED_COROTATED;
        firn_sim *sim = make_yard(&w);
        assert_ok(firn_sim_advance(sim, 0.02, NULL, &error));
        for (int f = 0; f < FIRN_FIELD_COUNT; f++) {
            const firn_field_info info = firn_field_get_info((firn_field)f);
            const int width = d == 2 ? info.components_2d : info.components_3d;
            double value[20 * 9], back[20 * 9];
            uint64_t id[20];
            for (int i = 0; i < 20 * 9; i++) {
                const bool positive = f == FIRN_MASS || f == FIRN_VOLUME;
                value[i] = f == FIRN_MATERIAL ? i % 2
                           : f == FIRN_OBJECT ? i
                                              : 0.25 * (i + positive);
            }
            for (int i = 0; i < 20; i++) id[i] = (uint64_t)(60 - 3 * i);
            if (!info.writable) {
                REFUSED(firn_sim_write(sim, (firn_field)f, 3, 20, value, &error), "cannot");
                continue;
            }
            memo before = remember(sim, d);
            assert_ok(firn_sim_write(sim, (firn_field)f, 3, 20, value, &error));
            assert_ok(firn_sim_read(sim, (firn_field)f, 3, 20, back, &error));
            for (int i = 0; i < 20 * width; i++) assert_true(back[i] == value[i]);
            assert_ok(firn_sim_write_ids(sim, (firn_field)f, 20, id, value, &error));
            memo after = remember(sim, d);
            for (int i = 0; i < 20; i++)
                for (int c = 0; c < width; c++)
                    assert_true(after.field[f][id[i] * (uint64_t)width + (uint64_t)c] ==
                                value[i * width + c]);
            for (int g = 0; g < FIRN_FIELD_COUNT; g++) { /* and nothing else */
                const firn_field_info other = firn_field_get_info((firn_field)g);
                const size_t wide = (size_t)(d == 2 ? other.components_2d : other.components_3d);
                if (g == f) continue;
                assert_memory_equal(before.field[g], after.field[g],
                                    (size_t)before.count * wide * sizeof(double));
            }
            const firn_hash h = hash_of(sim);
            value[19 * width] = f == FIRN_MATERIAL ? 2 : NAN;
            REFUSED(firn_sim_write(sim, (firn_field)f, 3, 20, value, &error), info.name);
            REFUSED(firn_sim_write(sim, (firn_field)f, 3, 1 << 20, value, &error), "there are");
            id[7] = 1 << 20;
            REFUSED(firn_sim_write_ids(sim, (firn_field)f, 19, id, value, &error), "no particle");
            assert_same_hash(hash_of(sim), h);
            forget(&before);
            forget(&after);
        }
        double warm[5] = {300, 310, 320, 330, 340}, *got;
        assert_ok(firn_sim_write_temperature(sim, 2, 5, warm, &error));
        got = malloc((size_t)firn_sim_count(sim) * sizeof *got);
        assert_ok(firn_sim_read_heat(sim, got, NULL, &error));
        for (int i = 0; i < 5; i++) assert_close(got[2 + i], warm[i], 1e-3);
        free(got);
        warm[1] = -1;
        REFUSED(firn_sim_write_temperature(sim, 2, 5, warm, &error), "temperature");
        firn_sim_destroy(sim);
    }
    assert_no_complaints();
}

static void regions_find_and_push(void **state)
{
    (void)state;
    for (int d = 2; d <= 3; d++) {
        world w = yard(d, FIRN_PATH_AUTO);
        w.def.gravity[1] = 0;
        firn_sim *sim = make_yard(&w);
        firn_collider_def ball = firn_collider_def_default();
        set_shape(&ball, FIRN_SPHERE);
        ball.position[1] = 0.05;
        double *x = read_all(sim, d, FIRN_POSITION);
        uint64_t *ids = malloc((size_t)firn_sim_count(sim) * sizeof *ids);
        int64_t want = 0, count = 0;
        assert_ok(firn_sim_find_inside(sim, &ball, firn_sim_count(sim), ids, &count, &error));
        for (int64_t i = 0; i < firn_sim_count(sim); i++) {
            double r2 = 0;
            for (int a = 0; a < d; a++) r2 += pow(x[i * d + a] - ball.position[a], 2);
            if (r2 < 0.08 * 0.08) assert_int_equal(ids[want++], i);
        }
        assert_int_equal(count, want);
        assert_true(count > 50);
        assert_ok(firn_sim_find_inside(sim, &ball, 0, NULL, &count, &error));
        assert_int_equal(count, want);
        const double impulse[3] = {0.5, -0.25, 0};
        int64_t pushed = 0;
        assert_ok(firn_sim_apply_impulse(sim, &ball, impulse, &pushed, &error));
        assert_int_equal(pushed, want);
        for (int a = 0; a < d; a++) assert_close(totals_of(sim).momentum[a], impulse[a], 1e-6);
        const double goal[3] = {0, 2, 0};
        assert_ok(firn_sim_apply_velocity(sim, &ball, goal, 1, NULL, &error));
        double v[3];
        assert_ok(firn_sim_read(sim, FIRN_VELOCITY, (int64_t)ids[3], 1, v, &error));
        assert_true(v[0] == 0 && v[1] == 2);
        assert_ok(firn_sim_apply_velocity(sim, &ball, impulse, 0.5, NULL, &error));
        assert_ok(firn_sim_read(sim, FIRN_VELOCITY, (int64_t)ids[3], 1, v, &error));
        assert_close(v[0], 0.25, 1e-7);
        assert_close(v[1], 0.875, 1e-7);
        const firn_hash h = hash_of(sim);
        REFUSED(firn_sim_apply_velocity(sim, &ball, goal, 1.5, NULL, &error), "strength");
        REFUSED(firn_sim_apply_impulse(sim, NULL, goal, NULL, &error), "region");
        ball.size[0] = 0;
        REFUSED(firn_sim_find_inside(sim, &ball, 0, NULL, &count, &error), "size[0]");
        assert_same_hash(hash_of(sim), h);
        ball.size[0] = 0.01;
        ball.position[1] = 9;
        assert_ok(firn_sim_apply_impulse(sim, &ball, impulse, &pushed, &error));
        assert_int_equal(pushed, 0);
        assert_same_hash(hash_of(sim), h);
        free(ids);
        free(x);
        firn_sim_destroy(sim);
    }
    assert_no_complaints();
}

static void stress_is_hookes_where_strain_is_small(void **state)
{
    (void)state;
    for (int d = 2; d <= 3; d++)
        for (int law = FIRN_LINEAR; law <= FIRN_HENCKY; law++) {
            world w = yard(d, FIRN_PATH_AUTO);
            firn_material_def *m = &w.material[0];
            m->law = (firn_law_kind)law;
            m->poisson = 0.3;
            firn_sim *sim = make_yard(&w);
            const double lambda = m->young * 0.3 / (1.3 * 0.4), mu = m->young / 2.6;
            double strain[9], F[9], stress[9], trace = 0, mean = 0;
            for (int a = 0; a < d; a++)
                for (int b = 0; b < d; b++) {
                    strain[a * d + b] = 1e-4 * (1 + a + b + (a == b));
                    F[a * d + b] = strain[a * d + b] + (a == b);
                    trace += a == b ? strain[a * d + b] : 0;
                }
            assert_ok(firn_sim_write(sim, FIRN_DEFORMATION_GRADIENT, 5, 1, F, &error));
            assert_ok(firn_sim_read_stress(sim, 5, 1, stress, &error));
            for (int a = 0; a < d; a++)
                for (int b = 0; b < d; b++) {
                    const double want = 2 * mu * strain[a * d + b] + (a == b ? lambda * trace : 0);
                    assert_close(stress[a * d + b], want, 4e-3 * m->young * 5e-4);
                    mean -= a == b ? stress[a * d + b] / d : 0;
                }
            double *pressure = malloc((size_t)firn_sim_count(sim) * sizeof *pressure);
            assert_ok(firn_sim_read_pressure(sim, pressure, &error));
            assert_close(pressure[5], mean, 1e-12 * m->young);
            assert_close(pressure[4], 0, 1e-6 * m->young);
            free(pressure);
            firn_sim_destroy(sim);
        }
}

static void floats_are_the_doubles_in_either_order(void **state)
{
    (void)state;
    for (int d = 2; d <= 3; d++) {
        world w = yard(d, FIRN_PATH_AUTO);
        w.def.heat.enabled = 1;
        firn_sim *sim = make_yard(&w);
        assert_ok(firn_sim_advance(sim, 0.1, NULL, &error));
        const int64_t n = firn_sim_count(sim);
        const firn_view id = firn_sim_view(sim, FIRN_ID);
        float *narrow = malloc((size_t)n * 9 * sizeof *narrow);
        for (int f = 0; f < FIRN_FIELD_COUNT; f++) {
            const firn_field_info info = firn_field_get_info((firn_field)f);
            const int64_t width = d == 2 ? info.components_2d : info.components_3d;
            double *wide = read_all(sim, d, (firn_field)f);
            assert_ok(
                firn_sim_read_float(sim, (firn_field)f, FIRN_ORDER_ID, 2, n - 3, narrow, &error));
            for (int64_t i = 0; i < (n - 3) * width; i++)
                assert_true(narrow[i] == (float)wide[2 * width + i]);
            assert_ok(firn_sim_read_float(sim, (firn_field)f, FIRN_ORDER_STORAGE, 2, n - 3, narrow,
                                          &error));
            for (int64_t i = 0; i < n - 3; i++) {
                const int64_t k = (int64_t)((const uint64_t *)id.data)[2 + i];
                for (int64_t c = 0; c < width; c++)
                    assert_true(narrow[i * width + c] == (float)wide[k * width + c]);
            }
            free(wide);
        }
        REFUSED(firn_sim_read_float(sim, FIRN_MASS, (firn_order)2, 0, 1, narrow, &error), "order");
        free(narrow);
        firn_sim_destroy(sim);
    }
    assert_no_complaints();
}

/* Spoilt on purpose, the order stays spoilt until the state changes: it is not made anew. */
static void the_order_of_ids_is_made_once_per_generation(void **state)
{
    (void)state;
    world w = yard(2, FIRN_PATH_AUTO);
    firn_sim *sim = make_yard(&w);
    double first[2];
    assert_ok(firn_sim_read(sim, FIRN_ID, 0, 2, first, &error));
    assert_true(first[0] == 0 && first[1] == 1);
    uint32_t *index = sim->store.by_id->index, swap = index[0];
    index[0] = index[1];
    index[1] = swap;
    for (int f = 0; f < FIRN_FIELD_COUNT; f++) {
        if (has_field(sim, f)) free(read_all(sim, 2, (firn_field)f));
    }
    (void)hash_of(sim);
    assert_ok(firn_sim_read(sim, FIRN_ID, 0, 2, first, &error));
    assert_true(first[0] == 1 && first[1] == 0);
    assert_ok(firn_sim_advance(sim, 1e-3, NULL, &error));
    assert_ok(firn_sim_read(sim, FIRN_ID, 0, 2, first, &error));
    assert_true(first[0] == 0 && first[1] == 1);
    firn_sim_destroy(sim);
}

/* ---- hooks ---- */

static int call_everything(void *user_data, const firn_report *report)
{
    (void)report;
    firn_sim *sim = *(firn_sim **)user_data;
    firn_collider_def c = firn_collider_def_default();
    firn_material_def m = firn_material_def_default();
    firn_collider_motion motion = {.rotation = {1, 0, 0, 0}};
    firn_reaction r;
    double v[9] = {1};
    float f[9];
    uint64_t id[1] = {0};
    int64_t n;
    const double *u = v;
    REFUSED(firn_sim_set_gravity(sim, v, &error), "advancing");
    REFUSED(firn_sim_set_damping(sim, 1, &error), "advancing");
    REFUSED(firn_sim_set_contact_friction(sim, 1, &error), "advancing");
    REFUSED(firn_sim_add_collider(sim, &c, NULL, &error), "advancing");
    REFUSED(firn_sim_remove_collider(sim, 0, &error), "advancing");
    REFUSED(firn_sim_move_collider(sim, 0, v, v, 1, &error), "advancing");
    REFUSED(firn_sim_set_motion(sim, 0, &motion, &error), "advancing");
    REFUSED(firn_sim_read_motion(sim, 0, &motion, &error), "advancing");
    REFUSED(firn_sim_set_surface(sim, 0, v, v, &error), "advancing");
    REFUSED(firn_sim_read_reaction(sim, 0, &r, &error), "advancing");
    REFUSED(firn_sim_set_material(sim, 0, &m, &error), "advancing");
    REFUSED(firn_sim_add_material(sim, &m, NULL, &error), "advancing");
    REFUSED(firn_sim_set_body(sim, 1, 1, &error), "advancing");
    REFUSED(firn_sim_remove_object(sim, 1, NULL, &error), "advancing");
    REFUSED(firn_sim_write(sim, FIRN_VELOCITY, 0, 1, u, &error), "advancing");
    REFUSED(firn_sim_write_ids(sim, FIRN_VELOCITY, 1, id, u, &error), "advancing");
    REFUSED(firn_sim_write_temperature(sim, 0, 1, u, &error), "advancing");
    REFUSED(firn_sim_find_inside(sim, &c, 0, NULL, &n, &error), "advancing");
    REFUSED(firn_sim_apply_impulse(sim, &c, u, NULL, &error), "advancing");
    REFUSED(firn_sim_apply_velocity(sim, &c, u, 1, NULL, &error), "advancing");
    REFUSED(firn_sim_read_float(sim, FIRN_MASS, FIRN_ORDER_ID, 0, 1, f, &error), "advancing");
    REFUSED(firn_sim_read_stress(sim, 0, 1, v, &error), "advancing");
    REFUSED(firn_sim_reserve(sim, 9, 9, &error), "advancing");
    return 0;
}

static void hooks_are_refused(void **state)
{
    (void)state;
    world w = yard(2, FIRN_PATH_PLAIN);
    firn_sim *sim = NULL;
    w.def.step_hook = call_everything;
    w.def.step_user_data = &sim;
    sim = make_yard(&w);
    assert_ok(firn_sim_step(sim, NULL, &error));
    firn_sim_destroy(sim);
    assert_no_complaints();
}

/* ---- memory ---- */

typedef struct meter {
    int64_t requests, fail_at; /* -1: none fails */
} meter;

static void *metered(void *user_data, void *old, size_t old_size, size_t new_size, size_t alignment)
{
    meter *m = user_data;
    if (new_size > 0 && m->requests++ == m->fail_at) return NULL;
    const firn_allocator a = firn_allocator_default();
    void *grown = a.reallocate(a.user_data, NULL, 0, new_size, alignment);
    if (grown && new_size > old_size) { /* nobody may count on zeros */
        memset((char *)grown + old_size, 0xff, new_size - old_size);
    }
    if (grown && old) memcpy(grown, old, old_size < new_size ? old_size : new_size);
    if (old) a.reallocate(a.user_data, old, old_size, 0, alignment);
    return grown;
}

static void what_was_reserved_is_not_asked_for_again(void **state)
{
    (void)state;
    for (int d = 2; d <= 3; d++)
        for (size_t p = 0; p < PATHS; p++) {
            meter m = {0, -1};
            firn_hash h[2];
            for (int reserved = 0; reserved < 2; reserved++) {
                world w = yard(d, both_paths[p]);
                w.def.transfer = p == 0 ? FIRN_APIC : FIRN_ASFLIP;
                w.def.allocator = (firn_allocator){metered, &m};
                firn_sim *sim = world_create(&w);
                brick second = block;
                second.low[1] = 8;
                brick_add(sim, &w, &block);
                if (reserved) assert_ok(firn_sim_reserve(sim, 5000, 400, &error));
                const int64_t before = m.requests;
                firn_report report;
                brick_add(sim, &w, &second);
                for (int frame = 0; frame < 10; frame++) {
                    assert_ok(firn_sim_advance(sim, 0.03, &report, &error));
                    assert_true(report.blocks < 400);
                }
                double x[9];
                assert_ok(firn_sim_read(sim, FIRN_POSITION, 0, 3, x, &error));
                if (reserved) assert_int_equal(m.requests, before);
                h[reserved] = hash_of(sim);
                firn_sim_destroy(sim);
            }
            assert_same_hash(h[0], h[1]);
        }
}

/* One request after the other fails: the call says so, changes nothing, and works when repeated. */
static void host_calls_without_memory_change_nothing(void **state)
{
    (void)state;
    firn_collider_def ball = firn_collider_def_default();
    set_shape(&ball, FIRN_SPHERE);
    const firn_pose_key keys[2] = {{0, {3, 4, 0}, {1, 0, 0, 0}}, {1, {3, 5, 0}, {1, 0, 0, 0}}};
    ball.keys = keys;
    ball.key_count = 2;
    bytes saved = {0};
    for (int call = 0; call < 5; call++)
        for (int64_t n = 0;; n++) {
            meter m = {0, -1};
            world w = yard(2, FIRN_PATH_AUTO);
            w.def.allocator = (firn_allocator){metered, &m};
            firn_sim *sim = call == 4 ? world_create(&w) : make_yard(&w);
            const firn_hash before = hash_of(sim);
            const int32_t colliders = sim->def.collider_count, materials = sim->def.material_count;
            bool done = false;
            for (int attempt = 0; attempt < 2; attempt++) {
                firn_error error = {0};
                firn_status st = FIRN_OK;
                m.requests = 0;
                m.fail_at = attempt == 0 ? n : -1;
                if (call == 0) st = firn_sim_add_collider(sim, &ball, NULL, &error);
                if (call == 1) st = firn_sim_add_material(sim, &w.material[1], NULL, &error);
                if (call == 2) st = firn_sim_set_body(sim, 500, 3, &error);
                if (call == 3) st = firn_sim_reserve(sim, 10000, 1000, &error);
                saved.at = 0;
                if (call == 4) st = firn_sim_load(sim, take, &saved, &error);
                m.fail_at = -1;
                if (attempt == 1) {
                    assert_int_equal(st, FIRN_OK);
                    continue;
                }
                done = m.requests <= n;
                if (done) break;
                assert_int_equal(st, FIRN_NO_MEMORY);
                assert_same_hash(hash_of(sim), before);
                assert_int_equal(sim->def.collider_count, colliders);
                assert_int_equal(sim->def.material_count, materials);
                assert_int_equal(sim->def.object_count, 0);
            }
            assert_ok(firn_sim_advance(sim, 0.01, NULL, &error));
            if (call == 0 && done) assert_ok(firn_sim_save(sim, put, &saved, &error));
            firn_sim_destroy(sim);
            if (done) break;
            assert_true(n < 100);
        }
    free(saved.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gravity_changes_between_advances),
        cmocka_unit_test(damping_changes_between_advances),
        cmocka_unit_test(a_moved_collider_arrives_and_stays),
        cmocka_unit_test(a_pushed_block_does_not_care_who_moves_the_wall),
        cmocka_unit_test(colliders_come_and_go_without_renumbering),
        cmocka_unit_test(a_running_surface_carries),
        cmocka_unit_test(a_running_drum_is_like_a_turning_one),
        cmocka_unit_test(a_block_at_rest_presses_with_its_weight),
        cmocka_unit_test(momentum_lost_is_momentum_taken),
        cmocka_unit_test(steps_taken_back_take_their_reactions_back),
        cmocka_unit_test(the_same_calls_give_the_same_bytes),
        cmocka_unit_test(damaged_states_of_colliders_are_refused),
        cmocka_unit_test(materials_change_and_are_added),
        cmocka_unit_test(a_new_object_has_the_body_it_is_given),
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(regions_find_and_push),
        cmocka_unit_test(stress_is_hookes_where_strain_is_small),
        cmocka_unit_test(floats_are_the_doubles_in_either_order),
        cmocka_unit_test(the_order_of_ids_is_made_once_per_generation),
        cmocka_unit_test(hooks_are_refused),
        cmocka_unit_test(what_was_reserved_is_not_asked_for_again),
        cmocka_unit_test(host_calls_without_memory_change_nothing),
    };
    return cmocka_run_group_tests_name("host", tests, NULL, NULL);
}
