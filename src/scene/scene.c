/* From the tree of values to a scene: every section read by its rows, names resolved, what cannot go
 * together refused. Nothing here touches a file other than the scene's own and those that copies stand by. */
#include "scene/read.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "io/io.h"

/* ---- for all sections ---- */

static firn_status check_three(const firn_scene *scene, const firn_param *row, const firn_value *v,
                               firn_error *error)
{
    if (v->kind != FIRN_LIST || scene->dimension != 3 || firn_value_count(v) == 3) return FIRN_OK;
    return firn_value_fail(v, error, "%s must be 3 numbers, as the scene is in 3D", row->name);
}

/* A section whose vectors have as many numbers as the scene has dimensions; flat ones may have a third. */
firn_status firn_read_section(const firn_scene *scene, const firn_section *section,
                              const firn_value *map, void *out, firn_error *error)
{
    const firn_status st = firn_section_read(section, map, out, error);
    const firn_param *row;
    for (int i = 0; st == FIRN_OK && (row = firn_section_row(section, i, NULL)); i++) {
        const firn_value *v = row->kind == FIRN_VECTOR ? firn_value_get(map, row->name) : NULL;
        const firn_value *keys = v && row->keys ? firn_value_get(v, "keys") : NULL;
        firn_status all = v ? check_three(scene, row, v, error) : FIRN_OK;
        for (const firn_value *k = keys ? keys->child : NULL; k && all == FIRN_OK; k = k->next) {
            all = check_three(scene, row, k, error);
        }
        if (all != FIRN_OK) return all;
    }
    return st;
}

firn_status firn_check_kind(const firn_value *v, firn_value_kind kind, const char *what,
                            firn_error *error)
{
    if (!v || v->kind == kind) return FIRN_OK;
    return firn_value_fail(v, error, "%s must be a %s", what,
                           kind == FIRN_LIST ? "list: lines that begin with a dash"
                                             : "map: lines like `name: ...`");
}

/* Memory for the entries of a list or map; *count receives how many. */
firn_status firn_make_array(const firn_value *v, firn_value_kind kind, const char *what,
                            size_t size, void **out, int32_t *count, firn_error *error)
{
    *out = NULL;
    *count = 0;
    const firn_status st = firn_check_kind(v, kind, what, error);
    const int n = firn_value_count(v);
    if (st != FIRN_OK || n == 0) return st;
    *out = calloc((size_t)n, size);
    if (!*out) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    *count = n;
    return FIRN_OK;
}

/* Notes whose name it is; NULL is nobody's. */
firn_status firn_take_name(firn_names *names, const char *name, void *thing,
                           const firn_value *where, firn_error *error)
{
    if (!name) return FIRN_OK;
    if (firn_names_find(names, name)) {
        return firn_value_fail(where, error, "the name \"%.60s\" is used twice", name);
    }
    return firn_names_add(names, name, thing) ? FIRN_OK
                                              : firn_fail(error, FIRN_NO_MEMORY, "out of memory");
}

/* ---- outputs and the whole ---- */

/* Puts the scene's name in the place of every $NAME in a file's name, in the tree; *out is the result. */
static firn_status put_name(const firn_scene *scene, firn_value *file, const char **out,
                            firn_error *error)
{
    static const char sign[] = "$NAME";
    const size_t length = strlen(scene->name);
    for (char *at = file->text; (at = strstr(at, sign));) {
        const size_t before = (size_t)(at - file->text);
        const char *after = at + strlen(sign);
        const size_t room = before + length + strlen(after) + 1;
        char *text = malloc(room);
        if (!text) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
        snprintf(text, room, "%.*s%s%s", (int)before, file->text, scene->name, after);
        free(file->text);
        file->text = text;
        at = text + before + length;
    }
    *out = file->text;
    return FIRN_OK;
}

/* What the attributes' values say, for those who take names, and what the format needs besides. Which
 * exist is known later. */
