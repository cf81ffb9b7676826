/* Threads: a loop is a job of chunks of neighbouring indices, which the caller and its helpers take
 * one by one.
 *
 * Helpers belong to crews. A call borrows an idle crew while it runs, or starts one, so callers on
 * different threads never meet. Crews belong to the process, not to a sim: a host with a thousand
 * sims of which two run has the threads of two, and loops outside of a sim are served alike. Idle
 * helpers sleep. They end, joined, when the program exits or unloads the library; the child of a
 * fork() starts its own. Their memory comes from malloc, since no sim's allocator lives that long.
 * Signals for the process go to the host's threads. A call from within a task runs on that task's
 * thread alone.
 *
 * Other programs may take a core away at any time, so nothing depends on a helper that is late: a job
 * ends when every chunk is done, and only a helper that has taken a chunk is waited for. The ticket
 * says how many threads the job allows and how many chunks are left; whoever swaps it for one less
 * owns that chunk, and the rest of the job holds still until the chunk is done. A helper may
 * read the ticket of one job and swap it in the next: it then owns a chunk of the next.
 *
 * A waiting thread spins before it sleeps, because waking it takes longer than most gaps between
 * loops. When threads outnumber cores, spinning delays the very thread that is waited for, and uses
 * up time that the scheduler then refuses for work. So no thread of a crew spins for a while after
 * the system has taken one of them off its core. */
#define _GNU_SOURCE /* RUSAGE_THREAD, CPU_COUNT, syscall */
#include "base/parallel.h"

#include <stdatomic.h>
#include <stdbool.h>
#if defined(FIRN_PARALLEL_PTHREAD)
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#endif
#if defined(__SSE2__)
#include <immintrin.h>
#endif

/* Denormals cost a hundred cycles each where a body thins out, and mean nothing there. Set inside
 * the worker, since the mode belongs to the thread, and put back, since the thread is the
 * caller's. */
#if defined(__SSE2__)
typedef unsigned float_mode;
static float_mode flush_denormals(void)
{
    float_mode old = _mm_getcsr();
    _mm_setcsr(old | 0x8040u);
    return old;
}
static void restore_denormals(float_mode old) { _mm_setcsr(old); }
#elif defined(__aarch64__)
typedef uint64_t float_mode;
static float_mode flush_denormals(void)
{
    float_mode old;
    __asm__ volatile("mrs %0, fpcr" : "=r"(old));
    __asm__ volatile("msr fpcr, %0" : : "r"(old | (1ull << 24)));
    return old;
}
static void restore_denormals(float_mode old) { __asm__ volatile("msr fpcr, %0" : : "r"(old)); }
#else
typedef int float_mode;
static float_mode flush_denormals(void) { return 0; }
static void restore_denormals(float_mode old) { (void)old; }
#endif

/* ---- waiting ---- */

/* A number that threads wait on, and how many sleep on it. */
typedef struct bell {
    _Atomic uint32_t number, sleepers;
} bell;

#if defined(FIRN_PARALLEL_PTHREAD)

