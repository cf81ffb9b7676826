/* OpenVDB files, written: version 224, values packed by blosc without what is inactive. vdb_read.c says
 * what a file consists of.
 *
 * Blocks are packed in parallel, some at a time for each task, and stored in order. The number that
 * tells files apart is made of their content, so the same volumes are the same bytes. */
#include <blosc.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/parallel.h"
#include "io/volume.h"

enum {
    VERSION = 224,
    LIBRARY = 10,    /* of OpenVDB, the first to write it */
    COMPRESSION = 6, /* blosc, active values */
    NODE_MOST = 1 << 15,
    BLOCKS_AT_ONCE = 256 /* for a task */
};

/* ---- bytes ---- */

typedef struct buffer {
    uint8_t *data;
    size_t size, room;
    bool failed; /* no memory */
} buffer;

/* So many bytes at the end, to be filled, or NULL. */
static uint8_t *extend(buffer *b, size_t size)
{
    if (b->failed) return NULL;
    if (size > b->room - b->size) {
        const size_t room = 2 * b->room + size + 256;
        uint8_t *grown = realloc(b->data, room);
        b->failed = !grown;
        if (!grown) return NULL;
        b->data = grown;
        b->room = room;
    }
    b->size += size;
    return b->data + b->size - size;
}

static void put(buffer *b, const void *data, size_t size)
{
    uint8_t *to = extend(b, size);
    if (to && size) memcpy(to, data, size);
}

static void put_number(buffer *b, int64_t value, size_t bytes) { put(b, &value, bytes); }

static void put_text(buffer *b, const char *text)
{
    put_number(b, (int64_t)strlen(text), 4);
    put(b, text, strlen(text));
}

/* ---- values ---- */

typedef struct writer {
    const firn_volume *from;
    int32_t level, threads;
    bool half;
    float background[3]; /* as it is stored */
} writer;

static bool is_on(const uint64_t *mask, int i) { return mask[i / 64] >> (i % 64) & 1; }
static void set_on(uint64_t *mask, int i) { mask[i / 64] |= (uint64_t)1 << (i % 64); }

static float rounded(const writer *w, float value)
{
    return w->half ? firn_half_to_float(firn_half_from_float(value)) : value;
}

/* Numbers, packed if that makes them smaller. */
static void put_packed(const writer *w, buffer *b, const float *value, int64_t count,
                       uint16_t *halves)
{
    for (int64_t i = 0; i < count && w->half; i++) halves[i] = firn_half_from_float(value[i]);
    const size_t each = w->half ? 2 : 4, bytes = (size_t)count * each;
    if (w->half && count == 0) return;
    const void *data = w->half ? (const void *)halves : (const void *)value;
    const size_t begin = b->size;
    put_number(b, -(int64_t)bytes, 8); /* negative: not packed */
    uint8_t *to = extend(b, bytes + BLOSC_MAX_OVERHEAD);
    if (!to) return;
    const int packed =
        bytes == 0 ? 0
                   : blosc_compress_ctx(w->level, BLOSC_SHUFFLE, each, bytes, data, to,
                                        bytes + BLOSC_MAX_OVERHEAD, BLOSC_LZ4_COMPNAME, 0, 1);
    if (packed > 0 && (size_t)packed < bytes) {
        const int64_t size = packed;
        memcpy(b->data + begin, &size, 8);
        b->size = begin + 8 + (size_t)packed;
    } else {
        if (bytes) memcpy(to, data, bytes);
        b->size = begin + 8 + bytes;
    }
}

/* Scratch of put_values. */
typedef struct scratch {
    float *active;
    uint16_t *halves;
} scratch;

/* With code 0 if all that is inactive is background, 3 if some is minus it, else 6: with all values. Of
 * `children`, which may be NULL, there are none. */
