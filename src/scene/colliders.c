/* Colliders with their keys, and what else acts on material: forces, sinks, heat. */
#include "scene/copies.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/quaternion.h"

/* One key: where it takes the frame that the shape has by itself. */
static firn_status read_key(const firn_value *v, int dim, double at[3], double degrees[3],
                            firn_error *error)
{
    static const char *const names[] = {"at", "rotate", NULL};
    int n = 0;
    if (v->kind != FIRN_MAP) {
        return firn_value_fail(v, error, "a key is {at: [x, y, z], rotate: [x, y, z]}");
    }
    firn_status st = FIRN_OK;
    for (const firn_value *p = v->child; p && st == FIRN_OK; p = p->next) {
        if (strcmp(p->key, "at") == 0) {
            st = firn_read_vector(p, "at", "m", dim, 3, at, &n, error);
        } else if (strcmp(p->key, "rotate") == 0) {
            st = firn_read_vector(p, "rotate", "degrees", dim, 3, degrees, &n, error);
        } else {
            char near[80];
            st = firn_value_fail(p, error, "a key has no parameter \"%.60s\"%s", p->key,
                                 firn_nearest(p->key, names, near, sizeof near));
        }
    }
    return st;
}

/* `at` or `rotate` as expressions; NULL is 0. */
static firn_status read_motion(const firn_value *v, const firn_param *row, int dim, double start[3],
                               firn_track *track, firn_error *error)
{
    if (!v) return FIRN_OK;
    if (v->kind == FIRN_MAP || (v->kind == FIRN_LIST && firn_value_count(v) < dim)) {
        return firn_value_fail(
            v, error,
            "%s must be %d expressions, as [\"0.2 * sin(2 * pi * time)\", 0, 0]; "
            "keys have times in front: {0: {%s: [0, 0, 0]}}",
            row->name, dim, row->name);
    }
    return firn_read_keyed(row, v, start, track, error);
}

/* keys: {at: [...], rotate: [...]}, of expressions of time: a key at each of their samples. */
static firn_status read_expressions(firn_scene_collider *c, const firn_value *where, int dim,
                                    bool *turns, firn_error *error)
{
    enum { MOST_POSES = 1 << 22 };
    static const firn_param rows[] = {{.name = "at", .kind = FIRN_VECTOR, .unit = "m"},
                                      {.name = "rotate", .kind = FIRN_VECTOR, .unit = "degrees"}};
    static const char *const names[] = {"at", "rotate", NULL};
    const firn_value *interpolation = firn_value_get(where, "interpolation");
    double value[2][3] = {{0}};
    firn_track track[2] = {{0}};
    for (const firn_value *v = c->keys->child; v; v = v->next) {
        char near[80];
        if (strcmp(v->key, names[0]) == 0 || strcmp(v->key, names[1]) == 0) continue;
        return firn_value_fail(v, error, "keys of expressions have no \"%.60s\"%s", v->key,
                               firn_nearest(v->key, names, near, sizeof near));
    }
    if (interpolation) {
        return firn_value_fail(interpolation, error,
                               "interpolation is for keys with times; expressions need none");
    }
    for (int i = 0; i < 2; i++) {
        const firn_status st = read_motion(firn_value_get(c->keys, names[i]), &rows[i], dim,
                                           value[i], &track[i], error);
        if (st != FIRN_OK) return st;
    }
    const firn_track *long_one = track[0].count > 0 ? &track[0] : &track[1];
    const int32_t count = long_one->count > 0 ? long_one->count : 1;
    firn_context *context = c->keys->context;
    context->poses += count;
    if (context->poses > MOST_POSES) {
        return firn_value_fail(c->keys, error,
                               "the scene's expressions make more than %d keys; use keys with "
                               "times, or fewer copies",
                               MOST_POSES);
    }
    firn_pose_key *key = calloc((size_t)count, sizeof *key);
    if (!key) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    free(c->key);
    c->key = key;
    c->key_count = count;
    for (int32_t k = 0; k < count; k++) {
        if (long_one->count > 0) key[k].time = long_one->times[k];
        for (int a = 0; a < 3; a++) {
            const ptrdiff_t i = 3 * (ptrdiff_t)k + a;
            const double degrees = track[1].count ? track[1].values[i] : value[1][a];
            key[k].position[a] = track[0].count ? track[0].values[i] : value[0][a];
            key[k].angle[a] = firn_degree * degrees;
            *turns |= degrees != 0;
        }
    }
    return FIRN_OK;
}

