/* Words and numbers of text files, one pass, no copies. */
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "geometry/mesh_parts.h"

firn_scan firn_scan_begin(const char *name, const firn_bytes *in)
{
    const firn_bytes bytes = firn_bytes_text(in);
    const char *text = (const char *)bytes.data;
    return (firn_scan){.at = text, .end = text + bytes.size, .name = name, .line = 1};
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

/* Behind a backslash that ends its line, or NULL when there is none at this place. */
static const char *continuation(const firn_scan *scan, const char *at)
{
    if (*at != '\\') return NULL;
    do at++;
    while (at < scan->end && is_blank(*at));
    if (at == scan->end) return at;
    return *at == '\n' ? at + 1 : NULL;
}

firn_mesh_word firn_scan_word(firn_scan *scan)
{
    while (scan->at < scan->end) {
        const char *next = continuation(scan, scan->at);
        if (next) {
            scan->at = next;
            scan->line++;
        } else if (is_blank(*scan->at)) {
            scan->at++;
        } else {
            break;
        }
    }
    const char *begin = scan->at;
    while (scan->at < scan->end && *scan->at != '\n' && !is_blank(*scan->at) &&
           !continuation(scan, scan->at)) {
        scan->at++;
    }
    return (firn_mesh_word){begin, (size_t)(scan->at - begin)};
}

bool firn_scan_line(firn_scan *scan)
{
    const char *stop =
        scan->at < scan->end ? memchr(scan->at, '\n', (size_t)(scan->end - scan->at)) : NULL;
    scan->at = stop ? stop + 1 : scan->end;
    scan->line++;
    return scan->at < scan->end;
}

firn_mesh_word firn_scan_any(firn_scan *scan)
{
    firn_mesh_word word = firn_scan_word(scan);
    while (word.size == 0 && firn_scan_line(scan)) word = firn_scan_word(scan);
    return word;
}

bool firn_mesh_word_is(firn_mesh_word word, const char *text)
{
    return strlen(text) == word.size && memcmp(word.at, text, word.size) == 0;
}

/* What the quick way below cannot do exactly. */
static bool number_by_library(firn_mesh_word word, double *out)
{
    char copy[128];
    if (word.size >= sizeof copy) return false;
    for (size_t i = 0; i < word.size; i++) {
        if (strchr("xXpP", word.at[i])) return false; /* no hexadecimal in these files */
        copy[i] = word.at[i] == '.' ? *localeconv()->decimal_point : word.at[i];
    }
    copy[word.size] = 0;
    char *stop;
    *out = strtod(copy, &stop);
    return word.size > 0 && stop == copy + word.size;
}

/* Up to 2^53 times or over a power of ten up to 10^22: both exact, so one rounding, the right one. */
bool firn_mesh_word_number(firn_mesh_word word, double *out)
{
    static const double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const char *at = word.at, *end = word.at + word.size;
    const bool negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+')) at++;
    uint64_t digits = 0;
    int count = 0, exponent = 0;
    bool point = false;
    for (; at < end && ((*at >= '0' && *at <= '9') || (*at == '.' && !point)); at++) {
        if (*at == '.') {
            point = true;
        } else {
            if (++count > 18) return number_by_library(word, out);
            digits = digits * 10 + (uint64_t)(*at - '0');
            exponent -= point;
        }
    }
    if (count == 0) return number_by_library(word, out); /* nan, inf or no number */
    if (at < end && (*at == 'e' || *at == 'E')) {
        at++;
        const bool down = at < end && *at == '-';
        if (at < end && (*at == '-' || *at == '+')) at++;
        if (at == end || end - at > 4) return number_by_library(word, out);
        int given = 0;
        for (; at < end && *at >= '0' && *at <= '9'; at++) given = given * 10 + (*at - '0');
        exponent += down ? -given : given;
    }
    if (at != end) return false;
    if (digits > (1ull << 53) || exponent < -22 || exponent > 22) {
        return number_by_library(word, out);
    }
    const double size =
        exponent < 0 ? (double)digits / power[-exponent] : (double)digits * power[exponent];
    *out = negative ? -size : size;
    return true;
}