static void put_values(const writer *w, buffer *b, int count, const uint64_t *active,
                       const uint64_t *children, const float *value, const scratch *s)
{
    const int n = w->from->components;
    const size_t bytes = (size_t)n * sizeof *value;
    float minus[3];
    for (int k = 0; k < n; k++) minus[k] = -w->from->background[k];
    uint64_t plus[NODE_MOST / 64] = {0};
    uint8_t code = 0;
    int64_t stored = 0;
    for (int i = 0; i < count; i++) {
        const float *here = value + (int64_t)i * n;
        if (is_on(active, i)) {
            memcpy(s->active + stored, here, bytes);
            stored += n;
        } else if (children && is_on(children, i)) {
            continue;
        } else if (memcmp(here, w->from->background, bytes) == 0) {
            set_on(plus, i);
        } else if (memcmp(here, minus, bytes) == 0) {
            if (code == 0) code = 3;
        } else {
            code = 6;
        }
    }
    put(b, &code, 1);
    if (code == 3) put(b, plus, (size_t)count / 8);
    if (code == 6) {
        put_packed(w, b, value, (int64_t)count * n, s->halves);
    } else {
        put_packed(w, b, s->active, stored, s->halves);
    }
}

static bool scratch_make(scratch *s, int count, int components)
{
    const size_t numbers = (size_t)count * (size_t)components;
    *s = (scratch){malloc(numbers * sizeof *s->active), malloc(numbers * sizeof *s->halves)};
    return s->active && s->halves;
}

static void scratch_free(scratch *s)
{
    free(s->active);
    free(s->halves);
}

/* ---- the tree ---- */

/* A block or a tile. */
typedef struct entry {
    int32_t origin[3], edge;
    int64_t index;
    bool tile;
} entry;

static int by_origin(const void *left, const void *right)
{
    const entry *a = left, *b = right;
    const int order = firn_volume_order(a->origin, b->origin);
    return order ? order : b->edge - a->edge; /* so that an overlap begins with the larger one */
}

static bool same_cube(const entry *a, const entry *b, int edge_log)
{
    bool same = true;
    for (int k = 0; k < 3; k++) {
        same = same && a->origin[k] >> edge_log == b->origin[k] >> edge_log;
    }
    return same;
}

static int log_of(int32_t edge) { return edge == 8 ? 3 : edge == 128 ? 7 : 12; }

static firn_status check_entries(const firn_volume *v, const entry *e, int64_t count,
                                 firn_error *error)
{
    for (int64_t i = 0; i < count; i++) {
        bool fine = e[i].edge == 8 || e[i].edge == 128 || e[i].edge == 4096;
        for (int k = 0; k < 3; k++) fine = fine && e[i].origin[k] % e[i].edge == 0;
        if (!fine) {
            return firn_fail(error, FIRN_INVALID,
                             "volume %s: a %s of edge %d at %d %d %d; edges are 8, and 128 or 4096 "
                             "of tiles, and begin at multiples of themselves",
                             v->name, e[i].tile ? "tile" : "block", e[i].edge, e[i].origin[0],
                             e[i].origin[1], e[i].origin[2]);
        }
        if (i > 0 && same_cube(&e[i - 1], &e[i], log_of(e[i - 1].edge))) {
            return firn_fail(error, FIRN_INVALID,
                             "volume %s: voxel %d %d %d is in two blocks or tiles; leave one out",
                             v->name, e[i].origin[0], e[i].origin[1], e[i].origin[2]);
        }
    }
    return FIRN_OK;
}

static firn_status make_entries(const firn_volume *v, entry **out, firn_error *error)
{
    const int64_t count = v->block_count + v->tile_count;
    entry *e = malloc(((size_t)count + 1) * sizeof *e);
    *out = e;
    if (!e) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    for (int64_t i = 0; i < count; i++) {
        const bool tile = i >= v->block_count;
        const int64_t index = tile ? i - v->block_count : i;
        e[i] = (entry){.edge = tile ? v->tile[index].edge : 8, .index = index, .tile = tile};
        memcpy(e[i].origin, tile ? v->tile[index].origin : v->block[index].origin,
               sizeof e[i].origin);
    }
    qsort(e, (size_t)count, sizeof *e, by_origin);
    return check_entries(v, e, count, error);
}

/* How many from the first on are in one cube. */
static int64_t run_of(const entry *e, int64_t count, int edge_log)
{
    int64_t n = 1;
    while (n < count && same_cube(e, &e[n], edge_log)) n++;
    return n;
}

/* A node while it is put together; its children come after it and may use the same. */
typedef struct node {
    uint64_t children[NODE_MOST / 64], active[NODE_MOST / 64];
    float value[NODE_MOST * 3];
} node;

