/* Liquids by pressure projection: same bytes at any thread count, what they keep, what is refused. The
 * cases projected_* of `firn validate` claim more. */
#include "memory_state.h"
#include "worlds.h"

#define CELL 0.02
#define G 9.81

/* A tank of slip walls, `wide` cells along x and z, from the origin up; liquid by projection. */
static world tank_world(int dimension, int wide)
{
    world w = world_default(dimension, CELL);
    w.def.gravity[1] = -G;
    w.def.pressure = FIRN_PRESSURE_PROJECTION;
    w.material[0] = firn_material_def_preset(firn_preset_find("water"));
    w.def.collider_count = 1;
    firn_collider_def *c = &w.collider[0];
    c->shape = FIRN_INSIDE;
    c->boundary = FIRN_SLIP;
    for (int a = 0; a < 3; a++) c->size[a] = c->position[a] = 0.5 * wide * CELL;
    c->size[1] = c->position[1] = 50 * CELL;
    return w;
}

static brick pool(int wide, int deep, double jitter)
{
    return (brick){.cells = {wide, deep, wide}, .per_axis = 2, .jitter = jitter};
}

/* Mean height over that of a body `deep` high, and the root mean square speed. */
typedef struct rest {
    double height, speed;
} rest;

static rest look(firn_sim *sim, int dimension, double deep)
{
    const int64_t n = firn_sim_count(sim);
    double *x = malloc((size_t)(n * dimension) * sizeof *x),
           *v = malloc((size_t)(n * dimension) * sizeof *v);
    assert_true(x && v);
    assert_ok(firn_sim_read(sim, FIRN_POSITION, 0, n, x, &error));
    assert_ok(firn_sim_read(sim, FIRN_VELOCITY, 0, n, v, &error));
    rest r = {0};
    for (int64_t i = 0; i < n; i++) {
        double v2 = 0;
        for (int a = 0; a < dimension; a++) v2 += v[i * dimension + a] * v[i * dimension + a];
        r.height += 2 * x[i * dimension + 1] / deep / (double)n;
        r.speed += v2 / (double)n;
    }
    r.speed = sqrt(r.speed);
    free(x);
    free(v);
    return r;
}

static void shallow_pools_stand_right(void **state)
{
    (void)state;
    for (int d = 2; d <= 3; d++) {
        for (int deep = 2; deep <= 4; deep += 2) {
            const int wide = d == 2 ? 32 : 12;
            world w = tank_world(d, wide);
            firn_sim *sim = world_create(&w);
            const brick b = pool(wide, deep, 0.25);
            brick_add(sim, &w, &b);
            firn_report report;
            assert_ok(firn_sim_advance(sim, 2, &report, &error));
            const rest r = look(sim, d, deep * CELL);
            print_message("%dD, %d deep: height %+.2f %%, %.1e m/s, %lld steps\n", d, deep,
                          100 * (r.height - 1), r.speed, (long long)report.steps);
            assert_close(r.height, 1, 0.015);
            assert_at_most(r.speed, 0.01);
            assert_true(report.steps <= 210);
            assert_at_most(report.divergence, 1e-5);
            firn_sim_destroy(sim);
        }
    }
}

