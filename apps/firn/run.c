/* firn run: a scene from its file to its last frame. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "app.h"
#include "options.h"
#include "scene/run.h"

static const char command_name[] = "firn run";

static volatile sig_atomic_t interrupted;

static void interrupt(int signal_number)
{
    (void)signal_number;
    interrupted = 1;
}

/* ---- what the user sees ---- */

typedef struct view {
    bool quiet, json, terminal; /* terminal: a line that is written over and over */
    bool line_open;             /* something of it is on the screen */
    int64_t last_frame, first_frame;
    int64_t particles;
    double begin, shown; /* s: start, and when the line was last drawn */
    int64_t steps;       /* of the whole run */
} view;

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* 754 s as 12:34, 2 h and more as 2:05:10. */
static const char *duration(double seconds, char text[32])
{
    const long s = seconds > 0 ? (long)(seconds + 0.5) : 0;
    if (s < 7200) {
        snprintf(text, 32, "%ld:%02ld", s / 60, s % 60);
    } else {
        snprintf(text, 32, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
    }
    return text;
}

static void clear_line(view *v)
{
    if (v->line_open) fprintf(stderr, "\r\033[K");
    v->line_open = false;
}

/* Text within a JSON string. */
static void print_json_text(const char *text)
{
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') printf("\\");
        if ((unsigned char)*text < 32) {
            printf("\\u%04x", (unsigned)*text);
        } else {
            putchar(*text);
        }
    }
}

static void show_note(void *user_data, const char *text)
{
    view *v = user_data;
    clear_line(v);
    if (v->json) {
        printf("{\"event\": \"note\", \"text\": \"");
        print_json_text(text);
        printf("\"}\n");
        fflush(stdout);
    } else if (!v->quiet) {
        fprintf(stderr, "%s\n", text);
    }
}

static void show_step(void *user_data, int64_t frame, const firn_report *report)
{
    view *v = user_data;
    if (!v->terminal) return;
    const double now = seconds_now();
    if (now - v->shown < 0.1) return;
    v->shown = now;
    char elapsed[32];
    fprintf(stderr, "\r\033[Kframe %lld/%lld  substep %lld  dt %.2e s (%s)  %lld particles  %s",
            (long long)frame, (long long)v->last_frame, (long long)report->steps, report->dt,
            firn_limit_name(report->limit), (long long)v->particles,
            duration(now - v->begin, elapsed));
    v->line_open = true;
}

static void show_frame(void *user_data, const firn_run_frame *f)
{
    view *v = user_data;
    clear_line(v);
    if (v->first_frame == INT64_MIN) v->first_frame = f->frame;
    v->particles = f->particles;
    v->steps += f->report.steps;
    const double elapsed = seconds_now() - v->begin;
    const int64_t done = f->frame - v->first_frame;
    const double left = done > 0 ? elapsed / (double)done * (double)(f->last - f->frame) : 0;
    const double speed =
        f->seconds > 0 ? (double)f->particles * (double)f->report.steps / f->seconds : 0;
    if (v->json) {
        printf("{\"event\": \"frame\", \"frame\": %lld, \"last\": %lld, \"time\": %.9g, "
               "\"particles\": %lld, \"substeps\": %lld, \"retries\": %lld, \"dt\": %.6g, "
               "\"limiter\": \"%s\", \"seconds\": %.4f, \"particle_steps_per_second\": %.4g, "
               "\"files\": %lld}\n",
               (long long)f->frame, (long long)f->last, f->report.time, (long long)f->particles,
               (long long)f->report.steps, (long long)f->report.retries, f->report.dt,
               firn_limit_name(f->report.limit), f->seconds, speed, (long long)f->files);
    } else if (!v->quiet) {
        char a[32], b[32];
        printf("frame %lld/%lld  %lld particles", (long long)f->frame, (long long)f->last,
               (long long)f->particles);
        if (f->report.steps) {
            printf("  %lld substeps  dt %.2e s (%s)  %.1f M/s  %s", (long long)f->report.steps,
                   f->report.dt, firn_limit_name(f->report.limit), 1e-6 * speed,
                   duration(elapsed, a));
            if (f->frame < f->last) printf(", %s left", duration(left, b));
        }
        printf("\n");
    }
    if (f->has_hash) {
        printf("hash %lld %016llx%016llx\n", (long long)f->frame,
               (unsigned long long)f->hash.word[0], (unsigned long long)f->hash.word[1]);
    }
    fflush(stdout);
}

static bool asked_to_stop(void *user_data)
{
    (void)user_data;
    return interrupted != 0;
}

/* Bytes as 12.3 MB. */
static const char *amount(double bytes, char text[32])
{
    static const char *const unit[] = {"B", "kB", "MB", "GB", "TB"};
    int u = 0;
    while (bytes >= 1000 && u < 4) {
        bytes /= 1000;
        u++;
    }
    snprintf(text, 32, "%.3g %s", bytes, unit[u]);
    return text;
}

