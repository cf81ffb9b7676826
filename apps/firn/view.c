/* firn view: a scene live in the browser, or the frames of a finished run. */
#include "view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app.h"
#include "browser.h"
#include "progress.h"
#include "scene_text.h"
#include "server.h"

static const char command_name[] = "firn view";

static struct {
    int64_t threads, port, fps;
    const char *isa, *listen, *page, *scene;
    bool open;
    firn_words files;
    firn_texts sets;
} chosen;

static const firn_option options[] = {
    {"WHAT...", FIRN_OPTION_WORDS, &chosen.files, NULL,
     "a scene; or caches: a folder, files, name.$F4.prt, an .abc file", 1, 100000,
     .files = FIRN_FILES_ANY},
    {"--set", FIRN_OPTION_TEXTS, &chosen.sets, "PATH=VALUE",
     .help = "change the scene, as frames.end=48; any number"},
    FIRN_THREADS_OPTION(chosen.threads),
    FIRN_ISA_OPTION(chosen.isa),
    {"--fps", FIRN_OPTION_COUNT, &chosen.fps, "N",
     "frames per second of caches; by default as the file or --scene says, else 24", 1, 1000},
    {"--scene", FIRN_OPTION_TEXT, &chosen.scene, "SCENE.yaml",
     .help = "the scene of the caches, for their looks and frame rate", .files = FIRN_FILES_SCENES},
    {"--open", FIRN_OPTION_FLAG, &chosen.open, .help = "open the page in the browser"},
    FIRN_PORT_OPTION(chosen.port),
    FIRN_LISTEN_OPTION(chosen.listen),
    FIRN_PAGE_OPTION(chosen.page),
};

/* ---- serving ---- */

static firn_browser browser;
static firn_server *server;

static void show_address(void *user_data, const char *address)
{
    (void)user_data;
    printf("%s\n", address);
    fflush(stdout);
}

static bool asked_to_stop(void *user_data)
{
    (void)user_data;
    if (browser.path[0] && firn_server_in_use(server)) firn_browser_close(&browser);
    if (firn_browser_failed(&browser)) {
        fprintf(stderr, "%s: xdg-open found no browser; open the address yourself\n", command_name);
    }
    return firn_interrupted();
}

/* Ctrl-C is how a view ends, so that is no failure. */
static int serve(firn_engine engine)
{
    const firn_server_def def = {.page = chosen.page,
                                 .listen = chosen.listen,
                                 .port = (int)chosen.port,
                                 .engine = engine,
                                 .stop = asked_to_stop,
                                 .address = show_address};
    firn_error error = {0};
    firn_interrupts_catch();
    firn_status st = firn_server_create(&def, &server, &error);
    if (st != FIRN_OK) return firn_server_failure(command_name, st, &error);
    if (chosen.listen) firn_server_warn(chosen.listen);
    show_address(NULL, firn_server_address(server));
    if (isatty(STDERR_FILENO)) {
        fprintf(stderr, "Open this address in a browser, once. Ctrl-C ends.\n");
    }
    if (chosen.open &&
        firn_browser_open(&browser, firn_server_address(server), &error) != FIRN_OK) {
        fprintf(stderr, "%s: %s\n", command_name, error.message);
    }
    firn_server_run(server);
    firn_server_destroy(server);
    firn_browser_close(&browser);
    return 0;
}

/* ---- scenes ---- */

static int view_scene(const char *path)
{
    firn_error error = {0};
    firn_scene *scene = firn_scene_open(path, &chosen.sets, &error);
    if (!scene) return firn_options_failure(command_name, error.status, &error);
    char *text = firn_scene_text(scene, path, chosen.sets.count > 0, &error);
    firn_scene_destroy(scene);
    if (!text) return firn_options_failure(command_name, error.status, &error);
    const firn_view_scene what = {
        .path = path, .text = text, .isa = chosen.isa, .threads = (int32_t)chosen.threads};
    const int exit_code = serve(firn_view_scene_engine(&what));
    free(text);
    return exit_code;
}

/* ---- caches ---- */

static int view_caches(void)
{
    firn_view_cache *cache = NULL;
    firn_scene *scene = NULL;
    firn_error error = {0};
    if (chosen.scene && !(scene = firn_scene_open(chosen.scene, &chosen.sets, &error))) {
        return firn_options_failure(command_name, error.status, &error);
    }
    const firn_status st =
        firn_view_cache_create((const char *const *)chosen.files.word, chosen.files.count,
                               (double)chosen.fps, scene, &cache, &error);
    const int exit_code = st == FIRN_OK ? serve(firn_view_cache_engine(cache))
                                        : firn_options_failure(command_name, st, &error);
    firn_view_cache_destroy(cache);
    firn_scene_destroy(scene);
    return exit_code;
}

static bool is_scene(const char *name)
{
    const char *end = strrchr(name, '.');
    return end && (strcmp(end, ".yaml") == 0 || strcmp(end, ".yml") == 0);
}

static int run(void)
{
    for (int64_t i = 0; i < chosen.files.count; i++) {
        if (!is_scene(chosen.files.word[i])) continue;
        if (chosen.files.count == 1 && !chosen.scene) return view_scene(chosen.files.word[0]);
        fprintf(stderr, "%s: %s is a scene; give one scene, or caches\n", command_name,
                chosen.files.word[i]);
        return FIRN_EXIT_USAGE;
    }
    if (chosen.sets.count && !chosen.scene) {
        fprintf(stderr, "%s: --set changes a scene, and these are caches\n", command_name);
        return FIRN_EXIT_USAGE;
    }
    return view_caches();
}

const firn_command firn_view_command = {
    .name = command_name,
    .line = "a scene live in the browser; plays caches, too",
    .summary = "Serves the studio's page to a browser on this machine and simulates for it with "
               "all processors; or plays the caches of a finished run. Prints the address. It "
               "lets one browser in, once. Ctrl-C ends.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run};
