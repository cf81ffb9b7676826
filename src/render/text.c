/* The stroke font: glyphs as lines and arcs, placed, scaled and drawn as lines of even width. */
#include "render/text.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/* Glyphs on a grid where capitals are 7 high, x is 4.8 and y points up from the base line.
 *   M x y              begins a line
 *   L x y              continues it
 *   A x y rx ry a b    an arc of the ellipse around x, y from the angle a to b, degrees */
typedef struct glyph {
    double width;
    const char *strokes;
} glyph;

static const glyph glyphs[] = {
    [' '] = {2, ""},
    ['!'] = {0, "M0 7L0 2.4M0 .3L0 .1"},
    ['"'] = {1.4, "M0 7L0 5M1.4 7L1.4 5"},
    ['#'] = {4.4, "M1.2 0L1.9 7M2.7 0L3.4 7M0 2.2L4.2 2.2M.3 4.8L4.5 4.8"},
    ['$'] = {4, "M2 8L2 -1A2 5 1.8 1.5 35 270A2 2 1.8 1.5 90 -145"},
    ['%'] = {5.6, "A1.2 5.6 1.2 1.4 0 360A4.4 1.4 1.2 1.4 0 360M4.6 7L1 0"},
    ['&'] = {4.8, "M4.8 0L1 4.6A2.1 5.5 1.4 1.5 215 -40M3.2 4.6L.7 3A1.9 1.8 1.9 1.8 130 290M2.5 .1"
                  "L4.6 2.8"},
    ['\''] = {0, "M0 7L0 5"},
    ['('] = {1.4, "A3.4 3 3.4 6 138 222"},
    [')'] = {1.4, "A-2 3 3.4 6 42 -42"},
    ['*'] = {3, "M1.5 6.8L1.5 3.6M.1 6L2.9 4.4M.1 4.4L2.9 6"},
    ['+'] = {4, "M2 1.2L2 5.2M0 3.2L4 3.2"},
    [','] = {.4, "M.4 .3L0 -1.3"},
    ['-'] = {2.6, "M0 3L2.6 3"},
    ['.'] = {0, "M0 .3L0 .1"},
    ['/'] = {3, "M0 -.8L3 7.4"},
    ['0'] = {4, "A2 3.5 2 3.5 0 360"},
    ['1'] = {4, "M.6 5.5L2.3 7L2.3 0"},
    ['2'] = {4, "A2 5.05 1.95 1.95 165 -25M3.77 4.23L0 0L4 0"},
    ['3'] = {4, "A1.9 5.25 1.8 1.75 150 -90A1.9 1.8 2 1.8 90 -150M1.3 3.5L1.9 3.6"},
    ['4'] = {4.2, "M3.1 0L3.1 7L0 2.1L4.2 2.1"},
    ['5'] = {4, "M3.7 7L.7 7L.42 3.84A1.9 2.25 2.1 2.25 135 -145"},
    ['6'] = {4, "A2 2.2 2 2.2 0 360A3.6 2.4 3.6 4.6 180 95"},
    ['7'] = {4, "M0 7L4 7L1.3 0"},
    ['8'] = {4, "A2 5.3 1.7 1.7 0 360A2 1.8 2 1.8 0 360"},
    ['9'] = {4, "A2 4.8 2 2.2 0 360A.4 4.6 3.6 4.6 0 -85"},
    [':'] = {0, "M0 4.3L0 4.1M0 .3L0 .1"},
    [';'] = {.4, "M.4 4.3L.4 4.1M.4 .3L0 -1.3"},
    ['<'] = {3.6, "M3.6 5.4L0 3.2L3.6 1"},
    ['='] = {3.8, "M0 4.2L3.8 4.2M0 2.2L3.8 2.2"},
    ['>'] = {3.6, "M0 5.4L3.6 3.2L0 1"},
    ['?'] = {3.4, "A1.7 5.3 1.7 1.7 170 -40M3 4.2L1.7 2.4M1.7 .3L1.7 .1"},
    ['@'] = {6, "A3 2.8 3 3.8 -60 300A3 2.8 1.3 1.7 0 360M4.3 4.5L4.3 2A5.15 2 .85 1 180 360"},
    ['A'] = {4.4, "M0 0L2.2 7L4.4 0M.75 2.3L3.65 2.3"},
    ['B'] = {4.1,
             "M2.2 7L0 7L0 0L2.2 0M0 3.7L2.2 3.7A2.2 5.35 1.6 1.65 90 -90A2.2 1.85 1.9 1.85 90 "
             "-90"},
    ['C'] = {4.3, "A2.5 3.5 2.5 3.5 48 312"},
    ['D'] = {4.4, "M1.7 0L0 0L0 7L1.7 7A1.7 3.5 2.7 3.5 90 -90"},
    ['E'] = {3.6, "M3.6 7L0 7L0 0L3.6 0M0 3.7L3.1 3.7"},
    ['F'] = {3.5, "M3.5 7L0 7L0 0M0 3.7L3 3.7"},
    ['G'] = {4.8, "A2.5 3.5 2.5 3.5 48 335M4.77 2L4.77 3.3L2.9 3.3"},
    ['H'] = {4.2, "M0 0L0 7M4.2 0L4.2 7M0 3.7L4.2 3.7"},
    ['I'] = {0, "M0 0L0 7"},
    ['J'] = {2.8, "M2.8 7L2.8 1.6A1.4 1.6 1.4 1.6 0 -165"},
    ['K'] = {4.2, "M0 0L0 7M4 7L0 2.6M1.4 4.1L4.2 0"},
    ['L'] = {3.5, "M0 7L0 0L3.5 0"},
    ['M'] = {5.2, "M0 0L0 7L2.6 2.4L5.2 7L5.2 0"},
    ['N'] = {4.2, "M0 0L0 7L4.2 0L4.2 7"},
    ['O'] = {5.2, "A2.6 3.5 2.6 3.5 0 360"},
    ['P'] = {4, "M0 0L0 7L2.2 7M0 3.3L2.2 3.3A2.2 5.15 1.8 1.85 90 -90"},
    ['Q'] = {5.2, "A2.6 3.5 2.6 3.5 0 360M3.2 1.8L5.2 -.5"},
    ['R'] = {4.2, "M0 0L0 7L2.2 7M0 3.3L2.2 3.3A2.2 5.15 1.8 1.85 90 -90M2 3.3L4.2 0"},
    ['S'] = {4.1, "A2.1 5.25 1.9 1.75 35 270A2.1 1.75 2 1.75 90 -150"},
    ['T'] = {4.6, "M0 7L4.6 7M2.3 7L2.3 0"},
    ['U'] = {4.2, "M0 7L0 2.2M4.2 2.2L4.2 7A2.1 2.2 2.1 2.2 180 360"},
    ['V'] = {4.4, "M0 7L2.2 0L4.4 7"},
    ['W'] = {6.4, "M0 7L1.6 0L3.2 5.6L4.8 0L6.4 7"},
    ['X'] = {4.2, "M0 0L4.2 7M0 7L4.2 0"},
    ['Y'] = {4.4, "M0 7L2.2 3.4L4.4 7M2.2 3.4L2.2 0"},
    ['Z'] = {4.2, "M0 7L4.2 7L0 0L4.2 0"},
    ['['] = {1.4, "M1.4 8L0 8L0 -1.6L1.4 -1.6"},
    ['\\'] = {3, "M0 7.4L3 -.8"},
    [']'] = {1.4, "M0 8L1.4 8L1.4 -1.6L0 -1.6"},
    ['^'] = {3, "M0 4.8L1.5 7L3 4.8"},
    ['_'] = {4, "M0 -1L4 -1"},
    ['`'] = {1.2, "M0 7L1.2 5.6"},
    ['a'] = {3.9, "A1.95 2.4 1.95 2.4 0 360M3.9 4.8L3.9 0"},
    ['b'] = {3.9, "A1.95 2.4 1.95 2.4 0 360M0 7L0 0"},
    ['c'] = {3.5, "A2 2.4 2 2.4 48 312"},
    ['d'] = {3.9, "A1.95 2.4 1.95 2.4 0 360M3.9 7L3.9 0"},
    ['e'] = {4, "M0 2.5L4 2.5A2 2.4 2 2.4 2 315"},
    ['f'] = {2.4, "M1 0L1 5.4A2.4 5.4 1.4 1.6 180 75M0 4.8L2.3 4.8"},
    ['g'] = {3.9, "A1.95 2.4 1.95 2.4 0 360M3.9 4.8L3.9 -.2A1.95 -.2 1.95 2 0 -150"},
    ['h'] = {3.7, "M0 0L0 7M3.7 2.8L3.7 0A1.85 2.8 1.85 2 180 0"},
    ['i'] = {0, "M0 0L0 4.8M0 6.7L0 6.9"},
    ['j'] = {1, "M1 4.8L1 -.8A-.2 -.8 1.2 1.4 0 -80M1 6.7L1 6.9"},
    ['k'] = {3.5, "M0 0L0 7M3.3 4.8L0 1.6M1.2 2.75L3.5 0"},
    ['l'] = {1.2, "M0 7L0 1.2A1.2 1.2 1.2 1.2 180 270"},
    ['m'] = {5.8, "M0 0L0 4.8M2.9 3L2.9 0M5.8 3L5.8 0A1.45 3 1.45 1.8 180 0A4.35 3 1.45 1.8 180 0"},
    ['n'] = {3.7, "M0 0L0 4.8M3.7 2.8L3.7 0A1.85 2.8 1.85 2 180 0"},
    ['o'] = {4.1, "A2.05 2.4 2.05 2.4 0 360"},
    ['p'] = {3.9, "A1.95 2.4 1.95 2.4 0 360M0 4.8L0 -2.2"},
    ['q'] = {3.9, "A1.95 2.4 1.95 2.4 0 360M3.9 4.8L3.9 -2.2"},
    ['r'] = {2.4, "M0 0L0 4.8A1.8 2.8 1.8 2 180 65"},
    ['s'] = {3.3, "A1.65 3.6 1.55 1.2 30 270A1.65 1.2 1.65 1.2 90 -155"},
    ['t'] = {2.5, "M1 6.4L1 1.4A2.3 1.4 1.3 1.4 180 285M0 4.8L2.4 4.8"},
    ['u'] = {3.7, "M0 4.8L0 2M3.7 4.8L3.7 0A1.85 2 1.85 2 180 360"},
    ['v'] = {3.8, "M0 4.8L1.9 0L3.8 4.8"},
    ['w'] = {5.6, "M0 4.8L1.4 0L2.8 4L4.2 0L5.6 4.8"},
    ['x'] = {3.7, "M0 0L3.7 4.8M0 4.8L3.7 0"},
    ['y'] = {3.8, "M0 4.8L1.9 0M3.8 4.8L1.03 -2.2"},
    ['z'] = {3.5, "M0 4.8L3.5 4.8L0 0L3.5 0"},
    ['{'] = {2, "M2 8L1.5 8L.9 7.2L.9 4.2L0 3.2L.9 2.2L.9 -.8L1.5 -1.6L2 -1.6"},
    ['|'] = {0, "M0 8L0 -1.6"},
    ['}'] = {2, "M0 8L.5 8L1.1 7.2L1.1 4.2L2 3.2L1.1 2.2L1.1 -.8L.5 -1.6L0 -1.6"},
    ['~'] = {4, "A1 2.9 1 .8 180 20A3 3.5 1 .8 200 360"},
};
static const glyph unknown = {3.4, "M0 0L3.4 0L3.4 7L0 7L0 0"};

