/* Houdini's geometry since version 12, text and binary: one tree of JSON.
 *
 * The file is an array of keys and values. "attributes" holds "pointattributes", an array of
 * pairs: a definition (scope, type, name, options) and a body with "values". Values come as
 * "tuples" (one array per point), "arrays" (one per component) or "rawpagedata": points in pages
 * of 1024, in each page one run per pack of components ("packing"), a run being one element when
 * all of its page are equal ("constantpageflags"). Everything else in the file is passed over,
 * primitives included.
 *
 * A string attribute is a column of text: its indices, -1 for none, and the strings. It is written
 * as numbers. Attributes that no column can hold (arrays, dictionaries, more than 16 components,
 * long names) are passed over. Of a homogeneous P the fourth component is dropped: it is a weight
 * for curves, 1 on points. */
#include "io/geo.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum { PAGE = 1024 }; /* points in a page; Houdini has never used another */

static const struct {
    const char *name;
    firn_type type;
} storages[] = {
    {"fpreal16", FIRN_TYPE_f16}, {"fpreal32", FIRN_TYPE_f32}, {"fpreal64", FIRN_TYPE_f64},
    {"int8", FIRN_TYPE_i8},      {"uint8", FIRN_TYPE_u8},     {"int16", FIRN_TYPE_i16},
    {"int32", FIRN_TYPE_i32},    {"int64", FIRN_TYPE_i64},
};
enum { STORAGES = sizeof storages / sizeof storages[0] };

/* ---- reading ---- */

static bool is(const firn_json *in, const char *text) { return strcmp(in->text, text) == 0; }

static int64_t read_integer(firn_json *in, const char *what, int64_t low, int64_t high)
{
    firn_json_expect(in, FIRN_JSON_INTEGER, what);
    if (in->status != FIRN_OK) return low;
    if (in->integer < low || in->integer > high) {
        firn_json_fail(in, "%s is %lld; %lld to %lld was expected", what, (long long)in->integer,
                       (long long)low, (long long)high);
        return low;
    }
    return in->integer;
}

/* What is known of a "values" array when its numbers come. */
typedef struct values {
    const char *name; /* of the attribute */
    int64_t size;     /* components; 0: not said yet */
    firn_type type;   /* FIRN_TYPE_COUNT: not said yet */
    int64_t page, pages;
    int32_t packs;
    int32_t pack[FIRN_MAX_COMPONENTS]; /* components of each, `size` together */
    uint8_t *constant;                 /* by pack and page, or NULL */
    bool found;
} values;

static void read_storage(firn_json *in, values *v)
{
    firn_json_expect(in, FIRN_JSON_STRING, "storage");
    if (in->status != FIRN_OK) return;
    for (int i = 0; i < STORAGES; i++) {
        if (is(in, storages[i].name)) {
            v->type = storages[i].type;
            return;
        }
    }
    firn_json_fail(in, "storage \"%s\" is not known", in->text);
}

static void read_packing(firn_json *in, values *v)
{
    int64_t sum = 0;
    v->packs = 0;
    firn_json_expect(in, FIRN_JSON_ARRAY, "packing");
    while (firn_json_next(in) == FIRN_JSON_INTEGER) {
        if (in->integer < 1 || in->integer > v->size - sum) {
            firn_json_fail(in, "packing does not add up to %lld components", (long long)v->size);
            return;
        }
        v->pack[v->packs++] = (int32_t)in->integer;
        sum += in->integer;
    }
    if (in->kind != FIRN_JSON_CLOSE || sum != v->size) {
        firn_json_fail(in, "packing does not add up to %lld components", (long long)v->size);
    }
}

static void read_flags(firn_json *in, values *v, int64_t points)
{
    v->pages = (points + v->page - 1) / v->page;
    firn_json_expect(in, FIRN_JSON_ARRAY, "constantpageflags");
    firn_json_promise(in, v->pages / 8); /* flags are bits at least */
    if (in->status != FIRN_OK) return;
    free(v->constant);
    v->constant = calloc((size_t)v->pages + 1, FIRN_MAX_COMPONENTS);
    if (!v->constant) {
        in->status = firn_fail(in->error, FIRN_NO_MEMORY, "out of memory for page flags");
        return;
    }
    for (int32_t k = 0; k < v->packs; k++) {
        int64_t page = 0;
        firn_json_expect(in, FIRN_JSON_ARRAY, "constantpageflags");
        while (firn_json_next(in) == FIRN_JSON_BOOL || in->kind == FIRN_JSON_INTEGER) {
            if (page == v->pages) break;
            v->constant[k * v->pages + page++] = in->integer != 0;
        }
        if (in->kind != FIRN_JSON_CLOSE || (page != 0 && page != v->pages)) {
            firn_json_fail(in, "constantpageflags has not one flag for each of %lld pages",
                           (long long)v->pages);
            return;
        }
    }
    firn_json_expect(in, FIRN_JSON_CLOSE, "constantpageflags");
}

