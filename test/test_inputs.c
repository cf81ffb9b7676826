/* Bad input is refused: the message names the field and what would work, and nothing changes.
 * Built twice, because the double build has less to offer. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "worlds.h"

/* A message names the field, and says what would do instead. */
static bool says_what_and_how(const firn_error *error, const char *field)
{
    static const char *const remedies[] = {
        "must",        "use ",      "give ",   "set ",    "start from",
        "is required", "there are", "it must", "larger ", "this machine runs",
        "the sim has"};
    if (!strstr(error->message, field) || !error->file || error->line <= 0) return false;
    for (size_t i = 0; i < sizeof remedies / sizeof *remedies; i++) {
        if (strstr(error->message, remedies[i])) return true;
    }
    return false;
}

static void expect_no_sim(const firn_sim_def *def, firn_status want, const char *field,
                          const char *what)
{
    static char nowhere;
    firn_sim *sim = (firn_sim *)(void *)&nowhere; /* must not be left there */
    firn_error error = {0};
    const firn_status st = firn_sim_create(def, &sim, &error);
    if (st != want || error.status != want || sim != NULL || !says_what_and_how(&error, field)) {
        complain("%s: %s, sim %s: \"%s\"; wanted %s, naming \"%s\" and a remedy\n", what,
                 firn_status_name(st), sim ? "not NULL" : "NULL", error.message,
                 firn_status_name(want), field);
    }
    if (st == FIRN_OK) {
        firn_sim_destroy(sim);
        return;
    }
    if (firn_sim_create(def, &sim, NULL) != st)
        complain("%s: another status without an error to fill\n", what);
}

/* A def that is right in all but what a test changes. */
static world good_world(void)
{
    world w = world_default(3, 0.02);
    w.def.material_count = 2;
    w.def.collider_count = 2;
    w.collider[1].shape = FIRN_SPHERE;
    w.collider[1].position[1] = 5;
    w.def.force_count = 2;
    w.force[1].time = 1;
    return w;
}

static void bad_numbers_in_a_def_are_refused(void **state)
{
    (void)state;
    const double in = INFINITY;
    const struct {
        const char *field;
        size_t offset; /* of a double, in world */
        double value[6];
        int count;
    } cases[] = {
#define REAL(name, member, ...)                                                                    \
    {name,                                                                                         \
     offsetof(world, member),                                                                      \
     {__VA_ARGS__},                                                                                \
     (int)(sizeof(double[]){__VA_ARGS__} / sizeof(double))}
        REAL("cell_size", def.cell_size, 0, -0.01, in, -in, 1e-12, 1e12),
        REAL("damping", def.damping, -1, in, -in),
        REAL("flip_ratio", def.flip_ratio, -0.1, 1.1, in),
        REAL("flip_interval", def.flip_interval, 0, -1e-3, in),
        REAL("dt", def.dt, -1e-3, in, -in),
        REAL("dt_max", def.dt_max, 0, -1e-3, in),
        REAL("dt_min", def.dt_min, 0, -1e-9, in),
        REAL("courant", def.courant, 0, -0.5, 0.95, in),
        REAL("wave_factor", def.wave_factor, 0, -0.5, 1.5, in),
        REAL("dt_implicit", def.dt_implicit, 0, -1e-3, in),
        REAL("theta", def.theta, 0.49, -1, 1.01, in),
        REAL("beta", def.beta, -0.1, 1.01, in),
        REAL("solver_tolerance", def.solver_tolerance, 0, -1e-3, 0.2, in),
        REAL("gravity", def.gravity[0], in, -in),
        REAL("gravity", def.gravity[2], in, -in),
        REAL("materials[0].density", material[0].density, 0, -1000, in, 1e30),
        REAL("materials[1].density", material[1].density, 0, -1000, in),
        REAL("materials[0].young", material[0].young, 0, -1e4, in, 1e30),
        REAL("materials[1].poisson", material[1].poisson, 0.5, -1, 0.7, -3, in),
        REAL("colliders[0].friction", collider[0].friction, -0.1, in),
        REAL("colliders[0].position[1]", collider[0].position[1], in, -in),
        REAL("colliders[1].size[0]", collider[1].size[0], 0, -1, in),
        REAL("forces[1].time", force[1].time, 0, -1, in), /* not above the one before */
        REAL("forces[0].acceleration[2]", force[0].acceleration[2], in, -in),
#undef REAL
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int k = -1; k < cases[i].count; k++) { /* first a NaN */
            world w = good_world();
            const double value = k < 0 ? NAN : cases[i].value[k];
            memcpy((char *)&w + cases[i].offset, &value, sizeof value);
            world_point(&w);
            char what[80];
            snprintf(what, sizeof what, "%s = %g", cases[i].field, value);
            expect_no_sim(&w.def, FIRN_INVALID, cases[i].field, what);
        }
    }
    assert_no_complaints();
}

