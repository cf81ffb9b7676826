/* Particle files. Claims about formats walk their table, so a new row is tested at once; what only
 * one format promises is claimed below that. */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>

#include "io/io.h"

static const firn_write_options plain = {.frame = NAN};

/* ---- files of this test ---- */

static char folder[] = "/tmp/firn_test_io_XXXXXX";

static const char *path_of(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* As "points.prt", with the format's first extension. */
static const char *path_for(const firn_format *format)
{
    char name[64];
    snprintf(name, sizeof name, "points%.*s", (int)strcspn(format->extensions, " "),
             format->extensions);
    return path_of(name);
}

static int files_in_folder(void)
{
    int count = 0;
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (const struct dirent *e; (e = readdir(dir)) != NULL;) count += e->d_name[0] != '.';
    closedir(dir);
    return count;
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    DIR *dir = opendir(folder);
    if (!dir) return -1;
    for (const struct dirent *e; (e = readdir(dir)) != NULL;) {
        if (e->d_name[0] != '.') remove(path_of(e->d_name));
    }
    closedir(dir);
    return rmdir(folder);
}

static void take(firn_status st, const firn_error *error)
{
    if (st == FIRN_OK) return;
    print_error("%s\n", error->message);
    fail();
}

static firn_bytes load(const char *path)
{
    firn_bytes bytes;
    firn_error error = {0};
    take(firn_bytes_read(path, &bytes, &error), &error);
    return bytes;
}

static firn_points read_file(const char *path)
{
    firn_points points;
    firn_error error = {0};
    take(firn_points_read(path, &points, &error), &error);
    return points;
}

static void write_file(const char *path, const firn_points *points,
                       const firn_write_options *options)
{
    firn_error error = {0};
    take(firn_points_write(path, points, options, &error), &error);
}

static const firn_format *format_named(const char *name)
{
    for (int i = 0; firn_formats[i]; i++) {
        if (strcmp(firn_formats[i]->name, name) == 0) return firn_formats[i];
    }
    fail();
    return NULL;
}

/* Reads a copy of just that size, whose ends a sanitizer guards. */
static firn_status read_copy(const firn_format *format, const void *data, size_t size,
                             firn_points *points, firn_error *error)
{
    uint8_t *copy = malloc(size + (size == 0));
    assert_non_null(copy);
    memcpy(copy, data, size);
    const firn_bytes in = {copy, size};
    const firn_status st = format->read(&in, points, error);
    free(copy);
    return st;
}

static firn_points parse(const char *format, const void *data, size_t size)
{
    firn_points points = {0};
    firn_error error = {0};
    take(read_copy(format_named(format), data, size, &points, &error), &error);
    return points;
}

static void assert_refused(const char *format, const void *data, size_t size, const char *message)
{
    firn_points points = {0};
    firn_error error = {0};
    assert_int_equal(read_copy(format_named(format), data, size, &points, &error), FIRN_INVALID);
    firn_points_free(&points);
    if (strstr(error.message, message)) return;
    print_error("\"%s\" does not say \"%s\"\n", error.message, message);
    fail();
}

/* ---- columns of this test ---- */

static void *add(firn_points *points, const char *name, firn_type type, int32_t components)
{
    firn_error error = {0};
    firn_column *column = firn_points_add(points, name, type, components, &error);
    assert_string_equal(error.message, "");
    return column->data;
}

static firn_points make(int64_t count)
{
    firn_points points = {.count = count};
    float *P = add(&points, "P", FIRN_TYPE_f32, 3);
    for (int64_t i = 0; i < 3 * count; i++) P[i] = 0.1f * (float)(i * i % 1009) - 3;
    return points;
}

static const firn_column *column_of(const firn_points *points, const char *name)
{
    const firn_column *column = firn_points_find(points, name);
    if (!column) {
        print_error("there is no column %s\n", name);
        fail();
    }
    return column;
}

/* Type, components and every value. */
static void assert_column(const firn_points *points, const char *name, firn_type type,
                          int32_t components, const double *values)
{
    const firn_column *column = column_of(points, name);
    assert_string_equal(firn_type_name(column->type), firn_type_name(type));
    assert_int_equal(column->components, components);
    for (int64_t i = 0; i < points->count * components; i++) {
        const double got = firn_type_get(type, column->data, i);
        if (got == values[i]) continue;
        print_error("%s[%lld] is %.17g, not %.17g\n", name, (long long)i, got, values[i]);
        fail();
    }
}

#define VALUES(...) ((const double[]){__VA_ARGS__})

static bool is_float(firn_type type)
{
    return type == FIRN_TYPE_f16 || type == FIRN_TYPE_f32 || type == FIRN_TYPE_f64;
}

/* Equal up to what a narrower float of the format keeps; integers stay what they are. */
static void assert_same_column(const firn_points *got, const firn_points *want,
                               const firn_column *column, const char *format)
{
    const firn_column *mine = column_of(got, column->name);
    assert_int_equal(mine->components, column->components);
    for (int64_t i = 0; i < want->count * column->components; i++) {
        double a = firn_type_get(mine->type, mine->data, i);
        double b = firn_type_get(column->type, column->data, i);
        if (column->type == FIRN_TYPE_f64 && mine->type == FIRN_TYPE_f32) b = (double)(float)b;
        if (is_float(column->type) && mine->type == FIRN_TYPE_f16) {
            b = (double)firn_half_to_float(firn_half_from_float((float)b));
        }
        if (a == b || (isnan(a) && isnan(b))) continue;
        print_error("%s: %s[%lld] is %.17g, not %.17g\n", format, column->name, (long long)i, a, b);
        fail();
    }
}

static void assert_same(const firn_points *got, const firn_points *want, const char *format)
{
    assert_int_equal(got->count, want->count);
    assert_int_equal(got->column_count, want->column_count);
    for (int32_t k = 0; k < want->column_count; k++) {
        assert_same_column(got, want, &want->column[k], format);
    }
}

typedef void visit(const firn_format *format);

static void each_format(visit *claim)
{
    for (int i = 0; firn_formats[i]; i++) {
        if (firn_formats[i]->read && firn_formats[i]->write) claim(firn_formats[i]);
    }
}

static void round_trip(const firn_format *format, const firn_points *points,
                       const firn_write_options *options)
{
    const char *path = path_for(format);
    write_file(path, points, options);
    firn_points got = read_file(path);
    assert_same(&got, points, format->name);
    firn_points_free(&got);
}

/* ---- every format ---- */

static void every_row_is_complete_and_its_name_unique(void **state)
{
    (void)state;
    for (int i = 0; firn_formats[i]; i++) {
        const firn_format *f = firn_formats[i];
        assert_non_null(f->name);
        assert_non_null(f->extensions);
        assert_non_null(f->help);
        assert_true(f->extensions[0] == '.');
        assert_true(f->read || f->write);
        for (int j = 0; j < i; j++) assert_string_not_equal(f->name, firn_formats[j]->name);
        firn_error error = {0};
        assert_ptr_equal(firn_format_of(path_for(f), &error), f);
    }
}

/* Values that use a type's range, whole or fractional, short of 2^53. */
static double value_for(firn_type type, int64_t i)
{
    const double sign = i % 2 ? -1 : 1;
    switch (type) {
    case FIRN_TYPE_f16: return sign * (double)(i * 37 % 2048) / 64;
    case FIRN_TYPE_f32: return (double)(float)(sign * exp((double)(i % 60) - 30) / 3);
    case FIRN_TYPE_f64: return sign * exp((double)(i % 60) - 30) / 3;
    case FIRN_TYPE_i8: return (double)(i * 71 % 256) - 128;
    case FIRN_TYPE_u8: return (double)(i * 71 % 256);
    case FIRN_TYPE_i16: return (double)(i * 7919 % 65536) - 32768;
    case FIRN_TYPE_u16: return (double)(i * 7919 % 65536);
    case FIRN_TYPE_i32: return sign * (double)(i * 7919 * 104729 % 2147483648);
    case FIRN_TYPE_u32: return (double)(i * 7919 * 104729 % 4294967296);
    case FIRN_TYPE_i64: return sign * (double)(i * 7919 * 104729 * 1299709 % (1LL << 53));
    default: return (double)(i * 7919 * 104729 * 1299709 % (1LL << 53));
    }
}

static void keeps_types(const firn_format *format)
{
    for (int type = 0; type < FIRN_TYPE_COUNT; type++) {
        firn_points points = make(7);
        for (int32_t n = 1; n <= FIRN_MAX_COMPONENTS; n++) {
            char name[32];
            snprintf(name, sizeof name, "A%s_by%d", firn_type_name((firn_type)type), n);
            void *data = add(&points, name, (firn_type)type, n);
            for (int64_t i = 0; i < 7 * n; i++) {
                firn_type_set((firn_type)type, data, i, value_for((firn_type)type, i + n));
            }
        }
        round_trip(format, &points, &plain);
        firn_points_free(&points);
    }
}

static void every_type_and_arity_survives_every_format(void **state)
{
    (void)state;
    each_format(keeps_types);
}

static firn_points make_known(int64_t count)
{
    static const struct {
        const char *name;
        firn_type type;
        int32_t components;
    } known[] = {
        {"v", FIRN_TYPE_f32, 3},           {"Cd", FIRN_TYPE_f32, 3},
        {"id", FIRN_TYPE_i64, 1},          {"mass", FIRN_TYPE_f32, 1},
        {"pscale", FIRN_TYPE_f32, 1},      {"material", FIRN_TYPE_i32, 1},
        {"object", FIRN_TYPE_i32, 1},      {"F", FIRN_TYPE_f32, 9},
        {"Jp", FIRN_TYPE_f32, 1},          {"J", FIRN_TYPE_f32, 1},
        {"temperature", FIRN_TYPE_f32, 1}, {"liquid", FIRN_TYPE_f32, 1},
        {"density", FIRN_TYPE_f32, 1},     {"N", FIRN_TYPE_f32, 3},
        {"age", FIRN_TYPE_f32, 1},         {"life", FIRN_TYPE_f32, 1},
        {"orient", FIRN_TYPE_f32, 4},
    };
    firn_points points = make(count);
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        void *data = add(&points, known[k].name, known[k].type, known[k].components);
        const bool colour = strcmp(known[k].name, "Cd") == 0; /* some formats have bytes for it */
        for (int64_t i = 0; i < count * known[k].components; i++) {
            const double value = colour                    ? (double)(i * 71 % 256) / 255
                                 : is_float(known[k].type) ? sin((double)i)
                                                           : (double)(i * 3 % 1001);
            firn_type_set(known[k].type, data, i, value);
        }
    }
    return points;
}

