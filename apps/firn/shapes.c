/* Bodies of an exact number of particles, the same in every run: blocks, balls and a creature, on
 * a lattice or at random.
 *
 * A figure is scaled to the volume of its particles; the lattice points that lie deepest inside
 * are taken, so the count is exact. */
#include "shapes.h"

#include <math.h>
#include <stdlib.h>

/* ---- the list ---- */

static bool reserve(firn_seeds *seeds, int64_t more)
{
    const int64_t needed = seeds->count + more;
    if (needed <= seeds->capacity) return true;
    const size_t n = (size_t)needed;
    double *position = realloc(seeds->position, n * 3 * sizeof *position);
    if (position) seeds->position = position;
    double *velocity = realloc(seeds->velocity, n * 3 * sizeof *velocity);
    if (velocity) seeds->velocity = velocity;
    uint16_t *material = realloc(seeds->material, n * sizeof *material);
    if (material) seeds->material = material;
    if (!position || !velocity || !material) return false;
    seeds->capacity = needed;
    return true;
}

static void append(firn_seeds *seeds, const firn_body *body, const double offset[3])
{
    const int64_t i = seeds->count++;
    for (int a = 0; a < 3; a++) {
        seeds->position[3 * i + a] = body->center[a] + offset[a];
        seeds->velocity[3 * i + a] = body->velocity[a];
    }
    seeds->material[i] = body->material;
}

void firn_seeds_free(firn_seeds *seeds)
{
    free(seeds->position);
    free(seeds->velocity);
    free(seeds->material);
    *seeds = (firn_seeds){0};
}

firn_status firn_seeds_add(const firn_seeds *seeds, double spacing, firn_sim *sim,
                           firn_error *error)
{
    firn_particles p = firn_particles_default();
    p.count = seeds->count;
    p.position = seeds->position;
    p.velocity = seeds->velocity;
    p.material = seeds->material;
    p.each_volume = spacing * spacing * spacing;
    return firn_sim_add(sim, &p, NULL, error);
}

void firn_seeds_spin(firn_seeds *seeds, const double center[3], const double omega[3])
{
    for (int64_t i = 0; i < seeds->count; i++) {
        double r[3], *v = &seeds->velocity[3 * i];
        for (int a = 0; a < 3; a++) r[a] = seeds->position[3 * i + a] - center[a];
        for (int a = 0; a < 3; a++) {
            const int b = (a + 1) % 3, c = (a + 2) % 3;
            v[a] += omega[b] * r[c] - omega[c] * r[b];
        }
    }
}

/* The n-th of a fixed sequence of numbers in [0, 1): splitmix64 (Steele et al. 2014). */
static double chance(uint64_t n)
{
    uint64_t z = (n + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/* ---- blocks ---- */

bool firn_seeds_block(firn_seeds *seeds, const firn_body *body, const int32_t size[3],
                      int64_t count, double jitter)
{
    if (!reserve(seeds, count)) return false;
    for (int64_t n = 0; n < count; n++) {
        const int64_t at[3] = {n % size[0], n / size[0] / size[2], n / size[0] % size[2]};
        double offset[3];
        for (int a = 0; a < 3; a++) {
            const double shift = jitter * (chance(3 * (uint64_t)n + (uint64_t)a) - 0.5);
            offset[a] = body->spacing * ((double)at[a] + 0.5 + shift - 0.5 * size[a]);
        }
        append(seeds, body, offset);
    }
    return true;
}

/* ---- figures ---- */

/* About the signed distance to an ellipsoid: exact for a ball, of the right sign for all. */
static double ellipsoid(const double p[3], const double c[3], const double radius[3])
{
    double k0 = 0, k1 = 0;
    for (int a = 0; a < 3; a++) {
        const double q = (p[a] - c[a]) / radius[a];
        k0 += q * q;
        k1 += q * q / (radius[a] * radius[a]);
    }
    if (k1 == 0) return -fmin(radius[0], fmin(radius[1], radius[2]));
    return sqrt(k0) * (sqrt(k0) - 1) / sqrt(k1);
}

static double capsule(const double p[3], const double from[3], const double to[3], double radius)
{
    double along = 0, length2 = 0;
    for (int a = 0; a < 3; a++) {
        along += (p[a] - from[a]) * (to[a] - from[a]);
        length2 += (to[a] - from[a]) * (to[a] - from[a]);
    }
    const double t = fmin(1, fmax(0, along / length2));
    double d2 = 0;
    for (int a = 0; a < 3; a++) {
        const double d = p[a] - from[a] - t * (to[a] - from[a]);
        d2 += d * d;
    }
    return sqrt(d2) - radius;
}

static double ball_distance(const double p[3])
{
    return sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]) - 1;
}

/* One part of the creature: an ellipsoid, or a capsule of radius size[0] from `at` to `to`. */
typedef struct part {
    const char *name;
    double at[3], size[3], to[3];
    bool capsule;
} part;

/* Crouches, looking along +x, on a broad base: thin legs of soft jelly would give way under it.
 * Symmetric in z: only the half z >= 0 is written down. */
