/* Meshes from files that move: sequences of files and Alembic, as colliders, objects and sinks of scenes. */
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

#include <firn/alembic.h>
#include <firn/geometry.h>
#include <firn/scene.h>

#include "run/job.h"

static char folder[] = "/tmp/test_animation.XXXXXX";
static firn_error error;

#define assert_ok(call)                                                                            \
    do {                                                                                           \
        if ((call) != FIRN_OK) fail_msg("%s: %s", #call, error.message);                           \
    } while (0)
#define assert_near(a, b, tolerance)                                                               \
    do {                                                                                           \
        const double a_ = (a), b_ = (b);                                                           \
        if (!(fabs(a_ - b_) <= (tolerance))) fail_msg("%s is %.9g, not %.9g", #a, a_, b_);         \
    } while (0)

/* ---- files ---- */

static const int32_t box_face[6] = {4, 4, 4, 4, 4, 4};
static const int32_t box_corner[24] = {0, 3, 2, 1, 4, 5, 6, 7, 0, 1, 5, 4,
                                       1, 2, 6, 5, 2, 3, 7, 6, 3, 0, 4, 7};

/* The corners of a box with the centre (x, 0, 0), as high as `high`. */
static void make_box(double x, double high, double vertex[8][3])
{
    static const int way[8][3] = {{-1, -1, -1}, {1, -1, -1}, {1, -1, 1}, {-1, -1, 1},
                                  {-1, 1, -1},  {1, 1, -1},  {1, 1, 1},  {-1, 1, 1}};
    for (int i = 0; i < 8; i++) {
        vertex[i][0] = x + 0.1 * way[i][0];
        vertex[i][1] = 0.5 * high * way[i][1];
        vertex[i][2] = 0.3 * way[i][2];
    }
}

/* Where the box is at a second of its file, and how high: it goes along x and grows. */
static double box_at(double second) { return -0.5 + 0.6 * second; }
static double box_height(double second) { return 0.4 + 0.2 * second; }

static void write_obj(const char *pattern, int number, double second)
{
    char name[64], path[128];
    double v[8][3];
    snprintf(name, sizeof name, pattern, number);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    make_box(box_at(second), box_height(second), v);
    for (int i = 0; i < 8; i++) fprintf(f, "v %.17g %.17g %.17g\n", v[i][0], v[i][1], v[i][2]);
    for (int i = 0; i < 6; i++) {
        fprintf(f, "f %d %d %d %d\n", box_corner[4 * i] + 1, box_corner[4 * i + 1] + 1,
                box_corner[4 * i + 2] + 1, box_corner[4 * i + 3] + 1);
    }
    assert_int_equal(fclose(f), 0);
}

/* The box by 30 frames per second, and a smaller one, "other", that stands still far away. */
static void write_alembic(void)
{
    char path[128];
    snprintf(path, sizeof path, "%s/box.abc", folder);
    firn_alembic_writer_def def = firn_alembic_writer_def_default();
    def.fps = 30;
    firn_alembic_writer *w = NULL;
    int32_t box, other;
    assert_ok(firn_alembic_writer_create(path, &def, &w, &error));
    assert_ok(firn_alembic_writer_add(w, FIRN_ALEMBIC_MESH, "box", &box, &error));
    assert_ok(firn_alembic_writer_add(w, FIRN_ALEMBIC_MESH, "other", &other, &error));
    for (int f = 1; f <= 31; f++) {
        const double second = f / 30.0;
        for (int i = 0; i < 2; i++) {
            double v[8][3];
            firn_points points = {.count = 8};
            firn_column *P = firn_points_add(&points, "P", FIRN_TYPE_f64, 3, &error);
            assert_non_null(P);
            make_box(i ? 9 : box_at(second), i ? 0.1 : box_height(second), v);
            memcpy(P->data, v, sizeof v);
            assert_ok(firn_alembic_writer_mesh(w, i ? other : box, &points, box_face, 6, box_corner,
                                               24, &error));
            firn_points_free(&points);
        }
        assert_ok(firn_alembic_writer_commit(w, f, &error));
    }
    assert_ok(firn_alembic_writer_finish(w, &error));
    firn_alembic_writer_destroy(w);
}

/* By 24 frames per second, the box in some frames and nothing in the others; its velocities say how it goes
 * on after the last of them. */
static void write_flicker(const char *name, int first, int last)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    const firn_alembic_writer_def def = firn_alembic_writer_def_default();
    firn_alembic_writer *w = NULL;
    int32_t box;
    assert_ok(firn_alembic_writer_create(path, &def, &w, &error));
    assert_ok(firn_alembic_writer_add(w, FIRN_ALEMBIC_MESH, "box", &box, &error));
    for (int f = 1; f <= 24; f++) {
        const bool there = f >= first && f <= last;
        double v[8][3];
        firn_points points = {.count = there ? 8 : 0};
        firn_column *P = firn_points_add(&points, "P", FIRN_TYPE_f64, 3, &error);
        assert_non_null(P);
        make_box(box_at(f / 24.0), 0.4, v);
        if (there) memcpy(P->data, v, sizeof v);
        firn_column *velocity = firn_points_add(&points, "v", FIRN_TYPE_f32, 3, &error);
        assert_non_null(velocity);
        for (int i = 0; i < points.count; i++) ((float *)velocity->data)[3 * i] = 0.6f;
        assert_ok(firn_alembic_writer_mesh(w, box, &points, box_face, there ? 6 : 0, box_corner,
                                           there ? 24 : 0, &error));
        firn_points_free(&points);
        assert_ok(firn_alembic_writer_commit(w, f, &error));
    }
    assert_ok(firn_alembic_writer_finish(w, &error));
    firn_alembic_writer_destroy(w);
}

/* The box as a level set with velocities, as firn voxelize makes it. */
static void write_vdb(int number, double second)
{
    char path[128];
    double v[8][3], velocity[8][3] = {{0}};
    snprintf(path, sizeof path, "%s/box.%04d.vdb", folder, number);
    make_box(box_at(second), 0.4, v);
    for (int i = 0; i < 8; i++) velocity[i][0] = 0.6;
    const firn_polygons polygons = {.vertex_count = 8,
                                    .vertex = v[0],
                                    .face_count = 6,
                                    .corner_count = 24,
                                    .face = (int32_t *)box_face,
                                    .corner = (int32_t *)box_corner};
    const firn_mesh_def mesh_def = firn_mesh_def_of_polygons(&polygons);
    firn_mesh *mesh = NULL;
    assert_ok(firn_mesh_create(&mesh_def, &mesh, &error));
    firn_voxelize_def def = firn_voxelize_def_default();
    def.mesh = mesh;
    def.voxel = 0.02;
    def.velocities = velocity[0];
    firn_volumes volumes = {0};
    assert_ok(firn_volumes_voxelize(&def, &volumes, &error));
    const firn_write_options how = firn_write_options_default();
    assert_ok(firn_volumes_write(path, &volumes, &how, &error));
    firn_volumes_free(&volumes);
    firn_mesh_destroy(mesh);
}

static int prepare(void **state)
{
    (void)state;
    if (!mkdtemp(folder)) return 1;
    for (int n = 1; n <= 31; n++) write_obj("box.%04d.obj", n, n / 30.0);
    for (int n = 1; n <= 12; n++) write_vdb(n, n / 30.0);
    for (int n = 2; n <= 20; n += 2) {
        if (n != 8 && n != 14 && n != 16) write_obj("holes.%d.obj", n, n / 24.0);
    }
    write_alembic();
    write_flicker("appears.abc", 13, 24);
    write_flicker("vanishes.abc", 1, 12);
    return 0;
}

static int clean(void **state)
{
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) != 0;
}

