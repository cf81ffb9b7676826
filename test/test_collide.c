/* Colliders: every claim about distances walks the shape table, so a new row is tested at once.
 *
 * Three claims together pin a distance down: it is 1-Lipschitz (so |d| is no more than the way to
 * the surface), stepping by it lands on the surface (so no less), and its sign says what is
 * solid. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "collider/collider.h"
#include "meshes.h"
#include "compounds.h"

static const double pi = 3.14159265358979323846;

/* cmocka of Debian 12 compares floats in single precision: these print both values in full. */
#define assert_close(got, want, tolerance)                                                         \
    close_at((got), (want), (tolerance), #got, __FILE__, __LINE__)
static void close_at(double got, double want, double tolerance, const char *what, const char *file,
                     int line)
{
    if (fabs(got - want) <= tolerance) return; /* false for NaN */
    print_error("%s is %.17g, not %.17g within %g\n", what, got, want, tolerance);
    _fail(file, line);
}

#define assert_at_most(got, limit)                                                                 \
    do {                                                                                           \
        if (!((got) <= (limit))) {                                                                 \
            print_error("%s is %.17g, above %.17g\n", #got, (double)(got), (double)(limit));       \
            fail();                                                                                \
        }                                                                                          \
    } while (0)

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static double length(const double a[3]) { return sqrt(dot(a, a)); }

static uint64_t random_state;

static double uniform(double low, double high)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * (double)(random_state >> 11) / 9007199254740992.0;
}

static void random_point(double range, double p[3])
{
    for (int a = 0; a < 3; a++) p[a] = uniform(-range, range);
}

/* --- The cases: every shape at several sizes ------------------------------------------------- */

static const double sizes[][3] = {
    {0.7, 0.4, 0.9},  /* a ring with a hole; a flat cone and cylinder */
    {0.3, 1.1, 0.2},  /* a ring without (tube above ring); a steep cone */
    {1, 1, 1},        /* ties; a tube that just closes the hole */
    {1.2, 0.01, 0.5}, /* thin */
};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

static const double star[] = {0, 1, 0.2, 0.2, 1, 0, 0.2, -0.2, 0, -1, -0.2, -0.2, -1, 0, -0.2, 0.3};

static firn_collider_def def_of(int kind, const double size[3])
{
    firn_collider_def def = firn_collider_def_default();
    def.shape = (firn_shape_kind)kind;
    memcpy(def.size, size, sizeof def.size);
    def.points = star;
    def.point_count = 8;
    def.mesh = octahedron(0.9);
    def.compound = two_boxes(0.9);
    if (def.shape == FIRN_ROUNDED_BOX) def.round = 0.5 * fmin(size[0], fmin(size[1], size[2]));
    return def;
}

typedef void visit(const firn_posed_collider *c, int dimension);

/* Visits every shape, size and dimension; unmoved, and moved and turned. */
static void each_case(visit *claim)
{
    for (int kind = 0; kind < FIRN_SHAPE_COUNT; kind++)
        for (int s = 0; s < SIZES; s++)
            for (int dimension = 2; dimension <= 3; dimension++)
                for (int moved = 0; moved < 2; moved++) {
                    firn_collider_def def = def_of(kind, sizes[s]);
                    if (firn_shape_check(&def, NULL) != FIRN_OK) continue; /* see good_defs */
                    if (dimension == 2 && firn_shape_get(def.shape)->solid) continue;
                    if (moved) {
                        memcpy(def.position, (double[3]){0.3, -0.2, 0.5}, sizeof def.position);
                        memcpy(def.rotation, (double[4]){2, 0.3, -0.4, 1.5}, sizeof def.rotation);
                    }
                    firn_posed_collider c;
                    firn_collider_pose(&def, dimension, 0, &c);
                    random_state = (uint64_t)(kind * 100 + s);
                    claim(&c, dimension);
                }
}

#define about(c, dimension, p)                                                                     \
    print_error("%s %g %g %g in %dD at %.17g %.17g %.17g\n", (c)->shape->name,                     \
                (c)->values.size[0], (c)->values.size[1], (c)->values.size[2], dimension, (p)[0],  \
                (p)[1], (p)[2])

static double distance(const firn_posed_collider *c, int dimension, const double p[3])
{
    double n[3];
    return firn_collider_distance(c, dimension, p, n);
}

static void to_local(const firn_posed_collider *c, const double p[3], double local[3])
{
    for (int a = 0; a < 3; a++) {
        local[a] = 0;
        for (int b = 0; b < 3; b++) local[a] += c->rotation[b][a] * (p[b] - c->position[b]);
    }
}

static void to_world(const firn_posed_collider *c, const double local[3], double p[3])
{
    for (int a = 0; a < 3; a++) p[a] = c->position[a] + dot(c->rotation[a], local);
}

/* --- Distances and normals ------------------------------------------------------------------- */

static void every_row_is_complete_and_its_name_unique(void **state)
{
    (void)state;
    for (int k = 0; k < FIRN_SHAPE_COUNT; k++) {
        const firn_shape *row = firn_shape_get((firn_shape_kind)k);
        assert_int_equal(row->key[FIRN_SHAPE_KEYS].role, FIRN_KEY_NONE); /* the list ends */
        assert_non_null(row);
        assert_non_null(row->name);
        assert_non_null(row->distance);
        assert_in_range(row->size_count, 0, 3);
        assert_true(row->word[0] || row->word[1] || row->solid || k == FIRN_COMPOUND);
        assert_true(row->help && row->help[0]);
        assert_true(!row->bounded || (row->bounds && row->volume));
        for (int a = 0; a < row->size_count; a++) assert_non_null(row->size_name[a]);
        assert_ptr_equal(firn_shape_name((firn_shape_kind)k), row->name);
        for (int j = 0; j < k; j++)
            assert_string_not_equal(row->name, firn_shape_name((firn_shape_kind)j));
    }
    assert_null(firn_shape_get(FIRN_SHAPE_COUNT));
    assert_null(firn_shape_name(FIRN_SHAPE_COUNT));
    assert_null(firn_shape_name((firn_shape_kind)-1));
    assert_string_equal(firn_shape_name(FIRN_PLANE), "plane");
}

static void lipschitz_and_gradient(const firn_posed_collider *c, int dimension)
{
    int skipped = 0, count = 2000;
    for (int i = 0; i < count; i++) {
        double p[3], q[3], n[3], gradient[3] = {0};
        random_point(2, p);
        random_point(i % 2 ? 2 : 1e-3, q);
        if (i % 2 == 0)
            for (int a = 0; a < 3; a++) q[a] += p[a];
        double d = firn_collider_distance(c, dimension, p, n);
        double apart[3] = {q[0] - p[0], q[1] - p[1], dimension == 3 ? q[2] - p[2] : 0};
        if (!(fabs(distance(c, dimension, q) - d) <= length(apart) + 1e-14)) {
            about(c, dimension, p);
            about(c, dimension, q);
            fail_msg("the distance changes by more than the way between the points");
        }

        const double h = 1e-5;
        bool smooth = true;
        for (int a = 0; a < dimension; a++) {
            double side[3];
            memcpy(side, p, sizeof side);
            double there[2], nn[3];
            for (int k = 0; k < 2; k++) {
                side[a] = p[a] + (k ? h : -h);
                there[k] = firn_collider_distance(c, dimension, side, nn);
                smooth = smooth && dot(n, nn) > 0.999999;
            }
            gradient[a] = (there[1] - there[0]) / (2 * h);
        }
        if (!smooth) { /* an edge, an axis or the medial surface passes by */
            skipped++;
            continue;
        }
        for (int a = 0; a < 3; a++)
            if (!(fabs(gradient[a] - n[a]) <= 1e-5)) {
                about(c, dimension, p);
                fail_msg("gradient[%d] %.17g, normal %.17g", a, gradient[a], n[a]);
            }
        assert_close(length(gradient), 1, 1e-5);
    }
    assert_at_most(skipped, count / 50);
}

static void distance_is_one_lipschitz_and_matches_its_gradient(void **state)
{
    (void)state;
    each_case(lipschitz_and_gradient);
}

static void landing(const firn_posed_collider *c, int dimension)
{
    int in = 0, out = 0;
    for (int i = 0; i < 2000; i++) {
        double p[3], n[3], q[3];
        random_point(i % 2 ? 2 : 0.5, p);
        double d = firn_collider_distance(c, dimension, p, n);
        d < 0 ? in++ : out++;
        for (int a = 0; a < 3; a++) q[a] = p[a] - d * n[a];
        double rest = distance(c, dimension, q);
        if (!(fabs(rest) < 1e-13)) {
            about(c, dimension, p);
            fail_msg("distance %.17g, after the step %.17g", d, rest);
        }
    }
    assert_true(out > 0);
    if (c->values.size[1] > 0.1) assert_true(in > 0); /* thin ones are easily missed */
}

static void stepping_by_the_distance_lands_on_the_surface(void **state)
{
    (void)state;
    each_case(landing);
}

/* Whether the public header calls a place solid, in the shape's own frame; -1: not known here. A new
 * shape may add its line. */
static int solid(firn_shape_kind kind, const double s[3], const double p[3], int dimension)
{
    double x = p[0], y = p[1], z = dimension == 2 ? 0 : p[2], r = hypot(x, z);
    switch (kind) {
    case FIRN_PLANE: return y < 0;
    case FIRN_BOX: return fabs(x) < s[0] && fabs(y) < s[1] && fabs(z) < s[2];
    case FIRN_SPHERE: return x * x + y * y + z * z < s[0] * s[0];
    case FIRN_CAPSULE: return hypot(r, fmax(fabs(y) - s[1], 0)) < s[0];
    case FIRN_CYLINDER: return r < s[0] && fabs(y) < s[1];
    case FIRN_CONE: return y > 0 && r / s[0] + y / s[1] < 1;
    case FIRN_TORUS: return hypot(r - s[0], y) < s[1];
    case FIRN_INSIDE: return fabs(x) > s[0] || fabs(y) > s[1] || fabs(z) > s[2];
    case FIRN_ELLIPSOID: return hypot(hypot(x / s[0], y / s[1]), z / s[2]) < 1;
    case FIRN_RING: return hypot(x, y) < s[0] && hypot(x, y) > s[1];
    case FIRN_TUBE: return r < s[0] && r > s[1] && fabs(y) < s[2];
    case FIRN_FRUSTUM: return y > 0 && y < s[1] && r < s[0] + (s[2] - s[0]) * y / s[1];
    default: return -1;
    }
}

static void sign_of_solid(const firn_posed_collider *c, int dimension)
{
    int kind = 0;
    while (firn_shape_get((firn_shape_kind)kind) != c->shape) kind++;
    for (int i = 0; i < 2000; i++) {
        double p[3], local[3];
        random_point(1.5, p);
        if (dimension == 2) p[2] = 0;
        to_local(c, p, local);
        double d = distance(c, dimension, p);
        const int inside = solid((firn_shape_kind)kind, c->values.size, local, dimension);
        if (inside >= 0 && fabs(d) > 1e-12 && (d < 0) != inside) {
            about(c, dimension, p);
            fail_msg("distance %.17g", d);
        }
    }
}

static void the_sign_tells_solid_from_free(void **state)
{
    (void)state;
    each_case(sign_of_solid);
}

static void unit_at(const firn_posed_collider *c, int dimension, const double local[3])
{
    double p[3], n[3] = {NAN, NAN, NAN};
    to_world(c, local, p);
    double d = firn_collider_distance(c, dimension, p, n);
    if (!isfinite(d) || !(fabs(length(n) - 1) < 1e-12) || (dimension == 2 && n[2] != 0)) {
        about(c, dimension, p);
        fail_msg("distance %.17g normal %.17g %.17g %.17g", d, n[0], n[1], n[2]);
    }
}

/* Every triple of notable coordinates meets centre, axes, faces, edges, corners, rims, ring and
 * tip of every shape; with their neighbours one rounding away, and points far and barely off. */
static void nasty_points(const firn_posed_collider *c, int dimension)
{
    double v[64];
    int count = 0;
    const double s[3] = {c->values.size[0], c->values.size[1], fmin(c->values.size[2], 1)};
    const double base[] = {
        0, s[0], s[1], s[2], s[0] + s[1], fabs(s[0] - s[1]), sqrt(fabs(s[1] * s[1] - s[0] * s[0]))};
    for (size_t i = 0; i < sizeof base / sizeof base[0]; i++) {
        v[count++] = base[i];
        v[count++] = -base[i];
        v[count++] = nextafter(base[i], 1e9);
        v[count++] = nextafter(base[i], -1e9);
    }
    const double more[] = {1e6, -1e6, 1e100, 1e-9, -1e-160, 1e-200, 1e-320};
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++) v[count++] = more[i];
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++)
            for (int k = 0; k < count; k++) unit_at(c, dimension, (double[3]){v[i], v[j], v[k]});
}

