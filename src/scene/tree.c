/* The tree of a scene's values: from a file with its includes merged in or from text, changed by
 * settings, and written as YAML again. Parsing text is yaml.h's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "io/io.h"
#include "scene/value.h"
#include "scene/yaml.h"

/* Values, files and bytes (FIRN_MOST_SCENE) are counted over a scene and all that it includes. */
enum { MOST_NESTED = 32, MOST_FILES = 1000 };

static firn_status parse_map(const char *file, const firn_bytes *bytes, int *values,
                             firn_value **out, firn_error *error)
{
    const firn_bytes text = firn_bytes_text(bytes);
    firn_status st = firn_yaml_parse(file, false, text.data, text.size, values, out, error);
    if (st != FIRN_OK || (*out)->kind == FIRN_MAP) return st;
    st = firn_value_fail(*out, error, "a scene is a map: lines like `name: value`");
    firn_value_free(*out);
    *out = NULL;
    return st;
}

/* ---- includes ---- */

/* The first child, which is then nobody's. */
static firn_value *take_first(firn_value *from)
{
    firn_value *c = from->child;
    from->child = c->next;
    c->next = NULL;
    return c;
}

static const char *name_of(const firn_value *entry)
{
    const firn_value *name = firn_value_get(entry, "name");
    return name && name->kind == FIRN_SCALAR ? name->text : NULL;
}

static bool merge(firn_value *into, firn_value *from, bool entry);

enum { TAKEN = -1 }; /* line of an entry whose content has gone elsewhere */

/* Entries of the included list come first, with what `mine` says of those it has by name. False: no memory. */
static bool join(firn_value *mine, firn_value *included)
{
    firn_names named = {0};
    bool fine = true;
    for (firn_value *c = mine->child; c && fine; c = c->next) {
        const char *name = name_of(c);
        fine = !name || firn_names_find(&named, name) || firn_names_add(&named, name, c);
    }
    for (firn_value *c = included->child; c && fine; c = c->next) {
        const char *name = name_of(c);
        firn_value *same = name ? firn_names_find(&named, name) : NULL;
        if (!same || same->line == TAKEN) continue;
        firn_value swap = *c, *next = same->next;
        *c = *same;
        c->next = swap.next;
        *same = swap;
        same->next = next;
        same->line = TAKEN;
        fine = merge(c, same, true);
    }
    firn_names_free(&named);
    firn_value rest = {.child = mine->child};
    mine->child = included->child;
    mine->last = included->last;
    mine->count = included->count;
    included->child = NULL;
    while (rest.child) {
        firn_value *c = take_first(&rest);
        if (c->line != TAKEN && firn_value_append(mine, c)) continue;
        firn_value_free(c);
    }
    return fine;
}

static bool lists_maps(const firn_value *v)
{
    return v->kind == FIRN_LIST && v->child && v->child->kind == FIRN_MAP;
}

/* What `into` does not say is moved over from `from`: maps are merged, but a shape and keys are one thing, and
 * lists of maps are joined, but not within one of their entries. False: no memory. */
static bool merge(firn_value *into, firn_value *from, bool entry)
{
    while (from->child) {
        firn_value *c = take_first(from), *mine = firn_value_get(into, c->key);
        const bool whole = strcmp(c->key, "shape") == 0 || strcmp(c->key, "keys") == 0;
        bool kept = true;
        if (!mine) {
            kept = firn_value_append(into, c);
            if (kept) continue;
        } else if (mine->kind == FIRN_MAP && c->kind == FIRN_MAP && !whole) {
            kept = merge(mine, c, entry);
        } else if (lists_maps(mine) && lists_maps(c) && !entry) {
            kept = join(mine, c);
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
    uint64_t bytes;                    /* of all so far */
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
        if (part && !merge(*out, part, false))
            st = firn_fail(error, FIRN_NO_MEMORY, "out of memory");
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
        st = firn_value_fail(include, error,
                             "include works in files only: write out what it brings, or open the "
                             "file with `firn view`");
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
    const firn_status st = firn_yaml_parse(name, true, text, strlen(text), &values, &value, error);
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
