/* Rays through the volume. Lengths are voxels; directions have unit length. */
#ifndef FIRN_RENDER_TRACE_H
#define FIRN_RENDER_TRACE_H

#include "render/volume.h"

typedef struct firn_ray {
    vec3 origin, direction;
} firn_ray;

/* Walks the blocks along a ray, in order, and over what is empty in strides. */
typedef struct firn_ray_walk {
    const firn_volume *volume;
    firn_ray ray;
    vec3 inverse;
    float next, end;
    const firn_tree_node *leaf; /* of the last level that was looked into, and where it is */
    int32_t leaf_at[3];
    int32_t block;
    float enter, leave; /* where the ray is in the block */
} firn_ray_walk;

firn_ray_walk firn_ray_walk_begin(const firn_volume *volume, firn_ray ray, float from, float to);
bool firn_ray_walk_next(firn_ray_walk *walk);

typedef struct firn_hit {
    float t;
    vec3 point, normal; /* outwards */
    int32_t layer;
    int32_t brick;     /* -1: a sphere */
    uint32_t particle; /* of the sphere */
} firn_hit;

/* The first surface between two distances; `hit` is filled where there is one. */
bool firn_trace_surface(const firn_volume *volume, firn_ray ray, float from, float to,
                        firn_hit *hit);

/* From inside a layer, the way to where it ends, or `to`. */
float firn_trace_inside(const firn_volume *volume, firn_ray ray, int32_t layer, float to);

/* What is left of light that comes along the ray, by samples `step` apart. `dither` in [0, 1) shifts
 * them. */
vec3 firn_trace_shadow(const firn_volume *volume, firn_ray ray, float to, float step, float dither);

/* Outward unit normal of a layer's surface at a point in a brick. */
vec3 firn_surface_normal(const firn_volume *volume, const firn_brick *brick, vec3 point);

/* The particle that is nearest, or UINT32_MAX. */
uint32_t firn_nearest_particle(const firn_volume *volume, const firn_brick *brick, vec3 point);

#endif