static void bad_choices_and_counts_in_a_def_are_refused(void **state)
{
    (void)state;
    const struct {
        const char *field;
        size_t offset; /* of an int32_t or enum, in world */
        int value[4];
        int count;
    } cases[] = {
#define WHOLE(name, member, ...)                                                                   \
    {name, offsetof(world, member), {__VA_ARGS__}, (int)(sizeof(int[]){__VA_ARGS__} / sizeof(int))}
        WHOLE("dimension", def.dimension, 0, 1, 4, -3),
        WHOLE("transfer", def.transfer, -1, FIRN_TRANSFER_COUNT, 1000),
        WHOLE("spline", def.spline, -1, FIRN_SPLINE_COUNT, 1000),
        WHOLE("force_form", def.force_form, -1, FIRN_FORCE_FORM_COUNT, 1000),
        WHOLE("path", def.path, -1, FIRN_PATH_COUNT, 1000),
        WHOLE("integrator", def.integrator, -1, FIRN_INTEGRATOR_COUNT, 1000),
        WHOLE("solver_iterations", def.solver_iterations, -1, 0),
        WHOLE("material_count", def.material_count, 0, -1, 65537),
        WHOLE("collider_count", def.collider_count, -1, INT32_MIN),
        WHOLE("force_count", def.force_count, -1, INT32_MIN),
        WHOLE("threads", def.threads, -1, INT32_MIN, 1000000),
        WHOLE("materials[1].law", material[1].law, -1, FIRN_LAW_COUNT, 1000),
        WHOLE("colliders[1].shape", collider[1].shape, -1, FIRN_SHAPE_COUNT, 1000),
        WHOLE("colliders[1].boundary", collider[1].boundary, -1, FIRN_BOUNDARY_COUNT, 1000),
        WHOLE("colliders[1].key_count", collider[1].key_count, -1, INT32_MIN),
#undef WHOLE
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int k = 0; k < cases[i].count; k++) {
            world w = good_world();
            memcpy((char *)&w + cases[i].offset, &cases[i].value[k], sizeof cases[i].value[k]);
            world_point(&w);
            char what[80];
            snprintf(what, sizeof what, "%s = %d", cases[i].field, cases[i].value[k]);
            expect_no_sim(&w.def, FIRN_INVALID, cases[i].field, what);
        }
    }

    world w = good_world();
    world_point(&w);
    w.def.materials = NULL;
    expect_no_sim(&w.def, FIRN_INVALID, "materials", "no materials");
    world_point(&w);
    w.def.colliders = NULL;
    expect_no_sim(&w.def, FIRN_INVALID, "colliders", "no colliders");
    world_point(&w);
    w.def.forces = NULL;
    expect_no_sim(&w.def, FIRN_INVALID, "forces", "no forces");
    world_point(&w);
    w.collider[0].key_count = 1;
    w.collider[0].keys = NULL;
    expect_no_sim(&w.def, FIRN_INVALID, "colliders[0].keys", "no keys");
    w.collider[0].key_count = 2;
    w.collider[0].keys = w.key[0];
    w.key[0][0] = w.key[0][1] = (firn_pose_key){1, {0}, {1, 0, 0, 0}};
    expect_no_sim(&w.def, FIRN_INVALID, "colliders[0].keys[1].time", "keys at one time");

    w = good_world();
    world_point(&w);
    w.def.isa = "quantum";
    expect_no_sim(&w.def, FIRN_UNSUPPORTED, "quantum", "an unknown isa");
    w.def.isa = "";
    expect_no_sim(&w.def, FIRN_UNSUPPORTED, "isa", "an empty isa");
    assert_no_complaints();
}

