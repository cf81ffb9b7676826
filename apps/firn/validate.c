/* firn validate: runs the cases of cases.h on every path of this build and tells how they compare.
 *
 * Built twice, as firn (single precision: plain and fused paths) and firn_double (plain path, tight
 * tolerances); which it is, the library says. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app.h"
#include "validation/cases.h"

static const firn_path paths[] = {FIRN_PATH_PLAIN, FIRN_PATH_FUSED};
static const char *const path_names[] = {"plain", "fused"};
enum { PATHS = sizeof paths / sizeof *paths };

/* ---- printing ---- */

/* Where the output goes and what has been seen so far. */
typedef struct tally {
    bool json;
    int runs, failed_runs, checks, failed_checks;
    char failed[512]; /* names */
} tally;

static void print_row(const firn_check *c)
{
    char tolerance[32];
    switch (c->bound) {
    case FIRN_NEAR: snprintf(tolerance, sizeof tolerance, "+- %.3g", c->tolerance); break;
    case FIRN_AT_MOST: snprintf(tolerance, sizeof tolerance, "at most"); break;
    case FIRN_AT_LEAST: snprintf(tolerance, sizeof tolerance, "at least"); break;
    case FIRN_NOTE: tolerance[0] = 0; break;
    }
    const char *verdict = c->bound == FIRN_NOTE ? "not judged" : c->passed ? "ok" : "FAILED";
    printf("  %-45s %13.7g %13.7g  %-12s %s\n", c->quantity, c->measured, c->reference, tolerance,
           verdict);
    if (c->why) printf("      (%s)\n", c->why);
}

static void print_text(const firn_case *which, const char *path, const firn_case_run *run)
{
    printf("\n%s (%s, %.1f s): %s\n", which->name, path, run->seconds, which->shows);
    for (int32_t i = 0; i < run->count; i++) print_row(&run->check[i]);
    if (run->failure[0]) printf("  FAILED to run: %s\n", run->failure);
}

static void print_json_string(const char *text)
{
    putchar('"');
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            printf("\\%c", c);
        else if (c < 0x20)
            printf("\\u%04x", c);
        else
            putchar(c);
    }
    putchar('"');
}

/* ,"name":value; what is no number is null. */
static void print_json_number(const char *name, double value)
{
    if (isfinite(value))
        printf(",\"%s\":%.17g", name, value);
    else
        printf(",\"%s\":null", name);
}

static void print_json(const firn_case *which, const char *path, const firn_case_run *run,
                       bool first)
{
    static const char *const bounds[] = {"near", "at_most", "at_least", "note"};
    printf("%s\n {\"case\":\"%s\",\"path\":\"%s\",\"passed\":%s", first ? "" : ",", which->name,
           path, run->passed ? "true" : "false");
    print_json_number("seconds", run->seconds);
    if (run->failure[0]) {
        printf(",\"failure\":");
        print_json_string(run->failure);
    }
    printf(",\"checks\":[");
    for (int32_t i = 0; i < run->count; i++) {
        const firn_check *c = &run->check[i];
        printf("%s\n  {\"quantity\":", i ? "," : "");
        print_json_string(c->quantity);
        print_json_number("measured", c->measured);
        print_json_number("reference", c->reference);
        print_json_number("tolerance", c->tolerance);
        if (c->why) {
            printf(",\"why\":");
            print_json_string(c->why);
        }
        printf(",\"bound\":\"%s\",\"passed\":%s}", bounds[c->bound], c->passed ? "true" : "false");
    }
    printf("]}");
}

/* ---- running ---- */

static void add_to_tally(tally *t, const firn_case *which, const char *path,
                         const firn_case_run *run)
{
    t->runs++;
    for (int32_t i = 0; i < run->count; i++) {
        t->checks += run->check[i].bound != FIRN_NOTE;
        t->failed_checks += !run->check[i].passed;
    }
    if (run->passed) return;
    const size_t used = strlen(t->failed);
    snprintf(t->failed + used, sizeof t->failed - used, "%s%s (%s)", used ? ", " : "", which->name,
             path);
    t->failed_runs++;
}

static void run_case(const firn_case *which, bool quick, tally *t)
{
    for (int i = 0; i < PATHS; i++) {
        if (paths[i] == FIRN_PATH_FUSED && !which->fused) continue;
        if (!firn_case_has_path(paths[i])) continue;
        static firn_case_run run;
        firn_case_run_on(which, paths[i], quick, &run);
        if (t->json)
            print_json(which, path_names[i], &run, t->runs == 0);
        else
            print_text(which, path_names[i], &run);
        fflush(stdout);
        add_to_tally(t, which, path_names[i], &run);
    }
}

static void print_heading(bool json, bool quick)
{
    firn_sim_info info = firn_case_probe(FIRN_PATH_PLAIN);
    if (!info.isa) info.isa = "none"; /* runs here; the cases will say so */
    if (json) {
        printf("{\"version\":\"%s\",\"real_bytes\":%d,\"isa\":\"%s\",\"quick\":%s,\"runs\":[",
               firn_version(), (int)info.real_bytes, info.isa, quick ? "true" : "false");
        return;
    }
    printf("firn %s, %s precision, %s%s\n\n  %-45s %13s %13s  %s\n", firn_version(),
           info.real_bytes == 8 ? "double" : "single", info.isa, quick ? ", quick variants" : "",
           "quantity", "measured", "reference", "tolerance");
}

static void print_ending(const tally *t)
{
    if (t->json) {
        printf("],\n \"passed\":%s}\n", t->failed_runs ? "false" : "true");
    } else if (t->failed_runs) {
        printf("\n%d of %d checks FAILED, in: %s\n", t->failed_checks, t->checks, t->failed);
    } else {
        printf("\nall %d checks hold\n", t->checks);
    }
}

/* ---- the command ---- */

static const char *case_name(int32_t index)
{
    return index < firn_case_count ? firn_cases[index].name : NULL;
}

static struct {
    bool quick, list, json;
    const char *name;
} chosen;

static const firn_option options[] = {
    {"--quick", FIRN_OPTION_FLAG, &chosen.quick, .help = "coarser and shorter: under a minute"},
    {"--case", FIRN_OPTION_TEXT, &chosen.name, "NAME", "only this case", .word = case_name},
    {"--list", FIRN_OPTION_FLAG, &chosen.list, .help = "list the cases"},
    {"--json", FIRN_OPTION_FLAG, &chosen.json, .help = "print JSON"},
};

static int run(void)
{
    if (chosen.list) {
        for (int32_t i = 0; i < firn_case_count; i++) {
            printf("%-24s %s\n", firn_cases[i].name, firn_cases[i].shows);
        }
        return 0;
    }
    const firn_case *only = chosen.name ? firn_case_find(chosen.name) : NULL;
    tally t = {.json = chosen.json};
    print_heading(chosen.json, chosen.quick);
    for (int32_t i = 0; i < firn_case_count; i++) {
        if (!only || only == &firn_cases[i]) run_case(&firn_cases[i], chosen.quick, &t);
    }
    print_ending(&t);
    return t.failed_runs ? 1 : 0;
}

const firn_command firn_validate_command = {
    .name = "firn validate",
    .line = "compare with analytic solutions",
    .summary = "Runs worlds whose behaviour is known and compares. Exit code 0: every check holds; "
               "1: one does not; 2: usage.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run};
