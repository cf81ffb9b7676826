/* What the method's kinds are called, by the lists in firn/sim.h. */
#include <firn/sim.h>

#define FIND(list, index)                                                                          \
    static const char *const name[] = {list(FIRN_LIST_NAME)};                                      \
    return (size_t)(index) < sizeof name / sizeof *name ? name[index] : NULL

firn_transfer_info firn_transfer_get_info(firn_transfer transfer)
{
#define INFO(NAME, name, affine, flip, separates, help) {#name, help, affine, flip, separates},
    static const firn_transfer_info info[] = {FIRN_TRANSFERS(INFO)};
#undef INFO
    return (unsigned)transfer < FIRN_TRANSFER_COUNT ? info[transfer] : (firn_transfer_info){0};
}

const char *firn_transfer_name(firn_transfer transfer)
{
    return firn_transfer_get_info(transfer).name;
}

const char *firn_integrator_name(firn_integrator integrator) { FIND(FIRN_INTEGRATORS, integrator); }

const char *firn_limit_name(firn_limit limit) { FIND(FIRN_LIMITS, limit); }

const char *firn_phase_name(int phase) { FIND(FIRN_PHASE_LIST, phase); }
