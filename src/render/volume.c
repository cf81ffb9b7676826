/* Particles to bricks: which there are, the tree above them, density by quadratic B-splines, smoothing,
 * and the particles that stay spheres. Every brick collects what reaches it, in the order of the sorted
 * particles, so threads change nothing. */
#include "render/volume.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/parallel.h"

enum { VOXELS = BLOCK * BLOCK * BLOCK, PADDED = EDGE * EDGE * EDGE };

/* Half the support of a particle's kernel, and the radius of a particle drawn as a ball, as parts of
 * its size. */
static const float REACH = 1.65f, BALL = 0.5f;
/* Edge of the cube that grains of a crumbled ball lie in, as a part of its radius. */
static const float SCATTERED = 4.5f;
enum { POWDER_MOST = 8 };
/* Density that smoothing should leave where a particle is: a little inside an even surface. */
static const float INSIDE = 0.6f;
/* Fewer particles than this within about two spacings are drawn as balls: a surface around them would
 * be a speck, and a brick for each would fill memory. */
enum { CROWD = 6 };

static firn_status out_of_memory(firn_error *error)
{
    return firn_fail(error, FIRN_NO_MEMORY,
                     "out of memory for the density of a picture; draw it "
                     "as points, or fewer particles");
}

/* ---- who is alone ---- */

/* How many particles each cell has, by a table of open addresses. */
typedef struct census {
    uint64_t *cell; /* of the cell's coordinates and the layer; 0: free */
    uint32_t *count;
    size_t mask;
} census;

static uint64_t census_key(int32_t x, int32_t y, int32_t z, int32_t layer)
{
    return ((uint64_t)x << 44 ^ (uint64_t)y << 26 ^ (uint64_t)z << 8 ^
            (uint64_t)(layer & 127) << 1) |
           1;
}

static size_t census_place(const census *c, uint64_t key)
{
    uint64_t h = (key ^ (key >> 29)) * 0xbf58476d1ce4e5b9u;
    size_t i = (size_t)(h >> 20) & c->mask;
    while (c->cell[i] && c->cell[i] != key) i = (i + 1) & c->mask;
    return i;
}

static bool count_cells(const firn_cloud *cloud, census *out)
{
    size_t room = 1024;
    while (room < 2 * (size_t)cloud->count) room *= 2;
    *out = (census){calloc(room, sizeof *out->cell), calloc(room, sizeof *out->count), room - 1};
    if (!out->cell || !out->count) return false;
    for (int64_t i = 0; i < cloud->count; i++) {
        const vec3 p = cloud->position[i];
        const uint64_t key = census_key((int32_t)p.x / 2, (int32_t)p.y / 2, (int32_t)p.z / 2,
                                        cloud_key_layer(cloud->key[i]));
        const size_t at = census_place(out, key);
        out->cell[at] = key;
        out->count[at]++;
    }
    return true;
}

typedef struct lone_task {
    const firn_cloud *cloud;
    const census *census;
    bool *lone;
} lone_task;

static void find_lone(void *context, int64_t i, int32_t thread)
{
    (void)thread;
    const lone_task *t = context;
    const vec3 p = t->cloud->position[i];
    const int32_t x = (int32_t)p.x / 2, y = (int32_t)p.y / 2, z = (int32_t)p.z / 2;
    const int32_t layer = cloud_key_layer(t->cloud->key[i]);
    uint32_t crowd = t->census->count[census_place(t->census, census_key(x, y, z, layer))];
    for (int n = 0; n < NEIGHBOURS && crowd < CROWD; n++) {
        if (n == MIDDLE) continue;
        const uint64_t key = census_key(x + n % 3 - 1, y + n / 3 % 3 - 1, z + n / 9 - 1, layer);
        crowd += t->census->count[census_place(t->census, key)];
    }
    t->lone[i] = crowd < CROWD;
}

static bool mark_lone(const firn_cloud *cloud, int32_t threads, bool *lone)
{
    census c;
    const bool done = count_cells(cloud, &c);
    if (done) {
        lone_task task = {cloud, &c, lone};
        firn_parallel_for(threads, cloud->count, 4096, find_lone, &task);
    }
    free(c.cell);
    free(c.count);
    return done;
}

