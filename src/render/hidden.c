/* Whether colliders hide the particles from the camera. A few particles of a few frames are looked for, by the
 * rays that pictures are made of: what is see-through, cut away or behind the camera hides nothing. If most are
 * hidden, a camera that the scene leaves open finds another side. */
#include "render/hidden.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
enum { FRAMES = 6 };
static const double MOSTLY = 0.6; /* part that is hidden, from which on it matters */
static const double HARDLY = 0.3; /* good enough */

void firn_witnesses_free(firn_witnesses *w)
{
    free(w->witness);
    *w = (firn_witnesses){0};
}

firn_status firn_witnesses_add(firn_witnesses *w, const firn_scene *scene, int64_t frame,
                               const firn_points *points, firn_error *error)
{
    enum { EACH = 32 };
    const firn_column *P = firn_points_find(points, "P");
    const int64_t step = points->count / EACH + 1;
    for (int64_t i = step / 2; i < points->count; i += step) {
        firn_witness new = {.scene = scene, .frame = frame};
        if (w->count == w->room) {
            const int64_t room = w->room ? 2 * w->room : 256;
            firn_witness *grown = realloc(w->witness, (size_t)room * sizeof *grown);
            if (!grown) return firn_fail(error, FIRN_NO_MEMORY, "out of memory for the camera");
            w->witness = grown;
            w->room = room;
        }
        for (int a = 0; a < 3 && a < P->components; a++) {
            new.at[a] = firn_type_get(P->type, P->data, i * P->components + a);
        }
        w->witness[w->count++] = new;
    }
    return FIRN_OK;
}

/* What a camera sees, added up over frames. */
typedef struct count {
    int64_t all, hidden;
    int64_t *by; /* of the scene's colliders: how many each hides */
} count;

static firn_status look(const firn_renderer *renderer, const firn_scene *scene, int64_t frame,
                        const firn_camera *camera, int up, const firn_render_collider *collider,
                        int32_t collider_count, count *out, firn_error *error)
{
    const firn_render_input input = {.camera = camera,
                                     .collider = collider,
                                     .collider_count = collider_count,
                                     .spacing = renderer->radius / 0.62};
    const firn_witnesses *all = &renderer->witnesses;
    double(*point)[3] = malloc((size_t)all->count * sizeof *point);
    int32_t *by = malloc((size_t)all->count * sizeof *by);
    int64_t points = 0;
    firn_status st =
        point && by ? FIRN_OK : firn_fail(error, FIRN_NO_MEMORY, "out of memory for the camera");
    for (int64_t i = 0; st == FIRN_OK && i < all->count; i++) {
        const firn_witness *one = &all->witness[i];
        if (one->scene != scene || one->frame != frame) continue;
        memcpy(point[points++], one->at, sizeof one->at);
    }
    if (st == FIRN_OK) {
        st = firn_scenery_hides(&input, up, (const double(*)[3])point, points, by, error);
    }
    for (int64_t i = 0; st == FIRN_OK && i < points; i++) {
        out->all++;
        if (by[i] < 0) continue;
        out->hidden++;
        out->by[collider[by[i]].number]++;
    }
    free(point);
    free(by);
    return st;
}

/* The part that is hidden from each of some cameras; `by` is that of the first. */
static firn_status look_all(const firn_renderer *renderer, const firn_scene *scene, int up,
                            const firn_camera *camera, int32_t cameras, double *part, int64_t *by,
                            firn_error *error)
{
    const firn_witnesses *all = &renderer->witnesses;
    int64_t frame[FRAMES], frames = 0, distinct = 0;
    for (int64_t i = 0; i < all->count; i++) {
        if (all->witness[i].scene != scene) continue;
        if (i == 0 || all->witness[i].frame != all->witness[i - 1].frame) distinct++;
    }
    for (int64_t i = 0, number = 0; i < all->count && frames < FRAMES; i++) {
        if (all->witness[i].scene != scene) continue;
        if (i > 0 && all->witness[i].frame == all->witness[i - 1].frame) continue;
        if (number++ * FRAMES >= frames * distinct) frame[frames++] = all->witness[i].frame;
    }
    count *seen = calloc((size_t)cameras, sizeof *seen);
    int64_t *rest = calloc((size_t)scene->collider_count + 1, sizeof *rest);
    firn_status st =
        seen && rest ? FIRN_OK : firn_fail(error, FIRN_NO_MEMORY, "out of memory for the camera");
    for (int64_t f = 0; f < frames && st == FIRN_OK; f++) {
        const firn_renderer_frame of = {.scene = scene, .number = frame[f]};
        firn_render_collider *collider;
        firn_props props;
        int32_t colliders;
        st = firn_renderer_colliders(renderer, &of, &props, &collider, &colliders, error);
        for (int32_t c = 0; c < cameras && st == FIRN_OK; c++) {
            seen[c].by = c == 0 ? by : rest;
            st = look(renderer, scene, frame[f], &camera[c], up, collider, colliders, &seen[c],
                      error);
        }
        free(collider);
        firn_props_close(&props);
    }
    for (int32_t c = 0; c < cameras && st == FIRN_OK; c++) {
        part[c] = seen[c].all ? (double)seen[c].hidden / (double)seen[c].all : 0;
    }
    free(seen);
    free(rest);
    return st;
}

