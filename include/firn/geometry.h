/* Geometry: regions given by shapes, closed meshes or voxels, and filling them with particles.
 *
 * Part of the library firn_scene. */
#ifndef FIRN_GEOMETRY_H
#define FIRN_GEOMETRY_H

#include <firn/collider.h>
#include <firn/mesh.h>
#include <firn/volume.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- mesh files ---- */

/* A mesh from an OBJ, PLY, STL, OpenVDB or binvox file, by the end of its name, made on `threads` threads:
 * a closed solid, or a sheet if `thickness` (m) is above 0.
 *
 * An OpenVDB file is the zero level of its first level set; if it has none, the surface of its first fog
 * volume, bool grid or mask, around the voxels above half of the largest value. Surfaces of voxels that are
 * only full or empty are smoothed, by less than a voxel. */
FIRN_API FIRN_MUST_CHECK firn_status firn_mesh_read(const char *path, double thickness,
                                                    int32_t threads, firn_mesh **mesh,
                                                    firn_error *error);

/* The polygons of such a file, as it has them; of an OpenVDB file with velocities (vectors called v, vel or
 * velocity, or staggered ones) also those. */
FIRN_API FIRN_MUST_CHECK firn_status firn_polygons_read(const char *path, firn_polygons *out,
                                                        firn_error *error);

/* ---- animated meshes ---- */

/* A mesh that changes over time: the samples of an Alembic file, numbered files, or one that stands still. */
typedef struct firn_animation firn_animation;

/* Make one with firn_animation_def_default. */
typedef struct firn_animation_def {
    /* Alembic, OBJ, PLY, STL, OpenVDB or binvox; with $F4 or $F in its name, as many files as there are
     * numbers for it. */
    const char *file;
    /* Which meshes of an Alembic file: a pattern of their paths, see firn_alembic_find, or of what they are
     * in; NULL: all. Hidden ones are not there while they are hidden. */
    const char *path;
    double fps;   /* 1/s: a file of number n is at n / fps seconds; 24 by default */
    double scale; /* of lengths: 0.01 takes centimetres to metres; 1 by default */
} firn_animation_def;
FIRN_API firn_animation_def firn_animation_def_default(void);

/* Files of a sequence are found here and read when they are needed. */
FIRN_API FIRN_MUST_CHECK firn_status firn_animation_open(const firn_animation_def *def,
                                                         firn_animation **animation,
                                                         firn_error *error);
FIRN_API void firn_animation_close(firn_animation *animation); /* NULL is fine */

typedef struct firn_animation_info {
    int64_t time_count;
    const double *times; /* s, rising: its samples; 0 alone if it stands still */
    bool constant;       /* it has the same faces at all times */
    bool remade; /* each sample has vertices of its own, which are not those of another sample */
} firn_animation_info;
FIRN_API firn_animation_info firn_animation_get_info(const firn_animation *animation);

/* Its polygons at a time (s): between samples with the same faces vertices go along straight lines; if faces
 * change or vertices are remade, the sample before holds; before the first sample and after the last, those hold. Without a vertex if nothing is
 * visible. */
FIRN_API FIRN_MUST_CHECK firn_status firn_animation_read(const firn_animation *animation,
                                                         double time, firn_polygons *out,
                                                         firn_error *error);

/* ---- meshes as volumes ---- */

/* Make one with firn_voxelize_def_default. */
typedef struct firn_voxelize_def {
    const firn_mesh *mesh;
    const double *velocities; /* m/s, of each vertex of the def that made the mesh; NULL: none */
    double voxel;             /* m, its edge */
    double band;              /* voxels on either side of the surface, 1 to 1000; 3 by default */
    bool normals;
    const char *name; /* begins messages; NULL is "mesh" */
    int32_t threads;  /* 0, the default: all; the result does not depend on it */
} firn_voxelize_def;
FIRN_API firn_voxelize_def firn_voxelize_def_default(void);

/* The level set `surface` of a solid or a sheet: its signed distance in a narrow band, exact at the voxels,
 * which lie at whole multiples of their edge. With velocities also `v`, that of the nearest point of the
 * surface; with normals `normal`, the unit vector away from the inside. A sheet is at least as thick as a
 * voxel. */
FIRN_API FIRN_MUST_CHECK firn_status firn_volumes_voxelize(const firn_voxelize_def *def,
                                                           firn_volumes *out, firn_error *error);

/* ---- regions ---- */

/* Where a thing stands: scaled, then turned about x, y and z by `rotate_deg`, then about `axis` by
 * `angle_deg`, then moved. Make one with firn_placement_default. */
typedef struct firn_placement {
    double translate[3]; /* m */
    double rotate_deg[3];
    double axis[3]; /* any length but zero; read only when angle_deg is not 0 */
    double angle_deg;
    double scale[3]; /* not 0; negative mirrors */
} firn_placement;
FIRN_API firn_placement firn_placement_default(void); /* as it is */

/* Constant once created, so threads may share it. */
typedef struct firn_region firn_region;

