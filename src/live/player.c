/* Plays frames of particles that were simulated elsewhere; see <firn/player.h>. */
#include <firn/player.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "live/columns.h"
#include "live/live.h"
#include "live/pack.h"

enum { MOST_UNDER_WAY = 2 }; /* pictures that are not yet shown */

struct firn_player {
    firn_player_options options;
    char *name, *file, *text, *isa, *engine;
    int64_t *number;
    int64_t at; /* frame, by its place */

    firn_points own;           /* of a finished run: the frame that is shown */
    const firn_points *points; /* what is shown; NULL: nothing yet */
    firn_player_frame frame;
    bool read_failed;

    bool playing;
    double speed;
    double due; /* s on the clock: when the next frame is */

    firn_live_want want;
    bool probing;
    int64_t probe;
    uint32_t sent, shown;
    bool owed;       /* a picture */
    bool introduced; /* the event `scene` has gone out */
    bool has_still;  /* meshes that never change have gone out, too */
    int64_t tags_count;
    uint64_t tags_hash;
};

firn_player_options firn_player_options_default(void)
{
    return (firn_player_options){.engine = "native", .name = "", .isa = "", .fps = 24};
}

static bool is_run(const firn_player *p) { return p->options.number_count == 0; }

static firn_status copy_text(char **to, const char *from, firn_error *error)
{
    if (!from) return FIRN_OK;
    *to = strdup(from);
    return *to ? FIRN_OK : firn_fail(error, FIRN_NO_MEMORY, "out of memory");
}

firn_status firn_player_create(const firn_player_options *options, firn_player **player,
                               firn_error *error)
{
    FIRN_REQUIRE(options, error);
    FIRN_REQUIRE(player, error);
    *player = NULL;
    if (!(options->fps > 0 && options->fps <= 1e6)) {
        return firn_fail(error, FIRN_INVALID, "fps %g must be from 0 to 1e6", options->fps);
    }
    firn_player *p = calloc(1, sizeof *p);
    if (!p) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    p->options = *options;
    p->tags_count = -1;
    p->speed = 1;
    firn_status st = copy_text(&p->name, options->name, error);
    if (st == FIRN_OK) st = copy_text(&p->file, options->file, error);
    if (st == FIRN_OK) st = copy_text(&p->text, options->text, error);
    if (st == FIRN_OK) st = copy_text(&p->isa, options->isa, error);
    if (st == FIRN_OK) st = copy_text(&p->engine, options->engine, error);
    if (st == FIRN_OK && !is_run(p)) {
        const size_t size = (size_t)options->number_count * sizeof *p->number;
        p->number = malloc(size);
        if (p->number) {
            memcpy(p->number, options->number, size);
        } else {
            st = firn_fail(error, FIRN_NO_MEMORY, "out of memory");
        }
    }
    if (st != FIRN_OK) {
        firn_player_destroy(p);
        return st;
    }
    *player = p;
    return FIRN_OK;
}

void firn_player_destroy(firn_player *p)
{
    if (!p) return;
    firn_points_free(&p->own);
    free(p->number);
    free(p->name);
    free(p->file);
    free(p->text);
    free(p->isa);
    free(p->engine);
    free(p);
}

/* ---- what is said ---- */

static void send_event(const firn_player *p, firn_live_event *e)
{
    const char *text = firn_event_end(e);
    if (text) p->options.send(p->options.user_data, text, strlen(text));
    firn_event_free(e);
}

static void send_bytes(const firn_player *p, firn_bytes *bytes)
{
    p->options.send_bytes(p->options.user_data, bytes->data, bytes->size);
    firn_bytes_free(bytes);
}

static void complain(const firn_player *p, const char *from, const firn_error *error)
{
    firn_live_event e;
    firn_event_begin(&e, "error");
    firn_event_text(&e, "from", from);
    firn_event_text(&e, "text", error->message);
    send_event(p, &e);
}

static int64_t frame_number(const firn_player *p)
{
    return is_run(p) ? p->frame.number : p->number[p->at];
}

