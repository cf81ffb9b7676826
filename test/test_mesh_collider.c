/* Mesh colliders: distances of the tree and of level sets, still, moving and deforming meshes in sims. */
#include "worlds.h"

#include "collider/collider.h"
#include "memory_state.h"
#include "mesh/mesh.h"
#include "mesh/morph.h"

static const double voxel = 0.05;

static firn_collider_def mesh_collider(const firn_mesh *mesh)
{
    firn_collider_def def = firn_collider_def_default();
    def.shape = FIRN_MESH;
    def.mesh = mesh;
    return def;
}

static firn_levelset level_set_of(const firn_mesh *mesh, int32_t threads)
{
    const firn_workers workers = {.count = threads};
    const firn_allocator allocator = firn_allocator_default();
    const firn_levelset_def def = {.mesh = mesh,
                                   .voxel = voxel,
                                   .band = 3 * voxel,
                                   .workers = &workers,
                                   .allocator = &allocator,
                                   .name = "mesh"};
    firn_levelset set;
    assert_ok(firn_levelset_create(&def, &set, &error));
    return set;
}

static void drop_level_set(firn_levelset *set)
{
    const firn_allocator allocator = firn_allocator_default();
    firn_levelset_free(set, &allocator);
}

/* ---- distances ---- */

typedef struct solid {
    firn_shape_kind shape;
    double size[3];
    double faceted; /* m, how far the mesh is from the shape */
    double edge;    /* m from an edge within which level sets may round it */
} solid;
static const solid solids[] = {{FIRN_SPHERE, {0.8}, 6e-4, 0},
                               {FIRN_BOX, {0.7, 0.5, 0.6}, 1e-12, 0.1},
                               {FIRN_TORUS, {0.7, 0.3}, 1.2e-3, 0}};

static firn_mesh *mesh_of_solid(const solid *s)
{
    facets f = s->shape == FIRN_SPHERE ? sphere_surface(s->size[0], 60)
               : s->shape == FIRN_BOX  ? box_surface(s->size[0], s->size[1], s->size[2])
                                       : torus_surface(s->size[0], s->size[1], 60);
    firn_mesh *mesh = facets_mesh(&f, 0);
    facets_free(&f);
    return mesh;
}

static void the_tree_tells_distances_of_shapes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof solids / sizeof *solids; i++) {
        const solid *s = &solids[i];
        firn_mesh *mesh = mesh_of_solid(s);
        firn_collider_def def = mesh_collider(mesh), want = firn_collider_def_default();
        want.shape = s->shape;
        memcpy(want.size, s->size, sizeof want.size);
        assert_close(firn_shape_volume(&def, 3), firn_shape_volume(&want, 3),
                     8 * s->faceted + 1e-9);
        random_state = 5;
        for (int k = 0; k < 3000; k++) {
            double n[3], m[3], p[3];
            for (int a = 0; a < 3; a++) p[a] = uniform(-1.3, 1.3);
            const double d = firn_shape_distance(&def, 3, p, n);
            assert_close(d, firn_shape_distance(&want, 3, p, m), s->faceted);
            assert_close(sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]), 1, 1e-12);
            for (int a = 0; a < 3; a++) p[a] -= d * n[a]; /* lands on the surface */
            assert_close(firn_shape_distance(&def, 3, p, n), 0, 1e-12);
        }
        firn_mesh_destroy(mesh);
    }
}

/* In the band the distance is within 0.05 voxels and within a voxel of the surface the normal
 * within 8 degrees where that bends with a radius of 6 voxels, but near edges; beyond it
 * what is deep inside is pushed out the right way, and outside nothing seems further than it is. */
static void a_level_set_tells_distances_of_shapes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof solids / sizeof *solids; i++) {
        const solid *s = &solids[i];
        firn_mesh *mesh = mesh_of_solid(s);
        firn_levelset set = level_set_of(mesh, 2);
        firn_collider_def exact = mesh_collider(mesh), smooth = firn_collider_def_default();
        smooth.shape = s->shape; /* facets have normals of their own */
        memcpy(smooth.size, s->size, sizeof smooth.size);
        random_state = 6;
        int near = 0, deep = 0;
        for (int k = 0; k < 20000; k++) {
            double n[3], m[3], p[3], d;
            for (int a = 0; a < 3; a++) p[a] = uniform(-1.6, 1.6);
            const double want = firn_shape_distance(&exact, 3, p, m);
            firn_shape_distance(&smooth, 3, p, m);
            const bool band = firn_levelset_ask(&set, p, &d, n, NULL);
            const double turn = n[0] * m[0] + n[1] * m[1] + n[2] * m[2];
            assert_close(sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]), 1, 1e-9);
            assert_true(band || fabs(want) > set.band - 1e-6);
            /* Where distances to two faces are alike, normals are of neither. */
            bool edge = false;
            for (int c = 0; c < 6 && s->edge > 0; c++) {
                double q[3] = {p[0], p[1], p[2]}, other[3];
                q[c / 2] += c % 2 ? 2 * voxel : -2 * voxel;
                firn_shape_distance(&smooth, 3, q, other);
                edge |= other[0] * m[0] + other[1] * m[1] + other[2] * m[2] < 0.999;
            }
            if (fabs(want) < 2.5 * voxel) {
                near++;
                assert_close(d, want, (edge ? 0.45 : 0.05) * voxel);
                if (!edge && fabs(want) < voxel) assert_true(turn > 0.9903);
            } else if (want > 0) {
                assert_at_most(d, want + (edge ? 0.45 : 0.05) * voxel);
                assert_true(d > 2.4 * voxel);
            } else {
                deep++;
                assert_true(d < -2 * voxel);
                double q[3], other[3];
                for (int a = 0; a < 3; a++) q[a] = p[a] + 0.2 * fabs(want) * n[a];
                if (!edge && want > -0.25) {
                    assert_true(firn_shape_distance(&exact, 3, q, other) > want);
                }
            }
        }
        assert_true(near > 500 && deep > 100);
        drop_level_set(&set);
        firn_mesh_destroy(mesh);
    }
}