static void no_force(void *user_data, const firn_nodes *nodes, double (*force)[3])
{
    (void)user_data, (void)nodes, (void)force;
}

/* What the fused path does not serve is told with what it does; where there is none, that. */
static void the_fused_path_is_refused_for_what_is_in_its_way(void **state)
{
    (void)state;
#ifdef FIRN_DOUBLE
    const char *why = "double", *not_why = "quadratic";
#else
    const char *why = "quadratic splines with MLS forces and no force hook", *not_why = "double";
#endif
    static const char *const cases[] = {"fused with cubic splines", "fused with weight gradients",
                                        "fused with a force hook", "fused with what it serves"};
    enum { CASES = sizeof cases / sizeof *cases };
    for (int i = 0; i < CASES; i++) {
        world w = good_world();
        world_point(&w);
        if (i == 0) w.def.spline = FIRN_CUBIC;
        if (i == 1) w.def.force_form = FIRN_GRADIENT;
        if (i == 2) w.def.force_hook = no_force;
        for (firn_path path = 0; path < FIRN_PATH_COUNT; path++) {
            const bool served = path != FIRN_PATH_FUSED || (i == CASES - 1 && PATHS == 2);
            w.def.path = path;
            firn_sim *sim = NULL;
            firn_error error = {0};
            if (firn_sim_create(&w.def, &sim, &error) == FIRN_OK && !served)
                complain("%s: was not refused\n", cases[i]);
            if (!sim && served) complain("%s, path %d: %s\n", cases[i], (int)path, error.message);
            firn_sim_destroy(sim);
            if (served) continue;
            expect_no_sim(&w.def, FIRN_UNSUPPORTED, "path fused", cases[i]);
            expect_no_sim(&w.def, FIRN_UNSUPPORTED, "use path auto", cases[i]);
            expect_no_sim(&w.def, FIRN_UNSUPPORTED, why, cases[i]);
            if (strstr(error.message, not_why))
                complain("%s: \"%s\" speaks of %s\n", cases[i], error.message, not_why);
        }
    }
    assert_no_complaints();
}

static void a_def_not_made_by_its_default_is_refused(void **state)
{
    (void)state;
    const firn_sim_def zero = {0};
    expect_no_sim(&zero, FIRN_INVALID, "firn_sim_def_default", "a def of zeros");
    world w = good_world();
    world_point(&w);
    w.material[1] = (firn_material_def){.density = 1000, .young = 1e4, .poisson = 0.2};
    expect_no_sim(&w.def, FIRN_INVALID, "firn_material_def_default", "a material of zeros");
    w = good_world();
    world_point(&w);
    w.collider[1].stamp = 0;
    expect_no_sim(&w.def, FIRN_INVALID, "firn_collider_def_default", "a collider without a stamp");
    assert_no_complaints();
}

/* A sim under way, to be left as it is. */
static firn_sim *running_sim(world *w, firn_path path)
{
    *w = world_default(3, 0.02);
    w->def.path = path;
    w->def.gravity[1] = -9.81;
    w->def.material_count = 2;
    firn_sim *sim = world_create(w);
    random_state = 5;
    const brick b = {.low = {-2, 0, 0}, .cells = {4, 3, 3}, .per_axis = 2, .jitter = 0.5};
    brick_add(sim, w, &b);
    assert_ok(firn_sim_advance(sim, 0.01, NULL, &error));
    return sim;
}

