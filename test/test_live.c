/* Live sessions: frames have the bytes of a run, changes act at once or wait, going back leads to the same
 * future, tools do what they say, and nothing that a page sends does harm. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <firn/host.h>

#include "live.h"

/* clang-format off */
static const char jelly[] =
    "firn: 1\n"
    "name: jelly\n"
    "dimension: 2\n"
    "resolution: 0.05\n"
    "frames: {end: 9}\n"
    "materials:\n"
    "  soft: {preset: jelly}\n"
    "  wet: {preset: water, bulk: 2e4}\n"
    "objects:\n"
    "  - {name: ball, material: soft, shape: {disc: {center: [0, 0.6], radius: 0.4}}}\n"
    "colliders:\n"
    "  - {name: ground, shape: {plane: {}}, friction: 0.5}\n"
    "  - {name: block, shape: {rectangle: {size: [0.2, 0.2]}}, translate: [0.8, 0.1, 0]}\n";

static const char melt[] =
    "firn: 1\n"
    "dimension: 2\n"
    "resolution: 0.05\n"
    "frames: {end: 6}\n"
    "heat: {ambient: 0C}\n"
    "materials:\n"
    "  ice: {preset: ice, young: 1e5}\n"
    "objects:\n"
    "  - {name: cube, temperature: -1C, shape: {rectangle: {center: [0, 0.3], size: [0.6, 0.6]}}}\n"
    "colliders:\n"
    "  - {name: ground, shape: {plane: {}}}\n";

static const char hose[] =
    "firn: 1\n"
    "dimension: 2\n"
    "resolution: 0.05\n"
    "frames: {end: 8}\n"
    "materials: {water: {preset: water, bulk: 2e4}}\n"
    "objects:\n"
    "  - {name: jet, velocity: [3, 0, 0], emit: {start: 0.02},\n"
    "     shape: {rectangle: {center: [0, 1], size: [0.2, 0.2]}}}\n"
    "domain: {low: [-1, -1], high: [0.6, 2], leaving: delete}\n";
/* clang-format on */

/* Another text: `from` replaced once by `to`. Two can be nested. */
static const char *replaced(const char *text, const char *from, const char *to)
{
    static char outs[2][4096];
    static int turn;
    char *out = outs[turn++ % 2];
    const char *at = strstr(text, from);
    assert_non_null(at);
    assert_true(strlen(text) + strlen(to) < sizeof *outs);
    memcpy(out, text, (size_t)(at - text));
    out[at - text] = 0;
    strcat(out, to);
    strcat(out, at + strlen(from));
    return out;
}

static page *new_page(const firn_live_options *base)
{
    page *p = calloc(1, sizeof *p);
    firn_live_options o = base ? *base : firn_live_options_default();
    o.threads = 1;
    if (!base) o.patience = 1000;
    o.user_data = p;
    o.send = page_event;
    o.send_bytes = page_message;
    firn_error error;
    if (firn_live_create(&o, &p->live, &error) != FIRN_OK) fail_msg("%s", error.message);
    return p;
}

static page *open_page(const char *scene)
{
    page *p = new_page(NULL);
    if (page_scene(p, "open", scene) != FIRN_OK) fail_msg("%s", page_find(p, "error"));
    page_settle(p);
    return p;
}

static void close_page(page *p)
{
    page_forget(p);
    firn_live_destroy(p->live);
    free(p);
}

static firn_sim *sim_of(const page *p) { return firn_job_sim(firn_live_job(p->live)); }

/* ---- time ---- */

/* What `firn run` prints with --hash. */
typedef struct run_hashes {
    char hash[64][33];
    int count;
} run_hashes;

static void run_frame(void *user_data, const firn_run_frame *f)
{
    run_hashes *r = user_data;
    snprintf(r->hash[r->count++], 33, "%016llx%016llx", (unsigned long long)f->hash.word[0],
             (unsigned long long)f->hash.word[1]);
}

static run_hashes run_scene(const char *text)
{
    run_hashes r = {.count = 0};
    firn_scene *scene;
    firn_error error;
    firn_scene_def def = firn_scene_def_default();
    def.text = text;
    const firn_setting none = {"checkpoint.every=0", "--set", false};
    def.settings = &none;
    def.setting_count = 1;
    if (firn_scene_create(&def, &scene, &error) != FIRN_OK) fail_msg("%s", error.message);
    firn_run_options options = firn_run_options_default(scene);
    options.hash = true;
    options.threads = 1;
    const firn_run_hooks hooks = {.user_data = &r, .frame = run_frame};
    if (firn_run(scene, &options, &hooks, &error) != FIRN_OK) fail_msg("%s", error.message);
    firn_scene_destroy(scene);
    return r;
}

