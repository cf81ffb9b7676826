/* Writing JSON. Numbers are in the byte order of the machine, and the first bytes say which. */
#include "io/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/json_code.h"

static void put(firn_json_writer *out, const void *data, size_t size)
{
    out->sink->put(out->sink->context, data, size);
}

static void put_code(firn_json_writer *out, uint8_t code) { put(out, &code, 1); }

static void separate(firn_json_writer *out)
{
    if (!out->binary && out->before) put(out, &out->before, 1);
    out->before = ',';
}

static void put_length(firn_json_writer *out, uint64_t length)
{
    const uint8_t byte = (uint8_t)length;
    const uint16_t two = (uint16_t)length;
    const uint32_t four = (uint32_t)length;
    if (length < 0xf1) {
        put(out, &byte, sizeof byte);
    } else if (length <= UINT16_MAX) {
        put_code(out, LENGTH_16);
        put(out, &two, sizeof two);
    } else if (length <= UINT32_MAX) {
        put_code(out, LENGTH_32);
        put(out, &four, sizeof four);
    } else {
        put_code(out, LENGTH_64);
        put(out, &length, sizeof length);
    }
}

void firn_json_begin(firn_json_writer *out, const firn_sink *sink, bool binary)
{
    *out = (firn_json_writer){.sink = sink, .binary = binary};
    if (binary) {
        put_code(out, CODE_MAGIC);
        put(out, &json_magic, sizeof json_magic);
    }
}

void firn_json_put_open(firn_json_writer *out, char bracket)
{
    separate(out);
    put(out, &bracket, 1);
    out->before = 0;
}

void firn_json_put_close(firn_json_writer *out, char bracket)
{
    put(out, &bracket, 1);
    out->before = ',';
}

void firn_json_put_key(firn_json_writer *out, const char *key)
{
    firn_json_put_string(out, key);
    out->before = ':';
}

/* Houdini defines every string as a token when it first comes. So do we, while there is room. */
static void put_token(firn_json_writer *out, const char *text)
{
    int32_t id = 0;
    while (id < out->token_count && strcmp(out->token[id], text) != 0) id++;
    if (id == FIRN_JSON_TOKENS) {
        put_code(out, CODE_STRING);
        put_length(out, strlen(text));
        put(out, text, strlen(text));
        return;
    }
    if (id == out->token_count) {
        out->token[out->token_count++] = text;
        put_code(out, CODE_DEFINE);
        put_length(out, (uint64_t)id);
        put_length(out, strlen(text));
        put(out, text, strlen(text));
    }
    put_code(out, CODE_TOKEN);
    put_length(out, (uint64_t)id);
}

void firn_json_put_string(firn_json_writer *out, const char *text)
{
    separate(out);
    if (out->binary) {
        put_token(out, text);
        return;
    }
    put(out, "\"", 1);
    for (const char *c = text; *c; c++) {
        char escape[8];
        if (*c == '"' || *c == '\\') {
            put(out, escape, (size_t)snprintf(escape, sizeof escape, "\\%c", *c));
        } else if (*c > 0 && *c < ' ') {
            put(out, escape, (size_t)snprintf(escape, sizeof escape, "\\u%04x", (unsigned)*c));
        } else {
            put(out, c, 1);
        }
    }
    put(out, "\"", 1);
}

void firn_json_put_bool(firn_json_writer *out, bool value)
{
    separate(out);
    if (out->binary) {
        put_code(out, value ? CODE_TRUE : CODE_FALSE);
    } else {
        put(out, value ? "true" : "false", value ? 4 : 5);
    }
}

void firn_json_put_integer(firn_json_writer *out, int64_t value)
{
    separate(out);
    if (!out->binary) {
        char text[32];
        put(out, text, (size_t)snprintf(text, sizeof text, "%lld", (long long)value));
        return;
    }
    const int8_t one = (int8_t)value;
    const int16_t two = (int16_t)value;
    const int32_t four = (int32_t)value;
    if (value == one) {
        put_code(out, CODE_I8);
        put(out, &one, sizeof one);
    } else if (value == two) {
        put_code(out, CODE_I16);
        put(out, &two, sizeof two);
    } else if (value == four) {
        put_code(out, CODE_I32);
        put(out, &four, sizeof four);
    } else {
        put_code(out, CODE_I64);
        put(out, &value, sizeof value);
    }
}

int firn_real_print(char text[32], firn_type type, double value)
{
    static const int fewest[] = {[FIRN_TYPE_f16] = 3, [FIRN_TYPE_f32] = 6, [FIRN_TYPE_f64] = 15};
    static const int most[] = {[FIRN_TYPE_f16] = 5, [FIRN_TYPE_f32] = 9, [FIRN_TYPE_f64] = 17};
    int length = 0;
    for (int digits = fewest[type]; digits <= most[type]; digits++) {
        length = snprintf(text, 32, "%.*g", digits, value);
        const double back = strtod(text, NULL);
        if (type == FIRN_TYPE_f64 && back == value) break;
        if (type == FIRN_TYPE_f32 && (float)back == (float)value) break;
        if (type == FIRN_TYPE_f16 &&
            firn_half_from_float((float)back) == firn_half_from_float((float)value)) {
            break;
        }
        if (isnan(value)) break;
    }
    return length;
}

void firn_json_put_real(firn_json_writer *out, firn_type type, double value)
{
    separate(out);
    if (out->binary) {
        put_code(out, CODE_F64);
        put(out, &value, sizeof value);
    } else {
        char text[32];
        put(out, text, (size_t)firn_real_print(text, type, value));
    }
}

void firn_json_put_line(firn_json_writer *out)
{
    if (out->binary) return;
    if (out->before) put(out, &out->before, 1);
    put(out, "\n", 1);
    out->before = 0;
}

void firn_json_put_uniform(firn_json_writer *out, firn_type type, int64_t count)
{
    put_code(out, CODE_UNIFORM);
    put_code(out, json_code_of[type]);
    put_length(out, (uint64_t)count);
}
