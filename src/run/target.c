/* What a run writes: outputs, statistics, states. No two files have the same name, none is one that the
 * scene reads, and no two runs write the same files at once.
 *
 * A lock is a file beside those it stands for, held by flock while the run lives: the system lets go of
 * it however the run ends, so a lock that can be had is nobody's, whatever the file says. It says who
 * holds it, for the message. A run removes its locks; one that was killed leaves them to the next, with
 * the unfinished files, which the next removes. */
#define _XOPEN_SOURCE 700 /* realpath */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "run/run.h"

enum { MOST_NAMES = 1 << 17 }; /* compared: of longer runs the first frames */

static firn_status no_memory(firn_error *error)
{
    return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
}

/* ---- names ---- */

/* From the root, without "." and "..". NULL: no memory. */
static char *absolute(const char *path)
{
    char here[PATH_MAX];
    if (path[0] == '/' || !getcwd(here, sizeof here)) here[0] = 0;
    char *out = malloc(strlen(here) + strlen(path) + 3);
    size_t used = 0;
    for (int i = 0; out && i < 2; i++) {
        for (const char *p = i ? path : here; *p;) {
            const size_t n = strcspn(p, "/");
            if (n == 2 && p[0] == '.' && p[1] == '.') {
                while (used > 0 && out[--used] != '/') continue;
            } else if (n > 0 && !(n == 1 && p[0] == '.')) {
                out[used++] = '/';
                memcpy(out + used, p, n);
                used += n;
            }
            p += n + (p[n] == '/');
        }
    }
    if (out) out[used] = 0;
    return out;
}

/* The same with links to folders followed, as far as the folders exist. A link to a file is not: writing
 * replaces it. */
static char *resolved(const char *path)
{
    char *plain = absolute(path), real[PATH_MAX];
    for (size_t cut = plain ? strlen(plain) : 0; cut > 0;) {
        while (--cut > 0 && plain[cut] != '/') continue;
        plain[cut] = 0;
        const bool exists = cut > 0 && realpath(plain, real);
        plain[cut] = '/';
        if (!exists) continue;
        char *out = malloc(strlen(real) + strlen(plain + cut) + 1);
        if (out) strcat(strcpy(out, real), plain + cut);
        free(plain);
        return out;
    }
    return plain;
}

/* Whether a path is one that the pattern makes of some frame. */
static bool matches(const char *pattern, const char *path)
{
    while (*pattern) {
        if (pattern[0] != '$' || pattern[1] != 'F') {
            if (*pattern++ != *path++) return false;
            continue;
        }
        pattern += 2;
        const int width = *pattern >= '1' && *pattern <= '9' ? *pattern++ - '0' : 0;
        char *end, number[32];
        const int n = snprintf(number, sizeof number, "%0*lld", width, strtoll(path, &end, 10));
        if (end != path + n || memcmp(number, path, (size_t)n) != 0) return false;
        path = end;
    }
    return *path == 0;
}

/* Takes `path` over. */
static firn_status add_name(firn_targets *t, char *path, int32_t target, firn_error *error)
{
    firn_target_name *grown = t->name;
    if (path && (t->name_count & (t->name_count - 1)) == 0) {
        grown = realloc(t->name, 2 * (size_t)(t->name_count + 1) * sizeof *grown);
    }
    if (!path || !grown) {
        free(path);
        return no_memory(error);
    }
    t->name = grown;
    t->name[t->name_count++] = (firn_target_name){path, target};
    return FIRN_OK;
}

/* Those of one path in the order of the scene. */
static int by_path(const void *left, const void *right)
{
    const firn_target_name *a = left, *b = right;
    const int order = strcmp(a->path, b->path);
    return order ? order : a->target - b->target;
}

static firn_status add_names(firn_targets *t, const firn_scene_frames *frames, firn_error *error)
{
    firn_status st = FIRN_OK;
    for (int32_t i = 0; i < t->count && st == FIRN_OK; i++) {
        firn_target *target = &t->target[i];
        target->whole = resolved(target->pattern);
        if (!target->whole) return no_memory(error);
        const int64_t last = target->every ? frames->end : frames->start;
        const int64_t step = target->every ? target->every : 1;
        int64_t left = MOST_NAMES / t->count;
        for (int64_t f = frames->start; f <= last && left-- > 0 && st == FIRN_OK; f += step) {
            st = add_name(t, firn_frame_path(target->whole, f), i, error);
        }
    }
    return st;
}

