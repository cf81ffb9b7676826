/* The command line's commands, one file each. */
#ifndef FIRN_APP_H
#define FIRN_APP_H

#include "options.h"

/* The commands: a word each, in the order of --help; <word>.c has firn_<word>_command. */
#define FIRN_COMMANDS(X)                                                                           \
    X(run)                                                                                         \
    X(view)                                                                                        \
    X(render)                                                                                      \
    X(sweep)                                                                                       \
    X(list) X(help) X(convert) X(voxelize) X(info) X(demo) X(bench) X(validate) X(completion)

#define DECLARE(word) extern const firn_command firn_##word##_command;
FIRN_COMMANDS(DECLARE)
#undef DECLARE

/* `firn` itself: all commands are its parts. */
extern const firn_command firn_program;

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
