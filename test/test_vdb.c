/* Volumes: OpenVDB's own files read as they were made, what we write reads back the same, particles
 * become volumes without losing mass, and broken files are refused without harm.
 *
 * The samples in test/data/vdb are OpenVDB's, from a cube of edge 1 m and from a cloud of balls. */
#include "program.h"

#include <zlib.h>

#include <firn/volume.h>

#include "io/volume.h"

static const char *sample(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/vdb/%s", FIRN_TEST_DATA, name);
    return path;
}

static const char *note_of(const firn_volume *v, const char *name)
{
    for (int64_t i = 0; i < v->note_count; i++) {
        if (strcmp(v->note[i].name, name) == 0) return v->note[i].text;
    }
    fail_msg("no note %s", name);
    return "";
}

static firn_volumes read_volumes(const char *path)
{
    firn_volumes volumes;
    assert_ok(firn_volumes_read(path, &volumes, &error));
    return volumes;
}

static bool is_active(const firn_volume_block *block, int i)
{
    return block->active[i / 64] >> (i % 64) & 1;
}

static void voxel_at(const firn_volume_block *block, int i, int32_t voxel[3])
{
    const int at[3] = {i / 64, i / 8 % 8, i % 8};
    for (int a = 0; a < 3; a++) voxel[a] = block->origin[a] + at[a];
}

/* ---- files of others ---- */

static double box_distance(const double p[3], double half)
{
    double outside = 0, inside = -INFINITY;
    for (int a = 0; a < 3; a++) {
        const double d = fabs(p[a]) - half;
        outside += d > 0 ? d * d : 0;
        inside = fmax(inside, d);
    }
    return inside > 0 ? sqrt(outside) : inside;
}

static void a_cube_has_the_distances_of_a_cube(void **state)
{
    (void)state;
    firn_volumes volumes = read_volumes(sample("cube_sdf.vdb"));
    firn_error error = {0};
    const firn_volume *v = firn_volumes_find_level_set(&volumes, &error);
    assert_non_null(v);
    assert_string_equal(v->name, "surface");
    assert_close(v->voxel, 0.05, 1e-8);
    assert_close((double)v->background[0], 0.15, 1e-7);
    int64_t active = 0;
    for (int64_t i = 0; i < v->block_count * FIRN_BLOCK_VOXELS; i++) {
        const firn_volume_block *block = &v->block[i / FIRN_BLOCK_VOXELS];
        if (!is_active(block, (int)(i % FIRN_BLOCK_VOXELS))) continue;
        int32_t voxel[3];
        voxel_at(block, (int)(i % FIRN_BLOCK_VOXELS), voxel);
        const double p[3] = {voxel[0] * v->voxel, voxel[1] * v->voxel, voxel[2] * v->voxel};
        assert_close((double)v->value[i], box_distance(p, 0.5), 1e-6);
        active++;
    }
    assert_int_equal(active, 11966); /* as the file says */
    float value;
    assert_false(firn_volume_get(v, (int32_t[3]){0, 0, 0}, &value)); /* deep inside */
    assert_close((double)value, -0.15, 1e-7);
    assert_false(firn_volume_get(v, (int32_t[3]){200, 0, 0}, &value));
    assert_close((double)value, 0.15, 1e-7);
    firn_volumes_free(&volumes);
}

static void bounds_and_counts_are_those_that_files_state(void **state)
{
    (void)state;
    static const char *const names[] = {"cube_sdf.vdb", "particles_sdf.vdb"};
    for (int i = 0; i < 2; i++) {
        firn_volumes volumes = read_volumes(sample(names[i]));
        assert_int_equal(volumes.count, 1);
        const firn_volume *v = &volumes.volume[0];
        const firn_volume_info info = firn_volume_get_info(v);
        char text[64];
        snprintf(text, sizeof text, "%lld", (long long)info.active);
        assert_string_equal(note_of(v, "file_voxel_count"), text);
        snprintf(text, sizeof text, "%d %d %d", info.low[0], info.low[1], info.low[2]);
        assert_string_equal(note_of(v, "file_bbox_min"), text);
        snprintf(text, sizeof text, "%d %d %d", info.high[0], info.high[1], info.high[2]);
        assert_string_equal(note_of(v, "file_bbox_max"), text);
        assert_int_equal(v->kind, FIRN_VOLUME_LEVEL_SET);
        firn_volumes_free(&volumes);
    }
}

