/* Opens the shapes, meshes, voxels and particle files of a scene's objects, sinks and emitters,
 * and fills them with particles. */
#include "run/source.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "geometry/fill.h"
#include "mesh/mesh.h"
#include "run/prop.h"
#include "scene/copies.h"

struct firn_source {
    bool filled; /* whether there is a region; particle files have none */
    firn_region region;
    firn_mesh *mesh; /* what the region points to */
    firn_voxels voxels;
    firn_prop prop; /* where the mesh comes from, if it may move */
    double time;    /* s, of the file, that the mesh is of */
    firn_polygons polygons;
    firn_placement place;
};

void firn_batch_free(firn_batch *b)
{
    free(b->position);
    free(b->velocity);
    free(b->velocity_gradient);
    free(b->volume);
    free(b->mass);
    free(b->deformation_gradient);
    free(b->state);
    free(b->temperature);
    free(b->enthalpy);
    free(b->concentration);
    free(b->place);
    free(b->depth);
    free(b->material);
    firn_points_free(&b->carried);
    *b = (firn_batch){0};
}

double firn_batch_rest_ratio(const firn_batch *b, const firn_scene *scene,
                             const firn_scene_object *o, int64_t i)
{
    const firn_material_def *m =
        &scene->material[b->material ? b->material[i] : o->material_index].def;
    if (!scene->heat_value || b->deformation_gradient) return 1;
    const bool given = firn_section_given(&firn_section_object, o, "temperature");
    const double temperature = b->temperature ? b->temperature[i]
                               : given        ? o->temperature
                                              : scene->heat.def.ambient;
    const double enthalpy = b->enthalpy ? b->enthalpy[i] : firn_material_enthalpy(m, temperature);
    return firn_material_rest_ratio(m, b->state ? b->state[i] : 0,
                                    firn_material_liquid(m, enthalpy));
}

/* ---- opening ---- */

/* The place that the shape has by itself: +y turned to its axis d about y x d = (dz, 0, -dx). */
static firn_placement own_place(const firn_scene_shape *s)
{
    firn_placement own = firn_placement_default();
    const double *d = s->up, across = hypot(d[0], d[2]);
    memcpy(own.translate, s->def.position, sizeof own.translate);
    own.axis[0] = d[2];
    own.axis[1] = 0;
    own.axis[2] = across > 0 ? -d[0] : 1;
    own.angle_deg = atan2(across, d[1]) * 180 / 3.14159265358979323846;
    return own;
}

/* Makes the mesh of a source that of a time of its file. */
static firn_status make_mesh(firn_source *out, double file_time, firn_error *error)
{
    firn_polygons polygons = {0};
    firn_mesh *mesh = NULL;
    firn_status st = firn_prop_read(&out->prop, file_time, &polygons, error);
    const bool hidden = polygons.vertex_count == 0;
    if (st == FIRN_OK && !hidden) st = firn_prop_mesh(&out->prop, &polygons, 0, &mesh, error);
    if (st != FIRN_OK) {
        firn_polygons_free(&polygons);
        return st;
    }
    firn_mesh_destroy(out->mesh);
    firn_polygons_free(&out->polygons);
    out->mesh = mesh;
    out->polygons = polygons;
    out->time = file_time;
    out->filled = false;
    if (hidden) { /* there is nothing to be in */
        out->region = (firn_region){.dimension = 3};
        return FIRN_OK;
    }
    firn_error inner = {0};
    st = firn_region_of_mesh(mesh, &out->place, &out->region, &inner);
    if (st != FIRN_OK) return firn_value_pass(out->prop.shape->where, &inner, error);
    out->filled = true;
    return FIRN_OK;
}

/* Follows the file of a source to a time of the scene. */
static firn_status move_source(firn_source *s, double time, firn_error *error)
{
    if (!firn_prop_moves(&s->prop)) return FIRN_OK;
    const double file_time = firn_prop_file_time(&s->prop, time);
    return file_time == s->time ? FIRN_OK : make_mesh(s, file_time, error);
}

