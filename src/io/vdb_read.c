/* OpenVDB files, read: versions 222 to 224, which OpenVDB writes since 2013. Little end first.
 *
 * A file is a header, notes about it (name, type, size, value), and grids one after another. A grid is a
 * descriptor (name, type, where it begins and ends), its compression, notes, transform, and a tree.
 * A tree has a root of nodes with 32^3 children, each a tile or a node with 16^3 children, each a tile
 * or a block of 8^3 voxels. First come all nodes with their tiles, then the values of all blocks.
 *
 * Values of a node or a block may leave out what is inactive, said by a code: see read_values. Then they
 * are packed by blosc, by zlib, or not.
 *
 * Nothing in a file is trusted. Whatever takes memory has its bytes in the file: a block at least 129
 * of its own, a node 8 per tile. */
#include <blosc.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/error.h"
#include "io/volume.h"

enum {
    OLDEST = 222,
    NEWEST = 224,
    UPPER_LOG = 5,      /* a node below the root has 2^5 children along each axis */
    LOWER_LOG = 4,      /* and those 2^4 blocks */
    NODE_MOST = 1 << 15 /* children of a node */
};

enum { ZIP = 1, ACTIVE_ONLY = 2, BLOSC = 4 }; /* compression of a grid */

/* What trees hold. */
typedef enum leaf { LEAF_VALUES, LEAF_BOOL, LEAF_MASK } leaf;
static const struct {
    const char *name; /* Tree_NAME_5_4_3 */
    int32_t components;
    firn_type type; /* of a component; masks have bytes in tiles */
    leaf leaf;
} types[] = {
    {"float", 1, FIRN_TYPE_f32, LEAF_VALUES}, {"double", 1, FIRN_TYPE_f64, LEAF_VALUES},
    {"vec3s", 3, FIRN_TYPE_f32, LEAF_VALUES}, {"vec3d", 3, FIRN_TYPE_f64, LEAF_VALUES},
    {"bool", 1, FIRN_TYPE_u8, LEAF_BOOL},     {"mask", 1, FIRN_TYPE_u8, LEAF_MASK},
};
enum { TYPES = sizeof types / sizeof *types };

typedef struct reader {
    const uint8_t *data;
    size_t size, at;
    bool seekable; /* descriptors say where grids end */
    /* The grid under way. */
    firn_volume *to;
    int type;
    firn_type packed; /* of a component in packed values: 16 bits if the grid is of halves */
    uint32_t compression;
    void *unpacked; /* values of one node */
    float *values;  /* of one node, as numbers */
    firn_error *error;
} reader;

/* ---- bytes ---- */

/* The next bytes, or NULL and an error. */
static const uint8_t *take(reader *r, uint64_t bytes)
{
    if (bytes > r->size - r->at) {
        firn_fail(r->error, FIRN_INVALID,
                  "byte %zu: %" PRIu64 " bytes are due and %zu are left; the file is cut short or "
                  "damaged",
                  r->at, bytes, r->size - r->at);
        return NULL;
    }
    const uint8_t *p = r->data + r->at;
    r->at += (size_t)bytes;
    return p;
}

static bool take_number(reader *r, size_t bytes, int64_t *out)
{
    const uint8_t *p = take(r, bytes);
    if (!p) return false;
    uint64_t value = 0;
    for (size_t i = 0; i < bytes; i++) value |= (uint64_t)p[i] << (8 * i);
    *out = bytes == 4 ? (int32_t)value : (int64_t)value;
    return true;
}

/* A length that cannot be negative. */
static bool take_count(reader *r, int64_t *out)
{
    if (!take_number(r, 4, out)) return false;
    *out &= UINT32_MAX;
    return true;
}

static bool take_reals(reader *r, double *out, int count)
{
    const uint8_t *p = take(r, 8 * (uint64_t)count);
    if (p) memcpy(out, p, 8 * (size_t)count);
    return p != NULL;
}

static void copy_text(char *out, size_t room, const uint8_t *text, int64_t length)
{
    const size_t n = length < (int64_t)room ? (size_t)length : room - 1;
    memcpy(out, text, n);
    out[n] = 0;
    out[strcspn(out, "\x1e")] = 0; /* grids of one name have numbers behind this */
    for (char *c = out; *c; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7f) *c = '_'; /* it may be printed */
    }
}

