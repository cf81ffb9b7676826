/* Sweeps: every combination runs as it would alone, the table says how it ended, and one that is cut
 * off goes on to the same files. */
#include "program.h"

#define DROP FIRN_SCENES "/drop.yaml"
#define GRID                                                                                       \
    "sweep", DROP, "--vary", "materials.jelly.young=1e4,1e5", "--vary",                            \
        "objects.ball.velocity=[0,-3,0],[1, -3, 0]"
static const char *const grid_folders[] = {
    "young_1e4__velocity_0_-3_0", "young_1e4__velocity_1_-3_0", "young_1e5__velocity_0_-3_0",
    "young_1e5__velocity_1_-3_0"};
enum { GRID_SIZE = sizeof grid_folders / sizeof *grid_folders };

/* ---- tables ---- */

/* The cell of a row (0: the head) and column of a CSV text; quotes are taken off. */
static const char *cell(const char *csv, int row, int column, char text[512])
{
    bool quoted = false;
    size_t n = 0;
    for (const char *p = csv; *p && row >= 0; p++) {
        if (*p == '"') {
            quoted = !quoted;
        } else if (!quoted && *p == '\n') {
            if (row-- == 0) break;
        } else if (!quoted && *p == ',' && row == 0) {
            if (column-- == 0) break;
        } else if (row == 0 && column == 0 && n < 511) {
            text[n++] = *p;
        }
    }
    text[n] = 0;
    return text;
}

static const char *cell_of(const char *csv, int row, const char *name, char text[512])
{
    for (int column = 0; column < 64; column++) {
        if (strcmp(cell(csv, 0, column, text), name) == 0) return cell(csv, row, column, text);
    }
    complain("no column %s in %s\n", name, csv);
    text[0] = 0;
    return text;
}

static double number_of(const char *csv, int row, const char *name)
{
    char text[512], *end = NULL;
    const double number = strtod(cell_of(csv, row, name, text), &end);
    if (end == text) complain("row %d, %s: \"%s\" is no number\n", row, name, text);
    return number;
}

static int count_rows(const char *csv)
{
    int rows = -1; /* the head */
    for (; *csv; csv++) rows += *csv == '\n';
    return rows;
}

static const char *read_table(const char *folder)
{
    static char csv[TEXT_SIZE];
    char path[PATH_SIZE];
    read_text(in_folder(folder, "sweep.csv", path), csv, sizeof csv);
    return csv;
}

static void expect_cell(const char *csv, int row, const char *name, const char *want)
{
    char text[512];
    if (strcmp(cell_of(csv, row, name, text), want) != 0) {
        complain("row %d, %s: \"%s\", not \"%s\"\n", row, name, text, want);
    }
}

static void expect_same_files(const char *a, const char *b)
{
    static char first[1 << 20], second[1 << 20];
    const size_t n = read_text(a, first, sizeof first), m = read_text(b, second, sizeof second);
    if (n == 0 || n != m || memcmp(first, second, n) != 0) {
        complain("%s (%zu bytes) and %s (%zu bytes) differ\n", a, n, b, m);
    }
}

/* The last frames of the grid in two sweeps. */
static void expect_same_grids(const char *a, const char *b)
{
    for (int i = 0; i < GRID_SIZE; i++) {
        char first[PATH_SIZE], second[PATH_SIZE], name[PATH_SIZE];
        snprintf(name, sizeof name, "%s/drop.0008.csv", grid_folders[i]);
        expect_same_files(in_folder(a, name, first), in_folder(b, name, second));
    }
}

/* ---- running ---- */

static void every_combination_is_as_it_would_be_alone(void **state)
{
    (void)state;
    static const char *const young[] = {"materials.jelly.young=1e4", "materials.jelly.young=1e5"};
    static const char *const velocity[] = {"objects.ball.velocity=[0, -3, 0]",
                                           "objects.ball.velocity=[1, -3, 0]"};
    char folder[PATH_SIZE], alone[PATH_SIZE], sweep[PATH_SIZE];
    const outcome *o = run(fresh_folder("grid", folder), WORDS(GRID));
    expect_exit(o, 0, "sweep");
    in_folder(folder, "drop.sweep", sweep);
    assert_int_equal(count_entries(sweep), GRID_SIZE + 1);
    for (int i = 0; i < GRID_SIZE; i++) {
        fresh_folder("alone", alone);
        o = run(alone,
                WORDS("run", DROP, "--quiet", "--set", young[i / 2], "--set", velocity[i % 2]));
        expect_exit(o, 0, "alone");
        static const char *const files[] = {"drop.0001.csv", "drop.0008.csv", "drop.0008.bgeo.sc"};
        for (int k = 0; k < 3; k++) {
            char path[PATH_SIZE], name[PATH_SIZE], other[PATH_SIZE];
            snprintf(name, sizeof name, "%s/%s", grid_folders[i], files[k]);
            expect_same_files(in_folder(sweep, name, path), in_folder(alone, files[k], other));
        }
    }
    assert_no_complaints();
}

