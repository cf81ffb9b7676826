/* Legend, scale bar, arrow scales, caption and labels over a finished picture: light letters on a
 * dark veil, which can be read on any picture. */
#include "render/overlay.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Light on a dark veil reads on any picture. */
static firn_paint ink(void) { return firn_paint_hex(0xf2f4f6, 1); }

static firn_paint veil(void) { return firn_paint_hex(0x0c0f13, 0.55); }

double firn_overlay_letter(int32_t height) { return fmax(7, (double)height / 52); }

double firn_round_below(double most)
{
    double power = pow(10, floor(log10(most)));
    if (power * 10 <= most) power *= 10; /* log10 of a power of ten may fall short */
    return power * (most >= 5 * power ? 5 : most >= 2 * power ? 2 : 1);
}

/* ---- legend ---- */

static void draw_bar(firn_image *image, const firn_coloring *c, double x, double y, double width,
                     double height)
{
    for (int i = 0; i < (int)width; i++) {
        float rgb[3];
        firn_colormap_at(&c->map, (i + 0.5) / floor(width), rgb);
        firn_draw_rectangle(image, x + i, y, x + i + 1, y + height,
                            (firn_paint){rgb[0], rgb[1], rgb[2], 1});
    }
}

/* Three digits, without an exponent where that is as short. */
static void print_number(double value, char text[24])
{
    const double size = fabs(value);
    if (size >= 1000 && size < 1e6) {
        const double unit = pow(10, floor(log10(size)) - 2);
        snprintf(text, 24, "%.0f", round(value / unit) * unit);
    } else {
        snprintf(text, 24, "%.3g", value);
    }
}

/* How high the legend of a range is, in letters. */
static const double RANGE_LETTERS = 6.5;

/* Of a box of that size, a letter away from the edges and behind what has been `taken` of the corner. */
static firn_segment place_box(firn_corner corner, double taken, double across, double down,
                              int32_t width, int32_t height)
{
    const double letter = firn_overlay_letter(height), away = letter + taken;
    const double x = corner == FIRN_LOWER_RIGHT ? width - letter - across : letter,
                 y = corner == FIRN_UPPER_LEFT ? away : height - away - down;
    return (firn_segment){x, y, x + across, y + down};
}

static double bar_width(double letter) { return floor(18 * letter); }

firn_segment firn_overlay_corner(firn_corner corner, int32_t width, int32_t height)
{
    const double letter = firn_overlay_letter(height);
    return place_box(corner, 0, bar_width(letter) + 2 * letter, RANGE_LETTERS * letter, width,
                     height);
}

static double range_legend(firn_image *image, firn_corner corner, double taken,
                           const firn_coloring *c)
{
    const double letter = firn_overlay_letter(image->height), width = bar_width(letter);
    const firn_segment box = place_box(corner, taken, width + 2 * letter, RANGE_LETTERS * letter,
                                       image->width, image->height);
    const double x = floor(box.x0 + letter), y = box.y0 + 3 * letter;
    firn_draw_rectangle(image, x - letter, box.y0, x + width + letter, box.y1, veil());
    char text[120];
    snprintf(text, sizeof text, "%s%s%s", c->attribute, c->unit[0] ? ", " : "", c->unit);
    firn_draw_text(image, x, y - 0.9 * letter, letter, text, ink());
    draw_bar(image, c, x, y, width, letter);
    const double mark[3] = {c->low, 0.5 * (c->low + c->high), c->high};
    for (int i = 0; i < 3; i++) {
        char number[24];
        print_number(mark[i], number);
        const double room = width - firn_text_width(number, 0.85 * letter);
        firn_draw_text(image, x + 0.5 * i * room, y + 2.4 * letter, 0.85 * letter, number, ink());
    }
    return box.y1 - box.y0 + letter;
}

