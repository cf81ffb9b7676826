/* `firn run --live`: the studio's page looks on while a run goes on, and may stop it. Results do not change. */
#ifndef FIRN_WATCH_H
#define FIRN_WATCH_H

#include <firn/scene.h>

typedef struct firn_watch firn_watch;

typedef struct firn_watch_def {
    const firn_scene *scene;
    const firn_run_options *run;
    const char *file; /* of the scene */
    bool changed;     /* settings have changed the scene */
    const char *page; /* NULL: the one beside the program */
    int port;         /* 0: a free one */
} firn_watch_def;

/* Starts the server on a thread of its own, and says its address on standard error. */
FIRN_MUST_CHECK firn_status firn_watch_create(const firn_watch_def *def, firn_watch **watch,
                                              firn_error *error);
/* Lets it see the run of these hooks, which still get everything. */
void firn_watch_attach(firn_watch *watch, firn_run_hooks *hooks);
/* Ends the server. NULL is fine. */
void firn_watch_destroy(firn_watch *watch);

#endif
