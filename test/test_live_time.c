/* Time in live sessions: frames have the bytes of a run, going back leads to the same future, and commands get
 * through long advances. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "live.h"

/* ---- time ---- */

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
    /* Frames of the second scene are shorter than the longest step, and longer than its own. */
    const struct {
        const char *from, *to;
        double fps;
    } rows[] = {{"frames: {end: 9}", "frames: {end: 9}", 24},
                {"frames: {end: 9}", "frames: {end: 9, fps: 240}", 240}};
    for (int i = 0; i < 2; i++) {
        page *p = open_page(replaced(replaced(jelly, rows[i].from, rows[i].to), "preset: jelly}",
                                     i == 0 ? "preset: jelly}" : "preset: jelly, young: 1e7}"));
        double time = 0;
        int count = 0;
        for (; page_number(p, "frame", "frame") < 2; count++) {
            page_forget(p);
            page_send(p, "{'do': 'step', 'unit': 'substep'}");
            page_settle(p);
            assert_int_equal(page_number(p, "frame", "steps"), 1);
            assert_true(firn_sim_time(sim_of(p)) > time && count < 10000);
            time = firn_sim_time(sim_of(p));
        }
        assert_true(count > 1);
        assert_true(fabs(time - 1 / rows[i].fps) < 1e-9);
        close_page(p);
    }
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
        cmocka_unit_test(the_same_future_follows_a_kept_frame),
        cmocka_unit_test(the_same_future_follows_where_memory_is_short),
        cmocka_unit_test(a_long_seek_lets_others_through),
        cmocka_unit_test(what_tools_did_to_a_frame_is_kept),
        cmocka_unit_test(commands_get_through_a_long_advance),
        cmocka_unit_test(looking_does_not_disturb_a_long_advance),
        cmocka_unit_test(impatience_ends_a_tick_and_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
