/* Any bytes, read as an OpenVDB file: no crash, no leak, voxels that are really there, and what was read
 * can be written. */
#include <stdlib.h>
#include <string.h>

#include "io/volume.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

extern int fuzz_taken;
int fuzz_taken;

static volatile float seen; /* so that every value is read */

static void look(const firn_volume *v)
{
    for (int64_t i = 0; i < v->block_count * FIRN_BLOCK_VOXELS * v->components; i++) {
        seen += v->value[i];
    }
    for (int64_t i = 0; i < v->tile_count; i++) seen += v->tile[i].value[0];
    const firn_volume_info info = firn_volume_get_info(v);
    float value[3] = {0};
    if (v->components > 0) firn_volume_get(v, info.high, value);
    seen += value[0];
}

/* As far as its volumes are of types and names that are written. */
static void write_out(const firn_volumes *volumes)
{
    char *text = NULL;
    size_t size = 0;
    firn_output out = {.file = open_memstream(&text, &size)};
    if (!out.file) abort();
    const firn_write_options options = {.threads = 1, .half = volumes->count % 2 == 0};
    firn_error error = {0};
    if (firn_volumes_put(volumes, &options, &out, &error) != FIRN_OK && !error.message[0]) abort();
    fclose(out.file);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    firn_bytes in = {malloc(size + (size == 0)), size};
    if (!in.data) return 0;
    if (size) memcpy(in.data, data, size);
    firn_volumes volumes;
    firn_error error = {0};
    if (firn_volumes_parse("fuzz", &in, &volumes, &error) == FIRN_OK) {
        for (int32_t i = 0; i < volumes.count; i++) look(&volumes.volume[i]);
        write_out(&volumes);
        fuzz_taken++;
    } else if (error.status == FIRN_OK || error.message[0] == 0) {
        abort(); /* failed without saying why */
    }
    firn_volumes_free(&volumes);
    free(in.data);
    return 0;
}
