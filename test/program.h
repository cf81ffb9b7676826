/* Running the program as a user would, in folders of one's own.
 *
 * FIRN_PROGRAM, FIRN_SCENES (those of the tests) and FIRN_EXAMPLES come from CMake. */
#ifndef FIRN_TEST_PROGRAM_H
#define FIRN_TEST_PROGRAM_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "worlds.h"

enum { MOST_WORDS = 24, PATH_SIZE = 1024, TEXT_SIZE = 1 << 16 };

/* ---- folders and files ---- */

static char top[PATH_SIZE]; /* everything happens in here */

static inline const char *in_folder(const char *folder, const char *name, char path[PATH_SIZE])
{
    assert_true(snprintf(path, PATH_SIZE, "%s/%s", folder, name) < PATH_SIZE);
    return path;
}

static inline void remove_all(const char *path)
{
    DIR *folder = opendir(path);
    if (!folder) {
        unlink(path);
        return;
    }
    for (struct dirent *e; (e = readdir(folder));) {
        char inner[PATH_SIZE];
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
        remove_all(in_folder(path, e->d_name, inner));
    }
    closedir(folder);
    rmdir(path);
}

/* An empty folder of that name. */
static inline const char *fresh_folder(const char *name, char path[PATH_SIZE])
{
    remove_all(in_folder(top, name, path));
    assert_int_equal(mkdir(path, 0777), 0);
    return path;
}

static inline int count_entries(const char *path)
{
    DIR *folder = opendir(path);
    assert_non_null(folder);
    int n = -2; /* . and .. */
    while (readdir(folder)) n++;
    closedir(folder);
    return n;
}

static inline size_t read_text(const char *path, char *text, size_t size)
{
    FILE *file = fopen(path, "rb");
    text[0] = 0;
    if (!file) return 0;
    const size_t n = fread(text, 1, size - 1, file);
    text[n] = 0;
    fclose(file);
    return n;
}

static inline bool ends_in(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/* ---- running the program ---- */

typedef struct outcome {
    int exit_code; /* or minus the signal that ended it */
    char out[TEXT_SIZE], err[TEXT_SIZE];
} outcome;

/* Starts `firn` with the words, which end with NULL, in a folder. Files may hold `most` bytes;
 * 0: any number. What it prints goes to the files out and err beside the folder. */
static inline pid_t start(const char *folder, long most, const char *const *words)
{
    const char *argv[MOST_WORDS + 2] = {FIRN_PROGRAM};
    for (int i = 0; i < MOST_WORDS && words[i]; i++) argv[i + 1] = words[i];
    char out[PATH_SIZE], err[PATH_SIZE];
    in_folder(top, "out", out);
    in_folder(top, "err", err);
    unlink(out); /* or the last one's words are taken for this one's */
    unlink(err);
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child > 0) return child;
    const int out_file = open(out, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    const int err_file = open(err, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (out_file < 0 || err_file < 0 || dup2(out_file, 1) < 0 || dup2(err_file, 2) < 0) _exit(120);
    if (chdir(folder) != 0) _exit(121);
    if (most) {
        const struct rlimit limit = {(rlim_t)most, (rlim_t)most};
        if (setrlimit(RLIMIT_FSIZE, &limit) != 0) _exit(122);
    }
    execv(FIRN_PROGRAM, (char *const *)argv);
    _exit(123);
}

static inline void finish(pid_t child, outcome *o)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0) assert_int_equal(errno, EINTR);
    o->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    char path[PATH_SIZE];
    read_text(in_folder(top, "out", path), o->out, sizeof o->out);
    read_text(in_folder(top, "err", path), o->err, sizeof o->err);
}

#define WORDS(...)                                                                                 \
    (const char *const[]) { __VA_ARGS__, NULL }
static inline outcome *run(const char *folder, const char *const *words)
{
    static outcome o;
    finish(start(folder, 0, words), &o);
    return &o;
}

static inline void sleep_ms(int ms)
{
    const struct timespec t = {ms / 1000, ms % 1000 * 1000000L};
    nanosleep(&t, NULL);
}

/* Until the program has printed the text, or has ended. */
static inline void wait_for(pid_t child, const char *text)
{
    static char out[TEXT_SIZE];
    char path[PATH_SIZE];
    for (int i = 0; i < 10000; i++) {
        read_text(in_folder(top, "out", path), out, sizeof out);
        siginfo_t ended = {0};
        waitid(P_PID, (id_t)child, &ended, WEXITED | WNOHANG | WNOWAIT);
        if (strstr(out, text) || ended.si_pid == child) return;
        sleep_ms(2);
    }
}

static inline void expect_exit(const outcome *o, int want, const char *what)
{
    if (o->exit_code == want) return;
    complain("%s: exit %d, not %d: %s\n", what, o->exit_code, want, o->err);
}

/* Makes the folder that everything happens in; false when it cannot. */
static inline bool make_top(const char *name)
{
    const char *temporary = getenv("TMPDIR");
    snprintf(top, sizeof top, "%.900s/firn_%s.XXXXXX", temporary ? temporary : "/tmp", name);
    return mkdtemp(top) != NULL;
}

#endif
