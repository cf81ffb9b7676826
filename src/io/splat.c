/* Particles as a volume: mass and what it carries, spread over voxels with quadratic B-splines as the
 * simulation spreads them over its grid.
 *
 * Particles are sorted by the block of the lowest of the 27 voxels they reach, so a block's voxels get
 * theirs from the particles of eight such bins. Each block gathers them in the order of bins and
 * particles: no two threads write to one voxel, and sums do not depend on how many there are. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "io/volume.h"

enum { FAR = 1 << 23 }; /* voxels from the origin; a key holds as many */

/* Blocks have keys in the order of firn_volume_order. */
static uint64_t key_of(const int32_t voxel[3])
{
    uint64_t key = 0;
    for (int a = 0; a < 3; a++) key = key << 12 | (uint64_t)((voxel[a] + FAR) >> 12);
    key = key << 15 | (uint64_t)firn_tree_offset(voxel, 5, 7);
    return key << 12 | (uint64_t)firn_tree_offset(voxel, 4, 3);
}

static void voxel_of(uint64_t key, int32_t voxel[3])
{
    for (int a = 0; a < 3; a++) {
        const int lower = (int)(key >> (4 * (2 - a)) & 15);
        const int upper = (int)(key >> (12 + 5 * (2 - a)) & 31);
        const int root = (int)(key >> (27 + 12 * (2 - a)) & 4095);
        voxel[a] = (root << 12 | upper << 7 | lower << 3) - FAR;
    }
}

/* A particle in its bin. */
typedef struct item {
    uint64_t key;
    int64_t particle;
    unsigned up; /* axes along which it reaches the next block, too: a bit each */
} item;

/* Consecutive items of one key. */
typedef struct bin {
    uint64_t key;
    int64_t first, count;
} bin;

typedef struct channel {
    const firn_column *from;
    firn_volume *to;
    int32_t first; /* of its components among those of all channels */
} channel;

typedef struct splat {
    const firn_points *points;
    const firn_column *P, *mass;
    double voxel;
    item *item;
    bin *bin;
    int64_t bins;
    uint64_t *block; /* keys of those that are reached */
    int64_t blocks;
    channel channel[FIRN_MAX_COLUMNS]; /* the first is density */
    int32_t channels, components;      /* of all, density excepted */
    double *sums;                      /* of each thread: 512 x (1 + components) */
} splat;

/* ---- bins ---- */

/* The lowest voxel that a particle reaches, and the weights of three along each axis. */
static void reach(const splat *s, int64_t particle, int32_t base[3], double weight[3][3])
{
    for (int a = 0; a < 3; a++) {
        const double x = firn_type_get(s->P->type, s->P->data, 3 * particle + a) / s->voxel;
        base[a] = (int32_t)floor(x - 0.5);
        const double f = x - base[a]; /* 0.5 to 1.5 */
        weight[a][0] = 0.5 * (1.5 - f) * (1.5 - f);
        weight[a][1] = 0.75 - (f - 1) * (f - 1);
        weight[a][2] = 0.5 * (f - 0.5) * (f - 0.5);
    }
}

static firn_status check_particle(const splat *s, int64_t p, firn_error *error)
{
    const double mass = firn_type_get(s->mass->type, s->mass->data, p);
    if (!(mass >= 0 && isfinite(mass))) {
        return firn_fail(error, FIRN_INVALID, "particle %lld has the mass %g; it must be 0 or more",
                         (long long)p, mass);
    }
    for (int a = 0; a < 3; a++) {
        const double x = firn_type_get(s->P->type, s->P->data, 3 * p + a);
        if (fabs(x / s->voxel) < FAR - 16) continue;
        return firn_fail(error, FIRN_INVALID,
                         "particle %lld at %g m is more than %d voxels of %g m from the origin; "
                         "larger voxels reach further",
                         (long long)p, x, FAR - 16, s->voxel);
    }
    return FIRN_OK;
}

