/* Any bytes as what a page sends, a command a line, to a session with a small scene: every event is JSON,
 * every message has its header, and nothing else happens. Scenes that would read files or take long are
 * refused. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <firn/live.h>

#include "base/error.h"
#include "io/json.h"
#include "run/source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_PARTICLES = 1000, MOST_COMMANDS = 40, MOST_POLLS = 5 };

typedef struct page {
    firn_live *live;
    uint32_t picture;
    int polls;
} page;

static void take_event(void *user_data, const char *text, size_t size)
{
    (void)user_data;
    const firn_bytes bytes = {(uint8_t *)text, size};
    firn_json in;
    firn_json_open(&in, &bytes, NULL);
    firn_json_skip(&in);
    if (in.status != FIRN_OK || in.at != size || text[0] != '{') abort();
    firn_json_close(&in);
}

static void take_message(void *user_data, const void *data, size_t size)
{
    page *p = user_data;
    uint32_t head[4];
    if (size < 64) abort();
    memcpy(head, data, sizeof head);
    if (head[0] != 0x4e524946 || head[1] < 1 || head[1] > 5) abort();
    if (head[1] == 1) p->picture = head[2];
}

static bool reads_files(const firn_scene *scene)
{
    for (int32_t i = 0; i < scene->object_count; i++) {
        const firn_scene_object *o = &scene->object[i];
        if (o->mesh || o->voxels || o->particles || o->shape.mesh.file) return true;
    }
    for (int32_t i = 0; i < scene->collider_count; i++) {
        if (scene->collider[i].shape.mesh.file) return true;
    }
    for (int32_t i = 0; i < scene->sink_count; i++) {
        if (scene->sink[i].shape.mesh.file) return true;
    }
    for (int32_t i = 0; i < scene->heat.source_count; i++) {
        if (scene->heat.source[i].body.shape.mesh.file) return true;
    }
    return false;
}

static bool is_small(const firn_scene *scene)
{
    firn_sources sources = {0};
    double count = 0;
    if (firn_sources_open(&sources, scene, NULL) != FIRN_OK) return false;
    for (int32_t i = 0; i < scene->object_count; i++) {
        const firn_scene_object *o = &scene->object[i];
        count += firn_sources_expected(&sources, i) + (double)o->count;
        if (o->emits || o->refine > 0 || o->pattern == FIRN_BLUE_NOISE) count = INFINITY;
    }
    firn_sources_close(&sources);
    return count < MOST_PARTICLES;
}

static firn_status read_scene(void *user_data, const char *text, size_t size, firn_scene **scene,
                              firn_error *error)
{
    (void)user_data;
    firn_scene_def def = firn_scene_def_default();
    def.text = size ? text : "\n";
    def.text_size = size ? size : 1;
    firn_status st = firn_scene_create(&def, scene, error);
    if (st == FIRN_OK && (reads_files(*scene) || !is_small(*scene))) {
        firn_scene_destroy(*scene);
        *scene = NULL;
        st = firn_fail(error, FIRN_INVALID, "not for fuzzing");
    }
    return st;
}

/* Nothing may take long. */
static void poll(void *user_data)
{
    static const char pause[] = "{\"do\": \"pause\"}";
    page *p = user_data;
    if (++p->polls > MOST_POLLS) (void)firn_live_receive(p->live, pause, sizeof pause - 1, NULL);
}

static void send_shown(page *p)
{
    char text[64];
    const int size =
        snprintf(text, sizeof text, "{\"do\": \"shown\", \"picture\": %u}", (unsigned)p->picture);
    (void)firn_live_receive(p->live, text, (size_t)size, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char open[] =
        "{\"do\": \"open\", \"text\": \"{firn: 1, dimension: 2, resolution: 0.1, frames: {end: 4}, "
        "heat: {}, materials: {a: {preset: jelly}, b: {preset: ice}}, objects: [{name: o, "
        "material: "
        "a, shape: {disc: {radius: 0.3}}}], colliders: [{shape: {plane: {point: [0, -0.5, 0]}}}, "
        "{shape: {disc: {radius: 0.1}}, translate: [1, 0, 0]}]}\"}";
    page p = {0};
    firn_live_options o = firn_live_options_default();
    o.threads = 1;
    o.state_bytes = 100000;
    o.most_particles = MOST_PARTICLES;
    o.user_data = &p;
    o.send = take_event;
    o.send_bytes = take_message;
    o.read_scene = read_scene;
    o.poll = poll;
    if (firn_live_create(&o, &p.live, NULL) != FIRN_OK) abort();
    if (firn_live_receive(p.live, open, sizeof open - 1, NULL) != FIRN_OK) abort();
    for (int i = 0; i < MOST_COMMANDS && size > 0; i++) {
        const uint8_t *end = memchr(data, '\n', size);
        const size_t length = end ? (size_t)(end - data) : size;
        char *line = malloc(length + 1); /* exact, so that reading past its end shows */
        if (!line) abort();
        memcpy(line, data, length);
        firn_error error = {0};
        const firn_status st = firn_live_receive(p.live, line, length, &error);
        if (st != FIRN_OK && error.message[0] == 0) abort();
        free(line);
        p.polls = 0;
        (void)firn_live_turn(p.live, 0);
        send_shown(&p);
        data += length + (end != NULL);
        size -= length + (end != NULL);
    }
    firn_live_destroy(p.live);
    return 0;
}
