/* PLY: a header in text that lists elements and their properties, then the values, as text or
 * binary. The particles are the element `vertex`; faces and whatever else there is are passed over.
 *
 * PLY knows scalars only. Columns of several components are properties side by side: x y z is P,
 * vx vy vz is v, nx ny nz is N, red green blue is Cd, and name_0, name_1... is any other. Colours
 * are written as bytes. There are no halves, which become float, and no 64-bit integers, which
 * become int or uint where they fit and double where not. */
#include <ctype.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "io/io.h"

static const struct {
    const char *name, *other; /* what C calls it, and with its size */
    firn_type type;
} types[] = {
    {"char", "int8", FIRN_TYPE_i8},      {"uchar", "uint8", FIRN_TYPE_u8},
    {"short", "int16", FIRN_TYPE_i16},   {"ushort", "uint16", FIRN_TYPE_u16},
    {"int", "int32", FIRN_TYPE_i32},     {"uint", "uint32", FIRN_TYPE_u32},
    {"float", "float32", FIRN_TYPE_f32}, {"double", "float64", FIRN_TYPE_f64},
};
enum { TYPES = sizeof types / sizeof *types };

static const struct {
    const char *name, *part[3];
} vectors[] = {
    {"P", {"x", "y", "z"}},
    {"v", {"vx", "vy", "vz"}},
    {"N", {"nx", "ny", "nz"}},
    {"Cd", {"red", "green", "blue"}},
};
enum { VECTORS = sizeof vectors / sizeof *vectors };

static bool is_float(firn_type type)
{
    return type == FIRN_TYPE_f16 || type == FIRN_TYPE_f32 || type == FIRN_TYPE_f64;
}

/* A scalar in the file and its place in a column. */
typedef struct property {
    char name[FIRN_NAME_SIZE];
    firn_type type;
    bool list;
    firn_type count_type; /* of a list */
    firn_type column_type;
    int32_t components, component;
    double whole; /* what the file has for 1: 255 in colours of bytes */
    void *data;   /* the column's; NULL: not kept */
} property;

/* ---- reading: header ---- */

enum {
    MAX_ELEMENTS = 64,
    MAX_PROPERTIES = FIRN_MAX_COLUMNS * FIRN_MAX_COMPONENTS,
    WORD_SIZE = 128,
    MAX_WORDS = 5,
};

typedef struct element {
    bool vertex;
    int64_t count;
    int32_t first, properties;
} element;

typedef enum encoding { ASCII, LITTLE, BIG } encoding;

typedef struct reader {
    const uint8_t *data;
    size_t size, at;
    int64_t line; /* the one `at` is in, from 1; not counted in binary data */
    encoding encoding;
    int32_t elements, properties;
    element element[MAX_ELEMENTS];
    property property[MAX_PROPERTIES];
} reader;

typedef struct words {
    char word[MAX_WORDS][WORD_SIZE];
    int count;
} words;

/* Splits the next line; what does not fit is cut off. False at the end of the file. */
static bool next_line(reader *r, words *w)
{
    const uint8_t *begin = r->data + r->at;
    const uint8_t *end = memchr(begin, '\n', r->size - r->at);
    w->count = 0;
    if (!end) return false;
    for (const uint8_t *p = begin; p < end && w->count < MAX_WORDS;) {
        if (isspace(*p)) {
            p++;
            continue;
        }
        char *word = w->word[w->count++];
        size_t length = 0;
        for (; p < end && !isspace(*p); p++) {
            if (length < WORD_SIZE - 1) word[length++] = (char)*p;
        }
        word[length] = '\0';
    }
    r->at = (size_t)(end - r->data) + 1;
    r->line++;
    return true;
}

static bool find_type(const char *word, firn_type *type)
{
    for (int i = 0; i < TYPES; i++) {
        if (strcmp(word, types[i].name) != 0 && strcmp(word, types[i].other) != 0) continue;
        *type = types[i].type;
        return true;
    }
    return false;
}

