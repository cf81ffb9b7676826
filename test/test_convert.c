/* firn convert and firn info of files with many frames and of meshes, run as a user would. */
#include "program.h"

#include <firn/alembic.h>
#include <firn/points.h>

/* Three points by 24 frames per second, frames 1 to 6; in frame f they are f m high. */
static void write_spray(const char *folder)
{
    char path[PATH_SIZE];
    const firn_alembic_writer_def def = firn_alembic_writer_def_default();
    firn_alembic_writer *w = NULL;
    int32_t object;
    assert_ok(firn_alembic_writer_create(in_folder(folder, "spray.abc", path), &def, &w, &error));
    assert_ok(firn_alembic_writer_add(w, FIRN_ALEMBIC_POINTS, "spray", &object, &error));
    for (int f = 1; f <= 6; f++) {
        firn_points points = {.count = 3};
        firn_error why = {0};
        float *P = firn_points_add(&points, "P", FIRN_TYPE_f32, 3, &why)->data;
        for (int i = 0; i < 3; i++) {
            P[3 * i] = (float)i;
            P[3 * i + 1] = (float)f;
        }
        assert_ok(firn_alembic_writer_points(w, object, &points, &error));
        assert_ok(firn_alembic_writer_commit(w, f, &error));
        firn_points_free(&points);
    }
    assert_ok(firn_alembic_writer_finish(w, &error));
    firn_alembic_writer_destroy(w);
}

static void write_text(const char *folder, const char *name, const char *text)
{
    char path[PATH_SIZE];
    FILE *f = fopen(in_folder(folder, name, path), "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

/* The height of the first particle. */
static double height_of(const char *folder, const char *name)
{
    char path[PATH_SIZE];
    firn_points points;
    assert_ok(firn_points_read(in_folder(folder, name, path), &points, &error));
    const firn_column *P = firn_points_find(&points, "P");
    const double height = firn_type_get(P->type, P->data, 1);
    firn_points_free(&points);
    return height;
}

static void frames_of_alembic_are_converted(void **state)
{
    (void)state;
    char folder[PATH_SIZE];
    write_spray(fresh_folder("frames", folder));
    expect_exit(run(folder, WORDS("convert", "spray.abc", "all.$F2.prt")), 0, "all");
    expect_exit(run(folder, WORDS("convert", "spray.abc", "some.$F.csv", "--frames", "2:3")), 0,
                "some");
    expect_exit(run(folder, WORDS("convert", "spray.abc", "one.csv", "--frames", "4")), 0, "one");
    expect_exit(run(folder, WORDS("convert", "spray.abc", "first.csv")), 0, "first");
    expect_exit(run(folder, WORDS("convert", "spray.abc", "slow.$F.csv", "--fps", "12")), 0,
                "slow");
    assert_int_equal(count_entries(folder), 1 + 6 + 2 + 1 + 1 + 3);
    for (int f = 1; f <= 6; f++) {
        char name[32];
        snprintf(name, sizeof name, "all.%02d.prt", f);
        assert_close(height_of(folder, name), f, 1e-6);
    }
    assert_close(height_of(folder, "some.2.csv"), 2, 1e-6);
    assert_close(height_of(folder, "some.3.csv"), 3, 1e-6);
    assert_close(height_of(folder, "one.csv"), 4, 1e-6);
    assert_close(height_of(folder, "first.csv"), 1, 1e-6);
    assert_close(height_of(folder, "slow.2.csv"), 4, 1e-6);
    const struct {
        const char *const *words;
        const char *message;
    } cases[] = {
        {WORDS("convert", "spray.abc", "x.csv", "--frames", "2:3"), "put $F4 in the name"},
        {WORDS("convert", "spray.abc", "x.$F.csv", "--frames", "2:9"),
         "--frames 2:9 must be A:B within 1:6"},
        {WORDS("convert", "spray.abc", "x.$F.csv", "--fps", "no"),
         "--fps no must be a number above 0"},
        {WORDS("convert", "one.csv", "x.$F.prt"), "one.csv holds one frame"},
        {WORDS("convert", "one.csv", "x.prt", "--frames", "2"), "one.csv holds one frame"},
        {WORDS("convert", "spray.abc", "spray.abc", "--frames", "2"), "are the same file"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const outcome *o = run(folder, cases[i].words);
        expect_exit(o, 2, cases[i].message);
        if (!strstr(o->err, cases[i].message)) complain("%s: %s\n", cases[i].message, o->err);
    }
    assert_int_equal(count_entries(folder), 14);
    assert_no_complaints();
}

static void expect_info(const char *folder, const char *const *words, const char *says)
{
    const outcome *o = run(folder, words);
    expect_exit(o, 0, words[1]);
    if (!strstr(o->out, says)) complain("not \"%s\" but %s\n", says, o->out);
}

static void info_tells_of_meshes_and_frames(void **state)
{
    (void)state;
    char folder[PATH_SIZE];
    write_spray(fresh_folder("info", folder));
    write_text(folder, "tetra.obj",
               "v 0 0 0\nv 1 0 0\nv 0 2 0\nv 0 0 3\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n");
    write_text(folder, "square.obj", "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n");
    write_text(folder, "square.ply",
               "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\n"
               "property float z\nproperty float heat\nelement face 1\n"
               "property list uchar int vertex_indices\nend_header\n"
               "0 0 0 5\n1 0 0 6\n1 1 0 7\n0 1 0 8\n4 0 1 2 3\n");
    write_text(folder, "facet.stl",
               "solid s\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\n"
               "endloop\nendfacet\nendsolid s\n");
    expect_info(folder, WORDS("info", "tetra.obj"),
                "4 vertices, 4 faces, 4 triangles, closed, 1 m3");
    expect_info(folder, WORDS("info", "tetra.obj"), "bounds 0 0 0 to 1 2 3 (1 x 2 x 3 m)");
    expect_info(folder, WORDS("info", "tetra.obj", "--json"),
                "\"vertices\": 4, \"faces\": 4, \"triangles\": 4, \"shells\": 1, \"closed\": true");
    expect_info(folder, WORDS("info", "square.obj"), "4 vertices, 1 face, 2 triangles, open");
    expect_info(folder, WORDS("info", "square.ply"), "4 vertices, 1 face, 2 triangles, open");
    expect_info(folder, WORDS("info", "square.ply"), "heat           f32[1]   5..8");
    expect_info(folder, WORDS("info", "facet.stl"), "1 face, 1 triangle, open");
    expect_info(folder, WORDS("info", "spray.abc"), "frames 1 to 6 at 24 per second");
    expect_info(folder, WORDS("info", "spray.abc", "--frame", "5"), "frame 5, 3 particles");
    expect_info(folder, WORDS("info", "spray.abc", "--frame", "5"), "bounds 0 5 0 to 2 5 0");
    expect_info(folder, WORDS("info", FIRN_TEST_DATA "/alembic/cube_xform.abc", "--frame", "2"),
                "frame 2, 8 vertices, 6 faces, 12 triangles, closed");
    const outcome *o = run(folder, WORDS("info", "tetra.obj", "--frame", "1"));
    expect_exit(o, 3, "--frame");
    if (!strstr(o->err, "holds one frame")) complain("%s\n", o->err);
    o = run(folder, WORDS("info", "none.stl"));
    expect_exit(o, 3, "none.stl");
    assert_no_complaints();
}

int main(void)
{
    if (!make_top("convert")) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_of_alembic_are_converted),
        cmocka_unit_test(info_tells_of_meshes_and_frames),
    };
    const int failed = cmocka_run_group_tests_name("convert", tests, NULL, NULL);
    remove_all(top);
    return failed;
}
