/* Houdini's geometry before version 12 (V5), text and binary: what Partio reads.
 *
 * A header with counts, the attributes by name, size and type, then point after point: x y z w
 * and the values of all attributes. Every value has 32 bits; bytes come big end first. What
 * follows the points (primitives, attributes of the whole) is not read. An attribute of strings
 * is a column of text, and is written as numbers; one that no column can hold is passed over.
 *
 * Partio looks for the word PointAttrib, which is there only with at least one attribute: points
 * that have nothing but P are written with an id. */
#include "io/geo.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum {
    TYPE_FLOAT = 0,
    TYPE_INT = 1,
    TYPE_INDEX = 4,
    TYPE_VECTOR = 5
}; /* as the binary form has them */

static const struct {
    const char *name;
    int32_t type;
} type_names[] = {
    {"float", TYPE_FLOAT},
    {"int", TYPE_INT},
    {"vector", TYPE_VECTOR},
    {"index", TYPE_INDEX},
};

/* ---- reading ---- */

typedef struct attribute {
    char name[FIRN_NAME_SIZE]; /* empty: longer than can be kept */
    int32_t type;
    int32_t size;       /* values per point in the file */
    int32_t components; /* of them kept; 0: passed over */
    void *data;
    firn_column text; /* only its words, until the column is made */
} attribute;

typedef struct reader {
    const uint8_t *data;
    size_t size, at;
    int64_t points, values; /* values of a point */
    bool bare;              /* points are all there is: the end must follow them */
    int32_t count;
    attribute attribute[FIRN_MAX_COLUMNS + 1]; /* P is the first */
    firn_status status;
    firn_error *error;
} reader;

/* Sticks: after the first, reading does nothing. */
#define refuse(in, ...)                                                                            \
    do {                                                                                           \
        if ((in)->status == FIRN_OK) {                                                             \
            (in)->status = firn_fail((in)->error, FIRN_INVALID, __VA_ARGS__);                      \
        }                                                                                          \
    } while (0)

static void add_attribute(reader *in, const char *name, int64_t size, int32_t type)
{
    const bool known =
        type == TYPE_FLOAT || type == TYPE_INT || type == TYPE_VECTOR || type == TYPE_INDEX;
    if (in->status != FIRN_OK) return;
    if (in->count > FIRN_MAX_COLUMNS) {
        refuse(in, "at byte %zu: more than %d attributes", in->at, FIRN_MAX_COLUMNS);
        return;
    }
    if (!known || size < 1 || size > UINT16_MAX) {
        refuse(in, "at byte %zu: attribute \"%.63s\" has a size or a type that is not known",
               in->at, name);
        return;
    }
    attribute *to = &in->attribute[in->count++];
    *to = (attribute){.type = type, .size = (int32_t)size, .components = (int32_t)size};
    if (strlen(name) < sizeof to->name) memcpy(to->name, name, strlen(name) + 1);
    if (size > FIRN_MAX_COMPONENTS || to->name[0] == 0) to->components = 0;
    in->values += size;
}

/* P, which files do not list: x, y, z and a weight that is dropped. */
static void add_position(reader *in)
{
    add_attribute(in, "P", 4, TYPE_VECTOR);
    in->attribute[0].components = 3;
}

/* Columns for the points, once the rest of the file is known to hold them. */
static void add_columns(reader *in, size_t bytes_per_value, firn_points *out)
{
    if (in->status != FIRN_OK) return;
    const size_t most = (in->size - in->at) / ((size_t)in->values * bytes_per_value);
    if (in->points < 0 || (uint64_t)in->points > most) {
        refuse(in,
               "at byte %zu: %lld points are promised, and the %zu bytes that are left hold at "
               "most %zu",
               in->at, (long long)in->points, in->size - in->at, most);
        return;
    }
    out->count = in->points;
    for (int32_t a = 0; a < in->count; a++) {
        attribute *to = &in->attribute[a];
        if (to->components == 0) continue;
        const bool real = to->type == TYPE_FLOAT || to->type == TYPE_VECTOR;
        firn_error why = {0};
        firn_column *column = firn_points_add(out, to->name, real ? FIRN_TYPE_f32 : FIRN_TYPE_i32,
                                              to->components, &why);
        if (!column) {
            in->status = firn_fail(in->error, why.status, "%s", why.message);
            return;
        }
        to->data = column->data;
        column->words = to->text.words;
        column->words_size = to->text.words_size;
        column->word_count = to->text.word_count;
        to->text = (firn_column){0};
    }
}

