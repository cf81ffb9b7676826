/* Volumes: sparse voxels in blocks of 8 x 8 x 8, OpenVDB files of them, and particles turned into them.
 *
 * A voxel is one value, or one vector, at whole coordinates. Voxels of blocks have a value each; tiles
 * are large cubes of one value, as the inside of a level set; everywhere else is the background. Part of
 * the library firn_scene. */
#ifndef FIRN_VOLUME_H
#define FIRN_VOLUME_H

#include <firn/points.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { FIRN_BLOCK_EDGE = 8, FIRN_BLOCK_VOXELS = 512 };

/* Grid classes of OpenVDB: X(NAME, text in files). */
#define FIRN_VOLUME_CLASSES(X)                                                                     \
    X(PLAIN, "unknown")                                                                            \
    X(LEVEL_SET, "level set") /* signed distance, m: negative inside */                            \
    X(FOG, "fog volume")                                                                           \
    X(STAGGERED, "staggered") /* a vector's components lie on the voxel's lower faces */

typedef enum firn_volume_class {
#define DECLARE(NAME, text) FIRN_VOLUME_##NAME,
    FIRN_VOLUME_CLASSES(DECLARE)
#undef DECLARE
} firn_volume_class;

/* "level set"; NULL past the end. */
FIRN_API const char *firn_volume_class_name(firn_volume_class kind);

typedef struct firn_volume_block {
    int32_t origin[3];  /* the lowest voxel; multiples of 8 */
    uint64_t active[8]; /* voxel (x, y, z) of the block is bit 8y + z of word x */
} firn_volume_block;

typedef struct firn_volume_tile {
    int32_t origin[3]; /* the lowest voxel; multiples of the edge */
    int32_t edge;      /* voxels: 8, 128 or 4096 */
    float value[3];
    bool active;
} firn_volume_tile;

/* Something that a file says about itself or a volume. */
typedef struct firn_volume_note {
    char name[FIRN_NAME_SIZE], text[128]; /* cut short */
} firn_volume_note;

/* Starts zeroed; owns its arrays. Voxel (i, j, k) is at origin + i axis[0] + j axis[1] + k axis[2]. */
typedef struct firn_volume {
    char name[FIRN_NAME_SIZE];
    char type[FIRN_NAME_SIZE]; /* in the file: "float", "vec3s", "bool"... Not read when writing */
    firn_volume_class kind;
    int32_t components; /* 1 or 3; 0: listed only, as `type` or its transform cannot be read */
    double axis[3][3];  /* m */
    double origin[3];   /* m */
    double voxel;       /* m, edge of voxels that are cubes; 0: they are not */
    float background[3];
    int64_t block_count, tile_count; /* each ordered by firn_volume_order */
    firn_volume_block *block;
    float *value; /* block_count x 512 x components; voxel (x, y, z) is the (64x + 8y + z)th */
    firn_volume_tile *tile;
    int64_t note_count;
    firn_volume_note *note;
} firn_volume;

/* Starts zeroed; owns its volumes. */
typedef struct firn_volumes {
    int32_t count;
    firn_volume *volume;
    int64_t note_count;
    firn_volume_note *note;
} firn_volumes;

FIRN_API void firn_volumes_free(firn_volumes *volumes);

/* An upright volume without voxels whose voxel 0 0 0 is at the origin; NULL and an error if memory runs
 * out or the name is empty or too long. Pointers to other volumes become invalid. */
FIRN_API firn_volume *firn_volumes_add(firn_volumes *volumes, const char *name, int32_t components,
                                       double voxel, firn_error *error);

/* Adds a note, which files keep; name and text are cut short to fit. */
FIRN_API FIRN_MUST_CHECK firn_status firn_volume_add_note(firn_volume *volume, const char *name,
                                                          const char *text, firn_error *error);

/* ---- asking ---- */

/* The order of blocks and of tiles, by their origins: below 0, 0 or above as strcmp has it. */
FIRN_API int firn_volume_order(const int32_t a[3], const int32_t b[3]);

/* What a voxel is; whether it is active. */
FIRN_API bool firn_volume_get(const firn_volume *volume, const int32_t voxel[3], float *value);

typedef struct firn_volume_info {
    int64_t active;          /* voxels; saturates */
    int32_t low[3], high[3]; /* the lowest and the highest active one; 0 if there is none */
} firn_volume_info;
FIRN_API firn_volume_info firn_volume_get_info(const firn_volume *volume);

/* The first level set of cubic voxels. NULL with an error that says what there is instead. */
FIRN_API const firn_volume *firn_volumes_find_level_set(const firn_volumes *volumes,
                                                        firn_error *error);
/* The velocity: vectors by the name of v, vel or velocity, or the first staggered ones. NULL: none. */
FIRN_API const firn_volume *firn_volumes_find_velocity(const firn_volumes *volumes);
/* The volume of that name, or NULL. */
FIRN_API const firn_volume *firn_volumes_find(const firn_volumes *volumes, const char *name);
/* The text of a volume's note, or NULL. */
FIRN_API const char *firn_volume_find_note(const firn_volume *volume, const char *name);

/* ---- OpenVDB files ---- */

/* Whether the bytes begin as an OpenVDB file does. */
FIRN_API bool firn_volumes_recognise(const firn_bytes *bytes);

/* Reads all volumes of a file: numbers, vectors of three, and masks, which are 0 or 1. Those of other
 * types are listed. */
FIRN_API FIRN_MUST_CHECK firn_status firn_volumes_read(const char *path, firn_volumes *out,
                                                       firn_error *error);
/* Does the same for bytes in memory; `path` is what messages call them. */
FIRN_API FIRN_MUST_CHECK firn_status firn_volumes_parse(const char *path, const firn_bytes *bytes,
                                                        firn_volumes *out, firn_error *error);
/* Writes volumes, in any order of blocks and tiles. Of the options it takes half, level and threads.
 * The file appears whole or not at all. */
FIRN_API FIRN_MUST_CHECK firn_status firn_volumes_write(const char *path,
                                                        const firn_volumes *volumes,
                                                        const firn_write_options *options,
                                                        firn_error *error);

/* ---- particles ---- */

/* Spreads particles over voxels of the edge `voxel`, m, with quadratic B-splines. `density`, kg/m3, is
 * the mass per volume, and adds up to the mass of P and mass. Every other float attribute of one or
 * three components, but pscale and density itself, becomes a volume of averages weighted by mass. The
 * result does not depend on `threads`; 0: all. */
FIRN_API FIRN_MUST_CHECK firn_status firn_volumes_splat(const firn_points *points, double voxel,
                                                        int32_t threads, firn_volumes *out,
                                                        firn_error *error);

#ifdef __cplusplus
}
#endif
#endif
