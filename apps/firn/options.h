/* Commands and their options: one table each, from which come parsing, --help, the manual page and
 * shell completion. */
#ifndef FIRN_OPTIONS_H
#define FIRN_OPTIONS_H

#include <stdbool.h>

#include <firn/firn.h>
#include <firn/scene.h>

enum {
    FIRN_EXIT_USAGE = 2,
    FIRN_EXIT_INPUT = 3,
    FIRN_EXIT_OUTPUT = 4,
    FIRN_EXIT_DIVERGED = 5,
    FIRN_EXIT_MEMORY = 6,
    FIRN_EXIT_INTERRUPTED = 130,
};

/* What they mean; ends with one without a meaning. */
typedef struct firn_exit {
    int code;
    const char *meaning;
} firn_exit;
extern const firn_exit firn_exits[];

typedef enum firn_option_kind {
    FIRN_OPTION_FLAG,  /* bool: true when given */
    FIRN_OPTION_COUNT, /* int64_t: a decimal number from min to max */
    FIRN_OPTION_TEXT,  /* const char *: anything, or one of the words */
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

/* Which files completion offers. */
typedef enum firn_files {
    FIRN_FILES_NONE,
    FIRN_FILES_SCENES,    /* .yaml */
    FIRN_FILES_PARTICLES, /* what the formats end in */
    FIRN_FILES_ANY,
    FIRN_FOLDERS
} firn_files;

/* The words of a table one by one; NULL past the end. */
typedef const char *firn_word(int32_t index);

/* NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): rows begin with name and kind */
typedef struct firn_option {
    const char *name; /* with its dashes */
    firn_option_kind kind;
    void *value;             /* holds the default before, the choice after; type by kind */
    const char *placeholder; /* what --help calls the argument; unused by flags */
    const char *help;
    int64_t min, max; /* of a count, and of how many words */
    firn_word *word;  /* which there are, where not all are taken. A text is checked; what stands
                         without dashes the command checks itself */
    firn_files files;
} firn_option;

/* The rows that several commands have. */
#define FIRN_THREADS_OPTION(to)                                                                    \
    {                                                                                              \
        "--threads", FIRN_OPTION_COUNT, &(to), "N", "number of threads; 0, the default: all",      \
            .max = 256                                                                             \
    }
#define FIRN_ISA_OPTION(to)                                                                        \
    {                                                                                              \
        "--isa", FIRN_OPTION_TEXT, &(to), "NAME", "instruction set; the best by default",          \
            .word = firn_isa_name                                                                  \
    }
#define FIRN_JSON_OPTION(to)                                                                       \
    {                                                                                              \
        "--json", FIRN_OPTION_FLAG, &(to), .help = "print JSON"                                    \
    }

typedef struct firn_command {
    const char *name;    /* as typed: "firn bench step" */
    const char *line;    /* what it does, where commands are listed */
    const char *summary; /* the same at length, one paragraph */
    const firn_option *options;
    int option_count;
    int (*run)(void); /* with the options read; returns the exit code */
    /* Instead of options: a command of commands. Ends with NULL. */
    const struct firn_command *const *parts;
} firn_command;

/* "step" of "firn bench step". */
const char *firn_command_word(const firn_command *command);
/* The part of that name, or NULL. */
const firn_command *firn_command_find(const firn_command *command, const char *word);
/* The row of what stands without dashes, or NULL. */
const firn_option *firn_command_words(const firn_command *command);
/* What an option does, and its words if asked for. */
void firn_option_text(const firn_option *option, bool words, char *text, size_t size);
/* "firn convert IN OUT [options]". */
void firn_command_usage(const firn_command *command, char *text, size_t size);

/* Reads the arguments after argv[0], written `--name value` or `--name=value`, and runs the command
 * or its part; or prints help, or what is wrong. Returns the exit code. */
int firn_command_main(const firn_command *command, int argc, char **argv);
void firn_command_help(const firn_command *command);

/* Prints text from a column on, going on in the next line at the same column. Begins where the
 * cursor is, and ends the line. */
void firn_print_wrapped(int column, const char *text);
/* ", did you mean ..." or "; there are ...", from the words of a table. */
const char *firn_nearest_word(const char *name, firn_word *word, char *text, size_t size);

/* Fills an error, which may be NULL, as the library does, and returns the status. */
firn_status firn_app_fail(firn_error *error, firn_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* What --set gives, as settings of a scene; `out` holds FIRN_MOST_TEXTS. */
void firn_texts_to_settings(const firn_texts *texts, firn_setting *out);

/* Prints why a command failed and returns the exit code that goes with it. */
int firn_options_failure(const char *command, firn_status status, const firn_error *error);

#endif
