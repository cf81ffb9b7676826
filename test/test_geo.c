/* Houdini's points: files made elsewhere read as they were made, what we write reads back the
 * same in every form, and broken files are refused without harm.
 *
 * The samples in test/data hold the same five points in five ways. Files that Houdini writes and
 * we do not (packed pages, tagged numbers, the other byte order) are put together here byte by
 * byte. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <blosc.h>
#include <cmocka.h>

#include "io/geo.h"

/* --- Files ----------------------------------------------------------------------------------- */

static char folder[] = "/tmp/firn_geo_XXXXXX";

static const char *path_of(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static const char *const samples[] = {"classic_v5.geo", "classic_v5.bgeo", "modern.geo",
                                      "modern.bgeo", "modern.bgeo.sc"};
enum { SAMPLES = sizeof samples / sizeof samples[0] };

static const char *sample_path(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", FIRN_TEST_DATA, name);
    return path;
}

static firn_bytes bytes_of(const char *path)
{
    firn_bytes bytes;
    firn_error error = {0};
    if (firn_bytes_read(path, &bytes, &error) != FIRN_OK) fail_msg("%s", error.message);
    return bytes;
}

static void save(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static firn_points read_back(const char *path)
{
    firn_points points;
    firn_error error = {0};
    if (firn_points_read(path, &points, &error) != FIRN_OK) fail_msg("%s", error.message);
    return points;
}

static void write_out(const char *path, const firn_points *points, firn_write_options options)
{
    firn_error error = {0};
    options.frame = NAN;
    if (firn_points_write(path, points, &options, &error) != FIRN_OK) fail_msg("%s", error.message);
}

/* The status of reading these bytes, in a block of just their size; `points` may be NULL. */
static firn_status status_of(const void *data, size_t size, firn_points *points, firn_error *error)
{
    firn_points own = {0};
    firn_error ignored = {0};
    const firn_bytes bytes = {malloc(size ? size : 1), size};
    assert_non_null(bytes.data);
    memcpy(bytes.data, data, size);
    const firn_status st = firn_geo_read(&bytes, &own, error ? error : &ignored);
    free(bytes.data);
    if (points && st == FIRN_OK) {
        *points = own;
    } else {
        firn_points_free(&own);
    }
    return st;
}

/* Refused as wrong, not for want of memory, and saying this. */
static void assert_refused(const void *data, size_t size, const char *why)
{
    firn_error error = {0};
    const firn_status st = status_of(data, size, NULL, &error);
    if (st != FIRN_INVALID || !strstr(error.message, why)) {
        print_error("status %d, \"%s\"; expected to read \"%s\"\n", st, error.message, why);
        fail();
    }
}

/* --- Points ---------------------------------------------------------------------------------- */

static uint64_t random_state = 1;

static uint64_t random_bits(void)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return random_state >> 16 ^ random_state << 24;
}

static firn_column *add(firn_points *points, const char *name, firn_type type, int32_t components)
{
    firn_error error = {0};
    firn_column *column = firn_points_add(points, name, type, components, &error);
    if (!column) fail_msg("%s", error.message);
    return column;
}

static bool is_float(firn_type type) { return type <= FIRN_TYPE_f64; }

/* Edges first, then anything; without NaN, whose bits need not survive. */
static void fill(firn_column *column, int64_t count)
{
    const size_t size = firn_type_size(column->type);
    uint8_t *to = column->data;
    for (int64_t i = 0; i < count * column->components; i++) {
        uint64_t bits = random_bits();
        if (is_float(column->type) && i < 6) {
            static const double edges[] = {0, -0.0, 1, -0.1, 65504, 5.9604644775390625e-8};
            firn_type_set(column->type, to, i, edges[i]);
            continue;
        }
        if (i == 6) bits = 0;
        if (i == 7) bits = UINT64_MAX;
        if (i == 8) bits = (UINT64_MAX >> (65 - 8 * size)) + (column->type & 1);
        if (column->type == FIRN_TYPE_u64) bits &= INT64_MAX; /* more cannot be written */
        memcpy(to + (size_t)i * size, &bits, size);
        while (is_float(column->type) && !isfinite(firn_type_get(column->type, to, i))) {
            bits = random_bits();
            memcpy(to + (size_t)i * size, &bits, size);
        }
    }
}

/* P, and every type with every number of components. */
static firn_points all_kinds(int64_t count)
{
    firn_points points = {.count = count};
    fill(add(&points, "P", FIRN_TYPE_f32, 3), count);
    for (int type = 0; type < FIRN_TYPE_COUNT; type++) {
        for (int32_t n = 1; n <= FIRN_MAX_COMPONENTS; n++) {
            char name[FIRN_NAME_SIZE];
            snprintf(name, sizeof name, "%s_%d", firn_type_name((firn_type)type), (int)n);
            fill(add(&points, name, (firn_type)type, n), count);
        }
    }
    return points;
}

static int64_t integer_at(const firn_column *column, int64_t i)
{
    if (column->type == FIRN_TYPE_i64) return ((const int64_t *)column->data)[i];
    if (column->type == FIRN_TYPE_u64) return (int64_t)((const uint64_t *)column->data)[i];
    return (int64_t)firn_type_get(column->type, column->data, i);
}

static void assert_same_values(const firn_column *got, const firn_column *want, int64_t count)
{
    assert_int_equal(got->components, want->components);
    assert_int_equal(is_float(got->type), is_float(want->type));
    for (int64_t i = 0; i < count * want->components; i++) {
        const double a = firn_type_get(got->type, got->data, i);
        const double b = firn_type_get(want->type, want->data, i);
        const bool same = is_float(want->type) ? a == b && signbit(a) == signbit(b)
                                               : integer_at(got, i) == integer_at(want, i);
        if (same) continue;
        print_error("%s[%lld] is %.17g, not %.17g\n", want->name, (long long)i, a, b);
        fail();
    }
}

static void assert_same(const firn_points *got, const firn_points *want)
{
    assert_int_equal(got->count, want->count);
    assert_int_equal(got->column_count, want->column_count);
    for (int32_t c = 0; c < want->column_count; c++) {
        const firn_column *column = firn_points_find(got, want->column[c].name);
        assert_non_null(column);
        assert_same_values(column, &want->column[c], want->count);
    }
}

/* --- Samples --------------------------------------------------------------------------------- */

static void assert_sample(const firn_points *p)
{
    static const struct {
        const char *name;
        firn_type type;
        int32_t components;
    } columns[] = {
        {"P", FIRN_TYPE_f32, 3},    {"v", FIRN_TYPE_f32, 3},      {"id", FIRN_TYPE_i32, 1},
        {"mass", FIRN_TYPE_f32, 1}, {"Jp", FIRN_TYPE_f32, 1},     {"temperature", FIRN_TYPE_f32, 1},
        {"Cd", FIRN_TYPE_f32, 3},   {"pscale", FIRN_TYPE_f32, 1},
    };
    assert_int_equal(p->count, 5);
    assert_int_equal(p->column_count, sizeof columns / sizeof columns[0]);
    for (int32_t c = 0; c < p->column_count; c++) {
        assert_string_equal(p->column[c].name, columns[c].name);
        assert_int_equal(p->column[c].type, columns[c].type);
        assert_int_equal(p->column[c].components, columns[c].components);
    }
    for (int i = 0; i < 5; i++) {
        const float n = (float)i;
        const float rows[8][3] = {
            {n, n / 2, 0 - n}, {0, 1, 0},        {0},    {0.25f}, {(float)(1 - 0.01 * i)},
            {300 + n},         {1, 0.5f, n / 8}, {0.05f}};
        for (int c = 0; c < 8; c++) {
            if (c == 2) continue;
            const int32_t k = p->column[c].components;
            assert_memory_equal((float *)p->column[c].data + i * k, rows[c], (size_t)k * 4);
        }
        assert_int_equal(((int32_t *)p->column[2].data)[i], 100 + i);
    }
}

static void samples_read_as_they_were_made(void **state)
{
    (void)state;
    for (int s = 0; s < SAMPLES; s++) {
        firn_points points = read_back(sample_path(samples[s]));
        assert_sample(&points);
        firn_points_free(&points);
    }
}

static void the_name_of_a_file_does_not_matter(void **state)
{
    (void)state;
    static const char *const names[] = {"a.geo", "a.bgeo", "a.bgeo.sc", "a.geo.gz", "a"};
    for (int s = 0; s < SAMPLES; s++) {
        firn_bytes bytes = bytes_of(sample_path(samples[s]));
        for (int n = 0; n < 5; n++) {
            save(path_of(names[n]), bytes.data, bytes.size);
            firn_points points = read_back(path_of(names[n]));
            assert_sample(&points);
            firn_points_free(&points);
            remove(path_of(names[n]));
        }
        firn_bytes_free(&bytes);
    }
}

/* --- Round trips ----------------------------------------------------------------------------- */

static const char *const endings[] = {"a.geo", "a.bgeo", "a.bgeo.sc", "a.geo.gz", "a.bgeo.gz"};
enum { ENDINGS = sizeof endings / sizeof endings[0] };

static firn_points round_trip(const char *name, const firn_points *points,
                              firn_write_options options)
{
    write_out(path_of(name), points, options);
    firn_points back = read_back(path_of(name));
    remove(path_of(name));
    return back;
}

static void every_type_and_arity_comes_back(void **state)
{
    (void)state;
    for (int e = 0; e < ENDINGS; e++) {
        const bool text = strstr(endings[e], ".geo") != NULL;
        firn_points points = all_kinds(text ? 50 : 1030); /* in binary more than a page */
        firn_points back = round_trip(endings[e], &points, (firn_write_options){0});
        assert_same(&back, &points);
        for (int32_t c = 0; c < points.column_count; c++) {
            const firn_type type = points.column[c].type;
            firn_type expected = type;
            if (!is_float(type)) expected = FIRN_TYPE_i32;
            if (type == FIRN_TYPE_u32 || type == FIRN_TYPE_i64 || type == FIRN_TYPE_u64) {
                expected = FIRN_TYPE_i64;
            }
            assert_int_equal(back.column[c].type, expected);
        }
        firn_points_free(&back);
        firn_points_free(&points);
    }
}

static void the_classic_form_keeps_what_fits_32_bits(void **state)
{
    (void)state;
    firn_points points = all_kinds(200), kept = {.count = 200};
    for (int32_t c = 0; c < points.column_count; c++) {
        const firn_column *from = &points.column[c];
        if (from->type == FIRN_TYPE_f64 || from->type == FIRN_TYPE_u32 ||
            from->type == FIRN_TYPE_i64 || from->type == FIRN_TYPE_u64) {
            continue;
        }
        firn_column *to = add(&kept, from->name, from->type, from->components);
        memcpy(to->data, from->data, (size_t)(200 * from->components) * firn_type_size(from->type));
    }
    for (int e = 0; e < ENDINGS; e++) {
        firn_points back = round_trip(endings[e], &kept, (firn_write_options){.classic = true});
        assert_same(&back, &kept);
        firn_points_free(&back);
    }
    firn_points_free(&kept);
    firn_points_free(&points);
}

static void classic_files_have_an_attribute_for_partio(void **state)
{
    (void)state;
    firn_points points = {.count = 3};
    fill(add(&points, "P", FIRN_TYPE_f64, 3), 3);
    for (int i = 0; i < 9; i++) ((double *)points.column[0].data)[i] = i * 0.25;
    for (int e = 0; e < 2; e++) {
        firn_points back = round_trip(endings[e], &points, (firn_write_options){.classic = true});
        assert_int_equal(back.column_count, 2);
        assert_string_equal(back.column[1].name, "id");
        for (int i = 0; i < 3; i++) assert_int_equal(integer_at(&back.column[1], i), i);
        assert_same_values(&back.column[0], &points.column[0], 3);
        firn_points_free(&back);
    }
    firn_points_free(&points);
}

static void half_rounds_all_but_positions_and_what_it_cannot_hold(void **state)
{
    (void)state;
    firn_points points = {.count = 2};
    const float values[] = {0.1f, -2.3f, 65505, 1e-3f, 7, 8};
    memcpy(add(&points, "P", FIRN_TYPE_f32, 3)->data, values, sizeof values);
    memcpy(add(&points, "v", FIRN_TYPE_f32, 2)->data, (float[]){0.1f, 65504, -0.3f, 2}, 16);
    memcpy(add(&points, "density", FIRN_TYPE_f32, 1)->data, (float[]){1000, 70000}, 8);
    for (int e = 0; e < ENDINGS; e++) {
        firn_points back = round_trip(endings[e], &points, (firn_write_options){.half = true});
        assert_int_equal(back.column[1].type, FIRN_TYPE_f16);
        for (int i = 0; i < 4; i++) {
            const float v = ((const float *)points.column[1].data)[i];
            assert_int_equal(((const uint16_t *)back.column[1].data)[i], firn_half_from_float(v));
        }
        assert_same_values(&back.column[0], &points.column[0], 2);
        assert_same_values(&back.column[2], &points.column[2], 2);
        firn_points_free(&back);
    }
    firn_points_free(&points);
}

static void no_points_are_a_file_too(void **state)
{
    (void)state;
    firn_points points = all_kinds(0);
    for (int e = 0; e < ENDINGS; e++) {
        for (int classic = 0; classic < 2; classic++) {
            firn_points back =
                round_trip(endings[e], &points, (firn_write_options){.classic = classic});
            assert_int_equal(back.count, 0);
            assert_int_equal(back.column_count, points.column_count);
            firn_points_free(&back);
        }
    }
    firn_points_free(&points);
}

static void what_is_not_finite_comes_back(void **state)
{
    (void)state;
    firn_points points = {.count = 1};
    fill(add(&points, "P", FIRN_TYPE_f32, 3), 1);
    memcpy(add(&points, "v", FIRN_TYPE_f32, 3)->data, (float[]){INFINITY, -INFINITY, NAN}, 12);
    for (int e = 0; e < ENDINGS; e++) {
        for (int classic = 0; classic < 2; classic++) {
            firn_points back =
                round_trip(endings[e], &points, (firn_write_options){.classic = classic});
            const float *v = firn_points_find(&back, "v")->data;
            assert_true(v[0] == INFINITY && v[1] == -INFINITY && isnan(v[2]));
            firn_points_free(&back);
        }
    }
    firn_points_free(&points);
}

static void any_name_can_be_written(void **state)
{
    (void)state;
    firn_points points = {.count = 1};
    fill(add(&points, "P", FIRN_TYPE_f32, 3), 1);
    fill(add(&points, "a \"b\" \\ \t (c) \xc3\xa9", FIRN_TYPE_f32, 1), 1);
    for (int e = 0; e < ENDINGS; e++) {
        firn_points back = round_trip(endings[e], &points, (firn_write_options){0});
        assert_same(&back, &points);
        firn_points_free(&back);
    }
    firn_error error = {0};
    const firn_write_options classic = {.classic = true, .frame = NAN};
    assert_int_equal(firn_points_write(path_of("a.geo"), &points, &classic, &error), FIRN_INVALID);
    assert_non_null(strstr(error.message, "names without spaces"));
    firn_points_free(&points);
}

static void what_cannot_be_written_is_refused(void **state)
{
    (void)state;
    firn_error error = {0};
    const firn_write_options modern = {.frame = NAN}, classic = {.classic = true, .frame = NAN};
    firn_points points = {.count = 1};
    fill(add(&points, "v", FIRN_TYPE_f32, 3), 1);
    assert_int_equal(firn_points_write(path_of("a.geo"), &points, &modern, &error), FIRN_INVALID);
    assert_non_null(strstr(error.message, "attribute P"));
    fill(add(&points, "P", FIRN_TYPE_f32, 3), 1);
    *(uint64_t *)add(&points, "id", FIRN_TYPE_u64, 1)->data = (uint64_t)INT64_MAX + 1;
    for (int e = 0; e < ENDINGS; e++) {
        const char *path = path_of(endings[e]);
        assert_int_equal(firn_points_write(path, &points, &modern, &error), FIRN_INVALID);
        assert_non_null(strstr(error.message, "attribute id"));
        assert_int_equal(firn_points_write(path, &points, &classic, &error), FIRN_INVALID);
        assert_non_null(strstr(error.message, "32 bits"));
        assert_int_not_equal(access(path, F_OK), 0);
    }
    firn_points_free(&points);
}

static void printed_numbers_are_short_and_exact(void **state)
{
    (void)state;
    char text[32];
    for (int h = 0; h < 0x7c00; h++) {
        firn_real_print(text, FIRN_TYPE_f16, (double)firn_half_to_float((uint16_t)h));
        assert_int_equal(firn_half_from_float((float)strtod(text, NULL)), h);
    }
    for (int i = 0; i < 100000; i++) {
        const uint32_t word = (uint32_t)random_bits();
        const uint64_t wide = random_bits();
        float single;
        double twice;
        memcpy(&single, &word, sizeof single);
        memcpy(&twice, &wide, sizeof twice);
        if (!isfinite(single) || !isfinite(twice)) continue;
        firn_real_print(text, FIRN_TYPE_f32, (double)single);
        assert_true((float)strtod(text, NULL) == single);
        firn_real_print(text, FIRN_TYPE_f64, twice);
        assert_true(strtod(text, NULL) == twice);
    }
    firn_real_print(text, FIRN_TYPE_f32, (double)0.05f);
    assert_string_equal(text, "0.05");
    firn_real_print(text, FIRN_TYPE_f64, 0.1);
    assert_string_equal(text, "0.1");
}

/* --- Files as Houdini writes them ------------------------------------------------------------ */

typedef struct builder {
    uint8_t data[1 << 20];
    size_t size;
    bool swapped; /* binary: big end first */
} builder;

static void print(builder *to, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void print(builder *to, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int length =
        vsnprintf((char *)to->data + to->size, sizeof to->data - to->size, format, arguments);
    va_end(arguments);
    to->size += (size_t)length;
    assert_true(to->size < sizeof to->data);
}

static void byte(builder *to, int value) { to->data[to->size++] = (uint8_t)value; }

static void number(builder *to, uint64_t bits, int bytes)
{
    for (int i = 0; i < bytes; i++) byte(to, (int)(bits >> 8 * (to->swapped ? bytes - 1 - i : i)));
}

static void string(builder *to, const char *text) /* untokened, with a length in two bytes */
{
    byte(to, 0x27);
    byte(to, 0xf2);
    number(to, strlen(text), 2);
    memcpy(to->data + to->size, text, strlen(text));
    to->size += strlen(text);
}

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static void start_text(builder *to, int64_t points)
{
    to->size = 0;
    print(
        to,
        "[\n\t\"fileversion\", \"13.0.343\",\"pointcount\",%lld,\"info\",{\"artist\":\"a\\u00e9\\n"
        "\",\"x\":[1,{\"y\":null}]},\"topology\",[\"pointref\",[\"indices\",[0,1]]],"
        "\"attributes\",[\"vertexattributes\",[],\"pointattributes\",[",
        (long long)points);
}

static void start_attribute(builder *to, const char *scope, const char *type, const char *name)
{
    print(to, "[[\"scope\",\"%s\",\"type\",\"%s\",\"name\",\"%s\",\"options\",{}],[\"size\",1,",
          scope, type, name);
}

static void end_text(builder *to)
{
    print(to,
          "],\"globalattributes\",[[[\"name\",\"P\"],[\"size\",2]]]],\"primitives\",[[[\"type\","
          "\"Part\"],[\"vertex\",[0,1],\"r\",{\"blur\":0.5e-1,\"b\":true}]]],\"index\",[]]\n");
}

static float component(int64_t point, int c) { return (float)(point * 4 + c) * 0.5f; }

/* 2500 points: P as Houdini 13 has it, of two packs, the weights constant in whole pages. */
static void packed_and_constant_pages_are_opened(void **state)
{
    (void)state;
    enum { POINTS = 2500, PAGE = 1024 };
    static builder file;
    start_text(&file, POINTS);
    start_attribute(&file, "public", "numeric", "P");
    print(&file,
          "\"values\",[\"size\",4,\"storage\",\"fpreal32\",\"packing\",[3,1],\"pagesize\",1024,"
          "\"constantpageflags\",[[],[1,true,0]],\"rawpagedata\",[");
    for (int first = 0; first < POINTS; first += PAGE) {
        const int count = POINTS - first < PAGE ? POINTS - first : PAGE;
        for (int i = first; i < first + count; i++) {
            print(&file, "%s%g,%g,%g", i > 0 ? "," : "", (double)component(i, 0),
                  (double)component(i, 1), (double)component(i, 2));
        }
        for (int i = 0; i < (first < 2 * PAGE ? 1 : count); i++) print(&file, ",1");
    }
    print(&file, "]]]],");
    /* One pack, its first page constant. */
    start_attribute(&file, "public", "numeric", "v");
    print(&file, "\"values\",[\"size\",2,\"storage\",\"int16\",\"pagesize\",1024,"
                 "\"constantpageflags\",[[true,false,false]],\"rawpagedata\",[-5,6");
    for (int i = PAGE; i < POINTS; i++) print(&file, ",%d,%d", i, -i);
    print(&file, "]]]]");
    end_text(&file);
    firn_points points;
    firn_error error = {0};
    if (status_of(file.data, file.size, &points, &error) != FIRN_OK) fail_msg("%s", error.message);
    assert_int_equal(points.count, POINTS);
    assert_int_equal(points.column_count, 2);
    assert_int_equal(points.column[0].components, 3);
    assert_int_equal(points.column[1].type, FIRN_TYPE_i16);
    const float *P = points.column[0].data;
    const int16_t *v = points.column[1].data;
    for (int i = 0; i < POINTS; i++) {
        for (int c = 0; c < 3; c++) assert_true(P[3 * i + c] == component(i, c));
        assert_int_equal(v[2 * i], i < PAGE ? -5 : i);
        assert_int_equal(v[2 * i + 1], i < PAGE ? 6 : -i);
    }
    firn_points_free(&points);
    for (size_t size = 0; size < file.size - 2; size += 97) { /* cut, it never passes */
        assert_int_equal(status_of(file.data, size, NULL, NULL), FIRN_INVALID);
    }
}

static void strings_are_kept_and_the_unknown_is_passed_over(void **state)
{
    (void)state;
    static builder file;
    start_text(&file, 2);
    start_attribute(&file, "public", "numeric", "P");
    print(&file,
          "\"values\",[\"size\",4,\"storage\",\"fpreal64\",\"tuples\",[[1,2,3,1],[4,5,6,1]]]]],");
    start_attribute(&file, "public", "string", "material");
    print(&file, "\"storage\",\"int32\",\"strings\",[\"snow\",\"sand\"],\"indices\",[\"size\",1,"
                 "\"storage\",\"int32\",\"arrays\",[[1,-1]]]]],");
    start_attribute(&file, "public", "arraynumeric", "list");
    print(&file, "\"values\",[\"size\",1,\"storage\",\"int32\",\"arrays\",[[1]]]]],");
    start_attribute(&file, "private", "numeric", "hidden");
    print(&file, "\"values\",[\"size\",1,\"storage\",\"int32\",\"arrays\",[[1,2]]]]],");
    start_attribute(&file, "public", "numeric", "wide");
    print(&file, "\"values\",[\"size\",17,\"storage\",\"int32\",\"tuples\",[[1],[2]]]]],");
    start_attribute(&file, "public", "numeric", "w");
    print(&file, "\"values\",[\"size\",2,\"storage\",\"int64\",\"arrays\",[[1,9007199254740993],"
                 "[-3,9e30]],\"later\",{}]],[]]");
    end_text(&file);
    firn_points points;
    firn_error error = {0};
    if (status_of(file.data, file.size, &points, &error) != FIRN_OK) fail_msg("%s", error.message);
    assert_int_equal(points.column_count, 3);
    assert_int_equal(points.column[0].type, FIRN_TYPE_f64);
    assert_memory_equal(points.column[0].data, ((double[]){1, 2, 3, 4, 5, 6}), 48);
    assert_string_equal(points.column[1].name, "material");
    assert_memory_equal(points.column[1].data, ((int32_t[]){1, -1}), 8);
    assert_int_equal(points.column[1].word_count, 2);
    assert_memory_equal(points.column[1].words, "snow\0sand", sizeof "snow\0sand");
    const int64_t *w = points.column[2].data;
    assert_true(w[0] == 1 && w[1] == -3 && w[2] == 9007199254740993);
    assert_true(w[3] == 0x7ffffffffffffc00); /* saturated */
    firn_points_free(&points);
}

/* Everything of the binary coding that our writer does not use. */
static void build_binary(builder *to, bool swapped)
{
    static const uint8_t magic[] = {0x7f, 'N', 'S', 'J', 'b'};
    to->size = 0;
    to->swapped = swapped;
    for (int i = 0; i < 5; i++) byte(to, magic[swapped && i > 0 ? 5 - i : i]);
    byte(to, '[');
    string(to, "index"); /* to be passed over: every uniform array */
    byte(to, '[');
    static const uint8_t codes[][2] = {{0x11, 1}, {0x12, 2}, {0x13, 4}, {0x14, 8}, {0x18, 2},
                                       {0x19, 4}, {0x1a, 8}, {0x21, 1}, {0x22, 2}};
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        byte(to, 0x40);
        byte(to, codes[i][0]);
        byte(to, 3);
        for (int k = 0; k < 3; k++) number(to, 1, codes[i][1]);
    }
    byte(to, 0x40); /* 33 booleans: two words */
    byte(to, 0x10);
    byte(to, 0xf8);
    number(to, 33, 8);
    number(to, 5, 4);
    number(to, 1, 4);
    byte(to, 0x40);
    byte(to, 0x27);
    byte(to, 1);
    byte(to, 2);
    byte(to, 'h');
    byte(to, 'i');
    byte(to, '{');
    string(to, "key");
    byte(to, 0x3a);
    byte(to, 0x10);
    byte(to, 7);
    byte(to, '}');
    byte(to, 0);
    byte(to, ']');
    byte(to, 0x2c);
    string(to, "pointcount");
    byte(to, 0x22);
    number(to, 3, 2);
    string(to, "attributes");
    byte(to, '[');
    string(to, "pointattributes");
    byte(to, '[');
    byte(to, '[');
    byte(to, '[');
    string(to, "type");
    byte(to, 0x2b); /* a token that is another's number first */
    byte(to, 200);
    byte(to, 1);
    byte(to, 'x');
    byte(to, 0x2d);
    byte(to, 200);
    byte(to, 0x2b);
    byte(to, 200);
    byte(to, 7);
    memcpy(to->data + to->size, "numeric", 7);
    to->size += 7;
    byte(to, 0x26);
    byte(to, 200);
    string(to, "name");
    string(to, "P");
    byte(to, ']');
    byte(to, '[');
    string(to, "values");
    byte(to, '[');
    string(to, "size");
    byte(to, 0x14);
    number(to, 4, 8);
    string(to, "storage");
    string(to, "fpreal32");
    string(to, "packing");
    byte(to, 0x40);
    byte(to, 0x21);
    byte(to, 2);
    byte(to, 3);
    byte(to, 1);
    string(to, "constantpageflags");
    byte(to, '[');
    byte(to, '[');
    byte(to, ']');
    byte(to, 0x40);
    byte(to, 0x10);
    byte(to, 1);
    number(to, 1, 4);
    byte(to, ']');
    string(to, "rawpagedata");
    byte(to, '['); /* numbers of any kind, each with its own */
    byte(to, 0x11), number(to, (uint8_t)-7, 1);
    byte(to, 0x12), number(to, (uint16_t)-300, 2);
    byte(to, 0x13), number(to, 70000, 4);
    byte(to, 0x14), number(to, (uint64_t)-5, 8);
    byte(to, 0x18), number(to, 0x3c00, 2);
    byte(to, 0x19), number(to, bits_of(2.5f), 4);
    byte(to, 0x1a), number(to, 0x4004000000000000, 8);
    byte(to, 0x21), number(to, 255, 1);
    byte(to, 0x31);
    byte(to, 0x19), number(to, bits_of(1), 4);
    for (int i = 0; i < 5; i++) byte(to, ']'); /* raw, values, body, attribute, all of them */
    byte(to, ']');
    byte(to, ']');
}

static void both_byte_orders_and_every_code_are_read(void **state)
{
    (void)state;
    static builder file;
    for (int swapped = 0; swapped < 2; swapped++) {
        build_binary(&file, swapped);
        firn_points points;
        firn_error error = {0};
        if (status_of(file.data, file.size, &points, &error) != FIRN_OK) {
            fail_msg("%s", error.message);
        }
        const float expected[] = {-7, -300, 70000, -5, 1, 2.5f, 2.5f, 255, 1};
        assert_int_equal(points.count, 3);
        assert_memory_equal(points.column[0].data, expected, sizeof expected);
        firn_points_free(&points);
        for (size_t size = 0; size < file.size; size++) {
            assert_int_equal(status_of(file.data, size, NULL, NULL), FIRN_INVALID);
        }
    }
}

static void swapped_uniform_arrays_are_turned_round(void **state)
{
    (void)state;
    static builder file;
    const uint8_t magic[] = {0x7f, 'b', 'J', 'S', 'N', '['};
    file.size = 0;
    file.swapped = true;
    for (int i = 0; i < 6; i++) byte(&file, magic[i]);
    const char *const opening[] = {"attributes", "pointattributes"};
    string(&file, "pointcount");
    byte(&file, 0x11);
    byte(&file, 1);
    for (int i = 0; i < 2; i++) {
        string(&file, opening[i]);
        byte(&file, '[');
    }
    byte(&file, '[');
    byte(&file, '[');
    string(&file, "type");
    string(&file, "numeric");
    string(&file, "name");
    string(&file, "P");
    byte(&file, ']');
    byte(&file, '[');
    string(&file, "values");
    byte(&file, '[');
    string(&file, "size");
    byte(&file, 0x11);
    byte(&file, 3);
    string(&file, "storage");
    string(&file, "fpreal32");
    string(&file, "rawpagedata");
    byte(&file, 0x40);
    byte(&file, 0x19);
    byte(&file, 3);
    for (int i = 1; i <= 3; i++) number(&file, bits_of((float)i), 4);
    for (int i = 0; i < 6; i++) byte(&file, ']');
    firn_points points;
    firn_error error = {0};
    if (status_of(file.data, file.size, &points, &error) != FIRN_OK) fail_msg("%s", error.message);
    assert_memory_equal(points.column[0].data, ((float[]){1, 2, 3}), 12);
    firn_points_free(&points);
}

static void classic_strings_and_primitives_do_no_harm(void **state)
{
    (void)state;
    static const char text[] =
        "PGEOMETRY V5\nNPoints 2 NPrims 1\nNPointGroups 0 NPrimGroups 0\n"
        "NPointAttrib 2 NVertexAttrib 0 NPrimAttrib 1 NAttrib 0\nPointAttrib\n"
        "name 1 index 2 \"a (\\\"b\" c\nJp 1 float 1\n1 2 3 1 (1 0.5)\n4 5 6 1(-1\t.25)\n"
        "PrimitiveAttrib\ngenerator 1 index 1 papi\nPart 2 0 1 [0]\nbeginExtra\nendExtra\n";
    firn_points points;
    firn_error error = {0};
    if (status_of(text, sizeof text - 1, &points, &error) != FIRN_OK) fail_msg("%s", error.message);
    assert_int_equal(points.column_count, 3);
    assert_memory_equal(points.column[0].data, ((float[]){1, 2, 3, 4, 5, 6}), 24);
    assert_memory_equal(points.column[1].data, ((int32_t[]){1, -1}), 8);
    assert_int_equal(points.column[1].word_count, 2);
    assert_memory_equal(points.column[1].words, "a (\"b\0c", sizeof "a (\"b\0c");
    assert_memory_equal(points.column[2].data, ((float[]){0.5f, 0.25f}), 8);
    firn_points_free(&points);
}

/* --- Compressed blocks ----------------------------------------------------------------------- */

static uint64_t big_at(const uint8_t *bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < 8; i++) value = value << 8 | bytes[i];
    return value;
}

