/* What a build without compression libraries has in place of png.c, prt.c, bgeo_sc.c, geo_gzip.c, vdb_read.c and
 * vdb_write.c: the same names, so that scenes which write such files are read alike, and a message where
 * one is to be read or written. Compiled by the web build alone. */
#include "base/error.h"
#include "io/geo.h"
#include "io/png.h"
#include "io/volume.h"

static firn_status refuse(const char *what, firn_error *error)
{
    return firn_fail(error, FIRN_INVALID,
                     "%s are not supported in the browser; convert the file with `firn convert` to "
                     ".bgeo, .geo, .ply, .abc or .csv, or use `firn view`",
                     what);
}

/* ---- PRT ---- */

static firn_status read_prt(const firn_bytes *in, firn_points *out, firn_error *error)
{
    (void)in, (void)out;
    return refuse("PRT files", error);
}

static firn_status write_prt(const firn_points *points, const firn_write_options *options,
                             firn_output *out, firn_error *error)
{
    (void)points, (void)options, (void)out;
    return refuse("PRT files", error);
}

const firn_format firn_format_prt = {
    .name = "prt",
    .extensions = ".prt",
    .help = "Krakatoa particles, compressed; any attributes",
    .read = read_prt,
    .write = write_prt,
};

/* ---- pictures ---- */

firn_status firn_png_read(const char *path, firn_png *out, firn_error *error)
{
    (void)path, (void)out;
    return firn_fail(
        error, FIRN_INVALID,
        "pictures of heightfields are not supported in the browser; use `firn view`, or "
        "give a height");
}

/* ---- Houdini's points, compressed ---- */

firn_status firn_scf_unpack(const firn_bytes *in, firn_bytes *out, firn_error *error)
{
    (void)in;
    *out = (firn_bytes){0};
    return refuse("compressed .bgeo.sc files", error);
}

static firn_status write_blocks(const firn_points *points, const firn_write_options *options,
                                firn_output *out, firn_error *error)
{
    (void)points, (void)options, (void)out;
    return refuse("compressed .bgeo.sc files", error);
}

const firn_format firn_format_bgeo_sc = {
    .name = "bgeo.sc",
    .extensions = ".bgeo.sc",
    .help = "Houdini points, compressed in blocks",
    .read = firn_geo_read,
    .write = write_blocks,
};

firn_status firn_gunzip(const firn_bytes *in, size_t limit, firn_bytes *out, firn_error *error)
{
    (void)in, (void)limit;
    *out = (firn_bytes){0};
    return refuse("gzipped files", error);
}

firn_status firn_geo_write_gzip(const firn_points *points, const firn_write_options *options,
                                bool binary, firn_output *out, firn_error *error)
{
    (void)points, (void)options, (void)binary, (void)out;
    return refuse("gzipped files", error);
}

/* ---- OpenVDB ---- */

firn_status firn_volumes_parse(const char *path, const firn_bytes *bytes, firn_volumes *out,
                               firn_error *error)
{
    (void)bytes;
    *out = (firn_volumes){0};
    return firn_fail(
        error, FIRN_INVALID,
        "%s: OpenVDB files are not supported in the browser; use `firn view`, or a mesh", path);
}

firn_status firn_volumes_read(const char *path, firn_volumes *out, firn_error *error)
{
    return firn_volumes_parse(path, NULL, out, error);
}

firn_status firn_volumes_put(const firn_volumes *volumes, const firn_write_options *options,
                             firn_output *out, firn_error *error)
{
    (void)volumes, (void)options, (void)out;
    return refuse("OpenVDB files", error);
}

firn_status firn_volumes_write(const char *path, const firn_volumes *volumes,
                               const firn_write_options *options, firn_error *error)
{
    (void)path, (void)volumes, (void)options;
    return refuse("OpenVDB files", error);
}
