/* The validation cases: small worlds whose behaviour is known from theory.
 *
 * `firn validate` runs and prints them; test/test_physics.c turns the quick variants into claims. A
 * case fills a run with checks. To add one: a function and a row of the table in cases.c. */
#ifndef FIRN_CASES_H
#define FIRN_CASES_H

#include <stdbool.h>

#include <firn/firn.h>

typedef enum firn_bound {
    FIRN_NEAR,     /* within `tolerance` of the reference */
    FIRN_AT_MOST,  /* not above the reference */
    FIRN_AT_LEAST, /* not below it */
    FIRN_NOTE,     /* told, not judged */
} firn_bound;

typedef struct firn_check {
    char quantity[64];
    firn_bound bound;
    double measured, reference, tolerance;
    const char *why; /* a note is not judged */
    bool passed;     /* false for NaN */
} firn_check;

enum { FIRN_CASE_CHECKS = 32 };

/* How a case is to be run, and what came of it. */
typedef struct firn_case_run {
    bool quick;
    firn_path path;     /* FIRN_PATH_PLAIN or FIRN_PATH_FUSED */
    int32_t real_bytes; /* 4 or 8: which tolerances apply */

    int32_t count;
    firn_check check[FIRN_CASE_CHECKS];
    char failure[512]; /* empty, or why the case could not run to its end */
    bool passed;       /* ran to its end, and all checks did */
    double seconds;
} firn_case_run;

/* A row of the table. */
typedef struct firn_case {
    const char *name;
    const char *shows;
    bool fused; /* whether the fused path serves it */
    void (*run)(firn_case_run *run);
} firn_case;

/* The rows with files of their own. */
void firn_case_run_mms(firn_case_run *run);
void firn_case_run_implicit_bar(firn_case_run *run);
void firn_case_run_implicit_beam(firn_case_run *run);
void firn_case_run_implicit_rest(firn_case_run *run);
void firn_case_run_implicit_rebound(firn_case_run *run);
void firn_case_run_implicit_incline(firn_case_run *run);
void firn_case_run_conduction(firn_case_run *run);
void firn_case_run_stefan(firn_case_run *run);
void firn_case_run_hydrostatic(firn_case_run *run);
void firn_case_run_liquid_at_rest(firn_case_run *run);
void firn_case_run_dam_break(firn_case_run *run);
void firn_case_run_projected_column(firn_case_run *run);
void firn_case_run_projected_solver(firn_case_run *run);
void firn_case_run_projected_pools(firn_case_run *run);
void firn_case_run_projected_walls(firn_case_run *run);
void firn_case_run_projected_dam(firn_case_run *run);
void firn_case_run_projected_splash(firn_case_run *run);
void firn_case_run_projected_vortex(firn_case_run *run);
void firn_case_run_projected_honey(firn_case_run *run);
void firn_case_run_projected_friction(firn_case_run *run);
void firn_case_run_projected_float(firn_case_run *run);
void firn_case_run_projected_snow(firn_case_run *run);
void firn_case_run_projected_contact(firn_case_run *run);
void firn_case_run_projected_stiff(firn_case_run *run);
void firn_case_run_projected_drop(firn_case_run *run);
void firn_case_run_projected_rotation(firn_case_run *run);
void firn_case_run_projected_cap(firn_case_run *run);
void firn_case_run_sand_column(firn_case_run *run);
void firn_case_run_snow_compression(firn_case_run *run);
void firn_case_run_snow_at_rest(firn_case_run *run);
void firn_case_run_snow_into_block(firn_case_run *run);
void firn_case_run_snow_on_slope(firn_case_run *run);

extern const firn_case firn_cases[];
extern const int32_t firn_case_count;

/* The case of that name, or NULL. */
const firn_case *firn_case_find(const char *name);

/* What a sim on that path says of itself; real_bytes is 0 when this build does not have the path. */
firn_sim_info firn_case_probe(firn_path path);
bool firn_case_has_path(firn_path path);

/* Runs one case on one path, which must be one the build has and that serves the case. */
void firn_case_run_on(const firn_case *which, firn_path path, bool quick, firn_case_run *run);

#endif
