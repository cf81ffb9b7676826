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
 * the system has taken one of them off its core: the crew is crowded.
 *
 * A crowded crew also says where its helpers run. Left alone, Linux wakes a helper on the core of
 * its caller, so that the two share one core and the other program has another to itself (0.8 of it,
 * measured on two cores): helpers of a crowded crew stay off the caller's core. A helper that lost
 * its core with a chunk in hand would hold up the job for a time slice, while the caller's core is
 * idle: it is moved there. `firn bench busy` measures both. */
#define _GNU_SOURCE /* RUSAGE_THREAD, CPU_COUNT, sched_getcpu, syscall */
#include "base/parallel.h"

#include <stdatomic.h>
#include <stdbool.h>
#if defined(FIRN_PARALLEL_PTHREAD)
#include <errno.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if defined(__EMSCRIPTEN__)
#include <emscripten/threading.h>
#include <math.h>
#else
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif
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

/* Bytes of a helper's stack. The largest kernels have frames of 26 KB, 3D ASFLIP with 8 lanes; wider
 * lanes and sanitizers need some times that. */
#define STACK ((size_t)1 << 20)

/* Nanoseconds. */
#define SPIN 200000      /* of spinning: several times what waking a thread takes */
#define CROWDED 30000000 /* without spinning, after a thread lost its core: a few time slices */
#define LOST 1000000     /* off its core counts as lost: a time slice is several times that */
#define ASK 1000000      /* between questions to the system */
#define GRACE 100000     /* for a chunk to end, before its helper counts as one without a core */

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

/* How long the thread has slept since was_preempted looked, ns. */
static _Thread_local int64_t slept;

#if defined(__EMSCRIPTEN__)

/* A browser tells nothing of cores, and moves threads as it likes. */
static bool was_preempted(int64_t now)
{
    (void)now;
    return false;
}

/* False after `most` ns, where that is not 0. */
static bool wait_for_change(_Atomic uint32_t *number, uint32_t old, int64_t most)
{
    return emscripten_futex_wait((volatile void *)number, old,
                                 most ? 1e-6 * (double)most : (double)INFINITY) != -ETIMEDOUT;
}

static void wake(_Atomic uint32_t *number, int most)
{
    (void)emscripten_futex_wake((volatile void *)number, most);
}

#else

/* What was_preempted saw last. */
static _Thread_local int64_t asked, worked;
static _Thread_local long switches;

/* Whether another program has had this thread's core since it last asked. Kernel threads take it,
 * too, some ten times a second, but for less than LOST. */
