/* What a ray sees: sky, ground, colliders, and material with its skin, its inside and what is behind. */
#include "render/world.h"

enum { DEEPEST = 1 }; /* times mirrored or refracted; beyond, light comes by way of cells */
static const float BRIGHTEST = 8;         /* of one sample: fireflies end here */
static const float FAINT = 0.05f;         /* part that is mirrored, below which cells will do */
static const float SEE_THROUGH = 0.3f;    /* clarity from which on nothing scatters at the skin */
static const float WET_GLOSS = 0.9f;      /* of what has melted, at least */
static const float WET_ROUGHNESS = 0.15f; /* and at most */

typedef struct view {
    firn_ray ray;
    int depth;
    float spread; /* pixels' width at distance 1, for what is filtered */
    int panes;    /* sides of rooms that it came through */
} view;

static vec3 look(const firn_render_world *w, const view *v, firn_dice *dice, firn_sample *first);

/* ---- sun ---- */

/* What arrives of the sun at a point. */
static vec3 sunlight(const firn_render_world *w, vec3 point, vec3 normal, firn_dice *dice)
{
    vec3 a, b;
    v3_across(w->sky.sun_direction, &a, &b);
    const float angle = 6.2831853f * dice->sun[0], r = w->sky.sun_spread * sqrtf(dice->sun[1]);
    const vec3 to =
        v3_unit(v3_along(v3_along(w->sky.sun_direction, a, r * cosf(angle)), b, r * sinf(angle)));
    const firn_ray ray = {v3_along(point, normal, 0.6f), to};
    const float open = firn_scenery_light(w, ray);
    if (open <= 0) return v3_all(0);
    const vec3 part = firn_trace_shadow(&w->volume, ray, 1e6f, w->shadow_step,
                                        hash_unit(hash_next(&dice->state)));
    return v3_scale(v3_mul(part, w->sky.sun), open);
}

/* ---- sky and ground ---- */

static vec3 backdrop(const firn_render_world *w, vec3 d)
{
    const vec3 sky =
        firn_sky_radiance(&w->sky, d.y > 0 || w->sky.has_ground ? d : v3(d.x, -0.3f * d.y, d.z));
    const float glow = f_max(v3_dot(d, w->sky.sun_direction), 0), third = glow * glow * glow;
    return v3_along(sky, w->sky.sun, 0.06f * third * third * third * third);
}

/* Coverage of lines of some width and period along one axis, averaged over a footprint. */
static float lines(float x, float period, float width, float footprint)
{
    const float wide = f_max(footprint, 1e-3f * width);
    const float a = (x - 0.5f * wide + 0.5f * width) / period,
                b = (x + 0.5f * wide + 0.5f * width) / period, share = width / period;
    /* The integral of the pattern: whole periods, and what of the last is line. */
    const float ia = floorf(a) * share + f_min(a - floorf(a), share),
                ib = floorf(b) * share + f_min(b - floorf(b), share);
    return f_clamp((ib - ia) * period / wide, 0, 1);
}

static float value_noise(float x, float z)
{
    const float fx = floorf(x), fz = floorf(z);
    const int i = (int)fx, j = (int)fz;
    float u = x - fx, v = z - fz, corner[4];
    for (int c = 0; c < 4; c++) {
        corner[c] = hash_unit(hash32((uint32_t)(i + (c & 1)) * 73856093u ^
                                     hash32((uint32_t)(j + (c >> 1)) * 19349663u)));
    }
    u = u * u * (3 - 2 * u);
    v = v * v * (3 - 2 * v);
    const float a = corner[0] + u * (corner[1] - corner[0]),
                b = corner[2] + u * (corner[3] - corner[2]);
    return a + v * (b - a);
}

