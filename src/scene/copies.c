/* Where copies stand: in a list, a grid or a ring, at the points of a file, throughout a shape; and how far each
 * differs by chance. A chance is a function of the scene's seed, that of the copies and the copy's number, so that
 * it does not depend on what else is in the scene. */
#include "scene/copies.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/quaternion.h"
#include "geometry/random.h"
#include "geometry/region.h"

static const double pi = 3.14159265358979323846;
static const char kinds[] = "list, grid, ring, points and inside";

static firn_status make_copies(firn_copies *out, double count, const firn_value *where,
                               firn_error *error)
{
    if (count > FIRN_MOST_COPIES) {
        return firn_value_fail(where, error,
                               "%.0f copies must be at most %d; use a particle file for many",
                               count, FIRN_MOST_COPIES);
    }
    if (!(count >= 1)) return firn_value_fail(where, error, "there is no copy; give at least one");
    out->copy = calloc((size_t)count, sizeof *out->copy);
    if (!out->copy) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    out->count = (int32_t)count;
    for (int32_t i = 0; i < out->count; i++) {
        out->copy[i] = (firn_copy){.turn = {1, 0, 0, 0}, .scale = 1};
    }
    return FIRN_OK;
}

/* What only objects have. */
static firn_status check_objects(bool objects, const firn_value *v, const char *what,
                                 firn_error *error)
{
    if (!v || objects) return FIRN_OK;
    return firn_value_fail(
        v, error, "only copies of objects have %s; move colliders and groups by keys", what);
}

static firn_status check_turn(const firn_scene *scene, const double degrees[3],
                              const firn_value *where, firn_error *error)
{
    if (scene->dimension == 3 || (degrees[0] == 0 && degrees[1] == 0)) return FIRN_OK;
    return firn_value_fail(firn_value_get(where, "rotate"), error,
                           "rotate %g %g %g leaves the plane of a 2D scene; use [0, 0, angle]",
                           degrees[0], degrees[1], degrees[2]);
}

/* ---- the kinds ---- */

static firn_status read_list(const firn_scene *scene, const firn_value *list, bool objects,
                             firn_copies *out, firn_error *error)
{
    if (list->kind != FIRN_LIST) {
        return firn_value_fail(list, error, "list must be a list, as [{translate: [0, 1, 0]}]");
    }
    firn_status st = make_copies(out, firn_value_count(list), list, error);
    firn_copy *to = out->copy;
    for (const firn_value *v = list->child; v && st == FIRN_OK; v = v->next, to++) {
        firn_scene_copy c = {0};
        st = firn_read_section(scene, &firn_section_copy, v, &c, error);
        if (st == FIRN_OK) st = check_turn(scene, c.rotate, v, error);
        to->velocity_where = firn_value_get(v, "velocity");
        to->material_where = firn_value_get(v, "material");
        to->seed_where = firn_value_get(v, "seed");
        if (st == FIRN_OK) st = check_objects(objects, to->velocity_where, "a velocity", error);
        if (st == FIRN_OK) st = check_objects(objects, to->material_where, "a material", error);
        if (st == FIRN_OK) st = check_objects(objects, to->seed_where, "a seed", error);
        memcpy(to->translate, c.translate, sizeof to->translate);
        memcpy(to->velocity, c.velocity, sizeof to->velocity);
        firn_rotation_from_degrees(c.rotate, to->turn);
        to->scale = c.scale;
        to->material = c.material;
        to->seed = c.seed;
    }
    return st;
}

static firn_status read_grid(const firn_scene *scene, const firn_value *v, firn_copies *out,
                             firn_error *error)
{
    firn_scene_grid g = {0};
    const int dim = (int)scene->dimension;
    double all = 1;
    firn_status st = firn_read_section(scene, &firn_section_grid, v, &g, error);
    for (int a = 0; a < dim && st == FIRN_OK; a++) {
        if (g.count[a] != floor(g.count[a])) {
            st = firn_value_fail(firn_value_get(v, "count"), error,
                                 "count %g along axis %d must be a whole number", g.count[a], a);
        } else if (g.count[a] > 1 && g.spacing[a] == 0) {
            const firn_value *spacing = firn_value_get(v, "spacing");
            st = firn_value_fail(spacing ? spacing : v, error,
                                 "copies would be in one place along axis %d; give a spacing, as "
                                 "spacing: [0.1, 0.1, 0.1]",
                                 a);
        }
        all *= g.count[a];
    }
    const firn_value *count = firn_value_get(v, "count");
    if (st == FIRN_OK) st = make_copies(out, all, count ? count : v, error);
    for (int32_t i = 0; i < out->count && st == FIRN_OK; i++) {
        int32_t rest = i;
        for (int a = 0; a < dim; a++) {
            const int32_t n = (int32_t)g.count[a];
            out->copy[i].translate[a] = g.center[a] + (rest % n - 0.5 * (n - 1)) * g.spacing[a];
            rest /= n;
        }
    }
    return st;
}

