/* Conjugate gradients with a multigrid preconditioner (Tatebe 1993; McAdams et al. 2010 for liquids).
 *
 * Aggregates of 2^d cells with a constant value each are the simplest coarse space. Their Galerkin
 * operator is twice too stiff for smooth functions, whence the factor 1/2 (Braess 1995). The V-cycle is
 * symmetric: colours go backwards after the coarse correction. Rows of four cells are vectors. */
#include "solve/multigrid.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "solve/cutter.h"

enum {
    ROW = FIRN_BLOCK,
    GRAIN = 16,
    ALONE = 48, /* blocks that are not worth a second thread */
    SWEEPS = 2,
    COARSEST_SWEEPS = 12,
};

typedef real row __attribute__((vector_size(ROW * sizeof(real))));
typedef double wide __attribute__((vector_size(ROW * sizeof(double))));
#ifdef FIRN_DOUBLE
typedef int64_t row_mask __attribute__((vector_size(ROW * sizeof(real))));
#else
typedef int32_t row_mask __attribute__((vector_size(ROW * sizeof(real))));
#endif

#define INLINE static inline __attribute__((always_inline))

INLINE row load(const real *p)
{
    row v;
    memcpy(&v, p, sizeof v);
    return v;
}
INLINE void store(real *p, row v) { memcpy(p, &v, sizeof v); }
INLINE wide load_wide(const double *p)
{
    wide v;
    memcpy(&v, p, sizeof v);
    return v;
}
INLINE void store_wide(double *p, wide v) { memcpy(p, &v, sizeof v); }
INLINE wide widen(row v) { return __builtin_convertvector(v, wide); }
INLINE double sum_wide(wide v) { return (v[0] + v[1]) + (v[2] + v[3]); }
INLINE row select_row(row_mask m, row a, row b)
{
    return (row)(((row_mask)a & m) | ((row_mask)b & ~m));
}
/* The row moved by one cell towards its end or its beginning; what enters is `in`. */
#define SHIFT_UP(v, in) __builtin_shufflevector(v, (__typeof__(v)){in}, 4, 0, 1, 2)
#define SHIFT_DOWN(v, in) __builtin_shufflevector(v, (__typeof__(v)){in}, 1, 2, 3, 4)

/* ---- tasks over blocks ---- */

typedef struct job {
    firn_multigrid *m;
    firn_level *level;
    int colour;
    const double *p;
    double *x, *q;
    double alpha, beta;
    double scale; /* of the V-cycle's b: about one, for it may be float */
} job;

static void run(job *j, const firn_level *l, firn_task *task)
{
    const firn_workers alone = {.count = 1};
    firn_workers_run(l->count <= ALONE ? &alone : j->m->workers, l->count, GRAIN, task, j);
}

/* Runs a task that leaves a number per block, and sums them in order. */
static double run_sum(job *j, firn_task *task)
{
    double sum = 0;
    run(j, j->m->level, task);
    for (int32_t b = 0; b < j->m->level->count; b++) sum += j->m->partial[b];
    return sum;
}

/* ---- the operator ---- */

/* Where the row before or after row r of a block along axis a is; a is not the last axis. */
INLINE size_t row_before(const firn_level *l, const int dim, int64_t b, int r, int a)
{
    const int cells = dim == 3 ? 64 : 16, stride = dim == 3 && a == 0 ? ROW : 1;
    return r / stride % ROW ? (size_t)b * cells + (size_t)(ROW * (r - stride))
                            : (size_t)l->link[b][2 * a] * cells + (size_t)(ROW * (r + 3 * stride));
}
INLINE size_t row_after(const firn_level *l, const int dim, int64_t b, int r, int a)
{
    const int cells = dim == 3 ? 64 : 16, stride = dim == 3 && a == 0 ? ROW : 1;
    return r / stride % ROW < ROW - 1
               ? (size_t)b * cells + (size_t)(ROW * (r + stride))
               : (size_t)l->link[b][2 * a + 1] * cells + (size_t)(ROW * (r - 3 * stride));
}

/* Sum of coefficient times neighbour, for row r of a block. */
INLINE row neighbours(const firn_level *l, const int dim, int64_t b, int r, const real *x)
{
    const size_t cells = dim == 3 ? 64 : 16, at = (size_t)b * cells + (size_t)(ROW * r);
    row sum = {0};
    for (int a = 0; a < dim - 1; a++) {
        const size_t before = row_before(l, dim, b, r, a);
        sum += load(l->face[a] + before) * load(x + before) +
               load(l->face[a] + at) * load(x + row_after(l, dim, b, r, a));
    }
    const real *face = l->face[dim - 1];
    const size_t before = (size_t)l->link[b][2 * dim - 2] * cells + (size_t)(ROW * r) + ROW - 1,
                 after = (size_t)l->link[b][2 * dim - 1] * cells + (size_t)(ROW * r);
    const row here = load(x + at), c = load(face + at);
    sum += SHIFT_UP(c, face[before]) * SHIFT_UP(here, x[before]) + c * SHIFT_DOWN(here, x[after]);
    return sum;
}