/* ---- scenes ---- */

/* A scene of these lines, in the folder, with frames of 1/24 s. */
static firn_scene *scene_of(const char *lines)
{
    char path[128];
    static char text[4096];
    snprintf(path, sizeof path, "%s/scene.yaml", folder);
    snprintf(text, sizeof text,
             "firn: 1\nresolution: 0.04\nsimulation: {gravity: [0, 0, 0]}\n"
             "materials: {m: {preset: jelly}}\n%s\n",
             lines);
    firn_scene_def def = firn_scene_def_default();
    def.path = path;
    def.text = text;
    firn_scene *scene = NULL;
    assert_ok(firn_scene_create(&def, &scene, &error));
    return scene;
}

static firn_job *job_of(const firn_scene *scene, int threads)
{
    firn_job_options options = firn_job_options_default();
    options.threads = threads;
    firn_job *job = NULL;
    assert_ok(firn_job_create(scene, &options, &job, &error));
    return job;
}

/* Mean of a column's component over all particles. */
static double mean(const firn_job *job, const char *name, int component)
{
    const char *names[] = {name, NULL};
    firn_points points = {0};
    assert_ok(firn_job_points(job, names, INT64_MAX, &points, &error));
    const firn_column *c = firn_points_find(&points, name);
    double sum = 0;
    for (int64_t i = 0; i < points.count; i++) {
        sum += firn_type_get(c->type, c->data, i * c->components + component);
    }
    sum /= (double)points.count;
    firn_points_free(&points);
    return sum;
}

