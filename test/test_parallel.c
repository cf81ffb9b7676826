/* The seam to threads. Runs under ThreadSanitizer: plain memory is written by one task and read after
 * the call, so a seam that does not order the two is found out. */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/parallel.h"
#include "hosts.h"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define THREAD_SANITIZER
#endif
#endif

enum { MOST_THREADS = 40 };

typedef struct tally {
    int64_t count;
    int32_t threads;
    int spins;                           /* how long a task takes */
    int32_t *visits;                     /* per index; plain on purpose */
    int32_t *thread;                     /* which thread took it */
    int64_t *per_thread;                 /* scratch of each thread; plain on purpose */
    atomic_int busy[MOST_THREADS];       /* tasks now running under this thread number */
    atomic_int clashes, strays, running; /* running: tasks now running */
    atomic_int most;                     /* of those, at once */
} tally;

static void count_visit(void *context, int64_t index, int32_t thread)
{
    tally *t = context;
    if (index < 0 || index >= t->count || thread < 0 || thread >= t->threads) {
        atomic_fetch_add(&t->strays, 1);
        return;
    }
    if (atomic_fetch_add(&t->busy[thread], 1) != 0) atomic_fetch_add(&t->clashes, 1);
    const int now = atomic_fetch_add(&t->running, 1) + 1;
    int most = atomic_load(&t->most);
    while (now > most && !atomic_compare_exchange_weak(&t->most, &most, now)) continue;
    t->visits[index]++;
    t->thread[index] = thread;
    t->per_thread[thread] += index + 1;
    for (volatile int i = 0; i < t->spins; i++) continue;
    atomic_fetch_sub(&t->running, 1);
    atomic_fetch_sub(&t->busy[thread], 1);
}

/* What is wrong with a run; `most` is how many tasks ran at once. */
typedef struct verdict {
    int64_t not_once, split, missing;
    int strays, clashes, most;
} verdict;

static verdict run_tally(const firn_workers *workers, int64_t count, int64_t grain, int spins)
{
    tally t = {.count = count, .threads = workers->count, .spins = spins};
    t.visits = calloc((size_t)count + 1, sizeof *t.visits);
    t.thread = calloc((size_t)count + 1, sizeof *t.thread);
    t.per_thread = calloc(MOST_THREADS, sizeof *t.per_thread);
    verdict v = {0};
    if (!t.visits || !t.thread || !t.per_thread) abort();
    firn_workers_run(workers, count, grain, count_visit, &t);
    v.missing = count * (count + 1) / 2;
    for (int i = 0; i < MOST_THREADS; i++) v.missing -= t.per_thread[i];
    for (int64_t i = 0; i < count; i++) v.not_once += t.visits[i] != 1;
    for (int64_t i = 1; i < count; i++) { /* neighbours of one grain go to one thread */
        v.split += i % grain != 0 && t.thread[i] != t.thread[i - 1];
    }
    v.strays = atomic_load(&t.strays);
    v.clashes = atomic_load(&t.clashes);
    v.most = atomic_load(&t.most);
    free(t.visits);
    free(t.thread);
    free(t.per_thread);
    return v;
}

static bool is_good(const verdict *v)
{
    return !(v->not_once || v->split || v->missing || v->strays || v->clashes);
}

/* Fails unless every index was visited once; returns the most tasks at once. */
static int check_workers(const firn_workers *workers, int64_t count, int64_t grain, int spins)
{
    const verdict v = run_tally(workers, count, grain, spins);
    if (!is_good(&v)) {
        print_error("threads %d count %lld grain %lld: %lld visited not once, %lld grains split, "
                    "sum short by %lld, %d strays, %d tasks shared a thread number\n",
                    (int)workers->count, (long long)count, (long long)grain, (long long)v.not_once,
                    (long long)v.split, (long long)v.missing, v.strays, v.clashes);
        fail();
    }
    return v.most;
}

static int check_tally(int32_t threads, int64_t count, int64_t grain, int spins)
{
    return check_workers(&(firn_workers){.count = threads}, count, grain, spins);
}

