/* Changes in live sessions: they act at once or wait, and tools do what they say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <firn/host.h>

#include "live.h"

/* ---- changes ---- */

static void everything_changes_at_once_before_time_begins(void **state)
{
    (void)state;
    page *p = open_page(jelly);
    const int64_t before = firn_sim_count(sim_of(p));
    page_forget(p);
    assert_int_equal(page_scene(p, "edit", replaced(jelly, "radius: 0.4", "radius: 0.3")), FIRN_OK);
    page_settle(p);
    page_expect(p, "scene", "'live':['objects[0].shape.disc.radius'],'restart':[]");
    assert_true(firn_sim_count(sim_of(p)) < before);
    assert_non_null(page_find_message(p, 2));
    close_page(p);
}

static void later_some_changes_act_and_others_wait(void **state)
{
    (void)state;
    page *p = open_page(jelly);
    page_send(p, "{'do': 'step', 'unit': 'frame'}");
    page_settle(p);
    static const struct {
        const char *from, *to, *live, *restart;
    } rows[] = {
        {"{preset: jelly}", "{preset: jelly, young: 2e4}", "'materials.soft.young'", ""},
        {"{preset: jelly}", "{preset: jelly, density: 500}", "", "'materials.soft.density'"},
        {"{preset: jelly}", "{preset: jelly, look: {name: clay}}", "'materials.soft.look.name'",
         ""},
        {"{preset: jelly}", "{preset: snow}", "", "'materials.soft.preset'"},
        {"frames: {end: 9}", "simulation: {gravity: [1, 0, 0]}\nframes: {end: 9}",
         "'simulation.gravity'", ""},
        {"frames: {end: 9}", "simulation: {damping: 3, contact_friction: 0.1}\nframes: {end: 9}",
         "'simulation.contact_friction','simulation.damping'", ""},
        {"frames: {end: 9}", "simulation: {courant: 0.3}\nframes: {end: 9}", "",
         "'simulation.courant'"},
        {"frames: {end: 9}", "frames: {end: 12}", "'frames.end'", ""},
        {"frames: {end: 9}", "frames: {end: 9, fps: 30}", "", "'frames.fps'"},
        {"name: jelly", "name: soft", "'name'", ""},
        {"name: jelly", "name: soft\ncamera: {azimuth: 30}", "'camera.azimuth','name'", ""},
        {"friction: 0.5", "friction: 0.1, boundary: sticky",
         "'colliders[0].boundary','colliders[0].friction'", ""},
        {"friction: 0.5", "friction: 0.5, visible: false", "'colliders[0].visible'", ""},
        {"[0.8, 0.1, 0]", "[0.9, 0.1, 0]", "'colliders[1].translate'", ""},
        {"size: [0.2, 0.2]", "size: [0.3, 0.2]", "'colliders[1].shape.rectangle.size'", ""},
        {"resolution: 0.05", "resolution: 0.04", "", "'resolution'"},
        {"radius: 0.4", "radius: 0.3", "", "'objects[0].shape.disc.radius'"},
        {"radius: 0.4}}}", "radius: 0.4}}, velocity: [1, 0, 0]}", "", "'objects[0].velocity'"},
        {"wet: {preset: water, bulk: 2e4}", "honey: {preset: honey, bulk: 2e4}", "",
         "'materials.honey.bulk','materials.honey.preset','materials.wet.bulk','materials.wet."
         "preset'"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char lists[600];
        snprintf(lists, sizeof lists, "'live':[%s],'restart':[%s]", rows[i].live, rows[i].restart);
        page_scene(p, "edit", replaced(jelly, rows[i].from, rows[i].to));
        page_expect(p, "scene", lists);
        page_scene(p, "edit", jelly); /* undone: nothing waits */
        snprintf(lists, sizeof lists, "'live':[%s],'restart':[]", rows[i].live);
        page_expect(p, "scene", lists);
    }
    assert_null(page_find(p, "error"));
    page_send(p, "{'do': 'play', 'speed': 0}");
    page_settle(p);
    assert_null(page_find(p, "error"));
    close_page(p);
}

/* Beside copies and groups, a collider that is neither still changes at once. */
static void colliders_beside_copies_change_at_once(void **state)
{
    (void)state;
    char text[2000];
    snprintf(text, sizeof text, "%s",
             replaced(jelly, "colliders:\n",
                      "groups:\n  - {name: g, translate: [3, 0, 0]}\ncolliders:\n"
                      "  - {name: post, shape: {disc: {radius: 0.1}}, friction: 0.4, "
                      "instances: {ring: {count: 3, radius: 2}}}\n"
                      "  - {name: in, group: g, shape: {disc: {radius: 0.1}}, friction: 0.4}\n"));
    page *p = open_page(text);
    page_send(p, "{'do': 'step', 'unit': 'frame'}");
    page_settle(p);
    page_scene(p, "edit", replaced(text, "friction: 0.5", "friction: 0.7"));
    page_expect(p, "scene", "'live':['colliders[2].friction'],'restart':[]");
    page_scene(p, "edit", replaced(text, "radius: 2}}", "radius: 2.5}}"));
    page_expect(p, "scene", "'restart':['colliders[0].instances.ring.radius']");
    page_scene(p, "edit",
               replaced(text, "in, group: g, shape: {disc: {radius: 0.1}",
                        "in, group: g, shape: {disc: {radius: 0.2}"));
    page_expect(p, "scene", "'restart':['colliders[1].shape.disc.radius']");
    assert_null(page_find(p, "error"));
    close_page(p);
}

/* What has keys waits, with whatever takes their place. */
static void keys_wait_for_a_restart(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "simulation: {gravity: {keys: {0: [0, 0], 1: [0, -9]}}}\nframes: {end: 9}",
        "simulation: {gravity: [0, -9 * time]}\nframes: {end: 9}",
        "simulation: {gravity: [0, -9 * time]}\nframes: {end: 12}",
        "simulation: {contact_friction: {keys: {0: 0}}}\nframes: {end: 9}",
        "simulation: {gravity: [0, -9]}\nframes: {end: 9}",
        "camera: {azimuth: 9 * time}\nlight: {sun: {keys: {0: [1, 1, 1]}}}\nframes: {end: 9}"};
    static const char *const frictions[] = {"friction: {keys: {0: 0, 0.2: 1}}", "friction: time",
                                            "friction: 0.1", "surface_spin: [0, 0, 90 * time]"};
    enum { TEXTS = 6, FRICTIONS = 4 };
    for (int i = 0; i < TEXTS; i++) {
        char first[4000], then[4000];
        snprintf(first, sizeof first, "%s", replaced(jelly, "frames: {end: 9}", texts[i]));
        snprintf(then, sizeof then, "%s",
                 replaced(first, "friction: 0.5", frictions[i % FRICTIONS]));
        page *p = open_page(first);
        page_send(p, "{'do': 'step', 'unit': 'frame'}");
        page_settle(p);
        for (int k = 0; k < TEXTS; k++) {
            page_scene(p, "edit", replaced(then, texts[i], texts[(i + k) % TEXTS]));
            page_send(p, "{'do': 'step', 'unit': 'frame'}");
            page_settle(p);
        }
        page_scene(p, "edit", first); /* undone: nothing waits */
        page_expect(p, "scene", "'restart':[]");
        page_send(p, "{'do': 'restart'}");
        page_settle(p);
        assert_null(page_find(p, "error"));
        close_page(p);
    }
    page *p = open_page(replaced(jelly, "friction: 0.5", frictions[0]));
    page_send(p, "{'do': 'step', 'unit': 'frame'}");
    page_settle(p);
    page_scene(p, "edit", jelly);
    page_expect(p, "scene",
                "'restart':['colliders[0].friction','colliders[0].friction.keys.0','colliders[0]."
                "friction.keys.0.2']");
    close_page(p);
}

