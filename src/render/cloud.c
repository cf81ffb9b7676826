/* From columns of a file to sorted particles: sizes, layers, tints, keys. */
#include "render/cloud.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* A voxel as a part of the distance between particles: surfaces need several samples of a particle's
 * kernel. */
static const double VOXEL_OF_SPACING[] = {[FIRN_DRAFT] = 1.2, [FIRN_FINAL] = 0.8};
/* Voxels that light goes into what is not clear, at most: seen from so far that this is thin, a body is
 * a few pixels, and rays through it would cost the most. */
static const float DEEPEST = 24;
/* Blocks along a side of the world, 16 bits a coordinate. Particles further out are a speck in any
 * picture of the rest. */
enum { SIDE_BITS = 16 };

uint64_t firn_cloud_block_key(int32_t x, int32_t y, int32_t z)
{
    uint64_t key = 0;
    for (int digit = 0; digit < SIDE_BITS / 2; digit++) {
        const uint64_t part = (uint64_t)((x >> 2 * digit & 3) | (y >> 2 * digit & 3) << 2 |
                                         (z >> 2 * digit & 3) << 4);
        key |= part << 6 * digit;
    }
    return key;
}

void firn_cloud_sort(uint64_t *key, uint32_t *payload, int64_t n, void *spare)
{
    uint64_t *key2 = spare;
    uint32_t *payload2 = (uint32_t *)(key2 + n);
    uint64_t *const key_home = key;
    uint32_t *const payload_home = payload;
    uint64_t all = 0, same = ~(uint64_t)0;
    for (int64_t i = 0; i < n; i++) {
        all |= key[i];
        same &= key[i];
    }
    for (int shift = 0; shift < 64; shift += 11) {
        if (((all ^ same) >> shift & 2047) == 0) continue; /* no two differ here */
        int64_t begin[2049] = {0};
        for (int64_t i = 0; i < n; i++) begin[(key[i] >> shift & 2047) + 1]++;
        for (int d = 0; d < 2048; d++) begin[d + 1] += begin[d];
        for (int64_t i = 0; i < n; i++) {
            const int64_t to = begin[key[i] >> shift & 2047]++;
            key2[to] = key[i];
            payload2[to] = payload[i];
        }
        uint64_t *const k = key;
        uint32_t *const p = payload;
        key = key2;
        payload = payload2;
        key2 = k;
        payload2 = p;
    }
    if (key != key_home) {
        memcpy(key_home, key, (size_t)n * sizeof *key);
        memcpy(payload_home, payload, (size_t)n * sizeof *payload);
    }
}

/* ---- columns ---- */

static double value(const firn_column *c, int64_t i, int component)
{
    return firn_type_get(c->type, c->data, i * c->components + component);
}

static const firn_column *find(const firn_points *points, const char *name, int components)
{
    const firn_column *c = firn_points_find(points, name);
    return c && c->components >= components ? c : NULL;
}

/* A vector column with y up. Two components are x and y. */
static void vector(const firn_column *c, int64_t i, int up, double out[3])
{
    double v[3] = {0};
    for (int a = 0; a < 3 && a < c->components; a++) v[a] = value(c, i, a);
    out[0] = v[0];
    out[1] = v[up];
    out[2] = up == 1 ? v[2] : -v[1];
}

/* The columns that say what a particle is like; NULL where there is none. */
typedef struct reader {
    const firn_render_input *input;
    const firn_column *P, *material, *object, *pscale, *mass, *density;
} reader;

static reader reader_of(const firn_render_input *input)
{
    const firn_points *points = input->points;
    return (reader){.input = input,
                    .P = find(points, "P", 2),
                    .material = find(points, "material", 1),
                    .object = find(points, "object", 1),
                    .pscale = find(points, "pscale", 1),
                    .mass = find(points, "mass", 1),
                    .density = find(points, "density", 1)};
}

/* ---- sizes ---- */

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The number of a particle's look: by its material, else by that of its object. */
static int64_t look_of(const reader *r, int64_t i)
{
    const firn_render_input *in = r->input;
    int64_t row = 0;
    if (r->material) {
        row = firn_whole(value(r->material, i, 0));
    } else if (r->object && in->object_look) {
        const int64_t object = firn_whole(value(r->object, i, 0));
        if (object >= 0 && object < in->object_count) row = in->object_look[object];
    }
    return row < 0 ? 0 : row < in->look_count ? row : in->look_count - 1;
}

