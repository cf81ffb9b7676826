/* Meshes from files that move: which part of its motion a prop is in, and handing the parts to a sim.
 *
 * A part goes from one sample of the file to the next. It depends on nothing but its number, so a run that
 * resumes in the middle of one gives the sim the same numbers as the run before. */
#include "run/prop.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <firn/host.h>

#include "base/error.h"
#include "base/parallel.h"
#include "run/job.h"

static const double SLACK = 1e-7; /* s: samples are further apart, and times are rounded */

static const firn_value *where_of(const firn_prop *p)
{
    return firn_value_get(p->shape->where, "file");
}

/* ---- one ---- */

firn_status firn_prop_open(firn_prop *p, const firn_scene *scene, const firn_scene_shape *shape,
                           firn_error *error)
{
    *p = (firn_prop){0};
    if (!shape->mesh.file) return FIRN_OK;
    firn_animation_def def = firn_animation_def_default();
    char *file = firn_beside(shape->where->file, shape->mesh.file);
    if (!file) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    def.file = file;
    def.path = shape->mesh.path;
    def.scale = shape->mesh.scale;
    def.fps = shape->mesh.fps > 0 ? shape->mesh.fps : scene->frames.fps;
    firn_error inner = {0};
    const firn_status st = firn_animation_open(&def, &p->animation, &inner);
    free(file);
    if (st != FIRN_OK) {
        return firn_value_pass(firn_value_get(shape->where, "file"), &inner, error);
    }
    p->shape = shape;
    const bool given = firn_section_given(&firn_section_mesh, shape, "start");
    p->first = given ? shape->mesh.start : (double)scene->frames.start / scene->frames.fps;
    return FIRN_OK;
}

void firn_prop_close(firn_prop *p)
{
    firn_animation_close(p->animation);
    *p = (firn_prop){0};
}

bool firn_prop_moves(const firn_prop *p)
{
    return p->shape && firn_animation_get_info(p->animation).time_count > 1;
}

/* Times of the file less whole rounds, which *rounds receives in seconds. */
static double unrolled(const firn_prop *p, double time, double *rounds)
{
    const firn_animation_info info = firn_animation_get_info(p->animation);
    const double first = info.times[0], span = info.times[info.time_count - 1] - first;
    const double file = p->first + p->shape->mesh.speed * time;
    *rounds = 0;
    if (p->shape->mesh.loop && span > 0) *rounds = floor((file - first + SLACK) / span) * span;
    return file - *rounds;
}

double firn_prop_file_time(const firn_prop *p, double time)
{
    double rounds;
    return unrolled(p, time, &rounds);
}

firn_prop_part firn_prop_part_at(const firn_prop *p, double time)
{
    const firn_animation_info info = firn_animation_get_info(p->animation);
    const int64_t last = info.time_count - 1;
    double rounds;
    const double file = unrolled(p, time, &rounds);
    int64_t low = -1, high = last + 1; /* times[low] <= file < times[high] */
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (info.times[middle] <= file + SLACK)
            low = middle;
        else
            high = middle;
    }
    const int64_t from = low < 0 ? 0 : low, to = high > last ? last : high;
    const double speed = p->shape->mesh.speed;
    return (firn_prop_part){
        .begin = low < 0 ? -INFINITY : (info.times[from] + rounds - p->first) / speed,
        .end = high > last ? INFINITY : (info.times[to] + rounds - p->first) / speed,
        .file_begin = info.times[from],
        .file_end = info.times[to]};
}

firn_status firn_prop_read(const firn_prop *p, double file_time, firn_polygons *out,
                           firn_error *error)
{
    firn_error inner = {0};
    const firn_status st = firn_animation_read(p->animation, file_time, out, &inner);
    return st == FIRN_OK ? st : firn_value_pass(where_of(p), &inner, error);
}

firn_status firn_prop_mesh(const firn_prop *p, const firn_polygons *polygons, int32_t threads,
                           firn_mesh **mesh, firn_error *error)
{
    firn_mesh_def def = firn_mesh_def_of_polygons(polygons);
    def.thickness = p->shape->mesh.thickness;
    def.name = p->shape->mesh.file;
    def.threads = threads ? threads : firn_parallel_max_threads();
    firn_error inner = {0};
    const firn_status st = firn_mesh_create(&def, mesh, &inner);
    return st == FIRN_OK ? st : firn_value_pass(where_of(p), &inner, error);
}

firn_status firn_prop_next(const firn_prop *p, const firn_prop_part *part, const firn_polygons *at,
                           double **vertices, firn_error *error)
{
    firn_polygons next = {0};
    *vertices = NULL;
    const bool remade = firn_animation_get_info(p->animation).remade;
    firn_status st = remade ? FIRN_OK : firn_prop_read(p, part->file_end, &next, error);
    if (st == FIRN_OK && !remade && firn_polygons_alike(at, &next)) {
        *vertices = next.vertex;
        next.vertex = NULL;
    } else if (st == FIRN_OK) {
        const int64_t count = 3 * at->vertex_count;
        const double seconds = part->file_end - part->file_begin;
        *vertices = malloc(((size_t)count + 1) * sizeof **vertices);
        if (!*vertices) st = firn_fail(error, FIRN_NO_MEMORY, "out of memory");
        for (int64_t i = 0; *vertices && i < count; i++) {
            (*vertices)[i] = at->vertex[i] + (at->velocity ? seconds * at->velocity[i] : 0);
        }
    }
    firn_polygons_free(&next);
    return st;
}

