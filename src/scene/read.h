/* Reading a scene: what its files share. scene.c calls the others, one for each kind of section. */
#ifndef FIRN_SCENE_READ_H
#define FIRN_SCENE_READ_H

#include "scene/scene.h"

static const double firn_degree = 3.14159265358979323846 / 180; /* rad */

/* ---- scene.c: for all sections ---- */

/* A section whose vectors have as many numbers as the scene has dimensions; flat ones may have a third. */
firn_status firn_read_section(const firn_scene *scene, const firn_section *section,
                              const firn_value *map, void *out, firn_error *error);
/* Fails where a value is of another kind; NULL is fine. */
firn_status firn_check_kind(const firn_value *v, firn_value_kind kind, const char *what,
                            firn_error *error);
/* Memory for the entries of a list or map; *count receives how many. */
firn_status firn_make_array(const firn_value *v, firn_value_kind kind, const char *what,
                            size_t size, void **out, int32_t *count, firn_error *error);
/* The edge of cells, m, as the scene's resolution and simulation say. */
double firn_find_cell_size(const firn_scene *scene);
/* Notes whose name it is; NULL is nobody's. */
firn_status firn_take_name(firn_names *names, const char *name, void *thing,
                           const firn_value *where, firn_error *error);

/* ---- shapes.c ---- */

/* `fills`: whether particles are to fill it. */
firn_status firn_read_shape(const firn_scene *scene, const firn_value *v, bool fills,
                            firn_scene_shape *out, firn_error *error);
void firn_scene_shape_free(firn_scene_shape *shape);
/* Fails where a map says what belongs into a shape's map, beside its word. */
firn_status firn_check_beside(const firn_section *section, const firn_value *map,
                              firn_error *error);
/* A word of shapes, its section read, as it stands by itself. */
firn_status firn_read_word(const firn_scene *scene, const firn_value *entry,
                           const firn_scene_shape_row *row, firn_scene_shape *out,
                           firn_error *error);
/* The entry of a shape's map that is a word for a shape, and its row; and what else the map says. */
firn_status firn_find_word(const firn_scene *scene, const firn_value *v, bool fills,
                           const firn_value **entry, firn_scene_shape_row *row,
                           firn_scene_more *more, firn_error *error);

/* ---- compounds.c ---- */

/* The compound that a map of a shape asks for. */
firn_status firn_read_compound(const firn_scene *scene, const firn_value *v,
                               const firn_compound **out, firn_error *error);
/* The same with all lengths times a factor. */
firn_status firn_scale_compound(const firn_scene *scene, double factor,
                                const firn_compound **compound, firn_error *error);
/* The same of a mesh that the scene keeps. */
firn_status firn_scale_mesh(const firn_scene *scene, double factor, const firn_mesh **mesh,
                            firn_error *error);
/* Makes the mesh, or in 2D the polygon, of a heightfield. */
firn_status firn_read_heights(const firn_scene *scene, firn_scene_shape *shape, firn_error *error);
/* The mesh of a shape from a file, as it is at the file's first sample; *moves (may be NULL): whether it has
 * others. */
firn_status firn_read_mesh(const firn_scene *scene, const firn_scene_shape *shape, bool *moves,
                           firn_mesh **mesh, firn_error *error);
/* Notes something for the scene to free; what fails frees it. */
firn_status firn_keep_built(const firn_scene *scene, firn_built what, firn_error *error);
/* What was made for a place, or NULL. */
const firn_built *firn_find_built(const firn_scene *scene, const firn_value *where);
void firn_free_built(firn_scene *scene);

/* ---- materials.c, groups.c, objects.c, colliders.c: lists of the scene ---- */

firn_status firn_read_groups(firn_scene *scene, firn_error *error);
void firn_free_groups(firn_scene *scene);
firn_status firn_read_materials(firn_scene *scene, firn_error *error);
firn_status firn_read_objects(firn_scene *scene, firn_error *error);
firn_status firn_read_contacts(firn_scene *scene, firn_error *error);
firn_status firn_read_colliders(firn_scene *scene, firn_error *error);
firn_status firn_read_forces(firn_scene *scene, firn_error *error);
firn_status firn_read_sinks(firn_scene *scene, firn_error *error);
firn_status firn_read_heat(firn_scene *scene, firn_error *error);

/* Place and keys of something whose rows and shape, if any, are read. */
firn_status firn_read_pose(const firn_scene *scene, const firn_value *where, firn_scene_collider *c,
                           firn_error *error);

/* Whether a parameter stays within its range, times a factor and whatever noise makes of it. `where` is
 * what to blame. */
firn_status firn_check_varied(const firn_scene_material *m, const firn_param *p, double factor,
                              const firn_value *where, firn_error *error);
/* Whether what is said of heat has a meaning. */
firn_status firn_check_has_heat(const firn_scene *scene, const firn_value *map, const char *name,
                                firn_error *error);

#endif
