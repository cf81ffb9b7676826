/* CSV: a line of names, then a line of numbers per particle.
 *
 * Components are P.x P.y P.z (or .r .g .b), or F[0] F[1]...; x y z alone are P, vx vy vz are v.
 * Fields are separated by tabs, semicolons or commas, whichever the line of names has, in that
 * order; they may be quoted. Lines that begin with # are comments. A column called material may hold
 * words.
 *
 * Text has no types. Whole numbers called id, material or object stay whole. Other columns become
 * f32 when that keeps every value, else f64; whole numbers beyond 2^53 become i64. So that they
 * read back exactly, f32 is written with 9 digits and f64 with 17, zeros included where f32 would
 * not do. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "io/io.h"

static const struct {
    const char *name, *column;
    int32_t component;
} aliases[] = {
    {"x", "P", 0}, {"y", "P", 1},  {"z", "P", 2},  {"X", "P", 0},  {"Y", "P", 1},
    {"Z", "P", 2}, {"vx", "v", 0}, {"vy", "v", 1}, {"vz", "v", 2},
};
enum { ALIASES = sizeof aliases / sizeof *aliases };

static const char letters[] = "xyzw", colours[] = "rgba";

enum { FIELD_SIZE = 256, MAX_FIELDS = FIRN_MAX_COLUMNS * FIRN_MAX_COMPONENTS, MAX_WORDS = 256 };

/* What a field's heading stands for: a column's name, in `name`, and a component. */
static int32_t parse_name(const char *text, char name[FIELD_SIZE])
{
    size_t length = strlen(text);
    memcpy(name, text, length + 1);
    for (int i = 0; i < ALIASES; i++) {
        if (strcmp(text, aliases[i].name) != 0) continue;
        memcpy(name, aliases[i].column, strlen(aliases[i].column) + 1);
        return aliases[i].component;
    }
    if (length > 2 && text[length - 2] == '.') {
        const char *letter = strchr(letters, text[length - 1]);
        const char *colour = strchr(colours, text[length - 1]);
        if (!letter && !colour) return 0;
        name[length - 2] = '\0';
        return (int32_t)(letter ? letter - letters : colour - colours);
    }
    const char *open = strrchr(text, '[');
    if (!open || open == text) return 0;
    const size_t digits = strspn(open + 1, "0123456789");
    if (digits == 0 || digits > 2 || strcmp(open + 1 + digits, "]") != 0) return 0;
    name[open - text] = '\0';
    return (int32_t)strtol(open + 1, NULL, 10);
}

/* ---- reading: lines and fields ---- */

typedef struct field {
    char heading[FIELD_SIZE];
    char name[FIELD_SIZE]; /* of the column */
    int32_t component, components;
    bool whole, whole32, single, exact; /* all values: i64, i32, f32, f64 hold them */
    bool words;                         /* a value is no number: all are words */
    firn_type type;
    void *data;
    firn_column *text; /* of words */
} field;

typedef struct reader {
    const uint8_t *data;
    size_t size, at;
    int64_t line; /* from 1 */
    uint8_t separator;
    int32_t fields;
    field *field;
} reader;

static bool blank(uint8_t c) { return c == ' ' || c == '\t' || c == '\r'; }

/* To the start of the next line that is neither empty nor a comment; false at the end. */
static bool next_row(reader *r)
{
    while (r->at < r->size) {
        size_t at = r->at;
        while (at < r->size && blank(r->data[at])) at++;
        if (at < r->size && r->data[at] != '\n' && r->data[at] != '#') return true;
        while (at < r->size && r->data[at] != '\n') at++;
        r->at = at < r->size ? at + 1 : at;
        r->line++;
    }
    return false;
}

static bool line_ends(const reader *r) { return r->at == r->size || r->data[r->at] == '\n'; }

static firn_status bad_field(const reader *r, int32_t column, const char *text, const char *what,
                             firn_error *error)
{
    return firn_fail(error, FIRN_INVALID, "line %lld, column %d: \"%.40s\" %s", (long long)r->line,
                     column + 1, text, what);
}

