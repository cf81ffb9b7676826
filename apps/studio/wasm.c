/* A live session for the page's Worker (src/worker.ts): what WebAssembly exports. The Worker creates the
 * module with `send` and `sendBytes`, which take the session's messages, and `encode`, which reads YAML
 * (src/scene/yaml_page.c). */
#include <emscripten.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <firn/live.h>

/* Creates the session and greets the page. Returns what failed, or NULL; `threads` 0: all. */
const char *firn_web_start(int32_t threads);
/* One command, as JSON. What is wrong with it is an event. */
void firn_web_receive(const char *json, size_t size);
/* As firn_live_turn. */
double firn_web_turn(double seconds);
/* A file that scenes may name, with its folders; false: it could not be written. */
bool firn_web_put(const char *path, const void *data, size_t size);

/* s: a Worker gets its commands between turns only. */
static const double PATIENCE = 0.1;

EM_JS(void, send_text, (const char *text, size_t size),
      { Module.send(new TextDecoder().decode(HEAPU8.slice(text, text + size))); })
EM_JS(void, send_data, (const void *data, size_t size),
      { Module.sendBytes(HEAPU8.slice(data, data + size).buffer); })

static void take_text(void *user_data, const char *text, size_t size)
{
    (void)user_data;
    send_text(text, size);
}

static void take_bytes(void *user_data, const void *data, size_t size)
{
    (void)user_data;
    send_data(data, size);
}

/* A module has one. */
static firn_live *live;

EMSCRIPTEN_KEEPALIVE const char *firn_web_start(int32_t threads)
{
    static firn_error error;
    firn_live_options options = firn_live_options_default();
    options.threads = threads;
    options.engine = "wasm";
    options.patience = PATIENCE;
    options.send = take_text;
    options.send_bytes = take_bytes;
    if (firn_live_create(&options, &live, &error) != FIRN_OK) return error.message;
    firn_live_hello(live, NULL, NULL);
    return NULL;
}

EMSCRIPTEN_KEEPALIVE void firn_web_receive(const char *json, size_t size)
{
    (void)firn_live_receive(live, json, size, NULL);
}

EMSCRIPTEN_KEEPALIVE double firn_web_turn(double seconds) { return firn_live_turn(live, seconds); }

EMSCRIPTEN_KEEPALIVE bool firn_web_put(const char *path, const void *data, size_t size)
{
    char folder[256];
    if (strlen(path) >= sizeof folder) return false;
    for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        const size_t length = (size_t)(slash - path);
        if (length == 0) continue;
        memcpy(folder, path, length);
        folder[length] = 0;
        if (mkdir(folder, 0777) != 0 && errno != EEXIST) return false;
    }
    FILE *file = fopen(path, "wb");
    if (!file) return false;
    const bool written = fwrite(data, 1, size, file) == size;
    return fclose(file) == 0 && written;
}