static void level_sets_are_the_same_bytes_on_any_threads(void **state)
{
    (void)state;
    facets f = sphere_surface(0.5, 30);
    for (int v = 0; v < f.vertices; v++) f.vertex[3 * v] *= 1 + 0.2 * f.vertex[3 * v + 1];
    firn_mesh *mesh = facets_mesh(&f, 0);
    firn_levelset one = level_set_of(mesh, 1);
    for (int32_t threads = 2; threads <= 3; threads++) {
        firn_levelset set = level_set_of(mesh, threads);
        assert_int_equal(set.count, one.count);
        assert_int_equal(set.nodes.size, one.nodes.size);
        assert_memory_equal(set.nodes.data, one.nodes.data, one.nodes.size);
        assert_memory_equal(set.blocks.data, one.blocks.data, one.blocks.size);
        drop_level_set(&set);
    }
    drop_level_set(&one);
    firn_mesh_destroy(mesh);
    facets_free(&f);
}

/* A sheet a voxel thick is solid wherever it lies between the nodes, and ends at its rim. */
static void a_sheet_is_solid_through_its_thickness(void **state)
{
    (void)state;
    for (int at = 0; at < 4; at++) {
        facets f = sheet_surface(0.5, 4);
        const double y = 0.25 * at * voxel;
        for (int v = 0; v < f.vertices; v++) f.vertex[3 * v + 1] += y;
        firn_mesh *mesh = facets_mesh(&f, 0.5 * voxel); /* counts as a voxel */
        assert_int_equal(firn_mesh_get_info(mesh).closed, false);
        firn_levelset set = level_set_of(mesh, 1);
        assert_close(set.half, 0.5 * voxel, 1e-15);
        random_state = 9;
        for (int k = 0; k < 3000; k++) {
            const double p[3] = {uniform(-0.4, 0.4), y + uniform(-2.5, 2.5) * voxel,
                                 uniform(-0.4, 0.4)};
            double n[3], d;
            firn_levelset_ask(&set, p, &d, n, NULL);
            assert_close(d, fabs(p[1] - y) - 0.5 * voxel, 1e-6);
            assert_close(n[1], p[1] > y ? 1 : -1, 1e-5);
        }
        for (int k = 0; k < 300; k++) {
            const double p[3] = {uniform(0.5 + 1.2 * voxel, 0.8), y + uniform(-1, 1) * voxel, 0};
            double n[3], d;
            firn_levelset_ask(&set, p, &d, n, NULL);
            assert_true(d > 0);
        }
        drop_level_set(&set);
        firn_mesh_destroy(mesh);
        facets_free(&f);
    }
}

static void an_open_mesh_needs_a_thickness(void **state)
{
    (void)state;
    facets f = sheet_surface(0.5, 2);
    firn_mesh_def def = firn_mesh_def_default();
    def.vertices = f.vertex;
    def.vertex_count = f.vertices;
    def.corners = f.corner;
    def.corner_count = (int64_t)3 * f.triangles;
    firn_mesh *mesh = NULL;
    firn_error refusal = {0};
    assert_int_equal(firn_mesh_create(&def, &mesh, &refusal), FIRN_INVALID);
    assert_non_null(strstr(refusal.message, "thickness"));
    assert_null(mesh);
    def.thickness = 0.1;
    assert_ok(firn_mesh_create(&def, &mesh, &error));
    const firn_mesh_info info = firn_mesh_get_info(mesh);
    assert_close(info.volume, 0.1, 1e-12);
    assert_close(info.high[1], 0.05, 1e-15);
    assert_int_equal(info.vertex_count, 9);
    assert_int_equal(info.shell_count, 1);
    firn_mesh_destroy(mesh);
    def.corner_count--;
    assert_int_equal(firn_mesh_create(&def, &mesh, &refusal), FIRN_INVALID);
    def.corner_count++;
    f.corner[4] = 9;
    assert_int_equal(firn_mesh_create(&def, &mesh, &refusal), FIRN_INVALID);
    assert_non_null(strstr(refusal.message, "mesh:2: a face names a vertex"));
    facets_free(&f);
}

/* ---- still meshes in sims ---- */

/* How deep the deepest particle is in a shape that stands where its def says, in cells. */
static double deepest(const firn_sim *sim, const firn_collider_def *shape, double h)
{
    const int64_t n = firn_sim_count(sim);
    double *x = read_all(sim, 3, FIRN_POSITION), most = 0, normal[3];
    firn_posed_collider posed;
    firn_collider_pose(shape, 3, firn_sim_time(sim), &posed);
    for (int64_t i = 0; i < n; i++) {
        most = fmax(most, -firn_collider_distance(&posed, 3, x + 3 * i, normal) / h);
    }
    free(x);
    return most;
}