/* Components that are kept of those in the file. */
static int32_t kept(const values *v)
{
    return strcmp(v->name, "P") == 0 && v->size == 4 ? 3 : (int32_t)v->size;
}

static firn_column *add_column(firn_json *in, values *v, firn_points *out)
{
    if (in->status != FIRN_OK) return NULL;
    firn_column *column = firn_points_add(out, v->name, v->type, kept(v), in->error);
    if (!column) in->status = in->error->status;
    v->found = true;
    return column;
}

static void read_tuples(firn_json *in, values *v, firn_points *out)
{
    firn_json_expect(in, FIRN_JSON_ARRAY, "tuples");
    firn_json_promise(in, out->count * v->size);
    firn_column *column = add_column(in, v, out);
    if (!column) return;
    uint64_t tuple[FIRN_MAX_COMPONENTS]; /* room for any type */
    const size_t bytes = (size_t)kept(v) * firn_type_size(v->type);
    for (int64_t i = 0; i < out->count && in->status == FIRN_OK; i++) {
        firn_json_expect(in, FIRN_JSON_ARRAY, "a tuple");
        firn_json_numbers(in, v->type, tuple, v->size);
        firn_json_expect(in, FIRN_JSON_CLOSE, "what follows a tuple's last value");
        memcpy((char *)column->data + (size_t)i * bytes, tuple, bytes);
    }
    firn_json_expect(in, FIRN_JSON_CLOSE, "what follows the last tuple");
}

static void read_arrays(firn_json *in, values *v, firn_points *out)
{
    firn_json_expect(in, FIRN_JSON_ARRAY, "arrays");
    firn_json_promise(in, out->count); /* the first of them; the others are asked below */
    firn_column *column = add_column(in, v, out);
    if (!column) return;
    uint64_t value;
    const size_t bytes = firn_type_size(v->type);
    for (int32_t c = 0; c < v->size && in->status == FIRN_OK; c++) {
        firn_json_expect(in, FIRN_JSON_ARRAY, "an array of values");
        firn_json_promise(in, out->count);
        if (v->size == 1) {
            firn_json_numbers(in, v->type, column->data, out->count);
        }
        for (int64_t i = 0; v->size > 1 && i < out->count && in->status == FIRN_OK; i++) {
            firn_json_numbers(in, v->type, &value, 1);
            if (c >= column->components) continue;
            memcpy((char *)column->data + (size_t)(i * column->components + c) * bytes, &value,
                   bytes);
        }
        firn_json_expect(in, FIRN_JSON_CLOSE, "what follows an array's last value");
    }
    firn_json_expect(in, FIRN_JSON_CLOSE, "what follows the last array");
}

static bool is_constant(const values *v, int32_t pack, int64_t page)
{
    return v->constant && v->constant[pack * v->pages + page];
}

static void read_pages(firn_json *in, values *v, firn_points *out)
{
    int64_t expected = 0;
    v->pages = (out->count + v->page - 1) / v->page;
    for (int32_t k = 0; k < v->packs; k++) {
        for (int64_t g = 0; g < v->pages; g++) {
            const int64_t left = out->count - g * v->page;
            const int64_t elements = is_constant(v, k, g) ? 1 : left < v->page ? left : v->page;
            expected += elements * v->pack[k];
        }
    }
    firn_json_expect(in, FIRN_JSON_ARRAY, "rawpagedata");
    firn_json_promise(in, expected);
    firn_column *column = add_column(in, v, out);
    if (!column) return;
    const size_t bytes = firn_type_size(v->type), stride = (size_t)column->components * bytes;
    if (v->packs == 1 && !v->constant && column->components == v->size) {
        firn_json_numbers(in, v->type, column->data, expected); /* point after point */
    } else {
        uint64_t *run = malloc((size_t)(v->page * v->size) * sizeof *run);
        if (!run) {
            in->status = firn_fail(in->error, FIRN_NO_MEMORY, "out of memory for a page");
            return;
        }
        for (int64_t g = 0; g < v->pages && in->status == FIRN_OK; g++) {
            const int64_t first = g * v->page, left = out->count - first;
            const int64_t elements = left < v->page ? left : v->page;
            int32_t component = 0;
            for (int32_t k = 0; k < v->packs; k++) {
                const bool constant = is_constant(v, k, g);
                const size_t width = (size_t)v->pack[k] * bytes;
                firn_json_numbers(in, v->type, run, (constant ? 1 : elements) * v->pack[k]);
                const int32_t room = column->components - component;
                const size_t part = room < v->pack[k] ? (size_t)room * bytes : width;
                char *to =
                    (char *)column->data + (size_t)first * stride + (size_t)component * bytes;
                for (int64_t i = 0; i < elements && in->status == FIRN_OK && room > 0; i++) {
                    memcpy(to + (size_t)i * stride,
                           (char *)run + (constant ? 0 : (size_t)i * width), part);
                }
                component += v->pack[k];
            }
        }
        free(run);
    }
    firn_json_expect(in, FIRN_JSON_CLOSE, "what follows the last value of rawpagedata");
}

