/* Reads binvox files, versions 1 and 2, and answers what is inside and how far the surface is.
 * Voxels are one bit each; searches skip 64 at a time. */
#include "geometry/binvox.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "geometry/mesh_parts.h"

enum { MOST = 4096 }; /* voxels along an axis: 8 GiB of bits */

/* ---- reading ---- */

typedef struct header {
    double version, dim[3], translate[3], scale;
} header;

static bool read_numbers(firn_scan *scan, double *out, int count)
{
    for (int i = 0; i < count; i++) {
        if (!firn_mesh_word_number(firn_scan_word(scan), &out[i])) return false;
    }
    return true;
}

/* Lines `#binvox 1` (or 2), `dim`, `translate`, `scale` in any order, then `data`. */
static firn_status read_header(firn_scan *scan, header *h, firn_error *error)
{
    *h = (header){.scale = 1};
    if (!firn_mesh_word_is(firn_scan_word(scan), "#binvox") ||
        !read_numbers(scan, &h->version, 1)) {
        return firn_fail(error, FIRN_INVALID, "%s: a binvox file begins with `#binvox 1`",
                         scan->name);
    }
    while (firn_scan_line(scan)) {
        const firn_mesh_word word = firn_scan_word(scan);
        bool fine = true;
        if (firn_mesh_word_is(word, "dim")) {
            fine = read_numbers(scan, h->dim, 3);
        } else if (firn_mesh_word_is(word, "translate")) {
            fine = read_numbers(scan, h->translate, 3);
        } else if (firn_mesh_word_is(word, "scale")) {
            fine = read_numbers(scan, &h->scale, 1);
        } else if (firn_mesh_word_is(word, "data")) {
            firn_scan_line(scan);
            return FIRN_OK;
        }
        if (fine) continue;
        return firn_fail(error, FIRN_INVALID, "%s:%lld: numbers are missing after %.*s", scan->name,
                         (long long)scan->line, (int)word.size, word.at);
    }
    return firn_fail(error, FIRN_INVALID,
                     "%s: the header has no data line; the file is cut short or no binvox file",
                     scan->name);
}

static firn_status check_header(const header *h, const char *name, firn_error *error)
{
    for (int a = 0; a < 3; a++) {
        if (h->dim[a] >= 1 && h->dim[a] <= MOST && h->dim[a] == floor(h->dim[a])) continue;
        return firn_fail(error, FIRN_INVALID,
                         "%s: dim %g %g %g must be whole numbers from 1 to %d; voxelise the model "
                         "again",
                         name, h->dim[0], h->dim[1], h->dim[2], MOST);
    }
    if (!(h->scale >= 1e-30 && h->scale <= 1e30)) {
        return firn_fail(error, FIRN_INVALID, "%s: scale %g must be above 0 and finite", name,
                         h->scale);
    }
    for (int a = 0; a < 3; a++) {
        if (fabs(h->translate[a]) <= 1e30) continue;
        return firn_fail(error, FIRN_INVALID, "%s: translate %g %g %g must be finite", name,
                         h->translate[0], h->translate[1], h->translate[2]);
    }
    return FIRN_OK;
}

/* Pairs of value and run length. `most` is the largest value: version 2 has several kinds of full. */
static firn_status read_runs(const char *name, const uint8_t *at, const uint8_t *end, uint8_t most,
                             firn_voxels *v, firn_error *error)
{
    const int64_t ny = v->size[1], nz = v->size[2], total = v->size[0] * ny * nz;
    int64_t voxel = 0;
    while (voxel < total) {
        if (end - at < 2) {
            return firn_fail(error, FIRN_INVALID,
                             "%s: runs for %lld of %lld voxels; the file is cut short", name,
                             (long long)voxel, (long long)total);
        }
        const uint8_t value = *at++;
        int64_t run = *at++;
        if (value > most || run == 0 || run > total - voxel) {
            return firn_fail(error, FIRN_INVALID,
                             "%s: a run of %lld voxels of value %d at voxel %lld of %lld makes no "
                             "sense; the file is damaged",
                             name, (long long)run, value, (long long)voxel, (long long)total);
        }
        if (value == 0) {
            voxel += run;
            continue;
        }
        v->full += run;
        for (; run > 0; run--, voxel++) {
            const int64_t y = voxel % ny, z = voxel / ny % nz, x = voxel / ny / nz;
            v->bits[(z * ny + y) * v->words + x / 64] |= (uint64_t)1 << (x % 64);
        }
    }
    if (v->full > 0) return FIRN_OK;
    return firn_fail(error, FIRN_INVALID, "%s: all voxels are empty; voxelise a closed model",
                     name);
}

firn_status firn_voxels_parse(const char *name, const firn_bytes *in, firn_voxels *out,
                              firn_error *error)
{
    *out = (firn_voxels){0};
    firn_scan scan = firn_scan_begin(name, in);
    header h;
    firn_status st = read_header(&scan, &h, error);
    if (st == FIRN_OK) st = check_header(&h, name, error);
    if (st != FIRN_OK) return st;
    /* The header's order is that of the indices: x, z, y. The scale is that of the longest side. */
    out->size[0] = (int32_t)h.dim[0];
    out->size[1] = (int32_t)h.dim[2];
    out->size[2] = (int32_t)h.dim[1];
    out->edge = h.scale / fmax(fmax(h.dim[0], h.dim[1]), h.dim[2]);
    memcpy(out->low, h.translate, sizeof out->low);
    out->words = (out->size[0] + 63) / 64;
    /* A run covers at most 255 voxels: a short file cannot ask for much memory. */
    const double voxels = h.dim[0] * h.dim[1] * h.dim[2];
    if ((double)(scan.end - scan.at) / 2 * 255 < voxels) {
        return firn_fail(
            error, FIRN_INVALID,
            "%s: %lld bytes of runs are too few for %.0f voxels; the file is cut short", name,
            (long long)(scan.end - scan.at), voxels);
    }
    out->bits =
        calloc((size_t)out->words * (size_t)out->size[1] * (size_t)out->size[2], sizeof *out->bits);
    if (!out->bits) {
        return firn_fail(error, FIRN_NO_MEMORY, "%s: out of memory for %.0f voxels", name, voxels);
    }
    st = read_runs(name, (const uint8_t *)scan.at, (const uint8_t *)scan.end,
                   h.version < 2 ? 1 : UINT8_MAX, out, error);
    if (st != FIRN_OK) firn_voxels_free(out);
    return st;
}

