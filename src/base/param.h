/* Rows of parameters inside the engine: from lists to tables, defaults and checks. */
#ifndef FIRN_BASE_PARAM_H
#define FIRN_BASE_PARAM_H

#include <firn/param.h>

/* A row of a list as a firn_param of a def; the words of an enum are in TYPE_words. */
#define FIRN_PARAM_ROW(def, kind, name, unit, fallback, least, most, help, cure, alias)            \
    {#name,                                                                                        \
     FIRN_KIND_##kind,                                                                             \
     unit,                                                                                         \
     NULL,                                                                                         \
     least,                                                                                        \
     most,                                                                                         \
     help,                                                                                         \
     offsetof(def, name),                                                                          \
     FIRN_WORDS_##kind,                                                                            \
     alias,                                                                                        \
     cure,                                                                                         \
     FIRN_NUMBERS_##kind(fallback),                                                                \
     FIRN_KEYS_AT_##kind(def, name)},

#define FIRN_KIND_REAL FIRN_REAL
#define FIRN_KIND_TEMPERATURE FIRN_TEMPERATURE
#define FIRN_KIND_WHOLE FIRN_WHOLE
#define FIRN_KIND_VECTOR FIRN_VECTOR
#define FIRN_KIND_CHOICE(type) FIRN_CHOICE
#define FIRN_KIND_KEYED_REAL FIRN_REAL
#define FIRN_KIND_KEYED_TEMPERATURE FIRN_TEMPERATURE
#define FIRN_KIND_KEYED_VECTOR FIRN_VECTOR

#define FIRN_WORDS_REAL NULL
#define FIRN_WORDS_TEMPERATURE NULL
#define FIRN_WORDS_WHOLE NULL
#define FIRN_WORDS_VECTOR NULL
#define FIRN_WORDS_CHOICE(type) type##_words
#define FIRN_WORDS_KEYED_REAL NULL
#define FIRN_WORDS_KEYED_TEMPERATURE NULL
#define FIRN_WORDS_KEYED_VECTOR NULL

#define FIRN_NEVER_KEYED(def, name) 0
#define FIRN_KEYS_AT_REAL FIRN_NEVER_KEYED
#define FIRN_KEYS_AT_TEMPERATURE FIRN_NEVER_KEYED
#define FIRN_KEYS_AT_WHOLE FIRN_NEVER_KEYED
#define FIRN_KEYS_AT_VECTOR FIRN_NEVER_KEYED
#define FIRN_KEYS_AT_CHOICE(type) FIRN_NEVER_KEYED
#define FIRN_KEYS_AT_KEYED_REAL(def, name) offsetof(def, name##_keys)
#define FIRN_KEYS_AT_KEYED_TEMPERATURE FIRN_KEYS_AT_KEYED_REAL
#define FIRN_KEYS_AT_KEYED_VECTOR FIRN_KEYS_AT_KEYED_REAL

#define FIRN_NUMBERS_REAL(x)                                                                       \
    {                                                                                              \
        x                                                                                          \
    }
#define FIRN_NUMBERS_TEMPERATURE FIRN_NUMBERS_REAL
#define FIRN_NUMBERS_WHOLE FIRN_NUMBERS_REAL
#define FIRN_NUMBERS_CHOICE(type) FIRN_NUMBERS_REAL
#define FIRN_NUMBERS_VECTOR(x)                                                                     \
    {                                                                                              \
        FIRN_THREE x                                                                               \
    }
#define FIRN_NUMBERS_KEYED_REAL FIRN_NUMBERS_REAL
#define FIRN_NUMBERS_KEYED_TEMPERATURE FIRN_NUMBERS_REAL
#define FIRN_NUMBERS_KEYED_VECTOR FIRN_NUMBERS_VECTOR
#define FIRN_THREE(x, y, z) x, y, z

/* Tables are accessors like the public ones. */
typedef const firn_param *firn_param_table(int32_t index);

/* Writes all defaults of a table into its def. */
void firn_params_default(firn_param_table *table, void *def);

/* Whether the values of a def are in range. `where` leads to the def, as "colliders[2]", or is "". */
FIRN_MUST_CHECK firn_status firn_params_check(firn_param_table *table, const void *def,
                                              const char *where, firn_error *error);
FIRN_MUST_CHECK firn_status firn_param_check(const firn_param *param, const void *def,
                                             const char *where, firn_error *error);

/* ---- tracks of a def ---- */

/* Whether a track is in order, with values in the range of a parameter; `name` leads to it. */
FIRN_MUST_CHECK firn_status firn_track_check(const firn_param *param, const firn_track *track,
                                             const char *name, firn_error *error);
/* Sets all that is keyed to its value at a time. */
void firn_params_sample(firn_param_table *table, void *def, double time);
/* Keys of a checked track: how many bytes they are, and the track moved onto a copy of them, or onto those that
 * are in such memory already. Returns where they end. */
size_t firn_track_extra(const firn_track *track);
double *firn_track_move(firn_track *track, double *memory);
double *firn_track_attach(firn_track *track, double *memory);
/* The same for all of a def. */
size_t firn_params_extra(firn_param_table *table, const void *def);
double *firn_params_move(firn_param_table *table, void *def, double *memory);
double *firn_params_attach(firn_param_table *table, void *def, double *memory);

#endif
