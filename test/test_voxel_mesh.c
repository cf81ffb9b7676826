/* Surfaces of voxels as meshes, and meshes as volumes: distances of spheres and boxes, sequences that push
 * particles, and files that are refused. */
#include "program.h"

#include <math.h>

#include <firn/geometry.h>
#include <firn/volume.h>

#include "geometry/binvox.h"
#include "meshes.h"
#include "mesh/mesh.h"

/* ---- making files ---- */

static const char *in_top(const char *name)
{
    static char path[PATH_SIZE];
    return in_folder(top, name, path);
}

static void write_volumes(const char *name, const firn_volumes *volumes)
{
    const firn_write_options options = {.level = 1, .threads = 1, .frame = NAN};
    assert_ok(firn_volumes_write(in_top(name), volumes, &options, &error));
}

typedef double distance_of(const double p[3]);

/* Every voxel of a cube of `blocks` blocks along each axis, around the origin. */
static firn_volume *add_dense(firn_volumes *volumes, const char *name, int blocks, double voxel,
                              distance_of *distance)
{
    firn_volume *v = firn_volumes_add(volumes, name, 1, voxel, NULL);
    assert_non_null(v);
    v->block_count = (int64_t)blocks * blocks * blocks;
    v->block = calloc((size_t)v->block_count, sizeof *v->block);
    v->value = malloc((size_t)v->block_count * FIRN_BLOCK_VOXELS * sizeof *v->value);
    v->background[0] = (float)(3 * voxel);
    for (int b = 0; b < v->block_count; b++) {
        const int at[3] = {b / blocks / blocks, b / blocks % blocks, b % blocks};
        for (int a = 0; a < 3; a++) v->block[b].origin[a] = 8 * (at[a] - blocks / 2);
        for (int i = 0; i < FIRN_BLOCK_VOXELS; i++) {
            const double p[3] = {voxel * (v->block[b].origin[0] + i / 64),
                                 voxel * (v->block[b].origin[1] + i / 8 % 8),
                                 voxel * (v->block[b].origin[2] + i % 8)};
            v->value[b * FIRN_BLOCK_VOXELS + i] = (float)distance(p);
            v->block[b].active[i / 64] |= (uint64_t)1 << (i % 64);
        }
    }
    return v;
}

static double ball(const double p[3])
{
    return sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]) - 0.5;
}

static double box(const double p[3])
{
    static const double half[3] = {0.41, 0.33, 0.27};
    double outside = 0, inside = -INFINITY;
    for (int a = 0; a < 3; a++) {
        const double d = fabs(p[a]) - half[a];
        outside += d > 0 ? d * d : 0;
        inside = fmax(inside, d);
    }
    return inside > 0 ? sqrt(outside) : inside;
}

static double fog_ball(const double p[3]) { return fmin(fmax(-8 * ball(p), 0), 2); }

static firn_mesh *read_mesh(const char *name)
{
    firn_mesh *mesh = NULL;
    firn_error e = {0};
    if (firn_mesh_read(in_top(name), 0, 2, &mesh, &e) != FIRN_OK) fail_msg("%s", e.message);
    const firn_mesh_info info = firn_mesh_get_info(mesh);
    assert_true(info.closed);
    assert_int_equal(info.turned, 0); /* faces look outwards as they come */
    return mesh;
}

/* The largest error of a mesh's distances at points of a grid within `reach` of the surface. */
static double worst_error(const firn_mesh *mesh, distance_of *distance, double reach)
{
    double worst = 0;
    for (int i = 0; i < 21 * 21 * 21; i++) {
        const double p[3] = {0.07 * (i / 441 - 10) + 0.003, 0.07 * (i / 21 % 21 - 10) - 0.005,
                             0.07 * (i % 21 - 10) + 0.011};
        const double exact = distance(p);
        if (fabs(exact) > reach) continue;
        worst = fmax(worst, fabs(firn_mesh_distance(mesh, p, INFINITY) - exact));
    }
    return worst;
}

