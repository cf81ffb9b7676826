/* Defaults, ranges and checks of a def by its table of parameters. */
#include "base/param.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

static int32_t count_numbers(const firn_param *p) { return p->kind == FIRN_VECTOR ? 3 : 1; }

/* The index-th number of a parameter in its def. */
static double read_number(const firn_param *p, const void *def, int32_t index)
{
    const char *from = (const char *)def + p->offset;
    double real = 0;
    int64_t whole = 0;
    int32_t choice = 0;
    switch (p->kind) {
    case FIRN_WHOLE: memcpy(&whole, from, sizeof whole); return (double)whole;
    case FIRN_CHOICE: memcpy(&choice, from, sizeof choice); return choice;
    default: memcpy(&real, from + (size_t)index * sizeof real, sizeof real); return real;
    }
}

static void write_number(const firn_param *p, void *def, int32_t index, double number)
{
    char *to = (char *)def + p->offset;
    const int64_t whole = (int64_t)(isfinite(number) ? number : 0);
    const int32_t choice = (int32_t)whole;
    switch (p->kind) {
    case FIRN_WHOLE: memcpy(to, &whole, sizeof whole); return;
    case FIRN_CHOICE: memcpy(to, &choice, sizeof choice); return;
    default: memcpy(to + (size_t)index * sizeof number, &number, sizeof number);
    }
}

void firn_params_default(firn_param_table *table, void *def)
{
    for (int32_t i = 0; table(i); i++) {
        const firn_param *p = table(i);
        for (int32_t a = 0; a < count_numbers(p); a++) write_number(p, def, a, p->value[a]);
    }
}

const char *firn_param_range(const firn_param *p, char *text, size_t size)
{
    const bool open = p->most >= FIRN_FINITE;
    if (p->kind == FIRN_CHOICE) {
        size_t used = (size_t)snprintf(text, size, "one of");
        for (int32_t i = 0; p->choices[i] && used < size; i++) {
            used +=
                (size_t)snprintf(text + used, size - used, "%s %s", i ? "," : "", p->choices[i]);
        }
    } else if (p->least == 0 && p->most == 0) {
        snprintf(text, size, "finite");
    } else if (p->least == p->most) {
        snprintf(text, size, "%g", p->least);
    } else if (open && p->least > 0 && p->least < 1e-9) {
        snprintf(text, size, "above 0");
    } else if (open) {
        snprintf(text, size, "at least %g", p->least);
    } else {
        snprintf(text, size, "from %g to %g", p->least, p->most);
    }
    return text;
}

static bool in_range(const firn_param *p, double number, double fallback)
{
    if (number == fallback) return true; /* also one that stands for none */
    if (p->kind == FIRN_CHOICE) {
        int32_t count = 0;
        while (p->choices[count]) count++;
        return number >= 0 && number < count;
    }
    if (p->least == 0 && p->most == 0) return isfinite(number);
    return number >= p->least && number <= p->most; /* false for NaN */
}

firn_status firn_param_check(const firn_param *p, const void *def, const char *where,
                             firn_error *error)
{
    for (int32_t a = 0; a < count_numbers(p); a++) {
        const double number = read_number(p, def, a);
        if (in_range(p, number, p->value[a])) continue;
        char range[200], index[8] = "";
        if (p->kind == FIRN_VECTOR) snprintf(index, sizeof index, "[%d]", (int)a);
        return firn_fail_field(error, FIRN_INVALID, "%s%s%s%s %.9g%s%s must be %s; %s", where,
                               where[0] ? "." : "", p->name, index, number, p->unit[0] ? " " : "",
                               p->unit, firn_param_range(p, range, sizeof range), p->cure);
    }
    return FIRN_OK;
}

static const firn_track *track_in(const firn_param *p, const void *def)
{
    return p->keys ? (const firn_track *)(const void *)((const char *)def + p->keys) : NULL;
}

firn_status firn_params_check(firn_param_table *table, const void *def, const char *where,
                              firn_error *error)
{
    firn_status st = FIRN_OK;
    for (int32_t i = 0; table(i) && st == FIRN_OK; i++) {
        const firn_param *p = table(i);
        const firn_track *track = track_in(p, def);
        char name[120];
        st = firn_param_check(p, def, where, error);
        if (st != FIRN_OK || !track) continue;
        snprintf(name, sizeof name, "%s%s%s_keys", where, where[0] ? "." : "", p->name);
        st = firn_track_check(p, track, name, error);
    }
    return st;
}

