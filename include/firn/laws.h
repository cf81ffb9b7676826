/* The constitutive laws: a row each, and src/material/<name>.c has its functions.
 *
 * X(NAME, name, help, parameters, traits...). Parameters are P(field) for each field of
 * firn_material_def that the law reads beside density and those of heat and dye, which all laws
 * read. Traits set members of firn_law_info; those that are not set are 0. */
#ifndef FIRN_LAWS_H
#define FIRN_LAWS_H

#include <firn/base.h>

#define FIRN_LAWS(X)                                                                               \
    X(LINEAR, linear, "small strains: knows no rotation", P(young) P(poisson), .elastic = 1)       \
    X(ST_VENANT_KIRCHHOFF, st_venant_kirchhoff,                                                    \
      "linear in Green's strain: gives way when crushed", P(young) P(poisson), .elastic = 1)       \
    X(COROTATED, corotated, "small strains in a frame that turns along", P(young) P(poisson),      \
      .elastic = 1)                                                                                \
    X(FIXED_COROTATED, fixed_corotated,                                                            \
      "corotated, and resists inversion (Stomakhin et al. 2012)", P(young) P(poisson),             \
      .elastic = 1, .poisson_from_0 = 1)                                                           \
    X(NEO_HOOKEAN, neo_hookean, "rubber and jelly, at any strain", P(young) P(poisson),            \
      .elastic = 1)                                                                                \
    X(HENCKY, hencky, "linear in logarithmic strain", P(young) P(poisson), .elastic = 1)           \
    X(SNOW, snow, "packs, hardens and breaks (Stomakhin et al. 2013)",                             \
      P(young) P(poisson) P(critical_compression) P(critical_stretch) P(hardening)                 \
          P(hardening_cap),                                                                        \
      .state = FIRN_STATE_LOG_VOLUME, .crumbles = 1, .packs = 1, .volume_yields = 1,               \
      .poisson_from_0 = 1)                                                                         \
    X(DRUCKER_PRAGER, drucker_prager, "sand: grains that rub (Klar et al. 2016)",                  \
      P(young) P(poisson) P(friction_angle) P(cohesion), .state = FIRN_STATE_LOG_VOLUME,           \
      .volume_yields = 1)                                                                          \
    X(VON_MISES, von_mises, "clay and metal: flows beyond a shear stress",                         \
      P(young) P(poisson) P(yield) P(hardening_modulus), .state = FIRN_STATE_PLASTIC_SHEAR)        \
    X(HERSCHEL_BULKLEY, herschel_bulkley, "paste and mud: flows at a rate beyond a shear stress",  \
      P(young) P(poisson) P(yield) P(viscosity) P(exponent), .state = FIRN_STATE_NONE)             \
    X(LIQUID, liquid, "water and honey: pressure and viscosity",                                   \
      P(bulk) P(tait_exponent) P(viscosity) P(tension) P(surface_tension),                         \
      .state = FIRN_STATE_LOG_VOLUME, .liquid = 1)                                                 \
    X(NACC, nacc, "foam, concrete, fruit: crushes, tears and crumbles (Wolper et al. 2019)",       \
      P(young) P(poisson) P(friction_angle) P(hardening) P(tensile_ratio) P(compaction),           \
      .state = FIRN_STATE_LOG_PACKING, .volume_yields = 1)                                         \
    X(MELTING, melting, "a solid that melts to a liquid and freezes again: needs heat",            \
      P(young) P(poisson) P(yield) P(softening) P(crush_pressure) P(hardening) P(hardening_cap)    \
          P(melting_point) P(melting_range) P(latent_heat) P(liquid_heat_capacity)                 \
              P(liquid_conductivity) P(liquid_density) P(liquid_yield) P(viscosity) P(thinning)    \
                  P(surface_tension),                                                              \
      .state = FIRN_STATE_LOG_PACKING, .melts = 1)

#endif
