/* Reading JSON. What the bytes of the binary coding mean is in json_code.h. */
#include "io/json.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "io/json_code.h"

/* Bytes of a number with this code, or 0 when it is not a number's. */
static size_t code_size(uint8_t code)
{
    switch (code) {
    case CODE_I8:
    case CODE_U8: return 1;
    case CODE_I16:
    case CODE_U16:
    case CODE_F16: return 2;
    case CODE_I32:
    case CODE_F32: return 4;
    case CODE_I64:
    case CODE_F64: return 8;
    default: return 0;
    }
}

void firn_json_fail(firn_json *in, const char *format, ...)
{
    if (in->status != FIRN_OK) return;
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    in->status = firn_fail(in->error, FIRN_INVALID, "at byte %zu: %s", in->at, text);
}

bool firn_json_is_binary(const firn_bytes *bytes)
{
    if (bytes->size < 5 || bytes->data[0] != CODE_MAGIC) return false;
    uint32_t word;
    memcpy(&word, bytes->data + 1, sizeof word);
    return word == json_magic || word == __builtin_bswap32(json_magic);
}

void firn_json_open(firn_json *in, const firn_bytes *bytes, firn_error *error)
{
    *in = (firn_json){.data = bytes->data, .size = bytes->size, .error = error};
    if (firn_json_is_binary(bytes)) {
        uint32_t word;
        memcpy(&word, bytes->data + 1, sizeof word);
        in->binary = true;
        in->swapped = word != json_magic;
        in->at = 5;
    }
}

void firn_json_close(firn_json *in)
{
    free(in->token);
    in->token = NULL;
    in->token_count = 0;
}

/* The next bytes, or NULL when there are not so many. */
static const uint8_t *take(firn_json *in, size_t count)
{
    if (in->size - in->at < count) {
        firn_json_fail(in, "the file ends here, inside a value; it has been cut short");
        return NULL;
    }
    in->at += count;
    return in->data + in->at - count;
}

static void set_integer(firn_json *in, firn_json_kind kind, int64_t value)
{
    in->kind = kind;
    in->integer = value;
    in->real = (double)value;
}

static void set_real(firn_json *in, double value)
{
    in->kind = FIRN_JSON_REAL;
    in->integer = 0;
    in->real = value;
}

static void enter(firn_json *in, uint8_t close, bool map)
{
    if (in->depth == FIRN_JSON_DEPTH) {
        firn_json_fail(in, "more than %d arrays inside each other", FIRN_JSON_DEPTH);
        return;
    }
    in->level[in->depth].close = close;
    in->level[in->depth].map = map;
    in->level[in->depth].items = 0;
    in->depth++;
    in->kind = map ? FIRN_JSON_MAP : FIRN_JSON_ARRAY;
}

static void leave(firn_json *in)
{
    in->depth--;
    if (in->level[in->depth].map && in->level[in->depth].items % 2 != 0) {
        firn_json_fail(in, "a map ends after a key; a value was expected");
        return;
    }
    in->kind = FIRN_JSON_CLOSE;
}

/* Counts a value of the open array or map, after it was read. */
static void count_item(firn_json *in, int32_t depth)
{
    if (in->status != FIRN_OK || depth == 0) return;
    const int64_t item = in->level[depth - 1].items++;
    if (in->level[depth - 1].map && item % 2 == 0 && in->kind != FIRN_JSON_STRING) {
        firn_json_fail(in, "a map's key is not a string");
    }
}

/* ---- binary ---- */

static uint64_t load(firn_json *in, size_t bytes)
{
    const uint8_t *from = take(in, bytes);
    uint8_t raw[8] = {0};
    if (!from) return 0;
    for (size_t i = 0; i < bytes; i++) raw[in->swapped ? bytes - 1 - i : i] = from[i];
    if (bytes == 1) return raw[0];
    if (bytes == 2) {
        uint16_t value;
        memcpy(&value, raw, sizeof value);
        return value;
    }
    if (bytes == 4) {
        uint32_t value;
        memcpy(&value, raw, sizeof value);
        return value;
    }
    uint64_t value;
    memcpy(&value, raw, sizeof value);
    return value;
}

