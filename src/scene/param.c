/* Reads the values of a scene by the rows of the parameter table: numbers with units and ranges,
 * vectors, choices, temperatures in K or C. Errors name the value, its line and what would work. */
#include "scene/param.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "scene/expression.h"

static const char *kind_of(const firn_value *v)
{
    return v->kind == FIRN_MAP ? "a map" : v->kind == FIRN_LIST ? "a list" : "text";
}

/* "0.5", or what it is when it is not a plain value. */
static const char *shown(const firn_value *v, char *text, size_t size)
{
    if (v->kind == FIRN_SCALAR) {
        snprintf(text, size, "\"%.60s\"", v->text);
    } else {
        snprintf(text, size, "%s", kind_of(v));
    }
    return text;
}

firn_status firn_read_real(const firn_value *v, const char *what, const char *unit, double *out,
                           firn_error *error)
{
    char text[80], wrong[FIRN_WRONG_SIZE] = "";
    if (v->kind == FIRN_SCALAR && v->text[0]) {
        char *end = NULL;
        const double number = strtod(v->text, &end);
        const bool plain = end != v->text && *end == 0;
        if (plain && isfinite(number)) {
            *out = number;
            return FIRN_OK;
        }
        if (!plain && firn_expression_value(v, unit, out, wrong)) return FIRN_OK;
    }
    return firn_value_fail(v, error, "%s %s must be a number%s%s%s%s", what,
                           shown(v, text, sizeof text), *unit ? " in " : "", unit,
                           wrong[0] ? ": " : "", wrong);
}

firn_status firn_read_quantity(const firn_value *v, const char *what, const char *const *units,
                               const char *cure, int *which, double *out, firn_error *error)
{
    char text[80], wrong[FIRN_WRONG_SIZE] = "";
    const bool scalar = v->kind == FIRN_SCALAR,
               bare = scalar && firn_expression_value(v, "", out, wrong);
    for (*which = 0; scalar && units[*which]; ++*which) {
        if (bare == !*units[*which] && firn_expression_value(v, units[*which], out, wrong)) {
            return FIRN_OK;
        }
    }
    return firn_value_fail(v, error, "%s %s must be %s", what, shown(v, text, sizeof text), cure);
}

/* Whether the text is that unit: "C", " c" and " °C" are. */
static bool is_unit(const char *text, char unit)
{
    static const char degree[] = "\xc2\xb0"; /* in UTF-8 */
    while (*text == ' ') text++;
    if (strncmp(text, degree, sizeof degree - 1) == 0) text += sizeof degree - 1;
    return toupper((unsigned char)*text) == unit && !text[1];
}

static firn_status read_temperature(const firn_param *row, const firn_value *v, double *out,
                                    firn_error *error)
{
    char text[80], wrong[FIRN_WRONG_SIZE];
    char *end = NULL;
    for (int i = 0; i < 8 && v->kind == FIRN_SCALAR && v->text[0] == '$'; i++) {
        const firn_value *variable =
            firn_value_get(v->context ? v->context->variables : NULL, v->text + 1);
        if (!variable) break;
        v = variable; /* which may say 80C */
    }
    const bool computed =
        v->kind == FIRN_SCALAR && (strpbrk(v->text, "$*/(") || strstr(v->text, "time"));
    if (computed && firn_expression_value(v, "K", out, wrong)) {
        if (*out >= row->least && *out <= row->most) return FIRN_OK;
        return firn_value_fail(v, error, "%s %s is %g K and must be from %g to %g K", row->name,
                               shown(v, text, sizeof text), *out, row->least, row->most);
    }
    if (computed && wrong[0]) {
        return firn_value_fail(v, error,
                               "%s %s must be a temperature; an expression is in kelvin, as "
                               "293.15 + 10: %s",
                               row->name, shown(v, text, sizeof text), wrong);
    }
    const double number = v->kind == FIRN_SCALAR ? strtod(v->text, &end) : 0;
    const bool celsius = end && is_unit(end, 'C'), bare = end && *end == 0;
    if (!end || end == v->text || !isfinite(number) || !(celsius || bare || is_unit(end, 'K'))) {
        return firn_value_fail(v, error,
                               "%s %s must be a temperature: in degrees Celsius, as 34C, or in "
                               "kelvin, as 307",
                               row->name, shown(v, text, sizeof text));
    }
    *out = celsius ? number + 273.15 : number;
    if (*out > row->most) {
        return firn_value_fail(v, error, "%s %.60s must be at most %g K", row->name, v->text,
                               row->most);
    }
    if (*out >= row->least) return FIRN_OK;
    return firn_value_fail(v, error, "%s %.60s must be at least %g K; %s%.60s%s", row->name,
                           v->text, row->least,
                           bare ? "degrees Celsius have a C: " : "0 K is -273.15C",
                           bare ? v->text : "", bare ? "C" : "");
}

