/* Emitters: a stream has the flow and the amount that it says to the particle at any frame rate, is as even along the
 * motion as across it, never repeats itself, fans out evenly over its cone, leaves surfaces evenly along their normals,
 * and goes on after a resume with the same bytes. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <firn/host.h>
#include <firn/scene.h>

static firn_error error;

#define assert_ok(call)                                                                            \
    do {                                                                                           \
        if ((call) != FIRN_OK) fail_msg("%s: %s", #call, error.message);                           \
    } while (0)
#define assert_near(a, b, tolerance)                                                               \
    do {                                                                                           \
        const double a_ = (a), b_ = (b);                                                           \
        if (!(fabs(a_ - b_) <= (tolerance))) fail_msg("%s is %.9g, not %.9g", #a, a_, b_);         \
    } while (0)

/* A scene with one emitter; `emitter` and `more` are YAML. */
static firn_scene *scene_of(const char *emitter, const char *more)
{
    char text[2000];
    snprintf(text, sizeof text,
             "firn: 1\nresolution: 0.01\nmaterials: {m: {preset: sand, density: 1000}}\n"
             "objects: [{%s}]\n%s",
             emitter, more);
    firn_scene_def def = firn_scene_def_default();
    firn_scene *scene = NULL;
    def.path = "stream.yaml";
    def.text = text;
    assert_ok(firn_scene_create(&def, &scene, &error));
    return scene;
}

static firn_job *job_of(const firn_scene *scene, int32_t threads)
{
    firn_job_options options = firn_job_options_default();
    firn_job *job = NULL;
    options.threads = threads;
    assert_ok(firn_job_create(scene, &options, &job, &error));
    return job;
}

/* The job at a time, in frames of a rate. */
static firn_job *played(const firn_scene *scene, double time, double fps, int32_t threads)
{
    firn_job *job = job_of(scene, threads);
    assert_ok(firn_job_fill(job, &error));
    for (int frame = 1; frame <= (int)lround(time * fps); frame++) {
        assert_ok(firn_job_advance(job, frame / fps, NULL, &error));
    }
    return job;
}

/* count x components of a field in id order; to be freed. */
static double *read_field(const firn_job *job, firn_field field, int components)
{
    firn_sim *sim = firn_job_sim(job);
    const int64_t n = firn_sim_count(sim);
    double *out = malloc(((size_t)n * (size_t)components + 1) * sizeof *out);
    assert_non_null(out);
    assert_ok(firn_sim_read(sim, field, 0, n, out, &error));
    return out;
}

static double mass_of(const firn_job *job, double *one)
{
    double *mass = read_field(job, FIRN_MASS, 1), sum = 0;
    const int64_t n = firn_sim_count(firn_job_sim(job));
    for (int64_t i = 0; i < n; i++) sum += mass[i];
    if (one && n > 0) *one = mass[0];
    free(mass);
    return sum;
}

#define FREE "simulation: {gravity: [0, 0, 0]}\n"
#define JET                                                                                        \
    "material: m, shape: {cylinder: {center: [0, 1, 0], radius: 0.05, height: 0.06}}, "            \
    "velocity: [0, -2, 0]"
#define NOZZLE "material: m, shape: {sphere: {center: [0, 1, 0], radius: 0.05}}, "
#define pi 3.14159265358979323846
#define jet_area (pi * 0.05 * 0.05)

/* ---- how much ---- */

/* Density times outline times speed, whatever is seen of it from the side. */
static void the_flow_is_right_to_the_particle(void **state)
{
    (void)state;
    static const struct {
        const char *emitter;
        double flow; /* kg/s */
    } cases[] = {
        {JET ", emit: {start: 0.013}", 1000 * jet_area * 2},
        {"material: m, velocity: [0, -1, 0], shape: {box: {center: [0, 1, 0], size: [0.037, 0.05, "
         "0.113]}}, emit: {start: 0.013}",
         1000 * 0.037 * 0.113},
        {JET ", emit: {start: 0.013, flow: 12 kg/s}", 12},
        {JET ", emit: {start: 0.013, flow: 30 l/min}", 0.5},
        {JET ", density: 1300, emit: {start: 0.013, flow: 0.01 m3/s}", 13},
        {NOZZLE "emit: {start: 0.013, direction: [1, -1, 0], flow: 2 t/h, spread: 20}", 2 / 3.6},
        {NOZZLE "emit: {start: 0.013, direction: outward, flow: 6 l/s}", 6},
    };
    static const double rates[] = {24, 60};
    for (size_t c = 0; c < 2 * sizeof cases / sizeof *cases; c++) {
        const double fps = rates[c % 2], flow = cases[c / 2].flow;
        firn_scene *scene = scene_of(cases[c / 2].emitter, "");
        firn_job *job = job_of(scene, 1);
        assert_ok(firn_job_fill(job, &error));
        assert_int_equal(firn_sim_count(firn_job_sim(job)), 0);
        for (int frame = 1; frame <= (int)(0.25 * fps); frame++) {
            const double time = frame / fps;
            const int64_t expected = firn_job_count_at(job, time);
            double one = 0;
            assert_ok(firn_job_advance(job, time, NULL, &error));
            assert_int_equal(firn_sim_count(firn_job_sim(job)), expected);
            assert_near(mass_of(job, &one), flow * fmax(time - 0.013, 0), one + 1e-9);
        }
        firn_job_destroy(job);
        firn_scene_destroy(scene);
    }
}

