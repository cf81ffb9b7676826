/* firn render and firn run --render, run as a user would. */
#include "golden.h"
#include "program.h"
#include "render/overlay.h"
#include "render/sequence.h"
#include "run/job.h"

#define FIGURE FIRN_SCENES "/figure.yaml"
#define DROP FIRN_SCENES "/drop.yaml"

/* Frames 1 to 8 of a scene in a folder of its own, computed once. */
static const char *caches(const char *scene, const char *name, char folder[PATH_SIZE])
{
    in_folder(top, name, folder);
    struct stat there;
    if (stat(folder, &there) == 0) return folder;
    const outcome *o = run(fresh_folder(name, folder), WORDS("run", scene, "--quiet"));
    assert_int_equal(o->exit_code, 0);
    return folder;
}

static firn_image read_picture(const char *folder, const char *name)
{
    char path[PATH_SIZE];
    firn_image image;
    assert_ok(firn_image_read_png(in_folder(folder, name, path), &image, &error));
    return image;
}

static bool exists(const char *folder, const char *name)
{
    char path[PATH_SIZE];
    struct stat about;
    return stat(in_folder(folder, name, path), &about) == 0 && about.st_size > 0;
}

static void assert_same_file(const char *folder, const char *a, const char *b)
{
    static char one[1 << 20], other[1 << 20];
    char path[PATH_SIZE];
    const size_t n = read_text(in_folder(folder, a, path), one, sizeof one);
    const size_t m = read_text(in_folder(folder, b, path), other, sizeof other);
    if (n == 0 || n != m || memcmp(one, other, n) != 0) complain("%s and %s differ\n", a, b);
}

/* ---- pictures ---- */

static void a_flat_scene_looks_as_it_did(void **state)
{
    (void)state;
    char folder[PATH_SIZE];
    caches(FIGURE, "figure", folder);
    const outcome *o = run(folder, WORDS("render", FIGURE, "--frames", "6", "--size", "320x180",
                                         "--color", "speed", "--show",
                                         "particles,colliders,velocity,force,scale,legend,caption",
                                         "--out", "flat.png"));
    expect_exit(o, 0, "flat.png");
    assert_no_complaints();
    firn_image image = read_picture(folder, "flat.png");
    /* Instruction sets round differently; an arrow moved by a tenth of a pixel costs 10 dB. */
    assert_golden(&image, "flat.png", 30);
    firn_image_free(&image);
}

/* Nothing but paper along the edges of any frame. */
static void arrows_are_not_cut_off(void **state)
{
    (void)state;
    char folder[PATH_SIZE], name[32];
    caches(FIGURE, "figure", folder);
    static const char *const sizes[] = {"200x200", "100x240"};
    for (int s = 0; s < 2; s++) {
        expect_exit(run(folder, WORDS("render", FIGURE, "--size", sizes[s], "--show",
                                      "velocity,grid_velocity,force", "--out", "arrows.$F.png")),
                    0, "arrows");
        for (int f = 1; f <= 8; f++) {
            snprintf(name, sizeof name, "arrows.%d.png", f);
            firn_image image = read_picture(folder, name);
            for (int i = 0; i < image.width * image.height; i++) {
                const int x = i % image.width, y = i / image.width;
                const bool edge = x == 0 || y == 0 || x == image.width - 1 || y == image.height - 1;
                if (edge && fabsf(image.rgba[4 * i + 1] - image.rgba[1]) > 0.02f) {
                    complain("%s, %s: an arrow at %d, %d\n", sizes[s], name, x, y);
                    break;
                }
            }
            firn_image_free(&image);
        }
    }
    assert_no_complaints();
}

static void pictures_are_the_same_bytes_at_any_thread_count(void **state)
{
    (void)state;
    static const char *const threads[] = {"1", "2", "3", "7"};
    static const char *const scenes[] = {FIGURE, DROP};
    char folder[PATH_SIZE], name[32];
    for (int s = 0; s < 2; s++) {
        caches(scenes[s], s ? "drop" : "figure", folder);
        for (int t = 0; t < 4; t++) {
            snprintf(name, sizeof name, "threads%s.png", threads[t]);
            expect_exit(
                run(folder, WORDS("render", scenes[s], "--frames", "5", "--size", "120x80",
                                  "--quality", "draft", "--threads", threads[t], "--out", name)),
                0, name);
            assert_same_file(folder, "threads1.png", name);
        }
    }
    assert_no_complaints();
}

