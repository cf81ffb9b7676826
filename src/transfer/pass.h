/* One pass over all particles: what the kernels get, and the table of kernels.
 *
 * A pass runs over the superblocks of a directory in parallel. Each superblock is one call: its
 * blocks' particles are collected from the bins of the previous pass, in a fixed order, and
 * processed by one thread, which scatters into the superblock's own arena. So no sum depends on the
 * thread count. */
#ifndef FIRN_PASS_H
#define FIRN_PASS_H

#include <firn/sim.h>

#include "base/real.h"
#include "collider/collider.h"
#include "data/blocks.h"
#include "data/store.h"
#include "material/material.h"

enum {
    FIRN_NODE = 4
}; /* reals per node of a velocity channel: velocity (2D: 0 in the third), mass */

/* Reals of one superblock's arena; vector code adds zeros past the last node, into the padding. */
#define FIRN_ARENA_REALS(dim, channels) ((size_t)(firn_pow(FIRN_ARENA, dim) * (channels) + 16))

/* Channels of a staggered grid: velocities across faces, velocities that only move particles, and of
 * cells that have a pressure: it, how much they grow in the step, and 1. Last, and only filled for FLIP,
 * velocities across faces before forces. */
#define FIRN_STAGGERED_OLD(dim) (2 * (dim) + 3)
#define FIRN_STAGGERED(dim) (FIRN_STAGGERED_OLD(dim) + (dim))
/* Planes of an arena for it: one per axis for faces, one for cells, and one more where materials differ. */
#define FIRN_STAGGERED_PLANES(dim, solids) ((dim) + ((solids) ? 2 : 1))

/* An arena is cut into the parts of the blocks that it overlaps, four along each axis: the last node of
 * the block before the superblock, its own two blocks, and three nodes of the block after. Only pieces
 * that particles reach are cleared, and summed: loose particles reach a few nodes of many arenas.
 * A piece has the bit 4 (4 p + q) + r by its numbers along the axes (2D: 4 p + r). */
enum { FIRN_PIECES = 4 };
static const int8_t firn_piece_begin[FIRN_PIECES + 1] = {0, 1, 5, 9, FIRN_ARENA};

/* A scalar of particles that goes to the grid and back, as heat does: the node gets the sums of w times
 *   weight, weight x (value + gradient . way to the node), and two more,
 * in that order; the particle gets back the means of the nodes' four numbers, the gradient of the third
 * and the moment of the second: the mean of it times the way to the node. */
typedef struct firn_scalar {
    real weight, value, more[2];
    real gradient[3]; /* per m */
    real unused;
} firn_scalar;
typedef struct firn_scalar_mean {
    real mean[FIRN_NODE];
    real gradient[3]; /* per m */
    real moment[3];   /* x m */
} firn_scalar_mean;

/* The largest of each over some particles: what limits the time step. */
typedef struct firn_extremes {
    real speed2;    /* |v|^2, m2/s2 */
    real gradient;  /* max |L_ab|, 1/s */
    real wave2;     /* squared wave speed, m2/s2 */
    real lone2;     /* single-particle modulus over density, m2/s2 */
    real diffusion; /* viscosity over density, m2/s */
    real shear2;    /* projection: squared speed of shear waves that are explicit, m2/s2 */
} firn_extremes;

/* Where in firn_scratch.scatter a particle's numbers are. */
typedef struct firn_scatter_index {
    uint32_t entry, weight;
} firn_scatter_index;

enum {
    FIRN_SCATTER_REALS = 44
}; /* what the fast scatter needs of a particle at most, see fast.c */

/* Per-thread buffers, cut from one pool; sized for the largest block. */
typedef struct firn_scratch {
    firn_pool pool;
    size_t room;               /* particles the cuts are for */
    uint32_t *index;           /* records of the block's particles */
    firn_scatter_index *where; /* where the scatter finds them */
    firn_scatter_index *slot;  /* the same, sorted by cell */
    uint16_t *cell;            /* shifted cell after the move */
    real *scatter;             /* what P2G needs, per particle */
} firn_scratch;