static vec3 shade_ground(const firn_render_world *w, const view *v, float t, firn_dice *dice)
{
    const vec3 p = v3_along(v->ray.origin, v->ray.direction, t);
    /* What the lens smears is smoothed here too: samples alone would leave it noisy. */
    const float smear = v->depth ? 0 : w->lens * fabsf(t / w->focus - 1);
    const float steep = f_max(-v->ray.direction.y, 1e-3f), foot = t * v->spread + smear;
    /* World coordinates, so that the pattern stands still. */
    const float x = p.x + (float)fmod(w->cloud.origin[0] / w->cloud.voxel, (double)w->ground_line),
                z = p.z + (float)fmod(w->cloud.origin[2] / w->cloud.voxel, (double)w->ground_line);
    const vec3 flat = v3_unit(v3(v->ray.direction.x, 0, v->ray.direction.z));
    const float stretch = foot / steep;
    const float fx = foot + fabsf(flat.x) * stretch, fz = foot + fabsf(flat.z) * stretch;
    const float line = w->ground_line, width = 0.012f * line;
    /* Lines seen through something would look like cracks in it. */
    const float drawn =
        v->depth ? 0 : 1 - (1 - lines(x, line, width, fx)) * (1 - lines(z, line, width, fz));
    float mottle = 0, amount = 0.10f;
    for (float scale = 0.35f * line; scale > 0.01f * line; scale *= 0.45f, amount *= 0.7f) {
        mottle += amount * (value_noise(x / scale + 17, z / scale) - 0.5f) *
                  (1 - f_step(0.3f, 1, f_max(fx, fz) / scale));
    }
    const vec3 color = v3_scale(v3_mix(w->sky.ground, v3_all(0.62f), 0.35f * drawn), 1 + mottle);
    const vec3 up = v3(0, 1, 0);
    const float open = firn_scenery_open(w, p, up, -1);
    const vec3 around = v3_scale(firn_light_on_ground(&w->light, p), open);
    const vec3 sun = v3_scale(sunlight(w, p, up, dice), w->sky.sun_direction.y);
    const vec3 lit = v3_mul(color, v3_add(sun, around));
    const float far = f_max(t - w->distance, 0) / (4.5f * w->distance);
    return v3_mix(backdrop(w, v3(v->ray.direction.x, 0, v->ray.direction.z)), lit,
                  f_exp(-far * far - 0.6f * far));
}

/* ---- surfaces ---- */

static float fresnel(float cosine, float index)
{
    const float r = (index - 1) / (index + 1), f = 1 - f_clamp(cosine, 0, 1);
    return r * r + (1 - r * r) * f * f * f * f * f;
}

/* The sun mirrored in a rough skin (GGX, Walter et al. 2007; masking as 1 / (2 (n.l + n.v)), which is its
 * mean over roughness), times pi, as firn_sky has the sun. */
static float highlight(vec3 n, vec3 to_eye, vec3 to_sun, float roughness)
{
    const float ndl = v3_dot(n, to_sun), ndv = f_max(v3_dot(n, to_eye), 0.02f);
    if (ndl <= 0) return 0;
    const vec3 h = v3_unit(v3_add(to_eye, to_sun)); /* what mirrors there is up to the caller */
    const float a = f_max(roughness * roughness, 2e-3f), ndh = f_max(v3_dot(n, h), 0);
    const float k = ndh * ndh * (a * a - 1) + 1;
    return a * a / (k * k) * ndl / (2 * (ndl + ndv));
}

/* Part that a skin mirrors: of a metal in its colour, and white along it (Schlick 1994). */
static vec3 mirrors(float cosine, float index, vec3 color, float metal)
{
    const float past = 1 - f_clamp(cosine, 0, 1);
    const vec3 tinted = v3_mix(color, v3_all(1), past * past * past * past * past);
    return v3_mix(v3_all(fresnel(cosine, index)), tinted, metal);
}

/* What a body radiates at a temperature (K): Wien's form of Planck's law at wavelengths of red, green and
 * blue (0.61, 0.55 and 0.465 um), close enough to it up to 4000 K. How bright is chosen by eye: at 1400 K
 * twice as white paper under a light of 1, at 1000 K next to nothing. */
static vec3 glow(float temperature)
{
    if (!(temperature > 800)) return v3_all(0);
    const float red = 23587, green = 26160, blue = 30942; /* K: hc over k and the wavelength */
    const float at = 1 / 1400.f, inverse = 1 / temperature;
    return v3(2 * f_exp(red * (at - inverse)), 2 * 1.68f * f_exp(red * at - green * inverse),
              2 * 3.88f * f_exp(red * at - blue * inverse));
}