static void put_node(const writer *w, buffer *b, const entry *e, int64_t count, int log, int child,
                     node *to, const scratch *s)
{
    const firn_volume *v = w->from;
    const int n = v->components, slots = 1 << 3 * log;
    const size_t bytes = (size_t)n * sizeof *to->value;
    memset(to->children, 0, sizeof to->children);
    memset(to->active, 0, sizeof to->active);
    for (int i = 0; i < slots; i++) memcpy(to->value + i * n, v->background, bytes);
    for (int64_t i = 0; i < count; i++) {
        const int at = firn_tree_offset(e[i].origin, log, child);
        if (!e[i].tile || log_of(e[i].edge) < child) {
            set_on(to->children, at);
            continue;
        }
        const firn_volume_tile *tile = &v->tile[e[i].index];
        memcpy(to->value + at * n, tile->value, bytes);
        if (tile->active) set_on(to->active, at);
    }
    put(b, to->children, (size_t)slots / 8);
    put(b, to->active, (size_t)slots / 8);
    put_values(w, b, slots, to->active, to->children, to->value, s);
    for (int64_t i = 0; i < count;) {
        const int64_t run = run_of(&e[i], count - i, child);
        if (!e[i].tile && child == 3) {
            put(b, v->block[e[i].index].active, FIRN_BLOCK_VOXELS / 8);
        } else if (log_of(e[i].edge) < child) {
            put_node(w, b, &e[i], run, 4, 3, to, s);
        }
        i += run;
    }
}

/* All nodes with their tiles. */
static void put_tree(const writer *w, buffer *b, const entry *e, int64_t count)
{
    const firn_volume *v = w->from;
    const size_t bytes = (size_t)v->components * sizeof *v->background;
    int64_t tiles = 0, nodes = 0;
    for (int64_t i = 0; i < count; i += run_of(&e[i], count - i, 12)) {
        *(e[i].edge == 4096 ? &tiles : &nodes) += 1;
    }
    put_number(b, 1, 4); /* buffers */
    put(b, w->background, bytes);
    put_number(b, tiles, 4);
    put_number(b, nodes, 4);
    for (int64_t i = 0; i < count; i++) {
        if (e[i].edge != 4096) continue;
        const firn_volume_tile *tile = &v->tile[e[i].index];
        put(b, tile->origin, sizeof tile->origin);
        put(b, tile->value, bytes);
        put_number(b, tile->active, 1);
    }
    scratch s;
    node *to = malloc(sizeof *to);
    b->failed = !scratch_make(&s, NODE_MOST, v->components) || !to || b->failed;
    for (int64_t i = 0, run; i < count && !b->failed; i += run) {
        run = run_of(&e[i], count - i, 12);
        if (e[i].edge == 4096) continue;
        int32_t origin[3];
        for (int k = 0; k < 3; k++) origin[k] = e[i].origin[k] & ~4095;
        put(b, origin, sizeof origin);
        put_node(w, b, &e[i], run, 5, 7, to, &s);
    }
    scratch_free(&s);
    free(to);
}

/* ---- blocks ---- */

typedef struct packing {
    const writer *writer;
    const entry *block; /* without tiles */
    int64_t count;
    buffer *part; /* of each task */
} packing;

static void pack_blocks(void *context, int64_t index, int32_t thread)
{
    (void)thread;
    const packing *p = context;
    const firn_volume *v = p->writer->from;
    buffer *b = &p->part[index];
    scratch s;
    b->failed = !scratch_make(&s, FIRN_BLOCK_VOXELS, v->components);
    const int64_t first = index * BLOCKS_AT_ONCE;
    for (int64_t i = first; i < first + BLOCKS_AT_ONCE && i < p->count && !b->failed; i++) {
        const int64_t at = p->block[i].index;
        put(b, v->block[at].active, FIRN_BLOCK_VOXELS / 8);
        put_values(p->writer, b, FIRN_BLOCK_VOXELS, v->block[at].active, NULL,
                   v->value + at * FIRN_BLOCK_VOXELS * v->components, &s);
    }
    scratch_free(&s);
}

