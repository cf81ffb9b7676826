/* Pictures: files, cameras, and what the renderer promises. Small clouds, made here. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>

#include "golden.h"
#include "compounds.h"
#include "meshes.h"
#include "render/flat.h"
#include "render/volume.h"
#include "render/world.h"
#include "scene/scene.h"

static char folder[] = "/tmp/firn_test_render_XXXXXX";

static const char *path_of(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    static const char *const names[] = {"a.png", "b.png", "a.exr", "cut.png"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) remove(path_of(names[i]));
    return rmdir(folder);
}

static void take(firn_status st, const firn_error *error)
{
    if (st != FIRN_OK) fail_msg("%s", error->message);
}

/* ---- images ---- */

static firn_image gradient(int32_t width, int32_t height, bool alpha)
{
    firn_image image;
    firn_error error;
    take(firn_image_create(width, height, &image, &error), &error);
    for (int32_t y = 0; y < height; y++) {
        for (int32_t x = 0; x < width; x++) {
            float *p = image.rgba + 4 * (y * width + x);
            p[3] = alpha ? (float)(x + 1) / (float)width : 1;
            p[0] = p[3] * (float)x / (float)width;
            p[1] = p[3] * (float)y / (float)height;
            p[2] = p[3] * (0.5f + 0.5f * sinf(0.01f * (float)(x * y)));
        }
    }
    return image;
}

static void png_comes_back(void **state)
{
    (void)state;
    firn_error error;
    for (int kind = 0; kind < 4; kind++) {
        const int bits = kind & 1 ? 16 : 8;
        firn_image image = gradient(61, 47, kind >= 2), back;
        take(firn_image_write_png(path_of("a.png"), &image, bits, &error), &error);
        take(firn_image_read_png(path_of("a.png"), &back, &error), &error);
        assert_int_equal(back.width, 61);
        assert_int_equal(back.height, 47);
        /* Rounded with dither: an error even within one step, 1/3 on average of squares. */
        assert_true(firn_image_psnr(&image, &back) > (bits == 16 ? 95 : 50));
        for (int32_t i = 0; i < 61 * 47; i++) {
            assert_true(fabsf(image.rgba[4 * i + 3] - back.rgba[4 * i + 3]) < 0.51f / 255);
        }
        firn_image_free(&image);
        firn_image_free(&back);
    }
}

static void whole_numbers_are_not_dithered(void **state)
{
    (void)state;
    firn_image image;
    firn_error error;
    take(firn_image_create(64, 64, &image, &error), &error);
    for (int32_t i = 0; i < 64 * 64; i++) {
        float *p = image.rgba + 4 * i;
        p[0] = 0;
        p[1] = p[3] = 1;
        p[2] = powf((100 / 255.f + 0.055f) / 1.055f, 2.4f); /* sRGB 100 */
    }
    uint8_t out[64 * 64 * 3];
    firn_image_encode(&image, 8, 3, out);
    for (int32_t i = 0; i < 64 * 64; i++) {
        assert_int_equal(out[3 * i], 0);
        assert_int_equal(out[3 * i + 1], 255);
        assert_int_equal(out[3 * i + 2], 100);
    }
    firn_image_free(&image);
}

static void broken_png_is_refused(void **state)
{
    (void)state;
    firn_error error;
    firn_image image = gradient(40, 30, false), back;
    take(firn_image_write_png(path_of("a.png"), &image, 8, &error), &error);
    firn_image_free(&image);
    firn_bytes bytes;
    take(firn_bytes_read(path_of("a.png"), &bytes, &error), &error);
    for (size_t size = 0; size < bytes.size - 40; size += 1 + size / 7) {
        FILE *file = fopen(path_of("cut.png"), "wb");
        assert_non_null(file);
        fwrite(bytes.data, 1, size, file);
        fclose(file);
        assert_int_equal(firn_image_read_png(path_of("cut.png"), &back, &error), FIRN_INVALID);
        assert_non_null(strstr(error.message, "cut.png"));
    }
    firn_bytes_free(&bytes);
    assert_int_equal(firn_image_read_png(path_of("none.png"), &back, &error), FIRN_INVALID);
    assert_int_equal(firn_image_create(0, 10, &back, &error), FIRN_INVALID);
}

static void unwritable_png_leaves_nothing(void **state)
{
    (void)state;
    firn_error error;
    firn_image image = gradient(8, 8, false);
    assert_int_equal(firn_image_write_png("/nowhere/a.png", &image, 8, &error), FIRN_OUTPUT);
    assert_int_equal(firn_image_write_png(path_of("b.png"), &image, 7, &error), FIRN_INVALID);
    assert_int_not_equal(access(path_of("b.png"), F_OK), 0);
    firn_image_free(&image);
}

static uint32_t little(const uint8_t *from)
{
    return from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 | (uint32_t)from[3] << 24;
}

/* The file read again by the format's own description. */
static void exr_holds_half_floats(void **state)
{
    (void)state;
    enum { WIDTH = 37, HEIGHT = 21 };
    firn_error error;
    firn_image image = gradient(WIDTH, HEIGHT, true);
    for (int i = 0; i < 4 * WIDTH * HEIGHT; i += 4) image.rgba[i] *= 100; /* brighter than white */
    take(firn_image_write_exr(path_of("a.exr"), &image, &error), &error);
    firn_bytes bytes;
    take(firn_bytes_read(path_of("a.exr"), &bytes, &error), &error);
    const uint8_t *at = bytes.data;
    assert_int_equal(little(at), 20000630);
    at += 8;
    while (*at) { /* attributes: name, type, size, value */
        at += strlen((const char *)at) + 1;
        at += strlen((const char *)at) + 1;
        at += 4 + little(at);
    }
    at++;
    for (int block = 0; block < 2; block++) {
        const uint8_t *part = bytes.data + little(at + 8 * block);
        const int lines = block == 0 ? 16 : HEIGHT - 16;
        assert_int_equal(little(part), 16 * block);
        uint8_t mixed[16 * 8 * WIDTH], plain[16 * 8 * WIDTH];
        uLongf size = sizeof mixed;
        assert_int_equal(uncompress(mixed, &size, part + 8, little(part + 4)), Z_OK);
        assert_int_equal(size, lines * 8 * WIDTH);
        for (size_t i = 1; i < size; i++) mixed[i] = (uint8_t)(mixed[i] + mixed[i - 1] - 128);
        for (size_t i = 0; i < size; i++) plain[i] = mixed[i / 2 + (i % 2 ? (size + 1) / 2 : 0)];
        for (int y = 0; y < lines; y++) {
            for (int c = 0; c < 4; c++) { /* A B G R */
                for (int x = 0; x < WIDTH; x++) {
                    const uint8_t *h = plain + 2 * ((y * 4 + c) * WIDTH + x);
                    const float got = firn_half_to_float((uint16_t)(h[0] | h[1] << 8));
                    const float want = image.rgba[4 * ((16 * block + y) * WIDTH + x) + 3 - c];
                    assert_true(fabsf(got - want) <= 0x1p-11f * fabsf(want) + 1e-6f);
                }
            }
        }
    }
    firn_bytes_free(&bytes);
    firn_image_free(&image);
}

