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
firn_status firn_read_shape(const firn_scene *scene, const firn_value *v, bool fills,
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
    firn_status st = firn_read_section(scene, &row.section, entry, out, error);
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
