/* What all pictures of a sequence share: camera, colours, arrows; and the drawing of each. */
#include "render/renderer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "render/cloud.h"
#include "render/hidden.h"
#include "render/marks.h"
#include "run/job.h"

enum {
    GRID_LAYERS = 1 << FIRN_LAYER_GRID | 1 << FIRN_LAYER_GRID_VELOCITY | 1 << FIRN_LAYER_FORCE |
                  1 << FIRN_LAYER_BLOCKS | 1 << FIRN_LAYER_CELLS,
    ARROW_LAYERS = 1 << FIRN_LAYER_VELOCITY | 1 << FIRN_LAYER_GRID_VELOCITY | 1 << FIRN_LAYER_FORCE,
    MARK_LAYERS = GRID_LAYERS | ARROW_LAYERS | 1 << FIRN_LAYER_SCALE | 1 << FIRN_LAYER_OUTLINES,
    FLAT_DEFAULT = 1 << FIRN_LAYER_PARTICLES | 1 << FIRN_LAYER_COLLIDERS | 1 << FIRN_LAYER_SCALE |
                   1 << FIRN_LAYER_LEGEND | 1 << FIRN_LAYER_CAPTION,
    SOLID_DEFAULT = 1 << FIRN_LAYER_PARTICLES | 1 << FIRN_LAYER_COLLIDERS | 1 << FIRN_LAYER_LEGEND,
};

firn_renderer_options firn_renderer_options_default(void)
{
    return (firn_renderer_options){.render = firn_render_options_default(), .map = -1};
}

static firn_status check_options(const firn_renderer_options *o, firn_error *error)
{
    const firn_render_options *r = &o->render;
    const struct {
        const char *name;
        double value, least, most;
    } checks[] = {
        {"width", r->width, 1, FIRN_IMAGE_MOST},
        {"height", r->height, 1, FIRN_IMAGE_MOST},
        {"samples", r->samples, 0, FIRN_SAMPLES_MOST},
        {"quality", r->quality, FIRN_DRAFT, FIRN_FINAL},
        {"mode", r->mode, FIRN_RENDER_VOLUME, FIRN_RENDER_POINTS},
        {"threads", r->threads, 0, 4096},
        {"up", r->up, 1, 2},
        {"exposed", r->exposed, 0, 1e6},
        {"map", o->map, -1, FIRN_COLORMAP_COUNT - 1},
        {"slice_axis", o->slice_axis, 0, 2},
    };
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        if (checks[i].value >= checks[i].least && checks[i].value <= checks[i].most) continue;
        return firn_fail(error, FIRN_INVALID, "%s %g must be from %g to %g", checks[i].name,
                         checks[i].value, checks[i].least, checks[i].most);
    }
    if (o->fixed && !(o->low < o->high)) {
        return firn_fail(error, FIRN_INVALID, "low %g must be below high %g", o->low, o->high);
    }
    if (o->grid_fixed && !(o->grid_low < o->grid_high)) {
        return firn_fail(error, FIRN_INVALID, "grid_low %g must be below grid_high %g", o->grid_low,
                         o->grid_high);
    }
    return FIRN_OK;
}

firn_status firn_renderer_init(firn_renderer *renderer, const firn_renderer_options *options,
                               firn_error *error)
{
    const firn_status st = check_options(options, error);
    *renderer = (firn_renderer){0};
    if (st != FIRN_OK) return st;
    *renderer = (firn_renderer){.options = *options, .bounds = firn_bounds_empty()};
    const char *nodes = options->grid_color ? options->grid_color : "mass";
    const firn_status made = firn_coloring_make(nodes, -1, &renderer->grid_coloring, error);
    if (made != FIRN_OK || !options->color) return made;
    return firn_coloring_make(options->color, options->map, &renderer->coloring, error);
}

void firn_renderer_deinit(firn_renderer *renderer)
{
    free(renderer->box);
    firn_witnesses_free(&renderer->witnesses);
    *renderer = (firn_renderer){0};
}

firn_status firn_renderer_create(const firn_renderer_options *options, firn_renderer **out,
                                 firn_error *error)
{
    FIRN_REQUIRE(out, error);
    *out = NULL;
    FIRN_REQUIRE(options, error);
    firn_renderer *renderer = malloc(sizeof *renderer);
    if (!renderer) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    const firn_status st = firn_renderer_init(renderer, options, error);
    if (st == FIRN_OK) {
        *out = renderer;
    } else {
        firn_renderer_destroy(renderer);
    }
    return st;
}

void firn_renderer_destroy(firn_renderer *renderer)
{
    if (!renderer) return;
    firn_renderer_deinit(renderer);
    free(renderer);
}

bool firn_renderer_has_caption(const firn_renderer *renderer)
{
    return renderer->options.show >> FIRN_LAYER_CAPTION & 1;
}

