/* Filling: shapes have the volumes they claim, particles are where the pattern says, volumes add up;
 * and noise. */
#include "filling.h"
#include "compounds.h"
#include "meshes.h"
#include <firn/geometry.h>

/* ---- shapes ---- */

static const double star[] = {0, 1, 0.2, 0.2, 1, 0, 0.2, -0.2, 0, -1, -0.2, -0.2, -1, 0, -0.2, 0.2};

/* Every shape that can be filled, some by hand: `volume` by another formula. */
typedef struct sample {
    firn_shape_kind shape;
    int32_t dimension;
    double size[3], volume;
} sample;

static const sample by_hand[] = {
    {FIRN_SPHERE, 3, {0.7}, 1.4367550402417321},
    {FIRN_BOX, 3, {0.25, 0.625, 1}, 1.25},
    {FIRN_CAPSULE, 3, {0.3, 0.4}, 0.33929200658769770},
    {FIRN_CYLINDER, 3, {0.5, 0.6}, 0.94247779607693797},
    {FIRN_TORUS, 3, {0.75, 0.25}, 0.92527541260212715},
    {FIRN_TORUS, 3, {0.3, 0.5}, 1.5377403276407763}, /* the tube closes the hole */
    {FIRN_CONE, 3, {0.6, 1.5}, 0.56548667764616278},
    {FIRN_ELLIPSOID, 3, {0.4, 0.8, 1.2}, 1.6084954386379742},
    {FIRN_SPHERE, 2, {0.5}, 0.78539816339744831},
    {FIRN_BOX, 2, {0.25, 1.5}, 1.5},
    {FIRN_RING, 2, {1, 0.5}, 2.3561944901923449},
    {FIRN_POLYGON, 2, {0}, 0.8},
    {FIRN_CAPSULE, 2, {0.5, 1.5}, 3.7853981633974483},
};
enum { BY_HAND = sizeof by_hand / sizeof *by_hand, SAMPLES = BY_HAND + 2 * FIRN_SHAPE_COUNT };
static sample samples[SAMPLES];
static int sample_count;

static firn_collider_def shape_of(const sample *s)
{
    firn_collider_def def = firn_collider_def_default();
    def.shape = s->shape;
    memcpy(def.size, s->size, sizeof def.size);
    for (int a = 0; a < 3; a++) def.size[a] = def.size[a] > 0 ? def.size[a] : 1;
    def.points = star;
    def.point_count = 8;
    def.mesh = octahedron(1.1);
    def.compound = two_boxes(1.1);
    if (def.shape == FIRN_ROUNDED_BOX) def.round = 0.3;
    return def;
}

/* Those by hand, then every shape in both dimensions where it has an end. */
static int make_samples(void **state)
{
    (void)state;
    memcpy(samples, by_hand, sizeof by_hand);
    sample_count = BY_HAND;
    for (int i = 0; i < 2 * FIRN_SHAPE_COUNT; i++) {
        sample s = {(firn_shape_kind)(i / 2), 2 + i % 2, {1.1, 0.9, 1}, 0};
        const firn_collider_def def = shape_of(&s);
        s.volume = firn_shape_volume(&def, s.dimension);
        if (isfinite(s.volume)) samples[sample_count++] = s;
    }
    return 0;
}

static firn_region region_of(const sample *s, const firn_placement *placement)
{
    firn_region region;
    const firn_collider_def def = shape_of(s);
    assert_ok(firn_region_of_shape(&def, s->dimension, placement, &region, &error));
    return region;
}

static void volumes_are_exact(void **state)
{
    (void)state;
    for (int s = 0; s < sample_count; s++) {
        const firn_placement as_it_is = firn_placement_default();
        const firn_region region = region_of(&samples[s], &as_it_is);
        assert_close(region.volume, samples[s].volume, 1e-14 * samples[s].volume);
        const firn_placement moved = somewhere(region.dimension);
        const firn_region placed = region_of(&samples[s], &moved);
        const double scale = region.dimension == 2 ? 0.75 : 0.6;
        assert_close(placed.volume, scale * samples[s].volume, 1e-14 * samples[s].volume);
    }
}

