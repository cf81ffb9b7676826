/* Mesh files by their names, and meshes of them. */
#include "geometry/mesh.h"

#include <string.h>

#include <firn/geometry.h>

#include "base/error.h"
#include "geometry/mesh_parts.h"

static firn_status read_soup(firn_mesh_format format, const firn_bytes *in, firn_soup *soup,
                             firn_error *error)
{
    static firn_status (*const readers[])(const firn_bytes *, firn_soup *, firn_error *) = {
        [FIRN_MESH_OBJ] = firn_soup_read_obj,       [FIRN_MESH_PLY] = firn_soup_read_ply,
        [FIRN_MESH_STL] = firn_soup_read_stl,       [FIRN_MESH_VDB] = firn_soup_read_vdb,
        [FIRN_MESH_BINVOX] = firn_soup_read_binvox,
    };
    return readers[format](in, soup, error);
}

firn_status firn_mesh_parse(firn_mesh_format format, const char *name, const firn_bytes *in,
                            double thickness, int32_t threads, firn_mesh **out, firn_error *error)
{
    *out = NULL;
    firn_soup soup = {.name = name};
    firn_status st = read_soup(format, in, &soup, error);
    firn_mesh_def def = firn_mesh_def_default();
    def.vertices = soup.vertex;
    def.vertex_count = soup.vertex_count;
    def.corners = soup.corner;
    def.corner_count = soup.corner_count;
    def.face_counts = soup.face_size;
    def.face_count = soup.face_count;
    def.face_lines = soup.face_line;
    def.thickness = thickness;
    def.name = name;
    def.threads = threads;
    if (st == FIRN_OK) st = firn_mesh_create(&def, out, error);
    firn_soup_free(&soup);
    return st;
}

static bool ends_with(const char *text, const char *end)
{
    const size_t a = strlen(text), b = strlen(end);
    if (a < b) return false;
    for (size_t i = 0; i < b; i++) {
        const char c = text[a - b + i];
        if ((c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c) != end[i]) return false;
    }
    return true;
}

firn_status firn_mesh_format_of(const char *name, firn_mesh_format *format, firn_error *error)
{
    static const char *const ends[] = {[FIRN_MESH_OBJ] = ".obj",
                                       [FIRN_MESH_PLY] = ".ply",
                                       [FIRN_MESH_STL] = ".stl",
                                       [FIRN_MESH_VDB] = ".vdb",
                                       [FIRN_MESH_BINVOX] = ".binvox"};
    for (int f = 0; f < (int)(sizeof ends / sizeof *ends); f++) {
        if (!ends_with(name, ends[f])) continue;
        *format = (firn_mesh_format)f;
        return FIRN_OK;
    }
    return firn_fail(
        error, FIRN_INVALID,
        "%s: not a mesh file by its name; use .obj, .ply, .stl, .vdb or .binvox here, or "
        "shape: {mesh: {file: x.abc}}",
        name);
}

firn_status firn_mesh_read(const char *path, double thickness, int32_t threads, firn_mesh **out,
                           firn_error *error)
{
    *out = NULL;
    firn_mesh_format format;
    firn_status st = firn_mesh_format_of(path, &format, error);
    if (st != FIRN_OK) return st;
    firn_bytes bytes;
    st = firn_bytes_read(path, &bytes, error);
    if (st != FIRN_OK) return st;
    st = firn_mesh_parse(format, path, &bytes, thickness, threads, out, error);
    firn_bytes_free(&bytes);
    return st;
}

firn_status firn_polygons_read(const char *path, firn_polygons *out, firn_error *error)
{
    *out = (firn_polygons){0};
    firn_mesh_format format;
    firn_bytes bytes;
    firn_status st = firn_mesh_format_of(path, &format, error);
    if (st == FIRN_OK) st = firn_bytes_read(path, &bytes, error);
    if (st != FIRN_OK) return st;
    firn_soup soup = {.name = path};
    st = read_soup(format, &bytes, &soup, error);
    firn_bytes_free(&bytes);
    if (st == FIRN_OK) {
        *out = (firn_polygons){.vertex_count = soup.vertex_count,
                               .vertex = soup.vertex,
                               .velocity = soup.velocity,
                               .face_count = soup.face_count,
                               .corner_count = soup.corner_count,
                               .face = soup.face_size,
                               .corner = soup.corner};
        soup.vertex = soup.velocity = NULL;
        soup.face_size = soup.corner = NULL;
    }
    firn_soup_free(&soup);
    return st;
}