static size_t load_length(firn_json *in)
{
    const uint64_t first = load(in, 1);
    uint64_t length = first;
    if (first == LENGTH_16) length = load(in, 2);
    if (first == LENGTH_32) length = load(in, 4);
    if (first == LENGTH_64) length = load(in, 8);
    if (first >= 0xf1 && first != LENGTH_16 && first != LENGTH_32 && first != LENGTH_64) {
        firn_json_fail(in, "a length begins with 0x%02x, which means nothing", (unsigned)first);
    }
    /* Nothing in a file is longer than the file, except bits. */
    if (length / 8 > in->size) {
        firn_json_fail(in, "a length of %llu is more than the file holds",
                       (unsigned long long)length);
        return 0;
    }
    return in->status == FIRN_OK ? (size_t)length : 0;
}

static void load_string(firn_json *in)
{
    const size_t length = load_length(in);
    const uint8_t *from = take(in, length);
    if (!from) return;
    const size_t kept = length < sizeof in->text ? length : sizeof in->text - 1;
    memcpy(in->text, from, kept);
    in->text[kept] = 0;
    in->kind = FIRN_JSON_STRING;
}

static void load_token(firn_json *in)
{
    const size_t id = load_length(in);
    if (in->status != FIRN_OK) return;
    if (id >= in->token_count || in->token[id] == 0) {
        firn_json_fail(in, "token %zu is used before it is defined", id);
        return;
    }
    const size_t back = in->at;
    in->at = in->token[id] - 1;
    load_string(in);
    in->at = back;
}

static void define_token(firn_json *in)
{
    const size_t id = load_length(in);
    const size_t where = in->at;
    load_string(in);
    if (in->status != FIRN_OK) return;
    if (id >= in->token_count) {
        /* Writers count up from zero, so there are not more than bytes. */
        if (id > in->size) {
            firn_json_fail(in, "token number %zu is too large for the file", id);
            return;
        }
        const size_t room = id < 64 ? 128 : 2 * id;
        size_t *grown = realloc(in->token, room * sizeof *grown);
        if (!grown) {
            in->status = firn_fail(in->error, FIRN_NO_MEMORY, "out of memory for %zu tokens", room);
            return;
        }
        memset(grown + in->token_count, 0, (room - in->token_count) * sizeof *grown);
        in->token = grown;
        in->token_count = room;
    }
    in->token[id] = where + 1;
}

static void undefine_token(firn_json *in)
{
    const size_t id = load_length(in);
    if (id < in->token_count) in->token[id] = 0;
}

static void load_number(firn_json *in, uint8_t code)
{
    const uint64_t bits = load(in, code_size(code));
    switch (code) {
    case CODE_I8: set_integer(in, FIRN_JSON_INTEGER, (int8_t)bits); break;
    case CODE_I16: set_integer(in, FIRN_JSON_INTEGER, (int16_t)bits); break;
    case CODE_I32: set_integer(in, FIRN_JSON_INTEGER, (int32_t)bits); break;
    case CODE_I64:
    case CODE_U8:
    case CODE_U16: set_integer(in, FIRN_JSON_INTEGER, (int64_t)bits); break;
    case CODE_F16: set_real(in, (double)firn_half_to_float((uint16_t)bits)); break;
    case CODE_F32: {
        const uint32_t word = (uint32_t)bits;
        float value;
        memcpy(&value, &word, sizeof value);
        set_real(in, (double)value);
        break;
    }
    default: {
        double value;
        memcpy(&value, &bits, sizeof value);
        set_real(in, value);
        break;
    }
    }
}

static void open_uniform(firn_json *in)
{
    const uint8_t code = (uint8_t)load(in, 1);
    const size_t count = load_length(in);
    if (in->status != FIRN_OK) return;
    const size_t size = code_size(code);
    size_t needed = 0;
    if (size > 0) {
        needed = count <= in->size / size ? count * size : SIZE_MAX;
    } else if (code == CODE_BOOL) {
        needed = (count + 31) / 32 * 4;
    } else if (code == CODE_STRING || code == CODE_TOKEN) {
        needed = count;
    } else {
        firn_json_fail(in, "a uniform array of type 0x%02x, which is not known", code);
        return;
    }
    if (needed > in->size - in->at) {
        firn_json_fail(in, "an array of %zu values is longer than the rest of the file", count);
        return;
    }
    in->uniform = code;
    in->uniform_left = (int64_t)count;
    in->uniform_bits = 0;
    enter(in, 0, false);
}