bool firn_renderer_shows_grid(const firn_renderer *renderer)
{
    return renderer->options.show & GRID_LAYERS;
}

/* Whether nodes are coloured by a number. */
static bool colors_nodes(const firn_renderer *renderer)
{
    return (renderer->options.show >> FIRN_LAYER_GRID & 1) &&
           (renderer->options.grid_color || !renderer->flat);
}

/* ---- survey ---- */

/* A particle's radius as a part of the distance to its neighbours. */
static double radius_part(bool flat) { return flat ? 0.564 : 0.62; }

/* The radius of particles without a scene, guessed anew when there are many more. */
static void guess_radius(firn_renderer *renderer, const firn_points *points)
{
    const firn_column *P = firn_points_find(points, "P");
    if (points->count < 2 * renderer->guessed || points->count < 2) return;
    renderer->radius = radius_part(P->components < 3) * firn_cloud_guess_spacing(points);
    renderer->guessed = points->count;
}

static firn_status add_box(firn_renderer *renderer, firn_bounds box, firn_error *error)
{
    if (renderer->box_count == renderer->box_room) {
        const int64_t room = renderer->box_room ? 2 * renderer->box_room : 64;
        firn_bounds *grown = realloc(renderer->box, (size_t)room * sizeof *grown);
        if (!grown) return firn_fail(error, FIRN_NO_MEMORY, "out of memory for the camera");
        renderer->box = grown;
        renderer->box_room = room;
    }
    renderer->box[renderer->box_count++] = box;
    return FIRN_OK;
}

enum { PARTS = 4 }; /* boxes along each side of a frame's particles: a round heap is not a cube */

/* Takes in all that is seen of a frame's particles: their size, and where they are while the shutter is
 * open. */
static firn_status add_particles(firn_renderer *renderer, const firn_scene *scene,
                                 const firn_points *points, firn_error *error)
{
    const firn_column *P = firn_points_find(points, "P"), *v = firn_points_find(points, "v");
    const firn_column *pscale = firn_points_find(points, "pscale");
    const double exposed = scene ? scene->camera.shutter / scene->frames.fps : 0;
    firn_bounds all = firn_bounds_empty(), part[PARTS * PARTS * PARTS];
    firn_bounds_add(&all, points);
    for (int i = 0; i < PARTS * PARTS * PARTS; i++) part[i] = firn_bounds_empty();
    for (int64_t i = 0; i < points->count; i++) {
        double low[3] = {0}, high[3] = {0}, radius = renderer->radius;
        int at = 0;
        if (pscale) radius = fmin(firn_type_get(pscale->type, pscale->data, i), 3 * radius);
        for (int a = 0; a < P->components && a < 3; a++) {
            const double x = firn_type_get(P->type, P->data, i * P->components + a);
            const bool moves = exposed > 0 && v && a < v->components;
            const double way =
                moves ? 0.5 * exposed * firn_type_get(v->type, v->data, i * v->components + a) : 0;
            low[a] = x - fabs(way) - radius;
            high[a] = x + fabs(way) + radius;
            const double place = PARTS * (x - all.low[a]) / (all.high[a] - all.low[a]);
            at = PARTS * at + (int)fmax(fmin(place, PARTS - 1), 0);
        }
        firn_bounds_add_point(&part[at], low);
        firn_bounds_add_point(&part[at], high);
    }
    firn_status st = FIRN_OK;
    for (int i = 0; i < PARTS * PARTS * PARTS && st == FIRN_OK; i++) {
        if (part[i].low[0] <= part[i].high[0]) st = add_box(renderer, part[i], error);
    }
    return st;
}

/* Boxes of nodes, from one on, reach to the faces of the grid's blocks. */
static void widen_to_blocks(firn_renderer *renderer, int64_t first, double spacing)
{
    const double size = FIRN_GRID_BLOCK * spacing;
    for (int64_t i = first; i < renderer->box_count && size > 0; i++) {
        firn_bounds *box = &renderer->box[i];
        for (int a = 0; a < 3; a++) {
            if (box->low[a] == 0 && box->high[a] == 0) continue; /* flat */
            box->low[a] = size * floor((box->low[a] + renderer->radius) / size);
            box->high[a] = size * (floor((box->high[a] - renderer->radius) / size) + 1);
        }
    }
}

/* Boxes of nodes, from one on, reach to the far sides of the cells above them. */
static void widen_to_cells(firn_renderer *renderer, int64_t first, double spacing)
{
    for (int64_t i = first; i < renderer->box_count; i++) {
        firn_bounds *box = &renderer->box[i];
        for (int a = 0; a < 3; a++) {
            if (box->low[a] != 0 || box->high[a] != 0) box->high[a] += spacing; /* not flat */
        }
    }
}

/* Takes in the values of points for the range of a colouring. */
static firn_status add_values(firn_coloring *coloring, const firn_points *points, firn_error *error)
{
    float *value = NULL;
    const firn_status st = firn_coloring_values(coloring, points, &value, error);
    if (st == FIRN_OK) firn_coloring_extend(coloring, value, points->count);
    free(value);
    return st;
}