/* The volume again, by counting random points, which also shows that bounds and inside agree. */
static void inside_tests_agree_with_volumes_and_bounds(void **state)
{
    (void)state;
    for (int s = 0; s < sample_count; s++) {
        const firn_placement moved = somewhere(samples[s].dimension);
        const firn_region region = region_of(&samples[s], &moved);
        enum { POINTS = 40000 };
        double room = 1;
        int inside = 0;
        random_state = (uint64_t)s;
        for (int a = 0; a < region.dimension; a++) room *= 1.4 * (region.high[a] - region.low[a]);
        for (int i = 0; i < POINTS; i++) {
            double p[3] = {0};
            for (int a = 0; a < region.dimension; a++) {
                const double spare = 0.2 * (region.high[a] - region.low[a]);
                p[a] = uniform(region.low[a] - spare, region.high[a] + spare);
            }
            const bool in = firn_region_inside(&region, p);
            const double d = firn_region_distance(&region, p, INFINITY);
            if (d != 0) assert_int_equal(in, d < 0);
            inside += in;
        }
        const double share = (double)inside / POINTS, want = region.volume / room;
        assert_close(share, want, 5 * sqrt(want * (1 - want) / POINTS));
    }
}

/* No step of the distance crosses the surface. */
static void distances_are_never_too_long(void **state)
{
    (void)state;
    for (int s = 0; s < sample_count; s++) {
        const firn_placement moved = somewhere(samples[s].dimension);
        const firn_region region = region_of(&samples[s], &moved);
        random_state = (uint64_t)s + 100;
        for (int i = 0; i < 3000; i++) {
            double p[3] = {0}, q[3] = {0}, step[3] = {0}, length = 0;
            for (int a = 0; a < region.dimension; a++) {
                p[a] = uniform(region.low[a] - 0.3, region.high[a] + 0.3);
                step[a] = uniform(-1, 1);
                length += step[a] * step[a];
            }
            const double d = firn_region_distance(&region, p, INFINITY);
            for (int a = 0; a < 3; a++) q[a] = p[a] + 0.999 * fabs(d) * step[a] / sqrt(length);
            assert_int_equal(firn_region_inside(&region, q), d < 0);
            const double depth = firn_region_depth(&region, p, 10);
            assert_true(fabs(depth) >= fabs(d) * (1 - 1e-3));
        }
    }
}

static void quarter_turns_are_exact(void **state)
{
    (void)state;
    firn_placement p = firn_placement_default();
    p.rotate_deg[2] = 90;
    firn_affine affine;
    assert_ok(firn_placement_resolve(&p, 3, &affine, &error));
    const double local[3] = {1, 2, 3};
    double world[3], back[3];
    firn_affine_to_world(&affine, local, world);
    assert_true(world[0] == -2 && world[1] == 1 && world[2] == 3);
    p = somewhere(3);
    assert_ok(firn_placement_resolve(&p, 3, &affine, &error));
    firn_affine_to_world(&affine, local, world);
    firn_affine_to_local(&affine, world, back);
    for (int a = 0; a < 3; a++) assert_close(back[a], local[a], 1e-14);
}

static void euler_angles_turn_about_x_then_y_then_z(void **state)
{
    (void)state;
    firn_placement p = firn_placement_default();
    const double turns[3] = {90, 90, 0};
    memcpy(p.rotate_deg, turns, sizeof turns);
    firn_affine affine;
    assert_ok(firn_placement_resolve(&p, 3, &affine, &error));
    const double up[3] = {0, 1, 0}; /* to +z about x, then to +x about y */
    double world[3];
    firn_affine_to_world(&affine, up, world);
    assert_true(world[0] == 1 && world[1] == 0 && world[2] == 0);
}

