/* Materials: a constitutive law and its parameters. */
#ifndef FIRN_MATERIAL_H
#define FIRN_MATERIAL_H

#include <firn/base.h>
#include <firn/laws.h>

#ifdef __cplusplus
extern "C" {
#endif

/* FIRN_LINEAR, ...: one per row of firn/laws.h. */
typedef enum firn_law_kind { FIRN_LAWS(FIRN_LIST_ENUM) FIRN_LAW_COUNT } firn_law_kind;

/* Make one with firn_material_def_default. A law reads some of the fields (firn_law_params), and
 * those are checked when a sim is created. Ranges include their ends; the upper ends of density and
 * young are far above any matter: beyond is a mistake of units. */
typedef struct firn_material_def {
    firn_law_kind law;
    double density;              /* kg/m3 at rest, 1e-6 to 1e6 */
    double young;                /* Young's modulus, Pa, 1e-6 to 1e13 */
    double poisson;              /* Poisson's ratio, -0.999 to 0.4999; laws with poisson_from_0
                       take none below 0 */
    double critical_compression; /* compression along an axis beyond which it stays, 0 to 0.9 */
    double critical_stretch;     /* stretch along an axis beyond which it stays, 0 to 10 */
    double hardening;            /* how fast packing stiffens or strengthens it, 0 to 100 */
    double hardening_cap;        /* but by no more than this factor, 1 to 1e6 */
    double friction_angle;       /* degrees, 0.1 to 80 */
    double cohesion;             /* shear stress that grains bear without pressure, Pa, 0 to 1e9 */
    double yield;                /* shear stress at which it flows, Pa, 0 to 1e12 */
    double hardening_modulus;    /* rise of yield per plastic shear strain, Pa, 0 to 1e12 */
    double viscosity;            /* Pa s; of a paste Pa s^exponent; 0 to 1e9 */
    double exponent;      /* a paste's stress rises as this power of the shear rate, 0.1 to 5 */
    double bulk;          /* bulk modulus of a liquid, Pa, 1e-6 to 1e13 */
    double tait_exponent; /* how a liquid stiffens: Tait's exponent, or 0: log J; 0 to 20 */
    double tension;       /* pull that a liquid bears, Pa, 0 to 1e13 */
    double tensile_ratio; /* pull that a brittle solid bears over the pressure it bears, 0 to 10 */
    double compaction;    /* log of how far it is packed at the start: its strength, 0 to 1 */
    double heat_capacity; /* of the solid, J/(kg K), 1 to 1e6 */
    double conductivity;  /* of heat in the solid, W/(m K), 0 to 1e6 */
    double diffusivity;   /* of a dissolved dye, m2/s, 0 to 1 */
    double melting_point; /* K, 1 to 1e5 */
    double melting_range; /* K above it over which it melts, 0 to 1e4 */
    double latent_heat;   /* J/kg, 0 to 1e8 */
    double liquid_heat_capacity; /* J/(kg K), 1 to 1e6 */
    double liquid_conductivity;  /* W/(m K), 0 to 1e6 */
    double liquid_density;       /* kg/m3, 1e-6 to 1e6; 0: that of the solid */
    double liquid_yield;         /* shear stress at which the melt flows, Pa, 0 to 1e12 */
    double crush_pressure;       /* at which a porous solid packs for good, Pa, 0 (never) to 1e12 */
    double softening;            /* of yield, per K of warming up to the melting point, 0 to 10 */
    double thinning;             /* of the melt's viscosity, per K of warming beyond, 0 to 10 */
    char name[32];               /* what messages call it; empty: its number */
    uint32_t stamp;              /* set by the default function */
} firn_material_def;

/* One user-visible parameter. */
typedef struct firn_param {
    const char *name;
    const char *unit;
    const char *help;
    double fallback;
    double least, most; /* least <= value <= most */
    size_t offset;      /* of the double in its def */
    const char *cure;   /* what to do when the value is out of range */
} firn_param;

/* What a law keeps in the particle's scalar (FIRN_STATE), which is 0 at first. */
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
    int32_t poisson_from_0; /* its energy has no floor for a poisson below 0, which is refused */
} firn_law_info;
FIRN_API firn_law_info firn_law_get_info(firn_law_kind law);

/* Soft jelly: neo-Hookean, density 1000, young 1e4, poisson 0.2. */
FIRN_API firn_material_def firn_material_def_default(void);

/* A named material. */
typedef struct firn_preset {
    const char *name;
    const char *alias; /* another name, or NULL */
    firn_law_kind law;
    const char *help;   /* one line */
    const char *source; /* of its values */
} firn_preset;

/* The presets there are, NULL past the end; that of a name or alias, or NULL. Static storage. */
FIRN_API const firn_preset *firn_preset_get(int32_t index);
FIRN_API const firn_preset *firn_preset_find(const char *name);

/* A preset as a def. */
FIRN_API firn_material_def firn_material_def_preset(const firn_preset *preset);

/* The law's snake_case name ("neo_hookean"), or NULL when there is no such law. */
FIRN_API const char *firn_law_name(firn_law_kind law);

/* The law of that name, or FIRN_LAW_COUNT. */
FIRN_API firn_law_kind firn_law_find(const char *name);

/* The parameters a law reads, up to a NULL; NULL when there is no such law. Static storage. */
FIRN_API const firn_param *const *firn_law_params(firn_law_kind law);

FIRN_API firn_state_kind firn_law_state(firn_law_kind law);

/* All parameters of all laws: the index-th, NULL past the end. */
FIRN_API const firn_param *firn_param_get(int32_t index);

#ifdef __cplusplus
}
#endif
#endif
