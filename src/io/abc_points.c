/* Points of Alembic as columns: what the schema names itself, and every attribute beside it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "io/abc.h"

static firn_status no_memory(firn_error *error)
{
    return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
}

/* ---- text ---- */

/* The words of a column, each kept once: a table of their numbers, found by hash. */
typedef struct word_table {
    int32_t *number; /* -1: free */
    size_t *offset;  /* of each word */
    size_t room;     /* a power of two, at least twice the words */
} word_table;

static firn_status find_word(word_table *t, firn_column *column, const char *word, int32_t *number,
                             firn_error *error)
{
    uint64_t key[2];
    firn_murmur(word, strlen(word), (uint8_t *)key);
    size_t at = (size_t)key[0] & (t->room - 1);
    for (; t->number[at] >= 0; at = (at + 1) & (t->room - 1)) {
        *number = t->number[at];
        if (strcmp(column->words + t->offset[*number], word) == 0) return FIRN_OK;
    }
    *number = t->number[at] = column->word_count;
    t->offset[*number] = column->words_size;
    return firn_column_add_word(column, word, error);
}

/* Strings one after another into a column: those of `index`, or all in order. */
static firn_status put_words(firn_column *column, int64_t count, const firn_abc_sample *strings,
                             const uint32_t *index, int64_t string_count, firn_error *error)
{
    int32_t *number = column->data;
    word_table t = {.room = 64};
    while (t.room < 2 * (size_t)string_count) t.room *= 2;
    t.number = malloc(t.room * sizeof *t.number);
    t.offset = malloc(((size_t)string_count + 1) * sizeof *t.offset);
    int32_t *of_string = malloc(((size_t)string_count + 1) * sizeof *of_string);
    firn_status st = t.number && t.offset && of_string ? FIRN_OK : no_memory(error);
    if (st == FIRN_OK) memset(t.number, 0xff, t.room * sizeof *t.number);
    const char *p = strings->data;
    for (int64_t i = 0; i < string_count && st == FIRN_OK; i++, p += strlen(p) + 1) {
        st = find_word(&t, column, p, &of_string[i], error);
    }
    for (int64_t i = 0; i < count && st == FIRN_OK; i++) {
        const int64_t from = index ? (int64_t)index[i] : string_count == 1 ? 0 : i;
        number[i] = from < string_count ? of_string[from] : -1;
    }
    free(t.number);
    free(t.offset);
    free(of_string);
    return st;
}

static int64_t count_strings(const firn_abc_sample *s)
{
    int64_t count = 0;
    const char *p = s->data, *end = p + s->count;
    for (; p < end; count++) p += strlen(p) + 1; /* a zero follows the last */
    return count;
}

/* ---- attributes ---- */

/* A sample of an attribute, and how it spreads over points. */
typedef struct source {
    const firn_abc_property *values;
    firn_abc_sample sample, index; /* index.data NULL: not indexed */
    int64_t elements;              /* values, or strings */
    int32_t components;
} source;

static void free_source(source *s)
{
    free(s->sample.data);
    free(s->index.data);
}

static firn_status load_source(const firn_alembic *a, const firn_abc_property *p, double time,
                               source *s, firn_error *error)
{
    *s = (source){.values = p};
    const firn_abc_property *index = NULL;
    if (p->form == FIRN_ABC_COMPOUND) {
        s->values = firn_abc_part(a, p, ".vals");
        index = firn_abc_part(a, p, ".indices");
        if (!index || index->pod != FIRN_ABC_U32 || index->extent != 1 || !index->samples) {
            s->values = NULL;
        }
    }
    const firn_abc_property *v = s->values;
    if (!v || v->form == FIRN_ABC_COMPOUND || !v->samples || v->pod == FIRN_ABC_WSTRING) {
        s->values = NULL;
        return FIRN_OK;
    }
    firn_status st = firn_abc_load(a, v, firn_abc_moment_at(a, v, time).low, &s->sample, error);
    if (st == FIRN_OK && index) {
        st = firn_abc_load(a, index, firn_abc_moment_at(a, index, time).low, &s->index, error);
    }
    if (st != FIRN_OK) return st;
    char text[16];
    const int array = atoi(firn_abc_metadata(v->metadata, "arrayExtent", text, sizeof text));
    const int32_t each = array > 1 && array <= FIRN_MAX_COMPONENTS ? array : 1;
    const bool is_text = v->pod == FIRN_ABC_STRING;
    s->components = is_text ? 1 : (int32_t)v->extent * each;
    s->elements = is_text ? count_strings(&s->sample) : s->sample.count / each;
    return FIRN_OK;
}

/* Whether there is a value for each of so many points, or one for all. */
static bool spreads(const source *s, int64_t count)
{
    const int64_t n = s->index.data ? s->index.count : s->elements;
    return n == count || (n == 1 && s->elements >= 1);
}