firn_status firn_voxels_read(const char *path, firn_voxels *out, firn_error *error)
{
    *out = (firn_voxels){0};
    firn_bytes bytes;
    firn_status st = firn_bytes_read(path, &bytes, error);
    if (st != FIRN_OK) return st;
    st = firn_voxels_parse(path, &bytes, out, error);
    firn_bytes_free(&bytes);
    return st;
}

void firn_voxels_free(firn_voxels *voxels)
{
    free(voxels->bits);
    *voxels = (firn_voxels){0};
}

/* ---- asking ---- */

bool firn_voxels_get(const firn_voxels *v, int64_t x, int64_t y, int64_t z)
{
    if (x < 0 || x >= v->size[0] || y < 0 || y >= v->size[1] || z < 0 || z >= v->size[2]) {
        return false;
    }
    return v->bits[(z * v->size[1] + y) * v->words + x / 64] >> (x % 64) & 1;
}

double firn_voxels_volume(const firn_voxels *v)
{
    return (double)v->full * v->edge * v->edge * v->edge;
}

/* Gap between coordinate p and the cell [i, i + 1]. */
static double gap(double p, int64_t i) { return fmax(fmax((double)i - p, p - (double)(i + 1)), 0); }

/* Moves *x by steps of +-1 up to `stop` to the next voxel of a row whose state is not `full`, 64 at a
 * time where it can; false when there is none. Beyond the row all are empty. */
static bool next_other(const firn_voxels *v, int64_t y, int64_t z, int64_t *x, int64_t stop,
                       int64_t step, bool full)
{
    const bool row = y >= 0 && y < v->size[1] && z >= 0 && z < v->size[2];
    const uint64_t same = full ? ~(uint64_t)0 : 0;
    while ((stop - *x) * step >= 0) {
        const bool in_row = row && *x >= 0 && *x < v->size[0];
        if (in_row && *x % 64 == (step > 0 ? 0 : 63) &&
            v->bits[(z * v->size[1] + y) * v->words + *x / 64] == same) {
            *x += 64 * step;
            continue;
        }
        if ((in_row && firn_voxels_get(v, *x, y, z)) != full) return true;
        *x += step;
    }
    return false;
}

static bool locate(const firn_voxels *v, const double point[3], double p[3], int64_t cell[3])
{
    for (int a = 0; a < 3; a++) {
        p[a] = (point[a] - v->low[a]) / v->edge;
        cell[a] = (int64_t)floor(fmin(fmax(p[a], -1e9), 1e9));
    }
    return firn_voxels_get(v, cell[0], cell[1], cell[2]);
}

bool firn_voxels_inside(const firn_voxels *v, const double point[3])
{
    double p[3];
    int64_t cell[3];
    return locate(v, point, p, cell);
}

/* The nearest voxel of the other state, row by row. Voxels share faces, so the surface is nearest where
 * such a voxel is. */
double firn_voxels_distance(const firn_voxels *v, const double point[3], double limit)
{
    double p[3]; /* in voxels */
    int64_t cell[3];
    const bool full = locate(v, point, p, cell);
    const double best = limit / v->edge;
    /* Beyond the cube and one layer of empty voxels around it there is nothing to find. */
    int64_t first[3], last[3];
    for (int a = 0; a < 3; a++) {
        const double reach = fmin(best, 2e9);
        first[a] = (int64_t)floor(fmin(fmax(p[a] - reach, -1), v->size[a]));
        last[a] = (int64_t)floor(fmax(fmin(p[a] + reach, v->size[a]), -1));
    }
    double square = best * best;
    for (int64_t z = first[2]; z <= last[2]; z++) {
        const double gz = gap(p[2], z);
        if (gz * gz >= square) continue;
        for (int64_t y = first[1]; y <= last[1]; y++) {
            const double gy = gap(p[1], y), rest = square - gz * gz - gy * gy;
            if (!(rest > 0)) continue;
            const double wide = sqrt(rest);
            const int64_t right = (int64_t)fmin((double)last[0], floor(p[0] + wide));
            const int64_t left = (int64_t)fmax((double)first[0], floor(p[0] - wide));
            const int64_t from = cell[0] < first[0]  ? first[0]
                                 : cell[0] > last[0] ? last[0]
                                                     : cell[0];
            for (int64_t step = -1; step <= 1; step += 2) {
                int64_t x = from;
                if (!next_other(v, y, z, &x, step < 0 ? left : right, step, full)) continue;
                const double gx = gap(p[0], x);
                square = fmin(square, gx * gx + gy * gy + gz * gz);
            }
        }
    }
    const double distance = fmin(sqrt(square) * v->edge, limit);
    return full ? -distance : distance;
}