/* Text after its length; what does not fit is cut off. */
static bool take_text(reader *r, char *out, size_t room)
{
    int64_t length;
    const uint8_t *p = take_count(r, &length) ? take(r, (uint64_t)length) : NULL;
    if (p) copy_text(out, room, p, length);
    return p != NULL;
}

/* ---- notes ---- */

/* The value of a note in words. */
static void describe(const char *type, const uint8_t *value, int64_t size, char *out, size_t room)
{
    static const struct {
        const char *name;
        firn_type type;
        int count;
    } kinds[] = {{"bool", FIRN_TYPE_u8, 1},    {"int32", FIRN_TYPE_i32, 1},
                 {"int64", FIRN_TYPE_i64, 1},  {"float", FIRN_TYPE_f32, 1},
                 {"double", FIRN_TYPE_f64, 1}, {"vec3i", FIRN_TYPE_i32, 3},
                 {"vec3s", FIRN_TYPE_f32, 3},  {"vec3d", FIRN_TYPE_f64, 3}};
    if (strcmp(type, "string") == 0) {
        copy_text(out, room, value, size);
        return;
    }
    snprintf(out, room, "(%s, %" PRId64 " bytes)", type, size);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        const size_t each = firn_type_size(kinds[k].type);
        if (strcmp(type, kinds[k].name) != 0 || size != (int64_t)each * kinds[k].count) continue;
        size_t used = 0;
        for (int i = 0; i < kinds[k].count; i++) {
            _Alignas(8) uint8_t one[8];
            memcpy(one, value + (size_t)i * each, each);
            used += (size_t)snprintf(out + used, room - used, "%s%.9g", i ? " " : "",
                                     firn_type_get(kinds[k].type, one, 0));
        }
    }
}

static bool read_notes(reader *r, firn_volume_note **note, int64_t *count)
{
    int64_t left;
    if (!take_count(r, &left)) return false;
    for (; left > 0; left--) {
        char name[FIRN_NAME_SIZE], type[FIRN_NAME_SIZE];
        int64_t size;
        if (!take_text(r, name, sizeof name) || !take_text(r, type, sizeof type)) return false;
        const uint8_t *value = take_count(r, &size) ? take(r, (uint64_t)size) : NULL;
        if (!value) return false;
        if (strcmp(type, "__delayedload") == 0) continue; /* tables for reading parts of a file */
        if (!firn_grow(note, *count, sizeof **note)) {
            firn_fail(r->error, FIRN_NO_MEMORY, "out of memory");
            return false;
        }
        firn_volume_note *n = &(*note)[(*count)++];
        memcpy(n->name, name, sizeof name);
        describe(type, value, size, n->text, sizeof n->text);
    }
    return true;
}

static firn_volume_class class_of(const firn_volume *v)
{
    for (int64_t i = 0; i < v->note_count; i++) {
        if (strcmp(v->note[i].name, "class") != 0) continue;
        for (int k = 0; firn_volume_class_name((firn_volume_class)k); k++) {
            if (strcmp(v->note[i].text, firn_volume_class_name((firn_volume_class)k)) == 0) {
                return (firn_volume_class)k;
            }
        }
    }
    return FIRN_VOLUME_PLAIN;
}

/* ---- transforms ---- */

/* The edge if the axes are at right angles and equally long; else 0. */
static double cube_edge(const firn_volume *v)
{
    double product[3][3];
    for (int a = 0; a < 3; a++) {
        for (int b = 0; b < 3; b++) {
            product[a][b] = 0;
            for (int k = 0; k < 3; k++) product[a][b] += v->axis[a][k] * v->axis[b][k];
        }
    }
    const double square = product[0][0];
    for (int a = 0; a < 3; a++) {
        for (int b = 0; b < 3; b++) {
            if (!(fabs(product[a][b] - (a == b ? square : 0)) <= 1e-6 * square)) return 0;
        }
    }
    return square > 0 && isfinite(square) ? sqrt(square) : 0;
}

