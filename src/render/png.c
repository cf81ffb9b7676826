/* PNG (ISO/IEC 15948) over zlib: a header, one stream of filtered rows, an end. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/error.h"
#include "io/io.h"
#include "render/image.h"

static const uint8_t signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};

static void put32(uint8_t *to, uint32_t v)
{
    for (int i = 0; i < 4; i++) to[i] = (uint8_t)(v >> (24 - 8 * i));
}

static uint32_t get32(const uint8_t *from)
{
    return (uint32_t)from[0] << 24 | (uint32_t)from[1] << 16 | (uint32_t)from[2] << 8 | from[3];
}

static void write_chunk(firn_output *out, const char type[5], const uint8_t *data, uint32_t size)
{
    uint8_t head[8], tail[4];
    put32(head, size);
    memcpy(head + 4, type, 4);
    uLong sum = crc32(0, head + 4, 4);
    if (size) sum = crc32(sum, data, size);
    put32(tail, (uint32_t)sum);
    firn_output_write(out, head, sizeof head);
    firn_output_write(out, data, size);
    firn_output_write(out, tail, sizeof tail);
}

/* The neighbour (left, above, above left) nearest to left + above - above left. */
static uint8_t paeth(int a, int b, int c)
{
    const int pa = abs(b - c), pb = abs(a - c), pc = abs(a + b - 2 * c);
    return (uint8_t)(pa <= pb && pa <= pc ? a : pb <= pc ? b : c);
}

/* What a filter subtracts from byte i of a row. `step` is the bytes of a pixel. */
static uint8_t predict(int filter, const uint8_t *row, const uint8_t *above, size_t i, size_t step)
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

/* The filtered row with its filter's number before it: of all five the one whose bytes, taken as
 * signed, are smallest. */
static void filter_row(const uint8_t *row, const uint8_t *above, size_t size, size_t step,
                       uint8_t *out)
{
    uint64_t least = UINT64_MAX;
    int best = 0;
    for (int f = 0; f < 5; f++) {
        uint64_t sum = 0;
        for (size_t i = 0; i < size; i++) {
            sum += (uint64_t)abs((int8_t)(uint8_t)(row[i] - predict(f, row, above, i, step)));
        }
        if (sum < least) {
            least = sum;
            best = f;
        }
    }
    out[0] = (uint8_t)best;
    for (size_t i = 0; i < size; i++) {
        out[1 + i] = (uint8_t)(row[i] - predict(best, row, above, i, step));
    }
}

static bool has_alpha(const firn_image *image)
{
    const size_t count = (size_t)image->width * (size_t)image->height;
    for (size_t i = 0; i < count; i++) {
        if (image->rgba[4 * i + 3] < 1) return true;
    }
    return false;
}

firn_status firn_image_write_png(const char *path, const firn_image *image, int bits,
                                 firn_error *error)
{
    if (bits != 8 && bits != 16) {
        return firn_fail(error, FIRN_INVALID, "%s: PNG of %d bits; 8 or 16 can be written", path,
                         bits);
    }
    const int channels = has_alpha(image) ? 4 : 3;
    const size_t step = (size_t)(channels * bits / 8), height = (size_t)image->height;
    const size_t size = step * (size_t)image->width;
    uint8_t *pixels = malloc(size * height), *rows = malloc((size + 1) * height);
    uint8_t *above = calloc(size, 1);
    uLongf packed_size = compressBound((uLong)((size + 1) * height));
    uint8_t *packed = malloc(packed_size);
    firn_status st = FIRN_OK;
    if (pixels && rows && above && packed) {
        firn_image_encode(image, bits, channels, pixels);
        const uint16_t probe = 1;
        if (bits == 16 && *(const uint8_t *)&probe == 1) { /* PNG has the high byte first */
            for (size_t i = 0; i < size * height; i += 2) {
                const uint8_t low = pixels[i];
                pixels[i] = pixels[i + 1];
                pixels[i + 1] = low;
            }
        }
        for (size_t y = 0; y < height; y++) {
            filter_row(pixels + y * size, y ? pixels + (y - 1) * size : above, size, step,
                       rows + y * (size + 1));
        }
        if (compress2(packed, &packed_size, rows, (uLong)((size + 1) * height), 4) != Z_OK) {
            st = firn_fail(error, FIRN_NO_MEMORY, "%s: out of memory to compress in", path);
        }
    } else {
        st = firn_fail(error, FIRN_NO_MEMORY, "%s: out of memory", path);
    }
    firn_output out = {0};
    if (st == FIRN_OK) st = firn_output_open(&out, path, error);
    if (st == FIRN_OK) {
        uint8_t header[13] = {[8] = (uint8_t)bits, [9] = channels == 4 ? 6 : 2};
        const uint8_t intent = 0;
        put32(header, (uint32_t)image->width);
        put32(header + 4, (uint32_t)image->height);
        firn_output_write(&out, signature, sizeof signature);
        write_chunk(&out, "IHDR", header, sizeof header);
        write_chunk(&out, "sRGB", &intent, 1);
        /* Chunks hold less than 2^31 bytes. */
        for (size_t at = 0; at < packed_size;) {
            const size_t part = packed_size - at < 1u << 30 ? packed_size - at : 1u << 30;
            write_chunk(&out, "IDAT", packed + at, (uint32_t)part);
            at += part;
        }
        write_chunk(&out, "IEND", NULL, 0);
        st = firn_output_commit(&out, error);
    }
    free(pixels);
    free(rows);
    free(above);
    free(packed);
    return st;
}

