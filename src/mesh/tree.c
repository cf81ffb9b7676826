/* Boxes around triangles, and the two questions asked of them: winding number and nearest point.
 *
 * Triangles are put in Morton order; four neighbours in that order share a box, four boxes a box, and
 * so on: a tree without pointers. It needs no luck with the mesh, unlike a grid of columns, where a
 * tall wall fills one cell, and serves distances as well.
 *
 * Winding number of p: the crossings of the ray from p towards +z, each +1 where the surface there
 * faces up and -1 where it faces down. Whether the ray meets a triangle is asked of its three sides in
 * the x-y plane, by the same arithmetic for a side whichever triangle asks: then a ray that slips by
 * one triangle meets the next, and rounding can only move the surface by its own size. Ties are broken
 * as if p were moved by a vanishing amount towards +x, and by far less towards +y (simulation of
 * simplicity: Edelsbrunner and Muecke 1990). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/parallel.h"
#include "mesh/mesh.h"

enum { FOUR = 4 };

/* fmin and fmax are calls where NaNs matter; here there are none. */
static double smaller(double a, double b) { return a < b ? a : b; }
static double larger(double a, double b) { return a > b ? a : b; }

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Twice the area, along the outward normal. */
static void triangle_normal(const double a[3], const double b[3], const double c[3], double n[3])
{
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        n[i] = (b[j] - a[j]) * (c[k] - a[k]) - (b[k] - a[k]) * (c[j] - a[j]);
    }
}

/* ---- building ---- */

/* Every third bit. */
static uint64_t spread(uint64_t x)
{
    x = (x | x << 32) & 0x1f00000000ffffu;
    x = (x | x << 16) & 0x1f0000ff0000ffu;
    x = (x | x << 8) & 0x100f00f00f00f00fu;
    x = (x | x << 4) & 0x10c30c30c30c30c3u;
    return (x | x << 2) & 0x1249249249249249u;
}

static const double *corner_of(const firn_mesh *mesh, int32_t t, int c)
{
    return mesh->vertex + 3 * (ptrdiff_t)mesh->triangle[3 * (ptrdiff_t)t + c];
}

static uint64_t morton(const firn_mesh *mesh, int32_t t)
{
    uint64_t key = 0;
    for (int a = 0; a < 3; a++) {
        const double extent = mesh->high[a] - mesh->low[a];
        if (!(extent > 0)) continue;
        double middle = 0;
        for (int c = 0; c < 3; c++) middle += (corner_of(mesh, t, c)[a] - mesh->low[a]) / 3;
        const double cell = middle / extent * 0x1p21;
        key |= spread(cell >= 0x1p21 ? (1u << 21) - 1 : (uint64_t)cell) << a;
    }
    return key;
}

/* By key, eight bits at a time, stable. The arrays are of `count` each; the result is in the first. */
static void sort_keys(uint64_t *key, int32_t *item, uint64_t *key2, int32_t *item2, int32_t count)
{
    for (int shift = 0; shift < 64; shift += 8) {
        int32_t start[257] = {0};
        for (int32_t i = 0; i < count; i++) start[(key[i] >> shift & 255) + 1]++;
        for (int b = 0; b < 256; b++) start[b + 1] += start[b];
        for (int32_t i = 0; i < count; i++) {
            const int32_t to = start[key[i] >> shift & 255]++;
            key2[to] = key[i];
            item2[to] = item[i];
        }
        uint64_t *const k = key;
        int32_t *const m = item;
        key = key2, key2 = k;
        item = item2, item2 = m;
    }
}