static void bad_shapes_and_placements_are_refused(void **state)
{
    (void)state;
    const firn_placement fine = firn_placement_default();
    firn_placement p = fine;
    firn_region r;
    firn_collider_def def = firn_collider_def_default();
    assert_refused(firn_region_of_shape(&def, 3, &fine, &r, &error), "plane has no end in 3D");
    def.shape = FIRN_SPHERE;
    def.size[0] = -1;
    assert_refused(firn_region_of_shape(&def, 3, &fine, &r, &error), "-1 must be above 0 (radius");
    def.size[0] = NAN;
    assert_refused(firn_region_of_shape(&def, 3, &fine, &r, &error), "size[0] nan");
    def.shape = FIRN_RING;
    def.size[0] = def.size[1] = 1;
    assert_refused(firn_region_of_shape(&def, 2, &fine, &r, &error), "inner 1");
    const double bow[] = {0, 0, 1, 1, 1, 0, 0, 1};
    def.shape = FIRN_POLYGON;
    def.points = bow;
    def.point_count = 4;
    assert_refused(firn_region_of_shape(&def, 2, &fine, &r, &error), "edges 1 and 3");
    def.point_count = 2;
    assert_refused(firn_region_of_shape(&def, 2, &fine, &r, &error), "2 corners");
    def.shape = FIRN_SPHERE;
    p.scale[1] = 0;
    assert_refused(firn_region_of_shape(&def, 3, &p, &r, &error), "scale[1] 0");
    p = fine;
    p.translate[2] = INFINITY;
    assert_refused(firn_region_of_shape(&def, 3, &p, &r, &error), "translate[2] inf");
    p = fine;
    p.rotate_deg[0] = 10;
    assert_refused(firn_region_of_shape(&def, 2, &p, &r, &error), "leaves the plane");
}

/* Within a torus whose tube is wider than its ring, the nearest surface may be the cusps on its axis;
 * the tube's circle beyond the axis is none. */
static void a_torus_without_a_hole_is_as_deep_as_its_cusps(void **state)
{
    (void)state;
    const firn_placement fine = firn_placement_default();
    const firn_region region = region_of(&samples[5], &fine);
    assert_close(firn_region_depth(&region, (const double[3]){0, 0, 0}, 10), 0.4, 1e-15);
    assert_close(firn_region_depth(&region, (const double[3]){0, 0.5, 0}, 10),
                 0.5 - hypot(0.3, 0.5), 1e-15);
}

/* ---- filling ---- */

static void particles_are_inside_and_their_volumes_add_up(void **state)
{
    (void)state;
    for (int s = 0; s < sample_count; s++) {
        const firn_placement moved = somewhere(samples[s].dimension);
        const firn_region region = region_of(&samples[s], &moved);
        for (int pattern = 0; firn_pattern_name(pattern); pattern++) {
            const double h = region.dimension == 2 ? 0.02 : 0.05;
            const firn_fill_def def = def_of(pattern, h);
            firn_filling f;
            assert_ok(firn_fill(&region, &def, &f, &error));
            check_filling(&region, &f);
            /* Blue noise packs a little closer along surfaces. */
            const double expected = region.volume / pow(h, region.dimension);
            if (fabs((double)f.count / expected - 1) > 0.12) {
                print_error("%s, %s: %lld particles, not %g\n", firn_shape_name(samples[s].shape),
                            firn_pattern_name(pattern), (long long)f.count, expected);
                fail();
            }
            firn_filling_free(&f);
        }
    }
}

static void counts_are_exact(void **state)
{
    (void)state;
    static const int64_t counts[] = {1, 7, 1000, 6629};
    for (int pattern = 0; firn_pattern_name(pattern); pattern++) {
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            for (int s = 0; s < sample_count; s += 3) {
                const firn_placement p = firn_placement_default();
                const firn_region region = region_of(&samples[s], &p);
                firn_fill_def def = def_of(pattern, 0);
                def.count = counts[c];
                firn_filling f;
                assert_ok(firn_fill(&region, &def, &f, &error));
                assert_int_equal(f.count, counts[c]);
                check_filling(&region, &f);
                firn_filling_free(&f);
            }
        }
    }
}