/* The shape in its own place, then as the object turns and moves it: one placement after another. */
static firn_status place_shape(firn_source *out, const firn_scene *scene, const firn_scene_shape *s,
                               const firn_placement *then, firn_error *error)
{
    const int dim = (int)scene->dimension;
    const firn_placement own = own_place(s);
    firn_region *r = &out->region;
    firn_error inner = {0};
    firn_affine after;
    firn_status st = firn_region_of_shape(&s->def, dim, &own, r, &inner);
    if (st == FIRN_OK) st = firn_placement_resolve(then, dim, &after, &inner);
    if (st != FIRN_OK) return firn_value_pass(s->where, &inner, error);
    const firn_affine before = r->affine;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            r->affine.matrix[i][j] = r->affine.inverse[i][j] = 0;
            for (int k = 0; k < 3; k++) {
                r->affine.matrix[i][j] += after.matrix[i][k] * before.matrix[k][j];
                r->affine.inverse[i][j] += before.inverse[i][k] * after.inverse[k][j];
            }
        }
    }
    firn_affine_to_world(&after, before.offset, r->affine.offset);
    r->affine.shrink = after.shrink; /* its own place turns and moves only */
    r->affine.conforms = after.conforms;
    r->affine.volume = after.volume;
    double low[3], high[3];
    (void)firn_shape_bounds(&s->def, dim, low, high);
    firn_affine_bounds(&r->affine, low, high, r->low, r->high);
    r->volume = firn_shape_volume(&s->def, dim) * after.volume;
    r->exact = r->exact && after.conforms;
    out->filled = true;
    return FIRN_OK;
}

static firn_status open_shape(firn_source *out, const firn_scene *scene, const firn_scene_shape *s,
                              const firn_placement *then, firn_error *error)
{
    const firn_status st = firn_prop_open(&out->prop, scene, s, error);
    if (st != FIRN_OK) return st;
    if (!out->prop.shape) return place_shape(out, scene, s, then, error);
    out->place = *then;
    return make_mesh(out, firn_prop_file_time(&out->prop, 0), error);
}

/* Where the group of a sink is. */
static firn_placement sink_placement(const firn_scene *scene, const firn_scene_sink *s, double time)
{
    firn_placement p = firn_placement_default();
    double turn[4] = {1, 0, 0, 0};
    if (!s->frame) return p;
    firn_frame_place(scene, s->frame, time, p.translate, turn);
    firn_placement_turn(&p, turn);
    for (int a = 0; a < 3; a++) p.scale[a] = s->frame->scale;
    return p;
}

firn_placement firn_object_placement(const firn_scene_object *o)
{
    firn_placement p = firn_placement_default();
    memcpy(p.translate, o->translate, sizeof p.translate);
    memcpy(p.rotate_deg, o->rotate, sizeof p.rotate_deg);
    memcpy(p.scale, o->scale, sizeof p.scale);
    firn_placement_turn(&p, o->turn);
    return p;
}

static firn_status open_object(firn_source *out, const firn_scene *scene,
                               const firn_scene_object *o, firn_error *error)
{
    const firn_placement p = firn_object_placement(o);
    if (o->has_shape) return open_shape(out, scene, &o->shape, &p, error);
    if (o->particles) return FIRN_OK;
    const char *key = o->mesh ? "mesh" : "voxels";
    const firn_value *where = firn_value_get(o->where, key);
    if (scene->dimension != 3) {
        return firn_value_fail(where, error, "%s are for 3D scenes", o->mesh ? "meshes" : key);
    }
    char *path = firn_beside(o->where->file, o->mesh ? o->mesh : o->voxels);
    if (!path) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    firn_error inner = {0};
    firn_status st;
    if (o->mesh) {
        st = firn_mesh_read(path, 0, 1, &out->mesh, &inner);
        if (st == FIRN_OK) st = firn_region_of_mesh(out->mesh, &p, &out->region, &inner);
    } else {
        st = firn_voxels_read(path, &out->voxels, &inner);
        if (st == FIRN_OK) st = firn_region_of_voxels(&out->voxels, &p, &out->region, &inner);
    }
    free(path);
    if (st != FIRN_OK) return firn_value_pass(where, &inner, error);
    out->filled = true;
    return FIRN_OK;
}

