/* Alembic: files of the library's own and of Blender's are read to the values their makers state, hostile
 * files are refused, and what is written is read back, resumed and recovered. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "io/abc_writer.h"

#define DATA FIRN_TEST_DATA "/alembic/"

static const double pi = 3.14159265358979323846;

static void take(firn_status st, const firn_error *error)
{
    if (st == FIRN_OK) return;
    print_error("%s\n", error->message);
    fail();
}

static firn_alembic *open_file(const char *path)
{
    firn_alembic *a = NULL;
    firn_error error = {0};
    take(firn_alembic_open(path, &a, &error), &error);
    assert_non_null(a);
    return a;
}

static int32_t find(const firn_alembic *a, const char *pattern)
{
    const int32_t object = firn_alembic_find(a, pattern, -1);
    if (object < 0) print_error("nothing matches %s\n", pattern);
    assert_true(object >= 0);
    return object;
}

static firn_alembic_object object_of(const firn_alembic *a, const char *pattern)
{
    firn_alembic_object o;
    firn_error error = {0};
    take(firn_alembic_get_object(a, find(a, pattern), &o, &error), &error);
    return o;
}

static firn_polygons mesh_at(const firn_alembic *a, const char *pattern, double time)
{
    firn_polygons m;
    firn_error error = {0};
    take(firn_alembic_read_mesh(a, find(a, pattern), time, &m, &error), &error);
    return m;
}

static firn_points points_of(const firn_alembic *a, const char *pattern, int64_t sample)
{
    firn_points p;
    firn_error error = {0};
    take(firn_alembic_read_points_sample(a, find(a, pattern), sample, &p, &error), &error);
    return p;
}

static void near(double value, double expected, double slack)
{
    if (!(fabs(value - expected) <= slack)) {
        print_error("%.17g is not %.17g within %g\n", value, expected, slack);
        fail();
    }
}

static void near3(const double *value, double x, double y, double z, double slack)
{
    near(value[0], x, slack);
    near(value[1], y, slack);
    near(value[2], z, slack);
}

static double value_of(const firn_points *p, const char *name, int64_t index)
{
    const firn_column *c = firn_points_find(p, name);
    if (!c) print_error("there is no column %s\n", name);
    assert_non_null(c);
    return firn_type_get(c->type, c->data, index);
}

/* ---- files of others ---- */

static void the_cube_stands_where_the_library_says(void **state)
{
    (void)state;
    /* Of cube_xform.world.txt: vertices 0 and 6 at frames 1, 2 and 3 of 24 per second. */
    static const double world[3][2][3] = {
        {{-1, -1, -1}, {1, 1, 1}},
        {{0.633975, -0.25, -0.366025}, {3.366025, 2.25, 0.366025}},
        {{2.633975, 0.5, 0.366025}, {5.366025, 3.5, -0.366025}}};
    firn_alembic *a = open_file(DATA "cube_xform.abc");
    for (int f = 0; f < 3; f++) {
        firn_polygons m = mesh_at(a, "root/cube_xf/cubeShape", (f + 1) / 24.0);
        assert_int_equal(m.vertex_count, 8);
        assert_int_equal(m.face_count, 6);
        assert_int_equal(m.corner_count, 24);
        near3(m.vertex, world[f][0][0], world[f][0][1], world[f][0][2], 1e-6);
        near3(m.vertex + 18, world[f][1][0], world[f][1][1], world[f][1][2], 1e-6);
        /* The first face is 0 1 2 3 in the file. */
        for (int i = 0; i < 4; i++) assert_int_equal(m.corner[i], 3 - i);
        /* Scaled by 2 in the root, turned about y, along which they are. */
        near3(m.velocity, 0, -6, 0, 1e-6);
        firn_polygons stored;
        firn_error error = {0};
        take(firn_alembic_read_mesh_sample(a, find(a, "cubeShape"), f, &stored, &error), &error);
        assert_memory_equal(stored.vertex, m.vertex, 24 * sizeof *m.vertex);
        firn_polygons_free(&stored);
        firn_polygons_free(&m);
    }
    firn_alembic_close(a);
}

/* Volume by the divergence theorem: above 0 if faces are counter-clockwise seen from outside. */
static double volume(const firn_polygons *m)
{
    double sum = 0;
    for (int64_t f = 0, at = 0; f < m->face_count; at += m->face[f++]) {
        for (int32_t k = 1; k + 1 < m->face[f]; k++) {
            const double *a = m->vertex + 3 * m->corner[at], *b = m->vertex + 3 * m->corner[at + k],
                         *c = m->vertex + 3 * m->corner[at + k + 1];
            sum += (a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
                    a[2] * (b[0] * c[1] - b[1] * c[0])) /
                   6;
        }
    }
    return sum;
}

static void faces_are_counter_clockwise_from_outside(void **state)
{
    (void)state;
    firn_alembic *a = open_file(DATA "cube_xform.abc");
    firn_polygons m = mesh_at(a, "cubeShape", 3 / 24.0);
    near(volume(&m), 8 * 1.5, 1e-5);
    firn_polygons_free(&m);
    firn_alembic_close(a);
    a = open_file(DATA "blender_tet.abc");
    m = mesh_at(a, "m", 1 / 24.0);
    near(volume(&m), 1 / 6.0, 1e-6);
    firn_polygons_free(&m);
    firn_alembic_close(a);
}

static void between_frames_angles_and_vertices_are_interpolated(void **state)
{
    (void)state;
    firn_alembic *a = open_file(DATA "cube_xform.abc");
    /* Frame 1.5: stretched 1.125 times, turned by 15 degrees, moved by (0.5, 0.25, 0), scaled by 2. */
    firn_polygons m = mesh_at(a, "cubeShape", 1.5 / 24);
    const double c = cos(pi / 12), s = sin(pi / 12);
    const double x = -0.5 * c - 0.5 * s, y = -0.5 * 1.125, z = 0.5 * s - 0.5 * c;
    near3(m.vertex, 2 * (x + 0.5), 2 * (y + 0.25), 2 * z, 1e-6);
    firn_polygons_free(&m);
    /* Before the first sample and after the last, those hold. */
    m = mesh_at(a, "cubeShape", -7);
    near3(m.vertex, -1, -1, -1, 1e-6);
    firn_polygons_free(&m);
    m = mesh_at(a, "cubeShape", 7);
    near3(m.vertex, 2.633975, 0.5, 0.366025, 1e-6);
    firn_polygons_free(&m);
    firn_alembic_close(a);
}

