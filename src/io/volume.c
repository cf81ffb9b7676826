/* Volumes in memory: blocks and tiles in the order of OpenVDB's trees, and questions about them. */
#include "io/volume.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static const char *const class_names[] = {
#define ROW(NAME, text) text,
    FIRN_VOLUME_CLASSES(ROW)
#undef ROW
};
enum { CLASSES = sizeof class_names / sizeof *class_names };

const char *firn_volume_class_name(firn_volume_class kind)
{
    return (int)kind >= 0 && (int)kind < CLASSES ? class_names[kind] : NULL;
}

bool firn_grow(void *array, int64_t count, size_t size)
{
    if (count & (count - 1)) return true;
    void *old;
    memcpy(&old, array, sizeof old);
    void *grown = realloc(old, (count ? 2 * (size_t)count : 1) * size);
    if (grown) memcpy(array, &grown, sizeof grown);
    return grown != NULL;
}

bool firn_volumes_recognise(const firn_bytes *in)
{
    return in->size >= 8 && memcmp(in->data, FIRN_VDB_MAGIC, 8) == 0;
}

void firn_volumes_free(firn_volumes *volumes)
{
    for (int32_t i = 0; i < volumes->count; i++) {
        free(volumes->volume[i].block);
        free(volumes->volume[i].value);
        free(volumes->volume[i].tile);
        free(volumes->volume[i].note);
    }
    free(volumes->volume);
    free(volumes->note);
    *volumes = (firn_volumes){0};
}

firn_volume *firn_volumes_add(firn_volumes *volumes, const char *name, int32_t components,
                              double voxel, firn_error *error)
{
    const size_t length = strlen(name);
    if (length == 0 || length >= FIRN_NAME_SIZE) {
        firn_fail(error, FIRN_INVALID, "a volume's name has %zu letters; it must have 1 to %d",
                  length, FIRN_NAME_SIZE - 1);
        return NULL;
    }
    if (!firn_grow(&volumes->volume, volumes->count, sizeof *volumes->volume)) {
        firn_fail(error, FIRN_NO_MEMORY, "out of memory");
        return NULL;
    }
    firn_volume *v = &volumes->volume[volumes->count++];
    *v = (firn_volume){.components = components, .voxel = voxel};
    memcpy(v->name, name, length + 1);
    for (int a = 0; a < 3; a++) v->axis[a][a] = voxel;
    return v;
}

firn_status firn_volume_add_note(firn_volume *v, const char *name, const char *text,
                                 firn_error *error)
{
    if (!firn_grow(&v->note, v->note_count, sizeof *v->note)) {
        return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    }
    firn_volume_note *note = &v->note[v->note_count++];
    snprintf(note->name, sizeof note->name, "%s", name);
    snprintf(note->text, sizeof note->text, "%s", text);
    return FIRN_OK;
}

/* ---- asking ---- */

/* A file's tree is walked in this order: nodes of 4096 voxels, in them those of 128, in them blocks. */
int firn_volume_order(const int32_t a[3], const int32_t b[3])
{
    static const int edges[] = {12, 7, 3};
    for (int level = 0; level < 3; level++) {
        for (int k = 0; k < 3; k++) {
            const int32_t left = a[k] >> edges[level], right = b[k] >> edges[level];
            if (left != right) return left < right ? -1 : 1;
        }
    }
    return 0;
}

