/* A session's thread and its two queues; see session.h. */
#include "session.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "options.h"

enum {
    MOST_WAITING = 256,              /* messages from the page */
    MOST_WAITING_BYTES = 8 << 20,    /* their bytes */
    MOST_UNDER_WAY_BYTES = 32 << 20, /* to the page; one message may be larger, on its own */
    MOST_UNDER_WAY = 4096,           /* messages to the page */
    MESSAGES_A_TURN = 64 /* so that a chatty page does not keep the engine from its work */
};

typedef struct queue {
    firn_message *first, *last;
    size_t bytes;
    int count;
} queue;

struct firn_session {
    const firn_engine *engine;
    void (*wake)(void *);
    void *wake_data;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed; /* any of the following */
    queue in, out;
    bool connected, greeted; /* a page is there; the engine has been told */
    bool stop, ended;
};

/* ---- queues ---- */

static void put(queue *q, firn_message *m)
{
    m->next = NULL;
    if (q->last) {
        q->last->next = m;
    } else {
        q->first = m;
    }
    q->last = m;
    q->bytes += m->size;
    q->count++;
}

static firn_message *take(queue *q)
{
    firn_message *m = q->first;
    if (!m) return NULL;
    q->first = m->next;
    if (!q->first) q->last = NULL;
    q->bytes -= m->size;
    q->count--;
    return m;
}

static void empty(queue *q)
{
    for (firn_message *m; (m = take(q));) free(m);
}

firn_message *firn_message_create(bool text, const void *data, size_t size)
{
    firn_message *m = malloc(sizeof *m + FIRN_MESSAGE_ROOM + size + 1);
    if (!m) return NULL;
    *m = (firn_message){.size = size, .text = text};
    if (size) memcpy(firn_message_data(m), data, size);
    firn_message_data(m)[size] = 0;
    return m;
}

firn_message *firn_message_extend(firn_message *message, const void *data, size_t size)
{
    if (!message) return firn_message_create(true, data, size);
    const size_t whole = message->size + size;
    firn_message *m = realloc(message, sizeof *m + FIRN_MESSAGE_ROOM + whole + 1);
    if (!m) return NULL;
    if (size) memcpy(firn_message_data(m) + m->size, data, size);
    m->size = whole;
    firn_message_data(m)[whole] = 0;
    return m;
}

/* ---- the engine's side ---- */

static void wait_for_change(firn_session *s, double seconds)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    const double whole = seconds < 3600 ? seconds : 3600;
    until.tv_sec += (time_t)whole;
    until.tv_nsec += (long)((whole - (double)(time_t)whole) * 1e9);
    if (until.tv_nsec >= 1000000000L) {
        until.tv_nsec -= 1000000000L;
        until.tv_sec++;
    }
    pthread_cond_timedwait(&s->changed, &s->mutex, &until);
}

/* Where memory is short a message is dropped: the page asks for less, or ends. */
void firn_session_send(firn_session *s, bool text, const void *data, size_t size)
{
    firn_message *m = firn_message_create(text, data, size);
    if (!m) return;
    pthread_mutex_lock(&s->mutex);
    while (s->connected && s->greeted && !s->stop && s->out.count > 0 &&
           (s->out.bytes + size > MOST_UNDER_WAY_BYTES || s->out.count >= MOST_UNDER_WAY)) {
        pthread_cond_wait(&s->changed, &s->mutex);
    }
    const bool sent = s->connected && s->greeted && !s->stop;
    if (sent) put(&s->out, m);
    pthread_mutex_unlock(&s->mutex);
    if (sent) {
        s->wake(s->wake_data);
    } else {
        free(m);
    }
}

/* Tells the engine what has changed about its page. With the mutex held; lets go of it meanwhile. */
static void follow_page(firn_session *s, void *engine)
{
    const bool connected = s->connected;
    s->greeted = connected;
    pthread_mutex_unlock(&s->mutex);
    if (connected) {
        s->engine->greet(engine);
    } else {
        s->engine->leave(engine);
    }
    pthread_mutex_lock(&s->mutex);
}

/* Hands over what the page has sent. With the mutex held; lets go of it meanwhile. */
static bool hand_over(firn_session *s, void *engine)
{
    bool any = false;
    for (int i = 0; i < MESSAGES_A_TURN && s->in.count > 0 && s->greeted && !s->stop; i++) {
        firn_message *m = take(&s->in);
        pthread_mutex_unlock(&s->mutex);
        s->wake(s->wake_data); /* there is room again */
        s->engine->receive(engine, (const char *)firn_message_data(m), m->size);
        free(m);
        any = true;
        pthread_mutex_lock(&s->mutex);
    }
    return any;
}

bool firn_session_poll(firn_session *s, void *engine)
{
    pthread_mutex_lock(&s->mutex);
    if (s->connected && !s->greeted) follow_page(s, engine);
    hand_over(s, engine);
    const bool goes_on = !s->stop;
    pthread_mutex_unlock(&s->mutex);
    return goes_on;
}