/* ---- blocks and bricks ---- */

/* Keys of bricks (block and layer), or of blocks that only spheres need (layer LAYERS_MOST - 1 of an
 * extra bit). */
typedef struct key_list {
    uint64_t *key;
    int64_t count, room;
} key_list;

static bool push_key(key_list *list, uint64_t key)
{
    if (list->count && list->key[list->count - 1] == key) return true;
    if (list->count == list->room) {
        const int64_t room = list->room ? 2 * list->room : 4096;
        uint64_t *grown = realloc(list->key, (size_t)room * sizeof *grown);
        if (!grown) return false;
        list->key = grown;
        list->room = room;
    }
    list->key[list->count++] = key;
    return true;
}

static bool sort_unique(key_list *list)
{
    const size_t n = (size_t)list->count + 1;
    uint32_t *payload = calloc(n, sizeof *payload);
    void *spare = malloc(n * (sizeof *list->key + sizeof *payload));
    const bool room = payload && spare;
    if (room) {
        firn_cloud_sort(list->key, payload, list->count, spare);
        int64_t kept = 0;
        for (int64_t i = 0; i < list->count; i++) {
            if (i == 0 || list->key[i] != list->key[i - 1]) list->key[kept++] = list->key[i];
        }
        list->count = kept;
    }
    free(payload);
    free(spare);
    return room;
}

/* All blocks that a box (voxels) touches, with `low` bits below the block's key. */
static bool push_box(key_list *list, vec3 from, vec3 to, uint64_t low)
{
    for (int32_t z = (int32_t)from.z / BLOCK; z <= (int32_t)to.z / BLOCK; z++) {
        for (int32_t y = (int32_t)from.y / BLOCK; y <= (int32_t)to.y / BLOCK; y++) {
            for (int32_t x = (int32_t)from.x / BLOCK; x <= (int32_t)to.x / BLOCK; x++) {
                if (!push_key(list, firn_cloud_block_key(x, y, z) << (LAYER_BITS + 1) | low)) {
                    return false;
                }
            }
        }
    }
    return true;
}

static vec3 low_of(vec3 a, vec3 b) { return v3(f_min(a.x, b.x), f_min(a.y, b.y), f_min(a.z, b.z)); }
static vec3 high_of(vec3 a, vec3 b)
{
    return v3(f_max(a.x, b.x), f_max(a.y, b.y), f_max(a.z, b.z));
}

static const uint64_t BARE = (uint64_t)1 << LAYER_BITS; /* a block without a brick of its own */

/* What is needed: bricks around every run of particles of one block and layer, blocks around balls. */
static bool list_bricks(const firn_cloud *cloud, const bool *lone, key_list *list)
{
    for (int64_t i = 0; i < cloud->count;) {
        const uint64_t run = cloud->key[i] >> 6;
        const int32_t layer = cloud_key_layer(cloud->key[i]);
        /* As far as smoothing leaves anything to speak of: two and a half of its standard deviations. */
        const float extra =
            1 + f_min(cloud->layer[layer].passes, 2.5f * sqrtf(0.5f * cloud->layer[layer].passes));
        vec3 low = v3_all(INFINITY), high = v3_all(-INFINITY);
        for (; i < cloud->count && cloud->key[i] >> 6 == run; i++) {
            const vec3 p = cloud->position[i];
            if (lone[i]) { /* room for its ball, or what that crumbles to */
                const bool crumbles = cloud->layer[layer].look->powder > 1;
                const vec3 room =
                    v3_all((crumbles ? 0.5f * SCATTERED + 1 : 1) * BALL * cloud->size[i]);
                if (!push_box(list, v3_sub(p, room), v3_add(p, room), BARE)) return false;
                continue;
            }
            const vec3 reach = v3_all(REACH * cloud->size[i] + extra);
            low = low_of(low, v3_sub(p, reach));
            high = high_of(high, v3_add(p, reach));
        }
        if (low.x <= high.x && !push_box(list, low, high, (uint64_t)layer)) return false;
    }
    return sort_unique(list);
}

