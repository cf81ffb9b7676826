/* The one seam to threads: run a function over a range of indices. */
#ifndef FIRN_PARALLEL_H
#define FIRN_PARALLEL_H

#include <stdint.h>

#include <firn/base.h>

/* `thread` is below the number of workers and picks per-thread scratch; which indices a thread gets
 * is not determined, so results must depend on the index alone. */
typedef void firn_task(void *context, int64_t index, int32_t thread);

/* How many threads may work, and on whose: the host's where it gave a hook. */
typedef struct firn_workers {
    int32_t count;
    firn_task_hook hook;
} firn_workers;

/* Calls task for every index in [0, count), `grain` neighbours at a time, on up to that many
 * threads, with denormals flushed to zero; returns when all are done. */
void firn_workers_run(const firn_workers *workers, int64_t count, int64_t grain, firn_task *task,
                      void *context);

/* The same on threads of our own. */
FIRN_API void firn_parallel_for(int32_t threads, int64_t count, int64_t grain, firn_task *task,
                                void *context);

/* How many processors this process may use; 1 in a build without threads. */
FIRN_API int32_t firn_parallel_max_threads(void);

#endif
