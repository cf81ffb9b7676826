/* Sessions: commands in, turns of work.
 *
 * Commands act as they come. Those that come within an advance, through the host's poll, wait for its end
 * if they need the simulation; most of these cut it short. */
#include "live/live.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"

double firn_live_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- life ---- */

firn_live_options firn_live_options_default(void)
{
    return (firn_live_options){.engine = "native",
                               .path = "scene",
                               .state_bytes = (size_t)256 << 20,
                               .most_particles = 4000000,
                               .patience = 0.5};
}

firn_status firn_live_create(const firn_live_options *options, firn_live **out, firn_error *error)
{
    FIRN_REQUIRE(out, error);
    *out = NULL;
    FIRN_REQUIRE(options, error);
    FIRN_REQUIRE(options->send, error);
    FIRN_REQUIRE(options->send_bytes, error);
    firn_live *live = calloc(1, sizeof *live);
    if (!live) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    live->options = *options;
    live->speed = 1;
    live->options.isa = options->isa ? strdup(options->isa) : NULL;
    live->options.engine = strdup(options->engine ? options->engine : "native");
    live->options.path = strdup(options->path ? options->path : "scene");
    if (!live->options.engine || !live->options.path || (options->isa && !live->options.isa)) {
        firn_live_destroy(live);
        return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    }
    *out = live;
    return FIRN_OK;
}

static void drop_queue(firn_live *live)
{
    while (live->queue) {
        firn_live_command *next = live->queue->next;
        firn_live_command_free(live->queue);
        live->queue = next;
    }
    live->queue_end = NULL;
}

void firn_live_destroy(firn_live *live)
{
    if (!live) return;
    drop_queue(live);
    firn_live_close(live);
    free(live->text);
    free((void *)live->options.isa);
    free((void *)live->options.engine);
    free((void *)live->options.path);
    free(live);
}

firn_job *firn_live_job(const firn_live *live) { return live->job; }

/* ---- messages ---- */

void firn_live_send(firn_live *live, firn_live_event *event)
{
    const char *text = firn_event_end(event);
    if (text) live->options.send(live->options.user_data, text, event->text.used);
    firn_event_free(event);
}

void firn_live_send_bytes(firn_live *live, firn_bytes *bytes)
{
    live->options.send_bytes(live->options.user_data, bytes->data, bytes->size);
    firn_bytes_free(bytes);
}

/* Messages about a scene begin with its name, line and column: those go into members of their own. */
firn_status firn_live_complain(firn_live *live, const char *from, const firn_error *error)
{
    const char *path = live->options.path, *text = error->message;
    const size_t length = strlen(path);
    int line = 0, column = 0, read = 0;
    if (strncmp(text, path, length) == 0 &&
        sscanf(text + length, ":%9d:%9d: %n", &line, &column, &read) == 2 && read > 0) {
        text += length + (size_t)read;
    } else {
        line = 0;
    }
    firn_live_event e;
    firn_event_begin(&e, "error");
    firn_event_text(&e, "from", from);
    firn_event_text(&e, "text", text);
    if (line > 0) {
        firn_event_whole(&e, "line", line);
        firn_event_whole(&e, "column", column);
    }
    firn_live_send(live, &e);
    return error->status;
}

void firn_live_hello(firn_live *live, const char *text, const char *file)
{
    const char *isa = live->options.isa ? live->options.isa : firn_isa_name(0);
    int32_t threads = live->options.threads;
    if (live->job) {
        const firn_sim_info info = firn_sim_get_info(firn_job_sim(live->job));
        threads = info.threads;
        isa = info.isa;
    }
    firn_live_event e;
    firn_event_begin_hello(&e, live->options.engine, "scene", threads, isa, text, file);
    if (live->job && live->text) firn_event_flag(&e, "open", true);
    if (live->text && !(text && strcmp(text, live->text) == 0)) {
        firn_event_text(&e, "newest", live->text);
    }
    firn_live_send(live, &e);
    live->shown = live->sent; /* a new page waits for none of the old one's */
    live->tool.kind = FIRN_TOOL_NONE;
    if (!live->job) return;
    firn_live_send_scene(live, NULL);
    firn_live_send_meshes(live, true);
    firn_live_send_state(live, true);
    live->tags_count = -1;
    firn_live_show(live);
}

/* ---- commands ---- */

static firn_status seek(firn_live *live, int64_t frame, firn_error *error)
{
    const int64_t first = live->scene->frames.start, last = firn_live_last_kept(live);
    if (frame < first || frame > last) {
        return firn_fail(error, FIRN_INVALID,
                         "frame %lld has not been computed yet; there are %lld to %lld",
                         (long long)frame, (long long)first, (long long)last);
    }
    const firn_status st = firn_live_rewind(live, frame, error);
    if (st != FIRN_OK) return st;
    live->goal = FIRN_GOAL_SEEK;
    live->goal_frame = frame;
    return FIRN_OK;
}

