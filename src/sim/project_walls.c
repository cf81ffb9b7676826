/* Colliders on the staggered grid: which part of each face and cell they leave open (Batty, Bertails and
 * Bridson 2007), and velocities for faces within them.
 *
 * Everything follows from distances at the corners of cells. A velocity in a wall is the mirror image of
 * the one in front of it: what is normal to the wall turns round, relative to it, and what is along it does
 * too where the wall is sticky. Splines then find the wall's own velocity at the wall. */
#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "sim/project.h"

enum { SUB = 2, SIDE = FIRN_BLOCK + 3 }; /* sub-cells per axis; corners -1 to 5 of a block */

#define NEAR 5.5         /* cells from a block's middle: the farthest corner that it asks for */
#define SNAP 1e-6        /* cells: corners that a wall goes through, whichever way it rounds */
#define LEAST_OPEN 0.02  /* of a face; less is closed */
#define LEAST_FREE 0.1   /* of a cell's kernel; less counts as this */
#define MIRROR_DEPTH 1.6 /* cells: how far into walls particles' splines reach */
#define ON_WALL 0.1      /* cells: faces this close to the wall need no mirror */
#define FAR 8            /* cells: no collider is near */

static const firn_posed_collider *colliders(const firn_sim *sim) { return sim->posed_pool.data; }

int32_t firn_project_nearest(const firn_sim *sim, int64_t block, const double point[3],
                             double *distance, double normal[3])
{
    int32_t best = -1, count;
    const int32_t *near = firn_nearby_of(sim, block, &count);
    *distance = FAR;
    for (int32_t i = 0; i < count; i++) {
        double n[3];
        const double d =
            firn_collider_distance(&colliders(sim)[near[i]], sim->store.dim, point, n) /
            sim->def.cell_size;
        if (d >= *distance) continue;
        best = near[i];
        *distance = d;
        memcpy(normal, n, sizeof n);
    }
    return best;
}

static real corner_distance(const firn_sim *sim, int64_t b, const int at[3])
{
    double point[3] = {0}, normal[3], d;
    for (int a = 0; a < sim->store.dim; a++) {
        point[a] = (FIRN_BLOCK * sim->at->coord[b][a] + at[a]) * sim->def.cell_size;
    }
    firn_project_nearest(sim, b, point, &d, normal);
    return fabs(d) < SNAP ? 0 : (real)d;
}

static void corners_task(void *context, int64_t b, int32_t thread)
{
    (void)thread;
    const firn_sim *sim = context;
    const int dim = sim->store.dim, cells = firn_pow(FIRN_BLOCK, dim);
    firn_liquid_block *v = firn_liquid_of(sim, b);
    double middle[3] = {0}, normal[3], d;
    for (int a = 0; a < dim; a++) {
        middle[a] = FIRN_BLOCK * (sim->at->coord[b][a] + 0.5) * sim->def.cell_size;
    }
    firn_project_nearest(sim, b, middle, &d, normal);
    v->wall = d < NEAR ? 0 : -1;
    for (int c = 0; c < cells; c++) {
        int at[3];
        firn_cell_at(dim, c, at);
        v->corner[c] = v->wall < 0 ? FAR : corner_distance(sim, b, at);
    }
}

/* Distances at the corners -1 to 5 of a block, last axis fastest. */
static void load_corners(const firn_sim *sim, int64_t b, real phi[SIDE * SIDE * SIDE])
{
    const int dim = sim->store.dim, rows = firn_pow(SIDE, dim) / SIDE;
    const firn_liquid_block *v = firn_liquid_of(sim, b);
    for (int r = 0; r < rows; r++) {
        int at[3] = {r / SIDE - 1, r % SIDE - 1, 0}, cell;
        if (dim == 2) at[0] = r - 1;
        for (int k = -1; k < SIDE - 1;) { /* the rest of a row of some block at a time */
            at[dim - 1] = k;
            const int32_t other = firn_find_cell(v, dim, at, &cell);
            const int end = k < 0 ? 0 : k < FIRN_BLOCK ? FIRN_BLOCK : SIDE - 1;
            for (; k < end; k++, cell++) {
                at[dim - 1] = k;
                phi[r * SIDE + k + 1] = other < 0 ? corner_distance(sim, b, at)
                                                  : firn_liquid_of(sim, other)->corner[cell];
            }
        }
    }
}

