/* The end of an Alembic file: groups of samples, headers, objects, time samplings and the root. */
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "io/abc_writer.h"

enum {
    LIBRARY_VERSION = 10800, /* of Alembic whose files these are like: 1.8 */
    MOST_METADATA = 254,     /* in the table, and their length at most 255 */
    HASHES = 2 * FIRN_OGAWA_KEY,
};

/* ---- metadata ---- */

const char *firn_abc_interpretation(const char *name, firn_abc_pod pod, uint32_t extent)
{
    const bool real = pod == FIRN_ABC_F32 || pod == FIRN_ABC_F64 || pod == FIRN_ABC_F16;
    if (real && strcmp(name, "Cd") == 0 && extent == 3) return "rgb";
    if (real && strcmp(name, "Cd") == 0 && extent == 4) return "rgba";
    if (real && strcmp(name, "N") == 0 && extent == 3) return "normal";
    if (real && strcmp(name, "rest") == 0 && extent == 3) return "point";
    if (real && strcmp(name, "orient") == 0 && extent == 4) return "quat";
    if (real && (extent == 9 || extent == 16)) return "matrix";
    return pod != FIRN_ABC_STRING && (extent == 2 || extent == 3) ? "vector" : "";
}

static void describe_attribute(const firn_abc_shape *o, const firn_abc_series *s, char *text,
                               size_t size)
{
    const char *meaning = firn_abc_interpretation(s->name, s->pod, s->extent);
    snprintf(text, size, "arrayExtent=1;geoScope=%s;%s%s%sisGeomParam=true;podExtent=%u;podName=%s",
             o->kind == FIRN_ALEMBIC_MESH ? "vtx" : "var", meaning[0] ? "interpretation=" : "",
             meaning, meaning[0] ? ";" : "", s->extent, firn_abc_pod_names[s->pod]);
}

static void describe_series(const firn_abc_shape *o, const firn_abc_series *s, char text[256])
{
    static const struct {
        const char *name, *points, *mesh;
    } table[] = {
        {".selfBnds", "interpretation=box", "interpretation=box"},
        {"P", "geoScope=var;interpretation=point", "geoScope=vtx;interpretation=point"},
        {".pointIds", "geoScope=var", ""},
        {".velocities", "interpretation=vector", "interpretation=vector"},
    };
    text[0] = 0;
    if (s->attribute || strcmp(s->name, ".widths") == 0) {
        describe_attribute(o, s, text, 256);
        return;
    }
    if (s->ordered) {
        snprintf(text, 256, FIRN_ABC_ORDERED "=1;geoScope=var");
        return;
    }
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (strcmp(s->name, table[i].name) != 0) continue;
        snprintf(text, 256, "%s", o->kind == FIRN_ALEMBIC_MESH ? table[i].mesh : table[i].points);
    }
}

/* ---- the tree ---- */

/* Metadata in the order of its first use. */
typedef struct tree {
    firn_alembic_writer *w;
    char *metadata[MOST_METADATA];
    int count;
    bool failed; /* no memory */
} tree;

/* Its number in the table, from 1; 0 for none, FIRN_ABC_INLINE if it must be written where it is used. */
static uint32_t metadata_index(tree *t, const char *text)
{
    if (!text[0]) return 0;
    for (int i = 0; i < t->count; i++) {
        if (strcmp(t->metadata[i], text) == 0) return (uint32_t)i + 1;
    }
    if (t->count == MOST_METADATA || strlen(text) > 255) return FIRN_ABC_INLINE;
    t->metadata[t->count] = strdup(text);
    if (!t->metadata[t->count]) {
        t->failed = true;
        return 0;
    }
    return (uint32_t)++t->count;
}

static size_t most(size_t a, size_t b) { return a > b ? a : b; }