/* Triangles in the given order, vertices in the order of first use. */
static bool reorder(firn_mesh *mesh, const int32_t *order)
{
    const size_t triangles = (size_t)mesh->triangle_count, vertices = (size_t)mesh->vertex_count;
    int32_t *triangle = malloc(triangles * 3 * sizeof *triangle);
    int32_t *shell = malloc(triangles * sizeof *shell);
    double *vertex = malloc(vertices * 3 * sizeof *vertex);
    int32_t *number = malloc(vertices * sizeof *number);
    int32_t *source = malloc(vertices * sizeof *source);
    const bool fine = triangle && shell && vertex && number && source;
    if (fine) {
        int32_t used = 0;
        memset(number, -1, vertices * sizeof *number);
        for (size_t t = 0; t < triangles; t++) {
            shell[t] = mesh->shell[order[t]];
            for (int c = 0; c < 3; c++) {
                const int32_t v = mesh->triangle[3 * (ptrdiff_t)order[t] + c];
                if (number[v] < 0) {
                    source[used] = mesh->source[v];
                    number[v] = used++;
                    memcpy(vertex + 3 * (ptrdiff_t)number[v], mesh->vertex + 3 * (ptrdiff_t)v,
                           3 * sizeof *vertex);
                }
                triangle[3 * t + (size_t)c] = number[v];
            }
        }
        mesh->vertex_count = used;
        int32_t *const old_triangle = mesh->triangle, *const old_shell = mesh->shell;
        double *const old_vertex = mesh->vertex;
        mesh->triangle = triangle, triangle = old_triangle;
        mesh->shell = shell, shell = old_shell;
        mesh->vertex = vertex, vertex = old_vertex;
        int32_t *const old_source = mesh->source;
        mesh->source = source, source = old_source;
    }
    free(triangle);
    free(shell);
    free(vertex);
    free(number);
    free(source);
    return fine;
}

static const firn_mesh_box empty_box = {{INFINITY, INFINITY, INFINITY},
                                        {-INFINITY, -INFINITY, -INFINITY}};

static void include(firn_mesh_box *box, const double low[3], const double high[3])
{
    for (int a = 0; a < 3; a++) {
        box->low[a] = smaller(box->low[a], low[a]);
        box->high[a] = larger(box->high[a], high[a]);
    }
}

static void find_bounds(firn_mesh *mesh)
{
    firn_mesh_box bounds = empty_box;
    for (int32_t t = 0; t < mesh->triangle_count; t++) {
        for (int c = 0; c < 3; c++) include(&bounds, corner_of(mesh, t, c), corner_of(mesh, t, c));
    }
    memcpy(mesh->low, bounds.low, sizeof mesh->low);
    memcpy(mesh->high, bounds.high, sizeof mesh->high);
}

static void fill_boxes(firn_mesh *mesh)
{
    for (int32_t b = 0; b < mesh->level_start[1]; b++) {
        mesh->box[b] = empty_box;
        for (int32_t t = FOUR * b; t < FOUR * (b + 1) && t < mesh->triangle_count; t++) {
            for (int c = 0; c < 3; c++) {
                include(&mesh->box[b], corner_of(mesh, t, c), corner_of(mesh, t, c));
            }
        }
    }
    for (int32_t level = 1; level < mesh->level_count; level++) {
        const firn_mesh_box *below = mesh->box + mesh->level_start[level - 1];
        const int32_t below_count = mesh->level_start[level] - mesh->level_start[level - 1];
        firn_mesh_box *here = mesh->box + mesh->level_start[level];
        const int32_t count = mesh->level_start[level + 1] - mesh->level_start[level];
        for (int32_t b = 0; b < count; b++) {
            here[b] = empty_box;
            for (int32_t c = FOUR * b; c < FOUR * (b + 1) && c < below_count; c++) {
                include(&here[b], below[c].low, below[c].high);
            }
        }
    }
}

static int32_t disc_count(const firn_mesh *mesh)
{
    return mesh->level_start[mesh->level_count < FIRN_MESH_DISC_LEVELS ? mesh->level_count
                                                                       : FIRN_MESH_DISC_LEVELS];
}