static vec3 mirror(vec3 d, vec3 n) { return v3_along(d, n, -2 * v3_dot(d, n)); }

/* Refraction with eta = index before over index behind; false: all is mirrored. */
static bool refract(vec3 d, vec3 n, float eta, vec3 *out)
{
    const float c = -v3_dot(d, n), k = 1 - eta * eta * (1 - c * c);
    if (k < 0) return false;
    *out = v3_unit(v3_along(v3_scale(d, eta), n, eta * c - sqrtf(k)));
    return true;
}

static vec3 shade_solid(const firn_render_world *w, const view *v, int32_t which, float t, vec3 n,
                        firn_dice *dice)
{
    const firn_scenery *s = &w->scenery[which];
    const vec3 p = v3_along(v->ray.origin, v->ray.direction, t);
    const vec3 to_sun = w->sky.sun_direction;
    /* What arrives around: rays about the normal, turned differently in every sample. */
    vec3 a, b, around = v3_all(0);
    v3_across(n, &a, &b);
    enum { RAYS = 8 };
    const float turn = hash_unit(hash_next(&dice->state)),
                tilt = hash_unit(hash_next(&dice->state));
    for (int i = 0; i < RAYS; i++) {
        const float angle = 6.2831853f * ((float)i / RAYS + turn);
        const float part = ((float)(3 * i % RAYS) + tilt) / RAYS, r = sqrtf(part);
        const vec3 d = v3_unit(v3_along(v3_along(v3_scale(n, sqrtf(1 - part)), a, r * cosf(angle)),
                                        b, r * sinf(angle)));
        around = v3_along(around, firn_light_along(&w->light, (firn_ray){v3_along(p, n, 1), d}),
                          1.f / RAYS);
    }
    around = v3_scale(around, firn_scenery_open(w, p, n, which));
    vec3 sun = v3_all(0);
    if (v3_dot(n, to_sun) > 0) sun = sunlight(w, p, n, dice);
    const vec3 eye = v3_scale(v->ray.direction, -1);
    const vec3 dull = v3_mul(s->color, v3_along(around, sun, f_max(v3_dot(n, to_sun), 0)));
    const float shine =
        fresnel(v3_dot(v3_unit(v3_add(eye, to_sun)), eye), 1.5f) * highlight(n, eye, to_sun, 0.5f);
    const vec3 sheen = v3_scale(
        firn_light_along(&w->light, (firn_ray){v3_along(p, n, 1), mirror(v->ray.direction, n)}),
        0.6f * fresnel(v3_dot(n, eye), 1.5f));
    return v3_add(v3_along(dull, sun, shine), sheen);
}

enum { PANES = 12 }; /* that a ray goes through, along a side or in and out of water beside it */

/* A collider; of a room's sides little, and what is behind them. */
static vec3 shade_scenery(const firn_render_world *w, const view *v, int32_t which, float t, vec3 n,
                          firn_dice *dice, firn_sample *first)
{
    const float solid = firn_scenery_solid(&w->scenery[which], n, v->ray.direction);
    const vec3 wall = shade_solid(w, v, which, t, n, dice);
    if (solid >= 1 || v->panes >= PANES) return wall;
    view behind = *v;
    behind.panes++;
    behind.ray.origin = v3_along(v->ray.origin, v->ray.direction, t + 0.1f + 1e-4f * t);
    if (first) {
        const vec3 beyond = look(w, &behind, dice, first);
        first->distance = t;
        first->alpha = solid + (1 - solid) * first->alpha;
        return v3_add(v3_scale(wall, solid), v3_scale(beyond, 1 - solid));
    }
    return v3_mix(look(w, &behind, dice, NULL), wall, solid);
}

/* Light where no map reaches. */
static firn_light_node open_light(const firn_render_world *w)
{
    const vec3 above = firn_environment_on(&w->sky, v3(0, 1, 0)),
               below = firn_environment_on(&w->sky, v3(0, -1, 0));
    firn_light_node node = {.mean = v3_mix(above, below, 0.5f)};
    node.turn[1] = v3_scale(v3_sub(above, below), 0.25f);
    return node;
}