static bool was_preempted(int64_t now)
{
    if (now - asked < ASK) return false;
    struct rusage used;
    getrusage(RUSAGE_THREAD, &used);
    const int64_t work = 1000000000 * (int64_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                         1000 * (int64_t)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
    /* After a longer time it may have slept elsewhere, for a disk or its host. */
    const bool lost = now - asked < 100 * ASK && used.ru_nivcsw != switches &&
                      (now - asked) - (work - worked) - slept > LOST;
    asked = now;
    worked = work;
    slept = 0;
    switches = used.ru_nivcsw;
    return lost;
}

/* False after `most` ns, where that is not 0. */
static bool wait_for_change(_Atomic uint32_t *number, uint32_t old, int64_t most)
{
    const struct timespec limit = {.tv_nsec = most};
    return syscall(SYS_futex, number, FUTEX_WAIT_PRIVATE, old, most ? &limit : NULL, NULL, 0) ==
               0 ||
           errno != ETIMEDOUT;
}

static void wake(_Atomic uint32_t *number, int most)
{
    syscall(SYS_futex, number, FUTEX_WAKE_PRIVATE, most, NULL, NULL, 0);
}

#endif

/* Sleeps until the bell's number is no longer `old`, or up to `most` ns where that is not 0. */
static void sleep_on(bell *b, uint32_t old, int64_t most)
{
    const int64_t begin = now_ns();
    atomic_fetch_add(&b->sleepers, 1);
    while (atomic_load(&b->number) == old) {
        if (!wait_for_change(&b->number, old, most)) break;
    }
    atomic_fetch_sub(&b->sleepers, 1);
    slept += now_ns() - begin;
}

/* Whether the crew is crowded, whose `until` (ns) it is: then there is no spinning. */
static bool is_crowded(_Atomic int64_t *until, int64_t now)
{
    if (was_preempted(now)) atomic_store_explicit(until, now + CROWDED, memory_order_relaxed);
    return now < atomic_load_explicit(until, memory_order_relaxed);
}

/* Whether the bell's number changed within a short time. */
static bool spin_on(bell *b, uint32_t old, int64_t begin)
{
    do {
        for (int i = 0; i < 16; i++) {
            if (atomic_load_explicit(&b->number, memory_order_acquire) != old) return true;
            pause_briefly();
        }
    } while (now_ns() - begin < SPIN);
    return false;
}

/* Wakes up to `most` sleepers, after the number has changed. A thread that is about to sleep has
 * counted itself before it looks at the number again, so one of the two sees the other. */
static void ring(bell *b, int most)
{
    if (atomic_load(&b->sleepers) > 0) wake(&b->number, most);
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

/* Takes chunks until none are left; `holds`, where given, is true while there is one in hand. */
static void job_work(job *j, int32_t thread, atomic_bool *holds)
{
    const float_mode old = flush_denormals();
    inside = true;
    for (uint32_t number; (number = job_take(j, thread)) > 0;) {
        if (holds) atomic_store_explicit(holds, true, memory_order_relaxed);
        const int64_t begin = (int64_t)(j->chunks - number) * j->grain;
        const int64_t end = begin + j->grain < j->count ? begin + j->grain : j->count;
        for (int64_t i = begin; i < end; i++) j->task(j->context, i, thread);
        if (holds) atomic_store_explicit(holds, false, memory_order_relaxed);
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

typedef struct helper {
    struct crew *crew;
    struct helper *next;
    pthread_t thread;
    int32_t number; /* from 1 on */
    atomic_bool holds;
} helper;

typedef struct crew {
    alignas(64) job job;
    alignas(64) bell calls; /* changes with every job */
    _Atomic int64_t crowded_until;
    atomic_bool ends;
    /* The rest is the borrower's. */
    struct crew *next;
    helper *helpers; /* a list */
    int32_t count;
    int kept_free; /* the core that helpers stay off, or: */
} crew;
enum { NO_CORE = -1, UNKNOWN = -2 }; /* they run anywhere; some may be on any */

static crew *idle;                                       /* a list */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of it */

static void *help(void *argument)
{
    helper *h = argument;
    crew *c = h->crew;
    for (;;) {
        const uint32_t call = atomic_load(&c->calls.number); /* before looking for work */
        if (atomic_load(&c->ends)) return NULL;
        job_work(&c->job, h->number, &h->holds);
        if (atomic_load(&c->calls.number) != call) continue;
        const int64_t now = now_ns();
        if (is_crowded(&c->crowded_until, now) || !spin_on(&c->calls, call, now)) {
            sleep_on(&c->calls, call, 0);
        }
    }
}

static void crew_call(crew *c, int most)
{
    atomic_fetch_add(&c->calls.number, 1);
    ring(&c->calls, most);
}

#if defined(__EMSCRIPTEN__)

/* Taken from the pool that the module starts with: a thread beyond it would begin only when its creator
 * returns to the browser. Its stack is the module's choice. */
static bool start(helper *h) { return pthread_create(&h->thread, NULL, help, h) == 0; }

static void crew_spread(crew *c) { (void)c; }
static void crew_gather(crew *c) { (void)c; }
static int32_t count_cores(void) { return emscripten_num_logical_cores(); }

#else

static bool start(helper *h)
{
    /* Faults stay with the thread that has them. */
    sigset_t others, before;
    sigfillset(&others);
    sigdelset(&others, SIGSEGV);
    sigdelset(&others, SIGBUS);
    sigdelset(&others, SIGFPE);
    sigdelset(&others, SIGILL);
    pthread_sigmask(SIG_BLOCK, &others, &before);
    /* The usual stack of 8 MB is address space that may be limited, as by ulimit -v. */
    pthread_attr_t about;
    bool done = pthread_attr_init(&about) == 0;
    if (done) {
        done = pthread_attr_setstacksize(&about, STACK) == 0 &&
               pthread_create(&h->thread, &about, help, h) == 0;
        pthread_attr_destroy(&about);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return done;
}

/* Lets helpers run where the caller may, but for its own core while the crew is crowded. */
static void crew_spread(crew *c)
{
    const int core = is_crowded(&c->crowded_until, now_ns()) ? sched_getcpu() : NO_CORE;
    cpu_set_t cores;
    if (core == c->kept_free || sched_getaffinity(0, sizeof cores, &cores) != 0) return;
    c->kept_free = core;
    if (core >= 0 && CPU_COUNT(&cores) > 1) CPU_CLR(core, &cores);
    for (const helper *h = c->helpers; h; h = h->next) {
        pthread_setaffinity_np(h->thread, sizeof cores, &cores);
    }
}

/* Moves helpers that hold a chunk to the caller's core, which is about to be idle. */
static void crew_gather(crew *c)
{
    cpu_set_t here;
    CPU_ZERO(&here);
    CPU_SET(sched_getcpu(), &here);
    for (const helper *h = c->helpers; h; h = h->next) {
        if (!atomic_load_explicit(&h->holds, memory_order_relaxed)) continue;
        pthread_setaffinity_np(h->thread, sizeof here, &here);
        c->kept_free = UNKNOWN;
    }
}

static int32_t count_cores(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
    return (int32_t)sysconf(_SC_NPROCESSORS_ONLN);
}

#endif

/* One more helper, if the system has one to give. */
static bool crew_grow(crew *c)
{
    helper *h = malloc(sizeof *h);
    if (!h) return false;
    *h = (helper){.crew = c, .next = c->helpers, .number = c->count + 1};
    if (!start(h)) {
        free(h);
        return false;
    }
    c->helpers = h;
    c->count++;
    c->kept_free = UNKNOWN;
    return true;
}

/* Until all chunks are done. */
static void crew_finish(crew *c)
{
    bell *b = &c->job.unfinished;
    int64_t patience = GRACE;
    for (uint32_t left; (left = atomic_load(&b->number)) > 0;) {
        const int64_t now = now_ns();
        if (!is_crowded(&c->crowded_until, now)) {
            if (!spin_on(b, left, now)) sleep_on(b, left, 0);
            continue;
        }
        sleep_on(b, left, patience);
        if (patience && atomic_load(&b->number) == left) {
            crew_gather(c);
            patience = 0;
        }
    }
}

static void crew_forget(crew *c)
{
    while (c->helpers) {
        helper *next = c->helpers->next;
        free(c->helpers);
        c->helpers = next;
    }
    c->count = 0;
}

static void before_fork(void) { pthread_mutex_lock(&lock); }
static void after_fork(void) { pthread_mutex_unlock(&lock); }

/* The child has one thread: its crews are empty. */
static void after_fork_in_child(void)
{
    for (crew *c = idle; c; c = c->next) {
        crew_forget(c);
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
        c->kept_free = NO_CORE;
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
        for (const helper *h = c->helpers; h; h = h->next) pthread_join(h->thread, NULL);
        crew_forget(c);
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
    crew_spread(c);
    job_open(&c->job, task, context, count, grain, threads);
    /* Any sleeper may wake: in a crew with more helpers than this job allows, wake all. */
    const uint32_t wanted = c->job.chunks - 1;
    crew_call(c, c->count < threads && wanted < (uint32_t)c->count ? (int)wanted : INT32_MAX);
    job_work(&c->job, 0, NULL);
    crew_finish(c);
    crew_return(c);
}

int32_t firn_parallel_max_threads(void) { return count_cores(); }

#else

static void run(int32_t threads, int64_t count, int64_t grain, firn_task *task, void *context)
{
    (void)threads, (void)grain;
    work_alone(count, task, context);
}

int32_t firn_parallel_max_threads(void) { return 1; }

#endif

/* ---- the seam ---- */

static void work_for_host(void *task_data, int32_t worker) { job_work(task_data, worker, NULL); }

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