static void tone_mapping_rises_and_keeps_grey(void **state)
{
    (void)state;
    enum { N = 200 };
    firn_error error;
    firn_image image;
    take(firn_image_create(N, 1, &image, &error), &error);
    for (int i = 0; i < N; i++) {
        for (int c = 0; c < 3; c++) image.rgba[4 * i + c] = 0.05f * (float)i;
        image.rgba[4 * i + 3] = 1;
    }
    image.rgba[4 * (N - 1)] = 0.18f;
    firn_image_tone_map(&image, 0);
    assert_true(image.rgba[0] == 0);
    assert_true(fabsf(image.rgba[4 * (N - 1)] - 0.18f) < 0.02f);
    for (int i = 1; i < N; i++) {
        assert_true(image.rgba[4 * i + 1] >= image.rgba[4 * (i - 1) + 1]);
        assert_true(image.rgba[4 * i + 1] <= 1);
    }
    firn_image_free(&image);
}

/* ---- cameras ---- */

static void framing_never_cuts(void **state)
{
    (void)state;
    const firn_bounds boxes[] = {
        {{-1, 0, -1}, {1, 2, 1}}, {{3, 5, -40}, {4, 5.1, 60}}, {{-1e-3, 0, 0}, {1e-3, 9, 1e-3}}};
    for (int up = 1; up <= 2; up++) {
        for (size_t b = 0; b < sizeof boxes / sizeof *boxes; b++) {
            for (int turn = -1; turn < 360; turn += 17) {
                const double angle = turn;
                const firn_view_camera wish = firn_view_camera_default();
                const firn_camera camera =
                    firn_camera_frame(&wish, &boxes[b], 1, up, 16 / 9., turn < 0 ? NULL : &angle);
                for (int corner = 0; corner < 8; corner++) {
                    double point[3], pixel[2], depth;
                    for (int a = 0; a < 3; a++) {
                        point[a] = corner >> a & 1 ? boxes[b].high[a] : boxes[b].low[a];
                    }
                    firn_camera_project(&camera, 1280, 720, point, pixel, &depth);
                    assert_true(depth > 0);
                    assert_true(pixel[0] > 0 && pixel[0] < 1280 && pixel[1] > 0 && pixel[1] < 720);
                }
                /* Level: what is above the target in the world is above it in the picture. */
                double above[3] = {camera.target[0], camera.target[1], camera.target[2]};
                double pixel[2], depth;
                above[up] += 1e-3 * camera.focus;
                firn_camera_project(&camera, 1280, 720, above, pixel, &depth);
                assert_true(pixel[1] < 360 && fabs(pixel[0] - 640) < 1e-6);
            }
        }
    }
}

static void what_a_scene_gives_is_kept(void **state)
{
    (void)state;
    firn_view_camera wish = firn_view_camera_default();
    for (int i = 0; firn_section_camera.rows[i].name; i++) {
        const char *name = firn_section_camera.rows[i].name;
        if (strcmp(name, "position") == 0 || strcmp(name, "target") == 0) {
            wish.given |= (firn_given)1 << i;
        }
    }
    wish.position[0] = 3;
    wish.target[1] = 1;
    const firn_bounds box = {{-1, 0, -1}, {1, 2, 1}};
    const firn_camera camera = firn_camera_frame(&wish, &box, 1, 1, 1, NULL);
    assert_true(camera.position[0] == 3 && camera.target[1] == 1);
    assert_true(fabs(camera.focus - sqrt(10)) < 1e-12);
}

/* ---- pictures ---- */

static const double SPACING = 0.04;

typedef struct cloud {
    firn_points points;
    int64_t room;
} cloud;

static uint32_t random_bits = 1;
static double random_unit(void)
{
    random_bits = random_bits * 747796405u + 2891336453u;
    return (random_bits >> 8) * 0x1p-24;
}

static cloud new_cloud(int64_t room)
{
    cloud c = {.room = room};
    firn_error error;
    c.points.count = room;
    assert_non_null(firn_points_add(&c.points, "P", FIRN_TYPE_f32, 3, &error));
    assert_non_null(firn_points_add(&c.points, "v", FIRN_TYPE_f32, 3, &error));
    assert_non_null(firn_points_add(&c.points, "pscale", FIRN_TYPE_f32, 1, &error));
    assert_non_null(firn_points_add(&c.points, "id", FIRN_TYPE_i64, 1, &error));
    assert_non_null(firn_points_add(&c.points, "object", FIRN_TYPE_i32, 1, &error));
    assert_non_null(firn_points_add(&c.points, "material", FIRN_TYPE_i32, 1, &error));
    c.points.count = 0;
    random_bits = 1;
    return c;
}

static void put(cloud *c, const double at[3], int32_t object, int32_t material)
{
    const int64_t i = c->points.count++;
    assert_true(i < c->room);
    for (int a = 0; a < 3; a++) {
        ((float *)firn_points_find(&c->points, "P")->data)[3 * i + a] = (float)at[a];
    }
    ((float *)firn_points_find(&c->points, "pscale")->data)[i] = (float)(SPACING / 1.612);
    ((int64_t *)firn_points_find(&c->points, "id")->data)[i] = i;
    ((int32_t *)firn_points_find(&c->points, "object")->data)[i] = object;
    ((int32_t *)firn_points_find(&c->points, "material")->data)[i] = material;
}

static void put_ball(cloud *c, double x, double y, double z, double radius, int32_t object,
                     int32_t material)
{
    const int n = (int)ceil(radius / SPACING);
    for (int i = -n; i <= n; i++) {
        for (int j = -n; j <= n; j++) {
            for (int k = -n; k <= n; k++) {
                double at[3] = {i + 0.6 * random_unit() - 0.3, j + 0.6 * random_unit() - 0.3,
                                k + 0.6 * random_unit() - 0.3};
                const double r = sqrt(at[0] * at[0] + at[1] * at[1] + at[2] * at[2]) * SPACING;
                if (r > radius) continue;
                at[0] = x + SPACING * at[0];
                at[1] = y + SPACING * at[1];
                at[2] = z + SPACING * at[2];
                put(c, at, object, material);
            }
        }
    }
}

