/* Values that change in time: tracks by themselves, in the engine, and as scenes write them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <firn/firn.h>

#include "memory_state.h"
#include "render/renderer.h"
#include "run/job.h"

static void assert_near_at(double a, double b, double most, int line)
{
    if (!(fabs(a - b) <= most)) fail_msg("line %d: %.17g is not %.17g", line, a, b);
}
#define assert_near(a, b, most) assert_near_at(a, b, most, __LINE__)

static const double times[] = {0, 1, 3}, numbers[] = {2, 4, 0};

static double at(firn_interpolation how, double time)
{
    const firn_track track = {times, numbers, 3, 1, how};
    double value;
    firn_track_sample(&track, time, &value);
    return value;
}

static void tracks_go_through_their_keys(void **state)
{
    (void)state;
    for (int how = 0; how < FIRN_INTERPOLATION_COUNT; how++) {
        for (int k = 0; k < 3; k++) {
            assert_near(at((firn_interpolation)how, times[k]), numbers[k], 1e-15);
        }
        assert_near(at((firn_interpolation)how, -5), 2, 0);
        assert_near(at((firn_interpolation)how, 50), 0, 0);
    }
    assert_near(at(FIRN_KEYS_LINEAR, 0.25), 2.5, 1e-15);
    assert_near(at(FIRN_KEYS_LINEAR, 2), 2, 1e-15);
    assert_near(at(FIRN_KEYS_STEP, 0.999), 2, 0);
    assert_near(at(FIRN_KEYS_STEP, 2.999), 4, 0);
    assert_near(at(FIRN_KEYS_SMOOTH, 0.5), 3, 1e-15); /* s2 (3 - 2 s) */
    assert_near(at(FIRN_KEYS_SMOOTH, 0.25), 2 + 2 * 0.15625, 1e-15);
}

/* Against a sum over many small parts. */
static void means_of_tracks_are_exact(void **state)
{
    (void)state;
    static const double spans[][2] = {{-1, 5}, {0.3, 0.7}, {0.9, 1.1}, {-2, -1}, {3.5, 4}, {0, 3}};
    for (int how = 0; how < FIRN_INTERPOLATION_COUNT; how++) {
        const firn_track track = {times, numbers, 3, 1, (firn_interpolation)how};
        for (int i = 0; i < 6; i++) {
            const int parts = 1000000;
            double sum = 0, mean;
            for (int p = 0; p < parts; p++) {
                const double s = (p + 0.5) / parts;
                sum += at(track.interpolation, spans[i][0] + s * (spans[i][1] - spans[i][0]));
            }
            firn_track_mean(&track, spans[i][0], spans[i][1], &mean);
            assert_near(mean, sum / parts, 1e-5);
        }
        double first, second, both;
        firn_track_mean(&track, 0.2, 0.8, &first);
        firn_track_mean(&track, 0.8, 2.2, &second);
        firn_track_mean(&track, 0.2, 2.2, &both);
        assert_near(0.6 * first + 1.4 * second, 2 * both, 1e-14);
        firn_track_mean(&track, 1.5, 1.5, &both);
        assert_near(both, at(track.interpolation, 1.5), 0);
    }
}

/* ---- as scenes write them ---- */

static firn_scene *read_scene(const char *lines)
{
    char text[4000];
    snprintf(text, sizeof text,
             "firn: 1\nresolution: 0.1\nframes: {start: 3, end: 27, fps: 24}\n"
             "materials: {jelly: {preset: jelly_soft}}\n"
             "objects: [{name: b, material: jelly, shape: {box: {size: [0.4, 0.4, 0.4]}}}]\n%s",
             lines);
    firn_scene_def def = firn_scene_def_default();
    def.text = text;
    firn_scene *scene = NULL;
    firn_error error = {0};
    if (firn_scene_create(&def, &scene, &error) != FIRN_OK) fail_msg("%s", error.message);
    return scene;
}

