/* Reading PNG (ISO/IEC 15948) over zlib: one stream of filtered rows. */
#include "io/png.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/error.h"
#include "io/io.h"

static const uint8_t signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};

static uint32_t get32(const uint8_t *from)
{
    return (uint32_t)from[0] << 24 | (uint32_t)from[1] << 16 | (uint32_t)from[2] << 8 | from[3];
}

/* The neighbour (left, above, above left) nearest to left + above - above left. */
static uint8_t paeth(int a, int b, int c)
{
    const int pa = abs(b - c), pb = abs(a - c), pc = abs(a + b - 2 * c);
    return (uint8_t)(pa <= pb && pa <= pc ? a : pb <= pc ? b : c);
}

/* What a filter subtracts from byte i of a row. `step` is the bytes of a pixel. */
uint8_t firn_png_predict(int filter, const uint8_t *row, const uint8_t *above, size_t i,
                         size_t step)
{
    const int a = i >= step ? row[i - step] : 0, b = above[i], c = i >= step ? above[i - step] : 0;
    switch (filter) {
    case 1: return (uint8_t)a;
    case 2: return (uint8_t)b;
    case 3: return (uint8_t)((a + b) / 2);
    case 4: return paeth(a, b, c);
    default: return 0;
    }
}

static firn_status read_header(const firn_bytes *in, const char *path, firn_png *out,
                               firn_error *error)
{
    static const int channels_of[7] = {1, 0, 3, 0, 2, 0, 4}; /* by colour type */
    if (in->size < 33 || memcmp(in->data, signature, sizeof signature) != 0 ||
        memcmp(in->data + 12, "IHDR", 4) != 0) {
        return firn_fail(error, FIRN_INVALID, "%s: is not a PNG file", path);
    }
    const uint8_t *h = in->data + 16;
    const uint32_t width = get32(h), height = get32(h + 4);
    if (!width || !height || width > FIRN_PNG_MOST || height > FIRN_PNG_MOST) {
        return firn_fail(error, FIRN_INVALID, "%s: %u x %u pixels; each side must be 1 to %d", path,
                         width, height, FIRN_PNG_MOST);
    }
    if ((h[8] != 8 && h[8] != 16) || h[9] > 6 || !channels_of[h[9]] || h[12]) {
        return firn_fail(
            error, FIRN_INVALID,
            "%s: PNG with palette, interlacing or %d bits; grey or RGB of 8 or 16 bits "
            "can be read",
            path, h[8]);
    }
    *out = (firn_png){(int32_t)width, (int32_t)height, h[8], channels_of[h[9]], NULL};
    return FIRN_OK;
}

/* The rows out of all IDAT chunks. */
static bool inflate_rows(const firn_bytes *in, uint8_t *rows, size_t size)
{
    z_stream z = {0};
    if (inflateInit(&z) != Z_OK) return false;
    z.next_out = rows;
    int code = Z_OK;
    size_t left = size;
    for (size_t at = 8; at + 12 <= in->size && code == Z_OK;) {
        const size_t length = get32(in->data + at);
        if (length > in->size - at - 12) break;
        if (memcmp(in->data + at + 4, "IDAT", 4) == 0 && length) {
            z.next_in = in->data + at + 8;
            z.avail_in = (uInt)length;
            while (code == Z_OK && z.avail_in && left) {
                const uInt part = left < 1u << 30 ? (uInt)left : 1u << 30;
                z.avail_out = part;
                code = inflate(&z, Z_NO_FLUSH);
                left -= part - z.avail_out;
            }
        }
        at += length + 12;
    }
    inflateEnd(&z);
    return left == 0;
}

static firn_status decode(const firn_bytes *in, const char *path, firn_png *out, firn_error *error)
{
    firn_status st = read_header(in, path, out, error);
    if (st != FIRN_OK) return st;
    const size_t step = (size_t)(out->channels * out->bits / 8), size = step * (size_t)out->width;
    const size_t all = (size + 1) * (size_t)out->height;
    firn_error inner = {0};
    st = firn_check_unpacked((double)all + 16.0 * out->width * out->height, &inner); /* as floats */
    if (st != FIRN_OK) return firn_fail(error, st, "%s: %s", path, inner.message);
    /* Deflate makes at most 1032 bytes of one: what claims more is refused before memory is taken. */
    uint8_t *rows = all / 1032 <= in->size ? malloc(all) : NULL, *above = calloc(size, 1);
    if (!above || (!rows && all / 1032 <= in->size)) {
        st = firn_fail(error, FIRN_NO_MEMORY, "%s: out of memory", path);
    } else if (!rows || !inflate_rows(in, rows, all)) {
        st = firn_fail(error, FIRN_INVALID, "%s: the PNG file is damaged or cut off", path);
    }
    for (size_t y = 0; y < (size_t)out->height && st == FIRN_OK; y++) {
        uint8_t *row = rows + y * (size + 1) + 1;
        const uint8_t *before = y ? row - size - 1 : above;
        for (size_t i = 0; i < size; i++) {
            row[i] = (uint8_t)(row[i] + firn_png_predict(row[-1], row, before, i, step));
        }
    }
    for (size_t y = 0; y < (size_t)out->height && st == FIRN_OK; y++) { /* without their filters */
        memmove(rows + y * size, rows + y * (size + 1) + 1, size);
    }
    free(above);
    if (st == FIRN_OK) {
        out->data = rows;
    } else {
        free(rows);
    }
    return st;
}

firn_status firn_png_read(const char *path, firn_png *out, firn_error *error)
{
    *out = (firn_png){0};
    firn_bytes in;
    firn_status st = firn_bytes_read(path, &in, error);
    if (st == FIRN_OK) st = decode(&in, path, out, error);
    firn_bytes_free(&in);
    return st;
}
