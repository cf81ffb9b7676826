/* Arithmetic with units. A quantity is a number in SI and the powers of its units; what is added must have the
 * same ones. The grammar, with spaces wherever they separate:
 *     sum      product (('+' | '-') product)*
 *     product  power (('*' | '/') power)*
 *     power    ('-' | '+')* primary ('^' power)?
 *     primary  number unit? | '$' name | name | name '(' sum (',' sum)* ')' | '(' sum ')'
 * where a name is pi or time, and $F is the number of the frame
 *     unit     word digit? (('/' | ' ') word digit?)*, as in the names of the table below: kg/m3, Pa s
 * Nothing repeats and nothing is allocated; variables may use others, to a depth and a number that are bounded. */
#include "scene/expression.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BASES = 5, MOST_NESTED = 40, MOST_STEPS = 20000, WORD = 40 };
enum { MOST_VARYING_STEPS = 20000000 }; /* of all expressions of time in a scene */

typedef struct quantity {
    double value;
    int power[BASES]; /* of m, kg, s, K, rad */
} quantity;

typedef struct unit {
    const char *name;
    double size;
    int power[BASES];
} unit;

#define PI 3.14159265358979323846
static const unit units[] = {
    {"m", 1, {1}},
    {"cm", 1e-2, {1}},
    {"mm", 1e-3, {1}},
    {"um", 1e-6, {1}},
    {"km", 1e3, {1}},
    {"in", 0.0254, {1}},
    {"inch", 0.0254, {1}},
    {"inches", 0.0254, {1}},
    {"ft", 0.3048, {1}},
    {"l", 1e-3, {3}},
    {"ml", 1e-6, {3}},
    {"kg", 1, {0, 1}},
    {"g", 1e-3, {0, 1}},
    {"t", 1e3, {0, 1}},
    {"lb", 0.45359237, {0, 1}},
    {"s", 1, {0, 0, 1}},
    {"ms", 1e-3, {0, 0, 1}},
    {"min", 60, {0, 0, 1}},
    {"h", 3600, {0, 0, 1}},
    {"Hz", 1, {0, 0, -1}},
    {"N", 1, {1, 1, -2}},
    {"kN", 1e3, {1, 1, -2}},
    {"Pa", 1, {-1, 1, -2}},
    {"mPa", 1e-3, {-1, 1, -2}},
    {"kPa", 1e3, {-1, 1, -2}},
    {"MPa", 1e6, {-1, 1, -2}},
    {"GPa", 1e9, {-1, 1, -2}},
    {"bar", 1e5, {-1, 1, -2}},
    {"psi", 6894.757293168361, {-1, 1, -2}},
    {"P", 0.1, {-1, 1, -1}},
    {"cP", 1e-3, {-1, 1, -1}},
    {"J", 1, {2, 1, -2}},
    {"kJ", 1e3, {2, 1, -2}},
    {"MJ", 1e6, {2, 1, -2}},
    {"W", 1, {2, 1, -3}},
    {"kW", 1e3, {2, 1, -3}},
    {"MW", 1e6, {2, 1, -3}},
    {"K", 1, {0, 0, 0, 1}},
    {"rad", 1, {0, 0, 0, 0, 1}},
    {"deg", PI / 180, {0, 0, 0, 0, 1}},
    {"degrees", PI / 180, {0, 0, 0, 0, 1}},
    {"turn", 2 * PI, {0, 0, 0, 0, 1}},
    {"turns", 2 * PI, {0, 0, 0, 0, 1}},
    {"rpm", 2 * PI / 60, {0, 0, -1, 0, 1}},
};

typedef struct parser {
    const char *at;
    firn_context *context; /* may be NULL */
    char *wrong;
    int depth, *steps;
} parser;

__attribute__((format(printf, 2, 3))) static bool fail(parser *p, const char *format, ...)
{
    if (p->wrong[0]) return false; /* the first is what matters */
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(p->wrong, FIRN_WRONG_SIZE, format, arguments);
    va_end(arguments);
    return false;
}

