/* The command line: picks a command, which does the rest. */
#include <stdio.h>
#include <string.h>

#include "app.h"

static const firn_command *const commands[] = {
#define ROW(word) &firn_##word##_command,
    FIRN_COMMANDS(ROW)
#undef ROW
        NULL};

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
