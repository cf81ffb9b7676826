/* firn bench solver: the pressure of a tank of liquid with bodies in it, by multigrid and by conjugate
 * gradients with the diagonal, in one run. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "bench.h"
#include "solve/multigrid.h"

static const char command_name[] = "firn bench solver";

static const char no_memory[] = "no memory for so many cells; lower --cells";

enum { MOST = 20000 };
#define TOLERANCE 1e-6

static struct {
    int64_t threads, cells;
    const char *csv;
    bool json;
} chosen = {.cells = 1000000};

static const firn_option options[] = {
    {"--cells", FIRN_OPTION_COUNT, &chosen.cells, "N", "cells of liquid, about", .min = 1000,
     .max = 100000000},
    FIRN_THREADS_OPTION(chosen.threads),
    FIRN_JSON_OPTION(chosen.json),
    FIRN_CSV_OPTION(chosen.csv),
};

typedef enum kind { WALL, LIQUID, AIR } kind;

/* A wavy surface, a ball and a post in the liquid, and a drop above it. */
static kind kind_at(const int32_t at[3], int32_t side)
{
    double x[3];
    for (int a = 0; a < 3; a++) {
        if (at[a] < 1 || at[a] >= side - 1) return WALL;
        x[a] = (at[a] + 0.5) / side;
    }
    const double ball = hypot(hypot(x[0] - 0.3, x[1] - 0.2), x[2] - 0.4),
                 post = hypot(x[0] - 0.7, x[2] - 0.65),
                 drop = hypot(hypot(x[0] - 0.6, x[1] - 0.8), x[2] - 0.4);
    if (ball < 0.12 || post < 0.08) return WALL;
    const double surface =
        0.45 + 0.12 * sin(9 * x[0]) * cos(7 * x[2]) + 0.05 * sin(31 * x[0] + 17 * x[2]);
    return x[1] < surface || drop < 0.1 ? LIQUID : AIR;
}

typedef struct tank {
    int32_t side;
    int64_t liquid; /* cells */
    firn_directory d;
    firn_multigrid m;
    firn_allocator memory;
    firn_workers workers;
    double *b, *x;
} tank;

static void cell_place(const tank *t, int32_t block, int c, int32_t at[3])
{
    for (int a = 2; a >= 0; a--, c /= FIRN_BLOCK) {
        at[a] = FIRN_BLOCK * t->d.coord[block][a] + c % FIRN_BLOCK;
    }
}

/* The directory of the blocks with liquid. */
static firn_status find_blocks(tank *t, firn_error *error)
{
    const int32_t blocks = t->side / FIRN_BLOCK + 1;
    uint64_t *key = malloc(2 * (size_t)blocks * (size_t)blocks * (size_t)blocks * sizeof *key);
    if (!key) return firn_fail(error, FIRN_NO_MEMORY, no_memory);
    int32_t count = 0;
    t->d = (firn_directory){.dim = 3, .axis_bits = FIRN_AXIS_BITS};
    for (int32_t n = 0; n < blocks * blocks * blocks; n++) {
        const int32_t coord[3] = {n / blocks / blocks, n / blocks % blocks, n % blocks};
        int liquid = 0;
        for (int c = 0; c < FIRN_MAX_CELLS; c++) {
            const int32_t at[3] = {4 * coord[0] + c / 16, 4 * coord[1] + c / 4 % 4,
                                   4 * coord[2] + c % 4};
            liquid += kind_at(at, t->side) == LIQUID;
        }
        t->liquid += liquid;
        if (liquid) key[count++] = firn_block_key(&t->d, 0, coord);
    }
    firn_sort_keys(key, key + count, count);
    const firn_status st = firn_directory_init(&t->d, 3, key, count, &t->memory, error);
    free(key);
    return st;
}

/* Face coefficients of 1, and a right-hand side with long and short waves. */
static void fill(tank *t)
{
    firn_level *l = t->m.level;
    for (int32_t b = 0; b < t->d.count; b++) {
        for (int c = 0; c < FIRN_MAX_CELLS; c++) {
            const size_t place = (size_t)b * FIRN_MAX_CELLS + (size_t)c;
            int32_t at[3];
            cell_place(t, b, c, at);
            t->b[place] = 0;
            if (kind_at(at, t->side) != LIQUID) continue;
            t->b[place] = sin(0.11 * at[0]) * cos(0.07 * at[1]) + 0.3 * sin(0.9 * at[2]);
            for (int i = 0; i < 6; i++) {
                int32_t next[3] = {at[0], at[1], at[2]};
                next[i / 2] += i % 2 ? 1 : -1;
                const kind other = kind_at(next, t->side);
                if (other == AIR) l->anchor[place] += 1;
                if (other == LIQUID && i % 2) l->face[i / 2][place] = 1;
            }
        }
    }
}

