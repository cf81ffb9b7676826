/* The server of `firn view` on libwebsockets; see server.h for who is let in.
 *
 * One thread serves all connections; engines have threads of their own (session.c) and wake it by
 * lws_cancel_service, the one function of the library that other threads may call. */
#include "server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "page.h"
#include "progress.h"
#include "secret.h"

int firn_server_failure(const char *command, firn_status status, const firn_error *error)
{
    const int exit_code = firn_options_failure(command, status, error);
    const bool usage = status == FIRN_UNSUPPORTED || status == FIRN_OUTPUT; /* the port */
    return usage ? FIRN_EXIT_USAGE : exit_code;
}

void firn_server_warn(const char *listen)
{
    fprintf(stderr,
            "Listening on %s: whoever on that network has the address below can simulate here and "
            "read\nthis machine's files by naming them in a scene. Nothing is encrypted. `ssh -L` "
            "is safer.\n",
            listen);
}

#ifdef FIRN_HAVE_WEBSOCKETS
#include <libwebsockets.h>

enum {
    MOST_SESSIONS = 8,
    SLOTS = 2 * MOST_SESSIONS, /* with those that are ending */
    MOST_CONNECTIONS = 48,     /* a browser opens six for the page's files */
    MOST_MESSAGE = 4 << 20,    /* bytes from a page: a scene and to spare */
    PIECE = 64 << 10,          /* bytes that are sent at once */
    HEADERS = 4096,            /* bytes */
    PORTS_TRIED = 20,
    TICK_MS = 100
};
static const double keep_seconds = 60;        /* how long a session waits for its page */
static const unsigned handshake_seconds = 10; /* for a request's headers */
static const int idle_seconds = 15;           /* of a connection between requests */
static const uint16_t ping_seconds = 20, hangup_seconds = 45; /* of a page that says nothing */

static const enum lws_close_status try_again_later = (enum lws_close_status)1013; /* RFC 6455 */

_Static_assert((int)FIRN_MESSAGE_ROOM >= (int)LWS_PRE, "room for the library's headers");

typedef struct slot {
    firn_session *session; /* NULL: free */
    uint32_t number;
    struct lws *wsi; /* its page; NULL: gone */
    double left;     /* when it went, s */
    bool stopping, reading_paused;
} slot;

struct firn_server {
    firn_server_def def;
    firn_page page;
    struct lws_context *context;
    struct lws_vhost *host[2];
    lws_sorted_usec_list_t timer;
    int port;
    int connections;
    firn_secret token;  /* empty once it has been used */
    firn_secret secret; /* of the page that used it; empty at first */
    char address[160];
    slot slot[SLOTS];
    uint32_t sessions_made;
    bool stopping;
};

/* What the library keeps for every connection; zero at first. */
typedef struct connection {
    slot *slot; /* of a WebSocket */
    firn_message *sending, *coming;
    size_t sent;
    const unsigned char *body; /* of an answer over HTTP, not yet sent */
    size_t body_left;
} connection;

/* ---- who may come in ---- */

static bool copy_header(struct lws *wsi, enum lws_token_indexes which, char *text, int size)
{
    return lws_hdr_copy(wsi, text, size, which) > 0;
}

static bool copy_argument(struct lws *wsi, const char *name, char *text, int size)
{
    char buffer[128];
    const char *value = lws_get_urlarg_by_name(wsi, name, buffer, sizeof buffer);
    if (!value) return false;
    return snprintf(text, (size_t)size, "%s", value) < size;
}

static bool host_is_ours(const firn_server *s, struct lws *wsi, char *host, int size)
{
    return copy_header(wsi, WSI_TOKEN_HOST, host, size) &&
           firn_host_allowed(host, s->port, s->def.listen != NULL);
}

static bool has_token(const firn_server *s, struct lws *wsi)
{
    char text[64];
    return copy_argument(wsi, "token=", text, sizeof text) && firn_secret_is(&s->token, text);
}

