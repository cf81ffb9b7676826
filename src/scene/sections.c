/* What only scenes have, row by row, and the sections. The parameters of simulation, heat, colliders and
 * materials are the engine's: see <firn/param.h>. */
#include <math.h>

#include <string.h>

#include "scene/scene.h"

#define AT(member) offsetof(STRUCT, member)
#define ANY 0, 0
#define POSITIVE 1e-12, INFINITY
#define NOT_NEGATIVE 0, INFINITY
#define END                                                                                        \
    {                                                                                              \
        0                                                                                          \
    }

/* Of noises, in a firn_scene_noise. */
#define NOISE_ROWS                                                                                 \
    {"feature",   FIRN_REAL, "m", "0.1", POSITIVE, "size of the largest features",                 \
     AT(feature), NULL,      NULL},                                                                \
        {"octaves",                                                                                \
         FIRN_WHOLE,                                                                               \
         "",                                                                                       \
         "3",                                                                                      \
         1,                                                                                        \
         12,                                                                                       \
         "number of layers, each half the size and half the amount",                               \
         AT(octaves),                                                                              \
         NULL,                                                                                     \
         NULL},                                                                                    \
    {                                                                                              \
        "seed", FIRN_WHOLE, "", "0", 0, 0x1p53,                                                    \
            "another seed gives another noise; noises with the same feature, octaves and seed "    \
            "are the same",                                                                        \
            AT(seed), NULL, NULL                                                                   \
    }

/* Where the shape of a firn_scene_collider is; `of` leads to it. */
#define PLACE_ROWS(of)                                                                             \
    {"translate",     FIRN_VECTOR,      "m",  "[0, 0, 0]", ANY,                                    \
     "after turning", AT(of translate), NULL, NULL},                                               \
        {"rotate",      FIRN_VECTOR, "degrees",                                                    \
         "[0, 0, 0]",   ANY,         "about the origin: x, then y, then z",                        \
         AT(of rotate), NULL,        NULL},                                                        \
        {"keys",                                                                                   \
         FIRN_VALUE,                                                                               \
         "",                                                                                       \
         "",                                                                                       \
         ANY,                                                                                      \
         "times (s) to {at: [x, y, z], rotate: [x, y, z]}, or one such map of expressions",        \
         AT(of keys),                                                                              \
         NULL,                                                                                     \
         NULL},                                                                                    \
        {"interpolation",                                                                          \
         FIRN_CHOICE,                                                                              \
         "",                                                                                       \
         "linear",                                                                                 \
         ANY,                                                                                      \
         "the way from key to key: straight, in a curve, or in jumps",                             \
         AT(of interpolation),                                                                     \
         interpolation_words,                                                                      \
         NULL},                                                                                    \
        {"pivot",                                                                                  \
         FIRN_VECTOR,                                                                              \
         "m",                                                                                      \
         "[0, 0, 0]",                                                                              \
         ANY,                                                                                      \
         "the point that `rotate` of keys and `spin` turn it about, "                              \
         "where it is before keys move it; by default the origin, and "                            \
         "for `spin` and for groups the middle of their own",                                      \
         AT(of pivot),                                                                             \
         NULL,                                                                                     \
         NULL},                                                                                    \
    {                                                                                              \
        "spin", FIRN_VECTOR, "degrees/s", "[0, 0, 0]", ANY,                                        \
            "turns it without end, from time 0 on, about axes of its group", AT(of spin), NULL,    \
            NULL                                                                                   \
    }

#define GROUP_ROW(of)                                                                              \
    {                                                                                              \
        "group", FIRN_TEXT, "", "", ANY, "one of groups, whose place and motion it takes part in", \
            AT(of group), NULL, NULL                                                               \
    }
#define INSTANCES_ROW                                                                              \
    {                                                                                              \
        "instances", FIRN_VALUE, "", "", ANY, "makes copies of it: see instances",                 \
            AT(instances_value), NULL, NULL                                                        \
    }

static const char *const up_words[] = {"y", "z", NULL};
static const char *const method_words[] = {"firn", "stomakhin2013", NULL};
/* The engine's words for a choice. */
#define WORDS(list)                                                                                \
    {                                                                                              \
        list(FIRN_LIST_NAME) NULL                                                                  \
    }
static const char *const law_words[] = WORDS(FIRN_LAWS);
static const char *const interpolation_words[] = WORDS(FIRN_INTERPOLATIONS);
static const char *const transfer_words[] = WORDS(FIRN_TRANSFERS);
static const char *const volume_words[] = {"geometric", "grid", NULL};
static const char *const pattern_words[] = {"regular", "jittered", "random", "blue_noise", NULL};
static const char *const contact_words[] = {"auto", "apart", "merge", NULL};
static const char *const output_words[] = {"particles", "grid", NULL};
static const char *const leaving_words[] = {"stop", "delete", NULL};
const char *const firn_scene_noisy[] = {
#define NAME(kind, name, ...) #name,
    FIRN_MATERIAL_PARAMS(NAME)
#undef NAME
        NULL};