static void keeps_known(const firn_format *format)
{
    firn_points points = make_known(50);
    round_trip(format, &points, &plain);
    firn_points_free(&points);
}

static void our_names_survive_every_format(void **state)
{
    (void)state;
    each_format(keeps_known);
}

static void keeps_empty(const firn_format *format)
{
    firn_points points = make_known(0);
    round_trip(format, &points, &plain);
    firn_points_free(&points);
}

static void no_particles_survive_every_format(void **state)
{
    (void)state;
    each_format(keeps_empty);
}

/* More than any buffer or piece, by a remainder. */
enum { MANY = 20011 };

static void same_bytes(const firn_format *format)
{
    firn_points points = make_known(MANY);
    firn_bytes first = {0};
    for (int32_t threads = 1; threads <= 3; threads++) {
        const firn_write_options options = {.frame = NAN, .threads = threads};
        round_trip(format, &points, &options);
        firn_bytes bytes = load(path_for(format));
        if (threads == 1) {
            first = bytes;
            continue;
        }
        assert_int_equal(bytes.size, first.size);
        assert_memory_equal(bytes.data, first.data, first.size);
        firn_bytes_free(&bytes);
    }
    firn_bytes_free(&first);
    firn_points_free(&points);
}

static void any_number_of_threads_writes_the_same_bytes(void **state)
{
    (void)state;
    each_format(same_bytes);
}