static void pictures_on_the_way_are_those_of_the_caches(void **state)
{
    (void)state;
    char folder[PATH_SIZE];
    fresh_folder("live", folder);
    const char *camera = "camera={position: [2, 1, 2], target: [0, 0.3, 0]}";
    const char *output = "output=[{file: drop.$F4.prt}]";
    const outcome *o = run(folder, WORDS("run", DROP, "--set", camera, "--set", output, "--size",
                                         "96x64", "--quality", "draft", "--render",
                                         "preview.$F4.png", "--render", "preview.png"));
    expect_exit(o, 0, "run --render");
    if (strstr(o->err, "rehears")) complain("the camera is placed: %s\n", o->err);
    o = run(folder, WORDS("render", DROP, "--set", camera, "--set", output, "--size", "96x64",
                          "--quality", "draft", "--out", "cache.$F4.png", "--out", "cache.png"));
    expect_exit(o, 0, "render");
    assert_same_file(folder, "preview.0001.png", "cache.0001.png");
    assert_same_file(folder, "preview.0008.png", "cache.0008.png");
    assert_same_file(folder, "preview.png", "cache.png");
    assert_no_complaints();
}

/* Few particles are rehearsed as they are: the camera knows what will happen. */
static void small_runs_are_framed_as_their_caches(void **state)
{
    (void)state;
    char folder[PATH_SIZE];
    fresh_folder("framed", folder);
    const outcome *o =
        run(folder, WORDS("run", FIGURE, "--size", "96x64", "--render", "preview.$F4.png"));
    expect_exit(o, 0, "run --render");
    if (!strstr(o->err, "rehearsing for the camera, which takes as long as the motion")) {
        complain("%s\n", o->err);
    }
    expect_exit(run(folder, WORDS("render", FIGURE, "--size", "96x64", "--out", "cache.$F4.png")),
                0, "render");
    assert_same_file(folder, "preview.0001.png", "cache.0001.png");
    assert_same_file(folder, "preview.0008.png", "cache.0008.png");
    assert_no_complaints();
}

/* The scene alone decides the run; looking at it changes nothing. */
static void looking_changes_nothing(void **state)
{
    (void)state;
    char folder[PATH_SIZE], plain[TEXT_SIZE];
    fresh_folder("looking", folder);
    const outcome *o = run(
        folder, WORDS("run", FIGURE, "--hash", "--quiet", "--set", "output=[{file: a.$F4.prt}]"));
    expect_exit(o, 0, "without");
    memcpy(plain, o->out, sizeof plain);
    o = run(folder,
            WORDS("run", FIGURE, "--hash", "--quiet", "--render", "a.$F4.png", "--size", "64x36"));
    expect_exit(o, 0, "with");
    assert_string_equal(plain, o->out);
    assert_no_complaints();
}

static void inputs_are_scenes_patterns_folders_and_files(void **state)
{
    (void)state;
    char folder[PATH_SIZE], caches_of_drop[PATH_SIZE], name[PATH_SIZE];
    caches(FIGURE, "figure", folder);
    caches(DROP, "drop", caches_of_drop);
    const char *const *cases[] = {
        WORDS("render", "figure.$F4.prt", "--frames", "3:5", "--size", "40x30", "--out",
              "pattern.$F.png"),
        WORDS("render", "figure.0003.prt", "figure.0004.prt", "figure.0005.prt", "--size", "40x30",
              "--out", "files.$F.png"),
        WORDS("render", FIGURE, "--frames", "3:5", "--size", "40x30", "--out", "scene.$F.png"),
    };
    static const char *const made[] = {"pattern", "files", "scene"};
    for (int i = 0; i < 3; i++) {
        expect_exit(run(folder, cases[i]), 0, made[i]);
        for (int f = 1; f <= 8; f++) {
            snprintf(name, sizeof name, "%s.%d.png", made[i], f);
            if (exists(folder, name) != (f >= 3 && f <= 5)) complain("%s\n", name);
        }
    }
    const outcome *o = run(top, WORDS("render", "drop", "--frames", "2", "--size", "40x30",
                                      "--quality", "draft", "--out", "folder.png"));
    expect_exit(o, 0, "folder");
    if (!exists(top, "folder.png")) complain("no picture of a folder\n");
    assert_no_complaints();
}

