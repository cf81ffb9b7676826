/* binvox files as meshes: the surface around full voxels. */
#include "geometry/binvox.h"
#include "geometry/mesh_parts.h"

/* The 64 voxels of a word; those beyond the cube are empty. */
static uint64_t word_at(const firn_voxels *v, int32_t word, int32_t y, int32_t z)
{
    if (word < 0 || word >= v->words || y < 0 || y >= v->size[1] || z < 0 || z >= v->size[2]) {
        return 0;
    }
    return v->bits[((int64_t)z * v->size[1] + y) * v->words + word];
}

/* Crossings between the voxels of a word and those before them along each axis. */
static firn_status cross_word(firn_net *net, const firn_voxels *v, int32_t word, int32_t y,
                              int32_t z, firn_error *error)
{
    const uint64_t own = word_at(v, word, y, z);
    const uint64_t before[3] = {own << 1 | word_at(v, word - 1, y, z) >> 63,
                                word_at(v, word, y - 1, z), word_at(v, word, y, z - 1)};
    firn_status st = FIRN_OK;
    for (int a = 0; a < 3; a++) {
        for (uint64_t left = own ^ before[a]; left && st == FIRN_OK; left &= left - 1) {
            const int i = __builtin_ctzll(left);
            int32_t voxel[3] = {64 * word + i, y, z};
            voxel[a]--;
            st = firn_net_cross(net, voxel, a, 0.5, before[a] >> i & 1, error);
        }
    }
    return st;
}

firn_status firn_soup_read_binvox(const firn_bytes *in, firn_soup *out, firn_error *error)
{
    firn_voxels v;
    firn_net net = {.soup = out};
    firn_status st = firn_voxels_parse(out->name, in, &v, error);
    if (st != FIRN_OK) return st;
    for (int32_t z = 0; z <= v.size[2]; z++) {
        for (int32_t y = 0; y <= v.size[1]; y++) {
            for (int32_t word = 0; word <= v.words && st == FIRN_OK; word++) {
                st = cross_word(&net, &v, word, y, z, error);
            }
        }
    }
    if (st == FIRN_OK) st = firn_net_finish(&net, true, error);
    for (int64_t i = 0; i < 3 * out->vertex_count && st == FIRN_OK; i++) {
        out->vertex[i] = v.low[i % 3] + (out->vertex[i] + 0.5) * v.edge; /* from voxels' centres */
    }
    firn_net_free(&net);
    firn_voxels_free(&v);
    return st;
}
