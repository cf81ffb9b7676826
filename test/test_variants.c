/* Noise and shells: every particle has the parameters of the place it was filled at. */
#include <string.h>

#include "geometry/random.h"
#include "run/job.h"
#include "worlds.h"

typedef struct filled {
    firn_scene scene;
    firn_job job;
    int64_t count;
    double *position, *mass, *volume, *material;
} filled;

static double *read_field(const firn_job *job, firn_field field, int components)
{
    const int64_t count = firn_sim_count(job->sim);
    double *out = malloc((size_t)(count * components) * sizeof *out);
    assert_non_null(out);
    assert_ok(firn_sim_read(job->sim, field, 0, count, out, &error));
    return out;
}

static void fill_scene(filled *f, const char *text)
{
    *f = (filled){0};
    const firn_bytes bytes = {(uint8_t *)text, strlen(text)};
    const firn_job_options options = {.threads = 2};
    firn_tree tree = {0};
    assert_ok(firn_tree_parse(&tree, "text", &bytes, &error));
    assert_ok(firn_scene_read(&f->scene, &tree, &error));
    assert_ok(firn_job_init(&f->job, &f->scene, &options, &error));
    assert_ok(firn_job_fill(&f->job, &error));
    f->count = firn_sim_count(f->job.sim);
    f->position = read_field(&f->job, FIRN_POSITION, (int)f->scene.dimension);
    f->mass = read_field(&f->job, FIRN_MASS, 1);
    f->volume = read_field(&f->job, FIRN_VOLUME, 1);
    f->material = read_field(&f->job, FIRN_MATERIAL, 1);
}

static void free_scene(filled *f)
{
    free(f->position);
    free(f->mass);
    free(f->volume);
    free(f->material);
    firn_job_deinit(&f->job);
    firn_scene_free(&f->scene);
}

static const firn_material_def *def_of(const filled *f, int64_t i)
{
    return &f->job.variants.def[(int)f->material[i]];
}

/* ---- noise, written down plainly ---- */

/* Sum over the eight corners of a cell: weight times slope. Corners get their slopes from the hash as
 * the scene's do; the rest is the definition of gradient noise. */
static double plain_octave(const double p[3], uint64_t seed)
{
    double sum = 0;
    for (int corner = 0; corner < 8; corner++) {
        double weight = 1, way[3];
        int64_t at[3];
        for (int a = 0; a < 3; a++) {
            at[a] = (int64_t)floor(p[a]) + (corner >> a & 1);
            way[a] = p[a] - (double)at[a];
            const double t = 1 - fabs(way[a]);
            weight *= 6 * pow(t, 5) - 15 * pow(t, 4) + 10 * pow(t, 3);
        }
        static const int edges[12][3] = {{1, 1, 0}, {-1, 1, 0}, {1, -1, 0}, {-1, -1, 0},
                                         {0, 1, 1}, {0, -1, 1}, {0, 1, -1}, {0, -1, -1},
                                         {1, 0, 1}, {1, 0, -1}, {-1, 0, 1}, {-1, 0, -1}};
        const int *edge = edges[(firn_random_bits(seed, at[0], at[1], at[2], 0) >> 32) % 12];
        sum += weight * (edge[0] * way[0] + edge[1] * way[1] + edge[2] * way[2]);
    }
    return sum / 1.0364;
}

static double plain_noise(const double *x, int dim, double feature, int octaves, uint64_t seed)
{
    static const double shift[3] = {0.3127, 0.7351, 0.5689};
    double sum = 0, most = 0;
    for (int o = 0; o < octaves; o++) {
        double p[3];
        for (int a = 0; a < 3; a++) {
            p[a] = (a < dim ? x[a] : 0) * ldexp(1, o) / feature + shift[a];
        }
        sum += ldexp(plain_octave(p, firn_mix(seed + (uint64_t)o)), -o);
        most += ldexp(1, -o);
    }
    return sum / most;
}

/* ---- tests ---- */

