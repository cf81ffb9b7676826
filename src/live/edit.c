/* Changes of a scene that runs.
 *
 * What differs between what the job's scene says by now and a new text is sorted by path: some things do
 * not concern the simulation, some it can change between steps, the rest waits for a restart. Changes that
 * act are also made to the job's scene, so that a job made of it later has them. One that the engine
 * refuses waits, too. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <firn/host.h>

#include "base/error.h"
#include "collider/collider.h"
#include "live/live.h"

typedef enum effect {
    RESTARTS,
    CONCERNS_NOTHING,
    GRAVITY,
    DAMPING,
    FRICTION,
    MATERIAL,
    COLLIDER
} effect;

typedef struct change {
    firn_scene_line *old, *new; /* either may be NULL */
    const char *path;
    effect effect;
    int32_t index; /* of the material or collider */
    bool place;    /* of a collider: where it is, nothing else */
} change;

typedef struct changes {
    change *change;
    int64_t count;
} changes;

/* ---- what a path is about ---- */

static const char *after(const char *path, const char *prefix)
{
    const size_t n = strlen(prefix);
    if (strncmp(path, prefix, n) != 0) return NULL;
    return path[n] == 0 || path[n] == '.' || path[n] == '[' ? path + n : NULL;
}

static bool begins(const char *path, const char *const *prefixes)
{
    for (; *prefixes; prefixes++) {
        if (after(path, *prefixes)) return true;
    }
    return false;
}

static const firn_param *find_param(const char *name)
{
    for (int32_t i = 0; firn_material_param(i); i++) {
        const firn_param *p = firn_material_param(i);
        if (strcmp(p->name, name) == 0 || (p->alias && strcmp(p->alias, name) == 0)) return p;
    }
    return NULL;
}

static bool same_value(const firn_param *p, const firn_material_def *a, const firn_material_def *b)
{
    return memcmp((const char *)a + p->offset, (const char *)b + p->offset, sizeof(double)) == 0;
}

static bool differs_in_particles(const firn_material_def *a, const firn_material_def *b)
{
    for (int32_t i = 0; firn_material_param(i); i++) {
        const firn_param *p = firn_material_param(i);
        if (firn_job_is_in_particles(p) && !same_value(p, a, b)) return true;
    }
    return false;
}

static bool same_preset(const firn_scene_material *a, const firn_scene_material *b)
{
    return strcmp(a->preset ? a->preset : "", b->preset ? b->preset : "") == 0;
}

static effect material_effect(const firn_live *live, const firn_scene *next, const char *path,
                              int32_t *index)
{
    const firn_scene *scene = live->scene;
    for (int32_t i = 0; i < scene->material_count; i++) {
        const firn_scene_material *m = &scene->material[i];
        const char *rest = after(path, m->name);
        const int32_t other = rest ? firn_scene_find_material(next, m->name, NULL, 0) : -1;
        if (!rest || *rest != '.' || other < 0) continue;
        const firn_scene_material *n = &next->material[other];
        rest++;
        *index = i;
        if (after(rest, "look")) return CONCERNS_NOTHING;
        if (n->def.law != m->def.law) return RESTARTS;
        /* A preset acts as a whole, or waits as a whole. */
        if (!same_preset(m, n) && differs_in_particles(&m->def, &n->def)) return RESTARTS;
        const firn_param *p = find_param(rest);
        if (p) return firn_job_is_in_particles(p) ? RESTARTS : MATERIAL;
        return strcmp(rest, "preset") == 0 ? MATERIAL : RESTARTS;
    }
    return RESTARTS;
}

static bool is_plain_shape(const firn_scene_collider *c)
{
    return c->shape.def.shape != FIRN_POLYGON && c->shape.def.shape != FIRN_MESH &&
           c->shape.def.shape != FIRN_COMPOUND;
}

/* The collider that an entry of the list is, or -1: copies and members of groups have no lines of their own. */
static int32_t find_alone(const firn_scene *scene, int entry)
{
    const firn_value *v = scene->colliders_value ? scene->colliders_value->child : NULL;
    for (; v && entry > 0; entry--) v = v->next;
    for (int32_t i = 0; i < scene->collider_count && v; i++) {
        const firn_scene_collider *c = &scene->collider[i];
        if (c->where == v) return c->group || c->instances_value ? -1 : i;
    }
    return -1;
}

