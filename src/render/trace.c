/* Walks rays through the volume's tree, and finds surfaces, exits and shadows in its bricks.
 *
 * Steps are bounded by the steepest slope of a brick's density, so that they do not jump over a
 * surface. */
#include "render/trace.h"

enum { PADDED = EDGE * EDGE * EDGE };

/* Voxels; between them, steps that do not jump over a surface. */
static const float STEP_LEAST = 0.35f, STEP_MOST = 1.5f;

/* ---- blocks along a ray ---- */

/* The 2x2x2 children in the low corner of a node. */
static const uint64_t OCTANT = 0x0000000000330033;

static float safe_inverse(float d) { return fabsf(d) > 1e-12f ? 1 / d : copysignf(1e12f, d); }

/* Clips [*from, *to] to a box; false when nothing is left. */
static bool clip(const firn_ray_walk *w, const float low[3], const float high[3], float *from,
                 float *to)
{
    const float o[3] = {w->ray.origin.x, w->ray.origin.y, w->ray.origin.z};
    const float v[3] = {w->inverse.x, w->inverse.y, w->inverse.z};
    for (int a = 0; a < 3; a++) {
        const float t0 = (low[a] - o[a]) * v[a], t1 = (high[a] - o[a]) * v[a];
        *from = f_max(*from, f_min(t0, t1));
        *to = f_min(*to, f_max(t0, t1));
    }
    return *from < *to;
}

firn_ray_walk firn_ray_walk_begin(const firn_volume *volume, firn_ray ray, float from, float to)
{
    firn_ray_walk w = {.volume = volume, .ray = ray, .next = from, .end = to};
    w.inverse = v3(safe_inverse(ray.direction.x), safe_inverse(ray.direction.y),
                   safe_inverse(ray.direction.z));
    float low[3], high[3];
    for (int a = 0; a < 3; a++) {
        low[a] = (float)(BLOCK * volume->tree.low[a]);
        high[a] = (float)(BLOCK * volume->tree.high[a]);
    }
    if (volume->block_count == 0 || !clip(&w, low, high, &w.next, &w.end)) w.next = w.end = 0;
    return w;
}

bool firn_ray_walk_next(firn_ray_walk *w)
{
    const firn_volume_tree *tree = &w->volume->tree;
    while (w->next < w->end) {
        /* A little further, so that rounding does not leave us in the block we just left. */
        const float t = w->next + 1e-3f + 2e-7f * w->next;
        const vec3 p = v3_along(w->ray.origin, w->ray.direction, t);
        const int32_t x = (int32_t)(p.x * (1.f / BLOCK)), y = (int32_t)(p.y * (1.f / BLOCK)),
                      z = (int32_t)(p.z * (1.f / BLOCK));
        if (x < tree->low[0] || y < tree->low[1] || z < tree->low[2] || x >= tree->high[0] ||
            y >= tree->high[1] || z >= tree->high[2]) {
            break;
        }
        int empty = 0;
        if (!w->leaf ||
            ((x >> 2) ^ w->leaf_at[0]) | ((y >> 2) ^ w->leaf_at[1]) | ((z >> 2) ^ w->leaf_at[2])) {
            w->leaf = firn_tree_leaf(tree, x, y, z, &empty);
            w->leaf_at[0] = x >> 2;
            w->leaf_at[1] = y >> 2;
            w->leaf_at[2] = z >> 2;
        }
        int32_t block = -1;
        int shift = 2 * empty;
        if (w->leaf) {
            const int child = (x & 3) | (y & 3) << 2 | (z & 3) << 4;
            const int octant = (x & 2) | (y & 2) << 2 | (z & 2) << 4;
            if (w->leaf->solid >> child & 1) {
                block = (int32_t)firn_tree_child(w->leaf, child);
            } else if (!(w->leaf->solid >> octant & OCTANT)) {
                shift = 1; /* nor is there anything in the 2x2x2 blocks around */
            }
        }
        const float size = (float)(BLOCK << shift);
        const vec3 v = w->inverse;
        const float ex = ((float)(x >> shift) + (v.x > 0 ? 1.f : 0.f)) * size,
                    ey = ((float)(y >> shift) + (v.y > 0 ? 1.f : 0.f)) * size,
                    ez = ((float)(z >> shift) + (v.z > 0 ? 1.f : 0.f)) * size;
        const float leave =
            f_min((ex - w->ray.origin.x) * v.x,
                  f_min((ey - w->ray.origin.y) * v.y, (ez - w->ray.origin.z) * v.z));
        const float enter = w->next;
        w->next = f_max(leave, t);
        if (block < 0) continue;
        w->block = block;
        w->enter = enter;
        w->leave = f_min(w->next, w->end);
        return true;
    }
    return false;
}

/* ---- surfaces ---- */