#define BLOCK                                                                                      \
    "objects: [{material: m, shape: {box: {center: [0.2, 0, 0], size: [0.3, 0.3, 0.3]}}}]\n"

static void files_and_samples_are_read_at_any_time(void **state)
{
    (void)state;
    static const char *const files[] = {"box.$F4.obj", "box.abc"};
    for (int k = 0; k < 2; k++) {
        char path[128];
        snprintf(path, sizeof path, "%s/%s", folder, files[k]);
        firn_animation_def def = firn_animation_def_default();
        def.file = path;
        def.path = k ? "/box/**" : NULL;
        def.fps = 30;
        def.scale = 2;
        firn_animation *a = NULL;
        assert_ok(firn_animation_open(&def, &a, &error));
        const firn_animation_info info = firn_animation_get_info(a);
        assert_int_equal(info.time_count, 31);
        assert_near(info.times[0], 1 / 30.0, 1e-9);
        assert_near(info.times[30], 31 / 30.0, 1e-9);
        for (double second = 0; second < 1.3; second += 0.0619) {
            firn_polygons p;
            double v[8][3];
            assert_ok(firn_animation_read(a, second, &p, &error));
            const double inside = fmin(fmax(second, 1 / 30.0), 31 / 30.0);
            make_box(box_at(inside), box_height(inside), v);
            assert_int_equal(p.vertex_count, 8);
            for (int i = 0; i < 24; i++)
                assert_near(p.vertex[i], 2 * v[i / 3][i % 3], k ? 1e-6 : 1e-12);
            firn_polygons_free(&p);
        }
        firn_animation_close(a);
    }
}

