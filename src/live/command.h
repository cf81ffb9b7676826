/* Commands of a page, as protocol.ts has them, read from JSON. */
#ifndef FIRN_LIVE_COMMAND_H
#define FIRN_LIVE_COMMAND_H

#include <firn/scene.h>

/* X(NAME, word) */
#define FIRN_LIVE_COMMANDS(X)                                                                      \
    X(OPEN, open)                                                                                  \
    X(EDIT, edit)                                                                                  \
    X(RESTART, restart)                                                                            \
    X(PLAY, play)                                                                                  \
    X(PAUSE, pause)                                                                                \
    X(STEP, step)                                                                                  \
    X(SEEK, seek)                                                                                  \
    X(WANT, want)                                                                                  \
    X(TOOL, tool)                                                                                  \
    X(PROBE, probe)                                                                                \
    X(POINTS, points)                                                                              \
    X(HASH, hash)                                                                                  \
    X(SHOWN, shown)                                                                                \
    X(STOP, stop)
#define FIRN_LIVE_CONSTANT(NAME, word) FIRN_DO_##NAME,
typedef enum firn_live_do { FIRN_LIVE_COMMANDS(FIRN_LIVE_CONSTANT) FIRN_DO_COUNT } firn_live_do;
#undef FIRN_LIVE_CONSTANT

typedef enum firn_live_tool_kind {
    FIRN_TOOL_NONE,
    FIRN_TOOL_GRAB,
    FIRN_TOOL_PUSH,
    FIRN_TOOL_CUT,
    FIRN_TOOL_EMIT,
    FIRN_TOOL_HEAT,
    FIRN_TOOL_COUNT
} firn_live_tool_kind;

enum { FIRN_LIVE_NAME = 128 };

typedef struct firn_live_tool {
    firn_live_tool_kind kind;
    double at[3], radius; /* m */
    double velocity[3];   /* m/s */
    double strength;      /* N or K/s */
    char material[FIRN_LIVE_NAME];
} firn_live_tool;

/* What pictures carry. */
typedef struct firn_live_want {
    char color[FIRN_LIVE_NAME]; /* "": none */
    bool velocity, grid, totals;
} firn_live_want;

/* A command; members that it does not have are zero. */
typedef struct firn_live_command {
    firn_live_do what;
    uint64_t has; /* bit by member of the list in command.c */
    char *text;   /* a scene */
    size_t text_size;
    double speed;
    bool substep;
    int64_t frame, id, token, picture;
    firn_live_want want;
    firn_live_tool tool;
    char **attributes; /* up to NULL; NULL: all */
    struct firn_live_command *next;
} firn_live_command;

/* NULL with an error: not a command. */
firn_live_command *firn_live_command_read(const char *json, size_t size, firn_error *error);
void firn_live_command_free(firn_live_command *command);

/* Overwrites what the command gives of `to`. */
void firn_live_command_want(const firn_live_command *command, firn_live_want *to);

#endif
