#include "scene/source.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "io/io.h"
#include "scene/mesh.h"
#include "scene/place.h"
#include "scene/shape.h"

struct firn_source {
    const firn_solid *solid; /* or */
    bool has_mesh;
    firn_solid_values values;
    double *points; /* of a polygon, owned */
    firn_mesh mesh;
    firn_affine affine;
    double low[3], high[3]; /* world bounds, m */
    double volume;          /* m3; 2D: m2 */
};

void firn_batch_free(firn_batch *b)
{
    free(b->position);
    free(b->velocity);
    free(b->volume);
    free(b->mass);
    free(b->deformation_gradient);
    free(b->material);
    *b = (firn_batch){0};
}

/* A path of the scene, as seen from its file. */
static char *beside_scene(const firn_value *where, const char *name)
{
    const char *slash = strrchr(where->file, '/');
    const size_t folder = name[0] == '/' || !slash ? 0 : (size_t)(slash - where->file) + 1;
    char *path = malloc(folder + strlen(name) + 1);
    if (!path) return NULL;
    memcpy(path, where->file, folder);
    strcpy(path + folder, name);
    return path;
}

/* ---- opening ---- */

/* Capsules lie between two points; the others have a centre. */
static void place_shape(const firn_scene_shape *s, const char *name, firn_placement *own)
{
    *own = firn_placement_default();
    memcpy(own->translate, s->center, sizeof s->center);
    if (strcmp(name, "capsule") != 0) return;
    double d[3], length = 0;
    for (int a = 0; a < 3; a++) {
        own->translate[a] = 0.5 * (s->from[a] + s->to[a]);
        d[a] = s->to[a] - s->from[a];
        length = hypot(length, d[a]);
    }
    /* From +y to d: about y x d = (dz, 0, -dx). */
    const double across = hypot(d[0], d[2]);
    own->axis[0] = across > 0 ? d[2] : 1;
    own->axis[2] = across > 0 ? -d[0] : 0;
    own->angle_deg = atan2(across, d[1]) * 180 / 3.14159265358979323846;
    if (length == 0) own->angle_deg = 0;
}

static firn_status shape_values(firn_source *out, const firn_scene_shape *s, const char *name,
                                firn_error *error)
{
    double *v = out->values.value;
    if (strcmp(name, "box") == 0 || strcmp(name, "rectangle") == 0) {
        for (int a = 0; a < 3; a++) v[a] = 0.5 * s->size[a];
    } else if (strcmp(name, "capsule") == 0) {
        double length = 0;
        for (int a = 0; a < 3; a++) length = hypot(length, s->to[a] - s->from[a]);
        v[0] = s->radius;
        v[1] = 0.5 * length;
    } else if (strcmp(name, "cylinder") == 0) {
        v[0] = s->radius;
        v[1] = 0.5 * s->height;
    } else if (strcmp(name, "cone") == 0) {
        v[0] = s->radius;
        v[1] = s->height;
    } else if (strcmp(name, "torus") == 0) {
        v[0] = s->radius;
        v[1] = s->tube;
    } else if (strcmp(name, "ellipsoid") == 0) {
        memcpy(v, s->radii, sizeof s->radii);
    } else if (strcmp(name, "ring") == 0) {
        v[0] = s->radius;
        v[1] = s->inner;
    } else if (strcmp(name, "polygon") == 0) {
        const int n = firn_value_count(s->points);
        out->points = calloc(2 * (size_t)n, sizeof *out->points);
        if (!out->points) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
        int i = 0, count = 0;
        for (const firn_value *c = s->points->child; c; c = c->next, i += 2) {
            firn_status st =
                firn_read_vector(c, "a corner", "m", 2, 2, out->points + i, &count, error);
            if (st != FIRN_OK) return st;
        }
        out->values.points = out->points;
        out->values.point_count = n;
    } else {
        v[0] = s->radius;
    }
    return FIRN_OK;
}

