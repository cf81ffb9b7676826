/* Meshes as volumes: the engine's level set of a mesh (mesh/levelset.h), cut into the blocks of an OpenVDB
 * tree. Both have nodes at the same places, but their blocks begin at different ones. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <firn/geometry.h>

#include "base/error.h"
#include "io/volume.h"
#include "mesh/levelset.h"
#include "mesh/mesh.h"

enum { EDGE = FIRN_BLOCK_EDGE, SIDE = EDGE + 1, NODES = SIDE * SIDE * SIDE };
enum { SURFACE, VELOCITY, NORMAL, KINDS };
static const double FARTHEST = 1 << 30; /* voxels from the origin */

typedef struct cutting {
    const firn_voxelize_def *def;
    const firn_levelset *set;
    int32_t first[3], size[3]; /* blocks of the volumes around the level set: the first, how many */
    int32_t low[3];            /* voxel of the level set's first node */
    float background;          /* m */
    int64_t count;
    firn_volume_block *block; /* with values, in the order of trees */
    float *value[KINDS];      /* NULL: not asked for */
} cutting;

static void block_origin(const cutting *c, int64_t index, int32_t origin[3])
{
    const int64_t at[3] = {index / c->size[2] / c->size[1], index / c->size[2] % c->size[1],
                           index % c->size[2]};
    for (int a = 0; a < 3; a++) origin[a] = (c->first[a] + (int32_t)at[a]) * EDGE;
}

/* The distance of a voxel, m; outside of the band its sign alone counts. *node, unless NULL, receives which
 * of the level set's nodes it is, or -1. */
static double distance_at(const cutting *c, const int32_t voxel[3], int64_t *node)
{
    int64_t block = 0, within = 0;
    if (node) *node = -1;
    for (int a = 0; a < 3; a++) {
        const int32_t at = voxel[a] - c->low[a];
        if (at < 0 || at >= EDGE * c->set->size[a]) return INFINITY;
        block = block * c->set->size[a] + at / EDGE;
        within = within * SIDE + at % EDGE;
    }
    const firn_levelset_block *from = &c->set->block[block];
    if (from->nodes < 0) return (double)from->distance;
    within += (int64_t)from->nodes * NODES;
    if (node) *node = within;
    return (double)c->set->distance[within] - c->set->half;
}

/* What the surface's nearest point has, by its triangle's corners: `field` per vertex as given if `source`,
 * else as the mesh has them. */
static void nearest_value(const cutting *c, int64_t n, const double *field, bool source,
                          double out[3])
{
    const firn_mesh *mesh = c->def->mesh;
    const int32_t *v = mesh->triangle + 3 * (ptrdiff_t)c->set->triangle[n];
    const double u = (double)c->set->weight[n][0], w = (double)c->set->weight[n][1];
    const double weight[3] = {u, w, 1 - u - w};
    for (int a = 0; a < 3; a++) {
        out[a] = 0;
        for (int k = 0; k < 3; k++) {
            const int32_t at = source ? mesh->source[v[k]] : v[k];
            out[a] += weight[k] * field[3 * (ptrdiff_t)at + a];
        }
    }
}

/* Away from the nearest point, or towards it from inside. Too near to tell, the nearest face says. */
static void normal_at(const cutting *c, int64_t n, const int32_t voxel[3], float out[3])
{
    double point[3], way[3], square = 0;
    nearest_value(c, n, c->def->mesh->vertex, false, way);
    for (int a = 0; a < 3; a++) {
        point[a] = voxel[a] * c->set->voxel;
        way[a] = point[a] - way[a];
        square += way[a] * way[a];
    }
    /* Weights are floats: the nearest point is that exact. */
    if (square > 1e-6 * c->set->voxel * c->set->voxel) {
        const double length = (c->set->distance[n] < 0 ? -1 : 1) * sqrt(square);
        for (int a = 0; a < 3; a++) out[a] = (float)(way[a] / length);
    } else {
        firn_mesh_normal(c->def->mesh, point, way);
        for (int a = 0; a < 3; a++) out[a] = (float)way[a];
    }
}