/* False for maps that are not affine; their length is unknown. `fine`: bytes were there. */
static bool read_transform(reader *r, bool *fine)
{
    firn_volume *v = r->to;
    char map[FIRN_NAME_SIZE];
    double number[18], *scale = NULL;
    *fine = take_text(r, map, sizeof map);
    if (!*fine) return false;
    memset(v->axis, 0, sizeof v->axis);
    for (int a = 0; a < 3; a++) v->axis[a][a] = 1;
    if (strcmp(map, "AffineMap") == 0 || strcmp(map, "UnitaryMap") == 0) {
        *fine = take_reals(r, number, 16); /* for rows, which are multiplied from the left */
        for (int row = 0; row < 4 && *fine; row++) {
            memcpy(row < 3 ? v->axis[row] : v->origin, number + 4 * row, 3 * sizeof *number);
        }
        return *fine && number[3] == 0 && number[7] == 0 && number[11] == 0 && number[15] == 1;
    }
    if (strcmp(map, "TranslationMap") == 0) {
        *fine = take_reals(r, v->origin, 3);
    } else if (strcmp(map, "UniformScaleMap") == 0 || strcmp(map, "ScaleMap") == 0) {
        *fine = take_reals(r, number, 15); /* the scale, and four times what follows from it */
        scale = number;
    } else if (strcmp(map, "UniformScaleTranslateMap") == 0 ||
               strcmp(map, "ScaleTranslateMap") == 0) {
        *fine = take_reals(r, number, 18);
        if (*fine) memcpy(v->origin, number, sizeof v->origin);
        scale = number + 3;
    } else {
        return false;
    }
    for (int a = 0; a < 3 && *fine && scale; a++) v->axis[a][a] = scale[a];
    return *fine;
}

/* ---- values ---- */

/* A value as tiles and backgrounds have it. */
static bool take_value(reader *r, float *value)
{
    const firn_type type = types[r->type].type;
    const size_t each = firn_type_size(type);
    for (int k = 0; k < r->to->components; k++) {
        const uint8_t *p = take(r, each);
        if (!p) return false;
        _Alignas(8) uint8_t one[8];
        memcpy(one, p, each);
        value[k] = (float)firn_type_get(type, one, 0);
    }
    return true;
}

static bool take_mask(reader *r, uint64_t *mask, int count)
{
    const uint8_t *p = take(r, (uint64_t)count / 8);
    if (p) memcpy(mask, p, (size_t)count / 8);
    return p != NULL;
}

static bool is_on(const uint64_t *mask, int i) { return mask[i / 64] >> (i % 64) & 1; }

static bool damaged(const reader *r, const char *what)
{
    firn_fail(r->error, FIRN_INVALID, "byte %zu: %s; the file is damaged", r->at, what);
    return false;
}

/* Fills `unpacked` with so many bytes. */
static bool unpack(reader *r, size_t bytes)
{
    int64_t size = -(int64_t)bytes; /* negative: as it is */
    const bool packed = r->compression & (BLOSC | ZIP);
    if (packed && !take_number(r, 8, &size)) return false;
    if (size <= 0) {
        if (size != -(int64_t)bytes) return damaged(r, "unpacked values have another length");
        const uint8_t *p = take(r, bytes);
        if (p) memcpy(r->unpacked, p, bytes);
        return p != NULL;
    }
    const uint8_t *p = take(r, (uint64_t)size);
    if (!p) return false;
    if (bytes == 0) return true; /* blosc makes a head for nothing */
    if (r->compression & BLOSC) {
        size_t plain = 0;
        if (blosc_cbuffer_validate(p, (size_t)size, &plain) != 0 || plain != bytes ||
            blosc_decompress_ctx(p, r->unpacked, bytes, 1) != (int)bytes) {
            return damaged(r, "blosc cannot unpack values");
        }
        return true;
    }
    uLongf plain = bytes;
    if (uncompress(r->unpacked, &plain, p, (uLong)size) != Z_OK || plain != bytes) {
        return damaged(r, "zlib cannot unpack values");
    }
    return true;
}

/* The values of a node's children or of a block's voxels. The code says what became of inactive ones,
 * if there are at most two: 0, all are background; 1, all are minus it; 2, all are one value; 3, 4, 5, a
 * mask tells -background, a value or another value from background, background or a second value; 6,
 * they are stored with the rest. */
