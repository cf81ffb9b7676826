/* OpenEXR 2, one part, scan lines in blocks of 16, half floats, ZIP compression (OpenEXR file layout):
 * header, a table of where blocks begin, blocks. Channels lie in the order of their names. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/error.h"
#include "io/io.h"
#include "render/image.h"

enum { LINES = 16 };

typedef struct bytes {
    uint8_t data[512];
    size_t size;
} bytes;

static void put(bytes *to, const void *data, size_t size)
{
    memcpy(to->data + to->size, data, size);
    to->size += size;
}

/* EXR is little endian. */
static void put_number(bytes *to, uint64_t v, int size)
{
    for (int i = 0; i < size; i++) to->data[to->size++] = (uint8_t)(v >> (8 * i));
}

static void put_attribute(bytes *to, const char *name, const char *type, uint32_t size)
{
    put(to, name, strlen(name) + 1);
    put(to, type, strlen(type) + 1);
    put_number(to, size, 4);
}

static void make_header(bytes *h, const firn_image *image)
{
    static const char order[] = "ABGR";
    const uint32_t one = 0x3f800000; /* 1.0f */
    put_number(h, 20000630, 4);      /* magic */
    put_number(h, 2, 4);             /* version, scan lines */
    put_attribute(h, "channels", "chlist", 4 * 18 + 1);
    for (int c = 0; c < 4; c++) {
        put_number(h, (uint8_t)order[c], 2); /* the name and its end */
        put_number(h, 1, 4);                 /* half */
        put_number(h, 0, 4);                 /* not perceptually linear; reserved */
        put_number(h, 1, 4);                 /* every pixel across */
        put_number(h, 1, 4);                 /* and down */
    }
    put_number(h, 0, 1);
    put_attribute(h, "compression", "compression", 1);
    put_number(h, 3, 1); /* ZIP, 16 lines */
    static const char *const windows[] = {"dataWindow", "displayWindow"};
    for (int w = 0; w < 2; w++) {
        put_attribute(h, windows[w], "box2i", 16);
        put_number(h, 0, 8);
        put_number(h, (uint64_t)image->width - 1, 4);
        put_number(h, (uint64_t)image->height - 1, 4);
    }
    put_attribute(h, "lineOrder", "lineOrder", 1);
    put_number(h, 0, 1);
    put_attribute(h, "pixelAspectRatio", "float", 4);
    put_number(h, one, 4);
    put_attribute(h, "screenWindowCenter", "v2f", 8);
    put_number(h, 0, 8);
    put_attribute(h, "screenWindowWidth", "float", 4);
    put_number(h, one, 4);
    put_number(h, 0, 1);
}

/* Line by line, all of A, then B, G and R. */
static size_t gather_block(const firn_image *image, int32_t first, uint8_t *out)
{
    size_t size = 0;
    for (int32_t y = first; y < first + LINES && y < image->height; y++) {
        const float *row = image->rgba + (size_t)y * 4 * (size_t)image->width;
        for (int c = 3; c >= 0; c--) {
            for (int32_t x = 0; x < image->width; x++) {
                const uint16_t half = firn_half_from_float(row[4 * x + c]);
                out[size++] = (uint8_t)half;
                out[size++] = (uint8_t)(half >> 8);
            }
        }
    }
    return size;
}

/* Even bytes, then odd ones; then each as the difference from the one before, plus 128. */
static void rearrange(const uint8_t *in, size_t size, uint8_t *out)
{
    for (size_t i = 0; i < size; i++) out[i / 2 + (i % 2 ? (size + 1) / 2 : 0)] = in[i];
    for (size_t i = size; i-- > 1;) out[i] = (uint8_t)(out[i] - out[i - 1] + 128);
}

firn_status firn_image_write_exr(const char *path, const firn_image *image, firn_error *error)
{
    const size_t blocks = ((size_t)image->height + LINES - 1) / LINES;
    const size_t most = (size_t)LINES * 8 * (size_t)image->width;
    const uLong bound = compressBound((uLong)most);
    uint8_t *raw = malloc(most), *mixed = malloc(most), *packed = malloc(blocks * bound);
    size_t *size = malloc(blocks * sizeof *size);
    firn_status st = FIRN_OK;
    if (!raw || !mixed || !packed || !size) {
        st = firn_fail(error, FIRN_NO_MEMORY, "%s: out of memory", path);
    }
    for (size_t b = 0; b < blocks && st == FIRN_OK; b++) {
        const size_t plain = gather_block(image, (int32_t)b * LINES, raw);
        uLongf length = bound;
        rearrange(raw, plain, mixed);
        if (compress2(packed + b * bound, &length, mixed, (uLong)plain, 6) != Z_OK) {
            st = firn_fail(error, FIRN_NO_MEMORY, "%s: out of memory to compress in", path);
        }
        size[b] = length;
        if (length >= plain) { /* readers take a block that did not shrink as it is */
            memcpy(packed + b * bound, raw, plain);
            size[b] = plain;
        }
    }
    firn_output out = {0};
    if (st == FIRN_OK) st = firn_output_open(&out, path, error);
    if (st == FIRN_OK) {
        bytes head = {.size = 0};
        make_header(&head, image);
        firn_output_write(&out, head.data, head.size);
        uint64_t at = head.size + 8 * blocks;
        for (size_t b = 0; b < blocks; b++) {
            bytes offset = {.size = 0};
            put_number(&offset, at, 8);
            firn_output_write(&out, offset.data, 8);
            at += 8 + size[b];
        }
        for (size_t b = 0; b < blocks; b++) {
            bytes line = {.size = 0};
            put_number(&line, b * LINES, 4);
            put_number(&line, size[b], 4);
            firn_output_write(&out, line.data, 8);
            firn_output_write(&out, packed + b * bound, size[b]);
        }
        st = firn_output_commit(&out, error);
    }
    free(raw);
    free(mixed);
    free(packed);
    free(size);
    return st;
}
