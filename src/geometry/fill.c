/* From a def to particles: checks, the search for a count, volumes, places that are taken. */
#include "geometry/fill.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/parallel.h"
#include "geometry/fill_parts.h"
#include "geometry/random.h"

static const char *const pattern_names[] = {
    [FIRN_FILL_REGULAR] = "regular",
    [FIRN_FILL_JITTERED] = "jittered",
    [FIRN_FILL_RANDOM] = "random",
    [FIRN_FILL_BLUE_NOISE] = "blue_noise",
};
enum { PATTERNS = sizeof pattern_names / sizeof *pattern_names };

const char *firn_pattern_name(firn_pattern pattern)
{
    return (unsigned)pattern < PATTERNS ? pattern_names[pattern] : NULL;
}

firn_fill_def firn_fill_def_default(void)
{
    return (firn_fill_def){
        .pattern = FIRN_FILL_JITTERED, .jitter = 1, .most = 1000000000, .threads = 1};
}

void firn_filling_free(firn_filling *filling)
{
    free(filling->position);
    free(filling->volume);
    *filling = (firn_filling){0};
}

/* ---- lists ---- */

static bool make_room(firn_seeding *list, int64_t room)
{
    if (room <= list->room) return true;
    double *position = realloc(list->position, (size_t)room * 3 * sizeof *position);
    if (position) list->position = position;
    uint8_t *level = position ? realloc(list->level, (size_t)room * sizeof *level) : NULL;
    if (!level) {
        list->failed = true;
        return false;
    }
    list->level = level;
    list->room = room;
    return true;
}

void firn_seeding_add(firn_seeding *list, const double position[3], int32_t level)
{
    if (list->count == list->room && !make_room(list, list->room ? 2 * list->room : 256)) return;
    memcpy(list->position + 3 * list->count, position, 3 * sizeof *position);
    list->level[list->count++] = (uint8_t)level;
}

void firn_seeding_free(firn_seeding *list)
{
    free(list->position); /* NOLINT(clang-analyzer-unix.Malloc): takes two lists for one */
    free(list->level);
    *list = (firn_seeding){0};
}

firn_status firn_seeding_join(firn_seeding *parts, int64_t count, firn_seeding *out,
                              firn_error *error)
{
    int64_t total = out->count;
    bool failed = false;
    for (int64_t i = 0; i < count; i++) {
        total += parts[i].count;
        failed = failed || parts[i].failed;
    }
    failed = failed || !make_room(out, total + 1);
    for (int64_t i = 0; i < count; i++) {
        if (!failed && parts[i].count > 0) {
            memcpy(out->position + 3 * out->count, parts[i].position,
                   (size_t)parts[i].count * 3 * sizeof *out->position);
            memcpy(out->level + out->count, parts[i].level,
                   (size_t)parts[i].count * sizeof *out->level);
            out->count += parts[i].count;
        }
        firn_seeding_free(&parts[i]);
    }
    if (!failed) return FIRN_OK;
    return firn_fail(error, FIRN_NO_MEMORY, "out of memory for %lld particles", (long long)total);
}

/* ---- what a def must satisfy ---- */

double firn_fill_expected(const firn_region *region, const firn_fill_def *def)
{
    if (def->separation > 0) return region->volume / pow(def->separation, region->dimension);
    if (def->per_voxel > 0) return (double)def->per_voxel * (double)region->voxels->full;
    return (double)def->count;
}

static firn_status check_amount(const firn_region *region, const firn_fill_def *def,
                                firn_error *error)
{
    const int given = (def->separation != 0) + (def->count != 0) + (def->per_voxel != 0);
    if (given != 1) {
        return firn_fail(error, FIRN_INVALID,
                         "%s given; give one of separation (m), count and per_voxel",
                         given == 0 ? "no amount of particles is" : "more than one amount is");
    }
    if (def->separation != 0 && !(def->separation > 0 && isfinite(def->separation))) {
        return firn_fail(error, FIRN_INVALID, "separation %g must be above 0 and finite (m)",
                         def->separation);
    }
    if (def->count < 0 || def->per_voxel < 0) {
        return firn_fail(error, FIRN_INVALID, "%s %lld must be above 0",
                         def->count < 0 ? "count" : "per_voxel",
                         (long long)(def->count < 0 ? def->count : def->per_voxel));
    }
    if (def->per_voxel > 0) {
        if (!region->voxels) {
            return firn_fail(error, FIRN_INVALID,
                             "per_voxel is for voxel files; give separation or count");
        }
        if (def->pattern == FIRN_FILL_BLUE_NOISE || def->refine_levels > 0) {
            return firn_fail(error, FIRN_INVALID,
                             "per_voxel goes with neither blue noise nor refinement; give "
                             "separation or count");
        }
    }
    const double expected = firn_fill_expected(region, def);
    if (expected <= (double)def->most) return FIRN_OK;
    return firn_fail(error, FIRN_INVALID,
                     "about %.3g particles of at most %lld; use a separation of at least %.3g m",
                     expected, (long long)def->most,
                     pow(region->volume / (double)def->most, 1.0 / region->dimension));
}