firn_status firn_sources_open(firn_sources *sources, const firn_scene *scene, firn_error *error)
{
    *sources = (firn_sources){.scene = scene};
    sources->object = calloc((size_t)scene->object_count + 1, sizeof *sources->object);
    sources->sink = calloc((size_t)scene->sink_count + 1, sizeof *sources->sink);
    firn_status st = sources->object && sources->sink
                         ? FIRN_OK
                         : firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    for (int32_t i = 0; i < scene->object_count && st == FIRN_OK; i++) {
        st = open_object(&sources->object[i], scene, &scene->object[i], error);
    }
    for (int32_t i = 0; i < scene->sink_count && st == FIRN_OK; i++) {
        const firn_placement p = sink_placement(scene, &scene->sink[i], 0);
        st = open_shape(&sources->sink[i], scene, &scene->sink[i].shape, &p, error);
    }
    return st;
}

void firn_sources_doubt(const firn_sources *sources, const firn_log *log)
{
    const firn_scene *scene = sources->scene;
    for (int32_t i = 0; i < scene->object_count; i++) {
        firn_prop_doubt(&sources->object[i].prop, scene, log);
        firn_prop_doubt_inherit(&sources->object[i].prop, &scene->object[i], log);
    }
    for (int32_t i = 0; i < scene->sink_count; i++) {
        firn_prop_doubt(&sources->sink[i].prop, scene, log);
    }
}

static void close_source(firn_source *s)
{
    firn_mesh_destroy(s->mesh);
    firn_polygons_free(&s->polygons);
    firn_voxels_free(&s->voxels);
    firn_prop_close(&s->prop);
}

void firn_sources_close(firn_sources *sources)
{
    for (int32_t i = 0; sources->object && i < sources->scene->object_count; i++) {
        close_source(&sources->object[i]);
    }
    for (int32_t i = 0; sources->sink && i < sources->scene->sink_count; i++) {
        close_source(&sources->sink[i]);
    }
    free(sources->object);
    free(sources->sink);
    *sources = (firn_sources){0};
}

bool firn_sources_in_sink(const firn_sources *sources, int32_t index, const double position[3])
{
    const firn_source *s = &sources->sink[index];
    return s->filled && firn_region_inside(&s->region, position);
}

firn_status firn_sources_move(firn_sources *sources, int32_t index, double time, firn_error *error)
{
    return move_source(&sources->object[index], time, error);
}

firn_status firn_sources_move_sinks(firn_sources *sources, double time, firn_error *error)
{
    firn_status st = FIRN_OK;
    const firn_scene *scene = sources->scene;
    for (int32_t i = 0; i < scene->sink_count && st == FIRN_OK; i++) {
        const firn_scene_sink *sink = &scene->sink[i];
        firn_source *s = &sources->sink[i];
        const bool moves = firn_frame_moves(sink->frame);
        if (moves) s->place = sink_placement(scene, sink, time);
        if (!moves)
            st = move_source(s, time, error);
        else if (s->prop.shape)
            st = make_mesh(s, firn_prop_file_time(&s->prop, time), error);
        else
            st = place_shape(s, scene, &sink->shape, &s->place, error);
    }
    return st;
}

double firn_sources_depth(const firn_sources *sources, int32_t index, const double position[3],
                          double limit)
{
    return firn_region_depth(&sources->object[index].region, position, limit);
}

/* ---- filling ---- */

/* How much an object takes: by voxel, by count, or by the distance of particles. */
static firn_fill_def fill_def(const firn_scene *scene, const firn_scene_object *o)
{
    firn_fill_def def = firn_fill_def_default();
    if (o->voxels && firn_section_given(&firn_section_object, o, "per_voxel")) {
        def.per_voxel = o->per_voxel;
    } else if (firn_section_given(&firn_section_object, o, "count")) {
        def.count = o->count;
    } else {
        def.separation = firn_section_given(&firn_section_object, o, "separation")
                             ? o->separation
                             : scene->resolution;
    }
    return def;
}

double firn_particle_bytes(const firn_scene *scene)
{
    return (scene->output_count ? 370 : 200) + (scene->heat_value ? 130 : 0);
}

double firn_sources_expected(const firn_sources *sources, int32_t index)
{
    if (!sources->object[index].filled) return 0;
    const firn_fill_def def = fill_def(sources->scene, &sources->scene->object[index]);
    return firn_fill_expected(&sources->object[index].region, &def);
}