static vec3 corner_of(const firn_volume_block *b)
{
    return v3((float)(BLOCK * b->at[0]), (float)(BLOCK * b->at[1]), (float)(BLOCK * b->at[2]));
}

/* Rounding may lead a hair out of the brick: the sampler goes on linearly. */
static float sample(const float *density, vec3 o, vec3 d, float t)
{
    return firn_brick_sample(density, o.x + t * d.x, o.y + t * d.y, o.z + t * d.z);
}

/* Where density passes ISO between a and b, upwards or (sign -1) downwards. */
static float refine(const float *density, vec3 o, vec3 d, float a, float b, float sign)
{
    for (int i = 0; i < 5; i++) {
        const float c = 0.5f * (a + b);
        if (sign * (sample(density, o, d, c) - ISO) > 0) {
            b = c;
        } else {
            a = c;
        }
    }
    return 0.5f * (a + b);
}

/* First t in [from, to] where density is above ISO (sign -1: below), or INFINITY. */
static float march(const float *density, float slope, vec3 o, vec3 d, float from, float to,
                   float sign)
{
    const float most = STEP_MOST * 0.6f / slope;
    float before = from;
    for (float t = from;;) {
        const float above = sign * (sample(density, o, d, t) - ISO);
        if (above > 0) return t > from ? refine(density, o, d, before, t, sign) : from;
        if (t >= to) return INFINITY;
        before = t;
        t = f_min(t + f_clamp(-above / slope, STEP_LEAST, most), to);
    }
}

/* The nearest of the block's spheres between two distances. */
static float hit_spheres(const firn_volume *v, const firn_volume_block *b, const firn_ray *ray,
                         float from, float to, int32_t *which)
{
    const vec3 o = ray->origin, d = ray->direction;
    float best = INFINITY;
    for (int32_t i = b->sphere; i < b->sphere + b->sphere_count; i++) {
        const float x = v->sphere_x[i] - o.x, y = v->sphere_y[i] - o.y, z = v->sphere_z[i] - o.z;
        const float along = x * d.x + y * d.y + z * d.z;
        const float ax = x - along * d.x, ay = y - along * d.y, az = z - along * d.z;
        const float r = v->sphere_radius[i];
        const float in = r * r - (ax * ax + ay * ay + az * az);
        if (in <= 0) continue;
        const float t = along - sqrtf(in);
        if (t >= from && t <= to && t < best) {
            best = t;
            *which = i;
        }
    }
    return best;
}

vec3 firn_surface_normal(const firn_volume *volume, const firn_brick *brick, vec3 point)
{
    /* Gradient of the cubic B-spline through the 4x4x4 voxels around: smooth where the linear one has
     * kinks. */
    const vec3 corner = corner_of(&volume->block[brick->block]);
    const float x[3] = {point.x - corner.x, point.y - corner.y, point.z - corner.z};
    int at[3];
    float w[3][4], dw[3][4];
    for (int a = 0; a < 3; a++) {
        at[a] = (int)floorf(f_clamp(x[a], 0, BLOCK));
        const float u = x[a] - (float)at[a], r = 1 - u;
        w[a][0] = r * r * r / 6;
        w[a][1] = (4 - 6 * u * u + 3 * u * u * u) / 6;
        w[a][2] = (4 - 6 * r * r + 3 * r * r * r) / 6;
        w[a][3] = u * u * u / 6;
        dw[a][0] = -0.5f * r * r;
        dw[a][1] = -2 * u + 1.5f * u * u;
        dw[a][2] = 2 * r - 1.5f * r * r;
        dw[a][3] = 0.5f * u * u;
    }
    vec3 g = v3_all(0);
    for (int k = 0; k < 4; k++) {
        for (int j = 0; j < 4; j++) {
            float sum = 0, slope = 0;
            for (int i = 0; i < 4; i++) {
                const float rho =
                    firn_brick_voxel(volume, brick, at[0] + i - 1, at[1] + j - 1, at[2] + k - 1);
                sum += w[0][i] * rho;
                slope += dw[0][i] * rho;
            }
            g.x += w[1][j] * w[2][k] * slope;
            g.y += dw[1][j] * w[2][k] * sum;
            g.z += w[1][j] * dw[2][k] * sum;
        }
    }
    return v3_unit(v3_scale(g, -1));
}

uint32_t firn_nearest_particle(const firn_volume *volume, const firn_brick *brick, vec3 point)
{
    const vec3 q = v3_sub(point, corner_of(&volume->block[brick->block]));
    const int x = (int)f_clamp(q.x + 0.5f, 0, BLOCK - 1),
              y = (int)f_clamp(q.y + 0.5f, 0, BLOCK - 1),
              z = (int)f_clamp(q.z + 0.5f, 0, BLOCK - 1);
    const size_t index = (size_t)(brick - volume->brick);
    return volume->nearest[index * BLOCK * BLOCK * BLOCK + (size_t)((z * BLOCK + y) * BLOCK + x)];
}

