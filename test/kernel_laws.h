/* The laws' kernels behind plain arrays: what test_laws.c sees of lanes. */
#ifndef FIRN_TEST_KERNEL_LAWS_H
#define FIRN_TEST_KERNEL_LAWS_H

#include "material/material.h"

/* One instruction set and dimension. F and tau hold n x dim x dim numbers, row-major, n >= 0. */
typedef struct law_kernel {
    const char *isa;
    int dim, lanes;
    const char *(*name)(int law);
    void (*stress)(int law, const firn_law_constants *k, int n, const real *F, real *tau, real *J,
                   real *stiffness);
    void (*energy)(int law, const firn_law_constants *k, int n, const real *F, real *psi);
} law_kernel;

#endif
