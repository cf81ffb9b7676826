/* Draws a plane of the scene as a figure: colliders pixel by pixel, particles and nodes as discs,
 * vectors as arrows. Arrows thin out by particle id, so the same particles have one in every
 * frame. */
#include "render/flat.h"

#include <math.h>
#include <stdlib.h>

#include "base/parallel.h"

/* ---- plane and window ---- */

firn_flat_plane firn_flat_plane_across(int normal, int up, double offset, double thickness)
{
    const int upward = normal != up ? up : up == 1 ? 2 : 1;
    const int across = 3 - normal - upward;
    return (firn_flat_plane){across, upward, normal, offset, thickness};
}

firn_flat_window firn_flat_frame(const firn_flat_plane *plane, const firn_bounds *bounds,
                                 double margin, int32_t width, int32_t height)
{
    const int a = plane->across, u = plane->upward;
    if (bounds->low[a] > bounds->high[a]) return (firn_flat_window){0, 0, height};
    const double span_a = fmax(bounds->high[a] - bounds->low[a], 1e-9);
    const double span_u = fmax(bounds->high[u] - bounds->low[u], 1e-9);
    return (firn_flat_window){0.5 * (bounds->low[a] + bounds->high[a]),
                              0.5 * (bounds->low[u] + bounds->high[u]),
                              (1 - margin) * fmin(width / span_a, height / span_u)};
}

/* ---- drawing ---- */

typedef struct canvas {
    const firn_flat_input *input;
    firn_image *image;
    bool filling; /* of colliders, not their outlines only */
} canvas;

static bool shows(const canvas *c, firn_layer layer) { return c->input->show >> layer & 1; }

/* Where a point is in the picture. False when it is not finite or not in the slice. */
static bool place(const canvas *c, const double point[3], double *x, double *y)
{
    const firn_flat_plane *plane = &c->input->plane;
    const firn_flat_window *w = &c->input->window;
    *x = 0.5 * c->image->width + w->scale * (point[plane->across] - w->across);
    *y = 0.5 * c->image->height - w->scale * (point[plane->upward] - w->upward);
    const double off = fabs(point[plane->normal] - plane->offset);
    return isfinite(*x) && isfinite(*y) && (plane->thickness == 0 || off <= plane->thickness / 2);
}

/* Colliders pixel by pixel, as one: their distance is known everywhere. Across a slice the distance to
 * the outline in the plane is the distance in space over the part of the normal that lies in it. */
static void collider_row(void *context, int64_t row, int32_t thread)
{
    (void)thread;
    const canvas *c = context;
    const firn_flat_plane *plane = &c->input->plane;
    const firn_flat_window *w = &c->input->window;
    const int dim = plane->thickness == 0 ? 2 : 3;
    const double edge = firn_overlay_letter(c->image->height) / 7;
    const firn_paint solid = firn_paint_hex(FIRN_COLLIDER_INSIDE, 1),
                     line = firn_paint_hex(FIRN_COLLIDER_EDGE, 1);
    for (int32_t x = 0; x < c->image->width; x++) {
        double point[3], least = INFINITY;
        point[plane->across] = w->across + (x + 0.5 - 0.5 * c->image->width) / w->scale;
        point[plane->upward] = w->upward - ((double)row + 0.5 - 0.5 * c->image->height) / w->scale;
        point[plane->normal] = plane->offset;
        for (int32_t i = 0; i < c->input->collider_count; i++) {
            double n[3];
            const double d = firn_collider_distance(&c->input->collider[i].pose, dim, point, n);
            const double part = fmax(hypot(n[plane->across], n[plane->upward]), 1e-3);
            least = fmin(least, d * w->scale / part);
        }
        if (least < 0.5 && c->filling) {
            firn_draw_pixel(c->image, x, row, fmin(0.5 - least, 1), solid);
        }
        const double reach = 0.5 + edge / 2 - fabs(least);
        if (reach > 0) firn_draw_pixel(c->image, x, row, fmin(reach, 1), line);
    }
}

static double particle_radius(const canvas *c, const firn_column *pscale, int64_t p)
{
    return c->input->window.scale * (pscale ? firn_column_number(pscale, p) : c->input->radius);
}

