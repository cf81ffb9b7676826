/* Painting by signed distance: rectangles, discs, lines, arrows, images. A shape smaller than a
 * pixel keeps its area by being fainter. */
#include "render/draw.h"

#include <math.h>
#include <string.h>

static double srgb_to_linear(double s)
{
    return s <= 0.04045 ? s / 12.92 : pow((s + 0.055) / 1.055, 2.4);
}

firn_paint firn_paint_hex(uint32_t rgb, double opacity)
{
    return (firn_paint){(float)srgb_to_linear((double)(rgb >> 16 & 255) / 255),
                        (float)srgb_to_linear((double)(rgb >> 8 & 255) / 255),
                        (float)srgb_to_linear((double)(rgb & 255) / 255), (float)opacity};
}

/* ---- pixels ---- */

void firn_draw_pixel(firn_image *image, int64_t x, int64_t y, double coverage, firn_paint paint)
{
    if (x < 0 || y < 0 || x >= image->width || y >= image->height) return;
    float *p = image->rgba + 4 * (y * image->width + x);
    const float a = paint.a * (float)coverage, rest = 1 - a;
    p[0] = p[0] * rest + paint.r * a;
    p[1] = p[1] * rest + paint.g * a;
    p[2] = p[2] * rest + paint.b * a;
    p[3] = p[3] * rest + a;
}

/* Pixels whose centres lie between two places, within the image. Doubles beyond the image are cut
 * before they become whole numbers. */
typedef struct span {
    int64_t first, last;
} span;

static span centres(double low, double high, int32_t size)
{
    const double first = ceil(fmin(fmax(low, 0), size) - 0.5);
    const double last = floor(fmax(fmin(high, size), 0) - 0.5);
    return (span){(int64_t)fmax(first, 0), (int64_t)fmin(last, size - 1)};
}

/* A shape is its signed distance (pixels, negative inside) at a point. */
typedef double distance_function(const void *shape, double x, double y);

static void paint_shape(firn_image *image, const double low[2], const double high[2],
                        distance_function *distance, const void *shape, firn_paint paint)
{
    if (!isfinite(low[0] + low[1] + high[0] + high[1])) return;
    const span xs = centres(low[0] - 1, high[0] + 1, image->width);
    const span ys = centres(low[1] - 1, high[1] + 1, image->height);
    for (int64_t y = ys.first; y <= ys.last; y++) {
        for (int64_t x = xs.first; x <= xs.last; x++) {
            const double d = distance(shape, (double)x + 0.5, (double)y + 0.5);
            if (d < 0.5) firn_draw_pixel(image, x, y, fmin(0.5 - d, 1), paint);
        }
    }
}

/* ---- shapes ---- */

/* How much of a pixel row or column lies between two places. */
static double overlap(double low, double high, double pixel)
{
    return fmax(0, fmin(high, pixel + 1) - fmax(low, pixel));
}

void firn_draw_rectangle(firn_image *image, double x0, double y0, double x1, double y1,
                         firn_paint paint)
{
    if (!(x0 < x1 && y0 < y1)) return;
    const span xs = centres(x0 - 1, x1 + 1, image->width);
    const span ys = centres(y0 - 1, y1 + 1, image->height);
    for (int64_t y = ys.first; y <= ys.last; y++) {
        const double part = overlap(y0, y1, (double)y);
        for (int64_t x = xs.first; x <= xs.last; x++) {
            firn_draw_pixel(image, x, y, part * overlap(x0, x1, (double)x), paint);
        }
    }
}

typedef struct disc {
    double x, y, radius;
} disc;

static double disc_distance(const void *shape, double x, double y)
{
    const disc *d = shape;
    return hypot(x - d->x, y - d->y) - d->radius;
}

/* The ramp of one pixel adds pi / 12 to the area of a disc of at least half a pixel. */
void firn_draw_disc(firn_image *image, double x, double y, double radius, firn_paint paint)
{
    const double least = 0.25 + 1.0 / 12, r2 = radius * radius;
    if (r2 < least) paint.a *= (float)(r2 / least);
    const disc d = {x, y, sqrt(fmax(r2, least) - 1.0 / 12)};
    const double low[2] = {x - d.radius, y - d.radius}, high[2] = {x + d.radius, y + d.radius};
    paint_shape(image, low, high, disc_distance, &d, paint);
}

typedef struct lines {
    const firn_segment *line;
    int32_t count;
    double half_width;
} lines;

static double segment_distance(const firn_segment *s, double x, double y)
{
    const double dx = s->x1 - s->x0, dy = s->y1 - s->y0, length2 = dx * dx + dy * dy;
    const double t = length2 > 0 ? ((x - s->x0) * dx + (y - s->y0) * dy) / length2 : 0;
    const double u = fmin(fmax(t, 0), 1);
    return hypot(x - s->x0 - u * dx, y - s->y0 - u * dy);
}

static double lines_distance(const void *shape, double x, double y)
{
    const lines *l = shape;
    double least = INFINITY;
    for (int32_t i = 0; i < l->count; i++) {
        least = fmin(least, segment_distance(&l->line[i], x, y));
    }
    return least - l->half_width;
}