static void expect_not_added(firn_sim *sim, const firn_particles *p, const char *field,
                             const char *what)
{
    const firn_hash before = hash_of(sim);
    const int64_t count = firn_sim_count(sim);
    const uint64_t generation = firn_sim_view(sim, FIRN_ID).generation;
    uint64_t first = 77;
    firn_error error = {0};
    const firn_status st = firn_sim_add(sim, p, &first, &error);
    const firn_hash after = hash_of(sim);
    if (st != FIRN_INVALID || !says_what_and_how(&error, field)) {
        complain("%s: %s: \"%s\"; wanted invalid, naming \"%s\" and a remedy\n", what,
                 firn_status_name(st), error.message, field);
    }
    if (memcmp(&before, &after, sizeof after) != 0 || firn_sim_count(sim) != count || first != 77 ||
        firn_sim_view(sim, FIRN_ID).generation != generation) {
        complain("%s: it was refused but something changed\n", what);
    }
}

static void bad_particles_are_refused_and_change_nothing(void **state)
{
    (void)state;
    enum { N = 5, BAD = 3 };
    world w;
    firn_sim *sim = running_sim(&w, FIRN_PATH_AUTO);
    double x[N * 3], v[N * 3], F[N * 9], C[N * 9], volume[N], mass[N];
    uint16_t material[N];
    firn_particles good = firn_particles_default();
    good.count = N;
    good.position = x;
    good.velocity = v;
    good.deformation_gradient = F;
    good.velocity_gradient = C;
    good.volume = volume;
    good.mass = mass;
    good.material = material;
    const double reach = 4194304 * 0.02;
    const struct {
        const char *field;
        double *array;
        double value[6];
        int count, width;
    } cases[] = {
        {"position", x, {INFINITY, -INFINITY, reach, -reach, 1e17, 1e300}, 6, 3},
        {"velocity", v, {INFINITY, -INFINITY, 1e300}, 3, 3},
        {"deformation_gradient", F, {INFINITY, -INFINITY, 1e300}, 3, 9},
        {"velocity_gradient", C, {INFINITY, -INFINITY, 1e300}, 3, 9},
        {"volume", volume, {0, -1e-6, INFINITY, -INFINITY, 1e300}, 5, 1},
        {"mass", mass, {0, -1e-3, INFINITY, -INFINITY, 1e300}, 5, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int k = -1; k < cases[i].count; k++) {
            for (int n = 0; n < N; n++) {
                volume[n] = 1e-6;
                mass[n] = 1e-3;
                material[n] = 0;
                for (int a = 0; a < 3; a++) x[n * 3 + a] = 0.1 + 0.01 * n, v[n * 3 + a] = 1;
                for (int c = 0; c < 9; c++) F[n * 9 + c] = c % 4 == 0, C[n * 9 + c] = 0;
            }
            const double value = k < 0 ? NAN : cases[i].value[k];
            cases[i].array[BAD * cases[i].width + cases[i].width - 1] = value;
            char what[80];
            snprintf(what, sizeof what, "%s = %g", cases[i].field, value);
            expect_not_added(sim, &good, cases[i].field, what);
            expect_not_added(sim, &good, "particle 3", what);
            cases[i].array[BAD * cases[i].width + cases[i].width - 1] = 1; /* good again */
        }
    }
    for (int n = 0; n < N; n++) x[n * 3 + 2] = 0.1;

    material[BAD] = 2;
    expect_not_added(sim, &good, "material of particle 3", "an unknown material");
    material[BAD] = 65535;
    expect_not_added(sim, &good, "material of particle 3", "an unknown material");
    material[BAD] = 0;
    firn_particles p = good;
    p.material = NULL;
    p.each_material = 2;
    expect_not_added(sim, &p, "material", "an unknown material for all");
    p = good;
    p.position = NULL;
    expect_not_added(sim, &p, "position", "no positions");
    p = good;
    p.count = -1;
    expect_not_added(sim, &p, "count", "a negative count");
    p.count = INT64_MIN;
    expect_not_added(sim, &p, "count", "a negative count");
    p = good;
    p.stamp = 0;
    expect_not_added(sim, &p, "firn_particles_default", "particles without a stamp");
    const double volumes[] = {0, -1e-6, NAN, INFINITY};
    for (size_t i = 0; i < sizeof volumes / sizeof *volumes; i++) {
        p = good;
        p.volume = NULL;
        p.each_volume = volumes[i];
        expect_not_added(sim, &p, "each_volume", "a volume for all that is none");
    }
    assert_ok(firn_sim_add(sim, &good, NULL, &error)); /* it was good all along */
    assert_ok(firn_sim_advance(sim, 1e-3, NULL, &error));
    firn_sim_destroy(sim);
    assert_no_complaints();
}

