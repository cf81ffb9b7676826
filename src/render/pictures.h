/* Where pictures go: PNG sequences, stills, contact sheets, videos. Their names say which:
 *   name.$F4.png     a file per picture
 *   name.png         the picture where there is one; of more, a contact sheet
 *   name.mp4, .webm  a video
 * .exr does as .png does, and holds light as it is.
 * Without ffmpeg a video becomes a sequence of pictures, and closing says so. */
#ifndef FIRN_PICTURES_H
#define FIRN_PICTURES_H

#include "render/sheet.h"
#include "render/video.h"

enum { FIRN_PICTURES_MOST = 16 };

typedef struct firn_pictures_def {
    const char *path[FIRN_PICTURES_MOST];
    int32_t path_count;
    int32_t columns, rows; /* of contact sheets; 0: as many as there are pictures, at most nine */
    int32_t width, height; /* of a picture */
    int64_t count;         /* of pictures */
    int32_t bits;          /* of PNG: 8 or 16 */
    bool alpha;            /* the ground and the sky are left out */
    double fps;
    bool numbered; /* cells of a contact sheet say which picture it is */
} firn_pictures_def;

typedef struct firn_pictures {
    firn_pictures_def def;
    char *instead
        [FIRN_PICTURES_MOST]; /* sequences that take the place of videos: ffmpeg is missing */
    firn_video video[FIRN_PICTURES_MOST];
    firn_sheet sheet; /* where one is wanted */
    bool has_sheet, all;
} firn_pictures;

/* Whether the names are of kinds that can be made. */
firn_status firn_pictures_check(const firn_pictures_def *def, firn_error *error);

/* Whether the pictures are to be as light is, and not as a screen shows them. */
bool firn_pictures_is_linear(const firn_pictures_def *def);

/* Checks, makes folders, tries whether files can be written, starts videos. */
firn_status firn_pictures_open(firn_pictures *pictures, const firn_pictures_def *def,
                               firn_error *error);
/* Whether the picture of that index (from 0) goes anywhere: contact sheets take some of them. */
bool firn_pictures_wants(const firn_pictures *pictures, int64_t index);
/* `number` takes the place of $F. Pictures come in order; those that are missing are left out. */
firn_status firn_pictures_add(firn_pictures *pictures, int64_t index, int64_t number,
                              const firn_image *picture, firn_error *error);
/* Completes what only now can be. Either way the pictures is closed. */
firn_status firn_pictures_close(firn_pictures *pictures, firn_error *error);
/* Leaves the pictures that are done and nothing else. Does nothing after a close. */
void firn_pictures_discard(firn_pictures *pictures);

#endif