static firn_status check(const firn_region *region, const firn_fill_def *def, firn_error *error)
{
    if ((unsigned)def->pattern >= PATTERNS) {
        return firn_fail(error, FIRN_INVALID, "pattern %d must be a firn_pattern", def->pattern);
    }
    if (!(def->jitter >= 0 && def->jitter <= 1)) {
        return firn_fail(error, FIRN_INVALID, "jitter %g must be 0 to 1 cells", def->jitter);
    }
    if (def->refine_levels < 0 || def->refine_levels > FIRN_FILL_LEVELS) {
        return firn_fail(error, FIRN_INVALID, "refine_levels %d must be 0 to %d",
                         (int)def->refine_levels, FIRN_FILL_LEVELS);
    }
    if (def->refine_levels > 0 && !(def->refine_distance > 0 && isfinite(def->refine_distance))) {
        return firn_fail(error, FIRN_INVALID, "refine_distance %g must be above 0 and finite (m)",
                         def->refine_distance);
    }
    return check_amount(region, def, error);
}

/* ---- so many as asked ---- */

static firn_status generate(const firn_region *region, const firn_fill_def *def, double separation,
                            firn_seeding *out, firn_error *error)
{
    if (def->per_voxel > 0) return firn_fill_voxels(region, def, out, error);
    if (def->pattern == FIRN_FILL_BLUE_NOISE) {
        return firn_fill_blue(region, def, separation, out, error);
    }
    return firn_fill_lattice(region, def, separation, out, error);
}

/* Looks for a separation that gives a little more than the count. Lattices jump: what comes nearest
 * from above is kept. */
static firn_status search_count(const firn_region *region, const firn_fill_def *def,
                                firn_seeding *best, double *separation, firn_error *error)
{
    assert(def->count > 0);
    const double wanted = (double)def->count, power = 1.0 / region->dimension;
    double h = 0.999 * pow(region->volume / wanted, power);
    for (int attempt = 0; attempt < 60; attempt++) {
        firn_seeding list = {0};
        const firn_status st = generate(region, def, h, &list, error);
        if (st != FIRN_OK) {
            firn_seeding_free(&list);
            return st;
        }
        const double got = (double)list.count;
        if (list.count >= def->count && (best->count == 0 || list.count < best->count)) {
            const firn_seeding worse = *best;
            *best = list;
            list = worse;
            *separation = h;
        }
        firn_seeding_free(&list);
        const bool near = best->count > 0 && (double)best->count <= 1.01 * wanted;
        if (near || (best->count > 0 && attempt >= 12)) return FIRN_OK;
        const double change = pow(fmax(got, 0.5) / (1.002 * wanted), power);
        h *= fmin(fmax(change, 0.5), 2);
        if (got < wanted) h *= 0.999;
    }
    return firn_fail(error, FIRN_INVALID,
                     "found no separation that gives %lld particles; give a separation",
                     (long long)def->count);
}

typedef struct ranked {
    double rank; /* low ranks go first */
    uint64_t tie;
    int64_t index;
} ranked;

static int by_rank(const void *a, const void *b)
{
    const ranked *p = a, *q = b;
    if (p->rank != q->rank) return p->rank < q->rank ? -1 : 1;
    if (p->tie != q->tie) return p->tie < q->tie ? -1 : 1;
    return p->index < q->index ? -1 : 1;
}

typedef struct ranking {
    const firn_region *region;
    const firn_seeding *list;
    double separation;
    uint64_t seed;
    bool by_depth;
    ranked *rank;
} ranking;

static void rank_particle(void *context, int64_t i, int32_t thread)
{
    (void)thread;
    const ranking *r = context;
    ranked *out = &r->rank[i];
    *out = (ranked){.tie = firn_random_bits(r->seed, i, 0, 0, 1), .index = i};
    if (r->by_depth) {
        const double depth = firn_region_depth(r->region, r->list->position + 3 * i, r->separation);
        out->rank = rint(depth / r->separation * 256); /* alike by rounding is alike */
    }
}

/* Takes the surplus away: at the surface where that leaves the pattern whole, anywhere where the pattern
 * is random anyway. */
static firn_status trim(const firn_region *region, const firn_fill_def *def, double separation,
                        firn_seeding *list, firn_error *error)
{
    const int64_t surplus = list->count - def->count;
    if (surplus <= 0) return FIRN_OK;
    ranking r = {
        .region = region,
        .list = list,
        .separation = separation,
        .seed = def->seed,
        .by_depth = def->pattern == FIRN_FILL_REGULAR || def->pattern == FIRN_FILL_BLUE_NOISE,
        .rank = malloc((size_t)list->count * sizeof *r.rank),
    };
    bool *gone = calloc((size_t)list->count, sizeof *gone);
    if (!r.rank || !gone) {
        free(r.rank);
        free(gone);
        return firn_fail(error, FIRN_NO_MEMORY, "out of memory for %lld particles",
                         (long long)list->count);
    }
    firn_parallel_for(def->threads, list->count, 1024, rank_particle, &r);
    qsort(r.rank, (size_t)list->count, sizeof *r.rank, by_rank);
    for (int64_t i = 0; i < surplus; i++) gone[r.rank[i].index] = true;
    int64_t kept = 0;
    for (int64_t i = 0; i < list->count; i++) {
        if (gone[i]) continue;
        memmove(list->position + 3 * kept, list->position + 3 * i, 3 * sizeof *list->position);
        list->level[kept++] = list->level[i];
    }
    list->count = kept;
    free(r.rank);
    free(gone);
    return FIRN_OK;
}

