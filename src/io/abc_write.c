/* Writing Alembic: the samples of frames, and files from their first frame to their last. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "io/abc_writer.h"

static firn_status no_memory(firn_error *error)
{
    return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
}

const firn_abc_stored firn_abc_nothing = {.word = FIRN_OGAWA_NO_DATA,
                                          .dimensions = FIRN_OGAWA_NO_DATA};

void firn_abc_put(firn_abc_buffer *b, const void *data, size_t size)
{
    if (b->size + size > b->room && !b->failed) {
        const size_t room = 2 * (b->size + size) + 256;
        uint8_t *grown = realloc(b->data, room);
        b->failed = !grown;
        if (grown) b->data = grown;
        if (grown) b->room = room;
    }
    if (b->failed || size == 0) return;
    memcpy(b->data + b->size, data, size);
    b->size += size;
}

/* ---- shapes and series ---- */

firn_status firn_abc_add_shape(firn_alembic_writer *w, firn_alembic_kind kind, const char *name,
                               int32_t *shape, firn_error *error)
{
    const size_t length = strlen(name);
    bool fine = length > 0 && length < FIRN_NAME_SIZE;
    for (size_t i = 0; i < length; i++) {
        const unsigned char letter = (unsigned char)name[i];
        fine = fine && letter >= ' ' && letter != 0x7f && letter != '/';
    }
    if (!fine) {
        return firn_fail(error, FIRN_INVALID,
                         "an object's name must have 1 to %d letters, without slashes",
                         FIRN_NAME_SIZE - 1);
    }
    for (int32_t i = 0; i < w->shape_count; i++) {
        if (strcmp(w->shape[i].name, name) != 0) continue;
        *shape = i;
        if (w->frame_count > 0 && w->shape[i].kind == kind) return FIRN_OK;
        return firn_fail(error, FIRN_INVALID, "there is an object %s already", name);
    }
    if (w->frame_count > 0) {
        return firn_fail(error, FIRN_INVALID,
                         "object %s is not in the file; add objects before "
                         "the first frame",
                         name);
    }
    firn_abc_shape *grown = realloc(w->shape, ((size_t)w->shape_count + 1) * sizeof *grown);
    if (!grown) return no_memory(error);
    w->shape = grown;
    *shape = w->shape_count++;
    w->shape[*shape] = (firn_abc_shape){.kind = kind};
    memcpy(w->shape[*shape].name, name, length + 1);
    return FIRN_OK;
}

static bool is_text(const firn_abc_series *s) { return s->pod == FIRN_ABC_STRING; }

firn_status firn_abc_find_series(firn_alembic_writer *w, int32_t shape,
                                 const firn_abc_series *about, firn_abc_series **out,
                                 firn_error *error)
{
    firn_abc_shape *o = &w->shape[shape];
    for (int32_t i = 0; i < o->count; i++) {
        firn_abc_series *s = &o->series[i];
        if (s->attribute != about->attribute || strcmp(s->name, about->name) != 0) continue;
        *out = s;
        s->ordered = s->ordered && about->ordered;
        if (s->pod == about->pod && s->extent == about->extent) return FIRN_OK;
        return firn_fail(error, FIRN_INVALID,
                         "attribute %s was %s[%u] in earlier frames and is %s[%u] now", s->name,
                         firn_abc_pod_names[s->pod], s->extent, firn_abc_pod_names[about->pod],
                         about->extent);
    }
    firn_abc_series *grown = realloc(o->series, ((size_t)o->count + 1) * sizeof *grown);
    if (!grown) return no_memory(error);
    o->series = grown;
    firn_abc_series *s = *out = &o->series[o->count];
    *s = *about;
    s->last = s->next = firn_abc_nothing;
    s->single = w->frame_count == 0;
    /* Frames before it have nothing of it. Room doubles at powers of two. */
    size_t room = 1;
    while (room < (size_t)w->frame_count) room *= 2;
    s->word = malloc(room * sizeof *s->word);
    s->dimensions = is_text(s) ? malloc(room * sizeof *s->dimensions) : NULL;
    if (!s->word || (is_text(s) && !s->dimensions)) {
        free(s->word);
        free(s->dimensions);
        return no_memory(error);
    }
    o->count++;
    for (int64_t i = 0; i < w->frame_count; i++) {
        s->word[i] = FIRN_OGAWA_NO_DATA;
        if (s->dimensions) s->dimensions[i] = FIRN_OGAWA_NO_DATA;
    }
    return FIRN_OK;
}