static void fails_cleanly(const firn_format *format)
{
    firn_points points = make_known(MANY);
    char missing[64];
    snprintf(missing, sizeof missing, "missing/points%.*s", (int)strcspn(format->extensions, " "),
             format->extensions);
    firn_error error = {0};
    assert_int_equal(firn_points_write(path_of(missing), &points, &plain, &error), FIRN_OUTPUT);

    /* A disk that is full after 5000 bytes. */
    const char *path = path_for(format);
    remove(path);
    const int before = files_in_folder();
    struct rlimit old, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = (struct rlimit){5000, old.rlim_max};
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    const firn_status st = firn_points_write(path, &points, &plain, &error);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    signal(SIGXFSZ, handler);
    assert_int_equal(st, FIRN_OUTPUT);
    assert_int_equal(files_in_folder(), before);

    /* An older file stays when its successor fails. */
    round_trip(format, &points, &plain);
    firn_points nothing = {.count = 1};
    assert_int_equal(firn_points_write(path, &nothing, &plain, &error), FIRN_INVALID);
    assert_int_equal(files_in_folder(), before + 1);
    firn_points got = read_file(path);
    assert_same(&got, &points, format->name);
    firn_points_free(&got);
    firn_points_free(&points);
}

static void failing_to_write_leaves_no_file(void **state)
{
    (void)state;
    each_format(fails_cleanly);
}

/* ---- damage ---- */

static const char *const samples[] = {"points_v1.prt", "points_v2.prt", "points_ascii.ply",
                                      "mesh_attrs.ply"};
enum { SAMPLES = sizeof samples / sizeof *samples };

static const char *sample(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", FIRN_TEST_DATA, name);
    return path;
}

static volatile double seen; /* so that every value is read */

/* Feeds every reader; returns how many particles the last that took it found, or -1. What is taken
 * must be of a size the bytes can hold, and all there. */
static int64_t feed(const uint8_t *data, size_t size)
{
    int64_t count = -1;
    for (int i = 0; firn_formats[i]; i++) {
        if (!firn_formats[i]->read) continue;
        firn_points points = {0};
        firn_error error = {0};
        const firn_status st = read_copy(firn_formats[i], data, size, &points, &error);
        if (st == FIRN_OK) {
            count = points.count;
            assert_true(count >= 0 && (uint64_t)count <= 1032 * (uint64_t)size);
            for (int32_t k = 0; k < points.column_count; k++) {
                const firn_column *c = &points.column[k];
                for (int64_t j = 0; j < count * c->components; j++) {
                    seen += firn_type_get(c->type, c->data, j);
                }
            }
        } else {
            assert_true(error.message[0] != '\0');
        }
        firn_points_free(&points);
    }
    return count;
}

static void damage(const firn_bytes *whole)
{
    const int64_t count = feed(whole->data, whole->size);
    assert_true(count > 0);
    for (size_t size = 0; size < whole->size; size++) {
        assert_true(feed(whole->data, size) <= count);
    }
    for (size_t i = 0; i < whole->size; i++) {
        const uint8_t kept = whole->data[i];
        for (int bit = 0; bit <= 8; bit++) {
            whole->data[i] = bit < 8 ? kept ^ (uint8_t)(1u << bit) : (uint8_t)~kept;
            feed(whole->data, whole->size);
        }
        whole->data[i] = kept;
    }
}

static void damaged_samples_are_refused_or_read_within_bounds(void **state)
{
    (void)state;
    for (int i = 0; i < SAMPLES; i++) {
        firn_bytes whole = load(sample(samples[i]));
        damage(&whole);
        firn_bytes_free(&whole);
    }
}

static void damages_own(const firn_format *format)
{
    firn_points points = make_known(3);
    write_file(path_for(format), &points, &plain);
    firn_points_free(&points);
    firn_bytes whole = load(path_for(format));
    damage(&whole);
    firn_bytes_free(&whole);
}

static void damaged_files_of_ours_are_refused_or_read_within_bounds(void **state)
{
    (void)state;
    each_format(damages_own);
}

/* ---- PRT ---- */

static void prt_samples_have_the_known_values(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        firn_points points = read_file(sample(samples[i]));
        assert_int_equal(points.count, 5);
        assert_int_equal(points.column_count, 5);
        assert_column(&points, "P", FIRN_TYPE_f32, 3,
                      VALUES(0, 0, 0, 1, .5, -1, 2, 1, -2, 3, 1.5, -3, 4, 2, -4));
        assert_column(&points, "v", FIRN_TYPE_f32, 3,
                      VALUES(0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0));
        assert_column(&points, "Cd", FIRN_TYPE_f32, 3,
                      VALUES(1, .5, 0, 1, .5, 0, 1, .5, 0, 1, .5, 0, 1, .5, 0));
        assert_column(&points, "density", FIRN_TYPE_f32, 1, VALUES(0, .25, .5, .75, 1));
        assert_column(&points, "id", FIRN_TYPE_i64, 1, VALUES(1000, 1001, 1002, 1003, 1004));
        firn_points_free(&points);
    }
}

/* A PRT file put together by hand. */
typedef struct prt {
    uint8_t data[4096];
    size_t size;
    int32_t channel_size; /* what describes one; 44 */
} prt;

static void put(prt *f, const void *data, size_t size)
{
    assert_true(f->size + size <= sizeof f->data);
    memcpy(f->data + f->size, data, size);
    f->size += size;
}

static void put_i32(prt *f, int32_t value) { put(f, &value, 4); }

static void patch_i32(prt *f, size_t at, int32_t value) { memcpy(f->data + at, &value, 4); }

static prt prt_begin(int32_t version, int64_t count)
{
    prt f = {.channel_size = 44};
    put(&f, "\xc0PRT\r\n\x1a\n", 8);
    put_i32(&f, 56);
    put(&f, "Extensible Particle Format\0\0\0\0\0\0", 32);
    put_i32(&f, version);
    put(&f, &count, 8);
    return f;
}

