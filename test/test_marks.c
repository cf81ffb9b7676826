/* Layers over pictures in perspective: what is seen, where it is, and what hides it. */
#include "render/marks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/blocks.h"
#include "worlds.h"

enum { WIDTH = 320, HEIGHT = 180 };

/* Looks along -z at the origin from 4 m away; the picture is 2 m high there. */
static firn_camera front(void)
{
    return (firn_camera){
        .position = {0, 0, 4}, .up = {0, 1, 0}, .field_of_view = 2 * atan(1.0 / 4)};
}

static firn_points points_of(int64_t count, const char *vector)
{
    firn_points points = {.count = count};
    firn_error error = {0};
    assert_non_null(firn_points_add(&points, "P", FIRN_TYPE_f32, 3, &error));
    assert_non_null(firn_points_add(&points, vector, FIRN_TYPE_f32, 3, &error));
    return points;
}

static float *column(const firn_points *points, const char *name)
{
    return firn_points_find(points, name)->data;
}

/* Draws on nothing, with a surface at that depth in every pixel. */
static firn_image draw(firn_marks_input input, double depth)
{
    static firn_sight sight[WIDTH * HEIGHT];
    const firn_camera camera = front();
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        sight[i] = (firn_sight){.depth = (float)depth, .collider = -1};
    }
    if (!input.sight) input.sight = sight;
    input.camera = &camera;
    firn_image image;
    assert_ok(firn_image_create(WIDTH, HEIGHT, &image, &error));
    assert_ok(firn_marks_draw(&input, &image, &error));
    return image;
}

/* Pixels painted within a distance of a place. */
static double painted(const firn_image *image, double x, double y, double radius)
{
    double sum = 0;
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        if (hypot(i % WIDTH + 0.5 - x, i / WIDTH + 0.5 - y) > radius) continue;
        sum += (double)image->rgba[4 * i + 3];
    }
    return sum;
}

static double painted_in_all(const firn_image *image) { return painted(image, 0, 0, 1e9); }

static void nodes_are_where_the_camera_sees_them(void **state)
{
    (void)state;
    firn_points grid = points_of(2, "v");
    const float *P = memcpy(column(&grid, "P"), (float[]){0.5f, 0.5f, 0, -1, 0, 0}, 24);
    assert_non_null(P);
    const firn_marks_input input = {
        .points = &grid, .grid = &grid, .cell = 0.2, .show = 1u << FIRN_LAYER_GRID};
    firn_image image = draw(input, INFINITY);
    const double scale = HEIGHT / 2.0; /* pixels per metre at the target */
    const double first = painted(&image, WIDTH / 2.0 + 0.5 * scale, HEIGHT / 2.0 - 0.5 * scale, 5);
    const double second = painted(&image, WIDTH / 2.0 - scale, HEIGHT / 2.0, 5);
    assert_true(first > 5 && second > 5);
    assert_close(painted_in_all(&image), first + second, 1e-6);
    firn_image_free(&image);
    firn_points_free(&grid);
}

static void cells_are_seen_at_their_middles(void **state)
{
    (void)state;
    firn_points grid = points_of(3, "v");
    firn_error error = {0};
    memcpy(column(&grid, "P"), (float[]){0.5f, 0.5f, 0, -1, 0, 0, 0, -0.5f, 0}, 36);
    int32_t *class = firn_points_add(&grid, "cell_class", FIRN_TYPE_i32, 1, &error)->data;
    memcpy(class, (int32_t[]){FIRN_CELL_INTERIOR, FIRN_CELL_COLLIDER, FIRN_CELL_EMPTY}, 12);
    const firn_marks_input input = {
        .points = &grid, .grid = &grid, .cell = 0.2, .show = 1u << FIRN_LAYER_CELLS};
    firn_image image = draw(input, INFINITY);
    const double scale = HEIGHT / 2.0 * 4 / 3.9; /* pixels per metre at the middles */
    const double first = painted(&image, WIDTH / 2.0 + 0.6 * scale, HEIGHT / 2.0 - 0.6 * scale, 6);
    const double second = painted(&image, WIDTH / 2.0 - 0.9 * scale, HEIGHT / 2.0 - 0.1 * scale, 6);
    assert_true(first > 5 && second > 5);
    assert_close(painted_in_all(&image), first + second, 1e-6); /* the empty one is left out */
    firn_image_free(&image);
    firn_points_free(&grid);
}

