/* The laws by kind: names, parameters, and what a def must satisfy. */
#include "base/error.h"
#include "material/material.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct {
#define DECLARE(name, ...) firn_param name;
    FIRN_MATERIAL_PARAMS(DECLARE)
#undef DECLARE
} param = {
#define ROW(name, unit, fallback, least, most, help, cure, alias)                                  \
    .name = {#name, unit, help, fallback, least, most, offsetof(firn_material_def, name), cure},
    FIRN_MATERIAL_PARAMS(ROW)
#undef ROW
};

#define ELASTIC &param.density, &param.young, &param.poisson
/* Of heat and dye: all laws have them. */
#define THERMAL &param.heat_capacity, &param.conductivity, &param.diffusivity, NULL
static const firn_param *const elastic[] = {ELASTIC, THERMAL};
static const firn_param *const snow[] = {
    ELASTIC,          &param.critical_compression, &param.critical_stretch,
    &param.hardening, &param.hardening_cap,        THERMAL};
static const firn_param *const grains[] = {ELASTIC, &param.friction_angle, &param.cohesion,
                                           THERMAL};
static const firn_param *const clay[] = {ELASTIC, &param.yield, &param.hardening_modulus, THERMAL};
static const firn_param *const paste[] = {ELASTIC, &param.yield, &param.viscosity, &param.exponent,
                                          THERMAL};
static const firn_param *const fluid[] = {&param.density,   &param.bulk,    &param.tait_exponent,
                                          &param.viscosity, &param.tension, THERMAL};
static const firn_param *const brittle[] = {ELASTIC,           &param.friction_angle,
                                            &param.hardening,  &param.tensile_ratio,
                                            &param.compaction, THERMAL};
static const firn_param *const melting[] = {ELASTIC,
                                            &param.yield,
                                            &param.softening,
                                            &param.crush_pressure,
                                            &param.hardening,
                                            &param.hardening_cap,
                                            &param.melting_point,
                                            &param.melting_range,
                                            &param.latent_heat,
                                            &param.liquid_heat_capacity,
                                            &param.liquid_conductivity,
                                            &param.liquid_density,
                                            &param.liquid_yield,
                                            &param.viscosity,
                                            &param.thinning,
                                            THERMAL};

const char *const firn_law_names[FIRN_LAW_COUNT + 1] = {
    [FIRN_LINEAR] = "linear",
    [FIRN_ST_VENANT_KIRCHHOFF] = "st_venant_kirchhoff",
    [FIRN_COROTATED] = "corotated",
    [FIRN_FIXED_COROTATED] = "fixed_corotated",
    [FIRN_NEO_HOOKEAN] = "neo_hookean",
    [FIRN_HENCKY] = "hencky",
    [FIRN_SNOW] = "snow",
    [FIRN_DRUCKER_PRAGER] = "drucker_prager",
    [FIRN_VON_MISES] = "von_mises",
    [FIRN_HERSCHEL_BULKLEY] = "herschel_bulkley",
    [FIRN_LIQUID] = "liquid",
    [FIRN_NACC] = "nacc",
    [FIRN_MELTING] = "melting",
};

static const struct law_row {
    const firn_param *const *params;
    firn_state_kind state;
} laws[FIRN_LAW_COUNT] = {
    [FIRN_LINEAR] = {elastic, FIRN_STATE_NONE},
    [FIRN_ST_VENANT_KIRCHHOFF] = {elastic, FIRN_STATE_NONE},
    [FIRN_COROTATED] = {elastic, FIRN_STATE_NONE},
    [FIRN_FIXED_COROTATED] = {elastic, FIRN_STATE_NONE},
    [FIRN_NEO_HOOKEAN] = {elastic, FIRN_STATE_NONE},
    [FIRN_HENCKY] = {elastic, FIRN_STATE_NONE},
    [FIRN_SNOW] = {snow, FIRN_STATE_LOG_VOLUME},
    [FIRN_DRUCKER_PRAGER] = {grains, FIRN_STATE_LOG_VOLUME},
    [FIRN_VON_MISES] = {clay, FIRN_STATE_PLASTIC_SHEAR},
    [FIRN_HERSCHEL_BULKLEY] = {paste, FIRN_STATE_NONE},
    [FIRN_LIQUID] = {fluid, FIRN_STATE_LOG_VOLUME},
    [FIRN_NACC] = {brittle, FIRN_STATE_LOG_PACKING},
    [FIRN_MELTING] = {melting, FIRN_STATE_LOG_PACKING},
};

static const struct law_row *find_row(firn_law_kind law)
{
    return (unsigned)law < FIRN_LAW_COUNT ? &laws[law] : NULL;
}

const char *firn_law_name(firn_law_kind law) { return find_row(law) ? firn_law_names[law] : NULL; }

firn_law_kind firn_law_find(const char *name)
{
    int law = 0;
    while (law < FIRN_LAW_COUNT && !(name && strcmp(name, firn_law_names[law]) == 0)) law++;
    return (firn_law_kind)law;
}

const firn_param *const *firn_law_params(firn_law_kind law)
{
    const struct law_row *row = find_row(law);
    return row ? row->params : NULL;
}

firn_state_kind firn_law_state(firn_law_kind law)
{
    const struct law_row *row = find_row(law);
    return row ? row->state : FIRN_STATE_NONE;
}

const firn_param *firn_param_get(int32_t index)
{
    const int32_t count = sizeof param / sizeof(firn_param);
    return index >= 0 && index < count ? (const firn_param *)&param + index : NULL;
}

firn_material_def firn_material_def_default(void)
{
    return (firn_material_def){
#define FALLBACK(name, unit, fallback, ...) .name = fallback,
        FIRN_MATERIAL_PARAMS(FALLBACK)
#undef FALLBACK
            .law = FIRN_NEO_HOOKEAN,
        .stamp = FIRN_STAMP,
    };
}

static double value_of(const firn_material_def *def, const firn_param *p)
{
    double value;
    memcpy(&value, (const char *)def + p->offset, sizeof value);
    return value;
}

firn_status firn_material_check(const firn_material_def *def, int index, firn_error *error)
{
    char which[32];
    snprintf(which, sizeof which, "materials[%d]", index);
    firn_status status = firn_check_stamp(def->stamp, "firn_material_def", which, error);
    if (status != FIRN_OK) return status;
    const struct law_row *row = find_row(def->law);
    if (!row)
        return firn_fail(error, FIRN_INVALID,
                         "materials[%d].law %d is not a law; use one of firn_law_kind, 0 to %d",
                         index, (int)def->law, FIRN_LAW_COUNT - 1);
    for (const firn_param *const *at = row->params; *at; at++) {
        const firn_param *p = *at;
        const double value = value_of(def, p);
        if (value >= p->least && value <= p->most) continue; /* NaN fails too */
        return firn_fail(error, FIRN_INVALID, "materials[%d].%s %.9g%s%s must be from %g to %g; %s",
                         index, p->name, value, p->unit[0] ? " " : "", p->unit, p->least, p->most,
                         p->cure);
    }
    if (def->law == FIRN_MELTING && def->liquid_density > 0 &&
        !(def->density / def->liquid_density >= 0.05 && def->density / def->liquid_density <= 20)) {
        return firn_fail(
            error, FIRN_INVALID,
            "materials[%d].liquid_density %g kg/m3 must be within 20 times density %g; "
            "0 takes that of the solid",
            index, def->liquid_density, def->density);
    }
    if (def->law == FIRN_MELTING && def->crush_pressure > 0 &&
        !(def->liquid_density > def->density)) {
        return firn_fail(
            error, FIRN_INVALID,
            "materials[%d].crush_pressure %g Pa is of porous solids, whose melt is denser: "
            "liquid_density %g must be above density %g; or set it to 0",
            index, def->crush_pressure, def->liquid_density, def->density);
    }
    if ((def->law == FIRN_FIXED_COROTATED || def->law == FIRN_SNOW) && def->poisson < 0) {
        return firn_fail(error, FIRN_INVALID,
                         "materials[%d].poisson %g must not be below 0 under %s, whose energy then "
                         "has no floor; use neo_hookean for auxetic material",
                         index, def->poisson, firn_law_names[def->law]);
    }
    return FIRN_OK;
}

/* ---- heat ---- */

firn_heat_curve firn_material_heat_curve(const firn_material_def *def)
{
    firn_heat_curve c = {def->melting_point, def->melting_range, def->heat_capacity,
                         def->liquid_heat_capacity, INFINITY};
    if (def->law != FIRN_MELTING) return c;
    /* Glass has no latent heat, but something must tell how far it has melted. */
    c.melt = fmax(def->latent_heat + 0.5 * (c.solid + c.liquid) * c.range, 1);
    return c;
}

double firn_material_rest_ratio(const firn_material_def *def, double state, double liquid)
{
    const double melt = def->liquid_density > 0 ? def->density / def->liquid_density : 1;
    return (1 - liquid) * exp(state) + liquid * melt;
}

bool firn_material_conducts(const firn_material_def *def)
{
    return def->conductivity > 0 || def->diffusivity > 0 ||
           (def->law == FIRN_MELTING && def->liquid_conductivity > 0);
}

double firn_heat_liquid(const firn_heat_curve *c, double enthalpy)
{
    return fmin(fmax(enthalpy / c->melt, 0), 1);
}

double firn_heat_temperature(const firn_heat_curve *c, double enthalpy)
{
    if (enthalpy <= 0 || isinf(c->melt)) return c->melting_point + enthalpy / c->solid;
    return c->melting_point + c->range * firn_heat_liquid(c, enthalpy) +
           fmax(enthalpy - c->melt, 0) / c->liquid;
}

double firn_heat_enthalpy(const firn_heat_curve *c, double temperature)
{
    const double above = temperature - c->melting_point;
    if (above <= 0 || isinf(c->melt)) return c->solid * above;
    if (above < c->range) return c->melt * above / c->range;
    return c->melt + c->liquid * (above - c->range);
}

/* log J at which a liquid pulls with its tension, or where it never does. */
static double log_J_most(const firn_material_def *def)
{
    const double most = 3, part = def->tension / def->bulk, gamma = def->tait_exponent;
    if (gamma == 0) return fmin(part, most);
    return gamma * part < 1 ? fmin(-log1p(-gamma * part) / gamma, most) : most;
}

void firn_material_constants(const firn_material_def *def, firn_law_constants *constants)
{
    const double E = def->young, nu = def->poisson, least = 1e-12;
    const double angle = def->friction_angle * 3.14159265358979323846 / 180;
    const bool liquid = def->law == FIRN_LIQUID;
    const firn_heat_curve curve = firn_material_heat_curve(def);
    *constants = (firn_law_constants){
        .mu = (real)(liquid ? 0 : E / (2 * (1 + nu))),
        .lambda = (real)(liquid ? def->bulk : E * nu / ((1 + nu) * (1 - 2 * nu))),
        .stretch_least = (real)(1 - def->critical_compression),
        .stretch_most = (real)(1 + def->critical_stretch),
        .hardening = (real)def->hardening,
        .hardening_cap = (real)def->hardening_cap,
        .friction_sine = (real)sin(angle),
        .tip_tension = (real)(def->cohesion / tan(angle)),
        .yield = (real)def->yield,
        .yield_rise = (real)def->hardening_modulus,
        .log_fluidity = (real)(-log(fmax(def->viscosity, least)) /
                               (def->law == FIRN_MELTING ? 1 : def->exponent)),
        .exponent = (real)def->exponent,
        .viscosity = (real)(liquid ? def->viscosity : 0),
        .tait_exponent = (real)def->tait_exponent,
        .log_J_most = (real)log_J_most(def),
        .tensile_ratio = (real)def->tensile_ratio,
        .compaction = (real)def->compaction,
        .crush_pressure = (real)(def->crush_pressure > 0 ? def->crush_pressure : 1e30),
        .liquid_yield = (real)def->liquid_yield,
        .melt_rate = (real)(1 / curve.melt),
        .liquid_log_J =
            (real)(def->liquid_density > 0 ? log(def->density / def->liquid_density) : 0),
        .solid_softening = (real)(def->softening / curve.solid),
        .liquid_thinning = (real)(def->thinning / curve.liquid),
    };
}

double firn_material_modulus(const firn_material_def *def, double state)
{
    firn_law_constants k;
    firn_material_constants(def, &k);
    const double rest = 2 * (double)k.mu + (double)k.lambda;
    switch (def->law) {
    case FIRN_SNOW: return rest * fmin(exp(-def->hardening * expm1(state)), def->hardening_cap);
    case FIRN_LIQUID: return rest * exp((1 - def->tait_exponent) * state);
    case FIRN_MELTING: { /* in 3D; packing stiffens the bulk modulus alone */
        const double packed = fmin(exp(-def->hardening * expm1(state)), def->hardening_cap),
                     mu = (double)k.mu;
        return 4.0 / 3 * mu + packed * ((double)k.lambda + 2.0 / 3 * mu);
    }
    default: return rest;
    }
}
