/* Bodies and colliders in a sim: none gets inside, however suddenly or fast the collider moves.
 * The shapes themselves are tested in test_collide.c. */
#include "worlds.h"

#include "collider/collider.h"

/* How deep the deepest particle is in a collider, in cells; below zero when all are outside. */
static double depth_inside(const firn_sim *sim, const world *w)
{
    const int d = w->def.dimension;
    double *x = read_all(sim, d, FIRN_POSITION), deepest = -INFINITY;
    for (int c = 0; c < w->def.collider_count; c++) {
        firn_posed_collider posed;
        firn_collider_pose(&w->collider[c], d, firn_sim_time(sim), &posed);
        for (int64_t i = 0; i < firn_sim_count(sim); i++) {
            const double p[3] = {x[i * d], x[i * d + 1], d == 3 ? x[i * d + 2] : 0};
            double normal[3];
            deepest = fmax(deepest, -firn_collider_distance(&posed, d, p, normal));
        }
    }
    free(x);
    return deepest / w->def.cell_size;
}

/* Complains unless `outside` is zero now and after each of several advances. */
static void expect_none_inside(firn_sim *sim, const world *w, double seconds, int parts,
                               const char *what)
{
    for (int part = 0; part <= parts; part++) {
        if (part) assert_ok(firn_sim_advance(sim, seconds / parts, NULL, &error));
        const firn_totals t = totals_of(sim);
        const char *broken = nonfinite_field(sim, w->def.dimension);
        if (t.outside == 0 && !broken) continue;
        complain("%s, %dD, %s path, boundary %d, at %g s: %lld of %lld particles inside, up to "
                 "%.2g cells; %s\n",
                 what, w->def.dimension, path_name(firn_sim_get_info(sim).path),
                 (int)w->collider[0].boundary, firn_sim_time(sim), (long long)t.outside,
                 (long long)firn_sim_count(sim), depth_inside(sim, w),
                 broken ? broken : "all finite");
        break;
    }
}

static void a_body_thrown_at_a_collider_stays_outside(void **state)
{
    (void)state;
    for (int shape = 0; shape < FIRN_SHAPE_COUNT; shape++)
        for (int d = 2; d <= 3; d++)
            for (size_t p = 0; p < PATHS; p++)
                for (int boundary = 0; boundary < FIRN_BOUNDARY_COUNT; boundary++) {
                    if (d == 2 && shape == FIRN_MESH) continue; /* 3D only */
                    world w = world_default(d, 0.02);
                    w.def.path = both_paths[p];
                    w.def.collider_count = 1;
                    set_shape(&w.collider[0], shape);
                    w.collider[0].boundary = (firn_boundary)boundary;
                    const bool room = shape == FIRN_INSIDE;
                    w.collider[0].position[1] = room ? 0 : shape == FIRN_PLANE ? -0.011 : -0.17;
                    firn_sim *sim = world_create(&w);
                    random_state = 61;
                    const brick b = {.low = {-2, room ? -2 : 0, -2},
                                     .cells = {4, 4, 4},
                                     .per_axis = 2,
                                     .jitter = 0.5,
                                     .velocity = {1, -6, 0.5}};
                    brick_add(sim, &w, &b);
                    expect_none_inside(sim, &w, 0.04, 4, firn_shape_name((firn_shape_kind)shape));
                    firn_sim_destroy(sim);
                }
    assert_no_complaints();
}

static void a_fast_collider_pushes_particles_and_none_stays_inside(void **state)
{
    (void)state;
    for (int shape = 0; shape < FIRN_SHAPE_COUNT; shape++)
        for (int d = 2; d <= 3; d++)
            for (size_t p = 0; p < PATHS; p++)
                for (int boundary = 0; boundary < FIRN_BOUNDARY_COUNT; boundary++) {
                    if (d == 2 && shape == FIRN_MESH) continue; /* 3D only */
                    world w = world_default(d, 0.02);
                    w.def.path = both_paths[p];
                    w.def.collider_count = 1;
                    set_shape(&w.collider[0], shape);
                    w.collider[0].boundary = (firn_boundary)boundary;
                    w.collider[0].key_count = 2;
                    const bool room = shape == FIRN_INSIDE;
                    const double y = room ? 0 : shape == FIRN_PLANE ? -0.011 : -0.18;
                    /* 8 m/s upwards, a quarter turn about z on the way. */
                    w.key[0][0] = (firn_pose_key){0, {0, y, 0}, {1, 0, 0, 0}};
                    w.key[0][1] = (firn_pose_key){0.1, {0.1, y + 0.8, 0}, {1, 0, 0, 0.4}};
                    firn_sim *sim = world_create(&w);
                    random_state = 62;
                    const brick b = {.low = {-2, room ? -2 : 0, -2},
                                     .cells = {4, 4, 4},
                                     .per_axis = 2,
                                     .jitter = 0.5};
                    brick_add(sim, &w, &b);
                    const firn_totals before = totals_of(sim);
                    expect_none_inside(sim, &w, 0.04, 4, firn_shape_name((firn_shape_kind)shape));
                    if (!(totals_of(sim).momentum[1] >
                          0.1 * before.mass)) { /* above 0.1 m/s, however slim the shape */
                        complain("%s, %dD, %s path, boundary %d: not pushed\n",
                                 firn_shape_name((firn_shape_kind)shape), d,
                                 path_name(both_paths[p]), boundary);
                    }
                    firn_sim_destroy(sim);
                }
    assert_no_complaints();
}

