#include "options.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const firn_option *find_words(const firn_command *command)
{
    for (int i = 0; i < command->option_count; i++) {
        if (command->options[i].kind == FIRN_OPTION_WORDS) return &command->options[i];
    }
    return NULL;
}

static void print_help(const firn_command *command)
{
    const firn_option *words = find_words(command);
    printf("usage: %s%s%s%s\n\n%s\n", command->name, words ? " " : "", words ? words->name : "",
           command->option_count > (words ? 1 : 0) ? " [options]" : "", command->summary);
    if (command->option_count) printf("\n");
    for (int i = 0; i < command->option_count; i++) {
        const firn_option *o = &command->options[i];
        char left[64];
        snprintf(left, sizeof left, "%s%s%s", o->name, o->placeholder ? " " : "",
                 o->placeholder ? o->placeholder : "");
        printf("  %-20s %s\n", left, o->help);
    }
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

static const firn_option *find(const firn_command *command, const char *name, size_t length)
{
    for (int i = 0; i < command->option_count; i++) {
        const firn_option *o = &command->options[i];
        if (o->kind == FIRN_OPTION_WORDS) continue;
        if (strlen(o->name) == length && strncmp(o->name, name, length) == 0) return o;
    }
    return NULL;
}

static bool store(const firn_command *command, const firn_option *o, const char *text)
{
    if (o->kind == FIRN_OPTION_TEXTS) {
        firn_texts *texts = o->value;
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

static bool check_words(const firn_command *command, const firn_option *o, const firn_words *words)
{
    if (words->count >= o->min && words->count <= o->max) return true;
    fprintf(stderr, "%s: %" PRId64 " file name%s given; usage: %s %s\n", command->name,
            words->count, words->count == 1 ? "" : "s", command->name, o->name);
    return false;
}

bool firn_options_parse(const firn_command *command, int argc, char **argv, int *exit_code)
{
    *exit_code = FIRN_EXIT_USAGE;
    const firn_option *wanted = find_words(command);
    firn_words words = {argv + 1, 0};
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
            print_help(command);
            *exit_code = 0;
            return false;
        }
        if (wanted && word[0] != '-') {
            words.word[words.count++] = argv[i];
            continue;
        }
        const size_t length = strcspn(word, "=");
        const firn_option *o = find(command, word, length);
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
    if (wanted) {
        if (!check_words(command, wanted, &words)) return false;
        *(firn_words *)wanted->value = words;
    }
    *exit_code = 0;
    return true;
}

bool firn_options_law(const char *command, const char *name, firn_law_kind *law)
{
    *law = firn_law_find(name);
    if (*law != FIRN_LAW_COUNT) return true;
    fprintf(stderr, "%s: there is no material law \"%s\"; there are ", command, name);
    for (int i = 0; i < FIRN_LAW_COUNT; i++) {
        fprintf(stderr, "%s%s", i ? ", " : "", firn_law_name((firn_law_kind)i));
    }
    fprintf(stderr, "\n");
    return false;
}

bool firn_options_isa(const char *command, const char *name)
{
    if (!name) return true;
    for (int32_t i = 0; firn_isa_name(i); i++) {
        if (strcmp(firn_isa_name(i), name) == 0) return true;
    }
    fprintf(stderr, "%s: no instruction set \"%s\" in this binary on this machine; there are ",
            command, name);
    for (int32_t i = 0; firn_isa_name(i); i++) {
        fprintf(stderr, "%s%s", i ? ", " : "", firn_isa_name(i));
    }
    fprintf(stderr, "%s\n", firn_isa_name(0) ? "" : "none");
    return false;
}

int firn_options_failure(const char *command, firn_status status, const firn_error *error)
{
    fprintf(stderr, "%s: %s\n", command, error->message);
    switch (status) {
    case FIRN_INVALID: return FIRN_EXIT_INPUT;
    case FIRN_OUTPUT: return FIRN_EXIT_OUTPUT;
    case FIRN_DIVERGED: return FIRN_EXIT_DIVERGED;
    case FIRN_STOPPED: return FIRN_EXIT_INTERRUPTED;
    default: return 1;
    }
}
