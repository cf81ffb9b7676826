/* Heat, melting and freezing: what must hold whatever they are used for. Fronts against theory are in
 * the cases of `firn validate`; see test_physics.c. */
#include "worlds.h"

#define KELVIN 273.15

/* A stand-in for chocolate: it melts at 34 C. */
static firn_material_def chocolate(void)
{
    firn_material_def m = firn_material_def_default();
    m.law = FIRN_MELTING;
    m.density = 1300;
    m.young = 1e5;
    m.poisson = 0.35;
    m.yield = 5000;
    m.liquid_yield = 10;
    m.viscosity = 3;
    m.melting_point = KELVIN + 34;
    m.latent_heat = 4.5e4;
    m.heat_capacity = m.liquid_heat_capacity = 1700;
    m.conductivity = m.liquid_conductivity = 0.2;
    return m;
}

/* Blocks of it on a sticky floor, with gravity. */
static world heat_world(int dimension, double cell_size, double speed)
{
    world w = world_default(dimension, cell_size);
    w.material[0] = w.material[1] = chocolate();
    w.def.gravity[1] = -9.81;
    w.def.heat.enabled = 1;
    w.def.heat.speed = speed;
    w.collider[0].boundary = FIRN_STICKY;
    w.def.collider_count = 1;
    return w;
}

static void warm_floor(world *w, double celsius) { w->collider[0].temperature = KELVIN + celsius; }

/* Bricks with temperatures of their own: adds one, at `celsius`. */
static void add_at(firn_sim *sim, const world *w, const brick *b, double celsius)
{
    const int d = w->def.dimension;
    const double spacing = w->def.cell_size / b->per_axis;
    const int64_t n = brick_count(d, b);
    double *x = malloc((size_t)(n * d) * sizeof *x), *t = malloc((size_t)n * sizeof *t);
    assert_true(x && t);
    for (int64_t i = 0; i < n; i++) {
        int64_t rest = i;
        for (int a = d - 1; a >= 0; a--) {
            const int64_t along = b->cells[a] * b->per_axis;
            x[i * d + a] = b->low[a] * w->def.cell_size + ((double)(rest % along) + 0.5) * spacing;
            rest /= along;
        }
        t[i] = KELVIN + celsius;
    }
    firn_particles p = firn_particles_default();
    p.count = n;
    p.position = x;
    p.temperature = t;
    p.each_volume = pow(spacing, d);
    p.each_material = b->material;
    p.each_object = b->object;
    assert_ok(firn_sim_add(sim, &p, NULL, &error));
    free(x);
    free(t);
}

static double *liquid_of(const firn_sim *sim)
{
    double *f = malloc((size_t)firn_sim_count(sim) * sizeof *f);
    assert_non_null(f);
    assert_ok(firn_sim_read_heat(sim, NULL, f, &error));
    return f;
}

/* Places of side x side particles, 5 mm apart. */
static void lay_square(double *x, int side)
{
    for (int i = 0; i < side * side; i++) {
        const int column = i / side, row = i % side;
        x[2 * i] = 0.005 * (column + 0.5);
        x[2 * i + 1] = 0.005 * (row + 0.5);
    }
}

/* ---- heat ---- */

/* The part of the particles that have molten or frozen. */
static double phase_changes(const firn_sim *sim, const double *before)
{
    double *now = liquid_of(sim), sum = 0;
    for (int64_t i = 0; i < firn_sim_count(sim); i++) sum += fabs(now[i] - before[i]);
    free(now);
    return sum / (double)firn_sim_count(sim);
}

/* A hot block dropped onto a cold one, which it melts: flow, phase change, and nothing lost. */
static void insulated_heat_is_kept(void **state)
{
    (void)state;
    for (int d = 2; d <= 3; d++) {
        world w = heat_world(d, 0.01, 5e4);
        w.material[0].liquid_heat_capacity = 3400;
        w.material[0].liquid_conductivity = 0.5;
        w.def.heat.step = w.def.dt = 2e-4;
        firn_sim *sim = world_create(&w);
        const brick cold = {.low = {-4, 0, -2}, .cells = {8, 4, 4}, .per_axis = 2},
                    hot = {.low = {-2, 5, -1}, .cells = {4, 4, 2}, .per_axis = 2};
        add_at(sim, &w, &cold, 20);
        add_at(sim, &w, &hot, 90);
        const firn_totals before = totals_of(sim);
        double *liquid = liquid_of(sim);
        for (int i = 0; i < 1000; i++) assert_ok(firn_sim_advance(sim, w.def.dt, NULL, &error));
        const firn_totals after = totals_of(sim);
        /* Over the heat that could have moved. */
        const double most = before.mass * 1700 * 70;
        assert_close((after.heat - before.heat) / most, 0, 1e-5);
        assert_true(phase_changes(sim, liquid) > 0.04);
        free(liquid);
        assert_true(after.min_temperature > KELVIN + 20 - 0.5);
        assert_true(after.max_temperature < KELVIN + 90 + 0.5);
        firn_sim_destroy(sim);
    }
}

/* Two blocks side by side, of unequal heat capacity, reach the temperature of their mixture; in one
 * field and in two. */
