/* YAML text to records, by libyaml. */
#include "scene/yaml.h"

#include <stdio.h>
#include <string.h>
#include <yaml.h>

#include "base/error.h"

typedef struct reader {
    firn_yaml_source source; /* first */
    yaml_parser_t parser;
    yaml_event_t event;        /* the last; its text is the record's */
    const unsigned char *text; /* all of it, of `size` bytes */
    size_t size;
    bool is_map[FIRN_MOST_DEPTH + 3]; /* the lists and maps that are open */
    int depth;
    bool key;   /* the next is one */
    bool named; /* the event's anchor was the last record */
    bool ended; /* a document was read */
} reader;

static firn_status fail_at(const reader *r, yaml_mark_t mark, const char *text)
{
    const firn_yaml_record at = {.line = (int)mark.line + 1, .column = (int)mark.column + 1};
    return firn_yaml_fail(&r->source, &at, text);
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

static firn_status next_event(reader *r)
{
    yaml_event_delete(&r->event);
    if (yaml_parser_parse(&r->parser, &r->event)) return FIRN_OK;
    const yaml_parser_t *p = &r->parser;
    if (p->error == YAML_MEMORY_ERROR) {
        return firn_fail(r->source.error, FIRN_NO_MEMORY, "out of memory");
    }
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

static const yaml_char_t *anchor_of(const yaml_event_t *e)
{
    return e->type == YAML_SCALAR_EVENT           ? e->data.scalar.anchor
           : e->type == YAML_SEQUENCE_START_EVENT ? e->data.sequence_start.anchor
           : e->type == YAML_MAPPING_START_EVENT  ? e->data.mapping_start.anchor
           : e->type == YAML_ALIAS_EVENT          ? e->data.alias.anchor
                                                  : NULL;
}

/* The kind of the event's record; ' ': there is none. */
static char kind_of(const reader *r)
{
    const yaml_event_t *e = &r->event;
    const bool begins = e->type == YAML_SCALAR_EVENT || e->type == YAML_ALIAS_EVENT ||
                        e->type == YAML_SEQUENCE_START_EVENT || e->type == YAML_MAPPING_START_EVENT;
    if (begins && r->ended) return '-';
    if (begins && anchor_of(e) && e->type != YAML_ALIAS_EVENT && !r->named)
        return r->key ? '?' : '&';
    switch (e->type) {
    case YAML_STREAM_END_EVENT: return 0;
    case YAML_SEQUENCE_END_EVENT: return ']';
    case YAML_MAPPING_END_EVENT: return '}';
    case YAML_ALIAS_EVENT: return r->key ? '?' : '*';
    case YAML_SCALAR_EVENT:
        if (r->key) return 'k';
        return e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE ? 's' : 'q';
    case YAML_SEQUENCE_START_EVENT: return r->key ? '?' : '[';
    case YAML_MAPPING_START_EVENT: return r->key ? '?' : '{';
    default: return ' ';
    }
}

static firn_status next_record(firn_yaml_source *source, firn_yaml_record *out)
{
    reader *r = (reader *)source;
    char kind = ' ';
    while (kind == ' ') {
        const firn_status st = r->named ? FIRN_OK : next_event(r);
        if (st != FIRN_OK) return st;
        kind = kind_of(r);
        r->named = kind == '&';
    }
    const yaml_mark_t mark = kind ? r->event.start_mark : (yaml_mark_t){0};
    *out = (firn_yaml_record){
        .kind = kind, .line = (int)mark.line + 1, .column = (int)mark.column + 1, .text = ""};
    if (kind == '&' || kind == '*') {
        out->text = (const char *)anchor_of(&r->event);
        out->size = strlen(out->text);
        if (kind == '&') return FIRN_OK;
    } else if (r->event.type == YAML_SCALAR_EVENT) {
        out->text = (const char *)r->event.data.scalar.value;
        out->size = r->event.data.scalar.length;
    }
    /* Builders go no deeper than they may, and end with what they refuse. */
    if (kind == '{' || kind == '[') r->is_map[++r->depth] = kind == '{';
    if (kind == '}' || kind == ']') r->depth--;
    r->ended = r->depth == 0;
    r->key = r->depth > 0 && r->is_map[r->depth] && kind != 'k';
    return FIRN_OK;
}

firn_status firn_yaml_parse(const char *file, bool option, const void *text, size_t size,
                            int *values, firn_value **out, firn_error *error)
{
    reader r = {.source = {file, option, values, error, next_record}, .text = text, .size = size};
    *out = NULL;
    if (!yaml_parser_initialize(&r.parser)) {
        return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    }
    yaml_parser_set_input_string(&r.parser, text, size);
    yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
    const firn_status st = firn_yaml_build(&r.source, out);
    yaml_event_delete(&r.event);
    yaml_parser_delete(&r.parser);
    return st;
}