static void a_change_has_the_effect_of_the_host_call(void **state)
{
    (void)state;
    const double up[3] = {0, 5, 0};
    char hash[2][33];
    for (int i = 0; i < 2; i++) {
        page *p = open_page(jelly);
        page_send(p, "{'do': 'step', 'unit': 'frame'}");
        page_settle(p);
        if (i == 0) {
            page_scene(p, "edit",
                       replaced(replaced(jelly, "{preset: jelly}", "{preset: jelly, young: 5e4}"),
                                "frames: {end: 9}",
                                "simulation: {gravity: [0, 5, 0]}\nframes: {end: 9}"));
            page_expect(p, "scene", "'young':50000");
        } else {
            firn_material_def soft = firn_material_def_preset(firn_preset_find("jelly"));
            soft.young = 5e4;
            assert_int_equal(firn_sim_set_material(sim_of(p), 0, &soft, NULL), FIRN_OK);
            assert_int_equal(firn_sim_set_gravity(sim_of(p), up, NULL), FIRN_OK);
        }
        page_send(p, "{'do': 'step', 'unit': 'frame'}");
        page_settle(p);
        page_hash(p, hash[i]);
        close_page(p);
    }
    assert_string_equal(hash[0], hash[1]);
}

static void a_wrong_text_leaves_the_scene_as_it_was(void **state)
{
    (void)state;
    char before[33], after[33];
    page *p = open_page(jelly);
    page_send(p, "{'do': 'step', 'unit': 'frame'}");
    page_settle(p);
    page_hash(p, before);
    page_scene(p, "edit", replaced(jelly, "{preset: jelly}", "{preset: jelly, yong: 5}"));
    page_expect(p, "error", "'from':'scene','text':'");
    page_expect(p, "error", "young");
    page_expect(p, "error", "'line':7,'column':25");
    page_scene(p, "edit", "firn: 1\nmaterials: {");
    page_expect(p, "error", "'line':");
    page_scene(p, "open", "firn: 1\nobjects: []\n");
    page_expect(p, "error", "'from':'scene'");
    page_scene(p, "open", "");
    page_scene(p, "open", replaced(jelly, "radius: 0.4", "radius: 1e-6")); /* holds none */
    page_expect(p, "error", "no particle fits");
    page_hash(p, after);
    assert_string_equal(before, after);
    page_send(p, "{'do': 'step', 'unit': 'frame'}");
    page_settle(p);
    page_expect(p, "state", "'frame':3");
    close_page(p);
}