/* The amount within half a particle, and no more ever after. */
static void a_stream_ends_at_its_amount(void **state)
{
    (void)state;
    static const struct {
        const char *emitter;
        double mass;   /* kg; 0: */
        int64_t count; /* particles */
    } cases[] = {
        {JET ", emit: {amount: 1.5 kg}", 1.5},
        {JET ", emit: {amount: 1.2345 l}", 1.2345},
        {JET ", emit: {amount: 1}", 0, 1},
        {JET ", emit: {amount: 777}", 0, 777},
        {JET ", density: 1300, emit: {amount: 0.5 kg, flow: 4 kg/s}", 0.5},
        {NOZZLE "emit: {amount: 500 g, direction: outward, speed: 0.3}", 0.5},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        firn_scene *scene = scene_of(cases[c].emitter, FREE);
        firn_job *job = job_of(scene, 1);
        assert_ok(firn_job_fill(job, &error));
        const int64_t expected = firn_job_count_at(job, 10);
        for (int f = 1; f <= 7; f++) assert_ok(firn_job_advance(job, f / 24.0, NULL, &error));
        double one = 0;
        const double mass = mass_of(job, &one);
        if (cases[c].mass > 0) assert_near(mass, cases[c].mass, 0.5 * one + 1e-9);
        if (cases[c].count > 0) assert_int_equal(firn_sim_count(firn_job_sim(job)), cases[c].count);
        assert_int_equal(firn_sim_count(firn_job_sim(job)), expected);
        firn_job_destroy(job);
        firn_scene_destroy(scene);
    }
}

/* What has entered is the integral of the flow, to the particle, at any frame rate. */
static void keys_open_and_close_a_stream(void **state)
{
    (void)state;
    enum { TIMES = 9 };
#define TAP "cylinder: {center: [0, 1, 0], radius: 0.05, height: 0.06}"
#define BALL "sphere: {center: [0, 1, 0], radius: 0.05}"
    static const struct {
        const char *shape, *emit;
        double unit, mass[TIMES]; /* kg; after 0, 0.05, 0.1 s and so on */
    } cases[] = {
        {TAP,
         "direction: [0, -1, 0], flow: 8 kg/s, rate: {keys: {0: 0, 0.2: 1, 0.3: 1, 0.35: 0}}",
         1,
         {0, 0.05, 0.2, 0.45, 0.8, 1.2, 1.6, 1.8, 1.8}},
        {TAP,
         "direction: [0, -1, 0], speed: 2, flow: 8 kg/s, rate: {keys: {0: 1, 0.1: 0, 0.3: 0.5}, "
         "interpolation: step}",
         1,
         {0, 0.4, 0.8, 0.8, 0.8, 0.8, 0.8, 1, 1.2}},
        {BALL,
         "direction: outward, speed: 0.8, flow: 8 kg/s, rate: 0.25",
         1,
         {0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8}},
        {TAP,
         "direction: [0, -1, 0], speed: {keys: {0: 1, 0.4: 2}}, rate: 0.5",
         500 * jet_area,
         {0, 0.053125, 0.1125, 0.178125, 0.25, 0.328125, 0.4125, 0.503125, 0.6}},
        {TAP,
         "direction: [0, -1, 0], flow: 8 kg/s, amount: 1 kg, rate: {keys: {0: 0, 0.2: 1}, "
         "interpolation: smooth}",
         1,
         {0, 0.021875, 0.15, 0.421875, 0.8, 1, 1, 1, 1}},
        {TAP,
         "direction: [0, -1, 0], flow: 8 kg/s, rate: 'min(1, time / 0.4)'",
         1,
         {0, 0.025, 0.1, 0.225, 0.4, 0.625, 0.9, 1.225, 1.6}},
    };
    for (size_t c = 0; c < 2 * sizeof cases / sizeof *cases; c++) {
        const int parts = c % 2 ? 3 : 1; /* frames in 0.05 s */
        char emitter[500];
        snprintf(emitter, sizeof emitter, "material: m, shape: {%s}, emit: {%s}",
                 cases[c / 2].shape, cases[c / 2].emit);
        firn_scene *scene = scene_of(emitter, FREE);
        firn_job *job = job_of(scene, 1);
        assert_ok(firn_job_fill(job, &error));
        for (int f = 1; f <= parts * (TIMES - 1); f++) {
            double one = 0;
            const int64_t expected = firn_job_count_at(job, 0.05 * f / parts);
            assert_ok(firn_job_advance(job, 0.05 * f / parts, NULL, &error));
            assert_int_equal(firn_sim_count(firn_job_sim(job)), expected);
            const double mass = mass_of(job, &one);
            if (f % parts) continue;
            assert_near(mass, cases[c / 2].unit * cases[c / 2].mass[f / parts], one + 1e-9);
        }
        firn_job_destroy(job);
        firn_scene_destroy(scene);
    }
}

