/* The laws' functions for one instruction set and dimension, by kind. */
#include "material/law.h"

const firn_law *const FIRN_KERNEL(firn_laws)[FIRN_LAW_COUNT] = {
    [FIRN_LINEAR] = &FIRN_KERNEL(firn_law_linear),
    [FIRN_ST_VENANT_KIRCHHOFF] = &FIRN_KERNEL(firn_law_st_venant_kirchhoff),
    [FIRN_COROTATED] = &FIRN_KERNEL(firn_law_corotated),
    [FIRN_FIXED_COROTATED] = &FIRN_KERNEL(firn_law_fixed_corotated),
    [FIRN_NEO_HOOKEAN] = &FIRN_KERNEL(firn_law_neo_hookean),
    [FIRN_HENCKY] = &FIRN_KERNEL(firn_law_hencky),
    [FIRN_SNOW] = &FIRN_KERNEL(firn_law_snow),
    [FIRN_DRUCKER_PRAGER] = &FIRN_KERNEL(firn_law_drucker_prager),
    [FIRN_VON_MISES] = &FIRN_KERNEL(firn_law_von_mises),
    [FIRN_HERSCHEL_BULKLEY] = &FIRN_KERNEL(firn_law_herschel_bulkley),
    [FIRN_LIQUID] = &FIRN_KERNEL(firn_law_liquid),
    [FIRN_NACC] = &FIRN_KERNEL(firn_law_nacc),
    [FIRN_MELTING] = &FIRN_KERNEL(firn_law_melting),
};
