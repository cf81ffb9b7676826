/* Objects and their contacts. */
#include "scene/copies.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/quaternion.h"

static firn_status find_material(const firn_scene *scene, const firn_member *m,
                                 firn_scene_object *o, firn_error *error)
{
    char near[300];
    if (!o->material) {
        if (scene->material_count == 1) { /* which else */
            o->material_index = 0;
            return FIRN_OK;
        }
        (void)firn_scene_find_material(scene, "", near, sizeof near);
        return firn_value_fail(o->where, error, "the object has no material%s", near);
    }
    o->material_index = firn_scene_find_material(scene, o->material, near, sizeof near);
    if (o->material_index >= 0) return FIRN_OK;
    const firn_value *said = m->copy->material_where;
    return firn_value_fail(said ? said : firn_value_get(o->where, "material"), error,
                           "there is no material \"%.60s\"%s", o->material, near);
}

static firn_status read_shell(const firn_scene *scene, firn_scene_object *o, firn_error *error)
{
    const firn_value *v = o->shell_value;
    if (!v) return FIRN_OK;
    firn_status st = firn_section_read(&firn_section_shell, v, &o->shell, error);
    if (st != FIRN_OK) return st;
    if (o->particles) {
        return firn_value_fail(v, error, "particle files have no surface to put a shell under");
    }
    if (!(o->shell.thickness > 0)) {
        return firn_value_fail(v, error,
                               "a shell needs a thickness, as {thickness: 0.02, young: 3}");
    }
    for (int32_t i = 0; firn_material_param(i) && st == FIRN_OK; i++) {
        const firn_param *p = firn_material_param(i);
        if (!firn_section_given(&firn_section_shell, &o->shell, p->name)) continue;
        double factor;
        memcpy(&factor, (const char *)&o->shell.factor + p->offset, sizeof factor);
        const firn_value *given = firn_value_get(v, p->name);
        st = firn_check_varied(&scene->material[o->material_index], p, factor, given ? given : v,
                               error);
    }
    return st;
}

/* Whether what is said of heat has a meaning. */
firn_status firn_check_has_heat(const firn_scene *scene, const firn_value *map, const char *name,
                                firn_error *error)
{
    const firn_value *v = firn_value_get(map, name);
    if (!v || scene->heat_value) return FIRN_OK;
    return firn_value_fail(v, error, "%s says nothing in a scene without heat; add heat: {}", name);
}

static firn_status read_object_heat(const firn_scene *scene, firn_scene_object *o,
                                    firn_error *error)
{
    static const char *const names[] = {"temperature", "temperature_noise", "concentration", NULL};
    firn_status st = FIRN_OK;
    for (int i = 0; names[i] && st == FIRN_OK; i++) {
        st = firn_check_has_heat(scene, o->where, names[i], error);
    }
    if (st != FIRN_OK || !o->temperature_noise_value) return st;
    st = firn_section_read(&firn_section_temperature_noise, o->temperature_noise_value,
                           &o->temperature_noise, error);
    const double least = firn_section_given(&firn_section_object, o, "temperature")
                             ? o->temperature
                             : scene->heat.def.ambient;
    if (st == FIRN_OK && o->temperature_noise.amount >= least) {
        st = firn_value_fail(o->temperature_noise_value, error,
                             "amount %g K would cool %g K to absolute zero; give less",
                             o->temperature_noise.amount, least);
    }
    return st;
}

/* Scales, turns and moves an object that stands as its entry says to where a member is. */
static firn_status place_object(firn_scene *scene, const firn_member *m, firn_scene_object *o,
                                firn_error *error)
{
    const firn_copy *c = m->copy;
    const double outer = m->frame ? m->frame->scale : 1;
    double still[4] = {1, 0, 0, 0}, way[3];
    if (c->velocity_where) memcpy(o->velocity, c->velocity, sizeof o->velocity);
    if (c->seed_where) o->seed = c->seed;
    if (c->material) o->material = c->material;
    memcpy(o->turn, c->turn, sizeof o->turn);
    firn_quaternion_rotate(c->turn, o->translate, way);
    for (int a = 0; a < 3; a++) {
        o->velocity[a] += c->more[a];
        o->scale[a] *= outer * c->scale;
        o->translate[a] = outer * (c->scale * way[a] + c->translate[a]);
    }
    if (m->frame) {
        double nowhere[3] = {0};
        firn_frame_place(scene, m->frame, 0, o->translate, o->turn);
        firn_frame_place(scene, m->frame, 0, nowhere, still);
        firn_quaternion_rotate(still, o->velocity, o->velocity);
        firn_quaternion_rotate(still, o->spin, o->spin);
    }
    if (firn_frame_moves(m->frame)) o->rides = m->frame;
    firn_status st = firn_name_copy(scene, m->number, &o->name, error);
    return st == FIRN_OK ? firn_name_copy(scene, m->of_group, &o->body, error) : st;
}