/* However they are turned, copies give as many particles of the same mass. */
static void copies_of_a_stream_are_alike(void **state)
{
    (void)state;
    static const char *const emitters[] = {
        NOZZLE "emit: {direction: [0, -1, 0], flow: 3 kg/s}",
        NOZZLE "emit: {direction: [0, -1, 0], flow: 3 kg/s, amount: 100}",
        ("material: m, shape: {box: {center: [0, 1, 0], size: [0.035, 0.05, 0.113]}}, emit: "
         "{direction: [1, -2, 0.5], flow: 3 kg/s}"),
    };
    for (size_t k = 0; k < sizeof emitters / sizeof *emitters; k++) {
        char emitter[400];
        snprintf(emitter, sizeof emitter, "%s, instances: {ring: {count: 7, radius: 0.5}}",
                 emitters[k]);
        firn_scene *scene = scene_of(emitter, FREE);
        firn_job *job = job_of(scene, 1);
        assert_ok(firn_job_fill(job, &error));
        for (int f = 1; f <= 3; f++) {
            assert_ok(firn_job_advance(job, f / 24.0, NULL, &error));
            const int64_t n = firn_sim_count(firn_job_sim(job));
            double *mass = read_field(job, FIRN_MASS, 1);
            assert_true(n > 100 && n % 7 == 0);
            for (int64_t i = 0; i < n; i++) assert_near(mass[i], mass[0], 1e-9 * mass[0]);
            free(mass);
        }
        firn_job_destroy(job);
        firn_scene_destroy(scene);
    }
}

/* A nozzle that moves gives what it gives its own velocity: what leaves one that moves straight stays below it, and
 * what leaves one on a wheel goes on along the tangent from where it entered. */
static void a_stream_rides_on_its_group(void **state)
{
    (void)state;
    static const char *const moves[] = {"keys: {0: {at: [0, 0, 0]}, 1: {at: [2, 0, 0]}}",
                                        "spin: [0, 90, 0], pivot: [0, 0, 0]"};
    const double end = 0.25, turn = 0.5 * pi; /* rad/s */
    for (int k = 0; k < 2; k++) {
        char more[300];
        snprintf(more, sizeof more, FREE "groups: [{name: g, %s}]\n", moves[k]);
        firn_scene *scene =
            scene_of("group: g, material: m, velocity: [0, -2, 0], emit: {}, shape: {cylinder: "
                     "{center: [0.5, 1, 0], radius: 0.05, height: 0.06}}",
                     more);
        firn_job *job = played(scene, end, 24, 1);
        double *x = read_field(job, FIRN_POSITION, 3);
        const int64_t n = firn_sim_count(firn_job_sim(job));
        assert_true(n > 3000);
        for (int64_t i = 0; i < n; i++) {
            const double flown = (1.03 - x[3 * i + 1]) / 2, angle = turn * (end - flown),
                         ahead = 0.5 * turn * flown;
            const double at[2] = {k ? 0.5 * cos(angle) - ahead * sin(angle) : 0.5 + 2 * end,
                                  k ? -0.5 * sin(angle) - ahead * cos(angle) : 0};
            const double away = hypot(x[3 * i] - at[0], x[3 * i + 2] - at[1]);
            if (!(away < 0.058)) fail_msg("a particle is %g m from where it should be", away);
        }
        free(x);
        firn_job_destroy(job);
        firn_scene_destroy(scene);
    }
}

/* ---- how fast ---- */

/* The job just before the stream's first layer is full: none of its particles has been moved yet. */
static firn_job *first_layer(const firn_scene *scene, double seconds)
{
    firn_job *job = job_of(scene, 1);
    assert_ok(firn_job_fill(job, &error));
    assert_ok(firn_job_advance(job, 0.999 * seconds, NULL, &error));
    return job;
}