firn_status firn_read_vector(const firn_value *v, const char *what, const char *unit, int least,
                             int most, double *out, int *count, firn_error *error)
{
    char text[80];
    const int n = firn_value_count(v);
    if (v->kind != FIRN_LIST || n < least || n > most) {
        char many[32];
        snprintf(many, sizeof many, least == most ? "%d" : "%d to %d", least, most);
        return firn_value_fail(v, error, "%s%s%s must be %s numbers%s%s, as %s", what,
                               v->kind == FIRN_LIST ? "" : " ",
                               v->kind == FIRN_LIST ? "" : shown(v, text, sizeof text), many,
                               *unit ? " in " : "", unit, most == 2 ? "[0, 1]" : "[0, 1, 0]");
    }
    int i = 0;
    for (const firn_value *c = v->child; c; c = c->next) {
        firn_status st = firn_read_real(c, what, unit, &out[i++], error);
        if (st != FIRN_OK) return st;
    }
    *count = n;
    return FIRN_OK;
}

firn_status firn_read_choice(const firn_value *v, const char *what, const char *const *choices,
                             int32_t *out, firn_error *error)
{
    char text[80], near[300];
    if (v->kind == FIRN_SCALAR) {
        for (int32_t i = 0; choices[i]; i++) {
            if (strcmp(choices[i], v->text) == 0) {
                *out = i;
                return FIRN_OK;
            }
        }
    }
    return firn_value_fail(
        v, error, "%s %s is not known%s", what, shown(v, text, sizeof text),
        firn_nearest(v->kind == FIRN_SCALAR ? v->text : "", choices, near, sizeof near));
}

static firn_status check_range(const firn_param *row, const firn_value *v, double number,
                               firn_error *error)
{
    const bool any = row->least == 0 && row->most == 0;
    if (any || (number >= row->least && number <= row->most)) return FIRN_OK;
    char range[80];
    return firn_value_fail(v, error, "%s %g must be %s%s%s%s%s", row->name, number,
                           firn_param_range(row, range, sizeof range), *row->unit ? " " : "",
                           row->unit, row->cure ? "; " : "", row->cure ? row->cure : "");
}