/* The disc around some triangles: across the mean of their normals. */
static firn_mesh_disc make_disc(const firn_mesh *mesh, const firn_mesh_box *box, int32_t first,
                                int32_t end)
{
    firn_mesh_disc d = {.normal = {0, 1, 0}};
    double sum[3] = {0}, low = INFINITY, high = -INFINITY, radius2 = 0;
    for (int32_t t = first; t < end; t++) {
        double n[3];
        triangle_normal(corner_of(mesh, t, 0), corner_of(mesh, t, 1), corner_of(mesh, t, 2), n);
        for (int a = 0; a < 3; a++) sum[a] += n[a];
    }
    const double length = sqrt(dot(sum, sum));
    for (int a = 0; a < 3; a++) {
        d.center[a] = 0.5 * box->low[a] + 0.5 * box->high[a];
        if (length > 0) d.normal[a] = sum[a] / length;
    }
    for (int32_t i = 3 * first; i < 3 * end; i++) {
        const double *p = corner_of(mesh, i / 3, i % 3);
        double away[3];
        for (int a = 0; a < 3; a++) away[a] = p[a] - d.center[a];
        const double height = dot(away, d.normal);
        low = smaller(low, height);
        high = larger(high, height);
        radius2 = larger(radius2, dot(away, away) - height * height);
    }
    d.radius = sqrt(radius2);
    d.half = 0.5 * (high - low);
    for (int a = 0; a < 3; a++) d.center[a] += 0.5 * (low + high) * d.normal[a];
    const double rounding = 1e-9 * (d.radius + d.half);
    d.radius += rounding;
    d.half += rounding;
    return d;
}

static void fill_discs(firn_mesh *mesh)
{
    int64_t size = FOUR; /* triangles of one */
    for (int32_t level = 0, b = 0; b < disc_count(mesh); level++, size *= FOUR) {
        for (int64_t k = 0; b < mesh->level_start[level + 1]; b++, k++) {
            const int64_t first = k * size, end = first + size, count = mesh->triangle_count;
            mesh->disc[b] = make_disc(mesh, &mesh->box[b], (int32_t)first,
                                      (int32_t)(end < count ? end : count));
        }
    }
}

firn_status firn_mesh_index(firn_mesh *mesh, firn_error *error)
{
    const int32_t count = mesh->triangle_count;
    find_bounds(mesh);
    uint64_t *key = malloc((size_t)count * 2 * sizeof *key);
    int32_t *item = malloc((size_t)count * 2 * sizeof *item);
    bool fine = key && item;
    if (fine) {
        for (int32_t t = 0; t < count; t++) {
            key[t] = morton(mesh, t);
            item[t] = t;
        }
        sort_keys(key, item, key + count, item + count, count);
        fine = reorder(mesh, item);
    }
    free(key);
    free(item);
    int32_t boxes = 0, level_size = count;
    mesh->level_count = 0;
    do {
        level_size = (level_size + FOUR - 1) / FOUR;
        mesh->level_start[mesh->level_count++] = boxes;
        boxes += level_size;
    } while (level_size > 1);
    mesh->level_start[mesh->level_count] = boxes;
    if (fine) {
        mesh->box = malloc((size_t)boxes * sizeof *mesh->box);
        mesh->disc = malloc((size_t)disc_count(mesh) * sizeof *mesh->disc);
    }
    if (!mesh->box || !mesh->disc) {
        return firn_fail(error, FIRN_NO_MEMORY, "out of memory for a mesh of %d triangles",
                         (int)count);
    }
    fill_boxes(mesh);
    fill_discs(mesh);
    return FIRN_OK;
}

size_t firn_mesh_bend_size(const firn_mesh *mesh)
{
    return (size_t)mesh->level_start[mesh->level_count] * sizeof *mesh->box +
           (size_t)disc_count(mesh) * sizeof *mesh->disc;
}

