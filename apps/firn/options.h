/* Command-line options: one table per command, from which come the parsing and the --help text. */
#ifndef FIRN_OPTIONS_H
#define FIRN_OPTIONS_H

#include <stdbool.h>

#include <firn/firn.h>

enum {
    FIRN_EXIT_USAGE = 2,
    FIRN_EXIT_INPUT = 3,
    FIRN_EXIT_OUTPUT = 4,
    FIRN_EXIT_DIVERGED = 5,
    FIRN_EXIT_INTERRUPTED = 130,
};

typedef enum firn_option_kind {
    FIRN_OPTION_FLAG,  /* bool: true when given */
    FIRN_OPTION_COUNT, /* int64_t: a decimal number from min to max */
    FIRN_OPTION_TEXT,  /* const char *: anything */
    FIRN_OPTION_TEXTS, /* firn_texts: may be given again and again */
    FIRN_OPTION_WORDS, /* firn_words: what stands without dashes, min to max of them; one row of
                          the table at most, named as --help shows them: "IN OUT" */
} firn_option_kind;

enum { FIRN_MOST_TEXTS = 64 };
typedef struct firn_texts {
    const char *text[FIRN_MOST_TEXTS];
    int count;
} firn_texts;

/* Kept in argv, which is reordered for it. */
typedef struct firn_words {
    char **word;
    int64_t count;
} firn_words;

typedef struct firn_option {
    const char *name; /* with its dashes */
    firn_option_kind kind;
    void *value;             /* holds the default before, the choice after; type by kind */
    const char *placeholder; /* what --help calls the argument; unused by flags */
    const char *help;
    int64_t min, max; /* of a count, and of how many words */
} firn_option;

typedef struct firn_command {
    const char *name;    /* as typed: "firn bench step" */
    const char *summary; /* printed by --help */
    const firn_option *options;
    int option_count;
} firn_command;

/* Reads the arguments after argv[0], written `--name value` or `--name=value`. True: go on. False:
 * leave with *exit_code; help has been printed, or a message naming what is wrong. */
bool firn_options_parse(const firn_command *command, int argc, char **argv, int *exit_code);

/* Whether there is such a law, which goes to *law, or such an instruction set (NULL is the best one);
 * when not, says which there are. */
bool firn_options_law(const char *command, const char *name, firn_law_kind *law);
bool firn_options_isa(const char *command, const char *name);

/* Prints why a command failed and returns the exit code that goes with it. */
int firn_options_failure(const char *command, firn_status status, const firn_error *error);

#endif