/* What the scene says of particles like this one, m; 0: nothing. */
static double known_spacing(const reader *r, int64_t i)
{
    const firn_render_input *in = r->input;
    if (r->object && in->object_spacing) {
        const int64_t object = firn_whole(value(r->object, i, 0));
        if (object >= 0 && object < in->object_count) return in->object_spacing[object];
    }
    return in->look_spacing ? in->look_spacing[look_of(r, i)] : 0;
}

/* Edge of the cube that a particle fills at rest: from its radius, its mass or the scene; 0 where none of
 * them tells. */
static double rest_edge(const reader *r, int64_t i)
{
    if (r->pscale) return 1.6119919540164696 * value(r->pscale, i, 0); /* cbrt(4 pi / 3) */
    if (r->mass && r->density && value(r->density, i, 0) > 0) {
        return cbrt(value(r->mass, i, 0) / value(r->density, i, 0));
    }
    return known_spacing(r, i);
}

double firn_cloud_guess_spacing(const firn_points *points)
{
    enum { SAMPLES = 63, NEAR = 4 };
    const firn_column *P = find(points, "P", 2);
    const int64_t n = points->count;
    const int samples = n < SAMPLES ? (int)n : SAMPLES;
    double at[SAMPLES][3] = {0}, square[SAMPLES][NEAR];
    double first[SAMPLES], fourth[SAMPLES];
    for (int s = 0; s < samples; s++) {
        for (int k = 0; k < NEAR; k++) square[s][k] = INFINITY;
        vector(P, n * s / samples, 1, at[s]);
    }
    for (int64_t i = 0; i < n; i++) {
        double p[3];
        vector(P, i, 1, p);
        for (int s = 0; s < samples; s++) {
            double *near = square[s], d2 = 0;
            for (int a = 0; a < 3; a++) d2 += (p[a] - at[s][a]) * (p[a] - at[s][a]);
            if (!(d2 > 0 && d2 < near[NEAR - 1])) continue;
            int k = NEAR - 1;
            for (; k > 0 && near[k - 1] > d2; k--) near[k] = near[k - 1];
            near[k] = d2;
        }
    }
    int found = 0;
    for (int s = 0; s < samples; s++) {
        int k = NEAR - 1;
        while (k > 0 && !(square[s][k] < INFINITY)) k--; /* there are fewer */
        if (!(square[s][k] < INFINITY)) continue;
        first[found] = sqrt(square[s][0]);
        fourth[found++] = sqrt(square[s][k]);
    }
    qsort(first, (size_t)found, sizeof *first, compare_doubles);
    qsort(fourth, (size_t)found, sizeof *fourth, compare_doubles);
    return found ? fmin(fourth[found / 2], 1.3 * first[found / 2]) : 0;
}

/* The middle one of a few thousand particles, m. A guess is rounded to an eighth of an octave, so that
 * frames agree. */
static double typical_edge(const reader *r)
{
    enum { MOST = 4096 };
    double edge[MOST];
    int n = 0;
    const int64_t count = r->input->points->count, stride = count / MOST + 1;
    for (int64_t i = 0; i < count; i += stride) {
        const double e = rest_edge(r, i);
        if (e > 0 && isfinite(e)) edge[n++] = e;
    }
    if (n == 0) {
        const double guess = firn_cloud_guess_spacing(r->input->points);
        return guess > 0 ? exp2(round(8 * log2(guess)) / 8) : 1;
    }
    qsort(edge, (size_t)n, sizeof *edge, compare_doubles);
    return edge[n / 2];
}

/* ---- layers ---- */

/* Turns the hue about the grey axis (a rotation by Rodrigues). */
static vec3 turn_hue(vec3 c, float angle)
{
    const float s = sinf(angle), t = cosf(angle), mean = v3_mean(c) * (1 - t);
    const vec3 turned = v3_scale(v3(c.z - c.y, c.x - c.z, c.y - c.x), s / sqrtf(3));
    const vec3 out = v3_add(v3_add(v3_scale(c, t), turned), v3_all(mean));
    return v3(f_clamp(out.x, 0.02f, 0.98f), f_clamp(out.y, 0.02f, 0.98f),
              f_clamp(out.z, 0.02f, 0.98f));
}