static void parameters_are_those_of_the_place_within_a_step(void **state)
{
    (void)state;
    filled f;
    fill_scene(
        &f, "{firn: 1, resolution: 0.05, seed: 7, materials: {plain: {preset: jelly_hard}, one: "
            "{preset: snow, noise: [{parameter: young, amount: 0.6, feature: 0.2, octaves: 2}, "
            "{parameter: hardening, amount: 0.3, feature: 0.2, octaves: 2}, {parameter: density, "
            "amount: 0.4, feature: 0.1, octaves: 1, seed: 3}]}, three: {preset: clay, noise: "
            "[{parameter: young, amount: 0.5, feature: 0.3}, {parameter: yield, amount: 0.9, "
            "feature: 0.3, seed: 1}, {parameter: poisson, amount: 0.2, feature: 0.1}]}}, objects: "
            "[{material: plain, shape: {box: {center: [-2, 0, 0]}}}, {material: one, shape: {box: "
            "{}}}, {material: three, shape: {box: {center: [2, 0, 0]}}}]}");
    static const int steps[] = {1, 64, 8};
    const firn_material_def one = firn_material_def_preset(firn_preset_find("snow")),
                            three = firn_material_def_preset(firn_preset_find("clay"));
    double worst[4] = {0}, worst_mass = 0;
    for (int64_t i = 0; i < f.count; i++) {
        const double *x = f.position + 3 * i;
        const firn_material_def *def = def_of(&f, i);
        const int object = x[0] < -1 ? 0 : x[0] < 1 ? 1 : 2;
        assert_int_equal(f.job.variants.of[(int)f.material[i]], object);
        if (object == 0) {
            assert_int_equal((int)f.material[i], 0);
            continue;
        }
        if (object == 1) {
            const double noise = plain_noise(x, 3, 0.2, 2, 7);
            const double density = 400 * (1 + 0.4 * plain_noise(x, 3, 0.1, 1, 10));
            worst[0] = fmax(worst[0], fabs(def->young / one.young - 1 - 0.6 * noise) / 0.6);
            worst[0] = fmax(worst[0], fabs(def->hardening / one.hardening - 1 - 0.3 * noise) / 0.3);
            worst_mass = fmax(worst_mass, fabs(f.mass[i] / f.volume[i] / density - 1));
            assert_close(def->critical_stretch, one.critical_stretch, 0);
            continue;
        }
        const double noise[3] = {plain_noise(x, 3, 0.3, 3, 7), plain_noise(x, 3, 0.3, 3, 8),
                                 plain_noise(x, 3, 0.1, 3, 7)};
        worst[1] = fmax(worst[1], fabs(def->young / three.young - 1 - 0.5 * noise[0]) / 0.5);
        worst[2] = fmax(worst[2], fabs(def->yield / three.yield - 1 - 0.9 * noise[1]) / 0.9);
        worst[3] = fmax(worst[3], fabs(def->poisson / three.poisson - 1 - 0.2 * noise[2]) / 0.2);
    }
    for (int k = 0; k < 4; k++) {
        const double step = 1.0 / steps[k == 0 ? 1 : 2];
        assert_at_most(worst[k], step * (1 + 1e-4)); /* positions are kept in single precision */
        if (!(worst[k] > 0.9 * step)) complain("noise %d is off by %g only\n", k, worst[k]);
    }
    assert_at_most(worst_mass, 1e-4);
    free_scene(&f);
    assert_no_complaints();
}

/* A cube of 10 features a side: about 1000 independent values, so the mean is within 3 / sqrt(1000) of
 * the deviation. */
static void noise_keeps_the_mean_and_the_largest_change(void **state)
{
    (void)state;
    filled f;
    fill_scene(&f, "{firn: 1, resolution: 0.04, materials: {m: {preset: jelly_hard, noise: "
                   "[{parameter: young, amount: 0.5, feature: 0.1, octaves: 1}]}}, objects: "
                   "[{shape: {box: {}}}]}");
    double sum = 0, squares = 0, most = 0;
    for (int64_t i = 0; i < f.count; i++) {
        const double change = def_of(&f, i)->young / 1e5 - 1;
        sum += change;
        squares += change * change;
        most = fmax(most, fabs(change));
    }
    const double mean = sum / (double)f.count, deviation = sqrt(squares / (double)f.count);
    assert_at_most(fabs(mean), 3 * deviation / sqrt(1000));
    assert_at_most(most, 0.5);
    /* Slopes of length sqrt(2): about a quarter of the largest value, and up to most of it. */
    assert_close(deviation, 0.5 * 0.26, 0.5 * 0.05);
    assert_true(most > 0.5 * 0.6);
    free_scene(&f);
}