static effect collider_effect(const firn_live *live, const firn_scene *next, const char *path,
                              change *c)
{
    static const char *const seen[] = {"name", "visible", "color", "opacity", "cut", NULL};
    int i = 0, read = 0;
    if (sscanf(path, "[%9d].%n", &i, &read) != 1 || read == 0) return RESTARTS;
    const char *rest = path + read;
    const firn_scene *scenes[] = {live->scene, next};
    const int32_t at = find_alone(scenes[0], i);
    if (at < 0 || find_alone(scenes[1], i) != at) return RESTARTS;
    if (live->scene->collider_count != next->collider_count) return RESTARTS;
    i = at;
    c->index = i;
    c->place = after(rest, "translate") || after(rest, "rotate");
    if (begins(rest, seen)) return CONCERNS_NOTHING;
    if (firn_prop_moves(&live->job->props.collider[i].prop)) return RESTARTS;
    for (int k = 0; k < 2; k++) { /* keys belong to their scene */
        if (firn_collider_is_keyed(&scenes[k]->collider[i].def)) return RESTARTS;
    }
    if (after(rest, "shape") &&
        !(is_plain_shape(&live->scene->collider[i]) && is_plain_shape(&next->collider[i]))) {
        return RESTARTS;
    }
    return COLLIDER;
}

static bool is_name_of_object(const char *path)
{
    const char *rest = after(path, "objects"), *end = rest ? strchr(rest, ']') : NULL;
    return end && strcmp(end, "].name") == 0;
}

static void find_effect(const firn_live *live, const firn_scene *next, change *c)
{
    static const char *const seen[] = {"name",       "camera",          "light",
                                       "output",     "statistics",      "checkpoint",
                                       "frames.end", "frames.playback", NULL};
    const firn_sim_def *def = &live->scene->simulation.def, *other = &next->simulation.def;
    const char *rest;
    c->effect = RESTARTS;
    const bool sampled = live->scene->context.sampled || next->context.sampled;
    if (sampled && strcmp(c->path, "frames.end") == 0) return; /* where expressions end */
    if (begins(c->path, seen) || is_name_of_object(c->path)) {
        c->effect = CONCERNS_NOTHING;
    } else if (strcmp(c->path, "simulation.gravity") == 0) {
        if (!def->gravity_keys.count && !other->gravity_keys.count) c->effect = GRAVITY;
    } else if (strcmp(c->path, "simulation.damping") == 0) {
        c->effect = DAMPING;
    } else if (strcmp(c->path, "simulation.contact_friction") == 0) {
        const bool keyed = def->contact_friction_keys.count || other->contact_friction_keys.count;
        if (!keyed) c->effect = FRICTION;
    } else if ((rest = after(c->path, "materials")) && *rest == '.') {
        c->effect = material_effect(live, next, rest + 1, &c->index);
    } else if ((rest = after(c->path, "colliders"))) {
        c->effect = collider_effect(live, next, rest, c);
    }
}

static firn_status find_changes(const firn_live *live, const firn_scene *next,
                                const firn_scene_says *says, changes *out, firn_error *error)
{
    *out = (changes){calloc((size_t)(live->says.count + says->count + 1), sizeof *out->change), 0};
    if (!out->change) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    int64_t i = 0, k = 0;
    firn_scene_line *old, *new;
    while (firn_says_differ(&live->says, says, &i, &k, &old, &new)) {
        change *c = &out->change[out->count++];
        *c = (change){.old = old, .new = new, .path = old ? old->path : new->path};
        find_effect(live, next, c);
    }
    return FIRN_OK;
}

/* ---- applying ---- */

/* The engine's materials as the job's scene now has them. */
static firn_status set_variants(firn_live *live, firn_error *error)
{
    firn_job *job = live->job;
    firn_variants fresh;
    firn_status st = firn_variants_make(&fresh, live->scene, error);
    if (st != FIRN_OK) return st;
    int32_t done = 0;
    const int32_t count = fresh.count < job->variants.count ? fresh.count : job->variants.count;
    while (done < count && st == FIRN_OK) {
        st = firn_sim_set_material(job->sim, done, &fresh.def[done], error);
        done += st == FIRN_OK;
    }
    if (st != FIRN_OK) { /* as they were: they have been taken before */
        while (done-- > 0)
            (void)!firn_sim_set_material(job->sim, done, &job->variants.def[done], NULL);
        firn_variants_free(&fresh);
        return st;
    }
    firn_variants_free(&job->variants);
    job->variants = fresh;
    return FIRN_OK;
}

