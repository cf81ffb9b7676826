/* What is odd about a scene and the files of its meshes: nothing that stops a run, but rarely what was meant. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "run/prop.h"

/* A warning at a key of the mesh, or at the mesh if that has no such key. */
__attribute__((format(printf, 4, 5))) static void warn(const firn_log *log, const firn_value *map,
                                                       const char *key, const char *format, ...)
{
    if (!log->write) return;
    const firn_value *at = firn_value_get(map, key);
    char text[FIRN_LOCATION_SIZE + 400], place[FIRN_LOCATION_SIZE], said[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(said, sizeof said, format, arguments);
    va_end(arguments);
    snprintf(text, sizeof text, "%s: %s", firn_value_location(at ? at : map, place), said);
    log->write(log->user_data, FIRN_LOG_WARNING, "warning", text);
}

/* Numbers between the first and the last for which there is no file. Files may be every second or every
 * tenth: the smallest step is meant. */
static void doubt_holes(const firn_prop *p, double fps, const firn_log *log)
{
    const firn_animation_info info = firn_animation_get_info(p->animation);
    int64_t step = INT64_MAX, missing = 0, from = 0, to = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t i = 1; i < info.time_count; i++) {
            const int64_t before = llround(info.times[i - 1] * fps),
                          gap = llround(info.times[i] * fps) - before;
            if (pass == 0 && gap > 0 && gap < step) step = gap;
            if (pass == 0 || gap <= step) continue;
            if (missing == 0) {
                from = before;
                to = before + gap;
            }
            missing += (gap - 1) / step;
        }
    }
    if (missing == 0) return;
    warn(log, p->shape->where, "file",
         "%s has no file between %lld and %lld, %lld missing in all; %s", p->shape->mesh.file,
         (long long)from, (long long)to, (long long)missing,
         info.remade ? "the one before holds" : "vertices go straight to the next");
}

/* The file's time runs along with the scene's; outside of its samples the mesh stands still. */
static void doubt_times(const firn_prop *p, const firn_scene *scene, const firn_log *log)
{
    const firn_animation_info info = firn_animation_get_info(p->animation);
    const firn_scene_mesh *m = &p->shape->mesh;
    const double first = info.times[0], last = info.times[info.time_count - 1];
    const double slack = 0.5 / scene->frames.fps;
    const double span = (double)(scene->frames.end - scene->frames.start) / scene->frames.fps;
    const double end = p->first + m->speed * span;
    const bool given = firn_section_given(&firn_section_mesh, p->shape, "start");
    if (m->loop || info.time_count < 2) return;
    if (p->first > last - slack) {
        warn(log, p->shape->where, "start",
             "%s ends at %.6g s and the scene begins at %.6g s of it: it stands still", m->file,
             last, p->first);
    } else if (end < first + slack) {
        warn(log, p->shape->where, "start",
             "%s begins at %.6g s and the scene ends at %.6g s of it: it stands still", m->file,
             first, end);
    } else if (given && p->first < first - slack) {
        warn(log, p->shape->where, "start",
             "%s begins at %.6g s, after start %.6g s: it stands still until then", m->file, first,
             p->first);
    }
}

void firn_prop_doubt(const firn_prop *p, const firn_scene *scene, const firn_log *log)
{
    if (!p->shape || !log->write) return;
    const firn_scene_mesh *m = &p->shape->mesh;
    const bool numbered = strstr(m->file, "$F") != NULL;
    if (firn_section_given(&firn_section_mesh, p->shape, "fps") && !numbered) {
        const size_t length = strlen(m->file);
        const bool alembic = length > 4 && strcmp(m->file + length - 4, ".abc") == 0;
        warn(log, p->shape->where, "fps", "fps has no effect: %s",
             alembic ? "an Alembic file has the times of its samples; change speed instead"
                     : "it is for numbered files, as walk.$F4.obj");
    }
    if (numbered) doubt_holes(p, m->fps > 0 ? m->fps : scene->frames.fps, log);
    doubt_times(p, scene, log);
}

void firn_prop_doubt_inherit(const firn_prop *p, const firn_scene_object *object,
                             const firn_log *log)
{
    if (!p->shape || object->inherit == 0 || firn_prop_moves(p)) return;
    warn(log, object->where, "inherit", "inherit has no effect: %s stands still",
         p->shape->mesh.file);
}

/* Whether particles may pass through the collider where it is thinnest. */
static bool is_thin(const firn_scene *scene, const firn_scene_collider *c)
{
    const double thinnest = c->shape.heights.thinnest;
    return thinnest > 0 && thinnest < 2 * fmax(c->def.voxel, scene->cell_size);
}

void firn_doubt_thin(const firn_scene *scene, const firn_log *log)
{
    for (int32_t i = 0; i < scene->collider_count; i++) {
        const firn_scene_collider *c = &scene->collider[i];
        if (!is_thin(scene, c)) continue;
        if (i > 0 && c->where == c[-1].where && is_thin(scene, c - 1)) continue; /* a copy */
        warn(log, c->shape.where, "base",
             "the solid is %.3g m thick at its thinnest, less than two %s of %.3g m: material can "
             "pass through it; give it a larger base, or none",
             c->shape.heights.thinnest, c->def.voxel > scene->cell_size ? "voxels" : "cells",
             fmax(c->def.voxel, scene->cell_size));
    }
}

void firn_doubt_emitters(const firn_scene *scene, const firn_log *log)
{
    const double span = (double)(scene->frames.end - scene->frames.start) / scene->frames.fps;
    for (int32_t i = 0; i < scene->object_count; i++) {
        const firn_scene_object *o = &scene->object[i];
        const bool copy = i > 0 && o->where == o[-1].where;
        if (!o->emits || o->emit.start < span || copy) continue;
        warn(log, o->emit_value, "start",
             "start %.6g s is after the last frame, at %.6g s: nothing enters", o->emit.start,
             span);
    }
}

void firn_doubt_ignored(const firn_scene *scene, firn_pressure pressure, const firn_log *log)
{
    static const char *const projected_only[] = {"crossing", "shear", NULL};
    const bool projected = pressure == FIRN_PRESSURE_PROJECTION;
    for (int32_t i = 0; i < scene->collider_count; i++) {
        const firn_scene_collider *c = &scene->collider[i];
        if (i > 0 && c->where == c[-1].where) continue; /* a copy */
        const bool rubs = c->def.friction > 0 || c->def.friction_keys.count > 0;
        if (projected && firn_value_get(c->where, "friction") && rubs) {
            warn(log, c->where, "friction",
                 "friction has no effect with pressure: projection: material slides freely; "
                 "boundary: sticky holds it");
        }
        if (!projected && firn_value_get(c->where, "contact_angle")) {
            warn(log, c->where, "contact_angle",
                 "contact_angle has no effect without pressure: projection");
        }
    }
    for (int k = 0; !projected && projected_only[k]; k++) {
        if (!firn_value_get(scene->simulation_value, projected_only[k])) continue;
        warn(log, scene->simulation_value, projected_only[k],
             "%s has no effect without pressure: projection", projected_only[k]);
    }
}
