/* A scene as text: a tree of values that know where they were written.
 *
 * tree.c makes one from a file, with yaml.h; everything else needs no library. */
#ifndef FIRN_VALUE_H
#define FIRN_VALUE_H

#include <stdbool.h>

#include <firn/base.h>

#include "base/error.h"
#include "io/io.h"
#include "scene/names.h"

typedef enum firn_value_kind { FIRN_SCALAR, FIRN_LIST, FIRN_MAP } firn_value_kind;

typedef struct firn_value {
    firn_value_kind kind;
    bool quoted;      /* a scalar in quotes */
    char *key;        /* in a map; else NULL */
    char *text;       /* of a scalar */
    const char *file; /* where: of the key, in a map */
    int line, column; /* from 1; line 0: of an option, `file` says it all */
    struct firn_value *child, *next;
    struct firn_value *last;      /* child */
    int count;                    /* of children */
    firn_names names;             /* of a large map's children; else empty */
    struct firn_context *context; /* what its text may refer to, or NULL */
} firn_value;

/* What the values of a scene may refer to, and the tracks made of those that change. */
typedef struct firn_context {
    const firn_value *variables; /* the map that $names are in, or NULL */
    double first, frames, fps;   /* the first frame, which is time 0; how many follow it; 1/s */
    /* Of the value that is being read: */
    bool can_vary; /* it may contain `time` and $F... */
    double time;   /* ...which is this, in s */
    bool varies;   /* whether it did */
    bool refused;  /* whether it may not and did */
    int64_t steps; /* taken in all expressions that may */
    int64_t poses; /* made of all expressions */
    bool sampled;  /* whether there was one that varies: it ends with the frames */
    struct firn_known_track *known;
    int32_t known_count;
} firn_context;

/* Gives a tree its context. */
void firn_value_use(firn_value *value, firn_context *context);

/* A new value at the same place as `where`; NULL when there is no memory. */
firn_value *firn_value_new(firn_value_kind kind, const firn_value *where);
void firn_value_free(firn_value *value);

/* The key of a map's entry as a scalar at the same place, for maps whose keys are numbers. */
firn_value firn_value_of_key(const firn_value *entry);

/* The entry of a map, or NULL. */
firn_value *firn_value_get(const firn_value *map, const char *key);
/* False: no memory, and the child is still the caller's. */
bool firn_value_append(firn_value *parent, firn_value *child);
int firn_value_count(const firn_value *value); /* of children; of NULL 0 */

/* "file:line:column", or the option that it was given by. */
enum { FIRN_LOCATION_SIZE = 400 };
const char *firn_value_location(const firn_value *where, char text[FIRN_LOCATION_SIZE]);

/* Fails with the place in front. */
#define firn_value_fail(where, error, ...)                                                         \
    firn_failed(firn_value_fail_at(where, error, __VA_ARGS__))
firn_status firn_value_fail_at(const firn_value *where, firn_error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Fails as `inner` did, with the place in front. */
firn_status firn_value_pass(const firn_value *where, const firn_error *inner, firn_error *error);

/* Sets what is at a path like objects.ball.velocity or output[0].file, making what is missing on the
 * way; list entries go by number or by their `name`. Takes `value` over, also on failure. */
firn_status firn_value_set(firn_value *root, const char *path, firn_value *value,
                           firn_error *error);

/* What is at such a path, or NULL. */
firn_value *firn_value_find(firn_value *root, const char *path);

/* ---- tree.c ---- */

/* A file, with its `include`s merged in; *out is NULL on failure. Names of files live as long as the
 * tree: free with firn_tree_free. */
typedef struct firn_tree {
    firn_value *root;
    char **files; /* read, in order; options that set values too: names that places are given by */
    int file_count;
} firn_tree;

firn_status firn_tree_read(firn_tree *tree, const char *path, firn_error *error);
/* From text in memory, which touches no file; `name` is what messages call it. */
firn_status firn_tree_parse(firn_tree *tree, const char *name, const firn_bytes *text,
                            firn_error *error);
/* path=value from the command line, value in YAML. `option` says where it stood, as "--set". */
firn_status firn_tree_set(firn_tree *tree, const char *option, const char *assignment,
                          firn_error *error);
void firn_tree_free(firn_tree *tree);
/* The path of `name` as seen from the file `from`. Free it with free; NULL: no memory. */
char *firn_beside(const char *from, const char *name);
/* Writes a map as YAML, without `include`: what it brought is in the tree. */
struct firn_output;
void firn_value_write(const firn_value *map, struct firn_output *out);

#endif
