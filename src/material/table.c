/* The laws by kind: names, parameters, and what a def must satisfy. */
#include "base/error.h"
#include "material/material.h"

#include <math.h>
#include <stdbool.h>
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
static const firn_param *const elastic[] = {ELASTIC, NULL};
static const firn_param *const snow[] = {
    ELASTIC,          &param.critical_compression, &param.critical_stretch,
    &param.hardening, &param.hardening_cap,        NULL};

static const firn_param *const grains[] = {ELASTIC, &param.friction_angle, &param.cohesion, NULL};
static const firn_param *const clay[] = {ELASTIC, &param.yield, &param.hardening_modulus, NULL};
static const firn_param *const paste[] = {ELASTIC, &param.yield, &param.viscosity, &param.exponent,
                                          NULL};
static const firn_param *const fluid[] = {&param.density,   &param.bulk,    &param.tait_exponent,
                                          &param.viscosity, &param.tension, NULL};
static const firn_param *const brittle[] = {ELASTIC,           &param.friction_angle,
                                            &param.hardening,  &param.tensile_ratio,
                                            &param.compaction, NULL};

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
    if ((def->law == FIRN_FIXED_COROTATED || def->law == FIRN_SNOW) && def->poisson < 0) {
        return firn_fail(error, FIRN_INVALID,
                         "materials[%d].poisson %g must not be below 0 under %s, whose energy then "
                         "has no floor; use neo_hookean for auxetic material",
                         index, def->poisson, firn_law_names[def->law]);
    }
    return FIRN_OK;
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
        .log_fluidity = (real)(-log(fmax(def->viscosity, least)) / def->exponent),
        .exponent = (real)def->exponent,
        .viscosity = (real)(liquid ? def->viscosity : 0),
        .tait_exponent = (real)def->tait_exponent,
        .log_J_most = (real)log_J_most(def),
        .tensile_ratio = (real)def->tensile_ratio,
        .compaction = (real)def->compaction,
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
    default: return rest;
    }
}
