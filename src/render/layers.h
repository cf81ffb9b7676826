/* What flat pictures and those in perspective draw over particles: the names of layers, their colours,
 * the lengths of arrows and what of the grid they need. */
#ifndef FIRN_LAYERS_H
#define FIRN_LAYERS_H

#include "render/overlay.h"

/* sRGB, 0xrrggbb. Arrows have an edge of the paper's colour: what is below may be as light as they are. */
enum {
    FIRN_PAPER = 0x14181e,
    FIRN_COLLIDER_INSIDE = 0x39424d,
    FIRN_COLLIDER_EDGE = 0xaab4c0,
    FIRN_NODE = 0x7f8b99,
    FIRN_BLOCK_LINE = 0x5f9e8f,
    FIRN_PARTICLE_ARROW = 0xffffff,
    FIRN_GRID_ARROW = 0x6fd3ff,
    FIRN_FORCE_ARROW = 0xff9e57,
    FIRN_CELL_AIR = 0x5a6675,
    FIRN_CELL_WATER = 0x3fcf8e,
    FIRN_CELL_WALL = 0xf0b35a
};

/* ---- columns ---- */

/* Components that a column does not have are 0. */
void firn_column_vector(const firn_column *column, int64_t index, double out[3]);
double firn_column_number(const firn_column *column, int64_t index);

/* ---- arrows ---- */

/* The largest of what arrows and nodes show, over all frames, so that they compare. */
typedef struct firn_layer_extent {
    double speed, force, mass; /* m/s, N, kg */
    bool cells;                /* a grid has classes of cells */
} firn_layer_extent;
/* Takes in v, and of the grid v, force, mass and cell_class. Either may be NULL. */
void firn_layer_extend(firn_layer_extent *extent, const firn_points *points,
                       const firn_points *grid);

/* The longest arrow of a picture of that height, pixels. */
double firn_layer_arrow_reach(int32_t height);

/* A number between 0 and 1 that stays with an id, so that the same particles have arrows in every
 * frame. */
double firn_layer_chance(uint64_t id);

/* How long the arrows that are shown are, above the scale bar. */
void firn_layer_arrow_scales(firn_image *image, unsigned show, const firn_layer_extent *extent);

/* ---- the grid ---- */

/* The distance between nodes (m); 0: there are too few to tell. */
double firn_grid_spacing(const firn_points *grid);

/* The colour of a cell's class (firn_cell_class); numbers that are none count as empty. */
firn_paint firn_cell_paint(int64_t class, double opacity);
/* The same colours, for the legend. */
void firn_cell_coloring(firn_coloring *out);

enum { FIRN_GRID_BLOCK = 4 }; /* nodes along a side of a block, as the engine has them */

/* An edge of a block of the grid: from a corner, in blocks, one block along an axis. */
typedef struct firn_block_edge {
    int32_t corner[3];
    int32_t axis;
} firn_block_edge;
/* Which blocks: in 2D or 3D, and where `normal` is an axis only those that a plane across it meets. */
typedef struct firn_block_choice {
    int dimension, normal; /* -1: all */
    double offset;         /* m along the normal */
} firn_block_choice;
/* The edges of blocks that hold nodes, each once, in a fixed order; to be freed. */
firn_status firn_grid_block_edges(const firn_points *grid, double spacing, firn_block_choice choice,
                                  firn_block_edge **out, int64_t *count, firn_error *error);
/* Both ends of an edge, m. */
void firn_block_edge_ends(const firn_block_edge *edge, double spacing, double from[3],
                          double to[3]);

#endif
