/* A tree of values from a parser elsewhere, in the encoding that yaml.h describes. The encoding is not
 * trusted: it may come from a page. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "scene/yaml.h"

typedef struct record {
    char kind; /* 0: the end */
    int line, column;
    const char *text;
    size_t size;
} record;

typedef struct decoder {
    const char *file;
    bool option;
    const char *at, *end;
    int *values;
    firn_error *error;
} decoder;

static firn_status fail_at(const decoder *d, const record *r, const char *text)
{
    const firn_value here = {.file = d->file, .line = d->option ? 0 : r->line, .column = r->column};
    return firn_value_fail(&here, d->error, "%s", text);
}

static firn_status broken(const decoder *d)
{
    return firn_fail(d->error, FIRN_INVALID, "%s: the encoding of the scene's text is broken",
                     d->file);
}

/* Digits, then the letter that ends them. */
static bool read_number(decoder *d, char last, size_t most, size_t *out)
{
    size_t n = 0;
    const char *begin = d->at;
    for (; d->at < d->end && *d->at >= '0' && *d->at <= '9'; d->at++) {
        n = 10 * n + (size_t)(*d->at - '0');
        if (n > most) return false;
    }
    if (d->at == begin || d->at == d->end || *d->at != last) return false;
    d->at++;
    *out = n;
    return true;
}

static firn_status next_record(decoder *d, record *r)
{
    *r = (record){.line = 1, .column = 1};
    if (d->at == d->end) return FIRN_OK;
    enum { MOST = 1 << 30 };
    const char kind = *d->at++;
    size_t line = 0, column = 0;
    if (d->at == d->end || *d->at++ != ' ' || !read_number(d, ' ', MOST, &line) ||
        !read_number(d, ' ', MOST, &column) || !read_number(d, ':', MOST, &r->size) ||
        r->size >= (size_t)(d->end - d->at) || d->at[r->size] != '\n' ||
        !strchr("{}[]ksq?&*-!", kind) || kind == 0) {
        return broken(d);
    }
    r->kind = kind;
    r->line = (int)line;
    r->column = (int)column;
    r->text = d->at;
    d->at += r->size + 1;
    return FIRN_OK;
}

/* Of a record, with a zero behind it. */
static firn_status copy_text(const decoder *d, const record *r, char **out)
{
    *out = NULL;
    if (memchr(r->text, 0, r->size)) return fail_at(d, r, "text with a zero byte");
    char *copy = malloc(r->size + 1);
    if (!copy) return firn_fail(d->error, FIRN_NO_MEMORY, "out of memory");
    memcpy(copy, r->text, r->size);
    copy[r->size] = 0;
    *out = copy;
    return FIRN_OK;
}

/* What the YAML has and no tree does. */
static firn_status refuse(const decoder *d, const record *r)
{
    char text[300];
    switch (r->kind) {
    case '?': return fail_at(d, r, "a key must be a plain word");
    case '&': return fail_at(d, r, "anchors (&name) are not supported: remove it");
    case '*': return fail_at(d, r, "aliases (*name) are not supported: write it out");
    case '-': return fail_at(d, r, "a second document (---) in one file");
    case '!':
        snprintf(text, sizeof text, "%.*s", (int)(r->size < 290 ? r->size : 290), r->text);
        return fail_at(d, r, text);
    default: return broken(d);
    }
}

static firn_status read_value(decoder *d, const record *r, int depth, firn_value **out);

/* A key that the map does not have yet; then *r is the record of its value. */
static firn_status read_key(decoder *d, const firn_value *map, record *r, char **key)
{
    const record at = *r;
    if (at.kind != 'k') return refuse(d, r);
    firn_status st = copy_text(d, &at, key);
    if (st != FIRN_OK) return st;
    if (firn_value_get(map, *key)) {
        char text[200];
        snprintf(text, sizeof text, "\"%s\" is given twice", *key);
        return fail_at(d, &at, text);
    }
    return next_record(d, r);
}

static firn_status read_children(decoder *d, firn_value *parent, int depth)
{
    const char last = parent->kind == FIRN_MAP ? '}' : ']';
    for (;;) {
        record r;
        firn_status st = next_record(d, &r);
        if (st != FIRN_OK || r.kind == last) return st;
        char *key = NULL;
        const record place = r;
        if (parent->kind == FIRN_MAP) st = read_key(d, parent, &r, &key);
        firn_value *child = NULL;
        if (st == FIRN_OK) st = read_value(d, &r, depth + 1, &child);
        if (!child) {
            free(key);
            return st;
        }
        child->key = key;
        child->line = d->option ? 0 : place.line;
        child->column = place.column;
        if (!firn_value_append(parent, child)) {
            firn_value_free(child);
            return st == FIRN_OK ? firn_fail(d->error, FIRN_NO_MEMORY, "out of memory") : st;
        }
        if (st != FIRN_OK) return st;
    }
}

/* *out is what was made even on failure: its parent frees it. */
static firn_status read_value(decoder *d, const record *r, int depth, firn_value **out)
{
    char text[80];
    if (depth > FIRN_MOST_DEPTH) {
        snprintf(text, sizeof text, "more than %d levels; write it flatter", FIRN_MOST_DEPTH);
        return fail_at(d, r, text);
    }
    if (++*d->values > FIRN_MOST_VALUES) {
        snprintf(text, sizeof text, "more than %d values; use fewer, or a particle file",
                 FIRN_MOST_VALUES);
        return fail_at(d, r, text);
    }
    const bool scalar = r->kind == 's' || r->kind == 'q';
    if (!scalar && r->kind != '{' && r->kind != '[') return refuse(d, r);
    firn_value *v = firn_value_new(scalar           ? FIRN_SCALAR
                                   : r->kind == '[' ? FIRN_LIST
                                                    : FIRN_MAP,
                                   NULL);
    if (!v) return firn_fail(d->error, FIRN_NO_MEMORY, "out of memory");
    *out = v;
    v->file = d->file;
    v->line = d->option ? 0 : r->line;
    v->column = r->column;
    if (!scalar) return read_children(d, v, depth);
    v->quoted = r->kind == 'q';
    return copy_text(d, r, &v->text);
}

firn_status firn_yaml_decode(const char *file, bool option, const void *encoded, size_t size,
                             int *values, firn_value **out, firn_error *error)
{
    decoder d = {.file = file,
                 .option = option,
                 .at = encoded,
                 .end = (const char *)encoded + size,
                 .values = values,
                 .error = error};
    *out = NULL;
    record r;
    firn_status st = next_record(&d, &r);
    if (st == FIRN_OK && !r.kind) {
        st = fail_at(&d, &r, option ? "no value" : "the file is empty");
    } else if (st == FIRN_OK) {
        st = read_value(&d, &r, 0, out);
        if (st == FIRN_OK) st = next_record(&d, &r);
        if (st == FIRN_OK && r.kind) st = refuse(&d, &r);
    }
    if (st != FIRN_OK) {
        firn_value_free(*out);
        *out = NULL;
    }
    return st;
}
