/* A V-cycle on coarse grids of nodes; see coarse.h.
 *
 * The finest level is left to the caller, who adds the correction to what the mass makes of a residual:
 * a product there is a pass over all particles, and smoothing would take two of them per cycle. */
#include "solve/coarse.h"

#include <math.h>
#include <string.h>

#include "solve/cutter.h"

enum {
    GRAIN = 2,
    AXES = 3,
    CORNERS = 8,
    NODE = FIRN_COARSE_NODE,
    MATRIX = 3 * NODE, /* reals of a 3 x 3 matrix: three columns */
    AROUND = FIRN_COARSE_AROUND,
    COARSEST_SWEEPS = 4,
};

typedef real vec __attribute__((vector_size(NODE * sizeof(real))));

#define INLINE static inline __attribute__((always_inline))

INLINE vec load(const real *p)
{
    vec v;
    memcpy(&v, p, sizeof v);
    return v;
}
INLINE void store(real *p, vec v) { memcpy(p, &v, sizeof v); }
INLINE vec times(const real *matrix, const real *x, const int dim)
{
    const vec two = load(matrix) * x[0] + load(matrix + NODE) * x[1];
    return dim == 3 ? two + load(matrix + 2 * NODE) * x[2] : two;
}

/* ---- tasks over blocks ---- */

/* Which neighbours count: all, or those whose colour is lower or higher than the node's. */
typedef enum some { ALL, LOWER, HIGHER, SOMES } some;

typedef struct job {
    const firn_coarse *m;
    const firn_coarse_level *level;
    const real *from;    /* of a restriction: a vector of the level before... */
    real *to;            /* ... and one of the level */
    real weight[AROUND]; /* of nodes around in it */
    int colour;          /* of the nodes to smooth... */
    some which;          /* ... and of their neighbours that count */
    int count[SOMES][CORNERS];
    uint8_t list[SOMES][CORNERS][AROUND];      /* of neighbours, by the node's colour */
    int number;                                /* of the level */
    real factor;                               /* c, s2 */
    real element[2][CORNERS][CORNERS][MATRIX]; /* per lambda and mu times volume, by corners */
} job;

static void run(job *j, const firn_coarse_level *l, firn_task *task)
{
    j->level = l;
    firn_workers_run(j->m->workers, l->count, GRAIN, task, j);
}

/* ---- where things are: axis 0 changes slowest, of nodes, blocks around and nodes around ---- */

INLINE void split(int index, int dim, int base, int out[AXES])
{
    out[0] = out[1] = out[2] = 0;
    for (int a = dim - 1; a >= 0; a--, index /= base) out[a] = index % base;
}

/* A place up to a block below a block's first node, or up to two above its last. */
static uint16_t encode(const firn_coarse *m, const int at[AXES])
{
    int block = 0, node = 0;
    for (int a = 0; a < m->dim; a++) {
        block = 3 * block + (at[a] + FIRN_BLOCK) / FIRN_BLOCK;
        node = FIRN_BLOCK * node + (at[a] + FIRN_BLOCK) % FIRN_BLOCK;
    }
    return (uint16_t)(block * m->nodes + node);
}

static void fill_tables(firn_coarse *m)
{
    for (int n = 0; n < m->nodes; n++) {
        for (int k = 0; k < firn_pow(3, m->dim); k++) {
            int at[AXES], step[AXES], next[AXES], below[AXES];
            split(n, m->dim, FIRN_BLOCK, at);
            split(k, m->dim, 3, step);
            for (int a = 0; a < AXES; a++) {
                next[a] = at[a] + step[a] - 1;
                below[a] = 2 * at[a] + step[a] - 1;
            }
            m->next[n][k] = encode(m, next);
            m->below[n][k] = encode(m, below);
        }
    }
}

/* Which node of an array that is, with the blocks around. */
INLINE size_t node_of(const int nodes, const int32_t *around, uint16_t code)
{
    return (size_t)around[code / nodes] * (size_t)nodes + (size_t)(code % nodes);
}

