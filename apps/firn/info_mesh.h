/* What firn info says of meshes. */
#ifndef FIRN_INFO_MESH_H
#define FIRN_INFO_MESH_H

#include <firn/geometry.h>

typedef struct firn_mesh_facts {
    int64_t vertex_count, face_count, triangle_count;
    int32_t shell_count;
    bool closed;            /* every edge has two sides */
    double low[3], high[3]; /* m, of the vertices */
    double volume;          /* m3, of a solid; 0: it is none */
    char trouble[480]; /* why a closed mesh is no solid, or why faces make no mesh; "": neither */
} firn_mesh_facts;

/* Whether a name is that of a mesh file, which holds nothing but meshes. */
bool firn_is_mesh_file(const char *path);
/* What there is to say of polygons; of none, that nothing is visible. */
firn_mesh_facts firn_mesh_find_facts(const firn_polygons *polygons);

/* ", 8 vertices, ..." and a line of bounds; the members of a JSON object after the first. */
void firn_mesh_facts_print(const firn_mesh_facts *facts);
void firn_mesh_facts_json(const firn_mesh_facts *facts);

#endif
