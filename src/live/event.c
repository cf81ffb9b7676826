/* Writes events: JSON that a page can always read, whatever the texts and numbers are. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "live/live.h"

static void append(void *context, const void *data, size_t size)
{
    firn_live_text *t = context;
    if (t->failed) return;
    if (size + 1 > t->room - t->used) {
        const size_t room = 2 * t->room + size + 1024;
        char *grown = realloc(t->data, room);
        if (!grown) {
            t->failed = true;
            return;
        }
        t->data = grown;
        t->room = room;
    }
    memcpy(t->data + t->used, data, size);
    t->used += size;
    t->data[t->used] = 0;
}

void firn_event_begin(firn_live_event *e, const char *name)
{
    e->text = (firn_live_text){0};
    e->sink = (firn_sink){append, &e->text};
    firn_json_begin(&e->json, &e->sink, false);
    firn_json_put_open(&e->json, '{');
    if (name) firn_event_text(e, "event", name);
}

const char *firn_event_end(firn_live_event *e)
{
    firn_json_put_close(&e->json, '}');
    return e->text.failed ? NULL : e->text.data;
}

void firn_event_free(firn_live_event *e)
{
    free(e->text.data);
    e->text = (firn_live_text){0};
}

/* Bytes of the UTF-8 sequence that text begins with; 0: it is none. */
static size_t sequence(const unsigned char *t)
{
    const size_t n = t[0] < 0x80                   ? 1
                     : t[0] >= 0xc2 && t[0] < 0xe0 ? 2
                     : t[0] >= 0xe0 && t[0] < 0xf0 ? 3
                     : t[0] >= 0xf0 && t[0] < 0xf5 ? 4
                                                   : 0;
    for (size_t i = 1; i < n; i++) {
        if ((t[i] & 0xc0) != 0x80) return 0; /* also at the end */
    }
    if (n == 3 && ((t[0] == 0xe0 && t[1] < 0xa0) || (t[0] == 0xed && t[1] >= 0xa0))) return 0;
    if (n == 4 && ((t[0] == 0xf0 && t[1] < 0x90) || (t[0] == 0xf4 && t[1] >= 0x90))) return 0;
    return n;
}

/* Hands text over as UTF-8: what is none becomes question marks. */
static void put_text(firn_live_event *e, const char *text,
                     void put(firn_json_writer *out, const char *text))
{
    const unsigned char *t = (const unsigned char *)text;
    size_t n = 1;
    while (*t && (n = sequence(t)) > 0) t += n;
    if (!*t) {
        put(&e->json, text);
        return;
    }
    char *mended = strdup(text);
    if (!mended) {
        e->text.failed = true;
        return;
    }
    for (unsigned char *m = (unsigned char *)mended; *m; m += n) {
        n = sequence(m);
        if (n > 0) continue;
        *m = '?';
        n = 1;
    }
    put(&e->json, mended);
    free(mended);
}

static void put_key(firn_live_event *e, const char *key)
{
    if (key) put_text(e, key, firn_json_put_key);
}

void firn_event_open(firn_live_event *e, const char *key, char bracket)
{
    put_key(e, key);
    firn_json_put_open(&e->json, bracket);
}

void firn_event_close(firn_live_event *e, char bracket) { firn_json_put_close(&e->json, bracket); }

void firn_event_text(firn_live_event *e, const char *key, const char *text)
{
    put_key(e, key);
    put_text(e, text, firn_json_put_string);
}

void firn_event_number(firn_live_event *e, const char *key, double value)
{
    const double most = 1e300;
    put_key(e, key);
    firn_json_put_real(&e->json, FIRN_TYPE_f64, isnan(value) ? 0 : fmin(fmax(value, -most), most));
}

void firn_event_whole(firn_live_event *e, const char *key, int64_t value)
{
    put_key(e, key);
    firn_json_put_integer(&e->json, value);
}

void firn_event_flag(firn_live_event *e, const char *key, bool value)
{
    put_key(e, key);
    firn_json_put_bool(&e->json, value);
}

void firn_event_list(firn_live_event *e, const char *key, const double *values, int count)
{
    firn_event_open(e, key, '[');
    for (int i = 0; i < count; i++) firn_event_number(e, NULL, values[i]);
    firn_event_close(e, ']');
}

void firn_event_merge(firn_live_event *e, const char *map)
{
    const size_t n = strlen(map);
    if (n <= 2) return; /* {} */
    if (e->json.before) append(&e->text, &e->json.before, 1);
    append(&e->text, map + 1, n - 2);
    e->json.before = ',';
}