/* ---- those of a scene ---- */

static void close_slot(firn_prop_slot *s)
{
    firn_mesh_destroy(s->mesh);
    firn_polygons_free(&s->polygons);
    firn_prop_close(&s->prop);
    *s = (firn_prop_slot){0};
}

/* What the sim refused: at the field that it names, or at the file. */
static firn_status refuse(const firn_props *props, const firn_prop_slot *s, const firn_error *inner,
                          firn_error *error)
{
    return inner->path[0] ? firn_scene_refuse(props->scene, inner, error)
                          : firn_value_pass(where_of(&s->prop), inner, error);
}

/* Makes the mesh of a slot that of a time of its file, in the sim too unless that is NULL. Failure changes
 * nothing. */
static firn_status make_mesh(const firn_props *props, firn_prop_slot *s, double file_time,
                             firn_sim *sim, firn_error *error)
{
    firn_polygons polygons = {0};
    firn_mesh *mesh = NULL;
    firn_status st = firn_prop_read(&s->prop, file_time, &polygons, error);
    if (st == FIRN_OK) st = firn_prop_mesh(&s->prop, &polygons, props->threads, &mesh, error);
    if (st == FIRN_OK && sim) {
        firn_error inner = {0};
        st = firn_sim_set_mesh(sim, (int32_t)(s - props->collider), mesh, &inner);
        if (st != FIRN_OK) st = refuse(props, s, &inner, error);
    }
    if (st != FIRN_OK) {
        firn_mesh_destroy(mesh);
        firn_polygons_free(&polygons);
        return st;
    }
    firn_mesh_destroy(s->mesh);
    firn_polygons_free(&s->polygons);
    s->mesh = mesh;
    s->polygons = polygons;
    return FIRN_OK;
}

/* A time of the file at which something of the slot is visible: this one or, if nothing is, that of the
 * first such sample. */
static firn_status find_visible(firn_prop_slot *s, double *file_time, firn_error *error)
{
    const firn_animation_info info = firn_animation_get_info(s->prop.animation);
    for (int64_t i = -1; i < info.time_count; i++) {
        const double time = i < 0 ? *file_time : info.times[i];
        firn_polygons polygons;
        const firn_status st = firn_prop_read(&s->prop, time, &polygons, error);
        if (st != FIRN_OK) return st;
        const bool visible = polygons.vertex_count > 0;
        firn_polygons_free(&polygons);
        s->hidden = i < 0 && !visible ? true : s->hidden;
        *file_time = time;
        if (visible) return FIRN_OK;
    }
    return firn_value_fail(where_of(&s->prop), error, "nothing of it is ever visible");
}

static firn_status open_slot(const firn_props *props, firn_prop_slot *s,
                             const firn_scene_shape *shape, double time, firn_error *error)
{
    firn_status st = firn_prop_open(&s->prop, props->scene, shape, error);
    s->end = firn_prop_moves(&s->prop) ? -INFINITY : INFINITY;
    if (st != FIRN_OK || !s->prop.shape) return st;
    double file_time = firn_prop_file_time(&s->prop, time);
    if (!firn_animation_get_info(s->prop.animation).constant) {
        st = find_visible(s, &file_time, error);
    }
    return st == FIRN_OK ? make_mesh(props, s, file_time, NULL, error) : st;
}

firn_status firn_props_open(firn_props *props, const firn_scene *scene, double time,
                            int32_t threads, firn_error *error)
{
    *props = (firn_props){.scene = scene, .threads = threads};
    props->collider = calloc((size_t)scene->collider_count + 1, sizeof *props->collider);
    props->source = calloc((size_t)scene->heat.source_count + 1, sizeof *props->source);
    firn_status st = props->collider && props->source
                         ? FIRN_OK
                         : firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    for (int32_t i = 0; i < scene->collider_count && st == FIRN_OK; i++) {
        st = open_slot(props, &props->collider[i], &scene->collider[i].shape, time, error);
    }
    for (int32_t i = 0; i < scene->heat.source_count && st == FIRN_OK; i++) {
        firn_prop_slot *s = &props->source[i];
        st = open_slot(props, s, &scene->heat.source[i].body.shape, time, error);
        if (st == FIRN_OK && firn_prop_moves(&s->prop)) {
            st = firn_value_fail(where_of(&s->prop), error,
                                 "the mesh of a source of heat cannot change; move it by keys");
        }
    }
    return st;
}

void firn_props_close(firn_props *props)
{
    for (int32_t i = 0; props->collider && i < props->scene->collider_count; i++) {
        close_slot(&props->collider[i]);
    }
    for (int32_t i = 0; props->source && i < props->scene->heat.source_count; i++) {
        close_slot(&props->source[i]);
    }
    free(props->collider);
    free(props->source);
    *props = (firn_props){0};
}

