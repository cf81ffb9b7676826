/* Nodes, arrows, blocks and outlines over a picture in perspective. */
#ifndef FIRN_MARKS_H
#define FIRN_MARKS_H

#include "render/layers.h"
#include "render/render.h"

typedef struct firn_marks_input {
    const firn_points *points;
    const firn_points *grid; /* nodes with mass, v and force; NULL: none */
    const float *node_color; /* linear r g b of every node; NULL: one for all */
    const firn_camera *camera;
    const firn_sight *sight; /* of every pixel */
    firn_layer_extent extent;
    double cell;   /* m between nodes */
    unsigned show; /* bit per firn_layer */
} firn_marks_input;

firn_status firn_marks_draw(const firn_marks_input *input, firn_image *image, firn_error *error);

#endif
