/* Input without end is refused, and large input takes time and memory in proportion. */
#include "program.h"

#include <firn/geometry.h>

#include "geometry/binvox.h"
#include "geometry/mesh.h"
#include "io/io.h"
#include "scene/scene.h"

/* A test that waits for a pipe or reads a device for ever ends here. */
enum { PATIENCE = 20 };

static const char *write_text(const char *folder, const char *name, const char *text)
{
    static char path[PATH_SIZE];
    FILE *file = fopen(in_folder(folder, name, path), "wb");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    return path;
}

static firn_status read_scene(const char *path, firn_error *error)
{
    firn_tree tree;
    firn_scene scene = {0};
    firn_status st = firn_tree_read(&tree, path, error);
    if (st == FIRN_OK) st = firn_scene_read(&scene, &tree, error);
    if (st == FIRN_OK) firn_scene_free(&scene);
    return st;
}

static firn_status read_points(const char *path, firn_error *error)
{
    firn_points points;
    const firn_status st = firn_points_read(path, &points, error);
    if (st == FIRN_OK) firn_points_free(&points);
    return st;
}

static firn_status read_mesh(const char *path, firn_error *error)
{
    firn_mesh *mesh = NULL;
    const firn_status st = firn_mesh_read(path, 0, 1, &mesh, error);
    if (st == FIRN_OK) firn_mesh_destroy(mesh);
    return st;
}

static firn_status read_voxels(const char *path, firn_error *error)
{
    firn_voxels voxels;
    const firn_status st = firn_voxels_read(path, &voxels, error);
    if (st == FIRN_OK) firn_voxels_free(&voxels);
    return st;
}

static const struct reader {
    firn_status (*read)(const char *path, firn_error *error);
    const char *name;
} readers[] = {{read_scene, "a.yaml"},
               {read_points, "a.csv"},
               {read_points, "a.prt"},
               {read_mesh, "a.obj"},
               {read_voxels, "a.binvox"}};
enum { READERS = sizeof readers / sizeof *readers };

static void expect_refused(firn_status st, const firn_error *error, const char *what,
                           const char *part)
{
    if (st == FIRN_INVALID && strstr(error->message, part)) return;
    complain("%s: %s \"%s\"; wanted \"%s\"\n", what, firn_status_name(st), error->message, part);
}

static void pipes_and_devices_are_refused_by_every_reader(void **state)
{
    (void)state;
    char folder[PATH_SIZE], path[PATH_SIZE];
    alarm(PATIENCE);
    for (int i = 0; i < READERS; i++) {
        firn_error error = {0};
        fresh_folder("odd", folder);
        in_folder(folder, readers[i].name, path);
        assert_int_equal(mkfifo(path, 0600), 0);
        expect_refused(readers[i].read(path, &error), &error, path, "is a pipe; write");
        unlink(path);
        assert_int_equal(symlink("/dev/zero", path), 0);
        expect_refused(readers[i].read(path, &error), &error, path, "is a device; name a file");
        unlink(path);
        assert_int_equal(mkdir(path, 0777), 0);
        expect_refused(readers[i].read(path, &error), &error, path, "is a folder; name a file");
    }
    firn_error error = {0};
    fresh_folder("odd", folder);
    assert_int_equal(mkfifo(in_folder(folder, "pipe", path), 0600), 0);
    expect_refused(read_scene(write_text(folder, "s.yaml", "firn: 1\ninclude: pipe\n"), &error),
                   &error, "include", "is a pipe; write");
    alarm(0);
    assert_no_complaints();
}

static void files_beyond_the_limit_are_refused_unread(void **state)
{
    (void)state;
    char folder[PATH_SIZE], path[PATH_SIZE];
    firn_error error = {0};
    fresh_folder("large", folder);
    alarm(PATIENCE);
    for (int i = 0; i < READERS; i++) {
        const bool scene = readers[i].read == read_scene;
        const uint64_t most = scene ? FIRN_MOST_SCENE : FIRN_MOST_FILE;
        write_text(folder, readers[i].name, "");
        in_folder(folder, readers[i].name, path);
        if (truncate(path, (off_t)most + 1) != 0) continue; /* a file system of small files */
        expect_refused(readers[i].read(path, &error), &error, path,
                       scene ? "it must have at most 64 MiB" : "it must have at most 65536 MiB");
        unlink(path);
    }
    alarm(0);
    assert_no_complaints();
}

