/* What AbcGeom's schemas mean: meshes, points, bounds, visibility, attributes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "io/abc.h"

static firn_status no_memory(firn_error *error)
{
    return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
}

const char *firn_alembic_kind_name(firn_alembic_kind kind)
{
    static const char *const name[] = {
#define NAME(NAME, name, schema) #name,
        FIRN_ALEMBIC_KINDS(NAME)
#undef NAME
    };
    return (unsigned)kind < FIRN_ALEMBIC_KIND_COUNT ? name[kind] : NULL;
}

static bool is_mesh(const firn_abc_object *o)
{
    return o->kind == FIRN_ALEMBIC_MESH || o->kind == FIRN_ALEMBIC_SUBD;
}

static firn_status check_object(const firn_alembic *a, int32_t object, firn_error *error)
{
    FIRN_REQUIRE(a, error);
    if (object >= 0 && object < a->object_count) return FIRN_OK;
    return firn_fail(error, FIRN_INVALID, "object %d must be 0 to %d", object, a->object_count - 1);
}

/* ---- what there is ---- */

/* How many samples a second have most properties that change. */
static double guess_fps(const firn_alembic *a)
{
    int64_t most = 0;
    double fps = 0;
    int64_t *count = calloc(a->sampling_count, sizeof *count);
    for (int32_t i = 0; count && i < a->property_count; i++) {
        const firn_abc_property *p = &a->property[i];
        const firn_abc_sampling *s = &a->sampling[p->sampling];
        if (p->last == 0 || s->acyclic || !(s->cycle > 0)) continue;
        if (++count[p->sampling] > most) {
            most = count[p->sampling];
            fps = 1 / s->cycle;
        }
    }
    free(count);
    return fabs(fps - round(fps)) < 1e-6 * fps ? round(fps) : fps;
}

firn_alembic_file firn_alembic_get_file(const firn_alembic *a)
{
    firn_alembic_file out = {.object_count = a->object_count, .version = a->version};
    static const char *const keys[] = {"_ai_DCC_FPS", "FramesPerTimeUnit"};
    char text[128];
    for (int i = 0; i < 2 && !(out.fps > 0); i++) {
        out.fps = atof(firn_abc_metadata(a->metadata, keys[i], text, sizeof text));
    }
    if (!(out.fps > 0 && out.fps < 1e9)) out.fps = guess_fps(a);
    out.application = a->application;
    out.first_time = INFINITY;
    out.last_time = -INFINITY;
    for (int32_t i = 0; i < a->property_count; i++) {
        const firn_abc_property *p = &a->property[i];
        if (p->last == 0) continue;
        out.first_time = fmin(out.first_time, firn_abc_time(a, p, 0));
        out.last_time = fmax(out.last_time, firn_abc_time(a, p, (int64_t)p->samples - 1));
    }
    if (out.first_time > out.last_time) out.first_time = out.last_time = 0;
    return out;
}

/* The property whose samples are the object's: positions, or values of a transform. */
static const firn_abc_property *main_property(const firn_alembic *a, const firn_abc_object *o)
{
    const firn_abc_property *schema = firn_abc_schema(a, o);
    if (o->kind != FIRN_ALEMBIC_XFORM) return firn_abc_part(a, schema, "P");
    const firn_abc_property *vals = firn_abc_part(a, schema, ".vals");
    return vals ? vals : firn_abc_part(a, schema, ".inherits");
}

static const firn_abc_property *visible_property(const firn_alembic *a, const firn_abc_object *o)
{
    const firn_abc_property *p = firn_abc_find(a, o->child, o->child_count, "visible");
    return p && p->pod < FIRN_ABC_STRING && p->samples > 0 ? p : NULL;
}

/* Whether the object's own flag does not hide it. */
static firn_status own_visible(const firn_alembic *a, const firn_abc_object *o, double time,
                               bool *visible, firn_error *error)
{
    const firn_abc_property *p = visible_property(a, o);
    *visible = true;
    if (!p) return FIRN_OK;
    double *flag;
    int64_t count;
    const firn_status st =
        firn_abc_load_numbers(a, p, firn_abc_moment_at(a, p, time).low, 1, &flag, &count, error);
    if (st == FIRN_OK && count > 0) *visible = flag[0] != 0; /* -1 leaves it to the parents */
    free(flag);
    return st;
}