static void the_table_holds_values_and_the_last_statistics(void **state)
{
    (void)state;
    static const char *const young[] = {"1e4", "1e4", "1e5", "1e5"};
    static const char *const velocity[] = {"[0,-3,0]", "[1, -3, 0]", "[0,-3,0]", "[1, -3, 0]"};
    char folder[PATH_SIZE];
    const outcome *o =
        run(fresh_folder("table", folder), WORDS(GRID, "--out", "some/where", "--frames", "1:5"));
    expect_exit(o, 0, "sweep");
    char sweep[PATH_SIZE];
    const char *csv = read_table(in_folder(folder, "some/where", sweep));
    assert_int_equal(count_rows(csv), GRID_SIZE);
    for (int row = 1; row <= GRID_SIZE; row++) {
        expect_cell(csv, row, "materials.jelly.young", young[row - 1]);
        expect_cell(csv, row, "objects.ball.velocity", velocity[row - 1]);
        expect_cell(csv, row, "frame", "5");
        expect_cell(csv, row, "status", "done");
        expect_cell(csv, row, "folder", grid_folders[row - 1]);
        static char statistics[TEXT_SIZE];
        char path[PATH_SIZE], name[PATH_SIZE], want[512];
        snprintf(name, sizeof name, "%s/drop.csv", grid_folders[row - 1]);
        read_text(in_folder(sweep, name, path), statistics, sizeof statistics);
        double steps = 0;
        for (int k = 1; k <= 5; k++) steps += number_of(statistics, k, "substeps");
        assert_close(number_of(csv, row, "total_steps"), steps, 0);
        static const char *const columns[] = {"particles", "max_speed", "kinetic", "max_J"};
        for (int k = 0; k < 4; k++) {
            expect_cell(csv, row, columns[k], cell_of(statistics, 5, columns[k], want));
        }
        if (!strstr(o->out, cell_of(csv, row, "total_steps", want))) {
            complain("%s steps are not in %s\n", want, o->out);
        }
    }
    assert_no_complaints();
}

/* Of what melts, people want to know how far. */
static void tables_of_what_melts_show_it(void **state)
{
    (void)state;
    static const char *const columns[] = {"liquid", "max_temperature"};
    char folder[PATH_SIZE], text[512], number[32];
    const outcome *o = run(fresh_folder("melts", folder),
                           WORDS("sweep", FIRN_SCENES "/melt.yaml", "--vary", "heat.speed=1,2000",
                                 "--frames", "1:3", "--out", "melts"));
    expect_exit(o, 0, "sweep");
    char sweep[PATH_SIZE];
    const char *csv = read_table(in_folder(folder, "melts", sweep));
    for (int k = 0; k < 2; k++) {
        if (!strstr(o->out, columns[k])) complain("no %s in %s\n", columns[k], o->out);
        for (int row = 1; row <= 2; row++) {
            snprintf(number, sizeof number, "  %.4g ",
                     strtod(cell_of(csv, row, columns[k], text), NULL));
            if (!strstr(o->out, number)) complain("no%sin %s\n", number, o->out);
        }
    }
    assert_true(number_of(csv, 2, "liquid") > number_of(csv, 1, "liquid"));
    assert_no_complaints();
}

/* In free flight v = v0 + g t, so the momenta of the two variants are as that. */
static void commas_in_brackets_and_quotes_belong_to_a_value(void **state)
{
    (void)state;
    char folder[PATH_SIZE], sweep[PATH_SIZE];
    const outcome *o = run(fresh_folder("commas", folder),
                           WORDS("sweep", DROP, "--set", "objects.ball.translate=[0, 5, 0]",
                                 "--vary", "simulation.gravity=[0,-9.8,0],[0,0,0]", "--vary",
                                 "name=\"a, b\",'c,d', it's f", "--out", "sweep"));
    expect_exit(o, 0, "sweep");
    const char *csv = read_table(in_folder(folder, "sweep", sweep));
    assert_int_equal(count_rows(csv), 6);
    expect_cell(csv, 1, "simulation.gravity", "[0,-9.8,0]");
    expect_cell(csv, 4, "simulation.gravity", "[0,0,0]");
    expect_cell(csv, 2, "name", "'c,d'");
    expect_cell(csv, 3, "name", "it's f");
    const double falling = number_of(csv, 1, "momentum_y"),
                 flying = number_of(csv, 4, "momentum_y");
    const double t = number_of(csv, 1, "time");
    assert_close(falling / flying, (3 + 9.8 * t) / 3, 1e-4);
    assert_no_complaints();
}