/* One of the strings of the attribute last added. */
static void add_string(reader *in, const char *string)
{
    if (in->status != FIRN_OK) return;
    in->status = firn_column_add_word(&in->attribute[in->count - 1].text, string, in->error);
}

/* After the last point of a bare file only the end may come. */
static void refuse_more(reader *in, const char *end, size_t length)
{
    const size_t left = in->size - in->at;
    if (in->status != FIRN_OK || !in->bare || left == 0) return;
    if (left < length || memcmp(in->data + in->at, end, length) != 0) {
        refuse(in, "at byte %zu: more than the %lld points that are promised", in->at,
               (long long)in->points);
    }
}

/* binary */

static uint32_t load(reader *in, size_t bytes)
{
    if (in->size - in->at < bytes) {
        refuse(in, "at byte %zu: the file ends here; it has been cut short", in->at);
        return 0;
    }
    uint32_t value = 0;
    for (size_t i = 0; i < bytes; i++) value = value << 8 | in->data[in->at++];
    return value;
}

static void load_text(reader *in, char *text, size_t room)
{
    const size_t length = load(in, 2);
    text[0] = 0;
    if (in->size - in->at < length) {
        refuse(in, "at byte %zu: the file ends here; it has been cut short", in->at);
    }
    if (in->status != FIRN_OK) return;
    if (length < room) {
        memcpy(text, in->data + in->at, length);
        text[length] = 0;
    }
    in->at += length;
}

static void load_attribute(reader *in)
{
    char name[FIRN_NAME_SIZE], string[FIRN_NAME_SIZE];
    load_text(in, name, sizeof name);
    const int32_t size = (int32_t)load(in, 2), type = (int32_t)load(in, 4);
    add_attribute(in, name, size, type);
    const uint32_t skipped = type == TYPE_INDEX ? load(in, 4) : (uint32_t)size;
    for (uint32_t i = 0; i < skipped && in->status == FIRN_OK; i++) {
        if (type == TYPE_INDEX) {
            load_text(in, string, sizeof string);
            add_string(in, string);
        } else {
            load(in, 4); /* the value of points that were given none */
        }
    }
}

static void load_points(reader *in)
{
    for (int64_t i = 0; i < in->points; i++) {
        for (int32_t a = 0; a < in->count; a++) {
            const attribute *to = &in->attribute[a];
            for (int32_t k = 0; k < to->size; k++) {
                const uint32_t bits = load(in, 4);
                if (k >= to->components) continue;
                memcpy((uint32_t *)to->data + i * to->components + k, &bits, sizeof bits);
            }
        }
    }
}

static void read_binary(reader *in, firn_points *out)
{
    enum { POINTS = 1, ATTRIBUTES = 5, COUNTS = 9 };
    int32_t count[COUNTS];
    in->at = 5; /* "BgeoV" */
    for (int i = 0; i < COUNTS; i++) count[i] = (int32_t)load(in, 4);
    if (count[0] != 5) refuse(in, "at byte 5: version %d; 5 was expected", (int)count[0]);
    if (count[ATTRIBUTES] < 0 || count[ATTRIBUTES] > FIRN_MAX_COLUMNS) {
        refuse(in, "at byte 25: %d attributes; up to %d can be kept", (int)count[ATTRIBUTES],
               FIRN_MAX_COLUMNS);
    }
    in->points = count[POINTS];
    in->bare = true;
    for (int i = 2; i < COUNTS; i++) in->bare = in->bare && (i == ATTRIBUTES || count[i] == 0);
    add_position(in);
    for (int i = 0; i < count[ATTRIBUTES] && in->status == FIRN_OK; i++) load_attribute(in);
    add_columns(in, 4, out);
    if (in->status == FIRN_OK) load_points(in);
    refuse_more(in, "\x00\xff", 2);
}

