/* Particles in and out: what is added is kept and read back, views show what reads say, and ids
 * outlive removal and reordering. */
#include "worlds.h"

static void particles_keep_their_ids_and_fields(void **state)
{
    (void)state;
    enum { COUNT = 700 };
    for (int d = 2; d <= 3; d++) {
        random_state = 21;
        world w = world_default(d, 0.0173);
        w.def.material_count = 3;
        w.material[2].density = 1234.5;
        firn_sim *sim = world_create(&w);
        const int dd = d * d;
        static double x[COUNT * 3], v[COUNT * 3], F[COUNT * 9], C[COUNT * 9], volume[COUNT],
            mass[COUNT];
        static uint16_t material[COUNT], object[COUNT];
        for (int i = 0; i < COUNT; i++) {
            for (int a = 0; a < d; a++) {
                x[i * d + a] = uniform(-1, 1);
                if (i % 7 == 0)
                    x[i * d + a] = (random_below(41) - 20) * 2 * w.def.cell_size; /* on borders */
                if (i % 7 == 1) x[i * d + a] = uniform(-1, 1) * 4e6 * w.def.cell_size; /* far out */
                v[i * d + a] = uniform(-9, 9);
            }
            for (int c = 0; c < dd; c++) {
                F[i * dd + c] = (c % (d + 1) == 0) + uniform(-0.2, 0.2);
                C[i * dd + c] = uniform(-50, 50);
            }
            volume[i] = uniform(1e-6, 1e-5);
            mass[i] = uniform(1e-3, 1e-2);
            material[i] = (uint16_t)random_below(3);
            object[i] = (uint16_t)random_below(65536);
        }
        firn_particles p = firn_particles_default();
        p.count = COUNT;
        p.position = x;
        p.velocity = v;
        p.deformation_gradient = F;
        p.velocity_gradient = C;
        p.volume = volume;
        p.mass = mass;
        p.material = material;
        p.object = object;
        uint64_t first = 99;
        assert_ok(firn_sim_add(sim, &p, &first, &error));
        assert_int_equal(first, 0);
        /* Once more with everything left to the defaults. */
        firn_particles q = firn_particles_default();
        q.count = COUNT;
        q.position = x;
        q.each_volume = 2e-6;
        q.each_material = 2;
        q.each_object = 65535;
        assert_ok(firn_sim_add(sim, &q, &first, &error));
        assert_int_equal(first, COUNT);
        assert_int_equal(firn_sim_count(sim), 2 * COUNT);

        const memo all = remember(sim, d);
        double *const *got = all.field;
        for (int i = 0; i < 2 * COUNT; i++) {
            const int k = i % COUNT;
            const bool plain = i >= COUNT;
            assert_true(got[FIRN_ID][i] == i);
            for (int a = 0; a < d; a++) {
                /* To the grain of 2^-22 cells, and the rounding of doubles far out. */
                const double tolerance =
                    0x1p-22 * w.def.cell_size + 4 * fabs(x[k * d + a]) * 0x1p-53;
                assert_close(got[FIRN_POSITION][i * d + a], x[k * d + a], tolerance);
                assert_true(got[FIRN_VELOCITY][i * d + a] ==
                            (plain ? 0 : (double)(float)v[k * d + a]));
            }
            for (int c = 0; c < dd; c++) {
                /* To a float's rounding near 1, whatever form it is kept in. */
                assert_close(got[FIRN_DEFORMATION_GRADIENT][i * dd + c],
                             plain ? c % (d + 1) == 0 : F[k * dd + c], plain ? 0 : 0x1p-24);
                assert_true(got[FIRN_VELOCITY_GRADIENT][i * dd + c] ==
                            (plain ? 0 : (double)(float)C[k * dd + c]));
            }
            assert_true(got[FIRN_VOLUME][i] == (double)(float)(plain ? 2e-6 : volume[k]));
            assert_true(got[FIRN_MASS][i] == (double)(float)(plain ? 1234.5 * 2e-6 : mass[k]));
            assert_true(got[FIRN_MATERIAL][i] == (plain ? 2 : material[k]));
            assert_true(got[FIRN_OBJECT][i] == (plain ? 65535 : object[k]));
        }
        /* Parts of the list, from anywhere. */
        for (int f = 0; f < FIRN_FIELD_COUNT; f++) {
            if (!got[f]) continue;
            const firn_field_info info = firn_field_get_info((firn_field)f);
            const int width = d == 2 ? info.components_2d : info.components_3d;
            double part[40 * 9];
            for (int trial = 0; trial < 20; trial++) {
                const int64_t from = random_below(2 * COUNT - 40), n = random_below(41);
                memset(part, 0, sizeof part);
                assert_ok(firn_sim_read(sim, (firn_field)f, from, n, part, &error));
                assert_memory_equal(part, got[f] + from * width,
                                    (size_t)(n * width) * sizeof *part);
            }
            assert_ok(firn_sim_read(sim, (firn_field)f, 2 * COUNT, 0, NULL, &error));
            free(got[f]);
        }
        firn_sim_destroy(sim);
    }
}

