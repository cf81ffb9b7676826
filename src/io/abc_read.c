/* Alembic archives: objects, headers of properties, time samplings, and samples of any property.
 *
 * Opening reads everything but samples. In a sound file every group and header is referred to once, so
 * together they are no larger than the file; a file that refers to more is refused when that is used up
 * (`unread`), which bounds the work whatever the file says. Instances are the exception: they are
 * copies in memory, and bounded by the number of objects. */
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "io/abc.h"

enum {
    ROOT_PARTS = 6,     /* versions of file and library, objects, metadata, samplings, table */
    HASHES = 32,        /* bytes at the end of a list of children */
    TEXT_BLOCK = 65536, /* bytes */
};
#define MOST_PATH_BYTES ((uint64_t)1 << 28) /* of all objects together */

const char *const firn_abc_pod_names[FIRN_ABC_POD_COUNT] = {
#define POD(NAME, name, type) #name,
    FIRN_ABC_PODS(POD)
#undef POD
        "string",
    "wstring"};

const firn_type firn_abc_pod_types[FIRN_ABC_STRING] = {
#define POD(NAME, name, type) FIRN_TYPE_##type,
    FIRN_ABC_PODS(POD)
#undef POD
};

static firn_status no_memory(firn_error *error)
{
    return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
}

firn_status firn_abc_fail(const firn_alembic *a, const firn_error *inner, firn_error *error)
{
    return firn_fail(error, inner->status, "%s%s%s", a->path ? a->path : "", a->path ? ": " : "",
                     inner->message);
}

/* ---- strings ---- */

typedef struct firn_abc_text {
    struct firn_abc_text *next;
    size_t used, size;
    char bytes[];
} text_block;

/* Room for a string of that length, which ends with a zero already. NULL: no memory. */
static char *add_text(firn_alembic *a, size_t length)
{
    if (!a->text || a->text->size - a->text->used < length + 1) {
        const size_t size = length + 1 > TEXT_BLOCK ? length + 1 : TEXT_BLOCK;
        text_block *block = malloc(sizeof *block + size);
        if (!block) return NULL;
        *block = (text_block){.next = a->text, .size = size};
        a->text = block;
    }
    char *out = a->text->bytes + a->text->used;
    a->text->used += length + 1;
    out[length] = 0;
    return out;
}

static const char *copy_text(firn_alembic *a, const void *from, size_t length)
{
    char *out = add_text(a, length);
    if (out && length) memcpy(out, from, length);
    return out;
}

const char *firn_abc_metadata(const char *metadata, const char *key, char *value, size_t size)
{
    const size_t length = strlen(key);
    for (const char *p = metadata; *p; p += *p == ';') {
        const size_t whole = strcspn(p, ";");
        if (whole > length && p[length] == '=' && memcmp(p, key, length) == 0) {
            snprintf(value, size, "%.*s", (int)(whole - length - 1), p + length + 1);
            return value;
        }
        p += whole;
    }
    value[0] = 0;
    return value;
}

/* ---- parts that describe ---- */

/* Takes so many bytes from what is not yet read. */
static firn_status spend(firn_alembic *a, uint64_t bytes, firn_error *error)
{
    if (bytes > a->unread) {
        return firn_fail(error, FIRN_INVALID,
                         "is damaged: it describes more than fits into its %llu bytes",
                         (unsigned long long)a->file.size);
    }
    a->unread -= bytes;
    return FIRN_OK;
}

/* All words of a group; free them. */
static firn_status read_group(firn_alembic *a, uint64_t group, uint64_t **words, uint64_t *count,
                              firn_error *error)
{
    *words = NULL;
    firn_status st = firn_ogawa_count(&a->file, group, count, error);
    if (st == FIRN_OK) st = spend(a, (1 + *count) * sizeof **words, error);
    if (st != FIRN_OK || *count == 0) return st;
    *words = malloc((size_t)*count * sizeof **words);
    if (!*words) return no_memory(error);
    return firn_ogawa_get(&a->file, group + sizeof **words, *words, *count * sizeof **words, error);
}

/* All bytes of a chunk; free them. */
static firn_status read_data(firn_alembic *a, uint64_t data, firn_bytes *out, firn_error *error)
{
    *out = (firn_bytes){0};
    uint64_t size;
    firn_status st = firn_ogawa_size(&a->file, data, &size, error);
    if (st == FIRN_OK) st = spend(a, sizeof size + size, error);
    if (st != FIRN_OK) return st;
    out->data = malloc((size_t)size + 1);
    if (!out->data) return no_memory(error);
    out->size = (size_t)size;
    return firn_ogawa_read(&a->file, data, 0, out->data, size, error);
}