static void every_index_is_visited_exactly_once(void **state)
{
    (void)state;
    static const int32_t threads[] = {1, 2, 3, 7, 16};
    static const int64_t counts[] = {0, 1, 2, 3, 7, 16, 64, 1000, 4097};
    static const int64_t grains[] = {1, 2, 4, 16, 1000, 5000};
    for (size_t t = 0; t < sizeof threads / sizeof *threads; t++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
            for (size_t g = 0; g < sizeof grains / sizeof *grains; g++)
                check_tally(threads[t], counts[c], grains[g], 0);
}

static void long_tasks_overlap_and_never_share_a_thread_number(void **state)
{
    (void)state;
    int most = 0;
    /* On a busy machine the other threads may come late: some rounds are allowed. */
    for (int round = 0; round < 40 && (round == 0 || most < 2); round++) {
        for (int32_t threads = 1; threads <= 7; threads++) {
            const int now = check_tally(threads, 64, 1, 100000);
            assert_true(now <= threads);
            most = now > most ? now : most;
        }
        if (firn_parallel_max_threads() == 1)
            return; /* a build without threads, or no room for two */
    }
    assert_true(most > 1);
}

/* The calls of a step follow each other at once, and each reads what the one before wrote. */
static void add_previous(void *context, int64_t index, int32_t thread)
{
    (void)thread;
    int64_t(*line)[64] = context;
    const int64_t left = index > 0 ? line[0][index - 1] : 1;
    line[1][index] = line[0][index] + left;
}

static void one_call_sees_all_that_the_one_before_wrote(void **state)
{
    (void)state;
    int64_t line[2][64] = {{0}}, alone[64] = {0};
    for (int round = 0; round < 50; round++) {
        firn_parallel_for(4, 64, 3, add_previous, line);
        memcpy(line[0], line[1], sizeof line[0]);
        for (int i = 63; i >= 0; i--) alone[i] += i > 0 ? alone[i - 1] : 1;
        assert_memory_equal(line[0], alone, sizeof alone);
    }
}

/* A sim belongs to one thread at a time, but different sims may run at once. */
typedef struct caller {
    pthread_t thread;
    int32_t threads; /* of its loops */
    int bad;
} caller;

static void *call_from_a_thread(void *argument)
{
    caller *c = argument;
    for (int round = 0; round < 20; round++) {
        const verdict v = run_tally(&(firn_workers){.count = c->threads}, 500, 7, 100);
        c->bad += !is_good(&v);
    }
    return NULL;
}

static void callers_at_once_do_not_disturb_each_other(void **state)
{
    (void)state;
    enum { CALLERS = 5 };
    caller c[CALLERS];
    for (int i = 0; i < CALLERS; i++) {
        c[i] = (caller){.threads = 2 + i % 3};
        assert_int_equal(pthread_create(&c[i].thread, NULL, call_from_a_thread, &c[i]), 0);
    }
    for (int i = 0; i < CALLERS; i++) assert_int_equal(pthread_join(c[i].thread, NULL), 0);
    for (int i = 0; i < CALLERS; i++) assert_int_equal(c[i].bad, 0);
}

/* Threads of this process. */
static int count_threads(void)
{
    DIR *tasks = opendir("/proc/self/task");
    assert_non_null(tasks);
    int count = -2; /* . and .. */
    while (readdir(tasks)) count++;
    closedir(tasks);
    return count;
}

static void calls_one_after_another_share_their_threads(void **state)
{
    (void)state;
    check_tally(7, 64, 1, 0);
    const int before = count_threads();
    for (int round = 0; round < 20; round++) check_tally(1 + round % 7, 64, 1, 0);
    assert_int_equal(count_threads(), before);
}

/* ---- calls within calls ---- */

typedef struct outer {
    int32_t visits[12][40];
    atomic_int others; /* visits on another thread than the outer task's */
} outer;
typedef struct inner {
    outer *o;
    int64_t row;
    pthread_t thread;
} inner;

static void visit_inner(void *context, int64_t index, int32_t thread)
{
    inner *in = context;
    in->o->visits[in->row][index] += thread == 0;
    if (!pthread_equal(pthread_self(), in->thread)) atomic_fetch_add(&in->o->others, 1);
}

static void visit_outer(void *context, int64_t index, int32_t thread)
{
    (void)thread;
    inner in = {context, index, pthread_self()};
    firn_parallel_for(4, 40, 3, visit_inner, &in);
}

static void a_call_within_a_task_runs_on_its_thread(void **state)
{
    (void)state;
    outer o = {0};
    firn_parallel_for(3, 12, 1, visit_outer, &o);
    for (int i = 0; i < 12; i++)
        for (int k = 0; k < 40; k++) assert_int_equal(o.visits[i][k], 1);
    assert_int_equal(atomic_load(&o.others), 0);
}

/* ---- hosts that run the loops themselves ---- */

static void a_host_runs_the_loops_as_it_likes(void **state)
{
    (void)state;
    for (int i = 0; i < HOSTS; i++) {
        int loops = 0;
        const firn_workers workers = {.count = 5, .hook = {host_runs[i], &loops}};
        check_workers(&workers, 1000, 3, 0);
        check_workers(&workers, 64, 1, 1000);
        check_workers(&workers, 7, 3, 0);
        assert_int_equal(loops, 3);
        check_workers(&workers, 3, 3, 0); /* nothing to share */
        check_workers(&workers, 0, 1, 0);
        assert_int_equal(loops, 3);
    }
}

#if defined(__SSE2__) || defined(__aarch64__)
static void halve_smallest(void *context, int64_t index, int32_t thread)
{
    (void)thread;
    volatile float smallest = 0x1p-126f;
    ((float *)context)[index] = smallest * 0.5f;
}

static void denormals_are_flushed_inside_and_only_there(void **state)
{
    (void)state;
    for (int32_t threads = 1; threads <= 3; threads++) {
        float result[200];
        for (int i = 0; i < 200; i++) result[i] = 1;
        firn_parallel_for(threads, 200, 1, halve_smallest, result);
        for (int i = 0; i < 200; i++) assert_true(result[i] == 0);
        volatile float smallest = 0x1p-126f;
        const float outside = smallest * 0.5f;
        assert_true(outside > 0);
    }
}
#endif

/* ---- a system that refuses ---- */

/* The linker calls this in the place of pthread_create (CMakeLists.txt). */
static bool refusing;
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *about, void *(*task)(void *),
                          void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *about, void *(*task)(void *),
                          void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *about, void *(*task)(void *),
                          void *argument)
{
    return refusing ? EAGAIN : __real_pthread_create(thread, about, task, argument);
}

