/* The sim's insides, shared by the files of src/sim. */
#ifndef FIRN_SIM_INTERNAL_H
#define FIRN_SIM_INTERNAL_H

#include <firn/host.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "data/store.h"
#include "solve/coarse.h"
#include "solve/multigrid.h"
#include "transfer/pass.h"

/* Grid channels: FIRN_NODE reals per node, by block of the current directory.
 * X(name): velocity    after forces and colliders, and mass
 *          velocity_old before forces, and mass; where there are two planes
 *          velocity_moved what particles move by, and mass: the unknown of an implicit step
 *          residual, direction, image, and second ones for the fallback: its solver's vectors */
#define FIRN_CHANNELS(X)                                                                           \
    X(velocity)                                                                                    \
    X(velocity_old)                                                                                \
    X(velocity_moved) X(residual) X(direction) X(image) X(direction_2) X(image_2)

/* Which of a block's nodes are pressed into walls, a bit each, where its list of them begins, and
 * whether there may be some nearby. */
typedef struct firn_mirror_range {
    uint64_t pressed;
    int32_t first;
    bool nearby;
} firn_mirror_range;

/* Bytes of what grid.c and mirror.c keep per block and per node in a wall. */
enum { FIRN_BLOCK_PARTIAL = 16, FIRN_MIRROR = sizeof(real) == 4 ? 124 : 224 };

typedef struct firn_grid {
#define DECLARE(name) firn_pool name;
    FIRN_CHANNELS(DECLARE)
#undef DECLARE
    firn_pool arena, touched; /* by superblock; see firn_pass */
    firn_pool mirror;         /* nodes pressed into walls, by block; see mirror.c */
    firn_pool mirror_range;   /* firn_mirror_range, per block */
    firn_pool impulse;        /* firn_impulse, by block: those of its colliders; see reaction.c */
    firn_pool impulse_first;  /* int32_t per block, and one more */
    bool books;               /* whether changes by colliders are booked there */
    double max_speed;         /* m/s, over nodes, after the last update */
    bool finite;
} firn_grid;

/* A step length and what sets it. */
typedef struct firn_dt {
    double dt;
    firn_limit limit;
} firn_dt;

/* Where a fused advance returns to when a step breaks a limit: the entry of a fused pass. The
 * records are in the store's spare buffer. */
typedef struct firn_snapshot {
    firn_directory *from, *at; /* kept as they are until the next; NULL: none */
    firn_pool velocity;        /* and after it velocity_old, where it is used */
    size_t size;               /* of one of them, bytes */
    firn_extremes extremes;
    firn_dt step; /* pending */
    double time, max_speed, dt_next;
    double cap, until; /* smallest and latest of what breaks since it was taken asked for; s */
    int64_t steps;
} firn_snapshot;

/* A wall that a node is in. */
typedef struct firn_wall {
    real normal[3], surface[3]; /* outward; velocity, m/s */
    real friction;
    int32_t collider;
    firn_boundary boundary;
    bool holds; /* whether the node's normal velocity is that of the surface */
} firn_wall;

/* A node in walls. The directions are orthonormal; along them its velocity is given. */
enum { FIRN_WALLS = 3 };
typedef struct firn_wall_node {
    int32_t node; /* of the block */
    int32_t count, held;
    firn_wall wall[FIRN_WALLS];
    real direction[FIRN_WALLS][3], speed[FIRN_WALLS];
    int32_t cause[FIRN_WALLS]; /* the wall that a direction comes from */
    real drag, drift[3];       /* kg, m/s: friction is drag x (drift - velocity), along the walls */
} firn_wall_node;

/* What an implicit step needs beside grid channels; nothing of it outlives the step. */
typedef struct firn_implicit {
    firn_pool tangents, group, cell; /* as in firn_pass */
    firn_pool wall;                  /* firn_wall_node, by block */
    firn_pool wall_first;            /* int32_t per block, and one more: its first */
    firn_pool partial;               /* double per block */
    firn_pool inverse_mass;          /* real per node, 1/kg; 0: no mass */
    int32_t differential_law;        /* as in firn_pass */
    firn_coarse coarse;
} firn_implicit;