static int64_t element_of(const source *s, int64_t point)
{
    if (!s->index.data) return s->elements == 1 ? 0 : point;
    return ((const uint32_t *)s->index.data)[s->index.count == 1 ? 0 : point];
}

/* A quaternion has its real part first in the file and last in columns. */
static void turn_quaternion(uint8_t *value, size_t size)
{
    uint8_t real[8];
    memcpy(real, value, size);
    memmove(value, value + size, 3 * size);
    memcpy(value + 3 * size, real, size);
}

static bool is_quaternion(const firn_abc_property *p)
{
    char text[16];
    firn_abc_metadata(p->metadata, "interpretation", text, sizeof text);
    return p->extent == 4 && strcmp(text, "quat") == 0;
}

static firn_status put_attribute(const firn_alembic *a, const firn_abc_property *p, double time,
                                 firn_points *out, firn_error *error)
{
    source s;
    firn_status st = load_source(a, p, time, &s, error);
    const bool kept = st == FIRN_OK && s.values && strlen(p->name) < FIRN_NAME_SIZE &&
                      s.components >= 1 && s.components <= FIRN_MAX_COMPONENTS &&
                      spreads(&s, out->count) && !firn_points_find(out, p->name) &&
                      out->column_count < FIRN_MAX_COLUMNS;
    if (!kept) {
        free_source(&s);
        return st;
    }
    const bool is_text = s.values->pod == FIRN_ABC_STRING;
    const firn_type type = is_text ? FIRN_TYPE_i32 : firn_abc_pod_types[s.values->pod];
    firn_column *column = firn_points_add(out, p->name, type, s.components, error);
    const size_t number = firn_type_size(type), size = (size_t)s.components * number;
    if (!column) {
        st = FIRN_NO_MEMORY;
    } else if (is_text && s.elements >= INT32_MAX) {
        st = firn_fail(error, FIRN_INVALID, "attribute %s has %lld texts", p->name,
                       (long long)s.elements);
    } else if (is_text) {
        const bool one = s.index.data && s.index.count == 1; /* for all */
        uint32_t *index = s.index.data;
        if (one && out->count != 1) {
            index = malloc(((size_t)out->count + 1) * sizeof *index);
            for (int64_t i = 0; index && i < out->count; i++) index[i] = *(uint32_t *)s.index.data;
        }
        st = one && !index ? no_memory(error)
                           : put_words(column, out->count, &s.sample, index, s.elements, error);
        if (index != s.index.data) free(index);
    } else {
        for (int64_t i = 0; i < out->count && st == FIRN_OK; i++) {
            const int64_t from = element_of(&s, i);
            if (from >= s.elements) {
                st = firn_fail(error, FIRN_INVALID,
                               "is damaged: attribute %s refers to value %lld of %lld", p->name,
                               (long long)from, (long long)s.elements);
                break;
            }
            uint8_t *to = (uint8_t *)column->data + (size_t)i * size;
            memcpy(to, (uint8_t *)s.sample.data + (size_t)from * size, size);
            if (s.components == 4 && is_quaternion(s.values)) turn_quaternion(to, number);
        }
    }
    free_source(&s);
    return st;
}

/* ---- the schema's own ---- */

/* P or v, in the world; as doubles only if the file has them. */
static firn_status put_triples(const firn_alembic *a, const firn_abc_property *p, int64_t sample,
                               const double matrix[16], const char *name, firn_points *out,
                               firn_error *error)
{
    const bool is_point = strcmp(name, "P") == 0;
    double *value;
    int64_t count;
    firn_status st = firn_abc_load_numbers(a, p, sample, 3, &value, &count, error);
    if (st != FIRN_OK) return st;
    if (is_point) out->count = count;
    const firn_type type = p->pod == FIRN_ABC_F64 ? FIRN_TYPE_f64 : FIRN_TYPE_f32;
    if (count == out->count) {
        const firn_column *column = firn_points_add(out, name, type, 3, error);
        if (!column) st = FIRN_NO_MEMORY;
        for (int64_t i = 0; st == FIRN_OK && i < count; i++) {
            double x[3];
            firn_abc_transform(matrix, value + 3 * i, is_point, x);
            for (int k = 0; k < 3; k++) firn_type_set(type, column->data, 3 * i + k, x[k]);
        }
    }
    free(value);
    return st;
}

static firn_status put_ids(const firn_alembic *a, const firn_abc_property *p, double time,
                           firn_points *out, firn_error *error)
{
    char text[8];
    if (!p || p->pod != FIRN_ABC_U64 || p->extent != 1 || !p->samples) return FIRN_OK;
    if (firn_abc_metadata(p->metadata, FIRN_ABC_ORDERED, text, sizeof text)[0]) return FIRN_OK;
    firn_abc_sample s;
    firn_status st = firn_abc_load(a, p, firn_abc_moment_at(a, p, time).low, &s, error);
    if (st != FIRN_OK) return st;
    if (s.count == out->count) {
        const firn_column *id = firn_points_add(out, "id", FIRN_TYPE_i64, 1, error);
        if (!id) st = FIRN_NO_MEMORY;
        if (id && s.count) memcpy(id->data, s.data, (size_t)s.count * sizeof(int64_t));
    }
    free(s.data);
    return st;
}

