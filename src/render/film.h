/* Where pictures go: PNG sequences, stills, contact sheets, videos. Their names say which:
 *   name.$F4.png     a file per picture
 *   name.png         the picture where there is one; of more, a contact sheet
 *   name.mp4, .webm  a video
 * .exr does as .png does, and holds light as it is.
 * Without ffmpeg a video becomes a sequence of pictures, and closing says so. */
#ifndef FIRN_FILM_H
#define FIRN_FILM_H

#include "render/sheet.h"
#include "render/video.h"

enum { FIRN_FILM_MOST = 16 };

typedef struct firn_film_def {
    const char *path[FIRN_FILM_MOST];
    int32_t path_count;
    int32_t columns, rows; /* of contact sheets; 0: as many as there are pictures, at most nine */
    int32_t width, height; /* of a picture */
    int64_t count;         /* of pictures */
    int32_t bits;          /* of PNG: 8 or 16 */
    bool alpha;            /* the ground and the sky are left out */
    double fps;
    bool numbered; /* cells of a contact sheet say which picture it is */
} firn_film_def;

typedef struct firn_film {
    firn_film_def def;
    char *instead[FIRN_FILM_MOST]; /* sequences that take the place of videos: ffmpeg is missing */
    firn_video video[FIRN_FILM_MOST];
    firn_sheet sheet; /* where one is wanted */
    bool has_sheet, all;
} firn_film;

/* Whether the names are of kinds that can be made. */
firn_status firn_film_check(const firn_film_def *def, firn_error *error);

/* Whether the pictures are to be as light is, and not as a screen shows them. */
bool firn_film_is_linear(const firn_film_def *def);

/* Checks, makes folders, tries whether files can be written, starts videos. */
firn_status firn_film_open(firn_film *film, const firn_film_def *def, firn_error *error);
/* Whether the picture of that index (from 0) goes anywhere: contact sheets take some of them. */
bool firn_film_wants(const firn_film *film, int64_t index);
/* `number` takes the place of $F. Pictures come in order; those that are missing are left out. */
firn_status firn_film_add(firn_film *film, int64_t index, int64_t number, const firn_image *picture,
                          firn_error *error);
/* Completes what only now can be. Either way the film is closed. */
firn_status firn_film_close(firn_film *film, firn_error *error);
/* Leaves the pictures that are done and nothing else. Does nothing after a close. */
void firn_film_discard(firn_film *film);

#endif
