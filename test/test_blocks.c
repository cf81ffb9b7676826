/* The sparse grid's directory and the bins: every claim is checked against a plain list of
 * blocks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "data/blocks.h"
#include "data/store.h"
#include "random.h"

/* The key of a block in a world without fields. */
static uint64_t key_of(int32_t dim, const int32_t coord[3])
{
    const firn_directory d = {.dim = dim, .axis_bits = FIRN_AXIS_BITS};
    return firn_block_key(&d, 0, coord);
}

enum { REACH_BLOCKS = 1 << (FIRN_AXIS_BITS - 1) }; /* block coordinates are in [-REACH, REACH) */

static int32_t random_between(int32_t low, int32_t high) /* high included */
{
    return low + (int32_t)(random_bits() % (uint64_t)(high - low + 1));
}

static firn_allocator memory(void) { return firn_allocator_default(); }

#define assert_ok(call)                                                                            \
    do {                                                                                           \
        firn_error error = {0};                                                                    \
        if ((call) != FIRN_OK) {                                                                   \
            print_error("%s\n", error.message);                                                    \
            fail();                                                                                \
        }                                                                                          \
    } while (0)

static int compare_keys(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Sorts and drops repeats; returns how many are left. */
static int32_t sort_unique(uint64_t *key, int32_t n)
{
    qsort(key, (size_t)n, sizeof *key, compare_keys);
    int32_t kept = 0;
    for (int32_t i = 0; i < n; i++)
        if (kept == 0 || key[kept - 1] != key[i]) key[kept++] = key[i];
    return kept;
}

/* ---- keys ---- */

/* A coordinate near a border of something: zero, a superblock, a power of two, the reach. */
static int32_t interesting_coordinate(void)
{
    switch (random_bits() % 4) {
    case 0: return random_between(-9, 9);
    case 1: return random_between(-REACH_BLOCKS, REACH_BLOCKS - 1);
    case 2:
        return random_between(0, 1) ? -REACH_BLOCKS + random_between(0, 3)
                                    : REACH_BLOCKS - 1 - random_between(0, 3);
    default: {
        const int32_t power = 1 << random_between(1, 19);
        return (random_between(0, 1) ? power : -power) + random_between(-2, 2);
    }
    }
}

static void morton_keys_round_trip(void **state)
{
    (void)state;
    enum { COUNT = 20000 };
    const firn_allocator a = memory();
    for (int32_t dim = 2; dim <= 3; dim++) {
        random_state = (uint64_t)dim;
        uint64_t *key = malloc(COUNT * sizeof *key);
        int32_t(*coord)[3] = malloc(COUNT * sizeof *coord);
        assert_true(key && coord);
        for (int i = 0; i < COUNT; i++) {
            for (int c = 0; c < 3; c++) coord[i][c] = interesting_coordinate();
            key[i] = key_of(dim, coord[i]);
        }
        const int32_t count = sort_unique(key, COUNT);
        firn_directory d = {0};
        assert_ok(firn_directory_init(&d, dim, key, count, &a, &error));
        assert_int_equal(d.count, count);
        for (int i = 0; i < COUNT; i++) {
            const int32_t at = firn_directory_find(&d, key_of(dim, coord[i]));
            assert_true(at >= 0 && at < count);
            for (int c = 0; c < dim; c++) assert_int_equal(d.coord[at][c], coord[i][c]);
            if (dim == 2) assert_int_equal(d.coord[at][2], 0);
        }
        firn_directory_free(&d, &a);
        free(key);
        free(coord);
    }
}

static void keys_order_the_blocks_of_a_superblock_side_by_side(void **state)
{
    (void)state;
    random_state = 3;
    for (int32_t dim = 2; dim <= 3; dim++) {
        const int corners = dim == 2 ? 4 : 8;
        for (int trial = 0; trial < 5000; trial++) {
            int32_t corner[3];
            for (int c = 0; c < 3; c++) corner[c] = interesting_coordinate() & ~1;
            const uint64_t first = key_of(dim, corner);
            assert_int_equal(first % (uint64_t)corners, 0);
            for (int n = 0; n < corners; n++) { /* the last axis runs fastest */
                int32_t block[3];
                for (int c = 0; c < dim; c++) block[c] = corner[c] + (n >> (dim - 1 - c) & 1);
                assert_true(key_of(dim, block) == first + (uint64_t)n);
                assert_true(key_of(dim, block) >> dim == first >> dim);
            }
            /* Its neighbours belong to other superblocks. */
            for (int c = 0; c < dim; c++) {
                for (int side = -1; side <= 2; side += 3) {
                    int32_t beyond[3] = {corner[0], corner[1], corner[2]};
                    beyond[c] += side;
                    if (beyond[c] < -REACH_BLOCKS || beyond[c] >= REACH_BLOCKS) continue;
                    assert_true(key_of(dim, beyond) >> dim != first >> dim);
                }
            }
        }
    }
}

static void sorting_keys_sorts(void **state)
{
    (void)state;
    static const int32_t counts[] = {0, 1, 2, 3, 255, 256, 257, 5000};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        for (int bits = 0; bits <= 64; bits += 8) {
            const int32_t n = counts[c];
            random_state = (uint64_t)n * 100 + (uint64_t)bits;
            uint64_t *key = malloc(((size_t)n + 1) * sizeof *key),
                     *want = malloc(((size_t)n + 1) * sizeof *want);
            uint64_t *scratch = malloc(((size_t)n + 1) * sizeof *scratch);
            assert_true(key && want && scratch);
            /* Keys that differ in a few bytes only, high ones or low ones, with repeats. */
            const uint64_t same = random_bits();
            for (int32_t i = 0; i < n; i++) {
                uint64_t differ = bits == 0 ? 0 : random_bits() >> (64 - bits);
                if (bits % 16 == 8) differ <<= 64 - bits;
                key[i] = want[i] = same ^ differ;
                if (i % 5 == 4) key[i] = want[i] = key[i - 3];
            }
            key[n] = scratch[n] = 0x5afe;
            qsort(want, (size_t)n, sizeof *want, compare_keys);
            firn_sort_keys(key, scratch, n);
            assert_memory_equal(key, want, (size_t)n * sizeof *key);
            assert_true(key[n] == 0x5afe && scratch[n] == 0x5afe);
            free(key);
            free(want);
            free(scratch);
        }
    }
}

