/* A machine that runs none of the kernels in the build: nothing runs, and that is said.
 *
 * This program has a table of kernels of its own, an empty one, which the linker prefers to the
 * library's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "transfer/pass.h"

#include "validation/world.h"

const char *firn_isa_name(int32_t index)
{
    (void)index;
    return NULL;
}

const firn_kernels *firn_kernels_find(const char *isa, int32_t dim)
{
    (void)isa, (void)dim;
    return NULL;
}

static void without_kernels_no_sim_is_created_and_the_message_says_why(void **state)
{
    (void)state;
    static const char *const isas[] = {NULL, "avx2", ""};
    for (size_t i = 0; i < sizeof isas / sizeof *isas; i++) {
        const firn_material_def material = firn_material_def_default();
        firn_sim_def def = firn_sim_def_default();
        def.materials = &material;
        def.material_count = 1;
        def.isa = isas[i];
        firn_sim *sim = NULL;
        firn_error error = {0};
        assert_int_equal(firn_sim_create(&def, &sim, &error), FIRN_UNSUPPORTED);
        assert_null(sim);
        assert_string_equal(
            error.message,
            "no isa of this build runs on this machine; use a build that has scalar");
    }
}

static void without_kernels_every_case_fails_with_the_reason(void **state)
{
    (void)state;
    assert_true(firn_case_has_path(FIRN_PATH_PLAIN)); /* so that it is run, not left out */
    assert_true(!firn_case_has_path(FIRN_PATH_FUSED));
    assert_true(firn_case_count > 0);
    for (int32_t i = 0; i < firn_case_count; i++) {
        static firn_case_run run;
        firn_case_run_on(&firn_cases[i], FIRN_PATH_PLAIN, true, &run);
        assert_true(!run.passed);
        assert_non_null(strstr(run.failure, "no isa of this build"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_kernels_no_sim_is_created_and_the_message_says_why),
        cmocka_unit_test(without_kernels_every_case_fails_with_the_reason),
    };
    return cmocka_run_group_tests_name("no kernels", tests, NULL, NULL);
}
