/* The table of looks, and views without a scene. */
#include <string.h>

#include <firn/scene.h>

#include "scene/view.h"

/* Numbers were chosen by eye, under the default light. */
const firn_look_row firn_looks[] = {
    {"jelly",
     "clear and coloured, smooth; every object has its own hue",
     {.name = "jelly",
      .color = {0.9, 0.1, 0.08},
      .tint = 1,
      .by_object = true,
      .clarity = 0.85,
      .depth = 0.25,
      .subsurface = 0.8,
      .gloss = 1,
      .roughness = 0.04,
      .index = 1.36,
      .smooth = 2.5}},
    {"snow",
     "white, crumbly, blue in the shade, glinting",
     {.name = "snow",
      .color = {0.73, 0.78, 0.86},
      .depth = 0.01,
      .subsurface = 0.35,
      .gloss = 0.1,
      .roughness = 0.7,
      .index = 1.31,
      .smooth = 0.6,
      .bump = 0.4,
      .powder = 6,
      .grain = 0.45,
      .glint = 1}},
    {"sand",
     "dry grains",
     {.name = "sand",
      .color = {0.5, 0.34, 0.19},
      .depth = 0.008,
      .subsurface = 0.1,
      .gloss = 0.1,
      .roughness = 0.7,
      .index = 1.5,
      .smooth = 0.6,
      .bump = 0.2,
      .powder = 4,
      .grain = 0.55,
      .glint = 0.15}},
    {"mud",
     "wet earth",
     {.name = "mud",
      .color = {0.16, 0.1, 0.06},
      .depth = 0.008,
      .subsurface = 0.1,
      .gloss = 0.5,
      .roughness = 0.35,
      .index = 1.4,
      .smooth = 1.2,
      .bump = 0.35,
      .grain = 0.3}},
    {"clay",
     "dull and even, shaped by hand",
     {.name = "clay",
      .color = {0.42, 0.22, 0.14},
      .by_object = true,
      .depth = 0.008,
      .subsurface = 0.2,
      .gloss = 0.25,
      .roughness = 0.65,
      .index = 1.45,
      .smooth = 1,
      .bump = 0.15,
      .grain = 0.2}},
    {"watermelon",
     "red and wet",
     {.name = "watermelon",
      .color = {0.62, 0.07, 0.06},
      .depth = 0.012,
      .subsurface = 0.35,
      .gloss = 0.6,
      .roughness = 0.35,
      .index = 1.34,
      .smooth = 0.5,
      .bump = 0.3,
      .grain = 0.2}},
    {"water",
     "clear",
     {.name = "water",
      .color = {0.35, 0.75, 0.85},
      .clarity = 1,
      .depth = 0.6,
      .subsurface = 0.5,
      .gloss = 1,
      .roughness = 0.02,
      .index = 1.33,
      .smooth = 2}},
    {"honey",
     "clear amber, thick",
     {.name = "honey",
      .color = {0.85, 0.42, 0.04},
      .clarity = 0.95,
      .depth = 0.12,
      .subsurface = 0.6,
      .gloss = 1,
      .roughness = 0.03,
      .index = 1.49,
      .smooth = 2.5}},
    {"toothpaste",
     "white, soft and smooth",
     {.name = "toothpaste",
      .color = {0.8, 0.9, 0.88},
      .depth = 0.02,
      .subsurface = 0.6,
      .gloss = 0.7,
      .roughness = 0.3,
      .index = 1.4,
      .smooth = 2}},
    {"steel",
     "grey metal",
     {.name = "steel",
      .color = {0.42, 0.42, 0.42},
      .by_object = true,
      .depth = 0.005,
      .gloss = 1,
      .roughness = 0.22,
      .metal = 1,
      .index = 3,
      .smooth = 2.5}},
    {"chocolate",
     "melted, glossy",
     {.name = "chocolate",
      .color = {0.16, 0.065, 0.03},
      .depth = 0.012,
      .subsurface = 0.3,
      .gloss = 1,
      .roughness = 0.18,
      .index = 1.46,
      .smooth = 2.5}},
    {"wax",
     "pale, lets light in",
     {.name = "wax",
      .color = {0.88, 0.62, 0.3},
      .depth = 0.07,
      .subsurface = 0.9,
      .gloss = 0.7,
      .roughness = 0.3,
      .index = 1.44,
      .smooth = 2}},
    {"butter",
     "pale yellow, soft",
     {.name = "butter",
      .color = {0.85, 0.66, 0.26},
      .depth = 0.04,
      .subsurface = 0.7,
      .gloss = 0.5,
      .roughness = 0.4,
      .index = 1.46,
      .smooth = 2}},
    {"ice",
     "clear, with a touch of blue",
     {.name = "ice",
      .color = {0.7, 0.86, 0.92},
      .clarity = 0.9,
      .depth = 0.5,
      .subsurface = 0.6,
      .gloss = 1,
      .roughness = 0.06,
      .index = 1.31,
      .smooth = 2}},
    {"glass",
     "clear, with a touch of green",
     {.name = "glass",
      .color = {0.55, 0.86, 0.74},
      .clarity = 1,
      .depth = 0.4,
      .subsurface = 0.5,
      .gloss = 1,
      .roughness = 0.02,
      .index = 1.5,
      .smooth = 3}},
    {"solder",
     "bright metal",
     {.name = "solder",
      .color = {0.5, 0.5, 0.49},
      .depth = 0.005,
      .gloss = 1,
      .roughness = 0.03,
      .metal = 1,
      .index = 4,
      .smooth = 3}},
    {"gelatine",
     "clear and red, smooth; pieces grow together",
     {.name = "gelatine",
      .color = {0.8, 0.04, 0.07},
      .clarity = 0.85,
      .depth = 0.25,
      .subsurface = 0.8,
      .gloss = 1,
      .roughness = 0.04,
      .index = 1.35,
      .smooth = 2.5}},
    {"lava",
     "black rock, rough; it glows where it is hot",
     {.name = "lava",
      .color = {0.05, 0.045, 0.042},
      .depth = 0.006,
      .gloss = 0.3,
      .roughness = 0.6,
      .index = 1.5,
      .smooth = 1.2,
      .bump = 0.2,
      .grain = 0.4}},
    {"rubber",
     "dull; every object has its own hue",
     {.name = "rubber",
      .color = {0.5, 0.12, 0.1},
      .tint = 1,
      .by_object = true,
      .depth = 0.01,
      .subsurface = 0.15,
      .gloss = 0.5,
      .roughness = 0.45,
      .index = 1.5,
      .smooth = 2.5}},
    {"plain",
     "grey and dull: shows the shape",
     {.name = "plain",
      .color = {0.6, 0.6, 0.6},
      .by_object = true,
      .depth = 0.01,
      .subsurface = 0.1,
      .gloss = 0.2,
      .roughness = 0.6,
      .index = 1.45,
      .smooth = 0.8}},
    {0},
};

