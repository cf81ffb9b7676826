/* firn sweep: a scene in all combinations of some values, one folder each, and a table of how they
 * ended.
 *
 * A folder holds what the variant writes and variant.txt, which says how far it is and what scene it
 * is of: --resume passes over what is finished, goes on with what has begun, and takes no notice of
 * what an older sweep may have left in folders that this one has not come to. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "progress.h"
#include "sweep.h"

static const char command_name[] = "firn sweep";

static struct {
    int64_t threads;
    const char *isa, *frames, *out;
    bool resume, plan;
    firn_words files;
    firn_texts sets, varies;
} chosen;

static const firn_option options[] = {
    {"SCENE.yaml", FIRN_OPTION_WORDS, &chosen.files, NULL, "the scene", 1, 1,
     .files = FIRN_FILES_SCENES},
    {"--vary", FIRN_OPTION_TEXTS, &chosen.varies, "PATH=A,B,C",
     .help = "take these values in turn; commas within brackets or quotes belong to a value, as "
             "in 'simulation.gravity=[0,-9.8,0],[0,0,0]'; any number"},
    {"--set", FIRN_OPTION_TEXTS, &chosen.sets, "PATH=VALUE",
     .help = "change the scene for all, as frames.end=48; any number"},
    {"--out", FIRN_OPTION_TEXT, &chosen.out, "FOLDER", "where the folders go (SCENE.sweep)",
     .files = FIRN_FOLDERS},
    {"--frames", FIRN_OPTION_TEXT, &chosen.frames, "A:B",
     .help = "write these frames only, and stop at B"},
    {"--resume", FIRN_OPTION_FLAG, &chosen.resume, .help = "skip finished variants, run the rest"},
    {"--plan", FIRN_OPTION_FLAG, &chosen.plan, .help = "estimate the whole sweep, and stop"},
    FIRN_THREADS_OPTION(chosen.threads),
    FIRN_ISA_OPTION(chosen.isa),
};

/* ---- a variant's scene ---- */

static char *folder_of(const firn_sweep *s, int64_t index)
{
    return firn_make_text("%s/%s", s->folder, s->variant[index].name);
}

static firn_status read_variant(const firn_sweep *s, int64_t index, firn_scene **scene,
                                firn_error *error)
{
    firn_setting settings[2 * FIRN_MOST_TEXTS];
    firn_texts_to_settings(&chosen.sets, settings);
    firn_scene_def def = firn_scene_def_default();
    def.path = chosen.files.word[0];
    def.settings = settings;
    def.setting_count = chosen.sets.count;
    for (int k = 0; k < s->vary_count; k++) {
        settings[def.setting_count++] =
            (firn_setting){.assignment = firn_sweep_choice(s, index, k)->assignment,
                           .option = "--vary",
                           .existing = true};
    }
    char *folder = folder_of(s, index);
    def.output_folder = folder;
    const firn_status st = folder ? firn_scene_create(&def, scene, error) : firn_no_memory(error);
    free(folder);
    return st;
}

static firn_status choose_run(const firn_scene *scene, firn_run_options *how, firn_error *error)
{
    *how = firn_run_options_default(scene);
    how->threads = (int32_t)chosen.threads;
    how->isa = chosen.isa;
    return firn_frames_choose(chosen.frames, scene, how, error);
}

/* All that can be known without filling more than emitters. *usage receives whether the command line is
 * to blame. */
static firn_status check_variant(const firn_sweep *s, int64_t index, bool *usage, firn_error *error)
{
    firn_scene *scene = NULL;
    firn_run_options how;
    firn_error inner = {0};
    firn_status st = read_variant(s, index, &scene, &inner);
    if (st == FIRN_OK) {
        st = choose_run(scene, &how, &inner);
        *usage = st != FIRN_OK;
    }
    if (st == FIRN_OK) st = firn_run_check(scene, &how, &inner);
    firn_scene_destroy(scene);
    return st == FIRN_OK
               ? st
               : firn_app_fail(error, st, "%s: %s", s->variant[index].name, inner.message);
}

static int plan_all(const firn_sweep *s)
{
    firn_plan *plan = calloc((size_t)s->variant_count, sizeof *plan);
    firn_error error = {0};
    firn_status st = plan ? FIRN_OK : firn_no_memory(&error);
    for (int64_t i = 0; i < s->variant_count && st == FIRN_OK; i++) {
        firn_scene *scene = NULL;
        firn_run_options how;
        firn_progress progress = firn_progress_make(0, true, false, false);
        const firn_run_hooks hooks = firn_progress_hooks(&progress);
        st = read_variant(s, i, &scene, &error);
        if (st == FIRN_OK) st = choose_run(scene, &how, &error);
        if (st == FIRN_OK) st = firn_run_plan(scene, &how, &hooks, &plan[i], &error);
        firn_scene_destroy(scene);
    }
    if (st == FIRN_OK) firn_sweep_print_plans(s, plan);
    free(plan);
    return st == FIRN_OK ? 0 : firn_options_failure(command_name, st, &error);
}

/* ---- running ---- */

