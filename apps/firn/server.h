/* The server of `firn view`: the studio's page over HTTP, and its engine over a WebSocket.
 *
 * It listens on loopback unless told otherwise. Its address carries a token that lets one browser in, once:
 * the page that comes first with it gets a secret, with which it, and nobody else, may connect again or
 * open further sessions. The token is in the address's fragment, which browsers send to nobody.
 *   /live?token=T                first connection
 *   /live?secret=S               another session, to compare with
 *   /live?secret=S&session=N     back to a session, within a minute
 * The first message says {"event":"session","secret":S,"session":N,"resumed":false}. When the last
 * session has ended a new token is made; who uses it takes the place of the page before, whose secret is
 * good until then. */
#ifndef FIRN_SERVER_H
#define FIRN_SERVER_H

#include "options.h"
#include "session.h"

/* The options that commands with a server have. */
#define FIRN_PORT_OPTION(to)                                                                       \
    {                                                                                              \
        "--port", FIRN_OPTION_COUNT, &(to), "N", "port of the page; a free one by default", 1,     \
            65535                                                                                  \
    }
#define FIRN_LISTEN_OPTION(to)                                                                     \
    {                                                                                              \
        "--listen", FIRN_OPTION_TEXT, &(to), "ADDRESS",                                            \
            "let other machines in, at this address of ours"                                       \
    }
#define FIRN_PAGE_OPTION(to)                                                                       \
    {                                                                                              \
        "--page", FIRN_OPTION_TEXT, &(to), "FOLDER", "where the page is, if not beside firn",      \
            .files = FIRN_FOLDERS                                                                  \
    }

enum { FIRN_SERVER_PORT = 8470 }; /* tried first; then those after it */

typedef struct firn_server firn_server;

typedef struct firn_server_def {
    const char *page;   /* folder; NULL: the one beside the program */
    const char *listen; /* an address in numbers; NULL: loopback */
    int port;           /* 0: a free one */
    firn_engine engine; /* one for each session */
    /* Asked ten times a second whether to end. */
    bool (*stop)(void *user_data);
    /* The address to open, when it is new; on the network's thread. */
    void (*address)(void *user_data, const char *address);
    void *user_data;
} firn_server_def;

/* FIRN_UNSUPPORTED: this build has no libwebsockets. FIRN_OUTPUT: the port is taken. */
FIRN_MUST_CHECK firn_status firn_server_create(const firn_server_def *def, firn_server **server,
                                               firn_error *error);
/* Says why a server could not be created, and returns the exit code. */
int firn_server_failure(const char *command, firn_status status, const firn_error *error);
/* Says what listening beyond this machine means. */
void firn_server_warn(const char *listen);
/* Serves until it is to stop. The calling thread is the network's. */
void firn_server_run(firn_server *server);
/* Waits for all engines to end. NULL is fine. */
void firn_server_destroy(firn_server *server);

/* The address that lets a page in. */
const char *firn_server_address(const firn_server *server);
/* Whether that address has been used. */
bool firn_server_in_use(const firn_server *server);

#endif