static void scenes_have_keys_where_numbers_are(void **state)
{
    (void)state;
    firn_scene *s = read_scene(
        "simulation: {gravity: {keys: {0: [0, 0, 0], 500 ms: [0, -4, 0]}}}\n"
        "colliders:\n"
        "  - {shape: {plane: {}}, friction: {keys: {0.5: 0.1, 1: 20}, interpolation: step},\n"
        "     surface_spin: {keys: {0: [0, 1 turn/s, 0], 1: [0, 30, 0]}}, instances: {ring: "
        "{count: 2, radius: 1}}}\n"
        "heat: {sources: [{shape: {sphere: {}}, power: {keys: {1: 2 kW/m3, 2: 0}}}]}\n");
    const firn_track *g = &s->simulation.def.gravity_keys;
    assert_int_equal(g->count, 2);
    assert_int_equal(g->components, 3);
    assert_near(g->times[1], 0.5, 0);
    assert_near(g->values[4], -4, 0);
    assert_near(s->simulation.def.gravity[1], 0, 0); /* at the start */
    for (int i = 0; i < 2; i++) {
        const firn_collider_def *c = &s->collider[i].def;
        assert_int_equal(c->friction_keys.interpolation, FIRN_KEYS_STEP);
        assert_near(c->friction, 0.1, 0);
        assert_near(c->surface_spin_keys.values[1], 6.283185307179586, 1e-14);
        assert_near(c->surface_spin_keys.values[4], 0.5235987755982988, 1e-14);
        assert_ptr_equal(c->surface_spin_keys.values, s->collider[0].def.surface_spin_keys.values);
    }
    assert_near(s->heat.source[0].power_keys.values[0], 2000, 1e-9);
    assert_int_equal(s->collider[0].def.surface_velocity_keys.count, 0);
    firn_scene_destroy(s);
}

static void expressions_of_time_become_keys(void **state)
{
    (void)state;
    firn_scene *s = read_scene("variables: {sway: \"sin(2 * pi * time)\", calm: 0.1 * 2}\n"
                               "colliders:\n"
                               "  - {shape: {plane: {}}, friction: 0.3 + $calm * $sway,\n"
                               "     temperature: 300 + 5 * time, contact_angle: 2 * 45,\n"
                               "     surface_velocity: [$F, \"time ^ 2\", 1]}\n"
                               "heat: {}\n");
    const firn_collider_def *c = &s->collider[0].def;
    assert_int_equal(c->friction_keys.count, 8 * 24 + 1);
    assert_int_equal(c->contact_angle_keys.count, 0); /* arithmetic alone changes nothing */
    assert_near(c->contact_angle, 90, 0);
    for (int f = 0; f <= 24; f++) { /* exactly at frames */
        const double time = f / 24.0;
        double friction, temperature, v[3];
        firn_track_sample(&c->friction_keys, time, &friction);
        firn_track_sample(&c->temperature_keys, time, &temperature);
        firn_track_sample(&c->surface_velocity_keys, time, v);
        assert_near(friction, 0.3 + 0.2 * sin(6.283185307179586 * time), 1e-12);
        assert_near(temperature, 300 + 5 * time, 1e-12);
        assert_near(v[0], 3 + f, 1e-12); /* the first frame is number 3 and time 0 */
        assert_near(v[1], time * time, 1e-12);
        assert_near(v[2], 1, 0);
    }
    double between;
    firn_track_sample(&c->friction_keys, 0.2345, &between);
    assert_near(between, 0.3 + 0.2 * sin(6.283185307179586 * 0.2345), 3e-5);
    firn_scene_destroy(s);
}

/* ---- what they do ---- */

typedef struct play {
    firn_scene *scene;
    firn_job job;
} play;

/* A scene of its own, without that of read_scene, some seconds on. */
static play play_for(const char *text, double seconds)
{
    play p = {0};
    firn_scene_def def = firn_scene_def_default();
    const firn_job_options options = {.threads = 1};
    firn_error error = {0};
    firn_report report;
    def.text = text;
    if (firn_scene_create(&def, &p.scene, &error) != FIRN_OK ||
        firn_job_init(&p.job, p.scene, &options, &error) != FIRN_OK ||
        firn_job_fill(&p.job, &error) != FIRN_OK ||
        firn_job_advance(&p.job, seconds, &report, &error) != FIRN_OK)
        fail_msg("%s", error.message);
    return p;
}

