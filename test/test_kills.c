/* kill -9 at any moment: the run resumes, and ends with the files it would have made undisturbed.
 *
 * test_kills [N]: N kills; `make kills` asks for 200. Moments are random, from a fixed seed, over
 * the time that an undisturbed run takes: starting, filling and the last frame are among them. */
#include "program.h"

static int kills = 10;

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

/* Statistics say how long things took, so only frame and time of a line count. */
static size_t contents(const char *path, char *text, size_t size)
{
    const size_t n = read_text(path, text, size);
    if (!strstr(path, ".stats.")) return n;
    size_t kept = 0;
    int commas = 0;
    for (size_t i = 0; i < n; i++) {
        commas = text[i] == '\n' ? 0 : commas + (text[i] == ',');
        if (commas < 2) text[kept++] = text[i];
    }
    return kept;
}

static void compare_folders(const char *folder, const char *wanted, uint64_t seed)
{
    static char got[1 << 20], want[1 << 20];
    DIR *open = opendir(wanted);
    assert_non_null(open);
    for (struct dirent *e; (e = readdir(open));) {
        char mine[PATH_SIZE], theirs[PATH_SIZE];
        if (e->d_name[0] == '.') continue;
        const size_t n = contents(in_folder(folder, e->d_name, mine), got, sizeof got);
        const size_t m = contents(in_folder(wanted, e->d_name, theirs), want, sizeof want);
        if (n != m || memcmp(got, want, n) != 0)
            complain("seed %llu: %s has %zu bytes, other than the %zu of an undisturbed run\n",
                     (unsigned long long)seed, e->d_name, n, m);
    }
    closedir(open);
    const int n = count_entries(folder), m = count_entries(wanted);
    if (n != m) complain("seed %llu: %d files, not %d\n", (unsigned long long)seed, n, m);
}

static void killed_runs_resume_to_the_same_files(void **state)
{
    (void)state;
    const char *const *words = WORDS("run", FIRN_SCENES "/limits.yaml", "--quiet", "--threads", "2",
                                     "--set", "frames.end=8", "--resume");
    char whole[PATH_SIZE], wanted[PATH_SIZE], cut[PATH_SIZE], files[PATH_SIZE];
    fresh_folder("whole", whole);
    const double begin = now_ms();
    expect_exit(run(whole, words), 0, "an undisturbed run");
    const double span = now_ms() - begin;
    in_folder(whole, "files", wanted);
    int killed = 0, finished = 0;
    for (uint64_t seed = 1; killed < kills; seed++) {
        fresh_folder("cut", cut);
        in_folder(cut, "files", files);
        random_state = seed;
        for (bool done = false; !done;) {
            static outcome o;
            const pid_t child = start(cut, 0, words);
            const bool kills_it = random_below(8) > 0; /* or it would never end */
            if (kills_it) {
                sleep_ms((int)uniform(0, span));
                kill(child, SIGKILL);
            }
            finish(child, &o);
            killed += o.exit_code == -SIGKILL;
            done = o.exit_code == 0;
            if (!done && o.exit_code != -SIGKILL) {
                expect_exit(&o, 0, "a resumed run");
                break;
            }
        }
        finished++;
        compare_folders(files, wanted, seed);
    }
    print_message("%d kills in %d runs of %.0f ms\n", killed, finished, span);
    assert_no_complaints();
}

int main(int argc, char **argv)
{
    if (argc > 1) kills = atoi(argv[1]);
    if (!make_top("kills")) return 1;
    const struct CMUnitTest tests[] = {cmocka_unit_test(killed_runs_resume_to_the_same_files)};
    const int failed = cmocka_run_group_tests_name("kills", tests, NULL, NULL);
    remove_all(top);
    return failed;
}