/* A property's header; s NULL: of a compound. */
static void put_header(tree *t, firn_abc_buffer *b, const char *name, const char *metadata,
                       const firn_abc_series *s, uint32_t first, uint32_t last)
{
    const uint32_t samples = s ? (uint32_t)t->w->frame_count : 0, sampling = 1;
    const size_t length = strlen(name), text = strlen(metadata);
    const size_t largest = most(most(length, text), samples);
    const uint32_t hint = largest < 256 ? 0 : largest < 65536 ? 1 : 2;
    const uint32_t index = metadata_index(t, metadata);
    const size_t width = (size_t)1 << hint;
    uint32_t info = hint << 2 | index << 20;
    const bool all = first == 1 && last + 1 == samples;
    if (s) {
        const firn_abc_form form = s->scalar   ? FIRN_ABC_SCALAR
                                   : s->single ? FIRN_ABC_SINGLE
                                               : FIRN_ABC_ARRAY;
        info |= (uint32_t)form | (uint32_t)s->pod << 4 | s->extent << 12 | FIRN_ABC_SAMPLED;
        if (last == 0) info |= FIRN_ABC_CONSTANT;
        if (last > 0 && !all) info |= FIRN_ABC_CHANGES;
    }
    firn_abc_put(b, &info, sizeof info);
    if (s) {
        firn_abc_put(b, &samples, width);
        if (info & FIRN_ABC_CHANGES) {
            firn_abc_put(b, &first, width);
            firn_abc_put(b, &last, width);
        }
        firn_abc_put(b, &sampling, width);
    }
    firn_abc_put(b, &length, width);
    firn_abc_put(b, name, length);
    if (index != FIRN_ABC_INLINE) return;
    firn_abc_put(b, &text, width);
    firn_abc_put(b, metadata, text);
}

static void put_object_header(tree *t, firn_abc_buffer *b, const char *name, const char *metadata)
{
    const uint32_t length = (uint32_t)strlen(name), text = (uint32_t)strlen(metadata);
    const uint8_t index = (uint8_t)metadata_index(t, metadata);
    firn_abc_put(b, &length, sizeof length);
    firn_abc_put(b, name, length);
    firn_abc_put(b, &index, 1);
    if (index != FIRN_ABC_INLINE) return;
    firn_abc_put(b, &text, sizeof text);
    firn_abc_put(b, metadata, text);
}

/* Words in a buffer, as a group. */
static uint64_t add_group(tree *t, const firn_abc_buffer *words)
{
    return firn_ogawa_add_group(&t->w->file, (const uint64_t *)(void *)words->data,
                                words->size / sizeof(uint64_t));
}

static void put_word(firn_abc_buffer *b, uint64_t word) { firn_abc_put(b, &word, sizeof word); }

/* Headers as data, and their word behind those of the properties; returns the compound. */
static uint64_t add_compound(tree *t, firn_abc_buffer *words, const firn_abc_buffer *headers)
{
    put_word(words, firn_ogawa_add_data(&t->w->file, headers->data, headers->size, NULL, 0));
    return add_group(t, words);
}

static void free_buffer(tree *t, firn_abc_buffer *b)
{
    t->failed = t->failed || b->failed;
    free(b->data);
}

/* Between which samples a series changes; 0 and 0: nowhere. */
static void find_changes(const firn_abc_series *s, int64_t samples, uint32_t *first, uint32_t *last)
{
    *first = *last = 0;
    for (int64_t i = 1; i < samples; i++) {
        if (s->word[i] == s->word[i - 1]) continue;
        if (*first == 0) *first = (uint32_t)i;
        *last = (uint32_t)i;
    }
}

/* The samples of one series, and its header. */
static void add_series(tree *t, const firn_abc_shape *o, const firn_abc_series *s,
                       firn_abc_buffer *words, firn_abc_buffer *headers)
{
    uint32_t first, last;
    char metadata[256];
    firn_abc_buffer stored = {0};
    find_changes(s, t->w->frame_count, &first, &last);
    for (uint32_t i = 0; i <= last; i = i == 0 && first > 0 ? first : i + 1) {
        put_word(&stored, s->word[i]);
        if (!s->scalar) put_word(&stored, s->dimensions ? s->dimensions[i] : FIRN_OGAWA_NO_DATA);
    }
    put_word(words, add_group(t, &stored));
    free_buffer(t, &stored);
    describe_series(o, s, metadata);
    put_header(t, headers, s->name, metadata, s, first, last);
}

