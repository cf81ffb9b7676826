/* Draws over a picture in perspective. Nodes and arrows are hidden where they begin behind a surface (half a
 * cell below it they are still seen), and the nearest are drawn last. Arrows are vectors in space, so they
 * are shorter where they point towards the eye. If there are more than can be told apart, some points
 * have one, chosen by id as in flat pictures. */
#include "render/marks.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"

typedef struct mark {
    double depth;      /* m */
    firn_segment line; /* of an arrow; a node is where it begins */
    double radius;     /* pixels, of a node; 0: an arrow */
    double chance;     /* of an arrow: drawn if below the part that is */
    int64_t number;    /* in the order they were found */
    firn_paint paint;
} mark;

typedef struct canvas {
    const firn_marks_input *input;
    firn_image *image;
    double scale;  /* pixels per metre at a depth of 1 m */
    double target; /* m, its depth */
    mark *mark;
    int64_t count, room;
} canvas;

static bool shows(const canvas *c, firn_layer layer) { return c->input->show >> layer & 1; }

static firn_status no_memory(firn_error *error)
{
    return firn_fail(error, FIRN_NO_MEMORY, "out of memory for layers of a picture");
}

static const firn_sight *sight_at(const canvas *c, double x, double y)
{
    return &c->input->sight[(int64_t)y * c->image->width + (int64_t)x];
}

/* Where a point is in the picture. False: outside, or behind what is seen there. */
static bool place(const canvas *c, const double point[3], double pixel[2], double *depth)
{
    firn_camera_project(c->input->camera, c->image->width, c->image->height, point, pixel, depth);
    if (!(*depth > 0) || !(pixel[0] >= 0) || !(pixel[1] >= 0)) return false;
    if (!(pixel[0] < c->image->width) || !(pixel[1] < c->image->height)) return false;
    const double behind = *depth - (double)sight_at(c, pixel[0], pixel[1])->depth;
    return behind <= 0.5 * c->input->cell;
}

static firn_status add_mark(canvas *c, mark m, firn_error *error)
{
    if (c->count == c->room) {
        const int64_t room = c->room ? 2 * c->room : 1024;
        mark *grown = realloc(c->mark, (size_t)room * sizeof *grown);
        if (!grown) return no_memory(error);
        c->mark = grown;
        c->room = room;
    }
    m.number = c->count;
    c->mark[c->count++] = m;
    return FIRN_OK;
}

/* Small discs that leave room for the ones behind them. */
static firn_status add_nodes(canvas *c, firn_error *error)
{
    const firn_points *grid = c->input->grid;
    const firn_column *P = firn_points_find(grid, "P");
    const float *rgb = c->input->node_color;
    firn_paint paint = firn_paint_hex(FIRN_NODE, 1);
    firn_status st = FIRN_OK;
    for (int64_t p = 0; P && p < grid->count && st == FIRN_OK; p++) {
        double point[3], at[2], depth;
        firn_column_vector(P, p, point);
        if (!place(c, point, at, &depth)) continue;
        if (rgb) paint = (firn_paint){rgb[3 * p], rgb[3 * p + 1], rgb[3 * p + 2], 1};
        const double radius = fmax(0.13 * c->input->cell * c->scale / depth, 0.7);
        st = add_mark(c,
                      (mark){.depth = depth,
                             .line = {at[0], at[1], at[0], at[1]},
                             .radius = radius,
                             .paint = paint},
                      error);
    }
    return st;
}

/* The middles of cells that are not empty, by class. */
static firn_status add_cells(canvas *c, firn_error *error)
{
    const firn_points *grid = c->input->grid;
    const firn_column *P = firn_points_find(grid, "P"), *of = firn_points_find(grid, "cell_class");
    firn_status st = FIRN_OK;
    for (int64_t p = 0; P && of && p < grid->count && st == FIRN_OK; p++) {
        double point[3], at[2], depth;
        const int64_t class = firn_whole(firn_column_number(of, p));
        firn_column_vector(P, p, point);
        for (int a = 0; a < 3; a++) point[a] += 0.5 * c->input->cell;
        if (class == FIRN_CELL_EMPTY || !place(c, point, at, &depth)) continue;
        const double radius = fmax(0.2 * c->input->cell * c->scale / depth, 0.7);
        st = add_mark(c,
                      (mark){.depth = depth,
                             .line = {at[0], at[1], at[0], at[1]},
                             .radius = radius,
                             .paint = firn_cell_paint(class, 1)},
                      error);
    }
    return st;
}

/* The part of visible points that has an arrow: so many as fit the part of the picture they cover, an
 * arrow in every square of that many letters. */
