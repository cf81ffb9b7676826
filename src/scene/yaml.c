/* YAML text to a tree of values, by libyaml. Anchors and aliases are refused: a few bytes of them can
 * stand for gigabytes. */
#include "scene/yaml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/error.h"

typedef struct reader {
    yaml_parser_t parser;
    const char *file;
    bool option;               /* the text is an option's: it has no lines */
    const unsigned char *text; /* all of it, of `size` bytes */
    size_t size;
    int *values; /* made so far */
    firn_error *error;
} reader;

static void place(firn_value *v, const reader *r, yaml_mark_t mark)
{
    v->file = r->file;
    v->line = r->option ? 0 : (int)mark.line + 1;
    v->column = (int)mark.column + 1;
}

static firn_status fail_at(const reader *r, yaml_mark_t mark, const char *text)
{
    firn_value here = {0};
    place(&here, r, mark);
    return firn_value_fail(&here, r->error, "%s", text);
}

/* The line and column of a byte; the letters before it are whole. */
static yaml_mark_t mark_of(const reader *r, size_t offset)
{
    yaml_mark_t mark = {.index = offset};
    for (size_t i = 0; i < offset && i < r->size; i++) {
        if (r->text[i] == '\n') {
            mark.line++;
            mark.column = 0;
        } else if ((r->text[i] & 0xc0) != 0x80) {
            mark.column++;
        }
    }
    return mark;
}

static firn_status next_event(reader *r, yaml_event_t *event)
{
    if (yaml_parser_parse(&r->parser, event)) return FIRN_OK;
    const yaml_parser_t *p = &r->parser;
    if (p->error == YAML_MEMORY_ERROR) return firn_fail(r->error, FIRN_NO_MEMORY, "out of memory");
    char text[300];
    if (p->error == YAML_READER_ERROR) {
        snprintf(text, sizeof text, "%s; scenes are UTF-8 text", p->problem);
        return fail_at(r, mark_of(r, p->problem_offset), text);
    }
    const char *problem = p->problem ? p->problem : "bad YAML";
    if (strstr(problem, "cannot start any token")) { /* what libyaml says about tabs */
        return fail_at(
            r, p->problem_mark,
            "a value cannot begin like this: indent with spaces, not tabs, and quote text that "
            "begins with @ or `");
    }
    if (!p->context) return fail_at(r, p->problem_mark, problem);
    snprintf(text, sizeof text, "%s %s, from line %zu on", problem, p->context,
             p->context_mark.line + 1);
    return fail_at(r, p->problem_mark, text);
}

static firn_status read_value(reader *r, const yaml_event_t *event, int depth, firn_value **out);

/* The entries of a list or map up to its end. */
static firn_status read_children(reader *r, firn_value *parent, int depth)
{
    for (;;) {
        yaml_event_t event;
        firn_status st = next_event(r, &event);
        if (st != FIRN_OK) return st;
        if (event.type == YAML_SEQUENCE_END_EVENT || event.type == YAML_MAPPING_END_EVENT) {
            yaml_event_delete(&event);
            return FIRN_OK;
        }
        char *key = NULL;
        yaml_mark_t mark = event.start_mark;
        if (parent->kind == FIRN_MAP) {
            if (event.type != YAML_SCALAR_EVENT) {
                yaml_event_delete(&event);
                return fail_at(r, mark, "a key must be a plain word");
            }
            if (event.data.scalar.anchor) {
                yaml_event_delete(&event);
                return fail_at(r, mark, "anchors (&name) are not supported: remove it");
            }
            key = strdup((const char *)event.data.scalar.value);
            yaml_event_delete(&event);
            if (!key) return firn_fail(r->error, FIRN_NO_MEMORY, "out of memory");
            if (firn_value_get(parent, key)) {
                char text[200];
                snprintf(text, sizeof text, "\"%s\" is given twice", key);
                free(key);
                return fail_at(r, mark, text);
            }
            st = next_event(r, &event);
            if (st != FIRN_OK) {
                free(key);
                return st;
            }
        }
        firn_value *child = NULL;
        st = read_value(r, &event, depth + 1, &child);
        yaml_event_delete(&event);
        if (child) {
            child->key = key;
            if (key) place(child, r, mark);
        } else {
            free(key);
        }
        if (child && !firn_value_append(parent, child)) {
            firn_value_free(child);
            if (st == FIRN_OK) st = firn_fail(r->error, FIRN_NO_MEMORY, "out of memory");
        }
        if (st != FIRN_OK) return st;
    }
}

