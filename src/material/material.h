/* Materials outside of the kernels: the list of parameters, checking a def, and the numbers a law
 * reads. */
#ifndef FIRN_MATERIAL_INTERNAL_H
#define FIRN_MATERIAL_INTERNAL_H

#include <stdbool.h>

#include <firn/material.h>

#include "base/real.h"

/* Every parameter of every law: the one place its unit, default, range and help are written. Which
 * laws read it stands in firn/laws.h; it needs a double of its name in firn_material_def.
 * X(name, unit, fallback, least, most, help, cure, alias in scenes). The upper ends of the first two
 * are far above any matter: beyond them is a mistake of units, found here rather than as an
 * overflow. */
#define FIRN_MATERIAL_PARAMS(X)                                                                    \
    X(density, "kg/m3", 1000, 1e-6, 1e6, "mass per volume at rest", "water has 1000", NULL)        \
    X(young, "Pa", 1e4, 1e-6, 1e13, "Young's modulus: stress over strain in a pulled bar",         \
      "jelly has 1e4, rubber 1e7, steel 2e11", "stiffness")                                        \
    X(poisson, "", 0.2, -0.999, 0.4999,                                                            \
      "Poisson's ratio: how much a pulled bar thins; near 0.5 it keeps its volume",                \
      "0.45 is nearly incompressible; nearer to 0.5 steps get very short", "poisson_ratio")        \
    X(critical_compression, "", 0.025, 0, 0.9, "compression along an axis beyond which it stays",  \
      "snow has 0.019 to 0.025; less is more brittle", NULL)                                       \
    X(critical_stretch, "", 0.0075, 0, 10, "stretch along an axis beyond which it stays",          \
      "snow has 0.005 to 0.0075; less breaks sooner", NULL)                                        \
    X(hardening, "", 10, 0, 100,                                                                   \
      "how fast packing stiffens snow: exp(hardening (1 - Jp)); strengthens brittle solids",       \
      "snow has 5 to 10; 0 is none", NULL)                                                         \
    X(hardening_cap, "", 20, 1, 1e6, "largest factor by which packing stiffens it",                \
      "steps shorten by its square root", NULL)                                                    \
    X(friction_angle, "degrees", 35, 0.1, 80, "angle of repose of dry grains",                     \
      "sand has 30 to 40", NULL)                                                                   \
    X(cohesion, "Pa", 0, 0, 1e9, "shear stress that grains bear without pressure",                 \
      "0 is dry, damp sand has a few hundred", NULL)                                               \
    X(yield, "Pa", 1000, 0, 1e12, "shear stress at which it flows",                                \
      "toothpaste has 100, clay 5000; a bar yields at 1.73 times that", "yield_stress")            \
    X(hardening_modulus, "Pa", 0, 0, 1e12, "rise of yield per plastic shear strain",               \
      "0 is none, and young more than enough", NULL)                                               \
    X(viscosity, "Pa s", 0, 0, 1e9, "shear stress per rate of shear", "water has 0.001, honey 10", \
      NULL)                                                                                        \
    X(exponent, "", 1, 0.1, 5, "stress of a paste rises as this power of the rate of shear",       \
      "1 is Bingham's law; below, it thins when stirred", NULL)                                    \
    X(bulk, "Pa", 1e6, 1e-6, 1e13, "bulk modulus: pressure over compression",                      \
      "density x (10 x the highest speed)^2 keeps compression below 1 %", "bulk_modulus")          \
    X(tait_exponent, "", 7, 0, 20, "how much a liquid stiffens when compressed",                   \
      "7 is Tait's equation of water; 0 is the logarithm", NULL)                                   \
    X(tension, "Pa", 0, 0, 1e13, "pull that a liquid bears before it cavitates", "0 is none",      \
      NULL)                                                                                        \
    X(tensile_ratio, "", 0.5, 0, 10, "pull that a brittle solid bears over the pressure it bears", \
      "concrete has 0.1, fruit 1; less tears sooner", "beta")                                      \
    X(compaction, "", 0.01, 0, 1,                                                                  \
      "how far a brittle solid is packed at the start, as a strain: its strength",                 \
      "0.001 crumbles, 0.05 is strong", NULL)                                                      \
    X(heat_capacity, "J/(kg K)", 2000, 1, 1e6,                                                     \
      "heat that warms a kilogram by a kelvin, as a solid", "water has 4186, rock 1000, iron 450", \
      "specific_heat")                                                                             \
    X(conductivity, "W/(m K)", 0.5, 0, 1e6, "how well it conducts heat, as a solid",               \
      "wax has 0.25, ice 2.2, iron 80", "thermal_conductivity")                                    \
    X(diffusivity, "m2/s", 0, 0, 1, "how fast a dissolved dye spreads in it",                      \
      "ink in water has 1e-9; heat.speed multiplies it", NULL)                                     \
    X(melting_point, "K", 273.15, 1, 1e5, "temperature at which it begins to melt",                \
      "in kelvin: 0 C is 273.15", NULL)                                                            \
    X(melting_range, "K", 0, 0, 1e4, "width of the temperatures over which it melts",              \
      "it begins at melting_point; 0 melts at one temperature", NULL)                              \
    X(latent_heat, "J/kg", 1e5, 0, 1e8, "heat that melts a kilogram", "ice has 3.34e5, wax 2e5",   \
      NULL)                                                                                        \
    X(liquid_heat_capacity, "J/(kg K)", 2000, 1, 1e6,                                              \
      "heat that warms a kilogram of the melt by a kelvin", "water has 4186", NULL)                \
    X(liquid_conductivity, "W/(m K)", 0.5, 0, 1e6, "how well the melt conducts heat",              \
      "water has 0.6", NULL)                                                                       \
    X(liquid_density, "kg/m3", 0, 0, 1e6,                                                          \
      "mass per volume of the melt, within 20 times density; 0: the solid's",                      \
      "0 takes that of the solid", NULL)                                                           \
    X(liquid_yield, "Pa", 0, 0, 1e12, "shear stress at which the melt flows",                      \
      "water has none, chocolate 10", NULL)                                                        \
    X(crush_pressure, "Pa", 0, 0, 1e12, "pressure at which a porous solid packs for good",         \
      "0 is never, snow has some 5000", NULL)                                                      \
    X(softening, "1/K", 0, 0, 10, "how fast yield falls as the solid warms to its melting point",  \
      "0.1 halves it every 7 K", NULL)                                                             \
    X(thinning, "1/K", 0, 0, 10, "how fast viscosity falls as the melt warms",                     \
      "0.1 halves it every 7 K", NULL)

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

/* Volume at rest over that of the solid at first, of a particle with that state (how far it is packed)
 * which is so far liquid: J_r of melting.c; 1 where the law does not melt. */
double firn_material_rest_ratio(const firn_material_def *def, double state, double liquid);

/* Whether heat or dye can move in it. */
bool firn_material_conducts(const firn_material_def *def);

/* FIRN_OK or what is wrong with the index-th def, by field name: stamp, law, every parameter. */
FIRN_MUST_CHECK firn_status firn_material_check(const firn_material_def *def, int index,
                                                firn_error *error);

/* Of a def that has been checked. */
void firn_material_constants(const firn_material_def *def, firn_law_constants *constants);

#endif