static const firn_abc_property *attribute_at(const firn_alembic *a, int32_t object, int32_t index)
{
    const firn_abc_property *list =
        firn_abc_part(a, firn_abc_schema(a, &a->object[object]), ".arbGeomParams");
    if (!list || index < 0 || index >= list->child_count) return NULL;
    return &a->property[list->child + index];
}

static firn_status describe(const firn_alembic *a, int32_t object, firn_alembic_object *out,
                            firn_error *error)
{
    const firn_abc_object *o = &a->object[object];
    const firn_abc_property *schema = firn_abc_schema(a, o), *p = main_property(a, o);
    *out = (firn_alembic_object){.path = o->path,
                                 .name = o->name,
                                 .kind = o->kind,
                                 .parent = o->parent,
                                 .instance_of = o->origin != object ? o->origin : -1};
    if (p && p->samples > 0) {
        out->sample_count = p->samples;
        out->first_time = firn_abc_time(a, p, 0);
        out->last_time = firn_abc_time(a, p, (int64_t)p->samples - 1);
        out->moves = p->last > 0;
    }
    const firn_abc_property *flag = visible_property(a, o);
    out->visible_changes = flag && flag->last > 0;
    firn_status st = own_visible(a, o, -INFINITY, &out->visible, error);
    const firn_abc_property *list = firn_abc_part(a, schema, ".arbGeomParams");
    if (list) out->attribute_count = list->child_count;
    if (st == FIRN_OK && p && p->samples > 0 && o->kind != FIRN_ALEMBIC_XFORM) {
        st = firn_abc_count(a, p, 0, &out->vertex_count, error);
    }
    if (!is_mesh(o)) return st;
    const firn_abc_property *faces = firn_abc_part(a, schema, ".faceCounts"),
                            *corners = firn_abc_part(a, schema, ".faceIndices");
    out->constant_topology = (!faces || faces->last == 0) && (!corners || corners->last == 0);
    if (st == FIRN_OK && faces && faces->samples > 0) {
        st = firn_abc_count(a, faces, 0, &out->face_count, error);
    }
    return st;
}

firn_status firn_alembic_get_object(const firn_alembic *a, int32_t object, firn_alembic_object *out,
                                    firn_error *error)
{
    FIRN_REQUIRE(out, error);
    firn_status st = check_object(a, object, error);
    if (st != FIRN_OK) return st;
    firn_error inner = {0};
    st = describe(a, object, out, &inner);
    return st == FIRN_OK ? st : firn_abc_fail(a, &inner, error);
}

/* Whether a text matches a pattern. Time grows with the product of their lengths: after a star that
 * fails further on, only the last one of its kind is tried again. */
static bool matches(const char *pattern, const char *text)
{
    const char *star[2] = {NULL, NULL}, *from[2] = {NULL, NULL}; /* "*", "**": and what they took */
    for (;;) {
        if (pattern[0] == '*') {
            const int deep = pattern[1] == '*';
            while (*pattern == '*') pattern++;
            star[deep] = pattern;
            from[deep] = text;
            if (deep) star[0] = NULL;
            continue;
        }
        if (*pattern == *text) {
            if (!*text) return true;
            pattern++;
            text++;
            continue;
        }
        if (star[0] && *from[0] && *from[0] != '/') {
            pattern = star[0];
            text = ++from[0];
        } else if (star[1] && *from[1]) {
            pattern = star[1];
            text = ++from[1];
            star[0] = NULL;
        } else {
            return false;
        }
    }
}

int32_t firn_alembic_find(const firn_alembic *a, const char *pattern, int32_t after)
{
    for (int32_t i = after < 0 ? 0 : after + 1; i < a->object_count; i++) {
        const char *path = a->object[i].path;
        if (pattern[0] == '/' || strncmp(pattern, "**", 2) == 0) {
            if (matches(pattern, path)) return i;
            continue;
        }
        for (const char *p = path; p; p = strchr(p, '/')) {
            if (matches(pattern, ++p)) return i;
        }
    }
    return -1;
}

