/* Houdini's points in compressed blocks, .bgeo.sc.
 *
 * "scf1", the length of a text about the file (0), then one blosc frame per block of 1 MiB, then
 * an index (where each frame but the last ends, the size of a block, the size of the last), the
 * index's length and "1fcs". Numbers have 64 bits, big end first; offsets count from the first
 * frame.
 *
 * Blocks are compressed in parallel, some at a time, and written in order: the bytes do not
 * depend on the number of threads, and the memory not on that of points. */
#include <blosc.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/parallel.h"
#include "io/geo.h"

enum {
    BLOCK = 1 << 20,
    BATCH = 16, /* blocks compressed together */
    HEAD = 12,  /* "scf1" and a length */
    TAIL = 12,  /* a length and "1fcs" */
};

/* ---- writing ---- */

typedef struct packer {
    firn_output *out;
    int32_t level, threads;
    uint8_t *plain; /* BATCH blocks */
    size_t used;
    uint8_t *packed; /* BATCH frames, FRAME apart */
    int32_t packed_size[BATCH];
    uint64_t *end; /* of each frame, from the first one's start */
    size_t blocks, room;
    size_t last; /* bytes of the last block */
    firn_status status;
} packer;

enum { FRAME = BLOCK + BLOSC_MAX_OVERHEAD };

static size_t block_size(const packer *to, int64_t index)
{
    const size_t first = (size_t)index * BLOCK;
    return to->used - first < BLOCK ? to->used - first : BLOCK;
}

static void pack_block(void *context, int64_t index, int32_t thread)
{
    (void)thread;
    packer *to = context;
    to->packed_size[index] = blosc_compress_ctx(
        to->level, BLOSC_SHUFFLE, 4, block_size(to, index), to->plain + (size_t)index * BLOCK,
        to->packed + (size_t)index * FRAME, FRAME, BLOSC_LZ4_COMPNAME, 0, 1);
}

static void pack_batch(packer *to)
{
    const int64_t count = (int64_t)((to->used + BLOCK - 1) / BLOCK);
    if (to->blocks + BATCH > to->room) {
        const size_t room = 2 * to->room + BATCH;
        uint64_t *grown = realloc(to->end, room * sizeof *grown);
        if (!grown) {
            to->status = FIRN_NO_MEMORY;
            return;
        }
        to->end = grown;
        to->room = room;
    }
    firn_parallel_for(to->threads, count, 1, pack_block, to);
    for (int64_t i = 0; i < count; i++) {
        if (to->packed_size[i] <= 0) {
            to->status = FIRN_NO_MEMORY; /* there is room for what cannot be made smaller */
            return;
        }
        firn_output_write(to->out, to->packed + (size_t)i * FRAME, (size_t)to->packed_size[i]);
        const uint64_t start = to->blocks > 0 ? to->end[to->blocks - 1] : 0;
        to->end[to->blocks++] = start + (uint64_t)to->packed_size[i];
        to->last = block_size(to, i);
    }
    to->used = 0;
}

static void pack(void *context, const void *data, size_t size)
{
    packer *to = context;
    const uint8_t *from = data;
    while (size > 0 && to->status == FIRN_OK) {
        const size_t left = (size_t)BATCH * BLOCK - to->used, part = size < left ? size : left;
        memcpy(to->plain + to->used, from, part);
        to->used += part;
        from += part;
        size -= part;
        if (part == left) pack_batch(to);
    }
}

static void put_number(firn_output *out, uint64_t value)
{
    uint8_t bytes[8];
    for (int i = 0; i < 8; i++) bytes[i] = (uint8_t)(value >> (56 - 8 * i));
    firn_output_write(out, bytes, sizeof bytes);
}

static firn_status write_blocks(const firn_points *points, const firn_write_options *options,
                                firn_output *out, firn_error *error)
{
    packer to = {.out = out, .level = 5, .threads = options->threads};
    if (options->level > 0) to.level = options->level < 9 ? options->level : 9;
    to.plain = malloc((size_t)BATCH * BLOCK);
    to.packed = malloc((size_t)BATCH * FRAME);
    firn_status st = FIRN_OK;
    if (!to.plain || !to.packed) {
        st = firn_fail(error, FIRN_NO_MEMORY, "out of memory for blocks to compress");
    } else {
        firn_output_write(out, "scf1", 4);
        put_number(out, 0);
        const firn_sink sink = {pack, &to};
        st = firn_geo_write(points, options, true, &sink, error);
    }
    if (st == FIRN_OK && to.used > 0 && to.status == FIRN_OK) pack_batch(&to);
    if (st == FIRN_OK && to.status != FIRN_OK) {
        st = firn_fail(error, to.status, "out of memory for compressing");
    }
    if (st == FIRN_OK) {
        for (size_t i = 0; i + 1 < to.blocks; i++) put_number(out, to.end[i]);
        put_number(out, BLOCK);
        put_number(out, to.last);
        put_number(out, 8 * (to.blocks + 1));
        firn_output_write(out, "1fcs", 4);
    }
    free(to.plain);
    free(to.packed);
    free(to.end);
    return st;
}

/* ---- reading ---- */

typedef struct unpacker {
    const uint8_t *frames, *index;
    size_t frames_size;
    int64_t count;        /* frames */
    uint64_t block, last; /* bytes in a block, and in the last one */
    uint8_t *plain;
    bool *good;
} unpacker;

