/* Colliders in the picture: found by walking along the ray by the distance to them; closed meshes by their
 * triangles.
 *
 * The inside of a box that we look into from outside is a room: its floor, the sides that face us as faint
 * panes, and its edges. The near sides and the top are left out, or they would hide what it holds. It takes
 * no light from anything. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* Of what a collider's cut leaves of it. */
static float distance(const firn_render_world *w, const firn_scenery *s, vec3 p, vec3 *normal)
{
    double at[3], n[3];
    to_world(w, p, at);
    double d = firn_collider_distance(s->pose, 3, at, n);
    if (s->cut) {
        double above = 0;
        for (int a = 0; a < 3; a++) above += s->cut->normal[a] * (at[a] - s->cut->point[a]);
        if (above > d) {
            d = above;
            memcpy(n, s->cut->normal, sizeof n);
        }
    }
    *normal = direction_of(w, n);
    return (float)(d / w->cloud.voxel);
}

/* The ball around a shape's origin that holds it. INFINITY: it has no end. */
static float bound_of(const firn_posed_collider *pose, double voxel)
{
    if (!firn_shape_ends(pose->shape, &pose->values)) return INFINITY;
    double low[3], high[3], square = 0;
    pose->shape->bounds(&pose->values, low, high);
    for (int a = 0; a < 3; a++) square += pow(fmax(-low[a], high[a]), 2);
    return (float)(1.01 * sqrt(square) / voxel);
}

static const float STEP_PAST = 0.05f; /* voxels, out of what is see-through */

firn_status firn_scenery_create(firn_render_world *w, const firn_render_input *input,
                                firn_error *error)
{
    w->scenery = calloc((size_t)input->collider_count + 1, sizeof *w->scenery);
    if (!w->scenery) return firn_fail(error, FIRN_NO_MEMORY, "out of memory for colliders");
    for (int32_t i = 0; i < input->collider_count; i++) {
        const firn_render_collider *c = &input->collider[i];
        firn_scenery s = {.pose = &c->pose,
                          .color = v3_of(c->color),
                          .opacity = (float)c->opacity,
                          .cut = c->cut};
        vec3 normal;
        s.room = c->pose.shape == firn_shape_get(FIRN_INSIDE);
        if (distance(w, &s, w->eye, &normal) < 0) {
            if (!s.room) continue; /* we look from inside of it */
        } else {
            s.room = false;
        }
        s.clear = s.room || s.opacity < 1;
        s.center = firn_render_world_point(w, c->pose.position);
        s.plane = c->pose.shape->half_space && !s.cut;
        s.convex = c->pose.shape->convex;
        s.joined = c->pose.shape == firn_shape_get(FIRN_COMPOUND);
        if (c->pose.values.mesh && c->pose.shape == firn_shape_get(FIRN_MESH) &&
            c->pose.values.mesh->thickness == 0 && !s.cut) {
            s.mesh = c->pose.values.mesh;
        }
        if (s.plane) {
            const double n[3] = {c->pose.rotation[0][1], c->pose.rotation[1][1],
                                 c->pose.rotation[2][1]};
            s.normal = direction_of(w, n);
            if (s.normal.y > 0.9999f && !w->sky.has_ground && !s.clear) {
                w->sky.has_ground = true;
                w->sky.ground_y = s.center.y;
                w->sky.ground = s.color;
                continue;
            }
        } else {
            s.radius = bound_of(&c->pose, w->cloud.voxel);
        }
        w->has_clear |= s.clear && !s.room;
        w->has_room |= s.room;
        w->scenery[w->scenery_count++] = s;
    }
    return firn_scenery_tree_create(w->scenery, w->scenery_count, &w->tree, error);
}