/* ---- tracks of a def ---- */

/* Of key k: its time and its numbers. */
static firn_status check_key(const firn_param *p, const firn_track *t, int32_t k, const char *name,
                             firn_error *error)
{
    const double time = t->times[k], *value = t->values + (ptrdiff_t)k * t->components;
    if (!isfinite(time) || (k > 0 && !(time > t->times[k - 1]))) {
        return firn_fail_field(error, FIRN_INVALID,
                               "%s.times[%d] %g must be finite and above the one before; sort the "
                               "keys and drop repeated times",
                               name, (int)k, time);
    }
    for (int32_t a = 0; a < t->components; a++) {
        char range[200];
        if (!in_range(p, value[a], NAN)) {
            return firn_fail_field(error, FIRN_INVALID, "%s.values[%d] %.9g%s%s must be %s; %s",
                                   name, (int)(k * t->components + a), value[a],
                                   p->unit[0] ? " " : "", p->unit,
                                   firn_param_range(p, range, sizeof range), p->cure);
        }
        if (k == 0 || isfinite((value[a] - value[a - t->components]) / (time - t->times[k - 1])))
            continue;
        return firn_fail_field(error, FIRN_INVALID,
                               "%s.times[%d] %g is too close to the one before; take longer", name,
                               (int)k, time);
    }
    return FIRN_OK;
}

firn_status firn_track_check(const firn_param *p, const firn_track *t, const char *name,
                             firn_error *error)
{
    firn_status st = FIRN_OK;
    if (t->count == 0) return st;
    if (t->count < 0 || !t->times || !t->values) {
        return firn_fail_field(error, FIRN_INVALID,
                               "%s.times or values is NULL, or count %d below 0; give count of "
                               "each, or set it to 0",
                               name, (int)t->count);
    }
    if (t->components != count_numbers(p)) {
        return firn_fail_field(error, FIRN_INVALID, "%s.components %d must be %d", name,
                               (int)t->components, (int)count_numbers(p));
    }
    if ((uint32_t)t->interpolation >= FIRN_INTERPOLATION_COUNT) {
        return firn_fail_field(error, FIRN_INVALID, "%s.interpolation %d: use a firn_interpolation",
                               name, (int)t->interpolation);
    }
    for (int32_t k = 0; k < t->count && st == FIRN_OK; k++) st = check_key(p, t, k, name, error);
    return st;
}

void firn_params_sample(firn_param_table *table, void *def, double time)
{
    for (int32_t i = 0; table(i); i++) {
        const firn_track *track = track_in(table(i), def);
        double number[FIRN_TRACK_COMPONENTS];
        if (!track || track->count == 0) continue;
        firn_track_sample(track, time, number);
        for (int32_t a = 0; a < track->components; a++) write_number(table(i), def, a, number[a]);
    }
}

size_t firn_track_extra(const firn_track *track)
{
    return (size_t)track->count * (1 + (size_t)track->components) * sizeof(double);
}

double *firn_track_attach(firn_track *track, double *memory)
{
    if (track->count == 0) return memory;
    track->times = memory;
    track->values = memory + track->count;
    return memory + (ptrdiff_t)track->count * (1 + track->components);
}

double *firn_track_move(firn_track *track, double *memory)
{
    const size_t count = (size_t)track->count, each = (size_t)track->components;
    if (count == 0) return memory;
    memcpy(memory, track->times, count * sizeof(double));
    memcpy(memory + count, track->values, count * each * sizeof(double));
    return firn_track_attach(track, memory);
}

size_t firn_params_extra(firn_param_table *table, const void *def)
{
    size_t size = 0;
    for (int32_t i = 0; table(i); i++) {
        const firn_track *track = track_in(table(i), def);
        if (track) size += firn_track_extra(track);
    }
    return size;
}

/* What move or attach do to each track of a def. */
static double *to_tracks(firn_param_table *table, void *def, double *memory,
                         double *each(firn_track *track, double *memory))
{
    for (int32_t i = 0; table(i); i++) {
        const size_t at = table(i)->keys;
        if (at) memory = each((firn_track *)(void *)((char *)def + at), memory);
    }
    return memory;
}

double *firn_params_move(firn_param_table *table, void *def, double *memory)
{
    return to_tracks(table, def, memory, firn_track_move);
}

double *firn_params_attach(firn_param_table *table, void *def, double *memory)
{
    return to_tracks(table, def, memory, firn_track_attach);
}