/* The compound of a shape's schema: its own series, then one of attributes if there are any. */
static uint64_t add_geometry(tree *t, const firn_abc_shape *o)
{
    firn_abc_buffer words[2] = {{0}, {0}}, headers[2] = {{0}, {0}};
    for (int32_t i = 0; i < o->count; i++) {
        const int which = o->series[i].attribute;
        add_series(t, o, &o->series[i], &words[which], &headers[which]);
    }
    if (headers[1].size > 0) {
        put_word(&words[0], add_compound(t, &words[1], &headers[1]));
        put_header(t, &headers[0], ".arbGeomParams", "", NULL, 0, 0);
    }
    const uint64_t group = add_compound(t, &words[0], &headers[0]);
    for (int i = 0; i < 2; i++) {
        free_buffer(t, &words[i]);
        free_buffer(t, &headers[i]);
    }
    return group;
}

/* A hash that changes with a shape's headers and samples. */
static void hash_shape(const firn_abc_shape *o, uint8_t hash[FIRN_OGAWA_KEY])
{
    memset(hash, 0, FIRN_OGAWA_KEY);
    for (int32_t i = 0; i < o->count; i++) {
        uint8_t all[FIRN_OGAWA_KEY + sizeof o->series[i].sum + sizeof o->series[i].name] = {0};
        memcpy(all, hash, FIRN_OGAWA_KEY);
        memcpy(all + FIRN_OGAWA_KEY, o->series[i].sum, sizeof o->series[i].sum);
        snprintf((char *)all + FIRN_OGAWA_KEY + sizeof o->series[i].sum, FIRN_NAME_SIZE, "%s",
                 o->series[i].name);
        firn_murmur(all, sizeof all, hash);
    }
}

/* An object of one compound property and of children, whose headers are given. */
static uint64_t add_object(tree *t, const char *schema, const char *metadata, uint64_t compound,
                           const firn_abc_buffer *children, firn_abc_buffer *headers,
                           const uint8_t hashes[HASHES])
{
    firn_abc_buffer words = {0}, properties = {0}, header = {0};
    if (schema) {
        put_header(t, &header, schema, metadata, NULL, 0, 0);
        put_word(&properties, compound);
        put_word(&words, add_compound(t, &properties, &header));
    } else {
        put_word(&words, FIRN_OGAWA_NO_GROUP);
    }
    firn_abc_put(&words, children->data, children->size);
    firn_abc_put(headers, hashes, HASHES);
    const uint64_t group = add_compound(t, &words, headers);
    free_buffer(t, &words);
    free_buffer(t, &properties);
    free_buffer(t, &header);
    return group;
}

static const char xform_title[] = "schema=AbcGeom_Xform_v3;schemaObjTitle=AbcGeom_Xform_v3:.xform";

/* /name with /name/nameShape in it: the word of the former. */
static uint64_t add_shape(tree *t, const firn_abc_shape *o, uint8_t hash[FIRN_OGAWA_KEY])
{
    const char *schema = o->kind == FIRN_ALEMBIC_MESH ? "AbcGeom_PolyMesh_v1" : "AbcGeom_Points_v1";
    char base[256], title[384], name[FIRN_NAME_SIZE + 8];
    snprintf(base, sizeof base, "schema=%s;schemaBaseType=AbcGeom_GeomBase_v1", schema);
    snprintf(title, sizeof title, "%s;schemaObjTitle=%s:.geom", base, schema);
    snprintf(name, sizeof name, "%sShape", o->name);
    uint8_t hashes[HASHES] = {0};
    firn_abc_buffer none = {0}, empty = {0}, children = {0}, headers = {0};
    hash_shape(o, hashes);
    put_word(&children, add_object(t, ".geom", base, add_geometry(t, o), &none, &empty, hashes));
    put_object_header(t, &headers, name, title);
    memcpy(hash, hashes, FIRN_OGAWA_KEY);
    memset(hashes, 0, FIRN_OGAWA_KEY);
    memcpy(hashes + FIRN_OGAWA_KEY, hash, FIRN_OGAWA_KEY);
    const uint64_t group = add_object(t, ".xform", "schema=AbcGeom_Xform_v3", FIRN_OGAWA_NO_GROUP,
                                      &children, &headers, hashes);
    free_buffer(t, &empty);
    free_buffer(t, &children);
    free_buffer(t, &headers);
    return group;
}