/* ---- there and back ---- */

/* Adds an empty block. */
static firn_volume_block *add_block(firn_volume *v, int32_t x, int32_t y, int32_t z)
{
    assert_true(firn_grow(&v->block, v->block_count, sizeof *v->block));
    v->value = realloc(v->value, (size_t)(v->block_count + 1) * FIRN_BLOCK_VOXELS *
                                     (size_t)v->components * sizeof *v->value);
    assert_non_null(v->value);
    firn_volume_block *block = &v->block[v->block_count++];
    *block = (firn_volume_block){.origin = {x, y, z}};
    return block;
}

static void add_tile(firn_volume *v, firn_volume_tile tile)
{
    assert_true(firn_grow(&v->tile, v->tile_count, sizeof *v->tile));
    v->tile[v->tile_count++] = tile;
}

/* The distance from a ball of 20 voxels around (3, -5, 40), in a narrow band; tiles inside. */
static void add_ball(firn_volumes *volumes)
{
    firn_error error = {0};
    firn_volume *v = firn_volumes_add(volumes, "surface", 1, 0.1, &error);
    assert_non_null(v);
    v->kind = FIRN_VOLUME_LEVEL_SET;
    v->background[0] = 0.3f;
    for (int a = 0; a < 3; a++) v->origin[a] = 0.25 * (a + 1);
    /* From the highest block down: the order does not matter. */
    for (int32_t x = 32; x >= -32; x -= 8) {
        for (int32_t y = 32; y >= -40; y -= 8) {
            for (int32_t z = 72; z >= 8; z -= 8) {
                const double centre =
                    sqrt((x + 0.5) * (x + 0.5) + (y + 8.5) * (y + 8.5) + (z - 36.5) * (z - 36.5));
                if (fabs(centre - 20) > 11) {
                    if (centre < 20) {
                        add_tile(v, (firn_volume_tile){{x, y, z}, 8, {-0.3f}, false});
                    }
                    continue;
                }
                firn_volume_block *block = add_block(v, x, y, z);
                float *value = v->value + (v->block_count - 1) * FIRN_BLOCK_VOXELS;
                for (int i = 0; i < FIRN_BLOCK_VOXELS; i++) {
                    int32_t p[3];
                    voxel_at(block, i, p);
                    const double d =
                        0.1 * (sqrt((p[0] - 3.0) * (p[0] - 3) + (p[1] + 5.0) * (p[1] + 5) +
                                    (p[2] - 40.0) * (p[2] - 40)) -
                               20);
                    value[i] = (float)fmin(fmax(d, -0.3), 0.3);
                    if (fabs(d) < 0.3) block->active[i / 64] |= (uint64_t)1 << (i % 64);
                }
            }
        }
    }
    add_tile(v, (firn_volume_tile){{-4096, 0, 8192}, 4096, {0.2f}, true});
    add_tile(v, (firn_volume_tile){{128, -128, 0}, 128, {-0.1f}, true});
}

/* Vectors of noise in blocks far apart, on axes that are turned. */
static void add_vectors(firn_volumes *volumes)
{
    firn_error error = {0};
    firn_volume *v = firn_volumes_add(volumes, "vel", 3, 0.5, &error);
    assert_non_null(v);
    v->kind = FIRN_VOLUME_STAGGERED;
    const double turned[3][3] = {{0.3, 0.4, 0}, {-0.4, 0.3, 0}, {0, 0, 0.5}};
    memcpy(v->axis, turned, sizeof turned);
    v->background[1] = 0.5f;
    for (int32_t b = 0; b < 5; b++) {
        firn_volume_block *block = add_block(v, 8 * b, -5000 * 8 * b, 1000000 * 8 * (b % 2));
        float *value = v->value + 3 * (v->block_count - 1) * FIRN_BLOCK_VOXELS;
        for (int i = 0; i < 3 * FIRN_BLOCK_VOXELS; i++) {
            value[i] = (float)sin(12.9898 * (i + 1) * (b + 1));
            if (i % 7 == 0) block->active[i / 3 / 64] |= (uint64_t)1 << (i / 3 % 64);
        }
    }
}

