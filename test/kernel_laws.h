/* The laws' kernels behind plain arrays: what test_laws.c sees of lanes. */
#ifndef FIRN_TEST_KERNEL_LAWS_H
#define FIRN_TEST_KERNEL_LAWS_H

#include <stdbool.h>

#include "material/material.h"

/* Arrays that a caller gives room for. */
typedef struct law_results {
    real *tau, *J, *stiffness, *modulus;
} law_results;

/* One instruction set and dimension. F, C and tau hold n x dim x dim numbers, row-major, n >= 0. state
 * and C may be NULL: zeros. */
typedef struct law_kernel {
    const char *isa;
    int dim, lanes;
    bool (*flows)(int law);
    real *enthalpy; /* that particles have in the calls below, J/kg */
    void (*stress)(int law, const firn_law_constants *k, int n, const real *F, const real *state,
                   const real *C, law_results *out);
    /* F and state are changed in place. */
    void (*flow)(int law, const firn_law_constants *k, int n, real dt, real *F, real *state,
                 const real *C, law_results *out);
    void (*energy)(int law, const firn_law_constants *k, int n, const real *F, const real *state,
                   real *psi);
    /* T = dP F^T under dF = C F, per volume; false where the law has no tangent. */
    bool (*differential)(int law, const firn_law_constants *k, int n, const real *F,
                         const real *state, const real *C, real *T);
} law_kernel;

#endif