/* A wall two cells thick below a body at rest, which moves up by `way` from `start` to `end`:
 * none of the body may be below its middle afterwards. The body is soft, so dt is long when the
 * wall starts. */
static void expect_pushed_ahead(int d, firn_path path, double start, double end, double way,
                                const char *what)
{
    world w = world_default(d, 0.02);
    w.def.path = path;
    w.material[0].young = 2e3;
    w.def.collider_count = 1;
    w.collider[0].shape = FIRN_BOX;
    w.collider[0].size[0] = w.collider[0].size[2] = 1;
    w.collider[0].size[1] = w.def.cell_size;
    w.collider[0].boundary = FIRN_STICKY;
    w.collider[0].key_count = 3;
    w.key[0][0] = (firn_pose_key){0, {0, -0.031, 0}, {1, 0, 0, 0}};
    w.key[0][1] = (firn_pose_key){start, {0, -0.031, 0}, {1, 0, 0, 0}};
    w.key[0][2] = (firn_pose_key){end, {0, -0.031 + way, 0}, {1, 0, 0, 0}};
    firn_sim *sim = world_create(&w);
    random_state = 63;
    const brick b = {.low = {-2, 0, -2}, .cells = {4, 4, 4}, .per_axis = 2, .jitter = 0.5};
    brick_add(sim, &w, &b);
    assert_ok(firn_sim_advance(sim, 0.04, NULL, &error));
    const double wall = -0.031 + way * fmin(1, (0.04 - start) / (end - start));
    double *x = read_all(sim, d, FIRN_POSITION);
    int64_t passed = 0;
    for (int64_t i = 0; i < firn_sim_count(sim); i++) passed += x[i * d + 1] < wall;
    free(x);
    if (passed) {
        complain("%s, at %g s, %dD, %s path: %lld of %lld particles went through\n", what, start, d,
                 path_name(path), (long long)passed, (long long)firn_sim_count(sim));
    }
    firn_sim_destroy(sim);
}

static void a_collider_that_starts_suddenly_does_not_pass_through(void **state)
{
    (void)state;
    for (int d = 2; d <= 3; d++)
        for (size_t p = 0; p < PATHS; p++) {
            for (int i = 0; i < 6; i++) { /* wherever in a step it starts */
                const double start = 0.0121 + 0.0018 * i;
                expect_pushed_ahead(d, both_paths[p], start, start + 0.1, 2,
                                    "a wall that starts at 20 m/s");
            }
        }
    assert_no_complaints();
}

static void a_stroke_shorter_than_a_step_is_not_missed(void **state)
{
    (void)state;
    for (int d = 2; d <= 3; d++)
        for (size_t p = 0; p < PATHS; p++) {
            for (int i = 0; i < 6; i++) {
                const double start = 0.0121 + 0.0018 * i;
                expect_pushed_ahead(d, both_paths[p], start, start + 0.001, 0.08,
                                    "a wall that strikes for 1 ms");
            }
        }
    assert_no_complaints();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_body_thrown_at_a_collider_stays_outside),
        cmocka_unit_test(a_fast_collider_pushes_particles_and_none_stays_inside),
        cmocka_unit_test(a_collider_that_starts_suddenly_does_not_pass_through),
        cmocka_unit_test(a_stroke_shorter_than_a_step_is_not_missed),
    };
    return cmocka_run_group_tests_name("contact", tests, NULL, NULL);
}
