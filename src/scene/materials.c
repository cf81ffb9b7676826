/* Materials: presets and laws, noises and looks. */
#include "scene/read.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

/* Whether a parameter is one that the material's law reads. */
static firn_status check_read(const firn_scene_material *m, const firn_param *p,
                              const firn_value *where, firn_error *error)
{
    const firn_param *const *reads = firn_law_params(m->def.law);
    const char *names[64];
    int n = 0;
    for (; n < 63 && reads[n]; n++) {
        if (reads[n] == p) return FIRN_OK;
        names[n] = reads[n]->name;
    }
    names[n] = NULL;
    char near[300];
    return firn_value_fail(where, error, "%.60s has no %s under the law %s%s", m->name, p->name,
                           firn_law_name(m->def.law), firn_nearest("", names, near, sizeof near));
}

firn_status firn_check_varied(const firn_scene_material *m, const firn_param *p, double factor,
                              const firn_value *where, firn_error *error)
{
    double low, high;
    memcpy(&low, (const char *)&m->def + p->offset, sizeof low);
    const firn_status st = check_read(m, p, where, error);
    if (st != FIRN_OK) return st;
    if (low == 0) {
        return firn_value_fail(
            where, error, "%s of %.60s is 0, and stays so times anything; give it a value first",
            p->name, m->name);
    }
    low = high = low * factor;
    for (int32_t i = 0; i < m->noise_count; i++) {
        const firn_scene_noise *n = &m->noise[i];
        if (firn_material_param(n->parameter) != p) continue;
        low *= 1 - n->amount;
        high *= 1 + n->amount;
    }
    if (fmin(low, high) >= p->least && fmax(low, high) <= p->most) return FIRN_OK;
    return firn_value_fail(
        where, error, "%s of %.60s would be from %g to %g%s%s; it must be from %g to %g", p->name,
        m->name, fmin(low, high), fmax(low, high), *p->unit ? " " : "", p->unit, p->least, p->most);
}

static bool same_layer(const firn_scene_noise *a, const firn_scene_noise *b)
{
    return a->feature == b->feature && a->octaves == b->octaves && a->seed == b->seed;
}

/* Noises that are the same function of position count as one layer. That on density is in the masses. */
static firn_status number_layer(firn_scene_material *m, int32_t index, const firn_value *where,
                                firn_error *error)
{
    firn_scene_noise *n = &m->noise[index];
    n->layer = -1;
    if (firn_material_param(n->parameter)->offset == offsetof(firn_material_def, density)) {
        return FIRN_OK;
    }
    for (int32_t i = 0; i < index && n->layer < 0; i++) {
        if (m->noise[i].layer >= 0 && same_layer(&m->noise[i], n)) n->layer = m->noise[i].layer;
    }
    if (n->layer >= 0) return FIRN_OK;
    if (m->layer_count == FIRN_NOISE_LAYERS) {
        return firn_value_fail(where, error,
                               "%.60s has more than %d noises that differ; give some the same "
                               "feature, octaves and seed",
                               m->name, FIRN_NOISE_LAYERS);
    }
    n->layer = m->layer_count++;
    return FIRN_OK;
}

static firn_status read_noise(firn_scene_material *m, firn_error *error)
{
    firn_status st = firn_make_array(m->noise_value, FIRN_LIST, "noise", sizeof *m->noise,
                                     (void **)&m->noise, &m->noise_count, error);
    const firn_value *v = m->noise_value ? m->noise_value->child : NULL;
    for (int32_t i = 0; v && m->noise && st == FIRN_OK; i++, v = v->next) {
        st = firn_section_read(&firn_section_noise, v, &m->noise[i], error);
        if (st == FIRN_OK) st = number_layer(m, i, v, error);
    }
    v = m->noise_value ? m->noise_value->child : NULL;
    for (int32_t i = 0; v && m->noise && st == FIRN_OK; i++, v = v->next) {
        st = firn_check_varied(m, firn_material_param(m->noise[i].parameter), 1, v, error);
    }
    return st;
}

