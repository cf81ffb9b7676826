/* Whether the camera sees the particles, or colliders in front of them. */
#ifndef FIRN_HIDDEN_H
#define FIRN_HIDDEN_H

#include "render/renderer.h"

void firn_witnesses_free(firn_witnesses *witnesses);
/* Takes a few particles of a frame. */
firn_status firn_witnesses_add(firn_witnesses *witnesses, const firn_scene *scene, int64_t frame,
                               const firn_points *points, firn_error *error);

/* Where most are hidden: turns a camera that the scene leaves open, or warns. Once boxes are known. */
firn_status firn_renderer_find_side(firn_renderer *renderer, const firn_scene *scene,
                                    firn_error *error);

#endif
