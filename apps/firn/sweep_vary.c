/* What varies in a sweep: values out of a list, and names for folders. */
#include "sweep.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_VARIANTS = 10000, MOST_LABEL = 40, MOST_NAME = 200 };

firn_status firn_no_memory(firn_error *error)
{
    return firn_app_fail(error, FIRN_NO_MEMORY, "out of memory");
}

char *firn_make_text(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int size = vsnprintf(NULL, 0, format, arguments) + 1;
    va_end(arguments);
    char *text = malloc((size_t)size);
    va_start(arguments, format);
    if (text) vsnprintf(text, (size_t)size, format, arguments);
    va_end(arguments);
    return text;
}

void firn_sweep_free(firn_sweep *s)
{
    for (int k = 0; k < s->vary_count; k++) {
        for (int i = 0; i < s->vary[k].count; i++) free(s->vary[k].choice[i].assignment);
        free(s->vary[k].choice);
        free(s->vary[k].path);
    }
    for (int64_t i = 0; i < s->variant_count && s->variant; i++) free(s->variant[i].last);
    free(s->variant);
    free(s->folder);
}

/* The length of the value that a list begins with: up to a comma outside of brackets and quotes. As
 * in YAML, a quote within a word is a letter. */
static size_t value_length(const char *list)
{
    int depth = 0;
    char quote = 0;
    size_t n = 0;
    for (; list[n] && (list[n] != ',' || depth > 0 || quote); n++) {
        const char c = list[n];
        if (quote) {
            if (c == quote) quote = 0;
        } else if ((c == '"' || c == '\'') && (n == 0 || strchr(" [{,:", list[n - 1]))) {
            quote = c;
        } else {
            depth += (c == '[' || c == '{') - (c == ']' || c == '}');
        }
    }
    return n;
}

static uint32_t hash_text(const char *text) /* FNV-1a */
{
    uint32_t h = 2166136261u;
    for (; *text; text++) h = (h ^ (unsigned char)*text) * 16777619u;
    return h;
}

/* Letters, digits, dot, plus and minus stay; what lies between becomes one underscore. */
static void make_safe(const char *text, char *out, size_t size)
{
    size_t n = 0;
    for (; *text && n + 1 < size; text++) {
        const bool safe = isalnum((unsigned char)*text) || strchr(".+-", *text);
        if (safe) {
            out[n++] = *text;
        } else if (n > 0 && out[n - 1] != '_') {
            out[n++] = '_';
        }
    }
    while (n > 0 && out[n - 1] == '_') n--;
    out[n] = 0;
}

static bool same_letters(const char *a, const char *b)
{
    while (*a && tolower((unsigned char)*a) == tolower((unsigned char)*b)) a++, b++;
    return tolower((unsigned char)*a) == tolower((unsigned char)*b);
}

/* Labels tell the values apart also where capitals do not count; a hash of the value helps where its
 * letters alone would not, or are too many. */
static void make_labels(firn_vary *v)
{
    char plain[MOST_LABEL + 2], other[MOST_LABEL + 2];
    for (int i = 0; i < v->count; i++) {
        firn_choice *c = &v->choice[i];
        make_safe(c->value, plain, sizeof plain);
        bool alone = plain[0] && strlen(plain) <= MOST_LABEL;
        for (int k = 0; k < v->count; k++) {
            make_safe(v->choice[k].value, other, sizeof other);
            if (k != i && same_letters(plain, other)) alone = false;
        }
        snprintf(c->label, sizeof c->label, "%.*s", MOST_LABEL, plain);
        if (alone) continue;
        const size_t used = strlen(c->label);
        snprintf(c->label + used, sizeof c->label - used, "%s%08" PRIx32, used ? "_" : "",
                 hash_text(c->value));
    }
}