static void normals_are_unit_everywhere(void **state)
{
    (void)state;
    each_case(nasty_points);
}

static void distances_have_the_known_values(void **state)
{
    (void)state;
    static const struct {
        firn_shape_kind shape;
        double size[3], point[3], distance;
    } known[] = {
        {FIRN_PLANE, {1, 1, 1}, {5, -2, 7}, -2},
        {FIRN_BOX, {1, 2, 3}, {4, 6, 3}, 5},
        {FIRN_BOX, {1, 2, 3}, {0, 0, 0}, -1},
        {FIRN_SPHERE, {2}, {0, 3, 4}, 3},
        {FIRN_CAPSULE, {1, 2}, {3, 6, 0}, 4},
        {FIRN_CAPSULE, {1, 2}, {0, 1.5, 0}, -1},
        {FIRN_CYLINDER, {1, 2}, {0, 6, 4}, 5},
        {FIRN_CYLINDER, {3, 2}, {0, -1.5, 0}, -0.5},
        {FIRN_CONE, {3, 4}, {0, 0, 0}, 0},
        {FIRN_CONE, {3, 4}, {0, 7, 0}, 3},
        {FIRN_CONE, {3, 4}, {0, -2, 1}, 2},
        {FIRN_CONE, {3, 4}, {3, 4, 0}, 2.4},
        {FIRN_CONE, {3, 4}, {6, -4, 0}, 5},
        {FIRN_TORUS, {3, 1}, {0, 4, 0}, 4},
        {FIRN_TORUS, {3, 1}, {0, 0, -3}, -1},
        {FIRN_TORUS, {3, 5}, {0, 0, 0}, -4}, /* no hole: the cusps are at y = +-4 */
        {FIRN_TORUS, {3, 5}, {0, 5, 0}, 0.8309518948453007},
        {FIRN_INSIDE, {1, 2, 3}, {0, 0, 0}, 1},
        {FIRN_INSIDE, {1, 2, 3}, {4, 6, 3}, -5},
        {FIRN_ELLIPSOID, {2, 2, 2}, {0, 3, 4}, 3},
        {FIRN_ELLIPSOID, {3, 1, 2}, {0, 0, 0}, -1},
        {FIRN_ELLIPSOID, {3, 1, 2}, {-7, 0, 0}, 4},
        {FIRN_ELLIPSOID, {5, 1, 4}, {4.8, 0, 0}, -0.2}, /* at the tip's centre of curvature */
        {FIRN_ELLIPSOID, {5, 3, 4}, {0, 0, 0.5}, -3 * 0.9819805060619657}, /* off to both sides */
        {FIRN_RING, {2, 1}, {0, 0, 9}, 1},
        {FIRN_RING, {2, 1}, {0, -1.25, 9}, -0.25},
        {FIRN_RING, {2, 1}, {3, 4, 9}, 3},
        {FIRN_POLYGON, {0}, {0, 0, 5}, -0.2828427124746190},
        {FIRN_POLYGON, {0}, {0, 3, 5}, 2},
        {FIRN_TUBE, {3, 1, 2}, {0, 0, 0}, 1},
        {FIRN_TUBE, {3, 1, 2}, {0, 5, 7}, 5},
        {FIRN_TUBE, {3, 1, 2}, {0, 1.5, 2}, -0.5},
        {FIRN_FRUSTUM, {5, 4, 2}, {0, 0, 5}, 0},
        {FIRN_FRUSTUM, {5, 4, 2}, {7.5, 4, 0}, 4.4},
        {FIRN_FRUSTUM, {5, 4, 2}, {2, 6, 0}, 2},
        {FIRN_FRUSTUM, {2, 4, 5}, {8, 8, 0}, 5},
        {FIRN_FRUSTUM, {2, 4, 5}, {0, 3, 0}, -1},
        {FIRN_ROUNDED_BOX, {2, 2, 2}, {4, 5, 0}, 4}, /* round by half of the least: 1 */
        {FIRN_ROUNDED_BOX, {2, 2, 2}, {0, 0.5, 0}, -1.5},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        firn_collider_def def = def_of(known[i].shape, known[i].size);
        firn_posed_collider c;
        firn_collider_pose(&def, 3, 0, &c);
        assert_close(distance(&c, 3, known[i].point), known[i].distance, 1e-14);
    }
}