/* What scatters towards us on the way through a layer; *through is what is left of light from behind. */
static vec3 gather_inside(const firn_render_world *w, firn_ray ray, float length,
                          const firn_cloud_layer *layer, vec3 *through)
{
    const int steps = (int)f_clamp(length / 5, 1, 10);
    const float step = length / (float)steps;
    const vec3 each = v3_exp(v3_scale(v3_add(layer->absorb, v3_all(layer->scatter)), -step));
    vec3 seen = v3_all(0);
    for (int s = 0; s < steps; s++) {
        const vec3 after = v3_mul(*through, each);
        vec3 inside;
        if (firn_light_inside(&w->light,
                              v3_along(ray.origin, ray.direction, ((float)s + 0.5f) * step),
                              &inside)) {
            seen = v3_add(seen, v3_mul(v3_sub(*through, after), inside));
        }
        *through = after;
    }
    return seen;
}

/* The inward normal where a ray leaves a layer. */
static vec3 leaving_normal(const firn_render_world *w, vec3 p, vec3 d, int32_t layer)
{
    const firn_volume *v = &w->volume;
    const int32_t block =
        firn_volume_block_at(v, (int32_t)p.x / BLOCK, (int32_t)p.y / BLOCK, (int32_t)p.z / BLOCK);
    const int32_t brick = block < 0 ? -1 : firn_block_brick(v, &v->block[block], layer);
    return v3_scale(brick < 0 ? d : firn_surface_normal(v, &v->brick[brick], p), -1);
}

/* Through clear material: what scatters towards us inside, and what is seen behind. */
static vec3 see_through(const firn_render_world *w, const view *v, const firn_hit *hit, vec3 n,
                        vec3 color, firn_dice *dice)
{
    const firn_cloud_layer *layer = &w->cloud.layer[hit->layer];
    const float index = (float)layer->look->index;
    vec3 d, seen = v3_all(0), through = v3_all(1), p = v3_along(hit->point, n, -0.5f);
    if (!refract(v->ray.direction, n, 1 / index, &d)) return v3_all(0);
    if (hit->brick < 0) { /* a droplet bends light twice and is too small to tint it */
        vec3 out;
        if (!refract(d, mirror(n, d), 1 / index, &out)) out = d;
        return v3_mul(color, firn_light_along(&w->light, (firn_ray){p, out}));
    }
    for (int leg = 0; leg < 2; leg++) {
        const firn_ray ray = {p, d};
        float limit = 1e6f;
        const bool down = w->sky.has_ground && d.y < -1e-4f;
        if (down) limit = f_max((w->sky.ground_y - p.y) / d.y, 0);
        float solid = limit;
        vec3 solid_normal;
        const int32_t scenery = firn_scenery_trace(w, ray, limit, true, &solid, &solid_normal);
        if (scenery >= 0) limit = solid;
        const float length = firn_trace_inside(&w->volume, ray, hit->layer, limit);
        seen = v3_add(seen, gather_inside(w, ray, length, layer, &through));
        p = v3_along(p, d, length);
        const view behind = {
            .ray = {p, d}, .depth = v->depth + 1, .panes = v->panes, .spread = 4 * v->spread};
        if (length >= limit - 0.01f && scenery >= 0) {
            return v3_add(seen, v3_mul(through, shade_scenery(w, &behind, scenery, 0, solid_normal,
                                                              dice, NULL)));
        }
        if (length >= limit - 0.01f && down) {
            return v3_add(seen, v3_mul(through, shade_ground(w, &behind, 0, dice)));
        }
        const vec3 back = leaving_normal(w, p, d, hit->layer);
        vec3 out;
        if (refract(d, back, index, &out)) {
            view next = behind;
            next.ray = (firn_ray){v3_along(p, out, 1), out};
            const float f = fresnel(v3_dot(v3_scale(out, -1), back), index);
            const vec3 beyond = v->depth < DEEPEST ? look(w, &next, dice, NULL)
                                                   : firn_light_along(&w->light, next.ray);
            return v3_add(seen, v3_mul(v3_scale(through, 1 - f), beyond));
        }
        d = mirror(d, back);
        p = v3_along(p, back, 0.7f);
    }
    return v3_add(seen, v3_mul(through, firn_light_along(&w->light, (firn_ray){p, d})));
}

