/* What the files of projection share: the staggered grid of a step. Nothing of it outlives the step.
 *
 * Cell i spans the nodes i and i + 1 along each axis; face i of an axis is its lower one. A block's arrays
 * are by cell, the last axis fastest; where there is a component per axis, [a] is that of the faces across
 * axis a. See doc/liquids.md. */
#ifndef FIRN_PROJECT_H
#define FIRN_PROJECT_H

#include <math.h>

#include "sim/sim.h"

enum { FIRN_CELLS = FIRN_MAX_CELLS };

typedef struct firn_liquid_block {
    int32_t near[FIRN_MAX_NEIGHBOURS]; /* as firn_directory_neighbours has them */
    int32_t wall;                      /* its place among the blocks near colliders, or -1 */
    uint64_t walled;                   /* cells with their middle in a collider */
    uint64_t liquid;                   /* cells that have a pressure */
    uint64_t room;                     /* cells with an open face */
    uint64_t exposed;                  /* liquid cells with air beyond an open face */
    uint64_t rigid[3];                 /* faces that are mostly solid */
    uint64_t massive[3];               /* faces that particles reach */
    uint64_t known[3];                 /* faces whose velocity pressure or extrapolation gave */
    uint64_t next[3];                  /* known after the layer under way */
    uint64_t freed[3];                 /* faces at walls that what is there leaves */
    real start[3][FIRN_CELLS];         /* m/s, before forces */
    real push[3][FIRN_CELLS];          /* m/s2, of explicit stress */
    real lightness[3][FIRN_CELLS];     /* reference density over that of the face */
    real mass[3][FIRN_CELLS];          /* of the face, over that of a cell of reference density */
    real share[3][FIRN_CELLS];         /* volume of the face, in cells */
    real volume[FIRN_CELLS];           /* of particles, in cells */
    real thick[FIRN_CELLS];            /* Pa s, their viscosity for implicit shear times it */
    real solid[FIRN_CELLS];            /* part of it that is solid */
    real compliance[FIRN_CELLS];       /* 1/Pa, mean of 1 / K, which is 0 in liquids */
    real tension[FIRN_CELLS];          /* N/m, mean */
    real strain[FIRN_CELLS];           /* log of the volume over that without pressure, mean */
    real cover[FIRN_CELLS];            /* part of the cell's room that is full of them */
    real depth[FIRN_CELLS];            /* cells below the surface that this means */
    real curvature[FIRN_CELLS];        /* 1 / cells, of the surface, in blocks near it */
    real corner[FIRN_CELLS];           /* cells to the nearest collider from the lowest corner */
    real open[3][FIRN_CELLS];          /* part of a face that colliders leave open */
    real wall_speed[3][FIRN_CELLS];    /* m/s, of the collider across the face */
} firn_liquid_block;

/* A face in a wall: where it is mirrored, and what the wall does. */
typedef struct firn_liquid_wall {
    real normal[3]; /* outward */
    real depth;     /* cells */
    real velocity[3];
    int32_t collider; /* -1: there is none */
    bool mirrors, sticky, separates;
    bool again; /* what it mirrors is itself in a wall */
} firn_liquid_wall;

/* Those of a block near colliders; `ghost` is the velocity under way. */
typedef struct firn_wall_block {
    int32_t block;
    firn_liquid_wall face[3][FIRN_CELLS];
    real free[FIRN_CELLS]; /* part of each cell's kernel that colliders leave */
    real ghost[3][FIRN_CELLS];
} firn_wall_block;

static inline firn_liquid_block *firn_liquid_of(const firn_sim *sim, int64_t block)
{
    return (firn_liquid_block *)sim->project.block.data + block;
}

static inline bool firn_bit(uint64_t mask, int c) { return mask >> c & 1; }

/* The part of a face that is open in the solve under way. */
static inline double firn_open_part(const firn_liquid_block *v, int a, int cell)
{
    return firn_bit(v->freed[a], cell) ? 1 : (double)v->open[a][cell];
}

