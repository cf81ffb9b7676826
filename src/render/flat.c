/* Draws a plane of the scene as a figure: colliders pixel by pixel, particles and nodes as discs,
 * vectors as arrows. Arrows thin out by particle id, so the same particles have one in every
 * frame. */
#include "render/flat.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/parallel.h"

const char *const *firn_layer_names(void)
{
    static const char *const names[] = {"particles",     "colliders", "grid",  "velocity",
                                        "grid_velocity", "force",     "scale", "legend",
                                        "caption",       NULL};
    return names;
}

/* Dark, so that every colour of every map stands out. */
static const uint32_t PAPER = 0x14181e, SOLID = 0x39424d, EDGE = 0xaab4c0, NODE = 0x7f8b99,
                      PARTICLE_ARROW = 0xffffff, GRID_ARROW = 0x6fd3ff, FORCE_ARROW = 0xff9e57;

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

/* ---- columns ---- */

static void read_vector(const firn_column *c, int64_t p, double out[3])
{
    for (int i = 0; i < 3; i++) {
        out[i] = i < c->components ? firn_type_get(c->type, c->data, p * c->components + i) : 0;
    }
}

static double read_number(const firn_column *c, int64_t p)
{
    return firn_type_get(c->type, c->data, p);
}

static double largest_length(const firn_points *points, const char *name)
{
    const firn_column *c = points ? firn_points_find(points, name) : NULL;
    double most = 0;
    for (int64_t p = 0; c && p < points->count; p++) {
        double v[3];
        read_vector(c, p, v);
        const double length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
        if (isfinite(length)) most = fmax(most, length);
    }
    return most;
}

void firn_flat_extend(firn_flat_extent *extent, const firn_points *points, const firn_points *grid)
{
    extent->speed = fmax(extent->speed, largest_length(points, "v"));
    extent->speed = fmax(extent->speed, largest_length(grid, "v"));
    extent->force = fmax(extent->force, largest_length(grid, "force"));
    extent->mass = fmax(extent->mass, largest_length(grid, "mass"));
}

/* ---- drawing ---- */

typedef struct canvas {
    const firn_flat_input *input;
    firn_image *image;
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
    const firn_paint solid = firn_paint_hex(SOLID, 1), line = firn_paint_hex(EDGE, 1);
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
        if (least < 0.5) firn_draw_pixel(c->image, x, row, fmin(0.5 - least, 1), solid);
        const double reach = 0.5 + edge / 2 - fabs(least);
        if (reach > 0) firn_draw_pixel(c->image, x, row, fmin(reach, 1), line);
    }
}

static double particle_radius(const canvas *c, const firn_column *pscale, int64_t p)
{
    return c->input->window.scale * (pscale ? read_number(pscale, p) : c->input->radius);
}

static void draw_particles(canvas *c)
{
    const firn_points *points = c->input->points;
    const firn_column *P = firn_points_find(points, "P");
    const firn_column *pscale = firn_points_find(points, "pscale");
    for (int64_t p = 0; P && p < points->count; p++) {
        double point[3], x, y;
        read_vector(P, p, point);
        if (!place(c, point, &x, &y)) continue;
        const float *rgb = c->input->color + 3 * p;
        firn_draw_disc(c->image, x, y, fmax(particle_radius(c, pscale, p), 0.6),
                       (firn_paint){rgb[0], rgb[1], rgb[2], 1});
    }
}

/* Nodes as discs whose area is their mass; the heaviest one fills its cell. */
static double spacing(const firn_points *grid)
{
    const firn_column *P = firn_points_find(grid, "P");
    double least = INFINITY;
    for (int64_t p = 1; P && p < grid->count; p++) {
        double a[3], b[3];
        read_vector(P, p - 1, a);
        read_vector(P, p, b);
        for (int i = 0; i < 3; i++) {
            const double gap = fabs(a[i] - b[i]);
            if (gap > 1e-5 * fabs(a[i]) && gap < least) least = gap;
        }
    }
    return isfinite(least) ? least : 0;
}

static void draw_nodes(canvas *c)
{
    const firn_points *grid = c->input->grid;
    const firn_column *P = firn_points_find(grid, "P"), *mass = firn_points_find(grid, "mass");
    const double most = 0.42 * spacing(grid) * c->input->window.scale;
    const firn_paint paint = firn_paint_hex(NODE, 0.85);
    for (int64_t p = 0; P && mass && p < grid->count; p++) {
        double point[3], x, y;
        read_vector(P, p, point);
        if (!place(c, point, &x, &y)) continue;
        const double part =
            c->input->extent.mass > 0 ? read_number(mass, p) / c->input->extent.mass : 0;
        firn_draw_disc(c->image, x, y, fmax(most * sqrt(part), 0.5), paint);
    }
}