/* Fog, all of it; a note of its own. */
static void add_fog(firn_volumes *volumes)
{
    firn_error error = {0};
    firn_volume *v = firn_volumes_add(volumes, "density", 1, 0.02, &error);
    assert_non_null(v);
    v->kind = FIRN_VOLUME_FOG;
    firn_volume_block *block = add_block(v, -8, 0, 0);
    memset(block->active, 0xff, sizeof block->active);
    for (int i = 0; i < FIRN_BLOCK_VOXELS; i++) v->value[i] = (float)i / 8;
    assert_true(firn_grow(&v->note, v->note_count, sizeof *v->note));
    v->note[v->note_count++] = (firn_volume_note){"shot", "snow 7"};
}

static firn_volumes make_volumes(void)
{
    firn_volumes volumes = {0};
    add_ball(&volumes);
    add_vectors(&volumes);
    add_fog(&volumes);
    return volumes;
}

static const char *path_of(const char *name)
{
    static char path[PATH_SIZE];
    return in_folder(top, name, path);
}

/* Every voxel of a block or tile of `want`, and one beside it, is the same in `got`. */
static void assert_same_voxels(const firn_volume *got, const firn_volume *want, double tolerance)
{
    for (int64_t b = 0; b < want->block_count; b++) {
        for (int i = 0; i < FIRN_BLOCK_VOXELS; i++) {
            int32_t voxel[3];
            float value[3];
            voxel_at(&want->block[b], i, voxel);
            const bool active = firn_volume_get(got, voxel, value);
            assert_int_equal(active, is_active(&want->block[b], i));
            for (int k = 0; k < want->components; k++) {
                const float *there = want->value + (b * FIRN_BLOCK_VOXELS + i) * want->components;
                assert_close((double)value[k], (double)there[k], tolerance);
            }
        }
    }
    for (int64_t t = 0; t < want->tile_count; t++) {
        const firn_volume_tile *tile = &want->tile[t];
        for (int corner = 0; corner < 8; corner++) {
            int32_t voxel[3];
            float value[3];
            for (int a = 0; a < 3; a++) {
                voxel[a] = tile->origin[a] + (corner >> a & 1) * (tile->edge - 1);
            }
            assert_int_equal(firn_volume_get(got, voxel, value), tile->active);
            assert_close((double)value[0], (double)tile->value[0], tolerance);
        }
    }
    float value[3];
    assert_false(firn_volume_get(got, (int32_t[3]){-999999, 77, 12345}, value));
    for (int k = 0; k < want->components; k++) {
        assert_close((double)value[k], (double)want->background[k], tolerance);
    }
}

static void volumes_read_back_as_they_were_written(void **state)
{
    (void)state;
    firn_volumes want = make_volumes();
    for (int half = 0; half < 2; half++) {
        firn_write_options options = firn_write_options_default();
        options.half = half;
        assert_ok(firn_volumes_write(path_of("trip.vdb"), &want, &options, &error));
        firn_volumes got = read_volumes(path_of("trip.vdb"));
        assert_int_equal(got.count, want.count);
        assert_string_equal(got.note[0].name, "creator");
        for (int32_t i = 0; i < want.count; i++) {
            const firn_volume *a = &got.volume[i], *b = &want.volume[i];
            assert_string_equal(a->name, b->name);
            assert_string_equal(a->type, b->components == 1 ? "float" : "vec3s");
            assert_int_equal(a->kind, b->kind);
            assert_int_equal(a->components, b->components);
            assert_close(a->voxel, b->voxel, 1e-12);
            for (int k = 0; k < 3; k++) {
                assert_close(a->origin[k], b->origin[k], 0);
                for (int m = 0; m < 3; m++) assert_close(a->axis[k][m], b->axis[k][m], 0);
            }
            const firn_volume_info one = firn_volume_get_info(a), other = firn_volume_get_info(b);
            assert_memory_equal(&one, &other, sizeof one);
            assert_same_voxels(a, b, half ? 2e-2 : 0); /* 64 has halves 1/32 apart */
        }
        assert_string_equal(note_of(&got.volume[2], "shot"), "snow 7");
        assert_ptr_equal(firn_volumes_find_velocity(&got), &got.volume[1]);
        firn_volumes_free(&got);
    }
    firn_volumes_free(&want);
}

