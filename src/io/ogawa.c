/* Ogawa: bounded reading by position, writing by appending, and the hash of data. */
#include "io/ogawa.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

static const uint8_t magic[5] = {'O', 'g', 'a', 'w', 'a'};
enum { FINISHED_AT = 5, FINISHED = 0xff, VERSION_AT = 6, ROOT_AT = 8 };

/* ---- reading ---- */

bool firn_ogawa_recognise(const firn_bytes *head)
{
    return head->size >= sizeof magic && memcmp(head->data, magic, sizeof magic) == 0;
}

static firn_status read_head(firn_ogawa *o, bool unfinished, firn_error *error)
{
    uint8_t head[FIRN_OGAWA_HEAD];
    const firn_bytes bytes = {head, sizeof head};
    if (o->size < sizeof head) {
        return firn_fail(error, FIRN_INVALID, "is cut off, or not Alembic: it has %llu bytes",
                         (unsigned long long)o->size);
    }
    const firn_status st = firn_ogawa_get(o, 0, head, sizeof head, error);
    if (st != FIRN_OK) return st;
    if (memcmp(head, "\x89HDF", 4) == 0) {
        return firn_fail(error, FIRN_INVALID,
                         "is Alembic in HDF5, as before 2013; write it again as Ogawa");
    }
    if (!firn_ogawa_recognise(&bytes)) {
        return firn_fail(error, FIRN_INVALID, "is not Alembic: \"Ogawa\" is missing at byte 0");
    }
    if (head[FINISHED_AT] != FINISHED && !unfinished) {
        return firn_fail(error, FIRN_INVALID,
                         "was not finished: byte %d is %d; let its writer end, or write it again",
                         FINISHED_AT, head[FINISHED_AT]);
    }
    if (head[VERSION_AT] != 0 || head[VERSION_AT + 1] != 1) {
        return firn_fail(error, FIRN_INVALID, "has version %d of Ogawa at byte %d; 1 can be read",
                         head[VERSION_AT] << 8 | head[VERSION_AT + 1], VERSION_AT);
    }
    memcpy(&o->root, head + ROOT_AT, sizeof o->root);
    return FIRN_OK;
}

firn_status firn_ogawa_open(firn_ogawa *o, const char *path, bool unfinished, firn_error *error)
{
    *o = (firn_ogawa){.file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)};
    struct stat about;
    if (o->file < 0 || fstat(o->file, &about) != 0) {
        return firn_fail(error, FIRN_INVALID, "%s", strerror(errno));
    }
    if (!S_ISREG(about.st_mode)) {
        return firn_fail(error, FIRN_INVALID, "is %s; name a file",
                         S_ISDIR(about.st_mode) ? "a folder" : "a pipe or a device");
    }
    o->size = (uint64_t)about.st_size;
    return read_head(o, unfinished, error);
}

firn_status firn_ogawa_open_bytes(firn_ogawa *o, const firn_bytes *bytes, firn_error *error)
{
    *o = (firn_ogawa){.file = -1, .data = bytes->data, .size = bytes->size};
    return read_head(o, false, error);
}

void firn_ogawa_close(firn_ogawa *o)
{
    if (o->file >= 0) close(o->file);
    o->file = -1;
}

