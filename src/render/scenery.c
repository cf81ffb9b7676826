/* Colliders in the picture: found by walking along the ray by the distance to them; closed meshes by their
 * triangles. */
#include <stdlib.h>

#include "base/error.h"
#include "mesh/mesh.h"
#include "render/world.h"

/* A point of the picture's frame (voxels, y up) in the colliders' (m), and back for directions. */
static void to_world(const firn_render_world *w, vec3 p, double out[3])
{
    const double r[3] = {w->cloud.origin[0] + w->cloud.voxel * (double)p.x,
                         w->cloud.origin[1] + w->cloud.voxel * (double)p.y,
                         w->cloud.origin[2] + w->cloud.voxel * (double)p.z};
    out[0] = r[0];
    out[1] = w->up == 1 ? r[1] : -r[2];
    out[2] = w->up == 1 ? r[2] : r[1];
}

static vec3 direction_of(const firn_render_world *w, const double v[3])
{
    return v3((float)v[0], (float)v[w->up], w->up == 1 ? (float)v[2] : -(float)v[1]);
}

vec3 firn_render_world_point(const firn_render_world *w, const double p[3])
{
    const double y_up[3] = {p[0], p[w->up], w->up == 1 ? p[2] : -p[1]};
    return v3((float)((y_up[0] - w->cloud.origin[0]) / w->cloud.voxel),
              (float)((y_up[1] - w->cloud.origin[1]) / w->cloud.voxel),
              (float)((y_up[2] - w->cloud.origin[2]) / w->cloud.voxel));
}

static float distance(const firn_render_world *w, const firn_scenery *s, vec3 p, vec3 *normal)
{
    double at[3], n[3];
    to_world(w, p, at);
    const double d = firn_collider_distance(s->pose, 3, at, n);
    *normal = direction_of(w, n);
    return (float)(d / w->cloud.voxel);
}

/* The ball around a shape's origin that holds it. INFINITY: it has no end. */
static float bound_of(const firn_posed_collider *pose, double voxel)
{
    if (!(pose->shape->bounded & FIRN_3D)) return INFINITY;
    double low[3], high[3], square = 0;
    pose->shape->bounds(&pose->values, low, high);
    for (int a = 0; a < 3; a++) square += pow(fmax(-low[a], high[a]), 2);
    return (float)(1.01 * sqrt(square) / voxel);
}

firn_status firn_scenery_create(firn_render_world *w, const firn_render_input *input,
                                firn_error *error)
{
    w->scenery = calloc((size_t)input->collider_count + 1, sizeof *w->scenery);
    if (!w->scenery) return firn_fail(error, FIRN_NO_MEMORY, "out of memory for colliders");
    for (int32_t i = 0; i < input->collider_count; i++) {
        const firn_render_collider *c = &input->collider[i];
        firn_scenery s = {.pose = &c->pose, .color = v3_of(c->color)};
        vec3 normal;
        if (distance(w, &s, w->eye, &normal) < 0) continue; /* we look from inside of it */
        s.center = firn_render_world_point(w, c->pose.position);
        s.plane = c->pose.shape->half_space;
        s.convex = c->pose.shape->convex;
        if (c->pose.values.mesh && c->pose.shape == firn_shape_get(FIRN_MESH) &&
            c->pose.values.mesh->thickness == 0) {
            s.mesh = c->pose.values.mesh;
        }
        if (s.plane) {
            const double n[3] = {c->pose.rotation[0][1], c->pose.rotation[1][1],
                                 c->pose.rotation[2][1]};
            s.normal = direction_of(w, n);
            if (s.normal.y > 0.9999f && !w->sky.has_ground) {
                w->sky.has_ground = true;
                w->sky.ground_y = s.center.y;
                w->sky.ground = s.color;
                continue;
            }
        } else {
            s.radius = bound_of(&c->pose, w->cloud.voxel);
        }
        w->scenery[w->scenery_count++] = s;
    }
    return FIRN_OK;
}