/* text */

static bool is_space(uint8_t c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static void skip_space(reader *in)
{
    while (in->at < in->size && is_space(in->data[in->at])) in->at++;
}

/* The next word, a bracket being one; empty when it is longer than `room` allows. */
static void parse_word(reader *in, char *word, size_t room)
{
    size_t length = 0;
    word[0] = 0;
    skip_space(in);
    if (in->at == in->size) refuse(in, "at byte %zu: the file ends too early", in->at);
    if (in->status != FIRN_OK) return;
    const bool quoted = in->data[in->at] == '"';
    const size_t start = in->at;
    if (quoted) in->at++;
    while (in->at < in->size) {
        uint8_t c = in->data[in->at];
        const bool bracket = !quoted && (c == '(' || c == ')');
        if (bracket && in->at > start) break;
        if (!quoted && is_space(c)) break;
        in->at++;
        if (quoted && c == '"') break;
        if (quoted && c == '\\' && in->at < in->size) c = in->data[in->at++];
        if (length < room) word[length] = (char)c;
        length++;
        if (bracket) break;
    }
    word[length < room ? length : 0] = 0;
}

static void parse_this(reader *in, const char *expected)
{
    char word[FIRN_NAME_SIZE];
    parse_word(in, word, sizeof word);
    if (strcmp(word, expected) != 0) {
        refuse(in, "at byte %zu: \"%s\" where \"%s\" was expected", in->at, word, expected);
    }
}

static double parse_number(reader *in)
{
    char word[FIRN_NAME_SIZE];
    parse_word(in, word, sizeof word);
    char *end = word;
    const double value = strtod(word, &end);
    if (end == word || *end != 0) {
        refuse(in, "at byte %zu: \"%s\" where a number was expected", in->at, word);
    }
    return value;
}

static int64_t parse_integer(reader *in)
{
    int64_t value = 0;
    firn_type_set(FIRN_TYPE_i64, &value, 0, parse_number(in));
    return value;
}

static void parse_attribute(reader *in)
{
    char name[FIRN_NAME_SIZE], word[FIRN_NAME_SIZE];
    int32_t type = -1;
    parse_word(in, name, sizeof name);
    const int64_t size = parse_integer(in);
    parse_word(in, word, sizeof word);
    for (size_t i = 0; i < sizeof type_names / sizeof type_names[0]; i++) {
        if (strcmp(word, type_names[i].name) == 0) type = type_names[i].type;
    }
    add_attribute(in, name, size, type);
    const int64_t skipped = type == TYPE_INDEX ? parse_integer(in) : size;
    for (int64_t i = 0; i < skipped && in->status == FIRN_OK; i++) {
        parse_word(in, word, sizeof word);
        if (type == TYPE_INDEX) add_string(in, word); /* else the value of points given none */
    }
}

static void parse_points(reader *in)
{
    for (int64_t i = 0; i < in->points && in->status == FIRN_OK; i++) {
        for (int32_t a = 0; a < in->count; a++) {
            const attribute *to = &in->attribute[a];
            const bool real = to->type == TYPE_FLOAT || to->type == TYPE_VECTOR;
            if (a == 1) parse_this(in, "(");
            for (int32_t k = 0; k < to->size; k++) {
                const double value = parse_number(in);
                if (k >= to->components) continue;
                firn_type_set(real ? FIRN_TYPE_f32 : FIRN_TYPE_i32, to->data,
                              i * to->components + k, value);
            }
        }
        if (in->count > 1) parse_this(in, ")");
    }
}

static void read_text(reader *in, firn_points *out)
{
    char word[FIRN_NAME_SIZE] = "";
    int64_t attributes = 0;
    in->points = -1;
    in->bare = true;
    parse_this(in, "PGEOMETRY");
    parse_this(in, "V5");
    while (in->status == FIRN_OK && strcmp(word, "NAttrib") != 0) { /* the last of the counts */
        parse_word(in, word, sizeof word);
        const int64_t number = parse_integer(in);
        if (strcmp(word, "NPoints") == 0) {
            in->points = number;
        } else if (strcmp(word, "NPointAttrib") == 0) {
            attributes = number;
        } else if (number != 0) {
            in->bare = false;
        }
    }
    add_position(in);
    if (attributes > 0) parse_this(in, "PointAttrib");
    for (int64_t i = 0; i < attributes && in->status == FIRN_OK; i++) parse_attribute(in);
    add_columns(in, 2, out); /* a digit, and something between it and the next */
    if (in->status == FIRN_OK) parse_points(in);
    skip_space(in);
    refuse_more(in, "beginExtra", 10);
}

firn_status firn_geo_classic_read(const firn_bytes *in, firn_points *out, firn_error *error)
{
    reader from = {.data = in->data, .size = in->size, .error = error};
    if (in->size > 0 && in->data[0] == 'B') {
        read_binary(&from, out);
    } else {
        read_text(&from, out);
    }
    for (int32_t a = 0; a < from.count; a++) free(from.attribute[a].text.words);
    return from.status;
}

/* ---- writing ---- */

static int32_t type_of(const firn_column *column)
{
    static const char *const vectors[] = {"v", "N"}; /* they turn with the geometry */
    if (!firn_geo_is_float(column->type)) return TYPE_INT;
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        if (column->components == 3 && strcmp(column->name, vectors[i]) == 0) return TYPE_VECTOR;
    }
    return TYPE_FLOAT;
}

