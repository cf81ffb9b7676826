/* Mesh files: OBJ, PLY and STL, and the surfaces of voxels in OpenVDB and binvox files. */
#ifndef FIRN_SCENE_MESH_H
#define FIRN_SCENE_MESH_H

#include <firn/mesh.h>

#include "io/io.h"

typedef enum firn_mesh_format {
    FIRN_MESH_OBJ,
    FIRN_MESH_PLY,
    FIRN_MESH_STL,
    FIRN_MESH_VDB,
    FIRN_MESH_BINVOX
} firn_mesh_format;

/* The format that the end of a name tells. */
firn_status firn_mesh_format_of(const char *name, firn_mesh_format *format, firn_error *error);

/* Makes a mesh of the bytes of a file; `name` is for messages. */
firn_status firn_mesh_parse(firn_mesh_format format, const char *name, const firn_bytes *in,
                            double thickness, int32_t threads, firn_mesh **out, firn_error *error);

#endif
