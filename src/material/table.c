/* Laws by kind, parameters, what a def must satisfy, and the numbers that kernels read of it. */
#include "base/error.h"
#include "base/param.h"
#include "material/material.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct {
#define DECLARE(kind, name, ...) firn_param name;
    FIRN_MATERIAL_PARAMS(DECLARE)
#undef DECLARE
} param = {
#define ROW(kind, name, ...) .name = FIRN_PARAM_ROW(firn_material_def, kind, name, __VA_ARGS__)
    FIRN_MATERIAL_PARAMS(ROW)
#undef ROW
};

/* What each law reads: density, its own, and those of heat and dye. */
#define P(name) , &param.name
#define READS(NAME, name, help, params, ...)                                                       \
    static const firn_param *const reads_##name[] = {&param.density params, &param.heat_capacity,  \
                                                     &param.conductivity, &param.diffusivity,      \
                                                     NULL};
FIRN_LAWS(READS)
#undef READS
#undef P

static const firn_law_info laws[FIRN_LAW_COUNT] = {
#define ROW(NAME, name_, help_, params_, ...)                                                      \
    {.name = #name_, .help = help_, .params = reads_##name_, __VA_ARGS__},
    FIRN_LAWS(ROW)
#undef ROW
};

firn_law_info firn_law_get_info(firn_law_kind law)
{
    return (unsigned)law < FIRN_LAW_COUNT ? laws[law] : (firn_law_info){0};
}

const char *firn_law_name(firn_law_kind law) { return firn_law_get_info(law).name; }

firn_law_kind firn_law_find(const char *name)
{
    int law = 0;
    while (law < FIRN_LAW_COUNT && !(name && strcmp(name, laws[law].name) == 0)) law++;
    return (firn_law_kind)law;
}

const firn_param *const *firn_law_params(firn_law_kind law)
{
    return firn_law_get_info(law).params;
}

firn_state_kind firn_law_state(firn_law_kind law) { return firn_law_get_info(law).state; }

const firn_param *firn_material_param(int32_t index)
{
    const int32_t count = sizeof param / sizeof(firn_param);
    return index >= 0 && index < count ? (const firn_param *)&param + index : NULL;
}

firn_material_def firn_material_def_default(void)
{
    firn_material_def def = {.law = FIRN_NEO_HOOKEAN, .stamp = FIRN_STAMP};
    firn_params_default(firn_material_param, &def);
    return def;
}

/* The def with defaults for what its law does not read: no law sees parameters of another. */
static firn_material_def as_read(const firn_material_def *def)
{
    firn_material_def read = firn_material_def_default();
    for (const firn_param *const *at = laws[def->law].params; *at; at++) {
        memcpy((char *)&read + (*at)->offset, (const char *)def + (*at)->offset, sizeof(double));
    }
    return read;
}

firn_status firn_material_check(const firn_material_def *def, int32_t index, firn_error *error)
{
    char which[32];
    snprintf(which, sizeof which, "materials[%d]", index);
    firn_status status = firn_check_stamp(def->stamp, "firn_material_def", which, error);
    if (status != FIRN_OK) return status;
    const firn_law_info law = firn_law_get_info(def->law);
    if (!law.name)
        return firn_fail_field(
            error, FIRN_INVALID,
            "materials[%d].law %d is not a law; use one of firn_law_kind, 0 to %d", index,
            (int)def->law, FIRN_LAW_COUNT - 1);
    for (const firn_param *const *at = law.params; *at; at++) {
        status = firn_param_check(*at, def, which, error);
        if (status != FIRN_OK) return status;
    }
    const firn_material_def m = as_read(def);
    if (m.liquid_density > 0 &&
        !(m.density / m.liquid_density >= 0.05 && m.density / m.liquid_density <= 20)) {
        return firn_fail_field(
            error, FIRN_INVALID,
            "materials[%d].liquid_density %g kg/m3 must be within 20 times density %g; "
            "0 takes that of the solid",
            index, m.liquid_density, m.density);
    }
    if (m.crush_pressure > 0 && !(m.liquid_density > m.density)) {
        return firn_fail_field(
            error, FIRN_INVALID,
            "materials[%d].crush_pressure %g Pa is of porous solids, whose melt is denser: "
            "liquid_density %g must be above density %g; or set it to 0",
            index, m.crush_pressure, m.liquid_density, m.density);
    }
    if (law.poisson_from_0 && m.poisson < 0) {
        return firn_fail_field(
            error, FIRN_INVALID,
            "materials[%d].poisson %g must not be below 0 under %s, whose energy then "
            "has no floor; use neo_hookean for auxetic material",
            index, m.poisson, law.name);
    }
    return FIRN_OK;
}

/* ---- heat ---- */

firn_heat_curve firn_material_heat_curve(const firn_material_def *def)
{
    firn_heat_curve c = {def->melting_point, def->melting_range, def->heat_capacity,
                         def->liquid_heat_capacity, INFINITY};
    if (!laws[def->law].melts) return c;
    /* Glass has no latent heat, but something must tell how far it has melted. */
    c.melt = fmax(def->latent_heat + 0.5 * (c.solid + c.liquid) * c.range, 1);
    return c;
}

double firn_material_rest_ratio(const firn_material_def *def, double state, double liquid)
{
    if (!laws[def->law].melts) return 1;
    const double melt = def->liquid_density > 0 ? def->density / def->liquid_density : 1;
    return (1 - liquid) * exp(state) + liquid * melt;
}

bool firn_material_conducts(const firn_material_def *def)
{
    return def->conductivity > 0 || def->diffusivity > 0 ||
           (laws[def->law].melts && def->liquid_conductivity > 0);
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

double firn_material_enthalpy(const firn_material_def *def, double temperature)
{
    const firn_heat_curve curve = firn_material_heat_curve(def);
    return firn_heat_enthalpy(&curve, temperature);
}

double firn_material_temperature(const firn_material_def *def, double enthalpy)
{
    const firn_heat_curve curve = firn_material_heat_curve(def);
    return firn_heat_temperature(&curve, enthalpy);
}

double firn_material_liquid(const firn_material_def *def, double enthalpy)
{
    const firn_heat_curve curve = firn_material_heat_curve(def);
    return firn_heat_liquid(&curve, enthalpy);
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
    const firn_material_def m = as_read(def);
    const firn_heat_curve curve = firn_material_heat_curve(def);
    const bool liquid = laws[def->law].liquid;
    const double E = m.young, nu = m.poisson;
    const double angle = m.friction_angle * 3.14159265358979323846 / 180;
    *constants = (firn_law_constants){
#define VALUE(name, value) .name = (real)(value),
        FIRN_LAW_CONSTANTS(VALUE)
#undef VALUE
    };
}
