/* firn bench voxelize: what a mesh of many triangles that deforms costs in each frame: as a level set in a
 * file's form, and as a collider that pushes snow. */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include <firn/geometry.h>
#include <firn/host.h>

#include "app.h"
#include "bench.h"

static const char command_name[] = "firn bench voxelize";
static const double FRAME = 1.0 / 24; /* s */
enum { FRAMES = 2 };

static struct {
    int64_t triangles, particles, voxels, threads;
    const char *csv;
} chosen = {.triangles = 500000, .particles = 200000, .voxels = 64};

/* A ball with bumps that wander: rings of `around` vertices between two poles. */
typedef struct ball {
    int32_t around, rings, vertices, triangles;
    double *vertex, *next; /* x 3, m: now, a frame later */
    double *velocity;      /* x 3, m/s */
    int32_t *corner;
} ball;

static void shape_ball(const ball *b, double time, double *vertex)
{
    const double pi = 3.14159265358979323846, drop = 1 - time; /* it sinks by 1 m/s */
    for (int32_t r = 1; r <= b->rings; r++) {
        for (int32_t a = 0; a < b->around; a++, vertex += 3) {
            const double u = pi * r / (b->rings + 1), v = 2 * pi * a / b->around;
            const double radius = 0.5 + 0.05 * sin(5 * u + 6 * time) * sin(u) * cos(7 * v);
            vertex[0] = radius * sin(u) * cos(v);
            vertex[1] = radius * cos(u) + drop;
            vertex[2] = radius * sin(u) * sin(v);
        }
    }
    for (int end = 1; end >= -1; end -= 2, vertex += 3) {
        vertex[0] = vertex[2] = 0;
        vertex[1] = 0.5 * end + drop;
    }
}

static void free_ball(ball *b)
{
    free(b->vertex);
    free(b->next);
    free(b->velocity);
    free(b->corner);
}

static bool make_ball(ball *b, int64_t triangles)
{
    b->around = (int32_t)sqrt((double)triangles);
    b->rings = (int32_t)(triangles / (2 * b->around));
    b->vertices = b->rings * b->around + 2;
    b->triangles = 2 * b->rings * b->around;
    const size_t bytes = (size_t)b->vertices * 3 * sizeof(double);
    b->vertex = malloc(bytes);
    b->next = malloc(bytes);
    b->velocity = malloc(bytes);
    b->corner = malloc((size_t)b->triangles * 3 * sizeof *b->corner);
    if (!b->vertex || !b->next || !b->velocity || !b->corner) return false;
    int32_t *c = b->corner;
    const int32_t top = b->rings * b->around, bottom = top + 1, last = top - b->around;
    for (int32_t i = 0; i < b->around; i++) {
        const int32_t j = (i + 1) % b->around;
        const int32_t caps[6] = {top, j, i, bottom, last + i, last + j};
        for (int k = 0; k < 6; k++) *c++ = caps[k];
        for (int32_t r = 0; r < last; r += b->around) {
            const int32_t low = r + b->around;
            const int32_t both[6] = {r + i, r + j, low + j, r + i, low + j, low + i};
            for (int k = 0; k < 6; k++) *c++ = both[k];
        }
    }
    return true;
}

/* ---- measuring ---- */

/* Wall and processor seconds, summed over frames. */
typedef struct timing {
    double wall, cpu;
} timing;

static timing begin_timing(void) { return (timing){firn_clock(), firn_bench_cpu()}; }

static void end_timing(timing *sum, timing begin)
{
    sum->wall += firn_clock() - begin.wall;
    sum->cpu += firn_bench_cpu() - begin.cpu;
}

enum { MESH, LEVEL_SET, DEFORM, STEPS, PARTS };
static const char *const part_names[PARTS] = {"mesh", "level set", "collider", "snow"};

static firn_status create_mesh(const ball *b, firn_mesh **mesh, firn_error *error)
{
    firn_mesh_def def = firn_mesh_def_default();
    def.vertices = b->vertex;
    def.vertex_count = b->vertices;
    def.corners = b->corner;
    def.corner_count = 3 * (int64_t)b->triangles;
    def.threads = (int32_t)chosen.threads;
    return firn_mesh_create(&def, mesh, error);
}

/* A level set of every frame, as firn voxelize makes it but for reading and writing files. */
static firn_status time_level_sets(ball *b, timing sum[PARTS], int64_t *active, firn_error *error)
{
    firn_status st = FIRN_OK;
    for (int f = 0; f < FRAMES && st == FIRN_OK; f++) {
        shape_ball(b, f * FRAME, b->vertex);
        shape_ball(b, (f + 1) * FRAME, b->next);
        for (int64_t i = 0; i < 3 * (int64_t)b->vertices; i++) {
            b->velocity[i] = (b->next[i] - b->vertex[i]) / FRAME;
        }
        firn_mesh *mesh = NULL;
        firn_volumes volumes = {0};
        timing begin = begin_timing();
        st = create_mesh(b, &mesh, error);
        end_timing(&sum[MESH], begin);
        firn_voxelize_def def = firn_voxelize_def_default();
        def.mesh = mesh;
        def.velocities = b->velocity;
        def.voxel = 1.0 / (double)chosen.voxels;
        def.threads = (int32_t)chosen.threads;
        begin = begin_timing();
        if (st == FIRN_OK) st = firn_volumes_voxelize(&def, &volumes, error);
        end_timing(&sum[LEVEL_SET], begin);
        if (st == FIRN_OK) *active = firn_volume_get_info(&volumes.volume[0]).active;
        firn_volumes_free(&volumes);
        firn_mesh_destroy(mesh);
    }
    return st;
}