/* One field without blanks around it or quotes, and what separates it from the next. */
static firn_status next_field(reader *r, int32_t column, char text[FIELD_SIZE], firn_error *error)
{
    size_t length = 0, kept = 0; /* kept: without blanks at the end */
    while (!line_ends(r) && blank(r->data[r->at]) && r->data[r->at] != r->separator) r->at++;
    const bool quoted = !line_ends(r) && r->data[r->at] == '"';
    bool open = quoted;
    if (quoted) r->at++;
    for (; !line_ends(r) && (open || r->data[r->at] != r->separator); r->at++) {
        const uint8_t c = r->data[r->at];
        if (open && c == '"') {
            if (r->at + 1 < r->size && r->data[r->at + 1] == '"') {
                r->at++;
            } else {
                open = false;
                continue;
            }
        }
        if (quoted && !open) {
            if (blank(c)) continue;
            text[kept] = '\0';
            return bad_field(r, column, text, "goes on after its quotes", error);
        }
        if (length == FIELD_SIZE - 1) {
            text[length] = '\0';
            return bad_field(r, column, text, "is too long", error);
        }
        text[length++] = (char)c;
        if (open || !blank(c)) kept = length;
    }
    text[kept] = '\0';
    if (open) return bad_field(r, column, text, "has no quotes at its end", error);
    return FIRN_OK;
}

/* Over the separator; false when the line ended instead, which is then passed. */
static bool next_separator(reader *r)
{
    const bool more = !line_ends(r);
    if (r->at < r->size) r->at++;
    if (!more) r->line++;
    return more;
}

/* ---- reading: headings ---- */

static uint8_t find_separator(const reader *r)
{
    bool tab = false, semicolon = false, quoted = false;
    for (size_t i = r->at; i < r->size && r->data[i] != '\n'; i++) {
        const uint8_t c = r->data[i];
        if (c == '"') quoted = !quoted;
        if (!quoted) tab = tab || c == '\t', semicolon = semicolon || c == ';';
    }
    return tab ? '\t' : semicolon ? ';' : ',';
}

static firn_status read_heading(reader *r, firn_error *error)
{
    char text[FIELD_SIZE], *end = NULL;
    const firn_status st = next_field(r, r->fields, text, error);
    if (st != FIRN_OK) return st;
    strtod(text, &end);
    if (*end == '\0') { /* empty, too */
        return bad_field(r, r->fields, text,
                         "is not a name; the first line names the columns, "
                         "like x,y,z",
                         error);
    }
    if (r->fields == MAX_FIELDS) {
        return firn_fail(error, FIRN_INVALID, "more than %d columns", MAX_FIELDS);
    }
    if ((r->fields & (r->fields - 1)) == 0) { /* room doubles at powers of two */
        field *grown = realloc(r->field, (size_t)(r->fields ? 2 * r->fields : 1) * sizeof *grown);
        if (!grown) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
        r->field = grown;
    }
    field *f = &r->field[r->fields++];
    *f = (field){.whole = true, .whole32 = true, .single = true, .exact = true};
    memcpy(f->heading, text, sizeof text);
    f->component = parse_name(text, f->name);
    return FIRN_OK;
}

/* Components of a column must be there once each. */
static firn_status check_headings(const reader *r, firn_error *error)
{
    for (int32_t i = 0; i < r->fields; i++) {
        field *f = &r->field[i];
        int32_t highest = 0, found = 0;
        for (int32_t j = 0; j < r->fields; j++) {
            const field *other = &r->field[j];
            if (strcmp(f->name, other->name) != 0) continue;
            if (j < i && other->component == f->component) {
                return firn_fail(error, FIRN_INVALID, "line %lld: columns %d and %d are both %.64s",
                                 (long long)r->line, j + 1, i + 1, f->heading);
            }
            if (other->component > highest) highest = other->component;
            found++;
        }
        f->components = highest + 1;
        if (found < f->components) {
            return firn_fail(
                error, FIRN_INVALID,
                "line %lld, column %d: %.64s is given, yet %.64s has %d of %d components",
                (long long)r->line, i + 1, f->heading, f->name, found, f->components);
        }
    }
    return FIRN_OK;
}

static firn_status read_headings(reader *r, firn_error *error)
{
    if (!next_row(r)) {
        return firn_fail(error, FIRN_INVALID, "there is no line that names the columns");
    }
    r->separator = find_separator(r);
    const int64_t line = r->line;
    do {
        const firn_status st = read_heading(r, error);
        if (st != FIRN_OK) return st;
    } while (next_separator(r));
    const int64_t next = r->line;
    r->line = line;
    const firn_status st = check_headings(r, error);
    r->line = next;
    return st;
}

/* ---- reading: values ---- */

static bool parse_whole(const char *text, int64_t *value)
{
    char *end = NULL;
    const char *digits = text + (*text == '-' || *text == '+');
    if (!isdigit((unsigned char)*digits)) return false;
    errno = 0;
    *value = strtoll(text, &end, 10);
    return *end == '\0' && errno == 0;
}

/* Whether f32 keeps a number as it is written: exactly, or up to the 6 digits it always keeps, or
 * when it is what 9 digits of an f32 look like. */