static void steps_of_frames_have_the_bytes_of_a_run(void **state)
{
    (void)state;
    const char *const scenes[] = {jelly, melt, hose};
    for (int s = 0; s < 3; s++) {
        const run_hashes run = run_scene(scenes[s]);
        page *p = open_page(scenes[s]);
        for (int f = 0; f < run.count; f++) {
            char hash[33];
            page_hash(p, hash);
            assert_string_equal(hash, run.hash[f]);
            page_send(p, "{'do': 'step', 'unit': 'frame'}");
            page_settle(p);
        }
        page_expect(p, "state", "'done':true");
        close_page(p);
    }
}

static void play_without_a_clock_has_the_bytes_of_a_run(void **state)
{
    (void)state;
    const run_hashes run = run_scene(jelly);
    page *p = open_page(jelly);
    char hash[33];
    page_send(p, "{'do': 'play', 'speed': 0}");
    page_settle(p);
    page_hash(p, hash);
    assert_string_equal(hash, run.hash[run.count - 1]);
    page_expect(p, "state", "'playing':false");
    page_expect(p, "state", "'done':true");
    close_page(p);
}

static void play_ends_at_the_last_frame_in_whole_parts(void **state)
{
    (void)state;
    char hash[2][33];
    for (int i = 0; i < 2; i++) {
        page *p = open_page(jelly);
        page_forget(p);
        page_send(p, "{'do': 'play', 'speed': 1000}");
        page_settle(p);
        assert_int_equal(page_count_messages(p, 1),
                         3 * 8); /* of 24 frames a second, three parts each */
        assert_true(fabs(page_number(p, "state", "time") - 8.0 / 24) < 1e-12);
        page_expect(p, "state", "'frame':9");
        page_hash(p, hash[i]);
        close_page(p);
    }
    assert_string_equal(hash[0], hash[1]);
}

static void play_keeps_to_the_clock(void **state)
{
    (void)state;
    page *p = open_page(jelly);
    page_send(p, "{'do': 'play', 'speed': 0.5}");
    const double wait = firn_live_turn(p->live, 0);
    assert_true(wait > 0 && wait <= 1.0 / (24 * 5) / 0.5);
    page_send(p, "{'do': 'pause'}");
    assert_true(isinf(firn_live_turn(p->live, 0)));
    close_page(p);
}

static void a_substep_is_one_step_and_stops_at_frames(void **state)
{
    (void)state;
    page *p = open_page(jelly);
    double time = 0;
    for (int count = 0; page_number(p, "frame", "frame") < 2; count++) {
        page_forget(p);
        page_send(p, "{'do': 'step', 'unit': 'substep'}");
        page_settle(p);
        assert_int_equal(page_number(p, "frame", "steps"), 1);
        assert_true(firn_sim_time(sim_of(p)) > time && count < 10000);
        time = firn_sim_time(sim_of(p));
    }
    assert_true(fabs(time - 1.0 / 24) < 1e-9);
    close_page(p);
}

static void positions_of(const page *p, double *xy, int64_t *count)
{
    *count = firn_sim_count(sim_of(p));
    assert_true(*count <= 1000);
    assert_int_equal(firn_sim_read(sim_of(p), FIRN_POSITION, 0, *count, xy, NULL), FIRN_OK);
}

/* The jet begins after 0.02 s, goes on every 0.2 m / (3 m/s), and is deleted where it leaves the domain. */
static void substeps_emit_and_delete_as_frames_do(void **state)
{
    (void)state;
    const char *narrow = replaced(hose, "high: [0.6", "high: [0.3");
    page *frames = open_page(narrow), *steps = open_page(narrow);
    double xy[2000], last = 0;
    int64_t want, got;
    for (int frame = 2; frame <= 8; frame++) {
        page_send(frames, "{'do': 'step', 'unit': 'frame'}");
        page_settle(frames);
        for (int i = 0; i < 1000 && page_number(steps, "frame", "frame") < frame; i++) {
            page_forget(steps);
            page_send(steps, "{'do': 'step', 'unit': 'substep'}");
            page_settle(steps);
            positions_of(steps, xy, &got);
            for (int64_t k = 0; k < got; k++) assert_true(xy[2 * k] <= 0.3);
        }
        positions_of(frames, xy, &want);
        /* Those at the very end of the domain may be a step ahead. */
        assert_true(want > 0 && llabs(want - got) <= 4);
        assert_true(fabs(firn_sim_time(sim_of(frames)) - firn_sim_time(sim_of(steps))) < 1e-9);
    }
    assert_int_equal(firn_sim_read(sim_of(steps), FIRN_ID, got - 1, 1, &last, NULL), FIRN_OK);
    assert_true(got < (int64_t)last); /* some have left */
    close_page(frames);
    close_page(steps);
}

/* ---- pictures ---- */

