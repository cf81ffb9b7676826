/* Implicit steps: what must hold whatever they are used for. How well they do on known problems is
 * in the cases of `firn validate`; see test_physics.c. */
#include "base/parallel.h"
#include "solve/krylov.h"
#include "memory_state.h"
#include "worlds.h"

/* ---- the solvers ---- */

enum { SIZE = 12, BLOCK = 4 };

typedef struct dense {
    double A[SIZE][SIZE];
    double inverse[SIZE]; /* of the preconditioner's diagonal; 0: the unknown is held */
} dense;

static double dense_apply(void *context, const real *in, real *out)
{
    const dense *m = context;
    double product = 0;
    for (int i = 0; i < SIZE; i++) {
        double sum = 0;
        for (int j = 0; j < SIZE; j++) sum += m->A[i][j] * (double)in[j];
        out[i] = (real)sum;
        product += sum * (double)in[i];
    }
    return product;
}

static void dense_precondition(void *context, int64_t block, const real *r, real *z)
{
    const dense *m = context;
    for (int i = 0; i < BLOCK; i++) z[i] = (real)m->inverse[block * BLOCK + i] * r[i];
}

/* Far-reaching, symmetric, and 0 where the preconditioner is. */
static void dense_correct(void *context, const real *r, real *z)
{
    const dense *m = context;
    for (int i = 0; i < SIZE; i++) {
        double sum = 0;
        for (int j = 0; j < SIZE; j++) {
            sum += m->inverse[j] > 0 ? fabs(m->A[i][j]) * (double)r[j] : 0;
        }
        z[i] = m->inverse[i] > 0 ? (real)(4 * (double)r[i] + sum) : 0;
    }
}

/* Symmetric, with eigenvalues from 1 to 2; `negative` of them turned around. */
static dense random_dense(int negative)
{
    dense m = {{{0}}, {0}};
    double Q[SIZE][SIZE];
    for (int i = 0; i < SIZE; i++) { /* Gram and Schmidt */
        for (int j = 0; j < SIZE; j++) Q[i][j] = uniform(-1, 1);
        for (int pass = 0; pass < 2; pass++)
            for (int k = 0; k < i; k++) {
                double along = 0;
                for (int j = 0; j < SIZE; j++) along += Q[i][j] * Q[k][j];
                for (int j = 0; j < SIZE; j++) Q[i][j] -= along * Q[k][j];
            }
        double length = 0;
        for (int j = 0; j < SIZE; j++) length += Q[i][j] * Q[i][j];
        for (int j = 0; j < SIZE; j++) Q[i][j] /= sqrt(length);
    }
    for (int e = 0; e < SIZE; e++) {
        const double value = (e < negative ? -1 : 1) * (1 + e / 11.0);
        for (int i = 0; i < SIZE; i++)
            for (int j = 0; j < SIZE; j++) m.A[i][j] += value * Q[e][i] * Q[e][j];
    }
    for (int i = 0; i < SIZE; i++) m.inverse[i] = uniform(0.5, 1);
    return m;
}

static void check_solver(bool residuals, bool corrects, int negative)
{
    random_state = 3;
    for (int round = 0; round < 20; round++) {
        dense m = random_dense(negative);
        m.inverse[5] = 0; /* held: x stays, and the residual is what holds it */
        double partial[SIZE / BLOCK];
        real x[SIZE] = {0}, want[SIZE], b[SIZE], r[SIZE], work[4][SIZE], room[SIZE];
        real *const vectors[4] = {work[0], work[1], work[2], work[3]};
        const firn_system system = {.workers = &(firn_workers){.count = 1},
                                    .blocks = SIZE / BLOCK,
                                    .block_reals = BLOCK,
                                    .apply = dense_apply,
                                    .precondition = dense_precondition,
                                    .correct = corrects ? dense_correct : NULL,
                                    .share = (real)0.5,
                                    .room = room,
                                    .context = &m,
                                    .partial = partial};
        for (int i = 0; i < SIZE; i++) want[i] = (real)uniform(-1, 1);
        dense_apply(&m, want, b);
        b[5] += 3;
        x[5] = want[5];
        dense_apply(&m, x, r);
        for (int i = 0; i < SIZE; i++) r[i] = b[i] - r[i];
        const firn_solution s = residuals ? firn_solve_cr(&system, x, r, vectors, 1e-6, 200)
                                          : firn_solve_cg(&system, x, r, vectors, 1e-6, 200);
        assert_true(s.converged);
        assert_at_most(s.residual, 1e-6);
        for (int i = 0; i < SIZE; i++) {
            assert_close((double)x[i], (double)want[i], 1e-5);
            assert_close((double)r[i], i == 5 ? 3 : 0, 1e-5);
        }
    }
}