static firn_bytes bytes_of(const char *path)
{
    firn_bytes bytes;
    assert_ok(firn_bytes_read(path, &bytes, &error));
    return bytes;
}

static void assert_same_file(const char *one, const char *other)
{
    char path[PATH_SIZE];
    firn_bytes a = bytes_of(in_folder(top, one, path)), b = bytes_of(in_folder(top, other, path));
    assert_int_equal(a.size, b.size);
    assert_memory_equal(a.data, b.data, a.size);
    firn_bytes_free(&a);
    firn_bytes_free(&b);
}

static void what_was_read_is_written_as_the_same_bytes(void **state)
{
    (void)state;
    firn_volumes volumes = make_volumes();
    firn_write_options options = firn_write_options_default();
    assert_ok(firn_volumes_write(path_of("first.vdb"), &volumes, &options, &error));
    firn_volumes again = read_volumes(path_of("first.vdb"));
    options.threads = 3;
    assert_ok(firn_volumes_write(path_of("second.vdb"), &again, &options, &error));
    assert_same_file("first.vdb", "second.vdb");
    firn_volumes_free(&again);
    firn_volumes_free(&volumes);
}

static void volumes_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    const firn_write_options options = firn_write_options_default();
    for (int i = 0; i < 5; i++) {
        firn_volumes volumes = make_volumes();
        firn_volume *v = &volumes.volume[0];
        if (i == 0) v->block[3].origin[1] = 4;
        if (i == 1) memcpy(v->block[3].origin, v->block[4].origin, sizeof v->block[3].origin);
        if (i == 2) v->components = 2;
        if (i == 3) memcpy(v->name, "vel", 4);
        if (i == 4) v->origin[2] = NAN;
        firn_error error = {0};
        assert_int_equal(firn_volumes_write(path_of("no.vdb"), &volumes, &options, &error),
                         FIRN_INVALID);
        assert_true(error.message[0] != 0);
        assert_int_equal(access(path_of("no.vdb"), F_OK), -1);
        v->components = 1;
        firn_volumes_free(&volumes);
    }
}

/* ---- particles ---- */

enum { COUNT = 5000 };

/* A cloud, partly dense, with v and temperature, and attributes that are no volume. */
static firn_points make_points(void)
{
    firn_points points = {.count = COUNT};
    firn_error error = {0};
    random_state = 7;
    float *P = firn_points_add(&points, "P", FIRN_TYPE_f32, 3, &error)->data;
    double *mass = firn_points_add(&points, "mass", FIRN_TYPE_f64, 1, &error)->data;
    float *v = firn_points_add(&points, "v", FIRN_TYPE_f32, 3, &error)->data;
    float *heat = firn_points_add(&points, "temperature", FIRN_TYPE_f32, 1, &error)->data;
    assert_non_null(firn_points_add(&points, "id", FIRN_TYPE_i64, 1, &error));
    assert_non_null(firn_points_add(&points, "F", FIRN_TYPE_f32, 9, &error));
    for (int i = 0; i < COUNT; i++) {
        for (int a = 0; a < 3; a++) {
            P[3 * i + a] = (float)(i % 2 ? uniform(-0.1, 0.1) : uniform(-1, 1));
            v[3 * i + a] = (float)uniform(-0.3, 0.7);
        }
        mass[i] = uniform(0.1, 1.1);
        heat[i] = (float)uniform(200, 300);
    }
    return points;
}

static const firn_volume *find_volume(const firn_volumes *volumes, const char *name)
{
    for (int32_t i = 0; i < volumes->count; i++) {
        if (strcmp(volumes->volume[i].name, name) == 0) return &volumes->volume[i];
    }
    fail_msg("no volume %s", name);
    return NULL;
}

