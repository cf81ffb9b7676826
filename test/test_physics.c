/* Physics: the quick variants of `firn validate` as claims, on every path of this build, and what can
 * be said of a single scatter.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "validation/world.h"

#define assert_at_most(got, limit) at_most(got, limit, #got, __FILE__, __LINE__)
static void at_most(double got, double limit, const char *what, const char *file, int line)
{
    if (got <= limit) return; /* false for NaN */
    print_error("%s is %.17g, above %g\n", what, got, limit);
    _fail(file, line);
}

/* ---- cases ---- */

/* Fails on the first path where a check of the case does not hold, having printed all that do not. */
static void claim(const char *name)
{
    const firn_case *which = firn_case_find(name);
    assert_non_null(which);
    for (int path = FIRN_PATH_PLAIN; path <= FIRN_PATH_FUSED; path++) {
        if (path == FIRN_PATH_FUSED && !which->fused) continue;
        if (!firn_case_has_path((firn_path)path)) continue;
        firn_case_run run;
        firn_case_run_on(which, (firn_path)path, true, &run);
        if (run.passed) continue;
        if (run.failure[0]) print_error("%s\n", run.failure);
        for (int32_t i = 0; i < run.count; i++) {
            const firn_check *c = &run.check[i];
            if (c->passed) continue;
            print_error("%s, %s path: %s is %.10g, not %s%.10g", name,
                        path == FIRN_PATH_FUSED ? "fused" : "plain", c->quantity, c->measured,
                        c->bound == FIRN_AT_MOST    ? "at most "
                        : c->bound == FIRN_AT_LEAST ? "at least "
                                                    : "",
                        c->reference);
            if (c->bound == FIRN_NEAR) print_error(" within %g", c->tolerance);
            print_error("\n");
        }
        fail();
    }
}

/* Every claim and the case that shows it. */
#define CLAIMS(X)                                                                                  \
    X(free_fall_is_exact, "free_fall")                                                             \
    X(momentum_is_kept_without_walls, "momentum")                                                  \
    X(apic_keeps_angular_momentum, "rotating_disc")                                                \
    X(apic_keeps_angular_momentum_in_3d, "rotating_ball")                                          \
    X(pic_and_flip_lose_it, "rotating_disc_pic_flip")                                              \
    X(bar_period_converges_to_second_order, "bar_vibration")                                       \
    X(discs_meet_and_part, "disks")                                                                \
    X(manufactured_solutions_converge_to_second_order, "mms")                                      \
    X(beam_sags_as_theory_says, "cantilever")                                                      \
    X(coulomb_decides_between_sliding_and_sticking, "incline")                                     \
    X(closed_worlds_gain_no_energy, "energy_drift")                                                \
    X(long_steps_ring_and_damp_as_predicted, "implicit_bar")                                       \
    X(stiff_beams_swing_in_long_steps, "implicit_beam")                                            \
    X(stiff_columns_rest_in_long_steps, "implicit_rest")                                           \
    X(blocks_bounce_as_high_in_long_steps, "implicit_rebound")                                     \
    X(stiff_blocks_slide_and_stick_in_long_steps, "implicit_incline")                              \
    X(liquids_press_as_deep_as_they_are, "hydrostatic")                                            \
    X(liquids_at_rest_keep_their_volume, "liquid_at_rest")                                         \
    X(dams_break_as_measured, "dam_break")                                                         \
    X(incompressible_water_presses_as_deep_as_it_is, "projected_column")                           \
    X(solvers_hardly_mind_resolution_gaps_and_densities, "projected_solver")                       \
    X(incompressible_pools_stand_right, "projected_pools")                                         \
    X(incompressible_water_is_still_in_its_tank, "projected_walls")                                \
    X(incompressible_dams_keep_their_volume, "projected_dam")                                      \
    X(incompressible_splashes_take_few_steps, "projected_splash")                                  \
    X(drops_swing_as_rayleigh_says, "projected_drop")                                              \
    X(drops_that_turn_keep_their_volume, "projected_rotation")                                     \
    X(drops_meet_plates_at_the_contact_angle, "projected_cap")                                     \
    X(thick_liquids_spread_as_theory_says, "projected_honey")                                      \
    X(light_bodies_float, "projected_float")                                                       \
    X(snow_melts_to_the_volume_of_its_water, "projected_snow")                                     \
    X(contact_melting_is_close_in_other_cells, "projected_contact")                                \
    X(stiff_bodies_stand_bounce_melt_and_spread, "projected_stiff")                                \
    X(solids_rub_on_walls_by_coulombs_law, "projected_friction")                                   \
    X(incompressible_vortices_last_longest_with_apic, "projected_vortex")                          \
    X(sand_runs_out_as_measured, "sand_column")                                                    \
    X(snow_hardens_by_its_law, "snow_compression")                                                 \
    X(snow_rests_on_slopes_without_dents, "snow_at_rest")                                          \
    X(snowballs_mix_with_snow, "snow_into_block")                                                  \
    X(snow_slides_and_sheds_by_friction, "snow_on_slope")                                          \
    X(heat_spreads_from_a_wall, "conduction")                                                      \
    X(fronts_melt_and_freeze_at_stefans_pace, "stefan")

