/* Turns noise and shells into variants of materials, and gives each particle its variant and its
 * mass. */
#include "run/variant.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/parallel.h"
#include <firn/geometry.h>
#include "geometry/random.h"

/* ---- the table ---- */

int32_t firn_noise_steps(const firn_scene_material *m)
{
    static const int32_t steps[FIRN_NOISE_LAYERS + 1] = {1, 64, 16, 8};
    return steps[m->layer_count];
}

/* Steps of one layer times those of the next. */
static int32_t count_variants(const firn_scene_material *m)
{
    int32_t count = 1;
    for (int32_t f = 0; f < m->layer_count; f++) count *= firn_noise_steps(m);
    return count;
}

static void scale(firn_material_def *def, const firn_param *p, double factor)
{
    double value;
    memcpy(&value, (const char *)def + p->offset, sizeof value);
    value *= factor;
    memcpy((char *)def + p->offset, &value, sizeof value);
}

/* The number-th combination of steps; each stands for the middle of its step. */
static firn_material_def make_variant(const firn_scene_material *m, const firn_scene_shell *shell,
                                      int32_t number)
{
    firn_material_def def = m->def;
    const int32_t steps = firn_noise_steps(m);
    for (int32_t k = 0; k < m->noise_count; k++) {
        const firn_scene_noise *n = &m->noise[k];
        if (n->layer < 0) continue;
        int32_t step = number;
        for (int32_t f = 0; f < n->layer; f++) step /= steps;
        const double noise = (2.0 * (step % steps) + 1) / steps - 1;
        scale(&def, firn_material_param(n->parameter), 1 + n->amount * noise);
    }
    for (int32_t i = 0; shell && firn_material_param(i); i++) {
        const firn_param *p = firn_material_param(i);
        double factor;
        memcpy(&factor, (const char *)&shell->factor + p->offset, sizeof factor);
        if (p->offset != offsetof(firn_material_def, density)) scale(&def, p, factor);
    }
    return def;
}

/* Whether two shells are of the same material; how thick they are does not matter. */
static bool same_factors(const firn_scene_shell *a, const firn_scene_shell *b)
{
    bool same = true;
    for (int32_t i = 0; firn_material_param(i) && same; i++) {
        const size_t offset = firn_material_param(i)->offset;
        if (offset == offsetof(firn_material_def, density)) continue;
        same = memcmp((const char *)&a->factor + offset, (const char *)&b->factor + offset,
                      sizeof(double)) == 0;
    }
    return same;
}

/* Adds all variants of a material, in a shell or not; *first receives where they begin. */
static firn_status add_variants(firn_variants *out, const firn_scene *scene, int32_t material,
                                const firn_scene_object *object, int32_t *first, firn_error *error)
{
    const firn_scene_material *m = &scene->material[material];
    const int32_t count = count_variants(m);
    if (out->count + count > FIRN_VARIANTS) {
        return firn_value_fail(
            object ? object->shell_value : m->noise_value, error,
            "noises and shells make more than %d variants of materials; have fewer "
            "noises that differ, or the same factors in several shells",
            FIRN_VARIANTS);
    }
    *first = out->count;
    for (int32_t i = 0; i < count; i++) {
        out->of[out->count] = (uint16_t)material;
        out->def[out->count++] = make_variant(m, object ? &object->shell : NULL, i);
    }
    return FIRN_OK;
}

static firn_status add_shell(firn_variants *out, const firn_scene *scene, int32_t index,
                             firn_error *error)
{
    const firn_scene_object *o = &scene->object[index];
    out->first_shell[index] = out->first[o->material_index];
    firn_scene_shell none = {0};
    firn_error ignored;
    (void)firn_section_read(&firn_section_shell, NULL, &none, &ignored); /* all factors 1 */
    if (!o->shell_value || same_factors(&o->shell, &none)) return FIRN_OK;
    for (int32_t k = 0; k < index; k++) {
        const firn_scene_object *before = &scene->object[k];
        if (before->shell_value && before->material_index == o->material_index &&
            same_factors(&before->shell, &o->shell)) {
            out->first_shell[index] = out->first_shell[k];
            return FIRN_OK;
        }
    }
    return add_variants(out, scene, o->material_index, o, &out->first_shell[index], error);
}

