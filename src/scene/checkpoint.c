/* Checkpoints: one file with all that a run needs to go on with the same bits.
 *
 *   "FIRNCKPT", version, sizes, frame, instruction set    (head)
 *   how often each object has been emitted
 *   the scene as lines, to say what has changed since
 *   the sim's state (firn_sim_save)
 *   checksum of everything before */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "scene/stage.h"

enum { VERSION = 1 };
static const char MAGIC[8] = {'F', 'I', 'R', 'N', 'C', 'K', 'P', 'T'};

typedef struct head {
    char magic[8];
    uint32_t version, objects;
    int64_t frame;
    uint64_t scene_bytes, state_bytes;
    char isa[16];
} head;

/* ---- checksum ---- */

/* Eight bytes at a time, mixed so that every bit of the input reaches every bit of the sum; pieces
 * may come in any sizes. */
typedef struct checksum {
    uint64_t sum, word, count;
} checksum;

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 32) * 0xd6e8feb86659fd93u;
    return x ^ x >> 29;
}

static void checksum_add(checksum *c, const void *data, size_t size)
{
    const uint8_t *p = data;
    while (size > 0 && (c->count & 7 || size < 8)) {
        c->word |= (uint64_t)*p++ << 8 * (c->count & 7);
        size--;
        if ((++c->count & 7) == 0) {
            c->sum = mix(c->sum + c->word + 0x9e3779b97f4a7c15u);
            c->word = 0;
        }
    }
    for (; size >= 8; size -= 8, p += 8, c->count += 8) {
        uint64_t word;
        memcpy(&word, p, sizeof word);
        c->sum = mix(c->sum + word + 0x9e3779b97f4a7c15u);
    }
    if (size > 0) checksum_add(c, p, size);
}

static uint64_t checksum_end(const checksum *c) { return mix(mix(c->sum ^ c->word) + c->count); }

/* ---- writing ---- */

typedef struct sink {
    firn_output *out; /* NULL: only counts */
    checksum sum;
} sink;

static int sink_write(void *user_data, const void *data, size_t size)
{
    sink *s = user_data;
    if (s->out) {
        firn_output_write(s->out, data, size);
        if (s->out->failed) return 1;
    }
    checksum_add(&s->sum, data, size);
    return 0;
}

static int count_bytes(void *user_data, const void *data, size_t size)
{
    (void)data;
    *(uint64_t *)user_data += size;
    return 0;
}