/* Row r of A p, by differences: constants give exactly 0 where nothing anchors. */
INLINE wide product(const firn_level *l, const int dim, int64_t b, int r, const double *p)
{
    const size_t cells = dim == 3 ? 64 : 16, at = (size_t)b * cells + (size_t)(ROW * r);
    const wide here = load_wide(p + at);
    wide sum = (widen(load(l->anchor + at)) + widen(load(l->mass + at))) * here;
    for (int a = 0; a < dim - 1; a++) {
        const size_t before = row_before(l, dim, b, r, a);
        sum += widen(load(l->face[a] + before)) * (here - load_wide(p + before)) +
               widen(load(l->face[a] + at)) * (here - load_wide(p + row_after(l, dim, b, r, a)));
    }
    const real *face = l->face[dim - 1];
    const size_t before = (size_t)l->link[b][2 * dim - 2] * cells + (size_t)(ROW * r) + ROW - 1,
                 after = (size_t)l->link[b][2 * dim - 1] * cells + (size_t)(ROW * r);
    const row c = load(face + at);
    sum += widen(SHIFT_UP(c, face[before])) * (here - SHIFT_UP(here, p[before])) +
           widen(c) * (here - SHIFT_DOWN(here, p[after]));
    return sum;
}

INLINE double apply_block(const firn_multigrid *m, const int dim, int64_t b, const double *p,
                          double *q)
{
    wide dot = {0};
    for (int r = 0; r < m->cells / ROW; r++) {
        const size_t at = (size_t)b * m->cells + (size_t)(ROW * r);
        const wide v = product(m->level, dim, b, r, p);
        store_wide(q + at, v);
        dot += v * load_wide(p + at);
    }
    return sum_wide(dot);
}

static void apply_task(void *context, int64_t b, int32_t thread)
{
    (void)thread;
    const job *j = context;
    j->m->partial[b] =
        j->m->dim == 3 ? apply_block(j->m, 3, b, j->p, j->q) : apply_block(j->m, 2, b, j->p, j->q);
}

double firn_multigrid_apply(firn_multigrid *m, const double *p, double *q)
{
    job j = {.m = m, .p = p, .q = q};
    return run_sum(&j, apply_task);
}

static void residual_task(void *context, int64_t b, int32_t thread)
{
    (void)thread;
    const job *j = context;
    const firn_multigrid *m = j->m;
    double sum = 0;
    for (int c = 0; c < m->cells; c++) {
        const size_t at = (size_t)b * m->cells + (size_t)c;
        m->r[at] = m->level->inverse[at] > 0 ? j->p[at] - m->q[at] : 0;
        sum += m->r[at] * m->r[at];
    }
    m->partial[b] = sum;
}

double firn_multigrid_residual(firn_multigrid *m, const double *b, const double *x)
{
    job j = {.m = m, .p = b};
    memset(m->q, 0, (size_t)m->level->count * (size_t)m->cells * sizeof *m->q);
    const double bb = run_sum(&j, residual_task);
    (void)firn_multigrid_apply(m, x, m->q);
    const double rr = run_sum(&j, residual_task);
    return bb > 0 ? sqrt(rr / bb) : 0;
}

/* ---- the V-cycle ---- */

/* The cells of a colour in row r. */
INLINE row_mask colour_mask(const int dim, int r, int colour)
{
    const bool odd = ((dim == 3 ? r / ROW + r % ROW : r) + colour) & 1;
    return odd ? (row_mask){0, -1, 0, -1} : (row_mask){-1, 0, -1, 0};
}

INLINE void smooth_block(const firn_level *l, const int dim, int64_t b, int colour)
{
    const int cells = dim == 3 ? 64 : 16;
    for (int r = 0; r < cells / ROW; r++) {
        const size_t at = (size_t)b * cells + (size_t)(ROW * r);
        const row fresh =
            load(l->inverse + at) * (load(l->b + at) + neighbours(l, dim, b, r, l->x));
        store(l->x + at, select_row(colour_mask(dim, r, colour), fresh, load(l->x + at)));
    }
}

