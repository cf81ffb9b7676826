/* PNG (ISO/IEC 15948) over zlib: a header, one stream of filtered rows, an end. Reading is in io/png.c. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/error.h"
#include "io/io.h"
#include "io/png.h"
#include "render/image.h"

static const uint8_t signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};

static void put32(uint8_t *to, uint32_t v)
{
    for (int i = 0; i < 4; i++) to[i] = (uint8_t)(v >> (24 - 8 * i));
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
            sum +=
                (uint64_t)abs((int8_t)(uint8_t)(row[i] - firn_png_predict(f, row, above, i, step)));
        }
        if (sum < least) {
            least = sum;
            best = f;
        }
    }
    out[0] = (uint8_t)best;
    for (size_t i = 0; i < size; i++) {
        out[1 + i] = (uint8_t)(row[i] - firn_png_predict(best, row, above, i, step));
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

static float linear_of(float v)
{
    return v <= 0.04045f ? v / 12.92f : powf((v + 0.055f) / 1.055f, 2.4f);
}

firn_status firn_image_read_png(const char *path, firn_image *out, firn_error *error)
{
    *out = (firn_image){0};
    firn_png p;
    firn_status st = firn_png_read(path, &p, error);
    if (st == FIRN_OK) st = firn_image_create(p.width, p.height, out, error);
    const int color = p.channels >= 3 ? 3 : 1;
    float *rgba = out->rgba;
    for (int64_t i = 0; st == FIRN_OK && i < (int64_t)p.width * p.height; i++, rgba += 4) {
        float v[4];
        for (int c = 0; c < p.channels; c++) {
            v[c] = (float)firn_png_number(&p, i * p.channels + c);
        }
        rgba[3] = p.channels > color ? v[color] : 1;
        for (int c = 0; c < 3; c++) rgba[c] = rgba[3] * linear_of(v[color == 3 ? c : 0]);
    }
    firn_png_free(&p);
    return st;
}
