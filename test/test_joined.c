/* Bodies of several shapes in scenes: how large they are, what they hold, and how groups and copies change them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <firn/render.h>

#include "collider/collider.h"
#include "run/job.h"
#include "scene/scene.h"

static const double PI = 3.14159265358979323846;
static firn_error error;

static void read_scene(const char *text, firn_scene *scene)
{
    const firn_bytes bytes = {(uint8_t *)text, strlen(text)};
    firn_tree tree = {0};
    *scene = (firn_scene){0};
    firn_status st = firn_tree_parse(&tree, "text", &bytes, &error);
    if (st == FIRN_OK) st = firn_scene_read(scene, &tree, &error);
    if (st != FIRN_OK) fail_msg("%s: %s", text, error.message);
}

static void fill(const char *text, firn_scene *scene, firn_job *job)
{
    const firn_job_options options = {.threads = 1};
    read_scene(text, scene);
    *job = (firn_job){0};
    firn_status st = firn_job_init(job, scene, &options, &error);
    if (st == FIRN_OK) st = firn_job_fill(job, &error);
    if (st != FIRN_OK) fail_msg("%s: %s", text, error.message);
}

static void close_job(firn_scene *scene, firn_job *job)
{
    firn_job_deinit(job);
    firn_scene_free(scene);
}

static double mass_of(firn_job *job)
{
    firn_totals t;
    if (firn_sim_measure(job->sim, &t, &error) != FIRN_OK) fail_msg("%s", error.message);
    return t.mass;
}

/* ---- filled ---- */

/* Volumes by hand. */
static void joined_shapes_have_the_mass_of_their_formulas(void **state)
{
    (void)state;
    const double ball = 4 * PI / 3;
    const struct {
        int dim;
        const char *shape;
        double volume;
    } cases[] = {
        {3, "{cylinder: {radius: 0.4, height: 0.8}, shell: 0.1}", PI * (0.16 * 0.8 - 0.09 * 0.6)},
        {3,
         "{difference: [{cylinder: {radius: 0.5, height: 1}}, {cylinder: {center: [0, 0.1, 0], "
         "radius: 0.4, height: 1}}]}",
         PI * (0.25 - 0.16 * 0.9)},
        {3, "{sphere: {radius: 0.4}, offset: 10 cm}", ball * 0.125},
        {3, "{sphere: {radius: 0.5}, offset: -10 cm, translate: [3, 0, 0]}", ball * 0.064},
        {3, "{box: {size: [0.8, 0.6, 1]}, offset: 0.1}", /* Steiner */
         0.48 + 0.1 * 2 * (0.48 + 0.6 + 0.8) + PI * 0.01 * 2.4 + ball * 0.001},
        {3, "{box: {size: [1, 0.8, 1.2]}, round: 0.1, rotate: [30, 0, 50]}",
         0.48 + 0.1 * 2 * (0.48 + 0.6 + 0.8) + PI * 0.01 * 2.4 + ball * 0.001},
        {3, "{rounded_box: {size: [1, 0.8, 1.2], radius: 0.1}}",
         0.48 + 0.1 * 2 * (0.48 + 0.6 + 0.8) + PI * 0.01 * 2.4 + ball * 0.001},
        {3, "{tube: {radius: 0.5, inner: 0.3, height: 0.9}}", PI * 0.16 * 0.9},
        {3, "{frustum: {radius: 0.5, top: 0.3, height: 0.9}}", PI / 3 * 0.9 * 0.49},
        {3, "{intersection: [{sphere: {radius: 0.5}}, {plane: {}}]}", 0.5 * ball * 0.125},
        {3, "{union: [{sphere: {radius: 0.3}}, {sphere: {radius: 0.3, center: [2, 0, 0]}}]}",
         2 * ball * 0.027},
        {3,
         "{difference: [{union: [{box: {}}, {box: {}, translate: [0.5, 0.5, 0]}]}, {plane: {}}]}",
         0.5 + 0.5 + 0.25},
        {3, "{heightfield: {height: 0.2 * $x + 0.1 * $z, size: [2, 1, 1], base: 0.5, cells: 20}}",
         1},
        {3, "{heightfield: {height: \"0.2 * cos(pi * $x)\", size: [1, 1, 2], base: 0.5}}",
         2 * (0.5 + 0.4 / PI)},
        {2, "{heightfield: {height: \"0.2 * cos(pi * $x)\", size: [1, 1], base: 0.5}}",
         0.5 + 0.4 / PI},
        {2, "{rounded_rectangle: {size: [3, 2], radius: 0.5}}", 6 - 0.25 * (4 - PI)},
        {2, "{rectangle: {size: [3, 2]}, round: 0.5, rotate: [0, 0, 33]}", 6 - 0.25 * (4 - PI)},
        {2, "{disc: {radius: 0.5}, shell: 0.1}", PI * 0.09},
        {2, "{difference: [{disc: {radius: 0.5}}, {plane: {normal: [0, -1]}}]}", PI / 8},
        {2, "{ring: {radius: 0.5, inner: 0.2}, offset: 0.1}", PI * (0.36 - 0.01)},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[600];
        firn_scene scene;
        firn_job job;
        snprintf(text, sizeof text,
                 "{firn: 1, dimension: %d, resolution: 0.05, materials: {m: {density: 500}}, "
                 "objects: [{shape: %s}]}",
                 cases[i].dim, cases[i].shape);
        fill(text, &scene, &job);
        const double volume = mass_of(&job) / 500;
        if (fabs(volume / cases[i].volume - 1) > 1.2e-3)
            fail_msg("%s: %.6g, not %.6g", cases[i].shape, volume, cases[i].volume);
        close_job(&scene, &job);
    }
}