static bool survives_single(const char *text, double value)
{
    const float single = (float)value;
    if ((double)single == value || isnan(value)) return true;
    if (isinf(single) || fabsf(single) < 0x1p-126f) return false;
    int digits = 0;
    for (const char *c = text; *c && *c != 'e' && *c != 'E'; c++) {
        if (isdigit((unsigned char)*c) && (digits > 0 || *c != '0')) digits++;
    }
    if (digits <= 6) return true;
    char again[32];
    snprintf(again, sizeof again, "%.9g", (double)single);
    return digits <= 9 && strtod(again, NULL) == value;
}

/* First time through: what types would do. */
static void classify(field *f, const char *text, double value)
{
    int64_t whole = 0;
    f->whole = f->whole && parse_whole(text, &whole);
    f->whole32 = f->whole32 && f->whole && whole >= INT32_MIN && whole <= INT32_MAX;
    f->single = f->single && survives_single(text, value);
    f->exact = f->exact && !(f->whole && (whole > 1LL << 53 || whole < -(1LL << 53)));
}

static void store(const field *f, int64_t row, const char *text, double value)
{
    const int64_t at = row * f->components + f->component;
    int64_t whole = 0;
    if (f->type == FIRN_TYPE_i64 && parse_whole(text, &whole)) {
        ((int64_t *)f->data)[at] = whole;
    } else {
        firn_type_set(f->type, f->data, at, value);
    }
}

static firn_status store_word(const reader *r, int32_t index, int64_t row, const char *text,
                              firn_error *error)
{
    firn_column *column = r->field[index].text;
    const char *word = column->words;
    int32_t i = 0;
    for (; i < column->word_count && strcmp(word, text) != 0; i++) word += strlen(word) + 1;
    if (i == MAX_WORDS) return bad_field(r, index, text, "is one word too many", error);
    ((int32_t *)column->data)[row] = i;
    return i < column->word_count ? FIRN_OK : firn_column_add_word(column, text, error);
}

static bool may_be_words(const field *f)
{
    return strcmp(f->name, "material") == 0 && f->components == 1;
}

/* Once to look (no data yet) and once to store. */
static firn_status read_rows(reader *r, int64_t *rows, firn_error *error)
{
    for (*rows = 0; next_row(r); ++*rows) {
        bool more = true;
        const int64_t line = r->line;
        int32_t i = 0;
        for (; more && i < r->fields; i++) {
            char text[FIELD_SIZE], *end = NULL;
            const firn_status st = next_field(r, i, text, error);
            if (st != FIRN_OK) return st;
            const double value = strtod(text, &end);
            const bool number = end != text && *end == '\0';
            field *f = &r->field[i];
            if (!number && !(text[0] && may_be_words(f))) {
                return bad_field(r, i, text, "is no number", error);
            }
            if (f->text) {
                const firn_status stored = store_word(r, i, *rows, text, error);
                if (stored != FIRN_OK) return stored;
            } else if (f->data) {
                store(f, *rows, text, value);
            } else {
                classify(f, text, value);
                f->words = f->words || !number;
            }
            more = next_separator(r);
        }
        if (more || i < r->fields) {
            return firn_fail(error, FIRN_INVALID,
                             "line %lld has %s than the %d fields of the header", (long long)line,
                             more ? "more" : "fewer", r->fields);
        }
    }
    return FIRN_OK;
}

static firn_type choose_type(const reader *r, const char *name)
{
    bool whole = true, whole32 = true, single = true, exact = true;
    for (int32_t i = 0; i < r->fields; i++) {
        const field *f = &r->field[i];
        if (strcmp(f->name, name) != 0) continue;
        whole = whole && f->whole;
        whole32 = whole32 && f->whole32;
        single = single && f->single;
        exact = exact && f->exact;
    }
    const bool number = strcmp(name, "material") == 0 || strcmp(name, "object") == 0;
    if (number && whole32) return FIRN_TYPE_i32;
    if (whole && (number || !exact || strcmp(name, "id") == 0)) return FIRN_TYPE_i64;
    return single ? FIRN_TYPE_f32 : FIRN_TYPE_f64;
}

static firn_status add_columns(reader *r, firn_points *out, firn_error *error)
{
    for (int32_t i = 0; i < r->fields; i++) {
        field *f = &r->field[i];
        if (f->data) continue;
        const firn_type type = f->words ? FIRN_TYPE_i32 : choose_type(r, f->name);
        const firn_column *column = firn_points_add(out, f->name, type, f->components, error);
        if (!column) return error ? error->status : FIRN_INVALID;
        for (int32_t j = i; j < r->fields; j++) {
            if (strcmp(r->field[j].name, column->name) != 0) continue;
            r->field[j].data = column->data;
            r->field[j].type = type;
        }
    }
    for (int32_t i = 0; i < r->fields; i++) { /* no more columns come, so this one stays in place */
        if (r->field[i].words) r->field[i].text = firn_points_find(out, r->field[i].name);
    }
    const firn_column *P = firn_points_find(out, "P");
    if (!P || P->components != 3 || P->type == FIRN_TYPE_i64) {
        return firn_fail(error, FIRN_INVALID, "there are no columns x, y and z");
    }
    return FIRN_OK;
}