/* A block of jelly dropped on a mesh box ends where it ends on the box. */
static void a_mesh_box_is_a_box(void **state)
{
    (void)state;
    facets f = box_surface(0.21, 0.1, 0.21);
    firn_mesh *mesh = facets_mesh(&f, 0);
    for (size_t p = 0; p < PATHS; p++) {
        for (int implicit = 0; implicit < 2; implicit++) {
            double *x[2];
            int64_t count = 0;
            for (int is_mesh = 0; is_mesh < 2; is_mesh++) {
                world w = world_default(3, 0.02);
                w.def.path = both_paths[p];
                w.def.integrator = implicit ? FIRN_IMPLICIT : FIRN_EXPLICIT;
                w.def.gravity[1] = -9.81;
                w.material[0].young = 3e4;
                w.def.collider_count = 1;
                w.collider[0] = mesh_collider(mesh);
                if (!is_mesh) w.collider[0].shape = FIRN_BOX;
                memcpy(w.collider[0].size, (double[3]){0.21, 0.1, 0.21}, 24);
                w.collider[0].position[1] = -0.113;
                firn_sim *sim = world_create(&w);
                random_state = 3;
                const brick b = {.low = {-3, 0, -3},
                                 .cells = {6, 5, 6},
                                 .per_axis = 2,
                                 .velocity = {0.4, -1, 0}};
                brick_add(sim, &w, &b);
                assert_ok(firn_sim_advance(sim, 0.15, NULL, &error));
                assert_at_most(deepest(sim, &w.collider[0], 0.02), 0.01);
                count = firn_sim_count(sim);
                x[is_mesh] = read_all(sim, 3, FIRN_POSITION);
                firn_sim_destroy(sim);
            }
            double most = 0;
            for (int64_t i = 0; i < 3 * count; i++) most = fmax(most, fabs(x[0][i] - x[1][i]));
            assert_at_most(most / 0.02, 0.02); /* cells */
            free(x[0]);
            free(x[1]);
        }
    }
    firn_mesh_destroy(mesh);
    facets_free(&f);
}

/* ---- motion ---- */

typedef struct log_count {
    int made;
} log_count;

static void count_made(void *user_data, firn_log_level level, const char *subject, const char *text)
{
    (void)level;
    int made = 0;
    const char *at = strchr(text, ':');
    if (strcmp(subject, "collider") == 0 && at && sscanf(at + 1, "%d level", &made) == 1) {
        ((log_count *)user_data)->made += made;
    }
}

static void turn_about_z(const facets *from, double angle, const double move[3], double *to)
{
    for (int v = 0; v < from->vertices; v++) {
        const double *p = from->vertex + 3 * v;
        to[3 * v] = cos(angle) * p[0] - sin(angle) * p[1] + move[0];
        to[3 * v + 1] = sin(angle) * p[0] + cos(angle) * p[1] + move[1];
        to[3 * v + 2] = p[2] + move[2];
    }
}

/* A turning, moving mesh by its vertices is the mesh moved by its pose, and one level set serves. */
static void a_rigid_deformation_is_a_motion(void **state)
{
    (void)state;
    enum { FRAMES = 4 };
    const double frame = 1.0 / 48;
    facets f = box_surface(0.13, 0.05, 0.11); /* its middle is the origin */
    firn_mesh *mesh = facets_mesh(&f, 0);
    double *x[2] = {NULL, NULL}, *from = malloc((size_t)f.vertices * 24),
           *to = malloc((size_t)f.vertices * 24);
    int64_t count = 0;
    for (int by_vertices = 0; by_vertices < 2; by_vertices++) {
        log_count logged = {0};
        world w = world_default(3, 0.02);
        w.def.log = (firn_log){count_made, &logged};
        w.def.gravity[1] = -9.81;
        w.material[0].young = 3e4;
        w.def.collider_count = 1;
        w.collider[0] = mesh_collider(mesh);
        firn_sim *sim = world_create(&w);
        random_state = 3;
        const brick b = {.low = {-3, 3, -3}, .cells = {6, 4, 6}, .per_axis = 2};
        brick_add(sim, &w, &b);
        for (int k = 0; k < FRAMES; k++) {
            const double angle[2] = {0.15 * k, 0.15 * (k + 1)};
            const double at[2][3] = {{0.01 * k, 0.02 * k, 0}, {0.01 * (k + 1), 0.02 * (k + 1), 0}};
            if (by_vertices) {
                turn_about_z(&f, angle[0], at[0], from);
                turn_about_z(&f, angle[1], at[1], to);
                const firn_mesh_motion m = {k % 2 ? NULL : from, to, firn_sim_time(sim),
                                            firn_sim_time(sim) + frame};
                assert_ok(firn_sim_deform_collider(sim, 0, &m, &error));
            } else {
                const double q[4] = {cos(angle[1] / 2), 0, 0, sin(angle[1] / 2)};
                assert_ok(firn_sim_move_collider(sim, 0, at[1], q, frame, &error));
            }
            assert_ok(firn_sim_advance(sim, frame, NULL, &error));
        }
        assert_int_equal(logged.made, 1);
        count = firn_sim_count(sim);
        x[by_vertices] = read_all(sim, 3, FIRN_POSITION);
        firn_sim_destroy(sim);
    }
    double most = 0;
    for (int64_t i = 0; i < 3 * count; i++) most = fmax(most, fabs(x[0][i] - x[1][i]));
    assert_at_most(most / 0.02, 1e-3); /* cells */
    free(x[0]);
    free(x[1]);
    free(from);
    free(to);
    firn_mesh_destroy(mesh);
    facets_free(&f);
}