static void blocks_in_contact_reach_the_temperature_of_their_mixture(void **state)
{
    (void)state;
    static const uint16_t fields[] = {0, 1};
    for (int apart = 0; apart < 2; apart++) {
        world w = world_default(2, 0.01);
        w.def.heat.enabled = 1;
        w.def.heat.speed = 1e7;
        w.def.material_count = 2;
        w.material[1].heat_capacity = 500;
        w.material[1].density = 3000;
        w.material[1].conductivity = 5;
        if (apart) {
            w.def.object_bodies = fields;
            w.def.object_count = 2;
        }
        firn_sim *sim = world_create(&w);
        const brick left = {.low = {-6, 0, 0}, .cells = {6, 6, 1}, .per_axis = 2},
                    right = {.cells = {6, 6, 1}, .per_axis = 2, .material = 1, .object = 1};
        add_at(sim, &w, &left, 80);
        add_at(sim, &w, &right, 10);
        assert_ok(firn_sim_advance(sim, 0.06, NULL, &error));
        const firn_totals t = totals_of(sim);
        const double first = 1000.0 * 2000, second = 3000.0 * 500,
                     mixed = KELVIN + (first * 80 + second * 10) / (first + second);
        assert_close(t.min_temperature, mixed, 0.2);
        assert_close(t.max_temperature, mixed, 0.2);
        firn_sim_destroy(sim);
    }
}

/* Newton's law: a small body of high conductivity cools in air as exp(-t h A / C), within what the grid
 * makes of its surface. */
static void air_cools_by_newtons_law(void **state)
{
    (void)state;
    world w = world_default(2, 0.01);
    w.def.heat.enabled = 1;
    w.def.heat.speed = 1e5;
    w.def.heat.ambient = KELVIN + 20;
    w.def.heat.transfer = 50;
    w.material[0].conductivity = 1000;
    firn_sim *sim = world_create(&w);
    const brick block = {.low = {-10, -10, 0}, .cells = {20, 20, 1}, .per_axis = 2};
    add_at(sim, &w, &block, 80);
    const double side = 0.2, capacity = side * side * 1000 * 2000, seconds = 1000;
    assert_ok(firn_sim_advance(sim, seconds / w.def.heat.speed, NULL, &error));
    const firn_totals t = totals_of(sim);
    const double want = KELVIN + 20 + 60 * exp(-seconds * 50 * 4 * side / capacity);
    assert_close(0.5 * (t.min_temperature + t.max_temperature), want, 0.05 * (want - KELVIN - 20));
    firn_sim_destroy(sim);
}

/* What is half molten leaves the plateau no warmer than the wall that melts it, and no colder than one that
 * freezes it, in one long step; however little latent heat there is. */
static void nothing_leaves_the_plateau_beyond_the_wall(void **state)
{
    (void)state;
    const double latent[] = {1, 5000, 45000}, wall[] = {263.15, 353.15, 453.15};
    for (int i = 0; i < 9; i++) {
        world w = heat_world(2, 0.01, 4e6);
        w.material[0].latent_heat = latent[i / 3];
        w.material[0].melting_range = i % 2 ? 4 : 0;
        w.collider[0].temperature = wall[i % 3];
        enum { N = 400 };
        double x[2 * N], e[N];
        lay_square(x, 20);
        for (int n = 0; n < N; n++)
            e[n] = 0.5 * (latent[i / 3] + w.material[0].melting_range * 1700);
        firn_particles p = firn_particles_default();
        p.count = N;
        p.position = x;
        p.enthalpy = e;
        p.each_volume = 25e-6;
        firn_sim *sim = world_create(&w);
        assert_ok(firn_sim_add(sim, &p, NULL, &error));
        const double start = totals_of(sim).min_temperature;
        for (int k = 0; k < 4; k++) assert_ok(firn_sim_step(sim, NULL, &error));
        const firn_totals t = totals_of(sim);
        const double slack = 0.03 * fabs(wall[i % 3] - start);
        assert_true(t.min_temperature > fmin(start, wall[i % 3]) - slack);
        assert_true(t.max_temperature < fmax(start, wall[i % 3]) + slack);
        firn_sim_destroy(sim);
    }
}

/* A cold layer on a hot block, in air that is as cold: nodes of both lose heat, and the layer gets no
 * colder than the air all the same. */
static void nothing_gets_colder_than_the_air(void **state)
{
    (void)state;
    world w = heat_world(2, 0.01, 1000);
    w.def.heat.ambient = KELVIN;
    w.def.heat.transfer = 500;
    firn_sim *sim = world_create(&w);
    const brick block = {.low = {-4, 0, 0}, .cells = {8, 7, 1}, .per_axis = 2},
                layer = {.low = {-4, 7, 0}, .cells = {8, 1, 1}, .per_axis = 2};
    add_at(sim, &w, &block, 30);
    add_at(sim, &w, &layer, 0);
    for (int i = 0; i < 20; i++) {
        assert_ok(firn_sim_advance(sim, 0.01, NULL, &error));
        assert_true(totals_of(sim).min_temperature > KELVIN - 0.01);
    }
    firn_sim_destroy(sim);
}

