/* YAML text to a tree of values, by libyaml. Anchors and aliases are refused: a few bytes of them can
 * stand for gigabytes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/error.h"
#include "io/io.h"
#include "scene/value.h"

/* Values, files and bytes (FIRN_MOST_SCENE) are counted over a scene and all that it includes. */
enum { MOST_DEPTH = 64, MOST_NESTED = 32, MOST_FILES = 1000, MOST_VALUES = 1000000 };

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
    if (depth > MOST_DEPTH) {
        snprintf(text, sizeof text, "more than %d levels; write it flatter", MOST_DEPTH);
        return fail_at(r, event->start_mark, text);
    }
    if (++*r->values > MOST_VALUES) {
        snprintf(text, sizeof text, "more than %d values; use fewer, or a particle file",
                 MOST_VALUES);
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

/* One document. */
static firn_status parse(const char *file, bool option, const void *text, size_t size, int *values,
                         firn_value **out, firn_error *error)
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

static firn_status parse_map(const char *file, const firn_bytes *bytes, int *values,
                             firn_value **out, firn_error *error)
{
    const firn_bytes text = firn_bytes_text(bytes);
    firn_status st = parse(file, false, text.data, text.size, values, out, error);
    if (st != FIRN_OK || (*out)->kind == FIRN_MAP) return st;
    st = firn_value_fail(*out, error, "a scene is a map: lines like `name: value`");
    firn_value_free(*out);
    *out = NULL;
    return st;
}

/* ---- includes ---- */

/* Entries that `into` does not have are moved over from `from`; maps are merged, and lists of an
 * included file come first. False: no memory. */
static bool merge(firn_value *into, firn_value *from)
{
    while (from->child) {
        firn_value *c = from->child;
        from->child = c->next;
        c->next = NULL;
        firn_value *mine = firn_value_get(into, c->key);
        bool kept = true;
        if (!mine) {
            kept = firn_value_append(into, c);
            if (kept) continue;
        } else if (mine->kind == FIRN_MAP && c->kind == FIRN_MAP) {
            kept = merge(mine, c);
        } else if (mine->kind == FIRN_LIST && c->kind == FIRN_LIST && c->child) {
            c->last->next = mine->child;
            if (!mine->last) mine->last = c->last;
            mine->child = c->child;
            mine->count += c->count;
            c->child = NULL;
        }
        firn_value_free(c);
        if (!kept) return false;
    }
    return true;
}

char *firn_beside(const char *from, const char *name)
{
    const char *slash = strrchr(from, '/');
    const size_t folder = name[0] == '/' || !slash ? 0 : (size_t)(slash - from) + 1;
    char *path = malloc(folder + strlen(name) + 1);
    if (!path) return NULL;
    memcpy(path, from, folder);
    strcpy(path + folder, name);
    return path;
}

/* A copy that lives as long as the tree; NULL: no memory. */
static const char *keep_name(firn_tree *tree, const char *path)
{
    char **grown = realloc(tree->files, ((size_t)tree->file_count + 1) * sizeof *grown);
    if (!grown) return NULL;
    tree->files = grown;
    char *name = strdup(path);
    if (name) tree->files[tree->file_count++] = name;
    return name;
}

/* A scene and its includes, while they are read. */
typedef struct loading {
    firn_tree *tree;
    const char *open[MOST_NESTED + 1]; /* files being read, from the first on */
    uint64_t bytes;                /* of all so far */
    int values;
} loading;

/* Whether an included file can be one more, at that depth. */
static firn_status check_include(const loading *all, const char *path, const firn_value *where,
                                 int depth, firn_error *error)
{
    for (int i = 0; i < depth; i++) {
        if (strcmp(all->open[i], path) == 0) {
            return firn_value_fail(where, error, "%s includes itself; remove one include", path);
        }
    }
    if (depth > MOST_NESTED) {
        return firn_value_fail(where, error, "more than %d levels of include; use fewer",
                               MOST_NESTED);
    }
    if (all->tree->file_count == MOST_FILES) {
        return firn_value_fail(where, error, "more than %d files are included in all; use fewer",
                               MOST_FILES);
    }
    return FIRN_OK;
}

/* `where` is what includes it; NULL: nothing does. */
static firn_status read_file(loading *all, const char *path, const firn_value *where, int depth,
                             firn_value **out, firn_error *error)
{
    *out = NULL;
    firn_status st = where ? check_include(all, path, where, depth, error) : FIRN_OK;
    if (st != FIRN_OK) return st;
    const char *name = keep_name(all->tree, path);
    if (!name) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    all->open[depth] = name;

    firn_bytes bytes;
    firn_error inner = {0};
    st = firn_bytes_read_most(path, FIRN_MOST_SCENE, &bytes, &inner);
    if (st != FIRN_OK) {
        return where ? firn_value_pass(where, &inner, error)
                     : firn_fail(error, st, "%s", inner.message);
    }
    all->bytes += bytes.size;
    st = all->bytes <= FIRN_MOST_SCENE
             ? parse_map(name, &bytes, &all->values, out, error)
             : firn_value_fail(where, error, "the scene and its includes have more than %d MiB",
                               (int)(FIRN_MOST_SCENE >> 20));
    firn_bytes_free(&bytes);
    if (st != FIRN_OK) return st;
    const firn_value *include = firn_value_get(*out, "include");
    const firn_value *each = include && include->kind == FIRN_LIST ? include->child : include;
    for (; st == FIRN_OK && each; each = include->kind == FIRN_LIST ? each->next : NULL) {
        if (each->kind != FIRN_SCALAR) {
            st = firn_value_fail(each, error, "include takes a file's name, or a list of them");
            break;
        }
        char *other = firn_beside(path, each->text);
        firn_value *part = NULL;
        st = other ? read_file(all, other, each, depth + 1, &part, error)
                   : firn_fail(error, FIRN_NO_MEMORY, "out of memory");
        free(other);
        if (part && !merge(*out, part)) st = firn_fail(error, FIRN_NO_MEMORY, "out of memory");
        firn_value_free(part);
    }
    if (st != FIRN_OK) {
        firn_value_free(*out);
        *out = NULL;
    }
    return st;
}

firn_status firn_tree_read(firn_tree *tree, const char *path, firn_error *error)
{
    *tree = (firn_tree){0};
    loading all = {.tree = tree};
    firn_status st = read_file(&all, path, NULL, 0, &tree->root, error);
    if (st != FIRN_OK) firn_tree_free(tree);
    return st;
}

firn_status firn_tree_parse(firn_tree *tree, const char *name, const firn_bytes *text,
                            firn_error *error)
{
    *tree = (firn_tree){0};
    const char *kept = keep_name(tree, name);
    int values = 0;
    firn_status st = kept ? parse_map(kept, text, &values, &tree->root, error)
                          : firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    const firn_value *include = firn_value_get(tree->root, "include");
    if (st == FIRN_OK && include) {
        st = firn_value_fail(include, error, "include works in files only: this is text");
    }
    if (st != FIRN_OK) firn_tree_free(tree);
    return st;
}

firn_status firn_tree_set(firn_tree *tree, const char *option, const char *assignment,
                          firn_error *error)
{
    const char *equals = strchr(assignment, '=');
    if (!equals || equals == assignment) {
        return firn_fail(error, FIRN_INVALID, "%s %s: write path=value, as in %s frames.end=48",
                         option, assignment, option);
    }
    const char *text = equals + 1;
    if (!*text) return firn_fail(error, FIRN_INVALID, "%s %s: no value", option, assignment);
    char path[256], called[300];
    if ((size_t)(equals - assignment) >= sizeof path) {
        return firn_fail(error, FIRN_INVALID, "%s: a path of more than %zu letters", option,
                         sizeof path);
    }
    memcpy(path, assignment, (size_t)(equals - assignment));
    path[equals - assignment] = 0;
    snprintf(called, sizeof called, "%s %s", option, path);
    const char *name = keep_name(tree, called);
    if (!name) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    firn_value *value = NULL;
    int values = 0;
    const firn_status st = parse(name, true, text, strlen(text), &values, &value, error);
    return st == FIRN_OK ? firn_value_set(tree->root, path, value, error) : st;
}

/* Plain where nothing in it could mean something to YAML. */
static void write_text(const char *text, bool quoted, firn_output *out)
{
    const size_t plain = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                      "0123456789._+-");
    if (!quoted && *text && text[plain] == 0) {
        firn_output_print(out, "%s", text);
        return;
    }
    firn_output_print(out, "\"");
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\') {
            firn_output_print(out, "\\%c", c);
        } else if (c < 32) {
            firn_output_print(out, "\\x%02x", c);
        } else {
            firn_output_print(out, "%c", c);
        }
    }
    firn_output_print(out, "\"");
}

static void write_value(const firn_value *v, firn_output *out)
{
    if (v->kind == FIRN_SCALAR) {
        write_text(v->text, v->quoted, out);
        return;
    }
    firn_output_print(out, v->kind == FIRN_MAP ? "{" : "[");
    for (const firn_value *c = v->child; c; c = c->next) {
        if (v->kind == FIRN_MAP) {
            write_text(c->key, false, out);
            firn_output_print(out, ": ");
        }
        write_value(c, out);
        if (c->next) firn_output_print(out, ", ");
    }
    firn_output_print(out, v->kind == FIRN_MAP ? "}" : "]");
}

void firn_value_write(const firn_value *map, firn_output *out)
{
    for (const firn_value *c = map->child; c; c = c->next) {
        if (strcmp(c->key, "include") == 0) continue;
        write_text(c->key, false, out);
        firn_output_print(out, ": ");
        write_value(c, out);
        firn_output_print(out, "\n");
    }
}

void firn_tree_free(firn_tree *tree)
{
    firn_value_free(tree->root);
    for (int i = 0; i < tree->file_count; i++) free(tree->files[i]);
    free(tree->files);
    *tree = (firn_tree){0};
}