/* What it holds goes with it, as fast as file and scene say. */
static void a_collider_moves_as_its_file_does(void **state)
{
    (void)state;
    static const struct {
        const char *mesh;
        double start, speed;
    } cases[] = {
        {"file: box.$F4.obj, fps: 30, start: 0.5", 0.5, 1},
        {"file: box.abc, path: /box, start: 0.5", 0.5, 1},
        {"file: box.abc, path: '**/box*', start: 0.2, speed: 2", 0.2, 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double x = box_at(cases[i].start), speed = 0.6 * cases[i].speed;
        char lines[512];
        snprintf(lines, sizeof lines,
                 "objects: [{material: m, shape: {box: {center: [%g, 0, 0], size: [0.1, 0.1, "
                 "0.1]}}}]\ncolliders: [{shape: {mesh: {%s}}, boundary: hold}]",
                 x, cases[i].mesh);
        firn_scene *scene = scene_of(lines);
        firn_job *job = job_of(scene, 1);
        assert_ok(firn_job_fill(job, &error));
        const double before = mean(job, "P", 0);
        assert_ok(firn_job_advance(job, 0.1, NULL, &error));
        assert_near(mean(job, "v", 0), speed, 0.02 * speed);
        assert_near(mean(job, "P", 0) - before, 0.1 * speed, 0.002);
        firn_job_destroy(job);
        firn_scene_destroy(scene);
    }
}

/* Step by step, too, through the file's frames, which are parts of 1/30 s. */
static void single_steps_follow_a_mesh(void **state)
{
    (void)state;
    firn_scene *scene = scene_of(
        "objects: [{material: m, shape: {box: {center: [-0.2, 0, 0], size: [0.1, 0.1, 0.1]}}}]\n"
        "colliders: [{shape: {mesh: {file: box.abc, path: /box, start: 0.5}}, boundary: hold}]");
    firn_job *job = job_of(scene, 1);
    assert_ok(firn_job_fill(job, &error));
    const double before = mean(job, "P", 0), until = 0.1;
    firn_report report;
    int steps = 0;
    while (until - firn_sim_time(job->sim) > 1e-9 && steps < 10000) {
        assert_ok(firn_job_step(job, until, &report, &error));
        assert_int_equal(report.steps, 1);
        steps++;
    }
    assert_true(steps > 6);
    assert_near(firn_sim_time(job->sim), until, 1e-9);
    assert_near(mean(job, "v", 0), 0.6, 0.02);
    assert_near(mean(job, "P", 0) - before, 0.06, 0.002);
    firn_job_destroy(job);
    firn_scene_destroy(scene);
}

/* Level sets have no vertices to follow: their velocities do it. */
static void a_sequence_of_level_sets_moves_by_its_velocities(void **state)
{
    (void)state;
    firn_scene *scene = scene_of(
        "objects: [{material: m, shape: {box: {center: [-0.4, 0, 0], size: [0.1, 0.1, 0.1]}}}]\n"
        "colliders: [{shape: {mesh: {file: box.$F4.vdb, fps: 30, start: 0.16667}}, "
        "boundary: hold}]");
    firn_job *job = job_of(scene, 1);
    assert_ok(firn_job_fill(job, &error));
    const double before = mean(job, "P", 0);
    assert_ok(firn_job_advance(job, 0.1, NULL, &error));
    assert_near(mean(job, "v", 0), 0.6, 0.03);
    assert_near(mean(job, "P", 0) - before, 0.06, 0.004);
    firn_job_destroy(job);
    firn_scene_destroy(scene);
}

/* What flies at 1 m/s is held from frame 13 on, when the mesh is there; what a mesh has carried at
 * 0.6 m/s flies on after frame 12, when it is gone. */
static void a_mesh_collides_while_it_is_visible(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        double x, flies, early, late; /* m, m/s: at first, at frame 7 and at frame 19 */
    } cases[] = {{"appears.abc", -0.675, 1, 1, 0.6}, {"vanishes.abc", -0.475, 0, 0.6, 0.6}};
    for (int i = 0; i < 2; i++) {
        char lines[512];
        snprintf(lines, sizeof lines,
                 "frames: {end: 24}\nobjects: [{material: m, velocity: [%g, 0, 0], shape: {box: "
                 "{center: [%g, 0, 0], size: [0.1, 0.1, 0.1]}}}]\n"
                 "colliders: [{shape: {mesh: {file: %s}}, boundary: hold}]",
                 cases[i].flies, cases[i].x, cases[i].file);
        firn_scene *scene = scene_of(lines);
        firn_job *job = job_of(scene, 1);
        assert_ok(firn_job_fill(job, &error));
        assert_ok(firn_job_advance(job, 6 / 24.0, NULL, &error));
        assert_near(mean(job, "v", 0), cases[i].early, 0.02);
        assert_ok(firn_job_advance(job, 18 / 24.0, NULL, &error));
        assert_near(mean(job, "v", 0), cases[i].late, 0.03);
        firn_job_destroy(job);
        firn_scene_destroy(scene);
    }
}

static firn_hash hash_of(const firn_job *job)
{
    firn_hash hash;
    assert_ok(firn_sim_hash(firn_job_sim(job), &hash, &error));
    return hash;
}

static void a_run_resumes_in_the_middle_of_a_motion(void **state)
{
    (void)state;
    firn_scene *scene = scene_of(
        BLOCK "colliders: [{shape: {mesh: {file: box.abc, path: /box, start: 0.6, loop: true}}}]");
    char path[128];
    snprintf(path, sizeof path, "%s/x.ckpt", folder);
    firn_job *whole = job_of(scene, 1), *rest = job_of(scene, 2);
    assert_ok(firn_job_fill(whole, &error));
    assert_ok(firn_job_advance(whole, 5 / 24.0, NULL, &error)); /* the file's frames are 1/30 s */
    assert_ok(firn_job_save(whole, 6, path, &error));
    assert_ok(firn_job_load(rest, path, NULL, &error));
    assert_ok(firn_job_advance(whole, 14 / 24.0, NULL, &error)); /* through the loop's end */
    assert_ok(firn_job_advance(rest, 14 / 24.0, NULL, &error));
    const firn_hash a = hash_of(whole), b = hash_of(rest);
    assert_memory_equal(&a, &b, sizeof a);
    firn_job_destroy(whole);
    firn_job_destroy(rest);
    firn_scene_destroy(scene);
}

