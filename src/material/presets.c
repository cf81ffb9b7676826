/* Named materials. A preset gives what its law reads and leaves the rest at the defaults; material.h
 * has the units. Values "of Firn" are picked for the look at film scales, with the direction of the
 * source named; moduli of metals and wax are far below the real ones, since steps shorten with their
 * square root and a stiff body looks the same long before. */
#include <string.h>

#include "material/material.h"

#define SET(parameter, number)                                                                     \
    {                                                                                              \
        offsetof(firn_material_def, parameter), number                                             \
    }
#define SOLID(rho, E, nu) SET(density, rho), SET(young, E), SET(poisson, nu)
#define SNOW(rho, E, compression, stretch, xi)                                                     \
    SOLID(rho, E, 0.2), SET(critical_compression, compression), SET(critical_stretch, stretch),    \
        SET(hardening, xi)
#define BRITTLE(rho, E, nu, angle, xi, ratio, packed)                                              \
    SOLID(rho, E, nu), SET(friction_angle, angle), SET(hardening, xi), SET(tensile_ratio, ratio),  \
        SET(compaction, packed)

static const char stomakhin[] = "Stomakhin et al. 2013";
static const char from_stomakhin[] = "Firn, after the directions of Stomakhin et al. 2013";
static const char from_wolper[] = "Firn, after the directions of Wolper et al. 2019";
static const char jelly_study[] = "a published MPM study of jelly";
static const char firn[] = "Firn";

static const struct row {
    firn_preset preset;
    struct {
        size_t offset;
        double number;
    } values[8];
} rows[] = {
    {{"jelly_soft", "jelly", FIRN_NEO_HOOKEAN, "soft jelly, wobbles", jelly_study},
     {SOLID(1000, 1e4, 0.2)}},
    {{"jelly_hard", NULL, FIRN_NEO_HOOKEAN, "firm jelly, bounces", jelly_study},
     {SOLID(1000, 1e5, 0.3)}},
    {{"rubber", NULL, FIRN_NEO_HOOKEAN, "rubber; takes many small steps", firn},
     {SOLID(1100, 1e6, 0.45)}},
    {{"snow", NULL, FIRN_SNOW, "snow that packs and breaks", stomakhin},
     {SNOW(400, 1.4e5, 0.025, 0.0075, 10)}},
    {{"snow_powder", NULL, FIRN_SNOW, "dry and loose: crumbles to dust", from_stomakhin},
     {SNOW(300, 4.8e4, 0.019, 0.005, 10)}},
    {{"snow_packed", NULL, FIRN_SNOW, "trodden: stiff, holds its shape", from_stomakhin},
     {SNOW(500, 2.8e5, 0.025, 0.0075, 10)}},
    {{"snow_wet", NULL, FIRN_SNOW, "heavy slush: soft, sticks together", from_stomakhin},
     {SNOW(550, 4.8e4, 0.03, 0.01, 5)}},
    {{"snow_icy", NULL, FIRN_SNOW, "frozen crust: hard, breaks at once", from_stomakhin},
     {SNOW(600, 5e5, 0.019, 0.005, 15)}},
    {{"snow_chunky", NULL, FIRN_SNOW, "breaks into lumps", from_stomakhin},
     {SNOW(450, 1.4e5, 0.04, 0.012, 10)}},
    {{"sand", NULL, FIRN_DRUCKER_PRAGER, "dry sand, flows and heaps", "Klar et al. 2016"},
     {SOLID(2200, 3.54e5, 0.3), SET(friction_angle, 35)}},
    {{"wet_sand", NULL, FIRN_DRUCKER_PRAGER, "sand that holds a castle", firn},
     {SOLID(2000, 3.54e5, 0.3), SET(friction_angle, 35), SET(cohesion, 800)}},
    {{"mud", NULL, FIRN_HERSCHEL_BULKLEY, "splats and slides", firn},
     {SOLID(1700, 1e5, 0.4), SET(yield, 60), SET(viscosity, 8), SET(exponent, 0.7)}},
    {{"toothpaste", NULL, FIRN_HERSCHEL_BULKLEY, "keeps the shape it was squeezed to", firn},
     {SOLID(1300, 1e5, 0.4), SET(yield, 120), SET(viscosity, 20), SET(exponent, 0.6)}},
    {{"clay", NULL, FIRN_VON_MISES, "takes prints, does not spring back", firn},
     {SOLID(1800, 1e6, 0.3), SET(yield, 5000), SET(hardening_modulus, 5000)}},
    {{"wax", NULL, FIRN_VON_MISES, "bends, then stays bent", firn},
     {SOLID(900, 2e6, 0.4), SET(yield, 4e4)}},
    {{"chocolate", NULL, FIRN_VON_MISES, "a solid bar", firn},
     {SOLID(1300, 2e6, 0.35), SET(yield, 2e4)}},
    {{"steel", NULL, FIRN_VON_MISES, "a stand-in for metal: dents", firn},
     {SOLID(7850, 1e9, 0.3), SET(yield, 2e6), SET(hardening_modulus, 1e7)}},
    {{"foam", NULL, FIRN_NACC, "crushes and tears, springs a little", from_wolper},
     {BRITTLE(100, 5e4, 0.2, 45, 8, 0.8, 0.02)}},
    {{"concrete", NULL, FIRN_NACC, "a stand-in for stone: cracks and crumbles", from_wolper},
     {BRITTLE(2300, 1e7, 0.2, 40, 30, 0.1, 0.003)}},
    {{"watermelon", NULL, FIRN_NACC, "breaks into pieces, wet inside", from_wolper},
     {BRITTLE(950, 1e6, 0.35, 35, 30, 0.5, 0.002)}},
    {{"water", NULL, FIRN_LIQUID, "splashes; bulk suits speeds to 3 m/s", firn},
     {SET(density, 1000), SET(bulk, 1e6), SET(viscosity, 0.001)}},
    {{"honey", NULL, FIRN_LIQUID, "thick and slow", firn},
     {SET(density, 1400), SET(bulk, 1e6), SET(viscosity, 10)}},
};

const firn_preset *firn_preset_get(int32_t index)
{
    const int32_t count = sizeof rows / sizeof *rows;
    return index >= 0 && index < count ? &rows[index].preset : NULL;
}

const firn_preset *firn_preset_find(const char *name)
{
    const firn_preset *p;
    for (int32_t i = 0; (p = firn_preset_get(i)); i++) {
        if (name && (strcmp(name, p->name) == 0 || (p->alias && strcmp(name, p->alias) == 0)))
            break;
    }
    return p;
}

firn_material_def firn_material_def_preset(const firn_preset *preset)
{
    firn_material_def def = firn_material_def_default();
    const struct row *row = (const struct row *)preset; /* of which it is the first member */
    def.law = preset->law;
    for (size_t i = 0; i < sizeof row->values / sizeof *row->values; i++) {
        if (row->values[i].offset == 0) break; /* that of law */
        memcpy((char *)&def + row->values[i].offset, &row->values[i].number, sizeof(double));
    }
    return def;
}
