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

firn_status firn_params_check(firn_param_table *table, const void *def, const char *where,
                              firn_error *error)
{
    firn_status st = FIRN_OK;
    for (int32_t i = 0; table(i) && st == FIRN_OK; i++) {
        st = firn_param_check(table(i), def, where, error);
    }
    return st;
}
