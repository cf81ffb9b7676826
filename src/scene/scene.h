/* A scene: what a file says, read and checked, before anything is computed.
 *
 * The structs are filled by the rows of sections.c; pointers into the tree live as long as the
 * scene does. */
#ifndef FIRN_SCENE_INTERNAL_H
#define FIRN_SCENE_INTERNAL_H

#include <firn/scene.h>

#include "scene/param.h"
#include "scene/view.h"
#include "shape/shape.h"

/* A file that a shape comes from, and how its time goes with the scene's. */
typedef struct firn_scene_mesh {
    const char *file, *path;
    double thickness, scale; /* m, 1 */
    double fps, start;       /* 1/s, s */
    double speed;
    bool loop;
} firn_scene_mesh;

/* A solid below a surface that an expression or a picture gives. */
typedef struct firn_scene_heights {
    const char *file;
    const firn_value *height;
    double center[3], size[3], base; /* m */
    int64_t cells;
    double thinnest; /* m, from its surface down to its base */
} firn_scene_heights;

/* What a scene says of a shape beside its word. */
typedef struct firn_scene_more {
    firn_given given;
    double translate[3], rotate[3];
    double round, offset, shell; /* m */
} firn_scene_more;

/* What shapes are made of, other than numbers; the scene owns it. */
typedef struct firn_built {
    const firn_value *where; /* the shape it was made for, whose copies share it; or NULL */
    firn_compound *compound;
    firn_mesh *mesh;
    double thinnest; /* m, of a heightfield */
    struct firn_built *next;
} firn_built;

/* A shape as a scene gives it. */
typedef struct firn_scene_shape {
    firn_given given;
    const firn_value *where;
    double key[FIRN_SHAPE_KEYS][3]; /* in the order of the shape's keys */
    const firn_value *points_value;
    firn_scene_mesh mesh;       /* of a shape that comes from a file */
    firn_scene_heights heights; /* of a heightfield */
    /* Read from the above. */
    /* Shape, size, points (owned) and the pose the shape has by itself; a compound and the mesh of a heightfield
     * are the scene's. */
    firn_collider_def def;
    double up[3]; /* where its y points, of any length */
} firn_scene_shape;

/* A word for a shape, and what a scene may say of it. */
typedef struct firn_scene_shape_row {
    firn_section section;
    firn_param rows[FIRN_SHAPE_KEYS + 1]; /* of the section */
    firn_shape_kind kind;                 /* FIRN_COMPOUND: of `join` */
    firn_join join;
    bool heights;        /* a heightfield: a mesh, in 2D a polygon */
    unsigned dimensions; /* FIRN_2D | FIRN_3D: whose word it is */
    unsigned filled;     /* those of them where it can be filled */
} firn_scene_shape_row;
/* The index-th word; false past the end. */
bool firn_scene_shape_get(int32_t index, firn_scene_shape_row *out);

typedef struct firn_scene_frames {
    firn_given given;
    int64_t start, end;
    double fps, playback;
} firn_scene_frames;

typedef struct firn_scene_simulation {
    firn_given given;
    firn_sim_def def; /* cell_size and transfer as they will be; no materials, colliders or heat */
    double particles_per_cell;
    int32_t preset, transfer, volumes;
} firn_scene_simulation;

typedef struct firn_scene_material {
    firn_given given;
    const char *name;
    const firn_value *where;
    const char *preset;
    int32_t law;
    firn_material_def def; /* preset and what the scene gives */
    const firn_value *look_value, *noise_value;
    firn_look look;
    struct firn_scene_noise *noise;
    int32_t noise_count;
    int32_t layer_count; /* of noise that differ, on parameters other than density */
} firn_scene_material;

enum { FIRN_NOISE_LAYERS = 3 }; /* that differ, of a material */
typedef struct firn_scene_noise {
    firn_given given;
    int32_t parameter; /* of firn_scene_noisy and firn_material_param */
    double amount, feature;
    int64_t octaves, seed;
    int32_t layer; /* of the material's; -1: on density */
} firn_scene_noise;

typedef struct firn_scene_shell {
    firn_given given;
    double thickness;         /* m */
    firn_material_def factor; /* on each parameter */
} firn_scene_shell;

typedef enum firn_measure {
    FIRN_NOTHING_OF,
    FIRN_MASS_OF,
    FIRN_VOLUME_OF,
    FIRN_COUNT_OF
} firn_measure;

typedef struct firn_scene_quantity {
    double value; /* kg, m3 (in 2D of 1 m of depth) or particles; of a flow, per second */
    firn_measure measure;
} firn_scene_quantity;