/* The field of a mesh collider in a sim, at a time that is not over yet. */
static firn_posed_collider posed_in(const firn_sim *sim, double time);

/* A sphere that grows by a fifth and shifts: distances and velocities of its surface on the way. */
static void a_growing_sphere_is_where_it_should_be(void **state)
{
    (void)state;
    const double r0 = 0.5, r1 = 0.6, way[3] = {0.04, 0.1, -0.02}, h = 0.025;
    facets f = sphere_surface(r0, 50);
    firn_mesh *mesh = facets_mesh(&f, 0);
    double *to = malloc((size_t)f.vertices * 24);
    for (int i = 0; i < 3 * f.vertices; i++) to[i] = f.vertex[i] * r1 / r0 + way[i % 3];
    world w = world_default(3, h);
    w.def.collider_count = 1;
    w.collider[0] = mesh_collider(mesh);
    firn_sim *sim = world_create(&w);
    const firn_mesh_motion m = {NULL, to, 0, 0.1};
    assert_ok(firn_sim_deform_collider(sim, 0, &m, &error));
    random_state = 12;
    double worst = 0, worst_speed = 0;
    for (int k = 1; k < 10; k++) {
        const double s = 0.1 * k, r = r0 + s * (r1 - r0);
        const firn_posed_collider posed = posed_in(sim, 0.1 * s);
        for (int i = 0; i < 2000; i++) {
            double n[3], p[3], v[3], length = 0;
            for (int a = 0; a < 3; a++) n[a] = uniform(-1, 1), length += n[a] * n[a];
            length = sqrt(length);
            const double off = uniform(-1, 1) * h;
            for (int a = 0; a < 3; a++) p[a] = s * way[a] + (r + off) * n[a] / length;
            double normal[3];
            worst = fmax(worst, fabs(firn_collider_distance(&posed, 3, p, normal) - off) / h);
            firn_collider_surface_velocity(&posed, p, v);
            for (int a = 0; a < 3; a++) {
                const double want = (way[a] + (r1 - r0) * n[a] / length) / 0.1;
                worst_speed = fmax(worst_speed, fabs(v[a] - want));
            }
            const double bound = firn_collider_speed_bound(&posed, p, 0.01);
            assert_true(bound * 1.001 > sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]));
        }
    }
    assert_at_most(worst, 0.06);       /* voxels */
    assert_at_most(worst_speed, 0.06); /* m/s, of 2.1 */
    const firn_posed_collider end = posed_in(sim, 0.2);
    double v[3];
    firn_collider_surface_velocity(&end, (double[3]){0.04, 0.7, -0.02}, v);
    assert_true(v[0] == 0 && v[1] == 0 && v[2] == 0); /* stands still */
    firn_sim_destroy(sim);
    free(to);
    firn_mesh_destroy(mesh);
    facets_free(&f);
}

/* A sheet a voxel thick whose halves move apart by three voxels each is whole all the way. */
static void a_thin_sheet_does_not_fade_on_its_way(void **state)
{
    (void)state;
    const double h = 0.05;
    facets f = sheet_surface(1, 40);
    firn_mesh *mesh = facets_mesh(&f, h);
    double *to = malloc((size_t)f.vertices * 24);
    memcpy(to, f.vertex, (size_t)f.vertices * 24);
    for (int v = 0; v < f.vertices; v++) to[3 * v + 1] = 3 * h * sin(3 * f.vertex[3 * v]);
    world w = world_default(3, h);
    w.def.collider_count = 1;
    w.collider[0] = mesh_collider(mesh);
    firn_sim *sim = world_create(&w);
    const firn_mesh_motion m = {NULL, to, 0, 1};
    assert_ok(firn_sim_deform_collider(sim, 0, &m, &error));
    for (int k = 0; k <= 10; k++) {
        const firn_posed_collider posed = posed_in(sim, 0.1 * k);
        for (int i = -15; i <= 15; i++) {
            const double x = 0.05 * i + 0.013, y = 0.1 * k * 3 * h * sin(3 * x);
            double normal[3];
            const double d = firn_collider_distance(&posed, 3, (double[3]){x, y, 0.111}, normal);
            assert_close(d / h, -0.5, 0.1);
        }
    }
    firn_sim_destroy(sim);
    free(to);
    firn_mesh_destroy(mesh);
    facets_free(&f);
}

#include "sim/sim.h"
static firn_posed_collider posed_in(const firn_sim *sim, double time)
{
    firn_posed_collider posed;
    firn_sim_pose_collider(sim, 0, time, &posed);
    return posed;
}

/* ---- fast ---- */