/* Faces that change with every sample, in slow motion; the mesh that a run had is found again. */
static void a_run_resumes_where_faces_change(void **state)
{
    (void)state;
    firn_scene *scene =
        scene_of("objects: [{material: m, shape: {box: {center: [0, 0, 5], size: [1, 1, 0.4]}}}]\n"
                 "colliders: [{shape: {mesh: {file: " FIRN_TEST_DATA
                 "/alembic/changing_topology.abc, thickness: 0.2, start: 0, speed: 0.5}}}]");
    char path[128];
    snprintf(path, sizeof path, "%s/y.ckpt", folder);
    firn_job *whole = job_of(scene, 1), *rest = job_of(scene, 2);
    assert_ok(firn_job_fill(whole, &error));
    assert_ok(firn_job_advance(whole, 0.2, NULL, &error)); /* samples at 0, 0.1 and 0.4 s */
    assert_ok(firn_job_save(whole, 6, path, &error));
    assert_ok(firn_job_load(rest, path, NULL, &error));
    assert_ok(firn_job_advance(whole, 0.45, NULL, &error));
    assert_ok(firn_job_advance(rest, 0.45, NULL, &error));
    const firn_hash a = hash_of(whole), b = hash_of(rest);
    assert_memory_equal(&a, &b, sizeof a);
    firn_job_destroy(whole);
    firn_job_destroy(rest);
    firn_scene_destroy(scene);
}

static void parts_follow_start_speed_and_loop(void **state)
{
    (void)state;
    firn_scene *scene =
        scene_of(BLOCK "colliders:\n"
                       "  - {shape: {mesh: {file: box.abc, path: /box}}}\n"
                       "  - {shape: {mesh: {file: box.abc, path: /box, start: -1}}}\n"
                       "  - {shape: {mesh: {file: box.abc, path: /box, start: 0.1, speed: 3, "
                       "loop: true}}}\n"
                       "  - {shape: {mesh: {file: box.abc, path: /other}}}\n");
    firn_props props;
    assert_ok(firn_props_open(&props, scene, 0, 1, &error));
    const firn_prop *by_frame = &props.collider[0].prop, *late = &props.collider[1].prop,
                    *round = &props.collider[2].prop;
    /* Frame 1 is time 0 and is 1/24 s in the file. */
    assert_near(firn_prop_file_time(by_frame, 0), 1 / 24.0, 1e-12);
    firn_prop_part part = firn_prop_part_at(by_frame, 0);
    assert_near(part.file_begin, 1 / 30.0, 1e-9);
    assert_near(part.file_end, 2 / 30.0, 1e-9);
    assert_near(part.begin, 1 / 30.0 - 1 / 24.0, 1e-9);
    assert_near(part.end, 2 / 30.0 - 1 / 24.0, 1e-9);
    part = firn_prop_part_at(by_frame, 5); /* after the last */
    assert_true(part.end == INFINITY && part.file_begin == part.file_end);
    part = firn_prop_part_at(late, 0); /* before the first */
    assert_true(part.begin == -INFINITY && part.file_begin == part.file_end);
    assert_near(part.end, 1 + 1 / 30.0, 1e-9);
    /* A round is one second of the file, a third of the scene's. */
    const firn_prop_part first = firn_prop_part_at(round, 0.2),
                         again = firn_prop_part_at(round, 0.2 + 5 / 3.0);
    assert_near(again.begin, first.begin + 5 / 3.0, 1e-9);
    assert_near(again.file_begin, first.file_begin, 1e-9);
    assert_near(first.end - first.begin, 1 / 90.0, 1e-9);
    assert_true(firn_prop_moves(round));
    assert_false(firn_prop_moves(&props.collider[3].prop));
    firn_props_close(&props);
    firn_scene_destroy(scene);
}

static void what_is_filled_inherits_the_motion(void **state)
{
    (void)state;
    firn_scene *scene = scene_of("objects: [{material: m, inherit: 1, rotate: [0, 0, 90], "
                                 "velocity: [0, 0, 1], shape: {mesh: "
                                 "{file: box.abc, path: /box, start: 0.5}}}]");
    firn_job *job = job_of(scene, 1);
    assert_ok(firn_job_fill(job, &error));
    assert_near(mean(job, "P", 1), box_at(0.5), 0.01); /* turned: x is up */
    assert_near(mean(job, "v", 1), 0.6, 1e-4);
    assert_near(mean(job, "v", 2), 1, 1e-6);
    firn_job_destroy(job);
    firn_scene_destroy(scene);
}