static void fewer_threads_do_when_no_more_can_be_had(void **state)
{
    (void)state;
    refusing = true;
    const int before = count_threads();
    check_tally(MOST_THREADS, 1000, 1, 100);
    assert_int_equal(count_threads(), before);
    refusing = false;
}

/* ThreadSanitizer knows no threads after a fork. */
#if !defined(__SANITIZE_THREAD__) && !defined(THREAD_SANITIZER)
static void the_child_of_a_fork_has_threads_of_its_own(void **state)
{
    (void)state;
    check_tally(4, 64, 1, 1000);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const firn_workers workers = {.count = 4};
        refusing = true;
        const verdict alone = run_tally(&workers, 64, 1, 1000);
        refusing = false;
        bool good = is_good(&alone) && alone.most == 1;
        int most = 1;
        for (int round = 0; round < 200 && most < 2 && firn_parallel_max_threads() > 1; round++) {
            const verdict v = run_tally(&workers, 64, 1, 100000);
            good = good && is_good(&v);
            most = v.most;
        }
        _exit(good && (most > 1 || firn_parallel_max_threads() == 1) ? 0 : 1);
    }
    int code = -1;
    assert_int_equal(waitpid(child, &code, 0), child);
    assert_int_equal(code, 0);
    check_tally(4, 64, 1, 1000);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_index_is_visited_exactly_once),
        cmocka_unit_test(long_tasks_overlap_and_never_share_a_thread_number),
        cmocka_unit_test(one_call_sees_all_that_the_one_before_wrote),
        cmocka_unit_test(callers_at_once_do_not_disturb_each_other),
        cmocka_unit_test(calls_one_after_another_share_their_threads),
        cmocka_unit_test(a_call_within_a_task_runs_on_its_thread),
        cmocka_unit_test(a_host_runs_the_loops_as_it_likes),
        cmocka_unit_test(fewer_threads_do_when_no_more_can_be_had),
#if !defined(__SANITIZE_THREAD__) && !defined(THREAD_SANITIZER)
        cmocka_unit_test(the_child_of_a_fork_has_threads_of_its_own),
#endif
#if defined(__SSE2__) || defined(__aarch64__)
        cmocka_unit_test(denormals_are_flushed_inside_and_only_there),
#endif
    };
    return cmocka_run_group_tests_name("parallel", tests, NULL, NULL);
}
