/* A session of `firn view`: an engine on a thread of its own, and the messages under way between it and the
 * page that it serves.
 *
 * The network's thread creates sessions and calls everything here except firn_session_send, which belongs
 * to the session's own thread. Both queues are bounded: a page that sends faster than the engine takes is
 * not read from, and an engine that says more than its page takes waits. While no page is connected, what
 * the engine says is dropped. */
#ifndef FIRN_SESSION_H
#define FIRN_SESSION_H

#include <stdbool.h>
#include <stddef.h>

#include <firn/firn.h>

typedef struct firn_session firn_session;

/* What answers a page. All calls come from the session's thread. */
typedef struct firn_engine {
    /* Returns NULL with an error on failure. */
    void *(*create)(void *context, firn_session *session, firn_error *error);
    void (*destroy)(void *engine);
    /* A page has come, or has come back, maybe within a turn: say everything it must know. */
    void (*greet)(void *engine);
    /* The page has gone. It may come back. */
    void (*leave)(void *engine);
    void (*receive)(void *engine, const char *text, size_t size);
    /* Works for a moment, a tenth of a second at most. Returns how long it may be left alone, in s. */
    double (*turn)(void *engine);
    void *context; /* handed to create */
} firn_engine;

/* Bytes before a message, for what sends it. */
enum { FIRN_MESSAGE_ROOM = 32 };

typedef struct firn_message {
    struct firn_message *next;
    size_t size;
    bool text;
    unsigned char data[]; /* FIRN_MESSAGE_ROOM bytes, then the message and a zero */
} firn_message;

static inline unsigned char *firn_message_data(firn_message *m)
{
    return m->data + FIRN_MESSAGE_ROOM;
}

/* ---- the engine's side ---- */

/* Queues a message for the page. Waits for room. */
void firn_session_send(firn_session *session, bool text, const void *data, size_t size);

/* From within a long turn: lets the engine greet a page that has come, and hands it what that page has sent.
 * Returns false if the session is to end. */
bool firn_session_poll(firn_session *session, void *engine);

/* ---- the network's side ---- */

/* Starts an engine. `wake` is called, from any thread, when there may be something to do for the network.
 * NULL with an error: there is no memory or no thread. */
firn_session *firn_session_create(const firn_engine *engine, void (*wake)(void *), void *wake_data,
                                  firn_error *error);
/* Asks the engine to end; does not wait. */
void firn_session_stop(firn_session *session);
/* Whether its thread has ended: it was asked to, or its engine could not start. */
bool firn_session_ended(firn_session *session);
/* Stops it, waits for its thread and frees everything. NULL is fine. */
void firn_session_destroy(firn_session *session);

/* A page has connected, or disconnected. Messages to one that has gone are dropped. */
void firn_session_connect(firn_session *session);
void firn_session_disconnect(firn_session *session);

/* Hands the engine a message, which the session then owns. */
void firn_session_receive(firn_session *session, firn_message *message);
/* Whether the engine has enough to do, so that the page should not be read from. */
bool firn_session_full(firn_session *session);
/* The next message for the page, which the caller then owns; NULL: there is none. */
firn_message *firn_session_take(firn_session *session);

/* NULL: no memory. */
firn_message *firn_message_create(bool text, const void *data, size_t size);
/* A text that goes on; NULL begins one. Returns NULL, with the message as it was, if there is no memory. */
firn_message *firn_message_extend(firn_message *message, const void *data, size_t size);

#endif