bool firn_alembic_get_attribute(const firn_alembic *a, int32_t object, int32_t index,
                                firn_alembic_attribute *out)
{
    *out = (firn_alembic_attribute){0};
    const firn_abc_property *p =
        object >= 0 && object < a->object_count ? attribute_at(a, object, index) : NULL;
    if (!p) return false;
    const firn_abc_property *values =
        p->form == FIRN_ABC_COMPOUND ? firn_abc_part(a, p, ".vals") : p;
    static const char *const scopes[] = {"con", "uni", "var", "vtx", "fvr"};
    static const char *const meanings[] = {"rgb",   "rgba",   "vector", "normal",
                                           "point", "matrix", "quat",   "box"};
    char text[32];
    *out = (firn_alembic_attribute){.name = p->name,
                                    .type = values ? firn_abc_pod_names[values->pod] : "",
                                    .scope = "",
                                    .interpretation = "",
                                    .components = values ? (int32_t)values->extent : 0,
                                    .indexed = values != p,
                                    .changes = values && values->last > 0};
    firn_abc_metadata(p->metadata, "geoScope", text, sizeof text);
    for (size_t i = 0; i < sizeof scopes / sizeof *scopes; i++) {
        if (strcmp(text, scopes[i]) == 0) out->scope = scopes[i];
    }
    firn_abc_metadata(p->metadata, "interpretation", text, sizeof text);
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++) {
        if (strcmp(text, meanings[i]) == 0) out->interpretation = meanings[i];
    }
    return true;
}

/* ---- at a time ---- */

static firn_status find_visible(const firn_alembic *a, int32_t object, double time, bool *visible,
                                firn_error *error)
{
    firn_status st = FIRN_OK;
    *visible = true;
    for (int32_t i = object; i >= 0 && *visible && st == FIRN_OK; i = a->object[i].parent) {
        st = own_visible(a, &a->object[i], time, visible, error);
    }
    return st;
}

firn_status firn_alembic_visible(const firn_alembic *a, int32_t object, double time, bool *visible,
                                 firn_error *error)
{
    FIRN_REQUIRE(visible, error);
    firn_error inner = {0};
    firn_status st = check_object(a, object, error);
    if (st != FIRN_OK) return st;
    st = find_visible(a, object, time, visible, &inner);
    return st == FIRN_OK ? st : firn_abc_fail(a, &inner, error);
}

firn_status firn_alembic_matrix(const firn_alembic *a, int32_t object, double time,
                                double matrix[16], firn_error *error)
{
    firn_error inner = {0};
    firn_status st = check_object(a, object, error);
    if (st != FIRN_OK) return st;
    st = firn_abc_matrix(a, object, time, matrix, &inner);
    return st == FIRN_OK ? st : firn_abc_fail(a, &inner, error);
}

/* Adds the corners of a sample's box. */
static firn_status add_box(const firn_alembic *a, const firn_abc_property *p, int64_t sample,
                           const double matrix[16], double low[3], double high[3],
                           firn_error *error)
{
    double *box;
    int64_t count;
    const firn_status st = firn_abc_load_numbers(a, p, sample, 6, &box, &count, error);
    bool full = st == FIRN_OK && count == 1;
    for (int i = 0; full && i < 3; i++) full = box[i] <= box[3 + i];
    for (int corner = 0; full && corner < 8; corner++) {
        double x[3];
        for (int i = 0; i < 3; i++) x[i] = box[corner >> i & 1 ? 3 + i : i];
        firn_abc_transform(matrix, x, true, x);
        for (int i = 0; i < 3; i++) {
            low[i] = fmin(low[i], x[i]);
            high[i] = fmax(high[i], x[i]);
        }
    }
    free(box);
    return st;
}

