/* firn completion: scripts by which shells complete the command line, from the tables of commands.
 *
 * Where a script needs to know which command it is in, it walks over the words and goes down as long
 * as they name commands: "firn", "firn bench", "firn bench step". */
#include <stdio.h>
#include <string.h>

#include "app.h"
#include <firn/points.h>

/* Calls for every command, parts after their parents. */
static void each_command(const firn_command *command, void (*print)(const firn_command *command))
{
    print(command);
    for (int i = 0; command->parts && command->parts[i]; i++) {
        each_command(command->parts[i], print);
    }
}

/* Text within single quotes; fish also wants backslashes doubled, and has no other escape. */
static void print_quoted(const char *text, bool fish)
{
    for (; *text; text++) {
        if (*text == '\'') {
            printf(fish ? "\\'" : "'\\''");
        } else {
            if (fish && *text == '\\') printf("\\");
            putchar(*text);
        }
    }
}

static void print_words(const firn_option *o)
{
    for (int32_t i = 0; o->word && o->word(i); i++) printf("%s%s", i ? " " : "", o->word(i));
}

/* What files end in: ".yaml", ".prt .bgeo". */
static void print_endings(firn_files files)
{
    if (files == FIRN_FILES_SCENES) printf(".yaml");
    for (int i = 0; files == FIRN_FILES_PARTICLES && firn_format_get_info(i).name; i++) {
        printf("%s%s", i ? " " : "", firn_format_get_info(i).extensions);
    }
}

static bool takes_value(const firn_option *o)
{
    return o->kind != FIRN_OPTION_FLAG && o->kind != FIRN_OPTION_WORDS;
}

/* ---- bash ---- */

/* What there is to say about what an option or a word may be. */
static void bash_action(const firn_option *o)
{
    if (o->word) {
        printf("words='");
        print_words(o);
        printf("' ");
    }
    if (o->files == FIRN_FILES_ANY) printf("any=-f ");
    if (o->files == FIRN_FOLDERS) printf("any=-d ");
    if (o->files == FIRN_FILES_SCENES || o->files == FIRN_FILES_PARTICLES) {
        printf("ends='");
        print_endings(o->files);
        printf("' ");
    }
    printf(";;\n");
}

static void bash_pattern(const firn_command *command)
{
    if (command != &firn_program) printf("|'%s'", command->name);
}

static void bash_values(const firn_command *command)
{
    for (int i = 0; i < command->option_count; i++) {
        const firn_option *o = &command->options[i];
        if (!takes_value(o)) continue;
        printf("    '%s %s') ", command->name, o->name);
        bash_action(o);
    }
}

static void bash_words(const firn_command *command)
{
    printf("    '%s') options='--help", command->name);
    for (int i = 0; i < command->option_count; i++) {
        const firn_option *o = &command->options[i];
        if (o->kind != FIRN_OPTION_WORDS) printf(" %s", o->name);
    }
    if (command == &firn_program) printf(" --version");
    printf("' ");
    const firn_option *words = firn_command_words(command);
    if (words) {
        bash_action(words);
        return;
    }
    printf("words='");
    for (int i = 0; command->parts && command->parts[i]; i++) {
        printf("%s%s", i ? " " : "", firn_command_word(command->parts[i]));
    }
    printf("' ;;\n");
}

static void print_bash(void)
{
    printf("# Completion of firn in bash: made by `firn completion bash`.\n"
           "_firn()\n{\n"
           "    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
           "    local at=firn word end options= words= ends= any=\n"
           "    for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
           "        case \"$at $word\" in\n"
           "        ''");
    each_command(&firn_program, bash_pattern);
    printf(") at=\"$at $word\" ;;\n"
           "        esac\n"
           "    done\n"
           "    # --name=value comes as three words.\n"
           "    if [[ $current == = ]]; then current=\n"
           "    elif [[ $before == = ]]; then before=${COMP_WORDS[COMP_CWORD-2]}\n"
           "    fi\n"
           "    case \"$at $before\" in\n");
    each_command(&firn_program, bash_values);
    printf("    *)\n    case $at in\n");
    each_command(&firn_program, bash_words);
    printf("    esac ;;\n    esac\n"
           "    [[ $current == -* ]] && words=$options ends= any=\n"
           "    mapfile -t COMPREPLY < <(\n"
           "        compgen -W \"$words\" -- \"$current\"\n"
           "        for end in $ends; do compgen -f -X \"!*$end\" -- \"$current\"; done\n"
           "        [[ $ends ]] && compgen -d -- \"$current\"\n"
           "        [[ $any ]] && compgen $any -- \"$current\")\n"
           "    [[ $ends$any ]] && compopt -o filenames 2>/dev/null\n"
           "    return 0\n"
           "}\n"
           "complete -F _firn firn\n");
}

