/* Checkpoints: one file with all that a run needs to go on with the same bits.
 *
 *   "FIRNCKPT", version, sizes, frame, instruction set    (head)
 *   per object: how far its stream is, and what its particle file brought along
 *   the scene as lines, to say what has changed since
 *   the sim's state (firn_sim_save)
 *   checksum of everything before */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "run/job.h"

enum { VERSION = 5 };
#define MOST_COUNT ((int64_t)1 << 53) /* of frames and emissions: more overflow */
static const char MAGIC[8] = {'F', 'I', 'R', 'N', 'C', 'K', 'P', 'T'};

typedef struct head {
    char magic[8];
    uint32_t version, objects;
    int64_t frame;
    uint64_t object_bytes, scene_bytes, state_bytes;
    char isa[16];
    uint64_t variants; /* of materials: firn_variants_sum */
} head;

/* One per object; its columns follow: all heads, then all data. */
typedef struct object_head {
    firn_emission emission;
    int64_t count; /* rows */
    uint64_t first_id;
    int64_t columns;
} object_head;

typedef struct column_head {
    char name[FIRN_NAME_SIZE];
    int32_t type, components;
} column_head;

/* ---- checksum ---- */

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 32) * 0xd6e8feb86659fd93u;
    return x ^ x >> 29;
}

/* Eight bytes at a time, mixed so that every bit of the input reaches every bit of the sum. */
uint64_t firn_checkpoint_sum(const void *data, size_t size)
{
    const uint8_t *p = data;
    uint64_t sum = 0, word = 0;
    for (size_t left = size; left > 0;) {
        const size_t n = left < sizeof word ? left : sizeof word;
        word = 0;
        memcpy(&word, p, n);
        sum = mix(sum + word + 0x9e3779b97f4a7c15u);
        p += n;
        left -= n;
    }
    return mix(sum + size);
}

/* ---- writing ---- */

/* Where pieces go, one after another; there is room for all. */
static int append(void *user_data, const void *data, size_t size)
{
    firn_bytes *to = user_data;
    if (size > 0) memcpy(to->data + to->size, data, size);
    to->size += size;
    return 0;
}

static int count_bytes(void *user_data, const void *data, size_t size)
{
    (void)data;
    *(uint64_t *)user_data += size;
    return 0;
}

static size_t column_bytes(const firn_points *points, int32_t c)
{
    const firn_column *column = &points->column[c];
    return (size_t)points->count * (size_t)column->components * firn_type_size(column->type);
}

/* False when `write` did not take it all. */
static bool write_objects(const firn_job *job, firn_write_function *write, void *user_data)
{
    bool fine = true;
    for (int32_t i = 0; i < job->scene->object_count && fine; i++) {
        const firn_job_object *o = &job->object[i];
        const firn_points *p = &o->carried;
        const object_head about = {o->emission, p->count, o->first_id, p->column_count};
        fine = write(user_data, &about, sizeof about) == 0;
        for (int32_t c = 0; c < p->column_count && fine; c++) {
            column_head column = {.type = (int32_t)p->column[c].type,
                                  .components = p->column[c].components};
            memcpy(column.name, p->column[c].name, strlen(p->column[c].name));
            fine = write(user_data, &column, sizeof column) == 0;
        }
        for (int32_t c = 0; c < p->column_count && fine; c++) {
            fine = write(user_data, p->column[c].data, column_bytes(p, c)) == 0;
        }
    }
    return fine;
}

static char *file_name(const char *folder, const char *name, int64_t frame)
{
    const size_t room = strlen(folder) + strlen(name) + 48;
    char *path = malloc(room);
    if (path) snprintf(path, room, "%s/%s.%06lld.ckpt", folder, name, (long long)frame);
    return path;
}

/* The frame in NAME.000012.ckpt; false when the file is another. */
static bool frame_of(const char *file, const char *name, int64_t *frame)
{
    const size_t length = strlen(name);
    if (strncmp(file, name, length) != 0 || file[length] != '.') return false;
    char *end = NULL;
    *frame = strtoll(file + length + 1, &end, 10);
    return end != file + length + 1 && strcmp(end, ".ckpt") == 0;
}

/* The frames of the checkpoints in a folder, sorted, newest first. */
static int by_frame(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return a > b ? -1 : a < b;
}

