/* Pictures while a run is under way. The camera is set by a coarse copy of the scene that runs first. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "render/pictures.h"
#include "render/renderer.h"
#include "run/job.h"

enum {
    COARSER = 3,   /* at most: a 27th of the particles, a third of the steps */
    ENOUGH = 20000 /* particles: with fewer, thin parts are lost and the action goes another way */
};

struct firn_preview {
    firn_renderer renderer;
    firn_pictures *pictures;
    int64_t first;
};

/* The same scene, coarser and without files. */
static firn_status read_coarse(const firn_preview_def *def, double coarser, firn_scene **out,
                               firn_error *error)
{
    firn_scene_def source = *def->source;
    char text[3][64];
    snprintf(text[0], sizeof text[0], "resolution=%.17g", coarser * def->scene->resolution);
    snprintf(text[1], sizeof text[1], "output=[]");
    snprintf(text[2], sizeof text[2], "simulation.cell_size=%.17g",
             coarser * def->scene->cell_size);
    const bool cells =
        firn_section_given(&firn_section_simulation, &def->scene->simulation, "cell_size");
    const int64_t given = source.setting_count;
    firn_setting *settings = calloc((size_t)given + 3, sizeof *settings);
    if (!settings) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    if (given) memcpy(settings, source.settings, (size_t)given * sizeof *settings);
    for (int i = 0; i < 2 + cells; i++) {
        settings[given + i] = (firn_setting){.assignment = text[i], .option = "rehearsal"};
    }
    source.settings = settings;
    source.setting_count = given + 2 + cells;
    const firn_status st = firn_scene_create(&source, out, error);
    free(settings);
    return st;
}

static firn_status look_at(firn_preview *preview, const firn_scene *scene, const firn_job *job,
                           int64_t frame, firn_error *error)
{
    firn_points points = {0}, grid = {0};
    firn_status st = firn_job_points(job, NULL, INT64_MAX, &points, error);
    if (st == FIRN_OK) st = firn_job_grid(job, NULL, &grid, error);
    if (st == FIRN_OK)
        st = firn_renderer_survey(
            &preview->renderer,
            &(firn_renderer_frame){
                .scene = scene, .points = &points, .grid = &grid, .number = frame},
            error);
    firn_points_free(&points);
    firn_points_free(&grid);
    return st;
}

/* How many times the resolution to rehearse with. */
static firn_status choose_coarser(const firn_preview_def *def, double *out, firn_error *error)
{
    const firn_scene *scene = def->scene;
    const double length = (double)(def->run->last - scene->frames.start) / scene->frames.fps;
    const firn_job_options options = {.threads = def->run->threads, .isa = def->run->isa};
    firn_job job = {0};
    firn_status st = firn_job_init(&job, scene, &options, error);
    if (st == FIRN_OK) st = firn_job_fill(&job, error);
    if (st == FIRN_OK) {
        const double part = (double)firn_job_count_at(&job, length) / ENOUGH;
        *out = fmax(fmin(pow(part, 1.0 / (double)scene->dimension), COARSER), 1);
    }
    firn_job_deinit(&job);
    return st;
}

/* Runs a scene up to a frame and looks at it from frame `first` on. */
static firn_status watch(firn_preview *preview, const firn_preview_def *def,
                         const firn_scene *scene, int64_t first, int64_t last,
                         const firn_run_hooks *hooks, firn_error *error)
{
    firn_job job = {0};
    const firn_job_options options = {.threads = def->run->threads, .isa = def->run->isa};
    firn_status st = firn_job_init(&job, scene, &options, error);
    if (st == FIRN_OK) st = firn_job_fill(&job, error);
    const int64_t start = scene->frames.start;
    firn_report ignored;
    for (int64_t f = start; f <= last && st == FIRN_OK; f++) {
        if (hooks->stop && hooks->stop(hooks->user_data)) break; /* the run will notice, too */
        const double target = (double)(f - start) / scene->frames.fps;
        if (f > start) st = firn_job_advance(&job, target, &ignored, error);
        if (st == FIRN_OK && f >= first) st = look_at(preview, def->scene, &job, f, error);
    }
    firn_job_deinit(&job);
    return st;
}

static bool is_aimed(const firn_scene *scene)
{
    return firn_section_given(&firn_section_camera, &scene->camera, "position") &&
           firn_section_given(&firn_section_camera, &scene->camera, "target");
}

/* Whether nothing about the camera depends on what will happen. */
static bool is_placed(const firn_preview_def *def)
{
    return def->scene->dimension == 3 && !def->renderer.slice && is_aimed(def->scene);
}

/* What a rehearsal finds. */
static const char *purpose_of(const firn_preview_def *def)
{
    if (!is_placed(def)) return "camera";
    return def->renderer.color ? "range of colours" : "lengths of arrows and the values of nodes";
}

/* What is too thin or too fast for a coarse scene must not keep the run from going: the camera then
 * makes do with what was seen, at least with how the scene begins. */