/* Bytes that are taken from the front. */
typedef struct cursor {
    const uint8_t *at, *end;
    bool short_of; /* something was not there */
} cursor;

static uint32_t take_number(cursor *c, size_t bytes)
{
    uint32_t value = 0;
    if ((size_t)(c->end - c->at) < bytes) {
        c->short_of = true;
        return 0;
    }
    memcpy(&value, c->at, bytes);
    c->at += bytes;
    return value;
}

static double take_double(cursor *c)
{
    double value = 0;
    if ((size_t)(c->end - c->at) < sizeof value) {
        c->short_of = true;
        return 0;
    }
    memcpy(&value, c->at, sizeof value);
    c->at += sizeof value;
    return value;
}

/* So many bytes as a string of the archive's; "" if they are not there. */
static firn_status take_text(firn_alembic *a, cursor *c, size_t length, const char **out,
                             firn_error *error)
{
    *out = "";
    if ((size_t)(c->end - c->at) < length) {
        c->short_of = true;
        return FIRN_OK;
    }
    *out = copy_text(a, c->at, length);
    c->at += length;
    return *out ? FIRN_OK : no_memory(error);
}

/* A name without control characters; that of an object without slashes. */
static firn_status take_name(firn_alembic *a, cursor *c, size_t length, bool object,
                             const char **out, firn_error *error)
{
    const firn_status st = take_text(a, c, length, out, error);
    if (st != FIRN_OK || c->short_of) return st;
    bool fine = length > 0;
    for (size_t i = 0; i < length; i++) {
        const unsigned char letter = (unsigned char)(*out)[i];
        fine = fine && letter >= ' ' && letter != 0x7f && !(object && letter == '/');
    }
    if (fine) return FIRN_OK;
    return firn_fail(error, FIRN_INVALID, "is damaged: %s has a name of %zu bytes that is none",
                     object ? "an object" : "a property", length);
}

static firn_status metadata_at(const firn_alembic *a, uint32_t index, const char **out,
                               firn_error *error)
{
    *out = index < FIRN_ABC_INLINE ? a->table[index] : NULL;
    if (*out) return FIRN_OK;
    return firn_fail(error, FIRN_INVALID, "is damaged: metadata %u is not in its table", index);
}

/* ---- properties ---- */

/* Room for one more of `size` bytes behind `count`. Room doubles at powers of two. */
static bool grow(void **array, int32_t count, size_t size)
{
    if (count & (count - 1)) return true;
    void *grown = realloc(*array, (count ? 2 * (size_t)count : 1) * size);
    if (grown) *array = grown;
    return grown != NULL;
}

static firn_status check_samples(const firn_alembic *a, const firn_abc_property *p,
                                 firn_error *error)
{
    if (p->samples > FIRN_ALEMBIC_SAMPLES) {
        return firn_fail(error, FIRN_INVALID, "property %.60s has %u samples; %d can be read",
                         p->name, p->samples, FIRN_ALEMBIC_SAMPLES);
    }
    const bool constant = p->first == 0 && p->last == 0;
    if (!constant && !(p->first >= 1 && p->first <= p->last && p->last < p->samples)) {
        return firn_fail(error, FIRN_INVALID,
                         "is damaged: property %.60s changes in samples %u to %u of %u", p->name,
                         p->first, p->last, p->samples);
    }
    if (p->sampling >= a->sampling_count) {
        return firn_fail(error, FIRN_INVALID,
                         "is damaged: property %.60s has time sampling %u; there are %u", p->name,
                         p->sampling, a->sampling_count);
    }
    const firn_abc_sampling *s = &a->sampling[p->sampling];
    if (s->acyclic && !constant && p->samples > s->count) {
        return firn_fail(error, FIRN_INVALID,
                         "is damaged: property %.60s has %u samples at %u times", p->name,
                         p->samples, s->count);
    }
    return FIRN_OK;
}