/* The flow over the outline, as long as no speed is said; with one, what it says. */
static void the_flow_sets_the_speed_of_a_direction(void **state)
{
    (void)state;
    static const struct {
        const char *emitter;
        double velocity[3];
    } cases[] = {
        {"direction: [0, -3, 0], flow: 10 kg/s", {0, -10 / (1000 * jet_area), 0}},
        {"direction: [0, -3, 0], flow: 10 kg/s, speed: 2", {0, -2, 0}},
        {"direction: [0, -3, 0], speed: 2", {0, -2, 0}},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        char emitter[300];
        snprintf(emitter, sizeof emitter,
                 "material: m, shape: {cylinder: {center: [0, 1, 0], radius: 0.05, height: "
                 "0.06}}, emit: {%s}",
                 cases[c].emitter);
        firn_scene *scene = scene_of(emitter, FREE);
        firn_job *job = first_layer(scene, 0.01 / -cases[c].velocity[1]);
        double *v = read_field(job, FIRN_VELOCITY, 3);
        const int64_t n = firn_sim_count(firn_job_sim(job));
        assert_true(n > 10);
        for (int64_t i = 0; i < 3 * n; i++) assert_near(v[i], cases[c].velocity[i % 3], 1e-3);
        free(v);
        firn_job_destroy(job);
        firn_scene_destroy(scene);
    }
}

static void keep_text(void *user_data, firn_log_level level, const char *subject, const char *text)
{
    if (level == FIRN_LOG_INFO) snprintf(user_data, 200, "%s: %s", subject, text);
}

/* What a run says of a flow is what comes. */
static void the_flow_is_told(void **state)
{
    (void)state;
    static const struct {
        const char *emitter, *text;
    } cases[] = {
        {JET ", emit: {}", ""},
        {JET ", name: jet, emit: {flow: 12 kg/s}",
         "jet: 12 kg/s (0.012 m3/s), 1.192e+04 particles/s at 2 m/s"},
        {"material: m, shape: {box: {size: [0.1, 0.1, 0.1]}}, density: 500, emit: {direction: [0, "
         "-1, 0], flow: 10 l/s, rate: {keys: {0: 0, 1: 1}}}",
         "an emitter: up to 5 kg/s (0.01 m3/s), 1e+04 particles/s at 1 m/s"},
        {"material: m, name: tap, shape: {box: {size: [0.1, 0.1, 0.1]}}, emit: {direction: [0, -1, "
         "0], flow: 10 l/s, rate: 0.5}",
         "tap: 5 kg/s (0.005 m3/s), 5000 particles/s at 0.5 m/s"},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        char text[200] = "";
        firn_scene *scene = scene_of(cases[c].emitter, "");
        firn_job_options options = firn_job_options_default();
        firn_job *job = NULL;
        options.threads = 1;
        options.log = (firn_log){keep_text, text};
        assert_ok(firn_job_create(scene, &options, &job, &error));
        assert_string_equal(text, cases[c].text);
        firn_job_destroy(job);
        firn_scene_destroy(scene);
    }
}

static void keep_warning(void *user_data, firn_log_level level, const char *subject,
                         const char *text)
{
    (void)subject;
    if (level == FIRN_LOG_WARNING) snprintf(user_data, 200, "%s", text);
}

static void a_start_after_the_last_frame_is_warned_of(void **state)
{
    (void)state;
    static const char *const starts[] = {"0.12", "0.2"};
    for (int k = 0; k < 2; k++) {
        char text[200] = "", emitter[400];
        snprintf(emitter, sizeof emitter, "%s, emit: {start: %s}", JET, starts[k]);
        firn_scene *scene = scene_of(emitter, "frames: {fps: 24, start: 1, end: 4}");
        firn_job_options options = firn_job_options_default();
        firn_job *job = NULL;
        options.threads = 1;
        options.log = (firn_log){keep_warning, text};
        assert_ok(firn_job_create(scene, &options, &job, &error));
        assert_string_equal(text, k ? "stream.yaml:4:122: start 0.2 s is after the last frame, at "
                                      "0.125 s: nothing enters"
                                    : "");
        firn_job_destroy(job);
        firn_scene_destroy(scene);
    }
}

typedef struct moments {
    double count, sum, square;
} moments;

static void count_in(moments *m, double x)
{
    m->count++;
    m->sum += x;
    m->square += x * x;
}

static void assert_moments(const moments *m, double mean, double variance, double tolerance)
{
    const double is = m->sum / m->count, width = sqrt(variance);
    assert_near(is, mean, tolerance * width);
    assert_near(m->square / m->count - is * is, variance, 2 * tolerance * variance);
}

/* Over a cone of half angle a the cosine is even from cos a to 1 and the turn all around; in 2D the angle is even.
 * Speeds are even over their range. */