static void walls_carry_the_weight_of_the_liquid(void **state)
{
    (void)state;
    for (int d = 2; d <= 3; d++) {
        enum { WIDE = 10, DEEP = 6 };
        world w = tank_world(d, WIDE);
        w.collider[1].shape = FIRN_BOX; /* hangs in the water, on no grid line, and is pushed up */
        w.collider[1].boundary = FIRN_SLIP;
        for (int a = 0; a < 3; a++) {
            w.collider[1].size[a] = 1.3 * CELL;
            w.collider[1].position[a] = (a == 1 ? 2.9 : 0.5 * WIDE) * CELL;
        }
        w.def.collider_count = 2;
        firn_sim *sim = world_create(&w);
        const brick b = pool(WIDE, DEEP, 0.25);
        random_state = 5;
        brick_add(sim, &w, &b);
        assert_ok(firn_sim_advance(sim, 0.5, NULL, &error)); /* what was in the box is pushed out */
        assert_ok(firn_sim_advance(sim, 2, NULL, &error));
        firn_totals totals;
        firn_reaction tank, box;
        assert_ok(firn_sim_measure(sim, &totals, &error));
        assert_ok(firn_sim_read_reaction(sim, 0, &tank, &error));
        assert_ok(firn_sim_read_reaction(sim, 1, &box, &error));
        const double weight = totals.mass * G, lift = 1000 * G * pow(2.6 * CELL, d);
        print_message("%dD: walls carry %.4f of the weight, the lift is %.3f of the displaced\n", d,
                      -(tank.force[1] + box.force[1]) / weight, box.force[1] / lift);
        assert_close(-(tank.force[1] + box.force[1]) / weight, 1, 0.015);
        assert_close((tank.force[0] + box.force[0]) / weight, 0, 0.01);
        assert_close(box.force[1] / lift, 1, 0.05);
        firn_sim_destroy(sim);
    }
}

/* What a dam is of: water; honey with a block of jelly on it, all shear implicit; chocolate that melts;
 * water by FLIP; water whose steps fail now and then. */
typedef enum dam_kind { WATER, MIXED, MELTING, FLIPPING, FAILING, DAMS } dam_kind;

static firn_sim *dam(world *w, int dimension, dam_kind kind, int32_t threads)
{
    *w = tank_world(dimension, dimension == 2 ? 40 : 16);
    w->def.threads = threads;
    w->collider[0].contact_angle = 60;
    if (kind == FLIPPING) w->def.transfer = FIRN_FLIP;
    if (kind == FAILING) {
        w->def.crossing = 0.8;
        w->def.dt_max = 0.05;
    }
    if (kind == MELTING) {
        w->material[0] = firn_material_def_preset(firn_preset_find("chocolate"));
        w->def.heat.enabled = 1;
        w->def.heat.speed = 1000;
        w->def.heat.ambient = 320;
        w->def.heat.transfer = 30;
    }
    if (kind == MIXED) {
        w->material[0] = firn_material_def_preset(firn_preset_find("honey"));
        w->material[1] = firn_material_def_preset(firn_preset_find("jelly"));
        w->def.material_count = 2;
        w->def.shear = FIRN_SHEAR_IMPLICIT;
        w->collider[0].boundary = FIRN_SEPARATE;
    }
    firn_sim *sim = world_create(w);
    const brick b = {.cells = {8, 16, 16}, .per_axis = 2, .jitter = 0.25},
                on_it = {.low = {2, 17, 4}, .cells = {5, 4, 4}, .per_axis = 2, .material = 1};
    random_state = 11;
    brick_add(sim, w, &b);
    if (kind == MIXED) brick_add(sim, w, &on_it);
    return sim;
}

static void bytes_are_the_same_at_any_thread_count_and_after_a_resume(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2 * DAMS; kind++) {
        firn_hash hash[4];
        for (int run = 0; run < 4; run++) { /* the last one saves and goes on */
            world w;
            firn_sim *sim = dam(&w, 2 + kind % 2, (dam_kind)(kind / 2), run < 3 ? run + 1 : 2);
            int64_t retries = 0;
            for (int frame = 0; frame < 4; frame++) {
                if (run == 3 && frame == 2) {
                    bytes saved = {0};
                    assert_ok(firn_sim_save(sim, put, &saved, &error));
                    firn_sim_destroy(sim);
                    sim = world_create(&w);
                    assert_ok(firn_sim_load(sim, take, &saved, &error));
                    free(saved.data);
                }
                firn_report report;
                assert_ok(firn_sim_advance(sim, 1.0 / 24, &report, &error));
                retries += report.retries;
            }
            if (kind / 2 == FAILING) assert_true(retries > 0);
            assert_ok(firn_sim_hash(sim, &hash[run], &error));
            firn_sim_destroy(sim);
            assert_memory_equal(&hash[run], &hash[0], sizeof hash[0]);
        }
    }
}

typedef struct cell_counts {
    int wide, deep, dimension;
    bool projected;
    int64_t of[3];
} cell_counts;