firn_status firn_renderer_survey(firn_renderer *renderer, const firn_renderer_frame *frame,
                                 firn_error *error)
{
    FIRN_REQUIRE(frame->points, error);
    const firn_scene *scene = frame->scene;
    const firn_points *points = frame->points, *grid = frame->grid;
    const firn_column *P = firn_points_find(points, "P");
    if (!P || P->components < 2) {
        return firn_fail(error, FIRN_INVALID, "there are no positions: attribute P is missing");
    }
    renderer->seen += points->count;
    renderer->anonymous |= points->count > 0 && !firn_points_find(points, "material") &&
                           !firn_points_find(points, "object");
    firn_bounds_add(&renderer->bounds, points);
    const bool shows_grid = grid && firn_renderer_shows_grid(renderer);
    if (shows_grid) firn_bounds_add(&renderer->bounds, grid);
    firn_layer_extend(&renderer->extent, points, grid);
    if (!scene) guess_radius(renderer, points);
    if (renderer->radius == 0 && scene) {
        renderer->radius = scene->resolution * radius_part(scene->dimension == 2);
    }
    firn_status st = add_particles(renderer, scene, points, error);
    if (st == FIRN_OK && scene && scene->dimension == 3) {
        st = firn_witnesses_add(&renderer->witnesses, scene, frame->number, points, error);
    }
    /* Flat pictures frame the bounds, which have the nodes already. */
    const bool blocks = renderer->options.show >> FIRN_LAYER_BLOCKS & 1;
    const bool cells = renderer->options.show >> FIRN_LAYER_CELLS & 1;
    const bool flat = renderer->options.slice || (scene && scene->dimension == 2);
    if (st == FIRN_OK && shows_grid && (blocks || cells || !flat) && firn_points_find(grid, "P")) {
        const int64_t first = renderer->box_count;
        st = add_particles(renderer, NULL, grid, error);
        if (cells) widen_to_cells(renderer, first, firn_grid_spacing(grid));
        if (blocks) widen_to_blocks(renderer, first, firn_grid_spacing(grid));
    }
    if (st == FIRN_OK && renderer->options.color) {
        st = add_values(&renderer->coloring, points, error);
    }
    if (st == FIRN_OK && shows_grid && renderer->options.show >> FIRN_LAYER_GRID & 1) {
        st = add_values(&renderer->grid_coloring, grid, error);
    }
    return st;
}

static double time_of(const firn_scene *scene, int64_t number)
{
    return (double)(number - scene->frames.start) / scene->frames.fps;
}

static firn_posed_collider pose_of(const firn_props *props, int32_t collider, double time)
{
    const firn_collider_def def = firn_props_collider(props, collider);
    firn_posed_collider pose;
    firn_collider_pose(&def, (int)props->scene->dimension, time, &pose);
    return pose;
}

/* Whether a point of a collider is to be seen: near the action, and not inside of another one. */
static bool is_seen(const firn_props *props, int32_t collider, double time, const double point[3],
                    const firn_bounds *room)
{
    const firn_scene *scene = props->scene;
    for (int a = 0; a < scene->dimension; a++) {
        if (point[a] < room->low[a] || point[a] > room->high[a]) return false;
    }
    for (int32_t i = 0; i < scene->collider_count; i++) {
        double normal[3];
        if (i == collider || !scene->collider[i].visible || props->collider[i].hidden) continue;
        const firn_posed_collider other = pose_of(props, i, time);
        if (firn_collider_distance(&other, (int)scene->dimension, point, normal) < 0) return false;
    }
    return true;
}

/* Takes in the points of a collider that are nearest to ones `far` away all around: its outermost. */
static firn_status add_collider(firn_renderer *renderer, const firn_props *props, int32_t collider,
                                double time, double far, const firn_bounds *room, firn_error *error)
{
    enum { POINTS = 96 };
    const firn_posed_collider pose = pose_of(props, collider, time);
    const int dimension = (int)props->scene->dimension;
    for (int i = 0; i < POINTS; i++) {
        const double up = 1 - (2 * i + 1) / (double)POINTS, turn = 2.39996323 * i; /* evenly */
        const double flat = sqrt(1 - up * up), way[3] = {flat * cos(turn), up, flat * sin(turn)};
        double point[3] = {0}, normal[3];
        for (int a = 0; a < dimension; a++) point[a] = pose.position[a] + far * way[a];
        const double distance = firn_collider_distance(&pose, dimension, point, normal);
        for (int a = 0; a < dimension; a++) point[a] -= distance * normal[a];
        if (!is_seen(props, collider, time, point, room)) continue;
        firn_bounds box = firn_bounds_empty();
        firn_bounds_add_point(&box, point);
        const firn_status st = add_box(renderer, box, error);
        if (st != FIRN_OK) return st;
    }
    return FIRN_OK;
}