static void mass_momentum_and_heat_are_those_of_the_particles(void **state)
{
    (void)state;
    firn_points points = make_points();
    firn_volumes volumes;
    assert_ok(firn_volumes_splat(&points, 0.03, 2, &volumes, &error));
    assert_int_equal(volumes.count, 3);
    const firn_volume *density = find_volume(&volumes, "density"),
                      *velocity = find_volume(&volumes, "v"),
                      *temperature = find_volume(&volumes, "temperature");
    const float *v = firn_points_find(&points, "v")->data,
                *heat = firn_points_find(&points, "temperature")->data;
    const double *mass = firn_points_find(&points, "mass")->data;
    double want[5] = {0}, got[5] = {0};
    for (int i = 0; i < COUNT; i++) {
        want[0] += mass[i];
        for (int a = 0; a < 3; a++) want[1 + a] += mass[i] * (double)v[3 * i + a];
        want[4] += mass[i] * (double)heat[i];
    }
    for (int64_t i = 0; i < density->block_count * FIRN_BLOCK_VOXELS; i++) {
        const double here = (double)density->value[i] * 0.03 * 0.03 * 0.03;
        got[0] += here;
        for (int a = 0; a < 3; a++) got[1 + a] += here * (double)velocity->value[3 * i + a];
        got[4] += here * (double)temperature->value[i];
    }
    for (int k = 0; k < 5; k++) assert_close(got[k], want[k], 1e-6 * want[0] * (k == 4 ? 300 : 1));
    firn_volumes_free(&volumes);
    firn_points_free(&points);
}

static double spline(double x)
{
    x = fabs(x);
    return x < 0.5 ? 0.75 - x * x : x < 1.5 ? 0.5 * (1.5 - x) * (1.5 - x) : 0;
}

/* Voxels here and there, each summed over all particles. */
static void voxels_are_sums_over_all_particles(void **state)
{
    (void)state;
    firn_points points = make_points();
    firn_volumes volumes;
    assert_ok(firn_volumes_splat(&points, 0.1, 1, &volumes, &error));
    const firn_volume *density = find_volume(&volumes, "density"),
                      *velocity = find_volume(&volumes, "v");
    const float *P = firn_points_find(&points, "P")->data,
                *v = firn_points_find(&points, "v")->data;
    const double *mass = firn_points_find(&points, "mass")->data;
    int filled = 0;
    for (int32_t n = 0; n < 500; n++) {
        const int32_t voxel[3] = {n * 7 % 25 - 12, n * 11 % 25 - 12, n * 13 % 25 - 12};
        double sum = 0, along = 0;
        for (int i = 0; i < COUNT; i++) {
            double share = mass[i];
            for (int a = 0; a < 3; a++) share *= spline((double)P[3 * i + a] / 0.1 - voxel[a]);
            sum += share;
            along += share * (double)v[3 * i + 1];
        }
        float rho, u[3];
        const bool active = firn_volume_get(density, voxel, &rho);
        firn_volume_get(velocity, voxel, u);
        assert_int_equal(active, sum > 0);
        assert_close((double)rho, sum / 1e-3, 1e-6 * sum / 1e-3);
        assert_close((double)u[1], sum > 0 ? along / sum : 0, 1e-6);
        filled += active;
    }
    assert_true(filled > 100 && filled < 500);
    firn_volumes_free(&volumes);
    firn_points_free(&points);
}

static void files_do_not_depend_on_threads(void **state)
{
    (void)state;
    firn_points points = make_points();
    firn_write_options options = firn_write_options_default();
    options.voxel = 0.03;
    options.threads = 1;
    assert_ok(firn_points_write(path_of("one.vdb"), &points, &options, &error));
    options.threads = 3;
    assert_ok(firn_points_write(path_of("three.vdb"), &points, &options, &error));
    assert_same_file("one.vdb", "three.vdb");
    firn_points_free(&points);
}

static void particles_that_cannot_be_a_volume_are_refused(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++) {
        firn_points points = make_points();
        if (i == 0) memcpy(firn_points_find(&points, "mass")->name, "mess", 5);
        if (i == 1) ((float *)firn_points_find(&points, "P")->data)[77] = NAN;
        if (i == 2) ((float *)firn_points_find(&points, "P")->data)[77] = 1e9f;
        if (i == 3) ((double *)firn_points_find(&points, "mass")->data)[77] = -1;
        firn_volumes volumes;
        firn_error error = {0};
        assert_int_equal(firn_volumes_splat(&points, i == 4 ? 0 : 0.1, 1, &volumes, &error),
                         FIRN_INVALID);
        assert_true(error.message[0] != 0);
        firn_points_free(&points);
    }
    firn_volumes none;
    const firn_column columns[] = {{.name = "P", .type = FIRN_TYPE_f32, .components = 3},
                                   {.name = "mass", .type = FIRN_TYPE_f32, .components = 1}};
    const firn_points empty = {.column_count = 2, .column = (firn_column *)columns};
    assert_ok(firn_volumes_splat(&empty, 0.1, 1, &none, &error));
    assert_int_equal(none.volume[0].block_count, 0);
    firn_volumes_free(&none);
}