static firn_status bad_line(const reader *r, const char *expected, firn_error *error)
{
    return firn_fail(error, FIRN_INVALID, "line %lld of the header is not \"%s\"",
                     (long long)r->line - 1, expected);
}

static firn_status read_format(reader *r, const words *w, firn_error *error)
{
    static const char *const encodings[] = {"ascii", "binary_little_endian", "binary_big_endian"};
    for (int i = 0; i < 3 && w->count >= 2; i++) {
        if (strcmp(w->word[1], encodings[i]) != 0) continue;
        r->encoding = (encoding)i;
        return FIRN_OK;
    }
    return bad_line(r, "format ascii|binary_little_endian|binary_big_endian 1.0", error);
}

static firn_status read_element(reader *r, const words *w, firn_error *error)
{
    const size_t digits = w->count == 3 ? strspn(w->word[2], "0123456789") : 0;
    if (digits == 0 || digits > 18 || w->word[2][digits] != '\0') {
        return bad_line(r, "element NAME COUNT", error);
    }
    if (r->elements == MAX_ELEMENTS) {
        return firn_fail(error, FIRN_INVALID, "more than %d elements", MAX_ELEMENTS);
    }
    r->element[r->elements++] = (element){.vertex = strcmp(w->word[1], "vertex") == 0,
                                          .count = strtoll(w->word[2], NULL, 10),
                                          .first = r->properties};
    return FIRN_OK;
}

static firn_status read_property(reader *r, const words *w, firn_error *error)
{
    const bool list = w->count == 5 && strcmp(w->word[1], "list") == 0;
    property p = {.list = list, .whole = 1};
    const bool known = list ? find_type(w->word[2], &p.count_type) && !is_float(p.count_type) &&
                                  find_type(w->word[3], &p.type)
                            : w->count == 3 && find_type(w->word[1], &p.type);
    if (!known || r->elements == 0) {
        return bad_line(r, "property TYPE NAME or property list TYPE TYPE NAME, after an element",
                        error);
    }
    if (r->properties == MAX_PROPERTIES) {
        return firn_fail(error, FIRN_INVALID, "more than %d properties", MAX_PROPERTIES);
    }
    const char *name = w->word[list ? 4 : 2];
    const size_t length = strlen(name);
    if (length >= FIRN_NAME_SIZE) {
        return firn_fail(error, FIRN_INVALID,
                         "line %lld: the property's name has %zu letters; %d can be kept",
                         (long long)r->line - 1, length, FIRN_NAME_SIZE - 1);
    }
    memcpy(p.name, name, length + 1);
    r->property[r->properties++] = p;
    r->element[r->elements - 1].properties++;
    return FIRN_OK;
}

static bool recognise(const firn_bytes *in)
{
    return in->size >= 4 && memcmp(in->data, "ply", 3) == 0 &&
           (in->data[3] == '\n' || in->data[3] == '\r');
}

static firn_status read_header(reader *r, firn_error *error)
{
    words w;
    firn_status st = FIRN_OK;
    bool format = false;
    next_line(r, &w); /* "ply" */
    while (st == FIRN_OK) {
        if (!next_line(r, &w)) {
            return firn_fail(error, FIRN_INVALID, "the header has no line \"end_header\"");
        }
        if (w.count == 0) continue;
        const char *word = w.word[0];
        if (strcmp(word, "format") == 0) {
            st = read_format(r, &w, error);
            format = true;
        } else if (strcmp(word, "element") == 0) {
            st = read_element(r, &w, error);
        } else if (strcmp(word, "property") == 0) {
            st = read_property(r, &w, error);
        } else if (strcmp(word, "end_header") == 0) {
            break;
        } else if (strcmp(word, "comment") != 0 && strcmp(word, "obj_info") != 0) {
            st = bad_line(r, "format, element, property, comment or end_header", error);
        }
    }
    if (st == FIRN_OK && !format) {
        return firn_fail(error, FIRN_INVALID, "the header has no line \"format\"");
    }
    return st;
}

/* ---- reading: columns ---- */