/* The shape in its own place, then as the object turns and moves it: one placement after another. */
static firn_status open_shape(firn_source *out, const firn_scene *scene, const firn_scene_shape *s,
                              const firn_placement *then, firn_error *error)
{
    const char *name = firn_scene_shapes[s->kind].section.name;
    const int dim = (int)scene->dimension;
    out->solid = firn_solid_find(name);
    if (!out->solid || out->solid->dimension != dim) {
        return firn_value_fail(s->where, error, "%s cannot be filled in %dD", name, dim);
    }
    firn_placement own;
    place_shape(s, name, &own);
    firn_error inner = {0};
    firn_affine a, b;
    firn_status st = shape_values(out, s, name, error);
    if (st != FIRN_OK) return st;
    st = firn_solid_check(out->solid, &out->values, &inner);
    if (st == FIRN_OK) st = firn_placement_resolve(&own, dim, &a, &inner);
    if (st == FIRN_OK) st = firn_placement_resolve(then, dim, &b, &inner);
    if (st != FIRN_OK) return firn_value_fail(s->where, error, "%s", inner.message);
    out->affine = b;
    for (int i = 0; i < 3; i++) {
        double sum = b.offset[i];
        for (int j = 0; j < 3; j++) {
            sum += b.matrix[i][j] * a.offset[j];
            out->affine.matrix[i][j] = out->affine.inverse[i][j] = 0;
            for (int k = 0; k < 3; k++) {
                out->affine.matrix[i][j] += b.matrix[i][k] * a.matrix[k][j];
                out->affine.inverse[i][j] += a.inverse[i][k] * b.inverse[k][j];
            }
        }
        out->affine.offset[i] = sum;
    }
    out->affine.volume = a.volume * b.volume;
    double low[3], high[3];
    out->solid->bounds(&out->values, low, high);
    firn_affine_bounds(&out->affine, low, high, out->low, out->high);
    out->volume = out->solid->volume(&out->values) * out->affine.volume;
    return FIRN_OK;
}

static firn_status open_object(firn_source *out, const firn_scene *scene,
                               const firn_scene_object *o, firn_error *error)
{
    firn_placement p = firn_placement_default();
    memcpy(p.translate, o->translate, sizeof p.translate);
    memcpy(p.rotate_deg, o->rotate, sizeof p.rotate_deg);
    memcpy(p.scale, o->scale, sizeof p.scale);
    if (o->has_shape) return open_shape(out, scene, &o->shape, &p, error);
    if (!o->mesh) return FIRN_OK;
    if (scene->dimension != 3) {
        return firn_value_fail(firn_value_get(o->where, "mesh"), error, "meshes are for 3D scenes");
    }
    char *path = beside_scene(o->where, o->mesh);
    firn_error inner = {0};
    firn_status st = path ? firn_mesh_read(path, 0, &out->mesh, &inner)
                          : firn_fail(&inner, FIRN_NO_MEMORY, "out of memory");
    free(path);
    if (st == FIRN_OK) st = firn_placement_resolve(&p, 3, &out->affine, &inner);
    if (st != FIRN_OK) {
        return firn_value_fail(firn_value_get(o->where, "mesh"), error, "%s", inner.message);
    }
    out->has_mesh = true;
    out->volume = out->mesh.volume * out->affine.volume;
    firn_affine_bounds(&out->affine, out->mesh.low, out->mesh.high, out->low, out->high);
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
    const firn_placement none = firn_placement_default();
    for (int32_t i = 0; i < scene->sink_count && st == FIRN_OK; i++) {
        st = open_shape(&sources->sink[i], scene, &scene->sink[i].shape, &none, error);
    }
    return st;
}