static void a_moved_shape_keeps_its_distances(void **state)
{
    (void)state;
    for (int kind = 0; kind < FIRN_SHAPE_COUNT; kind++)
        for (int dimension = 2; dimension <= 3; dimension++) {
            firn_collider_def def = def_of(kind, sizes[0]);
            firn_posed_collider still, moved;
            if (dimension == 2 && firn_shape_get(def.shape)->solid) continue;
            firn_collider_pose(&def, dimension, 0, &still);
            memcpy(def.position, (double[3]){12, -7, 3}, sizeof def.position);
            /* Not of unit length, and of one whose square overflows. */
            memcpy(def.rotation, (double[4]){1e200, 0.2e200, -0.7e200, 0.4e200},
                   sizeof def.rotation);
            firn_collider_pose(&def, dimension, 0, &moved);
            for (int i = 0; i < 200; i++) {
                double p[3], q[3], n[3], m[3];
                random_point(2, p);
                to_world(&moved, p, q);
                double d = firn_collider_distance(&still, dimension, p, n);
                assert_close(firn_collider_distance(&moved, dimension, q, m), d, 1e-13);
                for (int a = 0; a < 3; a++) assert_close(m[a], dot(moved.rotation[a], n), 1e-12);
            }
        }
}

/* --- Bounds, volume, convexity --------------------------------------------------------------- */

/* Shapes with an end have a far point's distance to tell where that is; those without reach there. */
static void bounds_touch(const firn_collider_def *def, int dimension)
{
    const double far = 1e5;
    double low[3], high[3], n[3];
    const bool bounded = firn_shape_bounds(def, dimension, low, high);
    double least = INFINITY;
    for (int i = 0; i < 2 * dimension; i++) {
        double p[3] = {0};
        p[i / 2] = i % 2 ? far : -far;
        const double d = firn_shape_distance(def, dimension, p, n);
        least = fmin(least, d);
        if (bounded) assert_close(far - d, i % 2 ? high[i / 2] : -low[i / 2], 1e-4);
    }
    if (!bounded) assert_at_most(least, 10);
    if (!bounded) assert_true(isinf(firn_shape_volume(def, dimension)));
}

/* Points in and around the bounds: those inside are within them, and as many as the volume says. */
static void volume_by_counting(const firn_collider_def *def, int dimension)
{
    enum { POINTS = 20000 };
    double low[3], high[3], room = 1, n[3];
    int inside = 0;
    if (!firn_shape_bounds(def, dimension, low, high)) return;
    for (int a = 0; a < dimension; a++) room *= 1.2 * (high[a] - low[a]);
    for (int i = 0; i < POINTS; i++) {
        double p[3] = {0};
        bool within = true;
        for (int a = 0; a < dimension; a++) {
            const double spare = 0.1 * (high[a] - low[a]);
            p[a] = uniform(low[a] - spare, high[a] + spare);
            within = within && p[a] >= low[a] && p[a] <= high[a];
        }
        if (firn_shape_distance(def, dimension, p, n) >= 0) continue;
        assert_true(within);
        inside++;
    }
    const double share = firn_shape_volume(def, dimension) / room;
    assert_close((double)inside / POINTS, share, 5 * sqrt(share * (1 - share) / POINTS));
}

static void convex_if_claimed(const firn_collider_def *def, int dimension)
{
    double before[3] = {0}, p[3], n[3];
    bool any = false;
    if (!firn_shape_get(def->shape)->convex) return;
    for (int i = 0; i < 5000; i++) {
        random_point(1.5, p);
        if (firn_shape_distance(def, dimension, p, n) >= 0) continue;
        const double middle[3] = {(p[0] + before[0]) / 2, (p[1] + before[1]) / 2,
                                  (p[2] + before[2]) / 2};
        if (any) assert_at_most(firn_shape_distance(def, dimension, middle, n), 1e-15);
        memcpy(before, p, sizeof before);
        any = true;
    }
}

static void bounds_volume_and_convexity_are_as_claimed(void **state)
{
    (void)state;
    for (int kind = 0; kind < FIRN_SHAPE_COUNT; kind++)
        for (int s = 0; s < SIZES; s++)
            for (int dimension = 2; dimension <= 3; dimension++) {
                const firn_collider_def def = def_of(kind, sizes[s]);
                if (firn_shape_check(&def, NULL) != FIRN_OK) continue;
                if (dimension == 2 && firn_shape_get(def.shape)->solid) continue;
                random_state = (uint64_t)(kind * 100 + s);
                bounds_touch(&def, dimension);
                volume_by_counting(&def, dimension);
                convex_if_claimed(&def, dimension);
            }
}

/* --- 2D -------------------------------------------------------------------------------------- */

static void section(const firn_posed_collider *c, int dimension)
{
    if (dimension != 2) return;
    for (int i = 0; i < 500; i++) {
        double p[3], n[3], m[3];
        random_point(2, p);
        double d = firn_collider_distance(c, 2, p, n);
        assert_true(n[2] == 0);
        p[2] = NAN;
        assert_true(firn_collider_distance(c, 2, p, m) == d);
        assert_memory_equal(n, m, sizeof n);
    }
}