static void pictures_are_off_by_half_a_step_at_most(void **state)
{
    (void)state;
    page *p = open_page(jelly);
    page_send(p,
              "{'do': 'want', 'color': 'speed', 'velocity': true, 'grid': true, 'totals': true}");
    page_send(p, "{'do': 'step', 'unit': 'frame'}");
    page_settle(p);
    const firn_bytes *m = page_find_message(p, 1);
    const int64_t count = firn_sim_count(sim_of(p));
    assert_int_equal(page_word(m, 12), count);
    assert_int_equal(page_word(m, 40), 2);
    assert_int_equal(page_word(m, 44), 3);
    const double step = (double)page_real(m, 36);
    assert_true(step > 0 && step < 1e-6);
    double *x = malloc((size_t)count * 4 * sizeof *x), *v = x + 2 * count;
    assert_int_equal(firn_sim_read(sim_of(p), FIRN_POSITION, 0, count, x, NULL), FIRN_OK);
    assert_int_equal(firn_sim_read(sim_of(p), FIRN_VELOCITY, 0, count, v, NULL), FIRN_OK);
    const float least = page_real(m, 48), most = page_real(m, 52);
    const size_t colors = 64 + 8 * (size_t)count,
                 velocities = colors + (2 * (size_t)count + 3) / 4 * 4;
    assert_int_equal(m->size, velocities + 12 * (size_t)count);
    for (int64_t i = 0; i < count; i++) {
        const uint32_t a = page_word(m, 64 + 8 * (size_t)i), b = page_word(m, 68 + 8 * (size_t)i);
        const uint32_t q[3] = {a & 0x1fffff, a >> 21 | (b & 0x3ff) << 11, b >> 10 & 0x1fffff};
        for (int d = 0; d < 2; d++) {
            const double shown = (double)page_real(m, 24 + 4 * (size_t)d) + step * q[d];
            assert_true(fabs(shown - x[2 * i + d]) <= 0.5 * step + 1e-7 * fabs(x[2 * i + d]));
            assert_true(fabs((double)page_real(m, velocities + 4 * (size_t)(3 * i + d)) -
                             v[2 * i + d]) < 1e-5);
        }
        assert_int_equal(q[2], 0);
        uint16_t c;
        memcpy(&c, m->data + colors + 2 * (size_t)i, sizeof c);
        const double speed = (double)least + ((double)most - (double)least) * c / 65535;
        assert_true(fabs(speed - hypot(v[2 * i], v[2 * i + 1])) < 1e-4);
    }
    free(x);
    /* The mass of nodes is that of particles. */
    const firn_bytes *g = page_find_message(p, 3);
    double mass = 0;
    for (uint32_t i = 0; i < page_word(g, 12); i++) mass += (double)page_real(g, 64 + 40 * i + 12);
    assert_true(fabs(mass / page_number(p, "frame", "mass") - 1) < 1e-4);
    close_page(p);
}

static void every_color_is_shown(void **state)
{
    (void)state;
    const char *const scenes[] = {jelly, melt};
    page *greeted = new_page(NULL);
    firn_live_hello(greeted->live, NULL, "a.yaml");
    const char *hello = page_find(greeted, "hello");
    const char *at = strstr(hello, "\"colors\":[");
    int colors = 0;
    while (at && (at = strstr(at, "{\"name\":\"")) && at < strstr(hello, "\"looks\":")) {
        char name[32];
        assert_int_equal(sscanf(at, "{\"name\":\"%31[^\"]", name), 1);
        for (int s = 0; s < 2; s++) {
            page *p = open_page(scenes[s]);
            page_send(p, "{'do': 'want', 'color': '%s'}", name);
            page_settle(p);
            assert_null(page_find(p, "error"));
            assert_int_equal(page_word(page_find_message(p, 1), 44), 1);
            close_page(p);
        }
        at++;
        colors++;
    }
    assert_int_equal(colors, 10);
    close_page(greeted);
    page *p = open_page(jelly);
    page_send(p, "{'do': 'want', 'color': 'spede'}");
    page_expect(p, "error", "did you mean \\'speed\\'");
    close_page(p);
}

static void tags_come_when_particles_are_others(void **state)
{
    (void)state;
    page *p = open_page(hose);
    const firn_bytes *tags = page_find_message(p, 2);
    assert_int_equal(page_word(tags, 12), 0);
    page_send(p, "{'do': 'play', 'speed': 0}");
    page_settle(p);
    tags = page_find_message(p, 2);
    assert_int_equal(page_word(tags, 12), page_word(page_find_message(p, 1), 12));
    assert_true(page_word(tags, 12) > 0);
    close_page(p);
    p = open_page(jelly);
    page_send(p, "{'do': 'play', 'speed': 0}");
    page_settle(p);
    assert_int_equal(page_count_messages(p, 2), 1);
    close_page(p);
}