/* A cube of 1 m from a file, without its lower quarter. */
static void meshes_are_parts(void **state)
{
    (void)state;
    firn_scene scene;
    firn_job job;
    fill(
        "{firn: 1, resolution: 0.1, materials: {m: {density: 500}}, objects: [{shape: {difference: "
        "[{mesh: {file: " FIRN_SCENES "/cube.obj}}, {plane: {point: [0, 0.25, 0]}}]}}]}",
        &scene, &job);
    assert_true(fabs(mass_of(&job) / 500 - 0.75) < 1e-3);
    close_job(&scene, &job);
}

/* ---- heightfields ---- */

static firn_collider_def collider_of(const firn_scene *scene, int32_t index)
{
    return firn_job_collider(&scene->collider[index]);
}

/* The distance to a slope is that to its plane; expressions may use variables. */
static void a_heightfield_is_where_its_expression_says(void **state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        char text[500];
        firn_scene s;
        snprintf(text, sizeof text,
                 "{firn: 1, dimension: %d, resolution: 0.1, variables: {rise: 0.5, up: 0.2}, "
                 "materials: {m: {}}, objects: [{shape: {%s: {}}}], colliders: [{shape: "
                 "{heightfield: {height: $rise * $x + $up, center: [1, 0%s], size: [2, 1%s], base: "
                 "2}}}]}",
                 dim, dim == 2 ? "disc" : "box", dim == 2 ? "" : ", 0", dim == 2 ? "" : ", 2");
        read_scene(text, &s);
        const firn_collider_def def = collider_of(&s, 0);
        firn_posed_collider c;
        firn_collider_pose(&def, dim, 0, &c);
        for (int i = 0; i < 50; i++) {
            const double p[3] = {0.5 + i * 0.02, 0.02 * (i % 9), 0.1}; /* x runs from 0 to 2 */
            double n[3];
            const double want = (p[1] - 0.2 - 0.5 * (p[0] - 1)) / sqrt(1.25);
            const double got = firn_collider_distance(&c, dim, p, n);
            if (fabs(got - want) > 1e-12) fail_msg("%dD: %.12g, not %.12g", dim, got, want);
            assert_true(fabs(n[0] + 0.5 / sqrt(1.25)) < 1e-9);
        }
        firn_scene_free(&s);
    }
}

static void count_warning(void *user_data, firn_log_level level, const char *subject,
                          const char *text)
{
    int *warnings = user_data;
    (void)subject;
    *warnings += level == FIRN_LOG_WARNING && strstr(text, "thinnest") != NULL;
}

