/* Alembic inside the library: the archive as objects with trees of properties, whose samples are read one by
 * one. abc_read.c knows no schema; abc_geom.c and abc_xform.c know what those of AbcGeom mean. */
#ifndef FIRN_ABC_H
#define FIRN_ABC_H

#include <firn/alembic.h>

#include "io/ogawa.h"

/* Numbers in samples, as the file counts them: X(NAME, podName, column type). */
#define FIRN_ABC_PODS(X)                                                                           \
    X(BOOL, bool_t, u8)                                                                            \
    X(U8, uint8_t, u8)                                                                             \
    X(I8, int8_t, i8)                                                                              \
    X(U16, uint16_t, u16)                                                                          \
    X(I16, int16_t, i16)                                                                           \
    X(U32, uint32_t, u32)                                                                          \
    X(I32, int32_t, i32)                                                                           \
    X(U64, uint64_t, u64)                                                                          \
    X(I64, int64_t, i64)                                                                           \
    X(F16, float16_t, f16)                                                                         \
    X(F32, float32_t, f32)                                                                         \
    X(F64, float64_t, f64)
typedef enum firn_abc_pod {
#define POD(NAME, name, type) FIRN_ABC_##NAME,
    FIRN_ABC_PODS(POD)
#undef POD
        FIRN_ABC_STRING, /* each ended by a zero */
    FIRN_ABC_WSTRING,    /* of 32-bit letters */
    FIRN_ABC_POD_COUNT
} firn_abc_pod;

extern const char *const firn_abc_pod_names[FIRN_ABC_POD_COUNT];
extern const firn_type firn_abc_pod_types[FIRN_ABC_STRING]; /* of those that are numbers */

/* The bits of a property's header. */
enum {
    FIRN_ABC_SAMPLED = 0x100, /* has a time sampling other than 0 */
    FIRN_ABC_CHANGES = 0x200, /* says which samples change */
    FIRN_ABC_HOMOGENEOUS = 0x400,
    FIRN_ABC_CONSTANT = 0x800,
    FIRN_ABC_INLINE = 255 /* instead of a metadata index */
};
typedef enum firn_abc_form {
    FIRN_ABC_COMPOUND,
    FIRN_ABC_SCALAR,
    FIRN_ABC_ARRAY,
    FIRN_ABC_SINGLE /* an array whose samples have one element each */
} firn_abc_form;

/* Sample i is at time[i % count] + cycle x (i / count); without a cycle at time[i]. */
typedef struct firn_abc_sampling {
    double cycle; /* s */
    bool acyclic;
    uint32_t count;
    double *time; /* s */
} firn_abc_sampling;

typedef struct firn_abc_property {
    const char *name, *metadata;
    firn_abc_form form;
    firn_abc_pod pod;
    uint32_t extent;            /* components of an element */
    uint32_t sampling;          /* by number */
    uint32_t samples;           /* as the file counts them; fewer are stored */
    uint32_t first, last;       /* those that may differ from the one before; 0 and 0: constant */
    uint64_t group;             /* of samples */
    int32_t child, child_count; /* of a compound: in the archive's list */
} firn_abc_property;

typedef struct firn_abc_object {
    const char *name, *path, *metadata;
    const char *source; /* of an instance: the path it stands for; NULL: it is none */
    firn_alembic_kind kind;
    int32_t parent, depth;
    int32_t end;    /* past those in it; of an instance, itself only */
    int32_t origin; /* of one that an instance brings: what it stands for; else itself */
    int32_t child, child_count; /* properties */
    uint64_t group;
} firn_abc_object;

struct firn_alembic {
    firn_ogawa file;
    char *path; /* for messages; NULL: the caller adds it */
    int32_t version;
    const char *metadata, *application;
    firn_abc_object *object;
    int32_t object_count;
    firn_abc_property *property;
    int32_t property_count;
    firn_abc_sampling *sampling;
    uint32_t sampling_count;
    const char *table[FIRN_ABC_INLINE]; /* of metadata by index */
    struct firn_abc_text *text;         /* blocks that hold all strings */
    uint64_t
        unread; /* bytes of file that describe something not yet read: nothing is described twice */
    uint64_t path_bytes;
    double *times; /* of all samplings */
};

/* ---- abc_read.c ---- */

/* Neither these nor what is then read of them name the path in errors. Bytes must outlive it. */
firn_status firn_alembic_open_unnamed(const char *path, firn_alembic **out, firn_error *error);
firn_status firn_alembic_open_bytes(const firn_bytes *bytes, firn_alembic **out, firn_error *error);

/* The value of a key in "key=value;key=value", or "". */
const char *firn_abc_metadata(const char *metadata, const char *key, char *value, size_t size);

/* The property of that name among some, or NULL. */
const firn_abc_property *firn_abc_find(const firn_alembic *a, int32_t child, int32_t count,
                                       const char *name);
/* That of an object's schema, ".geom" or the like; NULL if it has none. */
const firn_abc_property *firn_abc_schema(const firn_alembic *a, const firn_abc_object *o);
/* A part of a compound; NULL if either is missing. */
const firn_abc_property *firn_abc_part(const firn_alembic *a, const firn_abc_property *compound,
                                       const char *name);

/* When a sample is, s. */
double firn_abc_time(const firn_alembic *a, const firn_abc_property *p, int64_t sample);

/* A time between samples: low, or low and high with a weight from 0 to 1 on high. */
typedef struct firn_abc_moment {
    int64_t low, high;
    double weight;
} firn_abc_moment;
firn_abc_moment firn_abc_moment_at(const firn_alembic *a, const firn_abc_property *p, double time);

/* Where a sample's data is. */
firn_status firn_abc_word(const firn_alembic *a, const firn_abc_property *p, int64_t sample,
                          uint64_t *word, firn_error *error);
/* How many elements a sample has. Strings are counted in bytes. */
firn_status firn_abc_count(const firn_alembic *a, const firn_abc_property *p, int64_t sample,
                           int64_t *count, firn_error *error);
/* The sample itself; free `data` with free, also when count is 0. A zero byte follows strings. */
typedef struct firn_abc_sample {
    void *data;
    int64_t count; /* elements; of strings bytes */
} firn_abc_sample;
firn_status firn_abc_load(const firn_alembic *a, const firn_abc_property *p, int64_t sample,
                          firn_abc_sample *out, firn_error *error);
/* The same as numbers: count x extent. Fails if `extent` is above 0 and not the property's. */
firn_status firn_abc_load_numbers(const firn_alembic *a, const firn_abc_property *p, int64_t sample,
                                  uint32_t extent, double **out, int64_t *count, firn_error *error);

/* With the file's path in front. */
firn_status firn_abc_fail(const firn_alembic *a, const firn_error *inner, firn_error *error);

/* ---- abc_xform.c ---- */

/* firn_alembic_matrix, with errors that do not name the path. */
firn_status firn_abc_matrix(const firn_alembic *a, int32_t object, double time, double matrix[16],
                            firn_error *error);
/* p' = p M; a vector is turned and scaled, not moved. `out` may be the point. */
void firn_abc_transform(const double matrix[16], const double point[3], bool is_point,
                        double out[3]);

/* What .pointIds says in its metadata if a writer of Firn's had no ids. */
#define FIRN_ABC_ORDERED "firnOrder"

/* ---- abc_write.c ---- */

/* A file of one frame with points into an output, which the caller commits. */
firn_status firn_abc_write_points(const firn_points *points, int64_t frame, double fps,
                                  firn_output *out, firn_error *error);

#endif
