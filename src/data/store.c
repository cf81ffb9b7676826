/* The arrays of the particle store, grown from the field list, and the three ways to change their
 * order: binning, compacting after removal, reordering into list order. */
#include "data/store.h"

#include <assert.h>
#include <string.h>

#include "base/error.h"
#include "base/parallel.h"

/* Passes read whole vectors: arrays end with a little unused memory. */
enum { PADDING = 64, CHUNK = 1 << 14 };

firn_status firn_store_reserve(firn_store *s, int64_t capacity, const firn_allocator *allocator,
                               firn_error *error)
{
    if (capacity <= s->capacity) return FIRN_OK;
    assert(capacity <= FIRN_STORE_MOST);
    size_t n = (size_t)capacity + PADDING;
    firn_status st = FIRN_OK;
#define RESERVE(pool, size)                                                                        \
    if (st == FIRN_OK) st = firn_pool_reserve(allocator, &s->pool, size, error)
    RESERVE(record_pool[0], n * FIRN_RECORD * sizeof(real));
    RESERVE(record_pool[1], n * FIRN_RECORD * sizeof(real));
    RESERVE(order_pool[0], n * sizeof(uint32_t));
    RESERVE(order_pool[1], n * sizeof(uint32_t));
    RESERVE(by_id_pool, sizeof(firn_id_order) + n * sizeof(uint32_t));
    if (s->has_heat) {
        RESERVE(heat_pool, n * FIRN_HEAT_RECORD * sizeof(real));
    }
#define SIDE(type, name, ...) RESERVE(name##_pool, n * sizeof(type));
    FIRN_SIDE_FIELDS(SIDE)
#undef SIDE
#undef RESERVE
    /* Pools that did grow have moved, so the pointers follow whatever happened. */
    s->record = s->record_pool[0].data;
    s->spare = s->record_pool[1].data;
    s->heat = s->heat_pool.data;
    s->by_id = s->by_id_pool.data;
    if (s->by_id) s->by_id->generation = 0;
    for (int i = 0; i < 2; i++) s->order[i] = s->order_pool[i].data;
#define SIDE(type, name, ...) s->name = s->name##_pool.data;
    FIRN_SIDE_FIELDS(SIDE)
#undef SIDE
    if (st == FIRN_OK) s->capacity = capacity;
    return st;
}

firn_walk firn_store_walk(const firn_store *s, const firn_directory *d)
{
    return (firn_walk){.d = d, .order = s->order[s->current]};
}

bool firn_walk_next(firn_walk *w)
{
    const int32_t cells = firn_pow(FIRN_SHIFTED, w->d->dim);
    while (w->at == w->end) {
        while (w->block < w->d->count && (w->cell == cells || !w->d->bin[w->block].count)) {
            w->block++;
            w->cell = 0;
        }
        if (w->block == w->d->count) return false;
        const firn_bin *bin = &w->d->bin[w->block];
        const int32_t cell = w->cell++;
        if (bin->cell[cell] == bin->cell[cell + 1]) continue;
        w->at = bin->start + bin->cell[cell];
        w->end = bin->start + bin->cell[cell + 1];
        w->layer = firn_directory_layer(w->d, w->block);
        firn_bin_cell_block(w->d, w->block, cell, w->coord);
    }
    w->particle = w->order[w->at++];
    return true;
}

void firn_store_keys(const firn_store *s, const firn_directory *d, uint64_t *key)
{
    firn_walk w = firn_store_walk(s, d);
    while (firn_walk_next(&w)) key[w.particle] = firn_block_key(d, w.layer, w.coord);
}

/* The shifted cell, in its own block, of a record. */
static int own_cell(const firn_store *s, uint32_t i)
{
    int cell = 0;
    for (int a = 0; a < s->dim; a++) {
        cell = cell * FIRN_SHIFTED + (int)(s->record[(size_t)i * FIRN_RECORD + (size_t)a] + 1);
    }
    return cell;
}

