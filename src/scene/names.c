/* Names in an open hash table that is at most half full. */
#define _DEFAULT_SOURCE /* getentropy */
#include "scene/names.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The slot that has the name, or the free one where it goes. */
static struct firn_named *slot_of(const firn_names *names, const char *name)
{
    uint64_t hash = names->seed;
    for (const char *c = name; *c; c++) {
        hash = (hash ^ (unsigned char)*c) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29; /* so that the seed reaches all bits */
    }
    size_t at = (size_t)(hash ^ hash >> 32) & (names->room - 1);
    while (names->slot[at].name && strcmp(names->slot[at].name, name) != 0) {
        at = (at + 1) & (names->room - 1);
    }
    return &names->slot[at];
}

void *firn_names_find(const firn_names *names, const char *name)
{
    return names->room ? slot_of(names, name)->thing : NULL;
}

bool firn_names_add(firn_names *names, const char *name, void *thing)
{
    if (2 * names->count >= names->room) {
        firn_names grown = {
            .room = names->room ? 2 * names->room : 64, .count = names->count, .seed = names->seed};
        /* A file must not be able to choose names that collide. */
        if (!names->room && getentropy(&grown.seed, sizeof grown.seed) != 0) grown.seed = 1;
        grown.slot = calloc(grown.room, sizeof *grown.slot);
        if (!grown.slot) return false;
        for (size_t i = 0; i < names->room; i++) {
            if (names->slot[i].name) *slot_of(&grown, names->slot[i].name) = names->slot[i];
        }
        free(names->slot);
        *names = grown;
    }
    *slot_of(names, name) = (struct firn_named){name, thing};
    names->count++;
    return true;
}

void firn_names_free(firn_names *names)
{
    free(names->slot);
    *names = (firn_names){0};
}
