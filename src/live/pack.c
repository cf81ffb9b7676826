/* Binary messages: a header of 64 bytes, then arrays, little end first. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "live/live.h"
#include "live/pack.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "messages are little-endian");

uint8_t *firn_message_make(firn_bytes *out, uint32_t kind, uint32_t number, uint32_t count,
                           size_t bytes, firn_error *error)
{
    const uint32_t head[4] = {0x4e524946, kind, number, count};
    *out = (firn_bytes){calloc(1, FIRN_MESSAGE_HEADER + bytes), FIRN_MESSAGE_HEADER + bytes};
    if (!out->data) {
        *out = (firn_bytes){0};
        firn_fail(error, FIRN_NO_MEMORY, "out of memory for a message of %zu bytes", bytes);
        return NULL;
    }
    memcpy(out->data, head, sizeof head);
    return out->data + FIRN_MESSAGE_HEADER;
}

void firn_message_real(firn_bytes *message, size_t at, float value)
{
    memcpy(message->data + at, &value, sizeof value);
}

void firn_message_whole(firn_bytes *message, size_t at, uint32_t value)
{
    memcpy(message->data + at, &value, sizeof value);
}

/* ---- pictures ---- */

static float finite(float x) { return isfinite(x) ? x : 0; }

enum { STEPS = (1 << 21) - 1 };

/* The corner and the step of the lattice that all positions are on: the corner is one of floats at or below
 * all, and the last step is at or above. */
static void find_lattice(const firn_live_cloud *c, float origin[3], float *step)
{
    float low[3] = {0}, high[3] = {0};
    double extent = 0;
    for (int64_t i = 0; i < c->count; i++) {
        for (int a = 0; a < 3; a++) {
            const float x = finite(c->position[3 * i + a]);
            if (i == 0 || x < low[a]) low[a] = x;
            if (i == 0 || x > high[a]) high[a] = x;
        }
    }
    for (int a = 0; a < 3; a++) {
        origin[a] = low[a];
        extent = fmax(extent, (double)high[a] - (double)low[a]);
    }
    *step = nextafterf((float)fmax(extent / STEPS, 1e-30), INFINITY);
}

static void pack_positions(const firn_live_cloud *c, const float origin[3], float step,
                           uint32_t *to)
{
    const double scale = 1 / (double)step;
    for (int64_t i = 0; i < c->count; i++) {
        uint32_t q[3];
        for (int a = 0; a < 3; a++) {
            const double x = (double)finite(c->position[3 * i + a]) - (double)origin[a];
            const double n = x * scale + 0.5;
            q[a] = n < STEPS ? (uint32_t)n : STEPS;
        }
        to[2 * i] = q[0] | q[1] << 21;
        to[2 * i + 1] = q[1] >> 11 | q[2] << 10;
    }
}

static void pack_colors(const firn_live_cloud *c, float least, float most, uint16_t *to)
{
    const double range = (double)most - (double)least, scale = range > 0 ? UINT16_MAX / range : 0;
    for (int64_t i = 0; i < c->count; i++) {
        const double n = ((double)finite(c->color[i]) - (double)least) * scale + 0.5;
        to[i] = (uint16_t)fmin(fmax(n, 0), UINT16_MAX);
    }
}

static void find_range(const firn_live_cloud *c, float *least, float *most)
{
    *least = c->least;
    *most = c->most;
    if (*least != 0 || *most != 0) return;
    for (int64_t i = 0; i < c->count; i++) {
        const float x = finite(c->color[i]);
        if (i == 0 || x < *least) *least = x;
        if (i == 0 || x > *most) *most = x;
    }
}

firn_status firn_live_pack_picture(const firn_live_cloud *c, uint32_t number, firn_bytes *out,
                                   firn_error *error)
{
    FIRN_REQUIRE(out, error);
    *out = (firn_bytes){0};
    FIRN_REQUIRE(c, error);
    if (c->count < 0 || c->count > UINT32_MAX / 32 || (c->count && !c->position)) {
        return firn_fail(error, FIRN_INVALID, "a picture cannot have %lld particles",
                         (long long)c->count);
    }
    const size_t n = (size_t)c->count, colors = c->color ? (2 * n + 3) / 4 * 4 : 0;
    const size_t bytes = 8 * n + colors + (c->velocity ? 12 * n : 0);
    float origin[3], step, least = 0, most = 0;
    uint8_t *to = firn_message_make(out, FIRN_MESSAGE_PICTURE, number, (uint32_t)n, bytes, error);
    if (!to) return FIRN_NO_MEMORY;
    find_lattice(c, origin, &step);
    if (c->color) find_range(c, &least, &most);
    memcpy(out->data + 16, &c->time, sizeof c->time);
    memcpy(out->data + 24, origin, sizeof origin);
    firn_message_real(out, 36, step);
    firn_message_whole(out, 40, (uint32_t)c->dimension);
    firn_message_whole(out, 44, (c->color ? 1u : 0u) | (c->velocity ? 2u : 0u));
    firn_message_real(out, 48, least);
    firn_message_real(out, 52, most);
    pack_positions(c, origin, step, (uint32_t *)(void *)to);
    if (c->color) pack_colors(c, least, most, (uint16_t *)(void *)(to + 8 * n));
    float *velocity = (float *)(void *)(to + 8 * n + colors);
    for (size_t i = 0; c->velocity && i < 3 * n; i++) velocity[i] = finite(c->velocity[i]);
    return FIRN_OK;
}

