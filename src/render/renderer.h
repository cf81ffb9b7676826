/* A renderer: what all pictures of a sequence have in common (camera, colours, arrows, size), and the
 * making of each. First every frame is looked at (survey), then the renderer is settled, then pictures are
 * made in any order. No files. */
#ifndef FIRN_RENDERER_H
#define FIRN_RENDERER_H

#include "render/flat.h"
#include "scene/scene.h"

typedef struct firn_renderer_options {
    firn_render_options render; /* size, samples, quality, ... */
    bool linear;                /* light as it is, for EXR; else as a screen shows it */
    const char *color;          /* attribute; NULL: looks, in flat pictures objects */
    int map;                    /* firn_colormap_kind, or -1: what suits the attribute */
    bool fixed;                 /* the range of colours is given: */
    double low, high;
    unsigned show;       /* bit per firn_layer; 0: what suits the picture */
    bool slice;          /* flat, of what is near a plane */
    int slice_axis;      /* across which it lies */
    double slice_offset; /* m */
} firn_renderer_options;

firn_renderer_options firn_renderer_options_default(void);

typedef struct firn_renderer {
    firn_renderer_options options;
    bool flat;
    firn_bounds bounds; /* of particles; when settled, of all boxes */
    firn_bounds *box; /* around particles of every frame, with size and motion; around colliders */
    int64_t box_count, box_room;
    firn_coloring coloring; /* where options.color is given */
    firn_flat_extent extent;
    double radius; /* m, of particles that do not say */
    int64_t seen;  /* particles of all frames */
} firn_renderer;

/* Checks what does not depend on the frames. */
firn_status firn_renderer_begin(const firn_renderer_options *options, firn_renderer *renderer,
                                firn_error *error);
void firn_renderer_free(firn_renderer *renderer);

/* Takes in one frame; `scene` and `grid` may be NULL. */
firn_status firn_renderer_survey(firn_renderer *renderer, const firn_scene *scene,
                                 const firn_points *points, const firn_points *grid,
                                 firn_error *error);
/* All frames are seen. Fails where what is to be shown is not there. */
firn_status firn_renderer_settle(firn_renderer *renderer, const firn_scene *scene,
                                 firn_error *error);

/* One frame: its number, its particles, its grid or NULL. */
typedef struct firn_renderer_frame {
    const firn_scene *scene; /* NULL: there is none */
    const firn_points *points, *grid;
    int64_t number;
    const double *turn; /* degrees around the target, for turntables; or NULL */
} firn_renderer_frame;

/* Where a frame is seen from; of pictures that are not flat. */
firn_camera firn_renderer_camera(const firn_renderer *renderer, const firn_renderer_frame *frame);
/* Which part of its plane a frame shows; of flat ones. */
firn_flat_window firn_renderer_window(const firn_renderer *renderer,
                                      const firn_renderer_frame *frame, firn_flat_plane *plane);

/* A new picture with what is written over it. */
firn_status firn_renderer_picture(const firn_renderer *renderer, const firn_renderer_frame *frame,
                                  firn_image *out, firn_error *error);

#endif