static void a_slow_page_gets_two_pictures_and_then_the_newest(void **state)
{
    (void)state;
    page *p = new_page(NULL);
    p->lazy = true;
    page_scene(p, "open", jelly);
    page_send(p, "{'do': 'play', 'speed': 0}");
    page_settle(p);
    assert_int_equal(page_count_messages(p, 1), 2);
    page_expect(p, "state", "'done':true"); /* it went on all the same */
    page_send(p, "{'do': 'shown', 'picture': 1}");
    page_settle(p);
    assert_int_equal(page_count_messages(p, 1), 3);
    page_expect(p, "frame", "'frame':9");
    page_send(p, "{'do': 'shown', 'picture': 77}");
    page_expect(p, "error", "picture 77 was not sent");
    close_page(p);
}

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
    page_scene(p, "edit", replaced(jelly, "preset: jelly}", "preset: jelly, look: {name: clay}}"));
    page_expect(p, "state", "'kept':[1,9]"); /* nothing but the look */
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

/* ---- going back ---- */

static void the_same_future_follows(size_t state_bytes, const char *scene)
{
    firn_live_options o = firn_live_options_default();
    o.patience = 1000;
    o.state_bytes = state_bytes;
    page *p = new_page(&o);
    char hash[3][33];
    page_scene(p, "open", scene);
    page_send(p, "{'do': 'play', 'speed': 1000}");
    page_settle(p);
    page_hash(p, hash[0]);
    const int last = (int)page_number(p, "state", "frame");
    for (int frame = last - 1; frame > 0; frame -= 3) {
        page_send(p, "{'do': 'seek', 'frame': %d}", last);
        page_send(p, "{'do': 'seek', 'frame': %d}", frame);
        page_settle(p);
        assert_int_equal(page_number(p, "state", "frame"), frame);
        assert_int_equal(page_number(p, "frame", "frame"), frame);
        page_send(p, "{'do': 'play', 'speed': 1000}");
        page_settle(p);
        page_hash(p, hash[1]);
        assert_string_equal(hash[1], hash[0]);
    }
    assert_null(page_find(p, "error"));
    page_send(p, "{'do': 'seek', 'frame': 2}");
    page_settle(p);
    page_send(p, "{'do': 'seek', 'frame': %d}", last); /* without playing all is still there */
    page_hash(p, hash[2]);
    assert_string_equal(hash[2], hash[0]);
    page_send(p, "{'do': 'seek', 'frame': 2}");
    page_send(p, "{'do': 'step', 'unit': 'frame'}");
    page_settle(p);
    page_expect(p, "state", "'kept':[1,3]"); /* another future */
    page_send(p, "{'do': 'seek', 'frame': 5}");
    page_expect(p, "error", "frame 5 has not been computed yet; there are 1 to 3");
    page_send(p, "{'do': 'seek', 'frame': -5}");
    page_expect(p, "error", "frame -5");
    close_page(p);
}

static void the_same_future_follows_a_kept_frame(void **state)
{
    (void)state;
    the_same_future_follows((size_t)256 << 20, jelly);
    the_same_future_follows((size_t)256 << 20, melt);
    the_same_future_follows((size_t)256 << 20, hose);
}

static void the_same_future_follows_where_memory_is_short(void **state)
{
    (void)state;
    the_same_future_follows(100000, jelly);
    the_same_future_follows(1, hose);
}

/* What asks for the frame that is sought waits for it, and turns stay short meanwhile. */
static void a_long_seek_lets_others_through(void **state)
{
    (void)state;
    firn_live_options o = firn_live_options_default();
    o.state_bytes = 1; /* so that it begins again with the first frame */
    o.patience = 1000;
    page *p = new_page(&o);
    page_scene(p, "open", jelly);
    char want[33], got[33];
    for (int i = 1; i < 8; i++) {
        page_send(p, "{'do': 'step', 'unit': 'frame'}");
        page_settle(p);
        if (i == 6) page_hash(p, want);
    }
    page_forget(p);
    page_send(p, "{'do': 'seek', 'frame': 7}");
    page_send(p, "{'do': 'hash', 'token': 7}");
    firn_live_turn(p->live, 0);
    assert_true(firn_sim_time(sim_of(p)) < 5.5 / 24);
    assert_null(page_find(p, "hash"));
    page_settle(p);
    const char *at = strstr(page_expect(p, "hash", "'token':7"), "\"hash\":\"");
    assert_non_null(at);
    snprintf(got, sizeof got, "%.32s", at + 8);
    assert_string_equal(got, want);
    close_page(p);
}

