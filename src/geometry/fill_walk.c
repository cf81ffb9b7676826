/* The cells of a region, found by halving blocks of them until a distance tells that all of a piece is
 * inside or outside: most of the space is settled by a few questions. */
#include <math.h>

#include "base/error.h"
#include "base/parallel.h"
#include "geometry/fill_parts.h"

firn_status firn_fill_walk_plan(const firn_region *region, double size, firn_fill_walk *out,
                                firn_error *error)
{
    *out = (firn_fill_walk){.region = region, .size = size, .band = {-INFINITY, INFINITY}};
    for (int a = 0; a < 3; a++) out->cells[a] = 1;
    for (int a = 0; a < region->dimension; a++) {
        const double extent = region->high[a] - region->low[a];
        /* What misses a whole number by rounding is that number. */
        const double cells = fmax(ceil(extent / size - 1e-9), 1);
        if (!(cells < 0x1p31)) {
            return firn_fail(error, FIRN_INVALID,
                             "separation %g m is too small for an object %g m across; use at least "
                             "%g m",
                             size, extent, extent / 0x1p30);
        }
        out->cells[a] = (int64_t)cells;
        out->origin[a] = 0.5 * region->low[a] + 0.5 * region->high[a] - 0.5 * cells * size;
    }
    /* Blocks small enough to share out, few enough to keep a list of. */
    for (out->block_level = 4;; out->block_level++) {
        out->block_count = 1;
        for (int a = 0; a < 3; a++) {
            const int64_t width = (int64_t)1 << out->block_level;
            out->blocks[a] = (out->cells[a] + width - 1) / width;
            out->block_count *= out->blocks[a];
            if (out->block_count > 1 << 18) break;
        }
        if (out->block_count <= 1 << 18) return FIRN_OK;
    }
}

/* height: the piece is 2^height cells wide; below 0 it is refined. False: to go on is no use. */
static bool visit_piece(const firn_fill_walk *w, const int64_t index[3], int32_t height,
                        bool all_in, int64_t block)
{
    const int dim = w->region->dimension;
    const double size = ldexp(w->size, height), half = 0.5 * size;
    const double round = half * sqrt((double)dim); /* to its farthest point */
    firn_fill_cell cell = {.size = size, .level = height < 0 ? -height : 0};
    double middle[3] = {0};
    for (int a = 0; a < dim; a++) {
        cell.index[a] = index[a];
        cell.low[a] = w->origin[a] + (double)index[a] * size;
        middle[a] = cell.low[a] + half;
    }
    bool split = height > 0;
    if (!all_in && !(height == 0 && w->few_points)) {
        double reach = w->refine_levels > 0 ? w->refine_distance : 0;
        for (int b = 0; b < 2; b++) {
            if (isfinite(w->band[b])) reach = fmax(reach, w->band[b]);
        }
        /* Twice, so that rounding cannot settle a piece that the surface touches. */
        const double limit = 2 * (round + reach);
        const double least = -firn_region_distance(w->region, middle, limit); /* of its depth */
        const double slack = round * (1 + 1e-9);
        if (least <= -slack) return true;                                /* outside */
        if (least - slack >= w->band[1]) return true;                    /* below the band */
        if (w->region->exact && least + slack < w->band[0]) return true; /* above it */
        const bool exact_below = w->region->exact && least + slack < w->band[1];
        all_in = least - slack >= fmax(w->band[0], 0) && (exact_below || w->band[1] == INFINITY) &&
                 (w->refine_levels == 0 || least - slack >= w->refine_distance);
        if (!all_in && height <= 0 && cell.level < w->refine_levels) {
            split = firn_region_depth(w->region, middle, limit) <
                    ldexp(w->refine_distance, -cell.level);
        }
    }
    if (!split) {
        cell.all_in = all_in;
        return w->visit(w->context, &cell, block);
    }
    for (int child = 0; child < 1 << dim; child++) {
        const int64_t next[3] = {2 * index[0] + (child & 1), 2 * index[1] + (child >> 1 & 1),
                                 2 * index[2] + (child >> 2 & 1)};
        if (!visit_piece(w, next, height - 1, all_in, block)) return false;
    }
    return true;
}

static void visit_block(void *context, int64_t block, int32_t thread)
{
    (void)thread;
    const firn_fill_walk *w = context;
    const int64_t index[3] = {block % w->blocks[0], block / w->blocks[0] % w->blocks[1],
                              block / w->blocks[0] / w->blocks[1]};
    visit_piece(w, index, w->block_level, false, block);
}

void firn_fill_walk_run(const firn_fill_walk *walk, int32_t threads)
{
    firn_parallel_for(threads, walk->block_count, 1, visit_block, (void *)walk);
}