/* ---- the directory ---- */

static void the_directory_finds_every_block_and_no_other(void **state)
{
    (void)state;
    const firn_allocator a = memory();
    firn_directory d = {0}; /* one for all, so that it also shrinks and grows */
    static const int32_t counts[] = {0, 1, 7, 500, 3, 20000, 64};
    for (int32_t dim = 2; dim <= 3; dim++) {
        for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
            random_state = (uint64_t)counts[k] + 1000000 * (uint64_t)dim;
            const int32_t half = counts[k] < 100 ? 4 : 40; /* dense, so that neighbours exist too */
            uint64_t *key = malloc(((size_t)counts[k] + 1) * sizeof *key);
            assert_non_null(key);
            for (int32_t i = 0; i < counts[k]; i++) {
                int32_t c[3];
                for (int x = 0; x < 3; x++) c[x] = random_between(-half, half - 1);
                key[i] = key_of(dim, c);
            }
            const int32_t n = sort_unique(key, counts[k]);
            assert_ok(firn_directory_init(&d, dim, key, n, &a, &error));
            assert_int_equal(d.count, n);
            for (int32_t i = 0; i < n; i++) {
                assert_int_equal(firn_directory_find(&d, key[i]), i);
                assert_true(d.key[i] == key[i]);
                assert_int_equal(d.bin[i].count, 0);
            }
            for (int trial = 0; trial < 20000; trial++) {
                int32_t c[3];
                for (int x = 0; x < 3; x++) c[x] = random_between(-half - 2, half + 1);
                const uint64_t wanted = key_of(dim, c);
                const uint64_t *at = bsearch(&wanted, key, (size_t)n, sizeof *key, compare_keys);
                assert_int_equal(firn_directory_find(&d, wanted), at ? at - key : -1);
            }
            free(key);
        }
    }
    firn_directory_free(&d, &a);
}

/* ---- bins ---- */

