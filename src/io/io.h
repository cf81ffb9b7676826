/* Particle files inside the library: conversion of numbers, files that appear whole, the table of
 * formats. <firn/points.h> has the rest.
 *
 * A format is one file here and one row in table.c: how it is recognised, how it is read, how it is
 * written. Readers see the whole file in memory and never trust it; writers write to an output that
 * appears under its name only when it is complete. */
#ifndef FIRN_IO_H
#define FIRN_IO_H

#include <stdio.h>

#include <firn/points.h>

/* ---- numbers (points.c) ---- */

int64_t firn_whole(double value); /* the nearest; saturates, and 0 for a NaN */

uint16_t firn_half_from_float(float value); /* to nearest even; too large becomes infinity */
float firn_half_to_float(uint16_t half);

/* Adds a word to those of a column of text. */
firn_status firn_column_add_word(firn_column *column, const char *word, firn_error *error);

/* ---- files (file.c) ---- */

/* The most that is read, in bytes; doc/scenes.md says the same under "Limits". */
#define FIRN_MOST_SCENE ((uint64_t)64 << 20)    /* a scene with all that it includes */
#define FIRN_MOST_FILE ((uint64_t)64 << 30)     /* any other file */
#define FIRN_MOST_UNPACKED ((uint64_t)64 << 30) /* compressed data, once it is not */

/* firn_bytes_read for files of at most so many bytes. */
firn_status firn_bytes_read_most(const char *path, uint64_t most, firn_bytes *out,
                                 firn_error *error);
/* Whether compressed data may become so many bytes: FIRN_MOST_UNPACKED, and what memory holds. */
firn_status firn_check_unpacked(double bytes, firn_error *error);
/* Up to so many bytes of a file's begin. */
firn_status firn_bytes_read_begin(const char *path, size_t most, firn_bytes *out,
                                  firn_error *error);
/* Text without the byte-order mark that some editors begin it with. Points into `in`. */
firn_bytes firn_bytes_text(const firn_bytes *in);

/* A file under a temporary name beside its own; it takes its own when committed, and is removed when
 * discarded. Writing after a failure does nothing: commit reports the first. */
typedef struct firn_output {
    FILE *file;
    char *path, *temporary;
    bool keep;  /* the file under its temporary name, to go on with it, unless it is committed */
    int failed; /* errno of the first failure, or 0 */
} firn_output;

/* The same file under a descriptor above 2, or -1 and errno. A host may print to 0, 1 and 2 although
 * they are closed; that must not land in a file of ours. */
int firn_descriptor_raise(int descriptor);

firn_status firn_output_open(firn_output *out, const char *path, firn_error *error);
/* The same under the name NAME.part, whatever the process: from byte `size` of that file on, which is cut
 * off there; 0 begins it anew. It is kept until it is committed. */
firn_status firn_output_continue(firn_output *out, const char *path, uint64_t size,
                                 firn_error *error);
void firn_output_write(firn_output *out, const void *data, size_t size);
/* Writes over bytes that are there already. */
void firn_output_patch(firn_output *out, uint64_t at, const void *data, size_t size);
/* Hands all that was written to the disk. */
firn_status firn_output_sync(firn_output *out, firn_error *error);
void firn_output_print(firn_output *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Flushed to the disk, renamed. Either way `out` is closed. */
firn_status firn_output_commit(firn_output *out, firn_error *error);
void firn_output_discard(firn_output *out); /* does nothing after a commit */

/* ---- formats (table.c) ---- */

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
    /* The same for a file, of which only parts are read: at a time (s), NAN for the first. NULL: it is read
     * whole. */
    firn_status (*read_file)(const char *path, double time, firn_points *out, firn_error *error);
    /* Failing to write is the output's to remember: an error here is about the points. `threads`
     * is above 0 here. */
    firn_status (*write)(const firn_points *points, const firn_write_options *options,
                         firn_output *out, firn_error *error);
    bool sequence; /* a file can hold all frames: firn_alembic_writer writes them one by one */
    /* Columns that writing takes, whatever others there are, then NULL. NULL: none. */
    const char *const *needs;
} firn_format;

/* All of them, then NULL. */
extern const firn_format *const firn_formats[];

/* By the end of the name, or NULL and an error that lists what there is. */
const firn_format *firn_format_of(const char *path, firn_error *error);

/* Bytes that firn_points_write would write there; nothing is written. */
firn_status firn_points_size(const char *path, const firn_points *points,
                             const firn_write_options *options, size_t *bytes, firn_error *error);
#endif