static double part_with_arrows(const canvas *c, const mark *arrow, int64_t count, firn_error *error,
                               firn_status *st)
{
    const double apart = 2.2 * firn_overlay_letter(c->image->height);
    const int64_t columns = (int64_t)(c->image->width / apart) + 1,
                  rows = (int64_t)(c->image->height / apart) + 1;
    bool *covered = calloc((size_t)(columns * rows), sizeof *covered);
    int64_t squares = 0;
    if (!covered) {
        *st = no_memory(error);
        return 0;
    }
    for (int64_t i = 0; i < count; i++) {
        bool *at = &covered[(int64_t)(arrow[i].line.y0 / apart) * columns +
                            (int64_t)(arrow[i].line.x0 / apart)];
        squares += !*at;
        *at = true;
    }
    free(covered);
    return count > 0 ? (double)squares / (double)count : 0;
}

/* Arrows of a column; the longest one, seen across at the target, has the reach of flat pictures. */
static firn_status add_arrows(canvas *c, const firn_points *points, const char *name, double most,
                              uint32_t color, firn_error *error)
{
    const firn_column *P = firn_points_find(points, "P"), *v = firn_points_find(points, name);
    const firn_column *id = firn_points_find(points, "id");
    if (!P || !v || !(most > 0)) return FIRN_OK;
    const double metres = firn_layer_arrow_reach(c->image->height) * c->target / (c->scale * most);
    const firn_paint paint = firn_paint_hex(color, 0.95);
    const int64_t first = c->count;
    firn_status st = FIRN_OK;
    for (int64_t p = 0; p < points->count && st == FIRN_OK; p++) {
        double tail[3], tip[3], from[2], to[2], depth, tip_depth;
        firn_column_vector(P, p, tail);
        firn_column_vector(v, p, tip);
        for (int a = 0; a < 3; a++) tip[a] = tail[a] + metres * tip[a];
        if (!place(c, tail, from, &depth)) continue;
        firn_camera_project(c->input->camera, c->image->width, c->image->height, tip, to,
                            &tip_depth);
        if (!(tip_depth > 0.1 * depth) || !isfinite(to[0] + to[1])) continue;
        const uint64_t key = (uint64_t)(id ? firn_whole(firn_column_number(id, p)) : p);
        st = add_mark(c,
                      (mark){.depth = depth,
                             .line = {from[0], from[1], to[0], to[1]},
                             .chance = firn_layer_chance(key),
                             .paint = paint},
                      error);
    }
    if (st != FIRN_OK || c->count == first) return st;
    const double part = part_with_arrows(c, c->mark + first, c->count - first, error, &st);
    int64_t kept = first;
    for (int64_t i = first; i < c->count; i++) {
        if (c->mark[i].chance < part) c->mark[kept++] = c->mark[i];
    }
    c->count = kept;
    return st;
}

/* An edge of a block, where it is not hidden. */
static void draw_edge(const canvas *c, const double end[2][3])
{
    enum { PIECES = 24 };
    const double width = firn_overlay_letter(c->image->height) / 12;
    firn_segment line = {0};
    bool drawing = false;
    for (int i = 0; i <= PIECES + 1; i++) {
        double point[3], at[2], depth;
        const double t = (double)(i <= PIECES ? i : PIECES) / PIECES;
        for (int a = 0; a < 3; a++) point[a] = end[0][a] + t * (end[1][a] - end[0][a]);
        if (i <= PIECES && place(c, point, at, &depth)) {
            if (!drawing) line = (firn_segment){at[0], at[1], at[0], at[1]};
            line.x1 = at[0];
            line.y1 = at[1];
            drawing = true;
        } else if (drawing) {
            firn_draw_lines(c->image, &line, 1, width, firn_paint_hex(FIRN_BLOCK_LINE, 0.9));
            drawing = false;
        }
    }
}

static firn_status draw_blocks(const canvas *c, firn_error *error)
{
    firn_block_edge *edge;
    int64_t count;
    const firn_block_choice all = {.dimension = 3, .normal = -1};
    const firn_status st =
        firn_grid_block_edges(c->input->grid, c->input->cell, all, &edge, &count, error);
    for (int64_t i = 0; i < count; i++) {
        double end[2][3];
        firn_block_edge_ends(&edge[i], c->input->cell, end[0], end[1]);
        draw_edge(c, (const double(*)[3])end);
    }
    free(edge);
    return st;
}

/* ---- outlines ---- */

/* Whether a collider's edge lies between two pixels: another one, a crease, or a part further back. */
static bool is_edge(const firn_sight *a, const firn_sight *b)
{
    if (a->collider != b->collider) return true;
    if (a->collider < 0) return false;
    double dot = 0;
    for (int i = 0; i < 3; i++) dot += (double)a->normal[i] * (double)b->normal[i];
    const double near = fmin((double)a->collider_depth, (double)b->collider_depth),
                 far = fmax((double)a->collider_depth, (double)b->collider_depth);
    return dot < 0.75 || far > 1.03 * near;
}