firn_status firn_read_row(const firn_param *row, const firn_value *v, void *to, firn_error *error)
{
    char text[80];
    firn_status st = FIRN_OK;
    switch (row->kind) {
    case FIRN_REAL: {
        double number = 0;
        st = firn_read_real(v, row->name, row->unit, &number, error);
        if (st == FIRN_OK) st = check_range(row, v, number, error);
        if (st == FIRN_OK) memcpy(to, &number, sizeof number);
        return st;
    }
    case FIRN_TEMPERATURE: return read_temperature(row, v, to, error);
    case FIRN_WHOLE: {
        double number = 0;
        firn_error ignored;
        if (firn_read_real(v, row->name, row->unit, &number, &ignored) != FIRN_OK ||
            number != floor(number) || fabs(number) > 0x1p53) {
            return firn_value_fail(v, error, "%s %s must be a whole number", row->name,
                                   shown(v, text, sizeof text));
        }
        st = check_range(row, v, number, error);
        const int64_t whole = (int64_t)number;
        if (st == FIRN_OK) memcpy(to, &whole, sizeof whole);
        return st;
    }
    case FIRN_FLAG: {
        const bool yes = v->kind == FIRN_SCALAR && strcmp(v->text, "true") == 0;
        if (!yes && !(v->kind == FIRN_SCALAR && strcmp(v->text, "false") == 0)) {
            return firn_value_fail(v, error, "%s %s must be true or false", row->name,
                                   shown(v, text, sizeof text));
        }
        memcpy(to, &yes, sizeof yes);
        return FIRN_OK;
    }
    case FIRN_TEXT:
        if (v->kind != FIRN_SCALAR || !v->text[0]) {
            return firn_value_fail(v, error, "%s %s must be text", row->name,
                                   shown(v, text, sizeof text));
        }
        for (const char *c = v->text; *c; c++) {
            if (!iscntrl((unsigned char)*c)) continue;
            return firn_value_fail(v, error, "%s has a control character (%d); remove it",
                                   row->name, *c);
        }
        memcpy(to, &v->text, sizeof v->text);
        return FIRN_OK;
    case FIRN_CHOICE: return firn_read_choice(v, row->name, row->choices, to, error);
    case FIRN_VECTOR: {
        double number[3] = {0};
        int count = 0;
        const bool factors = !*row->unit && row->least > 0; /* one alone is that of all axes */
        if (factors && v->kind == FIRN_SCALAR) {
            st = firn_read_real(v, row->name, row->unit, number, error);
            number[1] = number[2] = number[0];
            count = 1;
        } else {
            st = firn_read_vector(v, row->name, row->unit, 2, 3, number, &count, error);
        }
        for (int a = 0; a < count && st == FIRN_OK; a++) st = check_range(row, v, number[a], error);
        if (st == FIRN_OK) memcpy(to, number, sizeof number);
        return st;
    }
    case FIRN_VALUE: memcpy(to, &v, sizeof v); return FIRN_OK;
    case FIRN_PARAM_KIND_COUNT: break;
    }
    return st;
}

/* The fallback is a scalar, or numbers in brackets. */
static void read_fallback(const firn_param *row, char *out)
{
    if (!row->fallback[0]) return;
    char text[160];
    snprintf(text, sizeof text, "%s", row->fallback);
    firn_value entry[3] = {{0}}, v = {.kind = FIRN_SCALAR, .text = text, .file = "default"};
    if (row->kind == FIRN_VECTOR) {
        char *rest = text;
        v.kind = FIRN_LIST;
        for (int a = 0; a < 3; a++) {
            entry[a] = (firn_value){.kind = FIRN_SCALAR, .file = "default"};
            entry[a].text = strtok_r(a ? NULL : text, "[], ", &rest);
            if (a) entry[a - 1].next = &entry[a];
        }
        v.child = entry;
        v.count = 3;
    }
    if (row->kind == FIRN_TEXT) { /* static, unlike text here */
        memcpy(out + row->offset, &row->fallback, sizeof row->fallback);
        return;
    }
    firn_error error;
    (void)firn_read_row(row, &v, out + row->offset, &error);
}

const firn_param *firn_section_row(const firn_section *section, int index, size_t *offset)
{
    const firn_param *own = section->rows;
    int count = 0;
    while (own[count].name) count++;
    if (index < count) {
        if (offset) *offset = own[index].offset;
        return &own[index];
    }
    index -= count;
    const firn_param *p = NULL;
    for (int32_t i = 0; section->params && (p = section->params(i)); i++) {
        int same = 0;
        while (same < count && strcmp(own[same].name, p->name) != 0) same++;
        if (same < count || index-- > 0) continue;
        if (offset) *offset = section->def + p->offset;
        return p;
    }
    return NULL;
}