static void next_of_uniform(firn_json *in)
{
    if (in->uniform_left == 0) {
        leave(in);
        return;
    }
    in->uniform_left--;
    switch (in->uniform) {
    case CODE_BOOL:
        if (in->uniform_bits == 0) {
            in->uniform_word = (uint32_t)load(in, 4);
            in->uniform_bits = 32;
        }
        set_integer(in, FIRN_JSON_BOOL, in->uniform_word & 1);
        in->uniform_word >>= 1;
        in->uniform_bits--;
        break;
    case CODE_STRING: load_string(in); break;
    case CODE_TOKEN: load_token(in); break;
    default: load_number(in, in->uniform); break;
    }
}

static void next_binary(firn_json *in)
{
    const int32_t depth = in->depth;
    if (depth > 0 && in->level[depth - 1].close == 0) {
        next_of_uniform(in);
        return;
    }
    uint8_t code = (uint8_t)load(in, 1);
    while (in->status == FIRN_OK) { /* what comes before a value */
        if (code == CODE_DEFINE) {
            define_token(in);
        } else if (code == CODE_UNDEFINE) {
            undefine_token(in);
        } else if (code != CODE_COMMA && code != CODE_COLON) {
            break;
        }
        code = (uint8_t)load(in, 1);
    }
    if (in->status != FIRN_OK) return;
    switch (code) {
    case ']':
    case '}':
        if (depth == 0 || in->level[depth - 1].close != code) {
            firn_json_fail(in, "'%c' closes what is not open", code);
        } else {
            leave(in);
        }
        return;
    case '[': enter(in, ']', false); break;
    case '{': enter(in, '}', true); break;
    case CODE_NULL: in->kind = FIRN_JSON_NULL; break;
    case CODE_BOOL: set_integer(in, FIRN_JSON_BOOL, load(in, 1) != 0); break;
    case CODE_FALSE: set_integer(in, FIRN_JSON_BOOL, 0); break;
    case CODE_TRUE: set_integer(in, FIRN_JSON_BOOL, 1); break;
    case CODE_STRING: load_string(in); break;
    case CODE_TOKEN: load_token(in); break;
    case CODE_UNIFORM: open_uniform(in); break;
    default:
        if (code_size(code) == 0) {
            firn_json_fail(in, "a value begins with 0x%02x, which means nothing", code);
            return;
        }
        load_number(in, code);
        break;
    }
    count_item(in, depth);
}

/* ---- text ---- */

static void skip_space(firn_json *in)
{
    while (in->at < in->size) {
        const uint8_t c = in->data[in->at];
        if (c != ' ' && c != '\n' && c != '\t' && c != '\r') break;
        in->at++;
    }
}

/* The code of four hexadecimal digits. */
static uint32_t parse_hexadecimal(firn_json *in)
{
    const uint8_t *digits = take(in, 4);
    uint32_t code = 0;
    for (int i = 0; digits && i < 4; i++) {
        const uint8_t c = digits[i];
        uint32_t digit = 16;
        if (c >= '0' && c <= '9') digit = (uint32_t)(c - '0');
        if (c >= 'a' && c <= 'f') digit = (uint32_t)(c - 'a') + 10;
        if (c >= 'A' && c <= 'F') digit = (uint32_t)(c - 'A') + 10;
        if (digit == 16) firn_json_fail(in, "\\u wants four hexadecimal digits");
        code = code << 4 | digit;
    }
    return code;
}

/* The text of an escape \uXXXX, or of two that are a pair, as UTF-8. Returns its length. */
static size_t parse_code_point(firn_json *in, char out[4])
{
    uint32_t code = parse_hexadecimal(in);
    if (code >= 0xd800 && code < 0xdc00 && in->size - in->at >= 6 && in->data[in->at] == '\\' &&
        in->data[in->at + 1] == 'u') {
        const size_t back = in->at;
        in->at += 2;
        const uint32_t low = parse_hexadecimal(in);
        if (low >= 0xdc00 && low < 0xe000) {
            code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        } else {
            in->at = back;
        }
    }
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xc0 | code >> 6);
        out[1] = (char)(0x80 | (code & 63));
        return 2;
    }
    if (code >= 0xd800 && code < 0xe000) { /* half of a pair */
        out[0] = '?';
        return 1;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xe0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 63));
        out[2] = (char)(0x80 | (code & 63));
        return 3;
    }
    out[0] = (char)(0xf0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 63));
    out[2] = (char)(0x80 | (code >> 6 & 63));
    out[3] = (char)(0x80 | (code & 63));
    return 4;
}