/* What a deep body of one colour channel absorbs at each scattering when c comes back: van de Hulst 1980
 * gives c as a function of s = sqrt(absorption / extinction), solved here by halving. */
static float absorbed_for(float c)
{
    float low = 0, high = 1;
    for (int i = 0; i < 24; i++) {
        const float s = 0.5f * (low + high);
        *((1 - s) * (1 - 0.139f * s) / (1 + 1.17f * s) > c ? &low : &high) = s;
    }
    return low * low;
}

/* `colored`: particles have colours of their own, and light in them is that of a grey body. */
static void make_layer(const firn_look *look, int32_t object, bool colored, double height_voxels,
                       firn_cloud_layer *out)
{
    *out = (firn_cloud_layer){.look = look, .object = object};
    out->color = v3_of(look->color);
    /* Turns by the golden angle: neighbours in the list differ most. */
    if (look->by_object && look->tint > 0) {
        out->color = turn_hue(out->color, 2.39996323f * (float)look->tint * (float)object);
    }
    /* Clear material leaves its colour of what goes through `depth` of it. */
    const float clear = colored ? 0 : (float)look->clarity;
    const float depth = f_max((float)((colored ? 0.01 : look->depth) * height_voxels), 0.5f);
    const vec3 c = colored ? v3_all(0.5f) : out->color;
    out->scatter = (1 - clear) / f_min(depth, DEEPEST);
    out->absorb =
        v3_scale(v3(-logf(f_max(c.x, 0.01f)), -logf(f_max(c.y, 0.01f)), -logf(f_max(c.z, 0.01f))),
                 clear / depth);
    out->absorb = v3_along(out->absorb, v3(absorbed_for(c.x), absorbed_for(c.y), absorbed_for(c.z)),
                           out->scatter);
}

/* How much each layer is smoothed. One that is an object fewer than LARGE particles across keeps its shape: it
 * is smoothed by no more than a part of its size. */
static void choose_passes(firn_cloud *cloud)
{
    const double LARGE = 10;
    int64_t count[LAYERS_MOST] = {0};
    for (int64_t i = 0; i < cloud->count; i++) count[cloud_key_layer(cloud->key[i])]++;
    for (int32_t l = 0; l < cloud->layer_count; l++) {
        firn_cloud_layer *layer = &cloud->layer[l];
        const double across = cbrt((double)count[l]);
        const double part = layer->look->by_object && across < LARGE ? across / LARGE : 1;
        /* Of the binomial passes, whose variance is 1/2 each. */
        const double sigma = 0.7 * part * layer->look->smooth * (double)cloud->spacing;
        layer->passes = (float)round(2 * sigma * sigma);
        /* That of a step smoothed by kernel and passes, and as much again for particles that weigh more. */
        layer->slope = 0.6f / sqrtf(0.5f * layer->passes + 1);
    }
}

typedef struct layer_finder {
    const reader *reader;
    double height;
    firn_cloud *cloud;
    int32_t last;
} layer_finder;

/* The layer of particle i, made when it is the first of it. */
static int32_t find_layer(layer_finder *f, int64_t i)
{
    firn_cloud *cloud = f->cloud;
    const reader *r = f->reader;
    const firn_look *look = &r->input->look[look_of(r, i)];
    const int32_t object =
        r->object && look->by_object ? (int32_t)firn_whole(value(r->object, i, 0)) : 0;
    const firn_cloud_layer *same = &cloud->layer[f->last];
    if (cloud->layer_count && same->look == look && same->object == object) return f->last;
    for (int32_t l = 0; l < cloud->layer_count; l++) {
        if (cloud->layer[l].look == look && cloud->layer[l].object == object) return f->last = l;
    }
    if (cloud->layer_count == LAYERS_MOST) return f->last = LAYERS_MOST - 1;
    f->last = cloud->layer_count++;
    make_layer(look, object, cloud->color != NULL, f->height, &cloud->layer[f->last]);
    return f->last;
}

/* ---- the cloud ---- */