/* Channel c of a block; see FIRN_STAGGERED. */
static inline real *firn_staggered_of(const firn_sim *sim, int64_t block, int c)
{
    const int dim = sim->store.dim;
    return (real *)sim->project.staggered.data +
           (size_t)(block * FIRN_STAGGERED(dim) + c) * (size_t)firn_pow(FIRN_BLOCK, dim);
}

/* Numbers of a cell along the axes, and back. */
static inline void firn_cell_at(int dim, int c, int at[3])
{
    at[2] = 0;
    for (int a = dim - 1; a >= 0; a--, c /= FIRN_BLOCK) at[a] = c % FIRN_BLOCK;
}

/* The cell `at`, from -4 to 7 along the axes as counted from a block: its block, or -1 where that is
 * missing, and *cell in it. */
static inline int32_t firn_find_cell(const firn_liquid_block *from, int dim, const int at[3],
                                     int *cell)
{
    int which = 0, inside = 0;
    for (int a = 0; a < dim; a++) {
        which = 3 * which + (at[a] + FIRN_BLOCK) / FIRN_BLOCK;
        inside = FIRN_BLOCK * inside + (at[a] & (FIRN_BLOCK - 1));
    }
    *cell = inside;
    return from->near[which];
}

/* The neighbour of cell c along axis a, before (way -1) or after it (1). */
static inline int32_t firn_step_from(const firn_liquid_block *from, int dim, int c, int a, int way,
                                     int *cell)
{
    int at[3];
    firn_cell_at(dim, c, at);
    at[a] += way;
    return firn_find_cell(from, dim, at, cell);
}

/* The 2^dim points of a lattice around a place, and their linear weights. Places are in cells from a
 * block's first; the lattice is those of whole numbers + `offset`. */
typedef struct firn_corners {
    int dim, low[3];
    double part[3];
} firn_corners;

static inline firn_corners firn_corners_of(int dim, const double place[3], const double offset[3])
{
    firn_corners k = {.dim = dim};
    for (int a = 0; a < dim; a++) {
        const double y = fmin(fmax(place[a] - offset[a], -FIRN_BLOCK), 2 * FIRN_BLOCK - 1.001);
        k.low[a] = (int)floor(y);
        k.part[a] = y - k.low[a];
    }
    return k;
}

static inline double firn_corner(const firn_corners *k, int i, int at[3])
{
    double w = 1;
    at[2] = 0;
    for (int a = 0; a < k->dim; a++) {
        const int up = i >> a & 1;
        at[a] = k->low[a] + up;
        w *= up ? k->part[a] : 1 - k->part[a];
    }
    return w;
}

/* ---- project_walls.c ---- */

/* Distances to colliders, open parts of faces, `room`, `cover`, and what mirrors. */
firn_status firn_project_walls(firn_sim *sim, firn_error *error);

/* The collider nearest to a point at a block, or -1; its distance in cells, and its normal there. */
int32_t firn_project_nearest(const firn_sim *sim, int64_t block, const double point[3],
                             double *distance, double normal[3]);

/* Fills faces in walls with mirrored velocities, of channels from `first` on; slipping relative to the
 * walls' velocities or, for displacements, to walls at rest. */
void firn_project_mirror(firn_sim *sim, int first, bool moving);

/* ---- project_bodies.c ---- */

/* Finds bodies of liquid, and which of them walls hold along which axes. */
firn_status firn_project_bodies(firn_sim *sim, firn_error *error);

/* Gives bodies, along axes that no wall holds them along, the mean of their velocities after forces: over dt, with the
 * acceleration `body`, of which damping leaves the part `keep`. */
void firn_project_keep_momentum(firn_sim *sim, double dt, double keep, const double body[3]);

/* ---- project_shear.c ---- */

/* Room for implicit shear over the current directory. */
firn_status firn_project_shear_reserve(firn_sim *sim, firn_error *error);

/* Makes velocities before shear, over a step of dt, those after it. False: the solver did not converge. */
bool firn_project_shear(firn_sim *sim, double dt);

/* ---- project_surface.c ---- */

/* The curvature of the liquid's surface, from cover and liquid cells. */
void firn_project_surface(firn_sim *sim);

#endif