/* Every particle that both know has the same bits in every field; returns how many both know. */
static int64_t check_same_bits(const memo *a, const memo *b, int d)
{
    int64_t shared = 0;
    for (int64_t i = 0, k = 0; i < a->count && k < b->count;) {
        const double left = a->field[FIRN_ID][i], right = b->field[FIRN_ID][k];
        if (left != right) {
            if (left < right)
                i++;
            else
                k++;
            continue;
        }
        for (int f = 0; f < FIRN_FIELD_COUNT; f++) {
            if (!a->field[f] || !b->field[f]) continue;
            const firn_field_info info = firn_field_get_info((firn_field)f);
            const int width = d == 2 ? info.components_2d : info.components_3d;
            for (int c = 0; c < width; c++) {
                const double x = a->field[f][i * width + c], y = b->field[f][k * width + c];
                if (x == y && signbit(x) == signbit(y)) continue;
                print_error("%s[%d] of particle %g was %.17g and is %.17g\n", info.name, c, left, x,
                            y);
                fail();
            }
        }
        shared++, i++, k++;
    }
    return shared;
}

/* Keeps what lies left of a border; checks what it is told against what was read. */
typedef struct sieve {
    const memo *m;
    int d;
    double border; /* m, along x; beyond are removed */
    int64_t calls, beyond;
} sieve;

static int keep_left(void *user_data, uint64_t id, const double position[3], uint16_t material,
                     uint16_t object)
{
    sieve *s = user_data;
    int64_t i = 0;
    while (i < s->m->count && s->m->field[FIRN_ID][i] != (double)id) i++;
    assert_true(i < s->m->count);
    for (int a = 0; a < 3; a++) {
        assert_true(position[a] == (a < s->d ? s->m->field[FIRN_POSITION][i * s->d + a] : 0));
    }
    assert_true(material == s->m->field[FIRN_MATERIAL][i]);
    assert_true(object == s->m->field[FIRN_OBJECT][i]);
    s->calls++;
    s->beyond += position[0] >= s->border;
    return position[0] < s->border;
}

static int keep_none(void *user_data, uint64_t id, const double position[3], uint16_t material,
                     uint16_t object)
{
    (void)user_data, (void)id, (void)position, (void)material, (void)object;
    return 0;
}

static int keep_below_id(void *user_data, uint64_t id, const double position[3], uint16_t material,
                         uint16_t object)
{
    (void)position, (void)material, (void)object;
    return id < *(const uint64_t *)user_data;
}

