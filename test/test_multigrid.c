/* The multigrid solver: against a direct solve, the properties that conjugate gradients need of the
 * preconditioner, and domains that make solvers slow. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "random.h"
#include "solve/multigrid.h"

#define assert_ok(call)                                                                            \
    do {                                                                                           \
        firn_error error = {0};                                                                    \
        if ((call) != FIRN_OK) {                                                                   \
            print_error("%s\n", error.message);                                                    \
            fail();                                                                                \
        }                                                                                          \
    } while (0)

/* What a cell is: a wall, liquid, or air, whose value is 0. */
typedef enum kind { WALL, LIQUID, AIR } kind;
typedef kind kind_function(const int at[3], int side);
/* The coefficient of the face below a cell along an axis. */
typedef double face_function(const int at[3], int axis, int side);

static double one(const int at[3], int axis, int side)
{
    (void)at, (void)axis, (void)side;
    return 1;
}

typedef struct world {
    firn_directory d;
    firn_multigrid m;
    firn_allocator memory;
    int dim, side; /* cells along an axis */
    size_t numbers;
    double *b, *x;
} world;

static kind kind_at(kind_function *what, const int at[3], int dim, int side)
{
    for (int a = 0; a < dim; a++) {
        if (at[a] < 0 || at[a] >= side) return WALL;
    }
    return what(at, side);
}

/* Where the first block of worlds lies, on all axes. */
static int32_t first_block;

static void cell_place(const world *w, int32_t block, int c, int at[3])
{
    at[2] = 0;
    for (int a = w->dim - 1; a >= 0; a--, c /= FIRN_BLOCK) {
        at[a] = FIRN_BLOCK * (w->d.coord[block][a] - first_block) + c % FIRN_BLOCK;
    }
}

static const firn_workers crew[4] = {{0}, {.count = 1}, {.count = 2}, {.count = 3}};

/* A cube of `side` cells, of which only blocks with liquid exist. */
static world make_world(int dim, int side, kind_function *what, face_function *coefficient,
                        int32_t threads)
{
    world w = {.dim = dim, .side = side, .memory = firn_allocator_default()};
    w.d.dim = dim;
    w.d.axis_bits = FIRN_AXIS_BITS;
    const int blocks = (side + 3) / 4, all = firn_pow(blocks, dim), cells = firn_pow(4, dim);
    uint64_t *key = malloc(2 * (size_t)all * sizeof *key);
    assert_non_null(key);
    int32_t count = 0;
    for (int n = 0; n < all; n++) {
        int32_t coord[3] = {n % blocks, n / blocks % blocks, dim == 3 ? n / blocks / blocks : 0};
        bool any = false;
        for (int c = 0; c < cells && !any; c++) {
            int at[3] = {0};
            for (int a = dim - 1, rest = c; a >= 0; a--, rest /= 4) at[a] = 4 * coord[a] + rest % 4;
            any = kind_at(what, at, dim, side) == LIQUID;
        }
        for (int a = 0; a < dim; a++) coord[a] += first_block;
        if (any) key[count++] = firn_block_key(&w.d, 0, coord);
    }
    firn_sort_keys(key, key + all, count);
    assert_ok(firn_directory_init(&w.d, dim, key, count, &w.memory, &error));
    free(key);
    int32_t(*link)[6] = malloc((size_t)count * sizeof *link);
    assert_non_null(link);
    for (int32_t b = 0; b < count; b++) {
        for (int i = 0; i < 2 * dim; i++) {
            int32_t coord[3];
            memcpy(coord, w.d.coord[b], sizeof coord);
            coord[i / 2] += i % 2 ? 1 : -1;
            const int32_t found = firn_directory_find(&w.d, firn_block_key(&w.d, 0, coord));
            link[b][i] = found < 0 ? count : found;
        }
    }
    assert_ok(firn_multigrid_reserve(&w.m, dim, count, (const int32_t(*)[3])w.d.coord,
                                     (const int32_t(*)[6])link, &crew[threads], &w.memory, &error));
    free(link);
    firn_level *l = w.m.level;
    for (int32_t b = 0; b < count; b++) {
        for (int c = 0; c < cells; c++) {
            int at[3];
            cell_place(&w, b, c, at);
            if (kind_at(what, at, dim, side) != LIQUID) continue;
            for (int i = 0; i < 2 * dim; i++) {
                const int a = i / 2;
                int next[3] = {at[0], at[1], at[2]};
                next[a] += i % 2 ? 1 : -1;
                const double k = coefficient(i % 2 ? next : at, a, side);
                const kind other = kind_at(what, next, dim, side);
                const size_t place = (size_t)b * (size_t)cells + (size_t)c;
                if (other == AIR) l->anchor[place] += (real)k;
                if (other == LIQUID && i % 2) l->face[a][place] = (real)k;
            }
        }
    }
    assert_ok(firn_multigrid_setup(&w.m, &w.memory, &error));
    w.numbers = (size_t)(count + 1) * (size_t)cells;
    w.b = calloc(w.numbers, sizeof *w.b);
    w.x = calloc(w.numbers, sizeof *w.x);
    assert_non_null(w.b);
    assert_non_null(w.x);
    random_state = 7;
    for (int32_t b = 0; b < count; b++) {
        for (int c = 0; c < cells; c++) {
            int at[3];
            cell_place(&w, b, c, at);
            if (kind_at(what, at, dim, side) != LIQUID) continue;
            w.b[(size_t)b * (size_t)cells + (size_t)c] =
                sin(0.11 * at[0]) * cos(0.07 * at[1]) + 0.3 * sin(0.9 * at[2]) + uniform(0, 0.1);
        }
    }
    return w;
}

