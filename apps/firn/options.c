/* Commands and their options: finding them by name, printing their help, parsing the words of a
 * command line. Everything comes from the tables of options.h. */
#include "options.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 80, HELP_COLUMN = 21, MOST_NAMES = 512 };

const firn_exit firn_exits[] = {
    {0, "done; also when the reader of a pipe leaves early, as head does"},
    {1, "a check of validate failed"},
    {FIRN_EXIT_USAGE, "the command line is wrong"},
    {FIRN_EXIT_INPUT, "a scene or an input file is wrong or missing"},
    {FIRN_EXIT_OUTPUT, "an output, or standard output, could not be written"},
    {FIRN_EXIT_DIVERGED, "the simulation diverged; the last good checkpoint is kept"},
    {FIRN_EXIT_MEMORY, "memory ran out; with checkpoints --resume continues"},
    {FIRN_EXIT_INTERRUPTED,
     "stopped by Ctrl-C, SIGTERM or SIGHUP; with checkpoints --resume continues"},
    {0},
};

/* ---- names ---- */

const char *firn_command_word(const firn_command *command)
{
    const char *space = strrchr(command->name, ' ');
    return space ? space + 1 : command->name;
}

const firn_command *firn_command_find(const firn_command *command, const char *word)
{
    for (int i = 0; command->parts && command->parts[i]; i++) {
        if (strcmp(firn_command_word(command->parts[i]), word) == 0) return command->parts[i];
    }
    return NULL;
}

const firn_option *firn_command_words(const firn_command *command)
{
    for (int i = 0; i < command->option_count; i++) {
        if (command->options[i].kind == FIRN_OPTION_WORDS) return &command->options[i];
    }
    return NULL;
}

static const firn_option *find_option(const firn_command *command, const char *name, size_t length)
{
    for (int i = 0; i < command->option_count; i++) {
        const firn_option *o = &command->options[i];
        if (o->kind == FIRN_OPTION_WORDS) continue;
        if (strlen(o->name) == length && strncmp(o->name, name, length) == 0) return o;
    }
    return NULL;
}

const char *firn_nearest_word(const char *name, firn_word *word, char *text, size_t size)
{
    const char *names[MOST_NAMES + 1] = {0};
    for (int32_t i = 0; i < MOST_NAMES && word(i); i++) names[i] = word(i);
    return firn_nearest(name, names, text, size);
}

/* ---- help ---- */

void firn_print_wrapped(int column, const char *text)
{
    for (int used = column; *text;) {
        const int length = (int)strcspn(text, " ");
        if (used > column && used + 1 + length > COLUMNS - 1) {
            printf("\n%*s", column, "");
            used = column;
        }
        if (used > column) printf(" ");
        printf("%.*s", length, text);
        used += (used > column) + length;
        text += length;
        text += *text == ' ';
    }
    printf("\n");
}

void firn_command_usage(const firn_command *command, char *text, size_t size)
{
    const firn_option *words = firn_command_words(command);
    snprintf(text, size, "%s%s%s%s", command->name,
             words            ? " "
             : command->parts ? " COMMAND"
                              : "",
             words ? words->name : "",
             command->parts || command->option_count > (words ? 1 : 0) ? " [options]" : "");
}

void firn_option_text(const firn_option *o, bool words, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "%s", o->help);
    for (int32_t i = 0; words && o->word && o->kind == FIRN_OPTION_TEXT && o->word(i); i++) {
        if (used >= size) break;
        used += (size_t)snprintf(text + used, size - used, "%s %s", i ? "," : ":", o->word(i));
    }
}

static void help_option(const firn_option *o)
{
    char left[64], text[2048];
    snprintf(left, sizeof left, "%s%s%s", o->name, o->placeholder ? " " : "",
             o->placeholder ? o->placeholder : "");
    printf("  %-*s", HELP_COLUMN - 2, left);
    if ((int)strlen(left) > HELP_COLUMN - 3) printf("\n%*s", HELP_COLUMN, "");
    firn_option_text(o, true, text, sizeof text);
    firn_print_wrapped(HELP_COLUMN, text);
}

void firn_command_help(const firn_command *command)
{
    char usage[128];
    firn_command_usage(command, usage, sizeof usage);
    printf("usage: %s\n\n", usage);
    firn_print_wrapped(0, command->summary);
    if (command->option_count || command->parts) printf("\n");
    for (int i = 0; i < command->option_count; i++) help_option(&command->options[i]);
    for (int i = 0; command->parts && command->parts[i]; i++) {
        printf("  %-11s ", firn_command_word(command->parts[i]));
        firn_print_wrapped(14, command->parts[i]->line);
    }
    if (command->parts) printf("\n%s COMMAND --help explains a command.\n", command->name);
}

/* Ends a message with the names that would have worked. */
static void print_known(const firn_command *command)
{
    for (int i = 0; i < command->option_count; i++) {
        if (command->options[i].kind == FIRN_OPTION_WORDS) continue;
        fprintf(stderr, "%s, ", command->options[i].name);
    }
    fprintf(stderr, "--help\n");
}

/* ---- parsing ---- */

static bool is_word(const firn_option *o, const char *text)
{
    for (int32_t i = 0; o->word(i); i++) {
        if (strcmp(o->word(i), text) == 0) return true;
    }
    return false;
}

