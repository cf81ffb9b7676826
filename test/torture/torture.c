/* torture: thousands of random scenes, each run and checked in a process of its own.
 *
 *   torture [--seed S] [--from N] [--count K] [--jobs J] [--out FOLDER] [--scene FILE]...
 *   torture --print N [--seed S]     the scene of a number
 *   torture --self-test              breaks a scene in every way that is checked; all must be seen
 *
 * A scene that fails is written to FOLDER, then cut down as long as the same check fails:
 * entries and keys are removed, which leaves defaults, frames and particles made fewer, numbers
 * rounded. Scenes that the library refuses with an error before the first step are counted
 * apart. */
#include "torture.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    MAX_JOBS = 64,
    MAX_SCENES = 256,
    CPU_SECONDS = 60,    /* of a scene that should take less than one */
    SLOW_SECONDS = 5,    /* from here on it is named */
    MEMORY_MB = 4096,    /* of address space; a scene needs some 50 */
    SHRINK_SECONDS = 60, /* of wall clock, for a scene */
    TWICE_EVERY = 10,    /* scenes that are also run with two threads and from a checkpoint */
};

typedef struct options {
    uint64_t seed, from, count;
    int jobs;
    const char *out;
    const char *scene[MAX_SCENES];
    int scene_count;
} options;

/* The largest of a number, and the scene that had it. */
typedef struct record {
    double value;
    char name[80];
} record;

typedef struct totals {
    int64_t passed, failed, refused, closed, particles, steps;
    record longest, gain, depth; /* the last two of scenes that passed */
} totals;

/* ---- one scene, in a child ---- */