/* ---- level sets ---- */

static void a_level_set_is_read_as_its_surface(void **state)
{
    (void)state;
    const double voxel = 0.04;
    static const struct {
        distance_of *distance;
        double most;                        /* voxels */
    } cases[] = {{ball, 0.06}, {box, 0.7}}; /* a box loses its sharp edges */
    for (int k = 0; k < 2; k++) {
        firn_volumes volumes = {0};
        add_dense(&volumes, "surface", 6, voxel, cases[k].distance)->kind = FIRN_VOLUME_LEVEL_SET;
        write_volumes("shape.vdb", &volumes);
        firn_volumes_free(&volumes);
        firn_mesh *mesh = read_mesh("shape.vdb");
        assert_int_equal(firn_mesh_get_info(mesh).shell_count, 1);
        const double worst = worst_error(mesh, cases[k].distance, 0.4) / voxel;
        if (worst > cases[k].most) fail_msg("case %d: %g voxels", k, worst);
        firn_mesh_destroy(mesh);
    }
}

static double slope(const double p[3])
{
    return fmax((0.48 * p[0] + 0.6 * p[1] + 0.64 * p[2]) - 0.0123, box(p));
}

/* Vertices away from the plane's rim lie on it up to the rounding of floats. */
static void planes_are_met_exactly(void **state)
{
    (void)state;
    firn_volumes volumes = {0};
    add_dense(&volumes, "surface", 6, 0.04, slope)->kind = FIRN_VOLUME_LEVEL_SET;
    write_volumes("slope.vdb", &volumes);
    firn_volumes_free(&volumes);
    firn_polygons p;
    assert_ok(firn_polygons_read(in_top("slope.vdb"), &p, &error));
    int met = 0;
    for (int64_t i = 0; i < p.vertex_count; i++) {
        const double *x = p.vertex + 3 * i;
        if (box(x) > -0.08) continue;
        assert_true(fabs(slope(x)) < 1e-7);
        met++;
    }
    assert_true(met > 100);
    firn_polygons_free(&p);
}

static void openvdbs_own_files_become_meshes(void **state)
{
    (void)state;
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/vdb/cube_sdf.vdb", FIRN_TEST_DATA);
    firn_mesh *mesh = NULL;
    assert_ok(firn_mesh_read(path, 0, 2, &mesh, &error));
    const firn_mesh_info info = firn_mesh_get_info(mesh);
    assert_true(info.closed);
    assert_int_equal(info.turned, 0);
    for (int a = 0; a < 3; a++) {
        assert_at_most(fabs(info.low[a] + 0.5), 1e-6);
        assert_at_most(fabs(info.high[a] - 0.5), 1e-6);
    }
    firn_mesh_destroy(mesh);
}

/* ---- voxels without distances ---- */

static void fog_becomes_the_surface_at_half_of_its_density(void **state)
{
    (void)state;
    firn_volumes volumes = {0};
    /* Half of the largest value, 2, is where the distance is -1/8. */
    add_dense(&volumes, "density", 6, 0.04, fog_ball)->kind = FIRN_VOLUME_FOG;
    write_volumes("fog.vdb", &volumes);
    firn_volumes_free(&volumes);
    firn_mesh *mesh = read_mesh("fog.vdb");
    const double p[3] = {0.2, 0.31, 0};
    assert_at_most(fabs(firn_mesh_distance(mesh, p, INFINITY) - (ball(p) + 0.125)), 0.002);
    firn_mesh_destroy(mesh);
}

/* ---- full and empty voxels ---- */

/* The square of the angle between a direction and that from the origin. */
static double tilt(const double direction[3], const double point[3])
{
    double dot = 0, d = 0, p = 0;
    for (int a = 0; a < 3; a++) {
        dot += direction[a] * point[a];
        d += direction[a] * direction[a];
        p += point[a] * point[a];
    }
    const double angle = acos(fmin(dot / sqrt(d * p), 1));
    return angle * angle;
}

