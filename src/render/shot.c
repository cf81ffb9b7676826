#include "render/shot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "scene/stage.h"

enum {
    GRID_LAYERS = 1 << FIRN_LAYER_GRID | 1 << FIRN_LAYER_GRID_VELOCITY | 1 << FIRN_LAYER_FORCE,
    FLAT_LAYERS = GRID_LAYERS | 1 << FIRN_LAYER_VELOCITY | 1 << FIRN_LAYER_SCALE,
    FLAT_DEFAULT = 1 << FIRN_LAYER_PARTICLES | 1 << FIRN_LAYER_COLLIDERS | 1 << FIRN_LAYER_SCALE |
                   1 << FIRN_LAYER_LEGEND | 1 << FIRN_LAYER_CAPTION,
    SOLID_DEFAULT = 1 << FIRN_LAYER_PARTICLES | 1 << FIRN_LAYER_COLLIDERS | 1 << FIRN_LAYER_LEGEND,
};

firn_shot_options firn_shot_options_default(void)
{
    return (firn_shot_options){.render = firn_render_options_default(), .map = -1};
}

firn_status firn_shot_begin(const firn_shot_options *options, firn_shot *shot, firn_error *error)
{
    *shot = (firn_shot){.options = *options, .bounds = firn_bounds_empty()};
    if (!options->color) return FIRN_OK;
    return firn_coloring_make(options->color, options->map, &shot->coloring, error);
}

/* ---- survey ---- */

/* Half the distance between neighbours, from a few particles; 0 where there are too few. */
static double guess_radius(const firn_points *points)
{
    enum { SAMPLES = 31 };
    const firn_column *P = firn_points_find(points, "P");
    double nearest[SAMPLES], total = 0;
    int found = 0;
    for (int s = 0; s < SAMPLES && points->count > 1; s++) {
        const int64_t i = points->count * s / SAMPLES;
        double least = INFINITY;
        for (int64_t j = 0; j < points->count; j++) {
            double d2 = 0;
            for (int a = 0; a < P->components; a++) {
                const double d = firn_type_get(P->type, P->data, i * P->components + a) -
                                 firn_type_get(P->type, P->data, j * P->components + a);
                d2 += d * d;
            }
            if (j != i && d2 > 0 && d2 < least) least = d2;
        }
        if (isfinite(least)) nearest[found++] = sqrt(least);
    }
    for (int s = 0; s < found; s++) total += nearest[s];
    return found ? 0.6 * total / found : 0; /* nearest ones are nearer than the mean spacing */
}

firn_status firn_shot_survey(firn_shot *shot, const firn_scene *scene, const firn_points *points,
                             const firn_points *grid, firn_error *error)
{
    const firn_column *P = firn_points_find(points, "P");
    if (!P || P->components < 2) {
        return firn_fail(error, FIRN_INVALID, "there are no positions: attribute P is missing");
    }
    shot->seen += points->count;
    firn_bounds_add(&shot->bounds, points);
    firn_flat_extend(&shot->extent, points, grid);
    if (shot->radius == 0 && scene) {
        shot->radius = scene->resolution * (scene->dimension == 2 ? 0.564 : 0.62);
    }
    if (shot->radius == 0) shot->radius = guess_radius(points);
    if (shot->options.color) {
        float *value = NULL;
        firn_status st = firn_coloring_values(&shot->coloring, points, &value, error);
        if (st != FIRN_OK) return st;
        firn_coloring_extend(&shot->coloring, value, points->count);
        free(value);
    }
    return FIRN_OK;
}

/* Colliders that stand near belong into the picture, but do not make the action small. */
static void add_colliders(firn_shot *shot, const firn_scene *scene)
{
    firn_bounds *b = &shot->bounds;
    const firn_bounds action = *b;
    double span = 0;
    for (int a = 0; a < 3; a++) span = fmax(span, action.high[a] - action.low[a]);
    for (int32_t i = 0; i < scene->collider_count; i++) {
        const firn_collider_def def =
            firn_stage_collider(&scene->collider[i], (int)scene->dimension);
        if (!scene->collider[i].visible || def.shape == FIRN_PLANE || def.shape == FIRN_INSIDE) {
            continue;
        }
        const double reach = sqrt(def.size[0] * def.size[0] + def.size[1] * def.size[1] +
                                  (def.shape == FIRN_BOX ? def.size[2] * def.size[2] : 0));
        for (int32_t k = 0; k < (def.key_count ? def.key_count : 1); k++) {
            const double *at = def.key_count ? def.keys[k].position : def.position;
            for (int a = 0; a < scene->dimension; a++) {
                const double most = 0.25 * span;
                b->low[a] = fmin(b->low[a], fmax(at[a] - reach, action.low[a] - most));
                b->high[a] = fmax(b->high[a], fmin(at[a] + reach, action.high[a] + most));
            }
        }
    }
}