/* Room for one more behind `count`. */
static bool grow(void **array, int64_t count, size_t size)
{
    if (count & (count - 1)) return true;
    void *grown = realloc(*array, (count ? 2 * (size_t)count : 1) * size);
    if (grown) *array = grown;
    return grown != NULL;
}

firn_status firn_abc_take_frame(firn_alembic_writer *w, int64_t frame, firn_error *error)
{
    const int64_t n = w->frame_count;
    bool fine = grow((void **)&w->frame, n, sizeof *w->frame);
    for (int32_t i = 0; i < w->shape_count && fine; i++) {
        for (int32_t k = 0; k < w->shape[i].count && fine; k++) {
            firn_abc_series *s = &w->shape[i].series[k];
            fine = grow((void **)&s->word, n, sizeof *s->word) &&
                   (!s->dimensions || grow((void **)&s->dimensions, n, sizeof *s->dimensions));
        }
    }
    if (!fine) return no_memory(error);
    for (int32_t i = 0; i < w->shape_count; i++) {
        w->shape[i].given = false;
        for (int32_t k = 0; k < w->shape[i].count; k++) {
            firn_abc_series *s = &w->shape[i].series[k];
            uint8_t both[2 * FIRN_OGAWA_KEY];
            memcpy(both, s->sum, FIRN_OGAWA_KEY);
            memcpy(both + FIRN_OGAWA_KEY, s->next.key, FIRN_OGAWA_KEY);
            firn_murmur(both, sizeof both, s->sum);
            s->word[n] = s->next.word;
            if (s->dimensions) s->dimensions[n] = s->next.dimensions;
            s->single = s->single && s->next.elements == 1;
            s->last = s->next;
            s->next = firn_abc_nothing;
        }
    }
    w->frame[w->frame_count++] = frame;
    return FIRN_OK;
}

/* Stores a sample, unless it is as the one before. */
static void store(firn_alembic_writer *w, firn_abc_series *s, const void *data, uint64_t bytes,
                  uint64_t elements)
{
    s->next = firn_abc_nothing;
    s->next.bytes = bytes;
    s->next.elements = elements;
    if (bytes == 0) return;
    firn_murmur(data, (size_t)bytes, s->next.key);
    if (s->last.bytes == bytes && s->last.elements == elements &&
        memcmp(s->last.key, s->next.key, sizeof s->next.key) == 0) {
        s->next = s->last;
        return;
    }
    s->next.word =
        firn_ogawa_add_data(&w->file, s->next.key, sizeof s->next.key, data, (size_t)bytes);
    if (!is_text(s)) return;
    s->next.dimensions = s->last.elements == elements && s->last.bytes > 0
                             ? s->last.dimensions
                             : firn_ogawa_add_data(&w->file, NULL, 0, &elements, sizeof elements);
}

/* ---- columns ---- */

/* Numbers of the series' type; *made, if not NULL afterwards, is to be freed. */
typedef struct numbers {
    const void *data;
    void *made;
} numbers;

static firn_abc_pod pod_of(firn_type type)
{
    firn_abc_pod pod = FIRN_ABC_U8;
    while (firn_abc_pod_types[pod] != type) pod++;
    return pod;
}

/* A column's numbers times a factor, as another type, unless they are that already. */
static firn_status convert(const firn_column *c, int64_t count, firn_type type, double factor,
                           numbers *out, firn_error *error)
{
    *out = (numbers){.data = c->data};
    if (c->type == type && factor == 1) return FIRN_OK;
    const int64_t n = count * c->components;
    out->data = out->made = malloc(((size_t)n + 1) * firn_type_size(type));
    if (!out->made) return no_memory(error);
    for (int64_t i = 0; i < n; i++) {
        firn_type_set(type, out->made, i, factor * firn_type_get(c->type, c->data, i));
    }
    return FIRN_OK;
}

