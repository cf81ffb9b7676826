/* Wavefront OBJ: `v` and `f`; the rest (texture, normals, groups, lines, curves) has no inside. */
#include "base/error.h"
#include "geometry/mesh_parts.h"

static firn_status read_vertex(firn_scan *scan, firn_soup *out, firn_error *error)
{
    double position[3];
    for (int a = 0; a < 3; a++) {
        const firn_mesh_word word = firn_scan_word(scan);
        if (firn_mesh_word_number(word, &position[a])) continue;
        return firn_fail(error, FIRN_INVALID,
                         "%s:%lld: \"%.*s\" is not a number; a vertex is `v x y z`", scan->name,
                         (long long)scan->line, word.size < 40 ? (int)word.size : 40, word.at);
    }
    return firn_soup_vertex(out, position, error);
}

/* The vertex number of "7", "7/1", "7//2" or "-1/1/1"; 0 when it is none. */
static int64_t corner_number(firn_mesh_word word)
{
    size_t i = 0;
    const bool negative = word.size > 0 && word.at[0] == '-';
    if (negative) i++;
    int64_t number = 0;
    for (; i < word.size && word.at[i] >= '0' && word.at[i] <= '9'; i++) {
        if (number > INT32_MAX) return 0;
        number = number * 10 + (word.at[i] - '0');
    }
    if (i < word.size && word.at[i] != '/') return 0;
    return negative ? -number : number;
}

/* Numbers count from 1; negative ones back from the last vertex so far. */
static firn_status read_face(firn_scan *scan, firn_soup *out, firn_error *error)
{
    const int64_t line = scan->line;
    for (;;) {
        const firn_mesh_word word = firn_scan_word(scan);
        if (word.size == 0) return firn_soup_face(out, line, error);
        const int64_t number = corner_number(word);
        const int64_t vertex = number < 0 ? out->vertex_count + number : number - 1;
        if (vertex < 0) {
            return firn_fail(error, FIRN_INVALID,
                             "%s:%lld: \"%.*s\" names no vertex; there are %lld so far, numbered "
                             "from 1, or from -1 backwards",
                             scan->name, (long long)line, word.size < 40 ? (int)word.size : 40,
                             word.at, (long long)out->vertex_count);
        }
        const firn_status st = firn_soup_corner(out, vertex, error);
        if (st != FIRN_OK) return st;
    }
}

firn_status firn_soup_read_obj(const firn_bytes *in, firn_soup *out, firn_error *error)
{
    firn_scan scan = firn_scan_begin(out->name, in);
    do {
        const firn_mesh_word word = firn_scan_word(&scan);
        firn_status st = FIRN_OK;
        if (firn_mesh_word_is(word, "v")) {
            st = read_vertex(&scan, out, error);
        } else if (firn_mesh_word_is(word, "f")) {
            st = read_face(&scan, out, error);
        }
        if (st != FIRN_OK) return st;
    } while (firn_scan_line(&scan));
    return FIRN_OK;
}
