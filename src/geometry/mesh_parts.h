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
    double *vertex;   /* count x 3 */
    double *velocity; /* the same, m/s; NULL: unknown */
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

/* ---- surfaces of voxels (mesh_nets.c) ---- */

/* A surface under way, as crossings are found. Starts with a soup and zeros. */
typedef struct firn_net {
    firn_soup *soup; /* its vertices are sums of crossings, in voxels, until the net is finished */
    int32_t (*cell)[3]; /* of each vertex: the lowest of the eight voxels around it */
    int32_t *crossings; /* of each vertex */
    int32_t *slot;      /* vertices by the hash of their cells; -1: free */
    int64_t room;       /* slots, a power of two and at least twice the vertices */
} firn_net;

/* The surface passes between a voxel and the next along an axis, a part of the way up (0 to 1); `leaves`:
 * from the solid to the outside. Voxels are within +-2^30. */
firn_status firn_net_cross(firn_net *net, const int32_t voxel[3], int axis, double part,
                           bool leaves, firn_error *error);
/* Puts the vertices where they belong, in voxels. `stepped`: voxels were full or empty, so crossings are
 * halfway and say little. */
firn_status firn_net_finish(firn_net *net, bool stepped, firn_error *error);
void firn_net_free(firn_net *net); /* not the soup */

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
firn_status firn_soup_read_vdb(const firn_bytes *in, firn_soup *out, firn_error *error);
firn_status firn_soup_read_binvox(const firn_bytes *in, firn_soup *out, firn_error *error);

#endif