static void a_sheet_is_filled_by_its_thickness(void **state)
{
    (void)state;
    firn_scene *scene = scene_of("objects: [{material: m, separation: 0.02, density: 1000, shape: "
                                 "{mesh: {file: box.abc, path: /other, thickness: 0.04}}}]");
    firn_job *job = job_of(scene, 1);
    assert_ok(firn_job_fill(job, &error));
    const double area = 2 * (0.2 * 0.1 + 0.2 * 0.6 + 0.1 * 0.6);
    assert_near(mean(job, "mass", 0) * (double)firn_sim_count(firn_job_sim(job)),
                1000 * area * 0.04, 1e-3);
    firn_job_destroy(job);
    firn_scene_destroy(scene);
}

static void emitters_and_sinks_follow_their_files(void **state)
{
    (void)state;
    /* Emitted where the box is by then, 6 mm further on average; a sink at the first position takes what the first filling left. */
    firn_scene *scene = scene_of(
        "objects: [{material: m, velocity: [0, 2, 0], emit: {start: 0.5}, shape: {mesh: {file: "
        "box.abc, path: /box, start: 0.1}}}]\nframes: {end: 30}");
    firn_job *job = job_of(scene, 1);
    assert_ok(firn_job_fill(job, &error));
    assert_int_equal(firn_sim_count(firn_job_sim(job)), 0);
    assert_ok(firn_job_advance(job, 0.52, NULL, &error));
    assert_true(firn_sim_count(firn_job_sim(job)) > 10);
    assert_near(mean(job, "P", 0), box_at(0.6), 0.02);
    firn_job_destroy(job);
    firn_scene_destroy(scene);

    scene =
        scene_of("objects: [{material: m, shape: {sphere: {radius: 0.05, center: [0, 0, 0]}}}]\n"
                 "sinks: [{shape: {mesh: {file: box.abc, path: /box, start: 0.04}}}]");
    job = job_of(scene, 1);
    assert_ok(firn_job_fill(job, &error));
    assert_ok(firn_job_advance(job, 0.2, NULL, &error)); /* the box is at -0.36 +- 0.1 */
    assert_true(firn_sim_count(firn_job_sim(job)) > 0);
    assert_ok(firn_job_advance(job, 0.8, NULL, &error)); /* at 0 */
    assert_int_equal(firn_sim_count(firn_job_sim(job)), 0);
    firn_job_destroy(job);
    firn_scene_destroy(scene);
}