static void conjugate_gradients_solve_and_leave_held_unknowns(void **state)
{
    (void)state;
    check_solver(false, false, 0);
    check_solver(false, true, 0);
}

static void conjugate_residuals_solve_what_is_not_positive(void **state)
{
    (void)state;
    check_solver(true, false, 0);
    check_solver(true, false, 3);
}

static void conjugate_gradients_stop_where_the_system_is_not_positive(void **state)
{
    (void)state;
    random_state = 4;
    dense m = random_dense(SIZE);
    double partial[SIZE / BLOCK];
    real x[SIZE] = {0}, r[SIZE], work[2][SIZE];
    real *const vectors[2] = {work[0], work[1]};
    const firn_system system = {.workers = &(firn_workers){.count = 1},
                                .blocks = SIZE / BLOCK,
                                .block_reals = BLOCK,
                                .apply = dense_apply,
                                .precondition = dense_precondition,
                                .context = &m,
                                .partial = partial};
    for (int i = 0; i < SIZE; i++) r[i] = 1;
    const firn_solution s = firn_solve_cg(&system, x, r, vectors, 1e-6, 200);
    assert_false(s.converged);
    assert_int_equal(s.iterations, 0);
}

/* ---- worlds ---- */

/* A stiff body of each law, spinning, side by side; no two share a node. */
static world stiff_world(int d, firn_path path, int laws)
{
    world w = world_default(d, 0.02);
    w.def.path = path;
    w.def.integrator = FIRN_IMPLICIT;
    w.def.material_count = laws;
    for (int i = 0; i < laws; i++) {
        static const firn_law_kind law[4] = {FIRN_NEO_HOOKEAN, FIRN_FIXED_COROTATED, FIRN_COROTATED,
                                             FIRN_ST_VENANT_KIRCHHOFF};
        w.material[i].law = law[i];
        w.material[i].young = 1e6;
        w.material[i].poisson = 0.3;
    }
    return w;
}

static void add_stiff(firn_sim *sim, const world *w, bool moving)
{
    static const double still[9] = {0};
    random_state = 11;
    for (int i = 0; i < w->def.material_count; i++) {
        const brick b = {.low = {-8 + 5 * i, i, -2},
                         .cells = {5, 6, 4},
                         .per_axis = 2,
                         .jitter = 0.6,
                         .velocity = {moving ? 1 - i : 0, moving ? 0.5 : 0, 0},
                         .gradient = !moving                 ? still
                                     : w->def.dimension == 2 ? spin_2d
                                                             : spin_3d,
                         .material = (uint16_t)i};
        brick_add(sim, w, &b);
    }
}

static void a_world_at_rest_stays_at_rest(void **state)
{
    (void)state;
    for (int d = 2; d <= 3; d++)
        for (int p = 0; p < PATHS; p++) {
            world w = stiff_world(d, both_paths[p], 4);
            firn_sim *sim = world_create(&w);
            add_stiff(sim, &w, false);
            memo before = remember(sim, d);
            firn_report report;
            assert_ok(firn_sim_advance(sim, 0.05, &report, &error));
            assert_int_equal(report.integrator, FIRN_IMPLICIT);
            assert_int_equal(report.iterations, 0);
            memo after = remember(sim, d);
            for (int f = 0; f < FIRN_FIELD_COUNT; f++) {
                if (!before.field[f]) continue;
                const firn_field_info info = firn_field_get_info((firn_field)f);
                const size_t width = (size_t)(d == 2 ? info.components_2d : info.components_3d);
                assert_memory_equal(before.field[f], after.field[f],
                                    (size_t)before.count * width * sizeof(double));
            }
            forget(&before);
            forget(&after);
            firn_sim_destroy(sim);
        }
}