static firn_status step(firn_live *live, bool substep, firn_error *error)
{
    live->playing = false;
    if (firn_live_done(live)) return FIRN_OK;
    if (substep) {
        const firn_status st = firn_live_substep(live, error);
        firn_live_show(live);
        return st;
    }
    live->goal = FIRN_GOAL_FRAME;
    live->goal_frame = firn_live_frame(live, NULL) + 1;
    return FIRN_OK;
}

static firn_status use_tool(firn_live *live, const firn_live_tool *tool, firn_error *error)
{
    const double moment = 1.0 / 60; /* s: how long heat acts by a command while time stands still */
    if (live->tool.kind != FIRN_TOOL_GRAB || tool->kind != FIRN_TOOL_GRAB) firn_live_let_go(live);
    live->tool.kind = FIRN_TOOL_NONE;
    firn_status st = firn_live_check_tool(live, tool, error);
    if (st != FIRN_OK) return st;
    live->tool = *tool;
    const bool acts =
        tool->kind == FIRN_TOOL_CUT || tool->kind == FIRN_TOOL_EMIT || tool->kind == FIRN_TOOL_HEAT;
    if (live->playing || !acts) return FIRN_OK;
    st = firn_live_apply_tool(live, moment, error);
    if (st == FIRN_OK) firn_live_show(live);
    return st;
}

/* Whether the command can act within an advance. */
static bool is_light(const firn_live_command *c)
{
    switch (c->what) {
    case FIRN_DO_PLAY:
    case FIRN_DO_PAUSE:
    case FIRN_DO_SHOWN:
    case FIRN_DO_WANT:
    case FIRN_DO_PROBE: return true;
    case FIRN_DO_TOOL: return c->tool.kind == FIRN_TOOL_NONE;
    default: return false;
    }
}

/* What goes on without a scene. */
static bool needs_scene(const firn_live_command *c)
{
    return c->what != FIRN_DO_OPEN && c->what != FIRN_DO_EDIT && c->what != FIRN_DO_WANT &&
           c->what != FIRN_DO_SHOWN && c->what != FIRN_DO_PROBE && c->what != FIRN_DO_PAUSE &&
           !(c->what == FIRN_DO_TOOL && c->tool.kind == FIRN_TOOL_NONE);
}

static firn_status check_color(const char *name, firn_error *error)
{
    const char *names[32] = {0};
    for (int32_t i = 0; i < 31; i++) {
        const firn_attribute a = firn_live_color(i);
        if (!a.name) break;
        if (strcmp(a.name, name) == 0) return FIRN_OK;
        names[i] = a.name;
    }
    char near[200];
    if (!*name) return FIRN_OK;
    return firn_fail(error, FIRN_INVALID, "there is no color \"%.60s\"%s", name,
                     firn_nearest(name, names, near, sizeof near));
}

static firn_status carry_out(firn_live *live, const firn_live_command *c, firn_error *error)
{
    if (c->text && (c->what == FIRN_DO_OPEN || c->what == FIRN_DO_EDIT)) {
        free(live->text);
        live->text = strdup(c->text); /* without memory, a page that is loaded again begins anew */
    }
    if (needs_scene(c) && !live->job) return firn_fail(error, FIRN_INVALID, "no scene is open");
    firn_status st = FIRN_OK;
    switch (c->what) {
    case FIRN_DO_OPEN: return firn_live_open(live, c->text, c->text_size, error);
    case FIRN_DO_EDIT: return firn_live_edit(live, c->text, c->text_size, error);
    case FIRN_DO_RESTART: return firn_live_restart(live, error);
    case FIRN_DO_PLAY:
        live->playing = true;
        live->speed = c->speed;
        firn_live_anchor(live);
        break;
    case FIRN_DO_PAUSE:
        live->playing = false;
        if (live->goal == FIRN_GOAL_FRAME) live->goal = FIRN_GOAL_NONE;
        live->interrupt = live->advancing;
        break;
    case FIRN_DO_STEP: return step(live, c->substep, error);
    case FIRN_DO_SEEK: return seek(live, c->frame, error);
    case FIRN_DO_WANT:
        st = check_color(c->want.color, error);
        if (st == FIRN_OK) firn_live_command_want(c, &live->want);
        firn_live_show(live);
        break;
    case FIRN_DO_TOOL: return use_tool(live, &c->tool, error);
    case FIRN_DO_PROBE:
        live->probing = c->id >= 0;
        live->probe = (uint64_t)c->id;
        firn_live_show(live);
        break;
    case FIRN_DO_POINTS: return firn_live_send_points(live, c, error);
    case FIRN_DO_HASH: return firn_live_send_hash(live, (uint32_t)c->token, error);
    case FIRN_DO_SHOWN:
        if ((uint32_t)c->picture > live->sent) {
            return firn_fail(error, FIRN_INVALID, "picture %lld was not sent",
                             (long long)c->picture);
        }
        if ((uint32_t)c->picture > live->shown) live->shown = (uint32_t)c->picture;
        break;
    case FIRN_DO_STOP:
        return firn_fail(error, FIRN_INVALID, "stop is for runs that are watched; use pause");
    case FIRN_DO_COUNT: break;
    }
    return st;
}