static firn_totals totals_of(const play *p)
{
    firn_totals t;
    firn_error error = {0};
    if (firn_sim_measure(p->job.sim, &t, &error) != FIRN_OK) fail_msg("%s", error.message);
    return t;
}

static void end_play(play *p)
{
    firn_job_deinit(&p->job);
    firn_scene_destroy(p->scene);
}

#define FREE_BLOCK                                                                                 \
    "firn: 1\nresolution: 0.05\nmaterials: {jelly: {preset: jelly_soft}}\n"                        \
    "objects: [{name: b, material: jelly, shape: {box: {size: [0.3, 0.3, 0.3]}}}]\n"

/* Free flight: the velocity is the integral of gravity, whatever the steps. */
static void gravity_acts_as_its_integral(void **state)
{
    (void)state;
    static const struct {
        const char *simulation;
        double time, velocity[3], most;
    } rows[] = {
        {"gravity: {keys: {0: [0, 0, 0], 0.4: [4, -8, 2]}}", 0.2, {0.2, -0.4, 0.1}, 1e-5},
        {"gravity: {keys: {0: [0, 0, 0], 0.4: [4, -8, 2]}}", 0.5, {1.2, -2.4, 0.6}, 1e-5},
        {"path: plain, gravity: {keys: {0: [0, 0, 0], 0.4: [4, -8, 2]}}",
         0.5,
         {1.2, -2.4, 0.6},
         1e-5},
        {"gravity: {keys: {0.1: [0, 0, 0], 0.3: [0, -10, 0]}, interpolation: smooth}",
         0.5,
         {0, -3, 0},
         1e-5},
        /* Jumps and short pulses, in long steps. */
        {"gravity: {keys: {0: [0, 0, 0], 0.2137: [0, 9, 0], 0.2141: [0, 0, 0]}, interpolation: "
         "step}",
         0.5,
         {0, 9 * 0.0004, 0},
         1e-6},
        /* 192 samples a second, straight between them. */
        {"gravity: [\"cos(2 * pi * time)\", 0, -$F]",
         0.25,
         {1 / 6.283185307179586, 0, -(0.25 + 24 * 0.25 * 0.25 / 2)},
         2e-5},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[2000];
        snprintf(text, sizeof text, FREE_BLOCK "simulation: {%s}\n", rows[i].simulation);
        play p = play_for(text, rows[i].time);
        const firn_totals t = totals_of(&p);
        for (int a = 0; a < 3; a++) {
            assert_near(t.momentum[a] / t.mass, rows[i].velocity[a], rows[i].most);
        }
        end_play(&p);
    }
}

/* A host's gravity counts from then on. */
static void gravity_that_is_set_ends_its_keys(void **state)
{
    (void)state;
    play p =
        play_for(FREE_BLOCK "simulation: {gravity: {keys: {0: [0, 0, 0], 1: [4, 0, 0]}}}\n", 0.25);
    firn_error error = {0};
    assert_int_equal(firn_sim_set_gravity(p.job.sim, (double[]){0, 0, 1}, &error), FIRN_OK);
    assert_int_equal(firn_sim_advance(p.job.sim, 0.25, NULL, &error), FIRN_OK);
    const firn_totals t = totals_of(&p);
    assert_near(t.momentum[0] / t.mass, 0.125, 1e-5);
    assert_near(t.momentum[2] / t.mass, 0.25, 1e-5);
    end_play(&p);
}

static double mean_x(const play *p)
{
    firn_points points = {0};
    firn_error error = {0};
    double sum = 0;
    assert_int_equal(firn_job_points(&p->job, NULL, INT64_MAX, &points, &error), FIRN_OK);
    const firn_column *P = firn_points_find(&points, "P");
    for (int64_t i = 0; i < points.count; i++) sum += firn_type_get(P->type, P->data, 3 * i);
    sum /= (double)points.count;
    firn_points_free(&points);
    return sum;
}

