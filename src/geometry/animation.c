/* Meshes that change over time, from files: the samples of Alembic objects, or numbered files. Between two
 * samples with the same faces vertices go along straight lines; otherwise the earlier sample holds, as it
 * does for surfaces of voxels, whose vertices belong to the voxels and not to the material. */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <firn/alembic.h>
#include <firn/geometry.h>

#include "base/error.h"
#include "geometry/mesh.h"

/* One of a sequence of files. */
typedef struct numbered {
    int64_t number;
    char *path;
} numbered;

struct firn_animation {
    double scale;
    firn_alembic *alembic; /* NULL: files */
    int32_t *object;       /* of that file */
    int32_t object_count;
    numbered *file;
    double *time; /* s, rising, of the samples or files; a still mesh has one */
    int64_t time_count;
    bool constant; /* topology */
    bool remade;   /* vertices of one sample are not those of the next */
};

static firn_status no_memory(firn_error *error)
{
    return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
}

/* ---- sequences of files ---- */

static int by_number(const void *left, const void *right)
{
    const numbered *a = left, *b = right;
    return (a->number > b->number) - (a->number < b->number);
}

/* Whether a name is `head`, a number of so many digits or more (0: without leading zeros), and `tail`. */
static bool is_numbered(const char *name, const char *head, size_t head_size, const char *tail,
                        int width, int64_t *number)
{
    const size_t size = strlen(name), tail_size = strlen(tail);
    if (size <= head_size + tail_size || memcmp(name, head, head_size) != 0 ||
        strcmp(name + size - tail_size, tail) != 0) {
        return false;
    }
    char *end, again[32];
    *number = strtoll(name + head_size, &end, 10);
    snprintf(again, sizeof again, "%0*lld", width, (long long)*number);
    return end == name + size - tail_size && strlen(again) == (size_t)(end - name) - head_size &&
           memcmp(again, name + head_size, strlen(again)) == 0;
}

static firn_status add_file(firn_animation *a, char *path, int64_t number, firn_error *error)
{
    const int64_t n = a->time_count;
    if (path && (n & (n - 1)) == 0) {
        numbered *grown = realloc(a->file, 2 * (size_t)(n + 1) * sizeof *grown);
        if (grown) a->file = grown;
        if (!grown) {
            free(path);
            path = NULL;
        }
    }
    if (!path) return no_memory(error);
    a->file[a->time_count++] = (numbered){number, path};
    return FIRN_OK;
}

/* The files that a name with $F or $F4 stands for. */
static firn_status list_files(firn_animation *a, const char *pattern, firn_error *error)
{
    const char *slash = strrchr(pattern, '/'), *base = slash ? slash + 1 : pattern;
    const char *sign = strstr(base, "$F");
    const size_t folder_size = (size_t)(base - pattern);
    if (!sign || strstr(sign + 2, "$F")) {
        return firn_fail(error, FIRN_INVALID, "%s: $F must be once, in the file's own name",
                         pattern);
    }
    const char *tail = sign + 2;
    const int width = *tail >= '1' && *tail <= '9' ? *tail++ - '0' : 0;
    char *folder = strndup(folder_size ? pattern : ".", folder_size ? folder_size : 1);
    DIR *dir = folder ? opendir(folder) : NULL;
    firn_status st = !folder ? no_memory(error)
                     : dir   ? FIRN_OK
                             : firn_fail(error, FIRN_INVALID, "%s: %s", folder, strerror(errno));
    for (const struct dirent *entry; st == FIRN_OK && (entry = readdir(dir));) {
        int64_t number;
        if (!is_numbered(entry->d_name, base, (size_t)(sign - base), tail, width, &number))
            continue;
        const size_t room = folder_size + strlen(entry->d_name) + 1;
        char *path = malloc(room);
        if (path) snprintf(path, room, "%.*s%s", (int)folder_size, pattern, entry->d_name);
        st = add_file(a, path, number, error);
    }
    if (dir) closedir(dir);
    free(folder);
    if (st == FIRN_OK && a->time_count == 0) {
        st = firn_fail(error, FIRN_INVALID, "%s: there is no such file; $F stands for numbers",
                       pattern);
    }
    if (st == FIRN_OK) qsort(a->file, (size_t)a->time_count, sizeof *a->file, by_number);
    return st;
}

