/* A ball of jelly falls on the ground: height and energies, frame by frame. */
#include <firn/firn.h>
#include <stdio.h>

#define CELL 0.02          /* m, between grid nodes */
#define SPACING (CELL / 2) /* m, between particles: 8 per cell */
#define RADIUS 0.1         /* m */
#define HEIGHT 0.4         /* m, of the centre at the start: it falls 0.3 m, in 0.247 s */

/* Adds the points of a lattice that are inside the ball. */
static firn_status add_ball(firn_sim *sim, firn_error *error)
{
    static double position[20 * 20 * 20][3];
    firn_particles ball = firn_particles_default();
    for (int k = 0; k < 20 * 20 * 20; k++) {
        const int column = k % 20, row = k / 20 % 20, layer = k / 400;
        const double x = (column - 9.5) * SPACING, y = (row - 9.5) * SPACING;
        const double z = (layer - 9.5) * SPACING;
        if (x * x + y * y + z * z > RADIUS * RADIUS) continue;
        position[ball.count][0] = x;
        position[ball.count][1] = y + HEIGHT;
        position[ball.count++][2] = z;
    }
    ball.position = position[0];
    ball.each_volume = SPACING * SPACING * SPACING; /* m3; mass follows from the density */
    return firn_sim_add(sim, &ball, NULL, error);
}

static firn_status print_energies(firn_sim *sim, firn_error *error)
{
    firn_totals t;
    const firn_status status = firn_sim_measure(sim, &t, error);
    if (status != FIRN_OK) return status;
    const double height = t.gravitational / (t.mass * 9.81); /* of the centre of mass */
    printf("%.3f s: height %.4f m, kinetic %6.3f J, elastic %5.3f J, total %6.3f J\n",
           firn_sim_time(sim), height, t.kinetic, t.elastic,
           t.kinetic + t.elastic + t.gravitational);
    return FIRN_OK;
}

int main(void)
{
    firn_material_def jelly = firn_material_def_default();
    jelly.young = 1e5;                                      /* Pa: firm */
    firn_collider_def ground = firn_collider_def_default(); /* the plane y = 0 */

    firn_sim_def def = firn_sim_def_default(); /* 3D, gravity along -y, automatic time step */
    def.cell_size = CELL;
    def.materials = &jelly;
    def.material_count = 1;
    def.colliders = &ground;
    def.collider_count = 1;

    firn_error error = {0};
    firn_sim *sim = NULL;
    firn_status status = firn_sim_create(&def, &sim, &error); /* checks and copies the def */
    if (status == FIRN_OK) status = add_ball(sim, &error);
    for (int frame = 0; frame <= 24 && status == FIRN_OK; frame++) {
        if (frame > 0) status = firn_sim_advance(sim, 1.0 / 24, NULL, &error);
        if (status == FIRN_OK) status = print_energies(sim, &error);
    }
    if (status != FIRN_OK) fprintf(stderr, "%s: %s\n", firn_status_name(status), error.message);
    firn_sim_destroy(sim); /* NULL is fine */
    return status == FIRN_OK ? 0 : 1;
}