typedef struct firn_scene_emit {
    firn_given given;
    double start, end; /* s */
    const firn_value *flow_value, *amount_value, *direction_value;
    double rate, speed; /* part of the flow; m/s, 0: what velocity or flow say */
    firn_track rate_keys, speed_keys;
    double spread, speed_spread; /* degrees, part */
    /* Read from the above. */
    firn_scene_quantity flow, amount;
    double direction[3]; /* of any length; 0: the object's velocity says it */
    bool outward;        /* from the surface */
} firn_scene_emit;

typedef enum firn_fill_choice {
    FIRN_REGULAR,
    FIRN_JITTERED,
    FIRN_RANDOM,
    FIRN_BLUE_NOISE
} firn_fill_choice;

/* What a scene says of copies. */
typedef struct firn_scene_instances {
    firn_given given;
    const firn_value *list, *grid, *ring, *inside, *jitter, *materials;
    const char *points;
    int64_t seed;
} firn_scene_instances;

typedef struct firn_scene_copy {
    firn_given given;
    double translate[3], rotate[3], scale, velocity[3];
    const char *material;
    int64_t seed;
} firn_scene_copy;

typedef struct firn_scene_grid {
    firn_given given;
    double count[3], spacing[3], center[3];
} firn_scene_grid;

typedef struct firn_scene_circle {
    firn_given given;
    int64_t count;
    double radius, center[3], up[3];
    bool turn;
} firn_scene_circle;

typedef struct firn_scene_inside {
    firn_given given;
    const firn_value *shape_value;
    int64_t count;
    double separation;
    int32_t pattern;
} firn_scene_inside;

typedef struct firn_scene_jitter {
    firn_given given;
    double translate[3], rotate[3], scale, velocity[3];
} firn_scene_jitter;

/* A group or a copy of one, or where a copy of something stands: a frame that members are in. */
typedef struct firn_scene_frame {
    firn_collider_def def; /* its pose, keys (owned) and what it rides on; the shape says nothing */
    double scale;          /* of all lengths in it */
    int32_t depth;         /* 1: in the world */
} firn_scene_frame;

typedef struct firn_scene_object {
    firn_given given;
    const firn_value *where;
    const char *name, *material, *body;
    const firn_value *shape_value, *shell_value, *emit_value, *temperature_noise_value;
    const char *group;
    const firn_value *instances_value;
    const char *mesh, *voxels, *particles; /* files, as seen from the scene's */
    double translate[3], rotate[3], scale[3];
    double velocity[3], spin[3];
    double density, separation, inherit;
    double temperature, concentration;
    int64_t count, seed, per_voxel, refine;
    double refine_distance;
    int32_t pattern, contact;
    /* Read from the above. */
    double turn[4]; /* quaternion: how copies and groups turn it, after `rotate` */
    bool has_shape, emits;
    firn_scene_shape shape;
    firn_scene_shell shell;
    firn_scene_emit emit;
    const firn_scene_frame *rides; /* the group that an emitter moves with; NULL: it stands still */
    firn_scene_noise temperature_noise; /* amount in K */
    int32_t material_index;
} firn_scene_object;

typedef struct firn_scene_contact {
    firn_given given;
    const firn_value *where;
    const firn_value *objects;
    double friction;
    int32_t object[2];
} firn_scene_contact;

typedef struct firn_scene_collider {
    firn_given given;
    const firn_value *where;
    const char *name, *group;
    const firn_value *shape_value, *keys, *instances_value;
    firn_collider_def def; /* its parameters; firn_job_collider adds shape and place */
    double translate[3], rotate[3];
    int32_t interpolation;
    double pivot[3];
    double spin[3], surface_spin[3]; /* degrees/s */
    firn_track surface_spin_keys;
    bool visible;
    double color[3]; /* linear */
    double opacity;
    const firn_value *cut_value;
    firn_view_cut cut; /* where there is one */
    firn_scene_shape shape;
    double scale; /* of all its lengths, by copies and groups */
    firn_pose_key
        *key; /* poses of the shape's frame, ready for the sim; its place if key_count is 0 */
    int32_t key_count;
} firn_scene_collider;
bool firn_scene_moves(const firn_scene_collider *collider); /* by keys or spin, its groups' too */

typedef struct firn_scene_group {
    firn_given given;
    const firn_value *where;
    const char *name, *parent;
    const firn_value *instances_value;
    double scale;
    firn_scene_collider body; /* place and keys alone */
    /* Read from the above. */
    firn_scene_frame **frame; /* of each of its copies */
    int32_t frame_count;
    bool copied; /* by its instances or those of a parent */
} firn_scene_group;

typedef struct firn_scene_heat_source {
    firn_given given;
    double power, start, end;
    firn_track power_keys;
    firn_scene_collider body; /* shape and place alone */
} firn_scene_heat_source;

