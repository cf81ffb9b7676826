/* Anti-aliased shapes painted over an image.
 *
 * Positions and lengths are in pixels: x to the right, y down, the first pixel from 0 to 1. A pixel
 * is covered by how far its centre is inside the shape, from half a pixel outside (not) to half a
 * pixel inside (fully); sizes are corrected so that the area painted is that of the shape, however
 * small. Where a shape consists of parts that overlap, they are painted as one. What lies outside of
 * the image is left out. */
#ifndef FIRN_DRAW_H
#define FIRN_DRAW_H

#include "render/image.h"

/* Linear light, not premultiplied. */
typedef struct firn_paint {
    float r, g, b, a;
} firn_paint;

/* From sRGB as designers write it, 0xrrggbb. */
firn_paint firn_paint_hex(uint32_t rgb, double opacity);

/* Paints one pixel; `coverage` from 0 to 1. Outside of the image nothing happens. */
void firn_draw_pixel(firn_image *image, int64_t x, int64_t y, double coverage, firn_paint paint);

void firn_draw_rectangle(firn_image *image, double x0, double y0, double x1, double y1,
                         firn_paint paint);
void firn_draw_disc(firn_image *image, double x, double y, double radius, firn_paint paint);

/* A straight line with round ends. */
typedef struct firn_segment {
    double x0, y0, x1, y1;
} firn_segment;
/* The union of lines of one width. */
void firn_draw_lines(firn_image *image, const firn_segment *line, int32_t count, double width,
                     firn_paint paint);

/* From the tail to the tip; a short one is all head. */
void firn_draw_arrow(firn_image *image, firn_segment from_to, double width, firn_paint paint);
/* With an edge all around, outside of it. */
void firn_draw_edged_arrow(firn_image *image, firn_segment from_to, double width, firn_paint paint,
                           double edge, firn_paint edge_paint);

/* Copies an image into this one, its corner at x, y. */
void firn_draw_image(firn_image *image, int32_t x, int32_t y, const firn_image *part);

/* The mean of the pixels under each pixel of `small`, which has the size wanted. */
void firn_image_shrink(const firn_image *large, firn_image *small);

#endif