double firn_flat_arrow_reach(int32_t height) { return 0.09 * height; }

/* A number between 0 and 1 that stays with an id, so that the same particles have arrows in every
 * frame. */
static double chance(uint64_t id)
{
    id = (id ^ id >> 31) * 0x9e3779b97f4a7c15u;
    id = (id ^ id >> 29) * 0xbf58476d1ce4e5b9u;
    return (double)(id >> 11) * 0x1p-53;
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
        const uint64_t key = (uint64_t)(id ? firn_whole(read_number(id, p)) : p);
        if (chance(key) >= fraction) continue;
        read_vector(P, p, point);
        read_vector(v, p, value);
        if (!place(c, point, &x, &y)) continue;
        const double scale = firn_flat_arrow_reach(c->image->height) / most;
        const double dx = scale * value[c->input->plane.across];
        const double dy = -scale * value[c->input->plane.upward];
        if (!(hypot(dx, dy) >= 1)) continue;
        firn_draw_edged_arrow(c->image, (firn_segment){x, y, x + dx, y + dy}, letter / 9, paint,
                              letter / 9, firn_paint_hex(PAPER, 0.9));
    }
}

/* How long arrows are, above the scale bar. */
static void draw_arrow_scales(canvas *c)
{
    const firn_flat_extent *e = &c->input->extent;
    const struct {
        firn_layer layer;
        double most;
        const char *unit, *what;
        uint32_t color;
    } rows[] = {{FIRN_LAYER_VELOCITY, e->speed, "m/s", "particles", PARTICLE_ARROW},
                {FIRN_LAYER_GRID_VELOCITY, e->speed, "m/s", "grid", GRID_ARROW},
                {FIRN_LAYER_FORCE, e->force, "N", "force", FORCE_ARROW}};
    int row = 0;
    for (int i = 0; i < 3; i++) {
        if (!shows(c, rows[i].layer) || !(rows[i].most > 0)) continue;
        const double value = firn_round_below(rows[i].most);
        char text[60];
        snprintf(text, sizeof text, "%g %s, %s", value, rows[i].unit, rows[i].what);
        firn_overlay_arrow(c->image, row++,
                           firn_flat_arrow_reach(c->image->height) * value / rows[i].most, text,
                           firn_paint_hex(rows[i].color, 1));
    }
}

firn_status firn_flat_render(const firn_flat_input *input, int32_t width, int32_t height,
                             int32_t threads, firn_image *out, firn_error *error)
{
    firn_status st = firn_image_create(width, height, out, error);
    if (st != FIRN_OK) return st;
    canvas c = {input, out};
    firn_draw_rectangle(out, 0, 0, width, height, firn_paint_hex(PAPER, 1));
    if (shows(&c, FIRN_LAYER_COLLIDERS)) firn_parallel_for(threads, height, 8, collider_row, &c);
    if (shows(&c, FIRN_LAYER_PARTICLES)) draw_particles(&c);
    const double room = input->grid ? spacing(input->grid) * input->window.scale : 0;
    if (shows(&c, FIRN_LAYER_GRID) && input->grid) draw_nodes(&c);
    if (shows(&c, FIRN_LAYER_GRID_VELOCITY) && input->grid) {
        draw_arrows(&c, input->grid, "v", input->extent.speed, room, GRID_ARROW);
    }
    if (shows(&c, FIRN_LAYER_FORCE) && input->grid) {
        draw_arrows(&c, input->grid, "force", input->extent.force, room, FORCE_ARROW);
    }
    if (shows(&c, FIRN_LAYER_VELOCITY)) {
        const firn_column *pscale = firn_points_find(input->points, "pscale");
        const double apart = input->points->count ? 1.77 * particle_radius(&c, pscale, 0) : 0;
        draw_arrows(&c, input->points, "v", input->extent.speed, apart, PARTICLE_ARROW);
    }
    if (shows(&c, FIRN_LAYER_SCALE)) {
        firn_overlay_scale(out, input->window.scale);
        draw_arrow_scales(&c);
    }
    return FIRN_OK;
}
