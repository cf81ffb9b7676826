/* Where particles come from: shapes, meshes, voxels and particle files of a scene's objects. */
#ifndef FIRN_SOURCE_H
#define FIRN_SOURCE_H

#include "io/io.h"
#include "geometry/placement.h"
#include "scene/scene.h"

/* Particles to add; NULL: the object's or material's. Owned. */
typedef struct firn_batch {
    int64_t count, dropped; /* dropped: where an earlier object is */
    double *position, *velocity, *velocity_gradient, *volume, *mass, *deformation_gradient, *state;
    double *temperature, *enthalpy, *concentration;
    double *place; /* m, count x dimension: where noise is looked up; NULL: where particles are */
    double *depth; /* m, below the surface; NULL: as where they are */
    uint16_t *material;
    bool assumed;        /* volumes are the resolution's: a particle file says nothing of them */
    firn_points carried; /* attributes of a particle file that the engine does not know */
} firn_batch;
void firn_batch_free(firn_batch *batch);

/* Volume over that of the solid, of particle i of an object that says nothing of its deformation: melt
 * is less dense than its solid, or denser. */
double firn_batch_rest_ratio(const firn_batch *b, const firn_scene *scene,
                             const firn_scene_object *o, int64_t i);

typedef struct firn_source firn_source;
typedef struct firn_sources {
    const firn_scene *scene;
    firn_source *object, *sink;
} firn_sources;

/* Reads the files of all objects and places the shapes. */
firn_status firn_sources_open(firn_sources *sources, const firn_scene *scene, firn_error *error);
void firn_sources_close(firn_sources *sources);
/* Tells a log what is odd about their files. */
void firn_sources_doubt(const firn_sources *sources, const firn_log *log);

/* What object `index` fills: a shape, a mesh, voxels or a particle file. With `apart`, places inside
 * earlier objects are left out. */
firn_status firn_sources_fill(const firn_sources *sources, int32_t index, bool apart,
                              firn_batch *out, firn_error *error);
/* Bytes of memory that a run takes for each particle: the sim; a frame and its making. */
double firn_particle_bytes(const firn_scene *scene);
/* About how many particles that will be; 0 for particle files, which are not read before. */
double firn_sources_expected(const firn_sources *sources, int32_t index);
/* Follow the files of meshes that move to a time of the scene: an object's; all sinks'. */
firn_status firn_sources_move(firn_sources *sources, int32_t index, double time, firn_error *error);
firn_status firn_sources_move_sinks(firn_sources *sources, double time, firn_error *error);
bool firn_sources_in_sink(const firn_sources *sources, int32_t index, const double position[3]);
/* How deep a place is below the surface of an object that is not a particle file, m, up to `limit`. */
double firn_sources_depth(const firn_sources *sources, int32_t index, const double position[3],
                          double limit);
/* What an object that is not a particle file is in; NULL while its mesh is hidden. The same place in memory,
 * wherever it moves. */
const firn_region *firn_sources_region(const firn_sources *sources, int32_t index);
bool firn_sources_moves(const firn_sources *sources, int32_t index);
/* How far apart its particles are, m. */
double firn_sources_separation(const firn_sources *sources, int32_t index);
/* The velocity of the mesh of an object at places, m/s: zero unless it moves. */
firn_status firn_sources_velocities(const firn_sources *sources, int32_t index, int64_t count,
                                    const double *position, double *velocity, firn_error *error);
/* Gives particles their part of the velocity of the mesh that they are in. */
firn_status firn_sources_inherit(const firn_sources *sources, int32_t index, firn_batch *b,
                                 firn_error *error);
/* What fillings of an object go by. */
uint64_t firn_sources_seed(const firn_sources *sources, int32_t index);

firn_placement firn_object_placement(const firn_scene_object *object);

/* ---- import.c ---- */

/* The particles of a file, placed as the object says. */
firn_status firn_import(const firn_scene *scene, const firn_scene_object *object, const char *path,
                        firn_batch *out, firn_error *error);

#endif
