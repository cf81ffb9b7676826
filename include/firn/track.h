/* Tracks: numbers that change in time, by keys. */
#ifndef FIRN_TRACK_H
#define FIRN_TRACK_H

#include <firn/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How keys are connected: by straight lines; by curves that slow down at the first key, the last one and where
 * a number turns back; or not at all, so that each key holds until the next. */
#define FIRN_INTERPOLATIONS(X)                                                                     \
    X(KEYS_LINEAR, linear, "straight from key to key")                                             \
    X(KEYS_SMOOTH, smooth, "in a curve that stops at the ends and where it turns back")            \
    X(KEYS_STEP, step, "each key holds until the next")
typedef enum firn_interpolation {
    FIRN_INTERPOLATIONS(FIRN_LIST_ENUM) FIRN_INTERPOLATION_COUNT
} firn_interpolation;

/* A number or a vector by keys, whose times rise. It is constant before the first key and after the
 * last. A def that has one for a parameter does not read the parameter itself. What it points to is copied when a
 * sim is created. All zero: there is none. */
typedef struct firn_track {
    const double *times;  /* s, count of them */
    const double *values; /* count x components, in the parameter's unit */
    int32_t count;
    int32_t components; /* 1, or 3 of a vector */
    firn_interpolation interpolation;
} firn_track;

enum { FIRN_TRACK_COMPONENTS = 3 }; /* at most */

/* The value at a time, of a track with at least one key: `components` numbers. */
FIRN_API void firn_track_sample(const firn_track *track, double time, double *out);
/* Its mean from one time to a later one, exactly; if they are the same, the value there. */
FIRN_API void firn_track_mean(const firn_track *track, double from, double to, double *out);

#ifdef __cplusplus
}
#endif
#endif
