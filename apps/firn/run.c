/* firn run: a scene from its file to its last frame. */
#include <stdio.h>
#include <string.h>

#include "app.h"
#include "picture.h"
#include "progress.h"
#include "server.h"
#include "watch.h"

static const char command_name[] = "firn run";

static const char *told(const char *text) { return text ? text : ""; }

static int show_plan(const firn_scene *scene, const firn_run_options *options,
                     const firn_run_hooks *hooks, bool json)
{
    firn_plan p;
    firn_error error = {0};
    const firn_status st = firn_run_plan(scene, options, hooks, &p, &error);
    if (st != FIRN_OK) return firn_options_failure(command_name, st, &error);
    if (json) {
        printf("{\"particles\": %lld, \"particles_end\": %lld, \"frames\": %lld, \"cells\": %lld, "
               "\"memory\": %.0f, \"memory_most\": %.0f, \"disk_least\": %.0f, \"disk_most\": "
               "%.0f, \"dt\": %.6g, "
               "\"substeps\": %.0f, "
               "\"substeps_least\": %.0f, \"substeps_most\": %.0f, "
               "\"stiffening\": %.3g, \"seconds\": %.1f, \"seconds_least\": %.1f, "
               "\"seconds_most\": %.1f, \"transfer\": \"%s\", \"integrator\": \"%s\", "
               "\"pressure\": \"%s\", \"isa\": \"%s\", \"limit\": \"%s\"}\n",
               (long long)p.particles, (long long)p.particles_end, (long long)p.frames,
               (long long)p.cells, p.memory, p.memory_most, p.disk_least, p.disk_most, p.dt,
               p.steps, p.steps_least, p.steps_most, p.stiffening, p.seconds, p.seconds_least,
               p.seconds_most, told(p.transfer), told(p.integrator), told(p.pressure), told(p.isa),
               told(p.limit));
        return 0;
    }
    char memory[32], least[32], most[32], time[32], longest[32];
    if (p.memory > p.memory_most && p.dt == 0) {
        printf("particles  about %.0f\nframes     %lld\nmemory     about %s of %s available\n"
               "The run does not fit into memory, so nothing more was tried.\n",
               (double)p.particles, (long long)p.frames, firn_amount(p.memory, memory),
               firn_amount(p.memory_most, most));
        return 0;
    }
    printf("particles  %lld", (long long)p.particles);
    if (p.particles_end > p.particles) {
        printf(", %lld at the end", (long long)p.particles_end);
    }
    printf(
        "\nframes     %lld\ncells      %lld of %g m\nmemory     about %s\n"
        "disk       %s to %s\nsubsteps   %.0f to %.0f; %.0f at the pace of the start, of %.2e s\n"
        "time       %s to %s\n",
        (long long)p.frames, (long long)p.cells, firn_scene_get_info(scene).cell_size,
        firn_amount(p.memory, memory), firn_amount(p.disk_least, least),
        firn_amount(p.disk_most, most), p.steps_least, p.steps_most, p.steps, p.dt,
        firn_duration(p.seconds_least, time), firn_duration(p.seconds_most, longest));
    if (p.stiffening > 1) printf("           of it %.1f times for snow that packs\n", p.stiffening);
    if (p.isa) {
        printf("chosen     transfer %s, %s steps limited by %s, pressure %s, isa %s\n", p.transfer,
               p.integrator, p.limit, p.pressure, p.isa);
    }
    return 0;
}

static const char *log_form(int32_t index)
{
    static const char *const forms[] = {"text", "json", NULL};
    return forms[index];
}

static struct {
    int64_t threads, port;
    const char *isa, *frames, *log, *page;
    bool resume, plan, hash, quiet, live;
    firn_words files;
    firn_texts sets, render;
    firn_picture_words picture;
} chosen = {.log = "text"};

static const firn_option options[] = {
    {"SCENE.yaml", FIRN_OPTION_WORDS, &chosen.files, NULL, "the scene", 1, 1,
     .files = FIRN_FILES_SCENES},
    {"--set", FIRN_OPTION_TEXTS, &chosen.sets, "PATH=VALUE",
     .help = "change the scene, as frames.end=48; any number"},
    {"--frames", FIRN_OPTION_TEXT, &chosen.frames, "A:B",
     .help = "write these frames only, and stop at B"},
    {"--resume", FIRN_OPTION_FLAG, &chosen.resume, .help = "continue from the newest checkpoint"},
    {"--plan", FIRN_OPTION_FLAG, &chosen.plan,
     .help = "estimate particles, memory, disk and time, and stop"},
    FIRN_THREADS_OPTION(chosen.threads),
    FIRN_ISA_OPTION(chosen.isa),
    {"--hash", FIRN_OPTION_FLAG, &chosen.hash, .help = "print a hash of the state per frame"},
    {"--log", FIRN_OPTION_TEXT, &chosen.log, "FORM", "how to report", .word = log_form},
    {"--quiet", FIRN_OPTION_FLAG, &chosen.quiet, .help = "print only errors and hashes"},
    {"--render", FIRN_OPTION_TEXTS, &chosen.render, "FILE",
     .help = "also make pictures: name.$F4.png, name.png (a sheet), .mp4"},
    FIRN_SIZE_OPTION(chosen.picture),
    FIRN_QUALITY_OPTION(chosen.picture),
    FIRN_COLOR_OPTION(chosen.picture),
    {"--live", FIRN_OPTION_FLAG, &chosen.live,
     .help = "serve a page to watch the run in a browser, and stop it"},
    FIRN_PORT_OPTION(chosen.port),
    FIRN_PAGE_OPTION(chosen.page),
};

