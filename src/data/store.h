/* The particle store: arrays from the field list, and the list order that passes follow.
 *
 * A particle's record position is relative to its block, in cells, in [0, 4), so precision does not
 * fade with distance from the origin; the block follows from the bins. Records stay where they are
 * while stepping and are reached through `order`; every so often they are reordered to match it.
 *
 * The spare buffer is as large as the records. Between calls it holds, packed in front, the
 * particles' velocity gradients; within a fused advance, where those are not needed, the
 * snapshot. */
#ifndef FIRN_STORE_H
#define FIRN_STORE_H

#include "base/memory.h"
#include "data/blocks.h"
#include "data/field.h"

/* Record indices in id order: made when a reader asks, and good as long as the sim's generation is
 * the same. It is pointed to, so that readers of a const sim can fill it. */
typedef struct firn_id_order {
    uint64_t generation; /* 0: never made */
    uint32_t index[];
} firn_id_order;

typedef struct firn_store {
    int32_t dim;
    int64_t count, capacity;
    uint64_t next_id;
    real *record; /* capacity x FIRN_RECORD */
    real *spare;  /* capacity x FIRN_RECORD */
    bool has_heat;
    real *heat; /* capacity x FIRN_HEAT_RECORD; NULL where there is no heat */
#define DECLARE(type, name, ...) type *name;
    FIRN_SIDE_FIELDS(DECLARE)
#undef DECLARE
    uint32_t *order[2];
    int32_t current; /* which order list the bins index */
    firn_id_order *by_id;
    firn_pool record_pool[2], order_pool[2], heat_pool, by_id_pool;
#define DECLARE(type, name, ...) firn_pool name##_pool;
    FIRN_SIDE_FIELDS(DECLARE)
#undef DECLARE
} firn_store;

/* Offsets of the record fields, in reals. */
static inline int32_t firn_offset_F(int32_t dim) { return dim; }
static inline int32_t firn_offset_velocity(int32_t dim) { return dim + dim * dim; }
static inline int32_t firn_offset_state(int32_t dim) { return 2 * dim + dim * dim; }

/* The velocity gradient of particle i, between calls. */
static inline real *firn_store_gradient(const firn_store *s, int64_t i)
{
    return s->spare + i * s->dim * s->dim;
}

/* Lists hold 32-bit indices; where sizes have 32 bits, too, no array's size may pass them. */
#if SIZE_MAX > UINT32_MAX
#define FIRN_STORE_MOST ((int64_t)UINT32_MAX - 64)
#else
#define FIRN_STORE_MOST ((int64_t)1 << 24)
#endif

/* Room for `capacity` particles, at most FIRN_STORE_MOST; failure changes nothing that can be
 * seen. */
firn_status firn_store_reserve(firn_store *s, int64_t capacity, const firn_allocator *allocator,
                               firn_error *error);

/* All particles in list order, with the coordinates and the layer of their blocks:
 *   firn_walk w = firn_store_walk(s, d);
 *   while (firn_walk_next(&w)) ... w.particle, w.coord ... */
typedef struct firn_walk {
    const firn_directory *d;
    const uint32_t *order;
    int32_t block, cell; /* the cell after the one under way */
    uint32_t at, end;    /* in that cell, of order */
    int32_t coord[3];
    int32_t layer;
    uint32_t particle; /* record index */
} firn_walk;
firn_walk firn_store_walk(const firn_store *s, const firn_directory *d);
bool firn_walk_next(firn_walk *w);

/* The block key of every particle, by record index. */
void firn_store_keys(const firn_store *s, const firn_directory *d, uint64_t *key);

/* Bins particles afresh: those of `list` (record indices, in the order to keep within a cell) whose
 * key is not FIRN_NO_KEY. Makes `d` a directory with bins, writes the list they index to
 * `order`. */
#define FIRN_NO_KEY UINT64_MAX
firn_status firn_store_bin(const firn_store *s, firn_directory *d, const uint32_t *list,
                           int64_t count, const uint64_t *key, uint32_t *order,
                           uint64_t *key_scratch, const firn_allocator *allocator,
                           firn_error *error);

/* Keys, and twice as many for scratch, fit behind the velocity gradients in the spare buffer. */
uint64_t *firn_store_key_scratch(const firn_store *s, int64_t count);

/* Drops the records whose key is FIRN_NO_KEY, in place, and renumbers `order`. Destroys `key`. */
void firn_store_compact(firn_store *s, uint64_t *key, uint32_t *order, int64_t survivors);

/* Moves every particle to its place in the current order list, which becomes 0, 1, 2, ...; loses
 * the velocity gradients, leaves a copy of the records in the spare buffer. */
void firn_store_reorder(firn_store *s, const firn_workers *workers);

/* Puts the copy left by firn_store_reorder back. */
void firn_store_restore(firn_store *s, const firn_workers *workers);

void firn_store_free(firn_store *s, const firn_allocator *allocator);

#endif