/* All that can act at once of a material. */
static firn_status apply_material(firn_live *live, const firn_scene *next, int32_t index,
                                  firn_error *error)
{
    firn_scene_material *m = &live->scene->material[index];
    const int32_t other = firn_scene_find_material(next, m->name, NULL, 0);
    const firn_material_def before = m->def;
    m->def = next->material[other].def;
    for (int32_t i = 0; firn_material_param(i); i++) {
        const firn_param *p = firn_material_param(i);
        if (!firn_job_is_in_particles(p)) continue;
        memcpy((char *)&m->def + p->offset, (const char *)&before + p->offset, sizeof(double));
    }
    const firn_status st = set_variants(live, error);
    if (st != FIRN_OK) m->def = before;
    return st;
}

/* Takes a collider of the new scene over into the job's, as far as it can change while it runs. */
static firn_status copy_collider(firn_scene_collider *to, const firn_scene_collider *from,
                                 firn_error *error)
{
    const size_t size = (size_t)(from->key_count ? from->key_count : 1) * sizeof *from->key;
    firn_pose_key *key = malloc(size);
    if (!key) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    memcpy(key, from->key, size);
    free(to->key);
    to->key = key;
    to->key_count = from->key_count;
    to->def = from->def;
    memcpy(to->translate, from->translate, sizeof to->translate);
    memcpy(to->rotate, from->rotate, sizeof to->rotate);
    memcpy(to->surface_spin, from->surface_spin, sizeof to->surface_spin);
    if (is_plain_shape(to) && is_plain_shape(from)) {
        to->shape.def.shape = from->shape.def.shape;
        memcpy(to->shape.def.size, from->shape.def.size, sizeof to->shape.def.size);
        to->shape.def.round = from->shape.def.round;
        memcpy(to->shape.def.position, from->shape.def.position, sizeof to->shape.def.position);
        memcpy(to->shape.def.rotation, from->shape.def.rotation, sizeof to->shape.def.rotation);
    }
    return FIRN_OK;
}

/* A collider whose number is free gets it back. */
static firn_status replace_collider(firn_job *job, int32_t index, firn_error *error)
{
    const firn_collider_def def = firn_props_collider(&job->props, index);
    int32_t given = -1;
    firn_status st = firn_sim_remove_collider(job->sim, index, error);
    if (st == FIRN_OK) st = firn_sim_add_collider(job->sim, &def, &given, error);
    if (st == FIRN_OK && given != index) {
        st = firn_fail(error, FIRN_INVALID, "collider %d became number %d", index, given);
    }
    return st;
}

/* A collider that was removed, and whose successor was refused, comes back. */
static firn_status restore_collider(firn_job *job, int32_t index, firn_error *error)
{
    firn_collider_motion motion;
    if (firn_sim_read_motion(job->sim, index, &motion, error) == FIRN_OK) return FIRN_OK;
    const firn_collider_def def = firn_props_collider(&job->props, index);
    int32_t given;
    return firn_sim_add_collider(job->sim, &def, &given, error);
}

/* What moved by hand goes there in one tick and pushes what is in its way, if that is no faster than
 * anything moves by hand; otherwise, and while time stands still, it is there at once. */
static firn_status move_collider(firn_live *live, int32_t index, firn_error *error)
{
    const double fastest = 20, tick = 1.0 / 60; /* m/s, s */
    const firn_pose_key *to = live->scene->collider[index].key;
    firn_collider_motion now;
    firn_status st = firn_sim_read_motion(live->job->sim, index, &now, error);
    if (st != FIRN_OK) return st;
    double square = 0;
    for (int a = 0; a < 3; a++) square += pow(to->position[a] - now.position[a], 2);
    if (live->playing && sqrt(square) <= fastest * tick) {
        return firn_sim_move_collider(live->job->sim, index, to->position, to->rotation, tick,
                                      error);
    }
    firn_collider_motion there = {.seconds = 0};
    memcpy(there.position, to->position, sizeof there.position);
    memcpy(there.rotation, to->rotation, sizeof there.rotation);
    return firn_sim_set_motion(live->job->sim, index, &there, error);
}