/* The solver's tolerance has no part in it: mass is its preconditioner. */
static void momentum_is_kept_without_walls(void **state)
{
    (void)state;
    for (int d = 2; d <= 3; d++)
        for (int p = 0; p < PATHS; p++) {
            world w = stiff_world(d, both_paths[p], 4);
            w.def.solver_tolerance = 0.1;
            firn_sim *sim = world_create(&w);
            add_stiff(sim, &w, true);
            const firn_totals before = totals_of(sim);
            firn_report report;
            assert_ok(firn_sim_advance(sim, 0.05, &report, &error));
            assert_true(report.iterations > 0);
            const firn_totals after = totals_of(sim);
            for (int a = 0; a < 3; a++) {
                assert_close(after.momentum[a], before.momentum[a],
                             (sizeof(real) == 8 ? 1e-12 : 2e-5) * before.mass);
            }
            firn_sim_destroy(sim);
        }
}

/* A stiff beam, 60 cells long and 4 thick, that bends: clamped at one end, or free. */
static world beam_world(int d, firn_path path, bool clamped)
{
    world w = stiff_world(d, path, 1);
    w.material[0].young = 1e8;
    w.material[0].poisson = 0.45;
    w.def.dt = 2e-3; /* about 110 explicit steps */
    w.def.solver_iterations = 2000;
    if (clamped) {
        w.def.gravity[1] = -9.81;
        w.def.collider_count = 1;
        w.collider[0].shape = FIRN_BOX;
        w.collider[0].boundary = FIRN_STICKY;
        for (int a = 0; a < 3; a++) w.collider[0].size[a] = 0.4;
        w.collider[0].position[0] = -0.17;
    }
    return w;
}

static firn_report run_beam(world *w, bool clamped, firn_totals *before, firn_totals *after,
                            memo *end, firn_hash *hash)
{
    static const double bend[9] = {0, 0.05, 0, 0.4, 0, 0, 0, 0, 0};
    firn_sim *sim = world_create(w);
    const brick b = {.low = {0, -2, -2},
                     .cells = {60, 4, 4},
                     .per_axis = 2,
                     .jitter = 0.2,
                     .gradient = clamped ? NULL : bend};
    firn_report report;
    random_state = 5;
    brick_add(sim, w, &b);
    *before = totals_of(sim);
    assert_ok(firn_sim_advance(sim, 0.012, &report, &error));
    *after = totals_of(sim);
    *end = remember(sim, w->def.dimension);
    *hash = hash_of(sim);
    firn_sim_destroy(sim);
    return report;
}

/* Mass alone takes 100 to 150 iterations per step; coarse grids, which long bodies get in long steps,
 * change how the solution is found and not which. */
static void coarse_grids_reach_along_a_beam(void **state)
{
    (void)state;
    for (int d = 2; d <= 3; d++)
        for (int p = 0; p < PATHS; p++) {
            firn_totals before, after;
            firn_hash hash[2];
            memo end[3];
            world w = beam_world(d, both_paths[p], true);
            const firn_report report = run_beam(&w, true, &before, &after, &end[0], &hash[0]);
            assert_at_most((double)report.iterations,
                           (d == 2 ? 60.0 : 120.0) * (double)report.steps);
            w.def.threads = 3;
            (void)run_beam(&w, true, &before, &after, &end[1], &hash[1]);
            assert_same_hash(hash[0], hash[1]);
            w.def.solver_tolerance = 1e-4;
            (void)run_beam(&w, true, &before, &after, &end[2], &hash[1]);
            double most = 0;
            for (int64_t i = 0; i < end[0].count * d; i++) {
                most = fmax(most,
                            fabs(end[0].field[FIRN_POSITION][i] - end[2].field[FIRN_POSITION][i]));
            }
            assert_at_most(most / w.def.cell_size, 2e-3);
            for (int i = 0; i < 3; i++) forget(&end[i]);
        }
}

static void coarse_grids_keep_momentum(void **state)
{
    (void)state;
    for (int d = 2; d <= 3; d++)
        for (int p = 0; p < PATHS; p++) {
            firn_totals before, after;
            firn_hash hash;
            memo end;
            world w = beam_world(d, both_paths[p], false);
            w.def.solver_tolerance = 0.1;
            const firn_report report = run_beam(&w, false, &before, &after, &end, &hash);
            assert_true(report.iterations > 0);
            for (int a = 0; a < 3; a++) {
                assert_close(after.momentum[a], before.momentum[a],
                             (sizeof(real) == 8 ? 1e-12 : 2e-5) * before.mass);
            }
            forget(&end);
        }
}