const char *firn_row_default(const firn_section *section, const firn_param *row, char *text,
                             size_t size)
{
    const double *x = row->value;
    const bool any = row->least == 0 && row->most == 0;
    text[0] = 0;
    if (row->fallback) {
        snprintf(text, size, "%s", row->fallback);
    } else if (section->preset || (!any && (x[0] < row->least || x[0] > row->most))) {
        return text;
    } else if (row->kind == FIRN_CHOICE) {
        snprintf(text, size, "%s", row->choices[(int)x[0]]);
    } else if (row->kind == FIRN_VECTOR) {
        snprintf(text, size, "[%g, %g, %g]", x[0], x[1], x[2]);
    } else if (row->kind == FIRN_TEMPERATURE) {
        snprintf(text, size, "%gC", x[0] - 273.15);
    } else {
        snprintf(text, size, "%g", x[0]);
    }
    return text;
}

/* What has keys, or depends on time, and cannot. */
static firn_status refuse_keys(const firn_section *section, const firn_param *row,
                               const firn_value *v, firn_error *error)
{
    char names[300] = "";
    size_t used = 0;
    bool moves = false;
    const firn_param *other;
    for (int i = 0; (other = firn_section_row(section, i, NULL)) && used < sizeof names; i++) {
        moves |= strcmp(other->name, "keys") == 0;
        if (!other->keys) continue;
        used += (size_t)snprintf(names + used, sizeof names - used, "%s %s", used ? "," : "",
                                 other->name);
    }
    return firn_value_fail(v, error, "%s cannot change in time; of %s, %s%s%s", row->name,
                           section->name, used ? "these can:" : "nothing can", names,
                           moves ? "; `keys` move and turn it" : "");
}

/* A value of a row without keys. */
static firn_status read_constant(const firn_section *section, const firn_param *row,
                                 const firn_value *v, void *to, firn_error *error)
{
    const bool words = row->kind == FIRN_VALUE || row->kind == FIRN_TEXT || row->kind == FIRN_FLAG;
    if (!words && firn_value_get(v, "keys")) return refuse_keys(section, row, v, error);
    if (v->context) v->context->refused = false;
    const firn_status st = firn_read_row(row, v, to, error);
    if (st == FIRN_OK || !v->context || !v->context->refused) return st;
    return refuse_keys(section, row, v, error);
}

firn_status firn_section_read(const firn_section *section, const firn_value *map, void *out,
                              firn_error *error)
{
    firn_given given = 0;
    for (int i = 0; section->rows[i].name; i++) read_fallback(&section->rows[i], out);
    if (map && map->kind != FIRN_MAP) {
        char text[80];
        return firn_value_fail(map, error, "%s must be a map of parameters, not %s", section->name,
                               shown(map, text, sizeof text));
    }
    for (const firn_value *c = map ? map->child : NULL; c; c = c->next) {
        const char *names[65];
        const firn_param *row;
        size_t offset = 0;
        int i = 0;
        while ((row = firn_section_row(section, i, &offset)) && strcmp(row->name, c->key) != 0 &&
               !(row->alias && strcmp(row->alias, c->key) == 0)) {
            names[i++] = row->name;
        }
        if (!row) {
            char near[300];
            names[i] = NULL;
            return firn_value_fail(c, error, "%s has no parameter \"%.60s\"%s", section->name,
                                   c->key, firn_nearest(c->key, names, near, sizeof near));
        }
        if (given >> i & 1u) {
            return firn_value_fail(c, error, "%s is given twice, once as %s", row->name, c->key);
        }
        char *to = (char *)out + offset;
        firn_track *track = (firn_track *)(void *)(to - row->offset + row->keys);
        const firn_status st = row->keys ? firn_read_keyed(row, c, to, track, error)
                                         : read_constant(section, row, c, to, error);
        if (st != FIRN_OK) return st;
        given |= (firn_given)1 << i;
    }
    memcpy(out, &given, sizeof given);
    return FIRN_OK;
}

bool firn_section_given(const firn_section *section, const void *data, const char *name)
{
    firn_given given;
    memcpy(&given, data, sizeof given);
    const firn_param *row;
    for (int i = 0; (row = firn_section_row(section, i, NULL)); i++) {
        if (strcmp(row->name, name) == 0) return given >> i & 1u;
    }
    return false;
}