firn_status firn_alembic_bounds(const firn_alembic *a, int32_t object, double time, double low[3],
                                double high[3], firn_error *error)
{
    firn_error inner = {0};
    firn_status st = check_object(a, object, error);
    if (st != FIRN_OK) return st;
    for (int i = 0; i < 3; i++) {
        low[i] = INFINITY;
        high[i] = -INFINITY;
    }
    const firn_abc_property *p =
        firn_abc_part(a, firn_abc_schema(a, &a->object[object]), ".selfBnds");
    if (!p || p->samples == 0) return FIRN_OK;
    double matrix[16];
    const firn_abc_moment at = firn_abc_moment_at(a, p, time);
    st = firn_abc_matrix(a, object, time, matrix, &inner);
    if (st == FIRN_OK) st = add_box(a, p, at.low, matrix, low, high, &inner);
    if (st == FIRN_OK && at.high != at.low) {
        st = add_box(a, p, at.high, matrix, low, high, &inner);
    }
    return st == FIRN_OK ? st : firn_abc_fail(a, &inner, error);
}

/* ---- times ---- */

typedef struct time_list {
    double *time;
    int64_t count, room;
} time_list;

/* Those of the samples between which the property changes. */
static firn_status add_times(const firn_alembic *a, const firn_abc_property *p, time_list *list,
                             firn_error *error)
{
    if (!p || p->last == 0) return FIRN_OK;
    uint64_t stored, expected = (uint64_t)p->last - p->first + 2;
    const firn_status st = firn_ogawa_count(&a->file, p->group, &stored, error);
    if (st != FIRN_OK) return st;
    if (p->form != FIRN_ABC_SCALAR) expected *= 2;
    if (stored < expected) {
        return firn_fail(error, FIRN_INVALID, "is damaged: property %.60s lacks samples", p->name);
    }
    const int64_t more = (int64_t)p->last - p->first + 2;
    if (list->count + more > list->room) {
        const int64_t room = 2 * (list->count + more);
        double *grown = realloc(list->time, (size_t)room * sizeof *grown);
        if (!grown) return no_memory(error);
        list->time = grown;
        list->room = room;
    }
    for (int64_t i = (int64_t)p->first - 1; i <= p->last; i++) {
        list->time[list->count++] = firn_abc_time(a, p, i);
    }
    return FIRN_OK;
}