/* Key times are the words of the map. */
static firn_status read_keys(firn_scene_collider *c, const firn_value *where, int dim, bool *turns,
                             firn_error *error)
{
    if (firn_value_get(c->keys, "at") || firn_value_get(c->keys, "rotate")) {
        return read_expressions(c, where, dim, turns, error);
    }
    if (c->keys->kind != FIRN_MAP || !c->keys->child) {
        return firn_value_fail(c->keys, error,
                               "keys must be a map of times, as {0: {at: [0, 0, 0]}}, or of "
                               "expressions, as {at: [0, time, 0]}");
    }
    const int count = firn_value_count(c->keys);
    firn_pose_key *key = calloc((size_t)count, sizeof *key);
    if (!key) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    free(c->key);
    c->key = key;
    c->key_count = count;
    int i = 0;
    for (const firn_value *v = c->keys->child; v; v = v->next, i++) {
        const firn_value time = firn_value_of_key(v);
        double degrees[3] = {0};
        firn_status st = firn_read_real(&time, "the time of a key", "s", &key[i].time, error);
        if (st == FIRN_OK) st = read_key(v, dim, key[i].position, degrees, error);
        if (st == FIRN_OK && i > 0 && !(key[i].time > key[i - 1].time)) {
            st = firn_value_fail(v, error, "times of keys must rise");
        }
        if (st != FIRN_OK) return st;
        for (int a = 0; a < 3; a++) {
            key[i].angle[a] = firn_degree * degrees[a];
            *turns |= degrees[a] != 0;
        }
    }
    return FIRN_OK;
}

firn_status firn_read_pose(const firn_scene *scene, const firn_value *where, firn_scene_collider *c,
                           firn_error *error)
{
    firn_status st = FIRN_OK;
    double turn[4], position[3], rotation[4], way[3];
    bool turns = false, spins = false;
    if (c->shape_value)
        st = firn_read_shape(scene, c->shape_value, false, &c->shape, error);
    else
        c->shape.def = firn_collider_def_default();
    if (st != FIRN_OK) return st;
    firn_rotation_from_degrees(c->rotate, turn);
    firn_quaternion_rotate(turn, c->shape.def.position, position);
    for (int a = 0; a < 3; a++) position[a] += c->translate[a];
    firn_quaternion_multiply(turn, c->shape.def.rotation, rotation);
    c->key = calloc(1, sizeof *c->key);
    if (!c->key) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    if (c->keys) st = read_keys(c, where, (int)scene->dimension, &turns, error);
    if (st != FIRN_OK) return st;
    for (int a = 0; a < 3; a++) {
        c->def.spin[a] = firn_degree * c->spin[a];
        spins |= c->spin[a] != 0;
    }
    const bool given = firn_value_get(where, "pivot"), shaped = c->shape_value;
    if (spins && turns && !given && shaped) {
        return firn_value_fail(firn_value_get(where, "spin"), error,
                               "spin and keys that rotate need a pivot to turn about, as pivot: "
                               "[%g, %g, %g]",
                               position[0], position[1], position[2]);
    }
    c->def.interpolation = (firn_interpolation)c->interpolation;
    for (int a = 0; a < 3; a++) way[a] = given || (turns && shaped) ? c->pivot[a] - position[a] : 0;
    const double back[4] = {rotation[0], -rotation[1], -rotation[2], -rotation[3]};
    firn_quaternion_rotate(back, way, c->def.pivot);
    for (int32_t k = 0; k == 0 || k < c->key_count; k++) {
        for (int a = 0; a < 3; a++) c->key[k].position[a] += position[a];
        memcpy(c->key[k].rotation, rotation, sizeof rotation);
    }
    return FIRN_OK;
}

static firn_status check_collider_heat(const firn_scene *scene, const firn_value *v,
                                       firn_error *error)
{
    const firn_value *transfer = firn_value_get(v, "transfer");
    if (transfer && !firn_value_get(v, "temperature")) {
        return firn_value_fail(transfer, error,
                               "transfer needs a temperature to flow to, as {temperature: 80C, "
                               "transfer: 500}");
    }
    return firn_check_has_heat(scene, v, "temperature", error);
}

static firn_status read_cut(const firn_scene *scene, firn_scene_collider *c, firn_error *error)
{
    double *n = c->cut.normal, square = 0;
    if (!c->cut_value) return FIRN_OK;
    if (scene->dimension == 2) {
        return firn_value_fail(c->cut_value, error,
                               "cut is for scenes in 3D; in 2D, visible: false hides a collider");
    }
    const firn_status st =
        firn_read_section(scene, &firn_section_cut, c->cut_value, &c->cut, error);
    for (int a = 0; a < 3; a++) square += n[a] * n[a];
    if (st == FIRN_OK && !(square > 1e-24)) {
        return firn_value_fail(c->cut_value, error, "normal of a cut must not be 0, as [0, 0, 1]");
    }
    for (int a = 0; a < 3; a++) n[a] /= sqrt(square);
    return st;
}