static void surfaces_hide_what_is_behind_them(void **state)
{
    (void)state;
    firn_points grid = points_of(1, "v");
    column(&grid, "v")[0] = 1;
    const firn_layer_extent extent = {.speed = 1};
    const unsigned layers[] = {1u << FIRN_LAYER_GRID, 1u << FIRN_LAYER_GRID_VELOCITY,
                               1u << FIRN_LAYER_VELOCITY, 1u << FIRN_LAYER_BLOCKS};
    for (int i = 0; i < 4; i++) {
        const firn_marks_input input = {
            .points = &grid, .grid = &grid, .cell = 0.1, .extent = extent, .show = layers[i]};
        /* The node is at 4 m, its block reaches from 3.6 to 4. */
        const double depth[] = {INFINITY, 4.01, 3.96, 3.94, 3.5};
        for (int d = 0; d < 5; d++) {
            firn_image image = draw(input, depth[d]);
            const bool seen = i < 3 ? d < 3 : d < 4;
            if ((painted_in_all(&image) > 0) != seen) {
                print_error("layer %d, surface at %g\n", i, depth[d]);
                fail();
            }
            firn_image_free(&image);
        }
    }
    firn_points_free(&grid);
}

static void arrows_point_as_vectors_in_space_do(void **state)
{
    (void)state;
    firn_points points = points_of(1, "v");
    const firn_layer_extent extent = {.speed = 2};
    const firn_marks_input input = {
        .points = &points, .cell = 0.1, .extent = extent, .show = 1u << FIRN_LAYER_VELOCITY};
    const double reach = firn_layer_arrow_reach(HEIGHT), x = WIDTH / 2.0, y = HEIGHT / 2.0;
    const struct {
        float v[3];
        double x, y; /* where the tip is, pixels from the tail */
    } cases[] = {{{2, 0, 0}, reach, 0}, {{0, 2, 0}, 0, -reach}, {{-1, 0, 0}, -reach / 2, 0}};
    for (int i = 0; i < 3; i++) {
        memcpy(column(&points, "v"), cases[i].v, sizeof cases[i].v);
        firn_image image = draw(input, INFINITY);
        assert_true(painted(&image, x + cases[i].x / 2, y + cases[i].y / 2, 2) > 1);
        assert_true(painted(&image, x + 0.9 * cases[i].x, y + 0.9 * cases[i].y, 2) > 1);
        assert_close(painted(&image, x - 0.5 * cases[i].x, y - 0.5 * cases[i].y, 2), 0, 1e-6);
        firn_image_free(&image);
    }
    memcpy(column(&points, "v"), (float[]){0, 0, 2}, 12); /* towards the eye */
    firn_image image = draw(input, INFINITY);
    assert_close(painted_in_all(&image), 0, 1e-6);
    firn_image_free(&image);
    firn_points_free(&points);
}

/* However many particles there are, arrows leave most of the picture free. */
static void arrows_thin_out(void **state)
{
    (void)state;
    double part[2];
    for (int k = 0; k < 2; k++) {
        const int64_t count = k ? 200000 : 2000;
        firn_points points = points_of(count, "v");
        for (int64_t i = 0; i < count; i++) {
            float *P = column(&points, "P") + 3 * i;
            P[0] = (float)(3 * firn_layer_chance((uint64_t)(3 * i)) - 1.5);
            P[1] = (float)(2 * firn_layer_chance((uint64_t)(3 * i + 1)) - 1);
            column(&points, "v")[3 * i] = 1;
        }
        const firn_marks_input input = {.points = &points,
                                        .cell = 0.1,
                                        .extent = {.speed = 4},
                                        .show = 1u << FIRN_LAYER_VELOCITY};
        firn_image image = draw(input, INFINITY);
        part[k] = painted_in_all(&image) / (WIDTH * HEIGHT);
        firn_image_free(&image);
        firn_points_free(&points);
    }
    assert_true(part[0] > 0.02 && part[0] < 0.4);
    assert_close(part[1] / part[0], 1, 0.25);
}