/* ---- zsh ---- */

/* _firn_bench_step. */
static void zsh_name(const firn_command *command)
{
    printf("_");
    for (const char *p = command->name; *p; p++) putchar(*p == ' ' ? '_' : *p);
}

/* Text of a specification within single quotes, where some letters have a meaning. */
static void zsh_text(const char *text)
{
    for (; *text; text++) {
        const char letter[2] = {*text, 0};
        if (strchr(":[]\\", *text)) printf("\\");
        print_quoted(letter, false);
    }
}

static void zsh_action(const firn_option *o)
{
    printf(":");
    zsh_text(o->placeholder ? o->placeholder : o->name);
    printf(":");
    if (o->word) {
        printf("(");
        print_words(o);
        printf(")");
    } else if (o->files == FIRN_FILES_SCENES || o->files == FIRN_FILES_PARTICLES) {
        printf("_files -g \"*(");
        for (int i = 0; o->files == FIRN_FILES_PARTICLES && firn_format_get_info(i).name; i++) {
            const char *extensions = firn_format_get_info(i).extensions;
            for (const char *p = extensions; *p; p++) {
                if (i && p == extensions) printf("|");
                putchar(*p == ' ' ? '|' : *p);
            }
        }
        printf("%s)(-.)\"", o->files == FIRN_FILES_SCENES ? ".yaml" : "");
    } else if (o->files != FIRN_FILES_NONE) {
        printf(o->files == FIRN_FOLDERS ? "_files -/" : "_files");
    } else {
        printf(" "); /* nothing to offer */
    }
}

static void zsh_option(const firn_option *o)
{
    printf(" \\\n        '");
    if (o->kind == FIRN_OPTION_WORDS) {
        printf("%s", o->max == 1 ? (o->min == 0 ? ":" : "") : "*");
    } else {
        printf("%s%s%s[", o->kind == FIRN_OPTION_TEXTS ? "*" : "", o->name,
               takes_value(o) ? "=" : "");
        zsh_text(o->help);
        printf("]");
    }
    if (o->kind != FIRN_OPTION_FLAG) zsh_action(o);
    printf("'");
}

static void zsh_command(const firn_command *command)
{
    printf("\n");
    zsh_name(command);
    printf("() {\n");
    if (!command->parts) {
        printf("    _arguments '--help[say more]'");
        for (int i = 0; i < command->option_count; i++) zsh_option(&command->options[i]);
        printf("\n}\n");
        return;
    }
    printf("    local -a commands=(");
    for (int i = 0; command->parts[i]; i++) {
        printf("\n        '%s:", firn_command_word(command->parts[i]));
        print_quoted(command->parts[i]->line, false);
        printf("'");
    }
    printf(")\n    if (( CURRENT == 2 )); then\n"
           "        _describe -t commands command commands\n"
           "        compadd -- --help%s\n        return\n    fi\n"
           "    shift words\n    (( CURRENT-- ))\n    case $words[1] in\n",
           command == &firn_program ? " --version" : "");
    for (int i = 0; command->parts[i]; i++) {
        printf("    %s) ", firn_command_word(command->parts[i]));
        zsh_name(command->parts[i]);
        printf(" ;;\n");
    }
    printf("    esac\n}\n");
}

static void print_zsh(void)
{
    printf("#compdef firn\n# Completion of firn in zsh: made by `firn completion zsh`.\n");
    each_command(&firn_program, zsh_command);
    /* Runs when autoloaded from fpath; when sourced, registers itself. */
    printf("\nif [[ $zsh_eval_context[-1] == loadautofunc ]]; then\n    _firn \"$@\"\nelse\n"
           "    compdef _firn firn\nfi\n");
}