/* That 2D distances are exact is claimed by the Lipschitz, landing and sign tests, in 2D too. */
static void two_d_is_the_section(void **state)
{
    (void)state;
    each_case(section);

    firn_collider_def def = def_of(FIRN_BOX, (double[3]){1, 1, 0.001});
    firn_posed_collider c;
    def.position[2] = 40; /* no z in 2D: still the section through the shape's middle */
    firn_collider_pose(&def, 2, 0, &c);
    assert_close(distance(&c, 2, (double[3]){0.2, 0, 9}), -0.8, 1e-15);
    def.shape = FIRN_INSIDE;
    firn_collider_pose(&def, 2, 0, &c);
    assert_close(distance(&c, 2, (double[3]){0.2, 0, 9}), 0.8, 1e-15);

    def = def_of(FIRN_TORUS, (double[3]){1, 0.25, 1});
    def.rotation[0] = cos(pi / 4), def.rotation[3] = sin(pi / 4); /* quarter turn: discs at y +-1 */
    firn_collider_pose(&def, 2, 0, &c);
    assert_close(distance(&c, 2, (double[3]){0, 0, 0}), 0.75, 1e-15);
    assert_close(distance(&c, 2, (double[3]){0, -1, 0}), -0.25, 1e-15);
    assert_close(distance(&c, 2, (double[3]){1, 0, 0}), sqrt(2) - 0.25, 1e-15);
}

static void two_d_keeps_the_angle_about_z(void **state)
{
    (void)state;
    for (int i = 0; i < 12; i++) {
        double half = i * pi / 12, n[3];
        firn_collider_def def = firn_collider_def_default();
        memcpy(def.rotation, (double[4]){cos(half), 0, 0, sin(half)}, sizeof def.rotation);
        firn_posed_collider c;
        firn_collider_pose(&def, 2, 0, &c);
        firn_collider_distance(&c, 2, (double[3]){0, 0, 0}, n);
        assert_close(n[0], -sin(2 * half), 1e-15);
        assert_close(n[1], cos(2 * half), 1e-15);

        /* A half turn about an axis in the plane, at angle `half` from x: y goes where it goes. */
        memcpy(def.rotation, (double[4]){0, cos(half), sin(half), 0}, sizeof def.rotation);
        firn_posed_collider solid_one;
        firn_collider_pose(&def, 3, 0, &solid_one);
        firn_collider_pose(&def, 2, 0, &c);
        firn_collider_distance(&c, 2, (double[3]){0, 0, 0}, n);
        for (int a = 0; a < 3; a++) assert_close(n[a], solid_one.rotation[a][1], 1e-15);
        assert_close(c.rotation[2][2], 1, 0);
    }
}

/* --- Motion ---------------------------------------------------------------------------------- */

static const firn_pose_key keys[] = {
    {1.0, {0, 0, 0}, {1, 0, 0, 0}},
    {2.0, {1, -2, 3}, {0.8, 0.1, 0.5, -0.3}},
    {2.5, {1, 1, 1}, {-0.8, 0.3, 0.2, 0.4}}, /* its opposite is nearer: the short way */
    {4.0, {1, 1, 1}, {-0.8, 0.3, 0.2, 0.4}},
    {5.0, {0, 0, 0}, {0.8, -0.3, -0.2, -0.4 - 1e-9}}, /* almost the same turn */
    {6.0, {0, 0, 0}, {0.8, -0.3, -0.2, -0.39}},       /* a small one */
};
enum { KEYS = sizeof keys / sizeof keys[0] };

static firn_collider_def keyed(void)
{
    firn_collider_def def = firn_collider_def_default();
    def.keys = keys;
    def.key_count = KEYS;
    return def;
}

/* Turns by angles, about a pivot, with spin. */
static const firn_pose_key turning_keys[] = {
    {1.0, {0.1, 0.2, 0.3}, {1, 0, 0, 0}, {0}},
    {2.0, {-0.5, 0.7, 0.2}, {0.8, 0, 0, -0.4}, {1, -7, 20}},
    {4.0, {1, 1, 1}, {0.8, 0, 0, -0.4}, {-3, -7, 6}},
    {6.0, {1, 2, 0}, {0.8, 0, 0, -0.4}, {5, -2, 6}},
};

static firn_collider_def turning(int i)
{
    firn_collider_def def = keyed();
    if (i == 0) return def;
    def.keys = turning_keys;
    def.key_count = 4;
    def.interpolation = (firn_interpolation)(i % FIRN_INTERPOLATION_COUNT);
    memcpy(def.pivot, (double[3]){0.3, -0.4, 0.2}, sizeof def.pivot);
    if (i > 3) memcpy(def.spin, (double[3]){2, -3, 5}, sizeof def.spin);
    return def;
}

static void check_velocity(const firn_collider_def *def, int dimension)
{
    for (double t = 1.05; t < 6; t += 0.1) {
        const double h = 1e-5;
        firn_posed_collider c, before, after;
        firn_collider_pose(def, dimension, t, &c);
        firn_collider_pose(def, dimension, t - h, &before);
        firn_collider_pose(def, dimension, t + h, &after);
        double local[3], p[3], v[3], a[3], b[3];
        random_point(3, local);
        if (dimension == 2) local[2] = 0;
        to_world(&c, local, p);
        to_world(&before, local, a);
        to_world(&after, local, b);
        firn_collider_surface_velocity(&c, p, v);
        const double size = 1 + length(c.spin) * length(c.spin) * length(c.spin);
        for (int k = 0; k < 3; k++) assert_close(v[k], (b[k] - a[k]) / (2 * h), 1e-8 * size);
        if (dimension == 2) {
            assert_true(v[2] == 0 && c.spin[0] == 0 && c.spin[1] == 0);
            assert_true(c.position[2] == 0 && c.rotation[2][2] == 1);
        }
    }
}

static void surface_velocity_is_the_derivative_of_position(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++) {
        const firn_collider_def def = turning(i);
        for (int dimension = 2; dimension <= 3; dimension++) check_velocity(&def, dimension);
    }
}

/* A cup on an arm on a cart: each in the frame of the next. */
static void what_rides_follows_exactly(void **state)
{
    (void)state;
    firn_collider_def cart = turning(2), arm = turning(5), cup = turning(4), still;
    arm.parent = &cart;
    for (int i = 0; i < 2; i++) {
        cup = i ? firn_collider_def_default() : cup;
        memcpy(cup.position, (double[3]){0.2, 0.5, -0.3}, sizeof cup.position);
        cup.parent = &arm;
        for (int dimension = 2; dimension <= 3; dimension++) check_velocity(&cup, dimension);
    }
    firn_posed_collider c, frame;
    still = firn_collider_def_default();
    still.parent = &arm;
    firn_collider_pose(&still, 3, 2.3, &c);
    firn_collider_pose(&arm, 3, 2.3, &frame);
    assert_memory_equal(c.rotation, frame.rotation, sizeof c.rotation);
    for (int a = 0; a < 3; a++) assert_close(c.velocity[a], frame.velocity[a], 1e-15);

    /* Copied with all that it rides on. */
    double memory[400];
    const firn_collider_def before = cup;
    assert_true(firn_collider_extra(&cup) <= sizeof memory);
    const char *end = firn_collider_move(&cup, memory);
    assert_ptr_equal(end, (char *)memory + firn_collider_extra(&cup));
    firn_collider_pose(&before, 3, 3.7, &frame);
    memset(&arm, 0, sizeof arm);
    memset(&cart, 0, sizeof cart);
    firn_collider_pose(&cup, 3, 3.7, &c);
    assert_memory_equal(c.rotation, frame.rotation, sizeof c.rotation);
    assert_memory_equal(c.velocity, frame.velocity, sizeof c.velocity);
}

