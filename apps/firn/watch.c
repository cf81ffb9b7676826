/* `firn run --live`: the studio's page looks on while a run goes on.
 *
 * The run's thread copies a frame's particles once a page is there and has taken the frame before, and for a
 * small share of its time: 25,600 particles take 14 ms, where a frame of theirs takes 1 s. Packing and sending
 * are left to the pages' own threads. A run that nobody watches copies nothing. */
#include "watch.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <firn/player.h>

#include "options.h"
#include "progress.h"
#include "scene_text.h"
#include "server.h"

static const double look_seconds = 0.05; /* how often pages look for a new frame */
static const double log_seconds = 0.5;   /* how often they hear of steps */
static const long farewell_ms = 300;     /* for pages to get the last frame */
static const double share = 0.03;        /* of a run's time, for copying frames */

/* A frame's particles, shared by pages. */
typedef struct snapshot {
    int pages; /* that hold it, and one while it is the newest; guarded by the watch's mutex */
    firn_points points;
    firn_player_frame frame;
    firn_totals totals;
    firn_bytes grid, *mesh; /* messages */
    char *poses, *scene;
} snapshot;

static void free_snapshot(snapshot *s)
{
    firn_points_free(&s->points);
    firn_bytes_free(&s->grid);
    for (int32_t i = 0; i < s->frame.mesh_count; i++) firn_bytes_free(&s->mesh[i]);
    free(s->mesh);
    free(s->poses);
    free(s->scene);
    free(s);
}

struct firn_watch {
    const firn_scene *scene;
    const firn_run_options *run;
    const char *file;
    char *text;           /* of the scene */
    firn_run_hooks inner; /* the hooks that the run had */
    firn_server *server;
    pthread_t thread;
    atomic_bool ending; /* the server is to end */
    atomic_bool stop;   /* a page asks the run to */
    atomic_int wanted;  /* what pages want of the next frame, as of firn_player_wants */
    atomic_int pages;   /* that look on */

    pthread_mutex_t mutex; /* of what follows */
    snapshot *newest;
    char step[160]; /* how far the run is */

    /* The run's own. */
    firn_report report;
    double begun;    /* s on the clock: the frame */
    double copy_due; /* s on the clock: not to copy before */
    int usual;       /* what pages wanted last */
};

/* ---- frames that pages share ---- */

static void release(firn_watch *w, snapshot *s)
{
    if (!s) return;
    pthread_mutex_lock(&w->mutex);
    const bool last = --s->pages == 0;
    pthread_mutex_unlock(&w->mutex);
    if (last) free_snapshot(s);
}

/* The newest frame if it is not the one that the page has; NULL otherwise. */
static snapshot *take_newest(firn_watch *w, const snapshot *has)
{
    pthread_mutex_lock(&w->mutex);
    snapshot *s = w->newest != has ? w->newest : NULL;
    if (s) s->pages++;
    pthread_mutex_unlock(&w->mutex);
    return s;
}

/* ---- the run's side ---- */

static void on_note(void *user_data, const char *text)
{
    const firn_watch *w = user_data;
    if (w->inner.note) w->inner.note(w->inner.user_data, text);
}

static void on_frame(void *user_data, const firn_run_frame *frame)
{
    firn_watch *w = user_data;
    w->begun = firn_clock();
    w->report = (firn_report){0};
    if (w->inner.frame) w->inner.frame(w->inner.user_data, frame);
}

static void on_step(void *user_data, int64_t frame, const firn_report *report)
{
    firn_watch *w = user_data;
    w->report = *report;
    if (atomic_load_explicit(&w->pages, memory_order_relaxed) > 0) {
        pthread_mutex_lock(&w->mutex);
        snprintf(w->step, sizeof w->step, "frame %lld/%lld, substep %lld, dt %.2e s (%s)",
                 (long long)frame, (long long)w->run->last, (long long)report->steps, report->dt,
                 firn_limit_name(report->limit));
        pthread_mutex_unlock(&w->mutex);
    }
    if (w->inner.step) w->inner.step(w->inner.user_data, frame, report);
}

static bool on_stop(void *user_data)
{
    firn_watch *w = user_data;
    return atomic_load_explicit(&w->stop, memory_order_relaxed) ||
           (w->inner.stop && w->inner.stop(w->inner.user_data));
}

