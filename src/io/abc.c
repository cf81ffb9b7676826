/* Alembic as a particle format: files of one frame are written; of files that hold more objects and times,
 * the points of the first sample are read. <firn/alembic.h> has the rest. */
#include <math.h>

#include "base/error.h"
#include "io/abc.h"

/* The file's only points, at a time that it has, or their first. */
static firn_status read_only_points(const firn_alembic *a, double time, firn_points *out,
                                    firn_error *error)
{
    const double slack = 1e-5; /* s, far below any frame */
    int32_t found = -1;
    for (int32_t i = 0; i < a->object_count; i++) {
        if (a->object[i].kind != FIRN_ALEMBIC_POINTS) continue;
        if (found >= 0) {
            return firn_fail(error, FIRN_INVALID,
                             "has several points, as %.150s and %.150s; export the one you need "
                             "to a file of its own",
                             a->object[found].path, a->object[i].path);
        }
        found = i;
    }
    if (found < 0) {
        return firn_fail(error, FIRN_INVALID, "has no points among its %d objects",
                         a->object_count);
    }
    if (isnan(time)) return firn_alembic_read_points_sample(a, found, 0, out, error);
    firn_alembic_object about;
    const firn_status st = firn_alembic_get_object(a, found, &about, error);
    if (st != FIRN_OK) return st;
    if (time < about.first_time - slack || time > about.last_time + slack) {
        return firn_fail(error, FIRN_INVALID, "has no frame at %g s; it has %g to %g s", time,
                         about.first_time, about.last_time);
    }
    return firn_alembic_read_points(a, found, time + slack, out, error);
}

static firn_status read(const firn_bytes *in, firn_points *out, firn_error *error)
{
    firn_alembic *a = NULL;
    firn_status st = firn_alembic_open_bytes(in, &a, error);
    if (st == FIRN_OK) st = read_only_points(a, NAN, out, error);
    firn_alembic_close(a);
    return st;
}

static firn_status read_file(const char *path, double time, firn_points *out, firn_error *error)
{
    firn_alembic *a = NULL;
    firn_status st = firn_alembic_open_unnamed(path, &a, error);
    if (st == FIRN_OK) st = read_only_points(a, time, out, error);
    firn_alembic_close(a);
    return st;
}

static firn_status write(const firn_points *points, const firn_write_options *options,
                         firn_output *out, firn_error *error)
{
    const double fps = options->fps > 0 ? options->fps : firn_alembic_writer_def_default().fps;
    const int64_t frame = isnan(options->frame) ? 0 : firn_whole(options->frame);
    return firn_abc_write_points(points, frame, fps, out, error);
}

const firn_format firn_format_abc = {
    .name = "abc",
    .extensions = ".abc",
    .help = "Alembic points; without $F one file holds all frames",
    .recognise = firn_ogawa_recognise,
    .read = read,
    .read_file = read_file,
    .write = write,
    .sequence = true,
};