/* One header, and the property's group. */
static firn_status take_header(firn_alembic *a, cursor *c, uint64_t group, firn_abc_property *p,
                               firn_error *error)
{
    const uint32_t info = take_number(c, 4), hint = info >> 2 & 3, index = info >> 20 & 255;
    const size_t width = (size_t)1 << hint;
    *p = (firn_abc_property){.form = (firn_abc_form)(info & 3),
                             .pod = (firn_abc_pod)(info >> 4 & 15),
                             .extent = info >> 12 & 255,
                             .group = group};
    if (hint > 2) {
        return firn_fail(error, FIRN_INVALID, "is damaged: a property has size hint %u", hint);
    }
    if (p->form != FIRN_ABC_COMPOUND) {
        p->samples = take_number(c, width);
        if (info & FIRN_ABC_CHANGES) {
            p->first = take_number(c, width);
            p->last = take_number(c, width);
        } else if (!(info & FIRN_ABC_CONSTANT) && p->samples > 1) {
            p->first = 1;
            p->last = p->samples - 1;
        }
        if (info & FIRN_ABC_SAMPLED) p->sampling = take_number(c, width);
    }
    const size_t length = take_number(c, width);
    firn_status st = take_name(a, c, length, false, &p->name, error);
    if (st != FIRN_OK) return st;
    if (index == FIRN_ABC_INLINE) {
        const size_t bytes = take_number(c, width);
        st = take_text(a, c, bytes, &p->metadata, error);
    } else {
        st = metadata_at(a, index, &p->metadata, error);
    }
    if (st != FIRN_OK || c->short_of || p->form == FIRN_ABC_COMPOUND) return st;
    if (p->pod >= FIRN_ABC_POD_COUNT) {
        return firn_fail(error, FIRN_INVALID, "is damaged: property %.60s has type %d", p->name,
                         (int)p->pod);
    }
    return check_samples(a, p, error);
}

/* A compound's properties, and those within them. */
static firn_status read_compound(firn_alembic *a, uint64_t group, int depth, int32_t *child,
                                 int32_t *child_count, firn_error *error)
{
    uint64_t *words = NULL, count = 0;
    firn_bytes headers = {0};
    *child = a->property_count;
    *child_count = 0;
    if (group == FIRN_OGAWA_NO_GROUP) return FIRN_OK;
    if (depth > FIRN_ALEMBIC_DEPTH) {
        return firn_fail(error, FIRN_INVALID, "properties lie more than %d deep in each other",
                         FIRN_ALEMBIC_DEPTH);
    }
    firn_status st = read_group(a, group, &words, &count, error);
    if (st == FIRN_OK && count > 0) st = read_data(a, words[count - 1], &headers, error);
    cursor c = {headers.data, headers.data ? headers.data + headers.size : NULL, false};
    while (st == FIRN_OK && c.at < c.end) {
        if ((uint64_t)*child_count + 1 >= count) {
            st = firn_fail(error, FIRN_INVALID,
                           "is damaged: the group at byte %llu has fewer properties than headers",
                           (unsigned long long)group);
        } else if (a->property_count == FIRN_ALEMBIC_PROPERTIES) {
            st = firn_fail(error, FIRN_INVALID, "has more than %d properties",
                           FIRN_ALEMBIC_PROPERTIES);
        } else if (!grow((void **)&a->property, a->property_count, sizeof *a->property)) {
            st = no_memory(error);
        } else {
            st =
                take_header(a, &c, words[(*child_count)++], &a->property[a->property_count], error);
            a->property_count++;
        }
        if (st == FIRN_OK && c.short_of) {
            st = firn_fail(error, FIRN_INVALID,
                           "is damaged: the headers of the group at byte %llu are cut off",
                           (unsigned long long)group);
        }
    }
    firn_bytes_free(&headers);
    free(words);
    for (int32_t i = 0; i < *child_count && st == FIRN_OK; i++) {
        const int32_t at = *child + i;
        int32_t inner, inner_count;
        if (a->property[at].form != FIRN_ABC_COMPOUND) continue;
        st = read_compound(a, a->property[at].group, depth + 1, &inner, &inner_count, error);
        a->property[at].child = inner;
        a->property[at].child_count = inner_count;
    }
    return st;
}

const firn_abc_property *firn_abc_find(const firn_alembic *a, int32_t child, int32_t count,
                                       const char *name)
{
    for (int32_t i = 0; i < count; i++) {
        if (strcmp(a->property[child + i].name, name) == 0) return &a->property[child + i];
    }
    return NULL;
}

const firn_abc_property *firn_abc_part(const firn_alembic *a, const firn_abc_property *compound,
                                       const char *name)
{
    return compound ? firn_abc_find(a, compound->child, compound->child_count, name) : NULL;
}

const firn_abc_property *firn_abc_schema(const firn_alembic *a, const firn_abc_object *o)
{
    const char *name = o->kind == FIRN_ALEMBIC_XFORM     ? ".xform"
                       : o->kind == FIRN_ALEMBIC_FACESET ? ".faceset"
                                                         : ".geom";
    return firn_abc_find(a, o->child, o->child_count, name);
}

/* ---- objects ---- */

static const char *const schemas[FIRN_ALEMBIC_KIND_COUNT] = {
#define ROW(NAME, name, schema) schema,
    FIRN_ALEMBIC_KINDS(ROW)
#undef ROW
};

