/* Scene files: mistakes are refused with their place, and a run that is cut off goes on with the
 * same bits. */
#define _GNU_SOURCE /* unshare */
#include <sched.h>
#include <sys/mount.h>

#include "program.h"
#include "run/job.h"
#include "sim/sim.h"

static const char drop_scene[] = FIRN_SCENES "/drop.yaml";
static const char hose_scene[] = FIRN_SCENES "/hose.yaml";
static const char chunks_scene[] = FIRN_SCENES "/chunks.yaml";
static const char melt_scene[] = FIRN_SCENES "/melt.yaml";

static double size_of_file(const char *folder, const char *name)
{
    struct stat about;
    char path[PATH_SIZE];
    assert_int_equal(stat(in_folder(folder, name, path), &about), 0);
    return (double)about.st_size;
}

/* The hash of a frame in what was printed; "" when there is none. */
static const char *printed_hash(const char *out, int frame, char text[64])
{
    char begin[32];
    snprintf(begin, sizeof begin, "hash %d ", frame);
    const char *line = strstr(out, begin);
    text[0] = 0;
    if (line) snprintf(text, 64, "%.32s", line + strlen(begin));
    return text;
}

/* ---- broken scenes ---- */

static void check_broken(const char *path)
{
    static char text[TEXT_SIZE];
    read_text(path, text, sizeof text);
    text[strcspn(text, "\n")] = 0;
    static const char begin[] = "# expect ";
    char *part = strncmp(text, begin, strlen(begin)) == 0 ? strstr(text, ": ") : NULL;
    if (!part) {
        complain("%s: the first line is not `# expect LINE:COLUMN: part of the message`\n", path);
        return;
    }
    part[0] = 0;
    part += 2;
    char want[2 * PATH_SIZE], folder[PATH_SIZE];
    snprintf(want, sizeof want, "firn run: %s:%.100s: ", path, text + strlen(begin));
    fresh_folder("broken", folder);
    const outcome *o = run(folder, WORDS("run", path));
    const char *line = strchr(o->err, '\n');
    if (o->exit_code != 3 || strncmp(o->err, want, strlen(want)) != 0 ||
        !strstr(o->err + strlen(want), part) || !line || line[1] || o->out[0]) {
        complain("exit %d\n  got    %s%s  wanted %s... %s\n", o->exit_code, o->err, o->out, want,
                 part);
    }
    if (count_entries(folder) != 0) complain("%s: files were made\n", path);
    const bool large = strstr(part, "GB; use"); /* which a plan shows */
    o = run(folder, WORDS("run", path, "--plan"));
    if (!large && (o->exit_code != 3 || !strstr(o->err, part))) {
        complain("%s --plan: exit %d\n%s", path, o->exit_code, o->err);
    }
}

static void broken_scenes_name_the_place_and_leave_nothing(void **state)
{
    (void)state;
    const char *folder = FIRN_SCENES "/bad";
    DIR *all = opendir(folder);
    assert_non_null(all);
    int count = 0;
    for (struct dirent *e; (e = readdir(all));) {
        char path[PATH_SIZE];
        if (!ends_in(e->d_name, ".yaml")) continue;
        check_broken(in_folder(folder, e->d_name, path));
        count++;
    }
    closedir(all);
    assert_true(count >= 60);
    assert_no_complaints();
}

static void a_missing_scene_is_bad_input(void **state)
{
    (void)state;
    char folder[PATH_SIZE];
    const outcome *o = run(fresh_folder("missing", folder), WORDS("run", "none.yaml"));
    expect_exit(o, 3, "missing scene");
    assert_non_null(strstr(o->err, "none.yaml"));
    assert_int_equal(count_entries(folder), 0);
    assert_no_complaints();
}

static void what_set_breaks_names_set(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"resolution=-1", "--set resolution: resolution -1 must be"},
        {"resolutoin=1", "did you mean \"resolution\""},
        {"objects.none.velocity=[1, 0, 0]", "the list has no entry \"none\"; there are ball"},
        {"objects.bal.velocity=[1, 0, 0]",
         "--set objects.bal.velocity: the list has no entry \"bal\", did "
         "you mean \"ball\"?"},
        {"frames.end=soon", "end \"soon\" must be a whole number"},
        {"frames.end= ", "--set frames.end: no value"},
        {"frames..end=3", "is not a path"},
        {"resolution=[", "--set resolution: did not find"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char folder[PATH_SIZE];
        const outcome *o =
            run(fresh_folder("set", folder), WORDS("run", drop_scene, "--set", cases[i][0]));
        expect_exit(o, 3, cases[i][0]);
        if (!strstr(o->err, cases[i][1])) complain("%s: %s\n", cases[i][0], o->err);
        if (count_entries(folder) != 0) complain("%s: files were made\n", cases[i][0]);
    }
    assert_no_complaints();
}

static void a_set_that_sets_nothing_is_a_wrong_command_line(void **state)
{
    (void)state;
    static const char *const sets[] = {"frames.end", "frames.end=", "=3", ""};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        const outcome *o = run(top, WORDS("run", drop_scene, "--set", sets[i]));
        expect_exit(o, 2, sets[i]);
        if (!strstr(o->err, "write PATH=VALUE")) complain("%s: %s\n", sets[i], o->err);
    }
    expect_exit(run(top, WORDS("run", drop_scene, "--set")), 2, "no value at all");
    expect_exit(run(top, WORDS("sweep", drop_scene, "--vary", "seed")), 2, "--vary");
    assert_no_complaints();
}

static void an_angle_that_looks_like_radians_gets_a_hint(void **state)
{
    (void)state;
    static const char *const angles[] = {"0.6", "30"};
    for (int i = 0; i < 2; i++) {
        char folder[PATH_SIZE], set[128];
        snprintf(set, sizeof set, "materials.jelly={preset: sand, friction_angle: %s}", angles[i]);
        const outcome *o = run(fresh_folder("angle", folder),
                               WORDS("run", drop_scene, "--frames", "1:1", "--set", set));
        expect_exit(o, 0, set);
        if (!strstr(o->err, "angles are in degrees") != (i == 1)) complain("%s\n", o->err);
    }
    assert_no_complaints();
}

/* ---- filling ---- */

