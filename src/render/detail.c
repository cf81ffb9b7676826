/* Detail finer than particles. It is anchored to them, by their ids, so that it moves with the material
 * and nothing swims. */
#include "render/world.h"

enum { AROUND = 8 };

/* Particles next to the voxels up to `reach` around a point, each once. */
static int particles_around(const firn_volume *v, const firn_brick *b, vec3 point, float reach,
                            uint32_t out[AROUND])
{
    int n = 0;
    for (int c = 0; c < AROUND; c++) {
        const vec3 q = v3(point.x + (c & 1 ? reach : -reach), point.y + (c & 2 ? reach : -reach),
                          point.z + (c & 4 ? reach : -reach));
        const uint32_t p = firn_nearest_particle(v, b, q);
        bool seen = p == UINT32_MAX;
        for (int i = 0; i < n; i++) seen = seen || out[i] == p;
        if (!seen) out[n++] = p;
    }
    return n;
}

static uint32_t lattice(uint32_t seed, int x, int y, int z)
{
    return hash32(
        seed ^ hash32((uint32_t)x * 73856093u ^ (uint32_t)y * 19349663u ^ (uint32_t)z * 83492791u));
}

/* Three smooth random numbers within -1 and 1. */
static vec3 noise(uint32_t seed, vec3 p)
{
    const float fx = floorf(p.x), fy = floorf(p.y), fz = floorf(p.z);
    float u[3] = {p.x - fx, p.y - fy, p.z - fz};
    for (int a = 0; a < 3; a++) u[a] = u[a] * u[a] * (3 - 2 * u[a]);
    vec3 sum = v3_all(0);
    for (int c = 0; c < 8; c++) {
        const uint32_t h =
            lattice(seed, (int)fx + (c & 1), (int)fy + (c >> 1 & 1), (int)fz + (c >> 2));
        const float w =
            (c & 1 ? u[0] : 1 - u[0]) * (c & 2 ? u[1] : 1 - u[1]) * (c & 4 ? u[2] : 1 - u[2]);
        sum = v3_along(sum,
                       v3((float)(h & 1023) - 511.5f, (float)(h >> 10 & 1023) - 511.5f,
                          (float)(h >> 20 & 1023) - 511.5f),
                       w / 511.5f);
    }
    return sum;
}

vec3 firn_detail_normal(const firn_render_world *w, const firn_hit *hit, float amount,
                        float footprint, uint32_t *seed)
{
    const firn_cloud *cloud = &w->cloud;
    uint32_t near[AROUND];
    int n = 1;
    if (hit->brick >= 0) {
        n = particles_around(&w->volume, &w->volume.brick[hit->brick], hit->point, 0.5f, near);
    } else {
        near[0] = hit->particle;
    }
    vec3 sum = v3_all(0);
    float all = 1e-6f, best = INFINITY;
    *seed = 0;
    for (int i = 0; i < n; i++) {
        const vec3 r = v3_sub(hit->point, cloud->position[near[i]]);
        const float size = cloud->size[near[i]], d = v3_dot(r, r) / (size * size);
        const float weight = f_exp(-2 * d);
        if (d < best) {
            best = d;
            *seed = near[i];
        }
        for (int octave = 0; octave < 2; octave++) {
            const float scale = (octave ? 4.1f : 1.7f) / size;
            const float seen =
                f_clamp(1.5f - footprint * scale, 0, 1); /* too fine for a pixel: gone */
            if (seen <= 0) continue;
            sum = v3_along(sum, noise(cloud->hash[near[i]] + (uint32_t)octave, v3_scale(r, scale)),
                           weight * seen * (octave ? 0.8f : 1));
        }
        all += weight;
    }
    const vec3 turn = v3_scale(sum, amount / all), m = hit->normal;
    return v3_unit(v3_add(m, v3_along(turn, m, -v3_dot(turn, m))));
}