/* ---- between levels ---- */

/* Along an axis: halves of the nodes before and after, the node itself. */
INLINE real weight_of(const int dim, int k)
{
    real weight = 1;
    for (int a = 0; a < dim; a++, k /= 3) weight *= k % 3 == 1 ? 1 : (real)0.5;
    return weight;
}

INLINE void restrict_block(const job *j, const int dim, int64_t block)
{
    const int nodes = dim == 3 ? 64 : 16, around = dim == 3 ? 27 : 9;
    const firn_coarse_level *l = j->level;
    for (int n = 0; n < nodes; n++) {
        const size_t at = (size_t)block * (size_t)nodes + (size_t)n;
        if (j->to != l->mass && !(l->mass[at * NODE] > 0)) continue; /* it stays 0 */
        const uint16_t *below = j->m->below[n];
        vec sum = {0};
        for (int k = 0; k < around; k++) {
            sum += j->weight[k] * load(j->from + node_of(nodes, l->finer[block], below[k]) * NODE);
        }
        store(j->to + at * NODE, sum);
    }
}

static void restrict_task(void *context, int64_t block, int32_t thread)
{
    (void)thread;
    const job *j = context;
    if (j->m->dim == 3) {
        restrict_block(j, 3, block);
    } else {
        restrict_block(j, 2, block);
    }
}

/* The four nodes of a block along an axis, from the three that lie on every second of them. */
INLINE void between(const vec *in, int stride, vec *out, int out_stride)
{
    const vec a = in[0], b = in[stride], c = in[2 * stride];
    out[0] = a;
    out[out_stride] = (real)0.5 * (a + b);
    out[2 * out_stride] = b;
    out[3 * out_stride] = (real)0.5 * (b + c);
}

/* Adds the correction of the level after; the finest level starts from 0. One axis after the other. */
INLINE void prolong_block(const job *j, const int dim, int64_t block)
{
    const int nodes = dim == 3 ? 64 : 16;
    const firn_coarse_level *l = j->level;
    vec coarse[27], rows[36], sheets[48], all[64];
    for (int k = 0; k < (dim == 3 ? 27 : 9); k++) {
        int step[AXES], above = 0, node = 0;
        split(k, dim, 3, step);
        for (int a = 0; a < dim; a++) {
            const int to = 2 * (l->place[block][a] & 1) + step[a];
            above = 2 * above + to / FIRN_BLOCK;
            node = FIRN_BLOCK * node + to % FIRN_BLOCK;
        }
        const size_t from = (size_t)l->coarser[block][above] * (size_t)nodes + (size_t)node;
        coarse[k] = load(l[1].x + from * NODE);
    }
    if (dim == 3) {
        for (int k = 0; k < 9; k++) between(coarse + 3 * k, 1, rows + 4 * k, 1);
        for (int x = 0; x < 3; x++)
            for (int z = 0; z < 4; z++) between(rows + 12 * x + z, 4, sheets + 16 * x + z, 4);
        for (int k = 0; k < 16; k++) between(sheets + k, 16, all + k, 16);
    } else {
        for (int k = 0; k < 3; k++) between(coarse + 3 * k, 1, rows + 4 * k, 1);
        for (int k = 0; k < 4; k++) between(rows + k, 4, all + k, 4);
    }
    real *x = l->x + (size_t)block * (size_t)nodes * NODE;
    for (int n = 0; n < nodes; n++) {
        store(x + n * NODE, j->number == 0 ? all[n] : load(x + n * NODE) + all[n]);
    }
}

static void prolong_task(void *context, int64_t block, int32_t thread)
{
    (void)thread;
    const job *j = context;
    if (j->m->dim == 3) {
        prolong_block(j, 3, block);
    } else {
        prolong_block(j, 2, block);
    }
}

/* ---- smoothing: block Gauss-Seidel, colour by colour ---- */

