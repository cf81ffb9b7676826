/* The curvature of a liquid's surface, for the pressure that surface tension adds to a step with projection.
 *
 *   kappa = -div(grad c / |grad c|) = (g.H g - |g|^2 tr H) / |g|^3,      c = cover, at most 1, smoothed
 * with g and H the differences of c to first and second order: 1/r of a cylinder, 2/r of a ball. c is
 * smoothed twice by 1-3-1 along each axis. Without, velocities at rest are ten times as large. With 1-2-1,
 * which a wave of two cells does not pass, nothing draws such waves back: particles leave the surface one by
 * one, and a ball at rest 10 cells across falls apart within 4 s. 1-4-1 lets more noise through.
 *
 * In colliders c is continued so that the surface meets them at their contact angle: mirrored, and moved
 * along the wall by as much as a line at that angle moves on its way from the mirrored place. Curved surfaces
 * go on smoothly to second order, and one that meets the wall at another angle gets a kink there, whose
 * curvature drives it to the right one. */
#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "sim/project.h"

enum {
    REACH = 3, /* cells that a curvature sees on each side */
    SIDE = FIRN_BLOCK + 2 * REACH,
    POINTS = SIDE * SIDE * SIDE,
};

#define STEEPEST_COT 2.75 /* 20 degrees: flatter contacts would ask for c too far away */
#define FLAT 1e-6         /* square of the gradient per cell below which there is no surface */
#define LOOK 2.0 /* cells: half the width of the differences that say where the liquid ends */

/* How far apart neighbours along an axis are, in an array of `side` points per axis. */
static int stride_of(int dim, int axis, int side)
{
    return axis == dim - 1 ? 1 : axis == dim - 2 ? side : side * side;
}

/* ---- where the surface is ---- */

/* Liquid cells with air beyond an open face. */
static void expose_task(void *context, int64_t b, int32_t thread)
{
    (void)thread;
    const firn_sim *sim = context;
    const int dim = sim->store.dim;
    firn_liquid_block *v = firn_liquid_of(sim, b);
    v->exposed = 0;
    for (uint64_t left = v->liquid; left; left &= left - 1) {
        const int c = __builtin_ctzll(left);
        for (int i = 0; i < 2 * dim; i++) {
            int at[3], cell, face = c;
            firn_cell_at(dim, c, at);
            at[i / 2] += i % 2 ? 1 : -1;
            const int32_t other = firn_find_cell(v, dim, at, &cell);
            if (other >= 0 && firn_bit(firn_liquid_of(sim, other)->liquid, cell)) continue;
            if (i % 2) face = cell;
            const int32_t has_face = i % 2 ? other : (int32_t)b;
            if (has_face < 0 || firn_liquid_of(sim, has_face)->open[i / 2][face] == 0) continue;
            v->exposed |= (uint64_t)1 << c;
            break;
        }
    }
}

/* Whether the surface is in a block or next to it. */
static bool near_surface(const firn_sim *sim, const firn_liquid_block *v)
{
    const int dim = sim->store.dim, middle = firn_pow(3, dim) / 2;
    bool near = v->exposed != 0;
    for (int a = 0; a < dim; a++) {
        const int stride = stride_of(dim, a, 3);
        for (int way = -stride; way <= stride; way += 2 * stride) {
            const int32_t other = v->near[middle + way];
            near |= other >= 0 && firn_liquid_of(sim, other)->exposed != 0;
        }
    }
    return near;
}

/* ---- cover, around a block ---- */