static bool has_secret(const firn_server *s, struct lws *wsi)
{
    char text[64];
    return copy_argument(wsi, "secret=", text, sizeof text) && firn_secret_is(&s->secret, text);
}

/* Why a page may not open a WebSocket; NULL: it may. */
static const char *refusal(const firn_server *s, struct lws *wsi, const char *to)
{
    char host[160], origin[200], path[64];
    if (strcasecmp(to, "websocket") != 0) return "no such protocol";
    if (!copy_header(wsi, WSI_TOKEN_GET_URI, path, sizeof path) || strcmp(path, "/live") != 0) {
        return "no such place";
    }
    if (!host_is_ours(s, wsi, host, sizeof host)) return "not this server's name";
    if (!copy_header(wsi, WSI_TOKEN_ORIGIN, origin, sizeof origin) ||
        !firn_origin_allowed(origin, host)) {
        return "not this server's page";
    }
    if (!has_token(s, wsi) && !has_secret(s, wsi))
        return "not the address that firn view printed, or it has been used";
    return NULL;
}

static void make_address(firn_server *s)
{
    /* Without random numbers nobody gets in. */
    (void)firn_secret_make(&s->token);
    const char *name = s->def.listen ? s->def.listen : "127.0.0.1";
    if (strcmp(name, "0.0.0.0") == 0) name = "127.0.0.1";
    if (strcmp(name, "::") == 0) name = "::1";
    const bool six = strchr(name, ':') != NULL;
    snprintf(s->address, sizeof s->address, "http://%s%s%s:%d/#live=%s", six ? "[" : "", name,
             six ? "]" : "", s->port, s->token.text);
}

/* ---- sessions ---- */

static void wake(void *data)
{
    const firn_server *s = data;
    lws_cancel_service(s->context);
}

static void stop_session(slot *p)
{
    p->stopping = true;
    firn_session_stop(p->session);
}

/* NULL: there are too many. One whose page has gone makes room for another. */
static slot *new_session(firn_server *s)
{
    slot *unused = NULL, *gone = NULL;
    int sessions = 0;
    for (int i = 0; i < SLOTS; i++) {
        slot *p = &s->slot[i];
        if (!p->session) unused = p;
        if (!p->session || p->stopping) continue;
        sessions++;
        if (!p->wsi && (!gone || p->left < gone->left)) gone = p;
    }
    if (!unused || (sessions >= MOST_SESSIONS && !gone)) return NULL;
    if (sessions >= MOST_SESSIONS) stop_session(gone);
    unused->session = firn_session_create(&s->def.engine, wake, s, NULL);
    if (!unused->session) return NULL;
    unused->number = ++s->sessions_made;
    return unused;
}

/* Frees sessions that have ended, and stops those whose page stays away. */
static void tend_sessions(firn_server *s)
{
    bool any = false;
    for (int i = 0; i < SLOTS; i++) {
        slot *p = &s->slot[i];
        if (!p->session) continue;
        if (!p->wsi && !p->stopping && firn_clock() - p->left > keep_seconds) {
            stop_session(p);
        }
        /* A page whose engine could not start stays to read why. */
        if ((p->stopping || !p->wsi) && firn_session_ended(p->session)) {
            firn_session_destroy(p->session);
            *p = (slot){0};
        }
        any = any || p->session;
    }
    if (any || s->token.text[0]) return;
    make_address(s);
    s->def.address(s->def.user_data, s->address);
}

static slot *find_session(firn_server *s, struct lws *wsi)
{
    char text[32];
    if (!copy_argument(wsi, "session=", text, sizeof text)) return NULL;
    const unsigned long number = strtoul(text, NULL, 10);
    for (int i = 0; i < SLOTS; i++) {
        slot *p = &s->slot[i];
        if (p->session && !p->stopping && p->number == number && !firn_session_ended(p->session)) {
            return p;
        }
    }
    return NULL;
}

