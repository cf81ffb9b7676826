/* Scenes for users of the library: read from a file or text, changed by settings, told where to write. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "scene/scene.h"

firn_scene_def firn_scene_def_default(void) { return (firn_scene_def){.path = "scene"}; }

/* ---- paths that must lead somewhere ---- */

enum { MOST_PATH = 256 };

/* Cuts the last part off a path and returns it; NULL when it is the only one. */
static char *cut_path(char *path)
{
    char *cut = path + strlen(path);
    while (cut > path && *cut != '.' && *cut != '[') cut--;
    if (cut == path) return NULL;
    *cut = 0;
    return cut + 1;
}

/* A path that leads nowhere would be made on the way and change nothing. Only a last part may be
 * missing, and a section of the scene: readers of scenes know their names. Those of materials they
 * do not. */
static firn_status check_path(const firn_tree *tree, const firn_setting *setting, firn_error *error)
{
    const size_t size = strcspn(setting->assignment, "=");
    char path[MOST_PATH], missing[MOST_PATH], near[300] = "";
    if (size >= sizeof path) return FIRN_OK;
    snprintf(path, sizeof path, "%.*s", (int)size, setting->assignment);
    snprintf(missing, sizeof missing, "%s", path);
    if (!cut_path(missing)) return FIRN_OK;
    const size_t length = strlen(missing);
    if (length == 0 || missing[length - 1] == '.') return FIRN_OK; /* no path: refused when set */
    const bool section = !strpbrk(missing, ".["), material = strcmp(missing, "materials") == 0;
    if (section && !material) return FIRN_OK;
    if (material) snprintf(missing, sizeof missing, "%s", path);
    if (firn_value_find(tree->root, missing)) return FIRN_OK;
    char whole[MOST_PATH];
    snprintf(whole, sizeof whole, "%s", missing);
    const char *part = cut_path(missing);
    const firn_value *in = firn_value_find(tree->root, missing);
    const char *names[65] = {0};
    int n = 0;
    for (const firn_value *c = in ? in->child : NULL; c && n < 64; c = c->next) {
        const firn_value *name = firn_value_get(c, "name");
        const char *known = c->key ? c->key : name ? name->text : NULL;
        if (known) names[n++] = known;
    }
    if (n > 0) firn_nearest(part, names, near, sizeof near);
    return firn_fail(error, FIRN_INVALID, "%s %s: the scene has no %s%s", setting->option, path,
                     whole, near);
}

/* ---- where outputs go ---- */

/* A path as seen from a folder that it must not leave. */
static char *move_path(const char *folder, const char *path)
{
    const size_t length = strlen(folder);
    char *moved = malloc(length + strlen(path) + 2);
    if (!moved) return NULL;
    memcpy(moved, folder, length);
    char *to = moved + length;
    for (const char *p = path; *p;) {
        const size_t part = strcspn(p, "/");
        const bool stays =
            part > 0 && !(part == 1 && p[0] == '.') && !(part == 2 && p[0] == '.' && p[1] == '.');
        if (stays) {
            *to++ = '/';
            memcpy(to, p, part);
            to += part;
        }
        p += part;
        p += *p == '/';
    }
    *to = 0;
    return moved;
}

static firn_status move_value(firn_value *v, const char *folder, firn_error *error)
{
    if (!v || v->kind != FIRN_SCALAR) return FIRN_OK;
    char *moved = move_path(folder, v->text);
    if (!moved) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    free(v->text);
    v->text = moved;
    return FIRN_OK;
}

/* The text at a path that the scene may leave out. */
static firn_status default_value(firn_tree *tree, const char *path, const char *text,
                                 firn_error *error)
{
    if (firn_value_find(tree->root, path)) return FIRN_OK;
    firn_value *v = firn_value_new(FIRN_SCALAR, tree->root);
    if (v) v->text = strdup(text);
    if (!v || !v->text) {
        firn_value_free(v);
        return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    }
    return firn_value_set(tree->root, path, v, error);
}

static firn_status move_outputs(firn_tree *tree, const char *folder, firn_error *error)
{
    static const char *const paths[][2] = {{"statistics", "statistics.csv"},
                                           {"checkpoint.folder", "checkpoints"}};
    firn_status st = FIRN_OK;
    for (int i = 0; i < 2 && st == FIRN_OK; i++) {
        st = default_value(tree, paths[i][0], paths[i][1], error);
        if (st == FIRN_OK) st = move_value(firn_value_find(tree->root, paths[i][0]), folder, error);
    }
    const firn_value *output = firn_value_get(tree->root, "output");
    for (firn_value *v = output ? output->child : NULL; v && st == FIRN_OK; v = v->next) {
        st = move_value(firn_value_get(v, "file"), folder, error);
    }
    return st;
}

/* ---- the handle ---- */

static firn_status read_tree(const firn_scene_def *def, firn_tree *tree, firn_error *error)
{
    const size_t size = def->text && !def->text_size ? strlen(def->text) : def->text_size;
    const firn_bytes text = {(uint8_t *)def->text, size};
    firn_status st = def->text ? firn_tree_parse(tree, def->path, &text, error)
                               : firn_tree_read(tree, def->path, error);
    for (int64_t i = 0; i < def->setting_count && st == FIRN_OK; i++) {
        const firn_setting *s = &def->settings[i];
        if (s->existing) st = check_path(tree, s, error);
        if (st == FIRN_OK) st = firn_tree_set(tree, s->option, s->assignment, error);
    }
    if (st == FIRN_OK && def->output_folder) st = move_outputs(tree, def->output_folder, error);
    return st;
}

firn_status firn_scene_create(const firn_scene_def *def, firn_scene **out, firn_error *error)
{
    FIRN_REQUIRE(out, error);
    *out = NULL;
    FIRN_REQUIRE(def, error);
    if (!def->path) {
        return firn_fail(error, FIRN_INVALID,
                         "path is NULL; start from firn_scene_def_default() and name the file");
    }
    firn_tree tree = {0};
    firn_scene *scene = calloc(1, sizeof *scene);
    firn_status st =
        scene ? read_tree(def, &tree, error) : firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    if (st == FIRN_OK) st = firn_scene_read(scene, &tree, error);
    firn_tree_free(&tree);
    if (st == FIRN_OK) {
        *out = scene;
    } else {
        free(scene);
    }
    return st;
}

void firn_scene_destroy(firn_scene *scene)
{
    if (!scene) return;
    firn_scene_free(scene);
    free(scene);
}

firn_scene_info firn_scene_get_info(const firn_scene *scene)
{
    return (firn_scene_info){.name = scene->name,
                             .statistics = scene->statistics,
                             .checkpoints = scene->checkpoint.folder,
                             .checkpoint_every = scene->checkpoint.every,
                             .dimension = (int32_t)scene->dimension,
                             .object_count = scene->object_count,
                             .first_frame = scene->frames.start,
                             .last_frame = scene->frames.end,
                             .fps = scene->frames.fps,
                             .playback = scene->frames.playback,
                             .resolution = scene->resolution,
                             .cell_size = scene->cell_size};
}

firn_status firn_scene_write(const firn_scene *scene, const char *path, firn_error *error)
{
    FIRN_REQUIRE(scene, error);
    FIRN_REQUIRE(path, error);
    firn_output out;
    const firn_status st = firn_output_open(&out, path, error);
    if (st != FIRN_OK) return st;
    firn_value_write(scene->tree.root, &out);
    return firn_output_commit(&out, error);
}