static void end_world(world *w)
{
    firn_multigrid_free(&w->m, &w->memory);
    firn_directory_free(&w->d, &w->memory);
    free(w->b);
    free(w->x);
}

/* Solves A x = b of n unknowns by elimination with pivots. */
static void solve_dense(double *A, double *b, int n)
{
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k + 1; i < n; i++) {
            if (fabs(A[i * n + k]) > fabs(A[best * n + k])) best = i;
        }
        for (int j = 0; j < n; j++) {
            const double t = A[k * n + j];
            A[k * n + j] = A[best * n + j];
            A[best * n + j] = t;
        }
        const double t = b[k];
        b[k] = b[best];
        b[best] = t;
        for (int i = k + 1; i < n; i++) {
            const double f = A[i * n + k] / A[k * n + k];
            if (f == 0) continue;
            for (int j = k; j < n; j++) A[i * n + j] -= f * A[k * n + j];
            b[i] -= f * b[k];
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        for (int j = k + 1; j < n; j++) b[k] -= A[k * n + j] * b[j];
        b[k] /= A[k * n + k];
    }
}

/* ---- domains ---- */

static uint64_t hash_place(const int at[3], uint64_t seed)
{
    uint64_t z = (uint64_t)(at[0] * 73856093) ^ (uint64_t)(at[1] * 19349663) ^
                 (uint64_t)(at[2] * 83492791) ^ seed * 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static uint64_t domain_seed;
static kind scattered(const int at[3], int side)
{
    (void)side;
    const uint64_t r = hash_place(at, domain_seed) % 100;
    return r < 60 ? LIQUID : r < 75 ? AIR : WALL;
}
static double scattered_face(const int at[3], int axis, int side)
{
    (void)side;
    return 0.1 + (double)(hash_place(at, domain_seed + 17 + (uint64_t)axis) % 1000) / 500;
}

/* A tank with a wavy surface and two bodies in it. */
static kind tank(const int at[3], int side)
{
    const double x = (at[0] + 0.5) / side, y = (at[1] + 0.5) / side, z = (at[2] + 0.5) / side;
    if ((x - 0.3) * (x - 0.3) + (y - 0.2) * (y - 0.2) + (z - 0.4) * (z - 0.4) < 0.015) return WALL;
    if ((x - 0.7) * (x - 0.7) + (z - 0.65) * (z - 0.65) < 0.006) return WALL;
    return y < 0.45 + 0.12 * sin(9 * x) * cos(7 * z) + 0.05 * sin(31 * x + 17 * z) ? LIQUID : AIR;
}

static kind box(const int at[3], int side)
{
    (void)at, (void)side;
    return LIQUID;
}

/* Walls a cell thick every fourth row, each with a gap of one cell at alternating ends. */
static kind labyrinth(const int at[3], int side)
{
    if (at[1] == side - 1) return AIR;
    if (at[1] % 4 != 3) return LIQUID;
    return at[0] == (at[1] / 4 % 2 ? 0 : side - 1) ? LIQUID : WALL;
}

/* Layers of fluids of densities 1 and 1000, as slanted stripes. */
static double heavy(const int at[3], int axis, int side)
{
    (void)axis;
    return (at[0] + 2 * at[1] + at[2]) % (side / 2) < side / 4 ? 1 : 1e-3;
}

/* ---- claims ---- */

static void solves_what_a_direct_solver_solves(void **state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        for (domain_seed = 1; domain_seed <= 4; domain_seed++) {
            world w = make_world(dim, dim == 2 ? 18 : 9, scattered, scattered_face, 1);
            const firn_solution s = firn_multigrid_solve(&w.m, w.b, w.x, 1e-10, 200);
            assert_true(s.converged);
            int n = 0, *of = malloc(w.numbers * sizeof *of);
            assert_non_null(of);
            for (size_t i = 0; i < w.numbers; i++) of[i] = w.m.level->inverse[i] > 0 ? n++ : -1;
            double *A = calloc((size_t)n * (size_t)n, sizeof *A), *b = calloc((size_t)n, sizeof *b);
            double *p = calloc(w.numbers, sizeof *p), *q = calloc(w.numbers, sizeof *q);
            assert_true(A && b && p && q);
            for (size_t i = 0; i < w.numbers; i++) {
                if (of[i] < 0) continue;
                b[of[i]] = w.b[i];
                p[i] = 1;
                (void)firn_multigrid_apply(&w.m, p, q);
                p[i] = 0;
                for (size_t k = 0; k < w.numbers; k++) {
                    if (of[k] >= 0) A[of[k] * n + of[i]] = q[k];
                }
            }
            /* Of floating parts any constant is a solution: the first of each is held, and then means
             * are compared. */
            const firn_multigrid *m = &w.m;
            const int cells = m->cells;
            for (int32_t blk = 0; blk < m->level->count; blk++) {
                for (int32_t i = m->patch_first[blk]; i < m->patch_first[blk + 1]; i++) {
                    if (!m->patch[i].floating || m->patch[i].root != i) continue;
                    const int k = of[blk * cells + __builtin_ctzll(m->patch[i].cells)];
                    A[k * n + k] *= 2;
                }
            }
            solve_dense(A, b, n);
            double *direct = calloc(w.numbers, sizeof *direct);
            double *sum = calloc((size_t)m->patch_first[m->level->count] + 1, 2 * sizeof *sum);
            assert_true(direct && sum);
            for (int pass = 0; pass < 2; pass++) {
                for (int32_t blk = 0; blk < m->level->count; blk++) {
                    for (int32_t i = m->patch_first[blk]; i < m->patch_first[blk + 1]; i++) {
                        const int32_t root = m->patch[i].root;
                        for (uint64_t left = m->patch[i].cells; left; left &= left - 1) {
                            const int at = blk * cells + __builtin_ctzll(left);
                            if (pass == 0) {
                                sum[2 * root] += b[of[at]];
                                sum[2 * root + 1]++;
                            } else {
                                direct[at] =
                                    b[of[at]] -
                                    (m->patch[i].floating ? sum[2 * root] / sum[2 * root + 1] : 0);
                            }
                        }
                    }
                }
            }
            double off = 0, size = 0;
            for (size_t i = 0; i < w.numbers; i++) {
                off = fmax(off, fabs(direct[i] - w.x[i]));
                size = fmax(size, fabs(direct[i]));
            }
            assert_true(off < 1e-7 * size);
            free(of), free(A), free(b), free(p), free(q), free(direct), free(sum);
            end_world(&w);
        }
    }
}