#define BLOCK_ON(collider, velocity)                                                               \
    "firn: 1\nresolution: 0.025\nmaterials: {stiff: {preset: jelly_hard, young: 1e6}}\n"           \
    "objects: [{name: b, material: stiff, velocity: [" velocity                                    \
    ", 0, 0], shape: {box: {center: [0, 0.05, 0], size: [0.4, 0.1, 0.2]}}}]\n"                     \
    "colliders: [{shape: {plane: {}}, " collider "}]\n"

/* Slides freely, then as v^2 / (2 mu g) says. */
static void friction_that_steps_up_stops_what_slides(void **state)
{
    (void)state;
    play p =
        play_for(BLOCK_ON("friction: {keys: {0: 0, 0.2: 0.5}, interpolation: step}", "1"), 0.2);
    assert_near(mean_x(&p), 0.2, 2e-3);
    end_play(&p);
    p = play_for(BLOCK_ON("friction: {keys: {0: 0, 0.2: 0.5}, interpolation: step}", "1"), 0.6);
    const firn_totals t = totals_of(&p);
    assert_near(mean_x(&p), 0.2 + 1 / (2 * 0.5 * 9.81), 5e-3);
    assert_near(t.momentum[0] / t.mass, 0, 5e-3);
    end_play(&p);
}

/* A belt that starts with 2 m/s2 takes along what friction 1 holds; stopped, the block slides to a stop. */
static void belts_start_and_stop(void **state)
{
    (void)state;
    static const char belt[] = BLOCK_ON(
        "friction: 1, surface_velocity: {keys: {0: [0, 0, 0], 0.25: [0.5, 0, 0], 0.5: [0.5, 0, 0], "
        "0.75: [0, 0, 0]}}",
        "0");
    play p = play_for(belt, 0.4);
    firn_totals t = totals_of(&p);
    assert_near(t.momentum[0] / t.mass, 0.5, 0.01);
    assert_near(mean_x(&p), 0.0625 + 0.075, 3e-3);
    end_play(&p);
    p = play_for(belt, 1);
    t = totals_of(&p);
    assert_near(t.momentum[0] / t.mass, 0, 5e-3);
    assert_near(mean_x(&p), 0.0625 + 0.125 + 0.0625, 5e-3);
    end_play(&p);
}

#define WARM_SLAB(more)                                                                            \
    "firn: 1\nresolution: 0.02\nsimulation: {gravity: [0, 0, 0]}\n"                                \
    "materials: {metal: {preset: jelly_hard, density: 1000, heat_capacity: 500, conductivity: "    \
    "5}}\n"                                                                                        \
    "objects: [{name: b, material: metal, temperature: 300, "                                      \
    "shape: {box: {center: [0, 0.02, 0], size: [0.16, 0.04, 0.16]}}}]\n" more

static double warmth(const char *text, double seconds)
{
    play p = play_for(text, seconds);
    const firn_totals t = totals_of(&p);
    double warm = 0;
    double *temperature = calloc((size_t)firn_sim_count(p.job.sim), sizeof *temperature);
    firn_error error = {0};
    assert_non_null(temperature);
    assert_int_equal(firn_sim_read_heat(p.job.sim, temperature, NULL, &error), FIRN_OK);
    for (int64_t i = 0; i < firn_sim_count(p.job.sim); i++) warm += temperature[i] - 300;
    warm /= (double)firn_sim_count(p.job.sim);
    assert_true(t.mass > 0);
    free(temperature);
    end_play(&p);
    return warm;
}

