/* PLY, text and both binary forms: x y z of `vertex`, the corner list of `face`. All else is skipped
 * by its size. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "geometry/mesh_parts.h"

typedef enum encoding { TEXT, LITTLE, BIG } encoding;

typedef struct property {
    firn_type type;
    bool list;
    firn_type count_type; /* of a list */
    int8_t role;          /* 0 to 2: x y z of a vertex; CORNERS of a face; NOTHING */
} property;
enum { NOTHING = -1, CORNERS = 3, MOST = 64 };

typedef struct element {
    enum { OTHER, VERTEX, FACE } kind;
    int64_t count;
    int32_t property_count;
    property property[MOST];
} element;

typedef struct ply {
    encoding encoding;
    int32_t element_count;
    element element[MOST];
    firn_scan scan; /* behind the header */
} ply;

static bool type_of(firn_mesh_word word, firn_type *out)
{
    static const struct {
        const char *name[2];
        firn_type type;
    } types[] = {
        {{"char", "int8"}, FIRN_TYPE_i8},      {{"uchar", "uint8"}, FIRN_TYPE_u8},
        {{"short", "int16"}, FIRN_TYPE_i16},   {{"ushort", "uint16"}, FIRN_TYPE_u16},
        {{"int", "int32"}, FIRN_TYPE_i32},     {{"uint", "uint32"}, FIRN_TYPE_u32},
        {{"float", "float32"}, FIRN_TYPE_f32}, {{"double", "float64"}, FIRN_TYPE_f64},
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (!firn_mesh_word_is(word, types[i].name[0]) &&
            !firn_mesh_word_is(word, types[i].name[1]))
            continue;
        *out = types[i].type;
        return true;
    }
    return false;
}

/* ---- the header ---- */

static firn_status bad_line(const firn_scan *scan, const char *what, firn_error *error)
{
    return firn_fail(error, FIRN_INVALID, "%s:%lld: %s", scan->name, (long long)scan->line, what);
}

static firn_status read_format(firn_scan *scan, ply *out, firn_error *error)
{
    const firn_mesh_word word = firn_scan_word(scan);
    if (firn_mesh_word_is(word, "ascii")) {
        out->encoding = TEXT;
    } else if (firn_mesh_word_is(word, "binary_little_endian")) {
        out->encoding = LITTLE;
    } else if (firn_mesh_word_is(word, "binary_big_endian")) {
        out->encoding = BIG;
    } else {
        return bad_line(scan, "format must be ascii, binary_little_endian or binary_big_endian",
                        error);
    }
    return FIRN_OK;
}

static firn_status read_element(firn_scan *scan, ply *out, firn_error *error)
{
    if (out->element_count == MOST) return bad_line(scan, "more than 64 elements", error);
    element *e = &out->element[out->element_count++];
    *e = (element){0};
    const firn_mesh_word name = firn_scan_word(scan);
    if (firn_mesh_word_is(name, "vertex")) e->kind = VERTEX;
    if (firn_mesh_word_is(name, "face")) e->kind = FACE;
    double count;
    if (!firn_mesh_word_number(firn_scan_word(scan), &count) || !(count >= 0 && count <= 0x1p40) ||
        count != floor(count)) {
        return bad_line(scan, "an element is `element name count`", error);
    }
    e->count = (int64_t)count;
    return FIRN_OK;
}

static firn_status read_property(firn_scan *scan, ply *out, firn_error *error)
{
    if (out->element_count == 0) return bad_line(scan, "a property before any element", error);
    element *e = &out->element[out->element_count - 1];
    if (e->property_count == MOST) return bad_line(scan, "more than 64 properties", error);
    property *p = &e->property[e->property_count++];
    *p = (property){.role = NOTHING};
    firn_mesh_word word = firn_scan_word(scan);
    p->list = firn_mesh_word_is(word, "list");
    if (p->list) {
        if (!type_of(firn_scan_word(scan), &p->count_type) || p->count_type == FIRN_TYPE_f32 ||
            p->count_type == FIRN_TYPE_f64) {
            return bad_line(scan, "a list is `property list uchar int name`", error);
        }
        word = firn_scan_word(scan);
    }
    if (!type_of(word, &p->type)) {
        return bad_line(scan, "unknown type; one of char uchar short ushort int uint float double",
                        error);
    }
    const firn_mesh_word name = firn_scan_word(scan);
    if (e->kind == VERTEX && !p->list && name.size == 1 && *name.at >= 'x' && *name.at <= 'z') {
        p->role = (int8_t)(*name.at - 'x');
    }
    if (e->kind == FACE && p->list &&
        (firn_mesh_word_is(name, "vertex_indices") || firn_mesh_word_is(name, "vertex_index"))) {
        p->role = CORNERS;
    }
    return FIRN_OK;
}