static void objects_say_what_they_are(void **state)
{
    (void)state;
    firn_alembic *a = open_file(DATA "cube_xform.abc");
    const firn_alembic_file file = firn_alembic_get_file(a);
    assert_int_equal(file.object_count, 3);
    assert_int_equal(file.version, 10812);
    assert_string_equal(file.application, "facts generator");
    near(file.fps, 24, 0);
    near(file.first_time, 1 / 24.0, 1e-12);
    near(file.last_time, 3 / 24.0, 1e-12);
    const firn_alembic_object root = object_of(a, "root"), xf = object_of(a, "root/cube_xf"),
                              cube = object_of(a, "root/cube_xf/cubeShape");
    assert_int_equal(root.kind, FIRN_ALEMBIC_XFORM);
    assert_int_equal(root.parent, -1);
    assert_false(root.moves);
    assert_int_equal(root.sample_count, 1);
    assert_true(xf.moves);
    assert_int_equal(xf.sample_count, 3);
    assert_int_equal(cube.kind, FIRN_ALEMBIC_MESH);
    assert_string_equal(firn_alembic_kind_name(cube.kind), "mesh");
    assert_int_equal(cube.parent, find(a, "cube_xf"));
    assert_int_equal(cube.vertex_count, 8);
    assert_int_equal(cube.face_count, 6);
    assert_true(cube.constant_topology);
    assert_true(cube.visible);
    near(cube.last_time, 3 / 24.0, 1e-12);
    double low[3], high[3];
    firn_error error = {0};
    take(firn_alembic_bounds(a, find(a, "cubeShape"), 1 / 24.0, low, high, &error), &error);
    near3(low, -1, -1, -1, 1e-6);
    near3(high, 1, 1, 1, 1e-6);
    double *times;
    int64_t count;
    take(firn_alembic_times(a, find(a, "cubeShape"), &times, &count, &error), &error);
    assert_int_equal(count, 3);
    for (int i = 0; i < 3; i++) near(times[i], (i + 1) / 24.0, 1e-12);
    free(times);
    take(firn_alembic_times(a, find(a, "root"), &times, &count, &error), &error);
    assert_int_equal(count, 0);
    free(times);
    firn_alembic_close(a);
}

static void patterns_find_objects(void **state)
{
    (void)state;
    firn_alembic *a = open_file(DATA "cube_xform.abc");
    const int32_t root = find(a, "root"), xf = find(a, "root/cube_xf"),
                  cube = find(a, "root/cube_xf/cubeShape");
    assert_int_equal(find(a, "**"), root);
    assert_int_equal(firn_alembic_find(a, "**", root), xf);
    assert_int_equal(firn_alembic_find(a, "**", cube), -1);
    assert_int_equal(find(a, "/*/*"), xf);
    assert_int_equal(firn_alembic_find(a, "/*/*", xf), -1);
    assert_int_equal(find(a, "/**/cube*"), xf);
    assert_int_equal(find(a, "/**Shape"), cube);
    assert_int_equal(find(a, "cube*"), xf);
    assert_int_equal(find(a, "cube_xf/*"), cube);
    assert_int_equal(firn_alembic_find(a, "/cube*", -1), -1);
    assert_int_equal(firn_alembic_find(a, "ube*", -1), -1);
    assert_int_equal(firn_alembic_find(a, "", -1), -1);
    firn_alembic_close(a);
}

static void blender_and_firn_agree_on_the_tetrahedron(void **state)
{
    (void)state;
    /* World positions by Blender, Z up, at three frames. */
    static const struct {
        int frame;
        double vertex[4][3];
    } table[] = {
        {1, {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
        {4, {{0.77778, 0, 0}, {1.70311, 0.37916, 0}, {0.39862, 0.92533, 0}, {0.77778, 0, 1.25926}}},
        {10, {{3, 0, 0}, {3.07074, 0.99749, 0}, {2.00251, 0.07074, 0}, {3, 0, 2}}},
    };
    firn_alembic *a = open_file(DATA "blender_tet.abc");
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        firn_polygons m = mesh_at(a, "/par/tet/m", table[i].frame / 24.0);
        assert_int_equal(m.vertex_count, 4);
        for (int k = 0; k < 4; k++) { /* Y up in the file: (x, y, z) is (x, z, -y) */
            const double *v = table[i].vertex[k];
            near3(m.vertex + 3 * k, v[0], v[2], -v[1], 2e-5);
        }
        firn_polygons_free(&m);
    }
    const firn_alembic_file file = firn_alembic_get_file(a);
    assert_string_equal(file.application, "Blender");
    near(file.fps, 24, 0);
    firn_alembic_attribute attribute;
    assert_true(firn_alembic_get_attribute(a, find(a, "m"), 0, &attribute));
    assert_string_equal(attribute.name, "Pref");
    assert_string_equal(attribute.type, "float32_t");
    assert_string_equal(attribute.interpretation, "vector");
    assert_int_equal(attribute.components, 3);
    assert_false(firn_alembic_get_attribute(a, find(a, "m"), 1, &attribute));
    firn_alembic_close(a);
}

static void matrices_between_frames_stay_rotations(void **state)
{
    (void)state;
    firn_alembic *a = open_file(DATA "blender_tet.abc");
    for (double frame = 1; frame <= 10; frame += 0.125) {
        double m[16];
        firn_error error = {0};
        take(firn_alembic_matrix(a, find(a, "/par"), frame / 24, m, &error), &error);
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++) {
                const double dot =
                    m[4 * i] * m[4 * j] + m[4 * i + 1] * m[4 * j + 1] + m[4 * i + 2] * m[4 * j + 2];
                near(dot, i == j, 1e-6);
            }
        }
    }
    /* Half the angle of half a step. */
    double m[3][16];
    firn_error error = {0};
    for (int i = 0; i < 3; i++) {
        take(firn_alembic_matrix(a, find(a, "/par"), (5 + 0.5 * i) / 24, m[i], &error), &error);
    }
    const double before = atan2(m[0][8], m[0][0]), middle = atan2(m[1][8], m[1][0]),
                 after = atan2(m[2][8], m[2][0]);
    near(middle, 0.5 * (before + after), 1e-9);
    near(m[1][12], 0.5 * (m[0][12] + m[2][12]), 1e-12);
    firn_alembic_close(a);
}

static void points_come_with_all_attributes(void **state)
{
    (void)state;
    firn_alembic *a = open_file(DATA "points_attrs.abc");
    const firn_alembic_object o = object_of(a, "particlesShape");
    assert_int_equal(o.kind, FIRN_ALEMBIC_POINTS);
    assert_int_equal(o.sample_count, 3);
    assert_int_equal(o.vertex_count, 4);
    assert_int_equal(o.attribute_count, 4);
    for (int f = 0; f < 3; f++) {
        firn_points p = points_of(a, "particlesShape", f);
        assert_int_equal(p.count, 4 + f);
        assert_int_equal(p.column_count, 8);
        for (int64_t i = 0; i < p.count; i++) {
            near(value_of(&p, "P", 3 * i), (double)i, 0);
            near(value_of(&p, "P", 3 * i + 1), 0.1 * f * (double)(i + 1), 1e-6);
            near(value_of(&p, "P", 3 * i + 2), (double)-i, 0);
            near(value_of(&p, "v", 3 * i + 1), 2.4 * (double)(i + 1), 1e-5);
            near(value_of(&p, "id", i), 100 + (double)i, 0);
            near(value_of(&p, "pscale", i), 0.025 * (double)(i + 1), 1e-7);
            near(value_of(&p, "temperature", i), 300 + 10 * (double)i + f, 0);
            near(value_of(&p, "Cd", 3 * i), 0.125 * (double)i, 0);
            near(value_of(&p, "F", 9 * i + 1), f, 0);
            near(value_of(&p, "F", 9 * i + 8), 1, 0);
            near(value_of(&p, "material", i), (double)(i % 2), 0);
        }
        assert_int_equal(firn_points_find(&p, "material")->type, FIRN_TYPE_i32);
        assert_int_equal(firn_points_find(&p, "F")->components, 9);
        firn_points_free(&p);
    }
    firn_points p;
    firn_error error = {0};
    take(firn_alembic_read_points(a, find(a, "particlesShape"), 1.5 / 24, &p, &error), &error);
    assert_int_equal(p.count, 5); /* the sample before */
    firn_points_free(&p);
    firn_alembic_close(a);
    a = open_file(DATA "tiny_points.abc");
    p = points_of(a, "/p", 0);
    assert_int_equal(p.count, 1);
    for (int i = 0; i < 3; i++) near(value_of(&p, "P", i), i + 1, 0);
    near(value_of(&p, "id", 0), 7, 0);
    firn_points_free(&p);
    firn_alembic_close(a);
}