static void say(const firn_renderer *renderer, firn_log_level level, const char *text)
{
    const firn_log *log = &renderer->options.log;
    if (log->write) log->write(log->user_data, level, "warning", text);
}

/* The remedy, with the collider that hides most. */
static void warn(const firn_renderer *renderer, const firn_scene *scene, double part,
                 const int64_t *by)
{
    int32_t most = 0;
    char text[600], place[FIRN_LOCATION_SIZE], number[16];
    for (int32_t i = 1; i < scene->collider_count; i++) {
        if (by[i] > by[most]) most = i;
    }
    const firn_scene_collider *c = &scene->collider[most];
    snprintf(number, sizeof number, "%d", most);
    snprintf(text, sizeof text,
             "%s: colliders hide %.0f%% of the particles from the camera, most of them %s%.60s: "
             "let it be seen through (opacity: 0.3), cut it open (cut: {point: [0, 0, 0], "
             "normal: [0, 0, 1]}), hide it (visible: false) or move the camera",
             firn_value_location(c->where, place), 100 * part, c->name ? "" : "number ",
             c->name ? c->name : number);
    say(renderer, FIRN_LOG_WARNING, text);
}

firn_status firn_renderer_find_side(firn_renderer *renderer, const firn_scene *scene,
                                    firn_error *error)
{
    static const double elevations[] = {0, 25, 50}; /* above the first */
    enum { AROUND = 8, SIDES = 3 * AROUND };
    const firn_renderer_frame frame = {.scene = scene, .number = scene->frames.start};
    const firn_view_camera wish = firn_renderer_wish(renderer, scene, scene->frames.start);
    const double first = wish.elevation;
    firn_camera camera[SIDES];
    firn_view_camera side[SIDES];
    double part[SIDES];
    const int up = scene->up == 1 ? 2 : 1;
    const bool moves = wish.position_keys.count || wish.target_keys.count ||
                       wish.azimuth_keys.count || wish.elevation_keys.count;
    if (scene->collider_count == 0 || renderer->witnesses.count == 0 || moves) return FIRN_OK;
    int64_t *by = calloc((size_t)scene->collider_count, sizeof *by);
    if (!by) return firn_fail(error, FIRN_NO_MEMORY, "out of memory for the camera");
    camera[0] = firn_renderer_camera(renderer, &frame);
    firn_status st = look_all(renderer, scene, up, camera, 1, part, by, error);
    const firn_section *of = &firn_section_camera;
    const bool open = !firn_section_given(of, &wish, "position") &&
                      !firn_section_given(of, &wish, "azimuth") &&
                      !firn_section_given(of, &wish, "elevation");
    const double hidden = part[0];
    int best = 0;
    if (st == FIRN_OK && hidden > MOSTLY && open) {
        for (int i = 0; i < SIDES; i++) {
            side[i] = wish;
            side[i].azimuth = wish.azimuth + 360.0 / AROUND * (i % AROUND);
            side[i].elevation = first + elevations[i / AROUND];
            renderer->side = &side[i];
            camera[i] = firn_renderer_camera(renderer, &frame);
        }
        renderer->side = NULL;
        int64_t *ignored = calloc((size_t)scene->collider_count, sizeof *ignored);
        st = ignored ? look_all(renderer, scene, up, camera, SIDES, part, ignored, error)
                     : firn_fail(error, FIRN_NO_MEMORY, "out of memory for the camera");
        free(ignored);
        for (int i = 1; i < SIDES && st == FIRN_OK && part[best] > HARDLY; i++) {
            if (part[i] < part[best] - 0.1) best = i;
        }
    }
    if (st == FIRN_OK && best > 0) {
        char text[300];
        renderer->found_side = side[best];
        renderer->side = &renderer->found_side;
        snprintf(text, sizeof text,
                 "colliders hide %.0f%% of the particles from the usual side: camera: {azimuth: "
                 "%g, elevation: %g} is taken, which hides %.0f%%",
                 100 * hidden, side[best].azimuth, side[best].elevation, 100 * part[best]);
        say(renderer, FIRN_LOG_WARNING, text);
    }
    if (st == FIRN_OK && part[best] > MOSTLY) warn(renderer, scene, part[best], by);
    free(by);
    return st;
}