static void what_tools_did_to_a_frame_is_kept(void **state)
{
    (void)state;
    page *p = open_page(jelly);
    page_send(p, "{'do': 'step', 'unit': 'frame'}");
    page_settle(p);
    const int64_t before = firn_sim_count(sim_of(p));
    page_send(p, "{'do': 'tool', 'tool': 'cut', 'at': [0, 0.6, 0], 'radius': 0.2}");
    page_send(p, "{'do': 'tool', 'tool': null}");
    const int64_t after = firn_sim_count(sim_of(p));
    assert_true(after < before && after > 0);
    page_send(p, "{'do': 'seek', 'frame': 1}");
    page_settle(p);
    assert_int_equal(firn_sim_count(sim_of(p)), before);
    page_send(p, "{'do': 'seek', 'frame': 2}");
    page_settle(p);
    assert_int_equal(firn_sim_count(sim_of(p)), after);
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

/* ---- asking ---- */

static void a_probe_follows_its_particle(void **state)
{
    (void)state;
    page *p = open_page(jelly);
    page_send(p, "{'do': 'probe', 'id': 7}");
    page_send(p, "{'do': 'step', 'unit': 'frame'}");
    page_settle(p);
    page_expect(p, "frame", "'probe':{'id':7,'object':'ball','material':'soft','speed':");
    page_expect(p, "frame", "'density':");
    page_send(p, "{'do': 'probe', 'id': 123456}"); /* there is none */
    page_settle(p);
    assert_null(strstr(page_find(p, "frame"), "probe"));
    page_send(p, "{'do': 'probe', 'id': null}");
    page_settle(p);
    assert_null(page_find(p, "error"));
    close_page(p);
    p = open_page(melt);
    page_send(p, "{'do': 'probe', 'id': 0}");
    page_settle(p);
    page_expect(p, "frame", "'temperature':272.1");
    close_page(p);
}

/* The numbers of a probe are those that files have. */
static void a_probe_agrees_with_points(void **state)
{
    (void)state;
    static const char *const names[] = {"J", "Jp", "density", "pressure", "mass", NULL};
    const char *const scenes[] = {jelly, melt};
    for (int s = 0; s < 2; s++) {
        page *p = open_page(scenes[s]);
        page_send(p, "{'do': 'play', 'speed': 0}");
        page_settle(p);
        page_send(p, "{'do': 'probe', 'id': 30}");
        page_settle(p);
        firn_points points;
        assert_int_equal(firn_job_points(firn_live_job(p->live), names, 31, &points, NULL),
                         FIRN_OK);
        const char *probe = strstr(page_find(p, "frame"), "\"probe\":");
        for (int i = 0; names[i]; i++) {
            char key[32];
            snprintf(key, sizeof key, "\"%s\":", names[i]);
            const double shown = strtod(strstr(probe, key) + strlen(key), NULL);
            const double expected = (double)((float *)points.column[i].data)[30];
            assert_true(fabs(shown - expected) <= 1e-5 * fabs(expected) + 1e-30);
        }
        firn_points_free(&points);
        close_page(p);
    }
}

static void points_come_as_columns(void **state)
{
    (void)state;
    page *p = open_page(jelly);
    const int64_t count = firn_sim_count(sim_of(p));
    page_send(p, "{'do': 'points', 'token': 9, 'attributes': ['P', 'id']}");
    const firn_bytes *m = page_find_message(p, 4);
    const size_t json = page_word(m, 12), columns = (64 + json + 7) / 8 * 8;
    assert_int_equal(page_word(m, 8), 9);
    char expected[200];
    snprintf(expected, sizeof expected,
             "{\"count\":%lld,\"columns\":[{\"name\":\"P\",\"type\":\"f32\",\"components\":3},"
             "{\"name\":\"id\",\"type\":\"f32\",\"components\":1}]}",
             (long long)count);
    assert_int_equal(json, strlen(expected));
    assert_memory_equal(m->data + 64, expected, json);
    const size_t ids = columns + ((size_t)count * 12 + 7) / 8 * 8;
    assert_true(page_real(m, ids + 4 * 5) == 5);
    assert_int_equal(m->size, ids + ((size_t)count * 4 + 7) / 8 * 8);
    page_send(p, "{'do': 'points', 'token': 10}");
    assert_int_equal(page_word(page_find_message(p, 4), 8), 10);
    page_send(p, "{'do': 'points', 'token': 10, 'attributes': ['Q']}");
    page_expect(p, "error", "there is no attribute Q");
    close_page(p);
}

static void a_page_that_comes_back_is_told_everything(void **state)
{
    (void)state;
    page *p = open_page(jelly);
    page_send(p, "{'do': 'step', 'unit': 'frame'}");
    page_settle(p);
    page_scene(p, "edit", replaced(jelly, "resolution: 0.05", "resolution: 0.04"));
    page_forget(p);
    p->lazy = true;
    firn_live_hello(p->live, "firn: 1\n", "a\"b.yaml");
    page_settle(p);
    page_expect(p, "hello", "resolution: 0.04");
    page_expect(p, "hello", "'file':'a\\'b.yaml'");
    page_expect(p, "scene", "'restart':['resolution']");
    page_expect(p, "state", "'frame':2");
    assert_non_null(page_find_message(p, 1));
    assert_non_null(page_find_message(p, 2));
    close_page(p);
}

/* A page that is loaded again finds the text as it was left, even where it is wrong. */
static void a_page_that_comes_back_gets_its_text(void **state)
{
    (void)state;
    page *p = new_page(NULL);
    firn_live_hello(p->live, jelly, NULL);
    assert_null(strstr(page_expect(p, "hello", "name: jelly"), "\"open\""));
    page_scene(p, "open", jelly);
    firn_live_hello(p->live, jelly, NULL);
    assert_null(strstr(page_expect(p, "hello", "'open':true"), "\"edited\""));
    page_scene(p, "edit", replaced(jelly, "name: jelly", "name: other"));
    firn_live_hello(p->live, jelly, NULL);
    page_expect(p, "hello", "name: other");
    page_expect(p, "hello", "'open':true,'edited':true");
    page_scene(p, "edit", "firn: 1\nnonsense: 7\n");
    firn_live_hello(p->live, jelly, NULL);
    page_expect(p, "hello", "nonsense: 7");
    page_expect(p, "hello", "'open':true,'edited':true");
    page_expect(p, "scene", "'name':'other'");
    close_page(p);
}

static void meshes_of_colliders_are_sent(void **state)
{
    (void)state;
    firn_live_options o = firn_live_options_default();
    o.path = FIRN_EXAMPLES "/trampoline.yaml";
    page *p = new_page(&o);
    firn_bytes text;
    assert_int_equal(firn_bytes_read(o.path, &text, NULL), FIRN_OK);
    char *scene = strndup((char *)text.data, text.size);
    if (page_scene(p, "open", scene) != FIRN_OK) fail_msg("%s", page_find(p, "error"));
    const firn_bytes *m = page_find_message(p, 5);
    assert_non_null(m);
    const size_t vertices = page_word(m, 16), triangles = page_word(m, 20);
    assert_int_equal(m->size, 64 + 12 * (vertices + triangles));
    for (size_t i = 0; i < 3 * triangles; i++) {
        assert_true(page_word(m, 64 + 12 * vertices + 4 * i) < vertices);
    }
    page_send(p,
              "{'do': 'step', 'unit': 'substep'}"); /* it moves: another comes with the picture */
    page_settle(p);
    assert_true(page_count_messages(p, 5) > 1);
    page_send(p, "{'do': 'seek', 'frame': 1}");
    page_settle(p);
    assert_null(page_find(p, "error"));
    free(scene);
    firn_bytes_free(&text);
    close_page(p);
}

static void sessions_write_no_file(void **state)
{
    (void)state;
    char folder[] = "/tmp/firn_live_XXXXXX", text[8192];
    struct stat about;
    assert_non_null(mkdtemp(folder));
    snprintf(text, sizeof text,
             "%soutput:\n  - {file: %s/a.$F4.prt}\nstatistics: %s/s.csv\n"
             "checkpoint: {folder: %s/c, every: 1}\n",
             jelly, folder, folder, folder);
    page *p = open_page(text);
    page_send(p, "{'do': 'play', 'speed': 0}");
    page_settle(p);
    assert_int_equal(stat(folder, &about), 0);
    assert_int_equal(rmdir(folder), 0); /* it is empty */
    close_page(p);
}

/* ---- harm ---- */

static void malformed_commands_are_answered_by_errors(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        " ",
        "x",
        "null",
        "1",
        "'open'",
        "[]",
        "{}",
        "{",
        "}",
        "{'do'}",
        "{'do':}",
        "{'do': 3}",
        "{'do': null}",
        "{'do': 'fly'}",
        "{'do': 'open'}",
        "{'do': 'open', 'text': 5}",
        "{'do': 'open', 'text': 'firn: 2'}",
        "{'do': 'open', 'text': '\\ud800'}",
        "{'do': 'open', 'text': '\\u00zz'}",
        "{'do': 'open', 'text': '\\q'}",
        "{'do': 'open', 'text': 'a",
        "{'do': 'edit', 'text': '\\u0000'}",
        "{'do': 'play'}",
        "{'do': 'play', 'speed': -1}",
        "{'do': 'play', 'speed': nan}",
        "{'do': 'play', 'speed': inf}",
        "{'do': 'play', 'speed': 1e999}",
        "{'do': 'play', 'speed': '1'}",
        "{'do': 'step'}",
        "{'do': 'step', 'unit': 'year'}",
        "{'do': 'step', 'unit': 1}",
        "{'do': 'seek', 'frame': 1.5}",
        "{'do': 'seek', 'frame': 1e300}",
        "{'do': 'seek', 'frame': 99999999999999999999}",
        "{'do': 'seek', 'frame': 400}",
        "{'do': 'want', 'color': 'blood'}",
        "{'do': 'want', 'grid': 1}",
        "{'do': 'want', 'velocity': 2}",
        "{'do': 'tool'}",
        "{'do': 'tool', 'tool': 'saw'}",
        "{'do': 'tool', 'tool': 'cut'}",
        "{'do': 'tool', 'tool': 'cut', 'at': [1, 2], 'radius': 1}",
        "{'do': 'tool', 'tool': 'cut', 'at': [1, 2, 3, 4], 'radius': 1}",
        "{'do': 'tool', 'tool': 'cut', 'at': [1, 2, 'x'], 'radius': 1}",
        "{'do': 'tool', 'tool': 'cut', 'at': [1, 2, 1e300], 'radius': 1}",
        "{'do': 'tool', 'tool': 'cut', 'at': [1, 2, 3], 'radius': 0}",
        "{'do': 'tool', 'tool': 'cut', 'at': [1, 2, 3], 'radius': -1}",
        "{'do': 'tool', 'tool': 'push', 'at': [1, 2, 3], 'radius': 1}",
        "{'do': 'tool', 'tool': 'emit', 'at': [1, 2, 3], 'radius': 1}",
        "{'do': 'probe'}",
        "{'do': 'probe', 'id': -1}",
        "{'do': 'probe', 'id': 1e17}",
        "{'do': 'points'}",
        "{'do': 'points', 'token': -1}",
        "{'do': 'points', 'token': 1e10}",
        "{'do': 'points', 'token': 1, 'attributes': 'P'}",
        "{'do': 'points', 'token': 1, 'attributes': [1]}",
        "{'do': 'hash'}",
        "{'do': 'shown'}",
        "{'do': 'shown', 'picture': 1e6}",
        "{'do': 'stop'}",
        "{'do': 'pause'} {'do': 'pause'}",
        "{'do': 'pause',}",
        "{'do': 'pause' 'x': 1}",
        "{'x': [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
        "\x7f{'do': 'pause'}",
        "{'do': 'open', 'text': '\xff\xfe'}"};
    char before[33], after[33];
    page *p = open_page(jelly);
    page_hash(p, before);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        page_forget(p);
        const firn_status st = page_send(p, "%s", bad[i]);
        if (st == FIRN_OK || !page_find(p, "error")) fail_msg("taken: %s", bad[i]);
    }
    page_settle(p);
    page_hash(p, after);
    assert_string_equal(before, after);
    close_page(p);
}