/* *frames is to be freed. */
static firn_status list_frames(const char *folder, const char *name, int64_t **frames, int *count,
                               firn_error *error)
{
    *count = 0;
    *frames = NULL;
    DIR *dir = opendir(folder);
    if (!dir && errno == ENOENT) return FIRN_OK;
    if (!dir) return firn_fail(error, FIRN_INVALID, "%s: %s", folder, strerror(errno));
    firn_status st = FIRN_OK;
    int64_t frame = 0;
    for (const struct dirent *e = readdir(dir); e && st == FIRN_OK; e = readdir(dir)) {
        if (!frame_of(e->d_name, name, &frame)) continue;
        int64_t *grown = realloc(*frames, ((size_t)*count + 1) * sizeof *grown);
        if (grown) {
            *frames = grown;
            grown[(*count)++] = frame;
        } else {
            st = firn_fail(error, FIRN_NO_MEMORY, "out of memory");
        }
    }
    closedir(dir);
    if (*count) qsort(*frames, (size_t)*count, sizeof **frames, by_frame);
    return st;
}

double firn_checkpoint_bytes(const char *folder, const char *name)
{
    int count = 0;
    int64_t *frames = NULL;
    double bytes = 0; /* an estimate: those that cannot be counted are left out */
    if (list_frames(folder, name, &frames, &count, NULL) != FIRN_OK) count = 0;
    for (int i = 0; i < count; i++) {
        struct stat about;
        char *path = file_name(folder, name, frames[i]);
        if (path && stat(path, &about) == 0) bytes += (double)about.st_size;
        free(path);
    }
    free(frames);
    return bytes;
}

/* All but the frame; *lines is to be freed. */
static firn_status make_head(const firn_job *job, head *h, char **lines, firn_error *error)
{
    *h = (head){.version = VERSION,
                .objects = (uint32_t)job->scene->object_count,
                .variants = firn_variants_sum(&job->variants, job->scene)};
    memcpy(h->magic, MAGIC, sizeof h->magic);
    snprintf(h->isa, sizeof h->isa, "%s", firn_sim_get_info(job->sim).isa);
    *lines = firn_scene_lines(job->scene);
    if (!*lines) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    h->scene_bytes = strlen(*lines) + 1;
    (void)write_objects(job, count_bytes, &h->object_bytes);
    return firn_sim_save(job->sim, count_bytes, &h->state_bytes, error);
}

firn_status firn_checkpoint_size(const firn_job *job, int64_t particles, double *bytes,
                                 firn_error *error)
{
    const double usual = 140; /* bytes of a particle, where there is none yet to measure */
    const double count = (double)firn_sim_count(job->sim);
    head h;
    char *lines = NULL;
    const firn_status st = make_head(job, &h, &lines, error);
    free(lines);
    *bytes = (double)(sizeof h + h.object_bytes + h.scene_bytes + sizeof(uint64_t));
    *bytes += count > 0 ? (double)h.state_bytes * ((double)particles / count)
                        : (double)h.state_bytes + usual * (double)particles;
    return st;
}

firn_status firn_checkpoint_make(const firn_job *job, int64_t frame, firn_bytes *out,
                                 firn_error *error)
{
    *out = (firn_bytes){0};
    head h;
    char *lines = NULL;
    firn_status st = make_head(job, &h, &lines, error);
    if (st == FIRN_OK) {
        out->data = malloc((size_t)(sizeof h + h.object_bytes + h.scene_bytes + h.state_bytes));
        if (!out->data) st = firn_fail(error, FIRN_NO_MEMORY, "out of memory for a checkpoint");
    }
    if (st == FIRN_OK) {
        h.frame = frame;
        append(out, &h, sizeof h);
        (void)write_objects(job, append, out);
        append(out, lines, (size_t)h.scene_bytes);
        st = firn_sim_save(job->sim, append, out, error);
    }
    free(lines);
    if (st != FIRN_OK) firn_bytes_free(out);
    return st;
}

static firn_status write_file(const char *path, const firn_bytes *bytes, firn_error *error)
{
    firn_output out = {0};
    const firn_status st = firn_output_open(&out, path, error);
    if (st != FIRN_OK) return st;
    const uint64_t sum = firn_checkpoint_sum(bytes->data, bytes->size);
    firn_output_write(&out, bytes->data, bytes->size);
    firn_output_write(&out, &sum, sizeof sum);
    return firn_output_commit(&out, error);
}