static void a_spread_stream_is_even_over_its_cone(void **state)
{
    (void)state;
    const double half = 25 * pi / 180, c = cos(half);
    for (int dim = 2; dim <= 3; dim++) {
        char emitter[400];
        snprintf(emitter, sizeof emitter,
                 "material: m, velocity: %s, emit: {spread: 25, speed_spread: 0.3}, shape: {%s}",
                 dim == 3 ? "[0, 2, 0]" : "[1.2, 1.6]",
                 dim == 3 ? "cylinder: {radius: 0.25, height: 0.1}" : "disc: {radius: 4}");
        firn_scene *scene = scene_of(emitter, dim == 3 ? FREE : FREE "dimension: 2\n");
        firn_job *job = first_layer(scene, 0.01 / 2);
        double *x = read_field(job, FIRN_POSITION, dim), *v = read_field(job, FIRN_VELOCITY, dim);
        const int64_t n = firn_sim_count(firn_job_sim(job));
        const double d[2] = {dim == 3 ? 0 : 0.6, dim == 3 ? 1 : 0.8};
        moments ahead = {0}, turn = {0}, speed = {0};
        assert_true(n > 700);
        for (int64_t i = 0; i < n; i++) {
            const double *w = v + i * dim, z = dim == 3 ? w[2] : 0, s = hypot(hypot(w[0], z), w[1]);
            count_in(&speed, s);
            const double on = d[0] * w[0] + d[1] * w[1], side = d[1] * w[0] - d[0] * w[1],
                         *at = x + i * dim;
            count_in(&ahead, dim == 3 ? on / s : atan2(side, on));
            count_in(&turn, dim == 3 ? w[0] / hypot(w[0], z) : 0);
            assert_true(acos(on / s) < half * (1 + 1e-3));
            assert_true(side * (d[1] * at[0] - d[0] * at[1]) >= 0); /* away from the middle */
        }
        assert_moments(&speed, 2, 0.6 * 0.6 / 3, 0.1);
        assert_moments(&ahead, dim == 3 ? (1 + c) / 2 : 0,
                       dim == 3 ? (1 - c) * (1 - c) / 12 : half * half / 3, 0.03);
        if (dim == 3) assert_moments(&turn, 0, 0.5, 0.03);
        free(x);
        free(v);
        firn_job_destroy(job);
        firn_scene_destroy(scene);
    }
}

/* ---- from surfaces ---- */

/* A cube around [0, 1, 0] as an OBJ file. */
static void write_cube(const char *path, double edge)
{
    const double h = 0.5 * edge;
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    for (int i = 0; i < 8; i++) {
        fprintf(f, "v %g %g %g\n", i & 1 ? h : -h, i & 2 ? 1 + h : 1 - h, i & 4 ? h : -h);
    }
    fputs("f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n", f);
    fclose(f);
}

/* As much as speed times surface, from the surface itself, along its normal, and everywhere alike: forces of all sides
 * cancel. */
static void a_surface_gives_evenly_along_its_normals(void **state)
{
    (void)state;
    static const struct {
        const char *shape;
        int dim;
        double area, tolerance; /* m2 or m; a part */
    } cases[] = {
        {"sphere: {center: [0, 1, 0], radius: 0.2}", 3, 4 * pi * 0.04, 0.005},
        {"box: {center: [0, 1, 0], size: [0.4, 0.4, 0.4]}", 3, 6 * 0.16, 0.01},
        {"mesh: {file: /tmp/test_stream_cube.obj}", 3, 6 * 0.16, 0.01},
        {"torus: {center: [0, 1, 0], radius: 0.2, tube: 0.06}", 3, 4 * pi * pi * 0.2 * 0.06, 0.02},
        {"union: [{sphere: {center: [-0.3, 1, 0], radius: 0.15}}, {sphere: {center: [0.3, 1, 0], "
         "radius: 0.15}}]",
         3, 8 * pi * 0.0225, 0.01},
        {"disc: {center: [0, 1], radius: 0.2}", 2, 2 * pi * 0.2, 0.01},
        {"rectangle: {center: [0, 1], size: [0.4, 0.4]}", 2, 1.6, 0.02},
    };
    write_cube("/tmp/test_stream_cube.obj", 0.4);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const int dim = cases[k].dim;
        char emitter[300];
        snprintf(emitter, sizeof emitter,
                 "material: m, shape: {%s}, emit: {direction: outward, speed: 0.5}",
                 cases[k].shape);
        firn_scene *scene = scene_of(emitter, dim == 3 ? FREE : FREE "dimension: 2\n");
        firn_job *job = first_layer(scene, 0.01 / 0.5);
        double *x = read_field(job, FIRN_POSITION, dim), *v = read_field(job, FIRN_VELOCITY, dim),
               sum[3] = {0}, one = 0;
        const int64_t n = firn_sim_count(firn_job_sim(job));
        const double mass = mass_of(job, &one);
        assert_near(mass, 1000 * cases[k].area * 0.01, cases[k].tolerance * mass + one);
        for (int64_t i = 0; i < n; i++) {
            const double *p = x + i * dim, *w = v + i * dim, z = dim == 3 ? p[2] : 0, y = p[1] - 1,
                         s = dim == 3 ? w[2] : 0, speed = hypot(hypot(w[0], w[1]), s),
                         r = hypot(hypot(p[0], y), z);
            assert_near(speed, 0.5, 1e-6);
            for (int a = 0; a < dim; a++) sum[a] += w[a] / (0.5 * (double)n);
            if (k == 0 || k == 5) { /* flown since it entered, straight out */
                assert_true(r >= 0.2 - 1e-6 && r < 0.2 + 0.0101);
                assert_near((w[0] * p[0] + w[1] * y + s * z) / r, 0.5, 1e-4);
            }
            if (k == 1 || k == 2 || k == 6) {
                const double most = fmax(fmax(fabs(p[0]), fabs(y)), fabs(z));
                assert_true(most >= 0.2 - 1e-6 && most < 0.2 + 0.0101);
            }
        }
        for (int a = 0; a < dim; a++) assert_near(sum[a], 0, 0.03);
        free(x);
        free(v);
        firn_job_destroy(job);
        firn_scene_destroy(scene);
    }
    unlink("/tmp/test_stream_cube.obj");
}