/* Two runs of the same world, and how far apart their particles are at most, in cells. */
static double distance_between(const world *one, const world *other, double seconds)
{
    memo m[2];
    for (int i = 0; i < 2; i++) {
        world w = i ? *other : *one;
        firn_sim *sim = world_create(&w);
        add_stiff(sim, &w, true);
        assert_ok(firn_sim_advance(sim, seconds, NULL, &error));
        m[i] = remember(sim, w.def.dimension);
        firn_sim_destroy(sim);
    }
    double most = 0;
    for (int64_t i = 0; i < m[0].count * one->def.dimension; i++) {
        const double way = m[0].field[FIRN_POSITION][i] - m[1].field[FIRN_POSITION][i];
        if (!(fabs(way) <= most)) most = fabs(way);
    }
    forget(&m[0]);
    forget(&m[1]);
    return most / one->def.cell_size;
}

/* With the same short steps both are first-order approximations of the same motion. */
static void short_steps_agree_with_explicit_ones(void **state)
{
    (void)state;
    for (int d = 2; d <= 3; d++)
        for (int p = 0; p < PATHS; p++) {
            world w = stiff_world(d, both_paths[p], 4);
            w.def.dt = 2e-5;
            w.def.solver_tolerance = 1e-5;
            world other = w;
            other.def.integrator = FIRN_EXPLICIT;
            const double apart = distance_between(&w, &other, 4e-3);
            w.def.dt = other.def.dt = 1e-5;
            const double half = distance_between(&w, &other, 4e-3);
            assert_at_most(apart, 2e-3); /* bodies cross a tenth of a cell */
            assert_at_most(half, 0.65 * apart);
        }
}

#ifndef FIRN_DOUBLE
/* Lanes, sorting and weights differ, the sums are the same. linear has a differential of its own. */
static void the_fast_product_is_the_plain_one(void **state)
{
    (void)state;
    for (int d = 2; d <= 3; d++)
        for (int i = 0; firn_isa_name(i); i++)
            for (int linear = 0; linear < 2; linear++) {
                world w = stiff_world(d, FIRN_PATH_FUSED, 4);
                if (linear) w.material[1].law = FIRN_LINEAR;
                w.def.isa = firn_isa_name(i);
                w.def.transfer = linear ? FIRN_ASFLIP : FIRN_APIC;
                w.def.dt = 5e-4;
                w.def.solver_tolerance = 1e-6;
                world other = w;
                other.def.path = FIRN_PATH_PLAIN;
                assert_at_most(distance_between(&w, &other, 0.01), 1e-4);
            }
}
#endif

/* Every transfer, spline and force form: they hold together and do not gain energy. */
static void all_methods_take_long_steps(void **state)
{
    (void)state;
    for (int d = 2; d <= 3; d++)
        for (int transfer = 0; transfer < FIRN_TRANSFER_COUNT; transfer++)
            for (int k = 0; k < 4; k++) {
                world w = stiff_world(d, FIRN_PATH_PLAIN, 2);
                w.def.transfer = (firn_transfer)transfer;
                w.def.spline = k & 1 ? FIRN_CUBIC : FIRN_QUADRATIC;
                w.def.force_form = k & 2 ? FIRN_GRADIENT : FIRN_MLS;
                w.def.gravity[1] = -9.81;
                w.def.collider_count = 1;
                w.collider[0].position[1] = -0.03;
                firn_sim *sim = world_create(&w);
                add_stiff(sim, &w, true);
                const firn_totals before = totals_of(sim);
                assert_ok(firn_sim_advance(sim, 0.05, NULL, &error));
                const firn_totals after = totals_of(sim);
                assert_null(nonfinite_field(sim, d));
                assert_at_most(after.kinetic + after.elastic + after.gravitational,
                               1.02 * (before.kinetic + before.elastic) + before.gravitational);
                assert_true(after.min_J > 0.9 && after.max_J < 1.1);
                firn_sim_destroy(sim);
            }
}

/* ---- walls ---- */