/* Fills one block of all volumes. */
static void cut_block(void *context, int64_t index, int32_t thread)
{
    (void)thread;
    const cutting *c = context;
    firn_volume_block *to = &c->block[index];
    for (int i = 0; i < FIRN_BLOCK_VOXELS; i++) {
        const int32_t voxel[3] = {to->origin[0] + i / 64, to->origin[1] + i / 8 % 8,
                                  to->origin[2] + i % 8};
        const int64_t at = index * FIRN_BLOCK_VOXELS + i;
        int64_t n;
        const double distance = distance_at(c, voxel, &n);
        const bool active = n >= 0 && fabs(distance) < (double)c->background;
        c->value[SURFACE][at] = active         ? (float)distance
                                : distance < 0 ? -c->background
                                               : c->background;
        for (int k = VELOCITY; k < KINDS; k++) {
            if (c->value[k]) memset(c->value[k] + 3 * at, 0, 3 * sizeof(float));
        }
        if (!active) continue;
        to->active[i / 64] |= (uint64_t)1 << (i % 64);
        if (c->value[VELOCITY]) {
            double v[3];
            nearest_value(c, n, c->def->velocities, true, v);
            for (int a = 0; a < 3; a++) c->value[VELOCITY][3 * at + a] = (float)v[a];
        }
        if (c->value[NORMAL]) normal_at(c, n, voxel, c->value[NORMAL] + 3 * at);
    }
}

static firn_status no_memory(const cutting *c, firn_error *error)
{
    return firn_fail(error, FIRN_NO_MEMORY, "%s: out of memory; use a larger voxel", c->def->name);
}

/* Tiles begin with their origins, too. */
static int by_origin(const void *left, const void *right) { return firn_volume_order(left, right); }

/* Makes a list of the blocks that share a node with blocks of the level set that have nodes. */
static firn_status list_blocks(cutting *c, firn_error *error)
{
    int64_t all = 1;
    for (int a = 0; a < 3; a++) {
        c->low[a] = (int32_t)lround(c->set->low[a] / c->set->voxel);
        c->first[a] = (int32_t)floor((double)c->low[a] / EDGE);
        c->size[a] = c->set->size[a] + 1;
        all *= c->size[a];
    }
    bool *marked = calloc((size_t)all, sizeof *marked);
    if (!marked) return no_memory(c, error);
    for (int64_t i = 0; i < c->set->count; i++) {
        const int64_t at = c->set->place[i], z = at % c->set->size[2],
                      y = at / c->set->size[2] % c->set->size[1],
                      x = at / c->set->size[2] / c->set->size[1];
        for (int k = 0; k < 8; k++) {
            bool *mark = &marked[((x + (k >> 2)) * c->size[1] + y + (k >> 1 & 1)) * c->size[2] + z +
                                 (k & 1)];
            c->count += !*mark;
            *mark = true;
        }
    }
    c->block = calloc((size_t)c->count + 1, sizeof *c->block);
    for (int64_t i = 0, n = 0; i < all && c->block; i++) {
        if (marked[i]) block_origin(c, i, c->block[n++].origin);
    }
    free(marked);
    if (!c->block) return no_memory(c, error);
    qsort(c->block, (size_t)c->count, sizeof *c->block, by_origin);
    return FIRN_OK;
}

static firn_status make_room(cutting *c, firn_error *error)
{
    const size_t voxels = (size_t)c->count * FIRN_BLOCK_VOXELS;
    const bool asked[KINDS] = {true, c->def->velocities != NULL, c->def->normals};
    const double each = 4 + 12 * asked[VELOCITY] + 12 * asked[NORMAL];
    const firn_status st = firn_memory_check((double)voxels * each, c->def->name, error);
    if (st != FIRN_OK) return st;
    bool fine = true;
    for (int k = 0; k < KINDS; k++) {
        if (!asked[k]) continue;
        c->value[k] = malloc((voxels + 1) * (k == SURFACE ? 1 : 3) * sizeof *c->value[k]);
        fine = fine && c->value[k];
    }
    return fine ? FIRN_OK : no_memory(c, error);
}

/* Drops blocks that turned out to have nothing active. */
static void drop_idle(cutting *c)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < c->count; i++) {
        uint64_t any = 0;
        for (int w = 0; w < 8; w++) any |= c->block[i].active[w];
        if (!any) continue;
        c->block[kept] = c->block[i];
        for (int k = 0; k < KINDS && kept < i; k++) {
            const size_t numbers = FIRN_BLOCK_VOXELS * (k == SURFACE ? 1 : 3);
            if (!c->value[k]) continue;
            memcpy(c->value[k] + (size_t)kept * numbers, c->value[k] + (size_t)i * numbers,
                   numbers * sizeof(float));
        }
        kept++;
    }
    c->count = kept;
}