/* Snow, two balls of jelly that touch, crumbs. */
static cloud still_life(void)
{
    cloud c = new_cloud(60000);
    put_ball(&c, -0.6, 0.45, 0, 0.45, 0, 1);
    put_ball(&c, 0.35, 0.32, 0.1, 0.32, 1, 0);
    put_ball(&c, 0.95, 0.25, 0.3, 0.25, 2, 0);
    put_ball(&c, -0.2, 0.1, 0.55, 0.1, 3, 1);
    for (int i = 0; i < 60; i++) {
        const double at[3] = {2.4 * random_unit() - 1.2, 0.02 + 0.3 * random_unit() * random_unit(),
                              0.8 * random_unit()};
        put(&c, at, 3, 1);
    }
    return c;
}

typedef struct picture {
    firn_camera camera;
    firn_light light;
    firn_render_collider collider[2];
    firn_look look[2];
    firn_render_input input;
    firn_render_options options;
} picture;

static void set_up(picture *p, const cloud *c, int32_t width, int32_t height)
{
    *p = (picture){.light = firn_light_default(), .options = firn_render_options_default()};
    const firn_view_camera wish = firn_view_camera_default();
    const firn_bounds box = {{-1, 0, -0.5}, {1.2, 0.9, 0.7}};
    p->camera = firn_camera_frame(&wish, &box, 1, 1, (double)width / height, NULL);
    p->look[0] = *firn_look_find("jelly");
    p->look[1] = *firn_look_find("snow");
    firn_collider_def def = firn_collider_def_default();
    firn_collider_pose(&def, 3, 0, &p->collider[0].pose);
    def.shape = FIRN_BOX;
    def.size[0] = def.size[1] = def.size[2] = 0.12;
    def.position[0] = 0.1;
    def.position[1] = 0.12;
    def.position[2] = 0.75;
    firn_collider_pose(&def, 3, 0, &p->collider[1].pose);
    for (int i = 0; i < 2; i++) {
        p->collider[i].opacity = 1;
        p->collider[i].color[0] = p->collider[i].color[1] = p->collider[i].color[2] =
            0.14 + 0.3 * i;
    }
    p->input = (firn_render_input){.points = &c->points,
                                   .look = p->look,
                                   .look_count = 2,
                                   .camera = &p->camera,
                                   .light = &p->light,
                                   .collider = p->collider,
                                   .collider_count = 2};
    p->options.width = width;
    p->options.height = height;
}

static firn_image draw(const picture *p)
{
    firn_image image;
    firn_error error;
    take(firn_render(&p->input, &p->options, &image, &error), &error);
    return image;
}

static bool same_bytes(const firn_image *a, const firn_image *b)
{
    return memcmp(a->rgba, b->rgba, (size_t)a->width * (size_t)a->height * 4 * sizeof(float)) == 0;
}

static void pictures_look_as_they_did(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        firn_render_mode mode;
        firn_quality quality;
    } cases[] = {{"render_volume.png", FIRN_RENDER_VOLUME, FIRN_FINAL},
                 {"render_draft.png", FIRN_RENDER_VOLUME, FIRN_DRAFT},
                 {"render_spheres.png", FIRN_RENDER_SPHERES, FIRN_FINAL},
                 {"render_points.png", FIRN_RENDER_POINTS, FIRN_FINAL}};
    cloud c = still_life();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        picture p;
        set_up(&p, &c, 240, 135);
        p.options.mode = cases[i].mode;
        p.options.quality = cases[i].quality;
        firn_image image = draw(&p);
        firn_image_tone_map(&image, 0);
        assert_golden(&image, cases[i].name, 38);
        firn_image_free(&image);
    }
    firn_points_free(&c.points);
}

static void threads_change_nothing(void **state)
{
    (void)state;
    cloud c = still_life();
    for (int mode = FIRN_RENDER_VOLUME; mode <= FIRN_RENDER_SPHERES; mode++) {
        picture p;
        set_up(&p, &c, 96, 54);
        p.options.mode = (firn_render_mode)mode;
        p.options.exposed = 0.01;
        p.options.threads = 1;
        firn_image one = draw(&p);
        static const int32_t counts[] = {2, 3, 7};
        for (int i = 0; i < 3; i++) {
            p.options.threads = counts[i];
            firn_image other = draw(&p);
            assert_true(same_bytes(&one, &other));
            firn_image_free(&other);
        }
        p.options.seed = 5;
        firn_image seeded = draw(&p);
        assert_false(same_bytes(&one, &seeded));
        firn_image_free(&seeded);
        firn_image_free(&one);
    }
    firn_points_free(&c.points);
}

static void samples_are_finite_and_tame(void **state)
{
    (void)state;
    cloud c = still_life();
    picture p;
    set_up(&p, &c, 160, 90);
    for (const firn_look_row *row = firn_looks; row->name; row++) {
        p.look[0] = row->look;
        p.options.quality = FIRN_DRAFT;
        firn_image image = draw(&p);
        for (int64_t i = 0; i < 160 * 90; i++) {
            float sum = 0;
            for (int k = 0; k < 3; k++) {
                const float v = image.rgba[4 * i + k];
                assert_true(v >= 0 && v <= 8);
                sum += v;
            }
            assert_true(sum > 1e-3f); /* nothing is black outdoors */
            assert_true(image.rgba[4 * i + 3] == 1);
        }
        firn_image_free(&image);
    }
    firn_points_free(&c.points);
}

/* White material in a white room is as white as the room: no light is made or lost. */
static void a_white_furnace_is_white(void **state)
{
    (void)state;
    cloud c = new_cloud(60000);
    put_ball(&c, 0.1, 0.45, 0.1, 0.42, 0, 0);
    firn_look white = *firn_look_find("snow");
    for (int a = 0; a < 3; a++) white.color[a] = 1;
    white.gloss = white.glint = white.bump = 0;
    picture p;
    set_up(&p, &c, 96, 54);
    p.look[0] = white;
    p.input.collider_count = 0;
    p.light.fill = 1;
    for (int a = 0; a < 3; a++) {
        p.light.sun[a] = 0;
        p.light.zenith[a] = p.light.horizon[a] = 1;
    }
    for (int k = 0; k < 5; k++) { /* from the skin alone to the inside alone */
        white.subsurface = 0.25 * k;
        firn_image image = draw(&p);
        double sum = 0;
        int64_t n = 0;
        for (int y = 20; y < 34; y++) {
            for (int x = 38; x < 58; x++, n++) sum += (double)image.rgba[4 * (y * 96 + x) + 1];
        }
        for (int64_t i = 0; i < 96 * 54; i++) assert_true(image.rgba[4 * i + 1] < 1.01f);
        assert_true(fabs(sum / (double)n - 1) < 0.04);
        firn_image_free(&image);
    }
    firn_points_free(&c.points);
}

