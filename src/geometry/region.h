/* Regions inside the library: in memory of the caller's, from meshes and voxels that it keeps. */
#ifndef FIRN_SCENE_REGION_H
#define FIRN_SCENE_REGION_H

#include <stdbool.h>

#include <firn/geometry.h>

#include "geometry/binvox.h"
#include "geometry/mesh.h"
#include "geometry/placement.h"

/* Points to what it is made of, which must outlive it. Constant once made, so threads may share it. */
struct firn_region {
    int32_t dimension;
    const firn_mesh *mesh; /* one of these, or both NULL: the shape */
    const firn_voxels *voxels;
    firn_collider_def shape; /* its pose is not read */
    firn_affine affine;
    double own_low[3], own_high[3]; /* m, bounds before it is placed */
    double low[3], high[3];         /* m, bounds in the world */
    double volume;                  /* m^3; in 2D the area, m^2 */
    bool exact; /* whether firn_region_distance is the distance, not only a bound */
};

firn_status firn_region_of_shape(const firn_collider_def *shape, int32_t dimension,
                                 const firn_placement *placement, firn_region *out,
                                 firn_error *error);
firn_status firn_region_of_mesh(const firn_mesh *mesh, const firn_placement *placement,
                                firn_region *out, firn_error *error);
firn_status firn_region_of_voxels(const firn_voxels *voxels, const firn_placement *placement,
                                  firn_region *out, firn_error *error);

/* How deep a point is below the surface, m, cut off at +-limit: the distance where that is exact,
 * otherwise what its slope makes of it, which is right near the surface. */
double firn_region_depth(const firn_region *region, const double point[3], double limit);

#endif
