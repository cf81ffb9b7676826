/* A tree of values from the records of a parser, see yaml.h. Records are not trusted: they may come from a
 * page. An alias stands for a copy of its anchor's value. A few bytes of them can stand for gigabytes, so
 * copies count as values that are written. `<<: *name` in a map adds what the map does not say itself. */
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
    case '&': return firn_yaml_fail(s, r, "an anchor (&name) stands before a value");
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

/* Another value, if there may be one more, and at that depth. */
static firn_status count_value(const source *s, const record *r, int depth)
{
    char text[80];
    if (depth > FIRN_MOST_DEPTH) {
        snprintf(text, sizeof text, "more than %d levels; write it flatter", FIRN_MOST_DEPTH);
        return firn_yaml_fail(s, r, text);
    }
    if (++*s->values <= FIRN_MOST_VALUES) return FIRN_OK;
    snprintf(text, sizeof text, "more than %d values; use fewer, or a particle file",
             FIRN_MOST_VALUES);
    return firn_yaml_fail(s, r, text);
}

/* *out is what was made even on failure. */
static firn_status copy_value(const source *s, const record *r, const firn_value *from, int depth,
                              firn_value **out)
{
    firn_status st = count_value(s, r, depth);
    if (st != FIRN_OK) return st;
    firn_value *v = *out = firn_value_new(from->kind, from);
    bool fine = v;
    if (fine && from->key) fine = (v->key = strdup(from->key));
    if (fine && from->text) fine = (v->text = strdup(from->text));
    if (!fine) return firn_fail(s->error, FIRN_NO_MEMORY, "out of memory");
    v->quoted = from->quoted;
    for (const firn_value *c = from->child; c && st == FIRN_OK; c = c->next) {
        firn_value *child = NULL;
        st = copy_value(s, r, c, depth + 1, &child);
        if (child && (st != FIRN_OK || !firn_value_append(v, child))) {
            firn_value_free(child);
            return st != FIRN_OK ? st : firn_fail(s->error, FIRN_NO_MEMORY, "out of memory");
        }
    }
    return st;
}

static firn_status read_alias(const source *s, const record *r, int depth, firn_value **out)
{
    char text[120];
    char *name;
    firn_status st = copy_text(s, r, &name);
    if (st != FIRN_OK) return st;
    const firn_value *from = firn_names_find(&s->anchors, name);
    snprintf(text, sizeof text, "there is no anchor &%.60s before this", name);
    free(name);
    if (!from) return firn_yaml_fail(s, r, text);
    st = copy_value(s, r, from, depth, out);
    if (*out) {
        free((*out)->key);
        (*out)->key = NULL;
    }
    return st;
}

/* Adds copies of what the map does not have from one that is merged into it. */
static firn_status merge(const source *s, const record *r, int depth, firn_value *map,
                         const firn_value *merged)
{
    if (merged->kind != FIRN_MAP) {
        return firn_yaml_fail(s, r, "<< takes a map, as in <<: *name");
    }
    for (const firn_value *c = merged->child; c; c = c->next) {
        if (firn_value_get(map, c->key)) continue;
        firn_value *child = NULL;
        const firn_status st = copy_value(s, r, c, depth, &child);
        if (child && (st != FIRN_OK || !firn_value_append(map, child))) {
            firn_value_free(child);
            return st != FIRN_OK ? st : firn_fail(s->error, FIRN_NO_MEMORY, "out of memory");
        }
        if (st != FIRN_OK) return st;
    }
    return FIRN_OK;
}

static firn_status read_children(source *s, firn_value *parent, int depth)
{
    const char last = parent->kind == FIRN_MAP ? '}' : ']';
    firn_value *merged = NULL; /* what stands behind << */
    for (;;) {
        record r;
        firn_status st = s->next(s, &r);
        if (st != FIRN_OK) return st;
        if (r.kind == last) return merged ? merge(s, &r, depth + 1, parent, merged) : FIRN_OK;
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
        if (key && strcmp(key, "<<") == 0) { /* kept, because anchors may lead into it */
            child->next = s->kept;
            s->kept = child;
            if (st == FIRN_OK && merged) st = firn_yaml_fail(s, &first, "\"<<\" is given twice");
            if (st != FIRN_OK) return st;
            merged = child;
            continue;
        }
        if (!firn_value_append(parent, child)) {
            firn_value_free(child);
            return st == FIRN_OK ? firn_fail(s->error, FIRN_NO_MEMORY, "out of memory") : st;
        }
        if (st != FIRN_OK) return st;
    }
}

/* A value with an anchor, of which later aliases are copies. */
static firn_status read_anchor(source *s, const record *at, int depth, firn_value **out)
{
    char text[120];
    char *name;
    record r;
    firn_status st = copy_text(s, at, &name);
    if (st != FIRN_OK) return st;
    const record here = {.line = at->line, .column = at->column}; /* its text ends with it */
    st = s->next(s, &r);
    if (st == FIRN_OK) st = read_value(s, &r, depth + 1, out);
    if (st == FIRN_OK && firn_names_find(&s->anchors, name)) {
        snprintf(text, sizeof text, "anchor &%.60s is given twice", name);
        st = firn_yaml_fail(s, &here, text);
    }
    if (st == FIRN_OK && !firn_names_add(&s->anchors, name, *out)) {
        st = firn_fail(s->error, FIRN_NO_MEMORY, "out of memory");
    }
    if (st != FIRN_OK) free(name);
    return st;
}

/* *out is what was made even on failure: its parent frees it. */
static firn_status read_value(source *s, const record *r, int depth, firn_value **out)
{
    if (r->kind == '*') return read_alias(s, r, depth, out);
    firn_status st = count_value(s, r, depth);
    if (st != FIRN_OK) return st;
    if (r->kind == '&') return read_anchor(s, r, depth, out);
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
    for (size_t i = 0; i < s->anchors.room; i++) free((char *)s->anchors.slot[i].name);
    firn_names_free(&s->anchors);
    firn_value_free(s->kept);
    return st;
}
