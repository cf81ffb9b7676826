/* A scene as a tree: what the generator builds and what shrinking cuts. Written as YAML and read
 * again by libyaml, which the library for scenes is linked with. */
#include "torture.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

static void *must(void *memory)
{
    if (!memory) abort();
    return memory;
}

static char *copy(const char *text) { return text ? must(strdup(text)) : NULL; }

static node *append(node *parent, const char *key, const char *value, bool list)
{
    node *n = must(calloc(1, sizeof *n));
    *n = (node){.key = copy(key), .value = copy(value), .list = list};
    if (!parent) return n;
    node **end = &parent->child;
    while (*end) end = &(*end)->next;
    return *end = n;
}

node *node_map(node *parent, const char *key) { return append(parent, key, NULL, false); }

node *node_list(node *parent, const char *key) { return append(parent, key, NULL, true); }

void node_word(node *parent, const char *key, const char *value)
{
    append(parent, key, value, false);
}

void node_number(node *parent, const char *key, double value)
{
    char text[40];
    snprintf(text, sizeof text, "%.6g", value);
    append(parent, key, text, false);
}

void node_vector(node *parent, const char *key, const double *value, int count)
{
    node *list = node_list(parent, key);
    for (int i = 0; i < count; i++) node_number(list, NULL, value[i]);
}

const node *node_get(const node *map, const char *key)
{
    const node *n = map ? map->child : NULL;
    while (n && !(n->key && strcmp(n->key, key) == 0)) n = n->next;
    return n;
}

double node_get_number(const node *map, const char *key, double fallback)
{
    const node *n = node_get(map, key);
    return n && n->value ? strtod(n->value, NULL) : fallback;
}

void node_get_vector(const node *map, const char *key, double value[3])
{
    const node *n = node_get(map, key);
    int i = 0;
    for (n = n ? n->child : NULL; n && i < 3; n = n->next) value[i++] = strtod(n->value, NULL);
}

node *node_copy(const node *from)
{
    node *n = append(NULL, from->key, from->value, from->list), **end = &n->child;
    for (const node *c = from->child; c; c = c->next, end = &(*end)->next) *end = node_copy(c);
    return n;
}

void node_free(node *tree)
{
    if (!tree) return;
    for (node *c = tree->child, *next; c; c = next) {
        next = c->next;
        node_free(c);
    }
    free(tree->key);
    free(tree->value);
    free(tree);
}

node **node_at(node *tree, int *index)
{
    for (node **c = &tree->child; *c; c = &(*c)->next) {
        if ((*index)-- == 0) return c;
        node **below = node_at(*c, index);
        if (below) return below;
    }
    return NULL;
}

static void write_flow(const node *n, FILE *file)
{
    if (n->value) {
        fputs(n->value, file);
        return;
    }
    fputc(n->list ? '[' : '{', file);
    for (const node *c = n->child; c; c = c->next) {
        if (c->key) fprintf(file, "%s: ", c->key);
        write_flow(c, file);
        if (c->next) fputs(", ", file);
    }
    fputc(n->list ? ']' : '}', file);
}

void node_write(const node *tree, FILE *file)
{
    for (const node *c = tree->child; c; c = c->next) {
        fprintf(file, "%s:", c->key);
        if (c->list && c->child && !c->child->value) {
            fputc('\n', file);
            for (const node *entry = c->child; entry; entry = entry->next) {
                fputs("  - ", file);
                write_flow(entry, file);
                fputc('\n', file);
            }
        } else {
            fputc(' ', file);
            write_flow(c, file);
            fputc('\n', file);
        }
    }
}

static void read_item(yaml_document_t *document, int item, const char *key, node *parent)
{
    yaml_node_t *n = yaml_document_get_node(document, item);
    if (n->type == YAML_SCALAR_NODE) {
        append(parent, key, (const char *)n->data.scalar.value, false);
        return;
    }
    node *into = append(parent, key, NULL, n->type == YAML_SEQUENCE_NODE);
    if (n->type == YAML_SEQUENCE_NODE) {
        for (yaml_node_item_t *i = n->data.sequence.items.start; i < n->data.sequence.items.top;
             i++) {
            read_item(document, *i, NULL, into);
        }
        return;
    }
    for (yaml_node_pair_t *p = n->data.mapping.pairs.start; p < n->data.mapping.pairs.top; p++) {
        yaml_node_t *name = yaml_document_get_node(document, p->key);
        if (name->type != YAML_SCALAR_NODE) continue;
        read_item(document, p->value, (const char *)name->data.scalar.value, into);
    }
}

node *node_read(const char *text, size_t size)
{
    yaml_parser_t parser;
    yaml_document_t document;
    if (!yaml_parser_initialize(&parser)) return NULL;
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, size);
    node *root = NULL;
    if (yaml_parser_load(&parser, &document)) {
        const yaml_node_t *top = yaml_document_get_root_node(&document);
        if (top && top->type == YAML_MAPPING_NODE) {
            node *holder = append(NULL, NULL, NULL, true);
            read_item(&document, 1, NULL, holder);
            root = holder->child;
            holder->child = NULL;
            node_free(holder);
        }
        yaml_document_delete(&document);
    }
    yaml_parser_delete(&parser);
    return root;
}