static void read_values(firn_json *in, const char *name, firn_points *out)
{
    values v = {.name = name, .type = FIRN_TYPE_COUNT, .page = PAGE};
    bool dropped = false;
    firn_json_expect(in, FIRN_JSON_ARRAY, "an attribute's values");
    while (firn_json_key(in)) {
        const bool numbers = is(in, "tuples") || is(in, "arrays") || is(in, "rawpagedata");
        const bool layout = is(in, "packing") || is(in, "constantpageflags");
        if ((numbers || layout) && (v.size == 0 || v.type == FIRN_TYPE_COUNT)) {
            firn_json_fail(in, "%s of %s comes before its size and storage", in->text, name);
        } else if (v.size > FIRN_MAX_COMPONENTS && (numbers || layout)) {
            dropped = true;
            firn_json_skip(in);
        } else if (is(in, "size") && v.size == 0) {
            v.size = read_integer(in, "an attribute's size", 1, INT32_MAX);
            v.packs = 1;
            if (v.size <= FIRN_MAX_COMPONENTS) v.pack[0] = (int32_t)v.size;
        } else if (is(in, "storage")) {
            read_storage(in, &v);
        } else if (is(in, "pagesize") && !v.constant) {
            v.page = read_integer(in, "pagesize", 1, PAGE);
        } else if (is(in, "packing") && !v.constant) {
            read_packing(in, &v);
        } else if (is(in, "constantpageflags")) {
            read_flags(in, &v, out->count);
        } else if (is(in, "tuples")) {
            read_tuples(in, &v, out);
        } else if (is(in, "arrays")) {
            read_arrays(in, &v, out);
        } else if (is(in, "rawpagedata")) {
            read_pages(in, &v, out);
        } else if (is(in, "pagesize") || is(in, "packing")) {
            firn_json_fail(in, "%s of %s comes after its constantpageflags", in->text, name);
        } else {
            firn_json_skip(in);
        }
    }
    if (in->status == FIRN_OK && !v.found && !dropped) {
        firn_json_fail(in, "attribute %s has no values in a form that is known", name);
    }
    free(v.constant);
}

static void read_strings(firn_json *in, firn_column *text)
{
    firn_json_expect(in, FIRN_JSON_ARRAY, "strings");
    while (firn_json_next(in) == FIRN_JSON_STRING) {
        const firn_status st = firn_column_add_word(text, in->text, in->error);
        if (st != FIRN_OK) in->status = st;
    }
    if (in->kind != FIRN_JSON_CLOSE) firn_json_fail(in, "a string was expected");
}