/* The same picture as a screen shows it, in 16 bits, and as light is. */
static void pictures_come_in_depth_and_with_alpha(void **state)
{
    (void)state;
    char folder[PATH_SIZE], bytes[8];
    caches(DROP, "drop", folder);
    expect_exit(run(folder, WORDS("render", DROP, "--frames", "4", "--size", "60x40", "--quality",
                                  "draft", "--channels", "rgba16", "--out", "deep.png")),
                0, "16 bits");
    firn_image image = read_picture(folder, "deep.png");
    float least = 1, most = 0;
    for (int i = 0; i < 60 * 40; i++) {
        least = fminf(least, image.rgba[4 * i + 3]);
        most = fmaxf(most, image.rgba[4 * i + 3]);
    }
    if (least > 0 || most < 1) complain("alpha from %g to %g\n", (double)least, (double)most);
    firn_image_free(&image);
    expect_exit(run(folder, WORDS("render", DROP, "--frames", "4", "--size", "60x40", "--quality",
                                  "draft", "--out", "light.exr")),
                0, "EXR");
    char path[PATH_SIZE];
    read_text(in_folder(folder, "light.exr", path), bytes, sizeof bytes);
    if (memcmp(bytes, "v/1\1", 4) != 0) complain("light.exr is no EXR\n");
    assert_no_complaints();
}

static void turntables_go_round_a_single_frame(void **state)
{
    (void)state;
    char folder[PATH_SIZE];
    caches(DROP, "drop", folder);
    const outcome *o =
        run(folder, WORDS("render", DROP, "--frames", "1", "--turntable", "4", "--size", "60x40",
                          "--quality", "draft", "--out", "turn.$F.png", "--out", "turn.png"));
    expect_exit(o, 0, "turntable");
    if (!strstr(o->out, "picture 4/4  frame 1 ")) complain("progress: %s\n", o->out);
    if (!strstr(o->out, "\nturn.1.png to turn.4.png, 4 files\nturn.png\n")) {
        complain("results: %s\n", o->out);
    }
    if (!exists(folder, "turn.4.png") || exists(folder, "turn.5.png")) complain("not 4 pictures\n");
    assert_no_complaints();
    firn_image front = read_picture(folder, "turn.1.png"),
               side = read_picture(folder, "turn.2.png");
    assert_true(firn_image_psnr(&front, &side) < 40);
    firn_image sheet = read_picture(folder, "turn.png"); /* no larger than what there is */
    assert_int_equal(sheet.width, 2 * 30 + 3 * 4);
    assert_int_equal(sheet.height, 2 * 20 + 3 * 4);
    firn_image_free(&sheet);
    firn_image_free(&front);
    firn_image_free(&side);
}

static void comparisons_put_panels_side_by_side(void **state)
{
    (void)state;
    char folder[PATH_SIZE];
    caches(FIGURE, "figure", folder);
    expect_exit(run(folder, WORDS("render", "--compare", "figure.0002.prt", "figure.0008.prt",
                                  "figure.0005.prt", "--label", "early", "--size", "100x50",
                                  "--sheet", "2x2", "--out", "compare.png")),
                0, "compare");
    assert_no_complaints();
    firn_image image = read_picture(folder, "compare.png");
    assert_int_equal(image.width, 3 * 100 + 4 * 4); /* sheets are of frames, not of panels */
    assert_int_equal(image.height, 50 + 2 * 4);
    firn_image_free(&image);
}