firn_status firn_store_bin(const firn_store *s, firn_directory *d, const uint32_t *list,
                           int64_t count, const uint64_t *key, uint32_t *order,
                           uint64_t *key_scratch, const firn_allocator *allocator,
                           firn_error *error)
{
    /* The distinct keys: runs first, since neighbours in a list mostly share a block, then
     * sorted. */
    uint64_t last = FIRN_NO_KEY;
    int64_t runs = 0;
    for (int64_t i = 0; i < count; i++) {
        uint64_t k = key[list[i]];
        if (k != FIRN_NO_KEY && k != last) key_scratch[runs++] = last = k;
    }
    if (runs > FIRN_MOST_BLOCKS) {
        return firn_fail(error, FIRN_NO_MEMORY, "more than %d grid blocks; use larger cells",
                         FIRN_MOST_BLOCKS);
    }
    firn_sort_keys(key_scratch, key_scratch + runs, (int32_t)runs);
    int32_t blocks = 0;
    for (int64_t i = 0; i < runs; i++) {
        if (!blocks || key_scratch[blocks - 1] != key_scratch[i])
            key_scratch[blocks++] = key_scratch[i];
    }
    firn_status st = firn_directory_init(d, s->dim, key_scratch, blocks, allocator, error);
    if (st != FIRN_OK) return st;

    /* Counting sort by block, then cell. */
    const int cells = firn_pow(FIRN_SHIFTED, s->dim);
    for (int64_t i = 0; i < count; i++) {
        if (key[list[i]] == FIRN_NO_KEY) continue;
        firn_bin *bin = &d->bin[firn_directory_find(d, key[list[i]])];
        bin->cell[own_cell(s, list[i])]++;
        bin->count++;
    }
    uint32_t start = 0;
    for (int32_t b = 0; b < blocks; b++) {
        firn_bin *bin = &d->bin[b];
        bin->start = start;
        start += bin->count;
        uint32_t offset = 0;
        for (int c = 0; c <= cells; c++) {
            uint32_t n = bin->cell[c];
            bin->cell[c] = offset;
            offset += c < cells ? n : 0;
        }
    }
    for (int64_t i = 0; i < count; i++) {
        if (key[list[i]] == FIRN_NO_KEY) continue;
        firn_bin *bin = &d->bin[firn_directory_find(d, key[list[i]])];
        order[bin->start + bin->cell[own_cell(s, list[i])]++] = list[i];
    }
    for (int32_t b = 0; b < blocks; b++) { /* offsets have moved one cell on: move them back */
        firn_bin *bin = &d->bin[b];
        memmove(bin->cell + 1, bin->cell, (size_t)cells * sizeof *bin->cell);
        bin->cell[0] = 0;
        firn_directory_count_leaving(d, b);
    }
    return FIRN_OK;
}

uint64_t *firn_store_key_scratch(const firn_store *s, int64_t count)
{
    size_t used = (size_t)count * (size_t)(s->dim * s->dim) * sizeof(real);
    return (uint64_t *)((char *)s->spare + (used + FIRN_ALIGN - 1) / FIRN_ALIGN * FIRN_ALIGN);
}

void firn_store_compact(firn_store *s, uint64_t *key, uint32_t *order, int64_t survivors)
{
    const size_t gradient = (size_t)(s->dim * s->dim);
    int64_t to = 0;
    for (int64_t i = 0; i < s->count; i++) {
        if (key[i] == FIRN_NO_KEY) continue;
        key[i] = (uint64_t)to;
        if (to != i) {
            memcpy(s->record + to * FIRN_RECORD, s->record + i * FIRN_RECORD,
                   FIRN_RECORD * sizeof(real));
            memmove(firn_store_gradient(s, to), firn_store_gradient(s, i), gradient * sizeof(real));
#define SIDE(type, name, ...) s->name[to] = s->name[i];
            FIRN_SIDE_FIELDS(SIDE)
#undef SIDE
            if (s->heat)
                memcpy(s->heat + to * FIRN_HEAT_RECORD, s->heat + i * FIRN_HEAT_RECORD,
                       FIRN_HEAT_RECORD * sizeof(real));
        }
        to++;
    }
    assert(to == survivors);
    for (int64_t i = 0; i < survivors; i++) order[i] = (uint32_t)key[order[i]];
    s->count = survivors;
}

