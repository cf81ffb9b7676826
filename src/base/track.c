/* Curves through keys: values, rates and means. */
#include "base/track.h"

#include <math.h>

int32_t firn_curve_before(const firn_curve *c, double time)
{
    int32_t low = -1, high = c->count; /* time of low <= time < time of high */
    while (high - low > 1) {
        const int32_t middle = low + (high - low) / 2;
        if (c->time[(ptrdiff_t)middle * c->time_step] <= time)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static double time_of(const firn_curve *c, int32_t k)
{
    return c->time[(ptrdiff_t)k * c->time_step];
}

static double value_of(const firn_curve *c, int32_t k)
{
    return c->value[(ptrdiff_t)k * c->value_step];
}

/* The slope at key k of a curve: 0 at the ends and where the number turns back; elsewhere that from the key
 * before to the one after, at most three times the flatter way beside it, so that the curve never leaves the
 * range between two keys (Fritsch & Carlson 1980). */
static double slope_at(const firn_curve *c, int32_t k)
{
    if (k == 0 || k == c->count - 1) return 0;
    const double here = value_of(c, k),
                 before = (here - value_of(c, k - 1)) / (time_of(c, k) - time_of(c, k - 1)),
                 after = (value_of(c, k + 1) - here) / (time_of(c, k + 1) - time_of(c, k));
    if (before * after <= 0) return 0;
    const double slope = (value_of(c, k + 1) - value_of(c, k - 1)) /
                         (time_of(c, k + 1) - time_of(c, k - 1)),
                 most = 3 * fmin(fabs(before), fabs(after));
    return fmin(fmax(slope, -most), most);
}

double firn_curve_between(const firn_curve *c, int32_t k, double s, double *rate)
{
    const double from = value_of(c, k), way = value_of(c, k + 1) - from,
                 span = time_of(c, k + 1) - time_of(c, k);
    if (c->interpolation == FIRN_KEYS_STEP) {
        *rate = 0;
        return from;
    }
    if (c->interpolation == FIRN_KEYS_LINEAR) {
        *rate = way / span;
        return from + s * way;
    }
    const double m = span * slope_at(c, k), n = span * slope_at(c, k + 1);
    *rate = (m + s * (2 * (3 * way - 2 * m - n) + 3 * s * (m + n - 2 * way))) / span;
    return from + s * (m + s * (3 * way - 2 * m - n + s * (m + n - 2 * way)));
}

/* ---- tracks ---- */

static firn_curve curve_of(const firn_track *track, int32_t component)
{
    return (firn_curve){.time = track->times,
                        .value = track->values + component,
                        .time_step = 1,
                        .value_step = track->components,
                        .count = track->count,
                        .interpolation = track->interpolation};
}

/* At a time whose last key is k. */
static double value_at(const firn_curve *c, int32_t k, double time)
{
    double rate;
    if (k < 0) return value_of(c, 0);
    if (k == c->count - 1) return value_of(c, k);
    const double from = time_of(c, k);
    return firn_curve_between(c, k, (time - from) / (time_of(c, k + 1) - from), &rate);
}

void firn_track_sample(const firn_track *track, double time, double *out)
{
    for (int32_t i = 0; i < track->components; i++) {
        const firn_curve c = curve_of(track, i);
        out[i] = value_at(&c, firn_curve_before(&c, time), time);
    }
}

void firn_track_mean(const firn_track *track, double from, double to, double *out)
{
    if (!(to > from)) {
        firn_track_sample(track, from, out);
        return;
    }
    for (int32_t i = 0; i < track->components; i++) {
        const firn_curve c = curve_of(track, i);
        int32_t k = firn_curve_before(&c, from);
        double sum = 0;
        for (double at = from; at < to; k++) {
            const double end = k < c.count - 1 ? fmin(time_of(&c, k + 1), to) : to;
            const double middle = 0.5 * (at + end), half = 0.5 * (end - at) / sqrt(3);
            /* Gauss' two points are exact for cubics. */
            sum += 0.5 * (end - at) *
                   (value_at(&c, k, middle - half) + value_at(&c, k, middle + half));
            at = end;
        }
        out[i] = sum / (to - from);
    }
}

double firn_track_next_key(const firn_track *track, double from, double to)
{
    if (track->count == 0) return INFINITY;
    const firn_curve c = curve_of(track, 0);
    const int32_t next = firn_curve_before(&c, from) + 1;
    return next < c.count && time_of(&c, next) <= to ? time_of(&c, next) : INFINITY;
}