/* As much zlib data as could hold what the header says, so that the limit alone refuses it. */
static void compressed_data_may_not_become_more_than_the_limit(void **state)
{
    (void)state;
    char folder[PATH_SIZE], path[PATH_SIZE];
    const firn_write_options options = firn_write_options_default();
    firn_points points = {.count = 1};
    firn_error error = {0};
    fresh_folder("packed", folder);
    in_folder(folder, "a.prt", path);
    assert_non_null(firn_points_add(&points, "P", FIRN_TYPE_f32, 3, &error));
    assert_int_equal(firn_points_write(path, &points, &options, &error), FIRN_OK);
    firn_points_free(&points);
    const int64_t count = (int64_t)(FIRN_MOST_UNPACKED / 16) + 1;
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, 48, SEEK_SET), 0); /* where PRT has its count */
    assert_int_equal(fwrite(&count, sizeof count, 1, file), 1);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(truncate(path, (off_t)(FIRN_MOST_UNPACKED / 1000)), 0);
    alarm(PATIENCE);
    expect_refused(read_points(path, &error), &error, path, "it must be at most 64 GiB");
    alarm(0);
    assert_no_complaints();
}

static void byte_order_marks_are_accepted(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text;
        firn_status (*read)(const char *path, firn_error *error);
    } cases[] = {
        {"a.yaml", "firn: 1\nmaterials: {a: {}}\nobjects: [{shape: {sphere: {}}}]\n", read_scene},
        {"a.csv", "P.x,P.y,P.z\n1,2,3\n", read_points},
        {"b.ply",
         "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\n"
         "property float z\nend_header\n1 2 3\n",
         read_points},
        {"a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n",
         read_mesh},
        {"a.stl",
         "solid a\n"
         "facet normal 0 0 0\nouter loop\nvertex 0 0 0\nvertex 0 1 0\nvertex 1 0 0\nendloop\n"
         "endfacet\n"
         "facet normal 0 0 0\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 0 1\nendloop\n"
         "endfacet\n"
         "facet normal 0 0 0\nouter loop\nvertex 1 0 0\nvertex 0 1 0\nvertex 0 0 1\nendloop\n"
         "endfacet\n"
         "facet normal 0 0 0\nouter loop\nvertex 0 1 0\nvertex 0 0 0\nvertex 0 0 1\nendloop\n"
         "endfacet\nendsolid a\n",
         read_mesh},
    };
    char folder[PATH_SIZE], text[2048];
    fresh_folder("marks", folder);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int marked = 0; marked < 2; marked++) {
            firn_error error = {0};
            snprintf(text, sizeof text, "%s%s", marked ? "\xef\xbb\xbf" : "", cases[i].text);
            const firn_status st = cases[i].read(write_text(folder, cases[i].name, text), &error);
            if (st != FIRN_OK) {
                complain("%s, %s: %s\n", cases[i].name, marked ? "marked" : "plain", error.message);
            }
        }
    }
    assert_no_complaints();
}

static void includes_are_bounded_in_all(void **state)
{
    (void)state;
    char folder[PATH_SIZE], path[PATH_SIZE], name[32], text[256];
    firn_error error = {0};
    fresh_folder("includes", folder);
    for (int i = 0; i < 15; i++) { /* 8^14 files */
        snprintf(name, sizeof name, "%d.yaml", i);
        snprintf(text, sizeof text, "include: [%d.yaml", i + 1);
        for (int k = 1; k < 8; k++) {
            const size_t used = strlen(text);
            snprintf(text + used, sizeof text - used, ", ./%d.yaml", i + 1);
        }
        strcat(text, "]\n");
        write_text(folder, name, i < 14 ? text : "firn: 1\n");
    }
    alarm(PATIENCE);
    expect_refused(read_scene(in_folder(folder, "0.yaml", path), &error), &error, "8 of 15 deep",
                   "more than 1000 files are included in all; use fewer");
    alarm(0);
    /* Bytes: comments are the cheapest. */
    char *megabytes = malloc(33 << 20);
    assert_non_null(megabytes);
    memset(megabytes, '#', 33 << 20);
    megabytes[(33 << 20) - 1] = 0;
    write_text(folder, "half.yaml", megabytes);
    FILE *half = fopen(in_folder(folder, "half.yaml", path), "a");
    assert_non_null(half);
    fputs("\nseed: 1\n", half);
    fclose(half);
    free(megabytes);
    write_text(folder, "two.yaml", "include: [half.yaml, ./half.yaml]\nfirn: 1\n");
    expect_refused(read_scene(in_folder(folder, "two.yaml", path), &error), &error, "two halves",
                   "the scene and its includes have more than 64 MiB");
    assert_no_complaints();
}

