#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>

firn_status firn_fail_at(firn_error *error, firn_status status, const char *file, int line,
                         const char *format, ...)
{
    if (error) {
        error->status = status;
        error->file = file;
        error->line = line;
        va_list args;
        va_start(args, format);
        vsnprintf(error->message, sizeof error->message, format, args);
        va_end(args);
    }
    return status;
}

firn_status firn_check_stamp(uint32_t stamp, const char *def, const char *which, firn_error *error)
{
    if (stamp == FIRN_STAMP) return FIRN_OK;
    return firn_fail(error, FIRN_INVALID,
                     "%s%s%s was not made by %s_default(); start from that and change what differs",
                     which ? which : "", which ? ": " : "", def, def);
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