static void preconditioner_is_symmetric_and_positive(void **state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        domain_seed = 5;
        world w = make_world(dim, 20, dim == 2 ? scattered : tank, scattered_face, 2);
        firn_level *l = w.m.level;
        double *u = calloc(w.numbers, sizeof *u), *v = calloc(w.numbers, sizeof *v);
        double *Mu = calloc(w.numbers, sizeof *Mu), *Mv = calloc(w.numbers, sizeof *Mv);
        assert_true(u && v && Mu && Mv);
        for (size_t i = 0; i < w.numbers; i++) {
            u[i] = l->inverse[i] > 0 ? uniform(-0.5, 0.5) : 0;
            v[i] = l->inverse[i] > 0 ? uniform(-0.5, 0.5) : 0;
        }
        for (int k = 0; k < 2; k++) {
            for (size_t i = 0; i < w.numbers; i++) l->b[i] = (real)(k ? v : u)[i];
            firn_multigrid_cycle(&w.m);
            for (size_t i = 0; i < w.numbers; i++) (k ? Mv : Mu)[i] = (double)l->x[i];
        }
        double uMv = 0, vMu = 0, uMu = 0;
        for (size_t i = 0; i < w.numbers; i++) {
            uMv += u[i] * Mv[i];
            vMu += v[i] * Mu[i];
            uMu += u[i] * Mu[i];
        }
        assert_true(uMu > 0);
        assert_true(fabs(uMv - vMu) < 2e-5 * uMu);
        free(u), free(v), free(Mu), free(Mv);
        end_world(&w);
    }
}