/* The last of `count` items that does not come after the voxel, or -1. Items begin with an origin. */
static int64_t find_last(const void *items, int64_t count, size_t size, const int32_t voxel[3])
{
    int64_t low = 0, high = count;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        const int32_t *origin = (const int32_t *)((const char *)items + (size_t)middle * size);
        if (firn_volume_order(origin, voxel) <= 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low - 1;
}

static bool contains(const int32_t origin[3], int32_t edge, const int32_t voxel[3])
{
    bool in = true;
    for (int a = 0; a < 3; a++) {
        in = in && voxel[a] >= origin[a] && (int64_t)voxel[a] - origin[a] < edge;
    }
    return in;
}

int64_t firn_volume_find_block(const firn_volume *v, const int32_t voxel[3])
{
    const int64_t b = find_last(v->block, v->block_count, sizeof *v->block, voxel);
    return b >= 0 && contains(v->block[b].origin, FIRN_BLOCK_EDGE, voxel) ? b : -1;
}

int64_t firn_volume_find_tile(const firn_volume *v, const int32_t voxel[3])
{
    const int64_t t = find_last(v->tile, v->tile_count, sizeof *v->tile, voxel);
    return t >= 0 && contains(v->tile[t].origin, v->tile[t].edge, voxel) ? t : -1;
}

bool firn_volume_get(const firn_volume *v, const int32_t voxel[3], float *value)
{
    const float *from = v->background;
    bool active = false;
    const int64_t b = firn_volume_find_block(v, voxel);
    const int64_t t = b >= 0 ? -1 : firn_volume_find_tile(v, voxel);
    if (b >= 0) {
        const int32_t at = firn_tree_offset(voxel, 3, 0);
        from = v->value + (b * FIRN_BLOCK_VOXELS + at) * v->components;
        active = v->block[b].active[at / 64] >> (at % 64) & 1;
    } else if (t >= 0) {
        from = v->tile[t].value;
        active = v->tile[t].active;
    }
    memcpy(value, from, (size_t)v->components * sizeof *value);
    return active;
}

static void include(firn_volume_info *info, const int32_t low[3], const int32_t high[3])
{
    for (int a = 0; a < 3; a++) {
        if (info->active == 0 || low[a] < info->low[a]) info->low[a] = low[a];
        if (info->active == 0 || high[a] > info->high[a]) info->high[a] = high[a];
    }
}

firn_volume_info firn_volume_get_info(const firn_volume *v)
{
    firn_volume_info info = {0};
    for (int64_t b = 0; b < v->block_count; b++) {
        const firn_volume_block *block = &v->block[b];
        int32_t low[3] = {8, 8, 8}, high[3] = {-1, -1, -1};
        int64_t count = 0;
        for (int32_t i = 0; i < FIRN_BLOCK_VOXELS; i++) {
            if (!(block->active[i / 64] >> (i % 64) & 1)) continue;
            const int32_t at[3] = {i / 64, i / 8 % 8, i % 8};
            for (int a = 0; a < 3; a++) {
                if (at[a] < low[a]) low[a] = at[a];
                if (at[a] > high[a]) high[a] = at[a];
            }
            count++;
        }
        for (int a = 0; a < 3; a++) {
            low[a] += block->origin[a];
            high[a] += block->origin[a];
        }
        if (count > 0) include(&info, low, high);
        info.active += count;
    }
    for (int64_t t = 0; t < v->tile_count; t++) {
        const firn_volume_tile *tile = &v->tile[t];
        if (!tile->active) continue;
        int32_t high[3];
        for (int a = 0; a < 3; a++) high[a] = tile->origin[a] + (tile->edge - 1);
        include(&info, tile->origin, high);
        const int64_t count = (int64_t)tile->edge * tile->edge * tile->edge;
        info.active = info.active > INT64_MAX - count ? INT64_MAX : info.active + count;
    }
    return info;
}

const firn_volume *firn_volumes_find_level_set(const firn_volumes *volumes, firn_error *error)
{
    char known[256] = "";
    for (int32_t i = 0; i < volumes->count; i++) {
        const firn_volume *v = &volumes->volume[i];
        const size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%.32s (%.16s, %s)", used ? ", " : "",
                 v->name, v->type, firn_volume_class_name(v->kind));
        if (v->kind != FIRN_VOLUME_LEVEL_SET || v->components != 1) continue;
        if (v->voxel > 0) return v;
        firn_fail(error, FIRN_INVALID,
                  "the voxels of level set %s are not cubes; resample it to equal edges", v->name);
        return NULL;
    }
    firn_fail(error, FIRN_INVALID, "there is no level set of numbers%s%s; make one",
              known[0] ? ", but " : "", known);
    return NULL;
}

const firn_volume *firn_volumes_find_velocity(const firn_volumes *volumes)
{
    static const char *const names[] = {"v", "vel", "velocity"};
    for (int n = 0; n < 4; n++) {
        for (int32_t i = 0; i < volumes->count; i++) {
            const firn_volume *v = &volumes->volume[i];
            if (v->components != 3) continue;
            if (n < 3 ? strcmp(v->name, names[n]) == 0 : v->kind == FIRN_VOLUME_STAGGERED) return v;
        }
    }
    return NULL;
}

const firn_volume *firn_volumes_find(const firn_volumes *volumes, const char *name)
{
    for (int32_t i = 0; i < volumes->count; i++) {
        if (strcmp(volumes->volume[i].name, name) == 0) return &volumes->volume[i];
    }
    return NULL;
}

const char *firn_volume_find_note(const firn_volume *v, const char *name)
{
    for (int64_t i = 0; i < v->note_count; i++) {
        if (strcmp(v->note[i].name, name) == 0) return v->note[i].text;
    }
    return NULL;
}
