/* The default collider, what a def must satisfy, and copies of one. */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/param.h"
#include "collider/collider.h"

static const char *const firn_boundary_words[] = {FIRN_BOUNDARIES(FIRN_LIST_NAME) NULL};

const firn_param *firn_collider_param(int32_t index)
{
#define ROW(...) FIRN_PARAM_ROW(firn_collider_def, __VA_ARGS__)
    static const firn_param row[] = {FIRN_COLLIDER_PARAMS(ROW)};
#undef ROW
    return (uint32_t)index < sizeof row / sizeof *row ? &row[index] : NULL;
}

firn_collider_def firn_collider_def_default(void)
{
    firn_collider_def def = {
        .shape = FIRN_PLANE,
        .size = {1, 1, 1}, /* so that a 2D def may leave z alone */
        .rotation = {1, 0, 0, 0},
        .stamp = FIRN_STAMP,
    };
    firn_params_default(firn_collider_param, &def);
    return def;
}

static firn_status check_vector(const double vector[3], const char *name, const char *unit,
                                const char *where, firn_error *error)
{
    for (int a = 0; a < 3; a++)
        if (!isfinite(vector[a]))
            return firn_fail_field(error, FIRN_INVALID, "%s.%s[%d] %g must be finite (%s)", where,
                                   name, a, vector[a], unit);
    return FIRN_OK;
}

/* Of a def or of a key. */
static firn_status check_pose(const double position[3], const double rotation[4], const char *where,
                              firn_error *error)
{
    const firn_status st = check_vector(position, "position", "m", where, error);
    if (st != FIRN_OK) return st;
    bool zero = true;
    for (int a = 0; a < 4; a++) {
        if (!isfinite(rotation[a]))
            return firn_fail_field(error, FIRN_INVALID,
                                   "%s.rotation[%d] %g must be finite (quaternion w, x, y, "
                                   "z); use 1 0 0 0 for none",
                                   where, a, rotation[a]);
        if (rotation[a] != 0) zero = false;
    }
    if (zero)
        return firn_fail_field(error, FIRN_INVALID,
                               "%s.rotation 0 0 0 0 must not be zero (quaternion w, x, y, "
                               "z); use 1 0 0 0 for none",
                               where);
    return FIRN_OK;
}

/* Times must rise, and by enough for the velocity between the keys to be a number. */
static firn_status check_step(const firn_pose_key *before, const firn_pose_key *key,
                              const char *where, int32_t k, firn_error *error)
{
    double span = key->time - before->time;
    if (!(span > 0))
        return firn_fail_field(error, FIRN_INVALID,
                               "%s.keys[%d].time %g must be above keys[%d].time %g; sort the "
                               "keys and drop repeated times",
                               where, (int)k, key->time, (int)k - 1, before->time);
    bool fine = isfinite(span) && isfinite(4 / span); /* a shorter arc is below 4 rad */
    for (int a = 0; a < 3; a++)
        fine = fine && isfinite((key->position[a] - before->position[a]) / span) &&
               isfinite((key->angle[a] - before->angle[a]) / span);
    if (!fine)
        return firn_fail_field(error, FIRN_INVALID,
                               "%s.keys[%d].time %g gives no finite speed from keys[%d].time "
                               "%g; move less or take longer",
                               where, (int)k, key->time, (int)k - 1, before->time);
    return FIRN_OK;
}

static firn_status check_keys(const firn_collider_def *def, const char *where, firn_error *error)
{
    if (def->key_count < 0)
        return firn_fail_field(error, FIRN_INVALID,
                               "%s.key_count %d must be 0 or above; 0 uses position and "
                               "rotation",
                               where, (int)def->key_count);
    if (def->key_count > 0 && !def->keys)
        return firn_fail_field(error, FIRN_INVALID,
                               "%s.keys NULL must point to key_count %d keys; set key_count 0 "
                               "for none",
                               where, (int)def->key_count);
    for (int32_t k = 0; k < def->key_count; k++) {
        const firn_pose_key *key = &def->keys[k];
        char at[80];
        snprintf(at, sizeof at, "%s.keys[%d]", where, (int)k);
        if (!isfinite(key->time))
            return firn_fail_field(error, FIRN_INVALID, "%s.time %g must be finite (s)", at,
                                   key->time);
        firn_status st = check_pose(key->position, key->rotation, at, error);
        if (st == FIRN_OK) st = check_vector(key->angle, "angle", "rad", at, error);
        if (st == FIRN_OK && k > 0) st = check_step(key - 1, key, where, k, error);
        if (st != FIRN_OK) return st;
    }
    return FIRN_OK;
}

