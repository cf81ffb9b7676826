/* Random scenes, checked as they run: parts of the program torture. */
#ifndef FIRN_TORTURE_H
#define FIRN_TORTURE_H

#include <firn/firn.h>
#include <firn/scene.h>
#include <stdbool.h>
#include <stdio.h>

/* ---- tree.c: a scene as a tree that can be built, written, read and cut ---- */

/* A map has children with keys, a list has children without; a scalar has a value. */
typedef struct node {
    char *key;   /* NULL: an entry of a list, or the root */
    char *value; /* NULL: a map or a list */
    bool list;
    struct node *child, *next;
} node;

node *node_map(node *parent, const char *key); /* parent NULL: a root */
node *node_list(node *parent, const char *key);
void node_word(node *parent, const char *key, const char *value);
void node_number(node *parent, const char *key, double value);
void node_vector(node *parent, const char *key, const double *value, int count);
const node *node_get(const node *map, const char *key); /* NULL is fine; NULL: none */
double node_get_number(const node *map, const char *key, double fallback);
void node_get_vector(const node *map, const char *key, double value[3]); /* as it was: none */
node *node_copy(const node *from);
node **node_at(node *tree,
               int *index); /* where the index-th below is hung up; NULL: there is none */
void node_free(node *tree); /* NULL is fine */
void node_write(const node *tree, FILE *file);  /* as YAML, a section or entry a line */
node *node_read(const char *text, size_t size); /* NULL: no YAML that a tree can hold */

/* ---- generate.c ---- */

/* The scene of a number: the same for the same seed. */
node *torture_generate(uint64_t seed, uint64_t number);

/* ---- check.c ---- */

/* Every check and what it claims: X(name, claim). */
#define TORTURE_CHECKS(X)                                                                          \
    X(finite, "every field of every particle is a finite number")                                  \
    X(count, "particles are lost to sinks and the domain alone, and emitters give what they say")  \
    X(mass, "a closed scene keeps its mass")                                                       \
    X(ids, "ids are unique")                                                                       \
    X(energy, "a closed scene gains no energy")                                                    \
    X(speed, "no particle has more energy than a closed scene has")                                \
    X(collider, "particles that start outside of colliders stay outside")                          \
    X(threads, "the result is the same with two threads")                                          \
    X(checkpoint, "the result is the same after saving and loading")                               \
    X(advance, "every frame is reached")                                                           \
    X(steps, "frames take a bounded number of steps")                                              \
    X(hang, "scenes end in time")                                                                  \
    X(crash, "no signal ends the process")
#define TORTURE_ENUM(name, claim) CHECK_##name,
typedef enum torture_check { TORTURE_CHECKS(TORTURE_ENUM) CHECK_COUNT } torture_check;
extern const char *const torture_check_name[CHECK_COUNT + 1]; /* ends with NULL */

typedef enum torture_outcome { PASSED, REFUSED, FAILED } torture_outcome;

typedef struct torture_result {
    torture_outcome outcome;
    torture_check check; /* that failed */
    int64_t particles, steps;
    bool closed;        /* energy was checked */
    double gain, depth; /* largest: of energy, as a part of that at hand; in a collider, cells */
    char message[480];  /* of a refusal or a failure */
} torture_result;

/* Runs a scene and checks it. `sabotage` breaks what that check looks at (CHECK_COUNT: nothing),
 * to show that it fires. */
torture_result torture_run(const node *scene, bool twice, torture_check sabotage);

#endif