firn_mesh firn_mesh_bend(const firn_mesh *mesh, double *vertex, void *memory)
{
    firn_mesh bent = *mesh;
    bent.vertex = vertex;
    bent.box = memory;
    bent.disc = (void *)(bent.box + mesh->level_start[mesh->level_count]);
    fill_boxes(&bent);
    fill_discs(&bent);
    const firn_mesh_box *root = bent.box + bent.level_start[bent.level_count - 1];
    memcpy(bent.low, root->low, sizeof bent.low);
    memcpy(bent.high, root->high, sizeof bent.high);
    return bent;
}

static void *copy_of(const void *data, size_t size)
{
    void *copy = malloc(size);
    if (copy) memcpy(copy, data, size);
    return copy;
}

firn_status firn_mesh_scale(const firn_mesh *mesh, double factor, firn_mesh **out,
                            firn_error *error)
{
    const size_t vertices = (size_t)mesh->vertex_count, triangles = (size_t)mesh->triangle_count;
    firn_mesh *m = *out = copy_of(mesh, sizeof *mesh);
    if (m) {
        m->vertex = copy_of(mesh->vertex, 3 * vertices * sizeof *m->vertex);
        m->source = copy_of(mesh->source, vertices * sizeof *m->source);
        m->triangle = copy_of(mesh->triangle, 3 * triangles * sizeof *m->triangle);
        m->shell = copy_of(mesh->shell, triangles * sizeof *m->shell);
        m->box = malloc((size_t)mesh->level_start[mesh->level_count] * sizeof *m->box);
        m->disc = malloc((size_t)disc_count(mesh) * sizeof *m->disc);
    }
    if (!m || !m->vertex || !m->source || !m->triangle || !m->shell || !m->box || !m->disc) {
        firn_mesh_destroy(m);
        *out = NULL;
        return firn_fail(error, FIRN_NO_MEMORY, "out of memory for a mesh of %d triangles",
                         (int)triangles);
    }
    for (size_t i = 0; i < 3 * vertices; i++) m->vertex[i] *= factor;
    m->thickness *= factor;
    m->volume *= factor * factor * factor;
    find_bounds(m);
    fill_boxes(m);
    fill_discs(m);
    return FIRN_OK;
}

/* ---- the ray ---- */

/* +1 or -1 when the side from a to b passes to the right of p, upwards or downwards; else 0. */
static int32_t side_crossing(const double a[3], const double b[3], const double p[3])
{
    const bool up = a[1] <= p[1] && p[1] < b[1], down = b[1] <= p[1] && p[1] < a[1];
    if (!up && !down) return 0;
    const double *lower = up ? a : b, *upper = up ? b : a;
    const double left =
        (upper[0] - lower[0]) * (p[1] - lower[1]) - (upper[1] - lower[1]) * (p[0] - lower[0]);
    if (!(left > 0)) return 0;
    return up ? 1 : -1;
}

/* Height at which the triangle meets the vertical line through p, kept within the triangle: one that
 * stands upright has no height of its own. */
static double crossing_height(const double a[3], const double b[3], const double c[3],
                              const double p[3])
{
    double u[3], v[3];
    for (int i = 0; i < 3; i++) {
        u[i] = b[i] - a[i];
        v[i] = c[i] - a[i];
    }
    const double nx = u[1] * v[2] - u[2] * v[1], ny = u[2] * v[0] - u[0] * v[2];
    const double nz = u[0] * v[1] - u[1] * v[0];
    const double low = smaller(smaller(a[2], b[2]), c[2]), high = larger(larger(a[2], b[2]), c[2]);
    if (nz == 0) return low;
    const double z = a[2] - (nx * (p[0] - a[0]) + ny * (p[1] - a[1])) / nz;
    return smaller(larger(z, low), high);
}

/* +1, -1 or 0, and at which height. */
static int32_t crossing(const firn_mesh *mesh, int32_t t, const double p[3], double *height)
{
    const double *a = corner_of(mesh, t, 0), *b = corner_of(mesh, t, 1), *c = corner_of(mesh, t, 2);
    const int32_t sign = side_crossing(a, b, p) + side_crossing(b, c, p) + side_crossing(c, a, p);
    if (sign != 0) *height = crossing_height(a, b, c, p);
    return sign;
}