static void check_cell(void *user_data, const firn_grid_node *node)
{
    cell_counts *c = user_data;
    bool inside = node->index[1] >= 0, full = inside && node->index[1] < c->deep;
    for (int a = 0; a < c->dimension; a += 2) {
        inside = inside && node->index[a] >= 0 && node->index[a] < c->wide;
    }
    full = full && inside;
    const firn_cell_class wanted = !c->projected ? FIRN_CELL_EMPTY
                                   : !inside     ? FIRN_CELL_COLLIDER
                                   : full        ? FIRN_CELL_INTERIOR
                                                 : FIRN_CELL_EMPTY;
    assert_int_equal(node->cell_class, wanted);
    c->of[node->cell_class]++;
}

static void cells_are_empty_interior_or_collider(void **state)
{
    (void)state;
    for (int d = 2; d <= 3; d++) {
        for (int projected = 0; projected < 2; projected++) {
            cell_counts c = {.wide = 6, .deep = 3, .dimension = d, .projected = projected};
            world w = tank_world(d, c.wide);
            if (!projected) w.def.pressure = FIRN_PRESSURE_NONE;
            firn_sim *sim = world_create(&w);
            const brick b = pool(c.wide, c.deep, 0);
            brick_add(sim, &w, &b);
            firn_hash before, after;
            assert_ok(firn_sim_hash(sim, &before, &error));
            assert_ok(firn_sim_visit_grid(sim, check_cell, &c, &error));
            assert_ok(firn_sim_hash(sim, &after, &error));
            assert_memory_equal(&before, &after, sizeof before);
            const int64_t full = c.deep * c.wide * (d == 3 ? c.wide : 1);
            assert_int_equal(c.of[FIRN_CELL_INTERIOR], projected ? full : 0);
            assert_true(!projected || (c.of[FIRN_CELL_COLLIDER] > 0 && c.of[FIRN_CELL_EMPTY] > 0));
            firn_sim_destroy(sim);
        }
    }
}

static void a_dam_that_breaks_keeps_its_mass_and_stays_in_its_tank(void **state)
{
    (void)state;
    for (int d = 2; d <= 3; d++) {
        world w;
        firn_sim *sim = dam(&w, d, WATER, 2);
        firn_totals before, after;
        assert_ok(firn_sim_measure(sim, &before, &error));
        assert_ok(firn_sim_advance(sim, 0.5, NULL, &error));
        assert_ok(firn_sim_measure(sim, &after, &error));
        assert_close(after.mass, before.mass, 0);
        assert_int_equal(after.outside, 0);
        assert_true(after.kinetic + after.gravitational < before.gravitational);
        firn_sim_destroy(sim);
    }
}

static void what_projection_does_not_serve_is_refused(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        world w = tank_world(2, 8);
        static const char *const word[] = {"law", "transfer", "integrator", "object_bodies"};
        static const uint16_t bodies[] = {0, 1};
        if (i == 0) w.material[0] = firn_material_def_preset(firn_preset_find("sand"));
        if (i == 1) w.def.transfer = FIRN_AFLIP;
        if (i == 2) w.def.integrator = FIRN_IMPLICIT;
        if (i == 3) {
            w.def.object_bodies = bodies;
            w.def.object_count = 2;
        }
        world_point(&w);
        firn_sim *sim;
        firn_error error = {0};
        assert_int_equal(firn_sim_create(&w.def, &sim, &error), FIRN_UNSUPPORTED);
        assert_non_null(strstr(error.message, word[i]));
        assert_non_null(strstr(error.message, "projection"));
    }
    static const uint16_t together[] = {0, 0};
    for (int d = 2; d <= 3; d++) { /* nor later */
        world w = tank_world(d, 8);
        w.def.object_bodies = together;
        w.def.object_count = 2;
        firn_sim *sim = world_create(&w);
        firn_error refused = {0};
        assert_ok(firn_sim_set_body(sim, 1, 0, &error));
        assert_int_equal(firn_sim_set_body(sim, 1, 1, &refused), FIRN_UNSUPPORTED);
        assert_non_null(strstr(refused.message, "projection"));
        firn_sim_destroy(sim);
    }
}