static void folders_have_safe_names_of_their_own(void **state)
{
    (void)state;
    char folder[PATH_SIZE], sweep[PATH_SIZE];
    const outcome *o = run(fresh_folder("names", folder),
                           WORDS("sweep", DROP, "--frames", "1:1", "--out", "sweep", "--vary",
                                 "name=a b,a_b,A_B,$(x),..,0123456789012345678901234567890123456789"
                                 "012345678901234567890,ä"));
    expect_exit(o, 0, "sweep");
    in_folder(folder, "sweep", sweep);
    assert_int_equal(count_entries(sweep), 7 + 1);
    DIR *all = opendir(sweep);
    assert_non_null(all);
    char known[16][256];
    int count = 0;
    for (struct dirent *e; (e = readdir(all));) {
        if (e->d_name[0] == '.') continue;
        static const char safe[] =
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-";
        if (strspn(e->d_name, safe) != strlen(e->d_name)) complain("%s\n", e->d_name);
        if (strlen(e->d_name) > 100) complain("%s is long\n", e->d_name);
        snprintf(known[count], sizeof known[count], "%.255s", e->d_name);
        for (char *p = known[count]; *p; p++) *p += *p >= 'A' && *p <= 'Z' ? 'a' - 'A' : 0;
        for (int i = 0; i < count; i++) {
            if (strcmp(known[i], known[count]) == 0) complain("%s twice\n", known[i]);
        }
        count++;
    }
    closedir(all);
    assert_no_complaints();
}

static void what_is_written_stays_in_the_folders(void **state)
{
    (void)state;
    char folder[PATH_SIZE], inner[PATH_SIZE], path[PATH_SIZE];
    fresh_folder("inside", folder);
    in_folder(folder, "work", inner);
    assert_int_equal(mkdir(inner, 0777), 0);
    char output[2 * PATH_SIZE];
    snprintf(output, sizeof output, "output=[{file: ../up.$F4.csv}, {file: %s/away.$F4.csv}]",
             folder);
    const outcome *o =
        run(inner, WORDS("sweep", DROP, "--vary", "resolution=0.05,0.06", "--frames", "1:1",
                         "--set", output, "--set", "statistics=../../drop.csv", "--set",
                         "checkpoint.folder=/drop"));
    expect_exit(o, 0, "sweep");
    assert_int_equal(count_entries(folder), 1);
    assert_int_equal(count_entries(inner), 1);
    const char *variant = in_folder(inner, "drop.sweep/resolution_0.05", path);
    char name[PATH_SIZE], file[2 * PATH_SIZE];
    snprintf(file, sizeof file, "%.1000s%.1000s/away.0001.csv", variant, folder);
    assert_int_equal(access(file, F_OK), 0);
    assert_int_equal(access(in_folder(variant, "up.0001.csv", name), F_OK), 0);
    assert_int_equal(access(in_folder(variant, "drop.csv", name), F_OK), 0);
    assert_int_equal(access(in_folder(variant, "drop/drop.000001.ckpt", name), F_OK), 0);
    assert_no_complaints();
}

/* ---- refusing ---- */

