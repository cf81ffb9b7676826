/* Renders one picture of a particle file: picture PARTICLES.prt PICTURE.png */
#include <firn/render.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: %s PARTICLES PICTURE.png\n", argv[0]);
        return 2;
    }
    firn_points points = {0};
    firn_renderer *renderer = NULL;
    firn_image image = {0};
    firn_error error = {0};
    firn_renderer_options options = firn_renderer_options_default();
    options.render.width = 640;
    options.render.height = 360;
    options.render.quality = FIRN_DRAFT;

    firn_status status = firn_points_read(argv[1], &points, &error);
    const firn_renderer_frame frame = {.points = &points, .number = 1};
    if (status == FIRN_OK) status = firn_renderer_create(&options, &renderer, &error);
    if (status == FIRN_OK) status = firn_renderer_survey(renderer, &frame, &error);
    if (status == FIRN_OK) status = firn_renderer_settle(renderer, NULL, &error);
    if (status == FIRN_OK) status = firn_renderer_draw(renderer, &frame, &image, &error);
    if (status == FIRN_OK) status = firn_image_write_png(argv[2], &image, 8, &error);
    if (status != FIRN_OK) fprintf(stderr, "%s: %s\n", argv[0], error.message);
    firn_image_free(&image);
    firn_renderer_destroy(renderer);
    firn_points_free(&points);
    return status == FIRN_OK ? 0 : 1;
}