static firn_status read_collider(firn_scene *scene, const firn_member *m, firn_error *error)
{
    firn_scene_collider *c =
        firn_one_more((void **)&scene->collider, &scene->collider_count, sizeof *c);
    if (!c) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    const firn_value *v = c->where = m->where;
    c->def = firn_collider_def_default();
    firn_status st = firn_check_beside(&firn_section_collider, v, error);
    if (st == FIRN_OK) st = firn_read_section(scene, &firn_section_collider, v, c, error);
    if (st == FIRN_OK && !c->shape_value) {
        st = firn_value_fail(v, error, "a collider needs a shape, as {plane: {}}");
    }
    if (st == FIRN_OK) {
        c->def.surface_spin_keys = c->surface_spin_keys;
        st = firn_track_scale(&scene->context, firn_degree, &c->def.surface_spin_keys, error);
    }
    if (st == FIRN_OK) st = firn_read_pose(scene, v, c, error);
    if (st == FIRN_OK) st = check_collider_heat(scene, v, error);
    if (st == FIRN_OK) st = read_cut(scene, c, error);
    if (st == FIRN_OK) st = firn_place_collider(scene, m, c, error);
    return st == FIRN_OK ? firn_name_copy(scene, m->number, &c->name, error) : st;
}

firn_status firn_read_colliders(firn_scene *scene, firn_error *error)
{
    firn_status st = firn_read_members(scene, scene->colliders_value, "colliders", FIRN_COPIED,
                                       read_collider, error);
    firn_names names = {0};
    for (int32_t i = 0; i < scene->collider_count && st == FIRN_OK; i++) {
        firn_scene_collider *c = &scene->collider[i];
        st = firn_take_name(&names, c->name, c, c->where, error);
    }
    firn_names_free(&names);
    return st;
}

firn_status firn_read_forces(firn_scene *scene, firn_error *error)
{
    firn_status st = firn_make_array(scene->forces_value, FIRN_MAP, "forces", sizeof *scene->force,
                                     (void **)&scene->force, &scene->force_count, error);
    const firn_value *v = scene->forces_value ? scene->forces_value->child : NULL;
    for (int32_t i = 0; i < scene->force_count && st == FIRN_OK; i++, v = v->next) {
        const firn_value time = firn_value_of_key(v);
        int n = 0;
        st = firn_read_real(&time, "the time of a force", "s", &scene->force[i].time, error);
        if (st == FIRN_OK) {
            st = firn_read_vector(v, "acceleration", "m/s2", (int)scene->dimension, 3,
                                  scene->force[i].acceleration, &n, error);
        }
        if (st == FIRN_OK && i > 0 && !(scene->force[i].time > scene->force[i - 1].time)) {
            st = firn_value_fail(v, error, "times of forces must rise");
        }
    }
    return st;
}

static firn_status read_sink(firn_scene *scene, const firn_member *m, firn_error *error)
{
    firn_scene_sink *s = firn_one_more((void **)&scene->sink, &scene->sink_count, sizeof *s);
    if (!s) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    const firn_value *v = s->where = m->where;
    const firn_status st = firn_section_read(&firn_section_sink, v, s, error);
    if (st != FIRN_OK) return st;
    if (!s->shape_value) return firn_value_fail(v, error, "a sink needs a shape");
    if (s->end < s->start) {
        return firn_value_fail(v, error, "end %g s is before start %g s", s->end, s->start);
    }
    s->frame = m->frame;
    return firn_read_shape(scene, s->shape_value, true, &s->shape, error);
}

firn_status firn_read_sinks(firn_scene *scene, firn_error *error)
{
    return firn_read_members(scene, scene->sinks_value, "sinks", FIRN_COPIED_BY_GROUPS, read_sink,
                             error);
}

static firn_status read_source(firn_scene *scene, const firn_member *m, firn_error *error)
{
    firn_scene_heat *h = &scene->heat;
    firn_scene_heat_source *s = firn_one_more((void **)&h->source, &h->source_count, sizeof *s);
    if (!s) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    const firn_value *v = m->where;
    s->body.def = firn_collider_def_default();
    firn_status st = firn_read_section(scene, &firn_section_heat_source, v, s, error);
    if (st != FIRN_OK) return st;
    if (!s->body.shape_value || !firn_section_given(&firn_section_heat_source, s, "power")) {
        return firn_value_fail(v, error,
                               "a source is {shape: {sphere: {radius: 0.1}}, power: 1e6}");
    }
    if (s->end < s->start) {
        return firn_value_fail(v, error, "end %g s is before start %g s", s->end, s->start);
    }
    st = firn_read_pose(scene, v, &s->body, error);
    return st == FIRN_OK ? firn_place_collider(scene, m, &s->body, error) : st;
}

firn_status firn_read_heat(firn_scene *scene, firn_error *error)
{
    if (!scene->heat_value) return FIRN_OK;
    scene->heat.def = firn_sim_def_default().heat;
    scene->heat.def.enabled = 1;
    const firn_status st =
        firn_section_read(&firn_section_heat, scene->heat_value, &scene->heat, error);
    if (st != FIRN_OK) return st;
    return firn_read_members(scene, scene->heat.sources_value, "sources", FIRN_COPIED_BY_GROUPS,
                             read_source, error);
}
