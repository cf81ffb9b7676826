/* Drawing, text, colours, figures and videos: against areas known from geometry, and against pictures
 * kept in test/data. */
#include <sys/stat.h>
#include <unistd.h>

#include "golden.h"
#include "render/pictures.h"
#include "render/flat.h"
#include "worlds.h"

static const double PI = 3.14159265358979323846;
static const firn_paint white = {1, 1, 1, 1};

static firn_image blank(int32_t width, int32_t height)
{
    firn_image image;
    assert_ok(firn_image_create(width, height, &image, &error));
    return image;
}

/* What is painted, in pixels. */
static double area(const firn_image *image)
{
    double sum = 0;
    for (int64_t i = 0; i < (int64_t)image->width * image->height; i++) {
        sum += (double)image->rgba[4 * i + 3];
    }
    return sum;
}

static double most_alpha(const firn_image *image)
{
    double most = 0;
    for (int64_t i = 0; i < (int64_t)image->width * image->height; i++) {
        most = fmax(most, (double)image->rgba[4 * i + 3]);
    }
    return most;
}

/* ---- shapes ---- */

static void discs_have_their_area_wherever_they_are(void **state)
{
    (void)state;
    for (double radius = 0.1; radius < 20; radius *= 1.5) {
        double mean = 0;
        for (int i = 0; i < 16; i++) {
            firn_image image = blank(64, 64);
            firn_draw_disc(&image, 31 + i % 4 * 0.25, 32 + i / 4 * 0.25, radius, white);
            const double a = area(&image), want = PI * radius * radius;
            mean += a / 16;
            assert_close(a, want, (radius < 2 ? 0.15 : 0.03) * want);
            firn_image_free(&image);
        }
        assert_close(mean / (PI * radius * radius), 1, 0.01);
    }
}

static void lines_have_their_area_at_any_angle(void **state)
{
    (void)state;
    const double length = 40;
    for (double width = 0.25; width < 8; width *= 2) {
        for (int i = 0; i < 12; i++) {
            firn_image image = blank(64, 64);
            const double angle = PI * i / 12 + 0.1, dx = cos(angle), dy = sin(angle);
            const double x = 32.3, y = 31.8, half = length / 2;
            const firn_segment line = {x - half * dx, y - half * dy, x + half * dx, y + half * dy};
            firn_draw_lines(&image, &line, 1, width, white);
            /* Round ends; thinner than a pixel is fainter, ends included. */
            const double ends = PI / 4 * (width < 1 ? width : width * width);
            assert_close(area(&image), length * width + ends, 0.03 * (length * width + ends));
            firn_image_free(&image);
        }
    }
}

static void rectangles_cover_pixels_in_part(void **state)
{
    (void)state;
    firn_image image = blank(16, 16);
    firn_draw_rectangle(&image, 3.25, 4.5, 9.75, 6.1, white);
    assert_close(area(&image), 6.5 * 1.6, 1e-5);
    assert_close((double)image.rgba[4 * (4 * 16 + 3) + 3], 0.75 * 0.5, 1e-6);
    firn_image_free(&image);
}

static void arrows_have_the_area_of_shaft_and_head(void **state)
{
    (void)state;
    const double width = 2, length = 50;
    firn_image image = blank(100, 100);
    firn_draw_arrow(&image, (firn_segment){20, 30, 20 + 0.6 * length, 30 + 0.8 * length}, width,
                    white);
    /* The head is 5 widths long and 4 wide; the shaft's round end hides in it. */
    const double want = (length - 5 * width) * width + 0.5 * 20 * width * width + PI / 8 * 4;
    assert_close(area(&image), want, 0.04 * want);
    const int64_t tip = (int64_t)(30 + 0.8 * length - 1) * 100 + (int64_t)(20 + 0.6 * length - 1);
    assert_true((double)image.rgba[4 * tip + 3] > 0.3);
    firn_image_free(&image);
}

