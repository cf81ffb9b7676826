/* Seeding: bodies made of an exact number of particles, the same in every run. */
#ifndef FIRN_SHAPES_H
#define FIRN_SHAPES_H

#include <stdbool.h>

#include <firn/firn.h>

/* Particles to be added to a sim. Starts zeroed; the functions below append; arrays are owned. */
typedef struct firn_seeds {
    int64_t count, capacity;
    double *position; /* count x 3, m */
    double *velocity; /* count x 3, m/s */
    uint16_t *material;
} firn_seeds;

/* What the particles of one body have in common. */
typedef struct firn_body {
    double spacing;   /* m; a particle stands for spacing^3 */
    double center[3]; /* m; particles lie half a spacing off it, symmetrically */
    double velocity[3];
    uint16_t material;
    bool random; /* anywhere inside, instead of on the lattice */
} firn_body;

typedef enum firn_figure {
    FIRN_FIGURE_BALL,
    FIRN_FIGURE_CREATURE, /* crouching, with a tail and two thin upright ears */
} firn_figure;

/* Exactly `count` particles filling a figure as large as their volume: on the lattice, the `count`
 * points deepest inside. False when there is no memory; nothing is appended then. */
bool firn_seeds_figure(firn_seeds *seeds, const firn_body *body, firn_figure figure, int64_t count);

/* How far below its centre such a figure reaches, m. */
double firn_figure_depth(firn_figure figure, int64_t count, double spacing);

/* The first `count` of size[0] x size[1] x size[2] lattice points, layer by layer from below, each
 * moved by up to jitter / 2 of a spacing along each axis. */
bool firn_seeds_block(firn_seeds *seeds, const firn_body *body, const int32_t size[3],
                      int64_t count, double jitter);

/* Adds the velocities of a rotation (rad/s) about a point. */
void firn_seeds_spin(firn_seeds *seeds, const double center[3], const double omega[3]);

/* Adds the particles to a sim. */
FIRN_MUST_CHECK firn_status firn_seeds_add(const firn_seeds *seeds, double spacing, firn_sim *sim,
                                           firn_error *error);

void firn_seeds_free(firn_seeds *seeds);

#endif