static void prt_chunk(prt *f, const char *tag, const void *data, size_t size)
{
    put(f, tag, 4);
    put_i32(f, (int32_t)size);
    put(f, data, size);
    patch_i32(f, 8, (int32_t)f->size);
}

static void prt_meta(prt *f, const char *name, int32_t type, const void *value, size_t size)
{
    prt about = {0};
    put(&about, "", 1);
    put(&about, name, strlen(name) + 1);
    put_i32(&about, type);
    put(&about, value, size);
    prt_chunk(f, "Meta", about.data, about.size);
}

static void prt_table(prt *f, int32_t channels)
{
    put_i32(f, 4);
    put_i32(f, channels);
    put_i32(f, f->channel_size);
}

static void prt_channel(prt *f, const char *name, int32_t type, int32_t arity, int32_t offset)
{
    char padded[32] = "";
    snprintf(padded, sizeof padded, "%s", name);
    put(f, padded, 32);
    put_i32(f, type);
    put_i32(f, arity);
    put_i32(f, offset);
    for (int32_t i = 44; i < f->channel_size; i++) put(f, "?", 1);
}

static void prt_records(prt *f, const void *records, size_t size)
{
    uLongf room = sizeof f->data - f->size;
    assert_int_equal(compress2(f->data + f->size, &room, records, size, 6), Z_OK);
    f->size += room;
}

static prt prt_positions(int32_t version, int64_t count)
{
    prt f = prt_begin(version, count);
    prt_table(&f, 1);
    prt_channel(&f, "Position", 4, 3, 0);
    return f;
}

/* One particle, in centimetres and a given coordinate system. */
static firn_points read_system(int32_t system)
{
    prt f = prt_begin(2, 1);
    prt_chunk(&f, "Wild", "anything", 8);
    prt_meta(&f, "LengthUnitInMicrometers", 5, &(double){1e4}, 8);
    prt_meta(&f, "CoordSys", 1, &system, 4);
    prt_meta(&f, "Remark", -1, "hello", 6);
    prt_chunk(&f, "Stop", "", 0);
    f.channel_size = 48;
    prt_table(&f, 6);
    prt_channel(&f, "Orientation", 4, 4, 18);
    prt_channel(&f, "Position", 4, 3, 0);
    prt_channel(&f, "Velocity", 3, 3, 12);
    prt_channel(&f, "Normal", 4, 3, 34);
    prt_channel(&f, "Radius", 5, 1, 50); /* after a gap */
    prt_channel(&f, "F", 4, 9, 58);
    uint8_t record[94] = {0};
    const uint16_t v[3] = {firn_half_from_float(100), firn_half_from_float(200),
                           firn_half_from_float(300)};
    memcpy(record, (float[]){100, 200, 300}, 12);
    memcpy(record + 12, v, 6);
    memcpy(record + 18, (float[]){.1f, .2f, .3f, .9f}, 16);
    memcpy(record + 34, (float[]){1, 2, 3}, 12);
    memcpy(record + 50, &(double){50}, 8);
    memcpy(record + 58, (float[]){11, 12, 13, 21, 22, 23, 31, 32, 33}, 36);
    prt_records(&f, record, sizeof record);
    return parse("prt", f.data, f.size);
}

#define SINGLE(x) ((double)(float)(x))

static void prt_units_and_axes_become_ours(void **state)
{
    (void)state;
    firn_points same = read_system(1), z_up = read_system(2), left = read_system(3),
                left_z_up = read_system(4);
    assert_column(&same, "P", FIRN_TYPE_f32, 3, VALUES(1, 2, 3));
    assert_column(&same, "v", FIRN_TYPE_f32, 3, VALUES(1, 2, 3));
    assert_column(&same, "pscale", FIRN_TYPE_f64, 1, VALUES(.5));
    assert_column(&same, "N", FIRN_TYPE_f32, 3, VALUES(1, 2, 3));
    assert_column(&z_up, "P", FIRN_TYPE_f32, 3, VALUES(1, 3, -2));
    assert_column(&z_up, "v", FIRN_TYPE_f32, 3, VALUES(1, 3, -2));
    assert_column(&z_up, "N", FIRN_TYPE_f32, 3, VALUES(1, 3, -2));
    assert_column(&z_up, "orient", FIRN_TYPE_f32, 4,
                  VALUES(SINGLE(.1f), SINGLE(.3f), -SINGLE(.2f), SINGLE(.9f)));
    assert_column(&z_up, "F", FIRN_TYPE_f32, 9, VALUES(11, 13, -12, 31, 33, -32, -21, -23, 22));
    assert_column(&left, "P", FIRN_TYPE_f32, 3, VALUES(1, 2, -3));
    assert_column(&left, "orient", FIRN_TYPE_f32, 4,
                  VALUES(-SINGLE(.1f), -SINGLE(.2f), SINGLE(.3f), SINGLE(.9f)));
    assert_column(&left_z_up, "P", FIRN_TYPE_f32, 3, VALUES(1, 3, 2));
    assert_column(&left_z_up, "orient", FIRN_TYPE_f32, 4,
                  VALUES(-SINGLE(.1f), -SINGLE(.3f), -SINGLE(.2f), SINGLE(.9f)));
    firn_points_free(&same);
    firn_points_free(&z_up);
    firn_points_free(&left);
    firn_points_free(&left_z_up);
}