static void skip_space(parser *p)
{
    while (*p->at == ' ') p->at++;
}

static bool take(parser *p, char c)
{
    skip_space(p);
    if (*p->at != c) return false;
    p->at++;
    return true;
}

/* The letters, digits and underscores ahead, beginning with a letter; "" for none. */
static size_t look_at_word(const char *at, char word[WORD])
{
    size_t n = 0;
    if (isalpha((unsigned char)*at) || *at == '_') {
        while (isalnum((unsigned char)at[n]) || at[n] == '_') n++;
    }
    snprintf(word, WORD, "%.*s", (int)n, at);
    return n;
}

/* ---- units ---- */

/* One factor of a unit, as "m3", times `sign`; the letters read, 0 for none. */
static size_t read_factor(const char *at, int sign, quantity *out)
{
    char word[WORD];
    size_t n = 0;
    while (isalpha((unsigned char)at[n])) n++;
    snprintf(word, sizeof word, "%.*s", (int)n, at);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(units[i].name, word) != 0) continue;
        int power = 1;
        if (isdigit((unsigned char)at[n])) power = at[n++] - '0';
        if (isalnum((unsigned char)at[n]) || at[n] == '(' || at[n] == '_') return 0;
        out->value *= pow(units[i].size, sign * power);
        for (int b = 0; b < BASES; b++) out->power[b] += sign * power * units[i].power[b];
        return n;
    }
    return 0;
}

/* A unit behind a number, or that of a row: "W/(m2 K)". What is no unit is left alone. */
static const char *read_unit(const char *at, quantity *out)
{
    int sign = 1;
    const char *next = at;
    bool open = false;
    for (;;) {
        while (*next == ' ') next++;
        const size_t n = read_factor(next, sign, out);
        if (!n) break;
        next += n;
        at = next;
        if (open && *next == ')') {
            at = ++next;
            open = false;
        }
        if (!open) sign = 1;
        const char *after = next;
        while (*after == ' ') after++;
        if (*after != '/') continue;
        sign = -1;
        next = after + 1;
        if (*next == '(') {
            open = true;
            next++;
        }
    }
    return at;
}

static const quantity plain;

static bool same_unit(const quantity *a, const quantity *b)
{
    return memcmp(a->power, b->power, sizeof a->power) == 0;
}

/* ---- the grammar ---- */

static bool read_sum(parser *p, quantity *out);

static bool read_time(parser *p, bool frame, quantity *out)
{
    firn_context *c = p->context;
    if (!c || !c->can_vary) {
        if (c) c->refused = true;
        return fail(p, "%s is for a whole value that can have keys; see the reference",
                    frame ? "$F" : "time");
    }
    c->varies = true;
    *out = (quantity){.value = frame ? c->first + c->time * c->fps : c->time};
    return true;
}

static bool read_variable(parser *p, quantity *out)
{
    char word[WORD];
    p->at += look_at_word(p->at, word);
    if (strcmp(word, "F") == 0) return read_time(p, true, out);
    const firn_value *v = firn_value_get(p->context ? p->context->variables : NULL, word);
    if (!word[0]) return fail(p, "a $ needs a name behind it");
    if (!v) {
        return fail(p, "there is no variable \"%s\"; give it under variables", word);
    }
    if (v->kind != FIRN_SCALAR) return fail(p, "variable \"%s\" is no number", word);
    parser inner = {v->text, p->context, p->wrong, p->depth + 1, p->steps};
    char why[FIRN_WRONG_SIZE];
    if (!read_sum(&inner, out)) {
        if (strncmp(p->wrong, "variable", 8) != 0 && p->depth == 1) {
            snprintf(why, sizeof why, "%s", p->wrong);
            snprintf(p->wrong, FIRN_WRONG_SIZE, "variable \"%s\": %.120s", word, why);
        }
        return false;
    }
    skip_space(&inner);
    return *inner.at ? fail(p, "variable \"%s\" is no number at \"%.20s\"", word, inner.at) : true;
}