/* Power that is switched off, and that rises, gives its integral: W/m3 x s / (density x capacity). */
static void sources_give_the_integral_of_their_power(void **state)
{
    (void)state;
#define SOURCE(power)                                                                              \
    WARM_SLAB("heat: {sources: [{shape: {box: {size: [1, 1, 1]}}, power: " power "}]}\n")
    const double each = 1e6 / (1000 * 500.0); /* K of a second of 1 MW/m3 */
    assert_near(warmth(SOURCE("{keys: {0: 1 MW/m3, 0.237: 0}, interpolation: step}"), 0.5),
                0.237 * each, 1e-4);
    assert_near(warmth(SOURCE("{keys: {0: 0, 0.4: 1e6}}"), 0.2), 0.05 * each, 1e-4);
    assert_near(warmth(SOURCE("{keys: {0: 0, 0.4: 1e6}}"), 0.5), 0.3 * each, 2e-4);
    assert_near(warmth(SOURCE("1e6 * time"), 0.5), 0.125 * each, 1e-4);
}

/* Through a transfer h a slab as thick as L follows a wall that warms by r a second: with t' = density capacity L
 * / h, T = r (t - t' (1 - exp(-t / t'))), as conduction inside is 10 times as fast. */
static void walls_warm_what_touches_them(void **state)
{
    (void)state;
#define WALL(temperature)                                                                          \
    WARM_SLAB("heat: {speed: 1000}\ncolliders: [{shape: {plane: {}}, boundary: sticky, transfer: " \
              "10, temperature: " temperature "}]\n")
    const double lag = 1000 * 500 * 0.04 / 10 / 1000, rate = 100, t = 0.9;
    const double expected = rate * (t - lag * (1 - exp(-t / lag)));
    const double keyed = warmth(WALL("{keys: {0: 300, 1: 400}}"), t);
    assert_near(keyed, expected, 0.05 * expected);
    assert_near(warmth(WALL("300 + 100 * time"), t), keyed, 1e-3);
    assert_near(warmth(WALL("300"), t), 0, 1e-3);
}

static void cameras_and_light_follow_their_keys(void **state)
{
    (void)state;
    firn_scene *s = read_scene(
        "camera: {position: {keys: {0: [0, 1, 4], 1: [4, 1, 0]}}, target: [0, \"0.5 * time\", 0],\n"
        "  fov: {keys: {0: 30, 0.5: 50}, interpolation: step}, aperture: 0.1,\n"
        "  focus: {keys: {0: 2, 1: 4}}}\n"
        "light: {azimuth: 10 * time, exposure: {keys: {0: 0, 1: -2}, interpolation: smooth}}\n");
    firn_renderer renderer = {.options = firn_renderer_options_default()};
    for (int f = 0; f <= 24; f++) {
        const double time = f / 24.0, degree = 0.017453292519943295;
        const firn_renderer_frame frame = {.scene = s, .number = 3 + f};
        const firn_camera c = firn_renderer_camera(&renderer, &frame);
        firn_light light = s->light;
        firn_section_sample(&firn_section_light, &light, time);
        assert_near(c.position[0], 4 * time, 1e-12);
        assert_near(c.position[2], 4 - 4 * time, 1e-12);
        assert_near(c.target[1], 0.5 * time, 1e-12);
        assert_near(c.field_of_view, degree * (f < 12 ? 30 : 50), 1e-12);
        assert_near(c.focus, 2 + 2 * time, 1e-12);
        assert_near(light.azimuth, 10 * time, 1e-12);
        assert_near(light.exposure, -2 * time * time * (3 - 2 * time), 1e-12);
    }
    firn_scene_destroy(s);
}

/* Without a position: all in the picture from everywhere, at one distance. */
static void cameras_that_go_round_keep_their_distance(void **state)
{
    (void)state;
    firn_scene *s = read_scene("camera: {azimuth: 360 * time, elevation: 30}\n");
    firn_bounds box = {{-1, 0, -0.2}, {1, 0.5, 0.2}};
    firn_renderer renderer = {
        .options = firn_renderer_options_default(), .box = &box, .box_count = 1};
    for (int f = 0; f < 24; f++) {
        const firn_renderer_frame frame = {.scene = s, .number = 3 + f};
        const firn_camera c = firn_renderer_camera(&renderer, &frame);
        double away[3], square = 0;
        for (int a = 0; a < 3; a++) square += pow(away[a] = c.position[a] - c.target[a], 2);
        const firn_renderer_frame first = {.scene = s, .number = 3};
        assert_near(sqrt(square), firn_renderer_camera(&renderer, &first).focus, 1e-9);
        assert_near(away[0], sqrt(0.75 * square) * sin(6.283185307179586 * f / 24), 1e-9);
        assert_near(away[1], 0.5 * sqrt(square), 1e-9);
    }
    firn_scene_destroy(s);
}

