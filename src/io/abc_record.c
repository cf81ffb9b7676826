/* Records of frames: data that nothing in the file refers to, from which a writer goes on.
 *
 * While a file is written it is a row of data chunks, each with its size in front, so they can be walked
 * from the start; a chunk that was cut off ends the walk. A record says where it is, which frame it ends,
 * and of every series what it is and where its sample is, and it ends with a hash of all that. A finished
 * file goes on with groups, which a walk takes for chunks of other sizes; nothing there is mistaken for a
 * record, because that would have to have the position and the hash. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "io/abc_writer.h"

static const char magic[8] = {'F', 'i', 'r', 'n', 'F', 'r', 'm', '1'};
enum { MOST_RECORD = 1 << 24 }; /* bytes: far more than any shapes and columns take */

/* ---- writing ---- */

static void put_name(firn_abc_buffer *b, const char *name)
{
    const uint8_t length = (uint8_t)strlen(name);
    firn_abc_put(b, &length, 1);
    firn_abc_put(b, name, length);
}

static void put_series(firn_abc_buffer *b, const firn_abc_series *s)
{
    const uint8_t type[5] = {s->attribute, s->scalar, s->ordered, (uint8_t)s->pod,
                             (uint8_t)s->extent};
    const uint64_t where[4] = {s->next.word, s->next.dimensions, s->next.bytes, s->next.elements};
    put_name(b, s->name);
    firn_abc_put(b, type, sizeof type);
    firn_abc_put(b, where, sizeof where);
    firn_abc_put(b, s->next.key, sizeof s->next.key);
}

firn_status firn_abc_write_record(firn_alembic_writer *w, int64_t frame, firn_error *error)
{
    firn_abc_buffer b = {0};
    firn_abc_put(&b, magic, sizeof magic);
    firn_abc_put(&b, &w->file.at, sizeof w->file.at);
    firn_abc_put(&b, &frame, sizeof frame);
    firn_abc_put(&b, &w->fps, sizeof w->fps);
    firn_abc_put(&b, &w->shape_count, sizeof w->shape_count);
    for (int32_t i = 0; i < w->shape_count; i++) {
        const firn_abc_shape *o = &w->shape[i];
        const uint8_t kind = (uint8_t)o->kind;
        put_name(&b, o->name);
        firn_abc_put(&b, &kind, 1);
        firn_abc_put(&b, &o->count, sizeof o->count);
        for (int32_t k = 0; k < o->count; k++) put_series(&b, &o->series[k]);
    }
    firn_status st = FIRN_OK;
    if (b.failed) {
        st = firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    } else {
        uint8_t sum[FIRN_OGAWA_KEY];
        firn_murmur(b.data, b.size, sum);
        firn_ogawa_add_data(&w->file, b.data, b.size, sum, sizeof sum);
    }
    free(b.data);
    return st;
}

/* ---- reading ---- */

/* Bytes taken from the front; zeros when there are no more. */
typedef struct cursor {
    const uint8_t *at, *end;
    bool short_of;
} cursor;

static void take(cursor *c, void *to, size_t size)
{
    memset(to, 0, size);
    if ((size_t)(c->end - c->at) < size) {
        c->short_of = true;
        return;
    }
    memcpy(to, c->at, size);
    c->at += size;
}

static void take_name(cursor *c, char name[FIRN_NAME_SIZE])
{
    uint8_t length;
    take(c, &length, 1);
    if (length >= FIRN_NAME_SIZE) c->short_of = true;
    if (!c->short_of) take(c, name, length);
    name[c->short_of ? 0 : length] = 0;
}

static firn_status take_series(firn_alembic_writer *w, int32_t shape, cursor *c, firn_error *error)
{
    firn_abc_series about = {0}, *s;
    uint8_t type[5];
    uint64_t where[4];
    take_name(c, about.name);
    take(c, type, sizeof type);
    take(c, where, sizeof where);
    about.attribute = type[0];
    about.scalar = type[1];
    about.ordered = type[2];
    about.pod = (firn_abc_pod)type[3];
    about.extent = type[4];
    if (c->short_of || about.pod > FIRN_ABC_STRING || about.extent == 0) {
        return firn_fail(error, FIRN_INVALID, "has a damaged record of a frame");
    }
    const firn_status st = firn_abc_find_series(w, shape, &about, &s, error);
    if (st != FIRN_OK) return st;
    s->next = (firn_abc_stored){
        .word = where[0], .dimensions = where[1], .bytes = where[2], .elements = where[3]};
    take(c, s->next.key, sizeof s->next.key);
    return FIRN_OK;
}