/* variant.txt: how far it is, then the scene. NULL when there is no memory. */
static char *marker_text(const firn_scene *scene, const firn_run_options *how, bool finished)
{
    char *lines = firn_scene_lines(scene);
    char *text =
        lines ? firn_make_text("%s, frames %lld to %lld\n\n%s", finished ? "finished" : "begun",
                               (long long)how->first, (long long)how->last, lines)
              : NULL;
    free(lines);
    return text;
}

typedef struct player {
    const firn_scene *scene;
    firn_run_options how;
    const char *marker; /* path */
    firn_progress view;
    firn_run_hooks shown; /* the view's own */
    bool begun;           /* now or before */
    bool marked;
    firn_status status; /* of marking */
    firn_error error;
} player;

static firn_status mark(const player *p, bool finished, firn_error *error)
{
    char *text = marker_text(p->scene, &p->how, finished);
    const firn_status st =
        text ? firn_bytes_write(p->marker, text, strlen(text), error) : firn_no_memory(error);
    free(text);
    return st;
}

/* A variant has begun when its first frame is on disk, and the checkpoint of that frame with it. */
static void on_frame(void *user_data, const firn_run_frame *frame)
{
    player *p = user_data;
    p->shown.frame(p->shown.user_data, frame);
    if (!p->marked) p->status = mark(p, false, &p->error);
    p->begun = p->marked = true;
}

static void on_note(void *user_data, const char *text)
{
    const player *p = user_data;
    p->shown.note(p->shown.user_data, text);
}

static void on_step(void *user_data, int64_t frame, const firn_report *report)
{
    const player *p = user_data;
    p->shown.step(p->shown.user_data, frame, report);
}

static bool on_stop(void *user_data)
{
    const player *p = user_data;
    return p->status != FIRN_OK || p->shown.stop(p->shown.user_data);
}

/* The next line that says what moves, of a marker: how long and what is written may change. */
static const char *next_line(const char *at, const char **end)
{
    static const char *const free_to_change[] = {"begun,",     "finished,",  "frames.end", "output",
                                                 "statistics", "checkpoint", NULL};
    for (; *at; at = *end + (**end != 0)) {
        int i = 0;
        *end = at + strcspn(at, "\n");
        while (free_to_change[i] && strncmp(at, free_to_change[i], strlen(free_to_change[i])) != 0)
            i++;
        if (!free_to_change[i] && *end > at) return at;
    }
    return NULL;
}

static bool same_motion(const char *a, const char *b)
{
    const char *end_a = a, *end_b = b;
    a = next_line(a, &end_a);
    b = next_line(b, &end_b);
    while (a && b && end_a - a == end_b - b && memcmp(a, b, (size_t)(end_a - a)) == 0) {
        a = next_line(end_a, &end_a);
        b = next_line(end_b, &end_b);
    }
    return !a && !b;
}

/* Whether variant.txt is there and tells of the same motion, and whether it says that all of this has
 * been done. */
static bool read_marker(const player *p, bool *finished)
{
    firn_bytes bytes = {0};
    firn_error ignored;
    *finished = false;
    if (firn_bytes_read(p->marker, &bytes, &ignored) != FIRN_OK) return false;
    char *text = marker_text(p->scene, &p->how, true);
    char *found = firn_make_text("%.*s", (int)bytes.size, (const char *)bytes.data);
    *finished = text && found && strcmp(text, found) == 0;
    const bool same = text && found && same_motion(text, found);
    if (!same) fprintf(stderr, "%s: its scene has changed: it runs from the start\n", p->marker);
    free(text);
    free(found);
    firn_bytes_free(&bytes);
    return same;
}

static firn_status run_one(const firn_sweep *s, int64_t index, player *p, firn_error *error)
{
    bool finished = false;
    p->begun = p->how.resume = chosen.resume && read_marker(p, &finished);
    printf("variant %lld of %lld: %s%s\n", (long long)index + 1, (long long)s->variant_count,
           s->variant[index].name, finished ? " is finished" : "");
    fflush(stdout);
    if (finished) return FIRN_OK;
    p->view = firn_progress_make(p->how.last, true, false, false);
    p->shown = firn_progress_hooks(&p->view);
    const firn_run_hooks hooks = {
        .user_data = p, .note = on_note, .frame = on_frame, .step = on_step, .stop = on_stop};
    const firn_status st = firn_run(p->scene, &p->how, &hooks, error);
    firn_progress_clear(&p->view);
    if (p->status != FIRN_OK) *error = p->error;
    return p->status != FIRN_OK ? p->status : st == FIRN_OK ? mark(p, true, error) : st;
}

/* FOLDER/scene.yaml: for pictures of the variant. */
static firn_status write_scene(const char *folder, const firn_scene *scene, firn_error *error)
{
    char *path = firn_make_text("%s/scene.yaml", folder);
    const firn_status st = path ? firn_scene_write(scene, path, error) : firn_no_memory(error);
    free(path);
    return st;
}