/* Angles are taken as they are written, about the pivot, which goes straight. */
static void turns_are_as_long_as_written(void **state)
{
    (void)state;
    static const double degrees[] = {90, 170, 180, 270, 360, 720, -450};
    for (size_t i = 0; i < sizeof degrees / sizeof *degrees; i++) {
        const double angle = degrees[i] * pi / 180;
        const firn_pose_key key[2] = {{0, {1, 0, 0}, {1, 0, 0, 0}, {0}},
                                      {2, {3, 0, 0}, {1, 0, 0, 0}, {0, 0, angle}}};
        firn_collider_def def = firn_collider_def_default();
        def.keys = key;
        def.key_count = 2;
        def.pivot[0] = -1; /* at x = 0 to 2 */
        for (int dimension = 2; dimension <= 3; dimension++) {
            firn_posed_collider c;
            for (double t = 0; t < 2; t += 0.25) {
                firn_collider_pose(&def, dimension, t, &c);
                assert_close(c.spin[2], angle / 2, 1e-13);
                assert_close(c.position[0], t + cos(angle * t / 2), 1e-13);
                assert_close(c.position[1], sin(angle * t / 2), 1e-13);
                assert_close(c.rotation[1][0], sin(angle * t / 2), 1e-13);
            }
            firn_collider_pose(&def, dimension, 2, &c);
            assert_true(length(c.spin) == 0 && length(c.velocity) == 0);
            assert_close(c.rotation[0][0], cos(angle), 1e-13);
        }
    }
}

/* A wheel turns about its own middle wherever keys take it, and goes on after the last. */
static void spin_turns_without_end(void **state)
{
    (void)state;
    const firn_pose_key key[2] = {{0, {0}, {1, 0, 0, 0}, {0}}, {4, {8, 0, 0}, {1, 0, 0, 0}, {0}}};
    firn_collider_def def = firn_collider_def_default();
    def.spin[2] = -3;
    for (int keyed_too = 0; keyed_too < 2; keyed_too++) {
        def.keys = keyed_too ? key : NULL;
        def.key_count = 2 * keyed_too;
        for (double t = 0.1; t < 50; t += 3.1) {
            firn_posed_collider c;
            firn_collider_pose(&def, 3, t, &c);
            assert_close(c.position[0], keyed_too ? 2 * fmin(t, 4) : 0, 1e-13);
            assert_close(c.spin[2], -3, 1e-14);
            assert_close(c.rotation[1][0], sin(-3 * t), 1e-12);
        }
    }
}

static void smooth_keys_stop_at_ends_and_turns_and_never_overshoot(void **state)
{
    (void)state;
    firn_collider_def def = turning(FIRN_KEYS_SMOOTH);
    memset(def.pivot, 0, sizeof def.pivot);
    firn_posed_collider c, before, after;
    firn_collider_pose(&def, 3, 1, &c);
    assert_true(length(c.velocity) == 0 && length(c.spin) == 0);
    for (int k = 1; k < 4; k++) {
        const firn_pose_key *key = &turning_keys[k];
        firn_collider_pose(&def, 3, key->time - 1e-9, &before);
        firn_collider_pose(&def, 3, key->time + 1e-9, &after);
        for (int a = 0; a < 3; a++) assert_close(before.velocity[a], after.velocity[a], 1e-7);
        for (double t = key[-1].time; t < key->time; t += 0.01) {
            firn_collider_pose(&def, 3, t, &c);
            for (int a = 0; a < 3; a++) {
                const double low = fmin(key[-1].position[a], key->position[a]),
                             high = fmax(key[-1].position[a], key->position[a]);
                assert_true(c.position[a] >= low - 1e-12 && c.position[a] <= high + 1e-12);
            }
        }
    }
    def = turning(FIRN_KEYS_STEP);
    firn_collider_pose(&def, 3, nextafter(2, 0), &before);
    firn_collider_pose(&def, 3, 1, &c);
    assert_memory_equal(before.position, c.position, sizeof c.position);
    assert_true(length(c.velocity) == 0 && length(c.spin) == 0);
}

static void assert_pose(const firn_collider_def *def, double time, const firn_pose_key *want,
                        bool still)
{
    firn_collider_def fixed = firn_collider_def_default();
    memcpy(fixed.position, want->position, sizeof fixed.position);
    memcpy(fixed.rotation, want->rotation, sizeof fixed.rotation);
    firn_posed_collider got, expected;
    firn_collider_pose(def, 3, time, &got);
    firn_collider_pose(&fixed, 3, 0, &expected);
    for (int a = 0; a < 3; a++) {
        assert_close(got.position[a], expected.position[a], 1e-14);
        for (int b = 0; b < 3; b++)
            assert_close(got.rotation[a][b], expected.rotation[a][b], 1e-14);
    }
    assert_true(still == (length(got.velocity) == 0 && length(got.spin) == 0));
}

static void keyframes_interpolate_and_stand_still_outside(void **state)
{
    (void)state;
    firn_collider_def def = keyed();
    assert_pose(&def, -1e9, &keys[0], true);
    assert_pose(&def, nextafter(1, 0), &keys[0], true);
    assert_pose(&def, 1, &keys[0], false); /* at a key: the segment that follows */
    assert_pose(&def, 2, &keys[1], false);
    assert_pose(&def, 2.5, &keys[2], true); /* a pause */
    assert_pose(&def, 3, &keys[2], true);
    assert_pose(&def, 4, &keys[3], false);
    assert_pose(&def, nextafter(6, 0), &keys[5], false);
    assert_pose(&def, 6, &keys[5], true);
    assert_pose(&def, 1e9, &keys[5], true);

    def.key_count = 1;
    for (int i = 0; i < 3; i++) assert_pose(&def, i, &keys[0], true);

    /* A third of a 90 degree turn about z in 3 s, shifted along x. */
    const firn_pose_key turn[2] = {{10, {2, 0, 0}, {2, 0, 0, 0}}, {13, {5, 0, 0}, {-1, 0, 0, -1}}};
    def.keys = turn;
    def.key_count = 2;
    for (int dimension = 2; dimension <= 3; dimension++) {
        firn_posed_collider c;
        firn_collider_pose(&def, dimension, 11, &c);
        assert_close(c.position[0], 3, 1e-15);
        assert_close(c.velocity[0], 1, 1e-15);
        assert_close(c.spin[2], pi / 6, 1e-15);
        assert_close(c.rotation[1][0], 0.5, 1e-15); /* sin 30 degrees */
    }

    /* Never more than half a turn between keys, at constant rate. */
    def = keyed();
    for (int k = 0; k + 1 < KEYS; k++) {
        firn_posed_collider early, late;
        double span = keys[k + 1].time - keys[k].time;
        firn_collider_pose(&def, 3, keys[k].time, &early);
        firn_collider_pose(&def, 3, keys[k].time + 0.9 * span, &late);
        assert_at_most(length(early.spin) * span, pi);
        for (int a = 0; a < 3; a++) {
            assert_true(early.spin[a] == late.spin[a]);
            assert_true(early.velocity[a] == late.velocity[a]);
        }
    }
}

static void a_turn_between_keys_goes_the_shorter_way(void **state)
{
    (void)state;
    static const double degrees[] = {1, 90, 179, 181, 270, 359};
    for (size_t i = 0; i < sizeof degrees / sizeof *degrees; i++)
        for (int side = -1; side <= 1; side += 2)
            for (int sign = -1; sign <= 1; sign += 2) /* q and -q are the same rotation */
                for (int dimension = 2; dimension <= 3; dimension++) {
                    const double half = side * degrees[i] * pi / 360;
                    const firn_pose_key turn[2] = {
                        {0, {0}, {1, 0, 0, 0}},
                        {2, {0}, {sign * cos(half), 0, 0, sign * sin(half)}}};
                    firn_collider_def def = firn_collider_def_default();
                    def.keys = turn;
                    def.key_count = 2;
                    firn_posed_collider c;
                    firn_collider_pose(&def, dimension, 1, &c);
                    const double shorter =
                        side * (degrees[i] < 180 ? degrees[i] : degrees[i] - 360) * pi / 180;
                    assert_close(c.spin[2], shorter / 2, 1e-14);
                    assert_close(c.rotation[1][0], sin(shorter / 2), 1e-14); /* halfway */
                    assert_close(c.rotation[0][0], cos(shorter / 2), 1e-14);
                }
}

