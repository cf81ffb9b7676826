/* Three colour maps as curves in OKLab (Ottosson 2020). The curves are sampled at equal distances,
 * so equal steps of the number look equally large. */
#include "render/colormap.h"

#include <math.h>
#include <stdbool.h>

static const double DEGREE = 3.14159265358979323846 / 180;

/* ---- OKLab ---- */

void firn_oklab_from_rgb(const float rgb[3], double lab[3])
{
    const double r = (double)rgb[0], g = (double)rgb[1], b = (double)rgb[2];
    const double l = cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
    const double m = cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
    const double s = cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
    lab[0] = 0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s;
    lab[1] = 1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s;
    lab[2] = 0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s;
}

/* Lightness, chroma, hue (degrees) to linear light. False where a screen cannot show it. */
static bool rgb_from_lch(double lightness, double chroma, double hue, double rgb[3])
{
    const double a = chroma * cos(DEGREE * hue), b = chroma * sin(DEGREE * hue);
    const double l = pow(lightness + 0.3963377774 * a + 0.2158037573 * b, 3);
    const double m = pow(lightness - 0.1055613458 * a - 0.0638541728 * b, 3);
    const double s = pow(lightness - 0.0894841775 * a - 1.2914855480 * b, 3);
    rgb[0] = 4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s;
    rgb[1] = -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s;
    rgb[2] = -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s;
    bool shown = true;
    for (int c = 0; c < 3; c++) shown = shown && rgb[c] >= 0 && rgb[c] <= 1;
    return shown;
}

/* ---- paths through it ---- */

/* Both stay within what a screen shows. */
static void sequential(double t, double rgb[3])
{
    const double off_middle = 2 * t - 1;
    rgb_from_lch(0.28 + 0.64 * t, 0.095 + 0.05 * off_middle * off_middle, 300 - 200 * t, rgb);
}

static void diverging(double t, double rgb[3])
{
    const double u = fabs(2 * t - 1);
    rgb_from_lch(0.95 - 0.47 * u, 0.15 * u * (2 - u), t < 0.5 ? 255 : 32, rgb);
}

/* Hues a golden angle apart, so that any few in a row are far from each other; lightness alternates
 * for eyes that confuse hues. */
static void categorical(int index, float out[3])
{
    double rgb[3], chroma = 0.15;
    const double lightness = 0.62 + 0.1 * (index % 3);
    while (!rgb_from_lch(lightness, chroma, fmod(255 + 137.50776 * index, 360), rgb)) {
        chroma -= 0.005;
    }
    for (int c = 0; c < 3; c++) out[c] = (float)rgb[c];
}

/* Distance along the path from its beginning to each of its points. */
enum { FINE = 4096 };

static void measure(void (*path)(double, double *), double length[FINE + 1])
{
    double before[3] = {0};
    length[0] = 0;
    for (int i = 0; i <= FINE; i++) {
        double rgb[3], lab[3];
        path((double)i / FINE, rgb);
        firn_oklab_from_rgb((const float[3]){(float)rgb[0], (float)rgb[1], (float)rgb[2]}, lab);
        if (i > 0) {
            length[i] = length[i - 1] +
                        hypot(hypot(lab[0] - before[0], lab[1] - before[1]), lab[2] - before[2]);
        }
        for (int c = 0; c < 3; c++) before[c] = lab[c];
    }
}

void firn_colormap_make(firn_colormap_kind kind, firn_colormap *out)
{
    if (kind == FIRN_CATEGORICAL) {
        for (int i = 0; i < FIRN_COLORMAP_SIZE; i++) categorical(i, out->rgb[i]);
        return;
    }
    void (*path)(double, double *) = kind == FIRN_SEQUENTIAL ? sequential : diverging;
    double length[FINE + 1];
    measure(path, length);
    for (int i = 0, at = 0; i < FIRN_COLORMAP_SIZE; i++) {
        const double wanted = length[FINE] * i / (FIRN_COLORMAP_SIZE - 1);
        while (at < FINE - 1 && length[at + 1] < wanted) at++;
        double rgb[3];
        path((at + (wanted - length[at]) / (length[at + 1] - length[at])) / FINE, rgb);
        for (int c = 0; c < 3; c++) out->rgb[i][c] = (float)rgb[c];
    }
}

void firn_colormap_at(const firn_colormap *map, double t, float rgb[3])
{
    if (isnan(t)) {
        rgb[0] = rgb[1] = rgb[2] = 0.2f;
        return;
    }
    const double x = fmin(fmax(t, 0), 1) * (FIRN_COLORMAP_SIZE - 1);
    const int i = (int)fmin(x, FIRN_COLORMAP_SIZE - 2);
    const float part = (float)(x - i);
    for (int c = 0; c < 3; c++) {
        rgb[c] = map->rgb[i][c] * (1 - part) + map->rgb[i + 1][c] * part;
    }
}
