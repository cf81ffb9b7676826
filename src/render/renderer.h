/* The renderer inside the library: what its pictures share, and the making of each. No files. */
#ifndef FIRN_RENDERER_INTERNAL_H
#define FIRN_RENDERER_INTERNAL_H

#include "render/flat.h"
#include "scene/scene.h"

struct firn_renderer {
    firn_renderer_options options;
    bool flat;
    firn_bounds bounds; /* of particles; when settled, of all boxes */
    firn_bounds *box; /* around particles of every frame, with size and motion; around colliders */
    int64_t box_count, box_room;
    firn_coloring coloring;      /* where options.color is given */
    firn_coloring grid_coloring; /* of nodes, where they are shown and have colours */
    firn_layer_extent extent;
    double radius;  /* m, of particles that do not say */
    int64_t seen;   /* particles of all frames */
    bool anonymous; /* some have neither material nor object */
};

/* firn_renderer_create and firn_renderer_destroy in memory of the caller's. */
firn_status firn_renderer_init(firn_renderer *renderer, const firn_renderer_options *options,
                               firn_error *error);
void firn_renderer_deinit(firn_renderer *renderer);

/* Whether its pictures show something of the grid. */
bool firn_renderer_shows_grid(const firn_renderer *renderer);

/* Where a frame is seen from; of pictures that are not flat. */
firn_camera firn_renderer_camera(const firn_renderer *renderer, const firn_renderer_frame *frame);
/* Which part of its plane a frame shows; of flat ones. */
firn_flat_window firn_renderer_window(const firn_renderer *renderer,
                                      const firn_renderer_frame *frame, firn_flat_plane *plane);

#endif