static void make_item(void *context, int64_t index, int32_t thread)
{
    (void)thread;
    const splat *s = context;
    int32_t base[3];
    double weight[3][3];
    reach(s, index, base, weight);
    unsigned up = 0;
    for (int a = 0; a < 3; a++) up |= (unsigned)((base[a] & 7) > 5) << a;
    s->item[index] = (item){key_of(base), index, up};
}

/* By key, those of one key in the order they had; a byte at a time. */
static bool sort_items(item **items, int64_t count)
{
    item *from = *items, *to = malloc(((size_t)count + 1) * sizeof *to);
    if (!to) return false;
    for (int shift = 0; shift < 64 && count > 0; shift += 8) {
        int64_t start[257] = {0};
        for (int64_t i = 0; i < count; i++) start[(from[i].key >> shift & 255) + 1]++;
        if (start[(from[0].key >> shift & 255) + 1] == count) continue; /* all the same */
        for (int i = 0; i < 256; i++) start[i + 1] += start[i];
        for (int64_t i = 0; i < count; i++) to[start[from[i].key >> shift & 255]++] = from[i];
        item *swap = from;
        from = to;
        to = swap;
    }
    *items = from;
    free(to);
    return true;
}

static int by_value(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* The key of a neighbour of the bin's block, up along the axes that `side` has bits for. */
static uint64_t neighbour(uint64_t key, unsigned side, int step)
{
    int32_t voxel[3];
    voxel_of(key, voxel);
    for (int a = 0; a < 3; a++) voxel[a] += (int)(side >> a & 1) * step * FIRN_BLOCK_EDGE;
    return key_of(voxel);
}

/* Adds the blocks that a bin's particles reach. */
static bool add_reached(splat *s, const bin *b)
{
    unsigned sides = 0; /* a bit for each of eight */
    for (int64_t i = b->first; i < b->first + b->count && sides != 255; i++) {
        for (unsigned side = 0; side < 8; side++) {
            if ((side & ~s->item[i].up) == 0) sides |= 1u << side;
        }
    }
    for (unsigned side = 0; side < 8; side++) {
        if (!(sides >> side & 1)) continue;
        if (!firn_grow(&s->block, s->blocks, sizeof *s->block)) return false;
        s->block[s->blocks++] = neighbour(b->key, side, 1);
    }
    return true;
}

static bool make_bins(splat *s)
{
    const int64_t count = s->points->count;
    for (int64_t i = 0; i < count; i++) {
        if (i > 0 && s->item[i].key == s->item[i - 1].key) {
            s->bin[s->bins - 1].count++;
            continue;
        }
        if (!firn_grow(&s->bin, s->bins, sizeof *s->bin)) return false;
        s->bin[s->bins++] = (bin){s->item[i].key, i, 1};
    }
    for (int64_t i = 0; i < s->bins; i++) {
        if (!add_reached(s, &s->bin[i])) return false;
    }
    if (s->blocks > 0) qsort(s->block, (size_t)s->blocks, sizeof *s->block, by_value);
    int64_t kept = 0;
    for (int64_t i = 0; i < s->blocks; i++) {
        if (i == 0 || s->block[i] != s->block[i - 1]) s->block[kept++] = s->block[i];
    }
    s->blocks = kept;
    return true;
}

/* ---- blocks ---- */

static const bin *find_bin(const splat *s, uint64_t key)
{
    int64_t low = 0, high = s->bins;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (s->bin[middle].key < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < s->bins && s->bin[low].key == key ? &s->bin[low] : NULL;
}

/* Adds what a particle gives to the voxels of a block. */
static void add_particle(const splat *s, int64_t particle, const int32_t origin[3], double *sums)
{
    int32_t base[3];
    double weight[3][3], value[FIRN_MAX_COLUMNS * 3];
    reach(s, particle, base, weight);
    for (int a = 0; a < 3; a++) base[a] -= origin[a];
    const double mass = firn_type_get(s->mass->type, s->mass->data, particle);
    for (int32_t c = 1; c < s->channels; c++) {
        const firn_column *from = s->channel[c].from;
        for (int32_t k = 0; k < from->components; k++) {
            value[s->channel[c].first + k] =
                firn_type_get(from->type, from->data, particle * from->components + k);
        }
    }
    for (int i = 0; i < 27; i++) {
        const int part[3] = {i / 9, i / 3 % 3, i % 3};
        const int at[3] = {base[0] + part[0], base[1] + part[1], base[2] + part[2]};
        if ((at[0] | at[1] | at[2]) & ~7) continue; /* in another block */
        const double share = mass * weight[0][part[0]] * weight[1][part[1]] * weight[2][part[2]];
        double *sum = sums + (64 * at[0] + 8 * at[1] + at[2]) * (1 + s->components);
        sum[0] += share;
        for (int32_t k = 0; k < s->components; k++) sum[1 + k] += share * value[k];
    }
}

/* Sums become densities and averages. */
static void store(const splat *s, int64_t index, const double *sums)
{
    const double volume = s->voxel * s->voxel * s->voxel;
    uint64_t active[8] = {0};
    for (int i = 0; i < FIRN_BLOCK_VOXELS; i++) {
        const double *sum = sums + i * (1 + s->components);
        if (!(sum[0] > 0)) continue;
        active[i / 64] |= (uint64_t)1 << (i % 64);
        const int64_t at = index * FIRN_BLOCK_VOXELS + i;
        s->channel[0].to->value[at] = (float)(sum[0] / volume);
        for (int32_t c = 1; c < s->channels; c++) {
            const channel *to = &s->channel[c];
            const int32_t n = to->from->components;
            for (int32_t k = 0; k < n; k++) {
                to->to->value[at * n + k] = (float)(sum[1 + to->first + k] / sum[0]);
            }
        }
    }
    for (int32_t c = 0; c < s->channels; c++) {
        firn_volume_block *block = &s->channel[c].to->block[index];
        voxel_of(s->block[index], block->origin);
        memcpy(block->active, active, sizeof active);
    }
}

static void gather(void *context, int64_t index, int32_t thread)
{
    const splat *s = context;
    const size_t numbers = (size_t)FIRN_BLOCK_VOXELS * (size_t)(1 + s->components);
    double *sums = s->sums + (size_t)thread * numbers;
    memset(sums, 0, numbers * sizeof *sums);
    int32_t origin[3];
    voxel_of(s->block[index], origin);
    for (unsigned side = 0; side < 8; side++) {
        const bin *b = find_bin(s, neighbour(s->block[index], side, -1));
        for (int64_t i = b ? b->first : 0; b && i < b->first + b->count; i++) {
            if (side & ~s->item[i].up) continue;
            add_particle(s, s->item[i].particle, origin, sums);
        }
    }
    store(s, index, sums);
}

/* ---- volumes ---- */

/* Whether averages of a column say something. */
static bool is_channel(const firn_column *c)
{
    static const char *const others[] = {"P", "mass", "density", "pscale"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (strcmp(c->name, others[i]) == 0) return false;
    }
    return c->type <= FIRN_TYPE_f64 && (c->components == 1 || c->components == 3);
}

/* One volume for density, then one for each channel, as large as there are blocks. */
static firn_status make_volumes(splat *s, firn_volumes *out, firn_error *error)
{
    const firn_points *points = s->points;
    s->channels = 1;
    for (int32_t c = 0; c < points->column_count; c++) {
        if (!is_channel(&points->column[c])) continue;
        s->channel[s->channels++] = (channel){.from = &points->column[c], .first = s->components};
        s->components += points->column[c].components;
    }
    const double voxels = (double)s->blocks * FIRN_BLOCK_VOXELS;
    const double bytes = voxels * (1 + s->components) * sizeof(float);
    firn_status st = firn_memory_check(bytes, "the volume", error);
    for (int32_t c = 0; c < s->channels && st == FIRN_OK; c++) {
        const firn_column *from = s->channel[c].from;
        const int32_t n = from ? from->components : 1;
        firn_volume *v = firn_volumes_add(out, from ? from->name : "density", n, s->voxel, error);
        if (!v) return FIRN_NO_MEMORY;
        if (n == 1) v->kind = FIRN_VOLUME_FOG;
        v->block_count = s->blocks;
        v->block = malloc(((size_t)s->blocks + 1) * sizeof *v->block);
        v->value = calloc((size_t)s->blocks * FIRN_BLOCK_VOXELS * (size_t)n + 1, sizeof *v->value);
        if (!v->block || !v->value) st = firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    }
    for (int32_t c = 0; c < s->channels; c++) s->channel[c].to = &out->volume[c];
    return st;
}

static firn_status check_points(const firn_points *points, double voxel, firn_error *error)
{
    const firn_column *P = firn_points_find(points, "P"), *mass = firn_points_find(points, "mass");
    if (!(voxel > 0 && isfinite(voxel))) {
        return firn_fail(error, FIRN_INVALID,
                         "voxel is %g m; a volume needs the edge of its voxels, as 0.02", voxel);
    }
    if (!P || P->components != 3 || !mass || mass->components != 1) {
        return firn_fail(error, FIRN_INVALID,
                         "there is no attribute %s; a volume is made of P and mass",
                         P && P->components == 3 ? "mass" : "P");
    }
    return FIRN_OK;
}

firn_status firn_volumes_splat(const firn_points *points, double voxel, int32_t threads,
                               firn_volumes *out, firn_error *error)
{
    FIRN_REQUIRE(points, error);
    FIRN_REQUIRE(out, error);
    *out = (firn_volumes){0};
    firn_status st = check_points(points, voxel, error);
    if (st != FIRN_OK) return st;
    if (threads == 0) threads = firn_parallel_max_threads();
    splat *s = calloc(1, sizeof *s);
    if (!s) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    s->points = points;
    s->P = firn_points_find(points, "P");
    s->mass = firn_points_find(points, "mass");
    s->voxel = voxel;
    for (int64_t p = 0; p < points->count && st == FIRN_OK; p++) st = check_particle(s, p, error);
    s->item = malloc(((size_t)points->count + 1) * sizeof *s->item);
    bool fine = s->item;
    if (st == FIRN_OK && fine) firn_parallel_for(threads, points->count, 4096, make_item, s);
    fine = st != FIRN_OK || (fine && sort_items(&s->item, points->count) && make_bins(s));
    if (!fine) st = firn_fail(error, FIRN_NO_MEMORY, "out of memory for a volume");
    if (st == FIRN_OK) st = make_volumes(s, out, error);
    if (st == FIRN_OK) {
        s->sums = malloc((size_t)threads * FIRN_BLOCK_VOXELS * (size_t)(1 + s->components) *
                         sizeof *s->sums);
        if (!s->sums) st = firn_fail(error, FIRN_NO_MEMORY, "out of memory for a volume");
    }
    if (st == FIRN_OK) firn_parallel_for(threads, s->blocks, 4, gather, s);
    if (st != FIRN_OK) firn_volumes_free(out);
    free(s->item);
    free(s->bin);
    free(s->block);
    free(s->sums);
    free(s);
    return st;
}

/* ---- the format ---- */

static firn_status write_points(const firn_points *points, const firn_write_options *options,
                                firn_output *out, firn_error *error)
{
    firn_volumes volumes;
    firn_status st = firn_volumes_splat(points, options->voxel, options->threads, &volumes, error);
    if (st == FIRN_OK) st = firn_volumes_put(&volumes, options, out, error);
    firn_volumes_free(&volumes);
    return st;
}

static const char *const needs[] = {"P", "mass", NULL};

const firn_format firn_format_vdb = {
    .name = "vdb",
    .extensions = ".vdb",
    .help = "OpenVDB volumes: density, v, temperature and the like",
    .recognise = firn_volumes_recognise,
    .write = write_points,
    .needs = needs,
};