static void send_state(const firn_player *p)
{
    const int64_t count = p->options.number_count, now = frame_number(p);
    firn_live_event e;
    firn_event_begin(&e, "state");
    firn_event_flag(&e, "playing", is_run(p) || p->playing);
    firn_event_number(&e, "speed", p->speed);
    firn_event_whole(&e, "frame", now);
    firn_event_number(&e, "time", p->frame.time);
    firn_event_flag(&e, "done", is_run(p) ? now >= p->options.last : p->at == count - 1);
    firn_event_open(&e, "kept", '[');
    firn_event_whole(&e, NULL, is_run(p) ? now : p->number[0]);
    firn_event_whole(&e, NULL, is_run(p) ? now : p->number[count - 1]);
    firn_event_close(&e, ']');
    send_event(p, &e);
}

/* Names by the numbers of a column: its words, or numbers where it has none. */
static void put_names(firn_live_event *e, const firn_points *points, const char *column,
                      void (*put)(firn_live_event *, const char *name, int64_t number,
                                  int64_t count))
{
    const firn_column *c = firn_points_find(points, column);
    enum { MOST = 1000 };
    int64_t counts[MOST] = {0}, most = 0;
    for (int64_t i = 0; c && i < points->count; i++) {
        const double x = firn_type_get(c->type, c->data, i * c->components);
        if (!(x >= 0 && x < MOST)) continue;
        counts[(int)x]++;
        if ((int64_t)x > most) most = (int64_t)x;
    }
    if (!c) counts[0] = points->count;
    const char *word = c ? c->words : NULL;
    for (int64_t i = 0; i <= most; i++) {
        char name[32];
        snprintf(name, sizeof name, "%s %lld", column, (long long)i);
        put(e, word && i < c->word_count ? word : name, i, counts[i]);
        if (word && i < c->word_count) word += strlen(word) + 1;
    }
}

/* Files do not say how materials look: without their scene they get colours which tell them apart. */
static void put_material(firn_live_event *e, const char *name, int64_t number, int64_t count)
{
    static const double colors[][3] = {{0.55, 0.62, 0.7},  {0.75, 0.35, 0.1}, {0.1, 0.45, 0.3},
                                       {0.65, 0.55, 0.1},  {0.35, 0.2, 0.6},  {0.7, 0.15, 0.25},
                                       {0.05, 0.35, 0.65}, {0.4, 0.4, 0.4}};
    enum { COLORS = sizeof colors / sizeof *colors };
    (void)count;
    firn_event_open(e, NULL, '{');
    firn_event_text(e, "name", name);
    firn_event_text(e, "law", "");
    firn_event_text(e, "preset", "");
    firn_event_list(e, "color", colors[number % COLORS], 3);
    firn_event_number(e, "tint", 0);
    firn_event_open(e, "values", '{');
    firn_event_close(e, '}');
    firn_event_close(e, '}');
}

static void put_object(firn_live_event *e, const char *name, int64_t number, int64_t count)
{
    (void)number;
    firn_event_open(e, NULL, '{');
    firn_event_text(e, "name", name);
    firn_event_text(e, "material", "");
    firn_event_whole(e, "count", count);
    firn_event_close(e, '}');
}