static void labels_are_what_differs_in_names(void **state)
{
    (void)state;
    static const char *const cases[][2][2] = {
        {{"a/snow/m.0016.prt", "snow"}, {"a/sand/m.0016.prt", "sand"}},
        {{"m.0001.prt", "0001"}, {"m.0002.prt", "0002"}},
        {{"one/", "one"}, {"two/", "two"}},
        {{"m.prt", "m"}, {"old/m.prt", "old/m"}},
        {{"m.prt", "m"}, {"m.prt", "m"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        firn_sequence *sequence[2];
        const char *const name[2] = {cases[i][0][0], cases[i][1][0]};
        for (int r = 0; r < 2; r++) {
            sequence[r] = calloc(1, sizeof *sequence[r]);
            assert_non_null(sequence[r]);
            sequence[r]->label = strdup("m");
        }
        assert_ok(firn_sequences_align(sequence, name, 2, &error));
        for (int r = 0; r < 2; r++) {
            assert_string_equal(firn_sequence_label(sequence[r]), cases[i][r][1]);
            firn_sequence_destroy(sequence[r]);
        }
    }
}

static void sweeps_make_labelled_sheets(void **state)
{
    (void)state;
    char folder[PATH_SIZE];
    fresh_folder("sweep", folder);
    expect_exit(
        run(folder, WORDS("sweep", FIGURE, "--vary", "materials.soft.young=1e5,2e4", "--vary",
                          "simulation.gravity=[0, -9],[0, -1]", "--frames", "1:2", "--out", "s")),
        0, "sweep");
    expect_exit(run(folder, WORDS("render", "s", "--frames", "2", "--size", "80x60", "--color",
                                  "pressure", "--out", "sheet.png")),
                0, "sheet");
    assert_no_complaints();
    firn_image image = read_picture(folder, "sheet.png");
    assert_int_equal(image.width, 2 * 80 + 3 * 4);
    assert_int_equal(image.height, 2 * 60 + 3 * 4);
    firn_image_free(&image);
    char path[PATH_SIZE];
    firn_sweep_folders pass;
    assert_ok(firn_sweep_folders_read(in_folder(folder, "s", path), &pass, &error));
    assert_int_equal(pass.count, 4);
    static const char *const labels[] = {"young 1e5, gravity [0, -9]", "young 1e5, gravity [0, -1]",
                                         "young 2e4, gravity [0, -9]",
                                         "young 2e4, gravity [0, -1]"};
    for (int i = 0; i < 4; i++) {
        assert_string_equal(pass.label[i], labels[i]);
        if (!exists(pass.folder[i], "scene.yaml")) complain("%s\n", pass.folder[i]);
    }
    firn_sweep_folders_free(&pass);
    assert_no_complaints();
}

/* The largest difference within a part of two pictures. */
static double difference(const firn_image *a, const firn_image *b, firn_segment part)
{
    double most = 0;
    for (int y = (int)part.y0; y < (int)part.y1; y++) {
        for (int x = (int)part.x0; x < (int)part.x1; x++) {
            for (int k = 0; k < 3; k++) {
                const int at = 4 * (y * a->width + x) + k;
                most = fmax(most, fabs((double)a->rgba[at] - (double)b->rgba[at]));
            }
        }
    }
    return most;
}

static void legends_leave_the_action_alone(void **state)
{
    (void)state;
    char folder[PATH_SIZE];
    caches(DROP, "drop", folder);
    /* The drop is in the lower right corner. */
    const char *camera = "camera={position: [2, 1, 2], target: [-0.42, 0.8, 0.42]}";
    static const char *const shows[] = {"particles,colliders", "particles,colliders,legend"};
    static const char *const names[] = {"bare.png", "legend.png"};
    firn_image image[2];
    for (int i = 0; i < 2; i++) {
        expect_exit(run(folder, WORDS("render", DROP, "--set", camera, "--frames", "8", "--size",
                                      "320x180", "--quality", "draft", "--color", "speed", "--show",
                                      shows[i], "--out", names[i])),
                    0, names[i]);
        assert_no_complaints();
        image[i] = read_picture(folder, names[i]);
    }
    const double right =
        difference(&image[0], &image[1], firn_overlay_corner(FIRN_LOWER_RIGHT, 320, 180));
    const double left =
        difference(&image[0], &image[1], firn_overlay_corner(FIRN_LOWER_LEFT, 320, 180));
    if (right > 0 || left < 0.1) complain("right %g, left %g\n", right, left);
    for (int i = 0; i < 2; i++) firn_image_free(&image[i]);
    assert_no_complaints();
}

/* ---- videos ---- */

static bool have_ffmpeg(void) { return system("ffmpeg -version >/dev/null 2>&1") == 0; }

static void videos_hold_every_picture(void **state)
{
    (void)state;
    if (!have_ffmpeg()) skip();
    char folder[PATH_SIZE], command[2 * PATH_SIZE];
    caches(FIGURE, "figure", folder);
    static const char *const names[] = {"v.mp4", "v.webm"};
    /* Both in one go, and an odd size: encoders want even ones. */
    expect_exit(run(folder, WORDS("render", FIGURE, "--size", "121x67", "--out", names[0], "--out",
                                  names[1])),
                0, "two videos");
    for (int i = 0; i < 2; i++) {
        snprintf(command, sizeof command,
                 "cd %s && ffmpeg -loglevel error -i %s -f framemd5 - | grep -c '^0,' | grep -qx 8",
                 folder, names[i]);
        if (system(command) != 0) complain("%s does not have 8 pictures\n", names[i]);
    }
    /* Slow motion: at 3 pictures per second, 8 take 2.67 s. */
    expect_exit(run(folder, WORDS("render", FIGURE, "--set", "frames.playback=3", "--size", "64x36",
                                  "--out", "slow.mp4")),
                0, "slow motion");
    snprintf(command, sizeof command,
             "cd %s && ffmpeg -i slow.mp4 2>&1 | grep -q 'Duration: 00:00:02.6'", folder);
    if (system(command) != 0) complain("slow.mp4 does not take 2.67 s\n");
    assert_no_complaints();
}

static void without_ffmpeg_there_are_pictures(void **state)
{
    (void)state;
    char folder[PATH_SIZE], path[8192];
    caches(FIGURE, "figure", folder);
    snprintf(path, sizeof path, "%s", getenv("PATH"));
    setenv("PATH", "/nowhere", 1);
    const outcome *o = run(
        folder, WORDS("render", FIGURE, "--frames", "1:2", "--size", "40x30", "--out", "no.mp4"));
    setenv("PATH", path, 1);
    expect_exit(o, 4, "no ffmpeg");
    if (!strstr(o->err, "apt install ffmpeg") || !strstr(o->err, "no.$F4.png")) {
        complain("%s\n", o->err);
    }
    if (!exists(folder, "no.0002.png") || exists(folder, "no.mp4")) complain("files\n");
    assert_no_complaints();
}

/* ---- bad input ---- */

static void frames_that_are_missing_are_named(void **state)
{
    (void)state;
    char folder[PATH_SIZE], path[PATH_SIZE];
    fresh_folder("gaps", folder);
    expect_exit(run(folder, WORDS("run", FIGURE, "--quiet")), 0, "run");
    static const char *const gone[] = {"figure.0003.prt", "figure.0005.prt", "figure.0006.prt"};
    for (int i = 0; i < 3; i++) unlink(in_folder(folder, gone[i], path));
    const outcome *o = run(
        folder, WORDS("render", FIGURE, "--size", "40x30", "--out", "g.$F.png", "--out", "g.png"));
    expect_exit(o, 3, "gaps");
    if (!strstr(o->err, "figure: 3 frames are missing and left out: 3, 5:6"))
        complain("%s\n", o->err);
    if (!exists(folder, "g.8.png") || exists(folder, "g.5.png")) complain("wrong pictures\n");
    if (!exists(folder, "g.png")) complain("no sheet\n");
    assert_no_complaints();
}

static void write_scene(const char *folder, const char *name, const char *text)
{
    char path[PATH_SIZE];
    FILE *file = fopen(in_folder(folder, name, path), "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* Files that do not say which material a particle is, of a scene with two that differ. */
static void one_look_for_all_is_warned_of(void **state)
{
    (void)state;
    static const struct {
        const char *attributes, *second;
        bool warned;
    } cases[] = {
        {"output[0].attributes=[P, v]", "materials.dull.look=plain", true},
        {"output[0].attributes=[P, object]", "materials.dull.look=plain", false},
        {"output[0].attributes=[P, material]", "materials.dull.look=plain", false},
        {"output[0].attributes=[P, v]", "materials.dull.look=jelly", false},
    };
    char folder[PATH_SIZE];
    fresh_folder("looks", folder);
    write_scene(folder, "pair.yaml",
                "firn: 1\nname: pair\nresolution: 0.2\nframes: {end: 1}\n"
                "materials: {jelly: {preset: jelly_soft}, dull: {preset: jelly_hard}}\n"
                "objects:\n"
                "  - {material: jelly, shape: {box: {center: [-1, 0.5, 0]}}, scale: 0.9}\n"
                "  - {material: dull, shape: {box: {center: [1, 0.5, 0]}}, scale: 0.9}\n"
                "output: [{file: pair.$F.prt}]\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *one = cases[i].attributes, *other = cases[i].second;
        expect_exit(run(folder, WORDS("run", "pair.yaml", "--quiet", "--set", one, "--set", other)),
                    0, one);
        const outcome *o = run(folder, WORDS("render", "pair.yaml", "--set", one, "--set", other,
                                             "--size", "32x18", "--out", "a.png"));
        expect_exit(o, 0, one);
        if ((strstr(o->err, "all particles look like material jelly") != NULL) != cases[i].warned) {
            complain("%s, %s: %s\n", one, other, o->err);
        }
    }
    assert_no_complaints();
}

static void mistakes_are_named_and_nothing_is_made(void **state)
{
    (void)state;
    char folder[PATH_SIZE], path[PATH_SIZE];
    caches(FIGURE, "figure", folder);
    caches(DROP, "drop", path);
    FILE *file = fopen(in_folder(folder, "empty.csv", path), "w");
    fputs("P.x,P.y,P.z\n", file);
    fclose(file);
    file = fopen(in_folder(folder, "broken.prt", path), "w");
    fputs("not particles", file);
    fclose(file);
    const struct {
        int exit_code;
        const char *const *words;
        const char *message;
    } cases[] = {
        {2, WORDS("render", FIGURE, "--size", "0x720"), "--size 0x720 must be two whole numbers"},
        {2, WORDS("render", FIGURE, "--size", "12"), "--size 12 must be"},
        {2, WORDS("render", FIGURE, "--size", "99999x5"), "from 1 to 32768"},
        {2, WORDS("render", FIGURE, "--quality", "best"), "best"},
        {2, WORDS("render", FIGURE, "--look", "smoke"), "smoke"},
        {2, WORDS("render", FIGURE, "--show", "particels"), "did you mean \"particles\"?"},
        {2, WORDS("render", FIGURE, "--slice", "w=1"), "--slice"},
        {2, WORDS("render", FIGURE, "--slice", "z"), "as z=0.1"},
        {2, WORDS("render", FIGURE, "--color", "speed", "--range", "2:1"), "with A below B"},
        {2, WORDS("render", FIGURE, "--range", "1:2"), "need --color"},
        {2, WORDS("render", FIGURE, "--show", "velocity=speed"), "only grid takes an attribute"},
        {2, WORDS("render", FIGURE, "--show", "grid=sped"), "did you mean \"speed\"?"},
        {2, WORDS("render", FIGURE, "--show", "grid=speed:1:1"), "range 1:1 must be A:B"},
        {2, WORDS("render", FIGURE, "--sheet", "3"), "--sheet 3 must be"},
        {2, WORDS("render"), "0 words given"},
        {2, WORDS("render", FIGURE, "--channels", "rgb12"), "rgb12"},
        {3, WORDS("render", FIGURE, "--channels", "rgba"), "have no alpha"},
        {3, WORDS("render", FIGURE, "--channels", "rgb16", "--out", "x.mp4"),
         "x.mp4: only PNG has 16 bits"},
        {3, WORDS("render", FIGURE, "--channels", "rgb16", "--out", "x.exr"),
         "x.exr: only PNG has 16 bits"},
        {3, WORDS("render", FIGURE, "--out", "x.exr", "--out", "x.png"), "one after the other"},
        {3, WORDS("render", FIGURE, "--out", "x.jpg"), "pictures end in .png"},
        {3, WORDS("render", FIGURE, "--frames", "20:30"), "--frames 20:30 must be A:B within 1:8"},
        {3, WORDS("render", FIGURE, "--frames", "1:9"), "--frames 1:9 must be A:B within 1:8"},
        {3, WORDS("render", "figure.$F4.prt", "--frames", "0:8"), "must be A:B within 1:8"},
        {3, WORDS("render", FIGURE, "--frames", "a"), "--frames a must be"},
        {3, WORDS("render", FIGURE, "--color", "temperature"),
         "figure.0001.prt: there is no attribute \"temperature\"; there are P, v, id"},
        {3, WORDS("render", FIGURE, "--slice", "z=0"), "a slice needs a 3D scene"},
        {3, WORDS("render", FIRN_SCENES "/none.yaml"), "none.yaml"},
        {3, WORDS("render", "none.$F4.prt"), "no particle files of that name"},
        {3, WORDS("render", "none.prt"), "none.prt is not there"},
        {3, WORDS("render", "empty.csv"), "there are no particles to show"},
        {3, WORDS("render", "broken.prt"), "broken.prt"},
        {3, WORDS("render", "figure.0001.prt", "--set", "a=1"), "is not a scene"},
        {3, WORDS("render", "figure.0001.prt", "--show", "grid"), "there is no grid to show"},
        {3, WORDS("render", DROP, "--set", "output=[]"), "no output holds particles with P"},
        {3, WORDS("render", DROP), "drop.0001.csv is not there, nor any other frame; firn run"},
        {4, WORDS("render", FIGURE, "--out", "/proc/nowhere/x.png"), "/proc/nowhere"},
        {2, WORDS("run", FIGURE, "--size", "64x36"), "--color need --render"},
        {3, WORDS("run", FIGURE, "--render", "x.gif"), "pictures end in .png"},
        {4, WORDS("run", FIGURE, "--render", "/proc/nowhere/x.mp4"), "/proc/nowhere"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int before = count_entries(folder);
        const outcome *o = run(folder, cases[i].words);
        const char *what = cases[i].words[1] ? cases[i].words[2] : "";
        expect_exit(o, cases[i].exit_code, cases[i].message);
        if (!strstr(o->err, cases[i].message)) complain("%s: %s\n", what ? what : "", o->err);
        if (count_entries(folder) > before + 1) complain("%s: files\n", cases[i].message);
    }
    assert_no_complaints();
}

/* Nodes, arrows, blocks and outlines in perspective, from one grid for all of them. */
static void layers_in_perspective_look_as_they_did(void **state)
{
    (void)state;
    char folder[PATH_SIZE];
    const char *set = "output=[{file: d.$F4.prt}, {file: d.grid.$F4.prt, of: grid}]";
    const outcome *o = run(fresh_folder("layers", folder),
                           WORDS("run", DROP, "--set", set, "--frames", "1:3", "--quiet"));
    expect_exit(o, 0, "layers");
    static const char *const threads[] = {"1", "3"};
    static const char *const names[] = {"layers1.png", "layers3.png"};
    for (int t = 0; t < 2; t++) {
        o = run(folder,
                WORDS("render", DROP, "--set", set, "--frames", "3", "--size", "320x180",
                      "--quality", "draft", "--threads", threads[t], "--color", "object", "--show",
                      "particles,colliders,grid=speed:0:4,velocity,force,blocks,outlines,"
                      "scale,legend,caption",
                      "--out", names[t]));
        expect_exit(o, 0, names[t]);
    }
    assert_same_file(folder, names[0], names[1]);
    firn_image image = read_picture(folder, names[0]);
    assert_golden(&image, "layers.png", 25);
    firn_image_free(&image);
    /* Without particles nothing hides the nodes. */
    static const char *const shows[] = {"colliders,grid", "particles,colliders,grid", "colliders"};
    double blue[3] = {0};
    for (int i = 0; i < 3; i++) {
        o = run(folder, WORDS("render", DROP, "--set", set, "--frames", "3", "--size", "320x180",
                              "--quality", "draft", "--show", shows[i], "--out", "nodes.png"));
        expect_exit(o, 0, shows[i]);
        image = read_picture(folder, "nodes.png");
        for (int p = 0; p < 320 * 180; p++) {
            blue[i] += fabs((double)image.rgba[4 * p + 2] - (double)image.rgba[4 * p]) > 0.15;
        }
        firn_image_free(&image);
    }
    if (!(blue[0] > blue[2] + 200)) complain("%g and %g pixels of nodes\n", blue[0], blue[2]);
    assert_no_complaints();
}

static void an_interrupted_video_keeps_its_pictures(void **state)
{
    (void)state;
    char folder[PATH_SIZE];
    caches(DROP, "drop", folder);
    outcome o;
    const pid_t child = start(folder, 0,
                              WORDS("render", DROP, "--frames", "1", "--turntable", "1000",
                                    "--size", "200x120", "--out", "i.$F4.png", "--out", "i.png"));
    wait_for(child, "picture 1/");
    kill(child, SIGINT);
    finish(child, &o);
    expect_exit(&o, 130, "interrupted");
    if (!exists(folder, "i.0001.png") || exists(folder, "i.png")) complain("wrong files\n");
    assert_no_complaints();
}

/* ---- the grid ---- */

static double sum_of(const firn_points *points, const char *name, int component)
{
    const firn_column *c = firn_points_find(points, name), *m = firn_points_find(points, "mass");
    assert_non_null(c);
    double sum = 0;
    for (int64_t i = 0; i < points->count; i++) {
        const double value = firn_type_get(c->type, c->data, i * c->components + component);
        sum += c == m ? value : value * firn_type_get(m->type, m->data, i);
    }
    return sum;
}

static void the_grid_has_the_mass_and_momentum_of_the_particles(void **state)
{
    (void)state;
    char folder[PATH_SIZE], path[PATH_SIZE];
    caches(FIGURE, "figure", folder);
    firn_points particles, grid;
    assert_ok(firn_points_read(in_folder(folder, "figure.0006.prt", path), &particles, &error));
    assert_ok(firn_points_read(in_folder(folder, "figure.grid.0006.prt", path), &grid, &error));
    const double mass = sum_of(&particles, "mass", 0);
    assert_close(sum_of(&grid, "mass", 0), mass, 1e-5 * mass);
    for (int a = 0; a < 2; a++) {
        assert_close(sum_of(&grid, "v", a), sum_of(&particles, "v", a), 1e-4 * mass);
    }
    const firn_column *force = firn_points_find(&grid, "force");
    double total[2] = {0}, most = 0; /* inner forces add up to nothing */
    for (int64_t i = 0; i < grid.count; i++) {
        for (int a = 0; a < 2; a++) {
            const double f = firn_type_get(force->type, force->data, 3 * i + a);
            total[a] += f;
            most = fmax(most, fabs(f));
        }
    }
    assert_true(most > 1);
    assert_close(total[0], 0, 1e-3 * most);
    assert_close(total[1], 0, 1e-3 * most);
    firn_points_free(&particles);
    firn_points_free(&grid);
}

/* The cells of a pool; without projection there are none. */
static void cells_of_liquids_are_shown(void **state)
{
    (void)state;
    static const char pool[] =
        "firn: 1\nname: pool\ndimension: 2\nresolution: 0.01\nframes: {end: 2}\n"
        "simulation: {pressure: projection}\nmaterials: {water: {preset: water}}\n"
        "objects: [{material: water, shape: {rectangle: {center: [0, 0.05], size: [0.2, 0.1]}}}]\n"
        "colliders: [{shape: {inside: {center: [0, 0.5], size: [0.2, 1]}}, boundary: slip}]\n"
        "output: [{file: pool.$F4.prt}, {file: grid.$F4.prt, of: grid}]\n";
    char folder[PATH_SIZE], path[PATH_SIZE];
    fresh_folder("cells", folder);
    FILE *file = fopen(in_folder(folder, "pool.yaml", path), "w");
    assert_non_null(file);
    fputs(pool, file);
    fclose(file);
    expect_exit(run(folder, WORDS("run", "pool.yaml", "--quiet")), 0, "run");
    expect_exit(run(folder, WORDS("render", "pool.yaml", "--size", "320x180", "--show",
                                  "colliders,cells,legend", "--out", "cells.$F.png")),
                0, "render");
    firn_points grid;
    assert_ok(firn_points_read(in_folder(folder, "grid.0002.prt", path), &grid, &error));
    const firn_column *c = firn_points_find(&grid, "cell_class");
    assert_non_null(c);
    int64_t of[3] = {0};
    for (int64_t i = 0; i < grid.count; i++) of[(int)firn_type_get(c->type, c->data, i)]++;
    assert_int_equal(of[FIRN_CELL_INTERIOR], 10 * 5);
    assert_true(of[FIRN_CELL_EMPTY] > 0 && of[FIRN_CELL_COLLIDER] > 0);
    firn_points_free(&grid);
    firn_image image = read_picture(folder, "cells.2.png");
    double green = 0, orange = 0;
    for (int p = 0; p < 320 * 180; p++) {
        const float *rgb = image.rgba + 4 * p;
        green += rgb[1] > 1.5f * rgb[0] && rgb[1] > 1.5f * rgb[2];
        orange += rgb[0] > 2 * rgb[2];
    }
    if (!(green > 2000 && orange > 1000)) complain("%g and %g pixels\n", green, orange);
    firn_image_free(&image);
    const char *chosen = "simulation.pressure=auto";
    expect_exit(run(folder, WORDS("run", "pool.yaml", "--quiet", "--set", chosen, "--set",
                                  "output=[{file: pool.$F4.prt}, {file: grid.$F4.prt, of: grid, "
                                  "attributes: [P, mass, cell_class]}]")),
                0, "run");
    expect_exit(run(folder, WORDS("render", "pool.yaml", "--set", chosen, "--size", "320x180",
                                  "--show", "cells", "--out", "auto.$F.png")),
                0, "render");
    const char *none = "simulation.pressure=none";
    expect_exit(run(folder, WORDS("run", "pool.yaml", "--set", none, "--quiet")), 0, "run");
    const outcome *o = run(folder, WORDS("render", "pool.yaml", "--set", none, "--show", "cells"));
    if (!o->exit_code || !strstr(o->err, "pressure: projection")) complain("%s\n", o->err);
    o = run(folder, WORDS("run", "pool.yaml", "--set", none, "--set",
                          "output=[{file: g.$F.prt, of: grid, attributes: [cell_class]}]"));
    if (!o->exit_code || !strstr(o->err, "pressure: projection")) complain("%s\n", o->err);
    assert_no_complaints();
}

int main(void)
{
    if (!make_top("pictures")) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_flat_scene_looks_as_it_did),
        cmocka_unit_test(arrows_are_not_cut_off),
        cmocka_unit_test(layers_in_perspective_look_as_they_did),
        cmocka_unit_test(pictures_are_the_same_bytes_at_any_thread_count),
        cmocka_unit_test(pictures_on_the_way_are_those_of_the_caches),
        cmocka_unit_test(small_runs_are_framed_as_their_caches),
        cmocka_unit_test(looking_changes_nothing),
        cmocka_unit_test(inputs_are_scenes_patterns_folders_and_files),
        cmocka_unit_test(pictures_come_in_depth_and_with_alpha),
        cmocka_unit_test(turntables_go_round_a_single_frame),
        cmocka_unit_test(comparisons_put_panels_side_by_side),
        cmocka_unit_test(labels_are_what_differs_in_names),
        cmocka_unit_test(sweeps_make_labelled_sheets),
        cmocka_unit_test(legends_leave_the_action_alone),
        cmocka_unit_test(videos_hold_every_picture),
        cmocka_unit_test(without_ffmpeg_there_are_pictures),
        cmocka_unit_test(frames_that_are_missing_are_named),
        cmocka_unit_test(one_look_for_all_is_warned_of),
        cmocka_unit_test(mistakes_are_named_and_nothing_is_made),
        cmocka_unit_test(an_interrupted_video_keeps_its_pictures),
        cmocka_unit_test(cells_of_liquids_are_shown),
        cmocka_unit_test(the_grid_has_the_mass_and_momentum_of_the_particles),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    remove_all(top);
    return failed;
}
