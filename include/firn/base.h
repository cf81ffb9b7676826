/* Status, error, log and memory: what every other public header builds on. */
#ifndef FIRN_BASE_H
#define FIRN_BASE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define FIRN_API __attribute__((visibility("default")))
#define FIRN_MUST_CHECK __attribute__((warn_unused_result))
#else
#define FIRN_API
#define FIRN_MUST_CHECK
#endif

/* Things that come in kinds, such as laws and transfers, stand in lists with a row each: NAME, name
 * and more. Enums, names, scene words and help are made of them. A list only grows at its end. */
#define FIRN_LIST_ENUM(NAME, ...) FIRN_##NAME,
#define FIRN_LIST_NAME(NAME, name, ...) #name,

#define FIRN_VERSION_MAJOR 0
#define FIRN_VERSION_MINOR 1
#define FIRN_VERSION_PATCH 0

/* The result of a call that can fail. Anything but FIRN_OK means that the call changed nothing, but
 * an advance that diverged or ran out of memory leaves the sim at the last good time. */
typedef enum firn_status {
    FIRN_OK = 0,
    FIRN_INVALID,     /* an argument is wrong; the message names field, value and remedy */
    FIRN_NO_MEMORY,   /* the allocator returned NULL */
    FIRN_DIVERGED,    /* no time step above the floor kept the limits */
    FIRN_UNSUPPORTED, /* this build or machine cannot do it */
    FIRN_OUTPUT,      /* a file could not be written */
    FIRN_STOPPED,     /* a hook asked to stop; the sim keeps the steps taken until then */
} firn_status;

/* Filled by a failing call when the caller passes one; owned by the caller. */
typedef struct firn_error {
    firn_status status;
    char message[480];
    char path[80]; /* of the def's field that is wrong, as "colliders[2].keys[1].time"; "": none */
    const char *file; /* source file that raised it: for bug reports */
    int line;
} firn_error;

/* A short name of a status: "ok", "invalid", ..., or NULL when there is no such status. Static
 * storage. */
FIRN_API const char *firn_status_name(firn_status status);

/* "0.1.0". Static storage. */
FIRN_API const char *firn_version(void);

/* What a message about an unknown name should add: ", did you mean \"young\"?" if one of the names,
 * which end with NULL, is near; else "; there are a, b, c", cut short. Returns `text`. */
FIRN_API const char *firn_nearest(const char *name, const char *const *names, char *text,
                                  size_t size);

typedef enum firn_log_level {
    FIRN_LOG_INFO,
    FIRN_LOG_WARNING,
    FIRN_LOG_DETAIL /* may come every frame: for those who look closely */
} firn_log_level;

/* Called from the thread that called the library, never from a worker. */
typedef struct firn_log {
    void (*write)(void *user_data, firn_log_level level, const char *subject, const char *text);
    void *user_data;
} firn_log;

/* One realloc-shaped function. old_size 0 allocates, new_size 0 frees (and returns NULL); alignment
 * is a power of two of at most 64. Returns NULL on failure and then leaves the old block alone.
 * Called from the thread that called the library. */
typedef struct firn_allocator {
    void *(*reallocate)(void *user_data, void *block, size_t old_size, size_t new_size,
                        size_t alignment);
    void *user_data;
} firn_allocator;

/* The allocator that a zero firn_allocator stands for: malloc, with large blocks on large pages. Wrap
 * it to count or to limit memory. */
FIRN_API firn_allocator firn_allocator_default(void);

/* Part of one of the engine's loops. `worker` tells the calls of a loop apart. */
typedef void firn_task_function(void *task_data, int32_t worker);

/* Runs the engine's loops on the host's threads. `run` must call task(task_data, worker) once for
 * every worker from 0 to count - 1, on any threads, at the same time or one after another in any
 * order, and return when all calls have returned. The calls share a loop's work and do not wait for
 * each other: one that starts late finds little or none left and returns, and a single thread may
 * make all of them. `run` is called from the thread that called the library, about ten times per
 * step, more in implicit steps. Results do not depend on it. A zero hook stands for the engine's own
 * threads. */
typedef struct firn_task_hook {
    void (*run)(void *user_data, firn_task_function *task, void *task_data, int32_t count);
    void *user_data;
} firn_task_hook;

#ifdef __cplusplus
}
#endif
#endif