/* Looking through all names for each takes minutes with so many. */
static void reading_takes_time_in_proportion(void **state)
{
    (void)state;
    enum { MANY = 60000 };
    firn_bytes text = {0};
    FILE *to = open_memstream((char **)&text.data, &text.size);
    assert_non_null(to);
    fputs("firn: 1\nmaterials: {a: {}}\nforces:\n", to);
    for (int i = 0; i < MANY; i++) fprintf(to, "  %d: [0, 0, 0]\n", i);
    fputs("objects:\n", to);
    for (int i = 0; i < MANY; i++) fprintf(to, "- {name: o%d, shape: {sphere: {}}}\n", i);
    fputs("contacts:\n", to);
    for (int i = 1; i < MANY; i++) {
        fprintf(to, "- {objects: [o%d, o%d], friction: 0}\n", i - 1, i);
    }
    assert_int_equal(fclose(to), 0);
    firn_tree tree = {0};
    firn_scene scene = {0};
    firn_error error = {0};
    alarm(3 * PATIENCE);
    firn_status st = firn_tree_parse(&tree, "text", &text, &error);
    if (st == FIRN_OK) st = firn_scene_read(&scene, &tree, &error);
    alarm(0);
    free(text.data);
    if (st != FIRN_OK) fail_msg("%s", error.message);
    assert_int_equal(scene.contact[MANY - 2].object[1], MANY - 1);
    firn_scene_free(&scene);
}

/* Objects that no machine holds are refused before any is filled, and a plan says what they take. */
static void what_no_memory_holds_is_told_at_once(void **state)
{
    (void)state;
    static const char *const amounts[] = {"count: 1e9", "separation: 1e-6"};
    for (size_t a = 0; a < sizeof amounts / sizeof *amounts; a++) {
        char text[8192] = "firn: 1\nmaterials: {a: {}}\nobjects:\n";
        for (int i = 0; i < 100; i++) {
            const size_t used = strlen(text);
            snprintf(text + used, sizeof text - used, "- {shape: {sphere: {radius: 1}}, %s}\n",
                     amounts[a]);
        }
        firn_tree tree;
        firn_scene scene = {0};
        firn_error error = {0};
        const firn_bytes bytes = {(uint8_t *)text, strlen(text)};
        assert_int_equal(firn_tree_parse(&tree, "text", &bytes, &error), FIRN_OK);
        assert_int_equal(firn_scene_read(&scene, &tree, &error), FIRN_OK);
        alarm(PATIENCE);
        const firn_job_options options = firn_job_options_default();
        firn_job *job = NULL;
        firn_status st = firn_job_create(&scene, &options, &job, &error);
        if (st == FIRN_OK) st = firn_job_fill(job, &error);
        firn_job_destroy(job);
        expect_refused(st, &error, amounts[a], "GB of memory; there are");
        if (strncmp(error.message, "text:4:3: ", 10) != 0) {
            complain("no place: %s\n", error.message);
        }
        firn_plan plan;
        firn_run_options how = firn_run_options_default(&scene);
        st = firn_run_plan(&scene, &how, NULL, &plan, &error);
        alarm(0);
        if (st != FIRN_OK || plan.particles < 1e11 || plan.memory <= plan.memory_most ||
            plan.memory < 100.0 * (double)plan.particles) {
            complain("%s: plan %s: %lld particles of %g of %g bytes\n", amounts[a], error.message,
                     (long long)plan.particles, plan.memory, plan.memory_most);
        }
        firn_scene_free(&scene);
    }
    assert_no_complaints();
}

int main(void)
{
    if (!make_top("bounds")) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pipes_and_devices_are_refused_by_every_reader),
        cmocka_unit_test(files_beyond_the_limit_are_refused_unread),
        cmocka_unit_test(compressed_data_may_not_become_more_than_the_limit),
        cmocka_unit_test(byte_order_marks_are_accepted),
        cmocka_unit_test(includes_are_bounded_in_all),
        cmocka_unit_test(reading_takes_time_in_proportion),
        cmocka_unit_test(what_no_memory_holds_is_told_at_once),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    remove_all(top);
    return failed;
}
