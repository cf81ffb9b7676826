/* YAML text to a tree of values. One of two files does it: yaml.c by libyaml, and in WebAssembly, which has
 * no libyaml, yaml_page.c by the page's own parser, whose result yaml_encoded.c reads. Both refuse the same
 * things in the same words. */
#ifndef FIRN_YAML_H
#define FIRN_YAML_H

#include <stdbool.h>
#include <stddef.h>

#include "scene/value.h"

enum { FIRN_MOST_DEPTH = 64, FIRN_MOST_VALUES = 1000000 };

/* One document. Places are in `file`, whose name must outlive the tree; an option's text has no lines.
 * `values` counts what is made, over several calls. On failure *out is NULL. */
firn_status firn_yaml_parse(const char *file, bool option, const void *text, size_t size,
                            int *values, firn_value **out, firn_error *error);

/* The same from what a parser elsewhere made of the text, in the order of the text:
 *     KIND LINE COLUMN SIZE:TEXT
 * each with a line feed behind it; lines and columns count from 1, SIZE is that of TEXT in bytes. Kinds:
 *     { [   a map, a list: what they hold follows, up to } or ]     } ]   their ends
 *     k     a key, before its value                               ?     a key that is no scalar
 *     s q   a plain scalar, a quoted one                          & *   an anchor, before its value; an alias:
 *                                                                       TEXT is its name
 *     -     a second document                                     !     TEXT is what is wrong with the YAML */
firn_status firn_yaml_decode(const char *file, bool option, const void *encoded, size_t size,
                             int *values, firn_value **out, firn_error *error);

/* ---- yaml_tree.c: what both parsers lead to ---- */

typedef struct firn_yaml_record {
    char kind; /* as above; 0: the end */
    int line, column;
    const char *text; /* valid until the next */
    size_t size;
} firn_yaml_record;

typedef struct firn_yaml_source {
    const char *file;
    bool option;
    int *values;
    firn_error *error;
    /* The next record, in the order of the text. */
    firn_status (*next)(struct firn_yaml_source *source, firn_yaml_record *out);
    firn_names anchors; /* the values that have one */
    firn_value *kept;   /* values that are merged into others */
} firn_yaml_source;

firn_status firn_yaml_build(firn_yaml_source *source, firn_value **out);
/* An error at a record's place. */
firn_status firn_yaml_fail(const firn_yaml_source *source, const firn_yaml_record *at,
                           const char *text);

#endif