/* ---- fish ---- */

static void fish_pattern(const firn_command *command)
{
    if (command != &firn_program) printf(" '%s'", command->name);
}

static void fish_action(const firn_option *o)
{
    if (o->word) {
        printf(" -a '");
        print_words(o);
        printf("'");
    } else if (o->files == FIRN_FILES_SCENES || o->files == FIRN_FILES_PARTICLES) {
        printf(" -a '(__firn_files ");
        print_endings(o->files);
        printf(")'");
    } else if (o->files == FIRN_FOLDERS) {
        printf(" -a '(__fish_complete_directories)'");
    }
}

static void fish_command(const firn_command *command)
{
    printf("complete -c firn -n '__firn_at %s' -l help -d 'say more'\n", command->name);
    for (int i = 0; command->parts && command->parts[i]; i++) {
        printf("complete -c firn -n '__firn_at %s' -a %s -d '", command->name,
               firn_command_word(command->parts[i]));
        print_quoted(command->parts[i]->line, true);
        printf("'\n");
    }
    for (int i = 0; i < command->option_count; i++) {
        const firn_option *o = &command->options[i];
        printf("complete -c firn -n '__firn_at %s'", command->name);
        if (o->kind != FIRN_OPTION_WORDS) {
            const bool one = o->name[1] != '-'; /* a letter after one dash */
            printf(" -%c %s -d '", one ? 's' : 'l', o->name + (one ? 1 : 2));
            print_quoted(o->help, true);
            printf("'");
        }
        /* -x: a value, and no file; -rF: a value, which is a file. */
        const bool any = o->files == FIRN_FILES_ANY;
        if (takes_value(o)) printf(any ? " -rF" : " -x");
        if (o->kind == FIRN_OPTION_WORDS && any) printf(" -F");
        fish_action(o);
        printf("\n");
    }
}

static void print_fish(void)
{
    printf("# Completion of firn in fish: made by `firn completion fish`.\n"
           "function __firn_at -d 'whether the words so far name this command'\n"
           "    set -l at firn\n"
           "    for word in (commandline -opc)[2..]\n"
           "        contains -- \"$at $word\"");
    each_command(&firn_program, fish_pattern);
    printf("\n        and set at \"$at $word\"\n"
           "    end\n"
           "    test \"$at\" = \"$argv\"\n"
           "end\n"
           "function __firn_files -d 'folders, and files that end so'\n"
           "    for path in (commandline -ct)*\n"
           "        test -d $path; and echo $path/\n"
           "        for end in $argv\n"
           "            string match -q -- \"*$end\" $path; and echo $path\n"
           "        end\n"
           "    end\n"
           "end\n"
           "complete -c firn -f\n"
           "complete -c firn -n '__firn_at firn' -l version -d 'print the version'\n");
    each_command(&firn_program, fish_command);
}

/* ---- the command ---- */

static const struct {
    const char *name;
    void (*print)(void);
} shells[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};
enum { SHELLS = sizeof shells / sizeof *shells };

static const char *shell_name(int32_t index) { return index < SHELLS ? shells[index].name : NULL; }

static firn_words words;

static const firn_option options[] = {
    {"SHELL", FIRN_OPTION_WORDS, &words, NULL, "bash, zsh or fish", 1, 1, .word = shell_name},
};

static int run(void)
{
    for (int i = 0; i < SHELLS; i++) {
        if (strcmp(shells[i].name, words.word[0]) != 0) continue;
        shells[i].print();
        return 0;
    }
    char near[200];
    fprintf(stderr, "%s: there is no completion for \"%s\"%s\n", firn_completion_command.name,
            words.word[0], firn_nearest_word(words.word[0], shell_name, near, sizeof near));
    return FIRN_EXIT_USAGE;
}

const firn_command firn_completion_command = {
    .name = "firn completion",
    .line = "print the completion script of a shell",
    .summary = "Prints a script by which a shell completes commands, options, their values and "
               "files. In bash: source <(firn completion bash). `make install` puts all three "
               "where the shells look.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run};