/* AUTO projects liquids, and nothing that would gain less. */
static void auto_projects_liquids(void **state)
{
    (void)state;
    static const char *const preset[] = {"water", "honey", "jelly", "sand"};
    for (int i = 0; i < 4; i++) {
        world w = tank_world(2, 8);
        w.def.pressure = FIRN_PRESSURE_AUTO;
        w.material[0] = firn_material_def_preset(firn_preset_find(preset[i]));
        firn_sim *sim = world_create(&w);
        const brick b = pool(8, 4, 0);
        brick_add(sim, &w, &b);
        firn_report report;
        assert_ok(firn_sim_advance(sim, 0.01, &report, &error));
        assert_true((report.iterations > 0) == (i < 2));
        firn_sim_destroy(sim);
    }
}

/* Less than a cell of liquid has no pressure. Once it has landed on a floor it slides on and neither gains
 * nor loses. */
static void drops_on_a_floor_slide_on(void **state)
{
    (void)state;
    for (int d = 2; d <= 3; d++) {
        world w = tank_world(d, 100);
        firn_sim *sim = world_create(&w);
        const brick b = {
            .low = {5, 1, 50}, .cells = {1, 1, 1}, .per_axis = 2, .velocity = {0.3, 0, 0}};
        brick_add(sim, &w, &b);
        firn_totals before, landed, after;
        assert_ok(firn_sim_measure(sim, &before, &error));
        assert_ok(firn_sim_advance(sim, 0.75, NULL, &error));
        assert_ok(firn_sim_measure(sim, &landed, &error));
        assert_ok(firn_sim_advance(sim, 1.5, NULL, &error));
        assert_ok(firn_sim_measure(sim, &after, &error));
        print_message("%dD: kinetic energy %.3f of the first, then %.4f of that\n", d,
                      landed.kinetic / before.kinetic, after.kinetic / landed.kinetic);
        const double fall = before.mass * 9.81 * 2 * w.def.cell_size;
        assert_at_most(landed.kinetic, before.kinetic + fall);
        assert_at_most(fabs(after.kinetic / landed.kinetic - 1), 1e-2);
        firn_sim_destroy(sim);
    }
}

/* Nothing pushes what flies: it keeps its speed, gains g t, and stays together. */
static void a_drop_flies_as_a_whole(void **state)
{
    (void)state;
    for (int d = 2; d <= 3; d++) {
        world w = tank_world(d, 8);
        w.def.collider_count = 0;
        firn_sim *sim = world_create(&w);
        const brick b = {
            .cells = {6, 6, 6}, .per_axis = 2, .jitter = 0.25, .velocity = {1, 0.5, 0}};
        random_state = 21;
        brick_add(sim, &w, &b);
        assert_ok(firn_sim_advance(sim, 0.4, NULL, &error));
        const firn_totals t = totals_of(sim);
        assert_close(t.momentum[0] / t.mass, 1, 1e-5);
        assert_close(t.momentum[1] / t.mass, 0.5 - 0.4 * G, 1e-5 * G);
        assert_at_most(t.kinetic / t.mass, 0.5 * (1 + pow(0.5 - 0.4 * G, 2)) * 1.001);
        firn_sim_destroy(sim);
    }
}

/* A floor that slips pushes along its normal alone, and walls far away not at all. */
static void heaps_on_a_slipping_floor_run_out_to_all_sides_alike(void **state)
{
    (void)state;
    for (int d = 2; d <= 3; d++) {
        world w = tank_world(d, 100);
        firn_sim *sim = world_create(&w);
        const brick b = {.low = {44, 0, 44}, .cells = {7, 6, 5}, .per_axis = 2, .jitter = 0.25};
        random_state = 31;
        brick_add(sim, &w, &b);
        assert_ok(firn_sim_advance(sim, 0.3, NULL, &error));
        const firn_totals t = totals_of(sim);
        print_message("%dD: mean velocity along the floor %.1e %.1e m/s\n", d,
                      t.momentum[0] / t.mass, t.momentum[2] / t.mass);
        for (int a = 0; a < d; a += 2) assert_close(t.momentum[a] / t.mass, 0, 1e-5);
        assert_true(t.kinetic / t.mass > 0.1);
        firn_sim_destroy(sim);
    }
}

