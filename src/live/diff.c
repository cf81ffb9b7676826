/* What a scene says, as sorted lines of path and value, so that two can be compared. A list of numbers or
 * words is one value; so is an empty map, which may switch something on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "live/live.h"

static bool is_plain(const firn_value *v)
{
    bool plain = v->kind == FIRN_LIST;
    for (const firn_value *c = v->child; c && plain; c = c->next) plain = c->kind == FIRN_SCALAR;
    return plain || v->kind == FIRN_SCALAR || !v->child;
}

/* The value as one text; NULL: no memory. */
static char *value_text(const firn_value *v)
{
    if (v->kind == FIRN_MAP) return strdup("{}");
    size_t room = 3;
    const firn_value *first = v->kind == FIRN_LIST ? v->child : v;
    for (const firn_value *c = first; c; c = c->next) {
        room += strlen(c->text) + 4;
        if (c == v) break;
    }
    char *text = malloc(room), *at = text;
    if (!text) return NULL;
    if (v->kind == FIRN_LIST) *at++ = '[';
    for (const firn_value *c = first; c; c = c->next) {
        at += sprintf(at, "%s%s%s", c->quoted ? "'" : "", c->text, c == v ? "" : ", ");
        if (c == v) break;
    }
    if (v->kind == FIRN_LIST) *at++ = ']';
    *at = 0;
    return text;
}

static bool add(firn_scene_says *s, const char *path, const firn_value *v)
{
    if (s->count == s->room) {
        const int64_t room = 2 * s->room + 64;
        firn_scene_line *grown = realloc(s->line, (size_t)room * sizeof *grown);
        if (!grown) return false;
        s->line = grown;
        s->room = room;
    }
    firn_scene_line *l = &s->line[s->count];
    *l = (firn_scene_line){strdup(path), value_text(v)};
    s->count++;
    return l->path && l->value;
}

static bool add_all(firn_scene_says *s, const firn_value *v, const char *path)
{
    if (is_plain(v) && *path) return add(s, path, v);
    int64_t i = 0;
    bool fine = true;
    for (const firn_value *c = v->child; c && fine; c = c->next, i++) {
        const size_t room = strlen(path) + (c->key ? strlen(c->key) : 0) + 32;
        char *longer = malloc(room);
        if (!longer) return false;
        if (c->key) {
            snprintf(longer, room, "%s%s%s", path, *path ? "." : "", c->key);
        } else {
            snprintf(longer, room, "%s[%lld]", path, (long long)i);
        }
        fine = add_all(s, c, longer);
        free(longer);
    }
    return fine;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const firn_scene_line *)a)->path, ((const firn_scene_line *)b)->path);
}

firn_status firn_says_read(firn_scene_says *out, const firn_scene *scene, firn_error *error)
{
    *out = (firn_scene_says){0};
    if (!add_all(out, scene->tree.root, "")) {
        firn_says_free(out);
        return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    }
    if (out->count) qsort(out->line, (size_t)out->count, sizeof *out->line, by_path);
    return FIRN_OK;
}

void firn_says_free(firn_scene_says *s)
{
    for (int64_t i = 0; i < s->count; i++) {
        free(s->line[i].path);
        free(s->line[i].value);
    }
    free(s->line);
    *s = (firn_scene_says){0};
}

bool firn_says_differ(const firn_scene_says *a, const firn_scene_says *b, int64_t *i, int64_t *k,
                      firn_scene_line **old, firn_scene_line **new)
{
    *old = *new = NULL;
    while (*i < a->count || *k < b->count) {
        const int order = *i == a->count   ? 1
                          : *k == b->count ? -1
                                           : strcmp(a->line[*i].path, b->line[*k].path);
        *old = order <= 0 ? &a->line[(*i)++] : NULL;
        *new = order >= 0 ? &b->line[(*k)++] : NULL;
        if (!*old || !*new || strcmp((*old)->value, (*new)->value) != 0) return true;
    }
    return false;
}
