/* Counts, bounds and closedness of meshes. A mesh is built as a thin sheet, which may be open, to learn
 * whether it is closed; only then as a solid, which has a volume. */
#include "info_mesh.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

bool firn_is_mesh_file(const char *path)
{
    static const char *const ends[] = {".obj", ".stl", ".binvox"};
    const size_t length = strlen(path);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const size_t end = strlen(ends[i]);
        if (length > end && strcasecmp(path + length - end, ends[i]) == 0) return true;
    }
    return false;
}

static void find_bounds(const firn_polygons *p, double low[3], double high[3])
{
    for (int a = 0; a < 3; a++) {
        low[a] = INFINITY;
        high[a] = -INFINITY;
    }
    for (int64_t i = 0; i < 3 * p->vertex_count; i++) {
        low[i % 3] = fmin(low[i % 3], p->vertex[i]);
        high[i % 3] = fmax(high[i % 3], p->vertex[i]);
    }
}

firn_mesh_facts firn_mesh_find_facts(const firn_polygons *p)
{
    firn_mesh_facts facts = {.vertex_count = p->vertex_count, .face_count = p->face_count};
    if (p->vertex_count == 0) return facts;
    find_bounds(p, facts.low, facts.high);
    double size = 0;
    for (int a = 0; a < 3; a++) size = fmax(size, facts.high[a] - facts.low[a]);
    firn_mesh_def def = firn_mesh_def_of_polygons(p);
    def.name = "its mesh";
    def.thickness = 1e-3 * size;
    for (int solid = 0; solid < 2; solid++) {
        firn_mesh *mesh = NULL;
        firn_error error = {0};
        if (firn_mesh_create(&def, &mesh, &error) != FIRN_OK) {
            snprintf(facts.trouble, sizeof facts.trouble, "%s", error.message);
            return facts;
        }
        const firn_mesh_info info = firn_mesh_get_info(mesh);
        firn_mesh_destroy(mesh);
        facts.triangle_count = info.triangle_count;
        facts.shell_count = info.shell_count;
        facts.closed = info.closed;
        if (solid) facts.volume = info.volume;
        if (!facts.closed) break;
        def.thickness = 0;
    }
    return facts;
}

void firn_mesh_facts_print(const firn_mesh_facts *f)
{
    if (f->vertex_count == 0) {
        printf(", nothing is visible\n");
        return;
    }
    printf(", %lld vertices, %lld face%s, %lld triangle%s", (long long)f->vertex_count,
           (long long)f->face_count, f->face_count == 1 ? "" : "s", (long long)f->triangle_count,
           f->triangle_count == 1 ? "" : "s");
    if (f->shell_count > 1) printf(" in %d shells", f->shell_count);
    if (f->triangle_count > 0) printf(", %s", f->closed ? "closed" : "open");
    if (f->volume > 0) printf(", %.6g m3", f->volume);
    printf("\n  bounds %.6g %.6g %.6g to %.6g %.6g %.6g (%.6g x %.6g x %.6g m)\n", f->low[0],
           f->low[1], f->low[2], f->high[0], f->high[1], f->high[2], f->high[0] - f->low[0],
           f->high[1] - f->low[1], f->high[2] - f->low[2]);
    if (f->trouble[0]) printf("  %s\n", f->trouble);
}

void firn_mesh_facts_json(const firn_mesh_facts *f)
{
    printf(", \"vertices\": %lld, \"faces\": %lld, \"triangles\": %lld, \"shells\": %d, "
           "\"closed\": %s, \"volume\": %.9g,\n  \"bounds\": {\"min\": [%.9g, %.9g, %.9g], "
           "\"max\": [%.9g, %.9g, %.9g]}",
           (long long)f->vertex_count, (long long)f->face_count, (long long)f->triangle_count,
           f->shell_count, f->closed ? "true" : "false", f->volume, f->low[0], f->low[1], f->low[2],
           f->high[0], f->high[1], f->high[2]);
}