static void a_shell_is_as_thick_as_it_says(void **state)
{
    (void)state;
    filled f;
    fill_scene(&f, "{firn: 1, resolution: 0.03, materials: {m: {preset: snow}}, objects: [{shape: "
                   "{sphere: {center: [1, 2, 3], radius: 0.5}}, shell: {thickness: 0.1, young: 3, "
                   "hardening: 0.5, density: 1.5}}, {shape: {box: {center: [3, 2, 3], size: [1, "
                   "1, 1]}}, rotate: [0, 0, 0], shell: {thickness: 0.2, stiffness: 3, hardening: "
                   "0.5}}]}");
    const firn_material_def snow = firn_material_def_preset(firn_preset_find("snow"));
    double inside = 0, all = 0;
    for (int64_t i = 0; i < f.count; i++) {
        const double *x = f.position + 3 * i;
        const bool ball = x[0] < 2;
        double depth = 0.5;
        if (ball) {
            depth = 0.5 - sqrt((x[0] - 1) * (x[0] - 1) + (x[1] - 2) * (x[1] - 2) +
                               (x[2] - 3) * (x[2] - 3));
        } else {
            depth = fmin(depth, 0.5 - fabs(x[0] - 3));
            depth = fmin(depth, 0.5 - fabs(x[1] - 2));
            depth = fmin(depth, 0.5 - fabs(x[2] - 3));
        }
        const double thickness = ball ? 0.1 : 0.2;
        if (fabs(depth - thickness) < 1e-6) continue; /* single precision cannot tell */
        const bool in = depth < thickness;
        assert_close(def_of(&f, i)->young, (in ? 3 : 1) * snow.young, 1e-9 * snow.young);
        assert_close(def_of(&f, i)->hardening, (in ? 0.5 : 1) * snow.hardening, 1e-9);
        assert_close(f.mass[i] / f.volume[i], (in && ball ? 1.5 : 1) * snow.density, 0.01);
        if (ball) all += f.volume[i];
        if (ball && in) inside += f.volume[i];
    }
    assert_close(inside / all, 1 - 0.8 * 0.8 * 0.8, 0.01);
    /* Both shells are of one material. */
    assert_int_equal(f.job.variants.count, 2);
    free_scene(&f);
}

/* A cube turned by 30 degrees about z, as a mesh and as a scaled shape. */
static void shells_follow_meshes_and_what_is_moved(void **state)
{
    (void)state;
    static const char *const sources[] = {
        "mesh: " FIRN_TEST_DATA "/../scenes/cube.obj",
        "shape: {box: {size: [0.5, 0.5, 0.5]}}, scale: [2, 2, 2]"};
    static const double middle[] = {0.5, 0};
    const double c = cos(30 * 3.14159265358979323846 / 180), s = 0.5;
    for (int k = 0; k < 2; k++) {
        filled f;
        char text[600];
        snprintf(text, sizeof text,
                 "{firn: 1, resolution: 0.05, materials: {m: {preset: jelly_hard, noise: "
                 "[{parameter: young, amount: 0.5}]}}, objects: [{%s, rotate: [0, 0, 30], "
                 "translate: [2, 1, 0], shell: {thickness: 0.1, poisson: 0.5}}]}",
                 sources[k]);
        fill_scene(&f, text);
        for (int64_t i = 0; i < f.count; i++) {
            const double *at = f.position + 3 * i, x = at[0] - 2, y = at[1] - 1;
            double p[3] = {c * x + s * y, c * y - s * x, at[2]}, depth = 1;
            for (int a = 0; a < 3; a++) depth = fmin(depth, 0.5 - fabs(p[a] - middle[k]));
            if (fabs(depth - 0.1) < 1e-5) continue;
            assert_close(def_of(&f, i)->poisson, depth < 0.1 ? 0.15 : 0.3, 1e-12);
        }
        assert_int_equal(f.job.variants.count, 1 + 64 + 64);
        free_scene(&f);
    }
}

