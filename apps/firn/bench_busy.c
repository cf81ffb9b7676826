/* firn bench busy: how much speed is left when another program keeps one core busy.
 *
 * A child process that spins, pinned to one core, takes half of that core from a job that uses them
 * all. A scheduler that is fair leaves the job n - 1/2 of n cores; how near the job comes to that
 * share says how well its threads share a machine. */
#define _GNU_SOURCE /* sched_setaffinity, wait4 */
#include "bench.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char command_name[] = "firn bench busy";

enum { ROUNDS = 5 };

/* The cores that this process may use. */
static int count_cores(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

/* Starts a process that spins on the last of those cores; -1 when there can be none. It ends with
 * its parent, should that be killed. */
static pid_t start_hog(void)
{
    cpu_set_t all, last;
    if (sched_getaffinity(0, sizeof all, &all) != 0) return -1;
    int core = CPU_SETSIZE - 1;
    while (core > 0 && !CPU_ISSET(core, &all)) core--;
    CPU_ZERO(&last);
    CPU_SET(core, &last);
    const pid_t parent = getpid(), child = fork();
    if (child != 0) return child;
    if (sched_setaffinity(0, sizeof last, &last) != 0) _exit(1);
    while (getppid() == parent) {
        for (volatile int i = 0; i < 10000000; i++) continue;
    }
    _exit(0);
}

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Returns how many seconds of its core it had. */
static double stop_hog(pid_t hog)
{
    struct rusage used = {0};
    kill(hog, SIGKILL);
    wait4(hog, NULL, 0, &used);
    return (double)used.ru_utime.tv_sec + 1e-6 * (double)used.ru_utime.tv_usec;
}

/* The part of its speed that a job on that many threads has when one core is shared by half. */
static double fair_share(int threads, int cores)
{
    return threads < cores ? 1 : (cores - 0.5) / cores;
}

static int by_value(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

static double median(double values[ROUNDS])
{
    qsort(values, ROUNDS, sizeof *values, by_value);
    return values[ROUNDS / 2];
}

static struct {
    int64_t particles, threads;
    const char *isa, *csv;
    bool json;
} chosen = {.particles = 100000};

static const firn_option options[] = {
    {"--particles", FIRN_OPTION_COUNT, &chosen.particles, "N", "how many (100000)", .min = 1000,
     .max = 200000000},
    FIRN_THREADS_OPTION(chosen.threads),
    FIRN_ISA_OPTION(chosen.isa),
    FIRN_JSON_OPTION(chosen.json),
    FIRN_CSV_OPTION(chosen.csv),
};

/* Particle-steps per second of the cube. */
static firn_status measure(double *speed, firn_sim_info *info, firn_error *error)
{
    firn_cube_run cube = {.particles = chosen.particles,
                          .material = firn_bench_material("neo_hookean"),
                          .transfer = FIRN_APIC,
                          .threads = chosen.threads,
                          .isa = chosen.isa,
                          .warmup = 20,
                          .advance = 50,
                          .least = 3,
                          .most = 5,
                          .time_allowed = 3};
    const firn_status st = firn_bench_cube(&cube, error);
    *speed = (double)cube.particles / cube.seconds_per_step;
    *info = cube.info;
    return st;
}

typedef struct result {
    double quiet, busy;   /* particle-steps per second, medians */
    double ratio;         /* median of busy over quiet, round by round */
    double least, most;   /* of these */
    double fair, of_fair; /* the fair share of quiet, and ratio over it */
    double other;         /* of its core that the other program had, median */
    firn_sim_info info;
} result;

static firn_status measure_rounds(result *r, firn_error *error)
{
    double quiet[ROUNDS], busy[ROUNDS], ratio[ROUNDS], other[ROUNDS];
    firn_status st = FIRN_OK;
    for (int i = 0; i < ROUNDS && st == FIRN_OK; i++) {
        st = measure(&quiet[i], &r->info, error);
        if (st != FIRN_OK) break;
        const double begin = seconds_now();
        const pid_t hog = start_hog();
        if (hog < 0) {
            return firn_app_fail(
                error, FIRN_UNSUPPORTED,
                "cannot start the process that keeps a core busy; raise the limit of processes");
        }
        st = measure(&busy[i], &r->info, error);
        other[i] = stop_hog(hog) / (seconds_now() - begin);
        ratio[i] = busy[i] / quiet[i];
    }
    if (st != FIRN_OK) return st;
    r->quiet = median(quiet);
    r->busy = median(busy);
    r->ratio = median(ratio);
    r->other = median(other);
    r->least = ratio[0];
    r->most = ratio[ROUNDS - 1];
    r->fair = fair_share(r->info.threads, count_cores());
    r->of_fair = r->ratio / r->fair;
    return FIRN_OK;
}

static int run(void)
{
    int exit_code = 0;
    firn_bench_csv csv;
    if (!firn_bench_csv_open(&csv, command_name, chosen.csv,
                             "isa,threads,cores,particles,quiet_particle_steps_per_second,"
                             "busy_particle_steps_per_second,busy_over_quiet,fair_share,"
                             "busy_over_fair,other_program_share")) {
        return FIRN_EXIT_OUTPUT;
    }
    result r = {0};
    firn_error error = {0};
    const firn_status st = measure_rounds(&r, &error);
    if (st != FIRN_OK) {
        exit_code = firn_options_failure(command_name, st, &error);
    } else if (chosen.json) {
        printf("{\"isa\": \"%s\", \"threads\": %d, \"cores\": %d, \"particles\": %lld,\n"
               " \"quiet_particle_steps_per_second\": %.6g, "
               "\"busy_particle_steps_per_second\": %.6g,\n"
               " \"busy_over_quiet\": %.4f, \"fair_share\": %.4f, \"busy_over_fair\": %.4f,\n"
               " \"other_program_share\": %.4f}\n",
               r.info.isa, r.info.threads, count_cores(), (long long)chosen.particles, r.quiet,
               r.busy, r.ratio, r.fair, r.of_fair, r.other);
    } else {
        printf("cube of %lld particles, %s, %d threads on %d cores; medians of %d rounds\n",
               (long long)chosen.particles, r.info.isa, r.info.threads, count_cores(), ROUNDS);
        printf("quiet                %.4g particle-steps per second\n", r.quiet);
        printf("one core kept busy   %.4g\n", r.busy);
        printf("busy / quiet         %.3f (%.3f to %.3f)\n", r.ratio, r.least, r.most);
        printf("fair share           %.3f\n", r.fair);
        printf("busy / fair          %.3f\n", r.of_fair);
        printf("the other program    %.3f of its core\n", r.other);
    }
    if (st == FIRN_OK) {
        firn_bench_csv_row(&csv, "%s,%d,%d,%lld,%.4g,%.4g,%.4f,%.4f,%.4f,%.4f", r.info.isa,
                           r.info.threads, count_cores(), (long long)chosen.particles, r.quiet,
                           r.busy, r.ratio, r.fair, r.of_fair, r.other);
    }
    if (!firn_bench_csv_close(&csv, command_name) && exit_code == 0) exit_code = FIRN_EXIT_OUTPUT;
    return exit_code;
}

const firn_command firn_bench_busy_command = {
    .name = command_name,
    .line = "speed when another program keeps one core busy",
    .summary = "The cube of `firn bench step`, timed alternately on a quiet machine and beside a "
               "process that spins on one core: the part of the speed that is left, next to the "
               "fair share of the cores.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run};