static firn_status put_column(firn_alembic_writer *w, int32_t shape, const firn_column *c,
                              int64_t count, const firn_abc_series *about, double factor,
                              firn_error *error)
{
    firn_abc_series *s;
    numbers n = {0};
    const firn_type type = firn_abc_pod_types[about->pod];
    firn_status st = firn_abc_find_series(w, shape, about, &s, error);
    if (st == FIRN_OK) st = convert(c, count, type, factor, &n, error);
    if (st == FIRN_OK) {
        const uint64_t each = about->extent * firn_type_size(type);
        store(w, s, n.data, (uint64_t)count * each, (uint64_t)count);
    }
    free(n.made);
    return st;
}

/* Each particle's text, one after another. */
static firn_status put_text(firn_alembic_writer *w, int32_t shape, const firn_column *c,
                            int64_t count, const firn_abc_series *about, firn_error *error)
{
    firn_abc_series *s;
    firn_status st = firn_abc_find_series(w, shape, about, &s, error);
    const char **word = malloc(((size_t)c->word_count + 1) * sizeof *word);
    if (st == FIRN_OK && !word) st = no_memory(error);
    const char *p = c->words;
    for (int32_t i = 0; st == FIRN_OK && i < c->word_count; i++, p += strlen(p) + 1) word[i] = p;
    firn_abc_buffer b = {0};
    for (int64_t i = 0; st == FIRN_OK && i < count * c->components; i++) {
        const int32_t number = ((const int32_t *)c->data)[i];
        const char *text = number >= 0 && number < c->word_count ? word[number] : "";
        firn_abc_put(&b, text, strlen(text) + 1);
    }
    if (st == FIRN_OK && b.failed) st = no_memory(error);
    if (st == FIRN_OK) store(w, s, b.data, b.size, (uint64_t)(count * c->components));
    free(word);
    free(b.data);
    return st;
}

static firn_abc_series named(const char *name, firn_abc_pod pod, uint32_t extent)
{
    firn_abc_series about = {.pod = pod, .extent = extent};
    snprintf(about.name, sizeof about.name, "%s", name);
    return about;
}

/* The file has the real part first, columns have it last. */
static firn_status put_quaternions(firn_alembic_writer *w, int32_t shape, const firn_column *c,
                                   int64_t count, const firn_abc_series *about, firn_error *error)
{
    const size_t size = firn_type_size(c->type);
    firn_column turned = *c;
    uint8_t *to = turned.data = malloc(((size_t)count + 1) * 4 * size);
    if (!to) return no_memory(error);
    const uint8_t *from = c->data;
    for (int64_t i = 0; i < count; i++, to += 4 * size, from += 4 * size) {
        memcpy(to, from + 3 * size, size);
        memcpy(to + size, from, 3 * size);
    }
    const firn_status st = put_column(w, shape, &turned, count, about, 1, error);
    free(turned.data);
    return st;
}

static firn_status put_attribute(firn_alembic_writer *w, int32_t shape, const firn_column *c,
                                 int64_t count, firn_error *error)
{
    firn_abc_series about = named(c->name, FIRN_ABC_STRING, (uint32_t)c->components);
    about.attribute = true;
    if (c->words) return put_text(w, shape, c, count, &about, error);
    about.pod = pod_of(c->type);
    const char *meaning = firn_abc_interpretation(c->name, about.pod, about.extent);
    if (strcmp(meaning, "quat") == 0) return put_quaternions(w, shape, c, count, &about, error);
    /* Readers know no colours and normals of 64 bits. */
    const bool known = strncmp(meaning, "rgb", 3) == 0 || strcmp(meaning, "normal") == 0;
    if (known && about.pod == FIRN_ABC_F64) about.pod = FIRN_ABC_F32;
    return put_column(w, shape, c, count, &about, 1, error);
}

/* ---- samples ---- */