/* The values of all blocks. Leaves only blocks in `e`. */
static void put_blocks(const writer *w, buffer *b, entry *e, int64_t count)
{
    packing p = {.writer = w, .block = e};
    for (int64_t i = 0; i < count; i++) {
        if (!e[i].tile) e[p.count++] = e[i];
    }
    const int64_t parts = (p.count + BLOCKS_AT_ONCE - 1) / BLOCKS_AT_ONCE;
    p.part = calloc((size_t)parts + 1, sizeof *p.part);
    b->failed = b->failed || !p.part;
    if (b->failed) return;
    firn_parallel_for(w->threads, parts, 1, pack_blocks, &p);
    for (int64_t i = 0; i < parts; i++) {
        b->failed = b->failed || p.part[i].failed;
        put(b, p.part[i].data, p.part[i].size);
        free(p.part[i].data);
    }
    free(p.part);
}

/* ---- a grid ---- */

static void put_note(buffer *b, const char *name, const char *type, const void *value, size_t size)
{
    put_text(b, name);
    put_text(b, type);
    put_number(b, (int64_t)size, 4);
    put(b, value, size);
}

static void put_note_text(buffer *b, const char *name, const char *text)
{
    put_note(b, name, "string", text, strlen(text));
}

/* What the file says itself, which is not taken from the volume's notes. */
static bool is_own(const char *name)
{
    return strncmp(name, "file_", 5) == 0 || strcmp(name, "class") == 0 ||
           strcmp(name, "name") == 0 || strcmp(name, "is_saved_as_half_float") == 0;
}

static void put_notes(const writer *w, buffer *b)
{
    const firn_volume *v = w->from;
    const firn_volume_info info = firn_volume_get_info(v);
    const uint8_t half = w->half;
    int64_t others = 0;
    for (int64_t i = 0; i < v->note_count; i++) others += !is_own(v->note[i].name);
    put_number(b, 7 + others, 4);
    put_note_text(b, "class", firn_volume_class_name(v->kind));
    put_note(b, "file_bbox_max", "vec3i", info.high, sizeof info.high);
    put_note(b, "file_bbox_min", "vec3i", info.low, sizeof info.low);
    put_note_text(b, "file_compression", "blosc + active values");
    put_note(b, "file_voxel_count", "int64", &info.active, sizeof info.active);
    put_note(b, "is_saved_as_half_float", "bool", &half, 1);
    put_note_text(b, "name", v->name);
    for (int64_t i = 0; i < v->note_count; i++) {
        if (!is_own(v->note[i].name)) put_note_text(b, v->note[i].name, v->note[i].text);
    }
}

static void put_transform(const firn_volume *v, buffer *b)
{
    const double edge = v->axis[0][0];
    bool upright = edge > 0;
    for (int a = 0; a < 3; a++) {
        for (int k = 0; k < 3; k++) upright = upright && v->axis[a][k] == (a == k ? edge : 0);
    }
    if (!upright) {
        put_text(b, "AffineMap");
        for (int row = 0; row < 4; row++) {
            const double last = row == 3;
            put(b, row < 3 ? v->axis[row] : v->origin, 3 * sizeof last);
            put(b, &last, sizeof last);
        }
        return;
    }
    /* The edge, then what follows from it. */
    const double given[5] = {edge, edge, 1 / edge, 1 / (edge * edge), 0.5 / edge};
    put_text(b, "UniformScaleTranslateMap");
    put(b, v->origin, sizeof v->origin);
    for (int i = 0; i < 5; i++) {
        for (int a = 0; a < 3; a++) put(b, &given[i], sizeof *given);
    }
}

static firn_status check_volume(const firn_volumes *volumes, int32_t index, firn_error *error)
{
    const firn_volume *v = &volumes->volume[index];
    if (v->components != 1 && v->components != 3) {
        return firn_fail(error, FIRN_INVALID, "volume %s has %d components; it must have 1 or 3",
                         v->name, v->components);
    }
    bool fine = true;
    for (int a = 0; a < 3; a++) {
        fine = fine && isfinite(v->origin[a]);
        for (int k = 0; k < 3; k++) fine = fine && isfinite(v->axis[a][k]);
    }
    if (!fine || !firn_volume_class_name(v->kind)) {
        return firn_fail(error, FIRN_INVALID, "volume %s: %s; make it with firn_volumes_add",
                         v->name, fine ? "there is no such kind" : "origin or axes are not finite");
    }
    for (int32_t i = 0; i < index; i++) {
        if (strcmp(volumes->volume[i].name, v->name) != 0) continue;
        return firn_fail(error, FIRN_INVALID, "two volumes are called %s; rename one", v->name);
    }
    return FIRN_OK;
}

