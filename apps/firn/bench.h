/* What the benchmarks share: counted memory, CSV output, peak speed of the machine, scenes.
 *
 * Each benchmark is a file bench_<name>.c; bench.c picks one. Nothing is written to disk unless
 * --csv asks for it. */
#ifndef FIRN_BENCH_H
#define FIRN_BENCH_H

#include <stdbool.h>
#include <stdio.h>

#include <firn/firn.h>

#include "options.h"
#include "progress.h"
#include "shapes.h"

extern const firn_command firn_bench_step_command, firn_bench_scaling_command,
    firn_bench_realtime_command, firn_bench_stable_command, firn_bench_files_command,
    firn_bench_fill_command, firn_bench_implicit_command, firn_bench_busy_command,
    firn_bench_voxelize_command, firn_bench_live_command, firn_bench_solver_command,
    firn_bench_liquid_command;

/* The row that every benchmark has. */
#define FIRN_CSV_OPTION(to)                                                                        \
    {                                                                                              \
        "--csv", FIRN_OPTION_TEXT, &(to), "FILE", "append the figures to FILE",                    \
            .files = FIRN_FILES_ANY                                                                \
    }

/* The presets and the laws by name, for the options that take one; and such a material: a law has the
 * parameters of hard jelly. */
const char *firn_bench_material_name(int32_t index);
firn_material_def firn_bench_material(const char *name);

/* ---- measuring (bench.c) ---- */

/* Seconds of processor time that all threads of this process have had: what other programs do changes
 * it little. */
double firn_bench_cpu(void);

/* What went through the allocator below: the most that was held at a time, both blocks of a growing
 * one included. */
typedef struct firn_bench_memory {
    size_t held, peak; /* bytes */
} firn_bench_memory;
firn_allocator firn_bench_allocator(firn_bench_memory *memory);

/* Bytes this process may still take: the machine's free memory or the container's limit, whichever
 * is less; INT64_MAX when unknown. */
int64_t firn_bench_memory_available(void);

/* ---- results (bench.c) ---- */

/* An open CSV file, or nothing when no --csv was given: printing to that does nothing. */
typedef struct firn_bench_csv {
    FILE *file;
    const char *path;
} firn_bench_csv;

/* Opens for appending: a new file starts with the names of the columns, and rows stand below
 * a comment naming machine, compiler and date. path NULL is fine. False, with a message, when it cannot. */
bool firn_bench_csv_open(firn_bench_csv *csv, const char *command, const char *path,
                         const char *columns);
__attribute__((format(printf, 2, 3))) void firn_bench_csv_row(const firn_bench_csv *csv,
                                                              const char *format, ...);
/* False, with a message, when not everything arrived on disk. */
bool firn_bench_csv_close(firn_bench_csv *csv, const char *command);

/* The CPUs' name as the system tells it, and how many there are. */
void firn_bench_machine(char *text, size_t size);

/* The compiler this was built with. Static storage. */
const char *firn_bench_compiler(void);

/* ---- the machine's own speed (bench_peak.c) ---- */

/* GFLOP/s of independent multiply-adds in registers with that instruction set on that many threads
 * at once, best of several; 0 when there is no such measurement for it. Takes some 60 ms. */
double firn_bench_peak_gflops(const char *isa, int32_t threads);

/* Useful floating-point operations of one particle-step, by count of the algorithm (3D, quadratic,
 * APIC, MLS, neo-Hookean): efficiency relates speed to the peak through it. */
#define FIRN_BENCH_FLOP 1200.0

/* ---- the cube (bench_cube.c) ---- */

/* A jittered cube of 8 particles per cell that turns and falls onto a plane, crossing cells, with
 * automatic dt and the guard on. Time is taken of whole advances, because that is how the fused path
 * runs: scatter at the start, gather at the end, one sweep per step in between. */
typedef struct firn_cube_run {
    int64_t particles;
    const char *name; /* of the material */
    firn_material_def material;
    firn_transfer transfer;
    int64_t threads; /* 0: all */
    const char *isa; /* NULL: the best */
    firn_path path;
    int warmup;          /* steps not timed */
    int advance;         /* steps per timed advance, about: dt decides */
    int least, most;     /* advances timed: `most`, but no more than `least` once time is up */
    double time_allowed; /* s */

    /* Of the advance with the median time per step. */
    double seconds_per_step;
    double phase_seconds[FIRN_PHASES]; /* per step */
    /* Of all timed advances. */
    int advances;
    int64_t steps, retries;
    double dt; /* s, of the step after them */
    firn_limit limit;
    double bytes_per_particle;
    firn_sim_info info;
    /* The machine's peak around the advance reported, and its range over the run. 0: none known. */
    double peak_gflops, peak_least, peak_most;
} firn_cube_run;
FIRN_MUST_CHECK firn_status firn_bench_cube(firn_cube_run *run, firn_error *error);

/* ---- jelly bodies (bench_jelly.c) ---- */

/* The two parameter sets of the published study the figures are compared with. */
typedef enum firn_jelly { FIRN_JELLY_HARD, FIRN_JELLY_SOFT } firn_jelly;
firn_material_def firn_jelly_material(firn_jelly jelly, firn_law_kind law);

typedef enum firn_jelly_kind {
    FIRN_JELLY_BALL,     /* falls on the ground */
    FIRN_JELLY_CREATURE, /* falls on the ground */
    FIRN_JELLY_PAIR,     /* a ball falls on another, which rests on the ground */
} firn_jelly_kind;

/* One scene on a grid of 128 cells per metre. */
typedef struct firn_jelly_scene {
    firn_jelly_kind kind;
    int64_t particles; /* in all */
    double spacing;    /* cells between particles */
    bool random;
    firn_law_kind law;
    firn_jelly jelly; /* of what falls */
    firn_jelly under; /* of the resting ball */
} firn_jelly_scene;

#define FIRN_JELLY_CELL (1.0 / 128)

/* The scene as a sim. dt 0 is automatic. */
FIRN_MUST_CHECK firn_status firn_jelly_create(const firn_jelly_scene *scene, double dt,
                                              int64_t threads, const char *isa, firn_sim **sim,
                                              firn_error *error);

#endif
