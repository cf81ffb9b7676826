/* Help: every text fits a screen, and everything that has a name is explained and completed. */
#include "program.h"

/* The n-th name of a list whose lines are "  name  text"; "" past the end. */
static const char *listed(const char *text, int n, char name[64])
{
    name[0] = 0;
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, "  ", 2) != 0 || line[2] == ' ' || line[2] == '-') continue;
        if (n-- > 0) continue;
        snprintf(name, 64, "%.*s", (int)strcspn(line + 2, " \n"), line + 2);
        break;
    }
    return name;
}

static const char *print(const char *const *words)
{
    const outcome *o = run(top, words);
    expect_exit(o, 0, words[0]);
    return o->out;
}

static void expect_screen(const char *what, const char *text)
{
    int lines = 0, longest = 0;
    for (const char *p = text; *p; p += strcspn(p, "\n") + 1) {
        const int length = (int)strcspn(p, "\n");
        if (length > longest) longest = length;
        lines++;
    }
    if (lines < 3 || lines > 24 || longest > 80) {
        complain("%s: %d lines of up to %d letters\n", what, lines, longest);
    }
}

static void every_text_fits_a_screen(void **state)
{
    (void)state;
    static char commands[TEXT_SIZE], topics[TEXT_SIZE], benches[TEXT_SIZE];
    char name[64];
    snprintf(commands, sizeof commands, "%s", print(WORDS("--help")));
    snprintf(topics, sizeof topics, "%s", print(WORDS("help")));
    snprintf(benches, sizeof benches, "%s", print(WORDS("bench", "--help")));
    expect_screen("--help", commands);
    expect_screen("help", topics);
    int count = 0;
    for (; listed(commands, count, name)[0]; count++) {
        expect_screen(name, print(WORDS(name, "--help")));
    }
    assert_true(count >= 10);
    for (count = 0; listed(topics, count, name)[0]; count++) {
        expect_screen(name, print(WORDS("help", name)));
    }
    assert_true(count >= 12);
    for (count = 0; listed(benches, count, name)[0]; count++) {
        expect_screen(name, print(WORDS("bench", name, "--help")));
    }
    assert_true(count >= 4);
    assert_no_complaints();
}

static void help_on_a_command_is_its_own_help(void **state)
{
    (void)state;
    static char own[TEXT_SIZE];
    snprintf(own, sizeof own, "%s", print(WORDS("run", "--help")));
    assert_string_equal(print(WORDS("help", "run")), own);
    snprintf(own, sizeof own, "%s", print(WORDS("bench", "step", "--help")));
    assert_string_equal(print(WORDS("help", "bench", "step")), own);
    assert_string_equal(print(WORDS("help", "exit", "codes")), print(WORDS("help", "exit_codes")));
    assert_no_complaints();
}

/* Rows of the reference are "| `name` | ... | help |". */
static void every_parameter_is_explained_by_its_row(void **state)
{
    (void)state;
    static char reference[TEXT_SIZE];
    snprintf(reference, sizeof reference, "%s", print(WORDS("list", "parameters", "--markdown")));
    int count = 0;
    for (const char *line = reference; (line = strstr(line, "\n| `")); line++, count++) {
        char name[64], row[512], *cells[8] = {0};
        snprintf(name, sizeof name, "%.*s", (int)strcspn(line + 4, "`"), line + 4);
        snprintf(row, sizeof row, "%.*s", (int)strcspn(line + 1, "\n"), line + 1);
        int n = 0;
        for (char *rest = row, *cell; n < 7 && (cell = strstr(rest, "| ")); rest = cell + 2) {
            cell[0] = 0;
            cells[n++] = cell + 2;
        }
        char *also = strstr(cells[5], "; also `");
        char *end = also ? also : cells[5] + strlen(cells[5]) - 2; /* " |" */
        *end = 0;
        const outcome *o = run(top, WORDS("help", name));
        expect_exit(o, 0, name);
        /* A topic of that name has the word, and the parameter's row is in others. */
        if (!strstr(o->out, cells[5]) && !strstr(print(WORDS("help")), name)) {
            complain("%s: \"%s\" is not in %s\n", name, cells[5], o->out);
        }
    }
    assert_true(count > 80);
    const char *young = print(WORDS("help", "young"));
    if (!strstr(young, "Young's modulus") || !strstr(young, "Pa")) complain("%s\n", young);
    assert_no_complaints();
}

