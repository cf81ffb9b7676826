/* What a page must know of the open scene, and of where play is. */
#include <math.h>
#include <string.h>

#include "live/live.h"
#include "scene/expression.h"

/* ---- the scene ---- */

static void put_look(firn_live_event *e, const firn_look *look)
{
    firn_event_open(e, "look", '{');
    firn_event_number(e, "clarity", look->clarity);
    firn_event_number(e, "depth", look->depth);
    firn_event_number(e, "subsurface", look->subsurface);
    firn_event_number(e, "gloss", look->gloss);
    firn_event_number(e, "roughness", look->roughness);
    firn_event_number(e, "index", look->index);
    firn_event_number(e, "smooth", look->smooth);
    firn_event_number(e, "grain", look->grain);
    firn_event_number(e, "glint", look->glint);
    firn_event_close(e, '}');
}

void firn_event_put_materials(firn_live_event *e, const firn_scene *scene, const firn_scene *newest)
{
    firn_event_open(e, "materials", '[');
    for (int32_t i = 0; i < scene->material_count; i++) {
        const firn_scene_material *m = &scene->material[i];
        const int32_t newer = firn_scene_find_material(newest, m->name, NULL, 0);
        const firn_look *look = newer >= 0 ? &newest->material[newer].look : &m->look;
        firn_event_open(e, NULL, '{');
        firn_event_text(e, "name", m->name);
        firn_event_text(e, "law", firn_law_name(m->def.law));
        firn_event_text(e, "preset", m->preset ? m->preset : "");
        firn_event_list(e, "color", look->color, 3);
        firn_event_number(e, "tint", look->by_object ? look->tint : 0);
        put_look(e, look);
        firn_live_put_values(e, &m->def);
        firn_event_close(e, '}');
    }
    firn_event_close(e, ']');
}

/* ---- the text that it is made of ---- */

/* Entries of the page's own text, and not of what it includes, are numbered; copies share one. */
typedef struct entries {
    const char *file;
    const firn_value *last;
    int64_t next;
} entries;

static entries begin_entries(const firn_scene *scene)
{
    return (entries){scene->tree.files[0], NULL, 0};
}

static void put_entry(firn_live_event *e, entries *all, const firn_value *where)
{
    const bool own = strcmp(where->file, all->file) == 0;
    if (own && where != all->last) all->next++;
    all->last = where;
    firn_event_whole(e, "entry", own ? all->next - 1 : -1);
}

/* What comes out of the expressions in a tree, by their text. */
static void put_numbers(firn_live_event *e, const firn_value *v)
{
    double number;
    for (const firn_value *c = v->child; c; c = c->next) {
        if (c->key && strpbrk(c->key, "0123456789$")) {
            const firn_value key = firn_value_of_key(c);
            if (firn_expression_any(&key, &number)) firn_event_number(e, c->key, number);
        }
        if (firn_expression_any(c, &number)) firn_event_number(e, c->text, number);
        put_numbers(e, c);
    }
}

static void put_objects(firn_live_event *e, const firn_job *job)
{
    const firn_scene *scene = job->scene;
    entries all = begin_entries(scene);
    firn_event_open(e, "objects", '[');
    for (int32_t i = 0; i < scene->object_count; i++) {
        const firn_scene_object *o = &scene->object[i];
        firn_event_open(e, NULL, '{');
        firn_event_text(e, "name", o->name ? o->name : "");
        firn_event_text(e, "material", scene->material[o->material_index].name);
        firn_event_whole(e, "count", job->object[i].particles);
        put_entry(e, &all, o->where);
        firn_event_close(e, '}');
    }
    firn_event_close(e, ']');
}

static void put_colliders(firn_live_event *e, const firn_job *job, const firn_scene *newest)
{
    const firn_scene *scene = job->scene;
    const bool alike = newest->collider_count == scene->collider_count;
    entries all = begin_entries(scene);
    firn_event_open(e, "colliders", '[');
    for (int32_t i = 0; i < scene->collider_count; i++) {
        const firn_scene_collider *c = &scene->collider[i];
        const firn_scene_collider *seen = alike ? &newest->collider[i] : c;
        firn_event_open(e, NULL, '{');
        firn_event_text(e, "name", seen->name ? seen->name : "");
        firn_event_text(e, "shape", firn_shape_name(c->shape.def.shape));
        firn_event_flag(e, "visible", seen->visible);
        firn_event_flag(e, "mesh",
                        job->props.collider[i].prop.shape != NULL || firn_live_nets(job, i));
        put_entry(e, &all, c->where);
        if (c->scale != 1) firn_event_number(e, "scale", c->scale);
        firn_event_close(e, '}');
    }
    firn_event_close(e, ']');
}

