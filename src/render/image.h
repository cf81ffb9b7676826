/* Images inside the library. What a renderer makes may be
 * brighter than 1; tone mapping brings it to what a screen shows, and PNG holds that. EXR holds the
 * picture as it is. */
#ifndef FIRN_RENDER_IMAGE_H
#define FIRN_RENDER_IMAGE_H

#include <firn/render.h>

/* Transparent black. */
firn_status firn_image_create(int32_t width, int32_t height, firn_image *out, firn_error *error);

/* Brightness times 2^stops, then a filmic curve: dark tones nearly as they are, bright ones rolled off
 * below 1. Alpha stays. */
void firn_image_tone_map(firn_image *image, double stops);

/* sRGB numbers of 8 or 16 bits (16: native byte order), `channels` 3 or 4 to a pixel, into `out`. 3
 * channels are the picture over black. 8 bits are dithered, the same way every time; 4 channels are
 * not premultiplied, as PNG wants them. */
void firn_image_encode(const firn_image *image, int bits, int channels, void *out);

/* Grey, RGB and RGBA of 8 or 16 bits, not interlaced: what firn_image_write_png writes, and more. */
firn_status firn_image_read_png(const char *path, firn_image *out, firn_error *error);

/* Peak signal to noise ratio in dB of the 8-bit sRGB numbers; INFINITY when they are the same, -1 when
 * the sizes differ. */
double firn_image_psnr(const firn_image *a, const firn_image *b);

#endif