/* The low bits of a number that counts something; files may have others. */
static uint32_t whole(double x) { return x >= 0 && x < 0x1p53 ? (uint32_t)(uint64_t)x : 0; }

firn_status firn_live_pack_tags(int64_t count, const double *object, const double *material,
                                const double *id, uint32_t number, firn_bytes *out,
                                firn_error *error)
{
    FIRN_REQUIRE(out, error);
    *out = (firn_bytes){0};
    if (count < 0 || count > UINT32_MAX / 32) {
        return firn_fail(error, FIRN_INVALID, "there cannot be tags of %lld particles",
                         (long long)count);
    }
    const size_t n = (size_t)count;
    uint8_t *data = firn_message_make(out, FIRN_MESSAGE_TAGS, number, (uint32_t)n, 8 * n, error);
    if (!data) return FIRN_NO_MEMORY;
    uint32_t *to = (uint32_t *)(void *)data;
    for (size_t i = 0; i < n; i++) {
        const uint32_t o = object ? whole(object[i]) : 0, m = material ? whole(material[i]) : 0;
        to[i] = o << 16 | (m & 0xffff);
        to[n + i] = id ? whole(id[i]) : (uint32_t)i;
    }
    return FIRN_OK;
}

/* ---- points ---- */

static size_t padded(size_t bytes) { return (bytes + 7) / 8 * 8; }

/* What a column of text means: its words. */
static void put_words(firn_live_event *e, const firn_column *c)
{
    const char *word = c->words;
    firn_event_open(e, "words", '[');
    for (int32_t i = 0; i < c->word_count; i++, word += strlen(word) + 1) {
        firn_event_text(e, NULL, word);
    }
    firn_event_close(e, ']');
}

firn_status firn_live_pack_points(const firn_points *points, uint32_t token, firn_bytes *out,
                                  firn_error *error)
{
    FIRN_REQUIRE(out, error);
    *out = (firn_bytes){0};
    FIRN_REQUIRE(points, error);
    firn_live_event e;
    double bytes = 0;
    firn_event_begin(&e, NULL);
    firn_event_whole(&e, "count", points->count);
    firn_event_open(&e, "columns", '[');
    for (int32_t i = 0; i < points->column_count; i++) {
        const firn_column *c = &points->column[i];
        firn_event_open(&e, NULL, '{');
        firn_event_text(&e, "name", c->name);
        firn_event_text(&e, "type", "f32");
        firn_event_whole(&e, "components", c->components);
        if (c->words) put_words(&e, c);
        firn_event_close(&e, '}');
        bytes += 4.0 * (double)points->count * c->components + 8;
    }
    firn_event_close(&e, ']');
    const char *text = firn_event_end(&e);
    const size_t length = e.text.used;
    uint8_t *to = NULL;
    if (!text || bytes + (double)length > 0x7fffffff) {
        firn_fail(error, FIRN_NO_MEMORY,
                  "%lld particles with all of that do not fit into a message",
                  (long long)points->count);
    } else {
        size_t size = padded(length);
        for (int32_t i = 0; i < points->column_count; i++) {
            size += padded(4 * (size_t)points->count * (size_t)points->column[i].components);
        }
        to = firn_message_make(out, FIRN_MESSAGE_POINTS, token, (uint32_t)length, size, error);
    }
    if (to) memcpy(to, text, length);
    size_t at = padded(length); /* the header is a multiple of 8 */
    for (int32_t i = 0; to && i < points->column_count; i++) {
        const firn_column *c = &points->column[i];
        const int64_t n = points->count * c->components;
        float *values = (float *)(void *)(to + at);
        for (int64_t k = 0; k < n; k++) values[k] = (float)firn_type_get(c->type, c->data, k);
        at += padded(4 * (size_t)n);
    }
    firn_event_free(&e);
    return to ? FIRN_OK : FIRN_NO_MEMORY;
}
