/* The laws' functions for one instruction set and dimension, by kind. */
#include "material/law.h"

const firn_law *const FIRN_KERNEL(firn_laws)[FIRN_LAW_COUNT] = {
#define ROW(NAME, name, ...) &FIRN_KERNEL(firn_law_##name),
    FIRN_LAWS(ROW)
#undef ROW
};
