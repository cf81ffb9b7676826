/* The results of a sweep: read from the variants' statistics, written as CSV, printed. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "progress.h"
#include "sweep.h"

enum { CELL_SIZE = 128 };

static const char *const state_names[FIRN_VARIANT_STATES] = {[FIRN_VARIANT_WAITING] = "waiting",
                                                             [FIRN_VARIANT_DONE] = "done",
                                                             [FIRN_VARIANT_DIVERGED] = "diverged",
                                                             [FIRN_VARIANT_FAILED] = "failed",
                                                             [FIRN_VARIANT_STOPPED] = "stopped"};

/* ---- results ---- */

/* The i-th cell of a line with commas between. */
static const char *cell_at(const char *line, int i, size_t *length)
{
    for (; i > 0 && *line; i--) {
        line += strcspn(line, ",\n");
        line += *line == ',';
    }
    *length = strcspn(line, ",\n");
    return line;
}

static int column_of(const char *name)
{
    for (int i = 0;; i++) {
        size_t length = 0;
        const char *cell = cell_at(firn_statistics_columns(), i, &length);
        assert(length > 0); /* or there is no such column */
        if (length == strlen(name) && strncmp(cell, name, length) == 0) return i;
    }
}

static double number_at(const char *line, int i)
{
    size_t length = 0;
    return strtod(cell_at(line, i, &length), NULL);
}

void firn_variant_read(firn_variant *v, const char *path)
{
    firn_bytes bytes = {0};
    firn_error ignored;
    free(v->last);
    v->last = NULL;
    v->steps = 0;
    v->seconds = 0;
    if (firn_bytes_read(path, &bytes, &ignored) != FIRN_OK) return;
    char *text = firn_make_text("%.*s", (int)bytes.size, (const char *)bytes.data);
    firn_bytes_free(&bytes);
    const char *last = NULL;
    for (const char *line = text ? strchr(text, '\n') : NULL; line && line[1];
         line = strchr(line + 1, '\n')) {
        last = line + 1;
        v->steps += (int64_t)number_at(last, column_of("substeps"));
        v->seconds += number_at(last, column_of("seconds"));
    }
    if (last) v->last = firn_make_text("%.*s", (int)strcspn(last, "\n"), last);
    free(text);
}

static void write_cell(FILE *out, const char *text)
{
    if (!strpbrk(text, ",\"\n")) {
        fprintf(out, "%s,", text);
        return;
    }
    fprintf(out, "\"");
    for (; *text; text++) fprintf(out, "%s%c", *text == '"' ? "\"" : "", *text);
    fprintf(out, "\",");
}

static void write_table(const firn_sweep *s, FILE *out)
{
    for (int k = 0; k < s->vary_count; k++) write_cell(out, s->vary[k].path);
    fprintf(out, "%s,total_steps,total_seconds,status,folder\n", firn_statistics_columns());
    for (int64_t i = 0; i < s->variant_count; i++) {
        const firn_variant *v = &s->variant[i];
        for (int k = 0; k < s->vary_count; k++) write_cell(out, firn_sweep_choice(s, i, k)->value);
        if (v->last) {
            fprintf(out, "%s,%lld,%.3f,", v->last, (long long)v->steps, v->seconds);
        } else {
            fprintf(out, ",,,"); /* one for the last column, two for the sums */
            for (const char *p = firn_statistics_columns(); *p; p++) {
                if (*p == ',') fprintf(out, ",");
            }
        }
        fprintf(out, "%s,%s\n", state_names[v->state], v->name);
    }
}

firn_status firn_sweep_write(const firn_sweep *s, firn_error *error)
{
    char *path = firn_make_text("%s/sweep.csv", s->folder), *text = NULL;
    size_t size = 0;
    FILE *out = path ? open_memstream(&text, &size) : NULL;
    if (out) write_table(s, out);
    const bool made = out && fclose(out) == 0;
    const firn_status st = made ? firn_bytes_write(path, text, size, error) : firn_no_memory(error);
    free(text);
    free(path);
    return st;
}

/* ---- tables for people ---- */

/* Columns are as wide as their widest cell; `cell` writes one, row -1 is the head. The last column
 * is words, the others line up at their ends. */
typedef void print_cell(const void *context, int64_t row, int column, char text[CELL_SIZE]);

static void print_table(print_cell *cell, const void *context, int64_t rows, int columns)
{
    char text[CELL_SIZE];
    int *width = calloc((size_t)columns, sizeof *width);
    if (!width) return;
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t row = -1; row < rows; row++) {
            for (int c = 0; c < columns; c++) {
                cell(context, row, c, text);
                const int length = (int)strlen(text);
                if (pass == 0 && length > width[c]) width[c] = length;
                if (pass == 1) printf("%s%*s", c ? "  " : "", c + 1 < columns ? width[c] : 0, text);
            }
            if (pass == 1) printf("\n");
        }
    }
    free(width);
}