static void no_surface_point_outruns_the_speed_bound(void **state)
{
    (void)state;
    firn_collider_def def = keyed();
    double tightest = 0;
    for (int i = 0; i < 5000; i++) {
        firn_posed_collider c;
        double center[3], offset[3], v[3], p[3], normal[3], reach = uniform(0, 2);
        if (i % 8 == 0) {
            const firn_collider_def next = turning(i / 8 % 8);
            def.keys = next.keys;
            def.key_count = next.key_count;
            def.interpolation = next.interpolation;
            memcpy(def.pivot, next.pivot, sizeof def.pivot);
            memcpy(def.spin, next.spin, sizeof def.spin);
        }
        if (i == 2500) { /* from here on its surface runs, too */
            random_point(3, def.surface_velocity);
            random_point(2, def.surface_spin);
        }
        firn_collider_pose(&def, 3, uniform(0, 6), &c);
        random_point(2, center);
        random_point(1, offset);
        for (int a = 0; a < 3; a++) p[a] = center[a] + reach * offset[a] / length(offset);
        random_point(1, normal);
        const double unit = length(normal);
        for (int a = 0; a < 3; a++) normal[a] /= unit;
        firn_collider_contact_velocity(&c, p, normal, v);
        double bound = firn_collider_speed_bound(&c, center, reach);
        assert_at_most(length(v), bound * (1 + 1e-14));
        if (bound > 0) tightest = fmax(tightest, length(v) / bound);
    }
    assert_true(tightest > 0.95);
}

/* --- Responses ------------------------------------------------------------------------------- */

/* A moving, spinning plane; at `point` its surface moves by (1.5, -2, 0.5) + (0, 0, 3) x (1, 2, 0)
 * = (-4.5, 1, 0.5). */
static const double point[3] = {1, 2, 7};
static const double surface[3] = {-4.5, 1, 0.5};
static const double up[3] = {0, 1, 0};

static firn_posed_collider moving(firn_boundary boundary, double friction)
{
    firn_collider_def def = firn_collider_def_default();
    def.boundary = boundary;
    def.friction = friction;
    firn_posed_collider c;
    firn_collider_pose(&def, 3, 0, &c);
    memcpy(c.velocity, (double[3]){1.5, -2, 0.5}, sizeof c.velocity);
    c.spin[2] = 3;
    return c;
}

/* Material arriving with `relative` to the surface must leave with `want`, and return `changed`. */
static void assert_response(firn_boundary boundary, double friction, const double relative[3],
                            const double want[3], bool changed)
{
    firn_posed_collider c = moving(boundary, friction);
    double v[3];
    for (int a = 0; a < 3; a++) v[a] = surface[a] + relative[a];
    assert_int_equal(firn_collider_respond(&c, point, up, v), changed);
    for (int a = 0; a < 3; a++) assert_close(v[a] - surface[a], want[a], 1e-14);
}

#define VEC(...) ((const double[3]){__VA_ARGS__})

static void sticky_takes_the_surface_velocity(void **state)
{
    (void)state;
    assert_response(FIRN_STICKY, 0.3, VEC(3, -2, 1), VEC(0, 0, 0), true);
    assert_response(FIRN_STICKY, 0.3, VEC(3, 2, 1), VEC(0, 0, 0), true);
    assert_response(FIRN_STICKY, 0.3, VEC(0, 0, 0), VEC(0, 0, 0), false);
}

static void slip_removes_the_normal_part_both_ways(void **state)
{
    (void)state;
    assert_response(FIRN_SLIP, 0.3, VEC(3, -2, 1), VEC(3, 0, 1), true);
    assert_response(FIRN_SLIP, 0.3, VEC(3, 2, 1), VEC(3, 0, 1), true);
    assert_response(FIRN_SLIP, 0.3, VEC(3, 0, 1), VEC(3, 0, 1), false);
}

static void separate_lets_go_and_rubs_when_pressed(void **state)
{
    (void)state;
    assert_response(FIRN_SEPARATE, 0.3, VEC(3, 2, 4), VEC(3, 2, 4), false);
    assert_response(FIRN_SEPARATE, 0.3, VEC(3, 0, 4), VEC(3, 0, 4), false);
    assert_response(FIRN_SEPARATE, 0.0, VEC(3, -2, 4), VEC(3, 0, 4), true);
    assert_response(FIRN_SEPARATE, 0.0, VEC(0, -2, 0), VEC(0, 0, 0), true);
    /* Speed along 5, pressed by 2: friction 0.5 takes 1 of the 5; 2.5 and above take all. */
    assert_response(FIRN_SEPARATE, 0.5, VEC(3, -2, 4), VEC(2.4, 0, 3.2), true);
    assert_response(FIRN_SEPARATE, 2.5, VEC(3, -2, 4), VEC(0, 0, 0), true);
    assert_response(FIRN_SEPARATE, 9.0, VEC(3, -2, 4), VEC(0, 0, 0), true);
}

/* The impulse per mass, dv, lies in the cone |tangential| <= friction * normal, pushes out, and
 * only takes energy in the surface's frame. */
static void the_impulse_stays_in_the_friction_cone(void **state)
{
    (void)state;
    int stuck = 0, slid = 0;
    for (int i = 0; i < 5000; i++) {
        double friction = uniform(0, 1.5), n[3], v[3], old[3], dv[3], r0[3], r1[3];
        firn_posed_collider c = moving(FIRN_SEPARATE, friction);
        random_point(1, n);
        double size = length(n);
        for (int a = 0; a < 3; a++) n[a] /= size;
        random_point(8, v);
        memcpy(old, v, sizeof old);
        bool changed = firn_collider_respond(&c, point, n, v);
        for (int a = 0; a < 3; a++) {
            dv[a] = v[a] - old[a];
            r0[a] = old[a] - surface[a];
            r1[a] = v[a] - surface[a];
        }
        assert_int_equal(changed, dot(r0, n) < 0);
        if (!changed) {
            assert_memory_equal(v, old, sizeof v);
            continue;
        }
        double push = dot(dv, n), rub[3];
        for (int a = 0; a < 3; a++) rub[a] = dv[a] - push * n[a];
        assert_close(push, -dot(r0, n), 1e-13);
        assert_close(dot(r1, n), 0, 1e-13);
        assert_at_most(length(rub), friction * push + 1e-13);
        assert_at_most(dot(r1, r1), dot(r0, r0) + 1e-13);
        assert_at_most(dot(rub, r1), 1e-12); /* against the sliding */
        if (length(r1) > 0.01) {
            assert_close(length(rub), friction * push, 1e-12); /* sliding: full friction */
            slid++;
        } else {
            stuck++;
        }
    }
    assert_true(stuck > 100 && slid > 100);
}

/* --- Validation ------------------------------------------------------------------------------ */

static void assert_refused(const firn_collider_def *def, const char *words)
{
    firn_error error = {0};
    assert_int_equal(firn_collider_check(def, 3, "colliders[1]", &error), FIRN_INVALID);
    assert_int_equal(error.status, FIRN_INVALID);
    if (!strstr(error.message, words)) fail_msg("\"%s\" lacks \"%s\"", error.message, words);
    assert_int_equal(firn_collider_check(def, 3, "colliders[1]", NULL), FIRN_INVALID);
}

static void assert_taken(const firn_collider_def *def)
{
    firn_error error = {0};
    if (firn_collider_check(def, 3, "colliders[1]", &error) != FIRN_OK)
        fail_msg("%s", error.message);
}

