/* From polygons to a checked mesh: cut, merge, match edges, turn faces, measure. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "mesh/mesh.h"

static const double farthest = 1e30; /* m; products of three still fit a double */

static firn_status no_memory(const char *name, firn_error *error)
{
    return firn_fail(error, FIRN_NO_MEMORY, "%s: out of memory for the mesh; reduce it", name);
}

/* ---- vertices ---- */

/* Corners of a face. */
static int32_t face_size(const firn_mesh_def *def, int64_t face)
{
    return def->face_counts ? def->face_counts[face] : 3;
}

static firn_status check_counts(const firn_mesh_def *def, firn_error *error)
{
    const int64_t faces = def->face_count;
    if (faces < 1 || def->vertex_count < 1) {
        return firn_fail(error, FIRN_INVALID,
                         "%s: the mesh is empty: %lld vertices, %s faces; export it with faces",
                         def->name, (long long)def->vertex_count, faces < 1 ? "no" : "some");
    }
    if (!def->vertices || !def->corners) {
        return firn_fail(error, FIRN_INVALID, "%s: vertices or corners is NULL; give both",
                         def->name);
    }
    if (def->corner_count > INT32_MAX / 3 || def->vertex_count > INT32_MAX) {
        return firn_fail(error, FIRN_INVALID,
                         "%s: %lld vertices, and faces have %lld corners; at most %d and %d can be "
                         "handled, reduce the mesh",
                         def->name, (long long)def->vertex_count, (long long)def->corner_count,
                         INT32_MAX, INT32_MAX / 3);
    }
    int64_t corners = 0;
    for (int64_t f = 0; f < faces; f++) {
        const int32_t size = face_size(def, f);
        if (size < 0 || size > FIRN_FACE_CORNERS) {
            return firn_fail(error, FIRN_INVALID,
                             "%s: face %lld has %d corners; it may have up to %d, cut it into "
                             "smaller ones",
                             def->name, (long long)f + 1, (int)size, FIRN_FACE_CORNERS);
        }
        corners += size;
    }
    if (corners == def->corner_count) return FIRN_OK;
    return firn_fail(error, FIRN_INVALID,
                     "%s: corner_count is %lld and the faces have %lld corners; give as many",
                     def->name, (long long)def->corner_count, (long long)corners);
}

static firn_status refuse_corner(const firn_mesh_def *def, int64_t face, firn_error *error)
{
    return firn_fail(error, FIRN_INVALID,
                     "%s:%lld: a face names a vertex that is not there; %s has %lld vertices",
                     def->name, (long long)(def->face_lines ? def->face_lines[face] : face + 1),
                     def->face_lines ? "the file" : "the mesh", (long long)def->vertex_count);
}

static firn_status check_corners(const firn_mesh_def *def, firn_error *error)
{
    const int32_t *corner = def->corners;
    for (int64_t f = 0; f < def->face_count; f++) {
        for (const int32_t *end = corner + face_size(def, f); corner < end; corner++) {
            if (*corner < 0 || *corner >= def->vertex_count) return refuse_corner(def, f, error);
            const double *p = def->vertices + 3 * (ptrdiff_t)*corner;
            for (int a = 0; a < 3; a++) {
                if (fabs(p[a]) <= farthest) continue;
                return firn_fail(error, FIRN_INVALID,
                                 "%s: vertex %lld at %g %g %g must be finite and within %g; export "
                                 "the mesh again",
                                 def->name, (long long)*corner + 1, p[0], p[1], p[2], farthest);
            }
        }
    }
    return FIRN_OK;
}

static bool same_place(const double a[3], const double b[3])
{
    return a[0] == b[0] && a[1] == b[1] && a[2] == b[2];
}