firn_status firn_make_folder(const char *path, firn_error *error)
{
    char *copy = strdup(path);
    if (!copy) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    for (char *p = copy + 1;; p++) {
        if (*p != '/' && *p != 0) continue;
        const char end = *p;
        *p = 0;
        if (mkdir(copy, 0777) != 0 && errno != EEXIST) {
            firn_status st = firn_fail(error, FIRN_OUTPUT, "%s: %s", copy, strerror(errno));
            free(copy);
            return st;
        }
        *p = end;
        if (!end) break;
    }
    free(copy);
    struct stat about;
    if (stat(path, &about) != 0 || !S_ISDIR(about.st_mode)) {
        return firn_fail(error, FIRN_OUTPUT, "%s: is not a folder", path);
    }
    return FIRN_OK;
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

static int64_t *list_frames(const char *folder, const char *name, int *count)
{
    *count = 0;
    DIR *dir = opendir(folder);
    if (!dir) return NULL;
    int64_t *frames = NULL, frame = 0;
    for (const struct dirent *e = readdir(dir); e; e = readdir(dir)) {
        if (!frame_of(e->d_name, name, &frame)) continue;
        int64_t *grown = realloc(frames, ((size_t)*count + 1) * sizeof *grown);
        if (!grown) break;
        frames = grown;
        frames[(*count)++] = frame;
    }
    closedir(dir);
    if (*count) qsort(frames, (size_t)*count, sizeof *frames, by_frame);
    return frames;
}

firn_status firn_checkpoint_write(const firn_stage *stage, const char *folder, int64_t frame,
                                  firn_error *error)
{
    const firn_scene *scene = stage->scene;
    firn_status st = firn_make_folder(folder, error);
    if (st != FIRN_OK) return st;
    char *path = file_name(folder, scene->name, frame), *lines = firn_scene_lines(scene);
    head h = {.version = VERSION, .objects = (uint32_t)scene->object_count, .frame = frame};
    memcpy(h.magic, MAGIC, sizeof h.magic);
    snprintf(h.isa, sizeof h.isa, "%s", firn_sim_get_info(stage->sim).isa);
    if (!path || !lines) st = firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    if (st == FIRN_OK) st = firn_sim_save(stage->sim, count_bytes, &h.state_bytes, error);
    firn_output out = {0};
    if (st == FIRN_OK) st = firn_output_open(&out, path, error);
    if (st == FIRN_OK) {
        h.scene_bytes = strlen(lines) + 1;
        sink s = {.out = &out};
        sink_write(&s, &h, sizeof h);
        for (int32_t i = 0; i < scene->object_count; i++) {
            sink_write(&s, &stage->object[i].emitted, sizeof stage->object[i].emitted);
        }
        sink_write(&s, lines, (size_t)h.scene_bytes);
        st = firn_sim_save(stage->sim, sink_write, &s, error);
        const uint64_t sum = checksum_end(&s.sum);
        firn_output_write(&out, &sum, sizeof sum);
        const firn_status written = firn_output_commit(&out, error); /* says why */
        if (written != FIRN_OK) st = written;
    }
    free(lines);
    free(path);
    if (st != FIRN_OK) return st;
    int count = 0;
    int64_t *frames = list_frames(folder, scene->name, &count);
    int64_t kept = 0;
    for (int i = 0; i < count; i++) {
        /* Those of later frames belong to a run that is being redone: to go on from them after this
         * one is cut off would mix the two. */
        if (frames[i] <= frame && kept++ < scene->checkpoint.keep) continue;
        char *old = file_name(folder, scene->name, frames[i]);
        if (old) remove(old);
        free(old);
    }
    free(frames);
    return FIRN_OK;
}

/* ---- reading ---- */

firn_status firn_checkpoint_read(const char *path, firn_checkpoint *out, firn_error *error)
{
    *out = (firn_checkpoint){0};
    firn_status st = firn_bytes_read(path, &out->bytes, error);
    if (st != FIRN_OK) return st;
    const firn_bytes *b = &out->bytes;
    head h;
    const char *why = NULL;
    if (b->size < sizeof h || memcmp(b->data, MAGIC, sizeof MAGIC) != 0) {
        why = "is not a checkpoint of Firn";
    } else {
        memcpy(&h, b->data, sizeof h);
        checksum sum = {0};
        const uint64_t fixed = sizeof h + (uint64_t)h.objects * sizeof(int64_t) + sizeof sum.sum;
        if (h.version != VERSION) {
            why = "was written by another version of Firn: run the scene from the start";
        } else if (h.scene_bytes > b->size || h.state_bytes > b->size || h.scene_bytes == 0 ||
                   fixed + h.scene_bytes + h.state_bytes != b->size) {
            why = "is cut short or damaged: its size is not what it says";
        } else {
            uint64_t stored;
            memcpy(&stored, b->data + b->size - sizeof stored, sizeof stored);
            checksum_add(&sum, b->data, b->size - sizeof stored);
            if (checksum_end(&sum) != stored) why = "is damaged: its checksum does not fit";
        }
    }
    if (why) {
        firn_checkpoint_free(out);
        return firn_fail(error, FIRN_INVALID, "%s: %s", path, why);
    }
    const size_t scene = sizeof h + (size_t)h.objects * sizeof(int64_t);
    out->frame = h.frame;
    out->scene = (const char *)b->data + scene;
    out->state = scene + (size_t)h.scene_bytes;
    memcpy(out->isa, h.isa, sizeof out->isa);
    out->isa[sizeof out->isa - 1] = 0;
    b->data[out->state - 1] = 0;
    return FIRN_OK;
}

void firn_checkpoint_find(const char *folder, const char *name, int64_t last, firn_checkpoint *out,
                          char *notes, size_t notes_size)
{
    *out = (firn_checkpoint){.frame = INT64_MIN};
    notes[0] = 0;
    int count = 0;
    int64_t *frames = list_frames(folder, name, &count);
    for (int i = 0; i < count; i++) {
        if (frames[i] > last) continue;
        char *path = file_name(folder, name, frames[i]);
        firn_error why = {0};
        const firn_status st = path ? firn_checkpoint_read(path, out, &why) : FIRN_NO_MEMORY;
        free(path);
        if (st == FIRN_OK) break;
        const size_t used = strlen(notes);
        snprintf(notes + used, notes_size - used, "%s\n", why.message);
        *out = (firn_checkpoint){.frame = INT64_MIN};
    }
    free(frames);
}

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

firn_status firn_checkpoint_load(const firn_checkpoint *checkpoint, firn_stage *stage,
                                 firn_error *error)
{
    head h;
    memcpy(&h, checkpoint->bytes.data, sizeof h);
    if ((int64_t)h.objects != stage->scene->object_count) {
        return firn_fail(
            error, FIRN_INVALID,
            "the checkpoint was made with %u objects and the scene has %d: run it from "
            "the start",
            h.objects, stage->scene->object_count);
    }
    source s = {checkpoint->bytes.data + checkpoint->state, (size_t)h.state_bytes};
    firn_status st = firn_sim_load(stage->sim, source_read, &s, error);
    if (st != FIRN_OK) return st;
    for (int32_t i = 0; i < stage->scene->object_count; i++) {
        memcpy(&stage->object[i].emitted,
               checkpoint->bytes.data + sizeof h + (size_t)i * sizeof(int64_t), sizeof(int64_t));
    }
    return FIRN_OK;
}

void firn_checkpoint_free(firn_checkpoint *checkpoint)
{
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