static bool over(const firn_mesh_box *box, const double p[3])
{
    return box->low[0] <= p[0] && p[0] <= box->high[0] && box->low[1] <= p[1] &&
           p[1] <= box->high[1];
}

static int32_t count_above(const firn_mesh *mesh, int32_t level, int32_t index, const double p[3],
                           int32_t without)
{
    const firn_mesh_box *box = mesh->box + mesh->level_start[level] + index;
    if (!over(box, p) || !(box->high[2] > p[2])) return 0;
    int32_t sum = 0;
    const int32_t total =
        level == 0 ? mesh->triangle_count : mesh->level_start[level] - mesh->level_start[level - 1];
    for (int32_t i = FOUR * index; i < FOUR * (index + 1) && i < total; i++) {
        if (level > 0) {
            sum += count_above(mesh, level - 1, i, p, without);
        } else if (mesh->shell[i] != without) {
            double height = 0;
            const int32_t sign = crossing(mesh, i, p, &height);
            if (sign != 0 && height > p[2]) sum += sign;
        }
    }
    return sum;
}

int32_t firn_mesh_winding_without(const firn_mesh *mesh, const double point[3], int32_t shell)
{
    return count_above(mesh, mesh->level_count - 1, 0, point, shell);
}

int32_t firn_mesh_winding(const firn_mesh *mesh, const double point[3])
{
    return firn_mesh_winding_without(mesh, point, -1);
}

/* ---- where the winding number is not 0 or 1 ---- */

typedef struct crossings {
    struct crossing_at {
        double height;
        int32_t sign;
    } * at;
    int64_t count, room;
    bool failed;
} crossings;

static void gather(const firn_mesh *mesh, int32_t level, int32_t index, const double p[3],
                   crossings *out)
{
    const firn_mesh_box *box = mesh->box + mesh->level_start[level] + index;
    if (!over(box, p)) return;
    const int32_t total =
        level == 0 ? mesh->triangle_count : mesh->level_start[level] - mesh->level_start[level - 1];
    for (int32_t i = FOUR * index; i < FOUR * (index + 1) && i < total; i++) {
        if (level > 0) {
            gather(mesh, level - 1, i, p, out);
            continue;
        }
        double height = 0;
        const int32_t sign = crossing(mesh, i, p, &height);
        if (sign == 0) continue;
        if (out->count == out->room) {
            const int64_t room = out->room ? 2 * out->room : 64;
            struct crossing_at *grown = realloc(out->at, (size_t)room * sizeof *grown);
            if (!grown) {
                out->failed = true;
                return;
            }
            out->at = grown;
            out->room = room;
        }
        out->at[out->count++] = (struct crossing_at){height, sign};
    }
}

/* From the top; where heights are the same the order does not matter. */
static int highest_first(const void *a, const void *b)
{
    const double p = ((const struct crossing_at *)a)->height;
    const double q = ((const struct crossing_at *)b)->height;
    return (p < q) - (p > q);
}

enum { LINES = 256 };

typedef struct excess {
    const firn_mesh *mesh;
    double row[LINES]; /* partial sums, added in order */
    bool failed[LINES];
} excess;

static void excess_row(void *context, int64_t index, int32_t thread)
{
    (void)thread;
    excess *e = context;
    const firn_mesh *mesh = e->mesh;
    crossings line = {0};
    double sum = 0;
    for (int i = 0; i < LINES && !line.failed; i++) {
        /* Off the middle by odd amounts: edges of neat models are at neat places. */
        const double share[2] = {(i + 0.4823) / LINES, ((double)index + 0.5291) / LINES};
        double p[3] = {0};
        for (int a = 0; a < 2; a++) {
            p[a] = mesh->low[a] + share[a] * (mesh->high[a] - mesh->low[a]);
        }
        line.count = 0;
        gather(mesh, mesh->level_count - 1, 0, p, &line);
        if (line.count > 1) {
            qsort(line.at, (size_t)line.count, sizeof *line.at, highest_first);
        }
        int32_t winding = 0;
        for (int64_t c = 0; c + 1 < line.count; c++) {
            winding += line.at[c].sign;
            const int32_t more = winding - (winding != 0);
            if (more != 0) sum += more * (line.at[c].height - line.at[c + 1].height);
        }
    }
    e->row[index] = sum;
    e->failed[index] = line.failed;
    free(line.at);
}