/* Cover of the cells -REACH to FIRN_BLOCK + REACH - 1, and which of them are missing or in colliders. */
static void load_cover(const firn_sim *sim, const firn_liquid_block *v, real cover[POINTS],
                       bool unknown[POINTS])
{
    const int dim = sim->store.dim, rows = firn_pow(SIDE, dim) / SIDE;
    for (int r = 0; r < rows; r++) {
        int at[3] = {r / SIDE - REACH, r % SIDE - REACH, 0}, cell;
        if (dim == 2) at[0] = r - REACH;
        for (int k = -REACH; k < FIRN_BLOCK + REACH;) { /* the rest of a block's row at a time */
            at[dim - 1] = k;
            const int32_t other = firn_find_cell(v, dim, at, &cell);
            const firn_liquid_block *o = other < 0 ? NULL : firn_liquid_of(sim, other);
            const int end = k < 0 ? 0 : k < FIRN_BLOCK ? FIRN_BLOCK : FIRN_BLOCK + REACH;
            for (; k < end; k++, cell++) {
                const int n = r * SIDE + k + REACH;
                cover[n] = !o ? 0 : o->cover[cell] < 1 ? o->cover[cell] : 1;
                unknown[n] = !o || firn_bit(o->walled, cell);
            }
        }
    }
}

/* Cover at a place, cells from the block's first corner: linear between the middles of cells outside of
 * colliders. */
static double cover_at(const firn_sim *sim, const firn_liquid_block *v, const double place[3])
{
    const int dim = sim->store.dim;
    const firn_corners corners = firn_corners_of(dim, place, (double[]){0.5, 0.5, 0.5});
    double sum = 0, weight = 0;
    for (int i = 0; i < 1 << dim; i++) {
        int at[3], cell;
        const double w = firn_corner(&corners, i, at);
        const int32_t other = w == 0 ? -1 : firn_find_cell(v, dim, at, &cell);
        if (other < 0) {
            weight += w;
            continue;
        }
        const firn_liquid_block *o = firn_liquid_of(sim, other);
        if (firn_bit(o->walled, cell)) continue;
        sum += w * fmin((double)o->cover[cell], 1);
        weight += w;
    }
    return weight > 1e-6 ? sum / weight : 0;
}

/* The direction along a wall in which cover rises the most; false: none. */
static bool rises(const firn_sim *sim, const firn_liquid_block *v, const double place[3],
                  const double normal[3], double out[3])
{
    const int dim = sim->store.dim;
    double through = 0, length = 0;
    for (int a = 0; a < dim; a++) {
        double there[3] = {place[0], place[1], place[2]};
        there[a] = place[a] + LOOK;
        out[a] = cover_at(sim, v, there);
        there[a] = place[a] - LOOK;
        out[a] -= cover_at(sim, v, there);
        through += out[a] * normal[a];
    }
    for (int a = 0; a < dim; a++) {
        out[a] -= through * normal[a];
        length += out[a] * out[a];
    }
    if (length < FLAT) return false;
    for (int a = 0; a < dim; a++) out[a] /= sqrt(length);
    return true;
}

/* Cover of a cell in a collider, `at` from the block's first: see the top of the file. */
static double continued(const firn_sim *sim, int64_t b, const int at[3])
{
    const int dim = sim->store.dim;
    const firn_liquid_block *v = firn_liquid_of(sim, b);
    double middle[3] = {0}, place[3] = {0}, normal[3] = {0}, to_liquid[3], d;
    for (int a = 0; a < dim; a++) {
        middle[a] = (FIRN_BLOCK * sim->at->coord[b][a] + at[a] + 0.5) * sim->def.cell_size;
    }
    const int32_t which = firn_project_nearest(sim, b, middle, &d, normal);
    if (which < 0 || d > 0 || d < -REACH - 0.5) return 0; /* nobody asks for deeper ones */
    for (int a = 0; a < dim; a++) place[a] = at[a] + 0.5 - 2 * d * normal[a];
    const firn_posed_collider *wall = (const firn_posed_collider *)sim->posed_pool.data + which;
    const double angle = wall->contact_angle * 0.017453292519943295;
    const double cot = fmin(fmax(cos(angle) / fmax(sin(angle), 1e-9), -STEEPEST_COT), STEEPEST_COT);
    if (fabs(cot) > 1e-6 && rises(sim, v, place, normal, to_liquid)) {
        for (int a = 0; a < dim; a++) place[a] -= 2 * d * cot * to_liquid[a];
    }
    return cover_at(sim, v, place);
}