static void block_of_key(uint64_t key, int32_t at[3])
{
    at[0] = at[1] = at[2] = 0;
    for (int digit = 0; digit < TREE_DEPTH; digit++) {
        const int part = (int)(key >> 6 * digit & 63);
        at[0] |= (part & 3) << 2 * digit;
        at[1] |= (part >> 2 & 3) << 2 * digit;
        at[2] |= (part >> 4) << 2 * digit;
    }
}

/* Levels of nodes over sorted keys of blocks, until one node holds all. */
static bool build_tree(firn_volume_tree *tree, const uint64_t *block_key, int32_t count)
{
    uint64_t *key = malloc(((size_t)count + 1) * sizeof *key);
    if (!key) return false;
    memcpy(key, block_key, (size_t)count * sizeof *key);
    int32_t n = count;
    do {
        firn_tree_node *node = malloc((size_t)n * sizeof *node);
        tree->level[tree->levels++] = node;
        if (!node) break;
        int32_t nodes = 0;
        for (int32_t i = 0; i < n; i++) {
            if (i == 0 || key[i] >> 6 != key[nodes - 1]) {
                node[nodes] =
                    (firn_tree_node){.mask = (uint64_t)1 << (key[i] & 63), .first = (uint32_t)i};
                const uint64_t up = key[i] >> 6;
                key[nodes++] = up;
            } else {
                node[nodes - 1].mask |= (uint64_t)1 << (key[i] & 63);
            }
        }
        for (int32_t i = 0; i < nodes; i++) {
            uint8_t before = 0;
            for (int child = 0; child < 64; child++) {
                node[i].rank[child] = before;
                before = (uint8_t)(before + (node[i].mask >> child & 1));
            }
        }
        n = nodes;
        if (tree->levels == 1) tree->leaf_count = n;
    } while (n > 1 && tree->levels < TREE_DEPTH);
    free(key);
    return tree->level[tree->levels - 1] != NULL;
}

static bool make_blocks(const key_list *list, firn_volume *f)
{
    f->block = calloc((size_t)list->count + 1, sizeof *f->block);
    f->brick = calloc((size_t)list->count + 1, sizeof *f->brick);
    uint64_t *key = malloc(((size_t)list->count + 1) * sizeof *key);
    if (!f->block || !f->brick || !key) {
        free(key);
        return false;
    }
    for (int64_t i = 0; i < list->count; i++) {
        const uint64_t block = list->key[i] >> (LAYER_BITS + 1);
        if (f->block_count == 0 || key[f->block_count - 1] != block) {
            firn_volume_block *b = &f->block[f->block_count];
            key[f->block_count++] = block;
            block_of_key(block, b->at);
            for (int a = 0; a < 3; a++) {
                const bool first = f->block_count == 1;
                int32_t *low = &f->tree.low[a], *high = &f->tree.high[a];
                *low = first || b->at[a] < *low ? b->at[a] : *low;
                *high = first || b->at[a] >= *high ? b->at[a] + 1 : *high;
            }
            b->brick = f->brick_count;
            b->lit = -1;
        }
        if (list->key[i] & BARE) continue;
        firn_brick *b = &f->brick[f->brick_count++];
        b->block = f->block_count - 1;
        b->layer = (int32_t)(list->key[i] & (LAYERS_MOST - 1));
        f->block[b->block].brick_count++;
    }
    const bool done = f->block_count == 0 || build_tree(&f->tree, key, f->block_count);
    free(key);
    return done;
}

static void link_brick(void *context, int64_t i, int32_t thread)
{
    (void)thread;
    const firn_volume *f = context;
    firn_brick *b = &f->brick[i];
    const int32_t *at = f->block[b->block].at;
    for (int n = 0; n < NEIGHBOURS; n++) {
        const int32_t block =
            firn_volume_block_at(f, at[0] + n % 3 - 1, at[1] + n / 3 % 3 - 1, at[2] + n / 9 - 1);
        b->neighbour[n] = block < 0 ? -1 : firn_block_brick(f, &f->block[block], b->layer);
    }
}

