/* A block of chocolate on a hot plate, in 2D: how much has melted, and how warm its top is. */
#include <firn/firn.h>
#include <stdio.h>

#define CELL 0.01          /* m, between grid nodes */
#define SPACING (CELL / 2) /* m, between particles: 4 per cell */
enum { SIDE = 20, COUNT = SIDE * SIDE };

/* Adds a square of 0.1 m that stands on the plate, at 20 C. */
static firn_status add_block(firn_sim *sim, firn_error *error)
{
    static double position[COUNT][2], temperature[COUNT];
    for (int i = 0; i < COUNT; i++) {
        const int column = i % SIDE - SIDE / 2, row = i / SIDE; /* the last are the topmost */
        position[i][0] = (column + 0.5) * SPACING;
        position[i][1] = (row + 0.5) * SPACING;
        temperature[i] = 293.15; /* K, as all temperatures are */
    }
    firn_particles block = firn_particles_default();
    block.count = COUNT;
    block.position = position[0];
    block.temperature = temperature;
    block.each_volume = SPACING * SPACING;
    return firn_sim_add(sim, &block, NULL, error);
}

static firn_status print_heat(firn_sim *sim, firn_error *error)
{
    static double temperature[COUNT], liquid[COUNT]; /* in the order they were added */
    firn_totals t;
    firn_status status = firn_sim_measure(sim, &t, error);
    if (status == FIRN_OK) status = firn_sim_read_heat(sim, temperature, liquid, error);
    if (status != FIRN_OK) return status;
    printf("%.2f s: %4.1f %% molten, %5.1f C at the bottom, %5.1f C on top\n", firn_sim_time(sim),
           100 * t.liquid / t.mass, temperature[SIDE / 2] - 273.15,
           temperature[COUNT - SIDE / 2] - 273.15);
    return FIRN_OK;
}

int main(void)
{
    const firn_material_def chocolate = firn_material_def_preset(firn_preset_find("chocolate"));
    firn_collider_def plate = firn_collider_def_default(); /* the plane y = 0 */
    plate.boundary = FIRN_SLIP;
    plate.temperature = 353.15; /* without one, walls are insulated */

    firn_sim_def def = firn_sim_def_default();
    def.dimension = 2;
    def.cell_size = CELL;
    def.materials = &chocolate;
    def.material_count = 1;
    def.colliders = &plate;
    def.collider_count = 1;
    def.heat.enabled = 1;
    def.heat.speed = 5000; /* of heat against motion: at 1 it takes hours */

    firn_error error = {0};
    firn_sim *sim = NULL;
    firn_status status = firn_sim_create(&def, &sim, &error);
    if (status == FIRN_OK) status = add_block(sim, &error);
    for (int quarter = 0; quarter <= 6 && status == FIRN_OK; quarter++) {
        if (quarter > 0) status = firn_sim_advance(sim, 0.25, NULL, &error);
        if (status == FIRN_OK) status = print_heat(sim, &error);
    }
    firn_sim_destroy(sim);
    if (status != FIRN_OK) fprintf(stderr, "%s\n", error.message);
    return status == FIRN_OK ? 0 : 1;
}
