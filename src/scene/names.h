/* Finds things by their names, however many there are. */
#ifndef FIRN_NAMES_H
#define FIRN_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Starts at zero. Names and things are the caller's. */
typedef struct firn_names {
    struct firn_named {
        const char *name; /* NULL: free */
        void *thing;
    } * slot;
    size_t room, count; /* room: a power of two, or 0 */
    uint64_t seed;
} firn_names;

/* The thing of that name, or NULL. */
void *firn_names_find(const firn_names *names, const char *name);
/* A name that is not there yet. False: no memory, and nothing is changed. */
bool firn_names_add(firn_names *names, const char *name, void *thing);
void firn_names_free(firn_names *names);

#endif
