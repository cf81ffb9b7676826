/* YAML text to a tree of values in WebAssembly: the page's parser reads the text, and hands back its values in
 * yaml.h's encoding (apps/studio/src/encode.ts). Compiled by the web build alone. */
#include <emscripten.h>
#include <stdlib.h>

#include "base/error.h"
#include "scene/yaml.h"

/* From malloc, with its size; NULL: no memory. The module is created with `encode`. */
EM_JS(char *, encode_text, (const char *text, size_t size, size_t *encoded_size), {
    const bytes = Module.encode(HEAPU8.slice(text, text + size));
    const out = _malloc(bytes.length + 1);
    if (out) {
        HEAPU8.set(bytes, out);
        HEAPU32[encoded_size >> 2] = bytes.length;
    }
    return out;
})

firn_status firn_yaml_parse(const char *file, bool option, const void *text, size_t size,
                            int *values, firn_value **out, firn_error *error)
{
    *out = NULL;
    size_t encoded_size = 0;
    char *encoded = encode_text(text, size, &encoded_size);
    if (!encoded) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    const firn_status st =
        firn_yaml_decode(file, option, encoded, encoded_size, values, out, error);
    free(encoded);
    return st;
}
