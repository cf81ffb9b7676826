/* Materials outside of the kernels: checking a def, and the numbers a law reads. */
#ifndef FIRN_MATERIAL_INTERNAL_H
#define FIRN_MATERIAL_INTERNAL_H

#include <firn/material.h>

#include "base/real.h"

/* Constants of one material, derived from its def once. */
typedef struct firn_law_constants {
    real mu, lambda; /* Lame, Pa; in 2D those of plane strain, which are the same */
    real density;    /* kg/m3 at rest */
} firn_law_constants;

/* FIRN_OK or what is wrong with the index-th def, by field name: stamp, law, every parameter. */
FIRN_MUST_CHECK firn_status firn_material_check(const firn_material_def *def, int index,
                                                firn_error *error);

/* Of a def that has been checked. */
void firn_material_constants(const firn_material_def *def, firn_law_constants *constants);

#endif
