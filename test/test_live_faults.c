/* A live session where memory runs out: every n-th allocation fails once, at every place that a script of
 * commands comes through. The session says so or sends less; it neither crashes nor leaks, and the next
 * commands work. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <firn/live.h>

/* ---- an allocator that fails ---- */

static int64_t countdown = -1; /* allocations until one fails; below 0: none does */
static bool failed;

static bool fails(void)
{
    if (countdown < 0 || countdown-- > 0) return false;
    failed = true;
    return true;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
char *__wrap_strdup(const char *text);
void *__wrap_malloc(size_t size) { return fails() ? NULL : __real_malloc(size); }
void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_calloc(count, size);
}
void *__wrap_realloc(void *block, size_t size)
{
    return fails() ? NULL : __real_realloc(block, size);
}
void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return fails() ? NULL : __real_aligned_alloc(alignment, size);
}
char *__wrap_strdup(const char *text) { return fails() ? NULL : __real_strdup(text); }

/* ---- the script ---- */

static void take_event(void *user_data, const char *text, size_t size)
{
    (void)user_data;
    assert_true(text[0] == '{' && text[size - 1] == '}');
}

static void take_message(void *user_data, const void *data, size_t size)
{
    assert_true(size >= 64);
    uint32_t head[4];
    memcpy(head, data, sizeof head);
    if (head[1] == 1) *(uint32_t *)user_data = head[2];
}

/* clang-format off */
#define SCENE(young, radius, x)                                                                    \
    "{firn: 1, dimension: 2, resolution: 0.2, frames: {end: 4}, heat: {}, materials: {a: {preset: " \
    "ice, young: " young "}}, objects: [{name: o, shape: {disc: {center: [0, 0.6], radius: "        \
    radius "}}}], colliders: [{shape: {plane: {}}}, {shape: {disc: {radius: 0.1}}, translate: ["    \
    x ", 0, 0]}]}"
static const char *const script[] = {
    "{\"do\": \"open\", \"text\": \"" SCENE("1e5", "0.4", "1") "\"}",
    "{\"do\": \"want\", \"color\": \"shear\", \"velocity\": true, \"grid\": true, \"totals\": true}",
    "{\"do\": \"probe\", \"id\": 2}",
    "{\"do\": \"edit\", \"text\": \"" SCENE("1e5", "0.5", "1") "\"}",
    "{\"do\": \"step\", \"unit\": \"frame\"}",
    "{\"do\": \"edit\", \"text\": \"" SCENE("2e5", "0.4", "2") "\"}",
    "{\"do\": \"tool\", \"tool\": \"emit\", \"at\": [-1, 1, 0], \"radius\": 0.3, \"material\": \"a\"}",
    "{\"do\": \"tool\", \"tool\": \"heat\", \"at\": [0, 0.5, 0], \"radius\": 0.3, \"strength\": 10}",
    "{\"do\": \"tool\", \"tool\": \"cut\", \"at\": [0, 0.5, 0], \"radius\": 0.2}",
    "{\"do\": \"step\", \"unit\": \"substep\"}",
    "{\"do\": \"want\", \"color\": \"speed\"}",
    "{\"do\": \"seek\", \"frame\": 1}",
    "{\"do\": \"points\", \"token\": 1, \"attributes\": [\"P\", \"Jp\"]}",
    "{\"do\": \"hash\", \"token\": 2}",
    "{\"do\": \"restart\"}",
};
/* clang-format on */
enum { COMMANDS = sizeof script / sizeof *script };

/* With the allocation that fails after `n` others; whether one did. */
static bool play(int64_t n)
{
    uint32_t picture = 0;
    firn_live *live = NULL;
    firn_live_options o = firn_live_options_default();
    o.threads = 1;
    o.user_data = &picture;
    o.send = take_event;
    o.send_bytes = take_message;
    failed = false;
    countdown = n;
    firn_status st = firn_live_create(&o, &live, NULL);
    if (st != FIRN_OK) st = firn_live_create(&o, &live, NULL);
    assert_int_equal(st, FIRN_OK);
    firn_live_hello(live, "text", "file");
    for (int i = 0; i < COMMANDS; i++) {
        char shown[64];
        const int size =
            snprintf(shown, sizeof shown, "{\"do\":\"shown\",\"picture\":%u}", picture);
        (void)firn_live_receive(live, script[i], strlen(script[i]), NULL);
        (void)firn_live_turn(live, 0);
        (void)firn_live_receive(live, shown, (size_t)size, NULL);
        (void)firn_live_turn(live, 0);
    }
    countdown = -1;
    /* All is well again. */
    assert_int_equal(firn_live_receive(live, script[0], strlen(script[0]), NULL), FIRN_OK);
    assert_int_equal(firn_live_receive(live, script[4], strlen(script[4]), NULL), FIRN_OK);
    (void)firn_live_turn(live, 0);
    assert_true(fabs(firn_sim_time(firn_job_sim(firn_live_job(live))) - 1.0 / 24) < 1e-9);
    firn_live_destroy(live);
    return failed;
}

static void sessions_survive_a_lack_of_memory(void **state)
{
    (void)state;
    const char *all = getenv("FIRN_EVERY_FAULT");
    int64_t n = 0, step = 1;
    while (play(n)) n += all ? 1 : step++ % 50 + 1;
    print_message("%lld allocations\n", (long long)n);
    assert_true(n > 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sessions_survive_a_lack_of_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