/* Each frame is what compressing its block alone gives, so threads have no say in the bytes. */
static void blocks_are_independent_and_the_index_is_true(void **state)
{
    (void)state;
    enum { POINTS = 1500000, BLOCK = 1 << 20 }; /* 18 MB: more than are compressed together */
    firn_points points = {.count = POINTS};
    float *P = add(&points, "P", FIRN_TYPE_f32, 3)->data;
    for (int64_t i = 0; i < 3 * POINTS; i++) P[i] = floorf((float)i / 64);
    add(&points, "mass", FIRN_TYPE_f32, 1); /* zeros: as small as it gets */
    write_out(path_of("a.bgeo"), &points, (firn_write_options){0});
    write_out(path_of("a.bgeo.sc"), &points, (firn_write_options){0});
    firn_bytes plain = bytes_of(path_of("a.bgeo")), packed = bytes_of(path_of("a.bgeo.sc"));
    const size_t blocks = (plain.size + BLOCK - 1) / BLOCK;
    const uint8_t *tail = packed.data + packed.size - 12;
    assert_memory_equal(packed.data, "scf1\0\0\0\0\0\0\0\0", 12);
    assert_memory_equal(tail + 8, "1fcs", 4);
    assert_int_equal(big_at(tail), 8 * (blocks + 1));
    assert_int_equal(big_at(tail - 16), BLOCK);
    assert_int_equal(big_at(tail - 8), plain.size - (blocks - 1) * BLOCK);
    uint8_t *frame = malloc(BLOCK + BLOSC_MAX_OVERHEAD);
    assert_non_null(frame);
    size_t at = 12;
    for (size_t b = 0; b < blocks; b++) {
        const size_t size = b + 1 < blocks ? BLOCK : plain.size - b * BLOCK;
        const int length = blosc_compress_ctx(5, 1, 4, size, plain.data + b * BLOCK, frame,
                                              BLOCK + BLOSC_MAX_OVERHEAD, "lz4", 0, 1);
        assert_true(length > 0);
        assert_memory_equal(packed.data + at, frame, (size_t)length);
        at += (size_t)length;
        if (b + 1 < blocks) assert_int_equal(big_at(tail - 8 * (blocks + 1) + 8 * b), at - 12);
    }
    assert_int_equal(at, packed.size - 12 - 8 * (blocks + 1));
    firn_points back = read_back(path_of("a.bgeo.sc"));
    assert_same(&back, &points);
    firn_points_free(&back);
    free(frame);
    firn_bytes_free(&plain);
    firn_bytes_free(&packed);
    firn_points_free(&points);
    remove(path_of("a.bgeo"));
    remove(path_of("a.bgeo.sc"));
}