static firn_status read_object(firn_scene *scene, const firn_member *m, firn_error *error)
{
    firn_scene_object *o = firn_one_more((void **)&scene->object, &scene->object_count, sizeof *o);
    if (!o) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    const firn_value *v = o->where = m->where;
    firn_status st = firn_check_beside(&firn_section_object, v, error);
    if (st == FIRN_OK) st = firn_read_section(scene, &firn_section_object, v, o, error);
    if (st != FIRN_OK) return st;
    const int sources =
        (o->shape_value != NULL) + (o->mesh != NULL) + (o->voxels != NULL) + (o->particles != NULL);
    if (sources != 1) {
        return firn_value_fail(v, error,
                               "an object needs one of shape, mesh, voxels and particles; this "
                               "has %s",
                               sources ? "several" : "none");
    }
    if (o->shape_value) {
        o->has_shape = true;
        st = firn_read_shape(scene, o->shape_value, true, &o->shape, error);
    }
    if (st == FIRN_OK && o->inherit != 0 && !(o->has_shape && o->shape.mesh.file)) {
        st = firn_value_fail(firn_value_get(v, "inherit"), error,
                             "only a shape from a file moves, as {mesh: {file: x.abc}}");
    }
    if (st == FIRN_OK) st = place_object(scene, m, o, error);
    if (st == FIRN_OK) st = firn_read_emit(scene, m, o, error);
    if (st == FIRN_OK) st = find_material(scene, m, o, error);
    if (st == FIRN_OK) st = read_shell(scene, o, error);
    if (st == FIRN_OK) st = read_object_heat(scene, o, error);
    if (st == FIRN_OK && firn_section_given(&firn_section_object, o, "count") &&
        firn_section_given(&firn_section_object, o, "separation")) {
        st = firn_value_fail(v, error, "give count or separation, not both");
    }
    return st;
}

firn_status firn_read_objects(firn_scene *scene, firn_error *error)
{
    firn_status st = firn_read_members(scene, scene->objects_value, "objects", FIRN_COPIED_OBJECTS,
                                       read_object, error);
    for (int32_t i = 0; i < scene->object_count && st == FIRN_OK; i++) {
        firn_scene_object *o = &scene->object[i];
        st = firn_take_name(&scene->object_names, o->name, o, o->where, error);
    }
    return st;
}

static firn_status find_object(const firn_scene *scene, const firn_value *v, int32_t *out,
                               firn_error *error)
{
    const char *name = v->kind == FIRN_SCALAR ? v->text : "";
    const firn_scene_object *found = firn_names_find(&scene->object_names, name);
    if (found) {
        *out = (int32_t)(found - scene->object);
        return FIRN_OK;
    }
    char first[80];
    snprintf(first, sizeof first, "%.60s[0]", name);
    if (firn_names_find(&scene->object_names, first)) {
        return firn_value_fail(v, error,
                               "%.60s has copies; name each that is meant, in quotes, as \"%s\"",
                               name, first);
    }
    const char *names[65];
    int n = 0;
    for (int32_t i = 0; i < scene->object_count && n < 64; i++) {
        if (scene->object[i].name) names[n++] = scene->object[i].name;
    }
    names[n] = NULL;
    char near[300];
    return firn_value_fail(v, error, "there is no object \"%.60s\"%s", name,
                           n ? firn_nearest(name, names, near, sizeof near)
                             : "; give objects a name");
}

firn_status firn_read_contacts(firn_scene *scene, firn_error *error)
{
    firn_status st =
        firn_make_array(scene->contacts_value, FIRN_LIST, "contacts", sizeof *scene->contact,
                        (void **)&scene->contact, &scene->contact_count, error);
    const firn_value *v = scene->contacts_value ? scene->contacts_value->child : NULL;
    for (int32_t i = 0; v && scene->contact && st == FIRN_OK; i++, v = v->next) {
        firn_scene_contact *c = &scene->contact[i];
        st = firn_section_read(&firn_section_contact, v, c, error);
        if (st != FIRN_OK) return st;
        c->where = v;
        if (!c->objects || c->objects->kind != FIRN_LIST || firn_value_count(c->objects) != 2 ||
            !firn_section_given(&firn_section_contact, c, "friction")) {
            return firn_value_fail(c->objects ? c->objects : v, error,
                                   "a contact is {objects: [one, other], friction: 0.5}");
        }
        const firn_value *one = c->objects->child, *other = one->next;
        st = find_object(scene, one, &c->object[0], error);
        if (st == FIRN_OK) st = find_object(scene, other, &c->object[1], error);
        if (st == FIRN_OK && c->object[0] == c->object[1]) {
            st = firn_value_fail(other, error, "a contact takes two different objects");
        }
    }
    return st;
}
