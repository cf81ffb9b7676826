/* Ogawa, the container of Alembic files: chunks of data (a size and so many bytes) and groups (a number and
 * so many words), anywhere in the file; and the hash that Alembic knows data by.
 *
 * A word is a chunk's position, with the highest bit set for data. Two stand for chunks that do not exist:
 * FIRN_OGAWA_NO_GROUP, and FIRN_OGAWA_NO_DATA of no bytes. All numbers are little-endian, as on every machine
 * Firn runs on. Nothing a word says is believed: reading outside the file fails. */
#ifndef FIRN_OGAWA_H
#define FIRN_OGAWA_H

#include "io/io.h"

#define FIRN_OGAWA_NO_GROUP ((uint64_t)0)
#define FIRN_OGAWA_NO_DATA ((uint64_t)1 << 63)
enum { FIRN_OGAWA_HEAD = 16, FIRN_OGAWA_KEY = 16 }; /* bytes */

/* ---- reading ---- */

/* A file, read where it is asked for, or bytes in memory, which must outlive it. */
typedef struct firn_ogawa {
    int file;            /* descriptor; -1: in memory */
    const uint8_t *data; /* in memory */
    uint64_t size;       /* bytes */
    uint64_t root;       /* group */
} firn_ogawa;

bool firn_ogawa_recognise(const firn_bytes *head);
/* Errors do not name the path. Unless `unfinished`, such files are refused. */
firn_status firn_ogawa_open(firn_ogawa *o, const char *path, bool unfinished, firn_error *error);
firn_status firn_ogawa_open_bytes(firn_ogawa *o, const firn_bytes *bytes, firn_error *error);
void firn_ogawa_close(firn_ogawa *o); /* once opened, or failed to */

/* Any bytes of it. */
firn_status firn_ogawa_get(const firn_ogawa *o, uint64_t at, void *to, uint64_t size,
                           firn_error *error);
/* How many words a group has; all of them lie in the file. */
firn_status firn_ogawa_count(const firn_ogawa *o, uint64_t group, uint64_t *count,
                             firn_error *error);
/* One of a group's words. */
firn_status firn_ogawa_child(const firn_ogawa *o, uint64_t group, uint64_t index, uint64_t *word,
                             firn_error *error);
/* How many bytes a chunk of data has; all of them lie in the file. */
firn_status firn_ogawa_size(const firn_ogawa *o, uint64_t data, uint64_t *size, firn_error *error);
/* Some of them. */
firn_status firn_ogawa_read(const firn_ogawa *o, uint64_t data, uint64_t offset, void *to,
                            uint64_t size, firn_error *error);

/* ---- writing ---- */

/* Appends to an output, which remembers failures. */
typedef struct firn_ogawa_writer {
    firn_output *out;
    uint64_t at; /* the next chunk's position */
} firn_ogawa_writer;

/* Begins a file that is marked as unfinished. */
void firn_ogawa_begin(firn_ogawa_writer *w, firn_output *out);
/* Goes on at the end of one, and marks it so. */
void firn_ogawa_continue(firn_ogawa_writer *w, firn_output *out, uint64_t size);
/* A chunk of the head and then the body; returns its word. */
uint64_t firn_ogawa_add_data(firn_ogawa_writer *w, const void *head, size_t head_size,
                             const void *body, size_t body_size);
uint64_t firn_ogawa_add_group(firn_ogawa_writer *w, const uint64_t *words, size_t count);
/* States the root, and marks the file as finished. */
void firn_ogawa_finish(firn_ogawa_writer *w, uint64_t root);

/* MurmurHash3 (Appleby 2011, public domain), x64, 128 bits, seed 0. */
void firn_murmur(const void *data, size_t size, uint8_t key[FIRN_OGAWA_KEY]);

#endif
