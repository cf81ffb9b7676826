/* Live sessions: pictures are right, questions are answered, and nothing that a page sends does harm. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "live.h"

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
    assert_null(strstr(page_expect(p, "hello", "'open':true"), "\"newest\""));
    page_scene(p, "edit", replaced(jelly, "name: jelly", "name: other"));
    firn_live_hello(p->live, jelly, NULL);
    page_expect(p, "hello", "name: jelly"); /* `text` */
    page_expect(p, "hello", "name: other");
    page_expect(p, "hello", "'open':true,'newest':'firn: 1");
    page_scene(p, "edit", "firn: 1\nnonsense: 7\n");
    firn_live_hello(p->live, jelly, NULL);
    page_expect(p, "hello", "nonsense: 7");
    page_expect(p, "hello", "'open':true,'newest':'firn: 1");
    page_expect(p, "scene", "'name':'other'");
    close_page(p);
}

/* Copies name the entry that they are made of, and expressions come with their numbers. */
static void scene_leads_back_to_its_text(void **state)
{
    (void)state;
    static const char text[] =
        "firn: 1\nresolution: 5 cm\nvariables: {w: 0.2}\nmaterials: {soft: {preset: "
        "jelly}}\ngroups:\n  - {name: g, scale: 2}\n"
        "objects:\n  - {name: a, shape: {sphere: {radius: $w / 2}}, translate: [2, 0, 0]}\n"
        "  - {name: b, shape: {box: {size: [0.2, 0.2, 0.2]}}, instances: {grid: {count: [2, 1, 1], "
        "spacing: [0.5, 0, 0]}}}\n"
        "colliders:\n  - {name: p, shape: {plane: {}}}\n"
        "  - {name: q, group: g, shape: {box: {}}, rotate: [0, 0, 90 deg], "
        "instances: {list: [{scale: 3}, {translate: [0, 1, 0]}]}, "
        "keys: {0: {}, 500 ms: {at: [0, 1, 0]}}}\n";
    page *p = new_page(NULL);
    if (page_scene(p, "open", text) != FIRN_OK) fail_msg("%s", page_find(p, "error"));
    page_expect(p, "scene", "'name':'a','material':");
    page_expect(p, "scene", "'entry':0},{'name':'b[0]'");
    page_expect(p, "scene", "'entry':1},{'name':'b[1]'");
    page_expect(p, "scene", "'entry':1}],'colliders':");
    page_expect(p, "scene", "'entry':0},{'name':'q[0]'");
    page_expect(p, "scene", "'entry':1,'scale':6},{'name':'q[1]'");
    page_expect(p, "scene", "'entry':1,'scale':2}],'numbers':{'5 cm':0.05,'$w / 2':0.1,");
    page_expect(p, "scene", "'90 deg':90,'500 ms':0.5}");
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

/* A ball without a box at its side, and a copy of it: the mesh is closed, on the surface, and faces outwards. */
static void shapes_of_several_parts_come_as_meshes(void **state)
{
    (void)state;
    static const char text[] =
        "firn: 1\nresolution: 0.1\nmaterials: {soft: {preset: jelly}}\n"
        "objects: [{name: a, shape: {sphere: {center: [0, 3, 0], radius: 0.3}}}]\n"
        "colliders:\n  - name: bitten\n    shape: {difference: [{sphere: {radius: 0.5}}, "
        "{box: {center: [0.5, 0, 0], size: [0.6, 2, 2]}}]}\n"
        "    instances: {list: [{}, {translate: [2, 0, 0]}]}\n";
    page *p = new_page(NULL);
    if (page_scene(p, "open", text) != FIRN_OK) fail_msg("%s", page_find(p, "error"));
    page_expect(p, "scene", "'name':'bitten[1]','shape':'compound','visible':true,'mesh':true");
    assert_int_equal(page_count_messages(p, 5), 2);
    const firn_bytes *m = page_find_message(p, 5);
    assert_int_equal(page_word(m, 8), 1);
    const size_t vertices = page_word(m, 16), triangles = page_word(m, 20);
    const float *v = (const float *)(const void *)((const char *)m->data + 64);
    double volume = 0;
    for (size_t i = 0; i < vertices; i++, v += 3) {
        const double ball = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) - 0.5;
        assert_true(fabs(fmax(ball, v[0] - 0.2)) < 0.005);
    }
    v = (const float *)(const void *)((const char *)m->data + 64);
    for (size_t i = 0; i < triangles; i++) {
        const float *c[3];
        for (size_t k = 0; k < 3; k++) {
            const uint32_t corner = page_word(m, 64 + 12 * vertices + 12 * i + 4 * k);
            assert_true(corner < vertices);
            c[k] = v + 3 * (size_t)corner;
        }
        for (int a = 0; a < 3; a++) {
            const int b = (a + 1) % 3, d = (a + 2) % 3;
            volume += c[0][a] * (c[1][b] * c[2][d] - c[1][d] * c[2][b]) / 6;
        }
    }
    const double pi = 3.14159265358979, cap = pi * 0.3 * 0.3 * (3 * 0.5 - 0.3) / 3;
    const double expected = 4 * pi * 0.5 * 0.5 * 0.5 / 3 - cap;
    if (fabs(volume / expected - 1) > 0.01) fail_msg("%g m3 are not %g", volume, expected);
    page_scene(p, "edit", replaced(text, "radius: 0.3", "radius: 0.2")); /* no collider's */
    assert_int_equal(page_count_messages(p, 5), 2);
    page_scene(p, "edit", replaced(text, "radius: 0.5", "radius: 0.6"));
    assert_int_equal(page_count_messages(p, 5), 4);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pictures_are_off_by_half_a_step_at_most),
        cmocka_unit_test(every_color_is_shown),
        cmocka_unit_test(tags_come_when_particles_are_others),
        cmocka_unit_test(a_slow_page_gets_two_pictures_and_then_the_newest),
        cmocka_unit_test(a_probe_follows_its_particle),
        cmocka_unit_test(a_probe_agrees_with_points),
        cmocka_unit_test(points_come_as_columns),
        cmocka_unit_test(a_page_that_comes_back_is_told_everything),
        cmocka_unit_test(a_page_that_comes_back_gets_its_text),
        cmocka_unit_test(scene_leads_back_to_its_text),
        cmocka_unit_test(meshes_of_colliders_are_sent),
        cmocka_unit_test(shapes_of_several_parts_come_as_meshes),
        cmocka_unit_test(sessions_write_no_file),
        cmocka_unit_test(malformed_commands_are_answered_by_errors),
        cmocka_unit_test(random_bytes_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
