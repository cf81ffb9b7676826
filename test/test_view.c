/* firn view and firn run --live: who is let in, that scenes run as they do without a page, and that nothing a
 * client sends or fails to read harms the server. */
#include "websocket.h"

static const char drop[] = FIRN_SCENES "/drop.yaml", figure[] = FIRN_SCENES "/figure.yaml";
static char page[PATH_SIZE]; /* a folder with a page of sorts */

/* A server that a test has started. */
typedef struct served {
    pid_t child;
    int port;
    char token[64], secret[64];
    int session;
} served;

static pid_t running; /* the server that a test has started; 0: it has ended */

/* A test that fails leaves its server behind. */
static int clean_up(void **state)
{
    (void)state;
    if (running > 0) kill(running, SIGKILL);
    if (running > 0) waitpid(running, NULL, 0);
    running = 0;
    return 0;
}

/* Waits for the address, which is printed on the file `where` of the test's folder. */
static served serve(const char *folder, const char *where, const char *const *words)
{
    static char text[TEXT_SIZE];
    char path[PATH_SIZE];
    served s = {.child = start(folder, 0, words)};
    running = s.child;
    in_folder(top, where, path);
    for (int i = 0; i < 2000; i++) {
        read_text(path, text, sizeof text);
        const char *at = strstr(text, "http://127.0.0.1:");
        if (at && sscanf(at, "http://127.0.0.1:%d/#live=%32[0-9a-f]\n", &s.port, s.token) == 2 &&
            strlen(s.token) == 32) {
            return s;
        }
        sleep_ms(10);
    }
    fail_msg("no address in %s", text);
    return s;
}

static served serve_scene(const char *scene, const char *more, const char *value)
{
    return serve(top, "out", WORDS("view", scene, "--page", page, "--threads", "1", more, value));
}

/* Ctrl-C. */
static void end(const served *s)
{
    static outcome o;
    kill(s->child, SIGINT);
    finish(s->child, &o);
    running = 0;
    expect_exit(&o, 0, "a server after Ctrl-C");
}

/* A connection that is let in, past its first event. */
static int enter(served *s)
{
    char path[200];
    int code = 0;
    if (s->secret[0]) {
        snprintf(path, sizeof path, "/live?secret=%s", s->secret);
    } else {
        snprintf(path, sizeof path, "/live?token=%s", s->token);
    }
    const int fd = open_socket(s->port, path, NULL, NULL, &code);
    if (code != 101) fail_msg("code %d", code);
    const message m = hear_event(fd, "session", NULL);
    assert_int_equal(m.op, OP_TEXT);
    text_in(m.data, "secret", s->secret, sizeof s->secret);
    s->session = (int)number_in(m.data, "session", 0);
    assert_int_equal(strlen(s->secret), 32);
    return fd;
}

/* Back to the session. */
static int come_back(const served *s)
{
    char path[200];
    int code = 0;
    snprintf(path, sizeof path, "/live?secret=%s&session=%d", s->secret, s->session);
    const int fd = open_socket(s->port, path, NULL, NULL, &code);
    assert_int_equal(code, 101);
    const message m = hear_event(fd, "session", NULL);
    assert_non_null(strstr(m.data, "\"resumed\":true"));
    return fd;
}

static void open_text(int fd, const char *text)
{
    static char command[2 * TEXT_SIZE];
    size_t n = (size_t)snprintf(command, sizeof command, "{\"do\":\"open\",\"text\":\"");
    for (const char *p = text; *p; p++) {
        if (*p == '\n') {
            command[n++] = '\\';
            command[n++] = 'n';
            continue;
        }
        if (*p == '"' || *p == '\\') command[n++] = '\\';
        command[n++] = *p;
    }
    snprintf(command + n, sizeof command - n, "\"}");
    assert_true(say(fd, command));
    assert_int_equal(hear_event(fd, "scene", NULL).op, OP_TEXT);
}

/* Opens the scene of a file. */
static void open_scene(int fd, const char *path)
{
    static char text[TEXT_SIZE];
    assert_true(read_text(path, text, sizeof text) > 0);
    open_text(fd, text);
}