static uint64_t number_at(const uint8_t *bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < 8; i++) value = value << 8 | bytes[i];
    return value;
}

static uint32_t little_at(const uint8_t *bytes)
{
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static uint64_t frame_start(const unpacker *in, int64_t i)
{
    return i == 0 ? 0 : number_at(in->index + 8 * (i - 1));
}

static uint64_t frame_end(const unpacker *in, int64_t i)
{
    return i + 1 == in->count ? in->frames_size : number_at(in->index + 8 * i);
}

static uint64_t plain_size(const unpacker *in, int64_t i)
{
    return i + 1 == in->count ? in->last : in->block;
}

/* What the codec a frame names can make of one byte at most. */
static uint64_t ratio(uint8_t flags)
{
    switch (flags >> 5) {
    case BLOSC_ZLIB_FORMAT: return 1032;
    case BLOSC_ZSTD_FORMAT: return 32768; /* a run of 128 KiB in four bytes */
    default: return 255;
    }
}

/* Whether a frame lies in the file and can hold what the index says. */
static bool check_frame(const unpacker *in, int64_t i)
{
    const uint64_t start = frame_start(in, i), end = frame_end(in, i), size = plain_size(in, i);
    if (end > in->frames_size || start > end || end - start < BLOSC_MIN_HEADER_LENGTH) return false;
    const uint8_t *frame = in->frames + start;
    size_t plain = 0;
    return little_at(frame + 12) == end - start && little_at(frame + 4) == size &&
           size <= (end - start) * ratio(frame[2]) &&
           blosc_cbuffer_validate(frame, (size_t)(end - start), &plain) == 0 && plain == size;
}

static void unpack_block(void *context, int64_t index, int32_t thread)
{
    (void)thread;
    unpacker *in = context;
    const uint64_t size = plain_size(in, index);
    in->good[index] =
        blosc_decompress_ctx(in->frames + frame_start(in, index),
                             in->plain + (uint64_t)index * in->block, size, 1) == (int)size;
}

firn_status firn_scf_unpack(const firn_bytes *in, firn_bytes *out, firn_error *error)
{
    *out = (firn_bytes){0};
    const uint64_t least = HEAD + TAIL + 16;
    if (in->size < least || memcmp(in->data + in->size - 4, "1fcs", 4) != 0) {
        return firn_fail(error, FIRN_INVALID,
                         "at byte %zu: the file does not end with 1fcs; it has been cut short",
                         in->size);
    }
    const uint64_t about = number_at(in->data + 4);
    const uint64_t index = number_at(in->data + in->size - TAIL);
    if (about > in->size - least || index < 16 || index % 8 != 0 ||
        index > in->size - HEAD - TAIL - about) {
        return firn_fail(error, FIRN_INVALID,
                         "at byte %zu: an index of %llu bytes does not fit the file",
                         in->size - TAIL, (unsigned long long)index);
    }
    unpacker from = {
        .frames = in->data + HEAD + about,
        .index = in->data + in->size - TAIL - index,
        .frames_size = (size_t)(in->size - HEAD - TAIL - about - index),
        .count = (int64_t)(index / 8 - 1),
        .block = number_at(in->data + in->size - TAIL - 16),
        .last = number_at(in->data + in->size - TAIL - 8),
    };
    if (from.block > BLOSC_MAX_BUFFERSIZE || from.last > from.block) {
        return firn_fail(
            error, FIRN_INVALID, "at byte %zu: blocks of %llu bytes with a last one of %llu",
            in->size - TAIL - 16, (unsigned long long)from.block, (unsigned long long)from.last);
    }
    for (int64_t i = 0; i < from.count; i++) {
        if (check_frame(&from, i)) continue;
        return firn_fail(error, FIRN_INVALID,
                         "block %lld of %lld is not where or not what the index says", (long long)i,
                         (long long)from.count);
    }
    const size_t size = (size_t)((uint64_t)(from.count - 1) * from.block + from.last);
    const firn_status fits = firn_check_unpacked((double)size, error);
    if (fits != FIRN_OK) return fits;
    from.plain = malloc(size + 1);
    from.good = calloc((size_t)from.count + 1, sizeof *from.good);
    if (!from.plain || !from.good) {
        free(from.plain);
        free(from.good);
        return firn_fail(error, FIRN_NO_MEMORY, "out of memory for %zu bytes", size);
    }
    firn_parallel_for(firn_parallel_max_threads(), from.count, 1, unpack_block, &from);
    firn_status st = FIRN_OK;
    for (int64_t i = 0; i < from.count && st == FIRN_OK; i++) {
        if (from.good[i]) continue;
        st = firn_fail(error, FIRN_INVALID, "block %lld of %lld cannot be uncompressed",
                       (long long)i, (long long)from.count);
    }
    free(from.good);
    *out = (firn_bytes){from.plain, size};
    if (st != FIRN_OK) firn_bytes_free(out);
    return st;
}

/* ---- row ---- */

static bool recognise(const firn_bytes *in)
{
    return in->size >= 4 && memcmp(in->data, "scf1", 4) == 0;
}

const firn_format firn_format_bgeo_sc = {
    .name = "bgeo.sc",
    .extensions = ".bgeo.sc",
    .help = "Houdini points, compressed in blocks",
    .recognise = recognise,
    .read = firn_geo_read,
    .write = write_blocks,
};