firn_status firn_mesh_excess(const firn_mesh *mesh, const firn_workers *workers, double *out,
                             firn_error *error)
{
    excess e = {.mesh = mesh};
    firn_workers_run(workers, LINES, 1, excess_row, &e);
    double sum = 0;
    for (int i = 0; i < LINES; i++) {
        if (e.failed[i]) {
            return firn_fail(error, FIRN_NO_MEMORY, "out of memory while measuring a mesh");
        }
        sum += e.row[i];
    }
    *out =
        sum * ((mesh->high[0] - mesh->low[0]) / LINES) * ((mesh->high[1] - mesh->low[1]) / LINES);
    return FIRN_OK;
}

/* ---- the nearest point ---- */

/* Squared distance from p to a + s u + t v. */
static double point_square(const double to[3], const double u[3], double s, const double v[3],
                           double t)
{
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        const double d = to[i] - s * u[i] - t * v[i];
        sum += d * d;
    }
    return sum;
}

/* Squared distance from p to a triangle, and the weights of its corners at the nearest point. Products of
 * its sides with the ways from its corners tell over which corner, side or face p is. */
static double triangle_square(const double a[3], const double b[3], const double c[3],
                              const double p[3], double weight[3])
{
    double u[3], v[3], to[3];
    for (int i = 0; i < 3; i++) {
        u[i] = b[i] - a[i];
        v[i] = c[i] - a[i];
        to[i] = p[i] - a[i];
    }
    const double uu = dot(u, u), uv = dot(u, v), vv = dot(v, v);
    const double pu = dot(to, u), pv = dot(to, v); /* along the sides from a... */
    const double qu = pu - uu, qv = pv - uv;       /* ... from b... */
    const double ru = pu - uv, rv = pv - vv;       /* ... and from c */
    const double over_c = pu * qv - qu * pv, over_b = ru * pv - pu * rv, over_a = qu * rv - ru * qv;
    double s = 0, t = 0; /* of b and of c */
    bool over_bc = false;
    if (pu <= 0 && pv <= 0) {
    } else if (qu >= 0 && qv <= qu) {
        s = 1;
    } else if (rv >= 0 && ru <= rv) {
        t = 1;
    } else if (over_c <= 0 && pu >= 0 && qu <= 0) {
        s = uu > 0 ? pu / uu : 0;
    } else if (over_b <= 0 && pv >= 0 && rv <= 0) {
        t = vv > 0 ? pv / vv : 0;
    } else if (over_a <= 0 && qv >= qu && ru >= rv) {
        t = (qv - qu) / ((qv - qu) + (ru - rv));
        s = 1 - t;
        over_bc = true;
    } else {
        double n[3];
        triangle_normal(a, b, c, n);
        const double square = dot(n, n), height = dot(n, to), sum = over_a + over_b + over_c;
        weight[0] = over_a / sum;
        weight[1] = over_b / sum;
        weight[2] = over_c / sum;
        return height * height / square;
    }
    weight[0] = over_bc ? 0 : 1 - s - t; /* of one beside the face, no rounding */
    weight[1] = s;
    weight[2] = t;
    return point_square(to, u, s, v, t);
}

static double box_square(const firn_mesh_box *box, const double p[3])
{
    double sum = 0;
    for (int a = 0; a < 3; a++) {
        const double d = larger(larger(box->low[a] - p[a], p[a] - box->high[a]), 0);
        sum += d * d;
    }
    return sum;
}

