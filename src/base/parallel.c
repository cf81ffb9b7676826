#include "base/parallel.h"

#include <stdatomic.h>
#if defined(FIRN_PARALLEL_OPENMP)
#include <omp.h>
#elif defined(FIRN_PARALLEL_PTHREAD)
#include <pthread.h>
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

typedef struct job {
    firn_task *task;
    void *context;
    int64_t count, grain;
    atomic_int_least64_t next;
} job;

/* What each thread does: take the next few indices until none are left. */
static void work(job *j, int32_t thread)
{
    float_mode old = flush_denormals();
    for (;;) {
        int64_t begin = atomic_fetch_add_explicit(&j->next, j->grain, memory_order_relaxed);
        if (begin >= j->count) break;
        int64_t end = begin + j->grain < j->count ? begin + j->grain : j->count;
        for (int64_t i = begin; i < end; i++) j->task(j->context, i, thread);
    }
    restore_denormals(old);
}

#if defined(FIRN_PARALLEL_OPENMP)

static void run(job *j, int32_t threads)
{
#pragma omp parallel num_threads(threads)
    work(j, omp_get_thread_num());
}

int32_t firn_parallel_max_threads(void) { return omp_get_num_procs(); }

#elif defined(FIRN_PARALLEL_PTHREAD)

/* For ThreadSanitizer, which reports false races with libgomp: plain, and slow to start. */
typedef struct worker {
    pthread_t handle;
    job *j;
    int32_t thread;
} worker;

static void *enter(void *argument)
{
    worker *w = argument;
    work(w->j, w->thread);
    return NULL;
}

static void run(job *j, int32_t threads)
{
    enum { MOST = 64 };
    worker w[MOST];
    int32_t started = 1;
    for (; started < threads && started < MOST; started++) {
        w[started] = (worker){.j = j, .thread = started};
        if (pthread_create(&w[started].handle, NULL, enter, &w[started]) != 0) break;
    }
    work(j, 0);
    for (int32_t t = 1; t < started; t++) pthread_join(w[t].handle, NULL);
}

int32_t firn_parallel_max_threads(void) { return (int32_t)sysconf(_SC_NPROCESSORS_ONLN); }

#else

static void run(job *j, int32_t threads)
{
    (void)threads;
    work(j, 0);
}

int32_t firn_parallel_max_threads(void) { return 1; }

#endif

void firn_parallel_for(int32_t threads, int64_t count, int64_t grain, firn_task *task,
                       void *context)
{
    job j = {.task = task, .context = context, .count = count, .grain = grain};
    if (threads > 1 && count > grain) {
        run(&j, threads);
    } else {
        work(&j, 0);
    }
}