static firn_alembic_kind kind_of(const char *metadata)
{
    char schema[128];
    if (firn_abc_metadata(metadata, "isInstance", schema, sizeof schema)[0] == '1') {
        return FIRN_ALEMBIC_INSTANCE;
    }
    if (!firn_abc_metadata(metadata, "schema", schema, sizeof schema)[0]) {
        firn_abc_metadata(metadata, "schemaObjTitle", schema, sizeof schema);
    }
    for (int k = 0; k < FIRN_ALEMBIC_KIND_COUNT; k++) {
        if (schemas[k] && strncmp(schema, schemas[k], strlen(schemas[k])) == 0) {
            return (firn_alembic_kind)k;
        }
    }
    return schema[0] ? FIRN_ALEMBIC_OTHER : FIRN_ALEMBIC_GROUP;
}

/* A new object below one (-1: the top); NULL with an error if there are too many. */
static firn_abc_object *add_object(firn_alembic *a, int32_t parent, const char *name,
                                   firn_error *error)
{
    const char *above = parent < 0 ? "" : a->object[parent].path;
    const size_t length = strlen(above) + 1 + strlen(name);
    const int32_t depth = parent < 0 ? 0 : a->object[parent].depth + 1;
    a->path_bytes += length;
    if (a->object_count == FIRN_ALEMBIC_OBJECTS) {
        firn_fail(error, FIRN_INVALID, "has more than %d objects", FIRN_ALEMBIC_OBJECTS);
    } else if (depth >= FIRN_ALEMBIC_DEPTH) {
        firn_fail(error, FIRN_INVALID, "objects lie more than %d deep in each other",
                  FIRN_ALEMBIC_DEPTH);
    } else if (length >= FIRN_ALEMBIC_PATH || a->path_bytes > MOST_PATH_BYTES) {
        firn_fail(error, FIRN_INVALID, "the path of object %.60s has %zu bytes; %d can be read",
                  name, length, FIRN_ALEMBIC_PATH - 1);
    } else {
        char *path = add_text(a, length);
        if (path && grow((void **)&a->object, a->object_count, sizeof *a->object)) {
            snprintf(path, length + 1, "%s/%s", above, name);
            const int32_t at = a->object_count++;
            a->object[at] = (firn_abc_object){.name = name,
                                              .path = path,
                                              .parent = parent,
                                              .depth = depth,
                                              .end = at + 1,
                                              .origin = at};
            return &a->object[at];
        }
        no_memory(error);
    }
    return NULL;
}

/* The scalar string ".instanceSource" of an instance. */
static firn_status read_source(firn_alembic *a, firn_abc_object *o, firn_error *error)
{
    const firn_abc_property *p = firn_abc_find(a, o->child, o->child_count, ".instanceSource");
    if (!p || p->pod != FIRN_ABC_STRING || p->samples == 0) return FIRN_OK;
    int64_t bytes;
    firn_status st = firn_abc_count(a, p, 0, &bytes, error);
    if (st != FIRN_OK || bytes > FIRN_ALEMBIC_PATH) return st;
    firn_abc_sample sample;
    st = firn_abc_load(a, p, 0, &sample, error);
    if (st == FIRN_OK) {
        o->source = copy_text(a, sample.data, strlen(sample.data));
        if (!o->source) st = no_memory(error);
    }
    free(sample.data);
    return st;
}

static firn_status read_children(firn_alembic *a, const uint64_t *words, uint64_t count,
                                 int32_t parent, firn_error *error);

/* The object's group: properties, objects in it, their headers. */
static firn_status read_object(firn_alembic *a, int32_t at, firn_error *error)
{
    const uint64_t group = a->object[at].group;
    for (int32_t up = a->object[at].parent; group && up >= 0; up = a->object[up].parent) {
        if (a->object[up].group != group) continue;
        return firn_fail(error, FIRN_INVALID, "is damaged: object %.200s contains itself",
                         a->object[up].path);
    }
    uint64_t *words = NULL, count = 0;
    firn_status st = read_group(a, group, &words, &count, error);
    if (st == FIRN_OK && count > 0 && !(words[0] & FIRN_OGAWA_NO_DATA)) {
        int32_t child, child_count;
        st = read_compound(a, words[0], 0, &child, &child_count, error);
        a->object[at].child = child;
        a->object[at].child_count = child_count;
    }
    if (st == FIRN_OK && a->object[at].kind == FIRN_ALEMBIC_INSTANCE) {
        st = read_source(a, &a->object[at], error);
    }
    if (st == FIRN_OK && count > 1) st = read_children(a, words, count, at, error);
    a->object[at].end = a->object_count;
    free(words);
    return st;
}