/* The parities of a node's place, a bit per axis. */
INLINE int colour_of(const int dim, int n)
{
    const int z = n & 1, y = n >> 2 & 1, x = n >> 4 & 1;
    return dim == 3 ? x << 2 | y << 1 | z : y << 1 | z;
}

/* Lists neighbours of a colour's nodes; returns how many. */
static int list_some(int dim, int colour, some which, uint8_t list[AROUND])
{
    int count = 0;
    for (int k = 0; k < firn_pow(3, dim); k++) {
        int step[AXES], other = 0;
        split(k, dim, 3, step);
        for (int a = 0; a < dim; a++) other = 2 * other + (step[a] != 1);
        other ^= colour;
        if (other == colour || (which == LOWER && other > colour)) continue;
        if (which == HIGHER && other < colour) continue;
        list[count++] = (uint8_t)k;
    }
    return count;
}

/* A row's sum over listed neighbours of coefficient times x. */
INLINE vec neighbours(const firn_coarse *m, const firn_coarse_level *l, const int dim,
                      int64_t block, int n, const uint8_t *list, int count)
{
    const int nodes = dim == 3 ? 64 : 16, around = dim == 3 ? 27 : 9;
    const real *stencil =
        l->stencil + ((size_t)block * (size_t)nodes + (size_t)n) * (size_t)(around * MATRIX);
    const int32_t *blocks = l->around[block];
    vec sum = {0};
    for (int i = 0; i < count; i++) {
        const real *x = l->x + node_of(nodes, blocks, m->next[n][list[i]]) * NODE;
        sum += times(stencil + list[i] * MATRIX, x, dim);
    }
    return sum;
}

INLINE void smooth_block(const job *j, const int dim, int64_t block)
{
    const firn_coarse_level *l = j->level;
    const int nodes = dim == 3 ? 64 : 16;
    const uint8_t *list = j->list[j->which][j->colour];
    const int count = j->count[j->which][j->colour];
    for (int n = 0; n < nodes; n++) {
        const size_t at = (size_t)block * (size_t)nodes + (size_t)n;
        if (colour_of(dim, n) != j->colour || !(l->mass[at * NODE] > 0)) continue;
        const vec rest = load(l->b + at * NODE) - neighbours(j->m, l, dim, block, n, list, count);
        real left[NODE];
        store(left, rest);
        store(l->x + at * NODE, times(l->inverse + at * MATRIX, left, dim));
    }
}

static void smooth_task(void *context, int64_t block, int32_t thread)
{
    (void)thread;
    const job *j = context;
    if (j->m->dim == 3) {
        smooth_block(j, 3, block);
    } else {
        smooth_block(j, 2, block);
    }
}

/* What the first sweep leaves of b: of every row, what came after it. */
INLINE void residual_block(const job *j, const int dim, int64_t block)
{
    const firn_coarse_level *l = j->level;
    const int nodes = dim == 3 ? 64 : 16;
    for (int n = 0; n < nodes; n++) {
        const size_t at = (size_t)block * (size_t)nodes + (size_t)n;
        const int c = colour_of(dim, n);
        if (!(l->mass[at * NODE] > 0)) continue;
        store(l->r + at * NODE,
              -neighbours(j->m, l, dim, block, n, j->list[HIGHER][c], j->count[HIGHER][c]));
    }
}

static void residual_task(void *context, int64_t block, int32_t thread)
{
    (void)thread;
    const job *j = context;
    if (j->m->dim == 3) {
        residual_block(j, 3, block);
    } else {
        residual_block(j, 2, block);
    }
}

/* A sweep over all colours, or back; the first starts from x = 0, of which nothing need be written. */
static void sweep(job *j, const firn_coarse_level *l, bool back, some which)
{
    const int colours = 1 << j->m->dim;
    j->which = which;
    for (int c = 0; c < colours; c++) {
        j->colour = back ? colours - 1 - c : c;
        run(j, l, smooth_task);
    }
}