uint64_t firn_sources_seed(const firn_sources *sources, int32_t index)
{
    return (uint64_t)sources->scene->seed * 0x9e3779b97f4a7c15u +
           (uint64_t)sources->scene->object[index].seed * 65537 + (uint64_t)index;
}

static firn_status fill_region(const firn_sources *sources, int32_t index, bool apart,
                               firn_batch *b, firn_error *error)
{
    const firn_scene *scene = sources->scene;
    const firn_scene_object *o = &scene->object[index];
    const int dim = (int)scene->dimension;
    if (!sources->object[index].filled) return FIRN_OK; /* hidden */
    const firn_region **taken = malloc(((size_t)index + 1) * sizeof *taken);
    if (!taken) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    firn_fill_def def = fill_def(scene, o);
    for (int32_t i = 0; apart && i < index; i++) {
        if (sources->object[i].filled) taken[def.taken_count++] = &sources->object[i].region;
    }
    def.taken = taken;
    def.pattern = (firn_pattern)o->pattern;
    def.seed = firn_sources_seed(sources, index);
    /* Refinement has to be tried: as far as the sim could hold what it gives. */
    def.most = (int64_t)fmin((double)def.most, firn_memory_most() / firn_particle_bytes(scene));
    def.refine_levels = (int32_t)o->refine;
    def.refine_distance = o->refine_distance > 0
                              ? o->refine_distance
                              : 2 * (def.separation > 0 ? def.separation : scene->resolution);
    firn_filling f = {0};
    firn_error inner = {0};
    firn_status st = firn_fill(&sources->object[index].region, &def, &f, &inner);
    free(taken);
    if (st != FIRN_OK) return firn_value_pass(o->where, &inner, error);
    b->count = f.count;
    b->dropped = f.dropped;
    b->position = f.position;
    b->volume = f.volume;
    for (int64_t i = 0; dim == 2 && i < f.count; i++) { /* two numbers each, in place */
        b->position[2 * i] = f.position[3 * i];
        b->position[2 * i + 1] = f.position[3 * i + 1];
    }
    return FIRN_OK;
}

/* The velocity of the mesh's nearest point, within the part of its motion that the time belongs to. */
firn_status firn_sources_velocities(const firn_sources *sources, int32_t index, int64_t count,
                                    const double *position, double *velocity, firn_error *error)
{
    const firn_source *s = &sources->object[index];
    memset(velocity, 0, 3 * (size_t)count * sizeof *velocity);
    if (!firn_prop_moves(&s->prop)) return FIRN_OK;
    const double speed = s->prop.shape->mesh.speed;
    const firn_prop_part part =
        firn_prop_part_at(&s->prop, (s->time - s->prop.first) / speed); /* loops leave no trace */
    const double seconds = part.end - part.begin;
    if (!isfinite(seconds)) return FIRN_OK; /* it stands still */
    firn_polygons at = {0};
    double *next = NULL;
    firn_status st = firn_prop_read(&s->prop, part.file_begin, &at, error);
    if (st == FIRN_OK) st = firn_prop_next(&s->prop, &part, &at, &next, error);
    /* Where the faces change at this very time, nothing says how they move. */
    const bool alike = st == FIRN_OK && firn_polygons_alike(&at, &s->polygons);
    for (int64_t i = 0; i < count && alike; i++) {
        double p[3], v[3] = {0};
        firn_affine_to_local(&s->region.affine, position + 3 * i, p);
        const firn_mesh_hit hit = firn_mesh_nearest(s->mesh, p, INFINITY, -1, 0);
        for (int c = 0; c < 3; c++) {
            const int64_t k = s->mesh->source[s->mesh->triangle[3 * (int64_t)hit.triangle + c]];
            for (int a = 0; a < 3; a++) {
                v[a] += hit.weight[c] * (next[3 * k + a] - at.vertex[3 * k + a]) / seconds;
            }
        }
        for (int a = 0; a < 3; a++) {
            const double *row = s->region.affine.matrix[a];
            velocity[3 * i + a] = row[0] * v[0] + row[1] * v[1] + row[2] * v[2];
        }
    }
    free(next);
    firn_polygons_free(&at);
    return st;
}