static firn_status read_ring(const firn_scene *scene, const firn_value *v, firn_copies *out,
                             firn_error *error)
{
    firn_scene_circle c = {0};
    firn_status st = firn_read_section(scene, &firn_section_circle, v, &c, error);
    if (st != FIRN_OK) return st;
    if (!firn_section_given(&firn_section_circle, &c, "count") ||
        !firn_section_given(&firn_section_circle, &c, "radius")) {
        return firn_value_fail(v, error,
                               "a ring needs a count and a radius, as {count: 12, "
                               "radius: 0.5}");
    }
    const bool flat = scene->dimension == 2;
    if (!firn_section_given(&firn_section_circle, &c, "up")) {
        c.up[0] = c.up[1] = c.up[2] = 0;
        c.up[flat || scene->up == 1 ? 2 : 1] = 1;
    } else if (flat) {
        return firn_value_fail(firn_value_get(v, "up"), error,
                               "a ring of a 2D scene lies in its plane; leave up out");
    }
    const double length = sqrt(c.up[0] * c.up[0] + c.up[1] * c.up[1] + c.up[2] * c.up[2]);
    if (!(length > 0)) {
        return firn_value_fail(firn_value_get(v, "up"), error, "up must not be zero");
    }
    /* From x on, or from what of x lies across the axis; where nothing does, from z. */
    double axis[3], from[3] = {1, 0, 0}, size = 0;
    for (int a = 0; a < 3; a++) axis[a] = c.up[a] / length;
    if (fabs(axis[0]) > 0.999) from[0] = 0, from[2] = 1;
    const double along = from[0] * axis[0] + from[2] * axis[2];
    for (int a = 0; a < 3; a++) {
        from[a] -= along * axis[a];
        size += from[a] * from[a];
    }
    for (int a = 0; a < 3; a++) from[a] *= c.radius / sqrt(size);
    st = make_copies(out, (double)c.count, firn_value_get(v, "count"), error);
    for (int32_t i = 0; i < out->count && st == FIRN_OK; i++) {
        double turn[4], way[3];
        firn_quaternion_exp(axis, 2 * pi * i / out->count, turn);
        firn_quaternion_rotate(turn, from, way);
        for (int a = 0; a < 3; a++) out->copy[i].translate[a] = c.center[a] + way[a];
        if (c.turn) memcpy(out->copy[i].turn, turn, sizeof turn);
    }
    return st;
}

/* The numbers of a column, NULL where the file has none; `least` to FIRN_MAX_COMPONENTS of each point. */
static firn_status find_column(const firn_points *points, const char *name, int least,
                               const firn_value *where, const firn_column **out, firn_error *error)
{
    *out = firn_points_find(points, name);
    if (!*out || ((*out)->components >= least && !(*out)->words)) return FIRN_OK;
    return firn_value_fail(where, error, "%.200s: %s must be %d number%s", where->text, name, least,
                           least > 1 ? "s" : "");
}

static double number(const firn_column *c, int64_t point, int component)
{
    return firn_type_get(c->type, c->data, point * c->components + component);
}

static firn_status place_points(const firn_scene *scene, const firn_points *points,
                                const firn_value *where, bool objects, firn_copies *out,
                                firn_error *error)
{
    const int dim = (int)scene->dimension;
    const firn_column *P, *v = NULL, *scale = NULL, *orient = NULL;
    firn_status st = find_column(points, "P", dim, where, &P, error);
    if (st == FIRN_OK && !P) {
        st = firn_value_fail(where, error, "%.200s has no positions (P)", where->text);
    }
    if (st == FIRN_OK && objects) st = find_column(points, "v", dim, where, &v, error);
    if (st == FIRN_OK) st = find_column(points, "scale", 1, where, &scale, error);
    if (st == FIRN_OK && dim == 3) st = find_column(points, "orient", 4, where, &orient, error);
    if (st == FIRN_OK) st = make_copies(out, (double)points->count, where, error);
    for (int32_t i = 0; i < out->count && st == FIRN_OK; i++) {
        firn_copy *c = &out->copy[i];
        double sum = 0;
        for (int a = 0; a < dim; a++) c->translate[a] = number(P, i, a);
        for (int a = 0; a < dim && v; a++) c->velocity[a] = number(v, i, a);
        if (v) c->velocity_where = where;
        if (scale) c->scale = number(scale, i, 0);
        for (int a = 0; a < 4 && orient; a++) { /* x, y, z, w */
            c->turn[(a + 1) % 4] = number(orient, i, a);
            sum += c->turn[(a + 1) % 4] * c->turn[(a + 1) % 4];
        }
        for (int a = 0; a < 4 && orient; a++) c->turn[a] /= sqrt(sum);
        bool fine = c->scale >= 1e-6 && c->scale <= 1e6 && (!orient || (sum > 0 && isfinite(sum)));
        for (int a = 0; a < 3; a++) fine &= isfinite(c->translate[a]) && isfinite(c->velocity[a]);
        if (!fine) {
            st = firn_value_fail(where, error,
                                 "%.200s: point %d must have finite numbers, a scale from 1e-6 to "
                                 "1e6 and an orient that is not zero",
                                 where->text, i);
        }
    }
    return st;
}