/* A page has come in: finds or makes its session. Returns whether it stays. */
static bool welcome(firn_server *s, struct lws *wsi, connection *c)
{
    char text[160];
    const bool first = has_token(s, wsi);
    if ((!first && !has_secret(s, wsi)) || s->stopping) return false;
    slot *p = find_session(s, wsi);
    const bool resumed = p != NULL;
    if (!p) p = new_session(s);
    if (!p) {
        static char full[] = "too many sessions";
        lws_close_reason(wsi, try_again_later, (unsigned char *)full, sizeof full - 1);
        return false;
    }
    if (p->wsi) { /* its old connection is dead, and we have not heard yet */
        connection *old = lws_wsi_user(p->wsi);
        old->slot = NULL;
        lws_set_timeout(p->wsi, PENDING_TIMEOUT_KILLED_BY_PARENT, LWS_TO_KILL_ASYNC);
        p->wsi = NULL;
        p->left = firn_clock();
    }
    s->token = (firn_secret){0};
    if (first) (void)firn_secret_make(&s->secret);
    const int n = snprintf(text, sizeof text,
                           "{\"event\":\"session\",\"secret\":\"%s\",\"session\":%u,"
                           "\"resumed\":%s}",
                           s->secret.text, p->number, resumed ? "true" : "false");
    c->sending = firn_message_create(true, text, (size_t)n);
    if (!c->sending) return false;
    c->slot = p;
    p->wsi = wsi;
    p->reading_paused = false;
    firn_session_connect(p->session);
    lws_callback_on_writable(wsi);
    return true;
}

static void part(connection *c, const struct lws *wsi)
{
    free(c->sending);
    free(c->coming);
    c->sending = c->coming = NULL;
    slot *p = c->slot;
    c->slot = NULL;
    if (!p || p->wsi != wsi) return;
    p->wsi = NULL;
    p->left = firn_clock();
    firn_session_disconnect(p->session);
}

/* ---- messages ---- */

static int close_because(struct lws *wsi, enum lws_close_status status, char *why)
{
    lws_close_reason(wsi, status, (unsigned char *)why, strlen(why));
    return -1;
}

static int take_piece(struct lws *wsi, connection *c, const void *data, size_t size)
{
    static char large[] = "message too large", kind[] = "messages must be text";
    if (!c->slot) return -1;
    const size_t had = c->coming ? c->coming->size : 0;
    if (lws_frame_is_binary(wsi))
        return close_because(wsi, LWS_CLOSE_STATUS_UNACCEPTABLE_OPCODE, kind);
    if (size > MOST_MESSAGE - had) {
        return close_because(wsi, LWS_CLOSE_STATUS_MESSAGE_TOO_LARGE, large);
    }
    firn_message *grown = firn_message_extend(c->coming, data, size);
    if (!grown) return -1;
    c->coming = grown;
    if (!lws_is_final_fragment(wsi) || lws_remaining_packet_payload(wsi) > 0) return 0;
    c->coming = NULL;
    firn_session_receive(c->slot->session, grown);
    if (firn_session_full(c->slot->session)) {
        c->slot->reading_paused = true;
        lws_rx_flow_control(wsi, 0);
    }
    return 0;
}

/* Sends a piece of the message under way, or of the next. */
static int send_piece(struct lws *wsi, connection *c)
{
    if (!c->slot) return -1;
    if (!c->sending) {
        c->sending = firn_session_take(c->slot->session);
        c->sent = 0;
    }
    firn_message *m = c->sending;
    if (!m) return 0;
    const size_t left = m->size - c->sent, n = left < PIECE ? left : PIECE;
    const int how =
        lws_write_ws_flags(m->text ? LWS_WRITE_TEXT : LWS_WRITE_BINARY, c->sent == 0, n == left);
    if (lws_write(wsi, firn_message_data(m) + c->sent, n, (enum lws_write_protocol)how) < (int)n) {
        return -1;
    }
    c->sent += n;
    if (n == left) {
        free(m);
        c->sending = NULL;
    }
    lws_callback_on_writable(wsi);
    return 0;
}

