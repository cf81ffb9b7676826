/* The program where memory or stack is short: it succeeds, or gives one exit code and a reason. */
#include "program.h"

#define SCENE FIRN_SCENES "/limits.yaml"
enum { EXIT_MEMORY = 6 };

/* Runs `firn` with the words under a limit of the shell, as "ulimit -v 1000". */
static const outcome *run_limited(const char *limit, const char *words)
{
    static outcome o;
    char command[4 * PATH_SIZE], path[PATH_SIZE];
    snprintf(command, sizeof command, "cd '%s' && %s && '%s' %s > '%s/out' 2> '%s/err'; exit $?",
             top, limit, FIRN_PROGRAM, words, top, top);
    const int status = system(command);
    o.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    read_text(in_folder(top, "out", path), o.out, sizeof o.out);
    read_text(in_folder(top, "err", path), o.err, sizeof o.err);
    return &o;
}

static void a_stack_is_large_enough_or_refused(void **state)
{
    (void)state;
    const outcome *o = run_limited("ulimit -s 64", "run " SCENE);
    assert_int_equal(o->exit_code, EXIT_MEMORY);
    assert_non_null(strstr(o->err, "ulimit -s 256"));
    static const char *const words[] = {
        "run " SCENE " --quiet",
        "render " SCENE " --frames 2:2 --size 64x48 --quality draft --color v --quiet --out a.png",
        "convert files/limits.0002.prt files/classic.geo --classic",
        "info files/classic.geo",
        "list",
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        expect_exit(run_limited("ulimit -s 256", words[i]), 0, words[i]);
    assert_no_complaints();
}

/* From just enough to start to enough to finish. */
static void memory_that_runs_out_is_one_exit_code(void **state)
{
    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip(); /* they need terabytes of address space */
#endif
    long least = 4000;
    char limit[64];
    for (;; least += least / 10) {
        snprintf(limit, sizeof limit, "ulimit -v %ld", least);
        if (run_limited(limit, "--version")->exit_code == 0) break;
        assert_true(least < 1000000);
    }
    static const char *const words[] = {
        "run " SCENE " --quiet --threads 64",
        "run " SCENE " --quiet --threads 64 --resume",
        "render " SCENE
        " --frames 2:2 --size 64x48 --quality draft --quiet --threads 64 --out a.png",
        "convert files/limits.0002.prt files/again.ply",
        "info files/limits.0002.bgeo.sc",
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        int refused = 0;
        long room = least;
        for (;; room += room / 16) {
            snprintf(limit, sizeof limit, "ulimit -v %ld", room);
            const outcome *o = run_limited(limit, words[i]);
            if (o->exit_code == 0) break;
            refused++;
            if (o->exit_code != EXIT_MEMORY || !strstr(o->err, "memory"))
                complain("%s, %s: exit %d: %s\n", limit, words[i], o->exit_code, o->err);
            if (room > 4000000) break;
        }
        print_message("%s: %d refused, then %ld KB are enough\n", words[i], refused, room);
    }
    assert_no_complaints();
}

int main(void)
{
    if (!make_top("limits")) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stack_is_large_enough_or_refused),
        cmocka_unit_test(memory_that_runs_out_is_one_exit_code),
    };
    const int failed = cmocka_run_group_tests_name("limits", tests, NULL, NULL);
    remove_all(top);
    return failed;
}