/* Also in its corners, and when it is turned. */
static void a_room_holds_material_as_its_walls_would(void **state)
{
    (void)state;
    const double size[3] = {1, 2, 3};
    const double face[6][4] = {
        /* the turn that takes +y to the wall's normal */
        {1, 0, 0, 1}, {1, 0, 0, -1}, {0, 1, 0, 0}, {1, 0, 0, 0}, {1, -1, 0, 0}, {1, 1, 0, 0},
    };
    const double turn[4] = {0.8, 0.1, -0.3, 0.5};
    int cornered = 0;
    for (int i = 0; i < 4000; i++) {
        const firn_boundary boundary = (firn_boundary)(i % FIRN_BOUNDARY_COUNT);
        firn_collider_def def = def_of(FIRN_INSIDE, size);
        def.boundary = boundary;
        def.friction = uniform(0, 1);
        memcpy(def.rotation, turn, sizeof turn);
        firn_posed_collider room, wall[6];
        firn_collider_pose(&def, 3, 0, &room);
        double local[3], at[3] = {0}, v[3], want[3];
        for (int a = 0; a < 3; a++) {
            local[a] = size[a] * uniform(0.9, 1.1) * (uniform(-1, 1) < 0 ? -1 : 1);
        }
        for (int a = 0; a < 3; a++) {
            for (int b = 0; b < 3; b++) at[a] += room.rotation[a][b] * local[b];
        }
        for (int f = 0; f < 6; f++) {
            def.shape = FIRN_PLANE;
            memcpy(def.rotation, face[f], sizeof def.rotation);
            firn_posed_collider unturned;
            firn_collider_pose(&def, 3, 0, &unturned);
            wall[f] = unturned;
            for (int a = 0; a < 3; a++) {
                const double inward = unturned.rotation[f / 2][1];
                wall[f].position[a] = -room.rotation[a][f / 2] * inward * size[f / 2];
                for (int b = 0; b < 3; b++) {
                    wall[f].rotation[a][b] = 0;
                    for (int c = 0; c < 3; c++) {
                        wall[f].rotation[a][b] += room.rotation[a][c] * unturned.rotation[c][b];
                    }
                }
            }
        }
        random_point(8, v);
        memcpy(want, v, sizeof want);
        const bool held = firn_collider_respond_all(wall, 6, 3, 1e-6, at, want, 1, NULL);
        assert_int_equal(firn_collider_respond_all(&room, 1, 3, 1e-6, at, v, 1, NULL), held);
        for (int a = 0; a < 3; a++) assert_close(v[a], want[a], 1e-12);
        int outside = 0;
        for (int a = 0; a < 3; a++) outside += fabs(local[a]) > size[a];
        cornered += outside > 1;
    }
    assert_true(cornered > 1000);
}

/* What a sim does with the defs it is given. */
/* A particle's way of up to a cell through a sheet of any thickness, at any angle; the sheet may move
 * and turn as it does. Ways beside it are left alone. */
static void nothing_passes_a_thin_sheet(void **state)
{
    (void)state;
    const double h = 0.01, dt = 1e-4;
    int through = 0, beside = 0;
    random_state = 9;
    for (int i = 0; i < 20000; i++) {
        const int dim = 2 + i % 2;
        const double half = 0.5 * h * pow(10, uniform(-5, -0.3));
        firn_pose_key key[2] = {{0}};
        firn_collider_def def = firn_collider_def_default();
        def.shape = i % 3 ? FIRN_BOX : FIRN_CYLINDER; /* one is round, both are thin in y */
        memcpy(def.size, (double[3]){0.1, half, 0.1}, sizeof def.size);
        random_point(1, key[0].position);
        for (int a = 0; a < 4; a++) key[0].rotation[a] = uniform(-1, 1);
        key[1] = key[0];
        key[1].time = 1;
        for (int a = 0; a < 3 && i % 5; a++) key[1].position[a] += uniform(-30, 30);
        for (int a = 0; a < 4 && i % 5; a++) key[1].rotation[a] = uniform(-1, 1);
        def.keys = key;
        def.key_count = 2;
        firn_posed_collider first, c;
        firn_collider_pose(&def, dim, 0, &first);
        firn_collider_pose(&def, dim, dt, &c);
        /* Where it begins and ends, in the sheet's frame. */
        const double side = i % 7 ? 1 : -1, edge = dim == 2 ? 0.105 : 0.05;
        const double from[3] = {uniform(-edge, edge), side * (half + uniform(1e-6, 0.3) * h), 0};
        const double to[3] = {from[0] + uniform(-0.3, 0.3) * h,
                              -side * uniform(-half, half + 0.3 * h), 0};
        double before[3] = {0}, position[3] = {0}, velocity[3] = {0}, after[3];
        for (int a = 0; a < dim; a++) {
            for (int b = 0; b < 2; b++) {
                before[a] += first.rotation[a][b] * from[b];
                position[a] += c.rotation[a][b] * to[b];
            }
            before[a] += first.position[a];
            position[a] += c.position[a];
        }
        const double middle = from[0] + (to[0] - from[0]) * from[1] / (from[1] - to[1]);
        firn_collide_particle(&c, 1, dim, 1e-6 * h, before, dt, position, velocity, 1, NULL);
        to_local(&c, position, after);
        if (fabs(middle) > 0.1 && fabs(to[0]) > 0.1) { /* beside it, all the way that matters */
            beside++;
            assert_close(after[0], to[0], 1e-9);
            assert_close(after[1], to[1], 1e-9);
        } else if (fabs(from[0]) < 0.1 - h && fabs(to[0]) < 0.1 - h) {
            through++;
            if (!(side * after[1] > half)) about(&c, dim, position);
            assert_true(side * after[1] > half);
        }
    }
    assert_true(through > 10000 && beside > 100);
}

static void a_moved_def_needs_nothing_of_the_caller(void **state)
{
    (void)state;
    firn_pose_key key[2] = {{0, {0, 0, 0}, {1, 0, 0, 0}}, {2, {1, 2, 0}, {1, 0, 0, 1}}};
    double corner[6] = {0, 0, 1, 0, 0, 1}, memory[64], n[2][3], d[2];
    firn_collider_def def = firn_collider_def_default();
    def.shape = FIRN_POLYGON;
    def.points = corner, def.point_count = 3;
    def.keys = key, def.key_count = 2;
    assert_taken(&def);
    assert_true(firn_collider_extra(&def) == sizeof key + sizeof corner);
    for (int moved = 0; moved < 2; moved++) {
        firn_posed_collider c;
        firn_collider_pose(&def, 2, 1.5, &c);
        d[moved] = firn_collider_distance(&c, 2, (double[3]){3, 1, 0}, n[moved]);
        if (moved) break;
        const void *end = firn_collider_move(&def, memory);
        assert_ptr_equal(end, (char *)memory + sizeof key + sizeof corner);
        memset(key, 0, sizeof key);
        memset(corner, 0, sizeof corner);
    }
    assert_true(d[0] == d[1]);
    assert_memory_equal(n[0], n[1], sizeof n[0]);
}

static void good_defs_are_taken(void **state)
{
    (void)state;
    for (int kind = 0; kind < FIRN_SHAPE_COUNT; kind++)
        for (int s = 0; s < SIZES; s++) {
            firn_collider_def def = def_of(kind, sizes[s]);
            if (def.size[1] >= def.size[0] && firn_shape_check(&def, NULL) != FIRN_OK) continue;
            assert_taken(&def);
            /* What a shape does not read may be anything. */
            for (int a = firn_shape_get(def.shape)->size_count; a < 3; a++) def.size[a] = NAN;
            assert_taken(&def);
        }
    firn_collider_def def = keyed();
    def.position[0] = NAN; /* not used with keys */
    assert_taken(&def);
    def = firn_collider_def_default();
    def.friction = 0;
    assert_taken(&def);
}