/* Dull material: what its skin scatters, and what comes out from below. */
static vec3 shade_body(const firn_render_world *w, const firn_hit *hit, const firn_light_node *node,
                       vec3 n, vec3 sun, vec3 color)
{
    const firn_look *look_of = w->cloud.layer[hit->layer].look;
    const float under = w->cloud.color ? 0 : (float)look_of->subsurface;
    const float facing = v3_dot(n, w->sky.sun_direction);
    float open = 1;
    if (hit->brick >= 0) {
        /* Hollows smaller than the distance of nodes: density above an even surface is known. */
        const float above =
            firn_volume_density(&w->volume, v3_along(hit->point, hit->normal, 2), hit->layer);
        open = f_clamp(1.2f - 2.4f * above, 0.3f, 1);
    }
    const vec3 around = v3_scale(firn_light_on(node, n), open);
    const vec3 skin = v3_mul(color, v3_along(around, sun, f_max(facing, 0)));
    /* A ball holds light by itself: half of what it takes in comes out on the other side. A drop is paler
     * than the body it comes from, whose light has gone a longer way. */
    const vec3 pale =
        w->mode == FIRN_RENDER_VOLUME ? v3(sqrtf(color.x), sqrtf(color.y), sqrtf(color.z)) : color;
    const vec3 below = hit->brick < 0 ? v3_mul(pale, v3_along(node->mean, sun, 0.3f * (1 + facing)))
                                      : v3_scale(node->inside, 0.5f + 0.5f * open);
    return v3_mix(skin, below, under);
}

/* The particle nearest to a hit, or UINT32_MAX. */
static uint32_t particle_at(const firn_render_world *w, const firn_hit *hit)
{
    if (hit->brick < 0) return hit->particle;
    return firn_nearest_particle(&w->volume, &w->volume.brick[hit->brick], hit->point);
}

static vec3 shade_material(const firn_render_world *w, const view *v, const firn_hit *hit,
                           firn_dice *dice)
{
    const firn_cloud_layer *layer = &w->cloud.layer[hit->layer];
    const firn_look *look_of = layer->look;
    /* Balls, and particles with colours of their own, are not clear: they show those. */
    const bool opaque = w->mode != FIRN_RENDER_VOLUME || w->cloud.color;
    const vec3 heat = firn_detail_heat(w, hit);
    const float wet = f_clamp(heat.x, 0, 1); /* melt has a smooth skin, whatever the solid has */
    const float dry_gloss = (float)look_of->gloss, dry_rough = (float)look_of->roughness;
    const float clear = opaque ? 0 : (float)look_of->clarity, index = (float)look_of->index;
    const float gloss = dry_gloss + wet * f_max(WET_GLOSS - dry_gloss, 0);
    const float rough = dry_rough + wet * f_min(WET_ROUGHNESS - dry_rough, 0);
    const float grain = (1 - wet) * (float)look_of->grain;
    const vec3 eye = v3_scale(v->ray.direction, -1), to_sun = w->sky.sun_direction;
    const float footprint = hit->t * v->spread;
    uint32_t particle = particle_at(w, hit);
    vec3 n = hit->normal;
    if (grain > 0 && particle != UINT32_MAX) {
        n = firn_detail_normal(w, hit, grain, footprint, &particle);
    }
    const vec3 color = firn_detail_color(w, hit);
    if (w->mode == FIRN_RENDER_POINTS) return v3_scale(color, 0.9f);
    firn_light_node node;
    if (!firn_light_at(&w->light, hit->point, &node)) node = open_light(w);

    const float metal = opaque ? 0 : (float)look_of->metal;
    const vec3 shine =
        v3_scale(mirrors(v3_dot(v3_unit(v3_add(eye, to_sun)), eye), index, color, metal),
                 gloss * highlight(n, eye, to_sun, f_max(rough, 0.12f)));
    vec3 sun = v3_all(0);
    if (clear < SEE_THROUGH || v3_max(shine) > 1e-3f) {
        if (hit->brick < 0 || v3_dot(hit->normal, to_sun) > -0.2f) {
            sun = sunlight(w, hit->point, hit->normal, dice);
        }
    }
    vec3 body = clear < SEE_THROUGH ? shade_body(w, hit, &node, n, sun, color) : v3_all(0);
    if (clear > 0) {
        body = v3_mix(body, see_through(w, v, hit, n, color, dice), f_min(clear / SEE_THROUGH, 1));
    }
    if (look_of->glint > 0 && particle != UINT32_MAX) {
        const float glint =
            firn_detail_glint(w, hit, particle, n, v3_unit(v3_add(eye, to_sun)), footprint);
        body = v3_along(body, sun, 1.5f * (float)look_of->glint * glint);
    }
    body = v3_add(v3_scale(body, 1 - metal), glow(heat.y));
    if (gloss <= 0) return body;
    const vec3 f =
        v3_scale(mirrors(v3_dot(n, eye), index, color, metal), gloss * (1 - 0.5f * rough));
    const vec3 away = mirror(v->ray.direction, n);
    const firn_ray out = {v3_along(hit->point, hit->normal, 1.2f), away};
    vec3 mirrored;
    if (rough >= 0.25f) {
        mirrored = firn_light_on(&node, away);
    } else if (v->depth < DEEPEST && v3_max(f) > FAINT) {
        const view next = {
            .ray = out, .depth = v->depth + 1, .panes = v->panes, .spread = 4 * v->spread};
        mirrored = look(w, &next, dice, NULL);
    } else {
        mirrored = firn_light_along(&w->light, out);
    }
    const vec3 rest = v3_sub(v3_all(1), f);
    return v3_add(v3_add(v3_mul(body, rest), v3_mul(mirrored, f)), v3_mul(sun, shine));
}