static firn_status list_names(firn_scene_output *o, firn_error *error)
{
    if (!o->attributes) return FIRN_OK;
    const firn_format *format = firn_format_of(o->file, NULL);
    const char *const *needs = format ? format->needs : NULL;
    int n = 0, more = 0;
    while (needs && needs[more]) more++;
    o->names = calloc((size_t)firn_value_count(o->attributes) + (size_t)more + 1, sizeof *o->names);
    if (!o->names) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    for (const firn_value *c = o->attributes->child; c; c = c->next) o->names[n++] = c->text;
    for (int i = 0; i < more; i++) {
        bool given = false;
        for (int k = 0; k < n && !given; k++) given = o->names[k] && !strcmp(o->names[k], needs[i]);
        if (!given) o->names[n++] = needs[i];
    }
    return FIRN_OK;
}

static firn_status read_outputs(firn_scene *scene, firn_error *error)
{
    firn_status st =
        firn_make_array(scene->output_value, FIRN_LIST, "output", sizeof *scene->output,
                        (void **)&scene->output, &scene->output_count, error);
    const firn_value *v = scene->output_value ? scene->output_value->child : NULL;
    for (int32_t i = 0; i < scene->output_count && st == FIRN_OK; i++, v = v->next) {
        firn_scene_output *o = &scene->output[i];
        st = firn_section_read(&firn_section_output, v, o, error);
        if (st != FIRN_OK) return st;
        o->where = v;
        if (!o->file) return firn_value_fail(v, error, "an output needs a file");
        firn_value *file = firn_value_get(v, "file");
        st = put_name(scene, file, &o->file, error);
        if (st != FIRN_OK) return st;
        const firn_format *format = firn_format_of(o->file, NULL);
        o->sequence = !strstr(o->file, "$F") && format && format->sequence;
        if (!strstr(o->file, "$F") && !o->sequence && scene->frames.end > scene->frames.start) {
            return firn_value_fail(file, error,
                                   "\"%.200s\" is the same for every frame; put $F4 where the "
                                   "frame's number goes, or write .abc, which holds all frames",
                                   o->file);
        }
        if (o->attributes && o->attributes->kind != FIRN_LIST) {
            return firn_value_fail(o->attributes, error, "attributes must be a list, as [P, v]");
        }
        st = list_names(o, error);
        if (st != FIRN_OK) return st;
    }
    return st;
}

/* What the simulation's preset sets where the scene does not. */
static void choose_method(firn_scene *scene)
{
    firn_scene_simulation *s = &scene->simulation;
    const firn_section *section = &firn_section_simulation;
    if (s->preset == 1) {
        if (!firn_section_given(section, s, "transfer")) s->transfer = FIRN_FLIP;
        if (!firn_section_given(section, s, "spline")) s->def.spline = FIRN_CUBIC;
        if (!firn_section_given(section, s, "force_form")) s->def.force_form = FIRN_GRADIENT;
        if (!firn_section_given(section, s, "volumes")) s->volumes = 1;
    }
    s->def.transfer = (firn_transfer)s->transfer;
}

/* The coarser the cells, the more it takes to break snow: cracks are cells wide, and stress gathers at
 * no tip that is finer. Snow of a draft yields to less pull by the fourth root of the ratio, which was
 * measured (doc/materials.md, "Draft and final"). */
static void stand_for_final(firn_scene *scene)
{
    if (!firn_section_given(&firn_section_scene, scene, "final_resolution")) return;
    const double factor = fmin(pow(scene->final_resolution / scene->resolution, 0.25), 1);
    for (int32_t i = 0; i < scene->material_count; i++) {
        scene->material[i].def.critical_stretch *= factor;
    }
}

/* In the frames, so far as they are not too many; what draws the others refuses them. */
static firn_status check_camera(const firn_scene *scene, firn_error *error)
{
    enum { MOST = 1 << 16 };
    const firn_view_camera *c = &scene->camera;
    const int64_t first = scene->frames.start, last = scene->frames.end;
    if (!firn_section_given(&firn_section_camera, c, "position") ||
        !firn_section_given(&firn_section_camera, c, "target")) {
        return FIRN_OK;
    }
    const bool moves = c->position_keys.count || c->target_keys.count;
    for (int64_t n = first; n <= last && n - first < (moves ? MOST : 1); n++) {
        firn_view_camera at = *c;
        firn_section_sample(&firn_section_camera, &at, (double)(n - first) / scene->frames.fps);
        bool differ = false;
        for (int a = 0; a < 3; a++) differ |= at.position[a] != at.target[a];
        if (differ) continue;
        char when[40] = "";
        if (moves) snprintf(when, sizeof when, ", in frame %lld, too", (long long)n);
        return firn_value_fail(scene->camera_value, error,
                               "position and target of the camera must differ%s", when);
    }
    return FIRN_OK;
}