/* A particle alone weighs little on each face, and nothing slows it. */
static void spray_goes_as_far_as_its_speed_says(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        const int d = 2 + i % 2;
        world w = tank_world(d, 8);
        w.def.collider_count = 0;
        w.def.crossing = 2 + i / 2 * 2;
        w.def.gravity[1] = 0;
        w.def.dt_max = 0.05;
        firn_sim *sim = world_create(&w);
        double x[3] = {0.0137, 0.0111, 0.0093}, v[3] = {3, -2, 0};
        firn_particles p = firn_particles_default();
        p.count = 1;
        p.position = x;
        p.velocity = v;
        p.each_volume = pow(CELL / 2, d);
        assert_ok(firn_sim_add(sim, &p, NULL, &error));
        assert_ok(firn_sim_advance(sim, 0.2, NULL, &error));
        double *after = read_all(sim, d, FIRN_POSITION);
        for (int a = 0; a < d; a++) assert_close(after[a], x[a] + 0.2 * v[a], 1e-5);
        free(after);
        firn_sim_destroy(sim);
    }
}

/* Nor does its own C, even if that says that it is slower wherever it goes. */
static void spray_does_not_hover(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        const int d = 2 + i % 2;
        world w = tank_world(d, 8);
        w.def.crossing = 2 + i / 2 * 2;
        w.def.gravity[1] = 0;
        w.def.dt_max = 0.05;
        firn_sim *sim = world_create(&w);
        const double speed = 3, x[3] = {4.2 * CELL, 90.1 * CELL, 4.3 * CELL}, v[3] = {0, -speed, 0};
        double C[9] = {0};
        C[d + 1] = -2 * speed / (w.def.crossing * CELL); /* stops it in half a step */
        firn_particles p = firn_particles_default();
        p.count = 1;
        p.position = x;
        p.velocity = v;
        p.velocity_gradient = C;
        p.each_volume = pow(CELL / 2, d);
        assert_ok(firn_sim_add(sim, &p, NULL, &error));
        assert_ok(firn_sim_advance(sim, 0.2, NULL, &error));
        double *after = read_all(sim, d, FIRN_POSITION);
        print_message("%dD, %g cells a step: falls by %.2f of its speed times the time\n", d,
                      w.def.crossing, (x[1] - after[1]) / (0.2 * speed));
        assert_at_most(after[1], x[1] - 0.49 * 0.2 * speed);
        free(after);
        firn_sim_destroy(sim);
    }
}

/* The height of a light cube of jelly after its bounce, with a material before its own that nothing is of. */
static double bounce_beside(double density, double *speed)
{
    world w = tank_world(2, 40);
    w.def.material_count = 2;
    for (int i = 0; i < 2; i++) {
        w.material[i] = firn_material_def_preset(firn_preset_find("jelly"));
        w.material[i].density = 200;
    }
    w.material[0].density = density;
    w.collider[0].boundary = FIRN_SEPARATE;
    firn_sim *sim = world_create(&w);
    const brick b = {.low = {16, 4, 0}, .cells = {8, 8, 8}, .per_axis = 2, .material = 1};
    brick_add(sim, &w, &b);
    firn_report report;
    assert_ok(firn_sim_advance(sim, 0.4, &report, &error));
    *speed = report.max_speed;
    const rest r = look(sim, 2, CELL);
    firn_sim_destroy(sim);
    return r.height;
}

static void a_material_that_nothing_is_of_changes_nothing(void **state)
{
    (void)state;
    double speed, same;
    const double height = bounce_beside(200, &speed);
    for (int i = 0; i < 2; i++) {
        const double density = i ? 13600 : 1;
        assert_close(bounce_beside(density, &same) / height, 1, 1e-3);
        assert_close(same / speed, 1, 1e-3);
    }
}