/* Of the finite positions; min above max if there are none. */
static firn_status put_bounds(firn_alembic_writer *w, int32_t shape, const firn_column *P,
                              int64_t count, firn_error *error)
{
    double box[6];
    for (int i = 0; i < 6; i++) box[i] = i < 3 ? 0x1.fffffffffffffp1023 : -0x1.fffffffffffffp1023;
    for (int64_t i = 0; i < 3 * count; i++) {
        const double x = (double)(float)firn_type_get(P->type, P->data, i);
        if (!isfinite(x)) continue;
        box[i % 3] = fmin(box[i % 3], x);
        box[3 + i % 3] = fmax(box[3 + i % 3], x);
    }
    firn_abc_series about = named(".selfBnds", FIRN_ABC_F64, 6), *s;
    about.scalar = true;
    const firn_status st = firn_abc_find_series(w, shape, &about, &s, error);
    if (st == FIRN_OK) store(w, s, box, sizeof box, 1);
    return st;
}

static firn_status put_ids(firn_alembic_writer *w, int32_t shape, const firn_column *id,
                           int64_t count, firn_error *error)
{
    firn_abc_series about = named(".pointIds", FIRN_ABC_U64, 1), *s;
    about.ordered = id == NULL;
    firn_status st = firn_abc_find_series(w, shape, &about, &s, error);
    if (st != FIRN_OK) return st;
    numbers n = {0};
    if (!id || (id->type != FIRN_TYPE_i64 && id->type != FIRN_TYPE_u64)) {
        uint64_t *made = n.made = malloc(((size_t)count + 1) * sizeof *made);
        if (!made) return no_memory(error);
        for (int64_t i = 0; i < count; i++) {
            made[i] = (uint64_t)(id ? firn_whole(firn_type_get(id->type, id->data, i)) : i);
        }
    }
    store(w, s, n.made ? n.made : id->data, (uint64_t)count * sizeof(uint64_t), (uint64_t)count);
    free(n.made);
    return FIRN_OK;
}

static const firn_column *find_column(const firn_points *points, const char *name,
                                      int32_t components)
{
    const firn_column *c = firn_points_find(points, name);
    return c && c->components == components && !c->words ? c : NULL;
}

/* Whether the frame can have a sample of the object. */
static firn_status check_sample(firn_alembic_writer *w, int32_t object, firn_alembic_kind kind,
                                const firn_points *points, firn_error *error)
{
    if (object < 0 || object >= w->shape_count || w->shape[object].kind != kind) {
        return firn_fail(error, FIRN_INVALID, "%s: object %d is no %s of this file", w->path,
                         object, firn_alembic_kind_name(kind));
    }
    if (w->finished || w->shape[object].given) {
        return firn_fail(error, FIRN_INVALID, "%s: %s", w->path,
                         w->finished ? "is finished" : "the frame has a sample already");
    }
    if (!find_column(points, "P", 3)) {
        return firn_fail(error, FIRN_INVALID, "%s: there is no P of three components", w->path);
    }
    return FIRN_OK;
}

