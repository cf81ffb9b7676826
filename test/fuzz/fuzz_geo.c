/* Any bytes, read as Houdini's points: no crash, no leak, and columns that are really there. */
#include <stdlib.h>
#include <string.h>

#include "io/geo.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void discard(void *context, const void *data, size_t size)
{
    /* Reads every byte, so that one that was never set shows. */
    uint8_t *sum = context;
    for (size_t i = 0; i < size; i++) *sum ^= ((const uint8_t *)data)[i];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    firn_bytes in = {malloc(size + 1), size};
    if (!in.data) return 0;
    memcpy(in.data, data, size);
    firn_points points = {0};
    firn_error error = {0};
    if (firn_geo_read(&in, &points, &error) == FIRN_OK) {
        /* What was read can be written, except integers too wide for the classic form. */
        uint8_t sum = 0;
        const firn_sink sink = {discard, &sum};
        const bool small = points.count < 1000; /* text takes long */
        firn_write_options options = {.half = size % 2 != 0};
        if (points.count > 0 && firn_geo_write(&points, &options, true, &sink, &error)) abort();
        if (small) {
            options.classic = size % 3 == 0;
            (void)!firn_geo_write(&points, &options, false, &sink, &error);
        }
    } else if (error.status == FIRN_OK || error.message[0] == 0) {
        abort(); /* failed without saying why */
    }
    firn_points_free(&points);
    free(in.data);
    return 0;
}
