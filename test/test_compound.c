/* Compounds against plain formulas: each case says by itself, with numbers of its own, what is solid, how large it is
 * and where a point of its surface is. */
#include "worlds.h"

#include "collider/collider.h"
#include "compounds.h"
#include "geometry/fill.h"
#include "geometry/region.h"
#include "memory_state.h"

static const double PI = 3.14159265358979323846;

/* ---- the cases ---- */

static firn_collider_def of_compound(const firn_compound *c)
{
    firn_collider_def def = firn_collider_def_default();
    def.shape = FIRN_COMPOUND;
    def.compound = c;
    return def;
}

static firn_collider_def turned(firn_collider_def def, double degrees, int axis)
{
    const double half = degrees * PI / 360;
    memset(def.rotation, 0, sizeof def.rotation);
    def.rotation[0] = cos(half);
    def.rotation[1 + axis] = sin(half);
    return def;
}

static firn_collider_def at(firn_collider_def def, double x, double y, double z)
{
    def.position[0] = x, def.position[1] = y, def.position[2] = z;
    return def;
}

static firn_collider_def join_two(firn_join how, firn_collider_def a, firn_collider_def b,
                                  double offset, double shell)
{
    return of_compound(join_parts(how, (firn_collider_def[]){a, b}, 2, offset, shell));
}

static firn_collider_def alone(firn_collider_def a, double offset, double shell)
{
    return of_compound(join_parts(FIRN_UNION, &a, 1, offset, shell));
}

/* A cup: a cylinder of 0.5 and 1, less one of 0.4 that begins 0.1 above its floor and ends above its lip. */
static firn_collider_def make_cup(void)
{
    return join_two(FIRN_DIFFERENCE, part_of(FIRN_CYLINDER, 0.5, 0.5, 1),
                    at(part_of(FIRN_CYLINDER, 0.4, 0.6, 1), 0, 0.2, 0), 0, 0);
}
static bool in_cup(const double p[3])
{
    const double r = hypot(p[0], p[2]);
    return r < 0.5 && fabs(p[1]) < 0.5 && !(r < 0.4 && p[1] > -0.4);
}

static firn_collider_def make_sphere_shell(void)
{
    return alone(part_of(FIRN_SPHERE, 0.6, 1, 1), 0.1, 0.15);
}
static bool in_sphere_shell(const double p[3])
{
    const double r = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
    return r < 0.7 && r > 0.55;
}

static firn_collider_def make_lens(void)
{
    return join_two(FIRN_INTERSECTION, at(part_of(FIRN_SPHERE, 0.7, 1, 1), 0, 0.4, 0),
                    at(part_of(FIRN_SPHERE, 0.7, 1, 1), 0, -0.4, 0), 0, 0);
}
static bool in_lens(const double p[3])
{
    const double r = p[0] * p[0] + p[2] * p[2];
    return r + pow(p[1] - 0.4, 2) < 0.49 && r + pow(p[1] + 0.4, 2) < 0.49;
}

/* Two bulbs that meet in a neck, hollow, open nowhere: a union with a shell. */
static firn_collider_def make_hourglass(void)
{
    return join_two(FIRN_UNION, at(part_of(FIRN_SPHERE, 0.5, 1, 1), 0, 0.4, 0),
                    at(part_of(FIRN_SPHERE, 0.5, 1, 1), 0, -0.4, 0), 0, 0.05);
}
static bool in_hourglass(const double p[3])
{
    const double r = sqrt(p[0] * p[0] + p[2] * p[2] + pow(fabs(p[1]) - 0.4, 2));
    return r < 0.5 && r > 0.45;
}

/* A slab with a turned post standing in it, both with a hole through them. */
static firn_collider_def make_post(void)
{
    const firn_collider_def whole =
        join_two(FIRN_UNION, at(part_of(FIRN_BOX, 0.7, 0.1, 0.6), 0, -0.5, 0),
                 turned(at(part_of(FIRN_BOX, 0.2, 0.6, 0.2), 0, 0, 0), 30, 1), 0, 0);
    return join_two(FIRN_DIFFERENCE, whole, turned(part_of(FIRN_CYLINDER, 0.1, 2, 1), 90, 2), 0, 0);
}
static bool in_post(const double p[3])
{
    const double c = cos(PI / 6), s = sin(PI / 6), x = c * p[0] - s * p[2], z = s * p[0] + c * p[2];
    const bool slab = fabs(p[0]) < 0.7 && fabs(p[1] + 0.5) < 0.1 && fabs(p[2]) < 0.6;
    return (slab || (fabs(x) < 0.2 && fabs(p[1]) < 0.6 && fabs(z) < 0.2)) &&
           !(hypot(p[1], p[2]) < 0.1);
}

