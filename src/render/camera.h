/* Where a picture is seen from, and the framing that finds it. */
#ifndef FIRN_RENDER_CAMERA_H
#define FIRN_RENDER_CAMERA_H

#include "io/io.h"
#include "scene/view.h"

typedef struct firn_camera {
    double position[3], target[3]; /* m */
    double up[3];                  /* unit vector; the horizon is level across it */
    double field_of_view;          /* radians, vertical */
    double aperture, focus; /* m: diameter of the lens, 0 for none; distance of what is sharp */
} firn_camera;

/* A box around everything that is to be seen. */
typedef struct firn_bounds {
    double low[3], high[3]; /* m; low above high: nothing yet */
} firn_bounds;

firn_bounds firn_bounds_empty(void);
/* Takes in column P; positions that are not finite are passed over. Without P nothing happens. */
void firn_bounds_add(firn_bounds *bounds, const firn_points *points);
void firn_bounds_add_point(firn_bounds *bounds, const double point[3]);

/* The camera a scene asks for; what it leaves open is chosen so that all of the boxes (one a frame,
 * say) are in the picture and in its middle, from the side, from above and level. `up` is the axis, 1
 * or 2. `turn` (degrees, or NULL) walks around the target, for turntables: from everywhere on that
 * circle all is in the picture. */
firn_camera firn_camera_frame(const firn_view_camera *wish, const firn_bounds *bounds,
                              int64_t count, int up, double aspect, const double *turn);

/* Pixel position (x right, y down, from the top left corner) and distance along the view axis (m) of a
 * point. Points behind the camera have a distance below 0. */
void firn_camera_project(const firn_camera *camera, int32_t width, int32_t height,
                         const double point[3], double pixel[2], double *depth);

#endif
