/* Builds the directory of blocks from the bins of the pass before: Morton keys, a hash of keys,
 * radix sort, links between neighbours.
 *
 * Blocks are in key order whatever the number of threads. */
#include "data/blocks.h"

#include <assert.h>
#include <string.h>

#include "base/error.h"
#include "base/parallel.h"

/* ---- Morton keys ---- */

static uint64_t spread3(uint64_t x)
{
    x &= 0x1fffff;
    x = (x | x << 32) & 0x1f00000000ffffu;
    x = (x | x << 16) & 0x1f0000ff0000ffu;
    x = (x | x << 8) & 0x100f00f00f00f00fu;
    x = (x | x << 4) & 0x10c30c30c30c30c3u;
    return (x | x << 2) & 0x1249249249249249u;
}

static uint64_t spread2(uint64_t x)
{
    x &= 0x1fffff;
    x = (x | x << 16) & 0x0000ffff0000ffffu;
    x = (x | x << 8) & 0x00ff00ff00ff00ffu;
    x = (x | x << 4) & 0x0f0f0f0f0f0f0f0fu;
    x = (x | x << 2) & 0x3333333333333333u;
    return (x | x << 1) & 0x5555555555555555u;
}

/* Added to block numbers to make them positive. */
static int32_t bias(const firn_directory *d) { return 1 << (d->axis_bits - 1); }

static int32_t key_layer(const firn_directory *d, uint64_t key)
{
    return (int32_t)(key >> (d->dim * d->axis_bits));
}

/* One axis' bits in place: axis 0 is the most significant of each group. */
static uint64_t axis_bits(const firn_directory *d, int axis, int32_t coord)
{
    const uint64_t biased = (uint64_t)(coord + bias(d));
    return (d->dim == 3 ? spread3(biased) : spread2(biased)) << (d->dim - 1 - axis);
}

static uint64_t layer_bits(const firn_directory *d, int32_t layer)
{
    return (uint64_t)layer << (d->dim * d->axis_bits);
}

uint64_t firn_block_key(const firn_directory *d, int32_t layer, const int32_t coord[3])
{
    uint64_t key = layer_bits(d, layer);
    for (int a = 0; a < d->dim; a++) key |= axis_bits(d, a, coord[a]);
    return key;
}

int32_t firn_directory_layer(const firn_directory *d, int32_t block)
{
    return key_layer(d, d->key[block]);
}

void firn_corner_keys(const firn_directory *d, int32_t layer, const int32_t near[3],
                      const int32_t far[3], uint64_t *key)
{
    key[0] = layer_bits(d, layer);
    for (int a = 0, corners = 1; a < d->dim; a++, corners *= 2) {
        const uint64_t low = axis_bits(d, a, near[a]), high = axis_bits(d, a, far[a]);
        for (int n = corners - 1; n >= 0; n--) {
            key[2 * n + 1] = key[n] | high;
            key[2 * n] = key[n] | low;
        }
    }
}

/* The inverse of the spreads. */
static uint64_t compact3(uint64_t x)
{
    x &= 0x1249249249249249u;
    x = (x | x >> 2) & 0x10c30c30c30c30c3u;
    x = (x | x >> 4) & 0x100f00f00f00f00fu;
    x = (x | x >> 8) & 0x1f0000ff0000ffu;
    x = (x | x >> 16) & 0x1f00000000ffffu;
    return (x | x >> 32) & 0x1fffff;
}

static uint64_t compact2(uint64_t x)
{
    x &= 0x5555555555555555u;
    x = (x | x >> 1) & 0x3333333333333333u;
    x = (x | x >> 2) & 0x0f0f0f0f0f0f0f0fu;
    x = (x | x >> 4) & 0x00ff00ff00ff00ffu;
    x = (x | x >> 8) & 0x0000ffff0000ffffu;
    return (x | x >> 16) & 0x1fffff;
}