static void prt_damage_is_named(void **state)
{
    (void)state;
    const float records[6] = {1, 2, 3, 4, 5, 6};
    prt f = prt_positions(1, 2);
    const size_t data = f.size;
    prt_records(&f, records, sizeof records);
    firn_points points = parse("prt", f.data, f.size);
    assert_column(&points, "P", FIRN_TYPE_f32, 3, VALUES(1, 2, 3, 4, 5, 6));
    firn_points_free(&points);

    assert_refused("prt", f.data, 40, "the header ends at byte 40 of 56");
    assert_refused("prt", f.data, data + 4, "the particles are cut off at byte 116");
    prt bad = f;
    bad.data[f.size - 1] ^= 1;
    assert_refused("prt", bad.data, bad.size, "corrupt");
    bad = f;
    bad.data[data] = 0;
    assert_refused("prt", bad.data, bad.size, "corrupt");
    bad = f;
    memset(bad.data + 48, 0xff, 8);
    assert_refused("prt", bad.data, bad.size, "-1 particles at byte 48: the file was not finished");
    bad = f;
    patch_i32(&bad, 48, 1000000000);
    assert_refused("prt", bad.data, bad.size, "cannot hold them");
    bad = f;
    patch_i32(&bad, 48, 3);
    assert_refused("prt", bad.data, bad.size, "the stream ends after 2");
    bad = f;
    patch_i32(&bad, 48, 1);
    assert_refused("prt", bad.data, bad.size, "more than the 1 particles");
    bad = f;
    patch_i32(&bad, 44, 3);
    assert_refused("prt", bad.data, bad.size, "version 3");
    bad = f;
    patch_i32(&bad, 8, 5000);
    assert_refused("prt", bad.data, bad.size, "the header is 5000 bytes long");
    bad = f;
    patch_i32(&bad, 56 + 12 + 32, 11);
    assert_refused("prt", bad.data, bad.size, "type 11");
    bad = f;
    patch_i32(&bad, 56 + 12 + 40, -4);
    assert_refused("prt", bad.data, bad.size, "offset -4");
    bad = f;
    patch_i32(&bad, 56 + 12 + 40, INT32_MAX);
    assert_refused("prt", bad.data, bad.size, "cannot hold them");

    prt two = prt_begin(1, 1);
    prt_table(&two, 2);
    prt_channel(&two, "Position", 4, 3, 0);
    prt_channel(&two, "ID", 2, 1, 8);
    prt_records(&two, records, 16);
    assert_refused("prt", two.data, two.size, "channels Position and ID overlap");

    prt other = prt_begin(1, 0);
    prt_table(&other, 1);
    prt_channel(&other, "Velocity", 4, 3, 0);
    assert_refused("prt", other.data, other.size, "no channel Position");
}

static void prt_scale_stands_in_for_radius(void **state)
{
    (void)state;
    prt f = prt_begin(1, 1);
    prt_table(&f, 3);
    prt_channel(&f, "Position", 4, 3, 0);
    prt_channel(&f, "Scale", 4, 1, 12);
    prt_channel(&f, "glow", 4, 1, 16);
    prt_records(&f, (float[]){1, 2, 3, 4, 5}, 20);
    firn_points points = parse("prt", f.data, f.size);
    assert_column(&points, "pscale", FIRN_TYPE_f32, 1, VALUES(4));
    assert_column(&points, "glow", FIRN_TYPE_f32, 1, VALUES(5));
    firn_points_free(&points);
}

/* The channel table of a file of ours. */
static const uint8_t *channels_of(const firn_bytes *bytes, int32_t *count)
{
    int32_t header;
    memcpy(&header, bytes->data + 8, 4);
    memcpy(count, bytes->data + header + 4, 4);
    return bytes->data + header + 12;
}

static void prt_has_position_first_and_one_component_last(void **state)
{
    (void)state;
    for (int scalar = 0; scalar < 2; scalar++) {
        firn_points points = {.count = 2};
        if (scalar) add(&points, "glow", FIRN_TYPE_f32, 1);
        add(&points, "v", FIRN_TYPE_f32, 3);
        add(&points, "P", FIRN_TYPE_f32, 3);
        write_file(path_of("order.prt"), &points, &plain);
        firn_bytes bytes = load(path_of("order.prt"));
        int32_t count = 0, arity = 0;
        const uint8_t *table = channels_of(&bytes, &count);
        assert_int_equal(count, 3);
        assert_string_equal((const char *)table, "Position");
        assert_string_equal((const char *)table + 88, scalar ? "Glow" : "FirnPadding");
        memcpy(&arity, table + 88 + 36, 4);
        assert_int_equal(arity, 1);
        firn_bytes_free(&bytes);
        firn_points got = read_file(path_of("order.prt"));
        assert_int_equal(got.column_count, points.column_count);
        firn_points_free(&got);
        firn_points_free(&points);
    }
}

static bool contains(const firn_bytes *bytes, const void *what, size_t size)
{
    for (size_t i = 0; i + size <= bytes->size; i++) {
        if (memcmp(bytes->data + i, what, size) == 0) return true;
    }
    return false;
}

static void prt_says_its_units_axes_bounds_and_rate(void **state)
{
    (void)state;
    firn_points points = {.count = 2};
    memcpy(add(&points, "P", FIRN_TYPE_f32, 3), (float[]){1, 5, -2, 3, 4, 0}, 24);
    write_file(path_of("about.prt"), &points, &(firn_write_options){.fps = 24000.0 / 1001});
    firn_bytes bytes = load(path_of("about.prt"));
    assert_true(contains(&bytes, "CoordSys\0\1\0\0\0\1\0\0", 17));
    assert_true(contains(&bytes, "LengthUnitInMicrometers\0\5\0\0\0\0\0\0\0\x80\x84\x2e\x41", 36));
    prt box = {0};
    put(&box, "BoundBox\0\4\0\0", 13);
    put(&box, (float[]){1, 4, -2, 3, 5, 0}, 24);
    assert_true(contains(&bytes, box.data, box.size));
    prt rate = {0};
    put(&rate, "FrameRate\0\7\0\0", 14);
    put_i32(&rate, 24000);
    put_i32(&rate, 1001);
    assert_true(contains(&bytes, rate.data, rate.size));
    firn_bytes_free(&bytes);
    firn_points_free(&points);
}

