/* The command line's subcommands, one file each; main.c dispatches to them. Each gets its own name as
 * argv[0] and returns the exit code. */
#ifndef FIRN_APP_H
#define FIRN_APP_H

/* firn validate [--quick] [--case NAME]... [--list] [--json]: runs the cases of cases.h and compares with
 * what theory says. 0 when every check holds, 1 when one does not, 2 on usage errors. */
int firn_validate_main(int argc, char **argv);

/* firn bench step|scaling|realtime|stable: measures speed; see bench.h. */
int firn_bench_main(int argc, char **argv);

/* firn demo: steps a built-in scene and reports frame by frame. */
int firn_demo_main(int argc, char **argv);

#endif