/* Colliders that stand near belong into the picture, but do not make the action small. */
static firn_status add_colliders(firn_renderer *renderer, const firn_scene *scene,
                                 firn_error *error)
{
    firn_bounds room = renderer->bounds;
    double span = 0;
    for (int a = 0; a < 3; a++) span = fmax(span, room.high[a] - room.low[a]);
    for (int a = 0; a < 3; a++) {
        room.low[a] -= 0.25 * span;
        room.high[a] += 0.25 * span;
    }
    firn_props props;
    firn_status st = firn_props_open(&props, scene, 0, renderer->options.render.threads, error);
    for (int32_t i = 0; i < scene->collider_count && st == FIRN_OK; i++) {
        const firn_collider_def def = firn_props_collider(&props, i);
        double low[3], high[3], far = 0;
        if (!scene->collider[i].visible || props.collider[i].hidden ||
            !firn_shape_bounds(&def, (int32_t)scene->dimension, low, high)) {
            continue;
        }
        for (int a = 0; a < 3; a++) far += 1e3 * fmax(-low[a], high[a]);
        /* Spin and groups, unlike keys, do not say when: evenly over the run, fewer of many. */
        const double length = time_of(scene, scene->frames.end);
        const int32_t evenly = def.key_count == 0 && firn_scene_moves(&scene->collider[i])
                                   ? (int32_t)fmin(24, 2000.0 / scene->collider_count)
                                   : 0;
        for (int32_t k = 1; k <= evenly && st == FIRN_OK; k++) {
            st = add_collider(renderer, &props, i, length * k / evenly, far, &room, error);
        }
        enum { BETWEEN = 4, MOST = 512 }; /* poses from key to key, which may turn; in all */
        const int32_t poses = def.key_count ? BETWEEN * (def.key_count - 1) : 0;
        for (int32_t k = 0; k <= poses && k <= MOST && st == FIRN_OK; k++) {
            const firn_pose_key *key = def.key_count ? &def.keys[k / BETWEEN] : NULL;
            double time = key ? key->time : 0;
            if (k % BETWEEN) time += (key[1].time - key->time) * (k % BETWEEN) / BETWEEN;
            if (poses > MOST) { /* close together: those of an expression */
                const double first = def.keys[0].time, last = def.keys[def.key_count - 1].time;
                time = first + (last - first) * k / MOST;
            }
            st = add_collider(renderer, &props, i, time, far, &room, error);
        }
    }
    firn_props_close(&props);
    return st;
}

/* Says it where one look stands for several: nobody would know otherwise. */
static void warn_of_looks(const firn_renderer *renderer, const firn_scene *scene)
{
    const firn_log *log = &renderer->options.log;
    char text[400];
    if (!log->write || !renderer->anonymous || renderer->flat || renderer->options.color) return;
    for (int32_t i = 1; scene && i < scene->material_count; i++) {
        const firn_look *one = &scene->material[0].look, *other = &scene->material[i].look;
        if (strcmp(one->name, other->name) == 0 &&
            memcmp(one->color, other->color, sizeof one->color) == 0) {
            continue;
        }
        snprintf(text, sizeof text,
                 "the files have neither material nor object: all particles look like material "
                 "%.100s; write one of the two, as attributes: [P, v, id, material]",
                 scene->material[0].name);
        log->write(log->user_data, FIRN_LOG_WARNING, "warning", text);
        return;
    }
}

/* Keys of the camera that others make useless. */
static void warn_of_camera(const firn_renderer *renderer, const firn_scene *scene)
{
    static const char *const of_space[] = {"position", "target", "azimuth", "elevation"},
                             *const framing[] = {"azimuth", "elevation", "margin"};
    const firn_log *log = &renderer->options.log;
    const bool two = scene && scene->dimension == 2;
    const bool placed =
        scene && firn_section_given(&firn_section_camera, &scene->camera, "position");
    if (!log->write || !scene || (!two && (renderer->flat || !placed))) return;
    for (int i = 0; i < (two ? 4 : 3); i++) {
        const char *key = two ? of_space[i] : framing[i];
        char text[FIRN_LOCATION_SIZE + 200], place[FIRN_LOCATION_SIZE];
        if (!firn_section_given(&firn_section_camera, &scene->camera, key)) continue;
        const firn_value *at = firn_value_get(scene->camera_value, key);
        snprintf(text, sizeof text, "%s: %s has no effect: %s", firn_value_location(at, place), key,
                 two ? "pictures of 2D scenes show all of the action"
                     : "the camera has a position");
        log->write(log->user_data, FIRN_LOG_WARNING, "warning", text);
    }
}