/* An engine has something to say, or room. */
static void look_at_sessions(firn_server *s)
{
    for (int i = 0; i < SLOTS; i++) {
        slot *p = &s->slot[i];
        if (!p->session || !p->wsi) continue;
        lws_callback_on_writable(p->wsi);
        if (p->reading_paused && !firn_session_full(p->session)) {
            p->reading_paused = false;
            lws_rx_flow_control(p->wsi, 1);
        }
    }
    tend_sessions(s);
}

/* ---- the page ---- */

static bool add_header(struct lws *wsi, const char *name, const char *value, unsigned char **at,
                       unsigned char *end)
{
    return lws_add_http_header_by_name(wsi, (const unsigned char *)name,
                                       (const unsigned char *)value, (int)strlen(value), at,
                                       end) == 0;
}

/* What a page may do: load its own files, run WebAssembly, talk to us. */
static bool add_policy(struct lws *wsi, const char *host, unsigned char **at, unsigned char *end)
{
    char policy[640];
    snprintf(
        policy, sizeof policy,
        "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self' blob:; "
        "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; media-src 'self' blob:; "
        "connect-src 'self' blob: data: ws://%s; object-src 'none'; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'",
        host);
    return add_header(wsi, "content-security-policy:", policy, at, end) &&
           add_header(wsi, "cross-origin-opener-policy:", "same-origin", at, end) &&
           add_header(wsi, "cross-origin-embedder-policy:", "require-corp", at, end) &&
           add_header(wsi, "cross-origin-resource-policy:", "same-origin", at, end) &&
           add_header(wsi, "x-content-type-options:", "nosniff", at, end) &&
           add_header(wsi, "referrer-policy:", "no-referrer", at, end) &&
           add_header(wsi, "cache-control:", "no-cache", at, end);
}

/* Sends headers; the body, which must stay, follows as the connection takes it. */
static int answer(struct lws *wsi, connection *c, unsigned status, const char *type,
                  const void *body, size_t size, const char *host, bool head)
{
    unsigned char buffer[LWS_PRE + HEADERS], *start = buffer + LWS_PRE, *at = start;
    unsigned char *end = buffer + sizeof buffer - 1;
    if (lws_add_http_common_headers(wsi, status, type, size, &at, end) != 0 ||
        !add_policy(wsi, host, &at, end) ||
        (status == HTTP_STATUS_METHOD_NOT_ALLOWED &&
         !add_header(wsi, "allow:", "GET, HEAD", &at, end)) ||
        lws_finalize_write_http_header(wsi, start, &at, end) != 0) {
        return -1;
    }
    if (head || size == 0) return lws_http_transaction_completed(wsi) ? -1 : 0;
    c->body = body;
    c->body_left = size;
    lws_callback_on_writable(wsi);
    return 0;
}

static int answer_text(struct lws *wsi, connection *c, unsigned status, const char *text,
                       const char *host, bool head)
{
    return answer(wsi, c, status, "text/plain; charset=utf-8", text, strlen(text), host, head);
}

static int answer_request(firn_server *s, struct lws *wsi, connection *c, const char *path)
{
    char host[160];
    const bool head = lws_hdr_total_length(wsi, WSI_TOKEN_HEAD_URI) > 0;
    if (!host_is_ours(s, wsi, host, sizeof host)) {
        return answer_text(wsi, c, HTTP_STATUS_FORBIDDEN, "Not this server's name.\n", "", head);
    }
    if (!head && lws_hdr_total_length(wsi, WSI_TOKEN_GET_URI) <= 0) {
        return answer_text(wsi, c, HTTP_STATUS_METHOD_NOT_ALLOWED, "Only GET and HEAD.\n", host,
                           false);
    }
    const firn_page_file *file = firn_page_find(&s->page, path);
    if (!file) return answer_text(wsi, c, HTTP_STATUS_NOT_FOUND, "No such file.\n", host, head);
    return answer(wsi, c, HTTP_STATUS_OK, file->type, file->data, file->size, host, head);
}

