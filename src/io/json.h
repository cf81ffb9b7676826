/* JSON, as Houdini's geometry files use it: the text, and SideFX's binary coding of the same
 * values.
 *
 * The reader hands out one value at a time and keeps nothing but its place, so a file of any
 * size costs no memory beyond itself. A failure sticks: from then on every call fails and reads
 * nothing, so callers may look at `status` once, at the end. The writer makes both codings by
 * the same calls. */
#ifndef FIRN_JSON_H
#define FIRN_JSON_H

#include "io/io.h"

/* ---- reading ---- */

typedef enum firn_json_kind {
    FIRN_JSON_FAILED,
    FIRN_JSON_NULL,
    FIRN_JSON_BOOL,
    FIRN_JSON_INTEGER,
    FIRN_JSON_REAL,
    FIRN_JSON_STRING,
    FIRN_JSON_ARRAY, /* opens; its values follow, then CLOSE */
    FIRN_JSON_MAP,   /* opens; key, value, key, value follow, then CLOSE */
    FIRN_JSON_CLOSE,
} firn_json_kind;

enum { FIRN_JSON_DEPTH = 64, FIRN_JSON_TEXT = 256 };

typedef struct firn_json {
    /* The value last read. */
    firn_json_kind kind;
    int64_t integer;           /* of INTEGER and BOOL */
    double real;               /* of INTEGER, BOOL and REAL */
    char text[FIRN_JSON_TEXT]; /* of STRING: what fits of it */

    firn_status status;
    firn_error *error;

    /* The reader's own. */
    const uint8_t *data;
    size_t size, at;
    size_t text_at; /* text: where the string last read begins */
    bool binary, swapped;
    int32_t depth;
    struct {
        uint8_t close; /* the byte that ends it; 0: a uniform array, which ends by its count */
        bool map;
        int64_t items;
    } level[FIRN_JSON_DEPTH];
    uint8_t uniform;       /* the type byte of the uniform array being read */
    int64_t uniform_left;  /* values of it still to come */
    int32_t uniform_bits;  /* bits of `uniform_word` still to come */
    uint32_t uniform_word; /* of a uniform array of booleans */
    size_t *token;         /* where each token's text begins, plus one; 0: not defined */
    size_t token_count;
} firn_json;

/* Whether these are the first bytes of the binary coding. */
bool firn_json_is_binary(const firn_bytes *bytes);

/* `bytes` must stay until firn_json_close. `error` may be NULL. */
void firn_json_open(firn_json *in, const firn_bytes *bytes, firn_error *error);
void firn_json_close(firn_json *in);

/* Reads on. */
firn_json_kind firn_json_next(firn_json *in);
/* Reads on and fails unless the value is of that kind. `what` names it in the message. */
void firn_json_expect(firn_json *in, firn_json_kind kind, const char *what);
/* Text alone: the whole string that was just read, however long it is. Free it with free; NULL: no memory,
 * or no string. *size, unless NULL, receives its length. */
char *firn_json_whole_text(firn_json *in, size_t *size);
/* The next key of a map, or of an array of keys and values, into `text`; false when it closes. */
bool firn_json_key(firn_json *in);
/* Passes over the next value, whatever it holds. */
void firn_json_skip(firn_json *in);
/* Passes over the rest of the innermost array or map that is open. */
void firn_json_leave(firn_json *in);

/* `count` numbers into `data`, which is of that type; values out of its range saturate. */
void firn_json_numbers(firn_json *in, firn_type type, void *data, int64_t count);
/* Fails unless the open array can hold `count` more numbers. Ask before making room for them. */
void firn_json_promise(firn_json *in, int64_t count);

void firn_json_fail(firn_json *in, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- writing ---- */

/* Where bytes go. Failing is for the sink to remember. */
typedef struct firn_sink {
    void (*put)(void *context, const void *data, size_t size);
    void *context;
} firn_sink;

enum { FIRN_JSON_TOKENS = FIRN_MAX_COLUMNS + 64 };

typedef struct firn_json_writer {
    const firn_sink *sink;
    bool binary;
    char before;                         /* text: what separates the next value from the last */
    const char *token[FIRN_JSON_TOKENS]; /* binary: strings written so far */
    int32_t token_count;
} firn_json_writer;

/* `sink` and all strings must outlive the writer. */
void firn_json_begin(firn_json_writer *out, const firn_sink *sink, bool binary);
void firn_json_put_open(firn_json_writer *out, char bracket);   /* '[' or '{' */
void firn_json_put_close(firn_json_writer *out, char bracket);  /* ']' or '}' */
void firn_json_put_key(firn_json_writer *out, const char *key); /* of a map */
void firn_json_put_string(firn_json_writer *out, const char *text);
void firn_json_put_bool(firn_json_writer *out, bool value);
void firn_json_put_integer(firn_json_writer *out, int64_t value);
void firn_json_put_real(firn_json_writer *out, firn_type type, double value);
/* Text: the next value begins a line. There must be one. */
void firn_json_put_line(firn_json_writer *out);
/* Binary: opens a uniform array of `count` numbers, which the caller then puts into the sink. */
void firn_json_put_uniform(firn_json_writer *out, firn_type type, int64_t count);

/* The fewest digits that read back as the same value of that type. Returns their number. */
int firn_real_print(char text[32], firn_type type, double value);

#endif