static void a_collider_that_is_refused_leaves_the_old_one(void **state)
{
    (void)state;
    page *p = open_page(jelly);
    page_send(p, "{'do': 'step', 'unit': 'frame'}");
    page_settle(p);
    /* No engine takes a collider so fast. */
    page_scene(p, "edit",
               replaced(jelly, "translate: [0.8, 0.1, 0]",
                        "keys: {0: {at: [0, 0, 0]}, 1e-300: {at: [1e10, 0, 0]}}"));
    firn_collider_motion motion;
    assert_int_equal(firn_sim_read_motion(sim_of(p), 1, &motion, NULL), FIRN_OK);
    assert_float_equal(motion.position[0], 0.8, 1e-12);
    close_page(p);
}

static void a_change_forgets_the_frames_after_it(void **state)
{
    (void)state;
    page *p = open_page(jelly);
    page_send(p, "{'do': 'play', 'speed': 0}");
    page_settle(p);
    page_send(p, "{'do': 'seek', 'frame': 3}");
    page_settle(p);
    page_scene(
        p, "edit",
        replaced(jelly, "preset: jelly}", "preset: jelly, look: {name: clay, roughness: 0.9}}"));
    page_expect(p, "state", "'kept':[1,9]"); /* nothing but the look */
    page_expect(p, "scene", "'gloss':0.25,'roughness':0.9");
    page_scene(p, "edit", replaced(jelly, "preset: jelly}", "preset: jelly, young: 5e4}"));
    page_expect(p, "state", "'kept':[1,3]");
    page_send(p, "{'do': 'seek', 'frame': 5}");
    page_expect(p, "error", "frame 5 has not been computed yet");
    close_page(p);
}