/* --- Broken files ---------------------------------------------------------------------------- */

/* What is read of a broken file is whole: five points, columns of sound sizes, P among them. */
static void assert_sound(firn_points *points)
{
    double sum = 0;
    assert_int_equal(points->count, 5);
    assert_non_null(firn_points_find(points, "P"));
    for (int32_t c = 0; c < points->column_count; c++) {
        const firn_column *column = &points->column[c];
        assert_in_range(column->components, 1, FIRN_MAX_COMPONENTS);
        for (int64_t i = 0; i < 5 * column->components; i++) {
            sum += firn_type_get(column->type, column->data, i);
        }
    }
    assert_true(sum <= INFINITY || isnan(sum));
    firn_points_free(points);
}

typedef void visit(const firn_bytes *file);

/* The samples, and the sample in gzip. */
static void each_sample(visit *claim)
{
    for (int s = 0; s < SAMPLES; s++) {
        firn_bytes file = bytes_of(sample_path(samples[s]));
        claim(&file);
        firn_bytes_free(&file);
    }
    firn_points points = read_back(sample_path("modern.bgeo"));
    for (int classic = 0; classic < 2; classic++) {
        write_out(path_of("a.bgeo.gz"), &points, (firn_write_options){.classic = classic});
        firn_bytes file = bytes_of(path_of("a.bgeo.gz"));
        claim(&file);
        firn_bytes_free(&file);
    }
    firn_points_free(&points);
    remove(path_of("a.bgeo.gz"));
}

