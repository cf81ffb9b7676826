/* How the library reports failure: status out, text into the caller's firn_error. */
#ifndef FIRN_ERROR_H
#define FIRN_ERROR_H

#include <assert.h>

#include <firn/base.h>

/* Tells static analysis that what follows a failure is not reached as if all were well. */
static inline firn_status firn_failed(firn_status status)
{
    assert(status != FIRN_OK);
    return status;
}

/* Fills *error (when not NULL) and returns status: `return firn_fail(error, FIRN_INVALID,
 * "...")`. */
#define firn_fail(error, status, ...)                                                              \
    firn_failed(firn_fail_at(error, status, __FILE__, __LINE__, __VA_ARGS__))

/* The same for a field of a def. The message begins with its path, which ends at a space or a colon:
 * "colliders[2].friction -1 must be ...". */
#define firn_fail_field(error, status, ...)                                                        \
    firn_failed(firn_fail_field_at(error, status, __FILE__, __LINE__, __VA_ARGS__))

FIRN_API firn_status firn_fail_at(firn_error *error, firn_status status, const char *file, int line,
                                  const char *format, ...) __attribute__((format(printf, 5, 6)));
FIRN_API firn_status firn_fail_field_at(firn_error *error, firn_status status, const char *file,
                                        int line, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Refuses a pointer that a caller must give: `FIRN_REQUIRE(def, error);`. */
#define FIRN_REQUIRE(argument, error)                                                              \
    do {                                                                                           \
        if (!(argument)) return firn_fail(error, FIRN_INVALID, "%s is NULL; give one", #argument); \
    } while (0)

/* Defs carry this in `stamp` when made by their default function. */
#define FIRN_STAMP 0x4e524946u

/* FIRN_OK, or FIRN_INVALID naming the default function the def should come from; `which` says which
 * of several, as "materials[1]", or is NULL. */
firn_status firn_check_stamp(uint32_t stamp, const char *def, const char *which, firn_error *error);

#endif
