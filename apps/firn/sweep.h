/* A sweep: what varies, the variants that follow, and the table of how they ended. */
#ifndef FIRN_SWEEP_H
#define FIRN_SWEEP_H

#include "options.h"
#include <firn/scene.h>

enum { FIRN_VARIANT_NAME = 256 };

/* A value to try. */
typedef struct firn_choice {
    char *assignment;  /* path=value */
    const char *value; /* in it */
    char label[64];    /* the value as part of a folder's name */
} firn_choice;

typedef struct firn_vary {
    char *path;
    const char *name; /* the path's end, or all of it where ends are alike */
    firn_choice *choice;
    int count;
} firn_vary;

typedef enum firn_variant_state {
    FIRN_VARIANT_WAITING,
    FIRN_VARIANT_DONE,
    FIRN_VARIANT_DIVERGED,
    FIRN_VARIANT_FAILED,
    FIRN_VARIANT_STOPPED,
    FIRN_VARIANT_STATES
} firn_variant_state;

typedef struct firn_variant {
    char name[FIRN_VARIANT_NAME]; /* of its folder */
    firn_variant_state state;
    char *last; /* line of its statistics; NULL: none yet */
    int64_t steps;
    double seconds;
} firn_variant;

/* Starts zeroed. */
typedef struct firn_sweep {
    firn_vary vary[FIRN_MOST_TEXTS];
    int vary_count;
    firn_variant *variant;
    int64_t variant_count;
    char *folder;
} firn_sweep;

void firn_sweep_free(firn_sweep *sweep);

/* As sprintf, to be freed; NULL when there is no memory. */
char *firn_make_text(const char *format, ...) __attribute__((format(printf, 1, 2)));
firn_status firn_no_memory(firn_error *error);

/* ---- sweep_vary.c ---- */

/* Adds what "path=value,value" says. */
firn_status firn_sweep_add(firn_sweep *sweep, const char *text, firn_error *error);
/* Makes the variants of all that was added, with names of their own. */
firn_status firn_sweep_expand(firn_sweep *sweep, firn_error *error);
/* Which value of the k-th vary a variant takes: the last vary changes fastest. */
const firn_choice *firn_sweep_choice(const firn_sweep *sweep, int64_t index, int k);

/* ---- sweep_table.c ---- */

/* Takes the last line and the sums from a variant's statistics file. */
void firn_variant_read(firn_variant *variant, const char *path);
/* Writes FOLDER/sweep.csv. */
firn_status firn_sweep_write(const firn_sweep *sweep, firn_error *error);
/* Prints how the variants ended. */
void firn_sweep_print(const firn_sweep *sweep);
/* Prints what each would take, and the sum; a plan for each variant. */
void firn_sweep_print_plans(const firn_sweep *sweep, const firn_plan *plan);

#endif