/* ---- reading ---- */

typedef struct header {
    int32_t width, height;
    int bits, channels; /* 1 grey, 2 grey and alpha, 3, 4 */
} header;

static firn_status read_header(const firn_bytes *in, const char *path, header *out,
                               firn_error *error)
{
    static const int channels_of[7] = {1, 0, 3, 0, 2, 0, 4}; /* by colour type */
    if (in->size < 33 || memcmp(in->data, signature, sizeof signature) != 0 ||
        memcmp(in->data + 12, "IHDR", 4) != 0) {
        return firn_fail(error, FIRN_INVALID, "%s: is not a PNG file", path);
    }
    const uint8_t *h = in->data + 16;
    const uint32_t width = get32(h), height = get32(h + 4);
    if (!width || !height || width > FIRN_IMAGE_MOST || height > FIRN_IMAGE_MOST) {
        return firn_fail(error, FIRN_INVALID, "%s: %u x %u pixels; each side must be 1 to %d", path,
                         width, height, FIRN_IMAGE_MOST);
    }
    if ((h[8] != 8 && h[8] != 16) || h[9] > 6 || !channels_of[h[9]] || h[12]) {
        return firn_fail(
            error, FIRN_INVALID,
            "%s: PNG with palette, interlacing or %d bits; grey or RGB of 8 or 16 bits "
            "can be read",
            path, h[8]);
    }
    *out = (header){(int32_t)width, (int32_t)height, h[8], channels_of[h[9]]};
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

static float linear_of(float v)
{
    return v <= 0.04045f ? v / 12.92f : powf((v + 0.055f) / 1.055f, 2.4f);
}

static void decode_row(const header *h, const uint8_t *row, float *rgba)
{
    const int color = h->channels >= 3 ? 3 : 1;
    for (int32_t x = 0; x < h->width; x++, rgba += 4) {
        float v[4];
        for (int c = 0; c < h->channels; c++, row += h->bits / 8) {
            v[c] = h->bits == 8 ? (float)row[0] / 255 : (float)(row[0] * 256 + row[1]) / 65535;
        }
        rgba[3] = h->channels > color ? v[color] : 1;
        for (int c = 0; c < 3; c++) rgba[c] = rgba[3] * linear_of(v[color == 3 ? c : 0]);
    }
}

static firn_status decode(const firn_bytes *in, const char *path, firn_image *out,
                          firn_error *error)
{
    header h = {0};
    firn_status st = read_header(in, path, &h, error);
    if (st != FIRN_OK) return st;
    const size_t step = (size_t)(h.channels * h.bits / 8), size = step * (size_t)h.width;
    const size_t all = (size + 1) * (size_t)h.height;
    firn_error inner = {0};
    st = firn_check_unpacked((double)all + 16.0 * h.width * h.height, &inner); /* RGBA in floats */
    if (st != FIRN_OK) return firn_fail(error, st, "%s: %s", path, inner.message);
    /* Deflate makes at most 1032 bytes of one: what claims more is refused before memory is taken. */
    uint8_t *rows = all / 1032 <= in->size ? malloc(all) : NULL, *above = calloc(size, 1);
    if (!above || (!rows && all / 1032 <= in->size)) {
        st = firn_fail(error, FIRN_NO_MEMORY, "%s: out of memory", path);
    } else if (!rows || !inflate_rows(in, rows, all)) {
        st = firn_fail(error, FIRN_INVALID, "%s: the PNG file is damaged or cut off", path);
    }
    if (st == FIRN_OK) st = firn_image_create(h.width, h.height, out, error);
    for (size_t y = 0; y < (size_t)h.height && st == FIRN_OK; y++) {
        uint8_t *row = rows + y * (size + 1) + 1;
        const uint8_t *before = y ? row - size - 1 : above;
        for (size_t i = 0; i < size; i++) {
            row[i] = (uint8_t)(row[i] + predict(row[-1], row, before, i, step));
        }
        decode_row(&h, row, out->rgba + y * 4 * (size_t)h.width);
    }
    free(rows);
    free(above);
    return st;
}

firn_status firn_image_read_png(const char *path, firn_image *out, firn_error *error)
{
    *out = (firn_image){0};
    firn_bytes in;
    firn_status st = firn_bytes_read(path, &in, error);
    if (st == FIRN_OK) st = decode(&in, path, out, error);
    firn_bytes_free(&in);
    return st;
}
