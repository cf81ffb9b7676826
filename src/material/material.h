/* Materials outside of the kernels: checking a def, and the numbers a law reads. */
#ifndef FIRN_MATERIAL_INTERNAL_H
#define FIRN_MATERIAL_INTERNAL_H

#include <stdbool.h>

#include <firn/material.h>

#include "base/real.h"

/* What laws read of a material: X(name, value), computed once by firn_material_constants, whose
 * variables `value` is written in. Kernels hold each W wide, so that lanes may differ in material
 * (see law.h).
 *   mu, lambda         Lame, Pa; in 2D those of plane strain, which are the same; mu = 0 in liquids
 *   friction_sine      of the friction angle
 *   tip_tension        tension that grains bear, Pa
 *   log_fluidity       log of the rate of shear at a stress of 1 Pa
 *   viscosity          of laws whose stress has a viscous part, 0 for others: limits the time step
 *   log_J_most         where `tension` is reached
 *   crush_pressure     as in the def, or far above any pressure
 *   melt_rate          liquid fraction per enthalpy from the melting point on, kg/J
 *   liquid_log_J       log of the melt's volume over the solid's
 *   solid_softening    of log yield, per enthalpy below the melting point, kg/J
 *   liquid_thinning    of log viscosity, per enthalpy above that of all melt, kg/J
 * The others are as in the def. */
#define FIRN_LAW_CONSTANTS(X)                                                                      \
    X(mu, liquid ? 0 : E / (2 * (1 + nu)))                                                         \
    X(lambda, liquid ? m.bulk : E *nu / ((1 + nu) * (1 - 2 * nu)))                                 \
    X(stretch_least, 1 - m.critical_compression)                                                   \
    X(stretch_most, 1 + m.critical_stretch)                                                        \
    X(hardening, m.hardening)                                                                      \
    X(hardening_cap, m.hardening_cap)                                                              \
    X(friction_sine, sin(angle))                                                                   \
    X(tip_tension, m.cohesion / tan(angle))                                                        \
    X(yield, m.yield)                                                                              \
    X(yield_rise, m.hardening_modulus)                                                             \
    X(log_fluidity, -log(fmax(m.viscosity, 1e-12)) / m.exponent)                                   \
    X(exponent, m.exponent)                                                                        \
    X(viscosity, liquid ? m.viscosity : 0)                                                         \
    X(surface_tension, m.surface_tension)                                                          \
    X(tait_exponent, m.tait_exponent)                                                              \
    X(log_J_most, log_J_most(&m))                                                                  \
    X(tensile_ratio, m.tensile_ratio)                                                              \
    X(compaction, m.compaction)                                                                    \
    X(crush_pressure, m.crush_pressure > 0 ? m.crush_pressure : 1e30)                              \
    X(liquid_yield, m.liquid_yield)                                                                \
    X(melt_rate, 1 / curve.melt)                                                                   \
    X(liquid_log_J, m.liquid_density > 0 ? log(m.density / m.liquid_density) : 0)                  \
    X(solid_softening, m.softening / curve.solid)                                                  \
    X(liquid_thinning, m.thinning / curve.liquid)

typedef struct firn_law_constants {
#define DECLARE(name, value) real name;
    FIRN_LAW_CONSTANTS(DECLARE)
#undef DECLARE
} firn_law_constants;

/* How enthalpy (J/kg, 0 in solid at its melting point), temperature (K) and the part that is liquid go
 * together. Materials that do not melt stay solid. */
typedef struct firn_heat_curve {
    double melting_point, range; /* K */
    double solid, liquid;        /* heat capacities, J/(kg K) */
    double melt;                 /* enthalpy at which all is liquid; INFINITY: never */
} firn_heat_curve;
firn_heat_curve firn_material_heat_curve(const firn_material_def *def);
double firn_heat_temperature(const firn_heat_curve *c, double enthalpy);
double firn_heat_liquid(const firn_heat_curve *c, double enthalpy);
double firn_heat_enthalpy(const firn_heat_curve *c, double temperature);

/* Whether heat or dye can move in it. */
bool firn_material_conducts(const firn_material_def *def);

/* Of a def that has been checked. */
void firn_material_constants(const firn_material_def *def, firn_law_constants *constants);

#endif