/* `at` is where `b` will be in the file. */
static firn_status put_grid(const firn_volume *v, const firn_write_options *options, size_t at,
                            buffer *b, firn_error *error)
{
    writer w = {.from = v, .level = 5, .threads = options->threads, .half = options->half};
    if (options->level > 0) w.level = options->level < 9 ? options->level : 9;
    for (int k = 0; k < v->components; k++) w.background[k] = rounded(&w, v->background[k]);
    entry *e = NULL;
    firn_status st = make_entries(v, &e, error);
    if (st == FIRN_OK) {
        char type[FIRN_NAME_SIZE];
        snprintf(type, sizeof type, "Tree_%s_5_4_3%s", v->components == 1 ? "float" : "vec3s",
                 w.half ? "_HalfFloat" : "");
        put_text(b, v->name);
        put_text(b, type);
        put_text(b, ""); /* shares no other's tree */
        const size_t where = b->size;
        int64_t place[3] = {0}; /* of the grid, its values and its end */
        put(b, place, sizeof place);
        place[0] = (int64_t)(at + b->size);
        put_number(b, COMPRESSION, 4);
        put_notes(&w, b);
        put_transform(v, b);
        put_tree(&w, b, e, v->block_count + v->tile_count);
        place[1] = (int64_t)(at + b->size);
        put_blocks(&w, b, e, v->block_count + v->tile_count);
        place[2] = (int64_t)(at + b->size);
        if (!b->failed) memcpy(b->data + where, place, sizeof place);
    }
    free(e);
    if (st == FIRN_OK && b->failed) st = firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    return st;
}

/* ---- the file ---- */

enum { HEADER = 57 };

/* With a unique number made of what follows, in letters. */
static void put_header(firn_output *out, const buffer *b)
{
    uint64_t hash[2] = {0xcbf29ce484222325u, 0x84222325cbf29ce4u}; /* FNV-1a */
    for (size_t i = 0; i < b->size; i++) {
        for (int k = 0; k < 2; k++) hash[k] = (hash[k] ^ b->data[i]) * 0x100000001b3u;
    }
    const uint32_t version[3] = {VERSION, LIBRARY, 0};
    firn_output_write(out, FIRN_VDB_MAGIC, 8);
    firn_output_write(out, version, sizeof version);
    firn_output_write(out, "\1", 1); /* grids say where they end */
    firn_output_print(out, "%08x-%04x-%04x-%04x-%012llx", (unsigned)(hash[0] >> 32),
                      (unsigned)(hash[0] >> 16 & 0xffff), (unsigned)(hash[0] & 0xffff),
                      (unsigned)(hash[1] >> 48), (unsigned long long)(hash[1] & 0xffffffffffff));
}

firn_status firn_volumes_put(const firn_volumes *volumes, const firn_write_options *options,
                             firn_output *out, firn_error *error)
{
    char creator[64];
    snprintf(creator, sizeof creator, "Firn %s", firn_version());
    buffer b = {0};
    put_number(&b, 1, 4);
    put_note_text(&b, "creator", creator);
    put_number(&b, volumes->count, 4);
    firn_status st = FIRN_OK;
    for (int32_t i = 0; i < volumes->count && st == FIRN_OK; i++) {
        st = check_volume(volumes, i, error);
        if (st == FIRN_OK) st = put_grid(&volumes->volume[i], options, HEADER, &b, error);
    }
    if (st == FIRN_OK && b.failed) st = firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    if (st == FIRN_OK) {
        put_header(out, &b);
        firn_output_write(out, b.data, b.size);
    }
    free(b.data);
    return st;
}

firn_status firn_volumes_write(const char *path, const firn_volumes *volumes,
                               const firn_write_options *options, firn_error *error)
{
    FIRN_REQUIRE(path, error);
    FIRN_REQUIRE(volumes, error);
    FIRN_REQUIRE(options, error);
    firn_write_options own = *options;
    if (own.threads == 0) own.threads = firn_parallel_max_threads();
    firn_output out;
    firn_status st = firn_output_open(&out, path, error);
    if (st != FIRN_OK) return st;
    firn_error inner = {0};
    st = firn_volumes_put(volumes, &own, &out, &inner);
    if (st != FIRN_OK) {
        firn_output_discard(&out);
        return firn_fail(error, st, "%s: %s", path, inner.message);
    }
    return firn_output_commit(&out, error);
}
