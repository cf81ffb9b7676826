/* Cells of a grid as meshes: squares where a full one meets an empty one. */
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "mesh/mesh.h"

firn_mask_def firn_mask_def_default(void)
{
    return (firn_mask_def){.edge = 1, .name = "mask", .threads = 1, .stamp = FIRN_STAMP};
}

static bool is_full(const firn_mask_def *def, const int32_t cell[3])
{
    for (int a = 0; a < 3; a++) {
        if (cell[a] < 0 || cell[a] >= def->size[a]) return false;
    }
    return def->full[((int64_t)cell[0] * def->size[1] + cell[1]) * def->size[2] + cell[2]] != 0;
}

/* Counts the squares; with `vertex`, also writes the four corners of each, counter-clockwise from
 * outside. */
static int64_t walk_sides(const firn_mask_def *def, double *vertex)
{
    int64_t count = 0;
    int32_t cell[3];
    for (cell[0] = 0; cell[0] < def->size[0]; cell[0]++) {
        for (cell[1] = 0; cell[1] < def->size[1]; cell[1]++) {
            for (cell[2] = 0; cell[2] < def->size[2]; cell[2]++) {
                for (int side = 0; side < 6 && is_full(def, cell); side++) {
                    const int a = side / 2, b = (a + 1) % 3, c = (a + 2) % 3, up = side % 2;
                    int32_t next[3] = {cell[0], cell[1], cell[2]};
                    next[a] += up ? 1 : -1;
                    if (is_full(def, next)) continue;
                    for (int k = 0; k < 4 && vertex; k++, vertex += 3) {
                        const int q = up ? k : 3 - k;
                        const int along[2] = {q == 1 || q == 2, q == 2 || q == 3};
                        vertex[a] = def->low[a] + (cell[a] + up) * def->edge;
                        vertex[b] = def->low[b] + (cell[b] + along[0]) * def->edge;
                        vertex[c] = def->low[c] + (cell[c] + along[1]) * def->edge;
                    }
                    count++;
                }
            }
        }
    }
    return count;
}

static firn_status check(const firn_mask_def *def, firn_error *error)
{
    bool fine = def->full && def->edge > 0 && def->edge <= 1e15;
    double cells = 1;
    for (int a = 0; a < 3; a++) {
        fine = fine && def->size[a] > 0 && fabs(def->low[a]) <= 1e15;
        cells *= def->size[a];
    }
    if (fine && cells < 0x1p40) return FIRN_OK;
    return firn_fail(
        error, FIRN_INVALID,
        "%s: %d x %d x %d cells of %g m from %g %g %g; give the cells, sizes above 0 and "
        "finite places",
        def->name, (int)def->size[0], (int)def->size[1], (int)def->size[2], def->edge, def->low[0],
        def->low[1], def->low[2]);
}

firn_status firn_mesh_create_mask(const firn_mask_def *mask, firn_mesh **out, firn_error *error)
{
    if (!out) return firn_fail(error, FIRN_INVALID, "mesh is NULL; give a place for the handle");
    *out = NULL;
    if (!mask)
        return firn_fail(error, FIRN_INVALID, "def is NULL; start from firn_mask_def_default()");
    firn_status st = firn_check_stamp(mask->stamp, "firn_mask_def", NULL, error);
    if (st != FIRN_OK) return st;
    firn_mask_def own = *mask;
    if (!own.name) own.name = "mask";
    st = check(&own, error);
    if (st != FIRN_OK) return st;
    const int64_t sides = walk_sides(&own, NULL);
    if (sides < 1 || sides > INT32_MAX / 12) {
        return firn_fail(
            error, FIRN_INVALID,
            "%s: the full cells have %lld outer sides; there must be some, and at most %d",
            own.name, (long long)sides, INT32_MAX / 12);
    }
    double *vertex = malloc((size_t)sides * 12 * sizeof *vertex);
    int32_t *corner = malloc((size_t)sides * 6 * sizeof *corner);
    if (vertex && corner) {
        static const int32_t cut[6] = {0, 1, 2, 0, 2, 3};
        walk_sides(&own, vertex);
        for (int64_t i = 0; i < 6 * sides; i++) corner[i] = (int32_t)(i / 6 * 4) + cut[i % 6];
        firn_mesh_def def = firn_mesh_def_default();
        def.vertices = vertex;
        def.vertex_count = 4 * sides;
        def.corners = corner;
        def.corner_count = 6 * sides;
        def.name = own.name;
        def.threads = own.threads;
        def.tasks = own.tasks;
        st = firn_mesh_create(&def, out, error);
    } else {
        st = firn_fail(error, FIRN_NO_MEMORY, "%s: out of memory for %lld sides; use larger cells",
                       own.name, (long long)sides);
    }
    free(vertex);
    free(corner);
    return st;
}
