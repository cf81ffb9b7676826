/* Making level sets, and asking them. */
#include "mesh/levelset.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "mesh/mesh.h"

enum { CELLS = 8, SIDE = CELLS + 1, NODES = SIDE * SIDE * SIDE };

/* From a block's centre to its corner, voxels. */
static const double corner = 0.5 * CELLS * 1.7320508075688772;

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* ---- making ---- */

typedef struct making {
    const firn_mesh *mesh;
    firn_levelset *set;
    double slack; /* of the nearest points */
} making;

/* What is far from the surface may take a point that is a little further, and its distance is less by as
 * much: right in the middle of a ball all are alike. */
static const double centre_slack = 0.05;

/* A place on a line of queries: each starts from what the last one found. */
typedef struct probe {
    double point[3];
    firn_mesh_hit hit;
    double unsigned_distance; /* m, of the surface; no more than it is */
    bool inside;
} probe;

/* Asks for the point that is `step` metres from where the probe was; its sign is the last one's where the
 * surface cannot be in between. `fresh`: there is no last one. */
static void ask_mesh(const making *m, probe *p, double step, bool fresh)
{
    const double before = p->unsigned_distance;
    const bool far = !fresh && before > m->set->half + 2 * m->set->band;
    const double slack = far ? centre_slack : m->slack;
    p->hit = firn_mesh_nearest(m->mesh, p->point, INFINITY, fresh ? -1 : p->hit.triangle, slack);
    p->unsigned_distance = (1 - slack) * sqrt(p->hit.square);
    if (m->set->half > 0) return;
    if (fresh || !(before + p->unsigned_distance > 1.000001 * step)) {
        p->inside = firn_mesh_winding(m->mesh, p->point) != 0;
    }
}

/* The direction in which the distance grows. On the surface any face has it. */
static void direction(const making *m, const probe *p, float out[3])
{
    double away[3], normal[3];
    for (int a = 0; a < 3; a++) {
        away[a] = p->point[a];
        for (int c = 0; c < 3; c++) {
            const int32_t v = m->mesh->triangle[3 * (ptrdiff_t)p->hit.triangle + c];
            away[a] -= p->hit.weight[c] * m->mesh->vertex[3 * (ptrdiff_t)v + a];
        }
    }
    const double length = sqrt(dot(away, away));
    if (!(length > 1e-9 * m->set->voxel)) {
        firn_mesh_normal(m->mesh, p->point, normal);
        for (int a = 0; a < 3; a++) out[a] = (float)normal[a];
        return;
    }
    for (int a = 0; a < 3; a++) out[a] = (float)((p->inside ? -1 : 1) * away[a] / length);
}

static void block_low(const firn_levelset *set, int64_t index, double low[3])
{
    const int64_t at[3] = {index / set->size[2] / set->size[1], index / set->size[2] % set->size[1],
                           index % set->size[2]};
    for (int a = 0; a < 3; a++) low[a] = set->low[a] + (double)(CELLS * at[a]) * set->voxel;
}

/* The centres of a row of blocks. */
static void centre_task(void *context, int64_t row, int32_t thread)
{
    (void)thread;
    const making *m = context;
    firn_levelset *set = m->set;
    const double step = CELLS * set->voxel, reach = set->band + set->half + corner * set->voxel;
    probe p = {{0}};
    for (int32_t i = 0; i < set->size[2]; i++) {
        firn_levelset_block *to = set->block + row * set->size[2] + i;
        block_low(set, row * set->size[2] + i, p.point);
        for (int a = 0; a < 3; a++) p.point[a] += 0.5 * step;
        ask_mesh(m, &p, step, i == 0);
        direction(m, &p, to->normal);
        const double d = p.unsigned_distance;
        to->distance = (float)((p.inside ? -d : d) - set->half);
        to->nodes = d <= reach ? 0 : -1;
    }
}

static void node_task(void *context, int64_t nodes, int32_t thread)
{
    (void)thread;
    const making *m = context;
    firn_levelset *set = m->set;
    double low[3];
    block_low(set, set->place[nodes], low);
    probe row[3] = {{{0}}}; /* at the start of the row, of the plane; where it is */
    for (int n = 0; n < NODES; n++) {
        const int at[3] = {n / (SIDE * SIDE), n / SIDE % SIDE, n % SIDE};
        const int turn = at[2] ? 2 : at[1] ? 1 : 0; /* what it goes on from */
        probe p = row[turn];
        for (int a = 0; a < 3; a++) p.point[a] = low[a] + at[a] * set->voxel;
        if (n == 0) p.inside = false;
        ask_mesh(m, &p, set->voxel, n == 0);
        for (int k = turn; k < 3; k++) row[k] = p;
        const int64_t to = nodes * NODES + n;
        set->distance[to] = (float)(p.inside ? -p.unsigned_distance : p.unsigned_distance);
        if (set->away) direction(m, &p, set->away[to]);
        if (!set->triangle) continue;
        set->triangle[to] = p.hit.triangle;
        for (int c = 0; c < 2; c++) set->weight[to][c] = (float)p.hit.weight[c];
    }
}

