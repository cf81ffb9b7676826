/* Materials: a constitutive law and its parameters. */
#ifndef FIRN_MATERIAL_H
#define FIRN_MATERIAL_H

#include <firn/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The laws, in the order of the table in src/material/table.c. */
typedef enum firn_law_kind {
    FIRN_LINEAR,
    FIRN_ST_VENANT_KIRCHHOFF,
    FIRN_COROTATED,
    FIRN_FIXED_COROTATED,
    FIRN_NEO_HOOKEAN,
    FIRN_LAW_COUNT
} firn_law_kind;

/* Make one with firn_material_def_default. The fields are checked when a sim is created; the ends
 * of the ranges are not in them. The upper ends of density and young are far above any matter:
 * beyond is a mistake of units. */
typedef struct firn_material_def {
    firn_law_kind law;
    double density; /* kg/m3 at rest, in (0, 1e6) */
    double young;   /* Young's modulus, Pa, in (0, 1e13) */
    double poisson; /* Poisson's ratio, in (-1, 0.5); FIRN_FIXED_COROTATED takes none below 0 */
    uint32_t stamp; /* set by the default function */
} firn_material_def;

/* One user-visible parameter: the single place its unit, default, range and help are written. */
typedef struct firn_param {
    const char *name;
    const char *unit;
    const char *help;
    double fallback;
    double min, max;  /* open interval: min < value < max */
    size_t offset;    /* of the double in its def */
    const char *cure; /* what to do when the value is out of range */
} firn_param;

/* Soft jelly: neo-Hookean, density 1000, young 1e4, poisson 0.2. */
FIRN_API firn_material_def firn_material_def_default(void);

/* The law's snake_case name ("neo_hookean"), or NULL when there is no such law. */
FIRN_API const char *firn_law_name(firn_law_kind law);

/* The law of that name, or FIRN_LAW_COUNT. */
FIRN_API firn_law_kind firn_law_find(const char *name);

/* The parameters a law reads; *count receives how many. Static storage. */
FIRN_API const firn_param *firn_law_params(firn_law_kind law, int *count);

#ifdef __cplusplus
}
#endif
#endif