/* The event `scene`, as far as particles tell. */
static void send_scene(firn_player *p)
{
    if (p->frame.scene) {
        p->options.send(p->options.user_data, p->frame.scene, strlen(p->frame.scene));
        p->introduced = true;
        return;
    }
    static const firn_points none = {0};
    const firn_points *points = p->points ? p->points : &none;
    if (p->points && p->options.dimension == 0)
        p->options.dimension = firn_columns_dimension(points);
    const int dim = p->options.dimension ? p->options.dimension : 3;
    if (p->points && p->options.resolution <= 0) {
        p->options.resolution = firn_columns_separation(points, dim);
    }
    const bool run = is_run(p);
    const firn_scene *scene = p->options.scene;
    firn_live_event e;
    firn_event_begin(&e, "scene");
    firn_event_open(&e, "scene", '{');
    firn_event_text(&e, "name", p->name ? p->name : "");
    firn_event_whole(&e, "dimension", dim);
    firn_event_whole(&e, "first", run ? p->options.first : p->number[0]);
    firn_event_whole(&e, "last", run ? p->options.last : p->number[p->options.number_count - 1]);
    firn_event_number(&e, "fps", p->options.fps);
    firn_event_number(&e, "playback", scene ? firn_scene_get_info(scene).playback : p->options.fps);
    firn_event_number(&e, "resolution", p->options.resolution);
    firn_event_number(&e, "cell_size", 2 * p->options.resolution);
    firn_event_flag(&e, "heat", firn_points_find(points, "temperature") != NULL);
    firn_event_text(&e, "up", scene && scene->up == 1 ? "z" : "y");
    if (scene) {
        firn_event_put_materials(&e, scene, scene);
    } else {
        firn_event_open(&e, "materials", '[');
        put_names(&e, points, "material", put_material);
        firn_event_close(&e, ']');
    }
    firn_event_open(&e, "objects", '[');
    put_names(&e, points, "object", put_object);
    firn_event_close(&e, ']');
    firn_event_open(&e, "colliders", '[');
    firn_event_close(&e, ']');
    firn_event_open(&e, "colors", '[');
    for (int32_t i = 0; i < points->column_count; i++) {
        const char *name = points->column[i].name;
        if (strcmp(name, "P") == 0) continue;
        firn_event_text(&e, NULL, strcmp(name, "v") == 0 ? "speed" : name);
    }
    firn_event_close(&e, ']');
    firn_event_close(&e, '}');
    firn_event_open(&e, "live", '[');
    firn_event_close(&e, ']');
    firn_event_open(&e, "restart", '[');
    firn_event_close(&e, ']');
    send_event(p, &e);
    p->introduced = p->points != NULL;
}

void firn_player_hello(firn_player *p)
{
    firn_live_event e;
    firn_event_begin_hello(&e, p->engine, is_run(p) ? "run" : "cache", p->options.threads, p->isa,
                           p->text, p->file);
    send_event(p, &e);
    p->tags_count = -1;
    p->introduced = p->has_still = false;
    p->shown = p->sent;
    p->owed = true;
    if (p->points || is_run(p)) {
        send_scene(p);
        send_state(p);
    }
}

void firn_player_pause(firn_player *p) { p->playing = false; }

void firn_player_log(firn_player *p, const char *text)
{
    firn_live_event e;
    firn_event_begin(&e, "log");
    firn_event_text(&e, "text", text);
    send_event(p, &e);
}

/* ---- pictures ---- */

static void put_probe(const firn_player *p, firn_live_event *e)
{
    const firn_column *ids = firn_points_find(p->points, "id");
    int64_t i = ids ? 0 : p->probe;
    while (ids && i < p->points->count &&
           firn_type_get(ids->type, ids->data, i * ids->components) != (double)p->probe) {
        i++;
    }
    if (i < 0 || i >= p->points->count) return;
    firn_event_open(e, "probe", '{');
    if (!ids) firn_event_whole(e, "id", i);
    for (int32_t k = 0; k < p->points->column_count; k++) {
        const firn_column *c = &p->points->column[k];
        double value[FIRN_MAX_COMPONENTS];
        for (int32_t a = 0; a < c->components; a++) {
            value[a] = firn_type_get(c->type, c->data, i * c->components + a);
        }
        if (c->components == 1) {
            firn_event_number(e, c->name, value[0]);
        } else {
            firn_event_list(e, c->name, value, c->components);
        }
    }
    firn_event_close(e, '}');
}

char *firn_player_poses(const firn_job *job)
{
    firn_live_event e;
    firn_event_begin(&e, NULL);
    firn_live_put_poses(&e, job);
    if (firn_event_end(&e)) return e.text.data;
    firn_event_free(&e);
    return NULL;
}

static void send_frame(const firn_player *p, uint32_t number)
{
    firn_live_event e;
    firn_event_begin_frame(&e, number, p->points->count, 0, &p->frame);
    if (p->frame.poses) {
        firn_event_merge(&e, p->frame.poses);
    } else {
        firn_event_list(&e, "poses", NULL, 0);
    }
    if (p->probing) put_probe(p, &e);
    send_event(p, &e);
}