/* ---- damage ---- */

static firn_status parse_copy(const uint8_t *data, size_t size, firn_error *error)
{
    firn_bytes copy = {malloc(size + (size == 0)), size}; /* reading past its end shows */
    assert_non_null(copy.data);
    if (size) memcpy(copy.data, data, size);
    firn_volumes volumes;
    const firn_status st = firn_volumes_parse("copy", &copy, &volumes, error);
    for (int32_t i = 0; i < volumes.count; i++) (void)firn_volume_get_info(&volumes.volume[i]);
    firn_volumes_free(&volumes);
    free(copy.data);
    return st;
}

/* Where some bytes are. */
static size_t find_bytes(const firn_bytes *in, const void *what, size_t size)
{
    for (size_t i = 0; i + size <= in->size; i++) {
        if (memcmp(in->data + i, what, size) == 0) return i;
    }
    fail_msg("not there");
    return 0;
}

static void files_that_are_cut_short_are_refused(void **state)
{
    (void)state;
    firn_volumes volumes = {0};
    add_fog(&volumes);
    const firn_write_options options = firn_write_options_default();
    assert_ok(firn_volumes_write(path_of("fog.vdb"), &volumes, &options, &error));
    firn_volumes_free(&volumes);
    firn_bytes whole = bytes_of(path_of("fog.vdb")), cube = bytes_of(sample("cube_sdf.vdb"));
    firn_error error = {0};
    for (size_t n = 0; n < whole.size; n += n < 500 || n > whole.size - 100 ? 1 : 61) {
        assert_int_equal(parse_copy(whole.data, n, &error), FIRN_INVALID);
    }
    for (size_t n = 0; n < cube.size; n += 997) {
        assert_int_equal(parse_copy(cube.data, n, &error), FIRN_INVALID);
    }
    assert_int_equal(parse_copy(whole.data, whole.size, &error), FIRN_OK);
    firn_bytes_free(&whole);
    firn_bytes_free(&cube);
}

static void changed_bytes_do_no_harm(void **state)
{
    (void)state;
    random_state = 11;
    static const char *const names[] = {"fog.vdb", "one.vdb", "trip.vdb", NULL};
    for (int f = 0; f < 4; f++) {
        firn_bytes in = bytes_of(names[f] ? path_of(names[f]) : sample("cube_sdf.vdb"));
        for (int i = 0; i < 100; i++) {
            uint8_t old[8];
            const size_t most = i % 2 && in.size > 4000 ? 1000 : in.size - 8; /* or near the head */
            const size_t at = (size_t)uniform(0, (double)(most - 1));
            const uint64_t other = i % 3   ? (uint64_t)uniform(0, 1e18)
                                   : i % 2 ? UINT64_MAX
                                           : INT32_MAX;
            memcpy(old, in.data + at, sizeof old);
            memcpy(in.data + at, &other, (size_t)1 << i % 4);
            firn_error error = {0};
            if (parse_copy(in.data, in.size, &error) != FIRN_OK) assert_true(error.message[0] != 0);
            memcpy(in.data + at, old, sizeof old);
        }
        firn_bytes_free(&in);
    }
}

