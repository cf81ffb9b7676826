/* Any bytes as a checkpoint: refused with a reason, or a state that can be stepped and hashed. */
#include <stdlib.h>
#include <string.h>

#include "run/job.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* How many were loaded: replay.c expects it of every file of the corpus, which a new version of
 * checkpoints makes useless. */
extern int fuzz_taken;
int fuzz_taken;

/* A state says how many particles follow, and has room made for them: refused beyond what inputs can
 * stand for. */
static void *limited(void *user_data, void *block, size_t old_size, size_t new_size,
                     size_t alignment)
{
    if (new_size > (size_t)64 << 20) return NULL;
    const firn_allocator plain = firn_allocator_default();
    return plain.reallocate(user_data, block, old_size, new_size, alignment);
}

static void load(firn_checkpoint *c, int32_t dimension)
{
    firn_scene_material material = {.def = firn_material_def_default()};
    const firn_collider_def ground = firn_collider_def_default();
    firn_sim_def def = firn_sim_def_default();
    def.dimension = dimension;
    def.cell_size = 0.125;
    def.materials = &material.def;
    def.material_count = 1;
    def.colliders = &ground;
    def.collider_count = 1;
    def.threads = 1;
    def.allocator = (firn_allocator){limited, NULL};
    const size_t objects = (size_t)c->object_count + 1;
    const firn_scene scene = {.dimension = dimension,
                              .material = &material,
                              .material_count = 1,
                              .object = calloc(objects, sizeof *scene.object),
                              .object_count = c->object_count};
    firn_job job = {.scene = &scene, .object = calloc(objects, sizeof *job.object)};
    firn_error error = {0};
    if (!scene.object || !job.object || firn_sim_create(&def, &job.sim, &error) != FIRN_OK ||
        firn_variants_make(&job.variants, &scene, &error) != FIRN_OK ||
        firn_props_open(&job.props, &scene, 0, 1, &error) != FIRN_OK) {
        abort();
    }
    if (firn_checkpoint_load(c, &job, &error) == FIRN_OK) {
        fuzz_taken++;
        firn_hash hash;
        firn_points points;
        if (firn_sim_hash(job.sim, &hash, &error) != FIRN_OK) abort();
        if (firn_job_points(&job, NULL, INT64_MAX, &points, &error) == FIRN_OK)
            firn_points_free(&points);
        (void)!firn_sim_step(job.sim, NULL, &error);
    } else if (error.message[0] == 0) {
        abort();
    }
    firn_job_deinit(&job);
    free(scene.object);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { SIZES = 24, HEAD = 72 }; /* where the head has its three sizes, and where it ends */
    firn_bytes bytes = {malloc(size + 1), size};
    if (!bytes.data) abort();
    if (size) memcpy(bytes.data, data, size);
    if (size >= HEAD + 8) { /* sizes that fit and a true sum, or hardly anything would get past */
        uint64_t part[3];
        memcpy(part, bytes.data + SIZES, sizeof part);
        const uint64_t room = size - HEAD - 8;
        part[0] %= room + 1;
        part[1] %= room - part[0] + 1;
        part[2] = room - part[0] - part[1];
        memcpy(bytes.data + SIZES, part, sizeof part);
        const uint64_t sum = firn_checkpoint_sum(bytes.data, size - 8);
        memcpy(bytes.data + size - 8, &sum, sizeof sum);
    }
    firn_checkpoint c;
    firn_error error = {0};
    const firn_status st = firn_checkpoint_parse("fuzz", &bytes, &c, &error);
    if (st != FIRN_OK && error.message[0] == 0) abort();
    if (st == FIRN_OK) load(&c, c.frame & 1 ? 3 : 2);
    firn_checkpoint_free(&c);
    return 0;
}