static void smooth_task(void *context, int64_t b, int32_t thread)
{
    (void)thread;
    const job *j = context;
    if (j->m->dim == 3) {
        smooth_block(j->level, 3, b, j->colour);
    } else {
        smooth_block(j->level, 2, b, j->colour);
    }
}

/* Colour 0 from x = 0. */
static void start_task(void *context, int64_t b, int32_t thread)
{
    (void)thread;
    const job *j = context;
    const firn_level *l = j->level;
    for (int r = 0; r < j->m->cells / ROW; r++) {
        const size_t at = (size_t)b * j->m->cells + (size_t)(ROW * r);
        const row_mask mask = j->m->dim == 3 ? colour_mask(3, r, 0) : colour_mask(2, r, 0);
        store(l->x + at, select_row(mask, load(l->inverse + at) * load(l->b + at), (row){0}));
    }
}

/* Where the part of its parent that a block is begins, and the cell there of one of its rows. */
INLINE size_t part_begin(const firn_multigrid *m, const firn_level *l, int64_t b)
{
    const int part = l->part[b];
    const int inside = m->dim == 3 ? 32 * (part >> 2 & 1) + 8 * (part >> 1 & 1) + 2 * (part & 1)
                                   : 8 * (part >> 1 & 1) + 2 * (part & 1);
    return (size_t)l->parent[b] * m->cells + (size_t)inside;
}
INLINE int coarse_row(int dim, int r)
{
    return dim == 3 ? 16 * (r / 8) + 4 * (r % ROW / 2) : 4 * (r / 2);
}

/* Adds what is left of a row to two coarse cells. */
INLINE void restrict_block(const firn_multigrid *m, const int dim, const firn_level *l, int64_t b)
{
    const int cells = dim == 3 ? 64 : 16;
    real *to = l[1].b + part_begin(m, l, b), sum[2 * ROW * ROW] = {0};
    for (int r = 0; r < cells / ROW; r++) {
        const size_t at = (size_t)b * cells + (size_t)(ROW * r);
        const row_mask active = load(l->inverse + at) != 0;
        const row left = select_row(active,
                                    load(l->b + at) + neighbours(l, dim, b, r, l->x) -
                                        load(l->diagonal + at) * load(l->x + at),
                                    (row){0});
        sum[coarse_row(dim, r)] += left[0] + left[1];
        sum[coarse_row(dim, r) + 1] += left[2] + left[3];
    }
    for (int r = 0; r < cells / ROW; r += dim == 3 && r % ROW == 2 ? 6 : 2) {
        const int c = coarse_row(dim, r);
        to[c] = sum[c];
        to[c + 1] = sum[c + 1];
    }
}

static void restrict_task(void *context, int64_t b, int32_t thread)
{
    (void)thread;
    const job *j = context;
    if (j->m->dim == 3) {
        restrict_block(j->m, 3, j->level, b);
    } else {
        restrict_block(j->m, 2, j->level, b);
    }
}

static void prolong_task(void *context, int64_t b, int32_t thread)
{
    (void)thread;
    const job *j = context;
    const firn_level *l = j->level;
    const real *from = l[1].x + part_begin(j->m, l, b);
    for (int r = 0; r < j->m->cells / ROW; r++) {
        const size_t at = (size_t)b * j->m->cells + (size_t)(ROW * r);
        const real *c = from + coarse_row(j->m->dim, r);
        const row_mask active = load(l->inverse + at) != 0;
        store(l->x + at,
              load(l->x + at) + select_row(active, (row){c[0], c[0], c[1], c[1]}, (row){0}));
    }
}

static void smooth(job *j, firn_level *l, int colour)
{
    j->level = l;
    j->colour = colour;
    run(j, l, smooth_task);
}

static void cycle(job *j, int32_t n)
{
    firn_level *l = &j->m->level[n];
    const bool coarsest = n == j->m->levels - 1;
    const int sweeps = coarsest ? COARSEST_SWEEPS : SWEEPS;
    j->level = l;
    run(j, l, start_task);
    for (int s = 0; s < sweeps; s++) {
        if (s > 0) smooth(j, l, 0);
        smooth(j, l, 1);
    }
    if (!coarsest) {
        j->level = l;
        run(j, l, restrict_task);
        cycle(j, n + 1);
        j->level = l;
        run(j, l, prolong_task);
    }
    for (int s = 0; s < sweeps; s++) {
        smooth(j, l, 1);
        smooth(j, l, 0);
    }
}

void firn_multigrid_cycle(firn_multigrid *m)
{
    job j = {.m = m};
    cycle(&j, 0);
}

/* ---- setting up ---- */

