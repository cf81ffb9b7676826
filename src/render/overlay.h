/* What is written over a picture: legend, scale bar, caption, labels. Sizes follow the height of the
 * picture. */
#ifndef FIRN_OVERLAY_H
#define FIRN_OVERLAY_H

#include "render/coloring.h"
#include "render/draw.h"
#include "render/text.h"

/* Height of a capital letter (pixels) in a picture of that height. */
double firn_overlay_letter(int32_t height);

/* Where a legend may be; the fourth corner is that of labels. */
typedef enum firn_corner {
    FIRN_LOWER_RIGHT,
    FIRN_LOWER_LEFT,
    FIRN_UPPER_LEFT,
    FIRN_CORNERS
} firn_corner;
/* From and to where a legend of a range reaches there, pixels. */
firn_segment firn_overlay_corner(firn_corner corner, int32_t width, int32_t height);

/* The colours with attribute, unit and range. Categories are listed, by `label` where there are any
 * (`label_count`), else by number. `taken`: pixels of the corner that other legends have; the result is
 * what this one takes. */
double firn_overlay_legend(firn_image *image, firn_corner corner, double taken,
                           const firn_coloring *coloring, const char *const *label,
                           int32_t label_count);

/* Lower left corner: a length that is a round number of metres. */
void firn_overlay_scale(firn_image *image, double pixels_per_metre);

/* Above the scale bar: how long an arrow of this much is. `row` counts upwards from 0. */
void firn_overlay_arrow(firn_image *image, int row, double pixels, const char *text,
                        firn_paint paint);

/* Upper left corner, and upper right. */
void firn_overlay_caption(firn_image *image, const char *text);
void firn_overlay_label(firn_image *image, const char *text);

/* The largest of 1, 2, 5 times a power of ten that is not above `most`. */
double firn_round_below(double most);

#endif
