/* Colours for numbers, made by formulas in OKLab (Ottosson 2020), a space in which equal distances
 * look equally large. */
#ifndef FIRN_COLORMAP_H
#define FIRN_COLORMAP_H

#include <firn/render.h>

enum { FIRN_COLORMAP_SIZE = 256 };

/* Linear light; equal steps look equal. Of FIRN_CATEGORICAL it holds the first 256 colours. */
typedef struct firn_colormap {
    float rgb[FIRN_COLORMAP_SIZE][3];
} firn_colormap;

void firn_colormap_make(firn_colormap_kind kind, firn_colormap *out);

/* The colour at `t` from 0 to 1, beyond which the ends go on. Not a number: grey. */
void firn_colormap_at(const firn_colormap *map, double t, float rgb[3]);

/* Linear light to OKLab. */
void firn_oklab_from_rgb(const float rgb[3], double lab[3]);

#endif
