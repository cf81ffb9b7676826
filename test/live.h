/* A page that a test drives: sends commands to a live session and keeps what comes back. */
#ifndef FIRN_TEST_LIVE_H
#define FIRN_TEST_LIVE_H

#include <firn/live.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/json.h"

typedef struct page {
    firn_live *live;
    char *event[4096]; /* since the last forget */
    int events;
    firn_bytes message[4096];
    int messages;
    uint32_t picture; /* the last that came */
    bool lazy;        /* does not say `shown` */
    int polls;
    const char *on_poll; /* a command to send at the first poll; "hello": another page comes */
} page;

static inline void page_event(void *user_data, const char *text, size_t size)
{
    page *p = user_data;
    firn_json in;
    firn_error error = {0};
    const firn_bytes bytes = {(uint8_t *)text, size};
    firn_json_open(&in, &bytes, &error);
    firn_json_skip(&in);
    if (in.status != FIRN_OK || in.at != size)
        fail_msg("not JSON: %s: %.200s", error.message, text);
    firn_json_close(&in);
    assert_true(p->events < 4096);
    p->event[p->events++] = strndup(text, size);
}

static inline uint32_t page_word(const firn_bytes *m, size_t at)
{
    uint32_t word;
    assert_true(at + 4 <= m->size);
    memcpy(&word, m->data + at, sizeof word);
    return word;
}

static inline float page_real(const firn_bytes *m, size_t at)
{
    float value;
    assert_true(at + 4 <= m->size);
    memcpy(&value, m->data + at, sizeof value);
    return value;
}

static inline void page_message(void *user_data, const void *data, size_t size)
{
    page *p = user_data;
    assert_true(size >= 64 && p->messages < 4096);
    firn_bytes *m = &p->message[p->messages++];
    *m = (firn_bytes){malloc(size), size};
    memcpy(m->data, data, size);
    assert_int_equal(page_word(m, 0), 0x4e524946);
    if (page_word(m, 4) == 1) p->picture = page_word(m, 8);
}

static inline void page_forget(page *p)
{
    while (p->events > 0) free(p->event[--p->events]);
    while (p->messages > 0) firn_bytes_free(&p->message[--p->messages]);
}

static inline firn_status page_send(page *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static inline firn_status page_send(page *p, const char *format, ...)
{
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    const int size = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    for (char *c = text; *c; c++) *c = *c == '\'' ? '"' : *c; /* easier to write */
    char *exact = malloc((size_t)size); /* so that reading past its end shows */
    memcpy(exact, text, (size_t)size);
    const firn_status st = firn_live_receive(p->live, exact, (size_t)size, NULL);
    free(exact);
    return st;
}

/* open or edit */
static inline firn_status page_scene(page *p, const char *what, const char *scene)
{
    char *text = malloc(2 * strlen(scene) + 64), *to = text;
    to += sprintf(to, "{\"text\": \"");
    for (const char *c = scene; *c; c++) {
        if (*c == '\n') {
            *to++ = '\\';
            *to++ = 'n';
        } else {
            if (*c == '"' || *c == '\\') *to++ = '\\';
            *to++ = *c;
        }
    }
    to += sprintf(to, "\", \"do\": \"%s\"}", what);
    const firn_status st = firn_live_receive(p->live, text, (size_t)(to - text), NULL);
    free(text);
    return st;
}

/* Turns until nothing is left to do, as a quick page sees it. */
static inline void page_settle(page *p)
{
    for (int i = 0; i < 100000; i++) {
        const uint32_t before = p->picture;
        const double wait = firn_live_turn(p->live, 0);
        if (p->picture != before && !p->lazy)
            page_send(p, "{'do': 'shown', 'picture': %u}", p->picture);
        if (isinf(wait) && p->picture == before) return;
    }
    fail_msg("a session that never settles");
}

/* The last event of a kind, or NULL. */
static inline const char *page_find(const page *p, const char *kind)
{
    char begin[64];
    snprintf(begin, sizeof begin, "{\"event\":\"%s\"", kind);
    for (int i = p->events - 1; i >= 0; i--) {
        if (strncmp(p->event[i], begin, strlen(begin)) == 0) return p->event[i];
    }
    return NULL;
}

static inline void page_poll(void *user_data)
{
    page *p = user_data;
    if (p->polls++ > 0 || !p->on_poll) return;
    if (strcmp(p->on_poll, "hello") != 0) {
        page_send(p, "%s", p->on_poll);
        return;
    }
    page_forget(p);
    firn_live_hello(p->live, NULL, NULL);
    assert_non_null(page_find(p, "hello"));
    assert_non_null(page_find(p, "scene"));
    assert_non_null(page_find(p, "state"));
    assert_null(page_find(p, "frame"));
}

static inline const char *page_expect(const page *p, const char *kind, const char *words)
{
    char text[1024];
    snprintf(text, sizeof text, "%s", words);
    for (char *c = text; *c; c++) *c = *c == '\'' ? '"' : *c;
    const char *event = page_find(p, kind);
    if (!event) fail_msg("no event %s", kind);
    if (!strstr(event, text)) fail_msg("%s is not in %s", text, event);
    return event;
}

static inline double page_number(const page *p, const char *kind, const char *key)
{
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const char *event = page_find(p, kind), *at = event ? strstr(event, quoted) : NULL;
    if (!at) fail_msg("no %s in event %s: %s", key, kind, event ? event : "none");
    return strtod(at + strlen(quoted), NULL);
}

/* The last message of a kind, or NULL. */
static inline const firn_bytes *page_find_message(const page *p, uint32_t kind)
{
    for (int i = p->messages - 1; i >= 0; i--) {
        if (page_word(&p->message[i], 4) == kind) return &p->message[i];
    }
    return NULL;
}

static inline int page_count_messages(const page *p, uint32_t kind)
{
    int count = 0;
    for (int i = 0; i < p->messages; i++) count += page_word(&p->message[i], 4) == kind;
    return count;
}

static inline void page_hash(page *p, char out[33])
{
    page_send(p, "{'do': 'hash', 'token': 7}");
    const char *event = page_expect(p, "hash", "'token':7"), *at = strstr(event, "\"hash\":\"");
    assert_non_null(at);
    snprintf(out, 33, "%.32s", at + 8);
}

/* ---- sessions of small scenes ---- */

/* clang-format off */
__attribute__((unused)) static const char jelly[] =
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

__attribute__((unused)) static const char melt[] =
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

__attribute__((unused)) static const char hose[] =
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
static inline const char *replaced(const char *text, const char *from, const char *to)
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

static inline page *new_page(const firn_live_options *base)
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

static inline page *open_page(const char *scene)
{
    page *p = new_page(NULL);
    if (page_scene(p, "open", scene) != FIRN_OK) fail_msg("%s", page_find(p, "error"));
    page_settle(p);
    return p;
}

static inline void close_page(page *p)
{
    page_forget(p);
    firn_live_destroy(p->live);
    free(p);
}

static inline firn_sim *sim_of(const page *p) { return firn_job_sim(firn_live_job(p->live)); }

/* What `firn run` prints with --hash. */
typedef struct run_hashes {
    char hash[64][33];
    int count;
} run_hashes;

static inline void run_frame(void *user_data, const firn_run_frame *f)
{
    run_hashes *r = user_data;
    snprintf(r->hash[r->count++], 33, "%016llx%016llx", (unsigned long long)f->hash.word[0],
             (unsigned long long)f->hash.word[1]);
}

static inline run_hashes run_scene(const char *text)
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

#endif