/* Where the neighbours along an axis are in an array of so many numbers per axis: `inner` apart, in each of
 * `outer` parts. */
typedef struct sweep {
    int inner, outer;
} sweep;

static sweep sweep_along(int a, const int side[3])
{
    return a == 0   ? (sweep){side[1] * side[2], 1}
           : a == 1 ? (sweep){side[2], side[0]}
                    : (sweep){1, side[0] * side[1]};
}

/* The least and the largest distance of each cell's corners, for the cells -1 to 4. */
static void bound_cells(int dim, const real *phi, real low[SIDE * SIDE * SIDE],
                        real high[SIDE * SIDE * SIDE])
{
    int side[3] = {SIDE, SIDE, dim == 3 ? SIDE : 1};
    memcpy(low, phi, (size_t)firn_pow(SIDE, dim) * sizeof *phi);
    memcpy(high, phi, (size_t)firn_pow(SIDE, dim) * sizeof *phi);
    for (int a = 0; a < dim; a++) { /* each axis leaves one less along it */
        const sweep s = sweep_along(a, side);
        for (int o = 0; o < s.outer; o++) {
            for (int n = 0; n < (SIDE - 1) * s.inner; n++) {
                const int from = o * SIDE * s.inner + n, next = from + s.inner,
                          to = o * (SIDE - 1) * s.inner + n;
                low[to] = low[from] < low[next] ? low[from] : low[next];
                high[to] = high[from] > high[next] ? high[from] : high[next];
            }
        }
        side[a] = SIDE - 1;
    }
}

/* The part of a triangle where a linear function of these corner values is above 0. */
static double triangle_part(double a, double b, double c)
{
    const int above = (a > 0) + (b > 0) + (c > 0);
    if (above == 0) return 0;
    if (above == 3) return 1;
    if (above == 2) return 1 - triangle_part(-a, -b, -c);
    if (b > 0) return b * b / ((b - a) * (b - c));
    if (c > 0) return c * c / ((c - a) * (c - b));
    return a * a / ((a - b) * (a - c));
}

/* The open part of a face, by the distances of its corners; one that lies in a wall is closed. */
static real open_part(int dim, const real *phi)
{
    double part;
    if (dim == 2) {
        const double p = (double)phi[0], q = (double)phi[1];
        part = p > 0 && q > 0     ? 1
               : p <= 0 && q <= 0 ? 0
               : p * q == 0       ? 1
               : p > 0            ? p / (p - q)
                                  : q / (q - p);
    } else {
        const double p[4] = {(double)phi[0], (double)phi[1], (double)phi[3], (double)phi[2]};
        if (p[0] > 0 && p[1] > 0 && p[2] > 0 && p[3] > 0) return 1;
        if (p[0] <= 0 && p[1] <= 0 && p[2] <= 0 && p[3] <= 0) return 0;
        const double middle = (p[0] + p[1] + p[2] + p[3]) / 4;
        part = 0;
        for (int i = 0; i < 4; i++) part += triangle_part(p[i], p[(i + 1) % 4], middle) / 4;
    }
    return part < LEAST_OPEN ? 0 : (real)part;
}

/* How much of a cell's collider goes to the cell before, itself and the one after, along an axis: integrals
 * of the spline over each half, and over both. */
static const double spread[SUB][3] = {{7.0 / 24, 2.0 / 3, 1.0 / 24}, {1.0 / 24, 2.0 / 3, 7.0 / 24}};
static const double whole[3] = {1.0 / 6, 2.0 / 3, 1.0 / 6};

/* The collider in a cell that a wall cuts, as splines at the cells around see it. */
static void spread_cell(int dim, const double phi[8], double share[27])
{
    const int layers = dim == 3 ? SUB : 1;
    memset(share, 0, 27 * sizeof *share);
    for (int i = 0; i < layers; i++) { /* axis 0 in 3D */
        const double u = (i + 0.5) / SUB;
        double face[4];
        for (int n = 0; n < 4; n++)
            face[n] = dim == 3 ? phi[n] + u * (phi[n + 4] - phi[n]) : phi[n];
        double plane[9] = {0};
        for (int j = 0; j < SUB; j++) {
            const double s = (j + 0.5) / SUB, p = face[0] + s * (face[2] - face[0]),
                         q = face[1] + s * (face[3] - face[1]);
            double line[3] = {0};
            for (int k = 0; k < SUB; k++) {
                const double d = p + (k + 0.5) / SUB * (q - p);
                const double solid = fmin(fmax(0.5 - SUB * d, 0), 1) / (SUB * SUB);
                for (int n = 0; n < 3; n++) line[n] += solid * spread[k][n];
            }
            for (int m = 0; m < 9; m++) plane[m] += spread[j][m / 3] * line[m % 3];
        }
        for (int n = 0; n < firn_pow(3, dim); n++) {
            share[n] += plane[n % 9] * (dim == 3 ? spread[i][n / 9] / SUB : 1);
        }
    }
}