static void particles_larger_than_a_cell_are_warned_of(void **state)
{
    (void)state;
    static const struct {
        const char *set;
        bool warns;
    } cases[] = {
        {"simulation.cell_size=0.1", false}, /* two particles of 0.05 m across a cell */
        {"simulation.particles_per_cell=1", false},
        {"simulation.cell_size=0.04", true},
        {"objects.ball.separation=0.15", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char folder[PATH_SIZE];
        const outcome *o = run(fresh_folder("coarse", folder),
                               WORDS("run", drop_scene, "--frames", "1:1", "--set", cases[i].set));
        expect_exit(o, 0, cases[i].set);
        const char *warning = strstr(o->err, "warning: " FIRN_SCENES "/drop.yaml:9:5: ");
        if (cases[i].warns != (warning && strstr(warning, "larger than a cell"))) {
            complain("%s: %s\n", cases[i].set, o->err);
        }
    }
    assert_no_complaints();
}

static void read_scene(const char *text, firn_scene *scene)
{
    const firn_bytes bytes = {(uint8_t *)text, strlen(text)};
    firn_tree tree = {0};
    assert_ok(firn_tree_parse(&tree, "text", &bytes, &error));
    assert_ok(firn_scene_read(scene, &tree, &error));
}

/* Volumes and extents are worked out by hand from what the reference says of each shape. */
static void shapes_are_as_large_as_the_scene_says(void **state)
{
    (void)state;
    const double pi = 3.14159265358979323846;
    const struct {
        const char *shape;
        int dim;
        double volume, low[3], high[3];
    } cases[] = {
        {"box: {center: [1, 0, 0], size: [0.4, 0.8, 1.2]}",
         3,
         0.384,
         {0.8, -0.4, -0.6},
         {1.2, 0.4, 0.6}},
        {"sphere: {radius: 0.5}", 3, pi / 6, {-0.5, -0.5, -0.5}, {0.5, 0.5, 0.5}},
        {"capsule: {from: [0, 0, 0], to: [1, 0, 0], radius: 0.2}",
         3,
         pi * 0.04 + 4 * pi / 3 * 0.008,
         {-0.2, -0.2, -0.2},
         {1.2, 0.2, 0.2}},
        {"cylinder: {radius: 0.3, height: 1}", 3, pi * 0.09, {-0.3, -0.5, -0.3}, {0.3, 0.5, 0.3}},
        {"cone: {radius: 0.5, height: 0.9}", 3, pi * 0.075, {-0.5, 0, -0.5}, {0.5, 0.9, 0.5}},
        {"torus: {radius: 0.5, tube: 0.2}",
         3,
         2 * pi * pi * 0.5 * 0.04,
         {-0.7, -0.2, -0.7},
         {0.7, 0.2, 0.7}},
        {"ellipsoid: {radii: [0.2, 0.4, 0.6]}",
         3,
         4 * pi / 3 * 0.048,
         {-0.2, -0.4, -0.6},
         {0.2, 0.4, 0.6}},
        {"disc: {center: [0, 1], radius: 0.5}", 2, pi / 4, {-0.5, 0.5}, {0.5, 1.5}},
        {"rectangle: {size: [0.4, 0.8]}", 2, 0.32, {-0.2, -0.4}, {0.2, 0.4}},
        {"capsule: {from: [0, 0], to: [0.6, 0.8], radius: 0.2}",
         2,
         pi * 0.04 + 0.4,
         {-0.2, -0.2},
         {0.8, 1}},
        {"ring: {radius: 0.5, inner: 0.3}", 2, pi * 0.16, {-0.5, -0.5}, {0.5, 0.5}},
        {"polygon: {points: [[0, 0], [1, 0], [0, 1]]}", 2, 0.5, {0, 0}, {1, 1}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int dim = cases[i].dim;
        const double h = dim == 3 ? 0.04 : 0.01;
        char text[500];
        snprintf(text, sizeof text,
                 "{firn: 1, dimension: %d, resolution: %g, materials: {m: {density: 500}}, "
                 "objects: [{pattern: regular, shape: {%s}}]}",
                 dim, h, cases[i].shape);
        firn_scene scene = {0};
        read_scene(text, &scene);
        firn_job job = {0};
        const firn_job_options options = {.threads = 1};
        assert_ok(firn_job_init(&job, &scene, &options, &error));
        assert_ok(firn_job_fill(&job, &error));
        const firn_job_object *o = &job.object[0];
        const double count = cases[i].volume / pow(h, dim);
        double *x = malloc((size_t)o->particles * 3 * sizeof *x);
        assert_non_null(x);
        double volume = 0, mass = 0;
        assert_ok(firn_sim_read(job.sim, FIRN_VOLUME, 0, o->particles, x, &error));
        for (int64_t p = 0; p < o->particles; p++) volume += x[p];
        assert_ok(firn_sim_read(job.sim, FIRN_MASS, 0, o->particles, x, &error));
        for (int64_t p = 0; p < o->particles; p++) mass += x[p];
        if (fabs(volume - cases[i].volume) > 1e-6 * volume ||
            fabs(mass - 500 * volume) > 1e-6 * mass ||
            fabs((double)o->particles - count) > 0.08 * count) {
            complain("%s: %lld particles, not %.0f; %.9g m3, not %.9g; %.9g kg\n", cases[i].shape,
                     (long long)o->particles, count, volume, cases[i].volume, mass);
        }
        assert_ok(firn_sim_read(job.sim, FIRN_POSITION, 0, o->particles, x, &error));
        for (int a = 0; a < dim; a++) {
            double low = INFINITY, high = -INFINITY;
            for (int64_t p = 0; p < o->particles; p++) {
                low = fmin(low, x[p * dim + a]);
                high = fmax(high, x[p * dim + a]);
            }
            /* Tips are thin: a lattice need not have a point in the last cells. */
            if (!(low >= cases[i].low[a] - 1e-6 && low <= cases[i].low[a] + 2 * h &&
                  high <= cases[i].high[a] + 1e-6 && high >= cases[i].high[a] - 2 * h)) {
                complain("%s: from %g to %g along axis %d\n", cases[i].shape, low, high, a);
            }
        }
        free(x);
        firn_job_deinit(&job);
        firn_scene_free(&scene);
    }
    assert_no_complaints();
}

/* Affine transfers keep part of a turning in the velocity gradient. A body that starts without has
 * it made up from the rest within a step: APIC slows down, AFLIP gains energy. */
static void a_spinning_body_keeps_its_energy(void **state)
{
    (void)state;
    static const char *const transfer[] = {"apic", "aflip", "asflip"};
    for (int i = 0; i < 6; i++) {
        const int dim = 2 + i % 2;
        char text[400];
        snprintf(
            text, sizeof text,
            "{firn: 1, dimension: %d, resolution: 0.02, simulation: {gravity: %s, transfer: "
            "%s}, materials: {m: {preset: jelly_hard}}, objects: [{shape: {%s: {radius: 0.1}}, "
            "spin: %s}]}",
            dim, dim == 2 ? "[0, 0]" : "[0, 0, 0]", transfer[i / 2], dim == 2 ? "disc" : "sphere",
            "[150, 100, 200]");
        firn_scene scene = {0};
        read_scene(text, &scene);
        firn_job job = {0};
        const firn_job_options options = {.threads = 1};
        assert_ok(firn_job_init(&job, &scene, &options, &error));
        assert_ok(firn_job_fill(&job, &error));
        firn_totals before, after;
        assert_ok(firn_sim_measure(job.sim, &before, &error));
        assert_ok(firn_sim_advance(job.sim, 1.0 / 24, NULL, &error));
        assert_ok(firn_sim_measure(job.sim, &after, &error));
        const double gain = (after.kinetic + after.elastic) / before.kinetic - 1;
        if (!(fabs(gain) < 2e-3)) {
            complain("%s in %dD: energy changed by %.2f %% in the first frame\n", transfer[i / 2],
                     dim, 100 * gain);
        }
        firn_job_deinit(&job);
        firn_scene_free(&scene);
    }
    assert_no_complaints();
}

static void every_shape_for_objects_can_be_filled(void **state)
{
    (void)state;
    firn_scene_shape_row s;
    for (int i = 0; firn_scene_shape_get(i, &s); i++) {
        for (int dim = 2; dim <= 3; dim++) {
            if (!(s.filled & (dim == 2 ? FIRN_2D : FIRN_3D))) continue;
            char text[600];
            const char *ball = dim == 2 ? "disc" : "sphere";
            snprintf(text, sizeof text,
                     "{firn: 1, dimension: %d, resolution: 0.1, materials: {m: {}}, objects: "
                     "[{shape: {%s: ",
                     dim, s.section.name);
            if (s.kind == FIRN_COMPOUND)
                snprintf(text + strlen(text), sizeof text - strlen(text),
                         "[{%s: {}}, {%s: {center: [0.3, 0, 0]}}]}}]}", ball, ball);
            else
                snprintf(text + strlen(text), sizeof text - strlen(text), "{%s}}}]}",
                         s.heights                              ? "height: 0.05 * sin(6 * $x)"
                         : s.section.rows[0].kind == FIRN_VALUE ? "points: [[0, 0], [1, 0], [0, 1]]"
                         : s.section.rows[0].kind == FIRN_TEXT  ? "file: " FIRN_SCENES "/cube.obj"
                                                                : "");
            firn_scene scene = {0};
            firn_job job = {0};
            const firn_job_options options = {.threads = 1};
            read_scene(text, &scene);
            assert_ok(firn_job_init(&job, &scene, &options, &error));
            assert_ok(firn_job_fill(&job, &error));
            firn_job_deinit(&job);
            firn_scene_free(&scene);
        }
    }
}

/* ---- the collection ---- */

/* Coarser than it is, or it takes minutes with sanitizers; by at most 6 times, so that small things are
 * filled. */
static void check_example(const char *path)
{
    static char text[TEXT_SIZE];
    char folder[PATH_SIZE];
    read_text(path, text, sizeof text);
    if (strstr(text, "Not a scene")) return;
    const char *second = strchr(text, '\n');
    const char *about = second ? strstr(second, " particles") : NULL;
    if (text[0] != '#' || !second || second[1] != '#' || !about ||
        about > second + strcspn(second + 1, "\n")) {
        complain("%s: the first lines must say what it is for and how many particles it has\n",
                 path);
    }
    fresh_folder("example", folder);
    const char *own = strstr(text, "\nresolution: ");
    char coarse[40];
    snprintf(coarse, sizeof coarse, "resolution=%g",
             own ? fmin(6 * atof(own + sizeof "\nresolution: " - 1), 0.06) : 0.06);
    const outcome *o = run(folder, WORDS("run", path, "--frames", "1:2", "--set", coarse));
    expect_exit(o, 0, path);
    char out[PATH_SIZE];
    struct stat status;
    if (stat(in_folder(folder, "out", out), &status) != 0 || count_entries(out) < 2) {
        complain("%s: less than two files in out/\n", path);
    }
}

static void all_examples_run(void **state)
{
    (void)state;
    DIR *all = opendir(FIRN_EXAMPLES);
    assert_non_null(all);
    int count = 0;
    for (struct dirent *e; (e = readdir(all));) {
        char path[PATH_SIZE];
        if (!ends_in(e->d_name, ".yaml")) continue;
        check_example(in_folder(FIRN_EXAMPLES, e->d_name, path));
        count++;
    }
    closedir(all);
    assert_true(count >= 12);
    assert_no_complaints();
}

/* ---- going on ---- */

static void resuming_gives_the_state_of_running_through(void **state)
{
    (void)state;
    static const char *const scenes[] = {drop_scene, hose_scene, chunks_scene, melt_scene};
    static const char *const paths[] = {"simulation.path=fused", "simulation.path=plain"};
    static const char *const threads[] = {"1", "2", "3"};
    char folder[PATH_SIZE], want[64], got[64];
    for (int s = 0; s < 4; s++) {
        for (int p = 0; p < 2; p++) {
            fresh_folder("through", folder);
            const outcome *o = run(folder, WORDS("run", scenes[s], "--set", paths[p], "--hash",
                                                 "--quiet", "--threads", "2"));
            expect_exit(o, 0, scenes[s]);
            assert_int_equal(strlen(printed_hash(o->out, 8, want)), 32);
            for (int t = 0; t < 3; t++) {
                fresh_folder("parts", folder);
                o = run(folder, WORDS("run", scenes[s], "--set", paths[p], "--quiet", "--threads",
                                      threads[2 - t], "--frames", "1:4"));
                expect_exit(o, 0, "first part");
                o = run(folder, WORDS("run", scenes[s], "--set", paths[p], "--hash", "--threads",
                                      threads[t], "--resume"));
                expect_exit(o, 0, "second part");
                if (!strstr(o->err, "continuing from frame 4") || printed_hash(o->out, 3, got)[0] ||
                    strcmp(printed_hash(o->out, 8, got), want) != 0) {
                    complain("%s, %s, %s threads: hash %s, not %s: %s\n", scenes[s], paths[p],
                             threads[t], got, want, o->err);
                }
            }
        }
    }
    assert_no_complaints();
}

/* ---- heat ---- */

static void write_file(const char *folder, const char *name, const char *text)
{
    char path[PATH_SIZE];
    FILE *file = fopen(in_folder(folder, name, path), "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void quoted_numbers_are_numbers(void **state)
{
    (void)state;
    firn_scene s;
    read_scene("{firn: 1, resolution: \"0.2\", frames: {end: 2}, materials: {m: {}}, heat: "
               "{ambient: '300'}, light: "
               "{sun: [\"1.6\", \"1.4 - 0.3 * time\", 1]}, objects: [{shape: {sphere: {radius: "
               "'0.3'}}}]}",
               &s);
    assert_true(s.resolution == 0.2);
    assert_true(s.heat.def.ambient == 300);
    assert_true(s.object[0].shape.def.size[0] == 0.3);
    assert_true(s.light.sun_keys.values[0] == 1.6);
    firn_scene_free(&s);
}

static void temperatures_are_kelvin_or_have_a_c(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double kelvin;
    } cases[] = {{"80C", 353.15},
                 {"-5C", 268.15},
                 {"0C", 273.15},
                 {"353K", 353},
                 {"353", 353},
                 {"1e3", 1000},
                 {"36.6C", 309.75},
                 {"1.2e3C", 1473.15},
                 {"80 C", 353.15},
                 {"80c", 353.15},
                 {"80 \u00b0C", 353.15},
                 {"80\u00b0c", 353.15},
                 {"'80 \u00b0C'", 353.15},
                 {"\"80C\"", 353.15},
                 {"353 K", 353},
                 {"353k", 353},
                 {"'353 K'", 353}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[400];
        const char *t = cases[i].text;
        firn_scene scene = {0};
        snprintf(text, sizeof text,
                 "{firn: 1, heat: {ambient: %s, sky: %s}, materials: {m: {law: melting, "
                 "melting_point: %s, melting_range: 3}}, objects: [{shape: {sphere: {}}, "
                 "temperature: %s}], colliders: [{shape: {plane: {}}, temperature: %s}]}",
                 t, t, t, t, t);
        read_scene(text, &scene);
        const double got[] = {scene.heat.def.ambient, scene.heat.def.sky,
                              scene.material[0].def.melting_point, scene.object[0].temperature,
                              scene.collider[0].def.temperature};
        for (int k = 0; k < 5; k++) assert_close(got[k], cases[i].kelvin, 1e-10);
        assert_close(scene.material[0].def.melting_range, 3, 0);
        firn_scene_free(&scene);
    }
}

static void what_heat_does_not_say_is_said(void **state)
{
    (void)state;
    static const struct {
        const char *set;
        const char *said; /* NULL: nothing */
    } cases[] = {
        {"heat.speed=100", "heat runs 100 times faster than motion\n"},
        {"heat.speed=0.5", "heat runs 2 times slower than motion\n"},
        {"heat.speed=1", NULL},
        {"heat.ambient=25",
         "--set heat.ambient: ambient 25 is in kelvin: for degrees Celsius write "
         "25C\n"},
        {"heat.ambient=77K", NULL},
        {"heat.ambient=-5C", NULL},
        {"objects.ball.temperature=80", "temperature 80 is in kelvin"},
        {"colliders.floor.temperature=80", "temperature 80 is in kelvin"},
        {"materials.wax.melting_point=60", "melting_point 60 is in kelvin"},
        {"materials.wax.melting_range=2", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char folder[PATH_SIZE];
        const outcome *o =
            run(fresh_folder("said", folder), WORDS("run", melt_scene, "--frames", "1:1", "--set",
                                                    "heat.speed=1", "--set", cases[i].set));
        expect_exit(o, 0, cases[i].set);
        if (cases[i].said ? !strstr(o->err, cases[i].said) : o->err[0] != 0) {
            complain("%s: %s\n", cases[i].set, o->err);
        }
    }
    char folder[PATH_SIZE];
    const outcome *o =
        run(fresh_folder("said", folder),
            WORDS("run", drop_scene, "--frames", "1:1", "--set", "materials.jelly={law: melting}"));
    if (!strstr(o->err, "material jelly stays as it is, as the scene has no heat; add heat: {}")) {
        complain("no heat: %s\n", o->err);
    }
    assert_no_complaints();
}

static void walls_are_insulated_held_or_coupled(void **state)
{
    (void)state;
    firn_scene scene = {0};
    read_scene("{firn: 1, heat: {sources: [{shape: {sphere: {radius: 0.2}}, power: -5, begin: 1, "
               "translate: [1, 2, 3]}]}, materials: {m: {}}, objects: [{shape: {sphere: {}}}], "
               "colliders: [{shape: {plane: {}}}, {shape: {plane: {}}, temperature: 80C}, "
               "{shape: {plane: {}}, temperature: 300, transfer: 500}]}",
               &scene);
    firn_collider_def def[3];
    for (int i = 0; i < 3; i++) def[i] = firn_job_collider(&scene.collider[i]);
    assert_close(def[0].temperature, 0, 0);
    assert_true(isinf(def[1].transfer));
    assert_close(def[1].temperature, 353.15, 1e-10);
    assert_close(def[2].transfer, 500, 0);
    assert_close(def[2].temperature, 300, 0);
    const firn_scene_heat_source *s = &scene.heat.source[0];
    assert_int_equal(scene.heat.source_count, 1);
    assert_close(s->power, -5, 0);
    assert_close(s->start, 1, 0);
    assert_close(firn_job_collider(&s->body).position[2], 3, 0);
    assert_close(firn_job_collider(&s->body).size[0], 0.2, 0);
    firn_scene_free(&scene);
}

/* Values of an attribute at the start; to be freed. */
static float *start_values(const char *scene_text, const char *attribute, int64_t *count)
{
    firn_scene scene = {0};
    firn_job job = {0};
    firn_points points = {0};
    const firn_job_options options = {.threads = 1};
    read_scene(scene_text, &scene);
    assert_ok(firn_job_init(&job, &scene, &options, &error));
    assert_ok(firn_job_fill(&job, &error));
    assert_ok(firn_job_points(&job, NULL, INT64_MAX, &points, &error));
    const firn_column *c = firn_points_find(&points, attribute);
    assert_true(c && c->type == FIRN_TYPE_f32 && c->components == 1);
    float *out = malloc((size_t)points.count * sizeof *out);
    assert_non_null(out);
    memcpy(out, c->data, (size_t)points.count * sizeof *out);
    *count = points.count;
    firn_points_free(&points);
    firn_job_deinit(&job);
    firn_scene_free(&scene);
    return out;
}

#define HEATED(object)                                                                             \
    "{firn: 1, resolution: 0.1, heat: {ambient: 10C}, materials: {m: {law: melting, "              \
    "melting_point: 300K, melting_range: 10, latent_heat: 1000}}, objects: [{shape: {sphere: "     \
    "{}}" object "}]}"

static void objects_begin_with_their_temperature_and_dye(void **state)
{
    (void)state;
    static const struct {
        const char *text, *attribute;
        double low, high; /* nearly reached, and never passed */
    } cases[] = {
        {HEATED(""), "temperature", 283.15, 283.15},
        {HEATED(""), "liquid", 0, 0},
        {HEATED(""), "concentration", 0, 0},
        {HEATED(", concentration: 0.25"), "concentration", 0.25, 0.25},
        {HEATED(", temperature: 305"), "temperature", 305, 305},
        {HEATED(", temperature: 305"), "liquid", 0.5, 0.5}, /* half way through the range */
        /* Half of the latent heat, and half of what warms it over the range. */
        {HEATED(", temperature: 305"), "enthalpy", 500 + 2000 * 5, 500 + 2000 * 5},
        {HEATED(", temperature: 400"), "liquid", 1, 1},
        {HEATED(", temperature: 40C, temperature_noise: {amount: 20, feature: 0.3}"), "temperature",
         293.15, 333.15},
        {HEATED(", temperature_noise: {amount: 3, feature: 0.3}"), "temperature", 280.15, 286.15},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t n = 0;
        float *value = start_values(cases[i].text, cases[i].attribute, &n);
        double low = INFINITY, high = -INFINITY, sum = 0;
        for (int64_t p = 0; p < n; p++) {
            low = fmin(low, (double)value[p]);
            high = fmax(high, (double)value[p]);
            sum += (double)value[p];
        }
        const double range = cases[i].high - cases[i].low, least = 1e-6 * fabs(cases[i].high);
        if (low < cases[i].low - least || high > cases[i].high + least ||
            low > cases[i].low + 0.4 * range + least ||
            high < cases[i].high - 0.4 * range - least ||
            fabs(sum / (double)n - 0.5 * (cases[i].low + cases[i].high)) > 0.15 * range + least) {
            complain("%s: %s is %g to %g, mean %g\n", cases[i].text, cases[i].attribute, low, high,
                     sum / (double)n);
        }
        free(value);
    }
    assert_no_complaints();
}

/* What a run leaves behind is what another one begins with. */
static void files_bring_heat_along(void **state)
{
    (void)state;
    char folder[PATH_SIZE], text[700];
    fresh_folder("heat", folder);
    write_file(folder, "table.csv",
               "x,y,z,temperature,enthalpy,concentration\n0,0,0,302.5,5000,0.5\n"
               "1,0,0,299,-2000,2\n");
    write_file(folder, "warm.csv", "x,y,z,temperature\n0,0,0,310\n1,0,0,299\n");
    static const struct {
        const char *heat, *file, *attribute;
        double value[2];
    } cases[] = {
        {"heat: {}, ", "table", "enthalpy", {5000, -2000}}, /* says more than temperature */
        {"heat: {}, ", "table", "temperature", {302.5, 299}},
        {"heat: {}, ", "table", "concentration", {0.5, 2}},
        {"heat: {}, ", "warm", "temperature", {310, 299}},
        {"", "warm", "temperature", {310, 299}}, /* without heat it is carried along */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        /* 10 K of melting at 2000 J/(kg K): all is liquid at 20 kJ/kg. */
        snprintf(text, sizeof text,
                 "{firn: 1, resolution: 0.1, %smaterials: {m: {law: melting, melting_point: 300K, "
                 "melting_range: 10, latent_heat: 0, heat_capacity: 2000}}, objects: [{particles: "
                 "%.300s/%s.csv}]}",
                 cases[i].heat, folder, cases[i].file);
        int64_t n = 0;
        float *value = start_values(text, cases[i].attribute, &n);
        assert_int_equal(n, 2);
        for (int k = 0; k < 2; k++) assert_close((double)value[k], cases[i].value[k], 1e-4);
        free(value);
    }
}

/* Melt has its own density, in shapes and in files that tell masses alone. */
static void what_starts_molten_has_the_density_of_melt(void **state)
{
    (void)state;
    char folder[PATH_SIZE], file[PATH_SIZE + 40];
    fresh_folder("melt", folder);
    write_file(folder, "melt.csv",
               "x,y,z,mass\n0.0025,0.0025,0,0.019125\n0.0075,0.0025,0,0.019125\n");
    snprintf(file, sizeof file, "particles: %s/melt.csv", folder);
    const char *const objects[] = {"shape: {rectangle: {center: [0, 0.05], size: [0.1, 0.1]}}",
                                   file};
    for (int i = 0; i < 2; i++) {
        char text[500];
        snprintf(
            text, sizeof text,
            "{firn: 1, dimension: 2, resolution: 0.005, heat: {}, materials: {m: {law: melting, "
            "density: 900, liquid_density: 765, melting_point: 55C}}, objects: [{%s, "
            "temperature: 70C}]}",
            objects[i]);
        int64_t count;
        float *mass = start_values(text, "mass", &count),
              *density = start_values(text, "density", &count);
        for (int64_t k = 0; k < count; k++) {
            assert_close((double)mass[k], 765 * 25e-6, 1e-6 * 765 * 25e-6);
            assert_close((double)density[k], 765, 1e-3);
        }
        free(mass);
        free(density);
    }
}

/* Nothing that a file says of heat is passed over, and nothing that the object says beside it. */
static void files_with_doubtful_heat_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *object, *columns, *values, *said;
        int exit;
    } cases[] = {
        {"", "temperature", "300", NULL, 0},
        {"", "temperature,enthalpy", "272.15,-2000", NULL, 0},
        {", temperature: 300", "concentration", "1", NULL, 0},
        {"", "temperature", "2e5",
         "file.csv: particle 1 has temperature 200000; it must be from 1 to 100000 K", 3},
        {"", "temperature", "-5", "particle 1 has temperature -5; it must be from 1", 3},
        {"", "temperature,enthalpy", "300,-2000",
         "particle 1 has temperature 300 K and enthalpy -2000 J/kg, which is that of 272.15 K; "
         "remove one",
         3},
        {", temperature: 300", "temperature", "300",
         "file.csv has temperature: remove temperature here, or that column from the file", 3},
        {", temperature: 300", "enthalpy", "0", "file.csv has enthalpy: remove temperature", 3},
        {", temperature_noise: {}", "temperature", "300", "remove temperature_noise here", 3},
        {", concentration: 1", "concentration", "1", "remove concentration here", 3},
        {"", "temperature", "80",
         "scene.yaml:2:78: temperatures of file.csv are in kelvin, and the highest is 80: add "
         "273.15",
         0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char folder[PATH_SIZE], text[400];
        fresh_folder("doubtful", folder);
        const bool two = strchr(cases[i].columns, ',') != NULL;
        const char *first = strcmp(cases[i].values, "80") == 0             ? "20"
                            : two                                          ? "272.15,-2000"
                            : strcmp(cases[i].columns, "temperature") == 0 ? "273"
                                                                           : "0";
        snprintf(text, sizeof text, "x,y,z,%s\n0,0,0,%s\n0.1,0,0,%s\n", cases[i].columns, first,
                 cases[i].values);
        write_file(folder, "file.csv", text);
        snprintf(text, sizeof text,
                 "{firn: 1, resolution: 0.1, heat: {}, frames: {end: 1},\n materials: {m: {law: "
                 "melting, heat_capacity: 2000}}, objects: [{name: body, particles: file.csv%s}], "
                 "output: [{file: a.$F.csv}]}",
                 cases[i].object);
        write_file(folder, "scene.yaml", text);
        const outcome *o = run(folder, WORDS("run", "scene.yaml"));
        expect_exit(o, cases[i].exit, text);
        if (cases[i].said ? !strstr(o->err, cases[i].said) : strstr(o->err, "file.csv") != NULL) {
            complain("%s of %s: %s\n", cases[i].columns, text, o->err);
        }
    }
    assert_no_complaints();
}

/* The cell of a column in the last line of a table. */
static double last_cell(const char *table, const char *column)
{
    const char *head = table, *line = table;
    for (const char *p = table; (p = strchr(p, '\n')) && p[1]; line = ++p) {}
    for (;; head++, line++) {
        const size_t n = strcspn(head, ",\n");
        if (strlen(column) == n && strncmp(head, column, n) == 0) return strtod(line, NULL);
        head += n;
        line += strcspn(line, ",\n");
        assert_int_equal(*head, ',');
        assert_int_equal(*line, ',');
    }
}

/* In a cup that lets nothing through, warm and cold wax of one kind share their heat: what the
 * statistics have of it stays, by what the scene says of it. */
static void statistics_tell_of_heat(void **state)
{
    (void)state;
    char folder[PATH_SIZE], path[PATH_SIZE], text[TEXT_SIZE];
    fresh_folder("cup", folder);
    write_file(folder, "cup.yaml",
               "firn: 1\nname: cup\ndimension: 2\nresolution: 0.01\nframes: {end: 5}\n"
               "simulation: {gravity: [0, 0, 0]}\nheat: {speed: 1e4}\nstatistics: cup.csv\n"
               "materials:\n  wax: {law: melting, density: 1000, melting_point: 300, latent_heat: "
               "1e4, heat_capacity: 1000, liquid_heat_capacity: 1000}\nobjects:\n"
               "  - {shape: {rectangle: {center: [0, 0.05], size: [0.1, 0.1]}}, temperature: 290}\n"
               "  - {shape: {rectangle: {center: [0, 0.15], size: [0.1, 0.1]}}, temperature: 330}\n"
               "colliders: [{shape: {inside: {center: [0, 0.1], size: [0.1, 0.2]}}}]\n");
    const outcome *o = run(folder, WORDS("run", "cup.yaml", "--frames", "1:1"));
    expect_exit(o, 0, "the first frame");
    read_text(in_folder(folder, "cup.csv", path), text, sizeof text);
    assert_close(last_cell(text, "heat"), 10 * -10e3 + 10 * (10e3 + 30e3), 1);
    assert_close(last_cell(text, "liquid"), 10, 1e-4);
    assert_close(last_cell(text, "min_temperature"), 290, 1e-3);
    assert_close(last_cell(text, "max_temperature"), 330, 1e-3);
    assert_close(last_cell(text, "front"), 0, 0); /* an empty cell */
    o = run(folder, WORDS("run", "cup.yaml", "--log", "json"));
    expect_exit(o, 0, "all");
    if (!strstr(o->out, "\"heat_steps\": ") || !strstr(o->out, "\"heat_iterations\": ") ||
        !strstr(o->out, "\"heat_seconds\": ")) {
        complain("%s\n", o->out);
    }
    read_text(path, text, sizeof text);
    assert_close(last_cell(text, "heat"), 300e3, 1);
    assert_true(last_cell(text, "min_temperature") > 290.1);
    assert_true(last_cell(text, "max_temperature") < 329.9);
    assert_true(last_cell(text, "heat_steps") >= 1);
    assert_true(last_cell(text, "heat_iterations") >= last_cell(text, "heat_steps"));
    /* The front has gone down by what has melted: 100 kg are a metre. The lowest particle is at 0.005. */
    const double melted = (last_cell(text, "liquid") - 10) / 100;
    assert_true(melted > 0.005);
    assert_close(last_cell(text, "front"), 0.095 - melted, 0.008);
    /* Without heat the cells are there, and empty. */
    expect_exit(run(folder, WORDS("run", drop_scene, "--frames", "1:2")), 0, "no heat");
    read_text(in_folder(folder, "drop.csv", path), text, sizeof text);
    assert_close(last_cell(text, "heat_seconds"), 0, 0);
    assert_non_null(strstr(text, ",,,,,,,\n"));
    assert_no_complaints();
}

static void all_formats_hold_heat_and_pictures_show_it(void **state)
{
    (void)state;
    char folder[PATH_SIZE];
    fresh_folder("formats", folder);
    static const char *const formats[] = {"csv", "prt", "geo", "bgeo", "bgeo.sc", "ply"};
    char file[32], set[128];
    for (int i = 0; i < 6; i++) {
        snprintf(set, sizeof set, "output[1].file=melt.$F.%s", formats[i]);
        expect_exit(run(folder, WORDS("run", melt_scene, "--frames", "1:1", "--set", set)), 0, set);
        snprintf(file, sizeof file, "melt.1.%s", formats[i]);
        const outcome *o = run(folder, WORDS("info", file));
        static const char *const names[] = {"temperature ", "liquid ", "enthalpy ",
                                            "concentration "};
        for (int k = 0; k < 4; k++) {
            if (!strstr(o->out, names[k])) complain("%s: no %s: %s\n", file, names[k], o->out);
        }
    }
    expect_exit(run(folder, WORDS("render", "melt.1.bgeo", "--color", "temperature", "--size",
                                  "64x36", "--quality", "draft", "--out", "melt.png")),
                0, "temperature");
    expect_exit(run(folder, WORDS("run", drop_scene, "--frames", "1:1")), 0, "drop");
    const outcome *o = run(folder, WORDS("render", "drop.0001.csv", "--color", "liquid", "--size",
                                         "64x36", "--out", "drop.png"));
    expect_exit(o, 3, "liquid");
    if (!strstr(o->err, "only scenes with heat have it")) complain("%s\n", o->err);
    assert_no_complaints();
}

/* ---- variants of materials ---- */

static void files_and_messages_speak_of_the_materials_of_the_scene(void **state)
{
    (void)state;
    char folder[PATH_SIZE];
    fresh_folder("named", folder);
    expect_exit(run(folder, WORDS("run", chunks_scene, "--frames", "1:2")), 0, "chunks");
    const outcome *o = run(folder, WORDS("info", "out/chunks.0002.csv"));
    if (!strstr(o->out, "material       i32[1]   0..1\n")) complain("info: %s\n", o->out);
    o = run(folder, WORDS("run", chunks_scene, "--set", "simulation.dt_min=0.005", "--set",
                          "objects.cushion.material=chunky", "--set", "contacts=[]"));
    expect_exit(o, 5, "steps that are too long");
    if (!strstr(o->err, "of material chunky (snow)")) complain("diverged: %s\n", o->err);
    assert_no_complaints();
}

static void a_state_of_other_bodies_is_refused(void **state)
{
    (void)state;
    char folder[PATH_SIZE];
    fresh_folder("bodies", folder);
    expect_exit(run(folder, WORDS("run", chunks_scene, "--frames", "1:2")), 0, "chunks");
    const outcome *o =
        run(folder, WORDS("run", chunks_scene, "--resume", "--set", "contacts=[]", "--set",
                          "objects.ball.body=one", "--set", "objects.cushion.body=one"));
    expect_exit(o, 3, "one body");
    if (!strstr(o->err, "bodies that can separate")) complain("one body: %s\n", o->err);
    assert_no_complaints();
}

static void a_state_of_other_variants_is_refused(void **state)
{
    (void)state;
    char folder[PATH_SIZE];
    fresh_folder("varied", folder);
    expect_exit(run(folder, WORDS("run", chunks_scene, "--frames", "1:2")), 0, "chunks");
    /* Other amounts are another scene, but the same variants. */
    const outcome *o = run(folder, WORDS("run", chunks_scene, "--resume", "--frames", "1:3",
                                         "--set", "materials.chunky.noise[0].amount=0.5"));
    expect_exit(o, 0, "other amounts");
    if (!strstr(o->err, "continuing from frame 2")) complain("other amounts: %s\n", o->err);
    o = run(folder, WORDS("run", chunks_scene, "--resume", "--set", "materials.chunky.noise=[]"));
    expect_exit(o, 3, "no noise");
    if (!strstr(o->err, "noises or shells on other parameters")) complain("none: %s\n", o->err);
    o = run(folder, WORDS("run", chunks_scene, "--resume", "--set",
                          "materials.chunky.noise[1].parameter=hardening"));
    expect_exit(o, 3, "noise on another parameter");
    assert_no_complaints();
}

/* Frames that would be at other times are refused; an emitter that should have been faster goes on. */
static void resuming_keeps_time(void **state)
{
    (void)state;
    char folder[PATH_SIZE];
    fresh_folder("times", folder);
    expect_exit(run(folder, WORDS("run", hose_scene, "--frames", "1:3")), 0, "hose");
    static const char *const change[] = {"frames.fps=48", "frames.start=2"};
    for (int i = 0; i < 2; i++) {
        const outcome *o = run(folder, WORDS("run", hose_scene, "--resume", "--set", change[i]));
        expect_exit(o, 3, change[i]);
        if (!strstr(o->err, "fps and start of frames cannot change")) complain("%s\n", o->err);
    }
    expect_exit(run(folder, WORDS("run", hose_scene, "--resume", "--set",
                                  "objects.hose.velocity=[0, -30, 0]")),
                0, "a faster emitter");
    assert_no_complaints();
}

/* ---- particle files ---- */

/* 3 x 4 x 5 points 5 cm apart, with what the engine knows and what it does not. */
static void write_table(const char *path, int64_t first_id)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "x,y,z,id,Cd.r,Cd.g,Cd.b,heat,tag,material\n");
    for (int i = 0; i < 60; i++) {
        const int row = i / 3 % 4, layer = i / 12;
        fprintf(file, "%g,%g,%g,%lld,%.9g,%.9g,%.9g,%.17g,%lld,%s\n", 0.05 * (i % 3),
                0.3 + 0.05 * row, 0.05 * layer, (long long)(first_id + 7 * (59 - i)),
                (double)((float)i / 60), (double)(float)sin(i), 0.25, 300 + i / 3.0,
                9007199254740993LL + i, i % 2 ? "soft" : "hard");
    }
    fclose(file);
}

#define CARRYING                                                                                   \
    "firn: 1\n"                                                                                    \
    "name: carrying\n"                                                                             \
    "resolution: 0.05\n"                                                                           \
    "frames: {end: 6}\n"                                                                           \
    "materials: {soft: {preset: jelly_soft}, hard: {preset: jelly_hard}}\n"                        \
    "objects:\n"                                                                                   \
    "  - {material: soft, shape: {box: {center: [0, 2, 0], size: [0.2, 0.2, 0.2]}}, velocity: "    \
    "[0, -3, 0], emit: {}}\n"                                                                      \
    "  - {name: first, material: soft, particles: first.csv}\n"                                    \
    "  - {name: second, material: hard, particles: second.csv, translate: [1, 0, 0]}\n"            \
    "sinks:\n"                                                                                     \
    "  - {shape: {box: {center: [0, 0.2, 0], size: [0.3, 0.3, 0.11]}}}\n"                          \
    "output:\n"                                                                                    \
    "  - {file: all.$F.bgeo}\n"                                                                    \
    "  - {file: some.$F.prt, attributes: [P, Cd, source_id]}\n"

/* Every particle of object `object` has what its file's row says, found by source_id. */
static int check_carried(const firn_points *frame, const char *table, double object)
{
    firn_points from = {0};
    int found = 0;
    assert_ok(firn_points_read(table, &from, &error));
    const firn_column *of = firn_points_find(frame, "object"),
                      *source = firn_points_find(frame, "source_id"),
                      *id = firn_points_find(&from, "id"),
                      *material = firn_points_find(frame, "material");
    assert_true(of && source && id && material);
    for (int64_t p = 0; p < frame->count; p++) {
        if (firn_type_get(of->type, of->data, p) != object) continue;
        int64_t row = 0;
        const double key = firn_type_get(source->type, source->data, p);
        while (row < from.count && firn_type_get(id->type, id->data, row) != key) row++;
        assert_true(row < from.count);
        assert_close(firn_type_get(material->type, material->data, p), (double)(row % 2 ? 0 : 1),
                     0);
        static const char *const names[] = {"Cd", "heat", "tag"};
        for (int k = 0; k < 3; k++) {
            const firn_column *got = firn_points_find(frame, names[k]),
                              *want = firn_points_find(&from, names[k]);
            assert_true(got && want && got->type == want->type &&
                        got->components == want->components);
            const size_t bytes = (size_t)got->components * firn_type_size(got->type);
            assert_memory_equal((char *)got->data + (size_t)p * bytes,
                                (char *)want->data + (size_t)row * bytes, bytes);
        }
        found++;
    }
    firn_points_free(&from);
    return found;
}

static void expect_same_file(const char *left, const char *right, const char *name)
{
    char a[PATH_SIZE], b[PATH_SIZE];
    firn_bytes x = {0}, y = {0};
    assert_ok(firn_bytes_read(in_folder(left, name, a), &x, &error));
    assert_ok(firn_bytes_read(in_folder(right, name, b), &y, &error));
    if (x.size != y.size || memcmp(x.data, y.data, x.size) != 0) complain("%s differs\n", name);
    firn_bytes_free(&x);
    firn_bytes_free(&y);
}

/* Jp of a file is the memory of snow, liquids and brittle solids; with it, J alone gives the elastic part.
 * The first frame is time 0: what comes out went in. */
static void a_file_brings_the_memory_of_laws_along(void **state)
{
    (void)state;
    static const char *const presets[] = {"snow", "water", "watermelon", "jelly_soft"};
    static const double J_of[] = {0.9, 0.9, 0.9, 0.9}, Jp_of[] = {0.75, 0.75, 0.75, 1};
    char folder[PATH_SIZE], path[PATH_SIZE], preset[64];
    write_file(fresh_folder("memory", folder), "in.csv", "P.x,P.y,P.z,J,Jp\n0,1,0,0.9,0.75\n");
    write_file(folder, "memory.yaml",
               "firn: 1\nname: memory\nframes: {end: 1}\nmaterials: {it: {preset: snow}}\n"
               "objects:\n  - {material: it, particles: in.csv}\noutput:\n  - {file: out.csv}\n");
    for (int i = 0; i < 4; i++) {
        snprintf(preset, sizeof preset, "materials.it.preset=%s", presets[i]);
        expect_exit(run(folder, WORDS("run", "memory.yaml", "--set", preset)), 0, presets[i]);
        firn_points out = {0};
        assert_ok(firn_points_read(in_folder(folder, "out.csv", path), &out, &error));
        const firn_column *J = firn_points_find(&out, "J"), *Jp = firn_points_find(&out, "Jp");
        assert_true(J && Jp);
        assert_close(firn_type_get(J->type, J->data, 0), J_of[i], 1e-6);
        assert_close(firn_type_get(Jp->type, Jp->data, 0), Jp_of[i], 1e-6);
        firn_points_free(&out);
    }
    write_file(folder, "in.csv", "P.x,P.y,P.z,Jp\n0,1,0,0\n");
    const outcome *o = run(folder, WORDS("run", "memory.yaml"));
    expect_exit(o, 3, "Jp 0");
    if (!strstr(o->err, "memory.yaml:6:") || !strstr(o->err, "particle 0 has Jp 0"))
        complain("%s\n", o->err);
    assert_no_complaints();
}

/* Settings that a preset or the materials choose are the same as those settings given. */
static void presets_and_materials_choose_the_method(void **state)
{
    (void)state;
#define METHOD(text) "simulation=" text
    static const struct {
        const char *preset, *chosen, *given;
        bool same;
    } cases[] = {
        {"snow", METHOD("{}"), METHOD("{transfer: asflip}"), true},
        {"snow", METHOD("{}"), METHOD("{transfer: apic}"), false},
        {"sand", METHOD("{}"), METHOD("{transfer: apic}"), true},
        {"snow", METHOD("{preset: stomakhin2013}"),
         METHOD("{transfer: flip, spline: cubic, force_form: gradient, volumes: grid}"), true},
        {"snow", METHOD("{preset: stomakhin2013, volumes: geometric}"),
         METHOD("{preset: stomakhin2013}"), false},
        {"snow", "final_resolution=0.003125", "materials.it.critical_stretch=0.00375", true},
        {"sand", "final_resolution=0.003125", METHOD("{}"), true},
    };
    char folder[PATH_SIZE], preset[64], want[64], got[64];
    write_file(fresh_folder("method", folder), "method.yaml",
               "firn: 1\nname: method\ndimension: 2\nresolution: 0.05\nframes: {end: 3}\n"
               "materials: {it: {preset: snow}}\n"
               "objects:\n  - {shape: {disc: {center: [0, 0.3], radius: 0.2}}, velocity: [1, -3]}\n"
               "colliders:\n  - {shape: {plane: {}}}\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(preset, sizeof preset, "materials.it.preset=%s", cases[i].preset);
        printed_hash(run(folder, WORDS("run", "method.yaml", "--hash", "--set", preset, "--set",
                                       cases[i].chosen))
                         ->out,
                     3, want);
        printed_hash(run(folder, WORDS("run", "method.yaml", "--hash", "--set", preset, "--set",
                                       cases[i].given))
                         ->out,
                     3, got);
        if (strlen(want) != 32 || strlen(got) != 32 || (strcmp(want, got) == 0) != cases[i].same)
            complain("%s: \"%s\" and \"%s\"\n", cases[i].chosen, want, got);
    }
    assert_no_complaints();
}

/* How high the middle of a ball of snow lies a second after it was dropped. Particles are 0.02 m apart. */
static double height_of_draft(const char *final)
{
    char folder[PATH_SIZE], path[PATH_SIZE];
    write_file(
        fresh_folder("draft", folder), "draft.yaml",
        "firn: 1\ndimension: 2\nresolution: 0.02\nframes: {end: 25}\n"
        "materials: {it: {preset: snow}}\n"
        "objects:\n  - {shape: {disc: {center: [0, 0.3], radius: 0.14}}, velocity: [0, -2]}\n"
        "colliders:\n  - {shape: {plane: {}}, friction: 0.6}\n"
        "output:\n  - {file: $F.ply}\n");
    expect_exit(run(folder, WORDS("run", "draft.yaml", "--set", final)), 0, final);
    firn_points frame = {0};
    assert_ok(firn_points_read(in_folder(folder, "25.ply", path), &frame, &error));
    const firn_column *P = firn_points_find(&frame, "P");
    double sum = 0;
    for (int64_t p = 0; p < frame.count; p++) sum += firn_type_get(P->type, P->data, 3 * p + 1);
    sum /= (double)frame.count;
    firn_points_free(&frame);
    return sum;
}

/* At a resolution of 0.005 the middle comes to lie at 0.081 m, whatever the seed: the ball is in pieces. A
 * draft that does not know of it stays whole. */
static void drafts_of_snow_break_as_the_final_does(void **state)
{
    (void)state;
    assert_close(height_of_draft("final_resolution=0.005"), 0.081, 0.03);
    assert_true(height_of_draft("final_resolution=0.02") > 0.081 + 0.03);
    assert_no_complaints();
}

static void what_files_bring_along_survives_sinks_emitters_and_resume(void **state)
{
    (void)state;
    char through[PATH_SIZE], parts[PATH_SIZE], path[PATH_SIZE];
    fresh_folder("carry", through);
    write_file(through, "carrying.yaml", CARRYING);
    write_table(in_folder(through, "first.csv", path), 1000);
    write_table(in_folder(through, "second.csv", path), 5000);
    expect_exit(run(through, WORDS("run", "carrying.yaml")), 0, "through");
    firn_points frame = {0};
    assert_ok(firn_points_read(in_folder(through, "all.6.bgeo", path), &frame, &error));
    const int first = check_carried(&frame, in_folder(through, "first.csv", path), 1);
    const int second = check_carried(&frame, in_folder(through, "second.csv", path), 2);
    assert_true(first > 10 && first < 60); /* the sink took some */
    assert_int_equal(second, 60);
    assert_true(frame.count > first + second); /* emitted ones have 0 */
    const firn_column *of = firn_points_find(&frame, "object"),
                      *heat = firn_points_find(&frame, "heat");
    for (int64_t p = 0; p < frame.count; p++) {
        if (firn_type_get(of->type, of->data, p) != 0) continue;
        assert_close(firn_type_get(heat->type, heat->data, p), 0, 0);
    }
    firn_points_free(&frame);
    assert_ok(firn_points_read(in_folder(through, "some.6.prt", path), &frame, &error));
    assert_int_equal(frame.column_count, 3);
    firn_points_free(&frame);

    /* The files may be gone by the time it goes on. */
    fresh_folder("carry_parts", parts);
    write_file(parts, "carrying.yaml", CARRYING);
    write_table(in_folder(parts, "first.csv", path), 1000);
    write_table(in_folder(parts, "second.csv", path), 5000);
    expect_exit(run(parts, WORDS("run", "carrying.yaml", "--frames", "1:3")), 0, "first part");
    write_table(in_folder(parts, "first.csv", path), 0);
    expect_exit(run(parts, WORDS("run", "carrying.yaml", "--resume")), 0, "second part");
    for (int f = 1; f <= 6; f++) {
        char name[32];
        snprintf(name, sizeof name, "all.%d.bgeo", f);
        expect_same_file(through, parts, name);
        snprintf(name, sizeof name, "some.%d.prt", f);
        expect_same_file(through, parts, name);
    }
    assert_no_complaints();
}

/* Fills a scene of one particle file and gives its job. */
static void import_table(const char *table, const char *object, firn_scene *scene, firn_job *job)
{
    char folder[PATH_SIZE], text[600];
    fresh_folder("import", folder);
    write_file(folder, "table.csv", table);
    snprintf(text, sizeof text,
             "{firn: 1, resolution: 0.1, materials: {m: {density: 500}, n: {density: 900}}, "
             "objects: [{material: m, particles: %.300s/table.csv%s}]}",
             folder, object);
    const firn_job_options options = {.threads = 1};
    read_scene(text, scene);
    assert_ok(firn_job_init(job, scene, &options, &error));
    assert_ok(firn_job_fill(job, &error));
}

static double read_one(const firn_job *job, firn_field field, int component)
{
    double value[9];
    assert_ok(firn_sim_read(job->sim, field, 0, 1, value, &error));
    return value[component];
}

static void what_files_say_of_state_is_kept_as_it_is_placed(void **state)
{
    (void)state;
    const double pi = 3.14159265358979323846, third = 1.0 / 3;
    firn_scene scene = {0};
    firn_job job = {0};
    /* Turned by 90 degrees about z and twice as large: v turns, F turns, volume and mass are 8
     * times as much. density is of now, so the volume at rest is mass / (density J). */
    import_table("x,y,z,v.x,v.y,v.z,mass,density,F[0],F[1],F[2],F[3],F[4],F[5],F[6],F[7],F[8]\n"
                 "1,0,0,3,0,0,0.5,400,2,0,0,0,1,0,0,0,0.75\n",
                 ", rotate: [0, 0, 90], scale: [2, 2, 2], velocity: [0, 1, 0], spin: [0, 9, 0]",
                 &scene, &job);
    assert_close(read_one(&job, FIRN_POSITION, 1), 2, 1e-6);
    assert_close(read_one(&job, FIRN_VELOCITY, 0), 0, 1e-6);
    assert_close(read_one(&job, FIRN_VELOCITY, 1), 4, 1e-6);
    assert_close(read_one(&job, FIRN_MASS, 0), 4, 1e-6);
    assert_close(read_one(&job, FIRN_VOLUME, 0), 4 / (400 * 1.5), 1e-9);
    assert_close(read_one(&job, FIRN_DEFORMATION_GRADIENT, 3), 2, 1e-6);
    assert_close(read_one(&job, FIRN_DEFORMATION_GRADIENT, 1), -1, 1e-6);
    assert_close(read_one(&job, FIRN_DEFORMATION_GRADIENT, 8), 0.75, 1e-6);
    firn_job_deinit(&job);
    firn_scene_free(&scene);
    /* J alone is a swelling; a radius is a volume; the material's own density makes the mass. */
    import_table("x,y,z,J,pscale,material\n0,0,0,1.5,0.05,1\n", "", &scene, &job);
    assert_close(read_one(&job, FIRN_DEFORMATION_GRADIENT, 4), pow(1.5, third), 1e-6);
    assert_close(read_one(&job, FIRN_VOLUME, 0), 4 * pi / 3 * 0.000125, 1e-9);
    assert_close(read_one(&job, FIRN_MASS, 0), 900 * 4 * pi / 3 * 0.000125, 1e-6);
    firn_job_deinit(&job);
    firn_scene_free(&scene);
    /* Points that say nothing of their size are cubes of the resolution, or of their separation. */
    static const char *const objects[] = {"", ", separation: 0.03"};
    static const double edge[] = {0.1, 0.03};
    for (int i = 0; i < 2; i++) {
        import_table("x,y,z\n0,0,0\n", objects[i], &scene, &job);
        assert_close(read_one(&job, FIRN_MASS, 0), 500 * pow(edge[i], 3), 1e-6);
        firn_job_deinit(&job);
        firn_scene_free(&scene);
    }
}

/* A block of points 2 cm apart, or a sheet one point thick; on a lattice, or anywhere. */
static void write_points(const char *folder, bool sheet, bool lattice)
{
    char path[PATH_SIZE];
    FILE *file = fopen(in_folder(folder, "points.csv", path), "w");
    assert_non_null(file);
    fprintf(file, "x,y,z\n");
    uint64_t random = 1;
    for (int i = 0; i < 1000; i++) {
        double x[3] = {i % 10, i / 10 % 10, sheet ? 0 : i / 100};
        for (int a = 0; a < 3 && !lattice; a++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            x[a] = 10 * (double)(random >> 11) * 0x1p-53;
        }
        if (i < (sheet ? 100 : 1000)) {
            fprintf(file, "%.9g,%.9g,%.9g\n", 0.02 * x[0], 0.02 * x[1], 0.02 * x[2]);
        }
    }
    fclose(file);
}

static void points_that_the_resolution_does_not_fit_are_warned_of(void **state)
{
    (void)state;
    static const struct {
        const char *set;
        bool sheet, lattice, warns;
    } cases[] = {
        {"resolution=0.02", false, true, false},
        {"resolution=0.02", false, false, false},
        {"resolution=0.02", true, true, false},
        {"resolution=0.04", false, true, true},
        {"resolution=0.04", false, false, true},
        {"resolution=0.01", false, true, true},
        {"objects.points.separation=0.02", false, true, false},
    };
    char folder[PATH_SIZE];
    fresh_folder("spacing", folder);
    write_file(folder, "spacing.yaml",
               "firn: 1\nresolution: 0.04\nframes: {end: 1}\nmaterials: {m: {}}\nobjects:\n"
               "  - {name: points, particles: points.csv}\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_points(folder, cases[i].sheet, cases[i].lattice);
        const outcome *o = run(folder, WORDS("run", "spacing.yaml", "--set", cases[i].set));
        expect_exit(o, 0, cases[i].set);
        const char *warning = strstr(o->err, "warning: spacing.yaml:6:20: points lie about 0.0");
        if (cases[i].warns != (warning != NULL)) complain("%zu: %s\n", i, o->err);
    }
    assert_no_complaints();
}

static void attributes_of_different_types_share_one_that_holds_both(void **state)
{
    (void)state;
    char folder[PATH_SIZE], path[PATH_SIZE], text[900];
    fresh_folder("mixed", folder);
    firn_points points = {.count = 1};
    *(float *)firn_points_add(&points, "P", FIRN_TYPE_f32, 3, NULL)->data = 1;
    *(int32_t *)firn_points_add(&points, "a", FIRN_TYPE_i32, 1, NULL)->data = 123456789;
    firn_column *b = firn_points_add(&points, "b", FIRN_TYPE_f32, 2, NULL);
    ((float *)b->data)[0] = 0.1f;
    ((float *)b->data)[1] = 0.2f;
    const firn_write_options plain = {.frame = NAN};
    assert_ok(firn_points_write(in_folder(folder, "one.prt", path), &points, &plain, &error));
    firn_points_free(&points);
    points.count = 1;
    firn_points_add(&points, "P", FIRN_TYPE_f32, 3, NULL);
    *(float *)firn_points_add(&points, "A", FIRN_TYPE_f32, 1, NULL)->data = 0.5f;
    *(double *)firn_points_add(&points, "B", FIRN_TYPE_f64, 1, NULL)->data = 0.3;
    assert_ok(firn_points_write(in_folder(folder, "two.prt", path), &points, &plain, &error));
    firn_points_free(&points);
    snprintf(text, sizeof text,
             "{firn: 1, resolution: 0.1, materials: {m: {}}, objects: [{particles: "
             "%.300s/one.prt}, {particles: %.300s/two.prt}]}",
             folder, folder);
    firn_scene scene = {0};
    firn_job job = {0};
    const firn_job_options options = {.threads = 1};
    read_scene(text, &scene);
    assert_ok(firn_job_init(&job, &scene, &options, &error));
    assert_ok(firn_job_fill(&job, &error));
    assert_ok(firn_job_points(&job, NULL, INT64_MAX, &points, &error));
    const firn_column *A = firn_points_find(&points, "A"), *B = firn_points_find(&points, "B");
    assert_true(A && A->type == FIRN_TYPE_f64 && A->components == 1);
    assert_true(B && B->type == FIRN_TYPE_f64 && B->components == 2);
    const double want_a[] = {123456789, 0.5}, want_b[] = {(double)0.1f, (double)0.2f, 0.3, 0};
    assert_memory_equal(A->data, want_a, sizeof want_a);
    assert_memory_equal(B->data, want_b, sizeof want_b);
    firn_points_free(&points);
    firn_job_deinit(&job);
    firn_scene_free(&scene);
}

/* Two cubes that touch and move apart: each keeps its speed, unless they are told to merge or are of a
 * material that does. */
static void elastic_objects_part_and_others_merge(void **state)
{
    (void)state;
    static const struct {
        const char *material, *contact;
        bool parts;
    } cases[] = {{"jelly_hard", "auto", true},
                 {"jelly_hard", "merge", false},
                 {"clay", "auto", false},
                 {"clay", "apart", true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[900];
        snprintf(text, sizeof text,
                 "{firn: 1, resolution: 0.05, simulation: {gravity: [0, 0, 0]}, materials: {m: "
                 "{preset: %s}}, objects: [{contact: %s, pattern: regular, velocity: [-1, 0, 0], "
                 "shape: {box: {center: [-0.2, 0, 0], size: [0.4, 0.4, 0.4]}}}, {contact: %s, "
                 "pattern: regular, velocity: [1, 0, 0], shape: {box: {center: [0.2, 0, 0], size: "
                 "[0.4, 0.4, 0.4]}}}]}",
                 cases[i].material, cases[i].contact, cases[i].contact);
        firn_scene scene = {0};
        firn_job job = {0};
        firn_points points;
        const firn_job_options options = {.threads = 1};
        read_scene(text, &scene);
        assert_ok(firn_job_init(&job, &scene, &options, &error));
        assert_ok(firn_job_fill(&job, &error));
        firn_report report = {0};
        assert_ok(firn_job_advance(&job, 0.02, &report, &error));
        assert_ok(firn_job_points(&job, NULL, INT64_MAX, &points, &error));
        const float *v = firn_points_find(&points, "v")->data;
        float slowest = 1;
        for (int64_t p = points.count / 2; p < points.count; p++)
            slowest = fminf(slowest, v[3 * p]);
        if (cases[i].parts ? !(slowest > 0.999f) : !(slowest < 0.9f)) {
            complain("%s, %s: %g m/s\n", cases[i].material, cases[i].contact, (double)slowest);
        }
        firn_points_free(&points);
        firn_job_deinit(&job);
        firn_scene_free(&scene);
    }
    assert_no_complaints();
}

/* Which velocity fields objects share. In a body the materials may differ. */
static void objects_of_a_body_share_a_velocity_field(void **state)
{
    (void)state;
    static const struct {
        const char *objects[3];
        int32_t want[3];
    } cases[] = {
        {{"material: jelly", "material: jelly", "material: clay"}, {1, 2, 0}},
        {{"material: jelly, body: a", "material: jelly, body: b", "material: jelly, body: a"},
         {1, 2, 1}},
        {{"material: clay, body: a", "material: clay", "material: jelly, body: a"}, {1, 0, 1}},
        {{"material: clay, body: a", "material: clay", "material: clay, body: a, contact: apart"},
         {1, 0, 1}},
        {{"material: jelly, body: a", "material: jelly",
          "material: jelly, body: a, contact: merge"},
         {0, 1, 0}},
        {{"material: jelly, body: a", "material: jelly, body: a", "material: clay, body: a"}, {0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[900];
        const char *const *o = cases[i].objects;
        snprintf(text, sizeof text,
                 "{firn: 1, materials: {jelly: {preset: jelly_soft}, clay: {preset: clay}}, "
                 "objects: [{shape: {box: {}}, %s}, {shape: {box: {}}, %s}, {shape: {box: {}}, "
                 "%s}]}",
                 o[0], o[1], o[2]);
        firn_scene scene = {0};
        firn_job job = {0};
        const firn_job_options options = {.threads = 1};
        read_scene(text, &scene);
        assert_ok(firn_job_init(&job, &scene, &options, &error));
        for (uint16_t k = 0; k < 3; k++) {
            const int32_t got = firn_sim_body(job.sim, k);
            if (got != cases[i].want[k]) complain("case %zu, object %d: %d\n", i, k, got);
        }
        firn_job_deinit(&job);
        firn_scene_free(&scene);
    }
    assert_no_complaints();
}

static void every_body_that_parts_has_a_number(void **state)
{
    (void)state;
    static char text[20000];
    int used = snprintf(text, sizeof text, "{firn: 1, materials: {jelly: {}}, objects: [");
    for (int i = 0; i < 260; i++) {
        used += snprintf(text + used, sizeof text - (size_t)used,
                         "%s{shape: {sphere: {}}, body: b%d}", i ? ", " : "", i % 130);
    }
    snprintf(text + used, sizeof text - (size_t)used, "]}");
    firn_scene scene = {0};
    firn_job job = {0};
    const firn_job_options options = {.threads = 1};
    read_scene(text, &scene);
    assert_ok(firn_job_init(&job, &scene, &options, &error));
    for (uint16_t i = 0; i < 260; i++) {
        assert_int_equal(firn_sim_body(job.sim, i), 1 + i % 130);
    }
    firn_job_deinit(&job);
    firn_scene_free(&scene);
}

static int64_t root_of(int64_t *parent, int64_t i)
{
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
}

/* How many pieces the particles are in: those closer than `reach` are connected. */
static int64_t count_pieces(const float *x, int64_t count, double reach)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int64_t i = 0; i < 3 * count; i++) {
        low[i % 3] = fmin(low[i % 3], (double)x[i]);
        high[i % 3] = fmax(high[i % 3], (double)x[i]);
    }
    int64_t size[3]; /* of a grid of cells as wide as the reach, with an empty one on every side */
    for (int a = 0; a < 3; a++) size[a] = 3 + (int64_t)((high[a] - low[a]) / reach);
    int64_t *first = malloc((size_t)(size[0] * size[1] * size[2]) * sizeof *first),
            *next = malloc((size_t)count * sizeof *next),
            *parent = malloc((size_t)count * sizeof *parent), pieces = count;
    assert_true(first && next && parent);
    for (int64_t c = 0; c < size[0] * size[1] * size[2]; c++) first[c] = -1;
    for (int64_t i = 0; i < count; i++) {
        int64_t cell = 0;
        for (int a = 0; a < 3; a++) {
            cell = cell * size[a] + 1 + (int64_t)(((double)x[3 * i + a] - low[a]) / reach);
        }
        parent[i] = i;
        for (int n = 0; n < 27; n++) {
            const int64_t near =
                cell + ((n / 9 - 1) * size[1] + n / 3 % 3 - 1) * size[2] + n % 3 - 1;
            for (int64_t k = first[near]; k >= 0; k = next[k]) {
                const double d = hypot(
                    hypot((double)(x[3 * i] - x[3 * k]), (double)(x[3 * i + 1] - x[3 * k + 1])),
                    (double)(x[3 * i + 2] - x[3 * k + 2]));
                const int64_t one = root_of(parent, i), other = root_of(parent, k);
                if (d > reach || one == other) continue;
                parent[one] = other;
                pieces--;
            }
        }
        next[i] = first[cell];
        first[cell] = i;
    }
    free(first);
    free(next);
    free(parent);
    return pieces;
}

/* The first of 60 frames at which the creature is in more than one piece; 0: none. */
static int frame_of_break(bool one_body)
{
    firn_tree tree = {0};
    firn_scene scene = {0};
    firn_job job = {0};
    const firn_job_options options = {.threads = 1};
    int64_t pieces = 1;
    int frame = 0;
    assert_ok(firn_tree_read(&tree, FIRN_EXAMPLES "/creature_small.yaml", &error));
    assert_ok(firn_scene_read(&scene, &tree, &error));
    for (int32_t i = 0; i < scene.object_count && !one_body; i++) scene.object[i].body = NULL;
    assert_ok(firn_job_init(&job, &scene, &options, &error));
    assert_ok(firn_job_fill(&job, &error));
    while (frame < 60 && pieces == 1) {
        firn_report report = {0};
        firn_points points;
        frame++;
        assert_ok(firn_job_advance(&job, frame / scene.frames.fps, &report, &error));
        assert_ok(firn_job_points(&job, NULL, INT64_MAX, &points, &error));
        pieces =
            count_pieces(firn_points_find(&points, "P")->data, points.count, 2 * scene.resolution);
        firn_points_free(&points);
    }
    firn_job_deinit(&job);
    firn_scene_free(&scene);
    return pieces == 1 ? 0 : frame;
}

static void the_creature_stays_in_one_piece(void **state)
{
    (void)state;
    assert_int_equal(frame_of_break(true), 0);
    assert_int_not_equal(frame_of_break(false), 0); /* what its body is for */
}

static void what_objects_lose_to_earlier_ones_is_said(void **state)
{
    (void)state;
    char folder[PATH_SIZE];
    fresh_folder("overlap", folder);
    write_file(folder, "points.csv", "x,y,z\n0,0,0\n5,0,0\n0.1,0,0\n");
    write_file(folder, "overlap.yaml",
               "{firn: 1, resolution: 0.1, frames: {end: 1}, materials: {m: {}}, checkpoint: "
               "{every: 0}, objects: [{name: first, pattern: regular, shape: {box: {}}}, {name: "
               "second, pattern: regular, shape: {box: {center: [0.5, 0, 0]}}}, {particles: "
               "points.csv}]}\n");
    static const char second[] =
        "object second: 500 of 1000 particles left out: earlier objects take their space";
    static const char third[] =
        "object 2: 2 of 3 particles left out: earlier objects take their space";
    const outcome *o = run(folder, WORDS("run", "overlap.yaml"));
    expect_exit(o, 0, "overlap");
    if (!strstr(o->err, second) || !strstr(o->err, third) || strstr(o->err, "first")) {
        complain("%s\n", o->err);
    }
    o = run(folder, WORDS("run", "overlap.yaml", "--plan"));
    if (!strstr(o->err, second)) complain("--plan: %s\n", o->err);
    o = run(folder, WORDS("run", "overlap.yaml", "--log", "json"));
    if (!strstr(o->out, second) || !strstr(o->out, "\"event\": \"note\"")) {
        complain("json: %s\n", o->out);
    }
    assert_no_complaints();
}

static void what_begins_where_it_cannot_be_is_said(void **state)
{
    (void)state;
    char folder[PATH_SIZE];
    fresh_folder("misplaced", folder);
    write_file(
        folder, "misplaced.yaml",
        "firn: 1\nresolution: 0.1\nframes: {end: 3}\nmaterials: {m: {}}\nobjects:\n"
        "  - {name: sunk, pattern: regular, shape: {box: {size: [1, 1, 1]}}}\n"
        "  - {name: resting, shape: {box: {center: [2, 0.5, 0], size: [1, 1, 1]}}}\n"
        "  - {name: far, pattern: regular, shape: {box: {center: [5, 2, 0], size: [2, 1, 1]}}}\n"
        "colliders:\n  - {name: ground, shape: {plane: {}}}\n"
        "domain: {low: [-9, -9, -9], high: [5, 9, 9], leaving: delete}\n"
        "sinks:\n  - {shape: {box: {size: [20, 20, 20]}}, start: 0.05}\n");
    const outcome *o = run(folder, WORDS("run", "misplaced.yaml"));
    expect_exit(o, 0, "misplaced");
    /* Of ten layers 10 cm apart, five are below the ground, and the uppermost of them by half that. */
    static const char *const said[] = {
        "misplaced.yaml:6:5: object sunk: 400 of 1000 particles start inside collider ground",
        "misplaced.yaml:8:5: object far: 1000 of 2000 particles start outside the domain",
        "no particles are left at frame 3",
    };
    for (int i = 0; i < 3; i++) {
        if (!strstr(o->err, said[i])) complain("not said: %s\n%s", said[i], o->err);
    }
    if (strstr(o->err, "resting")) complain("%s\n", o->err);
    assert_no_complaints();
}

/* Inside an arm that turns at 500 rad/s: pushed out ahead, it would be flung at 100 m/s. */
/* An arm keyed from 0 to 360 degrees passes everything on its circle: what lies across is pushed on, by keys
 * about the origin, about a pivot elsewhere, and by spin. */
static void an_arm_sweeps_the_whole_circle(void **state)
{
    (void)state;
    static const char *const motion[] = {
        "{rectangle: {center: [0.5, 0], size: [0.6, 0.1]}}, keys: {0: {}, 2: {rotate: [0, 0, "
        "360]}}",
        "{rectangle: {center: [0.5, 0], size: [0.6, 0.1]}}, translate: [3, 1], pivot: [3, 1], "
        "keys: {0: {at: [-3, -1]}, 2: {at: [-3, -1], rotate: [0, 0, 360]}}, interpolation: smooth",
        "{rectangle: {center: [0.5, 0], size: [0.6, 0.1]}}, pivot: [0, 0], spin: [0, 0, 180]"};
    for (int i = 0; i < 3; i++) {
        char text[700];
        snprintf(text, sizeof text,
                 "firn: 1\ndimension: 2\nresolution: 0.04\nsimulation: {gravity: [0, 0]}\n"
                 "materials: {m: {preset: jelly_hard}}\nobjects:\n"
                 "  - {name: speck, shape: {rectangle: {center: [-0.5, 0], size: [0.1, 0.1]}}}\n"
                 "colliders:\n  - {name: arm, shape: %s}\n",
                 motion[i]);
        firn_scene scene = {0};
        read_scene(text, &scene);
        firn_job job = {0};
        const firn_job_options options = {.threads = 1};
        assert_ok(firn_job_init(&job, &scene, &options, &error));
        assert_ok(firn_job_fill(&job, &error));
        firn_totals before, after;
        assert_ok(firn_sim_advance(job.sim, 0.6, NULL, &error)); /* the arm is on its way */
        assert_ok(firn_sim_measure(job.sim, &before, &error));
        assert_at_most(before.max_speed, 1e-6);
        assert_ok(firn_sim_advance(job.sim, 0.8, NULL, &error));
        assert_ok(firn_sim_measure(job.sim, &after, &error));
        /* Pushed as fast as the arm is there, downwards. */
        assert_at_most(after.momentum[1] / after.mass, -0.5);
        firn_job_deinit(&job);
        firn_scene_free(&scene);
    }
}

static void what_begins_inside_a_paddle_is_left_behind(void **state)
{
    (void)state;
    char folder[PATH_SIZE];
    fresh_folder("paddle", folder);
    for (int dim = 2; dim <= 3; dim++) {
        char text[600];
        snprintf(text, sizeof text,
                 "firn: 1\ndimension: %d\nresolution: 0.01\nframes: {end: 1, fps: 500}\n"
                 "simulation: {gravity: %s}\nmaterials: {m: {preset: jelly_hard}}\nobjects:\n"
                 "  - {name: block, pattern: regular, shape: {%s}}\ncolliders:\n"
                 "  - {name: paddle, shape: {%s}, "
                 "keys: {0: {rotate: [0, 0, 0]}, 0.002: {rotate: [0, 0, 57.3]}}}\n",
                 dim, dim == 2 ? "[0, 0]" : "[0, 0, 0]",
                 dim == 2 ? "rectangle: {center: [0.2, 0], size: [0.06, 0.06]}"
                          : "box: {center: [-0.2, 0, 0], size: [0.06, 0.06, 0.06]}",
                 dim == 2 ? "rectangle: {size: [0.6, 0.1]}" : "box: {size: [0.6, 0.1, 0.4]}");
        firn_scene scene = {0};
        read_scene(text, &scene);
        firn_job job = {0};
        const firn_job_options options = {.threads = 1};
        assert_ok(firn_job_init(&job, &scene, &options, &error));
        assert_ok(firn_job_fill(&job, &error));
        assert_ok(firn_sim_advance(job.sim, 2e-3, NULL, &error));
        firn_totals totals;
        assert_ok(firn_sim_measure(job.sim, &totals, &error));
        if (totals.outside > 0 || !(totals.max_speed < 1)) {
            complain("%dD: %lld particles inside, up to %g m/s\n", dim, (long long)totals.outside,
                     totals.max_speed);
        }
        firn_job_deinit(&job);
        firn_scene_free(&scene);
        write_file(folder, "paddle.yaml", text);
        const outcome *o = run(folder, WORDS("run", "paddle.yaml"));
        expect_exit(o, 0, "paddle");
        const char *said = dim == 2
                               ? "object block: 36 of 36 particles start inside collider paddle, "
                                 "which moves: they are put outside, behind it"
                               : "object block: 216 of 216 particles start inside";
        if (!strstr(o->err, said)) complain("not said: %s\n%s", said, o->err);
    }
    assert_no_complaints();
}

/* A box that moves at 1 m/s carries the block within it as a whole. */
static void what_begins_inside_a_collider_that_holds_is_carried(void **state)
{
    (void)state;
    firn_scene scene = {0};
    read_scene("firn: 1\nresolution: 0.04\nsimulation: {gravity: [0, 0, 0]}\n"
               "materials: {m: {preset: jelly_hard}}\nobjects:\n"
               "  - {name: block, shape: {box: {size: [0.2, 0.2, 0.2]}}}\ncolliders:\n"
               "  - {name: hand, shape: {box: {size: [0.6, 0.6, 0.6]}}, boundary: hold, "
               "keys: {0: {at: [0, 0, 0]}, 1: {at: [1, 0, 0]}}}\n",
               &scene);
    firn_job job = {0};
    const firn_job_options options = {.threads = 1};
    firn_totals totals;
    assert_ok(firn_job_init(&job, &scene, &options, &error));
    assert_ok(firn_job_fill(&job, &error));
    assert_int_equal(job.object[0].inside, 0);
    assert_ok(firn_sim_advance(job.sim, 0.1, NULL, &error));
    assert_ok(firn_sim_measure(job.sim, &totals, &error));
    assert_float_equal(totals.momentum[0], totals.mass, 1e-5 * totals.mass);
    assert_float_equal(totals.kinetic, 0.5 * totals.mass, 1e-5 * totals.mass);
    firn_job_deinit(&job);
    firn_scene_free(&scene);
}

static void file_names_take_the_name_of_the_scene(void **state)
{
    (void)state;
    char folder[PATH_SIZE], path[PATH_SIZE];
    fresh_folder("called", folder);
    write_file(folder, "renderer.yaml",
               "firn: 1\nname: renderer\nresolution: 0.1\nframes: {end: 1}\nmaterials: {m: {}}\n"
               "objects:\n  - {shape: {box: {}}}\noutput:\n  - {file: out/$NAME.$F4.$NAME.csv}\n"
               "statistics: out/$NAME.csv\n");
    write_file(folder, "fine.yaml", "include: renderer.yaml\nname: fine\n");
    expect_exit(run(folder, WORDS("run", "renderer.yaml")), 0, "renderer");
    expect_exit(run(folder, WORDS("run", "fine.yaml")), 0, "fine");
    in_folder(folder, "out", path);
    (void)size_of_file(path, "renderer.0001.renderer.csv");
    (void)size_of_file(path, "renderer.csv");
    (void)size_of_file(path, "fine.0001.fine.csv");
    (void)size_of_file(path, "fine.csv");
    assert_int_equal(count_entries(path), 4);
}

static void an_included_entry_is_changed_by_its_name(void **state)
{
    (void)state;
    char folder[PATH_SIZE], path[PATH_SIZE];
    fresh_folder("override", folder);
    write_file(folder, "base.yaml",
               "firn: 1\nsimulation: {gravity: [0, -9, 0]}\nmaterials: {m: {}, n: {}}\nobjects:\n"
               "  - {name: a, material: m, shape: {box: {}}, velocity: [1, 0, 0]}\n"
               "  - {name: b, material: m, shape: {box: {}}, emit: {start: 1, end: 2}}\n"
               "  - {shape: {sphere: {}}, material: m}\n"
               "colliders:\n  - {name: ground, shape: {plane: {}}, friction: 0.7}\n");
    write_file(folder, "shot.yaml",
               "include: base.yaml\nsimulation: {gravity: [0, -5, 0]}\nobjects:\n"
               "  - {name: new, material: m, shape: {box: {}}}\n"
               "  - {name: b, material: n, emit: {end: 3}, velocity: [0, -2, 0]}\n"
               "colliders:\n  - {name: ground, boundary: sticky}\n");
    in_folder(folder, "shot.yaml", path);
    firn_tree tree;
    firn_scene scene = {0};
    assert_ok(firn_tree_read(&tree, path, &error));
    assert_ok(firn_scene_read(&scene, &tree, &error));
    static const char *const name[] = {"a", "b", NULL, "new"};
    assert_int_equal(scene.object_count, 4);
    for (int i = 0; i < 4; i++) {
        if (name[i]) assert_string_equal(scene.object[i].name, name[i]);
        if (!name[i]) assert_null(scene.object[i].name);
    }
    const firn_scene_object *b = &scene.object[1];
    assert_string_equal(b->material, "n");
    assert_true(b->shape.def.shape == FIRN_BOX);
    assert_true(b->emit.start == 1 && b->emit.end == 3 && b->velocity[1] == -2);
    assert_true(scene.object[0].velocity[0] == 1);
    assert_true(scene.simulation.def.gravity[1] == -5);
    assert_int_equal(scene.collider_count, 1);
    assert_true(scene.collider[0].def.friction == 0.7);
    assert_true(scene.collider[0].def.boundary == FIRN_STICKY);
    firn_scene_free(&scene);
}

typedef enum damage { FLIP, CUT, EMPTY, FOREIGN, OLDER, DAMAGES } damage;
static const char *const damage_says[] = {"its checksum does not fit", "is cut short",
                                          "is not a checkpoint", "is not a checkpoint",
                                          "was written by another version"};

static void damage_file(const char *path, damage how)
{
    static char text[1 << 20];
    const size_t size = read_text(path, text, sizeof text);
    assert_true(size > 1000 && size < sizeof text - 1);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    if (how == FLIP) text[size / 2] ^= 16;
    if (how == FOREIGN) text[0] ^= 1;
    if (how == OLDER) text[8] ^= 1;
    fwrite(text, 1, how == CUT ? size - 9 : how == EMPTY ? 0 : size, file);
    fclose(file);
}

static void damaged_checkpoints_are_passed_over_with_the_reason(void **state)
{
    (void)state;
    const char *scene = drop_scene;
    char folder[PATH_SIZE], path[PATH_SIZE], want[64], got[64];
    const outcome *o = run(fresh_folder("whole", folder), WORDS("run", scene, "--hash", "--quiet"));
    expect_exit(o, 0, "whole");
    printed_hash(o->out, 8, want);
    for (damage how = 0; how < DAMAGES; how++) {
        fresh_folder("damaged", folder);
        expect_exit(run(folder, WORDS("run", scene, "--quiet", "--frames", "1:4")), 0, "half");
        damage_file(in_folder(folder, "drop.ckpt/drop.000004.ckpt", path), how);
        o = run(folder, WORDS("run", scene, "--hash", "--resume"));
        expect_exit(o, 0, damage_says[how]);
        if (!strstr(o->err, damage_says[how]) || !strstr(o->err, "continuing from frame 3") ||
            !strstr(o->err, "drop.000004.ckpt") ||
            strcmp(printed_hash(o->out, 8, got), want) != 0) {
            complain("wanted \"%s\" and hash %s: hash %s: %s\n", damage_says[how], want, got,
                     o->err);
        }
    }
    /* With none that is good it starts afresh. */
    fresh_folder("damaged", folder);
    expect_exit(run(folder, WORDS("run", scene, "--quiet", "--frames", "1:2")), 0, "half");
    damage_file(in_folder(folder, "drop.ckpt/drop.000001.ckpt", path), FLIP);
    damage_file(in_folder(folder, "drop.ckpt/drop.000002.ckpt", path), CUT);
    o = run(folder, WORDS("run", scene, "--hash", "--resume"));
    expect_exit(o, 0, "afresh");
    if (!strstr(o->err, "starting from the first frame") ||
        strcmp(printed_hash(o->out, 8, got), want) != 0) {
        complain("all damaged: hash %s, not %s: %s\n", got, want, o->err);
    }
    assert_no_complaints();
}

static void one_number_scales_all_axes(void **state)
{
    (void)state;
    static const char *const scales[] = {"objects.ball.scale=[0.7, 0.7, 0.7]",
                                         "objects.ball.scale=0.7", "objects.ball.scale=7/10",
                                         "objects.ball.scale=1"};
    char folder[PATH_SIZE], hash[4][64];
    for (int i = 0; i < 4; i++) {
        const outcome *o =
            run(fresh_folder("scale", folder), WORDS("run", drop_scene, "--quiet", "--set",
                                                     scales[i], "--frames", "1:2", "--hash"));
        expect_exit(o, 0, scales[i]);
        printed_hash(o->out, 2, hash[i]);
    }
    assert_string_equal(hash[1], hash[0]);
    assert_string_equal(hash[2], hash[0]);
    assert_string_not_equal(hash[3], hash[0]);
    assert_no_complaints();
}

static void a_run_from_the_start_forgets_the_states_of_the_one_before(void **state)
{
    (void)state;
    const char *scene = drop_scene, *change = "objects.ball.velocity=[0, 0, 0]";
    char folder[PATH_SIZE], want[64], got[64];
    fresh_folder("again", folder);
    expect_exit(run(folder, WORDS("run", scene, "--quiet")), 0, "first run");
    const outcome *o = run(folder, WORDS("run", scene, "--quiet", "--set", change, "--hash"));
    expect_exit(o, 0, "second run");
    printed_hash(o->out, 8, want);
    fresh_folder("again", folder);
    expect_exit(run(folder, WORDS("run", scene, "--quiet")), 0, "first run");
    o = run(folder, WORDS("run", scene, "--quiet", "--set", change, "--frames", "1:2"));
    expect_exit(o, 0, "second run, cut short");
    o = run(folder, WORDS("run", scene, "--set", change, "--hash", "--resume"));
    expect_exit(o, 0, "resumed run");
    if (!strstr(o->err, "continuing from frame 2") || strstr(o->err, "scene had") ||
        strcmp(printed_hash(o->out, 8, got), want) != 0) {
        complain("hash %s, not %s: %s\n", got, want, o->err);
    }
    assert_no_complaints();
}

/* A run of some seconds, to be cut off. */
#define LONG_RUN                                                                                   \
    "run", drop_scene, "--set", "frames.end=16", "--set", "resolution=0.025", "--threads", "2",    \
        "--hash"

static const char *long_hash(char text[64])
{
    char folder[PATH_SIZE];
    const outcome *o = run(fresh_folder("long", folder), WORDS(LONG_RUN));
    expect_exit(o, 0, "long run");
    return printed_hash(o->out, 16, text);
}

static void a_signal_stops_with_130_and_resume_ends_the_same(void **state)
{
    (void)state;
    static const int signals[] = {SIGINT, SIGTERM};
    char folder[PATH_SIZE], want[64], got[64];
    long_hash(want);
    for (int i = 0; i < 2; i++) {
        static outcome cut;
        fresh_folder("signal", folder);
        const pid_t child = start(folder, 0, WORDS(LONG_RUN));
        wait_for(child, "hash 3 ");
        kill(child, signals[i]);
        finish(child, &cut);
        expect_exit(&cut, 130, "interrupted run");
        if (printed_hash(cut.out, 16, got)[0]) complain("signal %d: it ran on\n", signals[i]);
        if (!strstr(cut.err, "--resume")) complain("signal %d: %s\n", signals[i], cut.err);
        const outcome *o = run(folder, WORDS(LONG_RUN, "--resume"));
        expect_exit(o, 0, "resumed run");
        if (strcmp(printed_hash(o->out, 16, got), want) != 0) {
            complain("signal %d: hash %s, not %s: %s\n", signals[i], got, want, o->err);
        }
    }
    assert_no_complaints();
}

/* Every file under a final name can be read to its end. */
static void check_files(const char *folder, int64_t particles)
{
    DIR *all = opendir(folder);
    if (!all) return; /* killed before it was made */
    for (struct dirent *e; (e = readdir(all));) {
        char path[PATH_SIZE];
        firn_error error = {0};
        in_folder(folder, e->d_name, path);
        if (ends_in(e->d_name, ".ckpt") && strcmp(e->d_name, "drop.ckpt") != 0) {
            firn_checkpoint c = {0};
            if (firn_checkpoint_read(path, &c, &error) != FIRN_OK) complain("%s\n", error.message);
            firn_checkpoint_free(&c);
        } else if (strcmp(e->d_name, "drop.csv") != 0 &&
                   (ends_in(e->d_name, ".csv") || ends_in(e->d_name, ".bgeo.sc"))) {
            firn_points points = {0};
            if (firn_points_read(path, &points, &error) != FIRN_OK) {
                complain("%s\n", error.message);
            } else if (points.count != particles) {
                complain("%s: %lld particles\n", path, (long long)points.count);
            }
            firn_points_free(&points);
        }
    }
    closedir(all);
}

static int64_t count_particles(const char *folder)
{
    char path[PATH_SIZE];
    firn_points points = {0};
    assert_ok(firn_points_read(in_folder(folder, "drop.0001.csv", path), &points, &error));
    const int64_t n = points.count;
    firn_points_free(&points);
    return n;
}

static void a_kill_leaves_whole_files_only(void **state)
{
    (void)state;
    char folder[PATH_SIZE], checkpoints[PATH_SIZE], want[64], got[64];
    long_hash(want);
    const int64_t particles = count_particles(in_folder(top, "long", folder));
    fresh_folder("kill", folder);
    in_folder(folder, "drop.ckpt", checkpoints);
    for (int i = 0; i < 4; i++) {
        static outcome cut;
        const pid_t child = start(folder, 0, WORDS(LONG_RUN, "--resume"));
        wait_for(child, "hash ");
        sleep_ms(7 * i);
        kill(child, SIGKILL);
        finish(child, &cut);
        if (cut.exit_code != 0) expect_exit(&cut, -SIGKILL, "killed run"); /* 0: it was faster */
        check_files(folder, particles);
        check_files(checkpoints, particles);
    }
    const outcome *o = run(folder, WORDS(LONG_RUN, "--resume"));
    expect_exit(o, 0, "resumed run");
    if (strcmp(printed_hash(o->out, 16, got), want) != 0) {
        complain("hash %s, not %s: %s\n", got, want, o->err);
    }
    check_files(folder, particles);
    for (int frame = 1; frame <= 16; frame++) { /* wherever it was cut off, none is missing */
        char name[32];
        snprintf(name, sizeof name, "drop.%04d.bgeo.sc", frame);
        (void)size_of_file(folder, name);
    }
    assert_no_complaints();
}

/* ---- what cannot be written ---- */

static void outputs_that_cannot_be_written_stop_before_the_first_step(void **state)
{
    (void)state;
    static const char *const sets[] = {"output=[{file: taken/a.$F4.csv}]",
                                       "output=[{file: /proc/none/a.$F4.prt}]",
                                       "checkpoint.folder=taken", "statistics=taken/drop.csv"};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        char folder[PATH_SIZE], path[PATH_SIZE];
        fresh_folder("unwritable", folder);
        FILE *file = fopen(in_folder(folder, "taken", path), "w");
        assert_non_null(file);
        fclose(file);
        const outcome *o = run(folder, WORDS("run", drop_scene, "--set", sets[i], "--hash"));
        expect_exit(o, 4, sets[i]);
        if (o->out[0]) complain("%s: it ran: %s\n", sets[i], o->out);
        if (!strstr(o->err, "--set ")) complain("%s: where? %s\n", sets[i], o->err);
        if (access(in_folder(folder, "drop.ckpt", path), F_OK) == 0) {
            complain("%s: a folder was made\n", sets[i]);
        }
    }
    assert_no_complaints();
}

/* Mounts a file system of `most` bytes over the folder, for a child alone; false where that is not
 * allowed. */
static bool mount_small(const char *folder, long most)
{
    char options[64];
    snprintf(options, sizeof options, "size=%ld", most);
    if (unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
    if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) return false;
    return mount("tmpfs", folder, "tmpfs", 0, options) == 0;
}

/* Runs `firn` in a folder on a disk of that many bytes; false where there can be none. */
static bool run_on_small_disk(const char *folder, long most, const char *const *words, outcome *o)
{
    enum { CANNOT = 99 };
    char out[PATH_SIZE], err[PATH_SIZE];
    const char *argv[MOST_WORDS + 2] = {FIRN_PROGRAM};
    for (int i = 0; i < MOST_WORDS && words[i]; i++) argv[i + 1] = words[i];
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (!mount_small(folder, most) || !freopen(in_folder(top, "out", out), "w", stdout) ||
            !freopen(in_folder(top, "err", err), "w", stderr) || chdir(folder) != 0) {
            _exit(CANNOT);
        }
        execv(FIRN_PROGRAM, (char *const *)argv);
        _exit(123);
    }
    finish(child, o);
    return o->exit_code != CANNOT;
}

