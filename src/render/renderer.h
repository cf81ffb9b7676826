/* The renderer inside the library: what its pictures share, and the making of each. No files. */
#ifndef FIRN_RENDERER_INTERNAL_H
#define FIRN_RENDERER_INTERNAL_H

#include "render/flat.h"
#include "run/prop.h"
#include "scene/scene.h"

/* Particles that the camera should see. */
typedef struct firn_witness {
    const firn_scene *scene;
    int64_t frame;
    double at[3]; /* m */
} firn_witness;
typedef struct firn_witnesses {
    firn_witness *witness;
    int64_t count, room;
} firn_witnesses;

struct firn_renderer {
    firn_renderer_options options;
    bool flat;
    firn_bounds bounds; /* of particles; when settled, of all boxes */
    firn_bounds *box; /* around particles of every frame, with size and motion; around colliders */
    int64_t box_count, box_room;
    firn_coloring coloring;      /* where options.color is given */
    firn_coloring grid_coloring; /* of nodes, where they are shown and have colours */
    firn_layer_extent extent;
    double radius;   /* m, of particles that do not say */
    int64_t guessed; /* from how many particles that was guessed */
    int64_t seen;    /* particles of all frames */
    firn_witnesses witnesses;
    firn_view_camera found_side;
    const firn_view_camera *side; /* where to look from instead of what is usual, or NULL */
    bool anonymous;               /* some have neither material nor object */
};

/* firn_renderer_create and firn_renderer_destroy in memory of the caller's. */
firn_status firn_renderer_init(firn_renderer *renderer, const firn_renderer_options *options,
                               firn_error *error);
void firn_renderer_deinit(firn_renderer *renderer);

/* Whether its pictures show something of the grid. */
bool firn_renderer_shows_grid(const firn_renderer *renderer);

/* What a scene, which may be NULL, says of the camera in a frame. */
firn_view_camera firn_renderer_wish(const firn_renderer *renderer, const firn_scene *scene,
                                    int64_t number);
/* Visible colliders where they are at the frame's time. Their meshes are those of `props`, which is to be
 * closed after them, also on failure. */
firn_status firn_renderer_colliders(const firn_renderer *renderer, const firn_renderer_frame *frame,
                                    firn_props *props, firn_render_collider **out, int32_t *count,
                                    firn_error *error);
/* Where a frame is seen from; of pictures that are not flat. */
firn_camera firn_renderer_camera(const firn_renderer *renderer, const firn_renderer_frame *frame);
/* Which part of its plane a frame shows; of flat ones. */
firn_flat_window firn_renderer_window(const firn_renderer *renderer,
                                      const firn_renderer_frame *frame, firn_flat_plane *plane);

#endif