static void prt_half_narrows_all_but_positions_and_integers(void **state)
{
    (void)state;
    firn_points points = make_known(100);
    float *large = add(&points, "Wetness", FIRN_TYPE_f32, 1);
    float *small = add(&points, "Volume", FIRN_TYPE_f32, 1);
    for (int i = 0; i < 100; i++) large[i] = 1e5f + (float)i, small[i] = 1e-9f * (float)i;
    write_file(path_of("half.prt"), &points, &(firn_write_options){.half = true});
    firn_points got = read_file(path_of("half.prt"));
    assert_same(&got, &points, "prt");
    assert_int_equal(column_of(&got, "P")->type, FIRN_TYPE_f32);
    assert_int_equal(column_of(&got, "v")->type, FIRN_TYPE_f16);
    assert_int_equal(column_of(&got, "F")->type, FIRN_TYPE_f16);
    assert_int_equal(column_of(&got, "id")->type, FIRN_TYPE_i64);
    assert_int_equal(column_of(&got, "material")->type, FIRN_TYPE_i32);
    assert_int_equal(column_of(&got, "Wetness")->type, FIRN_TYPE_f32);
    assert_int_equal(column_of(&got, "Volume")->type, FIRN_TYPE_f32);
    firn_points_free(&got);
    firn_points_free(&points);
}

static void prt_keeps_types(void **state)
{
    (void)state;
    firn_points points = make(3);
    for (int type = 0; type < FIRN_TYPE_COUNT; type++) {
        char name[32];
        snprintf(name, sizeof name, "A%s", firn_type_name((firn_type)type));
        add(&points, name, (firn_type)type, 2);
    }
    write_file(path_of("types.prt"), &points, &plain);
    firn_points got = read_file(path_of("types.prt"));
    for (int32_t k = 0; k < points.column_count; k++) {
        assert_int_equal(column_of(&got, points.column[k].name)->type, points.column[k].type);
    }
    firn_points_free(&got);
    firn_points_free(&points);
}

static void prt_levels_change_size_not_content(void **state)
{
    (void)state;
    firn_points points = make_known(MANY);
    size_t size[10] = {0};
    for (int level = 1; level <= 9; level += 8) {
        round_trip(format_named("prt"), &points, &(firn_write_options){.level = level});
        firn_bytes bytes = load(path_of("points.prt"));
        size[level] = bytes.size;
        firn_bytes_free(&bytes);
    }
    assert_true(size[9] < size[1]);
    firn_error error = {0};
    assert_int_equal(firn_points_write(path_of("points.prt"), &points,
                                       &(firn_write_options){.level = 10}, &error),
                     FIRN_INVALID);
    firn_points_free(&points);
}

static void prt_refuses_names_it_cannot_hold(void **state)
{
    (void)state;
    static const char *const names[] = {"a:b", "1st", "a name",
                                        "a_name_longer_than_thirty_one_letters"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        firn_points points = make(1);
        firn_error error = {0};
        add(&points, names[i], FIRN_TYPE_f32, 1);
        assert_int_equal(firn_points_write(path_of("names.prt"), &points, &plain, &error),
                         FIRN_INVALID);
        assert_non_null(strstr(error.message, names[i]));
        firn_points_free(&points);
    }
    firn_points points = make(1);
    firn_error error = {0};
    add(&points, "glow", FIRN_TYPE_f32, 1);
    add(&points, "Glow", FIRN_TYPE_f32, 1);
    assert_int_equal(firn_points_write(path_of("names.prt"), &points, &plain, &error),
                     FIRN_INVALID);
    assert_non_null(strstr(error.message, "two attributes would be called Glow"));
    firn_points_free(&points);
}

/* ---- PLY ---- */

static void ply_samples_have_the_known_values(void **state)
{
    (void)state;
    firn_points points = read_file(sample("points_ascii.ply"));
    assert_int_equal(points.count, 2);
    assert_int_equal(points.column_count, 2);
    assert_column(&points, "P", FIRN_TYPE_f32, 3, VALUES(0, 0, 0, 1, 0, 0));
    assert_column(&points, "temperature", FIRN_TYPE_f32, 1, VALUES(300, 301));
    firn_points_free(&points);

    points = read_file(sample("mesh_attrs.ply"));
    const double half = (double)(float)(128.0 / 255);
    assert_int_equal(points.count, 4);
    assert_int_equal(points.column_count, 5);
    assert_column(&points, "P", FIRN_TYPE_f32, 3, VALUES(0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0));
    assert_column(&points, "v", FIRN_TYPE_f32, 3, VALUES(0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0));
    assert_column(&points, "Cd", FIRN_TYPE_f32, 3,
                  VALUES(1, half, 0, 1, half, 0, 1, half, 0, 1, half, 0));
    assert_column(&points, "temperature", FIRN_TYPE_f32, 1, VALUES(300, 301, 302, 303));
    assert_column(&points, "id", FIRN_TYPE_i32, 1, VALUES(100, 101, 102, 103));
    firn_points_free(&points);
}

#define PARSE(format, text) parse(format, text, sizeof(text) - 1)
#define REFUSED(format, text, message) assert_refused(format, text, sizeof(text) - 1, message)

static void ply_passes_over_what_is_no_particle(void **state)
{
    (void)state;
    firn_points points =
        PARSE("ply", "ply\r\nformat ascii 1.0\r\ncomment x\r\nelement camera 2\r\n"
                     "property list uchar int32 pixels\r\nproperty float f\r\n"
                     "element vertex 2\r\nproperty float64 x\r\nproperty list uint8 uint8 near\r\n"
                     "property double z\r\nproperty float32 y\r\nproperty ushort w_1\r\n"
                     "property uint16 w_0\r\nproperty float red\r\nproperty float green\r\n"
                     "property float blue\r\nproperty int16 nx\r\nelement face 1\r\n"
                     "property list uchar int vertex_index\r\nend_header\r\n"
                     "3 1 2 3 0.5\r\n0 7\r\n"
                     "0.1 2 9 9 3 2 10 20 .25 .5 1 -5\r\n1e3 0 nan -inf 11 21 0 0 0 6\r\n"
                     "3 0 1 1\r\n");
    assert_int_equal(points.count, 2);
    assert_int_equal(points.column_count, 4);
    const double *P = column_of(&points, "P")->data;
    assert_true(P[0] == 0.1 && P[1] == 2 && P[2] == 3 && P[3] == 1000 && P[4] == -INFINITY);
    assert_true(isnan(P[5]));
    assert_column(&points, "w", FIRN_TYPE_u16, 2, VALUES(20, 10, 21, 11));
    assert_column(&points, "Cd", FIRN_TYPE_f32, 3, VALUES(.25, .5, 1, 0, 0, 0));
    assert_column(&points, "nx", FIRN_TYPE_i16, 1, VALUES(-5, 6));
    firn_points_free(&points);
}