/* keys of expressions, of a collider and of a group. */
static void poses_follow_expressions(void **state)
{
    (void)state;
    firn_scene *s =
        read_scene("groups: [{name: g, pivot: [1, 0, 0], keys: {rotate: [0, 0, 90 * time]}}]\n"
                   "colliders:\n"
                   "  - {shape: {sphere: {radius: 0.1}}, translate: [1, 2, 3],\n"
                   "     keys: {at: [\"0.2 * sin(2 * pi * time)\", 0, 50 cm]}}\n"
                   "  - {shape: {sphere: {center: [2, 0, 0], radius: 0.1}}, group: g}\n");
    assert_int_equal(s->collider[0].key_count, 8 * 24 + 1);
    for (int f = 0; f <= 24; f++) {
        firn_posed_collider posed[2];
        const double time = f / 24.0, angle = 1.5707963267948966 * time;
        for (int i = 0; i < 2; i++) {
            const firn_collider_def def = firn_job_collider(&s->collider[i]);
            firn_collider_pose(&def, 3, time, &posed[i]);
        }
        assert_near(posed[0].position[0], 1 + 0.2 * sin(6.283185307179586 * time), 1e-12);
        assert_near(posed[0].position[1], 2, 1e-12);
        assert_near(posed[0].position[2], 3.5, 1e-12);
        assert_near(posed[1].position[0], 1 + cos(angle), 1e-12);
        assert_near(posed[1].position[1], sin(angle), 1e-12);
        assert_near(posed[1].spin[2], f == 24 ? 0 : 1.5707963267948966, 1e-9);
    }
    firn_scene_destroy(s);
}

/* ---- threads, resume ---- */

static const char everything[] =
    "firn: 1\nresolution: 0.03\nframes: {end: 12}\n"
    "simulation: {gravity: {keys: {0: [0, -9.81, 0], 0.3: [2, -5, 0]}}, contact_friction: 0.2 + "
    "0.1 * time}\n"
    "materials: {jelly: {preset: jelly_soft, conductivity: 20}}\n"
    "heat:\n"
    "  {speed: 50, ambient: {keys: {0: 20C, 0.3: 60C}}, transfer: 10 + $F, emissivity: 0.9,\n"
    "  sky: {keys: {0: 0C, 0.2: 100C}, interpolation: smooth},\n"
    "  sources: [{shape: {sphere: {radius: 0.1}}, keys: {at: [0, 0.2 + time, 0]},\n"
    "  power: {keys: {0: 1e6, 0.31: 0}, interpolation: step}}]}\n"
    "groups: [{name: g, keys: {rotate: [0, 0, 5 * sin(6 * time)]}}]\n"
    "colliders:\n"
    "  - {shape: {plane: {}}, group: g, friction: {keys: {0: 0, 0.2: 1}},\n"
    "     surface_velocity: {keys: {0: [0, 0, 0], 0.1: [1, 0, 0], 0.25: [-1, 0, 0]}, "
    "interpolation: step},\n"
    "     temperature: 300 + 100 * time, transfer: {keys: {0: 10, 0.5: 500}}}\n"
    "  - {shape: {sphere: {radius: 0.15}}, translate: [0.5, 0.2, 0], keys: {at: [-0.3 * time, 0, "
    "0]},\n"
    "     surface_spin: {keys: {0: [0, 0, 0], 0.3: [0, 0, 360]}, interpolation: smooth}}\n"
    "objects:\n"
    "  - {name: a, material: jelly, shape: {box: {center: [0, 0.12, 0], size: [0.3, 0.2, 0.3]}}}\n"
    "  - {name: b, material: jelly, shape: {box: {center: [0, 0.35, 0], size: [0.2, 0.2, 0.2]}}}\n";