static int32_t iterations_of(int dim, int side, kind_function *what, face_function *coefficient,
                             double *error)
{
    world w = make_world(dim, side, what, coefficient, 2);
    const firn_solution s = firn_multigrid_solve(&w.m, w.b, w.x, 1e-6, 500);
    assert_true(s.converged);
    *error = firn_multigrid_residual(&w.m, w.b, w.x);
    end_world(&w);
    return s.iterations;
}

static void iterations_hardly_grow_with_resolution(void **state)
{
    (void)state;
    static const int sides[2][4] = {{32, 64, 128, 256}, {12, 24, 48, 96}};
    for (int dim = 2; dim <= 3; dim++) {
        int32_t first = 0;
        for (int i = 0; i < 4; i++) {
            double left;
            const int32_t n = iterations_of(dim, sides[dim - 2][i], tank, one, &left);
            print_message("%dD, %d cells: %d iterations\n", dim, sides[dim - 2][i], n);
            assert_true(left < 1.01e-6);
            if (i == 0) first = n;
            assert_true(n <= first * 3 / 2);
        }
    }
}

static void narrow_gaps_and_heavy_fluids_converge(void **state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        const int side = dim == 2 ? 128 : 48;
        double left;
        const int32_t maze = iterations_of(dim, side, labyrinth, one, &left);
        assert_true(left < 1.01e-6);
        const int32_t mixed = iterations_of(dim, side, tank, heavy, &left);
        assert_true(left < 1.01e-6);
        print_message("%dD: labyrinth %d iterations, densities 1000:1 %d\n", dim, maze, mixed);
        assert_true(maze <= 160); /* the path through the 2D one is 4,000 cells long */
        assert_true(mixed <= 60);
    }
}