firn_status firn_shot_settle(firn_shot *shot, const firn_scene *scene, firn_error *error)
{
    firn_shot_options *o = &shot->options;
    if (shot->seen == 0) return firn_fail(error, FIRN_INVALID, "there are no particles to show");
    const bool two = scene ? scene->dimension == 2 : shot->bounds.low[2] == shot->bounds.high[2];
    shot->flat = two || o->slice;
    if (two && o->slice) {
        return firn_fail(error, FIRN_INVALID, "a slice needs a 3D scene; this one is flat");
    }
    if (o->show == 0) o->show = shot->flat ? FLAT_DEFAULT : SOLID_DEFAULT;
    if (!shot->flat && (o->show & FLAT_LAYERS)) {
        return firn_fail(error, FIRN_INVALID,
                         "arrows, grid and scale bar are drawn on slices of 3D scenes: add --slice "
                         "z=0, say");
    }
    if ((o->show & GRID_LAYERS) && shot->extent.mass == 0) {
        return firn_fail(error, FIRN_INVALID,
                         "there is no grid to show; the scene's output needs an entry such as "
                         "{file: out/grid.$F4.prt, of: grid}");
    }
    if (scene && shot->bounds.low[0] <= shot->bounds.high[0]) add_colliders(shot, scene);
    if (o->color) {
        if (o->fixed) {
            shot->coloring.low = o->low;
            shot->coloring.high = o->high;
        } else {
            firn_coloring_settle(&shot->coloring);
        }
    }
    return FIRN_OK;
}

/* ---- pictures ---- */

/* Linear r g b of every particle, or NULL for the looks' own. */
static firn_status make_colors(const firn_shot *shot, const firn_points *points, float **out,
                               firn_error *error)
{
    *out = NULL;
    firn_coloring objects;
    const firn_coloring *coloring = &shot->coloring;
    if (!shot->options.color) {
        if (!shot->flat) return FIRN_OK;
        const char *by = firn_points_find(points, "object") ? "object" : "material";
        firn_status st = firn_coloring_make(by, -1, &objects, error);
        if (st != FIRN_OK) return st;
        coloring = &objects;
    }
    float *rgb = malloc(((size_t)points->count + 1) * 3 * sizeof *rgb), *value = NULL;
    if (!rgb) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    firn_status st = FIRN_OK;
    if (shot->options.color || firn_points_find(points, coloring->attribute)) {
        st = firn_coloring_values(coloring, points, &value, error);
    } else { /* nothing to tell particles apart by */
        value = calloc((size_t)points->count + 1, sizeof *value);
        if (!value) st = firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    }
    if (st == FIRN_OK) {
        firn_coloring_apply(coloring, value, points->count, rgb);
        *out = rgb;
    } else {
        free(rgb);
    }
    free(value);
    return st;
}

/* Visible colliders where they are at the frame's time. To be freed; NULL: no memory. */
static firn_render_collider *pose_colliders(const firn_shot_frame *frame, int32_t *count)
{
    const firn_scene *scene = frame->scene;
    *count = 0;
    firn_render_collider *out =
        calloc((size_t)(scene ? scene->collider_count : 0) + 1, sizeof *out);
    for (int32_t i = 0; out && scene && i < scene->collider_count; i++) {
        const firn_scene_collider *c = &scene->collider[i];
        if (!c->visible) continue;
        const firn_collider_def def = firn_stage_collider(c, (int)scene->dimension);
        const double time = (double)(frame->number - scene->frames.start) / scene->frames.fps;
        firn_render_collider *posed = &out[(*count)++];
        firn_collider_pose(&def, (int)scene->dimension, time, &posed->pose);
        memcpy(posed->color, c->color, sizeof posed->color);
    }
    return out;
}