static property *find_scalar(reader *r, const element *e, const char *name)
{
    for (int32_t i = e->first; i < e->first + e->properties; i++) {
        if (!r->property[i].list && strcmp(r->property[i].name, name) == 0) return &r->property[i];
    }
    return NULL;
}

static firn_status add_column(firn_points *out, const char *name, firn_type type, property **part,
                              int32_t components, firn_error *error)
{
    const firn_column *column = firn_points_add(out, name, type, components, error);
    if (!column) return error ? error->status : FIRN_INVALID;
    for (int32_t a = 0; a < components; a++) {
        part[a]->data = column->data;
        part[a]->column_type = type;
        part[a]->components = components;
        part[a]->component = a;
    }
    return FIRN_OK;
}

/* The vector that property belongs to, when all three parts are there; else -1. */
static int find_vector(reader *r, const element *e, const property *p, property **part)
{
    for (int i = 0; i < VECTORS; i++) {
        bool all = true, mine = false;
        for (int a = 0; a < 3; a++) mine = mine || strcmp(p->name, vectors[i].part[a]) == 0;
        if (!mine) continue;
        for (int a = 0; a < 3; a++) {
            part[a] = find_scalar(r, e, vectors[i].part[a]);
            all = all && part[a];
        }
        if (all) return i;
    }
    return -1;
}

/* Floats hold the values of floats and of short integers exactly. */
static firn_status add_vector(firn_points *out, int vector, property **part, firn_error *error)
{
    const bool colour = strcmp(vectors[vector].name, "Cd") == 0;
    firn_type type = FIRN_TYPE_f32;
    for (int a = 0; a < 3; a++) {
        const firn_type t = part[a]->type;
        if (colour) {
            part[a]->whole = t == FIRN_TYPE_u8 ? 255 : t == FIRN_TYPE_u16 ? 65535 : 1;
        } else if (t == FIRN_TYPE_f64 || t == FIRN_TYPE_i32 || t == FIRN_TYPE_u32) {
            type = FIRN_TYPE_f64;
        }
    }
    return add_column(out, vectors[vector].name, type, part, 3, error);
}

/* How many of name_0, name_1... there are, all of one type, when p is one of them; else 0. `base`
 * gets the name. */
static int32_t find_group(reader *r, const element *e, const property *p, char *base,
                          property **part)
{
    const char *mark = strrchr(p->name, '_');
    if (!mark || mark == p->name) return 0;
    const size_t length = (size_t)(mark - p->name);
    memcpy(base, p->name, length);
    base[length] = '\0';
    if (find_scalar(r, e, base)) return 0;
    bool mine = false;
    int32_t n = 0;
    for (; n <= FIRN_MAX_COMPONENTS; n++) {
        char name[FIRN_NAME_SIZE + 8];
        snprintf(name, sizeof name, "%s_%d", base, n);
        property *next = find_scalar(r, e, name);
        if (!next || (n > 0 && next->type != part[0]->type)) break;
        part[n] = next;
        mine = mine || next == p;
    }
    return mine && n >= 2 && n <= FIRN_MAX_COMPONENTS ? n : 0;
}

static firn_status add_columns(reader *r, const element *e, firn_points *out, firn_error *error)
{
    firn_status st = FIRN_OK;
    for (int32_t i = e->first; i < e->first + e->properties && st == FIRN_OK; i++) {
        property *p = &r->property[i], *part[FIRN_MAX_COMPONENTS + 1];
        if (p->list || p->data) continue;
        const int vector = find_vector(r, e, p, part);
        if (vector >= 0) {
            st = add_vector(out, vector, part, error);
            continue;
        }
        char base[FIRN_NAME_SIZE];
        const int32_t n = find_group(r, e, p, base, part);
        if (n > 0 && !firn_points_find(out, base)) {
            st = add_column(out, base, p->type, part, n, error);
        } else {
            st = add_column(out, p->name, p->type, &p, 1, error);
        }
    }
    const firn_column *P = firn_points_find(out, "P");
    if (st == FIRN_OK && (!P || P->components != 3 || !is_float(P->type))) {
        return firn_fail(error, FIRN_INVALID, "element vertex has no properties x, y and z");
    }
    return st;
}