/* What rests does not change while something else moves. */
static void what_rests_stays(void **state)
{
    (void)state;
    firn_image frame[2];
    for (int f = 0; f < 2; f++) {
        cloud c = new_cloud(60000);
        put_ball(&c, -0.7, 0.3, 0, 0.3, 0, 1);
        put_ball(&c, 0.8, 0.6 - 0.12 * f, 0, 0.25, 1, 0);
        picture p;
        set_up(&p, &c, 192, 108);
        frame[f] = draw(&p);
        firn_image_tone_map(&frame[f], 0);
        firn_points_free(&c.points);
    }
    uint8_t shown[2][192 * 108 * 3];
    for (int f = 0; f < 2; f++) firn_image_encode(&frame[f], 8, 3, shown[f]);
    double still = 0, moving = 0;
    for (int y = 0; y < 108; y++) {
        for (int x = 0; x < 192 * 3; x++) {
            const int i = y * 192 * 3 + x;
            *(x < 80 * 3 ? &still : &moving) += abs(shown[0][i] - shown[1][i]);
        }
    }
    assert_true(still / (80 * 108 * 3) < 0.3); /* of 255 */
    assert_true(moving / (112 * 108 * 3) > 1);
    for (int f = 0; f < 2; f++) firn_image_free(&frame[f]);
}

/* Brightest difference from the same picture without particles. */
static double visible(const picture *p)
{
    firn_image with = draw(p);
    cloud none = new_cloud(1);
    picture empty = *p;
    empty.input.points = &none.points;
    firn_image without = draw(&empty);
    double most = 0;
    for (int64_t i = 0; i < (int64_t)with.width * with.height * 4; i++) {
        most = fmax(most, fabs((double)with.rgba[i] - (double)without.rgba[i]));
    }
    firn_image_free(&with);
    firn_image_free(&without);
    firn_points_free(&none.points);
    return most;
}

static void one_particle_is_seen(void **state)
{
    (void)state;
    for (const firn_look_row *row = firn_looks; row->name; row++) {
        cloud c = new_cloud(10);
        const double at[3] = {0.1, 0.45, 0.1};
        put(&c, at, 0, 0);
        picture p;
        set_up(&p, &c, 320, 180); /* a particle is 5 pixels wide */
        p.look[0] = row->look;
        p.options.quality = FIRN_DRAFT;
        p.options.samples = 4;
        assert_true(visible(&p) > 0.05);
        firn_points_free(&c.points);
    }
}

/* The particles of a smooth body are all in its skin: none is drawn by itself. */
static void smooth_bodies_have_no_grains(void **state)
{
    (void)state;
    static const char *const looks[] = {"jelly", "water", "wax", "rubber"};
    for (size_t l = 0; l < sizeof looks / sizeof *looks; l++) {
        for (int size = 0; size < 3; size++) {
            cloud c = new_cloud(60000);
            put_ball(&c, 0.1, 0.45, 0.1, 0.1 + 0.12 * size, 0, 0);
            picture p;
            set_up(&p, &c, 64, 36);
            p.look[0] = *firn_look_find(looks[l]);
            firn_cloud made;
            firn_volume volume;
            firn_error error;
            take(firn_cloud_create(&p.input, &p.options, 1, &made, &error), &error);
            take(firn_volume_create(&made, FIRN_RENDER_VOLUME, 1, &volume, &error), &error);
            if (volume.sphere_count) {
                fail_msg("%s, size %d: %lld grains", looks[l], size,
                         (long long)volume.sphere_count);
            }
            firn_volume_free(&volume);
            firn_cloud_free(&made);
            firn_points_free(&c.points);
        }
    }
}

/* A sheet one particle thick is thinner than smoothing and must not vanish. */
static void a_thin_sheet_is_seen(void **state)
{
    (void)state;
    static const char *const names[] = {"water", "jelly", "snow"};
    for (int l = 0; l < 3; l++) {
        cloud c = new_cloud(1000);
        for (int i = -8; i <= 8; i++) {
            for (int j = -8; j <= 8; j++) {
                const double at[3] = {0.1 + SPACING * i, 0.45 + SPACING * j, 0.1};
                put(&c, at, 0, 0);
            }
        }
        picture p;
        set_up(&p, &c, 320, 180);
        p.look[0] = *firn_look_find(names[l]);
        p.options.quality = FIRN_DRAFT;
        assert_true(visible(&p) > 0.05);
        firn_points_free(&c.points);
    }
}

static void z_up_shows_the_same(void **state)
{
    (void)state;
    cloud c = still_life();
    picture p;
    set_up(&p, &c, 96, 54);
    p.input.collider_count = 1;
    firn_image y_up = draw(&p);
    float *P = firn_points_find(&c.points, "P")->data;
    for (int64_t i = 0; i < c.points.count; i++) {
        const float y = P[3 * i + 1];
        P[3 * i + 1] = -P[3 * i + 2];
        P[3 * i + 2] = y;
    }
    double *const turned[] = {p.camera.position, p.camera.target, p.camera.up};
    for (int i = 0; i < 3; i++) {
        const double y = turned[i][1];
        turned[i][1] = -turned[i][2];
        turned[i][2] = y;
    }
    const double ground[3][3] = {{1, 0, 0}, {0, 0, -1}, {0, 1, 0}};
    memcpy(p.collider[0].pose.rotation, ground, sizeof ground);
    p.options.up = 2;
    firn_image z_up = draw(&p);
    assert_true(firn_image_psnr(&y_up, &z_up) > 45);
    firn_image_free(&y_up);
    firn_image_free(&z_up);
    firn_points_free(&c.points);
}

static void transparent_has_alpha(void **state)
{
    (void)state;
    cloud c = still_life();
    picture p;
    set_up(&p, &c, 96, 54);
    p.options.transparent = true;
    firn_image image = draw(&p);
    int64_t clear = 0, solid = 0;
    for (int64_t i = 0; i < 96 * 54; i++) {
        const float *q = image.rgba + 4 * i;
        clear += q[3] == 0;
        solid += q[3] == 1;
        if (q[3] == 0) assert_true(q[0] == 0 && q[1] == 0 && q[2] == 0);
    }
    assert_true(clear > 96 * 54 / 3 && solid > 96 * 54 / 20);
    firn_image_free(&image);
    firn_points_free(&c.points);
}

