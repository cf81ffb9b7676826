/* Allocations and calls to the file system fail in turn, in runs that read and write all there is:
 * each failure is reported for what it is, leaks nothing and leaves no half file, and the run
 * resumes to the same bytes.
 *
 * The linker puts the functions below in the place of malloc, fopen and others (CMakeLists.txt). */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

#include "program.h"
#include <firn/points.h>
#include <firn/render.h>
#include <firn/scene.h>

/* ---- faults ---- */

typedef enum fault_kind { NO_FAULT, MEMORY, WRITES, FILES } fault_kind;
static _Atomic int armed;
static _Atomic long calls, fail_at; /* of the kind that is armed */
static _Atomic long blocks;         /* allocated and not freed */
static _Atomic bool fired;

static bool fails(fault_kind kind)
{
    if (armed != (int)kind || calls++ != fail_at) return false;
    fired = true;
    errno = kind == MEMORY ? ENOMEM : EIO;
    return true;
}

static void *counted(void *block)
{
    if (block) blocks++;
    return block;
}

/* WRAP(type, name, (parameters), (arguments), result of a failure) */
#define WRAP(type, name, parameters, arguments, result)                                            \
    type __real_##name parameters;                                                                 \
    type __wrap_##name parameters;                                                                 \
    type __wrap_##name parameters { return fails(FILES) ? (result) : __real_##name arguments; }
#define WRAP_MEMORY(name, parameters, arguments)                                                   \
    void *__real_##name parameters;                                                                \
    void *__wrap_##name parameters;                                                                \
    void *__wrap_##name parameters                                                                 \
    {                                                                                              \
        if (fails(MEMORY)) return NULL;                                                            \
        return counted(__real_##name arguments);                                                   \
    }

WRAP_MEMORY(malloc, (size_t size), (size))
WRAP_MEMORY(open_memstream, (char **text, size_t *size), (text, size)) /* the text is to be freed */
WRAP_MEMORY(calloc, (size_t count, size_t size), (count, size))
WRAP_MEMORY(aligned_alloc, (size_t alignment, size_t size), (alignment, size))
WRAP_MEMORY(strdup, (const char *text), (text))
WRAP_MEMORY(strndup, (const char *text, size_t size), (text, size))

void *__real_realloc(void *block, size_t size);
void *__wrap_realloc(void *block, size_t size);
void *__wrap_realloc(void *block, size_t size)
{
    if (fails(MEMORY)) return NULL;
    void *grown = __real_realloc(block, size);
    return block ? grown : counted(grown);
}

void __real_free(void *block);
void __wrap_free(void *block);
void __wrap_free(void *block)
{
    if (block) blocks--;
    __real_free(block);
}

WRAP(FILE *, fopen, (const char *path, const char *mode), (path, mode), NULL)
/* Streams in memory are no files. */
size_t __real_fwrite(const void *data, size_t size, size_t count, FILE *file);
size_t __wrap_fwrite(const void *data, size_t size, size_t count, FILE *file);
size_t __wrap_fwrite(const void *data, size_t size, size_t count, FILE *file)
{
    return fileno(file) >= 0 && fails(WRITES) ? 0 : __real_fwrite(data, size, count, file);
}

int __real_vfprintf(FILE *file, const char *format, va_list list);
int __wrap_vfprintf(FILE *file, const char *format, va_list list);
int __wrap_vfprintf(FILE *file, const char *format, va_list list)
{
    return fileno(file) >= 0 && fails(WRITES) ? -1 : __real_vfprintf(file, format, list);
}

WRAP(int, fflush, (FILE * file), (file), EOF)
WRAP(int, rename, (const char *from, const char *to), (from, to), -1)
WRAP(int, mkdir, (const char *path, mode_t mode), (path, mode), -1)
WRAP(DIR *, opendir, (const char *path), (path), NULL)
WRAP(ssize_t, read, (int file, void *data, size_t size), (file, data, size), -1)
WRAP(int, pthread_create,
     (pthread_t * thread, const pthread_attr_t *about, void *(*task)(void *), void *argument),
     (thread, about, task, argument), EAGAIN)

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    const int mode = flags & O_CREAT ? va_arg(list, int) : 0;
    va_end(list);
    return fails(FILES) ? -1 : __real_open(path, flags, mode);
}

ssize_t __real_write(int file, const void *data, size_t size);
ssize_t __wrap_write(int file, const void *data, size_t size);
ssize_t __wrap_write(int file, const void *data, size_t size)
{
    return fails(WRITES) ? -1 : __real_write(file, data, size);
}

/* Nothing here has to outlive a power cut. */
int __wrap_fsync(int file);
int __wrap_fsync(int file)
{
    (void)file;
    return fails(FILES) ? -1 : 0;
}

/* Closed all the same. */
int __real_close(int file);
int __wrap_close(int file);
int __wrap_close(int file)
{
    const int result = __real_close(file);
    return fails(FILES) ? -1 : result;
}

int __real_fclose(FILE *file);
int __wrap_fclose(FILE *file);
int __wrap_fclose(FILE *file)
{
    const bool real = fileno(file) >= 0;
    const int result = __real_fclose(file);
    return real && fails(FILES) ? EOF : result;
}