static void a_box_is_filled_by_a_lattice_without_remainder(void **state)
{
    (void)state;
    const sample box = {FIRN_BOX, 3, {0.5, 0.25, 0.1}, 0.1};
    const firn_placement p = firn_placement_default();
    const firn_region region = region_of(&box, &p);
    firn_filling f;
    for (int pattern = FIRN_FILL_REGULAR; pattern <= FIRN_FILL_JITTERED; pattern++) {
        const firn_fill_def def = def_of(pattern, 0.1);
        assert_ok(firn_fill(&region, &def, &f, &error));
        assert_int_equal(f.count, 100);
        for (int64_t i = 0; i < f.count; i++) {
            assert_close(f.volume[i], 0.001, 1e-18);
            if (pattern != FIRN_FILL_REGULAR) continue;
            for (int a = 0; a < 3; a++) {
                const double cells = (f.position[3 * i + a] - region.low[a]) / 0.1 - 0.5;
                assert_close(cells, rint(cells), 1e-12);
            }
        }
        firn_filling_free(&f);
    }
}

/* Buckets as wide as the distance: neighbours are in the same or the next one. */
typedef struct buckets {
    const firn_filling *f;
    double size, low[3];
    int64_t n[3], *start, *item;
} buckets;

static void bucket_of(const buckets *b, const double p[3], int64_t index[3])
{
    for (int a = 0; a < 3; a++) {
        index[a] = (int64_t)floor((p[a] - b->low[a]) / b->size);
        if (index[a] < 0) index[a] = 0;
        if (index[a] >= b->n[a]) index[a] = b->n[a] - 1;
    }
}

static int64_t bucket_number(const buckets *b, const int64_t i[3])
{
    return (i[2] * b->n[1] + i[1]) * b->n[0] + i[0];
}

static buckets make_buckets(const firn_region *region, const firn_filling *f, double size)
{
    buckets b = {.f = f, .size = size};
    int64_t total = 1;
    for (int a = 0; a < 3; a++) {
        b.low[a] = region->low[a];
        b.n[a] = (int64_t)((region->high[a] - region->low[a]) / size) + 1;
        total *= b.n[a];
    }
    b.start = calloc((size_t)total + 2, sizeof *b.start);
    b.item = malloc((size_t)f->count * sizeof *b.item);
    int64_t index[3];
    for (int64_t i = 0; i < f->count; i++) {
        bucket_of(&b, f->position + 3 * i, index);
        b.start[bucket_number(&b, index) + 2]++;
    }
    for (int64_t i = 0; i < total; i++) b.start[i + 2] += b.start[i + 1];
    for (int64_t i = 0; i < f->count; i++) {
        bucket_of(&b, f->position + 3 * i, index);
        b.item[b.start[bucket_number(&b, index) + 1]++] = i;
    }
    return b;
}

/* Distance to the nearest particle other than `self`, or twice the bucket size. */
static double nearest(const buckets *b, const double p[3], int64_t self)
{
    double best = 2 * b->size;
    int64_t middle[3], i[3];
    bucket_of(b, p, middle);
    for (i[2] = middle[2] - 2; i[2] <= middle[2] + 2; i[2]++)
        for (i[1] = middle[1] - 2; i[1] <= middle[1] + 2; i[1]++)
            for (i[0] = middle[0] - 2; i[0] <= middle[0] + 2; i[0]++) {
                bool out = false;
                for (int a = 0; a < 3; a++) out |= i[a] < 0 || i[a] >= b->n[a];
                if (out) continue;
                const int64_t n = bucket_number(b, i);
                for (int64_t k = b->start[n]; k < b->start[n + 1]; k++) {
                    if (b->item[k] == self) continue;
                    const double *q = b->f->position + 3 * b->item[k];
                    best = fmin(best, hypot(hypot(p[0] - q[0], p[1] - q[1]), p[2] - q[2]));
                }
            }
    return best;
}

