/* Curves through keys, wherever their numbers lie. */
#ifndef FIRN_BASE_TRACK_H
#define FIRN_BASE_TRACK_H

#include <firn/track.h>
#include <stdbool.h>

/* One number of each key. */
typedef struct firn_curve {
    const double *time, *value;    /* of the first key */
    int32_t time_step, value_step; /* from key to key, in doubles */
    int32_t count;
    firn_interpolation interpolation;
} firn_curve;

/* The last key at or before the time, or -1. */
int32_t firn_curve_before(const firn_curve *curve, double time);
/* The number at the part s of the way from key k to the next, and its rate per second. */
double firn_curve_between(const firn_curve *curve, int32_t k, double s, double *rate);

/* The first time after `from`, up to `to`, at which a track jumps or bends; INFINITY: none. */
double firn_track_next_key(const firn_track *track, double from, double to);

#endif
