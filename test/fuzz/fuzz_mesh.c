/* Bytes into the readers of meshes and voxels. The first byte chooses the reader; whatever the rest is,
 * the answer is an error or something whose volume is above 0 and whose inside can be asked for. */
#include <stdint.h>
#include <stdlib.h>

#include "geometry/region.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ask(const firn_region *region)
{
    if (!(region->volume > 0)) abort();
    for (int i = 0; i < 8; i++) {
        double p[3];
        for (int a = 0; a < 3; a++) {
            p[a] = region->low[a] + 0.1 * (i + a) * (region->high[a] - region->low[a]);
        }
        const double distance = firn_region_distance(region, p, region->high[0] - region->low[0]);
        if (firn_region_inside(region, p) && distance > 0) abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) return 0;
    const firn_bytes bytes = {(uint8_t *)data + 1, size - 1};
    const firn_placement placement = firn_placement_default();
    firn_error error;
    firn_region region;
    const int choice = data[0] % 6;
    if (choice == 3) {
        firn_voxels voxels;
        if (firn_voxels_parse("fuzz", &bytes, &voxels, &error) != FIRN_OK) return 0;
        if (firn_region_of_voxels(&voxels, &placement, &region, &error) == FIRN_OK) ask(&region);
        firn_voxels_free(&voxels);
        return 0;
    }
    const firn_mesh_format format = (firn_mesh_format)(choice < 3 ? choice : choice - 1);
    firn_mesh *mesh = NULL;
    if (firn_mesh_parse(format, "fuzz", &bytes, 0, 1, &mesh, &error) != FIRN_OK) return 0;
    if (firn_region_of_mesh(mesh, &placement, &region, &error) == FIRN_OK) ask(&region);
    firn_mesh_destroy(mesh);
    return 0;
}