static void ply_of_either_byte_order_is_read(void **state)
{
    (void)state;
    firn_points big = PARSE("ply", "ply\nformat binary_big_endian 1.0\nelement vertex 1\n"
                                   "property float x\nproperty float y\nproperty float z\n"
                                   "property list uchar short skipped\n"
                                   "property int id\nend_header\n"
                                   "\x3f\x80\0\0\x40\0\0\0\xc0\0\0\0\2....\0\0\1\2");
    assert_column(&big, "P", FIRN_TYPE_f32, 3, VALUES(1, 2, -2));
    assert_column(&big, "id", FIRN_TYPE_i32, 1, VALUES(258));
    firn_points_free(&big);
    firn_points little = PARSE("ply", "ply\nformat binary_little_endian 1.0\nelement vertex 1\n"
                                      "property float x\nproperty float y\nproperty float z\n"
                                      "property int id\nend_header\n"
                                      "\0\0\x80\x3f\0\0\0\x40\0\0\0\xc0\2\1\0\0");
    assert_column(&little, "P", FIRN_TYPE_f32, 3, VALUES(1, 2, -2));
    assert_column(&little, "id", FIRN_TYPE_i32, 1, VALUES(258));
    firn_points_free(&little);
}

#define XYZ "property float x\nproperty float y\nproperty float z\n"

static void ply_damage_is_named(void **state)
{
    (void)state;
    REFUSED("ply", "ply\nformat ascii 2", "no line \"end_header\"");
    REFUSED("ply", "ply\nformat text 1.0\n", "line 2 of the header");
    REFUSED("ply", "ply\nformat ascii 1.0\nelement vertex -1\n", "line 3 of the header");
    REFUSED("ply", "ply\nformat ascii 1.0\nelement vertex 1\nproperty half x\n", "line 4");
    REFUSED("ply", "ply\nformat ascii 1.0\nelement face 0\nend_header\n", "no element vertex");
    REFUSED("ply", "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nend_header\n1\n",
            "no properties x, y and z");
    REFUSED("ply", "ply\nformat ascii 1.0\nelement vertex 1\n" XYZ "end_header\n1 2 a\n",
            "line 8: \"a\" is not a number");
    REFUSED("ply",
            "ply\nformat ascii 1.0\nelement vertex 1\n" XYZ "property uchar u\nend_header\n"
            "1 2 3 300\n",
            "line 9: \"300\" is not a whole number");
    REFUSED("ply", "ply\nformat ascii 1.0\nelement vertex 1\n" XYZ "end_header\n1 2 3 4\n",
            "line 8: \"4\" comes after the last value");
    REFUSED("ply", "ply\nformat ascii 1.0\nelement vertex 900000000000\n" XYZ "end_header\n1 2 3\n",
            "the header says 900000000000 rows");
    REFUSED("ply",
            "ply\nformat binary_little_endian 1.0\nelement vertex 2\n" XYZ "end_header\n"
            "0123456789ab0123",
            "the header says 2 rows of 12 bytes");
    REFUSED("ply",
            "ply\nformat binary_little_endian 1.0\nelement vertex 1\n" XYZ
            "property list char int l\nend_header\n0123456789ab\x80",
            "list l has -128 items");
}

static void ply_holds_whole_numbers_up_to_2_53(void **state)
{
    (void)state;
    firn_points points = make(1);
    int64_t *id = add(&points, "id", FIRN_TYPE_i64, 1);
    id[0] = 1LL << 53;
    round_trip(format_named("ply"), &points, &plain);
    id[0]++;
    firn_error error = {0};
    assert_int_equal(firn_points_write(path_of("points.ply"), &points, &plain, &error),
                     FIRN_INVALID);
    assert_non_null(strstr(error.message, "attribute id"));
    firn_points_free(&points);
}

/* ---- CSV ---- */

static void csv_of_any_dialect_is_read(void **state)
{
    (void)state;
    static const char *const dialects[] = {
        "x,y,z,v.x,v.y,v.z,id\n1,2,3,4,5,6,7\n",
        "# made by hand\r\n\r\nP.x;P.y;P.z;vx;vy;vz;id\r\n1;2;3;4;5;6;7\r\n",
        "id\tP[0]\tP[2]\tP[1]\tv.r\tv.g\tv.b\n#\n7\t1\t3\t2\t4\t5\t6",
        "\"x\" , \"y\", \"z\",v.x,v.y,v.z,id\n \"1\" ,2.0,3e0,+4, 5 ,6,7\n\n",
    };
    for (size_t i = 0; i < sizeof dialects / sizeof *dialects; i++) {
        firn_points points = parse("csv", dialects[i], strlen(dialects[i]));
        assert_int_equal(points.count, 1);
        assert_int_equal(points.column_count, 3);
        assert_column(&points, "P", FIRN_TYPE_f32, 3, VALUES(1, 2, 3));
        assert_column(&points, "v", FIRN_TYPE_f32, 3, VALUES(4, 5, 6));
        assert_column(&points, "id", FIRN_TYPE_i64, 1, VALUES(7));
        firn_points_free(&points);
    }
}

