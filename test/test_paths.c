/* The two paths held against each other: the fused one is the plain one, faster. */
#include "worlds.h"

/* The largest difference of a field between two memories of the same particles. */
static double largest_difference(const memo *a, const memo *b, int dimension, firn_field field)
{
    const firn_field_info info = firn_field_get_info(field);
    const int64_t n = a->count * (dimension == 2 ? info.components_2d : info.components_3d);
    double most = 0;
    assert_int_equal(a->count, b->count);
    for (int64_t i = 0; i < n; i++) {
        const double difference = fabs(a->field[field][i] - b->field[field][i]);
        if (!(difference <= most)) most = difference; /* a NaN stays */
    }
    return most;
}

static const int marks[] = {1, 10, 100}; /* steps */
enum { MARKS = sizeof marks / sizeof *marks };

/* What a run of that kind looks like at the marks. */
static void run_two_laws(int d, firn_path path, const char *isa, memo at[MARKS])
{
    world w = two_law_world(d, path, isa);
    firn_sim *sim = world_create(&w);
    assert_string_equal(firn_sim_get_info(sim).isa, isa);
    assert_int_equal(firn_sim_get_info(sim).path, path);
    add_two_laws(sim, &w);
    for (int i = 0, done = 0; i < MARKS; done = marks[i++]) {
        assert_ok(firn_sim_advance(sim, (marks[i] - done) * w.def.dt, NULL, &error));
        at[i] = remember(sim, d);
    }
    assert_at_most(totals_of(sim).min_J, 0.9); /* it did land */
    firn_sim_destroy(sim);
}

/* Rounding differs by an ulp or so per step and adds up as a random walk, so the bounds are a
 * number of ulp that grows with the square root of the steps, about four times what is measured
 * (AVX2, SSE2). */
static void fused_equals_plain_within_rounding_growth(void **state)
{
    (void)state;
    const double h = 0.02, speed = 3, ulp = 0x1p-24;
    for (int d = 2; d <= 3; d++) {
        memo want[MARKS], got[MARKS];
        const char *last = NULL; /* the plainest there is: scalar */
        for (int32_t isa = 0; firn_isa_name(isa); isa++) last = firn_isa_name(isa);
        run_two_laws(d, FIRN_PATH_PLAIN, last, want);
        for (int32_t isa = 0; firn_isa_name(isa); isa++)
            for (size_t p = 0; p < PATHS; p++) {
                run_two_laws(d, both_paths[p], firn_isa_name(isa), got);
                for (int i = 0; i < MARKS; i++) {
                    const double walk = sqrt(marks[i]);
                    const struct {
                        firn_field field;
                        double bound;
                    } checks[] = {
                        {FIRN_POSITION, 4 * walk * h * 0x1p-22},
                        {FIRN_VELOCITY, (24 + 8 * walk) * speed * ulp},
                        {FIRN_DEFORMATION_GRADIENT, (4 + 8 * walk) * ulp},
                        {FIRN_VELOCITY_GRADIENT, 100 * speed / h * ulp},
                    };
                    for (size_t k = 0; k < sizeof checks / sizeof *checks; k++) {
                        const double difference =
                            largest_difference(&got[i], &want[i], d, checks[k].field);
                        if (difference <= checks[k].bound) continue;
                        complain("%dD %s %s after %d steps: %s differs by %g, above %g\n", d,
                                 firn_isa_name(isa), path_name(both_paths[p]), marks[i],
                                 firn_field_get_info(checks[k].field).name, difference,
                                 checks[k].bound);
                    }
                    forget(&got[i]);
                }
            }
        for (int i = 0; i < MARKS; i++) forget(&want[i]);
    }
    assert_no_complaints();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fused_equals_plain_within_rounding_growth),
    };
    return cmocka_run_group_tests_name("paths", tests, NULL, NULL);
}