firn_status firn_renderer_settle(firn_renderer *renderer, const firn_scene *scene,
                                 firn_error *error)
{
    firn_renderer_options *o = &renderer->options;
    if (renderer->seen == 0)
        return firn_fail(error, FIRN_INVALID, "there are no particles to show");
    const bool two =
        scene ? scene->dimension == 2 : renderer->bounds.low[2] == renderer->bounds.high[2];
    renderer->flat = two || o->slice;
    if (two && o->slice) {
        return firn_fail(error, FIRN_INVALID, "a slice needs a 3D scene; this one is flat");
    }
    if (renderer->flat && o->render.transparent) {
        return firn_fail(error, FIRN_INVALID, "flat pictures are opaque and have no alpha");
    }
    if (o->show == 0) o->show = renderer->flat ? FLAT_DEFAULT : SOLID_DEFAULT;
    if ((o->show & GRID_LAYERS) && renderer->extent.mass == 0) {
        return firn_fail(error, FIRN_INVALID,
                         "there is no grid to show; the scene's output needs an entry such as "
                         "{file: out/grid.$F4.prt, of: grid}");
    }
    if ((o->show >> FIRN_LAYER_CELLS & 1) && !renderer->extent.cells) {
        return firn_fail(error, FIRN_INVALID,
                         "there are no cells to show: the grid's files lack the attribute "
                         "cell_class, which only scenes with pressure: projection have");
    }
    if (scene && renderer->bounds.low[0] <= renderer->bounds.high[0]) {
        firn_status st = add_colliders(renderer, scene, error);
        if (st != FIRN_OK) return st;
    }
    for (int64_t i = 0; i < renderer->box_count; i++) {
        firn_bounds_add_point(&renderer->bounds, renderer->box[i].low);
        firn_bounds_add_point(&renderer->bounds, renderer->box[i].high);
    }
    if (o->color) {
        if (o->fixed) {
            renderer->coloring.low = o->low;
            renderer->coloring.high = o->high;
        } else {
            firn_coloring_settle(&renderer->coloring);
        }
    }
    if (o->grid_fixed) {
        renderer->grid_coloring.low = o->grid_low;
        renderer->grid_coloring.high = o->grid_high;
    } else {
        firn_coloring_settle(&renderer->grid_coloring);
    }
    warn_of_looks(renderer, scene);
    warn_of_camera(renderer, scene);
    const unsigned both = 1 << FIRN_LAYER_PARTICLES | 1 << FIRN_LAYER_COLLIDERS;
    if (!scene || renderer->flat || (o->show & both) != both) return FIRN_OK;
    return firn_renderer_find_side(renderer, scene, error);
}

/* ---- pictures ---- */