static void restart_begins_with_the_newest_text(void **state)
{
    (void)state;
    static char changed[4096];
    snprintf(changed, sizeof changed, "%s",
             replaced(jelly, "resolution: 0.05", "resolution: 0.04"));
    const run_hashes run = run_scene(changed);
    page *p = open_page(jelly);
    page_send(p, "{'do': 'play', 'speed': 0}");
    page_settle(p);
    page_scene(p, "edit", changed);
    page_send(p, "{'do': 'restart'}");
    page_settle(p);
    page_expect(p, "scene", "'restart':[]");
    page_expect(p, "state", "'frame':1,'time':0");
    page_expect(p, "state", "'kept':[1,1]");
    page_send(p, "{'do': 'play', 'speed': 0}");
    page_settle(p);
    char hash[33];
    page_hash(p, hash);
    assert_string_equal(hash, run.hash[run.count - 1]);
    close_page(p);
}

static void a_collider_that_is_moved_is_where_it_was_put(void **state)
{
    (void)state;
    page *p = open_page(jelly);
    page_send(p, "{'do': 'step', 'unit': 'frame'}");
    page_settle(p);
    firn_collider_motion m;
    page_scene(p, "edit", replaced(jelly, "[0.8, 0.1, 0]", "[0.9, 0.2, 0]"));
    page_settle(p);
    page_expect(p, "frame", "{'position':[0.9,0.2,0]");
    page_send(p, "{'do': 'play', 'speed': 1000}"); /* while it plays it goes there */
    page_scene(p, "edit", replaced(jelly, "[0.8, 0.1, 0]", "[1.0, 0.2, 0]"));
    assert_int_equal(firn_sim_read_motion(sim_of(p), 1, &m, NULL), FIRN_OK);
    assert_true(fabs(m.velocity[0] - 6) < 1e-9);
    page_settle(p);
    assert_int_equal(firn_sim_read_motion(sim_of(p), 1, &m, NULL), FIRN_OK);
    assert_true(fabs(m.position[0] - 1) < 1e-9);
    page_send(p, "{'do': 'seek', 'frame': 1}"); /* and stays there, whatever frame is shown */
    page_settle(p);
    page_expect(p, "frame", "{'position':[1,0.2,0]");
    close_page(p);
}

/* ---- tools ---- */

/* Mean velocity, and for heat the mean temperature, of what is in a disc. */
static void mean_inside(const page *p, double x, double y, double radius, double out[3])
{
    firn_sim *sim = sim_of(p);
    const int64_t n = firn_sim_count(sim);
    double *at = malloc((size_t)n * 5 * sizeof *at), *v = at + 2 * n, *t = v + 2 * n;
    assert_int_equal(firn_sim_read(sim, FIRN_POSITION, 0, n, at, NULL), FIRN_OK);
    assert_int_equal(firn_sim_read(sim, FIRN_VELOCITY, 0, n, v, NULL), FIRN_OK);
    if (firn_sim_read_heat(sim, t, NULL, NULL) != FIRN_OK) memset(t, 0, (size_t)n * sizeof *t);
    double count = 0;
    out[0] = out[1] = out[2] = 0;
    for (int64_t i = 0; i < n; i++) {
        if (hypot(at[2 * i] - x, at[2 * i + 1] - y) >= radius) continue;
        count++;
        out[0] += v[2 * i];
        out[1] += v[2 * i + 1];
        out[2] += t[i];
    }
    for (int a = 0; a < 3 && count > 0; a++) out[a] /= count;
    free(at);
}

static double mean_x(const page *p)
{
    double xy[2000], sum = 0;
    const int64_t count = firn_sim_count(sim_of(p));
    assert_true(count > 0 && count <= 1000);
    assert_int_equal(firn_sim_read(sim_of(p), FIRN_POSITION, 0, count, xy, NULL), FIRN_OK);
    for (int64_t i = 0; i < count; i++) sum += xy[2 * i];
    return sum / (double)count;
}

