/* Values that change in time: tracks by themselves, in the engine, and as scenes write them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <firn/firn.h>

#include "scene/scene.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tracks_go_through_their_keys),
        cmocka_unit_test(means_of_tracks_are_exact),
        cmocka_unit_test(scenes_have_keys_where_numbers_are),
        cmocka_unit_test(expressions_of_time_become_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