static void cut_all(firn_multigrid *m, firn_cutter *c)
{
    for (int32_t n = 0; n < m->levels; n++) {
        firn_level *l = &m->level[n];
        const size_t blocks = (size_t)l->count + 1,
                     reals = blocks * (size_t)m->cells * sizeof(real);
        l->link = firn_cut(c, blocks * sizeof *l->link);
        l->parent = firn_cut(c, blocks * sizeof *l->parent);
        l->part = firn_cut(c, blocks * sizeof *l->part);
        for (int a = 0; a < m->dim; a++) l->face[a] = firn_cut(c, reals);
        real **rest[] = {&l->anchor, &l->mass, &l->diagonal, &l->inverse, &l->x, &l->b};
        for (size_t i = 0; i < sizeof rest / sizeof *rest; i++) *rest[i] = firn_cut(c, reals);
    }
    const size_t blocks = (size_t)m->level->count + 1;
    double **vector[] = {&m->r, &m->p, &m->q};
    for (size_t i = 0; i < sizeof vector / sizeof *vector; i++) {
        *vector[i] = firn_cut(c, blocks * (size_t)m->cells * sizeof(double));
    }
    m->partial = firn_cut(c, blocks * sizeof *m->partial);
    m->patch_first = firn_cut(c, (blocks + 1) * sizeof *m->patch_first);
}

static bool same_block(const int32_t a[3], const int32_t b[3], int dim, int shift)
{
    for (int i = 0; i < dim; i++) {
        if (a[i] >> shift != b[i] >> shift) return false;
    }
    return true;
}

/* Counts the blocks of all levels. Blocks on both sides of 0 never meet by shifts: once there are no more
 * than two along each axis, from low >> level on, the next level is one block. */
static void count_levels(firn_multigrid *m, int32_t count, const int32_t (*coord)[3],
                         int32_t low[3])
{
    int32_t high[3] = {0}, n;
    for (int32_t b = 0; b < count; b++) {
        for (int a = 0; a < m->dim; a++) {
            if (b == 0 || coord[b][a] < low[a]) low[a] = coord[b][a];
            if (b == 0 || coord[b][a] > high[a]) high[a] = coord[b][a];
        }
    }
    bool near;
    m->levels = 0;
    do {
        n = 0;
        near = true;
        for (int32_t b = 0; b < count; b++) {
            n += b == 0 || !same_block(coord[b], coord[b - 1], m->dim, m->levels);
        }
        for (int a = 0; a < m->dim; a++) {
            near &= (high[a] >> m->levels) - (low[a] >> m->levels) <= 1;
        }
        m->level[m->levels++].count = n;
    } while (!near);
    if (n > 1) m->level[m->levels++].count = 1;
}

static void clear_task(void *context, int64_t b, int32_t thread)
{
    (void)thread;
    const job *j = context;
    const firn_level *l = j->level;
    const size_t at = (size_t)b * j->m->cells, size = (size_t)j->m->cells * sizeof(real);
    for (int a = 0; a < j->m->dim; a++) memset(l->face[a] + at, 0, size);
    real *const rest[] = {l->anchor, l->mass, l->diagonal, l->inverse, l->x, l->b};
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++) memset(rest[i] + at, 0, size);
}

/* Numbers the parents of a level's blocks; `first` is the first block of the finest level in each. A
 * face between parents is one between blocks, so their links follow from the blocks'. */
static void link_parents(firn_multigrid *m, int32_t n, const int32_t (*coord)[3],
                         const int32_t low[3], int32_t *first)
{
    firn_level *l = &m->level[n], *up = l + 1;
    const bool one = up->count == 1;
    int32_t parents = 0;
    for (int32_t b = 0; b < l->count; b++) {
        const int32_t *at = coord[first[b]];
        if (b == 0 || (!one && !same_block(at, coord[first[parents - 1]], m->dim, n + 1))) {
            parents++;
        }
        l->parent[b] = parents - 1;
        l->part[b] = 0;
        for (int a = 0; a < m->dim; a++) {
            const int half = one ? (at[a] >> n) - (low[a] >> n) : at[a] >> n & 1;
            l->part[b] = (uint8_t)(2 * l->part[b] + half);
        }
        if (b == 0 || l->parent[b] != l->parent[b - 1]) first[parents - 1] = first[b];
    }
    for (int32_t b = 0; b <= up->count; b++) {
        for (int i = 0; i < 6; i++) up->link[b][i] = up->count;
    }
    for (int32_t b = 0; b < l->count; b++) {
        for (int i = 0; i < 2 * m->dim; i++) {
            const int32_t other = l->link[b][i];
            if (other == l->count || l->parent[other] == l->parent[b]) continue;
            up->link[l->parent[b]][i] = l->parent[other];
        }
    }
}

