/* STL, binary and text. Normals are ignored: the order of the corners says the same. */
#include <string.h>

#include "base/error.h"
#include "geometry/mesh_parts.h"

enum { HEADER = 84, FACET = 50 };

static uint32_t read_u32(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static firn_status add_corner(firn_soup *out, const double position[3], firn_error *error)
{
    const firn_status st = firn_soup_vertex(out, position, error);
    return st == FIRN_OK ? firn_soup_corner(out, out->vertex_count - 1, error) : st;
}

static firn_status read_binary(const firn_bytes *in, uint32_t count, firn_soup *out,
                               firn_error *error)
{
    firn_status st = FIRN_OK;
    for (uint32_t f = 0; f < count && st == FIRN_OK; f++) {
        const uint8_t *facet = in->data + HEADER + (size_t)f * FACET + 12; /* after the normal */
        for (int c = 0; c < 3 && st == FIRN_OK; c++) {
            double position[3];
            for (int a = 0; a < 3; a++) {
                const uint32_t bits = read_u32(facet + 12 * c + 4 * a);
                float value;
                memcpy(&value, &bits, sizeof value);
                position[a] = (double)value;
            }
            st = add_corner(out, position, error);
        }
        if (st == FIRN_OK) st = firn_soup_face(out, (int64_t)f + 1, error);
    }
    return st;
}

/* facet normal ... outer loop, vertex x y z three times, endloop, endfacet. Names after solid and
 * endsolid may be anything. */
static firn_status read_text(const firn_bytes *in, firn_soup *out, firn_error *error)
{
    firn_scan scan = firn_scan_begin(out->name, in);
    int corners = 0;
    for (;;) {
        const firn_mesh_word word = firn_scan_any(&scan);
        firn_status st = FIRN_OK;
        if (word.size == 0) break;
        if (firn_mesh_word_is(word, "solid") || firn_mesh_word_is(word, "endsolid")) {
            firn_scan_line(&scan);
        } else if (firn_mesh_word_is(word, "vertex")) {
            double position[3];
            for (int a = 0; a < 3; a++) {
                const firn_mesh_word number = firn_scan_word(&scan);
                if (firn_mesh_word_number(number, &position[a])) continue;
                return firn_fail(error, FIRN_INVALID,
                                 "%s:%lld: \"%.*s\" is not a number; a corner is `vertex x y z`",
                                 out->name, (long long)scan.line,
                                 number.size < 40 ? (int)number.size : 40, number.at);
            }
            corners++;
            st = add_corner(out, position, error);
        } else if (firn_mesh_word_is(word, "endloop")) {
            if (corners != 3) {
                return firn_fail(error, FIRN_INVALID,
                                 "%s:%lld: a facet with %d corners; STL takes three", out->name,
                                 (long long)scan.line, corners);
            }
            corners = 0;
            st = firn_soup_face(out, scan.line, error);
        }
        if (st != FIRN_OK) return st;
    }
    if (corners == 0) return FIRN_OK;
    return firn_fail(error, FIRN_INVALID, "%s:%lld: the file ends within a facet; it is cut short",
                     out->name, (long long)scan.line);
}

/* Binary files may begin with "solid" as well: their size is what tells. */
firn_status firn_soup_read_stl(const firn_bytes *in, firn_soup *out, firn_error *error)
{
    const firn_bytes text = firn_bytes_text(in);
    const bool says_text = text.size >= 5 && memcmp(text.data, "solid", 5) == 0;
    if (in->size >= HEADER) {
        const uint32_t count = read_u32(in->data + 80);
        const uint64_t size = HEADER + (uint64_t)count * FACET;
        if (size == in->size || (!says_text && size < in->size)) {
            return read_binary(in, count, out, error);
        }
        if (!says_text) {
            return firn_fail(error, FIRN_INVALID,
                             "%s: %zu bytes, but %u facets need %llu; the file is cut short or not "
                             "an STL file",
                             out->name, in->size, count, (unsigned long long)size);
        }
    }
    if (says_text) return read_text(in, out, error);
    return firn_fail(error, FIRN_INVALID, "%s: %zu bytes are too short for an STL file", out->name,
                     in->size);
}