enum { GROWN = 7 };

/* A cube that grows from one frame to the next. */
static void write_growth(void)
{
    for (int f = 1; f <= GROWN; f++) {
        char path[100];
        snprintf(path, sizeof path, "/tmp/test_stream_grow.%04d.obj", f);
        write_cube(path, 0.2 + 0.04 * (f - 1));
    }
}

static void remove_growth(void)
{
    for (int f = 1; f <= GROWN; f++) {
        char path[100];
        snprintf(path, sizeof path, "/tmp/test_stream_grow.%04d.obj", f);
        unlink(path);
    }
}

/* A cube that grows: the flow stays what it is, the amount too, and what enters does so at the surface of its time,
 * with the speed of that added. */
static void a_surface_that_moves_gives_the_same_flow(void **state)
{
    (void)state;
    const double fps = 24, rate = 0.02 * fps; /* m/s, of each side */
    write_growth();
    firn_scene *scene = scene_of(
        "material: m, inherit: 1, shape: {mesh: {file: /tmp/test_stream_grow.$F4.obj}}, emit: "
        "{direction: outward, flow: 20 kg/s, amount: 4 kg}",
        FREE);
    firn_job *job = job_of(scene, 1);
    assert_ok(firn_job_fill(job, &error));
    for (int f = 1; f < GROWN; f++) {
        double one = 0;
        assert_ok(firn_job_advance(job, f / fps, NULL, &error));
        assert_near(mass_of(job, &one), fmin(20 * f / fps, 4), one + 1e-9);
        double *x = read_field(job, FIRN_POSITION, 3), *v = read_field(job, FIRN_VELOCITY, 3);
        const int64_t n = firn_sim_count(firn_job_sim(job));
        for (int64_t i = 0; i < n; i++) {
            const double at[3] = {x[3 * i], x[3 * i + 1] - 1, x[3 * i + 2]};
            double out = 0, speed = 0;
            for (int a = 0; a < 3; a++) {
                if (fabs(at[a]) <= out) continue;
                out = fabs(at[a]);
                speed = copysign(1, at[a]) * v[3 * i + a];
            }
            assert_true(out > 0.1 + rate * f / fps - 0.001); /* the surface is never faster */
            assert_true(f > 1 || speed > 0.9 * rate);
        }
        free(x);
        free(v);
    }
    firn_job_destroy(job);
    firn_scene_destroy(scene);
    remove_growth();
}

/* ---- how even ---- */