/* Without a base it is four cells thick, or a tenth of the longer side; one that is thin is warned of. */
static void a_heightfield_is_thick_enough(void **state)
{
    (void)state;
    const struct {
        int dim;
        const char *size, *base, *group;
        double thinnest;
    } cases[] = {
        {3, "[2.4, 1, 1.6]", "", "1", 0.24},
        {3, "[1, 1, 1.2]", "", "1", 0.2},
        {2, "[5, 1]", "", "1", 0.5},
        {3, "[2.4, 1, 1.6]", ", base: 0.1", "1", 0.02},
        {2, "[2.4, 1]", ", base: 0.17", "1", 0.09},
        {3, "[2.4, 1, 1.6]", ", base: 0.2", "1", 0.12},
        {3, "[2.4, 1, 1.6]", "", "0.25", 0.06},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[700];
        int warnings = 0;
        firn_scene s;
        firn_job job = {0};
        snprintf(text, sizeof text,
                 "{firn: 1, dimension: %d, resolution: 0.025, materials: {m: {}}, objects: "
                 "[{shape: {%s: {}}}], groups: [{name: g, scale: %s}], colliders: [{group: g, "
                 "shape: {heightfield: {height: -0.08 * cos(5 * $x), size: %s%s}}}]}",
                 cases[i].dim, cases[i].dim == 2 ? "disc" : "box", cases[i].group, cases[i].size,
                 cases[i].base);
        read_scene(text, &s);
        const firn_collider_def def = collider_of(&s, 0);
        const double scale = atof(cases[i].group), x[3] = {0, -0.081 * scale, 0};
        firn_posed_collider c;
        double low[3], high[3], n[3];
        firn_collider_pose(&def, cases[i].dim, 0, &c);
        assert_true(firn_collider_distance(&c, cases[i].dim, x, n) < 0);
        assert_true(firn_shape_bounds(&def, cases[i].dim, low, high));
        const double thick = -0.08 * scale - low[1];
        if (fabs(thick - cases[i].thinnest) > 2e-4) fail_msg("%zu: %g m thick", i, thick);
        const firn_job_options options = {.threads = 1, .log = {count_warning, &warnings}};
        if (firn_job_init(&job, &s, &options, &error) != FIRN_OK) fail_msg("%s", error.message);
        assert_int_equal(warnings, cases[i].thinnest < 0.1);
        close_job(&s, &job);
    }
}

/* White is as high as the size says, black is 0; the picture's upper edge is at -z, its left at -x. */
static void a_heightfield_follows_its_picture(void **state)
{
    (void)state;
    enum { WIDE = 8, HIGH = 4 };
    char path[] = "/tmp/firn_heights_XXXXXX", text[500];
    const int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    float rgba[4 * WIDE * HIGH];
    for (int i = 0; i < WIDE * HIGH; i++) {
        const bool white = i % WIDE >= WIDE / 2 && i / WIDE < HIGH / 2; /* upper right */
        for (int c = 0; c < 4; c++) rgba[4 * i + c] = c == 3 || white ? 1 : 0;
    }
    const firn_image image = {.width = WIDE, .height = HIGH, .rgba = rgba};
    for (int bits = 8; bits <= 16; bits += 8) {
        firn_scene s;
        assert_int_equal(firn_image_write_png(path, &image, bits, &error), FIRN_OK);
        snprintf(text, sizeof text,
                 "{firn: 1, resolution: 0.1, materials: {m: {}}, objects: [{shape: {box: {}}}], "
                 "colliders: [{shape: {heightfield: {file: %s, size: [8, 3, 4], base: 1}}}]}",
                 path);
        read_scene(text, &s);
        const firn_collider_def def = collider_of(&s, 0);
        const struct {
            double x, z, height;
        } places[] = {{3, -1.5, 3}, {-3, -1.5, 0}, {3, 1.5, 0}, {-3, 1.5, 0}};
        for (int i = 0; i < 4; i++) {
            for (int side = -1; side <= 1; side += 2) {
                const double p[3] = {places[i].x, places[i].height + 0.1 * side, places[i].z};
                double n[3];
                const double d = firn_shape_distance(&def, 3, p, n);
                if (fabs(d - 0.1 * side) > 0.011) fail_msg("%d: %g, not %g", i, d, 0.1 * side);
            }
        }
        firn_scene_free(&s);
    }
    unlink(path);
}