/* Widths are diameters, pscale is a radius. */
static firn_status put_widths(const firn_alembic *a, const firn_abc_property *p, double time,
                              firn_points *out, firn_error *error)
{
    if (!p) return FIRN_OK;
    source s;
    firn_status st = load_source(a, p, time, &s, error);
    if (st == FIRN_OK && s.values && s.values->pod == FIRN_ABC_F32 && s.components == 1 &&
        spreads(&s, out->count)) {
        const firn_column *pscale = firn_points_add(out, "pscale", FIRN_TYPE_f32, 1, error);
        if (!pscale) st = FIRN_NO_MEMORY;
        for (int64_t i = 0; st == FIRN_OK && i < out->count; i++) {
            const int64_t from = element_of(&s, i);
            const float width = from < s.elements ? ((const float *)s.sample.data)[from] : 0;
            ((float *)pscale->data)[i] = 0.5f * width;
        }
    }
    free_source(&s);
    return st;
}

static firn_status load_points(const firn_alembic *a, int32_t object, double time, int64_t sample,
                               firn_points *out, firn_error *error)
{
    const firn_abc_property *schema = firn_abc_schema(a, &a->object[object]);
    const firn_abc_property *P = firn_abc_part(a, schema, "P"),
                            *v = firn_abc_part(a, schema, ".velocities"),
                            *attributes = firn_abc_part(a, schema, ".arbGeomParams");
    double matrix[16];
    firn_status st = firn_abc_matrix(a, object, time, matrix, error);
    if (st == FIRN_OK) st = put_triples(a, P, sample, matrix, "P", out, error);
    if (st == FIRN_OK && v && v->samples > 0) {
        st = put_triples(a, v, firn_abc_moment_at(a, v, time).low, matrix, "v", out, error);
    }
    if (st == FIRN_OK) st = put_ids(a, firn_abc_part(a, schema, ".pointIds"), time, out, error);
    if (st == FIRN_OK) st = put_widths(a, firn_abc_part(a, schema, ".widths"), time, out, error);
    for (int32_t i = 0; attributes && i < attributes->child_count && st == FIRN_OK; i++) {
        st = put_attribute(a, &a->property[attributes->child + i], time, out, error);
    }
    return st;
}

/* At a time, or, if sample is not below 0, at that of the sample. */
static firn_status read_points(const firn_alembic *a, int32_t object, double time, int64_t sample,
                               firn_points *out, firn_error *error)
{
    FIRN_REQUIRE(a, error);
    FIRN_REQUIRE(out, error);
    *out = (firn_points){0};
    if (object < 0 || object >= a->object_count) {
        return firn_fail(error, FIRN_INVALID, "object %d must be 0 to %d", object,
                         a->object_count - 1);
    }
    const firn_abc_object *o = &a->object[object];
    const firn_abc_property *P = firn_abc_part(a, firn_abc_schema(a, o), "P");
    firn_error inner = {0};
    firn_status st = FIRN_OK;
    if (o->kind != FIRN_ALEMBIC_POINTS) {
        st = firn_fail(&inner, FIRN_INVALID, "%.300s is no points but of kind %s", o->path,
                       firn_alembic_kind_name(o->kind));
    } else if (!P || sample >= P->samples || P->samples == 0) {
        st = firn_fail(&inner, FIRN_INVALID, "%.300s has %u samples, and %lld is asked for",
                       o->path, P ? P->samples : 0, (long long)sample);
    } else if (!isfinite(time)) {
        st = firn_fail(&inner, FIRN_INVALID, "time %g s must be finite", time);
    }
    if (st == FIRN_OK) {
        if (sample < 0) {
            sample = firn_abc_moment_at(a, P, time).low;
        } else {
            time = firn_abc_time(a, P, sample);
        }
        st = load_points(a, object, time, sample, out, &inner);
    }
    if (st == FIRN_OK) return FIRN_OK;
    firn_points_free(out);
    return firn_abc_fail(a, &inner, error);
}

firn_status firn_alembic_read_points(const firn_alembic *a, int32_t object, double time,
                                     firn_points *out, firn_error *error)
{
    return read_points(a, object, time, -1, out, error);
}

firn_status firn_alembic_read_points_sample(const firn_alembic *a, int32_t object, int64_t sample,
                                            firn_points *out, firn_error *error)
{
    if (sample < 0)
        return firn_fail(error, FIRN_INVALID, "sample %lld must not be below 0", (long long)sample);
    return read_points(a, object, 0, sample, out, error);
}