/* Refuses a file that two targets make. */
static firn_status check_names(const firn_targets *t, firn_error *error)
{
    for (int32_t i = 1; i < t->name_count; i++) {
        const firn_target_name *a = &t->name[i - 1], *b = &t->name[i];
        if (strcmp(a->path, b->path) != 0) continue;
        char place[FIRN_LOCATION_SIZE];
        return firn_value_fail(t->target[b->target].where, error,
                               "%s is also written by %s; write to another file", b->path,
                               firn_value_location(t->target[a->target].where, place));
    }
    return FIRN_OK;
}

/* Refuses a target that makes a file which the scene reads. */
static firn_status check_input(const firn_targets *t, const char *file, firn_error *error)
{
    char *path = resolved(file);
    if (!path) return no_memory(error);
    firn_status st = FIRN_OK;
    for (int32_t i = 0; i < t->count && st == FIRN_OK; i++) {
        const char *whole = t->target[i].whole; /* the same name with $F4 is the same files */
        if (strcmp(whole, path) != 0 && !matches(whole, path)) continue;
        st = firn_value_fail(t->target[i].where, error,
                             "%s is read by the scene; write to another file", file);
    }
    free(path);
    return st;
}

/* The same for the file of a shape, if it has one. */
static firn_status check_shape_input(const firn_targets *t, const firn_scene_shape *shape,
                                     firn_error *error)
{
    if (!shape->mesh.file) return FIRN_OK;
    char *path = firn_beside(shape->where->file, shape->mesh.file);
    const firn_status st = path ? check_input(t, path, error) : no_memory(error);
    free(path);
    return st;
}

static firn_status check_inputs(const firn_targets *t, const firn_scene *scene, firn_error *error)
{
    firn_status st = FIRN_OK;
    for (int i = 0; i < scene->tree.file_count && st == FIRN_OK; i++) {
        st = check_input(t, scene->tree.files[i], error);
    }
    for (int32_t i = 0; i < scene->collider_count && st == FIRN_OK; i++) {
        st = check_shape_input(t, &scene->collider[i].shape, error);
    }
    for (int32_t i = 0; i < scene->sink_count && st == FIRN_OK; i++) {
        st = check_shape_input(t, &scene->sink[i].shape, error);
    }
    for (int32_t i = 0; i < scene->heat.source_count && st == FIRN_OK; i++) {
        st = check_shape_input(t, &scene->heat.source[i].body.shape, error);
    }
    for (int32_t i = 0; i < scene->object_count && st == FIRN_OK; i++) {
        const firn_scene_object *o = &scene->object[i];
        if (o->has_shape) st = check_shape_input(t, &o->shape, error);
        const char *file = o->mesh ? o->mesh : o->voxels ? o->voxels : o->particles;
        if (!file) continue;
        char *path = firn_beside(o->where->file, file);
        st = path ? check_input(t, path, error) : no_memory(error);
        free(path);
    }
    return st;
}

static void add_target(firn_targets *t, const char *pattern, int64_t every, const firn_value *where)
{
    t->target[t->count++] =
        (firn_target){.pattern = pattern, .where = where, .every = every, .lock = -1};
}

firn_status firn_targets_init(firn_targets *t, const firn_scene *scene, firn_error *error)
{
    *t = (firn_targets){0};
    const char *given = scene->checkpoint.folder, *name = scene->name;
    const size_t room = strlen(given ? given : name) + strlen(name) + 32;
    t->target = calloc((size_t)scene->output_count + 2, sizeof *t->target);
    t->states = malloc(room);
    t->folder = malloc(room);
    if (!t->target || !t->states || !t->folder) return no_memory(error);
    snprintf(t->folder, room, "%s%s", given ? given : name, given ? "" : ".ckpt");
    snprintf(t->states, room, "%s/%s.$F6.ckpt", t->folder, name);
    for (int32_t i = 0; i < scene->output_count; i++) {
        const firn_scene_output *o = &scene->output[i];
        add_target(t, o->file, o->sequence ? 0 : o->every, firn_value_get(o->where, "file"));
    }
    if (scene->statistics) {
        add_target(t, scene->statistics, 0, firn_value_get(scene->tree.root, "statistics"));
    }
    if (scene->checkpoint.every > 0) {
        const firn_value *where = firn_value_get(scene->checkpoint_value, "folder");
        add_target(t, t->states, 1, where ? where : scene->tree.root);
    }
    firn_status st = add_names(t, &scene->frames, error);
    if (t->name_count) qsort(t->name, (size_t)t->name_count, sizeof *t->name, by_path);
    if (st == FIRN_OK) st = check_names(t, error);
    return st == FIRN_OK ? check_inputs(t, scene, error) : st;
}