/* The key without its layer. */
static uint64_t key_place(const firn_directory *d, uint64_t key)
{
    return key & ((1ull << (d->dim * d->axis_bits)) - 1);
}

uint64_t firn_key_in_layer(const firn_directory *d, uint64_t key, int32_t layer)
{
    return key_place(d, key) | layer_bits(d, layer);
}

static void key_coord(const firn_directory *d, uint64_t key, int32_t coord[3])
{
    const uint64_t place = key_place(d, key);
    coord[2] = 0;
    for (int a = 0; a < d->dim; a++) {
        const uint64_t bits = place >> (d->dim - 1 - a);
        coord[a] = (int32_t)(d->dim == 3 ? compact3(bits) : compact2(bits)) - bias(d);
    }
}

/* The keys of a block's 3^dim neighbourhood, index (dx+1)*9 + (dy+1)*3 + dz+1 (2D: without the
 * first). */
static void neighbour_keys(const firn_directory *d, int32_t block, uint64_t *key)
{
    const uint64_t layer = layer_bits(d, firn_directory_layer(d, block));
    uint64_t bits[3][3];
    for (int a = 0; a < d->dim; a++) {
        for (int o = 0; o < 3; o++) bits[a][o] = axis_bits(d, a, d->coord[block][a] + o - 1);
    }
    if (d->dim == 2) {
        for (int n = 0; n < 9; n++) key[n] = layer | bits[0][n / 3] | bits[1][n % 3];
    } else {
        for (int n = 0; n < 27; n++) {
            key[n] = layer | bits[0][n / 9] | bits[1][n / 3 % 3] | bits[2][n % 3];
        }
    }
}

/* ---- hash ---- */

static uint32_t hash_key(uint64_t key, uint32_t mask)
{
    key ^= key >> 32; /* layers are in the uppermost bits */
    return (uint32_t)(key * 0x9e3779b97f4a7c15u >> 32) & mask;
}

static int32_t find(const int32_t *hash, uint32_t mask, const uint64_t *keys, uint64_t key)
{
    for (uint32_t h = hash_key(key, mask);; h = (h + 1) & mask) {
        int32_t slot = hash[h];
        if (slot < 0 || keys[slot] == key) return slot;
    }
}

static void insert(int32_t *hash, uint32_t mask, uint64_t key, int32_t slot)
{
    uint32_t h = hash_key(key, mask);
    while (hash[h] >= 0) h = (h + 1) & mask;
    hash[h] = slot;
}

int32_t firn_directory_find(const firn_directory *d, uint64_t key)
{
    return d->count ? find(d->hash, d->hash_mask, d->key, key) : -1;
}

int32_t firn_directory_find_super(const firn_directory *d, uint64_t super_key)
{
    return d->super_count ? find(d->super_hash, d->hash_mask, d->super_key, super_key) : -1;
}

int firn_directory_neighbours(const firn_directory *d, int32_t block,
                              int32_t out[FIRN_MAX_NEIGHBOURS])
{
    const int count = firn_pow(3, d->dim);
    uint64_t key[FIRN_MAX_NEIGHBOURS];
    neighbour_keys(d, block, key);
    for (int n = 0; n < count; n++) out[n] = firn_directory_find(d, key[n]);
    return count;
}

/* ---- sorting ---- */

void firn_sort_keys(uint64_t *key, uint64_t *scratch, int32_t count)
{
    uint64_t differ = 0;
    for (int32_t i = 1; i < count; i++) differ |= key[i] ^ key[0];
    uint64_t *from = key, *to = scratch;
    for (int shift = 0; shift < 64; shift += 8) {
        if (!(differ >> shift & 255u)) continue;
        int32_t at[257] = {0};
        for (int32_t i = 0; i < count; i++) at[(from[i] >> shift & 255u) + 1]++;
        for (int b = 0; b < 256; b++) at[b + 1] += at[b];
        for (int32_t i = 0; i < count; i++) to[at[from[i] >> shift & 255u]++] = from[i];
        uint64_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != key) memcpy(key, from, (size_t)count * sizeof *key);
}