/* Bricks and runs of particles are in the same order. */
static void give_particles(firn_volume *f)
{
    const firn_cloud *cloud = f->cloud;
    int32_t b = 0;
    for (int64_t i = 0; i < cloud->count;) {
        const uint64_t run = cloud->key[i] >> 6;
        int64_t end = i;
        while (end < cloud->count && cloud->key[end] >> 6 == run) end++;
        while (b < f->brick_count) {
            const int32_t *here = f->block[f->brick[b].block].at;
            const uint64_t mine = firn_cloud_block_key(here[0], here[1], here[2]) << LAYER_BITS |
                                  (uint64_t)f->brick[b].layer;
            if (mine == run) {
                f->brick[b].first = i;
                f->brick[b].count = end - i;
            }
            if (mine >= run) break;
            b++;
        }
        i = end;
    }
}

/* ---- density ---- */

typedef struct splat_task {
    const firn_volume *volume;
    const bool *lone;
    const float *weight; /* of particles; NULL: 1 */
    float *voxel;        /* VOXELS a brick */
} splat_task;

/* Quadratic B-spline of a particle at q, over the voxels of a brick along one axis. */
static int weights(float q, float scale, int *first, float w[16])
{
    const float reach = 1.5f * scale;
    int from = (int)ceilf(q - reach), to = (int)floorf(q + reach);
    from = from < 0 ? 0 : from;
    to = to > BLOCK - 1 ? BLOCK - 1 : to;
    *first = from;
    for (int i = from; i <= to; i++) {
        const float u = fabsf((float)i - q) / scale;
        w[i - from] = (u < 0.5f ? 0.75f - u * u : 0.5f * (1.5f - u) * (1.5f - u)) / scale;
    }
    return to - from + 1;
}

static void splat_brick(void *context, int64_t index, int32_t thread)
{
    (void)thread;
    const splat_task *t = context;
    const firn_volume *f = t->volume;
    const firn_cloud *cloud = f->cloud;
    const firn_brick *b = &f->brick[index];
    if (t->weight && cloud->layer[b->layer].passes < 1) return;
    const int32_t *at = f->block[b->block].at;
    const vec3 corner = v3((float)(BLOCK * at[0]), (float)(BLOCK * at[1]), (float)(BLOCK * at[2]));
    const float bump = 1.6f * (float)cloud->layer[b->layer].look->bump;
    float *voxel = t->voxel + (size_t)index * VOXELS;
    uint32_t *nearest = f->nearest + (size_t)index * VOXELS;
    float near[VOXELS];
    for (int i = 0; i < VOXELS; i++) {
        voxel[i] = 0;
        near[i] = INFINITY;
        nearest[i] = UINT32_MAX;
    }
    for (int n = 0; n < NEIGHBOURS; n++) {
        if (b->neighbour[n] < 0) continue;
        const firn_brick *from = &f->brick[b->neighbour[n]];
        for (int64_t p = from->first; p < from->first + from->count; p++) {
            if (t->lone[p]) continue;
            const vec3 q = v3_sub(cloud->position[p], corner);
            const float size = cloud->size[p], reach = REACH * size, far = BLOCK - 1 + reach;
            if (q.x < -reach || q.y < -reach || q.z < -reach || q.x > far || q.y > far ||
                q.z > far) {
                continue;
            }
            float wx[16], wy[16], wz[16];
            int x0, y0, z0;
            const float scale = REACH / 1.5f * size;
            const int nx = weights(q.x, scale, &x0, wx), ny = weights(q.y, scale, &y0, wy),
                      nz = weights(q.z, scale, &z0, wz);
            const float amount = size * size * size * (t->weight ? t->weight[p] : 1) *
                                 (1 + bump * (hash_unit(cloud->hash[p]) - 0.5f));
            for (int k = 0; k < nz; k++) {
                for (int j = 0; j < ny; j++) {
                    const int row = ((z0 + k) * BLOCK + y0 + j) * BLOCK + x0;
                    const float w = amount * wz[k] * wy[j];
                    const float dy = (float)(y0 + j) - q.y, dz = (float)(z0 + k) - q.z;
                    const float away = dy * dy + dz * dz;
                    for (int i = 0; i < nx; i++) {
                        const float dx = (float)(x0 + i) - q.x, d = away + dx * dx;
                        voxel[row + i] += w * wx[i];
                        if (d < near[row + i]) {
                            near[row + i] = d;
                            nearest[row + i] = (uint32_t)p;
                        }
                    }
                }
            }
        }
    }
}

