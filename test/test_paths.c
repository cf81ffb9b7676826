/* The two paths held against each other: the fused one is the plain one, faster. */
#include "worlds.h"

/* The largest difference of a field between two memories of the same particles. */
static double largest_difference(const memo *a, const memo *b, int dimension, firn_field field)
{
    const firn_field_info info = firn_field_get_info(field);
    const int64_t n = a->count * (dimension == 2 ? info.components_2d : info.components_3d);
    double most = 0;
    assert_int_equal(a->count, b->count);
    for (int64_t i = 0; i < n; i++) {
        const double difference = fabs(a->field[field][i] - b->field[field][i]);
        if (!(difference <= most)) most = difference; /* a NaN stays */
    }
    return most;
}

/* ---- two bodies that land ---- */

static const int marks[] = {1, 10, 100}; /* steps */
enum { MARKS = sizeof marks / sizeof *marks };

/* What a run of that kind looks like at the marks. */
static void run_two_laws(int d, firn_transfer transfer, firn_path path, const char *isa,
                         memo at[MARKS])
{
    world w = two_law_world(d, path, isa);
    w.def.transfer = transfer;
    /* With FLIP a particle keeps for long what a wall that just touched it, or just did not, has made
     * of its last bit: those bodies meet each other only. */
    const bool lands = !firn_transfer_get_info(transfer).flip;
    w.def.collider_count = lands;
    firn_sim *sim = world_create(&w);
    assert_string_equal(firn_sim_get_info(sim).isa, isa);
    assert_int_equal(firn_sim_get_info(sim).path, path);
    add_two_laws(sim, &w);
    for (int i = 0, done = 0; i < MARKS; done = marks[i++]) {
        assert_ok(firn_sim_advance(sim, (marks[i] - done) * w.def.dt, NULL, &error));
        at[i] = remember(sim, d);
    }
    assert_at_most(totals_of(sim).min_J, lands ? 0.9 : 0.98); /* it did happen */
    firn_sim_destroy(sim);
}

/* Rounding differs by an ulp or so per step and adds up as a random walk, so the bounds are a
 * number of ulp that grows with the square root of the steps, about four times what is measured
 * (AVX2, SSE2). */
static void compare_at_mark(const char *who, int d, int steps, const memo *got, const memo *want)
{
    const double h = 0.02, speed = 3, ulp = 0x1p-24, walk = sqrt(steps);
    const struct {
        firn_field field;
        double bound;
    } checks[] = {
        {FIRN_POSITION, 4 * walk * h * 0x1p-22},
        {FIRN_VELOCITY, (24 + 8 * walk) * speed * ulp},
        {FIRN_DEFORMATION_GRADIENT, (4 + 8 * walk) * ulp},
        {FIRN_VELOCITY_GRADIENT, 100 * speed / h * ulp},
    };
    for (size_t k = 0; k < sizeof checks / sizeof *checks; k++) {
        const double difference = largest_difference(got, want, d, checks[k].field);
        if (difference <= checks[k].bound) continue;
        complain("%s after %d steps: %s differs by %g, above %g\n", who, steps,
                 firn_field_get_info(checks[k].field).name, difference, checks[k].bound);
    }
}

static void fused_equals_plain_within_rounding_growth(void **state)
{
    (void)state;
    for (int d = 2; d <= 3; d++)
        for (int t = 0; t < FIRN_TRANSFER_COUNT; t++) {
            memo want[MARKS], got[MARKS];
            const char *last = NULL; /* the plainest there is: scalar */
            for (int32_t isa = 0; firn_isa_name(isa); isa++) last = firn_isa_name(isa);
            run_two_laws(d, (firn_transfer)t, FIRN_PATH_PLAIN, last, want);
            for (int32_t isa = 0; firn_isa_name(isa); isa++)
                for (size_t p = 0; p < PATHS; p++) {
                    char who[80];
                    snprintf(who, sizeof who, "%dD transfer %d %s %s", d, t, firn_isa_name(isa),
                             path_name(both_paths[p]));
                    run_two_laws(d, (firn_transfer)t, both_paths[p], firn_isa_name(isa), got);
                    for (int i = 0; i < MARKS; i++) {
                        /* After many steps some particle has met ASFLIP's threshold to a bit. */
                        if (!firn_transfer_get_info((firn_transfer)t).separates || marks[i] < 100)
                            compare_at_mark(who, d, marks[i], &got[i], &want[i]);
                        forget(&got[i]);
                    }
                }
            for (int i = 0; i < MARKS; i++) forget(&want[i]);
        }
    assert_no_complaints();
}

/* ---- particles that stop just short of an edge ---- */