enum { CELLS = FIRN_BLOCK + 2 }; /* -1 to 4 */

/* Adds cells that are all collider, by one axis after the other: each leaves out the first and last. */
static void spread_whole(int dim, double solid[CELLS * CELLS * CELLS], double share[FIRN_CELLS])
{
    int side[3] = {CELLS, CELLS, dim == 3 ? CELLS : 1};
    for (int a = 0; a < dim; a++) {
        const sweep s = sweep_along(a, side);
        for (int o = 0; o < s.outer; o++) {
            for (int n = 0; n < FIRN_BLOCK * s.inner; n++) {
                const double *from = solid + o * CELLS * s.inner + n;
                solid[o * FIRN_BLOCK * s.inner + n] =
                    whole[0] * from[0] + whole[1] * from[s.inner] + whole[2] * from[2 * s.inner];
            }
        }
        side[a] = FIRN_BLOCK;
    }
    for (int n = 0; n < firn_pow(FIRN_BLOCK, dim); n++) share[n] += solid[n];
}

/* The part of each cell's kernel that colliders fill. */
static void collider_share(int dim, const real *phi, double share[FIRN_CELLS])
{
    double solid[CELLS * CELLS * CELLS];
    real low[SIDE * SIDE * SIDE], high[SIDE * SIDE * SIDE];
    bool some = false;
    memset(share, 0, FIRN_CELLS * sizeof *share);
    bound_cells(dim, phi, low, high);
    for (int n = 0; n < firn_pow(CELLS, dim); n++) {
        const bool any = low[n] < 0, all = any && high[n] <= 0;
        solid[n] = all;
        some |= all;
        if (!any || all) continue;
        int at[3] = {0};
        for (int a = dim - 1, rest = n; a >= 0; a--, rest /= CELLS) at[a] = rest % CELLS;
        double corner[8], part[27];
        for (int i = 0; i < 1 << dim; i++) {
            int place = 0;
            for (int a = 0; a < dim; a++) place = place * SIDE + at[a] + (i >> (dim - 1 - a) & 1);
            corner[i] = (double)phi[place];
        }
        spread_cell(dim, corner, part);
        for (int i = 0; i < firn_pow(3, dim); i++) {
            int to = 0;
            bool own = true;
            for (int a = 0, rest = firn_pow(3, dim) / 3; a < dim; a++, rest /= 3) {
                const int k = at[a] - 2 + i / rest % 3;
                own &= k >= 0 && k < FIRN_BLOCK;
                to = to * FIRN_BLOCK + k;
            }
            if (own) share[to] += part[i];
        }
    }
    if (some) spread_whole(dim, solid, share);
}

/* What a face in or at a wall needs to know of it. */
static void look_at_face(const firn_sim *sim, int64_t b, int a, int c, firn_liquid_wall *w,
                         real open, real *speed)
{
    const int dim = sim->store.dim;
    int at[3];
    firn_cell_at(dim, c, at);
    double point[3] = {0}, normal[3] = {0}, velocity[3], d;
    for (int i = 0; i < dim; i++) {
        point[i] =
            (FIRN_BLOCK * sim->at->coord[b][i] + at[i] + (i == a ? 0 : 0.5)) * sim->def.cell_size;
    }
    const int32_t which = firn_project_nearest(sim, b, point, &d, normal);
    w->collider = which;
    if (which < 0) return;
    firn_collider_surface_velocity(&colliders(sim)[which], point, velocity);
    *speed = (real)velocity[a];
    w->mirrors = open == 0 && d > -MIRROR_DEPTH;
    w->sticky = firn_boundary_holds(colliders(sim)[which].boundary);
    w->separates = colliders(sim)[which].boundary == FIRN_SEPARATE;
    w->depth = (real)-d;
    for (int i = 0; i < 3; i++) {
        w->normal[i] = (real)normal[i];
        w->velocity[i] = (real)velocity[i];
    }
}

