/* Motion blur of a finished picture, from how far everything moves across it. */
#ifndef FIRN_RENDER_BLUR_H
#define FIRN_RENDER_BLUR_H

#include "render/image.h"

/* Of every pixel: its movement while the shutter is open (pixels, right and down) and its distance. */
typedef struct firn_pixel_motion {
    float x, y, distance;
} firn_pixel_motion;

/* Smears the picture along the motion, half to either side. */
firn_status firn_image_blur(firn_image *image, const firn_pixel_motion *motion, int32_t threads,
                            firn_error *error);

#endif
