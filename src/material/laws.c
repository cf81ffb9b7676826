/* The laws' functions for one instruction set and dimension, by kind. */
#include "material/law.h"

const firn_law *const FIRN_KERNEL(firn_laws)[FIRN_LAW_COUNT] = {
    [FIRN_LINEAR] = &FIRN_KERNEL(firn_law_linear),
    [FIRN_ST_VENANT_KIRCHHOFF] = &FIRN_KERNEL(firn_law_st_venant_kirchhoff),
    [FIRN_COROTATED] = &FIRN_KERNEL(firn_law_corotated),
    [FIRN_FIXED_COROTATED] = &FIRN_KERNEL(firn_law_fixed_corotated),
    [FIRN_NEO_HOOKEAN] = &FIRN_KERNEL(firn_law_neo_hookean),
};
