/* What the tests of filling share: asserts, random points, and the claims every filling must meet. */
#ifndef FIRN_TEST_FILLING_H
#define FIRN_TEST_FILLING_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "geometry/fill.h"

static const double pi = 3.14159265358979323846;

#define assert_close(got, want, tolerance)                                                         \
    close_at((got), (want), (tolerance), #got, __FILE__, __LINE__)
static inline void close_at(double got, double want, double tolerance, const char *what,
                            const char *file, int line)
{
    if (fabs(got - want) <= tolerance) return; /* false for NaN */
    print_error("%s is %.17g, not %.17g within %g\n", what, got, want, tolerance);
    _fail(file, line);
}

/* The call takes &error, which this declares. */
#define assert_ok(call)                                                                            \
    do {                                                                                           \
        firn_error error = {0};                                                                    \
        if ((call) != FIRN_OK) {                                                                   \
            print_error("%s: %s\n", #call, error.message);                                         \
            fail();                                                                                \
        }                                                                                          \
    } while (0)

#define assert_refused(call, part)                                                                 \
    do {                                                                                           \
        firn_error error = {0};                                                                    \
        assert_int_not_equal((call), FIRN_OK);                                                     \
        if (!strstr(error.message, part)) {                                                        \
            print_error("\"%s\" does not say \"%s\"\n", error.message, part);                      \
            fail();                                                                                \
        }                                                                                          \
    } while (0)

static uint64_t random_state; /* a seed names a test */

static inline double uniform(double low, double high)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * (double)(random_state >> 11) / 9007199254740992.0;
}

static inline firn_placement somewhere(int dimension)
{
    firn_placement p = firn_placement_default();
    const double translate[3] = {3, -2, dimension == 2 ? 0 : 1}, scale[3] = {1.5, 0.5, 0.8};
    memcpy(p.translate, translate, sizeof translate);
    memcpy(p.scale, scale, sizeof scale);
    p.rotate_deg[2] = 40;
    if (dimension == 3)
        p.rotate_deg[0] = 30, p.angle_deg = -25;
    else
        p.axis[1] = 0, p.axis[2] = 1, p.angle_deg = 10;
    return p;
}

static inline firn_fill_def def_of(firn_pattern pattern, double separation)
{
    firn_fill_def def = firn_fill_def_default();
    def.pattern = pattern;
    def.separation = separation;
    def.seed = 7;
    return def;
}

static inline double sum_of(const firn_filling *f)
{
    long double sum = 0;
    for (int64_t i = 0; i < f->count; i++) sum += f->volume[i];
    return (double)sum;
}

static inline void check_filling(const firn_region *region, const firn_filling *f)
{
    for (int64_t i = 0; i < f->count; i++) {
        assert_true(firn_region_inside(region, f->position + 3 * i));
        assert_true(f->volume[i] > 0);
        if (region->dimension == 2) assert_true(f->position[3 * i + 2] == 0);
    }
    assert_close(sum_of(f) / region->volume, 1, 1e-12);
}

#endif