static job make_job(const firn_coarse *m)
{
    job j = {.m = m};
    for (int k = 0; k < firn_pow(3, m->dim); k++) j.weight[k] = weight_of(m->dim, k);
    for (some w = 0; w < SOMES; w++)
        for (int c = 0; c < 1 << m->dim; c++) j.count[w][c] = list_some(m->dim, c, w, j.list[w][c]);
    return j;
}

static void cycle(job *j, int n)
{
    const firn_coarse_level *l = &j->m->level[n];
    const bool coarsest = n == j->m->levels - 1;
    if (n > 0) sweep(j, l, false, LOWER);
    if (coarsest) {
        for (int s = 1; s < COARSEST_SWEEPS; s++) sweep(j, l, false, ALL);
        for (int s = 1; s < COARSEST_SWEEPS; s++) sweep(j, l, true, ALL);
    } else {
        if (n > 0) run(j, l, residual_task);
        j->from = n > 0 ? l->r : l->b;
        j->to = l[1].b;
        run(j, l + 1, restrict_task);
        cycle(j, n + 1);
        j->number = n;
        run(j, l, prolong_task);
    }
    if (n > 0) sweep(j, l, true, ALL);
}

void firn_coarse_cycle(firn_coarse *m)
{
    job j = make_job(m);
    cycle(&j, 0);
}

/* ---- setting up ---- */

/* Blocks by place, in an open table; those of a level are numbered as they are first met. */
typedef struct finder {
    int32_t *slot;
    size_t mask;
    int32_t (*place)[4];
    int32_t count, room;
} finder;

static int32_t find_place(finder *f, const int32_t place[4], bool add)
{
    uint64_t hash = 0;
    for (int a = 0; a < 4; a++) {
        hash = (hash ^ (uint32_t)place[a]) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    size_t at = (size_t)hash & f->mask;
    while (f->slot[at] >= 0) {
        if (memcmp(f->place[f->slot[at]], place, sizeof f->place[0]) == 0) return f->slot[at];
        at = (at + 1) & f->mask;
    }
    if (!add) return -1;
    memcpy(f->place[f->count], place, sizeof f->place[0]);
    f->slot[at] = f->count;
    return f->count++;
}

static void clear_finder(finder *f)
{
    f->count = 0;
    memset(f->slot, -1, (f->mask + 1) * sizeof *f->slot);
}

/* The place of a block of the level after: of which of the nodes around, a bit per axis. */
static void place_above(const int32_t place[4], int dim, int which, int32_t out[4])
{
    memcpy(out, place, 4 * sizeof *out);
    for (int a = 0; a < dim; a++) out[a] = (place[a] >> 1) + (which >> (dim - 1 - a) & 1);
}

/* Whether a block's nodes reach that block of the level after. */
static bool reaches(const int32_t place[4], int dim, int which)
{
    for (int a = 0; a < dim; a++) {
        if ((which >> (dim - 1 - a) & 1) && !(place[a] & 1)) return false;
    }
    return true;
}

static void cut_level(const firn_coarse *m, firn_coarse_level *l, bool finest, firn_cutter *c)
{
    const size_t blocks = (size_t)l->count + 1, nodes = blocks * (size_t)m->nodes,
                 vector = nodes * NODE * sizeof(real);
    l->around = firn_cut(c, blocks * sizeof *l->around);
    l->finer = firn_cut(c, blocks * sizeof *l->finer);
    l->coarser = firn_cut(c, blocks * sizeof *l->coarser);
    l->lame = firn_cut(c, 2 * nodes * sizeof(real));
    l->mass = firn_cut(c, vector);
    l->shear = firn_cut(c, vector);
    l->x = firn_cut(c, vector);
    l->b = firn_cut(c, vector);
    l->r = NULL;
    if (finest) return;
    l->r = firn_cut(c, vector);
    l->stencil = firn_cut(c, nodes * (size_t)firn_pow(3, m->dim) * MATRIX * sizeof(real));
    l->inverse = firn_cut(c, nodes * MATRIX * sizeof(real));
}

static void clear_level(const firn_coarse *m, const firn_coarse_level *l)
{
    const size_t nodes = ((size_t)l->count + 1) * (size_t)m->nodes,
                 vector = nodes * NODE * sizeof(real);
    memset(l->lame, 0, 2 * nodes * sizeof(real));
    if (l->r) memset(l->r, 0, vector);
    real *const all[] = {l->mass, l->shear, l->x, l->b};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) memset(all[i], 0, vector);
}