/* ---- the directory ---- */

static uint32_t hash_size(int32_t count)
{
    uint32_t size = 16;
    while (size < 2u * (uint32_t)count) size *= 2;
    return size;
}

/* Room for `count` blocks: one pool cut into the arrays, and one for the bins. */
firn_status firn_directory_reserve(firn_directory *d, int32_t count,
                                   const firn_allocator *allocator, firn_error *error)
{
    size_t n = (size_t)count, hash = hash_size(count);
    enum { ARRAYS = 14 };
    size_t size = 0, offset[ARRAYS];
    const size_t bytes[ARRAYS] = {
        n * sizeof *d->key,        n * sizeof *d->coord,       n * sizeof *d->start,
        n * sizeof *d->population, n * sizeof *d->source,      n * sizeof *d->near_collider,
        (n + 1) * sizeof(int32_t), n * sizeof *d->super_key,   2 * hash * sizeof(int32_t),
        n * sizeof *d->leaving,    n * sizeof *d->super_order, n * sizeof *d->peer,
        n * sizeof *d->meeting,    n * sizeof *d->reach};
    for (int i = 0; i < ARRAYS; i++) {
        offset[i] = size;
        size += (bytes[i] + FIRN_ALIGN - 1) / FIRN_ALIGN * FIRN_ALIGN;
    }
    d->count = d->super_count = d->meeting_count = 0;
    firn_status st = firn_pool_reserve_slack(allocator, &d->pool, size, error);
    if (st == FIRN_OK) {
        st = firn_pool_reserve_slack(allocator, &d->bin_pool, n * sizeof *d->bin, error);
    }
    if (st != FIRN_OK) return st;
    char *base = d->pool.data;
    d->key = (uint64_t *)(base + offset[0]);
    d->coord = (int32_t(*)[3])(base + offset[1]);
    d->start = (uint32_t *)(base + offset[2]);
    d->population = (uint32_t *)(base + offset[3]);
    d->source = (int32_t(*)[FIRN_MAX_NEIGHBOURS])(base + offset[4]);
    d->near_collider = (uint8_t *)(base + offset[5]);
    d->super_first = (int32_t *)(base + offset[6]);
    d->super_key = (uint64_t *)(base + offset[7]);
    d->hash = (int32_t *)(base + offset[8]);
    d->super_hash = d->hash + hash;
    d->hash_mask = (uint32_t)hash - 1;
    d->leaving = (uint32_t(*)[FIRN_MAX_NEIGHBOURS])(base + offset[9]);
    d->super_order = (int32_t *)(base + offset[10]);
    d->peer = (int32_t *)(base + offset[11]);
    d->meeting = (int32_t *)(base + offset[12]);
    d->reach = (uint8_t *)(base + offset[13]);
    d->bin = d->bin_pool.data;
    return FIRN_OK;
}

/* Takes sorted keys; fills coordinates and the blocks' hash, empties the superblocks', which are
 * listed once populations are known. */
static void index_blocks(firn_directory *d, const uint64_t *key, int32_t count)
{
    d->count = count;
    if (count) memcpy(d->key, key, (size_t)count * sizeof *key);
    memset(d->hash, -1, 2 * (size_t)(d->hash_mask + 1) * sizeof *d->hash);
    for (int32_t b = 0; b < count; b++) {
        key_coord(d, d->key[b], d->coord[b]);
        insert(d->hash, d->hash_mask, d->key[b], b);
        d->near_collider[b] = 0;
    }
}

/* Lists the superblocks that hold particles, once populations are known. Unpopulated blocks between
 * two listed superblocks may fall into a range; passes skip them. */
