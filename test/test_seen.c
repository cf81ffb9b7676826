/* What pictures show and what programs say of a run, told to users as it is: see-through and cut colliders,
 * cameras that see their subject, metals, plans, resumed runs. */
#include "golden.h"
#include "program.h"

static void write_file(const char *folder, const char *name, const char *text)
{
    char path[PATH_SIZE];
    FILE *file = fopen(in_folder(folder, name, path), "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* A red block behind a wall and beside another, ten particles across. */
static const char walls[] =
    "firn: 1\n"
    "name: walls\n"
    "resolution: 0.06\n"
    "frames: {end: 1}\n"
    "materials: {red: {preset: jelly_hard, look: {name: plain, color: [0.8, 0.02, 0.02]}}}\n"
    "objects: [{material: red, shape: {box: {center: [0, 0.3, 0], size: [0.6, 0.6, 0.6]}}}]\n"
    "colliders:\n"
    "  - {name: ground, shape: {plane: {}}}\n"
    "  - {name: front, shape: {box: {center: [0, 0.5, 0.45], size: [1.2, 1, 0.1]}}}\n"
    "  - {name: right, shape: {box: {center: [0.55, 0.5, 0], size: [0.1, 1, 0.8]}}}\n"
    "output: [{file: walls.$F.prt}]\n";

/* Pixels of a picture that are clearly red. */
static int red_pixels(const char *folder, const char *const *sets, const char **said)
{
    const char *words[MOST_WORDS] = {"render",    "walls.yaml", "--size", "64x48",
                                     "--quality", "draft",      "--out",  "seen.png"};
    int n = 8, red = 0;
    char path[PATH_SIZE];
    firn_image image;
    for (int i = 0; sets[i]; i++) {
        words[n++] = "--set";
        words[n++] = sets[i];
    }
    const outcome *o = run(folder, words);
    expect_exit(o, 0, sets[0]);
    *said = o->err;
    assert_ok(firn_image_read_png(in_folder(folder, "seen.png", path), &image, &error));
    for (int i = 0; i < image.width * image.height; i++) {
        const float *p = image.rgba + 4 * i;
        red += p[0] > 2 * p[1] && p[0] > 2 * p[2] && p[0] > 0.02f;
    }
    firn_image_free(&image);
    return red;
}

/* A thin jet and scattered drops, in one file with sizes and in one without: the scene knows them. */
static void particles_without_size_have_that_of_the_scene(void **state)
{
    (void)state;
    char folder[PATH_SIZE], path[PATH_SIZE];
    firn_image image[2];
    fresh_folder("sizes", folder);
    write_file(folder, "jet.yaml",
               "firn: 1\n"
               "name: jet\n"
               "resolution: 0.1\n"
               "frames: {end: 1}\n"
               "materials: {water: {preset: water}}\n"
               "objects:\n"
               "  - {material: water, separation: 0.05,\n"
               "     shape: {box: {center: [0, 0.5, 0], size: [0.1, 1, 0.1]}}}\n"
               "  - {material: water, separation: 0.05, instances: {grid: {count: [5, 1, 5], "
               "spacing: [0.3, 0.3, 0.3]}},\n"
               "     shape: {box: {center: [0, 0.2, 0.15], size: [0.05, 0.05, 0.05]}}}\n"
               "camera: {position: [1, 1, 2], target: [0, 0.4, 0]}\n"
               "output:\n"
               "  - {file: sized.$F.prt, attributes: [P, id, material, pscale]}\n"
               "  - {file: bare.$F.prt, attributes: [P, id, material]}\n");
    expect_exit(run(folder, WORDS("run", "jet.yaml", "--quiet")), 0, "run");
    expect_exit(run(folder, WORDS("render", "jet.yaml", "--size", "64x48", "--quality", "draft",
                                  "--out", "sized.png")),
                0, "sized");
    expect_exit(run(folder, WORDS("render", "jet.yaml", "--size", "64x48", "--quality", "draft",
                                  "--out", "bare.png", "--set",
                                  "output=[{file: bare.$F.prt, attributes: [P, id, material]}]")),
                0, "bare");
    for (int i = 0; i < 2; i++) {
        const char *name = i ? "bare.png" : "sized.png";
        assert_ok(firn_image_read_png(in_folder(folder, name, path), &image[i], &error));
    }
    const double psnr = firn_image_psnr(&image[0], &image[1]);
    if (!(psnr > 40)) complain("%g dB between pictures with sizes and without\n", psnr);
    firn_image_free(&image[0]);
    firn_image_free(&image[1]);
    assert_no_complaints();
}

/* An emitter that begins late, seen by a camera that the scene places. */
static const char late[] =
    "firn: 1\n"
    "name: late\n"
    "resolution: 0.1\n"
    "frames: {end: 3}\n"
    "materials: {water: {preset: water}}\n"
    "objects:\n"
    "  - {material: water, shape: {box: {size: [0.2, 0.2, 0.2]}},\n"
    "     emit: {direction: [0, -1, 0], speed: 2, flow: 30 kg/s, start: 0.05}}\n"
    "camera: {position: [1, 1, 2], target: [0, 0, 0]}\n";

static void a_placed_camera_needs_no_rehearsal(void **state)
{
    (void)state;
    char folder[PATH_SIZE];
    fresh_folder("late", folder);
    write_file(folder, "late.yaml", late);
#define LATE "run", "late.yaml", "--size", "32x24", "--quality", "draft", "--render", "late.$F.png"
    const outcome *o = run(folder, WORDS(LATE));
    expect_exit(o, 0, "placed");
    if (strstr(o->err, "rehears")) complain("placed: %s\n", o->err);
    o = run(folder, WORDS(LATE, "--color", "speed"));
    expect_exit(o, 0, "coloured");
    if (!strstr(o->err, "rehearsing for the range of colours") || strstr(o->err, "needs none")) {
        complain("coloured: %s\n", o->err);
    }
    o = run(folder, WORDS(LATE, "--set", "camera={position: [1, 1, 2]}"));
    expect_exit(o, 0, "open");
    if (!strstr(o->err, "position and target needs none")) complain("open: %s\n", o->err);
    assert_no_complaints();
}

/* An arm that a group turns to above a block: it is in the picture there, too. */
static void what_a_group_turns_stays_in_the_picture(void **state)
{
    (void)state;
    char folder[PATH_SIZE], path[PATH_SIZE];
    firn_image image;
    fresh_folder("arm", folder);
    write_file(folder, "arm.yaml",
               "firn: 1\n"
               "name: arm\n"
               "dimension: 2\n"
               "resolution: 0.1\n"
               "frames: {end: 3, fps: 4}\n"
               "simulation: {gravity: [0, 0]}\n"
               "materials: {jelly: {preset: jelly_soft}}\n"
               "groups: [{name: hub, spin: [0, 0, 360]}]\n"
               "objects: [{material: jelly, shape: {rectangle: {size: [0.6, 0.9]}}}]\n"
               "colliders:\n"
               "  - {group: hub, shape: {rectangle: {center: [0.54, 0], size: [0.08, 0.1]}}}\n"
               "camera: {margin: 0.08}\n"
               "output: [{file: arm.$F.prt}]\n");
    expect_exit(run(folder, WORDS("run", "arm.yaml", "--quiet")), 0, "run");
    expect_exit(run(folder, WORDS("render", "arm.yaml", "--size", "128x96", "--show", "colliders",
                                  "--out", "arm.$F.png")),
                0, "render");
    assert_ok(firn_image_read_png(in_folder(folder, "arm.2.png", path), &image, &error));
    const float *paper = image.rgba; /* of the corner */
    int inside = 0, edge = 0;
    for (int i = 0; i < 128 * 96; i++) {
        const int x = i % 128, y = i / 128;
        const bool drawn = memcmp(image.rgba + 4 * i, paper, 3 * sizeof *paper) != 0;
        *(x == 0 || y == 0 || x == 127 || y == 95 ? &edge : &inside) += drawn;
    }
    if (inside < 9 || edge > 0) complain("%d pixels of the arm, %d at the edge\n", inside, edge);
    firn_image_free(&image);
    assert_no_complaints();
}

static void keys_of_the_camera_without_effect_are_named(void **state)
{
    (void)state;
    char folder[PATH_SIZE];
    fresh_folder("camera", folder);
    write_file(folder, "late.yaml", late);
    const outcome *o =
        run(folder, WORDS(LATE, "--set", "camera.margin=0.2", "--set", "camera.azimuth=40"));
    if (!strstr(o->err, "margin has no effect: the camera has a position") ||
        !strstr(o->err, "azimuth has no effect: the camera has a position")) {
        complain("3D: %s\n", o->err);
    }
    o = run(folder, WORDS(LATE, "--set", "camera={margin: 0.2, azimuth: 40}"));
    if (strstr(o->err, "no effect")) complain("framed: %s\n", o->err);
    o = run(folder, WORDS(LATE, "--set", "dimension=2", "--set",
                          "objects=[{material: water, shape: {rectangle: {size: [0.5, 0.5]}}}]"));
    if (!strstr(o->err, "late.yaml:9:10: position has no effect: pictures of 2D scenes") ||
        !strstr(o->err, "target has no effect") || strstr(o->err, "needs none")) {
        complain("2D: %s\n", o->err);
    }
    assert_no_complaints();
}

static void what_colliders_hide_is_shown_or_said(void **state)
{
    (void)state;
    char folder[PATH_SIZE];
    const char *said;
    fresh_folder("walls", folder);
    write_file(folder, "walls.yaml", walls);
    expect_exit(run(folder, WORDS("run", "walls.yaml", "--quiet")), 0, "run");
#define PLACED "camera={azimuth: 20, elevation: 10}"
    /* Placed in front of the walls: said, with the collider that is in the way. */
    const int hidden = red_pixels(folder, WORDS(PLACED), &said);
    if (!strstr(said, "colliders hide") || !strstr(said, "walls.yaml:9:5") ||
        !strstr(said, "most of them front")) {
        complain("hidden: %s\n", said);
    }
    /* Left open: another side, and word of it. */
    const int open = red_pixels(folder, WORDS("seed=0"), &said);
    if (!strstr(said, "is taken")) complain("open: %s\n", said);
    /* Seen through, cut away, left out: nothing to say. */
    const int clear = red_pixels(
        folder, WORDS(PLACED, "colliders.front.opacity=0.2", "colliders.right.opacity=0.2"), &said);
    if (said[0]) complain("clear: %s\n", said);
    const int cut = red_pixels(
        folder, WORDS(PLACED, "colliders.front.cut={point: [0, 0, 0.35], normal: [0, 0, 1]}"),
        &said);
    if (said[0]) complain("cut: %s\n", said);
    const int gone = red_pixels(folder, WORDS(PLACED, "colliders.front.visible=false"), &said);
    if (said[0]) complain("gone: %s\n", said);
    if (!(hidden < gone / 5 && open > gone / 2 && clear > gone / 2 && cut > 3 * gone / 4 &&
          gone > 100)) {
        complain("red pixels: hidden %d, open %d, clear %d, cut %d, gone %d\n", hidden, open, clear,
                 cut, gone);
    }
    assert_no_complaints();
}

/* The number behind a key of a plan. */
static double number_of(const char *out, const char *key)
{
    const char *at = strstr(out, key);
    if (!at) fail_msg("%s is not in %s", key, out);
    return strtod(at + strlen(key), NULL);
}

/* Scenes of the collection, coarser. */
static void plans_have_the_steps_of_runs_in_their_range(void **state)
{
    (void)state;
    static const char *const scenes[][2] = {
        {"ball", "resolution=0.06"},      {"sand_column", "resolution=0.05"},
        {"dam_break", "resolution=0.06"}, {"spheres", "resolution=0.06"},
        {"snowball", "resolution=0.06"},  {"honey_fold", "resolution=0.01"},
    };
    char folder[PATH_SIZE], path[PATH_SIZE];
    fresh_folder("plans", folder);
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
        snprintf(path, sizeof path, "%s/%s.yaml", FIRN_EXAMPLES, scenes[i][0]);
#define COARSE path, "--set", scenes[i][1], "--set", "output=[]", "--set", "checkpoint.every=0"
        const outcome *o = run(folder, WORDS("run", COARSE, "--plan", "--log", "json"));
        expect_exit(o, 0, scenes[i][0]);
        const double least = number_of(o->out, "substeps_least\": "),
                     most = number_of(o->out, "substeps_most\": ");
        if (!strstr(o->out, "\"transfer\": \"a") || strstr(o->out, "\"limit\": \"\"")) {
            complain("%s: %s\n", scenes[i][0], o->out);
        }
        o = run(folder, WORDS("run", COARSE, "--log", "json"));
        expect_exit(o, 0, scenes[i][0]);
        double steps = 0;
        for (const char *p = o->out; (p = strstr(p, "\"substeps\": ")); p++) {
            steps += number_of(p, "\"substeps\": ");
        }
        if (!(steps >= least && steps <= most && steps > 10)) {
            complain("%s: %g steps, not %g to %g\n", scenes[i][0], steps, least, most);
        }
    }
    assert_no_complaints();
}

/* What particles have from the start is not made anew: a resumed run says so. */
static void changes_without_effect_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *set;
        bool effect;
    } cases[] = {
        {"objects.ball.shape={box: {center: [0, 0.5, 0], size: [0.3, 0.3, 0.3]}}", false},
        {"objects.ball.velocity=[0, 1, 0]", false},
        {"objects.ball.spin=[0, 90, 0]", false},
        {"materials.jelly.density=500", false},
        {"materials.jelly.young=5e4", true},
        {"colliders.ground.friction=0.7", true},
        {"frames.end=9", true},
    };
    const char *scene = FIRN_SCENES "/drop.yaml";
    char folder[PATH_SIZE];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fresh_folder("resumed", folder);
        expect_exit(run(folder, WORDS("run", scene, "--quiet", "--frames", "1:2")), 0, "half");
        const outcome *o =
            run(folder, WORDS("run", scene, "--resume", "--set", cases[i].set, "--frames", "1:3"));
        expect_exit(o, 0, cases[i].set);
        if (!strstr(o->err, "scene has now") ||
            (strstr(o->err, "no effect on the particles there are") == NULL) != cases[i].effect) {
            complain("%s: %s\n", cases[i].set, o->err);
        }
    }
    assert_no_complaints();
}

int main(void)
{
    if (!make_top("seen")) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(particles_without_size_have_that_of_the_scene),
        cmocka_unit_test(a_placed_camera_needs_no_rehearsal),
        cmocka_unit_test(what_a_group_turns_stays_in_the_picture),
        cmocka_unit_test(keys_of_the_camera_without_effect_are_named),
        cmocka_unit_test(what_colliders_hide_is_shown_or_said),
        cmocka_unit_test(plans_have_the_steps_of_runs_in_their_range),
        cmocka_unit_test(changes_without_effect_are_named),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    remove_all(top);
    return failed;
}