/* A particle's stencil changes at the edges of cells that lie half a cell off the nodes; here x is
 * counted in cells from such an edge at a block's border. Binning and gathering find the cell from
 * x + 1 in float, which rounds up for the last number below 1, 2 and 4: whoever looked the cell up
 * in another way would read the row of nodes beside the particle's own.
 *
 * Positions that are added are rounded so that x + 1 is exact, so the particles are thrown: lone
 * ones, a sixteenth of a cell away from an edge, that one step takes to the number `ulps` below it.
 * Cell size and dt are powers of two, and the velocity's rounding errors come to less than half an
 * ulp of x: they land where they are thrown to. They carry a velocity gradient, because one that
 * does not finds its own velocity on any node it reaches. */
enum { EDGES = 4, ULPS = 3, MOST_THROWN = EDGES * ULPS * 2 * 7 };
static const double edge_cell = 0x1p-6, edge_dt = 0x1p-10;           /* m, s */
static const double edge_shear[9] = {1, -8, 4, 8, -2, -4, 2, 6, -8}; /* 1/s */

typedef struct thrown {
    int count;
    int short_of_edge; /* coordinates for which x + 1 will round up */
    double position[MOST_THROWN * 3], velocity[MOST_THROWN * 3], gradient[MOST_THROWN * 9];
} thrown;

/* Where to throw a particle, in cells from its block: just below an edge of it. */
static float just_below(int edge, int ulps)
{
    float x = (float)edge;
    for (int i = 0; i < ulps; i++) x = edge ? nextafterf(x, 0) : x - 0x1p-26f;
    return x;
}

/* One more particle, 8 cells from the last. Along the `axes` it comes from the given side to just
 * below the edge, along the others it stays in the middle of a cell. */
static void throw_one(thrown *t, int d, int edge, int ulps, int side, int axes)
{
    const int i = t->count++;
    for (int a = 0; a < d; a++) {
        const int spread = a == 0 ? i - 80 : (i + a) % 3 - 1, at = (edge + a) % EDGES;
        double from = at + 0.5, to = from;
        if (axes >> a & 1) {
            /* From below, a block's first edge is the last of the one before. */
            const int block = side < 0 && at == 0 ? -EDGES : 0;
            from = at + side * 0x1p-4;
            to = block + (double)just_below(at - block, ulps);
            t->short_of_edge += ulps == 1 && to > 0 && to < 2; /* nearer 4 it is the next block's */
        }
        t->position[i * d + a] = (8 * spread + from + 0.5) * edge_cell;
        t->velocity[i * d + a] = (to - from) * edge_cell / edge_dt;
    }
    for (int c = 0; c < d * d; c++) t->gradient[i * d * d + c] = edge_shear[c];
}

/* At every edge of a block, upwards and downwards, along every set of axes. */
static void throw_all(thrown *t, int d)
{
    *t = (thrown){0};
    for (int edge = 0; edge < EDGES; edge++)
        for (int ulps = 0; ulps < ULPS; ulps++)
            for (int axes = 1; axes < 1 << d; axes++) {
                throw_one(t, d, edge, ulps, -1, axes);
                throw_one(t, d, edge, ulps, 1, axes);
            }
}

/* Coordinates that are within a rounding error below an edge. */
static int count_short_of_edge(const firn_sim *sim, int d)
{
    double *position = read_all(sim, d, FIRN_POSITION);
    int count = 0;
    for (int64_t i = 0; i < firn_sim_count(sim) * d; i++) {
        const double cells = position[i] / edge_cell - 0.5; /* exact */
        const float x = (float)(cells - EDGES * floor(cells / EDGES)), up = x + 1;
        count += floorf(up) > floorf(x) + 1;
    }
    free(position);
    return count;
}

/* In one advance steps are fused; one by one, the state is closed and opened between; and where
 * something is added, bins are made anew from what is stored. */
typedef enum manner { AT_ONCE, ONE_BY_ONE, ADDING, MANNERS } manner;
static const char *const manners[] = {"at once", "one by one", "adding"};

static memo run_thrown(int d, firn_path path, const char *isa, manner how, const thrown *t)
{
    enum { STEPS = 4 };
    world w = world_default(d, edge_cell);
    w.def.path = path;
    w.def.isa = isa;
    w.def.dt = edge_dt;
    w.material[0].young = 100;
    firn_sim *sim = world_create(&w);
    firn_particles p = firn_particles_default();
    p.count = t->count;
    p.position = t->position;
    p.velocity = t->velocity;
    p.velocity_gradient = t->gradient;
    p.each_volume = pow(edge_cell, d);
    assert_ok(firn_sim_add(sim, &p, NULL, &error));
    const firn_totals before = totals_of(sim);
    if (how == AT_ONCE) {
        firn_report report = {0};
        assert_ok(firn_sim_advance(sim, STEPS * edge_dt, &report, &error));
        assert_int_equal(report.steps, STEPS);
    }
    for (int i = 0; how != AT_ONCE && i < STEPS; i++) {
        assert_ok(firn_sim_advance(sim, edge_dt, NULL, &error));
        if (i > 0) continue;
        assert_int_equal(count_short_of_edge(sim, d), t->short_of_edge);
        if (how != ADDING) continue;
        const double far[3] = {0, 100 * edge_cell, 0};
        p.count = 1;
        p.position = far;
        p.velocity = p.velocity_gradient = NULL;
        assert_ok(firn_sim_add(sim, &p, NULL, &error));
    }
    const firn_totals after = totals_of(sim);
    for (int a = 0; a < d; a++) { /* they move at 1 m/s or so */
        const double drift = fabs(after.momentum[a] - before.momentum[a]) / before.mass;
        if (drift <= 0x1p-23) continue;
        complain("%dD %s %s, %s: momentum[%d] drifts by %g m/s times the mass\n", d, isa,
                 path_name(path), manners[how], a, drift);
    }
    memo m = remember(sim, d);
    firn_sim_destroy(sim);
    return m;
}

