/* Writing Alembic inside the library: properties over time. abc_write.c takes samples, abc_record.c keeps and
 * finds the records of frames, abc_tree.c writes groups and headers when a file is finished. */
#ifndef FIRN_ABC_WRITER_H
#define FIRN_ABC_WRITER_H

#include "io/abc.h"

/* A stored sample. */
typedef struct firn_abc_stored {
    uint64_t word, dimensions; /* of data; the latter of text only, else FIRN_OGAWA_NO_DATA */
    uint64_t bytes;            /* without the key */
    uint64_t elements;
    uint8_t key[FIRN_OGAWA_KEY];
} firn_abc_stored;
extern const firn_abc_stored firn_abc_nothing; /* an empty array */

/* A property over time. What a frame brings counts once it is committed. */
typedef struct firn_abc_series {
    char name[FIRN_NAME_SIZE];
    bool attribute; /* one of .arbGeomParams */
    bool scalar;
    bool ordered; /* ids that only count the points of each frame: none were given */
    firn_abc_pod pod;
    uint32_t extent;
    uint64_t *word, *dimensions; /* of each frame; dimensions NULL: all FIRN_OGAWA_NO_DATA */
    bool single;                 /* all samples have one element */
    firn_abc_stored last, next;  /* committed, and of the frame under way */
    uint8_t sum[FIRN_OGAWA_KEY]; /* of all keys */
} firn_abc_series;

typedef struct firn_abc_shape {
    char name[FIRN_NAME_SIZE];
    firn_alembic_kind kind;
    firn_abc_series *series;
    int32_t count;
    bool given; /* has its sample of the frame under way */
} firn_abc_shape;

struct firn_alembic_writer {
    firn_output own, *out; /* out: own, or the caller's */
    firn_ogawa_writer file;
    char *path;
    double fps;
    firn_abc_shape *shape;
    int32_t shape_count;
    int64_t *frame; /* committed */
    int64_t frame_count;
    uint64_t end; /* behind the last record */
    bool finished;
};

/* Bytes that are built up. After a failure of memory all that follows does nothing. */
typedef struct firn_abc_buffer {
    uint8_t *data;
    size_t size, room;
    bool failed;
} firn_abc_buffer;
void firn_abc_put(firn_abc_buffer *b, const void *data, size_t size);

/* ---- abc_write.c ---- */

firn_status firn_abc_add_shape(firn_alembic_writer *w, firn_alembic_kind kind, const char *name,
                               int32_t *shape, firn_error *error);
/* The series of that name, a new one if there is none. Fails if it has another type. `about` has name,
 * attribute, scalar, pod and extent. */
firn_status firn_abc_find_series(firn_alembic_writer *w, int32_t shape,
                                 const firn_abc_series *about, firn_abc_series **out,
                                 firn_error *error);
/* Takes `next` of all series as a frame. */
firn_status firn_abc_take_frame(firn_alembic_writer *w, int64_t frame, firn_error *error);

/* ---- abc_record.c ---- */

/* Appends the record of the frame under way. */
firn_status firn_abc_write_record(firn_alembic_writer *w, int64_t frame, firn_error *error);
/* Takes all frames up to `last` of a file into a writer without frames. A missing file has none. */
firn_status firn_abc_read_records(firn_alembic_writer *w, const char *path, int64_t last,
                                  firn_error *error);

/* ---- abc_tree.c ---- */

/* Groups, headers and the root. */
firn_status firn_abc_write_tree(firn_alembic_writer *w, firn_error *error);
/* What an attribute of that name and type is to be read as, "rgb" or the like; "": nothing special. */
const char *firn_abc_interpretation(const char *name, firn_abc_pod pod, uint32_t extent);

#endif