/* A disc or a ball of water 16 cells across, 1 mm each, without walls or gravity. */
static firn_sim *drop(int dimension, int64_t *count)
{
    const double cell = 1e-3, radius = 8 * cell;
    world w = world_default(dimension, cell);
    w.def.pressure = FIRN_PRESSURE_PROJECTION;
    w.material[0] = firn_material_def_preset(firn_preset_find("water"));
    firn_sim *sim = world_create(&w);
    enum { SIDE = 34 };
    double *x = malloc(sizeof *x * 3 * SIDE * SIDE * SIDE);
    assert_non_null(x);
    firn_particles p = firn_particles_default();
    random_state = 31;
    for (int n = 0; n < (dimension == 2 ? SIDE * SIDE : SIDE * SIDE * SIDE); n++) {
        double r2 = 0, *at = x + p.count * dimension;
        for (int a = 0, left = n; a < dimension; a++, left /= SIDE) {
            at[a] = (left % SIDE - 0.5 * SIDE + 0.3 * a + 0.2 * uniform(-1, 1)) * cell / 2;
            r2 += at[a] * at[a];
        }
        if (r2 < radius * radius) p.count++;
    }
    p.position = x;
    p.each_volume = pow(cell / 2, dimension);
    assert_ok(firn_sim_add(sim, &p, NULL, &error));
    free(x);
    *count = p.count;
    return sim;
}

static void a_drop_is_pressed_by_its_surface(void **state)
{
    (void)state;
    for (int d = 2; d <= 3; d++) {
        int64_t n;
        firn_sim *sim = drop(d, &n);
        firn_report report;
        assert_ok(firn_sim_advance(sim, 0.02, &report, &error));
        double *x = read_all(sim, d, FIRN_POSITION), *p = malloc((size_t)n * sizeof *p), mean = 0;
        int64_t inside = 0;
        assert_non_null(p);
        assert_ok(firn_sim_read_pressure(sim, p, &error));
        for (int64_t i = 0; i < n; i++) {
            double r2 = 0;
            for (int a = 0; a < d; a++) r2 += x[i * d + a] * x[i * d + a];
            if (r2 > 16e-6) continue;
            mean += p[i];
            inside++;
        }
        const double jump = (d - 1) * 0.072 / 8e-3;
        print_message("%dD: pressure in a drop is %.3f of that of its curvature\n", d,
                      mean / (double)inside / jump);
        assert_close(mean / (double)inside / jump, 1, 0.05);
        const rest r = look(sim, d, 1);
        assert_at_most(r.speed, 0.05 * sqrt(0.072 / (2 * 1000 * 8e-3)));
        assert_int_equal(report.limit, FIRN_LIMIT_SURFACE);
        assert_at_most(report.dt, sqrt(1000 * 1e-9 / (2 * 3.14159265 * 0.072)));
        free(x);
        free(p);
        firn_sim_destroy(sim);
    }
}

/* Tension that weight outdoes is left out only while there is weight: not once gravity is gone, and not
 * where other accelerations balance it. */
static void tension_comes_back_when_weight_goes(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        world w = tank_world(2, 8);
        w.def.collider_count = 0;
        w.def.gravity[1] = -4 * G;
        w.def.dt_max = 0.5;
        if (i == 2) {
            w.def.force_count = 1;
            w.force[0].acceleration[1] = 4 * G;
        }
        firn_sim *sim = world_create(&w);
        const brick b = {.cells = {6, 6, 0}, .per_axis = 2};
        brick_add(sim, &w, &b);
        if (i == 1) assert_ok(firn_sim_set_gravity(sim, (double[3]){0}, &error));
        firn_report report;
        assert_ok(firn_sim_step(sim, &report, &error));
        assert_true((report.limit == FIRN_LIMIT_SURFACE) == (i > 0));
        firn_sim_destroy(sim);
    }
}