static double category_legend(firn_image *image, firn_corner corner, double taken,
                              const firn_coloring *c, const char *const *label, int32_t label_count)
{
    const double letter = firn_overlay_letter(image->height), line = 1.9 * letter;
    const int first = (int)fmax(c->low, 0);
    const int most = (int)(0.8 * image->height / line) - 2;
    int rows = (int)fmin(c->high - first + 1, most);
    if (rows < 1) rows = 1;
    char text[16][40];
    if (rows > 16) rows = 16;
    double width = firn_text_width(c->attribute, letter);
    for (int i = 0; i < rows; i++) {
        const int number = first + i;
        if (number < label_count && label[number]) {
            snprintf(text[i], sizeof text[i], "%s", label[number]);
        } else {
            snprintf(text[i], sizeof text[i], "%d", number);
        }
        if (i == rows - 1 && number < (int)c->high) {
            snprintf(text[i], sizeof text[i], "... %d", (int)c->high);
        }
        width = fmax(width, 1.8 * letter + firn_text_width(text[i], letter));
    }
    const firn_segment box = place_box(corner, taken, width + 2 * letter,
                                       2.8 * letter + rows * line, image->width, image->height);
    const double x = box.x0 + letter;
    double y = box.y0 + 1.8 * letter;
    firn_draw_rectangle(image, box.x0, box.y0, box.x1, box.y1, veil());
    firn_draw_text(image, x, y, letter, c->attribute, ink());
    for (int i = 0; i < rows; i++) {
        y += line;
        const float *rgb = c->map.rgb[(first + i) % FIRN_COLORMAP_SIZE];
        firn_draw_rectangle(image, x, y - letter, x + letter, y,
                            (firn_paint){rgb[0], rgb[1], rgb[2], 1});
        firn_draw_text(image, x + 1.8 * letter, y, letter, text[i], ink());
    }
    return box.y1 - box.y0 + letter;
}

double firn_overlay_legend(firn_image *image, firn_corner corner, double taken,
                           const firn_coloring *coloring, const char *const *label,
                           int32_t label_count)
{
    if (coloring->kind == FIRN_CATEGORICAL) {
        return category_legend(image, corner, taken, coloring, label, label_count);
    }
    return range_legend(image, corner, taken, coloring);
}

/* ---- lower left ---- */

void firn_overlay_scale(firn_image *image, double pixels_per_metre)
{
    const double letter = firn_overlay_letter(image->height);
    const double metres = firn_round_below(0.22 * image->width / pixels_per_metre);
    const double x0 = 2 * letter, x1 = x0 + metres * pixels_per_metre;
    const double y = image->height - 2 * letter, tick = 0.4 * letter;
    const firn_segment bar[] = {
        {x0, y, x1, y}, {x0, y - tick, x0, y + tick}, {x1, y - tick, x1, y + tick}};
    firn_draw_lines(image, bar, 3, letter / 7, ink());
    static const struct {
        double metres;
        const char *unit;
    } unit[] = {{1000, "km"}, {1, "m"}, {0.01, "cm"}, {0.001, "mm"}, {1e-6, "um"}};
    int u = 0;
    while (u < 4 && metres < unit[u].metres * 0.999) u++;
    char text[40];
    snprintf(text, sizeof text, "%g %s", metres / unit[u].metres, unit[u].unit);
    firn_draw_text(image, x0, y - letter, letter, text, ink());
}

void firn_overlay_arrow(firn_image *image, int row, double pixels, const char *text,
                        firn_paint paint)
{
    const double letter = firn_overlay_letter(image->height), x = 2 * letter;
    const double y = image->height - (6.5 + 2 * row) * letter;
    firn_draw_arrow(image, (firn_segment){x, y, x + pixels, y}, letter / 7, paint);
    firn_draw_text(image, x + pixels + letter, y + letter / 2, letter, text, ink());
}

/* Text on a veil, its left end at x. */
static void draw_head(firn_image *image, double x, const char *text)
{
    const double letter = firn_overlay_letter(image->height);
    firn_draw_rectangle(image, x - letter, letter, x + letter + firn_text_width(text, letter),
                        3.2 * letter, veil());
    firn_draw_text(image, x, 2.6 * letter, letter, text, ink());
}

void firn_overlay_caption(firn_image *image, const char *text)
{
    draw_head(image, 2 * firn_overlay_letter(image->height), text);
}

void firn_overlay_label(firn_image *image, const char *text)
{
    const double letter = firn_overlay_letter(image->height);
    draw_head(image, image->width - 2 * letter - firn_text_width(text, letter), text);
}
