/* The laws by kind: names, parameters, and what a def must satisfy. */
#include "base/error.h"
#include "material/material.h"

#include <stdio.h>
#include <string.h>

/* What every elastic law reads. The upper ends are far above any matter: beyond them is a mistake
 * of units, found here rather than as an overflow. */
static const firn_param elastic[] = {
    {.name = "density",
     .unit = "kg/m3",
     .help = "mass per volume at rest",
     .fallback = 1000,
     .min = 0,
     .max = 1e6,
     .offset = offsetof(firn_material_def, density),
     .cure = "water has 1000"},
    {.name = "young",
     .unit = "Pa",
     .help = "Young's modulus: stress over strain in a pulled bar",
     .fallback = 1e4,
     .min = 0,
     .max = 1e13,
     .offset = offsetof(firn_material_def, young),
     .cure = "jelly has 1e4, rubber 1e7, steel 2e11"},
    {.name = "poisson",
     .unit = "",
     .help = "Poisson's ratio: how much a pulled bar thins; near 0.5 it keeps its volume",
     .fallback = 0.2,
     .min = -1,
     .max = 0.5,
     .offset = offsetof(firn_material_def, poisson),
     .cure = "0.45 is nearly incompressible; nearer to 0.5 steps get very short"},
};

typedef struct law_row {
    const char *name;
    const firn_param *params;
    int count;
} law_row;

#define ROW(name, params)                                                                          \
    {                                                                                              \
        name, params, sizeof(params) / sizeof *(params)                                            \
    }
static const law_row laws[FIRN_LAW_COUNT] = {
    [FIRN_LINEAR] = ROW("linear", elastic),
    [FIRN_ST_VENANT_KIRCHHOFF] = ROW("st_venant_kirchhoff", elastic),
    [FIRN_COROTATED] = ROW("corotated", elastic),
    [FIRN_FIXED_COROTATED] = ROW("fixed_corotated", elastic),
    [FIRN_NEO_HOOKEAN] = ROW("neo_hookean", elastic),
};

static const law_row *find_row(firn_law_kind law)
{
    return (unsigned)law < FIRN_LAW_COUNT ? &laws[law] : NULL;
}

const char *firn_law_name(firn_law_kind law)
{
    const law_row *row = find_row(law);
    return row ? row->name : NULL;
}

firn_law_kind firn_law_find(const char *name)
{
    int law = 0;
    while (law < FIRN_LAW_COUNT && !(name && strcmp(name, laws[law].name) == 0)) law++;
    return (firn_law_kind)law;
}

const firn_param *firn_law_params(firn_law_kind law, int *count)
{
    const law_row *row = find_row(law);
    if (count) *count = row ? row->count : 0;
    return row ? row->params : NULL;
}

static double *value_of(firn_material_def *def, const firn_param *param)
{
    return (double *)(void *)((char *)def + param->offset);
}

firn_material_def firn_material_def_default(void)
{
    firn_material_def def = {.law = FIRN_NEO_HOOKEAN, .stamp = FIRN_STAMP};
    const law_row *row = find_row(def.law);
    for (int i = 0; i < row->count; i++) *value_of(&def, &row->params[i]) = row->params[i].fallback;
    return def;
}

firn_status firn_material_check(const firn_material_def *def, int index, firn_error *error)
{
    char which[32];
    snprintf(which, sizeof which, "materials[%d]", index);
    firn_status status = firn_check_stamp(def->stamp, "firn_material_def", which, error);
    if (status != FIRN_OK) return status;
    const law_row *row = find_row(def->law);
    if (!row)
        return firn_fail(error, FIRN_INVALID,
                         "materials[%d].law %d is not a law; use one of firn_law_kind, 0 to %d",
                         index, (int)def->law, FIRN_LAW_COUNT - 1);
    firn_material_def copy = *def;
    for (int i = 0; i < row->count; i++) {
        const firn_param *p = &row->params[i];
        double value = *value_of(&copy, p);
        if (value > p->min && value < p->max) continue; /* NaN fails too */
        return firn_fail(error, FIRN_INVALID,
                         "materials[%d].%s %.9g%s%s must be above %g and below %g; %s", index,
                         p->name, value, p->unit[0] ? " " : "", p->unit, p->min, p->max, p->cure);
    }
    if (def->law == FIRN_FIXED_COROTATED && def->poisson < 0) {
        return firn_fail(
            error, FIRN_INVALID,
            "materials[%d].poisson %g must not be below 0 under fixed_corotated, whose "
            "energy then has no floor; use neo_hookean for auxetic material",
            index, def->poisson);
    }
    return FIRN_OK;
}

void firn_material_constants(const firn_material_def *def, firn_law_constants *constants)
{
    double E = def->young, nu = def->poisson;
    constants->mu = (real)(E / (2 * (1 + nu)));
    constants->lambda = (real)(E * nu / ((1 + nu) * (1 - 2 * nu)));
}