void firn_targets_free(firn_targets *t)
{
    for (int32_t i = 0; i < t->count; i++) {
        firn_target *target = &t->target[i];
        if (target->lock >= 0) {
            unlink(target->lock_path); /* while it is held: another's is not removed */
            close(target->lock);
        }
        free(target->lock_path);
        free(target->whole);
    }
    for (int32_t i = 0; i < t->name_count; i++) free(t->name[i].path);
    free(t->name);
    free(t->target);
    free(t->states);
    free(t->folder);
    *t = (firn_targets){0};
}

/* ---- locks ---- */

/* out/x.$F4.prt has out/.x.$F4.prt.lock, and out/$F4/x.prt has out/.$F4_x.prt.lock. $F1 makes the names
 * that $F does. */
static char *lock_path(const char *pattern)
{
    const size_t length = strlen(pattern);
    const char *number = strstr(pattern, "$F"), *end = number ? number : pattern + length;
    size_t folder = (size_t)(end - pattern);
    while (folder > 0 && pattern[folder - 1] != '/') folder--;
    char *path = malloc(length + 8);
    if (!path) return NULL;
    snprintf(path, length + 8, "%.*s.%s.lock", (int)folder, pattern, pattern + folder);
    for (char *p = path + folder; *p; p++) {
        if (*p == '/') *p = '_';
        if (strncmp(p, "$F1", 3) == 0) memmove(p + 2, p + 3, strlen(p + 3) + 1);
    }
    return path;
}

/* What the first line of a lock says. */
static void read_holder(int lock, char *text, size_t size)
{
    const ssize_t n = pread(lock, text, size - 1, 0);
    text[n > 0 ? n : 0] = 0;
    for (char *p = text; *p; p++) {
        if (iscntrl((unsigned char)*p)) *p = 0;
    }
}

static void write_holder(int lock)
{
    char host[128] = "", text[192];
    gethostname(host, sizeof host - 1);
    const int n = snprintf(text, sizeof text, "process %ld on %s\n", (long)getpid(), host);
    /* On a full disk it says nothing, and holds all the same. */
    if (ftruncate(lock, 0) == 0 && pwrite(lock, text, (size_t)n, 0) != n) return;
}

/* `before` receives who left the lock behind, or "". Where the file system knows no locks, there is
 * none. */
static firn_status take_lock(firn_target *target, char *before, size_t size, firn_error *error)
{
    const char *path = target->lock_path;
    int *lock = &target->lock;
    before[0] = 0;
    for (;;) {
        const int safe = O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
        *lock = firn_descriptor_raise(open(path, O_RDWR | O_CREAT | safe, 0666));
        if (*lock < 0 &&
            errno == EACCES) { /* another user left it, which may be held all the same */
            *lock = firn_descriptor_raise(open(path, O_RDONLY | safe));
        }
        if (*lock < 0) return firn_fail(error, FIRN_OUTPUT, "%s: %s", path, strerror(errno));
        if (flock(*lock, LOCK_EX | LOCK_NB) != 0) {
            const bool held = errno == EWOULDBLOCK;
            if (held) read_holder(*lock, before, size);
            close(*lock);
            *lock = -1;
            if (!held) {
                unlink(path);
                return FIRN_OK;
            }
            return firn_fail(error, FIRN_OUTPUT,
                             "%s is being written by %s; wait for it, stop it, or write elsewhere",
                             target->pattern, before[0] ? before : "another process");
        }
        struct stat mine, there;
        const bool known = fstat(*lock, &mine) == 0;
        if (known && (!S_ISREG(mine.st_mode) || mine.st_nlink > 1)) {
            close(*lock);
            *lock = -1;
            return firn_fail(error, FIRN_OUTPUT, "%s is not a lock of Firn's; remove it", path);
        }
        if (known && stat(path, &there) == 0 && mine.st_ino == there.st_ino &&
            mine.st_dev == there.st_dev) {
            break;
        }
        close(*lock); /* its holder removed it just now */
    }
    read_holder(*lock, before, size);
    write_holder(*lock);
    return FIRN_OK;
}

/* ---- opening ---- */

/* Whether x.0001.prt.1234.part is an unfinished file of ours whose process is gone; cuts it to
 * x.0001.prt. */
