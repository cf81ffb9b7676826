/* Scenes: from text to a job, filled and at its first frame. This is the only place where text becomes a
 * scene. */
#include <stdlib.h>

#include "base/error.h"
#include "live/live.h"

firn_status firn_live_read(firn_live *live, const char *text, size_t size, firn_scene **scene,
                           firn_error *error)
{
    const firn_live_options *o = &live->options;
    *scene = NULL;
    if (o->read_scene) return o->read_scene(o->user_data, text, size, scene, error);
    firn_scene_def def = firn_scene_def_default();
    def.path = o->path;
    def.text = size ? text : "\n"; /* a size of 0 would measure it */
    def.text_size = size ? size : 1;
    return firn_scene_create(&def, scene, error);
}

static void write_log(void *user_data, firn_log_level level, const char *subject, const char *text)
{
    (void)subject;
    if (level != FIRN_LOG_WARNING) return; /* others may come with every step */
    firn_live_event e;
    firn_event_begin(&e, "log");
    firn_event_text(&e, "text", text);
    firn_live_send(user_data, &e);
}

firn_job_options firn_live_job_options(firn_live *live)
{
    firn_job_options o = firn_job_options_default();
    o.threads = live->options.threads;
    o.isa = live->options.isa;
    o.log = (firn_log){write_log, live};
    o.step_hook = firn_live_step_hook;
    o.step_user_data = live;
    return o;
}

void firn_live_close(firn_live *live)
{
    firn_live_let_go(live);
    firn_job_destroy(live->job);
    if (live->newest != live->scene) firn_scene_destroy(live->newest);
    firn_scene_destroy(live->scene);
    firn_says_free(&live->says);
    free(live->collider_changed);
    firn_live_forget_all(live);
    live->job = NULL;
    live->scene = live->newest = NULL;
    live->collider_changed = NULL;
    live->gravity_changed = false;
}

firn_status firn_live_build(firn_live *live, firn_scene *scene, firn_error *error)
{
    const firn_job_options options = firn_live_job_options(live);
    firn_job *job = NULL;
    firn_scene_says says = {0};
    bool *changed = calloc((size_t)scene->collider_count + 1, sizeof *changed);
    firn_status st = changed ? firn_job_create(scene, &options, &job, error)
                             : firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    if (st == FIRN_OK) st = firn_job_fill(job, error);
    if (st == FIRN_OK) st = firn_says_read(&says, scene, error);
    if (st != FIRN_OK) {
        firn_job_destroy(job);
        free(changed);
        return st;
    }
    firn_job_destroy(live->job); /* before its scene */
    live->job = NULL;
    if (live->newest != scene && live->newest != live->scene) firn_scene_destroy(live->newest);
    if (live->scene != scene) firn_scene_destroy(live->scene);
    live->scene = live->newest = NULL;
    firn_live_close(live);
    live->scene = live->newest = scene;
    live->job = job;
    live->says = says;
    live->collider_changed = changed;
    live->altered = false;
    live->goal = FIRN_GOAL_NONE;
    live->tool.kind = FIRN_TOOL_NONE;
    live->report = (firn_report){0};
    live->steps = 0;
    live->seconds = live->simulated = 0;
    live->tags_count = -1;
    live->meshes_time = -1;
    return FIRN_OK;
}

firn_status firn_live_open(firn_live *live, const char *text, size_t size, firn_error *error)
{
    firn_scene *scene = NULL;
    firn_status st = firn_live_read(live, text, size, &scene, error);
    if (st == FIRN_OK) st = firn_live_build(live, scene, error);
    if (st != FIRN_OK) {
        firn_scene_destroy(scene);
        return st;
    }
    live->playing = false;
    live->probing = false;
    firn_live_send_scene(live, NULL);
    firn_live_send_meshes(live, true);
    firn_live_send_state(live, true);
    firn_live_show(live);
    return FIRN_OK;
}

firn_status firn_live_restart(firn_live *live, firn_error *error)
{
    const firn_status st = firn_live_build(live, live->newest, error);
    if (st != FIRN_OK) return st;
    live->playing = false;
    firn_live_send_scene(live, NULL);
    firn_live_send_meshes(live, true);
    firn_live_send_state(live, true);
    firn_live_show(live);
    return FIRN_OK;
}