static firn_status read_table(reader *r, firn_points *out, firn_error *error)
{
    firn_status st = read_headings(r, error);
    const size_t at = r->at;
    const int64_t line = r->line;
    if (st == FIRN_OK) st = read_rows(r, &out->count, error);
    if (st == FIRN_OK) st = add_columns(r, out, error);
    r->at = at;
    r->line = line;
    return st == FIRN_OK ? read_rows(r, &out->count, error) : st;
}

static firn_status read_points(const firn_bytes *in, firn_points *out, firn_error *error)
{
    const locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0); /* the point is a point */
    if (!plain) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    const locale_t before = uselocale(plain);
    reader r = {.data = in->data, .size = in->size, .line = 1};
    const firn_status st = read_table(&r, out, error);
    free(r.field);
    uselocale(before);
    freelocale(plain);
    return st;
}

/* ---- writing ---- */

static void write_heading(const firn_column *column, int32_t component, firn_output *out)
{
    char other[FIELD_SIZE], heading[FIRN_NAME_SIZE + 16];
    const char *name = column->name;
    const bool taken = parse_name(name, other) != 0 || strcmp(name, other) != 0;
    if (column->components == 1 && !taken) {
        snprintf(heading, sizeof heading, "%s", name);
    } else if (column->components >= 2 && column->components <= 4) {
        snprintf(heading, sizeof heading, "%s.%c", name, letters[component]);
    } else {
        snprintf(heading, sizeof heading, "%s[%d]", name, component);
    }
    const bool quoted = strpbrk(name, ",;\t\"# ") != NULL;
    if (!quoted) {
        firn_output_print(out, "%s", heading);
        return;
    }
    firn_output_write(out, "\"", 1);
    for (const char *c = heading; *c; c++) {
        if (*c == '"') firn_output_write(out, c, 1); /* doubled */
        firn_output_write(out, c, 1);
    }
    firn_output_write(out, "\"", 1);
}

static void write_value(const firn_column *column, int64_t index, firn_output *out)
{
    const double value = firn_type_get(column->type, column->data, index);
    switch (column->type) {
    case FIRN_TYPE_f16:
    case FIRN_TYPE_f32: firn_output_print(out, "%.9g", value); break;
    case FIRN_TYPE_f64:
        firn_output_print(out, (double)(float)value == value ? "%.17g" : "%#.17g", value);
        break;
    case FIRN_TYPE_i64:
        firn_output_print(out, "%" PRId64, ((const int64_t *)column->data)[index]);
        break;
    case FIRN_TYPE_u64:
        firn_output_print(out, "%" PRIu64, ((const uint64_t *)column->data)[index]);
        break;
    default: firn_output_print(out, "%.0f", value); break;
    }
}

static void write_table(const firn_points *points, firn_output *out)
{
    for (int64_t row = -1; row < points->count && !out->failed; row++) {
        bool first = true;
        for (int32_t k = 0; k < points->column_count; k++) {
            const firn_column *column = &points->column[k];
            for (int32_t a = 0; a < column->components; a++) {
                if (!first) firn_output_write(out, ",", 1);
                first = false;
                if (row < 0) {
                    write_heading(column, a, out);
                } else {
                    write_value(column, row * column->components + a, out);
                }
            }
        }
        firn_output_write(out, "\n", 1);
    }
}

static firn_status write_points(const firn_points *points, const firn_write_options *options,
                                firn_output *out, firn_error *error)
{
    (void)options;
    const firn_column *P = firn_points_find(points, "P");
    if (!P || P->components != 3) {
        return firn_fail(error, FIRN_INVALID, "CSV files need an attribute P of three components");
    }
    for (int32_t k = 0; k < points->column_count; k++) {
        for (const char *c = points->column[k].name; *c; c++) {
            if (!iscntrl((unsigned char)*c)) continue;
            return firn_fail(error, FIRN_INVALID,
                             "attribute %d has a name that is not text; leave it out", k + 1);
        }
    }
    const locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!plain) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    const locale_t before = uselocale(plain);
    write_table(points, out);
    uselocale(before);
    freelocale(plain);
    return FIRN_OK;
}

const firn_format firn_format_csv = {
    .name = "csv",
    .extensions = ".csv",
    .help = "a table as text, for spreadsheets and scripts",
    .read = read_points,
    .write = write_points,
};