static void continue_into_walls(const firn_sim *sim, int64_t b, real cover[POINTS],
                                const bool unknown[POINTS])
{
    const int dim = sim->store.dim;
    double middle[3] = {0}, normal[3], clear;
    for (int a = 0; a < dim; a++) {
        middle[a] = FIRN_BLOCK * (sim->at->coord[b][a] + 0.5) * sim->def.cell_size;
    }
    firn_project_nearest(sim, b, middle, &clear, normal);
    for (int n = 0; n < firn_pow(SIDE, dim); n++) {
        if (!unknown[n]) continue;
        int at[3] = {0};
        double away = 0;
        for (int a = dim - 1, rest = n; a >= 0; a--, rest /= SIDE) {
            at[a] = rest % SIDE - REACH;
            away += (at[a] - 1.5) * (at[a] - 1.5);
        }
        if (clear > 0 && away < clear * clear) continue; /* missing, in air */
        cover[n] = (real)continued(sim, b, at);
    }
}

/* ---- curvature ---- */

/* By 1-3-1 along one axis; the outermost points stay as they are. */
static void smooth(int dim, int axis, real cover[POINTS])
{
    real from[POINTS];
    const int inner = stride_of(dim, axis, SIDE), outer = firn_pow(SIDE, dim) / (SIDE * inner);
    memcpy(from, cover, (size_t)firn_pow(SIDE, dim) * sizeof *cover);
    for (int o = 0; o < outer; o++) {
        const int begin = o * SIDE * inner;
        for (int n = begin + inner; n < begin + (SIDE - 1) * inner; n++) {
            cover[n] = (real)0.2 * (from[n - inner] + 3 * from[n] + from[n + inner]);
        }
    }
}

/* At a point of such an array: 1 / cells, at most that of a cell's size. */
static double curvature_at(int dim, const real *c)
{
    double g[3] = {0}, second[3][3] = {{0}}, square = 0, trace = 0, along = 0;
    int stride[3];
    for (int a = 0; a < dim; a++) stride[a] = stride_of(dim, a, SIDE);
    for (int a = 0; a < dim; a++) {
        const int s = stride[a];
        g[a] = 0.5 * ((double)c[s] - (double)c[-s]);
        second[a][a] = (double)c[s] - 2 * (double)c[0] + (double)c[-s];
        square += g[a] * g[a];
        trace += second[a][a];
        for (int k = 0; k < a; k++) {
            const int t = stride[k];
            second[a][k] = second[k][a] =
                0.25 * ((double)c[s + t] - (double)c[s - t] - (double)c[t - s] + (double)c[-s - t]);
        }
    }
    if (square < FLAT) return 0;
    for (int a = 0; a < dim; a++) {
        for (int k = 0; k < dim; k++) along += g[a] * second[a][k] * g[k];
    }
    const double most = dim - 1;
    return fmin(fmax((along - square * trace) / (square * sqrt(square)), -most), most);
}

static void curvature_task(void *context, int64_t b, int32_t thread)
{
    (void)thread;
    const firn_sim *sim = context;
    const int dim = sim->store.dim, cells = firn_pow(FIRN_BLOCK, dim);
    firn_liquid_block *v = firn_liquid_of(sim, b);
    memset(v->curvature, 0, sizeof v->curvature);
    if (!near_surface(sim, v)) return;
    real cover[POINTS];
    bool unknown[POINTS];
    load_cover(sim, v, cover, unknown);
    if (v->wall >= 0) continue_into_walls(sim, b, cover, unknown);
    for (int pass = 0; pass < 2; pass++) {
        for (int a = 0; a < dim; a++) smooth(dim, a, cover);
    }
    for (int c = 0; c < cells; c++) {
        int at[3], place = 0;
        firn_cell_at(dim, c, at);
        for (int a = 0; a < dim; a++) place = place * SIDE + at[a] + REACH;
        v->curvature[c] = (real)curvature_at(dim, cover + place);
    }
}

void firn_project_surface(firn_sim *sim)
{
    firn_workers_run(&sim->workers, sim->at->count, 4, expose_task, sim);
    firn_workers_run(&sim->workers, sim->at->count, 4, curvature_task, sim);
}
