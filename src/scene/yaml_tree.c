/* A tree of values from the records of a parser, see yaml.h. Records are not trusted: they may come from a
 * page. Anchors and aliases are refused: a few bytes of them can stand for gigabytes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "scene/yaml.h"

typedef firn_yaml_source source;
typedef firn_yaml_record record;

static void place(const source *s, const record *r, firn_value *v)
{
    v->file = s->file;
    v->line = s->option ? 0 : r->line;
    v->column = r->column;
}

firn_status firn_yaml_fail(const source *s, const record *at, const char *text)
{
    firn_value here = {0};
    place(s, at, &here);
    return firn_value_fail(&here, s->error, "%s", text);
}

/* With a zero behind it. */
static firn_status copy_text(const source *s, const record *r, char **out)
{
    *out = NULL;
    if (memchr(r->text, 0, r->size)) return firn_yaml_fail(s, r, "text with a zero byte");
    char *copy = malloc(r->size + 1);
    if (!copy) return firn_fail(s->error, FIRN_NO_MEMORY, "out of memory");
    memcpy(copy, r->text, r->size);
    copy[r->size] = 0;
    *out = copy;
    return FIRN_OK;
}

/* What YAML has and no tree does. */
static firn_status refuse(const source *s, const record *r)
{
    char text[300];
    switch (r->kind) {
    case '?': return firn_yaml_fail(s, r, "a key must be a plain word");
    case '&': return firn_yaml_fail(s, r, "anchors (&name) are not supported: remove it");
    case '*': return firn_yaml_fail(s, r, "aliases (*name) are not supported: write it out");
    case '-': return firn_yaml_fail(s, r, "a second document (---) in one file");
    case '!':
        snprintf(text, sizeof text, "%.*s", (int)(r->size < 290 ? r->size : 290), r->text);
        return firn_yaml_fail(s, r, text);
    default:
        return firn_fail(s->error, FIRN_INVALID, "%s: the encoding of the scene's text is broken",
                         s->file);
    }
}

static firn_status read_value(source *s, const record *r, int depth, firn_value **out);

/* A key that the map does not have yet; then *r is the record of its value. */
static firn_status read_key(source *s, const firn_value *map, record *r, char **key)
{
    const record at = *r;
    if (at.kind != 'k') return refuse(s, r);
    firn_status st = copy_text(s, &at, key);
    if (st != FIRN_OK) return st;
    if (firn_value_get(map, *key)) {
        char text[200];
        snprintf(text, sizeof text, "\"%s\" is given twice", *key);
        return firn_yaml_fail(s, &at, text);
    }
    return s->next(s, r);
}

static firn_status read_children(source *s, firn_value *parent, int depth)
{
    const char last = parent->kind == FIRN_MAP ? '}' : ']';
    for (;;) {
        record r;
        firn_status st = s->next(s, &r);
        if (st != FIRN_OK || r.kind == last) return st;
        char *key = NULL;
        const record first = r;
        if (parent->kind == FIRN_MAP) st = read_key(s, parent, &r, &key);
        firn_value *child = NULL;
        if (st == FIRN_OK) st = read_value(s, &r, depth + 1, &child);
        if (!child) {
            free(key);
            return st;
        }
        child->key = key;
        place(s, &first, child);
        if (!firn_value_append(parent, child)) {
            firn_value_free(child);
            return st == FIRN_OK ? firn_fail(s->error, FIRN_NO_MEMORY, "out of memory") : st;
        }
        if (st != FIRN_OK) return st;
    }
}

/* *out is what was made even on failure: its parent frees it. */
static firn_status read_value(source *s, const record *r, int depth, firn_value **out)
{
    char text[80];
    if (depth > FIRN_MOST_DEPTH) {
        snprintf(text, sizeof text, "more than %d levels; write it flatter", FIRN_MOST_DEPTH);
        return firn_yaml_fail(s, r, text);
    }
    if (++*s->values > FIRN_MOST_VALUES) {
        snprintf(text, sizeof text, "more than %d values; use fewer, or a particle file",
                 FIRN_MOST_VALUES);
        return firn_yaml_fail(s, r, text);
    }
    const bool scalar = r->kind == 's' || r->kind == 'q';
    if (!scalar && r->kind != '{' && r->kind != '[') return refuse(s, r);
    firn_value *v = firn_value_new(scalar           ? FIRN_SCALAR
                                   : r->kind == '[' ? FIRN_LIST
                                                    : FIRN_MAP,
                                   NULL);
    if (!v) return firn_fail(s->error, FIRN_NO_MEMORY, "out of memory");
    *out = v;
    place(s, r, v);
    if (!scalar) return read_children(s, v, depth);
    v->quoted = r->kind == 'q';
    return copy_text(s, r, &v->text);
}

firn_status firn_yaml_build(source *s, firn_value **out)
{
    *out = NULL;
    record r;
    firn_status st = s->next(s, &r);
    if (st == FIRN_OK && !r.kind) {
        st = firn_yaml_fail(s, &r, s->option ? "no value" : "the file is empty");
    } else if (st == FIRN_OK) {
        st = read_value(s, &r, 0, out);
        if (st == FIRN_OK) st = s->next(s, &r);
        if (st == FIRN_OK && r.kind) st = refuse(s, &r);
    }
    if (st != FIRN_OK) {
        firn_value_free(*out);
        *out = NULL;
    }
    return st;
}
