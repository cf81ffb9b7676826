/* The command line: picks the command, which does the rest. */
#include <stdio.h>
#include <string.h>

#include <firn/base.h>

#include "app.h"

static const struct {
    const char *name, *help;
    int (*run)(int argc, char **argv);
} commands[] = {
    {"run", "run a scene file: frames, caches, checkpoints", firn_run_main},
    {"list", "what scenes can say: materials, shapes, formats, parameters", firn_list_main},
    {"demo", "step a jelly block with a hard ball dropped on it, and report", firn_demo_main},
    {"convert", "particles from one file format to another: IN OUT", firn_convert_main},
    {"info", "what particle files hold: FILE...", firn_info_main},
    {"bench", "measure speed: step, scaling, realtime, stable", firn_bench_main},
    {"validate", "compare with analytic solutions: [--quick] [--case NAME]", firn_validate_main},
};

static int usage(FILE *out)
{
    fprintf(out, "firn %s: a material point method engine\n\nusage: firn COMMAND [options]\n\n",
            firn_version());
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].help);
    }
    fprintf(out, "\nfirn COMMAND --help says more.\n");
    return out == stdout ? 0 : 2;
}

int main(int argc, char **argv)
{
    if (argc < 2) return usage(stderr);
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0) {
        return usage(stdout);
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("firn %s\n", firn_version());
        return 0;
    }
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(argv[1], commands[i].name) == 0) return commands[i].run(argc - 1, argv + 1);
    }
    fprintf(stderr, "firn: there is no command \"%s\"\n\n", argv[1]);
    return usage(stderr);
}