firn_status firn_variants_make(firn_variants *out, const firn_scene *scene, firn_error *error)
{
    const int32_t materials = scene->material_count;
    *out = (firn_variants){0};
    if (materials > FIRN_VARIANTS) {
        return firn_value_fail(scene->materials_value, error, "more than %d materials",
                               FIRN_VARIANTS);
    }
    out->def = calloc(FIRN_VARIANTS, sizeof *out->def);
    out->of = calloc(FIRN_VARIANTS, sizeof *out->of);
    out->first = calloc((size_t)materials + 1, sizeof *out->first);
    out->first_shell = calloc((size_t)scene->object_count + 1, sizeof *out->first_shell);
    if (!out->def || !out->of || !out->first || !out->first_shell) {
        firn_variants_free(out);
        return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    }
    for (; out->count < materials; out->count++) {
        out->def[out->count] = scene->material[out->count].def;
        out->of[out->count] = (uint16_t)out->count;
        out->first[out->count] = out->count;
    }
    firn_status st = FIRN_OK;
    for (int32_t i = 0; i < materials && st == FIRN_OK; i++) {
        if (scene->material[i].layer_count > 0) {
            st = add_variants(out, scene, i, NULL, &out->first[i], error);
        }
    }
    for (int32_t i = 0; i < scene->object_count && st == FIRN_OK; i++) {
        st = add_shell(out, scene, i, error);
    }
    if (st != FIRN_OK) firn_variants_free(out);
    return st;
}

void firn_variants_free(firn_variants *variants)
{
    free(variants->def);
    free(variants->of);
    free(variants->first);
    free(variants->first_shell);
    *variants = (firn_variants){0};
}

uint64_t firn_variants_sum(const firn_variants *variants, const firn_scene *scene)
{
    if (variants->count == scene->material_count) return 0;
    uint64_t sum = (uint64_t)variants->count;
    for (int32_t i = 0; i < scene->material_count; i++) {
        sum = firn_mix(sum + (uint64_t)variants->first[i]);
        const firn_scene_material *m = &scene->material[i];
        for (int32_t k = 0; k < m->noise_count; k++) {
            sum = firn_mix(sum + 256 * (uint64_t)m->noise[k].parameter +
                           (uint64_t)(m->noise[k].layer + 1));
        }
    }
    for (int32_t i = 0; i < scene->object_count; i++) {
        sum = firn_mix(sum + (uint64_t)variants->first_shell[i]);
    }
    return sum;
}

/* ---- particles ---- */

typedef struct varying {
    const firn_variants *variants;
    const firn_sources *sources;
    int32_t index; /* of the object */
    firn_batch *batch;
} varying;

static void vary_particle(void *context, int64_t i, int32_t thread)
{
    (void)thread;
    const varying *v = context;
    const firn_scene *scene = v->sources->scene;
    const firn_scene_object *o = &scene->object[v->index];
    const int32_t material = v->batch->material[i];
    const firn_scene_material *m = &scene->material[material];
    const size_t dim = (size_t)scene->dimension;
    double x[3] = {0}, *mass = &v->batch->mass[i];
    memcpy(x, v->batch->position + (size_t)i * dim, dim * sizeof *x);
    const double depth = !o->shell_value ? 0
                         : v->batch->depth
                             ? v->batch->depth[i]
                             : firn_sources_depth(v->sources, v->index, x, o->shell.thickness);
    if (v->batch->place) memcpy(x, v->batch->place + (size_t)i * dim, dim * sizeof *x);
    int32_t number = 0, layer = 0, weight = 1;
    for (int32_t k = 0; k < m->noise_count; k++) {
        const firn_scene_noise *n = &m->noise[k];
        if (n->layer >= 0 && n->layer < layer) continue; /* has been asked for */
        const double noise =
            firn_noise(x, n->feature, (int32_t)n->octaves, (uint64_t)(scene->seed + n->seed));
        if (n->layer < 0) {
            *mass *= 1 + n->amount * noise;
            continue;
        }
        const int32_t steps = firn_noise_steps(m), step = (int32_t)((noise + 1) / 2 * steps);
        number += weight * (step < steps ? step : steps - 1);
        weight *= steps;
        layer++;
    }
    const bool inside = o->shell_value && depth < o->shell.thickness;
    if (inside) *mass *= o->shell.factor.density;
    const int32_t first =
        inside ? v->variants->first_shell[v->index] : v->variants->first[material];
    v->batch->material[i] = (uint16_t)(first + number);
}

firn_status firn_variants_apply(const firn_variants *variants, const firn_sources *sources,
                                int32_t index, int32_t threads, firn_batch *b, firn_error *error)
{
    const firn_scene *scene = sources->scene;
    const firn_scene_object *o = &scene->object[index];
    bool varies = o->shell_value != NULL;
    for (int32_t i = 0; i < scene->material_count; i++) {
        varies = varies || scene->material[i].noise_count > 0;
    }
    if (!varies) return FIRN_OK;
    if (!b->material) {
        b->material = malloc(((size_t)b->count + 1) * sizeof *b->material);
        if (!b->material) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
        for (int64_t i = 0; i < b->count; i++) b->material[i] = (uint16_t)o->material_index;
    }
    varying v = {variants, sources, index, b};
    firn_parallel_for(threads, b->count, 1024, vary_particle, &v);
    return FIRN_OK;
}