static firn_status read_children(firn_alembic *a, const uint64_t *words, uint64_t count,
                                 int32_t parent, firn_error *error)
{
    firn_bytes headers;
    firn_status st = read_data(a, words[count - 1], &headers, error);
    if (st == FIRN_OK && headers.size < HASHES) {
        st = firn_fail(error, FIRN_INVALID, "is damaged: a list of objects has %zu bytes",
                       headers.size);
    }
    cursor c = {headers.data, headers.data, false};
    if (st == FIRN_OK) c.end += headers.size - HASHES;
    for (uint64_t i = 1; c.at < c.end && st == FIRN_OK; i++) {
        const char *name = "", *metadata = "";
        st = take_name(a, &c, take_number(&c, 4), true, &name, error);
        const uint32_t index = take_number(&c, 1);
        if (st == FIRN_OK && index == FIRN_ABC_INLINE) {
            st = take_text(a, &c, take_number(&c, 4), &metadata, error);
        } else if (st == FIRN_OK) {
            st = metadata_at(a, index, &metadata, error);
        }
        if (st == FIRN_OK && (c.short_of || i + 1 >= count)) {
            st = firn_fail(error, FIRN_INVALID, "is damaged: a list of %llu objects is cut off",
                           (unsigned long long)count - 2);
        }
        if (st != FIRN_OK) break;
        firn_abc_object *o = add_object(a, parent, name, error);
        if (!o) {
            st = FIRN_INVALID;
            break;
        }
        o->metadata = metadata;
        o->kind = kind_of(metadata);
        o->group = words[i];
        st = read_object(a, (int32_t)(o - a->object), error);
    }
    firn_bytes_free(&headers);
    return st;
}

/* ---- instances ---- */

typedef struct path_index {
    const char *path;
    int32_t object;
} path_index;

static int by_path(const void *left, const void *right)
{
    const path_index *a = left, *b = right;
    const int order = strcmp(a->path, b->path);
    return order ? order : a->object - b->object;
}

/* Makes an instance what it stands for, with copies of all in it. */
static firn_status expand(firn_alembic *a, int32_t at, int32_t source, firn_error *error)
{
    for (int32_t up = at; up >= 0; up = a->object[up].parent) {
        if (a->object[up].origin != source) continue;
        return firn_fail(error, FIRN_INVALID, "is damaged: instance %.200s contains itself",
                         a->object[at].path);
    }
    const int32_t base = a->object_count, first = source + 1, end = a->object[source].end;
    firn_abc_object *o = &a->object[at];
    const firn_abc_object *s = &a->object[source];
    o->kind = s->kind;
    o->metadata = s->metadata;
    o->child = s->child;
    o->child_count = s->child_count;
    o->origin = source;
    for (int32_t i = first; i < end; i++) {
        const int32_t above = a->object[i].parent;
        const int32_t parent = above == source ? at : base + above - first;
        firn_abc_object *copy = add_object(a, parent, a->object[i].name, error);
        if (!copy) return FIRN_INVALID;
        const firn_abc_object *from = &a->object[i];
        copy->metadata = from->metadata;
        copy->source = from->source;
        copy->kind = from->source ? FIRN_ALEMBIC_INSTANCE : from->kind;
        copy->child = from->child;
        copy->child_count = from->child_count;
        copy->origin = i;
    }
    return FIRN_OK;
}

