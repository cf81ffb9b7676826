/* The picture: particles to density, light on it, then samples, more of them where they differ. */
#include "render/render.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/parallel.h"
#include "render/blur.h"
#include "render/world.h"

firn_render_options firn_render_options_default(void)
{
    return (firn_render_options){.width = 1280, .height = 720, .quality = FIRN_FINAL, .up = 1};
}

/* ---- camera ---- */

/* A round number of metres, about a third of the picture's height. */
static double line_distance(double height)
{
    const double power = pow(10, floor(log10(height / 3)));
    const double part = height / 3 / power;
    return power * (part < 2 ? 1 : part < 5 ? 2 : 5);
}

static void aim(firn_render_world *w, const firn_camera *camera, int32_t height)
{
    const vec3 target = firn_render_world_point(w, camera->target);
    w->eye = firn_render_world_point(w, camera->position);
    w->back = v3_unit(v3_sub(w->eye, target));
    const double *u = camera->up;
    const vec3 up = v3((float)u[0], (float)u[w->up], (float)(w->up == 1 ? u[2] : -u[1]));
    vec3 right = v3_cross(up, w->back);
    if (v3_dot(right, right) < 1e-10f) right = v3_cross(v3(up.y, up.z, up.x), w->back);
    w->right = v3_unit(right);
    w->upward = v3_cross(w->back, w->right);
    w->distance = v3_length(v3_sub(w->eye, target));
    w->half_height = tanf(0.5f * (float)camera->field_of_view);
    w->pixel = 2 * w->half_height / (float)height;
    w->lens = (float)(0.5 * camera->aperture / w->cloud.voxel);
    w->focus = (float)(camera->focus / w->cloud.voxel);
    w->ground_line =
        (float)(line_distance(2 * (double)(w->half_height * w->distance) * w->cloud.voxel) /
                w->cloud.voxel);
}

/* ---- samples ---- */

typedef struct pixel {
    vec3 color;
    float alpha, square; /* sums; square of the luminance as shown */
    float distance;      /* the least */
    vec3 velocity;       /* sum */
    int32_t samples;
} pixel;

typedef struct sampler {
    const firn_render_world *world;
    const firn_render_options *options;
    pixel *pixel;
    const uint8_t *wanted; /* more samples of each pixel; NULL: `count` of all */
    int32_t count;
} sampler;

/* Brightness as a screen shows it, nearly. */
static float shown(vec3 c)
{
    const float y = 0.2126f * c.x + 0.7152f * c.y + 0.0722f * c.z;
    return sqrtf(y / (1 + y));
}

/* A plane's points one after the other, evenly spread however many are taken (Roberts 2018's R2). */
static void spread_pair(int32_t i, uint32_t shift, float out[2])
{
    const float a = hash_unit(shift) + 0.7548776662466927f * (float)i,
                b = hash_unit(hash32(shift + 1)) + 0.5698402909980532f * (float)i;
    out[0] = a - floorf(a);
    out[1] = b - floorf(b);
}

/* `lens` says through which point of the lens; NULL: its middle. */
static firn_ray camera_ray(const firn_render_world *w, const firn_render_options *o, float x,
                           float y, const float lens[2])
{
    const float sx = (2 * x - (float)o->width) / (float)o->height * w->half_height,
                sy = (1 - 2 * y / (float)o->height) * w->half_height;
    vec3 d = v3_sub(v3_add(v3_scale(w->right, sx), v3_scale(w->upward, sy)), w->back);
    vec3 from = w->eye;
    if (lens && w->lens > 0) {
        const float r = w->lens * sqrtf(lens[0]), a = 6.2831853f * lens[1];
        const vec3 shift = v3_along(v3_scale(w->right, r * cosf(a)), w->upward, r * sinf(a));
        from = v3_add(from, shift);
        d = v3_sub(v3_scale(d, w->focus), shift);
    }
    return (firn_ray){from, v3_unit(d)};
}

