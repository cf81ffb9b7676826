/* The parts of Houdini's point files: two forms, each as text and as bytes, and what may wrap
 * them.
 *
 *   geo_modern.c   since Houdini 12: JSON, read by Houdini
 *   geo_classic.c  before: a table of points, read by Houdini and by Partio
 *   bgeo_sc.c      either of them in compressed blocks
 *   geo_gzip.c     either of them in gzip
 *   geo.c          tells them apart by content, and has the rows of the table */
#ifndef FIRN_GEO_H
#define FIRN_GEO_H

#include "io/io.h"
#include "io/json.h"

/* Any form, wrapped or not. */
firn_status firn_geo_read(const firn_bytes *in, firn_points *out, firn_error *error);
/* The form that `options` asks for. */
firn_status firn_geo_write(const firn_points *points, const firn_write_options *options,
                           bool binary, const firn_sink *sink, firn_error *error);

firn_status firn_geo_modern_read(const firn_bytes *in, firn_points *out, firn_error *error);
firn_status firn_geo_modern_write(const firn_points *points, const firn_write_options *options,
                                  bool binary, const firn_sink *sink, firn_error *error);

firn_status firn_geo_classic_read(const firn_bytes *in, firn_points *out, firn_error *error);
firn_status firn_geo_classic_write(const firn_points *points, bool binary, const firn_sink *sink,
                                   firn_error *error);

/* The bytes inside of a file that begins with "scf1". */
firn_status firn_scf_unpack(const firn_bytes *in, firn_bytes *out, firn_error *error);

/* Opens up to `limit` bytes; a file may be several gzip files one after the other. */
firn_status firn_gunzip(const firn_bytes *in, size_t limit, firn_bytes *out, firn_error *error);
/* firn_geo_write, compressed into an output. */
firn_status firn_geo_write_gzip(const firn_points *points, const firn_write_options *options,
                                bool binary, firn_output *out, firn_error *error);

/* P, or NULL and an error when there is none of three components. */
const firn_column *firn_geo_position(const firn_points *points, firn_error *error);
bool firn_geo_is_float(firn_type type);
/* Whether all integers of the column are between these. */
bool firn_geo_within(const firn_column *column, int64_t points, int64_t low, int64_t high);

#endif
