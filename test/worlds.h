/* Small worlds for the tests of the sim, and the asserts they share.
 *
 * A world is a def together with the arrays it points to: change what differs, then create.
 * Everything random comes from `random_state`, so that a seed names a world. */
#ifndef FIRN_TEST_WORLDS_H
#define FIRN_TEST_WORLDS_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <firn/firn.h>

#include "compounds.h"
#include "meshes.h"
#include "random.h"

/* ---- asserts that print both values; a NaN fails ---- */

static inline void close_at(double got, double want, double tolerance, const char *what,
                            const char *file, int line)
{
    if (fabs(got - want) <= tolerance) return;
    print_error("%s is %.17g, not %.17g within %g\n", what, got, want, tolerance);
    _fail(file, line);
}
#define assert_close(got, want, tolerance)                                                         \
    close_at((got), (want), (tolerance), #got, __FILE__, __LINE__)

static inline void at_most_at(double got, double bound, const char *what, const char *file,
                              int line)
{
    if (got <= bound) return;
    print_error("%s is %.17g, above %.17g\n", what, got, bound);
    _fail(file, line);
}
#define assert_at_most(got, bound) at_most_at((got), (bound), #got, __FILE__, __LINE__)

static inline void ok_at(firn_status st, const firn_error *error, const char *what,
                         const char *file, int line)
{
    if (st == FIRN_OK) return;
    print_error("%s: %s: %s\n", what, firn_status_name(st), error->message);
    _fail(file, line);
}
/* The call takes &error, which this declares. */
#define assert_ok(call)                                                                            \
    do {                                                                                           \
        firn_error error = {0};                                                                    \
        ok_at((call), &error, #call, __FILE__, __LINE__);                                          \
    } while (0)

/* Table-driven tests go on after a failure, so that one run lists them all. */
static inline int *complaint_count(void)
{
    static int count;
    return &count;
}
#define complain(...) (++*complaint_count(), print_error(__VA_ARGS__))
#define assert_no_complaints()                                                                     \
    do {                                                                                           \
        const int found_ = *complaint_count();                                                     \
        *complaint_count() = 0;                                                                    \
        assert_int_equal(found_, 0);                                                               \
    } while (0)

/* ---- paths ---- */

static const firn_path both_paths[] = {FIRN_PATH_PLAIN, FIRN_PATH_FUSED};
#ifdef FIRN_DOUBLE
enum { PATHS = 1 }; /* there is no fused path in double precision */
#else
enum { PATHS = 2 };
#endif

static inline const char *path_name(firn_path path)
{
    return path == FIRN_PATH_FUSED ? "fused" : "plain";
}

/* ---- worlds ---- */

typedef struct world {
    firn_sim_def def;
    firn_material_def material[4];
    firn_collider_def collider[4];
    firn_pose_key key[4][4]; /* of each collider; its key_count says how many */
    firn_acceleration_key force[8];
} world;

/* One neo-Hookean material, no gravity, no colliders; others are there to be counted in. One
 * thread: test_determinism.c says that more make no difference, and tests run side by side. */
static inline world world_default(int dimension, double cell_size)
{
    world w = {.def = firn_sim_def_default()};
    w.def.dimension = dimension;
    w.def.cell_size = cell_size;
    w.def.gravity[1] = 0;
    w.def.material_count = 1;
    w.def.threads = 1;
    for (int i = 0; i < 4; i++) {
        w.material[i] = firn_material_def_default();
        w.collider[i] = firn_collider_def_default();
    }
    return w;
}

/* Lets the def point to the arrays beside it, all but the keys. */
static inline void world_point(world *w)
{
    w->def.materials = w->material;
    w->def.colliders = w->collider;
    w->def.forces = w->force;
}

static inline firn_sim *world_create(world *w)
{
    firn_sim *sim = NULL;
    world_point(w);
    for (int i = 0; i < 4; i++) w->collider[i].keys = w->collider[i].key_count ? w->key[i] : NULL;
    assert_ok(firn_sim_create(&w->def, &sim, &error));
    assert_non_null(sim);
    return sim;
}

/* A source that covers all there is. */
static inline firn_heat_source everywhere(double power, double begin, double end)
{
    firn_heat_source source = {firn_collider_def_default(), power, begin, end};
    source.shape.shape = FIRN_BOX;
    for (int a = 0; a < 3; a++) source.shape.size[a] = 10;
    return source;
}

/* Makes it a shape of around 8 cells of 2 cm. */
static inline void set_shape(firn_collider_def *c, int shape)
{
    static const double outline[] = {-0.08, -0.06, 0.08, -0.06, 0.02, 0, 0.06, 0.08, -0.06, 0.08};
    static const double size[FIRN_SHAPE_COUNT][3] = {
        [FIRN_PLANE] = {1, 1, 1},           [FIRN_BOX] = {0.08, 0.06, 0.1},
        [FIRN_SPHERE] = {0.08, 1, 1},       [FIRN_CAPSULE] = {0.05, 0.07, 1},
        [FIRN_CYLINDER] = {0.07, 0.08, 1},  [FIRN_CONE] = {0.08, 0.16, 1},
        [FIRN_TORUS] = {0.06, 0.05, 1},     [FIRN_INSIDE] = {0.11, 0.1, 0.11},
        [FIRN_RING] = {0.09, 0.04, 1},      [FIRN_TUBE] = {0.09, 0.03, 0.08},
        [FIRN_FRUSTUM] = {0.09, 0.14, 0.05}};
    c->shape = (firn_shape_kind)shape;
    for (int a = 0; a < 3; a++) c->size[a] = size[shape][a] > 0 ? size[shape][a] : 0.08;
    c->points = outline;
    c->point_count = 5;
    c->mesh = octahedron(0.1);
    c->compound = two_boxes(0.1);
    if (c->shape == FIRN_ROUNDED_BOX) c->round = 0.02;
}

/* A block of particles: cells from `low` on, `per_axis` particles per cell and axis, each moved
 * by up to `jitter` of its spacing. Velocities are `velocity` plus `gradient` (row-major, may be
 * NULL) times the way from the block's middle; C is that gradient. */
typedef struct brick {
    int low[3], cells[3];
    int per_axis;
    double jitter;
    double velocity[3];
    const double *gradient;
    uint16_t material, object;
} brick;

static inline int64_t brick_count(int dimension, const brick *b)
{
    int64_t n = 1;
    for (int a = 0; a < dimension; a++) n *= b->cells[a] * b->per_axis;
    return n;
}

static inline firn_status brick_try_add(firn_sim *sim, const world *w, const brick *b,
                                        uint64_t *first_id, firn_error *error)
{
    const int d = w->def.dimension;
    const double h = w->def.cell_size, spacing = h / b->per_axis;
    const int64_t n = brick_count(d, b);
    double *x = malloc((size_t)(n * d) * sizeof *x), *v = malloc((size_t)(n * d) * sizeof *v);
    double *C = calloc((size_t)(n * d * d), sizeof *C);
    assert_true(x && v && C);
    for (int64_t i = 0; i < n; i++) {
        int64_t rest = i;
        double from_middle[3] = {0};
        for (int a = d - 1; a >= 0; a--) {
            const int64_t along = b->cells[a] * b->per_axis, at = rest % along;
            rest /= along;
            const double offset = ((double)at + 0.5 + uniform(-0.5, 0.5) * b->jitter) * spacing;
            x[i * d + a] = b->low[a] * h + offset;
            from_middle[a] = offset - 0.5 * b->cells[a] * h;
        }
        for (int a = 0; a < d; a++) {
            v[i * d + a] = b->velocity[a];
            for (int c = 0; b->gradient && c < d; c++) {
                v[i * d + a] += b->gradient[a * d + c] * from_middle[c];
                C[(i * d + a) * d + c] = b->gradient[a * d + c];
            }
        }
    }
    firn_particles p = firn_particles_default();
    p.count = n;
    p.position = x;
    p.velocity = v;
    p.velocity_gradient = C;
    p.each_volume = d == 2 ? spacing * spacing : spacing * spacing * spacing;
    p.each_material = b->material;
    p.each_object = b->object;
    firn_status st = firn_sim_add(sim, &p, first_id, error);
    free(x);
    free(v);
    free(C);
    return st;
}

static inline void brick_add(firn_sim *sim, const world *w, const brick *b)
{
    assert_ok(brick_try_add(sim, w, b, NULL, &error));
}

/* Two bodies of two laws, side by side in the same blocks, spinning onto the ground: a world, and
 * what to add to it. */
static inline world two_law_world(int dimension, firn_path path, const char *isa)
{
    world w = world_default(dimension, 0.02);
    w.def.path = path;
    w.def.isa = isa;
    w.def.gravity[1] = -9.81;
    w.def.dt = 5e-4;
    w.def.material_count = 2;
    w.material[0].young = 1e4;
    w.material[1].law = FIRN_FIXED_COROTATED;
    w.material[1].young = 3e4;
    w.material[1].poisson = 0.35;
    w.def.collider_count = 1;
    w.collider[0].position[1] = -0.0307;
    return w;
}

static const double spin_2d[] = {0, -6, 6, 1},
                    spin_3d[] = {0, -6, 2, 6, 1, -3, -2, 3, -1}; /* 1/s, for .gradient */

static inline void add_two_laws(firn_sim *sim, const world *w)
{
    random_state = 7;
    for (int m = 0; m < 2; m++) {
        const brick b = {.low = {-6 + 6 * m, 0, -3},
                         .cells = {6, 6, 5},
                         .per_axis = w->def.dimension == 2 ? 3 : 2,
                         .jitter = 0.7,
                         .velocity = {0.5, -2, 0.25},
                         .gradient = w->def.dimension == 2 ? spin_2d : spin_3d,
                         .material = (uint16_t)m};
        brick_add(sim, w, &b);
    }
}

/* ---- states ---- */

/* All of a field in id order; free it. */
static inline double *read_all(const firn_sim *sim, int dimension, firn_field field)
{
    const firn_field_info info = firn_field_get_info(field);
    const int64_t width = dimension == 2 ? info.components_2d : info.components_3d,
                  n = firn_sim_count(sim);
    double *out = malloc((size_t)(n * width + 1) * sizeof *out);
    assert_non_null(out);
    assert_ok(firn_sim_read(sim, field, 0, n, out, &error));
    return out;
}

/* Whether particles have the field: those of heat only where the sim has it. */
static inline bool has_field(const firn_sim *sim, int field)
{
    return !firn_field_get_info((firn_field)field).heat ||
           firn_sim_view(sim, (firn_field)field).data;
}

/* What the fields say of every particle, in id order: to compare across changes. */
typedef struct memo {
    int64_t count;
    double *field[FIRN_FIELD_COUNT];
} memo;

static inline memo remember(const firn_sim *sim, int d)
{
    memo m = {.count = firn_sim_count(sim)};
    for (int f = 0; f < FIRN_FIELD_COUNT; f++)
        if (has_field(sim, f)) m.field[f] = read_all(sim, d, (firn_field)f);
    return m;
}

static inline void forget(memo *m)
{
    for (int f = 0; f < FIRN_FIELD_COUNT; f++) free(m->field[f]);
}

static inline firn_hash hash_of(firn_sim *sim)
{
    firn_hash hash = {{0}};
    assert_ok(firn_sim_hash(sim, &hash, &error));
    return hash;
}
#define assert_same_hash(a, b)                                                                     \
    do {                                                                                           \
        const firn_hash a_ = (a), b_ = (b);                                                        \
        assert_memory_equal(&a_, &b_, sizeof a_);                                                  \
    } while (0)

static inline firn_totals totals_of(firn_sim *sim)
{
    firn_totals totals = {0};
    assert_ok(firn_sim_measure(sim, &totals, &error));
    return totals;
}

/* The name of the first field that holds a non-finite number, or NULL. */
static inline const char *nonfinite_field(const firn_sim *sim, int dimension)
{
    for (int f = 0; f < FIRN_FIELD_COUNT; f++) {
        if (!has_field(sim, f)) continue;
        const firn_field_info info = firn_field_get_info((firn_field)f);
        const int64_t n =
            firn_sim_count(sim) * (dimension == 2 ? info.components_2d : info.components_3d);
        double *value = read_all(sim, dimension, (firn_field)f);
        bool finite = true;
        for (int64_t i = 0; i < n; i++) finite = finite && isfinite(value[i]);
        free(value);
        if (!finite) return info.name;
    }
    return NULL;
}

/* Callbacks that do nothing. */
static inline void visit_nothing(void *user_data, const firn_grid_node *node)
{
    (void)user_data, (void)node;
}

static inline int keep_all(void *user_data, uint64_t id, const double position[3],
                           uint16_t material, uint16_t object)
{
    (void)user_data, (void)id, (void)position, (void)material, (void)object;
    return 1;
}

/* Mass on the grid: what the particles can still be found by. */
static inline void add_node_mass(void *user_data, const firn_grid_node *node)
{
    *(double *)user_data += node->mass;
}
static inline double grid_mass(firn_sim *sim)
{
    double mass = 0;
    assert_ok(firn_sim_visit_grid(sim, add_node_mass, &mass, &error));
    return mass;
}

#endif