/* A line about two pixels wide, smoothed: the mean of nine pixels about each. */
static firn_status draw_outlines(const canvas *c, firn_error *error)
{
    const int32_t width = c->image->width, height = c->image->height;
    const firn_sight *sight = c->input->sight;
    bool *edge = calloc((size_t)width * (size_t)height, sizeof *edge);
    if (!edge) return no_memory(error);
    for (int32_t y = 0; y < height; y++) {
        for (int32_t x = 0; x < width; x++) {
            const int64_t i = (int64_t)y * width + x;
            edge[i] = (x + 1 < width && is_edge(&sight[i], &sight[i + 1])) ||
                      (y + 1 < height && is_edge(&sight[i], &sight[i + width]));
        }
    }
    const firn_paint paint = firn_paint_hex(FIRN_COLLIDER_EDGE, 1);
    for (int32_t y = 0; y < height; y++) {
        for (int32_t x = 0; x < width; x++) {
            static const double weight[3] = {0.25, 0.5, 0.25};
            double part = 0;
            for (int n = 0; n < 9; n++) {
                const int32_t nx = x + n % 3 - 1, ny = y + n / 3 - 1;
                if (nx < 0 || ny < 0 || nx >= width || ny >= height) continue;
                part += weight[n % 3] * weight[n / 3] * edge[(int64_t)ny * width + nx];
            }
            if (part > 0) firn_draw_pixel(c->image, x, y, fmin(1.6 * part, 1), paint);
        }
    }
    free(edge);
    return FIRN_OK;
}

/* ---- all of it ---- */

static int far_first(const void *a, const void *b)
{
    const mark *x = a, *y = b;
    if (x->depth != y->depth) return x->depth < y->depth ? 1 : -1;
    return (x->number > y->number) - (x->number < y->number); /* arrows over their nodes */
}

static void draw_mark(const canvas *c, const mark *m)
{
    const double letter = firn_overlay_letter(c->image->height);
    const firn_paint edge = firn_paint_hex(FIRN_PAPER, 0.9);
    const firn_segment l = m->line;
    if (m->radius > 0) {
        firn_draw_disc(c->image, l.x0, l.y0, m->radius + 0.04 * letter, edge);
        firn_draw_disc(c->image, l.x0, l.y0, m->radius, m->paint);
    } else if (hypot(l.x1 - l.x0, l.y1 - l.y0) >= 1) {
        firn_draw_edged_arrow(c->image, l, letter / 9, m->paint, letter / 9, edge);
    }
}

firn_status firn_marks_draw(const firn_marks_input *input, firn_image *image, firn_error *error)
{
    const firn_camera *camera = input->camera;
    canvas c = {.input = input, .image = image};
    double middle[2];
    firn_camera_project(camera, image->width, image->height, camera->target, middle, &c.target);
    c.scale = 0.5 * image->height / tan(0.5 * camera->field_of_view);
    firn_status st = FIRN_OK;
    if (shows(&c, FIRN_LAYER_BLOCKS) && input->grid) st = draw_blocks(&c, error);
    if (st == FIRN_OK && shows(&c, FIRN_LAYER_CELLS) && input->grid) st = add_cells(&c, error);
    if (st == FIRN_OK && shows(&c, FIRN_LAYER_GRID) && input->grid) st = add_nodes(&c, error);
    if (st == FIRN_OK && shows(&c, FIRN_LAYER_GRID_VELOCITY) && input->grid) {
        st = add_arrows(&c, input->grid, "v", input->extent.speed, FIRN_GRID_ARROW, error);
    }
    if (st == FIRN_OK && shows(&c, FIRN_LAYER_FORCE) && input->grid) {
        st = add_arrows(&c, input->grid, "force", input->extent.force, FIRN_FORCE_ARROW, error);
    }
    if (st == FIRN_OK && shows(&c, FIRN_LAYER_VELOCITY)) {
        st = add_arrows(&c, input->points, "v", input->extent.speed, FIRN_PARTICLE_ARROW, error);
    }
    if (st == FIRN_OK) {
        if (c.count > 1) qsort(c.mark, (size_t)c.count, sizeof *c.mark, far_first);
        for (int64_t i = 0; i < c.count; i++) draw_mark(&c, &c.mark[i]);
        if (shows(&c, FIRN_LAYER_OUTLINES)) st = draw_outlines(&c, error);
    }
    if (st == FIRN_OK && shows(&c, FIRN_LAYER_SCALE)) {
        firn_overlay_scale(image, c.scale / c.target);
        firn_layer_arrow_scales(image, input->show, &input->extent);
    }
    free(c.mark);
    return st;
}