/* With amounts of 0 all variants are alike: the path for groups of mixed material gives the bits of the
 * one for groups of one. */
static void noise_of_nothing_changes_nothing(void **state)
{
    (void)state;
    static const char text[] =
        "{firn: 1, resolution: 0.05, materials: {m: {preset: snow%s}}, objects: [{shape: {sphere: "
        "{radius: 0.3}}, velocity: [0, -3, 0]}], colliders: [{shape: {plane: {point: [0, -0.32, "
        "0]}}}]}";
    filled f[2];
    double *after[2];
    for (int k = 0; k < 2; k++) {
        char scene[600];
        snprintf(scene, sizeof scene, text,
                 k ? ", noise: [{parameter: young, amount: 0}, {parameter: density, amount: 0}]"
                   : "");
        fill_scene(&f[k], scene);
        firn_report report = {0};
        assert_ok(firn_job_advance(&f[k].job, 0.05, &report, &error));
        after[k] = read_field(&f[k].job, FIRN_DEFORMATION_GRADIENT, 9);
    }
    assert_int_equal(f[0].job.variants.count, 1);
    assert_int_equal(f[1].job.variants.count, 65);
    assert_int_equal(f[0].count, f[1].count);
    assert_memory_equal(after[0], after[1], 9 * (size_t)f[0].count * sizeof(double));
    for (int k = 0; k < 2; k++) {
        free(after[k]);
        free_scene(&f[k]);
    }
}

/* Two blocks slide on a slab. The grid holds both up at their edges; what friction takes on top of that
 * is Coulomb's. */
static void pairs_of_objects_have_frictions_of_their_own(void **state)
{
    (void)state;
    filled f;
    fill_scene(&f, "{firn: 1, dimension: 2, resolution: 0.02, materials: {m: {preset: jelly_hard, "
                   "young: 4e5}}, objects: [{name: slab, pattern: regular, shape: {rectangle: "
                   "{center: [0, 0.1], size: [3, 0.2]}}}, {name: smooth, pattern: regular, "
                   "velocity: [1, 0], shape: {rectangle: {center: [-0.8, 0.25], size: [0.3, "
                   "0.1]}}}, {name: rough, pattern: regular, velocity: [1, 0], shape: {rectangle: "
                   "{center: [0.4, 0.25], size: [0.3, 0.1]}}}], contacts: [{objects: [smooth, "
                   "slab], friction: 0}, {objects: [slab, rough], friction: 0.3}], colliders: "
                   "[{shape: {plane: {}}, boundary: sticky}]}");
    firn_report report = {0};
    assert_ok(firn_job_advance(&f.job, 0.125, &report, &error));
    double *object = read_field(&f.job, FIRN_OBJECT, 1);
    double *v = read_field(&f.job, FIRN_VELOCITY, 2), sum[3] = {0}, count[3] = {0};
    for (int64_t i = 0; i < f.count; i++) {
        sum[(int)object[i]] += v[2 * i];
        count[(int)object[i]]++;
    }
    const double coulomb = 0.3 * 9.81 * 0.125;
    assert_close(sum[1] / count[1] - sum[2] / count[2], coulomb, 0.15 * coulomb);
    free(object);
    free(v);
    free_scene(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_are_those_of_the_place_within_a_step),
        cmocka_unit_test(noise_keeps_the_mean_and_the_largest_change),
        cmocka_unit_test(a_shell_is_as_thick_as_it_says),
        cmocka_unit_test(shells_follow_meshes_and_what_is_moved),
        cmocka_unit_test(noise_of_nothing_changes_nothing),
        cmocka_unit_test(pairs_of_objects_have_frictions_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