#define STRUCT firn_scene
static const firn_param scene_rows[] = {
    {"firn", FIRN_WHOLE, "", "", 1, 1, "version of the scene format; required", AT(firn), NULL,
     NULL},
    {"name", FIRN_TEXT, "", "scene", ANY, "name of log and checkpoints; $NAME in outputs", AT(name),
     NULL, NULL},
    {"include", FIRN_VALUE, "", "", ANY, "file or files merged in; values given here win",
     AT(include), NULL, NULL},
    {"variables", FIRN_VALUE, "", "", ANY,
     "map of names to numbers, for `$name` wherever a number stands", AT(variables), NULL, NULL},
    {"dimension", FIRN_WHOLE, "", "3", 2, 3, "2 or 3", AT(dimension), NULL, NULL},
    {"resolution", FIRN_REAL, "m", "0.02", 1e-6, 1e6, "distance between particles; cells follow",
     AT(resolution), NULL, "particle_separation"},
    {"final_resolution", FIRN_REAL, "m", "", 1e-6, 1e6,
     "resolution of the final run: snow in a coarser draft breaks like it", AT(final_resolution),
     NULL, NULL},
    {"up", FIRN_CHOICE, "", "y", ANY, "axis that gravity points against", AT(up), up_words, NULL},
    {"seed", FIRN_WHOLE, "", "0", 0, 0x1p53, "seed of everything random", AT(seed), NULL, NULL},
    {"frames", FIRN_VALUE, "", "", ANY, "which frames: see frames", AT(frames_value), NULL, NULL},
    {"simulation", FIRN_VALUE, "", "", ANY, "grid, forces and steps: see simulation",
     AT(simulation_value), NULL, NULL},
    {"materials", FIRN_VALUE, "", "", ANY, "map of names to materials", AT(materials_value), NULL,
     NULL},
    {"groups", FIRN_VALUE, "", "", ANY, "list of places that move what is in them: see a group",
     AT(groups_value), NULL, NULL},
    {"objects", FIRN_VALUE, "", "", ANY, "list of objects, filled with particles",
     AT(objects_value), NULL, NULL},
    {"contacts", FIRN_VALUE, "", "", ANY, "list of pairs of objects: see a contact",
     AT(contacts_value), NULL, NULL},
    {"colliders", FIRN_VALUE, "", "", ANY, "list of shapes that objects collide with",
     AT(colliders_value), NULL, NULL},
    {"forces", FIRN_VALUE, "", "", ANY, "map of times (s) to accelerations [x, y, z] (m/s2)",
     AT(forces_value), NULL, NULL},
    {"heat", FIRN_VALUE, "", "", ANY, "switches on heat, melting and freezing: see heat",
     AT(heat_value), NULL, NULL},
    {"sinks", FIRN_VALUE, "", "", ANY, "list of shapes in which particles are deleted",
     AT(sinks_value), NULL, NULL},
    {"domain", FIRN_VALUE, "", "", ANY, "box that particles stay in: see domain", AT(domain_value),
     NULL, NULL},
    {"output", FIRN_VALUE, "", "", ANY, "list of files to write: see output", AT(output_value),
     NULL, NULL},
    {"checkpoint", FIRN_VALUE, "", "", ANY, "saved states for --resume: see checkpoint",
     AT(checkpoint_value), NULL, NULL},
    {"camera", FIRN_VALUE, "", "", ANY, "viewpoint of pictures: see camera", AT(camera_value), NULL,
     NULL},
    {"light", FIRN_VALUE, "", "", ANY, "sun and sky of pictures: see light", AT(light_value), NULL,
     NULL},
    {"statistics", FIRN_TEXT, "", "", ANY, "CSV file with a line per frame", AT(statistics), NULL,
     NULL},
    END};
#undef STRUCT

#define STRUCT firn_scene_frames
static const firn_param frames_rows[] = {
    {"start", FIRN_WHOLE, "", "1", -1e9, 1e9, "number of the first frame, which is time 0",
     AT(start), NULL, NULL},
    {"end", FIRN_WHOLE, "", "24", -1e9, 1e9, "number of the last frame", AT(end), NULL, NULL},
    {"fps", FIRN_REAL, "1/s", "24", 1e-3, 1e6, "frames per second", AT(fps), NULL, NULL},
    {"playback", FIRN_REAL, "1/s", "", 1, 1000,
     "frames per second of videos; below fps: slow motion; by default fps", AT(playback), NULL,
     NULL},
    END};
#undef STRUCT

#define STRUCT firn_scene_simulation
static const firn_param simulation_rows[] = {
    {"cell_size", FIRN_REAL, "m", "", 1e-9, 1e9,
     "grid cell; by default from resolution and particles_per_cell", AT(def.cell_size), NULL,
     "grid_scale"},
    {"particles_per_cell", FIRN_REAL, "", "", 0.1, 1000, "8 in 3D and 4 in 2D by default",
     AT(particles_per_cell), NULL, NULL},
    {"preset", FIRN_CHOICE, "", "firn", ANY,
     "stomakhin2013: their snow's cubic spline, gradient forces, flip and grid volumes, unless "
     "given",
     AT(preset), method_words, NULL},
    {"transfer", FIRN_CHOICE, "", "auto", ANY, "auto: asflip with the law snow, else apic",
     AT(transfer), transfer_words, NULL},
    {"volumes", FIRN_CHOICE, "", "geometric", ANY,
     "rest volumes of particles: as filled, or from masses and the grid's density at the start",
     AT(volumes), volume_words, NULL},
    END};
#undef STRUCT

#define STRUCT firn_scene_material
static const firn_param material_rows[] = {
    {"preset", FIRN_TEXT, "", "jelly_soft", ANY, "values to start from: see presets", AT(preset),
     NULL, NULL},
    {"law", FIRN_CHOICE, "", "", ANY, "constitutive law", AT(law), law_words, NULL},
    {"look", FIRN_VALUE, "", "", ANY,
     "look in pictures: a name, or a map with changes to one: see a look; the preset's by default",
     AT(look_value), NULL, NULL},
    {"noise", FIRN_VALUE, "", "", ANY, "list of noises on parameters: see noise", AT(noise_value),
     NULL, NULL},
    END};
#undef STRUCT

#define STRUCT firn_scene_noise
static const firn_param noise_rows[] = {
    {"parameter", FIRN_CHOICE, "", "density", ANY, "parameter that it varies", AT(parameter),
     firn_scene_noisy, NULL},
    {"amount", FIRN_REAL, "", "0.2", 0, 0.95, "largest relative change, up and down", AT(amount),
     NULL, NULL},
    NOISE_ROWS,
    END};
#undef STRUCT

