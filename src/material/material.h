/* Materials outside of the kernels: checking a def, and the numbers a law reads. */
#ifndef FIRN_MATERIAL_INTERNAL_H
#define FIRN_MATERIAL_INTERNAL_H

#include <firn/material.h>

#include "base/real.h"

/* What laws read of a material, derived from its def once. X(name); kernels hold each W wide, so that
 * lanes may differ in material (see law.h).
 *   mu, lambda  Lame, Pa; in 2D those of plane strain, which are the same */
#define FIRN_LAW_CONSTANTS(X) X(mu) X(lambda)

typedef struct firn_law_constants {
#define DECLARE(name) real name;
    FIRN_LAW_CONSTANTS(DECLARE)
#undef DECLARE
} firn_law_constants;

/* FIRN_OK or what is wrong with the index-th def, by field name: stamp, law, every parameter. */
FIRN_MUST_CHECK firn_status firn_material_check(const firn_material_def *def, int index,
                                                firn_error *error);

/* Of a def that has been checked. */
void firn_material_constants(const firn_material_def *def, firn_law_constants *constants);

#endif