/* The next piece of a string, a byte or an escape. Returns its length, 0 at the quote that ends it. */
static size_t parse_piece(firn_json *in, char piece[4])
{
    static const char names[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    const uint8_t *c = take(in, 1);
    if (!c || *c == '"') return 0;
    piece[0] = (char)*c;
    if (*c != '\\') return 1;
    const uint8_t *name = take(in, 1);
    if (!name) return 0;
    const char *found = *name ? strchr(names, *name) : NULL;
    if (*name == 'u') return parse_code_point(in, piece);
    if (found) {
        piece[0] = meanings[found - names];
    } else {
        firn_json_fail(in, "'\\%c' in a string means nothing", *name);
    }
    return 1;
}

static void parse_string(firn_json *in)
{
    char piece[4];
    size_t length = 0, count;
    in->at++; /* the quote */
    in->text_at = in->at;
    while ((count = parse_piece(in, piece)) > 0 && in->status == FIRN_OK) {
        for (size_t i = 0; i < count; i++) {
            if (length + 1 < sizeof in->text) in->text[length++] = piece[i];
        }
    }
    if (in->status != FIRN_OK) return;
    in->text[length] = 0;
    in->kind = FIRN_JSON_STRING;
}

char *firn_json_whole_text(firn_json *in, size_t *size)
{
    if (in->status != FIRN_OK || in->binary || in->kind != FIRN_JSON_STRING) return NULL;
    const size_t end = in->at;
    char *text = malloc(end - in->text_at + 1),
         piece[4]; /* escapes are longer than what they mean */
    if (!text) {
        in->status = firn_fail(in->error, FIRN_NO_MEMORY, "out of memory for a text");
        return NULL;
    }
    size_t length = 0, count;
    in->at = in->text_at;
    while ((count = parse_piece(in, piece)) > 0) {
        memcpy(text + length, piece, count);
        length += count;
    }
    text[length] = 0;
    in->at = end;
    if (size) *size = length;
    return text;
}

/* A number, or one of the words. Not-a-number and infinities are written as C writes them. */
static void parse_word(firn_json *in)
{
    char word[64];
    size_t length = 0;
    bool whole = true; /* digits and a sign only */
    const size_t start = in->at;
    while (in->at < in->size) {
        const uint8_t c = in->data[in->at];
        const bool digit = (c >= '0' && c <= '9') || c == '-' || c == '+';
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.';
        if ((!digit && !letter) || length + 1 == sizeof word) break;
        whole = whole && digit;
        word[length++] = (char)c;
        in->at++;
    }
    word[length] = 0;
    char *end = word;
    if (strcmp(word, "true") == 0) {
        set_integer(in, FIRN_JSON_BOOL, 1);
        return;
    }
    if (strcmp(word, "false") == 0) {
        set_integer(in, FIRN_JSON_BOOL, 0);
        return;
    }
    if (strcmp(word, "null") == 0) {
        in->kind = FIRN_JSON_NULL;
        return;
    }
    if (whole && strcmp(word, "-0") != 0) { /* minus zero is real */
        errno = 0;
        const long long value = strtoll(word, &end, 10);
        if (errno == 0 && *end == 0 && length > 0) {
            set_integer(in, FIRN_JSON_INTEGER, value);
            return;
        }
    }
    const double value = strtod(word, &end);
    if (length == 0 || *end != 0 || strpbrk(word, "xX")) {
        in->at = start;
        if (length == 0 && start < in->size) {
            firn_json_fail(in, "'%c' where a value was expected", in->data[start]);
        } else if (length == 0) {
            firn_json_fail(in, "the file ends where a value was expected");
        } else {
            firn_json_fail(in, "'%s' is not a number", word);
        }
        return;
    }
    set_real(in, value);
}

static void next_text(firn_json *in)
{
    const int32_t depth = in->depth;
    skip_space(in);
    if (depth > 0) {
        const int64_t items = in->level[depth - 1].items;
        const bool map = in->level[depth - 1].map;
        const uint8_t *c = take(in, 1);
        if (!c) return;
        if (*c == in->level[depth - 1].close) {
            leave(in);
            return;
        }
        const char separator = map && items % 2 != 0 ? ':' : ',';
        if (items == 0) {
            in->at--;
        } else if (*c != separator) {
            in->at--;
            firn_json_fail(in, "'%c' where '%c' was expected", *c, separator);
            return;
        }
        skip_space(in);
    }
    const uint8_t c = in->at < in->size ? in->data[in->at] : 0;
    if (c == '[' || c == '{') {
        in->at++;
        enter(in, c == '[' ? ']' : '}', c == '{');
    } else if (c == '"') {
        parse_string(in);
    } else {
        parse_word(in);
    }
    count_item(in, depth);
}

/* ---- both ---- */

firn_json_kind firn_json_next(firn_json *in)
{
    if (in->status == FIRN_OK) {
        if (in->binary) {
            next_binary(in);
        } else {
            next_text(in);
        }
    }
    if (in->status != FIRN_OK) in->kind = FIRN_JSON_FAILED;
    return in->kind;
}

void firn_json_expect(firn_json *in, firn_json_kind kind, const char *what)
{
    static const char *const name[] = {"nothing",    "null",   "true or false",
                                       "an integer", "a real", "a string",
                                       "an array",   "a map",  "the end"};
    firn_json_next(in);
    if (in->kind == kind || in->kind == FIRN_JSON_FAILED) return;
    firn_json_fail(in, "%s is %s; %s was expected", what, name[in->kind], name[kind]);
    in->kind = FIRN_JSON_FAILED;
}

bool firn_json_key(firn_json *in)
{
    firn_json_next(in);
    if (in->kind == FIRN_JSON_STRING) return true;
    if (in->kind != FIRN_JSON_CLOSE) firn_json_fail(in, "a key was expected");
    return false;
}

void firn_json_leave(firn_json *in)
{
    const int32_t depth = in->depth;
    while (in->depth >= depth && in->status == FIRN_OK) {
        const size_t size = code_size(in->uniform);
        if (in->level[in->depth - 1].close == 0 && size > 0) { /* checked when it was opened */
            in->at += (size_t)in->uniform_left * size;
            in->uniform_left = 0;
        }
        firn_json_next(in);
    }
}

void firn_json_skip(firn_json *in)
{
    firn_json_next(in);
    if (in->kind == FIRN_JSON_ARRAY || in->kind == FIRN_JSON_MAP) {
        firn_json_leave(in);
    } else if (in->kind == FIRN_JSON_CLOSE) {
        firn_json_fail(in, "a value was expected");
    }
}

void firn_json_promise(firn_json *in, int64_t count)
{
    if (in->status != FIRN_OK) return;
    const bool uniform = in->depth > 0 && in->level[in->depth - 1].close == 0;
    if (uniform && in->uniform_left != count) {
        firn_json_fail(in, "an array of %lld values; %lld were expected",
                       (long long)in->uniform_left, (long long)count);
    } else if (!uniform && (uint64_t)count > in->size - in->at) { /* each takes a byte at least */
        firn_json_fail(in, "%lld values cannot be in the %zu bytes that are left", (long long)count,
                       in->size - in->at);
    }
}

void firn_json_numbers(firn_json *in, firn_type type, void *data, int64_t count)
{
    if (in->status != FIRN_OK || count == 0) return;
    if (in->depth > 0 && in->level[in->depth - 1].close == 0 && !in->swapped &&
        in->uniform == json_code_of[type] && in->uniform_left >= count) {
        const size_t bytes = (size_t)count * firn_type_size(type);
        memcpy(data, in->data + in->at, bytes);
        in->at += bytes;
        in->uniform_left -= count;
        return;
    }
    for (int64_t i = 0; i < count; i++) {
        switch (firn_json_next(in)) {
        case FIRN_JSON_INTEGER:
        case FIRN_JSON_BOOL:
        case FIRN_JSON_REAL: break;
        case FIRN_JSON_FAILED: return;
        case FIRN_JSON_CLOSE:
            firn_json_fail(in, "an array ends too early; %lld more values were expected",
                           (long long)(count - i));
            return;
        default: firn_json_fail(in, "a number was expected"); return;
        }
        if (type == FIRN_TYPE_i64 && in->kind == FIRN_JSON_INTEGER) { /* may not fit a double */
            ((int64_t *)data)[i] = in->integer;
        } else {
            firn_type_set(type, data, i, in->real);
        }
    }
}