static void sample_row(void *context, int64_t row, int32_t thread)
{
    (void)thread;
    const sampler *s = context;
    const firn_render_options *o = s->options;
    for (int32_t x = 0; x < o->width; x++) {
        const int64_t at = row * o->width + x;
        pixel *p = &s->pixel[at];
        const int32_t more = s->wanted ? s->wanted[at] : s->count;
        const uint32_t seed = hash32((uint32_t)at ^ hash32((uint32_t)o->seed + 0x68bc21ebu));
        for (int32_t i = 0; i < more; i++) {
            const int32_t number = p->samples++;
            float in[2], lens[2];
            spread_pair(number, seed, in);
            spread_pair(number, hash32(seed + 77), lens);
            firn_dice dice = {.state = hash32(seed + 0x9e3779b9u * (uint32_t)number)};
            spread_pair(number, hash32(seed + 177), dice.sun);
            const firn_ray ray =
                camera_ray(s->world, o, (float)x + in[0], (float)row + in[1], lens);
            const firn_sample got = firn_shade(s->world, ray, &dice);
            const float bright = shown(got.color);
            p->color = v3_add(p->color, got.color);
            p->alpha += got.alpha;
            p->square += bright * bright;
            p->velocity = v3_add(p->velocity, got.velocity);
            p->distance = number == 0 ? got.distance : f_min(p->distance, got.distance);
        }
    }
}

/* The error that a pixel's mean may have, as shown: half a step of 8 bits is 0.002. */
static const float TOLERANCE = 0.012f;

/* How many more samples a pixel takes: as many as its neighbours' and its own spread ask for, and
 * where the picture changes from pixel to pixel, for smooth edges. */
static uint8_t more_samples(const firn_render_options *o, const pixel *pixels, int32_t x, int32_t y,
                            int32_t base, int32_t most)
{
    float low = INFINITY, high = 0, spread = 0;
    for (int n = 0; n < 9; n++) {
        const int32_t nx = x + n % 3 - 1, ny = y + n / 3 - 1;
        if (nx < 0 || ny < 0 || nx >= o->width || ny >= o->height) continue;
        const pixel *p = &pixels[(int64_t)ny * o->width + nx];
        const float b = shown(v3_scale(p->color, 1 / (float)p->samples));
        low = f_min(low, b);
        high = f_max(high, b);
        spread = f_max(spread, p->square / (float)base - b * b);
    }
    const float edge = o->quality == FIRN_FINAL ? 0.04f : 0.12f;
    const float asked =
        f_max(spread / (TOLERANCE * TOLERANCE), (float)most * f_step(edge, 4 * edge, high - low));
    return (uint8_t)f_clamp(asked - (float)base, 0, (float)(most - base));
}

static firn_status take_samples(const firn_render_world *w, const firn_render_options *o,
                                int32_t threads, pixel *pixels, firn_error *error)
{
    const bool final = o->quality == FIRN_FINAL;
    int32_t most = o->samples > 0 ? o->samples : final ? 16 : 3;
    if (o->samples <= 0 && w->lens > 0) most *= 3; /* what is out of focus is a mean of much */
    if (most > FIRN_SAMPLES_MOST) most = FIRN_SAMPLES_MOST;
    const int32_t few = final ? 3 : 1, base = most < few ? most : few;
    const size_t count = (size_t)o->width * (size_t)o->height;
    sampler s = {.world = w, .options = o, .pixel = pixels, .count = base};
    firn_parallel_for(threads, o->height, 1, sample_row, &s);
    if (most == base) return FIRN_OK;
    uint8_t *wanted = malloc(count);
    if (!wanted) return firn_fail(error, FIRN_NO_MEMORY, "out of memory for a picture");
    for (int32_t y = 0; y < o->height; y++) {
        for (int32_t x = 0; x < o->width; x++) {
            wanted[(int64_t)y * o->width + x] = more_samples(o, pixels, x, y, base, most);
        }
    }
    s.wanted = wanted;
    firn_parallel_for(threads, o->height, 1, sample_row, &s);
    free(wanted);
    return FIRN_OK;
}

/* ---- from samples to the picture ---- */

