#include "live.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

enum {
    COARSER = 3,   /* at most: a 27th of the particles, a third of the steps */
    ENOUGH = 20000 /* particles: with fewer, thin parts are lost and the action goes another way */
};

/* The same scene, coarser and without files. */
static firn_status read_coarse(const firn_live_def *def, double coarser, firn_scene *out,
                               firn_error *error)
{
    firn_tree tree = {0};
    char text[3][64];
    snprintf(text[0], sizeof text[0], "resolution=%.17g", coarser * def->scene->resolution);
    snprintf(text[1], sizeof text[1], "output=[]");
    const bool cells =
        firn_section_given(&firn_section_simulation, &def->scene->simulation, "cell_size");
    snprintf(text[2], sizeof text[2], "simulation.cell_size=%.17g",
             coarser * def->scene->cell_size);
    firn_status st = firn_tree_open(&tree, def->path, def->sets->text, def->sets->count, error);
    for (int i = 0; i < 2 + cells && st == FIRN_OK; i++)
        st = firn_tree_set(&tree, "rehearsal", text[i], error);
    if (st == FIRN_OK) st = firn_scene_read(out, &tree, error);
    firn_tree_free(&tree);
    return st;
}

static firn_status look_at(firn_live *live, const firn_scene *scene, const firn_stage *stage,
                           firn_error *error)
{
    firn_points points = {0}, grid = {0};
    firn_status st = firn_stage_points(stage, NULL, INT64_MAX, &points, error);
    if (st == FIRN_OK) st = firn_stage_grid(stage, NULL, &grid, error);
    if (st == FIRN_OK) st = firn_shot_survey(&live->shot, scene, &points, &grid, error);
    firn_points_free(&points);
    firn_points_free(&grid);
    return st;
}

/* How many times the resolution to rehearse with. */
static firn_status choose_coarser(const firn_live_def *def, double *out, firn_error *error)
{
    const firn_scene *scene = def->scene;
    const double length = (double)(def->run->last - scene->frames.start) / scene->frames.fps;
    const firn_stage_options options = {.threads = def->run->threads, .isa = def->run->isa};
    firn_stage stage = {0};
    firn_status st = firn_stage_create(&stage, scene, &options, error);
    if (st == FIRN_OK) st = firn_stage_fill(&stage, error);
    if (st == FIRN_OK) {
        const double part = (double)firn_stage_count_at(&stage, length) / ENOUGH;
        *out = fmax(fmin(pow(part, 1.0 / (double)scene->dimension), COARSER), 1);
    }
    firn_stage_free(&stage);
    return st;
}

/* Plays a scene up to a frame and looks at it from frame `first` on. */
static firn_status watch(firn_live *live, const firn_live_def *def, const firn_scene *scene,
                         int64_t first, int64_t last, const firn_run_hooks *hooks,
                         firn_error *error)
{
    firn_stage stage = {0};
    const firn_stage_options options = {.threads = def->run->threads, .isa = def->run->isa};
    firn_status st = firn_stage_create(&stage, scene, &options, error);
    if (st == FIRN_OK) st = firn_stage_fill(&stage, error);
    const int64_t start = scene->frames.start;
    firn_report ignored;
    for (int64_t f = start; f <= last && st == FIRN_OK; f++) {
        if (hooks->stop && hooks->stop(hooks->user_data)) break; /* the run will notice, too */
        const double target = (double)(f - start) / scene->frames.fps;
        if (f > start) st = firn_stage_advance(&stage, target, &ignored, error);
        if (st == FIRN_OK && f >= first) st = look_at(live, def->scene, &stage, error);
    }
    firn_stage_free(&stage);
    return st;
}

/* What is too thin or too fast for a coarse scene must not keep the run from going: the camera then
 * makes do with what was seen, at least with how the scene begins. */
static firn_status rehearse(firn_live *live, const firn_live_def *def, const firn_run_hooks *hooks,
                            firn_error *error)
{
    firn_scene coarse = {0};
    firn_error why = {0};
    double coarser = COARSER;
    firn_status st = choose_coarser(def, &coarser, error);
    if (st != FIRN_OK) return st;
    if (hooks->note) {
        hooks->note(hooks->user_data,
                    coarser > 1 ? "rehearsing for the camera"
                                : "rehearsing for the camera, which takes as long as the motion; "
                                  "a camera with position and target needs none");
    }
    st = read_coarse(def, coarser, &coarse, &why);
    if (st == FIRN_OK) st = watch(live, def, &coarse, def->run->first, def->run->last, hooks, &why);
    firn_scene_free(&coarse);
    if (st != FIRN_INVALID && st != FIRN_DIVERGED) {
        if (st != FIRN_OK) *error = why;
        return st;
    }
    if (hooks->note) {
        hooks->note(hooks->user_data,
                    "the rehearsal at a coarser resolution failed: the camera is set "
                    "by what was seen until then; firn render frames the caches");
    }
    const int64_t start = def->scene->frames.start;
    return live->shot.box_count ? FIRN_OK
                                : watch(live, def, def->scene, start, start, hooks, error);
}