/* The rest of an attribute whose array has been opened. */
static void read_attribute(firn_json *in, firn_points *out)
{
    char name[FIRN_NAME_SIZE] = "";
    firn_column text = {0}; /* only its words, which may come before or after the indices */
    bool numeric = false, string = false, shown = true;
    firn_json_expect(in, FIRN_JSON_ARRAY, "an attribute's definition");
    while (firn_json_key(in)) {
        if (is(in, "scope")) {
            firn_json_expect(in, FIRN_JSON_STRING, "scope");
            shown = is(in, "public");
        } else if (is(in, "type")) {
            firn_json_expect(in, FIRN_JSON_STRING, "type");
            numeric = is(in, "numeric");
            string = is(in, "string");
        } else if (is(in, "name")) {
            firn_json_expect(in, FIRN_JSON_STRING, "name");
            const size_t length = strlen(in->text);
            if (length < sizeof name) memcpy(name, in->text, length + 1);
        } else {
            firn_json_skip(in);
        }
    }
    const char *wanted = numeric ? "values" : "indices";
    if (shown && (numeric || string) && name[0]) {
        firn_json_expect(in, FIRN_JSON_ARRAY, "an attribute's body");
        while (firn_json_key(in)) {
            if (is(in, wanted)) {
                read_values(in, name, out);
            } else if (string && is(in, "strings") && !text.words) {
                read_strings(in, &text);
            } else {
                firn_json_skip(in);
            }
        }
    }
    firn_column *column = in->status == FIRN_OK ? firn_points_find(out, name) : NULL;
    if (column && string && text.words) {
        column->words = text.words;
        column->words_size = text.words_size;
        column->word_count = text.word_count;
    } else {
        free(text.words);
    }
    firn_json_leave(in);
}

static void read_attributes(firn_json *in, firn_points *out)
{
    firn_json_expect(in, FIRN_JSON_ARRAY, "attributes");
    while (firn_json_key(in)) {
        if (!is(in, "pointattributes")) {
            firn_json_skip(in);
            continue;
        }
        firn_json_expect(in, FIRN_JSON_ARRAY, "pointattributes");
        while (firn_json_next(in) == FIRN_JSON_ARRAY) read_attribute(in, out);
        if (in->kind != FIRN_JSON_CLOSE) firn_json_fail(in, "an attribute was expected");
    }
}

firn_status firn_geo_modern_read(const firn_bytes *in, firn_points *out, firn_error *error)
{
    firn_json json;
    firn_error own = {0}; /* so that the status of a failure is always known */
    firn_json_open(&json, in, &own);
    bool counted = false;
    firn_json_expect(&json, FIRN_JSON_ARRAY, "the file");
    while (firn_json_key(&json)) {
        if (is(&json, "pointcount")) {
            if (counted) firn_json_fail(&json, "pointcount comes twice");
            /* A page that is constant may take one byte. */
            const uint64_t size = in->size;
            const int64_t most = size < INT64_MAX / PAGE ? (int64_t)size * PAGE : INT64_MAX;
            const int64_t count = read_integer(&json, "pointcount", 0, most);
            if (json.status == FIRN_OK) out->count = count;
            counted = true;
        } else if (is(&json, "attributes")) {
            if (!counted) firn_json_fail(&json, "attributes come before pointcount");
            read_attributes(&json, out);
        } else {
            firn_json_skip(&json);
        }
    }
    if (json.status == FIRN_OK && !counted) firn_json_fail(&json, "the file has no pointcount");
    if (json.status == FIRN_OK && out->count > 0 && !firn_geo_position(out, &own)) {
        json.status = own.status;
    }
    firn_json_close(&json);
    if (json.status != FIRN_OK) return firn_fail(error, json.status, "%s", own.message);
    return FIRN_OK;
}

/* ---- writing ---- */

/* How Houdini transforms an attribute that it knows by name. */
static const char *option_type(const firn_column *column)
{
    static const struct {
        const char *name, *type;
        int32_t components;
        bool real;
    } known[] = {
        {"P", "point", 3, true},
        {"v", "vector", 3, true},
        {"N", "normal", 3, true},
        {"Cd", "color", 3, true},
        {"orient", "quaternion", 4, true},
        {"id", "nonarithmetic_integer", 1, false},
        {"material", "nonarithmetic_integer", 1, false},
        {"object", "nonarithmetic_integer", 1, false},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(known[i].name, column->name) == 0 && known[i].components == column->components &&
            known[i].real == firn_geo_is_float(column->type)) {
            return known[i].type;
        }
    }
    return NULL;
}

static double largest(const firn_column *column, int64_t points)
{
    double most = 0;
    for (int64_t i = 0; i < points * column->components; i++) {
        const double size = fabs(firn_type_get(column->type, column->data, i));
        if (size > most && size <= DBL_MAX) most = size;
    }
    return most;
}

/* The type a column has in the file. Integers are 32 bits wide when they fit, as Houdini's own
 * are. Floats become halves when asked, except P and what would turn infinite: half ends at
 * 65504. */
static firn_type stored_type(const firn_column *column, int64_t points, bool half)
{
    const bool position = strcmp(column->name, "P") == 0;
    if (!firn_geo_is_float(column->type)) {
        return firn_geo_within(column, points, INT32_MIN, INT32_MAX) ? FIRN_TYPE_i32
                                                                     : FIRN_TYPE_i64;
    }
    if (position && column->type == FIRN_TYPE_f16) return FIRN_TYPE_f32;
    if (half && !position && largest(column, points) <= 65504) return FIRN_TYPE_f16;
    return column->type;
}