/* A plain cloud: whole-cell coordinates of particles, as the store would have them. */
typedef struct cloud {
    int32_t dim, count;
    int32_t (*cell)[3]; /* from the origin */
    firn_store store;
    uint64_t *key;
} cloud;

static int32_t floor_div(int32_t a, int32_t b) { return a / b - (a % b < 0); }

static uint64_t key_of_cell(int32_t dim, const int32_t cell[3])
{
    int32_t block[3];
    for (int c = 0; c < 3; c++) block[c] = floor_div(cell[c], FIRN_BLOCK);
    return key_of(dim, block);
}

/* Particles around the origin, so that blocks have all signs, or around `centre`. */
static cloud make_cloud(int32_t dim, int32_t count, int32_t half, int32_t centre)
{
    const firn_allocator a = memory();
    cloud c = {.dim = dim, .count = count};
    c.store.dim = dim;
    c.cell = malloc((size_t)count * sizeof *c.cell);
    c.key = malloc((size_t)count * 3 * sizeof *c.key);
    assert_true(c.cell && c.key);
    assert_ok(firn_store_reserve(&c.store, count, &a, &error));
    c.store.count = count;
    memset(c.store.record, 0, (size_t)count * FIRN_RECORD * sizeof *c.store.record);
    for (int32_t i = 0; i < count; i++) {
        for (int x = 0; x < 3; x++) {
            c.cell[i][x] = x < dim ? centre + random_between(-half, half - 1) : 0;
            const int32_t in = c.cell[i][x] - FIRN_BLOCK * floor_div(c.cell[i][x], FIRN_BLOCK);
            if (x < dim) {
                c.store.record[i * FIRN_RECORD + x] =
                    (real)in + (real)random_between(0, 1023) / 1024;
            }
        }
        c.key[i] = key_of_cell(dim, c.cell[i]);
    }
    return c;
}

static void free_cloud(cloud *c)
{
    const firn_allocator a = memory();
    firn_store_free(&c->store, &a);
    free(c->cell);
    free(c->key);
}

/* Bins the whole cloud, in an order of its own, and makes that the store's current list. */
static void bin_cloud(cloud *c, firn_directory *d)
{
    const firn_allocator a = memory();
    uint32_t *list = malloc((size_t)c->count * sizeof *list);
    assert_non_null(list);
    for (int32_t i = 0; i < c->count; i++) list[i] = (uint32_t)i;
    for (int32_t i = c->count - 1; i > 0; i--) { /* shuffled */
        const int32_t j = random_between(0, i);
        const uint32_t swap = list[i];
        list[i] = list[j];
        list[j] = swap;
    }
    uint32_t *rank = malloc((size_t)c->count * sizeof *rank);
    assert_non_null(rank);
    for (int32_t i = 0; i < c->count; i++) rank[list[i]] = (uint32_t)i;
    assert_ok(firn_store_bin(&c->store, d, list, c->count, c->key, c->store.order[0],
                             c->key + c->count, &a, &error));
    c->store.current = 0;

    /* Every particle is in one place: that of its block and cell, in the list's order within it. */
    const uint32_t *order = c->store.order[0];
    uint8_t *seen = calloc((size_t)c->count, 1);
    assert_non_null(seen);
    uint32_t next = 0;
    for (int32_t b = 0; b < d->count; b++) {
        const firn_bin *bin = &d->bin[b];
        assert_int_equal(bin->start, next);
        next += bin->count;
        assert_int_equal(bin->cell[0], 0);
        const int cells = firn_pow(FIRN_SHIFTED, c->dim);
        assert_int_equal(bin->cell[cells], bin->count);
        for (int s = 0; s < cells; s++) {
            assert_true(bin->cell[s] <= bin->cell[s + 1]);
            for (uint32_t k = bin->cell[s]; k < bin->cell[s + 1]; k++) {
                const uint32_t i = order[bin->start + k];
                assert_true(i < (uint32_t)c->count && !seen[i]);
                seen[i] = 1;
                assert_true(c->key[i] == d->key[b]);
                int32_t where[3];
                for (int x = c->dim - 1, rest = s; x >= 0; x--, rest /= FIRN_SHIFTED) {
                    where[x] = FIRN_BLOCK * d->coord[b][x] + rest % FIRN_SHIFTED - 1;
                }
                for (int x = 0; x < c->dim; x++) assert_int_equal(where[x], c->cell[i][x]);
                if (k > bin->cell[s]) assert_true(rank[order[bin->start + k - 1]] < rank[i]);
            }
        }
    }
    assert_int_equal(next, c->count);
    free(seen);
    free(list);
    free(rank);
}