/* A pyramid's octahedron with a corner cut off by a plane. */
static firn_collider_def make_cut_mesh(void)
{
    firn_collider_def mesh = firn_collider_def_default();
    mesh.shape = FIRN_MESH;
    mesh.mesh = octahedron(0.9);
    return join_two(FIRN_DIFFERENCE, mesh,
                    turned(at(part_of(FIRN_PLANE, 1, 1, 1), 0, -0.3, 0), 0, 0), 0, 0);
}
static bool in_cut_mesh(const double p[3])
{
    return fabs(p[0]) + fabs(p[1]) + fabs(p[2]) < 0.9 && p[1] > -0.3;
}

/* In 2D: an L of two rectangles, the upright one leaning, with a triangle cut out, hollow. */
static const double triangle[] = {-0.2, -0.2, 0.3, -0.2, -0.2, 0.3};
static firn_collider_def make_flat(void)
{
    firn_collider_def corner = part_of(FIRN_POLYGON, 1, 1, 1);
    corner.points = triangle;
    corner.point_count = 3;
    const firn_collider_def whole =
        join_two(FIRN_UNION, at(part_of(FIRN_BOX, 0.7, 0.2, 1), 0, -0.5, 0),
                 turned(at(part_of(FIRN_BOX, 0.15, 0.7, 1), -0.4, 0, 0), 20, 2), 0, 0);
    return join_two(FIRN_DIFFERENCE, whole, at(turned(corner, 50, 2), 0.2, -0.3, 0), 0, 0);
}
static bool in_triangle(double x, double y) { return x > -0.2 && y > -0.2 && x + y < 0.1; }
static bool in_flat(const double p[3])
{
    const double c = cos(PI / 9), s = sin(PI / 9), x = c * (p[0] + 0.4) + s * p[1],
                 y = -s * (p[0] + 0.4) + c * p[1];
    const double k = cos(5 * PI / 18), l = sin(5 * PI / 18), u = p[0] - 0.2, v = p[1] + 0.3;
    return ((fabs(p[0]) < 0.7 && fabs(p[1] + 0.5) < 0.2) || (fabs(x) < 0.15 && fabs(y) < 0.7)) &&
           !in_triangle(k * u + l * v, -l * u + k * v);
}

/* A rounded tube: all within 0.05 of a smaller one. */
static firn_collider_def make_rounded(void)
{
    firn_collider_def tube = part_of(FIRN_TUBE, 0.7, 0.3, 0.4);
    tube.round = 0.05;
    return alone(tube, 0, 0);
}
static bool in_rounded(const double p[3])
{
    const double r = fabs(hypot(p[0], p[2]) - 0.5) - 0.15, y = fabs(p[1]) - 0.35;
    return hypot(fmax(r, 0), fmax(y, 0)) < 0.05;
}

static const struct test_case {
    const char *name;
    firn_collider_def (*make)(void);
    bool (*solid)(const double p[3]);
    int dimension;
    double volume; /* 0: not known by hand */
    bool exact;    /* outside: a union of shapes */
} cases[] = {
    {"cup", make_cup, in_cup, 3, 0.25 * 3.14159265358979324 - 0.16 * 3.14159265358979324 * 0.9, 0},
    {"sphere shell", make_sphere_shell, in_sphere_shell, 3,
     4.18879020478639098 * (0.343 - 0.166375), 1},
    {"lens", make_lens, in_lens, 3, 2 * 3.14159265358979324 * 0.09 * (2.1 - 0.3) / 3, 0},
    {"hourglass", make_hourglass, in_hourglass, 3,
     /* two balls less their lens, outside and inside */
     8.37758040957278197 * (0.125 - 0.091125) -
         2 * 3.14159265358979324 / 3 * (0.01 * (1.5 - 0.1) - 0.0025 * (1.35 - 0.05)),
     0},
    {"post", make_post, in_post, 3, 0, 0},
    {"cut mesh", make_cut_mesh, in_cut_mesh, 3, 4 * 0.729 / 3 - 2 * 0.216 / 3, 0},
    {"flat", make_flat, in_flat, 2, 0, 0},
    {"rounded tube", make_rounded, in_rounded, 3, 0, 1},
};
enum { CASES = sizeof cases / sizeof *cases };

/* ---- distances ---- */

enum { SURFACE = 40000 };
static double surface[SURFACE][3];

/* Points of the surface, by halving the way between points that differ. */
static void find_surface(const struct test_case *t)
{
    for (int n = 0; n < SURFACE;) {
        double p[3] = {0}, q[3] = {0}, scale = n % 2 ? 2 : 0.1;
        for (int a = 0; a < t->dimension; a++) {
            p[a] = uniform(-1, 1);
            q[a] = p[a] + scale * uniform(-1, 1);
        }
        const bool in = t->solid(p);
        if (t->solid(q) == in) continue;
        for (int i = 0; i < 45; i++) {
            double m[3];
            for (int a = 0; a < 3; a++) m[a] = 0.5 * (p[a] + q[a]);
            memcpy(t->solid(m) == in ? p : q, m, sizeof m);
        }
        memcpy(surface[n++], p, sizeof p);
    }
}