/* A box of voxels around a brick, from -1 to `edge` - 2 along every axis. */
static void gather_voxels(const float *voxel, const firn_brick *b, int edge, float *out)
{
    for (int z = 0; z < edge; z++) {
        for (int y = 0; y < edge; y++) {
            for (int x = 0; x < edge; x++) {
                const int i = x - 1, j = y - 1, k = z - 1;
                const int32_t n =
                    b->neighbour[((i >> 3) + 1) + 3 * ((j >> 3) + 1) + 9 * ((k >> 3) + 1)];
                out[(z * edge + y) * edge + x] =
                    n < 0 ? 0
                          : voxel[(size_t)n * VOXELS +
                                  (size_t)(((k & 7) * BLOCK + (j & 7)) * BLOCK + (i & 7))];
            }
        }
    }
}

typedef struct smooth_task {
    const firn_volume *volume;
    const float *from;
    float *to;
    float pass;
} smooth_task;

/* One binomial pass, 1 2 1 along each axis. */
static void smooth_brick(void *context, int64_t index, int32_t thread)
{
    (void)thread;
    enum { WIDE = BLOCK + 2 };
    const smooth_task *t = context;
    const firn_brick *b = &t->volume->brick[index];
    float *out = t->to + (size_t)index * VOXELS;
    if (t->pass >= t->volume->cloud->layer[b->layer].passes) {
        memcpy(out, t->from + (size_t)index * VOXELS, VOXELS * sizeof *out);
        return;
    }
    float box[WIDE * WIDE * WIDE], across[WIDE * WIDE * BLOCK], plane[WIDE * BLOCK * BLOCK];
    gather_voxels(t->from, b, WIDE, box);
    for (int r = 0; r < WIDE * WIDE; r++) {
        for (int x = 0; x < BLOCK; x++) {
            const float *q = box + r * WIDE + x;
            across[r * BLOCK + x] = 0.25f * (q[0] + q[2]) + 0.5f * q[1];
        }
    }
    for (int z = 0; z < WIDE; z++) {
        for (int y = 0; y < BLOCK; y++) {
            for (int x = 0; x < BLOCK; x++) {
                const float *q = across + (z * WIDE + y) * BLOCK + x;
                plane[(z * BLOCK + y) * BLOCK + x] =
                    0.25f * (q[0] + q[2 * BLOCK]) + 0.5f * q[BLOCK];
            }
        }
    }
    for (int i = 0; i < VOXELS; i++) {
        const float *q = plane + i;
        out[i] = 0.25f * (q[0] + q[2 * BLOCK * BLOCK]) + 0.5f * q[BLOCK * BLOCK];
    }
}

/* The brick's own voxels and the first ones of those above. */
static void finish_brick(void *context, int64_t index, int32_t thread)
{
    (void)thread;
    enum { WIDE = BLOCK + 2 };
    const smooth_task *t = context;
    firn_brick *b = &t->volume->brick[index];
    float box[WIDE * WIDE * WIDE], *out = t->volume->density + (size_t)index * PADDED;
    gather_voxels(t->from, b, WIDE, box);
    b->least = INFINITY;
    b->most = 0;
    for (int z = 0; z < EDGE; z++) {
        for (int y = 0; y < EDGE; y++) {
            for (int x = 0; x < EDGE; x++) {
                const float v = box[((z + 1) * WIDE + y + 1) * WIDE + x + 1];
                out[(z * EDGE + y) * EDGE + x] = v;
                b->least = f_min(b->least, v);
                b->most = f_max(b->most, v);
            }
        }
    }
}