static uint64_t place_hash(const double p[3])
{
    uint64_t hash = 0;
    for (int a = 0; a < 3; a++) {
        uint64_t bits;
        memcpy(&bits, &p[a], sizeof bits);
        hash = (hash ^ bits) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    return hash;
}

/* Gives each vertex in use the number of the first at its position. */
static firn_status merge_vertices(const firn_mesh_def *def, firn_mesh *mesh, int32_t *number,
                                  firn_error *error)
{
    size_t slots = 16;
    while (slots < 2 * (size_t)def->vertex_count) slots *= 2;
    int32_t *table = malloc(slots * sizeof *table);
    mesh->vertex = malloc((size_t)def->vertex_count * 3 * sizeof *mesh->vertex);
    mesh->source = malloc((size_t)def->vertex_count * sizeof *mesh->source);
    if (!table || !mesh->vertex || !mesh->source) {
        free(table);
        return no_memory(def->name, error);
    }
    memset(table, -1, slots * sizeof *table);
    for (int64_t v = 0; v < def->vertex_count; v++) number[v] = -1;
    for (int64_t c = 0; c < def->corner_count; c++) {
        const int32_t v = def->corners[c];
        if (number[v] >= 0) continue;
        double p[3];
        for (int a = 0; a < 3; a++) p[a] = def->vertices[3 * (ptrdiff_t)v + a] + 0.0; /* no -0 */
        size_t slot = (size_t)place_hash(p) & (slots - 1);
        while (table[slot] >= 0 && !same_place(mesh->vertex + 3 * (ptrdiff_t)table[slot], p)) {
            slot = (slot + 1) & (slots - 1);
        }
        if (table[slot] < 0) {
            memcpy(mesh->vertex + 3 * (ptrdiff_t)mesh->vertex_count, p, sizeof p);
            mesh->source[mesh->vertex_count] = v;
            table[slot] = mesh->vertex_count++;
        }
        number[v] = table[slot];
    }
    free(table);
    return FIRN_OK;
}

/* Cuts faces into triangles; those that are a line or a point after merging are left out. */
static firn_status cut_faces(const firn_mesh_def *def, firn_mesh *mesh, const int32_t *number,
                             firn_error *error)
{
    int32_t most = 0;
    for (int64_t f = 0; f < def->face_count; f++) {
        most = face_size(def, f) > most ? face_size(def, f) : most;
    }
    double *scratch = malloc(((size_t)most * 3 + 1) * sizeof *scratch);
    int32_t *cut = malloc(((size_t)most * 3 + 1) * sizeof *cut);
    /* A face of n corners makes n - 2 triangles. */
    mesh->triangle = malloc((size_t)def->corner_count * 3 * sizeof *mesh->triangle);
    const bool fine = scratch && cut && mesh->triangle;
    const int32_t *corner = def->corners;
    for (int64_t f = 0; f < def->face_count && fine; f++) {
        const int32_t n = face_size(def, f);
        if (n >= 3) firn_polygon_cut(def->vertices, corner, n, scratch, cut);
        for (int32_t t = 0; t < n - 2; t++) {
            int32_t *out = mesh->triangle + 3 * (ptrdiff_t)mesh->triangle_count;
            for (int a = 0; a < 3; a++) out[a] = number[cut[3 * t + a]];
            mesh->triangle_count += out[0] != out[1] && out[1] != out[2] && out[2] != out[0];
        }
        corner += n;
    }
    free(scratch);
    free(cut);
    if (!fine) return no_memory(def->name, error);
    if (mesh->triangle_count > 0) return FIRN_OK;
    return firn_fail(error, FIRN_INVALID,
                     "%s: the mesh is empty: all faces are lines or points; export it again",
                     def->name);
}

/* ---- edges ---- */

/* Side 3 t + k of triangle t runs from its corner k to the next. Sides that join the same two
 * vertices stand together in `side`, lowest vertex first, in order of the file. */
typedef struct edges {
    const firn_mesh *mesh;
    int32_t *side;
    bool *turned;   /* triangles to be read backwards */
    int32_t *piece; /* of each triangle: those reached without crossing a branching edge */
    int32_t piece_count;
} edges;

static void side_ends(const firn_mesh *mesh, int32_t side, int32_t ends[2])
{
    const int32_t t = side / 3, k = side % 3;
    ends[0] = mesh->triangle[3 * (ptrdiff_t)t + k];
    ends[1] = mesh->triangle[3 * (ptrdiff_t)t + (k + 1) % 3];
}

static int32_t low_end(const firn_mesh *mesh, int32_t side)
{
    int32_t e[2];
    side_ends(mesh, side, e);
    return e[0] < e[1] ? e[0] : e[1];
}

static int32_t high_end(const firn_mesh *mesh, int32_t side)
{
    int32_t e[2];
    side_ends(mesh, side, e);
    return e[0] < e[1] ? e[1] : e[0];
}

static bool side_before(const firn_mesh *mesh, int32_t a, int32_t b)
{
    const int32_t ha = high_end(mesh, a), hb = high_end(mesh, b);
    return ha != hb ? ha < hb : a < b;
}

/* Heap sort: a vertex may have any number of sides. */
static void sort_sides(const firn_mesh *mesh, int32_t *side, int32_t count)
{
    for (int32_t built = count / 2 - 1, left = count; left > 1;) {
        int32_t root;
        if (built >= 0) {
            root = built--;
        } else {
            const int32_t last = side[--left];
            side[left] = side[0];
            side[0] = last;
            root = 0;
        }
        for (;;) {
            int32_t child = 2 * root + 1;
            if (child >= left) break;
            if (child + 1 < left && side_before(mesh, side[child], side[child + 1])) child++;
            if (!side_before(mesh, side[root], side[child])) break;
            const int32_t other = side[root];
            side[root] = side[child];
            side[child] = other;
            root = child;
        }
    }
}

static bool group_sides(edges *e)
{
    const firn_mesh *mesh = e->mesh;
    const int32_t sides = 3 * mesh->triangle_count;
    int32_t *start = calloc((size_t)mesh->vertex_count + 1, sizeof *start);
    if (!start) return false;
    for (int32_t s = 0; s < sides; s++) start[low_end(mesh, s) + 1]++;
    for (int32_t v = 0; v < mesh->vertex_count; v++) start[v + 1] += start[v];
    for (int32_t s = sides - 1; s >= 0; s--) e->side[--start[low_end(mesh, s) + 1]] = s;
    /* Filling moved each start to its own vertex's first. */
    for (int32_t v = 0; v < mesh->vertex_count; v++) {
        const int32_t first = start[v + 1];
        const int32_t end = v + 1 < mesh->vertex_count ? start[v + 2] : sides;
        sort_sides(mesh, e->side + first, end - first);
    }
    free(start);
    return true;
}

/* One past the last of the sides that join the same vertices as e->side[first]. */
static int32_t group_end(const edges *e, int32_t first)
{
    const firn_mesh *mesh = e->mesh;
    const int32_t sides = 3 * mesh->triangle_count;
    int32_t end = first + 1;
    while (end < sides && low_end(mesh, e->side[end]) == low_end(mesh, e->side[first]) &&
           high_end(mesh, e->side[end]) == high_end(mesh, e->side[first])) {
        end++;
    }
    return end;
}

/* Every edge of a solid must have an even number of sides. */
static firn_status check_closed(const edges *e, firn_mesh *mesh, const char *name,
                                firn_error *error)
{
    const int32_t sides = 3 * mesh->triangle_count;
    int32_t first_open = INT32_MAX;
    for (int32_t first = 0; first < sides;) {
        const int32_t end = group_end(e, first);
        if ((end - first) % 2 == 1) {
            mesh->open++;
            if (e->side[first] < first_open) first_open = e->side[first];
        }
        first = end;
    }
    if (mesh->open == 0 || mesh->thickness > 0) return FIRN_OK;
    int32_t ends[2];
    side_ends(mesh, first_open, ends);
    const double *p = mesh->vertex + 3 * (ptrdiff_t)ends[0];
    const double *q = mesh->vertex + 3 * (ptrdiff_t)ends[1];
    return firn_fail(
        error, FIRN_INVALID,
        "%s: the mesh is not closed: %d open edge%s, the first from (%g, %g, %g) to "
        "(%g, %g, %g); fill the holes in a modelling package, or give it a thickness to "
        "make it a sheet",
        name, (int)mesh->open, mesh->open == 1 ? "" : "s", p[0], p[1], p[2], q[0], q[1], q[2]);
}

/* Whether a side runs from its lower to its higher vertex, as its triangle is now turned. */
static bool runs_up(const edges *e, int32_t side)
{
    int32_t ends[2];
    side_ends(e->mesh, side, ends);
    return (ends[0] < ends[1]) != e->turned[side / 3];
}

/* Walks over each piece from its first triangle and turns what disagrees; if that is the most of it,
 * turns the others instead. `mate` is the one other side of an edge, or -1 where edges branch. */
static void turn_pieces(edges *e, const int32_t *mate, int32_t *stack)
{
    const int32_t count = e->mesh->triangle_count;
    for (int32_t t = 0; t < count; t++) e->piece[t] = -1;
    for (int32_t seed = 0; seed < count; seed++) {
        if (e->piece[seed] >= 0) continue;
        const int32_t piece = e->piece_count++;
        int32_t reached = 0, turned = 0;
        stack[reached++] = seed; /* every triangle enters once: the stack is also the list */
        e->piece[seed] = piece;
        for (int32_t done = 0; done < reached; done++) {
            for (int32_t k = 0; k < 3; k++) {
                const int32_t side = 3 * stack[done] + k, other = mate[side];
                if (other < 0 || e->piece[other / 3] >= 0) continue;
                e->piece[other / 3] = piece;
                e->turned[other / 3] = runs_up(e, side) == runs_up(e, other);
                turned += e->turned[other / 3];
                stack[reached++] = other / 3;
            }
        }
        if (2 * turned <= reached) continue;
        for (int32_t i = 0; i < reached; i++) e->turned[stack[i]] = !e->turned[stack[i]];
    }
}

static firn_status check_turned(const edges *e, const char *name, firn_error *error)
{
    const int32_t sides = 3 * e->mesh->triangle_count;
    for (int32_t first = 0; first < sides;) {
        const int32_t end = group_end(e, first);
        int32_t balance = 0;
        for (int32_t i = first; i < end; i++) balance += runs_up(e, e->side[i]) ? 1 : -1;
        if (balance != 0) {
            int32_t ends[2];
            side_ends(e->mesh, e->side[first], ends);
            const double *p = e->mesh->vertex + 3 * (ptrdiff_t)ends[0];
            return firn_fail(error, FIRN_INVALID,
                             "%s: the mesh has no inside: its faces cannot be turned to agree, at "
                             "(%g, %g, %g) for one; repair it in a modelling package",
                             name, p[0], p[1], p[2]);
        }
        first = end;
    }
    return FIRN_OK;
}

static int32_t root_of(int32_t *parent, int32_t i)
{
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
}

/* Pieces that meet at a branching edge are one shell: numbered in the order of the file. */
static void number_shells(const edges *e, firn_mesh *mesh, int32_t *parent, int32_t *label)
{
    const int32_t sides = 3 * mesh->triangle_count;
    for (int32_t p = 0; p < e->piece_count; p++) parent[p] = p;
    for (int32_t first = 0; first < sides;) {
        const int32_t end = group_end(e, first);
        for (int32_t i = first + 1; i < end; i++) {
            const int32_t a = root_of(parent, e->piece[e->side[first] / 3]);
            const int32_t b = root_of(parent, e->piece[e->side[i] / 3]);
            if (a < b) parent[b] = a;
            if (b < a) parent[a] = b;
        }
        first = end;
    }
    for (int32_t p = 0; p < e->piece_count; p++) { /* a root comes before what it stands for */
        const int32_t root = root_of(parent, p);
        label[p] = root == p ? mesh->shell_count++ : label[root];
    }
    for (int32_t t = 0; t < mesh->triangle_count; t++) mesh->shell[t] = label[e->piece[t]];
}

static void turn_triangle(firn_mesh *mesh, int32_t t)
{
    int32_t *corner = mesh->triangle + 3 * (ptrdiff_t)t;
    const int32_t other = corner[1];
    corner[1] = corner[2];
    corner[2] = other;
}

static firn_status match_edges(firn_mesh *mesh, const char *name, firn_error *error)
{
    const size_t count = (size_t)mesh->triangle_count;
    edges e = {
        .mesh = mesh,
        .side = malloc(3 * count * sizeof *e.side),
        .turned = calloc(count, sizeof *e.turned),
        .piece = malloc(count * sizeof *e.piece),
    };
    int32_t *mate = malloc(3 * count * sizeof *mate);
    int32_t *stack = malloc(count * sizeof *stack), *parent = malloc(count * sizeof *parent);
    mesh->shell = malloc(count * sizeof *mesh->shell);
    firn_status st = FIRN_OK;
    if (!e.side || !e.turned || !e.piece || !mate || !stack || !parent || !mesh->shell ||
        !group_sides(&e)) {
        st = no_memory(name, error);
    }
    if (st == FIRN_OK) st = check_closed(&e, mesh, name, error);
    if (st == FIRN_OK) {
        for (int32_t first = 0; first < 3 * mesh->triangle_count;) {
            const int32_t end = group_end(&e, first);
            const bool pair = end - first == 2;
            for (int32_t i = first; i < end; i++) {
                mate[e.side[i]] = pair ? e.side[first + end - 1 - i] : -1;
            }
            first = end;
        }
        turn_pieces(&e, mate, stack);
        if (mesh->thickness == 0) st = check_turned(&e, name, error);
    }
    if (st == FIRN_OK) {
        number_shells(&e, mesh, parent, stack);
        for (int32_t t = 0; t < mesh->triangle_count; t++) {
            if (!e.turned[t]) continue;
            turn_triangle(mesh, t);
            mesh->turned++;
        }
    }
    free(e.side);
    free(e.turned);
    free(e.piece);
    free(mate);
    free(stack);
    free(parent);
    return st;
}

/* ---- volume ---- */

/* Signed volume of each shell: tetrahedra over a point in the middle, which keeps the digits of a
 * mesh far from the origin. Outward faces are counter-clockwise seen from outside. */
static void measure_shells(const firn_mesh *mesh, double *volume)
{
    double middle[3];
    for (int a = 0; a < 3; a++) middle[a] = 0.5 * mesh->low[a] + 0.5 * mesh->high[a];
    for (int32_t s = 0; s < mesh->shell_count; s++) volume[s] = 0;
    for (int32_t t = 0; t < mesh->triangle_count; t++) {
        double p[3][3];
        for (int c = 0; c < 3; c++) {
            const int32_t v = mesh->triangle[3 * (ptrdiff_t)t + c];
            for (int a = 0; a < 3; a++) p[c][a] = mesh->vertex[3 * (ptrdiff_t)v + a] - middle[a];
        }
        double six = 0;
        for (int a = 0; a < 3; a++) {
            const int b = (a + 1) % 3, c = (a + 2) % 3;
            six += p[0][a] * (p[1][b] * p[2][c] - p[1][c] * p[2][b]);
        }
        volume[mesh->shell[t]] += six / 6;
    }
}

/* Inside out as a whole, or in single shells that are no cavities. */
static void turn_shells(firn_mesh *mesh, double *volume, bool *turn)
{
    double total = 0;
    for (int32_t s = 0; s < mesh->shell_count; s++) total += volume[s];
    const double sign = total < 0 ? -1 : 1;
    for (int32_t s = 0; s < mesh->shell_count; s++) {
        volume[s] *= sign;
        turn[s] = sign < 0;
    }
    bool *seen = turn + mesh->shell_count; /* each is asked once, at the first corner met */
    for (int32_t s = 0; s < mesh->shell_count; s++) seen[s] = false;
    for (int32_t t = 0; t < mesh->triangle_count; t++) {
        const int32_t s = mesh->shell[t];
        if (seen[s]) continue;
        seen[s] = true;
        const double *p = mesh->vertex + 3 * (ptrdiff_t)mesh->triangle[3 * (ptrdiff_t)t];
        if (volume[s] < 0 && firn_mesh_winding_without(mesh, p, s) == 0) {
            turn[s] = !turn[s];
            volume[s] = -volume[s];
        }
    }
    for (int32_t t = 0; t < mesh->triangle_count; t++) {
        if (turn[mesh->shell[t]]) turn_triangle(mesh, t);
    }
}

/* Area times thickness. */
static double measure_sheet(const firn_mesh *mesh)
{
    double area = 0;
    for (int32_t t = 0; t < mesh->triangle_count; t++) {
        const int32_t *v = mesh->triangle + 3 * (ptrdiff_t)t;
        const double *a = mesh->vertex + 3 * (ptrdiff_t)v[0];
        const double *b = mesh->vertex + 3 * (ptrdiff_t)v[1];
        const double *c = mesh->vertex + 3 * (ptrdiff_t)v[2];
        double square = 0;
        for (int i = 0; i < 3; i++) {
            const int j = (i + 1) % 3, k = (i + 2) % 3;
            const double n = (b[j] - a[j]) * (c[k] - a[k]) - (b[k] - a[k]) * (c[j] - a[j]);
            square += n * n;
        }
        area += 0.5 * sqrt(square);
    }
    return area * mesh->thickness;
}

static firn_status measure(firn_mesh *mesh, const char *name, const firn_workers *workers,
                           firn_error *error)
{
    const size_t shells = (size_t)mesh->shell_count;
    double *volume = malloc(shells * sizeof *volume);
    bool *turn = malloc(2 * shells * sizeof *turn);
    firn_status st = FIRN_OK;
    if (!volume || !turn) {
        st = no_memory(name, error);
    } else {
        measure_shells(mesh, volume);
        turn_shells(mesh, volume, turn);
        mesh->volume = 0;
        for (size_t s = 0; s < shells; s++) mesh->volume += volume[s];
    }
    free(volume);
    free(turn);
    double excess = 0;
    if (st == FIRN_OK) st = firn_mesh_excess(mesh, workers, &excess, error);
    if (st != FIRN_OK) return st;
    mesh->volume -= excess;
    double room = 1;
    for (int a = 0; a < 3; a++) room *= mesh->high[a] - mesh->low[a];
    if (mesh->volume > 1e-12 * room) return FIRN_OK;
    return firn_fail(error, FIRN_INVALID,
                     "%s: the mesh encloses no volume; it is flat or its parts cancel", name);
}

/* ---- all of it ---- */

static firn_status build(const firn_mesh_def *def, firn_mesh *mesh, firn_error *error)
{
    const firn_workers workers = {.count = def->threads, .hook = def->tasks};
    int32_t *number = malloc((size_t)def->vertex_count * sizeof *number);
    if (!number) return no_memory(def->name, error);
    firn_status st = merge_vertices(def, mesh, number, error);
    if (st == FIRN_OK) st = cut_faces(def, mesh, number, error);
    free(number);
    if (st == FIRN_OK) st = match_edges(mesh, def->name, error);
    if (st == FIRN_OK) st = firn_mesh_index(mesh, error);
    if (st != FIRN_OK) return st;
    if (mesh->thickness == 0) return measure(mesh, def->name, &workers, error);
    mesh->volume = measure_sheet(mesh);
    return FIRN_OK;
}

firn_mesh_def firn_mesh_def_default(void)
{
    return (firn_mesh_def){.name = "mesh", .threads = 1, .stamp = FIRN_STAMP};
}

firn_status firn_mesh_create(const firn_mesh_def *def, firn_mesh **out, firn_error *error)
{
    if (!out) return firn_fail(error, FIRN_INVALID, "mesh is NULL; give a place for the handle");
    *out = NULL;
    if (!def)
        return firn_fail(error, FIRN_INVALID, "def is NULL; start from firn_mesh_def_default()");
    firn_status st = firn_check_stamp(def->stamp, "firn_mesh_def", NULL, error);
    if (st != FIRN_OK) return st;
    firn_mesh_def own = *def;
    if (!own.name) own.name = "mesh";
    if (!own.face_counts) own.face_count = own.corner_count / 3;
    if (!(own.thickness >= 0 && own.thickness <= farthest)) {
        return firn_fail(error, FIRN_INVALID,
                         "%s: thickness %g m must be 0 for a solid, or above for a sheet", own.name,
                         own.thickness);
    }
    st = check_counts(&own, error);
    if (st == FIRN_OK) st = check_corners(&own, error);
    if (st != FIRN_OK) return st;
    firn_mesh *mesh = calloc(1, sizeof *mesh);
    if (!mesh) return no_memory(own.name, error);
    mesh->thickness = own.thickness;
    mesh->given = own.vertex_count;
    st = build(&own, mesh, error);
    if (st == FIRN_OK) {
        *out = mesh;
    } else {
        firn_mesh_destroy(mesh);
    }
    return st;
}

void firn_mesh_destroy(firn_mesh *mesh)
{
    if (!mesh) return;
    free(mesh->vertex);
    free(mesh->source);
    free(mesh->triangle);
    free(mesh->shell);
    free(mesh->box);
    free(mesh->disc);
    free(mesh);
}

firn_mesh_info firn_mesh_get_info(const firn_mesh *mesh)
{
    firn_mesh_info info = {.vertex_count = mesh->given,
                           .triangle_count = mesh->triangle_count,
                           .shell_count = mesh->shell_count,
                           .turned = mesh->turned,
                           .closed = mesh->open == 0,
                           .thickness = mesh->thickness,
                           .volume = mesh->volume};
    for (int a = 0; a < 3; a++) {
        info.low[a] = mesh->low[a] - 0.5 * mesh->thickness;
        info.high[a] = mesh->high[a] + 0.5 * mesh->thickness;
    }
    return info;
}