static void draw_particles(canvas *c)
{
    const firn_points *points = c->input->points;
    const firn_column *P = firn_points_find(points, "P");
    const firn_column *pscale = firn_points_find(points, "pscale");
    for (int64_t p = 0; P && p < points->count; p++) {
        double point[3], x, y;
        firn_column_vector(P, p, point);
        if (!place(c, point, &x, &y)) continue;
        const float *rgb = c->input->color + 3 * p;
        firn_draw_disc(c->image, x, y, fmax(particle_radius(c, pscale, p), 0.6),
                       (firn_paint){rgb[0], rgb[1], rgb[2], 1});
    }
}

/* Nodes as discs whose area is their mass; the heaviest one fills its cell. */
static void draw_nodes(canvas *c)
{
    const firn_points *grid = c->input->grid;
    const firn_column *P = firn_points_find(grid, "P"), *mass = firn_points_find(grid, "mass");
    const double most = 0.42 * firn_grid_spacing(grid) * c->input->window.scale;
    const float *rgb = c->input->node_color;
    firn_paint paint = firn_paint_hex(FIRN_NODE, 0.85);
    for (int64_t p = 0; P && mass && p < grid->count; p++) {
        double point[3], x, y;
        firn_column_vector(P, p, point);
        if (!place(c, point, &x, &y)) continue;
        const double part =
            c->input->extent.mass > 0 ? firn_column_number(mass, p) / c->input->extent.mass : 0;
        if (rgb) paint = (firn_paint){rgb[3 * p], rgb[3 * p + 1], rgb[3 * p + 2], 1};
        firn_draw_disc(c->image, x, y, fmax(most * sqrt(part), 0.5), paint);
    }
}

/* Cells by class, a little apart; in a slice those that it meets. Empty ones have an edge only. */
static void draw_cells(canvas *c, double spacing)
{
    const firn_points *grid = c->input->grid;
    const firn_flat_plane *plane = &c->input->plane;
    const firn_column *P = firn_points_find(grid, "P"), *of = firn_points_find(grid, "cell_class");
    const double side = spacing * c->input->window.scale, gap = fmin(0.06 * side, 2);
    const double width = fmax(gap, 0.6);
    for (int64_t p = 0; P && of && p < grid->count; p++) {
        double point[3], x, y;
        firn_column_vector(P, p, point);
        const double off = plane->offset - point[plane->normal];
        if (plane->thickness > 0 && !(off > -1e-6 * spacing && off < (1 - 1e-6) * spacing))
            continue;
        point[plane->normal] = plane->offset;
        if (!place(c, point, &x, &y)) continue;
        const int64_t class = firn_whole(firn_column_number(of, p));
        const double x0 = x + gap, x1 = x + side - gap, y0 = y - side + gap, y1 = y - gap;
        if (class != FIRN_CELL_EMPTY) {
            firn_draw_rectangle(c->image, x0, y0, x1, y1, firn_cell_paint(class, 0.55));
            continue;
        }
        const firn_segment edge[] = {
            {x0, y0, x1, y0}, {x1, y0, x1, y1}, {x1, y1, x0, y1}, {x0, y1, x0, y0}};
        firn_draw_lines(c->image, edge, 4, width, firn_cell_paint(class, 0.8));
    }
}

/* Arrows of a column, with a dark edge: particles may be as light as they are. Where points are closer
 * than arrows are legible, some of them have one: `room` is the distance between points in pixels. */
static void draw_arrows(canvas *c, const firn_points *points, const char *name, double most,
                        double room, uint32_t color)
{
    const firn_column *P = firn_points_find(points, "P"), *v = firn_points_find(points, name);
    const firn_column *id = firn_points_find(points, "id");
    if (!P || !v || !(most > 0)) return;
    const firn_paint paint = firn_paint_hex(color, 0.95);
    const double letter = firn_overlay_letter(c->image->height), apart = 1.3 * letter;
    const double fraction = room * room / (apart * apart);
    for (int64_t p = 0; p < points->count; p++) {
        double point[3], value[3], x, y;
        const uint64_t key = (uint64_t)(id ? firn_whole(firn_column_number(id, p)) : p);
        if (firn_layer_chance(key) >= fraction) continue;
        firn_column_vector(P, p, point);
        firn_column_vector(v, p, value);
        if (!place(c, point, &x, &y)) continue;
        const double scale = firn_layer_arrow_reach(c->image->height) / most;
        const double dx = scale * value[c->input->plane.across];
        const double dy = -scale * value[c->input->plane.upward];
        if (!(hypot(dx, dy) >= 1)) continue;
        firn_draw_edged_arrow(c->image, (firn_segment){x, y, x + dx, y + dy}, letter / 9, paint,
                              letter / 9, firn_paint_hex(FIRN_PAPER, 0.9));
    }
}