firn_status firn_job_save(const firn_job *job, int64_t frame, const char *path, firn_error *error)
{
    firn_bytes bytes;
    firn_status st = firn_checkpoint_make(job, frame, &bytes, error);
    if (st == FIRN_OK) st = write_file(path, &bytes, error);
    firn_bytes_free(&bytes);
    return st;
}

firn_status firn_checkpoint_store(const firn_scene *scene, const char *folder, int64_t frame,
                                  const firn_bytes *bytes, firn_error *error)
{
    firn_status st = firn_make_folder(folder, error);
    if (st != FIRN_OK) return st;
    char *path = file_name(folder, scene->name, frame);
    st = path ? write_file(path, bytes, error) : firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    free(path);
    int count = 0;
    int64_t *frames = NULL;
    if (st == FIRN_OK) st = list_frames(folder, scene->name, &frames, &count, error);
    int64_t kept = 0;
    for (int i = 0; st == FIRN_OK && i < count; i++) {
        /* Those of later frames belong to a run that is being redone: to go on from them after this
         * one is cut off would mix the two. */
        if (frames[i] <= frame && kept++ < scene->checkpoint.keep) continue;
        char *old = file_name(folder, scene->name, frames[i]);
        if (old)
            remove(old);
        else
            st = firn_fail(error, FIRN_NO_MEMORY, "out of memory");
        free(old);
    }
    free(frames);
    return st;
}

/* ---- reading ---- */

typedef struct source {
    const uint8_t *at;
    size_t left;
} source;

static int source_read(void *user_data, void *data, size_t size)
{
    source *s = user_data;
    if (size > s->left) return 1;
    memcpy(data, s->at, size);
    s->at += size;
    s->left -= size;
    return 0;
}

static firn_status damaged(const char *name, const char *why, firn_error *error)
{
    return firn_fail(error, FIRN_INVALID, "%s: is damaged: %s", name, why);
}

/* One object's part; what of it was read is there to be freed, whatever happens. */
static firn_status read_object(const char *name, source *from, firn_job_object *out,
                               firn_error *error)
{
    const char *why = "the attributes of an object make no sense";
    object_head about;
    if (source_read(from, &about, sizeof about) != 0 || about.emission.emitted < 0 ||
        about.emission.emitted > MOST_COUNT || about.emission.layer < 0 ||
        about.emission.layer > MOST_COUNT || about.emission.within < 0 ||
        about.emission.within > INT32_MAX || !(fabs(about.emission.begin) < 1e300) ||
        !(fabs(about.emission.given) < 1e300) || about.count < 0 || about.columns < 0 ||
        about.columns > FIRN_MAX_COLUMNS ||
        (size_t)about.columns > from->left / sizeof(column_head)) {
        return damaged(name, why, error);
    }
    out->emission = about.emission;
    out->first_id = about.first_id;
    firn_points *p = &out->carried;
    p->count = about.columns ? about.count : 0;
    source data = *from;
    data.at += (size_t)about.columns * sizeof(column_head);
    data.left -= (size_t)about.columns * sizeof(column_head);
    for (int64_t c = 0; c < about.columns; c++) {
        column_head column;
        if (source_read(from, &column, sizeof column) != 0 || column.type < 0 ||
            column.type >= FIRN_TYPE_COUNT || column.components < 1 ||
            column.components > FIRN_MAX_COMPONENTS ||
            (uint64_t)p->count > data.left / ((uint64_t)column.components *
                                              firn_type_size((firn_type)column.type))) {
            return damaged(name, why, error);
        }
        column.name[sizeof column.name - 1] = 0;
        firn_error inner = {0};
        const firn_column *to =
            firn_points_add(p, column.name, (firn_type)column.type, column.components, &inner);
        if (!to) return firn_fail(error, inner.status, "%s: %.900s", name, inner.message);
        (void)source_read(&data, to->data,
                          column_bytes(p, p->column_count - 1)); /* there is enough */
    }
    *from = data;
    return FIRN_OK;
}

