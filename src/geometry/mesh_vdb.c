/* OpenVDB files as meshes: the zero level of a level set; of voxels without distances the surface around
 * those above half of the largest value. A velocity field in the file gives the vertices velocities. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "geometry/mesh_parts.h"
#include "io/volume.h"

enum {
    FARTHEST = 1 << 30, /* voxels from the origin */
    LARGEST = 4096      /* tile of a file: a side alone has 16 million voxels */
};
static const int STRIDE[3] = {64, 8, 1};

/* A volume as a function that is negative inside: sign (value - level). */
typedef struct field {
    const firn_volume *volume;
    double sign, level;
    bool stepped; /* values are 0 or 1 */
    firn_net net;
} field;

static double field_at(const field *f, float value) { return f->sign * ((double)value - f->level); }

static bool is_inside(const field *f, float value) { return field_at(f, value) < 0; }

/* ---- choosing ---- */

static bool is_stepped(const firn_volume *v)
{
    return strcmp(v->type, "bool") == 0 || strcmp(v->type, "mask") == 0;
}

static const firn_volume *find_surface(const firn_volumes *volumes, firn_error *error)
{
    for (int level_sets = 1; level_sets >= 0; level_sets--) {
        for (int32_t i = 0; i < volumes->count; i++) {
            const firn_volume *v = &volumes->volume[i];
            if (v->components != 1) continue;
            if (level_sets ? v->kind == FIRN_VOLUME_LEVEL_SET
                           : v->kind == FIRN_VOLUME_FOG || is_stepped(v)) {
                return v;
            }
        }
    }
    return firn_volumes_find_level_set(volumes, error);
}

static double largest(const firn_volume *v)
{
    float most = 0;
    for (int64_t i = 0; i < v->block_count * FIRN_BLOCK_VOXELS; i++) {
        if (v->value[i] > most && isfinite(v->value[i])) most = v->value[i];
    }
    for (int64_t t = 0; t < v->tile_count; t++) {
        if (v->tile[t].value[0] > most && isfinite(v->tile[t].value[0])) most = v->tile[t].value[0];
    }
    return (double)most;
}

static field make_field(const firn_volume *v, firn_soup *out)
{
    field f = {.volume = v, .sign = 1, .net = {.soup = out}};
    if (v->kind == FIRN_VOLUME_LEVEL_SET) return f;
    f.sign = -1;
    f.level = 0.5 * largest(v);
    f.stepped = is_stepped(v);
    return f;
}

/* ---- crossings ---- */

static firn_status cross(field *f, const int32_t voxel[3], int axis, float low, float high,
                         firn_error *error)
{
    const double a = field_at(f, low), b = field_at(f, high);
    if ((a < 0) == (b < 0)) return FIRN_OK;
    const double part = a / (a - b);
    return firn_net_cross(&f->net, voxel, axis, part >= 0 && part <= 1 ? part : 0.5, a < 0, error);
}

static void voxel_at(const firn_volume_block *block, int i, int32_t voxel[3])
{
    for (int a = 0; a < 3; a++) voxel[a] = block->origin[a] + i / STRIDE[a] % FIRN_BLOCK_EDGE;
}

/* Along one axis: within a block, from it to what is above, and from below unless that is a block,
 * which does so itself. */
static firn_status cross_block(field *f, int64_t index, int axis, firn_error *error)
{
    const firn_volume *v = f->volume;
    const firn_volume_block *block = &v->block[index];
    const float *own = v->value + index * FIRN_BLOCK_VOXELS;
    const int step = STRIDE[axis], last = FIRN_BLOCK_EDGE - 1;
    int32_t place[3];
    float above, below;
    memcpy(place, block->origin, sizeof place);
    place[axis] = block->origin[axis] + FIRN_BLOCK_EDGE;
    const int64_t next = firn_volume_find_block(v, place);
    firn_volume_get(v, place, &above);
    place[axis] = block->origin[axis] - 1;
    const bool first = firn_volume_find_block(v, place) < 0;
    firn_volume_get(v, place, &below);
    firn_status st = FIRN_OK;
    for (int i = 0; i < FIRN_BLOCK_VOXELS && st == FIRN_OK; i++) {
        const int at = i / step % FIRN_BLOCK_EDGE;
        int32_t voxel[3];
        voxel_at(block, i, voxel);
        if (at < last) {
            st = cross(f, voxel, axis, own[i], own[i + step], error);
        } else {
            const int64_t beyond = next * FIRN_BLOCK_VOXELS + i - last * step;
            st = cross(f, voxel, axis, own[i], next >= 0 ? v->value[beyond] : above, error);
        }
        if (st != FIRN_OK || at > 0 || !first) continue;
        voxel[axis]--;
        st = cross(f, voxel, axis, below, own[i], error);
    }
    return st;
}