/* The stream has to know: its file becomes one that cannot be read. */
size_t __real_fread(void *data, size_t size, size_t count, FILE *file);
size_t __wrap_fread(void *data, size_t size, size_t count, FILE *file);
size_t __wrap_fread(void *data, size_t size, size_t count, FILE *file)
{
    if (fails(FILES)) {
        const int other = __real_open("/dev/null", O_WRONLY);
        dup2(other, fileno(file));
        __real_close(other);
    }
    return __real_fread(data, size, count, file);
}

/* ---- what is done ---- */

enum { LAST = 3 }; /* frame */

typedef struct job {
    const char *name, *scene;
    bool picture, reads, resumes;
} job;

static const job jobs[] = {
    {"2D", "flat.yaml", .reads = true},
    {"3D", "solid.yaml", .picture = true},
    {"resumed", "flat.yaml", .resumes = true},
};

static const char *const formats[] = {"prt", "ply", "csv", "bgeo", "geo", "bgeo.sc"};

static firn_status read_files(firn_error *error)
{
    firn_status st = FIRN_OK;
    for (size_t f = 0; st == FIRN_OK && f < sizeof formats / sizeof *formats; f++) {
        char path[64];
        firn_points points;
        snprintf(path, sizeof path, "files/flat.0002.%s", formats[f]);
        st = firn_points_read(path, &points, error);
        if (st == FIRN_OK) firn_points_free(&points);
    }
    return st;
}

static firn_status perform(const job *j, bool resume, int64_t last, firn_error *error)
{
    firn_scene_def def = firn_scene_def_default();
    def.path = j->scene;
    firn_scene *scene = NULL;
    firn_status st = firn_scene_create(&def, &scene, error);
    if (st != FIRN_OK) return st;
    firn_run_options how = firn_run_options_default(scene);
    how.threads = 1;
    how.resume = resume;
    how.last = last;
    firn_run_hooks hooks = {0};
    firn_preview *preview = NULL;
    if (j->picture) {
        firn_preview_def pictures = {.scene = scene, .source = &def, .run = &how};
        pictures.renderer = firn_renderer_options_default();
        pictures.renderer.render.width = pictures.pictures.width = 24;
        pictures.renderer.render.height = pictures.pictures.height = 16;
        pictures.renderer.render.samples = 1;
        pictures.renderer.render.quality = FIRN_DRAFT;
        pictures.renderer.render.mode = FIRN_RENDER_POINTS;
        pictures.renderer.render.threads = 1;
        pictures.pictures.path[0] = "files/picture.$F4.png";
        pictures.pictures.path_count = 1;
        pictures.pictures.bits = 8;
        st = firn_preview_create(&pictures, NULL, &preview, error);
        if (st == FIRN_OK) firn_preview_attach(preview, &hooks);
    }
    if (st == FIRN_OK) st = firn_run(scene, &how, &hooks, error);
    if (st == FIRN_OK && preview) st = firn_preview_finish(preview, error);
    firn_preview_destroy(preview);
    firn_scene_destroy(scene);
    if (st == FIRN_OK && j->reads) st = read_files(error);
    return st;
}

/* ---- what is left ---- */

/* Statistics hold how long things took: all but their number of lines differs. */
static size_t contents(const char *path, char *text, size_t size)
{
    const size_t n = read_text(path, text, size);
    if (!strstr(path, "statistics")) return n;
    size_t lines = 0;
    for (const char *p = text; (p = strchr(p, '\n')); p++) lines++;
    return (size_t)snprintf(text, size, "%zu lines", lines);
}

/* Files in files/ are those of `wanted`, byte by byte; with `all`, there are as many. */
static void compare(const char *wanted, bool all, const char *when)
{
    static char got[1 << 20], want[1 << 20];
    DIR *folder = opendir("files");
    for (struct dirent *e; folder && (e = readdir(folder));) {
        char mine[PATH_SIZE], theirs[PATH_SIZE];
        if (e->d_name[0] == '.') continue;
        const bool statistics = strstr(e->d_name, "statistics") != NULL;
        const size_t n = contents(in_folder("files", e->d_name, mine), got, sizeof got);
        const size_t m = contents(in_folder(wanted, e->d_name, theirs), want, sizeof want);
        if (strstr(e->d_name, ".part"))
            complain("%s: %s is left\n", when, e->d_name);
        else if ((all || !statistics) && (n != m || memcmp(got, want, n) != 0))
            complain("%s: %s has %zu bytes, not the %zu it should have\n", when, e->d_name, n, m);
    }
    if (folder) closedir(folder);
    if (all && count_entries("files") != count_entries(wanted))
        complain("%s: %d files, not %d\n", when, count_entries("files"), count_entries(wanted));
}