static void index_supers(firn_directory *d)
{
    d->super_count = 0;
    d->largest = 0;
    for (int32_t b = 0; b < d->count; b++) {
        if (d->population[b] > d->largest) d->largest = d->population[b];
        if (!d->population[b]) continue;
        uint64_t key = d->key[b] >> d->dim;
        if (d->super_count && d->super_key[d->super_count - 1] == key) continue;
        insert(d->super_hash, d->hash_mask, key, d->super_count);
        d->super_key[d->super_count] = key;
        d->super_first[d->super_count++] = b;
    }
    d->super_first[d->super_count] = d->count;

    /* By the number of bits of their population, then by key. */
    int32_t at[34] = {0};
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t s = 0; s < d->super_count; s++) {
            uint32_t population = 0;
            for (int32_t b = d->super_first[s]; b < d->super_first[s + 1]; b++) {
                population += d->population[b];
            }
            const int less = __builtin_clz(population | 1u); /* leading zeros: few when full */
            if (pass) {
                d->super_order[at[less]++] = s;
            } else {
                at[less + 1]++;
            }
        }
        for (int i = 0; !pass && i < 33; i++) at[i + 1] += at[i];
    }
}

firn_status firn_directory_init(firn_directory *d, int32_t dim, const uint64_t *key, int32_t count,
                                const firn_allocator *allocator, firn_error *error)
{
    d->dim = dim;
    if (!d->axis_bits) d->axis_bits = FIRN_AXIS_BITS;
    if (!d->stencil) d->stencil = FIRN_STENCIL;
    firn_status st = firn_directory_reserve(d, count, allocator, error);
    if (st != FIRN_OK) return st;
    index_blocks(d, key, count);
    if (count) { /* the arrays of an empty directory need not exist */
        memset(d->population, 0, (size_t)count * sizeof *d->population);
        memset(d->bin, 0, (size_t)count * sizeof *d->bin);
        memset(d->leaving, 0, (size_t)count * sizeof *d->leaving);
        memset(d->reach, 0, (size_t)count * sizeof *d->reach);
    }
    index_supers(d);
    return FIRN_OK;
}

/* Blocks are collected in a set of keys, then sorted. */
typedef struct key_set {
    uint64_t *key;
    uint8_t *reach; /* axes along which particles reach the next block */
    int32_t *hash;
    uint32_t mask;
    int32_t count;
} key_set;

static void key_set_add(key_set *s, uint64_t key, uint8_t reach)
{
    uint32_t h = hash_key(key, s->mask);
    while (s->hash[h] >= 0 && s->key[s->hash[h]] != key) h = (h + 1) & s->mask;
    if (s->hash[h] < 0) {
        s->hash[h] = s->count;
        s->key[s->count] = key;
        s->reach[s->count++] = 0;
    }
    s->reach[s->hash[h]] |= reach;
}

/* The axes along which those of a bin that are now in neighbour n reach the block after it. Who came
 * down is in its last cells, who came up in its first. */
static uint8_t reach_in(const firn_directory *d, int32_t block, int n)
{
    unsigned reach = 0;
    for (int a = d->dim - 1, bit = 1; a >= 0; a--, bit *= 2, n /= 3) {
        reach |= n % 3 == 0 ? (unsigned)bit : n % 3 == 1 ? d->reach[block] & (unsigned)bit : 0;
    }
    return (uint8_t)reach;
}

/* Links the blocks of different layers at the same place into rings. `hash` is free to use. */
static void link_peers(firn_directory *d, int32_t *hash, uint32_t mask)
{
    d->meeting_count = 0;
    if (!d->count || key_layer(d, d->key[0]) == key_layer(d, d->key[d->count - 1])) return;
    memset(hash, -1, ((size_t)mask + 1) * sizeof *hash);
    for (int32_t b = 0; b < d->count; b++) {
        const uint64_t place = key_place(d, d->key[b]);
        uint32_t h = hash_key(place, mask);
        while (hash[h] >= 0 && key_place(d, d->key[hash[h]]) != place) h = (h + 1) & mask;
        const int32_t first = hash[h];
        d->peer[b] = -1;
        if (first < 0) {
            hash[h] = b;
            continue;
        }
        if (d->peer[first] < 0) {
            d->meeting[d->meeting_count++] = first;
            d->peer[first] = first;
        }
        d->peer[b] =
            d->peer[first]; /* right after the first: rings are in no order but a fixed one */
        d->peer[first] = b;
    }
}

