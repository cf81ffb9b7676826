/* Any text read as a scene: an error that names a place, or a scene that can be written out again and
 * whose materials, with all that noise and shells make of them, the engine takes. The
 * bytes up to the first zero are the scene; each further line changes it as --set does. */
#include <stdlib.h>
#include <string.h>

#include "material/material.h"
#include "run/job.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect_reason(firn_status st, const firn_error *error)
{
    if (st != FIRN_OK && (error->status != st || error->message[0] == 0)) abort();
}

/* Lines after the first zero, as --set. */
static firn_status change(firn_tree *tree, const char *lines, size_t size, firn_error *error)
{
    char assignment[256];
    while (size > 0) {
        const char *end = memchr(lines, '\n', size);
        const size_t length = end ? (size_t)(end - lines) : size;
        if (length < sizeof assignment && !memchr(lines, 0, length)) {
            memcpy(assignment, lines, length);
            assignment[length] = 0;
            const firn_status st = firn_tree_set(tree, "--set", assignment, error);
            if (st != FIRN_OK) return st;
        }
        lines += length + (end != NULL);
        size -= length + (end != NULL);
    }
    return FIRN_OK;
}

static void check_variants(const firn_scene *scene)
{
    firn_variants variants;
    firn_error error = {0};
    const firn_status st = firn_variants_make(&variants, scene, &error);
    expect_reason(st, &error);
    for (int32_t i = 0; st == FIRN_OK && i < variants.count; i++) {
        if (firn_material_check(&variants.def[i], i, &error) != FIRN_OK) abort();
    }
    firn_variants_free(&variants);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *zero = size ? memchr(data, 0, size) : NULL;
    const size_t length = zero ? (size_t)(zero - data) : size;
    uint8_t *copy = malloc(length + 1); /* exact, so that reading past its end shows */
    if (!copy) abort();
    if (length) memcpy(copy, data, length);
    const firn_bytes text = {copy, length};
    firn_tree tree;
    firn_error error = {0};
    firn_status st = firn_tree_parse(&tree, "fuzz", &text, &error);
    free(copy);
    if (st == FIRN_OK && zero) {
        st = change(&tree, (const char *)zero + 1, size - length - 1, &error);
    }
    firn_scene scene = {0};
    if (st == FIRN_OK) st = firn_scene_read(&scene, &tree, &error);
    expect_reason(st, &error);
    firn_tree_free(&tree);
    if (st == FIRN_OK) {
        if (scene.object_count < 1 || !(scene.cell_size > 0)) abort();
        free(firn_scene_lines(&scene));
        check_variants(&scene);
        for (int32_t i = 0; i < scene.output_count; i++) {
            free(firn_frame_path(scene.output[i].file, scene.frames.end));
        }
    }
    firn_scene_free(&scene);
    return 0;
}