/* ---- groups and copies ---- */

/* Lengths of a mesh and of its level set, too. */
static void groups_scale_sheets_and_voxels(void **state)
{
    (void)state;
    firn_scene s;
    read_scene("{firn: 1, resolution: 0.1, materials: {m: {}}, groups: [{name: g, scale: 0.1}], "
               "objects: [{shape: {box: {}}}], colliders: [{group: g, voxel: 0.4, shape: {mesh: "
               "{file: " FIRN_SCENES "/cube.obj, thickness: 0.5}}}]}",
               &s);
    assert_true(fabs(s.collider[0].def.voxel - 0.04) < 1e-12);
    assert_true(fabs(s.collider[0].shape.mesh.thickness - 0.05) < 1e-12);
    firn_scene_free(&s);
}

/* In a group of another scale a collider is as if it were written that large, whatever it is made of. */
static void groups_scale_joined_colliders(void **state)
{
    (void)state;
    static const char *const shapes[] = {
        "difference: [{cylinder: {radius: 0.4, height: 0.8}}, {box: {center: [0.3, 0.2, 0]}}]",
        "rounded_box: {radius: 0.2}",
        "box: {}, round: 0.1, shell: 0.2, translate: [0.1, 0, 0]",
        "union: [{mesh: {file: " FIRN_SCENES "/cube.obj}}, {sphere: {center: [0, 1, 0]}}]",
        "heightfield: {height: 0.1 * $x, cells: 4}",
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        char text[900];
        firn_scene s;
        snprintf(text, sizeof text,
                 "{firn: 1, resolution: 0.1, materials: {m: {}}, groups: [{name: g, scale: 3}], "
                 "objects: [{shape: {box: {}}}], colliders: [{shape: {%s}}, {group: g, shape: "
                 "{%s}}]}",
                 shapes[i], shapes[i]);
        read_scene(text, &s);
        const firn_collider_def small = collider_of(&s, 0), large = collider_of(&s, 1);
        firn_posed_collider c[2];
        firn_collider_pose(&small, 3, 0, &c[0]);
        firn_collider_pose(&large, 3, 0, &c[1]);
        for (int k = 0; k < 343; k++) {
            const double p[3] = {k % 7 * 0.3 - 0.91, k / 7 % 7 * 0.3 - 0.87, k / 49 * 0.3 - 0.93};
            const double q[3] = {3 * p[0], 3 * p[1], 3 * p[2]};
            double n[3], m[3];
            const double d = firn_collider_distance(&c[0], 3, p, n);
            const double e = firn_collider_distance(&c[1], 3, q, m);
            if (fabs(e - 3 * d) > 1e-9) fail_msg("%s: %g, not %g", shapes[i], e, 3 * d);
        }
        firn_scene_free(&s);
    }
}

/* A thousand copies share what they are made of. */
static void copies_share_their_compound(void **state)
{
    (void)state;
    firn_scene s;
    read_scene("{firn: 1, resolution: 1, materials: {m: {}}, objects: [{instances: {grid: {count: "
               "[10, 10, 10], spacing: [2, 2, 2]}}, shape: {sphere: {}, shell: 0.1}}]}",
               &s);
    assert_int_equal(s.object_count, 1000);
    for (int i = 1; i < 1000; i++) {
        assert_ptr_equal(s.object[i].shape.def.compound, s.object[0].shape.def.compound);
    }
    firn_scene_free(&s);
}

/* ---- vessels ---- */