static void outlines_lie_where_colliders_end(void **state)
{
    (void)state;
    static firn_sight sight[WIDTH * HEIGHT];
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        const int x = i % WIDTH, y = i / WIDTH;
        const bool inside = x >= 100 && x < 200 && y >= 50 && y < 120;
        sight[i] = (firn_sight){.depth = 1, .collider = -1, .collider_depth = 5};
        if (!inside) continue;
        sight[i].collider = 0;
        sight[i].normal[x < 150 ? 0 : 1] = 1; /* a crease in the middle */
    }
    const firn_marks_input input = {.sight = sight, .cell = 0.1, .show = 1u << FIRN_LAYER_OUTLINES};
    firn_image image = draw(input, 0);
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        const int x = i % WIDTH, y = i / WIDTH;
        const bool upright =
            (abs(x - 100) < 3 || abs(x - 200) < 3 || abs(x - 150) < 3) && y > 46 && y < 123;
        const bool level = (abs(y - 50) < 3 || abs(y - 120) < 3) && x > 96 && x < 203;
        if (!upright && !level) assert_true(image.rgba[4 * i + 3] == 0);
    }
    const int at[][2] = {{99, 80}, {199, 80}, {149, 80}, {130, 49}, {170, 119}};
    for (int k = 0; k < 5; k++) {
        assert_true(image.rgba[4 * (at[k][1] * WIDTH + at[k][0]) + 3] > 0.5f);
    }
    firn_image_free(&image);
}

static void blocks_have_their_edges_once(void **state)
{
    (void)state;
    assert_int_equal(FIRN_GRID_BLOCK, FIRN_BLOCK);
    const struct {
        int count, dimension;
        float node[3][3];
        int normal;
        double offset;
        int64_t edges;
    } cases[] = {
        {1, 3, {{0, 0, 0}}, -1, 0, 12},
        {2, 3, {{0, 0, 0}, {3, 3, 3}}, -1, 0, 12},  /* the same block */
        {2, 3, {{0, 0, 0}, {-1, 0, 0}}, -1, 0, 20}, /* neighbours share a face */
        {3, 3, {{0, 0, 0}, {4, 0, 0}, {0, 4, 0}}, -1, 0, 28},
        {2, 3, {{0, 0, 0}, {0, 0, 4}}, 2, 4.5, 12}, /* one of them is in the slice */
        {1, 2, {{1, 1, 0}}, -1, 0, 4},
        {2, 2, {{1, 1, 0}, {5, 1, 0}}, -1, 0, 7},
    };
    const double spacing = 0.1;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        firn_points grid = points_of(cases[i].count, "v");
        for (int k = 0; k < 3 * cases[i].count; k++) {
            column(&grid, "P")[k] = (float)spacing * cases[i].node[k / 3][k % 3];
        }
        firn_block_edge *edge;
        int64_t count;
        const firn_block_choice choice = {cases[i].dimension, cases[i].normal,
                                          spacing * cases[i].offset};
        assert_ok(firn_grid_block_edges(&grid, spacing, choice, &edge, &count, &error));
        assert_int_equal(count, cases[i].edges);
        free(edge);
        firn_points_free(&grid);
    }
    const firn_block_edge edge = {{-1, 2, 0}, 1};
    double from[3], to[3];
    firn_block_edge_ends(&edge, spacing, from, to);
    assert_close(from[0], -0.4, 1e-12);
    assert_close(from[1], 0.8, 1e-12);
    assert_close(to[1], 1.2, 1e-12);
    assert_close(to[0], -0.4, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_are_where_the_camera_sees_them),
        cmocka_unit_test(cells_are_seen_at_their_middles),
        cmocka_unit_test(surfaces_hide_what_is_behind_them),
        cmocka_unit_test(arrows_point_as_vectors_in_space_do),
        cmocka_unit_test(arrows_thin_out),
        cmocka_unit_test(outlines_lie_where_colliders_end),
        cmocka_unit_test(blocks_have_their_edges_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