/* A ball of 50 m/s through jelly and through snow: none is left inside, and what it hits is driven on. */
static void a_fast_mesh_does_not_tunnel(void **state)
{
    (void)state;
    facets f = sphere_surface(0.06, 16);
    firn_mesh *mesh = facets_mesh(&f, 0);
    for (size_t p = 0; p < PATHS; p++) {
        for (int snow = 0; snow < 2; snow++) {
            world w = world_default(3, 0.02);
            w.def.path = both_paths[p];
            if (snow) w.material[0] = firn_material_def_preset(firn_preset_find("snow"));
            w.def.collider_count = 1;
            w.collider[0] = mesh_collider(mesh);
            w.collider[0].key_count = 2;
            w.key[0][0] = (firn_pose_key){0, {0, 0.2, 0}, {1, 0, 0, 0}};
            w.key[0][1] = (firn_pose_key){0.01, {0, -0.3, 0}, {1, 0, 0, 0}};
            firn_sim *sim = world_create(&w);
            random_state = 8;
            const brick b = {.low = {-4, -2, -4}, .cells = {8, 5, 8}, .per_axis = 2};
            brick_add(sim, &w, &b);
            firn_collider_def where = w.collider[0];
            where.keys = w.key[0];
            for (int k = 0; k < 8; k++) {
                assert_ok(firn_sim_advance(sim, 0.01 / 8, NULL, &error));
                assert_at_most(deepest(sim, &where, 0.02), 0.5);
            }
            const firn_totals t = totals_of(sim);
            assert_true(t.momentum[1] < -0.5 * t.mass); /* m/s */
            firn_sim_destroy(sim);
        }
    }
    firn_mesh_destroy(mesh);
    facets_free(&f);
}

/* A plough through snow: none inside, and the snow in front moves as the plough does. */
static void a_plough_takes_snow_along(void **state)
{
    (void)state;
    facets f = box_surface(0.05, 0.1, 0.1);
    firn_mesh *mesh = facets_mesh(&f, 0);
    world w = world_default(3, 0.02);
    w.material[0] = firn_material_def_preset(firn_preset_find("snow"));
    w.def.gravity[1] = -9.81;
    w.def.collider_count = 2;
    w.collider[0] = mesh_collider(mesh);
    w.collider[0].key_count = 2;
    w.collider[1].friction = 0.6;
    w.key[0][0] = (firn_pose_key){0, {-0.2, 0.1, 0}, {1, 0, 0, 0}};
    w.key[0][1] = (firn_pose_key){1, {0.8, 0.1, 0}, {1, 0, 0, 0}};
    firn_sim *sim = world_create(&w);
    random_state = 8;
    const brick b = {.low = {-6, 0, -4}, .cells = {8, 4, 8}, .per_axis = 2};
    brick_add(sim, &w, &b);
    firn_collider_def where = w.collider[0];
    where.keys = w.key[0];
    for (int k = 0; k < 5; k++) {
        assert_ok(firn_sim_advance(sim, 0.05, NULL, &error));
        assert_at_most(deepest(sim, &where, 0.02), 0.5);
    }
    double *x = read_all(sim, 3, FIRN_POSITION), *v = read_all(sim, 3, FIRN_VELOCITY), sum = 0;
    const double front = -0.2 + 0.25 + 0.05;
    int64_t in_front = 0;
    for (int64_t i = 0; i < firn_sim_count(sim); i++) {
        if (!(x[3 * i] < front + 0.04 && fabs(x[3 * i + 2]) < 0.06)) continue;
        in_front++;
        sum += v[3 * i];
    }
    assert_true(in_front > 50);
    assert_close(sum / (double)in_front, 1, 0.1); /* m/s */
    firn_reaction r;
    assert_ok(firn_sim_read_reaction(sim, 0, &r, &error));
    assert_true(r.force[0] < 0);
    free(x);
    free(v);
    firn_sim_destroy(sim);
    firn_mesh_destroy(mesh);
    facets_free(&f);
}

/* A bowl of a sheet one cell thick holds water. */
static void a_thin_sheet_holds_water(void **state)
{
    (void)state;
    const double h = 0.02, end = 0.5; /* s; after 5 s none is lost either */
    facets f = sheet_surface(0.2, 20);
    for (int v = 0; v < f.vertices; v++) { /* a tray: rims bend up */
        double *p = f.vertex + 3 * v;
        const double out = fmax(fabs(p[0]), fabs(p[2]));
        if (out > 0.121) p[1] += out - 0.12;
        for (int a = 0; a < 3; a += 2)
            p[a] = fmin(fmax(p[a], -0.12), 0.12) + 0.25 * (p[a] - fmin(fmax(p[a], -0.12), 0.12));
        p[1] *= 1.5;
        p[1] += 0.007;
    }
    firn_mesh *mesh = facets_mesh(&f, h);
    world w = world_default(3, h);
    w.material[0] = firn_material_def_preset(firn_preset_find("water"));
    w.material[0].bulk = 1e5;
    w.def.gravity[1] = -9.81;
    w.def.collider_count = 1;
    w.collider[0] = mesh_collider(mesh);
    firn_sim *sim = world_create(&w);
    random_state = 8;
    const brick b = {.low = {-5, 1, -5}, .cells = {10, 3, 10}, .per_axis = 2, .jitter = 0.2};
    brick_add(sim, &w, &b);
    for (int k = 0; k < 5; k++) assert_ok(firn_sim_advance(sim, end / 5, NULL, &error));
    double *x = read_all(sim, 3, FIRN_POSITION);
    int64_t lost = 0;
    for (int64_t i = 0; i < firn_sim_count(sim); i++) lost += x[3 * i + 1] < 0.007;
    assert_int_equal(lost, 0);
    assert_at_most(deepest(sim, &w.collider[0], h), 0.5);
    free(x);
    firn_sim_destroy(sim);
    firn_mesh_destroy(mesh);
    facets_free(&f);
}

/* ---- pins ---- */

