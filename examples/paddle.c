/* A paddle stirs water as a mouse was dragged: each frame the program knows only the next pose. It
 * prints the water's force on the paddle and writes a cache per frame, paddle.0001.csv on. */
#include <firn/firn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { ACROSS = 60, HIGH = 20, COUNT = ACROSS * HIGH }; /* particles, 1 cm apart: 4 per cell */
/* Where the paddle is to be at the end of each frame: x, y (m) and angle (rad). */
static const double path[][3] = {{-0.18, 0.28, 0},  {-0.18, 0.2, 0}, {-0.17, 0.14, 0.1},
                                 {-0.1, 0.12, 0.2}, {0, 0.12, 0.2},  {0.1, 0.13, 0.1},
                                 {0.17, 0.17, 0.1}, {0.19, 0.25, 0}, {0.19, 0.3, 0}};
static firn_error error;
static void check(firn_status status)
{
    if (status == FIRN_OK) return;
    fprintf(stderr, "%s: %s\n", firn_status_name(status), error.message);
    exit(1);
}

int main(void)
{
    static double water[COUNT][2];
    static float x[COUNT][2];
    for (int i = 0; i < COUNT; i++) {
        water[i][0] = 0.01 * (i % ACROSS + 0.5 - ACROSS / 2);
        water[i][1] = 0.01 * (i / ACROSS + 0.5);
    }
    firn_material_def material = firn_material_def_preset(firn_preset_find("water"));
    material.bulk = 1e5; /* Pa: softer than water, for longer steps */
    firn_collider_def shape[2] = {firn_collider_def_default(), firn_collider_def_default()};
    shape[0].shape = FIRN_INSIDE, shape[0].size[0] = 0.3; /* the tank, 60 cm across */
    shape[0].size[1] = shape[0].position[1] = 0.5;
    shape[1].shape = FIRN_BOX, shape[1].size[0] = 0.02, shape[1].size[1] = 0.08; /* the paddle */
    shape[1].position[0] = -0.18, shape[1].position[1] = 0.35;
    firn_sim_def def = firn_sim_def_default();
    def.dimension = 2, def.cell_size = 0.02, def.threads = 1;
    def.materials = &material, def.material_count = 1, def.colliders = shape,
    def.collider_count = 2;
    firn_particles p = firn_particles_default();
    p.count = COUNT, p.position = water[0], p.each_volume = 1e-4;
    firn_sim *sim = NULL;
    check(firn_sim_create(&def, &sim, &error));
    check(firn_sim_add(sim, &p, NULL, &error));
    for (int f = 0; f < (int)(sizeof path / sizeof *path); f++) {
        const double *to = path[f], turn[4] = {cos(to[2] / 2), 0, 0, sin(to[2] / 2)};
        firn_reaction r;
        check(firn_sim_move_collider(sim, 1, (double[3]){to[0], to[1]}, turn, 1.0 / 24, &error));
        check(firn_sim_advance(sim, 1.0 / 24, NULL, &error));
        check(firn_sim_read_reaction(sim, 1, &r, &error));
        printf("%d: %7.1f %7.1f N, %6.2f N m\n", f + 1, r.force[0], r.force[1], r.torque[2]);
        check(firn_sim_read_float(sim, FIRN_POSITION, FIRN_ORDER_ID, 0, COUNT, x[0], &error));
        snprintf(error.message, sizeof error.message, "paddle.%04d.csv", f + 1);
        FILE *file = fopen(error.message, "w"); /* should it fail, that is what failed */
        for (int i = 0; file && i < COUNT; i++) fprintf(file, "%g,%g\n", x[i][0], x[i][1]);
        check(file && fclose(file) == 0 ? FIRN_OK : FIRN_OUTPUT);
    }
    firn_sim_destroy(sim);
}
