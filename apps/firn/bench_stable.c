/* firn bench stable: the largest fixed time step that holds, by bisection.
 *
 * The studies are those of a published evaluation of real-time MPM: how seeding, law, particle
 * spacing, particle count and the coupling of two bodies bear on the step. That evaluation gives dt
 * in units of its own; dt c / h, with c the speed of pressure waves at rest, compares across them. */
#include "bench.h"

#include <math.h>
#include <string.h>

static const char command_name[] = "firn bench stable";

#define DURATION 0.25         /* s: fall, impact and rebound */
#define LOOK_EVERY (1.0 / 60) /* s between looks at the energy, about */
#define ENERGY_GROWTH 1.1     /* of the initial energy: more is unstable */
#define SPEED_LIMIT 20.0      /* m/s: bodies fall at 1 m/s */
#define RESOLUTION 1.02       /* the bisection ends when its bounds are this close */

typedef struct study_row {
    const char *studies; /* the names of the studies it belongs to */
    firn_jelly_scene scene;
} study_row;

#define NH FIRN_NEO_HOOKEAN
#define FC FIRN_FIXED_COROTATED
#define HARD FIRN_JELLY_HARD
#define SOFT FIRN_JELLY_SOFT
#define BALL(random, law, jelly)                                                                   \
    {                                                                                              \
        "seeding", { FIRN_JELLY_BALL, 16048, 0.5, random, law, jelly, jelly }                      \
    }
#define CREATURE(studies, count, spacing, law, jelly)                                              \
    {                                                                                              \
        studies, { FIRN_JELLY_CREATURE, count, spacing, false, law, jelly, jelly }                 \
    }
#define PAIR(jelly, under)                                                                         \
    {                                                                                              \
        "pair", { FIRN_JELLY_PAIR, 32096, 0.5, false, NH, jelly, under }                           \
    }

static const study_row rows[] = {
    BALL(false, NH, HARD),
    BALL(true, NH, HARD),
    BALL(false, NH, SOFT),
    BALL(true, NH, SOFT),
    BALL(false, FC, HARD),
    BALL(true, FC, HARD),
    BALL(false, FC, SOFT),
    BALL(true, FC, SOFT),
    CREATURE("law spacing count", 52730, 0.5, NH, HARD),
    CREATURE("law spacing count", 52730, 0.5, NH, SOFT),
    CREATURE("law", 52730, 0.5, FC, HARD),
    CREATURE("law", 52730, 0.5, FC, SOFT),
    CREATURE("spacing", 52730, 1.0, NH, HARD),
    CREATURE("spacing", 52730, 1.0, NH, SOFT),
    CREATURE("spacing", 52730, 0.3, NH, HARD),
    CREATURE("spacing", 52730, 0.3, NH, SOFT),
    CREATURE("count", 6629, 0.5, NH, HARD),
    CREATURE("count", 6629, 0.5, NH, SOFT),
    CREATURE("count", 22268, 0.5, NH, HARD),
    CREATURE("count", 22268, 0.5, NH, SOFT),
    PAIR(HARD, HARD),
    PAIR(SOFT, HARD),
    PAIR(SOFT, SOFT),
};
enum { ROWS = sizeof rows / sizeof *rows };

/* ---- one run at one dt ---- */

typedef struct trial {
    bool stable;
    const char *broke; /* what gave it away when not */
    int64_t steps;
    double simulated, seconds;
    double phase_seconds[FIRN_PHASES];
} trial;

static double energy(const firn_totals *t) { return t->kinetic + t->elastic + t->gravitational; }

/* What is wrong after an advance, or NULL. The plain path shortens a fixed step instead of retrying. */
static const char *symptom(const firn_report *report, double dt, const firn_totals *now,
                           double energy_before)
{
    if (dt > 0 && (report->retries > 0 || report->dt_least < 0.999 * dt)) return "cell";
    if (!isfinite(energy(now)) || !isfinite(now->max_speed)) return "finite";
    if (energy(now) > ENERGY_GROWTH * energy_before) return "energy";
    if (now->max_speed > SPEED_LIMIT) return "speed";
    return NULL;
}

