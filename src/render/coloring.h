/* Colour by attribute: which numbers of the particles, over which range, through which colours. */
#ifndef FIRN_COLORING_H
#define FIRN_COLORING_H

#include "io/io.h"
#include "render/colormap.h"

typedef struct firn_coloring {
    char attribute[FIRN_NAME_SIZE];
    const char *unit;
    firn_colormap_kind kind;
    double middle;    /* what the middle of a diverging map stands for */
    double low, high; /* the range; low above high: nothing seen yet */
    firn_colormap map;
} firn_coloring;

/* `map` is a firn_colormap_kind, or -1 for what suits the attribute. The range is empty. */
firn_status firn_coloring_make(const char *attribute, int map, firn_coloring *out,
                               firn_error *error);

/* One number per particle: the column of that name, the length of a vector; `speed` is that of v, and
 * J comes from F where there is no J. Fails with the names of what there is. To be freed. */
firn_status firn_coloring_values(const firn_coloring *coloring, const firn_points *points,
                                 float **out, firn_error *error);

/* Widens the range by finite values, but for half a percent of them at either end: a few that are far
 * off would leave all others in one colour. Categories are all taken in. */
void firn_coloring_extend(firn_coloring *coloring, const float *value, int64_t count);
/* The range is complete: makes one of no width wide, and one of a diverging map even about its middle. */
void firn_coloring_settle(firn_coloring *coloring);

/* Linear r g b of every value. */
void firn_coloring_apply(const firn_coloring *coloring, const float *value, int64_t count,
                         float *rgb);

#endif
