/* Emitters: a stream has the flow that it says to the particle at any frame rate, is as even along the motion as
 * across it, never repeats itself, and goes on after a resume with the same bytes. */
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
static const double jet_area = 3.14159265358979323846 * 0.05 * 0.05;

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
    firn_scene *scene = scene_of(JET ", emit: {}", "");
    firn_job *slow = played(scene, 0.125, 24, 1), *fast = played(scene, 0.125, 120, 1);
    const int64_t n = firn_sim_count(firn_job_sim(slow));
    double *x = read_field(slow, FIRN_POSITION, 3), *y = read_field(fast, FIRN_POSITION, 3),
           most = 0;
    assert_int_equal(firn_sim_count(firn_job_sim(fast)), n);
    for (int64_t i = 0; i < 3 * n; i++) most = fmax(most, fabs(x[i] - y[i]));
    printf("%lld particles, at most %.2g m apart\n", (long long)n, most);
    assert_true(n > 1000 && most < 0.0005);
    free(x);
    free(y);
    firn_job_destroy(slow);
    firn_job_destroy(fast);
    firn_scene_destroy(scene);
}

/* ---- the same bytes ---- */

static const char *const variety[] = {
    JET ", emit: {start: 0.02}",
    JET ", emit: {}, spin: [0, 90, 0], pattern: random",
    "material: m, shape: {sphere: {center: [0, 1, 0], radius: 0.05}}, velocity: [1, -2, 0.5], "
    "pattern: regular, emit: {end: 0.1}",
};
enum { VARIETY = sizeof variety / sizeof *variety };

static void threads_and_resume_give_the_same_bytes(void **state)
{
    (void)state;
    char path[] = "/tmp/test_stream.XXXXXX";
    const int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    for (int i = 0; i < VARIETY; i++) {
        firn_hash first = {0};
        for (int32_t threads = 1; threads <= 4; threads++) {
            firn_scene *scene = scene_of(variety[i], "colliders: [{shape: {plane: {}}, "
                                                     "translate: [0, 0.9, 0]}]\n");
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
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_flow_is_right_to_the_particle),
        cmocka_unit_test(a_stream_has_no_pucks_and_no_gaps),
        cmocka_unit_test(no_part_of_a_stream_repeats_another),
        cmocka_unit_test(frames_do_not_show),
        cmocka_unit_test(threads_and_resume_give_the_same_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