static void crossing_lines_are_painted_as_one(void **state)
{
    (void)state;
    firn_image image = blank(32, 32);
    const firn_segment cross[] = {{4, 16, 28, 16}, {16, 4, 16, 28}, {4, 4, 28, 28}};
    firn_draw_lines(&image, cross, 3, 3, (firn_paint){1, 1, 1, 0.5f});
    assert_close(most_alpha(&image), 0.5, 1e-6);
    firn_image_free(&image);
}

static void what_is_outside_is_left_out(void **state)
{
    (void)state;
    firn_image image = blank(8, 8), small = blank(4, 4);
    const double far[] = {-1e9, 1e9, -1e300, INFINITY, NAN};
    for (int i = 0; i < 5; i++) {
        firn_draw_disc(&image, far[i], 4, 3, white);
        firn_draw_lines(&image, &(firn_segment){far[i], 3, far[i], 5}, 1, 2, white);
        firn_draw_arrow(&image, (firn_segment){far[i], 3, far[i], 5}, 2, white);
        firn_draw_rectangle(&image, far[i], 2, far[i], 4, white);
    }
    firn_draw_image(&image, -4, 2, &small);
    firn_draw_image(&image, 8, -4, &small);
    assert_close(area(&image), 0, 0);
    firn_draw_disc(&image, 0, 0, 4, white); /* a quarter of it is inside */
    assert_close(area(&image), 4 * PI, 0.2);
    firn_image_free(&image);
    firn_image_free(&small);
}

static void shrinking_keeps_the_mean(void **state)
{
    (void)state;
    firn_image large = blank(37, 23), small = blank(10, 9);
    uint64_t seed = 7;
    double sum[2] = {0};
    for (int i = 0; i < 37 * 23 * 4; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        large.rgba[i] = (float)(seed >> 40) * 0x1p-24f;
        sum[0] += (double)large.rgba[i] / (37 * 23);
    }
    firn_image_shrink(&large, &small);
    for (int i = 0; i < 10 * 9 * 4; i++) sum[1] += (double)small.rgba[i] / (10 * 9);
    assert_close(sum[1], sum[0], 1e-5 * sum[0]);
    firn_image_free(&large);
    firn_image_free(&small);
}

/* ---- text ---- */

static firn_image letter(char c, double height)
{
    firn_image image = blank(32, 40);
    firn_draw_text(&image, 6, 28, height, (const char[]){c, 0}, white);
    return image;
}

/* Legible: no two characters look alike, not even small. */
static void characters_differ_from_each_other(void **state)
{
    (void)state;
    for (int a = 33; a < 127; a++) {
        for (int b = a + 1; b < 127; b++) {
            firn_image one = letter((char)a, 10), other = letter((char)b, 10);
            double differ = 0;
            for (int i = 3; i < 32 * 40 * 4; i += 4) {
                differ += fabs((double)one.rgba[i] - (double)other.rgba[i]);
            }
            if (differ < 1.5) print_error("%c and %c differ by %g pixels only\n", a, b, differ);
            assert_true(differ >= 1.5);
            firn_image_free(&one);
            firn_image_free(&other);
        }
    }
}

static void text_is_as_wide_as_it_says(void **state)
{
    (void)state;
    const char *text = "speed, m/s 0.0125";
    const double height = 14, width = firn_text_width(text, height);
    firn_image image = blank(300, 40);
    firn_draw_text(&image, 20, 28, height, text, white);
    int first = 300, last = 0;
    for (int i = 0; i < 300 * 40; i++) {
        if ((double)image.rgba[4 * i + 3] < 0.25) continue;
        first = i % 300 < first ? i % 300 : first;
        last = i % 300 > last ? i % 300 : last;
    }
    assert_close(first, 20, 2);
    assert_close(last, 20 + width, 2);
    assert_close(firn_text_width("\xc3\xa9", height), firn_text_width("\xc2\xb5", height), 0);
    firn_image_free(&image);
}

/* ---- pictures kept ---- */