/* ---- reading: values ---- */

static firn_status cut_off(const reader *r, firn_error *error)
{
    return firn_fail(error, FIRN_INVALID, "the file ends at byte %zu, within the values", r->size);
}

static bool next_word(reader *r, char word[WORD_SIZE])
{
    while (r->at < r->size && isspace(r->data[r->at])) {
        if (r->data[r->at++] == '\n') r->line++;
    }
    size_t length = 0;
    for (; r->at < r->size && !isspace(r->data[r->at]); r->at++) {
        if (length < WORD_SIZE - 1) word[length++] = (char)r->data[r->at];
    }
    word[length] = '\0';
    return length > 0;
}

static firn_status read_text(reader *r, firn_type type, double *value, firn_error *error)
{
    char word[WORD_SIZE], *end = NULL;
    if (!next_word(r, word)) return cut_off(r, error);
    *value = strtod(word, &end);
    _Alignas(8) uint8_t kept[8];
    firn_type_set(type, kept, 0, *value);
    const bool fits = is_float(type) || firn_type_get(type, kept, 0) == *value;
    const bool cut = strlen(word) == WORD_SIZE - 1;
    if (*end != '\0' || !fits || cut) {
        return firn_fail(error, FIRN_INVALID, "line %lld: \"%.32s\" is not %s", (long long)r->line,
                         word,
                         is_float(type) ? "a number" : "a whole number of the property's type");
    }
    return FIRN_OK;
}

static firn_status read_value(reader *r, firn_type type, double *value, firn_error *error)
{
    if (r->encoding == ASCII) return read_text(r, type, value, error);
    const size_t size = firn_type_size(type);
    if (r->size - r->at < size) return cut_off(r, error);
    _Alignas(8) uint8_t bytes[8];
    for (size_t i = 0; i < size; i++) {
        bytes[r->encoding == LITTLE ? i : size - 1 - i] = r->data[r->at + i];
    }
    r->at += size;
    *value = firn_type_get(type, bytes, 0);
    return FIRN_OK;
}

static firn_status skip_list(reader *r, const property *p, firn_error *error)
{
    double count = 0, ignored;
    firn_status st = read_value(r, p->count_type, &count, error);
    if (st != FIRN_OK) return st;
    if (count < 0) {
        return firn_fail(error, FIRN_INVALID, "list %s has %g items before byte %zu", p->name,
                         count, r->at);
    }
    if (r->encoding != ASCII) {
        const size_t bytes = (size_t)count * firn_type_size(p->type);
        if (bytes > r->size - r->at) return cut_off(r, error);
        r->at += bytes;
        return FIRN_OK;
    }
    for (double i = 0; i < count && st == FIRN_OK; i++) st = read_text(r, p->type, &ignored, error);
    return st;
}

static firn_status read_row(reader *r, const element *e, int64_t row, firn_error *error)
{
    firn_status st = FIRN_OK;
    for (int32_t i = e->first; i < e->first + e->properties && st == FIRN_OK; i++) {
        const property *p = &r->property[i];
        if (p->list) {
            st = skip_list(r, p, error);
            continue;
        }
        double value = 0;
        st = read_value(r, p->type, &value, error);
        if (p->data && st == FIRN_OK) {
            const int64_t at = row * p->components + p->component;
            firn_type_set(p->column_type, p->data, at, p->whole == 1 ? value : value / p->whole);
        }
    }
    return st;
}

/* Whether the rest of the file may hold the rows, lists being empty: none if they have no size. */
static firn_status check_count(const reader *r, const element *e, firn_error *error)
{
    uint64_t least = 0; /* bytes per row; as text, a digit and a space per value */
    for (int32_t i = e->first; i < e->first + e->properties; i++) {
        const property *p = &r->property[i];
        least += r->encoding == ASCII ? 2 : firn_type_size(p->list ? p->count_type : p->type);
    }
    const uint64_t left = r->size - r->at + (r->encoding == ASCII ? 1 : 0);
    if (least == 0 || (uint64_t)e->count <= left / least) return FIRN_OK;
    return firn_fail(error, FIRN_INVALID,
                     "the header says %lld rows of %llu bytes or more; from byte %zu on there are "
                     "%zu bytes",
                     (long long)e->count, (unsigned long long)least, r->at, r->size - r->at);
}

