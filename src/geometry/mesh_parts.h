/* What the mesh readers share: polygons as files have them, text, and the making of a mesh. */
#ifndef FIRN_SCENE_MESH_PARTS_H
#define FIRN_SCENE_MESH_PARTS_H

#include <stdbool.h>

#include "geometry/mesh.h"

/* ---- polygons as read (mesh_soup.c) ---- */

typedef struct firn_soup {
    const char *name;
    int64_t vertex_count, vertex_room;
    double *vertex; /* count x 3 */
    int64_t corner_count, corner_room;
    int32_t *corner; /* vertices of all faces, one face after the other */
    int64_t face_count, face_room;
    int64_t *face_end; /* corners up to and including this face */
    int64_t *face_at;  /* line, or number of the face where there are no lines */
} firn_soup;

/* The most corners a face may have: cutting one into triangles takes up to their number squared. */
enum { FIRN_FACE_CORNERS = 65536 };

firn_status firn_soup_vertex(firn_soup *soup, const double position[3], firn_error *error);
/* A face is its corners, then this. Fewer than three are forgotten. */
firn_status firn_soup_corner(firn_soup *soup, int64_t vertex, firn_error *error);
firn_status firn_soup_face(firn_soup *soup, int64_t at, firn_error *error);
void firn_soup_free(firn_soup *soup);

/* Cuts a polygon of n corners, concave or not, into n - 2 triangles: writes 3 (n - 2) vertices. Uses
 * 3 n doubles of scratch. */
void firn_polygon_cut(const double *vertex, const int32_t *corner, int32_t n, double *scratch,
                      int32_t *out);

/* ---- text (mesh_text.c) ---- */

typedef struct firn_scan {
    const char *at, *end;
    const char *name;
    int64_t line; /* from 1 */
} firn_scan;

firn_scan firn_scan_begin(const char *name, const firn_bytes *in);
/* The next word of this line, or an empty one at its end. A backslash before the line's end
 * continues it. */
typedef struct firn_mesh_word {
    const char *at;
    size_t size;
} firn_mesh_word;
firn_mesh_word firn_scan_word(firn_scan *scan);
/* The next word of any line; empty at the end of the text. */
firn_mesh_word firn_scan_any(firn_scan *scan);
/* Goes to the start of the next line; false at the end of the text. */
bool firn_scan_line(firn_scan *scan);

bool firn_mesh_word_is(firn_mesh_word word, const char *text);
/* The whole word as a number, correctly rounded, with a point whatever the locale. */
bool firn_mesh_word_number(firn_mesh_word word, double *out);

/* ---- readers ---- */

firn_status firn_soup_read_obj(const firn_bytes *in, firn_soup *out, firn_error *error);
firn_status firn_soup_read_ply(const firn_bytes *in, firn_soup *out, firn_error *error);
firn_status firn_soup_read_stl(const firn_bytes *in, firn_soup *out, firn_error *error);

/* ---- making (mesh_tree.c) ---- */

/* Orders triangles in space and builds the boxes. */
firn_status firn_mesh_index(firn_mesh *mesh, firn_error *error);

/* firn_mesh_winding as if one shell, unless -1, were not there. */
int32_t firn_mesh_winding_without(const firn_mesh *mesh, const double point[3], int32_t shell);

/* Integral over space of (winding number - 1 inside, 0 outside), m^3. */
firn_status firn_mesh_excess(const firn_mesh *mesh, int32_t threads, double *out,
                             firn_error *error);

#endif