/* ---- rays ---- */

static vec3 look(const firn_render_world *w, const view *v, firn_dice *dice, firn_sample *first)
{
    const firn_ray ray = v->ray;
    float limit = 1e6f;
    const bool down = w->sky.has_ground && ray.direction.y < -1e-5f;
    if (down) limit = f_max((w->sky.ground_y - ray.origin.y) / ray.direction.y, 0);
    float t = limit;
    vec3 normal;
    const int32_t scenery = firn_scenery_trace(w, ray, limit, true, &t, &normal);
    firn_hit hit;
    if (firn_trace_surface(&w->volume, ray, 0, t, &hit)) {
        if (first) {
            first->distance = hit.t;
            const uint32_t p = particle_at(w, &hit);
            if (w->cloud.velocity && p != UINT32_MAX) first->velocity = w->cloud.velocity[p];
        }
        return shade_material(w, v, &hit, dice);
    }
    if (first && (scenery >= 0 || down)) first->distance = t;
    if (scenery >= 0) return shade_scenery(w, v, scenery, t, normal, dice, first);
    if (first && w->transparent) {
        first->alpha = 0;
        return v3_all(0);
    }
    if (down) return shade_ground(w, v, t, dice);
    return backdrop(w, ray.direction);
}

firn_sample firn_shade(const firn_render_world *w, firn_ray ray, firn_dice *dice)
{
    firn_sample s = {.alpha = 1, .distance = 1e6f};
    const view v = {.ray = ray, .spread = w->pixel};
    s.color = look(w, &v, dice, &s);
    const float edge = firn_scenery_edges(w, ray, s.distance, w->pixel);
    if (edge > 0) { /* as bright as the sky, over what there is */
        const vec3 line = v3_mix(firn_environment_on(&w->sky, v3(0, 1, 0)), v3_all(0.8f), 0.5f);
        s.color = v3_add(v3_scale(s.color, 1 - edge), v3_scale(line, edge));
        s.alpha = edge + (1 - edge) * s.alpha;
    }
    const float most = v3_max(s.color);
    if (!(most < BRIGHTEST)) s.color = v3_scale(s.color, most < INFINITY ? BRIGHTEST / most : 0);
    return s;
}