static firn_status check_all(firn_scene *scene, firn_error *error)
{
    const firn_scene_simulation *s = &scene->simulation;
    if (scene->frames.end < scene->frames.start) {
        return firn_value_fail(scene->frames_value, error, "end %lld is before start %lld",
                               (long long)scene->frames.end, (long long)scene->frames.start);
    }
    const firn_status seen = check_camera(scene, error);
    if (seen != FIRN_OK) return seen;
    if (strchr(scene->name, '/')) {
        return firn_value_fail(firn_value_get(scene->tree.root, "name"), error,
                               "name \"%.60s\" must be without a slash: it names files",
                               scene->name);
    }
    if (!scene->object_count) {
        return firn_value_fail(scene->objects_value ? scene->objects_value : scene->tree.root,
                               error, "the scene has no objects; add some under objects");
    }
    for (int a = 0; scene->domain_value && a < scene->dimension; a++) {
        if (!(scene->domain.low[a] < scene->domain.high[a])) {
            return firn_value_fail(scene->domain_value, error,
                                   "low %g must be below high %g along axis %d",
                                   scene->domain.low[a], scene->domain.high[a], a);
        }
    }
    if (firn_section_given(&firn_section_simulation, s, "cell_size") &&
        firn_section_given(&firn_section_simulation, s, "particles_per_cell")) {
        return firn_value_fail(firn_value_get(scene->simulation_value, "particles_per_cell"), error,
                               "give cell_size or particles_per_cell, not both");
    }
    if (firn_section_given(&firn_section_scene, scene, "final_resolution") &&
        firn_section_given(&firn_section_simulation, s, "cell_size")) {
        return firn_value_fail(firn_value_get(scene->tree.root, "final_resolution"), error,
                               "the cells of drafts must follow resolution: give "
                               "simulation.particles_per_cell instead of cell_size");
    }
    return FIRN_OK;
}

double firn_find_cell_size(const firn_scene *scene)
{
    const firn_scene_simulation *s = &scene->simulation;
    const double dim = (double)scene->dimension;
    if (firn_section_given(&firn_section_simulation, s, "cell_size")) return s->def.cell_size;
    const double each = firn_section_given(&firn_section_simulation, s, "particles_per_cell")
                            ? s->particles_per_cell
                            : pow(2, dim);
    return scene->resolution * pow(each, 1 / dim);
}

