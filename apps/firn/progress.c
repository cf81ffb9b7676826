/* What commands that run scenes share: the clock, Ctrl-C, the progress on the terminal (text or
 * JSON lines), and the reading of --frames. */
#include "progress.h"
#include "options.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

double firn_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- stopping ---- */

static volatile sig_atomic_t interrupted;

static void interrupt(int signal_number)
{
    (void)signal_number;
    interrupted = 1;
}

void firn_interrupts_catch(void)
{
    struct sigaction action = {.sa_handler = interrupt};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    struct sigaction hangup;
    sigaction(SIGHUP, NULL, &hangup); /* ignored under nohup: then it stays so */
    if (hangup.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, NULL);
}

bool firn_interrupted(void) { return interrupted != 0; }

static bool asked_to_stop(void *user_data)
{
    (void)user_data;
    return firn_interrupted();
}

/* ---- numbers for people ---- */

const char *firn_duration(double seconds, char text[32])
{
    const long s = seconds > 0 ? (long)(seconds + 0.5) : 0;
    if (s < 7200) {
        snprintf(text, 32, "%ld:%02ld", s / 60, s % 60);
    } else {
        snprintf(text, 32, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
    }
    return text;
}

/* ---- what the user sees ---- */

firn_progress firn_progress_make(int64_t last_frame, bool notes, bool lines, bool json)
{
    return (firn_progress){.notes = notes,
                           .lines = lines,
                           .json = json,
                           .terminal = notes && !json && isatty(STDERR_FILENO),
                           .first_frame = INT64_MIN,
                           .last_frame = last_frame,
                           .begin = firn_clock()};
}

void firn_progress_clear(firn_progress *v)
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
    firn_progress *v = user_data;
    firn_progress_clear(v);
    if (!v->notes) return;
    if (v->json) {
        printf("{\"event\": \"note\", \"text\": \"");
        print_json_text(text);
        printf("\"}\n");
        fflush(stdout);
    } else {
        fprintf(stderr, "%s\n", text);
    }
}

static void show_step(void *user_data, int64_t frame, const firn_report *report)
{
    firn_progress *v = user_data;
    if (!v->terminal) return;
    const double now = firn_clock();
    if (now - v->shown < 0.1) return;
    v->shown = now;
    char elapsed[32];
    fprintf(stderr, "\r\033[Kframe %lld/%lld  substep %lld  dt %.2e s (%s)  %lld particles  %s",
            (long long)frame, (long long)v->last_frame, (long long)report->steps, report->dt,
            firn_limit_name(report->limit), (long long)v->particles,
            firn_duration(now - v->begin, elapsed));
    v->line_open = true;
}

static void show_frame(void *user_data, const firn_run_frame *f)
{
    firn_progress *v = user_data;
    firn_progress_clear(v);
    const double now = firn_clock(), elapsed = now - v->begin;
    if (v->first_frame == INT64_MIN) {
        v->first_frame = f->frame;
        v->first_shown = now; /* a rehearsal comes before */
    }
    v->particles = f->particles;
    const int64_t done = f->frame - v->first_frame;
    const double each = done > 0 ? (now - v->first_shown) / (double)done : 0,
                 left = each * (double)(f->last - f->frame);
    const double speed =
        f->seconds > 0 ? (double)f->particles * (double)f->report.steps / f->seconds : 0;
    if (v->json && v->lines) {
        printf("{\"event\": \"frame\", \"frame\": %lld, \"last\": %lld, \"time\": %.9g, "
               "\"particles\": %lld, \"substeps\": %lld, \"retries\": %lld, \"dt\": %.6g, "
               "\"limiter\": \"%s\", \"seconds\": %.4f, \"particle_steps_per_second\": %.4g, "
               "\"files\": %lld, \"integrator\": \"%s\", \"iterations\": %lld",
               (long long)f->frame, (long long)f->last, f->report.time, (long long)f->particles,
               (long long)f->report.steps, (long long)f->report.retries, f->dt,
               firn_limit_name(f->report.limit), f->seconds, speed, (long long)f->files,
               firn_integrator_name(f->report.integrator), (long long)f->report.iterations);
        if (f->report.heat_steps) {
            printf(", \"heat_steps\": %lld, \"heat_iterations\": %lld, \"heat_seconds\": %.4f",
                   (long long)f->report.heat_steps, (long long)f->report.heat_iterations,
                   f->heat_seconds);
        }
        if (f->has_hash) {
            printf(", \"hash\": \"%016llx%016llx\"", (unsigned long long)f->hash.word[0],
                   (unsigned long long)f->hash.word[1]);
        }
        printf("}\n");
    } else if (v->lines) {
        char a[32], b[32];
        printf("frame %lld/%lld  %lld particles", (long long)f->frame, (long long)f->last,
               (long long)f->particles);
        if (f->report.steps) {
            printf("  %lld %ssubsteps  dt %.2e s (%s)  %.1f M particle-steps/s  %s",
                   (long long)f->report.steps,
                   f->report.integrator == FIRN_IMPLICIT ? "implicit " : "", f->dt,
                   firn_limit_name(f->report.limit), 1e-6 * speed, firn_duration(elapsed, a));
            if (f->frame < f->last) printf(", %s left", firn_duration(left, b));
        }
        printf("\n");
    }
    if (f->has_hash && !(v->json && v->lines)) {
        printf("hash %lld %016llx%016llx\n", (long long)f->frame,
               (unsigned long long)f->hash.word[0], (unsigned long long)f->hash.word[1]);
    }
    fflush(stdout);
}

firn_run_hooks firn_progress_hooks(firn_progress *view)
{
    return (firn_run_hooks){.user_data = view,
                            .note = show_note,
                            .frame = show_frame,
                            .step = show_step,
                            .stop = asked_to_stop};
}

/* ---- frames ---- */

bool firn_frames_read(const char *text, int64_t *first, int64_t *last)
{
    char *end = NULL;
    const char *p = text;
    const bool has_first = *p && *p != ':';
    if (has_first) {
        *first = strtoll(p, &end, 10);
        if (end == p) return false;
        p = end;
    }
    if (*p == 0) {
        *last = *first;
        return has_first;
    }
    if (*p++ != ':') return false;
    if (*p == 0) return has_first;
    *last = strtoll(p, &end, 10);
    return end != p && *end == 0;
}

firn_status firn_frames_choose(const char *text, const firn_scene *scene, firn_run_options *options,
                               firn_error *error)
{
    const firn_scene_info info = firn_scene_get_info(scene);
    if (!text || (firn_frames_read(text, &options->first, &options->last) &&
                  options->first <= options->last && options->first >= info.first_frame &&
                  options->last <= info.last_frame)) {
        return FIRN_OK;
    }
    return firn_app_fail(error, FIRN_INVALID, "--frames %s must be A:B within %lld:%lld", text,
                         (long long)info.first_frame, (long long)info.last_frame);
}