/* A classic file may lack its last words, a modern one its last line break: no points are lost. */
static void cut(const firn_bytes *file)
{
    for (size_t size = 0; size < file->size; size++) {
        firn_points points;
        const firn_status st = status_of(file->data, size, &points, NULL);
        if (st == FIRN_OK) {
            assert_sample(&points);
            assert_in_range(file->size - size, 1, 21);
            firn_points_free(&points);
        } else {
            assert_int_equal(st, FIRN_INVALID);
        }
    }
}

static void files_cut_short_are_refused_at_every_length(void **state)
{
    (void)state;
    each_sample(cut);
}

static void flip(const firn_bytes *file)
{
    static const uint8_t masks[] = {0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0xff};
    for (size_t at = 0; at < file->size; at++) {
        for (size_t m = 0; m < sizeof masks; m++) {
            firn_points points;
            file->data[at] ^= masks[m];
            if (status_of(file->data, file->size, &points, NULL) == FIRN_OK) assert_sound(&points);
            file->data[at] ^= masks[m];
        }
    }
}

static void files_with_a_flipped_byte_are_refused_or_whole(void **state)
{
    (void)state;
    each_sample(flip);
}

static void promises_that_a_file_cannot_keep_are_refused(void **state)
{
    (void)state;
    static builder file;
    static const char *const bodies[] = {"\"tuples\",[[1,2,3]]", "\"arrays\",[[1],[2],[3]]",
                                         "\"rawpagedata\",[1,2,3]",
                                         "\"constantpageflags\",[[1]],\"rawpagedata\",[1,2,3]"};
    static const int64_t counts[] = {100000, 1000000000000, INT64_MAX};
    for (int b = 0; b < 4; b++) {
        for (int c = 0; c < 3; c++) {
            start_text(&file, counts[c]);
            start_attribute(&file, "public", "numeric", "P");
            print(&file, "\"values\",[\"size\",3,\"storage\",\"fpreal32\",%s]]]", bodies[b]);
            end_text(&file);
            assert_refused(file.data, file.size, counts[c] > 100000 ? "pointcount is" : "");
        }
    }
    static const char classic[] =
        "PGEOMETRY V5\nNPoints 2000000000 NPrims 0\nNPointAttrib 0 NAttrib "
        "0\n1 2 3 1\n";
    assert_refused(classic, sizeof classic - 1, "points are promised");
    firn_bytes sample = bytes_of(sample_path("classic_v5.bgeo"));
    sample.data[9] = 0x7f; /* of the number of points */
    assert_refused(sample.data, sample.size, "points are promised");
    firn_bytes_free(&sample);
    sample = bytes_of(sample_path("modern.bgeo"));
    uint8_t *count = sample.data; /* of P's values: 40 19 0f becomes one of 2^31 and more */
    while (memcmp(count, "\x40\x19\x0f", 3) != 0) count++;
    memcpy(count + 2, "\xf4\xff\xff\xff\xff", 5);
    assert_refused(sample.data, sample.size, "more than the file holds");
    firn_bytes_free(&sample);
}

