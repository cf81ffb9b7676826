/* Rows of the table for Houdini's points: .geo is text, .bgeo is bytes. What a file holds is
 * told by its first bytes, never by its name: Houdini itself writes either form under either
 * name. */
#include "io/geo.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

typedef enum form { UNKNOWN, TEXT, BINARY, CLASSIC_TEXT, CLASSIC_BINARY, GZIP, BLOCKS } form;

static bool begins(const firn_bytes *in, const char *text)
{
    const size_t length = strlen(text);
    return in->size >= length && memcmp(in->data, text, length) == 0;
}

/* JSON that is an array whose first value is a string. */
static bool is_modern_text(const firn_bytes *in)
{
    int brackets = 0;
    for (size_t i = 0; i < in->size; i++) {
        switch (in->data[i]) {
        case ' ':
        case '\n':
        case '\r':
        case '\t': continue;
        case '[':
            if (brackets++ > 0) return false;
            continue;
        case '"': return brackets == 1;
        default: return false;
        }
    }
    return false;
}

static form form_of(const firn_bytes *in)
{
    if (is_modern_text(in)) return TEXT;
    if (firn_json_is_binary(in)) return BINARY;
    if (begins(in, "PGEOMETRY")) return CLASSIC_TEXT;
    if (begins(in, "BgeoV")) return CLASSIC_BINARY;
    if (begins(in, "\x1f\x8b")) return GZIP;
    if (begins(in, "scf1")) return BLOCKS;
    return UNKNOWN;
}

/* ---- any form ---- */

static firn_status read_plain(const firn_bytes *in, firn_points *out, firn_error *error)
{
    switch (form_of(in)) {
    case TEXT:
    case BINARY: return firn_geo_modern_read(in, out, error);
    case CLASSIC_TEXT:
    case CLASSIC_BINARY: return firn_geo_classic_read(in, out, error);
    case GZIP:
    case BLOCKS:
        return firn_fail(error, FIRN_INVALID, "compressed twice; uncompress the file once");
    case UNKNOWN: break;
    }
    return firn_fail(error, FIRN_INVALID,
                     "at byte 0: none of the ways a Houdini geometry file begins");
}

firn_status firn_geo_read(const firn_bytes *in, firn_points *out, firn_error *error)
{
    const form outer = form_of(in);
    if (outer != GZIP && outer != BLOCKS) return read_plain(in, out, error);
    firn_bytes inner;
    firn_status st = outer == GZIP ? firn_gunzip(in, SIZE_MAX / 2, &inner, error)
                                   : firn_scf_unpack(in, &inner, error);
    if (st == FIRN_OK) st = read_plain(&inner, out, error);
    firn_bytes_free(&inner);
    return st;
}

firn_status firn_geo_write(const firn_points *points, const firn_write_options *options,
                           bool binary, const firn_sink *sink, firn_error *error)
{
    if (options->classic) return firn_geo_classic_write(points, binary, sink, error);
    return firn_geo_modern_write(points, options, binary, sink, error);
}

const firn_column *firn_geo_position(const firn_points *points, firn_error *error)
{
    const firn_column *position = firn_points_find(points, "P");
    if (position && position->components == 3 && firn_geo_is_float(position->type)) return position;
    firn_fail(error, FIRN_INVALID, "points need an attribute P of 3 floats");
    return NULL;
}

bool firn_geo_is_float(firn_type type)
{
    return type == FIRN_TYPE_f16 || type == FIRN_TYPE_f32 || type == FIRN_TYPE_f64;
}

bool firn_geo_within(const firn_column *column, int64_t points, int64_t low, int64_t high)
{
    for (int64_t i = 0; i < points * column->components; i++) {
        int64_t value;
        if (column->type == FIRN_TYPE_u64) {
            const uint64_t unsigned_value = ((const uint64_t *)column->data)[i];
            if (unsigned_value > INT64_MAX) return false;
            value = (int64_t)unsigned_value;
        } else if (column->type == FIRN_TYPE_i64) {
            value = ((const int64_t *)column->data)[i];
        } else { /* exact in a double */
            value = (int64_t)firn_type_get(column->type, column->data, i);
        }
        if (value < low || value > high) return false;
    }
    return true;
}

/* ---- rows ---- */

/* The form inside of gzip, as far as its first bytes tell. */
static form inner_form(const firn_bytes *in)
{
    const form outer = form_of(in);
    if (outer != GZIP) return outer;
    firn_bytes head;
    if (firn_gunzip(in, 256, &head, NULL) != FIRN_OK) return UNKNOWN;
    const form inner = form_of(&head);
    firn_bytes_free(&head);
    return inner;
}

static bool recognise_text(const firn_bytes *in)
{
    const form found = inner_form(in);
    return found == TEXT || found == CLASSIC_TEXT;
}

static bool recognise_binary(const firn_bytes *in)
{
    const form found = inner_form(in);
    return found == BINARY || found == CLASSIC_BINARY;
}

static void output_put(void *context, const void *data, size_t size)
{
    firn_output_write(context, data, size);
}

static firn_status write_form(const firn_points *points, const firn_write_options *options,
                              bool binary, firn_output *out, firn_error *error)
{
    const size_t length = strlen(out->path);
    const char *end = length > 3 ? out->path + length - 3 : "";
    if (strcmp(end, ".gz") != 0 && strcmp(end, ".GZ") != 0) {
        const firn_sink sink = {output_put, out};
        return firn_geo_write(points, options, binary, &sink, error);
    }
    return firn_geo_write_gzip(points, options, binary, out, error);
}

static firn_status write_text(const firn_points *points, const firn_write_options *options,
                              firn_output *out, firn_error *error)
{
    return write_form(points, options, false, out, error);
}

static firn_status write_binary(const firn_points *points, const firn_write_options *options,
                                firn_output *out, firn_error *error)
{
    return write_form(points, options, true, out, error);
}

const firn_format firn_format_geo = {
    .name = "geo",
    .extensions = ".geo .geo.gz",
    .help = "Houdini points, text",
    .recognise = recognise_text,
    .read = firn_geo_read,
    .write = write_text,
};

const firn_format firn_format_bgeo = {
    .name = "bgeo",
    .extensions = ".bgeo .bgeo.gz",
    .help = "Houdini points, binary",
    .recognise = recognise_binary,
    .read = firn_geo_read,
    .write = write_binary,
};