static void bad_calls_are_refused_and_change_nothing(void **state)
{
    (void)state;
    for (size_t p = 0; p < PATHS; p++) {
        world w;
        firn_sim *sim = running_sim(&w, both_paths[p]);
        const firn_hash before = hash_of(sim);
        const int64_t n = firn_sim_count(sim);
        double out[64];
        firn_error error = {0};
#define REFUSED(call, field)                                                                       \
    do {                                                                                           \
        memset(&error, 0, sizeof error);                                                           \
        const firn_status st_ = (call);                                                            \
        if (st_ != FIRN_INVALID || !strstr(error.message, field)) {                                \
            complain("%s: %s: \"%s\"; wanted invalid, naming \"%s\"\n", #call,                     \
                     firn_status_name(st_), error.message, field);                                 \
        }                                                                                          \
    } while (0)
        const double seconds[] = {0, -1, -1e-9, NAN, INFINITY, -INFINITY};
        for (size_t i = 0; i < sizeof seconds / sizeof *seconds; i++) {
            REFUSED(firn_sim_advance(sim, seconds[i], NULL, &error), "seconds");
        }
        REFUSED(firn_sim_read(sim, (firn_field)-1, 0, 1, out, &error), "field");
        REFUSED(firn_sim_read(sim, FIRN_FIELD_COUNT, 0, 1, out, &error), "field");
        REFUSED(firn_sim_read(sim, FIRN_MASS, -1, 1, out, &error), "particles");
        REFUSED(firn_sim_read(sim, FIRN_MASS, 0, -1, out, &error), "particles");
        REFUSED(firn_sim_read(sim, FIRN_MASS, 0, n + 1, out, &error), "particles");
        REFUSED(firn_sim_read(sim, FIRN_MASS, n, 1, out, &error), "particles");
        REFUSED(firn_sim_read(sim, FIRN_MASS, 0, 1, NULL, &error), "out");
        REFUSED(firn_sim_remove(sim, NULL, NULL, NULL, &error), "keep");
        REFUSED(firn_sim_measure(sim, NULL, &error), "totals");
        REFUSED(firn_sim_visit_grid(sim, NULL, NULL, &error), "visit");
#undef REFUSED
        /* Fields that do not exist have no view and no info. */
        assert_null(firn_sim_view(sim, (firn_field)-1).data);
        assert_null(firn_sim_view(sim, FIRN_FIELD_COUNT).data);
        assert_null(firn_field_get_info((firn_field)99).name);
        assert_null(firn_law_name(FIRN_LAW_COUNT));
        assert_null(firn_shape_name((firn_shape_kind)-1));
        assert_null(firn_isa_name(-1));
        assert_null(firn_isa_name(1000));
        assert_null(firn_limit_name((firn_limit)-1));
        assert_null(firn_limit_name(FIRN_LIMIT_COUNT));
        assert_null(firn_phase_name(FIRN_PHASES));
        assert_null(firn_status_name((firn_status)-1));
        assert_same_hash(hash_of(sim), before);
        assert_int_equal(firn_sim_remove(sim, keep_all, NULL, NULL, NULL), FIRN_OK);
        assert_same_hash(hash_of(sim), before);
        firn_sim_destroy(sim);
    }
    firn_sim_destroy(NULL);
    assert_no_complaints();
}

/* The energy of this law has no floor in expansion when lambda < 0: lambda/2 (J - 1)^2 outgrows
 * what mu holds, and bodies burst. Either the engine keeps it in hand or it refuses the material
 * and says why. */