static firn_status apply_collider(firn_live *live, const firn_scene *next, int32_t index,
                                  bool moved, firn_error *error)
{
    firn_scene_collider *c = &live->scene->collider[index], before = *c;
    const firn_scene_collider *new = &next->collider[index];
    const bool moves = firn_scene_moves(c) || firn_scene_moves(new);
    before.key = NULL; /* a copy, to go back to */
    before.key_count = 0;
    firn_scene_collider back = before;
    back.key = c->key;
    back.key_count = c->key_count;
    firn_status st = copy_collider(&before, &back, error);
    if (st == FIRN_OK) st = copy_collider(c, new, error);
    if (st == FIRN_OK) {
        st = moved && !moves ? move_collider(live, index, error)
                             : replace_collider(live->job, index, error);
        firn_error ignored;
        if (st != FIRN_OK) {
            (void)!copy_collider(c, &before, &ignored);
            (void)!restore_collider(live->job, index, &ignored);
        } else {
            live->collider_changed[index] = true;
        }
    }
    free(before.key);
    return st;
}

static firn_status apply(firn_live *live, const firn_scene *next, const change *c, bool place,
                         firn_error *error)
{
    firn_sim *sim = live->job->sim;
    firn_sim_def *to = &live->scene->simulation.def;
    const firn_sim_def *from = &next->simulation.def;
    firn_status st = FIRN_OK;
    switch (c->effect) {
    case GRAVITY:
        st = firn_sim_set_gravity(sim, from->gravity, error);
        if (st == FIRN_OK) {
            memcpy(to->gravity, from->gravity, sizeof to->gravity);
            live->gravity_changed = true;
        }
        return st;
    case DAMPING:
        st = firn_sim_set_damping(sim, from->damping, error);
        if (st == FIRN_OK) to->damping = from->damping;
        return st;
    case FRICTION:
        st = firn_sim_set_contact_friction(sim, from->contact_friction, error);
        if (st == FIRN_OK) to->contact_friction = from->contact_friction;
        return st;
    case MATERIAL: return apply_material(live, next, c->index, error);
    case COLLIDER: return apply_collider(live, next, c->index, place, error);
    default: return FIRN_OK;
    }
}

/* A material or collider is applied once, with all that changed of it; when it fails, all of that waits. */
static void apply_all(firn_live *live, const firn_scene *next, changes *all)
{
    for (int64_t i = 0; i < all->count; i++) {
        change *c = &all->change[i];
        const bool shared = c->effect == MATERIAL || c->effect == COLLIDER;
        bool done = false, place = true;
        for (int64_t k = 0; k < all->count && shared; k++) {
            const change *other = &all->change[k];
            if (other->effect != c->effect || other->index != c->index) continue;
            done = done || k < i;
            place = place && other->place;
        }
        if (done || c->effect == RESTARTS || c->effect == CONCERNS_NOTHING) continue;
        firn_error error = {0};
        if (apply(live, next, c, place, &error) == FIRN_OK) continue;
        const effect failed = c->effect;
        const int32_t index = c->index;
        for (int64_t k = 0; k < all->count; k++) {
            change *other = &all->change[k];
            if (other->effect != failed || (shared && other->index != index)) continue;
            other->effect = RESTARTS;
        }
    }
}

firn_status firn_live_reapply(firn_live *live, firn_job *job, firn_error *error)
{
    firn_status st = FIRN_OK;
    if (live->gravity_changed) {
        st = firn_sim_set_gravity(job->sim, live->scene->simulation.def.gravity, error);
    }
    for (int32_t i = 0; i < live->scene->collider_count && st == FIRN_OK; i++) {
        if (live->collider_changed[i]) st = replace_collider(job, i, error);
    }
    return st;
}

/* ---- the command ---- */

static void swap_text(char **a, char **b)
{
    char *t = *a;
    *a = *b;
    *b = t;
}

/* Makes `next` what the job's scene says by now: of what waits, the old. Lines that are gone and wait
 * would have to be put in: then the place of lines changes, and they are sorted again. */
