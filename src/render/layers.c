/* Layers of pictures: names, arrow lengths that compare over all frames, and the grid's blocks as lines. */
#include "render/layers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

const char *const *firn_layer_names(void)
{
    static const char *const names[] = {
        "particles", "colliders", "grid",   "velocity", "grid_velocity", "force", "scale",
        "legend",    "caption",   "blocks", "outlines", "cells",         NULL};
    return names;
}

/* ---- columns ---- */

void firn_column_vector(const firn_column *c, int64_t p, double out[3])
{
    for (int i = 0; i < 3; i++) {
        out[i] = i < c->components ? firn_type_get(c->type, c->data, p * c->components + i) : 0;
    }
}

double firn_column_number(const firn_column *c, int64_t p)
{
    return firn_type_get(c->type, c->data, p);
}

/* ---- arrows ---- */

static double largest_length(const firn_points *points, const char *name)
{
    const firn_column *c = points ? firn_points_find(points, name) : NULL;
    double most = 0;
    for (int64_t p = 0; c && p < points->count; p++) {
        double v[3];
        firn_column_vector(c, p, v);
        const double length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
        if (isfinite(length)) most = fmax(most, length);
    }
    return most;
}

void firn_layer_extend(firn_layer_extent *extent, const firn_points *points,
                       const firn_points *grid)
{
    extent->speed = fmax(extent->speed, largest_length(points, "v"));
    extent->speed = fmax(extent->speed, largest_length(grid, "v"));
    extent->force = fmax(extent->force, largest_length(grid, "force"));
    extent->mass = fmax(extent->mass, largest_length(grid, "mass"));
    extent->cells = extent->cells || (grid && firn_points_find(grid, "cell_class"));
}

double firn_layer_arrow_reach(int32_t height) { return 0.09 * height; }

double firn_layer_chance(uint64_t id)
{
    id = (id ^ id >> 31) * 0x9e3779b97f4a7c15u;
    id = (id ^ id >> 29) * 0xbf58476d1ce4e5b9u;
    return (double)(id >> 11) * 0x1p-53;
}

void firn_layer_arrow_scales(firn_image *image, unsigned show, const firn_layer_extent *extent)
{
    const struct {
        firn_layer layer;
        double most;
        const char *unit, *what;
        uint32_t color;
    } rows[] = {{FIRN_LAYER_VELOCITY, extent->speed, "m/s", "particles", FIRN_PARTICLE_ARROW},
                {FIRN_LAYER_GRID_VELOCITY, extent->speed, "m/s", "grid", FIRN_GRID_ARROW},
                {FIRN_LAYER_FORCE, extent->force, "N", "force", FIRN_FORCE_ARROW}};
    int row = 0;
    for (int i = 0; i < 3; i++) {
        if (!(show >> rows[i].layer & 1) || !(rows[i].most > 0)) continue;
        const double value = firn_round_below(rows[i].most);
        char text[60];
        snprintf(text, sizeof text, "%g %s, %s", value, rows[i].unit, rows[i].what);
        firn_overlay_arrow(image, row++,
                           firn_layer_arrow_reach(image->height) * value / rows[i].most, text,
                           firn_paint_hex(rows[i].color, 1));
    }
}

/* ---- the grid ---- */

double firn_grid_spacing(const firn_points *grid)
{
    const firn_column *P = firn_points_find(grid, "P");
    double least = INFINITY;
    for (int64_t p = 1; P && p < grid->count; p++) {
        double a[3], b[3];
        firn_column_vector(P, p - 1, a);
        firn_column_vector(P, p, b);
        for (int i = 0; i < 3; i++) {
            const double gap = fabs(a[i] - b[i]);
            if (gap > 1e-5 * fabs(a[i]) && gap < least) least = gap;
        }
    }
    return isfinite(least) ? least : 0;
}