/* Nanoseconds. */
#define SPIN 200000      /* of spinning: several times what waking a thread takes */
#define CROWDED 10000000 /* without spinning, after a thread lost its core: a few time slices */
#define ASK 1000000      /* between questions to the system */

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void pause_briefly(void)
{
#if defined(__SSE2__)
    _mm_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Whether the system has taken this thread off its core since it last told. */
static bool was_preempted(int64_t now)
{
    static _Thread_local int64_t told;
    static _Thread_local long before;
    if (now - told < ASK) return false;
    told = now;
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    const bool more = usage.ru_nivcsw != before;
    before = usage.ru_nivcsw;
    return more;
}

/* Returns when the bell's number is no longer `old`. `crowded_until` (ns) is the crew's. */
static void await(bell *b, uint32_t old, _Atomic int64_t *crowded_until)
{
    if (atomic_load(&b->number) != old) return;
    const int64_t begin = now_ns();
    if (was_preempted(begin)) {
        atomic_store_explicit(crowded_until, begin + CROWDED, memory_order_relaxed);
    }
    if (begin >= atomic_load_explicit(crowded_until, memory_order_relaxed)) {
        do {
            for (int i = 0; i < 16; i++) {
                if (atomic_load_explicit(&b->number, memory_order_acquire) != old) return;
                pause_briefly();
            }
        } while (now_ns() - begin < SPIN);
    }
    atomic_fetch_add(&b->sleepers, 1);
    while (atomic_load(&b->number) == old) {
        syscall(SYS_futex, &b->number, FUTEX_WAIT_PRIVATE, old, NULL, NULL, 0);
    }
    atomic_fetch_sub(&b->sleepers, 1);
}

/* Wakes up to `most` sleepers, after the number has changed. A thread that is about to sleep has
 * counted itself before it looks at the number again, so one of the two sees the other. */
static void ring(bell *b, int most)
{
    if (atomic_load(&b->sleepers) > 0) {
        syscall(SYS_futex, &b->number, FUTEX_WAKE_PRIVATE, most, NULL, NULL, 0);
    }
}

#else

static void ring(bell *b, int most) { (void)b, (void)most; }

#endif

/* ---- a job ---- */

typedef struct job {
    firn_task *task;
    void *context;
    int64_t count, grain;
    uint32_t chunks;
    _Atomic uint64_t ticket; /* threads allowed << 32 | chunks not taken */
    bell unfinished;         /* chunks */
} job;

/* Opened by the last store. */
static void job_open(job *j, firn_task *task, void *context, int64_t count, int64_t grain,
                     int32_t threads)
{
    const int64_t least = count / INT32_MAX + 1; /* chunks are counted in 32 bits */
    j->task = task;
    j->context = context;
    j->count = count;
    j->grain = grain > least ? grain : least;
    j->chunks = (uint32_t)((count + j->grain - 1) / j->grain);
    atomic_store_explicit(&j->unfinished.number, j->chunks, memory_order_relaxed);
    atomic_store_explicit(&j->ticket, (uint64_t)threads << 32 | j->chunks, memory_order_release);
}

/* Takes a chunk and returns its number, counted down to 1; 0: none is left for this thread. */
static uint32_t job_take(job *j, int32_t thread)
{
    uint64_t t = atomic_load_explicit(&j->ticket, memory_order_relaxed);
    do {
        if ((uint32_t)t == 0 || (uint64_t)thread >= t >> 32) return 0;
    } while (!atomic_compare_exchange_weak_explicit(&j->ticket, &t, t - 1, memory_order_acquire,
                                                    memory_order_relaxed));
    return (uint32_t)t;
}

/* In a task that shares its job with other threads. */
static _Thread_local bool inside;

/* Takes chunks until none are left. */
static void job_work(job *j, int32_t thread)
{
    const float_mode old = flush_denormals();
    inside = true;
    for (uint32_t number; (number = job_take(j, thread)) > 0;) {
        const int64_t begin = (int64_t)(j->chunks - number) * j->grain;
        const int64_t end = begin + j->grain < j->count ? begin + j->grain : j->count;
        for (int64_t i = begin; i < end; i++) j->task(j->context, i, thread);
        if (atomic_fetch_sub(&j->unfinished.number, 1) == 1) ring(&j->unfinished, 1);
    }
    inside = false;
    restore_denormals(old);
}

static void work_alone(int64_t count, firn_task *task, void *context)
{
    const float_mode old = flush_denormals();
    for (int64_t i = 0; i < count; i++) task(context, i, 0);
    restore_denormals(old);
}

/* ---- crews ---- */

#if defined(FIRN_PARALLEL_PTHREAD)

typedef struct crew {
    alignas(64) job job;
    alignas(64) bell calls; /* changes with every job */
    _Atomic int64_t crowded_until;
    _Atomic int32_t arrived; /* helpers, which number themselves from 1 on */
    atomic_bool ends;
    /* The rest is the borrower's. */
    struct crew *next;
    pthread_t *helpers;
    int32_t count, room;
} crew;

static crew *idle;                                       /* a list */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of it */

static void *help(void *argument)
{
    crew *c = argument;
    const int32_t thread = atomic_fetch_add(&c->arrived, 1) + 1;
    for (;;) {
        const uint32_t call = atomic_load(&c->calls.number); /* before looking for work */
        if (atomic_load(&c->ends)) return NULL;
        job_work(&c->job, thread);
        await(&c->calls, call, &c->crowded_until);
    }
}

static void crew_call(crew *c, int most)
{
    atomic_fetch_add(&c->calls.number, 1);
    ring(&c->calls, most);
}

/* One more helper, if the system has one to give. */
static bool crew_grow(crew *c)
{
    if (c->count == c->room) {
        const int32_t room = c->room ? 2 * c->room : 8;
        pthread_t *helpers = realloc(c->helpers, (size_t)room * sizeof *helpers);
        if (!helpers) return false;
        c->helpers = helpers;
        c->room = room;
    }
    /* Faults stay with the thread that has them. */
    sigset_t others, before;
    sigfillset(&others);
    sigdelset(&others, SIGSEGV);
    sigdelset(&others, SIGBUS);
    sigdelset(&others, SIGFPE);
    sigdelset(&others, SIGILL);
    pthread_sigmask(SIG_BLOCK, &others, &before);
    const bool done = pthread_create(&c->helpers[c->count], NULL, help, c) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    c->count += done;
    return done;
}

static void before_fork(void) { pthread_mutex_lock(&lock); }
static void after_fork(void) { pthread_mutex_unlock(&lock); }

/* The child has one thread: its crews are empty. */
static void after_fork_in_child(void)
{
    for (crew *c = idle; c; c = c->next) {
        c->count = 0;
        atomic_store(&c->arrived, 0);
        atomic_store(&c->calls.sleepers, 0);
    }
    pthread_mutex_unlock(&lock);
}

static void watch_forks(void) { pthread_atfork(before_fork, after_fork, after_fork_in_child); }

/* An idle crew with `helpers` helpers, or fewer; NULL when there is no memory for one. */
static crew *crew_borrow(int32_t helpers)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    pthread_mutex_lock(&lock);
    crew *c = idle;
    if (c) idle = c->next;
    pthread_mutex_unlock(&lock);
    if (!c) {
        c = aligned_alloc(alignof(crew), sizeof *c);
        if (!c) return NULL;
        memset(c, 0, sizeof *c);
    }
    while (c->count < helpers && crew_grow(c)) continue;
    return c;
}