/* A plate that lies on a wall which takes so much heat per area and kelvin: level, tilted, and both of
 * them on the move. */
static void walls_take_what_their_transfer_says(void **state)
{
    (void)state;
    for (int i = 0; i < 6; i++) {
        const double angle = i % 3 * 0.2, speed = i < 3 ? 0 : 2, c = cos(angle), s = sin(angle);
        world w = world_default(2, 0.01);
        w.def.spline = i == 2 ? FIRN_CUBIC : FIRN_QUADRATIC;
        w.def.heat.enabled = 1;
        w.def.heat.speed = 1e4;
        w.def.collider_count = 1;
        w.material[0].conductivity = 1000;
        w.collider[0].temperature = KELVIN + 20;
        w.collider[0].transfer = 50;
        w.collider[0].boundary = FIRN_SLIP;
        w.collider[0].key_count = 2;
        for (int k = 0; k < 2; k++) {
            w.key[0][k] =
                (firn_pose_key){k, {k * speed, 0, 0}, {cos(angle / 2), 0, 0, sin(angle / 2)}};
        }
        enum { LONG = 80, HIGH = 16, N = LONG * HIGH };
        double x[2 * N], v[2 * N], t[N];
        for (int n = 0; n < N; n++) {
            const int column = n % LONG - LONG / 2, row = n / LONG;
            const double along = 0.005 * (column + 0.5), up = 0.005 * (row + 0.5); /* of the wall */
            x[2 * n] = c * along - s * up;
            x[2 * n + 1] = s * along + c * up;
            v[2 * n] = speed;
            v[2 * n + 1] = 0;
            t[n] = KELVIN + 80;
        }
        firn_particles p = firn_particles_default();
        p.count = N;
        p.position = x;
        p.velocity = v;
        p.temperature = t;
        p.each_volume = 25e-6;
        firn_sim *sim = world_create(&w);
        assert_ok(firn_sim_add(sim, &p, NULL, &error));
        const double seconds = 500, high = 0.005 * HIGH;
        assert_ok(firn_sim_advance(sim, seconds / w.def.heat.speed, NULL, &error));
        const firn_totals is = totals_of(sim);
        const double left = exp(-seconds * 50 / (high * 1000 * 2000)),
                     want = KELVIN + 20 + 60 * left;
        assert_close(0.5 * (is.min_temperature + is.max_temperature), want, 0.03 * 60 * (1 - left));
        firn_sim_destroy(sim);
    }
}

static int keep_two_of_three(void *user_data, uint64_t id, const double position[3],
                             uint16_t material, uint16_t object)
{
    (void)user_data, (void)position, (void)material, (void)object;
    return id % 3 != 0;
}

/* Particles take their heat along through blocks, reorderings and removals of others. */
static void heat_stays_with_its_particle(void **state)
{
    (void)state;
    enum { N = 600 };
    world w = world_default(3, 0.01);
    w.def.heat.enabled = 1;
    w.def.heat.speed = 1e-9;
    firn_sim *sim = world_create(&w);
    double x[3 * N], v[3 * N], t[N], c[N];
    random_state = 5;
    for (int n = 0; n < N; n++) {
        for (int a = 0; a < 3; a++) {
            x[3 * n + a] = uniform(0, 0.3);
            v[3 * n + a] = uniform(-3, 3);
        }
        t[n] = KELVIN + 0.1 * n;
        c[n] = 0.001 * n;
    }
    firn_particles p = firn_particles_default();
    p.count = N;
    p.position = x;
    p.velocity = v;
    p.temperature = t;
    p.concentration = c;
    p.each_volume = 1e-9;
    assert_ok(firn_sim_add(sim, &p, NULL, &error));
    assert_ok(firn_sim_advance(sim, 0.1, NULL, &error));
    assert_ok(firn_sim_remove(sim, keep_two_of_three, NULL, NULL, &error));
    assert_ok(firn_sim_advance(sim, 0.05, NULL, &error));
    assert_int_equal(firn_sim_count(sim), N * 2 / 3);
    double *id = read_all(sim, 3, FIRN_ID), *dye = read_all(sim, 3, FIRN_CONCENTRATION), is[N];
    assert_ok(firn_sim_read_heat(sim, is, NULL, &error));
    for (int n = 0; n < N * 2 / 3; n++) {
        assert_close(is[n], KELVIN + 0.1 * id[n], 1e-3);
        assert_close(dye[n], 0.001 * id[n], 1e-5);
    }
    free(id);
    free(dye);
    firn_sim_destroy(sim);
}

/* A source gives what it says, and only while it is on. */
static void sources_give_what_they_say(void **state)
{
    (void)state;
    world w = world_default(2, 0.01);
    w.def.heat.enabled = 1;
    w.def.heat.speed = 10;
    const firn_heat_source source = everywhere(1e6, 0.01, 0.03);
    w.def.heat.sources = &source;
    w.def.heat.source_count = 1;
    firn_sim *sim = world_create(&w);
    const brick block = {.cells = {6, 6, 1}, .per_axis = 2};
    add_at(sim, &w, &block, 20);
    const firn_totals before = totals_of(sim);
    assert_ok(firn_sim_advance(sim, 0.05, NULL, &error));
    const firn_totals after = totals_of(sim);
    const double given = 1e6 * 0.06 * 0.06 * 0.02 * w.def.heat.speed;
    assert_close(after.heat - before.heat, given, 1e-4 * given);
    firn_sim_destroy(sim);
}

