/* The picture in memory: tone mapping and sRGB numbers. */
#include "render/image.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

firn_status firn_image_create(int32_t width, int32_t height, firn_image *out, firn_error *error)
{
    *out = (firn_image){0};
    if (width < 1 || height < 1 || width > FIRN_IMAGE_MOST || height > FIRN_IMAGE_MOST) {
        return firn_fail(error, FIRN_INVALID, "a picture of %d x %d; each side must be 1 to %d",
                         width, height, FIRN_IMAGE_MOST);
    }
    float *rgba = calloc((size_t)width * (size_t)height, 4 * sizeof *rgba);
    if (!rgba) {
        return firn_fail(error, FIRN_NO_MEMORY, "out of memory for a picture of %d x %d", width,
                         height);
    }
    *out = (firn_image){width, height, rgba};
    return FIRN_OK;
}

void firn_image_free(firn_image *image)
{
    free(image->rgba);
    *image = (firn_image){0};
}

/* Narkowicz 2015 ("ACES filmic tone mapping curve"): a fit of the filmic curve by one fraction. */
static float pictures(float x)
{
    const float y = x * (2.51f * x + 0.03f) / (x * (2.43f * x + 0.59f) + 0.14f);
    return y < 0 ? 0 : y > 1 ? 1 : y;
}

void firn_image_tone_map(firn_image *image, double stops)
{
    /* The fit darkens middle grey; this keeps 0.18 where it is. */
    const float gain = 0.72f * (float)exp2(stops);
    const size_t count = (size_t)image->width * (size_t)image->height;
    for (size_t i = 0; i < count; i++) {
        float *p = image->rgba + 4 * i;
        if (!(p[3] > 0)) continue;
        for (int c = 0; c < 3; c++) p[c] = p[3] * pictures(gain * fmaxf(p[c], 0) / p[3]);
    }
}

static float srgb(float x)
{
    if (!(x > 0)) return 0;
    if (x >= 1) return 1;
    return x <= 0.0031308f ? 12.92f * x : 1.055f * powf(x, 1 / 2.4f) - 0.055f;
}

/* Between -0.49 and 0.49: whole numbers stay what they are. Jimenez 2014's interleaved gradient, whose
 * neighbours differ as much as can be. */
static float dither(int32_t x, int32_t y)
{
    const float wave = 0.06711056f * (float)x + 0.00583715f * (float)y;
    const float turn = 52.9829189f * (wave - floorf(wave));
    return 0.98f * (turn - floorf(turn) - 0.5f);
}

void firn_image_encode(const firn_image *image, int bits, int channels, void *out)
{
    uint8_t *out8 = out;
    uint16_t *out16 = out;
    const float *p = image->rgba;
    size_t next = 0;
    for (int32_t y = 0; y < image->height; y++) {
        for (int32_t x = 0; x < image->width; x++, p += 4) {
            const float alpha = fminf(fmaxf(p[3], 0), 1);
            const float scale = channels == 4 && alpha > 0 ? 1 / alpha : 1;
            const float noise = bits == 8 ? dither(x, y) : 0;
            for (int c = 0; c < channels; c++, next++) {
                const float v = c == 3 ? alpha : srgb(scale * p[c]);
                if (bits == 8) {
                    out8[next] = (uint8_t)(255 * v + 0.5f + (c < 3 ? noise : 0));
                } else {
                    out16[next] = (uint16_t)(65535 * v + 0.5f);
                }
            }
        }
    }
}

double firn_image_psnr(const firn_image *a, const firn_image *b)
{
    if (a->width != b->width || a->height != b->height) return -1;
    const size_t count = (size_t)a->width * (size_t)a->height;
    double sum = 0;
    for (size_t i = 0; i < 4 * count; i++) {
        if (i % 4 == 3) continue;
        const double d = 255 * ((double)srgb(a->rgba[i]) - (double)srgb(b->rgba[i]));
        sum += d * d;
    }
    return sum > 0 ? 10 * log10(255.0 * 255.0 * 3 * (double)count / sum) : (double)INFINITY;
}
