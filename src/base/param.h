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
     FIRN_NUMBERS_##kind(fallback)},

#define FIRN_KIND_REAL FIRN_REAL
#define FIRN_KIND_TEMPERATURE FIRN_TEMPERATURE
#define FIRN_KIND_WHOLE FIRN_WHOLE
#define FIRN_KIND_VECTOR FIRN_VECTOR
#define FIRN_KIND_CHOICE(type) FIRN_CHOICE

#define FIRN_WORDS_REAL NULL
#define FIRN_WORDS_TEMPERATURE NULL
#define FIRN_WORDS_WHOLE NULL
#define FIRN_WORDS_VECTOR NULL
#define FIRN_WORDS_CHOICE(type) type##_words

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

#endif