static void clear_block(void *context, int64_t b, int32_t thread)
{
    (void)thread;
    firn_directory *d = context;
    memset(d->source[b], -1, sizeof d->source[b]);
    memset(d->leaving[b], 0, sizeof d->leaving[b]);
    d->population[b] = d->bin[b].count = 0;
    d->reach[b] = 0;
}

/* Tells the blocks that particles of a bin are in now. Each entry of source has one writer, and
 * populations are whole numbers, whose sums have no order. */
typedef struct link_job {
    firn_directory *d;
    const firn_directory *from;
} link_job;

static void link_block(void *context, int64_t b, int32_t thread)
{
    (void)thread;
    firn_directory *d = ((link_job *)context)->d;
    const firn_directory *from = ((link_job *)context)->from;
    if (!from->bin[b].count) return;
    const int32_t neighbours = firn_pow(3, d->dim);
    uint64_t key[FIRN_MAX_NEIGHBOURS];
    neighbour_keys(from, (int32_t)b, key);
    for (int n = 0; n < neighbours; n++) {
        if (!from->leaving[b][n]) continue;
        const int32_t slot = firn_directory_find(d, key[n]);
        d->source[slot][neighbours - 1 - n] = (int32_t)b;
        __atomic_fetch_add(&d->population[slot], from->leaving[b][n], __ATOMIC_RELAXED);
    }
}

/* Bytes to find up to `bound` different keys in. */
static size_t build_scratch(int64_t bound)
{
    return (size_t)bound * (2 * sizeof(uint64_t) + sizeof(uint8_t)) +
           hash_size((int32_t)bound) * sizeof(int32_t);
}

size_t firn_directory_scratch(int32_t dim, int32_t blocks)
{
    return build_scratch((int64_t)blocks * firn_pow(3, dim) * firn_pow(2, dim));
}

firn_status firn_directory_build(firn_directory *d, const firn_directory *from, int32_t room,
                                 const firn_workers *workers, const firn_allocator *allocator,
                                 firn_pool *scratch, firn_error *error)
{
    assert(d != from);
    const int32_t dim = from->dim, neighbours = firn_pow(3, dim), corners = firn_pow(2, dim);
    d->dim = dim;
    d->axis_bits = from->axis_bits;
    d->stencil = from->stencil;
    d->count = d->super_count = 0;

    /* An upper bound of the blocks: particles spread by one block at most, nodes by one more. */
    int64_t occupied = 0;
    for (int32_t b = 0; b < from->count; b++) {
        for (int n = 0; n < neighbours; n++) occupied += from->leaving[b][n] > 0;
    }
    int64_t bound = occupied * corners;
    if (bound > FIRN_MOST_BLOCKS) {
        return firn_fail(error, FIRN_NO_MEMORY, "more than %d grid blocks; use larger cells",
                         FIRN_MOST_BLOCKS);
    }
    const uint32_t size = hash_size((int32_t)bound);
    firn_status st = firn_pool_reserve_slack(allocator, scratch, build_scratch(bound), error);
    if (st != FIRN_OK) return st;
    key_set set = {.key = scratch->data, .mask = size - 1};
    uint64_t *sort_scratch = set.key + bound;
    set.hash = (int32_t *)(sort_scratch + bound);
    set.reach = (uint8_t *)(set.hash + size);
    memset(set.hash, -1, size * sizeof *set.hash);

    /* Occupied blocks first, then the upper neighbours their particles' stencils reach: what is loose
     * needs two to four blocks for its nodes, not eight. */
    for (int32_t b = 0; b < from->count; b++) {
        if (!from->bin[b].count) continue;
        for (int a = 0; a < dim; a++) { /* keys would wrap around */
            const int32_t at = from->coord[b][a], end = bias(from);
            if (at > -end + 2 && at < end - 3) continue;
            return firn_fail(error, FIRN_DIVERGED,
                             "particles have reached the end of the grid, %d cells from the origin "
                             "along axis %d; use larger cells, or remove particles that leave",
                             firn_directory_reach(from), a);
        }
        uint64_t key[FIRN_MAX_NEIGHBOURS];
        neighbour_keys(from, b, key);
        for (int n = 0; n < neighbours; n++) {
            if (from->leaving[b][n]) key_set_add(&set, key[n], reach_in(from, b, n));
        }
    }
    int32_t populated = set.count;
    for (int32_t i = 0; i < populated; i++) {
        int32_t near[3], far[3];
        key_coord(d, set.key[i], near);
        for (int a = 0; a < 3; a++) far[a] = near[a] + 1;
        uint64_t key[8];
        firn_corner_keys(d, key_layer(d, set.key[i]), near, far, key);
        for (int n = 1; n < corners; n++) {
            if (!(n & ~set.reach[i])) key_set_add(&set, key[n], 0);
        }
    }
    firn_sort_keys(set.key, sort_scratch, set.count);

    st = firn_directory_reserve(d, set.count > room ? set.count : room, allocator, error);
    if (st != FIRN_OK) return st;
    index_blocks(d, set.key, set.count);
    link_peers(d, set.hash, set.mask);

    link_job job = {d, from};
    firn_workers_run(workers, d->count, 64, clear_block, d);
    firn_workers_run(workers, from->count, 16, link_block, &job);
    uint32_t start = 0;
    for (int32_t b = 0; b < d->count; b++) {
        d->start[b] = start;
        start += d->population[b];
    }
    index_supers(d);
    return FIRN_OK;
}