/* The blocks around a place, or around twice the place, of the level that the finder holds. */
static void link_around(finder *f, int dim, int32_t missing, const int32_t place[4], int scale,
                        int32_t out[AROUND])
{
    for (int k = 0; k < AROUND; k++) out[k] = missing;
    for (int k = 0; k < firn_pow(3, dim); k++) {
        int step[AXES];
        int32_t at[4] = {0, 0, 0, place[3]};
        split(k, dim, 3, step);
        for (int a = 0; a < dim; a++) at[a] = scale * place[a] + step[a] - 1;
        const int32_t found = find_place(f, at, false);
        if (found >= 0) out[k] = found;
    }
}

firn_status firn_coarse_reserve(firn_coarse *m, const firn_directory *d, double most,
                                const firn_workers *workers, const firn_allocator *allocator,
                                firn_error *error)
{
    const int dim = d->dim, corners = 1 << dim;
    m->dim = dim;
    m->nodes = firn_pow(FIRN_BLOCK, dim);
    m->workers = workers;
    m->levels = 2;
    while (m->levels < FIRN_COARSE_LEVELS && most > 4 * pow(4, m->levels)) m->levels++;
    /* A level has at most as many blocks as the one before, and 2^dim for each that is apart. */
    size_t room = 0, table = 1, most_blocks = (size_t)d->count;
    for (int n = 0; n < m->levels; n++) {
        room += most_blocks + 1;
        if (n == 0) most_blocks *= (size_t)corners;
    }
    while (table < 2 * most_blocks) table *= 2;
    firn_status st = firn_pool_renew(allocator, &m->table_pool,
                                     room * sizeof(int32_t[4]) + table * sizeof(int32_t), error);
    if (st != FIRN_OK) return st;
    int32_t(*place)[4] = m->table_pool.data;
    finder f = {.slot = (int32_t *)(place + room), .mask = table - 1};

    /* Where the blocks of each level are. */
    m->level[0].count = d->count;
    m->level[0].place = place;
    for (int32_t b = 0; b < d->count; b++) {
        memcpy(place[b], d->coord[b], sizeof d->coord[b]);
        if (dim == 2) place[b][2] = 0;
        place[b][3] = firn_directory_layer(d, b);
    }
    for (int n = 1; n < m->levels; n++) {
        const firn_coarse_level *l = &m->level[n - 1];
        f.place = m->level[n].place = l->place + l->count;
        clear_finder(&f);
        for (int32_t b = 0; b < l->count; b++) {
            for (int w = 0; w < corners; w++) {
                int32_t at[4];
                place_above(l->place[b], dim, w, at);
                if (reaches(l->place[b], dim, w)) (void)find_place(&f, at, true);
            }
        }
        m->level[n].count = f.count;
    }
    firn_cutter c = {0};
    for (int n = 0; n < m->levels; n++) cut_level(m, &m->level[n], n == 0, &c);
    st = firn_pool_renew(allocator, &m->pool, c.used, error);
    if (st != FIRN_OK) return st;
    c = (firn_cutter){.base = m->pool.data};
    for (int n = 0; n < m->levels; n++) cut_level(m, &m->level[n], n == 0, &c);

    /* Which is where of which. */
    for (int n = 0; n < m->levels; n++) {
        firn_coarse_level *l = &m->level[n];
        f.place = l->place;
        clear_finder(&f);
        for (int32_t b = 0; b < l->count; b++) (void)find_place(&f, l->place[b], true);
        for (int32_t b = 0; b < l->count; b++) {
            link_around(&f, dim, l->count, l->place[b], 1, l->around[b]);
        }
        if (n + 1 < m->levels) {
            for (int32_t b = 0; b < l[1].count; b++) {
                link_around(&f, dim, l->count, l[1].place[b], 2, l[1].finer[b]);
            }
        }
        if (n > 0) {
            firn_coarse_level *below = l - 1;
            for (int32_t b = 0; b < below->count; b++) {
                for (int w = 0; w < corners; w++) {
                    int32_t at[4];
                    place_above(below->place[b], dim, w, at);
                    const int32_t found = find_place(&f, at, false);
                    below->coarser[b][w] = found >= 0 ? found : l->count;
                }
            }
        }
        clear_level(m, l);
    }
    fill_tables(m);
    return FIRN_OK;
}