static void changing_faces_hold_until_the_next_sample(void **state)
{
    (void)state;
    static const double times[] = {0, 0.05, 0.2};
    firn_alembic *a = open_file(DATA "changing_topology.abc");
    const firn_alembic_object fan = object_of(a, "fan");
    assert_false(fan.constant_topology);
    near(fan.last_time, 0.2, 0);
    assert_int_equal(object_of(a, "/xf/fan/matA").kind, FIRN_ALEMBIC_FACESET);
    for (int s = 0; s < 3; s++) {
        for (int late = 0; late < 2; late++) {
            firn_polygons m = mesh_at(a, "fan", times[s] + 0.02 * late);
            assert_int_equal(m.face_count, 3 + s);
            assert_int_equal(m.vertex_count, 4 + s);
            assert_null(m.velocity);
            near3(m.vertex, 0, 0, 5, 1e-12);
            near3(m.vertex + 3, 1, 0, 5, 1e-7);
            assert_int_equal(m.corner[0], 1); /* 0 2 1 in the file */
            firn_polygons_free(&m);
        }
    }
    double *at;
    int64_t count;
    firn_error error = {0};
    take(firn_alembic_times(a, find(a, "fan"), &at, &count, &error), &error);
    assert_int_equal(count, 3);
    for (int i = 0; i < 3; i++) near(at[i], times[i], 0);
    free(at);
    firn_alembic_close(a);
}

static void edge_cases_are_read(void **state)
{
    (void)state;
    firn_alembic *a = open_file(DATA "edge_cases.abc");
    /* Three samples in each cycle of 1/24 s. */
    const firn_alembic_object o = object_of(a, "emptyThenTri");
    assert_int_equal(o.sample_count, 6);
    near(o.first_time, -0.25 / 24, 1e-12);
    near(o.last_time, 1.25 / 24, 1e-12);
    assert_int_equal(o.vertex_count, 0);
    const firn_alembic_object hidden = object_of(a, "noInherit");
    assert_false(hidden.visible);
    assert_false(hidden.visible_changes);
    bool visible = true;
    firn_error error = {0};
    take(firn_alembic_visible(a, find(a, "emptyThenTri"), 0, &visible, &error), &error);
    assert_false(visible);
    for (int s = 0; s < 6; s++) {
        firn_polygons m;
        take(firn_alembic_read_mesh_sample(a, find(a, "emptyThenTri"), s, &m, &error), &error);
        const bool full = s >= 2 && s <= 4;
        assert_int_equal(m.vertex_count, full ? 3 : 0);
        assert_int_equal(m.face_count, full ? 1 : 0);
        if (full) { /* (1, 0, 0): scaled, turned by 5 degrees about x, then by 10 s about z */
            const double angle = 10 * s * pi / 180, tilt = 5 * pi / 180;
            near3(m.vertex + 3, cos(angle), sin(angle), 0, 1e-12);
            near3(m.vertex + 6, -2 * cos(tilt) * sin(angle), 2 * cos(tilt) * cos(angle),
                  2 * sin(tilt), 1e-12);
        }
        firn_polygons_free(&m);
    }
    /* Strings, which no schema asks for. */
    const firn_abc_object *mesh = &a->object[find(a, "emptyThenTri")];
    const firn_abc_property *user = firn_abc_part(a, firn_abc_schema(a, mesh), ".userProperties");
    const firn_abc_property *names = firn_abc_part(a, user, "names"),
                            *note = firn_abc_part(a, user, "note");
    firn_abc_sample text;
    take(firn_abc_load(a, names, 0, &text, &error), &error);
    assert_int_equal(text.count, 7);
    assert_memory_equal(text.data, "a\0\0bcd", 7);
    free(text.data);
    take(firn_abc_load(a, note, 0, &text, &error), &error);
    assert_string_equal(text.data, "hello");
    free(text.data);
    firn_alembic_close(a);
}

/* The keys that the library wrote, of every sample of the cube. */
static void keys_are_murmurs(void **state)
{
    (void)state;
    firn_alembic *a = open_file(DATA "cube_xform.abc");
    int checked = 0;
    for (int32_t i = 0; i < a->property_count; i++) {
        const firn_abc_property *p = &a->property[i];
        for (int64_t s = 0; s < p->samples; s++) {
            firn_error error = {0};
            uint64_t word, size;
            uint8_t key[FIRN_OGAWA_KEY], data[1024];
            take(firn_abc_word(a, p, s, &word, &error), &error);
            take(firn_ogawa_size(&a->file, word, &size, &error), &error);
            assert_true(size <= sizeof data);
            take(firn_ogawa_read(&a->file, word, 0, data, size, &error), &error);
            firn_murmur(data + sizeof key, size - sizeof key, key);
            assert_memory_equal(key, data, sizeof key);
            checked++;
        }
    }
    assert_true(checked > 20);
    firn_alembic_close(a);
}

/* ---- hostile files ---- */

/* Looks at all there is; errors must say something. */
static void look_at_all(const firn_alembic *a)
{
    const firn_alembic_file file = firn_alembic_get_file(a);
    for (int32_t i = 0; i < file.object_count; i++) {
        firn_alembic_object o;
        firn_polygons m;
        firn_points p;
        double low[3], high[3], *times;
        int64_t count;
        firn_error error = {0};
        if (firn_alembic_get_object(a, i, &o, &error) != FIRN_OK) {
            assert_true(error.message[0]);
            continue;
        }
        (void)!firn_alembic_bounds(a, i, 0.01, low, high, &error);
        if (firn_alembic_times(a, i, &times, &count, &error) == FIRN_OK) free(times);
        const double middle = 0.5 * (o.first_time + o.last_time);
        if (firn_alembic_read_mesh(a, i, middle, &m, &error) == FIRN_OK) {
            firn_polygons_free(&m);
        }
        if (firn_alembic_read_points(a, i, middle, &p, &error) == FIRN_OK) firn_points_free(&p);
        firn_alembic_attribute attribute;
        for (int32_t k = 0; firn_alembic_get_attribute(a, i, k, &attribute); k++) continue;
    }
}

