/* Volumes inside the library. <firn/volume.h> has the rest. */
#ifndef FIRN_IO_VOLUME_H
#define FIRN_IO_VOLUME_H

#include <firn/volume.h>

#include "io/io.h"

/* How a file begins. */
#define FIRN_VDB_MAGIC "\x20\x42\x44\x56\0\0\0\0"

/* Grows an array of *count items to hold one more when it is full, which a power of two tells. False: no
 * memory, and the array is as it was. */
bool firn_grow(void *array, int64_t count, size_t size);

/* The trees of a file: where a child of a node lies among its (2^log)^3, when children have an edge of
 * 2^child voxels. */
static inline int32_t firn_tree_offset(const int32_t origin[3], int log, int child)
{
    int32_t offset = 0;
    for (int a = 0; a < 3; a++) offset = offset << log | (origin[a] >> child & ((1 << log) - 1));
    return offset;
}

/* The block or the tile that a voxel is in, or -1. */
int64_t firn_volume_find_block(const firn_volume *volume, const int32_t voxel[3]);
int64_t firn_volume_find_tile(const firn_volume *volume, const int32_t voxel[3]);

/* Writes to an output, as firn_format does; `threads` is above 0 here. */
firn_status firn_volumes_put(const firn_volumes *volumes, const firn_write_options *options,
                             firn_output *out, firn_error *error);

#endif
