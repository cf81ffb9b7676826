/* A cube of jelly in orbit: a force hook pulls every node towards the origin. Also shows an allocator
 * of the caller's own, and what to do with errors. An argument picks the instruction set. */
#include <firn/firn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CELL 0.02          /* m */
#define SPACING (CELL / 2) /* m */
#define ORBIT 0.5          /* m */
#define OMEGA 6.283185307  /* rad/s: once round in a second */

/* A firn_force_hook: f = -m omega^2 x, a magnet like a spring, under which the centre of mass moves as
 * a point would. Called from worker threads, so it only reads what user_data points to. */
static void pull(void *user_data, const firn_nodes *nodes, double (*force)[3])
{
    const double omega = *(const double *)user_data;
    for (int32_t i = 0; i < nodes->count; i++) {
        for (int a = 0; a < 3; a++) {
            force[i][a] = -nodes->mass[i] * omega * omega * nodes->position[i][a];
        }
    }
}

/* A firn_allocator that counts the calls. */
static void *reallocate(void *user_data, void *block, size_t old_size, size_t new_size,
                        size_t alignment)
{
    void *grown = NULL;
    ++*(int *)user_data;
    if (new_size > 0) {
        grown = aligned_alloc(alignment, (new_size + alignment - 1) / alignment * alignment);
        if (!grown) return NULL; /* the old block stays */
        if (block) memcpy(grown, block, old_size < new_size ? old_size : new_size);
    }
    free(block);
    return grown;
}

/* 16^3 particles about (ORBIT, 0, 0), flying along y. */
static firn_status add_cube(firn_sim *sim, firn_error *error)
{
    static double position[4096][3], velocity[4096][3];
    for (int k = 0; k < 4096; k++) {
        const int column = k % 16, row = k / 16 % 16, layer = k / 256;
        position[k][0] = (column - 7.5) * SPACING + ORBIT;
        position[k][1] = (row - 7.5) * SPACING;
        position[k][2] = (layer - 7.5) * SPACING;
        velocity[k][1] = OMEGA * ORBIT;
    }
    firn_particles p = firn_particles_default();
    p.count = 4096;
    p.position = position[0], p.velocity = velocity[0];
    p.each_volume = SPACING * SPACING * SPACING;
    return firn_sim_add(sim, &p, NULL, error);
}

int main(int argc, char **argv)
{
    double omega = OMEGA;
    int calls = 0; /* for memory */
    firn_material_def jelly = firn_material_def_default();
    firn_sim_def def = firn_sim_def_default();
    def.cell_size = CELL;
    def.materials = &jelly, def.material_count = 1;
    def.gravity[1] = 0;
    def.force_hook = pull, def.force_user_data = &omega;
    def.allocator = (firn_allocator){.reallocate = reallocate, .user_data = &calls};
    def.isa = argc > 1 ? argv[1] : NULL;

    firn_error error = {0};
    firn_sim *sim = NULL;
    jelly.poisson = 0.5; /* a mistake: the message names the field, the value and the remedy */
    if (firn_sim_create(&def, &sim, &error) != FIRN_OK) printf("refused: %s\n", error.message);
    jelly.poisson = 0.3;
    firn_status st = firn_sim_create(&def, &sim, &error);
    if (st == FIRN_OK) st = add_cube(sim, &error);
    for (int i = 1; i <= 12 && st == FIRN_OK; i++) {
        const int before = calls;
        firn_report report;
        st = firn_sim_advance(sim, 1.0 / 12, &report, &error);
        if (st != FIRN_OK) break;
        static double position[4096][3];
        double x = 0, y = 0; /* of the centre of mass: all particles weigh the same */
        firn_sim_positions(sim, position);
        for (int k = 0; k < 4096; k++) x += position[k][0] / 4096, y += position[k][1] / 4096;
        printf("%.3f s: at %6.1f degrees, %.4f m out; %d steps, %d calls for memory\n",
               firn_sim_time(sim), atan2(y, x) * 360 / OMEGA, hypot(x, y), (int)report.steps,
               calls - before);
    }
    if (st != FIRN_OK) { /* file and line are the library's own: for bug reports */
        fprintf(stderr, "hook: %s: %s (%s:%d)\n", firn_status_name(st), error.message, error.file,
                error.line);
    }
    firn_sim_destroy(sim);
    return st == FIRN_OK ? 0 : 1;
}