static void a_disk_without_room_is_refused_before_the_first_step(void **state)
{
    (void)state;
    char folder[PATH_SIZE];
    static outcome o;
    fresh_folder("small", folder);
    const char *scene = drop_scene;
    if (!run_on_small_disk(folder, 1 << 20, WORDS("run", scene), &o)) skip();
    expect_exit(&o, 4, "small disk");
    if (o.out[0] || !strstr(o.err, "the run takes at least") ||
        !strstr(o.err, "1.05 MB are free")) {
        complain("small disk: %s%s\n", o.out, o.err);
    }
    /* Neither refused nor doubted where there is enough. */
    assert_true(run_on_small_disk(folder, 64 << 20, WORDS("run", scene), &o));
    expect_exit(&o, 0, "large disk");
    if (o.err[0]) complain("large disk: %s\n", o.err);
    assert_no_complaints();
}

static double planned(const char *out, const char *key)
{
    const char *at = strstr(out, key);
    assert_non_null(at);
    return strtod(at + strlen(key), NULL);
}

static void a_plan_brackets_what_files_take(void **state)
{
    (void)state;
    static const char *const ends[] = {"csv", "prt", "bgeo.sc", "ply", "geo"};
    char folder[PATH_SIZE];
    for (size_t e = 0; e < sizeof ends / sizeof *ends; e++) {
        char output[64];
        snprintf(output, sizeof output, "output=[{file: a.$F.%s}]", ends[e]);
#define PLANNED "run", drop_scene, "--set", output, "--set", "checkpoint.every=0"
        fresh_folder("planned", folder);
        const outcome *o = run(folder, WORDS(PLANNED, "--plan", "--log", "json"));
        expect_exit(o, 0, "plan");
        if (count_entries(folder) != 0) complain("a plan made files\n");
        const double low = planned(o->out, "disk_least\": "),
                     high = planned(o->out, "disk_most\": ");
        expect_exit(run(folder, WORDS(PLANNED)), 0, "run");
        double bytes = 0;
        for (int frame = 1; frame <= 8; frame++) {
            char name[64];
            snprintf(name, sizeof name, "a.%d.%s", frame, ends[e]);
            bytes += size_of_file(folder, name);
        }
        if (!(bytes >= low && bytes <= high && high < 2 * bytes)) {
            complain("%s: %.0f bytes, planned %.0f to %.0f\n", ends[e], bytes, low, high);
        }
    }
    fresh_folder("planned", folder);
#define ONE_STATE "run", drop_scene, "--set", "output=[]", "--frames", "1:1"
    const outcome *o = run(folder, WORDS(ONE_STATE, "--plan", "--log", "json"));
    const double bytes = planned(o->out, "disk_most\": ");
    expect_exit(run(folder, WORDS(ONE_STATE)), 0, "one state");
    assert_close(bytes, size_of_file(folder, "drop.ckpt/drop.000001.ckpt"), 0);
    assert_no_complaints();
}