/* Velocities of a dam that runs at 1 m/s, after 0.12 s. */
static double *run_transfer(int dimension, firn_transfer transfer, double ratio, double dt,
                            int64_t *count)
{
    world w = tank_world(dimension, dimension == 2 ? 40 : 16);
    w.def.transfer = transfer;
    w.def.flip_ratio = ratio;
    w.def.dt = dt;
    firn_sim *sim = world_create(&w);
    const brick b = {.cells = {8, 16, 16}, .per_axis = 2, .jitter = 0.25, .velocity = {1, 0, 0}};
    random_state = 11;
    brick_add(sim, &w, &b);
    assert_ok(firn_sim_advance(sim, 0.12, NULL, &error));
    *count = firn_sim_count(sim) * dimension;
    double *v = malloc((size_t)*count * sizeof *v);
    assert_non_null(v);
    assert_ok(firn_sim_read(sim, FIRN_VELOCITY, 0, firn_sim_count(sim), v, &error));
    firn_sim_destroy(sim);
    return v;
}

static void flip_that_keeps_nothing_is_pic(void **state)
{
    (void)state;
    for (int d = 2; d <= 3; d++) {
        for (int i = 0; i < 2; i++) { /* in one move, and in two */
            const double dt = i ? 0.02 : 0.005;
            int64_t count, same;
            double *pic = run_transfer(d, FIRN_PIC, 0, dt, &count),
                   *none = run_transfer(d, FIRN_FLIP, 0, dt, &same),
                   *some = run_transfer(d, FIRN_FLIP, 0.95, dt, &same), off = 0, apart = 0;
            assert_int_equal(same, count);
            for (int64_t k = 0; k < count; k++) {
                off = fmax(off, fabs(none[k] - pic[k]));
                apart = fmax(apart, fabs(some[k] - pic[k]));
            }
            print_message("%dD, steps of %g s: off by %.1e m/s, with 0.95 by %.2g\n", d, dt, off,
                          apart);
            assert_at_most(off, 1e-5);
            assert_true(apart > 1e-3);
            free(pic);
            free(none);
            free(some);
        }
    }
}

/* A solver that does not get there shortens the step, and then ends the advance with a name. */
static void a_solver_that_fails_is_named(void **state)
{
    (void)state;
    world w;
    firn_sim *sim = dam(&w, 2, WATER, 1);
    firn_sim_destroy(sim);
    w.def.solver_iterations = 1;
    w.def.dt_min = 1e-4;
    sim = world_create(&w);
    const brick b = pool(16, 8, 0.25);
    brick_add(sim, &w, &b);
    firn_hash before, after;
    assert_ok(firn_sim_hash(sim, &before, &error));
    firn_report report;
    firn_error failure = {0};
    assert_int_equal(firn_sim_advance(sim, 0.1, &report, &failure), FIRN_DIVERGED);
    assert_non_null(strstr(failure.message, "the solver limit"));
    assert_non_null(strstr(failure.message, "solver_iterations, or use pressure none"));
    assert_null(strstr(failure.message, "particle")); /* none is at fault */
    assert_true(report.retries > 3);
    assert_int_equal(report.steps, 0);
    assert_ok(firn_sim_hash(sim, &after, &error));
    assert_memory_equal(&before, &after, sizeof before);
    firn_sim_destroy(sim);
}

static void what_ends_an_advance_is_named(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        world w = tank_world(2, 8);
        w.def.dt_min = 2e-3;
        if (i == 0) { /* beyond what velocities can be */
            w.def.dt = 4e-3;
            w.def.force_count = 1;
            w.force[0].acceleration[0] = 1e300;
        } else {
            w.def.gravity[1] = 0;
            w.def.material_count = 2;
            w.material[1] = w.material[0];
            w.material[1].surface_tension = 1000;
        }
        firn_sim *sim = world_create(&w);
        const brick b = pool(8, 4, 0);
        brick_add(sim, &w, &b);
        firn_error failure = {0};
        assert_int_equal(firn_sim_advance(sim, 0.1, NULL, &failure), FIRN_DIVERGED);
        assert_non_null(strstr(failure.message, i ? "the surface limit" : "the finite limit"));
        assert_non_null(strstr(failure.message, i ? ": material 1 (liquid); lower surface_tension"
                                                  : "infinite or undefined forces"));
        firn_sim_destroy(sim);
    }
}

