/* The default collider, what a def must satisfy, and copies of one. */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "collider/collider.h"

firn_collider_def firn_collider_def_default(void)
{
    return (firn_collider_def){
        .shape = FIRN_PLANE,
        .size = {1, 1, 1}, /* so that a 2D def may leave z alone */
        .rotation = {1, 0, 0, 0},
        .boundary = FIRN_SEPARATE,
        .friction = 0.3,
        .transfer = INFINITY,
        .stamp = FIRN_STAMP,
    };
}

/* `where` is "" for the def's own pose and "keys[2]." for a key's. */
static firn_status check_pose(const double position[3], const double rotation[4], int index,
                              const char *where, firn_error *error)
{
    for (int a = 0; a < 3; a++)
        if (!isfinite(position[a]))
            return firn_fail(error, FIRN_INVALID,
                             "colliders[%d].%sposition[%d] %g must be finite (m)", index, where, a,
                             position[a]);
    bool zero = true;
    for (int a = 0; a < 4; a++) {
        if (!isfinite(rotation[a]))
            return firn_fail(error, FIRN_INVALID,
                             "colliders[%d].%srotation[%d] %g must be finite (quaternion w, x, y, "
                             "z); use 1 0 0 0 for none",
                             index, where, a, rotation[a]);
        if (rotation[a] != 0) zero = false;
    }
    if (zero)
        return firn_fail(error, FIRN_INVALID,
                         "colliders[%d].%srotation 0 0 0 0 must not be zero (quaternion w, x, y, "
                         "z); use 1 0 0 0 for none",
                         index, where);
    return FIRN_OK;
}

/* Times must rise, and by enough for the velocity between the keys to be a number. */
static firn_status check_step(const firn_pose_key *before, const firn_pose_key *key, int index,
                              int32_t k, firn_error *error)
{
    double span = key->time - before->time;
    if (!(span > 0))
        return firn_fail(error, FIRN_INVALID,
                         "colliders[%d].keys[%d].time %g must be above keys[%d].time %g; sort the "
                         "keys and drop repeated times",
                         index, (int)k, key->time, (int)k - 1, before->time);
    bool fine = isfinite(span) && isfinite(4 / span); /* a shorter arc is below 4 rad */
    for (int a = 0; a < 3; a++)
        fine = fine && isfinite((key->position[a] - before->position[a]) / span);
    if (!fine)
        return firn_fail(error, FIRN_INVALID,
                         "colliders[%d].keys[%d].time %g gives no finite speed from keys[%d].time "
                         "%g; move less or take longer",
                         index, (int)k, key->time, (int)k - 1, before->time);
    return FIRN_OK;
}

static firn_status check_keys(const firn_collider_def *def, int index, firn_error *error)
{
    if (def->key_count < 0)
        return firn_fail(error, FIRN_INVALID,
                         "colliders[%d].key_count %d must be 0 or above; 0 uses position and "
                         "rotation",
                         index, (int)def->key_count);
    if (def->key_count > 0 && !def->keys)
        return firn_fail(error, FIRN_INVALID,
                         "colliders[%d].keys NULL must point to key_count %d keys; set key_count 0 "
                         "for none",
                         index, (int)def->key_count);
    for (int32_t k = 0; k < def->key_count; k++) {
        const firn_pose_key *key = &def->keys[k];
        char where[32];
        snprintf(where, sizeof where, "keys[%d].", (int)k);
        if (!isfinite(key->time))
            return firn_fail(error, FIRN_INVALID, "colliders[%d].%stime %g must be finite (s)",
                             index, where, key->time);
        firn_status st = check_pose(key->position, key->rotation, index, where, error);
        if (st == FIRN_OK && k > 0) st = check_step(key - 1, key, index, k, error);
        if (st != FIRN_OK) return st;
    }
    return FIRN_OK;
}

firn_status firn_collider_check(const firn_collider_def *def, int index, firn_error *error)
{
    assert(def);
    char which[32];
    snprintf(which, sizeof which, "colliders[%d]", index);
    firn_status st = firn_check_stamp(def->stamp, "firn_collider_def", which, error);
    if (st != FIRN_OK) return st;
    firn_error own = {0};
    st = firn_shape_check(def, &own);
    if (st != FIRN_OK) return firn_fail(error, st, "colliders[%d].%.400s", index, own.message);
    if ((unsigned)def->boundary >= FIRN_BOUNDARY_COUNT)
        return firn_fail(error, FIRN_INVALID,
                         "colliders[%d].boundary %d must be a firn_boundary: FIRN_STICKY, "
                         "FIRN_SLIP or FIRN_SEPARATE",
                         index, (int)def->boundary);
    if (!(def->friction >= 0 && isfinite(def->friction)))
        return firn_fail(error, FIRN_INVALID,
                         "colliders[%d].friction %g must be 0 or above and finite; use a sticky "
                         "boundary to hold everything",
                         index, def->friction);
    for (int a = 0; a < 3; a++)
        if (!isfinite(def->surface_velocity[a]) || !isfinite(def->surface_spin[a]))
            return firn_fail(
                error, FIRN_INVALID,
                "colliders[%d].surface_velocity[%d] %g and surface_spin[%d] %g must be "
                "finite; 0 stands still",
                index, a, def->surface_velocity[a], a, def->surface_spin[a]);
    if (!(def->temperature >= 0 && isfinite(def->temperature)))
        return firn_fail(error, FIRN_INVALID,
                         "colliders[%d].temperature %g must be 0 (insulated) or above, and finite; "
                         "0 C is 273.15 K",
                         index, def->temperature);
    if (!(def->transfer >= 0))
        return firn_fail(
            error, FIRN_INVALID,
            "colliders[%d].transfer %g must be 0 or above; INFINITY keeps the surface at its "
            "temperature",
            index, def->transfer);
    if (def->key_count != 0) return check_keys(def, index, error);
    return check_pose(def->position, def->rotation, index, "", error);
}

size_t firn_collider_extra(const firn_collider_def *def)
{
    return (size_t)def->key_count * sizeof *def->keys +
           2 * (size_t)def->point_count * sizeof *def->points;
}

void *firn_collider_attach(firn_collider_def *def, void *memory)
{
    firn_pose_key *keys = memory;
    double *points = (double *)(keys + def->key_count);
    def->keys = keys;
    def->points = points;
    return points + 2 * (ptrdiff_t)def->point_count;
}

void *firn_collider_move(firn_collider_def *def, void *memory)
{
    const size_t keys = (size_t)def->key_count * sizeof *def->keys;
    if (keys) memcpy(memory, def->keys, keys);
    if (def->point_count)
        memcpy((char *)memory + keys, def->points,
               2 * (size_t)def->point_count * sizeof *def->points);
    return firn_collider_attach(def, memory);
}
