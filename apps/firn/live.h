/* Pictures while a run is under way. */
#ifndef FIRN_LIVE_H
#define FIRN_LIVE_H

#include "picture.h"
#include "scene/run.h"

typedef struct firn_live {
    firn_shot shot;
    firn_film film;
    int64_t first;
} firn_live;

/* What to make and from what: the scene as it will run, and the file and changes it was read from. */
typedef struct firn_live_def {
    const firn_picture_words *words;
    const firn_texts *outs; /* files, as of firn_film */
    const firn_scene *scene;
    const char *path;
    const firn_texts *sets;
    const firn_run_options *run;
} firn_live_def;

/* Opens the outputs. The camera has to see what has not happened yet: unless it is placed, the scene is
 * rehearsed with fewer, larger particles, which takes about a hundredth of a long run. */
firn_status firn_live_begin(firn_live *live, const firn_live_def *def, const firn_run_hooks *hooks,
                            firn_error *error);
/* Adds the pictures to the hooks of a run. */
void firn_live_attach(firn_live *live, firn_run_hooks *hooks);
/* After the run: completes what there is where it went well, else leaves the pictures that are done. */
firn_status firn_live_end(firn_live *live, firn_status run, firn_error *error);

#endif