firn_paint firn_cell_paint(int64_t class, double opacity)
{
    static const uint32_t color[] = {FIRN_CELL_AIR, FIRN_CELL_WATER, FIRN_CELL_WALL};
    return firn_paint_hex(
        color[class == FIRN_CELL_INTERIOR || class == FIRN_CELL_COLLIDER ? class : 0], opacity);
}

void firn_cell_coloring(firn_coloring *out)
{
    *out = (firn_coloring){.attribute = "cells",
                           .unit = "",
                           .kind = FIRN_CATEGORICAL,
                           .low = FIRN_CELL_EMPTY,
                           .high = FIRN_CELL_COLLIDER};
    for (int i = 0; i <= FIRN_CELL_COLLIDER; i++) {
        const firn_paint paint = firn_cell_paint(i, 1);
        memcpy(out->map.rgb[i], (float[]){paint.r, paint.g, paint.b}, sizeof out->map.rgb[i]);
    }
}

static int by_place(const void *a, const void *b) { return memcmp(a, b, sizeof(firn_block_edge)); }

/* Sorts edges and keeps one of each; returns how many there are. */
static int64_t keep_distinct(firn_block_edge *edge, int64_t count)
{
    int64_t kept = 0;
    qsort(edge, (size_t)count, sizeof *edge, by_place);
    for (int64_t i = 0; i < count; i++) {
        if (kept == 0 || by_place(&edge[i], &edge[kept - 1]) != 0) edge[kept++] = edge[i];
    }
    return kept;
}

firn_status firn_grid_block_edges(const firn_points *grid, double spacing, firn_block_choice choice,
                                  firn_block_edge **out, int64_t *count, firn_error *error)
{
    *out = NULL;
    *count = 0;
    const int dimension = choice.dimension;
    const firn_column *P = firn_points_find(grid, "P");
    if (!P || !(spacing > 0)) return FIRN_OK;
    const double met = choice.normal < 0 ? 0 : floor(choice.offset / (FIRN_GRID_BLOCK * spacing));
    /* First the blocks, as edges of their own; there are up to 64 nodes for each of them. */
    firn_block_edge *block = calloc((size_t)grid->count + 1, sizeof *block);
    int64_t blocks = 0;
    if (!block) return firn_fail(error, FIRN_NO_MEMORY, "out of memory for the grid's blocks");
    for (int64_t p = 0; p < grid->count; p++) {
        double point[3];
        bool fits = true;
        firn_column_vector(P, p, point);
        for (int a = 0; a < dimension; a++) {
            const double at = floor(round(point[a] / spacing) / FIRN_GRID_BLOCK);
            fits = fits && fabs(at) < 1e9 && (a != choice.normal || at == met);
            block[blocks].corner[a] = fits ? (int32_t)at : 0;
        }
        blocks += fits;
    }
    blocks = keep_distinct(block, blocks);
    const int per_axis = 1 << (dimension - 1);
    firn_block_edge *edge = calloc((size_t)(blocks * dimension * per_axis) + 1, sizeof *edge);
    if (!edge) {
        free(block);
        return firn_fail(error, FIRN_NO_MEMORY, "out of memory for the grid's blocks");
    }
    for (int64_t b = 0; b < blocks; b++) {
        for (int axis = 0; axis < dimension; axis++) {
            for (int k = 0; k < per_axis; k++) {
                firn_block_edge *e = &edge[(*count)++];
                *e = block[b];
                e->axis = axis;
                e->corner[(axis + 1) % dimension] += k & 1;
                if (dimension == 3) e->corner[(axis + 2) % 3] += k >> 1;
            }
        }
    }
    free(block);
    *count = keep_distinct(edge, *count);
    *out = edge;
    return FIRN_OK;
}

void firn_block_edge_ends(const firn_block_edge *edge, double spacing, double from[3], double to[3])
{
    for (int a = 0; a < 3; a++) {
        from[a] = FIRN_GRID_BLOCK * spacing * edge->corner[a];
        to[a] = from[a] + (a == edge->axis ? FIRN_GRID_BLOCK * spacing : 0);
    }
}