static void bins_partition_the_particles(void **state)
{
    (void)state;
    const firn_allocator a = memory();
    for (int32_t dim = 2; dim <= 3; dim++) {
        for (int trial = 0; trial < 6; trial++) {
            random_state = (uint64_t)(dim * 10 + trial);
            cloud c = make_cloud(dim, 1 + 800 * trial, 2 + 5 * trial, trial % 2 ? -1000001 : 0);
            firn_directory d = {0};
            bin_cloud(&c, &d);
            /* The keys can be had back from the bins. */
            uint64_t *key = malloc((size_t)c.count * sizeof *key);
            assert_non_null(key);
            firn_store_keys(&c.store, &d, key);
            assert_memory_equal(key, c.key, (size_t)c.count * sizeof *key);
            free(key);
            firn_directory_free(&d, &a);
            free_cloud(&c);
        }
    }
}

static void particles_without_a_key_are_left_out_of_the_bins(void **state)
{
    (void)state;
    const firn_allocator a = memory();
    random_state = 12;
    cloud c = make_cloud(3, 2000, 12, 0);
    int64_t kept = 0;
    uint32_t *list = malloc((size_t)c.count * sizeof *list);
    assert_non_null(list);
    for (int32_t i = 0; i < c.count; i++) {
        list[i] = (uint32_t)i;
        if (i % 3) c.key[i] = FIRN_NO_KEY;
        kept += i % 3 == 0;
    }
    firn_directory d = {0};
    assert_ok(firn_store_bin(&c.store, &d, list, c.count, c.key, c.store.order[0], c.key + c.count,
                             &a, &error));
    int64_t binned = 0;
    for (int32_t b = 0; b < d.count; b++) {
        for (uint32_t k = 0; k < d.bin[b].count; k++) {
            assert_int_equal(c.store.order[0][d.bin[b].start + k] % 3, 0);
        }
        binned += d.bin[b].count;
    }
    assert_int_equal(binned, kept);
    free(list);
    firn_directory_free(&d, &a);
    free_cloud(&c);
}

/* ---- from bins to the next directory ---- */

/* Rewrites the bins as a pass does that has moved every particle by up to one cell per axis. */
static void move_cloud(cloud *c, firn_directory *d)
{
    uint32_t *order = c->store.order[0], *sorted = malloc((size_t)c->count * sizeof *sorted);
    assert_non_null(sorted);
    const int cells = firn_pow(FIRN_SHIFTED, c->dim);
    for (int32_t i = 0; i < c->count; i++) {
        for (int x = 0; x < c->dim; x++) c->cell[i][x] += random_between(-1, 1);
    }
    for (int32_t b = 0; b < d->count; b++) {
        firn_bin *bin = &d->bin[b];
        uint32_t offset = 0;
        for (int s = 0; s < cells; s++) {
            bin->cell[s] = offset;
            for (uint32_t k = 0; k < bin->count; k++) {
                const uint32_t i = order[bin->start + k];
                int shifted = 0;
                for (int x = 0; x < c->dim; x++) {
                    shifted =
                        shifted * FIRN_SHIFTED + c->cell[i][x] - FIRN_BLOCK * d->coord[b][x] + 1;
                }
                if (shifted == s) sorted[bin->start + offset++] = i;
            }
        }
        bin->cell[cells] = offset;
        assert_int_equal(offset, bin->count);
        firn_directory_count_leaving(d, b);
    }
    memcpy(order, sorted, (size_t)c->count * sizeof *order);
    for (int32_t i = 0; i < c->count; i++) c->key[i] = key_of_cell(c->dim, c->cell[i]);
    free(sorted);
}