static void send_meshes(firn_player *p)
{
    for (int32_t i = 0; i < p->frame.mesh_count; i++) {
        const firn_bytes *m = &p->frame.mesh[i];
        p->options.send_bytes(p->options.user_data, m->data, m->size);
    }
    p->has_still = p->has_still || p->frame.still;
}

/* Pages share the grid, but number their pictures each for itself. */
static void send_grid(const firn_player *p, uint32_t number)
{
    const firn_bytes *shared = p->frame.grid;
    firn_bytes own = {malloc(shared->size), shared->size};
    if (!own.data) return;
    memcpy(own.data, shared->data, shared->size);
    firn_message_whole(&own, 8, number);
    send_bytes(p, &own);
}

/* The particles in the order of their ids, those that pages get. */
static firn_status send_picture(firn_player *p, firn_error *error)
{
    const uint32_t number = p->sent + 1;
    firn_live_columns look;
    firn_status st = firn_columns_make(p->points, p->options.dimension, &p->want, &look, error);
    if (st != FIRN_OK) return st;
    look.shown.time = p->frame.time;
    firn_bytes tags = {0}, picture = {0};
    const bool others = p->tags_count != p->points->count || p->tags_hash != look.hash;
    if (others) {
        st = firn_live_pack_tags(p->points->count, look.object, look.material, look.id, number,
                                 &tags, error);
    }
    if (st == FIRN_OK) st = firn_live_pack_picture(&look.shown, number, &picture, error);
    if (st == FIRN_OK) {
        p->sent = number;
        send_frame(p, number);
        send_meshes(p);
        if (others) send_bytes(p, &tags);
        if (p->want.grid && p->frame.grid) send_grid(p, number);
        send_bytes(p, &picture);
        p->tags_count = p->points->count;
        p->tags_hash = look.hash;
    } else {
        firn_bytes_free(&tags);
    }
    firn_columns_free(&look);
    return st;
}

static bool is_ready(const firn_player *p) { return p->sent - p->shown < MOST_UNDER_WAY; }

int firn_player_wants(const firn_player *p)
{
    if (!is_ready(p)) return 0;
    return FIRN_PLAYER_WANTS_FRAME | (p->want.totals ? FIRN_PLAYER_WANTS_TOTALS : 0) |
           (p->want.grid ? FIRN_PLAYER_WANTS_GRID : 0) |
           (p->has_still ? 0 : FIRN_PLAYER_WANTS_STILL);
}

static void send_owed(firn_player *p)
{
    if (!p->owed || !p->points || !is_ready(p)) return;
    p->owed = false;
    if (!p->introduced) {
        send_scene(p);
        send_state(p);
    }
    firn_error error = {0};
    if (send_picture(p, &error) != FIRN_OK) complain(p, "step", &error);
}

void firn_player_show(firn_player *p, const firn_player_frame *frame, const firn_points *points)
{
    p->frame = *frame;
    p->points = points;
    p->owed = true;
    send_owed(p);
    send_state(p);
}

/* ---- finished runs ---- */

/* Reads the frame that the player is at. A frame that cannot be read is said and passed over: the one
 * before stays. */
static void read_frame(firn_player *p)
{
    firn_points next = {0};
    firn_error error = {0};
    const firn_status st = p->options.read(p->options.user_data, p->number[p->at], &next, &error);
    p->read_failed = st != FIRN_OK;
    if (st != FIRN_OK) {
        firn_points_free(&next);
        complain(p, "step", &error);
        return;
    }
    firn_points_free(&p->own);
    p->own = next;
    p->points = &p->own;
    p->frame =
        (firn_player_frame){.number = p->number[p->at],
                            .time = (double)(p->number[p->at] - p->number[0]) / p->options.fps,
                            .simulated = 1 / p->options.fps};
    p->owed = true;
}

static void go_to(firn_player *p, int64_t at)
{
    p->at = at;
    read_frame(p);
    send_owed(p);
    send_state(p);
}