static uint64_t random_state;
static uint32_t random_word(void)
{
    uint64_t z = random_state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    return (uint32_t)(z ^ z >> 31);
}

static void random_bytes_do_no_harm(void **state)
{
    (void)state;
    static const char *const good[] = {
        "{'do': 'play', 'speed': 1}",
        "{'do': 'want', 'color': 'speed', 'grid': true}",
        "{'do': 'tool', 'tool': 'emit', 'at': [0, 1, 0], 'radius': 0.1, 'material': 'wet'}",
        "{'do': 'seek', 'frame': 1}",
        "{'do': 'probe', 'id': 3}",
        "{'do': 'points', 'token': 4}",
        "{'do': 'open', 'text': 'firn: 1'}",
        "{'do': 'step', 'unit': 'substep'}"};
    page *p = open_page(jelly);
    for (int i = 0; i < 3000; i++) {
        char text[256];
        size_t size = random_word() % 80;
        if (i % 4 == 0) {
            for (size_t k = 0; k < size; k++) text[k] = (char)random_word();
        } else {
            size = (size_t)snprintf(text, sizeof text, "%s", good[random_word() % 8]);
            for (size_t k = 0; k < size; k++) text[k] = text[k] == '\'' ? '"' : text[k];
            for (uint32_t k = random_word() % 4; k > 0; k--)
                text[random_word() % size] = (char)random_word();
        }
        char *exact = malloc(size ? size : 1);
        memcpy(exact, text, size);
        (void)firn_live_receive(p->live, exact, size, NULL);
        free(exact);
        if (i % 8 == 0) (void)firn_live_turn(p->live, 0);
        page_forget(p);
    }
    close_page(p);
}

