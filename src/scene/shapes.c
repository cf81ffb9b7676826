/* Shapes as scenes give them: the words of the shape library, with their keys. */
#include "scene/read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/quaternion.h"

void firn_rotation_from_degrees(const double degrees[3], double quaternion[4])
{
    double q[4] = {1, 0, 0, 0};
    for (int a = 0; a < 3; a++) {
        const double half = 0.5 * firn_degree * degrees[a];
        double turn[4] = {cos(half), 0, 0, 0};
        turn[1 + a] = sin(half);
        firn_quaternion_multiply(turn, q, q);
    }
    memcpy(quaternion, q, sizeof q);
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
        case FIRN_KEY_ROUND:
            s->def.round = value[0];
            if (dim == 2) s->def.size[2] = s->def.size[0];
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

/* The names of all words for shapes. */
static void list_words(unsigned here, bool fills, const char **names)
{
    firn_scene_shape_row row;
    int n = 0;
    for (int i = 0; firn_scene_shape_get(i, &row); i++) {
        if ((fills ? row.filled : row.dimensions) & here) names[n++] = row.section.name;
    }
    names[n] = NULL;
}

/* The index of a word, or -1. */
static int find_row(const char *word)
{
    firn_scene_shape_row row;
    for (int i = 0; firn_scene_shape_get(i, &row); i++) {
        if (strcmp(row.section.name, word) == 0) return i;
    }
    return -1;
}

static bool is_more(const char *word)
{
    for (int i = 0; firn_section_shape.rows[i].name; i++) {
        if (strcmp(firn_section_shape.rows[i].name, word) == 0) return true;
    }
    return false;
}

firn_status firn_check_beside(const firn_section *section, const firn_value *map, firn_error *error)
{
    for (const firn_value *c = map->kind == FIRN_MAP ? map->child : NULL; c; c = c->next) {
        const firn_param *row;
        for (int i = 0; (row = firn_section_row(section, i, NULL)); i++) {
            if (strcmp(row->name, c->key) == 0) break;
        }
        if (row || !is_more(c->key)) continue;
        const int found = find_row(section->name);
        const char *word = found < 0 ? "sphere" : section->name;
        return firn_value_fail(c, error,
                               "%s has no parameter \"%s\"; write it beside the word of the shape, "
                               "as shape: {%s: {...}, %s: ...}",
                               section->name, c->key, word, c->key);
    }
    return FIRN_OK;
}

/* What a map says beside its word: the same map without that entry. */
static firn_status read_more(const firn_scene *scene, const firn_value *v, const firn_value *word,
                             firn_scene_more *more, firn_error *error)
{
    enum { MOST = 16 };
    firn_value rest[MOST], map = *v;
    map.child = map.last = NULL;
    map.count = 0;
    map.names = (firn_names){0};
    for (const firn_value *c = v->child; c; c = c->next) {
        if (c == word) continue;
        if (map.count == MOST) return firn_value_fail(c, error, "a shape has too many parameters");
        rest[map.count] = *c;
        rest[map.count].next = NULL;
        if (map.count) rest[map.count - 1].next = &rest[map.count];
        map.count++;
    }
    if (map.count) map.child = rest;
    return firn_read_section(scene, &firn_section_shape, &map, more, error);
}

firn_status firn_find_word(const firn_scene *scene, const firn_value *v, bool fills,
                           const firn_value **entry, firn_scene_shape_row *row,
                           firn_scene_more *more, firn_error *error)
{
    enum { WORDS = 2 * FIRN_SHAPE_COUNT + FIRN_JOIN_COUNT + 2 };
    const unsigned here = scene->dimension == 3 ? FIRN_3D : FIRN_2D;
    const char *names[WORDS];
    char near[300];
    int found = -1, words = 0;
    const firn_value *unknown = NULL;
    list_words(here, fills, names);
    *entry = NULL;
    for (const firn_value *c = v->kind == FIRN_MAP ? v->child : NULL; c; c = c->next) {
        const int i = find_row(c->key);
        if (i < 0 && !unknown && !is_more(c->key)) unknown = c;
        if (i < 0) continue;
        *entry = c;
        found = i;
        words++;
    }
    if (words == 0 && unknown) {
        return firn_value_fail(unknown, error, "there is no shape \"%.60s\"%s", unknown->key,
                               firn_nearest(unknown->key, names, near, sizeof near));
    }
    if (words != 1) {
        return firn_value_fail(v, error,
                               "shape takes one entry, as {sphere: {radius: 0.1}}; several go into "
                               "a union, as {union: [...]}%s",
                               firn_nearest("", names, near, sizeof near));
    }
    (void)firn_scene_shape_get(found, row);
    if (!((fills ? row->filled : row->dimensions) & here)) {
        const char *other = firn_shape_get(row->kind)->word[scene->dimension == 3];
        if (!(row->dimensions & here) && other) {
            return firn_value_fail(*entry, error, "%s is not a shape in %dD; use %s", (*entry)->key,
                                   (int)scene->dimension, other);
        }
        return firn_value_fail(*entry, error, "%s is not a shape %sin %dD%s%s", (*entry)->key,
                               fills ? "for objects " : "", (int)scene->dimension,
                               row->dimensions & here ? ", as it has no end to fill it to" : "",
                               firn_nearest("", names, near, sizeof near));
    }
    return read_more(scene, v, *entry, more, error);
}

firn_status firn_read_word(const firn_scene *scene, const firn_value *entry,
                           const firn_scene_shape_row *row, firn_scene_shape *out,
                           firn_error *error)
{
    *out = (firn_scene_shape){0};
    firn_status st = firn_check_beside(&row->section, entry, error);
    if (st == FIRN_OK) st = firn_read_section(scene, &row->section, entry, out, error);
    if (st != FIRN_OK) return st;
    out->where = entry;
    st = use_keys(scene, firn_shape_get(row->kind), out, error);
    if (st != FIRN_OK) return st;
    out->def.shape = row->kind;
    if (row->heights) {
        memcpy(out->def.position, out->heights.center, sizeof out->def.position);
        return firn_read_heights(scene, out, error);
    }
    if (firn_shape_get(row->kind)->from_file) { /* what it is made of is read later */
        return out->mesh.file ? FIRN_OK
                              : firn_value_fail(entry, error, "%s needs a file", entry->key);
    }
    firn_error inner = {0};
    st = firn_shape_check(&out->def, &inner);
    return st == FIRN_OK ? st : firn_value_pass(entry, &inner, error);
}

/* `fills`: whether particles are to fill it. */
firn_status firn_read_shape(const firn_scene *scene, const firn_value *v, bool fills,
                            firn_scene_shape *out, firn_error *error)
{
    const firn_value *entry;
    firn_scene_shape_row row;
    firn_scene_more more = {0};
    firn_status st =
        firn_find_word(scene, v, fills && firn_value_count(v) <= 1, &entry, &row, &more, error);
    if (st != FIRN_OK) return st;
    if (row.kind != FIRN_COMPOUND && !more.given) {
        return firn_read_word(scene, entry, &row, out, error);
    }
    *out = (firn_scene_shape){.where = entry, .up = {0, 1, 0}};
    out->def = firn_collider_def_default();
    out->def.shape = FIRN_COMPOUND;
    st = firn_read_compound(scene, v, &out->def.compound, error);
    if (st != FIRN_OK || !fills) return st;
    double low[3], high[3];
    if (firn_shape_bounds(&out->def, (int32_t)scene->dimension, low, high)) return FIRN_OK;
    return firn_value_fail(entry, error,
                           "%s has no end to fill it to, as a part of it has none; intersect it "
                           "with a %s",
                           entry->key, scene->dimension == 3 ? "box" : "rectangle");
}