static firn_status take_over(firn_live *live, firn_scene_says *next, const changes *all,
                             firn_error *error)
{
    int64_t back = 0;
    for (int64_t i = 0; i < all->count; i++) {
        const change *c = &all->change[i];
        back += c->effect == RESTARTS && !c->new;
    }
    firn_scene_says says = {calloc((size_t)(next->count + back + 1), sizeof *says.line), 0,
                            next->count + back + 1};
    if (!says.line) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    for (int64_t i = 0; i < all->count; i++) { /* exchanges the lines that wait */
        const change *c = &all->change[i];
        if (c->effect != RESTARTS) continue;
        if (c->old && c->new) swap_text(&c->old->value, &c->new->value);
        if (!c->old) { /* new: is not said yet */
            free(c->new->path);
            free(c->new->value);
            *c->new = (firn_scene_line){0};
        }
    }
    int64_t k = 0;
    for (int64_t i = 0; i < next->count || k < all->count;) {
        while (k < all->count && !(all->change[k].effect == RESTARTS && !all->change[k].new)) k++;
        firn_scene_line *gone = k < all->count ? all->change[k].old : NULL;
        firn_scene_line *line = i < next->count ? &next->line[i] : NULL;
        if (line && !line->path) {
            i++;
        } else if (gone && (!line || strcmp(gone->path, line->path) < 0)) {
            says.line[says.count++] = *gone;
            *gone = (firn_scene_line){0};
            k++;
        } else if (line) {
            says.line[says.count++] = *line;
            *line = (firn_scene_line){0};
            i++;
        }
    }
    firn_says_free(next);
    firn_says_free(&live->says);
    live->says = says;
    return FIRN_OK;
}

/* The paths that act, up to NULL; NULL: no memory. They are the caller's. */
static char **list_applied(const changes *all, bool every)
{
    char **list = calloc((size_t)all->count + 1, sizeof *list);
    for (int64_t i = 0, n = 0; list && i < all->count; i++) {
        if (!every && all->change[i].effect == RESTARTS) continue;
        list[n] = strdup(all->change[i].path);
        n += list[n] != NULL;
    }
    return list;
}

static void free_list(char **list)
{
    for (int64_t i = 0; list && list[i]; i++) free(list[i]);
    free(list);
}

static bool has_acted(const changes *all)
{
    for (int64_t i = 0; i < all->count; i++) {
        const effect e = all->change[i].effect;
        if (e != RESTARTS && e != CONCERNS_NOTHING) return true;
    }
    return false;
}

/* The scene is read; the job goes on with what can change. */
static firn_status change_running(firn_live *live, firn_scene *next, firn_scene_says *says,
                                  changes *all, firn_error *error)
{
    apply_all(live, next, all);
    char **paths = list_applied(all, false);
    const firn_status st = take_over(live, says, all, error);
    if (st != FIRN_OK) {
        free_list(paths);
        return st;
    }
    if (live->newest != live->scene) firn_scene_destroy(live->newest);
    live->newest = next;
    live->scene->frames.end = next->frames.end;
    live->scene->frames.playback = next->frames.playback;
    if (has_acted(all)) firn_live_alter(live);
    firn_live_send_scene(live, paths);
    free_list(paths);
    return FIRN_OK;
}

/* Whether what is shown of colliders by meshes may be another. */
static bool may_reshape(const changes *all)
{
    static const char *const of[] = {"colliders", "groups",  "variables", "frames",
                                     "dimension", "include", NULL};
    bool some = false;
    for (int64_t i = 0; i < all->count; i++) some = some || begins(all->change[i].path, of);
    return some;
}

/* Nothing has moved yet: everything can change. */
static firn_status change_first(firn_live *live, firn_scene *next, const changes *all,
                                firn_error *error)
{
    char **paths = list_applied(all, true);
    const bool reshapes = may_reshape(all); /* paths go with what was said before */
    const firn_status st = firn_live_build(live, next, error);
    if (st == FIRN_OK) firn_live_send_scene(live, paths);
    if (st == FIRN_OK && reshapes) firn_live_send_meshes(live, true);
    free_list(paths);
    return st;
}

firn_status firn_live_edit(firn_live *live, const char *text, size_t size, firn_error *error)
{
    if (!live->job) return firn_live_open(live, text, size, error);
    firn_scene *next = NULL;
    firn_scene_says says = {0};
    changes all = {0};
    firn_status st = firn_live_read(live, text, size, &next, error);
    if (st == FIRN_OK) st = firn_says_read(&says, next, error);
    if (st == FIRN_OK) st = find_changes(live, next, &says, &all, error);
    bool concerns = false;
    for (int64_t i = 0; i < all.count; i++) {
        concerns = concerns || all.change[i].effect != CONCERNS_NOTHING;
    }
    const bool first = firn_sim_time(live->job->sim) == 0;
    if (st == FIRN_OK) {
        st = first && concerns ? change_first(live, next, &all, error)
                               : change_running(live, next, &says, &all, error);
    }
    free(all.change);
    firn_says_free(&says);
    if (st != FIRN_OK) {
        firn_scene_destroy(next);
        return st;
    }
    firn_live_show(live);
    return FIRN_OK;
}