/* Room for what a coarse scene does not reach. */
static void loosen(firn_shot *shot)
{
    for (int a = 0; a < 3; a++) {
        const double more = 0.03 * (shot->bounds.high[a] - shot->bounds.low[a]);
        for (int64_t i = 0; i < shot->box_count; i++) {
            shot->box[i].low[a] -= more;
            shot->box[i].high[a] += more;
        }
    }
}

/* Whether nothing about the pictures depends on what will happen. */
static bool is_placed(const firn_scene *scene, const firn_shot_options *options)
{
    for (int32_t i = 0; i < scene->object_count; i++) {
        if (scene->object[i].emits) return false;
    }
    return scene->dimension == 3 && !options->slice && !options->color &&
           firn_section_given(&firn_section_camera, &scene->camera, "position") &&
           firn_section_given(&firn_section_camera, &scene->camera, "target");
}

firn_status firn_live_begin(firn_live *live, const firn_live_def *def, const firn_run_hooks *hooks,
                            firn_error *error)
{
    *live = (firn_live){.first = def->run->first};
    firn_shot_options options;
    firn_film_def film;
    firn_status st = firn_picture_read(def->words, &options, &film, error);
    options.render.threads = def->run->threads;
    film.width = options.render.width;
    film.height = options.render.height;
    film.count = def->run->last - def->run->first + 1;
    film.fps = def->scene->frames.playback;
    if (st == FIRN_OK && def->outs->count > FIRN_FILM_MOST) {
        st = firn_fail(error, FIRN_INVALID, "more than %d of --render", FIRN_FILM_MOST);
    }
    for (int i = 0; st == FIRN_OK && i < def->outs->count; i++) {
        film.path[film.path_count++] = def->outs->text[i];
    }
    if (st == FIRN_OK) st = firn_film_check(&film, error);
    options.linear = firn_film_is_linear(&film);
    if (st == FIRN_OK) st = firn_shot_begin(&options, &live->shot, error);
    const int64_t start = def->scene->frames.start;
    if (st == FIRN_OK && is_placed(def->scene, &options)) {
        st = watch(live, def, def->scene, start, start, hooks, error);
    }
    if (st == FIRN_OK && live->shot.seen == 0) st = rehearse(live, def, hooks, error);
    if (st == FIRN_OK) {
        if (def->scene->dimension == 3) loosen(&live->shot);
        st = firn_shot_settle(&live->shot, def->scene, error);
        film.numbered = !(live->shot.options.show >> FIRN_LAYER_CAPTION & 1);
    }
    return st == FIRN_OK ? firn_film_open(&live->film, &film, error) : st;
}

static firn_status make_picture(void *look_data, const firn_stage *stage, int64_t frame,
                                firn_error *error)
{
    firn_live *live = look_data;
    if (!firn_film_wants(&live->film, frame - live->first)) return FIRN_OK;
    firn_points points = {0}, grid = {0};
    firn_image picture = {0};
    firn_status st = firn_stage_points(stage, NULL, INT64_MAX, &points, error);
    if (st == FIRN_OK && live->shot.flat) st = firn_stage_grid(stage, NULL, &grid, error);
    const firn_shot_frame shown = {.scene = stage->scene,
                                   .points = &points,
                                   .grid = live->shot.flat ? &grid : NULL,
                                   .number = frame};
    if (st == FIRN_OK) st = firn_shot_picture(&live->shot, &shown, &picture, error);
    if (st == FIRN_OK) st = firn_film_add(&live->film, frame - live->first, frame, &picture, error);
    firn_image_free(&picture);
    firn_points_free(&points);
    firn_points_free(&grid);
    return st;
}

void firn_live_attach(firn_live *live, firn_run_hooks *hooks)
{
    hooks->look = make_picture;
    hooks->look_data = live;
}

firn_status firn_live_end(firn_live *live, firn_status run, firn_error *error)
{
    firn_shot_free(&live->shot);
    if (run == FIRN_OK) return firn_film_close(&live->film, error);
    firn_film_discard(&live->film);
    return run;
}