/* How far a pixel's samples move across the picture while the shutter is open, on average. */
static firn_pixel_motion motion_of(const firn_render_world *w, const firn_render_options *o,
                                   const pixel *p, int32_t x, int32_t y)
{
    const firn_ray ray = camera_ray(w, o, (float)x + 0.5f, (float)y + 0.5f, NULL);
    const vec3 v = v3_scale(p->velocity, (float)o->exposed / (float)p->samples);
    const float depth = -v3_dot(ray.direction, w->back) * p->distance; /* along the axis */
    const float closer = v3_dot(v, w->back), ahead = f_max(depth - closer, 0.1f * depth);
    const vec3 point = v3_scale(ray.direction, p->distance), moved = v3_add(point, v);
    const float pixels = 1 / w->pixel;
    return (firn_pixel_motion){
        pixels * (v3_dot(moved, w->right) / ahead - v3_dot(point, w->right) / depth),
        -pixels * (v3_dot(moved, w->upward) / ahead - v3_dot(point, w->upward) / depth),
        p->distance};
}

static firn_status develop(const firn_render_world *w, const firn_render_options *o,
                           const pixel *pixels, int32_t threads, firn_image *out, firn_error *error)
{
    const size_t count = (size_t)o->width * (size_t)o->height;
    for (size_t i = 0; i < count; i++) {
        const float n = (float)pixels[i].samples; /* n / n is 1, n * (1 / n) may not be */
        float *to = out->rgba + 4 * i;
        to[0] = pixels[i].color.x / n;
        to[1] = pixels[i].color.y / n;
        to[2] = pixels[i].color.z / n;
        to[3] = pixels[i].alpha / n;
    }
    if (!w->cloud.velocity) return FIRN_OK;
    assert(count > 0);
    firn_pixel_motion *motion = malloc(count * sizeof *motion);
    if (!motion) return firn_fail(error, FIRN_NO_MEMORY, "out of memory for motion blur");
    for (int32_t y = 0; y < o->height; y++) {
        for (int32_t x = 0; x < o->width; x++) {
            const int64_t i = (int64_t)y * o->width + x;
            motion[i] = motion_of(w, o, &pixels[i], x, y);
        }
    }
    const firn_status st = firn_image_blur(out, motion, threads, error);
    free(motion);
    return st;
}

/* ---- what is where ---- */

typedef struct sighting {
    const firn_render_world *world;
    const firn_render_world *all; /* with hidden colliders too */
    const firn_render_options *options;
    firn_sight *sight;
} sighting;

static void sight_row(void *context, int64_t row, int32_t thread)
{
    (void)thread;
    const sighting *s = context;
    const firn_render_world *w = s->world;
    for (int32_t x = 0; x < s->options->width; x++) {
        const firn_ray ray = camera_ray(w, s->options, (float)x + 0.5f, (float)row + 0.5f, NULL);
        const float axial = -v3_dot(ray.direction, w->back) * (float)w->cloud.voxel;
        float far = INFINITY, to = 1e6f;
        vec3 normal = v3_all(0);
        firn_hit hit;
        if (w->sky.has_ground && ray.direction.y < -1e-5f) {
            far = to = f_max((w->sky.ground_y - ray.origin.y) / ray.direction.y, 0);
        }
        float at = to;
        firn_sight *out = &s->sight[row * s->options->width + x];
        out->collider = firn_scenery_trace(s->all, ray, to, true, &at, &normal);
        out->collider_depth = axial * at;
        memcpy(out->normal, (float[]){normal.x, normal.y, normal.z}, sizeof out->normal);
        if (firn_scenery_trace(w, ray, to, false, &to, &normal) >= 0) far = to;
        if (firn_trace_surface(&w->volume, ray, 0, to, &hit)) far = hit.t;
        out->depth = axial * far;
    }
}