/* Tiles of minus the background where a whole block is inside. */
static firn_status add_tiles(const cutting *c, firn_volume *to, firn_error *error)
{
    const int64_t all = (int64_t)c->size[0] * c->size[1] * c->size[2];
    to->tile = malloc(((size_t)all + 1) * sizeof *to->tile);
    if (!to->tile) return no_memory(c, error);
    for (int64_t i = 0; i < all; i++) {
        firn_volume_tile tile = {.edge = EDGE, .value = {-c->background}};
        block_origin(c, i, tile.origin);
        if (distance_at(c, tile.origin, NULL) < 0 && firn_volume_find_block(to, tile.origin) < 0) {
            to->tile[to->tile_count++] = tile;
        }
    }
    qsort(to->tile, (size_t)to->tile_count, sizeof *to->tile, by_origin);
    return FIRN_OK;
}

/* Hands blocks and values over to volumes. */
static firn_status add_volumes(cutting *c, firn_volumes *out, firn_error *error)
{
    static const char *const names[KINDS] = {"surface", "v", "normal"};
    for (int k = 0; k < KINDS; k++) {
        if (!c->value[k]) continue;
        const size_t bytes = ((size_t)c->count + 1) * sizeof *c->block;
        firn_volume *v =
            firn_volumes_add(out, names[k], k == SURFACE ? 1 : 3, c->set->voxel, error);
        if (!v) return FIRN_NO_MEMORY;
        v->block = malloc(bytes);
        if (!v->block) return no_memory(c, error);
        memcpy(v->block, c->block, bytes);
        v->block_count = c->count;
        v->value = c->value[k];
        c->value[k] = NULL;
        if (k != SURFACE) continue;
        v->kind = FIRN_VOLUME_LEVEL_SET;
        v->background[0] = c->background;
        const firn_status st = add_tiles(c, v, error);
        if (st != FIRN_OK) return st;
    }
    return FIRN_OK;
}

firn_voxelize_def firn_voxelize_def_default(void)
{
    return (firn_voxelize_def){.band = 3, .name = "mesh"};
}

static firn_status check(const firn_voxelize_def *def, firn_error *error)
{
    if (!(def->voxel > 0 && isfinite(def->voxel) && def->band >= 1 && def->band <= 1000)) {
        return firn_fail(error, FIRN_INVALID,
                         "%s: voxel %g m must be above 0, and band %g from 1 to 1000 voxels",
                         def->name, def->voxel, def->band);
    }
    for (int a = 0; a < 3; a++) {
        const double far = fmax(fabs(def->mesh->low[a]), fabs(def->mesh->high[a]));
        if (far / def->voxel < FARTHEST) continue;
        return firn_fail(
            error, FIRN_INVALID,
            "%s: it reaches %g m from the origin, which is too far for voxels of %g m; "
            "use a larger voxel",
            def->name, far, def->voxel);
    }
    return FIRN_OK;
}

firn_status firn_volumes_voxelize(const firn_voxelize_def *given, firn_volumes *out,
                                  firn_error *error)
{
    FIRN_REQUIRE(out, error);
    *out = (firn_volumes){0};
    FIRN_REQUIRE(given, error);
    FIRN_REQUIRE(given->mesh, error);
    firn_voxelize_def def = *given;
    if (!def.name) def.name = "mesh";
    if (def.threads == 0) def.threads = firn_parallel_max_threads();
    firn_status st = check(&def, error);
    if (st != FIRN_OK) return st;
    const firn_workers workers = {.count = def.threads};
    const firn_allocator allocator = firn_allocator_default();
    const firn_levelset_def level_set = {.mesh = def.mesh,
                                         .voxel = def.voxel,
                                         .band = def.band * def.voxel,
                                         .follows = def.velocities || def.normals,
                                         .workers = &workers,
                                         .allocator = &allocator,
                                         .name = def.name};
    firn_levelset set;
    st = firn_levelset_create(&level_set, &set, error);
    if (st != FIRN_OK) return st;
    cutting c = {.def = &def, .set = &set, .background = (float)(def.band * def.voxel)};
    st = list_blocks(&c, error);
    if (st == FIRN_OK) st = make_room(&c, error);
    if (st == FIRN_OK) {
        firn_parallel_for(def.threads, c.count, 1, cut_block, &c);
        drop_idle(&c);
        st = add_volumes(&c, out, error);
    }
    firn_levelset_free(&set, &allocator);
    free(c.block);
    for (int k = 0; k < KINDS; k++) free(c.value[k]);
    if (st != FIRN_OK) firn_volumes_free(out);
    return st;
}