firn_status firn_scene_read(firn_scene *scene, firn_tree *tree, firn_error *error)
{
    *scene = (firn_scene){.tree = *tree};
    *tree = (firn_tree){0};
    scene->built = calloc(2, sizeof *scene->built);
    if (!scene->built) {
        firn_scene_free(scene);
        return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    }
    const firn_tree owned = scene->tree;
    const firn_value *variables = firn_value_get(owned.root, "variables");
    scene->context.variables = variables;
    firn_value_use(owned.root, &scene->context);
    firn_status st = firn_section_read(&firn_section_scene, owned.root, scene, error);
    scene->tree = owned;
    if (st == FIRN_OK && !firn_section_given(&firn_section_scene, scene, "firn")) {
        st =
            firn_value_fail(owned.root, error,
                            "the scene does not say the version of its format; begin with firn: 1");
    }
    if (st == FIRN_OK) {
        st = firn_section_read(&firn_section_frames, scene->frames_value, &scene->frames, error);
    }
    if (st == FIRN_OK && variables && variables->kind != FIRN_MAP) {
        st = firn_value_fail(variables, error, "variables must be a map, as {width: 80 cm}");
    }
    const firn_value *frame = st == FIRN_OK ? firn_value_get(variables, "F") : NULL;
    if (frame) {
        st = firn_value_fail(frame, error,
                             "$F is the number of the frame; give the variable another name");
    }
    scene->context.first = (double)scene->frames.start;
    scene->context.frames = fmax((double)(scene->frames.end - scene->frames.start), 0);
    scene->context.fps = scene->frames.fps;
    if (!scene->frames.playback) scene->frames.playback = scene->frames.fps;
    scene->simulation.def = firn_sim_def_default();
    if (st == FIRN_OK) {
        st = firn_read_section(scene, &firn_section_simulation, scene->simulation_value,
                               &scene->simulation, error);
    }
    if (st == FIRN_OK) {
        st = firn_read_section(scene, &firn_section_domain, scene->domain_value, &scene->domain,
                               error);
    }
    if (st == FIRN_OK) {
        st = firn_section_read(&firn_section_checkpoint, scene->checkpoint_value,
                               &scene->checkpoint, error);
    }
    if (st == FIRN_OK) {
        st = firn_read_section(scene, &firn_section_camera, scene->camera_value, &scene->camera,
                               error);
    }
    if (st == FIRN_OK) {
        st = firn_section_read(&firn_section_light, scene->light_value, &scene->light, error);
    }
    if (st == FIRN_OK) st = firn_read_materials(scene, error);
    if (st == FIRN_OK) st = firn_read_groups(scene, error);
    if (st == FIRN_OK) st = firn_read_heat(scene, error);
    if (st == FIRN_OK) st = firn_read_objects(scene, error);
    if (st == FIRN_OK) st = firn_read_contacts(scene, error);
    if (st == FIRN_OK) st = firn_read_colliders(scene, error);
    if (st == FIRN_OK) st = firn_read_forces(scene, error);
    if (st == FIRN_OK) st = firn_read_sinks(scene, error);
    if (st == FIRN_OK) st = read_outputs(scene, error);
    if (st == FIRN_OK && scene->statistics) {
        st = put_name(scene, firn_value_get(owned.root, "statistics"), &scene->statistics, error);
    }
    if (st == FIRN_OK) st = check_all(scene, error);
    if (st != FIRN_OK) {
        firn_scene_free(scene);
        return st;
    }
    choose_method(scene);
    stand_for_final(scene);
    firn_scene_simulation *s = &scene->simulation;
    s->def.dimension = (int32_t)scene->dimension;
    if (scene->up == 1 && !firn_section_given(&firn_section_simulation, s, "gravity")) {
        s->def.gravity[2] = s->def.gravity[1];
        s->def.gravity[1] = 0;
    }
    scene->cell_size = s->def.cell_size = firn_find_cell_size(scene);
    for (int32_t i = 0; i < scene->output_count; i++) {
        if (scene->output[i].voxel == 0) scene->output[i].voxel = scene->cell_size;
    }
    return FIRN_OK;
}

void firn_scene_shape_free(firn_scene_shape *shape) { free((void *)shape->def.points); }

static void free_collider(firn_scene_collider *collider)
{
    firn_scene_shape_free(&collider->shape);
    free(collider->key);
}

void firn_scene_free(firn_scene *scene)
{
    for (int32_t i = 0; i < scene->object_count; i++)
        firn_scene_shape_free(&scene->object[i].shape);
    for (int32_t i = 0; i < scene->sink_count; i++) firn_scene_shape_free(&scene->sink[i].shape);
    for (int32_t i = 0; i < scene->collider_count; i++) free_collider(&scene->collider[i]);
    for (int32_t i = 0; i < scene->material_count; i++) free(scene->material[i].noise);
    for (int32_t i = 0; i < scene->output_count; i++) free(scene->output[i].names);
    for (int32_t i = 0; i < scene->heat.source_count; i++)
        free_collider(&scene->heat.source[i].body);
    firn_free_groups(scene);
    firn_free_built(scene);
    free(scene->heat.source);
    free(scene->material);
    free(scene->object);
    free(scene->contact);
    free(scene->collider);
    free(scene->force);
    free(scene->sink);
    free(scene->output);
    firn_names_free(&scene->material_names);
    firn_names_free(&scene->object_names);
    firn_tracks_free(&scene->context);
    firn_tree_free(&scene->tree);
    *scene = (firn_scene){0};
}