float firn_volume_density(const firn_volume *v, vec3 p, int32_t layer)
{
    const int32_t x = (int32_t)p.x / BLOCK, y = (int32_t)p.y / BLOCK, z = (int32_t)p.z / BLOCK;
    const int32_t block = firn_volume_block_at(v, x, y, z);
    const int32_t b = block < 0 ? -1 : firn_block_brick(v, &v->block[block], layer);
    if (b < 0) return 0;
    return firn_brick_sample(v->density + (size_t)b * PADDED, p.x - (float)(BLOCK * x),
                             p.y - (float)(BLOCK * y), p.z - (float)(BLOCK * z));
}

/* Splats and smooths; the result is in *voxel and, with what the tracer needs, in the bricks. */
static void spread_particles(firn_volume *f, splat_task *splat, float **voxel, float **other,
                             int32_t threads)
{
    splat->voxel = *voxel;
    firn_parallel_for(threads, f->brick_count, 4, splat_brick, splat);
    float passes = 0;
    for (int32_t l = 0; l < f->cloud->layer_count; l++) {
        passes = f_max(passes, f->cloud->layer[l].passes);
    }
    smooth_task smooth = {.volume = f};
    for (; smooth.pass < passes; smooth.pass++) {
        smooth.from = *voxel;
        smooth.to = *other;
        firn_parallel_for(threads, f->brick_count, 16, smooth_brick, &smooth);
        float *const done = *other;
        *other = *voxel;
        *voxel = done;
    }
    smooth.from = *voxel;
    firn_parallel_for(threads, f->brick_count, 16, finish_brick, &smooth);
}

typedef struct weigh_task {
    const firn_volume *volume;
    float *weight;
} weigh_task;

static void weigh(void *context, int64_t i, int32_t thread)
{
    (void)thread;
    const weigh_task *t = context;
    const firn_cloud *cloud = t->volume->cloud;
    const float rho =
        firn_volume_density(t->volume, cloud->position[i], cloud_key_layer(cloud->key[i]));
    t->weight[i] = f_clamp(INSIDE / f_max(rho, 0.01f), 1, 4);
}

/* Smoothing takes corners and thin parts away from bodies; particles that it left outside weigh more in
 * a second round. */
static bool make_density(firn_volume *f, const bool *lone, int32_t threads)
{
    const size_t n = (size_t)f->brick_count + 1;
    float *voxel = malloc(n * VOXELS * sizeof *voxel), *other = malloc(n * VOXELS * sizeof *other);
    float *weight = malloc(((size_t)f->cloud->count + 1) * sizeof *weight);
    f->density = malloc(n * PADDED * sizeof *f->density);
    f->nearest = malloc(n * VOXELS * sizeof *f->nearest);
    const bool room = voxel && other && weight && f->density && f->nearest;
    bool smooth = false;
    for (int32_t l = 0; l < f->cloud->layer_count; l++) {
        smooth = smooth || f->cloud->layer[l].passes >= 1;
    }
    if (room) {
        splat_task splat = {.volume = f, .lone = lone};
        spread_particles(f, &splat, &voxel, &other, threads);
        if (smooth) {
            weigh_task task = {f, weight};
            firn_parallel_for(threads, f->cloud->count, 4096, weigh, &task);
            splat.weight = weight;
            spread_particles(f, &splat, &voxel, &other, threads);
        }
        for (int32_t b = 0; b < f->brick_count; b++) {
            float *most = &f->block[f->brick[b].block].most;
            *most = f_max(*most, f->brick[b].most);
        }
    }
    free(voxel);
    free(other);
    free(weight);
    return room;
}

/* ---- spheres ---- */

typedef struct ball_task {
    const firn_volume *volume;
    const bool *lone;
    firn_render_mode mode;
    float *radius; /* of every particle; 0: none */
} ball_task;

/* Of a particle all by itself. Crumbs are not all alike. */
static float crumb_radius(const firn_cloud *cloud, int64_t i)
{
    const firn_look *look = cloud->layer[cloud_key_layer(cloud->key[i])].look;
    return BALL * cloud->size[i] * (1 - (float)look->bump * hash_unit(cloud->hash[i]));
}