/* A length of unpacked values that is not theirs: OpenVDB before 11 wrote past its buffer. */
static void a_forged_length_of_values_is_refused(void **state)
{
    (void)state;
    firn_bytes in = bytes_of(sample("cube_sdf.vdb"));
    int64_t place[2];
    const size_t at = find_bytes(&in, "_5_4_3", 6) + 6 + 4;
    memcpy(place, in.data + at, sizeof place); /* the grid, its values */
    uint8_t *packed = in.data + place[1] + 64 + 1;
    const int64_t forged = -4096;
    /* The first block has a mask of inactive signs or none. */
    memcpy(packed + (packed[-1] == 3 ? 64 : 0), &forged, sizeof forged);
    firn_error error = {0};
    assert_int_equal(parse_copy(in.data, in.size, &error), FIRN_INVALID);
    assert_non_null(strstr(error.message, "another length"));
    firn_bytes_free(&in);
}

/* The fog's file with its values as another build of OpenVDB stores them: by zlib, or plain. */
static void values_may_be_packed_by_zlib_or_not_at_all(void **state)
{
    (void)state;
    firn_bytes in = bytes_of(path_of("fog.vdb"));
    int64_t place[3];
    memcpy(place, in.data + find_bytes(&in, "_5_4_3", 6) + 6 + 4, sizeof place);
    float value[FIRN_BLOCK_VOXELS];
    for (int i = 0; i < FIRN_BLOCK_VOXELS; i++) value[i] = (float)i / 8;
    for (int zip = 0; zip < 2; zip++) {
        firn_bytes out = {calloc(in.size + 4096, 1), 0};
        assert_non_null(out.data);
        memcpy(out.data, in.data, in.size);
        out.data[place[0]] = zip ? 3 : 2;
        out.size = (size_t)place[1] + 64 + 1;
        if (zip) {
            uLongf size = 4096;
            assert_int_equal(compress(out.data + out.size + 8, &size, (void *)value, sizeof value),
                             Z_OK);
            memcpy(out.data + out.size, &size, 8);
            out.size += 8 + size;
        } else {
            /* Two nodes have the length of no values. */
            for (int node = 0; node < 2; node++) {
                const size_t end = (size_t)place[1] - 64 - (node ? 1 + 1024 : 0);
                memmove(out.data + end - 8, out.data + end, out.size - end);
                out.size -= 8;
            }
            memcpy(out.data + out.size, value, sizeof value);
            out.size += sizeof value;
        }
        firn_volumes got, want = {0};
        add_fog(&want);
        assert_ok(firn_volumes_parse("packed", &out, &got, &error));
        assert_same_voxels(&got.volume[0], &want.volume[0], 0);
        firn_volumes_free(&got);
        firn_volumes_free(&want);
        free(out.data);
    }
    firn_bytes_free(&in);
}

static void old_and_other_files_are_refused_in_words(void **state)
{
    (void)state;
    firn_bytes in = bytes_of(sample("cube_sdf.vdb"));
    firn_error error = {0};
    in.data[8] = 221;
    assert_int_equal(parse_copy(in.data, in.size, &error), FIRN_INVALID);
    assert_non_null(strstr(error.message, "version 221"));
    in.data[8] = 224;
    /* A type that is not read is listed, as the descriptor says where it ends. */
    memcpy(in.data + find_bytes(&in, "float", 5), "int32", 5);
    firn_volumes volumes;
    assert_int_equal(firn_volumes_parse("other", &in, &volumes, &error), FIRN_OK);
    assert_string_equal(volumes.volume[0].type, "int32");
    assert_int_equal(volumes.volume[0].components, 0);
    assert_null(firn_volumes_find_level_set(&volumes, &error));
    firn_volumes_free(&volumes);
    in.data[20] = 0; /* a stream, whose grids do not */
    assert_int_equal(parse_copy(in.data, in.size, &error), FIRN_INVALID);
    in.data[0] = 'x';
    assert_int_equal(parse_copy(in.data, in.size, &error), FIRN_INVALID);
    firn_bytes_free(&in);
}

/* ---- the program ---- */

static const char scene[] = "firn: 1\nname: melt\nframes: {end: 3}\nresolution: 0.05\nheat: {}\n"
                            "materials:\n"
                            "  wax: {law: melting, young: 1e5, density: 900, melting_point: 40C, "
                            "latent_heat: 2e4, yield: 3000, viscosity: 2}\n"
                            "objects:\n"
                            "  - {name: ball, shape: {sphere: {center: [0, 1, 0], radius: 0.3}}, "
                            "temperature: 30C}\n"
                            "output:\n"
                            "  - {file: melt.$F4.vdb, attributes: [density, v, temperature]}\n"
                            "  - {file: melt.$F4.prt}\n"
                            "checkpoint: {every: 0}\n";

