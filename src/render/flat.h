/* Flat pictures: 2D scenes, and slices of 3D ones, drawn as figures. Nothing here touches a file. */
#ifndef FIRN_FLAT_H
#define FIRN_FLAT_H

#include "render/camera.h"
#include "render/layers.h"
#include "render/render.h"

/* The plane that is seen: positions along `across` go to the right, along `upward` up. */
typedef struct firn_flat_plane {
    int across, upward, normal; /* axes */
    double offset;              /* m along the normal */
    double thickness;           /* m: what is within half of it is drawn; 0: everything (2D) */
} firn_flat_plane;

/* The plane across an axis, with `up` (an axis) upwards where it can be. */
firn_flat_plane firn_flat_plane_across(int normal, int up, double offset, double thickness);

/* Which part of the plane is seen. */
typedef struct firn_flat_window {
    double across, upward; /* m, in the middle of the picture */
    double scale;          /* pixels per metre */
} firn_flat_window;

/* All of the bounds, with a margin (part of the picture that is left free). */
firn_flat_window firn_flat_frame(const firn_flat_plane *plane, const firn_bounds *bounds,
                                 double margin, int32_t width, int32_t height);

typedef struct firn_flat_input {
    const firn_points *points;
    const firn_points *grid; /* nodes with mass, v and force; NULL: none */
    const float *color;      /* linear r g b of every particle */
    const float *node_color; /* of every node; NULL: one for all */
    const firn_render_collider *collider;
    int32_t collider_count;
    firn_flat_plane plane;
    firn_flat_window window;
    firn_layer_extent extent;
    double radius; /* m, of particles without pscale */
    unsigned show; /* bit per firn_layer */
} firn_flat_input;

firn_status firn_flat_render(const firn_flat_input *input, int32_t width, int32_t height,
                             int32_t threads, firn_image *out, firn_error *error);

#endif
