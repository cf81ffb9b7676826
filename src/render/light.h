/* Light in and around the material: worked out once a picture on nodes two voxels apart, then looked up.
 *
 * A node knows the radiance that scatters inside the material, and the light that arrives from
 * all around with its direction to first order. The sun is left to rays of its own. */
#ifndef FIRN_RENDER_LIGHT_H
#define FIRN_RENDER_LIGHT_H

#include "render/trace.h"

/* Sky, sun and ground as lights. Radiances are such that a white dull surface that faces the sun has
 * radiance `sun`. */
typedef struct firn_sky {
    vec3 sun_direction, sun;
    float sun_spread; /* tangent of the disc's radius */
    vec3 zenith, horizon;
    float fill;
    bool has_ground;
    float ground_y; /* voxels */
    vec3 ground;    /* colour */
} firn_sky;

firn_sky firn_sky_of(const firn_light *light);

vec3 firn_sky_radiance(const firn_sky *sky, vec3 direction);
/* From below the horizon too: the ground as it looks from afar. */
vec3 firn_environment(const firn_sky *sky, vec3 direction);
/* What falls on an open surface that faces along n, over pi. */
vec3 firn_environment_on(const firn_sky *sky, vec3 normal);

typedef struct firn_light_node {
    vec3 inside;  /* radiance of scattered light, the same in all directions */
    vec3 mean;    /* of what arrives from around */
    vec3 turn[3]; /* mean of radiance times direction: x, y, z */
} firn_light_node;

typedef struct firn_light_map {
    const firn_volume *volume;
    const firn_sky *sky;
    int32_t count;                       /* lit blocks */
    int32_t *block;                      /* of the volume */
    int32_t *neighbour;                  /* NEIGHBOURS each, of lit blocks; -1 */
    vec3 *extinction;                    /* 64 cells each, 1/voxel */
    vec3 *block_extinction, *block_glow; /* means of each: extinction, and what it sends */
    firn_light_node *node;               /* 64 each: nodes at the low corners of cells */
    /* On the ground: what falls there from around, over pi, and what it sends up; see ground_place in
     * light.c. */
    vec3 *ground, *ground_radiance;
    float ground_center[2], ground_scale;
} firn_light_map;

/* `center` and `extent` (voxels) are where on the ground most detail is. */
firn_status firn_light_map_create(firn_volume *volume, const firn_sky *sky, firn_quality quality,
                                  vec3 center, float extent, int32_t threads, firn_light_map *out,
                                  firn_error *error);
void firn_light_map_free(firn_light_map *map);

/* At a point near material; false elsewhere. */
bool firn_light_at(const firn_light_map *map, vec3 point, firn_light_node *out);
/* The same of what scatters there alone. */
bool firn_light_inside(const firn_light_map *map, vec3 point, vec3 *out);
/* What falls on a surface that faces along n, over pi, without the sun. */
vec3 firn_light_on(const firn_light_node *node, vec3 normal);
/* The same on the ground. */
vec3 firn_light_on_ground(const firn_light_map *map, vec3 point);

/* Radiance that comes along a ray from far and near, sun excluded, by way of cells: for what is not
 * seen sharply. */
vec3 firn_light_along(const firn_light_map *map, firn_ray ray);

#endif