static void a_run_writes_volumes_of_its_particles(void **state)
{
    (void)state;
    char one[PATH_SIZE], three[PATH_SIZE], path[PATH_SIZE];
    fresh_folder("t1", one);
    fresh_folder("t3", three);
    assert_ok(firn_bytes_write(in_folder(top, "melt.yaml", path), scene, strlen(scene), &error));
    expect_exit(run(one, WORDS("run", "../melt.yaml", "--threads", "1", "--quiet")), 0, "1 thread");
    expect_exit(run(three, WORDS("run", "../melt.yaml", "--threads", "3", "--quiet")), 0, "3");
    assert_no_complaints();
    assert_same_file("t1/melt.0003.vdb", "t3/melt.0003.vdb");
    firn_points points;
    assert_ok(firn_points_read(in_folder(one, "melt.0003.prt", path), &points, &error));
    firn_volumes volumes = read_volumes(in_folder(one, "melt.0003.vdb", path));
    assert_int_equal(volumes.count, 3);
    const firn_volume *density = find_volume(&volumes, "density");
    assert_close(density->voxel, 0.1, 1e-9); /* the cells': eight particles each */
    const firn_column *mass = firn_points_find(&points, "mass");
    double want = 0, got = 0;
    for (int64_t i = 0; i < points.count; i++) want += firn_type_get(mass->type, mass->data, i);
    for (int64_t i = 0; i < density->block_count * FIRN_BLOCK_VOXELS; i++) {
        got += 1e-3 * (double)density->value[i];
    }
    assert_close(got, want, 1e-5 * want);
    assert_int_equal(find_volume(&volumes, "v")->components, 3);
    assert_int_equal(find_volume(&volumes, "temperature")->components, 1);
    firn_volumes_free(&volumes);
    firn_points_free(&points);
    /* The same of a particle file, and what the program says about it. */
    expect_exit(run(one, WORDS("convert", "melt.0003.prt", "again.vdb", "--voxel", "0.1",
                               "--attributes", "v,temperature")),
                0, "convert");
    assert_same_file("t1/melt.0003.vdb", "t1/again.vdb");
    const outcome *o = run(one, WORDS("info", "again.vdb"));
    expect_exit(o, 0, "info");
    assert_non_null(strstr(o->out, "3 volumes"));
    assert_non_null(strstr(o->out, "fog volume, voxels of 0.1 m"));
    o = run(one, WORDS("info", "--json", "again.vdb"));
    assert_non_null(strstr(o->out, "\"name\": \"temperature\""));
    o = run(one, WORDS("convert", "melt.0003.prt", "no.vdb"));
    assert_int_equal(o->exit_code, 4);
    assert_non_null(strstr(o->err, "edge of its voxels"));
    assert_no_complaints();
}

int main(void)
{
    if (!make_top("vdb")) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cube_has_the_distances_of_a_cube),
        cmocka_unit_test(bounds_and_counts_are_those_that_files_state),
        cmocka_unit_test(volumes_read_back_as_they_were_written),
        cmocka_unit_test(what_was_read_is_written_as_the_same_bytes),
        cmocka_unit_test(volumes_that_make_no_sense_are_refused),
        cmocka_unit_test(mass_momentum_and_heat_are_those_of_the_particles),
        cmocka_unit_test(voxels_are_sums_over_all_particles),
        cmocka_unit_test(files_do_not_depend_on_threads),
        cmocka_unit_test(particles_that_cannot_be_a_volume_are_refused),
        cmocka_unit_test(files_that_are_cut_short_are_refused),
        cmocka_unit_test(changed_bytes_do_no_harm),
        cmocka_unit_test(a_forged_length_of_values_is_refused),
        cmocka_unit_test(values_may_be_packed_by_zlib_or_not_at_all),
        cmocka_unit_test(old_and_other_files_are_refused_in_words),
        cmocka_unit_test(a_run_writes_volumes_of_its_particles),
    };
    const int failed = cmocka_run_group_tests_name("vdb", tests, NULL, NULL);
    remove_all(top);
    return failed;
}