static firn_job make_job(const char *text, int threads, firn_scene **scene)
{
    firn_scene_def def = firn_scene_def_default();
    const firn_job_options options = {.threads = threads};
    firn_error error = {0};
    firn_job job;
    def.text = text;
    if (firn_scene_create(&def, scene, &error) != FIRN_OK ||
        firn_job_init(&job, *scene, &options, &error) != FIRN_OK)
        fail_msg("%s", error.message);
    return job;
}

static firn_hash advance(firn_job *job, double time)
{
    firn_report report;
    firn_hash hash;
    firn_error error = {0};
    if (firn_job_advance(job, time, &report, &error) != FIRN_OK) fail_msg("%s", error.message);
    assert_int_equal(firn_sim_hash(job->sim, &hash, &error), FIRN_OK);
    return hash;
}

static void assert_same(firn_hash a, firn_hash b) { assert_memory_equal(&a, &b, sizeof a); }

/* All kinds of keys in one scene: the same bytes with more threads and after a resume. */
static void keys_keep_the_same_bytes(void **state)
{
    (void)state;
    enum { FRAMES = 8, HALF = 4 };
    firn_hash all[FRAMES];
    firn_scene *scene[3];
    firn_error error = {0};
    bytes saved = {0};
    firn_job one = make_job(everything, 1, &scene[0]), three = make_job(everything, 3, &scene[1]),
             again = make_job(everything, 2, &scene[2]);
    assert_int_equal(firn_job_fill(&one, &error), FIRN_OK);
    assert_int_equal(firn_job_fill(&three, &error), FIRN_OK);
    for (int f = 0; f < FRAMES; f++) {
        all[f] = advance(&one, (f + 1) / 24.0);
        assert_same(advance(&three, (f + 1) / 24.0), all[f]);
        if (f + 1 != HALF) continue;
        assert_int_equal(firn_sim_save(one.sim, put, &saved, &error), FIRN_OK);
    }
    assert_int_equal(firn_sim_load(again.sim, take, &saved, &error), FIRN_OK);
    for (int f = HALF; f < FRAMES; f++) assert_same(advance(&again, (f + 1) / 24.0), all[f]);
    free(saved.data);
    firn_job_deinit(&one);
    firn_job_deinit(&three);
    firn_job_deinit(&again);
    for (int i = 0; i < 3; i++) firn_scene_destroy(scene[i]);
}

/* ---- the C API ---- */

/* What a host adds with tracks is in saved states, also where it has since set the surface itself. */
static void added_colliders_keep_their_tracks(void **state)
{
    (void)state;
    static const double when[] = {0, 0.3}, rough[] = {0, 2}, run[] = {0, 0, 0, 2, 0, 0},
                        warm[] = {300, 400};
    static const char scene[] = "firn: 1\nresolution: 0.05\n"
                                "materials: {jelly: {preset: jelly_soft, conductivity: 20}}\n"
                                "heat: {speed: 100}\n"
                                "objects: [{material: jelly, shape: {box: {center: [0, 0.1, 0], "
                                "size: [0.3, 0.2, 0.3]}}}]\n";
    for (int set = 0; set < 2; set++) {
        firn_error error = {0};
        firn_scene *scenes[2];
        bytes saved = {0};
        firn_job one = make_job(scene, 1, &scenes[0]), again = make_job(scene, 1, &scenes[1]);
        firn_collider_def ground = firn_collider_def_default();
        ground.friction_keys = (firn_track){when, rough, 2, 1, FIRN_KEYS_LINEAR};
        ground.surface_velocity_keys = (firn_track){when, run, 2, 3, FIRN_KEYS_SMOOTH};
        ground.temperature_keys = (firn_track){when, warm, 2, 1, FIRN_KEYS_LINEAR};
        ground.transfer = 1000;
        assert_int_equal(firn_job_fill(&one, &error), FIRN_OK);
        assert_int_equal(firn_sim_add_collider(one.sim, &ground, NULL, &error), FIRN_OK);
        (void)advance(&one, 0.1);
        const double still[3] = {0}, turn[3] = {0, 3, 0};
        if (set) assert_int_equal(firn_sim_set_surface(one.sim, 0, still, turn, &error), FIRN_OK);
        assert_int_equal(firn_sim_save(one.sim, put, &saved, &error), FIRN_OK);
        if (firn_sim_load(again.sim, take, &saved, &error) != FIRN_OK)
            fail_msg("%s", error.message);
        const firn_hash on = advance(&one, 0.3);
        assert_same(advance(&again, 0.3), on);
        free(saved.data);
        firn_job_deinit(&one);
        firn_job_deinit(&again);
        for (int i = 0; i < 2; i++) firn_scene_destroy(scenes[i]);
    }
}