static const double CAPITAL = 7, GAP = 1.9; /* height of a capital; between letters */

/* The next character, stepping over what continues one of several bytes. */
static const glyph *next_glyph(const char **text)
{
    const unsigned char c = (unsigned char)*(*text)++;
    if (c >= 128) {
        while (((unsigned char)**text & 0xc0) == 0x80) ++*text;
    }
    const bool known = c < sizeof glyphs / sizeof *glyphs && glyphs[c].strokes;
    return known ? &glyphs[c] : &unknown;
}

double firn_text_width(const char *text, double height)
{
    double width = 0;
    while (*text) width += next_glyph(&text)->width + (*text ? GAP : 0);
    return width * height / CAPITAL;
}

enum { MOST_SEGMENTS = 128 };

/* A glyph's lines where they will be drawn, and how many. */
static int32_t trace(const char *strokes, double x, double y, double scale,
                     firn_segment line[MOST_SEGMENTS])
{
    int32_t count = 0;
    double px = 0, py = 0;
    while (*strokes && count < MOST_SEGMENTS) {
        const char kind = *strokes++;
        double v[6];
        char *end;
        for (int i = 0; i < (kind == 'A' ? 6 : 2); i++, strokes = end) v[i] = strtod(strokes, &end);
        if (kind != 'A') {
            const double qx = x + scale * v[0], qy = y - scale * v[1];
            if (kind == 'L') line[count++] = (firn_segment){px, py, qx, qy};
            px = qx;
            py = qy;
            continue;
        }
        const double degree = 3.14159265358979323846 / 180;
        const int pieces = (int)ceil(fabs(v[5] - v[4]) / 12); /* 1/180 of the radius off a circle */
        for (int i = 0; i <= pieces && count < MOST_SEGMENTS; i++) {
            const double angle = degree * (v[4] + (v[5] - v[4]) * i / pieces);
            const double qx = x + scale * (v[0] + v[2] * cos(angle));
            const double qy = y - scale * (v[1] + v[3] * sin(angle));
            if (i > 0) line[count++] = (firn_segment){px, py, qx, qy};
            px = qx;
            py = qy;
        }
    }
    return count;
}

void firn_draw_text(firn_image *image, double x, double y, double height, const char *text,
                    firn_paint paint)
{
    const double scale = height / CAPITAL;
    while (*text) {
        const glyph *g = next_glyph(&text);
        firn_segment line[MOST_SEGMENTS];
        const int32_t count = trace(g->strokes, x, y, scale, line);
        firn_draw_lines(image, line, count, 0.85 * scale, paint);
        x += scale * (g->width + GAP);
    }
}