static void fixed_corotated_below_zero_poisson_is_refused_or_holds(void **state)
{
    (void)state;
    world w = world_default(3, 0.02);
    w.material[0].law = FIRN_FIXED_COROTATED;
    w.material[0].poisson = -0.4;
    w.def.materials = w.material;
    firn_sim *sim = NULL;
    firn_error error = {0};
    firn_status st = firn_sim_create(&w.def, &sim, &error);
    if (st == FIRN_INVALID) {
        assert_non_null(strstr(error.message, "poisson"));
        return;
    }
    assert_int_equal(st, FIRN_OK);
    static const double apart[9] = {30, 0, 0, 0, 30,
                                    0,  0, 0, 30}; /* expanding at 30 /s, far below sound */
    random_state = 94;
    const brick b = {.low = {-3, -3, -3}, .cells = {6, 6, 6}, .per_axis = 2, .gradient = apart};
    brick_add(sim, &w, &b);
    const firn_totals before = totals_of(sim);
    for (int i = 0; i < 300 && st == FIRN_OK; i++) st = firn_sim_step(sim, NULL, &error);
    assert_int_equal(st, FIRN_OK);
    const firn_totals after = totals_of(sim);
    assert_at_most(after.kinetic, 1.1 * before.kinetic);
    firn_sim_destroy(sim);
}

/* ---- what may crash is tried in a process of its own ---- */

typedef firn_status attempt(firn_sim *sim, firn_error *error);

static firn_status create_from_null(firn_sim *sim, firn_error *error)
{
    (void)sim;
    firn_sim *out = NULL;
    return firn_sim_create(NULL, &out, error);
}
static firn_status create_into_null(firn_sim *sim, firn_error *error)
{
    (void)sim;
    world w = good_world();
    world_point(&w);
    return firn_sim_create(&w.def, NULL, error);
}
static firn_status add_null(firn_sim *sim, firn_error *error)
{
    return firn_sim_add(sim, NULL, NULL, error);
}
static firn_status hash_into_null(firn_sim *sim, firn_error *error)
{
    return firn_sim_hash(sim, NULL, error);
}
static firn_status read_past_the_range(firn_sim *sim, firn_error *error)
{
    double out[16];
    return firn_sim_read(sim, FIRN_MASS, INT64_MAX, 1, out, error);
}
static firn_status read_a_range_that_overflows(firn_sim *sim, firn_error *error)
{
    double out[16];
    return firn_sim_read(sim, FIRN_MASS, 2, INT64_MAX, out, error);
}
static firn_status add_too_many(firn_sim *sim, firn_error *error)
{
    static const double x[3] = {0};
    firn_particles p = firn_particles_default();
    p.count = (int64_t)1 << 33; /* more than a sim holds: refused before the arrays are looked at */
    p.position = x;
    p.each_volume = 1e-6;
    return firn_sim_add(sim, &p, NULL, error);
}
static firn_status add_beyond_all_counting(firn_sim *sim, firn_error *error)
{
    static const double x[3] = {0};
    firn_particles p = firn_particles_default();
    p.count = INT64_MAX;
    p.position = x;
    p.each_volume = 1e-6;
    return firn_sim_add(sim, &p, NULL, error);
}
static firn_status advance_null_sim(firn_sim *sim, firn_error *error)
{
    (void)sim;
    return firn_sim_advance(NULL, 0.1, NULL, error);
}
static firn_status measure_null_sim(firn_sim *sim, firn_error *error)
{
    (void)sim;
    firn_totals t;
    return firn_sim_measure(NULL, &t, error);
}

