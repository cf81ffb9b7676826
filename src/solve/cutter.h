/* Hands out the arrays of a level from one piece of memory: from nowhere at first, to measure them. */
#ifndef FIRN_CUTTER_H
#define FIRN_CUTTER_H

#include "base/memory.h"

typedef struct firn_cutter {
    char *base;
    size_t used; /* bytes */
} firn_cutter;

static inline void *firn_cut(firn_cutter *c, size_t bytes)
{
    void *at = c->base ? c->base + c->used : NULL;
    c->used += (bytes + FIRN_ALIGN - 1) / FIRN_ALIGN * FIRN_ALIGN;
    return at;
}

#endif
