/* A cube that swells, leans and twists under a block of jelly: each frame the program has new vertices, as an
 * animation package would. It prints how high the jelly is and the force on the cube. */
#include <firn/firn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIDE = 16, COUNT = SIDE * SIDE * SIDE }; /* particles, 1 cm apart: 8 per cell */
static const int32_t faces[6][4] = {{0, 1, 3, 2}, {4, 6, 7, 5}, {0, 4, 5, 1},
                                    {2, 3, 7, 6}, {0, 2, 6, 4}, {1, 5, 7, 3}};
static const int32_t four[6] = {4, 4, 4, 4, 4, 4};
static double vertices[8][3], jelly[COUNT][3];
static firn_error error;
static void check(firn_status status)
{
    if (status == FIRN_OK) return;
    fprintf(stderr, "%s: %s\n", firn_status_name(status), error.message);
    exit(1);
}

static void shape_cube(double time)
{
    for (int v = 0; v < 8; v++) {
        const double x = v & 1 ? 0.1 : -0.1, up = v & 2 ? 1 : 0, z = v & 4 ? 0.1 : -0.1;
        const double twist = 0.6 * up * sin(4 * time), grown = 1 + 0.3 * up * sin(8 * time);
        vertices[v][0] = grown * (cos(twist) * x + sin(twist) * z) + 0.03 * up * sin(5 * time);
        vertices[v][1] = 0.1 * grown * up;
        vertices[v][2] = grown * (cos(twist) * z - sin(twist) * x);
    }
}

int main(void)
{
    for (int i = 0; i < COUNT; i++) {
        jelly[i][0] = 0.01 * (i % SIDE + 0.5 - SIDE / 2);
        jelly[i][1] = 0.11 + 0.01 * (i / SIDE % SIDE);
        jelly[i][2] = 0.01 * (i / SIDE / SIDE + 0.5 - SIDE / 2);
    }
    shape_cube(0);
    firn_mesh_def cube = firn_mesh_def_default();
    cube.vertices = vertices[0], cube.vertex_count = 8, cube.face_counts = four;
    cube.corners = faces[0], cube.corner_count = 24, cube.face_count = 6;
    firn_mesh *mesh = NULL;
    check(firn_mesh_create(&cube, &mesh, &error));
    firn_material_def material = firn_material_def_default();
    material.young = 2e4; /* Pa */
    firn_collider_def collider[2] = {firn_collider_def_default(), firn_collider_def_default()};
    collider[1].shape = FIRN_MESH, collider[1].mesh = mesh; /* the first is the ground */
    firn_sim_def def = firn_sim_def_default();
    def.cell_size = 0.02, def.materials = &material, def.material_count = 1;
    def.colliders = collider, def.collider_count = 2, def.threads = 1;
    firn_particles p = firn_particles_default();
    p.count = COUNT, p.position = jelly[0], p.each_volume = 1e-6;
    firn_sim *sim = NULL;
    check(firn_sim_create(&def, &sim, &error));
    check(firn_sim_add(sim, &p, NULL, &error));
    for (int frame = 1; frame <= 12; frame++) {
        const firn_mesh_motion motion = {NULL, vertices[0], (frame - 1) / 24.0, frame / 24.0};
        firn_reaction r;
        double top = 0;
        shape_cube(motion.end);
        check(firn_sim_deform_collider(sim, 1, &motion, &error));
        check(firn_sim_advance(sim, 1.0 / 24, NULL, &error));
        check(firn_sim_read_reaction(sim, 1, &r, &error));
        check(firn_sim_read(sim, FIRN_POSITION, 0, COUNT, jelly[0], &error));
        for (int i = 0; i < COUNT; i++) top = fmax(top, jelly[i][1]);
        printf("%2d: up to %.3f m, %6.1f N on the cube\n", frame, top, r.force[1]);
    }
    firn_sim_destroy(sim);
    firn_mesh_destroy(mesh);
}