/* Where the ray is in the ball around a shape. */
static bool enter_bound(const firn_scenery *s, firn_ray ray, float *from, float *to)
{
    if (s->radius == INFINITY) return true;
    const vec3 away = v3_sub(s->center, ray.origin);
    const float along = v3_dot(away, ray.direction);
    const float in = s->radius * s->radius - (v3_dot(away, away) - along * along);
    if (in <= 0) return false;
    *from = f_max(*from, along - sqrtf(in));
    *to = f_min(*to, along + sqrtf(in));
    return *from < *to;
}

/* Whether a ray meets a mesh between from and *to, where *to then is. */
static bool meet_mesh(const firn_render_world *w, const firn_scenery *s, firn_ray ray, float from,
                      float *to, vec3 *normal)
{
    const firn_posed_collider *c = s->pose;
    double ends[2][3], origin[3], direction[3], at;
    to_world(w, v3_along(ray.origin, ray.direction, from), ends[0]);
    to_world(w, v3_along(ray.origin, ray.direction, from + 1), ends[1]);
    for (int a = 0; a < 3; a++) {
        origin[a] = direction[a] = 0;
        for (int b = 0; b < 3; b++) {
            origin[a] += c->rotation[b][a] * (ends[0][b] - c->position[b]);
            direction[a] += c->rotation[b][a] * (ends[1][b] - ends[0][b]);
        }
    }
    if (firn_mesh_ray(s->mesh, origin, direction, (double)(*to - from), &at) < 0) return false;
    *to = from + (float)at;
    distance(w, s, v3_along(ray.origin, ray.direction, *to), normal);
    return true;
}

int32_t firn_scenery_trace(const firn_render_world *w, firn_ray ray, float to, float *t,
                           vec3 *normal)
{
    int32_t found = -1;
    for (int32_t i = 0; i < w->scenery_count; i++) {
        const firn_scenery *s = &w->scenery[i];
        if (s->plane) {
            const float down = v3_dot(ray.direction, s->normal);
            const float at = v3_dot(v3_sub(s->center, ray.origin), s->normal) / down;
            if (down < -1e-6f && at > 0 && at < to) {
                *t = to = at;
                *normal = s->normal;
                found = i;
            }
            continue;
        }
        float at = 0, end = to;
        if (!enter_bound(s, ray, &at, &end)) continue;
        if (s->mesh) {
            if (!meet_mesh(w, s, ray, at, &end, normal)) continue;
            *t = to = end;
            found = i;
            continue;
        }
        for (int step = 0; step < 128 && at < end; step++) {
            vec3 n;
            const float d = distance(w, s, v3_along(ray.origin, ray.direction, at), &n);
            if (d < 0.01f + 2e-4f * at * w->pixel) {
                *t = to = at;
                *normal = n;
                found = i;
                break;
            }
            /* All of a convex shape is behind the plane at its nearest point: the ray goes on to that,
             * or has passed. By distance alone, rays along a face would take hundreds of steps. */
            const float towards = -v3_dot(n, ray.direction);
            if (s->convex && towards <= 0) break;
            at += s->convex ? d / towards : d;
        }
    }
    return found;
}

float firn_scenery_open(const firn_render_world *w, vec3 point, vec3 normal, int32_t self)
{
    float open = 1;
    for (int32_t i = 0; i < w->scenery_count; i++) {
        const firn_scenery *s = &w->scenery[i];
        if (i == self) continue;
        /* A step of h up should leave a distance of about h more. */
        for (float h = 2; h < 40; h *= 2.2f) {
            vec3 n;
            const vec3 p = v3_along(point, normal, h);
            if (v3_length(v3_sub(p, s->center)) > s->radius + 2 * h && !s->plane) continue;
            const float d = distance(w, s, p, &n);
            open = f_min(open, f_clamp(0.35f + 0.65f * d / h, 0, 1));
        }
    }
    return open;
}