/* Paths at which the newest text differs from what is simulated. */
static void put_waiting(const firn_live *live, firn_live_event *e)
{
    firn_scene_says says = {0};
    firn_scene_line *old, *new;
    int64_t i = 0, k = 0;
    firn_event_open(e, "restart", '[');
    if (live->newest != live->scene && firn_says_read(&says, live->newest, NULL) == FIRN_OK) {
        while (firn_says_differ(&live->says, &says, &i, &k, &old, &new)) {
            firn_event_text(e, NULL, old ? old->path : new->path);
        }
    }
    firn_says_free(&says);
    firn_event_close(e, ']');
}

/* The entry `scene`: what a job simulates, under the names and looks that a newer text gives it. */
static void put_scene(firn_live_event *e, const firn_job *job, const firn_scene *newest)
{
    const firn_scene *scene = job->scene;
    const firn_scene_info info = firn_scene_get_info(scene);
    firn_event_open(e, "scene", '{');
    firn_event_text(e, "name", newest->name);
    firn_event_whole(e, "dimension", info.dimension);
    firn_event_whole(e, "first", info.first_frame);
    firn_event_whole(e, "last", info.last_frame);
    firn_event_number(e, "fps", info.fps);
    firn_event_number(e, "playback", info.playback);
    firn_event_number(e, "resolution", info.resolution);
    firn_event_number(e, "cell_size", info.cell_size);
    firn_event_flag(e, "heat", scene->heat_value != NULL);
    firn_event_text(e, "up", scene->up == 1 ? "z" : "y");
    firn_event_put_materials(e, scene, newest);
    put_objects(e, job);
    put_colliders(e, job, newest);
    firn_event_open(e, "numbers", '{');
    put_numbers(e, newest->tree.root);
    firn_event_close(e, '}');
    firn_event_close(e, '}');
}

char *firn_live_scene_text(const firn_job *job)
{
    firn_live_event e;
    firn_event_begin(&e, "scene");
    put_scene(&e, job, job->scene);
    firn_event_list(&e, "live", NULL, 0);
    firn_event_list(&e, "restart", NULL, 0);
    if (firn_event_end(&e)) return e.text.data;
    firn_event_free(&e);
    return NULL;
}

void firn_live_send_scene(firn_live *live, char *const *at_once)
{
    firn_live_event e;
    firn_event_begin(&e, "scene");
    put_scene(&e, live->job, live->newest);
    firn_event_open(&e, "live", '[');
    for (int i = 0; at_once && at_once[i]; i++) firn_event_text(&e, NULL, at_once[i]);
    firn_event_close(&e, ']');
    put_waiting(live, &e);
    firn_live_send(live, &e);
}

/* ---- time ---- */

void firn_live_send_state(firn_live *live, bool always)
{
    if (!live->job) return;
    const int64_t frame = firn_live_frame(live, NULL), kept = firn_live_last_kept(live);
    const bool done = firn_live_done(live);
    if (!always && live->told.any && live->told.playing == live->playing &&
        live->told.done == done && live->told.speed == live->speed && live->told.frame == frame &&
        live->told.kept == kept) {
        return;
    }
    live->told.any = true;
    live->told.playing = live->playing;
    live->told.done = done;
    live->told.speed = live->speed;
    live->told.frame = frame;
    live->told.kept = kept;
    firn_live_event e;
    firn_event_begin(&e, "state");
    firn_event_flag(&e, "playing", live->playing);
    firn_event_number(&e, "speed", live->speed);
    firn_event_whole(&e, "frame", frame);
    firn_event_number(&e, "time", firn_sim_time(live->job->sim));
    firn_event_flag(&e, "done", done);
    firn_event_open(&e, "kept", '[');
    firn_event_whole(&e, NULL, live->scene->frames.start);
    firn_event_whole(&e, NULL, kept);
    firn_event_close(&e, ']');
    firn_live_send(live, &e);
}