static int rising(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

firn_status firn_alembic_times(const firn_alembic *a, int32_t object, double **times,
                               int64_t *count, firn_error *error)
{
    FIRN_REQUIRE(times, error);
    FIRN_REQUIRE(count, error);
    *times = NULL;
    *count = 0;
    firn_status st = check_object(a, object, error);
    if (st != FIRN_OK) return st;
    static const char *const names[] = {"P",     ".faceIndices", ".faceCounts", ".velocities",
                                        ".vals", ".ops",         ".inherits"};
    firn_error inner = {0};
    time_list list = {0};
    for (int32_t i = object; i >= 0 && st == FIRN_OK; i = a->object[i].parent) {
        const firn_abc_object *o = &a->object[i];
        st = add_times(a, visible_property(a, o), &list, &inner);
        if (i != object && o->kind != FIRN_ALEMBIC_XFORM) continue;
        for (size_t k = 0; k < sizeof names / sizeof *names && st == FIRN_OK; k++) {
            st = add_times(a, firn_abc_part(a, firn_abc_schema(a, o), names[k]), &list, &inner);
        }
    }
    if (st != FIRN_OK) {
        free(list.time);
        return firn_abc_fail(a, &inner, error);
    }
    if (list.count) qsort(list.time, (size_t)list.count, sizeof *list.time, rising);
    const double same = 1e-9; /* s */
    for (int64_t i = 0; i < list.count; i++) {
        if (*count && list.time[i] - list.time[*count - 1] < same) continue;
        list.time[(*count)++] = list.time[i];
    }
    *times = list.time;
    return FIRN_OK;
}

/* ---- meshes ---- */

/* Integers of a sample, checked to fit. */
static firn_status load_integers(const firn_alembic *a, const firn_abc_property *p, int64_t sample,
                                 int32_t **out, int64_t *count, firn_error *error)
{
    *out = NULL;
    *count = 0;
    if (p->pod != FIRN_ABC_I32 || p->extent != 1) {
        return firn_fail(error, FIRN_INVALID, "property %.60s is %s[%u]; int32_t is expected",
                         p->name, firn_abc_pod_names[p->pod], p->extent);
    }
    firn_abc_sample s;
    const firn_status st = firn_abc_load(a, p, sample, &s, error);
    if (st != FIRN_OK) return st;
    *out = s.data;
    *count = s.count;
    return FIRN_OK;
}

/* Whether the samples around a moment are the same: by where they are stored, or by their integers. */
static firn_status same_sample(const firn_alembic *a, const firn_abc_property *p,
                               firn_abc_moment at, bool *same, firn_error *error)
{
    uint64_t one, other;
    *same = at.low == at.high;
    if (*same) return FIRN_OK;
    firn_status st = firn_abc_word(a, p, at.low, &one, error);
    if (st == FIRN_OK) st = firn_abc_word(a, p, at.high, &other, error);
    if (st != FIRN_OK) return st;
    *same = one == other;
    if (*same) return FIRN_OK;
    int32_t *low, *high = NULL;
    int64_t low_count, high_count = 0;
    st = load_integers(a, p, at.low, &low, &low_count, error);
    if (st == FIRN_OK) st = load_integers(a, p, at.high, &high, &high_count, error);
    *same = st == FIRN_OK && low_count == high_count &&
            memcmp(low, high, (size_t)low_count * sizeof *low) == 0;
    free(low);
    free(high);
    return st;
}

/* Triples at a moment, in the world. If `hold`, those of the sample before. */
static firn_status load_triples(const firn_alembic *a, const firn_abc_property *p,
                                firn_abc_moment at, bool hold, const double matrix[16],
                                bool is_point, double **out, int64_t *count, firn_error *error)
{
    double *later = NULL;
    int64_t later_count = 0;
    firn_status st = firn_abc_load_numbers(a, p, at.low, 3, out, count, error);
    if (st == FIRN_OK && at.weight > 0 && !hold) {
        st = firn_abc_load_numbers(a, p, at.high, 3, &later, &later_count, error);
    }
    const bool between = st == FIRN_OK && later && later_count == *count;
    for (int64_t i = 0; between && i < 3 * *count; i++) {
        (*out)[i] += at.weight * (later[i] - (*out)[i]);
    }
    for (int64_t i = 0; st == FIRN_OK && i < *count; i++) {
        firn_abc_transform(matrix, *out + 3 * i, is_point, *out + 3 * i);
    }
    free(later);
    return st;
}

/* Turns the corners of every face round, and checks them. */
static firn_status check_faces(firn_polygons *m, bool turn, firn_error *error)
{
    int64_t used = 0;
    for (int64_t f = 0; f < m->face_count; f++) {
        const int32_t n = m->face[f];
        if (n < 0 || n > m->corner_count - used) {
            return firn_fail(
                error, FIRN_INVALID, "is damaged: face %lld has %d corners, with %lld of %lld left",
                (long long)f, n, (long long)(m->corner_count - used), (long long)m->corner_count);
        }
        int32_t *corner = m->corner + used;
        for (int32_t i = 0; turn && i < n / 2; i++) {
            const int32_t swap = corner[i];
            corner[i] = corner[n - 1 - i];
            corner[n - 1 - i] = swap;
        }
        used += n;
    }
    if (used != m->corner_count) {
        return firn_fail(error, FIRN_INVALID, "is damaged: its faces have %lld corners of %lld",
                         (long long)used, (long long)m->corner_count);
    }
    for (int64_t i = 0; i < m->corner_count; i++) {
        if (m->corner[i] >= 0 && m->corner[i] < m->vertex_count) continue;
        return firn_fail(error, FIRN_INVALID, "is damaged: corner %lld is vertex %d of %lld",
                         (long long)i, m->corner[i], (long long)m->vertex_count);
    }
    return FIRN_OK;
}

static firn_status load_mesh(const firn_alembic *a, int32_t object, double time, firn_abc_moment at,
                             firn_polygons *m, firn_error *error)
{
    const firn_abc_property *schema = firn_abc_schema(a, &a->object[object]);
    const firn_abc_property *P = firn_abc_part(a, schema, "P"),
                            *faces = firn_abc_part(a, schema, ".faceCounts"),
                            *corners = firn_abc_part(a, schema, ".faceIndices"),
                            *v = firn_abc_part(a, schema, ".velocities");
    double matrix[16];
    firn_status st = firn_abc_matrix(a, object, time, matrix, error);
    if (st != FIRN_OK) return st;
    const firn_abc_moment at_faces = firn_abc_moment_at(a, faces, time),
                          at_corners = firn_abc_moment_at(a, corners, time);
    st = load_integers(a, faces, at_faces.low, &m->face, &m->face_count, error);
    if (st == FIRN_OK) {
        st = load_integers(a, corners, at_corners.low, &m->corner, &m->corner_count, error);
    }
    bool same = true;
    if (st == FIRN_OK) st = same_sample(a, faces, at_faces, &same, error);
    if (st == FIRN_OK && same) st = same_sample(a, corners, at_corners, &same, error);
    const bool hold = !same;
    if (st == FIRN_OK) {
        st = load_triples(a, P, at, hold, matrix, true, &m->vertex, &m->vertex_count, error);
    }
    if (st == FIRN_OK && v && v->samples > 0) {
        int64_t count;
        st = load_triples(a, v, firn_abc_moment_at(a, v, time), hold, matrix, false, &m->velocity,
                          &count, error);
        if (st == FIRN_OK && count != m->vertex_count) { /* some programs leave them empty */
            free(m->velocity);
            m->velocity = NULL;
        }
    }
    if (st != FIRN_OK) return st;
    const double *x = matrix; /* mirrored, the file's faces are ours */
    const double volume = x[0] * (x[5] * x[10] - x[6] * x[9]) -
                          x[1] * (x[4] * x[10] - x[6] * x[8]) + x[2] * (x[4] * x[9] - x[5] * x[8]);
    return check_faces(m, volume >= 0, error);
}

/* At a time, or, if sample is not below 0, at that of the sample. */
static firn_status read_mesh(const firn_alembic *a, int32_t object, double time, int64_t sample,
                             firn_polygons *out, firn_error *error)
{
    FIRN_REQUIRE(out, error);
    *out = (firn_polygons){0};
    firn_status st = check_object(a, object, error);
    if (st != FIRN_OK) return st;
    const firn_abc_object *o = &a->object[object];
    const firn_abc_property *schema = firn_abc_schema(a, o), *P = firn_abc_part(a, schema, "P"),
                            *faces = firn_abc_part(a, schema, ".faceCounts"),
                            *corners = firn_abc_part(a, schema, ".faceIndices");
    firn_error inner = {0};
    if (!is_mesh(o)) {
        st = firn_fail(&inner, FIRN_INVALID, "%.300s is no mesh but of kind %s", o->path,
                       firn_alembic_kind_name(o->kind));
    } else if (!P || !faces || !corners || !P->samples || !faces->samples || !corners->samples) {
        st = firn_fail(&inner, FIRN_INVALID,
                       "%.300s lacks samples of P, .faceCounts or "
                       ".faceIndices",
                       o->path);
    } else if (sample >= P->samples) {
        st = firn_fail(&inner, FIRN_INVALID, "%.300s has %u samples, and %lld is asked for",
                       o->path, P->samples, (long long)sample);
    } else if (!isfinite(time)) {
        st = firn_fail(&inner, FIRN_INVALID, "time %g s must be finite", time);
    }
    if (st == FIRN_OK) {
        firn_abc_moment at = firn_abc_moment_at(a, P, time);
        if (sample >= 0) {
            time = firn_abc_time(a, P, sample);
            at = (firn_abc_moment){sample, sample, 0};
        }
        st = load_mesh(a, object, time, at, out, &inner);
    }
    if (st == FIRN_OK) return FIRN_OK;
    firn_polygons_free(out);
    return firn_abc_fail(a, &inner, error);
}

firn_status firn_alembic_read_mesh(const firn_alembic *a, int32_t object, double time,
                                   firn_polygons *out, firn_error *error)
{
    return read_mesh(a, object, time, -1, out, error);
}

firn_status firn_alembic_read_mesh_sample(const firn_alembic *a, int32_t object, int64_t sample,
                                          firn_polygons *out, firn_error *error)
{
    if (sample < 0)
        return firn_fail(error, FIRN_INVALID, "sample %lld must not be below 0", (long long)sample);
    return read_mesh(a, object, 0, sample, out, error);
}