static firn_status read_points(const firn_scene *scene, const firn_value *where, bool objects,
                               firn_copies *out, firn_error *error)
{
    firn_points points = {0};
    firn_error inner = {0};
    char *path = firn_beside(where->file, where->text);
    if (!path) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    firn_status st = firn_points_read(path, &points, &inner);
    free(path);
    st = st == FIRN_OK ? place_points(scene, &points, where, objects, out, error)
                       : firn_value_pass(where, &inner, error);
    firn_points_free(&points);
    return st;
}

firn_status firn_read_mesh(const firn_scene *scene, const firn_scene_shape *shape, bool *moves,
                           firn_mesh **mesh, firn_error *error)
{
    firn_animation_def def = firn_animation_def_default();
    firn_animation *animation = NULL;
    firn_polygons polygons = {0};
    firn_error inner = {0};
    char *path = firn_beside(shape->where->file, shape->mesh.file);
    if (!path) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    def.file = path;
    def.path = shape->mesh.path;
    def.scale = shape->mesh.scale;
    def.fps = shape->mesh.fps > 0 ? shape->mesh.fps : scene->frames.fps;
    firn_status st = firn_animation_open(&def, &animation, &inner);
    if (st == FIRN_OK) {
        st = firn_animation_read(animation, firn_animation_get_info(animation).times[0], &polygons,
                                 &inner);
    }
    if (st == FIRN_OK) {
        firn_mesh_def made = firn_mesh_def_of_polygons(&polygons);
        made.thickness = shape->mesh.thickness;
        made.name = shape->mesh.file;
        st = firn_mesh_create(&made, mesh, &inner);
    }
    if (st == FIRN_OK && moves) *moves = firn_animation_get_info(animation).time_count > 1;
    firn_polygons_free(&polygons);
    firn_animation_close(animation);
    free(path);
    return st == FIRN_OK ? st : firn_value_pass(shape->where, &inner, error);
}

static firn_status fill(const firn_scene *scene, const firn_scene_inside *in,
                        const firn_scene_shape *shape, const firn_mesh *mesh, uint64_t seed,
                        firn_filling *out, firn_error *error)
{
    firn_placement own = firn_placement_default();
    memcpy(own.translate, shape->def.position, sizeof own.translate);
    static const double half[4] = {0, 0, 0, 1}; /* in the plane, for one about x */
    const bool over = scene->dimension == 2 && shape->def.rotation[1] != 0;
    firn_placement_turn(&own, over ? half : shape->def.rotation);
    firn_region region;
    firn_fill_def def = firn_fill_def_default();
    def.count = in->count;
    def.separation = in->separation;
    def.pattern = (firn_pattern)in->pattern;
    def.seed = seed;
    def.most = FIRN_MOST_COPIES;
    firn_error inner = {0};
    firn_status st =
        mesh ? firn_region_of_mesh(mesh, &own, &region, &inner)
             : firn_region_of_shape(&shape->def, (int)scene->dimension, &own, &region, &inner);
    if (st == FIRN_OK) st = firn_fill(&region, &def, out, &inner);
    return st == FIRN_OK ? st : firn_value_pass(in->shape_value, &inner, error);
}

static firn_status read_inside(const firn_scene *scene, const firn_value *v, uint64_t seed,
                               firn_copies *out, firn_error *error)
{
    firn_scene_inside in = {0};
    firn_status st = firn_read_section(scene, &firn_section_inside, v, &in, error);
    if (st != FIRN_OK) return st;
    if (!in.shape_value || (in.count > 0) == (in.separation > 0)) {
        return firn_value_fail(v, error,
                               "inside needs a shape, and either a count or a separation, as "
                               "{shape: {sphere: {radius: 1}}, count: 50}");
    }
    firn_scene_shape shape = {0};
    firn_mesh *mesh = NULL;
    firn_filling filling = {0};
    st = firn_read_shape(scene, in.shape_value, true, &shape, error);
    if (st == FIRN_OK && shape.mesh.file) st = firn_read_mesh(scene, &shape, NULL, &mesh, error);
    if (st == FIRN_OK) st = fill(scene, &in, &shape, mesh, seed, &filling, error);
    if (st == FIRN_OK) st = make_copies(out, (double)filling.count, in.shape_value, error);
    for (int32_t i = 0; i < out->count && st == FIRN_OK; i++) {
        memcpy(out->copy[i].translate, &filling.position[3 * (ptrdiff_t)i],
               sizeof out->copy[i].translate);
    }
    firn_filling_free(&filling);
    firn_mesh_destroy(mesh);
    firn_scene_shape_free(&shape);
    return st;
}

