/* binvox voxel files: a cube of voxels, full or empty.
 *
 * The file counts voxels with x slowest and y fastest, and puts them in the world by a translation and
 * a scale that apply to the unit cube around all of them. */
#ifndef FIRN_SCENE_BINVOX_H
#define FIRN_SCENE_BINVOX_H

#include <stdbool.h>

#include <firn/base.h>

#include "io/io.h"

/* Owned; freed by firn_voxels_free. Constant once made. */
typedef struct firn_voxels {
    int32_t size[3]; /* along x, y, z */
    int64_t full;    /* how many */
    double low[3];   /* m, corner of the first */
    double edge;     /* m, of one voxel */
    int32_t words;   /* 64-bit words of one row along x */
    uint64_t *bits;  /* rows along x; y next, then z */
} firn_voxels;

firn_status firn_voxels_read(const char *path, firn_voxels *out, firn_error *error);
/* The same from memory; `name` is for messages. */
firn_status firn_voxels_parse(const char *name, const firn_bytes *in, firn_voxels *out,
                              firn_error *error);
void firn_voxels_free(firn_voxels *voxels);

/* Whether a voxel is full; those beyond the cube are not. */
bool firn_voxels_get(const firn_voxels *voxels, int64_t x, int64_t y, int64_t z);

double firn_voxels_volume(const firn_voxels *voxels); /* m^3 */

/* A face belongs to the voxel above it along its axis. */
bool firn_voxels_inside(const firn_voxels *voxels, const double point[3]);

/* Distance to the surface between full and empty, m, at most `limit`; negative inside. */
double firn_voxels_distance(const firn_voxels *voxels, const double point[3], double limit);

#endif