double firn_player_turn(firn_player *p)
{
    send_owed(p);
    if (is_run(p)) return INFINITY;
    if (!p->points && !p->read_failed) {
        go_to(p, p->at);
        return 0;
    }
    if (!p->playing) return INFINITY;
    if (!is_ready(p)) return INFINITY; /* `shown` wakes it */
    const double now = firn_live_clock();
    if (p->speed > 0 && now < p->due) return p->due - now;
    /* A page or a disk that cannot keep up skips frames. */
    const double period = p->speed > 0 ? 1 / (p->options.fps * p->speed) : 0;
    int64_t ahead = 1;
    if (period > 0) ahead += (int64_t)fmin((now - p->due) / period, 1e6);
    p->due = period > 0 ? p->due + (double)ahead * period : now;
    const int64_t last = p->options.number_count - 1;
    const int64_t at = p->at + ahead < last ? p->at + ahead : last;
    if (at == last) p->playing = false;
    go_to(p, at);
    return 0;
}

/* ---- commands ---- */

static firn_status send_points(const firn_player *p, const firn_live_command *c, firn_error *error)
{
    if (!p->points) return firn_fail(error, FIRN_INVALID, "there are no particles yet");
    firn_bytes out = {0};
    const firn_status st = firn_live_pack_points(p->points, (uint32_t)c->token, &out, error);
    if (st == FIRN_OK) send_bytes(p, &out);
    return st;
}

static firn_status seek(firn_player *p, int64_t frame, firn_error *error)
{
    int64_t at = 0;
    const int64_t count = p->options.number_count;
    while (at + 1 < count && p->number[at + 1] <= frame) at++;
    if (frame < p->number[0] || frame > p->number[count - 1]) {
        return firn_fail(error, FIRN_INVALID, "frame %lld: there are %lld to %lld",
                         (long long)frame, (long long)p->number[0],
                         (long long)p->number[count - 1]);
    }
    p->due = firn_live_clock() + (p->speed > 0 ? 1 / (p->options.fps * p->speed) : 0);
    go_to(p, at);
    return FIRN_OK;
}

/* What only finished runs do. */
static firn_status control(firn_player *p, const firn_live_command *c, firn_error *error)
{
    const int64_t last = p->options.number_count - 1;
    switch (c->what) {
    case FIRN_DO_SEEK: return seek(p, c->frame, error);
    case FIRN_DO_STEP:
        p->playing = false;
        if (p->at < last) go_to(p, p->at + 1);
        return FIRN_OK;
    case FIRN_DO_RESTART:
        p->playing = false;
        go_to(p, 0);
        return FIRN_OK;
    case FIRN_DO_PLAY:
        p->speed = c->speed;
        p->playing = p->at < last;
        p->due = firn_live_clock() + (p->speed > 0 ? 1 / (p->options.fps * p->speed) : 0);
        send_state(p);
        return FIRN_OK;
    case FIRN_DO_PAUSE:
        p->playing = false;
        send_state(p);
        return FIRN_OK;
    default:
        return firn_fail(error, FIRN_INVALID,
                         "this is a finished run: it can be played, not changed");
    }
}

static firn_status obey(firn_player *p, const firn_live_command *c, firn_error *error)
{
    switch (c->what) {
    case FIRN_DO_SHOWN:
        /* Numbers that were never sent would let more under way than there may be. */
        if ((uint32_t)c->picture - p->shown <= p->sent - p->shown) p->shown = (uint32_t)c->picture;
        return FIRN_OK;
    case FIRN_DO_WANT:
        firn_live_command_want(c, &p->want);
        p->owed = true;
        return FIRN_OK;
    case FIRN_DO_PROBE:
        p->probing = c->id >= 0;
        p->probe = c->id;
        p->owed = true;
        return FIRN_OK;
    case FIRN_DO_POINTS: return send_points(p, c, error);
    default: break;
    }
    if (!is_run(p)) return control(p, c, error);
    if (c->what != FIRN_DO_STOP) {
        return firn_fail(error, FIRN_INVALID,
                         "this run goes on by its own: it can be watched and stopped");
    }
    p->options.stop(p->options.user_data);
    return FIRN_OK;
}

void firn_player_receive(firn_player *p, const char *json, size_t size)
{
    firn_error error = {0};
    firn_live_command *c = firn_live_command_read(json, size, &error);
    if (!c || obey(p, c, &error) != FIRN_OK) complain(p, "command", &error);
    firn_live_command_free(c);
    send_owed(p);
}