/* What steps with pressure projection need beside arenas; nothing of it outlives the step. */
typedef struct firn_project {
    firn_pool block;             /* firn_liquid_block; see project.h */
    firn_pool staggered;         /* as in firn_pass */
    firn_pool wall;              /* firn_wall_block, of blocks near colliders */
    firn_pool x, b;              /* double per cell: solution and right-hand side */
    firn_pool partial;           /* double per block */
    firn_pool link;              /* int32_t[6] per block, as in firn_level */
    firn_pool shear;             /* firn_shear_block */
    firn_pool shear_vector;      /* real per face: see project_shear.c */
    firn_pool body, body_number; /* see project_bodies.c */
    int32_t wall_count, bodies;
    bool solids;    /* not all materials are liquids of one surface tension */
    double tension; /* N/m, the largest that matters in the step */
    bool shears;    /* some material's shear is solved for */
    double way;     /* cells: the farthest that particles move along an axis in the step */
    real frame[3];  /* m/s: see firn_pass */
    firn_multigrid solver;
} firn_project;

/* What heat steps need beside arenas; nothing of it outlives the step but source and curve. */
typedef struct firn_heat {
    firn_pool source;     /* firn_heat_source, the def's */
    firn_pool source_key; /* firn_pose_key, of all sources */
    firn_pool curve;      /* firn_heat_curve per material */
    firn_pool particle;   /* firn_scalar each: what goes to the grid... */
    firn_pool result;     /* ... and firn_scalar_mean: what comes back */
    firn_pool node;       /* per node, by block; see heat.c */
    firn_pool link;       /* heat_links, by block */
    firn_pool temperature, change, residual, direction, image; /* real per node: the solver's */
    double owed; /* s: motion that heat has not followed, for want of memory */
} firn_heat;

/* Position and rotation (quaternion w, x, y, z) of a frame within a collider's. */
typedef struct firn_frame {
    double center[3], turn[4];
} firn_frame;

/* The level sets of a mesh collider, and its motion by the host; see deform.c. */
typedef struct firn_deform {
    firn_levelset rest; /* of the mesh as it was created */
    double pivot[3];    /* m, the middle of its vertices */
    bool moves;         /* the rest is of a motion */
    double begin, end;  /* s */
    firn_frame from, to;
    firn_pool vertices; /* double, count x 3 each: `to` as given; both shapes in the frame */
    firn_pool sets;     /* firn_levelset, from the first shape to the last in equal parts; */
    int32_t set_count;  /* none: the mesh is rigid and has its shape of rest; one: another */
    double most;        /* m, the way of a vertex from one of these to the next */
} firn_deform;

/* What a collider has beside its def. */
typedef struct firn_collider_slot {
    firn_pool keys;
    firn_deform deform;  /* of a mesh */
    bool added, removed; /* by the host; a removed one's place is free for another */
    bool moved, runs;    /* by the host's motion, not the def's; surface set by the host */
    firn_collider_motion motion;
    double begin; /* s, of the motion */
} firn_collider_slot;

/* See nearby.c. */
typedef struct firn_nearby_range {
    int32_t first, count;
} firn_nearby_range;
typedef struct firn_nearby {
    firn_pool range; /* firn_nearby_range per block: its colliders... */
    firn_pool list;  /* ... here, int32_t */
    firn_pool kept;  /* int32_t, of the search: all colliders at each level of halving */
} firn_nearby;
#define FIRN_NEARBY_KEPT(colliders) (34 * (size_t)((colliders) + 1) * sizeof(int32_t))

/* A body, see layers.c. */
typedef struct firn_body {
    int32_t low[3], high[3]; /* cells, around its particles when last looked at */
    int32_t next;
    real
        density; /* kg/m3, of the densest particle it has had. Part of the state, as is its layer */
    real weighed; /* the same, and `wanted` its layer, once firn_layers_use has been called */
    uint64_t
        rubs; /* the same for bodies that the def's contacts give the same frictions; 0: none */
    uint8_t layer, wanted;
    bool there; /* it has particles */
    bool placed;
} firn_body;

typedef struct firn_layers {
    firn_pool body; /* firn_body, `count` of them */
    int32_t count;
    bool shared; /* by several bodies, any of them */
    double
        moved; /* cells by which particles may have moved since boxes were found. Part of the state */
    real density[FIRN_MAX_LAYERS]; /* kg/m3, the highest of its bodies */
    real friction[FIRN_MAX_LAYERS]
                 [FIRN_MAX_LAYERS]; /* of the def's contacts, or -1; not set without any */
} firn_layers;