static int rising(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The most and the least that slices of a height have, over their mean; the ends do not count. */
static void slice(const double *sorted, int64_t n, double height, double *least, double *most)
{
    enum { SLICES = 4000 };
    static int in[SLICES];
    const double low = sorted[0] + 0.01, high = sorted[n - 1] - 0.01;
    const int count = (int)((high - low) / height);
    double sum = 0;
    assert_true(count > 10 && count < SLICES);
    memset(in, 0, sizeof in);
    for (int64_t i = 0; i < n; i++) {
        const double at = (sorted[i] - low) / height;
        if (at >= 0 && at < count) in[(int)at]++;
    }
    for (int i = 0; i < count; i++) sum += in[i];
    *least = INFINITY, *most = 0;
    for (int i = 0; i < count; i++) {
        *least = fmin(*least, in[i] * count / sum);
        *most = fmax(*most, in[i] * count / sum);
    }
}

/* Copies of the shape left slices of a quarter of the resolution with 0.71 to 1.42 of the mean, and gaps of six
 * times the distance in height. */
static void a_stream_has_no_pucks_and_no_gaps(void **state)
{
    (void)state;
    static const char *const shapes[] = {
        "cylinder: {center: [0, 1, 0], radius: 0.05, height: 0.06}",
        "box: {center: [0, 1, 0], size: [0.1, 0.07, 0.1]}",
        "sphere: {center: [0, 1, 0], radius: 0.06}",
        "torus: {center: [0, 1, 0], radius: 0.05, tube: 0.02}",
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        char emitter[300];
        double least, most, widest = 0;
        snprintf(emitter, sizeof emitter,
                 "material: m, shape: {%s}, velocity: [0, -2, 0], emit: {}", shapes[i]);
        firn_scene *scene = scene_of(emitter, FREE);
        firn_job *job = played(scene, 0.25, 24, 1);
        const int64_t n = firn_sim_count(firn_job_sim(job));
        double *x = read_field(job, FIRN_POSITION, 3), *y = malloc((size_t)n * sizeof *y);
        assert_non_null(y);
        /* From the side that it enters by: what is beside the middle of a ball enters lower. */
        for (int64_t p = 0; p < n; p++) {
            const double r = hypot(x[3 * p], x[3 * p + 2]);
            const double high = i == 2   ? sqrt(fmax(0.06 * 0.06 - r * r, 0))
                                : i == 3 ? sqrt(fmax(0.02 * 0.02 - (r - 0.05) * (r - 0.05), 0))
                                         : 0;
            y[p] = x[3 * p + 1] - high;
        }
        qsort(y, (size_t)n, sizeof *y, rising);
        for (int64_t p = 1; p < n; p++) widest = fmax(widest, y[p] - y[p - 1]);
        slice(y, n, 0.0025, &least, &most);
        printf("%zu: %lld particles, %.3f to %.3f, gap %.2f\n", i, (long long)n, least, most,
               widest * (double)n / (y[n - 1] - y[0]));
        assert_true(least > 0.85 && most < 1.15);
        slice(y, n, 0.01, &least, &most);
        assert_true(least > 0.97 && most < 1.03);
        assert_true(widest < 2 * (y[n - 1] - y[0]) / (double)n);
        free(x);
        free(y);
        firn_job_destroy(job);
        firn_scene_destroy(scene);
    }
}

/* Of the particles of 0.1 m of stream, the part that has another exactly `shift` further along, within a tenth of
 * the resolution; and that which chance alone would give. */
static double repeats(const double *x, int64_t n, double shift)
{
    int64_t looked = 0, found = 0;
    for (int64_t i = 0; i < n; i++) {
        if (!(x[3 * i + 1] > 0.7 && x[3 * i + 1] < 0.8)) continue;
        looked++;
        for (int64_t k = 0; k < n; k++) {
            const double dx = x[3 * k] - x[3 * i], dy = x[3 * k + 1] - x[3 * i + 1] + shift,
                         dz = x[3 * k + 2] - x[3 * i + 2];
            if (sqrt(dx * dx + dy * dy + dz * dz) >= 0.001) continue;
            found++;
            break;
        }
    }
    assert_true(looked > 300);
    return (double)found / (double)looked;
}

/* Chance alone finds a neighbour within a tenth of the distance for 0.4 % of particles. Copies repeated all, at the
 * length of the shape. */
static void no_part_of_a_stream_repeats_another(void **state)
{
    (void)state;
    firn_scene *scene = scene_of(JET ", emit: {}", FREE);
    firn_job *job = played(scene, 0.25, 24, 1);
    const int64_t n = firn_sim_count(firn_job_sim(job));
    double *x = read_field(job, FIRN_POSITION, 3), most = 0;
    for (int i = 5; i <= 100; i++) most = fmax(most, repeats(x, n, 0.002 * i));
    printf("at most %.4f repeat\n", most);
    assert_true(most < 0.03);
    free(x);
    firn_job_destroy(job);
    firn_scene_destroy(scene);
}

/* In free flight particles are where they would be whatever the frames: but for the length of steps. */
static void frames_do_not_show(void **state)
{
    (void)state;
    static const char *const emitters[] = {JET ", emit: {}", JET ", emit: {flow: 5 l/s}"};
    for (int k = 0; k < 2; k++) {
        firn_scene *scene = scene_of(emitters[k], "");
        firn_job *slow = played(scene, 0.125, 24, 1), *fast = played(scene, 0.125, 120, 1);
        const int64_t n = firn_sim_count(firn_job_sim(slow));
        double *x = read_field(slow, FIRN_POSITION, 3), *y = read_field(fast, FIRN_POSITION, 3),
               most = 0;
        assert_int_equal(firn_sim_count(firn_job_sim(fast)), n);
        for (int64_t i = 0; i < 3 * n; i++) most = fmax(most, fabs(x[i] - y[i]));
        printf("%lld particles, at most %.2g m apart\n", (long long)n, most);
        assert_true(n > 500 && most < 0.0005);
        free(x);
        free(y);
        firn_job_destroy(slow);
        firn_job_destroy(fast);
        firn_scene_destroy(scene);
    }
}

/* Gravity of the time of flight: that of keys, or what a program has set since. */
static void what_enters_falls_by_the_gravity_of_the_time(void **state)
{
    (void)state;
    static const char *const gravities[] = {
        "simulation: {gravity: {keys: {0: [0, -50, 0], 0.1: [0, 0, 0]}}}\n", ""};
    for (int k = 0; k < 2; k++) {
        firn_scene *scene = scene_of(JET ", emit: {start: 0.2}", gravities[k]);
        firn_job *job = job_of(scene, 1);
        assert_ok(firn_job_fill(job, &error));
        if (k == 1) {
            assert_ok(firn_sim_set_gravity(firn_job_sim(job), (const double[3]){0}, &error));
        }
        assert_ok(firn_job_advance(job, 0.2375, NULL, &error));
        double *v = read_field(job, FIRN_VELOCITY, 3);
        const int64_t n = firn_sim_count(firn_job_sim(job));
        assert_true(n > 500);
        for (int64_t i = 0; i < n; i++) assert_near(v[3 * i + 1], -2, 1e-3);
        free(v);
        firn_job_destroy(job);
        firn_scene_destroy(scene);
    }
}

/* ---- the same bytes ---- */

static const char *const variety[] = {
    JET ", emit: {start: 0.02}",
    JET ", emit: {}, spin: [0, 90, 0], pattern: random",
    "material: m, shape: {sphere: {center: [0, 1, 0], radius: 0.05}}, velocity: [1, -2, 0.5], "
    "pattern: regular, emit: {end: 0.1}",
    JET ", emit: {flow: 12 l/s, spread: 10, speed_spread: 0.1}",
    NOZZLE "emit: {direction: outward, flow: 20 kg/s, speed_spread: 0.2, amount: 1200}",
    JET ", emit: {rate: {keys: {0: 0, 0.05: 1, 0.1: 0.3}}}, spin: [0, 90, 0], group: g",
    "material: m, shape: {mesh: {file: /tmp/test_stream_grow.$F4.obj}}, velocity: [0, -1, 0], "
    "emit: {}",
};
enum { VARIETY = sizeof variety / sizeof *variety };

static void threads_and_resume_give_the_same_bytes(void **state)
{
    (void)state;
    char path[] = "/tmp/test_stream.XXXXXX";
    const int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    write_growth();
    for (int i = 0; i < VARIETY; i++) {
        firn_hash first = {0};
        for (int32_t threads = 1; threads <= 4; threads++) {
            firn_scene *scene =
                scene_of(variety[i], "groups: [{name: g, spin: [90, 0, 0]}]\n"
                                     "colliders: [{shape: {plane: {}}, translate: [0, 0.9, 0]}]\n");
            firn_job *job =
                played(scene, threads == 4 ? 1 / 24.0 : 0.125, 24, threads % 4 + threads / 4);
            firn_hash hash;
            if (threads == 4) { /* the rest in another process */
                assert_ok(firn_job_save(job, 1, path, &error));
                firn_job_destroy(job);
                job = job_of(scene, 1);
                assert_ok(firn_job_load(job, path, NULL, &error));
                for (int f = 2; f <= 3; f++) {
                    assert_ok(firn_job_advance(job, f / 24.0, NULL, &error));
                }
            }
            assert_ok(firn_sim_hash(firn_job_sim(job), &hash, &error));
            if (threads == 1) first = hash;
            assert_memory_equal(&hash, &first, sizeof hash);
            assert_true(firn_sim_count(firn_job_sim(job)) > 1000);
            firn_job_destroy(job);
            firn_scene_destroy(scene);
        }
    }
    unlink(path);
    remove_growth();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_flow_is_right_to_the_particle),
        cmocka_unit_test(a_stream_ends_at_its_amount),
        cmocka_unit_test(keys_open_and_close_a_stream),
        cmocka_unit_test(copies_of_a_stream_are_alike),
        cmocka_unit_test(a_stream_rides_on_its_group),
        cmocka_unit_test(the_flow_sets_the_speed_of_a_direction),
        cmocka_unit_test(the_flow_is_told),
        cmocka_unit_test(a_start_after_the_last_frame_is_warned_of),
        cmocka_unit_test(a_spread_stream_is_even_over_its_cone),
        cmocka_unit_test(a_surface_gives_evenly_along_its_normals),
        cmocka_unit_test(a_surface_that_moves_gives_the_same_flow),
        cmocka_unit_test(a_stream_has_no_pucks_and_no_gaps),
        cmocka_unit_test(no_part_of_a_stream_repeats_another),
        cmocka_unit_test(frames_do_not_show),
        cmocka_unit_test(what_enters_falls_by_the_gravity_of_the_time),
        cmocka_unit_test(threads_and_resume_give_the_same_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