/* Columns, and what a kind has of its own: ids and widths of points, corners of meshes. */
static firn_status put_points(firn_alembic_writer *w, int32_t shape, const firn_points *points,
                              const int32_t *face, int64_t face_count, const int32_t *corner,
                              int64_t corner_count, firn_error *error)
{
    const bool is_points = w->shape[shape].kind == FIRN_ALEMBIC_POINTS;
    const int64_t n = points->count;
    const firn_column *P = find_column(points, "P", 3), *v = find_column(points, "v", 3),
                      *id = is_points ? find_column(points, "id", 1) : NULL,
                      *pscale = is_points ? find_column(points, "pscale", 1) : NULL;
    const firn_abc_series of_P = named("P", FIRN_ABC_F32, 3),
                          of_v = named(".velocities", FIRN_ABC_F32, 3),
                          of_width = named(".widths", FIRN_ABC_F32, 1),
                          of_corners = named(".faceIndices", FIRN_ABC_I32, 1),
                          of_faces = named(".faceCounts", FIRN_ABC_I32, 1);
    firn_status st = put_bounds(w, shape, P, n, error);
    if (st == FIRN_OK) st = put_column(w, shape, P, n, &of_P, 1, error);
    if (st == FIRN_OK && is_points) st = put_ids(w, shape, id, n, error);
    firn_abc_series *s;
    if (st == FIRN_OK && !is_points) {
        st = firn_abc_find_series(w, shape, &of_corners, &s, error);
        if (st == FIRN_OK) {
            store(w, s, corner, (uint64_t)corner_count * sizeof *corner, (uint64_t)corner_count);
            st = firn_abc_find_series(w, shape, &of_faces, &s, error);
        }
        if (st == FIRN_OK) {
            store(w, s, face, (uint64_t)face_count * sizeof *face, (uint64_t)face_count);
        }
    }
    if (st == FIRN_OK && v) st = put_column(w, shape, v, n, &of_v, 1, error);
    if (st == FIRN_OK && pscale) st = put_column(w, shape, pscale, n, &of_width, 2, error);
    for (int32_t i = 0; i < points->column_count && st == FIRN_OK; i++) {
        const firn_column *c = &points->column[i];
        if (c != P && c != v && c != id && c != pscale) st = put_attribute(w, shape, c, n, error);
    }
    if (st == FIRN_OK) w->shape[shape].given = true;
    return st;
}

static firn_status with_path(const firn_alembic_writer *w, firn_status st, const firn_error *inner,
                             firn_error *error)
{
    return st == FIRN_OK ? st : firn_fail(error, st, "%s: %s", w->path, inner->message);
}

firn_status firn_alembic_writer_points(firn_alembic_writer *w, int32_t object,
                                       const firn_points *points, firn_error *error)
{
    FIRN_REQUIRE(w, error);
    FIRN_REQUIRE(points, error);
    firn_error inner = {0};
    const firn_status st = check_sample(w, object, FIRN_ALEMBIC_POINTS, points, error);
    if (st != FIRN_OK) return st;
    return with_path(w, put_points(w, object, points, NULL, 0, NULL, 0, &inner), &inner, error);
}

firn_status firn_alembic_writer_mesh(firn_alembic_writer *w, int32_t object,
                                     const firn_points *vertices, const int32_t *face,
                                     int64_t face_count, const int32_t *corner,
                                     int64_t corner_count, firn_error *error)
{
    FIRN_REQUIRE(w, error);
    FIRN_REQUIRE(vertices, error);
    firn_status st = check_sample(w, object, FIRN_ALEMBIC_MESH, vertices, error);
    if (st != FIRN_OK) return st;
    int32_t *turned = malloc(((size_t)corner_count + 1) * sizeof *turned);
    if (!turned) return no_memory(error);
    int64_t used = 0;
    for (int64_t f = 0; f < face_count && st == FIRN_OK; f++) {
        if (face[f] < 0 || face[f] > corner_count - used) {
            st = firn_fail(error, FIRN_INVALID, "%s: face %lld has %d corners of %lld", w->path,
                           (long long)f, face[f], (long long)corner_count);
            break;
        }
        for (int32_t i = 0; i < face[f]; i++) turned[used + i] = corner[used + face[f] - 1 - i];
        used += face[f];
    }
    for (int64_t i = 0; i < used && st == FIRN_OK; i++) {
        if (turned[i] >= 0 && turned[i] < vertices->count) continue;
        st = firn_fail(error, FIRN_INVALID, "%s: a corner is vertex %d of %lld", w->path, turned[i],
                       (long long)vertices->count);
    }
    if (st == FIRN_OK && used != corner_count) {
        st = firn_fail(error, FIRN_INVALID, "%s: faces have %lld corners of %lld", w->path,
                       (long long)used, (long long)corner_count);
    }
    firn_error inner = {0};
    if (st == FIRN_OK) {
        st = with_path(
            w, put_points(w, object, vertices, face, face_count, turned, corner_count, &inner),
            &inner, error);
    }
    free(turned);
    return st;
}

/* ---- files ---- */

firn_alembic_writer_def firn_alembic_writer_def_default(void)
{
    return (firn_alembic_writer_def){.fps = 24};
}