/* A cache that lacks `material`: the objects of the scene know it. */
static void looks_are_found_by_object(void **state)
{
    (void)state;
    static const int32_t object_look[] = {1, 0, 0, 1};
    cloud c = still_life();
    picture p;
    set_up(&p, &c, 96, 54);
    p.look[0].by_object = p.look[1].by_object = true;
    firn_image told = draw(&p);
    firn_column *material = (firn_column *)firn_points_find(&c.points, "material");
    snprintf(material->name, sizeof material->name, "elsewhere");
    firn_image first = draw(&p);
    p.input.object_look = object_look;
    p.input.object_count = 4;
    firn_image found = draw(&p);
    assert_true(same_bytes(&told, &found));
    assert_false(same_bytes(&told, &first)); /* all of it jelly */
    p.input.object_count = 0; /* objects the scene does not have are like its first */
    firn_image none = draw(&p);
    assert_true(same_bytes(&first, &none));
    firn_image_free(&told);
    firn_image_free(&first);
    firn_image_free(&found);
    firn_image_free(&none);
    firn_points_free(&c.points);
}

static void colors_of_particles_are_taken(void **state)
{
    (void)state;
    cloud c = new_cloud(60000);
    put_ball(&c, 0.1, 0.45, 0.1, 0.4, 0, 0);
    float *color = malloc((size_t)c.points.count * 3 * sizeof *color);
    assert_non_null(color);
    for (int64_t i = 0; i < c.points.count; i++) {
        color[3 * i] = color[3 * i + 2] = 0.02f;
        color[3 * i + 1] = 0.8f;
    }
    picture p;
    set_up(&p, &c, 96, 54);
    p.look[0] = *firn_look_find("plain");
    p.input.color = color;
    firn_image image = draw(&p);
    const float *middle = image.rgba + 4 * (27 * 96 + 48);
    assert_true(middle[1] > 2.5f * middle[0] && middle[1] > 2.5f * middle[2]);
    free(color);
    firn_image_free(&image);
    firn_points_free(&c.points);
}

/* A metal mirrors in its colour: what a golden ball shows of a grey sky is golden. */
static void metals_mirror_in_their_colour(void **state)
{
    (void)state;
    cloud c = new_cloud(60000);
    put_ball(&c, 0.1, 0.45, 0.1, 0.4, 0, 0);
    float of[2][3] = {{0}};
    for (int i = 0; i < 2; i++) {
        picture p;
        set_up(&p, &c, 96, 54);
        p.look[0] = *firn_look_find("steel");
        p.look[0].metal = i;
        memcpy(p.look[0].color, (const double[]){0.9, 0.5, 0.1}, sizeof p.look[0].color);
        for (int a = 0; a < 3; a++) p.light.sun[a] = p.light.zenith[a] = p.light.horizon[a] = 0.5;
        p.input.collider_count = 0;
        firn_image image = draw(&p);
        memcpy(of[i], image.rgba + 4 * (27 * 96 + 48), sizeof of[i]);
        firn_image_free(&image);
    }
    const float plain = of[0][0] / of[0][2], metal = of[1][0] / of[1][2];
    if (!(metal > 5 && metal < 12 && metal > plain)) {
        fail_msg("red to blue %g, of what is no metal %g", (double)metal, (double)plain);
    }
    firn_points_free(&c.points);
}

/* The colour with most light in a picture of a ball of clay of which particles have that attribute. */
static void brightest_of(const char *attribute, float value, bool lit, float rgb[3])
{
    cloud c = new_cloud(60000);
    firn_error error;
    put_ball(&c, 0.1, 0.45, 0.1, 0.4, 0, 0);
    float *column = firn_points_add(&c.points, attribute, FIRN_TYPE_f32, 1, &error)->data;
    for (int64_t i = 0; i < c.points.count; i++) column[i] = value;
    picture p;
    set_up(&p, &c, 96, 54);
    p.look[0] = *firn_look_find("clay");
    for (int a = 0; a < 3 && !lit; a++) p.light.sun[a] = p.light.zenith[a] = p.light.horizon[a] = 0;
    firn_image image = draw(&p);
    rgb[0] = rgb[1] = rgb[2] = 0;
    for (int32_t i = 0; i < 96 * 54; i++) {
        const float *at = image.rgba + 4 * i;
        if (at[0] + at[1] + at[2] > rgb[0] + rgb[1] + rgb[2]) memcpy(rgb, at, 3 * sizeof *rgb);
    }
    firn_image_free(&image);
    firn_points_free(&c.points);
}

static void melt_is_wet_and_hot_things_glow(void **state)
{
    (void)state;
    float dry[3], wet[3], cold[3], red[3], hot[3];
    brightest_of("liquid", 0, true, dry);
    brightest_of("liquid", 1, true, wet);
    assert_true(wet[1] > 1.5f * dry[1]); /* the sun in its skin */
    brightest_of("temperature", 700, false, cold);
    brightest_of("temperature", 1250, false, red);
    brightest_of("temperature", 1450, false, hot);
    assert_true(cold[0] < 1e-3f);
    assert_true(red[0] > 0.05f && red[0] > 3 * red[1] && red[1] > 3 * red[2]);
    assert_true(hot[0] > 3 * red[0] && hot[1] / hot[0] > red[1] / red[0]); /* and yellower */
}

/* Columns of the picture where a ball differs from the background. */
static int width_of(const firn_image *image)
{
    int n = 0;
    for (int x = 0; x < image->width; x++) {
        bool any = false;
        for (int y = 0; y < image->height; y++) {
            any = any || image->rgba[4 * (y * image->width + x) + 3] > 0.02f;
        }
        n += any;
    }
    return n;
}