static void text_looks_as_it_did(void **state)
{
    (void)state;
    firn_image image = blank(420, 150);
    firn_draw_rectangle(&image, 0, 0, 420, 150, (firn_paint){0, 0, 0, 1});
    firn_draw_text(&image, 8, 28, 16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ", white);
    firn_draw_text(&image, 8, 58, 16, "abcdefghijklmnopqrstuvwxyz", white);
    firn_draw_text(&image, 8, 88, 16, "0123456789 !\"#$%&'()*+,-./", white);
    firn_draw_text(&image, 8, 118, 16, ":;<=>?@[\\]^_`{|}~", white);
    firn_draw_text(&image, 8, 140, 8, "frame 12   0.458 s   density, kg/m3   1.25e-06", white);
    assert_golden(&image, "text.png", 45);
    firn_image_free(&image);
}

/* ---- colours ---- */

static double distance(const double a[3], const double b[3])
{
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
                (a[2] - b[2]) * (a[2] - b[2]));
}

static void assert_shown(const firn_colormap *map)
{
    for (int i = 0; i < FIRN_COLORMAP_SIZE; i++) {
        for (int c = 0; c < 3; c++) assert_true(map->rgb[i][c] >= 0 && map->rgb[i][c] <= 1);
    }
}

static void steps_of_colour_maps_are_even(void **state)
{
    (void)state;
    for (int kind = FIRN_SEQUENTIAL; kind <= FIRN_DIVERGING; kind++) {
        firn_colormap map;
        firn_colormap_make((firn_colormap_kind)kind, &map);
        assert_shown(&map);
        double before[3], least = INFINITY, most = 0;
        firn_oklab_from_rgb(map.rgb[0], before);
        for (int i = 1; i < FIRN_COLORMAP_SIZE; i++) {
            double lab[3];
            firn_oklab_from_rgb(map.rgb[i], lab);
            const double step = distance(lab, before);
            const bool middle = kind == FIRN_DIVERGING && i == FIRN_COLORMAP_SIZE / 2;
            least = middle ? least : fmin(least, step); /* one step turns round at white */
            most = fmax(most, step);
            /* Brighter all the way, or up to the middle and down from it. */
            if (kind == FIRN_SEQUENTIAL || i < FIRN_COLORMAP_SIZE / 2) {
                assert_true(lab[0] > before[0]);
            } else if (!middle) {
                assert_true(lab[0] < before[0]);
            }
            memcpy(before, lab, sizeof before);
        }
        assert_at_most(most, 1.02 * least);
    }
}

static void sequential_maps_cover_most_of_the_lightness(void **state)
{
    (void)state;
    firn_colormap map;
    double dark[3], light[3];
    firn_colormap_make(FIRN_SEQUENTIAL, &map);
    firn_oklab_from_rgb(map.rgb[0], dark);
    firn_oklab_from_rgb(map.rgb[FIRN_COLORMAP_SIZE - 1], light);
    assert_true(light[0] - dark[0] > 0.6);
}

static void categories_are_far_apart(void **state)
{
    (void)state;
    firn_colormap map;
    firn_colormap_make(FIRN_CATEGORICAL, &map);
    assert_shown(&map);
    for (int i = 0; i < 12; i++) {
        for (int j = i + 1; j < 12; j++) {
            double a[3], b[3];
            firn_oklab_from_rgb(map.rgb[i], a);
            firn_oklab_from_rgb(map.rgb[j], b);
            if (distance(a, b) < 0.06) print_error("%d and %d are alike\n", i, j);
            assert_true(distance(a, b) >= 0.06);
        }
    }
}

/* Particles in a row, with what the test needs. */
static firn_points row_of(int64_t count)
{
    firn_points points = {.count = count};
    firn_error error = {0};
    float *P = firn_points_add(&points, "P", FIRN_TYPE_f32, 3, &error)->data;
    for (int64_t i = 0; i < count; i++) P[3 * i] = (float)i;
    return points;
}