static bool read_values(reader *r, int count, const uint64_t *active, float *out)
{
    const int n = r->to->components;
    const uint8_t *code = take(r, 1);
    if (!code) return false;
    if (*code > 6) return damaged(r, "a node's values have a code above 6");
    float inactive[2][3];
    for (int k = 0; k < n; k++) {
        const float background = r->to->background[k];
        const float minus = types[r->type].leaf == LEAF_VALUES ? -background : 1 - background;
        inactive[0][k] = *code == 0 ? background : minus;
        inactive[1][k] = background;
    }
    uint64_t second[NODE_MOST / 64];
    const bool selected = *code >= 3 && *code <= 5;
    if ((*code == 2 || *code == 4 || *code == 5) && !take_value(r, inactive[0])) return false;
    if (*code == 5 && !take_value(r, inactive[1])) return false;
    if (selected && !take_mask(r, second, count)) return false;
    int stored = count;
    const bool some = (r->compression & ACTIVE_ONLY) && *code != 6;
    for (int w = 0; w < count / 64 && some; w++) {
        stored -= 64 - __builtin_popcountll(active[w]);
    }
    const bool halves = r->packed == FIRN_TYPE_f16;
    const size_t bytes = (size_t)stored * (size_t)n * firn_type_size(r->packed);
    if (!(halves && stored == 0) && !unpack(r, bytes)) return false;
    int64_t next = 0;
    for (int i = 0; i < count; i++) {
        const bool here = !some || is_on(active, i);
        const float *other = inactive[selected && is_on(second, i)];
        for (int k = 0; k < n; k++) {
            out[i * n + k] = here ? (float)firn_type_get(r->packed, r->unpacked, next++) : other[k];
        }
    }
    return true;
}

/* ---- the tree ---- */

static bool add_tile(reader *r, const int32_t origin[3], int32_t edge, const float *value,
                     bool active)
{
    firn_volume *v = r->to;
    const size_t bytes = (size_t)v->components * sizeof *value;
    if (!active && memcmp(value, v->background, bytes) == 0) return true;
    if (!firn_grow(&v->tile, v->tile_count, sizeof *v->tile)) {
        firn_fail(r->error, FIRN_NO_MEMORY, "out of memory");
        return false;
    }
    firn_volume_tile *tile = &v->tile[v->tile_count++];
    *tile = (firn_volume_tile){.edge = edge, .active = active};
    memcpy(tile->origin, origin, sizeof tile->origin);
    memcpy(tile->value, value, bytes);
    return true;
}

static bool add_block(reader *r, const int32_t origin[3])
{
    firn_volume *v = r->to;
    if (!firn_grow(&v->block, v->block_count, sizeof *v->block)) {
        firn_fail(r->error, FIRN_NO_MEMORY, "out of memory");
        return false;
    }
    firn_volume_block *block = &v->block[v->block_count];
    memcpy(block->origin, origin, sizeof block->origin);
    if (!take_mask(r, block->active, FIRN_BLOCK_VOXELS)) return false;
    v->block_count++;
    return true;
}

/* A node with (2^log)^3 children of an edge of 2^child voxels. Tiles come first, then children. */
static bool read_node(reader *r, const int32_t origin[3], int log, int child)
{
    const int count = 1 << 3 * log;
    uint64_t children[NODE_MOST / 64], active[NODE_MOST / 64];
    if (!take_mask(r, children, count) || !take_mask(r, active, count)) return false;
    if (!read_values(r, count, active, r->values)) return false;
    bool fine = true;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < count && fine; i++) {
            if (is_on(children, i) != (pass == 1)) continue;
            const int32_t at[3] = {i >> 2 * log, i >> log & ((1 << log) - 1), i & ((1 << log) - 1)};
            int32_t low[3];
            for (int a = 0; a < 3; a++) low[a] = origin[a] + at[a] * (1 << child);
            if (pass == 0) {
                fine = add_tile(r, low, 1 << child, r->values + i * r->to->components,
                                is_on(active, i));
            } else {
                fine = child == 3 ? add_block(r, low) : read_node(r, low, LOWER_LOG, 3);
            }
        }
    }
    return fine;
}

/* Where the root has a tile or a node. */
static bool take_origin(reader *r, int32_t origin[3])
{
    for (int a = 0; a < 3; a++) {
        int64_t value;
        if (!take_number(r, 4, &value)) return false;
        if (value % 4096 != 0) return damaged(r, "a node does not begin at a multiple of 4096");
        origin[a] = (int32_t)value;
    }
    return true;
}

