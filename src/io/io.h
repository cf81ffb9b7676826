/* Particles as files carry them: named columns, and a table of the formats.
 *
 * A format is one file here and one row in table.c: how it is recognised, how it is read, how it is
 * written. Readers see the whole file in memory and never trust it; writers write to an output that
 * appears under its name only when it is complete. In memory, columns have the names artists know
 * (P v id mass pscale material object F Jp J temperature liquid density Cd), SI units, and Y up; what
 * a format calls them is that format's business. */
#ifndef FIRN_IO_H
#define FIRN_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <firn/base.h>

/* ---- columns (points.c) ---- */

/* X(name, bytes) */
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

size_t firn_type_size(firn_type type);
const char *firn_type_name(firn_type type); /* "f32" */

/* One component of one particle as a number, whatever its type; integers beyond 2^53 are rounded. */
double firn_type_get(firn_type type, const void *data, int64_t index);
int64_t firn_whole(double value); /* the nearest; saturates, and 0 for a NaN */
void firn_type_set(firn_type type, void *data, int64_t index, double value); /* saturates */

uint16_t firn_half_from_float(float value); /* to nearest even; too large becomes infinity */
float firn_half_to_float(uint16_t half);

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

typedef struct firn_points {
    int64_t count;
    int32_t column_count;
    firn_column *column;
} firn_points;

/* A new column of zeros; NULL and an error when there is no memory, the name is taken, empty or too
 * long, or there are too many. Pointers to other columns stay valid only until then. */
firn_column *firn_points_add(firn_points *points, const char *name, firn_type type,
                             int32_t components, firn_error *error);
/* The column of that name, or NULL. */
firn_column *firn_points_find(const firn_points *points, const char *name);
void firn_points_free(firn_points *points);

/* Adds a word to those of a column of text. */
firn_status firn_column_add_word(firn_column *column, const char *word, firn_error *error);

/* ---- files (file.c) ---- */

typedef struct firn_bytes {
    uint8_t *data;
    size_t size;
} firn_bytes;

/* The whole file. Errors name the path. */
firn_status firn_bytes_read(const char *path, firn_bytes *out, firn_error *error);
void firn_bytes_free(firn_bytes *bytes);

/* A file under a temporary name beside its own; it takes its own when committed, and is removed when
 * discarded. Writing after a failure does nothing: commit reports the first. */
typedef struct firn_output {
    FILE *file;
    char *path, *temporary;
    int failed; /* errno of the first failure, or 0 */
} firn_output;

firn_status firn_output_open(firn_output *out, const char *path, firn_error *error);
void firn_output_write(firn_output *out, const void *data, size_t size);
void firn_output_print(firn_output *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Flushed to the disk, renamed. Either way `out` is closed. */
firn_status firn_output_commit(firn_output *out, firn_error *error);
void firn_output_discard(firn_output *out); /* does nothing after a commit */

/* ---- formats (table.c) ---- */

typedef struct firn_write_options {
    bool half;       /* float16 where the format allows; never P */
    bool classic;    /* geo and bgeo: the form before Houdini 12, which Partio reads */
    int32_t level;   /* of compression; 0: the format's own choice */
    double frame;    /* number, may be NAN: unknown */
    double fps;      /* 0: unknown */
    int32_t threads; /* that compress; 0: all there are. The bytes do not depend on it */
} firn_write_options;

typedef struct firn_format {
    const char *name;       /* "prt" */
    const char *extensions; /* ".prt", several separated by spaces; the longest match counts */
    const char *help;
    /* Whether the first bytes are this format's. NULL: known by its extension only. */
    bool (*recognise)(const firn_bytes *in);
    /* Fills an empty `out`; on failure what it holds is freed by the caller. Messages say where ("at
     * byte 120", "line 7"), what was found and what was expected; the caller adds the path. NULL:
     * cannot be read. */
    firn_status (*read)(const firn_bytes *in, firn_points *out, firn_error *error);
    /* Failing to write is the output's to remember: an error here is about the points. `threads`
     * is above 0 here. */
    firn_status (*write)(const firn_points *points, const firn_write_options *options,
                         firn_output *out, firn_error *error);
} firn_format;

/* All of them, then NULL. */
extern const firn_format *const firn_formats[];

/* By the end of the name, or NULL and an error that lists what there is. */
const firn_format *firn_format_of(const char *path, firn_error *error);

/* Reads by content, and by the name's end where content does not tell. */
firn_status firn_points_read(const char *path, firn_points *out, firn_error *error);
/* The same for bytes that are in memory already; *format, unless NULL, is set to what they are. */
firn_status firn_points_parse(const char *path, const firn_bytes *bytes, firn_points *out,
                              const firn_format **format, firn_error *error);
/* Bytes that firn_points_write would write there; nothing is written. */
firn_status firn_points_size(const char *path, const firn_points *points,
                             const firn_write_options *options, size_t *bytes, firn_error *error);
/* Writes in the format of the name's end; the file appears whole or not at all. */
firn_status firn_points_write(const char *path, const firn_points *points,
                              const firn_write_options *options, firn_error *error);

#endif