/* The state's hash at a frame, to which it takes so many steps. */
static void step_and_hash(int fd, int frames, int frame, char hash[64])
{
    for (int i = frames - 1; i >= 0; i--) {
        assert_true(say(fd, "{\"do\":\"step\",\"unit\":\"frame\"}"));
        message m;
        do m = hear_event(fd, "frame", NULL);
        while (m.op && number_in(m.data, "frame", 0) != frame - i);
        assert_int_equal(m.op, OP_TEXT);
    }
    assert_true(say(fd, "{\"do\":\"hash\",\"token\":7}"));
    const message m = hear_event(fd, "hash", NULL);
    hash[0] = 0;
    if (m.op) text_in(m.data, "hash", hash, 64);
}

/* The hash that `firn run --hash` prints of a frame. */
static void hash_of_run(const char *out, int frame, char hash[64])
{
    char begin[32];
    snprintf(begin, sizeof begin, "hash %d ", frame);
    const char *at = strstr(out, begin);
    hash[0] = 0;
    if (at) sscanf(at + strlen(begin), "%63[0-9a-f]", hash);
}

/* ---- who is let in ---- */

static void strangers_are_refused(void **state)
{
    (void)state;
    served s = serve_scene(drop, NULL, NULL);
    char good[100], other_port[64];
    snprintf(good, sizeof good, "/live?token=%s", s.token);
    snprintf(other_port, sizeof other_port, "127.0.0.1:%d", s.port == 9999 ? 9998 : 9999);
    const struct {
        const char *what, *path, *host, *origin;
    } cases[] = {
        {"no token", "/live", NULL, NULL},
        {"empty token", "/live?token=", NULL, NULL},
        {"wrong token", "/live?token=00000000000000000000000000000000", NULL, NULL},
        {"token as secret", "/live?secret=00000000000000000000000000000000", NULL, NULL},
        {"no secret yet", "/live?secret=", NULL, NULL},
        {"other place", "/", NULL, NULL},
        {"other origin", good, NULL, "http://example.com"},
        {"null origin", good, NULL, "null"},
        {"no origin", good, NULL, ""},
        {"secure origin", good, NULL, "https://127.0.0.1"},
        {"other host", good, "example.com", NULL},
        {"other name, right port", good, "example.com:8470", "http://example.com:8470"},
        {"other port", good, other_port, NULL},
        {"host without a port", good, "127.0.0.1", "http://127.0.0.1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int code = 0;
        const int fd = open_socket(s.port, cases[i].path, cases[i].host, cases[i].origin, &code);
        if (code != 403) complain("%s: %d\n", cases[i].what, code);
        if (fd >= 0) close(fd);
    }
    const int fd = enter(&s);
    int code = 0;
    open_socket(s.port, good, NULL, NULL, &code);
    if (code != 403) complain("a token used twice: %d\n", code);
    const int second = enter(&s); /* by the secret */
    if (s.session != 2) complain("session %d\n", s.session);
    close(second);
    close(fd);
    end(&s);
    assert_no_complaints();
}

static void only_the_page_is_served(void **state)
{
    (void)state;
    served s = serve_scene(drop, NULL, NULL);
    char own[64], head[8192];
    snprintf(own, sizeof own, "localhost:%d", s.port);
    const struct {
        const char *method, *path, *host;
        int code;
        const char *says;
    } cases[] = {
        {"GET", "/", own, 200, "<p>page</p>"},
        {"GET", "/index.html", own, 200, "text/html"},
        {"GET", "/sub/a.js", own, 200, "text/javascript"},
        {"GET", "/", own, 200, "content-security-policy: default-src 'self'"},
        {"GET", "/", own, 200, "cross-origin-opener-policy: same-origin"},
        {"GET", "/", own, 200, "cross-origin-embedder-policy: require-corp"},
        {"HEAD", "/index.html", own, 200, "content-length: 12"},
        {"GET", "/../out", own, 404, ""},
        {"GET", "/%2e%2e/out", own, 404, ""},
        {"GET", "/sub/../../out", own, 404, ""},
        {"GET", "//etc/passwd", own, 404, ""},
        {"GET", "/.hidden", own, 404, ""},
        {"GET", "/sub", own, 404, ""},
        {"GET", "/live", own, 404, ""},
        {"POST", "/", own, 405, "GET, HEAD"},
        {"PUT", "/index.html", own, 405, ""},
        {"DELETE", "/index.html", own, 405, ""},
        {"GET", "/", "example.com", 403, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int code =
            fetch(s.port, cases[i].method, cases[i].path, cases[i].host, head, sizeof head);
        if (code != cases[i].code || !strstr(head, cases[i].says)) {
            complain("%s %s: %d\n%s\n", cases[i].method, cases[i].path, code, head);
        }
    }
    fetch(s.port, "HEAD", "/", own, head, sizeof head);
    if (strstr(head, "<p>")) complain("HEAD has a body: %s\n", head);
    end(&s);
    assert_no_complaints();
}

/* Waits for a text in a file; whether it came. */
static bool appears(const char *path, const char *text)
{
    static char all[TEXT_SIZE];
    for (int i = 0; i < 1000; i++) {
        read_text(path, all, sizeof all);
        if (strstr(all, text)) return true;
        sleep_ms(10);
    }
    return false;
}

/* Another address of this machine than the usual one. */
static void it_listens_where_it_is_told_to(void **state)
{
    (void)state;
    char out[PATH_SIZE], err[PATH_SIZE], text[4096], own[64], origin[80], path[200], head[4096];
    pid_t child = running =
        start(top, 0, WORDS("view", drop, "--page", page, "--listen", "127.0.0.2"));
    assert_true(appears(in_folder(top, "out", out), "#live="));
    assert_true(appears(in_folder(top, "err", err), "Nothing is encrypted"));
    read_text(out, text, sizeof text);
    int port = 0, code = 0;
    char token[64];
    assert_int_equal(sscanf(text, "http://127.0.0.2:%d/#live=%32[0-9a-f]", &port, token), 2);
    snprintf(own, sizeof own, "127.0.0.2:%d", port);
    snprintf(origin, sizeof origin, "http://%s", own);
    snprintf(path, sizeof path, "/live?token=%s", token);
    server_address = INADDR_LOOPBACK + 1;
    code = fetch(port, "GET", "/", own, head, sizeof head);
    if (code != 200) complain("the page: %d\n", code);
    const int fd = open_socket(port, path, own, origin, &code);
    if (code != 101) complain("its socket: %d\n", code);
    if (fd >= 0 && !hear_event(fd, "hello", NULL).op) complain("no hello\n");
    if (fd >= 0) close(fd);
    server_address = INADDR_LOOPBACK;
    const served s = {.child = child};
    end(&s);
    assert_no_complaints();
}

/* The browser gets a file, which leads to the address and is gone when the address has been used. */
static void a_browser_is_opened(void **state)
{
    (void)state;
    char folder[PATH_SIZE], stub[PATH_SIZE], seen[PATH_SIZE], search[2 * PATH_SIZE];
    const char *const before = getenv("PATH");
    char *path = strdup(before ? before : "");
    fresh_folder("bin", folder);
    in_folder(folder, "xdg-open", stub);
    in_folder(folder, "seen", seen);
    snprintf(search, sizeof search, "%s:%s", folder, path);
    setenv("PATH", search, 1);
    setenv("XDG_RUNTIME_DIR", folder, 1);
    for (int fails = 0; fails < 2; fails++) {
        FILE *file = fopen(stub, "w");
        assert_non_null(file);
        fprintf(file,
                "#!/bin/sh\nstat -c %%a \"${1%%/*}\" >'%s'\ncat \"$1\" >>'%s'\necho \"$1\" >>'%s'\n"
                "exit %d\n",
                seen, seen, seen, 3 * fails);
        fclose(file);
        chmod(stub, 0755);
        served s = serve_scene(drop, "--open", NULL);
        char text[4096], address[160], err[PATH_SIZE];
        if (!appears(seen, "studio.html\n")) complain("nothing was opened\n");
        read_text(seen, text, sizeof text);
        snprintf(address, sizeof address, "url=http://127.0.0.1:%d/#live=%s\"", s.port, s.token);
        if (strncmp(text, "700\n", 4) != 0 || !strstr(text, address)) complain("%s\n", text);
        if (fails && !appears(in_folder(top, "err", err), "open the address yourself")) {
            complain("nobody says that it failed\n");
        }
        char *name = strrchr(text, '>') + 2;
        name[strcspn(name, "\n")] = 0;
        if (access(name, R_OK) != 0) complain("%s is gone before its time\n", name);
        const int fd = enter(&s);
        for (int i = 0; i < 1000 && access(name, R_OK) == 0; i++) sleep_ms(10);
        if (access(name, R_OK) == 0) complain("%s is still there\n", name);
        close(fd);
        end(&s);
        unlink(seen);
    }
    setenv("PATH", path, 1);
    unsetenv("XDG_RUNTIME_DIR");
    free(path);
    assert_no_complaints();
}

/* ---- scenes ---- */

static void a_scene_runs_as_without_a_page(void **state)
{
    (void)state;
    char folder[PATH_SIZE], want[64], got[64];
    fresh_folder("run", folder);
    const outcome *o = run(folder, WORDS("run", drop, "--hash", "--quiet"));
    hash_of_run(o->out, 4, want);
    served s = serve_scene(drop, NULL, NULL);
    const int fd = enter(&s);
    const message hello = hear_event(fd, "hello", NULL);
    assert_non_null(strstr(hello.data, "\"mode\":\"scene\""));
    assert_non_null(strstr(hello.data, "A ball falls on the ground")); /* its text */
    open_scene(fd, drop);
    step_and_hash(fd, 3, 4, got);
    assert_string_equal(got, want);
    close(fd);
    end(&s);
}

static void settings_are_part_of_the_text(void **state)
{
    (void)state;
    served s = serve_scene(drop, "--set", "frames.end=33");
    const int fd = enter(&s);
    const message hello = hear_event(fd, "hello", NULL);
    if (!strstr(hello.data, "end: 33")) complain("%.400s\n", strstr(hello.data, "\"text\""));
    close(fd);
    end(&s);
    assert_no_complaints();
}

static void play_sends_pictures(void **state)
{
    (void)state;
    served s = serve_scene(drop, NULL, NULL);
    const int fd = enter(&s);
    open_scene(fd, drop);
    assert_true(say(fd, "{\"do\":\"play\",\"speed\":0}"));
    int pictures = 0;
    for (message m; (m = hear_event(fd, "state", &pictures)).op;) {
        if (strstr(m.data, "\"done\":true")) break;
    }
    if (pictures < 2) complain("%d pictures\n", pictures);
    close(fd);
    end(&s);
    assert_no_complaints();
}

static void a_page_comes_back_to_its_session(void **state)
{
    (void)state;
    char before[64], after[64];
    served s = serve_scene(drop, NULL, NULL);
    int fd = enter(&s);
    open_scene(fd, drop);
    step_and_hash(fd, 2, 3, before);
    for (int clean = 0; clean < 2; clean++) { /* the connection drops, or is still there */
        const int old = fd;
        if (!clean) close(old);
        fd = come_back(&s);
        const message scene = hear_event(fd, "scene", NULL);
        assert_non_null(strstr(scene.data, "\"drop\""));
        step_and_hash(fd, 0, 3, after);
        assert_string_equal(after, before);
        if (clean) close(old);
    }
    close(fd);
    end(&s);
}

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A frame of material so stiff takes minutes; who comes back does not wait for it, and nor does Ctrl-C. */
static void nobody_waits_for_a_long_frame(void **state)
{
    (void)state;
    served s = serve_scene(drop, NULL, NULL);
    int fd = enter(&s);
    open_text(fd, "firn: 1\nresolution: 0.03\nmaterials: {m: {preset: jelly, young: 1e13}}\n"
                  "objects: [{shape: {sphere: {radius: 0.5}}}]\n");
    assert_true(say(fd, "{\"do\":\"play\",\"speed\":0}"));
    message m;
    do m = hear_event(fd, "state", NULL);
    while (m.op && !strstr(m.data, "\"playing\":true"));
    sleep_ms(100); /* it is in the frame */
    close(fd);
    fd = come_back(&s);
    m = hear_event(fd, "hello", NULL);
    assert_int_equal(m.op, OP_TEXT);
    m = hear_event(fd, "state", NULL);
    assert_non_null(strstr(m.data, "\"playing\":true"));
    assert_non_null(strstr(m.data, "\"frame\":1,"));
    close(fd);
    const double begin = seconds_now();
    end(&s);
    if (seconds_now() - begin > 10) complain("%g s to end\n", seconds_now() - begin);
    assert_no_complaints();
}

/* ---- bad clients ---- */

/* Until the server closes; returns the status it gives, 0 for none. */
static int hear_close(int fd)
{
    for (;;) {
        const message m = hear(fd);
        if (m.op == 0) return 0;
        if (m.op != OP_CLOSE) continue;
        return m.size >= 2 ? (unsigned char)m.data[0] << 8 | (unsigned char)m.data[1] : 0;
    }
}

static void bad_messages_end_a_connection_at_most(void **state)
{
    (void)state;
    served s = serve_scene(drop, NULL, NULL);
    int fd = enter(&s);
    for (const char *const *text = WORDS("", "{", "null", "[1,2]", "{\"do\":\"fly\"}", "{\"do\":7}",
                                         "{\"do\":\"open\"}", "{\"do\":\"seek\",\"frame\":1e99}");
         *text; text++) {
        assert_true(say(fd, *text));
        const message m = hear_event(fd, "error", NULL);
        if (!m.op) complain("%s: no answer\n", *text);
    }
    close(fd);

    fd = enter(&s);
    send_frame(fd, true, OP_BINARY, "abc", 3);
    int code = hear_close(fd);
    if (code != 1003) complain("binary: %d\n", code);
    close(fd);

    fd = enter(&s);
    send_frame(fd, true, OP_TEXT, "\xff\xfe", 2);
    code = hear_close(fd);
    if (code != 1007) complain("not UTF-8: %d\n", code);
    close(fd);

    const size_t large = 5 << 20;
    char *data = malloc(large);
    assert_non_null(data);
    memset(data, ' ', large);
    fd = enter(&s);
    send_frame(fd, true, OP_TEXT, data, large);
    code = hear_close(fd);
    if (code != 1009 && code != 0) complain("large: %d\n", code);
    close(fd);

    fd = enter(&s); /* the same in pieces, each of a fair size */
    bool sent = send_frame(fd, false, OP_TEXT, data, 1 << 20);
    for (int i = 0; i < 8 && sent; i++) sent = send_frame(fd, false, 0, data, 1 << 20);
    code = hear_close(fd);
    if (code != 1009 && code != 0) complain("large, in pieces: %d\n", code);
    close(fd);
    free(data);

    fd = enter(&s);
    put_all(fd,
            "\x81\x03"
            "abc",
            5); /* not masked: the library takes it */
    close(fd);

    fd = enter(&s); /* announces more than there is memory */
    put_all(fd,
            "\x81\xff\x7f\xff\xff\xff\xff\xff\xff\xff"
            "abcdefgh",
            18);
    close(fd);

    fd = enter(&s); /* and still there */
    assert_int_equal(hear_event(fd, "hello", NULL).op, OP_TEXT);
    close(fd);
    end(&s);
    assert_no_complaints();
}

static long memory_of(pid_t child)
{
    char path[64], text[4096];
    snprintf(path, sizeof path, "/proc/%d/status", (int)child);
    read_text(path, text, sizeof text);
    const char *at = strstr(text, "VmRSS:");
    return at ? strtol(at + 6, NULL, 10) : 0; /* KB */
}

/* It never reads, and asks for all particles again and again: 30 MB if everything were kept. */
static void a_page_that_does_not_read_costs_nothing(void **state)
{
    (void)state;
    served s = serve_scene(drop, NULL, NULL);
    const int fd = enter(&s);
    open_scene(fd, drop);
    assert_true(say(fd, "{\"do\":\"play\",\"speed\":0}"));
    const struct timeval short_patience = {1, 0};
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &short_patience, sizeof short_patience);
    const long before = memory_of(s.child);
    int asked = 0;
    while (asked < 20000 && say(fd, "{\"do\":\"points\",\"token\":1}")) asked++;
    const long grown = memory_of(s.child) - before;
    if (grown > 64 << 10) complain("%ld KB after %d requests\n", grown, asked);
    const int other = enter(&s); /* nobody else has to wait */
    assert_int_equal(hear_event(other, "hello", NULL).op, OP_TEXT);
    close(other);
    close(fd);
    end(&s);
    assert_no_complaints();
}

/* ---- caches ---- */

static void caches_play(void **state)
{
    (void)state;
    char folder[PATH_SIZE];
    fresh_folder("caches", folder);
    expect_exit(run(folder, WORDS("run", figure, "--quiet")), 0, "a run");
    served s = serve(folder, "out", WORDS("view", "figure.$F4.prt", "--page", page));
    const int fd = enter(&s);
    const message hello = hear_event(fd, "hello", NULL);
    assert_non_null(strstr(hello.data, "\"mode\":\"cache\""));
    const message scene = hear_event(fd, "scene", NULL);
    assert_int_equal(number_in(scene.data, "dimension", 0), 2);
    assert_int_equal(number_in(scene.data, "last", 0), 8);
    assert_true(fabs(number_in(scene.data, "resolution", 0) - 0.04) < 1e-3);
    assert_true(say(fd, "{\"do\":\"want\",\"color\":\"speed\",\"velocity\":true}"));
    assert_true(say(fd, "{\"do\":\"seek\",\"frame\":5}"));
    message m;
    do m = hear_event(fd, "frame", NULL);
    while (m.op && number_in(m.data, "frame", 0) != 5);
    const double particles = number_in(m.data, "particles", 0);
    m = hear_bytes(fd, 1);
    assert_int_equal(word_at(&m, 12), particles);
    assert_int_equal(word_at(&m, 44), 3); /* with colour and velocity */
    char shown[80];
    snprintf(shown, sizeof shown, "{\"do\":\"shown\",\"picture\":%u}", word_at(&m, 8));
    say(fd, shown);
    assert_true(say(fd, "{\"do\":\"points\",\"token\":3}"));
    m = hear_bytes(fd, 4);
    assert_int_equal(word_at(&m, 8), 3);
    assert_true(say(fd, "{\"do\":\"probe\",\"id\":3}"));
    m = hear_event(fd, "frame", NULL);
    assert_non_null(strstr(m.data, "\"probe\":{"));
    assert_true(say(fd, "{\"do\":\"tool\",\"tool\":\"cut\",\"at\":[0,0,0],\"radius\":1}"));
    m = hear_event(fd, "error", NULL);
    assert_non_null(strstr(m.data, "finished run"));
    assert_true(say(fd, "{\"do\":\"play\",\"speed\":0}"));
    int pictures = 0;
    while ((m = hear_event(fd, "state", &pictures)).op && !strstr(m.data, "\"done\":true"))
        continue;
    assert_true(pictures >= 1);

    /* A frame that is cut off or gone is said, and the others play. */
    char path[PATH_SIZE];
    FILE *file = fopen(in_folder(folder, "figure.0003.prt", path), "wb");
    assert_non_null(file);
    fputs("nothing", file);
    fclose(file);
    unlink(in_folder(folder, "figure.0004.prt", path));
    for (int frame = 3; frame <= 4; frame++) {
        char seek[80];
        snprintf(seek, sizeof seek, "{\"do\":\"seek\",\"frame\":%d}", frame);
        say(fd, seek);
        m = hear_event(fd, "error", NULL);
        char name[40];
        snprintf(name, sizeof name, "figure.%04d.prt", frame);
        if (!m.op || !strstr(m.data, name)) complain("%d: %s\n", frame, m.op ? m.data : "");
    }
    say(fd, "{\"do\":\"seek\",\"frame\":2}");
    do m = hear_event(fd, "frame", NULL);
    while (m.op && number_in(m.data, "frame", 0) != 2);
    assert_int_equal(m.op, OP_TEXT);
    close(fd);
    end(&s);
    assert_no_complaints();
}

static void caches_look_as_their_scene_says(void **state)
{
    (void)state;
    char folder[PATH_SIZE];
    fresh_folder("looks", folder);
    const char *const look = "materials.soft.look={name: rubber, color: [0.25, 0.5, 0.125]}";
    expect_exit(run(folder, WORDS("run", figure, "--quiet", "--set", "frames.fps=30")), 0, "a run");
    served s = serve(folder, "out",
                     WORDS("view", "figure.$F4.prt", "--page", page, "--scene", figure, "--set",
                           look, "--set", "frames.fps=30"));
    const int fd = enter(&s);
    const message m = hear_event(fd, "scene", NULL);
    assert_non_null(strstr(m.data, "\"name\":\"soft\""));
    assert_non_null(strstr(m.data, "\"color\":[0.25,0.5,0.125]"));
    assert_non_null(strstr(m.data, "\"gloss\":0.5,\"roughness\":0.45")); /* rubber's */
    assert_int_equal(number_in(m.data, "fps", 0), 30);
    assert_non_null(strstr(m.data, "\"speed\"")); /* of the colors */
    close(fd);
    end(&s);
}

static void an_alembic_file_plays(void **state)
{
    (void)state;
    char folder[PATH_SIZE];
    fresh_folder("alembic", folder);
    expect_exit(run(folder, WORDS("run", drop, "--quiet", "--set", "output=[{file: drop.abc}]")), 0,
                "a run");
    served s = serve(folder, "out", WORDS("view", "drop.abc", "--page", page));
    const int fd = enter(&s);
    const message scene = hear_event(fd, "scene", NULL);
    assert_int_equal(number_in(scene.data, "dimension", 0), 3);
    assert_int_equal(number_in(scene.data, "first", 0), 1);
    assert_int_equal(number_in(scene.data, "last", 0), 8);
    say(fd, "{\"do\":\"seek\",\"frame\":6}");
    message m;
    do m = hear_event(fd, "frame", NULL);
    while (m.op && number_in(m.data, "frame", 0) != 6);
    assert_int_equal(m.op, OP_TEXT);
    assert_true(number_in(m.data, "particles", 0) > 100);
    close(fd);
    end(&s);
}

/* ---- runs ---- */

static void a_watched_run_stops_and_resumes(void **state)
{
    (void)state;
    char folder[PATH_SIZE], whole[PATH_SIZE], want[64], got[64];
    const char *longer = "frames.end=40";
    fresh_folder("whole", whole);
    const outcome *o = run(whole, WORDS("run", drop, "--hash", "--quiet", "--set", longer));
    hash_of_run(o->out, 40, want);
    fresh_folder("watched", folder);
    /* Slow enough to be met on the way. */
    served s = serve(folder, "err",
                     WORDS("run", drop, "--live", "--page", page, "--hash", "--set", longer,
                           "--threads", "1", "--set", "resolution=0.02"));
    int fd = enter(&s);
    const message hello = hear_event(fd, "hello", NULL);
    assert_non_null(strstr(hello.data, "\"mode\":\"run\""));
    message m = hear_event(fd, "frame", NULL);
    assert_int_equal(m.op, OP_TEXT);
    assert_true(say(fd, "{\"do\":\"play\",\"speed\":1}"));
    assert_int_equal(hear_event(fd, "error", NULL).op, OP_TEXT);
    assert_true(say(fd, "{\"do\":\"stop\"}"));
    static outcome stopped;
    finish(s.child, &stopped);
    running = 0;
    close(fd);
    expect_exit(&stopped, 130, "a run that its page has stopped");
    if (!strstr(stopped.err, "--resume")) complain("%s\n", stopped.err);

    /* Watched to the end it has the same hashes. */
    fresh_folder("watched", folder);
    s = serve(folder, "err",
              WORDS("run", drop, "--live", "--page", page, "--hash", "--quiet", "--set", longer));
    int code = 0;
    char path[200];
    snprintf(path, sizeof path, "/live?token=%s", s.token);
    fd = open_socket(s.port, path, NULL, NULL, &code); /* unless the run is over already */
    while (fd >= 0 && hear_event(fd, "state", NULL).op) continue;
    finish(s.child, &stopped);
    running = 0;
    if (fd >= 0) close(fd);
    expect_exit(&stopped, 0, "a watched run");
    hash_of_run(stopped.out, 40, got);
    assert_string_equal(got, want);
    assert_no_complaints();
}

/* A page sees meshes, totals and the grid of a run, and the run has the hashes that it has alone. */
static void a_watched_run_shows_all_of_it(void **state)
{
    (void)state;
    char folder[PATH_SIZE], want[64], got[64];
    const char *scene = FIRN_EXAMPLES "/trampoline.yaml", *none = "output=[]",
               *end = "frames.end=6";
    fresh_folder("alone", folder);
    hash_of_run(
        run(folder, WORDS("run", scene, "--hash", "--quiet", "--set", none, "--set", end))->out, 6,
        want);
    fresh_folder("shown", folder);
    served s = serve(folder, "err",
                     WORDS("run", scene, "--hash", "--quiet", "--set", none, "--set", end, "--live",
                           "--page", page, "--threads", "1"));
    const int fd = enter(&s);
    assert_true(say(fd, "{\"do\":\"want\",\"totals\":true,\"grid\":true}"));
    int meshes[3] = {0}, grids = 0, totals = 0;
    uint32_t picture = 0;
    for (message m; (m = hear(fd)).op && m.op != OP_CLOSE;) {
        const uint32_t kind = kind_of(&m), number = word_at(&m, 8);
        if (kind == 5 && number < 3) meshes[number]++;
        if (kind == 0 && strncmp(m.data, "{\"event\":\"frame\"", 16) == 0) {
            picture = (uint32_t)number_in(m.data, "picture", 0);
            totals += number_in(m.data, "kinetic", 0) > 0;
        }
        if (kind == 3) {
            grids++;
            if (number != picture || word_at(&m, 12) == 0) complain("grid %u\n", number);
        }
        char shown[80];
        snprintf(shown, sizeof shown, "{\"do\":\"shown\",\"picture\":%u}", number);
        if (kind == 1) say(fd, shown);
    }
    close(fd);
    static outcome o;
    finish(s.child, &o);
    running = 0;
    expect_exit(&o, 0, "a watched run");
    hash_of_run(o.out, 6, got);
    assert_string_equal(got, want);
    /* The ground has none; those of the rim and the hoop move. */
    if (meshes[0] || meshes[1] < 1 || meshes[2] < 1 || !grids || !totals) {
        complain("meshes %d %d %d, grids %d, totals %d\n", meshes[0], meshes[1], meshes[2], grids,
                 totals);
    }
    assert_no_complaints();
}

/* ---- messages ---- */

static void wrong_words_are_explained(void **state)
{
    (void)state;
    char empty[PATH_SIZE], taken[16];
    fresh_folder("empty", empty);
    served s = serve_scene(drop, NULL, NULL);
    snprintf(taken, sizeof taken, "%d", s.port);
    const struct {
        int code;
        const char *says;
        const char *const *words;
    } cases[] = {
        {2, "cannot listen", WORDS("view", drop, "--page", page, "--port", taken)},
        {2, "address of this machine",
         WORDS("view", drop, "--page", page, "--listen", "192.0.2.1")},
        {2, "need --live", WORDS("run", drop, "--port", "9000")},
        {2, "--set changes a scene", WORDS("view", "x.prt", "--set", "a=1")},
        {2, "give one scene", WORDS("view", "a.yaml", "b.yaml")},
        {3, "particles, not volumes", WORDS("view", "smoke.$F4.vdb")},
        {2, "give one scene", WORDS("view", "a.yaml", "--scene", "b.yaml")},
        {3, "nothing.yaml", WORDS("view", "x.prt", "--scene", "nothing.yaml")},
        {3, "index.html", WORDS("view", drop, "--page", empty)},
        {3, "no particle files", WORDS("view", empty)},
        {3, "nothing.yaml", WORDS("view", "nothing.yaml")},
        {3, "nothing.prt", WORDS("view", "nothing.prt", "--page", page)},
        {3, "nothing.abc", WORDS("view", "nothing.abc", "--page", page)},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        /* Not `run`, whose files are the server's. */
        char path[PATH_SIZE], own[PATH_SIZE];
        snprintf(own, sizeof own, "%s", top);
        fresh_folder("words", path);
        snprintf(top, sizeof top, "%s", path);
        const outcome *o = run(top, cases[i].words);
        expect_exit(o, cases[i].code, cases[i].says);
        if (!strstr(o->err, cases[i].says)) complain("%s: %s\n", cases[i].says, o->err);
        snprintf(top, sizeof top, "%s", own);
    }
    end(&s);
    assert_no_complaints();
}

static void write_text(const char *name, const char *text)
{
    char path[PATH_SIZE];
    FILE *file = fopen(in_folder(page, name, path), "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

int main(void)
{
    if (!make_top("view")) return 1;
    fresh_folder("page", page);
    char sub[PATH_SIZE];
    mkdir(in_folder(page, "sub", sub), 0777);
    write_text("index.html", "<p>page</p>\n");
    write_text("sub/a.js", "0;\n");
    write_text(".hidden", "no\n");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(strangers_are_refused, clean_up),
        cmocka_unit_test_teardown(only_the_page_is_served, clean_up),
        cmocka_unit_test_teardown(it_listens_where_it_is_told_to, clean_up),
        cmocka_unit_test_teardown(a_browser_is_opened, clean_up),
        cmocka_unit_test_teardown(a_scene_runs_as_without_a_page, clean_up),
        cmocka_unit_test_teardown(settings_are_part_of_the_text, clean_up),
        cmocka_unit_test_teardown(play_sends_pictures, clean_up),
        cmocka_unit_test_teardown(a_page_comes_back_to_its_session, clean_up),
        cmocka_unit_test_teardown(nobody_waits_for_a_long_frame, clean_up),
        cmocka_unit_test_teardown(bad_messages_end_a_connection_at_most, clean_up),
        cmocka_unit_test_teardown(a_page_that_does_not_read_costs_nothing, clean_up),
        cmocka_unit_test_teardown(caches_play, clean_up),
        cmocka_unit_test_teardown(caches_look_as_their_scene_says, clean_up),
        cmocka_unit_test_teardown(an_alembic_file_plays, clean_up),
        cmocka_unit_test_teardown(a_watched_run_stops_and_resumes, clean_up),
        cmocka_unit_test_teardown(a_watched_run_shows_all_of_it, clean_up),
        cmocka_unit_test_teardown(wrong_words_are_explained, clean_up),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    remove_all(top);
    return failed;
}