static void choose_ball(void *context, int64_t i, int32_t thread)
{
    (void)thread;
    const ball_task *t = context;
    const firn_cloud *cloud = t->volume->cloud;
    if (t->mode != FIRN_RENDER_VOLUME) {
        t->radius[i] = (t->mode == FIRN_RENDER_SPHERES ? 1.1f : 0.35f) * BALL * cloud->size[i];
        return;
    }
    /* A ball shrinks as the surface around it grows. Corners of bodies are thin too; there, the surface
     * is a step away. */
    float rho = 0;
    const vec3 p = cloud->position[i];
    const int32_t layer = cloud_key_layer(cloud->key[i]);
    for (int q = 0; q < 9 && !t->lone[i] && rho < 1.15f * ISO; q++) {
        const float step = q == 8 ? 0 : 1.3f + 0.4f * sqrtf(cloud->layer[layer].passes);
        const vec3 at = v3(p.x + (q & 1 ? step : -step), p.y + (q & 2 ? step : -step),
                           p.z + (q & 4 ? step : -step));
        rho = f_max(rho, firn_volume_density(t->volume, at, layer));
    }
    const float alone = 1 - f_step(0.75f * ISO, 1.15f * ISO, rho);
    t->radius[i] = alone > 0.02f ? crumb_radius(cloud, i) * cbrtf(alone) : 0;
}

typedef struct ball {
    vec3 center;
    float radius;
} ball;

/* What a particle is drawn as whose ball has that radius: the ball, or the grains it crumbles to, which
 * spread as far as it is alone. Returns how many. */
static int crumble(const firn_cloud *cloud, int64_t i, float radius, bool whole,
                   ball out[POWDER_MOST])
{
    const int64_t powder = cloud->layer[cloud_key_layer(cloud->key[i])].look->powder;
    const int n = whole || powder < 1 ? 1 : powder < POWDER_MOST ? (int)powder : POWDER_MOST;
    out[0] = (ball){cloud->position[i], radius};
    const float part = radius / crumb_radius(cloud, i), alone = part * part * part;
    uint32_t state = cloud->hash[i];
    for (int k = 0; k < n && n > 1; k++) {
        float u[4];
        for (int c = 0; c < 4; c++) u[c] = hash_unit(hash_next(&state));
        const vec3 offset = v3(u[0] - 0.5f, u[1] - 0.5f, u[2] - 0.5f);
        out[k] = (ball){v3_along(cloud->position[i], offset, SCATTERED * alone * radius),
                        radius * (0.22f + 0.4f * u[3] * u[3])};
    }
    return n;
}

/* Calls for every block a ball touches; the block is there. */
static int touched_blocks(const firn_volume *f, ball b, int32_t out[8])
{
    const vec3 p = b.center;
    const float r = b.radius;
    int n = 0;
    for (int32_t z = (int32_t)(p.z - r) / BLOCK; z <= (int32_t)(p.z + r) / BLOCK; z++) {
        for (int32_t y = (int32_t)(p.y - r) / BLOCK; y <= (int32_t)(p.y + r) / BLOCK; y++) {
            for (int32_t x = (int32_t)(p.x - r) / BLOCK; x <= (int32_t)(p.x + r) / BLOCK; x++) {
                const int32_t block = firn_volume_block_at(f, x, y, z);
                if (block >= 0 && n < 8) out[n++] = block;
            }
        }
    }
    return n;
}