static int show_plan(const firn_scene *scene, const firn_run_options *options,
                     const firn_run_hooks *hooks, bool json)
{
    firn_plan p;
    firn_error error = {0};
    const firn_status st = firn_run_plan(scene, options, hooks, &p, &error);
    if (st != FIRN_OK) return firn_options_failure(command_name, st, &error);
    if (json) {
        printf("{\"particles\": %lld, \"frames\": %lld, \"cells\": %lld, \"memory\": %.0f, "
               "\"disk\": %.0f, \"dt\": %.6g, \"substeps\": %.0f, \"seconds\": %.1f}\n",
               (long long)p.particles, (long long)p.frames, (long long)p.cells, p.memory, p.disk,
               p.dt, p.steps, p.seconds);
        return 0;
    }
    char memory[32], disk[32], time[32];
    printf("particles  %lld\nframes     %lld\ncells      %lld of %g m\nmemory     about %s\n"
           "disk       at most %s\nsubsteps   about %.0f of %.2e s\ntime       about %s\n",
           (long long)p.particles, (long long)p.frames, (long long)p.cells, scene->cell_size,
           amount(p.memory, memory), amount(p.disk, disk), p.steps, p.dt,
           duration(p.seconds, time));
    return 0;
}

/* "12:48", "12:", ":48" or "30" to the frames to write. */
static bool parse_frames(const char *text, firn_run_options *o)
{
    char *end = NULL;
    const char *p = text;
    const bool has_first = *p && *p != ':';
    if (has_first) {
        o->first = strtoll(p, &end, 10);
        if (end == p) return false;
        p = end;
    }
    if (*p == 0) {
        o->last = o->first;
        return has_first;
    }
    if (*p++ != ':') return false;
    if (*p == 0) return has_first;
    o->last = strtoll(p, &end, 10);
    return end != p && *end == 0;
}

int firn_run_main(int argc, char **argv)
{
    int64_t threads = 0;
    const char *isa = NULL, *frames = NULL, *log = "text";
    bool resume = false, plan = false, hash = false, quiet = false;
    firn_words files = {0};
    firn_texts sets = {0};
    const firn_option options[] = {
        {"SCENE.yaml", FIRN_OPTION_WORDS, &files, NULL, "the scene", 1, 1},
        {"--set", FIRN_OPTION_TEXTS, &sets, "PATH=VALUE",
         "change the scene, as frames.end=48; any number", 0, 0},
        {"--frames", FIRN_OPTION_TEXT, &frames, "A:B", "write these frames only, and stop at B", 0,
         0},
        {"--resume", FIRN_OPTION_FLAG, &resume, NULL, "go on from the newest checkpoint", 0, 0},
        {"--plan", FIRN_OPTION_FLAG, &plan, NULL, "say what it would take, and stop", 0, 0},
        {"--threads", FIRN_OPTION_COUNT, &threads, "N", "0, the default, is all there are", 0, 256},
        {"--isa", FIRN_OPTION_TEXT, &isa, "NAME", "scalar, sse2, avx2, avx512, neon (the best)", 0,
         0},
        {"--hash", FIRN_OPTION_FLAG, &hash, NULL, "print a hash of the state per frame", 0, 0},
        {"--log", FIRN_OPTION_TEXT, &log, "FORM", "text or json", 0, 0},
        {"--quiet", FIRN_OPTION_FLAG, &quiet, NULL, "print errors and hashes only", 0, 0},
    };
    const firn_command command = {
        command_name,
        "Runs a scene: fills its objects, advances frame by frame, writes its outputs and "
        "checkpoints.\n"
        "Ctrl-C stops it at a point from which --resume goes on.",
        options, sizeof options / sizeof *options};
    int exit_code = 0;
    firn_tree tree = {0};
    firn_scene scene = {0};
    firn_error error = {0};
    if (!firn_options_parse(&command, argc, argv, &exit_code)) goto done;
    exit_code = FIRN_EXIT_USAGE;
    if (!firn_options_isa(command_name, isa)) goto done;
    const bool json = strcmp(log, "json") == 0;
    if (!json && strcmp(log, "text") != 0) {
        fprintf(stderr, "%s: --log %s is not known; there are text, json\n", command_name, log);
        goto done;
    }

    firn_status st = firn_tree_read(&tree, files.word[0], &error);
    for (int i = 0; i < sets.count && st == FIRN_OK; i++) {
        st = firn_tree_set(&tree, sets.text[i], &error);
    }
    if (st == FIRN_OK) st = firn_scene_read(&scene, &tree, &error);
    if (st != FIRN_OK) {
        exit_code = firn_options_failure(command_name, st, &error);
        goto done;
    }
    firn_run_options run = firn_run_options_default(&scene);
    if (frames && (!parse_frames(frames, &run) || run.first > run.last ||
                   run.first < scene.frames.start || run.last > scene.frames.end)) {
        fprintf(stderr, "%s: --frames %s must be A:B within %lld:%lld\n", command_name, frames,
                (long long)scene.frames.start, (long long)scene.frames.end);
        goto done;
    }
    run.threads = (int32_t)threads;
    run.isa = isa;
    run.resume = resume;
    run.hash = hash;
    view v = {.quiet = quiet,
              .json = json,
              .terminal = !quiet && !json && isatty(STDERR_FILENO),
              .last_frame = run.last,
              .first_frame = INT64_MIN,
              .begin = seconds_now()};
    const firn_run_hooks hooks = {&v, show_note, show_frame, show_step, asked_to_stop};
    if (plan) {
        exit_code = show_plan(&scene, &run, &hooks, json);
        goto done;
    }
    struct sigaction action = {.sa_handler = interrupt};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    st = firn_run(&scene, &run, &hooks, &error);
    clear_line(&v);
    exit_code = st == FIRN_OK ? 0 : firn_options_failure(command_name, st, &error);
    if (st == FIRN_STOPPED) {
        fprintf(stderr, "%s: firn run %s --resume goes on\n", command_name, files.word[0]);
    }

done:
    firn_scene_free(&scene);
    firn_tree_free(&tree);
    return exit_code;
}