firn_status firn_multigrid_reserve(firn_multigrid *m, int32_t dim, int32_t count,
                                   const int32_t (*coord)[3], const int32_t (*link)[6],
                                   const firn_workers *workers, const firn_allocator *allocator,
                                   firn_error *error)
{
    m->dim = dim;
    m->cells = firn_pow(FIRN_BLOCK, dim);
    m->workers = workers;
    int32_t low[3] = {0};
    count_levels(m, count, coord, low);
    firn_cutter measure = {0};
    cut_all(m, &measure);
    const firn_status st = firn_pool_renew(allocator, &m->pool, measure.used, error);
    if (st != FIRN_OK) return st;
    firn_cutter c = {.base = m->pool.data};
    cut_all(m, &c);
    job j = {.m = m};
    for (int32_t n = 0; n < m->levels; n++) {
        j.level = &m->level[n];
        run(&j, j.level, clear_task);
        clear_task(&j, j.level->count, 0);
    }
    const size_t spare = (size_t)count * (size_t)m->cells, size = (size_t)m->cells * sizeof(double);
    double *const vector[] = {m->r, m->p, m->q};
    for (int i = 0; i < 3; i++) memset(vector[i] + spare, 0, size);
    firn_level *l = m->level;
    for (int32_t b = 0; b <= count; b++) {
        for (int i = 0; i < 6; i++) l->link[b][i] = b < count && i < 2 * dim ? link[b][i] : count;
    }
    int32_t *first = m->patch_first; /* not needed yet */
    for (int32_t b = 0; b < count; b++) first[b] = b;
    for (int32_t n = 0; n + 1 < m->levels; n++) link_parents(m, n, coord, low, first);
    return FIRN_OK;
}

/* Diagonals of a level, from its coefficients. */
INLINE void finish_block(const firn_level *l, const int dim, int64_t b)
{
    const size_t cells = dim == 3 ? 64 : 16;
    for (int r = 0; r < (int)cells / ROW; r++) {
        const size_t at = (size_t)b * cells + (size_t)(ROW * r);
        row sum = load(l->anchor + at) + load(l->mass + at);
        for (int a = 0; a < dim - 1; a++) {
            sum += load(l->face[a] + row_before(l, dim, b, r, a)) + load(l->face[a] + at);
        }
        const real *face = l->face[dim - 1];
        const row c = load(face + at);
        sum += SHIFT_UP(
                   c, face[(size_t)l->link[b][2 * dim - 2] * cells + (size_t)(ROW * r) + ROW - 1]) +
               c;
        store(l->diagonal + at, sum);
        for (int k = 0; k < ROW; k++) l->inverse[at + (size_t)k] = sum[k] > 0 ? 1 / sum[k] : 0;
    }
}

static void finish_task(void *context, int64_t b, int32_t thread)
{
    (void)thread;
    const job *j = context;
    if (j->m->dim == 3) {
        finish_block(j->level, 3, b);
    } else {
        finish_block(j->level, 2, b);
    }
}

/* Adds a block's coefficients to its part of its parent. */
static void coarsen_task(void *context, int64_t b, int32_t thread)
{
    (void)thread;
    const job *j = context;
    const firn_level *l = j->level, *up = l + 1;
    const int dim = j->m->dim;
    const size_t begin = part_begin(j->m, l, b);
    for (int c = 0; c < j->m->cells; c++) {
        const size_t at = (size_t)b * j->m->cells + (size_t)c,
                     to = begin + (size_t)coarse_row(dim, c / ROW) + (size_t)(c % ROW / 2);
        up->anchor[to] += (real)0.5 * l->anchor[at];
        up->mass[to] += l->mass[at];
        for (int a = 0; a < dim; a++) { /* faces between different coarse cells */
            if (c >> (2 * (dim - 1 - a)) & 1) up->face[a][to] += (real)0.5 * l->face[a][at];
        }
    }
}

/* ---- floating parts ---- */

/* What of a block is connected to what. */
typedef struct block_bits {
    uint64_t active, anchored, linked[3]; /* linked: to the next cell along an axis */
} block_bits;

static block_bits look_at(const firn_multigrid *m, int64_t b)
{
    const firn_level *l = m->level;
    block_bits v = {0};
    for (int c = 0; c < m->cells; c++) {
        const size_t at = (size_t)b * m->cells + (size_t)c;
        const uint64_t bit = (uint64_t)1 << c;
        if (!(l->inverse[at] > 0)) continue;
        v.active |= bit;
        if (l->anchor[at] + l->mass[at] > 0) v.anchored |= bit;
        for (int a = 0; a < m->dim; a++) v.linked[a] |= l->face[a][at] > 0 ? bit : 0;
    }
    return v;
}

