/* The pixels of PNG pictures in memory. */
#include <stdlib.h>

#include "io/png.h"

double firn_png_number(const firn_png *p, int64_t index)
{
    if (p->bits == 8) return p->data[index] / 255.0;
    return (p->data[2 * index] * 256 + p->data[2 * index + 1]) / 65535.0;
}

double firn_png_grey(const firn_png *p, int32_t x, int32_t y)
{
    const int64_t at = ((int64_t)y * p->width + x) * p->channels;
    if (p->channels < 3) return firn_png_number(p, at);
    double sum = 0;
    for (int c = 0; c < 3; c++) sum += firn_png_number(p, at + c) / 3;
    return sum;
}

void firn_png_free(firn_png *png)
{
    free(png->data);
    *png = (firn_png){0};
}
