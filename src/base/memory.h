/* Memory through the caller's allocator. A pool is one aligned block that grows between phases. */
#ifndef FIRN_MEMORY_H
#define FIRN_MEMORY_H

#include <firn/base.h>

enum { FIRN_ALIGN = 64 }; /* a cache line, and the widest vector */

typedef struct firn_pool {
    void *data;
    size_t size; /* bytes */
} firn_pool;

/* Makes the pool at least `size` bytes, keeping what is in it. Failure leaves it as it was. */
firn_status firn_pool_reserve(const firn_allocator *allocator, firn_pool *pool, size_t size,
                              firn_error *error);

/* As reserve, with an eighth more when it has to grow: for things whose number wanders. */
firn_status firn_pool_reserve_slack(const firn_allocator *allocator, firn_pool *pool, size_t size,
                                    firn_error *error);

/* As reserve_slack for contents nobody needs any more: old and new never exist at the same time.
 * Failure leaves the pool empty. */
firn_status firn_pool_renew(const firn_allocator *allocator, firn_pool *pool, size_t size,
                            firn_error *error);

void firn_pool_free(const firn_allocator *allocator, firn_pool *pool);

#endif
