/* The engine behind `firn view` of caches: plays the frames of a finished run. */
#include "view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <firn/alembic.h>
#include <firn/player.h>
#include <firn/render.h>

#include "options.h"

/* Constant once open: sessions share it. */
struct firn_view_cache {
    firn_sequence *sequence;
    firn_alembic *alembic; /* in place of a sequence */
    int32_t object;        /* of the Alembic file */
    double *time;          /* of its frames, s */
    int64_t *number;
    int64_t count;
    double fps;
    const firn_scene *scene; /* NULL: unknown */
    const char *label, *file;
};

/* ---- opening ---- */

static bool ends_with(const char *name, const char *end)
{
    const size_t n = strlen(name), m = strlen(end);
    return n > m && strcmp(name + n - m, end) == 0;
}

static bool is_alembic(const char *name) { return ends_with(name, ".abc") && !strchr(name, '$'); }

static firn_status find_points(firn_view_cache *c, const char *path, firn_error *error)
{
    const int32_t count = firn_alembic_get_file(c->alembic).object_count;
    for (int32_t i = 0; i < count; i++) {
        firn_alembic_object o;
        const firn_status st = firn_alembic_get_object(c->alembic, i, &o, error);
        if (st != FIRN_OK) return st;
        if (o.kind != FIRN_ALEMBIC_POINTS || o.sample_count == 0) continue;
        c->object = i;
        c->label = o.name;
        return FIRN_OK;
    }
    return firn_app_fail(error, FIRN_INVALID, "%s: there are no points in it", path);
}

static firn_status open_alembic(firn_view_cache *c, const char *path, double fps, firn_error *error)
{
    firn_status st = firn_alembic_open(path, &c->alembic, error);
    if (st == FIRN_OK) st = find_points(c, path, error);
    if (st != FIRN_OK) return st;
    const firn_alembic_file about = firn_alembic_get_file(c->alembic);
    c->fps = fps > 0 ? fps : about.fps > 0 ? about.fps : 24;
    int64_t count = 0;
    st = firn_alembic_times(c->alembic, c->object, &c->time, &count, error);
    if (st != FIRN_OK) return st;
    c->number = malloc(((size_t)count + 1) * sizeof *c->number);
    if (!c->number) return firn_app_fail(error, FIRN_NO_MEMORY, "out of memory");
    /* Samples between frames are left out. */
    const double rate = about.fps > 0 ? about.fps : c->fps;
    for (int64_t i = 0; i < count; i++) {
        const int64_t number = llround(fmin(fmax(c->time[i] * rate, -1e9), 1e9));
        if (c->count > 0 && number <= c->number[c->count - 1]) continue;
        c->number[c->count] = number;
        c->time[c->count++] = c->time[i];
    }
    if (c->count == 0) c->number[c->count++] = 1; /* nothing moves */
    return FIRN_OK;
}

static firn_status open_files(firn_view_cache *c, const char *const *name, int64_t count,
                              double fps, firn_error *error)
{
    for (int64_t i = 0; i < count; i++) {
        if (!ends_with(name[i], ".vdb")) continue;
        return firn_app_fail(error, FIRN_UNSUPPORTED,
                             "%s: firn view shows particles, not volumes; give the particle files "
                             "of the run",
                             name[i]);
    }
    firn_status st = firn_sequence_create(name, count, NULL, 0, &c->sequence, error);
    if (st != FIRN_OK) return st;
    c->fps = fps > 0 ? fps : c->scene ? firn_scene_get_info(c->scene).fps : 24;
    c->label = firn_sequence_label(c->sequence);
    c->count = firn_sequence_count(c->sequence);
    c->number = malloc(((size_t)c->count + 1) * sizeof *c->number);
    if (!c->number) return firn_app_fail(error, FIRN_NO_MEMORY, "out of memory");
    for (int64_t i = 0; i < c->count; i++) c->number[i] = firn_sequence_number(c->sequence, i);
    for (int64_t i = 0; i < c->count; i++) {
        if (access(firn_sequence_path(c->sequence, c->number[i]), R_OK) == 0) return FIRN_OK;
    }
    return firn_app_fail(error, FIRN_INVALID, "%s: there is no such file", name[0]);
}

