/* Pictures while a run is under way. */
#ifndef FIRN_PREVIEW_H
#define FIRN_PREVIEW_H

#include "picture.h"
#include "run/run.h"

typedef struct firn_preview {
    firn_renderer renderer;
    firn_pictures pictures;
    int64_t first;
} firn_preview;

/* What to make and from what: the scene as it will run, and the file and changes it was read from. */
typedef struct firn_preview_def {
    const firn_picture_words *words;
    const firn_texts *outs; /* files, as of firn_pictures */
    const firn_scene *scene;
    const char *path;
    const firn_texts *sets;
    const firn_run_options *run;
} firn_preview_def;

/* Opens the outputs. The camera has to see what has not happened yet: unless it is placed, the scene is
 * rehearsed with fewer, larger particles, which takes about a hundredth of a long run. */
firn_status firn_preview_begin(firn_preview *preview, const firn_preview_def *def,
                               const firn_run_hooks *hooks, firn_error *error);
/* Adds the pictures to the hooks of a run. */
void firn_preview_attach(firn_preview *preview, firn_run_hooks *hooks);
/* After the run: completes what there is where it went well, else leaves the pictures that are done. */
firn_status firn_preview_end(firn_preview *preview, firn_status run, firn_error *error);

#endif
