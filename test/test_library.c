/* The libraries as a user has them: public headers alone. Regions own what they are made of, jobs are
 * filled once and advance forwards, saved ones go on with the same bits, mistakes are refused. */
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

#include <firn/geometry.h>
#include <firn/host.h>
#include <firn/render.h>

static firn_error error;

#define assert_ok(call)                                                                            \
    do {                                                                                           \
        if ((call) != FIRN_OK) fail_msg("%s: %s", #call, error.message);                           \
    } while (0)
#define assert_refused(call, word)                                                                 \
    do {                                                                                           \
        assert_int_equal(call, FIRN_INVALID);                                                      \
        if (!strstr(error.message, word)) fail_msg("%s: %s", #call, error.message);                \
    } while (0)

/* ---- regions ---- */

static void a_region_keeps_the_corners_it_was_made_from(void **state)
{
    (void)state;
    double corners[3][2] = {{0, 0}, {2, 0}, {0, 2}};
    firn_collider_def shape = firn_collider_def_default();
    shape.shape = FIRN_POLYGON;
    shape.points = corners[0];
    shape.point_count = 3;
    const firn_placement here = firn_placement_default();
    firn_region *region = NULL;
    assert_ok(firn_region_create_shape(&shape, 2, &here, &region, &error));
    memset(corners, 0, sizeof corners);
    assert_true(fabs(firn_region_get_info(region).volume - 2) < 1e-12);
    assert_true(firn_region_inside(region, (const double[3]){0.5, 0.5, 0}));
    assert_false(firn_region_inside(region, (const double[3]){1.5, 1.5, 0}));
    assert_true(fabs(firn_region_distance(region, (const double[3]){-1, 1, 0}, 5) - 1) < 1e-12);
    firn_region_destroy(region);

    shape = firn_collider_def_default(); /* a plane has no end */
    assert_refused(firn_region_create_shape(&shape, 3, &here, &region, &error), "");
    assert_null(region);
    assert_refused(firn_region_create_shape(&shape, 4, &here, &region, &error), "dimension");
}

static void voxels_fill_to_their_volume(void **state)
{
    (void)state;
    static const char file[] = "#binvox 1\ndim 2 2 2\ntranslate 0 0 0\nscale 2\ndata\n\x01\x08";
    char path[] = "/tmp/firn_library_XXXXXX";
    const int f = mkstemp(path);
    assert_true(f >= 0 && write(f, file, sizeof file - 1) == (ssize_t)(sizeof file - 1));
    close(f);
    const firn_placement here = firn_placement_default();
    firn_region *region = NULL;
    assert_ok(firn_region_create_voxels(path, &here, &region, &error));
    unlink(path);
    assert_true(fabs(firn_region_get_info(region).volume - 8) < 1e-12);
    firn_fill_def def = firn_fill_def_default();
    def.separation = 0.25;
    firn_filling filling;
    assert_ok(firn_fill(region, &def, &filling, &error));
    double sum = 0;
    for (int64_t i = 0; i < filling.count; i++) sum += filling.volume[i];
    assert_true(fabs(sum - 8) < 1e-9);
    firn_filling_free(&filling);
    firn_region_destroy(region);
}

/* ---- jobs ---- */

static firn_scene *make_scene(void)
{
    firn_scene_def def = firn_scene_def_default();
    def.path = "ball";
    def.text =
        "{firn: 1, resolution: 0.1, frames: {end: 5}, materials: {m: {}}, colliders: [{shape: "
        "{plane: {}}}], objects: [{shape: {sphere: {center: [0, 0.6, 0]}}}]}";
    firn_scene *scene = NULL;
    assert_ok(firn_scene_create(&def, &scene, &error));
    return scene;
}

static firn_job *make_job(const firn_scene *scene)
{
    firn_job_options options = firn_job_options_default();
    options.threads = 1;
    firn_job *job = NULL;
    assert_ok(firn_job_create(scene, &options, &job, &error));
    return job;
}

static firn_hash hash_of(const firn_job *job)
{
    firn_hash hash;
    assert_ok(firn_sim_hash(firn_job_sim(job), &hash, &error));
    return hash;
}

static void a_saved_job_goes_on_with_the_same_bits(void **state)
{
    (void)state;
    char path[] = "/tmp/firn_library_XXXXXX";
    close(mkstemp(path));
    firn_scene *scene = make_scene();
    firn_job *one = make_job(scene), *other = make_job(scene);
    int64_t frame = 0;
    assert_ok(firn_job_fill(one, &error));
    assert_ok(firn_job_advance(one, 0.1, NULL, &error));
    assert_ok(firn_job_save(one, 3, path, &error));
    assert_ok(firn_job_load(other, path, &frame, &error));
    assert_int_equal(frame, 3);
    assert_ok(firn_job_advance(one, 0.2, NULL, &error));
    assert_ok(firn_job_advance(other, 0.2, NULL, &error));
    const firn_hash a = hash_of(one), b = hash_of(other);
    assert_memory_equal(&a, &b, sizeof a);
    unlink(path);
    frame = 7;
    assert_refused(firn_job_load(other, path, &frame, &error), path);
    assert_int_equal(frame, 7);
    firn_job_destroy(one);
    firn_job_destroy(other);
    firn_scene_destroy(scene);
}

static void jobs_are_filled_once_and_go_forwards(void **state)
{
    (void)state;
    firn_scene *scene = make_scene();
    firn_job *job = make_job(scene);
    assert_ok(firn_job_fill(job, &error));
    const int64_t count = firn_sim_count(firn_job_sim(job));
    assert_refused(firn_job_fill(job, &error), "filled already");
    assert_int_equal(firn_sim_count(firn_job_sim(job)), count);
    assert_ok(firn_job_advance(job, 0.1, NULL, &error));
    const firn_hash before = hash_of(job);
    assert_refused(firn_job_advance(job, 0.05, NULL, &error), "0.05");
    assert_refused(firn_job_advance(job, NAN, NULL, &error), "nan");
    const firn_hash after = hash_of(job);
    assert_memory_equal(&before, &after, sizeof before);
    firn_job_destroy(job);
    firn_scene_destroy(scene);
}

/* A program may add what the scene does not know. */
static void points_hold_materials_that_the_caller_added(void **state)
{
    (void)state;
    firn_scene *scene = make_scene();
    firn_job *job = make_job(scene);
    assert_ok(firn_job_fill(job, &error));
    const firn_material_def sand = firn_material_def_preset(firn_preset_find("sand"));
    int32_t material = 0;
    assert_ok(firn_sim_add_material(firn_job_sim(job), &sand, &material, &error));
    const double position[3] = {3, 1, 0};
    firn_particles more = firn_particles_default();
    more.count = 1;
    more.position = position;
    more.each_volume = 1e-3;
    more.each_material = (uint16_t)material;
    assert_ok(firn_sim_add(firn_job_sim(job), &more, NULL, &error));
    firn_points points;
    assert_ok(firn_job_points(job, NULL, INT64_MAX, &points, &error));
    const firn_column *of = firn_points_find(&points, "material"),
                      *J = firn_points_find(&points, "J");
    assert_int_equal(firn_type_get(of->type, of->data, points.count - 1), material);
    assert_true(firn_type_get(J->type, J->data, points.count - 1) == 1);
    firn_points_free(&points);
    firn_job_destroy(job);
    firn_scene_destroy(scene);
}

/* ---- mistakes ---- */

static void mistakes_are_refused(void **state)
{
    (void)state;
    firn_scene *scene = make_scene(), *none = NULL;
    firn_job *job = NULL;
    firn_renderer *renderer = NULL;
    firn_points points = {0};
    firn_run_options run = firn_run_options_default(scene);
    assert_refused(firn_scene_create(NULL, &none, &error), "def");
    assert_refused(firn_scene_create(&(firn_scene_def){0}, &none, &error), "default");
    assert_refused(firn_job_create(NULL, NULL, &job, &error), "scene");
    assert_refused(firn_points_read(NULL, &points, &error), "path");
    assert_refused(firn_points_write("a.csv", &points, NULL, &error), "options");
    run.last = 99;
    assert_refused(firn_run(scene, &run, NULL, &error), "last 99");
    assert_refused(firn_run_check(scene, &run, &error), "last 99");
    firn_renderer_options options = firn_renderer_options_default();
    options.render.samples = 9999;
    assert_refused(firn_renderer_create(&options, &renderer, &error), "samples");
    options = firn_renderer_options_default();
    options.slice_axis = 5;
    assert_refused(firn_renderer_create(&options, &renderer, &error), "slice_axis");
    const firn_material_def unknown = firn_material_def_preset(firn_preset_find("sannd"));
    assert_refused(firn_material_check(&unknown, 0, &error), "default");
    firn_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_region_keeps_the_corners_it_was_made_from),
        cmocka_unit_test(voxels_fill_to_their_volume),
        cmocka_unit_test(a_saved_job_goes_on_with_the_same_bits),
        cmocka_unit_test(jobs_are_filled_once_and_go_forwards),
        cmocka_unit_test(points_hold_materials_that_the_caller_added),
        cmocka_unit_test(mistakes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