/* All calls of one kind in turn, or evenly spaced ones where there are more than `most`. */
static void check(const job *j, fault_kind kind, long most)
{
    char wanted[PATH_SIZE], when[128];
    snprintf(wanted, sizeof wanted, "wanted.%s", j->name);
    static const char *const kinds[] = {"", "allocation", "write", "call"};
    long total = 0, tried = 0;
    for (long at = 0, stride = 1;; at += stride) {
        remove_all("files");
        firn_error error = {0};
        if (j->resumes) assert_int_equal(perform(j, false, LAST - 1, &error), FIRN_OK);
        const long before = blocks;
        calls = 0;
        fail_at = total ? at : -1;
        fired = false;
        armed = (int)kind;
        const firn_status st = perform(j, j->resumes, LAST, &error);
        armed = NO_FAULT;
        if (!total) { /* undisturbed, to count */
            assert_int_equal(st, FIRN_OK);
            total = calls;
            stride = 1 + total / most;
            at = -stride;
            continue;
        }
        if (!fired) break;
        tried++;
        snprintf(when, sizeof when, "%s, %s %ld", j->name, kinds[kind], at);
        const bool proper =
            kind == MEMORY ? st == FIRN_NO_MEMORY : st == FIRN_OUTPUT || st == FIRN_INVALID;
        if (st != FIRN_OK && (!proper || error.status != st || !error.message[0]))
            complain("%s: %s: %s\n", when, firn_status_name(st), error.message);
        if (blocks != before) complain("%s: %ld blocks leaked\n", when, blocks - before);
        compare(wanted, st == FIRN_OK, when);
        if (st == FIRN_OK) continue;
        ok_at(perform(j, true, LAST, &error), &error, when, __FILE__, __LINE__);
        compare(wanted, true, when);
    }
    print_message("%s: %ld of %ld failed in turn\n", when, tried, total);
    assert_true(tried > 5);
}

static int most = 40; /* failures of each kind, evenly spaced; an argument sets it */

static void any_allocation_may_fail(void **state)
{
    (void)state;
    for (size_t j = 0; j < sizeof jobs / sizeof *jobs; j++) check(&jobs[j], MEMORY, most);
    assert_no_complaints();
}

static void any_write_may_fail(void **state)
{
    (void)state;
    for (size_t j = 0; j < sizeof jobs / sizeof *jobs; j++) check(&jobs[j], WRITES, most / 4);
    assert_no_complaints();
}

static void any_other_call_to_the_file_system_may_fail(void **state)
{
    (void)state;
    for (size_t j = 0; j < sizeof jobs / sizeof *jobs; j++) check(&jobs[j], FILES, most);
    assert_no_complaints();
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static int prepare(void **state)
{
    (void)state;
    if (!make_top("io_faults") || chdir(top) != 0) return 1;
    write_text("shared.yaml", "firn: 1\n"
                              "frames: {end: 3}\n"
                              "materials: {jelly: {law: neo_hookean, young: 1e4}}\n"
                              "colliders: [{shape: {plane: {}}}]\n"
                              "statistics: files/$NAME.statistics.csv\n"
                              "checkpoint: {every: 1, folder: files}\n");
    write_text("points.csv", "P.x,P.y,P.z,Cd.r\n0,0.6,0,1\n0.05,0.6,0,2\n0.1,0.6,0,3\n");
    write_text("cube.obj",
               "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
    write_text("flat.yaml",
               "firn: 1\nname: flat\ninclude: shared.yaml\ndimension: 2\nresolution: 0.05\n"
               "objects:\n"
               "  - {shape: {rectangle: {center: [0, 0.2], size: [0.3, 0.3]}}}\n"
               "  - {particles: points.csv}\n"
               "output:\n"
               "  - {file: files/$NAME.$F4.prt}\n  - {file: files/$NAME.$F4.ply}\n"
               "  - {file: files/$NAME.$F4.csv}\n  - {file: files/$NAME.$F4.bgeo}\n"
               "  - {file: files/$NAME.$F4.geo}\n  - {file: files/$NAME.$F4.bgeo.sc}\n");
    write_text("solid.yaml", "firn: 1\nname: solid\ninclude: shared.yaml\nresolution: 0.1\n"
                             "objects:\n  - {mesh: cube.obj, translate: [0, 0.2, 0]}\n"
                             "output:\n  - {file: files/$NAME.$F4.prt}\n"
                             "  - {file: files/$NAME.grid.$F4.ply, of: grid}\n"
                             "camera: {position: [3, 1, 3], target: [0, 0, 0]}\n");
    for (size_t j = 0; j < sizeof jobs / sizeof *jobs; j++) {
        char wanted[PATH_SIZE];
        firn_error error = {0};
        if (perform(&jobs[j], false, LAST, &error) != FIRN_OK) {
            print_error("%s\n", error.message);
            return 1;
        }
        snprintf(wanted, sizeof wanted, "wanted.%s", jobs[j].name);
        if (rename("files", wanted) != 0) return 1;
    }
    return 0;
}

static int clean(void **state)
{
    (void)state;
    remove_all(top);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1) most = atoi(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_allocation_may_fail),
        cmocka_unit_test(any_write_may_fail),
        cmocka_unit_test(any_other_call_to_the_file_system_may_fail),
    };
    return cmocka_run_group_tests_name("io_faults", tests, prepare, clean);
}