static firn_status flat_picture(const firn_shot *shot, const firn_shot_frame *frame,
                                const float *color, const firn_render_collider *collider,
                                int32_t collider_count, firn_image *out, firn_error *error)
{
    const firn_shot_options *o = &shot->options;
    const firn_scene *scene = frame->scene;
    const int up = scene && scene->up == 1 && scene->dimension == 3 ? 2 : 1;
    const double thickness = scene ? scene->cell_size : 4 * shot->radius;
    firn_flat_input input = {.points = frame->points,
                             .grid = frame->grid,
                             .color = color,
                             .collider = collider,
                             .collider_count = collider_count,
                             .extent = shot->extent,
                             .radius = shot->radius,
                             .show = o->show};
    input.plane = o->slice ? firn_flat_plane_across(o->slice_axis, up, o->slice_offset, thickness)
                           : firn_flat_plane_across(2, 1, 0, 0);
    const firn_view_camera wish = scene ? scene->camera : firn_view_camera_default();
    input.window = firn_flat_frame(&input.plane, &shot->bounds, wish.margin, o->render.width,
                                   o->render.height);
    return firn_flat_render(&input, o->render.width, o->render.height, o->render.threads, out,
                            error);
}

static firn_status solid_picture(const firn_shot *shot, const firn_shot_frame *frame,
                                 const float *color, const firn_render_collider *collider,
                                 int32_t collider_count, firn_image *out, firn_error *error)
{
    const firn_scene *scene = frame->scene;
    const firn_view_camera wish = scene ? scene->camera : firn_view_camera_default();
    const firn_light light = scene ? scene->light : firn_light_default();
    firn_render_options how = shot->options.render;
    how.up = scene && scene->up == 1 ? 2 : 1;
    how.exposed = wish.shutter / (scene ? scene->frames.fps : 24);
    const firn_camera camera = firn_camera_frame(&wish, &shot->bounds, 1, how.up,
                                                 (double)how.width / how.height, frame->turn);
    const int32_t look_count = scene ? scene->material_count : 1;
    const firn_look **look = calloc((size_t)look_count, sizeof *look);
    if (!look) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    for (int32_t i = 0; i < look_count; i++) {
        look[i] = scene ? &scene->material[i].look : &firn_looks[0].look;
    }
    const bool colliders = shot->options.show >> FIRN_LAYER_COLLIDERS & 1;
    const firn_render_input input = {.points = frame->points,
                                     .look = look,
                                     .look_count = look_count,
                                     .camera = &camera,
                                     .light = &light,
                                     .collider = collider,
                                     .collider_count = colliders ? collider_count : 0,
                                     .color = color};
    firn_status st = firn_render(&input, &how, out, error);
    if (st == FIRN_OK) firn_image_tone_map(out, light.exposure);
    free(look);
    return st;
}

static void write_over(const firn_shot *shot, const firn_shot_frame *frame, firn_image *image)
{
    const firn_scene *scene = frame->scene;
    if (shot->options.color && (shot->options.show >> FIRN_LAYER_LEGEND & 1)) {
        const char *name[64] = {0};
        const bool objects = strcmp(shot->coloring.attribute, "object") == 0;
        const bool materials = strcmp(shot->coloring.attribute, "material") == 0;
        int32_t count = 0;
        for (; scene && objects && count < scene->object_count && count < 64; count++) {
            name[count] = scene->object[count].name;
        }
        for (; scene && materials && count < scene->material_count && count < 64; count++) {
            name[count] = scene->material[count].name;
        }
        firn_overlay_legend(image, &shot->coloring, name, count);
    }
    if (shot->options.show >> FIRN_LAYER_CAPTION & 1) {
        char text[100];
        int used = snprintf(text, sizeof text, "frame %lld", (long long)frame->number);
        if (scene) {
            const double time = (double)(frame->number - scene->frames.start) / scene->frames.fps;
            snprintf(text + used, sizeof text - (size_t)used, "   %.3f s", time);
        }
        firn_overlay_caption(image, text);
    }
}

firn_status firn_shot_picture(const firn_shot *shot, const firn_shot_frame *frame, firn_image *out,
                              firn_error *error)
{
    float *color = NULL;
    int32_t collider_count = 0;
    firn_render_collider *collider = pose_colliders(frame, &collider_count);
    firn_status st =
        collider ? FIRN_OK : firn_fail(error, FIRN_NO_MEMORY, "out of memory for colliders");
    if (st == FIRN_OK) st = make_colors(shot, frame->points, &color, error);
    if (st == FIRN_OK) {
        st = (shot->flat ? flat_picture : solid_picture)(shot, frame, color, collider,
                                                         collider_count, out, error);
    }
    if (st == FIRN_OK) write_over(shot, frame, out);
    free(color);
    free(collider);
    return st;
}