/* A name, or a map that begins with one; the rest are changes to it. */
static firn_status read_look(firn_scene_material *m, const firn_preset *preset, firn_error *error)
{
    const firn_value *v = m->look_value, *name = v;
    m->look = *firn_look_of(preset);
    if (firn_law_get_info(m->def.law).melts && !firn_law_get_info(preset->law).melts)
        m->look = *firn_look_find("wax");
    if (!v) return FIRN_OK;
    if (v->kind == FIRN_MAP) name = firn_value_get(v, "name");
    if (name) {
        const char *names[33];
        int n = 0;
        for (; n < 32 && firn_looks[n].name; n++) names[n] = firn_looks[n].name;
        names[n] = NULL;
        int32_t row = 0;
        firn_status st = firn_read_choice(name, "look", names, &row, error);
        if (st != FIRN_OK) return st;
        m->look = firn_looks[row].look;
    }
    if (v->kind != FIRN_MAP) return FIRN_OK;
    const firn_status st = firn_section_read(&firn_section_look, v, &m->look, error);
    const firn_value *color = firn_value_get(v, "color");
    if (st == FIRN_OK && color && firn_value_count(color) != 3) {
        return firn_value_fail(color, error, "color must be 3 numbers: red, green and blue");
    }
    return st;
}

/* Fills in from the preset what the scene does not give, and checks the whole. */
static firn_status read_preset(const firn_scene *scene, firn_scene_material *m, int index,
                               const firn_value *v, firn_error *error)
{
    const firn_preset *preset = firn_preset_find(m->preset);
    if (!preset) {
        const char *names[64];
        int n = 0;
        for (; n < 63 && firn_preset_get(n); n++) names[n] = firn_preset_get(n)->name;
        names[n] = NULL;
        char near[300];
        return firn_value_fail(firn_value_get(v, "preset"), error,
                               "preset \"%.60s\" is not known%s", m->preset,
                               firn_nearest(m->preset, names, near, sizeof near));
    }
    const firn_material_def given = m->def;
    m->def = firn_material_def_preset(preset);
    if (firn_section_given(&firn_section_material, m, "law")) m->def.law = (firn_law_kind)m->law;
    for (int32_t i = 0; firn_material_param(i); i++) {
        const firn_param *p = firn_material_param(i);
        const firn_value *of = firn_value_get(v, p->name);
        if (!of && p->alias) of = firn_value_get(v, p->alias);
        if (!of) continue;
        const firn_status st = check_read(m, p, of, error);
        if (st != FIRN_OK) return st;
        memcpy((char *)&m->def + p->offset, (const char *)&given + p->offset, sizeof(double));
    }
    firn_error inner = {0};
    if (firn_material_check(&m->def, index, &inner) == FIRN_OK) return FIRN_OK;
    return firn_scene_refuse(scene, &inner, error);
}

/* As messages of the engine call it: what fits, in whole characters. */
static void name_material(firn_scene_material *m)
{
    size_t n = strlen(m->name);
    if (n >= sizeof m->def.name) n = sizeof m->def.name - 1;
    while (n > 0 && ((unsigned char)m->name[n] & 0xc0) == 0x80) n--;
    memcpy(m->def.name, m->name, n);
    m->def.name[n] = 0;
}

firn_status firn_read_materials(firn_scene *scene, firn_error *error)
{
    firn_status st =
        firn_make_array(scene->materials_value, FIRN_MAP, "materials", sizeof *scene->material,
                        (void **)&scene->material, &scene->material_count, error);
    const firn_value *v = scene->materials_value ? scene->materials_value->child : NULL;
    for (int32_t i = 0; i < scene->material_count && st == FIRN_OK; i++, v = v->next) {
        firn_scene_material *m = &scene->material[i];
        st = firn_section_read(&firn_section_material, v, m, error);
        if (st != FIRN_OK) return st;
        m->name = v->key;
        m->where = v;
        st = firn_take_name(&scene->material_names, m->name, m, v, error);
        if (st == FIRN_OK) st = read_preset(scene, m, i, v, error);
        name_material(m);
        if (st == FIRN_OK) st = read_noise(m, error);
        if (st == FIRN_OK) st = read_look(m, firn_preset_find(m->preset), error);
        if (st != FIRN_OK) return st;
    }
    return st;
}

int32_t firn_scene_find_material(const firn_scene *scene, const char *name, char *near, size_t size)
{
    const firn_scene_material *found = firn_names_find(&scene->material_names, name);
    if (found) return (int32_t)(found - scene->material);
    const char *names[65];
    int n = 0;
    for (; n < 64 && n < scene->material_count; n++) names[n] = scene->material[n].name;
    names[n] = NULL;
    if (near && n) firn_nearest(name, names, near, size);
    if (near && !n) snprintf(near, size, "; add one under materials");
    return -1;
}