static bool read_root(reader *r)
{
    int64_t buffers, tiles, nodes;
    if (!take_number(r, 4, &buffers) || !take_value(r, r->to->background)) return false;
    if (buffers != 1) return damaged(r, "a tree has no single buffer");
    if (!take_count(r, &tiles) || !take_count(r, &nodes)) return false;
    for (; tiles > 0; tiles--) {
        int32_t origin[3];
        float value[3];
        if (!take_origin(r, origin) || !take_value(r, value)) return false;
        const uint8_t *active = take(r, 1);
        if (!active || !add_tile(r, origin, 4096, value, *active != 0)) return false;
    }
    int32_t before[3] = {0};
    for (int64_t i = 0; i < nodes; i++) {
        int32_t origin[3];
        if (!take_origin(r, origin)) return false;
        /* Values of blocks come in this order, whatever that of nodes. */
        if (i > 0 && firn_volume_order(before, origin) >= 0) {
            return damaged(r, "nodes are out of order");
        }
        memcpy(before, origin, sizeof before);
        if (!read_node(r, origin, UPPER_LOG, 7)) return false;
    }
    return true;
}

/* A block's mask comes again, followed by its values or by what its type has instead. */
static bool read_block(reader *r, firn_volume_block *block, float *value)
{
    if (!take_mask(r, block->active, FIRN_BLOCK_VOXELS)) return false;
    const leaf kind = types[r->type].leaf;
    if (kind == LEAF_VALUES) return read_values(r, FIRN_BLOCK_VOXELS, block->active, value);
    uint64_t on[FIRN_BLOCK_VOXELS / 64];
    memcpy(on, block->active, sizeof on);
    if (!take(r, 12)) return false; /* the origin */
    if (kind == LEAF_BOOL && !take_mask(r, on, FIRN_BLOCK_VOXELS)) return false;
    for (int i = 0; i < FIRN_BLOCK_VOXELS; i++) value[i] = (float)is_on(on, i);
    return true;
}

static bool read_blocks(reader *r)
{
    firn_volume *v = r->to;
    const double bytes = (double)v->block_count * FIRN_BLOCK_VOXELS * v->components * sizeof(float);
    if ((uint64_t)v->block_count > (r->size - r->at) / 65) {
        return damaged(r, "the values of blocks are missing");
    }
    if (firn_check_unpacked(bytes, r->error) != FIRN_OK) return false;
    v->value = malloc((size_t)bytes + 1);
    if (!v->value) {
        firn_fail(r->error, FIRN_NO_MEMORY, "out of memory for %" PRId64 " blocks of voxels",
                  v->block_count);
        return false;
    }
    bool fine = true;
    for (int64_t b = 0; b < v->block_count && fine; b++) {
        fine = read_block(r, &v->block[b], v->value + b * FIRN_BLOCK_VOXELS * v->components);
    }
    return fine;
}

static int by_origin(const void *left, const void *right) { return firn_volume_order(left, right); }

static bool read_tree(reader *r)
{
    firn_volume *v = r->to;
    if (!read_root(r) || !read_blocks(r)) return false;
    if (v->tile_count > 1) {
        qsort(v->tile, (size_t)v->tile_count, sizeof *v->tile, by_origin);
    }
    return true;
}

/* ---- grids ---- */

/* Finds what Tree_float_5_4_3_HalfFloat and the like hold; false: something else. */
static bool find_type(reader *r, const char *text, char name[FIRN_NAME_SIZE])
{
    static const char begin[] = "Tree_", end[] = "_5_4_3", half[] = "_HalfFloat";
    const char *stop = strstr(text, end);
    snprintf(name, FIRN_NAME_SIZE, "%s", text);
    if (strncmp(text, begin, sizeof begin - 1) != 0 || !stop) return false;
    const char *rest = stop + sizeof end - 1;
    const bool halves = strcmp(rest, half) == 0;
    if (rest[0] != 0 && !halves) return false;
    snprintf(name, FIRN_NAME_SIZE, "%.*s", (int)(stop - text) - (int)(sizeof begin - 1),
             text + sizeof begin - 1);
    for (r->type = 0; r->type < TYPES; r->type++) {
        if (strcmp(name, types[r->type].name) != 0) continue;
        r->packed = types[r->type].type;
        if (halves && types[r->type].leaf == LEAF_VALUES) r->packed = FIRN_TYPE_f16;
        return true;
    }
    return false;
}

