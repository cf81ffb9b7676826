/* Parameters: the numbers and words of a def, one row each.
 *
 * The rows of a def stand in a list beside it, as FIRN_SIM_PARAMS in <firn/sim.h>, and nowhere else.
 * The list gives the def's members, their defaults and checks, keys of scenes and the reference.
 * A host walks it with firn_sim_param, firn_heat_param, firn_collider_param or firn_material_param:
 * each returns the index-th row in static storage, and NULL past the end. */
#ifndef FIRN_PARAM_H
#define FIRN_PARAM_H

#include <firn/base.h>
#include <firn/track.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a parameter is, and the type of its member. The last three are of scenes alone. */
typedef enum firn_param_kind {
    FIRN_REAL,        /* double */
    FIRN_TEMPERATURE, /* double, K; scenes take 34C too */
    FIRN_WHOLE,       /* int64_t */
    FIRN_CHOICE,      /* an enum: the index of the word in `choices` */
    FIRN_VECTOR,      /* double[3]; in scenes two numbers leave the third 0 */
    FIRN_FLAG,        /* bool: true or false */
    FIRN_TEXT,        /* const char * */
    FIRN_VALUE,       /* part of the scene's tree, read by code of its own */
    FIRN_PARAM_KIND_COUNT
} firn_param_kind;

typedef struct firn_param {
    const char *name; /* of the member, and the key in scenes */
    firn_param_kind kind;
    const char *unit;     /* "" for pure numbers and words */
    const char *fallback; /* the default as a scene has it, "" for none; NULL: see `value` */
    double least, most;   /* of each number, ends included; both 0: any finite number. A default
                                   out of its range stands for none */
    const char *help;     /* one line */
    size_t offset;        /* bytes, in its def */
    const char *const *choices; /* ends with NULL */
    const char *alias;          /* another name that scenes accept, or NULL */
    const char *cure;           /* what to do when the value is out of range */
    double value[3];            /* the default; of a choice its index */
    size_t keys; /* offset in its def of a firn_track in place of it; 0: it cannot be keyed */
} firn_param;

/* The range in words that follow "must be": "from 0 to 1", "above 0", "one of sticky, slip". */
FIRN_API const char *firn_param_range(const firn_param *param, char *text, size_t size);

/* ---- how lists become members ---- */

/* A row of a list is X(kind, name, unit, default, least, most, help, cure, alias). Kinds are REAL,
 * TEMPERATURE, WHOLE, VECTOR and CHOICE(enum type); the default of a vector is in parentheses. Beside one that is
 * KEYED_REAL, KEYED_TEMPERATURE or KEYED_VECTOR stands a firn_track, as `friction_keys` beside `friction`. */
#define FIRN_MEMBER(kind, name, ...)                                                               \
    FIRN_TYPE_##kind name;                                                                         \
    FIRN_KEYS_##kind(name)

typedef double firn_vector[3];
#define FIRN_TYPE_REAL double
#define FIRN_TYPE_TEMPERATURE double
#define FIRN_TYPE_WHOLE int64_t
#define FIRN_TYPE_VECTOR firn_vector
#define FIRN_TYPE_CHOICE(type) type
#define FIRN_TYPE_KEYED_REAL double
#define FIRN_TYPE_KEYED_TEMPERATURE double
#define FIRN_TYPE_KEYED_VECTOR firn_vector

#define FIRN_NO_KEYS(name)
#define FIRN_KEYS_REAL(name)
#define FIRN_KEYS_TEMPERATURE(name)
#define FIRN_KEYS_WHOLE(name)
#define FIRN_KEYS_VECTOR(name)
#define FIRN_KEYS_CHOICE(type) FIRN_NO_KEYS
#define FIRN_KEYS_KEYED_REAL(name) firn_track name##_keys;
#define FIRN_KEYS_KEYED_TEMPERATURE(name) firn_track name##_keys;
#define FIRN_KEYS_KEYED_VECTOR(name) firn_track name##_keys;

/* Ends of ranges: the least of numbers above 0, whose inverse is finite, and the most of numbers
 * that must only be finite. */
#define FIRN_ABOVE_0 1e-300
#define FIRN_FINITE 1e300

#ifdef __cplusplus
}
#endif
#endif
