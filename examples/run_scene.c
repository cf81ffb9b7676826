/* Runs a scene file and prints a line per frame: run_scene SCENE.yaml [LAST_FRAME] */
#include <firn/scene.h>
#include <stdio.h>
#include <stdlib.h>

static void print_frame(void *user_data, const firn_run_frame *frame)
{
    (void)user_data;
    printf("frame %lld of %lld: %lld particles, %lld steps\n", (long long)frame->frame,
           (long long)frame->last, (long long)frame->particles, (long long)frame->report.steps);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: %s SCENE.yaml [LAST_FRAME]\n", argv[0]);
        return 2;
    }
    firn_scene_def def = firn_scene_def_default();
    def.path = argv[1];
    firn_scene *scene = NULL;
    firn_error error = {0};
    firn_status status = firn_scene_create(&def, &scene, &error);
    if (status == FIRN_OK) {
        firn_run_options options = firn_run_options_default(scene);
        if (argc > 2) options.last = atoll(argv[2]);
        const firn_run_hooks hooks = {.frame = print_frame};
        status = firn_run(scene, &options, &hooks, &error);
    }
    if (status != FIRN_OK) fprintf(stderr, "%s: %s\n", argv[0], error.message);
    firn_scene_destroy(scene);
    return status == FIRN_OK ? 0 : 1;
}