static void csv_types_come_from_the_values(void **state)
{
    (void)state;
    firn_points points = PARSE("csv", "x,y,z,material,object,id,a,b,c,d\n"
                                      "0.1,0.5,3,4,5000000000,1.5,0.100000001,0.1000000012,1,"
                                      "9007199254740993\n"
                                      "1,1,1,1,1,1,1,1,16777217,1\n");
    assert_int_equal(column_of(&points, "P")->type, FIRN_TYPE_f32);
    assert_int_equal(column_of(&points, "material")->type, FIRN_TYPE_i32);
    assert_int_equal(column_of(&points, "object")->type, FIRN_TYPE_i64);
    assert_int_equal(column_of(&points, "id")->type, FIRN_TYPE_f32);
    assert_int_equal(column_of(&points, "a")->type, FIRN_TYPE_f32);
    assert_int_equal(column_of(&points, "b")->type, FIRN_TYPE_f64);
    assert_int_equal(column_of(&points, "c")->type, FIRN_TYPE_f64);
    assert_int_equal(column_of(&points, "d")->type, FIRN_TYPE_i64);
    assert_true(((const int64_t *)column_of(&points, "d")->data)[0] == 9007199254740993);
    firn_points_free(&points);
}

static void csv_keeps_types_of_ours(void **state)
{
    (void)state;
    firn_points points = make(1);
    double *exact = add(&points, "exact", FIRN_TYPE_f64, 1);
    exact[0] = 1.3; /* which 17 digits end early */
    add(&points, "x", FIRN_TYPE_f32, 1);
    add(&points, "odd, \"name\"", FIRN_TYPE_f32, 2);
    write_file(path_of("types.csv"), &points, &plain);
    firn_points got = read_file(path_of("types.csv"));
    assert_same(&got, &points, "csv");
    for (int32_t k = 0; k < points.column_count; k++) {
        assert_int_equal(column_of(&got, points.column[k].name)->type, points.column[k].type);
    }
    firn_points_free(&got);
    firn_points_free(&points);
}

static void csv_damage_is_named_by_line_and_column(void **state)
{
    (void)state;
    REFUSED("csv", "", "no line that names the columns");
    REFUSED("csv", "1,2,3\n4,5,6\n", "line 1, column 1: \"1\" is not a name");
    REFUSED("csv", "x,y,z\n1,2,3\n\n1,b,3\n", "line 4, column 2: \"b\" is no number");
    REFUSED("csv", "x,y,z\n1,,3\n", "line 2, column 2: \"\" is no number");
    REFUSED("csv", "x,y,z\n1,2\n", "line 2 has fewer than the 3 fields");
    REFUSED("csv", "x,y,z\n1,2,3,4\n", "line 2 has more than the 3 fields");
    REFUSED("csv", "x,y,z\n\"1,2,3\n", "line 2, column 1: \"1,2,3\" has no quotes at its end");
    REFUSED("csv", "x,y,z\n\"1\"2,2,3\n", "line 2, column 1: \"1\" goes on after its quotes");
    REFUSED("csv", "x,y,z,P.x\n1,2,3,4\n", "columns 1 and 4 are both P.x");
    REFUSED("csv", "x,y\n1,2\n", "no columns x, y and z");
    REFUSED("csv", "x,y,z,F[0],F[2]\n", "line 1, column 4: F[0] is given, yet F has 2 of 3");
}

/* A host that closed standard input, output or error may print to them all the same. */
static void outputs_stay_off_the_standard_descriptors(void **state)
{
    (void)state;
    for (int d = 0; d <= 2; d++) {
        const int kept = dup(d);
        assert_true(kept > 2);
        close(d);
        firn_output out;
        firn_error error = {0};
        const firn_status st = firn_output_open(&out, path_of("descriptor.csv"), &error);
        const int used = st == FIRN_OK ? fileno(out.file) : -1;
        const bool lost = write(d, "lost", 4) < 0;
        dup2(kept, d);
        close(kept);
        assert_true(used > 2 && lost);
        firn_output_discard(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outputs_stay_off_the_standard_descriptors),
        cmocka_unit_test(every_row_is_complete_and_its_name_unique),
        cmocka_unit_test(every_type_and_arity_survives_every_format),
        cmocka_unit_test(our_names_survive_every_format),
        cmocka_unit_test(no_particles_survive_every_format),
        cmocka_unit_test(any_number_of_threads_writes_the_same_bytes),
        cmocka_unit_test(failing_to_write_leaves_no_file),
        cmocka_unit_test(damaged_samples_are_refused_or_read_within_bounds),
        cmocka_unit_test(damaged_files_of_ours_are_refused_or_read_within_bounds),
        cmocka_unit_test(prt_samples_have_the_known_values),
        cmocka_unit_test(prt_units_and_axes_become_ours),
        cmocka_unit_test(prt_damage_is_named),
        cmocka_unit_test(prt_scale_stands_in_for_radius),
        cmocka_unit_test(prt_has_position_first_and_one_component_last),
        cmocka_unit_test(prt_says_its_units_axes_bounds_and_rate),
        cmocka_unit_test(prt_half_narrows_all_but_positions_and_integers),
        cmocka_unit_test(prt_keeps_types),
        cmocka_unit_test(prt_levels_change_size_not_content),
        cmocka_unit_test(prt_refuses_names_it_cannot_hold),
        cmocka_unit_test(ply_samples_have_the_known_values),
        cmocka_unit_test(ply_passes_over_what_is_no_particle),
        cmocka_unit_test(ply_of_either_byte_order_is_read),
        cmocka_unit_test(ply_damage_is_named),
        cmocka_unit_test(ply_holds_whole_numbers_up_to_2_53),
        cmocka_unit_test(csv_of_any_dialect_is_read),
        cmocka_unit_test(csv_types_come_from_the_values),
        cmocka_unit_test(csv_keeps_types_of_ours),
        cmocka_unit_test(csv_damage_is_named_by_line_and_column),
    };
    return cmocka_run_group_tests_name("io", tests, make_folder, remove_folder);
}
