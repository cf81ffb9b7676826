/* After McGuire, Hennessy, Bukowski and Osman 2012 ("A reconstruction filter for plausible motion
 * blur"): every pixel gathers along the fastest motion in the tiles around it; what lies in front and
 * moves far enough to get here counts, as does what shows behind where we move ourselves. */
#include "render/blur.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/parallel.h"
#include "render/vec.h"

enum { TILE = 24, TAPS = 32 };
static const float FARTHEST = TILE; /* pixels, of half the motion: so far tiles see */

typedef struct blur_task {
    const firn_image *from;
    firn_image *to;
    const firn_pixel_motion *motion;
    firn_pixel_motion *tile;
    int32_t tiles_x, tiles_y;
} blur_task;

static float length_of(const firn_pixel_motion *m) { return sqrtf(m->x * m->x + m->y * m->y); }

/* Half of the motion, and no more than tiles can see. */
static firn_pixel_motion half_of(firn_pixel_motion m)
{
    const float length = length_of(&m),
                scale = 0.5f * f_min(1, 2 * FARTHEST / f_max(length, 1e-6f));
    return (firn_pixel_motion){m.x * scale, m.y * scale, m.distance};
}

static void find_fastest(void *context, int64_t index, int32_t thread)
{
    (void)thread;
    const blur_task *t = context;
    const int32_t x0 = (int32_t)(index % t->tiles_x) * TILE,
                  y0 = (int32_t)(index / t->tiles_x) * TILE;
    firn_pixel_motion best = {0};
    for (int32_t y = y0; y < y0 + TILE && y < t->from->height; y++) {
        for (int32_t x = x0; x < x0 + TILE && x < t->from->width; x++) {
            const firn_pixel_motion m = half_of(t->motion[(int64_t)y * t->from->width + x]);
            if (length_of(&m) > length_of(&best)) best = m;
        }
    }
    t->tile[index] = best;
}

/* 1 where a is clearly in front of b, 0 where it is behind, smooth between. */
static float in_front(float a, float b)
{
    return f_clamp(0.5f + (b - a) / (0.02f * f_min(a, b) + 1e-6f), 0, 1);
}

/* How much of a smear of half length `reach` arrives at a distance. */
static float cone(float distance, float reach)
{
    return f_clamp(1 - distance / f_max(reach, 1e-3f), 0, 1);
}
static float slab(float distance, float reach)
{
    return 1 - f_step(0.95f * reach, 1.05f * reach, distance);
}

static void blur_row(void *context, int64_t row, int32_t thread)
{
    (void)thread;
    const blur_task *t = context;
    const int32_t width = t->from->width, height = t->from->height;
    for (int32_t x = 0; x < width; x++) {
        const int64_t at = row * width + x;
        const float *own = t->from->rgba + 4 * at;
        float *out = t->to->rgba + 4 * at;
        firn_pixel_motion along = {0};
        for (int n = 0; n < 9; n++) {
            const int32_t tx = x / TILE + n % 3 - 1, ty = (int32_t)row / TILE + n / 3 - 1;
            if (tx < 0 || ty < 0 || tx >= t->tiles_x || ty >= t->tiles_y) continue;
            const firn_pixel_motion *m = &t->tile[ty * t->tiles_x + tx];
            if (length_of(m) > length_of(&along)) along = *m;
        }
        memcpy(out, own, 4 * sizeof *out);
        if (length_of(&along) < 0.5f) continue;
        const firn_pixel_motion here = half_of(t->motion[at]);
        const float reach = f_max(length_of(&here), 0.5f);
        float weight = 1 / reach, sum[4];
        for (int c = 0; c < 4; c++) sum[c] = weight * own[c];
        const float shift = hash_unit(hash32((uint32_t)at)) - 0.5f; /* noise instead of steps */
        for (int tap = 0; tap < TAPS; tap++) {
            const float part = 2 * ((float)tap + 0.5f + 0.8f * shift) / TAPS - 1;
            const int32_t px = (int32_t)f_clamp((float)x + 0.5f + part * along.x, 0,
                                                (float)(width - 1)),
                          py = (int32_t)f_clamp((float)row + 0.5f + part * along.y, 0,
                                                (float)(height - 1));
            const int64_t there = (int64_t)py * width + px;
            const firn_pixel_motion m = half_of(t->motion[there]);
            const float far = fabsf(part) * length_of(&along), its = f_max(length_of(&m), 0.5f);
            const float w = in_front(m.distance, here.distance) * cone(far, its) +
                            in_front(here.distance, m.distance) * cone(far, reach) +
                            2 * slab(far, its) * slab(far, reach);
            for (int c = 0; c < 4; c++) sum[c] += w * t->from->rgba[4 * there + c];
            weight += w;
        }
        for (int c = 0; c < 4; c++) out[c] = sum[c] / weight;
    }
}

firn_status firn_image_blur(firn_image *image, const firn_pixel_motion *motion, int32_t threads,
                            firn_error *error)
{
    firn_image done;
    firn_status st = firn_image_create(image->width, image->height, &done, error);
    if (st != FIRN_OK) return st;
    blur_task task = {.from = image, .to = &done, .motion = motion};
    task.tiles_x = (image->width + TILE - 1) / TILE;
    task.tiles_y = (image->height + TILE - 1) / TILE;
    const int64_t tiles = (int64_t)task.tiles_x * task.tiles_y;
    task.tile = malloc((size_t)tiles * sizeof *task.tile);
    if (task.tile) {
        firn_parallel_for(threads, tiles, 8, find_fastest, &task);
        firn_parallel_for(threads, image->height, 4, blur_row, &task);
        memcpy(image->rgba, done.rgba,
               (size_t)image->width * (size_t)image->height * 4 * sizeof *done.rgba);
    } else {
        st = firn_fail(error, FIRN_NO_MEMORY, "out of memory for motion blur");
    }
    free(task.tile);
    firn_image_free(&done);
    return st;
}