static firn_status refuse(const firn_levelset_def *def, double bytes, firn_error *error)
{
    return firn_fail(error, FIRN_NO_MEMORY,
                     "%s: its level set with voxels of %g m would take %.3g GB; there are %.3g GB, "
                     "use a larger voxel",
                     def->name, def->voxel, 1e-9 * bytes, 1e-9 * firn_memory_most());
}

/* Blocks around the mesh, whole voxels from the origin. */
static firn_status make_blocks(const firn_levelset_def *def, firn_levelset *set, firn_error *error)
{
    double count = 1;
    for (int a = 0; a < 3; a++) {
        const double margin = set->half + set->band;
        set->box_low[a] = def->mesh->low[a] - set->half;
        set->box_high[a] = def->mesh->high[a] + set->half;
        set->low[a] = set->voxel * floor((def->mesh->low[a] - margin) / set->voxel);
        const double blocks =
            ceil((def->mesh->high[a] + margin - set->low[a]) / (CELLS * set->voxel));
        count *= blocks;
        set->size[a] = (int32_t)fmin(blocks, INT32_MAX);
    }
    const double bytes = count * sizeof *set->block;
    if (!(count < INT32_MAX) || bytes > firn_memory_most()) return refuse(def, bytes, error);
    const firn_status st = firn_pool_reserve(def->allocator, &set->blocks, (size_t)bytes, error);
    set->block = set->blocks.data;
    return st;
}

/* Places for blocks with nodes, and their arrays one after the other. */
static firn_status make_nodes(const firn_levelset_def *def, firn_levelset *set, firn_error *error)
{
    const int64_t blocks = (int64_t)set->size[0] * set->size[1] * set->size[2];
    for (int64_t b = 0; b < blocks; b++) {
        if (set->block[b].nodes >= 0) set->block[b].nodes = set->count++;
    }
    const bool sheet = set->half > 0;
    const size_t each =
        sizeof *set->distance + (sheet ? sizeof *set->away : 0) +
        (def->follows ? sizeof *set->triangle + sizeof *set->weight + sizeof *set->shift : 0);
    const double bytes = (double)set->count * (sizeof *set->place + NODES * (double)each);
    if (bytes > firn_memory_most()) return refuse(def, bytes, error);
    const firn_status st = firn_pool_reserve(def->allocator, &set->nodes, (size_t)bytes, error);
    if (st != FIRN_OK) return st;
    char *at = set->nodes.data;
    const size_t n = (size_t)set->count * NODES;
#define CUT(member, number)                                                                        \
    set->member = (void *)at;                                                                      \
    at += (number) * sizeof *set->member
    CUT(place, (size_t)set->count);
    CUT(distance, n);
    if (sheet) {
        CUT(away, n);
    }
    if (def->follows) {
        CUT(triangle, n);
        CUT(weight, n);
        CUT(shift, n);
    }
#undef CUT
    for (int64_t b = 0; b < blocks; b++) {
        if (set->block[b].nodes >= 0) set->place[set->block[b].nodes] = (int32_t)b;
    }
    return FIRN_OK;
}

firn_status firn_levelset_create(const firn_levelset_def *def, firn_levelset *out,
                                 firn_error *error)
{
    *out = (firn_levelset){.voxel = def->voxel, .band = def->band};
    /* A sheet thinner than a voxel would fall between the nodes. */
    if (def->mesh->thickness > 0) out->half = 0.5 * fmax(def->mesh->thickness, def->voxel);
    making m = {def->mesh, out, centre_slack};
    firn_status st = make_blocks(def, out, error);
    if (st == FIRN_OK) {
        firn_workers_run(def->workers, (int64_t)out->size[0] * out->size[1], 1, centre_task, &m);
        st = make_nodes(def, out, error);
    }
    if (st == FIRN_OK) {
        m.slack = 0;
        firn_workers_run(def->workers, out->count, 1, node_task, &m);
    } else {
        firn_levelset_free(out, def->allocator);
    }
    return st;
}

void firn_levelset_free(firn_levelset *set, const firn_allocator *allocator)
{
    firn_pool_free(allocator, &set->blocks);
    firn_pool_free(allocator, &set->nodes);
    *set = (firn_levelset){0};
}

/* ---- following ---- */

typedef struct following {
    firn_levelset *set;
    const firn_mesh *mesh;
    const double *shift;
    double scale;
} following;

static void follow_task(void *context, int64_t nodes, int32_t thread)
{
    (void)thread;
    const following *f = context;
    for (int64_t n = nodes * NODES; n < (nodes + 1) * NODES; n++) {
        const int32_t *v = f->mesh->triangle + 3 * (ptrdiff_t)f->set->triangle[n];
        const double u = (double)f->set->weight[n][0], w = (double)f->set->weight[n][1];
        for (int a = 0; a < 3; a++) {
            f->set->shift[n][a] =
                (float)(f->scale * (u * f->shift[3 * (ptrdiff_t)v[0] + a] +
                                    w * f->shift[3 * (ptrdiff_t)v[1] + a] +
                                    (1 - u - w) * f->shift[3 * (ptrdiff_t)v[2] + a]));
        }
    }
}

