/* The code of doc/host.md, in its order, which the build puts into host_page.inc. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <firn/firn.h>

static firn_error error;

static void check(firn_status status)
{
    if (status == FIRN_OK) return;
    fprintf(stderr, "%s: %s\n", firn_status_name(status), error.message);
    exit(1);
}

static void follow_the_page(firn_sim *sim)
{
#include "host_page.inc"
    if (found < 10 || !(r.force[1] < 0)) exit(2);
}

int main(void)
{
    const firn_material_def jelly = firn_material_def_default();
    const firn_collider_def ground = firn_collider_def_default();
    const uint16_t body = 0;
    static double position[40 * 40][2];
    firn_particles block = firn_particles_default();
    for (; block.count < 40 * 40; block.count++) {
        position[block.count][0] = 0.01 * ((double)(block.count % 40) - 19.5);
        position[block.count][1] = 0.01 * ((double)(block.count / 40) + 0.5);
    }
    block.position = position[0];
    block.each_volume = 1e-4;
    firn_sim_def def = firn_sim_def_default();
    def.dimension = 2;
    def.cell_size = 0.02;
    def.materials = &jelly;
    def.colliders = &ground;
    def.material_count = def.collider_count = 1;
    def.object_bodies = &body;
    def.object_count = 1;
    def.threads = 1;
    firn_sim *sim = NULL;
    check(firn_sim_create(&def, &sim, &error));
    check(firn_sim_add(sim, &block, NULL, &error));
    follow_the_page(sim);
    firn_sim_destroy(sim);
    return 0;
}