bool firn_trace_surface(const firn_volume *volume, firn_ray ray, float from, float to,
                        firn_hit *hit)
{
    firn_ray_walk w = firn_ray_walk_begin(volume, ray, from, to);
    while (firn_ray_walk_next(&w)) {
        const firn_volume_block *b = &volume->block[w.block];
        if (b->most <= ISO && b->sphere_count == 0) continue;
        const vec3 o = v3_sub(ray.origin, corner_of(b));
        float best = INFINITY;
        int32_t brick = -1, sphere = -1;
        for (int32_t i = b->brick; i < b->brick + b->brick_count; i++) {
            if (volume->brick[i].most <= ISO) continue;
            const float slope = volume->cloud->layer[volume->brick[i].layer].slope;
            const float t = march(volume->density + (size_t)i * PADDED, slope, o, ray.direction,
                                  w.enter, f_min(w.leave, best), 1);
            if (t < best) {
                best = t;
                brick = i;
            }
        }
        if (b->sphere_count) {
            const float t = hit_spheres(volume, b, &ray, w.enter - 0.01f, w.leave + 0.01f, &sphere);
            if (t < best) {
                best = t;
                brick = -1;
            }
        }
        if (!(best < INFINITY)) continue;
        hit->t = best;
        hit->point = v3_along(ray.origin, ray.direction, best);
        hit->brick = brick;
        if (brick >= 0) {
            hit->layer = volume->brick[brick].layer;
            hit->normal = firn_surface_normal(volume, &volume->brick[brick], hit->point);
        } else {
            hit->particle = volume->sphere_particle[sphere];
            hit->layer = cloud_key_layer(volume->cloud->key[hit->particle]);
            hit->normal =
                v3_unit(v3_sub(hit->point, v3(volume->sphere_x[sphere], volume->sphere_y[sphere],
                                              volume->sphere_z[sphere])));
        }
        return true;
    }
    return false;
}

float firn_trace_inside(const firn_volume *volume, firn_ray ray, int32_t layer, float to)
{
    firn_ray_walk w = firn_ray_walk_begin(volume, ray, 0, to);
    float inside = 0;
    while (firn_ray_walk_next(&w)) {
        if (w.enter > inside + 0.1f) return inside; /* past an empty block */
        const firn_volume_block *b = &volume->block[w.block];
        const int32_t i = firn_block_brick(volume, b, layer);
        if (i < 0) return w.enter;
        inside = w.leave;
        if (volume->brick[i].least > ISO) continue;
        const float t =
            march(volume->density + (size_t)i * PADDED, volume->cloud->layer[layer].slope,
                  v3_sub(ray.origin, corner_of(b)), ray.direction, w.enter, w.leave, -1);
        if (t < INFINITY) return t;
    }
    return f_min(inside, to);
}

/* ---- shadows ---- */

vec3 firn_trace_shadow(const firn_volume *volume, firn_ray ray, float to, float step, float dither)
{
    vec3 depth = v3_all(0);
    firn_ray_walk w = firn_ray_walk_begin(volume, ray, 0, to);
    while (firn_ray_walk_next(&w)) {
        const firn_volume_block *b = &volume->block[w.block];
        if (b->most <= 0.6f * ISO && b->sphere_count == 0) continue;
        const vec3 o = v3_sub(ray.origin, corner_of(b));
        int32_t sphere = -1;
        if (b->sphere_count) {
            const float t = hit_spheres(volume, b, &ray, w.enter, w.leave, &sphere);
            if (t < INFINITY) {
                const firn_look *look =
                    volume->cloud
                        ->layer[cloud_key_layer(
                            volume->cloud->key[volume->sphere_particle[sphere]])]
                        .look;
                depth = v3_add(depth, v3_all(look->clarity > 0.5 ? 0.3f : 4));
            }
        }
        for (int32_t i = b->brick; i < b->brick + b->brick_count; i++) {
            if (volume->brick[i].most < 0.6f * ISO) continue;
            const firn_cloud_layer *layer = &volume->cloud->layer[volume->brick[i].layer];
            const vec3 extinction = v3_add(layer->absorb, v3_all(layer->scatter));
            const float *density = volume->density + (size_t)i * PADDED;
            float full = 0;
            for (float t = step * (ceilf(w.enter / step - dither) + dither); t < w.leave;
                 t += step) {
                full += f_step(0.6f * ISO, 1.4f * ISO, sample(density, o, ray.direction, t));
            }
            depth = v3_along(depth, extinction, full * step);
        }
        if (f_min(depth.x, f_min(depth.y, depth.z)) > 6) break;
    }
    return v3_exp(v3_scale(depth, -1));
}
