/* Houdini's points inside of gzip. */
#include <stdlib.h>
#define ZLIB_CONST /* inputs are const */
#include <zlib.h>

#include "base/error.h"
#include "io/geo.h"

/* Deflate makes at most 1032 bytes of one. */
enum { GZIP_RATIO = 1032 };

firn_status firn_gunzip(const firn_bytes *in, size_t limit, firn_bytes *out, firn_error *error)
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

firn_status firn_geo_write_gzip(const firn_points *points, const firn_write_options *options,
                                bool binary, firn_output *out, firn_error *error)
{
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
