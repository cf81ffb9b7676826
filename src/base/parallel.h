/* The one seam to threads: run a function over a range of indices. */
#ifndef FIRN_PARALLEL_H
#define FIRN_PARALLEL_H

#include <stdint.h>

/* `thread` is below the number given to firn_parallel_for and picks per-thread scratch; which
 * indices a thread gets is not determined, so results must depend on the index alone. */
typedef void firn_task(void *context, int64_t index, int32_t thread);

/* Calls task for every index in [0, count), `grain` neighbours at a time, on up to `threads`
 * threads, with denormals flushed to zero; returns when all are done. */
void firn_parallel_for(int32_t threads, int64_t count, int64_t grain, firn_task *task,
                       void *context);

/* How many processors this process may use; 1 in a build without threads. */
int32_t firn_parallel_max_threads(void);

#endif
