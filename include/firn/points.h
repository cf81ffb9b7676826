/* Particles as files carry them: named columns, and the formats that hold them.
 *
 * Columns have the names artists know (P v id mass pscale material object F Jp J temperature liquid
 * density Cd), SI units, and Y up, whatever a format calls them. Part of the library firn_scene. */
#ifndef FIRN_POINTS_H
#define FIRN_POINTS_H

#include <stdbool.h>

#include <firn/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- columns ---- */

/* The types of numbers: X(name, bytes). */
#define FIRN_TYPES(X)                                                                              \
    X(f16, 2)                                                                                      \
    X(f32, 4)                                                                                      \
    X(f64, 8) X(i8, 1) X(u8, 1) X(i16, 2) X(u16, 2) X(i32, 4) X(u32, 4) X(i64, 8) X(u64, 8)

typedef enum firn_type {
#define DECLARE(name, bytes) FIRN_TYPE_##name,
    FIRN_TYPES(DECLARE)
#undef DECLARE
        FIRN_TYPE_COUNT
} firn_type;

FIRN_API size_t firn_type_size(firn_type type);      /* bytes */
FIRN_API const char *firn_type_name(firn_type type); /* "f32" */

/* One component of one particle as a number, whatever its type. Integers beyond 2^53 are rounded;
 * a value that a type cannot hold becomes the nearest that it can. */
FIRN_API double firn_type_get(firn_type type, const void *data, int64_t index);
FIRN_API void firn_type_set(firn_type type, void *data, int64_t index, double value);

enum { FIRN_NAME_SIZE = 64, FIRN_MAX_COMPONENTS = 16, FIRN_MAX_COLUMNS = 256 };

typedef struct firn_column {
    char name[FIRN_NAME_SIZE];
    firn_type type;
    int32_t components;
    void *data; /* count x components */
    /* Of a column of text: what its i32 numbers stand for, from 0, each ended by a zero; any other
     * number is no text. NULL: a column of numbers. */
    char *words;
    size_t words_size; /* bytes */
    int32_t word_count;
} firn_column;

/* Starts zeroed; owns its columns. */
typedef struct firn_points {
    int64_t count; /* particles; set it before adding columns */
    int32_t column_count;
    firn_column *column;
} firn_points;

/* Adds a column of zeros. Returns NULL with an error if memory runs out, if the name is taken, empty
 * or too long, or if there are FIRN_MAX_COLUMNS already. Pointers to other columns become invalid. */
FIRN_API firn_column *firn_points_add(firn_points *points, const char *name, firn_type type,
                                      int32_t components, firn_error *error);
/* The column of that name, or NULL. */
FIRN_API firn_column *firn_points_find(const firn_points *points, const char *name);
FIRN_API void firn_points_free(firn_points *points);

/* ---- files ---- */

typedef struct firn_bytes {
    uint8_t *data;
    size_t size;
} firn_bytes;

/* Reads a whole file: an ordinary one of at most 64 GiB, no pipe and no device. Errors name the
 * path. */
FIRN_API FIRN_MUST_CHECK firn_status firn_bytes_read(const char *path, firn_bytes *out,
                                                     firn_error *error);
FIRN_API void firn_bytes_free(firn_bytes *bytes);

/* Writes a file, which appears whole or not at all. */
FIRN_API FIRN_MUST_CHECK firn_status firn_bytes_write(const char *path, const void *data,
                                                      size_t size, firn_error *error);

/* Creates a folder and its parents. Folders that exist are fine. */
FIRN_API FIRN_MUST_CHECK firn_status firn_make_folder(const char *path, firn_error *error);

/* Make one with firn_write_options_default. */
typedef struct firn_write_options {
    bool half;       /* 16-bit floats where the format allows; never for P */
    bool classic;    /* geo and bgeo: the form before Houdini 12, which Partio reads */
    int32_t level;   /* of compression; 0: the format's own choice */
    double frame;    /* the frame's number; NAN: unknown */
    double fps;      /* 1/s; 0: unknown */
    double voxel;    /* m, edge of a volume's voxels, which formats of particles do not read */
    int32_t threads; /* that compress; 0: all. The bytes do not depend on it */
} firn_write_options;
FIRN_API firn_write_options firn_write_options_default(void);

typedef struct firn_format_info {
    const char *name;       /* "prt"; NULL: there is no such format */
    const char *extensions; /* ".prt", several separated by spaces; the longest match counts */
    const char *help;       /* one line */
    bool reads, writes;
    bool sequence;            /* one file can hold all frames */
    const char *const *needs; /* columns that writing takes, then NULL; NULL: none */
} firn_format_info;

/* The formats, by number from 0. */
FIRN_API firn_format_info firn_format_get_info(int32_t index);

/* The format that a file's name asks for; its name is NULL, with an error that lists the formats, if
 * there is none. */
FIRN_API firn_format_info firn_format_find(const char *path, firn_error *error);

/* Reads a file into empty points. The content tells the format, and the name where it cannot. */
FIRN_API FIRN_MUST_CHECK firn_status firn_points_read(const char *path, firn_points *out,
                                                      firn_error *error);
/* The same at a time (s) of a file that holds several frames, as Alembic: that of the last sample up to then;
 * NAN: the first. */
FIRN_API FIRN_MUST_CHECK firn_status firn_points_read_at(const char *path, double time,
                                                         firn_points *out, firn_error *error);
/* Does the same for bytes in memory; `path` is what messages call them. *format, unless NULL, receives
 * the format's name. */
FIRN_API FIRN_MUST_CHECK firn_status firn_points_parse(const char *path, const firn_bytes *bytes,
                                                       firn_points *out, const char **format,
                                                       firn_error *error);
/* Writes in the format that the name asks for. The file appears whole or not at all. */
FIRN_API FIRN_MUST_CHECK firn_status firn_points_write(const char *path, const firn_points *points,
                                                       const firn_write_options *options,
                                                       firn_error *error);

#ifdef __cplusplus
}
#endif
#endif
