/* From the tree of values to a scene: every section read by its rows, names resolved, what cannot go
 * together refused. Nothing here touches a file other than the scene's own. */
#include "scene/scene.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "io/io.h"

static const double DEGREE = 3.14159265358979323846 / 180;

/* ---- rotations ---- */

static void quaternion_multiply(const double a[4], const double b[4], double out[4])
{
    const double q[4] = {a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
                         a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
                         a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
                         a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]};
    memcpy(out, q, sizeof q);
}

void firn_rotation_from_degrees(const double degrees[3], double quaternion[4])
{
    double q[4] = {1, 0, 0, 0};
    for (int a = 0; a < 3; a++) {
        const double half = 0.5 * DEGREE * degrees[a];
        double turn[4] = {cos(half), 0, 0, 0};
        turn[1 + a] = sin(half);
        quaternion_multiply(turn, q, q);
    }
    memcpy(quaternion, q, sizeof q);
}

static void rotate_vector(const double q[4], const double v[3], double out[3])
{
    const double p[4] = {0, v[0], v[1], v[2]}, back[4] = {q[0], -q[1], -q[2], -q[3]};
    double r[4];
    quaternion_multiply(q, p, r);
    quaternion_multiply(r, back, r);
    memcpy(out, r + 1, 3 * sizeof *out);
}

/* The shortest turn that takes +y to the direction d. False when d is zero. */
static bool rotation_of_y(const double d[3], double q[4])
{
    const double length = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    if (!(length > 0)) return false;
    const double x = d[0] / length, y = d[1] / length, z = d[2] / length;
    if (y < -1 + 1e-12) { /* half a turn, about any axis across */
        q[0] = q[2] = q[3] = 0;
        q[1] = 1;
        return true;
    }
    /* (1 + cos, axis x sin) is twice the half angle's quaternion times its cosine. */
    const double size = sqrt(2 * (1 + y));
    q[0] = size / 2;
    q[1] = z / size;
    q[2] = 0;
    q[3] = -x / size;
    return true;
}

/* ---- sections ---- */

/* A section whose vectors have as many numbers as the scene has dimensions; flat ones may have a third. */
static firn_status read_section(const firn_scene *scene, const firn_section *section,
                                const firn_value *map, void *out, firn_error *error)
{
    const firn_status st = firn_section_read(section, map, out, error);
    const firn_param *row;
    for (int i = 0; st == FIRN_OK && (row = firn_section_row(section, i, NULL)); i++) {
        const firn_value *v = row->kind == FIRN_VECTOR ? firn_value_get(map, row->name) : NULL;
        if (v && scene->dimension == 3 && firn_value_count(v) != 3) {
            return firn_value_fail(v, error, "%s must be 3 numbers, as the scene is in 3D",
                                   row->name);
        }
    }
    return st;
}

/* The entry of a map by its key or an alias of that, or of a list or map by number; NULL: none. */
static const firn_value *find_part(const firn_value *v, const char *part)
{
    char *end = NULL;
    long number = strtol(part, &end, 10);
    if (*part && !*end) {
        const firn_value *c = v->child;
        while (c && number-- > 0) c = c->next;
        return c;
    }
    const firn_value *found = firn_value_get(v, part);
    const firn_param *row;
    for (int s = 0; firn_sections[s] && !found; s++) {
        for (int i = 0; !found && (row = firn_section_row(firn_sections[s], i, NULL)); i++) {
            if (row->alias && strcmp(row->name, part) == 0) found = firn_value_get(v, row->alias);
        }
    }
    return found;
}

/* What a path of the engine's leads to, as "materials[0].poisson" or "dt_min", as far as the scene has
 * it; NULL: nothing that a scene says. */
static const firn_value *find_place(const firn_scene *scene, const char *path)
{
    const firn_value *at = scene->tree.root;
    char part[80];
    size_t length = strcspn(path, ".[");
    snprintf(part, sizeof part, "%.*s", (int)length, path);
    for (int i = 0; !firn_value_get(at, part); i++) { /* a list, or a parameter of the simulation */
        const firn_param *row = firn_section_row(&firn_section_simulation, i, NULL);
        if (!row) return NULL;
        if (strcmp(row->name, part) != 0) continue;
        if (scene->simulation_value) at = scene->simulation_value;
        break;
    }
    while (*path) {
        length = strcspn(path, ".[]");
        snprintf(part, sizeof part, "%.*s", (int)length, path);
        path += length + strspn(path + length, ".[]");
        const firn_value *next = find_part(at, part);
        if (!next) break;
        at = next;
    }
    return at;
}