static void bad_varies_are_refused_before_anything_runs(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"resolution=0.05,,0.04", "a value is missing"},
        {"resolution=0.05,", "a value is missing"},
        {"resolution=0.05,-1", "resolution_-1: --vary resolution: resolution -1 must be"},
        {"resolution=0.05,0.05", "0.05 is given twice"},
        {"resolution=0.05,[0.04", "--vary resolution:"},
        {"resolutoin=1", "did you mean \"resolution\""},
        {"materials.jely.young=1e4,1e5", "no materials.jely, did you mean \"jelly\""},
        {"materials.jely={young: 1e4}", "no materials.jely, did you mean \"jelly\""},
        {"materials.jelly.yung=1e4,1e5", "did you mean \"young\""},
        {"objects.none.velocity=[0,0,0]", "no objects.none"},
        {"objects.ball.emit.start=0,1", "no objects.ball.emit"},
        {"objects[1].velocity=[0,0,0]", "no objects[1]"},
        {"simulation.path=plain,fast", "path \"fast\" is not known"},
        {"simulation.spline=quadratic,cubic", "fused"}, /* with --set simulation.path=fused */
        {"output[0].attributes=[P],[Q]", "\"Q\""},
        {"frames..end=3", "is not a path"},
        {"objects[0]={mesh: " FIRN_SCENES "/cube.obj},{mesh: none.obj}", "none.obj"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char folder[PATH_SIZE];
        const outcome *o = run(fresh_folder("refused", folder),
                               WORDS("sweep", DROP, "--frames", "1:6", "--set",
                                     "simulation.path=fused", "--vary", cases[i][0]));
        expect_exit(o, 3, cases[i][0]);
        if (!strstr(o->err, cases[i][1])) complain("%s: %s\n", cases[i][0], o->err);
        if (count_entries(folder) != 0) complain("%s: files were made\n", cases[i][0]);
    }
    char folder[PATH_SIZE];
    fresh_folder("refused", folder);
    expect_exit(run(folder, WORDS("sweep", DROP)), 2, "nothing to vary");
    const outcome *o =
        run(folder, WORDS("sweep", DROP, "--vary", "frames.end=8,4", "--frames", "1:6"));
    expect_exit(o, 2, "frames that a variant does not have");
    assert_non_null(strstr(o->err, "end_4: --frames 1:6 must be"));
    expect_exit(run(folder, WORDS("sweep", DROP, "--vary", "seed=1,2", "--frames", "soon")), 2,
                "no frames");
    o = run(folder, WORDS("sweep", DROP, "--vary", "seed=1,2", "--vary", "seed=3,4"));
    expect_exit(o, 3, "the same path twice");
    assert_int_equal(count_entries(folder), 0);
    char path[PATH_SIZE];
    FILE *file = fopen(in_folder(folder, "taken", path), "w");
    assert_non_null(file);
    fclose(file);
    o = run(top, WORDS("sweep", DROP, "--vary", "seed=1,2", "--out", "refused/taken"));
    expect_exit(o, 4, "a file in the way");
    if (strstr(o->out, "variant")) complain("it ran: %s\n", o->out);
    assert_no_complaints();
}

static void one_that_fails_is_noted_and_the_others_run(void **state)
{
    (void)state;
    static const struct {
        const char *vary, *status;
        int exit_code;
    } cases[] = {
        {"simulation.dt_min=0.009,1e-9", "diverged", 5},
        {"objects.ball.shape.sphere.radius=0.001,0.3", "failed", 3}, /* holds no particle */
    };
    for (int i = 0; i < 2; i++) {
        char folder[PATH_SIZE], sweep[PATH_SIZE];
        const outcome *o = run(fresh_folder("failing", folder),
                               WORDS("sweep", DROP, "--vary", cases[i].vary, "--out", "sweep"));
        expect_exit(o, cases[i].exit_code, cases[i].vary);
        const char *csv = read_table(in_folder(folder, "sweep", sweep));
        expect_cell(csv, 1, "status", cases[i].status);
        expect_cell(csv, 2, "status", "done");
        expect_cell(csv, 2, "frame", "8");
        if (!strstr(o->out, cases[i].status)) complain("%s: %s\n", cases[i].vary, o->out);
    }
    assert_no_complaints();
}

static void a_plan_writes_nothing(void **state)
{
    (void)state;
    char folder[PATH_SIZE];
    const outcome *o = run(fresh_folder("plan", folder), WORDS(GRID, "--plan"));
    expect_exit(o, 0, "plan");
    if (!strstr(o->out, "4 variants one after the other")) complain("%s\n", o->out);
    assert_int_equal(count_entries(folder), 0);
    assert_no_complaints();
}

/* ---- going on ---- */

/* Finer, so that there is time to stop it. */
#define FINE_GRID GRID, "--set", "resolution=0.03", "--threads", "2", "--out", "sweep"

static const char *whole_grid(char path[PATH_SIZE])
{
    char folder[PATH_SIZE];
    if (access(in_folder(top, "fine/sweep/sweep.csv", path), F_OK) != 0) {
        expect_exit(run(fresh_folder("fine", folder), WORDS(FINE_GRID)), 0, "whole sweep");
    }
    return in_folder(top, "fine/sweep", path);
}

/* Interrupts a sweep when it has come to its third variant. */
static void cut_short(const char *folder, const char *const *words)
{
    static outcome cut;
    const pid_t child = start(folder, 0, words);
    wait_for(child, "variant 3 of 4");
    kill(child, SIGINT);
    finish(child, &cut);
    expect_exit(&cut, 130, "interrupted sweep");
    if (!strstr(cut.err, "--resume")) complain("%s\n", cut.err);
    if (strstr(cut.out, "variant 4 of 4")) complain("it ran on: %s\n", cut.out);
}