static const char *storage_name(firn_type type)
{
    int i = 0;
    while (storages[i].type != type) i++;
    return storages[i].name;
}

static int64_t integer_at(const firn_column *column, int64_t index)
{
    if (column->type == FIRN_TYPE_i64 || column->type == FIRN_TYPE_u64) {
        return ((const int64_t *)column->data)[index]; /* below 2^63: write_column has checked */
    }
    return (int64_t)firn_type_get(column->type, column->data, index);
}

static void put_number(firn_json_writer *to, const firn_column *column, firn_type type,
                       int64_t index)
{
    if (firn_geo_is_float(type)) {
        firn_json_put_real(to, type, firn_type_get(column->type, column->data, index));
    } else {
        firn_json_put_integer(to, integer_at(column, index));
    }
}

/* Text: one line per point, or one array of numbers. */
static void put_text_values(firn_json_writer *to, const firn_column *column, firn_type type,
                            int64_t points)
{
    const bool tuples = column->components > 1;
    firn_json_put_string(to, tuples ? "tuples" : "arrays");
    firn_json_put_open(to, '[');
    if (!tuples) firn_json_put_open(to, '[');
    for (int64_t i = 0; i < points; i++) {
        firn_json_put_line(to);
        if (tuples) firn_json_put_open(to, '[');
        for (int32_t c = 0; c < column->components; c++) {
            put_number(to, column, type, i * column->components + c);
        }
        if (tuples) firn_json_put_close(to, ']');
    }
    if (!tuples) firn_json_put_close(to, ']');
    firn_json_put_close(to, ']');
}

/* Binary: point after point, which is the paged layout of one pack without constant pages. */
static void put_binary_values(firn_json_writer *to, const firn_column *column, firn_type type,
                              int64_t points)
{
    enum { CHUNK = 4096 };
    const int64_t count = points * column->components;
    const size_t bytes = firn_type_size(type);
    firn_json_put_string(to, "pagesize");
    firn_json_put_integer(to, PAGE);
    firn_json_put_string(to, "rawpagedata");
    firn_json_put_uniform(to, type, count);
    if (type == column->type) {
        to->sink->put(to->sink->context, column->data, (size_t)count * bytes);
        return;
    }
    int64_t chunk[CHUNK]; /* room for any type */
    for (int64_t first = 0; first < count; first += CHUNK) {
        const int64_t n = count - first < CHUNK ? count - first : CHUNK;
        for (int64_t i = 0; i < n; i++) {
            if (type == FIRN_TYPE_i64) {
                chunk[i] = integer_at(column, first + i);
            } else {
                firn_type_set(type, chunk, i, firn_type_get(column->type, column->data, first + i));
            }
        }
        to->sink->put(to->sink->context, chunk, (size_t)n * bytes);
    }
}

static void put_defaults(firn_json_writer *to)
{
    firn_json_put_string(to, "defaults");
    firn_json_put_open(to, '[');
    firn_json_put_string(to, "size");
    firn_json_put_integer(to, 1);
    firn_json_put_string(to, "storage");
    firn_json_put_string(to, "fpreal64");
    firn_json_put_string(to, "values");
    firn_json_put_open(to, '[');
    firn_json_put_real(to, FIRN_TYPE_f64, 0);
    firn_json_put_close(to, ']');
    firn_json_put_close(to, ']');
}

static void put_definition(firn_json_writer *to, const firn_column *column)
{
    const char *type = option_type(column);
    firn_json_put_open(to, '[');
    firn_json_put_string(to, "scope");
    firn_json_put_string(to, "public");
    firn_json_put_string(to, "type");
    firn_json_put_string(to, "numeric");
    firn_json_put_string(to, "name");
    firn_json_put_string(to, column->name);
    firn_json_put_string(to, "options");
    firn_json_put_open(to, '{');
    if (type) {
        firn_json_put_key(to, "type");
        firn_json_put_open(to, '{');
        firn_json_put_key(to, "type");
        firn_json_put_string(to, "string");
        firn_json_put_key(to, "value");
        firn_json_put_string(to, type);
        firn_json_put_close(to, '}');
    }
    firn_json_put_close(to, '}');
    firn_json_put_close(to, ']');
}

