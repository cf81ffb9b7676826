/* The row of this instruction set and dimension. */
#include "material/law.h"
#include "transfer/pass.h"

firn_pass_function FIRN_KERNEL(firn_plain_scatter), FIRN_KERNEL(firn_plain_gather),
    FIRN_KERNEL(firn_plain_weigh), FIRN_KERNEL(firn_plain_turn), FIRN_KERNEL(firn_plain_tangent),
    FIRN_KERNEL(firn_plain_product), FIRN_KERNEL(firn_plain_lame), FIRN_KERNEL(firn_scalar_scatter),
    FIRN_KERNEL(firn_scalar_gather), FIRN_KERNEL(firn_staggered_scatter),
    FIRN_KERNEL(firn_staggered_gather), FIRN_KERNEL(firn_staggered_drift);
firn_energy_function FIRN_KERNEL(firn_energy);
firn_stress_function FIRN_KERNEL(firn_stress);
firn_demand_function FIRN_KERNEL(firn_demand);
#ifndef FIRN_DOUBLE
firn_pass_function FIRN_KERNEL(firn_fast_scatter), FIRN_KERNEL(firn_fast_scatter_flip),
    FIRN_KERNEL(firn_fast_gather), FIRN_KERNEL(firn_fast_gather_flip), FIRN_KERNEL(firn_fused),
    FIRN_KERNEL(firn_fused_flip), FIRN_KERNEL(firn_moved_gather),
    FIRN_KERNEL(firn_moved_gather_flip), FIRN_KERNEL(firn_fast_tangent),
    FIRN_KERNEL(firn_fast_product), FIRN_KERNEL(firn_fast_lame);
#define FAST(name) FIRN_KERNEL(name)
#else
#define FAST(name) NULL
#endif

static bool has_tangent(int law) { return FIRN_KERNEL(firn_laws)[law]->tangent != NULL; }
static bool has_rest_density(int law) { return FIRN_KERNEL(firn_laws)[law]->rest_density != NULL; }
static bool same_differential(int law, int other)
{
    return FIRN_KERNEL(firn_laws)[law]->differential == FIRN_KERNEL(firn_laws)[other]->differential;
}

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

extern const firn_kernels FIRN_KERNEL(firn_kernels);
const firn_kernels FIRN_KERNEL(firn_kernels) = {
    .isa = TEXT(FIRN_ISA),
    .lanes = W,
    .plain_scatter = FIRN_KERNEL(firn_plain_scatter),
    .plain_gather = FIRN_KERNEL(firn_plain_gather),
    .plain_weigh = FIRN_KERNEL(firn_plain_weigh),
    .plain_turn = FIRN_KERNEL(firn_plain_turn),
    .scalar_scatter = FIRN_KERNEL(firn_scalar_scatter),
    .scalar_gather = FIRN_KERNEL(firn_scalar_gather),
    .staggered_scatter = FIRN_KERNEL(firn_staggered_scatter),
    .staggered_gather = FIRN_KERNEL(firn_staggered_gather),
    .staggered_drift = FIRN_KERNEL(firn_staggered_drift),
    .energy = FIRN_KERNEL(firn_energy),
    .tangent = {FIRN_KERNEL(firn_plain_tangent), FAST(firn_fast_tangent)},
    .product = {FIRN_KERNEL(firn_plain_product), FAST(firn_fast_product)},
    .lame = {FIRN_KERNEL(firn_plain_lame), FAST(firn_fast_lame)},
    .tangent_bytes = sizeof(firn_tangent),
    .has_tangent = has_tangent,
    .has_rest_density = has_rest_density,
    .same_differential = same_differential,
    .stress = FIRN_KERNEL(firn_stress),
    .demand = FIRN_KERNEL(firn_demand),
#ifndef FIRN_DOUBLE
    .fast_scatter = {FIRN_KERNEL(firn_fast_scatter), FIRN_KERNEL(firn_fast_scatter_flip)},
    .fast_gather = {FIRN_KERNEL(firn_fast_gather), FIRN_KERNEL(firn_fast_gather_flip)},
    .fused = {FIRN_KERNEL(firn_fused), FIRN_KERNEL(firn_fused_flip)},
    .moved_gather = {FIRN_KERNEL(firn_moved_gather), FIRN_KERNEL(firn_moved_gather_flip)},
#endif
};