static firn_status open_files(firn_animation *a, const firn_animation_def *def, firn_error *error)
{
    const bool sequence = strstr(def->file, "$F") != NULL;
    firn_mesh_format format;
    firn_status st = firn_mesh_format_of(def->file, &format, error);
    if (st == FIRN_OK && def->path) {
        st = firn_fail(error, FIRN_INVALID, "%s: only Alembic files have objects to choose by path",
                       def->file);
    }
    if (st == FIRN_OK) {
        a->remade = sequence && (format == FIRN_MESH_VDB || format == FIRN_MESH_BINVOX);
        st = sequence ? list_files(a, def->file, error) : add_file(a, strdup(def->file), 0, error);
    }
    if (st == FIRN_OK) a->time = malloc((size_t)a->time_count * sizeof *a->time);
    if (st == FIRN_OK && !a->time) st = no_memory(error);
    for (int64_t i = 0; st == FIRN_OK && i < a->time_count; i++) {
        a->time[i] = (double)a->file[i].number / def->fps;
    }
    a->constant = !sequence;
    return st;
}

/* ---- Alembic ---- */

static int rising(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Adds the times of an object to those there are. */
static firn_status add_times(firn_animation *a, int32_t object, firn_error *error)
{
    double *more = NULL;
    int64_t count = 0;
    firn_status st = firn_alembic_times(a->alembic, object, &more, &count, error);
    if (st == FIRN_OK && count > 0) {
        double *grown = realloc(a->time, (size_t)(a->time_count + count) * sizeof *grown);
        if (grown) {
            memcpy(grown + a->time_count, more, (size_t)count * sizeof *grown);
            a->time = grown;
            a->time_count += count;
        } else {
            st = no_memory(error);
        }
    }
    free(more);
    return st;
}

/* The same time comes from several objects, up to rounding. */
static void merge_times(firn_animation *a)
{
    int64_t kept = 0;
    if (a->time_count > 1) qsort(a->time, (size_t)a->time_count, sizeof *a->time, rising);
    for (int64_t i = 0; i < a->time_count; i++) {
        if (kept == 0 || a->time[i] - a->time[kept - 1] > 1e-6) a->time[kept++] = a->time[i];
    }
    a->time_count = kept;
}

static firn_status refuse_objects(const firn_animation_def *def, const firn_alembic *alembic,
                                  firn_error *error)
{
    char known[300] = "";
    int meshes = 0;
    for (int32_t i = 0; i < firn_alembic_get_file(alembic).object_count; i++) {
        firn_alembic_object o;
        const firn_status st = firn_alembic_get_object(alembic, i, &o, error);
        if (st != FIRN_OK) return st;
        if (o.kind != FIRN_ALEMBIC_MESH && o.kind != FIRN_ALEMBIC_SUBD) continue;
        const size_t used = strlen(known);
        if (meshes++ < 8) {
            snprintf(known + used, sizeof known - used, "%s%.60s", used ? ", " : "", o.path);
        }
    }
    if (!meshes) return firn_fail(error, FIRN_INVALID, "%s: has no meshes", def->file);
    return firn_fail(error, FIRN_INVALID, "%s: no mesh has a path like \"%.200s\"; there %s %s%s",
                     def->file, def->path, meshes == 1 ? "is" : "are", known,
                     meshes > 8 ? ", ..." : "");
}

static firn_status open_alembic(firn_animation *a, const firn_animation_def *def, firn_error *error)
{
    firn_status st = firn_alembic_open(def->file, &a->alembic, error);
    if (st != FIRN_OK) return st;
    const int32_t count = firn_alembic_get_file(a->alembic).object_count;
    a->object = malloc(((size_t)count + 1) * sizeof *a->object);
    if (!a->object) return no_memory(error);
    a->constant = true;
    bool *chosen = calloc((size_t)count + 1, sizeof *chosen);
    if (!chosen) return no_memory(error);
    const char *pattern = def->path ? def->path : "**";
    for (int32_t i = -1; (i = firn_alembic_find(a->alembic, pattern, i)) >= 0;) chosen[i] = true;
    for (int32_t i = 0; i < count && st == FIRN_OK; i++) {
        firn_alembic_object o;
        st = firn_alembic_get_object(a->alembic, i, &o, error);
        if (st != FIRN_OK) break;
        if (o.parent >= 0 && chosen[o.parent]) chosen[i] = true; /* with all that is in it */
        if (!chosen[i] || (o.kind != FIRN_ALEMBIC_MESH && o.kind != FIRN_ALEMBIC_SUBD)) continue;
        a->object[a->object_count++] = i;
        a->constant = a->constant && o.constant_topology && !o.visible_changes;
        for (int32_t p = o.parent; p >= 0 && st == FIRN_OK; p = o.parent) {
            st = firn_alembic_get_object(a->alembic, p, &o, error);
            a->constant = a->constant && !o.visible_changes;
        }
        if (st == FIRN_OK) st = add_times(a, i, error);
    }
    free(chosen);
    if (st == FIRN_OK && a->object_count == 0) st = refuse_objects(def, a->alembic, error);
    if (st != FIRN_OK) return st;
    merge_times(a);
    if (a->time_count == 0) { /* nothing moves */
        a->time = calloc(1, sizeof *a->time);
        a->time_count = 1;
    }
    return a->time ? FIRN_OK : no_memory(error);
}

/* ---- the handle ---- */

firn_animation_def firn_animation_def_default(void)
{
    return (firn_animation_def){.fps = 24, .scale = 1};
}

firn_status firn_animation_open(const firn_animation_def *def, firn_animation **out,
                                firn_error *error)
{
    FIRN_REQUIRE(out, error);
    *out = NULL;
    FIRN_REQUIRE(def, error);
    FIRN_REQUIRE(def->file, error);
    if (!(def->fps > 0 && def->scale > 0 && isfinite(def->fps) && isfinite(def->scale))) {
        return firn_fail(error, FIRN_INVALID, "fps %g and scale %g must be above 0", def->fps,
                         def->scale);
    }
    firn_animation *a = calloc(1, sizeof *a);
    if (!a) return no_memory(error);
    a->scale = def->scale;
    const size_t length = strlen(def->file);
    const bool alembic = length > 4 && strcasecmp(def->file + length - 4, ".abc") == 0;
    if (alembic && strstr(def->file, "$F")) {
        firn_animation_close(a);
        return firn_fail(error, FIRN_INVALID,
                         "%s: $F numbers files of other formats; one Alembic file holds all frames",
                         def->file);
    }
    const firn_status st = alembic ? open_alembic(a, def, error) : open_files(a, def, error);
    if (st == FIRN_OK) {
        *out = a;
    } else {
        firn_animation_close(a);
    }
    return st;
}

void firn_animation_close(firn_animation *a)
{
    if (!a) return;
    for (int64_t i = 0; a->file && i < a->time_count; i++) free(a->file[i].path);
    firn_alembic_close(a->alembic);
    free(a->object);
    free(a->file);
    free(a->time);
    free(a);
}

firn_animation_info firn_animation_get_info(const firn_animation *a)
{
    return (firn_animation_info){a->time_count, a->time, a->constant, a->remade};
}

/* ---- reading ---- */

/* Appends b, and frees it. */
static firn_status append(firn_polygons *to, firn_polygons *b, firn_error *error)
{
    if (to->vertex_count == 0) {
        firn_polygons_free(to);
        *to = *b;
        *b = (firn_polygons){0};
        return FIRN_OK;
    }
    const size_t v = (size_t)to->vertex_count, c = (size_t)to->corner_count,
                 f = (size_t)to->face_count;
    const size_t more_v = (size_t)b->vertex_count, more_c = (size_t)b->corner_count,
                 more_f = (size_t)b->face_count;
    firn_status st = v + more_v <= INT32_MAX && c + more_c <= INT32_MAX
                         ? FIRN_OK
                         : firn_fail(error, FIRN_INVALID,
                                     "the meshes have more than %d vertices or corners", INT32_MAX);
#define GROW(member, count)                                                                        \
    if (st == FIRN_OK) {                                                                           \
        void *grown = realloc(to->member, ((count) + 1) * sizeof *to->member);                     \
        if (grown) to->member = grown;                                                             \
        if (!grown) st = no_memory(error);                                                         \
    }
    GROW(vertex, 3 * (v + more_v))
    GROW(corner, c + more_c)
    GROW(face, f + more_f)
    if (to->velocity && b->velocity) GROW(velocity, 3 * (v + more_v))
#undef GROW
    if (st == FIRN_OK) {
        memcpy(to->vertex + 3 * v, b->vertex, 3 * more_v * sizeof *to->vertex);
        memcpy(to->face + f, b->face, more_f * sizeof *to->face);
        for (size_t i = 0; i < more_c; i++) to->corner[c + i] = b->corner[i] + (int32_t)v;
        if (to->velocity && b->velocity) {
            memcpy(to->velocity + 3 * v, b->velocity, 3 * more_v * sizeof *to->velocity);
        } else { /* of all or of none */
            free(to->velocity);
            to->velocity = NULL;
        }
        to->vertex_count += b->vertex_count;
        to->corner_count += b->corner_count;
        to->face_count += b->face_count;
    }
    firn_polygons_free(b);
    return st;
}

static firn_status read_objects(const firn_animation *a, double time, firn_polygons *out,
                                firn_error *error)
{
    firn_status st = FIRN_OK;
    for (int32_t i = 0; i < a->object_count && st == FIRN_OK; i++) {
        bool visible = true;
        firn_polygons one = {0};
        st = firn_alembic_visible(a->alembic, a->object[i], time, &visible, error);
        if (st != FIRN_OK || !visible) continue;
        st = firn_alembic_read_mesh(a->alembic, a->object[i], time, &one, error);
        if (st == FIRN_OK) st = append(out, &one, error);
    }
    return st;
}

/* The last sample at or before a time, or the first. */
static int64_t sample_at(const firn_animation *a, double time)
{
    int64_t low = 0, high = a->time_count; /* time[low] <= time < time[high] */
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (a->time[middle] <= time + 1e-9)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static firn_status read_files(const firn_animation *a, double time, firn_polygons *out,
                              firn_error *error)
{
    const int64_t k = sample_at(a, time);
    firn_status st = firn_polygons_read(a->file[k].path, out, error);
    if (st != FIRN_OK || a->remade || k + 1 == a->time_count || time <= a->time[k] + 1e-9)
        return st;
    firn_polygons next = {0};
    st = firn_polygons_read(a->file[k + 1].path, &next, error);
    if (st == FIRN_OK && firn_polygons_alike(out, &next)) {
        const double s = (time - a->time[k]) / (a->time[k + 1] - a->time[k]);
        for (int64_t i = 0; i < 3 * out->vertex_count; i++) {
            out->vertex[i] += s * (next.vertex[i] - out->vertex[i]);
        }
    }
    firn_polygons_free(&next);
    return st;
}

firn_status firn_animation_read(const firn_animation *a, double time, firn_polygons *out,
                                firn_error *error)
{
    FIRN_REQUIRE(a, error);
    FIRN_REQUIRE(out, error);
    *out = (firn_polygons){0};
    const firn_status st =
        a->alembic ? read_objects(a, time, out, error) : read_files(a, time, out, error);
    if (st != FIRN_OK) {
        firn_polygons_free(out);
        return st;
    }
    for (int64_t i = 0; i < 3 * out->vertex_count && a->scale != 1; i++) {
        out->vertex[i] *= a->scale;
        if (out->velocity) out->velocity[i] *= a->scale;
    }
    return FIRN_OK;
}