/* A body pressed into a corner of walls that move: it goes with them. */
static void moving_walls_carry_what_they_hold(void **state)
{
    (void)state;
    for (int d = 2; d <= 3; d++) {
        world w = stiff_world(d, FIRN_PATH_AUTO, 1);
        w.def.collider_count = 2;
        for (int i = 0; i < 2; i++) {
            w.collider[i].shape = FIRN_BOX;
            w.collider[i].boundary = i ? FIRN_SLIP : FIRN_STICKY;
            for (int a = 0; a < 3; a++) w.collider[i].size[a] = 0.4;
            w.collider[i].key_count = 2;
            for (int k = 0; k < 2; k++) {
                w.key[i][k] = (firn_pose_key){k, {i ? 0.5 * k : -0.7, -0.4, 0}, {1, 0, 0, 0}};
                if (!i) w.key[i][k].position[0] += 0.5 * k;
            }
        }
        firn_sim *sim = world_create(&w);
        const brick b = {.low = {-15, 0, -3}, .cells = {6, 6, 6}, .per_axis = 2};
        brick_add(sim, &w, &b);
        double *from = read_all(sim, d, FIRN_POSITION);
        assert_ok(firn_sim_advance(sim, 0.3, NULL, &error));
        double *to = read_all(sim, d, FIRN_POSITION), mean = 0;
        const int64_t n = firn_sim_count(sim);
        for (int64_t i = 0; i < n; i++) mean += (to[i * d] - from[i * d]) / (double)n;
        assert_close(mean, 0.15, 0.01);
        free(from);
        free(to);
        firn_sim_destroy(sim);
    }
}

/* A floor that only keeps out lets go at once: thrown up, a body flies as if there were none. */
static void separating_walls_do_not_pull(void **state)
{
    (void)state;
    for (int d = 2; d <= 3; d++) {
        world w = stiff_world(d, FIRN_PATH_AUTO, 1);
        w.def.collider_count = 1;
        w.def.gravity[1] = -9.81;
        firn_sim *sim = world_create(&w);
        const brick b = {
            .low = {0, 0, 0}, .cells = {6, 6, 6}, .per_axis = 2, .velocity = {0, 1, 0}};
        brick_add(sim, &w, &b);
        const double mass = totals_of(sim).mass;
        assert_ok(firn_sim_advance(sim, 0.05, NULL, &error));
        assert_close(totals_of(sim).momentum[1] / mass, 1 - 9.81 * 0.05, 1e-4);
        firn_sim_destroy(sim);
    }
}

/* A floor that is there twice rubs once: mu g slows what slides on it. */
static void the_same_wall_twice_rubs_once(void **state)
{
    (void)state;
    for (int floors = 1; floors <= 2; floors++) {
        world w = stiff_world(2, FIRN_PATH_AUTO, 1);
        w.def.collider_count = floors;
        for (int i = 0; i < floors; i++) w.collider[i].friction = 0.3;
        w.def.gravity[1] = -9.81;
        firn_sim *sim = world_create(&w);
        const brick b = {.cells = {8, 4, 1}, .per_axis = 2, .velocity = {2, 0, 0}};
        brick_add(sim, &w, &b);
        const double mass = totals_of(sim).mass;
        assert_ok(firn_sim_advance(sim, 0.2, NULL, &error));
        assert_close(totals_of(sim).momentum[0] / mass, 2 - 0.3 * 9.81 * 0.2, 0.05);
        firn_sim_destroy(sim);
    }
}

/* ---- impacts ---- */

/* How fast two stiff bodies part that flew at each other, over how fast they came, with nodes of their
 * own or the same ones. */
static double restitution(int d, bool own_nodes, firn_integrator integrator)
{
    static const uint16_t own[2] = {0, 1};
    world w = stiff_world(d, FIRN_PATH_AUTO, 1);
    w.def.integrator = integrator;
    w.material[0].young = 1e7;
    if (own_nodes) {
        w.def.object_bodies = own;
        w.def.object_count = 2;
    }
    firn_sim *sim = world_create(&w);
    for (uint16_t i = 0; i < 2; i++) {
        const brick b = {.low = {i ? 1 : -9, 0, 0},
                         .cells = {8, 8, 8},
                         .per_axis = 2,
                         .velocity = {i ? -1 : 1, 0, 0},
                         .object = i};
        brick_add(sim, &w, &b);
    }
    assert_ok(firn_sim_advance(sim, 0.1, NULL, &error));
    double *v = read_all(sim, d, FIRN_VELOCITY), mean = 0;
    const int64_t half = firn_sim_count(sim) / 2;
    for (int64_t i = 0; i < half; i++) mean -= v[i * d] / (double)half;
    free(v);
    firn_sim_destroy(sim);
    return mean;
}

