/* The parameter table: every user-visible parameter is one row, and everything that knows about
 * parameters reads these rows: the scene reader, --set, `firn list`, the generated reference.
 *
 * A section is a map in the scene file and a struct in memory; its rows say where each value goes.
 * Every struct begins with `firn_given given`: which rows the scene gave, bit by row. */
#ifndef FIRN_PARAM_H
#define FIRN_PARAM_H

#include <stddef.h>
#include <stdint.h>

#include "scene/value.h"

typedef enum firn_param_kind {
    FIRN_REAL,   /* double; a temperature takes 34C too: see firn_row_is_temperature */
    FIRN_WHOLE,  /* int64_t */
    FIRN_FLAG,   /* bool: true or false */
    FIRN_TEXT,   /* const char *, into the tree */
    FIRN_CHOICE, /* int32_t: the place of the word in `choices` */
    FIRN_VECTOR, /* double[3]; two numbers leave the third 0 */
    FIRN_VALUE,  /* const firn_value *: read by code of its own */
} firn_param_kind;

typedef struct firn_row {
    const char *name;
    firn_param_kind kind;
    const char *unit;           /* "" for pure numbers and words */
    const char *fallback;       /* the default as one would write it; "" for none */
    double least, most;         /* of each number; both 0: any */
    const char *help;           /* one line */
    size_t offset;              /* in the section's struct */
    const char *const *choices; /* ends with NULL */
    const char *alias;          /* another name that is accepted, or NULL */
} firn_row;

typedef struct firn_section {
    const char *name; /* as in the reference */
    const char *help;
    const firn_row *rows; /* up to the one without a name */
} firn_section;

typedef uint64_t firn_given;

/* Fills `out` with the defaults, then with what the map says. Unknown keys, wrong types and values
 * out of range fail with the place and the nearest name. `map` may be NULL: defaults alone. */
firn_status firn_section_read(const firn_section *section, const firn_value *map, void *out,
                              firn_error *error);

/* Whether a row is a temperature and not a difference of two: its unit is K, and 0 is out of its range. In
 * scenes 34C are degrees Celsius and 307K or 307 kelvin. */
bool firn_row_is_temperature(const firn_row *row);

/* Whether the scene gave the row of that name. */
bool firn_section_given(const firn_section *section, const void *data, const char *name);

/* Single values, for code that reads on its own; `what` names it in messages. */
firn_status firn_read_real(const firn_value *v, const char *what, const char *unit, double *out,
                           firn_error *error);
firn_status firn_read_vector(const firn_value *v, const char *what, const char *unit, int least,
                             int most, double *out, int *count, firn_error *error);
firn_status firn_read_choice(const firn_value *v, const char *what, const char *const *choices,
                             int32_t *out, firn_error *error);

#endif