static void bad_defs_are_refused_by_name(void **state)
{
    (void)state;
    firn_collider_def def;
    const firn_collider_def good = firn_collider_def_default();

    memset(&def, 0, sizeof def);
    assert_refused(&def, "firn_collider_def_default");
    def = good, def.shape = FIRN_SHAPE_COUNT;
    char message[40];
    snprintf(message, sizeof message, "colliders[1].shape %d", FIRN_SHAPE_COUNT);
    assert_refused(&def, message);
    def = good, def.shape = (firn_shape_kind)-1;
    assert_refused(&def, "colliders[1].shape -1");
    def = good, def.boundary = FIRN_BOUNDARY_COUNT;
    assert_refused(&def, "colliders[1].boundary 4");
    def = good, def.friction = -0.1;
    assert_refused(&def, "colliders[1].friction -0.1");
    def = good, def.friction = NAN;
    assert_refused(&def, "colliders[1].friction nan");
    def = good, def.friction = INFINITY;
    assert_refused(&def, "colliders[1].friction inf");
    def = good, def.position[2] = NAN;
    assert_refused(&def, "colliders[1].position[2] nan");
    def = good, def.rotation[0] = 0;
    assert_refused(&def, "colliders[1].rotation 0 0 0 0");
    def = good, def.rotation[3] = INFINITY;
    assert_refused(&def, "colliders[1].rotation[3] inf");
    def = good, def.key_count = -1;
    assert_refused(&def, "colliders[1].key_count -1");
    def = good, def.key_count = 2;
    assert_refused(&def, "colliders[1].keys NULL");
    firn_collider_def parent = good;
    def = good, def.parent = &parent, parent.spin[1] = NAN;
    assert_refused(&def, "colliders[1].parent.spin[1] nan");
    def = good, def.parent = &def;
    assert_refused(&def, "colliders[1].parent: it rides on more than 64 others, or on itself");

    def = good, def.shape = FIRN_SPHERE, def.size[0] = -0.5;
    assert_refused(&def, "colliders[1].size[0] -0.5 must be above 0 (radius of sphere, m)");
    def = def_of(FIRN_RING, (double[3]){0.5, 0.5, 1});
    assert_refused(&def, "inner 0.5 m must be below radius 0.5 m");
    def = good, def.point_count = -1;
    assert_refused(&def, "colliders[1].points NULL or point_count -1");
    def = good, def.shape = FIRN_POLYGON;
    assert_refused(&def, "colliders[1].points has 0 corners");
    def = good, def.shape = FIRN_MESH;
    assert_refused(&def, "colliders[1].mesh NULL must be a mesh");
    firn_error error = {0};
    def.mesh = octahedron(0.9);
    assert_int_equal(firn_collider_check(&def, 2, "colliders[1]", &error), FIRN_INVALID);
    assert_non_null(strstr(error.message, "colliders[1].shape mesh is for 3D"));
    for (int kind = 0; kind < FIRN_SHAPE_COUNT; kind++) {
        const firn_shape *row = firn_shape_get((firn_shape_kind)kind);
        for (int a = 0; a < row->size_count; a++) {
            const double bad[] = {0, -1, NAN, INFINITY};
            for (int b = 0; b < 4; b++) {
                char words[64];
                def = def_of(kind, sizes[0]), def.size[a] = bad[b];
                snprintf(words, sizeof words, "colliders[1].size[%d] %g", a, bad[b]);
                assert_refused(&def, words);
                snprintf(words, sizeof words, "(%s of %s, m)", row->size_name[a], row->name);
                assert_refused(&def, words);
            }
        }
    }

    firn_pose_key some[3];
    const firn_pose_key fine[3] = {
        {0, {0}, {1, 0, 0, 0}}, {1, {0}, {1, 0, 0, 0}}, {2, {0}, {1, 0, 0, 0}}};
    def = good, def.keys = some, def.key_count = 3;
    memcpy(some, fine, sizeof some);
    assert_taken(&def);
    some[2].time = 1;
    assert_refused(&def, "colliders[1].keys[2].time 1 must be above keys[1].time 1");
    some[2].time = INFINITY;
    assert_refused(&def, "colliders[1].keys[2].time inf");
    some[0].time = NAN;
    assert_refused(&def, "colliders[1].keys[0].time nan");
    memcpy(some, fine, sizeof some);
    some[1].position[1] = INFINITY;
    assert_refused(&def, "colliders[1].keys[1].position[1] inf");
    memcpy(some, fine, sizeof some);
    some[1].rotation[0] = 0;
    assert_refused(&def, "colliders[1].keys[1].rotation 0 0 0 0");
    memcpy(some, fine, sizeof some);
    some[1].time = 1e-320; /* a speed beyond double */
    assert_refused(&def, "colliders[1].keys[1].time");
    memcpy(some, fine, sizeof some);
    some[0].position[0] = -1.5e308, some[1].position[0] = 1.5e308;
    assert_refused(&def, "colliders[1].keys[1].time");
}

static void the_default_is_the_ground(void **state)
{
    (void)state;
    firn_collider_def def = firn_collider_def_default();
    assert_taken(&def);
    firn_posed_collider c;
    double n[3];
    firn_collider_pose(&def, 3, 0, &c);
    assert_close(firn_collider_distance(&c, 3, VEC(4, -0.5, 2), n), -0.5, 0);
    assert_memory_equal(n, up, sizeof n);
    assert_int_equal(c.boundary, FIRN_SEPARATE);
    assert_close(c.friction, 0.3, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_complete_and_its_name_unique),
        cmocka_unit_test(distance_is_one_lipschitz_and_matches_its_gradient),
        cmocka_unit_test(stepping_by_the_distance_lands_on_the_surface),
        cmocka_unit_test(the_sign_tells_solid_from_free),
        cmocka_unit_test(normals_are_unit_everywhere),
        cmocka_unit_test(distances_have_the_known_values),
        cmocka_unit_test(a_moved_shape_keeps_its_distances),
        cmocka_unit_test(bounds_volume_and_convexity_are_as_claimed),
        cmocka_unit_test(two_d_is_the_section),
        cmocka_unit_test(two_d_keeps_the_angle_about_z),
        cmocka_unit_test(surface_velocity_is_the_derivative_of_position),
        cmocka_unit_test(what_rides_follows_exactly),
        cmocka_unit_test(turns_are_as_long_as_written),
        cmocka_unit_test(spin_turns_without_end),
        cmocka_unit_test(smooth_keys_stop_at_ends_and_turns_and_never_overshoot),
        cmocka_unit_test(keyframes_interpolate_and_stand_still_outside),
        cmocka_unit_test(a_turn_between_keys_goes_the_shorter_way),
        cmocka_unit_test(no_surface_point_outruns_the_speed_bound),
        cmocka_unit_test(sticky_takes_the_surface_velocity),
        cmocka_unit_test(slip_removes_the_normal_part_both_ways),
        cmocka_unit_test(separate_lets_go_and_rubs_when_pressed),
        cmocka_unit_test(the_impulse_stays_in_the_friction_cone),
        cmocka_unit_test(a_room_holds_material_as_its_walls_would),
        cmocka_unit_test(nothing_passes_a_thin_sheet),
        cmocka_unit_test(a_moved_def_needs_nothing_of_the_caller),
        cmocka_unit_test(good_defs_are_taken),
        cmocka_unit_test(bad_defs_are_refused_by_name),
        cmocka_unit_test(the_default_is_the_ground),
    };
    return cmocka_run_group_tests_name("collide", tests, NULL, NULL);
}