/* Emitters that have begun, that begin later, and that end before the run does; nothing is lost to
 * sinks. */
/* Steps are as long as stiffness allows: its square root. */
static void a_plan_says_how_far_snow_hardens(void **state)
{
    (void)state;
    char folder[PATH_SIZE];
    const outcome *o =
        run(fresh_folder("hardens", folder), WORDS("run", chunks_scene, "--plan", "--log", "json"));
    expect_exit(o, 0, "plan");
    const firn_material_def snow = firn_material_def_preset(firn_preset_find("snow"));
    assert_true(exp(snow.hardening) > snow.hardening_cap);
    assert_close(planned(o->out, "stiffening\": "), sqrt(snow.hardening_cap), 0.01);
    assert_no_complaints();
}

static void a_plan_counts_what_is_emitted(void **state)
{
    (void)state;
    static const char *const emits[] = {"{start: 0}", "{start: 0.1}", "{start: 0.05, end: 0.2}"};
    char folder[PATH_SIZE];
    for (size_t e = 0; e < sizeof emits / sizeof *emits; e++) {
        char emit[200];
        snprintf(
            emit, sizeof emit,
            "objects=[{shape: {sphere: {radius: 0.2}}, translate: [0, 2, 0], velocity: [0, -5, "
            "0], material: jelly, emit: %s}]",
            emits[e]);
#define EMITTED                                                                                    \
    "run", drop_scene, "--set", emit, "--set", "output=[{file: a.$F.bgeo}]", "--set",              \
        "checkpoint.keep=100", "--set", "resolution=0.025"
        fresh_folder("emitted", folder);
        const outcome *o = run(folder, WORDS(EMITTED, "--plan", "--log", "json"));
        expect_exit(o, 0, "plan");
        const double particles = planned(o->out, "particles_end\": "),
                     low = planned(o->out, "disk_least\": "),
                     high = planned(o->out, "disk_most\": ");
        if (!(planned(o->out, "substeps\": ") > 0)) complain("%s: no substeps\n", emits[e]);
        if (planned(o->out, "stiffening\": ") != 1) complain("%s: jelly hardens\n", emits[e]);
        o = run(folder, WORDS(EMITTED));
        expect_exit(o, 0, "run");
        const char *last = strstr(o->out, "frame 8/8  ");
        assert_non_null(last);
        assert_close(particles, strtod(last + strlen("frame 8/8  "), NULL), 0);
        double bytes = 0;
        for (int frame = 1; frame <= 8; frame++) {
            char name[64];
            snprintf(name, sizeof name, "a.%d.bgeo", frame);
            bytes += size_of_file(folder, name);
            snprintf(name, sizeof name, "drop.ckpt/drop.%06d.ckpt", frame);
            bytes += size_of_file(folder, name);
        }
        /* What a state takes beside its particles grows with the blocks they are in. */
        if (!(bytes >= 0.9 * low && bytes <= 1.1 * high && high < 1.5 * bytes)) {
            complain("%s: %.0f bytes, planned %.0f to %.0f\n", emits[e], bytes, low, high);
        }
    }
    assert_no_complaints();
}