/* The distance of a cell's middle, as its corners have it. */
static double middle_distance(int dim, const real *phi)
{
    double sum = 0;
    for (int i = 0; i < 1 << dim; i++) {
        int n = 0;
        for (int a = 0; a < dim; a++) n = n * SIDE + (i >> a & 1);
        sum += (double)phi[n];
    }
    return sum;
}

/* A block whose faces are all open and see no collider. */
static void open_all(const firn_sim *sim, firn_liquid_block *v, firn_wall_block *w)
{
    const int cells = firn_pow(FIRN_BLOCK, sim->store.dim);
    for (int a = 0; a < sim->store.dim; a++) {
        for (int c = 0; c < cells; c++) {
            v->open[a][c] = 1;
            v->wall_speed[a][c] = 0;
            if (w) w->face[a][c] = (firn_liquid_wall){.collider = -1};
        }
    }
    for (int c = 0; c < cells && w; c++) w->free[c] = 1;
}

/* How far colliders close the faces of a cell, by the distances of corners from its lowest one on. */
static void close_faces(const firn_sim *sim, int64_t b, int c, const real *phi, firn_wall_block *w)
{
    const int dim = sim->store.dim;
    static const int stride[2][3] = {{SIDE, 1, 0}, {SIDE * SIDE, SIDE, 1}};
    firn_liquid_block *v = firn_liquid_of(sim, b);
    for (int a = 0; a < dim; a++) {
        const int *along = stride[dim - 2];
        const int s = along[a == 0 ? 1 : 0], t = along[a == dim - 1 ? dim - 2 : dim - 1];
        const real corner[4] = {phi[0], phi[t], phi[s], phi[s + t]}, edge[2] = {phi[0], phi[t]};
        v->open[a][c] = open_part(dim, dim == 3 ? corner : edge);
        if (v->open[a][c] == 1 || !firn_bit(v->massive[a], c)) continue; /* nobody asks */
        look_at_face(sim, b, a, c, &w->face[a][c], v->open[a][c], &v->wall_speed[a][c]);
    }
}

static void walls_task(void *context, int64_t b, int32_t thread)
{
    (void)thread;
    const firn_sim *sim = context;
    const int dim = sim->store.dim, cells = firn_pow(FIRN_BLOCK, dim);
    firn_liquid_block *v = firn_liquid_of(sim, b);
    firn_wall_block *w = v->wall < 0 ? NULL : (firn_wall_block *)sim->project.wall.data + v->wall;
    open_all(sim, v, w);
    v->walled = 0;
    if (!w) return;
    w->block = (int32_t)b;
    real phi[SIDE * SIDE * SIDE], least = FAR;
    double share[FIRN_CELLS];
    load_corners(sim, b, phi);
    for (int n = 0; n < firn_pow(SIDE, dim); n++) least = phi[n] < least ? phi[n] : least;
    if (least > 0) return;
    collider_share(dim, phi, share);
    for (int c = 0; c < cells; c++) {
        w->free[c] = (real)(1 - share[c]);
        int at[3], place = 0;
        firn_cell_at(dim, c, at);
        for (int a = 0; a < dim; a++) place = place * SIDE + at[a] + 1;
        if (middle_distance(dim, phi + place) < 0) v->walled |= (uint64_t)1 << c;
        close_faces(sim, b, c, phi + place, w);
    }
}

/* ---- how full cells are ---- */

static void room_task(void *context, int64_t b, int32_t thread)
{
    (void)thread;
    const firn_sim *sim = context;
    const int dim = sim->store.dim, cells = firn_pow(FIRN_BLOCK, dim);
    firn_liquid_block *v = firn_liquid_of(sim, b);
    v->room = 0;
    for (int c = 0; c < cells; c++) {
        bool open = false;
        for (int a = 0; a < dim && !open; a++) {
            int cell;
            const int32_t next = firn_step_from(v, dim, c, a, 1, &cell);
            open = v->open[a][c] > 0 || (next >= 0 && firn_liquid_of(sim, next)->open[a][cell] > 0);
        }
        if (open) v->room |= (uint64_t)1 << c;
    }
}