static firn_status read_rows(reader *r, const element *e, firn_error *error)
{
    firn_status st = FIRN_OK;
    if (e->properties == 0) return st;
    for (int64_t row = 0; row < e->count && st == FIRN_OK; row++) st = read_row(r, e, row, error);
    return st;
}

static firn_status read_elements(reader *r, firn_points *out, firn_error *error)
{
    for (int32_t i = 0; i < r->elements; i++) {
        const element *e = &r->element[i];
        firn_status st = check_count(r, e, error);
        if (st == FIRN_OK && e->vertex) {
            out->count = e->count;
            st = add_columns(r, e, out, error);
        }
        if (st == FIRN_OK) st = read_rows(r, e, error);
        if (st != FIRN_OK) return st;
        if (!e->vertex) continue;
        char word[WORD_SIZE];
        if (r->encoding == ASCII && i == r->elements - 1 && next_word(r, word)) {
            return firn_fail(
                error, FIRN_INVALID,
                "line %lld: \"%.32s\" comes after the last value of the %lld particles",
                (long long)r->line, word, (long long)e->count);
        }
        return FIRN_OK;
    }
    return firn_fail(error, FIRN_INVALID, "the header has no element vertex");
}

static firn_status read_points(const firn_bytes *in, firn_points *out, firn_error *error)
{
    if (!recognise(in)) return firn_fail(error, FIRN_INVALID, "does not begin as a PLY file does");
    reader *r = calloc(1, sizeof *r);
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0); /* the point is a point */
    if (!r || !plain) {
        free(r);
        if (plain) freelocale(plain);
        return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    }
    const locale_t before = uselocale(plain);
    r->data = in->data;
    r->size = in->size;
    r->line = 1;
    firn_status st = read_header(r, error);
    if (st == FIRN_OK) st = read_elements(r, out, error);
    uselocale(before);
    freelocale(plain);
    free(r);
    return st;
}

/* ---- writing ---- */

/* The narrowest of int, uint and double that holds all of a 64-bit column; FIRN_TYPE_COUNT when
 * none does. */
static firn_type narrow(const firn_column *column, int64_t count)
{
    bool small = true, positive = true;
    for (int64_t i = 0; i < count * column->components; i++) {
        int64_t value = ((const int64_t *)column->data)[i];
        if (column->type == FIRN_TYPE_u64 && value < 0) return FIRN_TYPE_COUNT;
        if (value > 1LL << 53 || value < -(1LL << 53)) return FIRN_TYPE_COUNT;
        small = small && value >= INT32_MIN && value <= INT32_MAX;
        positive = positive && value >= 0 && value <= UINT32_MAX;
    }
    return small ? FIRN_TYPE_i32 : positive ? FIRN_TYPE_u32 : FIRN_TYPE_f64;
}

static firn_status plan_column(const firn_points *points, const firn_column *column, property *p,
                               firn_error *error)
{
    const int32_t n = column->components;
    const char *const *part = NULL;
    for (int i = 0; i < VECTORS && n == 3 && is_float(column->type); i++) {
        if (strcmp(column->name, vectors[i].name) == 0) part = vectors[i].part;
    }
    const bool colour = part && strcmp(column->name, "Cd") == 0;
    firn_type type = column->type == FIRN_TYPE_f16 ? FIRN_TYPE_f32 : column->type;
    if (colour) type = FIRN_TYPE_u8;
    if (type == FIRN_TYPE_i64 || type == FIRN_TYPE_u64) type = narrow(column, points->count);
    if (type == FIRN_TYPE_COUNT) {
        return firn_fail(
            error, FIRN_INVALID,
            "attribute %s has whole numbers beyond 2^53, which PLY cannot hold; leave it "
            "out",
            column->name);
    }
    for (int32_t a = 0; a < n; a++) {
        p[a] = (property){.type = type,
                          .column_type = column->type,
                          .components = n,
                          .component = a,
                          .whole = colour ? 255 : 1,
                          .data = column->data};
        const int length = part ? snprintf(p[a].name, sizeof p[a].name, "%s", part[a])
                           : n == 1
                               ? snprintf(p[a].name, sizeof p[a].name, "%s", column->name)
                               : snprintf(p[a].name, sizeof p[a].name, "%s_%d", column->name, a);
        bool fine = length < FIRN_NAME_SIZE;
        for (const char *c = p[a].name; *c; c++) fine = fine && isgraph((unsigned char)*c);
        if (!fine) {
            return firn_fail(
                error, FIRN_INVALID,
                "attribute \"%s\": names in PLY files are up to %d letters without spaces; "
                "leave it out",
                column->name, FIRN_NAME_SIZE - 1);
        }
    }
    return FIRN_OK;
}

