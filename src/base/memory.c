/* The default allocator, and pools that grow through the caller's allocator.
 *
 * Large blocks ask for large pages. firn_pool_reserve keeps the old memory when it
 * fails. */
#define _DEFAULT_SOURCE /* madvise */
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

#include "base/error.h"

/* Blocks of at least this size start on a 2 MiB page and ask for more such pages: particles are
 * walked in an order that touches many small pages (4 % of a step at 1 M particles). */
enum { LARGE = 16 << 20, LARGE_PAGE = 2 << 20 };

/* aligned_alloc has no aligned realloc: growing copies. */
static void *reallocate(void *user_data, void *block, size_t old_size, size_t new_size,
                        size_t alignment)
{
    (void)user_data;
    void *grown = NULL;
    if (new_size > 0) {
        if (new_size >= LARGE) alignment = LARGE_PAGE;
        if (new_size > SIZE_MAX - alignment) return NULL;
        grown = aligned_alloc(alignment, (new_size + alignment - 1) / alignment * alignment);
        if (!grown) return NULL;
#ifdef MADV_HUGEPAGE
        /* A wish: where it is not granted, nothing else changes. */
        if (new_size >= LARGE) (void)madvise(grown, new_size, MADV_HUGEPAGE);
#endif
        if (block) memcpy(grown, block, old_size < new_size ? old_size : new_size);
    }
    free(block);
    return grown;
}

firn_allocator firn_allocator_default(void) { return (firn_allocator){.reallocate = reallocate}; }

firn_status firn_pool_reserve(const firn_allocator *allocator, firn_pool *pool, size_t size,
                              firn_error *error)
{
    if (size <= pool->size) return FIRN_OK;
    void *grown =
        allocator->reallocate(allocator->user_data, pool->data, pool->size, size, FIRN_ALIGN);
    if (!grown) {
        return firn_fail(error, FIRN_NO_MEMORY,
                         "out of memory: %zu bytes asked for; use fewer particles or larger cells",
                         size);
    }
    pool->data = grown;
    pool->size = size;
    return FIRN_OK;
}

firn_status firn_pool_reserve_slack(const firn_allocator *allocator, firn_pool *pool, size_t size,
                                    firn_error *error)
{
    if (size <= pool->size) return FIRN_OK;
    return firn_pool_reserve(allocator, pool, size + size / 8, error);
}

firn_status firn_pool_renew(const firn_allocator *allocator, firn_pool *pool, size_t size,
                            firn_error *error)
{
    if (size <= pool->size) return FIRN_OK;
    firn_pool_free(allocator, pool);
    return firn_pool_reserve_slack(allocator, pool, size, error);
}

void firn_pool_free(const firn_allocator *allocator, firn_pool *pool)
{
    if (pool->data)
        allocator->reallocate(allocator->user_data, pool->data, pool->size, 0, FIRN_ALIGN);
    *pool = (firn_pool){0};
}

double firn_memory_most(void)
{
    const double machine = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    struct rlimit own;
    const double most = machine > 0 ? machine : INFINITY;
    if (getrlimit(RLIMIT_AS, &own) != 0 || own.rlim_cur == RLIM_INFINITY) return most;
    return fmin(most, (double)own.rlim_cur);
}

firn_status firn_memory_check(double bytes, const char *what, firn_error *error)
{
    const double most = firn_memory_most();
    if (bytes <= most) return FIRN_OK;
    return firn_fail(error, FIRN_NO_MEMORY, "%s would take %.3g GB of memory; there are %.3g GB",
                     what, 1e-9 * bytes, 1e-9 * most);
}