/* ---- reordering, in chunks of particles ---- */

typedef struct copy_job {
    firn_store *s;
    void *to;
    const void *from;
    size_t size; /* of an element */
} copy_job;

static int64_t chunk_end(const firn_store *s, int64_t chunk)
{
    int64_t end = (chunk + 1) * CHUNK;
    return end < s->count ? end : s->count;
}

static void gather_chunk(void *context, int64_t chunk, int32_t thread)
{
    (void)thread;
    const copy_job *job = context;
    const uint32_t *order = job->s->order[job->s->current];
    char *to = job->to;
    const char *from = job->from;
    int64_t end = chunk_end(job->s, chunk);
    switch (job->size) { /* constant sizes, so that memcpy is a move */
#define CASE(bytes)                                                                                \
    case bytes:                                                                                    \
        for (int64_t i = chunk * CHUNK; i < end; i++) {                                            \
            memcpy(to + i * (bytes), from + (size_t)order[i] * (bytes), bytes);                    \
        }                                                                                          \
        break
        CASE(2);
        CASE(4);
        CASE(8);
        CASE(32);
        CASE(64);
        CASE(128);
    default: assert(0);
    }
}

static void copy_chunk(void *context, int64_t chunk, int32_t thread)
{
    (void)thread;
    const copy_job *job = context;
    size_t begin = (size_t)chunk * CHUNK * job->size;
    memcpy((char *)job->to + begin, (const char *)job->from + begin,
           (size_t)(chunk_end(job->s, chunk) - chunk * CHUNK) * job->size);
}

static void number_chunk(void *context, int64_t chunk, int32_t thread)
{
    (void)thread;
    const copy_job *job = context;
    uint32_t *order = job->to;
    int64_t end = chunk_end(job->s, chunk);
    for (int64_t i = chunk * CHUNK; i < end; i++) order[i] = (uint32_t)i;
}

static void in_chunks(firn_store *s, const firn_workers *workers, firn_task *task, void *to,
                      const void *from, size_t size)
{
    copy_job job = {s, to, from, size};
    firn_workers_run(workers, (s->count + CHUNK - 1) / CHUNK, 1, task, &job);
}

void firn_store_reorder(firn_store *s, const firn_workers *workers)
{
    const size_t record = FIRN_RECORD * sizeof(real), heat = FIRN_HEAT_RECORD * sizeof(real);
#define SIDE(type, name, ...)                                                                      \
    in_chunks(s, workers, gather_chunk, s->spare, s->name, sizeof(type));                          \
    in_chunks(s, workers, copy_chunk, s->name, s->spare, sizeof(type));
    FIRN_SIDE_FIELDS(SIDE)
#undef SIDE
    if (s->heat) {
        in_chunks(s, workers, gather_chunk, s->spare, s->heat, heat);
        in_chunks(s, workers, copy_chunk, s->heat, s->spare, heat);
    }
    in_chunks(s, workers, gather_chunk, s->spare, s->record, record);
    in_chunks(s, workers, copy_chunk, s->record, s->spare, record);
    in_chunks(s, workers, number_chunk, s->order[s->current], NULL, sizeof(uint32_t));
}

void firn_store_restore(firn_store *s, const firn_workers *workers)
{
    in_chunks(s, workers, copy_chunk, s->record, s->spare, FIRN_RECORD * sizeof(real));
    s->current = 0;
    in_chunks(s, workers, number_chunk, s->order[0], NULL, sizeof(uint32_t));
}

void firn_store_free(firn_store *s, const firn_allocator *allocator)
{
    for (int i = 0; i < 2; i++) {
        firn_pool_free(allocator, &s->record_pool[i]);
        firn_pool_free(allocator, &s->order_pool[i]);
    }
#define SIDE(type, name, ...) firn_pool_free(allocator, &s->name##_pool);
    FIRN_SIDE_FIELDS(SIDE)
#undef SIDE
    firn_pool_free(allocator, &s->heat_pool);
    firn_pool_free(allocator, &s->by_id_pool);
    *s = (firn_store){0};
}
