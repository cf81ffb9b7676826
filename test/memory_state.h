/* States of sims saved to memory: what firn_sim_save writes and firn_sim_load reads. */
#ifndef FIRN_TEST_MEMORY_STATE_H
#define FIRN_TEST_MEMORY_STATE_H

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef struct bytes {
    char *data;
    size_t size, at;
} bytes;

static int put(void *user_data, const void *data, size_t size)
{
    bytes *b = user_data;
    b->data = realloc(b->data, b->size + size);
    memcpy(b->data + b->size, data, size);
    b->size += size;
    return 0;
}

static int take(void *user_data, void *data, size_t size)
{
    bytes *b = user_data;
    if (size > b->size - b->at) return 1;
    memcpy(data, b->data + b->at, size);
    b->at += size;
    return 0;
}

#endif