static void motion_smears_along_itself(void **state)
{
    (void)state;
    cloud c = new_cloud(60000);
    put_ball(&c, 0.1, 0.45, 0.1, 0.2, 0, 1);
    picture p;
    set_up(&p, &c, 192, 108);
    p.options.transparent = true;
    p.input.collider_count = 0;
    firn_image rest = draw(&p);
    p.options.exposed = 0.02;
    firn_image blurred = draw(&p); /* at rest still */
    assert_true(same_bytes(&rest, &blurred));
    firn_image_free(&blurred);
    const firn_camera *k = &p.camera; /* across the picture */
    const double back[2] = {k->position[0] - k->target[0], k->position[2] - k->target[2]};
    const double length = sqrt(back[0] * back[0] + back[1] * back[1]);
    float *v = firn_points_find(&c.points, "v")->data;
    for (int64_t i = 0; i < c.points.count; i++) {
        v[3 * i] = (float)(12 * back[1] / length);
        v[3 * i + 2] = (float)(-12 * back[0] / length);
    }
    blurred = draw(&p);
    assert_true(width_of(&blurred) >= width_of(&rest) + 8);
    double before = 0, after = 0;
    for (int64_t i = 0; i < 192 * 108; i++) {
        before += (double)rest.rgba[4 * i + 3];
        after += (double)blurred.rgba[4 * i + 3];
    }
    assert_true(fabs(after / before - 1) < 0.15);
    firn_image_free(&rest);
    firn_image_free(&blurred);
    firn_points_free(&c.points);
}

/* Files without sizes: spacing is found from the positions. */
static void spacing_is_guessed(void **state)
{
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        cloud c = new_cloud(60000);
        if (kind == 0) {
            put_ball(&c, 0, 0.5, 0, 0.5, 0, 0);
        } else if (kind == 1) { /* moved by up to a third of the way to the next */
            for (int i = 0; i < 8000; i++) {
                double at[3] = {i % 20, i / 20 % 20, i / 400};
                for (int a = 0; a < 3; a++) at[a] = SPACING * (at[a] + 0.67 * random_unit());
                put(&c, at, 0, 0);
            }
        } else if (kind == 2) { /* a stream of single particles, and as much spray */
            for (int i = 0; i < 600; i++) {
                double at[3] = {0, SPACING * i, 0};
                for (int a = 0; a < 3 && i % 2; a++) at[a] = 600 * SPACING * random_unit();
                put(&c, at, 0, 0);
                at[0] += SPACING;
                if (i % 2 == 0) put(&c, at, 0, 0);
            }
        } else { /* a bar, 4 particles thick */
            for (int i = 0; i < 16 * 60; i++) {
                const double at[3] = {SPACING * (i % 4), SPACING * (i / 4 % 4), SPACING * (i / 16)};
                put(&c, at, 0, 0);
            }
        }
        strcpy(firn_points_find(&c.points, "pscale")->name, "other");
        picture p;
        set_up(&p, &c, 64, 36);
        firn_cloud made;
        firn_error error;
        take(firn_cloud_create(&p.input, &p.options, 1, &made, &error), &error);
        const double guess = made.voxel * (double)made.spacing;
        if (!(guess > 0.8 * SPACING && guess < (kind == 2 ? 1.4 : 1.3) * SPACING)) {
            fail_msg("%d: %g of %g", kind, guess, SPACING);
        }
        firn_cloud_free(&made);
        firn_points_free(&c.points);
    }
}

/* The same material, spread over a hundred times its size, takes memory of the same order. */
static void memory_follows_the_material(void **state)
{
    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip();
#endif
    enum { BALLS = 27, MEGABYTES = 150 };
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        cloud c = new_cloud(200000);
        for (int i = 0; i < BALLS; i++) {
            put_ball(&c, 40 * (i % 3), 40 * (i / 3 % 3), 40 * (i / 9), 0.3, i, i % 2);
        }
        for (int i = 0; i < 20000; i++) { /* and spray */
            const double at[3] = {80 * random_unit(), 80 * random_unit(), 80 * random_unit()};
            put(&c, at, 0, 1);
        }
        struct rusage before, after;
        getrusage(RUSAGE_SELF, &before);
        picture p;
        set_up(&p, &c, 96, 54);
        p.options.quality = FIRN_DRAFT;
        firn_image image;
        firn_error error;
        if (firn_render(&p.input, &p.options, &image, &error) != FIRN_OK) _exit(2);
        getrusage(RUSAGE_SELF, &after);
        _exit(after.ru_maxrss - before.ru_maxrss > 1024L * MEGABYTES);
    }
    int code = -1;
    assert_int_equal(waitpid(child, &code, 0), child);
    assert_int_equal(code, 0);
}

static void nonsense_is_refused_or_harmless(void **state)
{
    (void)state;
    cloud c = still_life();
    float *P = firn_points_find(&c.points, "P")->data;
    P[0] = NAN;
    P[4] = INFINITY;
    P[8] = 1e30f;
    P[9] = -1e12f;
    picture p;
    set_up(&p, &c, 64, 36);
    p.options.quality = FIRN_DRAFT;
    firn_image image = draw(&p);
    firn_image_free(&image);
    firn_error error;
    p.options.width = 0;
    assert_int_equal(firn_render(&p.input, &p.options, &image, &error), FIRN_INVALID);
    p.options.width = 64;
    const firn_camera good = p.camera;
    memcpy(p.camera.position, p.camera.target, sizeof p.camera.position);
    assert_int_equal(firn_render(&p.input, &p.options, &image, &error), FIRN_INVALID);
    p.camera = good;
    firn_points bare = {.count = 3};
    p.input.points = &bare;
    assert_int_equal(firn_render(&p.input, &p.options, &image, &error), FIRN_INVALID);
    assert_non_null(strstr(error.message, "P"));
    firn_points_free(&c.points);
    cloud none = new_cloud(1);
    p.input.points = &none.points;
    image = draw(&p); /* an empty frame is a picture of the ground */
    firn_image_free(&image);
    firn_points_free(&none.points);
}