/* Normals of a ball of voxels beside those by the usual sum over the 26 neighbours of each voxel at the
 * surface: root mean squares of their errors. */
static void normals_of_smoothed_voxels_beat_sums_over_neighbours(void **state)
{
    (void)state;
    const int n = 12;
    const double voxel = 0.05;
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/vdb/mask_ball.vdb", FIRN_TEST_DATA);
    firn_mesh *mesh = NULL;
    assert_ok(firn_mesh_read(path, 0, 2, &mesh, &error));
    assert_true(firn_mesh_get_info(mesh).closed);
    double of_mesh = 0, of_sums = 0, worst = 0;
    int count = 0;
    for (int i = 0; i < 25 * 25 * 25; i++) {
        const int at[3] = {i / 625 - n, i / 25 % 25 - n, i % 25 - n};
        const double p[3] = {voxel * at[0], voxel * at[1], voxel * at[2]};
        double sum[3] = {0}, normal[3];
        int full = 0;
        for (int k = 0; k < 27; k++) {
            const int to[3] = {k / 9 - 1, k / 3 % 3 - 1, k % 3 - 1};
            const double q[3] = {p[0] + voxel * to[0], p[1] + voxel * to[1], p[2] + voxel * to[2]};
            if (ball(q) >= 0) continue;
            full++;
            for (int a = 0; a < 3; a++) sum[a] -= to[a];
        }
        if (ball(p) >= 0 || full == 27) continue;
        worst = fmax(worst, fabs(firn_mesh_normal(mesh, p, normal) - ball(p)));
        of_mesh += tilt(normal, p);
        of_sums += tilt(sum, p);
        count++;
    }
    /* 7 degrees against 13; without smoothing 15. */
    assert_true(count > 1000);
    assert_at_most(sqrt(of_mesh), 0.6 * sqrt(of_sums));
    assert_at_most(worst, 0.55 * voxel);
    firn_mesh_destroy(mesh);
}