static void closed_boxes_and_pockets_lose_their_means(void **state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        world w = make_world(dim, 24, box, one, 2);
        const firn_solution s = firn_multigrid_solve(&w.m, w.b, w.x, 1e-6, 100);
        assert_true(s.converged && w.m.floats);
        assert_true(s.iterations < 20);
        assert_true(firn_multigrid_residual(&w.m, w.b, w.x) < 1.01e-6);
        double mean = 0, most = 0;
        for (size_t i = 0; i < w.numbers; i++) {
            mean += w.x[i];
            most = fmax(most, fabs(w.x[i]));
        }
        assert_true(fabs(mean) < 1e-9 * most * (double)w.numbers);
        end_world(&w);
    }
}

/* An overfull box asks for the same of every cell, and no x does that: 0 is the closest. */
static void constants_on_closed_boxes_are_solved_by_nothing(void **state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        for (int side = 8; side <= 48; side += 20) {
            world w = make_world(dim, side, box, one, 2);
            for (size_t i = 0; i < w.numbers; i++) w.b[i] = 0.1 * side; /* not a binary fraction */
            const firn_solution s = firn_multigrid_solve(&w.m, w.b, w.x, 1e-6, 100);
            assert_true(s.converged && s.residual <= 1e-6);
            for (size_t i = 0; i < w.numbers; i++) assert_true(fabs(w.x[i]) < 1e-9);
            end_world(&w);
        }
    }
}

static void agrees_with_the_reference(void **state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        world w = make_world(dim, 24, tank, one, 2);
        double *x = calloc(w.numbers, sizeof *x);
        assert_non_null(x);
        assert_true(firn_multigrid_solve_jacobi(&w.m, w.b, x, 1e-6, 5000).converged);
        assert_true(firn_multigrid_residual(&w.m, w.b, x) < 1.01e-6);
        assert_true(firn_multigrid_solve(&w.m, w.b, w.x, 1e-9, 100).converged);
        double off = 0, size = 0;
        for (size_t i = 0; i < w.numbers; i++) {
            off = fmax(off, fabs(x[i] - w.x[i]));
            size = fmax(size, fabs(w.x[i]));
        }
        assert_true(off < 2e-5 * size);
        free(x);
        end_world(&w);
    }
}

static void the_origin_costs_no_levels(void **state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        for (first_block = -5; first_block <= 1; first_block++) {
            world w = make_world(dim, 20, tank, one, 1);
            const firn_solution s = firn_multigrid_solve(&w.m, w.b, w.x, 1e-6, 100);
            assert_true(s.converged && s.iterations <= 10);
            assert_int_equal(w.m.level[w.m.levels - 1].count, 1);
            assert_true(w.m.levels <= 4); /* five blocks, three, two, one */
            end_world(&w);
        }
    }
    first_block = 0;
}

static void bytes_do_not_depend_on_threads(void **state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        world w[3];
        for (int t = 0; t < 3; t++) {
            w[t] = make_world(dim, dim == 2 ? 150 : 50, tank, one, t + 1);
            assert_true(firn_multigrid_solve(&w[t].m, w[t].b, w[t].x, 1e-6, 100).converged);
        }
        for (int t = 1; t < 3; t++) {
            assert_memory_equal(w[0].x, w[t].x, w[0].numbers * sizeof *w[0].x);
        }
        for (int t = 0; t < 3; t++) end_world(&w[t]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solves_what_a_direct_solver_solves),
        cmocka_unit_test(preconditioner_is_symmetric_and_positive),
        cmocka_unit_test(iterations_hardly_grow_with_resolution),
        cmocka_unit_test(narrow_gaps_and_heavy_fluids_converge),
        cmocka_unit_test(closed_boxes_and_pockets_lose_their_means),
        cmocka_unit_test(constants_on_closed_boxes_are_solved_by_nothing),
        cmocka_unit_test(agrees_with_the_reference),
        cmocka_unit_test(the_origin_costs_no_levels),
        cmocka_unit_test(bytes_do_not_depend_on_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
