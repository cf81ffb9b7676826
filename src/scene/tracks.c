/* Values that change in time: {keys: {0: 0.1, 1.5: 0.8}, interpolation: smooth}, or expressions of `time` (s)
 * and `$F`, the frame. The latter are read here into keys close together, so that nothing else knows expressions. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "scene/param.h"

enum { PER_FRAME = 8, MOST_SAMPLES = 1 << 18 };

/* A track that was made, and of what: copies of a thing share those of what they are copies of. */
typedef struct firn_known_track {
    const void *of; /* value, or numbers of another track */
    firn_track track;
    double *numbers; /* owned */
} firn_known_track;

static int32_t components_of(const firn_param *row) { return row->kind == FIRN_VECTOR ? 3 : 1; }

/* ---- memory ---- */

/* Copies are read one after the other. */
static const firn_track *find_track(const firn_context *c, const void *of)
{
    enum { BACK = 32 };
    for (int32_t i = c->known_count - 1; i >= 0 && i >= c->known_count - BACK; i--) {
        if (c->known[i].of == of) return &c->known[i].track;
    }
    return NULL;
}

static firn_status make_track(firn_context *c, const void *of, firn_track *track, double **times,
                              double **values, firn_error *error)
{
    const size_t n = (size_t)c->known_count, each = 1 + (size_t)track->components;
    if ((n & (n - 1)) == 0) { /* full */
        firn_known_track *grown = realloc(c->known, (n ? 2 * n : 1) * sizeof *grown);
        if (!grown) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
        c->known = grown;
    }
    double *numbers = calloc((size_t)track->count * each, sizeof *numbers);
    if (!numbers) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    track->times = *times = numbers;
    track->values = *values = numbers + track->count;
    c->known[c->known_count++] = (firn_known_track){of, *track, numbers};
    return FIRN_OK;
}

firn_status firn_track_scale(firn_context *context, double factor, firn_track *track,
                             firn_error *error)
{
    const firn_track from = *track;
    if (from.count == 0) return FIRN_OK;
    const firn_track *known = find_track(context, from.values);
    double *times, *values;
    if (known) {
        *track = *known;
        return FIRN_OK;
    }
    const firn_status st = make_track(context, from.values, track, &times, &values, error);
    for (int32_t k = 0; k < from.count && st == FIRN_OK; k++) {
        times[k] = from.times[k];
        for (int32_t a = 0; a < from.components; a++) {
            const ptrdiff_t i = (ptrdiff_t)k * from.components + a;
            values[i] = factor * from.values[i];
        }
    }
    return st;
}

void firn_tracks_free(firn_context *context)
{
    for (int32_t i = 0; i < context->known_count; i++) free(context->known[i].numbers);
    free(context->known);
    context->known = NULL;
    context->known_count = 0;
}

/* ---- keys ---- */

static firn_status read_interpolation(const firn_value *map, firn_interpolation *out,
                                      firn_error *error)
{
    static const char *const words[] = {FIRN_INTERPOLATIONS(FIRN_LIST_NAME) NULL};
    const firn_value *v = firn_value_get(map, "interpolation");
    int32_t which = 0;
    const firn_status st = v ? firn_read_choice(v, "interpolation", words, &which, error) : FIRN_OK;
    *out = (firn_interpolation)which;
    return st;
}

static firn_status read_key(const firn_param *row, const firn_value *entry, const double *before,
                            double *time, double *value, firn_error *error)
{
    const firn_value when = firn_value_of_key(entry);
    const int32_t n = components_of(row);
    firn_status st = firn_read_real(&when, "the time of a key", "s", time, error);
    if (st == FIRN_OK) st = firn_read_row(row, entry, value, error);
    if (st != FIRN_OK || !before) return st;
    if (!(*time > *before)) return firn_value_fail(entry, error, "times of keys must rise");
    for (int32_t a = 0; a < n; a++) {
        if (isfinite((value[a] - value[a - n]) / (*time - *before))) continue;
        return firn_value_fail(
            entry, error, "%s changes too fast from the key at %g s; change less or take longer",
            row->name, *before);
    }
    return FIRN_OK;
}