static void wild_arguments_are_refused_not_followed(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        attempt *run;
        const char *word; /* of the message */
    } cases[] = {
        {"firn_sim_create from a NULL def", create_from_null, "def"},
        {"firn_sim_create into a NULL sim", create_into_null, "sim"},
        {"firn_sim_add of NULL particles", add_null, "particles"},
        {"firn_sim_hash into NULL", hash_into_null, "hash"},
        {"firn_sim_read from INT64_MAX on", read_past_the_range, "particles"},
        {"firn_sim_read of INT64_MAX", read_a_range_that_overflows, "particles"},
        {"firn_sim_add of 2^33 particles", add_too_many, "at most"},
        {"firn_sim_add of INT64_MAX particles", add_beyond_all_counting, "at most"},
        {"firn_sim_advance of a NULL sim", advance_null_sim, "sim"},
        {"firn_sim_measure of a NULL sim", measure_null_sim, "sim"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fflush(NULL);
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) { /* threads do not survive a fork: one will do */
            world w = world_default(2, 0.02);
            w.def.threads = 1;
            firn_sim *sim = world_create(&w);
            const brick b = {.low = {0, 0, 0}, .cells = {2, 2, 2}, .per_axis = 2};
            brick_add(sim, &w, &b);
            signal(SIGSEGV, SIG_DFL);
            alarm(10);
            firn_error error = {0};
            const firn_status st = cases[i].run(sim, &error);
            if (st != FIRN_INVALID) _exit(1);
            _exit(strstr(error.message, cases[i].word) ? 0 : 2);
        }
        int status = 0;
        assert_int_equal(waitpid(child, &status, 0), child);
        if (WIFSIGNALED(status))
            complain("%s: signal %d\n", cases[i].what, WTERMSIG(status));
        else if (WEXITSTATUS(status) == 1)
            complain("%s: was not refused\n", cases[i].what);
        else if (WEXITSTATUS(status) != 0)
            complain("%s: no word of \"%s\"\n", cases[i].what, cases[i].word);
    }
    assert_no_complaints();
}

/* ---- lists ---- */

static void every_word_of_a_list_has_help(void **state)
{
    (void)state;
#define WORD(NAME, name, help) {#name, help},
#define TRANSFER(NAME, name, affine, flip, separates, help) {#name, help},
    static const char *const words[][2] = {
        FIRN_TRANSFERS(TRANSFER) FIRN_SPLINES(WORD) FIRN_FORCE_FORMS(WORD) FIRN_PATHS(WORD)
            FIRN_INTEGRATORS(WORD) FIRN_LIMITS(WORD) FIRN_PHASE_LIST(WORD) FIRN_BOUNDARIES(WORD)};
#undef WORD
#undef TRANSFER
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!words[i][0][0] || !words[i][1][0]) complain("word \"%s\" has no help\n", words[i][0]);
    }
    for (int i = 0; i < FIRN_TRANSFER_COUNT; i++) {
        const firn_transfer_info info = firn_transfer_get_info((firn_transfer)i);
        assert_string_equal(info.name, words[i][0]);
        assert_string_equal(info.help, words[i][1]);
        assert_true(info.flip || !info.separates);
    }
    assert_null(firn_transfer_get_info(FIRN_TRANSFER_COUNT).name);
    assert_null(firn_law_get_info(FIRN_LAW_COUNT).name);
    assert_null(firn_integrator_name((firn_integrator)-1));
    assert_string_equal(firn_limit_name(FIRN_LIMIT_IMPLICIT), "dt_implicit");
    assert_string_equal(firn_phase_name(FIRN_PHASE_HEAT), "heat");
    assert_no_complaints();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_word_of_a_list_has_help),
        cmocka_unit_test(bad_numbers_in_a_def_are_refused),
        cmocka_unit_test(bad_choices_and_counts_in_a_def_are_refused),
        cmocka_unit_test(the_fused_path_is_refused_for_what_is_in_its_way),
        cmocka_unit_test(a_def_not_made_by_its_default_is_refused),
        cmocka_unit_test(bad_particles_are_refused_and_change_nothing),
        cmocka_unit_test(bad_calls_are_refused_and_change_nothing),
        cmocka_unit_test(fixed_corotated_below_zero_poisson_is_refused_or_holds),
        cmocka_unit_test(wild_arguments_are_refused_not_followed),
    };
    return cmocka_run_group_tests_name("inputs", tests, NULL, NULL);
}