/* The upper half of a jelly block is within a collider that moves and turns: it goes along exactly and the
 * rest with it, until it is let go. */
static void what_is_held_follows_until_it_is_let_go(void **state)
{
    (void)state;
    facets f = box_surface(0.1, 0.05, 0.1);
    firn_mesh *mesh = facets_mesh(&f, 0);
    const double h = 0.02, angle = 0.8;
    for (int kind = 0; kind < 2 * PATHS + 1; kind++) {
        const bool implicit = kind == 2 * PATHS, is_mesh = kind % 2;
        world w = world_default(3, h);
        w.def.path = both_paths[implicit ? 0 : kind / 2];
        w.def.integrator = implicit ? FIRN_IMPLICIT : FIRN_EXPLICIT;
        w.def.gravity[1] = -9.81;
        w.material[0].young = 1e5;
        w.def.collider_count = 1;
        w.collider[0] = mesh_collider(mesh);
        if (!is_mesh) w.collider[0].shape = FIRN_BOX;
        memcpy(w.collider[0].size, (double[3]){0.1, 0.05, 0.1}, 24);
        w.collider[0].boundary = FIRN_HOLD;
        w.collider[0].until = 0.2;
        w.collider[0].key_count = 2;
        w.key[0][0] = (firn_pose_key){0, {0, 0.05, 0}, {1, 0, 0, 0}};
        w.key[0][1] = (firn_pose_key){0.2, {0.1, 0.15, 0}, {cos(angle / 2), 0, sin(angle / 2), 0}};
        firn_sim *sim = world_create(&w);
        const brick b = {.low = {-3, -4, -3}, .cells = {6, 8, 6}, .per_axis = 2};
        brick_add(sim, &w, &b);
        const int64_t n = firn_sim_count(sim);
        double *from = read_all(sim, 3, FIRN_POSITION);
        assert_int_equal(totals_of(sim).outside, 0); /* not in a wall */
        assert_ok(firn_sim_advance(sim, 0.199, NULL, &error));
        const double s = 0.199 / 0.2;
        double *x = read_all(sim, 3, FIRN_POSITION), worst = 0, below = 0;
        for (int64_t i = 0; i < n; i++) {
            const double *p = from + 3 * i, *q = x + 3 * i, t = s * angle;
            const double want[3] = {cos(t) * p[0] + sin(t) * p[2] + 0.1 * s, p[1] + 0.1 * s,
                                    cos(t) * p[2] - sin(t) * p[0]};
            double away = 0;
            for (int a = 0; a < 3; a++) away = fmax(away, fabs(q[a] - want[a]));
            if (p[1] > 0)
                worst = fmax(worst, away);
            else
                below = fmax(below, away);
        }
        assert_at_most(worst / h, 0.05);
        assert_at_most(below / h, 1);
        firn_reaction r;
        assert_ok(firn_sim_read_reaction(sim, 0, &r, &error));
        const firn_totals held = totals_of(sim);
        assert_true(r.force[1] < 0); /* its weight */
        assert_ok(firn_sim_advance(sim, 0.101, NULL, &error));
        const firn_totals freed = totals_of(sim);
        assert_close((freed.momentum[1] - held.momentum[1]) / held.mass, -9.81 * 0.1, 0.05);
        free(from);
        free(x);
        firn_sim_destroy(sim);
    }
    firn_mesh_destroy(mesh);
    facets_free(&f);
}

/* ---- masks ---- */

static void a_mask_is_the_solid_of_its_cells(void **state)
{
    (void)state;
    enum { N = 6 };
    uint8_t full[N][N][N] = {{{0}}};
    int cells = 0;
    random_state = 4;
    for (int i = 0; i < N * N * N; i++) {
        uint8_t *to = &full[i / (N * N)][i / N % N][i % N];
        *to = random_below(3) == 0;
        cells += *to;
    }
    firn_mask_def def = firn_mask_def_default();
    def.full = full[0][0];
    for (int a = 0; a < 3; a++) def.size[a] = N, def.low[a] = -0.3;
    def.edge = 0.1;
    firn_mesh *mesh = NULL;
    assert_ok(firn_mesh_create_mask(&def, &mesh, &error));
    const firn_collider_def shape = mesh_collider(mesh);
    assert_close(firn_shape_volume(&shape, 3), cells * 1e-3, 1e-12);
    for (int k = 0; k < 2000; k++) {
        double p[3], n[3], square = INFINITY;
        for (int a = 0; a < 3; a++) p[a] = uniform(-0.45, 0.45);
        int at[3];
        for (int a = 0; a < 3; a++) at[a] = (int)floor((p[a] + 0.3) / 0.1);
#define FULL(x, y, z)                                                                              \
    ((x) >= 0 && (x) < N && (y) >= 0 && (y) < N && (z) >= 0 && (z) < N && full[x][y][z])
        const bool inside = FULL(at[0], at[1], at[2]);
        for (int i = 0; i < (N + 4) * (N + 4) * (N + 4); i++) { /* the nearest of the other kind */
            const int c[3] = {i / ((N + 4) * (N + 4)) - 2, i / (N + 4) % (N + 4) - 2,
                              i % (N + 4) - 2};
            if (FULL(c[0], c[1], c[2]) == inside) continue;
            double d = 0;
            for (int a = 0; a < 3; a++) {
                const double low = -0.3 + 0.1 * c[a];
                const double gap = fmax(fmax(low - p[a], p[a] - low - 0.1), 0);
                d += gap * gap;
            }
            square = fmin(square, d);
        }
#undef FULL
        assert_close(firn_shape_distance(&shape, 3, p, n), (inside ? -1 : 1) * sqrt(square), 1e-12);
    }
    firn_mesh_destroy(mesh);
    memset(full, 0, sizeof full);
    firn_error refusal = {0};
    assert_int_equal(firn_mesh_create_mask(&def, &mesh, &refusal), FIRN_INVALID);
    def.size[1] = 0;
    assert_int_equal(firn_mesh_create_mask(&def, &mesh, &refusal), FIRN_INVALID);
}