static firn_status read_keys(const firn_param *row, const firn_value *v, firn_track *out,
                             firn_error *error)
{
    static const char *const names[] = {"keys", "interpolation", NULL};
    const firn_value *keys = firn_value_get(v, "keys");
    const int32_t n = components_of(row);
    double *time, *value;
    char near[200];
    for (const firn_value *c = v->child; c; c = c->next) {
        if (strcmp(c->key, names[0]) == 0 || strcmp(c->key, names[1]) == 0) continue;
        return firn_value_fail(c, error, "a keyed value has no parameter \"%.60s\"%s", c->key,
                               firn_nearest(c->key, names, near, sizeof near));
    }
    if (!keys || keys->kind != FIRN_MAP || !keys->child) {
        return firn_value_fail(keys ? keys : v, error,
                               "%s that changes needs keys, as {keys: {0: %s, 1.5: %s}}", row->name,
                               n == 3 ? "[0, 0, 0]" : "0.1", n == 3 ? "[1, 0, 0]" : "0.8");
    }
    *out = (firn_track){.count = firn_value_count(keys), .components = n};
    firn_status st = read_interpolation(v, &out->interpolation, error);
    if (st == FIRN_OK) st = make_track(v->context, v, out, &time, &value, error);
    int32_t i = 0;
    for (const firn_value *c = keys->child; c && st == FIRN_OK; c = c->next, i++) {
        st = read_key(row, c, i ? &time[i - 1] : NULL, &time[i], &value[(ptrdiff_t)i * n], error);
    }
    return st;
}

/* ---- expressions ---- */

static firn_status read_at(const firn_param *row, const firn_value *v, double time, void *to,
                           firn_error *error)
{
    firn_context *c = v->context;
    firn_error own = {0};
    c->can_vary = true;
    c->time = time;
    const firn_status st = firn_read_row(row, v, to, &own);
    c->can_vary = false;
    if (st == FIRN_OK) return st;
    return c->varies ? firn_fail(error, st, "%s (at %g s)", own.message, time)
                     : firn_fail(error, st, "%s", own.message);
}

static firn_status sample(const firn_param *row, const firn_value *v, firn_track *out,
                          firn_error *error)
{
    const firn_context *c = v->context;
    const int32_t n = components_of(row);
    const double count = PER_FRAME * c->frames + 1;
    double *time, *value;
    if (count > MOST_SAMPLES) {
        return firn_value_fail(v, error,
                               "%s: an expression of time is for at most %d frames, not %.0f; use "
                               "keys",
                               row->name, MOST_SAMPLES / PER_FRAME, c->frames);
    }
    *out = (firn_track){.count = (int32_t)count, .components = n};
    firn_status st = make_track(v->context, v, out, &time, &value, error);
    for (int32_t i = 0; i < out->count && st == FIRN_OK; i++) {
        time[i] = i / (PER_FRAME * c->fps);
        st = read_at(row, v, time[i], &value[(ptrdiff_t)i * n], error);
    }
    return st;
}

firn_status firn_read_keyed(const firn_param *row, const firn_value *v, void *to, firn_track *track,
                            firn_error *error)
{
    *track = (firn_track){0};
    if (!v->context) return firn_read_row(row, v, to, error);
    const firn_track *known = find_track(v->context, v);
    firn_status st = FIRN_OK;
    if (known) {
        *track = *known;
    } else if (v->kind == FIRN_MAP) {
        st = read_keys(row, v, track, error);
    } else {
        v->context->varies = false;
        st = read_at(row, v, 0, to, error);
        if (st != FIRN_OK || !v->context->varies) return st;
        v->context->sampled = true;
        st = sample(row, v, track, error);
    }
    if (st == FIRN_OK) firn_track_sample(track, 0, to);
    return st;
}

void firn_section_sample(const firn_section *section, void *data, double time)
{
    const firn_param *row;
    size_t offset;
    for (int i = 0; (row = firn_section_row(section, i, &offset)); i++) {
        char *to = (char *)data + offset;
        const firn_track *track = (const firn_track *)(const void *)(to - row->offset + row->keys);
        if (row->keys && track->count) firn_track_sample(track, time, (double *)(void *)to);
    }
}
