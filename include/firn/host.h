/* Driving a sim from a program that does not know the future: a game, an editor, a controller.
 *
 * All of this is for the time between advances. Every call checks its arguments first, and one that
 * fails has changed nothing; from within a hook every call returns FIRN_INVALID. The same calls give
 * the same bytes at any thread count. A saved state holds gravity, motions, surfaces, added and removed
 * colliders as far as these calls have changed them; materials and bodies that were added or changed
 * must be so again before firn_sim_load. */
#ifndef FIRN_HOST_H
#define FIRN_HOST_H

#include <firn/sim.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Replaces the def's gravity, m/s2. Keyed forces are still added to it. */
FIRN_API FIRN_MUST_CHECK firn_status firn_sim_set_gravity(firn_sim *sim, const double gravity[3],
                                                          firn_error *error);
/* The mean of the gravity in use, m/s2, from a time to a later one, or at a time. */
FIRN_API void firn_sim_gravity(const firn_sim *sim, double from, double to, double gravity[3]);

/* Replace the def's damping, 1/s, and contact_friction. Saved states do not hold them. */
FIRN_API FIRN_MUST_CHECK firn_status firn_sim_set_damping(firn_sim *sim, double damping,
                                                          firn_error *error);
FIRN_API FIRN_MUST_CHECK firn_status firn_sim_set_contact_friction(firn_sim *sim, double friction,
                                                                   firn_error *error);

/* ---- colliders ---- */

/* Colliders have numbers that stay the same while they exist: those of the def have their index, one
 * that is added gets the lowest that is free. A saved state does not hold meshes and compounds: one with a compound that
 * was added is loaded by a sim that has it, or another, at the same number. */
FIRN_API FIRN_MUST_CHECK firn_status firn_sim_add_collider(firn_sim *sim,
                                                           const firn_collider_def *def,
                                                           int32_t *collider, firn_error *error);
FIRN_API FIRN_MUST_CHECK firn_status firn_sim_remove_collider(firn_sim *sim, int32_t collider,
                                                              firn_error *error);

/* Moves a collider from where it is to a pose (rotation: quaternion w, x, y, z), with the constant
 * velocity and spin that take `seconds` (> 0) from now, the shorter way round; there it stays. Give it
 * the seconds of the next advance to have it there at its end. Advances and steps that are shorter
 * take it a part of the way. Keys that the collider had no longer count. */
FIRN_API FIRN_MUST_CHECK firn_status firn_sim_move_collider(firn_sim *sim, int32_t collider,
                                                            const double position[3],
                                                            const double rotation[4],
                                                            double seconds, firn_error *error);

/* Puts a collider somewhere else at once, with a motion of its own from there; or, with 0 seconds,
 * without. Material that it comes to cover is pushed out. */
FIRN_API FIRN_MUST_CHECK firn_status firn_sim_set_motion(firn_sim *sim, int32_t collider,
                                                         const firn_collider_motion *motion,
                                                         firn_error *error);

/* The motion of a mesh that deforms: its vertices go from one shape to another, then stand still. Positions
 * are in the collider's frame, three numbers for each vertex of the def that made the mesh; of those at one
 * place, the first one counts. */
typedef struct firn_mesh_motion {
    const double *from; /* m; NULL: where the vertices are at `begin` */
    const double *to;   /* m */
    double begin, end;  /* s, of the sim's time; the motion may have begun before now */
} firn_mesh_motion;

/* Moves the vertices of a mesh collider, on top of the collider's own motion. The best rigid motion between
 * the shapes is taken out first: the mesh's frame moves with constant velocity and spin, and within it the
 * vertices go along straight lines. A mesh that only moves, up to a hundredth of a voxel, keeps the level
 * set it was created with; one that deforms gets new ones here, one for every two voxels that a vertex
 * moves within the frame. The next motion should begin where and when this one ends: its first level set is
 * then there already.
 *
 * A saved state holds neither meshes nor these motions. Before or after firn_sim_load, give the sim the
 * motion under way once more, with `from` and the same times: it goes on with the same bytes. */
FIRN_API FIRN_MUST_CHECK firn_status firn_sim_deform_collider(firn_sim *sim, int32_t collider,
                                                              const firn_mesh_motion *motion,
                                                              firn_error *error);

/* Replaces the mesh of a mesh collider at once; its motion by firn_sim_deform_collider ends. With NULL it is
 * nowhere until it gets another, as one that was added and came back by firn_sim_load. */
FIRN_API FIRN_MUST_CHECK firn_status firn_sim_set_mesh(firn_sim *sim, int32_t collider,
                                                       const firn_mesh *mesh, firn_error *error);

/* Sets surface_velocity and surface_spin of firn_collider_def: m/s and rad/s, in the shape's frame. */
FIRN_API FIRN_MUST_CHECK firn_status firn_sim_set_surface(firn_sim *sim, int32_t collider,
                                                          const double velocity[3],
                                                          const double spin[3], firn_error *error);