/* Elements of a level get what is in them. A particle's lowest node is one below the node nearest to
 * it, so those that count at one node of the finest level are around the next. */
static void lame_task(void *context, int64_t block, int32_t thread)
{
    (void)thread;
    const job *j = context;
    const firn_coarse *m = j->m;
    const bool first = j->number == 1;
    const firn_coarse_level *l = j->level;
    for (int n = 0; n < m->nodes; n++) {
        real sum[2] = {0};
        for (int k = 0; k < firn_pow(3, m->dim); k++) {
            int step[AXES];
            split(k, m->dim, 3, step);
            bool within = true;
            for (int a = 0; a < m->dim; a++) within &= step[a] > 0;
            if (!first && !within) continue;
            const real weight = first ? j->weight[k] : 1;
            const size_t from = node_of(m->nodes, l->finer[block], m->below[n][k]);
            for (int i = 0; i < 2; i++) sum[i] += weight * l[-1].lame[2 * from + (size_t)i];
        }
        memcpy(l->lame + 2 * ((size_t)block * (size_t)m->nodes + (size_t)n), sum, sizeof sum);
    }
}

/* The stiffness of a cube of nodes h apart, by two Gauss points per axis. */
static void make_element(job *j, double h)
{
    const int dim = j->m->dim, corners = 1 << dim;
    double sum[2][CORNERS][CORNERS][AXES][AXES] = {{{{{0}}}}};
    for (int g = 0; g < corners; g++) {
        double gradient[CORNERS][AXES] = {{0}};
        for (int i = 0; i < corners; i++) {
            for (int a = 0; a < dim; a++) {
                gradient[i][a] = 1 / h;
                for (int b = 0; b < dim; b++) {
                    const double x = 0.5 + ((g >> b & 1) ? 1 : -1) * 0.5 / sqrt(3.0);
                    const bool up = i >> (dim - 1 - b) & 1;
                    gradient[i][a] *= b == a ? (up ? 1 : -1) : (up ? x : 1 - x);
                }
            }
        }
        for (int p = 0; p < corners; p++)
            for (int q = 0; q < corners; q++) {
                double dot = 0;
                for (int a = 0; a < dim; a++) dot += gradient[p][a] * gradient[q][a] / corners;
                for (int a = 0; a < dim; a++) {
                    sum[1][p][q][a][a] += dot;
                    for (int b = 0; b < dim; b++) {
                        sum[0][p][q][a][b] += gradient[p][a] * gradient[q][b] / corners;
                        sum[1][p][q][a][b] += gradient[p][b] * gradient[q][a] / corners;
                    }
                }
            }
    }
    memset(j->element, 0, sizeof j->element);
    for (int i = 0; i < 2; i++)
        for (int p = 0; p < corners; p++)
            for (int q = 0; q < corners; q++)
                for (int a = 0; a < dim; a++)
                    for (int b = 0; b < dim; b++)
                        j->element[i][p][q][b * NODE + a] = (real)sum[i][p][q][a][b];
}