/* Without the limit on impacts it is 0 on the same nodes, and above 2 on their own. */
static void bodies_bounce_off_each_other_as_in_short_steps(void **state)
{
    (void)state;
    for (int d = 2; d <= 3; d++)
        for (int own_nodes = 0; own_nodes < 2; own_nodes++) {
            assert_close(restitution(d, own_nodes, FIRN_IMPLICIT),
                         restitution(d, own_nodes, FIRN_EXPLICIT), 0.2);
        }
}

/* The first step that a falling body spends at the ground is short, that of a few particles is not. */
static void impacts_of_bodies_shorten_the_step(void **state)
{
    (void)state;
    for (int d = 2; d <= 3; d++)
        for (int cells = 1; cells <= 6; cells += 5) {
            world w = stiff_world(d, FIRN_PATH_AUTO, 1);
            w.def.collider_count = 1;
            firn_sim *sim = world_create(&w);
            const brick b = {.low = {0, 1, 0},
                             .cells = {cells, cells, cells},
                             .per_axis = 2,
                             .velocity = {0, -2, 0}};
            brick_add(sim, &w, &b);
            firn_report report;
            assert_ok(firn_sim_step(sim, &report, &error));
            if (cells == 1) {
                assert_close(report.dt, w.def.dt_implicit, 1e-6);
                assert_int_equal(report.limit, FIRN_LIMIT_IMPLICIT);
            } else {
                assert_int_equal(report.limit, FIRN_LIMIT_IMPACT);
                assert_close(report.dt, 0.05 * w.def.cell_size / 2, 1e-6);
            }
            firn_sim_destroy(sim);
        }
}

/* ---- steps ---- */

static void a_solver_that_does_not_converge_shortens_the_step(void **state)
{
    (void)state;
    world w = stiff_world(2, FIRN_PATH_AUTO, 2);
    for (int i = 0; i < 2; i++) w.material[i].young = 1e8;
    w.def.solver_iterations = 2;
    firn_sim *sim = world_create(&w);
    add_stiff(sim, &w, true);
    firn_report report;
    assert_ok(firn_sim_advance(sim, 2e-3, &report, &error));
    assert_true(report.retries > 0);
    assert_true(report.dt_least < 5e-4);
    assert_at_most(report.iterations, 2 * 3 * (report.steps + report.retries)); /* 3: walls */
    firn_sim_destroy(sim);

    firn_error error = {0};
    w.def.dt_min = 2 * w.def.dt_implicit;
    world_point(&w);
    assert_int_equal(firn_sim_create(&w.def, &sim, &error), FIRN_INVALID);
    assert_non_null(strstr(error.message, "dt_implicit"));

    w.def.dt_min = 5e-4; /* which is too long */
    sim = world_create(&w);
    add_stiff(sim, &w, true);
    const firn_hash before = hash_of(sim);
    assert_int_equal(firn_sim_advance(sim, 2e-3, NULL, &error), FIRN_DIVERGED);
    assert_non_null(strstr(error.message, "solver"));
    assert_non_null(strstr(error.message, "solver_iterations"));
    assert_same_hash(hash_of(sim), before);
    firn_sim_destroy(sim);
}

static void the_cheaper_integrator_is_taken_and_told(void **state)
{
    (void)state;
    for (int stiff = 0; stiff < 2; stiff++) {
        world w = stiff_world(3, FIRN_PATH_AUTO, 1);
        w.def.integrator = FIRN_INTEGRATOR_AUTO;
        w.material[0].young = stiff ? 1e9 : 1e4;
        firn_sim *sim = world_create(&w);
        add_stiff(sim, &w, true);
        firn_report report;
        assert_ok(firn_sim_advance(sim, 2e-3, &report, &error));
        assert_int_equal(report.integrator, stiff ? FIRN_IMPLICIT : FIRN_EXPLICIT);
        firn_sim_destroy(sim);
    }
}

static void keep_text(void *user_data, firn_log_level level, const char *subject, const char *text)
{
    (void)level;
    snprintf(user_data, 200, "%s: %s", subject, text);
}

static void auto_says_which_law_keeps_it_explicit(void **state)
{
    (void)state;
    char text[200] = "";
    world w = stiff_world(2, FIRN_PATH_AUTO, 2);
    w.def.integrator = FIRN_INTEGRATOR_AUTO;
    w.def.log = (firn_log){keep_text, text};
    w.material[1].law = FIRN_DRUCKER_PRAGER;
    snprintf(w.material[1].name, sizeof w.material[1].name, "gravel");
    firn_sim_destroy(world_create(&w));
    assert_string_equal(text, "integrator: materials[1] gravel: there are no implicit steps for "
                              "drucker_prager; all are explicit");
}

