/* Feeds bytes to the reader of every particle format: none may crash, or take more memory than the
 * bytes can stand for. */
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "io/io.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile double seen;

/* Every value is looked at, so that one outside its array shows. */
static void look(const firn_points *points)
{
    for (int32_t k = 0; k < points->column_count; k++) {
        const firn_column *c = &points->column[k];
        for (int64_t i = 0; i < points->count * c->components; i++) {
            seen += firn_type_get(c->type, c->data, i);
        }
    }
}

static void feed(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size + (size == 0));
    if (!copy) abort();
    memcpy(copy, data, size);
    const firn_bytes in = {copy, size};
    for (int i = 0; firn_formats[i]; i++) {
        if (!firn_formats[i]->read) continue;
        firn_points points = {0};
        firn_error error = {0};
        const firn_status st = firn_formats[i]->read(&in, &points, &error);
        if (st == FIRN_OK) look(&points);
        if (st != FIRN_OK && error.message[0] == '\0') abort();
        firn_points_free(&points);
    }
    free(copy);
}

/* Where a PRT file's stream begins, or 0 when it is none. */
static size_t prt_stream(const uint8_t *data, size_t size)
{
    int32_t header = 0, channels = 0, each = 0;
    if (size < 56 || memcmp(data, "\xc0PRT\r\n\x1a\n", 8) != 0) return 0;
    memcpy(&header, data + 8, 4);
    if (header < 56 || (size_t)header > size - 12) return 0;
    memcpy(&channels, data + header + 4, 4);
    memcpy(&each, data + header + 8, 4);
    if (channels < 0 || channels > 64 || each < 0 || each > 256) return 0;
    const size_t stream = (size_t)header + 12 + (size_t)channels * (size_t)each;
    return stream <= size ? stream : 0;
}

/* Mutation seldom leaves a stream and its checksum whole. So what stands in a PRT file's place for
 * it is also taken for records, and compressed. */
static void feed_records(const uint8_t *data, size_t size, size_t stream)
{
    uLongf packed = compressBound(size - stream);
    uint8_t *file = malloc(stream + packed);
    if (!file) abort();
    memcpy(file, data, stream);
    if (compress2(file + stream, &packed, data + stream, size - stream, 1) != Z_OK) abort();
    feed(file, stream + packed);
    free(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    feed(data, size);
    const size_t stream = prt_stream(data, size);
    if (stream > 0) feed_records(data, size, stream);
    return 0;
}