/* Starts the page of --live; the exit code, or 0. */
static int start_watch(const firn_scene *scene, const firn_run_options *how, firn_run_hooks *hooks,
                       firn_watch **watch)
{
    if (!chosen.live && (chosen.port || chosen.page)) {
        fprintf(stderr, "%s: --port and --page need --live\n", command_name);
        return FIRN_EXIT_USAGE;
    }
    if (!chosen.live) return 0;
    const firn_watch_def def = {.scene = scene,
                                .run = how,
                                .file = chosen.files.word[0],
                                .changed = chosen.sets.count > 0,
                                .page = chosen.page,
                                .port = (int)chosen.port};
    firn_error error = {0};
    const firn_status st = firn_watch_create(&def, watch, &error);
    if (st != FIRN_OK) return firn_server_failure(command_name, st, &error);
    firn_watch_attach(*watch, hooks);
    return 0;
}

static int run_scene(const firn_scene *scene, const firn_scene_def *source)
{
    const bool json = strcmp(chosen.log, "json") == 0;
    firn_error error = {0};
    firn_run_options how = firn_run_options_default(scene);
    firn_status st = firn_frames_choose(chosen.frames, scene, &how, &error);
    if (st != FIRN_OK) {
        firn_options_failure(command_name, st, &error);
        return FIRN_EXIT_USAGE;
    }
    how.threads = (int32_t)chosen.threads;
    how.isa = chosen.isa;
    how.resume = chosen.resume;
    how.hash = chosen.hash;
    firn_progress view = firn_progress_make(how.last, !chosen.quiet, !chosen.quiet, json);
    firn_run_hooks hooks = firn_progress_hooks(&view);
    if (chosen.plan) return show_plan(scene, &how, &hooks, json);
    if (!chosen.render.count &&
        (chosen.picture.size || chosen.picture.quality || chosen.picture.color)) {
        fprintf(stderr, "%s: --size, --quality and --color need --render\n", command_name);
        return FIRN_EXIT_USAGE;
    }
    for (int i = 0; i < chosen.render.count && chosen.resume; i++) {
        if (strchr(chosen.render.text[i], '$')) continue;
        fprintf(stderr,
                "%s: %s needs pictures of earlier frames, which --resume does not have: make it "
                "with firn render "
                "when the run is done\n",
                command_name, chosen.render.text[i]);
        return FIRN_EXIT_USAGE;
    }
    firn_interrupts_catch();
    firn_preview *preview = NULL;
    if (chosen.render.count) {
        firn_preview_def def = {.scene = scene, .source = source, .run = &how};
        st = firn_picture_read(&chosen.picture, "--render", &chosen.render, &def.renderer,
                               &def.pictures, &error);
        if (st == FIRN_OK) st = firn_preview_create(&def, &hooks, &preview, &error);
        if (st == FIRN_OK) firn_preview_attach(preview, &hooks);
    }
    firn_watch *watch = NULL;
    const int refused = st == FIRN_OK ? start_watch(scene, &how, &hooks, &watch) : 0;
    if (refused) {
        firn_preview_destroy(preview);
        return refused;
    }
    if (st == FIRN_OK) st = firn_run(scene, &how, &hooks, &error);
    firn_watch_destroy(watch);
    if (st == FIRN_OK && preview) st = firn_preview_finish(preview, &error);
    firn_preview_destroy(preview);
    firn_progress_clear(&view);
    for (int i = 0; i < chosen.render.count && st == FIRN_OK && !chosen.quiet && !json; i++) {
        printf("%s\n", chosen.render.text[i]);
    }
    if (st == FIRN_OK) return 0;
    const int exit_code = firn_options_failure(command_name, st, &error);
    if (st == FIRN_STOPPED) {
        if (firn_scene_get_info(scene).checkpoint_every > 0)
            fprintf(stderr, "%s: the same with --resume goes on\n", command_name);
    }
    return exit_code;
}

static int run(void)
{
    firn_setting settings[FIRN_MOST_TEXTS];
    firn_texts_to_settings(&chosen.sets, settings);
    firn_scene_def def = firn_scene_def_default();
    def.path = chosen.files.word[0];
    def.settings = settings;
    def.setting_count = chosen.sets.count;
    firn_scene *scene = NULL;
    firn_error error = {0};
    const firn_status st = firn_scene_create(&def, &scene, &error);
    if (st != FIRN_OK) return firn_options_failure(command_name, st, &error);
    const int exit_code = run_scene(scene, &def);
    firn_scene_destroy(scene);
    return exit_code;
}

const firn_command firn_run_command = {
    .name = command_name,
    .line = "run a scene file: frames, caches, checkpoints",
    .summary = "Runs a scene: fills its objects, advances frame by frame, writes its outputs and "
               "checkpoints. After Ctrl-C, --resume continues.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run};