struct firn_sim {
    firn_sim_def def; /* pointers are into the copies below */
    firn_material_def *materials;
    firn_collider_def *colliders;
    firn_acceleration_key *forces;
    firn_pool material_pool, collider_pool, force_pool, track_pool, constant_pool, law_pool,
        posed_pool, body_pool, contact_pool, slot_pool, shear_pool;
    firn_collider_slot *slots; /* per collider */
    /* firn_impulse per collider: of the advance so far, of the step under way, and both as the
     * snapshot keeps them. */
    firn_pool reaction_pool;
    double reaction_from; /* s, when the advance began */
    bool gravity_set;     /* by the host */

    const firn_allocator *allocator; /* of def */
    const firn_kernels *kernels;
    firn_path path;
    firn_integrator integrator; /* the def's, or explicit where implicit steps do not serve */
    int32_t planes; /* of arenas: 2 where impulses are apart from the momentum, else 1 */
    firn_workers workers;
    bool rest_density; /* some material's law has one */

    firn_store store;
    firn_directory directory[4]; /* two under way, two in the snapshot */
    firn_directory *from, *at;   /* where the bins are; what the pass runs over */
    int32_t block_peak;          /* most blocks so far */
    firn_grid grid;
    firn_scratch *scratch; /* per thread */
    firn_pool scratch_pool, key_scratch, extremes_pool, partial_pool;
    firn_nearby nearby;
    firn_snapshot snapshot;
    firn_implicit implicit;
    firn_project project;
    firn_heat heat;

    firn_layers layers;
    double time;
    int32_t told;   /* 1 + the integrator that the log knows AUTO to have taken */
    bool advancing; /* hooks are being called */
    /* Advances that AUTO at least takes explicitly; -1: the last was implicit. Part of the state. */
    int32_t explicit_left;
    int64_t plain_steps; /* since the sim was made: when to reorder, which changes no result */
    double dt_next; /* the longest the next step may be; 0: none was taken yet. Part of the state */
    double dt_free; /* the step under way, but for the frame's end */
    double retry_cap;       /* s; 0, or the longest step until the time that broke has passed */
    double retry_until;     /* s; projected steps let the cap grow instead */
    double collider_dt;     /* s: the longest step that colliders near particles allow */
    double lightest;        /* kg, of all particles in the advance under way */
    firn_extremes extremes; /* of the last pass that measured */
    firn_limit limit_next;  /* what set dt_next */
    firn_report report;     /* of the advance under way */
    uint64_t generation;
};

/* ---- def.c ---- */

/* Makes what kernels know of a material from its def. */
void firn_sim_derive_material(firn_sim *sim, int32_t i);

/* Whether all laws have tangents: an implicit step needs them, and AUTO goes without and says so. */
firn_status firn_sim_choose_integrator(firn_sim *sim, firn_error *error);

/* ---- host.c ---- */

/* Whether there is a collider of that number. */
firn_status firn_host_check_collider(const firn_sim *sim, int32_t collider, firn_error *error);

/* Room for so many colliders; then nothing keeps a checked one from the place of a removed one, or
 * behind the last. It takes `keys`, which its keys and points are in, and `deform`. */
firn_status firn_host_reserve_colliders(firn_sim *sim, int32_t count, firn_error *error);
void firn_host_place_collider(firn_sim *sim, const firn_collider_def *def, firn_pool keys,
                              firn_deform deform, int32_t place);
/* Sets how the surface of one of the sim's own colliders runs, in place of what its keys say. */
void firn_host_run_surface(firn_collider_def *def, const double velocity[3], const double spin[3]);

/* FIRN_OK or what is wrong with a motion. */
firn_status firn_host_check_motion(const firn_collider_motion *m, firn_error *error);

/* ---- deform.c ---- */

/* The level set of a checked mesh collider; for one that is no mesh, or has none yet, nothing. */
firn_status firn_deform_create(const firn_sim *sim, const firn_collider_def *def, int32_t place,
                               firn_deform *out, firn_error *error);
void firn_deform_free(firn_deform *deform, const firn_allocator *allocator);

/* Its morph at a time; moving or not, should that be when a motion begins or ends. */
void firn_deform_pose(const firn_deform *deform, double time, bool moving, firn_morph *morph);

/* ---- dt.c ---- */

/* The automatic step for particles with these extremes, on a grid whose fastest node has max_speed
 * (0: not known). */