#define DEFINE(name, case_name)                                                                    \
    static void name(void **state)                                                                 \
    {                                                                                              \
        (void)state;                                                                               \
        claim(case_name);                                                                          \
    }
CLAIMS(DEFINE)

static void every_case_is_claimed(void **state)
{
    (void)state;
#define NAME(name, case_name) case_name,
    static const char *const claimed[] = {CLAIMS(NAME)};
    for (int32_t i = 0; i < firn_case_count; i++) {
        bool found = false;
        for (size_t k = 0; k < sizeof claimed / sizeof *claimed; k++) {
            found |= strcmp(claimed[k], firn_cases[i].name) == 0;
        }
        if (!found) fail_msg("case %s has no line in CLAIMS", firn_cases[i].name);
    }
}

/* ---- one scatter ---- */

enum { PARTICLES = 300 };

static uint64_t random_state;

static double uniform(double low, double high)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * (double)(random_state >> 11) / 9007199254740992.0;
}

/* Particles anywhere around the origin, every one with a volume, motion and strain of its own. */
static void add_random(firn_world *w)
{
    const int dim = w->def.dimension, dd = dim * dim;
    double x[PARTICLES * 3], v[PARTICLES * 3], C[PARTICLES * 9], F[PARTICLES * 9];
    double volume[PARTICLES];
    random_state = 1;
    for (int i = 0; i < PARTICLES; i++) {
        volume[i] = uniform(0.5, 2) * pow(w->def.cell_size / 2, dim);
        for (int a = 0; a < dim; a++) {
            x[i * dim + a] = uniform(-0.5, 0.5);
            v[i * dim + a] = uniform(-1, 1);
        }
        for (int c = 0; c < dd; c++) {
            C[i * dd + c] = uniform(-3, 3);
            F[i * dd + c] = (c % (dim + 1) == 0) + uniform(-0.1, 0.1);
        }
    }
    firn_particles p = firn_particles_default();
    p.count = PARTICLES;
    p.position = x;
    p.velocity = v;
    p.velocity_gradient = C;
    p.deformation_gradient = F;
    p.volume = volume;
    firn_error error = {0};
    assert_int_equal(firn_sim_add(w->sim, &p, NULL, &error), FIRN_OK);
}

typedef struct grid_sums {
    double cell_size;
    double mass, momentum[3], force[3], torque[3];
    double force_size; /* sum of |force| */
} grid_sums;

static void add_node(void *context, const firn_grid_node *node)
{
    grid_sums *s = context;
    double size2 = 0;
    s->mass += node->mass;
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        s->momentum[a] += node->mass * node->velocity[a];
        s->force[a] += node->force[a];
        s->torque[a] +=
            s->cell_size * (node->index[b] * node->force[c] - node->index[c] * node->force[b]);
        size2 += node->force[a] * node->force[a];
    }
    s->force_size += sqrt(size2);
}

static grid_sums sum_grid(firn_world *w)
{
    grid_sums s = {.cell_size = w->def.cell_size};
    firn_error error = {0};
    assert_int_equal(firn_sim_visit_grid(w->sim, add_node, &s, &error), FIRN_OK);
    return s;
}

/* Calls `test` with random particles for every dimension, spline and form of the force. */
static void for_each_kernel(firn_law_kind law, void (*test)(firn_world *w, double tolerance))
{
    for (int dim = 2; dim <= 3; dim++) {
        for (int spline = 0; spline < FIRN_SPLINE_COUNT; spline++) {
            for (int form = 0; form < FIRN_FORCE_FORM_COUNT; form++) {
                firn_case_run run = {.path = FIRN_PATH_PLAIN};
                run.real_bytes = firn_case_probe(FIRN_PATH_PLAIN).real_bytes;
                firn_world w = firn_world_make(&run, dim, 0.1, firn_elastic(law, 1000, 1e4, 0.3));
                w.def.spline = (firn_spline)spline;
                w.def.force_form = (firn_force_form)form;
                firn_world_open(&w);
                assert_false(firn_world_failed(&w));
                add_random(&w);
                test(&w, firn_by_precision(&run, 1e-13, 1e-6));
                firn_world_close(&w);
            }
        }
    }
}