static void blue_noise_keeps_its_distance_and_leaves_no_holes(void **state)
{
    (void)state;
    static const int chosen[] = {0, 4, 7, 8, 11};
    for (size_t c = 0; c < sizeof chosen / sizeof *chosen; c++) {
        const firn_placement moved = somewhere(samples[chosen[c]].dimension);
        const firn_region region = region_of(&samples[chosen[c]], &moved);
        const firn_fill_def def = def_of(FIRN_FILL_BLUE_NOISE, region.dimension == 2 ? 0.01 : 0.04);
        firn_filling f;
        assert_ok(firn_fill(&region, &def, &f, &error));
        const double distance = firn_fill_blue_distance(region.dimension, def.separation);
        buckets b = make_buckets(&region, &f, distance);
        for (int64_t i = 0; i < f.count; i++) {
            assert_true(nearest(&b, f.position + 3 * i, i) >= distance);
        }
        random_state = c;
        for (int i = 0; i < 20000; i++) {
            double p[3] = {0};
            for (int a = 0; a < region.dimension; a++)
                p[a] = uniform(region.low[a], region.high[a]);
            if (firn_region_distance(&region, p, 1) > -distance) continue;
            assert_true(nearest(&b, p, -1) <= 1.25 * distance);
        }
        free(b.start);
        free(b.item);
        firn_filling_free(&f);
    }
}

static void patterns_are_random_as_they_claim(void **state)
{
    (void)state;
    const sample box = {FIRN_BOX, 3, {0.5, 0.5, 0.5}, 1};
    const firn_placement p = firn_placement_default();
    const firn_region region = region_of(&box, &p);
    for (int pattern = 0; firn_pattern_name(pattern); pattern++) {
        firn_fill_def def = def_of(pattern, 0.05);
        firn_filling f, g;
        assert_ok(firn_fill(&region, &def, &f, &error));
        def.seed++;
        assert_ok(firn_fill(&region, &def, &g, &error));
        const int64_t common = f.count < g.count ? f.count : g.count;
        const bool same = memcmp(f.position, g.position, (size_t)common * 24) == 0;
        assert_int_equal(same, pattern == FIRN_FILL_REGULAR);
        double mean[3] = {0};
        for (int64_t i = 0; i < f.count; i++) {
            for (int a = 0; a < 3; a++) mean[a] += f.position[3 * i + a] / (double)f.count;
        }
        for (int a = 0; a < 3; a++) assert_close(mean[a], 0, 5 * 0.29 / sqrt(8000));
        firn_filling_free(&f);
        firn_filling_free(&g);
    }
}

static void surfaces_are_refined(void **state)
{
    (void)state;
    static const int chosen[] = {0, 7, 8};
    for (int pattern = 0; firn_pattern_name(pattern); pattern++) {
        for (int c = 0; c < 3; c++) {
            const firn_placement p = firn_placement_default();
            const firn_region region = region_of(&samples[chosen[c]], &p);
            firn_fill_def def = def_of(pattern, region.dimension == 2 ? 0.04 : 0.08);
            def.refine_levels = 2;
            def.refine_distance = 0.12;
            firn_filling f;
            assert_ok(firn_fill(&region, &def, &f, &error));
            check_filling(&region, &f);
            /* Local density: what a particle stands for, by depth. Its share is exact, the total of
             * shares is the body's volume up to the surface's roughness. */
            const double whole = pow(def.separation, region.dimension);
            int64_t at_level[3] = {0};
            for (int64_t i = 0; i < f.count; i++) {
                const double depth = firn_region_depth(&region, f.position + 3 * i, 1);
                const double level = -log2(f.volume[i] / whole) / region.dimension;
                assert_close(level, rint(level), 0.1);
                assert_true(level > -0.5 && level < 2.5);
                at_level[(int)rint(level)]++;
                if (!region.exact) continue; /* depths are estimates */
                const double slack = 0.8 * def.separation;
                if (rint(level) == 0) assert_true(depth > 0.12 - slack);
                if (rint(level) == 1) assert_true(depth > 0.06 - slack && depth < 0.12 + slack);
                if (rint(level) == 2) assert_true(depth < 0.06 + slack);
            }
            for (int l = 0; l < 3; l++) assert_true(at_level[l] > 0);
            if (pattern == FIRN_FILL_BLUE_NOISE) {
                const double least = firn_fill_blue_distance(region.dimension, def.separation / 4);
                buckets b = make_buckets(&region, &f, least);
                for (int64_t i = 0; i < f.count; i++) {
                    assert_true(nearest(&b, f.position + 3 * i, i) >= least);
                }
                free(b.start);
                free(b.item);
            }
            firn_filling_free(&f);
        }
    }
}

