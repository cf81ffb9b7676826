/* What the patterns share: lists of particles, and a walk over the cells of a region. */
#ifndef FIRN_SCENE_FILL_PARTS_H
#define FIRN_SCENE_FILL_PARTS_H

#include "geometry/fill.h"

/* ---- lists (fill.c) ---- */

typedef struct firn_seeding {
    int64_t count, room;
    double *position; /* count x 3 */
    uint8_t *level;   /* of refinement: a particle stands for (separation / 2^level)^dimension */
    bool failed;      /* out of memory */
} firn_seeding;

void firn_seeding_add(firn_seeding *list, const double position[3], int32_t level);
void firn_seeding_free(firn_seeding *list);
/* Moves all of `parts`, in order, into `out`. */
firn_status firn_seeding_join(firn_seeding *parts, int64_t count, firn_seeding *out,
                              firn_error *error);

/* ---- the walk (fill_walk.c) ---- */

typedef struct firn_fill_walk firn_fill_walk;

/* A cell that is not wholly outside. `all_in`: every point of it is in the region, and in the band. */
typedef struct firn_fill_cell {
    int64_t index[3]; /* of its level */
    double low[3];    /* m */
    double size;      /* m */
    int32_t level;    /* of refinement */
    bool all_in;
} firn_fill_cell;

struct firn_fill_walk {
    const firn_region *region;
    double origin[3]; /* m, of cell 0 0 0 */
    double size;      /* m, of a cell that is not refined */
    /* Cells nearer to the surface than refine_distance / 2^level are split into cells of the next
     * level, up to this one. */
    int32_t refine_levels;
    double refine_distance;
    /* Whether single cells are visited without asking whether they are in or out: for visitors that
     * ask for one point of the cell only, which costs less. */
    bool few_points;
    double band[2]; /* only depths from the one to the other, m; {-inf, inf} for all */
    /* Called once per cell, from any thread, with the number of the cell's block. False: no use in
     * going on. */
    bool (*visit)(void *context, const firn_fill_cell *cell, int64_t block);
    void *context;
    /* Set by firn_fill_walk_plan. */
    int64_t cells[3];    /* to cover the bounds */
    int32_t block_level; /* a block is 2^this cells wide */
    int64_t blocks[3];
    int64_t block_count;
};

/* Centres a lattice of that cell size on the region's bounds. */
firn_status firn_fill_walk_plan(const firn_region *region, double size, firn_fill_walk *out,
                                firn_error *error);
/* Visits the cells, blocks in parallel; within a block the order is always the same. */
void firn_fill_walk_run(const firn_fill_walk *walk, int32_t threads);

/* ---- patterns: append to an empty list ---- */

firn_status firn_fill_lattice(const firn_region *region, const firn_fill_def *def,
                              double separation, firn_seeding *out, firn_error *error);
firn_status firn_fill_blue(const firn_region *region, const firn_fill_def *def, double separation,
                           firn_seeding *out, firn_error *error);
firn_status firn_fill_voxels(const firn_region *region, const firn_fill_def *def, firn_seeding *out,
                             firn_error *error);

#endif