/* Volume of particles in a cell's kernel, and the part of the kernel that is free. */
typedef struct content {
    double volume, free;
} content;

static content content_of(const firn_sim *sim, int32_t block, int c)
{
    const firn_liquid_block *v = firn_liquid_of(sim, block);
    const firn_wall_block *walls = sim->project.wall.data;
    return (content){(double)v->volume[c], v->wall < 0 ? 1 : (double)walls[v->wall].free[c]};
}

/* Neighbour i of 3^dim around `at`; how many axes it is off along. */
static int around(int dim, const int at[3], int i, int out[3])
{
    int axes = 0;
    out[2] = 0;
    for (int a = dim - 1; a >= 0; a--, i /= 3) {
        out[a] = at[a] + i % 3 - 1;
        axes += i % 3 != 1;
    }
    return axes;
}

/* Adds to `sum` what particles leave in the closed cell `at` that belongs to one with the content `own`,
 * off along `axes`: it is shared out by content among the nearest that have room. */
static void fold(const firn_sim *sim, const firn_liquid_block *v, const int at[3], int axes,
                 const content *own, content *sum)
{
    const int dim = sim->store.dim;
    content all = {0};
    int cell;
    for (int i = 0; i < firn_pow(3, dim); i++) {
        int near[3];
        const int off = around(dim, at, i, near);
        if (off == 0 || off > axes) continue;
        const int32_t other = firn_find_cell(v, dim, near, &cell);
        if (other < 0 || !firn_bit(firn_liquid_of(sim, other)->room, cell)) continue;
        if (off < axes) return;
        const content c = content_of(sim, other, cell);
        all.volume += c.volume;
        all.free += c.free;
    }
    const int32_t block = firn_find_cell(v, dim, at, &cell);
    const content closed = content_of(sim, block, cell);
    if (own->volume > 0) sum->volume += closed.volume * own->volume / all.volume;
    if (own->free > 0) sum->free += closed.free * own->free / all.free;
}

/* How full cells are. At a wall particles leave some of their volume in closed cells: it counts where its
 * mirror image is, or a thin sheet would seem to have lost it. */
static void cover_task(void *context, int64_t b, int32_t thread)
{
    (void)thread;
    const firn_sim *sim = context;
    const int dim = sim->store.dim, cells = firn_pow(FIRN_BLOCK, dim);
    firn_liquid_block *v = firn_liquid_of(sim, b);
    for (int c = 0; c < cells; c++) {
        const content own = content_of(sim, (int32_t)b, c);
        content sum = own;
        const bool folds = own.free < 1 && own.volume > 0 && firn_bit(v->room, c);
        int at[3], near[3], cell;
        firn_cell_at(dim, c, at);
        for (int i = 0; i < firn_pow(3, dim) && folds; i++) {
            const int axes = around(dim, at, i, near);
            const int32_t other = firn_find_cell(v, dim, near, &cell);
            if (other < 0 || firn_bit(firn_liquid_of(sim, other)->room, cell)) continue;
            fold(sim, v, near, axes, &own, &sum);
        }
        v->cover[c] = (real)(sum.volume / fmax(sum.free, LEAST_FREE));
    }
}

firn_status firn_project_walls(firn_sim *sim, firn_error *error)
{
    const int32_t count = sim->at->count;
    int32_t near = 0;
    firn_status st = firn_nearby_find(sim, error);
    if (st != FIRN_OK) return st;
    firn_workers_run(&sim->workers, count, 4, corners_task, sim);
    for (int32_t b = 0; b < count; b++) {
        firn_liquid_block *v = firn_liquid_of(sim, b);
        if (v->wall == 0) v->wall = near++;
    }
    sim->project.wall_count = near;
    st = firn_pool_renew(sim->allocator, &sim->project.wall, (size_t)near * sizeof(firn_wall_block),
                         error);
    if (st != FIRN_OK) return st;
    firn_workers_run(&sim->workers, count, 4, walls_task, sim);
    firn_workers_run(&sim->workers, count, 4, room_task, sim);
    firn_workers_run(&sim->workers, count, 4, cover_task, sim);
    return FIRN_OK;
}

/* ---- mirrors ---- */

typedef struct mirror_job {
    firn_sim *sim;
    int first, pass;
    bool moving;
} mirror_job;