static void mistakes_are_refused_at_their_line(void **state)
{
    (void)state;
    static const struct {
        const char *mesh, *says;
    } cases[] = {
        {"{file: none.abc}", "none.abc"},
        {"{file: none.$F4.obj}", "no such file"},
        {"{file: box.$F4.obj, path: /box}", "only Alembic"},
        {"{file: box.abc, path: /bx}", "/box/boxShape"},
        {"{file: box.txt}", ".obj"},
        {"{file: " FIRN_TEST_DATA "/alembic/edge_cases.abc, path: '**/emptyThenTri'}",
         "nothing of it is ever visible"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char lines[512];
        snprintf(lines, sizeof lines, BLOCK "colliders: [{shape: {mesh: %s}}]", cases[i].mesh);
        firn_scene *scene = scene_of(lines);
        const firn_job_options options = firn_job_options_default();
        firn_job *job = NULL;
        assert_int_not_equal(firn_job_create(scene, &options, &job, &error), FIRN_OK);
        assert_null(job);
        if (!strstr(error.message, cases[i].says) || !strstr(error.message, "scene.yaml:6:")) {
            fail_msg("%s: %s", cases[i].mesh, error.message);
        }
        firn_scene_destroy(scene);
    }
}

/* The voxel of a level set is the collider's, which has a name. */
static void messages_name_the_collider(void **state)
{
    (void)state;
    static const struct {
        const char *collider, *says;
    } cases[] = {
        {"{name: plough, shape: {mesh: {file: box.abc}}, voxel: 1e-6}",
         "scene.yaml:6:60: collider plough: its level set with voxels of 1e-06 m would take"},
        {"{shape: {mesh: {file: box.abc}}, voxel: 1e-6}",
         "scene.yaml:6:46: colliders[0].mesh: its level set"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char lines[512];
        snprintf(lines, sizeof lines, BLOCK "colliders: [%s]", cases[i].collider);
        firn_scene *scene = scene_of(lines);
        const firn_job_options options = firn_job_options_default();
        firn_job *job = NULL;
        assert_int_not_equal(firn_job_create(scene, &options, &job, &error), FIRN_OK);
        if (!strstr(error.message, cases[i].says)) {
            fail_msg("%s: %s", cases[i].says, error.message);
        }
        firn_scene_destroy(scene);
    }
}

static char told[4096];
static void remember(void *user_data, firn_log_level level, const char *subject, const char *text)
{
    (void)user_data;
    const size_t used = strlen(told);
    if (level == FIRN_LOG_DETAIL) return;
    snprintf(told + used, sizeof told - used, "%s: %s\n", subject, text);
}

static void doubtful_files_are_named_at_their_line(void **state)
{
    (void)state;
    static const struct {
        const char *lines, *says; /* NULL: no warning */
    } cases[] = {
        {BLOCK "colliders: [{name: a, shape: {mesh: {file: holes.$F.obj}}}]",
         "scene.yaml:6:38: holes.$F.obj has no file between 6 and 10, 3 missing in all; vertices "
         "go "
         "straight to the next"},
        {BLOCK "colliders: [{name: a, shape: {mesh: {file: box.$F4.obj}}}]", NULL},
        {BLOCK "colliders: [{name: a, shape: {mesh: {file: box.abc}}}]", NULL},
        {BLOCK "colliders: [{shape: {mesh: {file: box.abc, fps: 30}}}]",
         "scene.yaml:6:44: fps has no effect: an Alembic file has the times"},
        {BLOCK "colliders: [{shape: {mesh: {file: box.0001.obj, fps: 30}}}]",
         "fps has no effect: it is for numbered files"},
        {BLOCK "colliders: [{shape: {mesh: {file: box.abc, start: 2}}}]",
         "scene.yaml:6:44: box.abc ends at 1.03333 s and the scene begins at 2 s of it: it stands "
         "still"},
        {BLOCK "colliders: [{shape: {mesh: {file: box.abc, start: -5}}}]",
         "box.abc begins at 0.0333333 s and the scene ends at"},
        {"frames: {end: 200}\n" BLOCK "colliders: [{shape: {mesh: {file: box.abc, start: -1}}}]",
         "box.abc begins at 0.0333333 s, after start -1 s: it stands still until then"},
        {BLOCK "colliders: [{shape: {mesh: {file: box.abc, start: -5, loop: true}}}]", NULL},
        {"objects: [{material: m, inherit: 1, shape: {mesh: {file: box.0001.obj}}}]",
         "scene.yaml:5:25: inherit has no effect: box.0001.obj stands still"},
        {"objects: [{material: m, inherit: 1, shape: {mesh: {file: box.abc, path: /box}}}]", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        firn_scene *scene = scene_of(cases[i].lines);
        firn_job_options options = firn_job_options_default();
        options.log.write = remember;
        firn_job *job = NULL;
        told[0] = 0;
        assert_ok(firn_job_create(scene, &options, &job, &error));
        assert_ok(firn_job_fill(job, &error));
        const bool warned = strstr(told, "warning: ") != NULL;
        if (warned != (cases[i].says != NULL) || (cases[i].says && !strstr(told, cases[i].says))) {
            fail_msg("%s\n%s", cases[i].says ? cases[i].says : cases[i].lines, told);
        }
        if (strstr(cases[i].lines, "name: a") && !strstr(told, "collider: a: 1 level set made")) {
            fail_msg("%s", told);
        }
        firn_job_destroy(job);
        firn_scene_destroy(scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_and_samples_are_read_at_any_time),
        cmocka_unit_test(a_collider_moves_as_its_file_does),
        cmocka_unit_test(single_steps_follow_a_mesh),
        cmocka_unit_test(a_sequence_of_level_sets_moves_by_its_velocities),
        cmocka_unit_test(a_mesh_collides_while_it_is_visible),
        cmocka_unit_test(a_run_resumes_in_the_middle_of_a_motion),
        cmocka_unit_test(a_run_resumes_where_faces_change),
        cmocka_unit_test(parts_follow_start_speed_and_loop),
        cmocka_unit_test(what_is_filled_inherits_the_motion),
        cmocka_unit_test(a_sheet_is_filled_by_its_thickness),
        cmocka_unit_test(emitters_and_sinks_follow_their_files),
        cmocka_unit_test(mistakes_are_refused_at_their_line),
        cmocka_unit_test(messages_name_the_collider),
        cmocka_unit_test(doubtful_files_are_named_at_their_line),
    };
    return cmocka_run_group_tests_name("animation", tests, prepare, clean);
}