static double disc_square(const firn_mesh_disc *disc, const double p[3])
{
    double away[3];
    for (int a = 0; a < 3; a++) away[a] = p[a] - disc->center[a];
    const double height = dot(away, disc->normal), across2 = dot(away, away) - height * height;
    const double above = larger(fabs(height) - disc->half, 0);
    const double beside = larger(sqrt(larger(across2, 0)) - disc->radius, 0);
    return above * above + beside * beside;
}

static void try_triangle(const firn_mesh *mesh, int32_t t, const double p[3], firn_mesh_hit *best)
{
    double weight[3];
    const double square = triangle_square(corner_of(mesh, t, 0), corner_of(mesh, t, 1),
                                          corner_of(mesh, t, 2), p, weight);
    if (!(square < best->square)) return;
    best->square = square;
    best->triangle = t;
    memcpy(best->weight, weight, sizeof weight);
}

/* Lowers *best to the least squared distance below `keep` times it; nearer boxes first. */
static void nearest(const firn_mesh *mesh, int32_t level, int32_t index, const double p[3],
                    double keep, firn_mesh_hit *best)
{
    const int32_t first = FOUR * index;
    if (level == 0) {
        for (int32_t t = first; t < first + FOUR && t < mesh->triangle_count; t++) {
            try_triangle(mesh, t, p, best);
        }
        return;
    }
    const int32_t below = mesh->level_start[level - 1], total = mesh->level_start[level] - below;
    double square[FOUR];
    for (int i = 0; i < FOUR; i++) {
        const int32_t child = below + first + i;
        square[i] = first + i >= total               ? INFINITY
                    : level <= FIRN_MESH_DISC_LEVELS ? disc_square(&mesh->disc[child], p)
                                                     : box_square(&mesh->box[child], p);
    }
    for (int done = 0; done < FOUR; done++) {
        int next = 0;
        for (int i = 1; i < FOUR; i++) {
            if (square[i] < square[next]) next = i;
        }
        if (!(square[next] < keep * best->square)) return;
        nearest(mesh, level - 1, first + next, p, keep, best);
        square[next] = INFINITY;
    }
}

firn_mesh_hit firn_mesh_nearest(const firn_mesh *mesh, const double point[3], double limit,
                                int32_t guess, double slack)
{
    firn_mesh_hit hit = {.triangle = -1, .square = limit * limit};
    if (guess >= 0) try_triangle(mesh, guess, point, &hit);
    nearest(mesh, mesh->level_count - 1, 0, point, (1 - slack) * (1 - slack), &hit);
    return hit;
}

/* ---- distance ---- */

bool firn_mesh_inside(const firn_mesh *mesh, const double point[3])
{
    const double half = 0.5 * mesh->thickness;
    return half > 0 ? firn_mesh_nearest(mesh, point, half, -1, 0).triangle >= 0
                    : firn_mesh_winding(mesh, point) != 0;
}

double firn_mesh_distance(const firn_mesh *mesh, const double point[3], double limit)
{
    const double half = 0.5 * mesh->thickness;
    const double away = sqrt(firn_mesh_nearest(mesh, point, limit + half, -1, 0).square) - half;
    const double distance = smaller(larger(away, -limit), limit);
    return half == 0 && firn_mesh_winding(mesh, point) != 0 ? -distance : distance;
}