static void places_that_are_taken_are_skipped_and_counted(void **state)
{
    (void)state;
    const sample first = {FIRN_SPHERE, 3, {0.5}, 0}, second = {FIRN_BOX, 3, {0.5, 0.5, 0.5}, 0};
    firn_placement p = firn_placement_default();
    const firn_region ball = region_of(&first, &p);
    p.translate[0] = 0.5;
    const firn_region box = region_of(&second, &p);
    const firn_region *const taken[] = {&ball};
    for (int pattern = 0; firn_pattern_name(pattern); pattern++) {
        firn_fill_def def = def_of(pattern, 0.04);
        firn_filling whole, rest;
        assert_ok(firn_fill(&box, &def, &whole, &error));
        def.taken = taken;
        def.taken_count = 1;
        assert_ok(firn_fill(&box, &def, &rest, &error));
        assert_int_equal(rest.count + rest.dropped, whole.count);
        int64_t inside = 0;
        for (int64_t i = 0; i < whole.count; i++) {
            inside += firn_region_inside(&ball, whole.position + 3 * i);
        }
        assert_int_equal(rest.dropped, inside);
        for (int64_t i = 0; i < rest.count; i++) {
            assert_false(firn_region_inside(&ball, rest.position + 3 * i));
        }
        assert_close(sum_of(&rest), 1 - pi / 12, 0.01); /* half a ball is gone */
        firn_filling_free(&whole);
        firn_filling_free(&rest);
    }
}

static void bad_amounts_are_refused(void **state)
{
    (void)state;
    const firn_placement p = firn_placement_default();
    const firn_region region = region_of(&samples[0], &p);
    firn_filling f;
    firn_fill_def def = def_of(FIRN_FILL_REGULAR, 0);
    assert_refused(firn_fill(&region, &def, &f, &error), "no amount of particles");
    def.separation = 0.1, def.count = 5;
    assert_refused(firn_fill(&region, &def, &f, &error), "more than one amount");
    def = def_of(FIRN_FILL_REGULAR, -1);
    assert_refused(firn_fill(&region, &def, &f, &error), "separation -1");
    def = def_of(FIRN_FILL_REGULAR, 1e-9);
    assert_refused(firn_fill(&region, &def, &f, &error), "use a separation of at least");
    def = def_of(FIRN_FILL_REGULAR, 0);
    def.count = -3;
    assert_refused(firn_fill(&region, &def, &f, &error), "count -3");
    def.count = 0, def.per_voxel = 8;
    assert_refused(firn_fill(&region, &def, &f, &error), "per_voxel is for voxel files");
    def = def_of(FIRN_FILL_REGULAR, 0.1);
    def.refine_levels = 7;
    assert_refused(firn_fill(&region, &def, &f, &error), "refine_levels 7");
    def.refine_levels = 1;
    assert_refused(firn_fill(&region, &def, &f, &error), "refine_distance 0");
    def.refine_levels = 6, def.refine_distance = 1, def.most = 100000;
    assert_refused(firn_fill(&region, &def, &f, &error), "more than 100000 particles");
    const firn_region ring = region_of(&samples[10], &p);
    def = def_of(FIRN_FILL_REGULAR, 10);
    assert_refused(firn_fill(&ring, &def, &f, &error), "no particle fits");
}