static uint64_t add_top(tree *t)
{
    firn_abc_buffer children = {0}, headers = {0}, sums = {0};
    uint8_t hashes[HASHES] = {0};
    for (int32_t i = 0; i < t->w->shape_count; i++) {
        uint8_t hash[FIRN_OGAWA_KEY];
        put_word(&children, add_shape(t, &t->w->shape[i], hash));
        put_object_header(t, &headers, t->w->shape[i].name, xform_title);
        firn_abc_put(&sums, hash, sizeof hash);
    }
    firn_murmur(sums.data, sums.size, hashes + FIRN_OGAWA_KEY);
    const uint64_t group = add_object(t, NULL, NULL, 0, &children, &headers, hashes);
    free_buffer(t, &children);
    free_buffer(t, &headers);
    free_buffer(t, &sums);
    return group;
}

/* ---- time ---- */

/* The sampling that must come first and is not used; then that of the frames: even steps, or their times
 * one by one. */
static uint64_t add_samplings(tree *t)
{
    const firn_alembic_writer *w = t->w;
    const int64_t n = w->frame_count, step = n > 1 ? w->frame[1] - w->frame[0] : 1;
    const uint32_t unused = 0, one = 1, count = (uint32_t)n;
    const double second = 1, zero = 0, cycle = (double)step / w->fps, acyclic = DBL_MAX / 32;
    bool even = true, changes = false;
    for (int64_t i = 2; i < n; i++) even = even && w->frame[i] - w->frame[i - 1] == step;
    for (int32_t i = 0; i < w->shape_count; i++) {
        for (int32_t k = 0; k < w->shape[i].count; k++) {
            uint32_t first, last;
            find_changes(&w->shape[i].series[k], n, &first, &last);
            changes = changes || last > 0;
        }
    }
    firn_abc_buffer b = {0};
    firn_abc_put(&b, &unused, sizeof unused);
    firn_abc_put(&b, &second, sizeof second);
    firn_abc_put(&b, &one, sizeof one);
    firn_abc_put(&b, &zero, sizeof zero);
    firn_abc_put(&b, changes ? &count : &one, sizeof count);
    firn_abc_put(&b, even ? &cycle : &acyclic, sizeof cycle);
    firn_abc_put(&b, even ? &one : &count, sizeof count);
    for (int64_t i = 0; i < (even ? 1 : n); i++) {
        const double time = (double)w->frame[i] / w->fps;
        firn_abc_put(&b, &time, sizeof time);
    }
    const uint64_t word = firn_ogawa_add_data(&t->w->file, b.data, b.size, NULL, 0);
    free_buffer(t, &b);
    return word;
}

static uint64_t add_table(tree *t)
{
    firn_abc_buffer b = {0};
    for (int i = 0; i < t->count; i++) {
        const uint8_t length = (uint8_t)strlen(t->metadata[i]);
        firn_abc_put(&b, &length, 1);
        firn_abc_put(&b, t->metadata[i], length);
    }
    const uint64_t word = firn_ogawa_add_data(&t->w->file, b.data, b.size, NULL, 0);
    free_buffer(t, &b);
    return word;
}

firn_status firn_abc_write_tree(firn_alembic_writer *w, firn_error *error)
{
    tree t = {.w = w};
    const int32_t version = 0, library = LIBRARY_VERSION;
    char about[128];
    uint64_t words[6];
    const int length = snprintf(about, sizeof about, "_ai_Application=Firn %s;_ai_DCC_FPS=%.12g",
                                firn_version(), w->fps);
    words[2] = add_top(&t);
    words[0] = firn_ogawa_add_data(&w->file, &version, sizeof version, NULL, 0);
    words[1] = firn_ogawa_add_data(&w->file, &library, sizeof library, NULL, 0);
    words[3] = firn_ogawa_add_data(&w->file, about, (size_t)length, NULL, 0);
    words[4] = add_samplings(&t);
    words[5] = add_table(&t);
    firn_ogawa_finish(&w->file, firn_ogawa_add_group(&w->file, words, 6));
    for (int i = 0; i < t.count; i++) free(t.metadata[i]);
    return t.failed ? firn_fail(error, FIRN_NO_MEMORY, "out of memory") : FIRN_OK;
}