static void check_editing(int d, firn_path path)
{
    world w = world_default(d, 0.02);
    w.def.path = path;
    w.def.gravity[1] = -9.81;
    w.def.material_count = 2;
    w.def.collider_count = 1;
    w.collider[0].position[1] = -0.1;
    firn_sim *sim = world_create(&w);
    random_state = 31;
    uint64_t next_id = 0;
    int64_t count = 0;
    for (int round = 0; round < 5; round++) {
        const brick b = {.low = {-9 + 4 * round, round, -2 * round},
                         .cells = {4, 4, 3},
                         .per_axis = 2,
                         .jitter = 1,
                         .velocity = {0.5 * round, -1, 0.3},
                         .material = (uint16_t)(round % 2),
                         .object = (uint16_t)(100 + round)};
        uint64_t first = 0;
        memo before = remember(sim, d);
        assert_ok(brick_try_add(sim, &w, &b, &first, &error));
        assert_int_equal(first, next_id);
        next_id += (uint64_t)brick_count(d, &b);
        count += brick_count(d, &b);
        memo added = remember(sim, d);
        assert_int_equal(added.count, count);
        assert_int_equal(check_same_bits(&before, &added, d), before.count);
        forget(&before);
        forget(&added);
        assert_ok(firn_sim_advance(sim, 0.01, NULL, &error));
        assert_int_equal(firn_sim_count(sim), count);

        before = remember(sim, d);
        sieve s = {.m = &before, .d = d, .border = (-8 + 4 * round + 2.3) * w.def.cell_size};
        int64_t removed = -1;
        assert_ok(firn_sim_remove(sim, keep_left, &s, &removed, &error));
        assert_int_equal(s.calls, count);
        assert_int_equal(removed, s.beyond);
        assert_true(removed > 0 && removed < count);
        count -= removed;
        memo left = remember(sim, d);
        assert_int_equal(left.count, count);
        assert_int_equal(check_same_bits(&before, &left, d), count);
        forget(&before);
        forget(&left);
        assert_ok(firn_sim_advance(sim, 0.01, NULL, &error));
        assert_null(nonfinite_field(sim, d));
        const firn_totals totals = totals_of(sim);
        assert_close(grid_mass(sim), totals.mass, 1e-5 * totals.mass);
    }

    /* The newest ids go, and stay gone. */
    uint64_t limit = next_id - 20;
    int64_t removed = -1;
    assert_ok(firn_sim_remove(sim, keep_below_id, &limit, &removed, &error));
    assert_int_equal(firn_sim_count(sim), count - removed);
    const firn_hash before = hash_of(sim);
    assert_ok(firn_sim_remove(sim, keep_all, NULL, &removed, &error));
    assert_int_equal(removed, 0);
    assert_same_hash(hash_of(sim), before);

    /* Down to nothing, through time, and up again. */
    assert_ok(firn_sim_remove(sim, keep_none, NULL, NULL, &error));
    assert_int_equal(firn_sim_count(sim), 0);
    assert_ok(firn_sim_remove(sim, keep_none, NULL, &removed, &error));
    assert_int_equal(removed, 0);
    const double time = firn_sim_time(sim);
    assert_ok(firn_sim_advance(sim, 0.25, NULL, &error));
    assert_close(firn_sim_time(sim), time + 0.25, 0);
    const firn_totals none = totals_of(sim);
    assert_close(none.mass, 0, 0);
    assert_close(grid_mass(sim), 0, 0);
    const brick b = {.low = {0, 0, 0}, .cells = {3, 3, 3}, .per_axis = 2};
    uint64_t first = 0;
    assert_ok(brick_try_add(sim, &w, &b, &first, &error));
    assert_int_equal(first, next_id);
    assert_ok(firn_sim_advance(sim, 0.01, NULL, &error));
    assert_null(nonfinite_field(sim, d));
    firn_sim_destroy(sim);
}

static void adding_and_removing_between_steps(void **state)
{
    (void)state;
    for (int d = 2; d <= 3; d++)
        for (size_t p = 0; p < PATHS; p++) check_editing(d, both_paths[p]);
}

/* One component of a view, as a double. */
static double view_value(const firn_view *v, firn_field field, int64_t i, int c)
{
    const char *at = (const char *)v->data + (size_t)i * v->stride + (size_t)(c * v->bytes);
    if (field == FIRN_MATERIAL || field == FIRN_OBJECT) {
        uint16_t value;
        assert_int_equal(v->bytes, sizeof value);
        memcpy(&value, at, sizeof value);
        return value;
    }
    if (field == FIRN_ID) {
        uint64_t value;
        assert_int_equal(v->bytes, sizeof value);
        memcpy(&value, at, sizeof value);
        return (double)value;
    }
    if (v->bytes == 4) {
        float value;
        memcpy(&value, at, sizeof value);
        return (double)value;
    }
    double value;
    assert_int_equal(v->bytes, sizeof value);
    memcpy(&value, at, sizeof value);
    return value;
}

