/* PNG pictures as they are stored: grey or RGB, with alpha or without, of 8 or 16 bits, not interlaced. */
#ifndef FIRN_IO_PNG_H
#define FIRN_IO_PNG_H

#include <stddef.h>
#include <stdint.h>

#include <firn/base.h>

enum { FIRN_PNG_MOST = 32768 }; /* pixels along a side */

typedef struct firn_png {
    int32_t width, height;
    int bits, channels; /* 8 or 16; 1 grey, 2 grey and alpha, 3, 4 */
    uint8_t *data;      /* from the upper row on, of 16 bits the high byte first */
} firn_png;

firn_status firn_png_read(const char *path, firn_png *out, firn_error *error);
void firn_png_free(firn_png *png);

/* The index-th number of all, 0 to 1; and how bright a pixel is, as it is stored. */
double firn_png_number(const firn_png *png, int64_t index);
double firn_png_grey(const firn_png *png, int32_t x, int32_t y);

/* What a row's filter subtracts from byte i of it. `step` is the bytes of a pixel. */
uint8_t firn_png_predict(int filter, const uint8_t *row, const uint8_t *above, size_t i,
                         size_t step);

#endif