static int send_body(struct lws *wsi, connection *c)
{
    unsigned char buffer[LWS_PRE + 4096];
    if (c->body_left == 0) return 0;
    const size_t most = sizeof buffer - LWS_PRE;
    const size_t n = c->body_left < most ? c->body_left : most;
    const bool last = n == c->body_left;
    memcpy(buffer + LWS_PRE, c->body, n);
    if (lws_write(wsi, buffer + LWS_PRE, n, last ? LWS_WRITE_HTTP_FINAL : LWS_WRITE_HTTP) <
        (int)n) {
        return -1;
    }
    c->body += n;
    c->body_left -= n;
    if (last) return lws_http_transaction_completed(wsi) ? -1 : 0;
    lws_callback_on_writable(wsi);
    return 0;
}

/* ---- the library's side ---- */

static int refuse_upgrade(const firn_server *s, struct lws *wsi, const char *to)
{
    const char *why = refusal(s, wsi, to);
    if (!why) return 0;
    lws_return_http_status(wsi, HTTP_STATUS_FORBIDDEN, why);
    return 1;
}

static int callback(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                    size_t size)
{
    firn_server *s = lws_context_user(lws_get_context(wsi));
    connection *c = user;
    switch (reason) {
    case LWS_CALLBACK_FILTER_NETWORK_CONNECTION: return s->connections >= MOST_CONNECTIONS;
    case LWS_CALLBACK_WSI_CREATE: s->connections++; return 0;
    case LWS_CALLBACK_WSI_DESTROY: s->connections--; return 0;
    case LWS_CALLBACK_HTTP_CONFIRM_UPGRADE: return refuse_upgrade(s, wsi, in);
    case LWS_CALLBACK_HTTP: return answer_request(s, wsi, c, in);
    case LWS_CALLBACK_HTTP_WRITEABLE: return send_body(wsi, c);
    case LWS_CALLBACK_HTTP_BODY: return -1; /* nobody may send one */
    case LWS_CALLBACK_ESTABLISHED: return welcome(s, wsi, c) ? 0 : -1;
    case LWS_CALLBACK_RECEIVE: return take_piece(wsi, c, in, size);
    case LWS_CALLBACK_SERVER_WRITEABLE: return send_piece(wsi, c);
    case LWS_CALLBACK_CLOSED: part(c, wsi); return 0;
    case LWS_CALLBACK_EVENT_WAIT_CANCELLED: look_at_sessions(s); return 0;
    default: return 0;
    }
}

static const struct lws_protocols protocols[] = {
    {"firn", callback, sizeof(connection), PIECE, 0, NULL, 0}, {0}};

static void tick(lws_sorted_usec_list_t *timer)
{
    firn_server *s = lws_container_of(timer, firn_server, timer);
    tend_sessions(s);
    if (s->def.stop(s->def.user_data)) {
        s->stopping = true;
        lws_cancel_service(s->context);
    } else {
        lws_sul_schedule(s->context, 0, &s->timer, tick, TICK_MS * LWS_US_PER_MS);
    }
}

/* Listens on an address; NULL: it cannot. */
static struct lws_vhost *listen_on(firn_server *s, const char *address, int port)
{
    static const lws_retry_bo_t patience = {.secs_since_valid_ping = ping_seconds,
                                            .secs_since_valid_hangup = hangup_seconds};
    const bool six = strchr(address, ':') != NULL;
    struct lws_context_creation_info info = {
        .port = port,
        .iface = address,
        .vhost_name = address,
        .protocols = protocols,
        .timeout_secs = handshake_seconds,
        .keepalive_timeout = idle_seconds,
        .retry_and_idle_policy = &patience,
        .options = LWS_SERVER_OPTION_FAIL_UPON_UNABLE_TO_BIND |
                   (six ? LWS_SERVER_OPTION_IPV6_V6ONLY_MODIFY | LWS_SERVER_OPTION_IPV6_V6ONLY_VALUE
                        : LWS_SERVER_OPTION_DISABLE_IPV6)};
    return lws_create_vhost(s->context, &info);
}

