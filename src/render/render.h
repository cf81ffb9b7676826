/* Particles to pictures. Nothing here touches a file.
 *
 * The picture depends on what is given and on the seed, not on the number of threads. */
#ifndef FIRN_RENDER_INTERNAL_H
#define FIRN_RENDER_INTERNAL_H

#include <firn/render.h>

#include "collider/collider.h"
#include "io/io.h"
#include "render/camera.h"
#include "render/image.h"
#include "scene/view.h"

firn_render_options firn_render_options_default(void); /* 1280x720, final */

/* A collider that is to be seen, where it is at the picture's time. */
typedef struct firn_render_collider {
    firn_posed_collider pose;
    double color[3];
    double opacity;           /* 1: solid, less: see-through */
    const firn_view_cut *cut; /* NULL: it is whole */
    int32_t number;           /* of the scene's colliders */
} firn_render_collider;

typedef struct firn_render_input {
    /* P is needed; v, id, pscale, mass, density, J, material, object and Cd serve where there are any. */
    const firn_points *points;
    const firn_look *look; /* by number of material; the last one serves for those beyond */
    int32_t look_count;
    const int32_t *object_look; /* by number of object, for points without material; or NULL */
    int32_t object_count;
    /* m between particles that have neither pscale nor mass and density, by number of object; of points
     * without object by look. 0 or NULL: to be guessed. */
    const double *object_spacing, *look_spacing;
    const firn_camera *camera;
    const firn_light *light;
    const firn_render_collider *collider;
    int32_t collider_count;
    int32_t
        hidden_count; /* of colliders behind those: they have sight, but are not in the picture */
    const float
        *color;     /* linear r g b of every particle instead of its look's and of Cd; or NULL */
    double spacing; /* m between particles, for a picture without any; 0: 1 m */
} firn_render_input;

/* What is seen through the middle of a pixel, for drawing over the picture. */
typedef struct firn_sight {
    float depth;      /* m along the view axis to the first surface; INFINITY: there is none */
    int32_t collider; /* the first that is not the ground, hidden ones too; -1: none */
    float collider_depth, normal[3]; /* of that collider: m, and where it faces the eye */
} firn_sight;

/* A new image, linear, not tone mapped. `sight` receives what is seen in every pixel; NULL: not wanted. */
firn_status firn_render_with_sight(const firn_render_input *input,
                                   const firn_render_options *options, firn_sight *sight,
                                   firn_image *out, firn_error *error);
/* The same without sight. */
firn_status firn_render(const firn_render_input *input, const firn_render_options *options,
                        firn_image *out, firn_error *error);

/* The collider that hides each point (m) from the camera, by its number among those given; -1: none. The
 * input needs no points. */
firn_status firn_scenery_hides(const firn_render_input *input, int up, const double (*point)[3],
                               int64_t count, int32_t *by, firn_error *error);

#endif