static void close_source(firn_source *s)
{
    if (s->has_mesh) firn_mesh_free(&s->mesh);
    free(s->points);
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

static bool is_inside(const firn_source *s, const double position[3])
{
    for (int a = 0; a < 3; a++) {
        if (!(position[a] >= s->low[a] && position[a] <= s->high[a])) return false;
    }
    double local[3];
    firn_affine_to_local(&s->affine, position, local);
    if (s->has_mesh) return firn_mesh_winding(&s->mesh, local) != 0;
    return s->solid && s->solid->distance(&s->values, local) < 0;
}

bool firn_sources_in_sink(const firn_sources *sources, int32_t index, const double position[3])
{
    return is_inside(&sources->sink[index], position);
}

/* ---- filling ---- */

static uint64_t scramble(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* In (-0.5, 0.5), by what it is for. */
static double chance(uint64_t seed, uint64_t cell, int axis)
{
    const uint64_t bits = scramble(scramble(seed ^ scramble(cell)) + (uint64_t)axis);
    return (double)(bits >> 11) * 0x1p-53 - 0.5;
}

static bool add_point(firn_batch *b, int64_t *room, int dim, const double x[3])
{
    if (b->count == *room) {
        *room = *room ? 2 * *room : 4096;
        double *grown = realloc(b->position, (size_t)*room * (size_t)dim * sizeof *grown);
        if (!grown) return false;
        b->position = grown;
    }
    memcpy(b->position + b->count * dim, x, (size_t)dim * sizeof *x);
    b->count++;
    return true;
}

static firn_status fill_lattice(const firn_sources *sources, int32_t index, bool apart,
                                firn_batch *b, firn_error *error)
{
    const firn_scene *scene = sources->scene;
    const firn_scene_object *o = &scene->object[index];
    const firn_source *s = &sources->object[index];
    const int dim = (int)scene->dimension;
    double step = firn_section_given(&firn_section_object, o, "separation") ? o->separation
                                                                            : scene->resolution;
    if (firn_section_given(&firn_section_object, o, "count")) {
        step = pow(s->volume / (double)o->count, 1.0 / dim);
    }
    int64_t first[3] = {0}, last[3] = {0};
    double cells = 1;
    for (int a = 0; a < dim; a++) {
        if (!(fabs(s->low[a] / step) < 1e9 && fabs(s->high[a] / step) < 1e9)) cells = INFINITY;
        first[a] = (int64_t)floor(s->low[a] / step);
        last[a] = (int64_t)floor(s->high[a] / step);
        cells *= (double)(last[a] - first[a] + 1);
    }
    if (!(cells < 4e9)) {
        return firn_value_fail(
            o->where, error, "%.2g particles would fit around it; use a larger separation", cells);
    }
    const double spread = o->pattern == FIRN_REGULAR ? 0 : o->pattern == FIRN_RANDOM ? 1 : 0.7;
    const uint64_t seed =
        scramble((uint64_t)scene->seed) ^ scramble((uint64_t)o->seed + 77) ^ (uint64_t)index << 48;
    int64_t room = 0, taken = 0;
    for (int64_t i = first[0]; i <= last[0]; i++) {
        for (int64_t j = first[1]; j <= last[1]; j++) {
            for (int64_t k = first[2]; k <= last[2]; k++) {
                const int64_t at[3] = {i, j, k};
                const uint64_t cell =
                    (uint64_t)i * 0x9e3779b1u + ((uint64_t)j << 21) * 31 + ((uint64_t)k << 42) * 17;
                double x[3] = {0};
                for (int a = 0; a < dim; a++) {
                    x[a] = ((double)at[a] + 0.5 + spread * chance(seed, cell, a)) * step;
                }
                if (!is_inside(s, x)) continue;
                taken++;
                bool free_here = true;
                for (int32_t q = 0; apart && q < index && free_here; q++) {
                    free_here = !is_inside(&sources->object[q], x);
                }
                if (!free_here) {
                    b->dropped++;
                } else if (!add_point(b, &room, dim, x)) {
                    return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
                }
            }
        }
    }
    b->volume = malloc(((size_t)b->count + 1) * sizeof *b->volume);
    if (!b->volume) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    for (int64_t i = 0; i < b->count; i++) b->volume[i] = s->volume / (double)taken;
    return FIRN_OK;
}

/* ---- particle files ---- */

/* A column as doubles, `components` of them each; NULL when the file has none. */
static firn_status take_column(const firn_points *points, const char *name, int components,
                               double **out, firn_error *error)
{
    const firn_column *c = firn_points_find(points, name);
    *out = NULL;
    if (!c || c->components < components) return FIRN_OK;
    *out = malloc(((size_t)points->count * (size_t)components + 1) * sizeof **out);
    if (!*out) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    for (int64_t i = 0; i < points->count; i++) {
        for (int k = 0; k < components; k++) {
            (*out)[i * components + k] = firn_type_get(c->type, c->data, i * c->components + k);
        }
    }
    return FIRN_OK;
}

static firn_status fill_from_file(const firn_sources *sources, int32_t index, firn_batch *b,
                                  firn_error *error)
{
    const firn_scene *scene = sources->scene;
    const firn_scene_object *o = &scene->object[index];
    const firn_value *where = firn_value_get(o->where, "particles");
    const int dim = (int)scene->dimension;
    char *path = beside_scene(o->where, o->particles);
    firn_points points = {0};
    firn_error inner = {0};
    firn_status st = path ? firn_points_read(path, &points, &inner)
                          : firn_fail(&inner, FIRN_NO_MEMORY, "out of memory");
    free(path);
    if (st != FIRN_OK) return firn_value_fail(where, error, "%s", inner.message);
    firn_placement p = firn_placement_default();
    memcpy(p.translate, o->translate, sizeof p.translate);
    memcpy(p.rotate_deg, o->rotate, sizeof p.rotate_deg);
    memcpy(p.scale, o->scale, sizeof p.scale);
    firn_affine affine;
    st = firn_placement_resolve(&p, dim, &affine, error);
    double *density = NULL, *scale = NULL, *material = NULL;
    if (st == FIRN_OK) st = take_column(&points, "P", dim, &b->position, error);
    if (st == FIRN_OK && !b->position) {
        st = firn_value_fail(where, error, "the file has no positions (P)");
    }
    if (st == FIRN_OK) st = take_column(&points, "v", dim, &b->velocity, error);
    if (st == FIRN_OK) st = take_column(&points, "mass", 1, &b->mass, error);
    if (st == FIRN_OK) st = take_column(&points, "density", 1, &density, error);
    if (st == FIRN_OK) st = take_column(&points, "pscale", 1, &scale, error);
    if (st == FIRN_OK) st = take_column(&points, "material", 1, &material, error);
    if (st == FIRN_OK && dim == 3) {
        st = take_column(&points, "F", 9, &b->deformation_gradient, error);
    }
    b->count = points.count;
    const size_t n = (size_t)b->count + 1;
    b->volume = malloc(n * sizeof *b->volume);
    if (material) b->material = malloc(n * sizeof *b->material);
    if (st == FIRN_OK && (!b->volume || (material && !b->material))) {
        st = firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    }
    const double cell = pow(scene->resolution, dim), pi = 3.14159265358979323846;
    for (int64_t i = 0; i < b->count && st == FIRN_OK; i++) {
        double x[3] = {0}, moved[3];
        memcpy(x, b->position + i * dim, (size_t)dim * sizeof *x);
        firn_affine_to_world(&affine, x, moved);
        memcpy(b->position + i * dim, moved, (size_t)dim * sizeof *moved);
        if (b->velocity) { /* turned, not scaled, then the object's own added */
            double v[3] = {0};
            memcpy(v, b->velocity + i * dim, (size_t)dim * sizeof *v);
            for (int a = 0; a < dim; a++) {
                double sum = o->velocity[a];
                for (int c = 0; c < dim; c++) sum += affine.matrix[a][c] / o->scale[c] * v[c];
                b->velocity[i * dim + a] = sum;
            }
        }
        const double rest = scene->material[o->material_index].density;
        if (scale && scale[i] > 0) { /* the ball or disc of that radius */
            b->volume[i] = dim == 3 ? 4 * pi / 3 * pow(scale[i], 3) : pi * scale[i] * scale[i];
            b->volume[i] *= affine.volume;
        } else if (b->mass) {
            b->volume[i] = b->mass[i] / (density && density[i] > 0 ? density[i] : rest);
        } else {
            b->volume[i] = cell;
        }
        if (!material) continue;
        if (!(material[i] >= 0 && material[i] < scene->material_count)) {
            st = firn_value_fail(where, error,
                                 "particle %lld has material %g; the scene has 0 to %d",
                                 (long long)i, material[i], scene->material_count - 1);
        } else {
            b->material[i] = (uint16_t)material[i];
        }
    }
    free(density);
    free(scale);
    free(material);
    firn_points_free(&points);
    return st;
}

firn_status firn_sources_fill(const firn_sources *sources, int32_t index, bool apart,
                              firn_batch *out, firn_error *error)
{
    *out = (firn_batch){0};
    const firn_scene_object *o = &sources->scene->object[index];
    firn_status st = o->particles ? fill_from_file(sources, index, out, error)
                                  : fill_lattice(sources, index, apart, out, error);
    if (st != FIRN_OK) firn_batch_free(out);
    return st;
}

firn_status firn_source_interval(const firn_scene *scene, const firn_scene_object *object,
                                 double *seconds, firn_error *error)
{
    firn_source s = {0};
    firn_status st = open_object(&s, scene, object, error);
    double speed = 0, length = 0;
    for (int a = 0; a < scene->dimension; a++) speed = hypot(speed, object->velocity[a]);
    /* The extent along the motion of a box around it. */
    for (int a = 0; a < scene->dimension && speed > 0; a++) {
        length += fabs(object->velocity[a]) / speed * (s.high[a] - s.low[a]);
    }
    close_source(&s);
    if (st != FIRN_OK) return st;
    if (!(speed > 0)) {
        return firn_value_fail(object->emit_value, error,
                               "what emits needs a velocity, to make room for what follows");
    }
    *seconds = length / speed;
    return FIRN_OK;
}