static void grab_and_push_move_material(void **state)
{
    (void)state;
    double v[3];
    page *p = open_page(jelly);
    page_send(
        p,
        "{'do': 'tool', 'tool': 'grab', 'at': [0, 0.6, 0], 'radius': 0.3, 'velocity': [0, 2, 0]}");
    page_send(p, "{'do': 'step', 'unit': 'frame'}");
    page_settle(p);
    mean_inside(p, 0, 0.65, 0.3, v);
    assert_true(v[1] > 0.7 && fabs(v[0]) < 0.1);
    page_send(p, "{'do': 'tool', 'tool': null}");
    page_send(p, "{'do': 'restart'}");
    page_settle(p);
    /* Half a metre to the right, and there it stays, though the pointer is at rest. */
    for (int frame = 0; frame < 8; frame++) {
        page_send(p,
                  "{'do': 'tool', 'tool': 'grab', 'at': [%g, 0.6, 0], 'radius': 0.3, 'velocity': "
                  "[0, 0, 0]}",
                  frame == 0 ? 0.0 : 0.5);
        page_send(p, "{'do': 'step', 'unit': 'frame'}");
        page_settle(p);
    }
    assert_true(mean_x(p) > 0.25 && mean_x(p) < 0.6);
    page_send(p, "{'do': 'tool', 'tool': null}");
    page_send(p, "{'do': 'restart'}");
    page_settle(p);
    page_send(
        p, "{'do': 'tool', 'tool': 'push', 'at': [0, 0.6, 0], 'radius': 9, 'velocity': [3, 0, 0], "
           "'strength': 2400}");
    page_send(p, "{'do': 'step', 'unit': 'frame'}");
    page_send(p, "{'do': 'want', 'totals': true}");
    page_settle(p);
    const double mass = page_number(p, "frame", "mass");
    const char *momentum = strstr(page_find(p, "frame"), "\"momentum\":[");
    assert_true(fabs(strtod(momentum + 12, NULL) - 2400.0 / 24) < 0.01 * mass);
    close_page(p);
}

static void emit_fills_what_is_free(void **state)
{
    (void)state;
    page *p = open_page(jelly);
    const int64_t before = firn_sim_count(sim_of(p));
    const char *emit =
        "{'do': 'tool', 'tool': 'emit', 'at': [-1, 0.2, 0], 'radius': 0.3, 'velocity': "
        "[0, 1, 0], 'material': 'wet'}";
    page_send(p, "%s", emit);
    page_settle(p);
    const int64_t after = firn_sim_count(sim_of(p));
    const double area = 0.05 * 0.05 * (double)(after - before); /* a disc, cut by the ground */
    assert_true(area > 0.17 && area < 0.28);
    page_send(p, "%s", emit); /* there is no more room */
    assert_int_equal(firn_sim_count(sim_of(p)), after);
    const firn_bytes *tags = page_find_message(p, 2);
    assert_int_equal(page_word(tags, 12), after);
    assert_int_equal(page_word(tags, 64 + 4 * ((size_t)after - 1)),
                     1 << 16 | 1); /* nobody's, wet */
    double v[3];
    mean_inside(p, -1, 0.2, 0.3, v);
    assert_true(fabs(v[1] - 1) < 1e-6);
    /* None where the ground is, nor inside the ball. */
    double *x = malloc((size_t)after * 2 * sizeof *x);
    assert_int_equal(firn_sim_read(sim_of(p), FIRN_POSITION, 0, after, x, NULL), FIRN_OK);
    for (int64_t i = before; i < after; i++) assert_true(x[2 * i + 1] > 0);
    free(x);
    page_send(
        p, "{'do': 'tool', 'tool': 'emit', 'at': [0, 0.6, 0], 'radius': 0.2, 'material': 'wet'}");
    assert_true(firn_sim_count(sim_of(p)) < after + 5);
    page_send(p, "{'do': 'play', 'speed': 0}"); /* and it goes on well, held */
    page_settle(p);
    assert_null(page_find(p, "error"));
    page_send(p,
              "{'do': 'tool', 'tool': 'emit', 'at': [0, 0, 0], 'radius': 1e6, 'material': 'wet'}");
    page_expect(p, "error", "too large");
    page_send(p,
              "{'do': 'tool', 'tool': 'emit', 'at': [0, 0, 0], 'radius': 1, 'material': 'weet'}");
    page_expect(p, "error", "wet");
    close_page(p);
}

