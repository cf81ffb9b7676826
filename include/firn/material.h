/* Materials: a constitutive law and its parameters. */
#ifndef FIRN_MATERIAL_H
#define FIRN_MATERIAL_H

#include <firn/laws.h>
#include <firn/param.h>

#ifdef __cplusplus
extern "C" {
#endif

/* FIRN_LINEAR, ...: one per row of firn/laws.h. */
typedef enum firn_law_kind { FIRN_LAWS(FIRN_LIST_ENUM) FIRN_LAW_COUNT } firn_law_kind;

/* The parameters of all laws, as <firn/param.h> explains them; firn_law_params lists those of a law.
 * The upper ends of the first two are far above any matter: beyond them is a mistake of units,
 * found here rather than as an overflow. */
#define FIRN_MATERIAL_PARAMS(X)                                                                    \
    X(REAL, density, "kg/m3", 1000, 1e-6, 1e6, "mass per volume at rest", "water has 1000", NULL)  \
    X(REAL, young, "Pa", 1e4, 1e-6, 1e13, "Young's modulus: stress over strain in a pulled bar",   \
      "jelly has 1e4, rubber 1e7, steel 2e11", "stiffness")                                        \
    X(REAL, poisson, "", 0.2, -0.999, 0.4999,                                                      \
      "Poisson's ratio: how much a pulled bar thins; near 0.5 it keeps its volume",                \
      "0.45 is nearly incompressible; nearer to 0.5 steps get very short", "poisson_ratio")        \
    X(REAL, critical_compression, "", 0.025, 0, 0.9,                                               \
      "compression along an axis beyond which it is permanent",                                    \
      "snow has 0.019 to 0.025; less is more brittle", NULL)                                       \
    X(REAL, critical_stretch, "", 0.0075, 0, 10,                                                   \
      "stretch along an axis beyond which it is permanent",                                        \
      "snow has 0.005 to 0.0075; less breaks sooner", NULL)                                        \
    X(REAL, hardening, "", 10, 0, 100,                                                             \
      "how fast packing stiffens snow: exp(hardening (1 - Jp)); strengthens brittle solids",       \
      "snow has 5 to 10; 0 is none", NULL)                                                         \
    X(REAL, hardening_cap, "", 20, 1, 1e6, "largest factor by which packing stiffens it",          \
      "steps shorten by its square root", NULL)                                                    \
    X(REAL, friction_angle, "degrees", 35, 0.1, 80, "angle of repose of dry grains",               \
      "sand has 30 to 40", NULL)                                                                   \
    X(REAL, cohesion, "Pa", 0, 0, 1e9, "shear stress that grains bear without pressure",           \
      "0 is dry, damp sand has a few hundred", NULL)                                               \
    X(REAL, yield, "Pa", 1000, 0, 1e12, "shear stress at which it flows",                          \
      "toothpaste has 100, clay 5000; a bar yields at 1.73 times that", "yield_stress")            \
    X(REAL, hardening_modulus, "Pa", 0, 0, 1e12, "rise of yield per plastic shear strain",         \
      "0 is none, and young more than enough", NULL)                                               \
    X(REAL, viscosity, "Pa s", 0, 0, 1e9, "shear stress per rate of shear",                        \
      "water has 0.001, honey 10", NULL)                                                           \
    X(REAL, exponent, "", 1, 0.1, 5, "stress of a paste rises as this power of the rate of shear", \
      "1 is Bingham's law; below, it thins when stirred", NULL)                                    \
    X(REAL, bulk, "Pa", 1e6, 1e-6, 1e13, "bulk modulus: pressure over compression",                \
      "density x (10 x the highest speed)^2 keeps compression below 1 %", "bulk_modulus")          \
    X(REAL, tait_exponent, "", 7, 0, 20, "how much a liquid stiffens when compressed",             \
      "7 is Tait's equation of water; 0 is the logarithm", NULL)                                   \
    X(REAL, tension, "Pa", 0, 0, 1e13, "tension that a liquid bears before it cavitates",          \
      "0 is none", NULL)                                                                           \
    X(REAL, surface_tension, "N/m", 0, 0, 1e3,                                                     \
      "pull along a liquid's surface; only pressure: projection reads it",                         \
      "water has 0.072, honey 0.06", NULL)                                                         \
    X(REAL, tensile_ratio, "", 0.5, 0, 10,                                                         \
      "tension that a brittle solid bears, over the pressure it bears",                            \
      "concrete has 0.1, fruit 1; less tears sooner", "beta")                                      \
    X(REAL, compaction, "", 0.01, 0, 1,                                                            \
      "how far a brittle solid is packed at the start, as a strain: its strength",                 \
      "0.001 crumbles, 0.05 is strong", NULL)                                                      \
    X(REAL, heat_capacity, "J/(kg K)", 2000, 1, 1e6,                                               \
      "heat that warms a kilogram by a kelvin, as a solid", "water has 4186, rock 1000, iron 450", \
      "specific_heat")                                                                             \
    X(REAL, conductivity, "W/(m K)", 0.5, 0, 1e6, "how well it conducts heat, as a solid",         \
      "wax has 0.25, ice 2.2, iron 80", "thermal_conductivity")                                    \
    X(REAL, diffusivity, "m2/s", 0, 0, 1, "how fast a dissolved dye spreads in it",                \
      "ink in water has 1e-9; heat.speed multiplies it", NULL)                                     \
    X(TEMPERATURE, melting_point, "K", 273.15, 1, 1e5, "temperature at which it begins to melt",   \
      "in kelvin: 0 C is 273.15", NULL)                                                            \
    X(REAL, melting_range, "K", 0, 0, 1e4, "range of temperatures over which it melts",            \
      "it begins at melting_point; 0 melts at one temperature", NULL)                              \
    X(REAL, latent_heat, "J/kg", 1e5, 0, 1e8, "heat that melts a kilogram",                        \
      "ice has 3.34e5, wax 2e5", NULL)                                                             \
    X(REAL, liquid_heat_capacity, "J/(kg K)", 2000, 1, 1e6,                                        \
      "heat that warms a kilogram of the melt by a kelvin", "water has 4186", NULL)                \
    X(REAL, liquid_conductivity, "W/(m K)", 0.5, 0, 1e6, "how well the melt conducts heat",        \
      "water has 0.6", NULL)                                                                       \
    X(REAL, liquid_density, "kg/m3", 0, 0, 1e6,                                                    \
      "mass per volume of the melt, within 20 times density; 0: the solid's",                      \
      "0 takes that of the solid", NULL)                                                           \
    X(REAL, liquid_yield, "Pa", 0, 0, 1e12, "shear stress at which the melt flows",                \
      "water has none, chocolate 10", NULL)                                                        \
    X(REAL, crush_pressure, "Pa", 0, 0, 1e12,                                                      \
      "pressure at which a porous solid packs permanently", "0 is never, snow has some 5000",      \
      NULL)                                                                                        \
    X(REAL, softening, "1/K", 0, 0, 10,                                                            \
      "how fast yield falls as the solid warms to its melting point", "0.1 halves it every 7 K",   \
      NULL)                                                                                        \
    X(REAL, thinning, "1/K", 0, 0, 10, "how fast viscosity falls as the melt warms",               \
      "0.1 halves it every 7 K", NULL)

/* Make one with firn_material_def_default. What the law reads is checked when a sim is created. */
typedef struct firn_material_def {
    firn_law_kind law;
    FIRN_MATERIAL_PARAMS(FIRN_MEMBER)
    char name[32];  /* what messages call it; empty: its number */
    uint32_t stamp; /* set by the default function */
} firn_material_def;
FIRN_API const firn_param *firn_material_param(int32_t index);

/* The meaning of the particle's scalar (FIRN_STATE) under a law. It is 0 at first. */
typedef enum firn_state_kind {
    FIRN_STATE_NONE,
    FIRN_STATE_LOG_VOLUME, /* log of the volume ratio that F does not hold: J = det F exp(state) */
    FIRN_STATE_PLASTIC_SHEAR, /* plastic shear strain so far */
    FIRN_STATE_LOG_PACKING,   /* log of the volume ratio that strength goes by; J = det F */
} firn_state_kind;

/* A law, as its row in firn/laws.h says. Traits are 0 or 1. */
typedef struct firn_law_info {
    const char *name;                /* snake_case; NULL when there is no such law */
    const char *help;                /* one line */
    const firn_param *const *params; /* those that it reads, up to a NULL; static storage */
    firn_state_kind state;
    int32_t elastic;  /* no step changes F by more than the motion; objects of it part in scenes */
    int32_t liquid;   /* no shear modulus: reads bulk, and its viscosity limits the time step */
    int32_t melts;    /* reads melting_point; what it is depends on its enthalpy */
    int32_t crumbles; /* breaks into loose pieces, which FIRN_TRANSFER_AUTO lets part */
    int32_t packs;    /* packing multiplies its moduli, by at most hardening_cap */
    int32_t volume_yields;  /* its pressure is its own: pressure projection does not serve it */
    int32_t poisson_from_0; /* its energy has no floor for a poisson below 0, which is refused */
} firn_law_info;
FIRN_API firn_law_info firn_law_get_info(firn_law_kind law);

/* Soft jelly: neo-Hookean, density 1000, young 1e4, poisson 0.2. */
FIRN_API firn_material_def firn_material_def_default(void);

/* FIRN_OK, or what is wrong with the index-th def of a list, as firn_sim_create finds it. */
FIRN_API FIRN_MUST_CHECK firn_status firn_material_check(const firn_material_def *def,
                                                         int32_t index, firn_error *error);

/* How enthalpy (J/kg, 0 in solid at its melting point), temperature (K) and the liquid part (0 to 1) of
 * a material go together. Materials that do not melt stay solid. */
FIRN_API double firn_material_enthalpy(const firn_material_def *def, double temperature);
FIRN_API double firn_material_temperature(const firn_material_def *def, double enthalpy);
FIRN_API double firn_material_liquid(const firn_material_def *def, double enthalpy);

/* The volume at rest of a particle with that state and liquid part, over the volume of the solid that it
 * was: 1 for materials that do not melt. */
FIRN_API double firn_material_rest_ratio(const firn_material_def *def, double state, double liquid);

/* A named material. */
typedef struct firn_preset {
    const char *name;
    const char *alias; /* another name, or NULL */
    firn_law_kind law;
    const char *help;   /* one line */
    const char *source; /* of its values */
} firn_preset;

/* The index-th preset, NULL past the end; the preset of a name or alias, or NULL. Static storage. */
FIRN_API const firn_preset *firn_preset_get(int32_t index);
FIRN_API const firn_preset *firn_preset_find(const char *name);

/* A preset as a def; of NULL, a def that calls refuse. */
FIRN_API firn_material_def firn_material_def_preset(const firn_preset *preset);

/* The law's snake_case name ("neo_hookean"), or NULL when there is no such law. */
FIRN_API const char *firn_law_name(firn_law_kind law);

/* The law of that name, or FIRN_LAW_COUNT. */
FIRN_API firn_law_kind firn_law_find(const char *name);

/* The parameters a law reads, up to a NULL; NULL when there is no such law. Static storage. */
FIRN_API const firn_param *const *firn_law_params(firn_law_kind law);

FIRN_API firn_state_kind firn_law_state(firn_law_kind law);

#ifdef __cplusplus
}
#endif
#endif