static int64_t place_of_id(const memo *m, double id)
{
    int64_t low = 0, high = m->count;
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (m->field[FIRN_ID][middle] <= id)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void check_views(const firn_sim *sim, int d)
{
    memo m = remember(sim, d);
    const firn_view id = firn_sim_view(sim, FIRN_ID);
    for (int f = 0; f < FIRN_FIELD_COUNT; f++) {
        if (!has_field(sim, f)) continue;
        const firn_view v = firn_sim_view(sim, (firn_field)f);
        const firn_field_info info = firn_field_get_info((firn_field)f);
        assert_int_equal(v.count, m.count);
        assert_int_equal(v.components, d == 2 ? info.components_2d : info.components_3d);
        assert_int_equal(v.generation, id.generation);
        if (f == FIRN_POSITION || f == FIRN_DEFORMATION_GRADIENT) { /* kept in other forms */
            assert_null(v.data);
            continue;
        }
        assert_non_null(v.data);
        for (int64_t i = 0; i < v.count; i++) {
            const int64_t k = place_of_id(&m, view_value(&id, FIRN_ID, i, 0));
            for (int c = 0; c < v.components; c++) {
                assert_true(view_value(&v, (firn_field)f, i, c) ==
                            m.field[f][k * v.components + c]);
            }
        }
    }
    double(*position)[3] = malloc((size_t)m.count * sizeof *position);
    assert_non_null(position);
    firn_sim_positions(sim, position);
    for (int64_t i = 0; i < m.count; i++) {
        const int64_t k = place_of_id(&m, view_value(&id, FIRN_ID, i, 0));
        for (int a = 0; a < 3; a++) {
            assert_true(position[i][a] == (a < d ? m.field[FIRN_POSITION][k * d + a] : 0));
        }
    }
    free(position);
    forget(&m);
}

static void views_agree_with_reads(void **state)
{
    (void)state;
    for (int d = 2; d <= 3; d++)
        for (size_t p = 0; p < PATHS; p++) {
            world w = two_law_world(d, both_paths[p], NULL);
            firn_sim *sim = world_create(&w);
            add_two_laws(sim, &w);
            check_views(sim, d);
            assert_ok(firn_sim_advance(sim, 75 * w.def.dt, NULL, &error)); /* past a reordering */
            check_views(sim, d);
            uint64_t limit = 300;
            assert_ok(firn_sim_remove(sim, keep_below_id, &limit, NULL, &error));
            check_views(sim, d);
            assert_ok(firn_sim_step(sim, NULL, &error));
            check_views(sim, d);
            firn_sim_destroy(sim);
        }
}

/* One particle that is swollen or squeezed the same in all directions, F = s I; in 3D the stress of
 * neo-Hookean is (mu (s^2 - 1) + lambda log J)/J there. */
static void pressure_is_minus_the_mean_stress(void **state)
{
    (void)state;
    for (int d = 2; d <= 3; d++) {
        for (double stretch = 0.7; stretch < 1.4; stretch += 0.1) {
            world w = world_default(d, 0.1);
            firn_sim *sim = world_create(&w);
            double F[9] = {0}, x[3] = {0.5, 0.5, 0.5}, got = NAN;
            for (int a = 0; a < d; a++) F[a * (d + 1)] = stretch;
            firn_particles one = firn_particles_default();
            one.count = 1;
            one.position = x;
            one.deformation_gradient = F;
            one.each_volume = 1e-3;
            assert_ok(firn_sim_add(sim, &one, NULL, &error));
            assert_ok(firn_sim_read_pressure(sim, &got, &error));
            const firn_material_def *m = &w.def.materials[0];
            const double mu = m->young / (2 * (1 + m->poisson));
            const double lambda = 2 * mu * m->poisson / (1 - 2 * m->poisson);
            const double J = pow(stretch, d);
            const double want = -(mu * (stretch * stretch - 1) + lambda * log(J)) / J;
            assert_int_equal(m->law, FIRN_NEO_HOOKEAN);
            assert_close(got, want, 1e-4 * m->young);
            firn_sim_destroy(sim);
        }
    }
}

/* A block on the lattice: inside, the grid's density is that of the material, and so are volumes; at the
 * surface the grid sees empty room. Whatever was given as volume does not matter. */
static void volumes_from_the_grid_are_those_of_a_uniform_filling(void **state)
{
    (void)state;
    enum { SIDE = 16 };
    static const firn_spline splines[] = {FIRN_QUADRATIC, FIRN_CUBIC};
    static double x[SIDE * SIDE * SIDE * 3], volume[SIDE * SIDE * SIDE], mass[SIDE * SIDE * SIDE];
    for (int d = 2; d <= 3; d++) {
        for (int k = 0; k < 2; k++) {
            const double h = 0.1, spacing = h / 2, want = pow(spacing, d);
            const int64_t count = d == 2 ? SIDE * SIDE : SIDE * SIDE * SIDE;
            world w = world_default(d, h);
            w.def.spline = splines[k];
            firn_sim *sim = world_create(&w);
            for (int64_t i = 0; i < count; i++) {
                const int64_t at[3] = {i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE};
                for (int a = 0; a < d; a++) x[i * d + a] = ((double)at[a] + 0.5) * spacing;
                mass[i] = w.def.materials[0].density * want;
            }
            firn_particles p = firn_particles_default();
            p.count = count;
            p.position = x;
            p.mass = mass;
            p.each_volume = 1e-9;
            assert_ok(firn_sim_add(sim, &p, NULL, &error));
            assert_ok(firn_sim_estimate_volumes(sim, &error));
            assert_ok(firn_sim_read(sim, FIRN_VOLUME, 0, count, volume, &error));
            for (int64_t i = 0; i < count; i++) {
                const int64_t at[3] = {i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE};
                bool inside = true;
                for (int a = 0; a < d; a++) inside &= at[a] >= 8 - 2 && at[a] < 8 + 2;
                /* Of the material's density, which is that of the grid here. */
                const double dense = mass[i] / volume[i] / w.def.materials[0].density;
                if (inside)
                    assert_close(dense, 1, 1e-5);
                else
                    assert_at_most(dense, 1 + 1e-5);
            }
            firn_sim_destroy(sim);
        }
    }
}

/* Two particles of liquid at one place, flying apart: the grid sees none of it. ASFLIP moves them by their
 * own velocities, but not where they are compressed, of which a liquid's F does not know. */
static void compressed_liquid_does_not_move_apart(void **state)
{
    (void)state;
    for (int d = 2; d <= 3; d++) {
        for (size_t p = 0; p < PATHS; p++) {
            for (int packed = 0; packed < 2; packed++) {
                world w = world_default(d, 0.1);
                w.def.path = both_paths[p];
                w.def.transfer = FIRN_ASFLIP;
                w.def.flip_ratio = 1;
                w.def.dt = 1e-5;
                w.material[0].law = FIRN_LIQUID;
                firn_sim *sim = world_create(&w);
                double x[6], v[6] = {0}, moved[6];
                const double log_J[2] = {packed * -0.01, packed * -0.01};
                for (int i = 0; i < 2 * d; i++)
                    x[i] = 0.5; /* at a node: pressure has no direction */
                v[0] = 1, v[d] = -1;
                firn_particles two = firn_particles_default();
                two.count = 2;
                two.position = x;
                two.velocity = v;
                two.state = log_J;
                two.each_volume = 1e-3;
                assert_ok(firn_sim_add(sim, &two, NULL, &error));
                assert_ok(firn_sim_advance(sim, w.def.dt, NULL, &error));
                assert_ok(firn_sim_read(sim, FIRN_POSITION, 0, 2, moved, &error));
                assert_close(moved[0] - moved[d], packed ? 0 : 2 * w.def.dt, 0.1 * w.def.dt);
                firn_sim_destroy(sim);
            }
        }
    }
}

static void batches_added_at_once_are_those_added_one_by_one(void **state)
{
    (void)state;
    enum { BATCHES = 40, COUNT = 30, BAD = 23 };
    for (int d = 2; d <= 3; d++) {
        random_state = 5;
        world w = world_default(d, 0.05);
        static double x[BATCHES][COUNT * 3];
        firn_particles batch[BATCHES];
        uint64_t first[BATCHES], id[BATCHES];
        firn_sim *one = world_create(&w), *many = world_create(&w);
        for (int b = 0; b < BATCHES; b++) {
            for (int i = 0; i < COUNT * d; i++) x[b][i] = uniform(0, 1);
            batch[b] = firn_particles_default();
            batch[b].count = b % 8 == 3 ? 0 : COUNT;
            batch[b].position = x[b];
            batch[b].each_volume = 1e-5;
            batch[b].each_object = (uint16_t)b;
            assert_ok(firn_sim_add(one, batch + b, first + b, &error));
        }
        const double good = x[BAD][d];
        int64_t refused = 0;
        x[BAD][d] = INFINITY;
        const firn_status st = firn_sim_add_batches(many, batch, BATCHES, id, &refused, NULL);
        assert_int_equal(st, FIRN_INVALID);
        assert_int_equal(refused, BAD);
        assert_int_equal(firn_sim_count(many), 0);
        x[BAD][d] = good;
        assert_ok(firn_sim_add_batches(many, batch, BATCHES, id, &refused, &error));
        assert_int_equal(refused, -1);
        for (int step = 0; step < 2; step++) {
            firn_hash a, b;
            assert_ok(firn_sim_hash(one, &a, &error));
            assert_ok(firn_sim_hash(many, &b, &error));
            assert_memory_equal(&a, &b, sizeof a);
            assert_ok(firn_sim_advance(one, 0.01, NULL, &error));
            assert_ok(firn_sim_advance(many, 0.01, NULL, &error));
        }
        assert_memory_equal(id, first, sizeof id);
        firn_sim_destroy(one);
        firn_sim_destroy(many);
    }
}

static void generation_changes_when_state_does(void **state)
{
    (void)state;
    for (size_t p = 0; p < PATHS; p++) {
        world w = two_law_world(3, both_paths[p], NULL);
        firn_sim *sim = world_create(&w);
        uint64_t now = firn_sim_view(sim, FIRN_ID).generation;
#define EXPECT_CHANGE(changes)                                                                     \
    do {                                                                                           \
        const uint64_t then = now;                                                                 \
        now = firn_sim_view(sim, FIRN_VELOCITY).generation;                                        \
        assert_int_equal(now != then, changes);                                                    \
    } while (0)
        add_two_laws(sim, &w);
        EXPECT_CHANGE(true);
        assert_ok(firn_sim_advance(sim, 1e-3, NULL, &error));
        EXPECT_CHANGE(true);
        assert_ok(firn_sim_step(sim, NULL, &error));
        EXPECT_CHANGE(true);
        uint64_t limit = 500;
        assert_ok(firn_sim_remove(sim, keep_below_id, &limit, NULL, &error));
        EXPECT_CHANGE(true);

        totals_of(sim);
        hash_of(sim);
        free(read_all(sim, 3, FIRN_POSITION));
        assert_ok(firn_sim_visit_grid(sim, visit_nothing, NULL, &error));
        EXPECT_CHANGE(false);
        firn_particles bad = firn_particles_default();
        bad.count = -1;
        assert_int_equal(firn_sim_add(sim, &bad, NULL, NULL), FIRN_INVALID);
        assert_int_equal(firn_sim_advance(sim, -1, NULL, NULL), FIRN_INVALID);
        assert_int_equal(firn_sim_remove(sim, NULL, NULL, NULL, NULL), FIRN_INVALID);
        EXPECT_CHANGE(false);
        firn_sim_destroy(sim);
    }
}

static int keep_first_ids(void *user_data, uint64_t id, const double position[3], uint16_t material,
                          uint16_t object)
{
    (void)position, (void)material, (void)object;
    return id < (uint64_t) * (const int64_t *)user_data;
}

/* A ball that turns, added with velocities alone: its gradients are estimated to be those of the turning,
 * so that the first step takes hardly any of it, and no other particle is touched. */
static void a_turning_body_needs_no_gradients(void **state)
{
    (void)state;
    enum { SIDE = 16 };
    static double x[SIDE * SIDE * SIDE * 3], v[SIDE * SIDE * SIDE * 3], was[SIDE * SIDE * SIDE * 9],
        C[2 * SIDE * SIDE * SIDE * 9];
    static bool inner[SIDE * SIDE * SIDE]; /* two cells and more below the surface */
    for (int d = 2; d <= 3; d++) {
        const double h = 0.1, spacing = h / 2, spin = 3;
        double lost[2];
        for (int estimated = 0; estimated < 2; estimated++) {
            world w = world_default(d, h);
            memset(w.def.gravity, 0, sizeof w.def.gravity);
            w.def.transfer = FIRN_APIC;
            firn_sim *sim = world_create(&w);
            int64_t count = 0;
            for (int i = 0; i < (d == 2 ? SIDE * SIDE : SIDE * SIDE * SIDE); i++) {
                const int at[3] = {i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE};
                double r[3] = {0};
                for (int a = 0; a < d; a++) r[a] = (at[a] + 0.5 - SIDE / 2) * spacing;
                const double square = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
                if (square > 16 * h * h) continue;
                inner[count] = square < 4 * h * h;
                for (int a = 0; a < d; a++) x[count * d + a] = r[a];
                v[count * d] = -spin * r[1];
                v[count * d + 1] = spin * r[0];
                if (d == 3) v[count * d + 2] = 0;
                count++;
            }
            firn_particles p = firn_particles_default();
            p.count = count;
            p.position = x;
            p.velocity = v;
            p.each_volume = pow(spacing, d);
            uint64_t first;
            assert_ok(firn_sim_add(sim, &p, &first, &error));
            for (int64_t i = 0; i < count * d; i++) x[i] += i % d == 0; /* one metre further */
            for (int64_t i = 0; i < count * d * d; i++) was[i] = i % 5;
            p.velocity_gradient = was;
            assert_ok(firn_sim_add(sim, &p, NULL, &error));
            if (estimated) {
                assert_ok(firn_sim_estimate_gradients(sim, first, count, &error));
                assert_ok(firn_sim_read(sim, FIRN_VELOCITY_GRADIENT, 0, 2 * count, C, &error));
                for (int64_t i = 0; i < count * d * d; i++) {
                    const int row = i / d % d, column = i % d;
                    const double want = row == 0 && column == 1   ? -spin
                                        : row == 1 && column == 0 ? spin
                                                                  : 0;
                    if (inner[i / d / d]) assert_close(C[i], want, 0.05 * spin);
                    assert_true(C[count * d * d + i] == was[i]);
                }
            }
            firn_totals before, after;
            assert_ok(firn_sim_remove(sim, keep_first_ids, &count, NULL, &error));
            assert_ok(firn_sim_measure(sim, &before, &error));
            assert_ok(firn_sim_advance(sim, 1e-4, NULL, &error));
            assert_ok(firn_sim_measure(sim, &after, &error));
            lost[estimated] = 1 - (after.kinetic + after.elastic) / before.kinetic;
            firn_sim_destroy(sim);
        }
        assert_at_most(fabs(lost[1]), 1e-3);
        assert_at_most(0.05, lost[0]); /* R is 4 cells */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(particles_keep_their_ids_and_fields),
        cmocka_unit_test(adding_and_removing_between_steps),
        cmocka_unit_test(views_agree_with_reads),
        cmocka_unit_test(pressure_is_minus_the_mean_stress),
        cmocka_unit_test(a_turning_body_needs_no_gradients),
        cmocka_unit_test(volumes_from_the_grid_are_those_of_a_uniform_filling),
        cmocka_unit_test(compressed_liquid_does_not_move_apart),
        cmocka_unit_test(batches_added_at_once_are_those_added_one_by_one),
        cmocka_unit_test(generation_changes_when_state_does),
    };
    return cmocka_run_group_tests_name("particles", tests, NULL, NULL);
}