static void write_file(const char *name, const void *data, size_t size)
{
    FILE *file = fopen(in_top(name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* All of 16 x 16 x 16 voxels: sides lie where those of the voxels do, and edges are rounded. */
static void a_binvox_cube_has_the_sides_of_its_voxels(void **state)
{
    (void)state;
    char file[128];
    int size =
        snprintf(file, sizeof file, "#binvox 1\ndim 16 16 16\ntranslate -1 0.5 2\nscale 2\ndata\n");
    for (int left = 16 * 16 * 16; left > 0; left -= 255) {
        file[size++] = 1;
        file[size++] = (char)(left < 255 ? left : 255);
    }
    write_file("cube.binvox", file, (size_t)size);
    firn_mesh *mesh = read_mesh("cube.binvox");
    const firn_mesh_info info = firn_mesh_get_info(mesh);
    static const double low[3] = {-1, 0.5, 2};
    for (int a = 0; a < 3; a++) {
        assert_at_most(fabs(info.low[a] - low[a]), 1e-4);
        assert_at_most(fabs(info.high[a] - low[a] - 2), 1e-4);
    }
    assert_true(info.volume > 0.95 * 8 && info.volume < 8);
    firn_mesh_destroy(mesh);
}

static void full_tiles_have_surfaces(void **state)
{
    (void)state;
    firn_volumes volumes = {0};
    firn_volume *v = firn_volumes_add(&volumes, "density", 1, 0.1, NULL);
    v->kind = FIRN_VOLUME_FOG;
    v->tile_count = 3; /* two in a row, and one that stands alone */
    v->tile = calloc(3, sizeof *v->tile);
    for (int t = 0; t < 3; t++) {
        v->tile[t] = (firn_volume_tile){
            .origin = {8 * t + 8 * (t == 2), 0, 0}, .edge = 8, .value = {1}, .active = true};
    }
    write_volumes("tiles.vdb", &volumes);
    firn_volumes_free(&volumes);
    firn_mesh *mesh = read_mesh("tiles.vdb");
    const firn_mesh_info info = firn_mesh_get_info(mesh);
    assert_int_equal(info.shell_count, 2);
    assert_at_most(fabs(info.low[0] + 0.05),
                   1e-7); /* voxels reach half of an edge around their places */
    assert_at_most(fabs(info.high[0] - 3.15), 1e-6);
    assert_true(info.volume > 1.48 && info.volume < 3 * 0.512);
    firn_mesh_destroy(mesh);
}

/* ---- meshes as volumes ---- */

static firn_volumes voxelize(const facets *f, double voxel, double thickness, double spin,
                             bool normals, int32_t threads)
{
    firn_mesh *mesh = facets_mesh(f, thickness);
    double *velocity = malloc((size_t)f->vertices * 3 * sizeof *velocity);
    for (int32_t i = 0; i < f->vertices; i++) { /* about z */
        velocity[3 * i] = -spin * f->vertex[3 * i + 1];
        velocity[3 * i + 1] = spin * f->vertex[3 * i];
        velocity[3 * i + 2] = 0;
    }
    firn_voxelize_def def = firn_voxelize_def_default();
    def.mesh = mesh;
    def.voxel = voxel;
    def.velocities = spin != 0 ? velocity : NULL;
    def.normals = normals;
    def.threads = threads;
    firn_volumes out;
    assert_ok(firn_volumes_voxelize(&def, &out, &error));
    firn_mesh_destroy(mesh);
    free(velocity);
    return out;
}

/* A fine sphere off the origin's voxels: distance, velocity and normal at every voxel of the band, and
 * which voxels those are. */
static void a_sphere_is_voxelized(void **state)
{
    (void)state;
    const double r = 0.53, voxel = 0.05, spin = 2;
    facets f = sphere_surface(r, 120);
    firn_volumes volumes = voxelize(&f, voxel, 0, spin, true, 2);
    assert_int_equal(volumes.count, 3);
    const firn_volume *surface = firn_volumes_find_level_set(&volumes, NULL);
    const firn_volume *v = firn_volumes_find_velocity(&volumes);
    const firn_volume *normal = firn_volumes_find(&volumes, "normal");
    assert_true(surface && v && normal);
    int64_t active = 0;
    for (int i = 0; i < 40 * 40 * 40; i++) {
        const int32_t at[3] = {i / 1600 - 20, i / 40 % 40 - 20, i % 40 - 20};
        const double p[3] = {voxel * at[0], voxel * at[1], voxel * at[2]};
        const double length = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]), exact = length - r;
        float d, way[3], turn[3];
        const bool is_active = firn_volume_get(surface, at, &d);
        active += is_active;
        if (fabs(exact) > 3.02 * voxel) assert_true(!is_active && (d < 0) == (exact < 0));
        if (!is_active) continue;
        assert_at_most(fabs((double)d - exact), 0.01 * voxel); /* the mesh's own error */
        assert_true(firn_volume_get(normal, at, way) && firn_volume_get(v, at, turn));
        for (int a = 0; a < 3; a++) {
            const double exact_turn = a == 2 ? 0 : (a ? spin : -spin) * r * p[1 - a] / length;
            assert_at_most(fabs((double)way[a] - p[a] / length), 0.02);
            assert_at_most(fabs((double)turn[a] - exact_turn), 0.02);
        }
    }
    assert_int_equal(firn_volume_get_info(surface).active, active);
    assert_true(active > 6 * 0.9 * 4 * 3.14 * r * r / voxel / voxel);
    firn_volumes_free(&volumes);
    facets_free(&f);
}

/* A box read back has the distances of the box, a sheet those of a slab. */
static void what_is_voxelized_is_read_back(void **state)
{
    (void)state;
    const double voxel = 0.03;
    facets f = box_surface(0.41, 0.33, 0.27);
    firn_volumes volumes = voxelize(&f, voxel, 0, 0, false, 1);
    assert_int_equal(volumes.count, 1);
    write_volumes("box.vdb", &volumes);
    firn_volumes_free(&volumes);
    firn_mesh *mesh = read_mesh("box.vdb");
    assert_at_most(worst_error(mesh, box, 0.4), 1.1 * voxel); /* at the corners */
    firn_mesh_destroy(mesh);
    volumes = voxelize(&f, voxel, 0.1, 0, false, 1);
    write_volumes("shell.vdb", &volumes);
    firn_volumes_free(&volumes);
    mesh = read_mesh("shell.vdb");
    assert_int_equal(firn_mesh_get_info(mesh).shell_count, 2);
    assert_at_most(fabs(firn_mesh_get_info(mesh).high[0] - 0.46), 1e-6);
    firn_mesh_destroy(mesh);
    facets_free(&f);
}

static void voxels_do_not_depend_on_threads(void **state)
{
    (void)state;
    facets f = torus_surface(0.4, 0.15, 20);
    firn_volumes a = voxelize(&f, 0.04, 0, 1, true, 1), b = voxelize(&f, 0.04, 0, 1, true, 3);
    for (int k = 0; k < 3; k++) {
        const firn_volume *u = &a.volume[k], *v = &b.volume[k];
        assert_int_equal(u->block_count, v->block_count);
        assert_int_equal(u->tile_count, v->tile_count);
        assert_memory_equal(u->value, v->value,
                            (size_t)u->block_count * FIRN_BLOCK_VOXELS * (k ? 3 : 1) *
                                sizeof(float));
    }
    firn_volumes_free(&a);
    firn_volumes_free(&b);
    facets_free(&f);
}

/* ---- the program ---- */

/* A torus that goes along x and turns about its axis, as OBJ files 0 to 8. */
static void write_tori(const char *folder)
{
    facets f = torus_surface(0.3, 0.1, 24);
    for (int frame = 0; frame <= 8; frame++) {
        const double c = cos(0.05 * frame), s = sin(0.05 * frame);
        char name[32], path[PATH_SIZE];
        snprintf(name, sizeof name, "torus.%d.obj", frame);
        FILE *file = fopen(in_folder(folder, name, path), "w");
        assert_non_null(file);
        for (int32_t i = 0; i < f.vertices; i++) {
            const double *p = f.vertex + 3 * i;
            fprintf(file, "v %.9g %.9g %.9g\n", c * p[0] - s * p[2] + 0.02 * frame, p[1],
                    s * p[0] + c * p[2]);
        }
        for (int32_t t = 0; t < f.triangles; t++) {
            const int32_t *c3 = f.corner + 3 * t;
            fprintf(file, "f %d %d %d\n", c3[0] + 1, c3[1] + 1, c3[2] + 1);
        }
        assert_int_equal(fclose(file), 0);
    }
    facets_free(&f);
}

/* Where the particles of a block are on average after a third of a second beside a mesh. */
static void push(const char *folder, const char *mesh, double speed, double mean[3])
{
    static const char text[] =
        "firn: 1\nname: push\nresolution: 0.05\nframes: {end: 8}\n"
        "simulation: {gravity: [0, 0, 0]}\nmaterials: {jelly: {preset: jelly_hard}}\n"
        "objects: [{name: block, shape: {box: {center: [0.5, 0, 0], size: [0.2, 0.2, 0.2]}}, "
        "velocity: [%g, 0, 0]}]\n"
        "colliders: [{shape: {mesh: {file: %s}}, boundary: sticky}]\n"
        "output: [{file: push.$F4.prt, attributes: [P]}]\n";
    char path[PATH_SIZE];
    FILE *file = fopen(in_folder(folder, "push.yaml", path), "w");
    assert_non_null(file);
    fprintf(file, text, speed, mesh);
    assert_int_equal(fclose(file), 0);
    const outcome *o = run(folder, WORDS("run", "push.yaml", "--threads", "1"));
    if (o->exit_code != 0) fail_msg("%s: %s", mesh, o->err);
    firn_points points;
    assert_ok(firn_points_read(in_folder(folder, "push.0008.prt", path), &points, &error));
    const firn_column *P = firn_points_find(&points, "P");
    for (int a = 0; a < 3; a++) {
        mean[a] = 0;
        for (int64_t i = 0; i < points.count; i++) {
            mean[a] += firn_type_get(P->type, P->data, 3 * i + a) / (double)points.count;
        }
    }
    firn_points_free(&points);
}

/* The mesh as files of vertices, which pair, and as level sets, which only have velocities: it pushes the
 * same way, also where it slides along. */
static void a_sequence_of_level_sets_pushes_as_its_meshes_do(void **state)
{
    (void)state;
    char folder[PATH_SIZE], path[PATH_SIZE];
    fresh_folder("push", folder);
    write_tori(folder);
    const outcome *o = run(folder, WORDS("voxelize", "torus.$F.obj", "-o", "vdb/torus.$F4.vdb",
                                         "--voxel", "0.03", "--threads", "2"));
    expect_exit(o, 0, "voxelize");
    assert_int_equal(count_entries(in_folder(folder, "vdb", path)), 9);
    double paired[3], carried[3];
    push(folder, "torus.$F.obj", 0, paired);
    push(folder, "vdb/torus.$F4.vdb", 0, carried);
    assert_true(paired[0] > 0.58 && paired[2] > 0.04); /* it began at 0.5 and 0 */
    for (int a = 0; a < 3; a++) assert_at_most(fabs(carried[a] - paired[a]), 0.01);
    assert_no_complaints();
}

static void a_binvox_file_collides(void **state)
{
    (void)state;
    char folder[PATH_SIZE], path[PATH_SIZE];
    fresh_folder("binvox", folder);
    /* A full cube that begins 0.1 m before the block, which would be at 0.83 m without it. */
    static const char file[] =
        "#binvox 1\ndim 4 4 4\ntranslate 0.7 -0.1 -0.1\nscale 0.2\ndata\n\x01\x40";
    FILE *to = fopen(in_folder(folder, "cube.binvox", path), "wb");
    assert_non_null(to);
    assert_int_equal(fwrite(file, 1, sizeof file - 1, to), sizeof file - 1);
    assert_int_equal(fclose(to), 0);
    double mean[3];
    push(folder, "cube.binvox", 1, mean);
    assert_true(mean[0] > 0.5 && mean[0] < 0.7);
}

static void nothing_is_voxelized_twice(void **state)
{
    (void)state;
    char folder[PATH_SIZE], path[PATH_SIZE];
    fresh_folder("twice", folder);
    write_tori(folder);
#define VOXELIZE(...)                                                                              \
    run(folder, WORDS("voxelize", "torus.$F.obj", "-o", "t.$F.vdb", "--voxel", __VA_ARGS__))
    const outcome *o = VOXELIZE("0.05", "--frames", "0:2");
    expect_exit(o, 0, "first");
    assert_non_null(strstr(o->out, "3 of 3 frames"));
    o = VOXELIZE("0.05", "--frames", "0:2");
    expect_exit(o, 0, "again");
    assert_non_null(strstr(o->out, "nothing to do: 3 files are up to date"));
    o = VOXELIZE("0.05", "--frames", "0:3");
    assert_non_null(strstr(o->out, "1 of 4 frames"));
    o = VOXELIZE("0.06", "--frames", "0:2");
    assert_non_null(strstr(o->out, "3 of 3 frames"));
    /* One file of the mesh changes: it is the velocity of the frame before, too. */
    char other[PATH_SIZE];
    in_folder(folder, "torus.2.obj", path);
    assert_int_equal(rename(in_folder(folder, "torus.5.obj", other), path), 0);
    o = VOXELIZE("0.06", "--frames", "0:2");
    assert_non_null(strstr(o->out, "2 of 3 frames"));
    /* A damaged file is made again. */
    assert_int_equal(truncate(in_folder(folder, "t.0.vdb", path), 1000), 0);
    o = VOXELIZE("0.06", "--frames", "0:2");
    assert_non_null(strstr(o->out, "1 of 3 frames"));
    expect_exit(VOXELIZE("-1"), 3, "voxel below 0");
    expect_exit(VOXELIZE("1e-12"), 3, "too many voxels");
#undef VOXELIZE
    o = run(folder, WORDS("voxelize", "torus.$F.obj", "-o", "t.vdb", "--voxel", "0.05"));
    expect_exit(o, 3, "several frames to one file");
    assert_non_null(strstr(o->err, "put $F4 in the name"));
    assert_no_complaints();
}

/* ---- refusing ---- */

static void expect_refused(const char *name, const char *words)
{
    firn_mesh *mesh = NULL;
    firn_error e = {0};
    if (firn_mesh_read(in_top(name), 0, 1, &mesh, &e) == FIRN_OK) {
        firn_mesh_destroy(mesh);
        complain("%s was taken\n", name);
    } else if (!strstr(e.message, words)) {
        complain("%s: \"%s\" lacks \"%s\"\n", name, e.message, words);
    }
}

static void files_without_a_surface_are_refused(void **state)
{
    (void)state;
    firn_volumes volumes = {0};
    write_volumes("none.vdb", &volumes);
    expect_refused("none.vdb", "no level set");
    add_dense(&volumes, "heat", 1, 0.1, ball);
    write_volumes("plain.vdb", &volumes);
    expect_refused("plain.vdb", "heat (float, unknown)");
    volumes.volume[0].kind = FIRN_VOLUME_LEVEL_SET;
    for (int i = 0; i < FIRN_BLOCK_VOXELS; i++) volumes.volume[0].value[i] = 1;
    write_volumes("outside.vdb", &volumes);
    expect_refused("outside.vdb", "no surface");
    volumes.volume[0].block[0].origin[1] = INT32_MAX - 7;
    write_volumes("far.vdb", &volumes);
    expect_refused("far.vdb", "out of all bounds");
    firn_volumes_free(&volumes);
    /* A tile of 4096 voxels: a few bytes, and 100 million squares. */
    firn_volume *v = firn_volumes_add(&volumes, "density", 1, 1, NULL);
    v->kind = FIRN_VOLUME_FOG;
    v->tile_count = 1;
    v->tile = calloc(1, sizeof *v->tile);
    v->tile[0] = (firn_volume_tile){.edge = 4096, .value = {1}};
    write_volumes("huge.vdb", &volumes);
    expect_refused("huge.vdb", "solid for 4096 voxels");
    firn_volumes_free(&volumes);
    write_file("no.vdb", "solid", 5);
    expect_refused("no.vdb", "is not an OpenVDB file");
    assert_no_complaints();
}

int main(void)
{
    if (!make_top("voxel_mesh")) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_level_set_is_read_as_its_surface),
        cmocka_unit_test(planes_are_met_exactly),
        cmocka_unit_test(openvdbs_own_files_become_meshes),
        cmocka_unit_test(fog_becomes_the_surface_at_half_of_its_density),
        cmocka_unit_test(normals_of_smoothed_voxels_beat_sums_over_neighbours),
        cmocka_unit_test(a_binvox_cube_has_the_sides_of_its_voxels),
        cmocka_unit_test(full_tiles_have_surfaces),
        cmocka_unit_test(a_sphere_is_voxelized),
        cmocka_unit_test(what_is_voxelized_is_read_back),
        cmocka_unit_test(voxels_do_not_depend_on_threads),
        cmocka_unit_test(a_sequence_of_level_sets_pushes_as_its_meshes_do),
        cmocka_unit_test(a_binvox_file_collides),
        cmocka_unit_test(nothing_is_voxelized_twice),
        cmocka_unit_test(files_without_a_surface_are_refused),
    };
    const int failed = cmocka_run_group_tests_name("voxel_mesh", tests, NULL, NULL);
    remove_all(top);
    return failed;
}
