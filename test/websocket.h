/* A small client of HTTP and WebSockets for tests: it says what it is told to, right or wrong.
 *
 * Reads give up after some seconds; what then fails is the test. */
#ifndef FIRN_TEST_WEBSOCKET_H
#define FIRN_TEST_WEBSOCKET_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "program.h"

enum { PATIENCE_S = 20, OP_TEXT = 1, OP_BINARY = 2, OP_CLOSE = 8, OP_PING = 9 };

typedef struct message {
    int op; /* 0: the connection has ended */
    size_t size;
    const char *data; /* with a zero behind it, never NULL; valid until the next message */
} message;

static uint32_t server_address = INADDR_LOOPBACK;

static inline int connect_to(int port)
{
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    const struct sockaddr_in to = {.sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)port),
                                   .sin_addr.s_addr = htonl(server_address)};
    const struct timeval patience = {PATIENCE_S, 0};
    assert_true(fd >= 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    assert_int_equal(connect(fd, (const struct sockaddr *)&to, sizeof to), 0);
    return fd;
}

/* Whether all of it went out. */
static inline bool put_all(int fd, const void *data, size_t size)
{
    for (size_t done = 0; done < size;) {
        const ssize_t n = send(fd, (const char *)data + done, size - done, MSG_NOSIGNAL);
        if (n <= 0) return false;
        done += (size_t)n;
    }
    return true;
}

static inline bool get_all(int fd, void *data, size_t size)
{
    for (size_t done = 0; done < size;) {
        const ssize_t n = recv(fd, (char *)data + done, size - done, 0);
        if (n <= 0) return false;
        done += (size_t)n;
    }
    return true;
}

/* Sends a request, which `text` is all of but the empty line, and returns the answer's code; 0: none. Its
 * headers are kept in `head`. */
static inline int ask(int fd, const char *text, char *head, size_t size)
{
    size_t n = 0;
    head[0] = 0;
    if (!put_all(fd, text, strlen(text)) || !put_all(fd, "\r\n", 2)) return 0;
    while (n + 1 < size && !strstr(head, "\r\n\r\n")) {
        if (recv(fd, head + n, 1, 0) <= 0) break;
        head[++n] = 0;
    }
    int code = 0;
    return sscanf(head, "HTTP/1.%*d %d", &code) == 1 ? code : 0;
}

/* The code that a request for a page's file gets. */
static inline int fetch(int port, const char *method, const char *path, const char *host,
                        char *head, size_t size)
{
    char text[600];
    snprintf(text, sizeof text, "%s %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n%s", method,
             path, host, *method == 'P' ? "Content-Length: 0\r\n" : "");
    const int fd = connect_to(port);
    const int code = ask(fd, text, head, size);
    const size_t n = strlen(head);
    if (n + 1 < size) {
        const ssize_t more = recv(fd, head + n, size - n - 1, MSG_WAITALL);
        head[n + (size_t)(more > 0 ? more : 0)] = 0;
    }
    close(fd);
    return code;
}

/* A WebSocket; *code receives the answer's. The descriptor is -1 unless it is 101. NULL as Host or Origin: the
 * right one. "": none. */
static inline int open_socket(int port, const char *path, const char *host, const char *origin,
                              int *code)
{
    char text[800], own[64], ours[80], head[4096];
    snprintf(own, sizeof own, "127.0.0.1:%d", port);
    snprintf(ours, sizeof ours, "http://%s", own);
    if (!origin) origin = ours;
    snprintf(text, sizeof text,
             "GET %s HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
             "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n%s%s%s",
             path, host ? host : own, *origin ? "Origin: " : "", origin, *origin ? "\r\n" : "");
    const int fd = connect_to(port);
    *code = ask(fd, text, head, sizeof head);
    if (*code == 101) return fd;
    close(fd);
    return -1;
}