static void presets_have_looks(void **state)
{
    (void)state;
    static const char *const known[][2] = {
        {"snow_wet", "snow"}, {"wet_sand", "sand"}, {"jelly", "jelly"},
        {"honey", "honey"},   {"steel", "steel"},   {"chocolate", "chocolate"},
        {"glass", "glass"},   {"solder", "solder"}, {"gelatine", "gelatine"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        assert_string_equal(firn_look_of(firn_preset_find(known[i][0]))->name, known[i][1]);
    }
    const firn_preset *p;
    for (int32_t i = 0; (p = firn_preset_get(i)); i++) { /* puddles of several objects are one */
        if (firn_law_get_info(p->law).melts) assert_false(firn_look_of(p)->by_object);
    }
    for (const firn_look_row *row = firn_looks; row->name; row++) {
        assert_string_equal(row->look.name, row->name);
        for (int i = 1; firn_section_look.rows[i].name; i++) { /* within their own rows' ranges */
            const firn_param *r = &firn_section_look.rows[i];
            const double *v = (const double *)((const char *)&row->look + r->offset);
            for (int a = 0; a < (r->kind == FIRN_VECTOR ? 3 : r->kind == FIRN_REAL); a++) {
                assert_true(v[a] >= r->least && v[a] <= r->most);
            }
        }
    }
    assert_null(firn_look_find("gold"));
}

/* ---- shapes ---- */

enum { WIDE = 96, HIGH = 72 };

/* A shape of around half a metre, turned; large enough to be looked at from within if it is a room. */
static firn_collider_def shape_to_draw(int kind, const double eye[3])
{
    static const double outline[] = {-0.3, -0.3, 0.3, -0.2, 0.05, 0, 0.2, 0.3, -0.3, 0.25};
    firn_collider_def def = firn_collider_def_default();
    double normal[3];
    def.shape = (firn_shape_kind)kind;
    memcpy(def.size, (const double[3]){0.3, 0.15, 0.2}, sizeof def.size);
    memcpy(def.rotation, (const double[4]){0.9, 0.3, 0.1, 0.2}, sizeof def.rotation);
    def.points = outline;
    def.point_count = 5;
    def.mesh = octahedron(0.35);
    def.compound = two_boxes(0.35);
    if (kind == FIRN_ROUNDED_BOX) def.round = 0.05;
    if (firn_shape_distance(&def, 3, eye, normal) < 0) {
        for (int a = 0; a < 3; a++) def.size[a] *= 100;
    }
    return def;
}

/* Whether a pixel and those up to two away all are, or all are not: outlines pass between. */
static bool all_around(bool seen[HIGH][WIDE], int x, int y, bool are)
{
    for (int i = 0; i < 25; i++) {
        if (seen[y + i / 5 - 2][x + i % 5 - 2] != are) return false;
    }
    return true;
}

/* The outline again, from random points of the shape. */
static void every_shape_is_drawn_where_it_is(void **state)
{
    (void)state;
    for (int kind = 0; kind < FIRN_SHAPE_COUNT; kind++) {
        static bool seen[HIGH][WIDE];
        memset(seen, 0, sizeof seen);
        cloud c = new_cloud(1);
        picture p;
        set_up(&p, &c, WIDE, HIGH);
        const firn_view_camera wish = firn_view_camera_default();
        const firn_bounds box = {{-0.5, -0.5, -0.5}, {0.5, 0.5, 0.5}};
        p.camera = firn_camera_frame(&wish, &box, 1, 1, (double)WIDE / HIGH, NULL);
        const firn_collider_def def = shape_to_draw(kind, p.camera.position);
        const firn_posed_collider *pose = &p.collider[0].pose;
        firn_collider_pose(&def, 3, 0, &p.collider[0].pose);
        p.input.collider_count = 1;
        p.options.transparent = true;
        p.options.quality = FIRN_DRAFT;
        double deep[3] = {0, -9, 0}, deepest = 0; /* where the one particle hides */
        for (int i = 0; i < 80000; i++) {
            double at[3], normal[3], pixel[2], depth;
            for (int a = 0; a < 3; a++) at[a] = random_unit() - 0.5;
            const double d = firn_collider_distance(pose, 3, at, normal);
            if (d < deepest) memcpy(deep, at, sizeof deep);
            deepest = fmin(d, deepest);
            if (d > 0 || i % 2) { /* to the surface */
                for (int a = 0; a < 3; a++) at[a] -= d * normal[a];
            }
            firn_camera_project(&p.camera, WIDE, HIGH, at, pixel, &depth);
            if (pixel[0] >= 0 && pixel[0] < WIDE && pixel[1] >= 0 && pixel[1] < HIGH) {
                seen[(int)pixel[1]][(int)pixel[0]] = true;
            }
        }
        put(&c, deep, 0, 0);
        firn_image image = draw(&p);
        double low[3], high[3];
        const bool ends = firn_shape_bounds(&def, 3, low, high);
        int drawn = 0;
        for (int i = 0; i < WIDE * HIGH; i++) {
            const int x = i % WIDE, y = i / WIDE;
            const double alpha = (double)image.rgba[4 * i + 3];
            drawn += alpha > 0.9;
            if (x < 2 || y < 2 || x >= WIDE - 2 || y >= HIGH - 2) continue;
            if ((alpha < 0.5 && all_around(seen, x, y, true)) ||
                (ends && alpha > 0.5 && all_around(seen, x, y, false))) {
                fail_msg("%s: alpha %g at %d %d", firn_shape_name(def.shape), alpha, x, y);
            }
        }
        if (drawn < 200) fail_msg("%s: %d pixels", firn_shape_name(def.shape), drawn);
        firn_image_free(&image);
        firn_points_free(&c.points);
    }
}

/* The tree that finds colliders near a ray changes nothing but the time: rays meet, and are let through by, the
 * same with it and without. */
static void many_colliders_are_met_as_few_are(void **state)
{
    (void)state;
    enum { MANY = 500, RAYS = 4000 };
    firn_render_collider *many = calloc(MANY, sizeof *many);
    cloud c = new_cloud(1);
    picture p;
    firn_error error;
    assert_non_null(many);
    set_up(&p, &c, WIDE, HIGH);
    for (int i = 0; i < MANY; i++) {
        firn_collider_def def = firn_collider_def_default();
        def.shape = i % 100 == 7 ? FIRN_PLANE : i % 100 == 8 ? FIRN_INSIDE : FIRN_SPHERE + i % 2;
        for (int a = 0; a < 3; a++) {
            def.position[a] = def.shape == FIRN_PLANE ? -1.2 : 2 * random_unit() - 1;
            def.size[a] = 0.02 + 0.1 * random_unit();
        }
        firn_collider_pose(&def, 3, 0, &many[i].pose);
        many[i].opacity = i % 5 ? 1 : 0.5;
    }
    p.input.collider = many;
    p.input.collider_count = MANY;
    firn_render_world w = {.up = 1, .cloud = {.voxel = 0.02, .spacing = 1}, .eye = {0, 0, 500}};
    take(firn_scenery_create(&w, &p.input, &error), &error);
    assert_non_null(w.tree);
    firn_render_world plain = w;
    plain.tree = NULL;
    int met = 0;
    for (int i = 0; i < RAYS; i++) {
        const vec3 from = v3(120 * (float)random_unit() - 60, 120 * (float)random_unit() - 60, 90);
        const vec3 to = v3(100 * (float)random_unit() - 50, 100 * (float)random_unit() - 50, 0);
        const firn_ray ray = {from, v3_unit(v3_sub(to, from))};
        float t[2] = {0}, light[2], open[2];
        vec3 normal[2] = {0};
        int32_t found[2];
        for (int k = 0; k < 2; k++) {
            const firn_render_world *of = k ? &plain : &w;
            found[k] = firn_scenery_trace(of, ray, 1e6f, i % 2, &t[k], &normal[k]);
            light[k] = firn_scenery_light(of, ray);
            open[k] = firn_scenery_open(of, to, v3(0, 0, 1), -1);
        }
        met += found[0] >= 0;
        if (found[0] != found[1] || memcmp(&t[0], &t[1], sizeof *t) != 0 ||
            memcmp(&normal[0], &normal[1], sizeof *normal) != 0 ||
            memcmp(&light[0], &light[1], sizeof *light) != 0 ||
            memcmp(&open[0], &open[1], sizeof *open) != 0) {
            fail_msg("ray %d: collider %d at %g with the tree, %d at %g", i, found[0], (double)t[0],
                     found[1], (double)t[1]);
        }
    }
    assert_in_range(met, RAYS / 10, RAYS);
    firn_scenery_free(&w);
    free(many);
    firn_points_free(&c.points);
}

/* A tank seen from outside: its floor is solid, its far sides are panes, and what it holds is seen. */
static void a_room_shows_what_it_holds(void **state)
{
    (void)state;
    cloud c = new_cloud(10);
    put(&c, (const double[3]){0, 0.5, 0}, 0, 0);
    picture p;
    set_up(&p, &c, WIDE, HIGH);
    p.camera = (firn_camera){
        .position = {0, 1.5, 4}, .target = {0, 0.3, 0}, .up = {0, 1, 0}, .field_of_view = 0.5};
    firn_collider_def def = firn_collider_def_default();
    def.shape = FIRN_INSIDE;
    for (int a = 0; a < 3; a++) def.size[a] = 0.5;
    def.position[1] = 0.5;
    firn_collider_pose(&def, 3, 0, &p.collider[0].pose);
    p.input.collider_count = 1;
    p.options.transparent = true;
    const struct {
        double at[3];
        double least, most; /* alpha */
    } places[] = {
        {{0.2, 0, 0.1}, 0.95, 1},     /* floor */
        {{0.2, 0.6, -0.5}, 0.1, 0.3}, /* far side */
        {{0, 0, 0.52}, 0, 0.6},       /* in front of it */
        {{0.8, 0.3, 0}, 0, 0},        /* beside it */
    };
    firn_image image = draw(&p);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        double pixel[2], depth;
        firn_camera_project(&p.camera, WIDE, HIGH, places[i].at, pixel, &depth);
        const double alpha = (double)image.rgba[4 * ((int)pixel[1] * WIDE + (int)pixel[0]) + 3];
        if (alpha < places[i].least || alpha > places[i].most) {
            fail_msg("place %zu: alpha %g", i, alpha);
        }
    }
    firn_image_free(&image);
    assert_true(visible(&p) > 0.05);
    firn_points_free(&c.points);
}