/* Totals, grid and meshes, as far as they are wanted and there is memory. */
static void copy_more(snapshot *s, const firn_job *job, int wanted)
{
    firn_player_frame *f = &s->frame;
    if (wanted & FIRN_PLAYER_WANTS_TOTALS &&
        firn_sim_measure(firn_job_sim(job), &s->totals, NULL) == FIRN_OK) {
        f->totals = &s->totals;
    }
    if (wanted & FIRN_PLAYER_WANTS_GRID && firn_live_pack_grid(job, 0, &s->grid, NULL) == FIRN_OK) {
        f->grid = &s->grid;
    }
    f->still = wanted & FIRN_PLAYER_WANTS_STILL;
    f->mesh_count = firn_live_pack_meshes(job, f->still, &s->mesh);
    f->mesh = s->mesh;
}

/* Copies the frame for pages. A page is not worth a run: without memory there is no copy. */
static void copy_frame(firn_watch *w, const firn_job *job, int64_t frame, int wanted)
{
    snapshot *s = calloc(1, sizeof *s);
    if (!s) return;
    firn_sim *sim = firn_job_sim(job);
    s->poses = firn_player_poses(job);
    s->scene = firn_live_scene_text(job);
    if (firn_job_points(job, NULL, firn_sim_count(sim), &s->points, NULL) != FIRN_OK) {
        free_snapshot(s);
        return;
    }
    const firn_scene_info info = firn_scene_get_info(w->scene);
    const bool stepped = w->report.steps > 0;
    s->frame = (firn_player_frame){.number = frame,
                                   .time = firn_sim_time(sim),
                                   .steps = w->report.steps,
                                   .blocks = w->report.blocks,
                                   .dt = w->report.dt,
                                   .limit = stepped ? firn_limit_name(w->report.limit) : NULL,
                                   .integrator =
                                       stepped ? firn_integrator_name(w->report.integrator) : NULL,
                                   .seconds = stepped ? firn_clock() - w->begun : 0,
                                   .simulated = stepped ? 1 / info.fps : 0,
                                   .scene = s->scene,
                                   .poses = s->poses};
    copy_more(s, job, wanted);
    s->pages = 1;
    pthread_mutex_lock(&w->mutex);
    snapshot *old = w->newest;
    w->newest = s;
    pthread_mutex_unlock(&w->mutex);
    release(w, old);
}

static firn_status on_look(void *look_data, const firn_job *job, int64_t frame, firn_error *error)
{
    firn_watch *w = look_data;
    const double begin = firn_clock();
    const bool last = frame == w->run->last;
    int wanted = last || begin >= w->copy_due ? atomic_exchange(&w->wanted, 0) : 0;
    if (wanted) w->usual = wanted;
    /* The last one stays on the screen, and nobody asks for it again. */
    if (last && atomic_load(&w->pages) > 0) wanted |= w->usual | FIRN_PLAYER_WANTS_FRAME;
    if (wanted) {
        copy_frame(w, job, frame, wanted);
        const double end = firn_clock();
        w->copy_due = end + (end - begin) / share;
    }
    return w->inner.look ? w->inner.look(w->inner.look_data, job, frame, error) : FIRN_OK;
}

void firn_watch_attach(firn_watch *w, firn_run_hooks *hooks)
{
    w->inner = *hooks;
    w->begun = firn_clock();
    *hooks = (firn_run_hooks){.user_data = w,
                              .note = on_note,
                              .frame = on_frame,
                              .step = on_step,
                              .stop = on_stop,
                              .look = on_look,
                              .look_data = w};
}

/* ---- a page's side ---- */

typedef struct watch_engine {
    firn_watch *watch;
    firn_session *session;
    firn_player *player;
    snapshot *shown;
    bool here;
    double logged; /* s on the clock */
    char log[160]; /* what was said last */
} watch_engine;

static void send_text(void *user_data, const char *text, size_t size)
{
    const watch_engine *e = user_data;
    firn_session_send(e->session, true, text, size);
}

static void send_bytes(void *user_data, const void *data, size_t size)
{
    const watch_engine *e = user_data;
    firn_session_send(e->session, false, data, size);
}

static void ask_to_stop(void *user_data)
{
    const watch_engine *e = user_data;
    atomic_store(&e->watch->stop, true);
}

static void set_here(watch_engine *e, bool here)
{
    if (e->here != here) atomic_fetch_add(&e->watch->pages, here ? 1 : -1);
    e->here = here;
}

static void destroy(void *engine)
{
    watch_engine *e = engine;
    set_here(e, false);
    firn_player_destroy(e->player);
    release(e->watch, e->shown);
    free(e);
}