/* Sums over nodes are sums over particles only if every particle's weights sum to 1 and, for
 * momentum with APIC, if its nodes lie evenly about it. */
static void check_partition(firn_world *w, double tolerance)
{
    const firn_totals t = firn_world_measure(w);
    const grid_sums s = sum_grid(w);
    assert_at_most(fabs(s.mass - t.mass), tolerance * t.mass);
    for (int a = 0; a < 3; a++) {
        assert_at_most(fabs(s.momentum[a] - t.momentum[a]), tolerance * t.mass); /* |v| is near 1 */
    }
}

static void weights_are_a_partition_of_unity(void **state)
{
    (void)state;
    for_each_kernel(FIRN_NEO_HOOKEAN, check_partition);
}

static void check_force_sum(firn_world *w, double tolerance)
{
    const grid_sums s = sum_grid(w);
    assert_true(s.force_size > 0);
    for (int a = 0; a < 3; a++) assert_at_most(fabs(s.force[a]), tolerance * s.force_size);
}

static void grid_forces_sum_to_zero(void **state)
{
    (void)state;
    for (int law = 0; law < FIRN_LAW_COUNT; law++) {
        for_each_kernel((firn_law_kind)law, check_force_sum);
    }
}

static void check_torque(firn_world *w, double tolerance)
{
    const grid_sums s = sum_grid(w);
    for (int a = 0; a < 3; a++) assert_at_most(fabs(s.torque[a]), tolerance * s.force_size);
}

/* True where Kirchhoff stress is symmetric, which linear elasticity's is not. */
static void grid_forces_have_no_torque(void **state)
{
    (void)state;
    for (int law = 0; law < FIRN_LAW_COUNT; law++) {
        if (law != FIRN_LINEAR) for_each_kernel((firn_law_kind)law, check_torque);
    }
}

/* ---- two materials ---- */

/* A block runs into one of another material, twice as dense. They share nothing but the grid. What
 * the second one gets lies between a blow without rebound and one without loss. */
static void two_materials_couple_through_the_grid(void **state)
{
    (void)state;
    const firn_rigid_motion pushing = {.velocity = {1}};
    for (int path = FIRN_PATH_PLAIN; path <= FIRN_PATH_FUSED; path++) {
        if (!firn_case_has_path((firn_path)path)) continue;
        firn_case_run run = {.path = (firn_path)path};
        run.real_bytes = firn_case_probe(run.path).real_bytes;
        firn_world w =
            firn_world_make(&run, 2, 0.05, firn_elastic(FIRN_NEO_HOOKEAN, 1000, 1e5, 0.2));
        w.material[1] = firn_elastic(FIRN_FIXED_COROTATED, 2000, 3e5, 0.3);
        w.def.material_count = 2;
        firn_world_open(&w);
        firn_world_add(&w, &(firn_world_body){.high = {0.4, 0.4},
                                              .motion = firn_move_rigidly,
                                              .context = &pushing});
        const int64_t first = w.count; /* particles of the first block */
        firn_world_add(&w, &(firn_world_body){.low = {0.6}, .high = {1, 0.4}, .material = 1});
        const firn_totals before = firn_world_measure(&w);
        firn_world_advance(&w, 0.5);
        firn_world_look(&w);
        const firn_totals after = firn_world_measure(&w);
        assert_false(firn_world_failed(&w));

        const double v1 = firn_world_mean(&w, w.v, NULL, 0, 0, first);
        const double v2 = firn_world_mean(&w, w.v, NULL, 0, first, w.count);
        assert_at_most(v2, 2.0 / 3); /* 2 m1 v / (m1 + m2) */
        assert_at_most(1.0 / 3, v2); /* m1 v / (m1 + m2) */
        assert_at_most(v1, v2);      /* they part */
        assert_at_most(fabs(after.momentum[0] - before.momentum[0]),
                       firn_by_precision(&run, 1e-12, 1e-5) * before.momentum[0]);
        double front = -1, back = 2; /* of the first and the second block */
        for (int64_t i = 0; i < w.count; i++) {
            if (i < first)
                front = fmax(front, w.x[2 * i]);
            else
                back = fmin(back, w.x[2 * i]);
        }
        assert_at_most(front, back);
        firn_world_close(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define ENTRY(name, case_name) cmocka_unit_test(name),
        CLAIMS(ENTRY) /**/
        cmocka_unit_test(every_case_is_claimed),
        cmocka_unit_test(weights_are_a_partition_of_unity),
        cmocka_unit_test(grid_forces_sum_to_zero),
        cmocka_unit_test(grid_forces_have_no_torque),
        cmocka_unit_test(two_materials_couple_through_the_grid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