/* Of a slice the blocks it goes through: their lower faces, drawn in its plane. */
static firn_status draw_blocks(canvas *c, double spacing, firn_error *error)
{
    const firn_flat_plane *plane = &c->input->plane;
    const bool two = plane->thickness == 0;
    const firn_block_choice choice = {two ? 2 : 3, two ? -1 : plane->normal, plane->offset};
    const double width = firn_overlay_letter(c->image->height) / 12;
    firn_block_edge *edge;
    int64_t count;
    const firn_status st =
        firn_grid_block_edges(c->input->grid, spacing, choice, &edge, &count, error);
    for (int64_t i = 0; i < count; i++) {
        double end[2][3];
        firn_segment line;
        firn_block_edge_ends(&edge[i], spacing, end[0], end[1]);
        if (!two && (edge[i].axis == plane->normal || end[0][plane->normal] > plane->offset)) {
            continue;
        }
        for (int k = 0; k < 2 && !two; k++) end[k][plane->normal] = plane->offset;
        if (place(c, end[0], &line.x0, &line.y0) && place(c, end[1], &line.x1, &line.y1)) {
            firn_draw_lines(c->image, &line, 1, width, firn_paint_hex(FIRN_BLOCK_LINE, 0.9));
        }
    }
    free(edge);
    return st;
}

firn_status firn_flat_render(const firn_flat_input *input, int32_t width, int32_t height,
                             int32_t threads, firn_image *out, firn_error *error)
{
    firn_status st = firn_image_create(width, height, out, error);
    if (st != FIRN_OK) return st;
    canvas c = {input, out, true};
    firn_draw_rectangle(out, 0, 0, width, height, firn_paint_hex(FIRN_PAPER, 1));
    if (shows(&c, FIRN_LAYER_COLLIDERS)) firn_parallel_for(threads, height, 8, collider_row, &c);
    if (shows(&c, FIRN_LAYER_PARTICLES)) draw_particles(&c);
    const double spacing = input->grid ? firn_grid_spacing(input->grid) : 0;
    const double room = spacing * input->window.scale;
    if (shows(&c, FIRN_LAYER_CELLS) && input->grid) draw_cells(&c, spacing);
    if (shows(&c, FIRN_LAYER_BLOCKS) && input->grid) st = draw_blocks(&c, spacing, error);
    if (shows(&c, FIRN_LAYER_GRID) && input->grid) draw_nodes(&c);
    if (shows(&c, FIRN_LAYER_GRID_VELOCITY) && input->grid) {
        draw_arrows(&c, input->grid, "v", input->extent.speed, room, FIRN_GRID_ARROW);
    }
    if (shows(&c, FIRN_LAYER_FORCE) && input->grid) {
        draw_arrows(&c, input->grid, "force", input->extent.force, room, FIRN_FORCE_ARROW);
    }
    if (shows(&c, FIRN_LAYER_VELOCITY)) {
        const firn_column *pscale = firn_points_find(input->points, "pscale");
        const double apart = input->points->count ? 1.77 * particle_radius(&c, pscale, 0) : 0;
        draw_arrows(&c, input->points, "v", input->extent.speed, apart, FIRN_PARTICLE_ARROW);
    }
    if (shows(&c, FIRN_LAYER_OUTLINES)) {
        c.filling = false;
        firn_parallel_for(threads, height, 8, collider_row, &c);
    }
    if (shows(&c, FIRN_LAYER_SCALE)) {
        firn_overlay_scale(out, input->window.scale);
        firn_layer_arrow_scales(out, input->show, &input->extent);
    }
    if (st != FIRN_OK) firn_image_free(out);
    return st;
}
