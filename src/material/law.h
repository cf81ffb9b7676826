/* What a constitutive law is: one row in firn/laws.h, one file here.
 *
 * A law sees W particles at a time (firn_lanes) and never loops over nodes or knows the transfer.
 * Kernel code calls each function once per run of particles of one material, or per group where
 * materials meet. The file is compiled
 * per instruction set and dimension, so what it exports is named with FIRN_KERNEL. To add one: a row
 * in firn/laws.h and my_law.c here, which exports firn_law_my_law. test/test_laws.c walks the list
 * and tests the new law as it stands. */
#ifndef FIRN_LAW_H
#define FIRN_LAW_H

#include <firn/material.h>

#include "base/simd.h"
#include "material/material.h"

/* W particles, one per lane. Matrices are row-major. */
typedef struct firn_lanes {
    vr x[D];         /* position in the block, cells */
    vr F[DD];        /* elastic deformation gradient */
    vr H[DD];        /* F - I, which is what is kept: steps add less than a float near 1 resolves */
    vr v[D];         /* velocity, m/s */
    vr state;        /* the law's scalar */
    vr enthalpy;     /* J/kg, 0 in solid at its melting point */
    vr C[DD];        /* velocity gradient, 1/s */
    vr mass, volume; /* kg, m3 at rest */
    vr tau[DD];      /* out: Kirchhoff stress P F^T, Pa; full, as linear's is not symmetric */
    vr J;            /* out: det F (elastic) */
    vr stiffness;    /* out: bound of max_i s_i^2 Psi_ii, Pa: rest density x squared wave speed */
    vr modulus;      /* out: 2 mu + D lambda as they are now, Pa: what a lone particle feels */
} firn_lanes;

/* The materials of W particles, one per lane. */
typedef struct firn_lane_constants {
#define DECLARE(name, value) vr name;
    FIRN_LAW_CONSTANTS(DECLARE)
#undef DECLARE
} firn_lane_constants;

/* What an implicit step keeps of W particles while it solves for the velocities. */
enum { FIRN_TANGENT = 3 * DD - D }; /* numbers a law's tangent takes at most */
typedef struct firn_tangent {
    vr x[D];            /* position in the block, cells */
    vr q[FIRN_TANGENT]; /* as the law lays it out */
    vi law;             /* firn_law_kind */
} firn_tangent;

/* Of n groups: T = volume x dP F^T, J, where dP is the change of stress under the displacement
 * gradient C, dF = C F. The map from C to T is symmetric and has no negative eigenvalue. */
typedef void firn_differential(const firn_tangent *tangent, const vr (*C)[DD], vr (*T)[DD], int n);

typedef struct firn_law {
    /* Reads F and state; writes tau, J, stiffness and modulus of n groups, all with the same
     * constants. Any F, inverted and singular ones included, gives finite results while no entry
     * exceeds 1e6 and no modulus 3e11 Pa. */
    void (*stress)(const firn_lane_constants *k, firn_lanes *group, int n);
    /* NULL for elastic laws. What the material does in a step of dt: reads F and H as the motion
     * left them, and state; writes all three as they are at the step's end, then what stress
     * writes. Lanes that do not yield keep the bits of H and state. */
    void (*flow)(const firn_lane_constants *k, firn_lanes *group, int n, real dt);
    /* Energy per rest volume, J/m3, of n groups into psi[n]; its gradient in F is P wherever it
     * has one, clamps included. */
    void (*energy)(const firn_lane_constants *k, const firn_lanes *group, int n, vr *psi);
    /* For implicit steps of dt; NULL where there are none. Reads F, state and volume, writes q: how
     * the stress at the step's end changes with the motion, which for elastic laws are second
     * derivatives of the energy; clamped to be positive semi-definite, for `differential`. */
    void (*tangent)(const firn_lane_constants *k, const firn_lanes *group, firn_tangent *tangent,
                    int n, real dt);
    firn_differential *differential;
    /* NULL where it is 1. One over det F at rest of a group of one material: what flows or melts
     * may rest at other volumes than F knows of. */
    vr (*rest_density)(const firn_law_constants *k, const firn_lanes *group);
    /* For implicit shear in a step of dt, of a group with a stress. Returns the viscosity, Pa s, by which
     * the rate of shear acts at the step's end; *kept is the part of the shear stress that is there
     * at rest. NULL where shear is elastic: mu dt, and all. */
    vr (*resistance)(const firn_lane_constants *k, const firn_lanes *group, real dt, vr *kept);
    /* The part that is liquid: 0 where NULL. */
    vr (*liquid)(const firn_lane_constants *k, const firn_lanes *group);
} firn_law;

firn_differential FIRN_KERNEL(firn_isotropic_differential); /* isotropic.c; see tangent.h */

#define DECLARE(NAME, name, ...) extern const firn_law FIRN_KERNEL(firn_law_##name);
FIRN_LAWS(DECLARE)
#undef DECLARE

/* Indexed by firn_law_kind. */
extern const firn_law *const FIRN_KERNEL(firn_laws)[FIRN_LAW_COUNT];

#endif