static void a_sweep_that_was_stopped_goes_on_to_the_same_files(void **state)
{
    (void)state;
    char whole[PATH_SIZE], folder[PATH_SIZE], sweep[PATH_SIZE], path[PATH_SIZE];
    whole_grid(whole);
    fresh_folder("stopped", folder);
    cut_short(folder, WORDS(FINE_GRID));
    in_folder(folder, "sweep", sweep);
    const char *csv = read_table(sweep);
    expect_cell(csv, 1, "status", "done");
    expect_cell(csv, 2, "status", "done");
    expect_cell(csv, 4, "status", "waiting");
    char name[PATH_SIZE];
    snprintf(name, sizeof name, "%s/drop.0008.csv", grid_folders[0]);
    struct stat before, after;
    assert_int_equal(stat(in_folder(sweep, name, path), &before), 0);
    const outcome *o = run(folder, WORDS(FINE_GRID, "--resume"));
    expect_exit(o, 0, "resumed sweep");
    if (!strstr(o->out, "velocity_1_-3_0 is finished") ||
        strstr(o->out, "1e5__velocity_1_-3_0 is")) {
        complain("%s\n", o->out);
    }
    assert_int_equal(stat(path, &after), 0);
    assert_int_equal(before.st_ino, after.st_ino); /* a new file would have another */
    expect_same_grids(sweep, whole);
    csv = read_table(sweep);
    for (int row = 1; row <= GRID_SIZE; row++) {
        char want[512];
        expect_cell(csv, row, "status", "done");
        static char other[TEXT_SIZE];
        read_text(in_folder(whole, "sweep.csv", path), other, sizeof other);
        expect_cell(csv, row, "total_steps", cell_of(other, row, "total_steps", want));
    }
    /* A scene that has changed is not finished. */
    o = run(folder, WORDS(FINE_GRID, "--resume", "--set", "frames.end=9"));
    expect_exit(o, 0, "longer sweep");
    if (strstr(o->out, "is finished") || !strstr(o->err, "continuing from frame 8")) {
        complain("%s%s\n", o->out, o->err);
    }
    expect_cell(read_table(sweep), 4, "frame", "9");
    /* One that moves otherwise starts over: old numbers do not stand under a new scene. */
    char *old = strdup(read_table(sweep));
    o = run(folder, WORDS(FINE_GRID, "--resume", "--set", "simulation.gravity=[0, -1, 0]"));
    expect_exit(o, 0, "changed sweep");
    if (!strstr(o->err, "its scene has changed") || strcmp(old, read_table(sweep)) == 0) {
        complain("%s%s\n", o->out, o->err);
    }
    free(old);
    assert_no_complaints();
}

static void what_an_older_sweep_left_is_not_gone_on_from(void **state)
{
    (void)state;
    char whole[PATH_SIZE], folder[PATH_SIZE], sweep[PATH_SIZE];
    whole_grid(whole);
    fresh_folder("older", folder);
    expect_exit(run(folder, WORDS(FINE_GRID, "--set", "simulation.gravity=[0, 0, 0]")), 0, "older");
    cut_short(folder, WORDS(FINE_GRID));
    const outcome *o = run(folder, WORDS(FINE_GRID, "--resume"));
    expect_exit(o, 0, "resumed sweep");
    expect_same_grids(in_folder(folder, "sweep", sweep), whole);
    assert_no_complaints();
}

int main(void)
{
    if (!make_top("test_sweep")) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_combination_is_as_it_would_be_alone),
        cmocka_unit_test(the_table_holds_values_and_the_last_statistics),
        cmocka_unit_test(tables_of_what_melts_show_it),
        cmocka_unit_test(commas_in_brackets_and_quotes_belong_to_a_value),
        cmocka_unit_test(folders_have_safe_names_of_their_own),
        cmocka_unit_test(what_is_written_stays_in_the_folders),
        cmocka_unit_test(bad_varies_are_refused_before_anything_runs),
        cmocka_unit_test(one_that_fails_is_noted_and_the_others_run),
        cmocka_unit_test(a_plan_writes_nothing),
        cmocka_unit_test(a_sweep_that_was_stopped_goes_on_to_the_same_files),
        cmocka_unit_test(what_an_older_sweep_left_is_not_gone_on_from),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    remove_all(top);
    return failed;
}