/* Runs the scene; dt 0 is automatic. Anything but divergence is returned as a failure. */
static firn_status attempt(const firn_jelly_scene *scene, double dt, int64_t threads,
                           const char *isa, trial *out, firn_error *error)
{
    *out = (trial){0};
    firn_sim *sim = NULL;
    firn_status st = firn_jelly_create(scene, dt, threads, isa, &sim, error);
    firn_totals totals;
    if (st == FIRN_OK) st = firn_sim_measure(sim, &totals, error);
    const double energy_before = st == FIRN_OK ? energy(&totals) : 0;
    /* Whole steps per look: a fixed dt is only kept where no frame ends. */
    const double look = dt > 0 ? dt * ceil(LOOK_EVERY / dt) : LOOK_EVERY;
    while (st == FIRN_OK && !out->broke && out->simulated < DURATION) {
        firn_report report;
        const double mark = firn_clock();
        st = firn_sim_advance(sim, look, &report, error);
        out->seconds += firn_clock() - mark;
        out->simulated += look;
        out->steps += report.steps;
        for (int p = 0; p < FIRN_PHASES; p++) out->phase_seconds[p] += report.phase_seconds[p];
        if (st == FIRN_DIVERGED) {
            out->broke = "diverged";
            st = FIRN_OK;
        } else if (st == FIRN_OK) {
            st = firn_sim_measure(sim, &totals, error);
            if (st == FIRN_OK) out->broke = symptom(&report, dt, &totals, energy_before);
        }
    }
    out->stable = !out->broke;
    firn_sim_destroy(sim);
    return st;
}

/* ---- bisection ---- */

typedef struct finding {
    double dt;           /* s, the largest stable; 0 when none was found */
    double wave_dt;      /* s, h / c */
    const char *broke;   /* what the next longer one broke */
    trial at;            /* the run with it */
    double automatic_dt; /* s, the mean of the engine's own choice in the same scene */
} finding;

static double wave_speed(firn_jelly jelly)
{
    const firn_material_def m = firn_jelly_material(jelly, NH);
    const double mu = m.young / (2 * (1 + m.poisson));
    const double lambda = m.young * m.poisson / ((1 + m.poisson) * (1 - 2 * m.poisson));
    return sqrt((2 * mu + lambda) / m.density);
}

static firn_status find(const firn_jelly_scene *scene, int64_t threads, const char *isa, finding *f,
                        firn_error *error)
{
    const double c = fmax(wave_speed(scene->jelly), wave_speed(scene->under));
    *f = (finding){.wave_dt = FIRN_JELLY_CELL / c, .broke = ""};
    double low = 0, high = INFINITY, dt = 0.5 * f->wave_dt;
    while (low == 0 || high / low > RESOLUTION) {
        trial t;
        const firn_status st = attempt(scene, dt, threads, isa, &t, error);
        if (st != FIRN_OK) return st;
        if (t.stable) {
            low = dt;
            f->at = t;
        } else {
            high = dt;
            f->broke = t.broke;
        }
        if (low > 16 * f->wave_dt || high < 1e-3 * f->wave_dt) break; /* not a matter of dt */
        if (low == 0) {
            dt = high / 2;
        } else {
            dt = isfinite(high) ? sqrt(low * high) : 2 * low;
        }
    }
    f->dt = low;
    trial own;
    const firn_status st = attempt(scene, 0, threads, isa, &own, error);
    if (st == FIRN_OK && own.stable) f->automatic_dt = own.simulated / (double)own.steps;
    return st;
}

/* ---- output ---- */

static const char *jelly_name(firn_jelly jelly) { return jelly == HARD ? "hard" : "soft"; }

static void scene_name(const firn_jelly_scene *s, char *text, size_t size)
{
    if (s->kind == FIRN_JELLY_PAIR) {
        snprintf(text, size, "pair %s on %s", jelly_name(s->jelly), jelly_name(s->under));
    } else {
        snprintf(text, size, "%s %s", s->kind == FIRN_JELLY_BALL ? "ball" : "creature",
                 jelly_name(s->jelly));
    }
}