/* Fills `out`, whose bytes are there; what it has taken is there to be freed, whatever happens. */
static firn_status examine(const char *name, firn_checkpoint *out, firn_error *error)
{
    const firn_bytes *b = &out->bytes;
    const uint64_t least = sizeof(head) + sizeof(uint64_t);
    head h;
    if (b->size < least || memcmp(b->data, MAGIC, sizeof MAGIC) != 0) {
        return firn_fail(error, FIRN_INVALID, "%s: is not a checkpoint of Firn", name);
    }
    memcpy(&h, b->data, sizeof h);
    if (h.version != VERSION) {
        return firn_fail(error, FIRN_INVALID,
                         "%s: was written by another version of Firn: run the scene from the start",
                         name);
    }
    if (h.object_bytes > b->size || h.scene_bytes > b->size || h.state_bytes > b->size ||
        h.scene_bytes == 0 || least + h.object_bytes + h.scene_bytes + h.state_bytes != b->size) {
        return firn_fail(error, FIRN_INVALID,
                         "%s: is cut short or damaged: its size does not match its header", name);
    }
    uint64_t stored;
    memcpy(&stored, b->data + b->size - sizeof stored, sizeof stored);
    if (firn_checkpoint_sum(b->data, b->size - sizeof stored) != stored) {
        return damaged(name, "its checksum does not fit", error);
    }
    if (h.frame < -MOST_COUNT || h.frame > MOST_COUNT) {
        return damaged(name, "its frame makes no sense", error);
    }
    source objects = {b->data + sizeof h, (size_t)h.object_bytes};
    if (h.objects > h.object_bytes / sizeof(object_head)) {
        return damaged(name, "too many objects", error);
    }
    out->object = calloc((size_t)h.objects + 1, sizeof *out->object);
    if (!out->object) return firn_fail(error, FIRN_NO_MEMORY, "%s: out of memory", name);
    while ((uint32_t)out->object_count < h.objects) {
        firn_job_object *object = &out->object[out->object_count++];
        const firn_status st = read_object(name, &objects, object, error);
        if (st != FIRN_OK) return st;
    }
    if (objects.left > 0) {
        return damaged(name, "its objects are smaller than its header says", error);
    }
    const size_t scene = sizeof h + (size_t)h.object_bytes;
    out->frame = h.frame;
    out->variants = h.variants;
    out->scene = (const char *)b->data + scene;
    out->state = scene + (size_t)h.scene_bytes;
    memcpy(out->isa, h.isa, sizeof out->isa);
    out->isa[sizeof out->isa - 1] = 0;
    b->data[out->state - 1] = 0;
    return FIRN_OK;
}

firn_status firn_checkpoint_parse(const char *name, firn_bytes *bytes, firn_checkpoint *out,
                                  firn_error *error)
{
    *out = (firn_checkpoint){.bytes = *bytes};
    *bytes = (firn_bytes){0};
    const firn_status st = examine(name, out, error);
    if (st != FIRN_OK) firn_checkpoint_free(out);
    return st;
}

firn_status firn_checkpoint_read(const char *path, firn_checkpoint *out, firn_error *error)
{
    *out = (firn_checkpoint){0};
    firn_bytes bytes;
    const firn_status st = firn_bytes_read(path, &bytes, error);
    return st == FIRN_OK ? firn_checkpoint_parse(path, &bytes, out, error) : st;
}

firn_status firn_checkpoint_find(const char *folder, const char *name, int64_t last,
                                 firn_checkpoint *out, char *notes, size_t notes_size,
                                 firn_error *error)
{
    *out = (firn_checkpoint){.frame = INT64_MIN};
    notes[0] = 0;
    int count = 0;
    int64_t *frames = NULL;
    firn_status st = list_frames(folder, name, &frames, &count, error);
    for (int i = 0; st == FIRN_OK && i < count; i++) {
        if (frames[i] > last) continue;
        char *path = file_name(folder, name, frames[i]);
        firn_error why = {0};
        st = path ? firn_checkpoint_read(path, out, &why)
                  : firn_fail(&why, FIRN_NO_MEMORY, "out of memory");
        if (st == FIRN_OK && out->frame != frames[i]) {
            st = firn_fail(&why, FIRN_INVALID, "%s: is of frame %lld, unlike its name", path,
                           (long long)out->frame);
            firn_checkpoint_free(out);
        }
        free(path);
        if (st == FIRN_OK) break;
        *out = (firn_checkpoint){.frame = INT64_MIN};
        if (st == FIRN_NO_MEMORY) { /* an older one would not be the better for it */
            if (error) *error = why;
            break;
        }
        const size_t used = strlen(notes);
        snprintf(notes + used, notes_size - used, "%s\n", why.message);
        st = FIRN_OK;
    }
    if (st == FIRN_OK && out->frame == INT64_MIN && count > 0 && frames[count - 1] > last) {
        st = firn_fail(error, FIRN_INVALID,
                       "%s: the checkpoints are of frames %lld to %lld, after the last frame asked "
                       "for, %lld; ask for a later one, or run without --resume to start over",
                       folder, (long long)frames[count - 1], (long long)frames[0], (long long)last);
    }
    free(frames);
    return st;
}