/* Big end first. */
static size_t store(uint8_t *to, uint32_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) to[i] = (uint8_t)(value >> 8 * (bytes - 1 - i));
    return bytes;
}

static size_t store_value(uint8_t *to, const firn_column *column, int64_t index)
{
    const double value = firn_type_get(column->type, column->data, index);
    uint32_t bits;
    if (firn_geo_is_float(column->type)) {
        const float real = (float)value;
        memcpy(&bits, &real, sizeof bits);
    } else {
        bits = (uint32_t)(int32_t)value;
    }
    return store(to, bits, sizeof bits);
}

static void put(const firn_sink *sink, const void *data, size_t size)
{
    sink->put(sink->context, data, size);
}

static void write_binary(const firn_column *const *column, int32_t count, int64_t points,
                         const firn_sink *sink)
{
    const uint32_t one = 0x3f800000; /* the weight 1 */
    uint8_t bytes[4 * (4 + FIRN_MAX_COLUMNS * FIRN_MAX_COMPONENTS)];
    const uint32_t header[] = {5, (uint32_t)points, 0, 0, 0, (uint32_t)count - 1, 0, 0, 0};
    put(sink, "BgeoV", 5);
    for (size_t i = 0; i < sizeof header / sizeof header[0]; i++) {
        put(sink, bytes, store(bytes, header[i], 4));
    }
    for (int32_t c = 1; c < count; c++) {
        const size_t length = strlen(column[c]->name);
        put(sink, bytes, store(bytes, (uint32_t)length, 2));
        put(sink, column[c]->name, length);
        put(sink, bytes, store(bytes, (uint32_t)column[c]->components, 2));
        put(sink, bytes, store(bytes, (uint32_t)type_of(column[c]), 4));
        for (int32_t k = 0; k < column[c]->components; k++) put(sink, bytes, store(bytes, 0, 4));
    }
    for (int64_t i = 0; i < points; i++) {
        size_t used = 0;
        for (int32_t c = 0; c < count; c++) {
            for (int32_t k = 0; k < column[c]->components; k++) {
                used += store_value(bytes + used, column[c], i * column[c]->components + k);
            }
            if (c == 0) used += store(bytes + used, one, 4);
        }
        put(sink, bytes, used);
    }
    put(sink, "\x00\xff", 2);
}

