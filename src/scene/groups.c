/* Groups: frames that their members are in, one within another; and the members and copies that the entries of a
 * list stand for. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/quaternion.h"
#include "collider/collider.h"
#include "scene/copies.h"

void *firn_one_more(void **array, int32_t *count, size_t size)
{
    const size_t n = (size_t)*count;
    if ((n & (n - 1)) == 0) { /* full */
        void *grown = realloc(*array, (n ? 2 * n : 1) * size);
        if (!grown) return NULL;
        *array = grown;
    }
    ++*count;
    return memset((char *)*array + n * size, 0, size);
}

firn_status firn_name_copy(firn_scene *scene, int32_t number, const char **name, firn_error *error)
{
    if (!*name || number < 0) return FIRN_OK;
    const size_t size = strlen(*name) + 16;
    char **kept = firn_one_more((void **)&scene->text, &scene->text_count, sizeof *kept);
    if (kept) *kept = malloc(size);
    if (!kept || !*kept) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    snprintf(*kept, size, "%s[%d]", *name, (int)number);
    *name = *kept;
    return FIRN_OK;
}

/* ---- frames ---- */

static bool moves(const firn_collider_def *def)
{
    for (; def; def = def->parent) {
        const double *w = def->spin;
        if (def->key_count > 0 || w[0] != 0 || w[1] != 0 || w[2] != 0) return true;
    }
    return false;
}

bool firn_frame_moves(const firn_scene_frame *frame) { return frame && moves(&frame->def); }

/* Whether keys or spin move it, or what it rides on. */
bool firn_scene_moves(const firn_scene_collider *c) { return c->key_count > 0 || moves(&c->def); }

void firn_frame_place(const firn_scene *scene, const firn_scene_frame *frame, double time,
                      double position[3], double turn[4])
{
    firn_posed_collider posed;
    double way[3];
    if (!frame) return;
    firn_collider_pose(&frame->def, (int)scene->dimension, time, &posed);
    firn_quaternion_rotate(posed.turn, position, way);
    firn_quaternion_multiply(posed.turn, turn, turn);
    for (int a = 0; a < 3; a++) position[a] = posed.position[a] + way[a];
}

/* One within another; what is said of it else is the caller's. */
static firn_status make_frame(firn_scene *scene, const firn_scene_frame *in, double scale,
                              const firn_value *where, firn_scene_frame **out, firn_error *error)
{
    const int32_t depth = in ? in->depth + 1 : 1;
    if (depth > FIRN_MOST_PARENTS) {
        return firn_value_fail(where, error,
                               "more than %d groups and copies within each other; use fewer",
                               FIRN_MOST_PARENTS);
    }
    firn_scene_frame **at =
        firn_one_more((void **)&scene->frame, &scene->frame_count, sizeof *scene->frame);
    if (at) *at = *out = calloc(1, sizeof **out);
    if (!at || !*at) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    (*out)->def = firn_collider_def_default();
    (*out)->def.parent = in ? &in->def : NULL;
    (*out)->scale = scale;
    (*out)->depth = depth;
    return FIRN_OK;
}

static bool stays(const firn_copy *c)
{
    static const firn_copy same = {.turn = {1, 0, 0, 0}, .scale = 1};
    return memcmp(c->translate, same.translate, sizeof same.translate) == 0 &&
           memcmp(c->turn, same.turn, sizeof same.turn) == 0;
}

/* The frame of a copy that is placed within another; that other one where the copy is where its entry is. */
static firn_status frame_of_copy(firn_scene *scene, const firn_member *m,
                                 const firn_scene_frame **out, firn_error *error)
{
    const double scale = m->frame ? m->frame->scale : 1;
    firn_scene_frame *made = NULL;
    *out = m->frame;
    if (stays(m->copy)) return FIRN_OK;
    const firn_status st =
        make_frame(scene, m->frame, scale * m->copy->scale, m->where, &made, error);
    if (st != FIRN_OK) return st;
    for (int a = 0; a < 3; a++) made->def.position[a] = scale * m->copy->translate[a];
    memcpy(made->def.rotation, m->copy->turn, sizeof made->def.rotation);
    *out = made;
    return FIRN_OK;
}

/* ---- members ---- */