typedef struct firn_pass {
    const firn_directory *from; /* holds the bins that say where particles are */
    firn_directory *at;         /* the blocks swept; a gather or fused pass writes its bins */
    const uint32_t *order;      /* list that from's bins index */
    uint32_t *order_out;        /* list that at's bins will index */
    const firn_store *store;    /* arrays that the pass reads and writes in place */

    /* Grid: velocity channels by block of `at`, arenas by superblock of `at`. */
    const real *velocity;     /* after forces and colliders */
    const real *velocity_old; /* before; read by FLIP-type transfers only */
    real *arena;              /* written: momentum, mass [, force or impulse] per node */
    int32_t arena_channels;   /* FIRN_NODE, or twice that with the force apart */
    uint64_t *touched;        /* the pieces of each arena that hold anything; see FIRN_PIECES */

    /* Method. */
    firn_transfer transfer;
    firn_spline spline;
    firn_force_form force_form;
    double cell_size;
    double dt;         /* of the gather */
    double dt_scatter; /* of the fused scatter, whose forces are impulses */
    real flip;         /* kept part of the FLIP difference for this dt */

    const firn_law_constants *materials;
    const uint8_t *laws; /* firn_law_kind of each material */
    int32_t material_count;
    bool rest_density; /* some of their laws have one; see material/law.h */

    const firn_posed_collider *colliders; /* at the end of the step */
    int32_t collider_count;
    firn_impulse *impulse;        /* written: what they take from particles, by block of `at` */
    const int32_t *impulse_first; /* of each block, and one more */

    firn_extremes *extremes; /* out, per superblock */

    /* Implicit steps. */
    const real *velocity_moved; /* NULL, or what positions and F move with instead of velocity */
    void *tangents;             /* firn_tangent by group; see material/law.h */
    const uint32_t *group;      /* by block: its first group */
    uint32_t (*cell)[FIRN_MAX_CELLS + 1]; /* by block: offsets of its cells' particles */
    int32_t differential_law;             /* a law whose differential serves all materials, or -1 */
    real (*lame)[2]; /* written: lambda and mu times volume, J, by block and cell; see lame */

    /* Projection: by block, a number per lattice point and channel; see FIRN_STAGGERED. */
    const real *staggered;
    const uint8_t *implicit_shear; /* of each material: whether its shear is solved for */
    bool solids;                   /* not all materials are liquids of one surface tension */
    double dt_step; /* of the step; `dt` is the part of it that particles move by in this pass... */
    double dt_past; /* ... after this much of it */
    real frame[3];  /* m/s: the motion of what they flow around in */

    uint64_t first_id, id_count; /* the particles of plain_turn */

    /* Scalars, by record index; back from the nodes' four numbers in `velocity`. */
    const firn_scalar *scalar;
    firn_scalar_mean *scalar_mean;
} firn_pass;

typedef void firn_pass_function(const firn_pass *pass, int32_t superblock, firn_scratch *scratch);

/* Energy of `count` particles at record indices `index`, summed in that order. */
typedef double firn_energy_function(const firn_pass *pass, const uint32_t *index, int64_t count);

/* Cauchy stress of `count` particles at record indices `index`, Pa: a matrix each, row-major. */
typedef void firn_stress_function(const firn_pass *pass, const uint32_t *index, int64_t count,
                                  double *out);

/* What the stress of each of `count` particles at record indices `index` asks of the time step: of `out`,
 * wave2, lone2 and diffusion. */
typedef void firn_demand_function(const firn_pass *pass, const uint32_t *index, int64_t count,
                                  firn_extremes *out);

/* One instruction set, one dimension. */
typedef struct firn_kernels {
    const char *isa;
    int32_t lanes;
    firn_pass_function *plain_scatter, *plain_gather, *plain_weigh, *plain_turn;
    /* Without and with old velocities beside the new, for FLIP; NULL in the double build. */
    firn_pass_function *fast_scatter[2], *fast_gather[2], *fused[2];
    firn_pass_function *scalar_scatter, *scalar_gather;
    firn_pass_function *staggered_scatter, *staggered_gather, *staggered_drift;
    firn_energy_function *energy;
    firn_stress_function *stress;
    firn_demand_function *demand;
    /* Implicit steps, plain and fast: fill tangents; then, as often as the solver asks, gather a
     * velocity's gradients and scatter the forces that the tangents answer with. */
    firn_pass_function *tangent[2], *product[2];
    firn_pass_function *lame[2]; /* sums what the tangents are like over the particles of cells */
    firn_pass_function *moved_gather[2]; /* fast_gather with velocity_moved */
    size_t tangent_bytes;                /* of a group */
    bool (*has_tangent)(int law);
    bool (*has_rest_density)(int law);
    bool (*same_differential)(int law, int other);
} firn_kernels;

/* The kernels of that instruction set (NULL: the best this machine runs), or NULL. */
const firn_kernels *firn_kernels_find(const char *isa, int32_t dim);

/* What FIRN_TRANSFERS says of each, a bit per transfer. */
enum {
#define AFFINE(NAME, name, affine, flip, separates, help) | affine << FIRN_##NAME
#define FLIP(NAME, name, affine, flip, separates, help) | flip << FIRN_##NAME
#define SEPARATES(NAME, name, affine, flip, separates, help) | separates << FIRN_##NAME
    FIRN_AFFINE_TRANSFERS = 0 FIRN_TRANSFERS(AFFINE),
    FIRN_FLIP_TRANSFERS = 0 FIRN_TRANSFERS(FLIP),
    FIRN_SEPARATING_TRANSFERS = 0 FIRN_TRANSFERS(SEPARATES)
#undef AFFINE
#undef FLIP
#undef SEPARATES
};
static inline bool firn_transfer_is_affine(firn_transfer t)
{
    return FIRN_AFFINE_TRANSFERS >> t & 1;
}
static inline bool firn_transfer_is_flip(firn_transfer t) { return FIRN_FLIP_TRANSFERS >> t & 1; }
static inline bool firn_transfer_separates(firn_transfer t)
{
    return FIRN_SEPARATING_TRANSFERS >> t & 1;
}

/* Where the stencil starts: world position = (4 block + local + shift) x cell_size, nodes sit at
 * whole multiples of cell_size, and the local position's whole part is the lowest node of the
 * stencil. */
static inline double firn_spline_shift(firn_spline spline)
{
    return spline == FIRN_QUADRATIC ? 0.5 : 1.0;
}

#endif
