/* Scenes for pages: opening them, and their text. */
#include "scene_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

firn_scene *firn_scene_open(const char *path, const firn_texts *sets, firn_error *error)
{
    firn_setting settings[FIRN_MOST_TEXTS];
    firn_texts_to_settings(sets, settings);
    firn_scene_def def = firn_scene_def_default();
    def.path = path;
    def.settings = settings;
    def.setting_count = sets->count;
    firn_scene *scene = NULL;
    (void)!firn_scene_create(&def, &scene, error);
    return scene;
}

static char *copy_of(const firn_bytes *bytes, firn_error *error)
{
    char *copy = strndup((const char *)bytes->data, bytes->size);
    if (!copy) (void)firn_app_fail(error, FIRN_NO_MEMORY, "out of memory");
    return copy;
}

/* The library writes scenes to files. */
static char *merged_text(const firn_scene *scene, firn_error *error)
{
    char folder[200], path[240];
    const char *temporary = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%.160s/firn_view.XXXXXX", temporary ? temporary : "/tmp");
    if (!mkdtemp(folder)) {
        (void)firn_app_fail(error, FIRN_OUTPUT, "%s: cannot be made", folder);
        return NULL;
    }
    snprintf(path, sizeof path, "%s/scene.yaml", folder);
    firn_bytes text = {0};
    firn_status st = firn_scene_write(scene, path, error);
    if (st == FIRN_OK) st = firn_bytes_read(path, &text, error);
    unlink(path);
    rmdir(folder);
    char *copy = st == FIRN_OK ? copy_of(&text, error) : NULL;
    firn_bytes_free(&text);
    return copy;
}

/* Whether a line begins with the key `include`: a page has no files that it could mean. */
static bool includes(const firn_bytes *text)
{
    static const char key[] = "include:";
    const size_t length = sizeof key - 1;
    for (size_t i = 0; i + length <= text->size; i++) {
        const bool begins = i == 0 || text->data[i - 1] == '\n';
        if (begins && memcmp(text->data + i, key, length) == 0) return true;
    }
    return false;
}

char *firn_scene_text(const firn_scene *scene, const char *path, bool changed, firn_error *error)
{
    if (changed) return merged_text(scene, error);
    firn_bytes file = {0};
    if (firn_bytes_read(path, &file, error) != FIRN_OK) return NULL;
    char *text = includes(&file) ? merged_text(scene, error) : copy_of(&file, error);
    firn_bytes_free(&file);
    return text;
}
