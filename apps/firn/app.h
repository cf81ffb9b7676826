/* The command line's commands, one file each; main.c lists them. */
#ifndef FIRN_APP_H
#define FIRN_APP_H

#include "options.h"

/* `firn` itself: all commands are its parts. */
extern const firn_command firn_program;

extern const firn_command firn_run_command;
extern const firn_command firn_render_command;
extern const firn_command firn_sweep_command;
extern const firn_command firn_list_command;
extern const firn_command firn_help_command;
extern const firn_command firn_completion_command;
extern const firn_command firn_demo_command;
extern const firn_command firn_convert_command;
extern const firn_command firn_info_command;
extern const firn_command firn_bench_command;
extern const firn_command firn_validate_command;

/* ---- list.c ---- */

/* The range as people write it, or the words there are. */
const char *firn_row_range(const firn_param *row, char *text, size_t size);
const char *firn_row_kind(const firn_param *row);

/* ---- manual.c ---- */

/* Prints the manual page. */
void firn_manual_print(void);

/* ---- help.c ---- */

/* The topics, one by one: name and line, or NULL past the end. */
const char *firn_topic_name(int32_t index);
const char *firn_topic_line(int32_t index);

#endif