void firn_scenery_free(firn_render_world *w)
{
    firn_scenery_tree_destroy(w->tree);
    free(w->scenery);
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

/* A ray from `from` on in a collider's own frame, m and m per voxel. */
static void to_local(const firn_render_world *w, const firn_posed_collider *c, firn_ray ray,
                     float from, double origin[3], double direction[3])
{
    double ends[2][3];
    to_world(w, v3_along(ray.origin, ray.direction, from), ends[0]);
    to_world(w, v3_along(ray.origin, ray.direction, from + 1), ends[1]);
    for (int a = 0; a < 3; a++) {
        origin[a] = direction[a] = 0;
        for (int b = 0; b < 3; b++) {
            origin[a] += c->rotation[b][a] * (ends[0][b] - c->position[b]);
            direction[a] += c->rotation[b][a] * (ends[1][b] - ends[0][b]);
        }
    }
}

/* Whether a ray meets a mesh between from and *to, where *to then is; a clear one where it enters. */
static bool meet_mesh(const firn_render_world *w, const firn_scenery *s, firn_ray ray, float from,
                      float *to, vec3 *normal)
{
    enum { FACES = 32 };
    for (int i = 0; i < FACES && from < *to; i++) {
        double origin[3], direction[3], at;
        to_local(w, s->pose, ray, from, origin, direction);
        if (firn_mesh_ray(s->mesh, origin, direction, (double)(*to - from), &at) < 0) return false;
        const float t = from + (float)at;
        distance(w, s, v3_along(ray.origin, ray.direction, t), normal);
        if (!s->clear || v3_dot(*normal, ray.direction) < 0) {
            *to = t;
            return true;
        }
        from = t + STEP_PAST;
    }
    return false;
}

/* Whether at a surface there is nothing behind it. */
static bool is_film(const firn_render_world *w, const firn_scenery *s, vec3 p, float d, vec3 normal)
{
    vec3 n;
    return distance(w, s, v3_along(p, normal, -f_max(d, 0) - STEP_PAST), &n) >= 0;
}

/* The same of what is known by its distances. */
static bool meet_surface(const firn_render_world *w, const firn_scenery *s, firn_ray ray,
                         float from, float *to, vec3 *normal)
{
    bool outside = !s->clear;
    for (int step = 0; step < 128 && from < *to; step++) {
        const float d = distance(w, s, v3_along(ray.origin, ray.direction, from), normal);
        if (d < 0.01f + 2e-4f * from * w->pixel) {
            if (outside && s->joined &&
                is_film(w, s, v3_along(ray.origin, ray.direction, from), d, *normal)) {
                from += STEP_PAST;
                continue;
            }
            if (outside) {
                *to = from;
                return true;
            }
            from += f_max(-d, STEP_PAST);
            continue;
        }
        outside = true;
        /* All of a convex shape is behind the plane at its nearest point: the ray goes on to that,
         * or has passed. By distance alone, rays along a face would take hundreds of steps. */
        const float towards = -v3_dot(*normal, ray.direction);
        if (s->convex && towards <= 0) break;
        from += s->convex ? d / towards : d;
    }
    return false;
}

/* ---- rooms ---- */

static const float PANE = 0.16f;       /* part of a side that is seen */
static const float RIM = 0.5f;         /* more of what is see-through, along its skin */
static const float EDGE_SOLID = 0.5f;  /* of an edge */
static const float EDGE_PIXELS = 0.9f; /* to either side of it */
static const float UPRIGHT = 0.7f;     /* of a normal: floors, and lids upside down */

/* Where a ray is in a room, and on which axes it comes and goes. False: nowhere. */
typedef struct passage {
    double at[2], origin[3], direction[3]; /* voxels; m, m per voxel */
    int axis[2];
} passage;

static bool pass_room(const firn_render_world *w, const firn_scenery *s, firn_ray ray, passage *p)
{
    const double *size = s->pose->values.size;
    to_local(w, s->pose, ray, 0, p->origin, p->direction);
    p->at[0] = -INFINITY;
    p->at[1] = INFINITY;
    p->axis[0] = p->axis[1] = 0;
    for (int a = 0; a < 3; a++) {
        const double d = p->direction[a], o = p->origin[a];
        if (fabs(d) < 1e-15) {
            if (fabs(o) > size[a]) return false;
            continue;
        }
        const double in = (copysign(size[a], -d) - o) / d, out = (copysign(size[a], d) - o) / d;
        if (in > p->at[0]) {
            p->at[0] = in;
            p->axis[0] = a;
        }
        if (out < p->at[1]) {
            p->at[1] = out;
            p->axis[1] = a;
        }
    }
    return p->at[0] < p->at[1] && p->at[1] > 0;
}

/* The inward normal where it comes (0) or goes (1). */
static vec3 room_normal(const firn_render_world *w, const firn_scenery *s, const passage *p,
                        int end)
{
    const int a = p->axis[end];
    double n[3];
    for (int b = 0; b < 3; b++) {
        n[b] = (p->direction[a] > 0) == (end == 1) ? -s->pose->rotation[b][a]
                                                   : s->pose->rotation[b][a];
    }
    return direction_of(w, n);
}

static bool meet_room(const firn_render_world *w, const firn_scenery *s, firn_ray ray, float to,
                      float *t, vec3 *normal)
{
    passage p;
    /* A floor that lies on the ground is the ground's. */
    if (!pass_room(w, s, ray, &p) || !((float)p.at[1] < (1 - 1e-4f) * to)) return false;
    *normal = room_normal(w, s, &p, 1);
    *t = (float)p.at[1];
    return normal->y > -UPRIGHT;
}

float firn_scenery_solid(const firn_scenery *s, vec3 normal, vec3 direction)
{
    if (!s->clear || (s->room && normal.y > UPRIGHT)) return 1;
    if (s->room) return s->opacity < 1 ? s->opacity : PANE;
    /* Along its skin there is more of it, so that its outline is seen. */
    const float past = 1 - f_clamp(-v3_dot(normal, direction), 0, 1);
    return s->opacity + (1 - s->opacity) * RIM * past * past * past;
}

float firn_scenery_edges(const firn_render_world *w, firn_ray ray, float to, float spread)
{
    float open = 1;
    for (int32_t i = 0; w->has_room && i < w->scenery_count; i++) {
        const firn_scenery *s = &w->scenery[i];
        passage p;
        if (!s->room || !pass_room(w, s, ray, &p)) continue;
        for (int end = 0; end < 2; end++) {
            const double at = p.at[end];
            /* What stands at a pane is drawn up to a spacing beyond it. */
            const double across = fabs(p.direction[p.axis[end]]) / w->cloud.voxel;
            const double slack = 1.5 * (double)w->cloud.spacing / fmax(across, 0.2);
            if (at <= 0 || at > (double)to * (1 + 1e-4) + slack) continue;
            const double reach = EDGE_PIXELS * at * (double)spread * w->cloud.voxel;
            double away = INFINITY;
            for (int a = 0; a < 3; a++) {
                if (a == p.axis[end]) continue;
                away =
                    fmin(away, s->pose->values.size[a] - fabs(p.origin[a] + at * p.direction[a]));
            }
            if (away < reach) open *= 1 - EDGE_SOLID;
        }
    }
    return 1 - open;
}

/* ---- all of them ---- */

/* Where a ray enters a collider before *to, which then is there. */
static bool meet(const firn_render_world *w, const firn_scenery *s, firn_ray ray, float *to,
                 vec3 *normal)
{
    if (s->room) return meet_room(w, s, ray, *to, to, normal);
    if (s->plane) {
        const float down = v3_dot(ray.direction, s->normal);
        const float at = v3_dot(v3_sub(s->center, ray.origin), s->normal) / down;
        if (!(down < -1e-6f && at > 0 && at < *to)) return false;
        *to = at;
        *normal = s->normal;
        return true;
    }
    float from = 0, end = *to;
    if (!enter_bound(s, ray, &from, &end)) return false;
    const bool met = s->mesh ? meet_mesh(w, s, ray, from, &end, normal)
                             : meet_surface(w, s, ray, from, &end, normal);
    if (met) *to = end;
    return met;
}

int32_t firn_scenery_trace(const firn_render_world *w, firn_ray ray, float to, bool clear, float *t,
                           vec3 *normal)
{
    int32_t found = -1;
    firn_scenery_list near;
    firn_scenery_along(w, ray, to, &near);
    for (int32_t k = 0; k < near.count; k++) {
        const int32_t i = scenery_item(&near, k);
        vec3 n;
        if ((w->scenery[i].clear && !clear) || !meet(w, &w->scenery[i], ray, &to, &n)) continue;
        *t = to;
        *normal = n;
        found = i;
    }
    return found;
}

firn_status firn_scenery_hides(const firn_render_input *input, int up, const double (*point)[3],
                               int64_t count, int32_t *by, firn_error *error)
{
    firn_render_world w = {.up = up, .cloud = {.voxel = input->spacing}};
    w.eye = firn_render_world_point(&w, input->camera->position);
    const firn_status st = firn_scenery_create(&w, input, error);
    for (int64_t k = 0; k < count && st == FIRN_OK; k++) {
        const vec3 way = v3_sub(firn_render_world_point(&w, point[k]), w.eye);
        const firn_ray ray = {w.eye, v3_unit(way)};
        float t;
        vec3 normal;
        const int32_t found = firn_scenery_trace(&w, ray, v3_length(way) - 2, false, &t, &normal);
        by[k] = -1;
        for (int32_t i = 0; found >= 0 && i < input->collider_count; i++) {
            if (w.scenery[found].pose == &input->collider[i].pose) by[k] = i;
        }
    }
    firn_scenery_free(&w);
    return st;
}

float firn_scenery_light(const firn_render_world *w, firn_ray ray)
{
    float t, part = 1;
    vec3 normal;
    if (firn_scenery_trace(w, ray, 1e6f, false, &t, &normal) >= 0) return 0;
    firn_scenery_list near = {0};
    if (w->has_clear) firn_scenery_along(w, ray, 1e6f, &near);
    for (int32_t k = 0; k < near.count; k++) {
        const firn_scenery *s = &w->scenery[scenery_item(&near, k)];
        t = 1e6f;
        if (s->clear && !s->room && meet(w, s, ray, &t, &normal)) part *= 1 - s->opacity;
    }
    return part;
}

float firn_scenery_open(const firn_render_world *w, vec3 point, vec3 normal, int32_t self)
{
    float open = 1;
    /* A step of h up should leave a distance of about h more. */
    for (float h = 2; h < 40; h *= 2.2f) {
        const vec3 p = v3_along(point, normal, h);
        firn_scenery_list near;
        firn_scenery_around(w, p, 2 * h, &near);
        for (int32_t k = 0; k < near.count; k++) {
            const int32_t i = scenery_item(&near, k);
            const firn_scenery *s = &w->scenery[i];
            vec3 n;
            if (i == self || s->clear) continue;
            if (v3_length(v3_sub(p, s->center)) > s->radius + 2 * h && !s->plane) continue;
            const float d = distance(w, s, p, &n);
            open = f_min(open, f_clamp(0.35f + 0.65f * d / h, 0, 1));
        }
    }
    return open;
}
