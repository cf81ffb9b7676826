/* The engine behind `firn view SCENE.yaml`: a live session of the scene. */
#include "view.h"

#include <stdlib.h>
#include <string.h>

#include <firn/live.h>

#include "options.h"

enum { TURN_MS = 20 };
static const char pause_command[] = "{\"do\":\"pause\"}";

typedef struct scene_engine {
    const firn_view_scene *scene;
    firn_session *session;
    firn_live *live;
} scene_engine;

static void send_text(void *user_data, const char *text, size_t size)
{
    const scene_engine *e = user_data;
    firn_session_send(e->session, true, text, size);
}

static void send_bytes(void *user_data, const void *data, size_t size)
{
    const scene_engine *e = user_data;
    firn_session_send(e->session, false, data, size);
}

static void receive(void *engine, const char *text, size_t size)
{
    const scene_engine *e = engine;
    (void)firn_live_receive(e->live, text, size, NULL); /* the page has been told */
}

/* A session that is to end does so after a step, not after a frame. */
static void poll(void *user_data)
{
    scene_engine *e = user_data;
    if (!firn_session_poll(e->session, e)) receive(e, pause_command, sizeof pause_command - 1);
}

static void destroy(void *engine)
{
    scene_engine *e = engine;
    firn_live_destroy(e->live);
    free(e);
}

static void *create(void *context, firn_session *session, firn_error *error)
{
    const firn_view_scene *scene = context;
    scene_engine *e = calloc(1, sizeof *e);
    if (!e) {
        (void)firn_app_fail(error, FIRN_NO_MEMORY, "out of memory");
        return NULL;
    }
    e->scene = scene;
    e->session = session;
    firn_live_options o = firn_live_options_default();
    o.threads = scene->threads;
    o.isa = scene->isa;
    o.engine = "native";
    o.path = scene->path;
    o.user_data = e;
    o.send = send_text;
    o.send_bytes = send_bytes;
    o.poll = poll;
    if (firn_live_create(&o, &e->live, error) == FIRN_OK) return e;
    destroy(e);
    return NULL;
}

static void greet(void *engine)
{
    const scene_engine *e = engine;
    firn_live_hello(e->live, e->scene->text, e->scene->path);
}

/* No turns come until there is a page again: play goes on then. */
static void leave(void *engine) { (void)engine; }

static double turn(void *engine)
{
    const scene_engine *e = engine;
    return firn_live_turn(e->live, 1e-3 * TURN_MS);
}

firn_engine firn_view_scene_engine(const firn_view_scene *scene)
{
    return (firn_engine){create, destroy, greet, leave, receive, turn, (void *)scene};
}