/* Gains far below what an enthalpy of ice resolves add up all the same; and a source's keys are copied. */
static void slow_heat_adds_up(void **state)
{
    (void)state;
    world w = world_default(2, 0.01);
    w.material[0] = chocolate();
    w.material[0].latent_heat = 3.3e5;
    w.def.heat.enabled = 1;
    w.def.heat.step = w.def.dt = 1e-3;
    firn_pose_key keys[2] = {{0, {0, 0, 0}, {1, 0, 0, 0}}, {9, {0, 0, 0}, {1, 0, 0, 0}}};
    firn_heat_source source = everywhere(1300 * 5.0, 0, 9); /* 5 mJ/kg per step */
    source.shape.keys = keys;
    source.shape.key_count = 2;
    w.def.heat.sources = &source;
    w.def.heat.source_count = 1;
    enum { N = 24 * 24 };
    double x[2 * N], e[N];
    lay_square(x, 24);
    for (int i = 0; i < N; i++) e[i] = 2e5; /* where a float has steps of 0.016 J/kg */
    firn_particles p = firn_particles_default();
    p.count = N;
    p.position = x;
    p.enthalpy = e;
    p.each_volume = 25e-6;
    firn_sim *sim = world_create(&w);
    keys[0].position[0] = keys[1].position[0] = 1e6;
    assert_ok(firn_sim_add(sim, &p, NULL, &error));
    assert_ok(firn_sim_advance(sim, 1, NULL, &error));
    const firn_totals t = totals_of(sim);
    assert_close(t.heat / t.mass - 2e5, 5, 0.25); /* J/kg */
    firn_sim_destroy(sim);
}

/* Radiation: sigma (S^4 - T^4) per area, to a thin plate between two skies. */
static void the_sky_radiates_by_stefan_and_boltzmann(void **state)
{
    (void)state;
    world w = world_default(2, 0.01);
    w.def.heat.enabled = 1;
    w.def.heat.speed = 1000;
    w.def.heat.emissivity = 1;
    w.def.heat.sky = 600;
    w.material[0].conductivity = 1000;
    firn_sim *sim = world_create(&w);
    const brick block = {.low = {-10, -10, 0}, .cells = {20, 20, 1}, .per_axis = 2};
    add_at(sim, &w, &block, 20);
    const firn_totals before = totals_of(sim);
    assert_ok(firn_sim_advance(sim, 0.05, NULL, &error));
    const double given = totals_of(sim).heat - before.heat,
                 flux = 5.670374e-8 * (pow(600, 4) - pow(293.15, 4)); /* W/m2 */
    assert_close(given, flux * 0.8 * 50, 0.05 * flux * 0.8 * 50);
    firn_sim_destroy(sim);
}

/* Snow that is a fifth water keeps the volume of its mixture where nothing loads it; and a body that melts and
 * freezes again and again does not grow. */
static void slush_and_refrozen_bodies_keep_their_volume(void **state)
{
    (void)state;
    world w = world_default(2, 0.01);
    w.material[0] = firn_material_def_preset(firn_preset_find("snow_melting"));
    w.material[1] = chocolate();
    w.def.material_count = 2;
    w.def.heat.enabled = 1;
    w.def.damping = 20;
    firn_sim *sim = world_create(&w);
    enum { N = 12 * 12 };
    double x[2 * N], e[N], F[4 * N] = {0};
    lay_square(x, 12);
    for (int i = 0; i < N; i++) {
        F[4 * i] = F[4 * i + 3] = sqrt(0.88); /* at rest: 0.8 + 0.2 x 0.4 */
        e[i] = 0.2 * 3.34e5;
    }
    firn_particles p = firn_particles_default();
    p.count = N;
    p.position = x;
    p.enthalpy = e;
    p.deformation_gradient = F;
    p.each_volume = 25e-6;
    assert_ok(firn_sim_add(sim, &p, NULL, &error));
    assert_ok(firn_sim_advance(sim, 0.5, NULL, &error));
    const firn_totals t = totals_of(sim);
    assert_close(t.min_J, 0.88, 0.01);
    assert_close(t.max_J, 0.88, 0.01);
    firn_sim_destroy(sim);

    w.def.heat.speed = 1;
    firn_heat_source cycle[4];
    for (int i = 0; i < 4; i++) {
        cycle[i] = everywhere((i % 2 ? -1 : 1) * 1300 * 9e5, 0.1 * i, 0.1 * (i + 1));
    }
    w.def.heat.sources = cycle;
    w.def.heat.source_count = 4;
    sim = world_create(&w);
    const brick block = {.cells = {6, 6, 1}, .per_axis = 2, .material = 1};
    add_at(sim, &w, &block, 20);
    assert_ok(firn_sim_advance(sim, 0.1, NULL, &error));
    assert_close(totals_of(sim).liquid / totals_of(sim).mass, 1, 1e-6);
    assert_ok(firn_sim_advance(sim, 0.3, NULL, &error));
    const firn_totals end = totals_of(sim);
    assert_true(end.liquid == 0);
    assert_close(end.min_J, 1, 0.02);
    assert_close(end.max_J, 1, 0.02);
    firn_sim_destroy(sim);
}