static bool make_spheres(firn_volume *f, const bool *lone, firn_render_mode mode, int32_t threads)
{
    const firn_cloud *cloud = f->cloud;
    float *radius = malloc(((size_t)cloud->count + 1) * sizeof *radius);
    if (!radius) return false;
    ball_task task = {f, lone, mode, radius};
    firn_parallel_for(threads, cloud->count, 4096, choose_ball, &task);
    const bool whole = mode != FIRN_RENDER_VOLUME;
    ball piece[POWDER_MOST];
    int32_t touched[8];
    for (int64_t i = 0; i < cloud->count; i++) {
        const int pieces = radius[i] > 0 ? crumble(cloud, i, radius[i], whole, piece) : 0;
        for (int q = 0; q < pieces; q++) {
            const int n = touched_blocks(f, piece[q], touched);
            for (int k = 0; k < n; k++) f->block[touched[k]].sphere_count++;
            f->sphere_count += n;
        }
    }
    const size_t n = (size_t)f->sphere_count + 8;
    f->sphere_x = malloc(n * sizeof(float));
    f->sphere_y = malloc(n * sizeof(float));
    f->sphere_z = malloc(n * sizeof(float));
    f->sphere_radius = malloc(n * sizeof(float));
    f->sphere_particle = malloc(n * sizeof(uint32_t));
    const bool room = f->sphere_x && f->sphere_y && f->sphere_z && f->sphere_radius &&
                      f->sphere_particle && f->sphere_count < INT32_MAX;
    int32_t next = 0;
    for (int32_t b = 0; b < f->block_count && room; b++) {
        f->block[b].sphere = next;
        next += f->block[b].sphere_count;
        f->block[b].sphere_count = 0;
    }
    for (int64_t i = 0; i < cloud->count && room; i++) {
        const int pieces = radius[i] > 0 ? crumble(cloud, i, radius[i], whole, piece) : 0;
        for (int q = 0; q < pieces; q++) {
            const int count = touched_blocks(f, piece[q], touched);
            for (int k = 0; k < count; k++) {
                firn_volume_block *b = &f->block[touched[k]];
                const int32_t to = b->sphere + b->sphere_count++;
                f->sphere_x[to] = piece[q].center.x;
                f->sphere_y[to] = piece[q].center.y;
                f->sphere_z[to] = piece[q].center.z;
                f->sphere_radius[to] = piece[q].radius;
                f->sphere_particle[to] = (uint32_t)i;
            }
        }
    }
    free(radius);
    return room;
}

/* Bricks reach further than what can be seen or throws a shadow; rays pass over those that only do so. */
static void mark_solid(firn_volume *f)
{
    for (int32_t l = 0; l < f->tree.leaf_count; l++) {
        firn_tree_node *leaf = &f->tree.level[0][l];
        for (int child = 0; child < 64; child++) {
            if (!(leaf->mask >> child & 1)) continue;
            const firn_volume_block *b = &f->block[firn_tree_child(leaf, child)];
            if (b->most > FAINTEST || b->sphere_count) leaf->solid |= (uint64_t)1 << child;
        }
    }
}

/* ---- all of it ---- */

void firn_volume_free(firn_volume *f)
{
    for (int l = 0; l < f->tree.levels; l++) free(f->tree.level[l]);
    free(f->block);
    free(f->brick);
    free(f->density);
    free(f->nearest);
    free(f->sphere_x);
    free(f->sphere_y);
    free(f->sphere_z);
    free(f->sphere_radius);
    free(f->sphere_particle);
    *f = (firn_volume){0};
}

firn_status firn_volume_create(const firn_cloud *cloud, firn_render_mode mode, int32_t threads,
                               firn_volume *out, firn_error *error)
{
    *out = (firn_volume){.cloud = cloud};
    key_list list = {0};
    bool *lone = calloc((size_t)cloud->count + 1, sizeof *lone);
    for (int64_t i = 0; lone && mode == FIRN_RENDER_POINTS && i < cloud->count; i++) lone[i] = true;
    bool room = lone && (mode == FIRN_RENDER_POINTS || mark_lone(cloud, threads, lone)) &&
                list_bricks(cloud, lone, &list) && make_blocks(&list, out);
    free(list.key);
    if (room) {
        firn_parallel_for(threads, out->brick_count, 16, link_brick, out);
        give_particles(out);
        room = make_density(out, lone, threads) && make_spheres(out, lone, mode, threads);
    }
    free(lone);
    if (room) mark_solid(out);
    if (mode != FIRN_RENDER_VOLUME) { /* density gives light and is not seen */
        for (int32_t b = 0; b < out->block_count; b++) out->block[b].most = 0;
        for (int32_t b = 0; b < out->brick_count; b++) out->brick[b].most = 0;
    }
    if (room) return FIRN_OK;
    firn_volume_free(out);
    return out_of_memory(error);
}