/* Where it is and how it moves, of a def or of one that it rides on. */
static firn_status check_motion(const firn_collider_def *def, const char *where, firn_error *error)
{
    if ((uint32_t)def->interpolation >= FIRN_INTERPOLATION_COUNT)
        return firn_fail_field(error, FIRN_INVALID, "%s.interpolation %d: use a firn_interpolation",
                               where, (int)def->interpolation);
    const firn_status st = check_vector(def->pivot, "pivot", "m", where, error);
    if (st != FIRN_OK) return st;
    const firn_status spins = check_vector(def->spin, "spin", "rad/s", where, error);
    if (spins != FIRN_OK) return spins;
    if (def->key_count != 0) return check_keys(def, where, error);
    return check_pose(def->position, def->rotation, where, error);
}

static firn_status check_parents(const firn_collider_def *def, const char *where, firn_error *error)
{
    char at[80];
    int depth = 0;
    snprintf(at, sizeof at, "%s.parent", where);
    firn_status st = FIRN_OK;
    for (const firn_collider_def *up = def->parent; up && st == FIRN_OK; up = up->parent) {
        if (++depth > FIRN_MOST_PARENTS)
            return firn_fail_field(error, FIRN_INVALID,
                                   "%s: it rides on more than %d others, or on itself; use fewer",
                                   at, FIRN_MOST_PARENTS);
        st = firn_check_stamp(up->stamp, "firn_collider_def", at, error);
        if (st == FIRN_OK) st = check_motion(up, at, error);
    }
    return st;
}

firn_status firn_collider_check(const firn_collider_def *def, int dimension, const char *where,
                                firn_error *error)
{
    assert(def);
    firn_status st = firn_check_stamp(def->stamp, "firn_collider_def", where, error);
    if (st != FIRN_OK) return st;
    firn_error own = {0};
    st = firn_shape_check(def, &own);
    if (st != FIRN_OK) return firn_fail_field(error, st, "%s.%.400s", where, own.message);
    if (dimension == 2 && firn_shape_get(def->shape)->solid)
        return firn_fail_field(error, FIRN_INVALID, "%s.shape %s is for 3D; use a polygon in 2D",
                               where, firn_shape_name(def->shape));
    st = firn_shape_check_in(def, dimension, &own);
    if (st != FIRN_OK) return firn_fail_field(error, st, "%s.%.400s", where, own.message);
    st = firn_params_check(firn_collider_param, def, where, error);
    if (st != FIRN_OK) return st;
    st = check_motion(def, where, error);
    return st == FIRN_OK ? check_parents(def, where, error) : st;
}

bool firn_collider_is_keyed(const firn_collider_def *def)
{
    const firn_param *p;
    for (int32_t i = 0; (p = firn_collider_param(i)); i++) {
        if (p->keys && ((const firn_track *)((const char *)def + p->keys))->count) return true;
    }
    return false;
}

size_t firn_collider_extra(const firn_collider_def *def)
{
    return firn_params_extra(firn_collider_param, def) +
           (size_t)def->key_count * sizeof *def->keys +
           2 * (size_t)def->point_count * sizeof *def->points +
           (def->parent ? sizeof *def->parent + firn_collider_extra(def->parent) : 0);
}

/* All but the parent. Returns where they end. */
static void *attach(firn_collider_def *def, void *memory)
{
    firn_pose_key *keys = memory;
    double *points = (double *)(keys + def->key_count);
    def->keys = keys;
    def->points = points;
    return firn_params_attach(firn_collider_param, def, points + 2 * (ptrdiff_t)def->point_count);
}

void *firn_collider_attach(firn_collider_def *def, void *memory)
{
    void *end = attach(def, memory);
    if (!def->parent) return end;
    firn_collider_def *parent = end;
    def->parent = parent;
    return firn_collider_attach(parent, parent + 1);
}

void *firn_collider_move(firn_collider_def *def, void *memory)
{
    const size_t keys = (size_t)def->key_count * sizeof *def->keys,
                 points = 2 * (size_t)def->point_count * sizeof *def->points;
    if (keys) memcpy(memory, def->keys, keys);
    if (points) memcpy((char *)memory + keys, def->points, points);
    (void)firn_params_move(firn_collider_param, def,
                           (double *)(void *)((char *)memory + keys + points));
    void *end = attach(def, memory);
    if (!def->parent) return end;
    firn_collider_def *parent = end;
    *parent = *def->parent;
    def->parent = parent;
    return firn_collider_move(parent, parent + 1);
}