static firn_status take_sight(const firn_render_world *w, const firn_render_input *input,
                              const firn_render_options *options, int32_t threads,
                              firn_sight *sight, firn_error *error)
{
    firn_render_input more = *input;
    firn_render_world all = *w;
    more.collider_count += more.hidden_count;
    all.scenery_count = 0;
    all.tree = NULL;
    const firn_status st = firn_scenery_create(&all, &more, error);
    sighting s = {w, &all, options, sight};
    if (st == FIRN_OK) firn_parallel_for(threads, options->height, 1, sight_row, &s);
    firn_scenery_free(&all);
    return st;
}

/* ---- all of it ---- */

/* Of the picture at the target, m; looks are relative to it. */
static double picture_height(const firn_camera *camera)
{
    double away = 0;
    for (int a = 0; a < 3; a++) away += pow(camera->position[a] - camera->target[a], 2);
    return 2 * sqrt(away) * tan(0.5 * camera->field_of_view);
}

static firn_status check(const firn_render_input *input, const firn_render_options *o,
                         firn_error *error)
{
    if (o->width < 1 || o->height < 1 || o->width > FIRN_IMAGE_MOST ||
        o->height > FIRN_IMAGE_MOST) {
        return firn_fail(error, FIRN_INVALID, "a picture of %d x %d; each side must be 1 to %d",
                         o->width, o->height, FIRN_IMAGE_MOST);
    }
    if (o->up != 1 && o->up != 2) {
        return firn_fail(error, FIRN_INVALID, "up is axis %d; it must be 1 (y) or 2 (z)", o->up);
    }
    if (!(picture_height(input->camera) > 0) || !isfinite(picture_height(input->camera))) {
        return firn_fail(error, FIRN_INVALID,
                         "the camera is at its target or sees nothing; move it "
                         "or widen its field of view");
    }
    if (input->look_count < 1) return firn_fail(error, FIRN_INVALID, "no look was given");
    return FIRN_OK;
}

static void free_world(firn_render_world *w)
{
    firn_light_map_free(&w->light);
    firn_volume_free(&w->volume);
    firn_cloud_free(&w->cloud);
    firn_scenery_free(w);
}

firn_status firn_render(const firn_render_input *input, const firn_render_options *options,
                        firn_image *out, firn_error *error)
{
    return firn_render_with_sight(input, options, NULL, out, error);
}

firn_status firn_render_with_sight(const firn_render_input *input,
                                   const firn_render_options *options, firn_sight *sight,
                                   firn_image *out, firn_error *error)
{
    *out = (firn_image){0};
    firn_status st = check(input, options, error);
    if (st != FIRN_OK) return st;
    const firn_camera *camera = input->camera;
    const int32_t threads = options->threads > 0 ? options->threads : firn_parallel_max_threads();
    firn_render_world w = {
        .mode = options->mode, .up = options->up, .transparent = options->transparent};
    w.sky = firn_sky_of(input->light);
    w.shadow_step = options->quality == FIRN_FINAL ? 1 : 2;
    st = firn_cloud_create(input, options, picture_height(camera), &w.cloud, error);
    if (st == FIRN_OK) {
        aim(&w, camera, options->height);
        st = firn_scenery_create(&w, input, error);
    }
    if (st == FIRN_OK) st = firn_volume_create(&w.cloud, w.mode, threads, &w.volume, error);
    if (st == FIRN_OK) {
        const vec3 target = v3_along(w.eye, w.back, -w.distance);
        st = firn_light_map_create(&w.volume, &w.sky, options->quality, target,
                                   2 * w.half_height * w.distance, threads, &w.light, error);
    }
    pixel *pixels = NULL;
    if (st == FIRN_OK) st = firn_image_create(options->width, options->height, out, error);
    if (st == FIRN_OK) {
        pixels = calloc((size_t)options->width * (size_t)options->height, sizeof *pixels);
        st = pixels ? take_samples(&w, options, threads, pixels, error)
                    : firn_fail(error, FIRN_NO_MEMORY, "out of memory for a picture");
    }
    if (st == FIRN_OK) st = develop(&w, options, pixels, threads, out, error);
    if (st == FIRN_OK && sight) st = take_sight(&w, input, options, threads, sight, error);
    free(pixels);
    free_world(&w);
    if (st != FIRN_OK) firn_image_free(out);
    return st;
}