firn_status firn_checkpoint_load(firn_checkpoint *checkpoint, firn_job *job, firn_error *error)
{
    if (checkpoint->object_count != job->scene->object_count) {
        return firn_fail(
            error, FIRN_INVALID,
            "the checkpoint was made with %d objects and the scene has %d: run it from "
            "the start",
            checkpoint->object_count, job->scene->object_count);
    }
    if (checkpoint->variants != firn_variants_sum(&job->variants, job->scene)) {
        return firn_fail(
            error, FIRN_INVALID,
            "the checkpoint was made with noises or shells on other parameters: run the "
            "scene from the start");
    }
    const size_t end = checkpoint->bytes.size - sizeof(uint64_t); /* the checksum's */
    source s = {checkpoint->bytes.data + checkpoint->state, end - checkpoint->state};
    firn_status st = firn_sim_load(job->sim, source_read, &s, error);
    for (int32_t i = 0; i < checkpoint->object_count && st == FIRN_OK; i++) {
        firn_job_object *from = &checkpoint->object[i], *to = &job->object[i];
        if (from->emission.emitted > 0 || from->emission.layer > 0) to->emission = from->emission;
        to->first_id = from->first_id;
        to->carried = from->carried;
        from->carried = (firn_points){0};
    }
    if (st == FIRN_OK) st = firn_emitters_open(job, error);
    return st == FIRN_OK ? firn_props_resume(&job->props, job->sim, error) : st;
}

void firn_checkpoint_free(firn_checkpoint *checkpoint)
{
    for (int32_t i = 0; i < checkpoint->object_count; i++) {
        firn_points_free(&checkpoint->object[i].carried);
    }
    free(checkpoint->object);
    firn_bytes_free(&checkpoint->bytes);
    *checkpoint = (firn_checkpoint){0};
}

/* ---- the scene as lines ---- */

typedef struct text {
    char *data;
    size_t used, room;
    bool failed;
} text;

static void add(text *t, const char *piece)
{
    const size_t n = strlen(piece);
    if (t->used + n + 1 > t->room) {
        const size_t room = 2 * (t->used + n + 1) + 256;
        char *grown = realloc(t->data, room);
        if (!grown) {
            t->failed = true;
            return;
        }
        t->data = grown;
        t->room = room;
    }
    memcpy(t->data + t->used, piece, n + 1);
    t->used += n;
}

static void add_lines(text *t, const firn_value *v, const char *path)
{
    if (v->kind == FIRN_SCALAR) {
        add(t, path);
        add(t, ": ");
        add(t, v->text);
        add(t, "\n");
        return;
    }
    int i = 0;
    for (const firn_value *c = v->child; c; c = c->next, i++) {
        char longer[512];
        if (c->key) {
            snprintf(longer, sizeof longer, "%s%s%s", path, *path ? "." : "", c->key);
        } else {
            snprintf(longer, sizeof longer, "%s[%d]", path, i);
        }
        add_lines(t, c, longer);
    }
}

char *firn_scene_lines(const firn_scene *scene)
{
    text t = {0};
    add(&t, "");
    add_lines(&t, scene->tree.root, "");
    if (!t.failed) return t.data;
    free(t.data);
    return NULL;
}

firn_status firn_job_load(firn_job *job, const char *path, int64_t *frame, firn_error *error)
{
    firn_checkpoint c;
    firn_status st = firn_checkpoint_read(path, &c, error);
    if (st != FIRN_OK) return st;
    const int64_t saved = c.frame;
    st = firn_checkpoint_load(&c, job, error);
    if (st == FIRN_OK && frame) *frame = saved;
    firn_checkpoint_free(&c);
    return st;
}