static void tracks_out_of_order_are_refused(void **state)
{
    (void)state;
    static const double up[] = {0, 1}, down[] = {1, 0}, never[] = {0, NAN}, tiny[] = {0, 1e-308},
                        fine[] = {0.1, 0.2}, below[] = {0.1, -1}, endless[] = {0.1, INFINITY},
                        much[] = {0, 1e6};
    static const struct {
        firn_track track;
        const char *message;
    } rows[] = {
        {{up, fine, -1, 1, FIRN_KEYS_LINEAR}, "friction_keys.times or values is NULL, or count -1"},
        {{NULL, fine, 2, 1, FIRN_KEYS_LINEAR}, "friction_keys.times or values is NULL"},
        {{up, NULL, 2, 1, FIRN_KEYS_LINEAR}, "friction_keys.times or values is NULL"},
        {{up, fine, 1, 3, FIRN_KEYS_LINEAR}, "friction_keys.components 3 must be 1"},
        {{up, fine, 2, 1, FIRN_INTERPOLATION_COUNT}, "friction_keys.interpolation 3"},
        {{down, fine, 2, 1, FIRN_KEYS_LINEAR}, "friction_keys.times[1] 0 must be finite and above"},
        {{never, fine, 2, 1, FIRN_KEYS_LINEAR}, "friction_keys.times[1] nan must be finite"},
        {{up, below, 2, 1, FIRN_KEYS_LINEAR}, "friction_keys.values[1] -1 must be from 0"},
        {{up, endless, 2, 1, FIRN_KEYS_STEP}, "friction_keys.values[1] inf must be from 0"},
        {{tiny, much, 2, 1, FIRN_KEYS_LINEAR}, "friction_keys.times[1] 1e-308 is too close"},
    };
    firn_scene *scene;
    firn_job job = make_job(FREE_BLOCK, 1, &scene);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        firn_collider_def def = firn_collider_def_default();
        firn_error error = {0};
        def.friction_keys = rows[i].track;
        assert_int_equal(firn_sim_add_collider(job.sim, &def, NULL, &error), FIRN_INVALID);
        if (!strstr(error.message, rows[i].message)) fail_msg("%s", error.message);
    }
    firn_job_deinit(&job);
    firn_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tracks_go_through_their_keys),
        cmocka_unit_test(means_of_tracks_are_exact),
        cmocka_unit_test(scenes_have_keys_where_numbers_are),
        cmocka_unit_test(expressions_of_time_become_keys),
        cmocka_unit_test(gravity_acts_as_its_integral),
        cmocka_unit_test(gravity_that_is_set_ends_its_keys),
        cmocka_unit_test(friction_that_steps_up_stops_what_slides),
        cmocka_unit_test(belts_start_and_stop),
        cmocka_unit_test(sources_give_the_integral_of_their_power),
        cmocka_unit_test(walls_warm_what_touches_them),
        cmocka_unit_test(cameras_and_light_follow_their_keys),
        cmocka_unit_test(cameras_that_go_round_keep_their_distance),
        cmocka_unit_test(poses_follow_expressions),
        cmocka_unit_test(keys_keep_the_same_bytes),
        cmocka_unit_test(added_colliders_keep_their_tracks),
        cmocka_unit_test(tracks_out_of_order_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