/* *out is what was made even on failure: its parent frees it. */
static firn_status read_value(reader *r, const yaml_event_t *event, int depth, firn_value **out)
{
    char text[80];
    if (depth > FIRN_MOST_DEPTH) {
        snprintf(text, sizeof text, "more than %d levels; write it flatter", FIRN_MOST_DEPTH);
        return fail_at(r, event->start_mark, text);
    }
    if (++*r->values > FIRN_MOST_VALUES) {
        snprintf(text, sizeof text, "more than %d values; use fewer, or a particle file",
                 FIRN_MOST_VALUES);
        return fail_at(r, event->start_mark, text);
    }
    if (event->type == YAML_ALIAS_EVENT) {
        return fail_at(r, event->start_mark, "aliases (*name) are not supported: write it out");
    }
    const yaml_char_t *anchor = event->type == YAML_SCALAR_EVENT ? event->data.scalar.anchor
                                : event->type == YAML_SEQUENCE_START_EVENT
                                    ? event->data.sequence_start.anchor
                                    : event->data.mapping_start.anchor;
    if (anchor) {
        return fail_at(r, event->start_mark, "anchors (&name) are not supported: remove it");
    }
    firn_value *v = firn_value_new(event->type == YAML_SCALAR_EVENT           ? FIRN_SCALAR
                                   : event->type == YAML_SEQUENCE_START_EVENT ? FIRN_LIST
                                                                              : FIRN_MAP,
                                   NULL);
    if (!v) return firn_fail(r->error, FIRN_NO_MEMORY, "out of memory");
    *out = v;
    place(v, r, event->start_mark);
    if (v->kind != FIRN_SCALAR) return read_children(r, v, depth);
    if (strlen((const char *)event->data.scalar.value) != event->data.scalar.length) {
        return fail_at(r, event->start_mark, "text with a zero byte");
    }
    v->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    v->text = strdup((const char *)event->data.scalar.value);
    return v->text ? FIRN_OK : firn_fail(r->error, FIRN_NO_MEMORY, "out of memory");
}

firn_status firn_yaml_parse(const char *file, bool option, const void *text, size_t size,
                            int *values, firn_value **out, firn_error *error)
{
    reader r = {.file = file,
                .option = option,
                .text = text,
                .size = size,
                .values = values,
                .error = error};
    *out = NULL;
    if (!yaml_parser_initialize(&r.parser)) {
        return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    }
    yaml_parser_set_input_string(&r.parser, text, size);
    yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
    firn_status st = FIRN_OK;
    for (bool ended = false; st == FIRN_OK && !ended;) {
        yaml_event_t event;
        st = next_event(&r, &event);
        if (st != FIRN_OK) break;
        if (event.type == YAML_STREAM_END_EVENT) {
            ended = true;
        } else if (event.type == YAML_SCALAR_EVENT || event.type == YAML_SEQUENCE_START_EVENT ||
                   event.type == YAML_MAPPING_START_EVENT || event.type == YAML_ALIAS_EVENT) {
            st = *out ? fail_at(&r, event.start_mark, "a second document (---) in one file")
                      : read_value(&r, &event, 0, out);
        }
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&r.parser);
    if (st == FIRN_OK && !*out) {
        st = fail_at(&r, (yaml_mark_t){0}, option ? "no value" : "the file is empty");
    }
    if (st != FIRN_OK) {
        firn_value_free(*out);
        *out = NULL;
    }
    return st;
}
