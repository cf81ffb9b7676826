/* The row of this instruction set and dimension. */
#include "material/law.h"
#include "transfer/sweep.h"

firn_sweep_function FIRN_KERNEL(firn_plain_scatter), FIRN_KERNEL(firn_plain_gather);
firn_energy_function FIRN_KERNEL(firn_energy);
firn_pressure_function FIRN_KERNEL(firn_pressure);
#ifndef FIRN_DOUBLE
firn_sweep_function FIRN_KERNEL(firn_fast_scatter), FIRN_KERNEL(firn_fast_scatter_flip),
    FIRN_KERNEL(firn_fast_gather), FIRN_KERNEL(firn_fast_gather_flip), FIRN_KERNEL(firn_fused),
    FIRN_KERNEL(firn_fused_flip);
#endif

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

extern const firn_kernels FIRN_KERNEL(firn_kernels);
const firn_kernels FIRN_KERNEL(firn_kernels) = {
    .isa = TEXT(FIRN_ISA),
    .lanes = W,
    .plain_scatter = FIRN_KERNEL(firn_plain_scatter),
    .plain_gather = FIRN_KERNEL(firn_plain_gather),
    .energy = FIRN_KERNEL(firn_energy),
    .pressure = FIRN_KERNEL(firn_pressure),
#ifndef FIRN_DOUBLE
    .fast_scatter = {FIRN_KERNEL(firn_fast_scatter), FIRN_KERNEL(firn_fast_scatter_flip)},
    .fast_gather = {FIRN_KERNEL(firn_fast_gather), FIRN_KERNEL(firn_fast_gather_flip)},
    .fused = {FIRN_KERNEL(firn_fused), FIRN_KERNEL(firn_fused_flip)},
#endif
};