void firn_scene_name_collider(const firn_scene *scene, const char *message, char *out, size_t size)
{
    static const char list[] = "colliders[", mesh[] = ".mesh: ";
    char *end = NULL;
    const bool begins = strncmp(message, list, sizeof list - 1) == 0;
    const long index = begins ? strtol(message + sizeof list - 1, &end, 10) : -1;
    const char *name =
        index >= 0 && index < scene->collider_count ? scene->collider[index].name : NULL;
    if (!name || *end++ != ']' || *end != '.') {
        snprintf(out, size, "%s", message);
        return;
    }
    const bool of_mesh = strncmp(end, mesh, sizeof mesh - 1) == 0;
    snprintf(out, size, "collider %.60s: %s", name, end + (of_mesh ? sizeof mesh - 1 : 1));
}

firn_status firn_scene_refuse(const firn_scene *scene, const firn_error *inner, firn_error *error)
{
    const firn_value *where = inner->path[0] ? find_place(scene, inner->path) : NULL;
    char place[FIRN_LOCATION_SIZE], message[sizeof inner->message];
    if (!error) return inner->status;
    *error = *inner;
    if (!where) return inner->status;
    firn_scene_name_collider(scene, inner->message, message, sizeof message);
    (void)firn_fail(error, inner->status, "%s: %s", firn_value_location(where, place), message);
    memcpy(error->path, inner->path, sizeof error->path);
    return inner->status;
}

/* ---- shapes ---- */

static firn_status read_points(firn_scene_shape *s, const char *name, firn_error *error)
{
    const firn_value *list = s->points_value;
    const int count = list ? firn_value_count(list) : 0;
    if (count < 3) {
        return firn_value_fail(s->where, error, "%s must be a list of at least three [x, y]", name);
    }
    double *point = calloc(2 * (size_t)count, sizeof *point);
    if (!point) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    s->def.points = point;
    s->def.point_count = count;
    firn_status st = FIRN_OK;
    int n = 0;
    for (const firn_value *v = list->child; v && st == FIRN_OK; v = v->next, point += 2) {
        st = firn_read_vector(v, "a corner", "m", 2, 2, point, &n, error);
    }
    return st;
}

/* Where the shape sits when the scene says nothing more, and how large it is. */
static firn_status use_keys(const firn_scene *scene, const firn_shape *shape, firn_scene_shape *s,
                            firn_error *error)
{
    const int dim = (int)scene->dimension;
    s->def = firn_collider_def_default();
    s->up[1] = 1;
    for (int k = 0; shape->key[k].role; k++) {
        const firn_shape_key *key = &shape->key[k];
        const bool given = s->given >> k & 1u;
        double *value = s->key[k], length = 0;
        firn_status st = FIRN_OK;
        switch (key->role) {
        case FIRN_KEY_POSITION: memcpy(s->def.position, value, sizeof s->def.position); break;
        case FIRN_KEY_UP:
            memcpy(s->up, value, sizeof s->up);
            if (!given && scene->up == 1) s->up[1] = 0, s->up[2] = 1;
            break;
        case FIRN_KEY_FROM:
            if (dim == 2) value[2] = 0;
            memcpy(s->def.position, value, sizeof s->def.position);
            break;
        case FIRN_KEY_TO:
            if (dim == 2) value[2] = 0;
            for (int a = 0; a < 3; a++) {
                s->up[a] = value[a] - s->def.position[a];
                s->def.position[a] = 0.5 * (s->def.position[a] + value[a]);
                length = hypot(length, s->up[a]);
            }
            s->def.size[key->at] = 0.5 * length;
            break;
        case FIRN_KEY_LENGTH: s->def.size[key->at] = key->times * value[0]; break;
        case FIRN_KEY_LENGTHS:
            for (int a = 0; a < dim; a++) {
                s->def.size[a] = key->times * value[a];
                if (value[a] > 0) continue;
                return firn_value_fail(firn_value_get(s->where, key->name), error,
                                       "%s %g along axis %d must be above 0 m", key->name, value[a],
                                       a);
            }
            break;
        case FIRN_KEY_POINTS: st = read_points(s, key->name, error); break;
        case FIRN_KEY_NONE: break;
        }
        if (st != FIRN_OK) return st;
        if (rotation_of_y(s->up, s->def.rotation)) continue;
        if (key->role == FIRN_KEY_UP) {
            return firn_value_fail(s->where, error, "%s must not be zero", key->name);
        }
        return firn_value_fail(s->where, error, "from and to must differ; or use a sphere");
    }
    return FIRN_OK;
}