/* From a copy of just that size, whose ends a sanitizer guards. */
static bool try_bytes(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size + (size == 0));
    assert_non_null(copy);
    memcpy(copy, data, size);
    firn_alembic *a = NULL;
    firn_error error = {0};
    const firn_status st = firn_alembic_open_bytes(&(firn_bytes){copy, size}, &a, &error);
    if (st == FIRN_OK) {
        look_at_all(a);
    } else {
        assert_null(a);
        assert_true(error.message[0]);
    }
    firn_alembic_close(a);
    free(copy);
    return st == FIRN_OK;
}

static const char *const samples[] = {"tiny_points", "cube_xform",  "points_attrs",
                                      "edge_cases",  "blender_tet", "changing_topology"};

static void damaged_files_do_no_more_than_fail(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof samples / sizeof *samples; k++) {
        char path[512];
        snprintf(path, sizeof path, DATA "%s.abc", samples[k]);
        firn_bytes in;
        firn_error error = {0};
        take(firn_bytes_read(path, &in, &error), &error);
        assert_true(try_bytes(in.data, in.size));
        for (size_t i = 0; i < in.size; i++) {
            const uint8_t was = in.data[i];
            const uint8_t others[] = {0, 255, (uint8_t)(was + 1)};
            for (int n = 0; n < 3; n++) {
                in.data[i] = others[n];
                try_bytes(in.data, in.size);
            }
            in.data[i] = was;
        }
        for (size_t i = 0; i < in.size; i++) {
            /* The root comes last, so nothing shorter is whole. */
            assert_false(try_bytes(in.data, i));
        }
        firn_bytes_free(&in);
    }
}

static void refuse_bytes(const firn_bytes *in, const char *because)
{
    firn_alembic *a = NULL;
    firn_error error = {0};
    assert_int_equal(firn_alembic_open_bytes(in, &a, &error), FIRN_INVALID);
    if (!strstr(error.message, because)) print_error("%s\n", error.message);
    assert_non_null(strstr(error.message, because));
}

static void put_word(firn_bytes *in, size_t at, uint64_t word)
{
    memcpy(in->data + at, &word, sizeof word);
}

static void hostile_files_are_refused_with_a_reason(void **state)
{
    (void)state;
    firn_bytes in;
    firn_error error = {0};
    take(firn_bytes_read(DATA "tiny_points.abc", &in, &error), &error);
    in.data[5] = 0;
    refuse_bytes(&in, "was not finished");
    in.data[5] = 255;
    in.data[7] = 2;
    refuse_bytes(&in, "version 2 of Ogawa");
    in.data[7] = 1;
    /* The top object at 0x1e1 has words at 0x1e9: properties, object p, its header. */
    uint64_t was;
    memcpy(&was, in.data + 0x1f1, sizeof was);
    put_word(&in, 0x1f1, 0x1e1); /* p is the top itself, whose child is p */
    refuse_bytes(&in, "contains itself");
    put_word(&in, 0x1f1, was);
    put_word(&in, 0x1e1, UINT64_MAX / 8); /* words */
    refuse_bytes(&in, "more than the file");
    put_word(&in, 0x1e1, 3);
    put_word(&in, 0x1b3, UINT64_MAX / 2); /* bytes of headers */
    refuse_bytes(&in, "more than the file");
    put_word(&in, 0x1b3, 38);
    /* The compound .geom at 0x121 takes itself for its first property, and that is made a compound. */
    put_word(&in, 0x129, 0x121);
    in.data[0xfc] &= 0xfc;
    assert_false(try_bytes(in.data, in.size));
    firn_bytes_free(&in);

    firn_alembic *a = NULL;
    assert_int_equal(firn_alembic_open(DATA "none.abc", &a, &error), FIRN_INVALID);
    assert_non_null(strstr(error.message, "none.abc: "));
    assert_int_equal(firn_alembic_open(FIRN_TEST_DATA, &a, &error), FIRN_INVALID);
    assert_non_null(strstr(error.message, "folder"));
}

/* ---- instances ---- */

/* A file made by hand: an object is a word of a group, and headers of it for its parent. */
typedef struct by_hand {
    firn_output out;
    firn_ogawa_writer file;
    char *text;
    size_t size;
} by_hand;

static uint64_t add_sample(by_hand *h, const void *data, size_t size, bool array)
{
    static const uint8_t key[FIRN_OGAWA_KEY];
    const uint64_t words[2] = {firn_ogawa_add_data(&h->file, key, sizeof key, data, size),
                               FIRN_OGAWA_NO_DATA};
    return firn_ogawa_add_group(&h->file, words, array ? 2 : 1);
}

/* A constant property with one sample, or a compound. */
static void put_property(firn_abc_buffer *b, firn_abc_form form, firn_abc_pod pod, uint32_t extent,
                         const char *name)
{
    const uint8_t one = 1, length = (uint8_t)strlen(name);
    const uint32_t info = (uint32_t)form | (uint32_t)pod << 4 | extent << 12 | FIRN_ABC_CONSTANT;
    firn_abc_put(b, &info, sizeof info);
    if (form != FIRN_ABC_COMPOUND) firn_abc_put(b, &one, 1);
    firn_abc_put(b, &length, 1);
    firn_abc_put(b, name, length);
}

static uint64_t end_compound(by_hand *h, uint64_t *words, size_t count, firn_abc_buffer *b)
{
    words[count] = firn_ogawa_add_data(&h->file, b->data, b->size, NULL, 0);
    free(b->data);
    *b = (firn_abc_buffer){0};
    return firn_ogawa_add_group(&h->file, words, count + 1);
}

/* One compound in another, as objects have their schema. */
static uint64_t wrap(by_hand *h, uint64_t compound, const char *name)
{
    firn_abc_buffer b = {0};
    uint64_t words[2] = {compound};
    put_property(&b, FIRN_ABC_COMPOUND, 0, 0, name);
    return end_compound(h, words, 1, &b);
}