static bool read_grid(reader *r, firn_volumes *out)
{
    char name[FIRN_NAME_SIZE], type[FIRN_NAME_SIZE], parent[FIRN_NAME_SIZE];
    int64_t begin, blocks, end, compression;
    if (!take_text(r, name, sizeof name) || !take_text(r, type, sizeof type) ||
        !take_text(r, parent, sizeof parent) || !take_number(r, 8, &begin) ||
        !take_number(r, 8, &blocks) || !take_number(r, 8, &end) || !take_count(r, &compression)) {
        return false;
    }
    if (!firn_grow(&out->volume, out->count, sizeof *out->volume)) {
        firn_fail(r->error, FIRN_NO_MEMORY, "out of memory");
        return false;
    }
    firn_volume *v = r->to = &out->volume[out->count++];
    *v = (firn_volume){0};
    memcpy(v->name, name, sizeof name);
    r->compression = (uint32_t)compression;
    const bool known = find_type(r, type, v->type);
    bool fine;
    if (!read_notes(r, &v->note, &v->note_count)) return false;
    v->kind = class_of(v);
    const bool affine = read_transform(r, &fine);
    if (!fine) return false;
    v->voxel = affine ? cube_edge(v) : 0;
    if (known && affine && !parent[0]) {
        v->components = types[r->type].components;
        return read_tree(r);
    }
    if (parent[0] && affine) return true; /* it shares that one's tree and ends here */
    if (!r->seekable || end < (int64_t)r->at || end > (int64_t)r->size) {
        firn_fail(r->error, FIRN_INVALID,
                  "grid %.40s is of type %.40s%s and cannot be passed over; save it without",
                  v->name, type, affine ? "" : " with a transform that is not affine");
        return false;
    }
    r->at = (size_t)end;
    return true;
}

static bool read_file(reader *r, firn_volumes *out)
{
    int64_t version, grids;
    if (!take(r, 8) || !take_number(r, 4, &version)) return false;
    if (version < OLDEST || version > NEWEST) {
        firn_fail(r->error, FIRN_INVALID,
                  "has file version %" PRId64
                  "; %d to %d can be read: save it with OpenVDB 3 to 12",
                  version, OLDEST, NEWEST);
        return false;
    }
    const uint8_t *seekable = take(r, 8) ? take(r, 1) : NULL; /* after the library's version */
    if (!seekable || !take(r, 36)) return false;              /* a unique number, in letters */
    r->seekable = *seekable != 0;
    if (!read_notes(r, &out->note, &out->note_count) || !take_count(r, &grids)) return false;
    bool fine = true;
    for (; grids > 0 && fine; grids--) fine = read_grid(r, out);
    return fine;
}

firn_status firn_volumes_parse(const char *path, const firn_bytes *bytes, firn_volumes *out,
                               firn_error *error)
{
    FIRN_REQUIRE(path, error);
    FIRN_REQUIRE(bytes, error);
    FIRN_REQUIRE(out, error);
    *out = (firn_volumes){0};
    if (!firn_volumes_recognise(bytes)) {
        return firn_fail(error, FIRN_INVALID, "%s: is not an OpenVDB file", path);
    }
    firn_error inner = {0};
    reader r = {.data = bytes->data, .size = bytes->size, .error = &inner};
    r.unpacked = malloc((size_t)NODE_MOST * 3 * sizeof(double));
    r.values = malloc((size_t)NODE_MOST * 3 * sizeof *r.values);
    bool fine = r.unpacked && r.values;
    if (!fine) firn_fail(&inner, FIRN_NO_MEMORY, "out of memory");
    fine = fine && read_file(&r, out);
    free(r.unpacked);
    free(r.values);
    if (fine) return FIRN_OK;
    firn_volumes_free(out);
    return firn_fail(error, inner.status, "%s: %s", path, inner.message);
}

firn_status firn_volumes_read(const char *path, firn_volumes *out, firn_error *error)
{
    FIRN_REQUIRE(path, error);
    FIRN_REQUIRE(out, error);
    *out = (firn_volumes){0};
    firn_bytes in;
    firn_status st = firn_bytes_read(path, &in, error);
    if (st == FIRN_OK) st = firn_volumes_parse(path, &in, out, error);
    firn_bytes_free(&in);
    return st;
}
