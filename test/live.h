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

static void page_event(void *user_data, const char *text, size_t size)
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

static uint32_t page_word(const firn_bytes *m, size_t at)
{
    uint32_t word;
    assert_true(at + 4 <= m->size);
    memcpy(&word, m->data + at, sizeof word);
    return word;
}

static float page_real(const firn_bytes *m, size_t at)
{
    float value;
    assert_true(at + 4 <= m->size);
    memcpy(&value, m->data + at, sizeof value);
    return value;
}

static void page_message(void *user_data, const void *data, size_t size)
{
    page *p = user_data;
    assert_true(size >= 64 && p->messages < 4096);
    firn_bytes *m = &p->message[p->messages++];
    *m = (firn_bytes){malloc(size), size};
    memcpy(m->data, data, size);
    assert_int_equal(page_word(m, 0), 0x4e524946);
    if (page_word(m, 4) == 1) p->picture = page_word(m, 8);
}

static void page_forget(page *p)
{
    while (p->events > 0) free(p->event[--p->events]);
    while (p->messages > 0) firn_bytes_free(&p->message[--p->messages]);
}

static firn_status page_send(page *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static firn_status page_send(page *p, const char *format, ...)
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
static firn_status page_scene(page *p, const char *what, const char *scene)
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
static void page_settle(page *p)
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
static const char *page_find(const page *p, const char *kind)
{
    char begin[64];
    snprintf(begin, sizeof begin, "{\"event\":\"%s\"", kind);
    for (int i = p->events - 1; i >= 0; i--) {
        if (strncmp(p->event[i], begin, strlen(begin)) == 0) return p->event[i];
    }
    return NULL;
}

static void page_poll(void *user_data)
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

static const char *page_expect(const page *p, const char *kind, const char *words)
{
    char text[1024];
    snprintf(text, sizeof text, "%s", words);
    for (char *c = text; *c; c++) *c = *c == '\'' ? '"' : *c;
    const char *event = page_find(p, kind);
    if (!event) fail_msg("no event %s", kind);
    if (!strstr(event, text)) fail_msg("%s is not in %s", text, event);
    return event;
}

static double page_number(const page *p, const char *kind, const char *key)
{
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const char *event = page_find(p, kind), *at = event ? strstr(event, quoted) : NULL;
    if (!at) fail_msg("no %s in event %s: %s", key, kind, event ? event : "none");
    return strtod(at + strlen(quoted), NULL);
}

/* The last message of a kind, or NULL. */
static const firn_bytes *page_find_message(const page *p, uint32_t kind)
{
    for (int i = p->messages - 1; i >= 0; i--) {
        if (page_word(&p->message[i], 4) == kind) return &p->message[i];
    }
    return NULL;
}

static int page_count_messages(const page *p, uint32_t kind)
{
    int count = 0;
    for (int i = 0; i < p->messages; i++) count += page_word(&p->message[i], 4) == kind;
    return count;
}

static void page_hash(page *p, char out[33])
{
    page_send(p, "{'do': 'hash', 'token': 7}");
    const char *event = page_expect(p, "hash", "'token':7"), *at = strstr(event, "\"hash\":\"");
    assert_non_null(at);
    snprintf(out, 33, "%.32s", at + 8);
}

#endif