typedef struct child {
    pid_t pid;
    int pipe;
    char name[80];
    node *scene;
    bool twice;
} child;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* s, of all children that have ended. */
static double processor_time(void)
{
    struct rusage u;
    getrusage(RUSAGE_CHILDREN, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* A sanitizer reserves more address space than any limit allows. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

static void limit(int cpu_seconds)
{
    const struct rlimit cpu = {(rlim_t)cpu_seconds, (rlim_t)cpu_seconds + 5};
    const struct rlimit core = {0, 0};
    setrlimit(RLIMIT_CPU, &cpu);
    setrlimit(RLIMIT_CORE, &core);
#ifndef SANITIZED
    const struct rlimit memory = {(rlim_t)MEMORY_MB << 20, (rlim_t)MEMORY_MB << 20};
    setrlimit(RLIMIT_AS, &memory);
#endif
    alarm(10 * (unsigned)cpu_seconds); /* one that waits takes no time of the processor */
}

static void start(child *c, torture_check sabotage, int cpu_seconds)
{
    int ends[2];
    fflush(NULL);
    if (pipe(ends) != 0) exit(2);
    c->pid = fork();
    if (c->pid < 0) exit(2);
    if (c->pid == 0) {
        close(ends[0]);
        limit(cpu_seconds);
        const torture_result result = torture_run(c->scene, c->twice, sabotage);
        const bool told = write(ends[1], &result, sizeof result) == (ssize_t)sizeof result;
        _exit(told ? 0 : 2);
    }
    close(ends[1]);
    c->pipe = ends[0];
}

/* What a child that has ended, with a wait status, has found. */
static torture_result finish(child *c, int status)
{
    torture_result result = {.outcome = FAILED, .check = CHECK_crash};
    const bool told = read(c->pipe, &result, sizeof result) == (ssize_t)sizeof result;
    close(c->pipe);
    if (told && WIFEXITED(status) && WEXITSTATUS(status) == 0) return result;
    const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    const bool hangs = signal == SIGXCPU || signal == SIGALRM || signal == SIGKILL;
    result = (torture_result){.outcome = FAILED, .check = hangs ? CHECK_hang : CHECK_crash};
    snprintf(result.message, sizeof result.message, "%s",
             hangs    ? "still running when its time was up"
             : signal ? strsignal(signal)
                      : "the process ended without a result");
    return result;
}

static torture_result run_alone(node *scene, bool twice, torture_check sabotage, int cpu_seconds)
{
    child c = {.scene = scene, .twice = twice};
    int status = 0;
    start(&c, sabotage, cpu_seconds);
    while (waitpid(c.pid, &status, 0) < 0 && errno == EINTR) continue;
    return finish(&c, status);
}

/* ---- shrinking ---- */

typedef struct shrinker {
    node *best;
    torture_check check;
    bool twice;
    double until;
    int tries;
    char message[480];
} shrinker;

/* Takes over a scene if it fails in the same way. */
static bool try_scene(shrinker *s, node *scene)
{
    const int cpu = s->check == CHECK_hang ? CPU_SECONDS / 3 : CPU_SECONDS;
    const torture_result r = run_alone(scene, s->twice, CHECK_COUNT, cpu);
    s->tries++;
    if (r.outcome != FAILED || r.check != s->check) {
        node_free(scene);
        return false;
    }
    node_free(s->best);
    s->best = scene;
    snprintf(s->message, sizeof s->message, "%s", r.message);
    return true;
}

/* Removes whatever can go, larger parts first. */
static bool try_removals(shrinker *s)
{
    bool better = false;
    for (int i = 0; now() < s->until;) {
        node *scene = node_copy(s->best);
        int index = i;
        node **link = node_at(scene, &index);
        if (!link) {
            node_free(scene);
            break;
        }
        const bool needed = (*link)->key && (strcmp((*link)->key, "firn") == 0 ||
                                             strcmp((*link)->key, "frames") == 0);
        node *gone = *link;
        *link = gone->next;
        gone->next = NULL;
        node_free(gone);
        if (needed) {
            node_free(scene);
            i++;
        } else if (try_scene(s, scene)) {
            better = true; /* what follows has moved up to i */
        } else {
            i++;
        }
    }
    return better;
}

/* Changes the number of a key of a section (NULL: of the scene). */
static bool try_number(shrinker *s, const char *section, const char *key, double factor, bool whole)
{
    node *scene = node_copy(s->best);
    const node *map = section ? node_get(scene, section) : scene;
    node *n = (node *)node_get(map, key);
    if (!n || !n->value || now() > s->until) {
        node_free(scene);
        return false;
    }
    const double old = strtod(n->value, NULL), value = whole ? ceil(factor * old) : factor * old;
    if (value == old) {
        node_free(scene);
        return false;
    }
    char text[40];
    snprintf(text, sizeof text, "%.6g", value);
    free(n->value);
    n->value = strdup(text);
    return try_scene(s, scene);
}

/* Two digits for every number that can have them. */
static void try_rounding(shrinker *s)
{
    for (int i = 0; now() < s->until; i++) {
        node *scene = node_copy(s->best);
        int index = i;
        node **link = node_at(scene, &index);
        if (!link) {
            node_free(scene);
            return;
        }
        node *n = *link;
        char *end = NULL, text[40] = "";
        const double value = n->value ? strtod(n->value, &end) : 0;
        if (n->value && end != n->value && !*end) snprintf(text, sizeof text, "%.2g", value);
        if (!*text || strcmp(text, n->value) == 0) {
            node_free(scene);
            continue;
        }
        free(n->value);
        n->value = strdup(text);
        try_scene(s, scene);
    }
}

static void save(const node *scene, const char *path, const torture_result *r, const char *name)
{
    FILE *file = fopen(path, "w");
    if (!file) {
        fprintf(stderr, "torture: %s: %s\n", path, strerror(errno));
        return;
    }
    fprintf(file, "# %s: %s: %s\n", name, torture_check_name[r->check], r->message);
    node_write(scene, file);
    fclose(file);
}

static void shrink(const options *o, const child *c, torture_result r)
{
    char path[400];
    firn_error error;
    if (firn_make_folder(o->out, &error) != FIRN_OK) fprintf(stderr, "%s\n", error.message);
    snprintf(path, sizeof path, "%s/%s.yaml", o->out, c->name);
    save(c->scene, path, &r, c->name);
    shrinker s = {.best = node_copy(c->scene), .check = r.check, .until = now() + SHRINK_SECONDS};
    s.twice = r.check == CHECK_threads || r.check == CHECK_checkpoint;
    bool better = true;
    while (better && now() < s.until) {
        better = try_removals(&s);
        while (try_number(&s, "frames", "end", 0.5, true)) better = true;
        while (try_number(&s, NULL, "resolution", 1.3, false)) better = true;
    }
    try_rounding(&s);
    if (*s.message) snprintf(r.message, sizeof r.message, "%s", s.message);
    snprintf(path, sizeof path, "%s/%s.min.yaml", o->out, c->name);
    save(s.best, path, &r, c->name);
    printf("  %s after %d tries\n", path, s.tries);
    node_free(s.best);
}

/* ---- many scenes ---- */

static void raise_record(record *to, double value, const child *c)
{
    if (value <= to->value) return;
    to->value = value;
    memcpy(to->name, c->name, sizeof to->name);
}

static void judge(const options *o, totals *t, const child *c, const torture_result *r,
                  double seconds)
{
    raise_record(&t->longest, seconds, c);
    t->particles += r->particles;
    t->steps += r->steps;
    t->closed += r->closed;
    t->passed += r->outcome == PASSED;
    if (r->outcome == PASSED) {
        raise_record(&t->gain, r->gain, c);
        raise_record(&t->depth, r->depth, c);
    }
    t->refused += r->outcome == REFUSED;
    if (r->outcome == REFUSED) printf("%s: refused: %s\n", c->name, r->message);
    if (r->outcome != FAILED) return;
    t->failed++;
    printf("%s: FAILED %s: %s\n", c->name, torture_check_name[r->check], r->message);
    shrink(o, c, *r);
}

static node *read_scene(const char *path)
{
    firn_bytes bytes = {0};
    firn_error error = {0};
    node *scene = NULL;
    if (firn_bytes_read(path, &bytes, &error) != FIRN_OK) {
        fprintf(stderr, "torture: %s\n", error.message);
    } else {
        scene = node_read((const char *)bytes.data, bytes.size);
        if (!scene) fprintf(stderr, "torture: %s is not a scene\n", path);
    }
    firn_bytes_free(&bytes);
    return scene;
}

/* The index-th scene: those of files, then those of numbers. NULL: cannot be read. */
static node *make_scene(const options *o, uint64_t index, child *c)
{
    if (index < (uint64_t)o->scene_count) {
        const char *path = o->scene[index], *slash = strrchr(path, '/');
        snprintf(c->name, sizeof c->name, "%.70s", slash ? slash + 1 : path);
        c->twice = true;
        return read_scene(path);
    }
    const uint64_t number = o->from + index - (uint64_t)o->scene_count;
    snprintf(c->name, sizeof c->name, "%llu-%llu", (unsigned long long)o->seed,
             (unsigned long long)number);
    c->twice = number % TWICE_EVERY == 0;
    return torture_generate(o->seed, number);
}

static int run_all(const options *o)
{
    child running[MAX_JOBS] = {0};
    totals t = {0};
    const double began = now();
    const uint64_t all = o->count + (uint64_t)o->scene_count;
    uint64_t done = 0;
    int busy = 0;
    for (uint64_t next = 0; next < all || busy > 0;) {
        while (busy < o->jobs && next < all) {
            child *c = running;
            while (c->pid) c++;
            c->scene = make_scene(o, next++, c);
            if (!c->scene) return 2;
            start(c, CHECK_COUNT, CPU_SECONDS);
            busy++;
        }
        int status = 0;
        const double before = processor_time();
        const pid_t pid = wait(&status);
        child *c = running;
        while (c < running + MAX_JOBS && c->pid != pid) c++;
        if (pid <= 0 || c == running + MAX_JOBS) continue;
        c->pid = 0;
        busy--;
        const torture_result r = finish(c, status);
        const double seconds = processor_time() - before;
        judge(o, &t, c, &r, seconds);
        if (seconds > SLOW_SECONDS) printf("%s: slow: %.0f s\n", c->name, seconds);
        if (++done % 500 == 0)
            printf("%llu of %llu\n", (unsigned long long)done, (unsigned long long)all);
        fflush(stdout);
        node_free(c->scene);
        *c = (child){0};
    }
    printf("energy was checked in %lld; %lld particles, %lld steps, %.0f s of processor time in "
           "%.0f s, "
           "at most %.1f s (%s)\n",
           (long long)t.closed, (long long)t.particles, (long long)t.steps, processor_time(),
           now() - began, t.longest.value, t.longest.name);
    printf("largest that passed: energy rose by %.2g %% (%s), %.2g cells inside a collider (%s)\n",
           100 * t.gain.value, t.gain.name, t.depth.value, t.depth.name);
    printf("%lld passed, %lld failed, %lld refused\n", (long long)t.passed, (long long)t.failed,
           (long long)t.refused);
    return t.failed > 0;
}

/* ---- whether the checks fire ---- */

static const char plain_scene[] =
    "{firn: 1, dimension: 2, resolution: 0.05, frames: {start: 0, end: 3, fps: 50},"
    " materials: {m0: {preset: jelly_soft, young: 1e6}}, objects: [{material: m0, translate: [0, "
    "0.6],"
    " shape: {disc: {radius: 0.3}}, velocity: [0.5, -1]}],"
    " colliders: [{shape: {plane: {point: [0, 0]}}}]}";

static int self_test(void)
{
    int missed = 0;
    for (int check = 0; check <= CHECK_COUNT; check++) {
        node *scene = node_read(plain_scene, strlen(plain_scene));
        node *simulation = node_map(scene, "simulation");
        if (check == CHECK_advance) node_number(simulation, "dt_min", 5e-3); /* too long */
        const torture_result r =
            run_alone(scene, true, (torture_check)check, check == CHECK_hang ? 1 : CPU_SECONDS);
        const bool right = check == CHECK_COUNT
                               ? r.outcome == PASSED
                               : r.outcome == FAILED && r.check == (torture_check)check;
        printf("%s %s: %s\n", right ? "ok  " : "MISS",
               check == CHECK_COUNT ? "nothing broken" : torture_check_name[check], r.message);
        missed += !right;
        node_free(scene);
    }
    return missed > 0;
}

/* ---- the command line ---- */

static uint64_t number_of(const char *option, const char *text)
{
    char *end = NULL;
    const unsigned long long value = text ? strtoull(text, &end, 10) : 0;
    if (!text || end == text || *end) {
        fprintf(stderr, "torture: %s needs a whole number\n", option);
        exit(2);
    }
    return value;
}

int main(int argc, char **argv)
{
    options o = {.seed = 1, .count = 100, .jobs = 1, .out = "torture"};
    bool counted = false, print = false;
    for (int i = 1; i < argc; i++) {
        const char *option = argv[i], *value = argv[i + 1];
        if (strcmp(option, "--self-test") == 0) return self_test();
        i++;
        if (strcmp(option, "--seed") == 0) {
            o.seed = number_of(option, value);
        } else if (strcmp(option, "--from") == 0) {
            o.from = number_of(option, value);
        } else if (strcmp(option, "--count") == 0) {
            o.count = number_of(option, value);
            counted = true;
        } else if (strcmp(option, "--jobs") == 0) {
            o.jobs = (int)fmin((double)number_of(option, value), MAX_JOBS);
        } else if (strcmp(option, "--print") == 0) {
            o.from = number_of(option, value);
            print = true;
        } else if (strcmp(option, "--out") == 0 && value) {
            o.out = value;
        } else if (strcmp(option, "--scene") == 0 && value && o.scene_count < MAX_SCENES) {
            o.scene[o.scene_count++] = value;
        } else {
            fprintf(stderr, "usage: torture [--seed S] [--from N] [--count K] [--jobs J]\n"
                            "               [--out FOLDER] [--scene FILE]... | --self-test\n");
            return 2;
        }
    }
    if (print) {
        node *scene = torture_generate(o.seed, o.from);
        node_write(scene, stdout);
        node_free(scene);
        return 0;
    }
    if (o.scene_count > 0 && !counted) o.count = 0;
    if (o.jobs < 1) o.jobs = 1;
    return run_all(&o);
}
