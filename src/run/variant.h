/* What noise and shells make of the scene's materials.
 *
 * The engine's parameters are those of a material, not of a particle. So noise is cut into steps, and every
 * combination of steps is a material of the engine: a variant. Density is not among them: it is in the
 * particles' masses, as exact as they are. Which variant a particle has follows from where it is at rest,
 * not from the order of filling. */
#ifndef FIRN_SCENE_VARIANT_H
#define FIRN_SCENE_VARIANT_H

#include "run/source.h"

enum { FIRN_VARIANTS = 4096 }; /* materials of the engine at most */

/* Owned; freed by firn_variants_free. */
typedef struct firn_variants {
    firn_material_def *def; /* the scene's materials, then variants of them */
    uint16_t *of;           /* the scene's material that each is made of */
    int32_t count;
    int32_t *first;       /* of each material without a shell */
    int32_t *first_shell; /* of each object in its shell; as without where there is none */
} firn_variants;

firn_status firn_variants_make(firn_variants *out, const firn_scene *scene, firn_error *error);
void firn_variants_free(firn_variants *variants);

/* The same where variants have the same meaning; 0 where there are none. */
uint64_t firn_variants_sum(const firn_variants *variants, const firn_scene *scene);

/* Steps that each layer of a material's noise is cut into: noise is off by 1 / steps at most. */
int32_t firn_noise_steps(const firn_scene_material *material);

/* Changes masses and materials of what object `index` fills; masses must be there. */
firn_status firn_variants_apply(const firn_variants *variants, const firn_sources *sources,
                                int32_t index, int32_t threads, firn_batch *batch,
                                firn_error *error);

#endif