static void put_size_and_storage(firn_json_writer *to, const firn_column *column, firn_type type)
{
    firn_json_put_string(to, "size");
    firn_json_put_integer(to, column->components);
    firn_json_put_string(to, "storage");
    firn_json_put_string(to, storage_name(type));
}

static void put_attribute(firn_json_writer *to, const firn_column *column, int64_t points,
                          bool half)
{
    const firn_type type = stored_type(column, points, half);
    firn_json_put_line(to);
    firn_json_put_open(to, '[');
    put_definition(to, column);
    firn_json_put_open(to, '[');
    put_size_and_storage(to, column, type);
    put_defaults(to);
    firn_json_put_string(to, "values");
    firn_json_put_open(to, '[');
    put_size_and_storage(to, column, type);
    if (to->binary) {
        put_binary_values(to, column, type, points);
    } else {
        put_text_values(to, column, type, points);
    }
    firn_json_put_close(to, ']');
    firn_json_put_close(to, ']');
    firn_json_put_close(to, ']');
}

static void put_info(firn_json_writer *to, const firn_column *position, int64_t points)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int64_t i = 0; i < 3 * points; i++) {
        const double x = firn_type_get(position->type, position->data, i);
        low[i % 3] = fmin(low[i % 3], x);
        high[i % 3] = fmax(high[i % 3], x);
    }
    bool bounded = true;
    for (int a = 0; a < 3; a++) bounded = bounded && isfinite(low[a]) && isfinite(high[a]);
    firn_json_put_string(to, "info");
    firn_json_put_open(to, '{');
    firn_json_put_key(to, "software");
    firn_json_put_string(to, "Firn");
    if (bounded) {
        firn_json_put_key(to, "bounds");
        firn_json_put_open(to, '[');
        for (int a = 0; a < 3; a++) {
            firn_json_put_real(to, FIRN_TYPE_f64, low[a]);
            firn_json_put_real(to, FIRN_TYPE_f64, high[a]);
        }
        firn_json_put_close(to, ']');
    }
    firn_json_put_close(to, '}');
}

firn_status firn_geo_modern_write(const firn_points *points, const firn_write_options *options,
                                  bool binary, const firn_sink *sink, firn_error *error)
{
    const firn_column *position = firn_geo_position(points, error);
    if (!position) return FIRN_INVALID;
    for (int32_t c = 0; c < points->column_count; c++) {
        const firn_column *column = &points->column[c];
        if (column->type == FIRN_TYPE_u64 &&
            !firn_geo_within(column, points->count, 0, INT64_MAX)) {
            return firn_fail(
                error, FIRN_INVALID,
                "attribute %s has numbers of 2^63 or more; geo files hold smaller ones",
                column->name);
        }
    }
    firn_json_writer to;
    firn_json_begin(&to, sink, binary);
    firn_json_put_open(&to, '[');
    firn_json_put_string(&to, "fileversion");
    firn_json_put_string(&to, "18.5.408");
    firn_json_put_string(&to, "hasindex");
    firn_json_put_bool(&to, false);
    firn_json_put_string(&to, "pointcount");
    firn_json_put_integer(&to, points->count);
    firn_json_put_string(&to, "vertexcount");
    firn_json_put_integer(&to, 0);
    firn_json_put_string(&to, "primitivecount");
    firn_json_put_integer(&to, 0);
    put_info(&to, position, points->count);
    firn_json_put_string(&to, "topology");
    firn_json_put_open(&to, '[');
    firn_json_put_string(&to, "pointref");
    firn_json_put_open(&to, '[');
    firn_json_put_string(&to, "indices");
    firn_json_put_open(&to, '[');
    firn_json_put_close(&to, ']');
    firn_json_put_close(&to, ']');
    firn_json_put_close(&to, ']');
    firn_json_put_string(&to, "attributes");
    firn_json_put_open(&to, '[');
    firn_json_put_string(&to, "pointattributes");
    firn_json_put_open(&to, '[');
    put_attribute(&to, position, points->count, false);
    for (int32_t c = 0; c < points->column_count; c++) {
        if (&points->column[c] == position) continue;
        put_attribute(&to, &points->column[c], points->count, options->half);
    }
    firn_json_put_close(&to, ']');
    firn_json_put_close(&to, ']');
    firn_json_put_string(&to, "primitives");
    firn_json_put_open(&to, '[');
    firn_json_put_close(&to, ']');
    firn_json_put_close(&to, ']');
    if (!binary) sink->put(sink->context, "\n", 1);
    return FIRN_OK;
}
