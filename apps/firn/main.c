/* The command line: lists the commands and picks one, which does the rest. */
#include <stdio.h>
#include <string.h>

#include "app.h"

static const firn_command *const commands[] = {
    &firn_run_command,   &firn_render_command,   &firn_sweep_command,      &firn_list_command,
    &firn_help_command,  &firn_convert_command,  &firn_info_command,       &firn_demo_command,
    &firn_bench_command, &firn_validate_command, &firn_completion_command, NULL};

const firn_command firn_program = {
    .name = "firn",
    .summary = "Firn simulates deformable bodies for computer graphics by the material point "
               "method: scene files in, particle caches out.",
    .parts = commands};

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        printf("firn %s\n", firn_version());
        return 0;
    }
    return firn_command_main(&firn_program, argc, argv);
}