static firn_status find_group(const firn_scene *scene, const firn_value *v, const char *key,
                              const firn_scene_group **out, firn_error *error)
{
    const firn_value *name = firn_value_get(v, key);
    *out = NULL;
    if (!name) return FIRN_OK;
    if (name->kind == FIRN_SCALAR) *out = firn_names_find(&scene->group_names, name->text);
    if (*out) return FIRN_OK;
    const char *said = name->kind == FIRN_SCALAR ? name->text : "", *names[65];
    int n = 0;
    for (const firn_value *g = scene->groups_value ? scene->groups_value->child : NULL; g;
         g = g->next) {
        const firn_value *called = firn_value_get(g, "name");
        if (!called || called->kind != FIRN_SCALAR) continue;
        if (strcmp(called->text, said) == 0) {
            return firn_value_fail(name, error,
                                   "group \"%.60s\" is not above this one; groups stand before "
                                   "what is in them",
                                   said);
        }
        if (n < 64) names[n++] = called->text;
    }
    names[n] = NULL;
    char near[300];
    return firn_value_fail(name, error, "there is no group \"%.60s\"%s", said,
                           n ? firn_nearest(said, names, near, sizeof near)
                             : "; give it under groups, as groups: [{name: cup}]");
}

static firn_status read_entry(firn_scene *scene, const firn_value *v, const char *what,
                              firn_copied copied, int64_t *total, firn_member_read *read,
                              firn_error *error)
{
    const firn_scene_group *group;
    firn_copies copies;
    firn_status st = find_group(scene, v, "group", &group, error);
    if (st != FIRN_OK) return st;
    const firn_value *instances =
        copied == FIRN_COPIED_BY_GROUPS ? NULL : firn_value_get(v, "instances");
    st = firn_copies_read(scene, instances, copied == FIRN_COPIED_OBJECTS, &copies, error);
    if (st != FIRN_OK) return st;
    const int32_t frames = group ? group->frame_count : 1;
    const bool grouped = group && group->copied;
    *total += (int64_t)frames * copies.count;
    if (*total > FIRN_MOST_COPIES) {
        st = firn_value_fail(instances ? instances : v, error, "%lld %s must be at most %d; use %s",
                             (long long)*total, what, FIRN_MOST_COPIES,
                             instances || grouped ? "fewer copies" : "a particle file for many");
    }
    for (int32_t f = 0; f < frames && st == FIRN_OK; f++) {
        for (int32_t k = 0; k < copies.count && st == FIRN_OK; k++) {
            const firn_member m = {.where = v,
                                   .frame = group ? group->frame[f] : NULL,
                                   .copy = &copies.copy[k],
                                   .number = instances || grouped ? f * copies.count + k : -1,
                                   .of_group = grouped ? f : -1};
            st = read(scene, &m, error);
        }
    }
    firn_copies_free(&copies);
    return st;
}

firn_status firn_read_members(firn_scene *scene, const firn_value *list, const char *what,
                              firn_copied copied, firn_member_read *read, firn_error *error)
{
    int64_t total = 0;
    firn_status st = firn_check_kind(list, FIRN_LIST, what, error);
    for (const firn_value *v = list ? list->child : NULL; v && st == FIRN_OK; v = v->next) {
        st = read_entry(scene, v, what, copied, &total, read, error);
    }
    return st;
}

/* ---- groups ---- */

/* A copy of a group: its keys and place, in the lengths of what it is in. */
static firn_status make_group_frame(firn_scene *scene, firn_scene_group *g, const firn_member *m,
                                    firn_error *error)
{
    const firn_scene_collider *body = &g->body;
    const firn_scene_frame *in;
    const double outer = m->copy->scale * (m->frame ? m->frame->scale : 1);
    firn_scene_frame *made = NULL;
    firn_status st = frame_of_copy(scene, m, &in, error);
    if (st == FIRN_OK) st = make_frame(scene, in, outer * g->scale, m->where, &made, error);
    firn_scene_frame **at =
        st == FIRN_OK ? firn_one_more((void **)&g->frame, &g->frame_count, sizeof *g->frame) : NULL;
    const size_t count = (size_t)(body->key_count ? body->key_count : 1);
    firn_pose_key *key = at ? malloc(count * sizeof *key) : NULL;
    if (st == FIRN_OK && !key) st = firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    if (st != FIRN_OK) return st;
    *at = made;
    memcpy(key, body->key, count * sizeof *key);
    for (size_t k = 0; k < count; k++) {
        for (int a = 0; a < 3; a++) key[k].position[a] *= outer;
    }
    firn_collider_def *def = &made->def;
    memcpy(def->position, key->position, sizeof def->position);
    memcpy(def->rotation, key->rotation, sizeof def->rotation);
    memcpy(def->spin, body->def.spin, sizeof def->spin);
    for (int a = 0; a < 3; a++) def->pivot[a] = outer * body->def.pivot[a];
    def->interpolation = body->def.interpolation;
    def->keys = key; /* owned */
    def->key_count = body->key_count;
    return FIRN_OK;
}