static void emit_stops_at_the_most_particles(void **state)
{
    (void)state;
    firn_live_options o = firn_live_options_default();
    o.most_particles = 300;
    page *p = new_page(&o);
    page_scene(p, "open", jelly);
    page_send(p,
              "{'do': 'tool', 'tool': 'emit', 'at': [-3, 2, 0], 'radius': 1, 'material': 'wet'}");
    page_expect(p, "error", "no more can be emitted");
    page_send(p, "{'do': 'play', 'speed': 0}"); /* held or not, time goes on */
    page_send(p,
              "{'do': 'tool', 'tool': 'emit', 'at': [-3, 2, 0], 'radius': 1, 'material': 'wet'}");
    page_forget(p);
    page_settle(p);
    page_expect(p, "error", "'from':'command'");
    page_expect(p, "state", "'done':true");
    close_page(p);
}

static void heat_warms_and_melts(void **state)
{
    (void)state;
    double before[3], after[3];
    page *p = open_page(melt);
    mean_inside(p, 0, 0.3, 0.2, before);
    page_send(p,
              "{'do': 'tool', 'tool': 'heat', 'at': [0, 0.3, 0], 'radius': 0.2, 'strength': 30}");
    mean_inside(p, 0, 0.3, 0.2, after); /* a moment of a sixtieth of a second */
    assert_true(fabs(after[2] - before[2] - 0.5) < 1e-3);
    page_send(p,
              "{'do': 'tool', 'tool': 'heat', 'at': [0, 0.3, 0], 'radius': 0.2, 'strength': 1e4}");
    page_send(p, "{'do': 'play', 'speed': 0}");
    page_send(p, "{'do': 'want', 'totals': true}");
    page_settle(p);
    assert_true(page_number(p, "frame", "liquid") > 0);
    assert_null(page_find(p, "error"));
    page_send(p,
              "{'do': 'tool', 'tool': 'heat', 'at': [0, 0.3, 0], 'radius': 9, 'strength': -1e12}");
    page_settle(p); /* not below absolute zero */
    assert_null(page_find(p, "error"));
    close_page(p);
    p = open_page(jelly);
    page_send(p, "{'do': 'tool', 'tool': 'heat', 'at': [0, 0.3, 0], 'radius': 1, 'strength': 1}");
    page_expect(p, "error", "the scene has no heat");
    close_page(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_changes_at_once_before_time_begins),
        cmocka_unit_test(later_some_changes_act_and_others_wait),
        cmocka_unit_test(colliders_beside_copies_change_at_once),
        cmocka_unit_test(keys_wait_for_a_restart),
        cmocka_unit_test(a_change_has_the_effect_of_the_host_call),
        cmocka_unit_test(a_wrong_text_leaves_the_scene_as_it_was),
        cmocka_unit_test(restart_begins_with_the_newest_text),
        cmocka_unit_test(a_collider_that_is_moved_is_where_it_was_put),
        cmocka_unit_test(a_collider_that_is_refused_leaves_the_old_one),
        cmocka_unit_test(a_change_forgets_the_frames_after_it),
        cmocka_unit_test(grab_and_push_move_material),
        cmocka_unit_test(emit_fills_what_is_free),
        cmocka_unit_test(emit_stops_at_the_most_particles),
        cmocka_unit_test(heat_warms_and_melts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