static const part creature[] = {
    {.name = "body", .at = {-0.15, -0.12, 0}, .size = {0.60, 0.48, 0.44}},
    {.name = "chest", .at = {0.25, -0.10, 0}, .size = {0.36, 0.40, 0.32}},
    {.name = "haunch", .at = {-0.35, -0.32, 0.30}, .size = {0.32, 0.28, 0.18}},
    {.name = "neck", .at = {0.28, 0.10, 0}, .to = {0.46, 0.34, 0}, .size = {0.20}, .capsule = true},
    {.name = "head", .at = {0.48, 0.36, 0}, .size = {0.30, 0.26, 0.25}},
    {.name = "ear", .at = {0.38, 0.86, 0.14}, .size = {0.06, 0.42, 0.11}},
    {.name = "tail", .at = {-0.78, -0.20, 0}, .size = {0.13, 0.13, 0.13}},
    {.name = "hind foot",
     .at = {-0.30, -0.50, 0.34},
     .to = {0.08, -0.50, 0.34},
     .size = {0.10},
     .capsule = true},
    {.name = "fore foot",
     .at = {0.36, -0.30, 0.16},
     .to = {0.46, -0.50, 0.18},
     .size = {0.10},
     .capsule = true},
};

static double creature_distance(const double p[3])
{
    const double q[3] = {p[0], p[1], fabs(p[2])};
    double least = INFINITY;
    for (size_t i = 0; i < sizeof creature / sizeof *creature; i++) {
        const part *c = &creature[i];
        least = fmin(least, c->capsule ? capsule(q, c->at, c->to, c->size[0])
                                       : ellipsoid(q, c->at, c->size));
    }
    return least;
}

static const struct {
    double (*distance)(const double p[3]);
    double low[3], high[3]; /* bounds */
} figures[] = {
    [FIRN_FIGURE_BALL] = {ball_distance, {-1, -1, -1}, {1, 1, 1}},
    [FIRN_FIGURE_CREATURE] = {creature_distance, {-0.92, -0.61, -0.49}, {0.80, 1.29, 0.49}},
};

/* The factor by which a figure grows to the volume of `count` particles. */
static double figure_scale(firn_figure figure, int64_t count, double spacing)
{
    enum { FINE = 96 };
    const double *low = figures[figure].low, *high = figures[figure].high;
    int64_t inside = 0;
    double cell = 1;
    for (int a = 0; a < 3; a++) cell *= (high[a] - low[a]) / FINE;
    for (int64_t n = 0; n < (int64_t)FINE * FINE * FINE; n++) {
        const int64_t at[3] = {n % FINE, n / FINE % FINE, n / FINE / FINE};
        double p[3];
        for (int a = 0; a < 3; a++) {
            p[a] = low[a] + (high[a] - low[a]) * ((double)at[a] + 0.5) / FINE;
        }
        if (figures[figure].distance(p) < 0) inside++;
    }
    return spacing * cbrt((double)count / ((double)inside * cell));
}

double firn_figure_depth(firn_figure figure, int64_t count, double spacing)
{
    return -figures[figure].low[1] * figure_scale(figure, count, spacing);
}

typedef struct candidate {
    double distance;
    int64_t index; /* on the lattice: settles ties */
} candidate;

static int compare(const void *left, const void *right)
{
    const candidate *a = left, *b = right;
    if (a->distance != b->distance) return a->distance < b->distance ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

/* The lattice over a figure's bounds, with two points of margin because ranking rounds the size. */
typedef struct lattice {
    int64_t first[3], size[3];
    double spacing;
} lattice;

static lattice lattice_over(firn_figure figure, double scale, double spacing)
{
    lattice l = {.spacing = spacing};
    for (int a = 0; a < 3; a++) {
        l.first[a] = (int64_t)floor(figures[figure].low[a] * scale / spacing) - 2;
        l.size[a] = (int64_t)ceil(figures[figure].high[a] * scale / spacing) + 2 - l.first[a];
    }
    return l;
}

static void lattice_point(const lattice *l, int64_t n, double p[3])
{
    const int64_t at[3] = {n % l->size[0], n / l->size[0] % l->size[1],
                           n / l->size[0] / l->size[1]};
    for (int a = 0; a < 3; a++) p[a] = ((double)(l->first[a] + at[a]) + 0.5) * l->spacing;
}

static bool fill_lattice(firn_seeds *seeds, const firn_body *body, firn_figure figure, double scale,
                         int64_t count)
{
    const lattice l = lattice_over(figure, scale, body->spacing);
    const int64_t points = l.size[0] * l.size[1] * l.size[2];
    candidate *rank = malloc((size_t)points * sizeof *rank);
    if (!rank) return false;
    for (int64_t n = 0; n < points; n++) {
        double p[3];
        lattice_point(&l, n, p);
        for (int a = 0; a < 3; a++) p[a] /= scale;
        rank[n] = (candidate){figures[figure].distance(p), n};
    }
    qsort(rank, (size_t)points, sizeof *rank, compare);
    for (int64_t i = 0; i < count; i++) {
        double p[3];
        lattice_point(&l, rank[i].index, p);
        append(seeds, body, p);
    }
    free(rank);
    return true;
}

static void fill_random(firn_seeds *seeds, const firn_body *body, firn_figure figure, double scale,
                        int64_t count)
{
    const double *low = figures[figure].low, *high = figures[figure].high;
    uint64_t draw = 0;
    for (int64_t found = 0; found < count;) {
        double p[3];
        for (int a = 0; a < 3; a++) p[a] = low[a] + (high[a] - low[a]) * chance(draw++);
        if (figures[figure].distance(p) >= 0) continue;
        for (int a = 0; a < 3; a++) p[a] *= scale;
        append(seeds, body, p);
        found++;
    }
}

bool firn_seeds_figure(firn_seeds *seeds, const firn_body *body, firn_figure figure, int64_t count)
{
    if (!reserve(seeds, count)) return false;
    const double scale = figure_scale(figure, count, body->spacing);
    if (!body->random) return fill_lattice(seeds, body, figure, scale, count);
    fill_random(seeds, body, figure, scale, count);
    return true;
}