typedef struct firn_scene_heat {
    firn_given given;
    firn_heat_def def; /* without its sources */
    const firn_value *sources_value;
    firn_scene_heat_source *source;
    int32_t source_count;
} firn_scene_heat;

typedef struct firn_scene_sink {
    firn_given given;
    const firn_value *where;
    const char *group;
    const firn_value *shape_value;
    double start, end; /* s */
    firn_scene_shape shape;
    const firn_scene_frame *frame; /* NULL: the world */
} firn_scene_sink;

typedef struct firn_scene_domain {
    firn_given given;
    double low[3], high[3]; /* m */
    int32_t leaving;        /* 0: stopped, 1: deleted */
} firn_scene_domain;

typedef struct firn_scene_output {
    firn_given given;
    const firn_value *where;
    const char *file;
    int32_t of; /* 0: particles, 1: grid */
    const firn_value *attributes;
    const char **names; /* of those, up to NULL; NULL: all */
    int64_t every, level;
    double voxel; /* m */
    bool half, classic;
    bool sequence; /* one file holds all frames */
} firn_scene_output;

typedef struct firn_scene_checkpoint {
    firn_given given;
    const char *folder; /* NULL: <name>.ckpt */
    int64_t every, keep;
} firn_scene_checkpoint;

struct firn_scene {
    firn_given given;
    int64_t firn, dimension, seed;
    const char *name;
    double resolution, final_resolution;
    int32_t up;
    const char *statistics; /* NULL: none */
    const firn_value *include, *variables, *frames_value, *simulation_value, *materials_value,
        *groups_value, *objects_value, *contacts_value, *colliders_value, *forces_value,
        *heat_value, *sinks_value, *domain_value, *output_value, *checkpoint_value, *camera_value,
        *light_value;
    /* Read from the above. */
    firn_scene_frames frames;
    firn_scene_simulation simulation;
    firn_scene_heat heat; /* where heat_value says that there is any */
    firn_scene_domain domain;
    firn_scene_checkpoint checkpoint;
    firn_view_camera camera;
    firn_light light;
    firn_scene_material *material;
    firn_scene_group *group;
    firn_scene_frame **frame; /* of groups, their copies and copies of colliders */
    char **text;              /* names of copies */
    firn_built *built; /* two lists, each after an empty one, newest first: shared, and not */
    firn_scene_object *object;
    firn_scene_contact *contact;
    firn_scene_collider *collider;
    firn_acceleration_key *force;
    firn_scene_sink *sink;
    firn_scene_output *output;
    int32_t material_count, group_count, frame_count, text_count, object_count, contact_count,
        collider_count, force_count, sink_count, output_count;
    firn_names material_names, group_names, object_names; /* to the above */
    double cell_size;                                     /* m, as it will be */
    firn_context context;                                 /* of the tree's values */
    firn_tree tree;
};

/* ---- sections.c: the table ---- */

extern const firn_section firn_section_scene, firn_section_frames, firn_section_simulation,
    firn_section_material, firn_section_noise, firn_section_group, firn_section_instances,
    firn_section_copy, firn_section_grid, firn_section_circle, firn_section_inside,
    firn_section_jitter, firn_section_object, firn_section_shell, firn_section_temperature_noise,
    firn_section_emit, firn_section_contact, firn_section_collider, firn_section_heat,
    firn_section_heat_source, firn_section_sink, firn_section_domain, firn_section_output,
    firn_section_checkpoint, firn_section_shape, firn_section_mesh;
/* Those and more, in the order of the reference; ends with NULL. Shapes are apart. */
extern const firn_section *const firn_sections[];

extern const char *const firn_scene_noisy[]; /* what noise can act on */

/* ---- scene.c ---- */

/* Takes the tree over, whatever happens. */
firn_status firn_scene_read(firn_scene *scene, firn_tree *tree, firn_error *error);
void firn_scene_free(firn_scene *scene);

/* A message of the engine with the name of the collider that it begins with: "colliders[1].mesh: too thin"
 * becomes "collider plough: too thin". Without a name, and of something else, it stays as it is. */
void firn_scene_name_collider(const firn_scene *scene, const char *message, char *out, size_t size);

/* What the engine refused, with the place in the scene that the field's path leads to, or else that of what
 * it is in. Returns the status of `inner`. */
firn_status firn_scene_refuse(const firn_scene *scene, const firn_error *inner, firn_error *error);

/* The number of the material of that name, or -1, with what to say in `near` (unless NULL). */
int32_t firn_scene_find_material(const firn_scene *scene, const char *name, char *near,
                                 size_t size);

/* Quaternion w, x, y, z of rotations about x, then y, then z, in degrees. */
void firn_rotation_from_degrees(const double degrees[3], double quaternion[4]);

#endif
