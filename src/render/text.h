/* Text drawn with strokes: a font of lines and arcs, so that any size is crisp and no file is needed.
 * ASCII; any other character is an empty box. */
#ifndef FIRN_TEXT_H
#define FIRN_TEXT_H

#include "render/draw.h"

/* Pixels from the left end to the right; `height` is that of a capital letter. */
double firn_text_width(const char *text, double height);

/* The left end of the base line at x, y. */
void firn_draw_text(firn_image *image, double x, double y, double height, const char *text,
                    firn_paint paint);

#endif