const firn_look *firn_look_find(const char *name)
{
    for (const firn_look_row *row = firn_looks; row->name; row++) {
        if (strcmp(row->name, name) == 0) return &row->look;
    }
    return NULL;
}

const firn_look *firn_look_of(const firn_preset *preset)
{
    for (const firn_look_row *row = firn_looks; row->name; row++) {
        if (strstr(preset->name, row->name)) return &row->look;
    }
    const firn_law_info law = firn_law_get_info(preset->law);
    return firn_look_find(law.liquid ? "water" : law.melts ? "wax" : "plain");
}

/* The row of that number, or NULL. */
static const firn_look_row *row_at(int32_t index)
{
    for (const firn_look_row *row = firn_looks; row->name && index >= 0; row++) {
        if (index-- == 0) return row;
    }
    return NULL;
}

const char *firn_look_name(int32_t index)
{
    const firn_look_row *row = row_at(index);
    return row ? row->name : NULL;
}

const char *firn_look_help(int32_t index)
{
    const firn_look_row *row = row_at(index);
    return row ? row->help : NULL;
}

/* Defaults alone cannot be wrong. */
firn_view_camera firn_view_camera_default(void)
{
    firn_view_camera camera = {0};
    firn_error error;
    (void)firn_section_read(&firn_section_camera, NULL, &camera, &error);
    return camera;
}

firn_light firn_light_default(void)
{
    firn_light light = {0};
    firn_error error;
    (void)firn_section_read(&firn_section_light, NULL, &light, &error);
    return light;
}
