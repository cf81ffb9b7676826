/* The particle field list: the one place that says which attributes a particle has.
 *
 * X(type, name, NAME, components, unit, who writes it); DIM is the dimension, 2 or 3.
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
    X(real, position, POSITION, DIM, "m", "gather")                                                \
    X(real, deformation_gradient, DEFORMATION_GRADIENT, DIM *DIM, "1", "gather, law")              \
    X(real, velocity, VELOCITY, DIM, "m/s", "gather")                                              \
    X(real, state, STATE, 1, "1", "law")

#define FIRN_SPARE_FIELDS(X)                                                                       \
    X(real, velocity_gradient, VELOCITY_GRADIENT, DIM *DIM, "1/s", "gather")

#define FIRN_SIDE_FIELDS(X)                                                                        \
    X(real, mass, MASS, 1, "kg", "caller")                                                         \
    X(real, volume, VOLUME, 1, "m3", "caller")                                                     \
    X(uint16_t, material, MATERIAL, 1, "1", "caller")                                              \
    X(uint16_t, object, OBJECT, 1, "1", "caller")                                                  \
    X(uint64_t, id, ID, 1, "1", "sim")

/* Enthalpy is 0 in solid at its melting point. */
#define FIRN_HEAT_FIELDS(X)                                                                        \
    X(real, enthalpy, ENTHALPY, 1, "J/kg", "heat")                                                 \
    X(real, temperature_gradient, TEMPERATURE_GRADIENT, DIM, "K/m", "heat")                        \
    X(real, concentration, CONCENTRATION, 1, "1", "heat")                                          \
    X(real, concentration_gradient, CONCENTRATION_GRADIENT, DIM, "1/m", "heat")

#define FIRN_FIELDS(X)                                                                             \
    FIRN_RECORD_FIELDS(X) FIRN_SPARE_FIELDS(X) FIRN_SIDE_FIELDS(X) FIRN_HEAT_FIELDS(X)

enum { FIRN_RECORD = 16 }; /* reals in a record: 64 bytes of float, one cache line */

/* Reals in a heat record, and where its two scalars are, each followed by its gradient. */
enum { FIRN_HEAT_RECORD = 8, FIRN_HEAT_ENTHALPY = 0, FIRN_HEAT_CONCENTRATION = 4 };

#endif
