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

/* Bytes that the process can have: the machine's memory, or its limit of addresses if that is less. */
FIRN_API double firn_memory_most(void);

/* Fails if so many bytes are more than that, which asking for them may not: systems hand out memory
 * they do not have, and end the process when it is used. `what` begins the message. */
FIRN_API FIRN_MUST_CHECK firn_status firn_memory_check(double bytes, const char *what,
                                                       firn_error *error);

#endif