void firn_cloud_free(firn_cloud *cloud)
{
    free(cloud->key);
    free(cloud->position);
    free(cloud->size);
    free(cloud->hash);
    free(cloud->color);
    free(cloud->heat);
    free(cloud->velocity);
    free(cloud->layer);
    *cloud = (firn_cloud){0};
}

/* Voxel 0, at a whole number of blocks, so that everything fits above it: the middle of the particles
 * goes to the middle of the range when they do not fit. */
static void choose_origin(firn_cloud *cloud, const firn_bounds *box, int up)
{
    const double block = BLOCK * cloud->voxel, range = (1 << SIDE_BITS) * block;
    const double low[3] = {box->low[0], box->low[up], up == 1 ? box->low[2] : -box->high[1]};
    const double high[3] = {box->high[0], box->high[up], up == 1 ? box->high[2] : -box->low[1]};
    for (int a = 0; a < 3; a++) {
        double from = low[a] - 8 * block; /* room for kernels */
        if (high[a] - low[a] > range - 16 * block) from = 0.5 * (low[a] + high[a] - range);
        cloud->origin[a] = block * floor(from / block);
    }
    cloud->blocks_per_side = 1 << SIDE_BITS;
}

static firn_status out_of_memory(firn_error *error, int64_t count)
{
    return firn_fail(error, FIRN_NO_MEMORY, "out of memory to draw %lld particles",
                     (long long)count);
}

/* Fills arrays in the order of the file; key holds block, layer and cell. */
static void gather(const reader *r, int up, layer_finder *layers, firn_cloud *cloud)
{
    const firn_render_input *input = r->input;
    const firn_points *points = input->points;
    const firn_column *v = find(points, "v", 2), *J = find(points, "J", 1);
    const firn_column *id = find(points, "id", 1), *Cd = find(points, "Cd", 3);
    const firn_column *liquid = find(points, "liquid", 1);
    const firn_column *temperature = find(points, "temperature", 1);
    const double limit = (double)BLOCK * (cloud->blocks_per_side - 4);
    int64_t kept = 0;
    for (int64_t i = 0; i < points->count; i++) {
        double at[3];
        vector(r->P, i, up, at);
        bool inside = true;
        for (int a = 0; a < 3; a++) {
            at[a] = (at[a] - cloud->origin[a]) / cloud->voxel;
            inside = inside && at[a] >= 4 * BLOCK && at[a] < limit;
        }
        if (!inside) continue; /* not a number, too */
        double edge = rest_edge(r, i) / cloud->voxel;
        if (!(edge > 0.05 * (double)cloud->spacing)) edge = (double)cloud->spacing;
        /* Density is of the present; radii and the scene's spacing are of the rest state. */
        if (J && (r->pscale || !(r->mass && r->density)))
            edge *= cbrt(fmin(fmax(value(J, i, 0), 0.3), 3));
        cloud->position[kept] = v3((float)at[0], (float)at[1], (float)at[2]);
        cloud->size[kept] = f_min((float)edge, 3 * cloud->spacing);
        cloud->hash[kept] = hash32((uint32_t)(id ? firn_whole(value(id, i, 0)) : i) + 0x9e3779b9u);
        if (input->color) {
            cloud->color[kept] =
                v3(input->color[3 * i], input->color[3 * i + 1], input->color[3 * i + 2]);
        } else if (cloud->color) {
            cloud->color[kept] =
                v3((float)value(Cd, i, 0), (float)value(Cd, i, 1), (float)value(Cd, i, 2));
        }
        if (cloud->heat) {
            cloud->heat[kept] = v3(liquid ? (float)value(liquid, i, 0) : 0,
                                   temperature ? (float)value(temperature, i, 0) : 0, 0);
        }
        if (cloud->velocity) {
            double speed[3];
            vector(v, i, up, speed);
            cloud->velocity[kept] = v3_scale(v3_of(speed), (float)(1 / cloud->voxel));
        }
        const int32_t x = (int32_t)at[0], y = (int32_t)at[1], z = (int32_t)at[2];
        const uint64_t cell = (uint64_t)((x / 2 & 3) | (y / 2 & 3) << 2 | (z / 2 & 3) << 4);
        cloud->key[kept] = (firn_cloud_block_key(x / BLOCK, y / BLOCK, z / BLOCK) << LAYER_BITS |
                            (uint64_t)find_layer(layers, i))
                               << 6 |
                           cell;
        kept++;
    }
    cloud->count = kept;
}

