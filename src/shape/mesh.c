/* A triangle mesh, closed or a sheet, as <firn/mesh.h> makes them. Equally near points: any one, always
 * the same. On the surface the normal is that of a face there. */
#include "base/error.h"
#include "mesh/mesh.h"
#include "shape/shape.h"

static firn_status check(const firn_shape_values *v, firn_error *error)
{
    if (v->mesh) return FIRN_OK;
    return firn_fail(error, FIRN_INVALID, "mesh NULL must be a mesh; firn_mesh_create makes one");
}

static double distance(const firn_shape_values *v, const double point[3], double normal[3])
{
    return firn_mesh_normal(v->mesh, point, normal);
}

static void bounds(const firn_shape_values *v, double low[3], double high[3])
{
    const firn_mesh_info info = firn_mesh_get_info(v->mesh);
    for (int a = 0; a < 3; a++) low[a] = info.low[a], high[a] = info.high[a];
}

static double volume(const firn_shape_values *v, int dimension)
{
    (void)dimension;
    return v->mesh->volume;
}

const firn_shape firn_shape_mesh = {
    .name = "mesh",
    .word = {NULL, "mesh"},
    .from_file = true,
    .help = "a closed triangle mesh, or a sheet",
    .bounded = FIRN_3D,
    .solid = true,
    .check = check,
    .distance = distance,
    .bounds = bounds,
    .volume = volume,
};