static firn_status run_variant(firn_sweep *s, int64_t index, firn_error *error)
{
    firn_variant *v = &s->variant[index];
    firn_scene *scene = NULL;
    char *folder = folder_of(s, index);
    char *marker = firn_make_text("%s/%s/variant.txt", s->folder, v->name);
    player p = {.marker = marker};
    firn_status st = folder && marker ? firn_make_folder(folder, error) : firn_no_memory(error);
    if (st == FIRN_OK) st = read_variant(s, index, &scene, error);
    if (st == FIRN_OK) st = write_scene(folder, scene, error);
    if (st == FIRN_OK) st = choose_run(scene, &p.how, error);
    p.scene = scene;
    if (st == FIRN_OK) st = run_one(s, index, &p, error);
    if (p.begun) firn_variant_read(v, firn_scene_get_info(scene).statistics);
    v->state = st == FIRN_OK         ? FIRN_VARIANT_DONE
               : st == FIRN_DIVERGED ? FIRN_VARIANT_DIVERGED
               : st == FIRN_STOPPED  ? FIRN_VARIANT_STOPPED
                                     : FIRN_VARIANT_FAILED;
    firn_scene_destroy(scene);
    free(folder);
    free(marker);
    return st;
}

/* What an older sweep left is not this one's. */
static void forget_markers(const firn_sweep *s)
{
    for (int64_t i = 0; i < s->variant_count; i++) {
        char *path = firn_make_text("%s/%s/variant.txt", s->folder, s->variant[i].name);
        if (path) remove(path);
        free(path);
    }
}

/* One that diverges or cannot be filled does not stop the others; the first decides the exit code.
 * What cannot be written, and Ctrl-C, do. */
static int run_all(firn_sweep *s)
{
    firn_error error = {0};
    firn_status st = firn_make_folder(s->folder, &error);
    if (st == FIRN_OK && !chosen.resume) forget_markers(s);
    if (st == FIRN_OK) st = firn_sweep_write(s, &error);
    if (st != FIRN_OK) return firn_options_failure(command_name, st, &error);
    int exit_code = 0;
    firn_interrupts_catch();
    for (int64_t i = 0; i < s->variant_count && st != FIRN_OUTPUT && st != FIRN_STOPPED; i++) {
        st = firn_interrupted() ? firn_app_fail(&error, FIRN_STOPPED, "stopped between variants")
                                : run_variant(s, i, &error);
        if (st != FIRN_OK) {
            const int code = firn_options_failure(command_name, st, &error);
            if (exit_code == 0 || st == FIRN_STOPPED || st == FIRN_OUTPUT) exit_code = code;
        }
        firn_error table = {0};
        const firn_status written = firn_sweep_write(s, &table);
        if (written != FIRN_OK) {
            exit_code = firn_options_failure(command_name, written, &table);
            st = written;
        }
    }
    firn_sweep_print(s);
    if (st == FIRN_STOPPED)
        fprintf(stderr, "%s: the same command with --resume continues\n", command_name);
    return exit_code;
}

/* --out, or beside us under the name of the scene's file. */
static char *choose_folder(void)
{
    if (chosen.out) return firn_make_text("%s", chosen.out);
    const char *file = chosen.files.word[0], *slash = strrchr(file, '/');
    const char *name = slash ? slash + 1 : file, *dot = strrchr(name, '.');
    return firn_make_text("%.*s.sweep",
                          (int)(dot && dot > name ? (size_t)(dot - name) : strlen(name)), name);
}

/* Reads what varies, and checks every variant. */
static firn_status open_sweep(firn_sweep *s, bool *usage, firn_error *error)
{
    s->folder = choose_folder();
    firn_status st = s->folder ? FIRN_OK : firn_no_memory(error);
    for (int i = 0; i < chosen.varies.count && st == FIRN_OK; i++) {
        st = firn_sweep_add(s, chosen.varies.text[i], error);
    }
    if (st == FIRN_OK) st = firn_sweep_expand(s, error);
    for (int64_t i = 0; i < s->variant_count && st == FIRN_OK; i++) {
        st = check_variant(s, i, usage, error);
    }
    return st;
}

static int run(void)
{
    if (chosen.varies.count == 0) {
        fprintf(stderr, "%s: nothing to vary; give --vary resolution=0.02,0.04 or the like\n",
                command_name);
        return FIRN_EXIT_USAGE;
    }
    static firn_sweep s;
    firn_error error = {0};
    bool usage = false;
    const firn_status st = open_sweep(&s, &usage, &error);
    int exit_code = st != FIRN_OK ? firn_options_failure(command_name, st, &error)
                    : chosen.plan ? plan_all(&s)
                                  : run_all(&s);
    if (usage) exit_code = FIRN_EXIT_USAGE;
    firn_sweep_free(&s);
    return exit_code;
}

const firn_command firn_sweep_command = {
    .name = command_name,
    .line = "run a scene in all combinations of some values",
    .summary = "Runs a scene once for every combination of the values given, each in a folder of "
               "its own with its outputs, statistics and checkpoints. sweep.csv holds the "
               "statistics of every variant's last frame. After Ctrl-C, --resume continues. A "
               "variant that diverges is noted, and the others run.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run};