/* Moves items of `size` bytes into the order given; `spare` holds them all. */
static void reorder(void *items, size_t size, const uint32_t *order, int64_t n, void *spare)
{
    if (!items) return;
    const char *from = items;
    char *to = spare;
    for (int64_t i = 0; i < n; i++) memcpy(to + (size_t)i * size, from + order[i] * size, size);
    memcpy(items, spare, (size_t)n * size);
}

static firn_status sort_cloud(firn_cloud *cloud, firn_error *error)
{
    const int64_t n = cloud->count;
    uint32_t *order = malloc((size_t)(n + 1) * sizeof *order);
    void *spare = malloc((size_t)(n + 1) * (sizeof(uint64_t) + sizeof(uint32_t)));
    if (!order || !spare) {
        free(order);
        free(spare);
        return out_of_memory(error, n);
    }
    for (int64_t i = 0; i < n; i++) order[i] = (uint32_t)i;
    firn_cloud_sort(cloud->key, order, n, spare);
    reorder(cloud->position, sizeof(vec3), order, n, spare);
    reorder(cloud->size, sizeof(float), order, n, spare);
    reorder(cloud->hash, sizeof(uint32_t), order, n, spare);
    reorder(cloud->color, sizeof(vec3), order, n, spare);
    reorder(cloud->heat, sizeof(vec3), order, n, spare);
    reorder(cloud->velocity, sizeof(vec3), order, n, spare);
    free(order);
    free(spare);
    return FIRN_OK;
}

firn_status firn_cloud_create(const firn_render_input *input, const firn_render_options *options,
                              double height, firn_cloud *out, firn_error *error)
{
    *out = (firn_cloud){0};
    const firn_points *points = input->points;
    const size_t n = (size_t)points->count + 1;
    const reader columns = reader_of(input);
    if (!columns.P) return firn_fail(error, FIRN_INVALID, "the particles have no positions (P)");
    if (points->count > UINT32_MAX / 2) {
        return firn_fail(error, FIRN_INVALID, "%lld particles; at most 2^31 can be drawn",
                         (long long)points->count);
    }
    const bool moves = options->exposed > 0 && find(points, "v", 2);
    const bool colored = input->color || find(points, "Cd", 3);
    /* Colours that stand for numbers are shown as they are. */
    const bool heated =
        !input->color && (find(points, "liquid", 1) || find(points, "temperature", 1));
    out->key = malloc(n * sizeof *out->key);
    out->position = malloc(n * sizeof *out->position);
    out->size = malloc(n * sizeof *out->size);
    out->hash = malloc(n * sizeof *out->hash);
    out->color = colored ? malloc(n * sizeof *out->color) : NULL;
    out->heat = heated ? malloc(n * sizeof *out->heat) : NULL;
    out->velocity = moves ? malloc(n * sizeof *out->velocity) : NULL;
    out->layer = calloc(LAYERS_MOST, sizeof *out->layer);
    if (!out->key || !out->position || !out->size || !out->hash || !out->layer ||
        (colored && !out->color) || (heated && !out->heat) || (moves && !out->velocity)) {
        firn_cloud_free(out);
        return out_of_memory(error, points->count);
    }
    const double edge = points->count        ? typical_edge(&columns)
                        : input->spacing > 0 ? input->spacing
                                             : 1;
    out->voxel = VOXEL_OF_SPACING[options->quality] * edge;
    out->spacing = (float)(1 / VOXEL_OF_SPACING[options->quality]);
    firn_bounds box = firn_bounds_empty();
    firn_bounds_add(&box, points);
    if (!(box.low[0] <= box.high[0])) box = (firn_bounds){{0}, {0}};
    choose_origin(out, &box, options->up);
    layer_finder layers = {.reader = &columns, .height = height / out->voxel, .cloud = out};
    gather(&columns, options->up, &layers, out);
    choose_passes(out);
    firn_status st = sort_cloud(out, error);
    if (st != FIRN_OK) firn_cloud_free(out);
    return st;
}