static firn_status rehearse(firn_preview *preview, const firn_preview_def *def,
                            const firn_run_hooks *hooks, firn_error *error)
{
    firn_scene *coarse = NULL;
    firn_error why = {0};
    double coarser = COARSER;
    firn_status st = choose_coarser(def, &coarser, error);
    if (st != FIRN_OK) return st;
    if (hooks->note) {
        char text[200];
        const bool whole = coarser <= 1;
        snprintf(text, sizeof text, "rehearsing for the %s%s%s", purpose_of(def),
                 whole ? ", which takes as long as the motion" : "",
                 whole && def->scene->dimension == 3 && !def->renderer.slice &&
                         !is_aimed(def->scene)
                     ? "; a camera with position and target needs none"
                     : "");
        hooks->note(hooks->user_data, text);
    }
    st = read_coarse(def, coarser, &coarse, &why);
    if (st == FIRN_OK)
        st = watch(preview, def, coarse, def->run->first, def->run->last, hooks, &why);
    firn_scene_destroy(coarse);
    if (st != FIRN_INVALID && st != FIRN_DIVERGED) {
        if (st != FIRN_OK && error) *error = why;
        return st;
    }
    if (hooks->note) {
        hooks->note(hooks->user_data,
                    "the rehearsal at a coarser resolution failed: the camera uses "
                    "the frames seen until then; firn render uses all of them");
    }
    const int64_t start = def->scene->frames.start;
    return preview->renderer.box_count
               ? FIRN_OK
               : watch(preview, def, def->scene, start, start, hooks, error);
}

/* Room for what a coarse scene does not reach. */
static void loosen(firn_renderer *renderer)
{
    for (int a = 0; a < 3; a++) {
        const double more = 0.03 * (renderer->bounds.high[a] - renderer->bounds.low[a]);
        for (int64_t i = 0; i < renderer->box_count; i++) {
            renderer->box[i].low[a] -= more;
            renderer->box[i].high[a] += more;
        }
    }
}

static void pass_warning(void *user_data, firn_log_level level, const char *subject,
                         const char *text)
{
    const firn_run_hooks *hooks = user_data;
    char said[600];
    if (level != FIRN_LOG_WARNING) return;
    snprintf(said, sizeof said, "%s: %s", subject, text);
    hooks->note(hooks->user_data, said);
}

static firn_status begin(firn_preview *preview, const firn_preview_def *def,
                         const firn_run_hooks *hooks, firn_error *error)
{
    firn_renderer_options options = def->renderer;
    firn_pictures_def pictures = def->pictures;
    options.render.threads = def->run->threads;
    options.linear = firn_pictures_is_linear(&pictures);
    pictures.width = options.render.width;
    pictures.height = options.render.height;
    pictures.count = def->run->last - def->run->first + 1;
    pictures.fps = def->scene->frames.playback;
    firn_status st = firn_pictures_check(&pictures, error);
    if (st == FIRN_OK) st = firn_renderer_init(&preview->renderer, &options, error);
    const int64_t start = def->scene->frames.start;
    if (st == FIRN_OK && is_placed(def) && !options.color) {
        st = watch(preview, def, def->scene, start, start, hooks, error);
        /* An emitter may begin later: no particles are needed but for layers that measure them. */
        const bool measures = firn_renderer_shows_grid(&preview->renderer) ||
                              (options.show >> FIRN_LAYER_VELOCITY & 1);
        if (preview->renderer.seen == 0 && !measures) preview->renderer.seen = 1;
    }
    if (st == FIRN_OK && preview->renderer.seen == 0) st = rehearse(preview, def, hooks, error);
    if (st == FIRN_OK) {
        if (def->scene->dimension == 3) loosen(&preview->renderer);
        /* They are the caller's, and may be gone afterwards. */
        if (hooks->note) preview->renderer.options.log = (firn_log){pass_warning, (void *)hooks};
        st = firn_renderer_settle(&preview->renderer, def->scene, error);
        preview->renderer.options.log = (firn_log){0};
    }
    if (st == FIRN_OK) st = firn_pictures_create(&pictures, &preview->pictures, error);
    if (st == FIRN_OK) {
        firn_pictures_show_numbers(preview->pictures,
                                   !firn_renderer_has_caption(&preview->renderer));
    }
    return st;
}

firn_status firn_preview_create(const firn_preview_def *def, const firn_run_hooks *hooks,
                                firn_preview **out, firn_error *error)
{
    *out = NULL;
    firn_preview *preview = calloc(1, sizeof *preview);
    if (!preview) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    preview->first = def->run->first;
    static const firn_run_hooks none = {0};
    const firn_status st = begin(preview, def, hooks ? hooks : &none, error);
    if (st == FIRN_OK) {
        *out = preview;
    } else {
        firn_preview_destroy(preview);
    }
    return st;
}

void firn_preview_destroy(firn_preview *preview)
{
    if (!preview) return;
    firn_renderer_deinit(&preview->renderer);
    firn_pictures_destroy(preview->pictures);
    free(preview);
}

static firn_status make_picture(void *look_data, const firn_job *job, int64_t frame,
                                firn_error *error)
{
    firn_preview *preview = look_data;
    if (!firn_pictures_wants(preview->pictures, frame - preview->first)) return FIRN_OK;
    firn_points points = {0}, grid = {0};
    firn_image picture = {0};
    firn_status st = firn_job_points(job, NULL, INT64_MAX, &points, error);
    const bool with_grid = firn_renderer_shows_grid(&preview->renderer);
    if (st == FIRN_OK && with_grid) st = firn_job_grid(job, NULL, &grid, error);
    const firn_renderer_frame shown = {
        .scene = job->scene, .points = &points, .grid = with_grid ? &grid : NULL, .number = frame};
    if (st == FIRN_OK) st = firn_renderer_draw(&preview->renderer, &shown, &picture, error);
    if (st == FIRN_OK)
        st = firn_pictures_add(preview->pictures, frame - preview->first, frame, &picture, error);
    firn_image_free(&picture);
    firn_points_free(&points);
    firn_points_free(&grid);
    return st;
}

void firn_preview_attach(firn_preview *preview, firn_run_hooks *hooks)
{
    hooks->look = make_picture;
    hooks->look_data = preview;
}

firn_status firn_preview_finish(firn_preview *preview, firn_error *error)
{
    return firn_pictures_finish(preview->pictures, error);
}