/* The blocks of every node that particles reach with stencils of so many nodes per axis. */
static int32_t list_reached(const cloud *c, int stencil, uint64_t *key)
{
    int32_t n = 0;
    for (int32_t i = 0; i < c->count; i++) {
        for (int k = 0; k < firn_pow(2, c->dim); k++) {
            int32_t block[3] = {0};
            for (int x = 0; x < c->dim; x++) {
                const int32_t last = c->cell[i][x] + (k >> (c->dim - 1 - x) & 1) * (stencil - 1);
                block[x] = floor_div(last, FIRN_BLOCK);
            }
            key[n++] = key_of(c->dim, block);
        }
    }
    return sort_unique(key, n);
}

/* Checks that `d` is the directory of the cloud: its blocks, and the blocks of every node it
 * reaches, and that each block knows where its particles are to be had from. */
static void check_built(const cloud *c, const firn_directory *d, const firn_directory *from)
{
    const int neighbours = firn_pow(3, c->dim);
    uint64_t *want = malloc((size_t)c->count * 8 * sizeof *want);
    assert_non_null(want);
    /* Bins note their reach axis by axis: where some go on along x and others along y, there may be a
     * block for what would go on along both. All of them are among the upper neighbours. */
    const int32_t n = d->count, reached = list_reached(c, d->stencil, want);
    for (int32_t i = 0; i < reached; i++) assert_true(firn_directory_find(d, want[i]) >= 0);
    if (c->count == 1) assert_int_equal(n, reached);
    const int32_t all = list_reached(c, FIRN_BLOCK + 1, want);
    for (int32_t i = 0, k = 0; i < n; i++) {
        while (k < all && want[k] < d->key[i]) k++;
        assert_true(k < all && want[k] == d->key[i]);
    }
    free(want);

    uint32_t *population = calloc((size_t)n + 1, sizeof *population), largest = 0, start = 0;
    assert_non_null(population);
    for (int32_t i = 0; i < c->count; i++) population[firn_directory_find(d, c->key[i])]++;
    for (int32_t b = 0; b < n; b++) {
        assert_int_equal(d->population[b], population[b]);
        assert_int_equal(d->start[b], start);
        start += population[b];
        largest = population[b] > largest ? population[b] : largest;
        uint32_t coming = 0;
        for (int k = 0; k < neighbours; k++) {
            int32_t block[3] = {0};
            for (int x = c->dim - 1, rest = k; x >= 0; x--, rest /= 3) {
                block[x] = d->coord[b][x] + rest % 3 - 1;
            }
            const int32_t source = d->source[b][k];
            const int32_t neighbour = firn_directory_find(from, key_of(c->dim, block));
            const uint32_t sends = neighbour < 0 ? 0 : from->leaving[neighbour][neighbours - 1 - k];
            assert_int_equal(source, sends ? neighbour : -1);
            coming += sends;
        }
        assert_int_equal(coming, population[b]);
    }
    assert_int_equal(d->largest, largest);

    /* Superblocks: those that hold particles, once each, in order; ranges cover their blocks. */
    uint8_t *covered = calloc((size_t)n + 1, 1);
    assert_non_null(covered);
    for (int32_t s = 0; s < d->super_count; s++) {
        assert_true(s == 0 || d->super_key[s - 1] < d->super_key[s]);
        assert_int_equal(firn_directory_find_super(d, d->super_key[s]), s);
        for (int32_t b = d->super_first[s]; b < d->super_first[s + 1]; b++) {
            covered[b]++;
            if (population[b]) assert_true(d->key[b] >> c->dim == d->super_key[s]);
        }
    }
    for (int32_t b = 0; b < n; b++) {
        if (population[b]) assert_int_equal(covered[b], 1);
        const int32_t super = firn_directory_find_super(d, d->key[b] >> c->dim);
        if (population[b]) assert_true(super >= 0);
        if (super >= 0) assert_true(d->super_key[super] == d->key[b] >> c->dim);
    }
    free(covered);
    free(population);
}