/* ---- bytes ---- */

static void wobble(const facets *f, double phase, double *to)
{
    for (int v = 0; v < f->vertices; v++) {
        const double *p = f->vertex + 3 * v;
        const double grown = 1 + 0.3 * sin(phase) * p[1] / 0.1;
        to[3 * v] = grown * p[0];
        to[3 * v + 1] = p[1] + 0.02 * sin(phase + 8 * p[0]);
        to[3 * v + 2] = grown * p[2];
    }
}

static world wobbling_world(const firn_mesh *mesh, firn_path path, int32_t threads)
{
    world w = world_default(3, 0.02);
    w.def.path = path;
    w.def.threads = threads;
    w.def.gravity[1] = -9.81;
    w.material[0].young = 3e4;
    w.def.collider_count = 1;
    w.collider[0] = mesh_collider(mesh);
    return w;
}

static const brick over_it = {
    .low = {-4, 5, -4}, .cells = {8, 4, 8}, .per_axis = 2, .velocity = {0, -1, 0}};
static const double wobble_frame = 1.0 / 60;

static void wobble_on(firn_sim *sim, const facets *f, int frame)
{
    double *from = malloc((size_t)f->vertices * 24), *to = malloc((size_t)f->vertices * 24);
    wobble(f, 0.9 * frame, from);
    wobble(f, 0.9 * (frame + 1), to);
    const firn_mesh_motion m = {from, to, frame * wobble_frame, (frame + 1) * wobble_frame};
    assert_ok(firn_sim_deform_collider(sim, 0, &m, &error));
    free(from);
    free(to);
}

static void a_deforming_mesh_gives_the_same_bytes_on_any_threads(void **state)
{
    (void)state;
    facets f = sphere_surface(0.1, 14);
    firn_mesh *mesh = facets_mesh(&f, 0);
    for (size_t p = 0; p < PATHS; p++) {
        firn_hash first = {{0}};
        for (int32_t threads = 1; threads <= 3; threads++) {
            world w = wobbling_world(mesh, both_paths[p], threads);
            firn_sim *sim = world_create(&w);
            random_state = 21;
            brick_add(sim, &w, &over_it);
            for (int k = 0; k < 3; k++) {
                wobble_on(sim, &f, k);
                assert_ok(firn_sim_advance(sim, wobble_frame, NULL, &error));
            }
            if (threads == 1) first = hash_of(sim);
            assert_same_hash(hash_of(sim), first);
            firn_sim_destroy(sim);
        }
    }
    firn_mesh_destroy(mesh);
    facets_free(&f);
}

/* Saved within a motion, a sim goes on with the same bytes once it knows mesh and motion again, whether
 * that is before or after its state. */
static void a_state_within_a_motion_goes_on_with_the_same_bytes(void **state)
{
    (void)state;
    facets f = sphere_surface(0.1, 14);
    firn_mesh *mesh = facets_mesh(&f, 0);
    world w = wobbling_world(mesh, FIRN_PATH_AUTO, 1);
    firn_sim *sim = world_create(&w);
    random_state = 21;
    brick_add(sim, &w, &over_it);
    for (int k = 0; k < 2; k++) {
        wobble_on(sim, &f, k);
        assert_ok(firn_sim_advance(sim, wobble_frame, NULL, &error));
    }
    wobble_on(sim, &f, 2);
    assert_ok(firn_sim_advance(sim, 0.4 * wobble_frame, NULL, &error));
    bytes saved = {0};
    assert_ok(firn_sim_save(sim, put, &saved, &error));
    assert_ok(firn_sim_advance(sim, 0.6 * wobble_frame, NULL, &error));
    wobble_on(sim, &f, 3);
    assert_ok(firn_sim_advance(sim, wobble_frame, NULL, &error));
    for (int before = 0; before < 2; before++) {
        firn_sim *again = world_create(&w);
        if (before) wobble_on(again, &f, 2);
        saved.at = 0;
        assert_ok(firn_sim_load(again, take, &saved, &error));
        if (!before) wobble_on(again, &f, 2);
        assert_ok(firn_sim_advance(again, 0.6 * wobble_frame, NULL, &error));
        wobble_on(again, &f, 3);
        assert_ok(firn_sim_advance(again, wobble_frame, NULL, &error));
        assert_same_hash(hash_of(again), hash_of(sim));
        firn_sim_destroy(again);
    }
    free(saved.data);
    firn_sim_destroy(sim);
    firn_mesh_destroy(mesh);
    facets_free(&f);
}

/* Memory that fails at any request leaves the collider as it was. */
typedef struct meter {
    int64_t left;
} meter;