static void write_text(const firn_column *const *column, int32_t count, int64_t points,
                       const firn_sink *sink)
{
    char text[256];
    put(sink, text,
        (size_t)snprintf(text, sizeof text,
                         "PGEOMETRY V5\nNPoints %lld NPrims 0\nNPointGroups 0 NPrimGroups 0\n"
                         "NPointAttrib %d NVertexAttrib 0 NPrimAttrib 0 NAttrib 0\nPointAttrib\n",
                         (long long)points, (int)count - 1));
    for (int32_t c = 1; c < count; c++) {
        size_t i = 0;
        while (type_names[i].type != type_of(column[c])) i++;
        put(sink, text,
            (size_t)snprintf(text, sizeof text, "%s %d %s", column[c]->name,
                             (int)column[c]->components, type_names[i].name));
        for (int32_t k = 0; k < column[c]->components; k++) put(sink, " 0", 2);
        put(sink, "\n", 1);
    }
    for (int64_t i = 0; i < points; i++) {
        for (int32_t c = 0; c < count; c++) {
            const firn_column *from = column[c];
            for (int32_t k = 0; k < from->components; k++) {
                const double value =
                    firn_type_get(from->type, from->data, i * from->components + k);
                const int length = firn_geo_is_float(from->type)
                                       ? firn_real_print(text, FIRN_TYPE_f32, (double)(float)value)
                                       : snprintf(text, sizeof text, "%d", (int)value);
                put(sink, text, (size_t)length);
                if (k + 1 < from->components) put(sink, " ", 1);
            }
            const char *after = c + 1 < count ? "  " : ")\n";
            if (c == 0) after = " 1 (";
            put(sink, after, strlen(after));
        }
    }
    put(sink, "beginExtra\nendExtra\n", 20);
}

static firn_status check(const firn_column *column, int64_t points, firn_error *error)
{
    if (!firn_geo_is_float(column->type) &&
        !firn_geo_within(column, points, INT32_MIN, INT32_MAX)) {
        return firn_fail(error, FIRN_INVALID,
                         "attribute %s has numbers beyond 32 bits, which the classic form cannot "
                         "hold; write the modern form",
                         column->name);
    }
    if (strpbrk(column->name, " \t\n\v\f\r()\"\\")) {
        return firn_fail(
            error, FIRN_INVALID,
            "attribute \"%s\": the classic form has names without spaces, brackets and "
            "quotes",
            column->name);
    }
    return FIRN_OK;
}

firn_status firn_geo_classic_write(const firn_points *points, bool binary, const firn_sink *sink,
                                   firn_error *error)
{
    const firn_column *column[FIRN_MAX_COLUMNS + 1] = {firn_geo_position(points, error)};
    if (!column[0]) return FIRN_INVALID;
    if (points->count > INT32_MAX) {
        return firn_fail(error, FIRN_INVALID,
                         "%lld points; the classic form counts in 32 bits; write the modern form",
                         (long long)points->count);
    }
    int32_t count = 1;
    for (int32_t c = 0; c < points->column_count; c++) {
        if (&points->column[c] == column[0]) continue;
        column[count++] = &points->column[c];
        const firn_status st = check(&points->column[c], points->count, error);
        if (st != FIRN_OK) return st;
    }
    firn_points extra = {.count = points->count};
    if (count == 1) {
        const firn_column *id = firn_points_add(&extra, "id", FIRN_TYPE_i32, 1, error);
        if (!id) return FIRN_NO_MEMORY;
        for (int64_t i = 0; i < points->count; i++) ((int32_t *)id->data)[i] = (int32_t)i;
        column[count++] = id;
    }
    if (binary) {
        write_binary(column, count, points->count, sink);
    } else {
        write_text(column, count, points->count, sink);
    }
    firn_points_free(&extra);
    return FIRN_OK;
}
