/* The tree of values: building, paths such as `objects.ball.velocity` and `output[0].file`,
 * setting by path, and the known name nearest to a misspelt one. */
#include "scene/value.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

firn_value *firn_value_new(firn_value_kind kind, const firn_value *where)
{
    firn_value *v = calloc(1, sizeof *v);
    if (!v) return NULL;
    v->kind = kind;
    if (where) {
        v->file = where->file;
        v->line = where->line;
        v->column = where->column;
    }
    return v;
}

void firn_value_free(firn_value *value)
{
    while (value) {
        firn_value *next = value->next;
        firn_value_free(value->child);
        firn_names_free(&value->names);
        free(value->key);
        free(value->text);
        free(value);
        value = next;
    }
}

firn_value firn_value_of_key(const firn_value *entry)
{
    return (firn_value){.kind = FIRN_SCALAR,
                        .text = entry->key,
                        .file = entry->file,
                        .line = entry->line,
                        .column = entry->column,
                        .context = entry->context};
}

void firn_value_use(firn_value *value, firn_context *context)
{
    for (; value; value = value->next) {
        value->context = context;
        firn_value_use(value->child, context);
    }
}

firn_value *firn_value_get(const firn_value *map, const char *key)
{
    if (!map || map->kind != FIRN_MAP) return NULL;
    if (map->names.count) return firn_names_find(&map->names, key);
    for (firn_value *c = map->child; c; c = c->next) {
        if (strcmp(c->key, key) == 0) return c;
    }
    return NULL;
}

/* The children of a map that has become too large to look through. */
static bool name_children(firn_value *map)
{
    for (firn_value *c = map->child; c; c = c->next) {
        if (firn_names_add(&map->names, c->key, c)) continue;
        firn_names_free(&map->names);
        return false;
    }
    return true;
}

bool firn_value_append(firn_value *parent, firn_value *child)
{
    enum { FEW = 16 };
    if (parent->kind == FIRN_MAP && parent->count >= FEW) {
        if (!parent->names.count && !name_children(parent)) return false;
        if (!firn_names_add(&parent->names, child->key, child)) return false;
    }
    *(parent->last ? &parent->last->next : &parent->child) = child;
    parent->last = child;
    parent->count++;
    return true;
}

int firn_value_count(const firn_value *value) { return value ? value->count : 0; }

const char *firn_value_location(const firn_value *where, char text[FIRN_LOCATION_SIZE])
{
    if (!where->line) return where->file;
    snprintf(text, FIRN_LOCATION_SIZE, "%s:%d:%d", where->file, where->line, where->column);
    return text;
}

firn_status firn_value_fail_at(const firn_value *where, firn_error *error, const char *format, ...)
{
    char text[400], place[FIRN_LOCATION_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return firn_fail(error, FIRN_INVALID, "%s: %s", firn_value_location(where, place), text);
}

firn_status firn_value_pass(const firn_value *where, const firn_error *inner, firn_error *error)
{
    char place[FIRN_LOCATION_SIZE];
    return firn_fail(error, inner->status, "%s: %s", firn_value_location(where, place),
                     inner->message);
}

/* ---- paths ---- */

/* The entry of a list by number ("2") or by its `name`, or NULL. */
static firn_value *list_entry(const firn_value *list, const char *which)
{
    char *end = NULL;
    long number = strtol(which, &end, 10);
    const bool numbered = *which && !*end;
    for (firn_value *c = list->child; c; c = c->next) {
        const firn_value *name = firn_value_get(c, "name");
        if (numbered ? number-- == 0 : name && name->text && strcmp(name->text, which) == 0) {
            return c;
        }
    }
    return NULL;
}

static char *copy_text(const char *text, size_t length)
{
    char *copy = malloc(length + 1);
    if (!copy) return NULL;
    memcpy(copy, text, length);
    copy[length] = 0;
    return copy;
}

/* Puts `value` in the place of what `old` holds; its own shell is freed. */
static void replace(firn_value *old, firn_value *value)
{
    firn_value before = *old;
    *old = *value;
    old->key = before.key;
    old->next = before.next;
    before.key = value->key;
    before.next = NULL;
    *value = before;
    firn_value_free(value);
}

/* The next part of a path, which moves on behind it; a[2] is a.2. False at the end and where there
 * is none: then *path is at what is wrong. */
static bool next_part(const char **path, char part[128])
{
    const char *p = *path;
    const size_t length = strcspn(p, ".[");
    if (length == 0 || length >= 128 || (p[length] == '.' && !p[length + 1])) return false;
    memcpy(part, p, length);
    part[length] = 0;
    if (length > 1 && part[length - 1] == ']') part[length - 1] = 0;
    *path = p + length + (p[length] != 0);
    return true;
}

firn_value *firn_value_find(firn_value *root, const char *path)
{
    char part[128];
    firn_value *at = root;
    while (at && next_part(&path, part)) {
        at = at->kind == FIRN_LIST ? list_entry(at, part) : firn_value_get(at, part);
    }
    return *path ? NULL : at;
}

static firn_status no_entry(const firn_value *list, const char *which, const firn_value *where,
                            firn_error *error)
{
    const char *names[65];
    int n = 0;
    for (const firn_value *c = list->child; c && n < 64; c = c->next) {
        const firn_value *name = firn_value_get(c, "name");
        if (name && name->text) names[n++] = name->text;
    }
    names[n] = NULL;
    char near[200] = "";
    if (n) firn_nearest(which, names, near, sizeof near);
    return firn_value_fail(where, error, "the list has no entry \"%s\"%s", which, near);
}

firn_status firn_value_set(firn_value *root, const char *path, firn_value *value, firn_error *error)
{
    firn_value *at = root;
    const char *p = path;
    char part[128];
    while (next_part(&p, part)) {
        firn_value *next = NULL;
        if (at->kind == FIRN_LIST) {
            next = list_entry(at, part);
            if (!next) {
                const firn_status st = no_entry(at, part, value, error);
                firn_value_free(value);
                return st;
            }
        } else {
            if (at->kind == FIRN_SCALAR) { /* what was a plain value becomes a map */
                free(at->text);
                at->text = NULL;
                at->kind = FIRN_MAP;
            }
            next = firn_value_get(at, part);
            if (!next) {
                next = firn_value_new(FIRN_MAP, value);
                if (next) next->key = copy_text(part, strlen(part));
                if (!next || !next->key || !firn_value_append(at, next)) {
                    firn_value_free(next);
                    firn_value_free(value);
                    return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
                }
            }
        }
        at = next;
    }
    if (*p || at == root) {
        firn_status st = firn_value_fail(
            value, error, "\"%s\" is not a path: write names with dots between, as in frames.end",
            path);
        firn_value_free(value);
        return st;
    }
    replace(at, value);
    return FIRN_OK;
}