/* Those that instances bring may be instances, too. */
static firn_status expand_instances(firn_alembic *a, firn_error *error)
{
    const int32_t count = a->object_count;
    bool any = false;
    for (int32_t i = 0; i < count && !any; i++) any = a->object[i].source != NULL;
    if (!any) return FIRN_OK;
    path_index *index = malloc((size_t)count * sizeof *index);
    if (!index) return no_memory(error);
    for (int32_t i = 0; i < count; i++) index[i] = (path_index){a->object[i].path, i};
    qsort(index, (size_t)count, sizeof *index, by_path);
    firn_status st = FIRN_OK;
    for (int32_t i = 0; i < a->object_count && st == FIRN_OK; i++) {
        if (!a->object[i].source) continue;
        int32_t low = 0, high = count; /* the first that is not before */
        while (low < high) {
            const int32_t middle = low + (high - low) / 2;
            if (strcmp(index[middle].path, a->object[i].source) < 0) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        if (low == count || strcmp(index[low].path, a->object[i].source) != 0) continue;
        const int32_t source = index[low].object;
        if (!a->object[source].source) st = expand(a, i, source, error);
    }
    free(index);
    return st;
}

/* ---- time ---- */

static firn_status read_samplings(firn_alembic *a, uint64_t word, firn_error *error)
{
    const double acyclic = DBL_MAX / 32;
    firn_bytes in;
    firn_status st = read_data(a, word, &in, error);
    if (st == FIRN_OK) {
        const size_t most = in.size / 24 + 1; /* the least that one takes */
        a->sampling = calloc(most, sizeof *a->sampling);
        a->times = malloc(in.size + 1);
        if (!a->sampling || !a->times) st = no_memory(error);
    }
    cursor c = {in.data, in.data ? in.data + in.size : NULL, false};
    double *time = a->times;
    while (st == FIRN_OK && c.at < c.end) {
        firn_abc_sampling *s = &a->sampling[a->sampling_count];
        take_number(&c, 4);
        s->cycle = take_double(&c);
        s->acyclic = s->cycle >= acyclic / 2;
        s->count = take_number(&c, 4);
        s->time = time;
        if (c.short_of || s->count == 0 || s->count > (size_t)(c.end - c.at) / sizeof *time) {
            st = firn_fail(error, FIRN_INVALID, "is damaged: time sampling %u is cut off",
                           a->sampling_count);
            break;
        }
        bool fine = isfinite(s->cycle) && s->cycle >= 0 && (s->acyclic || s->cycle < 1e15);
        for (uint32_t i = 0; i < s->count; i++, time++) {
            *time = take_double(&c);
            fine = fine && fabs(*time) < 1e15 && (i == 0 || *time > time[-1]);
        }
        fine = fine && (s->acyclic || s->time[s->count - 1] - s->time[0] <= s->cycle * (1 + 1e-9));
        if (!fine) {
            st = firn_fail(error, FIRN_INVALID, "is damaged: times of sampling %u do not rise",
                           a->sampling_count);
        }
        a->sampling_count++;
    }
    firn_bytes_free(&in);
    if (st == FIRN_OK && a->sampling_count == 0) {
        st = firn_fail(error, FIRN_INVALID, "is damaged: it has no time sampling");
    }
    return st;
}

double firn_abc_time(const firn_alembic *a, const firn_abc_property *p, int64_t sample)
{
    const firn_abc_sampling *s = &a->sampling[p->sampling];
    if (s->acyclic) return s->time[sample < s->count ? sample : s->count - 1];
    return s->time[sample % s->count] + s->cycle * (double)(sample / s->count);
}

firn_abc_moment firn_abc_moment_at(const firn_alembic *a, const firn_abc_property *p, double time)
{
    const double snap = 1e-6; /* of the way: times such as 3 / 24 are met in spite of rounding */
    if (p->samples < 2 || p->last == 0) return (firn_abc_moment){0};
    int64_t low = 0, high = (int64_t)p->samples - 1; /* the last at or before it */
    while (low < high) {
        const int64_t middle = low + (high - low + 1) / 2;
        if (firn_abc_time(a, p, middle) <= time) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    if (low + 1 == p->samples) return (firn_abc_moment){low, low, 0};
    const double begin = firn_abc_time(a, p, low), end = firn_abc_time(a, p, low + 1);
    const double weight = end > begin ? (time - begin) / (end - begin) : 0;
    if (!(weight > snap)) return (firn_abc_moment){low, low, 0};
    if (weight > 1 - snap) return (firn_abc_moment){low + 1, low + 1, 0};
    return (firn_abc_moment){low, low + 1, weight};
}

/* ---- samples ---- */

static bool is_array(const firn_abc_property *p) { return p->form >= FIRN_ABC_ARRAY; }

firn_status firn_abc_word(const firn_alembic *a, const firn_abc_property *p, int64_t sample,
                          uint64_t *word, firn_error *error)
{
    if (p->form == FIRN_ABC_COMPOUND || sample < 0 || sample >= p->samples) {
        return firn_fail(error, FIRN_INVALID,
                         "property %.60s has %u samples, and %lld is asked for", p->name,
                         p->samples, (long long)sample);
    }
    uint64_t stored = 0; /* the first, and all from `first` to `last` */
    if (p->last > 0 && sample >= p->first) {
        stored = (uint64_t)(sample < p->last ? sample : p->last) - p->first + 1;
    }
    return firn_ogawa_child(&a->file, p->group, is_array(p) ? 2 * stored : stored, word, error);
}

/* The sample's data and how many bytes it has behind its key. */
static firn_status find_payload(const firn_alembic *a, const firn_abc_property *p, int64_t sample,
                                uint64_t *word, uint64_t *bytes, firn_error *error)
{
    uint64_t size;
    *bytes = 0;
    firn_status st = firn_abc_word(a, p, sample, word, error);
    if (st != FIRN_OK || (is_array(p) && *word == FIRN_OGAWA_NO_DATA)) return st;
    st = firn_ogawa_size(&a->file, *word, &size, error);
    if (st != FIRN_OK) return st;
    const uint64_t each =
        p->pod < FIRN_ABC_STRING ? p->extent * firn_type_size(firn_abc_pod_types[p->pod]) : 1;
    *bytes = size < FIRN_OGAWA_KEY ? 0 : size - FIRN_OGAWA_KEY;
    const bool numbers = p->pod < FIRN_ABC_STRING;
    if (size < FIRN_OGAWA_KEY || (numbers && (each == 0 || *bytes % each != 0)) ||
        (numbers && !is_array(p) && *bytes != each)) {
        return firn_fail(error, FIRN_INVALID,
                         "is damaged: sample %lld of property %.60s has %llu bytes",
                         (long long)sample, p->name, (unsigned long long)size);
    }
    return FIRN_OK;
}

static int64_t elements(const firn_abc_property *p, uint64_t bytes)
{
    if (p->pod >= FIRN_ABC_STRING) return (int64_t)bytes;
    return bytes ? (int64_t)(bytes / (p->extent * firn_type_size(firn_abc_pod_types[p->pod]))) : 0;
}

firn_status firn_abc_count(const firn_alembic *a, const firn_abc_property *p, int64_t sample,
                           int64_t *count, firn_error *error)
{
    uint64_t word, bytes;
    const firn_status st = find_payload(a, p, sample, &word, &bytes, error);
    *count = st == FIRN_OK ? elements(p, bytes) : 0;
    return st;
}

firn_status firn_abc_load(const firn_alembic *a, const firn_abc_property *p, int64_t sample,
                          firn_abc_sample *out, firn_error *error)
{
    uint64_t word, bytes;
    *out = (firn_abc_sample){0};
    firn_status st = find_payload(a, p, sample, &word, &bytes, error);
    if (st == FIRN_OK) st = firn_memory_check((double)bytes, "a sample", error);
    if (st != FIRN_OK) return st;
    uint8_t *data = malloc((size_t)bytes + 1);
    if (!data) return no_memory(error);
    data[bytes] = 0;
    if (bytes) st = firn_ogawa_read(&a->file, word, FIRN_OGAWA_KEY, data, bytes, error);
    if (st != FIRN_OK) {
        free(data);
        return st;
    }
    *out = (firn_abc_sample){data, elements(p, bytes)};
    return FIRN_OK;
}

firn_status firn_abc_load_numbers(const firn_alembic *a, const firn_abc_property *p, int64_t sample,
                                  uint32_t extent, double **out, int64_t *count, firn_error *error)
{
    *out = NULL;
    *count = 0;
    if (p->pod >= FIRN_ABC_STRING || (extent && p->extent != extent)) {
        return firn_fail(error, FIRN_INVALID, "property %.60s is %s[%u]; %u numbers are expected",
                         p->name, firn_abc_pod_names[p->pod], p->extent, extent);
    }
    firn_abc_sample s;
    firn_status st = firn_abc_load(a, p, sample, &s, error);
    if (st != FIRN_OK) return st;
    const int64_t numbers = s.count * p->extent;
    st = firn_memory_check((double)numbers * sizeof **out, "a sample", error);
    if (st == FIRN_OK) *out = malloc(((size_t)numbers + 1) * sizeof **out);
    if (st == FIRN_OK && !*out) st = no_memory(error);
    for (int64_t i = 0; st == FIRN_OK && i < numbers; i++) {
        (*out)[i] = firn_type_get(firn_abc_pod_types[p->pod], s.data, i);
    }
    if (st == FIRN_OK) *count = s.count;
    free(s.data);
    return st;
}

/* ---- the archive ---- */

static firn_status read_version(firn_alembic *a, const uint64_t *words, firn_error *error)
{
    int32_t version;
    firn_status st = firn_ogawa_read(&a->file, words[0], 0, &version, sizeof version, error);
    if (st == FIRN_OK && version != 0) {
        return firn_fail(error, FIRN_INVALID, "has version %d of Alembic's archives; 0 can be read",
                         version);
    }
    if (st != FIRN_OK) return st;
    st = firn_ogawa_read(&a->file, words[1], 0, &a->version, sizeof a->version, error);
    if (st == FIRN_OK && a->version < 9999) {
        return firn_fail(error, FIRN_INVALID, "is damaged: it was written by version %d of Alembic",
                         a->version);
    }
    return st;
}

static firn_status read_table(firn_alembic *a, uint64_t word, firn_error *error)
{
    firn_bytes in;
    firn_status st = read_data(a, word, &in, error);
    cursor c = {in.data, in.data ? in.data + in.size : NULL, false};
    a->table[0] = "";
    for (int i = 1; st == FIRN_OK && c.at < c.end; i++) {
        if (i == FIRN_ABC_INLINE) {
            st = firn_fail(error, FIRN_INVALID,
                           "is damaged: its table of metadata has more than "
                           "254 entries");
            break;
        }
        st = take_text(a, &c, take_number(&c, 1), &a->table[i], error);
        if (st == FIRN_OK && c.short_of) {
            st = firn_fail(error, FIRN_INVALID, "is damaged: its table of metadata is cut off");
        }
    }
    firn_bytes_free(&in);
    return st;
}

static firn_status read_archive(firn_alembic *a, firn_error *error)
{
    uint64_t *words = NULL, count = 0, *top = NULL, top_count = 0;
    firn_bytes metadata = {0};
    a->unread = a->file.size;
    firn_status st = read_group(a, a->file.root, &words, &count, error);
    if (st == FIRN_OK && count < ROOT_PARTS) {
        st = firn_fail(error, FIRN_INVALID, "is damaged: its root has %llu parts; %d are expected",
                       (unsigned long long)count, ROOT_PARTS);
    }
    if (st == FIRN_OK) st = read_version(a, words, error);
    if (st == FIRN_OK) st = read_data(a, words[3], &metadata, error);
    if (st == FIRN_OK) {
        a->metadata = copy_text(a, metadata.data, metadata.size);
        char *application = add_text(a, metadata.size);
        if (!a->metadata || !application) st = no_memory(error);
        if (st == FIRN_OK) {
            a->application =
                firn_abc_metadata(a->metadata, "_ai_Application", application, metadata.size + 1);
            for (char *c = application; *c; c++) { /* it is printed */
                if ((unsigned char)*c < ' ' || *c == 0x7f) *c = ' ';
            }
        }
    }
    firn_bytes_free(&metadata);
    if (st == FIRN_OK) st = read_samplings(a, words[4], error);
    if (st == FIRN_OK) st = read_table(a, words[5], error);
    if (st == FIRN_OK) st = read_group(a, words[2], &top, &top_count, error);
    if (st == FIRN_OK && top_count > 1) st = read_children(a, top, top_count, -1, error);
    if (st == FIRN_OK) st = expand_instances(a, error);
    free(top);
    free(words);
    return st;
}

static firn_status open_archive(firn_alembic *a, firn_status st, firn_alembic **out,
                                firn_error *inner, firn_error *error)
{
    if (st == FIRN_OK) st = read_archive(a, inner);
    if (st == FIRN_OK) {
        *out = a;
        return FIRN_OK;
    }
    st = firn_abc_fail(a, inner, error);
    firn_alembic_close(a);
    return st;
}

static firn_status open_path(const char *path, bool named, firn_alembic **out, firn_error *error)
{
    firn_error inner = {0};
    firn_alembic *a = calloc(1, sizeof *a);
    if (!a) return no_memory(error);
    a->file.file = -1;
    a->path = named ? strdup(path) : NULL;
    const firn_status st =
        named && !a->path ? no_memory(&inner) : firn_ogawa_open(&a->file, path, false, &inner);
    return open_archive(a, st, out, &inner, error);
}

firn_status firn_alembic_open(const char *path, firn_alembic **out, firn_error *error)
{
    FIRN_REQUIRE(out, error);
    *out = NULL;
    FIRN_REQUIRE(path, error);
    return open_path(path, true, out, error);
}

firn_status firn_alembic_open_unnamed(const char *path, firn_alembic **out, firn_error *error)
{
    *out = NULL;
    return open_path(path, false, out, error);
}

firn_status firn_alembic_open_bytes(const firn_bytes *bytes, firn_alembic **out, firn_error *error)
{
    *out = NULL;
    firn_error inner = {0};
    firn_alembic *a = calloc(1, sizeof *a);
    if (!a) return no_memory(error);
    const firn_status st = firn_ogawa_open_bytes(&a->file, bytes, &inner);
    return open_archive(a, st, out, &inner, error);
}

void firn_alembic_close(firn_alembic *a)
{
    if (!a) return;
    firn_ogawa_close(&a->file);
    while (a->text) {
        text_block *next = a->text->next;
        free(a->text);
        a->text = next;
    }
    free(a->object);
    free(a->property);
    free(a->sampling);
    free(a->times);
    free(a->path);
    free(a);
}