firn_dt firn_dt_limit(const firn_sim *sim, const firn_extremes *e, double max_speed);
/* Of the material alone; and a limit with that of the colliders, for a step from where they are. */
firn_dt firn_dt_limit_material(const firn_sim *sim, const firn_extremes *e, double max_speed);
firn_dt firn_dt_limit_colliders(const firn_sim *sim, firn_dt limit);

/* The same for an implicit step. */
firn_dt firn_dt_limit_implicit(const firn_sim *sim, const firn_extremes *e);

/* And for one with pressure projection. */
firn_dt firn_dt_limit_project(const firn_sim *sim, const firn_extremes *e);

/* Adds growth, the fixed dt, the cap after a retry and the end of the time asked for; notes in
 * dt_free what it would be but for that end. */
firn_dt firn_dt_choose(firn_sim *sim, firn_dt limit, double remaining);

/* Says in `text` which particle, of which material, sets a limit; of `surface` which material, of `solver`
 * nothing. */
void firn_dt_blame(const firn_sim *sim, firn_limit limit, char *text, size_t size);

/* ---- grid.c ---- */

/* Room for the channels of the current directory. Velocities outlive growth: a snapshot may be put
 * back into them without asking for memory. */
firn_status firn_grid_reserve(firn_sim *sim, int32_t planes, firn_error *error);

/* Room for what a scatter over the current directory writes; what the last one wrote is lost. */
firn_status firn_grid_reserve_arenas(firn_sim *sim, int32_t planes, firn_error *error);

/* Sums the arenas of `at` into velocity_old (velocity before forces, mass) and velocity
 * (acceleration by stress and, if asked for, the caller's hook; mass). */
void firn_grid_sum(firn_sim *sim, bool hook);

/* The fastest node if the step were dt, before colliders, light ones by what particles feel of them:
 * sets grid.max_speed and finite. */
void firn_grid_probe(firn_sim *sim, double dt);

/* velocity <- velocity_old + dt x acceleration, damped, then colliders. */
firn_status firn_grid_apply(firn_sim *sim, double dt, firn_error *error);

/* All of it in one go, for arenas that hold dt x force, in the momentum or in a second plane; also
 * sets max_speed and finite. */
firn_status firn_grid_update_fused(firn_sim *sim, const firn_directory *source, double dt,
                                   firn_error *error);

/* Adds up what the arenas of `source` hold of a block, plane by plane. */
void firn_grid_sum_arenas(const firn_sim *sim, const firn_directory *source, int32_t planes,
                          int64_t block, real (*sum)[FIRN_MAX_CELLS][FIRN_NODE]);

/* Gravity and keyed forces, averaged over a step. */
void firn_grid_body_acceleration(const firn_sim *sim, double dt, double a[3]);

/* Finds the colliders near each block of `at`, where they are posed: before anyone asks for them. */
firn_status firn_nearby_find(firn_sim *sim, firn_error *error);
/* Those of a block, in order: all within FIRN_NEARBY cells of its centre, and a few more. */
#define FIRN_NEARBY 15
const int32_t *firn_nearby_of(const firn_sim *sim, int64_t block, int32_t *count);
void firn_nearby_free(firn_nearby *nearby, const firn_allocator *allocator);

/* Whether a collider near a block is within so many cells of a point. */
bool firn_grid_is_near_collider(const firn_sim *sim, int64_t block, const double position[3],
                                double cells);

/* The nodes of a block in one of the grid's pools. */
real *firn_grid_channel(const firn_sim *sim, const firn_pool *pool, int64_t block);
size_t firn_grid_channel_size(const firn_sim *sim); /* bytes, for the blocks of sim->at */
void firn_grid_node_position(const firn_sim *sim, const int32_t coord[3], int n,
                             double position[3]);

/* The centre of a block's cells, m; the block is given by its coordinates. */
void firn_grid_block_center(const firn_sim *sim, const int32_t coord[3], double center[3]);

/* Where a collider is at a time, which is now or the end of the step under way. */
void firn_sim_pose_collider(const firn_sim *sim, int32_t i, double time,
                            firn_posed_collider *posed);

/* Puts the colliders where they are at a time, and notes the longest step that they allow from
 * there. */
void firn_sim_pose_colliders(firn_sim *sim, double time);

/* Notes in the directory whether a collider is within reach of a block's nodes, or of particles of
 * the block that have just moved; returns how many are within so many cells of its centre. */