/* Sends a frame, masked as clients must. */
static inline bool send_frame(int fd, bool last, int op, const void *data, size_t size)
{
    static const unsigned char mask[4] = {0x12, 0x9a, 0x5c, 0xe7};
    unsigned char head[14] = {(unsigned char)((last ? 0x80 : 0) | op)};
    size_t n = 2;
    if (size < 126) {
        head[1] = (unsigned char)(0x80 | size);
    } else {
        const int bytes = size < 65536 ? 2 : 8;
        head[1] = 0x80 | (bytes == 2 ? 126 : 127);
        for (int i = bytes - 1; i >= 0; i--) head[n++] = (unsigned char)((uint64_t)size >> (8 * i));
    }
    memcpy(head + n, mask, sizeof mask);
    unsigned char *masked = malloc(size + 1);
    assert_non_null(masked);
    for (size_t i = 0; i < size; i++) masked[i] = ((const unsigned char *)data)[i] ^ mask[i % 4];
    const bool fine = put_all(fd, head, n + 4) && put_all(fd, masked, size);
    free(masked);
    return fine;
}

static inline bool say(int fd, const char *text)
{
    return send_frame(fd, true, OP_TEXT, text, strlen(text));
}

/* The next message, put together; pings are passed over. */
static inline message hear(int fd)
{
    static char *buffer;
    static size_t room;
    message m = {0};
    for (;;) {
        unsigned char head[2], extra[8];
        if (!get_all(fd, head, 2)) return (message){.data = ""};
        uint64_t size = head[1] & 127;
        const int bytes = size == 126 ? 2 : size == 127 ? 8 : 0;
        if (bytes && !get_all(fd, extra, (size_t)bytes)) return (message){.data = ""};
        if (bytes) size = 0;
        for (int i = 0; i < bytes; i++) size = size << 8 | extra[i];
        const int op = head[0] & 15;
        if (!buffer || m.size + size + 1 > room) {
            room = 2 * (m.size + size + 1);
            char *grown = realloc(buffer, room);
            assert_non_null(grown);
            if (!grown) return (message){.data = ""};
            buffer = grown;
        }
        if (!get_all(fd, buffer + m.size, size)) return (message){.data = ""};
        if (op == OP_PING) continue;
        if (op) m.op = op;
        m.size += size;
        buffer[m.size] = 0;
        m.data = buffer;
        if (head[0] & 0x80) return m;
    }
}

/* The kind of a binary message, as protocol.ts numbers them; 0: it is none. */
static inline uint32_t kind_of(const message *m)
{
    uint32_t word[2];
    if (m->op != OP_BINARY || m->size < 64) return 0;
    memcpy(word, m->data, sizeof word);
    return word[0] == 0x4e524946 ? word[1] : 0;
}

static inline uint32_t word_at(const message *m, size_t offset)
{
    uint32_t word = 0;
    if (m->size >= offset + sizeof word) memcpy(&word, m->data + offset, sizeof word);
    return word;
}

/* The number behind "name": in an event; `fallback`: there is none. */
static inline double number_in(const char *text, const char *name, double fallback)
{
    char key[80];
    snprintf(key, sizeof key, "\"%s\":", name);
    const char *at = strstr(text, key);
    return at ? strtod(at + strlen(key), NULL) : fallback;
}

/* The string behind "name":, or "". */
static inline const char *text_in(const char *text, const char *name, char *out, size_t size)
{
    char key[80];
    snprintf(key, sizeof key, "\"%s\":\"", name);
    const char *at = strstr(text, key);
    out[0] = 0;
    if (at) snprintf(out, size, "%.*s", (int)strcspn(at + strlen(key), "\""), at + strlen(key));
    return out;
}

/* Hears until an event of that name, says of every picture that it was shown, and returns the event; its op
 * is 0 when the connection ends before. `pictures`, unless NULL, counts them. */
static inline message hear_event(int fd, const char *name, int *pictures)
{
    char begin[80];
    snprintf(begin, sizeof begin, "{\"event\":\"%s\"", name);
    for (;;) {
        const message m = hear(fd);
        if (m.op == 0 || m.op == OP_CLOSE) return (message){.data = ""};
        if (m.op == OP_TEXT && strncmp(m.data, begin, strlen(begin)) == 0) return m;
        if (kind_of(&m) != 1) continue;
        char shown[80];
        snprintf(shown, sizeof shown, "{\"do\":\"shown\",\"picture\":%u}", word_at(&m, 8));
        say(fd, shown);
        if (pictures) ++*pictures;
    }
}

/* Hears until a binary message of that kind. */
static inline message hear_bytes(int fd, uint32_t kind)
{
    for (;;) {
        const message m = hear(fd);
        if (m.op == 0 || m.op == OP_CLOSE) return (message){.data = ""};
        if (kind_of(&m) == kind) return m;
    }
}

#endif