static void a_block_that_claims_too_much_is_refused(void **state)
{
    (void)state;
    firn_bytes sample = bytes_of(sample_path("modern.bgeo.sc"));
    /* 64 MiB from 1473 bytes, said by the frame and the index alike. */
    memcpy(sample.data + 16, "\0\0\0\4", 4);
    memcpy(sample.data + sample.size - 28, "\0\0\0\0\4\0\0\0", 8);
    memcpy(sample.data + sample.size - 20, "\0\0\0\0\4\0\0\0", 8);
    assert_refused(sample.data, sample.size, "block 0 of 1");
    firn_bytes_free(&sample);
}

static void depth_and_repetition_are_refused(void **state)
{
    (void)state;
    static builder file;
    file.size = 0;
    print(&file, "[\"a\",");
    for (int i = 0; i < 100000; i++) byte(&file, '[');
    assert_refused(file.data, file.size, "inside each other");
    file.size = 0;
    print(&file, "\x7fNSJb");
    for (int i = 0; i < 100000; i++) byte(&file, i == 1 ? 0x31 : '[');
    assert_int_equal(status_of(file.data, file.size, NULL, NULL), FIRN_INVALID);
    static const char *const texts[][2] = {
        {"[\"pointcount\",1,\"pointcount\",2]", "twice"},
        {"[\"attributes\",[]]", "before pointcount"},
        {"[\"pointcount\",1]", "need an attribute P"},
        {"[\"pointcount\",-1]", "pointcount is -1"},
        {"[\"pointcount\",1.5]", "an integer was expected"},
        {"[\"pointcount\",1,]", "where a value was expected"},
        {"[\"pointcount\" 1]", "where ',' was expected"},
        {"[\"pointcount\",0x10]", "not a number"},
        {"[\"pointcount\",0,\"info\",{1:2}]", "key is not a string"},
        {"[\"pointcount\",0,\"info\",{\"a\"}]", "a value was expected"},
        {"[\"pointcount\",0,\"\\q\",1]", "means nothing"},
        {"[\"fileversion\",\"18.5\"]", "no pointcount"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        assert_refused(texts[i][0], strlen(texts[i][0]), texts[i][1]);
    }
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_read_as_they_were_made),
        cmocka_unit_test(the_name_of_a_file_does_not_matter),
        cmocka_unit_test(every_type_and_arity_comes_back),
        cmocka_unit_test(the_classic_form_keeps_what_fits_32_bits),
        cmocka_unit_test(classic_files_have_an_attribute_for_partio),
        cmocka_unit_test(half_rounds_all_but_positions_and_what_it_cannot_hold),
        cmocka_unit_test(no_points_are_a_file_too),
        cmocka_unit_test(what_is_not_finite_comes_back),
        cmocka_unit_test(any_name_can_be_written),
        cmocka_unit_test(what_cannot_be_written_is_refused),
        cmocka_unit_test(printed_numbers_are_short_and_exact),
        cmocka_unit_test(packed_and_constant_pages_are_opened),
        cmocka_unit_test(strings_are_kept_and_the_unknown_is_passed_over),
        cmocka_unit_test(both_byte_orders_and_every_code_are_read),
        cmocka_unit_test(swapped_uniform_arrays_are_turned_round),
        cmocka_unit_test(classic_strings_and_primitives_do_no_harm),
        cmocka_unit_test(blocks_are_independent_and_the_index_is_true),
        cmocka_unit_test(files_cut_short_are_refused_at_every_length),
        cmocka_unit_test(files_with_a_flipped_byte_are_refused_or_whole),
        cmocka_unit_test(promises_that_a_file_cannot_keep_are_refused),
        cmocka_unit_test(a_block_that_claims_too_much_is_refused),
        cmocka_unit_test(depth_and_repetition_are_refused),
    };
    return cmocka_run_group_tests_name("geo", tests, make_folder, remove_folder);
}