/* ---- noise ---- */

static void noise_is_smooth_centred_and_within_one(void **state)
{
    (void)state;
    for (int octaves = 1; octaves <= 6; octaves += 5) {
        double sum = 0, square = 0, least = 0, most = 0;
        random_state = 11;
        enum { POINTS = 50000 };
        for (int i = 0; i < POINTS; i++) {
            double p[3];
            for (int a = 0; a < 3; a++) p[a] = uniform(-100, 100);
            const double n = firn_noise(p, 0.5, octaves, 3);
            sum += n, square += n * n, least = fmin(least, n), most = fmax(most, n);
            p[i % 3] += 1e-6;
            const double step = fabs(firn_noise(p, 0.5, octaves, 3) - n);
            assert_true(step < 1e-6 / 0.5 * 4 * octaves);
        }
        assert_close(sum / POINTS, 0, 0.01);
        assert_true(sqrt(square / POINTS) > 0.15);
        assert_true(least >= -1 && most <= 1 && least < -0.5 && most > 0.5);
    }
}

/* Far apart in features values have nothing to do with each other; near by they agree. */
static void noise_has_the_feature_size_it_is_given(void **state)
{
    (void)state;
    double near = 0, far = 0, square = 0;
    random_state = 4;
    for (int i = 0; i < 20000; i++) {
        double p[3];
        for (int a = 0; a < 3; a++) p[a] = uniform(-50, 50);
        const double here = firn_noise(p, 2, 1, 9);
        square += here * here;
        p[0] += 0.2;
        near += here * firn_noise(p, 2, 1, 9);
        p[0] += 10;
        far += here * firn_noise(p, 2, 1, 9);
    }
    assert_true(near > 0.9 * square);
    assert_true(fabs(far) < 0.05 * square);
}

/* The values of today: integers hashed, sums and products only, so the same everywhere. */
static void noise_has_the_same_values_on_every_machine(void **state)
{
    (void)state;
    static const double at[3][3] = {{0, 0, 0}, {0.3, -1.7, 12.25}, {-1234.5, 0.001, 77}};
    static const double want[3] = {0x1.ca47e20ad725bp-6, -0x1.b0e9f96c8628p-8,
                                   0x1.20bbc751e6501p-6};
    for (int i = 0; i < 3; i++) {
        const double n = firn_noise(at[i], 0.7, 4, 42);
        if (n != want[i]) print_error("noise %d is %a, not %a\n", i, n, want[i]);
        assert_true(n == want[i]);
        assert_true(n != firn_noise(at[i], 0.7, 4, 43));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(volumes_are_exact),
        cmocka_unit_test(inside_tests_agree_with_volumes_and_bounds),
        cmocka_unit_test(distances_are_never_too_long),
        cmocka_unit_test(quarter_turns_are_exact),
        cmocka_unit_test(euler_angles_turn_about_x_then_y_then_z),
        cmocka_unit_test(bad_shapes_and_placements_are_refused),
        cmocka_unit_test(a_torus_without_a_hole_is_as_deep_as_its_cusps),
        cmocka_unit_test(particles_are_inside_and_their_volumes_add_up),
        cmocka_unit_test(counts_are_exact),
        cmocka_unit_test(a_box_is_filled_by_a_lattice_without_remainder),
        cmocka_unit_test(blue_noise_keeps_its_distance_and_leaves_no_holes),
        cmocka_unit_test(patterns_are_random_as_they_claim),
        cmocka_unit_test(surfaces_are_refined),
        cmocka_unit_test(places_that_are_taken_are_skipped_and_counted),
        cmocka_unit_test(bad_amounts_are_refused),
        cmocka_unit_test(noise_is_smooth_centred_and_within_one),
        cmocka_unit_test(noise_has_the_feature_size_it_is_given),
        cmocka_unit_test(noise_has_the_same_values_on_every_machine),
    };
    return cmocka_run_group_tests_name("fill", tests, make_samples, NULL);
}