static void speed_and_volume_are_made_of_what_there_is(void **state)
{
    (void)state;
    firn_points points = row_of(3);
    firn_error why = {0};
    float *v = firn_points_add(&points, "v", FIRN_TYPE_f32, 3, &why)->data;
    memcpy(v, (float[]){3, 4, 0, 0, 0, 0, 1, 2, 2}, 9 * sizeof *v);
    float *F = firn_points_add(&points, "F", FIRN_TYPE_f32, 9, &why)->data;
    memcpy(F + 9, (float[]){2, 0, 0, 1, 3, 0, 0, 0, 0.5}, 9 * sizeof *F);
    firn_coloring c;
    float *value = NULL;
    assert_ok(firn_coloring_make("speed", -1, &c, &error));
    assert_ok(firn_coloring_values(&c, &points, &value, &error));
    assert_close((double)value[0], 5, 1e-6);
    assert_close((double)value[2], 3, 1e-6);
    free(value);
    assert_ok(firn_coloring_make("J", -1, &c, &error));
    assert_int_equal(c.kind, FIRN_DIVERGING);
    assert_ok(firn_coloring_values(&c, &points, &value, &error));
    assert_close((double)value[1], 3, 1e-6);
    free(value);
    assert_ok(firn_coloring_make("temperature", -1, &c, &error));
    assert_int_equal(firn_coloring_values(&c, &points, &value, &why), FIRN_INVALID);
    assert_string_equal(why.message,
                        "there is no attribute \"temperature\"; there are P, v, F, speed; only "
                        "scenes with heat have it");
    firn_points_free(&points);
}

static void automatic_ranges_pass_over_a_few_strays(void **state)
{
    (void)state;
    float value[1000];
    for (int i = 0; i < 1000; i++) value[i] = (float)(1 + 0.001 * i);
    value[500] = 1e6f;
    value[501] = NAN;
    firn_coloring c;
    assert_ok(firn_coloring_make("density", -1, &c, &error));
    firn_coloring_extend(&c, value, 1000);
    firn_coloring_settle(&c);
    assert_close(c.low, 1, 0.01);
    assert_close(c.high, 2, 0.01);
    assert_ok(firn_coloring_make("J", -1, &c, &error)); /* even about 1 */
    firn_coloring_extend(&c, value, 1000);
    firn_coloring_settle(&c);
    assert_close(c.low + c.high, 2, 1e-9);
    float rgb[3], middle[3];
    firn_coloring_apply(&c, (float[]){1}, 1, rgb);
    firn_colormap_at(&c.map, 0.5, middle);
    assert_memory_equal(rgb, middle, sizeof rgb);
}

/* ---- figures ---- */

static void scale_bars_are_round_numbers(void **state)
{
    (void)state;
    for (double most = 1e-7; most < 1e7; most *= 1.37) {
        const double r = firn_round_below(most);
        assert_true(r <= most * (1 + 1e-12) && r > most / 2.6);
        const double digit = r / pow(10, floor(log10(r) + 1e-9));
        assert_true(fabs(digit - 1) < 1e-6 || fabs(digit - 2) < 1e-6 || fabs(digit - 5) < 1e-6);
    }
}

