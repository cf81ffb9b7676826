/* The command line: picks a command, which does the rest, between what every command needs of the
 * system: three open descriptors, and word of what could not be printed. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "app.h"

static const firn_command *const commands[] = {
#define ROW(word) &firn_##word##_command,
    FIRN_COMMANDS(ROW)
#undef ROW
        NULL};

const firn_command firn_program = {
    .name = "firn",
    .summary = "Firn simulates deformable bodies for computer graphics by the material point "
               "method: scene files in, particle caches out.",
    .parts = commands};

/* Where standard input, output or error is closed, the next file opened would take its number, and
 * get what is printed. */
static void open_missing_descriptors(void)
{
    for (int d = STDIN_FILENO; d <= STDERR_FILENO; d++) {
        const int mode = d == STDIN_FILENO ? O_RDONLY : O_WRONLY;
        if (fcntl(d, F_GETFD) < 0 && open("/dev/null", mode) != d) return;
    }
}

/* Whether nobody reads standard output any more, as behind `firn list | head`. */
static bool reader_has_left(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&out, 1, 0) == 1 && (out.revents & (POLLERR | POLLHUP));
}

/* The exit code, once everything printed has gone out. */
static int finish_printing(int exit_code)
{
    const bool lost = ferror(stdout) != 0; /* for a reason that is forgotten */
    const char *why = fflush(stdout) != 0 ? strerror(errno) : "some of it could not be written";
    if ((!ferror(stdout) && !lost) || reader_has_left()) return exit_code;
    fprintf(stderr, "firn: standard output: %s\n", why);
    return exit_code ? exit_code : FIRN_EXIT_OUTPUT;
}

/* Kernels, readers and colours keep buffers on the stack, 80 KB at most; the rest is room for
 * libraries and for wider instruction sets. */
enum { STACK_KB = 256 };

static bool stack_suffices(void)
{
    struct rlimit stack;
    if (getrlimit(RLIMIT_STACK, &stack) != 0 || stack.rlim_cur >= STACK_KB * 1024) return true;
    fprintf(stderr, "firn: the stack is limited to %llu KB; allow %d: ulimit -s %d\n",
            (unsigned long long)stack.rlim_cur / 1024, STACK_KB, STACK_KB);
    return false;
}

int main(int argc, char **argv)
{
    open_missing_descriptors();
    signal(SIGPIPE, SIG_IGN); /* printing fails instead, which ends no run */
    signal(SIGXFSZ, SIG_IGN); /* writing fails instead, as on a full disk */
    if (!stack_suffices()) return FIRN_EXIT_MEMORY;
    int exit_code = 0;
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        printf("firn %s\n", firn_version());
    } else {
        exit_code = firn_command_main(&firn_program, argc, argv);
    }
    return finish_printing(exit_code);
}