/* How far ASFLIP lets two particles come that leave one place with opposite velocities, over what those
 * velocities make: 0 where the material counts as compressed. J is over that at rest. */
static double way_apart(const char *preset, double packing, double liquid, double J, firn_path path)
{
    world w = world_default(2, 0.01);
    w.material[0] = firn_material_def_preset(firn_preset_find(preset));
    w.def.transfer = FIRN_ASFLIP;
    w.def.path = path;
    w.def.heat.enabled = 1;
    const firn_material_def *m = &w.material[0];
    const double rest = (1 - liquid) * packing + liquid * m->density / m->liquid_density,
                 side = sqrt(J * rest), state = log(packing),
                 range = 0.5 * m->melting_range * (m->heat_capacity + m->liquid_heat_capacity),
                 melt = liquid * (m->latent_heat + range);
    firn_particles p = firn_particles_default();
    p.count = 2;
    p.position = (double[]){0.005, 0.005, 0.005, 0.005};
    p.velocity = (double[]){1, 0, -1, 0};
    p.deformation_gradient = (double[]){side, 0, 0, side, side, 0, 0, side};
    p.state = (double[]){state, state};
    p.enthalpy = (double[]){melt, melt};
    p.each_volume = 25e-6;
    firn_sim *sim = world_create(&w);
    const double dt = 1e-6;
    double x[4];
    assert_ok(firn_sim_add(sim, &p, NULL, &error));
    assert_ok(firn_sim_advance(sim, dt, NULL, &error));
    assert_ok(firn_sim_read(sim, FIRN_POSITION, 0, 2, x, &error));
    firn_sim_destroy(sim);
    return (x[0] - x[2]) / (2 * dt);
}

/* Water is denser than ice and molten wax lighter than wax; snow packs: none is compressed by that. */
static void what_melts_moves_apart_unless_it_is_compressed(void **state)
{
    (void)state;
    static const struct {
        const char *preset;
        double packing;
    } cases[] = {{"ice", 1}, {"wax", 1}, {"snow_melting", 1}, {"snow_melting", 0.8}};
    for (int i = 0; i < 4 * PATHS; i++) {
        const char *preset = cases[i / PATHS].preset;
        const double packing = cases[i / PATHS].packing;
        const firn_path path = both_paths[i % PATHS];
        for (double liquid = 0; liquid <= 1; liquid += 0.5) {
            assert_close(way_apart(preset, packing, liquid, 1, path), 1, 0.02);
            assert_close(way_apart(preset, packing, liquid, 1.02, path), 1, 0.02);
            assert_close(way_apart(preset, packing, liquid, 0.98, path), 0, 0.02);
        }
    }
}

/* What is added molten has the melt's density and is at rest in its room, whether melt is lighter than
 * the solid or heavier. */
static void what_starts_molten_is_at_rest(void **state)
{
    (void)state;
    const double density[] = {1100, 1500};
    for (int i = 0; i < 2; i++) {
        world w = heat_world(2, 0.01, 1);
        w.def.gravity[1] = 0;
        w.material[0].liquid_density = density[i];
        firn_sim *sim = world_create(&w);
        const brick block = {.low = {-4, 0, 0}, .cells = {8, 8, 1}, .per_axis = 2};
        add_at(sim, &w, &block, 60);
        assert_close(totals_of(sim).mass, density[i] * 0.08 * 0.08, 1e-4);
        assert_ok(firn_sim_advance(sim, 0.1, NULL, &error));
        const firn_totals t = totals_of(sim);
        assert_at_most(t.max_speed, 1e-3);
        assert_close(t.min_J, 1300 / density[i], 1e-3);
        assert_close(t.max_J, 1300 / density[i], 1e-3);
        firn_sim_destroy(sim);
    }
}

/* However short heat's steps are to be, motion's stay as long as they are. */
static void heat_does_not_shorten_motion(void **state)
{
    (void)state;
    int64_t steps[2];
    for (int i = 0; i < 2; i++) {
        world w = heat_world(2, 0.01, 1);
        w.def.heat.step = i ? 1e-9 : 1;
        firn_sim *sim = world_create(&w);
        const brick block = {.low = {-4, 0, 0}, .cells = {8, 8, 1}, .per_axis = 2};
        add_at(sim, &w, &block, 20);
        assert_ok(firn_sim_step(sim, NULL, &error)); /* finds how long they may be */
        firn_report report;
        assert_ok(firn_sim_advance(sim, 0.02, &report, &error));
        steps[i] = report.steps;
        firn_sim_destroy(sim);
    }
    assert_true(steps[1] <= steps[0] + steps[0] / 10);

    world w = heat_world(2, 0.01, 1); /* nor is there a step too short for heat */
    w.def.heat.step = 1e6;
    firn_sim *sim = world_create(&w);
    const brick block = {.low = {-4, 0, 0}, .cells = {8, 8, 1}, .per_axis = 2};
    add_at(sim, &w, &block, 20);
    assert_ok(firn_sim_advance(sim, 1e-9, NULL, &error));
    firn_sim_destroy(sim);
}