firn_status firn_sources_inherit(const firn_sources *sources, int32_t index, firn_batch *b,
                                 firn_error *error)
{
    const double part_of_it = sources->scene->object[index].inherit;
    if (part_of_it == 0 || b->count == 0) return FIRN_OK;
    b->velocity = calloc(3 * (size_t)b->count + 1, sizeof *b->velocity);
    if (!b->velocity) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    const firn_status st =
        firn_sources_velocities(sources, index, b->count, b->position, b->velocity, error);
    for (int64_t i = 0; i < 3 * b->count; i++) b->velocity[i] *= part_of_it;
    return st;
}

/* ---- particle files ---- */

/* Leaves out the particles marked, from every array and column. */
static void leave_out(firn_batch *b, const bool *out, int dim)
{
    const size_t number = sizeof(double), vector = (size_t)dim * number;
    const struct {
        void *data;
        size_t size; /* bytes of a particle */
    } arrays[] = {
        {b->position, vector},
        {b->velocity, vector},
        {b->volume, number},
        {b->mass, number},
        {b->material, sizeof *b->material},
        {b->deformation_gradient, (size_t)dim * vector},
        {b->state, number},
        {b->temperature, number},
        {b->enthalpy, number},
        {b->concentration, number},
    };
    const int32_t own = sizeof arrays / sizeof *arrays;
    int64_t kept = 0;
    for (int32_t a = 0; a < own + b->carried.column_count; a++) {
        const firn_column *c = a < own ? NULL : &b->carried.column[a - own];
        char *data = c ? c->data : arrays[a].data;
        const size_t size = c ? (size_t)c->components * firn_type_size(c->type) : arrays[a].size;
        kept = 0;
        for (int64_t i = 0; i < b->count; i++) {
            if (out[i]) continue;
            if (data) memmove(data + (size_t)kept * size, data + (size_t)i * size, size);
            kept++;
        }
    }
    b->dropped = b->count - kept;
    b->count = b->carried.count = kept;
}

static firn_status fill_from_file(const firn_sources *sources, int32_t index, firn_batch *b,
                                  firn_error *error)
{
    const firn_scene *scene = sources->scene;
    const firn_scene_object *o = &scene->object[index];
    const int dim = (int)scene->dimension;
    char *path = firn_beside(o->where->file, o->particles);
    firn_status st = path ? firn_import(scene, o, path, b, error)
                          : firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    free(path);
    if (st != FIRN_OK) return st;
    bool *out = calloc((size_t)b->count + 1, sizeof *out), any = false;
    if (!out) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    for (int64_t i = 0; i < b->count; i++) {
        double x[3] = {0};
        memcpy(x, b->position + i * dim, (size_t)dim * sizeof *x);
        for (int32_t k = 0; k < index && !out[i]; k++) {
            out[i] = sources->object[k].filled && firn_region_inside(&sources->object[k].region, x);
        }
        any = any || out[i];
    }
    if (any) leave_out(b, out, dim);
    free(out);
    return FIRN_OK;
}

firn_status firn_sources_fill(const firn_sources *sources, int32_t index, bool apart,
                              firn_batch *out, firn_error *error)
{
    *out = (firn_batch){0};
    const firn_scene_object *o = &sources->scene->object[index];
    firn_status st = o->particles ? fill_from_file(sources, index, out, error)
                                  : fill_region(sources, index, apart, out, error);
    if (st == FIRN_OK) st = firn_sources_inherit(sources, index, out, error);
    if (st != FIRN_OK) firn_batch_free(out);
    return st;
}

const firn_region *firn_sources_region(const firn_sources *sources, int32_t index)
{
    const firn_source *s = &sources->object[index];
    return s->filled ? &s->region : NULL;
}

bool firn_sources_moves(const firn_sources *sources, int32_t index)
{
    return firn_prop_moves(&sources->object[index].prop);
}

double firn_sources_separation(const firn_sources *sources, int32_t index)
{
    const firn_fill_def def = fill_def(sources->scene, &sources->scene->object[index]);
    if (def.separation > 0) return def.separation;
    const firn_region *region = &sources->object[index].region;
    return pow(region->volume / firn_fill_expected(region, &def), 1.0 / region->dimension);
}