#define FIRN_NEAR_COLLIDER 5.25 /* cells from the centre */
/* How far from a wall the centre of a block may be with nodes around mirror points: these are up to the
 * deepest and a cell's diagonal above it, at a corner of the block 3 cells away along each axis. */
#define FIRN_FAR_COLLIDER 8.5
int32_t firn_grid_note_colliders(firn_sim *sim, int64_t block, double cells);

/* Nodes of a block with mass that may be in a collider: a bit each. */
uint64_t firn_grid_nodes_near_colliders(const firn_sim *sim, int64_t block);

/* Applies colliders to each node of a block, without mirroring. */
void firn_grid_collide_nodes(firn_sim *sim, int64_t block);

/* firn_grid_note_colliders, then firn_grid_collide_nodes. */
void firn_grid_collide_block(firn_sim *sim, int64_t block);

/* Notes the largest speed of a block's nodes, and whether all are finite. */
void firn_grid_note_speed(firn_sim *sim, int64_t block);

/* ---- mirror.c ---- */

/* Colliders and the contact of bodies, on all nodes. */
firn_status firn_grid_collide(firn_sim *sim, firn_error *error);

/* ---- contact.c ---- */

/* Bodies that approach each other push and rub where both have nodes. Changes the velocities. */
void firn_grid_contact(firn_sim *sim);

/* The largest speed at which they do, by velocity_moved, m/s. */
double firn_grid_approach(firn_sim *sim);

/* ---- reaction.c ---- */

/* Room for the colliders there are. */
firn_status firn_reaction_reserve(firn_sim *sim, int32_t colliders, firn_error *error);

/* A new advance: nothing has been taken. */
void firn_reaction_reset(firn_sim *sim);

/* The same for a collider that has just come. */
void firn_reaction_reset_one(firn_sim *sim, int32_t collider);

/* Finds the colliders near every block, and lists those that its nodes and particles can meet, with nothing
 * taken yet. Again for the same blocks that cannot fail. */
firn_status firn_reaction_list(firn_sim *sim, firn_error *error);

/* A block's list; empty while changes are not to be booked. */
firn_impulses firn_reaction_of(const firn_sim *sim, int64_t block);

/* Books what a node lost that had a velocity before; it is at its place in `velocity`. */
void firn_reaction_book_node(const firn_sim *sim, int64_t block, int n, int32_t collider,
                             const real before[3], const real after[3], real mass);

/* Adds what the blocks have to the step under way: after the grid, and after the gather. */
void firn_reaction_collect(firn_sim *sim);

/* The step under way stands. */
void firn_reaction_commit(firn_sim *sim);

/* The snapshot's. */
void firn_reaction_keep(firn_sim *sim);
void firn_reaction_restore(firn_sim *sim);

/* ---- walls.c ---- */

/* Lists the nodes with mass that are in walls. Sticky and slip walls hold; which of the others do,
 * the caller says. */
firn_status firn_walls_find(firn_sim *sim, firn_error *error);

/* A block's nodes in walls; *count receives how many. */
firn_wall_node *firn_walls_of(const firn_sim *sim, int64_t block, int32_t *count);

/* Sets directions and their speeds by which walls hold. */
void firn_wall_settle(firn_wall_node *c, int32_t dim);

/* v without its parts along held directions. */
void firn_wall_project(const firn_wall_node *c, real v[3]);

/* ---- implicit.c ---- */

/* Room for an implicit step over the current directory. */
firn_status firn_implicit_reserve(firn_sim *sim, firn_error *error);

/* From velocity_old and the acceleration in velocity, makes velocity and velocity_moved of a step
 * of dt, and sets max_speed. *broken: FIRN_LIMIT_NONE, with the longest that the next step should be
 * in *dt_fit; or why a shorter one must be tried, *dt_fit, for which all is still there: something
 * meets too hard, the solver did not converge, or a node crosses more than `crossing` of a cell. */
firn_status firn_implicit_solve(firn_sim *sim, double dt, double crossing, firn_limit *broken,
                                double *dt_fit, firn_error *error);

/* ---- project.c ---- */

/* Room for a step with pressure projection over the current directory, and the grid's start from the
 * arenas. */
firn_status firn_project_open(firn_sim *sim, firn_error *error);

/* Makes the velocities of a step of dt, and sets max_speed. *broken and *dt_fit as in
 * firn_implicit_solve; the next step may be as long as it likes. */