/* A swirl of particles with a grid, over a ground and a disc. */
static firn_image figure(unsigned show, int32_t threads)
{
    enum { SIDE = 24 };
    firn_error why = {0};
    firn_points points = row_of(SIDE * SIDE), grid = row_of(12 * 12);
    float *P = firn_points_find(&points, "P")->data;
    float *v = firn_points_add(&points, "v", FIRN_TYPE_f32, 3, &why)->data;
    float *color = calloc(SIDE * SIDE, 3 * sizeof *color);
    firn_colormap map;
    firn_colormap_make(FIRN_SEQUENTIAL, &map);
    for (int i = 0; i < SIDE * SIDE; i++) {
        const double x = (i % SIDE + 0.5) / SIDE - 0.5, y = (int)(i / SIDE) / (double)SIDE;
        P[3 * i] = (float)x;
        P[3 * i + 1] = (float)y;
        v[3 * i] = (float)(0.5 - y);
        v[3 * i + 1] = (float)x;
        firn_colormap_at(&map, hypot(x, 0.5 - y) / 0.7, color + 3 * i);
    }
    float *N = firn_points_find(&grid, "P")->data;
    float *mass = firn_points_add(&grid, "mass", FIRN_TYPE_f32, 1, &why)->data;
    float *force = firn_points_add(&grid, "force", FIRN_TYPE_f32, 3, &why)->data;
    int32_t *class = firn_points_add(&grid, "cell_class", FIRN_TYPE_i32, 1, &why)->data;
    for (int i = 0; i < 12 * 12; i++) {
        class[i] = i % 12 == 0 ? FIRN_CELL_COLLIDER : i % 12 < 8 ? FIRN_CELL_INTERIOR : 0;
        N[3 * i] = (float)(-0.55 + 0.1 * (i / 12));
        N[3 * i + 1] = (float)(-0.05 + 0.1 * (i % 12));
        mass[i] = i / 12 % 11 && i % 12 % 11 ? 1 : 0.3f;
        force[3 * i + 1] = (float)(i % 12 == 0 ? -2 : 0.1);
    }
    firn_collider_def ground = firn_collider_def_default(), bump = ground;
    bump.shape = FIRN_SPHERE;
    bump.size[0] = 0.2;
    bump.position[0] = 0.8;
    firn_render_collider collider[2] = {0};
    firn_collider_pose(&ground, 2, 0, &collider[0].pose);
    firn_collider_pose(&bump, 2, 0, &collider[1].pose);
    firn_bounds bounds = firn_bounds_empty();
    firn_bounds_add(&bounds, &points);
    firn_bounds_add_point(&bounds, (double[]){1, 0, 0});
    firn_flat_input input = {.points = &points,
                             .grid = &grid,
                             .color = color,
                             .collider = collider,
                             .collider_count = 2,
                             .plane = firn_flat_plane_across(2, 1, 0, 0),
                             .radius = 0.02,
                             .show = show};
    input.window = firn_flat_frame(&input.plane, &bounds, 0.2, 320, 180);
    firn_layer_extend(&input.extent, &points, &grid);
    firn_image image;
    assert_ok(firn_flat_render(&input, 320, 180, threads, &image, &error));
    firn_points_free(&points);
    firn_points_free(&grid);
    free(color);
    return image;
}

static void figures_look_as_they_did(void **state)
{
    (void)state;
    firn_image image = figure(~0u, 2);
    assert_golden(&image, "figure.png", 40);
    firn_image_free(&image);
}

static void every_layer_can_be_switched_by_itself(void **state)
{
    (void)state;
    firn_image none = figure(0, 1);
    for (int layer = 0; layer < FIRN_LAYER_COUNT; layer++) {
        if (layer == FIRN_LAYER_GRID_VELOCITY) continue; /* this grid has no v */
        if (layer == FIRN_LAYER_LEGEND || layer == FIRN_LAYER_CAPTION) continue; /* written later */
        firn_image one = figure(1u << layer, 1), rest = figure(~(1u << layer), 1);
        firn_image all = figure(~0u, 1);
        const double shown = firn_image_psnr(&one, &none), hidden = firn_image_psnr(&rest, &all);
        if (shown > 60 || hidden > 60) print_error("%s: no effect\n", firn_layer_names()[layer]);
        assert_true(shown < 60 && hidden < 60);
        firn_image_free(&one);
        firn_image_free(&rest);
        firn_image_free(&all);
    }
    firn_image_free(&none);
}

static void figures_are_the_same_at_any_thread_count(void **state)
{
    (void)state;
    firn_image one = figure(~0u, 1);
    for (int threads = 2; threads <= 7; threads += threads == 2 ? 1 : 4) {
        firn_image other = figure(~0u, threads);
        assert_memory_equal(one.rgba, other.rgba, 320 * 180 * 4 * sizeof *one.rgba);
        firn_image_free(&other);
    }
    firn_image_free(&one);
}