static firn_status add_choice(firn_vary *v, const char *text, size_t length, firn_error *error)
{
    while (length > 0 && isspace((unsigned char)*text)) text++, length--;
    while (length > 0 && isspace((unsigned char)text[length - 1])) length--;
    if (length == 0) {
        return firn_app_fail(error, FIRN_INVALID, "--vary %s: a value is missing between commas",
                             v->path);
    }
    firn_choice *grown = realloc(v->choice, ((size_t)v->count + 1) * sizeof *grown);
    if (!grown) return firn_no_memory(error);
    v->choice = grown;
    firn_choice *c = &grown[v->count];
    *c = (firn_choice){.assignment = firn_make_text("%s=%.*s", v->path, (int)length, text)};
    if (!c->assignment) return firn_no_memory(error);
    c->value = c->assignment + strlen(v->path) + 1;
    for (int i = 0; i < v->count; i++) {
        if (strcmp(v->choice[i].value, c->value) == 0) {
            firn_status st = firn_app_fail(error, FIRN_INVALID, "--vary %s: %s is given twice",
                                           v->path, c->value);
            free(c->assignment);
            return st;
        }
    }
    v->count++;
    return FIRN_OK;
}

firn_status firn_sweep_add(firn_sweep *s, const char *text, firn_error *error)
{
    const char *equals = strchr(text, '='); /* there is one: options are checked for it */
    firn_vary *v = &s->vary[s->vary_count];
    *v = (firn_vary){.path = firn_make_text("%.*s", (int)(equals - text), text)};
    if (!v->path) return firn_no_memory(error);
    s->vary_count++;
    for (int i = 0; i + 1 < s->vary_count; i++) {
        if (strcmp(s->vary[i].path, v->path) == 0) {
            return firn_app_fail(error, FIRN_INVALID,
                                 "--vary %s is given twice; write its values in one", v->path);
        }
    }
    firn_status st = FIRN_OK;
    for (const char *p = equals; *p && st == FIRN_OK;) {
        const size_t length = value_length(p + 1);
        st = add_choice(v, p + 1, length, error);
        p += 1 + length;
    }
    return st;
}

/* Short names where they are enough. */
static void name_varies(firn_sweep *s)
{
    for (int i = 0; i < s->vary_count; i++) {
        const char *dot = strrchr(s->vary[i].path, '.');
        s->vary[i].name = dot ? dot + 1 : s->vary[i].path;
        make_labels(&s->vary[i]);
    }
    for (int i = 0; i < s->vary_count; i++) {
        const char *dot = strrchr(s->vary[i].path, '.');
        for (int k = 0; k < s->vary_count && dot; k++) {
            const char *other = strrchr(s->vary[k].path, '.');
            other = other ? other + 1 : s->vary[k].path;
            if (k != i && same_letters(dot + 1, other)) s->vary[i].name = s->vary[i].path;
        }
    }
}

const firn_choice *firn_sweep_choice(const firn_sweep *s, int64_t index, int k)
{
    for (int i = s->vary_count - 1; i > k; i--) index /= s->vary[i].count;
    return &s->vary[k].choice[index % s->vary[k].count];
}

/* young_1e5__friction_0.3: labels hold no two underscores in a row, so names are as unique as they
 * are. */
firn_status firn_sweep_expand(firn_sweep *s, firn_error *error)
{
    name_varies(s);
    s->variant_count = 1;
    for (int k = 0; k < s->vary_count; k++) {
        s->variant_count *= s->vary[k].count;
        if (s->variant_count > MOST_VARIANTS) {
            return firn_app_fail(error, FIRN_INVALID, "more than %d variants; vary less at a time",
                                 MOST_VARIANTS);
        }
    }
    s->variant = calloc((size_t)s->variant_count, sizeof *s->variant);
    if (!s->variant) return firn_no_memory(error);
    for (int64_t i = 0; i < s->variant_count; i++) {
        char *name = s->variant[i].name;
        char all[8192] = ""; /* room for as many as there can be */
        for (int k = 0; k < s->vary_count; k++) {
            char path[64];
            make_safe(s->vary[k].name, path, sizeof path);
            const size_t used = strlen(all);
            snprintf(all + used, sizeof all - used, "%s%s_%s", k ? "__" : "", path,
                     firn_sweep_choice(s, i, k)->label);
        }
        if (strlen(all) <= MOST_NAME) {
            snprintf(name, FIRN_VARIANT_NAME, "%.*s", MOST_NAME, all);
        } else {
            snprintf(name, FIRN_VARIANT_NAME, "%.*s_%08" PRIx32, MOST_NAME, all, hash_text(all));
        }
    }
    return FIRN_OK;
}