/* Snow 20 particles deep under the ball, 8 to a cell. */
static firn_status add_snow(firn_sim *sim, double spacing, firn_error *error)
{
    const int32_t wide = (int32_t)sqrt((double)chosen.particles / 20);
    const int32_t size[3] = {wide, 20, wide};
    const firn_body body = {.spacing = spacing, .center = {0, 0.47 - 10 * spacing, 0}};
    firn_seeds seeds = {0};
    const firn_status st = firn_seeds_block(&seeds, &body, size, (int64_t)wide * wide * 20, 0.5)
                               ? firn_seeds_add(&seeds, spacing, sim, error)
                               : firn_app_fail(error, FIRN_NO_MEMORY, "out of memory");
    firn_seeds_free(&seeds);
    return st;
}

static firn_status time_collider(ball *b, timing sum[PARTS], firn_error *error)
{
    firn_mesh *mesh = NULL;
    firn_sim *sim = NULL;
    shape_ball(b, 0, b->vertex);
    firn_status st = create_mesh(b, &mesh, error);
    firn_sim_def def = firn_sim_def_default();
    const firn_material_def snow = firn_bench_material("snow");
    firn_collider_def collider[2] = {firn_collider_def_default(), firn_collider_def_default()};
    const double spacing = 1 / sqrt((double)chosen.particles / 20);
    collider[0].shape = FIRN_MESH;
    collider[0].mesh = mesh;
    collider[0].voxel = 1.0 / (double)chosen.voxels;
    collider[1].shape = FIRN_PLANE;
    collider[1].position[1] = 0.47 - 20 * spacing;
    def.cell_size = 2 * spacing;
    def.materials = &snow;
    def.material_count = 1;
    def.colliders = collider;
    def.collider_count = 2;
    def.threads = (int32_t)chosen.threads;
    if (st == FIRN_OK) st = firn_sim_create(&def, &sim, error);
    if (st == FIRN_OK) st = add_snow(sim, spacing, error);
    for (int f = 0; f < FRAMES && st == FIRN_OK; f++) {
        shape_ball(b, (f + 1) * FRAME, b->next);
        const firn_mesh_motion motion = {
            .to = b->next, .begin = firn_sim_time(sim), .end = firn_sim_time(sim) + FRAME};
        timing begin = begin_timing();
        st = firn_sim_deform_collider(sim, 0, &motion, error);
        end_timing(&sum[DEFORM], begin);
        begin = begin_timing();
        if (st == FIRN_OK) st = firn_sim_advance(sim, FRAME, NULL, error);
        end_timing(&sum[STEPS], begin);
    }
    firn_sim_destroy(sim);
    firn_mesh_destroy(mesh);
    return st;
}

/* ---- the command ---- */

static const firn_option options[] = {
    {"--triangles", FIRN_OPTION_COUNT, &chosen.triangles, "N", "of the mesh (500000)", .min = 100,
     .max = 10000000},
    {"--voxels", FIRN_OPTION_COUNT, &chosen.voxels, "N", "in a metre; the ball is 1 m wide (64)",
     .min = 4, .max = 4096},
    {"--particles", FIRN_OPTION_COUNT, &chosen.particles, "N", "of snow (200000)", .min = 2000,
     .max = 100000000},
    FIRN_THREADS_OPTION(chosen.threads),
    FIRN_CSV_OPTION(chosen.csv),
};

static int run(void)
{
    int exit_code = 0;
    firn_bench_csv csv;
    if (!firn_bench_csv_open(&csv, command_name, chosen.csv,
                             "part,triangles,voxels,particles,threads,seconds,cpu_seconds")) {
        return FIRN_EXIT_OUTPUT;
    }
    if (chosen.threads == 0) chosen.threads = sysconf(_SC_NPROCESSORS_ONLN);
    firn_error error = {0};
    ball b = {0};
    timing sum[PARTS] = {{0}};
    int64_t active = 0;
    firn_status st = make_ball(&b, chosen.triangles)
                         ? time_level_sets(&b, sum, &active, &error)
                         : firn_app_fail(&error, FIRN_NO_MEMORY, "out of memory");
    if (st == FIRN_OK) st = time_collider(&b, sum, &error);
    free_ball(&b);
    if (st == FIRN_OK) {
        printf("%d triangles, %lld voxels in a metre, %lld active; %lld particles of snow; "
               "%lld threads\nmeans of %d frames:\n",
               b.triangles, (long long)chosen.voxels, (long long)active,
               (long long)chosen.particles, (long long)chosen.threads, FRAMES);
    } else {
        exit_code = firn_options_failure(command_name, st, &error);
    }
    for (int k = 0; k < PARTS && st == FIRN_OK; k++) {
        printf("%-12s %8.3f s, processor %.3f s\n", part_names[k], sum[k].wall / FRAMES,
               sum[k].cpu / FRAMES);
        firn_bench_csv_row(&csv, "%s,%d,%lld,%lld,%lld,%.4f,%.4f", part_names[k], b.triangles,
                           (long long)chosen.voxels, (long long)chosen.particles,
                           (long long)chosen.threads, sum[k].wall / FRAMES, sum[k].cpu / FRAMES);
    }
    if (!firn_bench_csv_close(&csv, command_name) && exit_code == 0) exit_code = FIRN_EXIT_OUTPUT;
    return exit_code;
}

const firn_command firn_bench_voxelize_command = {
    .name = command_name,
    .line = "a large mesh that deforms: its level sets, and pushing snow",
    .summary =
        "A ball with bumps that wander, in every frame: made a mesh, made a level set with "
        "velocities; moved as a collider; and the snow that it pushes, in wall and processor "
        "seconds.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run};