/* Component n of the velocity at `place`, cells from the block's first corner, linear between faces that
 * have one; false where none does. */
static bool velocity_at(const mirror_job *job, int64_t b, const double place[3], int n, double *out,
                        bool *in_wall)
{
    const firn_sim *sim = job->sim;
    const int dim = sim->store.dim;
    const firn_liquid_block *v = firn_liquid_of(sim, b);
    const double half[3] = {n == 0 ? 0 : 0.5, n == 1 ? 0 : 0.5, n == 2 ? 0 : 0.5};
    const firn_corners corners = firn_corners_of(dim, place, half);
    double sum = 0, weight = 0;
    for (int i = 0; i < 1 << dim; i++) {
        int at[3], cell;
        const double w = firn_corner(&corners, i, at);
        if (w == 0) continue;
        const int32_t other = firn_find_cell(v, dim, at, &cell);
        if (other < 0) continue;
        const firn_liquid_block *o = firn_liquid_of(sim, other);
        *in_wall |= o->open[n][cell] == 0;
        if (!((o->known[n] | (job->moving ? o->massive[n] : 0)) >> cell & 1)) continue;
        sum += w * (double)firn_staggered_of(sim, other, job->first + n)[cell];
        weight += w;
    }
    *out = weight > 0 ? sum / weight : 0;
    return weight > 1e-6;
}

/* Whether the face at the wall before one that is in it has been freed. */
static bool is_loose(const firn_sim *sim, int64_t b, int a, const int at[3],
                     const firn_liquid_wall *f)
{
    int front[3] = {0}, cell;
    if (!f->separates) return false;
    for (int k = 0; k < sim->store.dim; k++) {
        front[k] = at[k] + (int)lround((double)f->depth * (double)f->normal[k]);
    }
    const int32_t other = firn_find_cell(firn_liquid_of(sim, b), sim->store.dim, front, &cell);
    return other >= 0 && firn_bit(firn_liquid_of(sim, other)->freed[a], cell);
}

/* The mirrored velocities of a block's faces in walls. */
static void mirror_task(void *context, int64_t i, int32_t thread)
{
    (void)thread;
    const mirror_job *job = context;
    const firn_sim *sim = job->sim;
    const int dim = sim->store.dim, cells = firn_pow(FIRN_BLOCK, dim);
    firn_wall_block *w = (firn_wall_block *)sim->project.wall.data + i;
    for (int a = 0; a < dim; a++) {
        for (int c = 0; c < cells; c++) {
            firn_liquid_wall *f = &w->face[a][c];
            if (!f->mirrors || (job->pass > 0 && !f->again)) continue;
            f->again = false;
            const double depth = (double)f->depth;
            const bool behind = depth > ON_WALL;
            int at[3];
            firn_cell_at(dim, c, at);
            double place[3] = {0}, u[3] = {0}, normal_speed = 0, wall[3] = {0};
            for (int k = 0; k < dim; k++) {
                place[k] =
                    at[k] + (k == a ? 0 : 0.5) + (behind ? 2 * depth * (double)f->normal[k] : 0);
                if (job->moving) wall[k] = (double)f->velocity[k];
            }
            bool found = true;
            for (int n = 0; n < dim; n++) {
                if (n != a && f->normal[n] * f->normal[a] == 0) continue; /* it has no part in it */
                found &= velocity_at(job, w->block, place, n, &u[n], &f->again);
                u[n] -= wall[n];
                normal_speed += u[n] * (double)f->normal[n];
            }
            const double turn = behind ? 2 : 1;
            double mirrored = u[a] - turn * normal_speed * (double)f->normal[a];
            if (f->sticky && job->moving) mirrored = (1 - turn) * u[a];
            if (is_loose(sim, w->block, a, at, f)) mirrored = u[a];
            w->ghost[a][c] = (real)(wall[a] + (found ? mirrored : 0));
        }
    }
}

static void settle_task(void *context, int64_t i, int32_t thread)
{
    (void)thread;
    const mirror_job *job = context;
    const firn_sim *sim = job->sim;
    const int dim = sim->store.dim, cells = firn_pow(FIRN_BLOCK, dim);
    const firn_wall_block *w = (const firn_wall_block *)sim->project.wall.data + i;
    firn_liquid_block *v = firn_liquid_of(sim, w->block);
    for (int a = 0; a < dim; a++) {
        real *u = firn_staggered_of(sim, w->block, job->first + a);
        for (int c = 0; c < cells; c++) {
            if (!w->face[a][c].mirrors || firn_bit(v->freed[a], c)) continue;
            u[c] = w->ghost[a][c];
            v->known[a] |= (uint64_t)1 << c;
        }
    }
}