/* What makes the solver fail lasts: steps grow slowly again, not to what has just failed. */
static void a_step_that_fails_is_not_tried_again_at_once(void **state)
{
    (void)state;
    world w = tank_world(2, 40);
    w.material[0] = firn_material_def_preset(firn_preset_find("honey"));
    w.material[0].viscosity = 100;
    w.collider[0].boundary = FIRN_STICKY;
    w.def.solver_iterations = 8;
    firn_sim *sim = world_create(&w);
    const brick b = {.cells = {20, 30, 0}, .per_axis = 2, .jitter = 0.25};
    random_state = 3;
    brick_add(sim, &w, &b);
    firn_report report;
    assert_ok(firn_sim_advance(sim, 0.25, &report, &error));
    print_message("%lld retries in %lld steps\n", (long long)report.retries,
                  (long long)report.steps);
    assert_true(report.retries > 2);
    assert_true(4 * report.retries < report.steps);
    firn_sim_destroy(sim);
}

/* Mean height of a column of mud or soft clay after half a second, in cells. */
static double heap_height(bool clay, firn_shear shear)
{
    world w = tank_world(2, 60);
    w.def.shear = shear;
    w.material[0] = firn_material_def_preset(firn_preset_find(clay ? "clay" : "mud"));
    if (clay) {
        w.material[0].yield = 150;
        w.material[0].hardening_modulus = 0;
        w.def.dt_max = 2.5e-3;
    }
    w.collider[0].boundary = FIRN_STICKY;
    firn_sim *sim = world_create(&w);
    const brick b = {.low = {25, 0, 0}, .cells = {10, 20, 0}, .per_axis = 2};
    brick_add(sim, &w, &b);
    assert_ok(firn_sim_advance(sim, 0.5, NULL, &error));
    const rest r = look(sim, 2, 2 * CELL);
    firn_sim_destroy(sim);
    return r.height;
}

/* What yields resists with its viscosity, not with its stiffness over the whole step. */
static void heaps_run_out_with_implicit_shear_too(void **state)
{
    (void)state;
    for (int clay = 0; clay < 2; clay++) {
        const double wanted = heap_height(clay, FIRN_SHEAR_EXPLICIT),
                     height = heap_height(clay, FIRN_SHEAR_IMPLICIT);
        print_message("%s stands %.2f cells high, %.2f with explicit shear\n",
                      clay ? "clay" : "mud", height, wanted);
        assert_close(height / wanted, 1, 0.25);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shallow_pools_stand_right),
        cmocka_unit_test(walls_carry_the_weight_of_the_liquid),
        cmocka_unit_test(bytes_are_the_same_at_any_thread_count_and_after_a_resume),
        cmocka_unit_test(a_dam_that_breaks_keeps_its_mass_and_stays_in_its_tank),
        cmocka_unit_test(cells_are_empty_interior_or_collider),
        cmocka_unit_test(auto_projects_liquids),
        cmocka_unit_test(drops_on_a_floor_slide_on),
        cmocka_unit_test(a_drop_flies_as_a_whole),
        cmocka_unit_test(heaps_on_a_slipping_floor_run_out_to_all_sides_alike),
        cmocka_unit_test(spray_goes_as_far_as_its_speed_says),
        cmocka_unit_test(spray_does_not_hover),
        cmocka_unit_test(a_material_that_nothing_is_of_changes_nothing),
        cmocka_unit_test(a_drop_is_pressed_by_its_surface),
        cmocka_unit_test(tension_comes_back_when_weight_goes),
        cmocka_unit_test(flip_that_keeps_nothing_is_pic),
        cmocka_unit_test(heaps_run_out_with_implicit_shear_too),
        cmocka_unit_test(a_solver_that_fails_is_named),
        cmocka_unit_test(what_ends_an_advance_is_named),
        cmocka_unit_test(a_step_that_fails_is_not_tried_again_at_once),
        cmocka_unit_test(what_projection_does_not_serve_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