/* Where a collider is now, and how it moves; `seconds` is what is left of a motion that was set, and
 * INFINITY for one by keys. */
FIRN_API FIRN_MUST_CHECK firn_status firn_sim_read_motion(const firn_sim *sim, int32_t collider,
                                                          firn_collider_motion *out,
                                                          firn_error *error);

/* What the material does to a collider: means over the last advance or step, by the momentum that nodes
 * and particles lost to it; in implicit steps to the solver's tolerance. In 2D per metre of depth, and
 * only z of the torque. */
typedef struct firn_reaction {
    double force[3];  /* N */
    double torque[3]; /* N m, about the origin of the collider's frame */
} firn_reaction;
FIRN_API FIRN_MUST_CHECK firn_status firn_sim_read_reaction(const firn_sim *sim, int32_t collider,
                                                            firn_reaction *out, firn_error *error);

/* ---- materials and objects ---- */

/* Replaces the parameters of a material; the law must be the same. Particles keep their mass, volume,
 * state and enthalpy: a new density is that of particles added later, and with new heat parameters the
 * same enthalpy is another temperature. */
FIRN_API FIRN_MUST_CHECK firn_status firn_sim_set_material(firn_sim *sim, int32_t material,
                                                           const firn_material_def *def,
                                                           firn_error *error);

/* One more material; *material receives its index. */
FIRN_API FIRN_MUST_CHECK firn_status firn_sim_add_material(firn_sim *sim,
                                                           const firn_material_def *def,
                                                           int32_t *material, firn_error *error);

/* Says which body (0 to 65535) the particles of an object belong to, before there are any. In 3D the def
 * must have had object_bodies, if only one. With pressure projection all are in body 0. */
FIRN_API FIRN_MUST_CHECK firn_status firn_sim_set_body(firn_sim *sim, uint16_t object, int32_t body,
                                                       firn_error *error);

/* Removes all particles of an object; *removed may be NULL. */
FIRN_API FIRN_MUST_CHECK firn_status firn_sim_remove_object(firn_sim *sim, uint16_t object,
                                                            int64_t *removed, firn_error *error);

/* ---- particles ---- */

/* Writes `count` particles of a field in id order, from the first-th on: the counterpart of
 * firn_sim_read, for the fields that firn_field_info calls writable. Values are checked as
 * firn_sim_add checks them; another object must be of the same body. */
FIRN_API FIRN_MUST_CHECK firn_status firn_sim_write(firn_sim *sim, firn_field field, int64_t first,
                                                    int64_t count, const double *values,
                                                    firn_error *error);

/* The same for particles given by their ids, which may come in any order. */
FIRN_API FIRN_MUST_CHECK firn_status firn_sim_write_ids(firn_sim *sim, firn_field field,
                                                        int64_t count, const uint64_t *ids,
                                                        const double *values, firn_error *error);

/* Writes enthalpies by temperatures, K: where a material melts at one temperature, solid. */
FIRN_API FIRN_MUST_CHECK firn_status firn_sim_write_temperature(firn_sim *sim, int64_t first,
                                                                int64_t count,
                                                                const double *temperature,
                                                                firn_error *error);

/* Regions are shapes as colliders have them; what a def says of contact is not used, and its keys place
 * it at the sim's time. */

/* The particles within a region: the first `capacity` of their ids, in rising order, into `ids` (NULL
 * where capacity is 0), and how many there are. */
FIRN_API FIRN_MUST_CHECK firn_status firn_sim_find_inside(const firn_sim *sim,
                                                          const firn_collider_def *region,
                                                          int64_t capacity, uint64_t *ids,
                                                          int64_t *count, firn_error *error);

/* Gives the particles within a region an impulse, N s, shared out by mass: all change their velocity by
 * the same. *count, which may be NULL, receives how many there are; nothing happens where none is. */
FIRN_API FIRN_MUST_CHECK firn_status firn_sim_apply_impulse(firn_sim *sim,
                                                            const firn_collider_def *region,
                                                            const double impulse[3], int64_t *count,
                                                            firn_error *error);

/* Takes the velocities of the particles within a region towards one, m/s: by the part `strength`, from
 * 0 (not at all) to 1 (all the way). Velocity gradients shrink by as much. */
FIRN_API FIRN_MUST_CHECK firn_status firn_sim_apply_velocity(firn_sim *sim,
                                                             const firn_collider_def *region,
                                                             const double velocity[3],
                                                             double strength, int64_t *count,
                                                             firn_error *error);

/* ---- memory ---- */

/* Room for so many particles and grid blocks (firn_report.blocks tells how many there are), so that
 * adding up to those and advancing in explicit steps asks for no more. Counted on are materials that hang
 * together; loose spray may need more, as do heat and implicit steps on their first use. */
FIRN_API FIRN_MUST_CHECK firn_status firn_sim_reserve(firn_sim *sim, int64_t particles,
                                                      int32_t blocks, firn_error *error);

#ifdef __cplusplus
}
#endif
#endif