/* ---- commands within an advance ---- */

static page *open_slow_page(const char *young, const char *command)
{
    char soft[64];
    firn_live_options o = firn_live_options_default();
    o.poll = page_poll;
    page *p = new_page(&o);
    snprintf(soft, sizeof soft, "{preset: jelly, young: %s}", young);
    if (page_scene(p, "open", replaced(jelly, "{preset: jelly}", soft)) != FIRN_OK) {
        fail_msg("%s", page_find(p, "error"));
    }
    p->on_poll = command;
    return p;
}

static void commands_get_through_a_long_advance(void **state)
{
    (void)state;
    page *p = open_slow_page("1e12", "{'do': 'pause'}"); /* seconds of work for a frame */
    page_send(p, "{'do': 'step', 'unit': 'frame'}");
    page_settle(p);
    assert_true(p->polls > 0);
    assert_true(firn_sim_time(sim_of(p)) > 0 && firn_sim_time(sim_of(p)) < 1.0 / 24);
    page_expect(p, "state", "'playing':false");
    close_page(p);

    p = open_slow_page("1e12", "{'do': 'seek', 'frame': 1}");
    page_send(p, "{'do': 'play', 'speed': 0}");
    (void)firn_live_turn(p->live, 0);
    page_send(p, "{'do': 'pause'}");
    page_settle(p);
    assert_true(p->polls > 0);
    assert_true(firn_sim_time(sim_of(p)) == 0);
    assert_null(page_find(p, "error"));
    close_page(p);
}