void firn_directory_count_leaving(firn_directory *d, int32_t block)
{
    static const int side[FIRN_SHIFTED] = {0, 1, 1, 1, 1, 2}; /* below, own, above */
    const int rows = firn_pow(FIRN_SHIFTED, d->dim) / FIRN_SHIFTED;
    const int far = FIRN_SHIFTED - d->stencil; /* cells from here to the last own one reach on */
    uint32_t *leaving = d->leaving[block], reaching[3] = {0};
    memset(leaving, 0, sizeof d->leaving[block]);
    for (int row = 0; row < rows; row++) {
        const uint32_t *c = d->bin[block].cell + row * FIRN_SHIFTED;
        const int at[2] = {d->dim == 3 ? row / FIRN_SHIFTED : row, row % FIRN_SHIFTED};
        int n = 3 * (d->dim == 3 ? 3 * side[at[0]] + side[at[1]] : side[at[0]]);
        leaving[n] += c[1] - c[0];
        leaving[n + 1] += c[5] - c[1];
        leaving[n + 2] += c[6] - c[5];
        for (int a = 0; a < d->dim - 1; a++) {
            if (at[a] >= far && at[a] < 5) reaching[a] += c[6] - c[0];
        }
        reaching[d->dim - 1] += c[5] - c[far];
    }
    d->reach[block] = 0;
    for (int a = 0; a < d->dim; a++) {
        d->reach[block] = (uint8_t)(2 * d->reach[block] + (reaching[a] > 0));
    }
}

void firn_bin_cell_block(const firn_directory *d, int32_t block, int cell, int32_t coord[3])
{
    coord[2] = 0;
    for (int a = d->dim - 1; a >= 0; a--, cell /= FIRN_SHIFTED) {
        const int shifted = cell % FIRN_SHIFTED;
        coord[a] = d->coord[block][a] + (shifted == 0 ? -1 : shifted == FIRN_SHIFTED - 1 ? 1 : 0);
    }
}

void firn_directory_free(firn_directory *d, const firn_allocator *allocator)
{
    firn_pool_free(allocator, &d->pool);
    firn_pool_free(allocator, &d->bin_pool);
    *d = (firn_directory){0};
}