static void a_full_disk_stops_and_keeps_what_is_whole(void **state)
{
    (void)state;
    char folder[PATH_SIZE], checkpoints[PATH_SIZE];
    static outcome o;
    fresh_folder("whole", folder);
    expect_exit(run(folder, WORDS("run", drop_scene, "--frames", "1:1")), 0, "whole");
    const int64_t particles = count_particles(folder);
    for (long most = 1000; most < 200000; most *= 4) { /* files, checkpoints, then neither */
        fresh_folder("full", folder);
        finish(start(folder, most, WORDS("run", drop_scene)), &o);
        if (o.exit_code != 0) expect_exit(&o, 4, "full disk");
        if (most < 10000 && o.exit_code == 0) complain("%ld bytes were enough\n", most);
        check_files(folder, particles);
        check_files(in_folder(folder, "drop.ckpt", checkpoints), particles);
    }
    assert_no_complaints();
}

int main(void)
{
    if (!make_top("test_scene")) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(broken_scenes_name_the_place_and_leave_nothing),
        cmocka_unit_test(a_missing_scene_is_bad_input),
        cmocka_unit_test(what_set_breaks_names_set),
        cmocka_unit_test(a_set_that_sets_nothing_is_a_wrong_command_line),
        cmocka_unit_test(an_angle_that_looks_like_radians_gets_a_hint),
        cmocka_unit_test(shapes_are_as_large_as_the_scene_says),
        cmocka_unit_test(a_spinning_body_keeps_its_energy),
        cmocka_unit_test(every_shape_for_objects_can_be_filled),
        cmocka_unit_test(particles_larger_than_a_cell_are_warned_of),
        cmocka_unit_test(all_examples_run),
        cmocka_unit_test(resuming_gives_the_state_of_running_through),
        cmocka_unit_test(quoted_numbers_are_numbers),
        cmocka_unit_test(temperatures_are_kelvin_or_have_a_c),
        cmocka_unit_test(what_heat_does_not_say_is_said),
        cmocka_unit_test(walls_are_insulated_held_or_coupled),
        cmocka_unit_test(objects_begin_with_their_temperature_and_dye),
        cmocka_unit_test(what_starts_molten_has_the_density_of_melt),
        cmocka_unit_test(files_with_doubtful_heat_are_refused),
        cmocka_unit_test(files_bring_heat_along),
        cmocka_unit_test(statistics_tell_of_heat),
        cmocka_unit_test(all_formats_hold_heat_and_pictures_show_it),
        cmocka_unit_test(a_file_brings_the_memory_of_laws_along),
        cmocka_unit_test(presets_and_materials_choose_the_method),
        cmocka_unit_test(drafts_of_snow_break_as_the_final_does),
        cmocka_unit_test(files_and_messages_speak_of_the_materials_of_the_scene),
        cmocka_unit_test(a_state_of_other_bodies_is_refused),
        cmocka_unit_test(a_state_of_other_variants_is_refused),
        cmocka_unit_test(resuming_keeps_time),
        cmocka_unit_test(what_files_bring_along_survives_sinks_emitters_and_resume),
        cmocka_unit_test(what_files_say_of_state_is_kept_as_it_is_placed),
        cmocka_unit_test(attributes_of_different_types_share_one_that_holds_both),
        cmocka_unit_test(what_objects_lose_to_earlier_ones_is_said),
        cmocka_unit_test(points_that_the_resolution_does_not_fit_are_warned_of),
        cmocka_unit_test(what_begins_where_it_cannot_be_is_said),
        cmocka_unit_test(an_arm_sweeps_the_whole_circle),
        cmocka_unit_test(what_begins_inside_a_paddle_is_left_behind),
        cmocka_unit_test(what_begins_inside_a_collider_that_holds_is_carried),
        cmocka_unit_test(file_names_take_the_name_of_the_scene),
        cmocka_unit_test(an_included_entry_is_changed_by_its_name),
        cmocka_unit_test(damaged_checkpoints_are_passed_over_with_the_reason),
        cmocka_unit_test(one_number_scales_all_axes),
        cmocka_unit_test(a_run_from_the_start_forgets_the_states_of_the_one_before),
        cmocka_unit_test(a_signal_stops_with_130_and_resume_ends_the_same),
        cmocka_unit_test(a_kill_leaves_whole_files_only),
        cmocka_unit_test(outputs_that_cannot_be_written_stop_before_the_first_step),
        cmocka_unit_test(elastic_objects_part_and_others_merge),
        cmocka_unit_test(objects_of_a_body_share_a_velocity_field),
        cmocka_unit_test(every_body_that_parts_has_a_number),
        cmocka_unit_test(the_creature_stays_in_one_piece),
        cmocka_unit_test(a_disk_without_room_is_refused_before_the_first_step),
        cmocka_unit_test(a_plan_brackets_what_files_take),
        cmocka_unit_test(a_plan_says_how_far_snow_hardens),
        cmocka_unit_test(a_plan_counts_what_is_emitted),
        cmocka_unit_test(a_full_disk_stops_and_keeps_what_is_whole),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    remove_all(top);
    return failed;
}