/* `fills`: whether particles are to fill it. */
static firn_status read_shape(const firn_scene *scene, const firn_value *v, bool fills,
                              firn_scene_shape *out, firn_error *error)
{
    const unsigned here = scene->dimension == 3 ? FIRN_3D : FIRN_2D;
    const char *names[2 * FIRN_SHAPE_COUNT + 1];
    char near[200];
    const firn_value *entry = v->child;
    const bool one = v->kind == FIRN_MAP && firn_value_count(v) == 1;
    firn_scene_shape_row row;
    int n = 0, found = -1;
    for (int i = 0; firn_scene_shape_get(i, &row); i++) {
        if (one && strcmp(row.section.name, entry->key) == 0) found = i;
        if ((fills ? row.filled : row.dimensions) & here) names[n++] = row.section.name;
    }
    names[n] = NULL;
    if (!one) {
        return firn_value_fail(v, error, "shape takes one entry, as {sphere: {radius: 0.1}}%s",
                               firn_nearest("", names, near, sizeof near));
    }
    if (found < 0) {
        return firn_value_fail(entry, error, "there is no shape \"%.60s\"%s", entry->key,
                               firn_nearest(entry->key, names, near, sizeof near));
    }
    (void)firn_scene_shape_get(found, &row);
    if (!((fills ? row.filled : row.dimensions) & here)) {
        return firn_value_fail(entry, error, "%s is not a shape for %s in %dD%s%s", entry->key,
                               fills ? "objects" : "colliders", (int)scene->dimension,
                               row.dimensions & here ? ", as it has no end to fill it to" : "",
                               firn_nearest("", names, near, sizeof near));
    }
    *out = (firn_scene_shape){0};
    firn_status st = read_section(scene, &row.section, entry, out, error);
    if (st != FIRN_OK) return st;
    out->where = entry;
    st = use_keys(scene, firn_shape_get(row.kind), out, error);
    if (st != FIRN_OK) return st;
    out->def.shape = row.kind;
    if (firn_shape_get(row.kind)->from_file) { /* what it is made of is read later */
        return out->mesh.file ? FIRN_OK
                              : firn_value_fail(entry, error, "%s needs a file", entry->key);
    }
    firn_error inner = {0};
    st = firn_shape_check(&out->def, &inner);
    return st == FIRN_OK ? st : firn_value_pass(entry, &inner, error);
}

/* ---- lists ---- */

/* Memory for the entries of a list or map; *count receives how many. */
static firn_status make_array(const firn_value *v, firn_value_kind kind, const char *what,
                              size_t size, void **out, int32_t *count, firn_error *error)
{
    *out = NULL;
    *count = 0;
    if (!v) return FIRN_OK;
    if (v->kind != kind) {
        return firn_value_fail(v, error, "%s must be a %s", what,
                               kind == FIRN_LIST ? "list: lines that begin with a dash"
                                                 : "map: lines like `name: ...`");
    }
    const int n = firn_value_count(v);
    if (n == 0) return FIRN_OK;
    *out = calloc((size_t)n, size);
    if (!*out) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    *count = n;
    return FIRN_OK;
}

/* Notes whose name it is; NULL is nobody's. */
static firn_status take_name(firn_names *names, const char *name, void *thing,
                             const firn_value *where, firn_error *error)
{
    if (!name) return FIRN_OK;
    if (firn_names_find(names, name)) {
        return firn_value_fail(where, error, "the name \"%.60s\" is used twice", name);
    }
    return firn_names_add(names, name, thing) ? FIRN_OK
                                              : firn_fail(error, FIRN_NO_MEMORY, "out of memory");
}

/* ---- sections with code of their own ---- */

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

/* Whether a parameter stays within its range, times a factor and whatever noise makes of it. `where` is
 * what to blame. */