static double nearest_surface(const double p[3])
{
    double least = INFINITY;
    for (int i = 0; i < SURFACE; i++) {
        double square = 0;
        for (int a = 0; a < 3; a++) square += pow(p[a] - surface[i][a], 2);
        least = fmin(least, square);
    }
    return sqrt(least);
}

static double norm(const double v[3]) { return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

static void distances_have_the_right_sign_and_are_never_too_long(void **state)
{
    (void)state;
    for (int i = 0; i < CASES; i++) {
        const struct test_case *t = &cases[i];
        const firn_collider_def def = t->make();
        random_state = (uint64_t)i + 1;
        find_surface(t);
        for (int k = 0; k < 1500; k++) {
            double p[3] = {0}, n[3];
            for (int a = 0; a < t->dimension; a++) p[a] = uniform(-1.1, 1.1);
            const double d = firn_shape_distance(&def, t->dimension, p, n),
                         true_one = nearest_surface(p);
            if (fabs(d) > 1e-9 && (d < 0) != t->solid(p)) {
                fail_msg("%s: %g at %g %g %g", t->name, d, p[0], p[1], p[2]);
            }
            if (fabs(d) > true_one + 1e-9) {
                fail_msg("%s: %g, not %g, at %g %g %g", t->name, d, true_one, p[0], p[1], p[2]);
            }
            /* Samples are about 1 cm apart. */
            if (t->exact && d > 0 && d < true_one - 0.03) {
                fail_msg("%s: only %g of %g at %g %g %g", t->name, d, true_one, p[0], p[1], p[2]);
            }
            assert_close(norm(n), 1, 1e-12);
        }
    }
}

/* Beside the surface, away from edges, the distance is what it is. */
static void distances_are_exact_near_faces(void **state)
{
    (void)state;
    for (int i = 0; i < CASES; i++) {
        const struct test_case *t = &cases[i];
        const firn_collider_def def = t->make();
        int wrong = 0;
        random_state = (uint64_t)i + 1;
        find_surface(t);
        for (int k = 0; k < 2000; k++) {
            double n[3], m[3], p[3];
            const double away = uniform(-0.01, 0.01);
            const double d = firn_shape_distance(&def, t->dimension, surface[k], n);
            if (!(fabs(d) < 1e-9)) fail_msg("%s: %g on its surface", t->name, d);
            for (int a = 0; a < 3; a++) p[a] = surface[k][a] + away * n[a];
            const double e = firn_shape_distance(&def, t->dimension, p, m);
            wrong += !(fabs(e - away) < 1e-9);
        }
        if (wrong > 60) fail_msg("%s: %d of 2000", t->name, wrong); /* within 1 cm of an edge */
    }
}

static void normals_are_the_slope_of_the_distance(void **state)
{
    (void)state;
    for (int i = 0; i < CASES; i++) {
        const struct test_case *t = &cases[i];
        const firn_collider_def def = t->make();
        int skipped = 0;
        random_state = (uint64_t)i + 11;
        for (int k = 0; k < 1000; k++) {
            double p[3] = {0}, n[3], slope[3] = {0};
            bool smooth = true;
            for (int a = 0; a < t->dimension; a++) p[a] = uniform(-1.1, 1.1);
            firn_shape_distance(&def, t->dimension, p, n);
            for (int a = 0; a < t->dimension; a++) {
                double q[3] = {p[0], p[1], p[2]}, m[3], e[2];
                for (int s = 0; s < 2; s++) {
                    q[a] = p[a] + (s ? 1e-5 : -1e-5);
                    e[s] = firn_shape_distance(&def, t->dimension, q, m);
                    for (int b = 0; b < 3; b++) smooth = smooth && fabs(m[b] - n[b]) < 1e-2;
                }
                slope[a] = (e[1] - e[0]) / 2e-5;
            }
            skipped += !smooth;
            for (int a = 0; a < 3 && smooth; a++) assert_close(slope[a], n[a], 1e-4);
        }
        if (skipped > 30) fail_msg("%s: %d", t->name, skipped);
    }
}

/* ---- volumes ---- */

static void volumes_are_those_of_the_formulas(void **state)
{
    (void)state;
    for (int i = 0; i < CASES; i++) {
        const struct test_case *t = &cases[i];
        const firn_collider_def def = t->make();
        const double volume = firn_shape_volume(&def, t->dimension);
        if (t->volume > 0) assert_close(volume / t->volume, 1, 5e-4);
        /* And again by counting. */
        enum { POINTS = 400000 };
        int inside = 0;
        random_state = (uint64_t)i + 5;
        for (int k = 0; k < POINTS; k++) {
            double p[3] = {0};
            for (int a = 0; a < t->dimension; a++) p[a] = uniform(-1, 1);
            inside += t->solid(p);
        }
        const double room = t->dimension == 3 ? 8 : 4, share = volume / room;
        assert_close((double)inside / POINTS, share, 5 * sqrt(share * (1 - share) / POINTS));
    }
}

/* What needs no integration is exact: boxes side by side. */
static void volumes_of_parts_that_are_apart_add_up(void **state)
{
    (void)state;
    const firn_collider_def def =
        join_two(FIRN_UNION, at(part_of(FIRN_BOX, 0.1, 0.2, 0.3), -0.1, 0, 0),
                 at(part_of(FIRN_SPHERE, 0.5, 1, 1), 0.5, 0, 0), 0, 0);
    assert_close(firn_shape_volume(&def, 3), 0.048 + 4 * PI / 3 * 0.125, 1e-14);
    assert_close(firn_shape_volume(&def, 2), 0.08 + PI * 0.25, 1e-14);
}

/* Walls far thinner than the cells of integration are found, and measured. */
static void thin_walls_are_seen(void **state)
{
    (void)state;
    for (double wall = 0.02; wall > 1e-3; wall *= 0.3) {
        const firn_collider_def made[2] = {
            alone(part_of(FIRN_BOX, 0.5, 0.5, 0.5), 0, wall),
            join_two(FIRN_DIFFERENCE, part_of(FIRN_BOX, 0.5, 0.5, 0.5),
                     part_of(FIRN_BOX, 0.5 - wall, 0.5 - wall, 0.5 - wall), 0, 0)};
        for (int i = 0; i < 2; i++) {
            for (int d = 2; d <= 3; d++) {
                assert_ok(firn_shape_check_in(&made[i], d, &error));
                const double volume = 1 - pow(1 - 2 * wall, d);
                assert_close(firn_shape_volume(&made[i], d) / volume, 1, 1e-3);
            }
        }
    }
}

static void bounds_hold_all_of_it(void **state)
{
    (void)state;
    for (int i = 0; i < CASES; i++) {
        const firn_collider_def def = cases[i].make();
        double low[3], high[3];
        assert_true(firn_shape_bounds(&def, cases[i].dimension, low, high));
        random_state = (uint64_t)i + 1;
        find_surface(&cases[i]);
        for (int k = 0; k < SURFACE; k++) {
            for (int a = 0; a < cases[i].dimension; a++) {
                assert_true(surface[k][a] >= low[a] - 1e-9 && surface[k][a] <= high[a] + 1e-9);
            }
        }
    }
    const firn_collider_def half =
        join_two(FIRN_UNION, part_of(FIRN_PLANE, 1, 1, 1), part_of(FIRN_SPHERE, 1, 1, 1), 0, 0);
    double low[3], high[3];
    assert_false(firn_shape_bounds(&half, 3, low, high));
    assert_true(isinf(firn_shape_volume(&half, 3)));
}

/* As many particles as the formula says, each inside of it. */
static void a_filled_cup_has_the_mass_of_a_cup(void **state)
{
    (void)state;
    for (int i = 0; i < CASES; i++) {
        const firn_collider_def def = cases[i].make();
        firn_placement p = firn_placement_default();
        firn_region region;
        firn_fill_def fill = firn_fill_def_default();
        firn_filling f = {0};
        double sum = 0;
        p.translate[0] = 2;
        p.rotate_deg[2] = 25;
        fill.pattern = FIRN_FILL_REGULAR;
        fill.separation = 0.03;
        assert_ok(firn_region_of_shape(&def, cases[i].dimension, &p, &region, &error));
        assert_ok(firn_fill(&region, &fill, &f, &error));
        const double c = cos(25 * PI / 180), s = sin(25 * PI / 180);
        for (int64_t k = 0; k < f.count; k++) {
            const double x = f.position[3 * k] - 2, y = f.position[3 * k + 1];
            const double back[3] = {c * x + s * y, -s * x + c * y, f.position[3 * k + 2]};
            assert_true(cases[i].solid(back));
            sum += f.volume[k];
        }
        assert_close(sum / firn_shape_volume(&def, cases[i].dimension), 1, 1e-9);
        firn_filling_free(&f);
    }
}

/* ---- faces ---- */

static int faces_at(const firn_collider_def *def, int dimension, const double p[3], double slack,
                    firn_face face[FIRN_MAX_FACES])
{
    firn_posed_collider c;
    firn_collider_pose(def, dimension, 0, &c);
    return firn_collider_faces(&c, dimension, p, slack, face);
}

/* A box less a box is a room: the same walls, in corners too. */
static void a_hollow_box_has_the_faces_of_a_room(void **state)
{
    (void)state;
    firn_collider_def room = firn_collider_def_default();
    room.shape = FIRN_INSIDE;
    memcpy(room.size, (double[3]){0.4, 0.3, 0.5}, sizeof room.size);
    const firn_collider_def made[3] = {
        join_two(FIRN_DIFFERENCE, part_of(FIRN_BOX, 0.6, 0.5, 0.7),
                 part_of(FIRN_BOX, 0.4, 0.3, 0.5), 0, 0),
        alone(part_of(FIRN_BOX, 0.6, 0.5, 0.7), 0, 0.2),
        join_two(FIRN_UNION, /* of two hollows, one within the other */
                 alone(part_of(FIRN_BOX, 0.6, 0.5, 0.7), 0, 0.2),
                 alone(part_of(FIRN_BOX, 0.6, 0.5, 0.7), 0, 0.1), 0, 0)};
    random_state = 3;
    int corners = 0;
    for (int k = 0; k < 20000; k++) {
        double p[3];
        firn_face want[FIRN_MAX_FACES], got[FIRN_MAX_FACES];
        for (int a = 0; a < 3; a++) p[a] = uniform(-1, 1) * (room.size[a] + 0.02);
        const int n = faces_at(&room, 3, p, 0.05, want);
        corners += n > 1;
        for (int m = 0; m < 3; m++) {
            assert_int_equal(faces_at(&made[m], 3, p, 0.05, got), n);
            for (int i = 0; i < n; i++) {
                bool found = false;
                for (int j = 0; j < n; j++) {
                    double away[3] = {got[j].depth - want[i].depth};
                    for (int a = 0; a < 3; a++) {
                        away[0] += fabs(got[j].normal[a] - want[i].normal[a]);
                    }
                    found = found || fabs(away[0]) < 1e-9;
                }
                assert_true(found);
            }
        }
    }
    assert_true(corners > 1000);
}

static void a_cup_stops_material_where_its_floor_meets_its_wall(void **state)
{
    (void)state;
    const firn_collider_def cup = make_cup();
    firn_face face[FIRN_MAX_FACES];
    assert_int_equal(faces_at(&cup, 3, (double[3]){0.39, -0.39, 0}, 0.02, face), 2);
    assert_close(fabs(face[0].normal[0]) + fabs(face[1].normal[0]), 1, 1e-12);
    assert_close(fabs(face[0].normal[1]) + fabs(face[1].normal[1]), 1, 1e-12);
    assert_int_equal(faces_at(&cup, 3, (double[3]){0, -0.39, 0}, 0.02, face), 1);
    /* The lid of what was taken away is no surface: it is at 0.8. */
    assert_int_equal(faces_at(&cup, 3, (double[3]){0, 0.79, 0}, 0.05, face), 0);
    assert_int_equal(faces_at(&cup, 3, (double[3]){0.39, 0.7, 0}, 0.05, face), 0);
    /* At the lip there is one face, which points away from it. */
    assert_int_equal(faces_at(&cup, 3, (double[3]){0.51, 0.51, 0}, 0.05, face), 1);
    assert_close(face[0].normal[0], sqrt(0.5), 1e-3);
    assert_close(face[0].depth, -hypot(0.01, 0.01), 1e-4);
}

/* A post on a floor: two faces where they meet, one elsewhere, and none of what is buried. */
static void buried_faces_stop_nothing(void **state)
{
    (void)state;
    const firn_collider_def post =
        join_two(FIRN_UNION, at(part_of(FIRN_BOX, 2, 0.5, 2), 0, -0.5, 0),
                 part_of(FIRN_BOX, 0.2, 0.3, 0.2), 0, 0);
    firn_face face[FIRN_MAX_FACES];
    assert_int_equal(faces_at(&post, 3, (double[3]){0.21, 0.01, 0}, 0.03, face), 2);
    assert_int_equal(faces_at(&post, 3, (double[3]){0.21, -0.01, 0}, 0.03, face), 2);
    assert_int_equal(faces_at(&post, 3, (double[3]){0.21, 0.01, 0.21}, 0.03, face), 2); /* edge */
    assert_int_equal(faces_at(&post, 3, (double[3]){0.4, 0.01, 0}, 0.03, face), 1);
    assert_close(face[0].normal[1], 1, 1e-12);
    assert_int_equal(faces_at(&post, 3, (double[3]){0.25, -0.29, 0}, 0.06, face), 2);
    assert_close(face[0].normal[1] + face[1].normal[1], 1, 1e-12); /* not the post's bottom */
    assert_close(face[0].normal[0] + face[1].normal[0], 1, 1e-12);
}

/* Where surfaces of parts are in the same place, there is none: a cup whose hollow ends with its rim is open, and
 * two boxes on each other are one. */
static void surfaces_in_one_place_are_none(void **state)
{
    (void)state;
    const firn_collider_def flush =
        join_two(FIRN_DIFFERENCE, part_of(FIRN_CYLINDER, 0.5, 0.5, 1),
                 at(part_of(FIRN_CYLINDER, 0.4, 0.45, 1), 0, 0.05, 0), 0, 0);
    const firn_collider_def stack =
        join_two(FIRN_UNION, at(part_of(FIRN_BOX, 0.5, 0.5, 0.5), 0, -0.5, 0),
                 at(part_of(FIRN_BOX, 0.5, 0.5, 0.5), 0, 0.5, 0), 0, 0);
    firn_face face[FIRN_MAX_FACES];
    random_state = 4;
    for (int k = 0; k < 5000; k++) {
        const double p[3] = {uniform(-0.24, 0.24), 0.5 + uniform(-0.04, 0.04),
                             uniform(-0.24, 0.24)};
        assert_int_equal(faces_at(&flush, 3, p, 0.05, face), 0);
    }
    for (int k = 0; k < 1000; k++) {
        const double p[3] = {0.5 + uniform(-0.03, 0.03), uniform(-0.05, 0.05), uniform(-0.3, 0.3)};
        if (0.5 - p[0] > fabs(p[1])) continue; /* within, nearer to where they meet */
        assert_int_equal(faces_at(&stack, 3, p, 0.05, face), 1);
        assert_close(face[0].normal[0], 1, 1e-9);
        assert_close(face[0].depth, 0.5 - p[0], 1e-6);
    }
}

/* ---- 2D ---- */

/* Turned by any angle about z, the section is that of the same body turned by hand; on its back, it keeps its left
 * and right as polygons do. */
static void a_compound_in_2d_turns_as_it_says(void **state)
{
    (void)state;
    const firn_collider_def flat = make_flat();
    firn_collider_def polygon = part_of(FIRN_POLYGON, 1, 1, 1);
    polygon.points = triangle;
    polygon.point_count = 3;
    const firn_collider_def wrapped = alone(polygon, 0, 0);
    random_state = 9;
    for (int k = 0; k < 60; k++) {
        const double angle = uniform(-360, 360), c = cos(angle * PI / 180),
                     s = sin(angle * PI / 180);
        const firn_collider_def def = at(turned(flat, angle, 2), 0.3, -0.2, 5);
        firn_posed_collider posed;
        firn_collider_pose(&def, 2, 0, &posed);
        for (int i = 0; i < 200; i++) {
            const double p[3] = {uniform(-1, 1), uniform(-1, 1), NAN}, x = p[0] - 0.3,
                         y = p[1] + 0.2;
            const double back[3] = {c * x + s * y, -s * x + c * y, 0};
            double n[3], m[3];
            const double d = firn_collider_distance(&posed, 2, p, n);
            if (fabs(d) > 1e-9) assert_int_equal(d < 0, in_flat(back));
            assert_close(d, firn_shape_distance(&flat, 2, back, m), 1e-12);
            assert_close(n[0], c * m[0] - s * m[1], 1e-9);
            assert_true(n[2] == 0);
        }
        firn_collider_def both[2] = {polygon, wrapped};
        double d[2];
        for (int i = 0; i < 2; i++) {
            both[i].rotation[0] = cos(k), both[i].rotation[1] = sin(k);
            both[i].rotation[2] = 0.3, both[i].rotation[3] = -0.5;
            firn_collider_pose(&both[i], 2, 0, &posed);
            double n[3];
            d[i] = firn_collider_distance(&posed, 2, (double[3]){0.3, 0.2, 0}, n);
        }
        assert_close(d[0], d[1], 1e-12);
    }
}

/* ---- copies of another size ---- */

static void a_scaled_compound_is_the_same_in_all_lengths(void **state)
{
    (void)state;
    for (int i = 0; i < CASES; i++) {
        const firn_collider_def def = cases[i].make();
        firn_collider_def large = def;
        firn_compound *copy = NULL;
        const double volume = firn_shape_volume(&def, cases[i].dimension);
        assert_ok(firn_compound_scale(def.compound, 2.5, &copy, &error));
        large.compound = copy;
        random_state = (uint64_t)i;
        for (int k = 0; k < 300; k++) {
            double p[3] = {0}, q[3], n[3], m[3];
            for (int a = 0; a < cases[i].dimension; a++) {
                p[a] = uniform(-1, 1);
                q[a] = 2.5 * p[a];
            }
            q[2] = cases[i].dimension == 3 ? q[2] : 0;
            const double d = firn_shape_distance(&def, cases[i].dimension, p, n);
            assert_close(firn_shape_distance(&large, cases[i].dimension, q, m), 2.5 * d, 1e-12);
        }
        assert_close(firn_shape_volume(&large, cases[i].dimension),
                     pow(2.5, cases[i].dimension) * volume, 1e-9 * volume * 20);
        firn_compound_destroy(copy);
    }
}

/* ---- in a sim ---- */

/* A turned cup of thin walls with elastic cubes thrown into its corner keeps them. */
static void a_cup_holds_what_is_thrown_into_it(void **state)
{
    (void)state;
    for (size_t path = 0; path < PATHS; path++) {
        for (int boundary = FIRN_SLIP; boundary <= FIRN_SEPARATE; boundary++) {
            world w = world_default(3, 0.02);
            const firn_collider_def cup =
                join_two(FIRN_DIFFERENCE, part_of(FIRN_CYLINDER, 0.2, 0.2, 1),
                         at(part_of(FIRN_CYLINDER, 0.17, 0.2, 1), 0, 0.03, 0), 0, 0);
            w.def.path = both_paths[path];
            w.def.collider_count = 1;
            w.def.gravity[1] = -9.81;
            w.collider[0] = turned(cup, -30, 2);
            w.collider[0].boundary = (firn_boundary)boundary;
            firn_sim *sim = world_create(&w);
            random_state = 5;
            const brick b = {.low = {-3, -3, -3},
                             .cells = {6, 6, 6},
                             .per_axis = 2,
                             .jitter = 0.5,
                             .velocity = {3, -5, 0.5}};
            brick_add(sim, &w, &b);
            for (int part = 0; part < 10; part++) {
                assert_ok(firn_sim_advance(sim, 0.03, NULL, &error));
                const int64_t count = firn_sim_count(sim);
                double *x = read_all(sim, 3, FIRN_POSITION);
                for (int64_t i = 0; i < count; i++) {
                    const double c = cos(PI / 6), s = sin(PI / 6);
                    const double px = c * x[3 * i] - s * x[3 * i + 1],
                                 py = s * x[3 * i] + c * x[3 * i + 1];
                    if (hypot(px, x[3 * i + 2]) > 0.17 + 1e-6 || py < -0.17 - 1e-6) {
                        fail_msg("path %zu, boundary %d, at %g s: particle at %g %g %g of the cup",
                                 path, boundary, firn_sim_time(sim), px, py, x[3 * i + 2]);
                    }
                }
                free(x);
            }
            firn_sim_destroy(sim);
        }
    }
}

/* A state with a cup that was taken away and came back is loaded where the cup is known, and refused elsewhere. */
static void a_cup_that_came_back_is_in_the_state(void **state)
{
    (void)state;
    world w = world_default(3, 0.02);
    w.def.collider_count = 1;
    w.collider[0] = make_cup();
    firn_sim *sim = world_create(&w), *same = world_create(&w), *other = NULL;
    firn_collider_def moved = at(w.collider[0], 0.1, 0, 0);
    int32_t place = -1;
    assert_ok(firn_sim_remove_collider(sim, 0, &error));
    assert_ok(firn_sim_add_collider(sim, &moved, &place, &error));
    assert_int_equal(place, 0);
    bytes b = {NULL, 0, 0};
    assert_ok(firn_sim_save(sim, put, &b, &error));
    assert_ok(firn_sim_load(same, take, &b, &error));
    for (int i = 0; i < 2; i++) {
        const brick one = {.low = {-1, -19, -1}, .cells = {1, 1, 1}, .per_axis = 2};
        brick_add(i ? same : sim, &w, &one);
        assert_ok(firn_sim_advance(i ? same : sim, 0.01, NULL, &error));
    }
    firn_hash hash[2];
    assert_ok(firn_sim_hash(sim, &hash[0], &error));
    assert_ok(firn_sim_hash(same, &hash[1], &error));
    assert_memory_equal(&hash[0], &hash[1], sizeof hash[0]);
    w.collider[0].shape = FIRN_PLANE;
    other = world_create(&w);
    b.at = 0;
    firn_error refusal = {0};
    assert_int_equal(firn_sim_load(other, take, &b, &refusal), FIRN_INVALID);
    assert_non_null(strstr(refusal.message, "compound NULL"));
    free(b.data);
    firn_sim_destroy(sim);
    firn_sim_destroy(same);
    firn_sim_destroy(other);
}

/* ---- what is refused ---- */

static void expect_refusal(firn_compound_def def, const char *words)
{
    firn_compound *out = NULL;
    firn_error error = {0};
    assert_int_equal(firn_compound_create(&def, &out, &error), FIRN_INVALID);
    assert_null(out);
    if (!strstr(error.message, words)) fail_msg("\"%s\" lacks \"%s\"", error.message, words);
}

static void expect_useless(firn_collider_def def, int dimension, const char *words)
{
    firn_error error = {0};
    assert_int_equal(firn_collider_check(&def, dimension, "it", &error), FIRN_INVALID);
    if (!strstr(error.message, words)) fail_msg("\"%s\" lacks \"%s\"", error.message, words);
}

static void bad_compounds_are_refused(void **state)
{
    (void)state;
    firn_collider_def part[FIRN_MOST_PARTS + 1];
    for (int i = 0; i <= FIRN_MOST_PARTS; i++) part[i] = part_of(FIRN_SPHERE, 1, 1, 1);
    firn_compound_def good = firn_compound_def_default(), def;
    good.parts = part;
    good.part_count = 2;
    def = good, def.stamp = 0;
    expect_refusal(def, "firn_compound_def_default");
    def = good, def.join = FIRN_JOIN_COUNT;
    expect_refusal(def, "join 3");
    def = good, def.part_count = 0;
    expect_refusal(def, "part_count 0");
    def = good, def.part_count = FIRN_MOST_PARTS + 1;
    expect_refusal(def, "part_count 257");
    def = good, def.part_count = FIRN_MOST_PARTS;
    expect_refusal(def, "up to 256 parts");
    def = good, def.shell = -1;
    expect_refusal(def, "shell -1");
    def = good, def.shell = INFINITY;
    expect_refusal(def, "shell inf");
    def = good, def.offset = NAN;
    expect_refusal(def, "offset nan");
    part[1].size[0] = -1;
    expect_refusal(good, "parts[1].size[0] -1");
    part[1] = part_of(FIRN_SPHERE, 1, 1, 1), part[1].position[1] = NAN;
    expect_refusal(good, "parts[1].position[1] nan");
    part[1] = part_of(FIRN_SPHERE, 1, 1, 1), part[1].rotation[0] = 0;
    expect_refusal(good, "parts[1].rotation");
    part[1] = part_of(FIRN_SPHERE, 1, 1, 1), part[1].round = 0.1;
    expect_refusal(good, "a sphere cannot be rounded");
    part[1] = part_of(FIRN_BOX, 1, 1, 1), part[1].round = 1;
    expect_refusal(good, "round 1 m leaves nothing of the box");
    part[1] = part_of(FIRN_BOX, 1, 1, 1), part[1].round = NAN;
    expect_refusal(good, "round nan");
    part[1] = firn_collider_def_default(), part[1].shape = FIRN_COMPOUND;
    expect_refusal(good, "compound NULL");
    firn_collider_def deep = part_of(FIRN_SPHERE, 1, 1, 1);
    for (int i = 0; i < FIRN_MOST_NESTED; i++) deep = alone(deep, 0, 0);
    def = good, def.parts = &deep, def.part_count = 1;
    expect_refusal(def, "nested up to 8 deep");

    firn_collider_def round = part_of(FIRN_BOX, 1, 1, 1);
    round.round = 0.02;
    expect_useless(round, 3, "round 0.02 must be 0, as a box");
    expect_useless(join_two(FIRN_INTERSECTION, part_of(FIRN_SPHERE, 0.1, 1, 1),
                            at(part_of(FIRN_SPHERE, 0.1, 1, 1), 1, 0, 0), 0, 0),
                   3, "it.nothing is left of it; move its parts together");
    expect_useless(join_two(FIRN_DIFFERENCE, part_of(FIRN_SPHERE, 0.1, 1, 1),
                            part_of(FIRN_SPHERE, 0.2, 1, 1), 0, 0),
                   3, "covers it all");
    expect_useless(alone(part_of(FIRN_SPHERE, 0.1, 1, 1), -0.2, 0), 3, "offset nearer to 0");
    expect_useless(alone(part_of(FIRN_SPHERE, 0.1, 1, 1), 0, 0.1), 3, "shell 0.1 m is too thick");
    expect_useless(alone(turned(part_of(FIRN_BOX, 1, 1, 1), 20, 0), 0, 0), 2, "turn about z");
    expect_useless(make_cut_mesh(), 2, "is a mesh");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distances_have_the_right_sign_and_are_never_too_long),
        cmocka_unit_test(distances_are_exact_near_faces),
        cmocka_unit_test(normals_are_the_slope_of_the_distance),
        cmocka_unit_test(volumes_are_those_of_the_formulas),
        cmocka_unit_test(volumes_of_parts_that_are_apart_add_up),
        cmocka_unit_test(thin_walls_are_seen),
        cmocka_unit_test(bounds_hold_all_of_it),
        cmocka_unit_test(a_filled_cup_has_the_mass_of_a_cup),
        cmocka_unit_test(a_hollow_box_has_the_faces_of_a_room),
        cmocka_unit_test(a_cup_stops_material_where_its_floor_meets_its_wall),
        cmocka_unit_test(buried_faces_stop_nothing),
        cmocka_unit_test(surfaces_in_one_place_are_none),
        cmocka_unit_test(a_compound_in_2d_turns_as_it_says),
        cmocka_unit_test(a_scaled_compound_is_the_same_in_all_lengths),
        cmocka_unit_test(a_cup_holds_what_is_thrown_into_it),
        cmocka_unit_test(a_cup_that_came_back_is_in_the_state),
        cmocka_unit_test(bad_compounds_are_refused),
    };
    return cmocka_run_group_tests_name("compound", tests, NULL, NULL);
}