static firn_status read_group(firn_scene *scene, firn_scene_group *g, const firn_value *v,
                              firn_error *error)
{
    const firn_scene_group *parent = NULL;
    firn_copies copies = {0};
    g->body.def = firn_collider_def_default();
    firn_status st = firn_read_section(scene, &firn_section_group, v, g, error);
    if (st != FIRN_OK) return st;
    if (!g->name) {
        return firn_value_fail(v, error, "a group needs a name, for its members to say");
    }
    g->where = v;
    st = find_group(scene, v, "parent", &parent, error);
    if (st == FIRN_OK) st = firn_read_pose(scene, v, &g->body, error);
    if (st == FIRN_OK) st = firn_copies_read(scene, g->instances_value, false, &copies, error);
    const int32_t frames = parent ? parent->frame_count : 1;
    if (st == FIRN_OK &&
        2 * (int64_t)frames * copies.count + scene->frame_count > 2 * FIRN_MOST_COPIES) {
        st = firn_value_fail(v, error, "copies make more than %d groups; use fewer",
                             FIRN_MOST_COPIES);
    }
    for (int32_t f = 0; f < frames && st == FIRN_OK; f++) {
        for (int32_t k = 0; k < copies.count && st == FIRN_OK; k++) {
            const firn_member m = {
                .where = v, .frame = parent ? parent->frame[f] : NULL, .copy = &copies.copy[k]};
            st = make_group_frame(scene, g, &m, error);
        }
    }
    g->copied = g->instances_value || (parent && parent->copied);
    firn_copies_free(&copies);
    return st == FIRN_OK ? firn_take_name(&scene->group_names, g->name, g, v, error) : st;
}

firn_status firn_read_groups(firn_scene *scene, firn_error *error)
{
    firn_status st = firn_make_array(scene->groups_value, FIRN_LIST, "groups", sizeof *scene->group,
                                     (void **)&scene->group, &scene->group_count, error);
    const firn_value *v = scene->groups_value ? scene->groups_value->child : NULL;
    for (int32_t i = 0; i < scene->group_count && st == FIRN_OK; i++, v = v->next) {
        st = read_group(scene, &scene->group[i], v, error);
    }
    return st;
}

void firn_free_groups(firn_scene *scene)
{
    for (int32_t i = 0; i < scene->group_count; i++) {
        free(scene->group[i].frame);
        free(scene->group[i].body.key);
    }
    for (int32_t i = 0; i < scene->frame_count; i++) {
        if (scene->frame[i]) free((void *)scene->frame[i]->def.keys);
        free(scene->frame[i]);
    }
    for (int32_t i = 0; i < scene->text_count; i++) free(scene->text[i]);
    free(scene->group);
    free(scene->frame);
    free(scene->text);
    firn_names_free(&scene->group_names);
}

/* ---- colliders in groups ---- */

/* All lengths of a collider and of its keys. */
static firn_status scale_collider(const firn_scene *scene, firn_scene_collider *c, double factor,
                                  firn_error *error)
{
    firn_collider_def *shape = &c->shape.def;
    double *points = (double *)shape->points; /* the scene's own */
    if (factor == 1) return FIRN_OK;
    shape->round *= factor;
    for (int a = 0; a < 3; a++) {
        shape->position[a] *= factor;
        shape->size[a] *= factor;
        c->def.pivot[a] *= factor;
    }
    for (int32_t i = 0; i < 2 * shape->point_count; i++) points[i] *= factor;
    for (int32_t k = 0; k == 0 || k < c->key_count; k++) {
        for (int a = 0; a < 3; a++) c->key[k].position[a] *= factor;
    }
    c->shape.mesh.scale *= factor;
    c->shape.mesh.thickness *= factor;
    c->def.voxel *= factor;
    c->shape.heights.thinnest *= factor;
    if (shape->mesh) return firn_scale_mesh(scene, factor, &shape->mesh, error);
    if (!shape->compound) return FIRN_OK;
    return firn_scale_compound(scene, factor, &shape->compound, error);
}

firn_status firn_place_collider(firn_scene *scene, const firn_member *m, firn_scene_collider *c,
                                firn_error *error)
{
    const firn_scene_frame *in;
    c->scale = m->copy->scale * (m->frame ? m->frame->scale : 1);
    const firn_status scaled = scale_collider(scene, c, c->scale, error);
    if (scaled != FIRN_OK) return scaled;
    if (firn_scene_moves(c) || firn_frame_moves(m->frame)) {
        const firn_status st = frame_of_copy(scene, m, &in, error);
        if (st == FIRN_OK && in) c->def.parent = &in->def;
        return st;
    }
    /* What never moves stands where it is without a frame. */
    const double scale = m->frame ? m->frame->scale : 1;
    double *position = c->key->position, *turn = c->key->rotation, way[3];
    if (!stays(m->copy)) {
        firn_quaternion_rotate(m->copy->turn, position, way);
        for (int a = 0; a < 3; a++) position[a] = scale * m->copy->translate[a] + way[a];
        firn_quaternion_multiply(m->copy->turn, turn, turn);
    }
    firn_frame_place(scene, m->frame, 0, position, turn);
    return FIRN_OK;
}