/* `p` has room for all components of all columns. */
static firn_status plan(const firn_points *points, property *p, int32_t *count, firn_error *error)
{
    const firn_column *P = firn_points_find(points, "P");
    if (!P || P->components != 3 || !is_float(P->type)) {
        return firn_fail(error, FIRN_INVALID, "PLY files need an attribute P of three floats");
    }
    for (int32_t k = 0; k < points->column_count; k++) {
        const firn_column *column = &points->column[k];
        const firn_status st = plan_column(points, column, p + *count, error);
        if (st != FIRN_OK) return st;
        for (int32_t i = *count; i < *count + column->components; i++) {
            for (int32_t j = 0; j < *count; j++) {
                if (strcmp(p[i].name, p[j].name) != 0) continue;
                return firn_fail(error, FIRN_INVALID,
                                 "two attributes would be property %s in a PLY file; leave out %s",
                                 p[i].name, column->name);
            }
        }
        *count += column->components;
    }
    return FIRN_OK;
}

static void write_header(int64_t points, const property *p, int32_t count, firn_output *out)
{
    firn_output_print(out, "ply\nformat binary_little_endian 1.0\nelement vertex %lld\n",
                      (long long)points);
    for (int32_t i = 0; i < count; i++) {
        int t = 0;
        while (types[t].type != p[i].type) t++;
        firn_output_print(out, "property %s %s\n", types[t].name, p[i].name);
    }
    firn_output_print(out, "end_header\n");
}

static void write_rows(int64_t points, const property *p, int32_t count, firn_output *out)
{
    for (int64_t row = 0; row < points; row++) {
        uint8_t bytes[FIRN_MAX_COMPONENTS * 8];
        size_t size = 0;
        for (int32_t i = 0; i < count; i++) {
            double value =
                firn_type_get(p[i].column_type, p[i].data, row * p[i].components + p[i].component);
            if (p[i].whole != 1) value = fmin(fmax(value, 0), 1) * p[i].whole;
            _Alignas(8) uint8_t one[8];
            firn_type_set(p[i].type, one, 0, value);
            memcpy(bytes + size, one, firn_type_size(p[i].type));
            size += firn_type_size(p[i].type);
            if (size > sizeof bytes - 8 || i == count - 1) {
                firn_output_write(out, bytes, size);
                size = 0;
            }
        }
    }
}

static firn_status write_points(const firn_points *points, const firn_write_options *options,
                                firn_output *out, firn_error *error)
{
    (void)options;
    size_t all = 0;
    for (int32_t k = 0; k < points->column_count; k++) all += (size_t)points->column[k].components;
    property *p = calloc(all + 1, sizeof *p);
    if (!p) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    int32_t count = 0;
    const firn_status st = plan(points, p, &count, error);
    if (st == FIRN_OK) {
        write_header(points->count, p, count, out);
        write_rows(points->count, p, count, out);
    }
    free(p);
    return st;
}

const firn_format firn_format_ply = {
    .name = "ply",
    .extensions = ".ply",
    .help = "Stanford polygons: positions, colours, scalars",
    .recognise = recognise,
    .read = read_points,
    .write = write_points,
};