/* A shape that has an end; the def's pose and keys are not read. `dimension` is 2 or 3. A mesh and a compound must
 * outlive the region. */
FIRN_API FIRN_MUST_CHECK firn_status firn_region_create_shape(const firn_collider_def *shape,
                                                              int32_t dimension,
                                                              const firn_placement *placement,
                                                              firn_region **region,
                                                              firn_error *error);
/* The closed mesh of an OBJ, PLY, STL, OpenVDB or binvox file, as firn_mesh_read has it, checked and
 * prepared on `threads` threads. A point is inside where the winding number is not zero: overlapping shells are one
 * body, and a shell turned inside out is a cavity. */
FIRN_API FIRN_MUST_CHECK firn_status firn_region_create_mesh(const char *path, int32_t threads,
                                                             const firn_placement *placement,
                                                             firn_region **region,
                                                             firn_error *error);
/* Does the same for the bytes of such a file; the end of `name` tells the format. */
FIRN_API FIRN_MUST_CHECK firn_status
firn_region_parse_mesh(const char *name, const firn_bytes *bytes, int32_t threads,
                       const firn_placement *placement, firn_region **region, firn_error *error);
/* The full voxels of a binvox file. */
FIRN_API FIRN_MUST_CHECK firn_status firn_region_create_voxels(const char *path,
                                                               const firn_placement *placement,
                                                               firn_region **region,
                                                               firn_error *error);
FIRN_API void firn_region_destroy(firn_region *region); /* NULL is fine */

typedef struct firn_region_info {
    int32_t dimension;
    double low[3], high[3]; /* m, bounds in the world */
    double volume;          /* m3; in 2D the area, m2 */
    int32_t triangles;      /* of a mesh; else 0 */
} firn_region_info;
FIRN_API firn_region_info firn_region_get_info(const firn_region *region);

/* Whether a point is inside: exact, up to the rounding of the point. In 2D z is ignored. */
FIRN_API bool firn_region_inside(const firn_region *region, const double point[3]);

/* Signed distance to the surface, m: negative inside, never more than the true distance, cut off at
 * +-limit. */
FIRN_API double firn_region_distance(const firn_region *region, const double point[3],
                                     double limit);

/* ---- filling ---- */

/* Every particle stands for a cube (2D: a square) with the edge `separation`. */
typedef enum firn_pattern {
    FIRN_FILL_REGULAR,   /* on a lattice along the axes, centred on the region's bounds */
    FIRN_FILL_JITTERED,  /* one in each cell of that lattice, anywhere in its middle part */
    FIRN_FILL_RANDOM,    /* anywhere, independent of each other */
    FIRN_FILL_BLUE_NOISE /* anywhere, but no two near each other */
} firn_pattern;
FIRN_API const char *firn_pattern_name(firn_pattern pattern); /* "blue_noise"; NULL past the end */

enum { FIRN_FILL_LEVELS = 6 };

/* Make one with firn_fill_def_default, which gives no number of particles. */
typedef struct firn_fill_def {
    firn_pattern pattern;
    /* One of these three is above 0. */
    double separation; /* m; as many particles as that gives, about volume / separation^dimension */
    int64_t count;     /* exactly so many */
    int64_t per_voxel; /* so many in each voxel of a voxel file; not with blue noise */

    double jitter; /* of the jittered pattern: width of the middle part, 0 to 1 cells */
    uint64_t seed;
    /* Denser near the surface: each of so many levels halves the separation. Level 1 reaches
     * refine_distance deep, each further one half as deep as the one before. */
    int32_t refine_levels;  /* 0 to FIRN_FILL_LEVELS; not with per_voxel */
    double refine_distance; /* m */

    /* Particles inside any of these are dropped, with their volume. */
    const firn_region *const *taken;
    int32_t taken_count;

    int64_t most;    /* particles; more are refused before work begins */
    int32_t threads; /* 1 by default; the result does not depend on it */
} firn_fill_def;
FIRN_API firn_fill_def firn_fill_def_default(void); /* jittered */

/* Owned by the caller; freed by firn_filling_free. The volumes add up to the region's, whatever the
 * pattern: mass is density times volume. */
typedef struct firn_filling {
    int64_t count;
    double *position;  /* count x 3, m; z is 0 in 2D */
    double *volume;    /* m3; in 2D m2 */
    int64_t dropped;   /* particles in regions that were taken */
    double separation; /* m, that was used */
} firn_filling;

FIRN_API FIRN_MUST_CHECK firn_status firn_fill(const firn_region *region, const firn_fill_def *def,
                                               firn_filling *out, firn_error *error);
FIRN_API void firn_filling_free(firn_filling *filling);

/* Coherent noise: a smooth random function of position in [-1, 1], 0 on average, the same on every
 * machine. Features are about `feature` metres across; each further octave (1 to 32) halves their size
 * and their strength. */
FIRN_API double firn_noise(const double position[3], double feature, int32_t octaves,
                           uint64_t seed);

#ifdef __cplusplus
}
#endif
#endif
