/* What the mesh readers share: polygons as files have them, and text. */
#ifndef FIRN_SCENE_MESH_PARTS_H
#define FIRN_SCENE_MESH_PARTS_H

#include <stdbool.h>

#include "geometry/mesh.h"
#include "mesh/mesh.h"

/* ---- polygons as read (mesh_soup.c) ---- */

typedef struct firn_soup {
    const char *name;
    int64_t vertex_count, vertex_room;
    double *vertex; /* count x 3 */
    int64_t corner_count, corner_room;
    int32_t *corner; /* vertices of all faces, one face after the other */
    int64_t face_count, face_room;
    int32_t *face_size; /* corners of each */
    int64_t *face_line; /* or number of the face where there are no lines */
    int64_t face_begin; /* first corner of the face under way */
} firn_soup;

firn_status firn_soup_vertex(firn_soup *soup, const double position[3], firn_error *error);
/* A face is its corners, then this. Fewer than three are forgotten. */
firn_status firn_soup_corner(firn_soup *soup, int64_t vertex, firn_error *error);
firn_status firn_soup_face(firn_soup *soup, int64_t at, firn_error *error);
void firn_soup_free(firn_soup *soup);

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

#endif
