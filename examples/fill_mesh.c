/* Fills a closed mesh with particles and writes them as a cache: fill_mesh MESH.obj OUT.prt SEPARATION */
#include <firn/geometry.h>
#include <stdio.h>
#include <stdlib.h>

static firn_status write_cache(const firn_filling *filling, const char *path, firn_error *error)
{
    firn_points points = {.count = filling->count};
    const firn_write_options options = firn_write_options_default();
    firn_column *P = firn_points_add(&points, "P", FIRN_TYPE_f32, 3, error);
    for (int64_t i = 0; P && i < 3 * points.count; i++) {
        ((float *)P->data)[i] = (float)filling->position[i];
    }
    firn_status status = P ? FIRN_OK : FIRN_NO_MEMORY;
    if (status == FIRN_OK) status = firn_points_write(path, &points, &options, error);
    firn_points_free(&points);
    return status;
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: %s MESH.obj OUT.prt SEPARATION\n", argv[0]);
        return 2;
    }
    firn_region *region = NULL;
    firn_filling filling = {0};
    firn_error error = {0};
    const firn_placement placement = firn_placement_default();
    firn_fill_def def = firn_fill_def_default();
    def.separation = atof(argv[3]); /* m */

    firn_status status = firn_region_create_mesh(argv[1], 1, &placement, &region, &error);
    if (status == FIRN_OK) status = firn_fill(region, &def, &filling, &error);
    if (status == FIRN_OK) status = write_cache(&filling, argv[2], &error);
    if (status == FIRN_OK) {
        printf("%lld particles in %g m3\n", (long long)filling.count,
               firn_region_get_info(region).volume);
    } else {
        fprintf(stderr, "%s: %s\n", argv[0], error.message);
    }
    firn_filling_free(&filling);
    firn_region_destroy(region);
    return status == FIRN_OK ? 0 : 1;
}
