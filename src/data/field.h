/* The particle field list: the one place that says which attributes a particle has.
 *
 * X(type, name, NAME, components, unit, who writes it, whether firn_sim_write may); DIM is the
 * dimension, 2 or 3. Where a particle is follows from the bins, so its position cannot be written.
 * The deformation gradient is kept as F - I (see deform in transfer/block.h); reads add I.
 *   record  in the particle's record of 16 reals, which a step reads and writes as one cache line
 *   spare   in the spare buffer between calls (see store.h)
 *   side    in an array of its own, constant while stepping, moved only when particles are
 *           reordered
 *   heat    in the particle's heat record of 8 reals, where the sim has heat; moved as side ones are */
#ifndef FIRN_FIELD_H
#define FIRN_FIELD_H

#include <stdint.h>

#include "base/real.h"

#define FIRN_RECORD_FIELDS(X)                                                                      \
    X(real, position, POSITION, DIM, "m", "gather", false)                                         \
    X(real, deformation_gradient, DEFORMATION_GRADIENT, DIM *DIM, "1", "gather, law", true)        \
    X(real, velocity, VELOCITY, DIM, "m/s", "gather", true)                                        \
    X(real, state, STATE, 1, "1", "law", true)

#define FIRN_SPARE_FIELDS(X)                                                                       \
    X(real, velocity_gradient, VELOCITY_GRADIENT, DIM *DIM, "1/s", "gather", true)

#define FIRN_SIDE_FIELDS(X)                                                                        \
    X(real, mass, MASS, 1, "kg", "caller", true)                                                   \
    X(real, volume, VOLUME, 1, "m3", "caller", true)                                               \
    X(uint16_t, material, MATERIAL, 1, "1", "caller", true)                                        \
    X(uint16_t, object, OBJECT, 1, "1", "caller", true)                                            \
    X(uint64_t, id, ID, 1, "1", "sim", false)

/* Enthalpy is 0 in solid at its melting point. */
#define FIRN_HEAT_FIELDS(X)                                                                        \
    X(real, enthalpy, ENTHALPY, 1, "J/kg", "heat", true)                                           \
    X(real, temperature_gradient, TEMPERATURE_GRADIENT, DIM, "K/m", "heat", true)                  \
    X(real, concentration, CONCENTRATION, 1, "1", "heat", true)                                    \
    X(real, concentration_gradient, CONCENTRATION_GRADIENT, DIM, "1/m", "heat", true)

#define FIRN_FIELDS(X)                                                                             \
    FIRN_RECORD_FIELDS(X) FIRN_SPARE_FIELDS(X) FIRN_SIDE_FIELDS(X) FIRN_HEAT_FIELDS(X)

enum { FIRN_RECORD = 16 }; /* reals in a record: 64 bytes of float, one cache line */

/* Reals in a heat record, and where its two scalars are, each followed by its gradient. */
enum { FIRN_HEAT_RECORD = 8, FIRN_HEAT_ENTHALPY = 0, FIRN_HEAT_CONCENTRATION = 4 };

#endif