#define STRUCT firn_scene_group
static const firn_param group_rows[] = {
    {"name", FIRN_TEXT, "", "", ANY, "that its members say", AT(name), NULL, NULL},
    {"parent", FIRN_TEXT, "", "", ANY, "a group further up in the list that this one is in",
     AT(parent), NULL, NULL},
    PLACE_ROWS(body.),
    {"scale", FIRN_REAL, "", "1", 1e-6, 1e6, "of all lengths in it", AT(scale), NULL, NULL},
    INSTANCES_ROW,
    END};
#undef STRUCT

#define STRUCT firn_scene_instances
static const firn_param instances_rows[] = {
    {"list", FIRN_VALUE, "", "", ANY, "list of copies: see a copy", AT(list), NULL, NULL},
    {"grid", FIRN_VALUE, "", "", ANY, "copies in rows: see instances.grid", AT(grid), NULL, NULL},
    {"ring", FIRN_VALUE, "", "", ANY, "copies around an axis: see instances.ring", AT(ring), NULL,
     NULL},
    {"points", FIRN_TEXT, "", "", ANY,
     "particle file: copies at its P, with its v, scale and orient, if any", AT(points), NULL,
     NULL},
    {"inside", FIRN_VALUE, "", "", ANY, "copies throughout a shape: see instances.inside",
     AT(inside), NULL, NULL},
    {"jitter", FIRN_VALUE, "", "", ANY, "how far copies differ by chance: see instances.jitter",
     AT(jitter), NULL, NULL},
    {"materials", FIRN_VALUE, "", "", ANY, "list of materials; each copy has one of them by chance",
     AT(materials), NULL, NULL},
    {"seed", FIRN_WHOLE, "", "0", 0, 0x1p53, "another seed gives other chances", AT(seed), NULL,
     NULL},
    END};
#undef STRUCT

#define STRUCT firn_scene_copy
static const firn_param copy_rows[] = {
    {"translate", FIRN_VECTOR, "m", "[0, 0, 0]", ANY, "after scaling and turning", AT(translate),
     NULL, NULL},
    {"rotate", FIRN_VECTOR, "degrees", "[0, 0, 0]", ANY, "about the origin: x, then y, then z",
     AT(rotate), NULL, NULL},
    {"scale", FIRN_REAL, "", "1", 1e-6, 1e6, "of all its lengths", AT(scale), NULL, NULL},
    {"velocity", FIRN_VECTOR, "m/s", "", ANY, "of an object, instead of its own", AT(velocity),
     NULL, NULL},
    {"material", FIRN_TEXT, "", "", ANY, "of an object, instead of its own", AT(material), NULL,
     NULL},
    {"seed", FIRN_WHOLE, "", "", 0, 0x1p53, "of an object, instead of its own", AT(seed), NULL,
     NULL},
    END};
#undef STRUCT

#define STRUCT firn_scene_grid
static const firn_param grid_rows[] = {
    {"count", FIRN_VECTOR, "", "[1, 1, 1]", 1, 65536, "copies along x, y and z", AT(count), NULL,
     NULL},
    {"spacing", FIRN_VECTOR, "m", "", ANY, "from copy to copy", AT(spacing), NULL, NULL},
    {"center", FIRN_VECTOR, "m", "[0, 0, 0]", ANY, "middle of the grid", AT(center), NULL, NULL},
    END};
#undef STRUCT

#define STRUCT firn_scene_circle
static const firn_param circle_rows[] = {
    {"count", FIRN_WHOLE, "", "", 1, 65536, "copies, evenly around it from x on", AT(count), NULL,
     NULL},
    {"radius", FIRN_REAL, "m", "", NOT_NEGATIVE, "distance from the axis", AT(radius), NULL, NULL},
    {"center", FIRN_VECTOR, "m", "[0, 0, 0]", ANY, "middle of the ring", AT(center), NULL, NULL},
    {"up", FIRN_VECTOR, "", "", ANY, "its axis; by default the scene's up, in 2D z", AT(up), NULL,
     NULL},
    {"turn", FIRN_FLAG, "", "true", ANY, "copies turn as they go around", AT(turn), NULL, NULL},
    END};
#undef STRUCT

#define STRUCT firn_scene_inside
static const firn_param inside_rows[] = {
    {"shape", FIRN_VALUE, "", "", ANY, "one of the shapes of objects", AT(shape_value), NULL, NULL},
    {"count", FIRN_WHOLE, "", "", 1, 65536, "copies", AT(count), NULL, NULL},
    {"separation", FIRN_REAL, "m", "", 1e-6, 1e6, "distance between them, instead of a count",
     AT(separation), NULL, NULL},
    {"pattern", FIRN_CHOICE, "", "blue_noise", ANY, "how they are placed, as particles are",
     AT(pattern), pattern_words, NULL},
    END};
#undef STRUCT

#define STRUCT firn_scene_jitter
static const firn_param jitter_rows[] = {
    {"translate", FIRN_VECTOR, "m", "[0, 0, 0]", NOT_NEGATIVE, "each way along each axis",
     AT(translate), NULL, NULL},
    {"rotate", FIRN_VECTOR, "degrees", "[0, 0, 0]", NOT_NEGATIVE,
     "each way about x, then y, then z, before the copy is turned and moved", AT(rotate), NULL,
     NULL},
    {"scale", FIRN_REAL, "", "0", 0, 0.95, "part by which it is larger or smaller", AT(scale), NULL,
     NULL},
    {"velocity", FIRN_VECTOR, "m/s", "[0, 0, 0]", NOT_NEGATIVE,
     "of an object, each way along each axis", AT(velocity), NULL, NULL},
    END};
#undef STRUCT