/* Bits between neighbours along an axis, and the cells that are its last. */
static int axis_stride(int dim, int a) { return 1 << (2 * (dim - 1 - a)); }
static uint64_t last_cells(int dim, int a)
{
    static const uint64_t three[3] = {0xffff000000000000, 0xf000f000f000f000, 0x8888888888888888};
    static const uint64_t two[2] = {0xf000, 0x8888};
    return dim == 3 ? three[a] : two[a];
}

/* The connected part of a block that the lowest of `left` is in. */
static uint64_t grow_patch(const block_bits *v, int dim, uint64_t left)
{
    uint64_t patch = left & (~left + 1), before;
    do {
        before = patch;
        for (int a = 0; a < dim; a++) {
            const int s = axis_stride(dim, a);
            const uint64_t inner = v->linked[a] & ~last_cells(dim, a);
            patch |= (patch & inner) << s | (patch >> s & inner);
        }
    } while (patch != before);
    return patch & v->active;
}

/* How many patches a block has; writes them where there is room. */
static int32_t list_patches(const block_bits *v, int dim, firn_patch *out)
{
    int32_t n = 0;
    for (uint64_t left = v->active; left; n++) {
        const uint64_t cells = grow_patch(v, dim, left);
        if (out) out[n] = (firn_patch){.cells = cells, .floating = !(cells & v->anchored)};
        left &= ~cells;
    }
    return n;
}

static void count_patches_task(void *context, int64_t b, int32_t thread)
{
    (void)thread;
    const firn_multigrid *m = ((job *)context)->m;
    const block_bits v = look_at(m, b);
    m->patch_first[b + 1] = list_patches(&v, m->dim, NULL);
}

static void list_patches_task(void *context, int64_t b, int32_t thread)
{
    (void)thread;
    const firn_multigrid *m = ((job *)context)->m;
    const block_bits v = look_at(m, b);
    list_patches(&v, m->dim, m->patch + m->patch_first[b]);
}

static int32_t find_root(firn_patch *patch, int32_t i)
{
    while (patch[i].root != i) i = patch[i].root = patch[patch[i].root].root;
    return i;
}

/* Joins the patches of a block to those of the next along an axis. */
static void join_blocks(firn_multigrid *m, int32_t b, int a)
{
    const int32_t next = m->level->link[b][2 * a + 1];
    const uint64_t last = last_cells(m->dim, a);
    const int way = 3 * axis_stride(m->dim, a);
    if (next == m->level->count) return;
    uint64_t linked = 0;
    for (uint64_t left = last; left; left &= left - 1) {
        const int c = __builtin_ctzll(left);
        if (m->level->face[a][(size_t)b * m->cells + (size_t)c] > 0) linked |= (uint64_t)1 << c;
    }
    for (int32_t i = m->patch_first[b]; i < m->patch_first[b + 1]; i++) {
        const uint64_t over = (m->patch[i].cells & linked) >> way;
        for (int32_t k = m->patch_first[next]; over && k < m->patch_first[next + 1]; k++) {
            if (!(m->patch[k].cells & over)) continue;
            const int32_t x = find_root(m->patch, i), y = find_root(m->patch, k);
            m->patch[x > y ? x : y].root = x > y ? y : x;
        }
    }
}

static firn_status find_floating(firn_multigrid *m, const firn_allocator *allocator,
                                 firn_error *error)
{
    const int32_t count = m->level->count;
    job j = {.m = m};
    m->patch_first[0] = 0;
    run(&j, m->level, count_patches_task);
    for (int32_t b = 0; b < count; b++) m->patch_first[b + 1] += m->patch_first[b];
    const size_t patches = (size_t)m->patch_first[count];
    const firn_status st = firn_pool_renew(
        allocator, &m->patch_pool, patches * (sizeof *m->patch + 2 * sizeof(double)) + 1, error);
    if (st != FIRN_OK) return st;
    m->patch_sum = m->patch_pool.data;
    m->patch_size = m->patch_sum + patches;
    m->patch = (firn_patch *)(m->patch_size + patches);
    run(&j, m->level, list_patches_task);
    for (size_t i = 0; i < patches; i++) m->patch[i].root = (int32_t)i;
    for (int32_t b = 0; b < count; b++) {
        for (int a = 0; a < m->dim; a++) join_blocks(m, b, a);
    }
    for (size_t i = 0; i < patches; i++) {
        const int32_t root = find_root(m->patch, (int32_t)i);
        m->patch[i].root = root;
        if (!m->patch[i].floating) m->patch[root].floating = false;
    }
    m->floats = false;
    for (size_t i = 0; i < patches; i++) {
        m->patch[i].floating = m->patch[m->patch[i].root].floating;
        m->floats |= m->patch[i].floating;
    }
    return FIRN_OK;
}