/* ---- volumes, and places that are taken ---- */

/* Each by the share of its own cell. Powers of two: the sum of shares is exact. */
static void share_volume(const firn_region *region, const firn_seeding *list, double *volume)
{
    double shares = 0;
    for (int64_t i = 0; i < list->count; i++) {
        volume[i] = ldexp(1, -region->dimension * list->level[i]);
        shares += volume[i];
    }
    for (int64_t i = 0; i < list->count; i++) volume[i] *= region->volume / shares;
}

typedef struct taking {
    const firn_region **region;
    int32_t count;
    const double *position;
    bool *taken;
} taking;

static void ask_taken(void *context, int64_t i, int32_t thread)
{
    (void)thread;
    const taking *t = context;
    for (int32_t r = 0; r < t->count && !t->taken[i]; r++) {
        t->taken[i] = firn_region_inside(t->region[r], t->position + 3 * i);
    }
}

/* The regions whose box meets that of the particles; how many. */
static int32_t find_near(const firn_fill_def *def, int32_t dimension, const firn_filling *f,
                         const firn_region **near)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    int32_t count = 0;
    for (int64_t i = 0; i < f->count; i++) {
        for (int a = 0; a < dimension; a++) {
            low[a] = fmin(low[a], f->position[3 * i + a]);
            high[a] = fmax(high[a], f->position[3 * i + a]);
        }
    }
    for (int32_t r = 0; r < def->taken_count; r++) {
        bool meets = true;
        for (int a = 0; a < dimension && meets; a++) {
            meets = def->taken[r]->low[a] <= high[a] && def->taken[r]->high[a] >= low[a];
        }
        if (meets) near[count++] = def->taken[r];
    }
    return count;
}

static firn_status drop_taken(const firn_fill_def *def, int32_t dimension, firn_filling *out,
                              firn_error *error)
{
    if (def->taken_count == 0) return FIRN_OK;
    taking t = {.region = malloc((size_t)def->taken_count * sizeof *t.region),
                .position = out->position,
                .taken = calloc((size_t)out->count, sizeof *t.taken)};
    if (!t.region || !t.taken) {
        free(t.region);
        free(t.taken);
        return firn_fail(error, FIRN_NO_MEMORY, "out of memory while filling");
    }
    t.count = find_near(def, dimension, out, t.region);
    if (t.count > 0) firn_parallel_for(def->threads, out->count, 1024, ask_taken, &t);
    int64_t kept = 0;
    for (int64_t i = 0; i < out->count; i++) {
        if (t.taken[i]) continue;
        memmove(out->position + 3 * kept, out->position + 3 * i, 3 * sizeof *out->position);
        out->volume[kept++] = out->volume[i];
    }
    out->dropped = out->count - kept;
    out->count = kept;
    free(t.region);
    free(t.taken);
    return FIRN_OK;
}

firn_status firn_fill(const firn_region *region, const firn_fill_def *def, firn_filling *out,
                      firn_error *error)
{
    *out = (firn_filling){.separation = def->separation};
    firn_status st = check(region, def, error);
    if (st != FIRN_OK) return st;
    firn_seeding list = {0};
    if (def->count > 0) {
        st = search_count(region, def, &list, &out->separation, error);
        if (st == FIRN_OK) st = trim(region, def, out->separation, &list, error);
    } else {
        st = generate(region, def, def->separation, &list, error);
        if (def->per_voxel > 0) {
            out->separation =
                cbrt(region->volume / (double)region->voxels->full / (double)def->per_voxel);
        }
    }
    if (st == FIRN_OK && list.count == 0) {
        st = firn_fail(error, FIRN_INVALID,
                       "no particle fits at a separation of %g m; use one below %.3g m",
                       out->separation, 0.5 * out->separation);
    }
    if (st == FIRN_OK) {
        out->volume = malloc((size_t)list.count * sizeof *out->volume);
        if (!out->volume) {
            st = firn_fail(error, FIRN_NO_MEMORY, "out of memory for %lld particles",
                           (long long)list.count);
        }
    }
    if (st == FIRN_OK) {
        share_volume(region, &list, out->volume);
        out->count = list.count;
        out->position = list.position;
        list.position = NULL;
        st = drop_taken(def, region->dimension, out, error);
    }
    firn_seeding_free(&list);
    if (st != FIRN_OK) firn_filling_free(out);
    return st;
}