static void a_particle_just_below_an_edge_is_gathered_from_its_own_stencil(void **state)
{
    (void)state;
    static thrown t;
    for (int d = 2; d <= 3; d++) {
        throw_all(&t, d);
        assert_int_equal(t.short_of_edge, d == 2 ? 16 : 48);
        for (manner how = 0; how < MANNERS; how++)
            for (int32_t isa = 0; firn_isa_name(isa); isa++) {
                memo want = run_thrown(d, FIRN_PATH_PLAIN, firn_isa_name(isa), how, &t),
                     got = run_thrown(d, FIRN_PATH_FUSED, firn_isa_name(isa), how, &t);
                const struct {
                    firn_field field;
                    double bound;
                } checks[] = {
                    /* about four times what is measured */
                    {FIRN_POSITION, 8 * edge_cell * 0x1p-22},
                    {FIRN_VELOCITY, 40 * 0x1p-24},
                    {FIRN_VELOCITY_GRADIENT, 128 / edge_cell * 0x1p-24},
                };
                for (size_t k = 0; k < sizeof checks / sizeof *checks; k++) {
                    const double difference = largest_difference(&got, &want, d, checks[k].field);
                    if (difference <= checks[k].bound) continue;
                    complain("%dD %s, %s: %s differs by %g, above %g\n", d, firn_isa_name(isa),
                             manners[how], firn_field_get_info(checks[k].field).name, difference,
                             checks[k].bound);
                }
                for (int64_t i = 0; i < t.count * d; i++) { /* nothing acts on them */
                    assert_close(want.field[FIRN_VELOCITY][i], t.velocity[i], 40 * 0x1p-24);
                }
                forget(&want);
                forget(&got);
            }
    }
    assert_no_complaints();
}

/* ---- materials that meet within a group of lanes ---- */

/* Three bodies in the same place, whose particles so share every group; all alike when `kinds` is 1,
 * else of `kinds` materials with the same numbers. */
static memo run_alike(int d, firn_path path, const char *isa, int kinds)
{
    world w = two_law_world(d, path, isa);
    w.def.material_count = kinds;
    w.material[1] = w.material[2] = w.material[0];
    firn_sim *sim = world_create(&w);
    random_state = 11;
    for (int m = 0; m < 3; m++) {
        const brick b = {.cells = {4, 4, 4},
                         .per_axis = 2,
                         .jitter = 1,
                         .velocity = {0.5, -2, 0.25},
                         .gradient = d == 2 ? spin_2d : spin_3d,
                         .material = (uint16_t)(m % kinds)};
        brick_add(sim, &w, &b);
    }
    assert_ok(firn_sim_advance(sim, 50 * w.def.dt, NULL, &error));
    memo m = remember(sim, d);
    firn_sim_destroy(sim);
    return m;
}

static void materials_alike_in_all_but_name_give_the_same_bytes(void **state)
{
    (void)state;
    for (int d = 2; d <= 3; d++)
        for (int32_t isa = 0; firn_isa_name(isa); isa++)
            for (size_t p = 0; p < PATHS; p++) {
                memo one = run_alike(d, both_paths[p], firn_isa_name(isa), 1);
                memo three = run_alike(d, both_paths[p], firn_isa_name(isa), 3);
                assert_true(largest_difference(&one, &three, d, FIRN_POSITION) == 0);
                assert_true(largest_difference(&one, &three, d, FIRN_DEFORMATION_GRADIENT) == 0);
                assert_true(largest_difference(&one, &three, d, FIRN_VELOCITY) == 0);
                forget(&one);
                forget(&three);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fused_equals_plain_within_rounding_growth),
        cmocka_unit_test(a_particle_just_below_an_edge_is_gathered_from_its_own_stencil),
        cmocka_unit_test(materials_alike_in_all_but_name_give_the_same_bytes),
    };
    return cmocka_run_group_tests_name("paths", tests, NULL, NULL);
}