/* The particle next to a voxel of a brick or of those around it, or UINT32_MAX. */
static uint32_t particle_at(const firn_volume *v, const firn_brick *b, const int at[3])
{
    int around = 0, voxel = 0;
    for (int a = 2; a >= 0; a--) {
        around = around * 3 + (at[a] >> 3) + 1;
        voxel = voxel * BLOCK + (at[a] & (BLOCK - 1));
    }
    const int32_t brick = b->neighbour[around];
    return brick < 0 ? UINT32_MAX
                     : v->nearest[(size_t)brick * BLOCK * BLOCK * BLOCK + (size_t)voxel];
}

/* The mean of what particles around a hit have; `none` where there are none, or nothing is known. Every
 * stride-th voxel weighs, by quadratic B-splines, so that nothing jumps from one to the next. */
static vec3 mean_around(const firn_render_world *w, const firn_hit *hit, int stride,
                        const vec3 *item, vec3 none)
{
    if (!item) return none;
    if (hit->brick < 0) return item[hit->particle];
    const firn_brick *b = &w->volume.brick[hit->brick];
    const int32_t *corner = w->volume.block[b->block].at;
    const float point[3] = {hit->point.x, hit->point.y, hit->point.z};
    int base[3];
    float weight[3][3];
    for (int a = 0; a < 3; a++) {
        const float q = (point[a] - (float)(corner[a] * BLOCK)) / (float)stride;
        const int last = BLOCK / stride; /* the next brick's first */
        base[a] = (int)f_clamp(q + 0.5f, 0, (float)last);
        const float d = q - (float)base[a];
        weight[a][0] = 0.5f * (0.5f - d) * (0.5f - d);
        weight[a][1] = 0.75f - d * d;
        weight[a][2] = 0.5f * (0.5f + d) * (0.5f + d);
    }
    vec3 sum = v3_all(0);
    float all = 0;
    for (int c = 0; c < NEIGHBOURS; c++) {
        const int i[3] = {c % 3, c / 3 % 3, c / 9};
        const uint32_t p =
            particle_at(&w->volume, b,
                        (const int[3]){stride * (base[0] + i[0] - 1), stride * (base[1] + i[1] - 1),
                                       stride * (base[2] + i[2] - 1)});
        if (p == UINT32_MAX) continue;
        const float part = weight[0][i[0]] * weight[1][i[1]] * weight[2][i[2]];
        sum = v3_along(sum, item[p], part);
        all += part;
    }
    return all > 1e-9f ? v3_scale(sum, 1 / all) : none;
}

vec3 firn_detail_color(const firn_render_world *w, const firn_hit *hit)
{
    return mean_around(w, hit, 1, w->cloud.color, w->cloud.layer[hit->layer].color);
}

/* Particles at a surface are not equally deep, and temperature falls off steeply there: few would show
 * as spots. */
vec3 firn_detail_heat(const firn_render_world *w, const firn_hit *hit)
{
    return mean_around(w, hit, 4, w->cloud.heat, v3_all(0));
}

float firn_detail_glint(const firn_render_world *w, const firn_hit *hit, uint32_t particle,
                        vec3 normal, vec3 half, float footprint)
{
    const firn_cloud *cloud = &w->cloud;
    const float scale = 5 / cloud->size[particle];
    const vec3 r = v3_scale(v3_sub(hit->point, cloud->position[particle]), scale);
    const uint32_t h = lattice(cloud->hash[particle] ^ 0x51ed270bu, (int)floorf(r.x),
                               (int)floorf(r.y), (int)floorf(r.z));
    const vec3 lean = v3((float)(h & 1023) / 511.5f - 1, (float)(h >> 10 & 1023) / 511.5f - 1,
                         (float)(h >> 20 & 1023) / 511.5f - 1);
    const vec3 facet = v3_unit(v3_along(normal, lean, 1.1f));
    const float c = f_max(v3_dot(facet, half), 0);
    /* A facet smaller than a pixel fills only part of it. */
    const float part = 1 / (1 + footprint * scale * footprint * scale);
    return part * f_step(0.985f, 0.998f, c);
}