static void value_cell(const firn_sweep *s, int64_t row, int k, char text[CELL_SIZE])
{
    snprintf(text, CELL_SIZE, "%.60s",
             row < 0 ? s->vary[k].name : firn_sweep_choice(s, row, k)->value);
}

/* The statistics that are shown, without heat and with it; the file has all. */
enum { SHOWN = 5 };
static const char *const moving[SHOWN] = {"particles", "max_speed", "kinetic", "elastic", "min_J"};
static const char *const melting[SHOWN] = {"particles", "max_speed", "kinetic", "liquid",
                                           "max_temperature"};

static bool has_heat(const firn_sweep *s)
{
    for (int64_t i = 0; i < s->variant_count; i++) {
        size_t length = 0;
        if (s->variant[i].last) (void)cell_at(s->variant[i].last, column_of("liquid"), &length);
        if (length > 0) return true;
    }
    return false;
}

typedef struct results {
    const firn_sweep *sweep;
    const char *const *shown; /* SHOWN of them */
} results;

static void result_cell(const void *context, int64_t row, int column, char text[CELL_SIZE])
{
    const results *all = context;
    const firn_sweep *s = all->sweep;
    const firn_variant *v = row < 0 ? NULL : &s->variant[row];
    if (column < s->vary_count) {
        value_cell(s, row, column, text);
        return;
    }
    column -= s->vary_count;
    static const char *const head[] = {"steps", "seconds", "status"};
    if (!v) {
        snprintf(text, CELL_SIZE, "%s", column < SHOWN ? all->shown[column] : head[column - SHOWN]);
    } else if (column == SHOWN + 2) {
        snprintf(text, CELL_SIZE, "%s", state_names[v->state]);
    } else if (!v->last) {
        snprintf(text, CELL_SIZE, "-");
    } else if (column == SHOWN) {
        snprintf(text, CELL_SIZE, "%lld", (long long)v->steps);
    } else if (column == SHOWN + 1) {
        snprintf(text, CELL_SIZE, "%.2f", v->seconds);
    } else {
        const double number = number_at(v->last, column_of(all->shown[column]));
        snprintf(text, CELL_SIZE, column == 0 ? "%.0f" : "%.4g", number);
    }
}

typedef struct plans {
    const firn_sweep *sweep;
    const firn_plan *plan; /* of each variant */
} plans;

static void plan_cell(const void *context, int64_t row, int column, char text[CELL_SIZE])
{
    const plans *all = context;
    if (column < all->sweep->vary_count) {
        value_cell(all->sweep, row, column, text);
        return;
    }
    column -= all->sweep->vary_count;
    static const char *const head[] = {"particles", "memory", "disk", "substeps", "time"};
    const firn_plan *p = row < 0 ? NULL : &all->plan[row];
    char part[32];
    if (!p) {
        snprintf(text, CELL_SIZE, "%s", head[column]);
    } else if (column == 0) {
        snprintf(text, CELL_SIZE, "%lld", (long long)p->particles_end);
    } else if (column == 1 || column == 2) {
        snprintf(text, CELL_SIZE, "%s", firn_amount(column == 1 ? p->memory : p->disk_most, part));
    } else if (column == 3) {
        snprintf(text, CELL_SIZE, "%.0f", p->steps);
    } else {
        snprintf(text, CELL_SIZE, "%s", firn_duration(p->seconds, part));
    }
}

void firn_sweep_print(const firn_sweep *s)
{
    int64_t count[FIRN_VARIANT_STATES] = {0};
    for (int64_t i = 0; i < s->variant_count; i++) count[s->variant[i].state]++;
    printf("\n");
    const results all = {s, has_heat(s) ? melting : moving};
    print_table(result_cell, &all, s->variant_count, s->vary_count + SHOWN + 3);
    printf("\n%lld variants:", (long long)s->variant_count);
    const char *comma = "";
    for (int i = 0; i < FIRN_VARIANT_STATES; i++) {
        if (!count[i]) continue;
        printf("%s %lld %s", comma, (long long)count[i], state_names[i]);
        comma = ",";
    }
    printf("; all columns are in %s/sweep.csv\n", s->folder);
}

void firn_sweep_print_plans(const firn_sweep *s, const firn_plan *plan)
{
    firn_plan sum = {0};
    for (int64_t i = 0; i < s->variant_count; i++) {
        if (plan[i].memory > sum.memory) sum.memory = plan[i].memory;
        sum.disk_most += plan[i].disk_most;
        sum.steps += plan[i].steps;
        sum.seconds += plan[i].seconds;
    }
    char memory[32], disk[32], time[32];
    const plans all = {s, plan};
    print_table(plan_cell, &all, s->variant_count, s->vary_count + 5);
    printf("\n%lld variants one after the other: at most %s of memory, %s of disk,\n"
           "about %.0f substeps and %s\n",
           (long long)s->variant_count, firn_amount(sum.memory, memory),
           firn_amount(sum.disk_most, disk), sum.steps, firn_duration(sum.seconds, time));
}