/* From a side of a tile to tiles and background; blocks see to theirs. */
static firn_status cross_side(field *f, const firn_volume_tile *tile, int axis, bool up,
                              firn_error *error)
{
    const firn_volume *v = f->volume;
    const int b = (axis + 1) % 3, c = (axis + 2) % 3;
    int32_t beyond[3];
    memcpy(beyond, tile->origin, sizeof beyond);
    beyond[axis] += up ? tile->edge : -1;
    const int64_t next = firn_volume_find_tile(v, beyond);
    if (next >= 0 && v->tile[next].edge >= tile->edge && is_inside(f, v->tile[next].value[0]))
        return FIRN_OK;
    const float own = tile->value[0];
    const int32_t squares = tile->edge / FIRN_BLOCK_EDGE;
    firn_status st = FIRN_OK;
    for (int32_t s = 0; s < squares * squares && st == FIRN_OK; s++) {
        float value;
        beyond[b] = tile->origin[b] + s / squares * FIRN_BLOCK_EDGE;
        beyond[c] = tile->origin[c] + s % squares * FIRN_BLOCK_EDGE;
        if (firn_volume_find_block(v, beyond) >= 0) continue;
        firn_volume_get(v, beyond, &value);
        for (int i = 0; i < FIRN_BLOCK_EDGE * FIRN_BLOCK_EDGE && st == FIRN_OK; i++) {
            int32_t low[3] = {beyond[0], beyond[1], beyond[2]};
            low[axis] -= up;
            low[b] += i / FIRN_BLOCK_EDGE;
            low[c] += i % FIRN_BLOCK_EDGE;
            st = cross(f, low, axis, up ? own : value, up ? value : own, error);
        }
    }
    return st;
}

static firn_status check_place(const field *f, const int32_t origin[3], firn_error *error)
{
    for (int a = 0; a < 3; a++) {
        if (origin[a] > -FARTHEST && origin[a] < FARTHEST) continue;
        return firn_fail(error, FIRN_INVALID, "%s: voxel %d %d %d of %s is out of all bounds",
                         f->net.soup->name, origin[0], origin[1], origin[2], f->volume->name);
    }
    return FIRN_OK;
}

static firn_status cross_all(field *f, firn_error *error)
{
    const firn_volume *v = f->volume;
    firn_status st = FIRN_OK;
    for (int64_t b = 0; b < v->block_count && st == FIRN_OK; b++) {
        st = check_place(f, v->block[b].origin, error);
        for (int a = 0; a < 3 && st == FIRN_OK; a++) st = cross_block(f, b, a, error);
    }
    for (int64_t t = 0; t < v->tile_count && st == FIRN_OK; t++) {
        const firn_volume_tile *tile = &v->tile[t];
        if (!is_inside(f, tile->value[0])) continue; /* a solid one next to it sees to the side */
        st = check_place(f, tile->origin, error);
        if (st == FIRN_OK && tile->edge == LARGEST) {
            st = firn_fail(error, FIRN_INVALID,
                           "%s: %s is solid for %d voxels on end; resample it to larger voxels",
                           f->net.soup->name, v->name, tile->edge);
        }
        for (int side = 0; side < 6 && st == FIRN_OK; side++) {
            st = cross_side(f, tile, side / 2, side % 2, error);
        }
    }
    return st;
}

/* ---- places and velocities ---- */

static double determinant(const double m[3][3])
{
    return m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
           m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
           m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
}