static firn_status open_tank(tank *t, firn_error *error)
{
    *t = (tank){.memory = firn_allocator_default(),
                .workers.count = (int32_t)chosen.threads ? (int32_t)chosen.threads
                                                         : firn_parallel_max_threads()};
    t->side = (int32_t)lround(cbrt((double)chosen.cells / 0.42));
    firn_status st = find_blocks(t, error);
    if (st != FIRN_OK) return st;
    const size_t numbers = ((size_t)t->d.count + 1) * FIRN_MAX_CELLS;
    int32_t(*link)[6] = malloc((size_t)t->d.count * sizeof *link);
    t->b = calloc(numbers, sizeof *t->b);
    t->x = calloc(numbers, sizeof *t->x);
    if (!link || !t->b || !t->x) {
        st = firn_fail(error, FIRN_NO_MEMORY, no_memory);
    } else {
        for (int32_t b = 0; b < t->d.count; b++) {
            int32_t near[FIRN_MAX_NEIGHBOURS];
            firn_directory_neighbours(&t->d, b, near);
            static const int8_t of[6] = {4, 22, 10, 16, 12, 14};
            for (int i = 0; i < 6; i++) link[b][i] = near[of[i]] < 0 ? t->d.count : near[of[i]];
        }
        st = firn_multigrid_reserve(&t->m, 3, t->d.count, (const int32_t(*)[3])t->d.coord,
                                    (const int32_t(*)[6])link, &t->workers, &t->memory, error);
    }
    free(link);
    if (st == FIRN_OK) fill(t);
    return st;
}

static void close_tank(tank *t)
{
    firn_multigrid_free(&t->m, &t->memory);
    firn_directory_free(&t->d, &t->memory);
    free(t->b);
    free(t->x);
}

static int run(void)
{
    firn_bench_csv csv;
    if (!firn_bench_csv_open(&csv, command_name, chosen.csv,
                             "cells,threads,setup_seconds,multigrid_seconds,multigrid_iterations,"
                             "jacobi_seconds,jacobi_iterations")) {
        return FIRN_EXIT_OUTPUT;
    }
    tank t;
    firn_error error = {0};
    firn_status st = open_tank(&t, &error);
    double seconds[3] = {0}, left[2] = {0};
    firn_solution s[2] = {{0}};
    if (st == FIRN_OK) {
        const double begin = firn_clock();
        st = firn_multigrid_setup(&t.m, &t.memory, &error);
        seconds[0] = firn_clock() - begin;
    }
    for (int i = 0; i < 2 && st == FIRN_OK; i++) {
        const double begin = firn_clock();
        s[i] = (i ? firn_multigrid_solve_jacobi : firn_multigrid_solve)(&t.m, t.b, t.x, TOLERANCE,
                                                                        MOST);
        seconds[i + 1] = firn_clock() - begin;
        left[i] = firn_multigrid_residual(&t.m, t.b, t.x);
        if (!s[i].converged) {
            st =
                firn_fail(&error, FIRN_DIVERGED, "%s leaves a residual of %.2g after %d iterations",
                          i ? "jacobi" : "multigrid", left[i], s[i].iterations);
        }
    }
    int exit_code = st == FIRN_OK ? 0 : firn_options_failure(command_name, st, &error);
    const double faster = seconds[2] / (seconds[0] + seconds[1]);
    if (st == FIRN_OK && chosen.json) {
        printf("{\"cells\": %lld, \"threads\": %d, \"setup_seconds\": %.4f, "
               "\"multigrid_seconds\": %.4f, \"multigrid_iterations\": %d, "
               "\"multigrid_residual\": %.3g, \"jacobi_seconds\": %.4f, "
               "\"jacobi_iterations\": %d, \"jacobi_residual\": %.3g, \"faster\": %.2f}\n",
               (long long)t.liquid, t.workers.count, seconds[0], seconds[1], s[0].iterations,
               left[0], seconds[2], s[1].iterations, left[1], faster);
    } else if (st == FIRN_OK) {
        printf("%lld cells of liquid in %d blocks, %d thread%s, to %g\n\n"
               "           iterations   residual   set-up, s   solve, s\n"
               "multigrid  %10d   %8.1e   %9.3f   %8.3f\n"
               "jacobi     %10d   %8.1e   %9s   %8.3f\n\nmultigrid is %.1f times faster\n",
               (long long)t.liquid, t.d.count, t.workers.count, t.workers.count == 1 ? "" : "s",
               TOLERANCE, s[0].iterations, left[0], seconds[0], seconds[1], s[1].iterations,
               left[1], "", seconds[2], faster);
    }
    if (st == FIRN_OK) {
        firn_bench_csv_row(&csv, "%lld,%d,%.4f,%.4f,%d,%.4f,%d", (long long)t.liquid,
                           t.workers.count, seconds[0], seconds[1], s[0].iterations, seconds[2],
                           s[1].iterations);
    }
    close_tank(&t);
    if (!firn_bench_csv_close(&csv, command_name) && exit_code == 0) exit_code = FIRN_EXIT_OUTPUT;
    return exit_code;
}

const firn_command firn_bench_solver_command = {
    .name = command_name,
    .line = "multigrid against conjugate gradients with the diagonal",
    .summary = "Solves for the pressure in a tank of liquid with bodies in it, by the multigrid "
               "solver and by the one it is checked with, until the residual is 1e-6 of the "
               "right-hand side.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run};
