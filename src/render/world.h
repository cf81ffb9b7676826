/* Everything a ray can meet, in voxels and y up, and what it then looks like. */
#ifndef FIRN_RENDER_WORLD_H
#define FIRN_RENDER_WORLD_H

#include "render/light.h"

/* A collider that is drawn. */
typedef struct firn_scenery {
    const firn_posed_collider *pose;
    vec3 color;
    bool plane, convex;
    bool joined;              /* surfaces of parts may be in the same place, where there is none */
    bool clear;               /* what is behind it is seen: a room, or one with an opacity */
    float opacity;            /* part of it that is seen */
    const firn_view_cut *cut; /* NULL: it is whole */
    bool room;             /* the inside of a box, seen from outside: like glass, see scenery.c */
    const firn_mesh *mesh; /* a solid that rays are traced to; NULL: found by distance */
    vec3 center, normal;   /* of a plane: a point on it and where it faces; else the middle */
    float radius;          /* of a ball around it */
} firn_scenery;

typedef struct firn_scenery_tree firn_scenery_tree;

typedef struct firn_render_world {
    firn_cloud cloud;
    firn_volume volume;
    firn_sky sky;
    firn_light_map light;
    firn_render_mode mode;
    int32_t up;
    firn_scenery *scenery;
    int32_t scenery_count;
    firn_scenery_tree *tree;  /* NULL: they are few */
    bool has_room, has_clear; /* some are rooms; some others are seen through */
    /* The camera. */
    vec3 eye, right, upward, back;
    float half_height, pixel; /* of the picture at distance 1; edge of a pixel there */
    float lens, focus;        /* radius, distance; voxels */
    float distance;           /* of the target */
    float ground_line;        /* voxels from line to line on the ground */
    float shadow_step;        /* voxels between samples towards the sun */
    bool transparent;
} firn_render_world;

/* ---- scenery.c ---- */

/* A point of the world (m) in the picture's frame. */
vec3 firn_render_world_point(const firn_render_world *world, const double point[3]);
firn_status firn_scenery_create(firn_render_world *world, const firn_render_input *input,
                                firn_error *error);
void firn_scenery_free(firn_render_world *world);
/* The first collider along a ray before `to`, or -1. `clear`: see-through ones, too. */
int32_t firn_scenery_trace(const firn_render_world *world, firn_ray ray, float to, bool clear,
                           float *t, vec3 *normal);
/* Part of the sun that comes along a ray. Rooms let it through. */
float firn_scenery_light(const firn_render_world *world, firn_ray ray);
/* Part that is seen of a collider where a ray meets it: of a room all of its floor, little of its sides. */
float firn_scenery_solid(const firn_scenery *scenery, vec3 normal, vec3 direction);
/* Part of a pixel that edges of rooms cover, before `to`. */
float firn_scenery_edges(const firn_render_world *world, firn_ray ray, float to, float spread);
/* Part of the sky that colliders leave open above a surface, 0 to 1. `self`: not asked. */
float firn_scenery_open(const firn_render_world *world, vec3 point, vec3 normal, int32_t self);

/* ---- scenery_tree.c ---- */

/* Colliders to ask, in the order of the world's. */
enum { FIRN_SCENERY_MOST = 256 };
typedef struct firn_scenery_list {
    bool whole; /* all of them */
    int32_t count, item[FIRN_SCENERY_MOST];
} firn_scenery_list;
static inline int32_t scenery_item(const firn_scenery_list *list, int32_t i)
{
    return list->whole ? i : list->item[i];
}

firn_status firn_scenery_tree_create(const firn_scenery *scenery, int32_t count,
                                     firn_scenery_tree **out, firn_error *error);
void firn_scenery_tree_destroy(firn_scenery_tree *tree); /* NULL is fine */
/* All that a ray may meet before `to`, all that may be within reach of a point, and all rooms and planes. */
void firn_scenery_along(const firn_render_world *world, firn_ray ray, float to,
                        firn_scenery_list *list);
void firn_scenery_around(const firn_render_world *world, vec3 point, float reach,
                         firn_scenery_list *list);

/* ---- detail.c ---- */

/* The normal at a hit with grains on it. `footprint` is a pixel's width there; *seed receives the
 * particle the detail is anchored to most. */
vec3 firn_detail_normal(const firn_render_world *world, const firn_hit *hit, float amount,
                        float footprint, uint32_t *seed);
/* The colour at a hit: the layer's, or that of the particles around. */
vec3 firn_detail_color(const firn_render_world *world, const firn_hit *hit);
/* Part that is liquid, temperature (K) and 0 at a hit, of the particles around; 0 where it is not known. */
vec3 firn_detail_heat(const firn_render_world *world, const firn_hit *hit);
/* How bright facets of that particle are when seen along the half vector: 0 to 1. */
float firn_detail_glint(const firn_render_world *world, const firn_hit *hit, uint32_t particle,
                        vec3 normal, vec3 half, float footprint);

/* ---- shade.c ---- */

typedef struct firn_sample {
    vec3 color; /* premultiplied */
    float alpha, distance;
    vec3 velocity; /* voxels/s of what was hit */
} firn_sample;

/* Random numbers of one sample: where on the sun, evenly spread over a pixel's samples, and a state for
 * all else. */
typedef struct firn_dice {
    float sun[2];
    uint32_t state;
} firn_dice;

/* What the camera sees along a ray. */
firn_sample firn_shade(const firn_render_world *world, firn_ray ray, firn_dice *dice);

#endif
