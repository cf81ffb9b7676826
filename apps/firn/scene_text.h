/* Scenes for pages: opening them, and their text. */
#ifndef FIRN_SCENE_TEXT_H
#define FIRN_SCENE_TEXT_H

#include <firn/scene.h>

#include "options.h"

/* A scene with what --set changes of it; NULL with an error. */
firn_scene *firn_scene_open(const char *path, const firn_texts *sets, firn_error *error);

/* The file as it is; if it includes others, or if settings have changed the scene, one text with all of that in
 * it. Free it with free; NULL with an error. */
char *firn_scene_text(const firn_scene *scene, const char *path, bool changed, firn_error *error);

#endif