/* ---- chance ---- */

enum { DRAW_TRANSLATE, DRAW_ROTATE = 3, DRAW_VELOCITY = 6, DRAW_SCALE = 9, DRAW_MATERIAL };

/* In [-1, 1). */
static double chance(uint64_t seed, int32_t copy, int draw)
{
    return 2 * firn_unit(firn_random_bits(seed, copy, 0, 0, (uint64_t)draw)) - 1;
}

static firn_status add_jitter(const firn_scene *scene, const firn_value *v, bool objects,
                              uint64_t seed, firn_copies *out, firn_error *error)
{
    firn_scene_jitter j = {0};
    firn_status st = firn_read_section(scene, &firn_section_jitter, v, &j, error);
    if (st == FIRN_OK) st = check_turn(scene, j.rotate, v, error);
    if (st == FIRN_OK) {
        st = check_objects(objects, firn_value_get(v, "velocity"), "a velocity", error);
    }
    for (int32_t i = 0; i < out->count && st == FIRN_OK; i++) {
        firn_copy *c = &out->copy[i];
        double degrees[3], turn[4];
        for (int a = 0; a < 3; a++) {
            c->translate[a] += j.translate[a] * chance(seed, i, DRAW_TRANSLATE + a);
            degrees[a] = j.rotate[a] * chance(seed, i, DRAW_ROTATE + a);
            c->more[a] = j.velocity[a] * chance(seed, i, DRAW_VELOCITY + a);
        }
        firn_rotation_from_degrees(degrees, turn);
        firn_quaternion_multiply(c->turn, turn, c->turn);
        c->scale *= 1 + j.scale * chance(seed, i, DRAW_SCALE);
    }
    return st;
}

static firn_status choose_materials(const firn_value *list, bool objects, uint64_t seed,
                                    firn_copies *out, firn_error *error)
{
    const firn_status st = check_objects(objects, list, "materials", error);
    if (st != FIRN_OK) return st;
    const int n = list->kind == FIRN_LIST ? firn_value_count(list) : 0;
    for (const firn_value *v = list->child; v; v = v->next) {
        if (n > 0 && v->kind != FIRN_SCALAR) {
            return firn_value_fail(v, error, "materials must be names, as [red, blue]");
        }
    }
    if (n == 0) return firn_value_fail(list, error, "materials must be a list, as [red, blue]");
    for (int32_t i = 0; i < out->count; i++) {
        const firn_value *v = list->child;
        for (int k = (int)(0.5 * n * (1 + chance(seed, i, DRAW_MATERIAL))); k > 0; k--) v = v->next;
        out->copy[i].material = v->text;
        out->copy[i].material_where = v;
    }
    return FIRN_OK;
}

/* ---- all ---- */

firn_status firn_copies_read(const firn_scene *scene, const firn_value *v, bool objects,
                             firn_copies *out, firn_error *error)
{
    *out = (firn_copies){0};
    if (!v) return make_copies(out, 1, NULL, error);
    firn_scene_instances n = {0};
    firn_status st = firn_read_section(scene, &firn_section_instances, v, &n, error);
    if (st != FIRN_OK) return st;
    const int given = (n.list != NULL) + (n.grid != NULL) + (n.ring != NULL) + (n.points != NULL) +
                      (n.inside != NULL);
    if (given != 1) {
        return firn_value_fail(v, error, "instances need one of %s; these have %s", kinds,
                               given ? "several" : "none");
    }
    const uint64_t seed = (uint64_t)scene->seed * 0x9e3779b97f4a7c15u + (uint64_t)n.seed;
    st = n.list     ? read_list(scene, n.list, objects, out, error)
         : n.grid   ? read_grid(scene, n.grid, out, error)
         : n.ring   ? read_ring(scene, n.ring, out, error)
         : n.points ? read_points(scene, firn_value_get(v, "points"), objects, out, error)
                    : read_inside(scene, n.inside, seed, out, error);
    if (st == FIRN_OK && n.jitter) st = add_jitter(scene, n.jitter, objects, seed, out, error);
    if (st == FIRN_OK && n.materials) st = choose_materials(n.materials, objects, seed, out, error);
    if (st != FIRN_OK) firn_copies_free(out);
    return st;
}

void firn_copies_free(firn_copies *copies)
{
    free(copies->copy);
    *copies = (firn_copies){0};
}