firn_status firn_ogawa_get(const firn_ogawa *o, uint64_t at, void *to, uint64_t size,
                           firn_error *error)
{
    if (at > o->size || size > o->size - at) {
        return firn_fail(error, FIRN_INVALID,
                         "is cut off or damaged: %llu bytes at byte %llu are not in its %llu",
                         (unsigned long long)size, (unsigned long long)at,
                         (unsigned long long)o->size);
    }
    if (o->data) {
        if (size) memcpy(to, o->data + at, (size_t)size);
        return FIRN_OK;
    }
    for (uint64_t done = 0; done < size;) {
        const ssize_t got =
            pread(o->file, (uint8_t *)to + done, (size_t)(size - done), (off_t)(at + done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return firn_fail(error, FIRN_INVALID, "%s", strerror(errno));
        if (got == 0) {
            return firn_fail(error, FIRN_INVALID,
                             "was cut short while it was read; read it when it is complete");
        }
        done += (uint64_t)got;
    }
    return FIRN_OK;
}

/* The number at the head of a chunk, which at most leaves `each` bytes of file for every one of it. */
static firn_status read_number(const firn_ogawa *o, uint64_t at, uint64_t each, const char *what,
                               uint64_t *number, firn_error *error)
{
    if (at < FIRN_OGAWA_HEAD) {
        return firn_fail(error, FIRN_INVALID, "is damaged: it has %s at byte %llu", what,
                         (unsigned long long)at);
    }
    const firn_status st = firn_ogawa_get(o, at, number, sizeof *number, error);
    if (st != FIRN_OK) return st;
    if (*number > (o->size - at - sizeof *number) / each) {
        return firn_fail(
            error, FIRN_INVALID,
            "is cut off or damaged: %s at byte %llu has %llu parts, more than the file", what,
            (unsigned long long)at, (unsigned long long)*number);
    }
    return FIRN_OK;
}

firn_status firn_ogawa_count(const firn_ogawa *o, uint64_t group, uint64_t *count,
                             firn_error *error)
{
    *count = 0;
    if (group == FIRN_OGAWA_NO_GROUP) return FIRN_OK;
    if (group & FIRN_OGAWA_NO_DATA) {
        return firn_fail(error, FIRN_INVALID, "is damaged: data at byte %llu stands for a group",
                         (unsigned long long)(group & ~FIRN_OGAWA_NO_DATA));
    }
    return read_number(o, group, sizeof group, "a group", count, error);
}

firn_status firn_ogawa_child(const firn_ogawa *o, uint64_t group, uint64_t index, uint64_t *word,
                             firn_error *error)
{
    uint64_t count;
    const firn_status st = firn_ogawa_count(o, group, &count, error);
    if (st != FIRN_OK) return st;
    if (index >= count) {
        return firn_fail(error, FIRN_INVALID,
                         "is damaged: the group at byte %llu has %llu parts, and number %llu is "
                         "asked for",
                         (unsigned long long)group, (unsigned long long)count,
                         (unsigned long long)index);
    }
    return firn_ogawa_get(o, group + (1 + index) * sizeof *word, word, sizeof *word, error);
}

firn_status firn_ogawa_size(const firn_ogawa *o, uint64_t data, uint64_t *size, firn_error *error)
{
    *size = 0;
    if (data == FIRN_OGAWA_NO_DATA) return FIRN_OK;
    if (!(data & FIRN_OGAWA_NO_DATA)) {
        return firn_fail(error, FIRN_INVALID, "is damaged: a group at byte %llu stands for data",
                         (unsigned long long)data);
    }
    return read_number(o, data & ~FIRN_OGAWA_NO_DATA, 1, "data", size, error);
}

firn_status firn_ogawa_read(const firn_ogawa *o, uint64_t data, uint64_t offset, void *to,
                            uint64_t size, firn_error *error)
{
    uint64_t whole;
    const firn_status st = firn_ogawa_size(o, data, &whole, error);
    if (st != FIRN_OK) return st;
    if (offset > whole || size > whole - offset) {
        return firn_fail(error, FIRN_INVALID,
                         "is damaged: data at byte %llu has %llu bytes; at least %llu are expected",
                         (unsigned long long)(data & ~FIRN_OGAWA_NO_DATA),
                         (unsigned long long)whole, (unsigned long long)(offset + size));
    }
    if (size == 0) return FIRN_OK;
    return firn_ogawa_get(o, (data & ~FIRN_OGAWA_NO_DATA) + sizeof whole + offset, to, size, error);
}

/* ---- writing ---- */

static void append(firn_ogawa_writer *w, const void *data, size_t size)
{
    firn_output_write(w->out, data, size);
    w->at += size;
}

static const uint8_t unfinished_head[FIRN_OGAWA_HEAD] = {'O', 'g', 'a',
                                                         'w', 'a', [VERSION_AT + 1] = 1};

void firn_ogawa_begin(firn_ogawa_writer *w, firn_output *out)
{
    *w = (firn_ogawa_writer){.out = out};
    append(w, unfinished_head, sizeof unfinished_head);
}

void firn_ogawa_continue(firn_ogawa_writer *w, firn_output *out, uint64_t size)
{
    *w = (firn_ogawa_writer){.out = out, .at = size};
    firn_output_patch(out, 0, unfinished_head, sizeof unfinished_head);
}

uint64_t firn_ogawa_add_data(firn_ogawa_writer *w, const void *head, size_t head_size,
                             const void *body, size_t body_size)
{
    const uint64_t size = head_size + body_size, word = w->at | FIRN_OGAWA_NO_DATA;
    if (size == 0) return FIRN_OGAWA_NO_DATA;
    append(w, &size, sizeof size);
    append(w, head, head_size);
    append(w, body, body_size);
    return word;
}

uint64_t firn_ogawa_add_group(firn_ogawa_writer *w, const uint64_t *words, size_t count)
{
    const uint64_t number = count, word = w->at;
    if (count == 0) return FIRN_OGAWA_NO_GROUP;
    append(w, &number, sizeof number);
    append(w, words, count * sizeof *words);
    return word;
}

void firn_ogawa_finish(firn_ogawa_writer *w, uint64_t root)
{
    const uint8_t finished = FINISHED;
    firn_output_patch(w->out, ROOT_AT, &root, sizeof root);
    firn_output_patch(w->out, FINISHED_AT, &finished, sizeof finished);
}

/* ---- hash ---- */

static uint64_t rotate(uint64_t x, int bits) { return x << bits | x >> (64 - bits); }

static uint64_t mix(uint64_t k)
{
    k = (k ^ k >> 33) * 0xff51afd7ed558ccdu;
    k = (k ^ k >> 33) * 0xc4ceb9fe1a85ec53u;
    return k ^ k >> 33;
}

void firn_murmur(const void *data, size_t size, uint8_t key[FIRN_OGAWA_KEY])
{
    const uint64_t a = 0x87c37b91114253d5u, b = 0x4cf5ad432745937fu;
    const uint8_t *p = data;
    uint64_t h[2] = {0, 0}, k[2];
    size_t left = size;
    for (; left >= sizeof k; left -= sizeof k, p += sizeof k) {
        memcpy(k, p, sizeof k);
        h[0] ^= rotate(k[0] * a, 31) * b;
        h[0] = (rotate(h[0], 27) + h[1]) * 5 + 0x52dce729;
        h[1] ^= rotate(k[1] * b, 33) * a;
        h[1] = (rotate(h[1], 31) + h[0]) * 5 + 0x38495ab5;
    }
    if (left > 0) {
        k[0] = k[1] = 0;
        memcpy(k, p, left);
        h[1] ^= rotate(k[1] * b, 33) * a;
        h[0] ^= rotate(k[0] * a, 31) * b;
    }
    h[0] ^= size;
    h[1] ^= size;
    h[0] += h[1];
    h[1] += h[0];
    h[0] = mix(h[0]);
    h[1] = mix(h[1]);
    h[0] += h[1];
    h[1] += h[0];
    memcpy(key, h, sizeof h);
}
