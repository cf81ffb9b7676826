/* How a scene wants to be seen: looks of materials, camera, light. Filled by the rows of sections.c;
 * without a scene file the default functions and the table of looks serve.
 *
 * Colours are linear light, red green blue, 1 is white. */
#ifndef FIRN_SCENE_VIEW_H
#define FIRN_SCENE_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include <firn/material.h>

#include "scene/param.h"

/* What a material looks like. One kind of surface with many settings: opaque and crumbly at one end,
 * clear and smooth at the other. */
typedef struct firn_look {
    firn_given given;
    const char *name;  /* of the row it began as */
    double color[3];   /* under white light; of clear material: what is left after `depth` */
    double tint;       /* 0 to 1: how far objects differ in hue */
    bool by_object;    /* objects are bodies of their own; false: they grow together */
    double clarity;    /* 0 opaque to 1 like water */
    double depth;      /* how deep light goes, as a part of the picture's height at the target */
    double subsurface; /* 0 to 1: part of the light that comes out elsewhere */
    double gloss;      /* 0 to 1: strength of the reflecting skin */
    double roughness;  /* 0 mirror to 1 dull */
    double metal;      /* 0 to 1: reflects its colour and lets no light in */
    double index;      /* of refraction */
    double smooth;     /* particle spacings over which the surface is smoothed */
    double bump;       /* 0 to 1: unevenness from particle to particle */
    int64_t powder;    /* grains that a particle is drawn as which is alone */
    double grain;      /* 0 to 1: grains finer than particles */
    double glint;      /* 0 to 1: sparkling grains */
} firn_look;

typedef struct firn_look_row {
    const char *name, *help;
    firn_look look;
} firn_look_row;
extern const firn_look_row firn_looks[];           /* ends with one without a name */
const firn_look *firn_look_find(const char *name); /* NULL: there is none */
/* That of a preset: the one its name speaks of, water of other liquids, else plain. */
const firn_look *firn_look_of(const firn_preset *preset);

typedef struct firn_view_camera {
    firn_given given;
    double position[3], target[3]; /* m; not given: found by framing */
    double azimuth, elevation;     /* degrees, where framing looks from */
    double field_of_view;          /* degrees, vertical */
    double margin;                 /* part of the picture that framing leaves free */
    double aperture;               /* m, diameter of the lens; 0: all is sharp */
    double focus;                  /* m, distance of what is sharp; 0: the target's */
    double shutter;                /* part of a frame that is exposed; 0: no motion blur */
    /* In place of those: */
    firn_track position_keys, target_keys, azimuth_keys, elevation_keys, field_of_view_keys,
        aperture_keys, focus_keys;
} firn_view_camera;

/* What pictures leave out of a collider: all on the side of a plane that its normal points to. */
typedef struct firn_view_cut {
    firn_given given;
    double point[3], normal[3]; /* m; of length 1 once read */
} firn_view_cut;

typedef struct firn_light {
    firn_given given;
    double azimuth, elevation;    /* degrees, of the sun; azimuth as the camera's */
    double sun[3];                /* colour and strength */
    double size;                  /* degrees, diameter of the sun: softness of shadows */
    double zenith[3], horizon[3]; /* colours of the sky */
    double fill;                  /* strength of the sky */
    double exposure;              /* stops */
    /* In place of those: */
    firn_track azimuth_keys, elevation_keys, sun_keys, size_keys, zenith_keys, horizon_keys,
        fill_keys, exposure_keys;
} firn_light;

extern const firn_section firn_section_look, firn_section_cut, firn_section_camera,
    firn_section_light;
firn_view_camera firn_view_camera_default(void);
firn_light firn_light_default(void);

#endif