static bool is_unfinished(const firn_targets *t, char *path)
{
    char *end = strrchr(path, '.');
    if (!end || strcmp(end, ".part") != 0) return false;
    *end = 0;
    char *number = strrchr(path, '.');
    if (!number || number[1] == 0 || number[1 + strspn(number + 1, "0123456789")] != 0)
        return false;
    const pid_t process = (pid_t)strtol(number + 1, NULL, 10);
    if (process != getpid() && (kill(process, 0) == 0 || errno == EPERM)) return false;
    *number = 0;
    bool ours = false;
    for (int32_t i = 0; i < t->count && !ours; i++) ours = matches(t->target[i].whole, path);
    return ours;
}

/* Those that a killed run has left in a folder, whose path is absolute. */
static firn_status remove_unfinished(const firn_targets *t, const char *folder, firn_error *error)
{
    DIR *dir = opendir(folder);
    if (!dir) return FIRN_OK; /* not made yet */
    firn_status st = FIRN_OK;
    for (const struct dirent *e = readdir(dir); e && st == FIRN_OK; e = readdir(dir)) {
        const size_t room = strlen(folder) + strlen(e->d_name) + 2;
        char *path = malloc(room), *name = malloc(room);
        if (path && name) {
            snprintf(path, room, "%s/%s", folder, e->d_name);
            memcpy(name, path, strlen(path) + 1);
            if (is_unfinished(t, name)) unlink(path);
        } else {
            st = no_memory(error);
        }
        free(path);
        free(name);
    }
    closedir(dir);
    return st;
}

/* Up to its last slash. */
static size_t folder_length(const char *path) { return (size_t)(strrchr(path, '/') - path); }

/* In all folders. Those of a target's files are seen one after another. */
static firn_status clean_up(const firn_targets *t, firn_error *error)
{
    firn_status st = FIRN_OK;
    for (int32_t i = 0; i < t->name_count && st == FIRN_OK; i++) {
        const char *path = t->name[i].path;
        const size_t length = folder_length(path);
        firn_target *target = &t->target[t->name[i].target];
        const char *seen = target->cleaned;
        if (seen && folder_length(seen) == length && strncmp(seen, path, length) == 0) continue;
        target->cleaned = path;
        char *folder = strndup(path, length);
        st = folder ? remove_unfinished(t, length ? folder : "/", error) : no_memory(error);
        free(folder);
    }
    return st;
}

static firn_status make_folder_of(char *path, firn_error *error)
{
    char *slash = strrchr(path, '/');
    if (!slash || slash == path) return FIRN_OK;
    *slash = 0;
    const firn_status st = firn_make_folder(path, error);
    *slash = '/';
    return st;
}

firn_status firn_try_path(char *path, firn_error *error)
{
    firn_status st = make_folder_of(path, error);
    if (st != FIRN_OK) return st;
    firn_output probe;
    st = firn_output_open(&probe, path, error);
    if (st == FIRN_OK) firn_output_discard(&probe);
    return st;
}

firn_status firn_frame_folder(const char *pattern, char *path, firn_error *error)
{
    const char *slash = strrchr(pattern, '/'), *number = strstr(pattern, "$F");
    return slash && number && number < slash ? make_folder_of(path, error) : FIRN_OK;
}

/* With the place in the scene in front. */
static firn_status refuse(const firn_target *target, const firn_scene *scene,
                          const firn_error *inner, firn_error *error)
{
    const firn_value *where = target->where ? target->where : scene->tree.root;
    char place[FIRN_LOCATION_SIZE];
    return firn_fail(error, inner->status, "%s: %s", firn_value_location(where, place),
                     inner->message);
}

firn_status firn_targets_try(const firn_targets *t, const firn_scene *scene, firn_error *error)
{
    for (int32_t i = 0; i < t->count; i++) {
        firn_error inner = {0};
        char *path = firn_frame_path(t->target[i].pattern, scene->frames.start);
        const firn_status st = path ? firn_try_path(path, &inner) : no_memory(&inner);
        free(path);
        if (st != FIRN_OK) return refuse(&t->target[i], scene, &inner, error);
    }
    return FIRN_OK;
}

firn_status firn_targets_lock(firn_targets *t, const firn_scene *scene, char *note, size_t size,
                              firn_error *error)
{
    note[0] = 0;
    for (int32_t i = 0; i < t->count; i++) {
        firn_target *target = &t->target[i];
        firn_error inner = {0};
        char before[192];
        target->lock_path = lock_path(target->pattern);
        const firn_status st = target->lock_path ? take_lock(target, before, sizeof before, &inner)
                                                 : no_memory(&inner);
        if (st != FIRN_OK) return refuse(target, scene, &inner, error);
        if (before[0] && !note[0]) {
            snprintf(note, size, "%s: taking over from %s, which ended without finishing",
                     target->pattern, before);
        }
    }
    return clean_up(t, error);
}
