/* Records of a parser elsewhere, in the encoding that yaml.h describes. The encoding is not trusted: it may come
 * from a page. */
#include <string.h>

#include "base/error.h"
#include "scene/yaml.h"

typedef struct decoder {
    firn_yaml_source source; /* first */
    const char *at, *end;
} decoder;

/* Digits, then the letter that ends them. */
static bool read_number(decoder *d, char last, size_t most, size_t *out)
{
    size_t n = 0;
    const char *begin = d->at;
    for (; d->at < d->end && *d->at >= '0' && *d->at <= '9'; d->at++) {
        n = 10 * n + (size_t)(*d->at - '0');
        if (n > most) return false;
    }
    if (d->at == begin || d->at == d->end || *d->at != last) return false;
    d->at++;
    *out = n;
    return true;
}

static firn_status next_record(firn_yaml_source *source, firn_yaml_record *r)
{
    decoder *d = (decoder *)source;
    *r = (firn_yaml_record){.line = 1, .column = 1};
    if (d->at == d->end) return FIRN_OK;
    enum { MOST = 1 << 30 };
    const char kind = *d->at++;
    size_t line = 0, column = 0;
    if (d->at == d->end || *d->at++ != ' ' || !read_number(d, ' ', MOST, &line) ||
        !read_number(d, ' ', MOST, &column) || !read_number(d, ':', MOST, &r->size) ||
        r->size >= (size_t)(d->end - d->at) || d->at[r->size] != '\n' ||
        !strchr("{}[]ksq?&*-!", kind) || kind == 0) {
        return firn_fail(source->error, FIRN_INVALID,
                         "%s: the encoding of the scene's text is broken", source->file);
    }
    r->kind = kind;
    r->line = (int)line;
    r->column = (int)column;
    r->text = d->at;
    d->at += r->size + 1;
    return FIRN_OK;
}

firn_status firn_yaml_decode(const char *file, bool option, const void *encoded, size_t size,
                             int *values, firn_value **out, firn_error *error)
{
    decoder d = {.source = {file, option, values, error, next_record},
                 .at = encoded,
                 .end = (const char *)encoded + size};
    return firn_yaml_build(&d.source, out);
}
