#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* aligned_alloc has no aligned realloc: growing copies. */
static void *default_reallocate(void *user_data, void *block, size_t old_size, size_t new_size,
                                size_t alignment)
{
    (void)user_data;
    void *grown = NULL;
    if (new_size > 0) {
        if (new_size > SIZE_MAX - alignment) return NULL;
        grown = aligned_alloc(alignment, (new_size + alignment - 1) / alignment * alignment);
        if (!grown) return NULL;
        if (block) memcpy(grown, block, old_size < new_size ? old_size : new_size);
    }
    free(block);
    return grown;
}

firn_allocator firn_allocator_or_default(firn_allocator hook)
{
    if (!hook.reallocate) hook.reallocate = default_reallocate;
    return hook;
}

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
