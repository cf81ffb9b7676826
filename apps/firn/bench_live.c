/* firn bench live: whether scenes keep up with the clock when a page plays them.
 *
 * Each scene is played at real time in a session as `firn view` has it, and every picture counts as shown at
 * once. What that costs is reported apart: simulating, and reading, packing and handing over pictures. What a
 * browser does with them is not in it. */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <firn/live.h>

#include "scene_text.h"

static const char command_name[] = "firn bench live";

static struct {
    firn_words scenes;
    firn_texts sets;
    int64_t threads, seconds;
    const char *isa, *csv;
} chosen = {.seconds = 5};

static const firn_option options[] = {
    {"SCENE", FIRN_OPTION_WORDS, &chosen.scenes, "SCENE...", "scene files", .min = 1, .max = 100,
     .files = FIRN_FILES_SCENES},
    {"--set", FIRN_OPTION_TEXTS, &chosen.sets, "PATH=VALUE", "change a value of each scene"},
    {"--seconds", FIRN_OPTION_COUNT, &chosen.seconds, "N",
     "of the clock for each scene; 5 by default", .min = 1, .max = 3600},
    FIRN_THREADS_OPTION(chosen.threads),
    FIRN_ISA_OPTION(chosen.isa),
    FIRN_CSV_OPTION(chosen.csv),
};

/* What a page would have seen. */
typedef struct page {
    int64_t pictures;
    uint32_t newest;   /* picture */
    double simulating; /* s of the clock */
    int64_t steps;
} page;

static double number_after(const char *text, const char *key)
{
    const char *found = strstr(text, key);
    return found ? strtod(found + strlen(key), NULL) : 0;
}

static void see_event(void *user_data, const char *text, size_t size)
{
    page *p = user_data;
    char start[400];
    snprintf(start, sizeof start, "%.*s", (int)(size < 399 ? size : 399), text);
    if (!strstr(start, "\"frame\"")) return;
    p->simulating += number_after(start, "\"seconds\":");
    p->steps += (int64_t)number_after(start, "\"steps\":");
}

static void see_bytes(void *user_data, const void *data, size_t size)
{
    page *p = user_data;
    uint32_t header[4];
    if (size < sizeof header) return;
    memcpy(header, data, sizeof header);
    if (header[1] != 1) return; /* no picture */
    p->pictures++;
    p->newest = header[2];
}

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The command `open` with a scene's text. Free it with free; NULL: no memory. */
static char *open_command(const char *text)
{
    char *command = malloc(6 * strlen(text) + 40);
    if (!command) return NULL;
    char *to = command + sprintf(command, "{\"do\":\"open\",\"text\":\"");
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        to += *c < 32 || *c == '"' || *c == '\\' ? sprintf(to, "\\u%04x", *c) : (*to = (char)*c, 1);
    }
    strcpy(to, "\"}");
    return command;
}

static firn_status play(firn_live *live, page *seen, const char *path, const firn_bench_csv *csv,
                        firn_error *error)
{
    static const char start[] = "{\"do\":\"play\",\"speed\":1}";
    firn_status st = firn_live_receive(live, start, sizeof start - 1, error);
    if (st != FIRN_OK) return st;
    const double begin = seconds_now();
    double working = 0, now = begin, wait = 0;
    while (now - begin < (double)chosen.seconds && isfinite(wait)) {
        wait = firn_live_turn(live, 0.01);
        char shown[60];
        const int size =
            snprintf(shown, sizeof shown, "{\"do\":\"shown\",\"picture\":%u}", seen->newest);
        st = firn_live_receive(live, shown, (size_t)size, error);
        if (st != FIRN_OK) return st;
        const double then = now;
        now = seconds_now();
        working += now - then;
        if (wait > 0 && isfinite(wait)) {
            const struct timespec pause = {0, (long)(1e9 * fmin(wait, 0.1))};
            nanosleep(&pause, NULL);
            now = seconds_now();
        }
    }
    const firn_sim *sim = firn_job_sim(firn_live_job(live));
    const double simulated = firn_sim_time(sim), clock = now - begin;
    const int64_t particles = firn_sim_count(sim);
    printf("%-34s %9lld %10.3f %10.3f %10.3f %9.1f %11.2e\n", path, (long long)particles,
           simulated / clock, seen->simulating / simulated,
           fmax(0, working - seen->simulating) / simulated, (double)seen->pictures / clock,
           (double)particles * (double)seen->steps / seen->simulating);
    firn_bench_csv_row(csv, "%s,%lld,%.4f,%.4f,%.4f,%.2f\n", path, (long long)particles,
                       simulated / clock, seen->simulating / simulated,
                       fmax(0, working - seen->simulating) / simulated,
                       (double)seen->pictures / clock);
    return FIRN_OK;
}

static firn_status bench_scene(const char *path, const firn_bench_csv *csv, firn_error *error)
{
    firn_scene *scene = firn_scene_open(path, &chosen.sets, error);
    if (!scene) return error->status;
    char *text = firn_scene_text(scene, path, true, error);
    firn_scene_destroy(scene);
    if (!text) return error->status;
    char *command = open_command(text);
    free(text);
    if (!command) return firn_app_fail(error, FIRN_NO_MEMORY, "out of memory");

    page seen = {0};
    firn_live_options live_options = firn_live_options_default();
    live_options.threads = (int32_t)chosen.threads;
    live_options.isa = chosen.isa;
    live_options.path = path;
    live_options.user_data = &seen;
    live_options.send = see_event;
    live_options.send_bytes = see_bytes;
    firn_live *live = NULL;
    firn_status st = firn_live_create(&live_options, &live, error);
    if (st == FIRN_OK) st = firn_live_receive(live, command, strlen(command), error);
    free(command);
    if (st == FIRN_OK) st = play(live, &seen, path, csv, error);
    firn_live_destroy(live);
    return st;
}

static int run(void)
{
    firn_bench_csv csv;
    if (!firn_bench_csv_open(&csv, command_name, chosen.csv,
                             "scene,particles,of_real_time,simulating,pictures,per_second")) {
        return FIRN_EXIT_OUTPUT;
    }
    printf("%-34s %9s %10s %10s %10s %9s %11s\n", "scene", "particles", "x real", "simulate",
           "pictures", "per s", "p-steps/s");
    firn_error error = {0};
    firn_status st = FIRN_OK;
    for (int64_t i = 0; i < chosen.scenes.count && st == FIRN_OK; i++) {
        st = bench_scene(chosen.scenes.word[i], &csv, &error);
        fflush(stdout);
    }
    if (!firn_bench_csv_close(&csv, command_name) && st == FIRN_OK) return FIRN_EXIT_OUTPUT;
    return st == FIRN_OK ? 0 : firn_options_failure(command_name, st, &error);
}

const firn_command firn_bench_live_command = {
    .name = "firn bench live",
    .line = "whether scenes keep up with the clock in the studio",
    .summary =
        "Plays scenes at real time as `firn view` does, without a browser. Prints how many times "
        "real time each reached, the seconds of the clock that a simulated second took to "
        "simulate and to make pictures of, and pictures per second.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run};