/* Takes the means of floating parts off a vector. */
static void remove_means(const firn_multigrid *m, double *v)
{
    if (!m->floats) return;
    const int32_t count = m->level->count, patches = m->patch_first[count];
    for (int32_t i = 0; i < patches; i++) m->patch_sum[i] = m->patch_size[i] = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t b = 0; b < count; b++) {
            double *at = v + (size_t)b * m->cells;
            for (int32_t i = m->patch_first[b]; i < m->patch_first[b + 1]; i++) {
                const int32_t root = m->patch[i].root;
                if (!m->patch[i].floating) continue;
                const double mean = pass ? m->patch_sum[root] / m->patch_size[root] : 0;
                for (uint64_t left = m->patch[i].cells; left; left &= left - 1) {
                    const int c = __builtin_ctzll(left);
                    if (pass) {
                        at[c] -= mean;
                    } else {
                        m->patch_sum[root] += at[c];
                        m->patch_size[root]++;
                    }
                }
            }
        }
    }
}

firn_status firn_multigrid_setup(firn_multigrid *m, const firn_allocator *allocator,
                                 firn_error *error)
{
    job j = {.m = m};
    for (int32_t n = 0; n < m->levels; n++) {
        j.level = &m->level[n];
        run(&j, j.level, finish_task);
        if (n + 1 < m->levels) run(&j, j.level, coarsen_task);
    }
    return find_floating(m, allocator, error);
}

void firn_multigrid_free(firn_multigrid *m, const firn_allocator *allocator)
{
    firn_pool_free(allocator, &m->pool);
    firn_pool_free(allocator, &m->patch_pool);
}

/* ---- solving ---- */

/* r = b and x = 0; |r|^2. Cells that are not active have no residual. */
static void begin_task(void *context, int64_t b, int32_t thread)
{
    (void)thread;
    const job *j = context;
    const firn_multigrid *m = j->m;
    double sum = 0;
    for (int c = 0; c < m->cells; c++) {
        const size_t at = (size_t)b * m->cells + (size_t)c;
        m->r[at] = m->level->inverse[at] > 0 ? j->p[at] : 0;
        j->x[at] = 0;
        sum += m->r[at] * m->r[at];
    }
    m->partial[b] = sum;
}

/* The V-cycle's right-hand side. */
static void hand_over_task(void *context, int64_t b, int32_t thread)
{
    (void)thread;
    const job *j = context;
    const firn_multigrid *m = j->m;
    for (int c = 0; c < m->cells; c++) {
        const size_t at = (size_t)b * m->cells + (size_t)c;
        m->level->b[at] = (real)(j->scale * m->r[at]);
    }
}

/* r . z */
static void measure_task(void *context, int64_t b, int32_t thread)
{
    (void)thread;
    const firn_multigrid *m = ((job *)context)->m;
    wide sum = {0};
    for (int c = 0; c < m->cells; c += ROW) {
        const size_t at = (size_t)b * m->cells + (size_t)c;
        sum += load_wide(m->r + at) * widen(load(m->level->x + at));
    }
    m->partial[b] = sum_wide(sum);
}

/* p = M^-1 r + beta p */
static void turn_task(void *context, int64_t b, int32_t thread)
{
    (void)thread;
    const job *j = context;
    const firn_multigrid *m = j->m;
    for (int c = 0; c < m->cells; c++) {
        const size_t at = (size_t)b * m->cells + (size_t)c;
        m->p[at] = (double)m->level->x[at] / j->scale + (j->beta == 0 ? 0 : j->beta * m->p[at]);
    }
}

/* x += alpha p, r -= alpha q; |r|^2 */
static void advance_task(void *context, int64_t b, int32_t thread)
{
    (void)thread;
    const job *j = context;
    const firn_multigrid *m = j->m;
    wide sum = {0};
    for (int c = 0; c < m->cells; c += ROW) {
        const size_t at = (size_t)b * m->cells + (size_t)c;
        store_wide(j->x + at, load_wide(j->x + at) + j->alpha * load_wide(m->p + at));
        const wide r = load_wide(m->r + at) - j->alpha * load_wide(m->q + at);
        store_wide(m->r + at, r);
        sum += r * r;
    }
    m->partial[b] = sum_wide(sum);
}