typedef struct function {
    const char *name;
    int arguments;
    bool angle; /* takes one, or a plain number of radians; else what it takes has no unit */
    double (*one)(double);
    double (*two)(double, double);
} function;

static const function functions[] = {
    {"sin", 1, true, sin, NULL},    {"cos", 1, true, cos, NULL},
    {"tan", 1, true, tan, NULL},    {"asin", 1, false, asin, NULL},
    {"acos", 1, false, acos, NULL}, {"atan", 1, false, atan, NULL},
    {"exp", 1, false, exp, NULL},   {"log", 1, false, log, NULL},
    {"sqrt", 1, false, sqrt, NULL}, {"floor", 1, false, floor, NULL},
    {"ceil", 1, false, ceil, NULL}, {"round", 1, false, round, NULL},
    {"abs", 1, false, fabs, NULL},  {"min", 2, false, NULL, fmin},
    {"max", 2, false, NULL, fmax},  {"atan2", 2, false, NULL, atan2},
    {"mod", 2, false, NULL, fmod},
};

/* Those that keep the unit of what they take. */
static bool keeps_unit(const char *name)
{
    return strcmp(name, "abs") == 0 || strcmp(name, "min") == 0 || strcmp(name, "max") == 0 ||
           strcmp(name, "mod") == 0;
}

static bool call(parser *p, const function *f, quantity *out)
{
    quantity a = {0}, b = {0};
    if (!read_sum(p, &a)) return false;
    if (f->arguments == 2 && (!take(p, ',') || !read_sum(p, &b))) {
        return fail(p, "%s takes two numbers, as %s(1, 2)", f->name, f->name);
    }
    if (!take(p, ')')) return fail(p, "a ) is missing behind %s(", f->name);
    static const quantity angle = {.power = {0, 0, 0, 0, 1}};
    const bool keeps = keeps_unit(f->name), ratio = strcmp(f->name, "atan2") == 0;
    if ((keeps || ratio) && f->arguments == 2 && !same_unit(&a, &b)) {
        return fail(p, "both numbers of %s need the same unit", f->name);
    }
    if (!keeps && !ratio && !same_unit(&a, &plain) && !(f->angle && same_unit(&a, &angle))) {
        return fail(p, "%s takes a number without a unit", f->name);
    }
    const bool gives_angle = ratio || (f->name[0] == 'a' && !keeps);
    *out = keeps ? a : gives_angle ? angle : plain;
    out->value = f->one ? f->one(a.value) : f->two(a.value, b.value);
    return true;
}

static bool read_primary(parser *p, quantity *out)
{
    char word[WORD];
    skip_space(p);
    if (take(p, '(')) return read_sum(p, out) && (take(p, ')') || fail(p, "a ) is missing"));
    if (take(p, '$')) return read_variable(p, out);
    if (isdigit((unsigned char)*p->at) || *p->at == '.') {
        char *end = NULL;
        *out = (quantity){.value = strtod(p->at, &end)};
        if (end == p->at) return fail(p, "\"%.20s\" is no number", p->at);
        p->at = read_unit(end, out);
        skip_space(p);
        if (look_at_word(p->at, word)) return fail(p, "\"%s\" is no unit", word);
        return true;
    }
    const size_t n = look_at_word(p->at, word);
    if (!n)
        return fail(p,
                    *p->at ? "a number is missing at \"%.20s\"" : "a number is missing at its end",
                    p->at);
    p->at += n;
    if (strcmp(word, "pi") == 0) {
        *out = (quantity){.value = PI};
        return true;
    }
    if (strcmp(word, "time") == 0) return read_time(p, false, out);
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (strcmp(functions[i].name, word) == 0 && take(p, '('))
            return call(p, &functions[i], out);
    }
    return fail(p, "\"%s\" is no number; variables begin with a $", word);
}