static void looking_does_not_disturb_a_long_advance(void **state)
{
    (void)state;
    static const char *const looks[] = {"{'do': 'want', 'color': 'speed'}",
                                        "{'do': 'hash', 'token': 7}",
                                        "{'do': 'points', 'token': 7}",
                                        "{'do': 'shown', 'picture': 1}",
                                        "hello",
                                        "nonsense"};
    char hash[2][33];
    for (int i = -1; i < 6; i++) {
        page *p = open_slow_page("1e10", i < 0 ? NULL : looks[i]);
        page_send(p, "{'do': 'step', 'unit': 'frame'}");
        page_settle(p);
        assert_true(fabs(firn_sim_time(sim_of(p)) - 1.0 / 24) < 1e-9);
        page_hash(p, hash[i >= 0]);
        assert_true(p->polls > 0);
        if (i >= 0) assert_string_equal(hash[0], hash[1]);
        close_page(p);
    }
}

static void impatience_ends_a_tick_and_goes_on(void **state)
{
    (void)state;
    firn_live_options o = firn_live_options_default();
    o.patience = 0;
    page *p = new_page(&o);
    page_scene(p, "open", jelly);
    page_send(p, "{'do': 'play', 'speed': 0}");
    (void)firn_live_turn(p->live, 0);
    assert_true(firn_sim_time(sim_of(p)) < 1.0 / 24);
    page_settle(p);
    page_expect(p, "state", "'frame':9");
    page_expect(p, "state", "'kept':[1,9]");
    assert_null(page_find(p, "error"));
    close_page(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_of_frames_have_the_bytes_of_a_run),
        cmocka_unit_test(play_without_a_clock_has_the_bytes_of_a_run),
        cmocka_unit_test(play_ends_at_the_last_frame_in_whole_parts),
        cmocka_unit_test(play_keeps_to_the_clock),
        cmocka_unit_test(a_substep_is_one_step_and_stops_at_frames),
        cmocka_unit_test(substeps_emit_and_delete_as_frames_do),
        cmocka_unit_test(pictures_are_off_by_half_a_step_at_most),
        cmocka_unit_test(every_color_is_shown),
        cmocka_unit_test(tags_come_when_particles_are_others),
        cmocka_unit_test(a_slow_page_gets_two_pictures_and_then_the_newest),
        cmocka_unit_test(everything_changes_at_once_before_time_begins),
        cmocka_unit_test(later_some_changes_act_and_others_wait),
        cmocka_unit_test(a_change_has_the_effect_of_the_host_call),
        cmocka_unit_test(a_wrong_text_leaves_the_scene_as_it_was),
        cmocka_unit_test(restart_begins_with_the_newest_text),
        cmocka_unit_test(a_collider_that_is_moved_is_where_it_was_put),
        cmocka_unit_test(a_collider_that_is_refused_leaves_the_old_one),
        cmocka_unit_test(a_change_forgets_the_frames_after_it),
        cmocka_unit_test(the_same_future_follows_a_kept_frame),
        cmocka_unit_test(the_same_future_follows_where_memory_is_short),
        cmocka_unit_test(a_long_seek_lets_others_through),
        cmocka_unit_test(what_tools_did_to_a_frame_is_kept),
        cmocka_unit_test(grab_and_push_move_material),
        cmocka_unit_test(emit_fills_what_is_free),
        cmocka_unit_test(emit_stops_at_the_most_particles),
        cmocka_unit_test(heat_warms_and_melts),
        cmocka_unit_test(a_probe_follows_its_particle),
        cmocka_unit_test(a_probe_agrees_with_points),
        cmocka_unit_test(points_come_as_columns),
        cmocka_unit_test(a_page_that_comes_back_is_told_everything),
        cmocka_unit_test(a_page_that_comes_back_gets_its_text),
        cmocka_unit_test(meshes_of_colliders_are_sent),
        cmocka_unit_test(sessions_write_no_file),
        cmocka_unit_test(malformed_commands_are_answered_by_errors),
        cmocka_unit_test(random_bytes_do_no_harm),
        cmocka_unit_test(commands_get_through_a_long_advance),
        cmocka_unit_test(looking_does_not_disturb_a_long_advance),
        cmocka_unit_test(impatience_ends_a_tick_and_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