static uint64_t hand_mesh(by_hand *h)
{
    static const float P[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    static const int32_t corner[3] = {0, 2, 1}, face = 3;
    firn_abc_buffer b = {0};
    uint64_t words[4] = {add_sample(h, P, sizeof P, true),
                         add_sample(h, corner, sizeof corner, true),
                         add_sample(h, &face, sizeof face, true)};
    put_property(&b, FIRN_ABC_ARRAY, FIRN_ABC_F32, 3, "P");
    put_property(&b, FIRN_ABC_ARRAY, FIRN_ABC_I32, 1, ".faceIndices");
    put_property(&b, FIRN_ABC_ARRAY, FIRN_ABC_I32, 1, ".faceCounts");
    return wrap(h, end_compound(h, words, 3, &b), ".geom");
}

static uint64_t hand_xform(by_hand *h, double x, double y, double z)
{
    const double vals[3] = {x, y, z};
    const uint8_t ops = 0x10;
    firn_abc_buffer b = {0};
    uint64_t words[3] = {add_sample(h, &ops, 1, false), add_sample(h, vals, sizeof vals, false)};
    put_property(&b, FIRN_ABC_SCALAR, FIRN_ABC_U8, 1, ".ops");
    put_property(&b, FIRN_ABC_SCALAR, FIRN_ABC_F64, 3, ".vals");
    return wrap(h, end_compound(h, words, 2, &b), ".xform");
}

static uint64_t hand_instance(by_hand *h, const char *source)
{
    firn_abc_buffer b = {0};
    uint64_t words[2] = {add_sample(h, source, strlen(source) + 1, false)};
    put_property(&b, FIRN_ABC_SCALAR, FIRN_ABC_STRING, 1, ".instanceSource");
    return end_compound(h, words, 1, &b);
}

/* Objects in an object: names, metadata and words, which end with a NULL. */
typedef struct child {
    const char *name, *metadata;
    uint64_t word;
} child;

static uint64_t hand_object(by_hand *h, uint64_t properties, const child *c)
{
    static const uint8_t hashes[32];
    const uint8_t inside = FIRN_ABC_INLINE;
    firn_abc_buffer b = {0};
    uint64_t words[8] = {properties};
    size_t count = 1;
    for (; c && c->name; c++) {
        const uint32_t length = (uint32_t)strlen(c->name), more = (uint32_t)strlen(c->metadata);
        firn_abc_put(&b, &length, sizeof length);
        firn_abc_put(&b, c->name, length);
        firn_abc_put(&b, &inside, 1);
        firn_abc_put(&b, &more, sizeof more);
        firn_abc_put(&b, c->metadata, more);
        words[count++] = c->word;
    }
    firn_abc_put(&b, hashes, sizeof hashes);
    return end_compound(h, words, count, &b);
}

#define XFORM "schema=AbcGeom_Xform_v3"
#define MESH "schema=AbcGeom_PolyMesh_v1"
#define INSTANCE "isInstance=1"

/* /a moves by x, /a/src by y, /a/src/shape is a triangle; /b moves by z, and /b/inst stands for `source`. If
 * `inner`, so does /a/src/inner. */
static firn_bytes hand_file(by_hand *h, const char *source, const char *inner)
{
    *h = (by_hand){.out.path = "by hand"};
    h->out.file = open_memstream(&h->text, &h->size);
    assert_non_null(h->out.file);
    firn_ogawa_begin(&h->file, &h->out);
    const child in_src[] = {{"shape", MESH, hand_object(h, hand_mesh(h), NULL)},
                            {inner ? "inner" : NULL, INSTANCE,
                             inner ? hand_object(h, hand_instance(h, inner), NULL) : 0},
                            {0}};
    const child in_a[] = {{"src", XFORM, hand_object(h, hand_xform(h, 0, 2, 0), in_src)}, {0}};
    const child in_b[] = {{"inst", INSTANCE, hand_object(h, hand_instance(h, source), NULL)}, {0}};
    const child top[] = {{"a", XFORM, hand_object(h, hand_xform(h, 1, 0, 0), in_a)},
                         {"b", XFORM, hand_object(h, hand_xform(h, 0, 0, 5), in_b)},
                         {0}};
    const int32_t version[2] = {0, 10800};
    const uint32_t one = 1;
    const double times[2] = {1, 0};
    uint8_t sampling[24];
    memcpy(sampling, &one, 4);
    memcpy(sampling + 4, &times[0], 8);
    memcpy(sampling + 12, &one, 4);
    memcpy(sampling + 16, &times[1], 8);
    const uint64_t words[6] = {firn_ogawa_add_data(&h->file, &version[0], 4, NULL, 0),
                               firn_ogawa_add_data(&h->file, &version[1], 4, NULL, 0),
                               hand_object(h, FIRN_OGAWA_NO_GROUP, top),
                               FIRN_OGAWA_NO_DATA,
                               firn_ogawa_add_data(&h->file, sampling, sizeof sampling, NULL, 0),
                               FIRN_OGAWA_NO_DATA};
    firn_ogawa_finish(&h->file, firn_ogawa_add_group(&h->file, words, 6));
    assert_int_equal(fclose(h->out.file), 0);
    assert_int_equal(h->out.failed, 0);
    return (firn_bytes){(uint8_t *)h->text, h->size};
}

static void instances_are_what_they_stand_for(void **state)
{
    (void)state;
    by_hand h;
    firn_bytes in = hand_file(&h, "/a/src", NULL);
    firn_alembic *a = NULL;
    firn_error error = {0};
    take(firn_alembic_open_bytes(&in, &a, &error), &error);
    assert_int_equal(firn_alembic_get_file(a).object_count, 6);
    const firn_alembic_object inst = object_of(a, "/b/inst");
    assert_int_equal(inst.kind, FIRN_ALEMBIC_XFORM);
    assert_int_equal(inst.instance_of, find(a, "/a/src"));
    assert_int_equal(object_of(a, "/a/src").instance_of, -1);
    firn_polygons m = mesh_at(a, "/a/src/shape", 0);
    near3(m.vertex + 3, 2, 2, 0, 0);
    firn_polygons_free(&m);
    m = mesh_at(a, "/b/inst/shape", 0);
    near3(m.vertex, 0, 2, 5, 0);
    near3(m.vertex + 3, 1, 2, 5, 0);
    firn_polygons_free(&m);
    firn_alembic_close(a);
    free(in.data);
    /* One without its source is listed, and no more. */
    in = hand_file(&h, "/a/nothing", NULL);
    take(firn_alembic_open_bytes(&in, &a, &error), &error);
    assert_int_equal(object_of(a, "/b/inst").kind, FIRN_ALEMBIC_INSTANCE);
    assert_int_equal(firn_alembic_get_file(a).object_count, 5);
    firn_alembic_close(a);
    free(in.data);
    /* An instance within what it stands for never ends. */
    in = hand_file(&h, "/a/src", "/a");
    refuse_bytes(&in, "contains itself");
    free(in.data);
    /* One instance in another: /b/inst has /a/src's inner, which is /a/src/shape. */
    in = hand_file(&h, "/a/src", "/a/src/shape");
    take(firn_alembic_open_bytes(&in, &a, &error), &error);
    m = mesh_at(a, "/b/inst/inner", 0);
    near3(m.vertex, 0, 2, 5, 0);
    firn_polygons_free(&m);
    firn_alembic_close(a);
    free(in.data);
}

/* ---- writing ---- */

static char folder[] = "/tmp/firn_test_alembic_XXXXXX";

static const char *path_of(const char *name)
{
    static char path[4][512];
    static int next;
    char *p = path[next++ % 4];
    snprintf(p, sizeof path[0], "%s/%s", folder, name);
    return p;
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    static const char *const names[] = {"a.abc", "a.abc.part", "b.abc", "b.abc.part", "c.prt"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) remove(path_of(names[i]));
    return rmdir(folder);
}

static firn_bytes load(const char *path)
{
    firn_bytes bytes;
    firn_error error = {0};
    take(firn_bytes_read(path, &bytes, &error), &error);
    return bytes;
}

static bool exists(const char *path) { return access(path, F_OK) == 0; }

static firn_column *add(firn_points *p, const char *name, firn_type type, int32_t components)
{
    firn_error error = {0};
    firn_column *c = firn_points_add(p, name, type, components, &error);
    if (!c) print_error("%s\n", error.message);
    assert_non_null(c);
    return c;
}

/* Every type and number of components, with names that have a meaning; ids do not change. */
static firn_points make_points(int64_t count, int frame)
{
    static const struct {
        const char *name;
        firn_type type;
        int32_t components;
    } columns[] = {{"P", FIRN_TYPE_f32, 3},       {"v", FIRN_TYPE_f32, 3},
                   {"id", FIRN_TYPE_i64, 1},      {"pscale", FIRN_TYPE_f32, 1},
                   {"F", FIRN_TYPE_f32, 9},       {"Cd", FIRN_TYPE_f32, 3},
                   {"orient", FIRN_TYPE_f32, 4},  {"half", FIRN_TYPE_f16, 1},
                   {"double3", FIRN_TYPE_f64, 3}, {"i8", FIRN_TYPE_i8, 1},
                   {"u8", FIRN_TYPE_u8, 2},       {"i16", FIRN_TYPE_i16, 1},
                   {"u16", FIRN_TYPE_u16, 5},     {"material", FIRN_TYPE_i32, 1},
                   {"u32", FIRN_TYPE_u32, 1},     {"i64", FIRN_TYPE_i64, 2},
                   {"u64", FIRN_TYPE_u64, 1},     {"matrix", FIRN_TYPE_f64, 16}};
    firn_points p = {.count = count};
    for (size_t k = 0; k < sizeof columns / sizeof *columns; k++) {
        const firn_column *c = add(&p, columns[k].name, columns[k].type, columns[k].components);
        const bool fixed = strcmp(c->name, "id") == 0 || strcmp(c->name, "material") == 0;
        for (int64_t i = 0; i < count * c->components; i++) {
            const double value = (double)((i * 7 + (fixed ? 0 : frame) * 3 + (int64_t)k) % 50);
            firn_type_set(c->type, c->data, i, c->type <= FIRN_TYPE_f64 ? 0.25 * value : value);
        }
    }
    firn_column *text = add(&p, "kind", FIRN_TYPE_i32, 1);
    static const char *const words[] = {"snow", "", "ice cream"};
    firn_error error = {0};
    for (int i = 0; i < 3; i++) take(firn_column_add_word(text, words[i], &error), &error);
    for (int64_t i = 0; i < count; i++) ((int32_t *)text->data)[i] = (int32_t)(i % 3);
    return p;
}

static const char *word_of(const firn_column *c, int64_t index)
{
    int32_t number = ((const int32_t *)c->data)[index];
    const char *p = c->words;
    if (number < 0 || number >= c->word_count) return "";
    while (number-- > 0) p += strlen(p) + 1;
    return p;
}

static void assert_same_points(const firn_points *p, const firn_points *q)
{
    assert_int_equal(p->count, q->count);
    assert_int_equal(p->column_count, q->column_count);
    for (int32_t k = 0; k < p->column_count; k++) {
        const firn_column *c = &p->column[k], *d = firn_points_find(q, c->name);
        if (!d) print_error("there is no column %s\n", c->name);
        assert_non_null(d);
        assert_int_equal(c->type, d->type);
        assert_int_equal(c->components, d->components);
        assert_int_equal(c->words != NULL, d->words != NULL);
        for (int64_t i = 0; i < p->count * c->components; i++) {
            if (c->words) {
                assert_string_equal(word_of(c, i), word_of(d, i));
            } else {
                near(firn_type_get(d->type, d->data, i), firn_type_get(c->type, c->data, i), 0);
            }
        }
    }
}

static firn_alembic_writer *create(const char *path)
{
    firn_alembic_writer *w = NULL;
    firn_alembic_writer_def def = firn_alembic_writer_def_default();
    firn_error error = {0};
    take(firn_alembic_writer_create(path, &def, &w, &error), &error);
    return w;
}

static firn_alembic_writer *resume(const char *path, int64_t last)
{
    firn_alembic_writer *w = NULL;
    firn_alembic_writer_def def = firn_alembic_writer_def_default();
    firn_error error = {0};
    take(firn_alembic_writer_resume(path, &def, last, &w, &error), &error);
    return w;
}

static void finish(firn_alembic_writer *w)
{
    firn_error error = {0};
    take(firn_alembic_writer_finish(w, &error), &error);
    firn_alembic_writer_destroy(w);
}

static int32_t add_points(firn_alembic_writer *w)
{
    int32_t object = -1;
    firn_error error = {0};
    take(firn_alembic_writer_add(w, FIRN_ALEMBIC_POINTS, "snow", &object, &error), &error);
    return object;
}

static void write_points(firn_alembic_writer *w, int32_t object, int64_t frame)
{
    firn_points p = make_points(5 + frame / 4, (int)frame);
    firn_error error = {0};
    take(firn_alembic_writer_points(w, object, &p, &error), &error);
    take(firn_alembic_writer_commit(w, frame, &error), &error);
    firn_points_free(&p);
}

static void points_come_back_as_they_were(void **state)
{
    (void)state;
    const char *path = path_of("a.abc");
    firn_alembic_writer *w = create(path);
    const int32_t object = add_points(w);
    for (int64_t f = 3; f <= 9; f++) write_points(w, object, f);
    assert_false(exists(path));
    finish(w);
    assert_false(exists(path_of("a.abc.part")));
    firn_alembic *a = open_file(path);
    const firn_alembic_file file = firn_alembic_get_file(a);
    assert_int_equal(file.object_count, 2);
    near(file.fps, 24, 0);
    near(file.first_time, 3 / 24.0, 1e-12);
    near(file.last_time, 9 / 24.0, 1e-12);
    assert_int_equal(object_of(a, "/snow").kind, FIRN_ALEMBIC_XFORM);
    assert_int_equal(object_of(a, "/snow/snowShape").sample_count, 7);
    for (int64_t f = 3; f <= 9; f++) {
        firn_points p = make_points(5 + f / 4, (int)f), q = points_of(a, "snowShape", f - 3);
        assert_same_points(&p, &q);
        firn_points_free(&q);
        firn_error error = {0};
        take(firn_alembic_read_points(a, find(a, "snowShape"), (double)f / 24, &q, &error), &error);
        assert_same_points(&p, &q);
        firn_points_free(&p);
        firn_points_free(&q);
    }
    static const struct {
        const char *name, *meaning;
    } meanings[] = {{"F", "matrix"},      {"Cd", "rgb"}, {"orient", "quat"},
                    {"matrix", "matrix"}, {"half", ""},  {"double3", "vector"},
                    {"kind", ""}};
    for (size_t k = 0; k < sizeof meanings / sizeof *meanings; k++) {
        firn_alembic_attribute about = {0};
        int32_t i = 0;
        while (firn_alembic_get_attribute(a, find(a, "snowShape"), i++, &about) &&
               strcmp(about.name, meanings[k].name) != 0) {
            continue;
        }
        assert_string_equal(about.name, meanings[k].name);
        assert_string_equal(about.interpretation, meanings[k].meaning);
        assert_string_equal(about.scope, "var");
    }
    /* Arrays that stay are stored once, as long as there are as many points. */
    const firn_abc_property *schema = firn_abc_schema(a, &a->object[find(a, "snowShape")]);
    const firn_abc_property *ids = firn_abc_part(a, schema, ".pointIds"),
                            *P = firn_abc_part(a, schema, "P");
    uint64_t words[7];
    firn_error error = {0};
    for (int i = 0; i < 7; i++) take(firn_abc_word(a, ids, i, &words[i], &error), &error);
    assert_int_equal(ids->first, 1);
    assert_int_equal(ids->last, 5);
    for (int i = 2; i < 7; i++) assert_int_equal(words[i] == words[i - 1], i != 5);
    assert_int_equal(P->first, 1);
    assert_int_equal(P->last, 6);
    firn_alembic_close(a);
}

static void meshes_come_back_as_they_were(void **state)
{
    (void)state;
    static const int32_t face[] = {4, 3, 3}, corner[] = {0, 1, 2, 3, 0, 4, 1, 1, 4, 2};
    const char *path = path_of("a.abc");
    firn_alembic_writer *w = create(path);
    firn_error error = {0};
    int32_t object;
    take(firn_alembic_writer_add(w, FIRN_ALEMBIC_MESH, "body", &object, &error), &error);
    for (int f = 0; f < 4; f++) {
        firn_points p = {.count = 5};
        const firn_column *P = add(&p, "P", FIRN_TYPE_f64, 3);
        for (int i = 0; i < 15; i++) ((double *)P->data)[i] = 0.5 * i + f;
        const firn_column *v = add(&p, "v", FIRN_TYPE_f32, 3);
        for (int i = 0; i < 15; i++) ((float *)v->data)[i] = 24;
        const firn_column *heat = add(&p, "heat", FIRN_TYPE_f32, 1);
        for (int i = 0; i < 5; i++) ((float *)heat->data)[i] = (float)(f + i);
        take(firn_alembic_writer_mesh(w, object, &p, face, 3, corner, 10, &error), &error);
        assert_int_equal(firn_alembic_writer_mesh(w, object, &p, face, 3, corner, 10, &error),
                         FIRN_INVALID); /* twice */
        take(firn_alembic_writer_commit(w, f, &error), &error);
        firn_points_free(&p);
    }
    finish(w);
    firn_alembic *a = open_file(path);
    const firn_alembic_object o = object_of(a, "/body/bodyShape");
    assert_int_equal(o.kind, FIRN_ALEMBIC_MESH);
    assert_true(o.constant_topology);
    assert_int_equal(o.attribute_count, 1);
    for (int f = 0; f < 7; f++) { /* also half-way between frames */
        firn_polygons m = mesh_at(a, "bodyShape", 0.5 * f / 24);
        assert_int_equal(m.vertex_count, 5);
        assert_int_equal(m.face_count, 3);
        assert_memory_equal(m.face, face, sizeof face);
        assert_memory_equal(m.corner, corner, sizeof corner);
        for (int i = 0; i < 15; i++) near(m.vertex[i], 0.5 * i + 0.5 * f, 1e-6);
        for (int i = 0; i < 15; i++) near(m.velocity[i], 24, 0);
        firn_polygons_free(&m);
    }
    double low[3], high[3];
    take(firn_alembic_bounds(a, find(a, "bodyShape"), 0, low, high, &error), &error);
    near3(low, 0, 0.5, 1, 1e-12);
    near3(high, 6, 6.5, 7, 1e-12);
    firn_alembic_close(a);
}

static void what_comes_late_or_goes_is_empty_elsewhere(void **state)
{
    (void)state;
    const char *path = path_of("a.abc");
    firn_alembic_writer *w = create(path);
    const int32_t object = add_points(w);
    firn_error error = {0};
    for (int f = 0; f < 6; f++) {
        firn_points p = {.count = f == 3 ? 0 : 2};
        add(&p, "P", FIRN_TYPE_f32, 3);
        if (f == 2 || f == 4) add(&p, "late", FIRN_TYPE_f32, 1);
        take(firn_alembic_writer_points(w, object, &p, &error), &error);
        take(firn_alembic_writer_commit(w, 10 + f * f, &error), &error); /* uneven */
        firn_points_free(&p);
    }
    firn_points wrong = {.count = 1};
    add(&wrong, "P", FIRN_TYPE_f32, 3);
    add(&wrong, "late", FIRN_TYPE_i32, 1);
    assert_int_equal(firn_alembic_writer_points(w, object, &wrong, &error), FIRN_INVALID);
    assert_non_null(strstr(error.message, "late was float32_t[1]"));
    firn_points_free(&wrong);
    finish(w); /* without the frame that failed */
    firn_alembic *a = open_file(path);
    assert_int_equal(object_of(a, "snowShape").sample_count, 6);
    for (int f = 0; f < 6; f++) {
        firn_points p;
        take(firn_alembic_read_points(a, find(a, "snowShape"), (10 + f * f) / 24.0, &p, &error),
             &error);
        assert_int_equal(p.count, f == 3 ? 0 : 2);
        if (f != 3) assert_int_equal(firn_points_find(&p, "late") != NULL, f == 2 || f == 4);
        assert_null(firn_points_find(&p, "id")); /* none were given */
        firn_points_free(&p);
    }
    firn_alembic_close(a);
}

static void no_frames_make_no_file(void **state)
{
    (void)state;
    remove(path_of("a.abc"));
    firn_alembic_writer *w = create(path_of("a.abc"));
    assert_true(exists(path_of("a.abc.part")));
    finish(w);
    assert_false(exists(path_of("a.abc")));
    assert_false(exists(path_of("a.abc.part")));
}

enum { FRAMES = 6 };

/* The bytes of frames 1 to FRAMES, uninterrupted. */
static firn_bytes reference(const char *name)
{
    firn_alembic_writer *w = create(path_of(name));
    const int32_t object = add_points(w);
    for (int64_t f = 1; f <= FRAMES; f++) write_points(w, object, f);
    finish(w);
    return load(path_of(name));
}

static void go_on_to_the_end(firn_alembic_writer *w, const firn_bytes *expected)
{
    int64_t last;
    if (firn_alembic_writer_frames(w, &last) == 0) last = 0;
    const int32_t object = add_points(w);
    for (int64_t f = last + 1; f <= FRAMES; f++) write_points(w, object, f);
    finish(w);
    firn_bytes got = load(path_of("a.abc"));
    assert_int_equal(got.size, expected->size);
    assert_memory_equal(got.data, expected->data, got.size);
    firn_bytes_free(&got);
}

static void resumed_files_are_the_same_bytes(void **state)
{
    (void)state;
    firn_bytes whole = reference("b.abc");
    for (int64_t keep = 0; keep <= FRAMES; keep++) {
        /* A finished file, and one that was closed behind frame 4. */
        remove(path_of("a.abc"));
        firn_error error = {0};
        take(firn_bytes_write(path_of("a.abc"), whole.data, whole.size, &error), &error);
        go_on_to_the_end(resume(path_of("a.abc"), keep), &whole);
        remove(path_of("a.abc"));
        firn_alembic_writer *w = create(path_of("a.abc"));
        const int32_t object = add_points(w);
        for (int64_t f = 1; f <= 4; f++) write_points(w, object, f);
        firn_alembic_writer_destroy(w);
        w = resume(path_of("a.abc"), keep);
        int64_t last;
        assert_int_equal(firn_alembic_writer_frames(w, &last), keep < 4 ? keep : 4);
        go_on_to_the_end(w, &whole);
    }
    firn_bytes_free(&whole);
}

static void a_file_killed_anywhere_is_recovered(void **state)
{
    (void)state;
    firn_bytes whole = reference("b.abc");
    remove(path_of("a.abc"));
    int64_t before = 0;
    for (size_t size = 0; size <= whole.size; size += size < 3000 ? 7 : 61) {
        FILE *part = fopen(path_of("a.abc.part"), "wb");
        assert_non_null(part);
        assert_int_equal(fwrite(whole.data, 1, size, part), size);
        fclose(part);
        firn_alembic_writer *w = resume(path_of("a.abc"), INT64_MAX);
        int64_t last;
        const int64_t frames = firn_alembic_writer_frames(w, &last);
        assert_true(frames >= before && frames <= FRAMES); /* never fewer of more bytes */
        if (frames > before || size % 5 == 0) {
            before = frames;
            go_on_to_the_end(w, &whole);
            remove(path_of("a.abc"));
        } else {
            firn_alembic_writer_destroy(w);
        }
    }
    assert_int_equal(before, FRAMES);
    /* Finished at once it has the frames that were whole. */
    FILE *part = fopen(path_of("a.abc.part"), "wb");
    assert_non_null(part);
    assert_int_equal(fwrite(whole.data, 1, whole.size / 2, part), whole.size / 2);
    fclose(part);
    finish(resume(path_of("a.abc"), INT64_MAX));
    firn_alembic *a = open_file(path_of("a.abc"));
    assert_in_range(object_of(a, "snowShape").sample_count, 1, FRAMES - 1);
    firn_points p = make_points(5, 1), q = points_of(a, "snowShape", 0);
    assert_same_points(&p, &q);
    firn_points_free(&p);
    firn_points_free(&q);
    firn_alembic_close(a);
    firn_bytes_free(&whole);
}

static void a_resumed_file_keeps_its_frames_per_second(void **state)
{
    (void)state;
    firn_bytes whole = reference("a.abc");
    firn_bytes_free(&whole);
    firn_alembic_writer *w = NULL;
    const firn_alembic_writer_def def = {.fps = 25};
    firn_error error = {0};
    assert_int_equal(firn_alembic_writer_resume(path_of("a.abc"), &def, 3, &w, &error),
                     FIRN_INVALID);
    assert_null(w);
    assert_non_null(strstr(error.message, "has 24 frames per second"));
    assert_true(exists(path_of("a.abc")));
}

static void files_of_one_frame_are_a_format(void **state)
{
    (void)state;
    firn_points p = make_points(9, 1), q;
    firn_write_options options = firn_write_options_default();
    options.frame = 12;
    options.fps = 48;
    firn_error error = {0};
    take(firn_points_write(path_of("a.abc"), &p, &options, &error), &error);
    take(firn_points_read(path_of("a.abc"), &q, &error), &error);
    assert_same_points(&p, &q);
    size_t bytes = 0;
    struct stat about;
    take(firn_points_size(path_of("a.abc"), &p, &options, &bytes, &error), &error);
    assert_int_equal(stat(path_of("a.abc"), &about), 0);
    assert_int_equal(bytes, about.st_size);
    firn_alembic *a = open_file(path_of("a.abc"));
    near(object_of(a, "particlesShape").first_time, 0.25, 1e-12);
    firn_alembic_close(a);
    firn_points_free(&p);
    firn_points_free(&q);
    assert_int_equal(firn_points_read(DATA "cube_xform.abc", &q, &error), FIRN_INVALID);
    assert_non_null(strstr(error.message, "has no points"));
}

static int64_t memory_frames = 200, memory_points = 10000;

/* Bytes of memory that the process uses; 0: the system does not say. */
static double used_memory(void)
{
    FILE *f = fopen("/proc/self/statm", "r");
    long size = 0, resident = 0;
    if (f && fscanf(f, "%ld %ld", &size, &resident) != 2) resident = 0;
    if (f) fclose(f);
    return (double)resident * (double)sysconf(_SC_PAGESIZE);
}

/* test_alembic FRAMES POINTS measures more. */
static void memory_does_not_grow_with_frames(void **state)
{
    (void)state;
    firn_points p = {.count = memory_points};
    float *P = add(&p, "P", FIRN_TYPE_f32, 3)->data, *v = add(&p, "v", FIRN_TYPE_f32, 3)->data;
    int64_t *id = add(&p, "id", FIRN_TYPE_i64, 1)->data;
    for (int64_t i = 0; i < p.count; i++) id[i] = i;
    firn_alembic_writer *w = create(path_of("a.abc"));
    const int32_t object = add_points(w);
    firn_error error = {0};
    double before = 0;
    for (int64_t f = 0; f < memory_frames; f++) {
        for (int64_t i = 0; i < 3 * p.count; i++) P[i] = (float)(i + f), v[i] = (float)(i - f);
        take(firn_alembic_writer_points(w, object, &p, &error), &error);
        take(firn_alembic_writer_commit(w, f, &error), &error);
        if (f == memory_frames / 10) before = used_memory();
    }
    const double after = used_memory();
    finish(w);
    const double written = 24.0 * (double)(memory_frames * memory_points);
    print_message("%.1f MB more for %.1f MB written\n", 1e-6 * (after - before), 1e-6 * written);
    assert_true(after - before < 0.1 * written);
    firn_alembic *a = open_file(path_of("a.abc"));
    assert_int_equal(object_of(a, "snowShape").sample_count, memory_frames);
    firn_alembic_close(a);
    firn_points_free(&p);
}

int main(int argc, char **argv)
{
    if (argc > 2) {
        memory_frames = strtoll(argv[1], NULL, 10);
        memory_points = strtoll(argv[2], NULL, 10);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_cube_stands_where_the_library_says),
        cmocka_unit_test(faces_are_counter_clockwise_from_outside),
        cmocka_unit_test(between_frames_angles_and_vertices_are_interpolated),
        cmocka_unit_test(objects_say_what_they_are),
        cmocka_unit_test(patterns_find_objects),
        cmocka_unit_test(blender_and_firn_agree_on_the_tetrahedron),
        cmocka_unit_test(matrices_between_frames_stay_rotations),
        cmocka_unit_test(points_come_with_all_attributes),
        cmocka_unit_test(changing_faces_hold_until_the_next_sample),
        cmocka_unit_test(edge_cases_are_read),
        cmocka_unit_test(keys_are_murmurs),
        cmocka_unit_test(damaged_files_do_no_more_than_fail),
        cmocka_unit_test(hostile_files_are_refused_with_a_reason),
        cmocka_unit_test(instances_are_what_they_stand_for),
        cmocka_unit_test(points_come_back_as_they_were),
        cmocka_unit_test(meshes_come_back_as_they_were),
        cmocka_unit_test(what_comes_late_or_goes_is_empty_elsewhere),
        cmocka_unit_test(no_frames_make_no_file),
        cmocka_unit_test(resumed_files_are_the_same_bytes),
        cmocka_unit_test(a_file_killed_anywhere_is_recovered),
        cmocka_unit_test(a_resumed_file_keeps_its_frames_per_second),
        cmocka_unit_test(files_of_one_frame_are_a_format),
        cmocka_unit_test(memory_does_not_grow_with_frames),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