static firn_status listen_somewhere(firn_server *s, firn_error *error)
{
    const char *address = s->def.listen ? s->def.listen : "127.0.0.1";
    const int first = s->def.port ? s->def.port : FIRN_SERVER_PORT;
    const int tried = s->def.port ? 1 : PORTS_TRIED;
    for (int i = 0; i < tried && !s->host[0]; i++) {
        s->port = first + i;
        s->host[0] = listen_on(s, address, s->port);
    }
    if (!s->host[0]) {
        return firn_app_fail(error, FIRN_OUTPUT, "cannot listen on %s port %d%s%s", address, first,
                             tried > 1 ? " or the ports after it" : ": is another program there?",
                             s->def.listen ? "; it must be an address of this machine, in numbers"
                                           : "");
    }
    /* localhost may mean either; machines without IPv6 have the first alone. */
    if (!s->def.listen) s->host[1] = listen_on(s, "::1", s->port);
    return FIRN_OK;
}

firn_status firn_server_create(const firn_server_def *def, firn_server **server, firn_error *error)
{
    *server = NULL;
    firn_server *s = calloc(1, sizeof *s);
    if (!s) return firn_app_fail(error, FIRN_NO_MEMORY, "out of memory");
    s->def = *def;
    firn_status st = firn_page_read(def->page, &s->page, error);
    if (st == FIRN_OK) {
        lws_set_log_level(0, NULL);
        const struct lws_context_creation_info info = {
            .options = LWS_SERVER_OPTION_EXPLICIT_VHOSTS | LWS_SERVER_OPTION_VALIDATE_UTF8,
            .user = s,
            .gid = (gid_t)-1,
            .uid = (uid_t)-1,
        };
        s->context = lws_create_context(&info);
        if (!s->context) st = firn_app_fail(error, FIRN_NO_MEMORY, "the network cannot be used");
    }
    if (st == FIRN_OK) st = listen_somewhere(s, error);
    if (st != FIRN_OK) {
        firn_server_destroy(s);
        return st;
    }
    make_address(s);
    *server = s;
    return FIRN_OK;
}

void firn_server_run(firn_server *s)
{
    lws_sul_schedule(s->context, 0, &s->timer, tick, TICK_MS * LWS_US_PER_MS);
    while (!s->stopping && lws_service(s->context, 0) >= 0) continue;
}

void firn_server_destroy(firn_server *s)
{
    if (!s) return;
    s->stopping = true;
    for (int i = 0; i < SLOTS; i++) {
        if (s->slot[i].session) firn_session_stop(s->slot[i].session);
    }
    for (int i = 0; i < SLOTS; i++) {
        firn_session *session = s->slot[i].session;
        if (!session) continue;
        /* Pages that are still connected part from an empty slot when the context goes. */
        if (s->slot[i].wsi) ((connection *)lws_wsi_user(s->slot[i].wsi))->slot = NULL;
        s->slot[i] = (slot){0};
        firn_session_destroy(session);
    }
    if (s->context) lws_context_destroy(s->context);
    firn_page_free(&s->page);
    free(s);
}

const char *firn_server_address(const firn_server *s) { return s->address; }
bool firn_server_in_use(const firn_server *s) { return s->token.text[0] == 0; }

#else

/* Built without libwebsockets: there is no server. */
firn_status firn_server_create(const firn_server_def *def, firn_server **server, firn_error *error)
{
    (void)def;
    *server = NULL;
    return firn_app_fail(error, FIRN_UNSUPPORTED,
                         "this build cannot serve pages: install libwebsockets-dev "
                         "(tools/deps.sh build), then build again");
}
void firn_server_run(firn_server *server) { (void)server; }
void firn_server_destroy(firn_server *server) { (void)server; }
const char *firn_server_address(const firn_server *server)
{
    (void)server;
    return "";
}
bool firn_server_in_use(const firn_server *server)
{
    (void)server;
    return false;
}

#endif