firn_collider_def firn_props_collider(const firn_props *props, int32_t index)
{
    firn_collider_def def = firn_job_collider(&props->scene->collider[index]);
    if (props->collider[index].mesh) def.mesh = props->collider[index].mesh;
    return def;
}

firn_collider_def firn_props_source(const firn_props *props, int32_t index)
{
    firn_collider_def def = firn_job_collider(&props->scene->heat.source[index].body);
    if (props->source[index].mesh) def.mesh = props->source[index].mesh;
    return def;
}

double firn_props_next(const firn_props *props)
{
    double next = INFINITY;
    for (int32_t i = 0; i < props->scene->collider_count; i++) {
        next = fmin(next, props->collider[i].end);
    }
    return next;
}

/* Gives the sim a part of a collider's motion, and another mesh where the faces are others. */
static firn_status begin_part(const firn_props *props, firn_sim *sim, int32_t index,
                              const firn_prop_part *part, firn_error *error)
{
    firn_prop_slot *s = &props->collider[index];
    firn_polygons at = {0};
    double *to = NULL;
    firn_status st = firn_prop_read(&s->prop, part->file_begin, &at, error);
    if (st != FIRN_OK) return st;
    if (at.vertex_count == 0) { /* hidden: what comes next gets a mesh of its own */
        firn_polygons_free(&at);
        firn_polygons_free(&s->polygons);
        return firn_sim_set_mesh(sim, index, NULL, error);
    }
    if (!firn_polygons_alike(&at, &s->polygons)) {
        st = make_mesh(props, s, part->file_begin, sim, error);
    }
    if (st == FIRN_OK) st = firn_prop_next(&s->prop, part, &at, &to, error);
    if (st == FIRN_OK) {
        const firn_mesh_motion motion = {.from = at.vertex,
                                         .to = to,
                                         .begin = part->begin,
                                         .end = isinf(part->end) ? part->begin + 1 : part->end};
        firn_error inner = {0};
        st = firn_sim_deform_collider(sim, index, &motion, &inner);
        if (st != FIRN_OK) st = refuse(props, s, &inner, error);
    }
    free(to);
    firn_polygons_free(&at);
    return st;
}

firn_status firn_props_move(firn_props *props, firn_sim *sim, firn_error *error)
{
    const double now = firn_sim_time(sim);
    firn_status st = FIRN_OK;
    for (int32_t i = 0; i < props->scene->collider_count && st == FIRN_OK; i++) {
        firn_prop_slot *s = &props->collider[i];
        if (!firn_prop_moves(&s->prop)) continue;
        if (s->end > now + SLACK / s->prop.shape->mesh.speed) continue;
        const firn_prop_part part = firn_prop_part_at(&s->prop, now);
        s->end = part.end;
        /* One that begins by standing still needs no motion. */
        const bool still = part.file_begin == part.file_end;
        if (still && !s->hidden && part.begin == firn_prop_part_at(&s->prop, 0).begin) continue;
        st = begin_part(props, sim, i, &part, error);
    }
    return st;
}

/* The mesh that a run had when it came to a time: of the first part with the same faces since the start. */
static firn_status find_mesh(const firn_props *props, firn_sim *sim, int32_t index,
                             firn_error *error)
{
    firn_prop_slot *s = &props->collider[index];
    const double start = firn_prop_part_at(&s->prop, 0).begin;
    firn_prop_part part = firn_prop_part_at(&s->prop, firn_sim_time(sim)), first = part;
    firn_polygons now = {0};
    firn_status st = firn_prop_read(&s->prop, part.file_begin, &now, error);
    bool alike = true; /* also where nothing is visible */
    while (st == FIRN_OK && alike && now.vertex_count > 0 && first.begin > start) {
        firn_polygons before = {0};
        part = firn_prop_part_at(&s->prop, first.begin - 10 * SLACK / s->prop.shape->mesh.speed);
        st = firn_prop_read(&s->prop, part.file_begin, &before, error);
        alike = st == FIRN_OK && firn_polygons_alike(&before, &now);
        if (alike) first = part;
        firn_polygons_free(&before);
    }
    firn_polygons_free(&now);
    if (st != FIRN_OK || alike) return st; /* the one that it began with */
    return make_mesh(props, s, first.file_begin, sim, error);
}

firn_status firn_props_resume(firn_props *props, firn_sim *sim, firn_error *error)
{
    firn_status st = FIRN_OK;
    for (int32_t i = 0; i < props->scene->collider_count && st == FIRN_OK; i++) {
        firn_prop_slot *s = &props->collider[i];
        if (!firn_prop_moves(&s->prop)) continue;
        s->end = -INFINITY;
        if (!firn_animation_get_info(s->prop.animation).constant) {
            st = find_mesh(props, sim, i, error);
        }
    }
    return st == FIRN_OK ? firn_props_move(props, sim, error) : st;
}