void firn_levelset_follow(firn_levelset *set, const firn_mesh *mesh, const double *shift,
                          double scale, const firn_workers *workers)
{
    following f = {set, mesh, shift, scale};
    firn_workers_run(workers, set->count, 4, follow_task, &f);
}

/* ---- asking ---- */

/* Beyond the blocks: the way from the box. */
static double ask_outside(const firn_levelset *set, const double point[3], double normal[3])
{
    for (int a = 0; a < 3; a++) {
        normal[a] = point[a] - fmin(fmax(point[a], set->box_low[a]), set->box_high[a]);
    }
    const double length = sqrt(dot(normal, normal));
    for (int a = 0; a < 3; a++) normal[a] /= length;
    return length;
}

static double ask_block(const firn_levelset *set, const firn_levelset_block *block,
                        const double offset[3], double normal[3])
{
    const double centre = (double)block->distance;
    for (int a = 0; a < 3; a++) normal[a] = (double)block->normal[a];
    const double length = sqrt(dot(normal, normal)); /* 1 but for rounding */
    for (int a = 0; a < 3; a++) normal[a] /= length;
    if (centre > 0) return fmax(centre - sqrt(dot(offset, offset)), set->band);
    return fmin(centre + dot(normal, offset), -set->band);
}

bool firn_levelset_ask(const firn_levelset *set, const double point[3], double *distance,
                       double normal[3], double shift[3])
{
    int32_t at[3], cell[3];
    double part[3], offset[3];
    if (shift) shift[0] = shift[1] = shift[2] = 0;
    for (int a = 0; a < 3; a++) {
        const double x = (point[a] - set->low[a]) / set->voxel;
        if (!(x >= 0 && x < (double)CELLS * set->size[a])) {
            *distance = ask_outside(set, point, normal);
            return false;
        }
        const int32_t node = (int32_t)x;
        at[a] = node / CELLS;
        cell[a] = node % CELLS;
        part[a] = x - node;
        offset[a] = (x - CELLS * (at[a] + 0.5)) * set->voxel;
    }
    const firn_levelset_block *block =
        set->block + ((int64_t)at[0] * set->size[1] + at[1]) * set->size[2] + at[2];
    if (block->nodes < 0) {
        *distance = ask_block(set, block, offset, normal);
        return false;
    }
    const int64_t first =
        (int64_t)block->nodes * NODES + (cell[0] * SIDE + cell[1]) * SIDE + cell[2];
    static const int32_t step[8] = {0,
                                    1,
                                    SIDE,
                                    SIDE + 1,
                                    SIDE * SIDE,
                                    SIDE * SIDE + 1,
                                    SIDE * SIDE + SIDE,
                                    SIDE * SIDE + SIDE + 1};
    const float *value = set->distance + first;
    double d[8];
    for (int k = 0; k < 8; k++) d[k] = (double)value[step[k]];
    if (set->away) { /* sides of a sheet, as seen from the nearest node */
        const int near = (part[0] >= 0.5) << 2 | (part[1] >= 0.5) << 1 | (part[2] >= 0.5);
        const float *n = set->away[first + step[near]];
        for (int k = 0; k < 8; k++) {
            const float *m = set->away[first + step[k]];
            if (n[0] * m[0] + n[1] * m[1] + n[2] * m[2] < 0) d[k] = -d[k];
        }
    }
    /* Along z, then y, then x; the gradient on the way. */
    double slope[4], at_z[4], slope_y[2], at_y[2], slope_z[2];
    for (int k = 0; k < 4; k++) {
        slope[k] = d[2 * k + 1] - d[2 * k];
        at_z[k] = d[2 * k] + part[2] * slope[k];
    }
    for (int k = 0; k < 2; k++) {
        slope_y[k] = at_z[2 * k + 1] - at_z[2 * k];
        slope_z[k] = slope[2 * k] + part[1] * (slope[2 * k + 1] - slope[2 * k]);
        at_y[k] = at_z[2 * k] + part[1] * slope_y[k];
    }
    normal[0] = at_y[1] - at_y[0];
    normal[1] = slope_y[0] + part[0] * (slope_y[1] - slope_y[0]);
    normal[2] = slope_z[0] + part[0] * (slope_z[1] - slope_z[0]);
    const double sum = at_y[0] + part[0] * normal[0];
    const double length = sqrt(dot(normal, normal));
    if (length > 1e-6 * set->voxel) {
        const double sign = set->away && sum < 0 ? -1 : 1;
        for (int a = 0; a < 3; a++) normal[a] *= sign / length;
    } else { /* as far from several surfaces: the block's */
        ask_block(set, block, offset, normal);
    }
    *distance = (set->away ? fabs(sum) : sum) - set->half;
    for (int k = 0; k < 8 && shift && set->shift; k++) {
        const double weight = (k >> 2 ? part[0] : 1 - part[0]) *
                              (k >> 1 & 1 ? part[1] : 1 - part[1]) *
                              (k & 1 ? part[2] : 1 - part[2]);
        const float *s = set->shift[first + step[k]];
        for (int a = 0; a < 3; a++) shift[a] += weight * (double)s[a];
    }
    return true;
}