static firn_status read_header(ply *out, firn_error *error)
{
    firn_scan *scan = &out->scan;
    if (!firn_mesh_word_is(firn_scan_word(scan), "ply")) {
        return bad_line(scan, "a PLY file begins with `ply`", error);
    }
    bool has_format = false;
    while (firn_scan_line(scan)) {
        const firn_mesh_word word = firn_scan_word(scan);
        firn_status st = FIRN_OK;
        if (firn_mesh_word_is(word, "format")) {
            st = read_format(scan, out, error);
            has_format = true;
        } else if (firn_mesh_word_is(word, "element")) {
            st = read_element(scan, out, error);
        } else if (firn_mesh_word_is(word, "property")) {
            st = read_property(scan, out, error);
        } else if (firn_mesh_word_is(word, "end_header")) {
            if (!has_format) return bad_line(scan, "the header has no format line", error);
            firn_scan_line(scan); /* also past a carriage return */
            return FIRN_OK;
        }
        if (st != FIRN_OK) return st;
    }
    return bad_line(scan, "the header has no end_header; the file is cut short", error);
}

/* ---- the values ---- */

static bool read_value(ply *in, firn_type type, double *out)
{
    if (in->encoding == TEXT) return firn_mesh_word_number(firn_scan_any(&in->scan), out);
    const size_t size = firn_type_size(type);
    if ((size_t)(in->scan.end - in->scan.at) < size) return false;
    const uint16_t probe = 1;
    const bool host_little = *(const uint8_t *)&probe == 1;
    union {
        uint8_t byte[8];
        double aligned;
    } value;
    for (size_t i = 0; i < size; i++) {
        const bool keep = host_little == (in->encoding == LITTLE);
        value.byte[keep ? i : size - 1 - i] = (uint8_t)in->scan.at[i];
    }
    in->scan.at += size;
    *out = firn_type_get(type, value.byte, 0);
    return true;
}

static firn_status read_list(ply *in, const property *p, firn_soup *out, bool *complete,
                             firn_error *error)
{
    double count;
    *complete = read_value(in, p->count_type, &count) && count >= 0;
    firn_status st = FIRN_OK;
    for (double i = 0; i < count && *complete && st == FIRN_OK; i++) {
        double value;
        *complete = read_value(in, p->type, &value);
        if (!*complete || p->role != CORNERS) continue;
        const bool whole = value >= 0 && value < INT32_MAX && value == floor(value);
        st = firn_soup_corner(out, whole ? (int64_t)value : INT32_MAX, error);
    }
    return st;
}

static firn_status read_item(ply *in, const element *e, int64_t item, firn_soup *out,
                             firn_error *error)
{
    double position[3] = {0};
    for (int32_t i = 0; i < e->property_count; i++) {
        const property *p = &e->property[i];
        bool complete = true;
        firn_status st = FIRN_OK;
        double value = 0;
        if (p->list) {
            st = read_list(in, p, out, &complete, error);
        } else {
            complete = read_value(in, p->type, &value);
            if (p->role >= 0) position[p->role] = value;
        }
        if (st != FIRN_OK) return st;
        if (!complete) {
            return firn_fail(
                error, FIRN_INVALID,
                "%s: the values end or make no sense at item %lld of %lld; the file is "
                "cut short or damaged",
                out->name, (long long)item + 1, (long long)e->count);
        }
    }
    if (e->kind == VERTEX) return firn_soup_vertex(out, position, error);
    return e->kind == FACE ? firn_soup_face(out, item + 1, error) : FIRN_OK;
}

firn_status firn_soup_read_ply(const firn_bytes *in, firn_soup *out, firn_error *error)
{
    ply *file = calloc(1, sizeof *file);
    if (!file) return firn_fail(error, FIRN_NO_MEMORY, "%s: out of memory", out->name);
    file->scan = firn_scan_begin(out->name, in);
    firn_status st = read_header(file, error);
    for (int32_t e = 0; e < file->element_count && st == FIRN_OK; e++) {
        const element *each = &file->element[e];
        if (each->property_count == 0) continue; /* of no size, however many */
        for (int64_t i = 0; i < each->count && st == FIRN_OK; i++) {
            st = read_item(file, each, i, out, error);
        }
    }
    free(file);
    return st;
}