/* The inverse of a symmetric matrix, that of a number where there is nothing else. */
static void invert(const real *in, int dim, real *out)
{
    double m[AXES][AXES] = {{0}};
    for (int a = 0; a < AXES; a++)
        for (int b = 0; b < AXES; b++)
            m[a][b] = a < dim && b < dim ? (double)in[b * NODE + a] : a == b;
    double cofactor[AXES][AXES];
    for (int a = 0; a < AXES; a++)
        for (int b = 0; b < AXES; b++) {
            const int a1 = (a + 1) % AXES, a2 = (a + 2) % AXES, b1 = (b + 1) % AXES,
                      b2 = (b + 2) % AXES;
            cofactor[a][b] = m[a1][b1] * m[a2][b2] - m[a1][b2] * m[a2][b1];
        }
    const double det =
        m[0][0] * cofactor[0][0] + m[0][1] * cofactor[0][1] + m[0][2] * cofactor[0][2];
    for (int a = 0; a < dim; a++)
        for (int b = 0; b < dim; b++) out[b * NODE + a] = (real)(cofactor[b][a] / det);
}

static void stencil_task(void *context, int64_t block, int32_t thread)
{
    (void)thread;
    const job *j = context;
    const firn_coarse *m = j->m;
    const firn_coarse_level *l = j->level;
    const int dim = m->dim, corners = 1 << dim, around = firn_pow(3, dim);
    for (int n = 0; n < m->nodes; n++) {
        const size_t at = (size_t)block * (size_t)m->nodes + (size_t)n;
        real *stencil = l->stencil + at * (size_t)(around * MATRIX),
             *inverse = l->inverse + at * MATRIX;
        memset(stencil, 0, (size_t)(around * MATRIX) * sizeof(real));
        memset(inverse, 0, MATRIX * sizeof(real));
        const real *mass = l->mass + at * NODE, *shear = l->shear + at * NODE;
        if (!(mass[0] > 0)) continue;
        for (int p = 0; p < corners; p++) { /* the node is corner p of an element */
            int below[AXES], k = 0;
            for (int a = 0; a < dim; a++) {
                below[a] = 1 - (p >> (dim - 1 - a) & 1);
                k = 3 * k + below[a];
            }
            const real *lame = l->lame + 2 * node_of(m->nodes, l->around[block], m->next[n][k]);
            if (lame[0] == 0 && lame[1] == 0) continue;
            for (int q = 0; q < corners; q++) {
                int to = 0;
                for (int a = 0; a < dim; a++) {
                    to = 3 * to + below[a] + (q >> (dim - 1 - a) & 1);
                }
                real *s = stencil + to * MATRIX;
                const real *one = j->element[0][p][q], *two = j->element[1][p][q];
                for (int c = 0; c < MATRIX; c += NODE) {
                    store(s + c, load(s + c) + j->factor * (lame[0] * load(one + c) +
                                                            lame[1] * load(two + c)));
                }
            }
        }
        real *middle = stencil + around / 2 * MATRIX;
        for (int a = 0; a < dim; a++) middle[a * NODE + a] += mass[a];
        middle[1] += shear[0];
        middle[NODE] += shear[0];
        if (dim == 3) {
            middle[2] += shear[1];
            middle[2 * NODE] += shear[1];
            middle[NODE + 2] += shear[2];
            middle[2 * NODE + 1] += shear[2];
        }
        invert(middle, dim, inverse);
    }
}

void firn_coarse_setup(firn_coarse *m, double cell_size, double factor)
{
    job j = make_job(m);
    j.factor = (real)factor;
    for (int n = 1; n < m->levels; n++) {
        const firn_coarse_level *l = &m->level[n];
        j.number = n;
        j.from = l[-1].mass;
        j.to = l->mass;
        run(&j, l, restrict_task);
        j.from = l[-1].shear;
        j.to = l->shear;
        run(&j, l, restrict_task);
        run(&j, l, lame_task);
        make_element(&j, ldexp(cell_size, n));
        run(&j, l, stencil_task);
    }
}

void firn_coarse_free(firn_coarse *m, const firn_allocator *allocator)
{
    firn_pool_free(allocator, &m->pool);
    firn_pool_free(allocator, &m->table_pool);
}
