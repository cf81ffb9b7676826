/* So many particles in each voxel. */
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/parallel.h"
#include "geometry/fill_parts.h"
#include "geometry/random.h"

typedef struct filler {
    const firn_region *region;
    const firn_fill_def *def;
    int64_t sites;      /* along an edge: the least whose cube holds per_voxel */
    firn_seeding *part; /* of each layer in z */
} filler;

/* Regular and jittered take per_voxel of the sites of a small lattice, each with the same chance. */
static void fill_voxel(const filler *f, const int64_t cell[3], firn_seeding *out)
{
    const firn_fill_def *def = f->def;
    const firn_voxels *v = f->region->voxels;
    const bool random = def->pattern == FIRN_FILL_RANDOM;
    const int64_t total = random ? def->per_voxel : f->sites * f->sites * f->sites;
    const double width = def->pattern == FIRN_FILL_JITTERED ? def->jitter : 0;
    int64_t wanted = def->per_voxel;
    for (int64_t s = 0; s < total && wanted > 0; s++) {
        double u[4];
        for (int a = 0; a < 4; a++) {
            u[a] = firn_unit(
                firn_random_bits(def->seed, cell[0], cell[1], cell[2], (uint64_t)(4 * s + a)));
        }
        if (u[3] * (double)(total - s) >= (double)wanted) continue;
        wanted--;
        const int64_t site[3] = {s % f->sites, s / f->sites % f->sites, s / f->sites / f->sites};
        double local[3], world[3];
        for (int a = 0; a < 3; a++) {
            const double in = ((double)site[a] + 0.5 + width * (u[a] - 0.5)) / (double)f->sites;
            local[a] = v->low[a] + ((double)cell[a] + (random ? u[a] : in)) * v->edge;
        }
        firn_affine_to_world(&f->region->affine, local, world);
        firn_seeding_add(out, world, 0);
    }
}

static void fill_layer(void *context, int64_t z, int32_t thread)
{
    (void)thread;
    const filler *f = context;
    const firn_voxels *v = f->region->voxels;
    for (int64_t y = 0; y < v->size[1]; y++) {
        for (int64_t x = 0; x < v->size[0]; x++) {
            const int64_t cell[3] = {x, y, z};
            if (firn_voxels_get(v, x, y, z)) fill_voxel(f, cell, &f->part[z]);
        }
    }
}

firn_status firn_fill_voxels(const firn_region *region, const firn_fill_def *def, firn_seeding *out,
                             firn_error *error)
{
    const int64_t layers = region->voxels->size[2];
    filler f = {.region = region, .def = def, .sites = 1};
    while (f.sites * f.sites * f.sites < def->per_voxel) f.sites++;
    f.part = calloc((size_t)layers, sizeof *f.part);
    if (!f.part) return firn_fail(error, FIRN_NO_MEMORY, "out of memory while filling");
    firn_parallel_for(def->threads, layers, 1, fill_layer, &f);
    const firn_status st = firn_seeding_join(f.part, layers, out, error);
    free(f.part);
    return st;
}
