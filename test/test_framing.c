/* Automatic cameras against the scenes of the collection, simulated coarsely: no particle of any frame is
 * cut off, whatever the shape of the picture, and the action is as large as it can be. */
#include <stdio.h>

#include "render/renderer.h"
#include "run/job.h"
#include "worlds.h"

enum { FRAMES = 8, EVERY = 4 };

typedef struct play {
    firn_scene scene;
    firn_points points[FRAMES];
} play;

static void simulate(const char *name, const char *const *sets, play *out)
{
    char path[512];
    firn_tree tree = {0};
    firn_job job = {0};
    const firn_job_options options = {.threads = 2};
    *out = (play){0};
    snprintf(path, sizeof path, FIRN_EXAMPLES "/%s.yaml", name);
    assert_ok(firn_tree_read(&tree, path, &error));
    for (int i = 0; sets[i]; i++) assert_ok(firn_tree_set(&tree, "test", sets[i], &error));
    assert_ok(firn_scene_read(&out->scene, &tree, &error));
    firn_tree_free(&tree);
    assert_ok(firn_job_init(&job, &out->scene, &options, &error));
    assert_ok(firn_job_fill(&job, &error));
    for (int f = 0; f < FRAMES; f++) {
        firn_report report;
        const double time = EVERY * f / out->scene.frames.fps;
        if (f > 0) assert_ok(firn_job_advance(&job, time, &report, &error));
        assert_ok(firn_job_points(&job, NULL, INT64_MAX, &out->points[f], &error));
    }
    firn_job_deinit(&job);
}

/* The part of the picture that the discs of all particles take, and how far they stay from its edges. */
typedef struct cover {
    double low[2], high[2]; /* 0 to 1 is the picture */
} cover;

static void cover_disc(cover *c, const firn_render_options *o, const double pixel[2], double radius)
{
    const double size[2] = {o->width, o->height};
    for (int a = 0; a < 2; a++) {
        c->low[a] = fmin(c->low[a], (pixel[a] - radius) / size[a]);
        c->high[a] = fmax(c->high[a], (pixel[a] + radius) / size[a]);
    }
}

static cover cover_of(const firn_renderer *renderer, const play *p, const double *turn)
{
    const firn_render_options *o = &renderer->options.render;
    const firn_renderer_frame frame = {.scene = &p->scene, .turn = turn};
    const double exposed = p->scene.camera.shutter / p->scene.frames.fps;
    cover c = {{1, 1}, {0, 0}};
    firn_flat_plane plane;
    const firn_flat_window window = firn_renderer_window(renderer, &frame, &plane);
    const firn_camera camera = firn_renderer_camera(renderer, &frame);
    for (int f = 0; f < FRAMES; f++) {
        const firn_column *P = firn_points_find(&p->points[f], "P");
        const firn_column *v = firn_points_find(&p->points[f], "v");
        const firn_column *pscale = firn_points_find(&p->points[f], "pscale");
        for (int64_t i = 0; i < p->points[f].count; i++) {
            for (int end = -1; end <= 1; end++) { /* of the way while the shutter is open */
                double at[3] = {0}, pixel[2], depth;
                for (int a = 0; a < P->components; a++) {
                    at[a] = firn_type_get(P->type, P->data, i * P->components + a) +
                            0.5 * end * exposed *
                                firn_type_get(v->type, v->data, i * v->components + a);
                }
                double radius = firn_type_get(pscale->type, pscale->data, i);
                if (renderer->flat) {
                    pixel[0] = 0.5 * o->width + window.scale * (at[0] - window.across);
                    pixel[1] = 0.5 * o->height - window.scale * (at[1] - window.upward);
                    radius *= window.scale;
                } else {
                    firn_camera_project(&camera, o->width, o->height, at, pixel, &depth);
                    assert_true(depth > radius);
                    radius *= 0.5 * o->height / (tan(0.5 * camera.field_of_view) * depth);
                }
                cover_disc(&c, o, pixel, radius);
            }
        }
    }
    return c;
}

static void no_frame_is_cut(void **state)
{
    (void)state;
    static const struct {
        const char *name, *sets[4]; /* the last is NULL */
        double least;               /* of the picture's width or height is filled */
    } scenes[] = {
        {"tumble", {"resolution=0.05"}, 0.5},
        {"ball", {"resolution=0.06"}, 0.55},
        {"spheres", {"resolution=0.06"}, 0.55},
        {"forces", {"resolution=0.06"}, 0.55},
        {"emitter", {"resolution=0.06"}, 0.4},
        {"colliders", {"resolution=0.08", "up=z", "simulation.gravity=[0, 0, -9.81]"}, 0.3},
        {"ball", {"resolution=0.06", "camera={shutter: 1}"}, 0.55},
        {"flat_random_coarse", {"resolution=0.04"}, 0.55},
    };
    static const int32_t sizes[][2] = {{1280, 720}, {720, 1280}, {500, 500}, {1600, 300}};
    for (size_t s = 0; s < sizeof scenes / sizeof *scenes; s++) {
        play p;
        simulate(scenes[s].name, scenes[s].sets, &p);
        for (size_t z = 0; z < sizeof sizes / sizeof *sizes; z++) {
            firn_renderer renderer;
            firn_renderer_options options = firn_renderer_options_default();
            options.render.width = sizes[z][0];
            options.render.height = sizes[z][1];
            assert_ok(firn_renderer_init(&renderer, &options, &error));
            for (int f = 0; f < FRAMES; f++) {
                assert_ok(firn_renderer_survey(
                    &renderer, &(firn_renderer_frame){.scene = &p.scene, .points = &p.points[f]},
                    &error));
            }
            assert_ok(firn_renderer_settle(&renderer, &p.scene, &error));
            for (int turn = -1; turn < (renderer.flat ? 0 : 360); turn += 73) {
                const double angle = turn;
                const cover c = cover_of(&renderer, &p, turn < 0 ? NULL : &angle);
                const double filled = fmax(c.high[0] - c.low[0], c.high[1] - c.low[1]);
                if (!(c.low[0] > 0 && c.low[1] > 0 && c.high[0] < 1 && c.high[1] < 1)) {
                    complain("%s at %dx%d, %d degrees: %.3f to %.3f across, %.3f to %.3f down\n",
                             scenes[s].name, sizes[z][0], sizes[z][1], turn, c.low[0], c.high[0],
                             c.low[1], c.high[1]);
                }
                if (turn < 0 && filled < scenes[s].least) {
                    complain("%s at %dx%d fills %.2f\n", scenes[s].name, sizes[z][0], sizes[z][1],
                             filled);
                }
            }
            firn_renderer_deinit(&renderer);
        }
        for (int f = 0; f < FRAMES; f++) firn_points_free(&p.points[f]);
        firn_scene_free(&p.scene);
    }
    assert_no_complaints();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_frame_is_cut)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
