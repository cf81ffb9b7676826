/* Failure as a status and a text in the caller's firn_error; names of statuses; the version. */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void fill(firn_error *error, firn_status status, const char *file, int line,
                 const char *format, va_list args)
{
    error->status = status;
    error->file = file;
    error->line = line;
    error->path[0] = 0;
    vsnprintf(error->message, sizeof error->message, format, args);
}

firn_status firn_fail_at(firn_error *error, firn_status status, const char *file, int line,
                         const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (error) fill(error, status, file, line, format, args);
    va_end(args);
    return status;
}

firn_status firn_fail_field_at(firn_error *error, firn_status status, const char *file, int line,
                               const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (error) {
        fill(error, status, file, line, format, args);
        snprintf(error->path, sizeof error->path, "%.*s", (int)strcspn(error->message, " :"),
                 error->message);
    }
    va_end(args);
    return status;
}

firn_status firn_check_stamp(uint32_t stamp, const char *def, const char *which, firn_error *error)
{
    if (stamp == FIRN_STAMP) return FIRN_OK;
    return firn_fail_field(
        error, FIRN_INVALID,
        "%s%sstamp: %s was not made by %s_default(); start from that and change what differs",
        which ? which : "", which ? "." : "", def, def);
}

const char *firn_status_name(firn_status status)
{
    static const char *const name[] = {"ok",          "invalid", "no memory", "diverged",
                                       "unsupported", "output",  "stopped"};
    return status >= FIRN_OK && status <= FIRN_STOPPED ? name[status] : NULL;
}

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
const char *firn_version(void)
{
    return TEXT(FIRN_VERSION_MAJOR) "." TEXT(FIRN_VERSION_MINOR) "." TEXT(FIRN_VERSION_PATCH);
}