static void neighbours_are_right_across_superblock_borders_and_signs(void **state)
{
    (void)state;
    const firn_allocator a = memory();
    firn_directory d[2] = {{0}};
    firn_pool scratch = {0};
    for (int32_t dim = 2; dim <= 3; dim++) {
        for (int trial = 0; trial < 16; trial++) {
            random_state = (uint64_t)(dim * 100 + trial);
            d[0].stencil = 3 + trial % 2;
            const int many = trial < 8 ? 0 : trial - 8; /* the first ones are lone particles */
            /* Around the origin; a power of two; just inside the reach, on either side. */
            static const int32_t centres[] = {0, 4096, 65 - (2 << FIRN_AXIS_BITS),
                                              (2 << FIRN_AXIS_BITS) - 64};
            cloud c = make_cloud(dim, 1 + 300 * many, 2 + 4 * many, centres[trial / 2 % 4]);
            bin_cloud(&c, &d[0]);
            const firn_workers workers = {.count = 1 + trial % 3};
            assert_ok(firn_directory_build(&d[1], &d[0], 0, &workers, &a, &scratch, &error));
            check_built(&c, &d[1], &d[0]);
            move_cloud(&c, &d[0]);
            assert_ok(firn_directory_build(&d[1], &d[0], 0, &workers, &a, &scratch, &error));
            check_built(&c, &d[1], &d[0]);
            free_cloud(&c);
        }
    }
    firn_directory_free(&d[0], &a);
    firn_directory_free(&d[1], &a);
    firn_pool_free(&a, &scratch);
}

/* An allocator that fails from the n-th request for memory on. */
typedef struct miser {
    int64_t left;
} miser;

static void *miserly(void *user_data, void *block, size_t old_size, size_t new_size,
                     size_t alignment)
{
    miser *m = user_data;
    if (new_size > 0 && m->left-- <= 0) return NULL;
    const firn_allocator a = memory();
    return a.reallocate(a.user_data, block, old_size, new_size, alignment);
}

static void a_failed_build_leaves_the_source_alone_and_the_target_empty(void **state)
{
    (void)state;
    const firn_allocator a = memory();
    const firn_workers workers = {.count = 1};
    random_state = 6;
    cloud few = make_cloud(3, 20, 4, 0), many = make_cloud(3, 3000, 40, 0);
    firn_directory from[2] = {{0}}, before = {0}; /* before: the same, binned once more */
    bin_cloud(&few, &from[0]);
    bin_cloud(&many, &from[1]);
    bin_cloud(&many, &before);
    for (int64_t allowed = 0;; allowed++) {
        firn_directory d = {0};
        firn_pool scratch = {0};
        assert_ok(firn_directory_build(&d, &from[0], 0, &workers, &a, &scratch, &error));
        miser m = {allowed};
        const firn_allocator mean = {miserly, &m};
        firn_error error = {0};
        const firn_status st =
            firn_directory_build(&d, &from[1], 0, &workers, &mean, &scratch, &error);
        if (st == FIRN_OK) {
            check_built(&many, &d, &from[1]);
        } else {
            assert_int_equal(st, FIRN_NO_MEMORY);
            assert_non_null(strstr(error.message, "memory"));
            assert_int_equal(d.count, 0);
            assert_int_equal(d.super_count, 0);
            assert_int_equal(firn_directory_find(&d, from[1].key[0]), -1);
        }
        assert_int_equal(from[1].count, before.count);
        assert_memory_equal(from[1].key, before.key, (size_t)before.count * sizeof *before.key);
        assert_memory_equal(from[1].bin, before.bin, (size_t)before.count * sizeof *before.bin);
        firn_directory_free(&d, &a);
        firn_pool_free(&a, &scratch);
        if (st == FIRN_OK) break;
    }
    firn_directory_free(&before, &a);
    for (int i = 0; i < 2; i++) firn_directory_free(&from[i], &a);
    free_cloud(&few);
    free_cloud(&many);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(morton_keys_round_trip),
        cmocka_unit_test(keys_order_the_blocks_of_a_superblock_side_by_side),
        cmocka_unit_test(sorting_keys_sorts),
        cmocka_unit_test(the_directory_finds_every_block_and_no_other),
        cmocka_unit_test(bins_partition_the_particles),
        cmocka_unit_test(particles_without_a_key_are_left_out_of_the_bins),
        cmocka_unit_test(neighbours_are_right_across_superblock_borders_and_signs),
        cmocka_unit_test(a_failed_build_leaves_the_source_alone_and_the_target_empty),
    };
    return cmocka_run_group_tests_name("blocks", tests, NULL, NULL);
}