static void other_words_list_what_mentions_them(void **state)
{
    (void)state;
    static const char *const cases[][2] = {{"slow_motion", "playback"},
                                           {"draft", "final_resolution"},
                                           {"Water", "preset: "},
                                           {"melting", "doc/melting.md"},
                                           {"freezing", "melting_point"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *text = print(WORDS("help", cases[i][0]));
        if (!strstr(text, cases[i][1])) complain("%s: %s\n", cases[i][0], text);
    }
    assert_no_complaints();
}

static void unknown_names_get_the_nearest(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        {"help", "yong", "did you mean \"young\""},
        {"help", "swep", "did you mean \"sweep"},
        {"help", "collider", NULL},
        {"help", "qqqqqqqq", "there are scenes, units"},
        {"rnu", "x", "did you mean \"run\""},
        {"list", "matreials", "did you mean \"materials\""},
        {"completion", "powershell", "there are bash, zsh, fish"},
        {"validate", "--case=mns", "did you mean \"mms\""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const outcome *o = run(top, WORDS(cases[i][0], cases[i][1]));
        expect_exit(o, cases[i][2] ? 2 : 0, cases[i][1]);
        if (cases[i][2] && !strstr(o->err, cases[i][2])) complain("%s: %s\n", cases[i][1], o->err);
    }
    assert_no_complaints();
}

/* Scripts for the shells hold every command and every option that --help names. */
static void everything_is_completed(void **state)
{
    (void)state;
    static const char *const shells[] = {"bash", "zsh", "fish"};
    for (int i = 0; i < 3; i++) {
        static char script[TEXT_SIZE], commands[TEXT_SIZE], help[TEXT_SIZE];
        char name[64];
        snprintf(script, sizeof script, "%s", print(WORDS("completion", shells[i])));
        snprintf(commands, sizeof commands, "%s", print(WORDS("--help")));
        for (int n = 0; listed(commands, n, name)[0]; n++) {
            if (!strstr(script, name)) complain("%s: no %s\n", shells[i], name);
            snprintf(help, sizeof help, "%s", print(WORDS(name, "--help")));
            for (const char *line = help; (line = strstr(line, "\n  --")); line++) {
                char option[64];
                const char *begin = line + (i == 2 ? 5 : 3); /* fish has no dashes */
                snprintf(option, sizeof option, "%s%.*s", i == 2 ? " -l " : "",
                         (int)strcspn(begin, " \n"), begin);
                if (!strstr(script, option)) complain("%s: no %s\n", shells[i], option);
            }
        }
    }
    assert_no_complaints();
}

static void the_demo_fits_the_width(void **state)
{
    (void)state;
    expect_screen("demo", print(WORDS("demo", "--frames", "1")));
    assert_no_complaints();
}

static void what_validate_does_not_judge_it_says(void **state)
{
    (void)state;
    const char *text = print(WORDS("validate", "--quick", "--case", "mms"));
    const char *row = strstr(text, "L2 error");
    assert_non_null(row);
    const char *mark = strstr(row, "not judged\n      (");
    if (!mark || mark > strchr(row, '\n')) complain("%s\n", text);
    assert_no_complaints();
}

int main(void)
{
    if (!make_top("test_help")) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_text_fits_a_screen),
        cmocka_unit_test(help_on_a_command_is_its_own_help),
        cmocka_unit_test(every_parameter_is_explained_by_its_row),
        cmocka_unit_test(other_words_list_what_mentions_them),
        cmocka_unit_test(unknown_names_get_the_nearest),
        cmocka_unit_test(everything_is_completed),
        cmocka_unit_test(the_demo_fits_the_width),
        cmocka_unit_test(what_validate_does_not_judge_it_says),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    remove_all(top);
    return failed;
}
