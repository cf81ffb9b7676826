/* 2D: a paddle sweeps soft jelly along while drops of a harder one fall in front of it. Shows
 * materials, keyframes, adding and removing between frames, raw views and ordered reads. */
#include <firn/firn.h>
#include <math.h>
#include <stdio.h>

#define CELL 0.02          /* m */
#define SPACING (CELL / 2) /* m: 4 particles per cell in 2D */
enum { SOFT, HARD, MOST = 2000 };

/* Adds a rectangle of nx x ny particles, its lower left corner at x, y. */
static firn_status add_rectangle(firn_sim *sim, uint16_t material, double x, double y, int nx,
                                 int ny, firn_error *error)
{
    double position[MOST][2];
    for (int i = 0; i < nx * ny; i++) {
        const int column = i % nx, row = i / nx;
        position[i][0] = x + (column + 0.5) * SPACING, position[i][1] = y + (row + 0.5) * SPACING;
    }
    firn_particles p = firn_particles_default();
    p.count = nx * ny;
    p.position = position[0];
    p.each_volume = SPACING * SPACING; /* m2, one metre deep */
    p.each_material = material;
    return firn_sim_add(sim, &p, NULL, error);
}

/* A firn_keep_function: what has passed x = 0.8 m goes. */
static int before_drain(void *user_data, uint64_t id, const double position[3], uint16_t material,
                        uint16_t object)
{
    (void)user_data, (void)id, (void)material, (void)object;
    return position[0] < 0.8;
}

/* The fastest hard particle, from the arrays as they lie in memory: no copy, storage order. */
static double fastest(const firn_sim *sim)
{
    const firn_view v = firn_sim_view(sim, FIRN_VELOCITY), m = firn_sim_view(sim, FIRN_MATERIAL);
    double most = 0;
    for (int64_t i = 0; i < v.count && v.bytes == sizeof(float); i++) {
        const float *at = (const void *)((const char *)v.data + (size_t)i * v.stride);
        const uint16_t *is = (const void *)((const char *)m.data + (size_t)i * m.stride);
        if (*is == HARD) most = fmax(most, hypot((double)at[0], (double)at[1]));
    }
    return most;
}

/* The mean x of the soft particles. Reads copy in id order, so fields match line by line. */
static firn_status mean_x(const firn_sim *sim, double *mean, firn_error *error)
{
    double position[MOST][2], is[MOST], sum = 0, count = 0;
    const int64_t n = firn_sim_count(sim); /* never above MOST here */
    firn_status st = firn_sim_read(sim, FIRN_POSITION, 0, n, position[0], error);
    if (st == FIRN_OK) st = firn_sim_read(sim, FIRN_MATERIAL, 0, n, is, error);
    for (int64_t i = 0; i < n && st == FIRN_OK; i++) {
        if (is[i] == SOFT) sum += position[i][0], count++;
    }
    *mean = sum / count;
    return st;
}

int main(void)
{
    firn_material_def materials[] = {firn_material_def_default(), firn_material_def_default()};
    materials[SOFT].young = 5e4, materials[HARD].young = 3e5; /* Pa */
    materials[HARD].law = FIRN_FIXED_COROTATED;

    /* The ground, and a paddle that stands until 0.25 s, moves 1 m in 1.25 s, and stands again. */
    firn_collider_def colliders[] = {firn_collider_def_default(), firn_collider_def_default()};
    const firn_pose_key keys[] = {{.time = 0.25, .position = {-0.5, 0.2}, .rotation = {1}},
                                  {.time = 1.5, .position = {0.5, 0.2}, .rotation = {1}}};
    colliders[1].shape = FIRN_BOX;
    colliders[1].size[0] = 0.05, colliders[1].size[1] = 0.2; /* half extents, m */
    colliders[1].keys = keys, colliders[1].key_count = 2;

    firn_sim_def def = firn_sim_def_default();
    def.dimension = 2, def.cell_size = CELL;
    def.materials = materials, def.material_count = 2;
    def.colliders = colliders, def.collider_count = 2;
    firn_sim *sim = NULL;
    firn_error error = {0};
    firn_status st = firn_sim_create(&def, &sim, &error);
    if (st == FIRN_OK) st = add_rectangle(sim, SOFT, -0.4, 0, 60, 20, &error);
    for (int frame = 1; frame <= 48 && st == FIRN_OK; frame++) {
        int64_t removed = 0;
        double mean = 0;
        if (frame % 12 == 1) st = add_rectangle(sim, HARD, 0.3, 0.6, 10, 10, &error);
        if (st == FIRN_OK) st = firn_sim_advance(sim, 1.0 / 24, NULL, &error);
        if (st == FIRN_OK) st = firn_sim_remove(sim, before_drain, NULL, &removed, &error);
        if (st == FIRN_OK) st = mean_x(sim, &mean, &error);
        if (st != FIRN_OK) break;
        printf("%.3f s: %4d particles, %3d drained, soft at x = %.3f m, hard up to %.3f m/s\n",
               firn_sim_time(sim), (int)firn_sim_count(sim), (int)removed, mean, fastest(sim));
    }
    if (st != FIRN_OK) fprintf(stderr, "%s: %s\n", firn_status_name(st), error.message);
    firn_sim_destroy(sim);
    return st == FIRN_OK ? 0 : 1;
}