static void print_row(bool json, bool first, const study_row *row, const finding *f)
{
    const firn_jelly_scene *s = &row->scene;
    const double steps = (double)f->at.steps;
    char name[48];
    scene_name(s, name, sizeof name);
    if (json) {
        printf("%s\n  {\"studies\": \"%s\", \"scene\": \"%s\", \"material\": \"%s\", "
               "\"particles\": %lld, \"spacing\": %g, \"seeding\": \"%s\", \"dt\": %.5g, "
               "\"dt_c_over_h\": %.4f, \"automatic_dt\": %.5g, \"breaks_by\": \"%s\", "
               "\"ms_per_step\": %.4f, \"phase_ms\": {",
               first ? "" : ",", row->studies, name, firn_law_name(s->law), (long long)s->particles,
               s->spacing, s->random ? "random" : "regular", f->dt, f->dt / f->wave_dt,
               f->automatic_dt, f->broke, 1e3 * f->at.seconds / steps);
        for (int p = 0; p < FIRN_PHASES; p++) {
            printf("%s\"%s\": %.4f", p ? ", " : "", firn_phase_name(p),
                   1e3 * f->at.phase_seconds[p] / steps);
        }
        printf("}, \"run_over_simulated\": %.4f}", f->at.seconds / f->at.simulated);
    } else {
        if (first) {
            printf("%-17s %-18s %-15s %9s %7s %-7s %9s %6s %9s %-8s %8s %9s %6s  %s\n", "studies",
                   "scene", "material", "particles", "spacing", "seeding", "dt s", "dt c/h",
                   "own dt s", "breaks", "ms/step", "particles", "grid", "run/simulated");
        }
        printf("%-17s %-18s %-15s %9lld %7g %-7s %9.2e %6.3f %9.2e %-8s %8.3f %9.3f %6.3f  %.3f\n",
               row->studies, name, firn_law_name(s->law), (long long)s->particles, s->spacing,
               s->random ? "random" : "regular", f->dt, f->dt / f->wave_dt, f->automatic_dt,
               f->broke, 1e3 * f->at.seconds / steps, 1e3 * f->at.phase_seconds[1] / steps,
               1e3 * f->at.phase_seconds[2] / steps, f->at.seconds / f->at.simulated);
    }
    fflush(stdout);
}

static const char columns[] =
    "studies,scene,material,particles,spacing,seeding,dt,dt_c_over_h,automatic_dt,breaks_by,"
    "ms_per_step,directory_ms,particles_ms,grid_ms,reorder_ms,run_over_simulated";

static void write_row(const firn_bench_csv *csv, const study_row *row, const finding *f)
{
    const firn_jelly_scene *s = &row->scene;
    const double *phase = f->at.phase_seconds, ms = 1e3 / (double)f->at.steps;
    char name[48];
    scene_name(s, name, sizeof name);
    firn_bench_csv_row(csv, "%s,%s,%s,%lld,%g,%s,%.4g,%.3f,%.4g,%s,%.4f,%.4f,%.4f,%.4f,%.4f,%.4f",
                       row->studies, name, firn_law_name(s->law), (long long)s->particles,
                       s->spacing, s->random ? "random" : "regular", f->dt, f->dt / f->wave_dt,
                       f->automatic_dt, f->broke, ms * f->at.seconds, ms * phase[0], ms * phase[1],
                       ms * phase[2], ms * phase[3], f->at.seconds / f->at.simulated);
}

static const char *study_name(int32_t index)
{
    static const char *const names[] = {"seeding", "law", "spacing", "count", "pair"};
    return index < (int32_t)(sizeof names / sizeof *names) ? names[index] : NULL;
}

static struct {
    int64_t threads;
    const char *isa, *study, *csv;
    bool json;
} chosen;

static const firn_option options[] = {
    {"--study", FIRN_OPTION_TEXT, &chosen.study, "NAME", "this study only", .word = study_name},
    FIRN_THREADS_OPTION(chosen.threads),
    FIRN_ISA_OPTION(chosen.isa),
    FIRN_JSON_OPTION(chosen.json),
    FIRN_CSV_OPTION(chosen.csv),
};

static int run(void)
{
    int exit_code = 0;
    firn_bench_csv csv;
    if (!firn_bench_csv_open(&csv, command_name, chosen.csv, columns)) return FIRN_EXIT_OUTPUT;

    if (chosen.json) printf("{\"rows\": [");
    bool first = true;
    for (int i = 0; i < ROWS && exit_code == 0; i++) {
        if (chosen.study && !strstr(rows[i].studies, chosen.study)) continue;
        finding f;
        firn_error error = {0};
        const firn_status st = find(&rows[i].scene, chosen.threads, chosen.isa, &f, &error);
        if (st != FIRN_OK) {
            exit_code = firn_options_failure(command_name, st, &error);
            break;
        }
        print_row(chosen.json, first, &rows[i], &f);
        write_row(&csv, &rows[i], &f);
        first = false;
    }
    if (chosen.json) printf("]}\n");
    if (!firn_bench_csv_close(&csv, command_name) && exit_code == 0) exit_code = FIRN_EXIT_OUTPUT;
    return exit_code;
}

const firn_command firn_bench_stable_command = {
    .name = command_name,
    .line = "largest stable fixed time steps (takes minutes)",
    .summary = "The largest fixed dt at which falling jelly keeps its energy within 10 % of the "
               "start, moves less than a cell per step and never rolls a step back; to 2 %. "
               "\"own dt\" is the mean of the engine's automatic choice. Takes minutes; rows are "
               "printed as they are found.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run};