/* A cup in a group is tilted with what it holds: all stays inside, whatever it is and however pressure is found. */
static void a_tilted_cup_keeps_all_it_holds(void **state)
{
    (void)state;
    static const char *const kinds[][2] = {
        {"{preset: sand}", ""},
        {"{preset: water, bulk: 2e4}", ""},
        {"{preset: water}", "simulation: {pressure: projection}, "},
        {"{preset: jelly_soft}", ""},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char text[1200];
        firn_scene scene;
        firn_job job;
        snprintf(
            text, sizeof text,
            "{firn: 1, resolution: 0.02, frames: {end: 12}, %smaterials: {m: %s}, groups: "
            "[{name: cup, keys: {0: {}, 0.4: {rotate: [0, 0, 25]}}}], objects: [{group: cup, "
            "shape: {cylinder: {center: [0, 0.2, 0], radius: 0.2, height: 0.2}}}], colliders: "
            "[{group: cup, shape: {difference: [{cylinder: {center: [0, 0.3, 0], radius: 0.25, "
            "height: 0.6}}, {cylinder: {center: [0, 0.35, 0], radius: 0.2, height: 0.6}}]}}]}",
            kinds[i][1], kinds[i][0]);
        fill(text, &scene, &job);
        const int64_t count = firn_sim_count(job.sim);
        assert_true(count > 1000);
        for (int part = 0; part < 10; part++) {
            if (firn_sim_advance(job.sim, 0.04, NULL, &error) != FIRN_OK)
                fail_msg("%s: %s", kinds[i][0], error.message);
        }
        assert_int_equal(firn_sim_count(job.sim), count);
        double *x = malloc(3 * (size_t)count * sizeof *x);
        assert_non_null(x);
        assert_int_equal(firn_sim_read(job.sim, FIRN_POSITION, 0, count, x, &error), FIRN_OK);
        const double c = cos(25 * PI / 180), s = sin(25 * PI / 180);
        for (int64_t k = 0; k < count; k++) {
            const double *p = x + 3 * k;
            const double y = -s * p[0] + c * p[1], r = hypot(c * p[0] + s * p[1], p[2]);
            if (r > 0.2 + 1e-5 || y < 0.05 - 1e-5 || y > 0.65)
                fail_msg("%s: a particle %g m from the axis, %g m high", kinds[i][0], r, y);
        }
        free(x);
        close_job(&scene, &job);
    }
}

/* What comes into a hollow sink's wall vanishes; what is in its hollow stays. */
static void a_hollow_sink_takes_its_wall_alone(void **state)
{
    (void)state;
    firn_scene scene;
    firn_job job;
    fill("{firn: 1, resolution: 0.05, simulation: {gravity: [0, 0, 0]}, materials: {m: {}}, "
         "objects: "
         "[{shape: {box: {}}}], sinks: [{shape: {sphere: {radius: 0.4}, shell: 0.1}}]}",
         &scene, &job);
    int sunk = 0;
    const int64_t count = firn_sim_count(job.sim);
    double *x = malloc(3 * (size_t)count * sizeof *x);
    assert_non_null(x);
    assert_int_equal(firn_sim_read(job.sim, FIRN_POSITION, 0, count, x, &error), FIRN_OK);
    for (int64_t i = 0; i < count; i++) {
        const double *p = x + 3 * i, r = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
        const bool in = firn_sources_in_sink(&job.sources, 0, p);
        if (fabs(r - 0.4) > 1e-6 && fabs(r - 0.3) > 1e-6) assert_int_equal(in, r > 0.3 && r < 0.4);
        sunk += in;
    }
    assert_true(sunk > 100);
    free(x);
    close_job(&scene, &job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joined_shapes_have_the_mass_of_their_formulas),
        cmocka_unit_test(meshes_are_parts),
        cmocka_unit_test(a_heightfield_is_where_its_expression_says),
        cmocka_unit_test(a_heightfield_is_thick_enough),
        cmocka_unit_test(a_heightfield_follows_its_picture),
        cmocka_unit_test(groups_scale_joined_colliders),
        cmocka_unit_test(groups_scale_sheets_and_voxels),
        cmocka_unit_test(copies_share_their_compound),
        cmocka_unit_test(a_tilted_cup_keeps_all_it_holds),
        cmocka_unit_test(a_hollow_sink_takes_its_wall_alone),
    };
    return cmocka_run_group_tests_name("joined", tests, NULL, NULL);
}
