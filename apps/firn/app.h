/* The command line's subcommands, one file each; main.c dispatches to them. Each gets its own name as
 * argv[0] and returns the exit code. */
#ifndef FIRN_APP_H
#define FIRN_APP_H

/* firn run SCENE.yaml [options]: runs a scene. */
int firn_run_main(int argc, char **argv);

/* firn list [TOPIC] [--markdown]: prints the parameter table and the other tables. */
int firn_list_main(int argc, char **argv);

/* firn validate [--quick] [--case NAME]... [--list] [--json]: runs the cases of cases.h and compares with
 * what theory says. 0 when every check holds, 1 when one does not, 2 on usage errors. */
int firn_validate_main(int argc, char **argv);

/* firn bench step|scaling|realtime|stable: measures speed; see bench.h. */
int firn_bench_main(int argc, char **argv);

/* firn demo: steps a built-in scene and reports frame by frame. */
int firn_demo_main(int argc, char **argv);

/* firn convert IN OUT: particles from one file format to another. */
int firn_convert_main(int argc, char **argv);

/* firn info FILE...: what particle files hold. */
int firn_info_main(int argc, char **argv);

#endif