void firn_project_mirror(firn_sim *sim, int first, bool moving)
{
    mirror_job job = {.sim = sim, .first = first, .moving = moving};
    for (; job.pass < 2; job.pass++) { /* twice: in corners one image is another's original */
        firn_workers_run(&sim->workers, sim->project.wall_count, 4, mirror_task, &job);
        firn_workers_run(&sim->workers, sim->project.wall_count, 4, settle_task, &job);
    }
}

/* ---- reactions ---- */

typedef struct book_job {
    firn_sim *sim;
    double dt, density; /* s; kg/m3 of reference */
    double body[3];     /* m/s2 */
} book_job;

/* The pressure on a face in a wall, of the cells before and after it, Pa: that of each cell and, on the way from there
 * to the wall, as much more as stops the liquid, which would run into it. */
static double pressure_on(const book_job *job, const firn_wall_block *w, int a, int c)
{
    const firn_sim *sim = job->sim;
    const int dim = sim->store.dim;
    const firn_liquid_block *v = firn_liquid_of(sim, w->block);
    const firn_liquid_wall *f = &w->face[a][c];
    const double running = (double)v->start[a][c] +
                           job->dt * (job->body[a] + (double)v->push[a][c]) -
                           (double)v->wall_speed[a][c],
                 along = fmax(fabs((double)f->normal[a]), 0.1);
    /* Through a face that is partly open the wall passes on either side of the cell's middle. */
    const double way =
        v->open[a][c] > 0 ? 0 : fmin(fmax(0.5 - (double)f->depth / along, -0.5), 0.5);
    const double further =
        way * sim->def.cell_size * job->density / (double)v->lightness[a][c] * running / job->dt;
    int cell;
    const int32_t below = firn_step_from(v, dim, c, a, -1, &cell);
    double pressure = 0;
    if (firn_staggered_of(sim, w->block, 2 * dim + 2)[c] > 0) {
        pressure -= (double)firn_staggered_of(sim, w->block, 2 * dim)[c] - further;
    }
    if (below >= 0 && firn_staggered_of(sim, below, 2 * dim + 2)[cell] > 0) {
        pressure += (double)firn_staggered_of(sim, below, 2 * dim)[cell] + further;
    }
    return pressure;
}

/* It acts on the part of the face that is wall. */
static void book_task(void *context, int64_t i, int32_t thread)
{
    (void)thread;
    const book_job *job = context;
    const firn_sim *sim = job->sim;
    const int dim = sim->store.dim, cells = firn_pow(FIRN_BLOCK, dim);
    const double h = sim->def.cell_size, area = pow(h, dim - 1);
    const firn_wall_block *w = (const firn_wall_block *)sim->project.wall.data + i;
    const firn_liquid_block *v = firn_liquid_of(sim, w->block);
    const firn_impulses taken = firn_reaction_of(sim, w->block);
    for (int a = 0; a < dim; a++) {
        for (int c = 0; c < cells; c++) {
            if (w->face[a][c].collider < 0) continue;
            const double pressure = pressure_on(job, w, a, c);
            if (pressure == 0) continue;
            int at[3];
            double position[3] = {0}, momentum[3] = {0};
            firn_cell_at(dim, c, at);
            for (int k = 0; k < dim; k++) {
                position[k] =
                    (FIRN_BLOCK * sim->at->coord[w->block][k] + at[k] + (k == a ? 0 : 0.5)) * h;
            }
            momentum[a] = pressure * (1 - firn_open_part(v, a, c)) * area * job->dt;
            firn_impulse_add(&taken, colliders(sim), w->face[a][c].collider, position, momentum);
        }
    }
}

void firn_project_book(firn_sim *sim, double dt)
{
    book_job job = {.sim = sim, .dt = dt, .density = sim->def.materials[0].density};
    firn_grid_body_acceleration(sim, dt, job.body);
    firn_workers_run(&sim->workers, sim->project.wall_count, 4, book_task, &job);
}