static void framing_never_cuts_the_action(void **state)
{
    (void)state;
    const firn_flat_plane plane = firn_flat_plane_across(2, 1, 0, 0);
    for (int i = 0; i < 40; i++) {
        firn_bounds b = firn_bounds_empty();
        const double low[3] = {-1.0 - i, -0.3 * i, 0},
                     high[3] = {0.1 + 3.0 * (i % 5), 7.0 - i % 6, 0};
        firn_bounds_add_point(&b, low);
        firn_bounds_add_point(&b, high);
        const firn_flat_window w = firn_flat_frame(&plane, &b, 0.1, 400, 100 + 40 * i);
        const double reach_x = 0.45 * 400 / w.scale, reach_y = 0.45 * (100 + 40 * i) / w.scale;
        assert_true(w.across - reach_x <= b.low[0] + 1e-9 &&
                    w.across + reach_x >= b.high[0] - 1e-9);
        assert_true(w.upward - reach_y <= b.low[1] + 1e-9 &&
                    w.upward + reach_y >= b.high[1] - 1e-9);
    }
}

/* ---- videos ---- */

static void contact_sheets_spread_over_all_pictures(void **state)
{
    (void)state;
    for (int count = 2; count < 60; count++) {
        for (int cells = 1; cells <= 16; cells++) {
            const firn_pictures pictures = {.def = {.columns = cells, .rows = 1, .count = count},
                                            .has_sheet = true};
            int used = 0, last = -1, gap = 0;
            for (int i = 0; i < count; i++) {
                if (!firn_pictures_wants(&pictures, i)) continue;
                used++;
                if (last >= 0 && i - last > gap) gap = i - last;
                last = i;
            }
            assert_int_equal(used, count < cells ? count : cells);
            assert_int_equal(last, count - 1);
            if (cells > 1) {
                assert_true(firn_pictures_wants(&pictures, 0));
                assert_true(gap <= (count - 1) / (used - 1) + 1);
            }
        }
    }
}

static void names_of_outputs_say_what_they_are(void **state)
{
    (void)state;
    const struct {
        const char *path;
        firn_status want;
    } rows[] = {{"a.$F4.png", FIRN_OK}, {"a.png", FIRN_OK},      {"a.mp4", FIRN_OK},
                {"a.webm", FIRN_OK},    {"a.jpg", FIRN_INVALID}, {"png", FIRN_INVALID},
                {".mp4", FIRN_INVALID}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        firn_error error = {0};
        const firn_pictures_def def = {.path = {rows[i].path}, .path_count = 1};
        assert_int_equal(firn_pictures_check(&def, &error), rows[i].want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(discs_have_their_area_wherever_they_are),
        cmocka_unit_test(lines_have_their_area_at_any_angle),
        cmocka_unit_test(rectangles_cover_pixels_in_part),
        cmocka_unit_test(arrows_have_the_area_of_shaft_and_head),
        cmocka_unit_test(crossing_lines_are_painted_as_one),
        cmocka_unit_test(what_is_outside_is_left_out),
        cmocka_unit_test(shrinking_keeps_the_mean),
        cmocka_unit_test(characters_differ_from_each_other),
        cmocka_unit_test(text_is_as_wide_as_it_says),
        cmocka_unit_test(text_looks_as_it_did),
        cmocka_unit_test(steps_of_colour_maps_are_even),
        cmocka_unit_test(sequential_maps_cover_most_of_the_lightness),
        cmocka_unit_test(categories_are_far_apart),
        cmocka_unit_test(speed_and_volume_are_made_of_what_there_is),
        cmocka_unit_test(automatic_ranges_pass_over_a_few_strays),
        cmocka_unit_test(scale_bars_are_round_numbers),
        cmocka_unit_test(figures_look_as_they_did),
        cmocka_unit_test(every_layer_can_be_switched_by_itself),
        cmocka_unit_test(figures_are_the_same_at_any_thread_count),
        cmocka_unit_test(framing_never_cuts_the_action),
        cmocka_unit_test(contact_sheets_spread_over_all_pictures),
        cmocka_unit_test(names_of_outputs_say_what_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