static void *limited(void *user_data, void *block, size_t old_size, size_t new_size,
                     size_t alignment)
{
    meter *m = user_data;
    if (new_size > 0 && m->left-- == 0) return NULL;
    const firn_allocator own = firn_allocator_default();
    return own.reallocate(own.user_data, block, old_size, new_size, alignment);
}

static void failed_calls_change_nothing(void **state)
{
    (void)state;
    facets f = sphere_surface(0.1, 8), g = box_surface(0.1, 0.1, 0.1);
    firn_mesh *mesh = facets_mesh(&f, 0), *other = facets_mesh(&g, 0);
    double *to = malloc((size_t)f.vertices * 24), *on = malloc((size_t)f.vertices * 24);
    wobble(&f, 1, to);
    wobble(&f, 2, on);
    meter m = {INT64_MAX};
    world w = wobbling_world(mesh, FIRN_PATH_AUTO, 1);
    w.def.allocator = (firn_allocator){limited, &m};
    firn_sim *sim = world_create(&w);
    firn_error refusal = {0};
    const firn_mesh_motion first = {NULL, to, 0, 1}, second = {NULL, on, 1, 2};
    assert_ok(firn_sim_deform_collider(sim, 0, &first, &error));
    const firn_posed_collider before = posed_in(sim, 0.3);
    const double p[3] = {0.05, 0.11, 0.02};
    double n[3];
    const double d = firn_collider_distance(&before, 3, p, n);
    int failures[2] = {0};
    for (int call = 0; call < 2; call++) {
        for (int64_t k = 0; k < 100; k++) {
            m.left = k;
            const firn_status st = call ? firn_sim_set_mesh(sim, 0, other, &refusal)
                                        : firn_sim_deform_collider(sim, 0, &second, &refusal);
            m.left = INT64_MAX;
            if (st == FIRN_OK) break;
            assert_int_equal(st, FIRN_NO_MEMORY);
            failures[call]++;
            if (call) continue;
            const firn_posed_collider after = posed_in(sim, 0.3);
            assert_true(firn_collider_distance(&after, 3, p, n) == d);
        }
    }
    assert_true(failures[0] >= 5 && failures[1] >= 2);
    const firn_posed_collider after = posed_in(sim, 1.5);
    assert_close(firn_collider_distance(&after, 3, (double[3]){0.12, 0.02, 0}, n), 0.02, 1e-6);
    double bad[24];
    memcpy(bad, g.vertex, sizeof bad);
    bad[5] = NAN;
    const firn_mesh_motion wrong = {NULL, bad, 0, 1}, late = {NULL, g.vertex, 1, 1};
    assert_int_equal(firn_sim_deform_collider(sim, 0, &wrong, &refusal), FIRN_INVALID);
    assert_int_equal(firn_sim_deform_collider(sim, 0, &late, &refusal), FIRN_INVALID);
    assert_int_equal(firn_sim_deform_collider(sim, 0, NULL, &refusal), FIRN_INVALID);
    assert_int_equal(firn_sim_set_mesh(sim, 1, mesh, &refusal), FIRN_INVALID);
    assert_int_equal(firn_sim_set_mesh(sim, -1, mesh, &refusal), FIRN_INVALID);
    assert_int_equal(firn_sim_set_mesh(sim, 1000000, mesh, &refusal), FIRN_INVALID);
    assert_int_equal(firn_sim_set_mesh(sim, 0, NULL, &refusal), FIRN_OK); /* nowhere */
    const firn_posed_collider gone = posed_in(sim, 1.5);
    assert_true(isinf(firn_collider_distance(&gone, 3, (double[3]){0.12, 0.02, 0}, n)));
    assert_int_equal(firn_sim_deform_collider(sim, 0, &second, &refusal), FIRN_INVALID);
    firn_sim_destroy(sim);
    /* Voxels so fine that no memory holds them are refused. */
    w.def.allocator = (firn_allocator){0};
    w.collider[0].voxel = 1e-7;
    assert_int_equal(firn_sim_create(&w.def, &sim, &refusal), FIRN_NO_MEMORY);
    assert_non_null(strstr(refusal.message, "larger voxel"));
    free(to);
    free(on);
    firn_mesh_destroy(mesh);
    firn_mesh_destroy(other);
    facets_free(&f);
    facets_free(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_tree_tells_distances_of_shapes),
        cmocka_unit_test(a_level_set_tells_distances_of_shapes),
        cmocka_unit_test(level_sets_are_the_same_bytes_on_any_threads),
        cmocka_unit_test(a_sheet_is_solid_through_its_thickness),
        cmocka_unit_test(an_open_mesh_needs_a_thickness),
        cmocka_unit_test(a_mesh_box_is_a_box),
        cmocka_unit_test(a_rigid_deformation_is_a_motion),
        cmocka_unit_test(a_growing_sphere_is_where_it_should_be),
        cmocka_unit_test(a_thin_sheet_does_not_fade_on_its_way),
        cmocka_unit_test(a_fast_mesh_does_not_tunnel),
        cmocka_unit_test(a_plough_takes_snow_along),
        cmocka_unit_test(a_thin_sheet_holds_water),
        cmocka_unit_test(what_is_held_follows_until_it_is_let_go),
        cmocka_unit_test(a_mask_is_the_solid_of_its_cells),
        cmocka_unit_test(a_deforming_mesh_gives_the_same_bytes_on_any_threads),
        cmocka_unit_test(a_state_within_a_motion_goes_on_with_the_same_bytes),
        cmocka_unit_test(failed_calls_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