/* ---- state ---- */

/* Stiff bodies that slide on a floor: walls, friction, several superblocks. */
static world sliding_world(int d, firn_path path, firn_integrator integrator)
{
    world w = stiff_world(d, path, 4);
    w.def.integrator = integrator;
    w.def.gravity[1] = -9.81;
    w.def.gravity[0] = 2;
    w.def.collider_count = 1;
    for (int i = 0; i < 4; i++) w.material[i].young = 1e7;
    return w;
}

#ifndef FIRN_DOUBLE
/* A position whose sum with 1 rounds to the next block's: no step leaves one. */
static void a_position_between_blocks_is_refused(void **state)
{
    (void)state;
    world w = stiff_world(2, FIRN_PATH_AUTO, 1);
    firn_sim *sim = world_create(&w), *other = world_create(&w);
    const double at[2] = {0.02 * 1.25, 0.02 * 1.25};
    firn_particles one = firn_particles_default();
    one.count = 1;
    one.position = at;
    one.each_volume = 1e-4;
    assert_ok(firn_sim_add(sim, &one, NULL, &error));
    bytes b = {0};
    assert_ok(firn_sim_save(sim, put, &b, &error));
    const real is = (real)0.75, bad = nextafterf(4, 0);
    size_t place = 0;
    while (place + sizeof is <= b.size && memcmp(b.data + place, &is, sizeof is)) place++;
    assert_true(place + sizeof is <= b.size);
    memcpy(b.data + place, &bad, sizeof bad);
    firn_error error = {0};
    assert_int_equal(firn_sim_load(other, take, &b, &error), FIRN_INVALID);
    assert_non_null(strstr(error.message, "damaged"));
    free(b.data);
    firn_sim_destroy(sim);
    firn_sim_destroy(other);
}
#endif

static void a_loaded_state_goes_on_with_the_same_bits(void **state)
{
    (void)state;
    for (int p = 0; p < PATHS; p++)
        for (int i = FIRN_IMPLICIT; i <= FIRN_INTEGRATOR_AUTO; i++) {
            world w = sliding_world(2, both_paths[p], (firn_integrator)i);
            firn_sim *sim = world_create(&w), *other = world_create(&w);
            add_stiff(sim, &w, true);
            assert_ok(firn_sim_advance(sim, 0.02, NULL, &error));
            bytes b = {0};
            assert_ok(firn_sim_save(sim, put, &b, &error));
            assert_ok(firn_sim_load(other, take, &b, &error));
            assert_ok(firn_sim_advance(sim, 0.02, NULL, &error));
            assert_ok(firn_sim_advance(other, 0.02, NULL, &error));
            assert_same_hash(hash_of(sim), hash_of(other));
            free(b.data);
            firn_sim_destroy(sim);
            firn_sim_destroy(other);
        }
}

/* A body of 1e7 Pa at the ground: steps of 4 ms would pay, those of 0.5 ms that the impact allows do
 * not. */
static void auto_leaves_implicit_steps_that_impacts_keep_short(void **state)
{
    (void)state;
    for (int d = 2; d <= 3; d++) {
        world w = stiff_world(d, FIRN_PATH_AUTO, 1);
        w.def.integrator = FIRN_INTEGRATOR_AUTO;
        w.def.collider_count = 1;
        w.material[0].young = 1e7;
        firn_sim *sim = world_create(&w), *other = world_create(&w);
        const brick b = {
            .low = {0, 1, 0}, .cells = {6, 6, 6}, .per_axis = 2, .velocity = {0, -2, 0}};
        brick_add(sim, &w, &b);
        firn_report report;
        assert_ok(firn_sim_advance(sim, 2e-3, &report, &error));
        assert_int_equal(report.integrator, FIRN_IMPLICIT);
        bytes saved = {0};
        assert_ok(firn_sim_save(sim, put, &saved, &error));
        assert_ok(firn_sim_load(other, take, &saved, &error));
        assert_ok(firn_sim_advance(sim, 2e-3, &report, &error));
        assert_int_equal(report.integrator, FIRN_EXPLICIT);
        assert_ok(firn_sim_advance(other, 2e-3, NULL, &error));
        for (int i = 0; i < 8; i++) { /* for a while: impacts come in bouts */
            assert_ok(firn_sim_advance(sim, 2e-3, &report, &error));
            assert_ok(firn_sim_advance(other, 2e-3, NULL, &error));
            assert_int_equal(report.integrator, FIRN_EXPLICIT);
        }
        assert_ok(firn_sim_advance(sim, 2e-3, &report, &error));
        assert_ok(firn_sim_advance(other, 2e-3, NULL, &error));
        assert_int_equal(report.integrator, FIRN_IMPLICIT);
        assert_same_hash(hash_of(sim), hash_of(other));
        free(saved.data);
        firn_sim_destroy(sim);
        firn_sim_destroy(other);
    }
}