static firn_status make_writer(const char *path, double fps, firn_alembic_writer **out,
                               firn_error *error)
{
    if (!(fps > 0 && isfinite(fps))) {
        return firn_fail_field(error, FIRN_INVALID, "fps %g must be above 0", fps);
    }
    firn_alembic_writer *w = calloc(1, sizeof *w);
    if (w) w->path = strdup(path);
    if (!w || !w->path) {
        free(w);
        return no_memory(error);
    }
    w->fps = fps;
    w->out = &w->own;
    *out = w;
    return FIRN_OK;
}

static firn_status begin(firn_alembic_writer *w, firn_error *error)
{
    firn_status st = firn_output_continue(&w->own, w->path, 0, error);
    if (st != FIRN_OK) return st;
    firn_ogawa_begin(&w->file, w->out);
    w->end = w->file.at;
    return firn_output_sync(w->out, error);
}

/* The unfinished file behind its last record. */
static firn_status go_on(firn_alembic_writer *w, firn_error *error)
{
    const firn_status st = firn_output_continue(&w->own, w->path, w->end, error);
    if (st == FIRN_OK) firn_ogawa_continue(&w->file, w->out, w->end);
    return st;
}

firn_status firn_alembic_writer_create(const char *path, const firn_alembic_writer_def *def,
                                       firn_alembic_writer **out, firn_error *error)
{
    FIRN_REQUIRE(out, error);
    *out = NULL;
    FIRN_REQUIRE(path, error);
    FIRN_REQUIRE(def, error);
    firn_alembic_writer *w = NULL;
    firn_status st = make_writer(path, def->fps, &w, error);
    if (st == FIRN_OK) st = begin(w, error);
    if (st != FIRN_OK) {
        firn_alembic_writer_destroy(w);
        return st;
    }
    *out = w;
    return FIRN_OK;
}

static int64_t last_frame_of(const firn_alembic_writer *w)
{
    return w->frame_count ? w->frame[w->frame_count - 1] : INT64_MIN;
}

firn_status firn_alembic_writer_resume(const char *path, const firn_alembic_writer_def *def,
                                       int64_t last_frame, firn_alembic_writer **out,
                                       firn_error *error)
{
    FIRN_REQUIRE(out, error);
    *out = NULL;
    FIRN_REQUIRE(path, error);
    FIRN_REQUIRE(def, error);
    /* Both may be there: a run that starts over leaves the finished file until it has another. The one
     * that reaches further is meant, and of two that reach as far the unfinished one. */
    firn_alembic_writer *part = NULL, *whole = NULL;
    char *part_path = malloc(strlen(path) + 8);
    firn_status st = part_path ? FIRN_OK : no_memory(error);
    if (st == FIRN_OK) sprintf(part_path, "%s.part", path);
    if (st == FIRN_OK) st = make_writer(path, def->fps, &part, error);
    if (st == FIRN_OK) st = make_writer(path, def->fps, &whole, error);
    if (st == FIRN_OK) st = firn_abc_read_records(part, part_path, last_frame, error);
    if (st == FIRN_OK) st = firn_abc_read_records(whole, path, last_frame, error);
    if (st == FIRN_OK && last_frame_of(whole) > last_frame_of(part)) {
        firn_alembic_writer *swap = part;
        part = whole;
        whole = swap;
        if (rename(path, part_path) != 0) {
            st = firn_fail(error, FIRN_OUTPUT, "%s: %s", path, strerror(errno));
        }
    }
    if (st == FIRN_OK) st = part->frame_count ? go_on(part, error) : begin(part, error);
    free(part_path);
    firn_alembic_writer_destroy(whole);
    if (st != FIRN_OK) {
        firn_alembic_writer_destroy(part);
        return st;
    }
    *out = part;
    return FIRN_OK;
}

void firn_alembic_writer_destroy(firn_alembic_writer *w)
{
    if (!w) return;
    for (int32_t i = 0; i < w->shape_count; i++) {
        for (int32_t k = 0; k < w->shape[i].count; k++) {
            free(w->shape[i].series[k].word);
            free(w->shape[i].series[k].dimensions);
        }
        free(w->shape[i].series);
    }
    firn_output_discard(&w->own);
    free(w->shape);
    free(w->frame);
    free(w->path);
    free(w);
}