/* From voxels to metres. A transform that mirrors turns all faces round. */
static void place_vertices(const firn_volume *v, firn_soup *out)
{
    for (int64_t i = 0; i < out->vertex_count; i++) {
        double *p = out->vertex + 3 * i, at[3];
        memcpy(at, p, sizeof at);
        for (int a = 0; a < 3; a++) {
            p[a] = v->origin[a] + at[0] * v->axis[0][a] + at[1] * v->axis[1][a] +
                   at[2] * v->axis[2][a];
        }
    }
    if (!(determinant(v->axis) < 0)) return;
    for (int64_t i = 0; i < out->corner_count; i += 4) {
        const int32_t other = out->corner[i + 1];
        out->corner[i + 1] = out->corner[i + 3];
        out->corner[i + 3] = other;
    }
}

/* A component at a place in voxels: the trilinear mean of those around that are active, 0 if none is. */
static double interpolate(const firn_volume *v, const double at[3], int component)
{
    double sum = 0, weights = 0;
    for (int k = 0; k < 8; k++) {
        double weight = 1;
        int32_t voxel[3];
        for (int a = 0; a < 3; a++) {
            const double low = floor(at[a]), part = at[a] - low;
            const bool up = k >> a & 1;
            if (!(fabs(low) < FARTHEST)) return 0;
            voxel[a] = (int32_t)low + up;
            weight *= up ? part : 1 - part;
        }
        float value[3];
        if (weight == 0 || !firn_volume_get(v, voxel, value)) continue;
        sum += weight * (double)value[component];
        weights += weight;
    }
    const double mean = weights > 0 ? sum / weights : 0;
    return isfinite(mean) ? mean : 0;
}

static firn_status add_velocities(const firn_volume *v, firn_soup *out, firn_error *error)
{
    const double whole = determinant(v->axis);
    if (whole == 0 || !isfinite(whole)) return FIRN_OK;
    out->velocity = malloc(((size_t)out->vertex_count * 3 + 1) * sizeof *out->velocity);
    if (!out->velocity) return firn_fail(error, FIRN_NO_MEMORY, "%s: out of memory", out->name);
    for (int64_t i = 0; i < out->vertex_count; i++) {
        double at[3];
        for (int a = 0; a < 3; a++) { /* Cramer's rule */
            double m[3][3];
            memcpy(m, v->axis, sizeof m);
            for (int k = 0; k < 3; k++) m[a][k] = out->vertex[3 * i + k] - v->origin[k];
            at[a] = determinant(m) / whole;
        }
        for (int a = 0; a < 3; a++) {
            double there[3] = {at[0], at[1], at[2]};
            if (v->kind == FIRN_VOLUME_STAGGERED) there[a] += 0.5;
            out->velocity[3 * i + a] = interpolate(v, there, a);
        }
    }
    return FIRN_OK;
}

/* ---- the file ---- */

static firn_status read_surface(const firn_volumes *volumes, firn_soup *out, firn_error *error)
{
    firn_error inner = {0};
    const firn_volume *v = find_surface(volumes, &inner);
    if (!v) return firn_fail(error, FIRN_INVALID, "%s: %s", out->name, inner.message);
    field f = make_field(v, out);
    firn_status st = cross_all(&f, error);
    if (st == FIRN_OK && out->face_count == 0) {
        st = firn_fail(error, FIRN_INVALID,
                       "%s: %s (%s, %s) has no surface: nothing in it is inside", out->name,
                       v->name, v->type, firn_volume_class_name(v->kind));
    }
    if (st == FIRN_OK) st = firn_net_finish(&f.net, f.stepped, error);
    firn_net_free(&f.net);
    if (st != FIRN_OK) return st;
    place_vertices(v, out);
    const firn_volume *velocity = firn_volumes_find_velocity(volumes);
    return velocity ? add_velocities(velocity, out, error) : FIRN_OK;
}

firn_status firn_soup_read_vdb(const firn_bytes *in, firn_soup *out, firn_error *error)
{
    firn_volumes volumes;
    firn_status st = firn_volumes_parse(out->name, in, &volumes, error);
    if (st != FIRN_OK) return st;
    st = read_surface(&volumes, out, error);
    firn_volumes_free(&volumes);
    return st;
}