static void same_bytes_with_1_2_3_and_7_threads(void **state)
{
    (void)state;
    static const int32_t threads[] = {1, 2, 3, 7};
    for (int d = 2; d <= 3; d++)
        for (int p = 0; p < PATHS; p++) {
            firn_hash first = {{0}};
            for (int t = 0; t < 4; t++) {
                world w = sliding_world(d, both_paths[p], FIRN_IMPLICIT);
                w.def.threads = threads[t];
                firn_sim *sim = world_create(&w);
                add_stiff(sim, &w, true);
                firn_report report;
                assert_ok(firn_sim_advance(sim, 0.02, &report, &error));
                assert_true(report.iterations > 0);
                if (t == 0) first = hash_of(sim);
                assert_same_hash(hash_of(sim), first);
                firn_sim_destroy(sim);
            }
        }
}

/* Counts what is asked for. */
static void *counting(void *user_data, void *block, size_t old_size, size_t new_size,
                      size_t alignment)
{
    if (new_size > old_size) ++*(int *)user_data;
    const firn_allocator plain = firn_allocator_default();
    return plain.reallocate(plain.user_data, block, old_size, new_size, alignment);
}

static void steps_allocate_nothing_once_warm(void **state)
{
    (void)state;
    int asked = 0;
    world w = stiff_world(3, FIRN_PATH_AUTO, 1);
    w.def.allocator = (firn_allocator){.reallocate = counting, .user_data = &asked};
    firn_sim *sim = world_create(&w);
    const brick b = {.low = {0, 0, 0}, .cells = {5, 5, 5}, .per_axis = 2, .gradient = spin_3d};
    brick_add(sim, &w, &b);
    assert_ok(firn_sim_advance(sim, 0.02, NULL, &error));
    asked = 0;
    assert_ok(firn_sim_advance(sim, 0.01, NULL, &error));
    assert_int_equal(asked, 0);
    firn_sim_destroy(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conjugate_gradients_solve_and_leave_held_unknowns),
        cmocka_unit_test(conjugate_residuals_solve_what_is_not_positive),
        cmocka_unit_test(conjugate_gradients_stop_where_the_system_is_not_positive),
        cmocka_unit_test(a_world_at_rest_stays_at_rest),
        cmocka_unit_test(momentum_is_kept_without_walls),
        cmocka_unit_test(coarse_grids_reach_along_a_beam),
        cmocka_unit_test(coarse_grids_keep_momentum),
        cmocka_unit_test(short_steps_agree_with_explicit_ones),
#ifndef FIRN_DOUBLE
        cmocka_unit_test(the_fast_product_is_the_plain_one),
#endif
        cmocka_unit_test(all_methods_take_long_steps),
        cmocka_unit_test(moving_walls_carry_what_they_hold),
        cmocka_unit_test(separating_walls_do_not_pull),
        cmocka_unit_test(the_same_wall_twice_rubs_once),
        cmocka_unit_test(bodies_bounce_off_each_other_as_in_short_steps),
        cmocka_unit_test(impacts_of_bodies_shorten_the_step),
        cmocka_unit_test(a_solver_that_does_not_converge_shortens_the_step),
        cmocka_unit_test(the_cheaper_integrator_is_taken_and_told),
        cmocka_unit_test(auto_says_which_law_keeps_it_explicit),
#ifndef FIRN_DOUBLE
        cmocka_unit_test(a_position_between_blocks_is_refused),
#endif
        cmocka_unit_test(a_loaded_state_goes_on_with_the_same_bits),
        cmocka_unit_test(auto_leaves_implicit_steps_that_impacts_keep_short),
        cmocka_unit_test(same_bytes_with_1_2_3_and_7_threads),
        cmocka_unit_test(steps_allocate_nothing_once_warm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