double firn_mesh_normal(const firn_mesh *mesh, const double point[3], double normal[3])
{
    const double half = 0.5 * mesh->thickness;
    const firn_mesh_hit hit = firn_mesh_nearest(mesh, point, INFINITY, -1, 0);
    const bool inside = half == 0 && firn_mesh_winding(mesh, point) != 0;
    const double *corner[3];
    for (int c = 0; c < 3; c++) corner[c] = corner_of(mesh, hit.triangle, c);
    double face[3], away[3];
    triangle_normal(corner[0], corner[1], corner[2], face);
    for (int a = 0; a < 3; a++) {
        away[a] = point[a];
        for (int c = 0; c < 3; c++) away[a] -= hit.weight[c] * corner[c][a];
    }
    /* Over a face its normal is exact; elsewhere the way from the nearest point, if it has a length. On
     * the surface itself the face says what is out. */
    static const double up[3] = {0, 1, 0};
    const double area = sqrt(dot(face, face)), way = sqrt(dot(away, away));
    const bool over = hit.weight[0] > 0 && hit.weight[1] > 0 && hit.weight[2] > 0;
    const bool touches = !(way > 1e-12 * sqrt(area));
    double scale = inside ? -1 : 1;
    const double *from = away;
    if (area > 0 && (over || touches)) {
        from = face;
        scale = touches ? 1 : dot(away, face) < 0 ? -scale : scale;
        scale /= area;
    } else if (way > 0) {
        scale /= way;
    } else {
        from = up; /* on a triangle that is a line */
    }
    for (int a = 0; a < 3; a++) normal[a] = scale * from[a];
    const double distance = sqrt(hit.square) - half;
    return inside ? -distance : distance;
}

/* ---- rays of any direction ---- */

/* The part of the ray within a box begins before *most. */
static bool ray_meets(const firn_mesh_box *box, const double origin[3], const double inverse[3],
                      double most)
{
    double enter = 0, leave = most;
    for (int a = 0; a < 3; a++) {
        const double p = (box->low[a] - origin[a]) * inverse[a];
        const double q = (box->high[a] - origin[a]) * inverse[a];
        enter = larger(enter, smaller(p, q)); /* both NaN: along a side of it */
        leave = smaller(leave, larger(p, q));
    }
    return enter <= leave * (1 + 1e-12);
}

/* Moeller and Trumbore 1997. */
static bool ray_crosses(const firn_mesh *mesh, int32_t t, const double origin[3],
                        const double direction[3], double *at)
{
    const double *a = corner_of(mesh, t, 0), *b = corner_of(mesh, t, 1), *c = corner_of(mesh, t, 2);
    double u[3], v[3], to[3], across[3], turned[3];
    for (int i = 0; i < 3; i++) {
        u[i] = b[i] - a[i];
        v[i] = c[i] - a[i];
        to[i] = origin[i] - a[i];
    }
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        across[i] = direction[j] * v[k] - direction[k] * v[j];
        turned[i] = to[j] * u[k] - to[k] * u[j];
    }
    const double det = dot(u, across);
    if (det == 0) return false;
    const double p = dot(to, across) / det, q = dot(direction, turned) / det;
    if (!(p >= 0 && q >= 0 && p + q <= 1)) return false;
    *at = dot(v, turned) / det;
    return *at > 0;
}

typedef struct ray {
    double origin[3], direction[3], inverse[3], at;
    int32_t triangle;
} ray;

static void follow_ray(const firn_mesh *mesh, int32_t level, int32_t index, ray *r)
{
    if (!ray_meets(mesh->box + mesh->level_start[level] + index, r->origin, r->inverse, r->at)) {
        return;
    }
    const int32_t total =
        level == 0 ? mesh->triangle_count : mesh->level_start[level] - mesh->level_start[level - 1];
    for (int32_t i = FOUR * index; i < FOUR * (index + 1) && i < total; i++) {
        double at;
        if (level > 0) {
            follow_ray(mesh, level - 1, i, r);
        } else if (ray_crosses(mesh, i, r->origin, r->direction, &at) && at < r->at) {
            r->at = at;
            r->triangle = i;
        }
    }
}

int32_t firn_mesh_ray(const firn_mesh *mesh, const double origin[3], const double direction[3],
                      double most, double *at)
{
    ray r = {.at = most, .triangle = -1};
    for (int a = 0; a < 3; a++) {
        r.origin[a] = origin[a];
        r.direction[a] = direction[a];
        r.inverse[a] = 1 / direction[a];
    }
    follow_ray(mesh, mesh->level_count - 1, 0, &r);
    *at = r.at;
    return r.triangle;
}