/* Where dye spreads over more cells than the solver can take, the message says what to lower. */
static void dye_that_cannot_be_solved_is_named(void **state)
{
    (void)state;
    world w = world_default(2, 0.01);
    w.def.heat.enabled = 1;
    w.def.heat.speed = 1e9;
    w.material[0].diffusivity = 1;
    firn_sim *sim = world_create(&w);
    const double x[4] = {0.001, 0.001, 0.007, 0.003}, c[2] = {1.3, 0.2};
    firn_particles p = firn_particles_default();
    p.count = 2;
    p.position = x;
    p.concentration = c;
    p.each_volume = 25e-6;
    assert_ok(firn_sim_add(sim, &p, NULL, &error));
    firn_error why = {0};
    assert_int_equal(firn_sim_advance(sim, 0.1, NULL, &why), FIRN_DIVERGED);
    assert_non_null(strstr(why.message, "diffusivity"));
    firn_sim_destroy(sim);
}

/* A dye spreads by its own diffusivity, and none is lost. */
static void dye_spreads_and_is_kept(void **state)
{
    (void)state;
    world w = world_default(2, 0.01);
    w.def.heat.enabled = 1;
    w.def.heat.speed = 1e4;
    w.material[0].diffusivity = 1e-5;
    firn_sim *sim = world_create(&w);
    const brick b = {.low = {-16, 0, 0}, .cells = {32, 4, 1}, .per_axis = 2};
    const int64_t n = brick_count(2, &b);
    double *x = malloc((size_t)(2 * n) * sizeof *x), *c = malloc((size_t)n * sizeof *c);
    assert_true(x && c);
    for (int64_t i = 0; i < n; i++) {
        const int64_t column = i / 8, row = i % 8;
        x[2 * i] = (-16 + ((double)column + 0.5) / 2) * 0.01;
        x[2 * i + 1] = ((double)row + 0.5) / 2 * 0.01;
        c[i] = x[2 * i] < 0;
    }
    firn_particles p = firn_particles_default();
    p.count = n;
    p.position = x;
    p.concentration = c;
    p.each_volume = 25e-6;
    assert_ok(firn_sim_add(sim, &p, NULL, &error));
    const double seconds = 100; /* of heat: 2 sqrt(D t) is 6.3 cells */
    for (int i = 0; i < 100; i++)
        assert_ok(firn_sim_advance(sim, seconds / w.def.heat.speed / 100, NULL, &error));
    double *is = read_all(sim, 2, FIRN_CONCENTRATION), sum = 0, worst = 0;
    for (int64_t i = 0; i < n; i++) {
        const double want = 0.5 * erfc(x[2 * i] / (2 * sqrt(1e-5 * seconds)));
        worst = fmax(worst, fabs(is[i] - want));
        sum += is[i] - c[i];
    }
    assert_at_most(worst, 0.01);
    assert_close(sum / (double)n, 0, 1e-5);
    free(is);
    free(x);
    free(c);
    firn_sim_destroy(sim);
}

/* ---- phase change ---- */

static double height_of(const firn_sim *sim, int d)
{
    double *x = read_all(sim, d, FIRN_POSITION), top = 0;
    for (int64_t i = 0; i < firn_sim_count(sim); i++) top = fmax(top, x[i * d + 1]);
    free(x);
    return top;
}

static double width_of(const firn_sim *sim, int d)
{
    double *x = read_all(sim, d, FIRN_POSITION), low = INFINITY, high = -INFINITY;
    for (int64_t i = 0; i < firn_sim_count(sim); i++) {
        low = fmin(low, x[i * d]);
        high = fmax(high, x[i * d]);
    }
    free(x);
    return high - low;
}

/* The test that a published solver failed: a column stands while it is cold and spreads while it is
 * heated; it melts from the hot side, and nothing flies off. */
static void a_column_stands_cold_and_spreads_heated(void **state)
{
    (void)state;
    for (int hot = 0; hot < 2; hot++) {
        world w = heat_world(2, 0.005, 1000);
        w.def.damping = hot ? 0 : 5;
        const firn_acceleration_key ramp[] = {{0, {0, 9.81, 0}}, {0.5, {0, 0, 0}}};
        memcpy(w.force, ramp, sizeof ramp);
        w.def.force_count = 2;
        if (hot) warm_floor(&w, 80);
        firn_sim *sim = world_create(&w);
        const brick column = {.low = {-5, 0, 0}, .cells = {10, 20, 1}, .per_axis = 2};
        add_at(sim, &w, &column, 20);
        const double height = height_of(sim, 2), width = width_of(sim, 2);
        double speed = 0;
        const double seconds = hot ? 2 : 10;
        for (int i = 0; i < 10; i++) {
            assert_ok(firn_sim_advance(sim, seconds / 10, NULL, &error));
            speed = fmax(speed, totals_of(sim).max_speed);
        }
        if (!hot) {
            assert_close(height_of(sim, 2) / height, 1, 0.01);
            assert_close(width_of(sim, 2) / width, 1, 0.01);
        } else {
            assert_true(height_of(sim, 2) < 0.99 * height);
            assert_true(width_of(sim, 2) > 1.2 * width);
            assert_at_most(speed, sqrt(2 * 9.81 * height)); /* that of falling from the top */
            /* The liquid lies under the solid. */
            const int64_t n = firn_sim_count(sim);
            double *x = read_all(sim, 2, FIRN_POSITION), *f = liquid_of(sim);
            for (int64_t i = 0; i < n; i++) {
                if (x[2 * i + 1] > 0.4 * height) assert_true(f[i] == 0);
                if (x[2 * i + 1] < 0.002) assert_true(f[i] > 0.5);
            }
            free(x);
            free(f);
        }
        firn_sim_destroy(sim);
    }
}

