/* Rows of the table for Houdini's points: .geo is text, .bgeo is bytes. What a file holds is
 * told by its first bytes, never by its name: Houdini itself writes either form under either
 * name. */
#include "io/geo.h"

#include <stdlib.h>
#include <string.h>
#define ZLIB_CONST /* inputs are const */
#include <zlib.h>

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

/* ---- gzip ---- */

/* Deflate makes at most 1032 bytes of one. */
enum { GZIP_RATIO = 1032 };

/* Opens up to `limit` bytes; a file may be several gzip files one after the other. */
static firn_status gunzip(const firn_bytes *in, size_t limit, firn_bytes *out, firn_error *error)
{
    *out = (firn_bytes){0};
    const size_t most = in->size < limit / GZIP_RATIO ? in->size * GZIP_RATIO : limit;
    size_t room = in->size < most / 4 ? 4 * in->size : most;
    z_stream z = {0};
    if (inflateInit2(&z, 15 + 16) != Z_OK) {
        return firn_fail(error, FIRN_NO_MEMORY, "out of memory for gzip");
    }
    firn_status st = FIRN_OK;
    size_t used = 0;
    int result = Z_OK;
    out->data = malloc(room + 1);
    if (!out->data) st = firn_fail(error, FIRN_NO_MEMORY, "out of memory for %zu bytes", room);
    while (st == FIRN_OK && out->size < most) {
        if (out->size == room) {
            room = room < most / 2 ? 2 * room : most;
            st = firn_check_unpacked((double)room, error);
            uint8_t *grown = st == FIRN_OK ? realloc(out->data, room + 1) : NULL;
            if (st == FIRN_OK && !grown) {
                st = firn_fail(error, FIRN_NO_MEMORY, "out of memory for %zu bytes", room);
            }
            if (st != FIRN_OK) break;
            out->data = grown;
        }
        const size_t give = in->size - used < INT32_MAX ? in->size - used : INT32_MAX;
        const size_t get = room - out->size < INT32_MAX ? room - out->size : INT32_MAX;
        z.next_in = in->data + used;
        z.avail_in = (uInt)give;
        z.next_out = out->data + out->size;
        z.avail_out = (uInt)get;
        result = inflate(&z, Z_NO_FLUSH);
        used += give - z.avail_in;
        out->size += get - z.avail_out;
        if (result == Z_STREAM_END) {
            if (used == in->size) break;
            if (inflateReset(&z) != Z_OK) break;
        } else if (result != Z_OK) {
            break;
        }
    }
    inflateEnd(&z);
    if (st == FIRN_OK && result != Z_STREAM_END && out->size < limit) {
        st = firn_fail(error, FIRN_INVALID,
                       "at byte %zu: gzip data is broken or has been cut short", used);
    }
    if (st != FIRN_OK) firn_bytes_free(out);
    return st;
}

/* A sink that compresses into an output. */
typedef struct gzip {
    firn_output *out;
    z_stream z;
    bool failed;
} gzip;

static void gzip_flush(gzip *to, const void *data, size_t size, int flush)
{
    uint8_t buffer[1 << 14];
    const uint8_t *from = data;
    do {
        const size_t give = size < INT32_MAX ? size : INT32_MAX;
        to->z.next_in = from;
        to->z.avail_in = (uInt)give;
        do {
            to->z.next_out = buffer;
            to->z.avail_out = sizeof buffer;
            if (deflate(&to->z, size > give ? Z_NO_FLUSH : flush) == Z_STREAM_ERROR) {
                to->failed = true;
                return;
            }
            firn_output_write(to->out, buffer, sizeof buffer - to->z.avail_out);
        } while (to->z.avail_out == 0);
        from += give;
        size -= give;
    } while (size > 0);
}

static void gzip_put(void *context, const void *data, size_t size)
{
    if (size > 0) gzip_flush(context, data, size, Z_NO_FLUSH);
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
    firn_status st = outer == GZIP ? gunzip(in, SIZE_MAX / 2, &inner, error)
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
    if (gunzip(in, 256, &head, NULL) != FIRN_OK) return UNKNOWN;
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
    gzip to = {.out = out};
    const int level = options->level > 0 && options->level <= 9 ? options->level : 6;
    if (deflateInit2(&to.z, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
        return firn_fail(error, FIRN_NO_MEMORY, "out of memory for gzip");
    }
    const firn_sink sink = {gzip_put, &to};
    firn_status st = firn_geo_write(points, options, binary, &sink, error);
    if (st == FIRN_OK) gzip_flush(&to, "", 0, Z_FINISH);
    deflateEnd(&to.z);
    if (st == FIRN_OK && to.failed) st = firn_fail(error, FIRN_OUTPUT, "gzip failed");
    return st;
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