static firn_status check_varied(const firn_scene_material *m, const firn_param *p, double factor,
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
    firn_status st = make_array(m->noise_value, FIRN_LIST, "noise", sizeof *m->noise,
                                (void **)&m->noise, &m->noise_count, error);
    const firn_value *v = m->noise_value ? m->noise_value->child : NULL;
    for (int32_t i = 0; v && m->noise && st == FIRN_OK; i++, v = v->next) {
        st = firn_section_read(&firn_section_noise, v, &m->noise[i], error);
        if (st == FIRN_OK) st = number_layer(m, i, v, error);
    }
    v = m->noise_value ? m->noise_value->child : NULL;
    for (int32_t i = 0; v && m->noise && st == FIRN_OK; i++, v = v->next) {
        st = check_varied(m, firn_material_param(m->noise[i].parameter), 1, v, error);
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
    return v->kind == FIRN_MAP ? firn_section_read(&firn_section_look, v, &m->look, error)
                               : FIRN_OK;
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

static firn_status read_materials(firn_scene *scene, firn_error *error)
{
    firn_status st =
        make_array(scene->materials_value, FIRN_MAP, "materials", sizeof *scene->material,
                   (void **)&scene->material, &scene->material_count, error);
    const firn_value *v = scene->materials_value ? scene->materials_value->child : NULL;
    for (int32_t i = 0; i < scene->material_count && st == FIRN_OK; i++, v = v->next) {
        firn_scene_material *m = &scene->material[i];
        st = firn_section_read(&firn_section_material, v, m, error);
        if (st != FIRN_OK) return st;
        m->name = v->key;
        m->where = v;
        st = take_name(&scene->material_names, m->name, m, v, error);
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

static firn_status find_material(const firn_scene *scene, firn_scene_object *o, firn_error *error)
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
    return firn_value_fail(firn_value_get(o->where, "material"), error,
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
        st = check_varied(&scene->material[o->material_index], p, factor, given ? given : v, error);
    }
    return st;
}

/* Whether what is said of heat has a meaning. */
static firn_status check_has_heat(const firn_scene *scene, const firn_value *map, const char *name,
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
        st = check_has_heat(scene, o->where, names[i], error);
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

static firn_status read_objects(firn_scene *scene, firn_error *error)
{
    firn_status st = make_array(scene->objects_value, FIRN_LIST, "objects", sizeof *scene->object,
                                (void **)&scene->object, &scene->object_count, error);
    if (scene->object_count > 65536) { /* particles know theirs by 16 bits */
        return firn_value_fail(scene->objects_value, error,
                               "%d objects must be at most 65536; use a particle file for many",
                               scene->object_count);
    }
    const firn_value *v = scene->objects_value ? scene->objects_value->child : NULL;
    for (int32_t i = 0; i < scene->object_count && st == FIRN_OK; i++, v = v->next) {
        firn_scene_object *o = &scene->object[i];
        st = read_section(scene, &firn_section_object, v, o, error);
        if (st != FIRN_OK) return st;
        o->where = v;
        const int sources = (o->shape_value != NULL) + (o->mesh != NULL) + (o->voxels != NULL) +
                            (o->particles != NULL);
        if (sources != 1) {
            return firn_value_fail(v, error,
                                   "an object needs one of shape, mesh, voxels and particles; this "
                                   "has %s",
                                   sources ? "several" : "none");
        }
        if (o->shape_value) {
            o->has_shape = true;
            st = read_shape(scene, o->shape_value, true, &o->shape, error);
        }
        if (st == FIRN_OK && o->inherit != 0 &&
            !(o->has_shape && firn_shape_get(o->shape.def.shape)->from_file)) {
            st = firn_value_fail(firn_value_get(v, "inherit"), error,
                                 "only a shape from a file moves, as {mesh: {file: x.abc}}");
        }
        if (st == FIRN_OK && o->emit_value) {
            o->emits = true;
            st = firn_section_read(&firn_section_emit, o->emit_value, &o->emit, error);
            if (st == FIRN_OK && o->particles) {
                st = firn_value_fail(o->emit_value, error, "particle files cannot be emitted");
            }
            if (st == FIRN_OK && o->emit.end < o->emit.start) {
                st = firn_value_fail(o->emit_value, error, "end %g s is before start %g s",
                                     o->emit.end, o->emit.start);
            }
        }
        if (st == FIRN_OK) st = find_material(scene, o, error);
        if (st == FIRN_OK) st = read_shell(scene, o, error);
        if (st == FIRN_OK) st = read_object_heat(scene, o, error);
        if (st == FIRN_OK && firn_section_given(&firn_section_object, o, "count") &&
            firn_section_given(&firn_section_object, o, "separation")) {
            st = firn_value_fail(v, error, "give count or separation, not both");
        }
        if (st == FIRN_OK) st = take_name(&scene->object_names, o->name, o, v, error);
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

static firn_status read_contacts(firn_scene *scene, firn_error *error)
{
    firn_status st =
        make_array(scene->contacts_value, FIRN_LIST, "contacts", sizeof *scene->contact,
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

/* Key times are the words of the map. */
static firn_status read_keys(firn_scene_collider *c, int dim, bool *turns, firn_error *error)
{
    if (c->keys->kind != FIRN_MAP || !c->keys->child) {
        return firn_value_fail(c->keys, error,
                               "keys must be a map of times, as {0: {at: [0, 0, 0]}}");
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
            key[i].angle[a] = DEGREE * degrees[a];
            *turns |= degrees[a] != 0;
        }
    }
    return FIRN_OK;
}

/* Shape and keys of a collider whose rows are read. */
static firn_status place_collider(const firn_scene *scene, const firn_value *where,
                                  firn_scene_collider *c, firn_error *error)
{
    firn_status st = read_shape(scene, c->shape_value, false, &c->shape, error);
    double turn[4], position[3], rotation[4], way[3];
    bool turns = false, spins = false;
    if (st != FIRN_OK) return st;
    firn_rotation_from_degrees(c->rotate, turn);
    rotate_vector(turn, c->shape.def.position, position);
    for (int a = 0; a < 3; a++) position[a] += c->translate[a];
    quaternion_multiply(turn, c->shape.def.rotation, rotation);
    c->key = calloc(1, sizeof *c->key);
    if (!c->key) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    if (c->keys) st = read_keys(c, (int)scene->dimension, &turns, error);
    if (st != FIRN_OK) return st;
    for (int a = 0; a < 3; a++) {
        c->def.spin[a] = DEGREE * c->spin[a];
        spins |= c->spin[a] != 0;
    }
    const bool given = firn_value_get(where, "pivot");
    if (spins && turns && !given) {
        return firn_value_fail(firn_value_get(where, "spin"), error,
                               "spin and keys that rotate need a pivot to turn about, as pivot: "
                               "[%g, %g, %g]",
                               position[0], position[1], position[2]);
    }
    c->def.interpolation = (firn_interpolation)c->interpolation;
    for (int a = 0; a < 3; a++) way[a] = given || turns ? c->pivot[a] - position[a] : 0;
    const double back[4] = {rotation[0], -rotation[1], -rotation[2], -rotation[3]};
    rotate_vector(back, way, c->def.pivot);
    for (int32_t k = 0; k == 0 || k < c->key_count; k++) {
        for (int a = 0; a < 3; a++) c->key[k].position[a] += position[a];
        memcpy(c->key[k].rotation, rotation, sizeof rotation);
    }
    return FIRN_OK;
}

bool firn_scene_moves(const firn_scene_collider *c)
{
    const double *w = c->def.spin;
    return c->key_count > 0 || w[0] != 0 || w[1] != 0 || w[2] != 0;
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
    return check_has_heat(scene, v, "temperature", error);
}

static firn_status read_colliders(firn_scene *scene, firn_error *error)
{
    firn_status st =
        make_array(scene->colliders_value, FIRN_LIST, "colliders", sizeof *scene->collider,
                   (void **)&scene->collider, &scene->collider_count, error);
    firn_names names = {0};
    const firn_value *v = scene->colliders_value ? scene->colliders_value->child : NULL;
    for (int32_t i = 0; i < scene->collider_count && st == FIRN_OK; i++, v = v->next) {
        firn_scene_collider *c = &scene->collider[i];
        c->def = firn_collider_def_default();
        st = read_section(scene, &firn_section_collider, v, c, error);
        c->where = v;
        if (st == FIRN_OK && !c->shape_value) {
            st = firn_value_fail(v, error, "a collider needs a shape, as {plane: {}}");
        }
        if (st == FIRN_OK) st = place_collider(scene, v, c, error);
        if (st == FIRN_OK) st = check_collider_heat(scene, v, error);
        if (st == FIRN_OK) st = take_name(&names, c->name, c, v, error);
    }
    firn_names_free(&names);
    return st;
}

static firn_status read_forces(firn_scene *scene, firn_error *error)
{
    firn_status st = make_array(scene->forces_value, FIRN_MAP, "forces", sizeof *scene->force,
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

static firn_status read_sinks(firn_scene *scene, firn_error *error)
{
    firn_status st = make_array(scene->sinks_value, FIRN_LIST, "sinks", sizeof *scene->sink,
                                (void **)&scene->sink, &scene->sink_count, error);
    const firn_value *v = scene->sinks_value ? scene->sinks_value->child : NULL;
    for (int32_t i = 0; i < scene->sink_count && st == FIRN_OK; i++, v = v->next) {
        firn_scene_sink *s = &scene->sink[i];
        st = firn_section_read(&firn_section_sink, v, s, error);
        if (st == FIRN_OK && !s->shape_value) {
            st = firn_value_fail(v, error, "a sink needs a shape");
        }
        if (st == FIRN_OK) {
            s->where = v;
            if (s->end < s->start) {
                return firn_value_fail(v, error, "end %g s is before start %g s", s->end, s->start);
            }
            st = read_shape(scene, s->shape_value, true, &s->shape, error);
        }
    }
    return st;
}

static firn_status read_sources(firn_scene *scene, firn_error *error)
{
    firn_scene_heat *h = &scene->heat;
    firn_status st = make_array(h->sources_value, FIRN_LIST, "sources", sizeof *h->source,
                                (void **)&h->source, &h->source_count, error);
    const firn_value *v = h->sources_value ? h->sources_value->child : NULL;
    for (int32_t i = 0; i < h->source_count && st == FIRN_OK; i++, v = v->next) {
        firn_scene_heat_source *s = &h->source[i];
        s->body.def = firn_collider_def_default();
        st = read_section(scene, &firn_section_heat_source, v, s, error);
        if (st != FIRN_OK) return st;
        if (!s->body.shape_value || !firn_section_given(&firn_section_heat_source, s, "power")) {
            return firn_value_fail(v, error,
                                   "a source is {shape: {sphere: {radius: 0.1}}, power: 1e6}");
        }
        if (s->end < s->start) {
            return firn_value_fail(v, error, "end %g s is before start %g s", s->end, s->start);
        }
        st = place_collider(scene, v, &s->body, error);
    }
    return st;
}

static firn_status read_heat(firn_scene *scene, firn_error *error)
{
    if (!scene->heat_value) return FIRN_OK;
    scene->heat.def = firn_sim_def_default().heat;
    scene->heat.def.enabled = 1;
    const firn_status st =
        firn_section_read(&firn_section_heat, scene->heat_value, &scene->heat, error);
    return st == FIRN_OK ? read_sources(scene, error) : st;
}

/* Puts the scene's name in the place of every $NAME in a file's name, in the tree; *out is the result. */
static firn_status put_name(const firn_scene *scene, firn_value *file, const char **out,
                            firn_error *error)
{
    static const char sign[] = "$NAME";
    const size_t length = strlen(scene->name);
    for (char *at = file->text; (at = strstr(at, sign));) {
        const size_t before = (size_t)(at - file->text);
        const char *after = at + strlen(sign);
        const size_t room = before + length + strlen(after) + 1;
        char *text = malloc(room);
        if (!text) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
        snprintf(text, room, "%.*s%s%s", (int)before, file->text, scene->name, after);
        free(file->text);
        file->text = text;
        at = text + before + length;
    }
    *out = file->text;
    return FIRN_OK;
}

/* What the attributes' values say, for those who take names, and what the format needs besides. Which
 * exist is known later. */
static firn_status list_names(firn_scene_output *o, firn_error *error)
{
    if (!o->attributes) return FIRN_OK;
    const firn_format *format = firn_format_of(o->file, NULL);
    const char *const *needs = format ? format->needs : NULL;
    int n = 0, more = 0;
    while (needs && needs[more]) more++;
    o->names = calloc((size_t)firn_value_count(o->attributes) + (size_t)more + 1, sizeof *o->names);
    if (!o->names) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    for (const firn_value *c = o->attributes->child; c; c = c->next) o->names[n++] = c->text;
    for (int i = 0; i < more; i++) {
        bool given = false;
        for (int k = 0; k < n && !given; k++) given = o->names[k] && !strcmp(o->names[k], needs[i]);
        if (!given) o->names[n++] = needs[i];
    }
    return FIRN_OK;
}

static firn_status read_outputs(firn_scene *scene, firn_error *error)
{
    firn_status st = make_array(scene->output_value, FIRN_LIST, "output", sizeof *scene->output,
                                (void **)&scene->output, &scene->output_count, error);
    const firn_value *v = scene->output_value ? scene->output_value->child : NULL;
    for (int32_t i = 0; i < scene->output_count && st == FIRN_OK; i++, v = v->next) {
        firn_scene_output *o = &scene->output[i];
        st = firn_section_read(&firn_section_output, v, o, error);
        if (st != FIRN_OK) return st;
        o->where = v;
        if (!o->file) return firn_value_fail(v, error, "an output needs a file");
        firn_value *file = firn_value_get(v, "file");
        st = put_name(scene, file, &o->file, error);
        if (st != FIRN_OK) return st;
        const firn_format *format = firn_format_of(o->file, NULL);
        o->sequence = !strstr(o->file, "$F") && format && format->sequence;
        if (!strstr(o->file, "$F") && !o->sequence && scene->frames.end > scene->frames.start) {
            return firn_value_fail(file, error,
                                   "\"%.200s\" is the same for every frame; put $F4 where the "
                                   "frame's number goes, or write .abc, which holds all frames",
                                   o->file);
        }
        if (o->attributes && o->attributes->kind != FIRN_LIST) {
            return firn_value_fail(o->attributes, error, "attributes must be a list, as [P, v]");
        }
        st = list_names(o, error);
        if (st != FIRN_OK) return st;
    }
    return st;
}

/* What the simulation's preset sets where the scene does not. */
static void choose_method(firn_scene *scene)
{
    firn_scene_simulation *s = &scene->simulation;
    const firn_section *section = &firn_section_simulation;
    if (s->preset == 1) {
        if (!firn_section_given(section, s, "transfer")) s->transfer = FIRN_FLIP;
        if (!firn_section_given(section, s, "spline")) s->def.spline = FIRN_CUBIC;
        if (!firn_section_given(section, s, "force_form")) s->def.force_form = FIRN_GRADIENT;
        if (!firn_section_given(section, s, "volumes")) s->volumes = 1;
    }
    s->def.transfer = (firn_transfer)s->transfer;
}

/* The coarser the cells, the more it takes to break snow: cracks are cells wide, and stress gathers at
 * no tip that is finer. Snow of a draft yields to less pull by the fourth root of the ratio, which was
 * measured (doc/materials.md, "Draft and final"). */
static void stand_for_final(firn_scene *scene)
{
    if (!firn_section_given(&firn_section_scene, scene, "final_resolution")) return;
    const double factor = fmin(pow(scene->final_resolution / scene->resolution, 0.25), 1);
    for (int32_t i = 0; i < scene->material_count; i++) {
        scene->material[i].def.critical_stretch *= factor;
    }
}

static firn_status check_all(firn_scene *scene, firn_error *error)
{
    const firn_scene_simulation *s = &scene->simulation;
    if (scene->frames.end < scene->frames.start) {
        return firn_value_fail(scene->frames_value, error, "end %lld is before start %lld",
                               (long long)scene->frames.end, (long long)scene->frames.start);
    }
    const firn_view_camera *c = &scene->camera;
    if (firn_section_given(&firn_section_camera, c, "position") &&
        firn_section_given(&firn_section_camera, c, "target") && c->position[0] == c->target[0] &&
        c->position[1] == c->target[1] && c->position[2] == c->target[2]) {
        return firn_value_fail(scene->camera_value, error,
                               "position and target of the camera must differ");
    }
    if (strchr(scene->name, '/')) {
        return firn_value_fail(firn_value_get(scene->tree.root, "name"), error,
                               "name \"%.60s\" must be without a slash: it names files",
                               scene->name);
    }
    if (!scene->object_count) {
        return firn_value_fail(scene->objects_value ? scene->objects_value : scene->tree.root,
                               error, "the scene has no objects; add some under objects");
    }
    for (int a = 0; scene->domain_value && a < scene->dimension; a++) {
        if (!(scene->domain.low[a] < scene->domain.high[a])) {
            return firn_value_fail(scene->domain_value, error,
                                   "low %g must be below high %g along axis %d",
                                   scene->domain.low[a], scene->domain.high[a], a);
        }
    }
    if (firn_section_given(&firn_section_simulation, s, "cell_size") &&
        firn_section_given(&firn_section_simulation, s, "particles_per_cell")) {
        return firn_value_fail(firn_value_get(scene->simulation_value, "particles_per_cell"), error,
                               "give cell_size or particles_per_cell, not both");
    }
    if (firn_section_given(&firn_section_scene, scene, "final_resolution") &&
        firn_section_given(&firn_section_simulation, s, "cell_size")) {
        return firn_value_fail(firn_value_get(scene->tree.root, "final_resolution"), error,
                               "the cells of drafts must follow resolution: give "
                               "simulation.particles_per_cell instead of cell_size");
    }
    return FIRN_OK;
}

firn_status firn_scene_read(firn_scene *scene, firn_tree *tree, firn_error *error)
{
    *scene = (firn_scene){.tree = *tree};
    *tree = (firn_tree){0};
    const firn_tree owned = scene->tree;
    const firn_value *variables = firn_value_get(owned.root, "variables");
    if (variables) firn_value_use(owned.root, variables);
    firn_status st = firn_section_read(&firn_section_scene, owned.root, scene, error);
    scene->tree = owned;
    if (st == FIRN_OK && !firn_section_given(&firn_section_scene, scene, "firn")) {
        st =
            firn_value_fail(owned.root, error,
                            "the scene does not say the version of its format; begin with firn: 1");
    }
    if (st == FIRN_OK) {
        st = firn_section_read(&firn_section_frames, scene->frames_value, &scene->frames, error);
    }
    if (st == FIRN_OK && variables && variables->kind != FIRN_MAP) {
        st = firn_value_fail(variables, error, "variables must be a map, as {width: 80 cm}");
    }
    if (!scene->frames.playback) scene->frames.playback = scene->frames.fps;
    scene->simulation.def = firn_sim_def_default();
    if (st == FIRN_OK) {
        st = read_section(scene, &firn_section_simulation, scene->simulation_value,
                          &scene->simulation, error);
    }
    if (st == FIRN_OK) {
        st = read_section(scene, &firn_section_domain, scene->domain_value, &scene->domain, error);
    }
    if (st == FIRN_OK) {
        st = firn_section_read(&firn_section_checkpoint, scene->checkpoint_value,
                               &scene->checkpoint, error);
    }
    if (st == FIRN_OK) {
        st = read_section(scene, &firn_section_camera, scene->camera_value, &scene->camera, error);
    }
    if (st == FIRN_OK) {
        st = firn_section_read(&firn_section_light, scene->light_value, &scene->light, error);
    }
    if (st == FIRN_OK) st = read_materials(scene, error);
    if (st == FIRN_OK) st = read_heat(scene, error);
    if (st == FIRN_OK) st = read_objects(scene, error);
    if (st == FIRN_OK) st = read_contacts(scene, error);
    if (st == FIRN_OK) st = read_colliders(scene, error);
    if (st == FIRN_OK) st = read_forces(scene, error);
    if (st == FIRN_OK) st = read_sinks(scene, error);
    if (st == FIRN_OK) st = read_outputs(scene, error);
    if (st == FIRN_OK && scene->statistics) {
        st = put_name(scene, firn_value_get(owned.root, "statistics"), &scene->statistics, error);
    }
    if (st == FIRN_OK) st = check_all(scene, error);
    if (st != FIRN_OK) {
        firn_scene_free(scene);
        return st;
    }
    choose_method(scene);
    stand_for_final(scene);
    firn_scene_simulation *s = &scene->simulation;
    s->def.dimension = (int32_t)scene->dimension;
    if (scene->up == 1 && !firn_section_given(&firn_section_simulation, s, "gravity")) {
        s->def.gravity[2] = s->def.gravity[1];
        s->def.gravity[1] = 0;
    }
    if (!firn_section_given(&firn_section_simulation, s, "cell_size")) {
        const double dim = (double)scene->dimension;
        const double each = firn_section_given(&firn_section_simulation, s, "particles_per_cell")
                                ? s->particles_per_cell
                                : pow(2, dim);
        s->def.cell_size = scene->resolution * pow(each, 1 / dim);
    }
    scene->cell_size = s->def.cell_size;
    for (int32_t i = 0; i < scene->output_count; i++) {
        if (scene->output[i].voxel == 0) scene->output[i].voxel = scene->cell_size;
    }
    return FIRN_OK;
}

static void free_shape(firn_scene_shape *shape) { free((void *)shape->def.points); }

static void free_collider(firn_scene_collider *collider)
{
    free_shape(&collider->shape);
    free(collider->key);
}

void firn_scene_free(firn_scene *scene)
{
    for (int32_t i = 0; i < scene->object_count; i++) free_shape(&scene->object[i].shape);
    for (int32_t i = 0; i < scene->sink_count; i++) free_shape(&scene->sink[i].shape);
    for (int32_t i = 0; i < scene->collider_count; i++) free_collider(&scene->collider[i]);
    for (int32_t i = 0; i < scene->material_count; i++) free(scene->material[i].noise);
    for (int32_t i = 0; i < scene->output_count; i++) free(scene->output[i].names);
    for (int32_t i = 0; i < scene->heat.source_count; i++)
        free_collider(&scene->heat.source[i].body);
    free(scene->heat.source);
    free(scene->material);
    free(scene->object);
    free(scene->contact);
    free(scene->collider);
    free(scene->force);
    free(scene->sink);
    free(scene->output);
    firn_names_free(&scene->material_names);
    firn_names_free(&scene->object_names);
    firn_tree_free(&scene->tree);
    *scene = (firn_scene){0};
}