static bool read_power(parser *p, quantity *out)
{
    if (++*p->steps > MOST_STEPS) return fail(p, "it is too long");
    if (p->context && p->context->can_vary && ++p->context->steps > MOST_VARYING_STEPS)
        return fail(p, "the scene's expressions of time take too long; use keys");
    if (p->depth >= MOST_NESTED) return fail(p, "it is nested too deep, or uses itself");
    p->depth++;
    bool fine;
    if (take(p, '-')) {
        fine = read_power(p, out);
        out->value = -out->value;
    } else if (take(p, '+')) {
        fine = read_power(p, out);
    } else {
        fine = read_primary(p, out);
        if (fine && take(p, '^')) {
            quantity by = {0};
            fine = read_power(p, &by);
            const bool whole = by.value == floor(by.value) && fabs(by.value) < 10;
            if (fine && (!same_unit(&by, &plain) || (!whole && !same_unit(out, &plain)))) {
                fine = fail(p, "units have whole powers only");
            }
            out->value = pow(out->value, by.value);
            for (int b = 0; b < BASES && fine && whole; b++) out->power[b] *= (int)by.value;
        }
    }
    p->depth--;
    return fine;
}

static bool read_product(parser *p, quantity *out)
{
    if (!read_power(p, out)) return false;
    for (;;) {
        const bool times = take(p, '*'), over = !times && take(p, '/');
        if (!times && !over) return true;
        quantity by = {0};
        if (!read_power(p, &by)) return false;
        if (over && by.value == 0) return fail(p, "it divides by zero");
        out->value = times ? out->value * by.value : out->value / by.value;
        for (int b = 0; b < BASES; b++) out->power[b] += times ? by.power[b] : -by.power[b];
    }
}

static bool read_sum(parser *p, quantity *out)
{
    if (!read_product(p, out)) return false;
    for (;;) {
        const bool plus = take(p, '+');
        if (!plus && !take(p, '-')) return true;
        quantity by = {0};
        if (!read_product(p, &by)) return false;
        if (!same_unit(out, &by)) return fail(p, "what it adds has different units");
        out->value += plus ? by.value : -by.value;
    }
}

/* All of the text. */
static bool read_all(parser *p, quantity *q)
{
    p->wrong[0] = 0;
    if (!strpbrk(p->at, "0123456789$") && !strstr(p->at, "pi") && !strstr(p->at, "time"))
        return false; /* a word */
    if (!read_sum(p, q)) return false;
    skip_space(p);
    if (*p->at) return fail(p, "\"%.20s\" is not understood", p->at);
    return isfinite(q->value) || fail(p, "it has no finite value");
}

bool firn_expression_any(const firn_value *v, double *out)
{
    int steps = 0;
    char wrong[FIRN_WRONG_SIZE], *end = NULL;
    parser p = {v->text, v->context, wrong, 0, &steps};
    quantity q = {0};
    if (v->kind != FIRN_SCALAR) return false;
    (void)strtod(v->text, &end);
    if (!*end || !read_all(&p, &q)) return false;
    *out = q.value * pow(180 / PI, q.power[BASES - 1]);
    return true;
}

bool firn_expression_value(const firn_value *v, const char *row_unit, double *out,
                           char wrong[FIRN_WRONG_SIZE])
{
    int steps = 0;
    parser p = {v->text, v->context, wrong, 0, &steps};
    quantity q = {0}, row = {.value = 1};
    if (!read_all(&p, &q)) return false;
    *out = q.value;
    if (same_unit(&q, &plain)) return true;
    read_unit(strncmp(row_unit, "1/", 2) == 0 ? row_unit + 2 : row_unit, &row);
    for (int b = 0; b < BASES && strncmp(row_unit, "1/", 2) == 0; b++) row.power[b] *= -1;
    if (!same_unit(&q, &row))
        return fail(&p, *row_unit ? "its unit is not one of %s" : "it takes no unit", row_unit);
    *out = q.value / row.value;
    return true;
}
