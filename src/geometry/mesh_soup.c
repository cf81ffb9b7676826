/* Polygons as files have them. */
#include <stdlib.h>

#include "base/error.h"
#include "geometry/mesh_parts.h"

/* Room for one more element of `size` bytes in *data. */
static bool make_room(void **data, int64_t count, int64_t *room, size_t size)
{
    if (count < *room) return true;
    const int64_t more = *room ? 2 * *room : 1024;
    void *grown = realloc(*data, (size_t)more * size);
    if (!grown) return false;
    *data = grown;
    *room = more;
    return true;
}

static firn_status no_memory(const firn_soup *soup, firn_error *error)
{
    return firn_fail(error, FIRN_NO_MEMORY, "%s: out of memory after %lld faces", soup->name,
                     (long long)soup->face_count);
}

firn_status firn_soup_vertex(firn_soup *soup, const double position[3], firn_error *error)
{
    if (soup->vertex_count == INT32_MAX) {
        return firn_fail(error, FIRN_INVALID,
                         "%s: more than %d vertices; reduce the mesh in a modelling package",
                         soup->name, INT32_MAX);
    }
    if (!make_room((void **)&soup->vertex, soup->vertex_count, &soup->vertex_room,
                   3 * sizeof *soup->vertex)) {
        return no_memory(soup, error);
    }
    for (int a = 0; a < 3; a++) soup->vertex[3 * soup->vertex_count + a] = position[a];
    soup->vertex_count++;
    return FIRN_OK;
}

firn_status firn_soup_corner(firn_soup *soup, int64_t vertex, firn_error *error)
{
    if (soup->corner_count - soup->face_begin == FIRN_FACE_CORNERS) {
        return firn_fail(error, FIRN_INVALID,
                         "%s: face %lld has more than %d corners; cut it into smaller ones",
                         soup->name, (long long)soup->face_count + 1, FIRN_FACE_CORNERS);
    }
    if (!make_room((void **)&soup->corner, soup->corner_count, &soup->corner_room,
                   sizeof *soup->corner)) {
        return no_memory(soup, error);
    }
    /* Whether there is such a vertex is known only at the end; what no int32 holds never is one. */
    soup->corner[soup->corner_count++] =
        vertex < 0 || vertex >= INT32_MAX ? INT32_MAX : (int32_t)vertex;
    return FIRN_OK;
}

firn_status firn_soup_face(firn_soup *soup, int64_t at, firn_error *error)
{
    const int64_t corners = soup->corner_count - soup->face_begin;
    if (corners < 3) {
        soup->corner_count = soup->face_begin;
        return FIRN_OK;
    }
    int64_t room = soup->face_room;
    if (!make_room((void **)&soup->face_size, soup->face_count, &room, sizeof *soup->face_size) ||
        !make_room((void **)&soup->face_line, soup->face_count, &soup->face_room,
                   sizeof *soup->face_line)) {
        return no_memory(soup, error);
    }
    soup->face_size[soup->face_count] = (int32_t)corners;
    soup->face_line[soup->face_count] = at;
    soup->face_count++;
    soup->face_begin = soup->corner_count;
    return FIRN_OK;
}

void firn_soup_free(firn_soup *soup)
{
    free(soup->vertex);
    free(soup->velocity);
    free(soup->corner);
    free(soup->face_size);
    free(soup->face_line);
    *soup = (firn_soup){0};
}