/* The frame of a record whose hash is right, with all its series. */
static firn_status take_record(firn_alembic_writer *w, cursor *c, int64_t frame, firn_error *error)
{
    double fps;
    int32_t shapes, count;
    take(c, &fps, sizeof fps);
    take(c, &shapes, sizeof shapes);
    if (fps != w->fps) {
        return firn_fail(error, FIRN_INVALID,
                         "has %g frames per second and is to have %g; start over, or write to "
                         "another file",
                         fps, w->fps);
    }
    firn_status st = FIRN_OK;
    for (int32_t i = 0; i < shapes && st == FIRN_OK; i++) {
        char name[FIRN_NAME_SIZE];
        uint8_t kind;
        int32_t shape = -1;
        take_name(c, name);
        take(c, &kind, 1);
        take(c, &count, sizeof count);
        st = firn_abc_add_shape(w, (firn_alembic_kind)kind, name, &shape, error);
        for (int32_t k = 0; k < count && st == FIRN_OK && !c->short_of; k++) {
            st = take_series(w, shape, c, error);
        }
        if (st == FIRN_OK && c->short_of) {
            st = firn_fail(error, FIRN_INVALID, "has a damaged record of a frame");
        }
    }
    return st == FIRN_OK ? firn_abc_take_frame(w, frame, error) : st;
}

/* Whether the chunk of so many bytes at `at` is a record; if so, it is in `*out`, to be freed. */
static firn_status read_record(const firn_ogawa *file, uint64_t at, uint64_t size, uint8_t **out,
                               firn_error *error)
{
    uint8_t head[sizeof magic], sum[FIRN_OGAWA_KEY];
    uint64_t stated;
    *out = NULL;
    if (size < sizeof magic + sizeof stated + sizeof(int64_t) + sizeof sum || size > MOST_RECORD) {
        return FIRN_OK;
    }
    const uint64_t body = at + sizeof size;
    firn_status st = firn_ogawa_get(file, body, head, sizeof head, error);
    if (st != FIRN_OK || memcmp(head, magic, sizeof magic) != 0) return st;
    uint8_t *data = malloc((size_t)size);
    if (!data) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    st = firn_ogawa_get(file, body, data, size, error);
    if (st == FIRN_OK) {
        memcpy(&stated, data + sizeof magic, sizeof stated);
        firn_murmur(data, (size_t)size - sizeof sum, sum);
    }
    if (st == FIRN_OK && stated == at && memcmp(sum, data + size - sizeof sum, sizeof sum) == 0) {
        *out = data;
    } else {
        free(data);
    }
    return st;
}

static firn_status walk(firn_alembic_writer *w, const firn_ogawa *file, int64_t last,
                        firn_error *error)
{
    firn_status st = FIRN_OK;
    for (uint64_t at = FIRN_OGAWA_HEAD, size; st == FIRN_OK; at += sizeof size + size) {
        if (file->size - at < sizeof size) break;
        st = firn_ogawa_get(file, at, &size, sizeof size, error);
        if (st != FIRN_OK || size > file->size - at - sizeof size) break;
        uint8_t *record;
        st = read_record(file, at, size, &record, error);
        if (st != FIRN_OK || !record) continue;
        cursor c = {record + sizeof magic + sizeof at, record + size - FIRN_OGAWA_KEY, false};
        int64_t frame;
        take(&c, &frame, sizeof frame);
        const bool later = frame > last;
        if (!later) st = take_record(w, &c, frame, error);
        if (!later && st == FIRN_OK) w->end = at + sizeof size + size;
        free(record);
        if (later) break;
    }
    return st;
}

firn_status firn_abc_read_records(firn_alembic_writer *w, const char *path, int64_t last,
                                  firn_error *error)
{
    if (access(path, F_OK) != 0) return FIRN_OK;
    firn_ogawa file;
    firn_error inner = {0};
    /* A file of another kind, or one that was cut off in its head, has no frames. */
    firn_status st = firn_ogawa_open(&file, path, true, NULL) == FIRN_OK
                         ? walk(w, &file, last, &inner)
                         : FIRN_OK;
    firn_ogawa_close(&file);
    return st == FIRN_OK ? st : firn_fail(error, st, "%s: %s", path, inner.message);
}