/* Flat pictures show the sections. */
static void every_shape_has_a_section(void **state)
{
    (void)state;
    for (int kind = 0; kind < FIRN_SHAPE_COUNT; kind++) {
        if (firn_shape_get((firn_shape_kind)kind)->solid) continue; /* has none */
        cloud c = new_cloud(1);
        put(&c, (const double[3]){0, 0, 0}, 0, 0);
        const firn_collider_def def = shape_to_draw(kind, (const double[3]){0, 0, 5});
        firn_render_collider collider = {.opacity = 1};
        firn_collider_pose(&def, 2, 0, &collider.pose);
        const firn_bounds box = {{-0.5, -0.5, 0}, {0.5, 0.5, 0}};
        firn_flat_input input = {.points = &c.points,
                                 .collider = &collider,
                                 .plane = firn_flat_plane_across(2, 1, 0, 0),
                                 .show = 1u << FIRN_LAYER_COLLIDERS};
        input.window = firn_flat_frame(&input.plane, &box, 0, WIDE, HIGH);
        firn_image blank, image;
        firn_error error;
        take(firn_flat_render(&input, WIDE, HIGH, 1, &blank, &error), &error);
        input.collider_count = 1;
        take(firn_flat_render(&input, WIDE, HIGH, 1, &image, &error), &error);
        for (int i = 0; i < WIDE * HIGH; i++) {
            const double at[3] = {(i % WIDE + 0.5 - WIDE / 2) / input.window.scale,
                                  (HIGH / 2 - i / WIDE - 0.5) / input.window.scale, 0};
            double normal[3];
            const double d = firn_collider_distance(&collider.pose, 2, at, normal);
            const bool drawn = memcmp(image.rgba + 4 * i, blank.rgba + 4 * i, 16) != 0;
            if (fabs(d) * input.window.scale > 3) assert_int_equal(drawn, d < 0);
        }
        firn_image_free(&blank);
        firn_image_free(&image);
        firn_points_free(&c.points);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(png_comes_back),
        cmocka_unit_test(whole_numbers_are_not_dithered),
        cmocka_unit_test(broken_png_is_refused),
        cmocka_unit_test(unwritable_png_leaves_nothing),
        cmocka_unit_test(exr_holds_half_floats),
        cmocka_unit_test(tone_mapping_rises_and_keeps_grey),
        cmocka_unit_test(framing_never_cuts),
        cmocka_unit_test(what_a_scene_gives_is_kept),
        cmocka_unit_test(memory_follows_the_material), /* forks: before threads are made */
        cmocka_unit_test(pictures_look_as_they_did),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(samples_are_finite_and_tame),
        cmocka_unit_test(a_white_furnace_is_white),
        cmocka_unit_test(what_rests_stays),
        cmocka_unit_test(one_particle_is_seen),
        cmocka_unit_test(smooth_bodies_have_no_grains),
        cmocka_unit_test(a_thin_sheet_is_seen),
        cmocka_unit_test(z_up_shows_the_same),
        cmocka_unit_test(transparent_has_alpha),
        cmocka_unit_test(looks_are_found_by_object),
        cmocka_unit_test(metals_mirror_in_their_colour),
        cmocka_unit_test(colors_of_particles_are_taken),
        cmocka_unit_test(melt_is_wet_and_hot_things_glow),
        cmocka_unit_test(motion_smears_along_itself),
        cmocka_unit_test(spacing_is_guessed),
        cmocka_unit_test(nonsense_is_refused_or_harmless),
        cmocka_unit_test(presets_have_looks),
        cmocka_unit_test(every_shape_is_drawn_where_it_is),
        cmocka_unit_test(many_colliders_are_met_as_few_are),
        cmocka_unit_test(a_room_shows_what_it_holds),
        cmocka_unit_test(every_shape_has_a_section),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
