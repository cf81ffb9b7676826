/* The formats: one row each, found by a name's end or by the first bytes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/parallel.h"
#include "io/io.h"

enum { MOST_BEGIN = 16 }; /* bytes that tell formats whose files are not read whole */

/* In the order in which content is asked. */
#define FORMATS(X) X(prt) X(bgeo) X(bgeo_sc) X(geo) X(ply) X(abc) X(vdb) X(csv)

#define DECLARE(name) extern const firn_format firn_format_##name;
FORMATS(DECLARE)
#undef DECLARE

const firn_format *const firn_formats[] = {
#define ROW(name) &firn_format_##name,
    FORMATS(ROW)
#undef ROW
        NULL};

/* How many letters of the name's end one of the extensions matches, or 0. Capitals count as small. */
static size_t match(const char *path, const char *extensions)
{
    const size_t length = strlen(path);
    size_t best = 0;
    while (*extensions) {
        const size_t n = strcspn(extensions, " ");
        size_t same = 0;
        while (n < length && same < n) {
            const char c = path[length - n + same];
            if ((c >= 'A' && c <= 'Z' ? c + 32 : c) != extensions[same]) break;
            same++;
        }
        if (same == n && n > best) best = n;
        extensions += n;
        extensions += strspn(extensions, " ");
    }
    return best;
}

const firn_format *firn_format_of(const char *path, firn_error *error)
{
    const firn_format *found = NULL;
    size_t best = 0;
    for (int i = 0; firn_formats[i]; i++) {
        const size_t n = match(path, firn_formats[i]->extensions);
        if (n > best) {
            best = n;
            found = firn_formats[i];
        }
    }
    if (found) return found;
    char known[256] = "";
    for (int i = 0; firn_formats[i]; i++) {
        const size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", used ? " " : "",
                 firn_formats[i]->extensions);
    }
    firn_fail(error, FIRN_INVALID, "%s: no particle format has this name's end; there are %s", path,
              known);
    return NULL;
}

static firn_format_info info_of(const firn_format *f)
{
    if (!f) return (firn_format_info){0};
    return (firn_format_info){f->name,          f->extensions, f->help, f->read != NULL,
                              f->write != NULL, f->sequence,   f->needs};
}

firn_format_info firn_format_get_info(int32_t index)
{
    const int32_t count = sizeof firn_formats / sizeof *firn_formats - 1;
    return info_of(index >= 0 && index < count ? firn_formats[index] : NULL);
}

firn_format_info firn_format_find(const char *path, firn_error *error)
{
    return info_of(firn_format_of(path, error));
}

firn_status firn_points_parse(const char *path, const firn_bytes *bytes, firn_points *out,
                              const char **format, firn_error *error)
{
    *out = (firn_points){0};
    const firn_format *found = NULL;
    const firn_bytes in = firn_bytes_text(bytes); /* no binary format begins like the mark */
    for (int i = 0; firn_formats[i] && !found; i++) {
        const firn_format *f = firn_formats[i];
        if (f->recognise && f->recognise(&in)) found = f;
    }
    if (!found) found = firn_format_of(path, error);
    if (!found) return FIRN_INVALID;
    if (format) *format = found->name;
    if (!found->read) {
        return firn_fail(error, FIRN_INVALID, "%s: %s files can be written, not read", path,
                         found->name);
    }
    firn_error inner = {0};
    const firn_status st = found->read(&in, out, &inner);
    if (st == FIRN_OK) return FIRN_OK;
    firn_points_free(out);
    return firn_fail(error, st, "%s: %s", path, inner.message);
}

firn_status firn_points_read(const char *path, firn_points *out, firn_error *error)
{
    FIRN_REQUIRE(path, error);
    FIRN_REQUIRE(out, error);
    return firn_points_read_at(path, NAN, out, error);
}

firn_status firn_points_read_at(const char *path, double time, firn_points *out, firn_error *error)
{
    *out = (firn_points){0};
    firn_bytes in;
    firn_status st = firn_bytes_read_begin(path, MOST_BEGIN, &in, error);
    if (st != FIRN_OK) return st;
    const firn_format *found = NULL;
    for (int i = 0; firn_formats[i] && !found; i++) {
        const firn_format *f = firn_formats[i];
        if (f->read_file && f->recognise(&in)) found = f;
    }
    firn_bytes_free(&in);
    firn_error inner = {0};
    if (found) {
        st = found->read_file(path, time, out, &inner);
        if (st == FIRN_OK) return FIRN_OK;
        firn_points_free(out);
        return firn_fail(error, st, "%s: %s", path, inner.message);
    }
    st = firn_bytes_read(path, &in, error);
    if (st == FIRN_OK) st = firn_points_parse(path, &in, out, NULL, error);
    firn_bytes_free(&in);
    return st;
}

firn_write_options firn_write_options_default(void) { return (firn_write_options){.frame = NAN}; }

/* The caller's output, whatever it is. */
static firn_status write_to(firn_output *out, const firn_format *format, const firn_points *points,
                            const firn_write_options *options, firn_error *error)
{
    firn_error inner = {0};
    firn_write_options own = *options;
    if (own.threads == 0) own.threads = firn_parallel_max_threads();
    const firn_status st = format->write(points, &own, out, &inner);
    return st == FIRN_OK ? st : firn_fail(error, st, "%s: %s", out->path, inner.message);
}

firn_status firn_points_size(const char *path, const firn_points *points,
                             const firn_write_options *options, size_t *bytes, firn_error *error)
{
    *bytes = 0;
    const firn_format *format = firn_format_of(path, error);
    if (!format) return FIRN_INVALID;
    char *text = NULL;
    firn_output out = {.file = open_memstream(&text, bytes), .path = (char *)path};
    if (!out.file) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    const firn_status st = write_to(&out, format, points, options, error);
    const bool failed = fclose(out.file) != 0 || out.failed;
    free(text);
    if (st == FIRN_OK && failed) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    return st;
}

firn_status firn_points_write(const char *path, const firn_points *points,
                              const firn_write_options *options, firn_error *error)
{
    FIRN_REQUIRE(path, error);
    FIRN_REQUIRE(points, error);
    FIRN_REQUIRE(options, error);
    const firn_format *format = firn_format_of(path, error);
    if (!format) return FIRN_INVALID;
    firn_output out;
    firn_status st = firn_output_open(&out, path, error);
    if (st != FIRN_OK) return st;
    st = write_to(&out, format, points, options, error);
    if (st != FIRN_OK) {
        firn_output_discard(&out);
        return st;
    }
    return firn_output_commit(&out, error);
}