firn_status firn_view_cache_create(const char *const *name, int64_t count, double fps,
                                   const firn_scene *scene, firn_view_cache **cache,
                                   firn_error *error)
{
    *cache = NULL;
    firn_view_cache *c = calloc(1, sizeof *c);
    if (!c) return firn_app_fail(error, FIRN_NO_MEMORY, "out of memory");
    c->file = name[0];
    c->scene = scene;
    const firn_status st = count == 1 && is_alembic(name[0])
                               ? open_alembic(c, name[0], fps, error)
                               : open_files(c, name, count, fps, error);
    if (st == FIRN_OK) {
        *cache = c;
    } else {
        firn_view_cache_destroy(c);
    }
    return st;
}

void firn_view_cache_destroy(firn_view_cache *c)
{
    if (!c) return;
    firn_sequence_destroy(c->sequence);
    firn_alembic_close(c->alembic);
    free(c->time);
    free(c->number);
    free(c);
}

int64_t firn_view_cache_frames(const firn_view_cache *c) { return c->count; }

static firn_status read_frame(const firn_view_cache *c, int64_t number, firn_points *out,
                              firn_error *error)
{
    if (c->sequence) {
        firn_points grid = {0}; /* sequences of files alone have none */
        firn_status st = firn_sequence_read(c->sequence, number, out, &grid, error);
        firn_points_free(&grid);
        if (st == FIRN_OK && out->column_count == 0) {
            st = firn_app_fail(error, FIRN_INVALID, "%s: there is no such file",
                               firn_sequence_path(c->sequence, number));
        }
        return st;
    }
    int64_t i = 0;
    while (i + 1 < c->count && c->number[i] < number) i++;
    return firn_alembic_read_points(c->alembic, c->object, c->time ? c->time[i] : 0, out, error);
}

/* ---- the engine ---- */

typedef struct cache_engine {
    const firn_view_cache *cache;
    firn_session *session;
    firn_player *player;
} cache_engine;

static void send_text(void *user_data, const char *text, size_t size)
{
    const cache_engine *e = user_data;
    firn_session_send(e->session, true, text, size);
}

static void send_bytes(void *user_data, const void *data, size_t size)
{
    const cache_engine *e = user_data;
    firn_session_send(e->session, false, data, size);
}

static firn_status read_for(void *user_data, int64_t number, firn_points *out, firn_error *error)
{
    const cache_engine *e = user_data;
    return read_frame(e->cache, number, out, error);
}

static void destroy(void *engine)
{
    cache_engine *e = engine;
    firn_player_destroy(e->player);
    free(e);
}

static void *create(void *context, firn_session *session, firn_error *error)
{
    const firn_view_cache *cache = context;
    cache_engine *e = calloc(1, sizeof *e);
    if (!e) {
        (void)firn_app_fail(error, FIRN_NO_MEMORY, "out of memory");
        return NULL;
    }
    e->cache = cache;
    e->session = session;
    firn_player_options o = firn_player_options_default();
    o.name = cache->label;
    o.file = cache->file;
    o.threads = 1;
    o.fps = cache->fps;
    o.scene = cache->scene;
    o.number = cache->number;
    o.number_count = cache->count;
    o.user_data = e;
    o.send = send_text;
    o.send_bytes = send_bytes;
    o.read = read_for;
    if (firn_player_create(&o, &e->player, error) == FIRN_OK) return e;
    destroy(e);
    return NULL;
}

static void greet(void *engine) { firn_player_hello(((cache_engine *)engine)->player); }
static void leave(void *engine) { firn_player_pause(((cache_engine *)engine)->player); }
static double turn(void *engine) { return firn_player_turn(((cache_engine *)engine)->player); }

static void receive(void *engine, const char *text, size_t size)
{
    firn_player_receive(((cache_engine *)engine)->player, text, size);
}

firn_engine firn_view_cache_engine(firn_view_cache *cache)
{
    return (firn_engine){create, destroy, greet, leave, receive, turn, cache};
}