static firn_status run(firn_live *live, firn_live_command *c, firn_error *error)
{
    firn_error own = {0};
    const bool scene =
        c->what == FIRN_DO_OPEN || c->what == FIRN_DO_EDIT || c->what == FIRN_DO_RESTART;
    const firn_status st = carry_out(live, c, &own);
    const bool diverged = c->what == FIRN_DO_STEP && st != FIRN_INVALID;
    firn_live_command_free(c);
    if (st != FIRN_OK) {
        firn_live_complain(live, scene ? "scene" : diverged ? "step" : "command", &own);
        if (error) *error = own;
    }
    if (!live->advancing) firn_live_send_state(live, false);
    return st;
}

/* Whether the command is about the frame that is sought, and must wait until it is there. */
static bool waits(const firn_live *live, const firn_live_command *c)
{
    return live->goal == FIRN_GOAL_SEEK &&
           (c->what == FIRN_DO_STEP || c->what == FIRN_DO_POINTS || c->what == FIRN_DO_HASH ||
            c->what == FIRN_DO_TOOL || c->what == FIRN_DO_EDIT);
}

static firn_status run_queue(firn_live *live, firn_error *error)
{
    firn_status st = FIRN_OK;
    while (live->queue && !live->advancing && !waits(live, live->queue)) {
        firn_live_command *c = live->queue;
        live->queue = c->next;
        if (!live->queue) live->queue_end = NULL;
        st = run(live, c, error);
    }
    return st;
}

firn_status firn_live_receive(firn_live *live, const char *json, size_t size, firn_error *error)
{
    FIRN_REQUIRE(live, error);
    firn_error own = {0};
    firn_live_command *c = firn_live_command_read(json, size, &own);
    if (!c) {
        if (error) *error = own;
        return firn_live_complain(live, "command", &own);
    }
    if (live->advancing && is_light(c)) return run(live, c, error);
    /* A scene that is left or begun again needs no frame of its past: what waits for one goes on. */
    if (live->goal == FIRN_GOAL_SEEK && (c->what == FIRN_DO_OPEN || c->what == FIRN_DO_RESTART)) {
        live->goal = FIRN_GOAL_NONE;
    }
    if (live->queue_end) {
        live->queue_end->next = c;
    } else {
        live->queue = c;
    }
    live->queue_end = c;
    /* A tool that moves waits for the tick to end; hashes and points are asked for of whole states. */
    if (live->advancing) {
        live->interrupt |=
            c->what != FIRN_DO_TOOL && c->what != FIRN_DO_HASH && c->what != FIRN_DO_POINTS;
        return FIRN_OK;
    }
    return run_queue(live, error);
}

/* ---- turns ---- */

static double work(firn_live *live)
{
    if (!live->job) return INFINITY;
    if (live->goal == FIRN_GOAL_NONE) {
        if (!live->playing) return INFINITY;
        const double wait = firn_live_until_due(live);
        if (wait > 0) return wait;
    }
    firn_error error = {0};
    const firn_status st = firn_live_tick(live, &error);
    if (st != FIRN_OK && st != FIRN_STOPPED) {
        live->playing = false;
        live->goal = FIRN_GOAL_NONE;
        firn_live_complain(live, "step", &error);
        firn_live_show(live);
    }
    return 0;
}

double firn_live_turn(firn_live *live, double seconds)
{
    if (!live || live->advancing) return INFINITY;
    const double begin = firn_live_clock();
    for (;;) {
        (void)run_queue(live, NULL);
        firn_live_send_owed(live);
        const double wait = work(live);
        if (live->job) firn_live_send_state(live, false);
        firn_live_send_owed(live);
        if (live->queue && wait > 0) continue;
        if (wait > 0 || firn_live_clock() - begin >= seconds) return wait;
    }
}