#define STRUCT firn_scene_object
static const firn_param object_rows[] = {
    {"name", FIRN_TEXT, "", "", ANY, "in messages and for --set", AT(name), NULL, NULL},
    {"material", FIRN_TEXT, "", "", ANY, "one of materials", AT(material), NULL, NULL},
    {"shape", FIRN_VALUE, "", "", ANY, "one of the shapes", AT(shape_value), NULL, NULL},
    {"mesh", FIRN_TEXT, "", "", ANY, "file of a closed mesh; see shape mesh", AT(mesh), NULL, NULL},
    {"voxels", FIRN_TEXT, "", "", ANY, "binvox file", AT(voxels), NULL, NULL},
    {"particles", FIRN_TEXT, "", "", ANY,
     "particle file: P, v, mass, material and more; other attributes go to the outputs",
     AT(particles), NULL, NULL},
    {"translate", FIRN_VECTOR, "m", "[0, 0, 0]", ANY, "after scaling and turning", AT(translate),
     NULL, NULL},
    {"rotate", FIRN_VECTOR, "degrees", "[0, 0, 0]", ANY, "about the origin: x, then y, then z",
     AT(rotate), NULL, NULL},
    {"scale", FIRN_VECTOR, "", "[1, 1, 1]", 1e-9, 1e9, "along its axes, or one number for all",
     AT(scale), NULL, NULL},
    {"velocity", FIRN_VECTOR, "m/s", "[0, 0, 0]", ANY, "at the start", AT(velocity), NULL, NULL},
    {"spin", FIRN_VECTOR, "degrees/s", "[0, 0, 0]", ANY, "about the object's centre of mass",
     AT(spin), NULL, NULL},
    {"inherit", FIRN_REAL, "", "0", -100, 100,
     "part of the velocity of its moving mesh that particles start with, besides velocity",
     AT(inherit), NULL, NULL},
    {"density", FIRN_REAL, "kg/m3", "", 1e-6, 1e6, "instead of the material's", AT(density), NULL,
     NULL},
    {"pattern", FIRN_CHOICE, "", "jittered", ANY, "how particles are placed", AT(pattern),
     pattern_words, NULL},
    {"separation", FIRN_REAL, "m", "", 1e-6, 1e6,
     "instead of the scene's resolution; distance of a particle file's points", AT(separation),
     NULL, NULL},
    {"count", FIRN_WHOLE, "", "", 1, 1e9,
     "approximate number of particles, instead of a separation", AT(count), NULL, NULL},
    {"per_voxel", FIRN_WHOLE, "", "1", 1, 64, "particles in each voxel of a voxel file",
     AT(per_voxel), NULL, NULL},
    {"refine", FIRN_WHOLE, "", "0", 0, 3, "levels of denser filling near the surface", AT(refine),
     NULL, NULL},
    {"refine_distance", FIRN_REAL, "m", "0", NOT_NEGATIVE,
     "depth of the denser filling; 0: two separations", AT(refine_distance), NULL, NULL},
    {"seed", FIRN_WHOLE, "", "0", 0, 0x1p53, "another seed gives other positions", AT(seed), NULL,
     NULL},
    {"contact", FIRN_CHOICE, "", "auto", ANY,
     "with other objects: apart pushes, rubs and separates, merge sticks; auto: apart if elastic",
     AT(contact), contact_words, NULL},
    {"body", FIRN_TEXT, "", "", ANY,
     "objects of the same body are one: they stick together and part from others as one", AT(body),
     NULL, NULL},
    {"shell", FIRN_VALUE, "", "", ANY, "other material below its surface: see shell",
     AT(shell_value), NULL, NULL},
    {"temperature", FIRN_TEMPERATURE, "K", "", 1, 1e5, "at the start; heat.ambient by default",
     AT(temperature), NULL, NULL},
    {"temperature_noise", FIRN_VALUE, "", "", ANY, "varies it in space: see temperature_noise",
     AT(temperature_noise_value), NULL, NULL},
    {"concentration", FIRN_REAL, "", "0", 0, 1e6,
     "dye at the start; spreads by the material's diffusivity", AT(concentration), NULL, NULL},
    {"emit", FIRN_VALUE, "", "", ANY, "makes a stream of it: see emit", AT(emit_value), NULL, NULL},
    GROUP_ROW(),
    INSTANCES_ROW,
    END};
#undef STRUCT

#define STRUCT firn_scene_noise
static const firn_param temperature_noise_rows[] = {
    {"amount", FIRN_REAL, "K", "5", 0, 1e5, "largest change, up and down", AT(amount), NULL, NULL},
    NOISE_ROWS,
    END};
#undef STRUCT

#define STRUCT firn_scene_heat
static const firn_param heat_rows[] = {
    {"sources", FIRN_VALUE, "", "", ANY,
     "list of shapes that heat the material in them: see a source", AT(sources_value), NULL, NULL},
    END};
#undef STRUCT

#define STRUCT firn_scene_heat_source
static const firn_param heat_source_rows[] = {
    {"shape", FIRN_VALUE, "", "", ANY, "one of the shapes of colliders", AT(body.shape_value), NULL,
     NULL},
    PLACE_ROWS(body.),
    GROUP_ROW(body.),
    {"power", FIRN_REAL, "W/m3", "", -1e18, 1e18,
     "heat added to the material in the shape; negative cools", AT(power), .keys = AT(power_keys)},
    {"start", FIRN_REAL, "s", "0", NOT_NEGATIVE, "first time", AT(start), NULL, "begin"},
    {"end", FIRN_REAL, "s", "1e9", NOT_NEGATIVE, "last time", AT(end), NULL, NULL},
    END};
#undef STRUCT