firn_solution firn_multigrid_solve(firn_multigrid *m, double *b, double *x, double tolerance,
                                   int32_t most)
{
    firn_solution s = {0};
    job j = {.m = m, .p = b, .x = x};
    double bb = run_sum(&j, begin_task), rr = bb, rz = 0;
    if (m->floats) {
        /* The mean of n numbers is off by up to n roundings: what is then left of a constant is nothing
         * to solve for. */
        const double rounding = (double)m->level->count * m->cells * DBL_EPSILON / tolerance;
        remove_means(m, b);
        rr = run_sum(&j, begin_task);
        bb = fmax(rr, rounding * rounding * bb);
    }
    while (!(s.converged = rr <= tolerance * tolerance * bb) && s.iterations < most) {
        j.scale = 1 / sqrt(rr / ((double)m->level->count * m->cells));
        run(&j, m->level, hand_over_task);
        cycle(&j, 0);
        const double next = run_sum(&j, measure_task) / j.scale;
        j.beta = s.iterations ? next / rz : 0;
        rz = next;
        run(&j, m->level, turn_task);
        const double curvature = firn_multigrid_apply(m, m->p, m->q);
        if (!(curvature > 0)) break;
        j.alpha = rz / curvature;
        rr = run_sum(&j, advance_task);
        s.iterations++;
        if (!isfinite(rr)) break;
    }
    remove_means(m, x);
    s.residual = bb > 0 ? sqrt(rr / bb) : 0;
    return s;
}

/* ---- the reference ---- */

static double apply_real_block(const firn_level *l, const int dim, int64_t b, const real *in,
                               real *out)
{
    const int cells = dim == 3 ? 64 : 16;
    for (int r = 0; r < cells / ROW; r++) {
        const size_t at = (size_t)b * cells + (size_t)(ROW * r);
        const row active = (row)((row_mask)load(in + at) & (load(l->inverse + at) != 0));
        store(out + at, load(l->diagonal + at) * active - neighbours(l, dim, b, r, in));
    }
    const size_t at = (size_t)b * cells;
    return firn_dot(in + at, out + at, cells);
}

typedef struct real_job {
    firn_multigrid *m;
    const real *in;
    real *out;
} real_job;

static void apply_real_task(void *context, int64_t b, int32_t thread)
{
    (void)thread;
    const real_job *j = context;
    j->m->partial[b] = j->m->dim == 3 ? apply_real_block(j->m->level, 3, b, j->in, j->out)
                                      : apply_real_block(j->m->level, 2, b, j->in, j->out);
}

static double apply_real(void *context, const real *in, real *out)
{
    firn_multigrid *m = context;
    real_job j = {m, in, out};
    firn_workers_run(m->workers, m->level->count, GRAIN, apply_real_task, &j);
    double sum = 0;
    for (int32_t b = 0; b < m->level->count; b++) sum += m->partial[b];
    return sum;
}

static void precondition_real(void *context, int64_t b, const real *r, real *z)
{
    const firn_multigrid *m = context;
    const real *inverse = m->level->inverse + (size_t)b * m->cells;
    for (int c = 0; c < m->cells; c++) z[c] = inverse[c] * r[c];
}

firn_solution firn_multigrid_solve_jacobi(firn_multigrid *m, double *b, double *x, double tolerance,
                                          int32_t most)
{
    const size_t n = ((size_t)m->level->count + 1) * (size_t)m->cells;
    real *solution = m->level->x, *r = m->level->b;
    real *const work[2] = {(real *)m->p, (real *)m->q};
    const firn_system system = {.workers = m->workers,
                                .blocks = m->level->count,
                                .block_reals = m->cells,
                                .apply = apply_real,
                                .precondition = precondition_real,
                                .context = m,
                                .partial = m->partial};
    firn_solution s = {0}, part = {.converged = true};
    remove_means(m, b);
    for (size_t i = 0; i < n; i++) x[i] = 0;
    for (;;) {
        s.residual = firn_multigrid_residual(m, b, x);
        s.converged = s.residual <= tolerance;
        if (s.converged || !part.converged || s.iterations >= most) break;
        double size = 0;
        memset(work[0], 0, n * sizeof(real));
        memset(solution, 0, n * sizeof(real));
        for (size_t i = 0; i < n; i++) {
            r[i] = (real)m->r[i];
            size += (double)m->level->inverse[i] * m->r[i] * m->r[i];
        }
        part = firn_solve_cg(&system, solution, r, work, tolerance / s.residual * sqrt(size),
                             most - s.iterations);
        s.iterations += part.iterations;
        for (size_t i = 0; i < n; i++) x[i] += (double)solution[i];
    }
    remove_means(m, x);
    return s;
}