static void *create(void *context, firn_session *session, firn_error *error)
{
    firn_watch *w = context;
    watch_engine *e = calloc(1, sizeof *e);
    if (!e) {
        (void)firn_app_fail(error, FIRN_NO_MEMORY, "out of memory");
        return NULL;
    }
    e->watch = w;
    e->session = session;
    const firn_scene_info info = firn_scene_get_info(w->scene);
    firn_player_options o = firn_player_options_default();
    o.name = info.name;
    o.file = w->file;
    o.text = w->text;
    o.isa = w->run->isa ? w->run->isa : firn_isa_name(0);
    o.threads = w->run->threads;
    o.fps = info.fps;
    o.dimension = info.dimension;
    o.resolution = info.resolution;
    o.first = info.first_frame;
    o.last = w->run->last;
    o.user_data = e;
    o.send = send_text;
    o.send_bytes = send_bytes;
    o.stop = ask_to_stop;
    if (firn_player_create(&o, &e->player, error) == FIRN_OK) return e;
    destroy(e);
    return NULL;
}

static void greet(void *engine)
{
    watch_engine *e = engine;
    set_here(e, true);
    firn_player_hello(e->player);
}

static void leave(void *engine) { set_here(engine, false); }

static void receive(void *engine, const char *text, size_t size)
{
    firn_player_receive(((watch_engine *)engine)->player, text, size);
}

static void tell_step(watch_engine *e)
{
    const double now = firn_clock();
    if (now - e->logged < log_seconds) return;
    e->logged = now;
    char text[sizeof e->log];
    pthread_mutex_lock(&e->watch->mutex);
    snprintf(text, sizeof text, "%s", e->watch->step);
    pthread_mutex_unlock(&e->watch->mutex);
    if (!text[0] || strcmp(text, e->log) == 0) return;
    strcpy(e->log, text);
    firn_player_log(e->player, text);
}

static double turn(void *engine)
{
    watch_engine *e = engine;
    firn_player_turn(e->player);
    const int wants = firn_player_wants(e->player);
    if (wants) {
        snapshot *next = take_newest(e->watch, e->shown);
        if (next) {
            firn_player_show(e->player, &next->frame, &next->points);
            release(e->watch, e->shown);
            e->shown = next;
        }
        atomic_fetch_or(&e->watch->wanted, wants);
    }
    tell_step(e);
    return look_seconds;
}

/* ---- the server ---- */

static bool is_ending(void *user_data) { return atomic_load(&((firn_watch *)user_data)->ending); }

static void say_address(void *user_data, const char *address)
{
    (void)user_data;
    fprintf(stderr, "watch this run: %s\n", address);
}

static void *serve(void *data)
{
    firn_server_run(((firn_watch *)data)->server);
    return NULL;
}

/* Signals stay the main thread's. */
static bool start_thread(firn_watch *w)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool fine = pthread_create(&w->thread, NULL, serve, w) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return fine;
}

firn_status firn_watch_create(const firn_watch_def *def, firn_watch **watch, firn_error *error)
{
    *watch = NULL;
    firn_watch *w = calloc(1, sizeof *w);
    if (!w) return firn_app_fail(error, FIRN_NO_MEMORY, "out of memory");
    w->scene = def->scene;
    w->run = def->run;
    w->file = def->file;
    pthread_mutex_init(&w->mutex, NULL);
    const firn_server_def how = {.page = def->page,
                                 .port = def->port,
                                 .engine = {create, destroy, greet, leave, receive, turn, w},
                                 .stop = is_ending,
                                 .address = say_address,
                                 .user_data = w};
    firn_status st = firn_server_create(&how, &w->server, error);
    if (st == FIRN_OK) {
        w->text = firn_scene_text(def->scene, def->file, def->changed, error);
        if (!w->text) st = FIRN_INVALID;
    }
    if (st == FIRN_OK) say_address(NULL, firn_server_address(w->server));
    if (st == FIRN_OK && !start_thread(w)) {
        st = firn_app_fail(error, FIRN_NO_MEMORY, "the system gives no thread for the page");
    }
    if (st != FIRN_OK) {
        firn_server_destroy(w->server);
        pthread_mutex_destroy(&w->mutex);
        free(w->text);
        free(w);
        return st;
    }
    *watch = w;
    return FIRN_OK;
}

void firn_watch_destroy(firn_watch *w)
{
    if (!w) return;
    if (atomic_load(&w->pages) > 0) {
        const struct timespec farewell = {0, farewell_ms * 1000000L};
        nanosleep(&farewell, NULL);
    }
    atomic_store(&w->ending, true);
    pthread_join(w->thread, NULL);
    firn_server_destroy(w->server);
    release(w, w->newest);
    pthread_mutex_destroy(&w->mutex);
    free(w->text);
    free(w);
}
