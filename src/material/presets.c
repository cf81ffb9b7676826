/* Named materials. A preset gives what its law reads and leaves the rest at the defaults; material.h
 * has the units. Values "of Firn" are picked for the look at pictures scales, with the direction of the
 * source named; moduli of metals and wax are far below the real ones, since steps shorten with their
 * square root and a stiff body looks the same long before. Those with the law melting are plain solids where
 * a scene has no heat. */
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

/* Melting point and range, latent heat, then heat capacity and conductivity as a solid and as a melt. */
#define MELTS(point, range, latent, capacity, capacity_melt, conducts, conducts_melt)              \
    SET(melting_point, point), SET(melting_range, range), SET(latent_heat, latent),                \
        SET(heat_capacity, capacity), SET(liquid_heat_capacity, capacity_melt),                    \
        SET(conductivity, conducts), SET(liquid_conductivity, conducts_melt)

static const char stomakhin[] = "Stomakhin et al. 2013";
static const char from_stomakhin[] = "Firn, after the directions of Stomakhin et al. 2013";
static const char from_wolper[] = "Firn, after the directions of Wolper et al. 2019";
static const char jelly_study[] = "a published MPM study of jelly";
static const char firn[] = "Firn";
static const char from_tables[] = "heat: rounded handbook values; stiffness and flow: Firn";

static const struct row {
    firn_preset preset;
    struct {
        size_t offset;
        double number;
    } values[18];
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
    {{"steel", NULL, FIRN_VON_MISES, "a stand-in for metal: dents", firn},
     {SOLID(7850, 1e9, 0.3), SET(yield, 2e6), SET(hardening_modulus, 1e7), SET(heat_capacity, 490),
      SET(conductivity, 45)}},
    {{"foam", NULL, FIRN_NACC, "crushes and tears, springs a little", from_wolper},
     {BRITTLE(100, 5e4, 0.2, 45, 8, 0.8, 0.02)}},
    {{"concrete", NULL, FIRN_NACC, "a stand-in for stone: cracks and crumbles", from_wolper},
     {BRITTLE(2300, 1e7, 0.2, 40, 30, 0.1, 0.003)}},
    {{"watermelon", NULL, FIRN_NACC, "breaks into pieces, wet inside", from_wolper},
     {BRITTLE(950, 1e6, 0.35, 35, 30, 0.5, 0.002)}},
    {{"water", NULL, FIRN_LIQUID, "splashes; bulk suits speeds to 3 m/s", firn},
     {SET(density, 1000), SET(bulk, 1e6), SET(viscosity, 0.001), SET(surface_tension, 0.072)}},
    {{"honey", NULL, FIRN_LIQUID, "thick and slow", firn},
     {SET(density, 1400), SET(bulk, 1e6), SET(viscosity, 10), SET(surface_tension, 0.06)}},
    {{"chocolate", NULL, FIRN_MELTING, "a solid bar; melts in the hand", from_tables},
     {SOLID(1300, 4e5, 0.35), SET(yield, 1e4), SET(softening, 0.05), SET(liquid_yield, 10),
      SET(viscosity, 3), SET(thinning, 0.03), MELTS(305.15, 4, 4.5e4, 1700, 1700, 0.2, 0.2)}},
    {{"butter", NULL, FIRN_MELTING, "soft; slides on its own melt", from_tables},
     {SOLID(910, 2e5, 0.4), SET(yield, 3000), SET(softening, 0.1), SET(viscosity, 0.1),
      SET(thinning, 0.02), MELTS(301.15, 8, 6e4, 2500, 2200, 0.2, 0.18)}},
    {{"wax", "paraffin", FIRN_MELTING, "bends and stays bent; melts to a thin liquid", from_tables},
     {SOLID(900, 1e6, 0.4), SET(yield, 2e4), SET(softening, 0.03), SET(liquid_density, 780),
      SET(viscosity, 0.01), MELTS(327.15, 6, 2e5, 2100, 2400, 0.24, 0.15)}},
    {{"ice", NULL, FIRN_MELTING, "a stand-in for ice: melts to water", from_tables},
     {SOLID(917, 1e6, 0.33), SET(yield, 5e4), SET(liquid_density, 1000), SET(viscosity, 0.001),
      MELTS(273.15, 0, 3.34e5, 2100, 4186, 2.2, 0.57)}},
    {{"snow_melting", NULL, FIRN_MELTING, "packs, and melts to less than half of its volume",
      from_tables},
     {SOLID(400, 1.4e5, 0.2), SET(yield, 3000), SET(crush_pressure, 5000), SET(hardening, 10),
      SET(hardening_cap, 5), SET(liquid_density, 1000), SET(viscosity, 0.001),
      MELTS(273.15, 0, 3.34e5, 2100, 4186, 0.25, 0.57)}},
    {{"lava", NULL, FIRN_MELTING, "basalt: flows hot, freezes to rock", from_tables},
     {SOLID(2700, 1e6, 0.3), SET(yield, 4e4), SET(liquid_yield, 100), SET(viscosity, 100),
      SET(thinning, 0.02), MELTS(1273, 150, 4e5, 1100, 1200, 1.5, 1)}},
    /* yield fades over 450 K: what 2 kPa hold up sags at 98 % of melt from 1e5, at 93 % from 3e4. */
    {{"glass", NULL, FIRN_MELTING, "a stand-in: no melting point, thick when hot", from_tables},
     {SOLID(2500, 2e6, 0.25), SET(yield, 3e4), SET(viscosity, 1000), SET(thinning, 0.015),
      MELTS(923, 450, 0, 1000, 1250, 1, 1.5)}},
    {{"solder", NULL, FIRN_MELTING, "tin and lead: conducts well, runs when it melts", from_tables},
     {SOLID(8500, 4e6, 0.35), SET(yield, 1e5), SET(viscosity, 0.002),
      MELTS(456, 7, 4.2e4, 170, 190, 50, 25)}},
    {{"gelatine", "gelatin", FIRN_MELTING, "wobbles cold, runs warm", from_tables},
     {SOLID(1050, 2e4, 0.4), SET(yield, 1e4), SET(viscosity, 0.05),
      MELTS(303.15, 5, 5000, 3900, 4000, 0.5, 0.55)}},
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
    if (!preset) return (firn_material_def){0}; /* without a stamp: refused by what takes it */
    firn_material_def def = firn_material_def_default();
    const struct row *row = (const struct row *)preset; /* of which it is the first member */
    def.law = preset->law;
    for (size_t i = 0; i < sizeof row->values / sizeof *row->values; i++) {
        if (row->values[i].offset == 0) break; /* that of law */
        memcpy((char *)&def + row->values[i].offset, &row->values[i].number, sizeof(double));
    }
    return def;
}