/* As stiff as that solver's: mu 1e6 and lambda 1e9 Pa, in implicit steps. */
static void a_stiff_column_melts_quietly(void **state)
{
    (void)state;
    world w = heat_world(2, 0.005, 10000);
    const double mu = 1e6, lambda = 1e9;
    w.material[0].young = mu * (3 * lambda + 2 * mu) / (lambda + mu);
    w.material[0].poisson = lambda / (2 * (lambda + mu));
    w.def.integrator = FIRN_IMPLICIT;
    w.def.solver_iterations = 3000;
    warm_floor(&w, 80);
    firn_sim *sim = world_create(&w);
    const brick column = {.low = {-2, 0, 0}, .cells = {4, 8, 1}, .per_axis = 2};
    add_at(sim, &w, &column, 20);
    const double height = height_of(sim, 2);
    double speed = 0;
    for (int i = 0; i < 10; i++) {
        assert_ok(firn_sim_advance(sim, 0.03, NULL, &error));
        speed = fmax(speed, totals_of(sim).max_speed);
    }
    const firn_totals t = totals_of(sim);
    assert_true(t.liquid > 0.2 * t.mass);
    assert_at_most(speed, sqrt(2 * 9.81 * height));
    assert_true(t.min_J > 0.9 && t.max_J < 1.5);
    assert_true(height_of(sim, 2) <= height);
    firn_sim_destroy(sim);
}

/* A puddle that freezes keeps its shape, and is under little stress. */
static void what_freezes_keeps_its_shape(void **state)
{
    (void)state;
    world w = heat_world(2, 0.005, 2000);
    w.material[0].viscosity = 1;
    warm_floor(&w, -20);
    firn_sim *sim = world_create(&w);
    const brick block = {.low = {-6, 0, 0}, .cells = {12, 12, 1}, .per_axis = 2};
    add_at(sim, &w, &block, 36);
    const double melted = totals_of(sim).liquid;
    const double start = width_of(sim, 2);
    for (int i = 0; i < 40 && totals_of(sim).liquid > 0; i++)
        assert_ok(firn_sim_advance(sim, 0.1, NULL, &error));
    const firn_totals frozen = totals_of(sim);
    const double width = width_of(sim, 2), height = height_of(sim, 2);
    assert_true(melted > 0 && frozen.liquid == 0);
    assert_true(width > 1.1 * start);
    assert_ok(firn_sim_advance(sim, 0.5, NULL, &error));
    assert_close(width_of(sim, 2) / width, 1, 0.01);
    assert_close(height_of(sim, 2) / height, 1, 0.02);
    const int64_t n = firn_sim_count(sim);
    double *p = malloc((size_t)n * sizeof *p), mean = 0;
    assert_non_null(p);
    assert_ok(firn_sim_read_pressure(sim, p, &error));
    for (int64_t i = 0; i < n; i++) mean += fabs(p[i]) / (double)n;
    assert_at_most(mean, 3 * 1300 * 9.81 * height);
    free(p);
    firn_sim_destroy(sim);
}

/* ---- determinism ---- */

static int write_bytes(void *user_data, const void *bytes, size_t size)
{
    FILE *f = user_data;
    return fwrite(bytes, 1, size, f) != size;
}
static int read_bytes(void *user_data, void *bytes, size_t size)
{
    FILE *f = user_data;
    return fread(bytes, 1, size, f) != size;
}

static void melting_is_the_same_on_any_threads_and_after_resuming(void **state)
{
    (void)state;
    firn_hash want = {{0}};
    for (int run = 0; run < 3; run++) {
        world w = heat_world(3, 0.01, 1000);
        warm_floor(&w, 80);
        w.def.heat.transfer = 10;
        w.def.heat.emissivity = 0.9;
        w.material[0].diffusivity = 1e-9;
        w.def.threads = run == 1 ? 3 : 1;
        firn_sim *sim = world_create(&w);
        const brick block = {.low = {-4, 0, -4}, .cells = {8, 8, 8}, .per_axis = 2};
        add_at(sim, &w, &block, 20);
        assert_ok(firn_sim_advance(sim, 0.05, NULL, &error));
        if (run == 2) {
            FILE *f = tmpfile();
            assert_non_null(f);
            assert_ok(firn_sim_save(sim, write_bytes, f, &error));
            firn_sim_destroy(sim);
            sim = world_create(&w);
            rewind(f);
            assert_ok(firn_sim_load(sim, read_bytes, f, &error));
            fclose(f);
        }
        assert_ok(firn_sim_advance(sim, 0.05, NULL, &error));
        const firn_hash hash = hash_of(sim);
        if (run == 0) want = hash;
        assert_same_hash(hash, want);
        firn_sim_destroy(sim);
    }
}