static void serve(firn_session *s, void *engine)
{
    bool here = false; /* as the engine knows it */
    double pause = 0;
    pthread_mutex_lock(&s->mutex);
    while (!s->stop) {
        if (s->connected != here || (here && !s->greeted)) {
            /* A page that was replaced by another is greeted without a farewell. */
            here = s->connected;
            follow_page(s, engine);
            pause = 0;
        } else if (hand_over(s, engine)) {
            pause = 0;
        } else if (!here) {
            wait_for_change(s, 3600);
        } else if (pause > 0) {
            wait_for_change(s, pause);
            pause = 0;
        } else {
            pthread_mutex_unlock(&s->mutex);
            pause = s->engine->turn(engine);
            pthread_mutex_lock(&s->mutex);
            if (s->in.count > 0) pause = 0;
        }
    }
    pthread_mutex_unlock(&s->mutex);
}

/* A message of the engine that never came to be. */
static void report_failure(firn_session *s, const firn_error *error)
{
    char text[2 * sizeof error->message + 100];
    size_t n = (size_t)snprintf(text, sizeof text,
                                "{\"event\":\"error\",\"from\":\"command\",\"text\":\"");
    for (const char *p = error->message; *p && n < sizeof text - 10; p++) {
        if (*p == '"' || *p == '\\') text[n++] = '\\';
        text[n++] = (unsigned char)*p < 32 ? ' ' : *p;
    }
    n += (size_t)snprintf(text + n, sizeof text - n, "\"}");
    pthread_mutex_lock(&s->mutex);
    while (!s->connected && !s->stop) pthread_cond_wait(&s->changed, &s->mutex);
    s->greeted = true;
    pthread_mutex_unlock(&s->mutex);
    firn_session_send(s, true, text, n);
}

static void *run_session(void *data)
{
    firn_session *s = data;
    firn_error error = {0};
    void *engine = s->engine->create(s->engine->context, s, &error);
    if (engine) {
        serve(s, engine);
        s->engine->destroy(engine);
    } else {
        report_failure(s, &error);
    }
    pthread_mutex_lock(&s->mutex);
    s->ended = true;
    pthread_mutex_unlock(&s->mutex);
    s->wake(s->wake_data);
    return NULL;
}

/* ---- the network's side ---- */

static bool start_thread(firn_session *s)
{
    /* Signals are for the main thread, which looks whether to stop. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool fine = pthread_create(&s->thread, NULL, run_session, s) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return fine;
}

firn_session *firn_session_create(const firn_engine *engine, void (*wake)(void *), void *wake_data,
                                  firn_error *error)
{
    firn_session *s = calloc(1, sizeof *s);
    if (!s) {
        (void)firn_app_fail(error, FIRN_NO_MEMORY, "out of memory");
        return NULL;
    }
    s->engine = engine;
    s->wake = wake;
    s->wake_data = wake_data;
    pthread_condattr_t how;
    pthread_condattr_init(&how);
    pthread_condattr_setclock(&how, CLOCK_MONOTONIC);
    pthread_mutex_init(&s->mutex, NULL);
    pthread_cond_init(&s->changed, &how);
    pthread_condattr_destroy(&how);
    if (start_thread(s)) return s;
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->mutex);
    free(s);
    (void)firn_app_fail(error, FIRN_NO_MEMORY, "the system gives no thread for a session");
    return NULL;
}

void firn_session_stop(firn_session *s)
{
    pthread_mutex_lock(&s->mutex);
    s->stop = true;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->mutex);
}

bool firn_session_ended(firn_session *s)
{
    pthread_mutex_lock(&s->mutex);
    const bool ended = s->ended;
    pthread_mutex_unlock(&s->mutex);
    return ended;
}

void firn_session_destroy(firn_session *s)
{
    if (!s) return;
    firn_session_stop(s);
    pthread_join(s->thread, NULL);
    empty(&s->in);
    empty(&s->out);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->mutex);
    free(s);
}

static void set_connected(firn_session *s, bool connected)
{
    pthread_mutex_lock(&s->mutex);
    s->connected = connected;
    s->greeted = false;
    empty(&s->in);
    empty(&s->out);
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->mutex);
}

void firn_session_connect(firn_session *s) { set_connected(s, true); }
void firn_session_disconnect(firn_session *s) { set_connected(s, false); }

void firn_session_receive(firn_session *s, firn_message *message)
{
    pthread_mutex_lock(&s->mutex);
    put(&s->in, message);
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->mutex);
}

bool firn_session_full(firn_session *s)
{
    pthread_mutex_lock(&s->mutex);
    const bool full = s->in.count >= MOST_WAITING || s->in.bytes >= MOST_WAITING_BYTES;
    pthread_mutex_unlock(&s->mutex);
    return full;
}

firn_message *firn_session_take(firn_session *s)
{
    pthread_mutex_lock(&s->mutex);
    firn_message *m = take(&s->out);
    if (m) pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->mutex);
    return m;
}