firn_status firn_alembic_writer_add(firn_alembic_writer *w, firn_alembic_kind kind,
                                    const char *name, int32_t *object, firn_error *error)
{
    FIRN_REQUIRE(w, error);
    FIRN_REQUIRE(name, error);
    FIRN_REQUIRE(object, error);
    firn_error inner = {0};
    if (kind != FIRN_ALEMBIC_POINTS && kind != FIRN_ALEMBIC_MESH) {
        return firn_fail(error, FIRN_INVALID, "%s: kind %d must be points or mesh", w->path,
                         (int)kind);
    }
    return with_path(w, firn_abc_add_shape(w, kind, name, object, &inner), &inner, error);
}

firn_status firn_alembic_writer_commit(firn_alembic_writer *w, int64_t frame, firn_error *error)
{
    FIRN_REQUIRE(w, error);
    if (w->finished || (w->frame_count > 0 && frame <= last_frame_of(w))) {
        return firn_fail(error, FIRN_INVALID, "%s: frame %lld must come after %lld", w->path,
                         (long long)frame, (long long)last_frame_of(w));
    }
    for (int32_t i = 0; i < w->shape_count; i++) {
        if (w->shape[i].given) continue;
        return firn_fail(error, FIRN_INVALID, "%s: object %s has no sample of frame %lld", w->path,
                         w->shape[i].name, (long long)frame);
    }
    firn_error inner = {0};
    firn_status st = firn_abc_write_record(w, frame, &inner);
    if (st != FIRN_OK) return with_path(w, st, &inner, error);
    st = firn_output_sync(w->out, error);
    if (st != FIRN_OK) return st;
    st = firn_abc_take_frame(w, frame, &inner);
    if (st == FIRN_OK) w->end = w->file.at;
    return with_path(w, st, &inner, error);
}

int64_t firn_alembic_writer_frames(const firn_alembic_writer *w, int64_t *last)
{
    if (last) *last = last_frame_of(w);
    return w->frame_count;
}

firn_status firn_alembic_writer_finish(firn_alembic_writer *w, firn_error *error)
{
    FIRN_REQUIRE(w, error);
    if (w->finished) return firn_fail(error, FIRN_INVALID, "%s: is finished", w->path);
    w->finished = true;
    if (w->frame_count == 0) {
        w->own.keep = false;
        firn_output_discard(&w->own);
        return FIRN_OK;
    }
    firn_status st = FIRN_OK;
    if (w->own.failed || w->file.at != w->end) { /* a frame that was not committed */
        firn_output_discard(&w->own);
        st = go_on(w, error);
        if (st != FIRN_OK) return st;
    }
    firn_error inner = {0};
    st = firn_abc_write_tree(w, &inner);
    if (st == FIRN_OK) return firn_output_commit(&w->own, error);
    firn_output_discard(&w->own);
    return with_path(w, st, &inner, error);
}

firn_status firn_abc_write_points(const firn_points *points, int64_t frame, double fps,
                                  firn_output *out, firn_error *error)
{
    firn_alembic_writer *w = NULL;
    int32_t object = 0;
    firn_status st = make_writer(out->path, fps, &w, error);
    if (st != FIRN_OK) return st;
    w->out = out;
    firn_ogawa_begin(&w->file, out);
    st = firn_abc_add_shape(w, FIRN_ALEMBIC_POINTS, "particles", &object, error);
    if (st == FIRN_OK && !find_column(points, "P", 3)) {
        st = firn_fail(error, FIRN_INVALID, "there is no P of three components");
    }
    if (st == FIRN_OK) st = put_points(w, object, points, NULL, 0, NULL, 0, error);
    if (st == FIRN_OK) st = firn_abc_take_frame(w, frame, error);
    if (st == FIRN_OK) st = firn_abc_write_tree(w, error);
    firn_alembic_writer_destroy(w);
    return st;
}