static void crew_return(crew *c)
{
    pthread_mutex_lock(&lock);
    c->next = idle;
    idle = c;
    pthread_mutex_unlock(&lock);
}

/* At exit, or when the library is unloaded. A crew that another thread of a program that exits still
 * uses is left to the system. */
__attribute__((destructor)) static void dismiss_crews(void)
{
    pthread_mutex_lock(&lock);
    crew *c = idle;
    idle = NULL;
    pthread_mutex_unlock(&lock);
    while (c) {
        crew *next = c->next;
        atomic_store(&c->ends, true);
        crew_call(c, INT32_MAX);
        for (int32_t i = 0; i < c->count; i++) pthread_join(c->helpers[i], NULL);
        free(c->helpers);
        free(c);
        c = next;
    }
}

static void run(int32_t threads, int64_t count, int64_t grain, firn_task *task, void *context)
{
    crew *c = crew_borrow(threads - 1);
    if (!c) {
        work_alone(count, task, context);
        return;
    }
    job_open(&c->job, task, context, count, grain, threads);
    /* Any sleeper may wake: in a crew with more helpers than this job allows, wake all. */
    const uint32_t wanted = c->job.chunks - 1;
    crew_call(c, c->count < threads && wanted < (uint32_t)c->count ? (int)wanted : INT32_MAX);
    job_work(&c->job, 0);
    for (uint32_t left; (left = atomic_load(&c->job.unfinished.number)) > 0;) {
        await(&c->job.unfinished, left, &c->crowded_until);
    }
    crew_return(c);
}

int32_t firn_parallel_max_threads(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
    return (int32_t)sysconf(_SC_NPROCESSORS_ONLN);
}

#else

static void run(int32_t threads, int64_t count, int64_t grain, firn_task *task, void *context)
{
    (void)threads, (void)grain;
    work_alone(count, task, context);
}

int32_t firn_parallel_max_threads(void) { return 1; }

#endif

/* ---- the seam ---- */

static void work_for_host(void *task_data, int32_t worker) { job_work(task_data, worker); }

void firn_workers_run(const firn_workers *workers, int64_t count, int64_t grain, firn_task *task,
                      void *context)
{
    if (workers->count <= 1 || count <= grain || inside) {
        work_alone(count, task, context);
    } else if (workers->hook.run) {
        job j = {0};
        job_open(&j, task, context, count, grain, workers->count);
        workers->hook.run(workers->hook.user_data, work_for_host, &j,
                          j.chunks < (uint32_t)workers->count ? (int32_t)j.chunks : workers->count);
    } else {
        run(workers->count, count, grain, task, context);
    }
}

void firn_parallel_for(int32_t threads, int64_t count, int64_t grain, firn_task *task,
                       void *context)
{
    firn_workers_run(&(firn_workers){.count = threads}, count, grain, task, context);
}