static bool store(const firn_command *command, const firn_option *o, const char *text)
{
    if (o->kind == FIRN_OPTION_TEXTS) {
        firn_texts *texts = o->value;
        const size_t path = strcspn(text, "=");
        if (strchr(o->placeholder, '=') && (path == 0 || !text[path] || !text[path + 1])) {
            fprintf(stderr, "%s: %s %s: write %s\n", command->name, o->name, text, o->placeholder);
            return false;
        }
        if (texts->count == FIRN_MOST_TEXTS) {
            fprintf(stderr, "%s: more than %d of %s\n", command->name, FIRN_MOST_TEXTS, o->name);
            return false;
        }
        texts->text[texts->count++] = text;
        return true;
    }
    if (o->kind == FIRN_OPTION_TEXT) {
        if (*text == '\0') {
            fprintf(stderr, "%s: %s is empty; it needs %s\n", command->name, o->name,
                    o->placeholder);
            return false;
        }
        if (o->word && !is_word(o, text)) {
            char near[600];
            fprintf(stderr, "%s: %s \"%s\" is not known here%s\n", command->name, o->name, text,
                    firn_nearest_word(text, o->word, near, sizeof near));
            return false;
        }
        *(const char **)o->value = text;
        return true;
    }
    char *end = NULL;
    errno = 0;
    const long long number = strtoll(text, &end, 10);
    const bool digits = *text >= '0' && *text <= '9' && *end == '\0';
    if (!digits || errno == ERANGE || number < o->min || number > o->max) {
        fprintf(stderr, "%s: %s %s is not a whole number from %" PRId64 " to %" PRId64 "\n",
                command->name, o->name, text, o->min, o->max);
        return false;
    }
    *(int64_t *)o->value = number;
    return true;
}

static bool store_words(const firn_command *command, const firn_option *o, const firn_words *words)
{
    if (words->count < o->min || words->count > o->max) {
        char usage[128];
        firn_command_usage(command, usage, sizeof usage);
        fprintf(stderr, "%s: %" PRId64 " word%s given; usage: %s\n", command->name, words->count,
                words->count == 1 ? "" : "s", usage);
        return false;
    }
    *(firn_words *)o->value = *words;
    return true;
}

/* True: go on. False: leave with *exit_code; help has been printed, or a message naming what is
 * wrong. */
static bool parse(const firn_command *command, int argc, char **argv, int *exit_code)
{
    *exit_code = FIRN_EXIT_USAGE;
    const firn_option *wanted = firn_command_words(command);
    firn_words words = {argv + 1, 0};
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
            firn_command_help(command);
            *exit_code = 0;
            return false;
        }
        if (wanted && word[0] != '-') {
            words.word[words.count++] = argv[i];
            continue;
        }
        const size_t length = strcspn(word, "=");
        const firn_option *o = find_option(command, word, length);
        if (!o) {
            fprintf(stderr, "%s: there is no option \"%s\"; there are ", command->name, word);
            print_known(command);
            return false;
        }
        if (o->kind == FIRN_OPTION_FLAG) {
            if (word[length] == '=') {
                fprintf(stderr, "%s: %s takes no value\n", command->name, o->name);
                return false;
            }
            *(bool *)o->value = true;
            continue;
        }
        const char *text = word[length] == '=' ? word + length + 1 : NULL;
        if (!text && i + 1 < argc) text = argv[++i];
        if (!text) {
            fprintf(stderr, "%s: %s needs a value: %s %s\n", command->name, o->name, o->name,
                    o->placeholder);
            return false;
        }
        if (!store(command, o, text)) return false;
    }
    if (wanted && !store_words(command, wanted, &words)) return false;
    *exit_code = 0;
    return true;
}

static int run_part(const firn_command *command, int argc, char **argv)
{
    if (argc < 2) {
        firn_command_help(command);
        return FIRN_EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        firn_command_help(command);
        return 0;
    }
    const firn_command *part = firn_command_find(command, argv[1]);
    if (part) return firn_command_main(part, argc - 1, argv + 1);
    const char *names[MOST_NAMES + 1] = {0};
    for (int i = 0; i < MOST_NAMES && command->parts[i]; i++) {
        names[i] = firn_command_word(command->parts[i]);
    }
    char near[600];
    fprintf(stderr, "%s: there is no command \"%s\"%s\n", command->name, argv[1],
            firn_nearest(argv[1], names, near, sizeof near));
    return FIRN_EXIT_USAGE;
}

int firn_command_main(const firn_command *command, int argc, char **argv)
{
    if (command->parts) return run_part(command, argc, argv);
    int exit_code = 0;
    return parse(command, argc, argv, &exit_code) ? command->run() : exit_code;
}

firn_status firn_app_fail(firn_error *error, firn_status status, const char *format, ...)
{
    if (!error) return status;
    *error = (firn_error){.status = status};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    return status;
}

void firn_texts_to_settings(const firn_texts *texts, firn_setting *out)
{
    for (int i = 0; i < texts->count; i++) {
        out[i] = (firn_setting){.assignment = texts->text[i], .option = "--set"};
    }
}

int firn_options_failure(const char *command, firn_status status, const firn_error *error)
{
    fprintf(stderr, "%s: %s\n", command, error->message);
    switch (status) {
    case FIRN_INVALID:
    case FIRN_UNSUPPORTED: return FIRN_EXIT_INPUT; /* a scene asks for it */
    case FIRN_OUTPUT: return FIRN_EXIT_OUTPUT;
    case FIRN_DIVERGED: return FIRN_EXIT_DIVERGED;
    case FIRN_NO_MEMORY: return FIRN_EXIT_MEMORY;
    case FIRN_STOPPED: return FIRN_EXIT_INTERRUPTED;
    default: return 1;
    }
}