/* Thinner than a pixel is a pixel wide and fainter. */
static double visible_width(double width, firn_paint *paint)
{
    if (width < 1) paint->a *= (float)fmax(width, 0);
    return fmax(width, 1);
}

void firn_draw_lines(firn_image *image, const firn_segment *line, int32_t count, double width,
                     firn_paint paint)
{
    width = visible_width(width, &paint);
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (int32_t i = 0; i < count; i++) {
        low[0] = fmin(low[0], fmin(line[i].x0, line[i].x1) - width / 2);
        low[1] = fmin(low[1], fmin(line[i].y0, line[i].y1) - width / 2);
        high[0] = fmax(high[0], fmax(line[i].x0, line[i].x1) + width / 2);
        high[1] = fmax(high[1], fmax(line[i].y0, line[i].y1) + width / 2);
    }
    const lines all = {line, count, width / 2};
    if (count > 0) paint_shape(image, low, high, lines_distance, &all, paint);
}

/* Along the arrow from its tail, and how far across. */
typedef struct arrow {
    double x, y, dx, dy;        /* tail, unit direction */
    double length, head, width; /* of the whole, of the head; of the shaft */
    double edge;                /* more all around */
} arrow;

enum { HEAD_LENGTH = 5, HEAD_WIDTH = 4 }; /* in widths of the shaft */

static double arrow_distance(const void *shape, double x, double y)
{
    const arrow *a = shape;
    const double along = (x - a->x) * a->dx + (y - a->y) * a->dy;
    const double across = fabs((y - a->y) * a->dx - (x - a->x) * a->dy);
    const double base = a->length - a->head, half = a->head * HEAD_WIDTH / HEAD_LENGTH / 2;
    const double side = hypot(a->head, half);
    const double slanted = ((along - a->length) * half + across * a->head) / side;
    const double head = fmax(slanted, base - along);
    if (!(base > 0)) return head - a->edge;
    const double beyond = along < 0 ? -along : fmax(along - base, 0);
    return fmin(head, hypot(beyond, across) - a->width / 2) - a->edge;
}

static void draw_arrow(firn_image *image, firn_segment from_to, double width, double edge,
                       firn_paint paint)
{
    const double dx = from_to.x1 - from_to.x0, dy = from_to.y1 - from_to.y0;
    const double length = hypot(dx, dy);
    if (!(length > 0)) return;
    width = visible_width(width, &paint);
    const arrow a = {from_to.x0,  from_to.y0, dx / length,
                     dy / length, length,     fmin(length, HEAD_LENGTH * width),
                     width,       edge};
    const double margin = HEAD_WIDTH * width + edge;
    const double low[2] = {fmin(from_to.x0, from_to.x1) - margin,
                           fmin(from_to.y0, from_to.y1) - margin};
    const double high[2] = {fmax(from_to.x0, from_to.x1) + margin,
                            fmax(from_to.y0, from_to.y1) + margin};
    paint_shape(image, low, high, arrow_distance, &a, paint);
}

void firn_draw_arrow(firn_image *image, firn_segment from_to, double width, firn_paint paint)
{
    draw_arrow(image, from_to, width, 0, paint);
}

void firn_draw_edged_arrow(firn_image *image, firn_segment from_to, double width, firn_paint paint,
                           double edge, firn_paint edge_paint)
{
    draw_arrow(image, from_to, width, edge, edge_paint);
    draw_arrow(image, from_to, width, 0, paint);
}

/* ---- images ---- */

void firn_draw_image(firn_image *image, int32_t x, int32_t y, const firn_image *part)
{
    const int32_t left = x < 0 ? -x : 0;
    const int64_t right = image->width - x < part->width ? image->width - x : part->width;
    for (int32_t row = y < 0 ? -y : 0; row < part->height && y + row < image->height; row++) {
        if (right <= left) break;
        memcpy(image->rgba + 4 * ((int64_t)(y + row) * image->width + x + left),
               part->rgba + 4 * ((int64_t)row * part->width + left),
               (size_t)(right - left) * 4 * sizeof *part->rgba);
    }
}

void firn_image_shrink(const firn_image *large, firn_image *small)
{
    const double sx = (double)large->width / small->width,
                 sy = (double)large->height / small->height;
    for (int32_t y = 0; y < small->height; y++) {
        const int32_t last_y = (int32_t)fmin(ceil(sy * (y + 1)), large->height);
        for (int32_t x = 0; x < small->width; x++) {
            const int32_t last_x = (int32_t)fmin(ceil(sx * (x + 1)), large->width);
            double sum[4] = {0};
            for (int32_t v = (int32_t)(sy * y); v < last_y; v++) {
                const double part = overlap(sy * y, sy * (y + 1), v);
                for (int32_t u = (int32_t)(sx * x); u < last_x; u++) {
                    const double weight = part * overlap(sx * x, sx * (x + 1), u);
                    const float *p = large->rgba + 4 * ((int64_t)v * large->width + u);
                    for (int c = 0; c < 4; c++) sum[c] += weight * (double)p[c];
                }
            }
            float *out = small->rgba + 4 * ((int64_t)y * small->width + x);
            for (int c = 0; c < 4; c++) out[c] = (float)(sum[c] / (sx * sy));
        }
    }
}