/* A state with heat is not for a world without, nor the other way. */
static void states_with_and_without_heat_do_not_mix(void **state)
{
    (void)state;
    for (int hot = 0; hot < 2; hot++) {
        world with = heat_world(2, 0.01, 1), without = heat_world(2, 0.01, 1);
        with.material[0] = without.material[0] = firn_material_def_default();
        without.def.heat.enabled = 0;
        firn_sim *from = world_create(hot ? &with : &without),
                 *to = world_create(hot ? &without : &with);
        const brick block = {.cells = {4, 4, 1}, .per_axis = 2};
        brick_add(from, &with, &block);
        assert_ok(firn_sim_advance(from, 0.01, NULL, &error));
        FILE *f = tmpfile();
        assert_non_null(f);
        assert_ok(firn_sim_save(from, write_bytes, f, &error));
        rewind(f);
        firn_error refusal = {0};
        assert_int_equal(firn_sim_load(to, read_bytes, f, &refusal), FIRN_INVALID);
        assert_non_null(strstr(refusal.message, "heat"));
        fclose(f);
        assert_int_equal(firn_sim_count(to), 0);
        firn_sim_destroy(from);
        firn_sim_destroy(to);
    }
}

/* ---- bad values ---- */

static void refused(world *w, const char *what)
{
    firn_sim *sim = NULL;
    firn_error error = {0};
    world_point(w);
    if (firn_sim_create(&w->def, &sim, &error) != FIRN_INVALID || !strstr(error.message, what))
        complain("wanted an error about %s, got: %s\n", what, error.message);
    firn_sim_destroy(sim);
}

static void bad_heat_is_refused(void **state)
{
    (void)state;
#define BAD(change, what)                                                                          \
    do {                                                                                           \
        world w = heat_world(2, 0.01, 1);                                                          \
        change;                                                                                    \
        refused(&w, what);                                                                         \
    } while (0)
    BAD(w.material[0].latent_heat = -1, "latent_heat");
    BAD(w.material[0].melting_range = -1, "melting_range");
    BAD(w.material[0].conductivity = w.material[0].liquid_conductivity = 0, "conductivity");
    BAD(w.material[0].heat_capacity = 0, "heat_capacity");
    BAD(w.collider[0].transfer = -1, "transfer");
    BAD(w.collider[0].temperature = -1, "temperature");
    BAD(w.def.heat.speed = 0, "heat.speed");
    BAD(w.def.heat.ambient = -5, "heat.ambient");
    BAD(w.def.heat.emissivity = 2, "heat.emissivity");
    BAD(w.def.heat.source_count = 1, "heat.sources");
#undef BAD
    assert_no_complaints();

    /* Faster than a solver can follow. */
    world w = heat_world(2, 0.01, 1e9);
    w.material[0].conductivity = w.material[0].liquid_conductivity = 1e6;
    warm_floor(&w, 80);
    firn_sim *sim = world_create(&w);
    const brick block = {.low = {-4, 0, 0}, .cells = {8, 8, 1}, .per_axis = 2};
    add_at(sim, &w, &block, 20);
    firn_error refusal = {0};
    assert_int_equal(firn_sim_advance(sim, 0.1, NULL, &refusal), FIRN_DIVERGED);
    assert_non_null(strstr(refusal.message, "heat.speed"));
    firn_sim_destroy(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(insulated_heat_is_kept),
        cmocka_unit_test(blocks_in_contact_reach_the_temperature_of_their_mixture),
        cmocka_unit_test(air_cools_by_newtons_law),
        cmocka_unit_test(nothing_leaves_the_plateau_beyond_the_wall),
        cmocka_unit_test(nothing_gets_colder_than_the_air),
        cmocka_unit_test(walls_take_what_their_transfer_says),
        cmocka_unit_test(heat_stays_with_its_particle),
        cmocka_unit_test(sources_give_what_they_say),
        cmocka_unit_test(slow_heat_adds_up),
        cmocka_unit_test(the_sky_radiates_by_stefan_and_boltzmann),
        cmocka_unit_test(slush_and_refrozen_bodies_keep_their_volume),
        cmocka_unit_test(what_starts_molten_is_at_rest),
        cmocka_unit_test(what_melts_moves_apart_unless_it_is_compressed),
        cmocka_unit_test(heat_does_not_shorten_motion),
        cmocka_unit_test(dye_that_cannot_be_solved_is_named),
        cmocka_unit_test(dye_spreads_and_is_kept),
        cmocka_unit_test(a_column_stands_cold_and_spreads_heated),
        cmocka_unit_test(a_stiff_column_melts_quietly),
        cmocka_unit_test(what_freezes_keeps_its_shape),
        cmocka_unit_test(melting_is_the_same_on_any_threads_and_after_resuming),
        cmocka_unit_test(states_with_and_without_heat_do_not_mix),
        cmocka_unit_test(bad_heat_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