/* Linear r g b of every particle, or NULL for the looks' own. */
static firn_status make_colors(const firn_renderer *renderer, const firn_points *points,
                               float **out, firn_error *error)
{
    *out = NULL;
    firn_coloring objects;
    const firn_coloring *coloring = &renderer->coloring;
    if (!renderer->options.color) {
        if (!renderer->flat) return FIRN_OK;
        const char *by = firn_points_find(points, "object") ? "object" : "material";
        firn_status st = firn_coloring_make(by, -1, &objects, error);
        if (st != FIRN_OK) return st;
        coloring = &objects;
    }
    float *rgb = malloc(((size_t)points->count + 1) * 3 * sizeof *rgb), *value = NULL;
    if (!rgb) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    firn_status st = FIRN_OK;
    if (renderer->options.color || firn_points_find(points, coloring->attribute)) {
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

/* Linear r g b of every node, or NULL. */
static firn_status make_node_colors(const firn_renderer *renderer, const firn_points *grid,
                                    float **out, firn_error *error)
{
    *out = NULL;
    if (!grid || !colors_nodes(renderer)) return FIRN_OK;
    float *value = NULL, *rgb = malloc(((size_t)grid->count + 1) * 3 * sizeof *rgb);
    firn_status st = rgb ? firn_coloring_values(&renderer->grid_coloring, grid, &value, error)
                         : firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    if (st == FIRN_OK) {
        firn_coloring_apply(&renderer->grid_coloring, value, grid->count, rgb);
        *out = rgb;
    } else {
        free(rgb);
    }
    free(value);
    return st;
}

firn_status firn_renderer_colliders(const firn_renderer *renderer, const firn_renderer_frame *frame,
                                    firn_props *props, firn_render_collider **out, int32_t *count,
                                    firn_error *error)
{
    const firn_scene *scene = frame->scene;
    *props = (firn_props){0};
    *count = 0;
    *out = calloc((size_t)(scene ? scene->collider_count : 0) + 1, sizeof **out);
    if (!*out) return firn_fail(error, FIRN_NO_MEMORY, "out of memory for colliders");
    if (!scene) return FIRN_OK;
    const double time = time_of(scene, frame->number);
    const firn_status st =
        firn_props_open(props, scene, time, renderer->options.render.threads, error);
    for (int32_t i = 0; i < scene->collider_count && st == FIRN_OK; i++) {
        if (!scene->collider[i].visible || props->collider[i].hidden) continue;
        if (time >= scene->collider[i].def.until) continue;
        firn_render_collider *posed = &(*out)[(*count)++];
        posed->pose = pose_of(props, i, time);
        memcpy(posed->color, scene->collider[i].color, sizeof posed->color);
        posed->number = i;
        posed->opacity = scene->collider[i].opacity;
        posed->cut = scene->collider[i].cut_value ? &scene->collider[i].cut : NULL;
    }
    return st;
}

static int up_of(const firn_scene *scene)
{
    return scene && scene->up == 1 && scene->dimension == 3 ? 2 : 1;
}

firn_view_camera firn_renderer_wish(const firn_renderer *renderer, const firn_scene *scene,
                                    int64_t number)
{
    firn_view_camera wish = scene ? scene->camera : firn_view_camera_default();
    if (scene) firn_section_sample(&firn_section_camera, &wish, time_of(scene, number));
    if (renderer->side) {
        wish.azimuth = renderer->side->azimuth;
        wish.elevation = renderer->side->elevation;
    }
    return wish;
}

firn_flat_window firn_renderer_window(const firn_renderer *renderer,
                                      const firn_renderer_frame *frame, firn_flat_plane *plane)
{
    const firn_renderer_options *o = &renderer->options;
    const double thickness = frame->scene ? frame->scene->cell_size : 4 * renderer->radius;
    *plane = o->slice ? firn_flat_plane_across(o->slice_axis, up_of(frame->scene), o->slice_offset,
                                               thickness)
                      : firn_flat_plane_across(2, 1, 0, 0);
    /* What is written above and below does not cover the action, where there is room for both. */
    const double letter = firn_overlay_letter(o->render.height);
    const bool caption = o->show >> FIRN_LAYER_CAPTION & 1, scale = o->show >> FIRN_LAYER_SCALE & 1;
    const bool legend = (o->color || colors_nodes(renderer)) && o->show >> FIRN_LAYER_LEGEND & 1;
    const bool cells = o->show >> FIRN_LAYER_CELLS & o->show >> FIRN_LAYER_LEGEND & 1;
    const double most = 0.25 * o->render.height, above = fmin(caption ? 3 * letter : 0, most),
                 below = fmin(cells    ? 10 * letter
                              : legend ? 8 * letter
                              : scale  ? 4 * letter
                                       : 0,
                              most);
    /* Arrows need the margin, and more where it is narrow. */
    const double margin = firn_renderer_wish(renderer, frame->scene, frame->number).margin;
    const double reach = o->show & ARROW_LAYERS ? firn_layer_arrow_reach(o->render.height) : 0;
    const double across = 2 * fmax(reach - 0.5 * margin * o->render.width, 0) / (1 - margin),
                 upward = 2 * fmax(reach - 0.5 * margin * o->render.height, 0) / (1 - margin);
    firn_flat_window window =
        firn_flat_frame(plane, &renderer->bounds, margin, o->render.width - (int32_t)across,
                        o->render.height - (int32_t)(above + below + upward));
    window.upward += 0.5 * (above - below) / window.scale;
    return window;
}

firn_camera firn_renderer_camera(const firn_renderer *renderer, const firn_renderer_frame *frame)
{
    const firn_render_options *o = &renderer->options.render;
    const firn_view_camera wish = firn_renderer_wish(renderer, frame->scene, frame->number);
    const double still = 0; /* one that goes round stays as far away as a turntable does */
    const double *turn = wish.azimuth_keys.count && !frame->turn ? &still : frame->turn;
    return firn_camera_frame(&wish, renderer->box, renderer->box_count, up_of(frame->scene),
                             (double)o->width / o->height, turn);
}

/* What both kinds of pictures are drawn from. */
typedef struct ingredients {
    float *color, *node_color; /* linear r g b of every particle and node; or NULL */
    firn_render_collider *collider;
    int32_t collider_count;
} ingredients;

static firn_status flat_picture(const firn_renderer *renderer, const firn_renderer_frame *frame,
                                const ingredients *from, firn_image *out, firn_error *error)
{
    const firn_renderer_options *o = &renderer->options;
    firn_flat_input input = {.points = frame->points,
                             .grid = frame->grid,
                             .color = from->color,
                             .node_color = from->node_color,
                             .collider = from->collider,
                             .collider_count = from->collider_count,
                             .extent = renderer->extent,
                             .radius = renderer->radius,
                             .show = o->show};
    input.window = firn_renderer_window(renderer, frame, &input.plane);
    return firn_flat_render(&input, o->render.width, o->render.height, o->render.threads, out,
                            error);
}

/* Numbers are to be read off: every body dull, under light without colour. */
static void make_legible(firn_look *look, firn_light *light)
{
    look->clarity = look->subsurface = look->grain = look->glint = 0;
    look->gloss = 0.2;
    look->roughness = 0.6;
    for (int a = 0; a < 3; a++) {
        light->sun[a] = 0.75;
        light->zenith[a] = light->horizon[a] = 0.4;
    }
    light->size = 5;
}

/* The layers that lie over a picture in perspective. */
static firn_status draw_marks(const firn_renderer *renderer, const firn_renderer_frame *frame,
                              const ingredients *from, const firn_camera *camera,
                              const firn_sight *sight, firn_image *out, firn_error *error)
{
    const double guess = frame->grid ? firn_grid_spacing(frame->grid) : 4 * renderer->radius;
    const firn_marks_input marks = {.points = frame->points,
                                    .grid = frame->grid,
                                    .node_color = from->node_color,
                                    .camera = camera,
                                    .sight = sight,
                                    .extent = renderer->extent,
                                    .cell = frame->scene ? frame->scene->cell_size : guess,
                                    .show = renderer->options.show};
    return firn_marks_draw(&marks, out, error);
}

/* m between the particles of an object at rest; 0: it fills by count or voxels, or its file may say. */
static double spacing_of(const firn_scene *scene, const firn_scene_object *o)
{
    const firn_section *of = &firn_section_object;
    if (firn_section_given(of, o, "separation")) return o->separation;
    const bool other = o->particles || firn_section_given(of, o, "count") ||
                       (o->voxels && firn_section_given(of, o, "per_voxel"));
    return other ? 0 : scene->resolution;
}

static firn_status solid_picture(const firn_renderer *renderer, const firn_renderer_frame *frame,
                                 const ingredients *from, firn_image *out, firn_error *error)
{
    const firn_scene *scene = frame->scene;
    firn_light light = scene ? scene->light : firn_light_default();
    if (scene) firn_section_sample(&firn_section_light, &light, time_of(scene, frame->number));
    firn_render_options how = renderer->options.render;
    how.up = up_of(scene);
    how.exposed = firn_renderer_wish(renderer, scene, frame->number).shutter /
                  (scene ? scene->frames.fps : 24);
    const firn_camera camera = firn_renderer_camera(renderer, frame);
    const int32_t look_count = scene ? scene->material_count : 1;
    const int32_t object_count = scene ? scene->object_count : 0;
    firn_look *look = calloc((size_t)look_count, sizeof *look);
    int32_t *object_look = calloc((size_t)object_count + 1, sizeof *object_look);
    double *spacing = calloc((size_t)(object_count + look_count), sizeof *spacing);
    if (!look || !object_look || !spacing) {
        free(look);
        free(object_look);
        free(spacing);
        return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    }
    double *look_spacing = spacing + object_count;
    for (int32_t i = 0; i < look_count; i++) {
        look[i] = scene ? scene->material[i].look : firn_looks[0].look;
        if (from->color) make_legible(&look[i], &light);
        if (!scene) look_spacing[i] = renderer->radius / 0.62;
    }
    for (int32_t i = object_count - 1; i >= 0; i--) { /* a material's first object speaks for it */
        object_look[i] = scene->object[i].material_index;
        spacing[i] = look_spacing[object_look[i]] = spacing_of(scene, &scene->object[i]);
    }
    const unsigned show = renderer->options.show;
    const bool colliders = show >> FIRN_LAYER_COLLIDERS & 1;
    firn_points points = *frame->points;
    if (!(show >> FIRN_LAYER_PARTICLES & 1)) points.count = 0;
    firn_sight *sight = NULL;
    if (show & MARK_LAYERS) {
        sight = malloc((size_t)how.width * (size_t)how.height * sizeof *sight);
        if (!sight) {
            free(look);
            free(object_look);
            free(spacing);
            return firn_fail(error, FIRN_NO_MEMORY, "out of memory for a picture");
        }
    }
    const firn_render_input input = {.points = &points,
                                     .look = look,
                                     .look_count = look_count,
                                     .object_look = object_look,
                                     .object_count = object_count,
                                     .object_spacing = spacing,
                                     .look_spacing = look_spacing,
                                     .camera = &camera,
                                     .light = &light,
                                     .collider = from->collider,
                                     .collider_count = colliders ? from->collider_count : 0,
                                     .hidden_count = colliders ? 0 : from->collider_count,
                                     .color = from->color,
                                     .spacing = renderer->radius / 0.62};
    firn_status st = firn_render_with_sight(&input, &how, sight, out, error);
    if (st == FIRN_OK && !renderer->options.linear) firn_image_tone_map(out, light.exposure);
    if (st == FIRN_OK && sight) {
        st = draw_marks(renderer, frame, from, &camera, sight, out, error);
        if (st != FIRN_OK) firn_image_free(out);
    }
    free(sight);
    free(look);
    free(object_look);
    free(spacing);
    return st;
}

/* The corner with the least of the action, over all frames: a legend stays where it is. */
static firn_corner free_corner(const firn_renderer *renderer, const firn_renderer_frame *frame)
{
    const firn_render_options *o = &renderer->options.render;
    const firn_renderer_frame unturned = {.scene = frame->scene, .number = frame->number};
    const firn_camera camera = firn_renderer_camera(renderer, &unturned);
    const bool caption = renderer->options.show >> FIRN_LAYER_CAPTION & 1;
    const bool scale = renderer->options.show >> FIRN_LAYER_SCALE & 1;
    double covered[FIRN_CORNERS] = {0};
    for (int64_t i = 0; i < renderer->box_count; i++) {
        double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
        for (int k = 0; k < 8; k++) {
            double point[3], pixel[2], depth;
            for (int a = 0; a < 3; a++)
                point[a] = (k >> a & 1 ? renderer->box[i].high : renderer->box[i].low)[a];
            firn_camera_project(&camera, o->width, o->height, point, pixel, &depth);
            for (int a = 0; a < 2 && depth > 0; a++) {
                low[a] = fmin(low[a], pixel[a]);
                high[a] = fmax(high[a], pixel[a]);
            }
        }
        for (int c = 0; c < FIRN_CORNERS; c++) {
            const firn_segment room = firn_overlay_corner((firn_corner)c, o->width, o->height);
            const double across = fmin(high[0], room.x1) - fmax(low[0], room.x0),
                         down = fmin(high[1], room.y1) - fmax(low[1], room.y0);
            if (across > 0 && down > 0) covered[c] += across * down;
        }
    }
    firn_corner best = FIRN_LOWER_RIGHT;
    for (int c = 0; c < FIRN_CORNERS; c++) {
        const bool taken = (caption && c == FIRN_UPPER_LEFT) || (scale && c == FIRN_LOWER_LEFT);
        if (!taken && covered[c] < covered[best]) best = (firn_corner)c;
    }
    return best;
}

static void write_over(const firn_renderer *renderer, const firn_renderer_frame *frame,
                       firn_image *image)
{
    const firn_scene *scene = frame->scene;
    const bool legend = renderer->options.show >> FIRN_LAYER_LEGEND & 1;
    const bool nodes = legend && frame->grid && colors_nodes(renderer);
    const bool cells = legend && frame->grid && renderer->options.show >> FIRN_LAYER_CELLS & 1;
    double taken = 0; /* of the corner */
    const firn_corner corner = renderer->flat ? FIRN_LOWER_RIGHT : free_corner(renderer, frame);
    if (nodes) {
        firn_coloring named = renderer->grid_coloring;
        snprintf(named.attribute, sizeof named.attribute, "grid %.40s",
                 renderer->grid_coloring.attribute);
        taken += firn_overlay_legend(image, corner, taken, &named, NULL, 0);
    }
    if (renderer->options.color && legend) {
        const char *name[64] = {0};
        const bool objects = strcmp(renderer->coloring.attribute, "object") == 0;
        const bool materials = strcmp(renderer->coloring.attribute, "material") == 0;
        int32_t count = 0;
        for (; scene && objects && count < scene->object_count && count < 64; count++) {
            name[count] = scene->object[count].name;
        }
        for (; scene && materials && count < scene->material_count && count < 64; count++) {
            name[count] = scene->material[count].name;
        }
        taken += firn_overlay_legend(image, corner, taken, &renderer->coloring, name, count);
    }
    if (cells) {
        const char *const name[] = {"empty", "interior", "collider"};
        firn_coloring coloring;
        firn_cell_coloring(&coloring);
        firn_overlay_legend(image, corner, taken, &coloring, name, 3);
    }
    if (renderer->options.show >> FIRN_LAYER_CAPTION & 1) {
        char text[100];
        int used = snprintf(text, sizeof text, "frame %lld", (long long)frame->number);
        if (scene) {
            const double time = time_of(scene, frame->number);
            snprintf(text + used, sizeof text - (size_t)used, "   %.3f s", time);
        }
        firn_overlay_caption(image, text);
    }
}

firn_status firn_renderer_draw(const firn_renderer *renderer, const firn_renderer_frame *frame,
                               firn_image *out, firn_error *error)
{
    ingredients from = {0};
    firn_props props;
    firn_status st = firn_renderer_colliders(renderer, frame, &props, &from.collider,
                                             &from.collider_count, error);
    if (st == FIRN_OK) st = make_colors(renderer, frame->points, &from.color, error);
    if (st == FIRN_OK) st = make_node_colors(renderer, frame->grid, &from.node_color, error);
    if (st == FIRN_OK) {
        st = (renderer->flat ? flat_picture : solid_picture)(renderer, frame, &from, out, error);
    }
    if (st == FIRN_OK) write_over(renderer, frame, out);
    free(from.color);
    free(from.node_color);
    free(from.collider);
    firn_props_close(&props);
    return st;
}