firn_status firn_project_solve(firn_sim *sim, double dt, double crossing, firn_limit *broken,
                               double *dt_fit, firn_error *error);

/* Books the impulse of the pressure on colliders in a step of dt. */
void firn_project_book(firn_sim *sim, double dt);

void firn_project_free(firn_project *project, const firn_allocator *allocator);

/* ---- heat.c ---- */

/* Heat and dye over `seconds` of motion that have just passed: conduction, walls, air, sources, and
 * what they do to particles. */
firn_status firn_heat_step(firn_sim *sim, double seconds, firn_error *error);

/* How enthalpy and temperature go together in a particle's material. */
static inline const firn_heat_curve *firn_heat_curve_of(const firn_sim *sim, int64_t particle)
{
    return (const firn_heat_curve *)sim->heat.curve.data + sim->store.material[particle];
}

/* ---- layers.c ---- */

/* The body that particles of an object belong to, and the layer it has. */
int32_t firn_sim_body(const firn_sim *sim, uint16_t object);
int32_t firn_sim_layer(const firn_sim *sim, uint16_t object);
double firn_layers_density(const firn_sim *sim, int32_t body); /* kg/m3, see firn_body */

firn_status firn_layers_reserve(firn_sim *sim, int32_t count, firn_error *error); /* bodies */

/* Finds boxes and densities from the particles; `afresh` forgets densities of before. firn_layers_note adds
 * a particle that is not in the bins yet. */
void firn_layers_look(firn_sim *sim, bool afresh);
void firn_layers_note(firn_sim *sim, int64_t particle, const int32_t cell[3]);
/* Then, which layers bodies should have; true if some have others. */
bool firn_layers_choose(firn_sim *sim);
int32_t firn_layers_wanted(const firn_sim *sim, uint16_t object);
/* And takes what was found over. */
void firn_layers_use(firn_sim *sim);

/* Boxes that have been found are not those of the particles any more. */
void firn_layers_doubt(firn_sim *sim);
/* Whether bodies of one layer have come near each other since boxes were found. */
bool firn_layers_are_crowded(firn_sim *sim);
/* Gives those another layer. Before every step; not with a pass under way. */
firn_status firn_layers_update(firn_sim *sim, firn_error *error);

/* ---- particles.c ---- */

/* Makes bins of the first `count` particles, whose keys these are but for the layers that bodies want. */
firn_status firn_sim_sort(firn_sim *sim, uint64_t *key, int64_t count, firn_error *error);

/* World position of the particle at record index i, of the block at coord. */
void firn_sim_position(const firn_sim *sim, const int32_t coord[3], int64_t i, double out[3]);

/* det F of the particle at record index i. */
double firn_sim_det(const firn_sim *sim, int64_t i);

/* ---- read.c ---- */

/* Record indices in id order: sorted once per generation. */
const uint32_t *firn_sim_id_order(const firn_sim *sim);

/* Where a field is, as it is kept. */
firn_view firn_sim_stored(const firn_sim *sim, firn_field field);

int32_t firn_sim_components(const firn_sim *sim, firn_field field);
firn_status firn_sim_check_field(const firn_sim *sim, firn_field field, firn_error *error);
firn_status firn_sim_check_range(const firn_sim *sim, int64_t first, int64_t count,
                                 firn_error *error);
firn_status firn_sim_refuse_heat(firn_error *error);

/* ---- step.c ---- */

/* Whether a call may use the sim: false, with an error, when there is none or a hook asks during an
 * advance, while particles, bins and scratch are between two states. */
bool firn_sim_is_idle(const firn_sim *sim, firn_error *error);

/* A pass's description, filled in from the sim. */
firn_pass firn_sim_pass(const firn_sim *sim);

/* Makes `at` the directory of the particles as the bins of `from` have them, with all room a pass
 * needs. */
firn_status firn_sim_prepare(firn_sim *sim, int32_t planes, firn_error *error);

/* Scatters momentum and, apart from it, forces; firn_grid_sum makes velocities and accelerations of
 * them. The pass may go on to gather. */
firn_status firn_sim_scatter_forces(firn_sim *sim, firn_pass *pass, firn_error *error);
/* Scatters to the lattices of a projected step of dt. */
firn_status firn_sim_scatter_staggered(firn_sim *sim, double dt, firn_error *error);

/* Runs a pass over all superblocks. */
void firn_sim_run_pass(firn_sim *sim, const firn_pass *pass, firn_pass_function *kernel);

#endif