#define STRUCT firn_scene_shell
static const firn_param shell_rows[] = {{"thickness", FIRN_REAL, "m", "", POSITIVE,
                                         "depth below the surface", AT(thickness), NULL, NULL},
#define ROW(kind, name, unit, fallback, least, most, help, cure, alias)                            \
    {#name, FIRN_REAL, "", "1", 0, 1e6, "times the material's", AT(factor.name), NULL, alias},
                                        FIRN_MATERIAL_PARAMS(ROW)
#undef ROW
                                            END};
#undef STRUCT

#define STRUCT firn_scene_contact
static const firn_param contact_rows[] = {
    {"objects", FIRN_VALUE, "", "", ANY, "the two names; objects that merge count as one",
     AT(objects), NULL, NULL},
    {"friction", FIRN_REAL, "", "", 0, 1e6, "between them, instead of contact_friction",
     AT(friction), NULL, NULL},
    END};
#undef STRUCT

#define STRUCT firn_scene_emit
static const firn_param emit_rows[] = {
    {"start", FIRN_REAL, "s", "0", NOT_NEGATIVE, "first time", AT(start), NULL, NULL},
    {"end", FIRN_REAL, "s", "1e9", NOT_NEGATIVE, "last time", AT(end), NULL, NULL},
    {"flow", FIRN_VALUE, "", "", ANY,
     "a mass or a volume per second, as 2 kg/s or 0.5 l/s; by default what the velocity carries "
     "through the shape",
     AT(flow_value), NULL, NULL},
    {"rate", FIRN_REAL, "", "1", 0, 1, "part of the flow that enters; 0: the stream is off",
     AT(rate), .keys = AT(rate_keys)},
    {"amount", FIRN_VALUE, "", "", ANY,
     "ends the stream: a mass, a volume or a number of particles, as 3 kg, 2 l or 5000",
     AT(amount_value), NULL, NULL},
    {"direction", FIRN_VALUE, "", "", ANY,
     "instead of a velocity: a vector, or outward, from the shape's surface along its normals",
     AT(direction_value), NULL, NULL},
    {"speed", FIRN_REAL, "m/s", "", POSITIVE, "along direction; by default what the flow needs",
     AT(speed), .keys = AT(speed_keys)},
    {"spread", FIRN_REAL, "degrees", "0", 0, 180,
     "half the angle of the cone that the stream fans out to, from its middle", AT(spread), NULL,
     NULL},
    {"speed_spread", FIRN_REAL, "", "0", 0, 1,
     "how far speeds differ from the mean by chance, at most, as a part of it", AT(speed_spread),
     NULL, NULL},
    END};
#undef STRUCT

#define STRUCT firn_scene_collider
static const firn_param collider_rows[] = {
    {"name", FIRN_TEXT, "", "", ANY, "in messages and for --set", AT(name), NULL, NULL},
    {"shape", FIRN_VALUE, "", "", ANY, "one of the shapes", AT(shape_value), NULL, NULL},
    PLACE_ROWS(),
    {"surface_spin", FIRN_VECTOR, "degrees/s", "[0, 0, 0]", ANY,
     "spin of its surface about its origin, as a drum's; turns with the shape", AT(surface_spin),
     .keys = AT(surface_spin_keys)},
    {"visible", FIRN_FLAG, "", "true", ANY, "whether pictures show it", AT(visible), NULL, NULL},
    {"color", FIRN_VECTOR, "", "[0.13, 0.14, 0.16]", 0, 1, "in pictures; linear", AT(color), NULL,
     NULL},
    {"opacity", FIRN_REAL, "", "1", 0, 1, "in pictures; below 1 what is behind it is seen",
     AT(opacity), NULL, NULL},
    {"cut", FIRN_VALUE, "", "", ANY, "what pictures leave out of it: see a cut", AT(cut_value),
     NULL, NULL},
    GROUP_ROW(),
    INSTANCES_ROW,
    END};
#undef STRUCT

#define STRUCT firn_scene_sink
static const firn_param sink_rows[] = {
    {"shape", FIRN_VALUE, "", "", ANY, "one of the shapes of objects", AT(shape_value), NULL, NULL},
    GROUP_ROW(),
    {"start", FIRN_REAL, "s", "0", NOT_NEGATIVE, "first time", AT(start), NULL, NULL},
    {"end", FIRN_REAL, "s", "1e9", NOT_NEGATIVE, "last time", AT(end), NULL, NULL},
    END};
#undef STRUCT

#define STRUCT firn_scene_domain
static const firn_param domain_rows[] = {
    {"low", FIRN_VECTOR, "m", "[-1e6, -1e6, -1e6]", ANY, "lowest corner", AT(low), NULL, NULL},
    {"high", FIRN_VECTOR, "m", "[1e6, 1e6, 1e6]", ANY, "highest corner", AT(high), NULL, NULL},
    {"leaving", FIRN_CHOICE, "", "stop", ANY, "what happens to particles at its walls", AT(leaving),
     leaving_words, NULL},
    END};
#undef STRUCT

#define STRUCT firn_scene_shape
static const firn_param mesh_rows[] = {
    {"file", FIRN_TEXT, "", "", ANY,
     "Alembic, OBJ, PLY, STL, OpenVDB or binvox; with $F4 for a number, a sequence of files",
     AT(mesh.file), NULL, NULL},
    {"path", FIRN_TEXT, "", "", ANY,
     "objects of an Alembic file, as /rig/foot* or **/sole; all meshes by default", AT(mesh.path),
     NULL, NULL},
    {"thickness", FIRN_REAL, "m", "0", NOT_NEGATIVE,
     "of a sheet, which may be open; 0: the mesh is closed, and solid", AT(mesh.thickness), NULL,
     NULL},
    {"scale", FIRN_REAL, "", "1", 1e-9, 1e9, "of its lengths: 0.01 if they are centimetres",
     AT(mesh.scale), NULL, NULL},
    {"fps", FIRN_REAL, "1/s", "", 1e-3, 1e6, "of a sequence of files; by default the scene's",
     AT(mesh.fps), NULL, NULL},
    {"start", FIRN_REAL, "s", "", ANY,
     "time of the file at the scene's first frame; by default that of the frame with its number",
     AT(mesh.start), NULL, NULL},
    {"speed", FIRN_REAL, "", "1", 1e-6, 1e6, "how many times as fast as the scene its time goes",
     AT(mesh.speed), NULL, NULL},
    {"loop", FIRN_FLAG, "", "false", ANY, "begin again after the last sample", AT(mesh.loop), NULL,
     NULL},
    END};
#undef STRUCT

#define STRUCT firn_scene_shape
static const firn_param heights_rows[] = {
    {"height", FIRN_VALUE, "m", "", ANY,
     "of its surface: an expression of $x and $z, in m from its centre, in 2D of $x",
     AT(heights.height), NULL, NULL},
    {"file", FIRN_TEXT, "", "", ANY,
     "or a PNG picture, seen from above: from black, at 0, to white, as high as its size says",
     AT(heights.file), NULL, NULL},
    {"center", FIRN_VECTOR, "m", "[0, 0, 0]", ANY, "middle, at height 0", AT(heights.center), NULL,
     NULL},
    {"size", FIRN_VECTOR, "m", "[1, 0.1, 1]", 1e-9, 1e9, "edge lengths; y is read with a file",
     AT(heights.size), NULL, NULL},
    {"base", FIRN_REAL, "m", "", POSITIVE,
     "how far below height 0 it is solid; by default a tenth of the longer side below its lowest "
     "point, and at least four cells",
     AT(heights.base), NULL, NULL},
    {"cells", FIRN_WHOLE, "", "", 1, 1024,
     "along its longer side; 64, or one for each pixel of a picture", AT(heights.cells), NULL,
     NULL},
    END};
#undef STRUCT

#define STRUCT firn_scene_more
static const firn_param shape_rows[] = {
    {"translate", FIRN_VECTOR, "m", "[0, 0, 0]", ANY, "after turning", AT(translate), NULL, NULL},
    {"rotate", FIRN_VECTOR, "degrees", "[0, 0, 0]", ANY, "about the origin: x, then y, then z",
     AT(rotate), NULL, NULL},
    {"round", FIRN_REAL, "m", "0", NOT_NEGATIVE,
     "radius of its outer edges: of a box, rectangle, cylinder, tube, cone, frustum or ring",
     AT(round), NULL, NULL},
    {"offset", FIRN_REAL, "m", "0", -1e9, 1e9, "grows it by that much; below 0 it shrinks",
     AT(offset), NULL, NULL},
    {"shell", FIRN_REAL, "m", "0", NOT_NEGATIVE,
     "makes it hollow, with a wall of that thickness inside its surface", AT(shell), NULL, NULL},
    END};
#undef STRUCT

#define STRUCT firn_scene_output
static const firn_param output_rows[] = {
    {"file", FIRN_TEXT, "", "", ANY, "name with $F4 for the frame, $NAME for the scene", AT(file),
     NULL, NULL},
    {"of", FIRN_CHOICE, "", "particles", ANY, "whose attributes", AT(of), output_words, NULL},
    {"attributes", FIRN_VALUE, "", "", ANY, "attributes to write; all by default", AT(attributes),
     NULL, NULL},
    {"every", FIRN_WHOLE, "", "1", 1, 1e9, "write every n-th frame", AT(every), NULL, NULL},
    {"half", FIRN_FLAG, "", "false", ANY, "16-bit numbers where the format allows", AT(half), NULL,
     NULL},
    {"classic", FIRN_FLAG, "", "false", ANY, "geo and bgeo as before Houdini 12", AT(classic), NULL,
     NULL},
    {"level", FIRN_WHOLE, "", "0", 0, 9, "compression level; 0: the format's own", AT(level), NULL,
     NULL},
    {"voxel", FIRN_REAL, "m", "", 1e-9, 1e9, "edge of a volume's voxels; cell_size by default",
     AT(voxel), NULL, NULL},
    END};
#undef STRUCT

#define STRUCT firn_scene_checkpoint
static const firn_param checkpoint_rows[] = {
    {"folder", FIRN_TEXT, "", "", ANY, "NAME.ckpt by default", AT(folder), NULL, NULL},
    {"every", FIRN_WHOLE, "", "1", 0, 1e9, "save every n-th frame; 0: none", AT(every), NULL, NULL},
    {"keep", FIRN_WHOLE, "", "3", 1, 1e6, "number of states kept", AT(keep), NULL, NULL},
    END};
#undef STRUCT

/* ---- pictures ---- */

#define STRUCT firn_look
static const firn_param look_rows[] = {
    {"name", FIRN_TEXT, "", "", ANY, "look to start from: see looks", AT(name), NULL, NULL},
    {"color", FIRN_VECTOR, "", "", 0, 1, "under white light, linear; of clear material after depth",
     AT(color), NULL, NULL},
    {"tint", FIRN_REAL, "", "", 0, 1, "how far objects differ in hue", AT(tint), NULL, NULL},
    {"by_object", FIRN_FLAG, "", "", ANY, "objects stay separate; false: they merge", AT(by_object),
     NULL, NULL},
    {"clarity", FIRN_REAL, "", "", 0, 1, "0: opaque, 1: like water", AT(clarity), NULL, NULL},
    {"depth", FIRN_REAL, "", "", 1e-4, 10,
     "how deep light goes, as a part of the picture's height at the target", AT(depth), NULL, NULL},
    {"subsurface", FIRN_REAL, "", "", 0, 1, "part of the light that comes out elsewhere",
     AT(subsurface), NULL, NULL},
    {"gloss", FIRN_REAL, "", "", 0, 1, "strength of the reflecting skin", AT(gloss), NULL, NULL},
    {"roughness", FIRN_REAL, "", "", 0, 1, "roughness of that skin: 0 mirror, 1 matt",
     AT(roughness), NULL, NULL},
    {"metal", FIRN_REAL, "", "", 0, 1, "1: a metal, which mirrors in its colour", AT(metal), NULL,
     NULL},
    {"index", FIRN_REAL, "", "", 1, 5, "refractive index, of what is no metal", AT(index), NULL,
     "ior"},
    {"smooth", FIRN_REAL, "", "", 0, 4, "particle spacings over which the surface is smoothed",
     AT(smooth), NULL, NULL},
    {"bump", FIRN_REAL, "", "", 0, 1, "unevenness from particle to particle", AT(bump), NULL, NULL},
    {"powder", FIRN_WHOLE, "", "", 0, 8, "grains drawn for an isolated particle; 0: one ball",
     AT(powder), NULL, NULL},
    {"grain", FIRN_REAL, "", "", 0, 1, "grains finer than particles", AT(grain), NULL, NULL},
    {"glint", FIRN_REAL, "", "", 0, 1, "sparkling grains", AT(glint), NULL, NULL},
    END};
#undef STRUCT

#define STRUCT firn_view_cut
static const firn_param cut_rows[] = {
    {"point", FIRN_VECTOR, "m", "[0, 0, 0]", ANY, "on the plane", AT(point), NULL, NULL},
    {"normal", FIRN_VECTOR, "", "[0, 0, 1]", ANY, "points to the side that is left out", AT(normal),
     NULL, NULL},
    END};
#undef STRUCT

#define STRUCT firn_view_camera
static const firn_param camera_rows[] = {
    {"position", FIRN_VECTOR, "m", "", ANY,
     "position of the camera; by default everything is in the picture", AT(position),
     .keys = AT(position_keys)},
    {"target", FIRN_VECTOR, "m", "", ANY, "point that it looks at; by default the centre",
     AT(target), .keys = AT(target_keys)},
    {"azimuth", FIRN_REAL, "degrees", "25", -360, 360, "direction of view, without a position",
     AT(azimuth), .keys = AT(azimuth_keys)},
    {"elevation", FIRN_REAL, "degrees", "16", -89, 89, "angle above the ground, without a position",
     AT(elevation), .keys = AT(elevation_keys)},
    {"field_of_view", FIRN_REAL, "degrees", "32", 1, 150, "vertical", AT(field_of_view),
     .alias = "fov", .keys = AT(field_of_view_keys)},
    {"margin", FIRN_REAL, "", "0.12", 0, 0.9, "free part around the picture, without a position",
     AT(margin), NULL, NULL},
    {"aperture", FIRN_REAL, "m", "0", NOT_NEGATIVE, "diameter of the lens; 0: everything is sharp",
     AT(aperture), .keys = AT(aperture_keys)},
    {"focus", FIRN_REAL, "m", "0", NOT_NEGATIVE, "distance that is sharp; 0: the target's",
     AT(focus), .keys = AT(focus_keys)},
    {"shutter", FIRN_REAL, "", "0", 0, 1, "part of a frame that is exposed; 0: no motion blur",
     AT(shutter), NULL, NULL},
    END};
#undef STRUCT

#define STRUCT firn_light
static const firn_param light_rows[] = {
    {"azimuth", FIRN_REAL, "degrees", "-85", -360, 360,
     "of the sun, as the camera's; 0 is towards z (-y where z is up)", AT(azimuth),
     .keys = AT(azimuth_keys)},
    {"elevation", FIRN_REAL, "degrees", "36", 1, 90, "of the sun", AT(elevation),
     .keys = AT(elevation_keys)},
    {"sun", FIRN_VECTOR, "", "[1.6, 1.36, 1.08]", NOT_NEGATIVE, "its colour and strength", AT(sun),
     .keys = AT(sun_keys)},
    {"size", FIRN_REAL, "degrees", "2", 0, 60, "of the sun's disc: softness of shadows", AT(size),
     .keys = AT(size_keys)},
    {"zenith", FIRN_VECTOR, "", "[0.08, 0.16, 0.34]", NOT_NEGATIVE, "colour of the sky above",
     AT(zenith), .keys = AT(zenith_keys)},
    {"horizon", FIRN_VECTOR, "", "[0.35, 0.4, 0.46]", NOT_NEGATIVE, "colour of the sky below",
     AT(horizon), .keys = AT(horizon_keys)},
    {"fill", FIRN_REAL, "", "1.2", NOT_NEGATIVE, "strength of the sky's light", AT(fill),
     .keys = AT(fill_keys)},
    {"exposure", FIRN_REAL, "stops", "0", -20, 20, "brightness of the picture", AT(exposure),
     .keys = AT(exposure_keys)},
    END};
#undef STRUCT

const firn_section firn_section_scene = {"the scene", "the whole file", scene_rows};
const firn_section firn_section_frames = {"frames", "first and last frame, frames per second",
                                          frames_rows};
const firn_section firn_section_simulation = {"simulation", "grid, forces and time steps",
                                              simulation_rows, firn_sim_param,
                                              offsetof(firn_scene_simulation, def)};
const firn_section firn_section_material = {"a material",
                                            "an entry of materials",
                                            material_rows,
                                            firn_material_param,
                                            offsetof(firn_scene_material, def),
                                            true};
const firn_section firn_section_noise = {"noise", "an entry of a material's noise", noise_rows};
const firn_section firn_section_group = {"a group", "an entry of groups", group_rows};
const firn_section firn_section_instances = {
    "instances", "copies of an object, a collider or a group", instances_rows};
const firn_section firn_section_copy = {"a copy", "an entry of instances.list", copy_rows};
const firn_section firn_section_grid = {"instances.grid", "copies in rows", grid_rows};
const firn_section firn_section_circle = {"instances.ring", "copies around an axis", circle_rows};
const firn_section firn_section_inside = {"instances.inside", "copies throughout a shape",
                                          inside_rows};
const firn_section firn_section_jitter = {"instances.jitter", "how far copies differ by chance",
                                          jitter_rows};
const firn_section firn_section_object = {"an object", "an entry of objects", object_rows};
const firn_section firn_section_shell = {
    "shell", "of an object: factors on its material's parameters", shell_rows};
const firn_section firn_section_temperature_noise = {
    "temperature_noise", "of an object: varies its temperature in space", temperature_noise_rows};
const firn_section firn_section_heat = {"heat", "temperature, conduction, sources", heat_rows,
                                        firn_heat_param, offsetof(firn_scene_heat, def)};
const firn_section firn_section_heat_source = {"a source", "an entry of heat.sources",
                                               heat_source_rows};
const firn_section firn_section_contact = {"a contact", "an entry of contacts", contact_rows};
const firn_section firn_section_emit = {"emit", "of an object", emit_rows};
const firn_section firn_section_collider = {"a collider", "an entry of colliders", collider_rows,
                                            firn_collider_param,
                                            offsetof(firn_scene_collider, def)};
const firn_section firn_section_sink = {"a sink", "an entry of sinks", sink_rows};
const firn_section firn_section_domain = {"domain", "a box around everything", domain_rows};
const firn_section firn_section_output = {"an output", "an entry of output", output_rows};
const firn_section firn_section_shape = {
    "a shape", "beside the word of a shape, as {sphere: {radius: 1}, shell: 0.1}", shape_rows};
const firn_section firn_section_mesh = {"mesh", "a mesh from a file", mesh_rows};
const firn_section firn_section_checkpoint = {"checkpoint", "saved states", checkpoint_rows};

const firn_section firn_section_look = {"a look", "of a material: its look in pictures", look_rows};
const firn_section firn_section_cut = {
    "a cut", "of a collider: a plane, in front of which pictures do not show it", cut_rows};
const firn_section firn_section_camera = {"camera", "viewpoint of pictures", camera_rows};
const firn_section firn_section_light = {"light", "sun and sky of pictures", light_rows};

const firn_section *const firn_sections[] = {
    &firn_section_scene,       &firn_section_frames,
    &firn_section_simulation,  &firn_section_material,
    &firn_section_noise,       &firn_section_shape,
    &firn_section_group,       &firn_section_instances,
    &firn_section_copy,        &firn_section_grid,
    &firn_section_circle,      &firn_section_inside,
    &firn_section_jitter,      &firn_section_object,
    &firn_section_shell,       &firn_section_temperature_noise,
    &firn_section_emit,        &firn_section_contact,
    &firn_section_collider,    &firn_section_heat,
    &firn_section_heat_source, &firn_section_sink,
    &firn_section_domain,      &firn_section_output,
    &firn_section_checkpoint,  &firn_section_look,
    &firn_section_cut,         &firn_section_camera,
    &firn_section_light,       NULL};

/* ---- shapes ---- */

/* How a scene gives what a shape's key asks for. */
static firn_param shape_row(const firn_shape_key *key, int index)
{
    firn_param row = {.name = key->name,
                      .kind = FIRN_VECTOR,
                      .unit = "m",
                      .fallback = key->fallback,
                      .help = key->help,
                      .offset =
                          offsetof(firn_scene_shape, key) + (size_t)index * sizeof(double[3])};
    switch (key->role) {
    case FIRN_KEY_UP: row.unit = ""; break;
    case FIRN_KEY_ROUND:
    case FIRN_KEY_LENGTH:
        row.kind = FIRN_REAL;
        row.least = 1e-9;
        row.most = 1e9;
        break;
    case FIRN_KEY_LENGTHS: row.most = 1e9; break; /* from 0: flat scenes may say so in z */
    case FIRN_KEY_POINTS:
        row.kind = FIRN_VALUE;
        row.offset = offsetof(firn_scene_shape, points_value);
        break;
    default: break;
    }
    return row;
}

/* The words of 3D scenes, those that only 2D has, those that join shapes, and the heightfield. */
bool firn_scene_shape_get(int32_t index, firn_scene_shape_row *out)
{
    for (int d = 1; d >= 0; d--) {
        for (int kind = 0; kind < FIRN_SHAPE_COUNT; kind++) {
            const firn_shape *shape = firn_shape_get((firn_shape_kind)kind);
            const char *word = shape->word[d], *other = shape->word[!d];
            const bool both = word && other && strcmp(word, other) == 0;
            if (!word || (both && d == 0) || index-- > 0) continue;
            const unsigned here = both ? FIRN_2D | FIRN_3D : d ? FIRN_3D : FIRN_2D;
            *out = (firn_scene_shape_row){.section = {word, shape->help, out->rows},
                                          .kind = (firn_shape_kind)kind,
                                          .dimensions = here,
                                          .filled = here & shape->bounded};
            for (int i = 0; shape->key[i].role; i++) out->rows[i] = shape_row(&shape->key[i], i);
            if (shape->from_file) out->section.rows = mesh_rows;
            return true;
        }
    }
#define JOIN(NAME, name, help) {#name, "list of shapes: " help},
    static const struct {
        const char *word, *help;
    } joins[] = {FIRN_JOINS(JOIN)};
#undef JOIN
    if (index > FIRN_JOIN_COUNT) return false;
    *out = (firn_scene_shape_row){
        .kind = FIRN_COMPOUND, .dimensions = FIRN_2D | FIRN_3D, .filled = FIRN_2D | FIRN_3D};
    if (index < FIRN_JOIN_COUNT) {
        out->section = (firn_section){joins[index].word, joins[index].help, out->rows};
        out->join = (firn_join)index;
    } else {
        out->section = (firn_section){"heightfield", "solid below a surface along y", heights_rows};
        out->kind = FIRN_MESH;
        out->heights = true;
    }
    return true;
}

/* ---- for users of the library ---- */

static int32_t section_count(void)
{
    int32_t count = 0;
    while (firn_sections[count]) count++;
    return count;
}

firn_section_info firn_section_get_info(int32_t section)
{
    const int32_t shape = section - section_count();
    firn_scene_shape_row row;
    if (section < 0 || (shape >= 0 && !firn_scene_shape_get(shape, &row))) {
        return (firn_section_info){0};
    }
    if (shape < 0) {
        return (firn_section_info){.name = firn_sections[section]->name,
                                   .help = firn_sections[section]->help};
    }
    return (firn_section_info){row.section.name, row.section.help, true, row.dimensions,
                               row.filled};
}

bool firn_section_get_param(int32_t section, int32_t index, firn_param *param, char fallback[80])
{
    const int32_t shape = section - section_count();
    firn_scene_shape_row row;
    if (section < 0 || (shape >= 0 && !firn_scene_shape_get(shape, &row))) return false;
    const firn_section *of = shape < 0 ? firn_sections[section] : &row.section;
    const firn_param *found = firn_section_row(of, index, NULL);
    if (!found) return false;
    *param = *found;
    firn_row_default(of, found, fallback, 80);
    return true;
}
